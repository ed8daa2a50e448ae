//! Real-time classes on one link behind a crossbar: delays between pairs of classes.
//!
//! A flit is stamped when it crosses the crossbar. A class that is sent as fast as it arrives restarts its clock in
//! each cycle and carries no debt. When classes c and d meet, `e = V_d - V_c`, the faster clock keeps the link until
//! its restarting stamps (now + V) pass the first stamp of the other, after `|e|` cycles. From then on both queues hold
//! flits and stamps accumulate: `k = V_c / V_d` flits of d go per flit of c. Fair queueing and weighted round robin
//! have no clock that restarts: `k` from the first flit on.
//!
//! A class that others kept from the link is *behind*: its queue stays occupied, and its stamps lead the time by `Λ`
//! (module `clock_lead`). With `Λ_c` or `Λ_d` of the two
//!
//! ```text
//! e = (V_d + Λ_d) - (V_c + Λ_c)
//! ```
//!
//! Reason: the clock of a newcomer starts from now. So an own message passes most of the flits of d that are present if
//! d has been behind for some time, and later arrivals pass an own message that is behind itself.
//!
//! These chains of pairs give delays of messages that meet none of their own class. The module `shared_queue` follows
//! the others while the class keeps the link.

use super::ablation::{Step, without};
use super::clock_lead::ClockLead;
use super::greedy_chain::{Chains, GreedyChain};
use super::grid::Grid;
use super::interface::{ages, seen_by_the_first};
use super::interruptions::{Interruptions, Nested, Presence, delays_together, together};
use super::law::Law;
use super::shared_queue::{Sharer, SharingChain};
use super::station::LinkEnvironment;
use super::{Class, Problem, load_beside, others};

/// What a link stamps flits by.
#[derive(Clone, Copy, Debug)]
pub(super) enum Clock {
    /// Flits in proportion: fair queueing, weighted round robin.
    None,
    /// Clocks that restart; the share `contending` of the messages of a class comes over other inputs than another's.
    Restarting { contending: f64 },
}

impl Clock {
    pub(super) fn of(problem: &Problem, contending: f64) -> Self {
        if problem.clocked { Self::Restarting { contending } } else { Self::None }
    }
}

/// What a chain has sent and left behind, in each of some states with its weight.
#[derive(Clone, Default)]
struct Mixture {
    sent: Vec<(f64, Law)>,
    left: Vec<(f64, Law)>,
}

impl Mixture {
    fn add(&mut self, weight: f64, chain: &GreedyChain) {
        if weight > 0.0 {
            self.sent.push((weight, chain.sent()));
            self.left.push((weight, chain.left()));
        }
    }
}

/// What the other real-time classes do to one class on a link.
pub(super) struct LinkSharing {
    message: f64,
    pairs: Vec<Pair>,
}

/// One other class.
struct Pair {
    /// Messages per cycle, and flits of a message.
    rate: f64,
    message: f64,
    /// Probability that it is there, given that the own class is not.
    present: f64,
    /// `X_r` \[steps of its messages\]: delay of the tail if it comes when `r` flits are still to go, by even steps up
    /// to all.
    met: Vec<Law>,
    /// `V_1` \[the same steps\]: the same if it is found.
    found: Vec<Law>,
    /// Left behind at the tail by the own message, if it was found, and if it came with `r` flits to go.
    left_found: Law,
    left_met: Vec<Law>,
    /// What a remainder of it delays the next message of the own class by \[cells\].
    chains: Chains,
}

