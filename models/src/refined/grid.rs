//! The transforms in which independent laws are added.
//!
//! A [`Grid`] of `n` cells takes laws to their generating functions at `n` points of a circle a little inside the
//! unit circle, and back. What a sum or a queue has beyond the grid comes back at `10^-6` of its weight
//! ([`DAMPING`]) instead of whole.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use realfft::num_complex::Complex64;
use realfft::{ComplexToReal, RealFftPlanner, RealToComplex};

use super::law::Law;

/// `r^n`: what of a probability `n` cells beyond the grid appears on it.
const DAMPING: f64 = 1e-6;

/// A generating function at the points of a [`Grid`].
pub(super) type Transform = Vec<Complex64>;

/// Transforms of laws up to `n` cells.
pub(super) struct Grid {
    n: usize,
    plan: Plan,
    /// For differences, by length: `2 n`, `n`, `n / 2`, .. down to 64.
    plans: Vec<Plan>,
    /// `r^x`
    damping: Vec<f64>,
    /// `r^-x / n`
    undamping: Vec<f64>,
    /// The points `z` themselves.
    points: Transform,
}

/// Both ways of one length.
struct Plan {
    length: usize,
    forward: Arc<dyn RealToComplex<f64>>,
    inverse: Arc<dyn ComplexToReal<f64>>,
}

impl Plan {
    fn new(planner: &mut RealFftPlanner<f64>, length: usize) -> Self {
        Self { length, forward: planner.plan_fft_forward(length), inverse: planner.plan_fft_inverse(length) }
    }
}

thread_local! {
    /// Grids made so far, by their number of cells: planning takes longer than a solve.
    static GRIDS: RefCell<HashMap<usize, Rc<Grid>>> = RefCell::default();
}

impl Grid {
    /// The grid of `n` cells, a power of two.
    pub(super) fn of(n: usize) -> Rc<Self> {
        GRIDS.with_borrow_mut(|grids| Rc::clone(grids.entry(n).or_insert_with(|| Rc::new(Self::new(n)))))
    }

    /// A grid of `n` cells, a power of two.
    fn new(n: usize) -> Self {
        let mut planner = RealFftPlanner::<f64>::new();
        let r = DAMPING.powf(1.0 / n as f64);
        let damping: Vec<f64> = (0..n).map(|x| r.powi(x as i32)).collect();
        let undamping = damping.iter().map(|d| 1.0 / (d * n as f64)).collect();
        let angle = -2.0 * std::f64::consts::PI / n as f64;
        let points = (0..=n / 2).map(|k| Complex64::from_polar(r, angle * k as f64)).collect();
        Self {
            n,
            plan: Plan::new(&mut planner, n),
            plans: (0..)
                .map(|halved| (2 * n) >> halved)
                .take_while(|length| *length >= 64)
                .map(|length| Plan::new(&mut planner, length))
                .collect(),
            damping,
            undamping,
            points,
        }
    }

    pub(super) fn cells(&self) -> usize {
        self.n
    }

    /// `ln 1`: of a process that adds nothing.
    pub(super) fn exponent_of_nothing(&self) -> Transform {
        vec![Complex64::new(0.0, 0.0); self.points.len()]
    }

    /// `z` at each point.
    pub(super) fn points(&self) -> &[Complex64] {
        &self.points
    }

    /// `E[z^X]`; what lies beyond the grid is put on its last cycle.
    pub(super) fn transform(&self, law: &Law) -> Transform {
        let mut input = vec![0.0; self.n];
        let within = law.probabilities().len().min(self.n);
        input[..within].copy_from_slice(&law.probabilities()[..within]);
        if law.probabilities().len() > self.n {
            input[self.n - 1] += law.probabilities()[self.n..].iter().sum::<f64>();
        }
        for (p, d) in input.iter_mut().zip(&self.damping) {
            *p *= d;
        }
        let mut spectrum = self.plan.forward.make_output_vec();
        self.plan.forward.process(&mut input, &mut spectrum).expect("buffers are made by the plan");
        spectrum
    }

    /// The law of a transform.
    pub(super) fn law(&self, mut transform: Transform) -> Law {
        transform[0].im = 0.0;
        transform[self.n / 2].im = 0.0;
        let mut weights = self.plan.inverse.make_output_vec();
        self.plan.inverse.process(&mut transform, &mut weights).expect("buffers are made by the plan");
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
        if y.probabilities().len() == 1 {
            return x.clone();
        }
        let within = |law: &Law| law.probabilities().len().min(self.n);
        let (x_cells, y_cells) = (within(x), within(y));
        // the shortest length on which nothing comes round
        let fits = |plan: &&Plan| plan.length >= x_cells + y_cells;
        let plan = self.plans.iter().rev().find(fits).unwrap_or(&self.plans[0]);
        let spectrum = |law: &Law, cells: usize| {
            let mut input = vec![0.0; plan.length];
            input[..cells].copy_from_slice(&law.probabilities()[..cells]);
            let mut spectrum = plan.forward.make_output_vec();
            plan.forward.process(&mut input, &mut spectrum).expect("buffers are made by the plan");
            spectrum
        };
        let mut product = spectrum(x, x_cells);
        for (x, y) in product.iter_mut().zip(&spectrum(y, y_cells)) {
            *x *= y.conj();
        }
        product[0].im = 0.0;
        product[plan.length / 2].im = 0.0;
        let mut weights = plan.inverse.make_output_vec();
        plan.inverse.process(&mut product, &mut weights).expect("buffers are made by the plan");
        let whole = plan.length as f64;
        weights.truncate(x_cells);
        weights.iter_mut().for_each(|p| *p = if *p < 1e-13 * whole { 0.0 } else { *p / whole });
        weights[0] = 0.0;
        weights[0] = (1.0 - weights.iter().sum::<f64>()).max(0.0);
        Law::of(weights)
    }

    /// `X + Y` of independent laws.
    pub(super) fn sum(&self, x: &Law, y: &Law) -> Law {
        if x.probabilities().len() == 1 {
            return y.clone();
        }
        if y.probabilities().len() == 1 {
            return x.clone();
        }
        self.law(product(&self.transform(x), &self.transform(y)))
    }
}

/// Point by point.
pub(super) fn product(x: &[Complex64], y: &[Complex64]) -> Transform {
    x.iter().zip(y).map(|(x, y)| x * y).collect()
}
