//! The network interface: real-time classes share its link message by message stamped on arrival. What they do to
//! each other are gaps inside the messages, which belong to the network latency.

use super::Class;
use super::greedy_chain::GreedyChain;
use super::grid::{Grid, Law, Transform};
use super::link_sharing::{chain_length, load_beside, waiting_work};

/// Gaps that the link of the interface leaves inside messages of one class.
pub(super) struct Interface {
    /// `ln Kn_0(z)`: per flit of a message that found none of its own class before it.
    pub(super) first: Transform,
    /// `ln Kn_1(z)`: per flit of another.
    pub(super) later: Transform,
    /// `v_N`: what the header waits for: best effort only.
    pub(super) set_up: Law,
    /// `hw`: mean wait of a header for others in the midst of their turn \[cycles\].
    pub(super) header_wait: f64,
    /// `g0`: mean length of one gap \[cycles\].
    pub(super) gap: f64,
    /// `re`: what a stalled message waits for to regain the link.
    pub(super) regain: Law,
}

fn floored(x: f64, first: bool) -> usize {
    let x = if first { x - 1e-6 } else { x + 1e-6 };
    x.floor().clamp(0.0, 1e9) as usize
}

/// What one other class does at the interface.
struct Pair {
    /// Probability that it is there, given that the own class is not.
    present: f64,
    /// Gaps if it comes while the message is sent, and if it is found.
    comes: Law,
    found: Law,
    /// Gaps of a message behind another of its class: if nothing of it was left behind, and if something was.
    all: Law,
    behind: Law,
    comes_left: Law,
    found_left: Law,
}

impl Pair {
    fn new(class: &Class, own: usize, other: &Class, d: usize, stretch: f64, beside: f64) -> Self {
        let k = class.vtick / other.vtick;
        let sigma = other.load();
        let ahead = own < d;
        let rate = other.rate;
        let length = chain_length(class, other);
        let run = |start: &Law, limit: &dyn Fn(usize) -> usize| {
            let mut chain = GreedyChain::new(start, other.message, rate, stretch, length);
            chain.begin(limit(1));
            for j in 2..=class.message {
                chain.advance(limit(j));
            }
            chain
        };
        // d comes while c is sent: its clock has the mean age sigma_d / 2
        let comes = run(&Law::zero(), &|j| floored((k - sigma / 2.0) * j as f64, ahead));
        // d found: it ran ahead of its clock by (1 - sigma_d) of what its busy period has sent so far
        let waiting = waiting_work(other, beside, length);
        let m = other.message as f64;
        let (mut sent, mut left) = (Vec::new(), Vec::new());
        for (weight, u, before) in ages(sigma.min(0.9)) {
            let start = waiting.plus(m * (1.0 - u));
            let ran = m * (u + before) * (1.0 - sigma);
            let chain = run(&start, &|j| floored(k * j as f64 - ran, ahead));
            sent.push((weight, chain.sent()));
            left.push((weight, chain.left()));
        }
        let mix = |parts: &[(f64, Law)]| {
            Law::mixture(&parts.iter().map(|(weight, law)| (*weight, law)).collect::<Vec<_>>())
        };
        let (found, found_left) = (mix(&sent), mix(&left));
        let present = beside;
        let left = Law::mixture(&[(1.0 - present, &comes.left()), (present, &found_left)]);
        let all = run(&Law::zero(), &|_| usize::MAX / 4).sent();
        let behind = run(&left.given_positive(), &|j| floored(k * j as f64, ahead)).sent();
        Self { present, comes: comes.sent(), found, all, behind, comes_left: comes.left(), found_left }
    }

    fn first(&self) -> Law {
        Law::mixture(&[(1.0 - self.present, &self.comes), (self.present, &self.found)])
    }

    fn later(&self) -> Law {
        let left = Law::mixture(&[(1.0 - self.present, &self.comes_left), (self.present, &self.found_left)]);
        let share = left.positive();
        Law::mixture(&[(1.0 - share, &self.all), (share, &self.behind)])
    }
}

/// Weight, part of the message already sent, and messages of the same busy period before it, of a class found.
///
/// The age of an M/D/1 busy period at a random moment has the mean `M / 2 / (1 - sigma)^2`; what exceeds that of
/// one message is spread geometrically over whole messages.
fn ages(sigma: f64) -> Vec<(f64, f64, f64)> {
    let before = ((1.0 - sigma).powi(-2) - 1.0) / 2.0;
    let r = before / (1.0 + before);
    let mut points: Vec<_> = (0..4).map(|i| ((1.0 - r) / 4.0, (f64::from(i) + 0.5) / 4.0, 0.0)).collect();
    if r > 0.02 {
        points.extend((0..2).map(|i| (r * (1.0 - r) / 2.0, (f64::from(i) + 0.5) / 2.0, 1.0)));
        points.push((r * r, 0.5, 2.0 + r / (1.0 - r)));
    }
    points
}

