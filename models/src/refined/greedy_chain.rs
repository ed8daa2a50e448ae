//! What one class sends between the flits of a message of another, on a link that serves stamps in order.
//!
//! Class `d` may have sent at most `lim(j)` flits before flit `j` of the message goes. The link sends what there
//! is of `d` up to that limit, then the flit. So before flit `j`, of the work `S` of `d` that has come so far,
//! `D_j = min(S, lim(j))` has been sent, and `S` alone is the state: a Markov chain in `j`. During each cycle, of
//! the flit or of `d`, the next message of `d` comes with rate `lambda_d`.

use std::ops::Range;
use std::rc::Rc;

use super::Class;
use super::law::{Law, zeros};

/// The chain, as it stands before a flit.
#[derive(Clone, Debug)]
pub(super) struct GreedyChain {
    /// `P(S = 0), P(S = 1), ..`; the last cell holds all beyond.
    work: Vec<f64>,
    /// `lim(j)` \[flits\].
    limit: usize,
    message: usize,
    /// Arrivals while so many flits of d are sent: by themselves, and behind a flit of the message.
    arrivals: Rc<[Vec<Arrivals>; 2]>,
    /// Zeros between two passes.
    came: [Vec<f64>; 2],
}

/// Probabilities of no message, one and more (two) in some time.
type Arrivals = [f64; 3];

impl GreedyChain {
    /// Messages of `message` flits; `found` is the work there at the start, of which up to `length` is told apart.
    fn new(found: &Law, message: usize, arrivals: Rc<[Vec<Arrivals>; 2]>, length: usize) -> Self {
        let mut work = vec![0.0; length];
        for (x, p) in found.probabilities().iter().enumerate() {
            work[x.min(length - 1)] += p;
        }
        let came = std::array::from_fn(|_| vec![0.0; length + 2 * message]);
        Self { work, limit: 0, message, arrivals, came }
    }

    /// Sends what may go before the first flit.
    pub(super) fn begin(&mut self, limit: usize) {
        self.serve(limit, false);
    }

    /// Sends a flit of the message, then what may go before the next one.
    pub(super) fn advance(&mut self, limit: usize) {
        self.serve(limit, true);
    }

    /// A pass over rising `S`: arrivals only lead upwards.
    fn serve(&mut self, limit: usize, after_flit: bool) {
        let limit = limit.max(self.limit);
        let (old, last, m) = (self.limit, self.work.len() - 1, self.message);
        let [alone, behind_flit] = &*self.arrivals;
        let sent = if after_flit { behind_flit } else { alone };
        // with S after one or two arrivals whose work has not been looked at yet
        let [once, twice] = &mut self.came;
        // what was there: up to the old limit nothing is sent, beyond the new one all between the two
        let (from, to) = (old.min(last), limit.min(last));
        let mut pass = |range: Range<usize>, [none, one, two]: Arrivals| {
            let once = &mut once[range.start + m..range.end + m];
            let twice = &mut twice[range.start + 2 * m..range.end + 2 * m];
            for ((work, once), twice) in self.work[range].iter_mut().zip(once).zip(twice) {
                *once += *work * one;
                *twice += *work * two;
                *work *= none;
            }
        };
        if after_flit {
            pass(0..from, sent[0]);
        }
        for (s, arrivals) in (from..to).zip(sent) {
            pass(s..s + 1, *arrivals);
        }
        pass(to..last, sent[(limit - old).min(last)]);
        // what has come is sent in its turn, up to the limit
        let within = last.min(limit + 2 * m);
        for from in (m..within).step_by(m) {
            let to = within.min(from + m);
            let (now, later) = once.split_at_mut(from + m);
            let (now_twice, later_twice) = twice.split_at_mut(from + 2 * m);
            let came = now[from..to].iter_mut().zip(&mut now_twice[from..to]);
            let comes = later.iter_mut().zip(later_twice);
            let all = self.work[from..to].iter_mut().zip(came).zip(comes);
            let pass = |work: &mut f64, came: [&mut f64; 4], [a, b]: [&Arrivals; 2]| {
                let [once, twice, later, later_twice] = came;
                *work += *once * a[0] + *twice * b[0];
                *later += *once * a[1] + *twice * b[1];
                *later_twice += *once * a[2] + *twice * b[2];
                (*once, *twice) = (0.0, 0.0);
            };
            if to <= limit {
                let [a, b] = [&alone[m.min(last)], &alone[(2 * m).min(last)]];
                for ((work, (once, twice)), (later, later_twice)) in all {
                    pass(work, [once, twice, later, later_twice], [a, b]);
                }
                continue;
            }
            for (s, ((work, (once, twice)), (later, later_twice))) in (from..to).zip(all) {
                let sent = |back: usize| s.min(limit) - s.saturating_sub(back).min(limit);
                pass(work, [once, twice, later, later_twice], [&alone[sent(m)], &alone[sent(2 * m)]]);
            }
        }
        // beyond it nothing is sent meanwhile
        let beyond = within.max(m).min(last);
        let came = once[beyond..last].iter_mut().zip(&mut twice[beyond..last]);
        for (work, (once, twice)) in self.work[beyond..last].iter_mut().zip(came) {
            *work = *work + std::mem::take(once) + std::mem::take(twice);
        }
        for came in [once, twice] {
            self.work[last] += came[last..].iter().sum::<f64>();
            came[last..].fill(0.0);
        }
        self.limit = limit;
    }

