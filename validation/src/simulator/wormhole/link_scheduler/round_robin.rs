//! Round robin, flit by flit, lanes all alike; reading S6.

use crate::simulator::wormhole::lane::Lane;

use super::{LaneTable, LinkScheduler};

/// By link: the lane to look at first.
#[derive(Clone, Debug)]
pub(crate) struct RoundRobin {
    next: Vec<u32>,
}

/// The lane after this one, where 64 lanes are a circle; beyond the lanes of a link there is none.
#[inline]
pub(super) fn after(lane: usize) -> u32 {
    (lane as u32 + 1) & (u64::BITS - 1)
}

/// The first of the eligible lanes from `start` on, cyclically.
#[inline]
pub(super) fn first_from(start: u32, eligible: u64) -> u32 {
    match eligible >> start {
        0 => eligible.trailing_zeros(),
        ahead => start + ahead.trailing_zeros(),
    }
}

impl LinkScheduler for RoundRobin {
    const COUNTS: bool = true;
    const PASSES: bool = false;

    fn new(table: LaneTable) -> Self {
        Self { next: vec![0; table.links()] }
    }

    #[inline]
    fn join(&mut self, _: usize, _: &mut Lane, _: f64) {}

    #[inline]
    fn choose(&mut self, link: usize, eligible: u64, _: &[Lane]) -> u32 {
        let lane = first_from(self.next[link], eligible);
        self.next[link] = after(lane as usize);
        lane
    }

    #[inline]
    fn leave(&mut self, _: usize, _: usize, _: &mut Lane) {}
}
