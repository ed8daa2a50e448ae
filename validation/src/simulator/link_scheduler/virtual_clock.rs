//! VirtualClock: the smallest stamp first; readings S2 and S3.

use crate::simulator::lane::Lane;

use super::stamps::{Stamps, later, smallest};
use super::{ClassTable, LinkScheduler, real_time_first};

/// `auxVC` of a lane is the stamp given out last.
///
/// With `RESTARTS` the clock of a class starts again when its queue has run empty.
#[derive(Clone, Debug)]
pub(crate) struct VirtualClock<const RESTARTS: bool> {
    classes: ClassTable,
    stamps: Stamps,
}

impl<const RESTARTS: bool> VirtualClock<RESTARTS> {
    /// With all clocks at 0.
    pub(crate) fn new(classes: ClassTable, lanes: usize) -> Self {
        Self { classes, stamps: Stamps::new(lanes) }
    }

    /// auxVC = max(now, auxVC) + Vtick, or now + Vtick after a restart
    #[inline]
    fn stamp(&self, lane: usize, row: &Lane, queued: bool, now: f64) -> f64 {
        let last = if RESTARTS && !queued { 0.0 } else { row.last_stamp };
        later(now, last) + self.classes.vtick(lane)
    }
}

impl<const RESTARTS: bool> LinkScheduler for VirtualClock<RESTARTS> {
    const COUNTS: bool = false;
    const PASSES: bool = true;

    #[inline]
    fn join(&mut self, lane: usize, row: &mut Lane, now: f64) {
        let stamp = self.stamp(lane, row, row.waiting > 0, now);
        self.stamps.push(lane, row, stamp);
    }

    fn join_message(&self, _: usize, now: f64) -> f64 {
        now
    }

    fn begin_message(&mut self, lane: usize, row: &mut Lane, ticket: f64, behind_others: bool) {
        row.first_stamp = self.stamp(lane, row, behind_others, ticket);
    }

    #[inline]
    fn choose(&mut self, _: usize, eligible: u32, rows: &[Lane]) -> u32 {
        smallest(rows, real_time_first(eligible, self.classes.real_time))
    }

    #[inline]
    fn leave(&mut self, _: usize, lane: usize, row: &mut Lane) {
        self.stamps.pop(lane, row);
    }

    #[inline]
    fn leave_source(&mut self, _: usize, lane: usize, row: &mut Lane) {
        // within a message auxVC is past now
        row.last_stamp = row.first_stamp;
        row.first_stamp += self.classes.vtick(lane);
    }
}
