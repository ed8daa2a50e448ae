//! Evenly spaced messages with a uniform phase.

use super::Process;
use super::phases::Pace;
use super::random::{Random, uniform};

/// A message every interval; the first falls anywhere in the first one.
pub(super) struct Periodic {
    pace: Pace,
    next: f64,
}

impl Periodic {
    /// From `start` on.
    pub(super) fn new(random: &mut Random, start: f64, mut pace: Pace) -> Self {
        let (from, interval) = pace.from(start);
        Self { pace, next: from + uniform(random) * interval }
    }
}

impl Process for Periodic {
    fn next_before(&mut self, random: &mut Random, limit: f64) -> Option<f64> {
        let time = self.next;
        if time > limit {
            return None;
        }
        let (from, interval) = self.pace.from(time);
        // behind a pause it starts as at first
        let place = if from > time { uniform(random) } else { 1.0 };
        self.next = from + place * interval;
        Some(time)
    }
}
