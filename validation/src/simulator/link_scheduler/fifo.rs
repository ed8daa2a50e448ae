//! The flit first that joined first, classes all alike; reading S7.

use crate::simulator::lane::Lane;

use super::LinkScheduler;
use super::stamps::{Stamps, smallest};

/// Stamps are cycles of joining.
#[derive(Clone, Debug)]
pub(crate) struct Fifo {
    stamps: Stamps,
}

impl Fifo {
    /// With empty queues.
    pub(crate) fn new(lanes: usize) -> Self {
        Self { stamps: Stamps::new(lanes) }
    }
}

impl LinkScheduler for Fifo {
    const COUNTS: bool = false;
    const PASSES: bool = true;

    #[inline]
    fn join(&mut self, lane: usize, row: &mut Lane, now: f64) {
        self.stamps.push(lane, row, now);
    }

    fn join_message(&self, _: usize, now: f64) -> f64 {
        now
    }

    fn begin_message(&mut self, _: usize, row: &mut Lane, ticket: f64, _: bool) {
        row.first_stamp = ticket;
    }

    #[inline]
    fn choose(&mut self, _: usize, eligible: u32, rows: &[Lane]) -> u32 {
        smallest(rows, eligible)
    }

    #[inline]
    fn leave(&mut self, _: usize, lane: usize, row: &mut Lane) {
        self.stamps.pop(lane, row);
    }

    #[inline]
    fn leave_source(&mut self, _: usize, _: usize, _: &mut Lane) {}
}
