//! A TOML text as a tree in which every value knows where it stands, with overrides laid on top.

use std::ops::Range;
use std::sync::Arc;

use toml::de::{DeTable, DeValue};

use super::fault::{Fault, Place, nearest, one_of};

/// A scenario text, read but not yet understood.
///
/// Overrides ([`Document::set`]) change the tree, so that a value given on a command line is checked by the
/// same rules as one that stands in the file, and is reported at its own place.
#[derive(Clone, Debug)]
pub struct Document {
    pub(super) root: Vec<Entry>,
    pub(super) whole: Place,
}

/// A key and its value.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) key: String,
    pub(super) key_place: Place,
    pub(super) node: Node,
}

/// A value and its place.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) value: Value,
    pub(super) place: Place,
}

/// A TOML value as far as scenarios care.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Text(String),
    Whole(i64),
    Real(f64),
    List(Vec<Node>),
    Table(Vec<Entry>),
    /// Something no scenario has: a date, a truth value, a number too large to hold.
    Other(String),
}

impl Document {
    /// Reads a TOML text called `text_name` (for messages).
    ///
    /// # Errors
    /// Every syntax fault of the text.
    pub fn parse(text_name: &str, text: &str) -> Result<Self, Vec<Fault>> {
        let lines = Lines::new(text_name, text);
        let (table, errors) = DeTable::parse_recoverable(text);
        if errors.is_empty() {
            let root = lines.entries(table.get_ref());
            return Ok(Self { root, whole: lines.place(&(0..0)) });
        }
        let mut errors = errors;
        errors.sort_by_key(|error| error.span().map(|span| span.start));
        let faults = errors.iter().map(|error| Fault {
            place: lines.place(&error.span().unwrap_or(0..0)),
            key: String::new(),
            found: format!("broken TOML ({})", error.message().replace('\n', "; ")),
            wanted: "key = value lines under [table] heads".to_owned(),
            help: None,
        });
        Err(faults.collect())
    }

    /// Overrides one value: `key` is a path such as `router.buffer_flits` or `class.R1.rate` (`class.*.rate`
    /// for every class), `typed` a TOML value or a bare word, `place` where the override was given.
    ///
    /// # Errors
    /// When the key names a class that is not there, or leads through something that is no table.
    pub fn set(&mut self, key: &str, typed: &str, place: &Place) -> Result<(), Fault> {
        let node = Node { value: value_of(typed, place), place: place.clone() };
        let fault = |found: String, wanted: String, help| Fault {
            place: place.clone(),
            key: key.to_owned(),
            found,
            wanted,
            help,
        };
        if let Some(rest) = key.strip_prefix("class.") {
            let names = self.class_names();
            let after = |stem: &str| {
                let path = rest.strip_prefix(stem)?.strip_prefix('.')?;
                (!path.is_empty()).then(|| path.to_owned())
            };
            let all: Vec<(usize, String)> = match after("*") {
                Some(path) => (0..names.len()).map(|index| (index, path.clone())).collect(),
                // of names that fit, such as "a" and "a.b", the longest is meant
                None => names
                    .iter()
                    .enumerate()
                    .filter_map(|(index, name)| Some((index, name.as_deref()?, after(name.as_deref()?)?)))
                    .max_by_key(|(_, name, _)| name.len())
                    .map(|(index, _, path)| (index, path))
                    .into_iter()
                    .collect(),
            };
            for (index, path) in &all {
                let class = self.class_mut(*index).expect("class_names counts tables only");
                if !insert(class, path, node.clone(), place) {
                    return Err(fault("a path through a plain value".to_owned(), "a table".to_owned(), None));
                }
            }
            if !all.is_empty() {
                return Ok(());
            }
            if names.iter().flatten().any(|name| name == rest) {
                let wanted = format!("class.{rest}.KEY, such as class.{rest}.rate");
                return Err(fault("a class without a key".to_owned(), wanted, None));
            }
            let known: Vec<&str> = names.iter().flatten().map(String::as_str).collect();
            let typed_name = rest.rsplit_once('.').map_or(rest, |(name, _)| name);
            let help = nearest(typed_name, known.iter().copied())
                .zip(rest.rsplit_once('.'))
                .map(|(name, (_, field))| format!("did you mean class.{name}.{field}?"));
            let wanted = match known.as_slice() {
                [] => "a class of the scenario, which has none".to_owned(),
                _ => format!("class.NAME.KEY with NAME one of {}", one_of(known.iter().copied())),
            };
            return Err(fault(format!("class \"{typed_name}\""), wanted, help));
        }
        if key.is_empty() || key.split('.').any(|part| part.trim().is_empty()) {
            let wanted = "a path such as router.buffer_flits or class.R1.rate".to_owned();
            return Err(fault(format!("the key \"{key}\""), wanted, None));
        }
        if insert(&mut self.root, key, node, place) {
            Ok(())
        } else {
            Err(fault("a path through a plain value".to_owned(), "a table".to_owned(), None))
        }
    }

