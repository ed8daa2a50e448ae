//! How an answer moves where a value is known only within a range.

use flitwise_language::quantity::Quantity;
use flitwise_language::scenario::{Document, Fault, Place, ValueSource};
use flitwise_language::section::{Cell, Layout, Section};
use flitwise_models::answer::{Answer, ClassAnswer};
use flitwise_models::model::Options;

use crate::output::Time;

/// What is told at both ends of a range.
const TOLD: Quantity = Quantity::TotalLatency;

/// A section with what every class has at both ends of every range, where there are any, and notes on ends that have no
/// answer.
pub(super) fn section(
    document: &Document,
    answer: &Answer,
    options: &Options,
) -> (Option<Section>, Vec<String>) {
    let sources = answer.scenario.sources.each().iter();
    let ranges: Vec<_> = sources.filter_map(|source| Some((source, source.range.as_ref()?))).collect();
    if ranges.is_empty() {
        return (None, Vec::new());
    }
    let unit = Time::of(&answer.scenario).unit;
    let (field, head) = (TOLD.field().trim_end_matches("_cycles"), TOLD.head());
    let mut section = Section::new("ranges", "Values that are known within a range", Layout::Rows)
        .column("key", "value", "")
        .column("from", "from", "")
        .column("to", "to", "")
        .column("class", "class", "")
        .column(format!("{field}_from_{unit}"), format!("{head} from"), unit)
        .column(format!("{field}_to_{unit}"), "to", unit);
    section.keys = 4;
    let options = &Options { details: false, distributions: false, expected_errors: false, ..*options };
    let mut notes = Vec::new();
    for (source, ends) in ranges {
        let found = ends.each_ref().map(|end| at(document, answer, options, (source, end)));
        notes.extend(found.iter().filter_map(|end| end.as_ref().err().cloned()));
        for (end, found) in ends.iter().zip(&found) {
            let is_full = |class: &&ClassAnswer| class.saturated;
            let full = found.iter().flat_map(|answer| answer.classes.iter().filter(is_full));
            notes.extend(full.map(|class| format!("{} = {end}: {} is saturated", source.key, class.name)));
        }
        for (place, class) in answer.classes.iter().enumerate() {
            let words = [&source.key, &ends[0], &ends[1], &class.name].map(|word| Cell::Word(word.clone()));
            let told = found.each_ref().map(|end| {
                let end = end.as_ref().ok()?;
                Time::of(&end.scenario).shown(TOLD, end.classes[place].value(TOLD.into()))
            });
            section.rows.push(words.into_iter().chain(told.map(Cell::from)).collect());
        }
    }
    (Some(section), notes)
}

/// The answer of the same model with the value at an end of its range.
fn at(
    document: &Document,
    answer: &Answer,
    options: &Options,
    (source, end): (&ValueSource, &str),
) -> Result<Answer, String> {
    let note = |because: String| format!("{} = {end} has no answer: {because}", source.key);
    let fault = |fault: &Fault| match fault.key == source.key {
        true => format!("wanted {}", fault.wanted),
        false => format!("{}: found {}, wanted {}", fault.key, fault.found, fault.wanted),
    };
    let (mut document, place) = (document.clone(), Place::Setting(source.key.as_str().into()));
    document.set(&source.key, end, &place).map_err(|found| note(fault(&found)))?;
    let scenario = document
        .scenario()
        .map_err(|faults| note(faults.iter().map(fault).collect::<Vec<_>>().join("; ")))?;
    answer.model.solve(&scenario, options).map_err(|failure| note(failure.to_string()))
}
