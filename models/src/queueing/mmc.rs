#![doc = include_str!("mmc.md")]
//!
//! ```
//! use flitwise_models::queueing::MmC;
//!
//! let station = MmC { rate: 1.0, mean: 2.0, servers: 3 };
//! assert!((station.wait_probability().reached().unwrap() - 4.0 / 9.0).abs() < 1e-15);
//! assert!((station.measures().reached().unwrap().mean_wait - 8.0 / 9.0).abs() < 1e-15);
//! ```

use super::*;

/// `servers` servers, Poisson arrivals, exponential service, one queue for all of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MmC {
    /// `λ` \[1/cycle\].
    pub rate: f64,
    /// `E[S]` \[cycles\].
    pub mean: f64,
    /// `c`; at least 1.
    pub servers: u32,
}

impl MmC {
    /// `a = λ E[S]`: mean number of busy servers.
    pub fn offered_traffic(&self) -> f64 {
        self.rate * self.mean
    }

    /// `ρ = a / c`.
    pub fn load(&self) -> f64 {
        self.offered_traffic() / f64::from(self.servers)
    }

    /// `C(c, a)`: probability that an arrival finds all servers busy and has to wait.
    pub fn wait_probability(&self) -> Steady<f64> {
        let Self { rate, mean, servers } = *self;
        let (traffic, count) = (self.offered_traffic(), f64::from(servers));
        below_one(self.load(), || {
            let lost = ErlangB { rate, mean, servers }.blocking_probability();
            // C = c B / (c - a (1 - B))
            count * lost / (count - traffic * (1.0 - lost))
        })
    }

    /// Cycles between two ends of service while all servers are busy, less what arrivals add: `E[S] / (c - a)`,
    /// the mean wait of those who have to.
    fn mean_wait_if_any(&self) -> f64 {
        self.mean / (f64::from(self.servers) - self.offered_traffic())
    }

    /// Its long-run means.
    pub fn measures(&self) -> Steady<Measures> {
        let customers = Customers::new(self.rate, self.mean, 1.0);
        self.wait_probability().map(|waits| {
            // W = C E[S] / (c - a)
            let means = Measures::of_wait(&customers, waits * self.mean_wait_if_any());
            Measures { utilization: self.load(), ..means }
        })
    }

    /// `E[W²]` \[cycles²\].
    pub fn wait_second_moment(&self) -> Steady<f64> {
        // E[W²] = 2 C (E[S] / (c - a))²
        self.wait_probability().map(|waits| 2.0 * waits * self.mean_wait_if_any().powi(2))
    }

    /// Probability that a wait takes more than `time` cycles, in the order of arrival.
    pub fn wait_exceeds(&self, time: f64) -> Steady<f64> {
        // P(W > t) = C exp(-(c - a) t / E[S])
        self.wait_probability().map(|waits| waits * (-time / self.mean_wait_if_any()).exp())
    }

    /// Probability that a response takes more than `time` cycles.
    pub fn response_exceeds(&self, time: f64) -> Steady<f64> {
        let served = time / self.mean;
        let spare = f64::from(self.servers) - self.offered_traffic();
        // P(T > t) = e^-y + C (e^-y - e^-(c-a) y) / (c - a - 1),  y = t / E[S]; the fraction is y e^-y at c - a = 1
        let faster = spare - 1.0;
        let difference = if faster == 0.0 {
            served * (-served).exp()
        } else {
            let slower = served * spare.min(1.0);
            (-slower).exp() * -(-faster.abs() * served).exp_m1() / faster.abs()
        };
        self.wait_probability().map(|waits| (-served).exp() + waits * difference)
    }
}

impl TextbookQueue for MmC {
    const PARAMETERS: &'static [Parameter] = &[RATE, MEAN, SERVERS];
    const EXCEEDS: Option<Exceeds<Self>> =
        Some(|queue, t| (queue.wait_exceeds(t), queue.response_exceeds(t)));

