//! What a model or the simulator reads of a scenario, and what it refuses by name.

use super::declare::{Declaration, Key};
use super::{ClassKind, Document, Scenario, keys};
use crate::document::{Fault, Place, in_short, one_of};

/// Keys that are read, by paths without names of classes, such as `class.source.kind`.
#[derive(Clone, Copy, Debug)]
pub enum Read {
    /// These keys of a table, whatever their values.
    Keys(&'static str, &'static [&'static str]),
    /// These words of a key.
    Words(&'static str, &'static [&'static str]),
    /// Numbers of a key from the least to the most, and what helps against others.
    Within(&'static str, f64, f64, &'static str),
    /// At most one class of a kind, which is a word of `class.kind`.
    OneClass(ClassKind),
}

/// What the reader itself uses, or only prints.
const ALWAYS: [&str; 4] = ["name", "units", "source", "class.name"];

/// A value that differs from its default and is not read.
#[derive(Clone, Debug)]
pub struct Unread {
    /// Its key, such as `class.R1.source.kind`.
    pub key: String,
    name: &'static str,
    found: String,
    /// What is read instead.
    instead: Instead,
}

#[derive(Clone, Debug)]
enum Instead {
    Nothing {
        is_table: bool,
    },
    Words(&'static [&'static str]),
    Range {
        range: String,
        help: &'static str,
    },
    /// One class of the kind.
    One,
}

impl Read {
    /// Whether it is of the key `name` in the table at `path`.
    fn is_of(&self, path: &str, name: &str) -> bool {
        match self {
            Self::Keys(table, names) => *table == path && names.contains(&name),
            Self::Words(key, _) | Self::Within(key, ..) => is_key(key, path, name),
            Self::OneClass(_) => false,
        }
    }

    /// Whether it is of a key in the table at `path` or within that.
    fn is_below(&self, path: &str) -> bool {
        let (Self::Keys(whole, _) | Self::Words(whole, _) | Self::Within(whole, ..)) = self else {
            return false;
        };
        whole.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    }
}

/// Whether `key` is that of `name` in the table at `path`.
fn is_key(key: &str, path: &str, name: &str) -> bool {
    match path {
        "" => key == name,
        path => key.strip_prefix(path).and_then(|rest| rest.strip_prefix('.')) == Some(name),
    }
}

impl Scenario {
    /// All that differs from its default and is not among `reads`.
    pub fn unread(&self, reads: &[Read]) -> Vec<Unread> {
        let mut found = Vec::new();
        unread(self.spec(), ("", ""), reads, &mut found);
        for read in reads {
            let Read::OneClass(kind) = read else { continue };
            let more = self.classes().iter().filter(|class| class.kind == *kind).skip(1);
            found.extend(more.map(|class| Unread {
                key: format!("class.{}.kind", class.name),
                name: "kind",
                found: kind.word().to_owned(),
                instead: Instead::One,
            }));
        }
        found
    }
}

/// Goes through a table: `path` is its path without names of classes, `label` the one with them.
fn unread(table: &dyn Declaration, (path, label): (&str, &str), reads: &[Read], found: &mut Vec<Unread>) {
    let join =
        |path: &str, name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    let mut refuse = |name: &'static str, value: String, instead: Instead| {
        found.push(Unread { key: join(label, name), name, found: value, instead });
    };
    let read_of = |name: &str| reads.iter().find(|read| read.is_of(path, name));
    let default = table.fresh();
    if let Some(tag) = table.shape().tag {
        let word = table.word();
        match read_of(tag) {
            // with the word go the keys of its branch
            Some(Read::Words(_, words)) if !words.contains(&word) => {
                return refuse(tag, word.to_owned(), Instead::Words(words));
            }
            None if word != table.shape().branches[0].word => {
                return refuse(tag, word.to_owned(), Instead::Nothing { is_table: false });
            }
            _ => {}
        }
    }
    let mut inner = Vec::new();
    for ((key, value), default) in table.fields().into_iter().zip(default.values()) {
        if ALWAYS.iter().any(|always| is_key(always, path, key.name)) {
            continue;
        }
        let tables = value.tables();
        if !tables.is_empty() {
            let below = join(path, key.name);
            if reads.iter().any(|read| read.is_below(&below)) {
                inner.push((below, key, tables));
            } else if value.in_short() != default.in_short() {
                refuse(key.name, "a table".to_owned(), Instead::Nothing { is_table: true });
            }
            continue;
        }
        match (read_of(key.name), value.number()) {
            (Some(Read::Within(_, least, most, help)), Some(number))
                if !(least..=most).contains(&&number) =>
            {
                let range = narrower(key, *least, *most);
                refuse(key.name, in_short(number), Instead::Range { range, help });
            }
            (Some(Read::Words(_, words)), _) => {
                let word = value.in_short().unwrap_or_default();
                let word = word.trim_matches('"');
                if !words.contains(&word) {
                    refuse(key.name, word.to_owned(), Instead::Words(words));
                }
            }
            (None, _) if key.limits.wanted || value.in_short() != default.in_short() => {
                let written = value.in_short().unwrap_or_default();
                refuse(key.name, written, Instead::Nothing { is_table: false });
            }
            _ => {}
        }
    }
    for (path, key, tables) in inner {
        for (name, table) in tables {
            let label = join(label, key.name);
            let label = name.map_or(label.clone(), |name| format!("{label}.{name}"));
            unread(table, (&path, &label), reads, found);
        }
    }
}

fn narrower(key: &Key, least: f64, most: f64) -> String {
    format!("{} to {} {}", in_short(least), in_short(most), key.unit)
}

impl Unread {
    /// What is said of a model that does not read it, such as `has no fifo scheduler`.
    pub fn because(&self) -> String {
        let Self { name, found, .. } = self;
        match &self.instead {
            Instead::Nothing { is_table: true } => format!("has no [{name}] table"),
            Instead::Nothing { .. } => format!("has no {name}"),
            Instead::Words(words) => {
                let (last, rest) = words.split_last().expect("a key has words");
                let rest = if rest.is_empty() { String::new() } else { format!("{} and ", rest.join(", ")) };
                format!("has no {found} {name}; it has {rest}{last}")
            }
            Instead::Range { range, .. } => format!("has no {name} of {found}; it takes {range}"),
            Instead::One => format!("has one {found} class"),
        }
    }

    /// The same as a fault; `to_do` says what for, such as `to simulate`.
    pub fn fault(&self, to_do: &str) -> Fault {
        let (wanted, help) = match &self.instead {
            Instead::Nothing { .. } => (format!("no {} {to_do}", self.name), None),
            Instead::Words(words) => (format!("{} {to_do}", one_of(words.iter().copied())), None),
            Instead::Range { range, help } => (format!("{range} {to_do}"), Some((*help).to_owned())),
            Instead::One => (format!("one {} class {to_do}", self.found), None),
        };
        Fault { place: Place::Program, key: self.key.clone(), found: self.found.clone(), wanted, help }
    }
}

impl Document {
    /// Numbers that no scenario needs to be read for: each is in the range of its key, but not in that of `reads`.
    pub fn unread(&self, reads: &[Read]) -> Vec<Unread> {
        let number = |read: &Read| {
            let Read::Within(path, least, most, help) = *read else { return None };
            let (key, number) = (keys::key_of(path)?, self.number(path)?);
            let is_unread = key.holds(number) && !(least..=most).contains(&number);
            let instead = Instead::Range { range: narrower(key, least, most), help };
            is_unread.then(|| Unread {
                key: path.to_owned(),
                name: key.name,
                found: in_short(number),
                instead,
            })
        };
        reads.iter().filter_map(number).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{NetworkSpec, ScenarioSpec};

    #[test]
    fn what_is_not_read_is_refused_by_name_unless_it_is_at_its_default() {
        let reads = [
            Read::Words("network.topology", &["router"]),
            Read::Within("network.ports", 2.0, 8.0, "fewer"),
            Read::Keys("class", &["rate", "kind"]),
        ];
        let mut spec = ScenarioSpec::default();
        let unread = |spec: &ScenarioSpec| {
            let unread = spec.clone().check().unwrap().unread(&reads);
            unread.iter().map(|one| format!("{}: {}", one.key, one.because())).collect::<Vec<_>>()
        };
        assert_eq!(
            unread(&spec),
            [
                "network.ports: has no ports of 16; it takes 2 to 8 ports",
                "class.R1.deadlines: has no deadlines",
                "class.R2.deadlines: has no deadlines",
            ]
        );
        for class in &mut spec.classes {
            class.deadlines.clear();
        }
        spec.network = NetworkSpec::Router { ports: 8, self_traffic: None };
        assert!(unread(&spec).is_empty());
        let more =
            [&reads[..], &[Read::OneClass(ClassKind::RealTime), Read::OneClass(ClassKind::BestEffort)]];
        let more = spec.clone().check().unwrap().unread(&more.concat());
        let more: Vec<String> = more.iter().map(|one| format!("{}: {}", one.key, one.because())).collect();
        assert_eq!(more, ["class.R2.kind: has one real-time class"]);
        spec.router.buffer_flits = 8;
        spec.classes[0].vtick = Some(3.0);
        assert_eq!(unread(&spec), ["router: has no [router] table", "class.R1.vtick: has no vtick"]);
    }
}
