//! Deadlines of frames: by which rules frames are late, and how often they are.
//!
//! The *ratchet* (Yum, Kim and Das, ISCA 2001): a frame may come as late in its interval as the latest of its stream
//! before it. A frame misses it if its offset is a record. Of independent offsets of one continuous law, whatever it
//! is, frame `k` is one with probability `1 / (k + 1)` (Rényi 1962), so that the share of frames that miss it says
//! nothing about a network in a steady state: it is `(H_K - 1) / (K - 1)` over `K` frames of a stream.

use crate::statistics::Batch;
use flitwise_language::scenario::{ClassSpec, FrameDeadline};
use serde::{Deserialize, Serialize};

/// Offsets that differ by less are equal: times of frames are sums of real numbers \[cycles\].
const ROUNDING: f64 = 1e-6;

/// One rule by which frames are late.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Rule {
    Ratchet,
    /// Wanted so long after the end of the interval \[cycles\].
    Playout(f64),
}

/// The rules of a class one by one, in the order of the scenario.
pub(crate) fn rules(class: &ClassSpec) -> Vec<Rule> {
    let rules = class.frame_deadline.iter().flat_map(|rule| match rule {
        FrameDeadline::Ratchet => vec![Rule::Ratchet],
        FrameDeadline::Playout { delays } => delays.iter().map(|delay| Rule::Playout(*delay)).collect(),
    });
    rules.collect()
}

/// What a rule says of one frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Judgement {
    /// How late it is; `None` if it is not \[cycles\].
    pub(crate) late_by: Option<f64>,
    /// The probability to miss the ratchet if all offsets of the stream were independent and of one law.
    pub(crate) record: f64,
}

/// A rule that judges the frames of a stream in their order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Judge {
    rule: Rule,
    /// Interval of the frames \[cycles\].
    interval: f64,
    /// Frames judged, and the largest offset among them.
    frames: u32,
    latest: f64,
}

impl Judge {
    pub(crate) fn new(rule: Rule, interval: f64) -> Self {
        Self { rule, interval, frames: 0, latest: f64::NEG_INFINITY }
    }

    /// Judges the next frame by its offset, from the start of its interval to its delivery; `None` where there is no
    /// deadline.
    pub(crate) fn judge(&mut self, offset: f64) -> Option<Judgement> {
        let deadline = match self.rule {
            Rule::Ratchet => self.latest,
            Rule::Playout(delay) => self.interval + delay,
        };
        let is_first = self.frames == 0;
        self.frames += 1;
        self.latest = self.latest.max(offset);
        let late_by = offset - deadline;
        let judgement = Judgement {
            late_by: Some(late_by).filter(|late_by| *late_by > ROUNDING),
            record: 1.0 / f64::from(self.frames),
        };
        (self.rule != Rule::Ratchet || !is_first).then_some(judgement)
    }
}

/// Frames of a class held against one rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct DeadlineTally {
    pub(crate) frames: u64,
    pub(crate) missed: u64,
    /// How late the missed ones were, summed \[cycles\].
    pub(crate) late_by: f64,
    /// Misses of the ratchet that the law of records expects.
    pub(crate) records: f64,
}

impl DeadlineTally {
    /// Of a share of frames that miss it.
    pub(crate) fn misses(&self) -> Batch {
        Batch { count: self.frames, sum: self.missed as f64 }
    }

    /// Of the mean time by which they do.
    pub(crate) fn lateness(&self) -> Batch {
        Batch { count: self.missed, sum: self.late_by }
    }

    pub(crate) fn add(&mut self, judgement: Judgement) {
        self.frames += 1;
        self.missed += u64::from(judgement.late_by.is_some());
        self.late_by += judgement.late_by.unwrap_or(0.0);
        self.records += judgement.record;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::student_quantile;
    use flitwise_simulator::{exponential, stream_of, uniform};

    fn tally(rule: Rule, offsets: impl IntoIterator<Item = f64>) -> DeadlineTally {
        let (mut judge, mut tally) = (Judge::new(rule, 100.0), DeadlineTally::default());
        offsets.into_iter().filter_map(|offset| judge.judge(offset)).for_each(|one| tally.add(one));
        tally
    }

    #[test]
    fn a_constant_offset_misses_no_ratchet_and_a_rising_one_only_misses() {
        let constant = tally(Rule::Ratchet, [120.0; 10]);
        assert_eq!((constant.frames, constant.missed, constant.late_by), (9, 0, 0.0));
        let rising = tally(Rule::Ratchet, (0..10).map(|k| 120.0 + 3.0 * f64::from(k)));
        assert_eq!((rising.frames, rising.missed, rising.late_by), (9, 9, 27.0));
        // 120, 130 missed, 125, 131 missed by 1
        let mixed = tally(Rule::Ratchet, [120.0, 130.0, 125.0, 131.0, 131.0]);
        assert_eq!((mixed.frames, mixed.missed, mixed.late_by), (4, 2, 11.0));
        let harmonic = 1.0 / 2.0 + 1.0 / 3.0 + 1.0 / 4.0 + 1.0 / 5.0;
        assert!((mixed.records - harmonic).abs() < 1e-12);
    }

    #[test]
    fn playout_is_missed_behind_interval_and_delay() {
        let found = tally(Rule::Playout(20.0), [100.0, 120.0, 121.0, 150.0]);
        assert_eq!((found.frames, found.missed, found.late_by), (4, 2, 31.0));
    }

    /// `(H_K - 1) / (K - 1)` of independent offsets, whatever their law, within the 99.9 % interval over 400 streams.
    #[test]
    fn independent_offsets_are_records_by_the_law_of_records() {
        const FRAMES: u32 = 20;
        let expected = (2..=FRAMES).map(|k| 1.0 / f64::from(k)).sum::<f64>() / f64::from(FRAMES - 1);
        let mut random = stream_of(1, 0, 0, 0);
        for law in 0..2 {
            let mut share = || {
                let draw = |_| if law == 0 { uniform(&mut random) } else { exponential(&mut random).powi(3) };
                let found = tally(Rule::Ratchet, (0..FRAMES).map(draw));
                assert!((found.records / found.frames as f64 - expected).abs() < 1e-12);
                found.missed as f64 / found.frames as f64
            };
            let shares: Vec<f64> = (0..400).map(|_| share()).collect();
            let n = shares.len() as f64;
            let mean = shares.iter().sum::<f64>() / n;
            let variance = shares.iter().map(|share| (share - mean).powi(2)).sum::<f64>() / (n - 1.0);
            let width = student_quantile(n - 1.0, 0.999_5).unwrap() * (variance / n).sqrt();
            assert!((mean - expected).abs() < width, "{mean} ±{width}, {expected}");
        }
    }
}