impl Pair {
    fn new(classes: &[Class], (own, d): (usize, usize), other: &Class, chains: Chains, clock: Clock) -> Self {
        let present = load_beside(classes, own, d);
        let class = &classes[own];
        let k = class.vtick / other.vtick;
        let ahead = other.vtick - class.vtick;
        let limit = |e: f64| {
            move |j: f64| match clock {
                Clock::None => k * j,
                Clock::Restarting { .. } if e <= 0.0 => -e + 1.0 + k * (j - 1.0),
                Clock::Restarting { .. } if j > e => k * (j - e) + 1.0 - k,
                Clock::Restarting { .. } => 0.0,
            }
        };
        // d comes: by what the own clock leads d passes, all of it beyond `most`
        let steps = chains.own_steps();
        let mut come = vec![Mixture::default(); steps];
        let runs: Vec<(f64, Vec<f64>)> = match clock {
            Clock::None => vec![(0.0, vec![1.0; steps])],
            Clock::Restarting { contending } => {
                let clock = ClockLead::new(classes, own, Some(d), contending);
                let sent = |r: usize| class.message * (steps - r - 1) as f64 / steps as f64;
                let most = other.message + ahead;
                of_each((0..steps).map(|r| clock.after(sent(r), most).all()))
            }
        };
        for (lead, weights) in runs {
            let mut at = 0;
            chains.run(&chains.message(), &limit(ahead - lead), |chain| {
                come[at].add(weights[at], chain);
                at += 1;
            });
        }
        // d is found: by what its clock leads the own message passes, all of it beyond `most`
        let mut find = vec![Mixture::default(); steps];
        let runs: Vec<(f64, f64, Law)> = match clock {
            Clock::None => vec![(1.0, 0.0, chains.found(present))],
            Clock::Restarting { contending } => {
                let (message, waiting) = (chains.message().mean(), chains.waiting(present));
                let clock = ClockLead::new(classes, d, None, contending);
                let ages = ages((other.load() * clock.takes).min(0.9));
                let start: Vec<Law> =
                    ages.iter().map(|(_, u, _)| waiting.plus(message * (1.0 - u))).collect();
                let states = ages.iter().map(|(weight, u, before)| {
                    let states = clock.after(other.message * (u + before), class.message - ahead).all();
                    states.map(|(state, lead)| (weight * state, lead))
                });
                let mix = |(lead, weights): (f64, Vec<f64>)| {
                    let parts: Vec<(f64, &Law)> = weights.iter().copied().zip(&start).collect();
                    (weights.iter().sum(), lead, Law::mixture(&parts))
                };
                of_each(states).into_iter().map(mix).collect()
            }
        };
        for (weight, lead, start) in runs {
            let mut at = 0;
            chains.run(&start, &limit(ahead + lead), |chain| {
                find[at].add(weight, chain);
                at += 1;
            });
        }
        let Class { rate, message, .. } = *other;
        let left_found = find.last().map_or_else(Law::zero, |mixed| Law::mix(&mixed.left));
        let found = find.iter().map(|mixed| Law::mix(&mixed.sent)).collect();
        let met = come.iter().map(|mixed| Law::mix(&mixed.sent)).collect();
        let left_met = come.iter().map(|mixed| Law::mix(&mixed.left)).collect();
        Self { rate, message, present, met, found, left_found, left_met, chains }
    }

    /// Probability that the other class comes while `share` of the message is still to be sent, and the law of the
    /// delay then.
    fn interruption(&self, flits: f64, contending: f64) -> (f64, Law) {
        let steps = self.steps_of(flits);
        let nu = self.rate * contending * self.chains.own_flits_per_step();
        let weight = |r: usize| (-nu * (steps - r) as f64).exp() * (1.0 - (-nu).exp());
        let parts: Vec<(f64, &Law)> =
            self.met[..steps].iter().enumerate().map(|(at, law)| (weight(at + 1), law)).collect();
        let total: f64 = parts.iter().map(|(weight, _)| weight).sum();
        if total < 1e-300 { (0.0, Law::zero()) } else { (total, self.chains.in_cells(&Law::mixture(&parts))) }
    }

    fn steps_of(&self, flits: f64) -> usize {
        ((flits / self.chains.own_flits_per_step()).round() as usize).clamp(1, self.met.len())
    }

    /// Mean delay by what comes during the whole message \[cells\].
    fn mean_interruption(&self, flits: f64) -> f64 {
        let (total, law) = self.interruption(flits, 1.0);
        total * law.mean()
    }

    /// Delay by messages present with `flits` to go, less what later arrivals already count.
    fn found(&self, flits: f64) -> Law {
        let found = self.chains.in_cells(&self.found[self.steps_of(flits) - 1]);
        let whole = found.mean();
        if whole <= 0.0 {
            return Law::zero();
        }
        found.stretched((whole - self.mean_interruption(flits)).max(0.0) / whole)
    }