    /// `D_j`: what has been sent so far.
    pub(super) fn sent(&self) -> Law {
        let mut weights = zeros(self.limit.min(self.work.len() - 1) + 1);
        let last = weights.len() - 1;
        for (s, p) in self.work.iter().enumerate() {
            weights[s.min(last)] += p;
        }
        Law::of(weights)
    }

    /// `S - D_j`: what is left behind.
    pub(super) fn left(&self) -> Law {
        let mut weights = zeros(self.work.len());
        for (s, p) in self.work.iter().enumerate() {
            weights[s - s.min(self.limit)] += p;
        }
        Law::of(weights)
    }
}

/// Chains of one class against another, both in steps of some flits, with results in cells.
#[derive(Clone, Debug)]
pub(super) struct Chains {
    /// Steps of an own message, and of one of the other class.
    own_steps: usize,
    steps: usize,
    /// Flits per step.
    own_flits: f64,
    flits: f64,
    /// What comes of the other class while it is sent.
    arrivals: Rc<[Vec<Arrivals>; 2]>,
    /// Whether equal stamps go to the own class.
    wins_ties: bool,
    /// Steps of work that are told apart at most, and those that may matter to the next own message.
    length: usize,
    left: usize,
    /// Cycles per cell.
    pub(super) unit: f64,
}

/// Steps of a message at most: with them the work of a chain is bounded, however long messages are.
const MOST_STEPS: f64 = 128.0;

impl Class {
    /// The class beside messages of so many flits: of those so short that they do not fill a step, several come at
    /// once.
    pub(super) fn beside(&self, flits: f64) -> Self {
        let together = (flits / MOST_STEPS / self.message).ceil().max(1.0);
        Self { rate: self.rate / together, message: self.message * together, ..*self }
    }
}

impl Chains {
    /// Chains in which the shorter message has at most about `2 steps` steps, and what matters of the longer one at
    /// most [`MOST_STEPS`]: all of an own message, and of one of the other class the `reach` flits that may go before
    /// the end of an own one.
    pub(super) fn new(
        (own, own_index): (&Class, usize),
        (other, index): (&Class, usize),
        unit: f64,
        steps: usize,
        reach: f64,
    ) -> Self {
        let quantum = (own.message.min(other.message) / steps as f64).floor().max(1.0);
        let reach = reach.clamp(own.message.min(other.message), other.message);
        let own_steps = (own.message / quantum.max(own.message / MOST_STEPS)).round().max(1.0);
        let other_steps = (other.message / quantum.max(reach / MOST_STEPS)).round().max(1.0);
        let left = own.vtick / other.vtick * own.message * other_steps / other.message;
        // enough for what may be sent, and for a burst of messages; what is beyond reach is not told apart
        let length = f64::max(6.0 * other_steps, (2.0 * (left + other_steps)).min(16.0 * other_steps));
        let reach = if other_steps > MOST_STEPS { MOST_STEPS + left + 2.0 } else { f64::INFINITY };
        let length = length.min(reach) as usize + 1;
        // messages of the other class per step of its own; third classes are left out
        let rate = other.rate * other.message / other_steps;
        let behind_flit = own.message / own_steps / (other.message / other_steps);
        let arrivals = [0.0, behind_flit].map(|before| {
            let one = |sent: usize| {
                let time = sent as f64 + before;
                let none = (-rate * time).exp();
                let one = rate * time * none;
                [none, one, (1.0 - none - one).max(0.0)]
            };
            (0..length).map(one).collect()
        });
        Self {
            own_steps: own_steps as usize,
            steps: other_steps as usize,
            own_flits: own.message / own_steps,
            flits: other.message / other_steps,
            arrivals: Rc::new(arrivals),
            wins_ties: own_index < index,
            length,
            left: left.ceil() as usize + 1,
            unit,
        }
    }

