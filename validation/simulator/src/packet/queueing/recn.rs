//! Regional explicit congestion notification (RECN): a normal queue, and queues set aside for packets into congestion
//! trees.

mod line;
mod tree;

use std::collections::VecDeque;

use super::Queueing;
use crate::packet::memory::{Row, side};
use crate::packet::record::Side;
use crate::packet::sets::{Ports, bits};
use crate::packet::switch::PacketSwitch;
use crate::packet::{Fabric, Recn};
use line::{Control, Line};

/// What is known of the queues of all ports. Line `l` of a memory has queue `l + 1`; queue 0 is the normal one.
pub(super) struct SetAside {
    rules: Recn,
    /// By memory and queue: packets of it.
    lengths: Vec<u32>,
    /// By memory and number.
    lines: Vec<Line>,
    /// By memory: lines in use.
    used: Vec<u64>,
    /// By egress port: inputs notified as a root.
    branches: Vec<Ports>,
    /// By egress port: packets of the normal queue since the last one of a line.
    normal_sent: Vec<u32>,
    /// By port: control packets that wait for its link.
    controls: Vec<VecDeque<Control>>,
}

impl SetAside {
    #[inline]
    fn line(&self, memory: usize, line: usize) -> &Line {
        &self.lines[memory * self.set_aside_queues() + line]
    }

    #[inline]
    fn line_mut(&mut self, memory: usize, line: usize) -> &mut Line {
        let place = memory * self.set_aside_queues() + line;
        &mut self.lines[place]
    }

    fn line_of(&self, memory: usize, path: u64) -> Option<usize> {
        bits(self.used[memory]).find(|line| self.line(memory, *line).path == path)
    }

    #[inline]
    fn length(&self, memory: usize, queue: usize) -> u32 {
        self.lengths[memory * (self.set_aside_queues() + 1) + queue]
    }

    #[inline]
    fn length_mut(&mut self, memory: usize, queue: usize) -> &mut u32 {
        let place = memory * (self.set_aside_queues() + 1) + queue;
        &mut self.lengths[place]
    }

    /// The queue of a packet with these turns ahead: of the longest path that they begin with.
    #[inline]
    fn matching(&self, memory: usize, turns: u64) -> usize {
        let paths = bits(self.used[memory]).map(|line| (self.line(memory, line).path, line + 1));
        // of two paths that turns begin with the longer one is the larger number
        paths.filter(|(path, _)| line::begins(turns, *path)).max().map_or(0, |(_, queue)| queue)
    }
}

impl Queueing for SetAside {
    type Control = Control;

    fn new(fabric: &Fabric, ports: usize) -> Self {
        let lines = fabric.recn.set_aside_queues as usize;
        Self {
            rules: fabric.recn,
            lengths: vec![0; 2 * ports * (lines + 1)],
            lines: vec![Line::default(); 2 * ports * lines],
            used: vec![0; 2 * ports],
            branches: vec![Ports::default(); ports],
            normal_sent: vec![0; ports],
            controls: vec![VecDeque::new(); ports],
        }
    }

    #[inline]
    fn ingress_queues(&self) -> usize {
        1
    }

    #[inline]
    fn set_aside_queues(&self) -> usize {
        self.rules.set_aside_queues as usize
    }

    fn set_aside_in(&self, memory: usize) -> u32 {
        self.used[memory].count_ones()
    }

    #[inline]
    fn fixed(_: usize) -> usize {
        0
    }

    #[inline]
    fn ingress_queue(&self, _: &Row, _: &[u32]) -> usize {
        0
    }

    #[inline]
    fn egress_queue(&self, _: &Row, _: &[u32]) -> usize {
        0
    }

    #[inline]
    fn queue_of(&self, memory: usize, row: &Row) -> usize {
        self.matching(memory, row.turns)
    }

    #[inline]
    fn is_open(&self, memory: usize, queue: usize) -> bool {
        if queue == 0 || self.used[memory] == 0 {
            return true;
        }
        let line = self.line(memory, queue - 1);
        !line.blocked && !line.stopped
    }

    /// 0: a short line that owns its token, 1: the normal queue, 2: another line.
    #[inline]
    fn level(&self, memory: usize, queue: usize) -> u8 {
        if queue == 0 || self.used[memory] == 0 {
            return 1;
        }
        let is_short = || self.length(memory, queue) <= self.rules.few_packets;
        if self.line(memory, queue - 1).owns_token && is_short() { 0 } else { 2 }
    }

    /// Of level 0 the first; else the normal queue, until it has sent its weight since the last one of a line.
    #[inline]
    fn choose(&self, port: usize, eligible: impl Iterator<Item = (usize, usize)>) -> Option<(usize, usize)> {
        let (mut normal, mut other) = (None, None);
        for one in eligible {
            match self.level(2 * port + 1, one.0) {
                0 => return Some(one),
                1 => normal = Some(one),
                _ => other = other.or(Some(one)),
            }
        }
        if self.normal_sent[port] >= self.rules.normal_weight { other.or(normal) } else { normal.or(other) }
    }

    #[inline]
    fn admits(&self, memory: usize, turns: u64) -> bool {
        let is_over = |queue: usize| queue.checked_sub(1).is_some_and(|line| self.line(memory, line).xoff);
        self.used[memory] == 0 || !is_over(self.matching(memory, turns))
    }

    #[inline]
    fn arrived(switch: &mut PacketSwitch<Self>, port: usize, queue: usize) {
        *switch.queueing.length_mut(2 * port, queue) += 1;
        if let Some(line) = queue.checked_sub(1) {
            switch.line_has_grown(port, line);
        }
    }

    #[inline]
    fn joined(switch: &mut PacketSwitch<Self>, port: usize, queue: usize, input: u8) {
        *switch.queueing.length_mut(2 * port + 1, queue) += 1;
        switch.egress_has_grown(port, queue, input);
    }

    #[inline]
    fn left(switch: &mut PacketSwitch<Self>, memory: usize, queue: usize) {
        let own = &mut switch.queueing;
        *own.length_mut(memory, queue) -= 1;
        if side(memory) == Side::Egress {
            let sent = &mut own.normal_sent[memory / 2];
            *sent = if queue == 0 { sent.saturating_add(1) } else { 0 };
        }
        if own.used[memory] != 0 {
            switch.queue_has_shrunk(memory, queue);
        }
    }

    #[inline]
    fn next_control(&mut self, port: usize) -> Option<Control> {
        self.controls[port].pop_front()
    }

    fn take_control(switch: &mut PacketSwitch<Self>, port: usize, control: Control) {
        switch.act_on(port, control);
    }

    fn end_hold(switch: &mut PacketSwitch<Self>, memory: usize, line: usize) {
        switch.try_release(memory, line);
    }

    fn is_drained(&self) -> bool {
        self.used.iter().all(|used| *used == 0)
            && self.branches.iter().all(|branches| branches.is_empty())
            && self.lengths.iter().all(|length| *length == 0)
            && self.controls.iter().all(VecDeque::is_empty)
    }
}
