//! Set-aside queues of the fast simulator: allocation, notifications, tokens, release.

use super::Marker;
use super::Recn;
use super::fast::{MARKER, NONE, Simulator};
use super::record::Side;
use super::wiring::{PORTS, TURN, turn};

/// A set-aside queue with its entry of the content-addressable memory. Line `l` has queue `l + 1`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Line {
    /// Turns from here to the root.
    path: u64,
    created: u64,
    owns_token: bool,
    /// Its marker has not come to the head of its queue.
    blocked: bool,
    /// Stopped from downstream.
    stopped: bool,
    /// Whether it has held a packet.
    held: bool,
    /// Ingress: a line upstream was asked for.
    notified: bool,
    /// Ingress: the line upstream is there.
    acknowledged: bool,
    /// Those upstream were stopped.
    xoff: bool,
    /// Egress: number of the line downstream.
    downstream: u8,
    /// Egress: inputs that hold a line for it.
    branches: u8,
}

/// A control packet; Xoff, Xon and token name the line downstream.
#[derive(Clone, Copy, Debug)]
pub(super) enum Control {
    /// To the egress upstream: a line with its token.
    Notify {
        path: u64,
        line: u8,
    },
    /// The answer.
    Acknowledge {
        line: u8,
    },
    Stop {
        line: u8,
        stop: bool,
    },
    /// To the ingress downstream: its line owns its token again.
    Token {
        line: u8,
    },
}

/// Whether turns begin with a path.
#[inline]
fn begins(turns: u64, path: u64) -> bool {
    let bits = u64::BITS - path.leading_zeros();
    (turns ^ path) & ((1 << bits) - 1) == 0
}

/// Numbers of the bits set.
fn bits(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = (word != 0).then(|| word.trailing_zeros() as usize);
        word &= word.wrapping_sub(1);
        bit
    })
}

fn side(memory: usize) -> Side {
    if memory % 2 == 1 { Side::Egress } else { Side::Ingress }
}

impl Simulator {
    #[inline]
    fn recn(&self) -> Recn {
        self.fabric.recn().copied().unwrap_or_default()
    }

    #[inline]
    fn place(&self, memory: usize, line: usize) -> usize {
        memory * (self.queues.stride - 1) + line
    }

    #[inline]
    fn line(&self, memory: usize, line: usize) -> &Line {
        &self.lines[self.place(memory, line)]
    }

    #[inline]
    fn line_mut(&mut self, memory: usize, line: usize) -> &mut Line {
        let place = self.place(memory, line);
        &mut self.lines[place]
    }

    fn line_of(&self, memory: usize, path: u64) -> Option<usize> {
        bits(self.used[memory]).find(|line| self.line(memory, *line).path == path)
    }

    /// The queue of a packet with these turns ahead: of the longest path that they begin with.
    #[inline]
    pub(super) fn matching(&self, memory: usize, turns: u64) -> usize {
        let paths = bits(self.used[memory]).map(|line| (self.line(memory, line).path, line + 1));
        // of two paths that turns begin with the longer one is the larger number
        paths.filter(|(path, _)| begins(turns, *path)).max().map_or(0, |(_, queue)| queue)
    }

    /// Whether the head of a queue may go, as far as its line goes.
    #[inline]
    pub(super) fn is_open(&self, memory: usize, queue: usize) -> bool {
        if queue == 0 || self.used[memory] == 0 {
            return true;
        }
        let line = self.line(memory, queue - 1);
        !line.blocked && !line.stopped
    }

    /// Whether a host may not admit a packet, its set-aside queue being too long.
    #[inline]
    pub(super) fn is_over_xoff(&self, memory: usize, turns: u64) -> bool {
        self.used[memory] != 0
            && self.matching(memory, turns).checked_sub(1).is_some_and(|line| self.line(memory, line).xoff)
    }

    /// 0: a short line that owns its token, 1: a fixed queue, 2: another line.
    #[inline]
    pub(super) fn level(&self, memory: usize, queue: usize) -> u8 {
        if queue == 0 || self.used[memory] == 0 {
            return 1;
        }
        let is_short =
            || self.fabric.recn().is_some_and(|r| self.queues.length(memory, queue) <= r.few_packets);
        if self.line(memory, queue - 1).owns_token && is_short() { 0 } else { 2 }
    }

