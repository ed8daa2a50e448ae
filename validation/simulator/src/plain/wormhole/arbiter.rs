//! Who goes first, among the lanes of a link or of an input port (S2 to S10).

use flitwise_language::scenario::Scheduler;

use super::flit::Flit;
use crate::plain::rules::Rules;

/// What a scheduler keeps of one link, or of one input port of a multiplexed crossbar.
pub(super) struct Arbiter {
    /// By lane: `aux` of S2, S3 and S10, `F` of S4.
    clock: Vec<f64>,
    /// S4: `v`, the stamp of the real-time flit that was served last.
    virtual_time: f64,
    /// S5: the lane whose turn it is.
    turn: usize,
    /// S5, by lane.
    allowance: Vec<f64>,
    /// S6 and S7: the lane served last.
    last_served: usize,
}

impl Arbiter {
    pub(super) fn new(lanes: usize) -> Self {
        Self {
            clock: vec![0.0; lanes],
            virtual_time: 0.0,
            turn: lanes - 1,
            allowance: vec![0.0; lanes],
            last_served: lanes - 1,
        }
    }

    /// S4: `v`.
    pub(super) fn virtual_time(&self) -> f64 {
        self.virtual_time
    }

    /// A flit gets its stamp as it joins its lane, behind others or not; `virtual_time` is the `v` that it sees.
    pub(super) fn stamp(&mut self, flit: &mut Flit, queued: bool, virtual_time: f64, rules: &Rules) {
        let clock = &mut self.clock[flit.lane];
        let (x, vtick) = (flit.joined_cycle as f64, flit.vtick);
        if rules.is_fine_grained() && flit.is_header() {
            *clock = 0.0; // S10
        }
        if rules.real_time[flit.lane] {
            *clock = match rules.scheduler {
                Scheduler::VirtualClock if !queued => x + vtick, // S2
                Scheduler::VirtualClock
                | Scheduler::VirtualClockPersistent
                | Scheduler::FineGrainedVirtualClock => x.max(*clock) + vtick, // S2, S3, S10
                Scheduler::FairQueueing | Scheduler::FineGrainedFairQueueing => {
                    virtual_time.max(*clock) + vtick // S4, S10
                }
                Scheduler::WeightedRoundRobin
                | Scheduler::RoundRobin
                | Scheduler::Fifo
                | Scheduler::LaneArbiter => 0.0,
            };
        }
        flit.stamp = *clock;
    }

    /// The lane whose flit goes over a link; `fronts` are the flits that can, by lane.
    pub(super) fn choose(&self, fronts: &[Option<Flit>], rules: &Rules) -> Option<usize> {
        let of_kind = |real_time: bool| -> Vec<Option<Flit>> {
            fronts
                .iter()
                .zip(&rules.real_time)
                .map(|(flit, kind)| flit.filter(|_| *kind == real_time))
                .collect()
        };
        let (real_time, best_effort) = (of_kind(true), of_kind(false));
        match rules.scheduler {
            Scheduler::VirtualClock
            | Scheduler::VirtualClockPersistent
            | Scheduler::FairQueueing
            | Scheduler::FineGrainedVirtualClock
            | Scheduler::FineGrainedFairQueueing => {
                smallest_stamp(&real_time).or_else(|| oldest(&best_effort)) // S8
            }
            Scheduler::WeightedRoundRobin => {
                self.weighted_turn(&real_time).or_else(|| oldest(&best_effort)) // S8
            }
            Scheduler::RoundRobin => next_in_circle(self.last_served, fronts), // S6
            Scheduler::Fifo => self.first_come(fronts),
            Scheduler::LaneArbiter => unreachable!("it is in routers with levels"),
        }
    }

    /// X3: what the flits at the front of an input port's lanes are compared by: whether it is best effort that gives
    /// way (S8), then a number.
    pub(super) fn key(&self, flit: Flit, rules: &Rules) -> (bool, f64) {
        let (lanes, joined) = (self.clock.len(), flit.joined_cycle as f64);
        let from = |start: usize| ((flit.lane + lanes - start % lanes) % lanes) as f64;
        match rules.scheduler {
            Scheduler::RoundRobin => (false, from(self.last_served + 1)),
            Scheduler::Fifo => (false, joined),
            Scheduler::LaneArbiter => unreachable!("it is in routers with levels"),
            _ if !rules.real_time[flit.lane] => (true, joined),
            Scheduler::WeightedRoundRobin if self.goes_on() => (false, from(self.turn)),
            Scheduler::WeightedRoundRobin => (false, from(self.turn + 1)),
            Scheduler::FairQueueing | Scheduler::FineGrainedFairQueueing => {
                (false, flit.stamp - self.virtual_time)
            }
            Scheduler::VirtualClock
            | Scheduler::VirtualClockPersistent
            | Scheduler::FineGrainedVirtualClock => (false, flit.stamp),
        }
    }

    /// A flit has gone: what follows for the clocks and turns.
    pub(super) fn serve(&mut self, flit: Flit, rules: &Rules) {
        self.last_served = flit.lane;
        if !rules.real_time[flit.lane] {
            return;
        }
        self.virtual_time = flit.stamp;
        if flit.lane != self.turn || !self.goes_on() {
            self.turn = flit.lane;
            let left = self.allowance[self.turn];
            let carried = if left < 1.0 { left } else { 0.0 };
            self.allowance[self.turn] = rules.weight[self.turn] + carried;
        }
        self.allowance[self.turn] -= 1.0;
    }

    /// S5: whether the lane whose turn it is has an allowance.
    fn goes_on(&self) -> bool {
        self.allowance[self.turn] >= 1.0
    }

    /// S5: on with the same lane while it can go and has an allowance, else the next one in the circle.
    fn weighted_turn(&self, fronts: &[Option<Flit>]) -> Option<usize> {
        let goes_on = fronts[self.turn].is_some() && self.goes_on();
        if goes_on { Some(self.turn) } else { next_in_circle(self.turn, fronts) }
    }

    /// S7: the flit that joined first; of equal ones as in S6.
    fn first_come(&self, fronts: &[Option<Flit>]) -> Option<usize> {
        let earliest = fronts.iter().flatten().map(|flit| flit.joined_cycle).min()?;
        let first: Vec<_> =
            fronts.iter().map(|flit| flit.filter(|flit| flit.joined_cycle == earliest)).collect();
        next_in_circle(self.last_served, &first)
    }
}

/// S8: the smallest stamp; equal: the lower lane.
fn smallest_stamp(fronts: &[Option<Flit>]) -> Option<usize> {
    let first = fronts.iter().flatten().min_by(|one, other| one.stamp.total_cmp(&other.stamp));
    first.map(|flit| flit.lane)
}

/// S8, X4: the flit that joined first; equal: the lower lane.
pub(super) fn oldest(fronts: &[Option<Flit>]) -> Option<usize> {
    fronts.iter().flatten().min_by_key(|flit| flit.joined_cycle).map(|flit| flit.lane)
}

/// The first lane with a flit after `last`, which itself comes last.
fn next_in_circle(last: usize, fronts: &[Option<Flit>]) -> Option<usize> {
    let lanes = fronts.len();
    (1..=lanes).map(|step| (last + step) % lanes).find(|&lane| fronts[lane].is_some())
}
