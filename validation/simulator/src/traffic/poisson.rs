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
    pub(super) fn new(random: &mut Random, rate: f64) -> Self {
        let mean_cycles = 1.0 / rate;
        Self { mean_cycles, next: mean_cycles * exponential(random) }
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
