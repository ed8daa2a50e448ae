//! From a document to what it says: every value understood or refused, every fault at its place.

use std::borrow::Cow;
use std::collections::HashMap;

use super::fault::{Fault, Place, in_order_of_text, nearest, one_of};
use super::{Entry, Node, Table, Value, shortened};

/// Tables of a file and the keys of each, such as `("[network]", &["topology", "ports"])`: where a key that is
/// out of place may belong.
pub type Heads = &'static [(&'static str, &'static [&'static str])];

/// Takes values out of a document and gathers what is wrong with them.
///
/// A value that is absent is `None` without a fault (see [`Reader::require`]), one that is wrong is `None` with
/// a fault.
#[derive(Clone, Debug)]
pub struct Reader {
    heads: Heads,
    faults: Vec<Fault>,
    /// Where each key stands, if that is wanted.
    places: Option<HashMap<String, Place>>,
}

impl Reader {
    /// A reader without faults; `heads` may be empty.
    pub fn new(heads: Heads) -> Self {
        Self { heads, faults: Vec::new(), places: None }
    }

    /// The same, keeping the place of every key it reads, for [`Reader::refuse_checked`].
    pub fn keeping_places(self) -> Self {
        Self { places: Some(HashMap::new()), ..self }
    }

    /// What is wrong so far.
    pub fn faults(&self) -> &[Fault] {
        &self.faults
    }

    /// What is wrong, in the order of the text.
    pub fn into_faults(self) -> Vec<Fault> {
        let mut faults = self.faults;
        in_order_of_text(&mut faults);
        faults
    }

    /// What was read, if nothing is wrong.
    ///
    /// # Errors
    /// Every fault, in the order of the text.
    pub fn finish<T>(self, read: T) -> Result<T, Vec<Fault>> {
        if self.faults.is_empty() { Ok(read) } else { Err(self.into_faults()) }
    }

    // What one value is.

    /// Keeps the place of a key, if places are kept.
    pub fn keep(&mut self, key: impl FnOnce() -> String, place: &Place) {
        if let Some(places) = &mut self.places {
            places.insert(key(), place.clone());
        }
    }

    /// The place kept of `key`, or of the nearest thing around it.
    pub fn place_of(&self, key: &str) -> Option<&Place> {
        let places = self.places.as_ref()?;
        let mut key = key;
        loop {
            if let Some(place) = places.get(key) {
                return Some(place);
            }
            key = &key[..key.rfind(['.', '['])?];
        }
    }

