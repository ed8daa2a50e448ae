//! Who goes first on a link. Each scheduler keeps its own columns, by lane (`link * width + class`) or by link.

mod fair_queueing;
mod fifo;
mod round_robin;
mod stamps;
mod virtual_clock;
mod weighted_round_robin;

pub(crate) use fair_queueing::FairQueueing;
pub(crate) use fifo::Fifo;
pub(crate) use round_robin::RoundRobin;
pub(crate) use virtual_clock::VirtualClock;
pub(crate) use weighted_round_robin::WeightedRoundRobin;

use flitwise_models::scenario::{ClassKind, ClassSpec};

use super::lane::Lane;

/// What a scheduler must answer, and what it is told.
pub(crate) trait LinkScheduler {
    /// Whether it must be asked even if only one class is eligible.
    const COUNTS: bool;

    /// Whether it can be told late that a flit passes, alone on its link: that does not matter to other links.
    const PASSES: bool;

    /// A flit joins `lane` behind a crossbar; `row.waiting` flits are there already.
    fn join(&mut self, lane: usize, row: &mut Lane, now: f64);

    /// A message joins a source queue of `link` in cycle `now`. What is returned comes back in
    /// [`LinkScheduler::begin_message`] when it is at the front.
    fn join_message(&self, link: usize, now: f64) -> f64;

    /// A message comes to the front of the source queue `lane`, behind others or not; it gets the stamps that
    /// it would have got when it joined.
    fn begin_message(&mut self, lane: usize, row: &mut Lane, ticket: f64, behind_others: bool);

    /// The class whose flit goes over `link`; `eligible` has a bit per class and is not 0, `rows` are the rows
    /// of all classes on the link.
    fn choose(&mut self, link: usize, eligible: u32, rows: &[Lane]) -> u32;

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

    /// The first flit of the source queue `lane` has left over `link`.
    fn leave_source(&mut self, link: usize, lane: usize, row: &mut Lane);
}

/// What schedulers know of the classes.
#[derive(Clone, Debug)]
pub(crate) struct ClassTable {
    /// Lanes per link: a power of two, at least the number of classes.
    pub(crate) width: usize,
    /// By class: `Vtick` \[cycles\]; 0 for best effort.
    vticks: [f64; MAX_WIDTH],
    /// A bit per real-time class.
    pub(crate) real_time: u32,
}

/// The most lanes per link.
const MAX_WIDTH: usize = 16;

impl ClassTable {
    /// Of classes with `width` lanes per link.
    pub(crate) fn new(classes: &[ClassSpec], width: usize) -> Self {
        assert!(width <= MAX_WIDTH && classes.len() <= width);
        let mut table = Self { width, vticks: [0.0; MAX_WIDTH], real_time: 0 };
        for (index, class) in classes.iter().enumerate() {
            if class.kind == ClassKind::RealTime {
                table.vticks[index] = class.link_vtick().unwrap_or(f64::INFINITY); // S9
                table.real_time |= 1 << index;
            }
        }
        table
    }

    #[inline]
    fn class(&self, lane: usize) -> usize {
        lane & (self.width - 1)
    }

    #[inline]
    fn vtick(&self, lane: usize) -> f64 {
        self.vticks[self.class(lane) % MAX_WIDTH]
    }

    #[inline]
    fn is_real_time(&self, lane: usize) -> bool {
        self.real_time >> self.class(lane) & 1 == 1
    }
}

/// Real-time classes among the eligible ones, or else best effort (S8).
#[inline]
fn real_time_first(eligible: u32, real_time: u32) -> u32 {
    match eligible & real_time {
        0 => eligible,
        some => some,
    }
}
