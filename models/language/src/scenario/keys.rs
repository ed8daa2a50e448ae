//! Keys by their paths, such as `class.R1.rate`: what they are, and the numbers they have.

use super::declare::{Declaration, Field, Key, Kind, Shape, Varies};
use super::{ClassSpec, ScenarioSpec};
use crate::document::Document;

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

/// A value of a scenario's text that a form can change.
#[derive(Clone, Debug)]
pub struct FormField {
    /// Its path, as `--set` takes it.
    pub key: String,
    /// What it means, in one sentence.
    pub sentence: &'static str,
    /// The unit in which it stands there: its own, or what the key has without one.
    pub unit: String,
    /// Its value, and what else it may be.
    pub value: FormValue,
}

/// What a form can change.
#[derive(Clone, Debug)]
pub enum FormValue {
    /// A number.
    Number {
        /// It as it stands there.
        value: f64,
        /// From where to where it may be; none of a value with a unit of its own.
        range: Option<(f64, f64)>,
        /// Whether it is a whole number.
        is_whole: bool,
        /// Whether it is written with its unit, in quotes.
        has_unit: bool,
    },
    /// A word.
    Word {
        /// It as it stands there.
        value: String,
        /// Those that there are.
        words: Vec<&'static str>,
    },
}

/// Every number and every word of a scenario's text that a key has, in the order of the keys.
///
/// ```
/// # use flitwise_language::scenario::{FormValue, Preset, form};
/// let fields = form(&Preset::find("router16").unwrap().document());
/// let rate = fields.iter().find(|field| field.key == "class.R1.rate").unwrap();
/// assert!(matches!(rate.value, FormValue::Number { value: 0.005, range: Some((0.0, 1.0)), .. }));
/// ```
pub fn form(document: &Document) -> Vec<FormField> {
    let Ok(scenario) = document.scenario() else { return Vec::new() };
    let paths = keys(scenario.spec()).into_iter().filter(|path| !path.starts_with("class.*"));
    let field = |path: String| {
        let words = words_of(&path);
        let sentence = key_of(&path).map_or("", |key| key.sentence);
        if let Some(word) = document.word(&path).filter(|word| words.contains(word)) {
            let value = FormValue::Word { value: word.to_owned(), words };
            return Some(FormField { key: path, sentence, unit: String::new(), value });
        }
        let key = key_of(&path).filter(|key| matches!(key.kind, Kind::Whole | Kind::Real))?;
        let (value, unit) = document.quantity(&path)?;
        let (has_unit, is_whole) = (!unit.is_empty(), key.is_whole() && unit.is_empty());
        let range = Some(key.ends()).filter(|_| !has_unit);
        let unit = if has_unit { unit } else { key.unit }.to_owned();
        let value = FormValue::Number { value, range, is_whole, has_unit };
        Some(FormField { key: path, sentence, unit, value })
    };
    let mut fields: Vec<FormField> = Vec::new();
    // branches of a table may have keys in common
    for found in paths.filter_map(field) {
        if fields.iter().all(|other| other.key != found.key) {
            fields.push(found);
        }
    }
    fields
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
