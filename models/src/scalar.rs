//! Numbers that equations are written for: plain ones, and ones that carry their slopes along.
//!
//! A [`Dual`] is `v + Σ_i s_i ε_i` with `ε_i ε_j = 0`: `s_i` is the derivative in direction `i`. Where a maximum or a
//! minimum has equal sides, each direction takes the side that it leads to. So a slope is that of a step forwards;
//! that of a step backwards is the slope in the opposite direction.

use nalgebra::{Const, SVector, U1};
use num_dual::{Derivative, DualNum, DualSVec64};

use crate::fixed_point::root_of_increasing;
use crate::markov_chain::{StationarySolver, ToggleRates};

/// Directions that are followed at once.
pub const DIRECTIONS: usize = 8;

/// A number with its slopes in [`DIRECTIONS`] directions.
pub type Dual = DualSVec64<DIRECTIONS>;

/// The slopes of a number.
pub type Slopes = SVector<f64, DIRECTIONS>;

/// A number that an equation takes: `f64`, or [`Dual`] where derivatives are wanted.
pub trait Scalar: DualNum<Primitive = f64> + Copy {
    /// The larger one.
    fn max(self, other: Self) -> Self;

    /// The smaller one.
    fn min(self, other: Self) -> Self {
        -(-self).max(-other)
    }

    /// `self^exponent` for a base that is not negative; 0 to a positive power is flat.
    fn power(self, exponent: Self) -> Self;

    /// The root in `low..=high` of an increasing function that gives its value and its slope by the unknown.
    fn root(low: f64, high: f64, function: impl Fn(Self) -> (Self, Self)) -> Self;

    /// Brings `stationary` nearer to the stationary probabilities of the chain, by at most so many rounds where the
    /// method goes in rounds; whether it is there.
    fn improve(
        solver: &mut StationarySolver,
        rates: &ToggleRates<Self>,
        stationary: &mut [Self],
        rounds: u32,
    ) -> bool;
}

impl Scalar for f64 {
    fn max(self, other: Self) -> Self {
        Self::max(self, other)
    }

    fn min(self, other: Self) -> Self {
        Self::min(self, other)
    }

    fn power(self, exponent: Self) -> Self {
        // a buffer no longer than a message: several times cheaper
        if exponent == 3.0 { self * self * self } else { self.powf(exponent) }
    }

    fn root(low: f64, high: f64, function: impl Fn(Self) -> (Self, Self)) -> Self {
        root_of_increasing(low, high, function)
    }

    fn improve(
        solver: &mut StationarySolver,
        rates: &ToggleRates<Self>,
        stationary: &mut [Self],
        rounds: u32,
    ) -> bool {
        solver.improve(rates, stationary, rounds)
    }
}

/// The number with these slopes.
pub fn with_slopes(value: f64, slopes: Slopes) -> Dual {
    Dual::new(value, Derivative::some(slopes))
}

/// The slopes of a number.
pub fn slopes(number: &Dual) -> Slopes {
    number.eps.unwrap_generic(Const, U1)
}

impl Scalar for Dual {
    fn max(self, other: Self) -> Self {
        match (self.re, other.re) {
            (one, two) if one == two => with_slopes(one, slopes(&self).sup(&slopes(&other))),
            (one, two) if one > two => self,
            _ => other,
        }
    }

    fn power(self, exponent: Self) -> Self {
        if self.re == 0.0 { Self::from_re(self.re.powf(exponent.re)) } else { self.powd(exponent) }
    }

    /// By the implicit function theorem `dx = -g_p dp / g_x`: one more evaluation at the root is enough.
    fn root(low: f64, high: f64, function: impl Fn(Self) -> (Self, Self)) -> Self {
        let x = root_of_increasing(low, high, |x| {
            let (value, slope) = function(Self::from_re(x));
            (value.re, slope.re)
        });
        let (value, slope) = function(Self::from_re(x));
        Self::new(x, value.eps * (-slope.re.recip()))
    }

    fn improve(
        solver: &mut StationarySolver,
        rates: &ToggleRates<Self>,
        stationary: &mut [Self],
        _rounds: u32,
    ) -> bool {
        solver.solve_with_slopes(rates, stationary);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One step forwards and one backwards.
    pub(crate) fn variable(value: f64) -> Dual {
        let mut steps = Slopes::zeros();
        (steps[0], steps[1]) = (1.0, -1.0);
        with_slopes(value, steps)
    }

    #[test]
    fn a_power_has_the_slope_of_the_textbook() {
        let x = variable(0.7);
        let close = |found: Dual, slope: f64| assert!((slopes(&found)[0] - slope).abs() < 1e-14, "{found}");
        close(Scalar::power(x, Dual::from_re(2.5)), 2.5 * 0.7_f64.powf(1.5));
        close(Scalar::power(x, x), 0.7_f64.powf(0.7) * (0.7_f64.ln() + 1.0));
        assert_eq!(Scalar::power(variable(0.0), Dual::from_re(3.0)), Dual::from_re(0.0));
    }

    #[test]
    fn a_maximum_of_equals_takes_the_side_that_it_is_led_to() {
        let (x, one) = (variable(1.0), Dual::from_re(1.0));
        let sides = |number: Dual| (slopes(&number)[0], slopes(&number)[1]);
        assert_eq!(sides(Scalar::max(x, one)), (1.0, 0.0));
        assert_eq!(sides(Scalar::min(x, one)), (0.0, -1.0));
        assert_eq!(sides(Scalar::max(variable(0.9), one)), (0.0, 0.0));
    }

    /// `x^3 = p` at `p = 2`: `dx/dp = 1 / (3 x²)`.
    #[test]
    fn a_root_moves_by_the_implicit_function_theorem() {
        let p = variable(2.0);
        let x = Dual::root(0.0, 10.0, |x| (x * x * x - p, x * x * 3.0));
        assert!((slopes(&x)[0] - 1.0 / (3.0 * 2f64.powf(2.0 / 3.0))).abs() < 1e-15);
    }
}
