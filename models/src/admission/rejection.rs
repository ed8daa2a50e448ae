//! Share of connection requests that are refused, because a channel of their path has no circuit left.
//!
//! A channel is a group of circuits: as many calls of one width as its bandwidth holds. Requests that come and go are
//! the loss network of F. P. Kelly, Loss networks, Ann. Appl. Prob. 1 (1991) 319, sec. 3, whose channels are taken to
//! be independent ([`LossNetwork::reduced_load`]) or a Markov chain along each path ([`LossNetwork::pairs`]).
//! Requests that are all made at the start and stay are births without deaths ([`LossNetwork::at_start`]).

mod at_start;
mod pairs;

use flitwise_language::scenario::SignalDelay;

use crate::fixed_point::{Options, Report, Status, solve};
use crate::queueing::{Call, ErlangB, MultirateLoss};

/// Requests that take one path.
#[derive(Clone, Debug, PartialEq)]
pub struct Route {
    /// Where they start.
    pub source: usize,
    /// The channels that a connection holds, in the order in which they are asked.
    pub channels: Vec<usize>,
    /// Requests per cycle, refused or not.
    pub rate: f64,
    /// Time that an accepted one holds each channel, from its probe to its release \[cycles\].
    pub holding: f64,
    /// Circuits that it takes on each channel; at least 1.
    pub width: u32,
}

/// Time that an accepted connection holds each channel \[cycles\]: `holding` and its set-up over `hops` network
/// channels, `2 (h + 1) d_s`; the release takes as long to a channel as the probe did.
pub fn held(holding: f64, hops: u32, delay: SignalDelay) -> f64 {
    holding + delay.set_up(f64::from(hops))
}

/// Calls of bandwidth `width` that a channel of bandwidth `limit` holds; a rounding error does not cost one.
pub fn circuits(limit: f64, width: f64) -> u32 {
    // floor(limit / w + 1e-9)
    (limit / width + 1e-9) as u32
}

/// Routes over channels of so many circuits each.
#[derive(Clone, Debug, PartialEq)]
pub struct LossNetwork {
    /// `C` of every channel.
    pub circuits: Vec<u32>,
    /// Each over channels that are there, none twice.
    pub routes: Vec<Route>,
}

/// What is refused.
#[derive(Clone, Debug, PartialEq)]
pub struct Rejections {
    /// Of all requests; 0 without requests.
    pub share: f64,
    /// Of those of each route.
    pub routes: Vec<f64>,
}

/// Traffic beyond which more makes no difference \[Erlang\].
const MOST_TRAFFIC: f64 = 1e50;
/// The smallest probability that a channel is free.
const LEAST: f64 = 1e-60;
/// Where fixed points are close enough: far beyond the digits of the models.
const OPTIONS: Options = Options { tolerance: 1e-9, max_iterations: 5_000 };

impl Route {
    /// `a_R = λ_R E[S_R]` \[Erlang\].
    fn traffic(&self) -> f64 {
        (self.rate * self.holding).min(MOST_TRAFFIC)
    }
}

impl LossNetwork {
    /// Every channel as if it were alone, offered what the others let pass: the Erlang fixed point, for any widths.
    ///
    /// ```text
    /// a_l = Σ_(R over l) a_R Π_(m in R, m != l) (1 - B_m),   B_l = ErlangB(a_l, C_l)
    /// ```
    ///
    /// Kaufman and Roberts take the place of Erlang where widths differ.
    ///
    /// # Errors
    /// If the iteration does not converge.
    pub fn reduced_load(&self) -> Result<(Rejections, Report), Report> {
        let (widths, of_route) = self.widths();
        let kinds = widths.len();
        // channel by channel, and in each width by width
        let path = |(route, kind): (&Route, usize)| -> Vec<usize> {
            route.channels.iter().map(|channel| channel * kinds + kind).collect()
        };
        let paths: Vec<Vec<usize>> = self.routes.iter().zip(of_route).map(path).collect();
        let (free, report) = settle(self.circuits.len() * kinds, |free, next| {
            let mut offered = vec![0.0; free.len()];
            for (route, path) in self.routes.iter().zip(&paths) {
                for (at, place) in path.iter().enumerate() {
                    let others = path[..at].iter().chain(&path[at + 1..]);
                    offered[*place] += route.traffic() * others.map(|other| free[*other]).product::<f64>();
                }
            }
            for (channel, circuits) in self.circuits.iter().enumerate() {
                let of = channel * kinds..(channel + 1) * kinds;
                passed(*circuits, &widths, &offered[of.clone()], &mut next[of]);
            }
        });
        let passes = |path: &Vec<usize>| path.iter().map(|place| free[*place]).product();
        let passes: Vec<f64> = paths.iter().map(passes).collect();
        if_converged(self.refused(&passes), report)
    }

