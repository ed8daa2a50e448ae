//! Header and tail of a message on their way through several routers.
//!
//! With `H` and `T` the delays of header and tail against a lone message, `T >= H`, the gaps inside the message are
//! `T - H`. A wait of the header lets the flits behind catch up, so that it costs the tail nothing as long as there
//! are gaps; and each router hides `A` cycles of a gap, by which its header takes longer than a body flit. Both
//! delays are followed together, router by router (our own approximation: what the routers add is independent, but
//! for what is said below):
//!
//! ```text
//! H <- H + a                  wait for the own class: own output queue, and behind others in the input channel
//! T <- T - A                  what the header's longer way hides
//! T <- T + fresh  if T > H    what has come on the link while it ran dry
//! T <- max(T, H)
//! T <- max(T, H + v), H <- min(H + e, T)    found work of other classes; the header passes it but for e
//! T <- T + I                  interruptions by other classes
//! ```
//!
//! With a probability `1 - φ` the gap is so far behind the header that its wait cannot close it (messages longer than
//! the buffers): then header and tail both wait.
//!
//! Two things are remembered from router to router:
//!
//! - A message that has waited for its predecessor follows it closely into the next input channel and waits there again
//!   if that one is blocked ([`Behind`]); with the probability `p` that both want the same output it stays behind.
//! - A message that has made a gap is on the same channel in the midst of the gap. If it wants the same output, again
//!   `p`, its own header's longer way makes the flits behind it wait on the link what the crossbar would have hidden: a
//!   gap that is *escorted* stays as it is.
//!
//! Where there is no gap, or the header has met no more than other classes once, laws are held cell by cell, so that
//! a message with at most one delay on the way is exact. Only what is left over is put on a [`Lattice`].

mod lattice;
mod weights;

use super::ablation::{Step, without};
use super::grid::Grid;
use super::in_buffer::InBuffer;
use super::law::Law;
use lattice::{Lattice, OutputDelays};
pub(super) use weights::mix;
use weights::{add_at, both, first, greater, hidden, positive, raced, scale, scaled, shifted};

/// Probability below which the end of a law, or a corner of the lattice, is not looked at.
const NOTHING: f64 = 1e-6;
/// The same for laws by cells.
const NONE: f64 = 1e-9;

/// How a message comes behind its predecessor: alone, close behind it, since it waited for it at the router upstream,
/// or as far apart as both came over one input.
pub(super) const STATES: usize = 3;
pub(super) const ALONE: usize = 0;
pub(super) const CLOSE: usize = 1;
const SPACED: usize = 2;

/// Joint law of the two delays; weights by cells, which sum to one over all of it.
#[derive(Clone)]
pub(super) struct TailAndHeader<'g> {
    grid: &'g Grid,
    /// `H = T`, by how the message comes behind its predecessor.
    closed: [Vec<f64>; STATES],
    /// `T` where `H` is nothing, and where it is `e`: free gaps and escorted ones.
    gaps: [[Vec<f64>; 2]; 2],
    /// All else, and how much of it is in each state, or escorted.
    lattice: Lattice,
    states: [f64; STATES],
    escorted: f64,
}

/// What a message meets at one router, weights by cells.
#[derive(Clone, Default)]
pub(super) struct RouterDelays {
    /// Wait behind the own class alone, for the output: as others come, and directly behind a message of the same input
    /// that wanted the same output.
    pub(super) own: [Vec<f64>; 2],
    /// Wait of the header in the input channel, by how it comes behind its predecessor.
    pub(super) in_channel: [Vec<f64>; STATES],
    /// Work of others found by a message that finds none of its class, and by others.
    pub(super) found: [Vec<f64>; 2],
    /// What has come while the link ran dry; nothing on the last link.
    pub(super) fresh: Vec<f64>,
    /// `I`
    pub(super) interrupted: Vec<f64>,
    /// `e`: how much of the found work the header waits for \[cells\].
    pub(super) header: f64,
    /// `A` \[cells\]
    pub(super) hidden: f64,
    /// `φ`
    pub(super) closed: f64,
    /// `p`: how often another message of the same input channel wants the same output.
    pub(super) same: f64,
}

