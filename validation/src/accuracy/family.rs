//! Families of a set: bounds that some of its scenarios share.
//!
//! Every key of a family is a [`Key`], whose line says what may stand there and what does where it is left out. Which
//! keys there are, and how scenarios are drawn within them, is up to the [`Kind`] of the set. Any other key of a
//! scenario stands under `set`: a value, two numbers to draw between, or words to choose from.

use std::collections::BTreeMap;

use flitwise_language::document::{Entry, Node, Reader, Table, Value, nearest, one_of};
use flitwise_language::scenario::{Fault, Place};

use super::Kind;
use super::draw::{Draw, rounded};
use super::plan::{bounds, number, refuse, share};

/// Most scenarios of a family.
const MOST_SCENARIOS: u32 = 10_000;
/// Keys that every family has.
pub(super) const HEAD: [&str; 3] = ["name", "count", "topology"];

/// A topology that families may have, and the key of its size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wiring {
    pub(super) topology: &'static str,
    pub(super) size: &'static str,
    pub(super) within: [u32; 2],
    /// Virtual channels that a class has at least: the dateline of a torus splits them.
    pub(super) least_lanes: u32,
}

impl Wiring {
    /// Whether it has a radix.
    pub(super) fn is_lattice(&self) -> bool {
        self.size == "radix"
    }
}

/// A key of a family.
pub(super) struct Key {
    pub(super) name: &'static str,
    wanted: KeyRange,
    /// Topologies that have it; all if empty.
    of: &'static [&'static str],
}

/// What may stand at a key, and what does without it.
enum KeyRange {
    /// Least and most of the size of a wiring.
    Size,
    /// Least and most of whole numbers.
    Whole([u32; 2], [u32; 2]),
    /// Least and most.
    Bounds([f64; 2], [f64; 2]),
    /// A number.
    Number([f64; 2], f64),
    /// A probability, 0 by default.
    Chance,
    /// Any of these words, the default one alone.
    AnyOf(fn() -> Vec<&'static str>, &'static str),
    /// One of these words, the first by default.
    Word(&'static [&'static str]),
}

impl Key {
    const fn new(name: &'static str, wanted: KeyRange) -> Self {
        Self { name, wanted, of: &[] }
    }

    pub(super) const fn size(name: &'static str) -> Self {
        Self::new(name, KeyRange::Size)
    }

    pub(super) const fn whole(name: &'static str, within: [u32; 2], default: [u32; 2]) -> Self {
        Self::new(name, KeyRange::Whole(within, default))
    }

    pub(super) const fn bounds(name: &'static str, within: [f64; 2], default: [f64; 2]) -> Self {
        Self::new(name, KeyRange::Bounds(within, default))
    }

    pub(super) const fn number(name: &'static str, within: [f64; 2], default: f64) -> Self {
        Self::new(name, KeyRange::Number(within, default))
    }

    pub(super) const fn chance(name: &'static str) -> Self {
        Self::new(name, KeyRange::Chance)
    }

    pub(super) const fn any_of(
        name: &'static str,
        words: fn() -> Vec<&'static str>,
        default: &'static str,
    ) -> Self {
        Self::new(name, KeyRange::AnyOf(words, default))
    }

    pub(super) const fn word(name: &'static str, words: &'static [&'static str]) -> Self {
        Self::new(name, KeyRange::Word(words))
    }

    pub(super) const fn of(self, topologies: &'static [&'static str]) -> Self {
        Self { of: topologies, ..self }
    }

    /// Whether a topology does not have it.
    fn is_stray(&self, wiring: Wiring) -> bool {
        !self.of.is_empty() && !self.of.contains(&wiring.topology)
    }
}

/// Bounds that some of the scenarios of a set share.
#[derive(Clone, Debug)]
pub struct Family {
    /// What tables call it.
    pub name: String,
    /// How many scenarios it has.
    pub count: u32,
    pub(super) wiring: Wiring,
    numbers: BTreeMap<&'static str, [f64; 2]>,
    words: BTreeMap<&'static str, Vec<&'static str>>,
    /// Other keys of its scenarios.
    set: Vec<Entry>,
}

