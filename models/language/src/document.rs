//! A TOML text as a tree in which every value knows where it stands, and a reader that reports every fault of
//! it at once.
//!
//! Scenarios, figures and claims are read this way: [`Document::parse`] gives the tree, a [`Reader`] takes the
//! values out of it, and what is wrong stays in the reader until the whole text has been gone through.
//!
//! ```
//! use flitwise_language::document::{Document, Fault, Reader};
//!
//! fn read(text: &str) -> Result<(String, f64), Vec<Fault>> {
//!     let document = Document::parse("tea.toml", text)?;
//!     let mut reader = Reader::new(&[]);
//!     let root = document.root();
//!     reader.refuse_unknown(&root, &["leaf", "minutes"]);
//!     reader.require(&root, "leaf", "the name of a leaf", None);
//!     let leaf = reader.text(&root, "leaf").unwrap_or_default();
//!     let minutes = reader.real(&root, "minutes").unwrap_or(3.0);
//!     reader.finish((leaf, minutes))
//! }
//!
//! assert_eq!(read("leaf = \"assam\"").unwrap(), ("assam".to_owned(), 3.0));
//! let faults = read("minuts = 4\nleaf = 5").unwrap_err();
//! assert_eq!(faults[0].help.as_deref(), Some("did you mean minutes?"));
//! assert_eq!(faults[1].to_string(), "tea.toml:2:8: leaf: found 5, wanted a text in quotes");
//! ```

mod edit;
mod fault;
mod reader;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use toml::de::{DeTable, DeValue};

pub use edit::edited;
pub use fault::{Fault, Place, in_order_of_text, nearest, one_of};
pub use reader::{Heads, Reader};

/// A text, read but not yet understood.
///
/// Overrides ([`Document::set`]) change the tree, so that a value given on a command line is checked by the
/// same rules as one that stands in the file, and is reported at its own place.
#[derive(Clone, Debug)]
pub struct Document {
    root: Vec<Entry>,
    whole: Place,
}

/// A key and its value.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The key, without quotes.
    pub key: String,
    /// Where the key stands.
    pub key_place: Place,
    /// The value.
    pub node: Node,
}

/// A value and its place.
#[derive(Clone, Debug)]
pub struct Node {
    /// The value.
    pub value: Value,
    /// Where it stands.
    pub place: Place,
}

/// A TOML value as far as our files care.
#[derive(Clone, Debug)]
pub enum Value {
    /// A text.
    Text(String),
    /// A whole number.
    Whole(i64),
    /// A number with a point or an exponent, infinite or not a number.
    Real(f64),
    /// A truth value.
    Truth(bool),
    /// A list; `[[name]]` tables are a list of tables.
    List(Vec<Node>),
    /// A table, in the order of its keys.
    Table(Vec<Entry>),
    /// Something no file of ours has: a date, a number too large to hold.
    Other(String),
}

impl Value {
    /// It as a number, if it is one.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Whole(number) => Some(*number as f64),
            Self::Real(number) => Some(*number),
            _ => None,
        }
    }
}

/// A table being read and the key that leads to it.
#[derive(Clone, Debug)]
pub struct Table<'d> {
    /// Keys and values.
    pub entries: &'d [Entry],
    /// The key that leads to it, empty at the root.
    pub path: Cow<'d, str>,
    /// Where it stands.
    pub place: &'d Place,
}

impl<'d> Table<'d> {
    /// The whole key of one of its keys, such as `network.ports` for `ports`.
    pub fn key(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&'d Node> {
        self.entries.iter().find(|entry| entry.key == key).map(|entry| &entry.node)
    }

    /// The table as a document of its own: keys begin here, places are kept.
    pub fn to_document(&self) -> Document {
        Document { root: self.entries.to_vec(), whole: self.place.clone() }
    }
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

