//! Neighbouring channels of a path together: connections that hold both make them full at the same time.

use std::collections::HashMap;

use super::{LossNetwork, MOST_TRAFFIC, Rejections, if_converged, lets_in, settle};
use crate::fixed_point::Report;

/// Pairs of channels that follow each other on a path.
struct Pairs {
    /// The two channels of each.
    ends: Vec<(usize, usize)>,
    /// The pairs along each route.
    of_route: Vec<Vec<usize>>,
}

impl Pairs {
    fn of(network: &LossNetwork) -> Self {
        let (mut known, mut ends) = (HashMap::new(), Vec::new());
        let mut pair = |two: &[usize]| {
            *known.entry((two[0], two[1])).or_insert_with(|| {
                ends.push((two[0], two[1]));
                ends.len() - 1
            })
        };
        let of_route = network.routes.iter().map(|route| route.channels.windows(2).map(&mut pair).collect());
        let of_route = of_route.collect();
        Self { ends, of_route }
    }

    /// `P_R = (1 - B_1) Π J_(j,j+1) / (1 - B_j)`: probability that no channel of a route is full.
    fn passes(&self, network: &LossNetwork, route: usize, free: &[f64], joint: &[f64]) -> f64 {
        let channels = &network.routes[route].channels;
        let first = channels.first().map_or(1.0, |channel| free[*channel]);
        let pairs = channels.iter().zip(&self.of_route[route]);
        pairs.fold(first, |passes, (channel, pair)| passes * ratio(joint[*pair], free[*channel]))
    }
}

/// 0 where the denominator is, too.
fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

impl LossNetwork {
    /// Whether a channel is full depends on the one before it on the path: a Markov chain along each route. Calls of
    /// one width.
    ///
    /// ```text
    /// P_R = (1 - B_1) Π J_(j,j+1) / (1 - B_j),    a_l = Σ_(R over l) a_R P_R / (1 - B_l),   B_l = ErlangB(a_l, C_l)
    /// ```
    ///
    /// `J_lm` is the probability that neither channel is full, of calls on `l` alone, on `m` alone and on both.
    ///
    /// # Errors
    /// If the iteration does not converge.
    pub fn pairs(&self) -> Result<(Rejections, Report), Report> {
        let pairs = Pairs::of(self);
        let count = self.circuits.len();
        let width = self.routes.first().map_or(1, |route| route.width.max(1));
        let circuits: Vec<u32> = self.circuits.iter().map(|circuits| circuits / width).collect();
        let (point, report) = settle(count + pairs.ends.len(), |point, next| {
            let (free, joint) = point.split_at(count);
            let (mut offered, mut both) = (vec![0.0; count], vec![0.0; joint.len()]);
            for (index, route) in self.routes.iter().enumerate() {
                let carried = route.traffic() * pairs.passes(self, index, free, joint);
                for channel in &route.channels {
                    offered[*channel] += ratio(carried, free[*channel]);
                }
                for pair in &pairs.of_route[index] {
                    both[*pair] += ratio(carried, joint[*pair]);
                }
            }
            for (channel, circuits) in circuits.iter().enumerate() {
                next[channel] = lets_in(offered[channel], *circuits).last().copied().unwrap_or(0.0);
            }
            for (pair, (one, other)) in pairs.ends.iter().copied().enumerate() {
                // calls on l alone: a_l - z_lm J_lm / (1 - B_l)
                let shared = both[pair] * joint[pair];
                let alone = |channel: usize| (offered[channel] - ratio(shared, free[channel])).max(0.0);
                next[count + pair] =
                    neither_full((alone(one), circuits[one]), (alone(other), circuits[other]), both[pair]);
            }
        });
        let (free, joint) = point.split_at(count);
        let routes = 0..self.routes.len();
        let passes: Vec<f64> = routes.map(|route| pairs.passes(self, route, free, joint)).collect();
        if_converged(self.refused(&passes), report)
    }
}

/// Probability that neither of two channels is full: `x` calls on one alone, `y` on the other alone, `z` on both, all
/// Poisson, cut to `x + z <= C`, `y + z <= C'`. Takes traffic alone and circuits of each, and traffic on both.
fn neither_full(one: (f64, u32), other: (f64, u32), both: f64) -> f64 {
    let both = both.min(MOST_TRAFFIC);
    let (first, second) = (lets_in(one.0, one.1), lets_in(other.0, other.1));
    // J = Σ_(z<C) π_z F_x(C-1-z) F_y(C-1-z) / Σ_(z<=C) π_z F_x(C-z) F_y(C-z): with F(n-1) / F(n) = 1 - B(n) the terms
    // of both sums follow from one another and cannot overflow
    let (mut term, mut neither, mut all) = (1.0, 0.0, 0.0);
    let pairs = first.iter().rev().zip(second.iter().rev());
    for (calls, (first, second)) in (1..).zip(pairs) {
        let room = first * second;
        all += term;
        neither += term * room;
        term *= both / f64::from(calls) * room;
        if all > 1e150 {
            (term, neither, all) = (term / all, neither / all, 1.0);
        }
    }
    neither / all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admission::assert_near;

    /// All states one by one.
    fn counted(traffic: [f64; 3], circuits: [u32; 2]) -> f64 {
        let weight = |a: f64, n: u32| (1..=n).fold(1.0, |product, i| product * a / f64::from(i));
        let (mut neither, mut all) = (0.0, 0.0);
        for z in 0..=circuits[0].min(circuits[1]) {
            for (x, y) in (0..=circuits[0] - z).flat_map(|x| (0..=circuits[1] - z).map(move |y| (x, y))) {
                let one = weight(traffic[0], x) * weight(traffic[1], y) * weight(traffic[2], z);
                all += one;
                neither += if x + z < circuits[0] && y + z < circuits[1] { one } else { 0.0 };
            }
        }
        neither / all
    }

    #[test]
    fn two_channels_are_what_counting_their_states_says() {
        for (x, y, z) in [(0.0, 0.0, 3.0), (2.0, 1.0, 0.5), (4.0, 0.1, 9.0), (1.0, 1.0, 0.0)] {
            for (c, d) in [(1, 1), (4, 4), (6, 3)] {
                assert_near(neither_full((x, c), (y, d), z), counted([x, y, z], [c, d]), 1e-12);
            }
        }
    }

    #[test]
    fn two_channels_have_numbers_at_any_traffic() {
        for traffic in [0.0, 1e-300, 1.0, 1e300, f64::INFINITY] {
            for both in [0.0, 1e-300, 1.0, 1e300, f64::INFINITY] {
                for circuits in [0, 1, 1_000] {
                    let found = neither_full((traffic, circuits), (1.0, circuits), both);
                    assert!((0.0..=1.0 + 1e-12).contains(&found), "{traffic} {both} {circuits}: {found}");
                }
            }
        }
    }
}
