//! One link that sends, flit by flit, the message with the least stamp: mean response of its messages.
//!
//! Flit `j` of a message that comes at `t` has the stamp `t + (j + 1) v`, `v` its Vtick. Of a message that comes
//! `τ` after one of Vtick `u`, those flits go before the last one of the other whose stamps are below `M u`:
//!
//! ```text
//! g(τ) = min(1, max(0, (u - τ) / v))      share of a message, time in messages of M flits, Vtick in cycles per flit
//! ```
//!
//! With long and equal Vticks that is all of it, least attained service; with short ones nothing, first come, first
//! served. Where Vticks differ, such as those of large and of small frames, a message of a large one sees others as
//! if they were shorter. Its response is that of least attained service at its own length (Schrage, Management
//! Science 13 (1967) 466-474) with these lengths, and with later messages that count for less the longer it lasts:
//!
//! ```text
//! R_u = 1 + W_u + x E_v ∫ P(R_u > τ) g(τ) dτ
//! W_u = x E[s²] / (2 (1 - x E[s])),   s = min(1, (u + R_u / 2) / v)
//! ```
//!
//! `W_u` is the work that it finds in front of it; what it finds is on average as old as half a response. `R_u` is
//! taken as one message and an exponential time.
//!
//! How good it is. Against a simulation of one link, messages of 40 flits, loads of .3, .5 and .65: 2 % for equal
//! Vticks of 1 to 20 cycles, 3 % for 100; 4 % for the Vticks of video, of mean 6 to 130.

/// Vticks of the messages of a class, in groups of as many messages each \[cycles/flit\].
#[derive(Clone, Debug, PartialEq)]
pub struct Vticks(Vec<f64>);

/// Groups of messages by their Vticks.
const GROUPS: usize = 8;
/// As long as any message, and longer than no time at all.
const LONGEST: f64 = 1e12;
const SHORTEST: f64 = 1e-9;
/// Steps of the iteration at most, and when it has come to rest.
const STEPS: u32 = 60;
const AT_REST: f64 = 1e-10;

impl Vticks {
    /// So long that the message with the fewest flits gone goes first.
    pub fn long() -> Self {
        Self::equal(LONGEST)
    }

    /// One of all messages.
    pub fn equal(vtick: f64) -> Self {
        Self(vec![vtick.clamp(SHORTEST, LONGEST)])
    }

    /// Of Vticks with the weights of their messages: means of groups, as many messages in each.
    pub fn weighed(mut vticks: Vec<(f64, f64)>) -> Self {
        vticks.sort_by(|one, other| one.0.total_cmp(&other.0));
        let all: f64 = vticks.iter().map(|(_, weight)| weight).sum();
        let [Some(first), Some(last)] = [vticks.first(), vticks.last()] else { return Self::long() };
        if last.0 - first.0 <= AT_REST * last.0 || !all.is_finite() || all <= 0.0 {
            return Self::equal(first.0);
        }
        let size = all / GROUPS as f64;
        let mut groups = vec![0.0; GROUPS];
        let mut before = 0.0;
        for (vtick, weight) in vticks {
            for (at, group) in groups.iter_mut().enumerate() {
                let (from, to) = (at as f64 * size, (at + 1) as f64 * size);
                let within = (before + weight).min(to) - f64::max(before, from);
                *group += vtick * within.max(0.0) / size;
            }
            before += weight;
        }
        groups.iter_mut().for_each(|group| *group = group.clamp(SHORTEST, LONGEST));
        Self(groups)
    }

    /// Mean response over service on a link of load `x < 1`, where the work that a message finds is `work` times that
    /// of Poisson messages.
    ///
    /// ```
    /// use flitwise_models::router_nic::Vticks;
    /// use flitwise_models::router_nic::real_time::{first_come, least_attained};
    ///
    /// assert!((Vticks::long().response(0.5, 1.0) - least_attained(0.5)).abs() < 1e-6);
    /// assert!((Vticks::equal(0.0).response(0.5, 1.0) - first_come(0.5)).abs() < 1e-6);
    /// ```
    pub fn response(&self, load: f64, work: f64) -> f64 {
        self.0.iter().map(|own| self.response_of(*own, load, work)).sum::<f64>() / self.0.len() as f64
    }

    /// How far the age of messages decides who goes first, on a link of load `x < 1`: 1 where it is first come, first
    /// served, 0 where Vticks are long.
    pub fn in_order(&self, load: f64) -> f64 {
        let long = Self(self.0.iter().map(|vtick| vtick / self.0[0] * LONGEST).collect()).response(load, 1.0);
        let served = 1.0 + load / (2.0 * (1.0 - load));
        let span = long - served;
        if span > AT_REST * long { ((long - self.response(load, 1.0)) / span).clamp(0.0, 1.0) } else { 0.0 }
    }