    /// The table of everything.
    pub fn root(&self) -> Table<'_> {
        Table { entries: &self.root, path: Cow::Borrowed(""), place: &self.whole }
    }

    /// Where the text begins: the place of what is nowhere in it.
    pub fn place(&self) -> &Place {
        &self.whole
    }

    /// The table under `key` as a document of its own, such as the scenario inside a figure: keys begin there,
    /// places are kept.
    ///
    /// ```
    /// # use flitwise_language::document::Document;
    /// let text = "title = \"mine\"\n[scenario.network]\ntopology = \"router\"\nports = 1\n";
    /// let figure = Document::parse("mine.toml", text).expect("sound TOML");
    /// let faults = figure.sub_document("scenario").expect("a table").scenario().unwrap_err();
    /// let ports = faults.iter().find(|fault| fault.key == "network.ports").expect("one port is no router");
    /// assert!(ports.to_string().starts_with("mine.toml:4:9: network.ports: found 1, wanted"));
    /// assert!(figure.sub_document("title").is_none());
    /// ```
    pub fn sub_document(&self, key: &str) -> Option<Self> {
        let node = find(&self.root, key)?;
        let Value::Table(entries) = &node.value else { return None };
        Some(Self { root: entries.clone(), whole: node.place.clone() })
    }

    /// Where the value of `key` stands, or the whole text where it does not.
    pub fn place_of(&self, key: &str) -> &Place {
        let place = self.place_in_class(key).or_else(|| find(&self.root, key).map(|node| &node.place));
        place.unwrap_or(&self.whole)
    }

    /// Where the value of a key such as `class.R1.rate` stands, or its class if there is no such value.
    fn place_in_class(&self, key: &str) -> Option<&Place> {
        let rest = key.strip_prefix("class.")?;
        let Some(Value::List(classes)) = self.value("class") else { return None };
        classes.iter().find_map(|node| {
            let Value::Table(entries) = &node.value else { return None };
            let Value::Text(name) = &find(entries, "name")?.value else { return None };
            let key = rest.strip_prefix(name.as_str())?.strip_prefix('.')?;
            Some(find(entries, key).map_or(&node.place, |value| &value.place))
        })
    }

    /// Where the name of a class stands; where the list of classes does, if there is no such class.
    pub fn place_of_class(&self, name: Option<&str>) -> &Place {
        let is_named = |node: &&Node| match &node.value {
            Value::Table(entries) => find(entries, "name").is_some_and(
                |found| matches!((&found.value, name), (Value::Text(found), Some(name)) if found == name),
            ),
            _ => false,
        };
        let class = match self.value("class") {
            Some(Value::List(classes)) => classes.iter().find(is_named),
            _ => None,
        };
        match class.map(|node| (&node.value, &node.place)) {
            Some((Value::Table(entries), place)) => find(entries, "name").map_or(place, |name| &name.place),
            _ => self.place_of("class"),
        }
    }

    /// The value of a key of the root.
    pub(crate) fn value(&self, key: &str) -> Option<&Value> {
        self.root.iter().find(|entry| entry.key == key).map(|entry| &entry.node.value)
    }

    /// The values of all classes under a path of keys, each with its key, to be changed.
    pub fn of_classes_mut(&mut self, path: &[&str]) -> Vec<(String, &mut Node)> {
        let classes = self.root.iter_mut().find(|entry| entry.key == "class");
        let Some(Value::List(classes)) = classes.map(|entry| &mut entry.node.value) else {
            return Vec::new();
        };
        let value = |(at, class)| {
            let node = path.iter().try_fold(class, |node: &mut Node, key| child(node, key))?;
            Some((format!("class[{}].{}", at + 1, path.join(".")), node))
        };
        classes.iter_mut().enumerate().filter_map(value).collect()
    }

    /// The value under a path of keys, to be changed.
    pub fn value_mut(&mut self, path: &[&str]) -> Option<&mut Node> {
        let (first, rest) = path.split_first()?;
        let node = self.root.iter_mut().find(|entry| entry.key == *first).map(|entry| &mut entry.node)?;
        rest.iter().try_fold(node, |node, key| child(node, key))
    }

    /// Keys and values of the root, to be changed.
    pub(crate) fn entries_mut(&mut self) -> &mut Vec<Entry> {
        &mut self.root
    }
}

/// The value of a key of a table, to be changed.
fn child<'n>(node: &'n mut Node, key: &str) -> Option<&'n mut Node> {
    let Value::Table(entries) = &mut node.value else { return None };
    entries.iter_mut().find(|entry| entry.key == key).map(|entry| &mut entry.node)
}

impl Value {
    /// How the value is quoted in a message.
    pub fn shown(&self) -> String {
        match self {
            Self::Text(text) => format!("\"{}\"", shortened(text)),
            Self::Whole(number) => number.to_string(),
            Self::Real(number) => in_short(*number),
            Self::Truth(truth) => truth.to_string(),
            Self::List(_) => "a list".to_owned(),
            Self::Table(_) => "a table".to_owned(),
            Self::Other(text) => shortened(text),
        }
    }
}

