//! `sizes` of a source of frames: lengths of frames one after another.

use std::sync::Arc;

use serde::{Serialize, Serializer};
use serde_json::json;

use super::check::joined;
use super::declare::*;
use crate::document::{Value, in_short};

/// Lengths of frames, which streams go through round and round, each from a place of its own \[flits\].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FrameList(Arc<[f64]>);

impl FrameList {
    /// The lengths; none where frames have a law.
    pub fn flits(&self) -> &[f64] {
        &self.0
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Their mean \[flits\].
    pub(super) fn mean(&self) -> f64 {
        self.0.iter().sum::<f64>() / self.0.len().max(1) as f64
    }
}

impl Serialize for FrameList {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.flits().serialize(serializer)
    }
}

impl KeyValue for FrameList {
    const KIND: Kind =
        Kind::Other(|| json!({ "type": ["string", "array"], "items": { "type": ["number", "string"] } }));

    fn unset() -> Self {
        Self::default()
    }
}

impl Field for FrameList {
    fn read(&mut self, reader: &mut Reader, table: &Table<'_>, key: &Key, units: &Units) -> bool {
        let Some(node) = reader.note(table, key.name) else { return false };
        let path = table.key(key.name);
        let list = match &node.value {
            Value::List(list) if !list.is_empty() => list,
            _ => {
                let help = "a file has a number of bytes on each line".to_owned();
                reader.refuse_kind(
                    node,
                    path,
                    "a file of frame sizes, or a list such as [\"1500 B\"]",
                    Some(help),
                );
                return false;
            }
        };
        let real = |(at, node)| units.real(reader, node, || format!("{path}[{}]", at + 1), key);
        // the units that one lacks, all others lack, too
        let read: Option<Arc<[f64]>> = list.iter().enumerate().map(real).collect();
        *self = Self(read.unwrap_or_default());
        !self.is_empty()
    }

    fn check(&self, door: &mut Door, key: &Key, path: &str) {
        for (at, flits) in self.0.iter().enumerate() {
            door.number(key, || format!("{}[{}]", joined(path, key.name), at + 1), *flits);
        }
    }

    fn written(&self) -> Option<String> {
        let flits: Vec<String> = self.0.iter().map(|flits| in_short(*flits)).collect();
        (!self.is_empty()).then(|| format!("[{}]", flits.join(", ")))
    }
}
