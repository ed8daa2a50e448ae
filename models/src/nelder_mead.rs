//! The search of Nelder and Mead for the lowest point of a function, without derivatives; the method is `argmin`'s.

use argmin::core::{CostFunction, Error, Executor};
use argmin::solver::neldermead::NelderMead;
use argmin_math::{ArgminAdd, ArgminMul, ArgminSub};

/// The point that the search comes to from a simplex, in at most so many `steps`, or once the costs of its corners
/// have a standard deviation below `tolerance`; `None` if the search cannot begin.
///
/// ```
/// use flitwise_models::nelder_mead::lowest;
///
/// let simplex = [vec![0.0, 0.0], vec![1.0, 0.0], vec![0.0, 1.0]];
/// let bowl = |x: &[f64]| (x[0] - 0.3).powi(2) + (x[1] - 0.6).powi(2);
/// let found = lowest(&simplex, 1e-9, 200, bowl).unwrap();
/// assert!((found[0] - 0.3).abs() < 1e-3 && (found[1] - 0.6).abs() < 1e-3);
/// ```
pub fn lowest(
    simplex: &[Vec<f64>],
    tolerance: f64,
    steps: u64,
    cost: impl Fn(&[f64]) -> f64,
) -> Option<Vec<f64>> {
    let corners = simplex.iter().cloned().map(Place).collect();
    let solver = NelderMead::new(corners).with_sd_tolerance(tolerance).ok()?;
    let executor = Executor::new(Cost(cost), solver).configure(|state| state.max_iters(steps));
    Some(executor.ctrlc(false).run().ok()?.state.best_param?.0)
}

struct Cost<C>(C);

impl<C: Fn(&[f64]) -> f64> CostFunction for Cost<C> {
    type Param = Place;
    type Output = f64;

    fn cost(&self, at: &Place) -> Result<f64, Error> {
        Ok((self.0)(&at.0))
    }
}

/// A point as `argmin` wants it; it knows vectors too, but only together with a source of random numbers.
#[derive(Clone, Debug)]
struct Place(Vec<f64>);

impl Place {
    fn with(&self, other: &Self, of: fn(f64, f64) -> f64) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(mine, other)| of(*mine, *other)).collect())
    }
}

impl ArgminAdd<Self, Self> for Place {
    fn add(&self, other: &Self) -> Self {
        self.with(other, |mine, other| mine + other)
    }
}

impl ArgminSub<Self, Self> for Place {
    fn sub(&self, other: &Self) -> Self {
        self.with(other, |mine, other| mine - other)
    }
}

impl ArgminMul<f64, Self> for Place {
    fn mul(&self, factor: &f64) -> Self {
        Self(self.0.iter().map(|mine| mine * factor).collect())
    }
}
