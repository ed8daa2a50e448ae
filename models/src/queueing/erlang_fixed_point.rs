#![doc = include_str!("erlang_fixed_point.md")]
//!
//! ```
//! use flitwise_models::queueing::ErlangFixedPoint;
//!
//! // three links of ten circuits, each offered six calls: losses thin what the next link is offered
//! let path = ErlangFixedPoint { rate: 0.06, mean: 100.0, servers: 10, links: 3 };
//! let answer = path.measures();
//! assert_eq!(format!("{:.4}", answer.blocking_probability), "0.0938");
//! ```

use super::*;
use crate::fixed_point::root_of_increasing;

const LINKS: Parameter = Parameter {
    key: "links",
    field: "links",
    need: Need::Required { example: 4.0 },
    domain: Domain::Count { most: 1_000_000, of: "links" },
    meaning: "Links that a call takes, a circuit on each",
};

/// Calls over paths of `links` links of `servers` circuits each, all links alike.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ErlangFixedPoint {
    /// `λ`: calls for paths over a link \[1/cycle\].
    pub rate: f64,
    /// `E[S]` \[cycles\].
    pub mean: f64,
    /// `C`; at least 1.
    pub servers: u32,
    /// `n`; at least 1.
    pub links: u32,
}

impl ErlangFixedPoint {
    /// `a` of a link with this `ln(1 - B)`, and `B` and `1 - B` that follow.
    fn link(&self, log_free: f64) -> (f64, (f64, f64)) {
        let rate = self.rate * ((f64::from(self.links) - 1.0) * log_free).exp();
        let station = ErlangB { rate, mean: self.mean, servers: self.servers };
        (station.offered_traffic(), station.lost_and_let_in())
    }

    /// `B` at the one fixed point, and `ln(1 - B)`, each with all its digits.
    fn fixed_point(&self) -> (f64, f64) {
        let others = f64::from(self.links) - 1.0;
        let log = |(lost, let_in): (f64, f64)| if lost < 0.5 { (-lost).ln_1p() } else { let_in.ln() };
        // 1 - B = 1 - ErlangB(a (1 - B)^(n-1), C), in logarithms: the left side rises, the right side falls
        let root = root_of_increasing(log(self.link(0.0).1), 0.0, |log_free| {
            let (traffic, (lost, let_in)) = self.link(log_free);
            // a dB/da = B (C - a (1 - B))
            let slope = lost * (f64::from(self.servers) - traffic * let_in) / let_in;
            (log_free - log((lost, let_in)), 1.0 + others * slope.max(0.0))
        });
        let (_, link) = self.link(root);
        (link.0, log(link))
    }

    /// `B`: probability that all circuits of a link are taken.
    pub fn link_blocking(&self) -> f64 {
        self.fixed_point().0
    }

    /// Long-run means of the calls; utilization is that of a circuit.
    pub fn measures(&self) -> Measures {
        // 1 - (1 - B)^n
        let log_passes = f64::from(self.links) * self.fixed_point().1;
        let throughput = self.rate * log_passes.exp();
        let calls = throughput * self.mean;
        Measures {
            arrival_rate: self.rate,
            throughput,
            utilization: calls / f64::from(self.servers),
            blocking_probability: -log_passes.exp_m1(),
            mean_wait: 0.0,
            mean_response: self.mean,
            mean_number_waiting: 0.0,
            mean_number_in_system: calls,
        }
    }
}

impl TextbookQueue for ErlangFixedPoint {
    const PARAMETERS: &'static [Parameter] = &[RATE, MEAN, SERVERS, LINKS];

    fn of(Station { values, .. }: &Station) -> Self {
        Self {
            rate: values.get(RATE),
            mean: values.get(MEAN),
            servers: values.get(SERVERS) as u32,
            links: values.get(LINKS) as u32,
        }
    }

    fn answers(&self, _: &Station) -> Vec<CustomersAnswer> {
        let offered = Demand { rate: self.rate, mean: self.mean, scv: None, servers: self.servers };
        vec![offered.lossy(self.measures())]
    }

    fn all_busy(&self, _load: f64) -> f64 {
        self.link_blocking()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queueing::assert_near;

    fn path(traffic: f64, servers: u32, links: u32) -> ErlangFixedPoint {
        ErlangFixedPoint { rate: traffic, mean: 1.0, servers, links }
    }

    #[test]
    fn one_link_is_erlang_b() {
        for (traffic, servers) in [(0.01, 3), (5.0, 7), (1e6, 2)] {
            let erlang = ErlangB { rate: traffic, mean: 1.0, servers };
            assert_near(path(traffic, servers, 1).link_blocking(), erlang.blocking_probability(), 1e-12);
        }
    }

    /// `C = 1`, two links: `p = 1 / (1 + a p)`, at `a = 2` the half.
    #[test]
    fn small_cases_have_their_fractions() {
        assert_near(path(2.0, 1, 2).link_blocking(), 0.5, 1e-12);
        assert_near(path(2.0, 1, 2).measures().blocking_probability, 0.75, 1e-12);
        // p = 1 / (1 + a p²): at a = 4 the half
        assert_near(path(4.0, 1, 3).link_blocking(), 0.5, 1e-12);
        assert_eq!(path(0.0, 4, 3).measures().blocking_probability, 0.0);
    }

    #[test]
    fn the_point_is_fixed_at_any_load() {
        for (traffic, servers, links) in [(10.0, 20, 5), (30.0, 20, 5), (1e12, 4, 9), (300.0, 200, 1_000_000)]
        {
            let path = path(traffic, servers, links);
            let (_, passes) = path.fixed_point();
            let (_, (_, let_in)) = path.link(passes);
            assert_near(let_in.ln(), passes, 1e-9);
        }
    }
}
