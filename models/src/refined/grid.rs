//! Laws of whole numbers of cycles, and the transforms in which independent ones are added.
//!
//! A [`Law`] holds the probabilities of `0, 1, 2, ..`. A [`Grid`] of `n` cycles takes laws to their generating
//! functions at `n` points of a circle a little inside the unit circle and back. What a sum or a queue has beyond
//! the grid comes back at `10^-6` of its weight ([`DAMPING`]) instead of whole, and is told by [`Grid::lost`].

use std::sync::Arc;

use realfft::num_complex::Complex64;
use realfft::{ComplexToReal, RealFftPlanner, RealToComplex};

/// `r^n`: what of a probability `n` cycles beyond the grid appears on it.
const DAMPING: f64 = 1e-6;
/// Probability below which the end of a law is cut off.
const NOTHING: f64 = 1e-13;

/// Probabilities of `0, 1, 2, ..` cycles; they sum to one.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Law(Vec<f64>);

/// A generating function at the points of a [`Grid`].
pub(super) type Transform = Vec<Complex64>;

impl Law {
    /// Always zero.
    pub(super) fn zero() -> Self {
        Self(vec![1.0])
    }

    /// Always `cycles`; between whole numbers, the one or the other.
    pub(super) fn constant(cycles: f64) -> Self {
        Self::zero().stretched_and_shifted(0.0, cycles)
    }

    /// From weights, which need not sum to one; what is negative is rounding.
    pub(super) fn of(mut weights: Vec<f64>) -> Self {
        let mut sum = 0.0;
        for weight in &mut weights {
            *weight = weight.max(0.0);
            sum += *weight;
        }
        if !(sum.is_finite() && sum > 0.0) {
            return Self::zero();
        }
        let end = weights.iter().rposition(|weight| *weight > NOTHING * sum).unwrap_or(0);
        weights.truncate(end + 1);
        weights.iter_mut().for_each(|weight| *weight /= sum);
        Self(weights)
    }

    /// The exponential law of mean `mean`, cut at `most`, in whole cycles.
    pub(super) fn exponential_cut(mean: f64, most: f64, length: usize) -> Self {
        if mean <= 0.0 || most <= 0.0 {
            return Self::zero();
        }
        // P(X > x) = exp(-x / mean) for x < most; each cycle takes half of what is on either side of it
        let beyond = |x: f64| if x < most { (-x.max(0.0) / mean).exp() } else { 0.0 };
        let length = length.min((most.ceil() as usize).saturating_add(2)).min((40.0 * mean) as usize + 8);
        // the mean of a linear split of [x, x + 1) onto its ends: second differences of the integrated tail
        let integral = |x: f64| mean * (1.0 - (-x.clamp(0.0, most) / mean).exp());
        let tails: Vec<f64> = (0..=length).map(|x| integral(x as f64 + 1.0) - integral(x as f64)).collect();
        let _ = beyond;
        let mut weights = vec![0.0; length + 1];
        weights[0] = 1.0 - tails[0];
        for x in 1..=length {
            weights[x] = tails[x - 1] - tails[x];
        }
        Self::of(weights)
    }

    /// Probabilities of `0, 1, 2, ..`.
    pub(super) fn probabilities(&self) -> &[f64] {
        &self.0
    }

    pub(super) fn at(&self, cycles: usize) -> f64 {
        self.0.get(cycles).copied().unwrap_or(0.0)
    }

    pub(super) fn mean(&self) -> f64 {
        self.0.iter().enumerate().map(|(x, p)| x as f64 * p).sum()
    }

    /// `E[X^2]`
    pub(super) fn second_moment(&self) -> f64 {
        self.0.iter().enumerate().map(|(x, p)| (x * x) as f64 * p).sum()
    }

    /// `P(X > 0)`
    pub(super) fn positive(&self) -> f64 {
        1.0 - self.0[0]
    }

    /// `X` given `X > 0`; zero if it never is.
    pub(super) fn given_positive(&self) -> Self {
        if self.positive() < 1e-12 {
            return Self::zero();
        }
        let mut weights = self.0.clone();
        weights[0] = 0.0;
        Self::of(weights)
    }

    /// The mixture of laws, weighted.
    pub(super) fn mixture(parts: &[(f64, &Self)]) -> Self {
        let length = parts.iter().map(|(_, law)| law.0.len()).max().unwrap_or(1);
        let mut weights = vec![0.0; length];
        for (weight, law) in parts {
            for (sum, p) in weights.iter_mut().zip(&law.0) {
                *sum += weight * p;
            }
        }
        Self::of(weights)
    }