/// How a message leaves that has not waited for its class at the output, and one that has.
const STATE: [usize; 2] = [ALONE, CLOSE];

/// Messages that have not waited for their class at the output, or that have.
#[derive(Default)]
struct Group {
    /// Without gaps.
    closed: [Vec<f64>; STATES],
    /// What comes to the lattice.
    lattice: Option<Lattice>,
}

/// Messages in the midst of a router.
struct Transit<'m> {
    met: &'m RouterDelays,
    /// Headers on the two rows of gaps; none on the second where they wait for all that they find.
    passed: Option<usize>,
    groups: [Group; 2],
    gaps: [[Vec<f64>; 2]; 2],
    /// Gaps of messages that have just found others present.
    born: Vec<f64>,
    /// The lattice behind the router, and what of it was not there before: by state, and escorted.
    after: Lattice,
    came: [f64; STATES],
    came_escorted: f64,
}

impl Transit<'_> {
    /// `H` on a row of gaps.
    fn header(&self, row: usize) -> usize {
        if row == 0 { 0 } else { self.passed.unwrap_or(0) }
    }
}

impl<'g> TailAndHeader<'g> {
    /// On entry: messages that found the interface idle or busy, after their waits in the buffer. Where both have
    /// been delayed the lattice has `side` points, `step` cells apart.
    pub(super) fn new(
        grid: &'g Grid,
        (side, step): (usize, f64),
        in_buffer: &InBuffer,
        gaps: &[Law; 2],
    ) -> Self {
        let mut start = Self {
            grid,
            closed: Default::default(),
            gaps: Default::default(),
            lattice: Lattice::new(side, step),
            states: [0.0, 0.0, 1.0],
            escorted: 1.0,
        };
        let scaled =
            |law: &Law, share: f64| law.probabilities().iter().map(|p| p * share).collect::<Vec<f64>>();
        for ((gaps, waits), share) in gaps.iter().zip(&in_buffer.waits).zip(in_buffer.shares()) {
            let mut gap = scaled(gaps, share * waits.at(0));
            add_at(&mut start.closed[ALONE], 0, std::mem::take(&mut gap[0]));
            mix(&mut start.gaps[0][1], 1.0, &gap);
            let mut waits = scaled(waits, share);
            waits[0] = 0.0;
            raced(&waits, gaps.probabilities(), &mut start.closed[SPACED], &mut start.lattice);
        }
        start
    }

    /// Through a router.
    pub(super) fn cross(&mut self, met: &RouterDelays) {
        let mut moving = Transit {
            met,
            passed: met.header.is_finite().then_some(met.header.round() as usize),
            groups: self.wait_without_gaps(met),
            gaps: std::mem::take(&mut self.gaps),
            born: Vec::new(),
            after: self.lattice.emptied(),
            came: [0.0; STATES],
            came_escorted: 0.0,
        };
        for row in 0..2 {
            self.wait_with_gaps(&mut moving, row);
        }
        let stays = self.cross_lattice(&mut moving);
        for i in 0..2 {
            self.find(&mut moving, i);
        }
        for row in 0..2 {
            self.find_with_gaps(&mut moving, row);
        }
        self.interrupt(moving, stays);
    }

    /// `H <- H + a`, `T <- H`
    fn wait_without_gaps(&mut self, met: &RouterDelays) -> [Group; 2] {
        let mut groups = [Group::default(), Group::default()];
        // by whether their predecessor wants the same output
        let mut waited = [Vec::new(), Vec::new()];
        for (state, before) in std::mem::take(&mut self.closed).iter().enumerate() {
            let weights = self.sum(before, &met.in_channel[state]);
            let same = if state == ALONE { 0.0 } else { met.same };
            mix(&mut waited[0], 1.0 - same, &weights);
            mix(&mut waited[1], same, &weights);
        }
        for ((state, waited), own) in [ALONE, SPACED].into_iter().zip(&waited).zip(&met.own) {
            mix(&mut groups[0].closed[state], first(own), waited);
            mix(&mut groups[1].closed[CLOSE], 1.0, &self.sum(waited, &positive(own)));
        }
        groups
    }