impl Interface {
    pub(super) fn new(grid: &Grid, classes: &[Class], own: usize, _stretch: &[f64]) -> Self {
        let class = &classes[own];
        let others: Vec<usize> = (0..classes.len()).filter(|d| *d != own && classes[*d].rate > 0.0).collect();
        let beside: Vec<f64> = others.iter().map(|d| load_beside(classes, own, *d)).collect();
        let mut stretches = vec![1.0; others.len()];
        let mut pairs: Vec<Pair> = Vec::new();
        for _ in 0..if others.len() > 1 { 3 } else { 1 } {
            pairs = others
                .iter()
                .zip(&stretches)
                .zip(&beside)
                .map(|((d, stretch), beside)| Pair::new(class, own, &classes[*d], *d, *stretch, *beside))
                .collect();
            let means: Vec<f64> = pairs.iter().map(|pair| pair.first().mean()).collect();
            let all: f64 = means.iter().sum();
            for (stretch, mean) in stretches.iter_mut().zip(&means) {
                *stretch = 1.0 + (all - mean) / class.message as f64;
            }
        }
        let all: f64 = classes.iter().map(Class::load).sum();
        for _ in 0..4 {
            let (g0, g1) = pairs.iter().fold((0.0, 0.0), |(g0, g1), pair| {
                (g0 + pair.first().mean(), g1 + pair.later().mean())
            });
            let any = seen_by_the_first(class, all, g0, g1);
            let factor = any / (all - class.load());
            for (pair, beside) in pairs.iter_mut().zip(&beside) {
                pair.present = (beside * factor).min(0.95);
            }
        }
        let nothing = || vec![realfft::num_complex::Complex64::new(0.0, 0.0); grid.points().len()];
        let (mut first, mut later) = (nothing(), nothing());
        let (mut header_wait, mut gap, mut gaps) = (0.0, 0.0, 0.0);
        let mut regain = Law::zero();
        for (pair, d) in pairs.iter().zip(&others) {
            let other = &classes[*d];
            let k = class.vtick / other.vtick;
            let gaps_first = pair.first();
            for (exponent, gaps) in [(&mut first, &gaps_first), (&mut later, &pair.later())] {
                let positive = gaps.positive();
                if positive > 1e-12 {
                    let transform = grid.transform(&gaps.given_positive());
                    for (e, y) in exponent.iter_mut().zip(&transform) {
                        *e += (y - 1.0) * (positive / class.message as f64);
                    }
                }
            }
            gap += gaps_first.mean();
            gaps += gaps_first.positive();
            header_wait +=
                pair.present * (k * k / (2.0 * other.message as f64 * (1.0 - other.load()).max(0.05))).min(k);
            let extra = (pair.found.mean() - pair.comes.mean()).max(0.0);
            let found_mean = pair.found.mean();
            if found_mean > 0.0 {
                regain = grid.sum(&regain, &pair.found.stretched(extra / found_mean).sometimes(pair.present));
            }
        }
        Self {
            first,
            later,
            set_up: Law::zero(),
            header_wait,
            gap: if gaps > 0.0 { gap / gaps } else { 0.0 },
            regain,
        }
    }
}

/// Probability that any other class is at a link of load `all`, given that the own class is not: its messages
/// hold the link for `M` and `first` or, behind another, `later` cycles.
///
/// The link is busy for a share `all` of the time, whoever goes first (work is conserved), and free of the own
/// class for a share `P_0`; so the others are there alone for the difference.
pub(super) fn seen_by_the_first(class: &Class, all: f64, first: f64, later: f64) -> f64 {
    let m = class.message as f64;
    // P_0 = (1 - l (M + G_1)) / (1 + l (G_0 - G_1));  P(any | own not there) = 1 - (1 - sigma) / P_0
    let own_free = (1.0 - class.rate * (m + later)) / (1.0 + class.rate * (first - later));
    (1.0 - (1.0 - all).max(0.02) / own_free.max(0.02)).clamp(0.0, 0.95)
}

/// The probabilities `beside`, by the factor that conserves work.
pub(super) fn rescale(present: &mut [f64], beside: &[f64], factor: f64) {
    for (p, beside) in present.iter_mut().zip(beside) {
        *p = (beside * factor).min(0.95);
    }
}
