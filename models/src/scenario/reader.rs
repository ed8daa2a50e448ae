//! From a document to a spec: every key understood or refused, every fault at its place.

use std::collections::HashMap;

use super::check::{MAX_REAL_TIME_CLASSES, Scenario, class_labels};
use super::document::{Document, Entry, Node, Value};
use super::fault::{Fault, Place, nearest, one_of};
use super::spec::{
    ClassKind, ClassSpec, DeadlineSpec, HopDeadlines, NetworkSpec, RouterSpec, ScenarioSpec, Scheduler,
    SourceSpec, table_1_message_flits, unnamed,
};

/// Classes that are looked at: more are refused anyway.
const MOST_CLASSES: usize = 32;

/// Keys of each table, for the check of unknown ones.
const ROOT: &[&str] = &["name", "network", "router", "class"];
const NETWORK: &[&str] = &["topology", "ports", "dimension"];
const ROUTER: &[&str] = &["pipeline_stages", "buffer_flits", "scheduler"];
const CLASS: &[&str] = &["name", "kind", "rate", "message_flits", "deadlines", "vtick", "source"];
const HOP_DEADLINES: &[&str] = &["hops", "deadlines"];
const ON_OFF: &[&str] = &["kind", "streams", "messages_per_burst", "peak_rate"];

impl Document {
    /// Understands and checks the document.
    ///
    /// # Errors
    /// Every fault of every kind, in the order of the text.
    pub fn scenario(&self) -> Result<Scenario, Vec<Fault>> {
        // places are wanted for faults only, and cost most of the time
        let mut reader = Reader { faults: Vec::new(), places: None };
        let spec = reader.scenario(self);
        if reader.faults.is_empty()
            && let Ok(scenario) = spec.check()
        {
            return Ok(scenario);
        }
        let mut reader = Reader { faults: Vec::new(), places: Some(HashMap::new()) };
        let spec = reader.scenario(self);
        let Reader { mut faults, places } = reader;
        let places = places.unwrap_or_default();
        let misread: Vec<String> = faults.iter().map(|fault| fault.key.clone()).collect();
        let found = spec.check().err().unwrap_or_default();
        let placed = found.into_iter().filter(|fault| !misread.contains(&fault.key)).map(|fault| {
            let place = nearest_place(&places, &fault.key).unwrap_or(&self.whole);
            Fault { place: place.clone(), ..fault }
        });
        faults.extend(placed);
        faults.sort_by_key(|fault| match &fault.place {
            Place::At { line, column, .. } => (*line, *column),
            Place::Setting(_) | Place::Program => (usize::MAX, 0),
        });
        Err(faults)
    }
}

impl Scenario {
    /// Reads and checks a scenario file's text; `text_name` is what messages call it.
    ///
    /// ```
    /// # use flitwise_models::scenario::Scenario;
    /// let faults = Scenario::from_toml("mine.toml", "[network]\ntopolgy = \"router\"\n").unwrap_err();
    /// assert!(faults[0].to_string().starts_with("mine.toml:"));
    /// assert!(faults.iter().any(|fault| fault.help.as_deref() == Some("did you mean topology?")));
    /// ```
    ///
    /// # Errors
    /// Every fault of the text.
    pub fn from_toml(text_name: &str, text: &str) -> Result<Self, Vec<Fault>> {
        Document::parse(text_name, text)?.scenario()
    }
}

/// The place of `key`, or of the nearest thing around it.
fn nearest_place<'p>(places: &'p HashMap<String, Place>, key: &str) -> Option<&'p Place> {
    let mut key = key;
    loop {
        if let Some(place) = places.get(key) {
            return Some(place);
        }
        key = &key[..key.rfind(['.', '['])?];
    }
}

struct Reader {
    faults: Vec<Fault>,
    /// Where each key stands, if that is wanted.
    places: Option<HashMap<String, Place>>,
}

