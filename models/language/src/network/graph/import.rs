//! Graphs from the files of other programs.

mod infiniband;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::text::MOST_SLOWDOWN;
use crate::document::in_short;
use crate::network::{ChannelKind, Network};
use crate::scenario::{NetworkSpec, PerLevel, TreeDelay, TreeRouting, Wrong};
pub use infiniband::from_ibnetdiscover;

/// The lines of a graph that another program's file describes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    /// The lines.
    pub text: String,
    /// What of the file is not in them, in sentences.
    pub notes: Vec<String>,
}

/// Numbers of nodes and routers are below this.
const MOST_NUMBERS: u32 = 16_384;

/// A fault of a file: the line, from 1, or none of the whole, and a sentence.
pub type ImportFault = (Option<usize>, String);

fn faults(wrong: Vec<Wrong>) -> Vec<ImportFault> {
    let said =
        |one: Wrong| (one.line.map(|line| line + 1), format!("found {}, wanted {}", one.found, one.wanted));
    wrong.into_iter().map(said).collect()
}

/// Rates of links as shares of the highest one.
struct Capacities {
    highest: f64,
    /// Whether any is lower.
    is_uneven: bool,
}

impl Capacities {
    /// Of rates, with a note where these are no whole parts of the highest one.
    fn of(speeds: impl Iterator<Item = f64> + Clone, notes: &mut Vec<String>) -> Self {
        let highest = speeds.clone().fold(0.0, f64::max);
        let is_uneven = speeds.clone().any(|speed| speed > 0.0 && speed < highest);
        let found = Self { highest, is_uneven };
        let is_rounded = |speed: f64| {
            speed > 0.0 && (found.highest / speed / f64::from(found.slowdown(speed)) - 1.0).abs() > 0.01
        };
        let rounded = speeds.filter(|speed| is_rounded(*speed)).count();
        if found.is_uneven {
            notes.push(format!(
                "capacities are shares of {} Gb/s: take that as link_rate under [switch]",
                in_short(found.highest)
            ));
        }
        if rounded > 0 {
            notes.push(format!(
                "capacities are rounded to 1/1, 1/2 .. 1/{MOST_SLOWDOWN} of the highest rate, {rounded} of them"
            ));
        }
        found
    }

    /// `c` of a capacity of `1 / c`.
    fn slowdown(&self, speed: f64) -> u32 {
        (self.highest / speed).round().clamp(1.0, f64::from(MOST_SLOWDOWN)) as u32
    }

    /// The option of a line; empty for the highest rate, and where none is known.
    fn option(&self, speed: f64) -> String {
        match if speed > 0.0 { self.slowdown(speed) } else { 1 } {
            1 => String::new(),
            slowdown => format!(" capacity=1/{slowdown}"),
        }
    }
}

/// What the lines of `anynet` say.
#[derive(Default)]
struct AnyNet {
    /// By node: its router, and the line from 0.
    nodes: BTreeMap<u32, (u32, usize)>,
    links: BTreeSet<(u32, u32)>,
    /// Latencies other than 1.
    latencies: u32,
    wrong: Vec<Wrong>,
}

impl AnyNet {
    /// Takes over a line; what of it could not be read.
    fn line<'w, 't>(&mut self, at: usize, words: &'w [&'t str]) -> &'w [&'t str] {
        let (mut rest, mut head) = (words, None);
        while let [word, number, after @ ..] = rest {
            let is_router = *word == "router";
            let number = number.parse::<u32>().ok().filter(|number| *number < MOST_NUMBERS);
            let Some(number) = number.filter(|_| is_router || *word == "node") else { break };
            let Some(first) = head else {
                (head, rest) = (Some((is_router, number)), after);
                continue;
            };
            let (router, node) = match (first, (is_router, number)) {
                ((true, one), (true, other)) => (one, Err(other)),
                ((true, router), (false, node)) | ((false, node), (true, router)) => (router, Ok(node)),
                _ => break,
            };
            match node {
                Ok(node) => self.node(at, node, router),
                Err(other) => drop(self.links.insert((router.min(other), router.max(other)))),
            }
            rest = match after {
                [latency, more @ ..] if latency.parse::<u32>().is_ok() => {
                    self.latencies += u32::from(*latency != "1");
                    more
                }
                _ => after,
            };
        }
        rest
    }

    fn node(&mut self, at: usize, node: u32, router: u32) {
        if let Some((before, line)) = self.nodes.insert(node, (router, at))
            && before != router
        {
            let found = format!("node {node} at router {router}");
            let wanted = format!("router {before}, where line {} has it", line + 1);
            self.wrong.push(Wrong::at(at, found, wanted));
        }
    }
}

