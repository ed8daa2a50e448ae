//! Gaussian-process regression: a smooth function of a few variables, from values that are known up to noise.
//!
//! The function is `β + s f(x)`. Nothing is assumed of the constant `β`; `f` is a Gaussian process of variance 1 whose
//! correlation falls with the distance `r` as Matérn's of order 5/2, `(1 + √5 r + 5 r² / 3) exp(-√5 r)`, where `r² = Σ
//! ((x_d - y_d) / ℓ_d)²`. Value `i` has noise of variance `v_i`, so that `K = s² R + diag(v)` is the covariance of all
//! values. With `k` the covariances of the value at `x` with them:
//!
//! | | |
//! |---|---|
//! | constant | `β̂ = 1ᵀ K⁻¹ y / 1ᵀ K⁻¹ 1` |
//! | mean at `x` | `β̂ + kᵀ K⁻¹ (y - β̂ 1)` |
//! | variance at `x` | `s² - kᵀ K⁻¹ k + (1 - 1ᵀ K⁻¹ k)² / 1ᵀ K⁻¹ 1` |
//!
//! Santner, Williams and Notz, *The Design and Analysis of Computer Experiments*, 2nd ed., 2018, ch. 3.
//!
//! A handful of values says little about the deviation `s` and the lengths `ℓ_d`. So what is known at a place is a
//! mixture: restricted likelihood times prior density is looked at on a grid of deviations and lengths around its
//! highest point, and each of them counts as much as it is. Where two kernels agree the noise of values is all that is
//! unknown; where they do not, intervals have the long tails of what is not known of `s`.
//!
//! ```
//! use flitwise_validation::anchored::process::{Prior, Process, Value};
//!
//! let values: Vec<Value> = [0.0, 0.4, 1.0].map(|x: f64| Value::new(&[x], x * x, 0.0)).into();
//! let process = Process::learnt(&values, &Prior { deviation: 0.3, ..Prior::default() }).unwrap();
//! assert!((process.at(&[0.4]).mean - 0.16).abs() < 1e-6);
//! let between = process.at(&[0.7]);
//! assert!((between.mean - 0.49).abs() < 2.0 * between.deviation);
//! ```

use std::f64::consts::{FRAC_2_SQRT_PI, SQRT_2};

use flitwise_models::fixed_point::root_of_increasing;
use flitwise_models::nelder_mead;
use nalgebra::{Cholesky, DMatrix, DVector, Dyn};
use statrs::function::erf::erf;

/// A value of the function where it is known.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// Where.
    pub at: Vec<f64>,
    /// What.
    pub value: f64,
    /// Variance of its noise.
    pub noise: f64,
}

impl Value {
    /// A value and the variance of its noise.
    pub fn new(at: &[f64], value: f64, noise: f64) -> Self {
        Self { at: at.to_vec(), value, noise }
    }
}

/// What is believed of deviation and lengths before anything is known: their logarithms are normal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prior {
    /// Median of the deviation `s`.
    pub deviation: f64,
    /// Standard deviation of its logarithm.
    pub deviation_spread: f64,
    /// Median of every length `ℓ_d`.
    pub length: f64,
    /// Standard deviation of its logarithm.
    pub length_spread: f64,
    /// Part of the variance `s²` that is rough: it is not shared with any other place, however near.
    pub rough: f64,
}

impl Default for Prior {
    fn default() -> Self {
        Self { deviation: 1.0, deviation_spread: 1.0, length: 0.45, length_spread: 0.5, rough: 0.01 }
    }
}

/// What is known of the function at a place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    /// The expected value.
    pub mean: f64,
    /// Its standard deviation.
    pub deviation: f64,
    /// Within so much of the mean it lies with a probability of 95 %.
    pub half_width_95: f64,
}

/// A function that was learnt.
#[derive(Clone, Debug)]
pub struct Process {
    /// By how likely each is: the functions with one deviation and lengths, and their shares, which add up to 1. The
    /// first is the likeliest.
    parts: Vec<(f64, Kriging)>,
}

