//! Two real-time classes on one link behind a crossbar, stamped flit by flit by clocks that restart.

use super::Class;
use super::greedy_chain::GreedyChain;
use super::interface::{rescale, seen_by_the_first};
use super::grid::{Grid, Law, Transform};

/// What the other real-time classes do to a message of one class on an output link.
pub(super) struct LinkSharing {
    /// Per other class: mean interruption of the whole message at full rate of arrivals \[cycles\].
    pub(super) interruption: f64,
    /// Set-up `v`: what a message waits for that finds none of its own class.
    pub(super) set_up: Law,
    /// `vl`: what it waits for behind a message of its own class.
    pub(super) left_behind: Law,
    /// `h`: probability that another class is there.
    pub(super) seen: f64,
    pairs: Vec<Pair>,
}

struct Pair {
    message: usize,
    rate: f64,
    stretch: f64,
    /// Load where it has what the rest leaves.
    beside: f64,
    /// `X_r`: delay of the tail if the other class comes when `r` flits are still to go.
    met: Vec<Law>,
    /// `V1`: the same if the other class is found, with `r` flits to go.
    found: Vec<Law>,
}

/// `floor(x)` where equal stamps go to the lower class.
fn floor_of_ties(x: f64, first: bool) -> usize {
    let x = if first { x - 1e-6 } else { x + 1e-6 };
    x.floor().clamp(0.0, 1e9) as usize
}

impl LinkSharing {
    /// Of class `own` among all real-time classes of the link; `clocked` tells whether classes that are sent as
    /// fast as they come carry no debt, and catch up with a slower clock when they meet it (virtual clock).
    pub(super) fn new(grid: &Grid, classes: &[Class], own: usize, contending: f64, clocked: bool) -> Self {
        let class = &classes[own];
        let others: Vec<usize> = (0..classes.len()).filter(|d| *d != own && classes[*d].rate > 0.0).collect();
        let mut stretches = vec![1.0; others.len()];
        let mut pairs: Vec<Pair> = Vec::new();
        let mut means = vec![0.0; others.len()];
        let rounds = if others.len() > 1 { 3 } else { 1 };
        for _ in 0..rounds {
            pairs = others
                .iter()
                .zip(&stretches)
                .map(|(d, stretch)| Pair::new(class, own, &classes[*d], *d, *stretch, load_beside(classes, own, *d), clocked))
                .collect();
            for (mean, pair) in means.iter_mut().zip(&pairs) {
                *mean = pair.interruption(class.message, 1.0).1;
            }
            let founds: Vec<f64> = pairs
                .iter()
                .map(|pair| pair.beside * pair.found.last().expect("a flit at least").mean())
                .zip(&means)
                .map(|(found, mean)| mean.max(found))
                .collect();
            let all: f64 = founds.iter().sum();
            for (stretch, mean) in stretches.iter_mut().zip(&founds) {
                *stretch = 1.0 + (all - mean) / class.message as f64;
            }
        }
        let (mut set_up, mut left_behind) = (Law::zero(), Law::zero());
        let mut seen = 0.0;
        let mut presences: Vec<f64> = others.iter().map(|d| load_beside(classes, own, *d)).collect();
        let all: f64 = classes.iter().map(Class::load).sum();
        let beside = presences.clone();
        let taken: f64 = means.iter().sum();
        for _ in 0..4 {
            let first: f64 = pairs
                .iter()
                .zip(&presences)
                .zip(&means)
                .map(|((pair, p), mean)| p * (pair.found.last().expect("a flit at least").mean() - mean).max(0.0))
                .sum();
            let any = seen_by_the_first(class, all, taken + first, taken);
            rescale(&mut presences, &beside, any / (all - class.load()));
        }
        for (((pair, d), mean), present) in pairs.iter().zip(&others).zip(&means).zip(&presences) {
            let other = &classes[*d];
            let present = present * contending;
            seen += present;
            let scaled = |law: &Law, by: f64| {
                let whole = law.mean();
                if whole > 0.0 { law.stretched((whole - by).max(0.0) / whole) } else { Law::zero() }
            };
            set_up = grid.sum(&set_up, &scaled(pair.found.last().expect("a flit at least"), *mean).sometimes(present));
            let (share, delay) = pair.left_behind(class, own, *d, other, present, clocked);
            left_behind = grid.sum(&left_behind, &scaled(&delay, *mean).sometimes(share));
        }
        Self { interruption: means.iter().sum(), set_up, left_behind, seen: seen.min(0.95), pairs }
    }

