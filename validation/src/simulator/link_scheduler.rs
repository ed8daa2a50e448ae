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

/// What a scheduler must answer, and what it is told.
pub(crate) trait LinkScheduler {
    /// A flit joins `lane` behind a crossbar; `queued` flits are there already.
    fn join(&mut self, lane: usize, queued: u32, now: f64);

    /// A message of `flits` flits joins the source queue `lane`, behind others or not. What is returned comes
    /// back in [`LinkScheduler::next_message`] when the message is at the front.
    fn join_message(&mut self, lane: usize, flits: u32, behind_others: bool, now: f64) -> f64;

    /// The lane whose flit goes over `link`, as its class; `eligible` has a bit per class and is not 0.
    fn choose(&mut self, link: usize, eligible: u32) -> u32;

    /// The first flit of `lane` goes over `link`, `left` flits stay behind it.
    fn leave(&mut self, link: usize, lane: usize, left: u32);

    /// The first flit of the source queue `lane` goes over `link`; more of its message stay.
    fn leave_source(&mut self, link: usize, lane: usize);

    /// The next message of the source queue `lane` is at the front.
    fn next_message(&mut self, lane: usize, ticket: f64);
}

/// What schedulers know of the classes.
#[derive(Clone, Debug)]
pub(crate) struct ClassTable {
    /// Lanes per link: a power of two, at least the number of classes.
    pub(crate) width: usize,
    /// By class: `Vtick` \[cycles\]; 0 for best effort.
    pub(crate) vticks: Vec<f64>,
    /// A bit per real-time class.
    pub(crate) real_time: u32,
}

impl ClassTable {
    /// Of classes with `width` lanes per link.
    pub(crate) fn new(classes: &[ClassSpec], width: usize) -> Self {
        let real_time = |class: &ClassSpec| class.kind == ClassKind::RealTime;
        let mask = |(index, class): (usize, &ClassSpec)| u32::from(real_time(class)) << index;
        // S9: Vtick = 1 / (rate M), the mean time between flits of the class
        let vtick = |class: &ClassSpec| match real_time(class) {
            true => class.vtick.unwrap_or(1.0 / (class.rate * f64::from(class.message_flits))),
            false => 0.0,
        };
        let mut vticks: Vec<f64> = classes.iter().map(vtick).collect();
        vticks.resize(width, 0.0);
        Self { width, vticks, real_time: classes.iter().enumerate().map(mask).sum() }
    }

    /// The class of a lane.
    #[inline]
    pub(crate) fn class(&self, lane: usize) -> usize {
        lane & (self.width - 1)
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