/// A table being read and the key that leads to it (empty at the root).
#[derive(Clone, Copy)]
struct Table<'d> {
    entries: &'d [Entry],
    path: &'d str,
    place: &'d Place,
}

impl<'d> Table<'d> {
    fn key(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    fn get(&self, key: &str) -> Option<&'d Node> {
        self.entries.iter().find(|entry| entry.key == key).map(|entry| &entry.node)
    }
}

impl Reader {
    fn scenario(&mut self, document: &Document) -> ScenarioSpec {
        let root = Table { entries: &document.root, path: "", place: &document.whole };
        self.refuse_unknown(root, ROOT);
        let name = self.text(root, "name").unwrap_or_else(unnamed);
        let network = match self.table(root, "network") {
            Some((entries, place)) => self.network(Table { entries, path: "network", place }),
            None => {
                let help = "add  [network]  with  topology = \"router\"  and  ports = 16";
                self.refuse_missing(root, "network", "a [network] table", Some(help));
                NetworkSpec::Router { ports: 16 }
            }
        };
        let router = match self.table(root, "router") {
            Some((entries, place)) => self.router(Table { entries, path: "router", place }),
            None => RouterSpec::default(),
        };
        ScenarioSpec { name, network, router, classes: self.classes(root) }
    }

    fn network(&mut self, table: Table<'_>) -> NetworkSpec {
        self.refuse_unknown(table, NETWORK);
        let topologies = ["router", "hypercube"];
        let topology = match table.get("topology") {
            Some(_) => self.word(table, "topology", &topologies, |word| word),
            None => {
                self.refuse_missing(table, "topology", &one_of(topologies), None);
                None
            }
        };
        let (needed, stray) = match topology {
            Some("router") => ("ports", "dimension"),
            Some(_) => ("dimension", "ports"),
            None => return NetworkSpec::Router { ports: 16 },
        };
        if let Some(node) = table.get(stray) {
            let wanted = format!("no {stray} with topology = \"{}\"", topology.unwrap_or_default());
            let help = format!("the size of this topology is {needed} = …");
            self.refuse(&node.place, table.key(stray), node.value.shown(), wanted, Some(help));
        }
        if table.get(needed).is_none() {
            self.refuse_missing(table, needed, &format!("{needed} = a whole number"), None);
        }
        let size = self.whole(table, needed);
        if needed == "ports" {
            NetworkSpec::Router { ports: size.unwrap_or(16) }
        } else {
            NetworkSpec::Hypercube { dimension: size.unwrap_or(16) }
        }
    }

    fn router(&mut self, table: Table<'_>) -> RouterSpec {
        self.refuse_unknown(table, ROUTER);
        let usual = RouterSpec::default();
        RouterSpec {
            pipeline_stages: self.whole(table, "pipeline_stages").unwrap_or(usual.pipeline_stages),
            buffer_flits: self.whole(table, "buffer_flits").unwrap_or(usual.buffer_flits),
            scheduler: self.word(table, "scheduler", &Scheduler::ALL, Scheduler::word).unwrap_or_default(),
        }
    }

    fn classes(&mut self, root: Table<'_>) -> Vec<ClassSpec> {
        let Some(node) = root.get("class") else { return Vec::new() };
        self.keep(|| "class".to_owned(), &node.place);
        let Value::List(list) = &node.value else {
            let help = Some("begin every class with a line  [[class]]".to_owned());
            self.refuse_kind(node, "class".to_owned(), "[[class]] tables", help);
            return Vec::new();
        };
        if list.len() > MOST_CLASSES {
            let wanted = format!("at most {MAX_REAL_TIME_CLASSES} real-time classes and one best-effort");
            self.refuse(&node.place, "class".to_owned(), format!("{} classes", list.len()), wanted, None);
        }
        let list = &list[..list.len().min(MOST_CLASSES)];
        let name_of = |node: &Node| match &node.value {
            Value::Table(entries) => entries.iter().find(|entry| entry.key == "name").and_then(|entry| {
                if let Value::Text(name) = &entry.node.value { Some(name.clone()) } else { None }
            }),
            _ => None,
        };
        let names: Vec<String> = list.iter().map(|node| name_of(node).unwrap_or_default()).collect();
        let labels = class_labels(&names.iter().map(String::as_str).collect::<Vec<_>>());
        let mut classes = Vec::with_capacity(list.len());
        for (node, label) in list.iter().zip(&labels) {
            self.keep(|| label.clone(), &node.place);
            match &node.value {
                Value::Table(entries) => {
                    classes.push(self.class(Table { entries, path: label, place: &node.place }));
                }
                _ => self.refuse_kind(node, label.clone(), "a [[class]] table", None),
            }
        }
        classes
    }

