#![doc = include_str!("mm1.md")]
//!
//! ```
//! use flitwise_models::queueing::Mm1;
//!
//! let station = Mm1 { rate: 0.02, mean: 32.0 };
//! let answer = station.measures().reached().unwrap();
//! assert!((answer.mean_response - 32.0 / 0.36).abs() < 1e-9);
//! let late = station.response_exceeds(200.0).reached().unwrap();
//! assert!((late - (-0.36f64 * 200.0 / 32.0).exp()).abs() < 1e-12);
//! ```

use super::*;

/// One server, Poisson arrivals, exponential service.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mm1 {
    /// `λ` \[1/cycle\].
    pub rate: f64,
    /// `E[S]` \[cycles\].
    pub mean: f64,
}

impl Mm1 {
    /// `ρ = λ E[S]`.
    pub fn load(&self) -> f64 {
        self.rate * self.mean
    }

    /// Its long-run means.
    pub fn measures(&self) -> Steady<Measures> {
        let load = self.load();
        // W = ρ E[S] / (1 - ρ)
        let wait = || load * self.mean / (1.0 - load);
        below_one(load, || Measures::of_wait(&Customers::new(self.rate, self.mean, 1.0), wait()))
    }

    /// `E[W²]` \[cycles²\].
    pub fn wait_second_moment(&self) -> Steady<f64> {
        let load = self.load();
        // E[W²] = 2 ρ (E[S] / (1 - ρ))²
        below_one(load, || 2.0 * load * (self.mean / (1.0 - load)).powi(2))
    }

    /// Probability that a wait takes more than `time` cycles.
    pub fn wait_exceeds(&self, time: f64) -> Steady<f64> {
        // P(W > t) = ρ P(T > t)
        self.response_exceeds(time).map(|late| self.load() * late)
    }

    /// Probability that a response takes more than `time` cycles.
    pub fn response_exceeds(&self, time: f64) -> Steady<f64> {
        let load = self.load();
        // P(T > t) = exp(-(1 - ρ) t / E[S])
        below_one(load, || (-(1.0 - load) * time / self.mean).exp())
    }
}

impl TextbookQueue for Mm1 {
    const PARAMETERS: &'static [Parameter] = &[RATE, MEAN];
    const EXCEEDS: Option<Exceeds<Self>> =
        Some(|queue, t| (queue.wait_exceeds(t), queue.response_exceeds(t)));

    fn of(station: &Station) -> Self {
        Self { rate: station.values.get(RATE), mean: station.values.get(MEAN) }
    }

    fn answers(&self, _: &Station) -> Vec<CustomersAnswer> {
        let offered = Demand { rate: self.rate, mean: self.mean, scv: Some(1.0), servers: 1 };
        vec![offered.queueing(self.measures()).spread(self.wait_second_moment())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queueing::{Mm1K, assert_near};

    #[test]
    fn half_load_means_one_customer_in_the_mean() {
        let answer = Mm1 { rate: 0.05, mean: 10.0 }.measures().reached().unwrap();
        assert_near(answer.mean_number_in_system, 1.0, 1e-15);
        assert_near(answer.mean_number_waiting, 0.5, 1e-15);
        assert_near(answer.mean_response, 20.0, 1e-15);
    }

    #[test]
    fn the_means_are_those_of_the_distributions() {
        let station = Mm1 { rate: 0.08, mean: 10.0 };
        let answer = station.measures().reached().unwrap();
        let step = 0.5;
        let (mut wait, mut second, mut response) = (0.0, 0.0, 0.0);
        for index in 0..4_000 {
            let time = (f64::from(index) + 0.5) * step;
            wait += step * station.wait_exceeds(time).reached().unwrap();
            second += step * 2.0 * time * station.wait_exceeds(time).reached().unwrap();
            response += step * station.response_exceeds(time).reached().unwrap();
        }
        assert_near(wait, answer.mean_wait, 1e-4);
        assert_near(response, answer.mean_response, 1e-4);
        assert_near(second, station.wait_second_moment().reached().unwrap(), 1e-4);
    }

    #[test]
    fn it_is_the_limit_of_much_room() {
        let unlimited = Mm1 { rate: 0.08, mean: 10.0 }.measures().reached().unwrap();
        let room = Mm1K { rate: 0.08, mean: 10.0, capacity: 400 }.measures();
        assert_near(unlimited.mean_number_waiting, room.mean_number_waiting, 1e-12);
        assert_near(unlimited.mean_wait, room.mean_wait, 1e-12);
    }

    #[test]
    fn at_load_one_it_is_saturated() {
        assert_eq!(Mm1 { rate: 0.1, mean: 10.0 }.measures(), Steady::Saturated { load: 1.0 });
        assert_eq!(Mm1 { rate: 0.0, mean: 10.0 }.measures().reached().unwrap().mean_response, 10.0);
    }
}
