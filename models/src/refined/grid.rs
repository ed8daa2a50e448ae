//! The transforms in which independent laws are added.
//!
//! A [`Grid`] of `n` cells takes laws to their generating functions at `n` points of a circle a little inside the
//! unit circle, and back. What a sum or a queue has beyond the grid comes back at `10^-6` of its weight
//! ([`DAMPING`]) instead of whole.

mod plan;
mod terms;
mod transform;

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use realfft::RealFftPlanner;
use realfft::num_complex::Complex64;

#[cfg(test)]
use super::law::NOTHING;
use super::law::{Law, zeros};
use plan::{Pairs, Plan};
use terms::{add_differences, add_sums};
pub(super) use transform::{Transform, product};
use transform::{complex_polynomials, real_polynomials};

/// `r^n`: what of a probability `n` cells beyond the grid appears on it.
const DAMPING: f64 = 1e-6;

/// Products of cells up to which laws are added term by term: quicker than three transforms.
const TERM_BY_TERM: usize = 8192;

/// The same for means alone, for each cell of the grid: there two transforms do ([`Pairs`]).
const TERM_BY_TERM_PER_CELL: usize = 14;

/// Transforms of laws up to `n` cells.
pub(super) struct Grid {
    n: usize,
    /// Probability below which laws end.
    nothing: f64,
    plan: Plan,
    pairs: Pairs,
    /// For differences, by length: `2 n`, `n`, `n / 2`, .. down to 64.
    plans: Vec<Plan>,
    /// `r^x`
    damping: Vec<f64>,
    /// `r^-x / n`
    undamping: Vec<f64>,
    /// `(1 + z) / 2 / (1 - z)`: what takes `1 - X(z)` to `E[X] res_X(z)`.
    residuals: Transform,
    /// The points `z` themselves.
    points: Transform,
}

thread_local! {
    /// Cells transformed so far.
    static WORK: Cell<u64> = const { Cell::new(0) };
    /// Cells after which a solve gives up.
    static MOST_WORK: Cell<u64> = const { Cell::new(u64::MAX) };
    /// Grids made so far, by their number of cells and what is nothing: planning takes longer than a solve.
    static GRIDS: RefCell<HashMap<(usize, u64), Rc<Grid>>> = RefCell::default();
}

/// Cells that this thread has transformed so far: a count of the work of a solve, some 20 ns each.
pub(super) fn work() -> u64 {
    WORK.get()
}

/// Lets something transform so many cells, and says whether it gave up because of that.
pub(super) fn within<T>(cells: u64, solve: impl FnOnce() -> T) -> (T, bool) {
    let before = MOST_WORK.replace(work().saturating_add(cells));
    let found = solve();
    let gave_up = is_spent();
    MOST_WORK.set(before);
    (found, gave_up)
}

/// Whether more cells are transformed than a solve may.
pub(super) fn is_spent() -> bool {
    work() > MOST_WORK.get()
}

impl Grid {
    /// The grid of `n` cells, a power of two.
    #[cfg(test)]
    pub(super) fn of(n: usize) -> Rc<Self> {
        Self::down_to(n, NOTHING)
    }

    /// The grid of `n` cells, a power of two, with laws that end below some probability.
    pub(super) fn down_to(n: usize, nothing: f64) -> Rc<Self> {
        let new = || Rc::new(Self::new(n, nothing));
        GRIDS.with_borrow_mut(|grids| Rc::clone(grids.entry((n, nothing.to_bits())).or_insert_with(new)))
    }

    fn new(n: usize, nothing: f64) -> Self {
        let mut planner = RealFftPlanner::<f64>::new();
        let r = DAMPING.powf(1.0 / n as f64);
        let damping: Vec<f64> = (0..n).map(|x| r.powi(x as i32)).collect();
        let undamping = damping.iter().map(|d| 1.0 / (d * n as f64)).collect();
        let angle = -2.0 * std::f64::consts::PI / n as f64;
        let points: Transform = (0..=n / 2).map(|k| Complex64::from_polar(r, angle * k as f64)).collect();
        Self {
            n,
            nothing,
            plan: Plan::new(&mut planner, n),
            pairs: Pairs::new(n),
            plans: (0..)
                .map(|halved| (2 * n) >> halved)
                .take_while(|length| *length >= 64)
                .map(|length| Plan::new(&mut planner, length))
                .collect(),
            damping,
            undamping,
            residuals: points.iter().map(|z| (1.0 + z) / 2.0 / (1.0 - z)).collect(),
            points,
        }
    }

