//! Values laid over a scenario's text, by paths that name classes.

use super::units::quantity;
use crate::document::{Document, Entry, Fault, Node, Place, Value, find, insert, nearest, one_of, value_of};

impl Document {
    /// Overrides one value: `key` is a path such as `router.buffer_flits` or `class.R1.rate` (`class.*.rate`
    /// for every class), `typed` a TOML value or a bare word, `place` where the override was given.
    ///
    /// # Errors
    /// When the key names a class that is not there, or leads through something that is no table.
    pub fn set(&mut self, key: &str, typed: &str, place: &Place) -> Result<(), Fault> {
        self.lay(key, Node { value: value_of(typed, place), place: place.clone() }, place)
    }

    /// Overrides one value by what another text says: the entry's key is a path as in [`Document::set`], and
    /// its value is reported where it stands in that text.
    ///
    /// ```
    /// # use flitwise_language::document::{Document, Reader};
    /// # use flitwise_language::scenario::Preset;
    /// let figure = Document::parse("fig4.toml", "set = { \"class.R1.rate\" = 7 }").expect("sound TOML");
    /// let mut scenario = Preset::find("router16").expect("it is built in").document();
    /// for entry in Reader::new(&[]).settings(&figure.root(), "set") {
    ///     scenario.set_entry(entry).expect("there is a class R1");
    /// }
    /// let faults = scenario.scenario().unwrap_err();
    /// assert!(faults[0].to_string().starts_with("fig4.toml:1:27: class.R1.rate: found 7, wanted"));
    /// ```
    ///
    /// # Errors
    /// As for [`Document::set`].
    pub fn set_entry(&mut self, entry: &Entry) -> Result<(), Fault> {
        self.lay(&entry.key, entry.node.clone(), &entry.key_place)
    }

    /// Puts `node` where `key` leads; `place` is where that was asked for.
    fn lay(&mut self, key: &str, node: Node, place: &Place) -> Result<(), Fault> {
        let fault = |found: String, wanted: String, help| Fault {
            place: place.clone(),
            key: key.to_owned(),
            found,
            wanted,
            help,
        };
        if let Some(rest) = key.strip_prefix("class.") {
            let names = self.class_names();
            let all = self.classes_meant(rest);
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
        if insert(self.entries_mut(), key, node, place) {
            Ok(())
        } else {
            Err(fault("a path through a plain value".to_owned(), "a table".to_owned(), None))
        }
    }

    /// Classes, by their indices, that a key such as `R1.rate` or `*.rate` of the list of classes means, with what
    /// follows their name.
    pub(crate) fn classes_meant(&self, key: &str) -> Vec<(usize, String)> {
        let names = self.class_names();
        let after = |stem: &str| {
            let path = key.strip_prefix(stem)?.strip_prefix('.')?;
            (!path.is_empty()).then(|| path.to_owned())
        };
        match after("*") {
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
        }
    }

    /// The text at `key`, if there is one.
    pub(super) fn word(&self, key: &str) -> Option<&str> {
        match &self.node(key)?.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The value at `key`, if there is one.
    pub(super) fn node(&self, key: &str) -> Option<&Node> {
        match key.strip_prefix("class.") {
            Some(rest) => {
                let (index, path) = self.classes_meant(rest).into_iter().next()?;
                find(self.class(index)?, &path)
            }
            None => find(self.root().entries, key),
        }
    }

    /// The plain number at `key`, if there is one.
    pub fn number(&self, key: &str) -> Option<f64> {
        self.quantity(key).filter(|(_, unit)| unit.is_empty()).map(|(number, _)| number)
    }

    /// The number at `key` and its unit, if there is one: what a sweep couples another key to.
    pub(super) fn quantity(&self, key: &str) -> Option<(f64, &str)> {
        let node = self.node(key)?;
        match &node.value {
            Value::Whole(number) => Some((*number as f64, "")),
            Value::Real(number) => Some((*number, "")),
            Value::Text(text) => quantity(text).filter(|(_, unit)| !unit.is_empty()),
            _ => None,
        }
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
        let entry = self.entries_mut().iter_mut().find(|entry| entry.key == "class")?;
        let Value::List(list) = &mut entry.node.value else { return None };
        let mut tables = list.iter_mut().filter_map(|node| match &mut node.value {
            Value::Table(entries) => Some(entries),
            _ => None,
        });
        tables.nth(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed() -> Place {
        Place::Setting("--set".into())
    }

    #[test]
    fn an_override_reaches_classes_by_name_and_all_of_them_by_a_star() {
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
}
