//! The bounds of a set of random scenarios, and the loads at which a model is judged.

use std::ops::RangeInclusive;

use flitwise_language::document::{Document, Reader, Table};
use flitwise_language::scenario::{Fault, Place, Scenario, Scheduler};

use super::set::SetKind;
use super::{Case, Destination, Family, Lengths, Plan, Room, Topology, generator};
use flitwise_simulator::{MAX_DIMENSION, MAX_PORTS, MIN_PIPELINE_STAGES};

const ROOT: &[&str] = &["kind", "seed", "loads", "precision", "max_flit_hops", "family"];
pub(super) const FAMILY: &[&str] = &[
    "name",
    "count",
    "topology",
    "ports",
    "dimension",
    "radix",
    "dimensions",
    "nodes_per_router",
    "links",
    "virtual_channels",
    "destinations",
    "hot_share",
    "pipeline_stages",
    "message_flits",
    "mixed_lengths",
    "buffer_flits",
    "buffer",
    "real_time_classes",
    "best_effort",
    "load_ratio",
    "schedulers",
    "odd_vticks",
    "vtick_factor",
    "on_off",
];
const HEADS: &[(&str, &[&str])] = &[("[[family]]", FAMILY)];

/// Most scenarios of a family.
const MOST_SCENARIOS: u32 = 10_000;
/// All whole numbers up to this are told apart.
const MOST_SEED: f64 = 9_007_199_254_740_992.0;

/// Reads a whole plan of scenarios.
pub(super) fn read(document: &Document) -> Result<Plan, Vec<Fault>> {
    let mut reader = Reader::new(HEADS);
    let root = document.root();
    let Head { seed, loads, precision, max_flit_hops } = head(&mut reader, &root, SetKind::Scenarios);
    let families = families(&mut reader, &root, family, |family| &family.name);
    let plan = Plan {
        seed,
        loads,
        precision: precision.unwrap_or(0.01),
        max_flit_hops: max_flit_hops.unwrap_or(1e9),
        families,
    };
    reader.finish(plan)
}

/// What plans of all kinds begin with.
pub(super) struct Head {
    pub(super) seed: u64,
    pub(super) loads: Vec<f64>,
    pub(super) precision: Option<f64>,
    pub(super) max_flit_hops: Option<f64>,
}

/// Reads all but the families of a plan of a kind.
pub(super) fn head(reader: &mut Reader, root: &Table<'_>, kind: SetKind) -> Head {
    reader.refuse_unknown(root, ROOT);
    let found = reader.word(root, "kind", &SetKind::ALL, SetKind::word);
    if let Some(other) = found.filter(|found| *found != kind) {
        refuse(reader, root, "kind", format!("\"{}\"", other.word()), &format!("\"{}\"", kind.word()), None);
    }
    if kind == SetKind::Streams {
        reader.require(root, "kind", "\"streams\" above streams of frames", Some("kind = \"streams\""));
    }
    reader.require(root, "seed", "the number that all scenarios are drawn from", Some("seed = 1"));
    let seed = number(reader, root, "seed", 0.0..=MOST_SEED).unwrap_or(0.0);
    if seed.fract() != 0.0 {
        refuse(reader, root, "seed", seed.to_string(), "a whole number", None);
    }
    let loads = reader.rising(root, "loads", 20).unwrap_or_default();
    if let Some(load) = loads.iter().find(|load| !(0.01..=0.95).contains(*load)) {
        let help = "a load is a share of the one at which the first class saturates";
        refuse(reader, root, "loads", load.to_string(), "loads from 0.01 to 0.95", Some(help));
    }
    let precision = share(reader, root, "precision", 1e-4..=0.5);
    let max_flit_hops = number(reader, root, "max_flit_hops", 1e5..=1e15);
    let help = "begin every family with a line  [[family]]";
    reader.require(root, "family", "[[family]] tables", Some(help));
    Head { seed: seed as u64, loads, precision, max_flit_hops }
}