    /// `X` with probability `share`, else zero.
    pub(super) fn sometimes(&self, share: f64) -> Self {
        Self::mixture(&[(1.0 - share, &Self::zero()), (share, self)])
    }

    /// `factor X + shift`, what falls between two cycles split over them; below zero it is zero.
    pub(super) fn stretched_and_shifted(&self, factor: f64, shift: f64) -> Self {
        let most = factor * (self.0.len() - 1) as f64 + shift.max(0.0);
        let mut weights = vec![0.0; (most.ceil() as usize).min(1 << 22) + 2];
        let last = weights.len() - 1;
        for (x, p) in self.0.iter().enumerate() {
            let to = (factor * x as f64 + shift).max(0.0);
            let low = (to.floor() as usize).min(last - 1);
            let part = (to - low as f64).min(1.0);
            weights[low] += p * (1.0 - part);
            weights[low + 1] += p * part;
        }
        Self::of(weights)
    }

    /// `(X - cycles)+`
    pub(super) fn less(&self, cycles: f64) -> Self {
        self.stretched_and_shifted(1.0, -cycles)
    }

    /// `X + cycles`
    pub(super) fn plus(&self, cycles: f64) -> Self {
        self.stretched_and_shifted(1.0, cycles)
    }

    /// `factor X`, a law of mean `factor E[X]`.
    pub(super) fn stretched(&self, factor: f64) -> Self {
        self.stretched_and_shifted(factor, 0.0)
    }

    fn by_distribution_functions(&self, other: &Self, both: impl Fn(f64, f64) -> f64) -> Self {
        let length = self.0.len().max(other.0.len());
        let (mut mine, mut theirs, mut before) = (0.0, 0.0, 0.0);
        let weights = (0..length).map(|x| {
            mine += self.at(x);
            theirs += other.at(x);
            let now = both(f64::min(mine, 1.0), f64::min(theirs, 1.0));
            let weight = now - before;
            before = now;
            weight
        });
        Self::of(weights.collect())
    }

    /// The greater of two independent ones.
    pub(super) fn max(&self, other: &Self) -> Self {
        self.by_distribution_functions(other, |a, b| a * b)
    }

    /// The lesser of two independent ones.
    pub(super) fn min(&self, other: &Self) -> Self {
        self.by_distribution_functions(other, |a, b| 1.0 - (1.0 - a) * (1.0 - b))
    }

    /// The greater of two that rise and fall together.
    pub(super) fn max_in_step(&self, other: &Self) -> Self {
        self.by_distribution_functions(other, f64::min)
    }

    /// `X` as met at a random moment: probability in proportion to `x`.
    pub(super) fn length_biased(&self) -> Self {
        Self::of(self.0.iter().enumerate().map(|(x, p)| x as f64 * p).collect())
    }

    /// `E[exp(-rate X)]`
    pub(super) fn tilted(&self, rate: f64) -> f64 {
        self.0.iter().enumerate().map(|(x, p)| p * (-rate * x as f64).exp()).sum()
    }

    /// The law with weights `exp(-rate x)`.
    pub(super) fn tilted_law(&self, rate: f64) -> Self {
        Self::of(self.0.iter().enumerate().map(|(x, p)| p * (-rate * x as f64).exp()).collect())
    }

    /// What is left of `X` at a random moment within it.
    ///
    /// In slots that is uniform over `0..X` given `X`; half a cycle more puts the moment into the midst of a slot.
    pub(super) fn residual(&self) -> Self {
        let mut beyond = vec![0.0; self.0.len() + 1];
        let mut sum = 0.0;
        for x in (0..self.0.len()).rev() {
            beyond[x] = sum; // P(X > x)
            sum += self.0[x];
        }
        let weights = (0..self.0.len()).map(|x| beyond[x] + if x > 0 { beyond[x - 1] } else { 0.0 });
        Self::of(weights.collect())
    }
}

/// Transforms of laws up to `n` cycles.
pub(super) struct Grid {
    n: usize,
    forward: Arc<dyn RealToComplex<f64>>,
    inverse: Arc<dyn ComplexToReal<f64>>,
    wide_forward: Arc<dyn RealToComplex<f64>>,
    wide_inverse: Arc<dyn ComplexToReal<f64>>,
    /// `r^x`
    damping: Vec<f64>,
    /// `r^-x / n`
    undamping: Vec<f64>,
    /// The points `z` themselves.
    points: Transform,
}

