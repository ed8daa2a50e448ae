//! A run interval by interval, in tables and CSV.

use flitwise_experiment::answer::{Estimate, Interval};
use indicatif::HumanCount;

use super::page::mean;
use super::{messages, text};
use crate::outcome::Exit;
use crate::output::{self, Rows};

/// Rows of the table, about; CSV and JSON have every interval.
const MOST_ROWS: usize = 24;

const HEADS: [&str; 9] = [
    "start_cycle",
    "class",
    "messages",
    "delivered_flits_per_cycle",
    "delivered_half_width_95_flits_per_cycle",
    "network_latency_cycles",
    "network_latency_half_width_95_cycles",
    "total_latency_cycles",
    "total_latency_half_width_95_cycles",
];

/// One row per interval and class; what does not exist is empty.
pub(super) fn csv(intervals: &[Interval]) -> Result<(), Exit> {
    let mut rows = csv::Writer::from_writer(Vec::new());
    rows.write_record(HEADS)?;
    for interval in intervals {
        let means = [
            interval.delivered_flits_per_cycle,
            interval.network_latency_cycles,
            interval.total_latency_cycles,
        ];
        let both = |found: Option<Estimate>| {
            [text(found.map(|found| found.mean)), text(found.and_then(|found| found.half_width_95))]
        };
        let count = messages(interval.delivered_flits_per_cycle).to_string();
        let first = [interval.start_cycle.to_string(), interval.class.clone(), count];
        rows.write_record(first.into_iter().chain(means.into_iter().flat_map(both)))?;
    }
    output::write_csv(rows)
}

/// Some of the intervals, equally far apart, and the title.
pub(super) fn table(intervals: &[Interval], markdown: bool) -> (Rows, String) {
    let classes = intervals.iter().take_while(|one| one.start_cycle == intervals[0].start_cycle).count();
    let step = intervals.len().div_ceil(MOST_ROWS);
    let title = match step {
        1 => "Over time".to_owned(),
        _ => format!("Over time, one interval in {step} of {}", intervals.len() / classes.max(1)),
    };
    let heads = ["from cycle", "class", "flits/cycle", "network [cycles]", "total [cycles]", "messages"];
    let mut rows = Rows::new(&heads, markdown);
    for interval in intervals.chunks(classes.max(1)).step_by(step).flatten() {
        rows.add([
            HumanCount(interval.start_cycle).to_string(),
            interval.class.clone(),
            mean(interval.delivered_flits_per_cycle),
            mean(interval.network_latency_cycles),
            mean(interval.total_latency_cycles),
            HumanCount(messages(interval.delivered_flits_per_cycle)).to_string(),
        ]);
    }
    (rows, title)
}