    /// The value of a key, whose place is kept.
    pub(crate) fn note<'d>(&mut self, table: &Table<'d>, key: &str) -> Option<&'d Node> {
        let node = table.get(key)?;
        self.keep(|| table.key(key), &node.place);
        Some(node)
    }

    /// A text.
    pub fn text(&mut self, table: &Table<'_>, key: &str) -> Option<String> {
        let node = self.note(table, key)?;
        self.text_of(node, || table.key(key))
    }

    fn text_of(&mut self, node: &Node, key: impl FnOnce() -> String) -> Option<String> {
        match &node.value {
            Value::Text(text) => Some(text.clone()),
            // A bare override such as  --set name=2005  is meant as a word.
            Value::Whole(number) if matches!(node.place, Place::Setting(_)) => Some(number.to_string()),
            _ => {
                self.refuse_kind(node, key(), "a text in quotes", None);
                None
            }
        }
    }

    /// A number.
    pub fn real(&mut self, table: &Table<'_>, key: &str) -> Option<f64> {
        let node = self.note(table, key)?;
        self.real_of(node, || table.key(key))
    }

    pub(crate) fn real_of(&mut self, node: &Node, key: impl FnOnce() -> String) -> Option<f64> {
        match node.value {
            Value::Whole(number) => Some(number as f64),
            Value::Real(number) => Some(number),
            _ => {
                self.refuse_kind(node, key(), "a number", None);
                None
            }
        }
    }

    /// A whole number that is not negative; the last word of the key is its unit in messages.
    pub fn whole(&mut self, table: &Table<'_>, key: &str) -> Option<u32> {
        self.whole_of(table, key, key.rsplit('_').next().unwrap_or(key))
    }

    /// The same, where messages call it a whole number of `unit`, such as `ports, 2 to 1024`.
    pub fn whole_of(&mut self, table: &Table<'_>, key: &str, unit: &str) -> Option<u32> {
        let node = self.note(table, key)?;
        self.whole_number(node, || table.key(key), unit)
    }

    /// A value as a whole number of `unit`, where it has no key of its own.
    pub fn whole_number(&mut self, node: &Node, key: impl FnOnce() -> String, unit: &str) -> Option<u32> {
        let whole = match node.value {
            Value::Whole(number) => u32::try_from(number).ok(),
            Value::Real(number) if number.fract() == 0.0 && (0.0..=4e9).contains(&number) => {
                Some(number as u32)
            }
            _ => None,
        };
        if whole.is_none() {
            self.refuse_kind(node, key(), &format!("a whole number of {unit}"), None);
        }
        whole
    }

    /// A truth value.
    pub fn truth(&mut self, table: &Table<'_>, key: &str) -> Option<bool> {
        let node = self.note(table, key)?;
        if let Value::Truth(truth) = node.value {
            return Some(truth);
        }
        self.refuse_kind(node, table.key(key), "true or false", None);
        None
    }

    /// The one of `all` whose `word` stands there.
    pub fn word<'w, T: Copy>(
        &mut self,
        table: &Table<'_>,
        key: &str,
        all: &[T],
        word: impl Fn(T) -> &'w str,
    ) -> Option<T> {
        let node = self.note(table, key)?;
        let words = || all.iter().map(|item| word(*item));
        if let Value::Text(text) = &node.value {
            if let Some(hit) = all.iter().find(|item| word(**item) == text) {
                return Some(*hit);
            }
            let help = nearest(text, words()).map(|word| format!("did you mean \"{word}\"?"));
            self.refuse_kind(node, table.key(key), &one_of(words()), help);
        } else {
            self.refuse_kind(node, table.key(key), &one_of(words()), None);
        }
        None
    }

    /// A list and its whole key; `wanted` and `example` (such as `[42, 47]`) are for who wrote something else.
    pub fn list<'d>(
        &mut self,
        table: &Table<'d>,
        key: &str,
        wanted: &str,
        example: &str,
    ) -> Option<(&'d [Node], String)> {
        let node = table.get(key)?;
        let path = table.key(key);
        self.keep(|| path.clone(), &node.place);
        if let Value::List(list) = &node.value {
            return Some((list, path));
        }
        self.refuse_kind(node, path, wanted, Some(format!("{key} = {example}")));
        None
    }

    /// A list of texts.
    pub fn texts(&mut self, table: &Table<'_>, key: &str) -> Option<Vec<String>> {
        let (list, path) = self.list(table, key, "a list of texts", "[\"one\", \"two\"]")?;
        self.all_of(list, &path, |reader, node, key| reader.text_of(node, key))
    }

    /// A list of numbers.
    pub fn reals(&mut self, table: &Table<'_>, key: &str) -> Option<Vec<f64>> {
        let (list, path) = self.list(table, key, "a list of numbers", "[0.5, 1]")?;
        self.all_of(list, &path, |reader, node, key| reader.real_of(node, key))
    }

    /// What `read` makes of every item, `key[1]` and so on; none if one is wrong, all of which are refused.
    fn all_of<T>(
        &mut self,
        list: &[Node],
        path: &str,
        read: impl Fn(&mut Self, &Node, &dyn Fn() -> String) -> Option<T>,
    ) -> Option<Vec<T>> {
        let mut items = Vec::with_capacity(list.len());
        for (index, node) in list.iter().enumerate() {
            let key = || format!("{path}[{}]", index + 1);
            self.keep(key, &node.place);
            items.extend(read(self, node, &key));
        }
        (items.len() == list.len()).then_some(items)
    }

    /// A table; an empty one where something else stands, so that what it lacks is reported too.
    pub fn table<'d>(&mut self, table: &Table<'d>, key: &'d str) -> Option<Table<'d>> {
        let node = table.get(key)?;
        self.keep(|| table.key(key), &node.place);
        let entries: &[Entry] = if let Value::Table(entries) = &node.value {
            entries
        } else {
            self.refuse_kind(node, table.key(key), &format!("a [{key}] table"), None);
            &[]
        };
        let path = if table.path.is_empty() { Cow::Borrowed(key) } else { Cow::Owned(table.key(key)) };
        Some(Table { entries, path, place: &node.place })
    }

    /// The `[[key]]` tables, called `key[1]` and so on; what is no table is refused and left out.
    pub fn tables<'d>(&mut self, table: &Table<'d>, key: &str) -> Vec<Table<'d>> {
        let Some(node) = self.note(table, key) else { return Vec::new() };
        let path = table.key(key);
        let Value::List(list) = &node.value else {
            let help = Some(format!("begin every one with a line  [[{path}]]"));
            self.refuse_kind(node, path.clone(), &format!("[[{path}]] tables"), help);
            return Vec::new();
        };
        let mut tables = Vec::with_capacity(list.len());
        for (index, node) in list.iter().enumerate() {
            let item = format!("{path}[{}]", index + 1);
            self.keep(|| item.clone(), &node.place);
            if let Value::Table(entries) = &node.value {
                tables.push(Table { entries, path: item.into(), place: &node.place });
            } else {
                self.refuse_kind(node, item, &format!("a [[{path}]] table"), None);
            }
        }
        tables
    }

    /// Overrides for a scenario, such as `set = { "class.R1.rate" = 0.004 }`: what [`Document::set_entry`]
    /// takes.
    ///
    /// A path without quotes is a table in TOML. As an override it would put that table in the place of the
    /// scenario's and drop all its other keys, so it is refused.
    ///
    /// [`Document::set_entry`]: super::Document::set_entry
    pub fn settings<'d>(&mut self, table: &Table<'d>, key: &'d str) -> Vec<&'d Entry> {
        let Some(settings) = self.table(table, key) else { return Vec::new() };
        let (sound, nested): (Vec<_>, Vec<_>) = settings
            .entries
            .iter()
            .partition(|entry| entry.key.contains('.') || !matches!(entry.node.value, Value::Table(_)));
        for entry in nested {
            let wanted = "a path in quotes, such as \"class.R1.rate\" = 0.004".to_owned();
            let help = format!("write \"{}.KEY\" = …, with the quotes", shortened(&entry.key));
            let key = settings.key(&shortened(&entry.key));
            self.refuse(&entry.key_place, key, entry.node.value.shown(), wanted, Some(help));
        }
        sound
    }

    // What is refused.

    /// Refuses what stands at `place`.
    pub fn refuse(
        &mut self,
        place: &Place,
        key: String,
        found: String,
        wanted: String,
        help: Option<String>,
    ) {
        self.faults.push(Fault { place: place.clone(), key, found, wanted, help });
    }

    /// Refuses a value of another kind than the wanted.
    pub fn refuse_kind(&mut self, node: &Node, key: String, wanted: &str, help: Option<String>) {
        self.refuse(&node.place, key, node.value.shown(), wanted.to_owned(), help);
    }

    /// Refuses that `key` is not there.
    pub fn refuse_missing(&mut self, table: &Table<'_>, key: &str, wanted: &str, help: Option<&str>) {
        let help = help.map(str::to_owned);
        self.refuse(table.place, table.key(key), "nothing".to_owned(), wanted.to_owned(), help);
    }

    /// Refuses that `key` is not there, unless it is.
    pub fn require(&mut self, table: &Table<'_>, key: &str, wanted: &str, help: Option<&str>) {
        if table.get(key).is_none() {
            self.refuse_missing(table, key, wanted, help);
        }
    }

    /// Refuses every key that is not `known`, with the known one that is nearest or the table it belongs to.
    pub fn refuse_unknown(&mut self, table: &Table<'_>, known: &[&str]) {
        for entry in table.entries.iter().filter(|entry| !known.contains(&entry.key.as_str())) {
            let elsewhere = self.heads.iter().find(|(_, keys)| keys.contains(&entry.key.as_str()));
            let help = nearest(&entry.key, known.iter().copied())
                .map(|word| format!("did you mean {word}?"))
                .or_else(|| elsewhere.map(|(head, _)| format!("{} belongs under {head}", entry.key)));
            let wanted = format!("one of {}", known.join(", "));
            let key = table.key(&shortened(&entry.key));
            self.refuse(&entry.key_place, key, "an unknown key".to_owned(), wanted, help);
        }
    }

    /// Takes over faults that know their places: of a scenario within the text, of overrides.
    pub fn refuse_all(&mut self, faults: impl IntoIterator<Item = Fault>) {
        self.faults.extend(faults);
    }

    /// Takes over what a check of the values found, which knows keys only: each fault at the place of its key,
    /// or `elsewhere`. A key that was refused already is not refused again, since the check saw a stand-in.
    pub fn refuse_checked(&mut self, found: Vec<Fault>, elsewhere: &Place) {
        let is_new = |fault: &Fault| self.faults.iter().all(|other| other.key != fault.key);
        let placed: Vec<Fault> = found
            .into_iter()
            .filter(is_new)
            .map(|fault| Fault { place: self.place_of(&fault.key).unwrap_or(elsewhere).clone(), ..fault })
            .collect();
        self.faults.extend(placed);
    }
}

