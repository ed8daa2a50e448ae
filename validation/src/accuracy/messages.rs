//! Draws scenarios of the kind `scenarios`: classes of messages.
//!
//! Sizes of networks are drawn in strata, so that few scenarios cover the whole range: the third of ten has its size
//! from the third tenth of the range. All other values are independent.

use std::fmt::Write;

use flitwise_language::document::{Reader, Table};
use flitwise_language::scenario::{DestinationPattern, Scheduler, TreeRouting};

use super::DRAWN_LOAD;
use super::draw::{Draw, rounded, whole_at};
use super::family::{Family, Key, Wiring};
use super::plan::refuse;
use flitwise_simulator::{MAX_DIMENSION, MAX_PORTS, MIN_PIPELINE_STAGES};

/// Streams of an ON/OFF source.
const STREAMS: [u32; 2] = [1, 16];
/// Mean messages of a burst.
const BURST: [f64; 2] = [2.0, 16.0];
/// Flits per cycle that all streams of a source that are ON together generate: more than the link takes, so that
/// a class can be brought to saturation.
const LEAST_PEAK: f64 = 1.5;
/// Flits per cycle of a stream that is ON.
const STREAM_PEAK: [f64; 2] = [0.1, 1.5];
/// Most routers of a mesh or torus.
const MOST_ROUTERS: u32 = 144;
/// Most nodes of a fat tree.
const MOST_NODES: u32 = 256;

const LATTICES: &[&str] = &["mesh", "torus"];
const TREE: &[&str] = &["fat-tree"];
const GRAPH: &[&str] = &["file"];
const WITH_LANES: &[&str] = &["mesh", "torus", "fat-tree", "file"];

pub(super) const WIRINGS: &[Wiring] = &[
    Wiring { topology: "router", size: "ports", within: [2, MAX_PORTS], least_lanes: 1 },
    Wiring { topology: "hypercube", size: "dimension", within: [1, MAX_DIMENSION], least_lanes: 1 },
    Wiring { topology: "mesh", size: "radix", within: [2, 64], least_lanes: 1 },
    Wiring { topology: "torus", size: "radix", within: [3, 64], least_lanes: 2 },
    Wiring { topology: "fat-tree", size: "levels", within: [2, 6], least_lanes: 1 },
    // up-down routing of a random graph
    Wiring { topology: "file", size: "switches", within: [2, 64], least_lanes: 1 },
];

pub(super) const KEYS: &[Key] = &[
    Key::size("ports"),
    Key::size("dimension"),
    Key::size("radix"),
    Key::size("levels"),
    Key::size("switches"),
    Key::whole("dimensions", [1, 4], [2, 2]).of(LATTICES),
    // neighbours of a switch below and above it, at each level
    Key::whole("down", [1, 128], [2, 8]).of(TREE),
    Key::whole("up", [1, 128], [2, 8]).of(TREE),
    Key::any_of("routing", || TreeRouting::ALL.iter().map(|routing| routing.word()).collect(), "d-mod-k")
        .of(TREE),
    // switches of lower number that a switch is joined to
    Key::whole("neighbours", [1, 16], [1, 2]).of(GRAPH),
    Key::whole("nodes_per_router", [1, 16], [1, 1]).of(&["mesh", "torus", "file"]),
    Key::whole("links", [1, 8], [1, 1]).of(WITH_LANES),
    Key::whole("virtual_channels", [1, 8], [1, 1]).of(WITH_LANES),
    // the same of all classes
    Key::any_of("destinations", destinations, "uniform"),
    Key::bounds("hot_share", [0.001, 1.0], [0.02, 0.2]),
    Key::whole("pipeline_stages", [MIN_PIPELINE_STAGES, 64], [5, 5]),
    Key::whole("message_flits", [2, 4096], [32, 32]),
    // probability that each class has its own length
    Key::chance("mixed_lengths"),
    Key::whole("buffer_flits", [1, 4096], [32, 32]),
    // as it comes; messages of every class fit; messages of one class at least do not fit
    Key::word("buffer", &["any", "ample", "short"]),
    Key::whole("real_time_classes", [1, 12], [2, 2]),
    Key::chance("best_effort"),
    // the most that one class may load a link more than another
    Key::number("load_ratio", [1.0, 1000.0], 1.0),
    Key::any_of("schedulers", || Scheduler::OF_CLASSES.map(Scheduler::word).to_vec(), "virtual-clock"),
    // probability that Vticks are given, out of proportion to the rates, and what they then are of those in proportion
    Key::chance("odd_vticks"),
    Key::bounds("vtick_factor", [0.01, 100.0], [0.5, 2.0]),
    // probability that a class has ON/OFF sources; above 0, at least one has
    Key::chance("on_off"),
];

fn destinations() -> Vec<&'static str> {
    let patterns = DestinationPattern::ALL.iter().map(|pattern| pattern.word());
    ["uniform", "hot"].into_iter().chain(patterns).collect()
}

