//! `file` of a network: the lines of a graph.

use std::sync::Arc;

use serde::{Serialize, Serializer};
use serde_json::json;

use super::declare::*;
use super::text_file;
use super::writer::quoted;
use crate::network::Graph;

/// Nodes, switches and links as the lines of a text join them: `models/language/src/network/graph/text.rs` says how.
#[derive(Clone, Debug)]
pub struct GraphFile(Arc<Graph>);

impl GraphFile {
    /// The graph of a text.
    ///
    /// # Errors
    /// The first line that is wrong, and why.
    pub fn of(text: &str) -> Result<Self, String> {
        let graph = Graph::read(text).map_err(|wrong| {
            let first = &wrong[0];
            let line = first.line.map_or(String::new(), |line| format!("line {}: ", line + 1));
            format!("{line}found {}, wanted {}", first.found, first.wanted)
        })?;
        Ok(Self(Arc::new(graph)))
    }

    pub(crate) fn graph(&self) -> &Arc<Graph> {
        &self.0
    }
}

impl PartialEq for GraphFile {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.text() == other.0.text()
    }
}

impl Eq for GraphFile {}

impl Serialize for GraphFile {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.text().serialize(serializer)
    }
}

impl KeyValue for GraphFile {
    const KIND: Kind = Kind::Other(|| json!({ "type": "string" }));

    fn unset() -> Self {
        Self(Arc::new(Graph::least()))
    }
}

impl Field for GraphFile {
    fn read(&mut self, reader: &mut Reader, table: &Table<'_>, key: &Key, _: &Units) -> bool {
        let Some(node) = reader.note(table, key.name) else { return false };
        let read = text_file::read(reader, (node, table.key(key.name)), "the lines of a graph", Graph::read);
        let is_read = read.is_some();
        self.0 = read.map_or_else(|| Arc::clone(&self.0), Arc::new);
        is_read
    }

    fn check(&self, _: &mut Door, _: &Key, _: &str) {}

    fn written(&self) -> Option<String> {
        Some(quoted(self.0.text()))
    }
}
