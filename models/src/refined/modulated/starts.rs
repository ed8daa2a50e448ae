//! In which state of the streams above a message of best effort starts.
//!
//! Streams change at the rates of the chain of [`super`] among the spare states, in which the link can do more than
//! comes; overload counts as one state more, which lasts until the fluid queue of the streams is empty again and ends
//! in a spare state `j` with probability `ψ_j` (module `active_streams`). In each of them the class's own messages are
//! served at rate `μ_j = (1 - ρ_j) / M`, not at all under overload. They come one by one, or, in bursts of their own,
//! as batches of `N_e`, of a geometric number, that have the same mean work. Services taken as exponential, the batches
//! in the queue are a quasi birth and death process: with `π` the shares of the states,
//!
//! ```text
//! R = (λ / N_e) (λ / N_e + μ - Q - R μ)^-1
//! come ~ π (I - R);   later_j ~ μ_j [π R (1 - 1/N_e) + π R^2 / N_e]_j
//! ```
//!
//! so that messages that come while a burst keeps the link, and wait, are served after it (our approximation: blocked
//! messages stay no longer in service).
//!
//! # Start in a gap
//!
//! A message that finds none of its own starts in the first gap. In a state that leaves `f` of the link free, and ends
//! at rate `θ`, work above is a Brownian motion of drift `-f` and of the variance `σ² = Σ_0 λ M²` of what comes as
//! Poisson; it comes back to nothing before the state ends with probability
//!
//! ```text
//! P = (1 + f / sqrt(f² + 2 θ σ²)) / 2
//! ```
//!
//! whether `f` is positive or, in overload, negative: then a gap comes while overload has but begun. A
//! message that finds none is there in the next state, and after overload, in which gaps are no more, where that ends.
//! So nothing jumps where a state begins to overload the link.

use nalgebra::{DMatrix, DVector, RowDVector};

use crate::refined::bursts_above::Streams;
use crate::refined::bursty_source::{active_streams, returns};

/// How streams go on and off; times in cells.
pub(super) struct OnOffRates {
    /// `q`, `T` and `I`
    pub(super) go_on: f64,
    pub(super) on: f64,
    pub(super) off: f64,
    /// What Poisson messages, those that bursts start with among them, leave of the link.
    pub(super) left: f64,
}

impl OnOffRates {
    /// Rates at which one stream more, and one less, is in a burst.
    fn rates(&self, streams: f64, active: f64) -> (f64, f64) {
        ((streams - active) * self.go_on / self.off, active / self.on)
    }
}

/// `π`, `π R` and `π R^2`: shares of the time in each state, those with an occupied queue, and with two or more
/// customers; they arrive at a rate and are `served` at one that depends on the state.
fn queued(walk: &DMatrix<f64>, shares: &[f64], served: &[f64], arrivals: f64) -> [RowDVector<f64>; 3] {
    let n = shares.len();
    // R = λ (λ + μ - Q - R μ)^-1, states in rows
    let mut r = DMatrix::<f64>::zeros(n, n);
    let fixed =
        DMatrix::from_fn(n, n, |i, j| -walk[(i, j)] + if i == j { arrivals + served[i] } else { 0.0 });
    let down = DMatrix::from_diagonal(&DVector::from_row_slice(served));
    for _ in 0..500 {
        let Some(inverse) = (&fixed - &r * &down).try_inverse() else { break };
        let next = inverse * arrivals;
        let change = (&next - &r).amax();
        r = next;
        if change < 1e-7 {
            break;
        }
    }
    let all = RowDVector::from_row_slice(shares);
    let some = &all * &r;
    let more = &some * &r;
    [all, some, more]
}

/// The states of the streams, as a message that waits for a gap sees them.
pub(super) struct Starts {
    /// States told apart, `0..=k` streams in a burst.
    told: usize,
    /// What the link has to spare in each of the spare states.
    free: Vec<f64>,
    /// `ψ_j`: where overload ends, of the spare states.
    returns: Vec<f64>,
    /// `P`: whether a message that comes in a state finds a gap in it.
    begins: Vec<f64>,
    /// How much of overload is in each of the states.
    overloads: Vec<f64>,
    /// Rates between spare states and, the last, overload, and the shares of the time.
    walk: DMatrix<f64>,
    shares: Vec<f64>,
}