/// A file of BookSim2's `anynet`: lines such as `router 0 node 0 router 1 15`, numbers behind links being latencies.
///
/// # Errors
/// Lines that are none of these.
pub fn from_anynet(text: &str) -> Result<Imported, Vec<ImportFault>> {
    let mut read = AnyNet::default();
    for (at, line) in text.lines().enumerate() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let rest = read.line(at, &words);
        if !rest.is_empty() {
            let found: String = rest.join(" ").chars().take(40).collect();
            let wanted = format!("router or node and a number below {MOST_NUMBERS}, behind one of them");
            read.wrong.push(Wrong::at(at, format!("\"{found}\""), wanted));
        }
    }
    let AnyNet { nodes, links, latencies, mut wrong } = read;
    if let Some((one, _)) = links.iter().find(|(one, other)| one == other) {
        wrong.push(Wrong::whole(format!("router {one} beside itself"), "links to other routers"));
    }
    if nodes.is_empty() && wrong.is_empty() {
        wrong.push(Wrong::whole("no node", "a line such as  router 0 node 0 router 1"));
    }
    if !wrong.is_empty() {
        return Err(faults(wrong));
    }
    let mut imported = Imported { text: "# from a file of anynet\n".to_owned(), notes: Vec::new() };
    let last = links.iter().map(|(_, last)| *last).chain(nodes.values().map(|(router, _)| *router)).max();
    for router in 0..=last.unwrap_or(0) {
        let _ = writeln!(imported.text, "switch r{router}");
    }
    for (node, (router, _)) in &nodes {
        let _ = writeln!(imported.text, "node n{node} r{router}");
    }
    for (one, other) in &links {
        let _ = writeln!(imported.text, "link r{one} r{other}");
    }
    if latencies > 0 {
        imported.notes.push(format!("latencies of links other than 1 are left out, {latencies} of them"));
    }
    Ok(imported)
}

/// What the lines of a `.topo` file say.
#[derive(Default)]
struct Tiers {
    nodes: Option<u32>,
    /// By tier the words of its shape.
    tiers: BTreeMap<u32, BTreeMap<String, u32>>,
    /// By tier the rate of the links below its switches \[Gb/s\].
    speeds: BTreeMap<u32, f64>,
    /// Lines that are left out.
    left_out: u32,
}

fn tiers(text: &str, wrong: &mut Vec<Wrong>) -> Tiers {
    let Tiers { mut nodes, mut tiers, mut speeds, mut left_out } = Tiers::default();
    let mut tier = None;
    for (at, line) in text.lines().enumerate() {
        let words: Vec<&str> = line.split('#').next().unwrap_or("").split_whitespace().collect();
        let (key, number) = match words.as_slice() {
            [] => continue,
            [key, number] if number.parse::<f64>().is_ok() => {
                (key.to_ascii_lowercase(), number.parse::<u32>().ok())
            }
            _ => {
                wrong.push(Wrong::at(at, format!("\"{}\"", line.trim()), "a word and a number"));
                continue;
            }
        };
        match (key.as_str(), tier) {
            ("nodes", _) => nodes = number,
            ("downlink_latency_ns", Some(_)) if number.is_none() => {
                wrong.push(Wrong::at(at, format!("\"{}\"", line.trim()), "a whole number of ns"));
            }
            ("tiers" | "podsize", _) => {}
            ("tier", _) => tier = number,
            ("radix_down" | "radix_up" | "bundle" | "downlink_latency_ns", Some(tier)) => {
                tiers.entry(tier).or_default().insert(key, number.unwrap_or(0));
            }
            ("downlink_speed_gbps", Some(tier)) => {
                let speed = words[1].parse().ok().filter(|speed: &f64| speed.is_finite());
                speeds.insert(tier, speed.unwrap_or(0.0));
            }
            ("switch_latency_ns" | "oversubscribed" | "queue_down" | "queue_up", Some(_)) => left_out += 1,
            _ => wrong.push(Wrong::at(at, key, "a word of a .topo file, tiers each behind a line Tier")),
        }
    }
    Tiers { nodes, tiers, speeds, left_out }
}

