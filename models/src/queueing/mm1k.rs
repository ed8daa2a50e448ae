#![doc = include_str!("mm1k.md")]
//!
//! ```
//! use flitwise_models::queueing::Mm1K;
//!
//! // at load one all numbers from 0 to K are alike
//! let answer = Mm1K { rate: 0.1, mean: 10.0, capacity: 4 }.measures();
//! assert!((answer.blocking_probability - 0.2).abs() < 1e-14);
//! assert!((answer.mean_number_in_system - 2.0).abs() < 1e-14);
//! ```

use super::*;

const CAPACITY: Parameter = Parameter {
    key: "capacity",
    field: "capacity_customers",
    need: Need::Required { example: 8.0 },
    domain: Domain::Count { most: 1_000_000_000, of: "customers" },
    meaning: "Room for so many customers, the one in service included",
};

/// One server, Poisson arrivals, exponential service, room for `capacity` customers; others are turned away.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mm1K {
    /// `λ` \[1/cycle\].
    pub rate: f64,
    /// `E[S]` \[cycles\].
    pub mean: f64,
    /// `K`, the customer in service included; at least 1.
    pub capacity: u64,
}

impl Mm1K {
    /// `ρ = λ E[S]`, of all that come.
    pub fn load(&self) -> f64 {
        self.rate * self.mean
    }

    /// `P_b = ρ^K (1 - ρ) / (1 - ρ^(K+1))`.
    pub fn blocking_probability(&self) -> f64 {
        let (load, capacity) = (self.load(), self.capacity as f64);
        let growth = load.ln();
        if growth == 0.0 {
            return 1.0 / (capacity + 1.0);
        }
        if load > 1.0 {
            return (-growth).exp_m1() / (-growth * (capacity + 1.0)).exp_m1();
        }
        (growth * capacity).exp() * growth.exp_m1() / (growth * (capacity + 1.0)).exp_m1()
    }

    /// `1 - p_0 = ρ (1 - ρ^K) / (1 - ρ^(K+1))`: share of the time in which the server is busy.
    pub fn utilization(&self) -> f64 {
        let (load, capacity) = (self.load(), self.capacity as f64);
        let steepness = load.ln().abs();
        if steepness == 0.0 {
            return capacity / (capacity + 1.0);
        }
        load.min(1.0) * (-steepness * capacity).exp_m1() / (-steepness * (capacity + 1.0)).exp_m1()
    }

    /// Its long-run means.
    pub fn measures(&self) -> Measures {
        let utilization = self.utilization();
        // who is let in finds what M/M/1/K-1 holds: W = E[S] L(K - 1)
        let found = mean_number(self.load(), self.capacity as f64 - 1.0);
        Measures {
            arrival_rate: self.rate,
            throughput: utilization / self.mean,
            utilization,
            blocking_probability: self.blocking_probability(),
            mean_wait: self.mean * found,
            mean_response: self.mean * (found + 1.0),
            mean_number_waiting: utilization * found,
            mean_number_in_system: mean_number(self.load(), self.capacity as f64),
        }
    }
}

/// `L(K) = Σ n ρ^n / Σ ρ^n` over `n = 0 ..= K`.
fn mean_number(load: f64, capacity: f64) -> f64 {
    let steepness = load.ln().abs();
    let span = (capacity + 1.0) * steepness;
    let fewer = if span > 1.0 {
        // L = r / (1 - r) - (K + 1) r^(K+1) / (1 - r^(K+1)),  r = min(ρ, 1 / ρ)
        1.0 / steepness.exp_m1() - (capacity + 1.0) / span.exp_m1()
    } else if steepness > 0.0 {
        // L = K / 2 - [c((K + 1) |ln ρ|) - c(|ln ρ|)] / |ln ρ|,  c(y) = y / 2 coth(y / 2) - 1
        capacity / 2.0 - (tilt(span) - tilt(steepness)) / steepness
    } else {
        capacity / 2.0
    };
    if load > 1.0 { capacity - fewer } else { fewer }
}

/// `y / 2 coth(y / 2) - 1` for `y` from 0 to 1, by its series: `Σ B_2n y^2n / (2n)!`.
fn tilt(y: f64) -> f64 {
    const SERIES: [f64; 8] = [
        1.0 / 12.0,
        -1.0 / 720.0,
        1.0 / 30_240.0,
        -1.0 / 1_209_600.0,
        1.0 / 47_900_160.0,
        -691.0 / 1_307_674_368_000.0,
        1.0 / 74_724_249_600.0,
        -3_617.0 / 10_670_622_842_880_000.0,
    ];
    let square = y * y;
    SERIES.iter().rev().fold(0.0, |sum, term| (sum + term) * square)
}

