//! Self-clocked fair queueing: the smallest finish tag first; reading S4.

use crate::wormhole::lane::Lane;

use super::stamps::{Stamps, later, smallest};
use super::{LaneTable, LinkScheduler, Order, real_time_first};

/// Finish tags are stamps; the virtual time of a link is the tag of the real-time flit it sent last. Stamps of best
/// effort are cycles of joining.
#[derive(Clone, Debug)]
pub(crate) struct FairQueueing<const PER_MESSAGE: bool> {
    table: LaneTable,
    stamps: Stamps,
    virtual_time: Vec<f64>,
}

impl<const PER_MESSAGE: bool> FairQueueing<PER_MESSAGE> {
    pub(super) fn new(table: LaneTable) -> Self {
        let virtual_time = vec![0.0; table.links()];
        Self { stamps: Stamps::new(table.lanes), virtual_time, table }
    }

    /// F = max(v, F) + Vtick
    #[inline]
    fn tag(row: &Lane, virtual_time: f64) -> f64 {
        later(virtual_time, row.last_stamp) + row.vtick
    }

    /// The clock that a flit or message sees when it joins: virtual time, for best effort the cycle.
    #[inline]
    fn clock(&self, lane: usize, now: f64) -> f64 {
        if self.table.is_real_time(lane) { self.virtual_time[self.table.link(lane)] } else { now }
    }

    #[inline]
    fn sends(&mut self, link: usize, lane: usize, row: &Lane) {
        if self.table.is_real_time(lane) {
            self.virtual_time[link] = row.first_stamp;
        }
    }
}

impl<const PER_MESSAGE: bool> LinkScheduler for FairQueueing<PER_MESSAGE> {
    const COUNTS: bool = false;
    const PASSES: bool = false;
}

impl<const PER_MESSAGE: bool> Order for FairQueueing<PER_MESSAGE> {
    #[inline]
    fn begins(&self, row: &mut Lane) {
        if PER_MESSAGE {
            row.last_stamp = 0.0;
        }
    }

    #[inline]
    fn join(&mut self, lane: usize, row: &mut Lane, now: f64) {
        let tag = Self::tag(row, self.clock(lane, now));
        self.stamps.push(lane, row, tag);
    }

    fn join_message(&self, lane: usize, now: f64) -> f64 {
        self.clock(lane, now)
    }

    fn begin_message(&mut self, _: usize, row: &mut Lane, ticket: f64, _: bool) {
        self.begins(row);
        row.first_stamp = Self::tag(row, ticket);
    }

    #[inline]
    fn choose(&mut self, _: usize, eligible: u64, rows: &[Lane]) -> u32 {
        smallest(rows, real_time_first(eligible, self.table.real_time))
    }

    fn gives_way(&self) -> u64 {
        !self.table.real_time
    }

    fn key(&self, link: usize, lane: usize, rows: &[Lane]) -> f64 {
        let stamp = rows[lane & (rows.len() - 1)].first_stamp;
        if self.table.is_real_time(lane) { stamp - self.virtual_time[link] } else { stamp }
    }

    fn keys_change(&self) -> bool {
        true
    }

    #[inline]
    fn leave(&mut self, link: usize, lane: usize, row: &mut Lane) {
        self.sends(link, lane, row);
        self.stamps.pop(lane, row);
    }

    #[inline]
    fn leave_source(&mut self, link: usize, lane: usize, row: &mut Lane) {
        self.sends(link, lane, row);
        row.last_stamp = row.first_stamp;
        row.first_stamp += row.vtick;
    }
}