    fn class(&mut self, table: Table<'_>) -> ClassSpec {
        self.refuse_unknown(table, CLASS);
        for (key, wanted) in [("name", "a name"), ("kind", "\"real-time\" or \"best-effort\"")] {
            if table.get(key).is_none() {
                self.refuse_missing(table, key, wanted, None);
            }
        }
        if table.get("rate").is_none() {
            self.refuse_missing(table, "rate", "a number of messages/cycle/node", None);
        }
        ClassSpec {
            name: self.text(table, "name").unwrap_or_default(),
            kind: self.word(table, "kind", &ClassKind::ALL, ClassKind::word).unwrap_or(ClassKind::RealTime),
            rate: self.real(table, "rate").unwrap_or(0.0),
            message_flits: self.whole(table, "message_flits").unwrap_or_else(table_1_message_flits),
            deadlines: self.deadlines(table),
            vtick: self.real(table, "vtick"),
            source: self.source(table),
        }
    }

    fn deadlines(&mut self, table: Table<'_>) -> Vec<DeadlineSpec> {
        let Some((list, key)) = self.list(table, "deadlines", "a list of deadlines in cycles") else {
            return Vec::new();
        };
        let mut deadlines = Vec::new();
        for (index, node) in list.iter().enumerate() {
            let path = format!("{key}[{}]", index + 1);
            self.keep(|| path.clone(), &node.place);
            if let Value::Table(entries) = &node.value {
                let table = Table { entries, path: &path, place: &node.place };
                deadlines.extend(self.hop_deadlines(table).map(DeadlineSpec::Hops));
            } else {
                deadlines.extend(self.whole_number(node, || path, "cycles").map(DeadlineSpec::Cycles));
            }
        }
        deadlines
    }

    fn hop_deadlines(&mut self, table: Table<'_>) -> Option<HopDeadlines> {
        self.refuse_unknown(table, HOP_DEADLINES);
        for key in HOP_DEADLINES {
            if table.get(key).is_none() {
                self.refuse_missing(table, key, "{ hops = 2, deadlines = [55, 60] }", None);
            }
        }
        let hops = self.whole(table, "hops");
        let (list, key) = self.list(table, "deadlines", "a list of deadlines in cycles")?;
        let deadlines: Vec<u32> =
            list.iter().filter_map(|node| self.whole_number(node, || key.clone(), "cycles")).collect();
        (deadlines.len() == list.len()).then_some(HopDeadlines { hops: hops?, deadlines })
    }

