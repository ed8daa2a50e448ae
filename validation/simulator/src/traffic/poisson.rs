//! Poisson sources.

use super::Process;
use super::phases::Pace;
use super::random::{Random, exponential};

/// Exponential times between messages.
#[derive(Clone, Debug)]
pub(super) struct Poisson {
    pace: Pace,
    next: f64,
}

impl Poisson {
    /// From `start` on, with a mean time between messages.
    pub(super) fn new(random: &mut Random, start: f64, mut pace: Pace) -> Self {
        let (from, mean_cycles) = pace.from(start);
        Self { pace, next: from + mean_cycles * exponential(random) }
    }
}

impl Process for Poisson {
    #[inline]
    fn next_before(&mut self, random: &mut Random, limit: f64) -> Option<f64> {
        let generated = self.next;
        if generated > limit {
            return None;
        }
        let (from, mean_cycles) = self.pace.from(generated);
        self.next = from + mean_cycles * exponential(random);
        Some(generated)
    }
}
