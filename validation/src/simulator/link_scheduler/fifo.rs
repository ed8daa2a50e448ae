//! The flit first that joined first, classes all alike; of equal ones in turn; reading S7.

use crate::simulator::lane::Lane;

use super::LinkScheduler;
use super::round_robin::first_from;
use super::stamps::{Stamps, all_smallest};

/// Stamps are cycles of joining.
#[derive(Clone, Debug)]
pub(crate) struct Fifo {
    stamps: Stamps,
    /// By link: the class to look at first, the one after the class served last.
    next: Vec<u32>,
    /// Lanes per link, less one.
    class_mask: usize,
}

impl Fifo {
    /// With empty queues and class 0 first everywhere; `width` lanes belong to a link.
    pub(crate) fn new(lanes: usize, width: usize) -> Self {
        Self { stamps: Stamps::new(lanes), next: vec![0; lanes / width], class_mask: width - 1 }
    }

    #[inline]
    fn serve(&mut self, link: usize, lane: usize) {
        self.next[link] = (lane & self.class_mask) as u32 + 1;
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
    fn choose(&mut self, link: usize, eligible: u32, rows: &[Lane]) -> u32 {
        first_from(self.next[link], all_smallest(rows, eligible))
    }

    #[inline]
    fn leave(&mut self, link: usize, lane: usize, row: &mut Lane) {
        self.serve(link, lane);
        self.stamps.pop(lane, row);
    }

    #[inline]
    fn leave_source(&mut self, link: usize, lane: usize, _: &mut Lane) {
        self.serve(link, lane);
    }
}
