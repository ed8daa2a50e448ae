//! Congestion trees: lines are allocated, notify each other, and are released (P12 to P18).

use super::line::{Control, Line};
use super::{SetAside, side};
use crate::packet::memory::{MARKER, NONE, Row};
use crate::packet::record::Side;
use crate::packet::sets::bits;
use crate::packet::switch::PacketSwitch;
use crate::packet::{Marker, Recn};

impl PacketSwitch<SetAside> {
    fn send_upstream(&mut self, port: usize, control: Control) {
        self.queueing.controls[port].push_back(control);
        self.changed_links.mark(port);
    }

    /// A packet has joined an ingress line.
    pub(super) fn line_has_grown(&mut self, port: usize, number: usize) {
        let own = &mut self.queueing;
        let (propagation, length) = (own.rules.propagation, own.length(2 * port, number + 1));
        let line = own.line_mut(2 * port, number);
        line.held = true;
        if !line.notified && length >= propagation {
            (line.notified, line.owns_token) = (true, false);
            let path = line.path;
            self.send_upstream(port, Control::Notify { path, line: number as u8 });
        }
        self.stop_upstream(port, number);
    }

    fn stop_upstream(&mut self, port: usize, number: usize) {
        let own = &mut self.queueing;
        let (xoff, length) = (own.rules.xoff, own.length(2 * port, number + 1));
        let line = own.line_mut(2 * port, number);
        if line.acknowledged && !line.xoff && length >= xoff {
            line.xoff = true;
            self.send_upstream(port, Control::Stop { line: number as u8, stop: true });
        }
    }

    /// A packet from an input of the switch, or from a host, has joined an egress queue.
    pub(super) fn egress_has_grown(&mut self, port: usize, queue: usize, input: u8) {
        let (own, memory) = (&self.queueing, 2 * port + 1);
        let Recn { detection, propagation, xoff, .. } = own.rules;
        let length = own.length(memory, queue);
        let threshold = if queue == 0 { detection } else { propagation };
        if length >= threshold && !self.is_host(port) {
            let branches = if queue == 0 { own.branches[port] } else { own.line(memory, queue - 1).branches };
            if !branches.has(input.into()) {
                self.notify(port, queue, input);
            }
        }
        if queue > 0 {
            let line = self.queueing.line_mut(memory, queue - 1);
            line.held = true;
            if length >= xoff && !line.xoff {
                self.stop_branches(port, queue - 1, true);
            }
        }
    }

    /// An egress queue notifies an input of its switch.
    fn notify(&mut self, port: usize, queue: usize, input: u8) {
        let numbers = self.wiring.numbers;
        let (memory, ingress) = (2 * port + 1, 2 * (numbers.base(port) + usize::from(input)));
        let sender = if queue == 0 { Line::default() } else { *self.queueing.line(memory, queue - 1) };
        let path = numbers.behind(sender.path, numbers.of_switch(port));
        let Some(line) = self.allocate(ingress, path) else {
            self.record.counts.refusals += 1;
            return;
        };
        self.record.counts.notifications += 1;
        self.queueing.line_mut(ingress, line).stopped = sender.xoff;
        if queue > 0 {
            let sender = self.queueing.line_mut(memory, queue - 1);
            sender.owns_token = false;
            sender.branches.add(input.into());
            return;
        }
        if self.queueing.branches[port].is_empty() {
            self.record.root(true);
        }
        self.queueing.branches[port].add(input.into());
    }

    /// A new line, the lowest free one, and its marker.
    fn allocate(&mut self, memory: usize, path: u64) -> Option<usize> {
        let (recn, used) = (self.queueing.rules, self.queueing.used[memory]);
        let free = used.trailing_ones();
        if free >= recn.set_aside_queues {
            return None;
        }
        let free = free as usize;
        let parent =
            if recn.marker == Marker::NormalQueue { 0 } else { self.queueing.matching(memory, path) };
        let is_blocked = parent > 0 && self.queueing.line(memory, parent - 1).blocked;
        let blocked = is_blocked || self.queues.head(memory, parent) != NONE;
        let created = self.now;
        self.queueing.used[memory] |= 1 << free;
        *self.queueing.line_mut(memory, free) =
            Line { path, created, owns_token: true, blocked, ..Line::default() };
        if blocked {
            let marker = self.packets.add(Row::new(MARKER | free as u64, 0));
            self.push(memory, parent, marker);
        }
        self.record.allocate(side(memory), self.queueing.used[memory].count_ones());
        self.events.holds.push(created + recn.hold, (memory as u32, free as u8));
        Some(free)
    }