    /// `ln K(z)` per flit of a message of `flits`, when the share `contending` of the others' messages is met.
    pub(super) fn per_flit(&self, grid: &Grid, flits: usize, contending: f64) -> Transform {
        let mut exponent = vec![realfft::num_complex::Complex64::new(0.0, 0.0); grid.points().len()];
        for pair in &self.pairs {
            let (total, _, law) = pair.interruption_law(flits, contending);
            let transform = grid.transform(&law);
            for (e, y) in exponent.iter_mut().zip(&transform) {
                *e += (y - 1.0) * (total / flits as f64);
            }
        }
        exponent
    }

    /// What of the others has come while the class was kept off the link for `gap` cycles, with `r` flits to go.
    pub(super) fn fresh(&self, grid: &Grid, gap: f64, contending: f64, r: usize) -> Law {
        self.pairs.iter().fold(Law::zero(), |sum, pair| {
            let quiet = (-pair.rate * contending * gap.min(pair.message as f64)).exp();
            let found = &pair.found[r - 1];
            // what comes in the flits still to go is added as they go
            let (whole, later) = (found.mean(), pair.interruption(r, 1.0).1);
            let share = if whole > 0.0 { (whole - later).max(0.0) / whole } else { 0.0 };
            grid.sum(&sum, &found.stretched(share).sometimes(1.0 - quiet))
        })
    }
}

/// Load of `other` where it has but what the rest leaves it, the own class being away:
/// `sigma_d / (1 - sum of the others but d)`, its presence under processor sharing.
pub(super) fn load_beside(classes: &[Class], own: usize, other: usize) -> f64 {
    let rest: f64 =
        classes.iter().enumerate().filter(|(d, _)| *d != own && *d != other).map(|(_, class)| class.load()).sum();
    (classes[other].load() / (1.0 - rest).max(0.02)).min(0.95)
}

/// `p_d`: probability that class `other` is there, given that `own` is not.
pub(super) fn presence_old(own: &Class, other: &Class) -> f64 {
    // kappa = E_u[min(M_c, M_d (1 - u) lambda_c M_c / (lambda_d M_d))] / M_c: how far c holds d up
    let ratio = own.load() / other.load();
    let (mc, md) = (own.message as f64, other.message as f64);
    // u uniform: integral of min(a, c (1 - u)) with c = M_d ratio
    let c = md * ratio;
    let held = if c <= mc { c / 2.0 } else { mc - mc * mc / (2.0 * c) };
    let kappa = held / mc;
    (other.load() / (1.0 - own.load() * kappa).max(0.05)).min(0.95)
}

