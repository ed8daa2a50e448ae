//! Weighted round robin among real-time lanes; reading S5.

use crate::wormhole::lane::Lane;

use super::round_robin::{after, first_from, from};
use super::stamps::{Stamps, smallest};
use super::{LaneTable, LinkScheduler, Order, real_time_first};

/// Turns by link, allowances by lane. Stamps are those of best effort: cycles of joining.
#[derive(Clone, Debug)]
pub(crate) struct WeightedRoundRobin {
    table: LaneTable,
    /// By lane of a link.
    weights: Vec<f64>,
    turn: Vec<u32>,
    allowance: Vec<f64>,
    stamps: Stamps,
}

impl WeightedRoundRobin {
    /// As if the last lane had had its turn everywhere.
    pub(super) fn new(table: LaneTable) -> Self {
        let vticks = &table.vticks;
        let real_time = (0..vticks.len()).filter(|lane| table.is_real_time(*lane)).map(|lane| vticks[lane]);
        let slowest = real_time.filter(|vtick| vtick.is_finite()).fold(0.0, f64::max);
        // w_c = Vtick_max / Vtick_c, at least 1; a class without rate never comes
        let weights = vticks.iter().map(|vtick| (slowest / vtick).max(1.0)).collect();
        Self {
            weights,
            turn: vec![u64::BITS - 1; table.links()],
            allowance: vec![0.0; table.lanes],
            stamps: Stamps::new(table.lanes),
            table,
        }
    }
}

impl LinkScheduler for WeightedRoundRobin {
    const COUNTS: bool = true;
    const PASSES: bool = false;
}

impl Order for WeightedRoundRobin {
    #[inline]
    fn join(&mut self, lane: usize, row: &mut Lane, now: f64) {
        if !self.table.is_real_time(lane) {
            self.stamps.push(lane, row, now);
        }
    }

    #[inline]
    fn choose(&mut self, link: usize, eligible: u64, rows: &[Lane]) -> u32 {
        let among = real_time_first(eligible, self.table.real_time);
        if among & self.table.real_time == 0 {
            return smallest(rows, among);
        }
        let first_lane = link * self.table.width;
        let turn = self.turn[link];
        if among >> turn & 1 == 1 {
            let allowance = &mut self.allowance[first_lane + turn as usize];
            if *allowance >= 1.0 {
                *allowance -= 1.0;
                return turn;
            }
        }
        let lane = first_from(after(turn as usize), among);
        let allowance = &mut self.allowance[first_lane + lane as usize];
        let left = if *allowance < 1.0 { *allowance } else { 0.0 };
        *allowance = self.weights[lane as usize] + left - 1.0;
        self.turn[link] = lane;
        lane
    }

    fn gives_way(&self) -> u64 {
        !self.table.real_time
    }

    fn keys_change(&self) -> bool {
        true
    }

    fn key(&self, link: usize, lane: usize, rows: &[Lane]) -> f64 {
        let turn = self.turn[link] as usize;
        if !self.table.is_real_time(lane) {
            return rows[lane & (rows.len() - 1)].first_stamp;
        }
        let first_lane = link * self.table.width;
        let goes_on = turn < rows.len() && self.allowance[first_lane + turn] >= 1.0;
        let start = if goes_on { turn as u32 } else { after(turn) };
        from(start, lane - first_lane, self.table.used)
    }

    #[inline]
    fn leave(&mut self, _: usize, lane: usize, row: &mut Lane) {
        if !self.table.is_real_time(lane) {
            self.stamps.pop(lane, row);
        }
    }
}