    fn source(&mut self, table: Table<'_>) -> SourceSpec {
        let Some(node) = table.get("source") else { return SourceSpec::Poisson };
        let kinds = ["poisson", "on-off"];
        let help = "source = { kind = \"poisson\" }, or source = { kind = \"on-off\", streams = 14, \
                    messages_per_burst = 8, peak_rate = 0.01 }";
        let path = table.key("source");
        self.keep(|| path.clone(), &node.place);
        let entries = match &node.value {
            Value::Table(entries) => entries,
            _ => {
                self.refuse_kind(node, path, "a source", Some(help.to_owned()));
                return SourceSpec::Poisson;
            }
        };
        let source = Table { entries, path: &path, place: &node.place };
        if source.get("kind").is_none() {
            self.refuse_missing(source, "kind", &one_of(kinds), Some(help));
        }
        match self.word(source, "kind", &kinds, |word| word) {
            Some("on-off") => {
                self.refuse_unknown(source, ON_OFF);
                for key in &ON_OFF[1..] {
                    if source.get(key).is_none() {
                        self.refuse_missing(source, key, "a number", Some(help));
                    }
                }
                SourceSpec::OnOff {
                    streams: self.whole(source, "streams").unwrap_or(1),
                    messages_per_burst: self.real(source, "messages_per_burst").unwrap_or(1.0),
                    peak_rate: self.real(source, "peak_rate").unwrap_or(1.0),
                }
            }
            Some(_) => {
                self.refuse_unknown(source, &["kind"]);
                SourceSpec::Poisson
            }
            None => SourceSpec::Poisson,
        }
    }

    // What one value is.

    fn keep(&mut self, key: impl FnOnce() -> String, place: &Place) {
        if let Some(places) = &mut self.places {
            places.insert(key(), place.clone());
        }
    }

