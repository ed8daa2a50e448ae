//! `frame_deadline` of a class: by which rules its frames are late.

use serde_json::json;

use super::check::joined;
use super::class::MAX_TIME;
use super::deadlines::MAX_DEADLINES;
use super::declare::*;
use super::reader::read_table;
use crate::document::{Node, Value};

table! {
    /// A rule by which a frame is late.
    pub enum FrameDeadline by "rule" {
        /// The running deadline: a frame may come as late in its interval as the latest of its stream before it.
        Ratchet "ratchet",
        /// Each frame is wanted so long after the end of its interval.
        Playout "playout" {
            /// Times after the end of the interval, each a deadline.
            delays: Vec<f64> ["cycles"] = Vec::new(),
                within(0.0, MAX_TIME).wanted().magnitude(Magnitude::Time).example("[1000, 5000]");
        },
    }
}

impl Rules for FrameDeadline {
    fn rules(&self, path: &str, door: &mut Door) {
        if let Self::Playout { delays } = self
            && delays.is_empty()
            && door.is_read(&joined(path, "delays"))
        {
            door.refuse(&joined(path, "delays"), "no delay".to_owned(), "at least one", None);
        }
    }
}

impl KeyValue for Vec<FrameDeadline> {
    const KIND: Kind = Kind::Other(|| {
        let one = FrameDeadline::KIND.schema();
        json!({ "anyOf": [one.clone(), { "type": "array", "items": one }] })
    });

    fn unset() -> Self {
        Self::new()
    }
}

impl Field for Vec<FrameDeadline> {
    fn read(&mut self, reader: &mut Reader, table: &Table<'_>, key: &Key, units: &Units) -> bool {
        let Some(node) = reader.note(table, key.name) else { return false };
        let path = table.key(key.name);
        let mut read = |node: &Node, path: String| {
            let Value::Table(entries) = &node.value else {
                let help = key.example().map(|example| format!("{} = {example}", key.name));
                reader.refuse_kind(node, path, "a rule, or a list of them", help);
                return false;
            };
            reader.keep(|| path.clone(), &node.place);
            let mut rule = FrameDeadline::unset();
            let table = Table { entries, path: path.into(), place: &node.place };
            read_table(&mut rule, reader, &table, None, units);
            self.push(rule);
            true
        };
        match &node.value {
            Value::List(list) => {
                let mut all = true;
                for (at, node) in list.iter().enumerate() {
                    all &= read(node, format!("{path}[{}]", at + 1));
                }
                all
            }
            _ => read(node, path),
        }
    }

    fn check(&self, door: &mut Door, key: &Key, path: &str) {
        for (at, rule) in self.iter().enumerate() {
            let numbered = if self.len() == 1 { String::new() } else { format!("[{}]", at + 1) };
            door.table(rule, &format!("{path}.{}{numbered}", key.name));
        }
        let ratchets = self.iter().filter(|rule| matches!(rule, FrameDeadline::Ratchet)).count();
        if ratchets > 1 {
            door.refuse(&joined(path, key.name), format!("{ratchets} ratchets"), "one at most", None);
        }
        if self.len() > MAX_DEADLINES {
            let wanted = format!("at most {MAX_DEADLINES}");
            door.refuse(&joined(path, key.name), format!("{} rules", self.len()), &wanted, None);
        }
    }

    fn written(&self) -> Option<String> {
        let rule = |rule: &FrameDeadline| match rule {
            FrameDeadline::Ratchet => "{ rule = \"ratchet\" }".to_owned(),
            other => super::writer::in_line(other).unwrap_or_default(),
        };
        let all: Vec<String> = self.iter().map(rule).collect();
        (!all.is_empty()).then(|| format!("[{}]", all.join(", ")))
    }
}

impl KeyValue for Vec<f64> {
    const KIND: Kind = Kind::Other(|| json!({ "type": "array", "items": { "type": ["number", "string"] } }));

    fn unset() -> Self {
        Self::new()
    }
}

/// Numbers of one key.
impl Field for Vec<f64> {
    fn read(&mut self, reader: &mut Reader, table: &Table<'_>, key: &Key, units: &Units) -> bool {
        let Some(node) = reader.note(table, key.name) else { return false };
        let path = table.key(key.name);
        let Value::List(list) = &node.value else {
            let help = key.example().map(|example| format!("{} = {example}", key.name));
            reader.refuse_kind(node, path, "a list of numbers", help);
            return false;
        };
        let one = |(at, node)| units.real(reader, node, || format!("{path}[{}]", at + 1), key);
        self.extend(list.iter().enumerate().filter_map(one));
        self.len() == list.len()
    }

    fn check(&self, door: &mut Door, key: &Key, path: &str) {
        for (at, number) in self.iter().enumerate() {
            door.number(key, || format!("{}[{}]", joined(path, key.name), at + 1), *number);
        }
    }

    fn written(&self) -> Option<String> {
        (!self.is_empty()).then(|| format!("{self:?}"))
    }
}
