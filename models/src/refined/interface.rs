//! The network interface: real-time classes share its link message by message stamped on arrival. What they do to
//! each other are gaps inside the messages, which belong to the network latency.
//!
//! Before flit `j` of a message of class c, `k = V_c / V_d`, so many flits of d may have gone (module `greedy_chain`):
//!
//! ```text
//! d comes while c is sent:                  lim(j) = (k - 1 / (2 V_d)) j
//! d found, u flits of its busy period sent: lim(j) = k j - u (1 - 1 / V_d)
//! d comes behind n messages of c:           lim(j) = n (V M - M / (1 - σ_o))+ / V_d + (k - 1 / (2 V_d))+ j
//! ```
//!
//! In the last one the clock of c leads, for each message before in its busy period, by what it ticks, `V M`, less the
//! time that a message takes beside the load `σ_o` of the others. `n` is geometric from one on, with the mean `(2 - ρ)
//! / 2 / (1 - ρ)^2` of M/D/1 at `ρ = σ / (1 - σ_o)`. Where flits of d have been left behind by the message before,
//! `lim(j) = k j`. In any case such a message is delayed no longer on average than if all others always went first,
//!
//! ```text
//! E[G_1] <= (M σ_o + Σ σ_d M_d / 2 / (1 - σ_o)) / (1 - σ_o)
//! ```
//!
//! (what is found, and what comes meanwhile).

use super::Class;
use super::between::{Between, Nested, Presence, delays_together, together};
use super::greedy_chain::{Chains, GreedyChain};
use super::grid::Grid;
use super::law::Law;
use super::link_sharing::{load_beside, others};
use super::station::{Around, Shape};

/// What the link of the interface does to messages of one class.
pub(super) struct Interface {
    /// `G_0`: gaps of a message that found none of its own class before it.
    pub(super) first: Between,
    /// `G_1`: of another.
    pub(super) later: Between,
    /// Gaps as of Poisson sources, where bursts above make others of them.
    pub(super) work: Option<Between>,
    /// `v_N`: what the header waits for: best effort only.
    pub(super) set_up: Law,
    /// `hw`: mean wait of a header for others in the midst of their turn \[cells\].
    pub(super) header_wait: f64,
    /// `g0`: mean length of one gap \[cells\].
    pub(super) gap: f64,
    /// What comes between the flits of a message, whatever it found.
    pub(super) coming: Between,
    /// What a stalled message waits for to regain the link: best effort only, an equal class has kept its stamps.
    pub(super) regain: Law,
}

/// What one other class does at the interface \[cells\].
struct Pair {
    /// A message of the own class \[cells\].
    message: f64,
    /// Probability that it is there, given that the own class is not.
    present: f64,
    /// Gaps if it comes while the message is sent, and if it is found.
    comes: Law,
    found: Law,
    /// Gaps of a message behind another of its class: if nothing of it was left behind, and if something was.
    all: Law,
    behind: Law,
    comes_left: f64,
    found_left: f64,
}

impl Pair {
    fn new(classes: &[Class], own: usize, d: usize, chains: &Chains, unit: f64) -> Self {
        let (class, other) = (&classes[own], &classes[d]);
        let k = class.vtick / other.vtick;
        let sigma = other.load();
        let run = |start: &Law, limit: &dyn Fn(f64) -> f64| chains.run(start, limit, |_: &GreedyChain| ());
        // d comes while c is sent: its clock has the mean age of half the flits sent, 1 / V_d ticks each
        let pace = 1.0 / other.vtick;
        let comes = run(&Law::zero(), &|j| (k - pace / 2.0) * j);
        // d found: it ran ahead of its clock by 1 - 1 / V_d of what its busy period has sent so far
        let beside = load_beside(classes, own, d);
        let waiting = chains.waiting(beside);
        let message = chains.message().mean();
        let (mut sent, mut left) = (Vec::new(), Vec::new());
        for (weight, u, before) in ages(sigma.min(0.9)) {
            let ran = other.message * (u + before) * (1.0 - pace);
            let chain = run(&waiting.plus(message * (1.0 - u)), &|j| k * j - ran);
            sent.push((weight, chains.sent(&chain)));
            left.push((weight, chain.left()));
        }
        let (found, found_left) = (Law::mix(&sent), Law::mix(&left));
        let comes_left = comes.left();
        let left = Law::mixture(&[(1.0 - beside, &comes_left), (beside, &found_left)]);
        // behind another of its class nothing of d is there, but it comes: the own clock leads by V M less the time
        // that a message takes, for each message before it
        let others: f64 = (0..classes.len()).filter(|e| *e != own).map(|e| classes[e].load()).sum();
        let takes = 1.0 / (1.0 - others).max(0.02);
        let lead = (class.vtick - takes).max(0.0) * class.message / other.vtick;
        let utilization = (class.load() * takes).min(0.98);
        let all = before(utilization).into_iter().map(|(weight, messages)| {
            let limit = |j: f64| messages * lead + (k - pace / 2.0).max(0.0) * j;
            (weight, chains.sent(&run(&Law::zero(), &limit)))
        });
        let all: Vec<(f64, Law)> = all.collect();
        let all = Law::mix(&all);
        let behind = chains.sent(&run(&left.given_positive(), &|j| k * j));
        Self {
            message: class.message / unit,
            present: beside,
            comes: chains.sent(&comes),
            found,
            all,
            behind,
            comes_left: comes_left.positive(),
            found_left: found_left.positive(),
        }
    }

