//! Set-aside queues and their notifications as the rules read.

use super::{Item, Memory, Packet, Plain};
use crate::packet::record::Side;
use crate::packet::{Marker, Recn};

/// P11: a set-aside queue with its entry of the content-addressable memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Line {
    /// Turns from here to the root.
    path: Vec<usize>,
    owns_token: bool,
    /// Its marker has not come to the head of its queue.
    pub(super) blocked: bool,
    /// Whether it has held a packet.
    held: bool,
    created: u64,
    /// Ingress: a line upstream was asked for.
    notified: bool,
    /// Ingress: the line upstream is there.
    acknowledged: bool,
    /// Those upstream were stopped.
    pub(super) xoff: bool,
    /// Egress: stopped by the line downstream.
    pub(super) stopped: bool,
    /// Egress: number of the line downstream.
    downstream: usize,
    /// Egress: inputs that hold a line for it.
    branches: Vec<usize>,
}

#[derive(Clone, Debug)]
pub(super) enum Control {
    /// To the egress upstream: a line with its token.
    Notify {
        path: Vec<usize>,
        line: usize,
    },
    /// The answer.
    Acknowledge {
        line: usize,
    },
    /// To the egress upstream, naming the line downstream.
    Xoff {
        line: usize,
    },
    Xon {
        line: usize,
    },
    /// To the ingress downstream: its line owns its token again.
    Token {
        line: usize,
    },
}

impl Memory {
    /// P11: the queue of a packet with these turns ahead: of the longest path that they begin with.
    pub(super) fn matching(&self, turns: &[usize]) -> usize {
        let lines = self.lines.iter().enumerate().filter_map(|(line, entry)| Some((line, entry.as_ref()?)));
        lines
            .filter(|(_, entry)| turns.starts_with(&entry.path))
            .max_by_key(|(_, entry)| entry.path.len())
            .map_or(0, |(line, _)| line + 1)
    }

    fn line_of(&self, path: &[usize]) -> Option<usize> {
        self.lines.iter().position(|entry| entry.as_ref().is_some_and(|entry| entry.path == path))
    }

    fn lines_in_use(&self) -> u32 {
        self.lines.iter().flatten().count() as u32
    }
}

impl Plain {
    fn recn(&self) -> Recn {
        self.fabric.recn
    }

    fn memory(&mut self, port: usize, side: Side) -> &mut Memory {
        match side {
            Side::Ingress => &mut self.ports[port].ingress,
            Side::Egress => &mut self.ports[port].egress,
        }
    }

    fn line(&mut self, port: usize, side: Side, line: usize) -> Option<&mut Line> {
        self.memory(port, side).lines.get_mut(line)?.as_mut()
    }

    /// P16: whether the egress line that notified an ingress line stops its branches.
    pub(super) fn is_held_back(&self, port: usize, line: &Line) -> bool {
        let egress = &self.ports[self.wiring.numbers.base(port) + line.path[0]].egress;
        let notifier = egress.line_of(&line.path[1..]).and_then(|line| egress.lines[line].as_ref());
        notifier.is_some_and(|notifier| notifier.xoff)
    }

    /// P7: 0 of a short line that owns its token, 1 of a fixed queue, 2 of another line.
    pub(super) fn level(&self, memory: &Memory, queue: usize) -> u8 {
        memory.line(queue).map_or(1, |line| {
            if line.owns_token && memory.length(queue) <= self.recn().few_packets { 0 } else { 2 }
        })
    }

    /// A packet joins an ingress queue; P15, P16 if that is a line.
    pub(super) fn arrive(&mut self, port: usize, mut queue: usize, packet: Packet) {
        if self.is_recn() {
            queue = self.ports[port].ingress.matching(&packet.turns);
        }
        let ingress = &mut self.ports[port].ingress;
        ingress.queues[queue].push_back(Item::Packet(packet));
        let length = ingress.length(queue);
        if ingress.queues[queue].len() == 1 {
            self.choose_output(port, queue);
        }
        let (recn, ingress) = (self.recn(), &mut self.ports[port].ingress);
        let Some(line) = queue.checked_sub(1).and_then(|line| ingress.lines.get_mut(line)?.as_mut()) else {
            return;
        };
        line.held = true;
        if !line.notified && length >= recn.propagation {
            (line.notified, line.owns_token) = (true, false);
            let path = line.path.clone();
            self.ports[port].controls.push_back(Control::Notify { path, line: queue - 1 });
        }
        self.stop_upstream(port, queue - 1);
    }

