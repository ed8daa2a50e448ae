#![doc = include_str!("mg1.md")]
//!
//! ```
//! use flitwise_models::queueing::{Mg1, Service};
//!
//! let station = Mg1 { rate: 0.02, service: Service::constant(32.0) };
//! let answer = station.measures().reached().unwrap();
//! assert!((answer.mean_wait - 0.64 * 32.0 / (2.0 * 0.36)).abs() < 1e-9);
//! ```

use super::*;
use crate::scalar::Scalar;

const THIRD_MOMENT: Parameter = Parameter {
    key: "third-moment",
    field: "service_third_moment_cycles3",
    need: Need::Optional,
    domain: Domain::ThirdMoment,
    meaning: "Third moment of the service in cycles cubed: for the spread of the wait",
};

/// One server, Poisson arrivals, any service.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mg1<T = f64> {
    /// `λ` \[1/cycle\].
    pub rate: T,
    /// What each customer needs.
    pub service: Service<T>,
}

impl<T: Scalar> Mg1<T> {
    /// `ρ = λ E[S]`.
    pub fn load(&self) -> T {
        self.rate * self.service.mean
    }

    /// `W` \[cycles\].
    pub fn mean_wait(&self) -> Steady<T> {
        let load = self.load();
        // W = λ E[S²] / (2 (1 - ρ))
        below_one(load.re(), || self.rate * self.service.second_moment / ((T::one() - load) * 2.0))
    }
}

impl Mg1 {
    /// Its long-run means.
    pub fn measures(&self) -> Steady<Measures> {
        let customers = Customers { rate: self.rate, service: self.service };
        self.mean_wait().map(|wait| Measures::of_wait(&customers, wait))
    }

    /// `E[W²]` \[cycles²\], where `third_moment` is `E[S³]` \[cycles³\].
    pub fn wait_second_moment(&self, third_moment: f64) -> Steady<f64> {
        // E[W²] = 2 W² + λ E[S³] / (3 (1 - ρ))
        self.mean_wait()
            .map(|wait| 2.0 * wait * wait + self.rate * third_moment / (3.0 * (1.0 - self.load())))
    }
}

impl TextbookQueue for Mg1 {
    const PARAMETERS: &'static [Parameter] = &[RATE, MEAN, SCV, THIRD_MOMENT];

    fn of(Station { values, .. }: &Station) -> Self {
        Self { rate: values.get(RATE), service: Service::new(values.get(MEAN), values.get(SCV)) }
    }

    fn answers(&self, Station { values, .. }: &Station) -> Vec<CustomersAnswer> {
        let offered =
            Demand { rate: self.rate, mean: self.service.mean, scv: Some(values.get(SCV)), servers: 1 };
        let answer = offered.queueing(self.measures());
        vec![match values.optional(THIRD_MOMENT) {
            Some(third) => answer.spread(self.wait_second_moment(third)),
            None => answer,
        }]
    }

    /// `E[S³] E[S] >= E[S²]²`, as for any time.
    fn contradiction(station: &Station) -> Option<Contradiction> {
        let Service { mean, second_moment } = Self::of(station).service;
        let least = second_moment * second_moment / mean;
        let third = station.values.optional(THIRD_MOMENT)?;
        (third < least * (1.0 - 1e-9)).then(|| Contradiction {
            parameter: THIRD_MOMENT,
            wanted: format!(
                "at least E[S²]² / E[S] = {least} cycles³: no service of that mean and scv has less"
            ),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queueing::{Md1, Mm1, assert_near};

    #[test]
    fn exponential_service_gives_m_m_1_and_constant_service_m_d_1() {
        for rate in [0.0, 0.001, 0.02, 0.031] {
            let exponential = Mg1 { rate, service: Service::exponential(32.0) };
            let mm1 = Mm1 { rate, mean: 32.0 };
            let (a, b) = (exponential.measures().reached().unwrap(), mm1.measures().reached().unwrap());
            assert_near(a.mean_wait, b.mean_wait, 1e-14);
            assert_near(a.mean_number_in_system, b.mean_number_in_system, 1e-14);
            // E[S³] = 6 E[S]³
            let second = exponential.wait_second_moment(6.0 * 32f64.powi(3)).reached().unwrap();
            assert_near(second, mm1.wait_second_moment().reached().unwrap(), 1e-12);
            let constant = Mg1 { rate, service: Service::constant(32.0) };
            let md1 = Md1 { rate, mean: 32.0 };
            assert_near(
                constant.mean_wait().reached().unwrap(),
                md1.measures().reached().unwrap().mean_wait,
                1e-14,
            );
        }
    }

    /// Kleinrock I, chapter 5: the mean number in the system is `ρ + ρ² (1 + C²) / (2 (1 - ρ))`.
    #[test]
    fn the_mean_number_is_that_of_pollaczek_and_khinchine() {
        for (load, scv) in [(0.3, 0.25), (0.8, 4.0), (0.99, 0.0)] {
            let answer = Mg1 { rate: load / 8.0, service: Service::new(8.0, scv) }.measures();
            let exact = load + load * load * (1.0 + scv) / (2.0 * (1.0 - load));
            assert_near(answer.reached().unwrap().mean_number_in_system, exact, 1e-12);
        }
    }

    #[test]
    fn at_load_one_it_is_saturated() {
        let station = Mg1 { rate: 0.05, service: Service::new(32.0, 0.5) };
        assert_eq!(station.measures(), Steady::Saturated { load: 1.6 });
    }
}
