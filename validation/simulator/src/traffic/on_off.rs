//! ON/OFF sources: independent streams that send bursts of messages.

use super::Process;
use super::random::{Random, exponential, uniform};

/// While ON a stream sends a message every `spacing` cycles; OFF periods are exponential.
#[derive(Clone, Debug)]
pub(super) struct OnOff {
    /// When each stream sends its next message.
    streams: Vec<f64>,
    spacing: f64,
    /// The probability that a burst goes on after a message.
    more: f64,
    mean_off: f64,
}

impl OnOff {
    /// Streams in their stationary state; together they reach `rate`.
    pub(super) fn new(
        random: &mut Random,
        rate: f64,
        streams: u32,
        messages_per_burst: f64,
        peak_rate: f64,
    ) -> Self {
        let spacing = 1.0 / peak_rate;
        // 1 / a = I / N + 1 / p
        let mean_rate = rate / f64::from(streams);
        let mean_off = messages_per_burst * (1.0 / mean_rate - spacing);
        // after a message the burst goes on with probability 1 - 1 / N
        let more = 1.0 - 1.0 / messages_per_burst;
        let mut source = Self { streams: Vec::new(), spacing, more, mean_off };
        for _ in 0..streams {
            // ON for a share a / p of the time, then anywhere between two messages
            let next = if uniform(random) < mean_rate / peak_rate {
                spacing * uniform(random) + source.off(random)
            } else {
                mean_off * exponential(random)
            };
            source.streams.push(next);
        }
        source
    }

    /// What comes after the time of a message: nothing if the burst goes on, else an OFF period \[cycles\].
    fn off(&self, random: &mut Random) -> f64 {
        if uniform(random) < self.more { 0.0 } else { self.mean_off * exponential(random) }
    }
}

impl Process for OnOff {
    fn next_before(&mut self, random: &mut Random, limit: f64) -> Option<f64> {
        let first = (0..self.streams.len()).min_by(|a, b| self.streams[*a].total_cmp(&self.streams[*b]))?;
        let generated = self.streams[first];
        if generated > limit {
            return None;
        }
        self.streams[first] += self.spacing + self.off(random);
        Some(generated)
    }
}