/// The function with given deviation and lengths.
#[derive(Clone, Debug)]
struct Kriging {
    places: Vec<Vec<f64>>,
    kernel: Kernel,
    /// `K`, decomposed.
    covariance: Cholesky<f64, Dyn>,
    /// `β̂`.
    constant: f64,
    /// `K⁻¹ (y - β̂ 1)`.
    weights: DVector<f64>,
    /// `K⁻¹ 1`.
    of_ones: DVector<f64>,
}

/// Covariance of two places.
#[derive(Clone, Debug, PartialEq)]
struct Kernel {
    /// `s²`.
    variance: f64,
    /// `ℓ_d`.
    lengths: Vec<f64>,
    /// As [`Prior::rough`].
    rough: f64,
}

impl Kernel {
    fn between(&self, one: &[f64], other: &[f64]) -> f64 {
        if one == other { self.variance } else { self.smooth(one, other) }
    }

    /// The same of the part that is not rough.
    fn smooth(&self, one: &[f64], other: &[f64]) -> f64 {
        let squares =
            one.iter().zip(other).zip(&self.lengths).map(|((x, y), length)| ((x - y) / length).powi(2));
        let square = 5.0 * squares.sum::<f64>();
        let root = square.sqrt();
        self.variance * (1.0 - self.rough) * (1.0 + root + square / 3.0) * (-root).exp()
    }
}

impl Process {
    /// What values say of the function; `None` without a value.
    pub fn learnt(values: &[Value], prior: &Prior) -> Option<Self> {
        let dimensions = values.first()?.at.len();
        let fit = Fit { values, prior };
        let mut best = vec![0.0; dimensions + 1];
        if values.len() > 1 {
            let corner =
                |axis: usize| (0..=dimensions).map(|one| if one == axis { 0.7 } else { 0.0 }).collect();
            let simplex: Vec<Vec<f64>> =
                std::iter::once(best.clone()).chain((0..=dimensions).map(corner)).collect();
            let steps = STEPS * (dimensions as u64 + 1);
            best = nelder_mead::lowest(&simplex, 1e-7, steps, |place| fit.cost(place)).unwrap_or(best);
        }
        fit.around(&best)
    }

    /// The function with the deviation and the lengths of the prior: as it is before its values say more.
    pub fn presumed(values: &[Value], prior: &Prior) -> Option<Self> {
        let dimensions = values.first()?.at.len();
        let only = Fit { values, prior }.kriging(&vec![0.0; dimensions + 1])?;
        Some(Self { parts: vec![(1.0, only)] })
    }

    /// What is known at a place.
    pub fn at(&self, place: &[f64]) -> Prediction {
        self.mixed(|part| part.at(place))
    }

    /// What is known of how much its smooth part rises from one place to another.
    pub fn rise(&self, from: &[f64], to: &[f64]) -> Prediction {
        self.mixed(|part| part.rise(from, to))
    }

    /// Mean and deviation by each of the parts, put together.
    fn mixed(&self, of: impl Fn(&Kriging) -> (f64, f64)) -> Prediction {
        let found: Vec<(f64, f64, f64)> = self
            .parts
            .iter()
            .map(|(share, part)| {
                let (mean, deviation) = of(part);
                (*share, mean, deviation)
            })
            .collect();
        let mean: f64 = found.iter().map(|(share, mean, _)| share * mean).sum();
        let square =
            |(share, at, deviation): &(f64, f64, f64)| share * ((at - mean).powi(2) + deviation.powi(2));
        let deviation = found.iter().map(square).sum::<f64>().sqrt();
        Prediction { mean, deviation, half_width_95: half_width_95(&found, mean, deviation) }
    }

    /// The likeliest deviation `s`.
    pub fn deviation(&self) -> f64 {
        self.likeliest().kernel.variance.sqrt()
    }

    /// The likeliest lengths `ℓ_d`.
    pub fn lengths(&self) -> &[f64] {
        &self.likeliest().kernel.lengths
    }

