//! Laws of times on a lattice of cells, each of a whole or broken number of cycles.
//!
//! A [`Law`] holds the probabilities of `0, 1, 2, ..` cells. What falls between two cells is split over them so that
//! the mean is kept.

use std::cell::RefCell;

/// Probability below which the end of a law is cut off.
pub(super) const NOTHING: f64 = 1e-12;
/// Cells that no law exceeds.
pub(super) const LONGEST: usize = 1 << 20;

/// Sums are taken side by side: the additions of one wait for each other.
const LANES: usize = 4;

/// How far from one a sum of probabilities may be by rounding.
const ROUNDING: f64 = 1e-14;
/// Cells that every vector has room for.
const SHORT: usize = 256;
/// Vectors kept for other laws.
const SPARE: usize = 64;

thread_local! {
    /// Vectors of laws that are no more: to allocate one takes as long as to add two short laws.
    static SPARES: RefCell<Vec<Vec<f64>>> = const { RefCell::new(Vec::new()) };
}

/// An empty vector for a law.
fn empty() -> Vec<f64> {
    let mut spare = SPARES.with_borrow_mut(Vec::pop).unwrap_or_default();
    spare.clear();
    spare.reserve(SHORT);
    spare
}

/// So many zeros.
pub(super) fn zeros(length: usize) -> Vec<f64> {
    let mut weights = empty();
    weights.resize(length, 0.0);
    weights
}

/// Weights one after another.
pub(super) fn weights(weights: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut all = empty();
    all.extend(weights);
    all
}

/// Makes what is negative zero, and sums what is left.
fn clipped(weights: &mut [f64]) -> f64 {
    let mut chunks = weights.chunks_exact_mut(LANES);
    let mut sums = [0.0; LANES];
    for chunk in &mut chunks {
        for (sum, weight) in sums.iter_mut().zip(chunk) {
            *weight = weight.max(0.0);
            *sum += *weight;
        }
    }
    let mut rest = 0.0;
    for weight in chunks.into_remainder() {
        *weight = weight.max(0.0);
        rest += *weight;
    }
    sums.iter().sum::<f64>() + rest
}

/// Probabilities of `0, 1, 2, ..` cells; they sum to one.
#[derive(Debug, PartialEq)]
pub(super) struct Law(Vec<f64>);

impl Clone for Law {
    fn clone(&self) -> Self {
        let mut weights = empty();
        weights.extend_from_slice(&self.0);
        Self(weights)
    }
}

impl Drop for Law {
    fn drop(&mut self) {
        let weights = std::mem::take(&mut self.0);
        // at the end of a thread there may be none left to keep it
        let _ = SPARES.try_with(|spares| {
            if let Ok(mut spares) = spares.try_borrow_mut()
                && spares.len() < SPARE
            {
                spares.push(weights);
            }
        });
    }
}

/// A share of a law, and the law given that share.
pub(super) type Part = Option<(f64, Law)>;

/// Weights at points that need not be cells.
pub(super) struct Points(Vec<f64>);

impl Points {
    /// Adds a weight; between two cells it is split.
    pub(super) fn add(&mut self, at: f64, weight: f64) {
        let low = (at.max(0.0) as usize).min(LONGEST);
        if self.0.len() < low + 2 {
            self.0.resize(low + 2, 0.0);
        }
        let part = (at - low as f64).clamp(0.0, 1.0);
        self.0[low] += weight * (1.0 - part);
        self.0[low + 1] += weight * part;
    }

    pub(super) fn law(self) -> Law {
        Law::of(self.0)
    }
}

impl Law {
    /// Always zero.
    pub(super) fn zero() -> Self {
        let mut weights = empty();
        weights.push(1.0);
        Self(weights)
    }

    /// Always so many cells; between whole numbers, the one or the other.
    pub(super) fn constant(cells: f64) -> Self {
        Self::zero().stretched_and_shifted(0.0, cells)
    }

