//! Numbers that carry their derivatives along: forward-mode differentiation.
//!
//! Of a number `v + Σ_i s_i ε_i` with `ε_i ε_j = 0` the slope `s_i` is the derivative in direction `i`. Where a
//! maximum or minimum has equal sides each direction takes the side that it leads to, so that a slope is always
//! that of a step forwards; the slope of a step backwards is got by asking for the opposite direction.

use std::iter::Sum;
use std::ops::{Add, Div, Mul, Neg, Sub};

use crate::fixed_point::root_of_increasing;

/// Directions that are followed at once.
pub(super) const DIRECTIONS: usize = 8;

/// A number with its slopes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Dual {
    pub(super) value: f64,
    pub(super) slopes: [f64; DIRECTIONS],
}

impl Dual {
    /// A number that no direction changes.
    pub(super) const fn constant(value: f64) -> Self {
        Self { value, slopes: [0.0; DIRECTIONS] }
    }

    /// `f(x)` from `f` and `f'` at its value.
    fn chain(self, value: f64, derivative: f64) -> Self {
        Self { value, slopes: self.slopes.map(|slope| derivative * slope) }
    }

    /// `f(x, y)` from `f` and its two derivatives.
    fn of_both(value: f64, by: (f64, f64), (x, y): (Self, Self)) -> Self {
        x.with(y, value, |x, y| by.0 * x + by.1 * y)
    }

    fn with(self, other: Self, value: f64, slope: impl Fn(f64, f64) -> f64) -> Self {
        Self { value, slopes: std::array::from_fn(|i| slope(self.slopes[i], other.slopes[i])) }
    }

    /// `self^exponent` for a base that is not negative; 0 to a positive power is flat.
    pub(super) fn powf(self, exponent: Self) -> Self {
        let value = self.value.powf(exponent.value);
        if self.value == 0.0 {
            return Self::constant(value);
        }
        // d a^e = e a^(e-1) da + a^e ln a de
        let by_base = exponent.value * value / self.value;
        let by_exponent = value * self.value.ln();
        self.with(exponent, value, |base, exponent| by_base * base + by_exponent * exponent)
    }

    /// The larger one; at equal values, in each direction the one that grows faster.
    pub(super) fn max(self, other: Self) -> Self {
        if self.value == other.value {
            self.with(other, self.value, f64::max)
        } else if self.value > other.value {
            self
        } else {
            other
        }
    }

    /// The smaller one; at equal values, in each direction the one that grows more slowly.
    pub(super) fn min(self, other: Self) -> Self {
        -(-self).max(-other)
    }

    pub(super) fn is_finite(&self) -> bool {
        self.value.is_finite() && self.slopes.iter().all(|slope| slope.is_finite())
    }
}

/// The root of an increasing function that gives its value and its slope by the unknown.
///
/// By the implicit function theorem `dx = -g_p dp / g_x`, for which one more evaluation at the root is enough.
pub(super) fn root(low: f64, high: f64, function: impl Fn(Dual) -> (Dual, Dual)) -> Dual {
    let x = root_of_increasing(low, high, |x| {
        let (value, slope) = function(Dual::constant(x));
        (value.value, slope.value)
    });
    let (value, slope) = function(Dual::constant(x));
    Dual { value: x, slopes: value.slopes.map(|by_parameter| -by_parameter / slope.value) }
}

impl From<f64> for Dual {
    fn from(value: f64) -> Self {
        Self::constant(value)
    }
}

impl Neg for Dual {
    type Output = Self;

    fn neg(self) -> Self {
        self.chain(-self.value, -1.0)
    }
}

impl Add for Dual {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        self.with(other, self.value + other.value, |a, b| a + b)
    }
}

impl Sub for Dual {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self.with(other, self.value - other.value, |a, b| a - b)
    }
}

impl Mul for Dual {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        // d (a b) = b da + a db
        let by = (other.value, self.value);
        Self::of_both(self.value * other.value, by, (self, other))
    }
}

impl Div for Dual {
    type Output = Self;

    fn div(self, other: Self) -> Self {
        // d (a / b) = da / b - (a / b) db / b
        let quotient = self.value / other.value;
        let by = (other.value.recip(), -quotient / other.value);
        Self::of_both(quotient, by, (self, other))
    }
}

impl Add<f64> for Dual {
    type Output = Self;

    fn add(self, other: f64) -> Self {
        self.chain(self.value + other, 1.0)
    }
}

impl Sub<f64> for Dual {
    type Output = Self;

    fn sub(self, other: f64) -> Self {
        self.chain(self.value - other, 1.0)
    }
}

impl Mul<f64> for Dual {
    type Output = Self;

    fn mul(self, other: f64) -> Self {
        self.chain(self.value * other, other)
    }
}

impl Div<f64> for Dual {
    type Output = Self;

    fn div(self, other: f64) -> Self {
        self.chain(self.value / other, 1.0 / other)
    }
}

impl Add<Dual> for f64 {
    type Output = Dual;

    fn add(self, other: Dual) -> Dual {
        other + self
    }
}

impl Sub<Dual> for f64 {
    type Output = Dual;

    fn sub(self, other: Dual) -> Dual {
        other.chain(self - other.value, -1.0)
    }
}

impl Mul<Dual> for f64 {
    type Output = Dual;

    fn mul(self, other: Dual) -> Dual {
        other * self
    }
}

impl Div<Dual> for f64 {
    type Output = Dual;

    fn div(self, other: Dual) -> Dual {
        Dual::constant(self) / other
    }
}

impl Sum for Dual {
    fn sum<I: Iterator<Item = Self>>(numbers: I) -> Self {
        numbers.fold(Self::constant(0.0), |sum, number| sum + number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variable(value: f64) -> Dual {
        let mut x = Dual::constant(value);
        x.slopes[0] = 1.0;
        x.slopes[1] = -1.0;
        x
    }

    #[test]
    fn slopes_are_those_of_the_textbook() {
        let x = variable(0.7);
        let close = |found: Dual, slope: f64| {
            assert!((found.slopes[0] - slope).abs() < 1e-14, "{found:?}, expected {slope}");
            assert_eq!(found.slopes[1], -found.slopes[0]);
        };
        close(x * x * x, 3.0 * 0.7 * 0.7);
        close(2.0 / x, -2.0 / 0.49);
        close(x / (1.0 - x), 1.0 / 0.09);
        close(x.powf(Dual::constant(2.5)), 2.5 * 0.7_f64.powf(1.5));
        close(x.powf(x), 0.7_f64.powf(0.7) * (0.7_f64.ln() + 1.0));
        close(x * 3.0 - 1.0 + 2.0 * x, 5.0);
    }

    #[test]
    fn a_maximum_of_equals_takes_the_side_that_it_is_led_to() {
        let (x, one) = (variable(1.0), Dual::constant(1.0));
        assert_eq!((x.max(one).slopes[0], x.max(one).slopes[1]), (1.0, 0.0));
        assert_eq!((x.min(one).slopes[0], x.min(one).slopes[1]), (0.0, -1.0));
        assert_eq!(variable(0.9).max(one), one);
    }

    /// `x^3 = p` at `p = 2`: `dx/dp = 1 / (3 x²)`.
    #[test]
    fn a_root_moves_by_the_implicit_function_theorem() {
        let p = variable(2.0);
        let x = root(0.0, 10.0, |x| (x * x * x - p, 3.0 * x * x));
        assert!((x.slopes[0] - 1.0 / (3.0 * 2f64.powf(2.0 / 3.0))).abs() < 1e-15);
    }
}
