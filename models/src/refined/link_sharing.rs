//! Real-time classes on one link behind a crossbar, stamped flit by flit by clocks that restart.
//!
//! A flit is stamped when it crosses the crossbar. A class that is sent as fast as it comes finds its queue empty in
//! each cycle, so its clock restarts in each: it carries no debt. When classes c and d meet, `e = V_d - V_c`, the
//! faster clock keeps the link until its restarting stamps (now + V) pass the first stamp of the other, `|e|`
//! cycles; from then on both queues hold flits and stamps accumulate: `k = V_c / V_d` flits of d go per flit of c.
//! Fair queueing and weighted round robin have no clock to catch up with: `k` from the first flit on.
//!
//! These chains of pairs tell what is found, and what comes, by messages that find none of their own class. What the
//! others do while the class keeps the link is told in `shared_queue`.

use super::Class;
use super::between::{Between, Nested, Presence, delays_together, together};
use super::greedy_chain::Chains;
use super::grid::Grid;
use super::interface::seen_by_the_first;
use super::law::Law;
use super::shared_queue::{Company, Sharer};
use super::station::Around;

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
    /// `X_r` \[cells\]: delay of the tail if it comes when `r` flits are still to go, by even steps up to all.
    met: Vec<Law>,
    /// `V_1` \[cells\]: the same if it is found.
    found: Vec<Law>,
    /// Left behind at the tail by the own message, if it was found, and if it came with `r` flits to go.
    left_found: Law,
    left_met: Vec<Law>,
    /// What a remainder of it delays the next message of the own class by \[cells\].
    chains: Chains,
}

impl Pair {
    fn new(classes: &[Class], own: usize, d: usize, chains: Chains, clocked: bool) -> Self {
        let beside = load_beside(classes, own, d);
        let limit = |j: f64| {
            let k = classes[own].vtick / classes[d].vtick;
            if !clocked {
                return k * j;
            }
            let e = classes[d].vtick - classes[own].vtick;
            if e > 0.0 { if j > e { k * (j - e) + 1.0 - k } else { 0.0 } } else { -e + 1.0 + k * (j - 1.0) }
        };
        let (mut met, mut left_met) = (Vec::new(), Vec::new());
        chains.run(&chains.message(), &limit, |chain| {
            met.push(chains.sent(chain));
            left_met.push(chain.left());
        });
        let mut found = Vec::new();
        let last = chains.run(&chains.found(beside), &limit, |chain| found.push(chains.sent(chain)));
        let Class { rate, message, .. } = classes[d];
        let left_found = last.left();
        Self { rate, message, present: beside, met, found, left_found, left_met, chains }
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
        if total < 1e-300 { (0.0, Law::zero()) } else { (total, Law::mixture(&parts)) }
    }

    fn steps_of(&self, flits: f64) -> usize {
        ((flits / self.chains.own_flits_per_step()).round() as usize).clamp(1, self.met.len())
    }

    /// Mean delay by what comes during the whole message \[cells\].
    fn mean_interruption(&self, flits: f64) -> f64 {
        let (total, law) = self.interruption(flits, 1.0);
        total * law.mean()
    }

    /// Delay by what is found with `flits` to go, less what is counted as coming later.
    fn found(&self, flits: f64) -> Law {
        let found = &self.found[self.steps_of(flits) - 1];
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
        // who comes behind another comes while that one is sent: weights by how long it takes
        let unit = self.chains.unit;
        let takes = |delay: &Law| 1.0 + delay.mean() * unit / own.message;
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

impl LinkSharing {
    /// Of class `own` among all real-time classes of the link. `steps` tells how finely messages are followed.
    pub(super) fn new(classes: &[Class], own: usize, clocked: bool, unit: f64, steps: usize) -> Self {
        let class = &classes[own];
        let others: Vec<usize> = others(classes, own);
        let pair = |d: &usize| {
            let chains = Chains::new(class, own, &classes[*d], *d, unit, steps);
            Pair::new(classes, own, *d, chains, clocked)
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
    pub(super) fn around(
        &self,
        grid: &Grid,
        classes: &[Class],
        own: usize,
        (contending, met): (f64, f64),
        gap: f64,
        unit: f64,
    ) -> Around {
        let (mut left_behind, mut unseen) = (Law::zero(), 1.0);
        let mut none_left = 1.0;
        let nothing = Between::nothing(self.message / unit);
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
            let met_whole = pair.found.last().map_or_else(Law::zero, Law::clone);
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
        let set_up = grid.law(together(grid, &at_once));
        // In a long busy period of the class all that comes of the others goes through: I + v_l tends to
        // M sigma_o / (1 - sigma_o). How far it gets depends on how long the class keeps the link (our approximation).
        let others: f64 = others(classes, own).iter().map(|d| classes[*d].load()).sum();
        let long_run = self.message * others / (1.0 - others).max(0.02);
        let coming = self.mean_coming();
        let (short_run, lacking) = (left_behind.mean(), (long_run - coming) / unit - left_behind.mean());
        if lacking > 0.0 && short_run > 0.0 {
            let stays = (classes[own].rate * contending * (self.message + coming)).min(1.0);
            left_behind = left_behind.stretched(1.0 + stays * lacking / short_run);
        }
        let beside = |d: usize| {
            let class = &classes[d];
            Sharer { load: class.load(), flits: classes[own].vtick / class.vtick, rate: class.rate * unit }
        };
        let sharers: Vec<Sharer> = self::others(classes, own).into_iter().map(beside).collect();
        Around {
            company: Company::of(&sharers, 1.0 - none_left),
            contending,
            in_step,
            lagging,
            alone: Some(together(grid, &tails)),
            set_up,
            left_behind,
            fresh,
            seen: (1.0 - unseen).min(0.95),
        }
    }
}

/// Parts of a message at which what has come during a gap is looked up.
const FRESH: usize = 4;

/// The other classes that send at all.
pub(super) fn others(classes: &[Class], own: usize) -> Vec<usize> {
    (0..classes.len()).filter(|d| *d != own && classes[*d].rate > 0.0).collect()
}

/// Load of class `d` where it has but what the rest leaves it, the own class being away:
/// `sigma_d / (1 - sum of the others but d)`, its presence under processor sharing.
pub(super) fn load_beside(classes: &[Class], own: usize, d: usize) -> f64 {
    let rest: f64 =
        classes.iter().enumerate().filter(|(e, _)| *e != own && *e != d).map(|(_, class)| class.load()).sum();
    (classes[d].load() / (1.0 - rest).max(0.02)).min(0.95)
}