impl Family {
    /// The word of its topology.
    pub fn topology(&self) -> &'static str {
        self.wiring.topology
    }

    /// Least and most at a key; of a key that takes one number, that number twice.
    ///
    /// # Panics
    /// If families of this kind have no such key.
    pub fn bounds(&self, key: &str) -> [f64; 2] {
        *self.numbers.get(key).unwrap_or_else(|| panic!("a family without {key}"))
    }

    /// The same of whole numbers.
    pub fn whole(&self, key: &str) -> [u32; 2] {
        self.bounds(key).map(|bound| bound as u32)
    }

    /// The number at a key.
    pub fn number(&self, key: &str) -> f64 {
        self.bounds(key)[0]
    }

    /// The words at a key.
    ///
    /// # Panics
    /// If families of this kind have no such key.
    pub fn words(&self, key: &str) -> &[&'static str] {
        self.words.get(key).unwrap_or_else(|| panic!("a family without {key}"))
    }

    /// Ports, dimensions of a cube, or routers along a dimension.
    pub fn size(&self) -> [u32; 2] {
        self.whole(self.wiring.size)
    }

    /// The family of a table; `None` if something is wrong with it, which the reader knows.
    pub(super) fn read(reader: &mut Reader, table: &Table<'_>, kind: Kind) -> Option<Self> {
        let before = reader.faults().len();
        reader.refuse_unknown(table, &kind.names_of_keys());
        let wirings = kind.wirings();
        let topologies = one_of(wirings.iter().map(|wiring| wiring.topology));
        let (name, count) = name_and_count(reader, table, &topologies);
        let found = reader.word(table, "topology", wirings, |wiring| wiring.topology);
        let wiring = found.unwrap_or(wirings[0]);
        let (numbers, words, set) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
        let mut family = Self { name, count, wiring, numbers, words, set };
        if found.is_some() {
            let help = format!("{} = [{}, 8]", wiring.size, wiring.within[0]);
            reader.require(table, wiring.size, "[least, most]", Some(&help));
            family.refuse_strays(reader, table, kind);
        }
        for key in kind.keys() {
            family.read_key(reader, table, key);
        }
        family.set = reader.settings(table, "set").into_iter().cloned().collect();
        for entry in &family.set {
            refuse_undrawable(reader, table, entry);
        }
        kind.check(&family, reader, table);
        (reader.faults().len() == before).then_some(family)
    }

    /// Refuses sizes and keys of other topologies.
    fn refuse_strays(&self, reader: &mut Reader, table: &Table<'_>, kind: Kind) {
        let wiring = self.wiring;
        for key in kind.keys() {
            let name = key.name;
            let wanted = match key.wanted {
                KeyRange::Size if name != wiring.size => format!("{} only", wiring.size),
                _ if key.is_stray(wiring) => {
                    let others = kind.wirings().iter().filter(|other| key.of.contains(&other.topology));
                    let others = others.map(|other| format!("\"{}\"", other.topology));
                    format!("it with topology = {} only", others.collect::<Vec<_>>().join(" or "))
                }
                _ => continue,
            };
            if table.get(name).is_some() {
                refuse(reader, table, name, format!("{name} of a {}", wiring.topology), &wanted, None);
            }
        }
    }

    fn read_key(&mut self, reader: &mut Reader, table: &Table<'_>, key: &Key) {
        let (name, is_stray) = (key.name, key.is_stray(self.wiring));
        let found = match key.wanted {
            KeyRange::Size if name != self.wiring.size => return,
            KeyRange::Size => whole_bounds(reader, table, name, self.wiring.within, [2, 8]),
            KeyRange::Whole(..) if is_stray => [1.0; 2],
            KeyRange::Whole([least, most], default) => {
                let least = if name == "virtual_channels" { self.wiring.least_lanes } else { least };
                whole_bounds(reader, table, name, [least, most], default.map(|bound| bound.max(least)))
            }
            KeyRange::Bounds([least, most], default) => {
                bounds(reader, table, name, least..=most).unwrap_or(default)
            }
            KeyRange::Number([least, most], default) => {
                [number(reader, table, name, least..=most).unwrap_or(default); 2]
            }
            KeyRange::Chance => [share(reader, table, name, 0.0..=1.0).unwrap_or(0.0); 2],
            KeyRange::AnyOf(words, default) => {
                let mut words = words();
                words.retain(|word| self.wiring.size != "ports" || !NEED_COORDINATES.contains(word));
                self.words.insert(name, any_of(reader, table, name, &words, default));
                return;
            }
            KeyRange::Word(words) => {
                let word = reader.word(table, name, words, |word| word).unwrap_or(words[0]);
                self.words.insert(name, vec![word]);
                return;
            }
        };
        self.numbers.insert(name, found);
    }

    /// Other keys of one scenario, whose values are drawn last.
    pub(super) fn others(&self, draw: &mut Draw) -> Vec<Entry> {
        let one = |entry: &Entry| {
            let value = match &entry.node.value {
                Value::List(list) => drawn(draw, list),
                value => value.clone(),
            };
            Entry { node: Node { value, place: entry.node.place.clone() }, ..entry.clone() }
        };
        self.set.iter().map(one).collect()
    }
}

/// Destinations that a single router does not have.
const NEED_COORDINATES: [&str; 2] = ["tornado", "neighbour"];

/// Two numbers as bounds.
fn as_bounds(list: &[Node]) -> Option<[f64; 2]> {
    let number = |node: &Node| match node.value {
        Value::Whole(number) => Some(number as f64),
        Value::Real(number) => Some(number),
        _ => None,
    };
    let [least, most] = list else { return None };
    Some([number(least)?, number(most)?])
}

