//! A channel: its output lanes and its link scheduler (S2 to S9, V1 to V4).

use std::collections::VecDeque;

use flitwise_models::scenario::Scheduler;

use crate::message::Offer;

use super::message::Flit;
use super::rules::{End, Rules};

/// A link and direction, with the buffers before it.
pub(super) struct Channel {
    pub(super) to: End,
    pub(super) lanes: Vec<OutputLane>,
    /// The flit sent in the cycle before this one.
    pub(super) wire: Option<Flit>,
    /// V4, at a network interface: messages that wait for a lane, by the first lane of their group.
    waiting: Vec<VecDeque<Waiting>>,
    /// S4: `v`, the stamp of the real-time flit that was sent last.
    last_stamp: f64,
    /// S5: the lane whose turn it is.
    turn: usize,
    /// S5, by lane.
    allowance: Vec<f64>,
    /// S6 and S7: the lane served last.
    last_served: usize,
}

/// The output side of a lane.
#[derive(Clone, Default)]
pub(super) struct OutputLane {
    pub(super) flits: VecDeque<Flit>,
    /// T9: the input port and lane of the message that owns it.
    pub(super) owner: Option<(usize, usize)>,
    /// S1, of the group that begins here: the input port after the one granted last.
    pub(super) first_port: usize,
    /// `aux` of S2 and S3, `F` of S4.
    clock: f64,
}

/// A message in a source queue.
#[derive(Clone, Copy)]
struct Waiting {
    message: u64,
    flits: u32,
    vtick: f64,
    joined_cycle: u64,
    /// S4: `v` when it joined.
    virtual_time: f64,
}

impl Channel {
    pub(super) fn new(rules: &Rules, to: End) -> Self {
        let lanes = rules.lanes();
        Self {
            to,
            lanes: vec![OutputLane::default(); lanes],
            wire: None,
            waiting: vec![VecDeque::new(); lanes],
            last_stamp: 0.0,
            turn: lanes - 1,
            allowance: vec![0.0; lanes],
            last_served: lanes - 1,
        }
    }

    /// T1, V4: a message joins the source queue of a group.
    pub(super) fn generate(&mut self, message: u64, offer: &Offer, group: usize, now: u64) {
        let Offer { flits, vtick, .. } = *offer;
        let virtual_time = self.last_stamp;
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
                let flit = Flit { message, lane, vtick, number, is_tail, joined_cycle, stamp: 0.0 };
                self.join(flit, queued, virtual_time, rules);
                queued = true;
            }
        }
    }

    /// A flit that has crossed joins its output lane.
    pub(super) fn cross(&mut self, flit: Flit, now: u64, rules: &Rules) {
        let queued = !self.lanes[flit.lane].flits.is_empty();
        self.join(Flit { joined_cycle: now, ..flit }, queued, self.last_stamp, rules);
    }

    /// A flit gets its stamp, behind others of its lane or not.
    fn join(&mut self, mut flit: Flit, queued: bool, virtual_time: f64, rules: &Rules) {
        let lane = &mut self.lanes[flit.lane];
        let (x, vtick) = (flit.joined_cycle as f64, flit.vtick);
        if rules.real_time[flit.lane] {
            lane.clock = match rules.scheduler {
                Scheduler::VirtualClock if !queued => x + vtick,      // S2
                Scheduler::VirtualClock => x.max(lane.clock) + vtick, // S2
                Scheduler::VirtualClockPersistent => x.max(lane.clock) + vtick, // S3
                Scheduler::FairQueueing => virtual_time.max(lane.clock) + vtick, // S4
                Scheduler::WeightedRoundRobin | Scheduler::RoundRobin | Scheduler::Fifo => 0.0,
            };
        }
        flit.stamp = lane.clock;
        lane.flits.push_back(flit);
    }

    /// The flit that leaves over the link, of those of the eligible lanes.
    pub(super) fn send(&mut self, eligible: &[bool], rules: &Rules) -> Option<Flit> {
        let lane = self.choose(eligible, rules)?;
        let flit = self.lanes[lane].flits.pop_front()?;
        self.last_served = lane;
        if rules.real_time[lane] {
            self.last_stamp = flit.stamp;
        }
        Some(flit)
    }

    fn choose(&mut self, eligible: &[bool], rules: &Rules) -> Option<usize> {
        let of_kind = |real_time: bool| -> Vec<bool> {
            eligible.iter().zip(&rules.real_time).map(|(one, kind)| *one && *kind == real_time).collect()
        };
        let real_time = of_kind(true);
        let best_effort = of_kind(false);
        match rules.scheduler {
            Scheduler::VirtualClock | Scheduler::VirtualClockPersistent | Scheduler::FairQueueing => {
                self.smallest_stamp(&real_time).or_else(|| self.oldest(&best_effort)) // S8
            }
            Scheduler::WeightedRoundRobin => {
                self.weighted_turn(&real_time, rules).or_else(|| self.oldest(&best_effort)) // S8
            }
            Scheduler::RoundRobin => next_in_circle(self.last_served, eligible), // S6
            Scheduler::Fifo => self.first_come(eligible),
        }
    }

    /// S8: the smallest stamp; equal: the lower lane.
    fn smallest_stamp(&self, eligible: &[bool]) -> Option<usize> {
        let stamp = |lane: &usize| self.lanes[*lane].flits[0].stamp;
        let lanes = (0..eligible.len()).filter(|&lane| eligible[lane]);
        lanes.min_by(|one, other| stamp(one).total_cmp(&stamp(other)))
    }

    /// S8: the flit that joined first; equal: the lower lane.
    fn oldest(&self, eligible: &[bool]) -> Option<usize> {
        let lanes = (0..eligible.len()).filter(|&lane| eligible[lane]);
        lanes.min_by_key(|&lane| self.lanes[lane].flits[0].joined_cycle)
    }

    /// S5: on with the same lane while it can go and has an allowance, else the next one in the circle.
    fn weighted_turn(&mut self, eligible: &[bool], rules: &Rules) -> Option<usize> {
        let goes_on = eligible[self.turn] && self.allowance[self.turn] >= 1.0;
        if !goes_on {
            self.turn = next_in_circle(self.turn, eligible)?;
            let left = self.allowance[self.turn];
            let carried = if left < 1.0 { left } else { 0.0 };
            self.allowance[self.turn] = rules.weight[self.turn] + carried;
        }
        self.allowance[self.turn] -= 1.0;
        Some(self.turn)
    }

    /// S7: the flit that joined first; of equal ones as in S6.
    fn first_come(&self, eligible: &[bool]) -> Option<usize> {
        let joined = |lane: usize| self.lanes[lane].flits[0].joined_cycle;
        let earliest = (0..eligible.len()).filter(|&lane| eligible[lane]).map(joined).min()?;
        let first: Vec<bool> =
            (0..eligible.len()).map(|lane| eligible[lane] && joined(lane) == earliest).collect();
        next_in_circle(self.last_served, &first)
    }
}

/// The first eligible lane after `last`, which itself comes last.
fn next_in_circle(last: usize, eligible: &[bool]) -> Option<usize> {
    let lanes = eligible.len();
    (1..=lanes).map(|step| (last + step) % lanes).find(|&lane| eligible[lane])
}