    fn likeliest(&self) -> &Kriging {
        &self.parts[0].1
    }
}

/// Half of the interval around the mean in which a mixture of normal distributions (share, mean, deviation) has 95 %.
fn half_width_95(parts: &[(f64, f64, f64)], mean: f64, deviation: f64) -> f64 {
    if deviation <= 0.0 {
        return 0.0;
    }
    // what is beyond 95 % inside, and the density at both ends
    let beyond = |half: f64| -> (f64, f64) {
        let of_part = |(share, at, deviation): &(f64, f64, f64)| {
            let scale = SQRT_2 * deviation.max(1e-9 * half);
            let [upper, lower] = [half, -half].map(|end| (mean + end - at) / scale);
            let density = 0.5 * FRAC_2_SQRT_PI / scale * ((-upper * upper).exp() + (-lower * lower).exp());
            (0.5 * share * (erf(upper) - erf(lower)), share * density)
        };
        let of_parts = parts.iter().map(of_part);
        of_parts.fold((-0.95, 0.0), |(inside, slope), (more, steeper)| (inside + more, slope + steeper))
    };
    // by Chebyshev's inequality it is below 4.5 deviations
    root_of_increasing(0.0, 4.5 * deviation, beyond)
}

impl Kriging {
    fn with(values: &[Value], kernel: Kernel) -> Option<Self> {
        let count = values.len();
        // rounding must not make the matrix indefinite where values have no noise
        let least = 1e-10 * kernel.variance;
        let entry = |i: usize, j: usize| {
            let noise = if i == j { values[i].noise.max(least) } else { 0.0 };
            kernel.between(&values[i].at, &values[j].at) + noise
        };
        let covariance = DMatrix::from_fn(count, count, entry).cholesky()?;
        let of_ones = covariance.solve(&DVector::from_element(count, 1.0));
        let y = DVector::from_iterator(count, values.iter().map(|one| one.value));
        let constant = of_ones.dot(&y) / of_ones.sum();
        let weights = covariance.solve(&y.add_scalar(-constant));
        let places = values.iter().map(|one| one.at.clone()).collect();
        Some(Self { places, kernel, covariance, constant, weights, of_ones })
    }

    /// Mean and deviation at a place.
    fn at(&self, place: &[f64]) -> (f64, f64) {
        let shared = self.places.iter().map(|known| self.kernel.between(known, place));
        let shared = DVector::from_iterator(self.places.len(), shared);
        let solved = self.covariance.solve(&shared);
        let left = 1.0 - solved.sum();
        let variance = self.kernel.variance - shared.dot(&solved) + left * left / self.of_ones.sum();
        (self.constant + shared.dot(&self.weights), variance.max(0.0).sqrt())
    }

    /// Mean and deviation of the rise of its smooth part.
    fn rise(&self, from: &[f64], to: &[f64]) -> (f64, f64) {
        let smooth = |one: &[f64], other: &[f64]| self.kernel.smooth(one, other);
        let shared = self.places.iter().map(|known| smooth(known, to) - smooth(known, from));
        let shared = DVector::from_iterator(self.places.len(), shared);
        let solved = self.covariance.solve(&shared);
        let apart = smooth(from, from) + smooth(to, to) - 2.0 * smooth(from, to);
        let variance = apart - shared.dot(&solved) + solved.sum().powi(2) / self.of_ones.sum();
        (shared.dot(&self.weights), variance.max(0.0).sqrt())
    }

    /// Logarithm of the restricted likelihood, but for a constant.
    fn log_likelihood(&self, values: &[Value]) -> f64 {
        let logarithms = self.covariance.l_dirty().diagonal().iter().map(|one| one.ln()).sum::<f64>();
        let residuals = values.iter().zip(self.weights.iter());
        let square: f64 = residuals.map(|(one, weight)| (one.value - self.constant) * weight).sum();
        -logarithms - 0.5 * self.of_ones.sum().ln() - 0.5 * square
    }
}

