//! VirtualClock: the smallest stamp first; readings S2 and S3.

use super::stamps::{Stamps, smallest};
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
    pub(crate) fn new(classes: ClassTable, lanes: usize, buffered_lanes: usize, buffer_flits: u32) -> Self {
        Self { classes, stamps: Stamps::new(lanes, buffered_lanes, buffer_flits) }
    }

    /// auxVC = max(now, auxVC) + Vtick, or now + Vtick after a restart
    #[inline]
    fn stamp(&self, lane: usize, queued: bool, now: f64) -> f64 {
        let last = self.stamps.last(lane);
        let clock = if RESTARTS && !queued { now } else { now.max(last) };
        clock + self.classes.vticks[self.classes.class(lane)]
    }
}

impl<const RESTARTS: bool> LinkScheduler for VirtualClock<RESTARTS> {
    #[inline]
    fn join(&mut self, lane: usize, queued: u32, now: f64) {
        let stamp = self.stamp(lane, queued > 0, now);
        self.stamps.push(lane, queued, stamp);
    }

    fn join_message(&mut self, lane: usize, flits: u32, behind_others: bool, now: f64) -> f64 {
        let first = self.stamp(lane, behind_others, now);
        let vtick = self.classes.vticks[self.classes.class(lane)];
        // one after another: within a message auxVC is past now
        let last = (1..flits).fold(first, |stamp, _| stamp + vtick);
        self.stamps.set_last(lane, last);
        first
    }

    #[inline]
    fn choose(&mut self, link: usize, eligible: u32) -> u32 {
        let eligible = real_time_first(eligible, self.classes.real_time);
        smallest(&self.stamps, link, self.classes.width, eligible)
    }

    #[inline]
    fn leave(&mut self, _: usize, lane: usize, left: u32) {
        self.stamps.pop(lane, left);
    }

    #[inline]
    fn leave_source(&mut self, _: usize, lane: usize) {
        let vtick = self.classes.vticks[self.classes.class(lane)];
        self.stamps.set_first(lane, self.stamps.first(lane) + vtick);
    }

    #[inline]
    fn next_message(&mut self, lane: usize, ticket: f64) {
        self.stamps.set_first(lane, ticket);
    }
}
