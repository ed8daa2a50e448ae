//! Reads the plan of a set: bounds of random scenarios, loads, and how a model is judged on them.

use std::ops::RangeInclusive;
use std::sync::LazyLock;

use flitwise_language::document::{Document, Entry, Heads, Reader, Table};
use flitwise_language::quantity::Quantity;
use flitwise_language::scenario::{ClassKind, Fault, Place};
use flitwise_models::model::Model;

use super::family::Family;
use super::summary::{Aim, Network, Target};
use super::{Kind, Part, Plan, SETS};

const ROOT: &[&str] = &["like", "kind", "seed", "loads", "precision", "max_flit_hops", "family"];
/// Keys of the root that kinds of sets have a default of.
const JUDGING: &[&str] = &["model", "quantities", "target", "part"];
const TARGET: &[&str] = &["quantities", "class", "networks", "up_to", "mean", "worst"];
const PART: &[&str] = &["axes", "every", "anchors", "judged"];

/// All whole numbers up to this are told apart.
const MOST_SEED: f64 = 9_007_199_254_740_992.0;

/// Where a key that is out of place belongs.
static HEADS: LazyLock<Heads> = LazyLock::new(|| {
    let keys: Vec<&'static str> = Kind::ALL.into_iter().flat_map(Kind::names_of_keys).collect();
    vec![("[[family]]", &*keys.leak())].leak()
});

/// Reads a plan and draws its scenarios.
pub(super) fn read(document: &Document) -> Result<Plan, Vec<Fault>> {
    let mut reader = Reader::new(*HEADS);
    let own = document.root();
    reader.refuse_unknown(&own, &[ROOT, JUDGING].concat());
    let model = reader.word(&own, "like", SETS, |(name, _)| name);
    let model = model.map(|(name, text)| Document::parse(name, text)).transpose()?;
    let entries = with_defaults(&own, &model.as_ref().map(Document::root));
    let own = Table { entries: &entries, ..own };
    let kind = kind(&mut reader, &own);
    let defaults = Kind::defaults()?;
    let entries = with_defaults(&own, &reader.table(&defaults.root(), kind.word()));
    let root = Table { entries: &entries, ..own.clone() };
    require_head(&mut reader, &own, kind);
    let plan = Plan {
        kind,
        seed: seed(&mut reader, &root),
        loads: loads(&mut reader, &root),
        precision: share(&mut reader, &root, "precision", 1e-4..=0.5).unwrap_or_default(),
        max_flit_hops: number(&mut reader, &root, "max_flit_hops", 1e5..=1e15).unwrap_or_default(),
        model: reader.word(&root, "model", &Model::ALL, Model::word).unwrap_or(Model::DEFAULT),
        quantities: quantities(&mut reader, &root),
        aims: aims(&mut reader, &root),
        parts: parts(&mut reader, &root),
        families: Vec::new(),
        cases: Vec::new(),
    };
    families(reader, &root, plan)
}

/// The kind of a set. One of streams says so; one that forgets it is told that, and not that its keys are unknown.
fn kind(reader: &mut Reader, root: &Table<'_>) -> Kind {
    if root.get("kind").is_some() {
        return reader.word(root, "kind", &Kind::ALL, Kind::word).unwrap_or(Kind::Scenarios);
    }
    let only_of_streams = |key: &str| {
        let [streams, scenarios] = [Kind::Streams, Kind::Scenarios].map(Kind::names_of_keys);
        streams.contains(&key) && !scenarios.contains(&key)
    };
    // what is no list of tables is refused where families are read
    let tables = Reader::new(&[]).tables(root, "family");
    let mut keys = tables.iter().flat_map(|table| table.entries);
    if keys.any(|entry| only_of_streams(&entry.key)) { Kind::Streams } else { Kind::Scenarios }
}

/// Keys of a table, and those of its defaults that it leaves out.
fn with_defaults(own: &Table<'_>, defaults: &Option<Table<'_>>) -> Vec<Entry> {
    let missing =
        defaults.iter().flat_map(|table| table.entries).filter(|entry| own.get(&entry.key).is_none());
    own.entries.iter().chain(missing).cloned().collect()
}

fn require_head(reader: &mut Reader, root: &Table<'_>, kind: Kind) {
    if kind == Kind::Streams {
        reader.require(root, "kind", "\"streams\" above streams of frames", Some("kind = \"streams\""));
    }
    reader.require(root, "seed", "the number that all scenarios are drawn from", Some("seed = 1"));
    let help = "begin every family with a line  [[family]]";
    reader.require(root, "family", "[[family]] tables", Some(help));
}

fn seed(reader: &mut Reader, root: &Table<'_>) -> u64 {
    let seed = number(reader, root, "seed", 0.0..=MOST_SEED).unwrap_or(0.0);
    if seed.fract() != 0.0 {
        refuse(reader, root, "seed", seed.to_string(), "a whole number", None);
    }
    seed as u64
}

fn loads(reader: &mut Reader, root: &Table<'_>) -> Vec<f64> {
    let loads = reader.rising(root, "loads", 20).unwrap_or_default();
    if let Some(load) = loads.iter().find(|load| !(0.01..=0.95).contains(*load)) {
        let help = "a load is a share of the one at which the first class saturates";
        refuse(reader, root, "loads", load.to_string(), "loads from 0.01 to 0.95", Some(help));
    }
    loads
}

