//! Evenly spaced messages with a uniform phase.

use super::Process;
use super::random::{Random, uniform};

/// A message every `interval` cycles; the first falls anywhere in the first interval.
pub(super) struct Periodic {
    interval: f64,
    next: f64,
}

impl Periodic {
    /// From `start` on.
    pub(super) fn new(random: &mut Random, start: f64, interval: f64) -> Self {
        Self { interval, next: start + uniform(random) * interval }
    }
}

impl Process for Periodic {
    fn next_before(&mut self, _: &mut Random, limit: f64) -> Option<f64> {
        let time = self.next;
        (time <= limit).then(|| {
            self.next = time + self.interval;
            time
        })
    }
}