    /// A packet has left a queue of a memory with lines.
    pub(super) fn queue_has_shrunk(&mut self, memory: usize, queue: usize) {
        self.settle(memory, queue);
        let Some(number) = queue.checked_sub(1) else { return };
        let (xon, length) = (self.queueing.rules.xon, self.queueing.length(memory, queue));
        let line = self.queueing.line_mut(memory, number);
        if line.xoff && length < xon {
            line.xoff = false;
            match side(memory) {
                Side::Ingress => {
                    self.send_upstream(memory / 2, Control::Stop { line: number as u8, stop: false });
                }
                Side::Egress => self.stop_branches(memory / 2, number, false),
            }
        }
        self.try_release(memory, number);
    }

    /// An egress line stops its branches, or lets them go on; a host's lets its admittance queues go on.
    fn stop_branches(&mut self, port: usize, number: usize, stop: bool) {
        let line = self.queueing.line_mut(2 * port + 1, number);
        line.xoff = stop;
        let numbers = self.wiring.numbers;
        let (branches, path) = (line.branches, numbers.behind(line.path, numbers.of_switch(port)));
        for input in branches.each() {
            let ingress = 2 * (numbers.base(port) + input);
            if let Some(line) = self.queueing.line_of(ingress, path) {
                self.queueing.line_mut(ingress, line).stopped = stop;
                self.update_head(ingress, line + 1);
            }
        }
        self.ask_host(port);
    }

    /// A host looks at its admittance queues again, if the port is its own.
    fn ask_host(&mut self, port: usize) {
        if self.is_host(port) {
            self.changed_hosts.mark(self.wiring.host(port));
        }
    }

    /// Markers at the head of a queue open their lines.
    fn settle(&mut self, memory: usize, queue: usize) {
        if queue > 0 && self.queueing.line(memory, queue - 1).blocked {
            return;
        }
        loop {
            let head = self.queues.head(memory, queue);
            if head == NONE {
                break;
            }
            let Some(number) = self.packets.rows[head as usize].marker() else { break };
            self.take_head(memory, queue);
            self.packets.free(head);
            self.queueing.line_mut(memory, number).blocked = false;
            self.settle(memory, number + 1);
            self.update_head(memory, number + 1);
            self.try_release(memory, number);
        }
    }

    /// Releases a line that may go.
    pub(super) fn try_release(&mut self, memory: usize, number: usize) {
        let line = *self.queueing.line(memory, number);
        let is_old = line.held || self.now - line.created >= self.queueing.rules.hold;
        let is_empty = self.queues.head(memory, number + 1) == NONE;
        if self.queueing.used[memory] >> number & 1 == 0
            || !line.owns_token
            || line.blocked
            || !is_empty
            || !is_old
        {
            return;
        }
        self.update_head(memory, number + 1);
        self.queueing.used[memory] &= !(1 << number);
        self.record.release(side(memory), self.queueing.used[memory].count_ones(), line.held);
        let port = memory / 2;
        match side(memory) {
            Side::Egress => {
                self.send_upstream(port, Control::Token { line: line.downstream });
                self.ask_host(port);
            }
            Side::Ingress => {
                let numbers = self.wiring.numbers;
                let egress = numbers.base(port) + numbers.of_switch(line.path as usize);
                self.close_branch(egress, numbers.ahead(line.path), numbers.of_switch(port));
            }
        }
    }

    /// The token of an input comes back to the egress that notified it.
    fn close_branch(&mut self, port: usize, path: u64, input: usize) {
        if path == 0 {
            self.queueing.branches[port].remove(input);
            if self.queueing.branches[port].is_empty() {
                self.record.root(false);
            }
            return;
        }
        let memory = 2 * port + 1;
        let Some(number) = self.queueing.line_of(memory, path) else { return };
        let line = self.queueing.line_mut(memory, number);
        line.branches.remove(input);
        if line.branches.is_empty() {
            line.owns_token = true;
            self.try_release(memory, number);
        }
    }

    /// What a control packet says is done.
    pub(super) fn act_on(&mut self, port: usize, control: Control) {
        match control {
            Control::Notify { path, line: downstream } => {
                let Some(line) = self.allocate(2 * port + 1, path) else { return };
                self.queueing.line_mut(2 * port + 1, line).downstream = downstream;
                self.send_upstream(port, Control::Acknowledge { line: downstream });
                self.ask_host(port);
            }
            Control::Acknowledge { line } => {
                self.queueing.line_mut(2 * port, line.into()).acknowledged = true;
                self.stop_upstream(port, line.into());
            }
            Control::Stop { line: downstream, stop } => {
                let memory = 2 * port + 1;
                let is_meant = |line: &usize| self.queueing.line(memory, *line).downstream == downstream;
                if let Some(line) = bits(self.queueing.used[memory]).find(is_meant) {
                    self.queueing.line_mut(memory, line).stopped = stop;
                    self.update_head(memory, line + 1);
                }
            }
            Control::Token { line: number } => {
                let line = self.queueing.line_mut(2 * port, number.into());
                line.owns_token = true;
                (line.notified, line.acknowledged, line.xoff) = (false, false, false);
                self.try_release(2 * port, number.into());
            }
        }
    }
}