    fn send_upstream(&mut self, port: usize, control: Control) {
        self.controls[port].push_back(control);
        self.mark_link(port);
    }

    /// A packet has joined an ingress queue.
    pub(super) fn after_arrival(&mut self, port: usize, queue: usize) {
        let Some(number) = queue.checked_sub(1) else { return };
        let (propagation, length) = (self.recn().propagation, self.queues.length(2 * port, queue));
        let line = self.line_mut(2 * port, number);
        line.held = true;
        if !line.notified && length >= propagation {
            (line.notified, line.owns_token) = (true, false);
            let path = line.path;
            self.send_upstream(port, Control::Notify { path, line: number as u8 });
        }
        self.stop_upstream(port, number);
    }

    fn stop_upstream(&mut self, port: usize, number: usize) {
        let (xoff, length) = (self.recn().xoff, self.queues.length(2 * port, number + 1));
        let line = self.line_mut(2 * port, number);
        if line.acknowledged && !line.xoff && length >= xoff {
            line.xoff = true;
            self.send_upstream(port, Control::Stop { line: number as u8, stop: true });
        }
    }

    /// A packet from an input of the switch, or from a host, has joined an egress queue.
    pub(super) fn after_join(&mut self, port: usize, queue: usize, input: u8) {
        let (recn, memory) = (self.recn(), 2 * port + 1);
        let length = self.queues.length(memory, queue);
        let threshold = if queue == 0 { recn.detection } else { recn.propagation };
        if length >= threshold && !self.is_host(port) {
            let branches =
                if queue == 0 { self.branches[port] } else { self.line(memory, queue - 1).branches };
            if branches >> input & 1 == 0 {
                self.notify(port, queue, input);
            }
        }
        if queue > 0 {
            let line = self.line_mut(memory, queue - 1);
            line.held = true;
            if length >= recn.xoff && !line.xoff {
                self.stop_branches(port, queue - 1, true);
            }
        }
    }

    /// An egress queue notifies an input of its switch.
    fn notify(&mut self, port: usize, queue: usize, input: u8) {
        let (memory, ingress) = (2 * port + 1, 2 * (port / PORTS * PORTS + usize::from(input)));
        let sender = if queue == 0 { Line::default() } else { *self.line(memory, queue - 1) };
        let Some(line) = self.allocate(ingress, sender.path << TURN | turn(port % PORTS)) else {
            self.record.counts.refusals += 1;
            return;
        };
        self.record.counts.notifications += 1;
        self.line_mut(ingress, line).stopped = sender.xoff;
        if queue > 0 {
            let sender = self.line_mut(memory, queue - 1);
            sender.owns_token = false;
            sender.branches |= 1 << input;
            return;
        }
        if self.branches[port] == 0 {
            self.record.root(true);
        }
        self.branches[port] |= 1 << input;
    }

    /// A new line, the lowest free one, and its marker.
    fn allocate(&mut self, memory: usize, path: u64) -> Option<usize> {
        let (recn, used) = (self.recn(), self.used[memory]);
        let free = used.trailing_ones();
        if free >= recn.set_aside_queues {
            return None;
        }
        let free = free as usize;
        let parent = if recn.marker == Marker::NormalQueue { 0 } else { self.matching(memory, path) };
        let is_blocked = parent > 0 && self.line(memory, parent - 1).blocked;
        let blocked = is_blocked || self.queues.head(memory, parent) != NONE;
        let created = self.now;
        self.used[memory] |= 1 << free;
        *self.line_mut(memory, free) = Line { path, created, owns_token: true, blocked, ..Line::default() };
        if blocked {
            self.push_marker(memory, parent, free);
        }
        self.record.allocate(side(memory), self.used[memory].count_ones());
        self.schedule_hold(memory, free, created + recn.hold);
        Some(free)
    }