    /// What is left behind at the tail delays the next message of the own class: how often, and by what.
    fn left_behind(&self, own: &Class, other: &Class, present: f64) -> (f64, Law) {
        let nu = self.rate * self.chains.own_flits_per_step();
        let steps = self.left_met.len();
        let weight = |r: usize| (1.0 - present) * (-nu * (steps - r) as f64).exp() * (1.0 - (-nu).exp());
        // a message behind another arrives while that one is sent: weights by how long it takes
        let flits = self.chains.cells_per_step() * self.chains.unit;
        let takes = |delay: &Law| 1.0 + delay.mean() * flits / own.message;
        let met = self.left_met.iter().zip(&self.met).enumerate();
        let mut rest = 1.0 - present;
        let mut parts: Vec<(f64, &Law)> = Vec::new();
        for (at, (law, delay)) in met {
            rest -= weight(at + 1);
            parts.push((weight(at + 1) * takes(delay), law));
        }
        let found = self.found.last().map_or(1.0, takes);
        parts.push((present * found, &self.left_found));
        let nothing = Law::zero();
        parts.push((rest.max(0.0), &nothing));
        let left = Law::mixture(&parts);
        let share = left.positive();
        if share < 1e-12 {
            return (0.0, Law::zero());
        }
        let k = own.vtick / other.vtick;
        let chain = self.chains.run(&left.given_positive(), &|j| k * j, |_| ());
        let delay = self.chains.sent(&chain);
        let whole = delay.mean();
        let later = self.mean_interruption(own.message);
        (share, if whole > 0.0 { delay.stretched((whole - later).max(0.0) / whole) } else { Law::zero() })
    }
}

/// By state: the mean lead, and the weights of all places it may be had at; of states that are had at all.
fn of_each(places: impl Iterator<Item = [(f64, f64); 3]>) -> Vec<(f64, Vec<f64>)> {
    let mut states = [(); 3].map(|()| (0.0, Vec::new()));
    for place in places {
        for ((sum, weights), (weight, lead)) in states.iter_mut().zip(place) {
            *sum += weight * lead;
            weights.push(weight);
        }
    }
    let mean = |(sum, weights): (f64, Vec<f64>)| {
        let all: f64 = weights.iter().sum();
        (all > 1e-9).then(|| (sum / all, weights))
    };
    states.into_iter().filter_map(mean).collect()
}

impl LinkSharing {
    /// Of class `own` among all real-time classes of the link. `steps` tells how finely messages are followed.
    pub(super) fn new(classes: &[Class], own: usize, clock: Clock, unit: f64, steps: usize) -> Self {
        let class = &classes[own];
        let others: Vec<usize> = others(classes, own);
        let pair = |d: &usize| {
            let other = classes[*d].beside(class.message);
            // what may go before the tail: as the clocks advance, by their difference, and by what either leads
            let (k, ahead) = (class.vtick / other.vtick, (other.vtick - class.vtick).abs());
            let reach = (k + class.vtick + 1.0) * class.message + ahead;
            let chains = Chains::new((class, own), (&other, *d), unit, steps, reach);
            Pair::new(classes, (own, *d), &other, chains, clock)
        };
        let pairs = others.iter().map(pair).collect();
        let mut sharing = Self { message: class.message, pairs };
        // work is conserved, whoever goes first
        let load: f64 = classes.iter().map(Class::load).sum();
        let beside: Vec<f64> = sharing.pairs.iter().map(|pair| pair.present).collect();
        for _ in 0..4 {
            let any = seen_by_the_first(class, load, sharing.mean_delay(), sharing.mean_coming());
            for (pair, beside) in sharing.pairs.iter_mut().zip(&beside) {
                pair.present = (beside * any / (load - class.load())).min(0.95);
            }
        }
        sharing
    }

    /// Mean delay of a message by what it finds and what comes \[cycles\].
    pub(super) fn mean_delay(&self) -> f64 {
        self.together(|pair| pair.present * pair.found(self.message).mean())
    }

    /// Mean delay by what comes \[cycles\].
    fn mean_coming(&self) -> f64 {
        self.together(|_| 0.0)
    }

    fn together(&self, found: impl Fn(&Pair) -> f64) -> f64 {
        let one = |pair: &Pair| {
            let unit = pair.chains.unit;
            (found(pair) * unit, pair.mean_interruption(self.message) * unit)
        };
        delays_together(self.message, self.pairs.iter().map(one))
    }

    /// Mean wait of a header \[cells\] where no clock lets it pass: `k` flits of each class found go before it.
    pub(super) fn header_wait(&self, classes: &[Class], own: usize, unit: f64) -> f64 {
        let turn = |(pair, d): (&Pair, usize)| {
            let k = classes[own].vtick / classes[d].vtick;
            pair.present * k.min(pair.message)
        };
        self.pairs.iter().zip(others(classes, own)).map(turn).sum::<f64>() / unit
    }