    /// From weights, which need not sum to one; what is negative is rounding.
    pub(super) fn of(weights: Vec<f64>) -> Self {
        Self::down_to(weights, NOTHING)
    }

    /// The same, cut off where no probability is above `nothing`; what is beyond goes to the last.
    pub(super) fn down_to(mut weights: Vec<f64>, nothing: f64) -> Self {
        let sum = clipped(&mut weights);
        if !(sum.is_finite() && sum > 0.0) {
            return Self::zero();
        }
        let end = weights.iter().rposition(|weight| *weight > nothing * sum).unwrap_or(0);
        if nothing > NOTHING {
            weights[end] += weights[end + 1..].iter().sum::<f64>();
        }
        weights.truncate(end + 1);
        if (sum - 1.0).abs() > ROUNDING {
            let whole = 1.0 / sum;
            weights.iter_mut().for_each(|weight| *weight *= whole);
        }
        Self(weights)
    }

    /// From probabilities; what is none at the end is cut off.
    fn summing_to_one(mut weights: Vec<f64>) -> Self {
        let end = weights.iter().rposition(|weight| *weight > NOTHING).unwrap_or(0);
        weights.truncate(end + 1);
        Self(weights)
    }

    /// The same from those of `1, 2, ..`; cut off where none is above `nothing`, what is beyond goes to the last.
    pub(super) fn of_positive(mut weights: Vec<f64>, nothing: f64) -> Self {
        weights[0] = 0.0;
        weights[0] = (1.0 - clipped(&mut weights)).max(0.0);
        let end = weights.iter().rposition(|weight| *weight > nothing).unwrap_or(0);
        if nothing > NOTHING {
            weights[end] += weights[end + 1..].iter().sum::<f64>();
        }
        weights.truncate(end + 1);
        Self(weights)
    }

    /// Probabilities of `0, 1, 2, ..`.
    pub(super) fn probabilities(&self) -> &[f64] {
        &self.0
    }

    pub(super) fn at(&self, cycles: usize) -> f64 {
        self.0.get(cycles).copied().unwrap_or(0.0)
    }

    pub(super) fn mean(&self) -> f64 {
        self.moment(|x| x)
    }

    /// `E[X^2]`
    pub(super) fn second_moment(&self) -> f64 {
        self.moment(|x| x * x)
    }

    fn moment(&self, of: impl Fn(f64) -> f64) -> f64 {
        let mut sums = [0.0; LANES];
        let mut at = [0.0, 1.0, 2.0, 3.0];
        let chunks = self.0.chunks_exact(LANES);
        let rest = chunks.remainder();
        for chunk in chunks {
            for i in 0..LANES {
                sums[i] += of(at[i]) * chunk[i];
                at[i] += LANES as f64;
            }
        }
        for (p, at) in rest.iter().zip(at) {
            sums[0] += of(at) * p;
        }
        sums.iter().sum()
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
        let mut weights = weights(self.0.iter().copied());
        weights[0] = 0.0;
        Self::of(weights)
    }

    /// Probability below `edge` and the law there, probability from `edge` on and the law there.
    pub(super) fn split(&self, edge: usize) -> (Part, Part) {
        let part = |weights: Vec<f64>| {
            let share: f64 = weights.iter().sum();
            (share > 1e-12).then(|| (share, Self::of(weights)))
        };
        let edge = edge.min(self.0.len());
        let far = self.0.iter().enumerate().map(|(x, p)| if x < edge { 0.0 } else { *p });
        let near = part(weights(self.0[..edge].iter().copied()));
        (near, if edge < self.0.len() { part(weights(far)) } else { None })
    }

