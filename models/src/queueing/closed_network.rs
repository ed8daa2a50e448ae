#![doc = include_str!("closed_network.md")]
//!
//! ```
//! use flitwise_models::queueing::ClosedNetwork;
//!
//! // eight packets go round three links, then think
//! let network = ClosedNetwork { customers: 8, think: 100.0, services: vec![40.0, 30.0, 20.0] };
//! assert_eq!(format!("{:.5}", network.solve().throughput), "0.02252");
//! ```

use super::*;

const CUSTOMERS: Parameter = Parameter {
    key: "customers",
    field: "customers",
    need: Need::Required { example: 8.0 },
    domain: Domain::Count { most: 1_000_000, of: "customers" },
    meaning: "Customers that go round",
};
const THINK: Parameter = Parameter {
    key: "think",
    field: "think_cycles",
    need: Need::Optional,
    domain: Domain::Time,
    meaning: "Time that a customer spends outside in each round, in cycles; none if not given",
};

/// Customers that go round through servers one after another, first come, first served and exponential, and a time
/// outside.
#[derive(Clone, Debug, PartialEq)]
pub struct ClosedNetwork {
    /// `N`.
    pub customers: u32,
    /// `Z`: time outside in each round \[cycles\].
    pub think: f64,
    /// `S`: mean service of each server in a round \[cycles\]; one at least.
    pub services: Vec<f64>,
}

/// Means of a [`ClosedNetwork`].
#[derive(Clone, Debug, PartialEq)]
pub struct Rounds {
    /// `X`: rounds per cycle of all customers.
    pub throughput: f64,
    /// The same with one customer less: what an arrival finds.
    pub throughput_found: f64,
    /// Mean wait at each server \[cycles\].
    pub waits: Vec<f64>,
    /// Share of the time in which all servers are busy.
    pub all_busy: f64,
}

impl ClosedNetwork {
    /// Mean value analysis, customer by customer; without customers nothing goes round.
    pub fn solve(&self) -> Rounds {
        let mut queues = vec![0.0; self.services.len()];
        let mut found =
            Rounds { throughput: 0.0, throughput_found: 0.0, waits: queues.clone(), all_busy: 1.0 };
        let servers = self.services.len() as u32;
        for customers in 1..=self.customers {
            // an arrival finds what there is with one customer less: R_k = S_k (1 + Q_k(n - 1))
            found.waits = self.services.iter().zip(&queues).map(|(service, queue)| service * queue).collect();
            let round: f64 =
                self.services.iter().zip(&found.waits).map(|(service, wait)| service + wait).sum();
            found.throughput_found = found.throughput;
            // X = n / (Z + Σ R_k), Q_k = X R_k
            found.throughput = f64::from(customers) / (self.think + round);
            for ((queue, service), wait) in queues.iter_mut().zip(&self.services).zip(&found.waits) {
                *queue = found.throughput * (service + wait);
            }
            // Π S_k G(N - K) / G(N), X(n) = G(n - 1) / G(n)
            if let Some(place) = (servers + customers).checked_sub(self.customers + 1) {
                found.all_busy *= found.throughput * self.services[place as usize];
            }
        }
        let enough = self.customers >= servers;
        Rounds { all_busy: if enough { found.all_busy.min(1.0) } else { 0.0 }, ..found }
    }

    /// Balanced-job bounds of the throughput, without recursion: below and above.
    pub fn balanced_job_bounds(&self) -> (f64, f64) {
        let (all, most) =
            self.services.iter().fold((0.0, 0.0), |(sum, most), one| (sum + one, f64::max(most, *one)));
        let (customers, mean) = (f64::from(self.customers), all / self.services.len() as f64);
        let others = (customers - 1.0).max(0.0);
        // N / (Z + D + (N - 1) D_max / (1 + Z / (N D)))
        let low = customers / (self.think + all + others * most / (1.0 + self.think / (customers * all)));
        // min(1 / D_max, N / (Z + D + (N - 1) D/K / (1 + Z / D)))
        let high = customers / (self.think + all + others * mean / (1.0 + self.think / all));
        (low, high.min(1.0 / most))
    }
}