    pub(super) fn cells(&self) -> usize {
        self.n
    }

    /// Probability below which laws end.
    pub(super) fn nothing(&self) -> f64 {
        self.nothing
    }

    /// `ln 1`: of a process that adds nothing.
    pub(super) fn exponent_of_nothing(&self) -> Transform {
        Transform::constant(Complex64::ZERO, self.points.len())
    }

    /// `z` at each point.
    pub(super) fn points(&self) -> &[Complex64] {
        &self.points
    }

    /// `(1 + z) / 2 / (1 - z)` at each point: `E[X] res_X(z)` is `1 - X(z)` times it.
    pub(super) fn residuals(&self) -> &[Complex64] {
        &self.residuals
    }

    /// `E[z^X]`; what lies beyond the grid is put on its last cycle.
    pub(super) fn transform(&self, law: &Law) -> Transform {
        let probabilities = law.probabilities();
        if probabilities.len() == 1 {
            return Transform::constant(Complex64::ONE, self.points.len());
        }
        let within = probabilities.len().min(self.n);
        WORK.set(work() + self.n as u64);
        self.plan.forward(|real| {
            for ((to, p), d) in real.iter_mut().zip(&probabilities[..within]).zip(&self.damping) {
                *to = p * d;
            }
            let beyond: f64 = probabilities[within..].iter().sum();
            real[within - 1] += beyond * self.damping[within - 1];
            within
        })
    }

    /// A law of weights that ends where the laws of this grid do.
    fn ending(&self, weights: Vec<f64>) -> Law {
        Law::down_to(weights, self.nothing)
    }

    /// The law of a transform.
    pub(super) fn law(&self, mut transform: Transform) -> Law {
        WORK.set(work() + self.n as u64);
        let mut weights = self.plan.inverse(&mut transform);
        for (p, u) in weights.iter_mut().zip(&self.undamping) {
            *p *= u;
        }
        self.ending(weights)
    }

    /// `z^cycles`
    pub(super) fn delay(&self, cycles: f64) -> Transform {
        self.transform(&Law::constant(cycles))
    }

    /// `exp(flits exponent(z))`: what a compound Poisson process adds to `flits` flits.
    pub(super) fn compound(&self, exponent: &[Complex64], flits: f64) -> Transform {
        if flits == 0.0 {
            return Transform::constant(Complex64::ONE, exponent.len());
        }
        exponent.iter().map(|e| (e * flits).exp()).collect()
    }

    /// `Σ_(k >= 1) w_k Y(z)^k`: the sum of as many `Y` as the weights say; `w_0` is left out.
    pub(super) fn compounded(&self, weights: &[f64], y: &[Complex64]) -> Transform {
        if self.means() {
            return real_polynomials(weights, y);
        }
        complex_polynomials(weights, y)
    }

    /// Whether a sum or a difference of laws of such lengths is carried out term by term.
    fn term_by_term(&self, x: usize, y: usize) -> bool {
        let most = if self.means() { TERM_BY_TERM_PER_CELL * self.n } else { TERM_BY_TERM };
        x * y <= most
    }

    /// Whether laws end so early that what comes round is nothing beside.
    fn means(&self) -> bool {
        self.nothing >= DAMPING * DAMPING.sqrt()
    }

    /// `(X - Y)+` of independent laws.
    pub(super) fn excess(&self, x: &Law, y: &Law) -> Law {
        let (x, y) = (x.probabilities(), y.probabilities());
        let x = &x[..x.len().min(self.n)];
        // where Y is as long as the longest X nothing is left
        let y = &y[..y.len().min(x.len())];
        let weights = if self.term_by_term(x.len(), y.len()) {
            let mut weights = zeros(x.len());
            add_differences(&mut weights, x, y);
            weights
        } else {
            self.differences(x, y)
        };
        Law::of_positive(weights, self.nothing)
    }

