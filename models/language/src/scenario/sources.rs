//! `[source]`: which document the value of a key is from, and within which range it is known where none has it.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::json;

use super::declare::*;
use super::units::{quantity, with_unit};
use super::writer::quoted;
use crate::document::{Document, Entry, Node, Place, Value, nearest};

/// Where the value of a key comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueSource {
    /// The key, such as `switch.routing_time` or `class.all.rate`.
    pub key: String,
    /// The document that has the value, or what it follows from.
    pub document: String,
    /// The least and the largest value that it may have, as they are written, where it is not known better.
    pub range: Option<[String; 2]>,
}

/// Where values of a scenario come from, in the order of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sources(Vec<ValueSource>);

impl Sources {
    /// One by one.
    pub fn each(&self) -> &[ValueSource] {
        &self.0
    }

    /// Whether nothing is said.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What is said of a key.
    pub fn of(&self, key: &str) -> Option<&ValueSource> {
        self.0.iter().find(|source| source.key == key)
    }
}

/// The range of a value as it is written, next to its document.
#[derive(Serialize)]
struct Ranged<'s> {
    document: &'s str,
    range: &'s [String; 2],
}

impl Serialize for Sources {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for ValueSource { key, document, range } in &self.0 {
            match range {
                Some(range) => map.serialize_entry(key, &Ranged { document, range })?,
                None => map.serialize_entry(key, document)?,
            }
        }
        map.end()
    }
}

impl KeyValue for Sources {
    const KIND: Kind = Kind::Other(|| {
        let end = json!({ "type": ["number", "string"] });
        let range = json!({ "type": "array", "items": end, "minItems": 2, "maxItems": 2 });
        let properties = json!({ "document": { "type": "string" }, "range": range });
        let ranged = json!({ "type": "object", "properties": properties, "required": ["document"] });
        json!({ "type": "object", "additionalProperties": { "anyOf": [{ "type": "string" }, ranged] } })
    });

    fn unset() -> Self {
        Self::default()
    }
}

/// What stands under `[source]`: keys with dots are tables in tables, unless they are quoted.
fn flattened<'d>(path: &str, entries: &'d [Entry], found: &mut Vec<(String, &'d Node)>) {
    for entry in entries {
        let key = if path.is_empty() { entry.key.clone() } else { format!("{path}.{}", entry.key) };
        match &entry.node.value {
            Value::Table(inner) if !is_ranged(inner) => flattened(&key, inner, found),
            _ => found.push((key, &entry.node)),
        }
    }
}

/// Whether a table is what is said of a value: no key of a scenario ends so.
fn is_ranged(entries: &[Entry]) -> bool {
    entries.is_empty() || entries.iter().any(|entry| entry.key == "document" || entry.key == "range")
}

/// Whether a value is laid over the text in which its document is named: typed, or of another text.
fn is_laid_over(value: &Place, source: &Place) -> bool {
    match (value, source) {
        (Place::Setting(_), _) => true,
        (Place::At { text, .. }, Place::At { text: other, .. }) => text != other,
        _ => false,
    }
}

/// A number as it is written, with its unit.
fn measured(value: &Value) -> Option<(f64, &str)> {
    match value {
        Value::Whole(number) => Some((*number as f64, "")),
        Value::Real(number) => Some((*number, "")),
        Value::Text(text) => quantity(text),
        _ => None,
    }
}

/// What is said of a value.
///
/// # Errors
/// What was found, what is wanted, and what helps.
fn one(key: &str, node: &Node, value: &Value) -> Result<ValueSource, (String, String, Option<String>)> {
    let example = || Some(format!("\"{key}\" = {{ document = \"data sheet\", range = [150, 400] }}"));
    let wanted = || "the document that has the value, or a table with document and range".to_owned();
    let entries = match &node.value {
        Value::Text(document) => {
            return Ok(ValueSource { key: key.to_owned(), document: document.clone(), range: None });
        }
        Value::Table(entries) => entries,
        other => return Err((other.shown(), wanted(), example())),
    };
    let of = |name: &str| entries.iter().find(|entry| entry.key == name).map(|entry| &entry.node.value);
    if let Some(other) = entries.iter().find(|entry| entry.key != "document" && entry.key != "range") {
        return Err((format!("the key {}", other.key), "document and range".to_owned(), example()));
    }
    let document = match of("document") {
        Some(Value::Text(document)) => document.clone(),
        found => return Err((found.map_or("no document".to_owned(), Value::shown), wanted(), example())),
    };
    let range = match of("range") {
        None => None,
        Some(Value::List(ends)) if ends.len() == 2 => {
            let [low, high] = [&ends[0].value, &ends[1].value];
            let found = format!("[{}, {}]", low.shown(), high.shown());
            let wanted = || "two numbers in one unit, the least first".to_owned();
            match (measured(low), measured(high)) {
                (Some((least, unit)), Some((most, other))) if least < most && unit == other => {
                    // a plain number is in the unit of its key, which is not known here
                    let fits = |(here, of_value): &(f64, &str)| match *of_value == unit {
                        true => (least..=most).contains(here),
                        false => of_value.is_empty() || unit.is_empty(),
                    };
                    if let Some((here, unit)) = measured(value).filter(|here| !fits(here)) {
                        let here = with_unit(here, unit);
                        return Err((found, format!("a range with the value of the scenario, {here}"), None));
                    }
                }
                _ => return Err((found, wanted(), example())),
            }
            Some(
                [low, high]
                    .map(|end| measured(end).map_or_else(String::new, |(end, unit)| with_unit(end, unit))),
            )
        }
        Some(other) => return Err((other.shown(), "a list of two numbers".to_owned(), example())),
    };
    Ok(ValueSource { key: key.to_owned(), document, range })
}

