//! A number for every level of a tree, such as `2`, or a list of them from the leaves up, such as `[4, 2]`.

use serde::{Serialize, Serializer};
use serde_json::json;

use super::check::joined;
use super::declare::*;
use crate::document::Value;

/// The most levels of a tree.
pub const MAX_LEVELS: usize = 6;

/// One number for all levels, or one for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PerLevel {
    count: usize,
    /// Whether a list was written.
    is_list: bool,
    numbers: [u32; MAX_LEVELS],
}

impl PerLevel {
    /// The same number at every level.
    pub const fn all(number: u32) -> Self {
        Self { count: 1, is_list: false, numbers: [number; MAX_LEVELS] }
    }

    /// These, from the leaves up; `None` of more than six.
    pub fn list(numbers: &[u32]) -> Option<Self> {
        let mut list = Self { count: numbers.len(), is_list: true, numbers: [0; MAX_LEVELS] };
        list.numbers.get_mut(..numbers.len())?.copy_from_slice(numbers);
        Some(list)
    }

    /// What is written.
    pub fn numbers(&self) -> &[u32] {
        &self.numbers[..self.count]
    }

    /// Of so many levels; `None` where a list has another length.
    pub fn of(&self, levels: usize) -> Option<Vec<u32>> {
        let fits = !self.is_list || self.count == levels;
        fits.then(|| (0..levels).map(|level| self.numbers[level.min(MAX_LEVELS - 1)]).collect())
    }

    fn text(&self) -> String {
        if self.is_list { format!("{:?}", self.numbers()) } else { self.numbers[0].to_string() }
    }
}

impl std::fmt::Display for PerLevel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text())
    }
}

impl Serialize for PerLevel {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.is_list {
            self.numbers().serialize(serializer)
        } else {
            self.numbers[0].serialize(serializer)
        }
    }
}

impl KeyValue for PerLevel {
    const KIND: Kind = Kind::Other(|| {
        let number = json!({ "type": "integer", "minimum": 0, "maximum": 1_000_000 });
        let list = json!({ "type": "array", "items": number, "minItems": 1, "maxItems": MAX_LEVELS });
        json!({ "anyOf": [number, list, { "type": "null" }] })
    });

    fn unset() -> Self {
        Self::all(1)
    }
}

impl Field for PerLevel {
    fn read(&mut self, reader: &mut Reader, table: &Table<'_>, key: &Key, units: &Units) -> bool {
        let Some(node) = reader.note(table, key.name) else { return false };
        let path = table.key(key.name);
        let Value::List(list) = &node.value else {
            let number = units.whole(reader, node, || path.clone(), key);
            *self = number.map_or(*self, Self::all);
            return number.is_some();
        };
        let numbers: Vec<Option<u32>> =
            list.iter().map(|node| units.whole(reader, node, || path.clone(), key)).collect();
        let Some(numbers) = numbers.into_iter().collect::<Option<Vec<u32>>>() else { return false };
        let read = Self::list(&numbers).filter(|_| !numbers.is_empty());
        if read.is_none() {
            let wanted = format!("a number, or a list of 1 to {MAX_LEVELS}");
            reader.refuse(&node.place, path, format!("a list of {}", numbers.len()), wanted, None);
        }
        *self = read.unwrap_or(*self);
        read.is_some()
    }

    fn check(&self, door: &mut Door, key: &Key, path: &str) {
        for number in self.numbers() {
            door.number(key, || joined(path, key.name), f64::from(*number));
        }
    }

    fn written(&self) -> Option<String> {
        Some(self.text())
    }
}
