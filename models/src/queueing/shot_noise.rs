#![doc = include_str!("shot_noise.md")]
//!
//! ```
//! use flitwise_models::queueing::{Shot, ShotNoise};
//!
//! // power of a link: a packet of 1000 pJ every 100 cycles, spread over 40 cycles
//! let shot = Shot { rate: 0.01, energy: 1000.0, duration: 40.0 };
//! let power = ShotNoise { window: 500.0, shots: vec![shot] };
//! assert_eq!(format!("{:.1} +- {:.2}", power.mean(), power.deviation()), "10.0 +- 4.41");
//! ```

use statrs::distribution::{ContinuousCDF, Normal};

use super::parameter::shared::{ENERGY, WINDOW};
use super::*;

const DURATION: Parameter = Parameter {
    key: "duration",
    field: "duration_cycles",
    need: Need::Required { example: 40.0 },
    domain: Domain::Time,
    meaning: "Time over which a shot spreads its energy, in cycles",
};
const EXCEEDED: Parameter = Parameter {
    key: "exceeded",
    field: "exceeded_probability",
    need: Need::Default(0.01),
    domain: Domain::Probability,
    meaning: "Share of windows above the quantile",
};

/// A class of shots: a Poisson stream, each of which spreads its energy evenly over some time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shot {
    /// `λ` \[1/cycle\].
    pub rate: f64,
    /// `e`, in any unit, such as pJ.
    pub energy: f64,
    /// `L` \[cycles\].
    pub duration: f64,
}

/// The sum of all shots, looked at as its mean over windows.
#[derive(Clone, Debug, PartialEq)]
pub struct ShotNoise {
    /// `T` \[cycles\]; above 0.
    pub window: f64,
    /// In any order.
    pub shots: Vec<Shot>,
}

impl ShotNoise {
    /// `Σ λ_k e_k`: mean power \[energy/cycle\].
    pub fn mean(&self) -> f64 {
        self.shots.iter().fold(0.0, |sum, shot| sum + shot.rate * shot.energy)
    }

    /// `Var[Y]`: variance of the mean power of a window \[(energy/cycle)²\].
    pub fn variance(&self) -> f64 {
        let window = self.window;
        let of_shot = |shot: &Shot| {
            let (shorter, longer) = (shot.duration.min(window), shot.duration.max(window));
            // λ e² (T - L/3) / T² of short shots, λ e² (L - T/3) / L² of long ones
            shot.rate * (shot.energy / longer).powi(2) * (longer - shorter / 3.0)
        };
        self.shots.iter().map(of_shot).fold(0.0, |sum, one| sum + one)
    }

    /// `sqrt(Var[Y])` \[energy/cycle\].
    pub fn deviation(&self) -> f64 {
        self.variance().sqrt()
    }

    /// The power that a share of the windows exceeds, as a normal law has it \[energy/cycle\].
    pub fn normal_quantile(&self, exceeded: f64) -> f64 {
        self.mean() + self.deviation() * normal_quantile(exceeded)
    }
}

/// `Φ⁻¹(1 - q)`: what a standard normal number exceeds with probability `0 < q < 1`.
pub(crate) fn normal_quantile(exceeded: f64) -> f64 {
    -Normal::standard().inverse_cdf(exceeded)
}

impl TextbookQueue for ShotNoise {
    const PARAMETERS: &'static [Parameter] = &[WINDOW, EXCEEDED];
    const CLASS_PARAMETERS: &'static [Parameter] = &[RATE, ENERGY, DURATION];

    fn of(station: &Station) -> Self {
        let shot = |class: &Values| Shot {
            rate: class.get(RATE),
            energy: class.get(ENERGY),
            duration: class.get(DURATION),
        };
        Self { window: station.values.get(WINDOW), shots: station.classes.iter().map(shot).collect() }
    }

    /// A server for everyone: nobody waits.
    fn answers(&self, _: &Station) -> Vec<CustomersAnswer> {
        self.shots.iter().map(|shot| CustomersAnswer::unlimited(shot.rate, shot.duration)).collect()
    }

    fn values(&self, station: &Station) -> Vec<(&'static str, f64)> {
        vec![
            ("power_mean_energy_per_cycle", self.mean()),
            ("power_standard_deviation_energy_per_cycle", self.deviation()),
            ("power_quantile_energy_per_cycle", self.normal_quantile(station.values.get(EXCEEDED))),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queueing::assert_near;

    fn power(window: f64, shots: &[(f64, f64, f64)]) -> ShotNoise {
        let shot = |(rate, energy, duration): &(f64, f64, f64)| Shot {
            rate: *rate,
            energy: *energy,
            duration: *duration,
        };
        ShotNoise { window, shots: shots.iter().map(shot).collect() }
    }

    #[test]
    fn short_shots_are_a_compound_poisson_sum_and_long_ones_a_level() {
        // Var = λ T e² / T²
        assert_near(power(500.0, &[(0.1, 3.0, 1e-6)]).variance(), 0.1 * 9.0 / 500.0, 1e-8);
        // number in M/G/∞ is Poisson: λ L of them, each at power e / L
        let long = power(1.0, &[(0.1, 3.0, 1e6)]);
        assert_near(long.variance(), 0.1 * 1e6 * (3e-6f64).powi(2), 1e-6);
        // both forms meet where the window is one shot long
        assert_near(power(40.0, &[(0.1, 3.0, 40.0)]).variance(), 0.1 * 9.0 * 2.0 / 3.0 / 40.0, 1e-12);
    }

    /// `∫ (overlap of a shot at x and the window)² dx`, summed up.
    #[test]
    fn variance_is_campbells_integral() {
        for (window, duration) in [(500.0, 60.0), (60.0, 500.0), (50.0, 50.0)] {
            let steps = 200_000;
            let step = (window + duration) / f64::from(steps);
            let overlap = |at: f64| (at + duration).min(window) - at.max(0.0);
            let sum: f64 = (0..steps).map(|i| overlap(-duration + (f64::from(i) + 0.5) * step).powi(2)).sum();
            let expected = 0.2 * sum * step * (7.0 / duration / window).powi(2);
            assert_near(power(window, &[(0.2, 7.0, duration)]).variance(), expected, 1e-6);
        }
    }

    #[test]
    fn classes_add_up_and_silence_is_none() {
        let (one, other) = ((0.1, 3.0, 20.0), (0.02, 9.0, 700.0));
        let [a, b] = [one, other].map(|shot| power(500.0, &[shot]).variance());
        assert_near(power(500.0, &[one, other]).variance(), a + b, 1e-14);
        let silent = power(500.0, &[(0.0, 3.0, 20.0)]);
        assert_eq!((silent.mean(), silent.normal_quantile(0.01)), (0.0, 0.0));
        let loud = power(500.0, &[one]);
        assert_near(loud.normal_quantile(0.5), loud.mean(), 1e-12);
        assert_near(loud.normal_quantile(0.01), loud.mean() + 2.326_348 * loud.deviation(), 1e-6);
    }
}
