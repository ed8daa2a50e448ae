#![doc = include_str!("chernoff.md")]
//!
//! ```
//! use flitwise_models::queueing::{Chernoff, Jump};
//!
//! // 10 packets on average, and 20 or more
//! let jump = Jump { rate: 0.02, energy: 1.0 };
//! let sum = Chernoff { window: 500.0, threshold: 20.0, jumps: vec![jump] };
//! assert_eq!(format!("{:.4}", sum.bound()), "0.0210"); // 0.0035 by Poisson's law
//! ```

use super::parameter::shared::{ENERGY, WINDOW};
use super::*;
use crate::fixed_point::root_of_increasing;

const THRESHOLD: Parameter = Parameter {
    key: "threshold",
    field: "threshold_energy",
    need: Need::Required { example: 20.0 },
    domain: Domain::Energy,
    meaning: "Sum over a window whose probability is bounded",
};

/// A class of jumps: a Poisson stream.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Jump {
    /// `λ` \[1/cycle\].
    pub rate: f64,
    /// `e`: what each of them adds, in any unit, such as pJ; above 0.
    pub energy: f64,
}

/// The sum of all jumps within a window, against a threshold.
#[derive(Clone, Debug, PartialEq)]
pub struct Chernoff {
    /// `T` \[cycles\].
    pub window: f64,
    /// `a`, in the unit of the jumps; above 0.
    pub threshold: f64,
    /// In any order.
    pub jumps: Vec<Jump>,
}

impl Chernoff {
    /// Mean sum of a window.
    pub fn mean(&self) -> f64 {
        self.window * self.jumps.iter().map(|jump| jump.rate * jump.energy).fold(0.0, |sum, one| sum + one)
    }

    /// Bound on the probability of a sum of the threshold or more.
    pub fn bound(&self) -> f64 {
        self.log_bound().exp()
    }

    /// `ln` of it: 0 up to the mean, minus infinity where nothing jumps.
    pub fn log_bound(&self) -> f64 {
        // numbers expected within the window, and jumps in terms of the threshold: both may be of any size
        let expected = self.jumps.iter().map(|jump| (jump.rate * self.window, jump.energy / self.threshold));
        let kinds: Vec<(f64, f64)> = expected.filter(|(number, part)| number * part > 0.0).collect();
        if self.mean() >= self.threshold {
            return 0.0;
        }
        let Some(largest) = kinds.iter().map(|(number, part)| -(number * part).ln() / part).reduce(f64::min)
        else {
            return f64::NEG_INFINITY;
        };
        // θ with Σ λ T e exp(θ e) = a: every term alone is at most a, so that nothing overflows
        let theta = root_of_increasing(0.0, largest, |theta| {
            let terms = kinds.iter().map(|(number, part)| (number * part * (theta * part).exp(), part));
            terms.fold((-1.0, 0.0), |(value, slope), (term, part)| (value + term, slope + term * part))
        });
        // -(θ a - Σ λ T (exp(θ e) - 1))
        kinds.iter().map(|(number, part)| number * (theta * part).exp_m1()).sum::<f64>() - theta
    }
}

impl TextbookQueue for Chernoff {
    const PARAMETERS: &'static [Parameter] = &[WINDOW, THRESHOLD];
    const CLASS_PARAMETERS: &'static [Parameter] = &[RATE, ENERGY];

    fn of(station: &Station) -> Self {
        let jump = |class: &Values| Jump { rate: class.get(RATE), energy: class.get(ENERGY) };
        Self {
            window: station.values.get(WINDOW),
            threshold: station.values.get(THRESHOLD),
            jumps: station.classes.iter().map(jump).collect(),
        }
    }

    /// Jumps take no time.
    fn answers(&self, _: &Station) -> Vec<CustomersAnswer> {
        self.jumps.iter().map(|jump| CustomersAnswer::unlimited(jump.rate, 0.0)).collect()
    }

    fn values(&self, _: &Station) -> Vec<(&'static str, f64)> {
        vec![("sum_mean_energy", self.mean()), ("exceeds_probability_bound", self.bound())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queueing::assert_near;

    fn bound(expected: f64, threshold: f64) -> f64 {
        let jump = Jump { rate: expected / 500.0, energy: 1.0 };
        Chernoff { window: 500.0, threshold, jumps: vec![jump] }.bound()
    }

    /// One class: `e^(-m) (e m / a)^a`, above Poisson's tail.
    #[test]
    fn one_class_has_a_closed_form_above_the_tail() {
        for (mean, threshold) in [(10.0, 20.0), (0.01, 3.0), (1e4, 1.1e4)] {
            let closed = (threshold - mean + threshold * f64::ln(mean / threshold)).exp();
            assert_near(bound(mean, threshold), closed, 1e-9);
        }
        let below: f64 = (0..20)
            .scan(1.0, |term, n| {
                let now = *term;
                *term *= 10.0 / f64::from(n + 1);
                Some(now)
            })
            .sum();
        assert!(bound(10.0, 20.0) > 1.0 - below * (-10f64).exp());
    }

    #[test]
    fn the_bound_falls_with_the_threshold_from_one_on() {
        assert_eq!([bound(10.0, 1.0), bound(10.0, 10.0), bound(0.0, 5.0)], [1.0, 1.0, 0.0]);
        let falling: Vec<f64> = (10..200).map(|threshold| bound(10.0, f64::from(threshold))).collect();
        assert!(falling.windows(2).all(|pair| pair[1] < pair[0]));
    }

    #[test]
    fn nothing_overflows() {
        for rate in [0.0, 1e-300, 1e-12, 1.0, 1e6, 1e300] {
            for (energy, threshold) in [(1e-9, 1e9), (1.0, 1.0), (1e9, 1e-9), (1e-300, 1.0)] {
                let jumps = vec![Jump { rate, energy }, Jump { rate: 1e-3, energy: 1.0 }];
                let sum = Chernoff { window: 1e9, threshold, jumps };
                assert!((0.0..=1.0).contains(&sum.bound()), "{sum:?}: {}", sum.bound());
            }
        }
    }
}