impl TextbookQueue for ClosedNetwork {
    const PARAMETERS: &'static [Parameter] = &[CUSTOMERS, THINK];
    const CLASS_PARAMETERS: &'static [Parameter] = &[MEAN];

    fn of(station: &Station) -> Self {
        Self {
            customers: station.values.get(CUSTOMERS) as u32,
            think: station.values.optional(THINK).unwrap_or(0.0),
            services: station.classes.iter().map(|class| class.get(MEAN)).collect(),
        }
    }

    /// A class is a server.
    fn answers(&self, _: &Station) -> Vec<CustomersAnswer> {
        let rounds = self.solve();
        let answer = |(mean, wait): (&f64, &f64)| {
            let customers = Customers::new(rounds.throughput, *mean, 1.0);
            let means = Steady::Reached(Measures::of_wait(&customers, *wait));
            let demand = Demand { rate: rounds.throughput, mean: *mean, scv: Some(1.0), servers: 1 };
            let waits = (rounds.throughput_found * mean).min(1.0);
            CustomersAnswer { wait_probability: Some(waits), ..demand.queueing(means) }
        };
        self.services.iter().zip(&rounds.waits).map(answer).collect()
    }

    /// That of the busiest server.
    fn load(servers: &[CustomersAnswer]) -> f64 {
        servers.iter().map(|server| server.load).fold(0.0, f64::max)
    }

    fn all_busy(&self, _load: f64) -> f64 {
        self.solve().all_busy
    }

    fn values(&self, _: &Station) -> Vec<(&'static str, f64)> {
        let throughput = self.solve().throughput;
        let (low, high) = self.balanced_job_bounds();
        vec![
            ("round_throughput_per_cycle", throughput),
            ("round_time_cycles", f64::from(self.customers) / throughput),
            ("round_throughput_bound_below_per_cycle", low),
            ("round_throughput_bound_above_per_cycle", high),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queueing::assert_near;

    fn network(customers: u32, think: f64, services: &[f64]) -> ClosedNetwork {
        ClosedNetwork { customers, think, services: services.to_vec() }
    }

    /// Two equal servers: `X = N / (N + 1) / S`.
    #[test]
    fn small_cases_have_their_fractions() {
        assert_near(network(3, 0.0, &[2.0, 2.0]).solve().throughput, 3.0 / 4.0 / 2.0, 1e-14);
        assert_near(network(3, 0.0, &[2.0, 2.0]).solve().all_busy, 0.5, 1e-14);
        assert_near(network(1, 5.0, &[2.0, 3.0]).solve().throughput, 0.1, 1e-14);
        assert_eq!(network(1, 5.0, &[2.0, 3.0]).solve().all_busy, 0.0);
        assert_eq!(network(0, 5.0, &[2.0]).solve().throughput, 0.0);
    }

    /// One server and a time outside are the M/M/1//N queue of Engset's sources: `p_n = N!/(N-n)! (S/Z)^n p_0`.
    #[test]
    fn one_server_is_the_finite_source_queue() {
        let (sources, ratio) = (6, 0.3);
        let weights: Vec<f64> =
            (0..=sources).map(|n| (0..n).map(|i| f64::from(sources - i) * ratio).product()).collect();
        let busy = 1.0 - weights[0] / weights.iter().sum::<f64>();
        let found = network(6, 1.0 / ratio, &[1.0]).solve();
        assert_near(found.throughput, busy, 1e-13);
        assert_near(found.all_busy, busy, 1e-13);
    }

    #[test]
    fn the_throughput_is_within_its_bounds() {
        for customers in [1, 2, 5, 30, 1_000] {
            for (think, services) in [(0.0, vec![3.0, 1.0, 2.0]), (50.0, vec![3.0, 3.0]), (7.0, vec![1.0])] {
                let network = network(customers, think, &services);
                let ((low, high), found) = (network.balanced_job_bounds(), network.solve().throughput);
                assert!(
                    low <= found * (1.0 + 1e-12) && found <= high * (1.0 + 1e-12),
                    "{network:?}: {low} {found} {high}"
                );
            }
        }
        assert_eq!(network(0, 1.0, &[1.0]).balanced_job_bounds(), (0.0, 0.0));
    }
}
