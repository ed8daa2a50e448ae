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
//! - Who has waited for one of its class follows it closely into the next input channel and waits there again if that
//!   one is held up ([`Behind`]); with the probability `p` that both want the same output it stays behind.
//! - Who has made a gap comes over the same channel in the midst of the gap. If it wants the same output, again `p`, its
//!   own header's longer way makes the flits behind it wait on the link what the crossbar would have hidden: a gap that
//!   is *escorted* stays as it is.
//!
//! Where there is no gap, or the header has met no more than other classes once, laws are held cell by cell, so that
//! whoever meets one thing at most on the way is exact. Only what is left over is put on a [`Lattice`].

mod lattice;

use super::grid::Grid;
use super::law::Law;
use lattice::{Lattice, Met};

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
pub(super) struct Crossed {
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
struct Moving<'m> {
    met: &'m Crossed,
    /// Headers on the two rows of gaps; none on the second where they wait for all that they find.
    passed: Option<usize>,
    groups: [Group; 2],
    gaps: [[Vec<f64>; 2]; 2],
    /// Gaps of those who have just found others.
    born: Vec<f64>,
    /// The lattice behind the router, and what of it was not there before: by state, and escorted.
    after: Lattice,
    came: [f64; STATES],
    came_escorted: f64,
}

impl Moving<'_> {
    /// `H` on a row of gaps.
    fn header(&self, row: usize) -> usize {
        if row == 0 { 0 } else { self.passed.unwrap_or(0) }
    }
}

impl<'g> TailAndHeader<'g> {
    /// On entry: the share `first` has gaps only, the others have been in the buffer for a while, too. Where both have
    /// been delayed the lattice has `side` points, `step` cells apart.
    pub(super) fn new(
        grid: &'g Grid,
        (side, step): (usize, f64),
        first: f64,
        in_buffer: &Law,
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
        let later = (1.0 - first) * in_buffer.at(0);
        for (gap, share) in gaps.iter().zip([first, later]) {
            let mut gap = scaled(gap, share);
            add_at(&mut start.closed[ALONE], 0, std::mem::take(&mut gap[0]));
            mix(&mut start.gaps[0][1], 1.0, &gap);
        }
        let mut waits = scaled(in_buffer, 1.0 - first);
        waits[0] = 0.0;
        raced(&waits, gaps[1].probabilities(), &mut start.closed[SPACED], &mut start.lattice);
        start
    }

