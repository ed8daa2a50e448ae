//! Deadlines of frames: a table, and columns of CSV.

use flitwise_experiment::answer::{ClassSimulation, Estimate, FrameDeadlineSimulation, Simulation};
use indicatif::HumanCount;

use super::page::mean;
use crate::output::{self, Rows};

/// A row for each class and rule.
pub(super) fn table(answer: &Simulation, markdown: bool) -> Rows {
    let heads = ["class", "rule", "missing probability", "missing time [cycles]", "law of records", "frames"];
    let mut rows = Rows::new(&heads, markdown);
    for class in &answer.classes {
        for rule in &class.frame_deadlines {
            rows.add([
                class.name.clone(),
                rule.head(),
                mean(rule.deadline_missing_probability),
                mean(rule.deadline_missing_time_cycles),
                output::share(rule.law_of_records),
                HumanCount(rule.frames).to_string(),
            ]);
        }
    }
    rows
}

/// The rules of all classes, by what their columns begin with.
pub(super) fn prefixes(answer: &Simulation) -> Vec<String> {
    let mut prefixes: Vec<String> = Vec::new();
    for rule in answer.classes.iter().flat_map(|class| &class.frame_deadlines) {
        let prefix = rule.prefix();
        if !prefixes.contains(&prefix) {
            prefixes.push(prefix);
        }
    }
    prefixes
}

/// Columns of a class with their names, the same for every class.
pub(super) fn fields(class: &ClassSimulation, prefixes: &[String]) -> Vec<(String, String)> {
    let text = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    let mut fields = Vec::new();
    for prefix in prefixes {
        let found = class.frame_deadlines.iter().find(|rule| rule.prefix() == *prefix);
        let mut add = |name: &str, of: fn(&FrameDeadlineSimulation) -> Option<Estimate>| {
            let estimate = found.and_then(of);
            fields.push((format!("{prefix}_{name}"), text(estimate.map(|one| one.mean))));
            let width = estimate.and_then(|one| one.half_width_95);
            fields.push((format!("{prefix}_{name}_half_width_95"), text(width)));
        };
        add("deadline_missing_probability", |rule| rule.deadline_missing_probability);
        add("deadline_missing_time_cycles", |rule| rule.deadline_missing_time_cycles);
        if prefix == "ratchet" {
            fields.push(("law_of_records".to_owned(), text(found.and_then(|rule| rule.law_of_records))));
        }
    }
    fields
}