impl Grid {
    /// A grid of `n` cycles, a power of two.
    pub(super) fn new(n: usize) -> Self {
        let mut planner = RealFftPlanner::<f64>::new();
        let r = DAMPING.powf(1.0 / n as f64);
        let damping: Vec<f64> = (0..n).map(|x| r.powi(x as i32)).collect();
        let undamping = damping.iter().map(|d| 1.0 / (d * n as f64)).collect();
        let angle = -2.0 * std::f64::consts::PI / n as f64;
        let points = (0..=n / 2).map(|k| Complex64::from_polar(r, angle * k as f64)).collect();
        Self {
            n,
            forward: planner.plan_fft_forward(n),
            inverse: planner.plan_fft_inverse(n),
            wide_forward: planner.plan_fft_forward(2 * n),
            wide_inverse: planner.plan_fft_inverse(2 * n),
            damping,
            undamping,
            points,
        }
    }

    pub(super) fn cycles(&self) -> usize {
        self.n
    }

    /// `z` at each point.
    pub(super) fn points(&self) -> &[Complex64] {
        &self.points
    }

    /// `E[z^X]`; what lies beyond the grid is put on its last cycle.
    pub(super) fn transform(&self, law: &Law) -> Transform {
        let mut input = vec![0.0; self.n];
        let within = law.0.len().min(self.n);
        input[..within].copy_from_slice(&law.0[..within]);
        if law.0.len() > self.n {
            input[self.n - 1] += law.0[self.n..].iter().sum::<f64>();
        }
        for (p, d) in input.iter_mut().zip(&self.damping) {
            *p *= d;
        }
        let mut spectrum = self.forward.make_output_vec();
        self.forward.process(&mut input, &mut spectrum).expect("buffers are made by the plan");
        spectrum
    }

    /// The law of a transform.
    pub(super) fn law(&self, mut transform: Transform) -> Law {
        transform[0].im = 0.0;
        transform[self.n / 2].im = 0.0;
        let mut weights = self.inverse.make_output_vec();
        self.inverse.process(&mut transform, &mut weights).expect("buffers are made by the plan");
        for (p, u) in weights.iter_mut().zip(&self.undamping) {
            *p *= u;
        }
        Law::of(weights)
    }

    /// `z^cycles`
    pub(super) fn delay(&self, cycles: f64) -> Transform {
        self.transform(&Law::constant(cycles))
    }

    /// `exp(flits exponent(z))`: what a compound Poisson process adds to `flits` flits.
    pub(super) fn compound(&self, exponent: &[Complex64], flits: f64) -> Transform {
        exponent.iter().map(|e| (e * flits).exp()).collect()
    }

    /// `(X - Y)+` of independent laws.
    pub(super) fn excess(&self, x: &Law, y: &Law) -> Law {
        if y.0.len() == 1 {
            return x.clone();
        }
        let spectrum = |law: &Law| {
            let mut input = vec![0.0; 2 * self.n];
            let within = law.0.len().min(self.n);
            input[..within].copy_from_slice(&law.0[..within]);
            let mut spectrum = self.wide_forward.make_output_vec();
            self.wide_forward.process(&mut input, &mut spectrum).expect("buffers are made by the plan");
            spectrum
        };
        let mut product: Transform =
            spectrum(x).iter().zip(&spectrum(y)).map(|(x, y)| x * y.conj()).collect();
        product[0].im = 0.0;
        product[self.n].im = 0.0;
        let mut weights = self.wide_inverse.make_output_vec();
        self.wide_inverse.process(&mut product, &mut weights).expect("buffers are made by the plan");
        let whole: f64 = 2.0 * self.n as f64;
        weights.truncate(self.n);
        weights.iter_mut().for_each(|p| *p = if *p < 1e-13 * whole { 0.0 } else { *p / whole });
        weights[0] = 0.0;
        weights[0] = 1.0 - weights.iter().sum::<f64>();
        Law::of(weights)
    }

    /// `X + Y` of independent laws.
    pub(super) fn sum(&self, x: &Law, y: &Law) -> Law {
        if x.0.len() == 1 {
            return y.clone();
        }
        if y.0.len() == 1 {
            return x.clone();
        }
        self.law(product(&self.transform(x), &self.transform(y)))
    }
}

/// Point by point.
pub(super) fn product(x: &[Complex64], y: &[Complex64]) -> Transform {
    x.iter().zip(y).map(|(x, y)| x * y).collect()
}
