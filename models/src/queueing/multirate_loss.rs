#![doc = include_str!("multirate_loss.md")]
//!
//! ```
//! use flitwise_models::queueing::{Call, MultirateLoss};
//!
//! // two circuits: calls that take one, and calls that take both
//! let call = |width| Call { rate: 1.0, mean: 1.0, width };
//! let answers = MultirateLoss { servers: 2, classes: vec![call(1), call(2)] }.measures();
//! let blocked: Vec<String> = answers.iter().map(|one| format!("{:.4}", one.blocking_probability)).collect();
//! assert_eq!(blocked, ["0.4286", "0.7143"]);
//! ```

use super::*;

const WIDTH: Parameter = Parameter {
    key: "width",
    field: "width_servers",
    need: Need::Default(1.0),
    domain: Domain::Count { most: 1_000_000, of: "servers" },
    meaning: "Servers that a customer of a class takes at once",
};

/// A class of calls: Poisson arrivals, any holding time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Call {
    /// `λ` \[1/cycle\].
    pub rate: f64,
    /// `E[S]` \[cycles\].
    pub mean: f64,
    /// `b`: servers that a call takes at once; at least 1.
    pub width: u32,
}

/// `servers` servers without a queue; a customer takes several of them at once, or is lost.
#[derive(Clone, Debug, PartialEq)]
pub struct MultirateLoss {
    /// `C`; at least 1.
    pub servers: u32,
    /// In any order.
    pub classes: Vec<Call>,
}

/// Where a sum of weights is taken down, before it overflows.
const LARGE: f64 = 1e250;

impl MultirateLoss {
    /// `Σ λ_k E[S_k] b_k / C`: share of the servers' time that all who come ask for.
    pub fn load(&self) -> f64 {
        self.classes.iter().map(|class| class.rate * class.mean * f64::from(class.width)).sum::<f64>()
            / f64::from(self.servers)
    }

    /// `q(0..=C)`: probabilities that so many servers are busy.
    pub fn busy_probabilities(&self) -> Vec<f64> {
        let mut weights = vec![1.0];
        let mut sum = 1.0;
        for busy in 1..=self.servers as usize {
            // j q(j) = Σ_k a_k b_k q(j - b_k)
            let of_class = |class: &Call| {
                let before = busy.checked_sub(class.width as usize)?;
                Some(class.rate * class.mean * f64::from(class.width) * weights[before])
            };
            let next = self.classes.iter().filter_map(of_class).sum::<f64>() / busy as f64;
            weights.push(next);
            sum += next;
            if sum > LARGE {
                weights.iter_mut().for_each(|weight| *weight /= sum);
                sum = 1.0;
            }
        }
        weights.iter_mut().for_each(|weight| *weight /= sum);
        weights
    }

    /// Long-run means of each class.
    pub fn measures(&self) -> Vec<Measures> {
        let busy = self.busy_probabilities();
        let of_class = |class: &Call| {
            // who needs b servers finds them up to C - b busy ones
            let room = (self.servers as usize + 1).saturating_sub(class.width as usize);
            // an empty sum of floating-point numbers is -0
            let let_in = busy[..room].iter().fold(0.0, |sum, one| sum + one);
            let throughput = class.rate * let_in;
            let calls = throughput * class.mean;
            Measures {
                arrival_rate: class.rate,
                throughput,
                utilization: calls * f64::from(class.width) / f64::from(self.servers),
                blocking_probability: busy[room..].iter().sum::<f64>().min(1.0),
                mean_wait: 0.0,
                mean_response: class.mean,
                mean_number_waiting: 0.0,
                mean_number_in_system: calls,
            }
        };
        self.classes.iter().map(of_class).collect()
    }
}

impl TextbookQueue for MultirateLoss {
    const PARAMETERS: &'static [Parameter] = &[SERVERS];
    const CLASS_PARAMETERS: &'static [Parameter] = &[RATE, MEAN, WIDTH];

    fn of(station: &Station) -> Self {
        let call = |class: &Values| Call {
            rate: class.get(RATE),
            mean: class.get(MEAN),
            width: class.get(WIDTH) as u32,
        };
        Self {
            servers: station.values.get(SERVERS) as u32,
            classes: station.classes.iter().map(call).collect(),
        }
    }