/// Refuses buffers whose bounds do not go with the lengths of messages.
pub(super) fn check(family: &Family, reader: &mut Reader, table: &Table<'_>) {
    let (flits, messages) = (family.whole("buffer_flits"), family.whole("message_flits"));
    match family.words("buffer") {
        ["ample"] if flits[1] < messages[1] => {
            let found = format!("at most {} with messages of up to {}", flits[1], messages[1]);
            let help = "buffer = \"short\" draws buffers below the longest message";
            refuse(reader, table, "buffer_flits", found, "room for a whole message", Some(help));
        }
        ["short"] if flits[0] >= messages[0] => {
            let found = format!("at least {} with messages of {} and more", flits[0], messages[0]);
            refuse(reader, table, "buffer_flits", found, "buffers below every message", None);
        }
        _ => {}
    }
}

/// What is drawn of a class.
struct Class {
    name: String,
    kind: &'static str,
    flits: u32,
    rate: f64,
    /// Its other keys.
    keys: String,
}

/// The text of scenario `index` of a family, at [`DRAWN_LOAD`].
pub(super) fn text(draw: &mut Draw, family: &Family, index: u32) -> String {
    let (network, nodes) = network(draw, family, index);
    let real_time = draw.evenly(family.whole("real_time_classes"));
    let best_effort = draw.chance(family.number("best_effort"));
    let class = |name: String, kind| Class { name, kind, flits: 0, rate: 0.0, keys: String::new() };
    let mut classes: Vec<Class> =
        (1..=real_time).map(|number| class(format!("R{number}"), "real-time")).collect();
    classes.extend(best_effort.then(|| class("BE".to_owned(), "best-effort")));
    lengths(draw, family, &mut classes);
    rates(draw, family, &mut classes);
    vticks(draw, family, &mut classes);
    sources(draw, family, &mut classes);
    let mut more = String::new();
    if WITH_LANES.contains(&family.topology()) {
        let _ = writeln!(more, "virtual_channels = {}", draw.whole(family.whole("virtual_channels")));
    }
    let pipeline_stages = draw.evenly(family.whole("pipeline_stages"));
    let buffer_flits = buffer(draw, family, &classes);
    let scheduler = draw.one_of(family.words("schedulers"));
    more += &destination(draw, family, nodes);
    let mut text = format!(
        "[network]\n{network}\n[router]\npipeline_stages = {pipeline_stages}\nbuffer_flits = {buffer_flits}\n\
         scheduler = \"{scheduler}\"\n"
    );
    for Class { name, kind, flits, rate, keys } in classes {
        let _ = write!(
            text,
            "[[class]]\nname = \"{name}\"\nkind = \"{kind}\"\nrate = {rate}\nmessage_flits = {flits}\n{keys}{more}"
        );
    }
    text
}

/// The keys of `[network]`, and its nodes.
fn network(draw: &mut Draw, family: &Family, index: u32) -> (String, u32) {
    let stratum = (f64::from(index) + draw.share()) / f64::from(family.count);
    let Wiring { topology, size, .. } = family.wiring;
    let (value, nodes) = match size {
        "ports" => {
            let ports = whole_at(stratum, family.size());
            (ports.to_string(), ports)
        }
        "dimension" => {
            // the smaller of two: large cubes take long to simulate
            let [from, to] = family.size();
            let share = 1.0 - (1.0 - stratum).sqrt();
            let dimension = (from + (share * f64::from(to - from + 1)) as u32).min(to);
            (dimension.to_string(), 1 << dimension)
        }
        "levels" => return tree(draw, family),
        "switches" => return graph(draw, family),
        _ => return lattice(draw, family),
    };
    (format!("topology = \"{topology}\"\n{size} = {value}"), nodes)
}

/// A mesh or torus of at most [`MOST_ROUTERS`].
fn lattice(draw: &mut Draw, family: &Family) -> (String, u32) {
    let [least, most] = family.size();
    let mut sides: Vec<u32> = Vec::new();
    for _ in 0..draw.evenly(family.whole("dimensions")) {
        let room = MOST_ROUTERS / sides.iter().product::<u32>();
        if room < least {
            break;
        }
        sides.push(draw.whole([least, most.min(room)]));
    }
    let [each, links] = ["nodes_per_router", "links"].map(|key| draw.evenly(family.whole(key)));
    let keys = format!(
        "topology = \"{}\"\nradix = {sides:?}\nnodes_per_router = {each}\nlinks = {links}",
        family.topology()
    );
    (keys, each * sides.iter().product::<u32>())
}