/// A topology of htsim: `Tiers`, and of each tier `Radix_Down`, `Radix_Up`, `Bundle`, `Downlink_Latency_ns`, which
/// becomes the delay of the links below its switches, and `Downlink_speed_Gbps`, which becomes their capacity.
///
/// # Errors
/// Lines that are none of these, and tiers that do not make a tree.
pub fn from_htsim(text: &str) -> Result<Imported, Vec<ImportFault>> {
    let mut wrong = Vec::new();
    let Tiers { nodes, tiers, speeds, left_out } = tiers(text, &mut wrong);
    let of = |tier: u32, key: &str| tiers.get(&tier).and_then(|keys| keys.get(key).copied());
    let latency = |tier: u32| of(tier, "downlink_latency_ns").unwrap_or(0);
    let (mut down, mut up, mut links, mut delays) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for tier in 0..tiers.len() as u32 {
        let [below, above] =
            [of(tier, "bundle").unwrap_or(1).max(1), of(tier + 1, "bundle").unwrap_or(1).max(1)];
        let below = if tier == 0 { 1 } else { below };
        down.push(of(tier, "radix_down").unwrap_or(0) / below);
        if tier + 1 < tiers.len() as u32 {
            up.push(of(tier, "radix_up").unwrap_or(0) / above);
            links.push(above);
            delays.push(latency(tier + 1));
        }
    }
    let delay = TreeDelay { up: PerLevel::list(&delays).unwrap_or(PerLevel::all(0)) };
    let spec = NetworkSpec::FatTree {
        levels: tiers.len() as u32,
        radix: None,
        taper: None,
        arity: None,
        down: PerLevel::list(&down),
        up: PerLevel::list(&up).filter(|_| !up.is_empty()),
        links: PerLevel::list(&links).filter(|_| !links.is_empty()).unwrap_or(PerLevel::all(1)),
        delay,
        routing: TreeRouting::DModK,
        self_traffic: None,
    };
    let network = spec.topology();
    let made = down.iter().fold(1, |all: u64, one| all.saturating_mul((*one).into()));
    let is_other = |nodes: u32| u64::from(nodes) != made;
    if wrong.is_empty() && (is_other(network.nodes()) || nodes.is_some_and(is_other)) {
        let found = format!("{} nodes, and tiers that make {made}", nodes.unwrap_or(0));
        wrong.push(Wrong::whole(found, "tiers of a tree of so many nodes, from 0 on"));
    }
    if !wrong.is_empty() {
        return Err(faults(wrong));
    }
    let text = super::export::exported(&network).map_err(|because| vec![(None, because)])?;
    let mut notes = Vec::new();
    if left_out > 0 {
        notes.push(format!(
            "latencies of switches, queues and oversubscription are left out, in {left_out} lines"
        ));
    }
    notes.extend(text.without_ways.map(|because| format!("there are no ways: {because}")));
    let capacities = Capacities::of(speeds.values().copied(), &mut notes);
    let option_of = |tier: u32| speeds.get(&tier).map_or(String::new(), |speed| capacities.option(*speed));
    let mut lines = String::new();
    for line in text.text.lines() {
        let more = match tier_of(&network, line) {
            Some(0) if latency(0) > 0 => format!(" delay={}{}", latency(0), option_of(0)),
            Some(tier) => option_of(tier),
            None => String::new(),
        };
        let _ = writeln!(lines, "{line}{more}");
    }
    if latency(0) > 0 || delays.iter().any(|delay| *delay > 0) {
        notes.push("latencies of links are delays in ns: take flight_time = 0 under [switch]".to_owned());
    }
    Ok(Imported { text: lines, notes })
}

/// The tier whose switches have the links of an exported line below them.
fn tier_of(network: &Network, line: &str) -> Option<u32> {
    let words: Vec<&str> = line.split_whitespace().collect();
    match words.as_slice() {
        ["node", ..] => Some(0),
        // links lead up from the first of their switches
        ["link", from, _, ports, ..] => {
            let from = from.strip_prefix('s')?.parse().ok()?;
            let port = ports.strip_prefix("ports=")?.split(',').next()?.parse().ok()?;
            match network.kind(from, port) {
                ChannelKind::Up { level } => Some(level.into()),
                _ => None,
            }
        }
        _ => None,
    }
}