    fn of(Station { values, .. }: &Station) -> Self {
        Self { rate: values.get(RATE), mean: values.get(MEAN), servers: values.get(SERVERS) as u32 }
    }

    fn answers(&self, _: &Station) -> Vec<CustomersAnswer> {
        let offered = Demand { rate: self.rate, mean: self.mean, scv: Some(1.0), servers: self.servers };
        let answer = offered.queueing(self.measures()).spread(self.wait_second_moment());
        vec![CustomersAnswer { wait_probability: self.wait_probability().reached(), ..answer }]
    }

    fn all_busy(&self, _load: f64) -> f64 {
        self.wait_probability().reached().unwrap_or(1.0)
    }

    fn saturated(_class: &CustomersAnswer, load: &str) -> String {
        format!("saturated: {load} of the servers' time is asked for")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queueing::chain::counts;
    use crate::queueing::{Mm1, assert_near};

    fn waits(traffic: f64, servers: u32) -> f64 {
        MmC { rate: traffic, mean: 1.0, servers }.wait_probability().reached().unwrap()
    }

    /// Erlang's C as tables have it, and in fractions.
    #[test]
    fn it_has_the_tabulated_values() {
        for (servers, traffic, tabulated) in [(5, 4.0, 0.5541), (10, 8.0, 0.4092), (2, 1.0, 0.3333)] {
            assert!((waits(traffic, servers) - tabulated).abs() < 5e-5, "{servers} servers");
        }
        assert_near(waits(2.0, 3), 4.0 / 9.0, 1e-15);
    }

    #[test]
    fn one_server_is_m_m_1() {
        let (many, one) = (MmC { rate: 0.02, mean: 32.0, servers: 1 }, Mm1 { rate: 0.02, mean: 32.0 });
        let (a, b) = (many.measures().reached().unwrap(), one.measures().reached().unwrap());
        assert_near(a.mean_wait, b.mean_wait, 1e-14);
        assert_near(a.utilization, b.utilization, 1e-14);
        let seconds = [many.wait_second_moment(), one.wait_second_moment()].map(|x| x.reached().unwrap());
        assert_near(seconds[0], seconds[1], 1e-13);
        for time in [0.0, 1.0, 50.0, 1e5] {
            let pair = [many.response_exceeds(time), one.response_exceeds(time)];
            let [a, b] = pair.map(|late| late.reached().unwrap());
            assert_near(a, b, 1e-12);
        }
    }

    #[test]
    fn it_is_the_markov_chain() {
        let station = MmC { rate: 0.9, mean: 1.0, servers: 3 };
        let chain = counts(&[12], |_, up, at| if up { 0.9 } else { at[0].min(3) as f64 });
        let answer = station.measures().reached().unwrap();
        assert_near(answer.mean_number_in_system, chain.means[0], 1e-5);
    }

    #[test]
    fn the_mean_response_is_that_of_its_distribution() {
        // c - a below, at and above 1
        for (rate, servers) in [(2.5, 3), (2.0, 3), (1.999_999_99, 3), (1.0, 3)] {
            let station = MmC { rate, mean: 1.0, servers };
            let response = |index: i32| station.response_exceeds((f64::from(index) + 0.5) * 0.01);
            let mean: f64 = (0..6_000).map(|index| 0.01 * response(index).reached().unwrap()).sum();
            assert_near(mean, station.measures().reached().unwrap().mean_response, 1e-4);
        }
    }

    #[test]
    fn a_million_servers_are_no_trouble() {
        // square-root staffing: c = a + sqrt(a) has C = 1 / (1 + Φ(1) / φ(1)) = 0.2234
        assert!((waits(999_000.5, 1_000_000) - 0.2234).abs() < 2e-3);
        let answer = MmC { rate: 1e6, mean: 1.0, servers: 1_000_000 }.measures();
        assert_eq!(answer, Steady::Saturated { load: 1.0 });
        assert_eq!(MmC { rate: 0.0, mean: 1.0, servers: 4 }.measures().reached().unwrap().mean_wait, 0.0);
    }
}