    /// `G_0`: gaps of a message that found none of its class.
    fn first(&self) -> Law {
        Law::mixture(&[(1.0 - self.present, &self.comes), (self.present, &self.found)])
    }

    /// `G_1`: gaps of another.
    fn later(&self) -> Law {
        // who comes behind another comes while that one is sent: shares by how long it takes
        let takes = |law: &Law| self.message + law.mean();
        let (comes, found) = ((1.0 - self.present) * takes(&self.comes), self.present * takes(&self.found));
        let left = (1.0 - self.present) * self.comes_left * takes(&self.comes.given_positive())
            + found * self.found_left;
        let share = (left / (comes + found)).min(1.0);
        Law::mixture(&[(1.0 - share, &self.all), (share, &self.behind)])
    }
}

/// Weight and number of messages of the same busy period before one that is not the first.
///
/// In M/D/1 at utilization `ρ` their mean is `(2 - ρ) / 2 / (1 - ρ)^2`; they are spread geometrically.
fn before(rho: f64) -> Vec<(f64, f64)> {
    let mean = (2.0 - rho) / 2.0 / (1.0 - rho).powi(2);
    let r = 1.0 - 1.0 / mean;
    let mut points = vec![(1.0 - r, 1.0)];
    if r > 0.02 {
        points.push((r * (1.0 - r), 2.0));
        points.push((r * r, 2.0 + 1.0 / (1.0 - r)));
    }
    points
}

/// Weight, part of the message already sent, and messages of the same busy period before it, of a class found.
///
/// The age of an M/D/1 busy period at a random moment has the mean `M / 2 / (1 - sigma)^2`; what exceeds that of
/// one message is spread geometrically over whole messages.
pub(super) fn ages(sigma: f64) -> Vec<(f64, f64, f64)> {
    let before = ((1.0 - sigma).powi(-2) - 1.0) / 2.0;
    let r = before / (1.0 + before);
    let mut points: Vec<_> = (0..4).map(|i| ((1.0 - r) / 4.0, (f64::from(i) + 0.5) / 4.0, 0.0)).collect();
    if r > 0.02 {
        points.extend((0..2).map(|i| (r * (1.0 - r) / 2.0, (f64::from(i) + 0.5) / 2.0, 1.0)));
        points.push((r * r, 0.5, 2.0 + r / (1.0 - r)));
    }
    points
}

/// What the other real-time classes do to one at the interface, whatever the number of cells.
pub(super) struct GapsInside(Vec<Pair>);

impl GapsInside {
    /// Of class `own` among all real-time classes of the node.
    pub(super) fn new(classes: &[Class], own: usize, unit: f64, steps: usize) -> Self {
        let class = &classes[own];
        let others: Vec<usize> = others(classes, own);
        let chains: Vec<Chains> =
            others.iter().map(|d| Chains::new(class, own, &classes[*d], *d, unit, steps)).collect();
        let pair = |(d, chains): (&usize, &Chains)| Pair::new(classes, own, *d, chains, unit);
        let mut pairs: Vec<Pair> = others.iter().zip(&chains).map(pair).collect();
        let load: f64 = classes.iter().map(Class::load).sum();
        // behind another a message waits for no more than all that comes of the others
        let others = load - class.load();
        let all_come = class.message * others / (1.0 - others).max(0.02);
        let beside: Vec<f64> = pairs.iter().map(|pair| pair.present).collect();
        for _ in 0..4 {
            let first = |pair: &Pair| {
                let comes = pair.comes.mean() * unit;
                ((pair.first().mean() * unit - comes).max(0.0), comes)
            };
            let later = |pair: &Pair| (0.0, pair.later().mean() * unit);
            let first = delays_together(class.message, pairs.iter().map(first));
            let later = delays_together(class.message, pairs.iter().map(later)).min(all_come);
            let any = seen_by_the_first(class, load, first, later);
            for (pair, beside) in pairs.iter_mut().zip(&beside) {
                pair.present = (beside * any / others).min(0.95);
            }
        }
        Self(pairs)
    }
}

