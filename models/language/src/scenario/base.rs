//! A scenario within another file: built in, in a file of its own, or written out, with overrides; and what
//! varies of it.

use super::{Coupling, Document, Fault, Place, Preset, ScenarioSpec};
use crate::document::{Entry, Reader, Table, Value};

/// Reads the scenario file that another file names.
pub type Load<'l> = dyn Fn(&str) -> Result<Document, Vec<Fault>> + 'l;

impl Reader {
    /// The scenario of the table `key`, not yet checked: `preset = "router16"`, `file = "mine.toml"` or the scenario
    /// itself, with `set = { "class.BE.rate" = 0.008 }` laid on top.
    ///
    /// ```
    /// use flitwise_language::document::{Document, Reader};
    ///
    /// let text = "[scenario]\npreset = \"router16\"\nset = { \"class.BE.rate\" = 0.008 }\n";
    /// let document = Document::parse("mine.toml", text).unwrap();
    /// let mut reader = Reader::new(&[]);
    /// let no_files = |_: &str| unreachable!("no file is named");
    /// let base = reader.scenario(&document.root(), "scenario", &no_files).unwrap();
    /// assert_eq!(base.number("class.BE.rate"), Some(0.008));
    /// ```
    pub fn scenario<'d>(&mut self, table: &Table<'d>, key: &'d str, load: &Load<'_>) -> Option<Document> {
        let help = format!("{key} = {{ preset = \"router16\" }}");
        self.require(table, key, "a scenario", Some(&help));
        let table = self.table(table, key)?;
        self.refuse_unknown(&table, &[&["preset", "file", "set"], &*ScenarioSpec::SHAPE.names()].concat());
        let given = ["preset", "file", "network"].into_iter().filter(|key| table.get(key).is_some()).count();
        if given != 1 {
            let found = if given == 0 { "neither" } else { "more than one of them" };
            let wanted =
                "preset = \"router16\", file = \"mine.toml\" or the scenario's own tables".to_owned();
            self.refuse(table.place, table.path.to_string(), found.to_owned(), wanted, Some(help));
            return None;
        }
        let mut base = if table.get("preset").is_some() {
            self.preset(&table)?
        } else if table.get("file").is_some() {
            match load(&self.text(&table, "file")?) {
                Ok(document) => document,
                Err(faults) => {
                    // a file that cannot be read is reported where it is named
                    let place = table.get("file").map_or(table.place, |node| &node.place);
                    let here = |fault: Fault| match fault.place {
                        Place::At { .. } => fault,
                        _ => Fault { place: place.clone(), key: table.key("file"), ..fault },
                    };
                    self.refuse_all(faults.into_iter().map(here));
                    return None;
                }
            }
        } else {
            let own = |entry: &&Entry| entry.key != "set";
            let entries: Vec<Entry> = table.entries.iter().filter(own).cloned().collect();
            Table { entries: &entries, ..table.clone() }.to_document()
        };
        for entry in self.settings(&table, "set") {
            self.refuse_all(base.set_entry(entry).err());
        }
        Some(base)
    }

    /// The built-in scenario that a table names.
    pub fn preset(&mut self, table: &Table<'_>) -> Option<Document> {
        let name = self.text(table, "preset")?;
        match Preset::find(&name) {
            Ok(preset) => Some(preset.document()),
            Err(near) => {
                let help = near.map(|near| format!("did you mean \"{near}\"?"));
                let help = help.or_else(|| Some("flitwise presets lists them".to_owned()));
                let place = table.get("preset").map_or(table.place, |node| &node.place);
                let wanted = "a built-in scenario".to_owned();
                self.refuse(place, table.key("preset"), format!("\"{name}\""), wanted, help);
                None
            }
        }
    }

    /// Numbers each above the last, at most `most` of them.
    pub fn rising(&mut self, table: &Table<'_>, key: &str, most: usize) -> Option<Vec<f64>> {
        let help = format!("{key} = [0.002, 0.004]");
        self.require(table, key, "a list of numbers", Some(&help));
        let values = self.reals(table, key)?;
        let falling = values.windows(2).find(|pair| pair[0] >= pair[1]);
        let found = match (values.iter().find(|value| !value.is_finite()), falling) {
            (Some(value), _) => value.to_string(),
            (None, Some(pair)) => format!("{:?} after {:?}", pair[1], pair[0]),
            (None, None) if values.is_empty() => "no value".to_owned(),
            (None, None) if values.len() > most => format!("{} values", values.len()),
            (None, None) => return Some(values),
        };
        let place = table.get(key).map_or(table.place, |node| &node.place);
        let wanted = format!("1 to {most} numbers, each above the last");
        self.refuse(place, table.key(key), found, wanted, None);
        None
    }

    /// Ties such as `couple = { "class.R2.rate" = "class.R1.rate/2" }`, each with its place.
    pub fn couplings<'d>(&mut self, table: &Table<'d>, key: &'d str) -> Vec<(Coupling, &'d Place)> {
        let mut couplings = Vec::new();
        for entry in self.settings(table, key) {
            let formula = match &entry.node.value {
                Value::Text(formula) => formula.clone(),
                other => other.shown(),
            };
            match Coupling::read(&format!("{}={formula}", entry.key)) {
                Ok(coupling) => couplings.push((coupling, &entry.node.place)),
                Err(message) => {
                    let key = format!("{}.{}", table.key(key), entry.key);
                    let wanted = "a formula such as \"class.R1.rate/2\"".to_owned();
                    self.refuse(&entry.node.place, key, format!("\"{formula}\""), wanted, Some(message));
                }
            }
        }
        couplings
    }
}