impl Starts {
    /// Of alike streams beside Poisson messages of `squares`, `Σ_0 λ M²` \[cells\].
    pub(super) fn new(alike: &Streams, turns: &OnOffRates, squares: f64) -> Self {
        let &OnOffRates { go_on, on, off, left } = turns;
        let share = go_on * on / (go_on * on + off);
        let (streams, peak) = (alike.streams, alike.peak);
        let told = streams as usize + 1;
        let free = |j: usize| left - j as f64 * peak;
        let spare = (0..told).filter(|j| free(*j) > 0.0).count();
        let nearest = |active: f64| (active as usize).min(spare - 1);
        let chances = active_streams(streams, share, peak / left);
        let mut shares = vec![0.0; spare + 1];
        for state in &chances {
            shares[nearest(state.active)] += state.clear();
        }
        shares[spare] = (1.0 - shares.iter().sum::<f64>()).max(1e-12);
        let mut overloads = vec![0.0; told];
        for state in chances.iter().filter(|state| state.active as usize >= spare) {
            overloads[state.active as usize] = (state.share / shares[spare]).min(1.0);
        }
        let back = returns(streams, share, peak / left);
        let mut returns = vec![0.0; spare];
        for (active, share) in &back {
            returns[nearest(*active)] += share;
        }
        if back.is_empty() {
            returns[spare - 1] = 1.0;
        }
        let mut walk = DMatrix::<f64>::zeros(spare + 1, spare + 1);
        for i in 0..spare {
            let (up, down) = turns.rates(streams, i as f64);
            if i > 0 {
                walk[(i, i - 1)] = down;
            }
            walk[(i, i + 1)] = up;
        }
        for (j, end) in returns.iter().enumerate() {
            walk[(spare, j)] = walk[(spare - 1, spare)] * shares[spare - 1] / shares[spare] * end;
        }
        for i in 0..=spare {
            walk[(i, i)] = -walk.row(i).sum();
        }
        let begins = |j: usize| {
            let (up, down) = turns.rates(streams, j as f64);
            let width = 2.0 * (up + down) * squares;
            let f = free(j);
            f64::midpoint(1.0, f / (f * f + width).sqrt().max(f64::MIN_POSITIVE))
        };
        Self {
            told,
            free: (0..spare).map(free).collect(),
            returns,
            begins: (0..told).map(begins).collect(),
            overloads,
            walk,
            shares,
        }
    }

    /// States in which messages of so many cells start that find none of their own, and those behind others; they come
    /// in batches of `batch` on average at `rate` messages per cell.
    pub(super) fn of(&self, message: f64, rate: f64, batch: f64) -> (Vec<f64>, Vec<f64>) {
        let spare = self.free.len();
        let served: Vec<f64> = self.free.iter().map(|free| free / message / batch).chain([0.0]).collect();
        let (walk, shares) = (&self.walk, &self.shares);
        let [all, some, more] = queued(walk, shares, &served, rate / batch);
        let empty = &all - &some;
        let normal = |mut shares: Vec<f64>| {
            let sum: f64 = shares.iter().sum();
            shares.iter_mut().for_each(|share| *share /= sum);
            shares.resize(self.told, 0.0);
            shares
        };
        let behind = |j: usize| some[j] * (1.0 - 1.0 / batch) + more[j] / batch;
        let later = (0..spare).map(|j| (served[j] * behind(j)).max(1e-30));
        (normal(self.begun(&empty)), normal(later.collect()))
    }

    /// Where messages start that come in the spare states, and in overload, with these shares.
    fn begun(&self, come: &RowDVector<f64>) -> Vec<f64> {
        let Self { told, returns, begins, overloads, walk, .. } = self;
        let spare = come.len() - 1;
        let goes = |i: usize, j: usize| walk[(i, j)] / -walk[(i, i)];
        // a message that finds no gap in a spare state is there in the next
        let stays =
            DMatrix::from_fn(spare, spare, |i, j| if i == j { 1.0 } else { -(1.0 - begins[i]) * goes(i, j) });
        let there = come.columns(0, spare);
        let there = stays.try_inverse().map_or_else(|| there.into_owned(), |inverse| there * inverse);
        let top = spare - 1;
        let within: f64 = overloads.iter().zip(begins).map(|(share, begins)| share * begins).sum();
        let after =
            there[top] * (1.0 - begins[top]) * goes(top, spare) + come[spare] * (1.0 - within).max(0.0);
        let begun = |j: usize| {
            let (lasting, back) =
                if j < spare { (there[j], returns[j]) } else { (come[spare] * overloads[j], 0.0) };
            (lasting * begins[j] + after * back).max(0.0)
        };
        (0..*told).map(begun).collect()
    }
}