    /// The number at `key`, if there is one: what a sweep couples another key to.
    pub fn number(&self, key: &str) -> Option<f64> {
        let node = match key.strip_prefix("class.") {
            Some(rest) => {
                let names = self.class_names();
                let fits =
                    |name: &&String| rest.strip_prefix(name.as_str()).is_some_and(|r| r.starts_with('.'));
                let name = names.iter().flatten().filter(fits).max_by_key(|name| name.len())?;
                let index = names.iter().position(|other| other.as_ref() == Some(name))?;
                find(self.class(index)?, &rest[name.len() + 1..])?
            }
            None => find(&self.root, key)?,
        };
        match node.value {
            Value::Whole(number) => Some(number as f64),
            Value::Real(number) => Some(number),
            _ => None,
        }
    }

    /// Where the value of `key` stands, or the whole text where it does not.
    pub fn place_of(&self, key: &str) -> &Place {
        find(&self.root, key).map_or(&self.whole, |node| &node.place)
    }

    fn class_names(&self) -> Vec<Option<String>> {
        let Some(Value::List(list)) = self.value("class") else { return Vec::new() };
        list.iter()
            .filter_map(|node| match &node.value {
                Value::Table(entries) => Some(entries),
                _ => None,
            })
            .map(|entries| match find(entries, "name").map(|node| &node.value) {
                Some(Value::Text(name)) => Some(name.clone()),
                _ => None,
            })
            .collect()
    }

    fn class(&self, index: usize) -> Option<&Vec<Entry>> {
        let Some(Value::List(list)) = self.value("class") else { return None };
        let mut tables = list.iter().filter_map(|node| match &node.value {
            Value::Table(entries) => Some(entries),
            _ => None,
        });
        tables.nth(index)
    }

    fn class_mut(&mut self, index: usize) -> Option<&mut Vec<Entry>> {
        let entry = self.root.iter_mut().find(|entry| entry.key == "class")?;
        let Value::List(list) = &mut entry.node.value else { return None };
        let mut tables = list.iter_mut().filter_map(|node| match &mut node.value {
            Value::Table(entries) => Some(entries),
            _ => None,
        });
        tables.nth(index)
    }

    fn value(&self, key: &str) -> Option<&Value> {
        self.root.iter().find(|entry| entry.key == key).map(|entry| &entry.node.value)
    }
}

impl Value {
    /// How the value is quoted in a message.
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Text(text) => format!("\"{}\"", shortened(text)),
            Self::Whole(number) => number.to_string(),
            Self::Real(number) => number.to_string(),
            Self::List(_) => "a list".to_owned(),
            Self::Table(_) => "a table".to_owned(),
            Self::Other(text) => shortened(text),
        }
    }
}

/// At most 60 characters of a text, without line breaks.
pub(super) fn shortened(text: &str) -> String {
    let plain: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    match plain.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &plain[..end]),
        None => plain,
    }
}

fn find<'e>(entries: &'e [Entry], path: &str) -> Option<&'e Node> {
    let (head, rest) = path.split_once('.').map_or((path, None), |(head, rest)| (head, Some(rest)));
    let node = &entries.iter().find(|entry| entry.key == head)?.node;
    match (rest, &node.value) {
        (None, _) => Some(node),
        (Some(rest), Value::Table(inner)) => find(inner, rest),
        _ => None,
    }
}

/// Puts `node` at `path`, making tables on the way; false when the path leads through a plain value.
fn insert(entries: &mut Vec<Entry>, path: &str, node: Node, place: &Place) -> bool {
    let (head, rest) = path.split_once('.').map_or((path, None), |(head, rest)| (head, Some(rest)));
    let at = entries.iter().position(|entry| entry.key == head).unwrap_or_else(|| {
        let value = Value::Table(Vec::new());
        let node = Node { value, place: place.clone() };
        entries.push(Entry { key: head.to_owned(), key_place: place.clone(), node });
        entries.len() - 1
    });
    let entry = &mut entries[at];
    match rest {
        None => {
            entry.node = node;
            true
        }
        Some(rest) => match &mut entry.node.value {
            Value::Table(inner) => insert(inner, rest, node, place),
            _ => false,
        },
    }
}