fn refuse_undrawable(reader: &mut Reader, table: &Table<'_>, entry: &Entry) {
    let Value::List(list) = &entry.node.value else { return };
    let is_fit = match as_bounds(list) {
        Some([least, most]) => 0.0 < least && least <= most && most <= f64::from(u32::MAX),
        None => {
            !list.is_empty() && list.iter().all(|node| matches!(node.value, Value::Text(_) | Value::Truth(_)))
        }
    };
    if !is_fit {
        let wanted = "a value, [least, most] above 0, or a list of words to choose from".to_owned();
        let key = format!("{}.{}", table.key("set"), entry.key);
        reader.refuse(&entry.node.place, key, entry.node.value.shown(), wanted, None);
    }
}

/// A value within bounds, every doubling alike, or one of several.
fn drawn(draw: &mut Draw, list: &[Node]) -> Value {
    let are_whole = list.iter().all(|node| matches!(node.value, Value::Whole(_)));
    match as_bounds(list) {
        Some(bounds) if are_whole => Value::Whole(i64::from(draw.whole(bounds.map(|bound| bound as u32)))),
        Some(bounds) => Value::Real(rounded(draw.between(bounds), 4)),
        None => list[draw.index(list.len())].value.clone(),
    }
}

/// Name and number of scenarios of a family, and whether it says how routers are wired, in one of `topologies`.
fn name_and_count(reader: &mut Reader, table: &Table<'_>, topologies: &str) -> (String, u32) {
    for (key, wanted, help) in [
        ("name", "what tables call it", "name = \"router\""),
        ("count", "how many scenarios to draw", "count = 10"),
        ("topology", topologies, "topology = \"router\""),
    ] {
        reader.require(table, key, wanted, Some(help));
    }
    let name = reader.text(table, "name").unwrap_or_default();
    let is_fit = |name: &str| {
        let is_plain = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
        (1..=40).contains(&name.len()) && name.chars().all(is_plain)
    };
    if table.get("name").is_some() && !is_fit(&name) {
        let wanted = "small letters, digits and hyphens, 40 at most";
        refuse(reader, table, "name", format!("\"{name}\""), wanted, None);
    }
    let count = reader.whole(table, "count").unwrap_or(1);
    if !(1..=MOST_SCENARIOS).contains(&count) {
        refuse(reader, table, "count", count.to_string(), &format!("1 to {MOST_SCENARIOS}"), None);
    }
    (name, count)
}

/// Two whole numbers, the second no less than the first; `default` where there are none.
fn whole_bounds(
    reader: &mut Reader,
    table: &Table<'_>,
    key: &str,
    within: [u32; 2],
    default: [u32; 2],
) -> [f64; 2] {
    let [least, most] = within.map(f64::from);
    let default = default.map(f64::from);
    match bounds(reader, table, key, least..=most) {
        Some(found) if found.iter().all(|bound| bound.fract() == 0.0) => found,
        Some([from, to]) => {
            refuse(reader, table, key, format!("[{from}, {to}]"), "whole numbers", None);
            default
        }
        None => default,
    }
}

/// A list of some of `all`; `default` alone where there is none.
fn any_of(
    reader: &mut Reader,
    table: &Table<'_>,
    key: &str,
    all: &[&'static str],
    default: &'static str,
) -> Vec<&'static str> {
    let Some(found) = reader.texts(table, key) else { return vec![default] };
    let known = |text: &String| all.iter().copied().find(|word| word == text);
    let unknown = found.iter().find(|text| known(text).is_none());
    if unknown.is_none() && !found.is_empty() {
        return found.iter().filter_map(known).collect();
    }
    let help = unknown.and_then(|text| nearest(text, all.iter().copied()));
    let help = help.map(|near| format!("did you mean \"{near}\"?"));
    let found = unknown.map_or("an empty list".to_owned(), |text| format!("\"{text}\""));
    refuse(reader, table, key, found, &format!("a list of {}", all.join(", ")), help.as_deref());
    vec![default]
}

/// A system that is no scenario, or none that its model answers and the simulation knows.
pub(super) struct Unfit {
    pub(super) found: String,
    pub(super) wanted: String,
}

impl Unfit {
    /// Of a system so called, by the first fault of its scenario.
    pub(super) fn first(name: &str, faults: &[Fault]) -> Self {
        let Some(Fault { key, found, wanted, .. }) = faults.first() else {
            return Self { found: name.to_owned(), wanted: "scenarios".to_owned() };
        };
        Self { found: format!("{name}, drawn with {key} {found}"), wanted: wanted.clone() }
    }

    /// At a family's place.
    pub(super) fn refuse(self, reader: &mut Reader, place: &Place, path: String) {
        reader.refuse(place, path, self.found, self.wanted, Some("other bounds of the family".to_owned()));
    }
}
