//! `radix` of a mesh or torus: how many routers there are along each dimension.

use serde::{Serialize, Serializer};
use serde_json::json;

use super::check::joined;
use super::declare::*;
use crate::document::Value;

/// The most dimensions.
pub(super) const MAX_DIMENSIONS: usize = 8;

/// Routers along each dimension, dimension 0 first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Radix {
    count: usize,
    sides: [u32; MAX_DIMENSIONS],
}

impl Radix {
    /// Before one is read.
    pub(super) const NONE: Self = Self { count: 0, sides: [1; MAX_DIMENSIONS] };

    /// With so many routers along each dimension; `None` of more than eight.
    pub fn of(sides: &[u32]) -> Option<Self> {
        let mut radix = Self { count: sides.len(), ..Self::NONE };
        radix.sides.get_mut(..sides.len())?.copy_from_slice(sides);
        Some(radix)
    }

    /// Routers along each dimension.
    pub fn sides(&self) -> &[u32] {
        &self.sides[..self.count]
    }

    /// The first number along so many dimensions, if they are given.
    pub(crate) fn of_dimensions(self, dimensions: Option<u32>) -> Self {
        match dimensions {
            None => self,
            Some(count) => {
                let count = (count as usize).min(MAX_DIMENSIONS);
                Self { count, sides: [self.sides[0]; MAX_DIMENSIONS] }
            }
        }
    }
}

impl Serialize for Radix {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.sides().serialize(serializer)
    }
}

impl KeyValue for Radix {
    const KIND: Kind = Kind::Other(|| {
        let side = json!({ "type": "integer", "minimum": 2, "maximum": 64 });
        let list = json!({ "type": "array", "items": side, "minItems": 1, "maxItems": MAX_DIMENSIONS });
        json!({ "anyOf": [side, list] })
    });

    fn unset() -> Self {
        Self::NONE
    }
}

impl Field for Radix {
    fn read(&mut self, reader: &mut Reader, table: &Table<'_>, key: &Key, units: &Units) -> bool {
        let Some(node) = reader.note(table, key.name) else { return false };
        let path = table.key(key.name);
        let nodes = match &node.value {
            Value::List(list) => list.iter().collect(),
            _ => vec![node],
        };
        let sides: Vec<Option<u32>> =
            nodes.iter().map(|node| units.whole(reader, node, || path.clone(), key)).collect();
        let Some(sides) = sides.into_iter().collect::<Option<Vec<u32>>>() else { return false };
        match Self::of(&sides).filter(|_| !sides.is_empty()) {
            Some(radix) => *self = radix,
            None => {
                let wanted = format!("1 to {MAX_DIMENSIONS} dimensions");
                reader.refuse(&node.place, path, format!("{} dimensions", sides.len()), wanted, None);
                return false;
            }
        }
        true
    }

    fn check(&self, door: &mut Door, key: &Key, path: &str) {
        for side in self.sides() {
            door.number(key, || joined(path, key.name), f64::from(*side));
        }
    }

    fn written(&self) -> Option<String> {
        Some(format!("{:?}", self.sides()))
    }
}
