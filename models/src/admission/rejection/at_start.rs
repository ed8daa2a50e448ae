//! Requests that are all made while the run begins, and stay.

use super::{LossNetwork, Rejections};
use crate::fixed_point::root_of_increasing;

/// Steps of the coarser of two runs.
const STEPS: u32 = 100;

/// A channel that fills up.
struct Births {
    /// `P_i`: probabilities that it has so many calls.
    calls: Vec<f64>,
    /// Mean number that would have been taken so far.
    offered: f64,
    /// `a` of [`feedback`]; none where one source has the channel to itself, whose number of calls is known.
    feedback: Option<f64>,
}

impl Births {
    fn room(&self) -> f64 {
        match (self.feedback, self.calls.split_last()) {
            // one source: full from the C-th call on
            (None, _) => f64::from(self.offered + 1.0 < self.calls.len() as f64),
            (Some(_), Some((full, _))) => 1.0 - full,
            (Some(_), None) => 0.0,
        }
    }

    /// `births` more are offered. Implicit, which keeps probabilities so at any rate.
    fn advance(&mut self, births: f64) {
        if let (Some(feedback), Some(full)) = (self.feedback, self.calls.len().checked_sub(1)) {
            let mut flow = 0.0;
            for (count, probability) in self.calls.iter_mut().enumerate() {
                // ν (1 + a (mean so far - i))
                let rate = births * (1.0 + feedback * (self.offered - count as f64)).max(0.0);
                let rate = if count < full { rate } else { 0.0 };
                *probability = (*probability + flow) / (1.0 + rate);
                flow = rate * *probability;
            }
        }
        self.offered += births;
    }
}

/// `a` with which births at rate `ν (1 + a (mean - i))` have the variance `z m` at mean `m`: sources that make a known
/// number of requests vary less than Poisson. None for `z = 0`.
///
/// ```text
/// (1 - e^(-2 a m)) / (2 a) = z m
/// ```
fn feedback(variance: f64, mean: f64) -> Option<f64> {
    if variance < 1e-6 {
        return None;
    }
    // (1 - e^-u) / u = z, u = 2 a m: the left side falls from 1 to 0
    let left = |u: f64| if u > 0.0 { -(-u).exp_m1() / u } else { 1.0 };
    let slope = |u: f64| (left(u) - (-u).exp()) / u;
    let u = root_of_increasing(0.0, 2.0 / variance, |u| (variance - left(u), slope(u)));
    // u -> 0 for z = 1
    Some(if variance < 1.0 && mean > 0.0 { u / (2.0 * mean) } else { 0.0 })
}

impl LossNetwork {
    /// Every source makes `requests` requests at random times, spread over its routes as their rates are; connections
    /// stay. Calls of one width; holding times do not matter. Every channel is a pure birth process on its number of
    /// calls:
    ///
    /// ```text
    /// ν_l(t) = Σ_(R over l) a_R Π_(m in R, m != l) (1 - P_m(full at t)),   0 <= t <= 1
    /// rejected = 1 - ∫ Σ_R p_R Π_(m in R) (1 - P_m(full at t)) dt
    /// ```
    ///
    /// with births at rate `ν (1 + a (mean so far - i))` where `i` calls are there; the correction is ours.
    pub fn at_start(&self, requests: f64) -> Rejections {
        let (coarse, fine) = (self.fill(requests, STEPS), self.fill(requests, 2 * STEPS));
        // both are off in proportion to their steps
        let passes: Vec<f64> =
            fine.iter().zip(coarse).map(|(fine, coarse)| (2.0 * fine - coarse).clamp(0.0, 1.0)).collect();
        self.refused(&passes)
    }

    /// Shares of each route's requests that are accepted.
    fn fill(&self, requests: f64, steps: u32) -> Vec<f64> {
        let chances = self.chances();
        let mut channels = self.births(requests, &chances);
        let step = 1.0 / f64::from(steps);
        let mut accepted = vec![0.0; self.routes.len()];
        for _ in 0..steps {
            let room: Vec<f64> = channels.iter().map(Births::room).collect();
            let mut births = vec![0.0; channels.len()];
            for ((route, chance), accepted) in self.routes.iter().zip(&chances).zip(&mut accepted) {
                let passes: f64 = route.channels.iter().map(|channel| room[*channel]).product();
                *accepted += passes * step;
                // where a channel is full, more changes nothing
                let open = route.channels.iter().filter(|channel| room[**channel] > 0.0);
                open.for_each(|channel| {
                    births[*channel] += chance * requests * passes / room[*channel] * step
                });
            }
            channels.iter_mut().zip(births).for_each(|(channel, births)| channel.advance(births));
        }
        accepted
    }

    /// Chance that a request of a route's source takes it.
    fn chances(&self) -> Vec<f64> {
        let sources = self.routes.iter().map(|route| route.source + 1).max().unwrap_or(0);
        let mut sums = vec![0.0; sources];
        self.routes.iter().for_each(|route| sums[route.source] += route.rate);
        let chance = |route: &super::Route| {
            let all = sums[route.source];
            if all > 0.0 { route.rate / all } else { 0.0 }
        };
        self.routes.iter().map(chance).collect()
    }

    /// Channels at the start, without a call.
    fn births(&self, requests: f64, chances: &[f64]) -> Vec<Births> {
        let width = self.routes.first().map_or(1, |route| route.width.max(1));
        // p_s of every channel, source by source
        let mut uses = vec![std::collections::BTreeMap::<usize, f64>::new(); self.circuits.len()];
        for (route, chance) in self.routes.iter().zip(chances) {
            for channel in &route.channels {
                *uses[*channel].entry(route.source).or_default() += chance;
            }
        }
        let channel = |(circuits, uses): (&u32, &std::collections::BTreeMap<usize, f64>)| {
            let (sum, squares) =
                uses.values().fold((0.0, 0.0), |(sum, squares), p| (sum + p, squares + p * p));
            // Z = 1 - Σ p_s² / Σ p_s, m = N Σ p_s
            let variance = if sum > 0.0 { 1.0 - squares / sum } else { 1.0 };
            let mut calls = vec![0.0; (circuits / width) as usize + 1];
            calls[0] = 1.0;
            Births { calls, offered: 0.0, feedback: feedback(variance, requests * sum) }
        };
        self.circuits.iter().zip(&uses).map(channel).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admission::assert_near;

    #[test]
    fn feedback_gives_the_variance() {
        for (variance, mean) in [(0.9, 10.0), (0.5, 3.0), (0.01, 200.0)] {
            let a = feedback(variance, mean).unwrap();
            assert_near((1.0 - (-2.0 * a * mean).exp()) / (2.0 * a), variance * mean, 1e-9);
        }
        assert_eq!(
            [feedback(1.0, 5.0), feedback(0.0, 5.0), feedback(0.5, 0.0)],
            [Some(0.0), None, Some(0.0)]
        );
    }

    /// Without feedback the births are a Poisson process, cut at the last state.
    #[test]
    fn births_are_poisson() {
        let mut channel = Births { calls: vec![1.0, 0.0, 0.0, 0.0], offered: 0.0, feedback: Some(0.0) };
        (0..20_000).for_each(|_| channel.advance(2.0 / 20_000.0));
        // 1 - P(N <= 2) of mean 2
        assert_near(1.0 - channel.room(), 1.0 - 5.0 * (-2f64).exp(), 1e-3);
        assert_near(channel.calls.iter().sum(), 1.0, 1e-12);
    }
}