    /// Through a router.
    pub(super) fn cross(&mut self, met: &Crossed) {
        let mut moving = Moving {
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
    fn wait_without_gaps(&mut self, met: &Crossed) -> [Group; 2] {
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
    fn wait_with_gaps(&self, moving: &mut Moving<'_>, row: usize) {
        let met = moving.met;
        let header = moving.header(row);
        let (none, alone) = (first(&met.own[0]), &met.in_channel[ALONE]);
        let [free, escorted] = &mut moving.gaps[row];
        // who makes an escorted gap goes on along with it, or not
        mix(free, 1.0 - met.same, escorted);
        scale(escorted, met.same);
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
    fn cross_lattice(&self, moving: &mut Moving<'_>) -> [f64; STATES] {
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
        let waits = [scaled(&in_channel, quiet), self.sum(&in_channel, &positive(&own))];
        let fresh = self.lattice.weights(&met.fresh);
        for (i, wait) in waits.iter().enumerate() {
            let others = moving.groups[i].lattice.take();
            if mass > NONE || others.is_some() {
                let met = Met {
                    wait: self.lattice.weights(wait),
                    found: self.lattice.weights(&met.found[i]),
                    hidden: met.hidden * (1.0 - self.escorted * met.same),
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
    fn find(&mut self, moving: &mut Moving<'_>, i: usize) {
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
    fn find_with_gaps(&mut self, moving: &mut Moving<'_>, row: usize) {
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

    /// `T <- T + I`, where there have been gaps with what has come while the link ran dry; who interrupts escorts a gap.
    fn interrupt(&mut self, moving: Moving<'_>, mut states: [f64; STATES]) {
        let Moving { met, passed, mut gaps, born, after, came, came_escorted, .. } = moving;
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

/// Weight of nothing.
fn first(weights: &[f64]) -> f64 {
    weights.first().copied().unwrap_or(1.0)
}

/// Weights of all but nothing.
fn positive(weights: &[f64]) -> Vec<f64> {
    let mut weights = weights.to_vec();
    if let Some(none) = weights.first_mut() {
        *none = 0.0;
    }
    weights
}

fn scaled(weights: &[f64], share: f64) -> Vec<f64> {
    weights.iter().map(|p| p * share).collect()
}

fn scale(weights: &mut [f64], share: f64) {
    weights.iter_mut().for_each(|p| *p *= share);
}

/// So many cells more.
fn shifted(weights: &[f64], cells: usize) -> Vec<f64> {
    std::iter::repeat_n(0.0, cells).chain(weights.iter().copied()).collect()
}

/// Free gaps and escorted ones.
fn both(free: &[f64], escorted: &[f64]) -> Vec<f64> {
    let mut all = free.to_vec();
    mix(&mut all, 1.0, escorted);
    all
}

fn add_at(weights: &mut Vec<f64>, at: usize, p: f64) {
    if p > 0.0 {
        if weights.len() <= at {
            weights.resize(at + 1, 0.0);
        }
        weights[at] += p;
    }
}

/// Adds a weighted law to a mixture.
pub(super) fn mix(into: &mut Vec<f64>, share: f64, law: &[f64]) {
    if into.len() < law.len() {
        into.resize(law.len(), 0.0);
    }
    for (sum, p) in into.iter_mut().zip(law) {
        *sum += share * p;
    }
}

/// `max(T - A, H)`
fn hidden(gaps: &[f64], hidden: f64, header: usize) -> Vec<f64> {
    let (whole, part) = (hidden.floor() as usize, hidden.fract());
    let mut left = vec![0.0; gaps.len()];
    for (t, p) in gaps.iter().enumerate() {
        for (shift, share) in [(whole, 1.0 - part), (whole + 1, part)] {
            let to = t.saturating_sub(shift).max(header).min(t);
            left[to] += share * p;
        }
    }
    left
}

/// The greater of two, as weights whose sums multiply.
fn greater(x: &[f64], y: &[f64]) -> Vec<f64> {
    let (mut below_x, mut below_y, mut before) = (0.0, 0.0, 0.0);
    let at = |weights: &[f64], t: usize| weights.get(t).copied().unwrap_or(0.0);
    let weight = |t: usize| {
        below_x += at(x, t);
        below_y += at(y, t);
        let now: f64 = below_x * below_y;
        let weight = now - before;
        before = now;
        weight
    };
    (0..x.len().max(y.len())).map(weight).collect()
}

/// `T <- max(T, H)` of headers and tails that are independent: where the header comes last the gap is closed. How many
/// gaps are not.
fn raced(headers: &[f64], tails: &[f64], closed: &mut Vec<f64>, lattice: &mut Lattice) -> f64 {
    let mut below = 0.0;
    for (h, p) in headers.iter().enumerate() {
        below += tails.get(h).copied().unwrap_or(0.0);
        add_at(closed, h, p * below);
    }
    lattice.race(headers, tails)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crossed(own: &[f64], found: &[f64], header: f64, hidden: f64) -> Crossed {
        Crossed {
            own: [own.to_vec(), own.to_vec()],
            in_channel: std::array::from_fn(|_| vec![1.0]),
            found: [found.to_vec(), found.to_vec()],
            fresh: vec![1.0],
            interrupted: vec![1.0],
            header,
            hidden,
            closed: 1.0,
            same: 0.0,
        }
    }

    /// Always so many cells.
    fn always(cells: usize) -> Vec<f64> {
        (0..=cells).map(|x| if x == cells { 1.0 } else { 0.0 }).collect()
    }

    fn start(grid: &Grid, gap: f64) -> TailAndHeader<'_> {
        TailAndHeader::new(grid, (64, 1.0), 1.0, &Law::zero(), &[Law::constant(gap), Law::zero()])
    }

    #[test]
    fn a_gap_hides_waits_and_is_hidden_by_the_headers_longer_way() {
        let grid = Grid::of(128);
        let mut joint = start(&grid, 15.0);
        joint.cross(&crossed(&always(10), &[1.0], 0.0, 2.0));
        assert!((joint.tail().mean() - 13.0).abs() < 1e-9);
        joint.cross(&crossed(&always(10), &[1.0], 0.0, 2.0));
        // twice ten cycles of wait, and the gap is closed
        assert!((joint.tail().mean() - 20.0).abs() < 1e-9);
    }

    #[test]
    fn an_escorted_gap_is_not_hidden_until_its_maker_goes_elsewhere() {
        let grid = Grid::of(128);
        let mut joint = start(&grid, 15.0);
        let mut met = crossed(&[1.0], &[1.0], 0.0, 2.0);
        for (same, mean) in [(1.0, 15.0), (0.5, 14.0), (0.0, 12.0)] {
            met.same = same;
            joint.cross(&met);
            assert!((joint.tail().mean() - mean).abs() < 1e-9, "{same} {}", joint.tail().mean());
        }
    }

    #[test]
    fn who_has_waited_behind_another_waits_behind_it_again() {
        let grid = Grid::of(128);
        let mut joint = start(&grid, 0.0);
        let mut met = crossed(&[0.75, 0.0, 0.0, 0.0, 0.25], &[1.0], 0.0, 2.0);
        met.in_channel[CLOSE] = always(8);
        joint.cross(&met);
        assert!((joint.tail().mean() - 1.0).abs() < 1e-9);
        met.own = [vec![1.0], vec![1.0]];
        joint.cross(&met);
        let law = joint.tail();
        assert!((law.at(0) - 0.75).abs() < 1e-9 && (law.at(12) - 0.25).abs() < 1e-9);
    }

    #[test]
    fn found_work_is_a_gap_unless_the_header_waits_for_it() {
        let grid = Grid::of(128);
        for (header, delay) in [(0.0, 4.0), (3.0, 4.0), (f64::INFINITY, 6.0)] {
            let mut joint = start(&grid, 0.0);
            joint.cross(&crossed(&[1.0], &always(6), header, 2.0));
            assert!((joint.tail().mean() - 6.0).abs() < 1e-9);
            joint.cross(&crossed(&[1.0], &[1.0], 0.0, 2.0));
            assert!((joint.tail().mean() - delay).abs() < 1e-9, "{header}");
        }
    }

    #[test]
    fn a_wait_too_far_ahead_of_the_gap_does_not_close_it() {
        let grid = Grid::of(128);
        let mut met = crossed(&always(3), &[1.0], 0.0, 0.0);
        met.closed = 0.25;
        let mut joint = start(&grid, 8.0);
        joint.cross(&met);
        assert!((joint.tail().mean() - (0.25 * 8.0 + 0.75 * 11.0)).abs() < 1e-9);
    }

    #[test]
    fn probabilities_stay_one_and_means_do_not_hang_on_the_lattice() {
        let grid = Grid::of(512);
        let spread = |none: f64| -> Vec<f64> {
            (0..24).map(|x| if x == 0 { none } else { (1.0 - none) / 23.0 }).collect()
        };
        for header in [0.0, 2.0, f64::INFINITY] {
            let mean = |lattice: (usize, f64)| {
                let gaps = Law::of(spread(0.6));
                let in_buffer = Law::of(vec![0.2, 0.3, 0.5]);
                let mut joint = TailAndHeader::new(&grid, lattice, 0.6, &in_buffer, &[gaps.clone(), gaps]);
                for _ in 0..4 {
                    let mut met = crossed(&spread(0.8), &spread(0.7), header, 2.0);
                    met.in_channel[CLOSE] = spread(0.5);
                    met.fresh = spread(0.9);
                    met.interrupted = spread(0.8);
                    (met.closed, met.same) = (0.9, 0.5);
                    joint.cross(&met);
                }
                let lines: f64 = joint.closed.iter().chain(joint.gaps.iter().flatten()).flatten().sum();
                assert!((lines + joint.lattice.mass() - 1.0).abs() < 1e-5);
                joint.tail().mean()
            };
            let (fine, coarse) = (mean((256, 1.0)), mean((64, 4.0)));
            assert!((coarse / fine - 1.0).abs() < 0.02, "{header} {fine} {coarse}");
        }
    }
}