impl Pair {
    fn new(own: &Class, own_index: usize, other: &Class, other_index: usize, stretch: f64, beside: f64, clocked: bool) -> Self {
        let limit = |j: usize| limit_when_meeting(own, own_index, other, other_index, j, clocked);
        let rate = other.rate;
        let length = chain_length(own, other);
        let run = |start: &Law, mut each: Box<dyn FnMut(&GreedyChain) + '_>| {
            let mut chain = GreedyChain::new(start, other.message, rate, stretch, length);
            chain.begin(limit(1));
            each(&chain);
            for j in 2..=own.message {
                chain.advance(limit(j));
                each(&chain);
            }
            chain
        };
        let mut met = Vec::with_capacity(own.message);
        run(&Law::constant(other.message as f64), Box::new(|chain| met.push(chain.sent())));
        let mut found = Vec::with_capacity(own.message);
        run(&found_work(other, beside, length), Box::new(|chain| found.push(chain.sent())));
        Self { message: other.message, rate: other.rate, stretch, beside, met, found }
    }

    /// Probability that the other class comes while a message is sent, mean delay, law of the delay then.
    fn interruption_law(&self, flits: usize, contending: f64) -> (f64, f64, Law) {
        let nu = self.rate * self.stretch * contending;
        let weight = |r: usize| (-nu * (flits - r) as f64).exp() * (1.0 - (-nu).exp());
        let parts: Vec<(f64, &Law)> =
            self.met.iter().enumerate().map(|(at, law)| (weight(at + 1), law)).collect();
        let total: f64 = parts.iter().map(|(w, _)| w).sum();
        if total < 1e-300 {
            return (0.0, 0.0, Law::zero());
        }
        let law = Law::mixture(&parts);
        (total, total * law.mean(), law)
    }

    fn interruption(&self, flits: usize, contending: f64) -> (f64, f64) {
        let (total, mean, _) = self.interruption_law(flits, contending);
        (total, mean)
    }

    /// Probability that work of the other class is left at the tail, and what it delays the next message by.
    fn left_behind(
        &self,
        own: &Class,
        own_index: usize,
        other_index: usize,
        other: &Class,
        present: f64,
        clocked: bool,
    ) -> (f64, Law) {
        let (rate, stretch) = (other.rate, self.stretch);
        let length = chain_length(own, other);
        let beside = self.beside;
        let limit = |j: usize| limit_when_meeting(own, own_index, other, other_index, j, clocked);
        // found: the chain from what was found; not found: from the first arrival with r flits to go
        let mut found = GreedyChain::new(&found_work(other, beside, length), other.message, rate, stretch, length);
        found.begin(limit(1));
        let mut met = GreedyChain::new(&Law::constant(other.message as f64), other.message, rate, stretch, length);
        met.begin(limit(1));
        let nu = self.rate * self.stretch;
        let weight = |r: usize| (-nu * (own.message - r) as f64).exp() * (1.0 - (-nu).exp());
        let mut lefts: Vec<(f64, Law)> = vec![((1.0 - present) * weight(1), met.left())];
        for j in 2..=own.message {
            found.advance(limit(j));
            met.advance(limit(j));
            lefts.push(((1.0 - present) * weight(j), met.left()));
        }
        lefts.push((present, found.left()));
        let some: f64 = lefts.iter().map(|(w, _)| w).sum();
        lefts.push(((1.0 - some).max(0.0), Law::zero()));
        let parts: Vec<(f64, &Law)> = lefts.iter().map(|(w, law)| (*w, law)).collect();
        let left = Law::mixture(&parts);
        let share = left.positive();
        if share < 1e-12 {
            return (0.0, Law::zero());
        }
        let k = own.vtick / other.vtick;
        let limit = |j: usize| floor_of_ties(k * j as f64, own_index < other_index);
        let mut chain = GreedyChain::new(&left.given_positive(), other.message, rate, stretch, length);
        chain.begin(limit(1));
        for j in 2..=own.message {
            chain.advance(limit(j));
        }
        (share, chain.sent())
    }
}

/// Cells of the chain: enough for what may be sent, and for a burst of messages.
pub(super) fn chain_length(own: &Class, other: &Class) -> usize {
    let (mc, md) = (own.message as f64, other.message as f64);
    let sent = 2.0 * own.vtick / other.vtick * mc + 2.0 * md;
    f64::max(6.0 * md, sent.min(16.0 * md)) as usize
}

/// Work of class `d` where some is found: what is left of a message and what waits behind it.
pub(super) fn found_work(other: &Class, beside: f64, length: usize) -> Law {
    let residual = Law::constant(other.message as f64).residual();
    let behind = waiting_work(other, beside, length);
    let mut weights = vec![0.0; length];
    for (x, p) in residual.probabilities().iter().enumerate() {
        for (y, q) in behind.probabilities().iter().enumerate() {
            weights[(x + y).min(length - 1)] += p * q;
        }
    }
    Law::of(weights)
}

/// M/D/1: `(1 - sigma) / (1 - sigma res(z))`, term by term.
pub(super) fn waiting_work(class: &Class, beside: f64, length: usize) -> Law {
    let sigma = beside;
    let residual = Law::constant(class.message as f64).residual();
    let r = residual.probabilities();
    let mut weights = vec![0.0; length];
    // w = (1 - sigma) delta_0 + sigma r * w
    for x in 0..length {
        let from: f64 = (1..r.len().min(x + 1)).map(|y| r[y] * weights[x - y]).sum();
        let start = if x == 0 { 1.0 - sigma } else { 0.0 };
        weights[x] = (start + sigma * from) / (1.0 - sigma * r[0]);
    }
    Law::of(weights)
}

/// `lim(j)` after a meeting: `e = V_d - V_c` cycles pass until the stamps of both have caught up.
fn limit_when_meeting(own: &Class, own_index: usize, other: &Class, other_index: usize, j: usize, clocked: bool) -> usize {
    let first = own_index < other_index;
    let k = own.vtick / other.vtick;
    if !clocked {
        return floor_of_ties(k * j as f64, first);
    }
    let e = other.vtick - own.vtick;
    let j = j as f64;
    if e > 0.0 {
        if j > e { floor_of_ties(k * (j - e) + 1.0 - k, first) } else { 0 }
    } else {
        floor_of_ties(-e + 1.0 + k * (j - 1.0), first)
    }
}
