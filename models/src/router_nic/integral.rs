//! Integrals of smooth functions over an interval, by Simpson's rule with halved steps where they are needed.

/// Intervals to begin with, so that no step of an integrand is overlooked.
const FIRST: u32 = 32;
/// Halvings at most.
const DEEPEST: u32 = 30;

/// `∫ f dx` from `from` to `to`, to about `tolerance` of it, or of 1 if it is smaller.
pub(super) fn integral(f: impl Fn(f64) -> f64, from: f64, to: f64, tolerance: f64) -> f64 {
    let step = (to - from) / f64::from(FIRST);
    let mut sum = 0.0;
    for index in 0..FIRST {
        let start = from + f64::from(index) * step;
        let piece = Piece::new(&f, start, f(start), start + step, f(start + step));
        sum += piece.refined(&f, tolerance / f64::from(FIRST), DEEPEST);
    }
    sum
}

/// An interval with the values at its ends and its middle.
struct Piece {
    ends: [f64; 2],
    values: [f64; 3],
}

impl Piece {
    fn new(f: impl Fn(f64) -> f64, from: f64, first: f64, to: f64, last: f64) -> Self {
        Self { ends: [from, to], values: [first, f(f64::midpoint(from, to)), last] }
    }

    /// Simpson: `(f(a) + 4 f(m) + f(b)) (b - a) / 6`.
    fn area(&self) -> f64 {
        let ([from, to], [first, middle, last]) = (self.ends, self.values);
        (first + 4.0 * middle + last) * (to - from) / 6.0
    }

    fn refined(&self, f: &impl Fn(f64) -> f64, tolerance: f64, halvings: u32) -> f64 {
        let ([from, to], [first, middle, last]) = (self.ends, self.values);
        let at = f64::midpoint(from, to);
        let halves = [Self::new(f, from, first, at, middle), Self::new(f, at, middle, to, last)];
        let both = halves[0].area() + halves[1].area();
        let change = both - self.area();
        if halvings == 0 || change.abs() <= 15.0 * tolerance * both.abs().max(1.0) {
            return both + change / 15.0;
        }
        halves.iter().map(|half| half.refined(f, tolerance / 2.0, halvings - 1)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integrals_have_the_digits_asked_for() {
        assert!((integral(|x| x * x * x, 0.0, 2.0, 1e-10) - 4.0).abs() < 1e-12);
        assert!((integral(|x: f64| (-x).exp(), 0.0, 40.0, 1e-10) - 1.0).abs() < 1e-9);
        // a step at 0.013, of width 0.001
        let step = |x: f64| 1.0 / (1.0 + (-(x - 0.013) / 0.001).exp());
        assert!((integral(step, 0.0, 40.0, 1e-10) - 39.987).abs() < 1e-8);
    }
}