    /// Weights of `X - Y` at `0, 1, ..`, by transforms.
    fn differences(&self, x: &[f64], y: &[f64]) -> Vec<f64> {
        if self.means() {
            return self.damped_differences(x, y);
        }
        // the shortest length on which nothing comes round
        let fits = |plan: &&Plan| plan.length >= x.len() + y.len();
        let plan = self.plans.iter().rev().find(fits).unwrap_or(&self.plans[0]);
        let spectrum = |law: &[f64]| {
            plan.forward(|real| {
                real[..law.len()].copy_from_slice(law);
                law.len()
            })
        };
        let mut product = spectrum(x);
        for (x, y) in product.iter_mut().zip(&spectrum(y)) {
            *x *= y.conj();
        }
        let mut weights = plan.inverse(&mut product);
        let whole = plan.length as f64;
        weights.truncate(x.len());
        weights.iter_mut().for_each(|p| *p = if *p < 1e-13 * whole { 0.0 } else { *p / whole });
        weights
    }

    /// The same on the grid itself, on which what is below zero comes round at [`DAMPING`] of its weight.
    fn damped_differences(&self, x: &[f64], y: &[f64]) -> Vec<f64> {
        let fill = |points: &mut [Complex64]| {
            for ((to, p), d) in points.iter_mut().zip(x).zip(&self.undamping) {
                *to = Complex64::new(p * d, 0.0);
            }
            points[x.len()..].fill(Complex64::ZERO);
            points[0].im = y[0] * self.damping[0];
            for ((to, q), d) in points.iter_mut().rev().zip(&y[1..]).zip(&self.damping[1..]) {
                to.im = q * d;
            }
        };
        self.pairs.product(fill, x.len(), &self.damping)
    }

    /// Weights of a sum on the grid, whatever comes round; `x` is the shorter one.
    fn damped_sums(&self, x: &[f64], y: &[f64]) -> Vec<f64> {
        let fill = |points: &mut [Complex64]| {
            let (both, one) = points.split_at_mut(x.len());
            for (((to, p), q), d) in both.iter_mut().zip(x).zip(y).zip(&self.damping) {
                *to = Complex64::new(p * d, q * d);
            }
            for ((to, q), d) in one.iter_mut().zip(&y[x.len()..]).zip(&self.damping[x.len()..]) {
                *to = Complex64::new(0.0, q * d);
            }
            points[y.len()..].fill(Complex64::ZERO);
        };
        self.pairs.product(fill, x.len() + y.len() - 1, &self.undamping)
    }

    /// The sum of independent times, as weights by cells that need not sum to one.
    pub(super) fn convolved(&self, x: &[f64], y: &[f64]) -> Vec<f64> {
        const NOTHING: f64 = 1e-10;
        let trimmed = |law: &'_ [f64]| law.iter().rposition(|p| *p > NOTHING).map_or(0, |last| last + 1);
        let (x, y) = (&x[..trimmed(x).min(self.n)], &y[..trimmed(y).min(self.n)]);
        let (short, long) = if x.len() < y.len() { (x, y) } else { (y, x) };
        if short.is_empty() {
            return Vec::new();
        }
        if self.term_by_term(short.len(), long.len()) {
            let mut weights = vec![0.0; short.len() + long.len() - 1];
            add_sums(&mut weights, short, long);
            weights.truncate(self.n);
            return weights;
        }
        if self.means() {
            return self.damped_sums(short, long);
        }
        let damped = |law: &[f64]| {
            self.plan.forward(|real| {
                for ((to, p), d) in real.iter_mut().zip(law).zip(&self.damping) {
                    *to = p * d;
                }
                law.len()
            })
        };
        let mut sum = product(&damped(short), &damped(long));
        let mut weights = self.plan.inverse(&mut sum);
        for (p, u) in weights.iter_mut().zip(&self.undamping) {
            *p = (*p * u).max(0.0);
        }
        weights.truncate(short.len() + long.len() - 1);
        weights
    }

    /// `X + Y` of independent laws.
    pub(super) fn sum(&self, x: &Law, y: &Law) -> Law {
        let (short, long) = if x.probabilities().len() < y.probabilities().len() { (x, y) } else { (y, x) };
        let (p, q) = (short.probabilities(), long.probabilities());
        if p.len() == 1 {
            return long.clone();
        }
        if !self.term_by_term(p.len(), q.len()) {
            if self.means() && q.len() <= self.n {
                return self.ending(self.damped_sums(p, q));
            }
            return self.law(product(&self.transform(x), &self.transform(y)));
        }
        let mut weights = zeros(p.len() + q.len() - 1);
        add_sums(&mut weights, p, q);
        weights.truncate(self.n);
        self.ending(weights)
    }
}