/// A typed override: TOML where it is TOML, else a bare word.
fn value_of(typed: &str, place: &Place) -> Value {
    match DeValue::parse(typed.trim()) {
        Ok(value) => convert(value.get_ref(), &|_| place.clone()),
        Err(_) => Value::Text(typed.trim().to_owned()),
    }
}

fn convert(value: &DeValue<'_>, place: &dyn Fn(Range<usize>) -> Place) -> Value {
    match value {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
            .map_or_else(|_| Value::Other(number.to_string()), Value::Whole),
        DeValue::Float(number) => {
            number.as_str().parse().map_or_else(|_| Value::Other(number.to_string()), Value::Real)
        }
        DeValue::Boolean(truth) => Value::Other(truth.to_string()),
        DeValue::Datetime(date) => Value::Other(date.to_string()),
        DeValue::Array(list) => Value::List(
            list.iter()
                .map(|item| Node { value: convert(item.get_ref(), place), place: place(item.span()) })
                .collect(),
        ),
        DeValue::Table(table) => Value::Table(convert_table(table, place)),
    }
}

fn convert_table(table: &DeTable<'_>, place: &dyn Fn(Range<usize>) -> Place) -> Vec<Entry> {
    table
        .iter()
        .map(|(key, item)| Entry {
            key: key.get_ref().to_string(),
            key_place: place(key.span()),
            node: Node { value: convert(item.get_ref(), place), place: place(item.span()) },
        })
        .collect()
}

/// Turns byte offsets of a text into places.
struct Lines<'t> {
    name: Arc<str>,
    text: &'t str,
    starts: Vec<usize>,
}

impl<'t> Lines<'t> {
    fn new(name: &str, text: &'t str) -> Self {
        let after_breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        Self { name: name.into(), text, starts: std::iter::once(0).chain(after_breaks).collect() }
    }

    fn place(&self, span: &Range<usize>) -> Place {
        let line = self.starts.partition_point(|start| *start <= span.start).max(1);
        let start = self.starts[line - 1];
        let end = span.start.min(self.text.len());
        let before = &self.text.as_bytes()[start.min(end)..end];
        // a line longer than anyone reads is counted in bytes: characters would take quadratic time
        let column = match before.len() {
            0..10_000 => String::from_utf8_lossy(before).chars().count() + 1,
            bytes => bytes + 1,
        };
        Place::At { text: Arc::clone(&self.name), line, column }
    }

    fn entries(&self, table: &DeTable<'_>) -> Vec<Entry> {
        convert_table(table, &|span| self.place(&span))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed() -> Place {
        Place::Setting("--set".into())
    }

    #[test]
    fn a_value_knows_its_line_and_column() {
        let document = Document::parse("a.toml", "# é\n[router]\nbuffer_flits = 8\n").unwrap();
        let Some(Value::Table(router)) = document.value("router") else { panic!("a table") };
        assert_eq!(router[0].key_place, Place::At { text: "a.toml".into(), line: 3, column: 1 });
        assert_eq!(router[0].node.place, Place::At { text: "a.toml".into(), line: 3, column: 16 });
    }

    #[test]
    fn an_override_reaches_classes_by_name_even_with_dots_in_it_and_all_of_them_by_a_star() {
        let text = "[[class]]\nname = \"a\"\nrate = 1\n[[class]]\nname = \"a.b\"\n";
        let mut document = Document::parse("t", text).unwrap();
        document.set("class.a.b.rate", "0.5", &typed()).unwrap();
        assert_eq!(document.number("class.a.b.rate"), Some(0.5));
        assert_eq!(document.number("class.a.rate"), Some(1.0));
        assert!(find(document.class(0).unwrap(), "b").is_none());
        document.set("class.*.rate", "0.25", &typed()).unwrap();
        assert_eq!(document.number("class.a.rate"), Some(0.25));
        let fault = document.set("class.c.rate", "1", &typed()).unwrap_err();
        assert_eq!(fault.wanted, "class.NAME.KEY with NAME one of \"a\" or \"a.b\"");
    }

    #[test]
    fn every_syntax_fault_is_reported() {
        let faults = Document::parse("t", "a = = 1\n[b\nc = 2\nd = ]\n").unwrap_err();
        assert!(faults.len() >= 3, "{faults:?}");
    }
}