    /// P16: a long line stops the one upstream.
    fn stop_upstream(&mut self, port: usize, number: usize) {
        let (recn, length) = (self.recn(), self.ports[port].ingress.length(number + 1));
        let Some(line) = self.line(port, Side::Ingress, number) else { return };
        if line.acknowledged && !line.xoff && length >= recn.xoff {
            line.xoff = true;
            self.ports[port].controls.push_back(Control::Xoff { line: number });
        }
    }

    /// A packet from an input joins an egress queue, without input from a host: P12 of the normal queue, P15 and P16 of
    /// a line.
    pub(super) fn join(&mut self, port: usize, mut queue: usize, input: Option<usize>, packet: Packet) {
        let (recn, is_recn) = (self.recn(), self.is_recn());
        if is_recn {
            queue = self.ports[port].egress.matching(&packet.turns);
        }
        let egress = &mut self.ports[port].egress;
        egress.queues[queue].push_back(Item::Packet(packet));
        let length = egress.length(queue);
        if !is_recn {
            return;
        }
        let branches = match queue.checked_sub(1).and_then(|line| egress.lines[line].as_mut()) {
            None => &egress.branches,
            Some(line) => {
                line.held = true;
                &line.branches
            }
        };
        let threshold = if queue == 0 { recn.detection } else { recn.propagation };
        if let Some(input) = input.filter(|input| length >= threshold && !branches.contains(input)) {
            self.notify(port, queue, input);
        }
        if let Some(line) = queue.checked_sub(1).and_then(|line| self.line(port, Side::Egress, line)) {
            line.xoff |= length >= recn.xoff;
        }
    }

    /// P13: an egress queue notifies an input of its switch.
    fn notify(&mut self, port: usize, queue: usize, input: usize) {
        let ingress = self.wiring.numbers.base(port) + input;
        let mut path = vec![self.wiring.numbers.of_switch(port)];
        if let Some(line) = self.ports[port].egress.line(queue) {
            path.extend_from_slice(&line.path);
        }
        let Some(line) = self.allocate(ingress, Side::Ingress, path) else {
            self.record.counts.refusals += 1;
            return;
        };
        self.record.counts.notifications += 1;
        debug_assert!(self.ports[ingress].ingress.lines[line].is_some());
        let egress = &mut self.ports[port].egress;
        match queue.checked_sub(1).and_then(|line| egress.lines[line].as_mut()) {
            None => {
                egress.branches.push(input);
                if egress.branches.len() == 1 {
                    self.record.root(true);
                }
            }
            Some(line) => {
                line.owns_token = false;
                line.branches.push(input);
            }
        }
    }

    /// P13, P14: a new line, the lowest free one, and its marker.
    fn allocate(&mut self, port: usize, side: Side, path: Vec<usize>) -> Option<usize> {
        let (created, marker) = (self.now, self.recn().marker);
        let memory = self.memory(port, side);
        let free = memory.lines.iter().position(Option::is_none)?;
        // the queue that took its packets until now: no line has this very path
        let parent = if marker == Marker::NormalQueue { 0 } else { memory.matching(&path) };
        let is_open =
            memory.queues[parent].is_empty() && memory.line(parent).is_none_or(|line| !line.blocked);
        if !is_open {
            memory.queues[parent].push_back(Item::Marker(free));
        }
        memory.lines[free] =
            Some(Line { path, owns_token: true, blocked: !is_open, created, ..Line::default() });
        let lines = memory.lines_in_use();
        self.record.allocate(side, lines);
        Some(free)
    }

    /// A packet has left a queue: P14, P16, P17.
    pub(super) fn depart(&mut self, port: usize, side: Side, queue: usize) {
        self.settle(port, side, queue);
        let (xon, length) = (self.recn().xon, self.memory(port, side).length(queue));
        let Some(number) = queue.checked_sub(1) else { return };
        let Some(line) = self.line(port, side, number) else { return };
        if line.xoff && length < xon {
            line.xoff = false;
            if side == Side::Ingress {
                self.ports[port].controls.push_back(Control::Xon { line: number });
            }
        }
        self.try_release(port, side, number);
    }

    /// P14: markers at the head of a queue open their lines.
    fn settle(&mut self, port: usize, side: Side, queue: usize) {
        let memory = self.memory(port, side);
        if memory.line(queue).is_some_and(|line| line.blocked) {
            return;
        }
        while let Some(Item::Marker(line)) = self.memory(port, side).queues[queue].front() {
            let number = *line;
            self.memory(port, side).queues[queue].pop_front();
            if let Some(line) = self.line(port, side, number) {
                line.blocked = false;
            }
            self.settle(port, side, number + 1);
            self.try_release(port, side, number);
        }
    }

