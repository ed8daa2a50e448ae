//! From which load on a class is saturated.

use super::grid::{is_spent, within};
use super::{MOST_WORK, Problem, Resolution, solve_at};
use flitwise_language::scenario::Scenario;

/// Relative precision of a saturation load.
const PRECISION: f64 = 1e-3;
/// The least factor looked at.
const LEAST: f64 = 1e-9;
/// Probes after which every other one halves the range.
const TRUSTED: u32 = 6;

/// Why a class has no factor.
const AT_ANY_LOAD: &str = "it is saturated even at a billionth of these rates";
const TOO_LONG: &str =
    "the load at which it saturates is not known: the search for it takes more than some two seconds";

/// For each of the given classes, saturated in `scenario`, the factor on all rates at which it saturates, or why it has
/// none.
///
/// Less than so many cells are transformed for all of them together.
pub(super) fn load_factors(
    scenario: &Scenario,
    saturated: &[usize],
    work: u64,
) -> Vec<Result<f64, &'static str>> {
    within(work, || saturated.iter().map(|class| load_factor(scenario, *class)).collect()).0
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

/// The factor on all rates at which the first class saturates, to about 1 %; none if one does at any load, if none
/// sends, or if nothing was found in time.
///
/// A message of `M` flits holds its source for `B`, longer than `M` by what others do to it. Taken as if they took a
/// share `k f` of the source's time, in proportion to the factor `f`, a class whose source has the load `ρ = λ B`
/// saturates where
///
/// ```text
/// B = M / (1 - k f),   f λ M = 1 - k f,   so 1 / f = λ M + k = λ M + 1 - M / B = λ M + 1 - λ M / ρ
/// ```
///
/// The nearer it is, the less is left to that assumption. Overload is dear to solve, so the search comes from below;
/// where something overflows earlier, it halves the range.
pub(super) fn first(scenario: &Scenario) -> Option<f64> {
    within(MOST_WORK, || first_found(scenario)).0
}

fn first_found(scenario: &Scenario) -> Option<f64> {
    /// Shares of the expected factor that are tried one after another, and how near is near enough.
    const STEPS: [f64; 3] = [0.9, 0.97, 0.99];
    const MOST_PROBES: usize = 16;
    let (mut low, mut high): (Option<f64>, Option<f64>) = (None, None);
    let (mut factor, mut expected, mut steady) = (1.0, f64::INFINITY, 0);
    for _ in 0..MOST_PROBES {
        match share(scenario, factor) {
            Some(share) if share > 0.0 => {
                (low, expected) = (Some(factor), factor / share);
                steady += 1;
            }
            Some(_) => return None,
            None => high = Some(factor),
        }
        factor = match (low, high) {
            (None, _) => factor / 2.0,
            (Some(low), Some(high)) if high - low <= 0.02 * high => return Some(f64::midpoint(low, high)),
            (Some(low), Some(high)) => {
                let step = STEPS[usize::min(steady, STEPS.len()) - 1] * expected;
                if low < step && step < high { step } else { f64::midpoint(low, high) }
            }
            (Some(low), None) if low >= 0.985 * expected => return Some(expected),
            (Some(low), None) => {
                f64::max(STEPS[usize::min(steady, STEPS.len()) - 1] * expected, f64::midpoint(low, expected))
            }
        };
        if is_spent() {
            break;
        }
    }
    low.map(|low| expected.min(high.map_or(f64::INFINITY, |high| f64::midpoint(low, high))))
}

/// The share of the load of saturation that the class nearest to it has at some factor; 0 if none sends, none if one is
/// saturated.
fn share(scenario: &Scenario, factor: f64) -> Option<f64> {
    let mut spec = scenario.spec().clone();
    spec.classes.iter_mut().for_each(|class| class.rate *= factor);
    let scaled = spec.check().ok()?;
    let problem = Problem::new(&scaled);
    let all: Vec<usize> = (0..problem.classes.len()).collect();
    let found = solve_at(&scaled, &problem, &Resolution::probing(&problem), &all, &[]);
    found.into_iter().zip(&problem.classes).try_fold(0.0, |most, (found, class)| {
        let load = found.ok()?.source_load;
        let own = class.load().min(load);
        Some(f64::max(most, own + 1.0 - own / load))
    })
}

/// The load of the source rises to 1 at saturation: two steady factors tell where about, and a probe half the
/// precision to either side of that place ends the search, unless something else overflows first. Then the range
/// between a steady factor and one that is not is halved.
fn load_factor(scenario: &Scenario, class: usize) -> Result<f64, &'static str> {
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
            Err(_) if is_spent() => return Err(TOO_LONG),
            Err(_) => high = factor,
        }
        factor /= 2.0;
        if factor < LEAST {
            return Err(AT_ANY_LOAD);
        }
    };
    // the source's load at none is none
    let (mut before, mut load_before) = (0.0, 0.0);
    let mut probes = 0;
    while high - low > PRECISION * high {
        probes += 1;
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
            Err(_) if is_spent() => return Err(TOO_LONG),
            Err(_) => high = factor,
        }
    }
    Ok(f64::midpoint(low, high))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Model, Options};
    use flitwise_language::scenario::Preset;

    /// The load of the first class to saturate is that which answers to overload tell class by class.
    #[test]
    fn the_first_class_saturates_where_overload_says() {
        let names = ["router16", "router16-3rt", "router16-on-off", "cube6", "mesh4x4", "fat-mesh"];
        for name in names {
            let scenario = Preset::find(name).unwrap().scenario();
            let found = first(&scenario).unwrap();
            let over = scaled(&scenario, 1.3 * found);
            let options = Options { distributions: false, ..Options::default() };
            let answer = Model::Refined.solve(&over, &options).unwrap();
            let factors = answer.classes.iter().filter_map(|class| class.saturation.as_ref()?.at_load_factor);
            let told = 1.3 * found * factors.fold(f64::INFINITY, f64::min);
            assert!((found / told - 1.0).abs() < 0.025, "{name}: {found}, {told}");
            // from any load it is the same
            for factor in [0.3, 1.2] {
                let from = factor * found;
                let again = from * first(&scaled(&scenario, from)).unwrap();
                assert!((again / found - 1.0).abs() < 0.025, "{name} from {from}: {again}, {found}");
            }
        }
    }

    fn scaled(scenario: &Scenario, factor: f64) -> Scenario {
        let mut spec = scenario.spec().clone();
        spec.classes.iter_mut().for_each(|class| class.rate *= factor);
        spec.check().unwrap()
    }
}
