//! The flit first that joined first, classes all alike; reading S7.

use super::stamps::{Stamps, smallest};
use super::{ClassTable, LinkScheduler};

/// Stamps are cycles of joining.
#[derive(Clone, Debug)]
pub(crate) struct Fifo {
    classes: ClassTable,
    stamps: Stamps,
}

impl Fifo {
    /// With empty queues.
    pub(crate) fn new(classes: ClassTable, lanes: usize, buffered_lanes: usize, buffer_flits: u32) -> Self {
        Self { classes, stamps: Stamps::new(lanes, buffered_lanes, buffer_flits) }
    }
}

impl LinkScheduler for Fifo {
    #[inline]
    fn join(&mut self, lane: usize, queued: u32, now: f64) {
        self.stamps.push(lane, queued, now);
    }

    fn join_message(&mut self, _: usize, _: u32, _: bool, now: f64) -> f64 {
        now
    }

    #[inline]
    fn choose(&mut self, link: usize, eligible: u32) -> u32 {
        smallest(&self.stamps, link, self.classes.width, eligible)
    }

    #[inline]
    fn leave(&mut self, _: usize, lane: usize, left: u32) {
        self.stamps.pop(lane, left);
    }

    #[inline]
    fn leave_source(&mut self, _: usize, _: usize) {}

    #[inline]
    fn next_message(&mut self, lane: usize, ticket: f64) {
        self.stamps.set_first(lane, ticket);
    }
}
