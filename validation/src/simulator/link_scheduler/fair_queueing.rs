//! Self-clocked fair queueing: the smallest finish tag first; reading S4.

use crate::simulator::lane::Lane;

use super::stamps::{Stamps, later, smallest};
use super::{ClassTable, LinkScheduler, real_time_first};

/// Finish tags are stamps; the virtual time of a link is the tag of the real-time flit it sent last.
#[derive(Clone, Debug)]
pub(crate) struct FairQueueing {
    classes: ClassTable,
    stamps: Stamps,
    virtual_time: Vec<f64>,
}

impl FairQueueing {
    /// With all tags at 0.
    pub(crate) fn new(classes: ClassTable, lanes: usize) -> Self {
        let virtual_time = vec![0.0; lanes / classes.width];
        Self { classes, stamps: Stamps::new(lanes), virtual_time }
    }

    /// F = max(v, F) + Vtick
    #[inline]
    fn tag(&self, lane: usize, row: &Lane, virtual_time: f64) -> f64 {
        later(virtual_time, row.last_stamp) + self.classes.vtick(lane)
    }

    #[inline]
    fn sends(&mut self, link: usize, lane: usize, row: &Lane) {
        if self.classes.is_real_time(lane) {
            self.virtual_time[link] = row.first_stamp;
        }
    }
}

impl LinkScheduler for FairQueueing {
    const COUNTS: bool = false;
    const PASSES: bool = false;

    #[inline]
    fn join(&mut self, lane: usize, row: &mut Lane, _: f64) {
        let tag = self.tag(lane, row, self.virtual_time[lane / self.classes.width]);
        self.stamps.push(lane, row, tag);
    }

    fn join_message(&self, link: usize, _: f64) -> f64 {
        self.virtual_time[link]
    }

    fn begin_message(&mut self, lane: usize, row: &mut Lane, ticket: f64, _: bool) {
        row.first_stamp = self.tag(lane, row, ticket);
    }

    #[inline]
    fn choose(&mut self, _: usize, eligible: u32, rows: &[Lane]) -> u32 {
        smallest(rows, real_time_first(eligible, self.classes.real_time))
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
        row.first_stamp += self.classes.vtick(lane);
    }
}