    /// `H <- H + a`, `T <- max(T - A, H)` on a row of gaps.
    fn wait_with_gaps(&self, moving: &mut Transit<'_>, row: usize) {
        let met = moving.met;
        let header = moving.header(row);
        let (none, alone) = (first(&met.own[0]), &met.in_channel[ALONE]);
        let [free, escorted] = &mut moving.gaps[row];
        // the message that makes an escorted gap goes on along with it, or not
        let same = if without(Step::Escorts) { 0.0 } else { met.same };
        mix(free, 1.0 - same, escorted);
        scale(escorted, same);
        *free = hidden(free, met.hidden, header);
        let all = both(free, escorted);
        let whole: f64 = all.iter().sum();
        if whole < NONE {
            free.clear();
            escorted.clear();
            return;
        }
        let share = escorted.iter().sum::<f64>() / whole;
        let waits = [scaled(&positive(alone), none), self.sum(alone, &positive(&met.own[0]))];
        for (i, wait) in waits.iter().enumerate() {
            let waiting: f64 = wait.iter().sum();
            if waiting * whole < NONE {
                continue;
            }
            let wait = shifted(wait, header);
            let Group { closed, lattice } = &mut moving.groups[i];
            let lattice = lattice.get_or_insert_with(|| self.lattice.emptied());
            let mut open = raced(&scaled(&wait, met.closed), &all, &mut closed[STATE[i]], lattice);
            if met.closed < 1.0 {
                // both wait
                lattice.open(&scaled(&wait, 1.0 - met.closed), &all[header.min(all.len())..]);
                open += (1.0 - met.closed) * whole * waiting;
            }
            moving.came[STATE[i]] += open;
            moving.came_escorted += open * share;
        }
        // no wait; what has shrunk to nothing is closed
        for gap in [free, escorted] {
            scale(gap, none * first(alone));
            for p in gap.iter_mut().take(header + 1) {
                add_at(&mut moving.groups[0].closed[ALONE], header, std::mem::take(p));
            }
        }
    }

    /// All but interruptions on the lattice. How many of it leave in each state.
    fn cross_lattice(&self, moving: &mut Transit<'_>) -> [f64; STATES] {
        let met = moving.met;
        let mass = self.lattice.mass();
        let mut in_channel = Vec::new();
        for (share, law) in self.states.iter().zip(&met.in_channel) {
            mix(&mut in_channel, *share, law);
        }
        let same = (1.0 - self.states[ALONE]) * met.same;
        let mut own = scaled(&met.own[0], 1.0 - same);
        mix(&mut own, same, &met.own[1]);
        let quiet = first(&own);
        let escorts = if without(Step::Escorts) { 0.0 } else { met.same };
        let waits = [scaled(&in_channel, quiet), self.sum(&in_channel, &positive(&own))];
        let fresh = self.lattice.weights(&met.fresh);
        for (i, wait) in waits.iter().enumerate() {
            let others = moving.groups[i].lattice.take();
            if mass > NONE || others.is_some() {
                let met = OutputDelays {
                    wait: self.lattice.weights(wait),
                    found: self.lattice.weights(&met.found[i]),
                    hidden: met.hidden * (1.0 - self.escorted * escorts),
                    header: met.header,
                    closed: met.closed,
                };
                moving.after.add(&self.lattice.crossed(&met, others, &fresh));
            }
        }
        let [alone, spaced] = [(1.0 - same) * first(&met.own[0]), same * first(&met.own[1])];
        [alone * mass, (1.0 - quiet) * mass, spaced * mass]
    }

    /// `T <- H + v`, `H <- min(H + e, T)` where there is no gap.
    fn find(&mut self, moving: &mut Transit<'_>, i: usize) {
        let found = &moving.met.found[i];
        for (state, closed) in std::mem::take(&mut moving.groups[i].closed).iter().enumerate() {
            let Some(passed) = moving.passed else {
                let delayed = self.sum(closed, found);
                mix(&mut self.closed[state], 1.0, &delayed);
                continue;
            };
            // what is longer than the header waits for opens a gap
            let longer = positive(&found[passed.min(found.len())..]);
            if let Some(p) = closed.first() {
                mix(&mut moving.born, *p, &shifted(&longer, passed));
            }
            let open = closed.iter().skip(1).sum::<f64>() * longer.iter().sum::<f64>();
            if open > NONE {
                moving.after.open(&shifted(&positive(closed), passed), &longer);
                moving.came[state] += open;
                moving.came_escorted += open;
            }
            let delayed = self.sum(closed, &found[..found.len().min(passed + 1)]);
            mix(&mut self.closed[state], 1.0, &delayed);
        }
    }