    /// P17: a line goes if it may.
    fn try_release(&mut self, port: usize, side: Side, number: usize) {
        let (now, hold) = (self.now, self.recn().hold);
        let memory = self.memory(port, side);
        let is_empty = memory.queues[number + 1].is_empty();
        let goes =
            |line: &Line| line.owns_token && !line.blocked && (line.held || now - line.created >= hold);
        let Some(line) = memory.lines[number].take_if(|line| is_empty && goes(line)) else { return };
        let lines = memory.lines_in_use();
        self.record.release(side, lines, line.held);
        match side {
            Side::Egress => self.ports[port].controls.push_back(Control::Token { line: line.downstream }),
            Side::Ingress => {
                let numbers = self.wiring.numbers;
                let egress = numbers.base(port) + line.path[0];
                self.close_branch(egress, &line.path[1..], numbers.of_switch(port))
            }
        }
    }

    /// P17, P18: the token of an input comes back to the egress that notified it.
    fn close_branch(&mut self, port: usize, path: &[usize], input: usize) {
        if path.is_empty() {
            let branches = &mut self.ports[port].egress.branches;
            branches.retain(|branch| *branch != input);
            if branches.is_empty() {
                self.record.root(false);
            }
            return;
        }
        let Some(number) = self.ports[port].egress.line_of(path) else { return };
        let Some(line) = self.line(port, Side::Egress, number) else { return };
        line.branches.retain(|branch| *branch != input);
        if line.branches.is_empty() {
            line.owns_token = true;
            self.try_release(port, Side::Egress, number);
        }
    }

    /// P15 to P17: what a control packet says is done.
    pub(super) fn take_control(&mut self, port: usize, control: Control) {
        match control {
            Control::Notify { path, line: downstream } => {
                let free = self.allocate(port, Side::Egress, path);
                debug_assert!(free.is_some(), "no line upstream");
                if let Some(line) = free.and_then(|line| self.line(port, Side::Egress, line)) {
                    line.downstream = downstream;
                    self.ports[port].controls.push_back(Control::Acknowledge { line: downstream });
                }
            }
            Control::Acknowledge { line: number } => {
                if let Some(line) = self.line(port, Side::Ingress, number) {
                    line.acknowledged = true;
                    self.stop_upstream(port, number);
                }
            }
            Control::Xoff { line } => self.set_stopped(port, line, true),
            Control::Xon { line } => self.set_stopped(port, line, false),
            Control::Token { line: number } => {
                if let Some(line) = self.line(port, Side::Ingress, number) {
                    line.owns_token = true;
                    (line.notified, line.acknowledged, line.xoff) = (false, false, false);
                    self.try_release(port, Side::Ingress, number);
                }
            }
        }
    }

    fn set_stopped(&mut self, port: usize, downstream: usize, stopped: bool) {
        let lines = self.ports[port].egress.lines.iter_mut().flatten();
        lines.filter(|line| line.downstream == downstream).for_each(|line| line.stopped = stopped);
    }

    /// P17: lines that have come to the age of release.
    pub(super) fn end_holds(&mut self) {
        let (now, hold) = (self.now, self.recn().hold);
        for (port, side) in
            (0..self.ports.len()).flat_map(|port| [(port, Side::Ingress), (port, Side::Egress)])
        {
            for number in 0..self.memory(port, side).lines.len() {
                if self.line(port, side, number).is_some_and(|line| line.created + hold == now) {
                    self.try_release(port, side, number);
                }
            }
        }
    }

    /// Lines of a port: no path twice, each branch has its line, each line upstream one downstream.
    pub(super) fn check_lines(&self, at: usize) {
        let port = &self.ports[at];
        for memory in [&port.ingress, &port.egress] {
            let paths: Vec<_> = memory.lines.iter().flatten().map(|line| &line.path).collect();
            assert!(
                paths.iter().enumerate().all(|(index, path)| !paths[..index].contains(path)),
                "port {at}"
            );
        }
        for line in port.egress.lines.iter().flatten() {
            let downstream =
                port.peer.and_then(|peer| self.ports[peer].ingress.lines[line.downstream].as_ref());
            assert!(downstream.is_some_and(|other| other.path == line.path && other.notified), "port {at}");
            assert!(line.owns_token == line.branches.is_empty(), "port {at}: a token too many or too few");
            self.check_branches(at, &line.branches, &line.path);
        }
        self.check_branches(at, &port.egress.branches, &[]);
        for line in port.ingress.lines.iter().flatten() {
            assert!(line.owns_token != line.notified, "port {at}: a token too many or too few");
        }
    }

    fn check_branches(&self, at: usize, branches: &[usize], path: &[usize]) {
        let whole: Vec<usize> = [&[self.wiring.numbers.of_switch(at)], path].concat();
        for input in branches {
            assert!(
                self.ports[self.wiring.numbers.base(at) + input].ingress.line_of(&whole).is_some(),
                "port {at}"
            );
        }
    }
}
