//! From which load on a class is saturated.

use super::grid::work;
use super::{Problem, Resolution, solve_at};
use flitwise_language::scenario::Scenario;

/// Relative precision of a saturation load.
const PRECISION: f64 = 1e-3;
/// The least factor looked at.
const LEAST: f64 = 1e-9;
/// Cells that the search for all classes of a scenario may transform before it is given up: some two seconds, where a
/// saturated class of a 6-cube takes less than one.
const MOST_WORK: u64 = 80_000_000;
/// So many times as much where classes have senders or destinations of their own, and channels are told apart.
const UNEVEN: u64 = 4;
/// Probes after which every other one halves the range.
const TRUSTED: u32 = 6;

/// For each of the given classes, saturated in `scenario`, the factor on all rates at which it saturates; none if it
/// does at any load, or if the search takes too long.
pub(super) fn load_factors(scenario: &Scenario, saturated: &[usize]) -> Vec<Result<f64, Missing>> {
    let is_uniform = (0..scenario.classes().len()).all(|class| scenario.is_uniform(class));
    let end = work() + if is_uniform { MOST_WORK } else { UNEVEN * MOST_WORK };
    saturated.iter().map(|class| load_factor(scenario, *class, end)).collect()
}

/// Why a class has no factor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Missing {
    /// It is saturated at any load.
    AtAnyLoad,
    /// The search was given up.
    TooLong,
}

/// A class at some factor on all rates: the load of its source, or that of what is overloaded.
struct Probe<'s> {
    scenario: &'s Scenario,
    /// Place of the class in the scenario.
    class: usize,
}

impl Probe<'_> {
    /// Each factor afresh, as [`super::solve`] does, so that both call the same saturated.
    fn at(&self, factor: f64) -> Result<f64, f64> {
        let scaled = self.scenario.with_rates_scaled(factor);
        let problem = Problem::new(&scaled);
        let Some(index) = problem.places.iter().position(|place| *place == self.class) else {
            return Ok(0.0);
        };
        // means are enough
        let resolution = Resolution::probing(&problem);
        let found = solve_at(&scaled, &problem, &resolution, &[index], &[]).swap_remove(0);
        let found = found.map_err(|over| over.load)?;
        Ok(found.source_load)
    }
}

/// The load of the source rises to 1 at saturation: two steady factors tell where about, and a probe half the
/// precision to either side of that place ends the search, unless something else overflows first. Then the range
/// between a steady factor and one that is not is halved.
fn load_factor(scenario: &Scenario, class: usize, end: u64) -> Result<f64, Missing> {
    let too_long = || work() > end;
    let probe = Probe { scenario, class };
    let mut high = 1.0;
    // the load may be far below: reduce the factor until there is a lower end
    let mut factor = match probe.at(high) {
        Ok(_) => return Ok(high),
        Err(load) => {
            if load > 1.0 && load.is_finite() {
                0.9 / load
            } else {
                0.5
            }
        }
    };
    let (mut low, mut load) = loop {
        match probe.at(factor) {
            Ok(load) => break (factor, load),
            Err(_) => high = factor,
        }
        factor /= 2.0;
        if factor < LEAST {
            return Err(Missing::AtAnyLoad);
        }
        if too_long() {
            return Err(Missing::TooLong);
        }
    };
    // the source's load at none is none
    let (mut before, mut load_before) = (0.0, 0.0);
    let mut probes = 0;
    while high - low > PRECISION * high {
        probes += 1;
        if too_long() {
            return Err(Missing::TooLong);
        }
        let step = 0.9 * PRECISION * high;
        // load = 1
        let secant = low + (1.0 - load) * (low - before) / (load - load_before);
        let trusted = secant.is_finite() && secant > low && (probes <= TRUSTED || probes % 2 == 0);
        let factor = if !trusted {
            f64::midpoint(low, high)
        } else if secant >= high - step {
            high - step
        } else {
            f64::max(secant - 0.5 * step, low + step)
        };
        let factor = if low < factor && factor < high { factor } else { f64::midpoint(low, high) };
        match probe.at(factor) {
            Ok(now) => {
                (before, load_before) = (low, load);
                (low, load) = (factor, now);
            }
            Err(_) => high = factor,
        }
    }
    Ok(f64::midpoint(low, high))
}
