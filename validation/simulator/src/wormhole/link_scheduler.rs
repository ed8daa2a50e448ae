//! Who goes first on a link. Each scheduler keeps its own columns, by lane or by link.

mod fair_queueing;
mod fifo;
mod round_robin;
mod stamps;
mod virtual_clock;
mod weighted_round_robin;

use flitwise_language::scenario::{ClassKind, Crossbar, Scenario, Scheduler};

use fair_queueing::FairQueueing;
use fifo::Fifo;
use round_robin::RoundRobin;
pub(super) use stamps::{Stamps, smallest};
use virtual_clock::VirtualClock;
use weighted_round_robin::WeightedRoundRobin;

use crate::FlitSwitch;
use crate::reads::is_levelled;
use crate::virtual_channels::VirtualChannels;

use super::Wormhole;
use super::crossbar::Full;
use super::lane::Lane;
use super::levels::Levels;
use super::multiplexed::{CrossingOrder, Multiplexed};

/// Declares which type a scheduler of the scenario is.
macro_rules! schedulers {
    ($($word:ident => $scheduler:ty,)+) => {
        /// Wormhole routers with the scenario's scheduler and crossbar.
        pub(crate) fn with_scheduler(scenario: &Scenario) -> Box<dyn FlitSwitch> {
            if is_levelled(scenario) {
                return with_levels(scenario);
            }
            match (scenario.data_router().crossbar, scenario.data_router().scheduler) {
                (_, Scheduler::LaneArbiter) => with_levels(scenario),
                $((Crossbar::Full, Scheduler::$word) => {
                    Box::new(Wormhole::new(scenario, |table, _| <$scheduler>::new(table), |_, _| Full))
                })+
                $((Crossbar::Multiplexed, Scheduler::$word) => Box::new(Wormhole::new(
                    scenario,
                    |table, wiring| CrossingOrder::new(<$scheduler>::new(table.clone()), &table, wiring),
                    |table, wiring| Multiplexed::new(scenario, <$scheduler>::new(table.clone()), &table, wiring),
                )),)+
            }
        }
    };
}

/// Routers and interfaces with levels.
pub(crate) fn with_levels(scenario: &Scenario) -> Box<dyn FlitSwitch> {
    Box::new(Levels::new(scenario))
}

schedulers! {
    VirtualClock => VirtualClock<true, false>,
    VirtualClockPersistent => VirtualClock<false, false>,
    FineGrainedVirtualClock => VirtualClock<false, true>,
    FairQueueing => FairQueueing<false>,
    FineGrainedFairQueueing => FairQueueing<true>,
    WeightedRoundRobin => WeightedRoundRobin,
    RoundRobin => RoundRobin,
    Fifo => Fifo,
}

/// A scheduler that is known when the simulator is compiled.
pub(crate) trait LinkScheduler: Order {
    /// Whether it must be asked even if only one lane is eligible.
    const COUNTS: bool;

    /// Whether it can be told late that a flit passes, alone on its link: that does not matter to other links.
    const PASSES: bool;
}

/// What a scheduler must answer, and what it is told. Its links may be the input ports of multiplexed crossbars.
pub(crate) trait Order: Send + 'static {
    /// A message takes a lane behind a crossbar, or its header comes into an input lane.
    fn begins(&self, _row: &mut Lane) {}

    /// A flit joins `lane` behind a crossbar; `row.waiting` flits are there already.
    fn join(&mut self, lane: usize, row: &mut Lane, now: f64);

    /// A message joins a source queue, whose first lane is `lane`, in cycle `now`. What is returned comes back in
    /// [`Order::begin_message`] when it takes a lane: its stamp, which is that cycle if nothing else is said.
    fn join_message(&self, _lane: usize, now: f64) -> f64 {
        now
    }

    /// A message takes a lane of an injection link, after waiting for it or not; it gets the stamps that it would
    /// have got when it joined.
    fn begin_message(&mut self, _lane: usize, row: &mut Lane, ticket: f64, _has_waited: bool) {
        row.first_stamp = ticket;
    }

    /// The lane whose flit goes over `link`; `eligible` has a bit per lane and is not 0, `rows` are the rows of all
    /// lanes of the link.
    fn choose(&mut self, link: usize, eligible: u64, rows: &[Lane]) -> u32;

    /// A bit per lane of a link that gives way to all others (S8).
    fn gives_way(&self) -> u64 {
        0
    }

    /// What the first flits of lanes are compared by, where they are of several links: the smaller goes first.
    fn key(&self, link: usize, lane: usize, rows: &[Lane]) -> f64;

    /// Whether the key of a flit changes as others leave.
    fn keys_change(&self) -> bool {
        false
    }

    /// The first flit of `lane` has left over `link`; `row.waiting` flits stay.
    fn leave(&mut self, link: usize, lane: usize, row: &mut Lane);

    /// The one flit in `lane` leaves over `link`, and another joins the lane.
    #[inline]
    fn pass(&mut self, link: usize, lane: usize, row: &mut Lane, now: f64) {
        row.waiting = 0;
        self.leave(link, lane, row);
        self.join(lane, row, now);
        row.waiting = 1;
    }

    /// The first flit of a message has left its source over `link`.
    #[inline]
    fn leave_source(&mut self, _link: usize, _lane: usize, _row: &mut Lane) {}
}

/// What schedulers know of the lanes.
#[derive(Clone, Debug)]
pub(crate) struct LaneTable {
    /// Lanes of all links.
    pub(crate) lanes: usize,
    /// Lanes per link: a power of two.
    pub(crate) width: usize,
    /// Those of them that belong to a class.
    pub(crate) used: usize,
    /// A bit per real-time lane of a link.
    pub(crate) real_time: u64,
    /// By lane of a link: the Vtick of its class; 0 for best effort.
    pub(crate) vticks: Vec<f64>,
}

impl LaneTable {
    pub(crate) fn new(scenario: &Scenario, channels: &VirtualChannels, lanes: usize) -> Self {
        let mut table = Self {
            lanes,
            width: channels.width(),
            used: 1,
            real_time: 0,
            vticks: vec![0.0; channels.width()],
        };
        for (class, block) in scenario.classes().iter().zip(scenario.virtual_channels()) {
            for channel in block {
                table.used = channel + 1;
                table.vticks[channel] = class.lane_vtick();
                table.real_time |= u64::from(class.kind == ClassKind::RealTime) << channel;
            }
        }
        table
    }

    #[inline]
    fn links(&self) -> usize {
        self.lanes / self.width
    }

    #[inline]
    fn link(&self, lane: usize) -> usize {
        lane / self.width
    }

    #[inline]
    fn is_real_time(&self, lane: usize) -> bool {
        self.real_time >> (lane & (self.width - 1)) & 1 == 1
    }
}

/// Real-time lanes among the eligible ones, or else best effort (S8).
#[inline]
fn real_time_first(eligible: u64, real_time: u64) -> u64 {
    match eligible & real_time {
        0 => eligible,
        some => some,
    }
}
