//! From a document to a spec: every key understood or refused, every fault at its place.

use super::check::{
    DEADLINE, DIMENSION, FLITS, MAX_REAL_TIME_CLASSES, PORTS, STAGES, STREAMS, Scenario, class_labels,
};
use super::spec::{
    ClassKind, ClassSpec, DeadlineSpec, HopDeadlines, NetworkSpec, RouterSpec, ScenarioSpec, Scheduler,
    SourceSpec, table_1_message_flits, unnamed,
};
use crate::document::{Document, Fault, Heads, Node, Reader, Table, Value, one_of};

/// Classes that are looked at: more are refused anyway.
const MOST_CLASSES: usize = 32;

/// Keys of each table, for the check of unknown ones.
const ROOT: &[&str] = &["name", "network", "router", "class"];
const NETWORK: &[&str] = &["topology", "ports", "dimension"];
const ROUTER: &[&str] = &["pipeline_stages", "buffer_flits", "scheduler"];
const CLASS: &[&str] = &["name", "kind", "rate", "message_flits", "deadlines", "vtick", "source"];
const HOP_DEADLINES: &[&str] = &["hops", "deadlines"];
const ON_OFF: &[&str] = &["kind", "streams", "messages_per_burst", "peak_rate"];

const TOPOLOGIES: [&str; 2] = ["router", "hypercube"];
const SOURCES: [&str; 2] = ["poisson", "on-off"];

/// Tables in which a key that is out of place may belong.
const HEADS: Heads = &[("[network]", NETWORK), ("[router]", ROUTER), ("[[class]]", CLASS)];

/// Every key that a scenario like this one may have, as `--set` takes them; `class.*` is every class.
///
/// ```
/// # use flitwise_models::scenario::{ScenarioSpec, keys};
/// let keys = keys(&ScenarioSpec::default());
/// assert!(keys.contains(&"router.scheduler".to_owned()) && keys.contains(&"class.R1.rate".to_owned()));
/// ```
pub fn keys(spec: &ScenarioSpec) -> Vec<String> {
    let size = match spec.network {
        NetworkSpec::Router { .. } => "ports",
        NetworkSpec::Hypercube { .. } => "dimension",
    };
    let mut keys = vec!["name".to_owned(), "network.topology".to_owned(), format!("network.{size}")];
    keys.extend(ROUTER.iter().map(|key| format!("router.{key}")));
    for name in spec.classes.iter().map(|class| class.name.as_str()).chain(["*"]) {
        let own = CLASS.iter().filter(|key| !["name", "source"].contains(key));
        keys.extend(own.map(|key| format!("class.{name}.{key}")));
        keys.extend(ON_OFF.iter().map(|key| format!("class.{name}.source.{key}")));
    }
    keys
}

/// The words that a key may have, if its value is a word.
pub fn words_of(key: &str) -> Vec<&'static str> {
    match key {
        "network.topology" => TOPOLOGIES.to_vec(),
        "router.scheduler" => Scheduler::ALL.map(Scheduler::word).to_vec(),
        _ if key.ends_with(".source.kind") => SOURCES.to_vec(),
        _ if key.starts_with("class.") && key.ends_with(".kind") => {
            ClassKind::ALL.map(ClassKind::word).to_vec()
        }
        _ => Vec::new(),
    }
}

