//! Lists of nodes in a scenario, such as `32`, `"0-47"`, `"0-63/4"` or `[1, "4-7"]`.

use std::collections::BTreeSet;

use serde::{Serialize, Serializer};
use serde_json::json;

use super::check::joined;
use super::declare::*;
use crate::document::{Node, Value};

/// Nodes in the order in which they are listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeList(Vec<NodeRange>);

/// Every so many nodes from the first to the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct NodeRange {
    first: u32,
    last: u32,
    step: u32,
}

/// What a list of nodes is, in words.
pub(super) const WANTED: &str = "a node, nodes such as \"0-47\" or \"0-63/4\", or a list of them";

impl NodeRange {
    /// A number, `0-47` or `0-63/4`.
    fn parse(text: &str) -> Option<Self> {
        let (range, step) = text.split_once('/').unwrap_or((text, "1"));
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let [first, last, step] = [first, last, step].map(|number| number.trim().parse::<u32>().ok());
        let found = Self { first: first?, last: last?, step: step? };
        (found.first <= found.last && found.step > 0).then_some(found)
    }

    fn nodes(self) -> impl Iterator<Item = u32> {
        (self.first..=self.last).step_by(self.step as usize)
    }

    /// The last node that belongs to it.
    fn end(self) -> u32 {
        self.last - (self.last - self.first) % self.step
    }

    fn json(self) -> serde_json::Value {
        let Self { first, last, step } = self;
        match (first == last, step) {
            (true, _) => json!(first),
            (false, 1) => json!(format!("{first}-{last}")),
            (false, _) => json!(format!("{first}-{last}/{step}")),
        }
    }
}

impl NodeList {
    /// These nodes.
    pub fn of(nodes: impl IntoIterator<Item = u32>) -> Self {
        Self(nodes.into_iter().map(|node| NodeRange { first: node, last: node, step: 1 }).collect())
    }

    /// The nodes one by one.
    pub fn nodes(&self) -> impl Iterator<Item = u32> {
        self.0.iter().flat_map(|range| range.nodes())
    }

    /// One of them, or a text with a range; `None` where neither stands.
    fn item(node: &Node) -> Option<NodeRange> {
        match &node.value {
            Value::Whole(number) => NodeRange::parse(&number.to_string()),
            Value::Text(text) => NodeRange::parse(text),
            _ => None,
        }
    }

    /// What stands there; `None` where something of it was refused.
    pub(super) fn read_node(reader: &mut Reader, node: &Node, path: &str, wanted: &str) -> Option<Self> {
        let Value::List(list) = &node.value else {
            let found = Self::item(node).map(|range| Self(vec![range]));
            if found.is_none() {
                reader.refuse_kind(node, path.to_owned(), wanted, None);
            }
            return found;
        };
        let mut ranges = Vec::new();
        for (index, node) in list.iter().enumerate() {
            let path = format!("{path}[{}]", index + 1);
            reader.keep(|| path.clone(), &node.place);
            match Self::item(node) {
                Some(range) => ranges.push(range),
                None => {
                    reader.refuse_kind(node, path, "a node, or nodes such as \"0-47\" or \"0-63/4\"", None)
                }
            }
        }
        if list.is_empty() {
            reader.refuse(&node.place, path.to_owned(), "no node".to_owned(), wanted.to_owned(), None);
        }
        (!ranges.is_empty() && ranges.len() == list.len()).then_some(Self(ranges))
    }

    /// Refuses nodes that a network of so many does not have, and those that are listed twice.
    pub(super) fn check_nodes(&self, door: &mut Door, path: &str) {
        let Some(nodes) = door.known_network().map(|network| network.nodes()) else { return };
        let mut met = BTreeSet::new();
        for (index, range) in self.0.iter().enumerate() {
            let key = || if self.0.len() == 1 { path.to_owned() } else { format!("{path}[{}]", index + 1) };
            if range.end() >= nodes {
                let wanted = format!("nodes 0 to {} of the network", nodes - 1);
                door.refuse(&key(), format!("node {}", range.end()), &wanted, None);
            } else if let Some(twice) = range.nodes().find(|node| !met.insert(*node)) {
                door.refuse(&key(), format!("node {twice} a second time"), "each node once", None);
            }
        }
    }

    pub(super) fn json(&self) -> serde_json::Value {
        match self.0.as_slice() {
            [only] => only.json(),
            several => several.iter().map(|range| range.json()).collect(),
        }
    }
}

impl Serialize for NodeList {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.json().serialize(serializer)
    }
}

/// What a JSON document may hold for a list of nodes.
pub(super) fn schema() -> serde_json::Value {
    let item =
        json!({ "type": ["integer", "string"], "minimum": 0, "pattern": "^[0-9]+(-[0-9]+(/[0-9]+)?)?$" });
    json!({ "anyOf": [item, { "type": "array", "items": item, "minItems": 1 }] })
}

impl KeyValue for NodeList {
    const KIND: Kind = Kind::Other(schema);

    fn unset() -> Self {
        Self(Vec::new())
    }
}

impl Field for NodeList {
    fn read(&mut self, reader: &mut Reader, table: &Table<'_>, key: &Key, _: &Units) -> bool {
        let Some(node) = reader.note(table, key.name) else { return false };
        let read = Self::read_node(reader, node, &table.key(key.name), WANTED);
        let is_read = read.is_some();
        *self = read.unwrap_or_else(Self::unset);
        is_read
    }

    fn check(&self, door: &mut Door, key: &Key, path: &str) {
        self.check_nodes(door, &joined(path, key.name));
    }

    fn written(&self) -> Option<String> {
        let items: Vec<String> = self.0.iter().map(|range| range.json().to_string()).collect();
        Some(if let [only] = items.as_slice() { only.clone() } else { format!("[{}]", items.join(", ")) })
    }
}