impl Field for Sources {
    fn read(&mut self, reader: &mut Reader, table: &Table<'_>, key: &Key, _: &Units) -> bool {
        let Some(node) = reader.note(table, key.name) else { return false };
        let Value::Table(entries) = &node.value else {
            let example = "[source]  with  \"switch.link_rate\" = \"data sheet\"".to_owned();
            reader.refuse_kind(node, table.key(key.name), "a table of keys and documents", Some(example));
            return false;
        };
        let (scenario, mut found) = (table.to_document(), Vec::new());
        flattened("", entries, &mut found);
        let before = reader.faults().len();
        for (path, node) in found {
            let whole = format!("{}.{path}", table.key(key.name));
            let Some(value) = scenario.node(&path).filter(|_| !path.starts_with("class.*.")) else {
                let help = match path.contains('.') {
                    true => nearest_key(&scenario, &path).map(|near| format!("did you mean {near}?")),
                    // what a class sends is called so, too
                    false => Some(
                        "keys have their table: network.radix; source of a class belongs under [[class]]"
                            .to_owned(),
                    ),
                };
                let wanted = "a key that the scenario gives a value".to_owned();
                reader.refuse(&node.place, whole, path, wanted, help);
                continue;
            };
            if is_laid_over(&value.place, &node.place) {
                // what is laid over the file is from no document
                continue;
            }
            match one(&path, node, &value.value) {
                Ok(source) if self.of(&path).is_some() => {
                    let found = format!("{} a second time", source.key);
                    reader.refuse(&node.place, whole, found, "each key once".to_owned(), None);
                }
                Ok(source) => self.0.push(source),
                Err((found, wanted, help)) => reader.refuse(&node.place, whole, found, wanted, help),
            }
        }
        reader.faults().len() == before
    }

    fn check(&self, _: &mut Door, _: &Key, _: &str) {}

    fn written(&self) -> Option<String> {
        let one = |ValueSource { key, document, range }: &ValueSource| {
            let (key, document) = (quoted(key), quoted(document));
            match range {
                Some([low, high]) => {
                    let [low, high] = [low, high].map(|end| quoted(end));
                    format!("{key} = {{ document = {document}, range = [{low}, {high}] }}")
                }
                None => format!("{key} = {document}"),
            }
        };
        let all: Vec<String> = self.0.iter().map(one).collect();
        (!all.is_empty()).then(|| format!("{{ {} }}", all.join(", ")))
    }
}

/// The key of a table of the scenario that is nearest to one that is not there.
fn nearest_key(scenario: &Document, path: &str) -> Option<String> {
    let (table, name) = path.rsplit_once('.')?;
    let Value::Table(entries) = &scenario.node(table)?.value else { return None };
    let near = nearest(name, entries.iter().map(|entry| entry.key.as_str()))?;
    Some(format!("{table}.{near}"))
}

#[cfg(test)]
mod tests {
    use crate::scenario::{Document, Scenario};

    fn text(source: &str) -> String {
        format!(
            "[network]\ntopology = \"fat-tree\"\nlevels = 2\nradix = 8\n[switch]\nrouting_time = \"20 ns\"\n\
             flight_time = 5\n[measure]\nend = 1000\n[[class]]\nname = \"a\"\nrate = \"10 %\"\n[source]\n{source}"
        )
    }

    #[test]
    fn documents_and_ranges_survive_writing() {
        let source = "network.radix = \"sheet\"\n\"class.a.rate\" = \"ours\"\n\
                      \"switch.routing_time\" = { document = \"pages\", range = [\"10 ns\", \"40 ns\"] }\n\
                      switch.flight_time = { document = \"cables\", range = [1, 25] }\n";
        let scenario = Scenario::from_toml("t", &text(source)).unwrap();
        let sources = &scenario.spec().sources;
        assert_eq!(sources.each().len(), 4);
        assert_eq!(sources.of("network.radix").unwrap().document, "sheet");
        let ends = sources.of("switch.flight_time").unwrap().range.as_ref().unwrap();
        assert_eq!(ends, &["1".to_owned(), "25".to_owned()]);
        let again = Document::parse("t", &scenario.spec().to_toml()).unwrap().scenario().unwrap();
        assert_eq!(again.spec(), scenario.spec());
    }

    #[test]
    fn what_says_nothing_of_a_value_is_refused() {
        let source = "network.radis = \"sheet\"\nnetwork.levels = 3\nswitch.routing_time = { range = [1, 2] }\n\
                      switch.flight_time = { document = \"x\", range = [6, 7] }\nclass.b.rate = \"x\"\n";
        let faults = Scenario::from_toml("t", &text(source)).unwrap_err();
        let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
        assert_eq!(faults.len(), 5, "{faults:#?}");
        assert!(faults[0].contains("did you mean network.radix?"), "{faults:#?}");
        assert!(faults[2].contains("no document") && faults[3].contains("value of the scenario, 5"));
    }
}
