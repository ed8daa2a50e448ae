//! Random data with known means and percentiles, for the tests of this module.

use std::ops::RangeInclusive;

use flitwise_models::queueing::Md1;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use super::Batch;

pub(super) struct Draws(SplitMix64);

impl Draws {
    pub(super) fn from(seed: u64) -> Self {
        Self(SplitMix64::seed_from_u64(seed))
    }

    /// In (0, 1).
    pub(super) fn uniform(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    /// Mean 1.
    pub(super) fn exponential(&mut self) -> f64 {
        -self.uniform().ln()
    }

    /// Box and Muller.
    pub(super) fn normal(&mut self) -> f64 {
        let radius = (2.0 * self.exponential()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// Lindley: the wait of the next customer of an M/D/1 queue \[service times\].
    pub(super) fn next_wait(&mut self, wait: f64, load: f64) -> f64 {
        (wait + 1.0 - self.exponential() / load).max(0.0)
    }

    /// The wait of a customer long after the queue was empty \[service times\].
    pub(super) fn stationary_wait(&mut self, load: f64) -> f64 {
        (0..200).fold(0.0, |wait, _| self.next_wait(wait, load))
    }
}

/// `P(W > x)` of M/D/1 \[x in service times\].
pub(super) fn wait_exceeds(x: f64, load: f64) -> f64 {
    Md1 { rate: load, mean: 1.0 }.wait_exceeds(x).reached().expect("a load below one")
}

/// The wait that a share `p` exceeds, M/D/1.
pub(super) fn wait_exceeded_by(p: f64, load: f64) -> f64 {
    let (mut low, mut high) = (0.0, 15.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if wait_exceeds(middle, load) > p { low = middle } else { high = middle }
    }
    high
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    pub(super) replications: usize,
    pub(super) batches: usize,
}

impl Layout {
    /// Every replication starts anew, every batch goes on from the last.
    pub(super) fn fill<S, T>(
        self,
        draws: &mut Draws,
        start: impl Fn(&mut Draws) -> S,
        batch: impl Fn(&mut S, &mut Draws) -> T,
    ) -> Vec<Vec<T>> {
        (0..self.replications)
            .map(|_| {
                let mut state = start(draws);
                (0..self.batches).map(|_| batch(&mut state, draws)).collect()
            })
            .collect()
    }

    /// Waits of M/D/1 at load 0.7 \[service times\], 500 to a batch, as `batch` sees them.
    pub(super) fn waits<T>(self, draws: &mut Draws, batch: impl Fn(&[f64]) -> T) -> Vec<Vec<T>> {
        let start = |draws: &mut Draws| draws.stationary_wait(0.7);
        self.fill(draws, start, |wait, draws| {
            let next = |_| {
                *wait = draws.next_wait(*wait, 0.7);
                *wait
            };
            batch(&(0..500).map(next).collect::<Vec<f64>>())
        })
    }
}

/// From many units that are replications to many that are batches.
pub(super) const LAYOUTS: [Layout; 3] = [
    Layout { replications: 16, batches: 1 },
    Layout { replications: 4, batches: 8 },
    Layout { replications: 1, batches: 32 },
];

/// Batches of which each observation is a hit independently of all others.
pub(super) fn independent_hits(layout: Layout, draws: &mut Draws, count: u64, p: f64) -> Vec<Vec<Batch>> {
    layout.fill(
        draws,
        |_| (),
        |(), draws| Batch { count, sum: (0..count).filter(|_| draws.uniform() < p).count() as f64 },
    )
}

/// Share of repetitions in which `covered` holds.
pub(super) fn coverage(repetitions: u32, seed: u64, mut covered: impl FnMut(&mut Draws) -> bool) -> f64 {
    let mut draws = Draws::from(seed << 32);
    let hits = (0..repetitions).filter(|_| covered(&mut draws)).count();
    hits as f64 / f64::from(repetitions)
}

/// The share found may lie outside the range of true shares by 4 standard deviations of its own. A method
/// whose true coverage is inside the range then fails with probability below 1 in 1,000 whatever the seed:
/// 3e-5 by the normal law, at most 5e-4 by the binomial, whose tail towards 1/2 is heavier (100 repetitions).
pub(super) fn assert_coverage(share: f64, repetitions: u32, wanted: RangeInclusive<f64>) {
    let slack = |p: f64| 4.0 * (p * (1.0 - p) / f64::from(repetitions)).sqrt();
    let (low, high) = (*wanted.start(), *wanted.end());
    assert!(share >= low - slack(low) && share <= high + slack(high), "coverage {share}, wanted {wanted:?}");
}