impl Document {
    /// Understands and checks the document.
    ///
    /// # Errors
    /// Every fault of every kind, in the order of the text.
    pub fn scenario(&self) -> Result<Scenario, Vec<Fault>> {
        // places are wanted for faults only, and cost most of the time
        let mut reader = Reader::new(HEADS);
        let spec = scenario(&mut reader, &self.root());
        if reader.faults().is_empty()
            && let Ok(scenario) = spec.check()
        {
            return Ok(scenario);
        }
        let mut reader = Reader::new(HEADS).keeping_places();
        let spec = scenario(&mut reader, &self.root());
        reader.refuse_checked(spec.check().err().unwrap_or_default(), self.place());
        Err(reader.into_faults())
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

fn scenario(reader: &mut Reader, root: &Table<'_>) -> ScenarioSpec {
    reader.refuse_unknown(root, ROOT);
    let name = reader.text(root, "name").unwrap_or_else(unnamed);
    let network = match reader.table(root, "network") {
        Some(table) => network(reader, &table),
        None => {
            let help = "add  [network]  with  topology = \"router\"  and  ports = 16";
            reader.refuse_missing(root, "network", "a [network] table", Some(help));
            NetworkSpec::Router { ports: 16 }
        }
    };
    let router = match reader.table(root, "router") {
        Some(table) => router(reader, &table),
        None => RouterSpec::default(),
    };
    ScenarioSpec { name, network, router, classes: classes(reader, root) }
}

fn network(reader: &mut Reader, table: &Table<'_>) -> NetworkSpec {
    reader.refuse_unknown(table, NETWORK);
    let topology = match table.get("topology") {
        Some(_) => reader.word(table, "topology", &TOPOLOGIES, |word| word),
        None => {
            reader.refuse_missing(table, "topology", &one_of(TOPOLOGIES), None);
            None
        }
    };
    let (needed, stray, range) = match topology {
        Some("router") => ("ports", "dimension", PORTS),
        Some(_) => ("dimension", "ports", DIMENSION),
        None => return NetworkSpec::Router { ports: 16 },
    };
    if let Some(node) = table.get(stray) {
        let wanted = format!("no {stray} with topology = \"{}\"", topology.unwrap_or_default());
        let help = format!("the size of this topology is {needed} = …");
        reader.refuse(&node.place, table.key(stray), node.value.shown(), wanted, Some(help));
    }
    if table.get(needed).is_none() {
        let wanted = format!("{needed} = a whole number of {}", range.described());
        reader.refuse_missing(table, needed, &wanted, None);
    }
    let size = reader.whole_of(table, needed, &range.described());
    if needed == "ports" {
        NetworkSpec::Router { ports: size.unwrap_or(16) }
    } else {
        NetworkSpec::Hypercube { dimension: size.unwrap_or(16) }
    }
}

fn router(reader: &mut Reader, table: &Table<'_>) -> RouterSpec {
    reader.refuse_unknown(table, ROUTER);
    let usual = RouterSpec::default();
    RouterSpec {
        pipeline_stages: reader
            .whole_of(table, "pipeline_stages", &STAGES.described())
            .unwrap_or(usual.pipeline_stages),
        buffer_flits: reader
            .whole_of(table, "buffer_flits", &FLITS.described())
            .unwrap_or(usual.buffer_flits),
        scheduler: reader.word(table, "scheduler", &Scheduler::ALL, Scheduler::word).unwrap_or_default(),
    }
}

fn classes(reader: &mut Reader, root: &Table<'_>) -> Vec<ClassSpec> {
    let Some(node) = root.get("class") else { return Vec::new() };
    reader.keep(|| "class".to_owned(), &node.place);
    let Value::List(list) = &node.value else {
        let help = Some("begin every class with a line  [[class]]".to_owned());
        reader.refuse_kind(node, "class".to_owned(), "[[class]] tables", help);
        return Vec::new();
    };
    if list.len() > MOST_CLASSES {
        let wanted = format!("at most {MAX_REAL_TIME_CLASSES} real-time classes and one best-effort");
        reader.refuse(&node.place, "class".to_owned(), format!("{} classes", list.len()), wanted, None);
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
        reader.keep(|| label.clone(), &node.place);
        match &node.value {
            Value::Table(entries) => {
                classes.push(class(reader, &Table { entries, path: label.into(), place: &node.place }));
            }
            _ => reader.refuse_kind(node, label.clone(), "a [[class]] table", None),
        }
    }
    classes
}

fn class(reader: &mut Reader, table: &Table<'_>) -> ClassSpec {
    reader.refuse_unknown(table, CLASS);
    for (key, wanted) in [("name", "a name"), ("kind", "\"real-time\" or \"best-effort\"")] {
        reader.require(table, key, wanted, None);
    }
    reader.require(table, "rate", "a number of messages/cycle/node", None);
    ClassSpec {
        name: reader.text(table, "name").unwrap_or_default(),
        kind: reader.word(table, "kind", &ClassKind::ALL, ClassKind::word).unwrap_or(ClassKind::RealTime),
        rate: reader.real(table, "rate").unwrap_or(0.0),
        message_flits: reader
            .whole_of(table, "message_flits", &FLITS.described())
            .unwrap_or_else(table_1_message_flits),
        deadlines: deadlines(reader, table),
        vtick: reader.real(table, "vtick"),
        source: source(reader, table),
    }
}

fn deadlines(reader: &mut Reader, table: &Table<'_>) -> Vec<DeadlineSpec> {
    let Some((list, key)) = reader.list(table, "deadlines", "a list of deadlines in cycles", "[42, 47]")
    else {
        return Vec::new();
    };
    let mut deadlines = Vec::new();
    for (index, node) in list.iter().enumerate() {
        let path = format!("{key}[{}]", index + 1);
        reader.keep(|| path.clone(), &node.place);
        if let Value::Table(entries) = &node.value {
            let table = Table { entries, path: path.into(), place: &node.place };
            deadlines.extend(hop_deadlines(reader, &table).map(DeadlineSpec::Hops));
        } else {
            deadlines
                .extend(reader.whole_number(node, || path, &DEADLINE.described()).map(DeadlineSpec::Cycles));
        }
    }
    deadlines
}

fn hop_deadlines(reader: &mut Reader, table: &Table<'_>) -> Option<HopDeadlines> {
    reader.refuse_unknown(table, HOP_DEADLINES);
    for key in HOP_DEADLINES {
        reader.require(table, key, "{ hops = 2, deadlines = [55, 60] }", None);
    }
    let hops = reader.whole(table, "hops");
    let (list, key) = reader.list(table, "deadlines", "a list of deadlines in cycles", "[42, 47]")?;
    let deadlines: Vec<u32> = list
        .iter()
        .filter_map(|node| reader.whole_number(node, || key.clone(), &DEADLINE.described()))
        .collect();
    (deadlines.len() == list.len()).then_some(HopDeadlines { hops: hops?, deadlines })
}

fn source(reader: &mut Reader, table: &Table<'_>) -> SourceSpec {
    let Some(node) = table.get("source") else { return SourceSpec::Poisson };
    let help = "source = { kind = \"poisson\" }, or source = { kind = \"on-off\", streams = 14, \
                messages_per_burst = 8, peak_rate = 0.01 }";
    let path = table.key("source");
    reader.keep(|| path.clone(), &node.place);
    let entries = match &node.value {
        Value::Table(entries) => entries,
        _ => {
            reader.refuse_kind(node, path, "a source", Some(help.to_owned()));
            return SourceSpec::Poisson;
        }
    };
    let source = Table { entries, path: path.into(), place: &node.place };
    if source.get("kind").is_none() {
        reader.refuse_missing(&source, "kind", &one_of(SOURCES), Some(help));
    }
    match reader.word(&source, "kind", &SOURCES, |word| word) {
        Some("on-off") => {
            reader.refuse_unknown(&source, ON_OFF);
            for key in &ON_OFF[1..] {
                reader.require(&source, key, "a number", Some(help));
            }
            SourceSpec::OnOff {
                streams: reader.whole_of(&source, "streams", &STREAMS.described()).unwrap_or(1),
                messages_per_burst: reader.real(&source, "messages_per_burst").unwrap_or(1.0),
                peak_rate: reader.real(&source, "peak_rate").unwrap_or(1.0),
            }
        }
        Some(_) => {
            reader.refuse_unknown(&source, &["kind"]);
            SourceSpec::Poisson
        }
        None => SourceSpec::Poisson,
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
