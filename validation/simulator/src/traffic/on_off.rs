//! ON/OFF sources: independent streams that send bursts of messages.

use super::Process;
use super::phases::Pace;
use super::random::{Random, exponential, uniform};

/// While ON a stream sends a message every `spacing` cycles; OFF periods are exponential.
#[derive(Clone, Debug)]
pub(super) struct OnOff {
    /// When each stream sends its next message.
    streams: Vec<f64>,
    spacing: f64,
    messages_per_burst: f64,
    /// The probability that a burst goes on after a message.
    more: f64,
    /// Means of OFF periods.
    pace: Pace,
}

/// Mean of OFF periods: `1 / a = I / N + 1 / p` of streams that reach a rate together.
pub(super) fn mean_off(rate: f64, streams: u32, messages_per_burst: f64, peak_rate: f64) -> f64 {
    messages_per_burst * (1.0 / (rate / f64::from(streams)) - 1.0 / peak_rate)
}

impl OnOff {
    /// Streams in their stationary state; together they reach `rate` when they begin.
    pub(super) fn new(
        random: &mut Random,
        rate: f64,
        mut pace: Pace,
        streams: u32,
        messages_per_burst: f64,
        peak_rate: f64,
    ) -> Self {
        let (from, mean_off) = pace.from(0.0);
        // after a message the burst goes on with probability 1 - 1 / N
        let more = 1.0 - 1.0 / messages_per_burst;
        let mut source =
            Self { streams: Vec::new(), spacing: 1.0 / peak_rate, messages_per_burst, more, pace };
        let share_on = rate / f64::from(streams) / peak_rate;
        for _ in 0..streams {
            let next = from + source.first(random, share_on, mean_off);
            source.streams.push(next);
        }
        source
    }

    /// When a stream in its stationary state sends first: ON for a share a / p of the time, then anywhere between two
    /// messages.
    fn first(&self, random: &mut Random, share_on: f64, mean_off: f64) -> f64 {
        if uniform(random) < share_on {
            // nothing if the burst goes on, else an OFF period
            let on = self.spacing * uniform(random);
            on + if uniform(random) < self.more { 0.0 } else { mean_off * exponential(random) }
        } else {
            mean_off * exponential(random)
        }
    }

    /// When a stream sends next after a message.
    fn after(&mut self, random: &mut Random, time: f64) -> f64 {
        if uniform(random) < self.more {
            return time + self.spacing;
        }
        let (from, mean_off) = self.pace.from(time);
        if from > time {
            // behind a pause it starts as at first
            let share_on = self.spacing / (mean_off / self.messages_per_burst + self.spacing);
            return from + self.first(random, share_on, mean_off);
        }
        time + (self.spacing + mean_off * exponential(random))
    }
}

impl Process for OnOff {
    fn next_before(&mut self, random: &mut Random, limit: f64) -> Option<f64> {
        let first = (0..self.streams.len()).min_by(|a, b| self.streams[*a].total_cmp(&self.streams[*b]))?;
        let generated = self.streams[first];
        if generated > limit {
            return None;
        }
        self.streams[first] = self.after(random, generated);
        Some(generated)
    }
}
