//! What values of a scenario are: texts, whole numbers, numbers, and any of them that may be left out.

use super::check::{Door, joined};
use super::declare::{Declaration, Field, Key, KeyValue, Kind};
use super::units::Units;
use crate::document::{Reader, Table};

impl KeyValue for String {
    const KIND: Kind = Kind::Text;

    fn unset() -> Self {
        Self::new()
    }
}

impl Field for String {
    fn read(&mut self, reader: &mut Reader, table: &Table<'_>, key: &Key, _: &Units) -> bool {
        let read = reader.text(table, key.name);
        let is_text = read.is_some();
        *self = read.unwrap_or_default();
        is_text
    }

    fn check(&self, _: &mut Door, _: &Key, _: &str) {}

    fn written(&self) -> Option<String> {
        Some(super::writer::quoted(self))
    }
}

impl KeyValue for bool {
    const KIND: Kind = Kind::Truth;

    fn unset() -> Self {
        false
    }
}

impl Field for bool {
    fn read(&mut self, reader: &mut Reader, table: &Table<'_>, key: &Key, _: &Units) -> bool {
        let read = reader.truth(table, key.name);
        *self = read.unwrap_or(*self);
        read.is_some()
    }

    fn check(&self, _: &mut Door, _: &Key, _: &str) {}

    fn written(&self) -> Option<String> {
        Some(self.to_string())
    }
}

/// The two types of numbers.
macro_rules! number {
    ($Type:ty, $kind:expr, $read:ident, $from:expr, $written:expr) => {
        impl KeyValue for $Type {
            const KIND: Kind = $kind;

            fn unset() -> Self {
                Self::default()
            }
        }

        impl Field for $Type {
            fn read(&mut self, reader: &mut Reader, table: &Table<'_>, key: &Key, units: &Units) -> bool {
                let Some(node) = reader.note(table, key.name) else { return false };
                let read = units.$read(reader, node, || table.key(key.name), key);
                *self = read.unwrap_or(*self);
                read.is_some()
            }

            fn check(&self, door: &mut Door, key: &Key, path: &str) {
                door.number(key, || joined(path, key.name), f64::from(*self));
            }

            fn written(&self) -> Option<String> {
                Some(format!($written, self))
            }

            fn number(&self) -> Option<f64> {
                Some(f64::from(*self))
            }

            fn set_number(&mut self, number: f64) {
                *self = $from(number);
            }
        }
    };
}

number!(u32, Kind::Whole, whole, |number: f64| number.round() as u32, "{}");
number!(f64, Kind::Real, real, |number| number, "{:?}");

impl<T: Field + KeyValue> KeyValue for Option<T> {
    const KIND: Kind = T::KIND;

    fn unset() -> Self {
        None
    }
}

impl<T: Field + KeyValue> Field for Option<T> {
    fn read(&mut self, reader: &mut Reader, table: &Table<'_>, key: &Key, units: &Units) -> bool {
        let mut value = T::unset();
        let is_read = value.read(reader, table, key, units);
        *self = is_read.then_some(value);
        is_read
    }

    fn check(&self, door: &mut Door, key: &Key, path: &str) {
        if let Some(value) = self {
            value.check(door, key, path);
        }
    }

    fn written(&self) -> Option<String> {
        self.as_ref()?.written()
    }

    fn in_short(&self) -> Option<String> {
        self.as_ref()?.in_short()
    }

    fn number(&self) -> Option<f64> {
        self.as_ref()?.number()
    }

    fn set_number(&mut self, number: f64) {
        self.get_or_insert_with(T::unset).set_number(number);
    }

    fn tables(&self) -> Vec<(Option<&str>, &dyn Declaration)> {
        self.as_ref().map(T::tables).unwrap_or_default()
    }

    fn tables_mut(&mut self) -> Vec<&mut dyn Declaration> {
        self.as_mut().map(T::tables_mut).unwrap_or_default()
    }
}
