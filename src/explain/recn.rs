//! The recn model explained: what limits uniform traffic, and what a hot spot does to it.

use flitwise_language::scenario::Scenario;
use flitwise_language::section::{Cell, Layout, Section};
use flitwise_models::answer::Answer;

use super::derivation::{Derivation, Entry};

/// Rows of a series in an explanation, at most.
const MOST_ROWS: usize = 12;

const UNIFORM: &str = "Packets of the uniform classes meet at the links behind each switch. A link of load ρ, fed by \
                       inputs of loads a, makes a packet wait (ρ² - Σ a²) / (2 ρ (1 - ρ/θ)) packet times; later \
                       switches of a path as much again by 4 ρ / (5 k) of it. θ is the load at which heads of line \
                       block the inputs of a switch: min(1, s θ_4) with one queue and a crossbar s times as fast as \
                       the links, 1 with virtual output queues. What a lone packet takes is added to the waits.";
const HOT_SPOT: &str = "Hosts that all send to one host fill the memories on their way, from the root of the tree to \
                        its leaves. Followed is one queue of each kind and stage, as a fluid: with one queue, what \
                        does not go to the hot host waits behind what does. With queues set aside that is so until \
                        the tree is detected, D / (min(s, λ) - 1) and a microsecond after its start, D being the \
                        threshold and λ what comes to a link into the tree.";
const LINES: &str = "Queues are set aside at ports upstream of the hot host: at most twice the ports of each stage \
                     that can reach it. The bound for all ports allows for a second tree, of uniform traffic.";

/// The account of an answer of the recn model.
pub(super) fn derivation(scenario: &Scenario, answer: &Answer, only: Option<usize>) -> Derivation {
    let mut derivation = Derivation::default();
    let (unit, per_cycle) = scenario.spec().shown_time();
    let asked = derivation.section("What is asked");
    asked.text(
        "Switches pass packets of one length on; their memories are finite, and a packet that finds none waits where \
         it is. Wanted is what is delivered, and how long packets take.",
    );
    let wanted =
        answer.classes.iter().enumerate().filter(|(class, _)| only.is_none_or(|only| only == *class));
    let number = |number: Option<f64>| number.map_or(Entry::from("-"), Entry::from);
    let row = |(_, class): (usize, &flitwise_models::answer::ClassAnswer)| {
        let time = |cycles: Option<f64>| number(cycles.map(|cycles| cycles * per_cycle));
        vec![
            Entry::from(class.name.as_str()),
            number(class.throughput_bytes_per_ns),
            time(class.network_latency_cycles),
            time(class.waiting_cycles),
            number(class.source_load),
        ]
    };
    let (network, waiting) = (format!("network [{unit}]"), format!("waiting [{unit}]"));
    let heads = ["class", "throughput [bytes/ns]", &network, &waiting, "load of what saturates"];
    asked.table(&heads, wanted.map(row).collect());
    for (name, title, text) in [
        ("uniform", "Uniform traffic", UNIFORM),
        ("hot_spot", "The hot spot", HOT_SPOT),
        ("over_time", "Over time", ""),
    ] {
        let Some(found) = answer.sections.find(name) else { continue };
        let section = derivation.section(title);
        if !text.is_empty() {
            section.text(text);
        }
        let (heads, rows) = table(found);
        let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
        section.table(&heads, rows);
        if found.cell(0, "tree_queues_most").and_then(Cell::number).is_some() {
            section.text(LINES);
        }
    }
    derivation
}

/// The rows of a section; of a long series some, equally far apart.
fn table(section: &Section) -> (Vec<String>, Vec<Vec<Entry>>) {
    let entry = |cell: &Cell| match cell {
        Cell::Word(word) => Entry::from(word.as_str()),
        cell => cell.number().map_or(Entry::from("-"), Entry::from),
    };
    if section.layout == Layout::Record {
        let cells = section.columns.iter().zip(section.rows.iter().flatten());
        let told = cells.filter(|(_, cell)| **cell != Cell::None);
        let row = |(column, cell): (&flitwise_language::section::Column, &Cell)| {
            vec![Entry::from(column.head.as_str()), entry(cell), Entry::from(column.unit)]
        };
        return (["quantity", "value", "unit"].map(str::to_owned).to_vec(), told.map(row).collect());
    }
    let heads = section.columns.iter().map(|column| format!("{} [{}]", column.head, column.unit)).collect();
    let step = section.rows.len().div_ceil(MOST_ROWS).max(1);
    (heads, section.rows.iter().step_by(step).map(|row| row.iter().map(entry).collect()).collect())
}