/// The families of a plan that are sound, each with a name of its own.
pub(super) fn families<F>(
    reader: &mut Reader,
    root: &Table<'_>,
    read: fn(&mut Reader, &Table<'_>) -> Option<F>,
    name: fn(&F) -> &str,
) -> Vec<F> {
    let mut families: Vec<F> = Vec::new();
    for table in reader.tables(root, "family") {
        let Some(family) = read(reader, &table) else { continue };
        if families.iter().any(|other| name(other) == name(&family)) {
            let found = format!("\"{}\" a second time", name(&family));
            refuse(reader, &table, "name", found, "a name of its own", None);
        }
        families.push(family);
    }
    families
}

/// Name and number of scenarios of a family, and whether it says how routers are wired, in one of `topologies`.
pub(super) fn name_and_count(reader: &mut Reader, table: &Table<'_>, topologies: &str) -> (String, u32) {
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

impl Plan {
    /// All scenarios, family by family. Their rates are those of a load near saturation, no more: which load
    /// that is, only a simulation can tell.
    pub fn cases(&self) -> Vec<Case> {
        let of_family = |family: &Family| -> Vec<Case> {
            (0..family.count).map(|index| generator::case(self.seed, family, index)).collect()
        };
        self.families.iter().flat_map(of_family).collect()
    }

    /// Measured messages of a point of `scenario` after which to stop anyway.
    pub fn max_messages(&self, scenario: &Scenario) -> u64 {
        let classes = scenario.classes();
        let rate: f64 = classes.iter().map(|class| class.rate).sum();
        let flits: f64 = classes.iter().map(|class| class.rate * f64::from(class.message_flits)).sum();
        // a message crosses the crossbars of the routers at both ends and between them
        let routers = 1.0 + scenario.topology().mean_hops();
        (self.max_flit_hops * rate / (flits * routers)).max(1.0) as u64
    }
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

/// The same of whole numbers; `default` where there are none.
pub(super) fn whole_bounds(
    reader: &mut Reader,
    table: &Table<'_>,
    key: &str,
    within: RangeInclusive<u32>,
    default: [u32; 2],
) -> [u32; 2] {
    let found = bounds(reader, table, key, f64::from(*within.start())..=f64::from(*within.end()));
    match found {
        Some([from, to]) if from.fract() == 0.0 && to.fract() == 0.0 => [from as u32, to as u32],
        Some([from, to]) => {
            refuse(reader, table, key, format!("[{from}, {to}]"), "whole numbers", None);
            default
        }
        None => default,
    }
}

/// The family of a table; `None` if something is wrong with it, which the reader knows.
fn family(reader: &mut Reader, table: &Table<'_>) -> Option<Family> {
    let before = reader.faults().len();
    reader.refuse_unknown(table, FAMILY);
    let topologies = "\"router\", \"hypercube\", \"mesh\" or \"torus\"";
    let (name, count) = name_and_count(reader, table, topologies);
    let topology = reader.word(table, "topology", &Topology::ALL, Topology::word).unwrap_or_default();
    let size = size(reader, table, topology);
    let [dimensions, nodes_per_router, links, virtual_channels] = lattice(reader, table, topology);
    let message_flits = whole_bounds(reader, table, "message_flits", 2..=4096, [32, 32]);
    let (room, buffer_flits) = buffers(reader, table, message_flits);
    let mut chance = |key: &str| share(reader, table, key, 0.0..=1.0).unwrap_or(0.0);
    let lengths = Lengths { flits: message_flits, mixed: chance("mixed_lengths") };
    let (best_effort, odd_vticks, on_off) = (chance("best_effort"), chance("odd_vticks"), chance("on_off"));
    let family = Family {
        name,
        count,
        topology,
        size,
        dimensions,
        nodes_per_router,
        links,
        virtual_channels,
        destinations: destinations(reader, table, topology),
        hot_share: bounds(reader, table, "hot_share", 0.001..=1.0).unwrap_or([0.02, 0.2]),
        pipeline_stages: whole_bounds(reader, table, "pipeline_stages", MIN_PIPELINE_STAGES..=64, [5, 5]),
        lengths,
        buffer_flits,
        room,
        real_time_classes: whole_bounds(reader, table, "real_time_classes", 1..=12, [2, 2]),
        best_effort,
        load_ratio: number(reader, table, "load_ratio", 1.0..=1000.0).unwrap_or(1.0),
        schedulers: words(
            reader,
            table,
            "schedulers",
            (&Scheduler::ALL, Scheduler::word),
            Scheduler::VirtualClock,
        ),
        odd_vticks,
        vtick_factor: bounds(reader, table, "vtick_factor", 0.01..=100.0).unwrap_or([0.5, 2.0]),
        on_off,
    };
    (reader.faults().len() == before).then_some(family)
}

/// Ports, dimensions or routers along a dimension of a network.
fn size(reader: &mut Reader, table: &Table<'_>, topology: Topology) -> [u32; 2] {
    let (key, bounds) = match topology {
        Topology::Router => ("ports", 2..=MAX_PORTS),
        Topology::Hypercube => ("dimension", 1..=MAX_DIMENSION),
        Topology::Mesh => ("radix", 2..=64),
        Topology::Torus => ("radix", 3..=64),
    };
    if table.get("topology").is_some() {
        reader.require(table, key, "[least, most]", Some(&format!("{key} = [{}, 8]", bounds.start())));
        for other_key in ["ports", "dimension", "radix"].into_iter().filter(|other| *other != key) {
            if table.get(other_key).is_some() {
                let found = format!("{other_key} of a {}", topology.word());
                refuse(reader, table, other_key, found, &format!("{key} only"), None);
            }
        }
    }
    whole_bounds(reader, table, key, bounds, [2, 8])
}

/// Dimensions, nodes at a router, parallel links and virtual channels of a mesh or torus.
fn lattice(reader: &mut Reader, table: &Table<'_>, topology: Topology) -> [[u32; 2]; 4] {
    let keys = ["dimensions", "nodes_per_router", "links", "virtual_channels"];
    if !topology.is_lattice() {
        for key in keys.into_iter().filter(|key| table.get(key).is_some()) {
            let found = format!("{key} of a {}", topology.word());
            refuse(reader, table, key, found, "them with topology = \"mesh\" or \"torus\" only", None);
        }
        return [[1, 1]; 4];
    }
    // the dateline of a torus splits the virtual channels of a class
    let least = if topology == Topology::Torus { 2 } else { 1 };
    let dimensions = whole_bounds(reader, table, keys[0], 1..=4, [2, 2]);
    let nodes_per_router = whole_bounds(reader, table, keys[1], 1..=16, [1, 1]);
    let links = whole_bounds(reader, table, keys[2], 1..=8, [1, 1]);
    [dimensions, nodes_per_router, links, whole_bounds(reader, table, keys[3], least..=8, [least, least])]
}

/// Whether buffers hold whole messages, and their flits.
fn buffers(reader: &mut Reader, table: &Table<'_>, message_flits: [u32; 2]) -> (Room, [u32; 2]) {
    let flits = whole_bounds(reader, table, "buffer_flits", 1..=4096, [32, 32]);
    let room = reader.word(table, "buffer", &Room::ALL, Room::word).unwrap_or_default();
    match room {
        Room::Ample if flits[1] < message_flits[1] => {
            let found = format!("at most {} with messages of up to {}", flits[1], message_flits[1]);
            let help = "buffer = \"short\" draws buffers below the longest message";
            refuse(reader, table, "buffer_flits", found, "room for a whole message", Some(help));
        }
        Room::Short if flits[0] >= message_flits[0] => {
            let found = format!("at least {} with messages of {} and more", flits[0], message_flits[0]);
            refuse(reader, table, "buffer_flits", found, "buffers below every message", None);
        }
        _ => {}
    }
    (room, flits)
}

fn destinations(reader: &mut Reader, table: &Table<'_>, topology: Topology) -> Vec<Destination> {
    let has_coordinates = topology != Topology::Router;
    let allowed =
        |one: &Destination| has_coordinates || matches!(one, Destination::Uniform | Destination::Hot);
    let allowed: Vec<Destination> = Destination::ALL.into_iter().filter(allowed).collect();
    words(reader, table, "destinations", (&allowed, Destination::word), Destination::Uniform)
}

/// A list of some of `all`; `default` alone where there is none.
pub(super) fn words<T: Copy>(
    reader: &mut Reader,
    table: &Table<'_>,
    key: &str,
    (all, word): (&[T], fn(T) -> &'static str),
    default: T,
) -> Vec<T> {
    let Some(found) = reader.texts(table, key) else { return vec![default] };
    let known = |text: &String| all.iter().copied().find(|one| word(*one) == text);
    let sound: Vec<T> = found.iter().filter_map(known).collect();
    if sound.len() < found.len() || sound.is_empty() {
        let unknown = found.iter().find(|text| known(text).is_none());
        let found = unknown.map_or("an empty list".to_owned(), |text| format!("\"{text}\""));
        let all: Vec<&str> = all.iter().map(|one| word(*one)).collect();
        let help = unknown.and_then(|text| flitwise_language::document::nearest(text, all.iter().copied()));
        let help = help.map(|near| format!("did you mean \"{near}\"?"));
        let wanted = format!("a list of {}", all.join(", "));
        refuse(reader, table, key, found, &wanted, help.as_deref());
        return vec![default];
    }
    sound
}
