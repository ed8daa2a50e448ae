//! From which load on a class is saturated.

use super::solution::ClassSolution;
use super::traffic::Traffic;
use super::{Options, means};
use crate::fixed_point;
use flitwise_language::scenario::Scenario;

/// Relative precision of a saturation load.
const PRECISION: f64 = 1e-6;
/// Residual that is fine enough for it.
const TOLERANCE: f64 = 1e-10;

/// For each of the given classes, saturated in `scenario`, the factor on all rates at which it saturates; none
/// if it does at any load.
///
/// The classes are bisected together: every solve narrows the range of each of them.
pub(super) fn load_factors(scenario: &Scenario, saturated: &[usize], options: &Options) -> Vec<Option<f64>> {
    let tolerance = options.fixed_point.tolerance.max(TOLERANCE);
    let options = fixed_point::Options { tolerance, ..options.fixed_point };
    let mut ranges = vec![(0.0, 1.0); saturated.len()];
    let wide = |range: &(f64, f64)| range.1 - range.0 > PRECISION * range.1;
    while let Some(&(low, high)) = ranges.iter().find(|range| wide(range)) {
        // the load may be far below: halve the factor itself until there is a lower end
        let factor = if low > 0.0 { f64::midpoint(low, high) } else { high / 2.0 };
        if factor < 1e-12 {
            break;
        }
        let scaled = scenario.with_rates_scaled(factor);
        let solved = means(&scaled, &Traffic::of(&scaled), &options, None, None, false);
        for (class, range) in saturated.iter().zip(&mut ranges) {
            if !(range.0 < factor && factor < range.1) {
                continue;
            }
            let found = solved.outcomes.iter().find(|outcome| outcome.class == *class);
            let steady = solved.answered
                && found.is_some_and(|outcome| {
                    outcome.found.as_ref().is_ok_and(|solution: &ClassSolution| !solution.saturated())
                });
            if steady { range.0 = factor } else { range.1 = factor }
        }
    }
    ranges.into_iter().map(|(low, high)| (low > 0.0).then(|| f64::midpoint(low, high))).collect()
}