impl TextbookQueue for Mm1K {
    const PARAMETERS: &'static [Parameter] = &[RATE, MEAN, CAPACITY];

    fn of(Station { values, .. }: &Station) -> Self {
        Self { rate: values.get(RATE), mean: values.get(MEAN), capacity: values.get(CAPACITY) as u64 }
    }

    fn answers(&self, _: &Station) -> Vec<CustomersAnswer> {
        let offered = Demand { rate: self.rate, mean: self.mean, scv: Some(1.0), servers: 1 };
        // who is let in finds what there would be with one place less
        let found = (self.capacity > 1).then(|| Self { capacity: self.capacity - 1, ..*self }.utilization());
        let answer = offered.lossy(self.measures());
        vec![CustomersAnswer { wait_probability: Some(found.unwrap_or(0.0)), ..answer }]
    }

    fn all_busy(&self, _load: f64) -> f64 {
        self.utilization()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queueing::assert_near;
    use crate::queueing::chain::counts;

    /// Term by term.
    fn sums(load: f64, capacity: i32) -> (f64, f64) {
        let total: f64 = (0..=capacity).map(|n| load.powi(n)).sum();
        let mean: f64 = (0..=capacity).map(|n| f64::from(n) * load.powi(n)).sum();
        (load.powi(capacity) / total, mean / total)
    }

    #[test]
    fn it_has_the_sums_term_by_term_at_any_load() {
        for capacity in [1, 2, 7, 40] {
            for load in [1e-6, 0.1, 0.7, 0.99, 1.0 - 1e-9, 1.0, 1.0 + 1e-12, 1.001, 1.02, 1.3, 20.0] {
                let station = Mm1K { rate: load, mean: 1.0, capacity: capacity as u64 };
                let answer = station.measures();
                let (blocking, number) = sums(load, capacity);
                assert_near(answer.blocking_probability, blocking, 1e-9);
                assert_near(answer.mean_number_in_system, number, 1e-11);
                // Little, of those let in
                assert_near(answer.throughput * answer.mean_response, number, 1e-9);
                let in_service = answer.mean_number_in_system - answer.mean_number_waiting;
                assert_near(in_service, answer.utilization, 1e-9);
            }
        }
    }

    #[test]
    fn it_is_the_markov_chain() {
        for (load, capacity) in [(0.5, 3), (1.0, 5), (1.7, 8), (0.9, 10)] {
            let chain = counts(&[capacity], |_, up, _| if up { load } else { 1.0 });
            let answer = Mm1K { rate: load, mean: 1.0, capacity: capacity as u64 }.measures();
            assert_near(answer.mean_number_in_system, chain.means[0], 1e-10);
        }
    }

    /// Gross and Harris: `ρ = 0.5`, `K = 2` has `p = 4/7, 2/7, 1/7`.
    #[test]
    fn small_cases_have_their_fractions() {
        let answer = Mm1K { rate: 0.5, mean: 1.0, capacity: 2 }.measures();
        assert_near(answer.blocking_probability, 1.0 / 7.0, 1e-14);
        assert_near(answer.mean_number_in_system, 4.0 / 7.0, 1e-14);
        assert_near(answer.mean_number_waiting, 1.0 / 7.0, 1e-14);
    }

    #[test]
    fn without_room_to_wait_it_is_a_single_lossy_server() {
        let answer = Mm1K { rate: 0.3, mean: 10.0, capacity: 1 }.measures();
        assert_near(answer.blocking_probability, 0.75, 1e-14);
        assert_eq!((answer.mean_wait, answer.mean_number_waiting), (0.0, 0.0));
    }

    #[test]
    fn extremes_are_numbers() {
        for capacity in [1, 1_000_000_000] {
            for rate in [0.0, 1e-12, 1.0 - 1e-15, 1.0, 1e6] {
                let answer = Mm1K { rate, mean: 1.0, capacity }.measures();
                let all = [answer.blocking_probability, answer.mean_wait, answer.mean_number_in_system];
                assert!(all.iter().all(|number| number.is_finite() && *number >= 0.0), "{answer:?}");
            }
        }
        // steps of 1e-9 over a thousand million places: e^-1 from end to end
        let steep = Mm1K { rate: 1.0 - 1e-9, mean: 1.0, capacity: 1_000_000_000 }.measures();
        let e = 1f64.exp();
        assert_near(steep.mean_number_in_system / 1e9, (e - 2.0) / (e - 1.0), 1e-6);
    }
}