    /// Where `X` is at least an independent `Y`: how often, and the law of `X` then; where it is less: how often, and
    /// the law of `Y`.
    pub(super) fn against(&self, y: &Self) -> (Part, Part) {
        let (x, y) = (&self.0, &y.0);
        let (mut greater, mut less) = (zeros(x.len()), zeros(y.len()));
        let mut to = 0.0;
        let ends = y.iter().copied().chain(std::iter::repeat(0.0));
        for ((greater, p), q) in greater.iter_mut().zip(x).zip(ends) {
            to += q;
            *greater = p * f64::min(to, 1.0);
        }
        let mut below = 0.0;
        let ends = x.iter().copied().chain(std::iter::repeat(0.0));
        for ((less, q), p) in less.iter_mut().zip(y).zip(ends) {
            *less = q * f64::min(below, 1.0);
            below += p;
        }
        let part = |weights: Vec<f64>| {
            let share: f64 = weights.iter().sum();
            (share > 1e-12).then(|| (share, Self::of(weights)))
        };
        (part(greater), part(less))
    }

    /// The lowest share of it, and the rest, each as a law.
    pub(super) fn at_quantile(&self, share: f64) -> (Self, Self) {
        let mut left = share;
        let low = weights(self.0.iter().map(|p| {
            let taken = p.min(left);
            left -= taken;
            taken
        }));
        let high = weights(self.0.iter().zip(&low).map(|(p, low)| p - low));
        (Self::of(low), Self::of(high))
    }

    /// A law to be put together point by point.
    pub(super) fn points() -> Points {
        Points(empty())
    }

    /// The mixture of laws, weighted.
    pub(super) fn mixture(parts: &[(f64, &Self)]) -> Self {
        let length = parts.iter().map(|(_, law)| law.0.len()).max().unwrap_or(1);
        let mut weights = zeros(length);
        for (weight, law) in parts {
            for (sum, p) in weights.iter_mut().zip(&law.0) {
                *sum += weight * p;
            }
        }
        Self::of(weights)
    }

    /// The same of laws that are its own.
    pub(super) fn mix(parts: &[(f64, Self)]) -> Self {
        Self::mixture(&parts.iter().map(|(weight, law)| (*weight, law)).collect::<Vec<_>>())
    }

    /// `X` with probability `share`, else zero.
    pub(super) fn sometimes(&self, share: f64) -> Self {
        Self::mixture(&[(1.0 - share, &Self::zero()), (share, self)])
    }

    /// `factor X + shift`, what falls between two cycles split over them; below zero it is zero.
    pub(super) fn stretched_and_shifted(&self, factor: f64, shift: f64) -> Self {
        let most = factor * (self.0.len() - 1) as f64 + shift.max(0.0);
        let mut weights = zeros((most.ceil() as usize).min(LONGEST) + 2);
        let last = weights.len() - 1;
        for (x, p) in self.0.iter().enumerate() {
            let to = (factor * x as f64 + shift).max(0.0);
            let low = (to as usize).min(last - 1);
            let part = (to - low as f64).min(1.0);
            weights[low] += p * (1.0 - part);
            weights[low + 1] += p * part;
        }
        Self::of(weights)
    }

    /// `(X - cycles)+`
    pub(super) fn less(&self, cycles: f64) -> Self {
        if cycles <= 0.0 {
            return self.plus(-cycles);
        }
        let whole = cycles.ceil().min(LONGEST as f64);
        // X - cycles = X - whole + up
        let up = (whole - cycles).clamp(0.0, 1.0);
        let from = whole as usize;
        if from >= self.0.len() {
            return Self::zero();
        }
        let mut weights = zeros(self.0.len() - from + 1);
        weights[0] = self.0[..from].iter().sum();
        for (x, p) in self.0[from..].iter().enumerate() {
            weights[x] += p * (1.0 - up);
            weights[x + 1] += p * up;
        }
        Self::summing_to_one(weights)
    }

    /// `X + cycles`
    pub(super) fn plus(&self, cycles: f64) -> Self {
        if cycles < 0.0 {
            return self.less(-cycles);
        }
        let whole = cycles.floor().min(LONGEST as f64);
        let (from, up) = (whole as usize, (cycles - whole).clamp(0.0, 1.0));
        let mut weights = zeros(self.0.len() + from + 1);
        for (to, p) in weights[from..].iter_mut().zip(&self.0) {
            *to = p * (1.0 - up);
        }
        if up > 0.0 {
            for (to, p) in weights[from + 1..].iter_mut().zip(&self.0) {
                *to += p * up;
            }
        }
        Self::summing_to_one(weights)
    }

