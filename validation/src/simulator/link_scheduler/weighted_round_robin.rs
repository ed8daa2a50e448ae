//! Weighted round robin among real-time classes; reading S5.

use crate::simulator::lane::Lane;

use super::round_robin::first_from;
use super::{ClassTable, LinkScheduler, real_time_first};

/// Turns by link, allowances by lane.
#[derive(Clone, Debug)]
pub(crate) struct WeightedRoundRobin {
    classes: ClassTable,
    weights: Vec<f64>,
    turn: Vec<u32>,
    allowance: Vec<f64>,
}

impl WeightedRoundRobin {
    /// As if the last class had had its turn everywhere.
    pub(crate) fn new(classes: ClassTable, lanes: usize) -> Self {
        let vticks = &classes.vticks;
        let real_time = |class: &usize| classes.real_time >> class & 1 == 1;
        let slowest = (0..vticks.len()).filter(real_time).map(|class| vticks[class]);
        let slowest = slowest.filter(|vtick| vtick.is_finite()).fold(0.0, f64::max);
        // w_c = Vtick_max / Vtick_c, at least 1; a class without rate never comes
        let weights = vticks.iter().map(|vtick| (slowest / vtick).max(1.0)).collect();
        let turn = vec![31; lanes / classes.width];
        Self { classes, weights, turn, allowance: vec![0.0; lanes] }
    }
}

impl LinkScheduler for WeightedRoundRobin {
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
        let among = real_time_first(eligible, self.classes.real_time);
        if among & self.classes.real_time == 0 {
            return among.trailing_zeros();
        }
        let first_lane = link * self.classes.width;
        let turn = self.turn[link];
        if among >> turn & 1 == 1 {
            let allowance = &mut self.allowance[first_lane + turn as usize];
            if *allowance >= 1.0 {
                *allowance -= 1.0;
                return turn;
            }
        }
        let class = first_from((turn + 1) & 31, among);
        let allowance = &mut self.allowance[first_lane + class as usize];
        let left = if *allowance < 1.0 { *allowance } else { 0.0 };
        *allowance = self.weights[class as usize] + left - 1.0;
        self.turn[link] = class;
        class
    }

    #[inline]
    fn leave(&mut self, _: usize, _: usize, _: &mut Lane) {}

    #[inline]
    fn leave_source(&mut self, _: usize, _: usize, _: &mut Lane) {}
}
