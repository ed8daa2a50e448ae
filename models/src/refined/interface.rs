//! Gaps that real-time classes make in each other's messages at the network interface.
//!
//! The interface shares its link message by message, stamped on arrival. Gaps belong to the network latency. Before
//! flit `j` of a message of class c, so many flits of class d may go first, with `k = V_c / V_d` (module
//! `greedy_chain`):
//!
//! ```text
//! d arrives while c is sent:                lim(j) = (k - 1 / (2 V_d)) j
//! d is present, u flits of its busy period sent: lim(j) = k j - u (1 - 1 / V_d)
//! d arrives behind n messages of c:         lim(j) = n (V M - M / (1 - σ_o))+ / V_d + (k - 1 / (2 V_d))+ j
//! ```
//!
//! Reason of the last limit: for each message before in its busy period the clock of c has ticked `V M`, while the
//! message took `M / (1 - σ_o)` beside the load `σ_o` of the others. `n = (2 - ρ) / 2 / (1 - ρ)^2` is the mean of M/D/1
//! at `ρ = σ / (1 - σ_o)`. If the message before has left flits of d behind, `lim(j) = k j`.
//!
//! In a long busy period of c all arrivals of the others are served, as far as the clocks allow. `E[G_1]` approaches
//! that limit `L` the nearer the longer the class keeps the link, for the share `u` of the time (our approximation):
//!
//! ```text
//! E[G_1] <- G + u (L - G),   L = M Σ min(σ_d / (1 - σ_o), V_c / V_d),   u = λ (M + G) / (1 - λ (L - G))
//! ```
//!
//! Reason: the source saturates at a load of one, so that no class gets more of a link than there is. Below saturation
//! the limit moves latencies by less than 0.1 points.

mod busy_period;

use super::greedy_chain::{Chains, GreedyChain};
use super::grid::Grid;
use super::interruptions::{Interruptions, Nested, Presence, delays_together, together};
use super::law::Law;
use super::station::{LinkEnvironment, Shape};
use super::{Class, load_beside, others};

pub(super) use busy_period::ages;

use busy_period::mean_before;

/// What the link of the interface does to messages of one class.
pub(super) struct Interface {
    /// `G_0`: gaps of a message that found none of its own class before it.
    pub(super) first: Interruptions,
    /// `G_1`: of another.
    pub(super) later: Interruptions,
    /// Gaps as of Poisson sources, where bursts above make others of them.
    pub(super) work: Option<Interruptions>,
    /// `v_N`: what the header waits for: best effort only.
    pub(super) set_up: Law,
    /// `hw`: mean wait of a header for others in the midst of their turn \[cells\].
    pub(super) header_wait: f64,
    /// `g0`: mean length of one gap \[cells\].
    pub(super) gap: f64,
    /// What comes between the flits of a message, whatever it found.
    pub(super) coming: Interruptions,
}

/// Loads of Poisson messages that make as long busy periods, and waits of those found, as a class does.
#[derive(Clone, Copy, Debug)]
pub(super) struct BusyPeriodLoads {
    /// Load at which busy periods last as long.
    pub(super) lasts: f64,
    /// Load at which as much waits behind a message that is found.
    pub(super) waits: f64,
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
    fn new(
        classes: &[Class],
        (own, d): (usize, usize),
        other: &Class,
        by_chance: BusyPeriodLoads,
        (unit, steps): (f64, usize),
    ) -> Self {
        let class = &classes[own];
        let others: f64 = (0..classes.len()).filter(|e| *e != own).map(|e| classes[e].load()).sum();
        let takes = 1.0 / (1.0 - others).max(0.02);
        let lead = (class.vtick - takes).max(0.0) * class.message / other.vtick;
        let utilization = (class.load() * takes).min(0.98);
        // by what the own clock leads behind the messages before in the busy period, on average
        let lead = lead * mean_before(utilization);
        // a clock that ticks faster than its flits come has run ahead by more than the message
        let ran = (1.0 / other.vtick - 1.0).max(0.0) * other.message;
        let reach = class.vtick / other.vtick * class.message + lead + ran;
        let chains = &Chains::new((class, own), (other, d), unit, steps, reach);
        let k = class.vtick / other.vtick;
        let run = |start: &Law, limit: &dyn Fn(f64) -> f64| chains.run(start, limit, |_: &GreedyChain| ());
        // d comes while c is sent: its clock has the mean age of half the flits sent, 1 / V_d ticks each
        let pace = 1.0 / other.vtick;
        let comes = run(&Law::zero(), &|j| (k - pace / 2.0) * j);
        // d found: it ran ahead of its clock by 1 - 1 / V_d of what its busy period has sent so far
        let beside = load_beside(classes, own, d);
        let waiting = chains.waiting(beside.min(by_chance.waits));
        let message = chains.message().mean();
        let (mut sent, mut left) = (Vec::new(), Vec::new());
        for (weight, u, before) in ages(by_chance.lasts.min(0.9)) {
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
        let all = chains.sent(&run(&Law::zero(), &|j| lead + (k - pace / 2.0).max(0.0) * j));
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
        // a message behind another arrives while that one is sent: shares by how long it takes
        let takes = |law: &Law| self.message + law.mean();
        let (comes, found) = ((1.0 - self.present) * takes(&self.comes), self.present * takes(&self.found));
        let left = (1.0 - self.present) * self.comes_left * takes(&self.comes.given_positive())
            + found * self.found_left;
        let share = (left / (comes + found)).min(1.0);
        Law::mixture(&[(1.0 - share, &self.all), (share, &self.behind)])
    }
}

/// What the other real-time classes do to one at the interface, whatever the number of cells.
pub(super) struct GapProcess {
    pairs: Vec<Pair>,
}

impl GapProcess {
    /// Of class `own` among all real-time classes of the node.
    ///
    /// Busy periods of each class are as long, and waits behind its own, as those of Poisson messages of a load
    /// `by_chance`.
    pub(super) fn new(
        classes: &[Class],
        by_chance: &[BusyPeriodLoads],
        own: usize,
        unit: f64,
        steps: usize,
    ) -> Self {
        let class = &classes[own];
        let others: Vec<usize> = others(classes, own);
        let pair = |d: &usize| {
            let other = classes[*d].beside(class.message);
            Pair::new(classes, (own, *d), &other, by_chance[*d], (unit, steps))
        };
        let mut pairs: Vec<Pair> = others.iter().map(pair).collect();
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
        Self { pairs }
    }
}

impl Interface {
    /// `G_0`, `G_1` over so many flits.
    pub(super) fn gaps_over(&self, grid: &Grid, flits: f64) -> [Law; 2] {
        let law =
            |gaps: &Interruptions| if flits > 0.0 { grid.law(gaps.over(grid, flits)) } else { Law::zero() };
        [law(&self.first), law(&self.later)]
    }

