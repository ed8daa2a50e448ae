//! `file` of a network: the lines of a graph.

use std::sync::Arc;

use super::declare::*;
use super::text_file::{self, text_file};
use crate::network::Graph;

text_file! {
    /// Nodes, switches and links as the lines of a text join them; `network/graph/text.rs` says how.
    pub struct GraphFile(Graph), "the lines of a graph";
}

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