    fn answers(&self, _: &Station) -> Vec<CustomersAnswer> {
        let load = self.load();
        let answer = |(class, means): (&Call, Measures)| {
            let Call { rate, mean, .. } = *class;
            let answer = Demand { rate, mean, scv: None, servers: self.servers }.lossy(means);
            CustomersAnswer { load, ..answer }
        };
        self.classes.iter().zip(self.measures()).map(answer).collect()
    }

    fn all_busy(&self, _load: f64) -> f64 {
        self.busy_probabilities().last().copied().unwrap_or(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queueing::chain::counts;
    use crate::queueing::{ErlangB, assert_near};

    fn blocked(servers: u32, classes: &[(f64, u32)]) -> Vec<f64> {
        let classes =
            classes.iter().map(|(traffic, width)| Call { rate: *traffic, mean: 1.0, width: *width });
        let answers = MultirateLoss { servers, classes: classes.collect() }.measures();
        answers.iter().map(|answer| answer.blocking_probability).collect()
    }

    /// `C = 2`, `a = 1, 1`, `b = 1, 2`: `1, 1, 3/2`.
    #[test]
    fn small_cases_have_their_fractions() {
        let found = blocked(2, &[(1.0, 1), (1.0, 2)]);
        assert_near(found[0], 1.5 / 3.5, 1e-15);
        assert_near(found[1], 2.5 / 3.5, 1e-15);
        assert_eq!(blocked(2, &[(1.0, 3)]), [1.0]);
        let too_wide = MultirateLoss { servers: 2, classes: vec![Call { rate: 1.0, mean: 1.0, width: 3 }] };
        assert!(too_wide.measures()[0].utilization.is_sign_positive());
        assert_eq!(blocked(2, &[(0.0, 1)]), [0.0]);
    }

    #[test]
    fn calls_of_one_server_are_erlang_b() {
        for (traffic, servers) in [(0.3, 1), (4.461, 10), (2e3, 1_000), (50.0, 100)] {
            let erlang = ErlangB { rate: traffic, mean: 1.0, servers }.blocking_probability();
            for found in blocked(servers, &[(0.25 * traffic, 1), (0.75 * traffic, 1)]) {
                assert_near(found, erlang, 1e-10);
            }
        }
    }

    /// Widths in proportion leave the answer as it is.
    #[test]
    fn wider_servers_are_fewer() {
        let wide = blocked(30, &[(2.0, 3), (1.0, 6)]);
        for (wide, narrow) in wide.into_iter().zip(blocked(10, &[(2.0, 1), (1.0, 2)])) {
            assert_near(wide, narrow, 1e-13);
        }
    }

    /// The chain of both counts, where nothing else fits.
    #[test]
    fn it_is_the_markov_chain() {
        let (traffic, widths, servers) = ([1.2, 0.7], [1, 2], 4);
        // what is beyond the servers comes so seldom that it does not count
        let chain = counts(&[4, 2], |class, up, at| {
            let busy = at[0] * widths[0] + at[1] * widths[1];
            match up {
                true if busy + widths[class] > servers => 1e-12,
                true => traffic[class],
                false => at[class] as f64,
            }
        });
        let classes = [0, 1].map(|k| Call { rate: traffic[k], mean: 1.0, width: widths[k] as u32 });
        let answers = MultirateLoss { servers: 4, classes: classes.to_vec() }.measures();
        for (answer, mean) in answers.iter().zip(chain.means) {
            assert_near(answer.mean_number_in_system, mean, 1e-8);
        }
    }

    #[test]
    fn far_overload_and_many_servers_are_no_trouble() {
        assert_near(blocked(100_000, &[(2e5, 1)])[0], 0.5, 1e-4);
        let found = blocked(1_000, &[(1e6, 1), (1e6, 7)]);
        assert!(found.iter().all(|one| (0.99..=1.0).contains(one)) && found[1] > found[0], "{found:?}");
        let station = MultirateLoss { servers: 8, classes: vec![Call { rate: 2.0, mean: 1.0, width: 2 }] };
        assert_near(station.busy_probabilities().iter().sum(), 1.0, 1e-14);
    }
}