    /// `factor X`, a law of mean `factor E[X]`.
    pub(super) fn stretched(&self, factor: f64) -> Self {
        self.stretched_and_shifted(factor, 0.0)
    }

    fn by_distribution_functions(&self, other: &Self, both: impl Fn(f64, f64) -> f64) -> Self {
        let (x, y) = (&self.0, &other.0);
        let (common, length) = (x.len().min(y.len()), x.len().max(y.len()));
        let (mut below_x, mut below_y, mut before) = (0.0, 0.0, 0.0);
        let mut weights = zeros(length);
        let (first, rest) = weights.split_at_mut(common);
        for ((to, p), q) in first.iter_mut().zip(x).zip(y) {
            below_x += p;
            below_y += q;
            let now = both(f64::min(below_x, 1.0), f64::min(below_y, 1.0));
            (*to, before) = (now - before, now);
        }
        // one of the two ends before
        let longer = if x.len() > common { &x[common..] } else { &y[common..] };
        let (below, ended) =
            if x.len() > common { (&mut below_x, &below_y) } else { (&mut below_y, &below_x) };
        let ended = f64::min(*ended, 1.0);
        for (to, p) in rest.iter_mut().zip(longer) {
            *below += p;
            let now = both(f64::min(*below, 1.0), ended);
            (*to, before) = (now - before, now);
        }
        Self::of(weights)
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

    /// `P(X + Y >= edge)` of independent ones.
    pub(super) fn exceeds_with(&self, y: &Self, edge: usize) -> f64 {
        let last = y.0.len() - 1;
        // P(Y <= edge - x - 1), from the greatest x on
        let mut from = self.0.len().min(edge);
        let mut below: f64 = y.0[..(edge - from).min(last + 1)].iter().sum();
        let mut within = 0.0;
        while from > 0 {
            from -= 1;
            below += y.at(edge - 1 - from);
            within += self.0[from] * below;
        }
        (1.0 - within).max(0.0)
    }

    /// `E[exp(-rate X)]`
    pub(super) fn tilted(&self, rate: f64) -> f64 {
        let decay = (-rate).exp();
        // Horner
        self.0.iter().rev().fold(0.0, |sum, p| sum * decay + p)
    }

    /// The law with weights `exp(-rate x)`.
    pub(super) fn tilted_law(&self, rate: f64) -> Self {
        let decay = (-rate).exp();
        let mut power = 1.0;
        let weight = |p: &f64| {
            let weight = p * power;
            power *= decay;
            weight
        };
        Self::of(weights(self.0.iter().map(weight)))
    }

    /// `P(X~ > x) = E[exp(-rate (X - x - spared)+); X > x]`: as if of those that come at this rate only the first
    /// counted, from `spared` cells before the end on all.
    pub(super) fn met_once(&self, rate: f64, spared: f64) -> Self {
        let n = self.0.len();
        let spared = spared.round() as usize;
        let decay = (-rate).exp();
        // Σ_(y > x) p_y, and with exp(-rate (y - x))
        let (mut beyond, mut once) = (vec![0.0; n + 1], vec![0.0; n + 1]);
        for x in (0..n.saturating_sub(1)).rev() {
            beyond[x] = beyond[x + 1] + self.0[x + 1];
            once[x] = decay * (once[x + 1] + self.0[x + 1]);
        }
        let tail = |x: usize| {
            let later = (x + spared).min(n);
            beyond[x] - beyond[later] + once[later]
        };
        let total = beyond[0] + self.at(0);
        let mut above = total;
        let mut weights = Vec::with_capacity(n);
        for x in 0..n {
            let tail = tail(x);
            weights.push((above - tail).max(0.0));
            above = tail;
        }
        Self::of(weights)
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
        Self::of(self::weights(weights))
    }
}
