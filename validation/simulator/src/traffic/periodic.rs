//! Evenly spaced messages with a uniform phase.

use super::Process;
use super::random::{Random, uniform};

/// A message every `1 / rate` cycles; the first falls anywhere in the first interval.
pub(super) struct Periodic {
    interval: f64,
    next: f64,
}

impl Periodic {
    /// The process of a class at a node.
    pub(super) fn new(random: &mut Random, rate: f64) -> Self {
        let interval = 1.0 / rate;
        Self { interval, next: uniform(random) * interval }
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