/// Steps of the search, for each of its variables.
const STEPS: u64 = 80;
/// Logarithms are not searched farther from the prior's than so many of its deviations.
const FARTHEST: f64 = 4.0;
/// Deviations and lengths around the likeliest ones, in deviations of the prior.
const DEVIATIONS: [f64; 7] = [0.0, -1.8, -1.2, -0.6, 0.6, 1.2, 1.8];
const LENGTHS: [f64; 3] = [0.0, -1.0, 1.0];
/// What is less likely than such a share of the likeliest does not count.
const UNLIKELY: f64 = 2e-3;

/// In search of deviation and lengths.
struct Fit<'v> {
    values: &'v [Value],
    prior: &'v Prior,
}

impl Fit<'_> {
    /// By logarithms of deviation and lengths over those of the prior, in its deviations.
    fn kriging(&self, place: &[f64]) -> Option<Kriging> {
        let Prior { deviation, deviation_spread, length, length_spread, rough } = *self.prior;
        let (of_deviation, of_lengths) = place.split_first()?;
        let deviation = deviation * (deviation_spread * of_deviation).exp();
        let lengths = of_lengths.iter().map(|one| length * (length_spread * one).exp()).collect();
        Kriging::with(self.values, Kernel { variance: deviation * deviation, lengths, rough })
    }

    /// What the search makes least: the density of the prior and the likelihood, on a logarithmic scale.
    fn cost(&self, place: &[f64]) -> f64 {
        let is_near = place.iter().all(|one| one.abs() <= FARTHEST);
        let kriging = if is_near { self.kriging(place) } else { None };
        kriging.and_then(|found| self.cost_of(place, &found)).unwrap_or(f64::MAX)
    }

    fn cost_of(&self, place: &[f64], kriging: &Kriging) -> Option<f64> {
        let squares: f64 = place.iter().map(|one| one * one).sum();
        let cost = 0.5 * squares - kriging.log_likelihood(self.values);
        cost.is_finite().then_some(cost)
    }

    /// The function by deviations and lengths around the likeliest ones.
    fn around(&self, likeliest: &[f64]) -> Option<Process> {
        let grid = LENGTHS.iter().flat_map(|length| DEVIATIONS.map(|deviation| (deviation, *length)));
        let moved = |(deviation, length): (f64, f64)| {
            let mut place: Vec<f64> = likeliest.iter().map(|one| one + length).collect();
            place[0] = likeliest[0] + deviation;
            let kriging = self.kriging(&place)?;
            Some((self.cost_of(&place, &kriging)?, kriging))
        };
        let mut found: Vec<(f64, Kriging)> = grid.filter_map(moved).collect();
        let least = found.iter().map(|(cost, _)| *cost).min_by(f64::total_cmp)?;
        found.iter_mut().for_each(|(cost, _)| *cost = (least - *cost).exp());
        found.retain(|(share, _)| *share >= UNLIKELY);
        let kept: f64 = found.iter().map(|(share, _)| share).sum();
        found.iter_mut().for_each(|(share, _)| *share /= kept);
        found.sort_by(|one, other| other.0.total_cmp(&one.0));
        Some(Process { parts: found })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRIOR: Prior =
        Prior { deviation: 0.02, deviation_spread: 1.0, length: 0.7, length_spread: 0.5, rough: 0.0 };

    fn values(of: impl Fn(f64) -> f64, places: &[f64], noise: f64) -> Vec<Value> {
        places.iter().map(|x| Value::new(&[*x], of(*x), noise)).collect()
    }

    #[test]
    fn one_value_without_noise_is_the_value_everywhere() {
        let process = Process::learnt(&values(|_| 0.037, &[0.3], 0.0), &PRIOR).unwrap();
        for x in [0.0, 0.3, 0.5, 1.0, 7.0] {
            assert!((process.at(&[x]).mean - 0.037).abs() < 1e-12);
        }
        // known where it was seen, less so elsewhere, and never better than two values of the prior
        assert!(process.at(&[0.3]).deviation < 1e-6);
        assert!(process.at(&[0.4]).deviation < process.at(&[0.9]).deviation);
        let one = Process::presumed(&values(|_| 0.037, &[0.3], 0.0), &PRIOR).unwrap();
        assert!(one.at(&[50.0]).deviation <= 2.0_f64.sqrt() * one.deviation() * (1.0 + 1e-9));
    }

    #[test]
    fn values_without_noise_are_reproduced_and_noisy_ones_are_smoothed() {
        let wave = |x: f64| 0.03 * (5.0 * x).sin();
        let places = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0];
        let exact = Process::learnt(&values(wave, &places, 0.0), &PRIOR).unwrap();
        for x in places {
            let found = exact.at(&[x]);
            assert!((found.mean - wave(x)).abs() < 1e-6 && found.deviation < 1e-5, "{found:?}");
        }
        for step in 0..=50 {
            let x = f64::from(step) / 50.0;
            assert!((exact.at(&[x]).mean - wave(x)).abs() < 1.5e-3, "{x}");
        }
        // one value out of line, with much noise: it is not believed
        let mut noisy = values(|_| 0.0, &places, 1e-8);
        noisy[2] = Value::new(&[0.4], 0.05, 0.05 * 0.05);
        let found = Process::learnt(&noisy, &PRIOR).unwrap().at(&[0.4]);
        assert!(found.mean.abs() < 0.01, "{found:?}");
    }

    /// With one value the deviation is that of the prior, whose logarithm has a standard deviation of 1: the interval
    /// is that of a mixture, wider than 1.96 deviations of its median. What is noise alone is not widened.
    #[test]
    fn intervals_are_those_of_a_mixture() {
        let wide = Prior { deviation: 1e-6, ..PRIOR };
        let noisy = Process::learnt(&[Value::new(&[0.0], 0.0, 1e-4), Value::new(&[0.1], 0.0, 1e-4)], &wide);
        let found = noisy.unwrap().at(&[0.05]);
        assert!((found.half_width_95 / (1.96 * 0.01 / 2.0_f64.sqrt()) - 1.0).abs() < 1e-3, "{found:?}");
        let exact = Process::learnt(&values(|_| 0.0, &[0.0], 0.0), &PRIOR).unwrap().at(&[50.0]);
        // far away: s √2, s log-normal; the sum over the grid of deviations is coarse
        let median = 1.96 * 2.0_f64.sqrt() * PRIOR.deviation;
        assert!((1.3..3.5).contains(&(exact.half_width_95 / median)), "{}", exact.half_width_95 / median);
        // of one normal distribution, of none
        assert!((half_width_95(&[(1.0, 0.3, 2.0)], 0.3, 2.0) - 1.96 * 2.0).abs() < 1e-3);
        assert_eq!(half_width_95(&[(1.0, 0.3, 0.0)], 0.3, 0.0), 0.0);
    }

    /// For given deviation and lengths a further value never makes any place less certain.
    #[test]
    fn a_further_value_never_widens_an_interval() {
        let wave = |x: f64| 0.03 * (5.0 * x).sin();
        let places = [1.0, 0.0, 0.5, 0.25, 0.75, 0.6, 0.1];
        for count in 1..places.len() {
            let fewer = Process::presumed(&values(wave, &places[..count], 1e-6), &PRIOR).unwrap();
            let more = Process::presumed(&values(wave, &places[..=count], 1e-6), &PRIOR).unwrap();
            for step in 0..=60 {
                let x = f64::from(step) / 50.0;
                assert!(more.at(&[x]).deviation <= fewer.at(&[x]).deviation + 1e-12, "{count} values, {x}");
            }
        }
    }

    #[test]
    fn deviation_and_lengths_are_learnt() {
        let places: Vec<f64> = (0..12).map(|step| f64::from(step) / 11.0).collect();
        let large = Process::learnt(&values(|x| (4.0 * x).sin(), &places, 0.0), &PRIOR).unwrap();
        let small = Process::learnt(&values(|x| 1e-3 * (4.0 * x).sin(), &places, 0.0), &PRIOR).unwrap();
        assert!(large.deviation() > 10.0 * PRIOR.deviation && small.deviation() < PRIOR.deviation);
        // of two variables the one that nothing depends on gets the longer length
        let grid = (0..5).flat_map(|i| (0..5).map(move |j| [f64::from(i) / 4.0, f64::from(j) / 4.0]));
        let of_first: Vec<Value> =
            grid.map(|at| Value::new(&at, 0.03 * (6.0 * at[0]).sin(), 1e-10)).collect();
        let process = Process::learnt(&of_first, &PRIOR).unwrap();
        assert!(process.lengths()[1] > 2.0 * process.lengths()[0], "{:?}", process.lengths());
    }

    /// Over a long way the rise is as uncertain as both ends, over a short one less; without noise it is that of the
    /// values.
    #[test]
    fn a_rise_is_that_between_its_ends() {
        let wave = |x: f64| 0.03 * (5.0 * x).sin();
        let process = Process::presumed(&values(wave, &[0.0, 0.5, 1.0], 1e-8), &PRIOR).unwrap();
        let known = process.rise(&[0.0], &[0.5]);
        assert!((known.mean - wave(0.5)).abs() < 1e-3 && known.deviation < 2e-4, "{known:?}");
        for (from, to) in [(0.2, 0.3), (0.7, 1.3), (0.45, 0.55)] {
            let [one, other] = [from, to].map(|x: f64| process.at(&[x]));
            let rise = process.rise(&[from], &[to]);
            assert!((rise.mean - (other.mean - one.mean)).abs() < 1e-12);
            assert!(rise.deviation <= one.deviation + other.deviation, "{rise:?}");
        }
        let [near, far] = [0.52, 0.75].map(|to: f64| process.rise(&[0.5], &[to]).deviation);
        assert!(near < far, "{near} {far}");
    }

    /// Functions drawn from the prior lie within two deviations about as often as they should.
    #[test]
    fn intervals_are_those_of_the_process() {
        use rand_xoshiro::Xoshiro256PlusPlus;
        use rand_xoshiro::rand_core::{Rng, SeedableRng};

        let mut random = Xoshiro256PlusPlus::seed_from_u64(11);
        let mut uniform = move || (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        let mut normal =
            move || (-2.0 * (1.0 - uniform()).ln()).sqrt() * (std::f64::consts::TAU * uniform()).cos();
        let places: Vec<f64> = (0..11).map(|step| f64::from(step) / 10.0).collect();
        let kernel = Kernel { variance: 4e-4, lengths: vec![0.7], rough: 0.0 };
        let entry = |i: usize, j: usize| {
            kernel.between(&[places[i]], &[places[j]]) + if i == j { 1e-14 } else { 0.0 }
        };
        let root = DMatrix::from_fn(11, 11, entry).cholesky().unwrap().unpack();
        let (mut inside, mut all) = (0.0, 0.0);
        for _ in 0..400 {
            let drawn = &root * DVector::from_fn(11, |_, _| normal());
            let known = [0, 5, 10].map(|at| Value::new(&[places[at]], drawn[at], 0.0));
            let process = Process::presumed(&known, &PRIOR).unwrap();
            for at in [1, 3, 7, 9] {
                let found = process.at(&[places[at]]);
                inside += f64::from(u8::from((found.mean - drawn[at]).abs() <= 1.96 * found.deviation));
                all += 1.0;
            }
        }
        let share = inside / all;
        assert!((0.93..=0.97).contains(&share), "{share}"); // 95 %, 1,600 places in 400 functions: ± 1.5 %
    }

    #[test]
    fn without_values_there_is_nothing() {
        assert!(Process::learnt(&[], &PRIOR).is_none() && Process::presumed(&[], &PRIOR).is_none());
    }
}