#[cfg(test)]
mod tests {
    use super::super::Document;
    use super::*;

    const KEYS: &[&str] = &["title", "wide", "rows", "ink", "notes", "at", "axis", "curve", "set"];
    const AXIS: &[&str] = &["label", "from"];
    const INKS: [&str; 2] = ["black", "vermilion"];

    /// A made-up kind of file that has a value of every kind.
    #[derive(Debug, Default, PartialEq)]
    struct Chart {
        title: String,
        wide: bool,
        rows: u32,
        ink: Option<&'static str>,
        notes: Vec<String>,
        at: Vec<f64>,
        label: String,
        from: f64,
        curves: Vec<String>,
        set: Vec<String>,
    }

    fn read(text: &str) -> Result<Chart, Vec<String>> {
        let document = Document::parse("t", text).unwrap();
        let mut reader = Reader::new(&[("[axis]", AXIS), ("[[curve]]", &["class"])]).keeping_places();
        let root = document.root();
        reader.refuse_unknown(&root, KEYS);
        reader.require(&root, "title", "a title", Some("title = \"Figure 4\""));
        let mut chart = Chart {
            title: reader.text(&root, "title").unwrap_or_default(),
            wide: reader.truth(&root, "wide").unwrap_or_default(),
            rows: reader.whole(&root, "rows").unwrap_or(1),
            ink: reader.word(&root, "ink", &INKS, |word| word),
            notes: reader.texts(&root, "notes").unwrap_or_default(),
            at: reader.reals(&root, "at").unwrap_or_default(),
            ..Chart::default()
        };
        if let Some(axis) = reader.table(&root, "axis") {
            reader.refuse_unknown(&axis, AXIS);
            reader.require(&axis, "label", "a label", None);
            chart.label = reader.text(&axis, "label").unwrap_or_default();
            chart.from = reader.real(&axis, "from").unwrap_or_default();
        }
        for curve in reader.tables(&root, "curve") {
            reader.refuse_unknown(&curve, &["class"]);
            chart.curves.extend(reader.text(&curve, "class"));
        }
        chart.set = reader.settings(&root, "set").into_iter().map(|entry| entry.key.clone()).collect();
        let mut found = Vec::new();
        if chart.rows > 9 {
            let (key, found_rows) = ("rows".to_owned(), chart.rows.to_string());
            let (wanted, help) = ("at most 9".to_owned(), None);
            found.push(Fault { place: Place::Program, key, found: found_rows, wanted, help });
        }
        reader.refuse_checked(found, document.place());
        reader.finish(chart).map_err(|faults| faults.iter().map(ToString::to_string).collect())
    }

