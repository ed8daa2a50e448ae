#![doc = include_str!("erlang_b.md")]
//!
//! ```
//! use flitwise_models::queueing::ErlangB;
//!
//! let answer = ErlangB { rate: 1.0, mean: 2.0, servers: 2 }.measures();
//! assert!((answer.blocking_probability - 0.4).abs() < 1e-15);
//! ```

use super::*;

/// `servers` servers, Poisson arrivals, any service; who finds all of them busy is lost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ErlangB {
    /// `λ` \[1/cycle\].
    pub rate: f64,
    /// `E[S]` \[cycles\].
    pub mean: f64,
    /// `c`; at least 1.
    pub servers: u32,
}

impl ErlangB {
    /// `a = λ E[S]`: mean number of servers that all who come would keep busy.
    pub fn offered_traffic(&self) -> f64 {
        self.rate * self.mean
    }

    /// `B(c, a) = (a^c / c!) / Σ_{n<=c} a^n / n!`.
    pub fn blocking_probability(&self) -> f64 {
        self.lost_and_let_in().0
    }

    /// `1 - B` with 1, 2, .. `servers` servers, with all its digits.
    pub fn let_in(&self) -> impl Iterator<Item = f64> {
        let (traffic, mut lost) = (self.offered_traffic(), 1.0);
        (1..=self.servers).map(move |servers| {
            let (up, down) = (traffic * lost, f64::from(servers));
            lost = up / (down + up);
            down / (down + up)
        })
    }

    /// `B` and `1 - B`, each with all its digits.
    pub(super) fn lost_and_let_in(&self) -> (f64, f64) {
        let traffic = self.offered_traffic();
        // B(0) = 1; B(n) = a B(n-1) / (n + a B(n-1)), 1 - B(n) = n / (n + a B(n-1))
        let next = |(lost, _): (f64, f64), servers: u32| {
            let (up, down) = (traffic * lost, f64::from(servers));
            (up / (down + up), down / (down + up))
        };
        (1..=self.servers).fold((1.0, 0.0), next)
    }

    /// Its long-run means.
    pub fn measures(&self) -> Measures {
        let (blocking_probability, let_in) = self.lost_and_let_in();
        let throughput = self.rate * let_in;
        let busy = throughput * self.mean;
        Measures {
            arrival_rate: self.rate,
            throughput,
            utilization: busy / f64::from(self.servers),
            blocking_probability,
            mean_wait: 0.0,
            mean_response: self.mean,
            mean_number_waiting: 0.0,
            mean_number_in_system: busy,
        }
    }
}

impl TextbookQueue for ErlangB {
    const PARAMETERS: &'static [Parameter] = &[RATE, MEAN, SERVERS];

    fn of(Station { values, .. }: &Station) -> Self {
        Self { rate: values.get(RATE), mean: values.get(MEAN), servers: values.get(SERVERS) as u32 }
    }

    fn answers(&self, _: &Station) -> Vec<CustomersAnswer> {
        let offered = Demand { rate: self.rate, mean: self.mean, scv: None, servers: self.servers };
        vec![offered.lossy(self.measures())]
    }

    fn all_busy(&self, _load: f64) -> f64 {
        self.blocking_probability()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queueing::assert_near;
    use crate::queueing::chain::counts;

    fn blocking(traffic: f64, servers: u32) -> f64 {
        ErlangB { rate: traffic, mean: 1.0, servers }.blocking_probability()
    }

    /// Traffic at which 1 % and 0.1 % are lost, as every telephone engineer's table has it.
    #[test]
    fn it_has_the_tabulated_values() {
        let one_percent =
            [(1, 0.0101), (2, 0.153), (5, 1.361), (10, 4.461), (20, 12.03), (50, 37.90), (100, 84.06)];
        for (servers, traffic) in one_percent {
            assert_near(blocking(traffic, servers), 0.01, 0.005);
        }
        for (servers, traffic) in [(5, 0.762), (10, 3.092), (20, 9.411), (50, 32.51), (100, 75.24)] {
            assert_near(blocking(traffic, servers), 0.001, 0.005);
        }
    }

    #[test]
    fn small_cases_have_their_fractions() {
        assert_near(blocking(1.0, 1), 0.5, 1e-15);
        assert_near(blocking(1.0, 2), 0.2, 1e-15);
        assert_near(blocking(2.0, 3), 4.0 / 19.0, 1e-15);
        assert_eq!(blocking(0.0, 7), 0.0);
        let let_in: Vec<f64> = ErlangB { rate: 1.0, mean: 1.0, servers: 2 }.let_in().collect();
        assert_eq!(let_in, [0.5, 0.8]);
    }

    #[test]
    fn it_is_the_markov_chain() {
        let chain = counts(&[7], |_, up, at| if up { 5.0 } else { at[0] as f64 });
        let answer = ErlangB { rate: 5.0, mean: 1.0, servers: 7 }.measures();
        assert_near(answer.mean_number_in_system, chain.means[0], 1e-10);
    }

    /// Many servers: far overload loses the excess, `B -> 1 - c / a`; at `a = c` it is `sqrt(2 / (π c))`.
    #[test]
    fn a_million_servers_are_no_trouble() {
        assert_near(blocking(2e6, 1_000_000), 0.5, 1e-5);
        let critical = blocking(1e6, 1_000_000);
        assert_near(critical, (2.0 / (std::f64::consts::PI * 1e6)).sqrt(), 1e-3);
        assert_eq!(blocking(1e5, 1_000_000), 0.0);
    }
}
