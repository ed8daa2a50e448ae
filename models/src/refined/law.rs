//! Laws of times on a lattice of cells, each of a whole or broken number of cycles.
//!
//! A [`Law`] holds the probabilities of `0, 1, 2, ..` cells. What falls between two cells is split over them so that
//! the mean is kept.

/// Probability below which the end of a law is cut off.
pub(super) const NOTHING: f64 = 1e-12;
/// Cells that no law exceeds.
const LONGEST: usize = 1 << 20;

/// Sums are taken side by side: the additions of one wait for each other.
const LANES: usize = 4;

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
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Law(Vec<f64>);

/// A share of a law, and the law given that share.
pub(super) type Part = Option<(f64, Law)>;

/// Weights at points that need not be cells.
pub(super) struct Points(Vec<f64>);

impl Points {
    /// Adds a weight; between two cells it is split.
    pub(super) fn add(&mut self, at: f64, weight: f64) {
        let low = (at.max(0.0).floor() as usize).min(LONGEST);
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
        Self(vec![1.0])
    }

    /// Always so many cells; between whole numbers, the one or the other.
    pub(super) fn constant(cells: f64) -> Self {
        Self::zero().stretched_and_shifted(0.0, cells)
    }

    /// From weights, which need not sum to one; what is negative is rounding.
    pub(super) fn of(mut weights: Vec<f64>) -> Self {
        let sum = clipped(&mut weights);
        if !(sum.is_finite() && sum > 0.0) {
            return Self::zero();
        }
        let end = weights.iter().rposition(|weight| *weight > NOTHING * sum).unwrap_or(0);
        weights.truncate(end + 1);
        let whole = 1.0 / sum;
        weights.iter_mut().for_each(|weight| *weight *= whole);
        Self(weights)
    }

    /// Cut off where no probability is above `nothing`; what is beyond goes to the last.
    pub(super) fn down_to(mut self, nothing: f64) -> Self {
        let end = self.0.iter().rposition(|p| *p > nothing).unwrap_or(0);
        let beyond: f64 = self.0[end + 1..].iter().sum();
        self.0.truncate(end + 1);
        self.0[end] += beyond;
        self
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
        let mut weights = self.0.clone();
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
        let near = part(self.0[..edge].to_vec());
        (near, if edge < self.0.len() { part(far.collect()) } else { None })
    }

    /// Where `X` is at least an independent `Y`: how often, and the law of `X` then; where it is less: how often, and
    /// the law of `Y`.
    pub(super) fn against(&self, y: &Self) -> (Part, Part) {
        let (mut greater, mut less) = (Vec::new(), Vec::new());
        let (mut below, mut to) = (0.0, 0.0);
        for x in 0..self.0.len().max(y.0.len()) {
            to += y.at(x);
            greater.push(self.at(x) * f64::min(to, 1.0));
            less.push(y.at(x) * f64::min(below, 1.0));
            below += self.at(x);
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
        let low: Vec<f64> = self
            .0
            .iter()
            .map(|p| {
                let taken = p.min(left);
                left -= taken;
                taken
            })
            .collect();
        let high = self.0.iter().zip(&low).map(|(p, low)| p - low).collect();
        (Self::of(low), Self::of(high))
    }

    /// A law to be put together point by point.
    pub(super) fn points() -> Points {
        Points(Vec::new())
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
        let mut weights = vec![0.0; (most.ceil() as usize).min(LONGEST) + 2];
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
        let mut weights = vec![0.0; self.0.len() - from + 1];
        weights[0] = self.0[..from].iter().sum();
        for (x, p) in self.0[from..].iter().enumerate() {
            weights[x] += p * (1.0 - up);
            weights[x + 1] += p * up;
        }
        Self::of(weights)
    }

    /// `X + cycles`
    pub(super) fn plus(&self, cycles: f64) -> Self {
        if cycles < 0.0 {
            return self.less(-cycles);
        }
        let whole = cycles.floor().min(LONGEST as f64);
        let (from, up) = (whole as usize, (cycles - whole).clamp(0.0, 1.0));
        let mut weights = vec![0.0; self.0.len() + from + 1];
        for (to, p) in weights[from..].iter_mut().zip(&self.0) {
            *to = p * (1.0 - up);
        }
        if up > 0.0 {
            for (to, p) in weights[from + 1..].iter_mut().zip(&self.0) {
                *to += p * up;
            }
        }
        Self::of(weights)
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
        Self::of(self.0.iter().map(weight).collect())
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
        Self::of(weights.collect())
    }
}
