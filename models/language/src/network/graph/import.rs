//! Graphs from the files of other programs.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use crate::scenario::{NetworkSpec, PerLevel, TreeDelay, TreeRouting, Wrong};

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

/// The text between the first two quotes.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let rest = text.split_once('"')?.1;
    rest.split_once('"')
}

/// The number between the first brackets, where these come first.
fn bracketed(text: &str) -> Option<u32> {
    text.trim_start().strip_prefix('[')?.split_once(']')?.0.parse().ok()
}

/// A device and one of its ports.
type Port = (String, u32);

/// What InfiniBand's `ibnetdiscover` prints: blocks that begin with `Switch` or `Ca`, and a line for each port in use.
///
/// Switches keep their names (`S-` and the GUID) and ports, one lower than printed; a host has its channel adapter's
/// first name in the comment, one node for each port in use.
///
/// # Errors
/// Ports outside a block, and links that do not lead back.
pub fn from_ibnetdiscover(text: &str) -> Result<Imported, Vec<ImportFault>> {
    let mut wrong = Vec::new();
    // by device and port: device and port at the other end, and the line
    let mut ends: BTreeMap<Port, (Port, usize)> = BTreeMap::new();
    let (mut switches, mut names): (Vec<(String, String)>, BTreeMap<String, String>) = Default::default();
    let mut own: Option<String> = None;
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        let comment = |line: &str| {
            line.split_once('#').and_then(|(_, comment)| quoted(comment)).map(|(name, _)| name.to_owned())
        };
        if line.starts_with("Switch") || line.starts_with("Ca") {
            own = quoted(line).map(|(name, _)| name.to_owned());
            let said = comment(line).unwrap_or_default();
            match &own {
                Some(name) if line.starts_with("Switch") => switches.push((name.clone(), said)),
                Some(name) => {
                    let host = said.split_whitespace().next().unwrap_or(name).to_owned();
                    names.insert(name.clone(), host);
                }
                None => wrong.push(Wrong::at(at, "a device without a name", "a name in quotes")),
            }
        } else if let Some(port) = bracketed(line) {
            let other = quoted(line).and_then(|(name, rest)| Some((name.to_owned(), bracketed(rest)?)));
            match (&own, other) {
                (Some(own), Some(other)) => {
                    ends.insert((own.clone(), port), (other, at));
                }
                (None, _) => {
                    wrong.push(Wrong::at(at, "a port of no device", "a line Switch or Ca before it"))
                }
                (_, None) => wrong.push(Wrong::at(at, "a port without another end", "a name and [port]")),
            }
        }
    }
    for ((own, port), (other, at)) in &ends {
        let back = ends.get(other).map(|(back, _)| back);
        if back != Some(&(own.clone(), *port)) {
            let found = format!("{own}[{port}] to {}[{}], which does not lead back", other.0, other.1);
            wrong.push(Wrong::at(*at, found, "both ends of every link"));
        }
    }
    if switches.is_empty() && wrong.is_empty() {
        wrong.push(Wrong::whole("no switch", "what ibnetdiscover prints"));
    }
    if !wrong.is_empty() {
        return Err(faults(wrong));
    }
    let mut imported = Imported { text: "# from ibnetdiscover\n".to_owned(), notes: Vec::new() };
    for (name, said) in &switches {
        let _ = writeln!(imported.text, "switch {name} # {said}");
    }
    imported.joins(&ends, &names);
    imported.notes.push("widths and speeds of links are left out".to_owned());
    Ok(imported)
}

impl Imported {
    /// Nodes at switches, and links between these, each with its ports.
    fn joins(&mut self, ends: &BTreeMap<Port, (Port, usize)>, names: &BTreeMap<String, String>) {
        let mut used: BTreeMap<String, u32> = BTreeMap::new();
        let mut joined: BTreeMap<(&str, &str), Vec<(u32, u32)>> = BTreeMap::new();
        for ((own, port), ((other, entered), _)) in ends {
            match (names.get(own), names.get(other)) {
                (None, Some(host)) => {
                    // a second adapter or port of a host has a name of its own
                    let count = used.entry(host.clone()).or_default();
                    *count += 1;
                    let name = if *count > 1 { format!("{host}.{count}") } else { host.clone() };
                    let _ = writeln!(self.text, "node {name} {own} port={}", port.saturating_sub(1));
                }
                (None, None) if own < other => {
                    joined
                        .entry((own, other))
                        .or_default()
                        .push((port.saturating_sub(1), entered.saturating_sub(1)));
                }
                _ => {}
            }
        }
        let mut renumbered = 0;
        for ((one, other), ports) in joined {
            let follow = |pair: &[(u32, u32)]| pair[1] == (pair[0].0 + 1, pair[0].1 + 1);
            let (first, links) = (ports[0], ports.len());
            let links = if links > 1 { format!(" links={links}") } else { String::new() };
            let ports = if ports.windows(2).all(follow) {
                format!(" ports={},{}", first.0, first.1)
            } else {
                renumbered += 1;
                String::new()
            };
            let _ = writeln!(self.text, "link {one} {other}{links}{ports}");
        }
        if renumbered > 0 {
            self.notes.push(format!(
                "ports of {renumbered} pairs of switches are numbered anew: parallel links are at ports side by side"
            ));
        }
    }
}

/// What the lines of a `.topo` file say.
#[derive(Default)]
struct Tiers {
    nodes: Option<u32>,
    /// By tier the words of its shape.
    tiers: BTreeMap<u32, BTreeMap<String, u32>>,
    /// Lines that are left out.
    left_out: u32,
}

fn tiers(text: &str, wrong: &mut Vec<Wrong>) -> Tiers {
    let Tiers { mut nodes, mut tiers, mut left_out } = Tiers::default();
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
            ("downlink_speed_gbps" | "switch_latency_ns" | "oversubscribed", Some(_))
            | ("queue_down" | "queue_up", Some(_)) => left_out += 1,
            _ => wrong.push(Wrong::at(at, key, "a word of a .topo file, tiers each behind a line Tier")),
        }
    }
    Tiers { nodes, tiers, left_out }
}

/// A topology of htsim: `Tiers`, and of each tier `Radix_Down`, `Radix_Up`, `Bundle` and `Downlink_Latency_ns`, which
/// becomes the delay of its links.
///
/// # Errors
/// Lines that are none of these, and tiers that do not make a tree.
pub fn from_htsim(text: &str) -> Result<Imported, Vec<ImportFault>> {
    let mut wrong = Vec::new();
    let Tiers { nodes, tiers, left_out } = tiers(text, &mut wrong);
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
            "speeds, latencies of switches, queues and oversubscription are left out, in {left_out} lines"
        ));
    }
    notes.extend(text.without_ways.map(|because| format!("there are no ways: {because}")));
    let mut lines = text.text;
    if latency(0) > 0 {
        let delayed = |line: &str| match line.starts_with("node ") {
            true => format!("{line} delay={}\n", latency(0)),
            false => format!("{line}\n"),
        };
        lines = lines.lines().map(delayed).collect();
    }
    if latency(0) > 0 || delays.iter().any(|delay| *delay > 0) {
        notes.push("latencies of links are delays in ns: take flight_time = 0 under [switch]".to_owned());
    }
    Ok(Imported { text: lines, notes })
}