    /// `T <- max(T, H + v)`, `H <- min(H + e, T)` on a row of gaps.
    fn find_with_gaps(&mut self, moving: &mut Transit<'_>, row: usize) {
        let found = &moving.met.found[0];
        let (none, header) = (first(found), moving.header(row));
        let [free, escorted] = &mut moving.gaps[row];
        let all = both(free, escorted);
        if (1.0 - none) * all.iter().sum::<f64>() < NONE {
            return;
        }
        scale(free, none);
        scale(escorted, none);
        let mut tails = greater(&all, &shifted(&positive(found), header));
        let Some(passed) = moving.passed else {
            mix(&mut self.closed[ALONE], 1.0, &tails);
            return;
        };
        let at = header + passed;
        for (t, p) in tails.iter_mut().enumerate().take(at + 1) {
            add_at(&mut self.closed[ALONE], t, std::mem::take(p));
        }
        if at == passed {
            mix(&mut moving.born, 1.0, &tails);
        } else {
            let open: f64 = tails.iter().sum();
            moving.after.add_row(at, &tails);
            moving.came[ALONE] += open;
            moving.came_escorted += open;
        }
    }

    /// `T <- T + I`, where there have been gaps with what has come while the link ran dry; who interrupts escorts a
    /// gap.
    fn interrupt(&mut self, moving: Transit<'_>, mut states: [f64; STATES]) {
        let Transit { met, passed, mut gaps, born, after, came, came_escorted, .. } = moving;
        let interrupted = &met.interrupted;
        let (quiet, come) = (first(interrupted), positive(interrupted));
        let with_fresh = self.sum(&met.fresh, interrupted);
        for [free, escorted] in &mut gaps {
            let disturbed = self.sum(&both(free, escorted), &positive(&with_fresh));
            scale(free, first(&with_fresh));
            scale(escorted, first(&with_fresh));
            mix(escorted, 1.0, &disturbed);
        }
        let row = usize::from(passed.is_some_and(|passed| passed > 0));
        mix(&mut gaps[row][1], 1.0, &self.sum(&born, interrupted));
        let before: f64 = states.iter().sum();
        let (mut closed, mut opened) = (Vec::new(), 0.0);
        for (state, weights) in self.closed.iter_mut().enumerate() {
            if let Some(p) = weights.first() {
                mix(&mut gaps[0][1], *p, &come);
            }
            let open = weights.iter().skip(1).sum::<f64>() * (1.0 - quiet);
            states[state] += came[state] + open;
            opened += open;
            mix(&mut closed, 1.0, &positive(weights));
            scale(weights, quiet);
        }
        self.gaps = gaps;
        let whole = states.iter().sum::<f64>().max(1e-300);
        self.states = states.map(|state| state / whole);
        let escorted = (before * self.escorted * met.same + came_escorted + opened) / whole;
        self.escorted = 1.0 - (1.0 - escorted.min(1.0)) * quiet;
        self.lattice =
            if interrupted.len() > 1 { after.tail_delayed(&after.weights(interrupted), 0) } else { after };
        if 1.0 - quiet > NONE {
            self.lattice.open(&closed, &come);
        }
    }

    /// Delay of the tail \[cells\].
    pub(super) fn tail(&self) -> Law {
        let mut cells = Vec::new();
        for weights in self.closed.iter().chain(self.gaps.iter().flatten()) {
            mix(&mut cells, 1.0, weights);
        }
        self.lattice.add_tails(&mut cells);
        Law::of(cells)
    }

    /// The sum of two.
    fn sum(&self, x: &[f64], y: &[f64]) -> Vec<f64> {
        self.grid.convolved(x, y)
    }
}

#[cfg(test)]
mod tests;
