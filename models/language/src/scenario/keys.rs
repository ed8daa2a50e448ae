//! Keys by their paths, such as `class.R1.rate`: what they are, and the numbers they have.

use super::declare::{Declaration, Field, Key, Kind, Shape, Varies};
use super::{ClassSpec, ScenarioSpec};

/// Every key that a scenario like this one may have, as `--set` takes them; `class.*` is every class.
///
/// ```
/// # use flitwise_language::scenario::{ScenarioSpec, keys};
/// let keys = keys(&ScenarioSpec::default());
/// assert!(keys.contains(&"router.scheduler".to_owned()) && keys.contains(&"class.R1.rate".to_owned()));
/// ```
pub fn keys(spec: &ScenarioSpec) -> Vec<String> {
    let mut all = Vec::new();
    for (key, value) in spec.fields() {
        match key.kind {
            Kind::Tables(shape) => {
                for name in value.tables().iter().filter_map(|(name, _)| *name).chain(["*"]) {
                    let mut own = Vec::new();
                    below(shape, &format!("{}.{name}", key.name), &mut own);
                    all.extend(own.into_iter().filter(|path| !path.ends_with(".name")));
                }
            }
            Kind::Table(shape) => below(shape, key.name, &mut all),
            _ => all.push(key.name.to_owned()),
        }
    }
    all
}

fn below(shape: &Shape, path: &str, all: &mut Vec<String>) {
    all.extend(shape.tag.map(|tag| format!("{path}.{tag}")));
    for key in shape.keys() {
        let path = format!("{path}.{}", key.name);
        match key.kind {
            Kind::Table(shape) => below(shape, &path, all),
            _ => all.push(path),
        }
    }
}

/// The words that a key may have, if its value is a word.
pub fn words_of(path: &str) -> Vec<&'static str> {
    let (table, last) = path.rsplit_once('.').unwrap_or(("", path));
    match (key_of(path), key_of(table).map(|key| key.kind)) {
        (Some(key), _) => key.words(),
        (None, Some(Kind::Table(shape))) if shape.tag == Some(last) => shape.words(),
        _ => Vec::new(),
    }
}

/// The declaration of the key at a path.
pub(super) fn key_of(path: &str) -> Option<&'static Key> {
    let parts: Vec<&str> = path.trim().split('.').collect();
    let within = |shape: &Shape, parts: &[&str]| {
        let (first, rest) = parts.split_first()?;
        let key = shape.keys().find(|key| key.name == *first)?;
        rest.iter().try_fold(key, |key, part| match key.kind {
            Kind::Table(shape) => shape.keys().find(|key| key.name == *part),
            _ => None,
        })
    };
    match parts.as_slice() {
        // the name of a class may have dots in it
        ["class", rest @ ..] => (1..rest.len()).find_map(|at| within(&ClassSpec::SHAPE, &rest[at..])),
        parts => within(&ScenarioSpec::SHAPE, parts),
    }
}

/// Whether the key at a path of a scenario takes whole numbers only.
pub fn is_whole(path: &str) -> bool {
    key_of(path).is_some_and(Key::is_whole)
}

impl ScenarioSpec {
    /// The parameters of sensitivities in their order: the table of each, its key and how it varies.
    pub fn parameters(&self) -> Vec<(&'static str, &'static Key, Varies)> {
        let mut found = Vec::new();
        for (table, value) in self.fields() {
            let first = value.tables().into_iter().next();
            let keys = first.map_or(&[][..], |(_, inner)| inner.keys());
            for key in keys.iter().filter(|key| self.has(table.name) && self.has(key.name)) {
                found.extend(key.limits.parameter.map(|(place, varies)| (place, table.name, key, varies)));
            }
        }
        found.sort_by_key(|(place, ..)| *place);
        found.into_iter().map(|(_, table, key, varies)| (table, key, varies)).collect()
    }
}

/// Numbers of a table by their keys, such as `router.buffer_flits` of a scenario or `rate` of a class.
macro_rules! numbers {
    ($($Table:ty),+) => {
        $(impl $Table {
            /// The number at a path within, if there is one.
            pub fn number(&self, path: &str) -> Option<f64> {
                value_at(self, path)?.number()
            }

            /// Puts a number at a path within, if numbers go there.
            pub fn set_number(&mut self, path: &str, number: f64) {
                set_at(self, path, number);
            }
        })+
    };
}

numbers!(ScenarioSpec, ClassSpec);

fn parted(path: &str) -> (&str, Option<&str>) {
    path.split_once('.').map_or((path, None), |(first, rest)| (first, Some(rest)))
}

fn value_at<'t>(table: &'t dyn Declaration, path: &str) -> Option<&'t dyn Field> {
    let (first, rest) = parted(path);
    let (_, value) = table.fields().into_iter().find(|(key, _)| key.name == first)?;
    match rest {
        None => Some(value),
        Some(rest) => value_at(value.tables().first()?.1, rest),
    }
}

fn set_at(table: &mut dyn Declaration, path: &str, number: f64) {
    let (first, rest) = parted(path);
    for (_, value) in table.fields_mut().into_iter().filter(|(key, _)| key.name == first) {
        match rest {
            None => value.set_number(number),
            Some(rest) => value.tables_mut().into_iter().for_each(|inner| set_at(inner, rest, number)),
        }
    }
}