    /// All widths, and which of them each route has.
    fn widths(&self) -> (Vec<u32>, Vec<usize>) {
        let mut widths: Vec<u32> = self.routes.iter().map(|route| route.width).collect();
        widths.sort_unstable();
        widths.dedup();
        let of = |route: &Route| widths.partition_point(|width| *width < route.width);
        let of_routes = self.routes.iter().map(of).collect();
        (widths, of_routes)
    }

    /// What is refused where routes let pass these shares of their requests: `1 - Σ p_R P_R`.
    fn refused(&self, passes: &[f64]) -> Rejections {
        let requests: f64 = self.routes.iter().map(|route| route.rate).sum();
        let accepted: f64 = self.routes.iter().zip(passes).map(|(route, passes)| route.rate * passes).sum();
        let share = if requests > 0.0 { (1.0 - accepted / requests).clamp(0.0, 1.0) } else { 0.0 };
        let routes = passes.iter().map(|passes| (1.0 - passes).clamp(0.0, 1.0)).collect();
        Rejections { share, routes }
    }
}

/// The answer with the account of its iteration, or that alone.
fn if_converged(rejections: Rejections, report: Report) -> Result<(Rejections, Report), Report> {
    if report.status == Status::Converged { Ok((rejections, report)) } else { Err(report) }
}

/// Shares of calls of each width that a channel lets pass, of so much traffic \[Erlang\].
fn passed(circuits: u32, widths: &[u32], traffic: &[f64], free: &mut [f64]) {
    let width = widths.first().copied().unwrap_or(1);
    if let ([free], [traffic]) = (&mut *free, traffic) {
        *free = lets_in(*traffic, circuits / width).last().copied().unwrap_or(0.0);
        return;
    }
    let calls = traffic.iter().zip(widths);
    let classes = calls.map(|(traffic, width)| Call { rate: *traffic, mean: 1.0, width: *width }).collect();
    let answers = MultirateLoss { servers: circuits.max(1), classes }.measures();
    for (free, answer) in free.iter_mut().zip(answers) {
        *free = if circuits > 0 { 1.0 - answer.blocking_probability } else { 0.0 };
    }
}

/// `1 - B(n)` of `n = 0 ..= circuits` circuits, with all its digits however small.
fn lets_in(traffic: f64, circuits: u32) -> Vec<f64> {
    let station = ErlangB { rate: traffic.clamp(0.0, MOST_TRAFFIC), mean: 1.0, servers: circuits };
    [0.0].into_iter().chain(station.let_in()).collect()
}

/// Probabilities that `map` leaves as they are, reached from 1 by half of each step, without which overload swings.
///
/// The unknowns are `1 - ln p`: small probabilities, each a product of others, then move in proportion.
fn settle(count: usize, mut map: impl FnMut(&[f64], &mut [f64])) -> (Vec<f64>, Report) {
    let mut unknowns = vec![1.0; count];
    let (mut point, mut next) = (unknowns.clone(), unknowns.clone());
    let report = solve(&mut unknowns, &OPTIONS, |before, after| {
        point.iter_mut().zip(before).for_each(|(point, unknown)| *point = (1.0 - unknown).exp());
        map(&point, &mut next);
        for ((after, before), next) in after.iter_mut().zip(before).zip(&next) {
            *after = f64::midpoint(*before, 1.0 - next.clamp(LEAST, 1.0).ln());
        }
    });
    (unknowns.iter().map(|unknown| (1.0 - unknown).exp()).collect(), report)
}

#[cfg(test)]
mod tests;