    /// What surrounds the class at an output where the share `contending` of the others' messages comes over other
    /// inputs, `met` of those found, and whose gaps last `gap` cells on average.
    pub(super) fn environment(
        &self,
        grid: &Grid,
        classes: &[Class],
        own: usize,
        (contending, met): (f64, f64),
        gap: f64,
        unit: f64,
    ) -> LinkEnvironment {
        let (mut left_behind, mut unseen) = (Law::zero(), 1.0);
        let mut none_left = 1.0;
        let nothing = Interruptions::nothing(self.message / unit);
        let (mut in_step, mut lagging) = (nothing.clone(), nothing);
        let mut fresh = vec![Law::zero(); FRESH];
        let nested = [contending, 1.0].map(|contending| {
            let rates = self.pairs.iter().map(|pair| pair.rate * contending * unit).collect();
            let laws: Vec<Law> =
                self.pairs.iter().map(|pair| pair.interruption(self.message, contending).1).collect();
            Nested::new(grid, rates, &laws)
        });
        let (mut tails, mut at_once) = (Vec::new(), Vec::new());
        for (place, (pair, d)) in self.pairs.iter().zip(others(classes, own)).enumerate() {
            let present = pair.present * met;
            unseen *= 1.0 - present;
            let found = nested[0].within(grid, place, &pair.found(self.message));
            at_once.push(Presence { present, found, absent: grid.transform(&Law::zero()) });
            // I if it is not there, V_1 if it is
            let (come, _) = pair.interruption(self.message, contending);
            let met_whole = pair.found.last().map_or_else(Law::zero, |found| pair.chains.in_cells(found));
            let met_whole = nested[0].within(grid, place, &met_whole);
            let comes = nested[0].law(place).iter().map(|comes| (comes - 1.0) * come + 1.0).collect();
            tails.push(Presence { present, found: met_whole, absent: comes });
            let (share, delay) = pair.left_behind(&classes[own], &classes[d], present);
            none_left *= 1.0 - share;
            let delay = grid.law(nested[1].within(grid, place, &delay));
            left_behind = grid.sum(&left_behind, &delay.sometimes(share));
            let kinds = [(&mut in_step, contending), (&mut lagging, 1.0)];
            for ((between, contending), nested) in kinds.into_iter().zip(&nested) {
                let (total, _) = pair.interruption(self.message, contending);
                between.add(total, nested.law(place));
            }
            // what has come during a gap of g0
            let quiet = (-pair.rate * contending * (gap * unit).min(pair.message)).exp();
            for (at, fresh) in fresh.iter_mut().enumerate() {
                let to_go = self.message * (1.0 - at as f64 / FRESH as f64);
                *fresh = grid.sum(fresh, &pair.found(to_go).sometimes(1.0 - quiet));
            }
        }
        if without(Step::Fresh) {
            fresh.fill(Law::zero());
        }
        let set_up = grid.law(together(grid, &at_once));
        let beside = |d: usize| {
            let class = &classes[d];
            Sharer { load: class.load(), flits: classes[own].vtick / class.vtick, rate: class.rate * unit }
        };
        let sharers: Vec<Sharer> = others(classes, own).into_iter().map(beside).collect();
        LinkEnvironment {
            company: SharingChain::of(&sharers, 1.0 - none_left).filter(|_| !without(Step::SharingChain)),
            contending,
            in_step,
            lagging,
            alone: Some(together(grid, &tails)),
            set_up,
            left_behind: self.in_long_busy_periods(left_behind, classes, own, contending, unit),
            fresh,
            seen: (1.0 - unseen).min(0.95),
        }
    }

    /// `v_l` with long busy periods of the class, in which all arrivals of the others are served: the delay tends to
    /// `M σ_o / (1 - σ_o)`, the nearer the longer the class keeps the link (our approximation). It decides where a
    /// class saturates under schedulers without clocks that restart.
    fn in_long_busy_periods(
        &self,
        left_behind: Law,
        classes: &[Class],
        own: usize,
        contending: f64,
        unit: f64,
    ) -> Law {
        let others: f64 = others(classes, own).iter().map(|d| classes[*d].load()).sum();
        let long_run = self.message * others / (1.0 - others).max(0.02);
        let later = self.mean_coming();
        let (short_run, lacking) = (left_behind.mean(), (long_run - later) / unit - left_behind.mean());
        if lacking <= 0.0 || short_run <= 0.0 {
            return left_behind;
        }
        let stays = (classes[own].rate * contending * (self.message + later)).min(1.0);
        left_behind.stretched(1.0 + stays * lacking / short_run)
    }
}

/// Parts of a message at which what has come during a gap is looked up.
const FRESH: usize = 4;
