//! A channel: its output lanes and its source queues (V1 to V4).

use std::collections::VecDeque;
use std::ops::Range;

use flitwise_language::network::LinkTime;

use crate::Offer;

use super::arbiter::{Arbiter, oldest};
use super::flit::Flit;
use crate::plain::rules::{End, Rules};

/// A link and direction, with the buffers before it.
pub(super) struct Channel {
    pub(super) to: End,
    /// R2: flits of messages that have chosen the link and have not left the input buffer behind it.
    pub(super) backlog: usize,
    pub(super) lanes: Vec<OutputLane>,
    /// W1: its delay \[cycles\].
    pub(super) delay: u64,
    /// W4: `c` of its capacity, `1 / c`, and when the last flit was sent.
    pub(super) slowdown: u64,
    pub(super) last_sent: Option<u64>,
    /// Flits on their way, each with the cycle in which it was sent.
    pub(super) wire: VecDeque<(u64, Flit)>,
    /// W2: slots behind the link of which flits have crossed, each with its lane and the cycle of that, until they
    /// count as free.
    pub(super) freed: VecDeque<(u64, usize)>,
    /// V4, at a network interface: messages that wait for a lane, by the first lane of their group.
    waiting: Vec<VecDeque<Waiting>>,
    /// X4: whether the scheduler decides here, and not at the crossbar before.
    is_scheduled: bool,
    arbiter: Arbiter,
}

/// The output side of a lane.
#[derive(Clone, Default)]
pub(super) struct OutputLane {
    pub(super) flits: VecDeque<Flit>,
    /// T9: the input port and lane of the message that owns it.
    pub(super) owner: Option<(usize, usize)>,
    /// S1, of the group that begins here: the input port after the one granted last.
    pub(super) first_port: usize,
}

/// A message in a source queue.
#[derive(Clone, Copy)]
struct Waiting {
    message: u64,
    flits: u32,
    /// S9: that of the class, unless the message has one of its own.
    vtick: f64,
    joined_cycle: u64,
    /// S4: `v` when it joined.
    virtual_time: f64,
}

impl Channel {
    /// At a network interface, or behind a crossbar.
    pub(super) fn new(rules: &Rules, (to, time): (End, LinkTime), at_interface: bool) -> Self {
        let lanes = rules.lanes();
        Self {
            to,
            delay: time.delay.into(),
            slowdown: time.slowdown.into(),
            last_sent: None,
            backlog: 0,
            lanes: vec![OutputLane::default(); lanes],
            wire: VecDeque::new(),
            freed: VecDeque::new(),
            waiting: vec![VecDeque::new(); lanes],
            is_scheduled: at_interface || !rules.is_multiplexed,
            arbiter: Arbiter::new(lanes),
        }
    }

    /// T1, V4: a message joins the source queue of a group.
    pub(super) fn generate(&mut self, message: u64, offer: &Offer, group: usize, now: u64) {
        let Offer { flits, vtick, .. } = *offer;
        let virtual_time = self.arbiter.virtual_time();
        self.waiting[group].push_back(Waiting { message, flits, vtick, joined_cycle: now, virtual_time });
    }

    /// V4: each idle lane, the lowest first, takes the next message of its source queue with the stamps that it would
    /// have got when it joined.
    pub(super) fn take_waiting(&mut self, now: u64, rules: &Rules) {
        for lane in 0..self.lanes.len() {
            if !self.lanes[lane].flits.is_empty() {
                continue;
            }
            let Some(next) = self.waiting[rules.group(lane, End::Node).start].pop_front() else { continue };
            let Waiting { message, flits, vtick, joined_cycle, virtual_time } = next;
            // S2: the clock goes on for a message that has waited for a lane
            let mut queued = joined_cycle < now;
            for number in 0..flits as usize {
                let is_tail = number + 1 == flits as usize;
                let mut flit = Flit { message, lane, vtick, number, is_tail, joined_cycle, stamp: 0.0 };
                self.arbiter.stamp(&mut flit, queued, virtual_time, rules);
                self.lanes[lane].flits.push_back(flit);
                queued = true;
            }
        }
    }

    /// T1: the messages of these lanes and their source queues of which no flit has left; they are no longer there.
    pub(super) fn withdraw(&mut self, block: Range<usize>) -> Vec<u64> {
        let waiting = self.waiting[block.clone()].iter_mut().flat_map(|queue| queue.drain(..));
        let mut messages: Vec<u64> = waiting.map(|waiting| waiting.message).collect();
        for lane in &mut self.lanes[block] {
            if let Some(header) = lane.flits.front().filter(|flit| flit.is_header()) {
                messages.push(header.message);
                lane.flits.clear();
            }
        }
        messages
    }

    /// T6, W1: the flit that comes out of the link in cycle `now`, if it was sent without that one cycle.
    pub(super) fn comes_in(&mut self, now: u64) -> Option<Flit> {
        let (sent, _) = self.wire.front()?;
        if sent + 1 + self.delay == now { self.wire.pop_front().map(|(_, flit)| flit) } else { None }
    }

    /// A flit that has crossed joins its output lane.
    pub(super) fn cross(&mut self, flit: Flit, now: u64, rules: &Rules) {
        let lane = &mut self.lanes[flit.lane].flits;
        let mut flit = Flit { joined_cycle: now, ..flit };
        self.arbiter.stamp(&mut flit, !lane.is_empty(), self.arbiter.virtual_time(), rules);
        lane.push_back(flit);
    }

    /// The flit that leaves over the link, of those of the eligible lanes.
    pub(super) fn send(&mut self, eligible: &[bool], rules: &Rules) -> Option<Flit> {
        let fronts: Vec<Option<Flit>> = self
            .lanes
            .iter()
            .zip(eligible)
            .map(|(lane, eligible)| lane.flits.front().filter(|_| *eligible).copied())
            .collect();
        let lane = if self.is_scheduled { self.arbiter.choose(&fronts, rules) } else { oldest(&fronts) }; // X4
        let flit = self.lanes[lane?].flits.pop_front()?;
        self.arbiter.serve(flit, rules);
        Some(flit)
    }
}