    fn note<'d>(&mut self, table: Table<'d>, key: &str) -> Option<&'d Node> {
        let node = table.get(key)?;
        self.keep(|| table.key(key), &node.place);
        Some(node)
    }

    fn text(&mut self, table: Table<'_>, key: &str) -> Option<String> {
        let node = self.note(table, key)?;
        match &node.value {
            Value::Text(text) => Some(text.clone()),
            // A bare override such as  --set name=2005  is meant as a word.
            Value::Whole(number) if matches!(node.place, Place::Setting(_)) => Some(number.to_string()),
            _ => {
                self.refuse_kind(node, table.key(key), "a text in quotes", None);
                None
            }
        }
    }

    fn real(&mut self, table: Table<'_>, key: &str) -> Option<f64> {
        let node = self.note(table, key)?;
        match node.value {
            Value::Whole(number) => Some(number as f64),
            Value::Real(number) => Some(number),
            _ => {
                self.refuse_kind(node, table.key(key), "a number", None);
                None
            }
        }
    }

    fn whole(&mut self, table: Table<'_>, key: &str) -> Option<u32> {
        let node = self.note(table, key)?;
        self.whole_number(node, || table.key(key), key.rsplit('_').next().unwrap_or(key))
    }

    fn whole_number(&mut self, node: &Node, key: impl FnOnce() -> String, unit: &str) -> Option<u32> {
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

    fn list<'d>(&mut self, table: Table<'d>, key: &str, wanted: &str) -> Option<(&'d [Node], String)> {
        let node = table.get(key)?;
        let path = table.key(key);
        self.keep(|| path.clone(), &node.place);
        if let Value::List(list) = &node.value {
            return Some((list, path));
        }
        self.refuse_kind(node, path, wanted, Some(format!("{key} = [42, 47]")));
        None
    }

    fn table<'d>(&mut self, table: Table<'d>, key: &str) -> Option<(&'d [Entry], &'d Place)> {
        let node = table.get(key)?;
        self.keep(|| table.key(key), &node.place);
        if let Value::Table(entries) = &node.value {
            return Some((entries, &node.place));
        }
        self.refuse_kind(node, table.key(key), &format!("a [{key}] table"), None);
        Some((&[], &node.place))
    }

    fn word<T: Copy>(
        &mut self,
        table: Table<'_>,
        key: &str,
        all: &[T],
        word: impl Fn(T) -> &'static str,
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

    // What is refused.

    fn refuse(&mut self, place: &Place, key: String, found: String, wanted: String, help: Option<String>) {
        self.faults.push(Fault { place: place.clone(), key, found, wanted, help });
    }

    fn refuse_kind(&mut self, node: &Node, key: String, wanted: &str, help: Option<String>) {
        self.refuse(&node.place, key, node.value.shown(), wanted.to_owned(), help);
    }

    fn refuse_missing(&mut self, table: Table<'_>, key: &str, wanted: &str, help: Option<&str>) {
        let help = help.map(str::to_owned);
        self.refuse(table.place, table.key(key), "nothing".to_owned(), wanted.to_owned(), help);
    }

    fn refuse_unknown(&mut self, table: Table<'_>, known: &[&str]) {
        for entry in table.entries.iter().filter(|entry| !known.contains(&entry.key.as_str())) {
            let elsewhere = [("[network]", NETWORK), ("[router]", ROUTER), ("[[class]]", CLASS)]
                .into_iter()
                .find(|(_, keys)| keys.contains(&entry.key.as_str()));
            let help = nearest(&entry.key, known.iter().copied())
                .map(|word| format!("did you mean {word}?"))
                .or_else(|| elsewhere.map(|(head, _)| format!("{} belongs under {head}", entry.key)));
            let wanted = format!("one of {}", known.join(", "));
            let key = table.key(&super::document::shortened(&entry.key));
            self.refuse(&entry.key_place, key, "an unknown key".to_owned(), wanted, help);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(text: &str) -> Vec<String> {
        Scenario::from_toml("t", text).unwrap_err().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn faults_of_kind_range_and_spelling_come_together_in_the_order_of_the_text() {
        let text = "[network]\ntopology = \"cube\"\n[router]\nbuffer_flit = 3\nscheduler = \"round-robbin\"\n\
                    [[class]]\nname = \"R1\"\nkind = \"real-time\"\nrate = \"fast\"\n\
                    [[class]]\nname = \"R2\"\nkind = \"real-time\"\nrate = 7\n";
        let faults = faults(text);
        assert_eq!(faults.len(), 5, "{faults:#?}");
        assert!(faults[0].starts_with("t:2:12: network.topology: found \"cube\", wanted"));
        assert!(faults[1].contains("did you mean buffer_flits?"));
        assert!(faults[2].contains("did you mean \"round-robin\"?"));
        assert!(faults[3].starts_with("t:9:8: class.R1.rate: found \"fast\", wanted a number"));
        assert!(faults[4].starts_with("t:13:8: class.R2.rate: found 7, wanted 0, or 1e-12 to 1"));
    }

    #[test]
    fn a_key_of_another_table_is_shown_its_place() {
        let text = "buffer_flits = 3\n[network]\ntopology = \"router\"\nports = 4\ndimension = 3\n\
                    [[class]]\nname = \"a\"\nkind = \"best-effort\"\nrate = 0.01\n";
        let faults = faults(text);
        assert!(faults[0].contains("buffer_flits belongs under [router]"), "{faults:#?}");
        assert!(faults[1].contains("no dimension with topology = \"router\""), "{faults:#?}");
        assert_eq!(faults.len(), 2);
    }

    #[test]
    fn a_spec_survives_the_way_through_the_reader() {
        let text = "name = \"x\"\n[network]\ntopology = \"hypercube\"\ndimension = 4\n[router]\n\
                    pipeline_stages = 3\nbuffer_flits = 7\nscheduler = \"fifo\"\n[[class]]\nname = \"é\"\n\
                    kind = \"real-time\"\nrate = 0.5\nmessage_flits = 9\nvtick = 4\n\
                    deadlines = [9, { hops = 2, deadlines = [55, 60] }]\n\
                    source = { kind = \"on-off\", streams = 99, messages_per_burst = 2, peak_rate = 0.25 }\n";
        let spec = Scenario::from_toml("t", text).unwrap().spec().clone();
        assert_eq!(spec.network, NetworkSpec::Hypercube { dimension: 4 });
        let class = &spec.classes[0];
        assert_eq!((class.vtick, class.message_flits), (Some(4.0), 9));
        assert_eq!(class.deadlines[1], DeadlineSpec::Hops(HopDeadlines { hops: 2, deadlines: vec![55, 60] }));
        let json = serde_json::to_string(&spec).unwrap();
        assert_eq!(serde_json::from_str::<ScenarioSpec>(&json).unwrap(), spec);
    }
}
