//! Poisson sources.

use super::Process;
use super::random::{Random, exponential};

/// Exponential times between messages.
#[derive(Clone, Debug)]
pub(super) struct Poisson {
    mean_cycles: f64,
    next: f64,
}

impl Poisson {
    /// From `start` on, with a mean time between messages.
    pub(super) fn new(random: &mut Random, start: f64, mean_cycles: f64) -> Self {
        Self { mean_cycles, next: start + mean_cycles * exponential(random) }
    }
}

impl Process for Poisson {
    #[inline]
    fn next_before(&mut self, random: &mut Random, limit: f64) -> Option<f64> {
        let generated = self.next;
        if generated > limit {
            return None;
        }
        self.next += self.mean_cycles * exponential(random);
        Some(generated)
    }
}