    /// The faults of a chart that has a title and, from its second line on, `text`.
    fn faults(text: &str) -> Vec<String> {
        read(&format!("title = \"x\"\n{text}")).unwrap_err()
    }

    #[test]
    fn every_kind_of_value_is_read() {
        let text = "title = \"é\"\nwide = true\nrows = 2.0\nink = \"vermilion\"\nnotes = [\"a\", \"b\"]\n\
                    at = [1, 2.5]\nset = { \"class.R1.rate\" = 0.004, name = \"x\" }\n\
                    [axis]\nlabel = \"load\"\nfrom = -1\n[[curve]]\nclass = \"R1\"\n[[curve]]\nclass = \"R2\"\n";
        let chart = Chart {
            title: "é".to_owned(),
            wide: true,
            rows: 2,
            ink: Some("vermilion"),
            notes: vec!["a".to_owned(), "b".to_owned()],
            at: vec![1.0, 2.5],
            label: "load".to_owned(),
            from: -1.0,
            curves: vec!["R1".to_owned(), "R2".to_owned()],
            set: vec!["class.R1.rate".to_owned(), "name".to_owned()],
        };
        assert_eq!(read(text), Ok(chart));
    }

    #[test]
    fn what_is_absent_is_no_fault_unless_it_is_required() {
        let chart = Chart { title: "x".to_owned(), rows: 1, ..Chart::default() };
        assert_eq!(read("title = \"x\""), Ok(chart));
        let missing = "t:1:1: title: found nothing, wanted a title\n  help: title = \"Figure 4\"";
        assert_eq!(read("wide = false").unwrap_err(), [missing]);
        assert_eq!(faults("[axis]\nfrom = 1"), ["t:2:1: axis.label: found nothing, wanted a label"]);
    }

