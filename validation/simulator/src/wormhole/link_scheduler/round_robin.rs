//! Round robin, flit by flit, lanes all alike; reading S6.

use crate::wormhole::lane::Lane;

use super::{LaneTable, LinkScheduler, Order};

/// By link: the lane to look at first.
#[derive(Clone, Debug)]
pub(crate) struct RoundRobin {
    next: Vec<u32>,
    /// Lanes of a link that belong to a class.
    used: usize,
}

/// The lane after this one, where 64 lanes are a circle; beyond the lanes of a link there is none.
#[inline]
pub(super) fn after(lane: usize) -> u32 {
    (lane as u32 + 1) & (u64::BITS - 1)
}

/// How far a lane is from `start`, where the lanes that belong to a class are a circle.
pub(super) fn from(start: u32, lane: usize, used: usize) -> f64 {
    ((lane + used - start as usize % used) % used) as f64
}

/// The first of the eligible lanes from `start` on, cyclically.
#[inline]
pub(super) fn first_from(start: u32, eligible: u64) -> u32 {
    match eligible >> start {
        0 => eligible.trailing_zeros(),
        ahead => start + ahead.trailing_zeros(),
    }
}

impl RoundRobin {
    pub(super) fn new(table: LaneTable) -> Self {
        Self { next: vec![0; table.links()], used: table.used }
    }
}

impl LinkScheduler for RoundRobin {
    const COUNTS: bool = true;
    const PASSES: bool = false;
}

impl Order for RoundRobin {
    #[inline]
    fn join(&mut self, _: usize, _: &mut Lane, _: f64) {}

    #[inline]
    fn choose(&mut self, link: usize, eligible: u64, _: &[Lane]) -> u32 {
        let lane = first_from(self.next[link], eligible);
        self.next[link] = after(lane as usize);
        lane
    }

    fn key(&self, link: usize, lane: usize, rows: &[Lane]) -> f64 {
        from(self.next[link], lane & (rows.len() - 1), self.used)
    }

    fn keys_change(&self) -> bool {
        true
    }

    #[inline]
    fn leave(&mut self, _: usize, _: usize, _: &mut Lane) {}
}
