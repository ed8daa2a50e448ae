//! The flit first that joined first, lanes all alike; of equal ones in turn; reading S7.

use super::round_robin::{after, first_from};
use super::stamps::{Stamps, all_smallest};
use super::{LaneTable, LinkScheduler, Order};
use crate::wormhole::lane::Lane;

/// Stamps are cycles of joining.
#[derive(Clone, Debug)]
pub(crate) struct Fifo {
    stamps: Stamps,
    /// By link: the lane to look at first, the one after the lane served last.
    next: Vec<u32>,
    /// Lanes per link, less one.
    mask: usize,
}

impl Fifo {
    pub(super) fn new(table: LaneTable) -> Self {
        Self { stamps: Stamps::new(table.lanes), next: vec![0; table.links()], mask: table.width - 1 }
    }

    #[inline]
    fn serve(&mut self, link: usize, lane: usize) {
        self.next[link] = after(lane & self.mask);
    }
}

impl LinkScheduler for Fifo {
    const COUNTS: bool = false;
    const PASSES: bool = true;
}

impl Order for Fifo {
    #[inline]
    fn join(&mut self, lane: usize, row: &mut Lane, now: f64) {
        self.stamps.push(lane, row, now);
    }

    #[inline]
    fn choose(&mut self, link: usize, eligible: u64, rows: &[Lane]) -> u32 {
        first_from(self.next[link], all_smallest(rows, eligible))
    }

    fn key(&self, _: usize, lane: usize, rows: &[Lane]) -> f64 {
        rows[lane & (rows.len() - 1)].first_stamp
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
