//! Self-clocked fair queueing: the smallest finish tag first; reading S4.

use super::stamps::{Stamps, smallest};
use super::{ClassTable, LinkScheduler, real_time_first};

/// Finish tags by lane, and the virtual time of each link: the tag of the real-time flit it sent last.
#[derive(Clone, Debug)]
pub(crate) struct FairQueueing {
    classes: ClassTable,
    stamps: Stamps,
    virtual_time: Vec<f64>,
}

impl FairQueueing {
    /// With all tags at 0.
    pub(crate) fn new(classes: ClassTable, lanes: usize, buffered_lanes: usize, buffer_flits: u32) -> Self {
        let links = lanes / classes.width;
        let stamps = Stamps::new(lanes, buffered_lanes, buffer_flits);
        Self { classes, stamps, virtual_time: vec![0.0; links] }
    }

    /// F = max(v, F) + Vtick
    #[inline]
    fn tag(&self, lane: usize) -> f64 {
        let virtual_time = self.virtual_time[lane / self.classes.width];
        virtual_time.max(self.stamps.last(lane)) + self.classes.vticks[self.classes.class(lane)]
    }

    #[inline]
    fn sends(&mut self, link: usize, lane: usize) {
        if self.classes.real_time >> self.classes.class(lane) & 1 == 1 {
            self.virtual_time[link] = self.stamps.first(lane);
        }
    }
}

impl LinkScheduler for FairQueueing {
    #[inline]
    fn join(&mut self, lane: usize, queued: u32, _: f64) {
        let tag = self.tag(lane);
        self.stamps.push(lane, queued, tag);
    }

    fn join_message(&mut self, lane: usize, flits: u32, _: bool, _: f64) -> f64 {
        let first = self.tag(lane);
        let vtick = self.classes.vticks[self.classes.class(lane)];
        let last = (1..flits).fold(first, |tag, _| tag + vtick);
        self.stamps.set_last(lane, last);
        first
    }

    #[inline]
    fn choose(&mut self, link: usize, eligible: u32) -> u32 {
        let eligible = real_time_first(eligible, self.classes.real_time);
        smallest(&self.stamps, link, self.classes.width, eligible)
    }

    #[inline]
    fn leave(&mut self, link: usize, lane: usize, left: u32) {
        self.sends(link, lane);
        self.stamps.pop(lane, left);
    }

    #[inline]
    fn leave_source(&mut self, link: usize, lane: usize) {
        self.sends(link, lane);
        let vtick = self.classes.vticks[self.classes.class(lane)];
        self.stamps.set_first(lane, self.stamps.first(lane) + vtick);
    }

    #[inline]
    fn next_message(&mut self, lane: usize, ticket: f64) {
        self.stamps.set_first(lane, ticket);
    }
}
