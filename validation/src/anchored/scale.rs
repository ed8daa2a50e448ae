//! The scales on which simulation and model are compared: what is learnt is a difference on such a scale.
//!
//! | quantities | scale | why |
//! |---|---|---|
//! | latencies, waiting, percentiles | `ln(simulation / model)` | errors of a model are shares of its number |
//! | parts of the network latency | `(simulation - model) / network latency of the model` | a part may be 0 |
//! | miss probabilities | `asin √simulation - asin √model` | 0 and 1 are numbers like others |
//!
//! **Why not the logit?** Of 0 and 1 it is infinite, and both are common: a deadline below the shortest latency, or
//! far beyond the longest one simulated. On the angular scale chance is the same everywhere: a share of `n` messages
//! has the variance `1 / (4 n)`. What is taken back lies in [0, 1], and rises with the model's probability.

use std::f64::consts::FRAC_PI_2;

use flitwise_language::quantity::{Measure, Quantity, Unit};

use super::process::Prior;
use flitwise_experiment::answer::ConfidenceInterval;

/// Standard deviations in half of a simulated 95 % interval: Student's factor for 16 replications.
const IN_HALF_WIDTH: f64 = 2.13;
/// Variance of what is rounded to whole numbers.
const ROUNDING: f64 = 1.0 / 12.0;

/// A scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scale {
    /// Of logarithms.
    Ratio,
    /// The same of whole numbers.
    WholeRatio,
    /// Of parts of a whole.
    Part,
    /// Of angles.
    Share,
}

impl Scale {
    /// The scale of a quantity.
    pub(super) fn of(quantity: Quantity) -> Self {
        match quantity {
            quantity if quantity.unit() == Unit::Probability => Self::Share,
            quantity if quantity.percentile().is_some() => Self::WholeRatio,
            quantity if quantity.whole().is_some() => Self::Part,
            _ => Self::Ratio,
        }
    }

    /// The difference on the scale and the variance of its noise; `None` if there is no such difference.
    pub(super) fn difference(
        self,
        model: f64,
        whole: f64,
        simulated: ConfidenceInterval,
    ) -> Option<(f64, f64)> {
        let ConfidenceInterval { value, lower_95, upper_95 } = simulated;
        let (lower, upper) = (lower_95?, upper_95?);
        let deviation = (upper - lower) / (2.0 * IN_HALF_WIDTH);
        let (difference, variance) = match self {
            Self::Ratio => ((value / model).ln(), (deviation / value).powi(2)),
            Self::WholeRatio => {
                let rounding = ROUNDING / value.powi(2) + ROUNDING / model.powi(2);
                ((value / model).ln(), (deviation / value).powi(2) + rounding)
            }
            Self::Part => ((value - model) / whole, (deviation / whole).powi(2)),
            Self::Share => {
                let deviation = (angle(upper) - angle(lower)) / (2.0 * IN_HALF_WIDTH);
                (angle(value) - angle(model), deviation.powi(2))
            }
        };
        (difference.is_finite() && variance.is_finite()).then_some((difference, variance))
    }

    /// The model's number moved by a difference on the scale.
    pub(super) fn moved(self, model: f64, whole: f64, difference: f64) -> f64 {
        match self {
            Self::Ratio | Self::WholeRatio => model * difference.exp(),
            Self::Part => (model + whole * difference).max(0.0),
            Self::Share => (angle(model) + difference).clamp(0.0, FRAC_PI_2).sin().powi(2),
        }
    }
}

/// `asin √p`.
fn angle(share: f64) -> f64 {
    share.clamp(0.0, 1.0).sqrt().asin()
}

/// What is believed of the differences of a quantity before any is known: about medians over random families. Medians
/// jump where a law has a step.
pub(super) fn prior(measure: Measure) -> Prior {
    let deviation = match measure.quantity {
        Quantity::NetworkLatency => 0.006,
        Quantity::Waiting => 0.03,
        Quantity::TotalLatency => 0.008,
        Quantity::P50 => 0.015,
        Quantity::P90 => 0.02,
        Quantity::P99 | Quantity::P99_9 => 0.03,
        Quantity::MissProbability => 0.015,
        _ => 0.008,
    };
    let has_steps = matches!(measure.quantity, Quantity::P50 | Quantity::P90);
    let rough = if has_steps { 0.05 } else { Prior::default().rough };
    Prior { deviation, rough, ..Prior::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(value: f64, half_width: f64) -> ConfidenceInterval {
        ConfidenceInterval { value, lower_95: Some(value - half_width), upper_95: Some(value + half_width) }
    }

    #[test]
    fn what_is_moved_by_the_difference_is_the_simulation() {
        let cases = [
            (Scale::Ratio, 40.0, 42.0),
            (Scale::WholeRatio, 80.0, 77.0),
            (Scale::Part, 0.0, 1.5),
            (Scale::Part, 3.0, 0.0),
            (Scale::Share, 0.0, 0.02),
            (Scale::Share, 0.3, 0.28),
            (Scale::Share, 1.0, 0.97),
        ];
        for (scale, model, simulated) in cases {
            let (difference, _) = scale.difference(model, 50.0, measured(simulated, 0.01)).unwrap();
            let found = scale.moved(model, 50.0, difference);
            assert!((found - simulated).abs() < 1e-12, "{scale:?}: {found} for {simulated}");
        }
    }

    #[test]
    fn noise_is_that_of_the_interval() {
        let (_, variance) = Scale::Ratio.difference(40.0, 40.0, measured(50.0, 1.0)).unwrap();
        assert!((variance.sqrt() - 0.02 / 2.13).abs() < 1e-12);
        let (_, of_whole) = Scale::WholeRatio.difference(40.0, 40.0, measured(50.0, 1.0)).unwrap();
        assert!(of_whole > variance);
        // a share of 10,000 messages, whatever it is: 1 / (2 √n)
        for share in [0.1_f64, 0.5, 0.9] {
            let half_width = 2.13 * (share * (1.0 - share) / 1e4).sqrt();
            let (_, variance) = Scale::Share.difference(0.5, 1.0, measured(share, half_width)).unwrap();
            assert!((variance.sqrt() - 0.005).abs() < 1e-5, "{share}: {}", variance.sqrt());
        }
    }

    #[test]
    fn shares_stay_shares_in_their_order() {
        for difference in [-3.0, -0.2, 0.0, 0.1, 3.0] {
            let moved: Vec<f64> =
                (0..=20).map(|step| Scale::Share.moved(f64::from(step) / 20.0, 1.0, difference)).collect();
            assert!(moved.iter().all(|share| (0.0..=1.0).contains(share)));
            assert!(moved.is_sorted());
        }
    }

    #[test]
    fn without_an_interval_or_a_number_there_is_no_difference() {
        let open = ConfidenceInterval { value: 40.0, lower_95: Some(39.0), upper_95: None };
        assert_eq!(Scale::WholeRatio.difference(40.0, 40.0, open), None);
        assert_eq!(Scale::Ratio.difference(0.0, 40.0, measured(40.0, 1.0)), None);
        assert_eq!(Scale::Ratio.difference(40.0, 40.0, measured(0.0, 0.0)), None);
    }
}