/// A fat tree of at most [`MOST_NODES`].
fn tree(draw: &mut Draw, family: &Family) -> (String, u32) {
    let levels = draw.evenly(family.size());
    let [least, most] = family.whole("down");
    let mut down: Vec<u32> = Vec::new();
    for level in 0..levels {
        let rest = least.saturating_pow(levels - 1 - level);
        let room = MOST_NODES / rest / down.iter().product::<u32>();
        down.push(draw.whole([least, most.min(room).max(least)]));
    }
    let up: Vec<u32> = (1..levels).map(|_| draw.whole(family.whole("up"))).collect();
    let links = draw.evenly(family.whole("links"));
    let routing = draw.one_of(family.words("routing"));
    let keys = format!(
        "topology = \"fat-tree\"\nlevels = {levels}\ndown = {down:?}\nup = {up:?}\nlinks = {links}\n\
         routing = \"{routing}\""
    );
    (keys, down.iter().product())
}

/// A graph whose switches are each joined to some of lower number.
fn graph(draw: &mut Draw, family: &Family) -> (String, u32) {
    let switches = draw.evenly(family.size());
    let (mut lines, mut nodes) = (String::new(), 0);
    for switch in 0..switches {
        for _ in 0..draw.evenly(family.whole("nodes_per_router")) {
            let _ = writeln!(lines, "node n{nodes} s{switch}");
            nodes += 1;
        }
    }
    for switch in 1..switches {
        let mut lower: Vec<u32> = (0..switch).collect();
        for _ in 0..draw.evenly(family.whole("neighbours")).min(switch) {
            let other = lower.swap_remove(draw.index(lower.len()));
            let links = draw.evenly(family.whole("links"));
            let _ = writeln!(lines, "link s{other} s{switch} links={links}");
        }
    }
    (format!("topology = \"file\"\nrouting = \"up-down\"\nfile = \"\"\"\n{lines}\"\"\""), nodes)
}

fn lengths(draw: &mut Draw, family: &Family, classes: &mut [Class]) {
    let flits = family.whole("message_flits");
    let mixed = draw.chance(family.number("mixed_lengths"));
    let same = draw.whole(flits);
    for class in classes {
        class.flits = if mixed { draw.whole(flits) } else { same };
    }
}

/// Each class's part of the link's load is drawn, every doubling alike.
fn rates(draw: &mut Draw, family: &Family, classes: &mut [Class]) {
    let least = 1.0 / family.number("load_ratio");
    let parts: Vec<f64> = classes.iter().map(|_| draw.between([least, 1.0])).collect();
    let whole: f64 = parts.iter().sum();
    for (class, part) in classes.iter_mut().zip(parts) {
        class.rate = rounded(DRAWN_LOAD * part / whole / f64::from(class.flits), 4);
    }
}

fn vticks(draw: &mut Draw, family: &Family, classes: &mut [Class]) {
    let odd = draw.chance(family.number("odd_vticks"));
    for class in classes.iter_mut().filter(|class| class.kind == "real-time") {
        let factor = draw.between(family.bounds("vtick_factor"));
        let natural = 1.0 / (class.rate * f64::from(class.flits));
        if odd {
            let _ = writeln!(class.keys, "vtick = {}", rounded(factor * natural, 4));
        }
    }
}

/// At least one ON/OFF source where there may be any.
fn sources(draw: &mut Draw, family: &Family, classes: &mut [Class]) {
    let on_off = family.number("on_off");
    if on_off == 0.0 {
        return;
    }
    let sure = draw.evenly([0, classes.len() as u32 - 1]) as usize;
    for (index, class) in classes.iter_mut().enumerate() {
        let is_on_off = draw.chance(on_off) || index == sure;
        let streams = draw.whole(STREAMS);
        let burst = rounded(draw.between(BURST), 2);
        let [least, most] = STREAM_PEAK;
        let peak = draw.between([least.max(LEAST_PEAK / f64::from(streams)), most]);
        // rounding must not bring it below what all streams together need
        let peak_rate = rounded(1.01 * peak / f64::from(class.flits), 3).min(1.0);
        if is_on_off {
            let _ = writeln!(
                class.keys,
                "source = {{ kind = \"on-off\", streams = {streams}, messages_per_burst = {burst}, \
                 peak_rate = {peak_rate} }}"
            );
        }
    }
}

/// Drawn last, and not at all where all are uniform.
fn destination(draw: &mut Draw, family: &Family, nodes: u32) -> String {
    let destinations = family.words("destinations");
    if destinations == ["uniform"] {
        return String::new();
    }
    match draw.one_of(destinations) {
        "hot" => {
            let hot = draw.evenly([0, nodes - 1]);
            let share = rounded(draw.between(family.bounds("hot_share")), 3);
            format!("destination = {{ hot = {hot}, share = {share} }}\n")
        }
        word => format!("destination = \"{word}\"\n"),
    }
}

fn buffer(draw: &mut Draw, family: &Family, classes: &[Class]) -> u32 {
    let [least, most] = family.whole("buffer_flits");
    let longest = classes.iter().map(|class| class.flits).max().unwrap_or(least);
    draw.whole(match family.words("buffer") {
        ["ample"] => [least.max(longest), most],
        ["short"] => [least, most.min(longest - 1)],
        _ => [least, most],
    })
}
