//! Fixed points `x = G(x)` reached from below, and the root of one increasing function.
//!
//! The maps here only rise over most of their range: started below the lowest fixed point, plain substitution
//! climbs towards it and cannot pass it. Where a map falls in places, substitution may swing; then the step is
//! shortened. No acceleration is used on purpose: one that extrapolates can jump over the lowest fixed point.

use schemars::JsonSchema;
use serde::Serialize;

/// When to stop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Largest relative change of an unknown at which the point counts as fixed.
    pub tolerance: f64,
    /// The most evaluations of the map.
    pub max_iterations: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self { tolerance: 1e-13, max_iterations: 50_000 }
    }
}

/// How an iteration ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// The residual is within the tolerance, or at the noise of rounding.
    Converged,
    /// It is not, and the evaluations are spent.
    OutOfIterations,
    /// The map gave something that is not a finite number.
    NotFinite,
}

/// The account that an iteration gives of itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// How it ended.
    pub status: Status,
    /// Evaluations of the map.
    pub iterations: u32,
    /// Residual at the point returned: the largest relative change of an unknown.
    pub residual: f64,
    /// Residual of every step.
    pub residuals: Vec<f64>,
}

impl Default for Report {
    /// Nothing to iterate: the answer is known.
    fn default() -> Self {
        Self { status: Status::Converged, iterations: 0, residual: 0.0, residuals: Vec::new() }
    }
}

impl Report {
    /// The account of two iterations, one after the other.
    pub fn then(mut self, next: Self) -> Self {
        if self.status == Status::Converged {
            self.status = next.status;
        }
        self.iterations += next.iterations;
        self.residual = self.residual.max(next.residual);
        self.residuals.extend(next.residuals);
        self
    }
}

impl std::fmt::Display for Report {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let word = match self.status {
            Status::Converged => "converged",
            Status::OutOfIterations => "not converged",
            Status::NotFinite => "left the finite numbers",
        };
        write!(f, "{word} after {} iterations, residual {:.1e}", self.iterations, self.residual)
    }
}

/// Points at which a map was evaluated: the first ones and the last ones.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    /// The first points.
    pub first: Vec<Vec<f64>>,
    /// The last points, as far as they are not among the first.
    pub last: std::collections::VecDeque<Vec<f64>>,
    /// How many there were.
    pub points: usize,
}

impl History {
    /// Points kept at the start.
    pub const FIRST: usize = 5;
    /// Points kept at the end.
    pub const LAST: usize = 2;

    /// Takes down the next point.
    pub fn note(&mut self, point: &[f64]) {
        self.points += 1;
        if self.points <= Self::FIRST {
            self.first.push(point.to_vec());
            return;
        }
        if self.last.len() == Self::LAST {
            self.last.pop_front();
        }
        self.last.push_back(point.to_vec());
    }

    /// The points kept, each with its number from 1 on.
    pub fn numbered(&self) -> impl Iterator<Item = (usize, &[f64])> {
        let first = self.first.iter().enumerate().map(|(index, point)| (index + 1, point.as_slice()));
        let before = self.points - self.last.len();
        let last = self.last.iter().enumerate();
        first.chain(last.map(move |(index, point)| (before + index + 1, point.as_slice())))
    }
}

/// How the parts of a model come to their fixed points.
pub(crate) trait Iterate<T> {
    /// Whether the way there is kept.
    fn records(&self) -> bool;

    /// Moves `x` to the fixed point of `map`, where `map` is applied last. Without unknowns there is nothing to do.
    fn reach(&mut self, x: &mut [T], map: impl FnMut(&[T], &mut [T])) -> (Report, Option<History>);
}

/// By substitution, see [`solve`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Substitution {
    pub(crate) options: Options,
    pub(crate) recorded: bool,
}

impl Iterate<f64> for Substitution {
    fn records(&self) -> bool {
        self.recorded
    }

    fn reach(&mut self, x: &mut [f64], mut map: impl FnMut(&[f64], &mut [f64])) -> (Report, Option<History>) {
        if x.is_empty() {
            return (Report::default(), None);
        }
        let mut history = self.recorded.then(History::default);
        let report = solve(x, &self.options, |x, next| {
            if let Some(history) = &mut history {
                history.note(x);
            }
            map(x, next);
        });
        (report, history)
    }
}

/// Residual that rounding may explain where it no longer improves: beyond saturation `1 - P_b` loses digits.
const NOISE: f64 = 1e-8;
/// Steps over which the residual must have halved, or it no longer improves.
const WINDOW: usize = 400;
/// A swing that shrinks to less than this part from step to step is left to itself.
const SHRINKING: f64 = 0.9;
/// Steps on end without a swing after which the step is doubled again.
const CONFIDENCE: u32 = 16;
/// The shortest step, as a part of the whole one.
const SHORTEST: f64 = 1e-6;

