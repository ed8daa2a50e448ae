//! A model explained by its answer: numbers of classes, then each section of the answer with a text about it.

use flitwise_language::quantity::Quantity;
use flitwise_language::scenario::Scenario;
use flitwise_language::section::{Cell, Column, Layout, Section};
use flitwise_models::answer::{Answer, ClassAnswer};

use super::derivation::{Derivation, Entry, Section as Page};
use super::wanted;
use crate::output::{Time, parts};

/// Rows of a series in an explanation, at most.
const MOST_ROWS: usize = 12;

const UNIFORM: &str = "Switches pass packets of one length on; their memories are finite, and a packet that finds none \
                       waits where it is. Packets of the uniform classes meet at the links behind each switch. A link \
                       of load ρ, fed by inputs of loads a, makes a packet wait (ρ² - Σ g a²) / (2 ρ (1 - ρ/θ)) packet \
                       times; g is 1 for the link of a host that sends at equal distances, and less for links that \
                       send packets in clusters. θ is the load at which heads of line block the inputs of a switch: \
                       min(1, s θ_4) with one queue and a crossbar s times as fast as the links, 1 with virtual output \
                       queues. With several queues an input, crossbars below twice the rate of links have packets wait \
                       for their inputs, too. What a lone packet takes is added to the waits.";
const HOT_SPOT: &str = "Hosts that all send to one host fill the memories on their way, from the root of the tree to \
                        its leaves. Followed is one queue of each kind and stage, as a fluid: with one queue, what \
                        does not go to the hot host waits behind what does. With queues set aside that is so until \
                        the tree is detected, D / (min(s, λ) - 1) and a microsecond after its start, D being the \
                        threshold and λ what comes to a link into the tree.";
const PHASES: &str = "Each phase is answered as if it lasted. A deadline of playout is missed by frames whose last \
                      message takes that much longer than an idle system does. Misses of the ratchet are records, \
                      and more where a new mix makes delays grow: the deadline is of frames that came before it.";
const STATIONS: &str = "Shares of their time that the stations of an interface work, waits being what is behind them: \
                        firmware, host bus (for what is sent and what is received), and the link or, where whole \
                        messages are sent, the send side.";
const LINES: &str = "Queues are set aside at ports upstream of the hot host: at most twice the ports of each stage \
                     that can reach it. The number for all ports is what the tree holds while it lasts, and a second \
                     tree, of uniform traffic.";
/// Texts about sections of answers, by name.
const TEXTS: [(&str, &str); 4] =
    [("uniform", UNIFORM), ("hot_spot", HOT_SPOT), ("phases", PHASES), ("utilization", STATIONS)];
/// Texts about fields of them.
const FIELDS: [(&str, &str); 1] = [("tree_queues_most", LINES)];

/// The account of an answer.
pub(super) fn derivation(scenario: &Scenario, answer: &Answer, only: Option<usize>) -> Derivation {
    let mut derivation = Derivation::default();
    let asked = derivation.section("What is asked");
    asked.text(format!("{}.", answer.model.described()));
    let (time, wanted) = (Time::of(scenario.spec()), wanted(answer, only));
    let value = |quantity: Quantity, class: &ClassAnswer| time.shown(quantity, class.value(quantity.into()));
    let is_known = |quantity: &Quantity| wanted.iter().any(|(_, class)| value(*quantity, class).is_some());
    let known: Vec<Quantity> = Quantity::ALL.iter().copied().filter(is_known).collect();
    let heads: Vec<String> =
        ["class".to_owned()].into_iter().chain(known.iter().map(|one| time.named((*one).into()))).collect();
    let row = |(_, class): &(usize, &ClassAnswer)| {
        let values =
            known.iter().map(|quantity| value(*quantity, class).map_or(Entry::from("-"), Entry::from));
        [Entry::from(class.name.as_str())].into_iter().chain(values).collect()
    };
    let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
    asked.table(&heads, wanted.iter().map(row).collect());
    tell(&mut derivation, answer);
    derivation
}

/// The classes that are asked about, why some are saturated, and the notes of the answer.
pub(super) fn classes(
    section: &mut Page,
    scenario: &Scenario,
    answer: &Answer,
    wanted: &[(usize, &ClassAnswer)],
) {
    let virtual_channels = scenario.virtual_channels();
    let row = |(class, _): &(usize, &ClassAnswer)| {
        let spec = &scenario.classes()[*class];
        vec![
            Entry::from(spec.name.as_str()),
            spec.kind.word().into(),
            f64::from(spec.message_flits).into(),
            (virtual_channels[*class].len() as f64).into(),
        ]
    };
    section.table(&["class", "kind", "M [flits]", "virtual channels"], wanted.iter().map(row).collect());
    for (_, class) in wanted {
        if let Some(saturation) = &class.saturation {
            section.text(format!("{} is saturated: {}.", class.name, saturation.because));
        }
    }
    for note in &answer.notes {
        section.text(format!("Note: {note}."));
    }
}

/// Each section of an answer with a text about it.
pub(super) fn tell(derivation: &mut Derivation, answer: &Answer) {
    for found in &answer.sections.0 {
        let section = derivation.section(found.title);
        TEXTS.iter().filter(|(name, _)| *name == found.name).for_each(|(_, text)| {
            section.text(*text);
        });
        for part in parts(found) {
            let (heads, rows) = table(&part);
            let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
            section.table(&heads, rows);
        }
        let is_told = |field: &str| found.cell(0, field).and_then(Cell::number).is_some();
        FIELDS.iter().filter(|(field, _)| is_told(field)).for_each(|(_, text)| {
            section.text(*text);
        });
    }
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
        let row = |(column, cell): (&Column, &Cell)| {
            vec![Entry::from(column.head.as_str()), entry(cell), Entry::from(column.unit)]
        };
        return (["quantity", "value", "unit"].map(str::to_owned).to_vec(), told.map(row).collect());
    }
    let head = |column: &Column| match column.unit {
        "" => column.head.clone(),
        unit => format!("{} [{unit}]", column.head),
    };
    let step =
        if section.layout == Layout::Series { section.rows.len().div_ceil(MOST_ROWS).max(1) } else { 1 };
    let rows = section.rows.iter().step_by(step).map(|row| row.iter().map(entry).collect());
    (section.columns.iter().map(head).collect(), rows.collect())
}
