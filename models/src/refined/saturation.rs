//! From which load on a class is saturated.

use super::{Asked, Resolution, solve_at};
use crate::scenario::Scenario;

/// Relative precision of a saturation load.
const PRECISION: f64 = 1e-3;

/// For each of the given classes, saturated in `scenario`, the factor on all rates at which it saturates; none if it
/// does at any load.
///
/// The classes are bisected together: every solve narrows the range of each of them. Means are enough.
pub(super) fn load_factors(scenario: &Scenario, saturated: &[usize]) -> Vec<Option<f64>> {
    let mut ranges = vec![(0.0, 1.0); saturated.len()];
    let wide = |range: &(f64, f64)| range.1 - range.0 > PRECISION * range.1;
    while let Some(&(low, high)) = ranges.iter().find(|range| wide(range)) {
        // the load may be far below: halve the factor itself until there is a lower end
        let factor = if low > 0.0 { f64::midpoint(low, high) } else { high / 2.0 };
        if factor < 1e-9 {
            break;
        }
        let scaled = scenario.with_rates_scaled(factor);
        let asked = Asked::new(&scaled);
        let resolution = Resolution { most_rounds: 80, ..Resolution::means(&asked) };
        let found = solve_at(&scaled, &asked, &resolution, None);
        for (class, range) in saturated.iter().zip(&mut ranges) {
            if !(range.0 < factor && factor < range.1) {
                continue;
            }
            let steady =
                asked.places.iter().position(|place| place == class).is_none_or(|at| found[at].is_ok());
            if steady { range.0 = factor } else { range.1 = factor }
        }
    }
    ranges.into_iter().map(|(low, high)| (low > 0.0).then(|| f64::midpoint(low, high))).collect()
}
