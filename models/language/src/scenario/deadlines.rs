//! `deadlines` of a class: how late its messages may be.

use serde::Serialize;
use serde_json::{Value as Json, json};

use super::check::joined;
use super::declare::*;
use crate::document::{Node, Value};

/// The most deadlines that one class may carry.
pub const MAX_DEADLINES: usize = 1_000;
/// The latest deadline \[cycles\].
pub const MAX_DEADLINE_CYCLES: u32 = 1_000_000;

/// A deadline on the network latency, in whole cycles.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum DeadlineSpec {
    /// For all messages of the class \[cycles\].
    Cycles(u32),
    /// For the messages that cross a given number of network channels (hypercube only).
    Hops(HopDeadlines),
}

table! {
    /// Deadlines for the messages that cross a given number of network channels.
    #[derive(Eq)]
    pub struct HopDeadlines {
        /// Network channels crossed, from 1 to the most that a message crosses.
        hops: u32 ["hops"] = 1, within(1.0, 255.0).wanted();
        /// Deadlines.
        deadlines: Vec<u32> ["cycles"] = Vec::new(),
            within(1.0, MAX_DEADLINE_CYCLES as f64).wanted().magnitude(Magnitude::Bound).example("[42, 47]");
    }
}

impl Rules for HopDeadlines {
    fn rules(&self, path: &str, door: &mut Door) {
        if self.deadlines.is_empty() {
            let key = format!("{path}.deadlines");
            door.refuse(&key, "no deadline".to_owned(), "at least one", Some("remove the entry"));
        }
    }
}

impl DeadlineSpec {
    /// One deadline, of the messages that cross so many network channels, or of all.
    pub fn at(deadline_cycles: u32, hops: Option<u32>) -> Self {
        match hops {
            None => Self::Cycles(deadline_cycles),
            Some(hops) => Self::Hops(HopDeadlines { hops, deadlines: vec![deadline_cycles] }),
        }
    }

    /// Its deadlines one by one: hops (none: all messages) and cycles.
    pub(super) fn each(&self) -> Vec<(Option<u32>, u32)> {
        match self {
            Self::Cycles(cycles) => vec![(None, *cycles)],
            Self::Hops(hop) => hop.deadlines.iter().map(|cycles| (Some(hop.hops), *cycles)).collect(),
        }
    }
}

/// One deadline of a list, as a JSON document may hold it.
fn schema_of_cycles() -> Json {
    json!({ "type": ["integer", "string"], "minimum": 1, "maximum": MAX_DEADLINE_CYCLES })
}

/// The items of a list, each with its whole key.
fn items<'d>(reader: &mut Reader, table: &Table<'d>, key: &Key) -> Vec<(&'d Node, String)> {
    let wanted = format!("a list of {} in {}", key.name, key.unit);
    let list = reader.list(table, key.name, &wanted, key.example().unwrap_or_default());
    let (list, path) = list.unwrap_or_default();
    list.iter().enumerate().map(|(index, node)| (node, format!("{path}[{}]", index + 1))).collect()
}

impl KeyValue for Vec<DeadlineSpec> {
    const KIND: Kind = Kind::Other(|| {
        let one = json!({ "anyOf": [schema_of_cycles(), HopDeadlines::KIND.schema()] });
        json!({ "type": "array", "items": one })
    });

    fn unset() -> Self {
        Self::new()
    }
}

impl Field for Vec<DeadlineSpec> {
    fn read(&mut self, reader: &mut Reader, table: &Table<'_>, key: &Key, units: &Units) -> bool {
        for (node, path) in items(reader, table, key) {
            reader.keep(|| path.clone(), &node.place);
            if let Value::Table(entries) = &node.value {
                let mut hops = HopDeadlines::unset();
                let table = Table { entries, path: path.into(), place: &node.place };
                super::reader::read_table(&mut hops, reader, &table, None, units);
                self.push(DeadlineSpec::Hops(hops));
            } else {
                self.extend(units.whole(reader, node, || path.clone(), key).map(DeadlineSpec::Cycles));
            }
        }
        true
    }

    fn check(&self, door: &mut Door, key: &Key, path: &str) {
        for (index, deadline) in self.iter().enumerate() {
            let entry = || format!("{path}.{}[{}]", key.name, index + 1);
            match deadline {
                DeadlineSpec::Cycles(cycles) => door.number(key, entry, f64::from(*cycles)),
                DeadlineSpec::Hops(hop) => door.table(hop, &entry()),
            }
        }
        let count: usize = self.iter().map(|deadline| deadline.each().len()).sum();
        if count > MAX_DEADLINES {
            let wanted = format!("at most {MAX_DEADLINES}");
            door.refuse(&joined(path, key.name), format!("{count} deadlines"), &wanted, None);
        }
    }

    fn written(&self) -> Option<String> {
        let deadline = |deadline: &DeadlineSpec| match deadline {
            DeadlineSpec::Cycles(cycles) => cycles.to_string(),
            DeadlineSpec::Hops(of) => super::writer::in_line(of).unwrap_or_default(),
        };
        let all: Vec<String> = self.iter().map(deadline).collect();
        (!all.is_empty()).then(|| format!("[{}]", all.join(", ")))
    }
}

impl KeyValue for Vec<u32> {
    const KIND: Kind = Kind::Other(|| json!({ "type": "array", "items": schema_of_cycles() }));

    fn unset() -> Self {
        Self::new()
    }
}

impl Field for Vec<u32> {
    fn read(&mut self, reader: &mut Reader, table: &Table<'_>, key: &Key, units: &Units) -> bool {
        let items = items(reader, table, key);
        let path = table.key(key.name);
        self.extend(items.iter().filter_map(|(node, _)| units.whole(reader, node, || path.clone(), key)));
        self.len() == items.len()
    }

    fn check(&self, door: &mut Door, key: &Key, path: &str) {
        for number in self {
            door.number(key, || joined(path, key.name), f64::from(*number));
        }
    }

    fn written(&self) -> Option<String> {
        Some(format!("{self:?}"))
    }
}