    #[test]
    fn every_wrong_kind_is_refused_at_its_place() {
        let ink = "wanted \"black\" or \"vermilion\"";
        for (text, wanted) in [
            ("wide = 1", "t:2:8: wide: found 1, wanted true or false".to_owned()),
            ("rows = true", "t:2:8: rows: found true, wanted a whole number of rows".to_owned()),
            ("rows = -1", "t:2:8: rows: found -1, wanted a whole number of rows".to_owned()),
            ("ink = 2", format!("t:2:7: ink: found 2, {ink}")),
            (
                "ink = \"vermillion\"",
                format!("t:2:7: ink: found \"vermillion\", {ink}\n  help: did you mean \"vermilion\"?"),
            ),
            (
                "notes = \"a\"",
                "t:2:9: notes: found \"a\", wanted a list of texts\n  \
                               help: notes = [\"one\", \"two\"]"
                    .to_owned(),
            ),
            ("notes = [\"a\", 2]", "t:2:15: notes[2]: found 2, wanted a text in quotes".to_owned()),
            ("at = 1", "t:2:6: at: found 1, wanted a list of numbers\n  help: at = [0.5, 1]".to_owned()),
            ("at = [1, \"a\"]", "t:2:10: at[2]: found \"a\", wanted a number".to_owned()),
            ("axis = { label = 1 }", "t:2:18: axis.label: found 1, wanted a text in quotes".to_owned()),
            (
                "curve = 3",
                "t:2:9: curve: found 3, wanted [[curve]] tables\n  \
                           help: begin every one with a line  [[curve]]"
                    .to_owned(),
            ),
            ("curve = [{}, 3]", "t:2:14: curve[2]: found 3, wanted a [[curve]] table".to_owned()),
            (
                "curve = [{ class = 1 }]",
                "t:2:20: curve[1].class: found 1, wanted a text in quotes".to_owned(),
            ),
            ("set = 1", "t:2:7: set: found 1, wanted a [set] table".to_owned()),
            (
                "set = { router.buffer_flits = 1 }",
                "t:2:9: set.router: found a table, wanted a path in quotes, \
                such as \"class.R1.rate\" = 0.004\n  help: write \"router.KEY\" = …, with the quotes"
                    .to_owned(),
            ),
        ] {
            assert_eq!(faults(text), [wanted], "{text}");
        }
        assert_eq!(read("title = 2005").unwrap_err(), ["t:1:9: title: found 2005, wanted a text in quotes"]);
    }

