//! A channel: its output lanes and its link scheduler (S2 to S9).

use std::collections::VecDeque;

use flitwise_models::scenario::Scheduler;

use super::message::Flit;
use super::rules::{End, Rules};

/// A link and direction, with the buffers before it.
pub(super) struct Channel {
    pub(super) to: End,
    /// By class.
    pub(super) lanes: Vec<OutputLane>,
    /// The flit sent in the cycle before this one.
    pub(super) wire: Option<Flit>,
    /// S4: `v`, the stamp of the real-time flit that was sent last.
    last_stamp: f64,
    /// S5: the class whose turn it is.
    turn: usize,
    /// S5, by class.
    allowance: Vec<f64>,
    /// S6 and S7: the class served last.
    last_served: usize,
}

/// The output side of a lane; at a network interface the source queue.
#[derive(Clone, Default)]
pub(super) struct OutputLane {
    pub(super) flits: VecDeque<Flit>,
    /// T9: the input port of the message that owns it.
    pub(super) owner: Option<usize>,
    /// S1: the input port after the one granted last.
    pub(super) first_port: usize,
    /// `aux` of S2 and S3, `F` of S4.
    clock: f64,
}

impl Channel {
    pub(super) fn new(rules: &Rules, to: End) -> Self {
        let classes = rules.classes();
        Self {
            to,
            lanes: vec![OutputLane::default(); classes],
            wire: None,
            last_stamp: 0.0,
            turn: classes - 1,
            allowance: vec![0.0; classes],
            last_served: classes - 1,
        }
    }

    /// A flit joins its output lane or source queue and gets its stamp.
    pub(super) fn join(&mut self, mut flit: Flit, now: u64, rules: &Rules) {
        let lane = &mut self.lanes[flit.class];
        let x = now as f64;
        let vtick = rules.vtick[flit.class];
        if rules.real_time[flit.class] {
            lane.clock = match rules.scheduler {
                Scheduler::VirtualClock if lane.flits.is_empty() => x + vtick, // S2
                Scheduler::VirtualClock => x.max(lane.clock) + vtick,          // S2
                Scheduler::VirtualClockPersistent => x.max(lane.clock) + vtick, // S3
                Scheduler::FairQueueing => self.last_stamp.max(lane.clock) + vtick, // S4
                Scheduler::WeightedRoundRobin | Scheduler::RoundRobin | Scheduler::Fifo => 0.0,
            };
        }
        flit.joined_cycle = now;
        flit.stamp = lane.clock;
        lane.flits.push_back(flit);
    }

    /// The flit that leaves over the link, of those of the eligible classes.
    pub(super) fn send(&mut self, eligible: &[bool], rules: &Rules) -> Option<Flit> {
        let class = self.choose(eligible, rules)?;
        let flit = self.lanes[class].flits.pop_front()?;
        self.last_served = class;
        if rules.real_time[class] {
            self.last_stamp = flit.stamp;
        }
        Some(flit)
    }

    fn choose(&mut self, eligible: &[bool], rules: &Rules) -> Option<usize> {
        let classes = 0..eligible.len();
        let real_time: Vec<bool> =
            classes.clone().map(|class| eligible[class] && rules.real_time[class]).collect();
        let best_effort = classes.clone().find(|&class| eligible[class] && !rules.real_time[class]);
        match rules.scheduler {
            Scheduler::VirtualClock | Scheduler::VirtualClockPersistent | Scheduler::FairQueueing => {
                self.smallest_stamp(&real_time).or(best_effort) // S8
            }
            Scheduler::WeightedRoundRobin => self.weighted_turn(&real_time, rules).or(best_effort), // S8
            Scheduler::RoundRobin => next_in_circle(self.last_served, eligible),                    // S6
            Scheduler::Fifo => self.first_come(eligible),
        }
    }

    /// S8: the smallest stamp; equal: the lower class.
    fn smallest_stamp(&self, eligible: &[bool]) -> Option<usize> {
        let stamp = |class: &usize| self.lanes[*class].flits[0].stamp;
        let classes = (0..eligible.len()).filter(|&class| eligible[class]);
        classes.min_by(|one, other| stamp(one).total_cmp(&stamp(other)))
    }

    /// S5: on with the same class while it can go and has an allowance, else the next one in the circle.
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
        let joined = |class: usize| self.lanes[class].flits[0].joined_cycle;
        let earliest = (0..eligible.len()).filter(|&class| eligible[class]).map(joined).min()?;
        let first: Vec<bool> =
            (0..eligible.len()).map(|class| eligible[class] && joined(class) == earliest).collect();
        next_in_circle(self.last_served, &first)
    }
}

/// The first eligible class after `last`, which itself comes last.
fn next_in_circle(last: usize, eligible: &[bool]) -> Option<usize> {
    let classes = eligible.len();
    (1..=classes).map(|step| (last + step) % classes).find(|&class| eligible[class])
}