    /// Gaps as of Poisson sources in a whole message and in what its buffer does not hold.
    pub(super) fn work_inside(&self, grid: &Grid, shape: Shape) -> Option<[Law; 2]> {
        let law = |flits: f64, gaps: &Interruptions| {
            if flits > 0.0 { grid.law(gaps.over(grid, flits)) } else { Law::zero() }
        };
        self.work.as_ref().map(|gaps| [law(shape.message, gaps), law(shape.rest(), gaps)])
    }

    /// Of class `own` among all real-time classes of the node.
    pub(super) fn new(grid: &Grid, gaps: &GapProcess, classes: &[Class], own: usize, unit: f64) -> Self {
        let (GapProcess { pairs }, class, others) = (gaps, &classes[own], others(classes, own));
        let nothing = Interruptions::nothing(class.message / unit);
        let (mut later, mut coming) = (nothing.clone(), nothing.clone());
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
            let behind = pair.later();
            presences.push(Presence { present: pair.present, found, absent });
            later.add(behind.positive(), &within(&behind.given_positive()));
            gap += gaps_first.mean();
            gaps += gaps_first.positive();
            let k = class.vtick / other.vtick;
            let turn = (k * k / (2.0 * other.message * (1.0 - other.load()).max(0.05))).min(k);
            header_wait += pair.present * turn.min(other.message) / unit;
        }
        let mean = grid.law(later.over(grid, class.message / unit)).mean();
        let part = in_long_busy_periods(class, others.iter().map(|d| &classes[*d]), mean, unit);
        let gap = if gaps > 0.0 { gap / gaps } else { 0.0 };
        let first = |presences: &[Presence]| {
            let mut first = nothing.clone();
            first.add(1.0, &together(grid, presences));
            first
        };
        Self {
            first: first(&presences),
            later: later.part(part),
            coming,
            work: None,
            set_up: Law::zero(),
            header_wait,
            gap,
        }
    }
}

/// Factor on the `mean` gaps \[cells\] of a message behind another of its class, by the limit of long busy periods.
fn in_long_busy_periods<'c>(
    class: &Class,
    others: impl Iterator<Item = &'c Class> + Clone,
    mean: f64,
    unit: f64,
) -> f64 {
    let load: f64 = others.clone().map(Class::load).sum();
    let left = (1.0 - load).max(0.02);
    let turn = |d: &Class| (d.load() / left).min(class.vtick / d.vtick);
    let long_run = class.message * others.map(turn).sum::<f64>() / unit;
    let (keeps, lacking) = (class.message / unit + mean, long_run - mean);
    if lacking <= 0.0 || mean <= 0.0 {
        return 1.0;
    }
    let rate = class.rate * unit;
    let keeps = rate * keeps / (1.0 - rate * lacking).max(rate * keeps);
    1.0 + keeps * lacking / mean
}

impl Interface {
    /// Without clocks that run ahead (fair queueing, weighted round robin) the interface shares its link as an output
    /// does: a first message finds `v` and meets `K`, a later one `v_l` and `K`, all of it as gaps.
    pub(super) fn without_clocks(
        grid: &Grid,
        environment: &LinkEnvironment,
        message: f64,
        header_wait: f64,
    ) -> Self {
        let gaps = |found: &Law| {
            let mut between = environment.lagging.clone();
            between.add(found.positive(), &grid.transform(&found.given_positive()));
            between
        };
        let (first, later) = (gaps(&environment.set_up), gaps(&environment.left_behind));
        let whole = grid.law(first.over(grid, message));
        Self {
            gap: whole.given_positive().mean(),
            first,
            later,
            coming: environment.lagging.clone(),
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
    (1.0 - (1.0 - all).max(0.0) / own_free.max(0.02)).clamp(0.0, 0.95)
}