    #[test]
    fn a_table_of_the_wrong_kind_is_reported_with_what_it_lacks() {
        let wanted = [
            "t:2:8: axis: found 3, wanted a [axis] table",
            "t:2:8: axis.label: found nothing, wanted a label",
        ];
        assert_eq!(faults("axis = 3"), wanted);
    }

    #[test]
    fn an_unknown_key_is_shown_the_nearest_or_its_table() {
        let faults = faults("wdie = true\nfrom = 2\nxyzzy = 3\n[axis]\nlabel = \"x\"\nclass = 1");
        assert!(faults[0].starts_with("t:2:1: wdie: found an unknown key, wanted one of title, wide,"));
        assert!(faults[0].ends_with("help: did you mean wide?"), "{faults:#?}");
        assert!(faults[1].ends_with("help: from belongs under [axis]"), "{faults:#?}");
        assert!(faults[2].starts_with("t:4:1: xyzzy") && !faults[2].contains("help"), "{faults:#?}");
        assert!(faults[3].starts_with("t:7:1: axis.class:") && faults[3].ends_with("under [[curve]]"));
        assert_eq!(faults.len(), 4);
    }

    #[test]
    fn faults_come_in_the_order_of_the_text_whatever_order_it_is_read_in() {
        let faults = faults("at = [\"a\"]\nrows = 10\nwide = 0\n");
        let begins = ["t:2:7: at[1]:", "t:3:8: rows: found 10, wanted at most 9", "t:4:8: wide:"];
        assert!(faults.iter().zip(begins).all(|(fault, begin)| fault.starts_with(begin)), "{faults:#?}");
        assert_eq!(faults.len(), 3);
    }

    #[test]
    fn a_check_does_not_repeat_what_was_misread_and_falls_back_on_what_is_around() {
        let document = Document::parse("t", "\n[axis]\nlabel = 1\n").unwrap();
        let mut reader = Reader::new(&[]).keeping_places();
        let axis = reader.table(&document.root(), "axis").unwrap();
        assert_eq!(reader.text(&axis, "label"), None);
        let fault = |key: &str| Fault {
            place: Place::Program,
            key: key.to_owned(),
            found: "a".to_owned(),
            wanted: "b".to_owned(),
            help: None,
        };
        reader.refuse_checked(
            vec![fault("axis.label"), fault("axis.from"), fault("curve[1]")],
            document.place(),
        );
        reader.refuse_all([fault("elsewhere")]);
        let told: Vec<String> = reader.into_faults().iter().map(ToString::to_string).collect();
        assert_eq!(
            told,
            [
                "t:1:1: curve[1]: found a, wanted b",
                "t:2:1: axis.from: found a, wanted b",
                "t:3:9: axis.label: found 1, wanted a text in quotes",
                "elsewhere: found a, wanted b",
            ]
        );
    }
}