/// The quantities of a list; none where there is none.
fn quantities(reader: &mut Reader, table: &Table<'_>) -> Vec<Quantity> {
    let words = reader.texts(table, "quantities").unwrap_or_default();
    let mut found = Vec::new();
    for word in &words {
        match Quantity::find(word) {
            Some(quantity) => found.push(quantity),
            None => {
                let help =
                    Quantity::nearest(word, Quantity::ALL).map(|near| format!("did you mean \"{near}\"?"));
                let wanted = "a list of quantities";
                refuse(reader, table, "quantities", format!("\"{word}\""), wanted, help.as_deref());
            }
        }
    }
    found
}

fn aims(reader: &mut Reader, root: &Table<'_>) -> Vec<Aim> {
    let mut aims = Vec::new();
    for table in reader.tables(root, "target") {
        reader.refuse_unknown(&table, TARGET);
        let networks = reader.texts(&table, "networks").unwrap_or_default();
        let network = |word: &String| Network::ALL.into_iter().find(|network| network.word() == word);
        if let Some(word) = networks.iter().find(|word| network(word).is_none()) {
            let all = Network::ALL.map(Network::word).join(", ");
            refuse(reader, &table, "networks", format!("\"{word}\""), &format!("a list of {all}"), None);
        }
        let [mean, worst] = ["mean", "worst"].map(|key| {
            reader.require(&table, key, "the largest error aimed at", None);
            number(reader, &table, key, 0.0..=1e6).unwrap_or_default()
        });
        aims.push(Aim {
            quantities: quantities(reader, &table),
            kind: reader.word(&table, "class", &ClassKind::DATA, ClassKind::word),
            networks: networks.iter().filter_map(network).collect(),
            up_to: number(reader, &table, "up_to", 0.0..=1.0),
            target: Target { mean, worst },
        });
    }
    aims
}

fn parts(reader: &mut Reader, root: &Table<'_>) -> Vec<Part> {
    let mut parts = Vec::new();
    for table in reader.tables(root, "part") {
        reader.refuse_unknown(&table, PART);
        let [axes, every, anchors, judged] =
            [("axes", 3), ("every", 1000), ("anchors", 100), ("judged", 1000)].map(|(key, most)| {
                reader.require(&table, key, &format!("1 to {most}"), None);
                number(reader, &table, key, 1.0..=f64::from(most)).map_or(1, |found| found as usize)
            });
        parts.push(Part { axes, every, anchors, judged });
    }
    parts
}

/// Reads the families, each with a name of its own, and draws their scenarios if nothing is wrong.
fn families(mut reader: Reader, root: &Table<'_>, mut plan: Plan) -> Result<Plan, Vec<Fault>> {
    let tables = reader.tables(root, "family");
    for table in &tables {
        let Some(family) = Family::read(&mut reader, table, plan.kind) else { continue };
        if plan.families.iter().any(|other| other.name == family.name) {
            let found = format!("\"{}\" a second time", family.name);
            refuse(&mut reader, table, "name", found, "a name of its own", None);
        }
        plan.families.push(family);
    }
    if reader.faults().is_empty() {
        for (family, table) in plan.families.iter().zip(&tables) {
            match plan.drawn(family) {
                Ok(cases) => plan.cases.extend(cases),
                Err(unfit) => unfit.refuse(&mut reader, table.place, table.path.to_string()),
            }
        }
    }
    reader.finish(plan)
}

pub(super) fn refuse(
    reader: &mut Reader,
    table: &Table<'_>,
    key: &str,
    found: String,
    wanted: &str,
    help: Option<&str>,
) {
    let place: &Place = table.get(key).map_or(table.place, |node| &node.place);
    reader.refuse(place, table.key(key), found, wanted.to_owned(), help.map(str::to_owned));
}

pub(super) fn number(
    reader: &mut Reader,
    table: &Table<'_>,
    key: &str,
    within: RangeInclusive<f64>,
) -> Option<f64> {
    let value = reader.real(table, key)?;
    if within.contains(&value) {
        return Some(value);
    }
    let wanted = format!("{} to {}", within.start(), within.end());
    refuse(reader, table, key, value.to_string(), &wanted, None);
    None
}

pub(super) fn share(
    reader: &mut Reader,
    table: &Table<'_>,
    key: &str,
    within: RangeInclusive<f64>,
) -> Option<f64> {
    let value = reader.real(table, key)?;
    if within.contains(&value) {
        return Some(value);
    }
    let wanted = format!("a share from {} to {}, such as 0.05 for 5 %", within.start(), within.end());
    refuse(reader, table, key, value.to_string(), &wanted, None);
    None
}

/// Two numbers, the second no less than the first.
pub(super) fn bounds(
    reader: &mut Reader,
    table: &Table<'_>,
    key: &str,
    within: RangeInclusive<f64>,
) -> Option<[f64; 2]> {
    let values = reader.reals(table, key)?;
    match values.as_slice() {
        [from, to] if from <= to && within.contains(from) && within.contains(to) => Some([*from, *to]),
        _ => {
            let wanted = format!("[least, most] between {} and {}", within.start(), within.end());
            let found: Vec<String> = values.iter().map(ToString::to_string).collect();
            refuse(reader, table, key, format!("[{}]", found.join(", ")), &wanted, None);
            None
        }
    }
}
