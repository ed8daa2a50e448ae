//! `sequences` of an MPEG-2 source: recorded sequences and the sizes of their frames.

use serde::{Serialize, Serializer};
use serde_json::json;

use super::check::joined;
use super::declare::*;
use crate::document::Value;

/// Mean rate \[kbit/s\] and sizes of I, P and B frames \[kbit\] of the recorded sequences, at 30 frames per second:
/// table III of MediaWorm.
const TABLE: [(f64, [f64; 3]); 7] = [
    (7138.2, [430.2, 295.6, 194.2]),
    (15231.4, [839.4, 680.6, 401.0]),
    (13526.4, [534.7, 569.4, 387.8]),
    (8356.5, [393.3, 340.3, 241.4]),
    (6124.2, [350.6, 242.9, 172.9]),
    (18406.0, [974.7, 721.9, 529.6]),
    (13497.9, [637.6, 536.0, 394.3]),
];

/// Frames per second of the table.
const FRAMES_PER_SECOND: f64 = 30.0;
const MOST: usize = TABLE.len();

/// Numbers of recorded sequences, from 1 on, which streams take in turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sequences {
    count: usize,
    numbers: [u32; MOST],
}

impl Sequences {
    /// All of them.
    pub(super) fn all() -> Self {
        Self { count: MOST, numbers: std::array::from_fn(|at| at as u32 + 1) }
    }

    /// These; `None` of none, and of more than there are.
    pub fn of(numbers: &[u32]) -> Option<Self> {
        let mut made = Self { count: numbers.len(), numbers: [0; MOST] };
        made.numbers.get_mut(..numbers.len())?.copy_from_slice(numbers);
        (made.count > 0).then_some(made)
    }

    /// Their numbers.
    pub fn numbers(&self) -> &[u32] {
        &self.numbers[..self.count]
    }

    fn rows(&self) -> impl Iterator<Item = &'static (f64, [f64; 3])> {
        self.numbers().iter().filter_map(|number| TABLE.get((*number as usize).wrapping_sub(1)))
    }

    /// Sizes of I, P and B frames of each, in their order \[kbit\].
    pub fn frame_kilobits(&self) -> impl Iterator<Item = [f64; 3]> {
        self.rows().map(|(_, sizes)| *sizes)
    }

    /// Mean size of a frame over all, as the table gives their rates \[kbit\].
    pub fn mean_kilobits(&self) -> f64 {
        self.rows().map(|(rate, _)| rate / FRAMES_PER_SECOND).sum::<f64>() / self.count.max(1) as f64
    }
}

impl Serialize for Sequences {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.numbers().serialize(serializer)
    }
}

impl KeyValue for Sequences {
    const KIND: Kind = Kind::Other(|| {
        let one = json!({ "type": "integer", "minimum": 1, "maximum": MOST });
        json!({ "type": "array", "items": one, "minItems": 1, "maxItems": MOST })
    });

    fn unset() -> Self {
        Self::all()
    }
}

impl Field for Sequences {
    fn read(&mut self, reader: &mut Reader, table: &Table<'_>, key: &Key, units: &Units) -> bool {
        let Some(node) = reader.note(table, key.name) else { return false };
        let path = table.key(key.name);
        let Value::List(list) = &node.value else {
            reader.refuse_kind(node, path, "a list of sequences, such as [1, 3, 4]", None);
            return false;
        };
        let whole = |(at, node)| units.whole(reader, node, || format!("{path}[{}]", at + 1), key);
        let numbers: Option<Vec<u32>> = list.iter().enumerate().map(whole).collect();
        let Some(numbers) = numbers else { return false };
        match Self::of(&numbers) {
            Some(sequences) => *self = sequences,
            None => {
                let wanted = format!("1 to {MOST} sequences");
                reader.refuse(&node.place, path, format!("{} of them", numbers.len()), wanted, None);
                return false;
            }
        }
        true
    }

    fn check(&self, door: &mut Door, key: &Key, path: &str) {
        for (at, number) in self.numbers().iter().enumerate() {
            let path = || format!("{}[{}]", joined(path, key.name), at + 1);
            door.number(key, path, f64::from(*number));
        }
    }

    fn written(&self) -> Option<String> {
        Some(format!("{:?}", self.numbers()))
    }
}