/// Moves `x` to the fixed point of `map` that substitution reaches from there.
///
/// `map(x, y)` writes `G(x)` to `y`. On return `x` is the last point evaluated and the report tells its
/// residual.
pub fn solve(x: &mut [f64], options: &Options, mut map: impl FnMut(&[f64], &mut [f64])) -> Report {
    let mut y = vec![0.0; x.len()];
    let mut change = vec![0.0; x.len()];
    let mut residuals: Vec<f64> = Vec::new();
    let (mut step, mut calm) = (1.0, 0);
    let (mut lowest, mut lowest_before) = (f64::INFINITY, f64::INFINITY);
    let ended = |status, residual, residuals: Vec<f64>| Report {
        status,
        iterations: u32::try_from(residuals.len()).unwrap_or(u32::MAX),
        residual,
        residuals,
    };
    loop {
        map(x, &mut y);
        let (mut residual, mut along, mut finite) = (0.0, 0.0, true);
        for ((x, y), change) in x.iter().zip(&y).zip(&mut change) {
            let before = *change;
            *change = (y - x) / x.abs().max(f64::MIN_POSITIVE);
            // f64::max would forget a NaN
            residual = if change.abs() > residual || change.is_nan() { change.abs() } else { residual };
            finite &= change.is_finite();
            along += before * *change;
        }
        if !finite {
            residuals.push(f64::MAX);
            return ended(Status::NotFinite, f64::MAX, residuals);
        }
        let before = residuals.last().copied().unwrap_or(f64::INFINITY);
        residuals.push(residual);
        lowest = residual.min(lowest);
        if residuals.len().is_multiple_of(WINDOW) {
            if lowest > 0.5 * lowest_before && lowest <= NOISE {
                return ended(Status::Converged, residual, residuals);
            }
            (lowest_before, lowest) = (lowest, f64::INFINITY);
        }
        if residual <= options.tolerance {
            return ended(Status::Converged, residual, residuals);
        }
        if residuals.len() >= options.max_iterations as usize {
            return ended(Status::OutOfIterations, residual, residuals);
        }
        // a step too long swings from one side of the point to the other, more and more widely
        if along < 0.0 && residual > SHRINKING * before {
            step = f64::max(step / 2.0, SHORTEST);
            calm = 0;
        } else {
            calm += 1;
        }
        if calm >= CONFIDENCE {
            step = f64::min(step * 2.0, 1.0);
            calm = 0;
        }
        for (x, y) in x.iter_mut().zip(&y) {
            *x += step * (y - *x);
        }
    }
}

/// The root of an increasing function in `low..=high`, by Newton steps that a bracket keeps in place.
///
/// `function(x)` gives value and slope. When the function has one sign over the whole range, its end nearest
/// to the root is returned.
pub fn root_of_increasing(low: f64, high: f64, mut function: impl FnMut(f64) -> (f64, f64)) -> f64 {
    let (mut low, mut high) = (low, high);
    let mut x = high;
    for _ in 0..200 {
        let (value, slope) = function(x);
        if value == 0.0 {
            return x;
        }
        if value > 0.0 {
            high = x
        } else {
            low = x
        }
        let newton = x - value / slope;
        let next = if newton > low && newton < high { newton } else { f64::midpoint(low, high) };
        if (next - x).abs() <= 4.0 * f64::EPSILON * x.abs() {
            return next;
        }
        x = next;
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_of_three_fixed_points_is_found() {
        // x = 0.1 + 3 x^2 - 2 x^3 + ...: three crossings; substitution from 0 stops at the first
        let g = |x: f64| 0.05 + 0.9 * (3.0 * x * x - 2.0 * x * x * x);
        let mut x = [0.0];
        let report = solve(&mut x, &Options::default(), |x, y| y[0] = g(x[0]));
        assert_eq!(report.status, Status::Converged);
        assert!((g(x[0]) - x[0]).abs() < 1e-13 && x[0] < 0.1, "{x:?}");
    }

    #[test]
    fn a_history_keeps_both_ends() {
        let mut history = History::default();
        (1..=10).for_each(|point| history.note(&[f64::from(point)]));
        let kept: Vec<(usize, f64)> = history.numbered().map(|(number, point)| (number, point[0])).collect();
        assert_eq!(kept, [1, 2, 3, 4, 5, 9, 10].map(|number| (number, number as f64)));
    }

    #[test]
    fn a_swinging_map_is_damped() {
        let mut x = [1.2];
        let report = solve(&mut x, &Options::default(), |x, y| y[0] = 3.0 / x[0].powf(1.5));
        assert_eq!(report.status, Status::Converged, "{report}");
        assert!((x[0] - 3f64.powf(0.4)).abs() < 1e-12);
    }

    #[test]
    fn a_map_without_a_fixed_point_is_reported() {
        let options = Options { max_iterations: 500, ..Options::default() };
        let report = solve(&mut [1.0], &options, |x, y| y[0] = x[0] + 1.0);
        assert_eq!((report.status, report.iterations), (Status::OutOfIterations, 500));
        let report = solve(&mut [1.0], &options, |x, y| y[0] = 1.0 / (x[0] - 1.0));
        assert_eq!(report.status, Status::NotFinite);
        // in whichever unknown
        for bad in 0..2 {
            let report = solve(&mut [1.0, 1.0], &options, |x, y| {
                y.copy_from_slice(x);
                y[bad] = f64::NAN;
            });
            assert_eq!(report.status, Status::NotFinite);
        }
    }

    #[test]
    fn a_root_is_found_to_the_last_digits() {
        let root = root_of_increasing(0.0, 10.0, |x| (x * x * x - 2.0, 3.0 * x * x));
        assert!((root - 2f64.cbrt()).abs() < 1e-15);
    }
}