impl Interface {
    /// Gaps as of Poisson sources in a whole message and in what its buffer does not hold.
    pub(super) fn work_inside(&self, grid: &Grid, shape: Shape) -> Option<[Law; 2]> {
        let law = |flits: f64, gaps: &Between| {
            if flits > 0.0 { grid.law(gaps.over(grid, flits)) } else { Law::zero() }
        };
        self.work.as_ref().map(|gaps| [law(shape.message, gaps), law(shape.rest(), gaps)])
    }

    /// Of class `own` among all real-time classes of the node.
    pub(super) fn new(grid: &Grid, gaps: &GapsInside, classes: &[Class], own: usize, unit: f64) -> Self {
        let (GapsInside(pairs), class, others) = (gaps, &classes[own], others(classes, own));
        let nothing = Between::nothing(class.message / unit);
        let (mut first, mut later, mut coming) = (nothing.clone(), nothing.clone(), nothing);
        let (mut header_wait, mut gap, mut gaps) = (0.0, 0.0, 0.0);
        let comes: Vec<Law> = pairs.iter().map(|pair| pair.comes.given_positive()).collect();
        let rates = pairs.iter().map(|pair| pair.comes.positive() / class.message * unit).collect();
        let nested = Nested::new(grid, rates, &comes);
        let mut presences = Vec::new();
        for (place, (pair, d)) in pairs.iter().zip(&others).enumerate() {
            let other = &classes[*d];
            let gaps_first = pair.first();
            let within = |law: &Law| nested.within(grid, place, law);
            let (found, absent) = (within(&pair.found), within(&pair.comes));
            coming.add(pair.comes.positive(), nested.law(place));
            presences.push(Presence { present: pair.present, found, absent });
            let behind = pair.later();
            later.add(behind.positive(), &within(&behind.given_positive()));
            gap += gaps_first.mean();
            gaps += gaps_first.positive();
            let k = class.vtick / other.vtick;
            let turn = (k * k / (2.0 * other.message * (1.0 - other.load()).max(0.05))).min(k);
            header_wait += pair.present * turn.min(other.message) / unit;
        }
        // no more than if the others always went first: what is found of them, and what comes
        let load: f64 = others.iter().map(|d| classes[*d].load()).sum();
        let found: f64 = others.iter().map(|d| classes[*d].load() * classes[*d].message / 2.0).sum();
        let left = (1.0 - load).max(0.02);
        let most = (class.message * load + found / left) / left / unit;
        let mean = grid.law(later.over(grid, class.message / unit)).mean();
        if mean > most {
            later = later.part(most / mean);
        }
        let gap = if gaps > 0.0 { gap / gaps } else { 0.0 };
        first.add(1.0, &together(grid, &presences));
        Self { first, later, coming, work: None, regain: Law::zero(), set_up: Law::zero(), header_wait, gap }
    }
}

impl Interface {
    /// Without clocks that run ahead (fair queueing, weighted round robin) the interface shares its link as an output
    /// does: a first message finds `v` and meets `K`, a later one `v_l` and `K`, all of it as gaps.
    pub(super) fn without_clocks(grid: &Grid, around: &Around, message: f64, header_wait: f64) -> Self {
        let gaps = |found: &Law| {
            let mut between = around.lagging.clone();
            between.add(found.positive(), &grid.transform(&found.given_positive()));
            between
        };
        let (first, later) = (gaps(&around.set_up), gaps(&around.left_behind));
        let whole = grid.law(first.over(grid, message));
        Self {
            gap: whole.given_positive().mean(),
            first,
            later,
            coming: around.lagging.clone(),
            regain: Law::zero(),
            work: None,
            set_up: Law::zero(),
            header_wait,
        }
    }
}

/// Probability that any other class is at a link of load `all`, given that the own class is not: its messages
/// hold the link for `M` and `first` or, behind another, `later` cycles.
///
/// The link is busy for a share `all` of the time, whoever goes first (work is conserved), and free of the own
/// class for a share `P_0`; so the others are there alone for the difference.
pub(super) fn seen_by_the_first(class: &Class, all: f64, first: f64, later: f64) -> f64 {
    let m = class.message;
    // P_0 = (1 - l (M + G_1)) / (1 + l (G_0 - G_1));  P(any | own not there) = 1 - (1 - sigma) / P_0
    let own_free = (1.0 - class.rate * (m + later)) / (1.0 + class.rate * (first - later));
    (1.0 - (1.0 - all).max(0.02) / own_free.max(0.02)).clamp(0.0, 0.95)
}
