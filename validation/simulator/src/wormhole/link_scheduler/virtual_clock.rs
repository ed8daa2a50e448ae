//! VirtualClock: the smallest stamp first; readings S2, S3 and S10.

use crate::wormhole::lane::Lane;

use super::stamps::{Stamps, later, smallest};
use super::{LaneTable, LinkScheduler, Order, real_time_first};

/// `auxVC` of a lane is the stamp given out last.
///
/// With `RESTARTS` the clock of a lane starts again when its queue has run empty, `PER_MESSAGE` with every message.
/// Stamps of best effort, whose Vtick
/// is 0, are cycles of joining.
#[derive(Clone, Debug)]
pub(crate) struct VirtualClock<const RESTARTS: bool, const PER_MESSAGE: bool> {
    real_time: u64,
    stamps: Stamps,
}

impl<const RESTARTS: bool, const PER_MESSAGE: bool> VirtualClock<RESTARTS, PER_MESSAGE> {
    pub(super) fn new(table: LaneTable) -> Self {
        Self { real_time: table.real_time, stamps: Stamps::new(table.lanes) }
    }

    /// auxVC = max(now, auxVC) + Vtick, or now + Vtick after a restart
    #[inline]
    fn stamp(row: &Lane, queued: bool, now: f64) -> f64 {
        let last = if RESTARTS && !queued { 0.0 } else { row.last_stamp };
        later(now, last) + row.vtick
    }
}

impl<const RESTARTS: bool, const PER_MESSAGE: bool> LinkScheduler for VirtualClock<RESTARTS, PER_MESSAGE> {
    const COUNTS: bool = false;
    const PASSES: bool = true;
}

impl<const RESTARTS: bool, const PER_MESSAGE: bool> Order for VirtualClock<RESTARTS, PER_MESSAGE> {
    #[inline]
    fn begins(&self, row: &mut Lane) {
        if PER_MESSAGE {
            row.last_stamp = 0.0;
        }
    }

    #[inline]
    fn join(&mut self, lane: usize, row: &mut Lane, now: f64) {
        let stamp = Self::stamp(row, row.waiting > 0, now);
        self.stamps.push(lane, row, stamp);
    }

    fn begin_message(&mut self, _: usize, row: &mut Lane, ticket: f64, has_waited: bool) {
        self.begins(row);
        row.first_stamp = Self::stamp(row, has_waited, ticket);
    }

    #[inline]
    fn choose(&mut self, _: usize, eligible: u64, rows: &[Lane]) -> u32 {
        smallest(rows, real_time_first(eligible, self.real_time))
    }

    fn gives_way(&self) -> u64 {
        !self.real_time
    }

    fn key(&self, _: usize, lane: usize, rows: &[Lane]) -> f64 {
        rows[lane & (rows.len() - 1)].first_stamp
    }

    #[inline]
    fn leave(&mut self, _: usize, lane: usize, row: &mut Lane) {
        self.stamps.pop(lane, row);
    }

    #[inline]
    fn leave_source(&mut self, _: usize, _: usize, row: &mut Lane) {
        // within a message auxVC is past now
        row.last_stamp = row.first_stamp;
        row.first_stamp += row.vtick;
    }
}