    /// Steps of an own message.
    pub(super) fn own_steps(&self) -> usize {
        self.own_steps
    }

    /// Flits of an own message per step.
    pub(super) fn own_flits_per_step(&self) -> f64 {
        self.own_flits
    }

    /// A whole message of the other class.
    pub(super) fn message(&self) -> Law {
        Law::constant(self.steps as f64)
    }

    /// The other class as found with some load: what is left of a message, and what waits behind it.
    pub(super) fn found(&self, load: f64) -> Law {
        let residual = self.message().residual();
        let waiting = self.waiting(load);
        let mut weights = vec![0.0; self.length];
        let last = self.length - 1;
        let within = residual.probabilities().len().min(last);
        let (near, far) = residual.probabilities().split_at(within);
        for (x, p) in near.iter().enumerate() {
            for (y, q) in waiting.probabilities().iter().enumerate() {
                weights[(x + y).min(last)] += p * q;
            }
        }
        weights[last] += far.iter().sum::<f64>();
        Law::of(weights)
    }

    /// Work behind the message in service in M/D/1: `(1 - sigma) / (1 - sigma res(z))`, term by term.
    pub(super) fn waiting(&self, load: f64) -> Law {
        let residual = self.message().residual();
        let r = residual.probabilities();
        let mut weights = vec![0.0; self.length];
        for x in 0..self.length {
            // w = (1 - sigma) delta_0 + sigma r * w
            let from: f64 = (1..r.len().min(x + 1)).map(|y| r[y] * weights[x - y]).sum();
            let start = if x == 0 { 1.0 - load } else { 0.0 };
            weights[x] = (start + load * from) / (1.0 - load * r[0]);
        }
        Law::of(weights)
    }

    /// Runs a chain from `found` through a message; `limit` gives `lim(j)` in flits, `each` sees every step.
    pub(super) fn run(
        &self,
        found: &Law,
        limit: &dyn Fn(f64) -> f64,
        mut each: impl FnMut(&GreedyChain),
    ) -> GreedyChain {
        let in_steps = |j: usize| {
            let flits = limit(j as f64 * self.own_flits);
            let steps = if self.flits > 1.0 || self.own_flits > 1.0 {
                // a limit in whole flits is half a flit lower on average
                (flits - 0.5) / self.flits + 0.5
            } else if self.wins_ties {
                flits - 1e-6
            } else {
                flits + 1e-6
            };
            steps.floor().clamp(0.0, 1e9) as usize
        };
        // work beyond the last limit stays, and no more of it than its own last limit goes before the next message
        let length = self.length.min(in_steps(self.own_steps).saturating_add(self.left).saturating_add(1));
        let mut chain = GreedyChain::new(found, self.steps, Rc::clone(&self.arrivals), length);
        chain.begin(in_steps(1));
        each(&chain);
        for j in 2..=self.own_steps {
            chain.advance(in_steps(j));
            each(&chain);
        }
        chain
    }

    /// What a chain has sent \[cells\].
    pub(super) fn sent(&self, chain: &GreedyChain) -> Law {
        self.in_cells(&chain.sent())
    }

    /// A number of steps of the other class, in cells.
    pub(super) fn in_cells(&self, steps: &Law) -> Law {
        steps.stretched(self.flits / self.unit)
    }

    /// Cells of a step of the other class.
    pub(super) fn cells_per_step(&self) -> f64 {
        self.flits / self.unit
    }
}