/// A number as it is quoted: with an exponent where all its digits would fill the line.
///
/// ```
/// # use flitwise_language::document::in_short;
/// assert_eq!([2.0, -0.005, 1e308, 1e-300].map(in_short), ["2", "-0.005", "1e308", "1e-300"]);
/// ```
pub fn in_short(number: f64) -> String {
    let plain = number.to_string();
    if plain.len() > 24 { format!("{number:?}") } else { plain }
}

/// At most 60 characters of a text, without line breaks.
pub fn shortened(text: &str) -> String {
    let plain: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    match plain.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &plain[..end]),
        None => plain,
    }
}

pub(crate) fn find<'e>(entries: &'e [Entry], path: &str) -> Option<&'e Node> {
    let (head, rest) = path.split_once('.').map_or((path, None), |(head, rest)| (head, Some(rest)));
    let node = &entries.iter().find(|entry| entry.key == head)?.node;
    match (rest, &node.value) {
        (None, _) => Some(node),
        (Some(rest), Value::Table(inner)) => find(inner, rest),
        _ => None,
    }
}

/// Puts `node` at `path`, making tables on the way; false when the path leads through a plain value.
pub(crate) fn insert(entries: &mut Vec<Entry>, path: &str, node: Node, place: &Place) -> bool {
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
pub(crate) fn value_of(typed: &str, place: &Place) -> Value {
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
        DeValue::Boolean(truth) => Value::Truth(*truth),
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

    #[test]
    fn a_value_knows_its_line_and_column() {
        let document = Document::parse("a.toml", "# é\n[router]\nbuffer_flits = 8\n").unwrap();
        let Some(Value::Table(router)) = document.value("router") else { panic!("a table") };
        assert_eq!(router[0].key_place, Place::At { text: "a.toml".into(), line: 3, column: 1 });
        assert_eq!(router[0].node.place, Place::At { text: "a.toml".into(), line: 3, column: 16 });
    }

    #[test]
    fn a_scenario_within_another_text_keeps_its_places() {
        let text = "[scenario.network]\ntopology = \"router\"\n[scenario]\nname = \"a\"\n[[scenario.class]]\n\
                    name = \"R1\"\nkind = \"real-time\"\nrate = 0.01\n";
        let mut document = Document::parse("fig.toml", text).unwrap().sub_document("scenario").unwrap();
        let faults = document.scenario().unwrap_err();
        let wanted = "fig.toml:1:1: network.ports: found nothing, wanted a whole number of ports, 2 to 1024";
        assert_eq!(faults.iter().map(ToString::to_string).collect::<Vec<_>>(), [wanted]);

        let entry = |key: &str, text: &str| {
            let other = Document::parse("set.toml", text).unwrap();
            Entry { key: key.to_owned(), ..other.root().entries[0].clone() }
        };
        document.set_entry(&entry("network.ports", "set = 4")).unwrap();
        assert_eq!(document.scenario().unwrap().classes()[0].rate, 0.01);
        document.set_entry(&entry("class.R1.rate", "\nset = 7")).unwrap();
        assert_eq!(document.scenario().unwrap_err()[0].place.to_string(), "set.toml:2:7: ");
        let fault = document.set_entry(&entry("class.R9.rate", "\nset = 7")).unwrap_err();
        assert_eq!(fault.place.to_string(), "set.toml:2:1: ");
    }

    #[test]
    fn a_table_that_is_only_implied_stands_where_its_first_head_does() {
        let document = Document::parse("t", "a = 1\n\n[b.c]\nd = 1\n").unwrap();
        assert_eq!(document.place_of("b").to_string(), "t:3:2: ");
        let inner = document.sub_document("b").unwrap();
        assert_eq!(inner.place().to_string(), "t:3:2: ");
        assert_eq!(inner.root().get("c").unwrap().value.shown(), "a table");
        assert_eq!(document.sub_document("b.c").unwrap().place_of("d").to_string(), "t:4:5: ");
        assert!(document.sub_document("a").is_none() && document.sub_document("z").is_none());
        let Some(Value::Table(entries)) = document.value("b") else { panic!("a table") };
        let place = &document.root().get("b").unwrap().place;
        let table = Table { entries, path: "b".into(), place };
        assert_eq!(table.key("c"), "b.c");
        assert_eq!(table.to_document().place(), place);
    }

    #[test]
    fn every_syntax_fault_is_reported() {
        let faults = Document::parse("t", "a = = 1\n[b\nc = 2\nd = ]\n").unwrap_err();
        assert!(faults.len() >= 3, "{faults:?}");
    }
}
