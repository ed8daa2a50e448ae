//! Deadlines of frames: how often they are missed, and by how much.

use flitwise_language::section::Measurement;
use schemars::JsonSchema;
use serde::Serialize;

use super::Estimate;
use crate::block::Measurements;
use crate::frames::WindowTally;
use crate::frames::deadlines::{DeadlineTally, Rule, rules};
use crate::statistics::{Batch, mean_of};
use flitwise_language::quantity::Quantity;

/// A rule by which frames are late, and how often they are; intervals are those over replications.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FrameDeadlineSimulation {
    /// `ratchet` or `playout`.
    pub rule: String,
    /// Of a playout: time behind the end of the interval of a frame \[cycles\].
    pub delay_cycles: Option<f64>,
    /// Share of the frames that are late.
    pub deadline_missing_probability: Option<Estimate>,
    /// Mean time by which late frames are late; `null` if none is \[cycles\].
    pub deadline_missing_time_cycles: Option<Estimate>,
    /// The same in milliseconds, with `[units]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline_missing_time_ms: Option<Estimate>,
    /// Frames held against the rule, in all replications.
    pub frames: u64,
    /// Of the ratchet: the share of late frames if offsets were independent of each other, whatever the network.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub law_of_records: Option<f64>,
}

impl FrameDeadlineSimulation {
    /// What fields of it begin with in tables of all rules: `ratchet`, `playout_1000`.
    pub fn prefix(&self) -> String {
        self.delay_cycles.map_or_else(|| self.rule.clone(), |delay| format!("{}_{delay}", self.rule))
    }

    /// The same on a page: `ratchet`, `playout 1000`.
    pub fn head(&self) -> String {
        self.prefix().replace('_', " ")
    }
}

/// An estimate as an entry of a section.
pub(super) fn measurement(found: Estimate) -> Measurement {
    Measurement { mean: found.mean, half_width_95: found.half_width_95 }
}

/// A ratio over replications.
pub(super) fn ratio(batches: impl Iterator<Item = Batch>) -> Option<Estimate> {
    let replications: Vec<Vec<Batch>> = batches.map(|batch| vec![batch]).collect();
    let found = mean_of(&replications)?;
    Some(Estimate { mean: found.mean, half_width_95: found.half_width_95, messages: found.count })
}

/// Every rule of a class held against frames of each replication.
pub(super) fn of(
    measured: &Measurements<'_>,
    class: usize,
    tallies: &[&WindowTally],
) -> Vec<FrameDeadlineSimulation> {
    let units = measured.scenario.spec().units.as_ref();
    let cycle_ms = units.and_then(|units| Some(units.cycle_ns()? / 1e6));
    let rules = rules(&measured.scenario.classes()[class]).into_iter().enumerate();
    let of_rule = |(at, rule): (usize, Rule)| {
        let each = || tallies.iter().filter_map(move |one| one.deadlines.get(at));
        let of = |batch: fn(&DeadlineTally) -> Batch| ratio(each().map(batch));
        let time = of(DeadlineTally::lateness);
        let records = || of(|one| Batch { count: one.frames, sum: one.records });
        FrameDeadlineSimulation {
            rule: if rule == Rule::Ratchet { "ratchet" } else { "playout" }.to_owned(),
            delay_cycles: match rule {
                Rule::Ratchet => None,
                Rule::Playout(delay) => Some(delay),
            },
            deadline_missing_probability: of(DeadlineTally::misses),
            deadline_missing_time_cycles: time,
            deadline_missing_time_ms: cycle_ms.and_then(|factor| Some(time?.times(factor))),
            frames: each().map(|one| one.frames).sum(),
            law_of_records: records().filter(|_| rule == Rule::Ratchet).map(|found| found.mean),
        }
    };
    rules.map(of_rule).collect()
}

/// What is known of the deadline that follows the latest frame; none where the class has no such one.
pub(super) fn ratchet(
    measured: &Measurements<'_>,
    class: usize,
    tallies: &[&WindowTally],
    quantity: Quantity,
) -> Option<Estimate> {
    let at = rules(&measured.scenario.classes()[class]).iter().position(|rule| *rule == Rule::Ratchet)?;
    let each = tallies.iter().filter_map(|one| one.deadlines.get(at));
    match quantity {
        Quantity::RatchetMisses => ratio(each.map(DeadlineTally::misses)),
        Quantity::RatchetLateness => ratio(each.map(DeadlineTally::lateness)),
        _ => None,
    }
}

/// Mean time from the start of the interval of a frame, `T`, to its delivery \[cycles\].
pub(super) fn latency(tallies: &[&WindowTally], interval: f64) -> Option<Estimate> {
    ratio(tallies.iter().map(|one| {
        let frames = one.offsets.frames;
        Batch { count: frames, sum: one.offsets.sum + frames as f64 * interval }
    }))
}

/// Standard deviation of the offsets of all frames \[cycles\].
pub(super) fn offset_deviation(tallies: &[&WindowTally]) -> Option<Estimate> {
    let mean = latency(tallies, 0.0)?.mean;
    let squares =
        |one: &&WindowTally| Batch { count: one.offsets.frames, sum: one.offsets.squares_about(mean) };
    ratio(tallies.iter().map(squares)).map(crate::frames::root)
}

/// Says what the share of frames that miss the ratchet is, where one is told.
pub(super) fn note(name: &str, deadlines: &[FrameDeadlineSimulation]) -> Option<String> {
    let found = deadlines.iter().find(|one| one.rule == "ratchet" && one.frames > 0)?;
    Some(format!(
        "{name}: the share of frames that miss the ratchet is the law of records, about (H_K - 1)/(K - 1) for K \
         frames of a stream whatever the router: {:.3} here if offsets were independent of each other",
        found.law_of_records?
    ))
}
