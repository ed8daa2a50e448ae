#![doc = include_str!("engset.md")]
//!
//! ```
//! use flitwise_models::queueing::Engset;
//!
//! // two sources and one server: a request finds it taken if the other source has it
//! let answer = Engset { rate: 0.5, mean: 1.0, servers: 1, sources: 2 }.measures();
//! assert!((answer.blocking_probability - 1.0 / 3.0).abs() < 1e-15);
//! ```

use super::*;

const RATE_PER_IDLE_SOURCE: Parameter = Parameter {
    field: "rate_per_idle_source_per_cycle",
    domain: Domain::Rate("requests of each idle source"),
    ..RATE
};
const SOURCES: Parameter = Parameter {
    key: "sources",
    field: "sources",
    need: Need::Required { example: 10.0 },
    domain: Domain::Count { most: 1_000_000_000, of: "sources" },
    meaning: "Number of sources",
};

/// `servers` servers for `sources` sources, each of which asks again some time after it has been served or turned
/// away.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Engset {
    /// `γ`: rate at which a source asks while it is not being served \[1/cycle\].
    pub rate: f64,
    /// `E[S]` \[cycles\].
    pub mean: f64,
    /// `c`; at least 1.
    pub servers: u32,
    /// `N`; at least 1.
    pub sources: u64,
}

impl Engset {
    /// `P_b`: probability that a request finds all servers busy (call congestion). It finds what the other
    /// sources leave.
    pub fn blocking_probability(&self) -> f64 {
        self.all_busy(self.sources - 1).0
    }

    /// Share of the time in which all servers are busy (time congestion).
    pub fn all_busy_probability(&self) -> f64 {
        self.all_busy(self.sources).0
    }

    /// `E(c, N, b) = C(N, c) b^c / Σ_{n<=c} C(N, n) b^n` with `b = γ E[S]`, and `1 - E`, each with all its digits.
    fn all_busy(&self, sources: u64) -> (f64, f64) {
        let traffic = self.rate * self.mean;
        // E(0) = 1; E(n) = (N - n + 1) b E(n-1) / (n + (N - n + 1) b E(n-1))
        let next = |(busy, _): (f64, f64), servers: u32| {
            let idle = (sources + 1).saturating_sub(u64::from(servers)) as f64;
            let (up, down) = (idle * traffic * busy, f64::from(servers));
            (up / (down + up), down / (down + up))
        };
        (1..=self.servers).fold((1.0, 0.0), next)
    }

    /// Its long-run means.
    pub fn measures(&self) -> Measures {
        let (blocking_probability, let_in) = self.all_busy(self.sources - 1);
        // a source is served for the share b (1 - P_b) / (1 + b (1 - P_b)) of its time
        let accepted = self.rate * self.mean * let_in;
        let served = accepted / (1.0 + accepted);
        let busy = self.sources as f64 * served;
        Measures {
            arrival_rate: self.rate * self.sources as f64 / (1.0 + accepted),
            throughput: busy / self.mean,
            utilization: busy / f64::from(self.servers),
            blocking_probability,
            mean_wait: 0.0,
            mean_response: self.mean,
            mean_number_waiting: 0.0,
            mean_number_in_system: busy,
        }
    }
}

impl TextbookQueue for Engset {
    const PARAMETERS: &'static [Parameter] = &[RATE_PER_IDLE_SOURCE, MEAN, SERVERS, SOURCES];

    fn of(Station { values, .. }: &Station) -> Self {
        Self {
            rate: values.get(RATE_PER_IDLE_SOURCE),
            mean: values.get(MEAN),
            servers: values.get(SERVERS) as u32,
            sources: values.get(SOURCES) as u64,
        }
    }

    fn answers(&self, _: &Station) -> Vec<CustomersAnswer> {
        let measures = self.measures();
        let offered =
            Demand { rate: measures.arrival_rate, mean: self.mean, scv: None, servers: self.servers };
        vec![offered.lossy(measures)]
    }

    fn all_busy(&self, _load: f64) -> f64 {
        self.all_busy_probability()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queueing::chain::counts;
    use crate::queueing::{ErlangB, assert_near};

    /// `N = 4`, `c = 2`, `b = 1/3`: `1, 4/3, 6/9` for time, `1, 1, 1/3` for requests.
    #[test]
    fn small_cases_have_their_fractions() {
        let station = Engset { rate: 1.0 / 3.0, mean: 1.0, servers: 2, sources: 4 };
        assert_near(station.all_busy_probability(), 2.0 / 9.0, 1e-14);
        let answer = station.measures();
        assert_near(answer.blocking_probability, 1.0 / 7.0, 1e-14);
        // (4/3 + 2 * 2/3) / 3
        assert_near(answer.mean_number_in_system, 8.0 / 9.0, 1e-14);
        assert_near(answer.throughput, answer.arrival_rate * (1.0 - answer.blocking_probability), 1e-14);
    }

    #[test]
    fn it_is_the_markov_chain() {
        for (servers, sources) in [(3, 5), (6, 6), (4, 30)] {
            let rate = |up, at: &[usize]| if up { 0.4 * (sources - at[0]) as f64 } else { at[0] as f64 };
            let chain = counts(&[servers], |_, up, at| rate(up, at));
            let station = Engset { rate: 0.4, mean: 1.0, servers: servers as u32, sources: sources as u64 };
            assert_near(station.measures().mean_number_in_system, chain.means[0], 1e-10);
        }
    }

    #[test]
    fn with_a_server_for_every_source_nobody_is_lost() {
        let station = Engset { rate: 0.4, mean: 5.0, servers: 6, sources: 6 };
        assert_eq!(station.blocking_probability(), 0.0);
        // all of them: (b / (1 + b))^6
        assert_near(station.all_busy_probability(), (2.0f64 / 3.0).powi(6), 1e-14);
        assert_eq!(Engset { servers: 9, ..station }.all_busy_probability(), 0.0);
    }

    #[test]
    fn many_sources_are_a_poisson_stream() {
        let sources = 1_000_000_000;
        let station = Engset { rate: 8e-9, mean: 1.0, servers: 10, sources };
        let poisson = ErlangB { rate: 8.0, mean: 1.0, servers: 10 };
        assert_near(station.blocking_probability(), poisson.blocking_probability(), 1e-6);
        assert_near(station.measures().mean_number_in_system, poisson.measures().mean_number_in_system, 1e-6);
    }
}
