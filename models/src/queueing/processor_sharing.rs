#![doc = include_str!("processor_sharing.md")]
//!
//! ```
//! use flitwise_models::queueing::ProcessorSharing;
//!
//! let station = ProcessorSharing { rate: 0.02, mean: 32.0 };
//! let answer = station.measures().reached().unwrap();
//! assert!((answer.mean_response - 32.0 / 0.36).abs() < 1e-9);
//! // whoever needs twice as much stays twice as long
//! assert!((station.mean_response_to(64.0).reached().unwrap() - 64.0 / 0.36).abs() < 1e-9);
//! ```

use super::*;

/// One server, Poisson arrivals, any service; all who are there are served at once, each at the same speed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProcessorSharing {
    /// `λ` \[1/cycle\].
    pub rate: f64,
    /// `E[S]` \[cycles\].
    pub mean: f64,
}

impl ProcessorSharing {
    /// `ρ = λ E[S]`.
    pub fn load(&self) -> f64 {
        self.rate * self.mean
    }

    /// Its long-run means. Nobody waits; the wait is by how much sharing makes the response longer.
    pub fn measures(&self) -> Steady<Measures> {
        let customers = Customers::new(self.rate, self.mean, 1.0);
        let load = self.load();
        // T = E[S] / (1 - ρ), so that T - E[S] = ρ E[S] / (1 - ρ)
        below_one(load, || Measures::of_wait(&customers, load * self.mean / (1.0 - load)))
    }

    /// Mean response of a customer that needs `service` cycles \[cycles\].
    pub fn mean_response_to(&self, service: f64) -> Steady<f64> {
        // T(x) = x / (1 - ρ)
        below_one(self.load(), || service / (1.0 - self.load()))
    }
}

impl TextbookQueue for ProcessorSharing {
    const PARAMETERS: &'static [Parameter] = &[RATE, MEAN];

    fn of(Station { values, .. }: &Station) -> Self {
        Self { rate: values.get(RATE), mean: values.get(MEAN) }
    }

    fn answers(&self, _: &Station) -> Vec<CustomersAnswer> {
        let offered = Demand { rate: self.rate, mean: self.mean, scv: None, servers: 1 };
        vec![CustomersAnswer { wait_probability: None, ..offered.queueing(self.measures()) }]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queueing::{Mm1, assert_near};

    /// The number in the system has the law of M/M/1, whatever the service.
    #[test]
    fn the_means_are_those_of_m_m_1() {
        for rate in [0.0, 0.02, 0.0312] {
            let shared = ProcessorSharing { rate, mean: 32.0 }.measures().reached().unwrap();
            let in_turn = Mm1 { rate, mean: 32.0 }.measures().reached().unwrap();
            assert_near(shared.mean_number_in_system, in_turn.mean_number_in_system, 1e-14);
            assert_near(shared.mean_response, in_turn.mean_response, 1e-14);
        }
    }

    #[test]
    fn at_load_one_it_is_saturated() {
        let station = ProcessorSharing { rate: 0.5, mean: 2.0 };
        assert_eq!(station.measures(), Steady::Saturated { load: 1.0 });
        assert_eq!(station.mean_response_to(5.0), Steady::Saturated { load: 1.0 });
    }
}
