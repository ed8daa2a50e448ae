//! Messages of packet switches that are listed in traces, or made as those are.

use flitwise_language::scenario::{Scenario, SourceSpec};

use crate::traces::{Columns, Row, Synthesis, TracedClass};
use flitwise_simulator::packet::{Message, Traffic};

/// Whether a class has its messages from [`made`].
pub(super) fn is_made(source: &SourceSpec) -> bool {
    matches!(source, SourceSpec::San { .. })
}

/// Messages between hosts and disks until `end_ns`, made from a seed.
pub(super) fn made(scenario: &Scenario, seed: u64, end_ns: f64) -> Vec<TracedClass> {
    let of = |class: usize| {
        let SourceSpec::San { disks, compression } = scenario.classes()[class].source else { return None };
        let own = seed.wrapping_add(class as u64);
        let (hosts, length_ns) = (scenario.topology().nodes(), end_ns * compression);
        let rows = Synthesis { hosts, disks, length_ns, seed: own }.rows();
        Some(TracedClass { class, compression, columns: Columns::NsAndBytes, rows })
    };
    (0..scenario.classes().len()).filter_map(of).collect()
}

/// Messages of traces in ticks: those before the end of their class and of the run.
pub(super) fn messages(
    listed: &[TracedClass],
    traffics: &[Traffic],
    packet_bytes: f64,
    tick_ns: f64,
    end: u64,
) -> Vec<Message> {
    let mut messages = Vec::new();
    for TracedClass { class, compression, rows, .. } in listed {
        let Traffic { start, end: last, .. } = traffics[*class];
        let message = |row: &Row| Message {
            tick: start + (row.time / compression / tick_ns).ceil() as u64,
            traffic: *class as u16,
            source: row.source,
            destination: row.destination,
            packets: (f64::from(row.length) / packet_bytes).ceil() as u32,
        };
        let is_in = |message: &Message| message.tick < last.map_or(end, |last| last.min(end));
        messages.extend(rows.iter().map(message).filter(is_in));
    }
    messages.sort_by_key(|message| message.tick);
    messages
}
