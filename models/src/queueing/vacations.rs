#![doc = include_str!("vacations.md")]
//!
//! ```
//! use flitwise_models::queueing::{Service, Vacations};
//!
//! let service = Service::constant(32.0);
//! let station = Vacations { rate: 0.02, service, vacation: Service::constant(10.0) };
//! let answer = station.measures().reached().unwrap();
//! assert!((answer.mean_wait - (0.64 * 32.0 / (2.0 * 0.36) + 5.0)).abs() < 1e-9);
//! ```

use super::*;

const VACATION_MEAN: Parameter = Parameter {
    key: "vacation-mean",
    field: "vacation_mean_cycles",
    need: Need::Required { example: 16.0 },
    domain: Domain::Time,
    meaning: "Mean length of a vacation in cycles",
};
const VACATION_SCV: Parameter = Parameter {
    key: "vacation-scv",
    field: "vacation_scv",
    need: Need::Default(0.0),
    domain: Domain::Scv,
    meaning: "Squared coefficient of variation of a vacation [default: 0]",
};

/// One server, Poisson arrivals, any service; the server goes away when nobody is left, and again if it comes back
/// to nobody.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Vacations {
    /// `λ` \[1/cycle\].
    pub rate: f64,
    /// What each customer needs.
    pub service: Service,
    /// How long the server stays away each time.
    pub vacation: Service,
}

impl Vacations {
    /// `ρ = λ E[S]`.
    pub fn load(&self) -> f64 {
        self.rate * self.service.mean
    }

    /// Its long-run means.
    pub fn measures(&self) -> Steady<Measures> {
        let customers = Customers { rate: self.rate, service: self.service };
        // W = λ E[S²] / (2 (1 - ρ)) + E[V²] / (2 E[V])
        let queue = Mg1 { rate: self.rate, service: self.service }.mean_wait();
        queue.map(|wait| Measures::of_wait(&customers, wait + self.vacation.mean_residual()))
    }
}

impl TextbookQueue for Vacations {
    const PARAMETERS: &'static [Parameter] = &[RATE, MEAN, SCV, VACATION_MEAN, VACATION_SCV];

    fn of(Station { values, .. }: &Station) -> Self {
        Self {
            rate: values.get(RATE),
            service: Service::new(values.get(MEAN), values.get(SCV)),
            vacation: Service::new(values.get(VACATION_MEAN), values.get(VACATION_SCV)),
        }
    }

    fn answers(&self, Station { values, .. }: &Station) -> Vec<CustomersAnswer> {
        let offered =
            Demand { rate: self.rate, mean: self.service.mean, scv: Some(values.get(SCV)), servers: 1 };
        let answer = offered.queueing(self.measures());
        // nobody is served without the end of a service or of a vacation before
        let wait_probability = answer.wait_probability.map(|_| 1.0);
        vec![CustomersAnswer { wait_probability, ..answer }]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queueing::assert_near;
    use crate::queueing::chain::{Counts, counts};

    #[test]
    fn a_lone_customer_waits_for_what_is_left_of_the_vacation() {
        let station =
            Vacations { rate: 0.0, service: Service::constant(32.0), vacation: Service::new(10.0, 3.0) };
        assert_near(station.measures().reached().unwrap().mean_wait, 20.0, 1e-15);
        let saturated = Vacations { rate: 1.0, ..station };
        assert_eq!(saturated.measures(), Steady::Saturated { load: 32.0 });
    }

    #[test]
    fn vanishing_vacations_leave_m_g_1() {
        let (rate, service) = (0.02, Service::new(32.0, 2.0));
        let station = Vacations { rate, service, vacation: Service::constant(1e-9) };
        let plain = Mg1 { rate, service }.mean_wait().reached().unwrap();
        assert_near(station.measures().reached().unwrap().mean_wait, plain, 1e-9);
    }

    /// Exponential service and vacations are a chain: a number of customers, and whether the server is there.
    #[test]
    fn the_mean_number_is_that_of_the_markov_chain() {
        let (rate, mean, away) = (0.1, 1.0, 2.0);
        let (service, vacation) = (Service::exponential(mean), Service::exponential(away));
        let exact = Vacations { rate, service, vacation }.measures().reached().unwrap();
        let never = 1e-13;
        let chain = counts(&[8, 1], |part, up, at| match (part, up) {
            (0, true) => rate,
            // served while the server is there; it leaves with the last customer
            (0, false) => {
                if at[1] == 1 {
                    1.0 / mean
                } else {
                    never
                }
            }
            // back from a vacation, which somebody must have waited for
            (_, true) => {
                if at[0] > 0 {
                    1.0 / away
                } else {
                    never
                }
            }
            (_, false) => {
                if at[0] == 0 {
                    1e9
                } else {
                    never
                }
            }
        });
        let Counts { means } = chain;
        assert_near(means[0], exact.mean_number_in_system, 2e-4);
    }
}