    /// `R_u`.
    fn response_of(&self, own: f64, load: f64, work: f64) -> f64 {
        let next = |response: f64| self.next(own, load, work, response);
        let mut response = 1.0;
        for _ in 0..STEPS {
            let one = next(response);
            if (one - response).abs() <= AT_REST * response {
                break;
            }
            let two = next(one);
            // Steffensen's step, where it leads on
            let slope = (two - one) / (one - response);
            let step = (one - response) / (1.0 - slope);
            response = if slope < 1.0 { (response + step).max(1.0) } else { two };
        }
        response
    }

    /// The right side of the equation of `R_u`.
    fn next(&self, own: f64, load: f64, work: f64, response: f64) -> f64 {
        let count = self.0.len() as f64;
        let (mut first, mut second, mut later) = (0.0, 0.0, 0.0);
        let all = until(own, response);
        for other in &self.0 {
            let seen = ((own + response / 2.0) / other).min(1.0);
            first += seen / count;
            second += seen * seen / count;
            // ∫ P(R_u > τ) g(τ) dτ,   g = (max(0, u - τ) - max(0, u - v - τ)) / v
            later += (all - until(own - other, response)) / other / count;
        }
        // 1 + x E[s²] / (2 (1 - x E[s])) + x E_v ∫ P(R_u > τ) g(τ) dτ
        1.0 + work * load * second / (2.0 * (1.0 - load * first)) + load * later
    }
}

/// `∫_0^end P(R > τ) (end - τ) dτ` of a response of one and an exponential time, of this mean together.
fn until(end: f64, response: f64) -> f64 {
    let (rest, mean) = ((end - 1.0).max(0.0), response - 1.0);
    if end <= 1.0 {
        return end.max(0.0).powi(2) / 2.0;
    }
    // 1/2 + l + m l - m² (1 - exp(-l / m)),   l = end - 1
    let exponential = if mean > 0.0 { mean * rest + mean * mean * (-rest / mean).exp_m1() } else { 0.0 };
    0.5 + rest + exponential
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::router_nic::assert_near;
    use crate::router_nic::real_time::{first_come, least_attained};

    /// One link by simulation, flit by flit, of 15,000 messages of 40 flits: response over service.
    #[test]
    fn equal_vticks_are_as_near_to_a_simulated_link_as_said() {
        for (load, vtick, simulated) in [
            (0.3, 1.0, 1.377),
            (0.3, 5.0, 1.608),
            (0.3, 100.0, 1.747),
            (0.5, 1.0, 1.769),
            (0.5, 2.5, 2.046),
            (0.5, 20.0, 2.710),
            (0.65, 1.0, 2.274),
            (0.65, 20.0, 4.172),
            (0.65, 100.0, 4.949),
        ] {
            assert_near(Vticks::equal(vtick).response(load, 1.0), simulated, 0.035);
        }
    }

    /// The same with Vticks of messages of video, which are as the frames are long, of these means.
    #[test]
    fn vticks_that_differ_are_as_near() {
        let messages = [39.0, 52.0, 67.0, 79.0, 91.0, 105.0, 120.0, 142.0, 177.0];
        let mean = messages.iter().map(|count| 1.0 / count).sum::<f64>() / messages.len() as f64;
        for (load, scale, simulated) in [
            (0.3, 6.0, 1.513),
            (0.3, 130.0, 1.542),
            (0.5, 6.0, 2.159),
            (0.5, 130.0, 2.300),
            (0.656, 6.0, 3.073),
            (0.656, 130.0, 3.569),
        ] {
            let vticks = messages.map(|count: f64| (scale / count / mean, 1.0));
            assert_near(Vticks::weighed(vticks.to_vec()).response(load, 1.0), simulated, 0.06);
        }
    }

    #[test]
    fn responses_lie_between_first_come_and_least_attained() {
        for load in [0.0, 0.2, 0.6, 0.9, 0.99] {
            let responses =
                [0.0, 0.5, 2.0, 10.0, 1e3, 1e9].map(|vtick| Vticks::equal(vtick).response(load, 1.0));
            assert!(
                responses.is_sorted() && responses.iter().all(|response| response.is_finite()),
                "{responses:?}"
            );
            assert_near(responses[0], first_come(load), 1e-6);
            assert_near(Vticks::long().response(load, 1.0), least_attained(load), 1e-6);
        }
        assert_eq!(Vticks::weighed(Vec::new()), Vticks::long());
        assert_eq!(Vticks::weighed(vec![(3.0, 1.0), (3.0, 2.0)]), Vticks::equal(3.0));
    }
}
