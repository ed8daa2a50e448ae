//! Round robin, flit by flit, classes all alike; reading S6.

use crate::simulator::lane::Lane;

use super::LinkScheduler;

/// By link: the class to look at first.
#[derive(Clone, Debug)]
pub(crate) struct RoundRobin {
    next: Vec<u32>,
}

impl RoundRobin {
    /// With class 0 first everywhere.
    pub(crate) fn new(links: usize) -> Self {
        Self { next: vec![0; links] }
    }
}

/// The first of the eligible classes from `start` on, cyclically.
#[inline]
pub(super) fn first_from(start: u32, eligible: u32) -> u32 {
    match eligible >> start {
        0 => eligible.trailing_zeros(),
        ahead => start + ahead.trailing_zeros(),
    }
}

impl LinkScheduler for RoundRobin {
    const COUNTS: bool = true;
    const PASSES: bool = false;

    #[inline]
    fn join(&mut self, _: usize, _: &mut Lane, _: f64) {}

    fn join_message(&self, _: usize, _: f64) -> f64 {
        0.0
    }

    fn begin_message(&mut self, _: usize, _: &mut Lane, _: f64, _: bool) {}

    #[inline]
    fn choose(&mut self, link: usize, eligible: u32, _: &[Lane]) -> u32 {
        let class = first_from(self.next[link], eligible);
        self.next[link] = class + 1;
        class
    }

    #[inline]
    fn leave(&mut self, _: usize, _: usize, _: &mut Lane) {}

    #[inline]
    fn leave_source(&mut self, _: usize, _: usize, _: &mut Lane) {}
}