    /// A packet has left a queue.
    pub(super) fn after_departure(&mut self, memory: usize, queue: usize) {
        if self.used[memory] == 0 {
            return;
        }
        self.settle(memory, queue);
        let Some(number) = queue.checked_sub(1) else { return };
        let (xon, length) = (self.recn().xon, self.queues.length(memory, queue));
        let line = self.line_mut(memory, number);
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
        let line = self.line_mut(2 * port + 1, number);
        line.xoff = stop;
        let (branches, path) = (line.branches, line.path << TURN | turn(port % PORTS));
        for input in bits(branches.into()) {
            let ingress = 2 * (port / PORTS * PORTS + input);
            if let Some(line) = self.line_of(ingress, path) {
                self.line_mut(ingress, line).stopped = stop;
                self.update_head(ingress, line + 1);
            }
        }
        self.mark_host(port);
    }

    /// Markers at the head of a queue open their lines.
    fn settle(&mut self, memory: usize, queue: usize) {
        if queue > 0 && self.line(memory, queue - 1).blocked {
            return;
        }
        loop {
            let head = self.queues.head(memory, queue);
            if head == NONE || self.rows[head as usize].turns & MARKER == 0 {
                break;
            }
            let number = (self.rows[head as usize].turns & !MARKER) as usize;
            self.take_head(memory, queue);
            self.free_row(head);
            self.line_mut(memory, number).blocked = false;
            self.settle(memory, number + 1);
            self.update_head(memory, number + 1);
            self.try_release(memory, number);
        }
    }

    /// Releases a line that may go.
    pub(super) fn try_release(&mut self, memory: usize, number: usize) {
        let line = *self.line(memory, number);
        let is_old = line.held || self.now - line.created >= self.recn().hold;
        let is_empty = self.queues.head(memory, number + 1) == NONE;
        if self.used[memory] >> number & 1 == 0 || !line.owns_token || line.blocked || !is_empty || !is_old {
            return;
        }
        self.update_head(memory, number + 1);
        self.used[memory] &= !(1 << number);
        self.record.release(side(memory), self.used[memory].count_ones(), line.held);
        let port = memory / 2;
        match side(memory) {
            Side::Egress => {
                self.send_upstream(port, Control::Token { line: line.downstream });
                self.mark_host(port);
            }
            Side::Ingress => {
                let egress = port / PORTS * PORTS + line.path as usize % PORTS;
                self.close_branch(egress, line.path >> TURN, port % PORTS);
            }
        }
    }

    /// The token of an input comes back to the egress that notified it.
    fn close_branch(&mut self, port: usize, path: u64, input: usize) {
        if path == 0 {
            self.branches[port] &= !(1 << input);
            if self.branches[port] == 0 {
                self.record.root(false);
            }
            return;
        }
        let memory = 2 * port + 1;
        let Some(number) = self.line_of(memory, path) else { return };
        let line = self.line_mut(memory, number);
        line.branches &= !(1 << input);
        if line.branches == 0 {
            line.owns_token = true;
            self.try_release(memory, number);
        }
    }

    pub(super) fn take_control(&mut self, port: usize, control: Control) {
        match control {
            Control::Notify { path, line: downstream } => {
                let Some(line) = self.allocate(2 * port + 1, path) else { return };
                self.line_mut(2 * port + 1, line).downstream = downstream;
                self.send_upstream(port, Control::Acknowledge { line: downstream });
                self.mark_host(port);
            }
            Control::Acknowledge { line } => {
                self.line_mut(2 * port, line.into()).acknowledged = true;
                self.stop_upstream(port, line.into());
            }
            Control::Stop { line: downstream, stop } => {
                let memory = 2 * port + 1;
                let is_meant = |line: &usize| self.line(memory, *line).downstream == downstream;
                if let Some(line) = bits(self.used[memory]).find(is_meant) {
                    self.line_mut(memory, line).stopped = stop;
                    self.update_head(memory, line + 1);
                }
            }
            Control::Token { line: number } => {
                let line = self.line_mut(2 * port, number.into());
                line.owns_token = true;
                (line.notified, line.acknowledged, line.xoff) = (false, false, false);
                self.try_release(2 * port, number.into());
            }
        }
    }
}
