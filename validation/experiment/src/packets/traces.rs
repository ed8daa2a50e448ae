//! Classes whose messages come from traces, or are made as those are.

use flitwise_language::document::Place;
use flitwise_language::scenario::{Fault, Scenario, SourceSpec};

use crate::traces::{Row, Synthesis, Trace};
use flitwise_simulator::packet::{Message, Traffic};

/// Messages of a class.
pub(super) struct Listed {
    class: usize,
    compression: f64,
    rows: Vec<Row>,
}

/// Reads every trace once.
pub(super) fn listed(scenario: &Scenario) -> Result<Vec<Listed>, Vec<Fault>> {
    let file = |class: usize| match &scenario.classes()[class].source {
        SourceSpec::Trace { file, compression } => Some((class, file.as_str(), *compression)),
        _ => None,
    };
    let all: Vec<(usize, &str, f64)> = (0..scenario.classes().len()).filter_map(file).collect();
    let (mut found, mut faults) = (Vec::new(), Vec::new());
    for (place, (first, name, _)) in all.iter().enumerate() {
        if all[..place].iter().any(|(_, other, _)| other == name) {
            continue;
        }
        let own: Vec<(usize, f64)> = all
            .iter()
            .filter(|(_, other, _)| other == name)
            .map(|(class, _, factor)| (*class, *factor))
            .collect();
        let names: Vec<&str> =
            own.iter().map(|(class, _)| scenario.classes()[*class].name.as_str()).collect();
        let key = format!("class.{}.source.file", scenario.classes()[*first].name);
        let read =
            text(name, key).and_then(|text| Trace::read(name, &text, scenario.topology().nodes(), &names));
        match read {
            Ok(trace) => found.extend(own.iter().enumerate().map(|(place, (class, compression))| {
                let rows = trace.rows.iter().filter(|row| row.class == place).copied().collect();
                Listed { class: *class, compression: *compression, rows }
            })),
            Err(more) => faults.extend(more),
        }
    }
    if faults.is_empty() { Ok(found) } else { Err(faults) }
}

/// The text of a file, whose name stands under `key`.
fn text(name: &str, key: String) -> Result<String, Vec<Fault>> {
    std::fs::read_to_string(name).map_err(|error| {
        let (found, wanted) =
            (format!("\"{name}\", which cannot be read: {error}"), "a trace file".to_owned());
        let help = Some("its name begins at the directory in which the command runs".to_owned());
        vec![Fault { place: Place::Program, key, found, wanted, help }]
    })
}

/// Whether a class has its messages from [`made`].
pub(super) fn is_made(source: &SourceSpec) -> bool {
    matches!(source, SourceSpec::San { .. })
}

/// Messages of hosts that ask disks until `end_ns`, made from a seed.
pub(super) fn made(scenario: &Scenario, seed: u64, end_ns: f64) -> Vec<Listed> {
    let of = |class: usize| {
        let SourceSpec::San { disks, compression } = scenario.classes()[class].source else { return None };
        let own = seed.wrapping_add(class as u64);
        let (hosts, length_ns) = (scenario.topology().nodes(), end_ns * compression);
        let rows = Synthesis { hosts, disks, length_ns, seed: own }.rows();
        Some(Listed { class, compression, rows })
    };
    (0..scenario.classes().len()).filter_map(of).collect()
}

/// Messages of traces in ticks: those before the end of their class and of the run.
pub(super) fn messages(
    listed: &[Listed],
    traffics: &[Traffic],
    packet_bytes: f64,
    tick_ns: f64,
    end: u64,
) -> Vec<Message> {
    let mut messages = Vec::new();
    for Listed { class, compression, rows } in listed {
        let Traffic { start, end: last, .. } = traffics[*class];
        let message = |row: &Row| Message {
            tick: start + (row.time_ns / compression / tick_ns).ceil() as u64,
            traffic: *class as u16,
            source: row.source,
            destination: row.destination,
            packets: (f64::from(row.bytes) / packet_bytes).ceil() as u32,
        };
        let is_in = |message: &Message| message.tick < last.map_or(end, |last| last.min(end));
        messages.extend(rows.iter().map(message).filter(is_in));
    }
    messages.sort_by_key(|message| message.tick);
    messages
}
