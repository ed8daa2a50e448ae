//! What InfiniBand's programs print of a fabric: links by `ibnetdiscover`, forwarding tables by `dump_lfts`, `ibroute`
//! or the subnet manager.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::{Capacities, ImportFault, Imported, Wrong, faults};

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

/// Data rates of a lane \[Gb/s\].
const LANE_RATES: [(&str, f64); 10] = [
    ("SDR", 2.0),
    ("DDR", 4.0),
    ("QDR", 8.0),
    ("FDR10", 10.0),
    ("FDR", 13.64),
    ("EDR", 25.0),
    ("HDR", 50.0),
    ("NDR", 100.0),
    ("XDR", 200.0),
    ("GDR", 400.0),
];

/// The data rate at the end of a comment, such as `4xHDR` \[Gb/s\].
fn rate(comment: &str) -> Option<f64> {
    let (width, speed) = comment.split_whitespace().last()?.split_once('x')?;
    let (_, lane) = LANE_RATES.iter().find(|(name, _)| *name == speed)?;
    Some(width.parse::<f64>().ok()? * lane)
}

/// The first local identifier of a comment.
fn lid(comment: &str) -> Option<u32> {
    let mut words = comment.split_whitespace().skip_while(|word| *word != "lid");
    words.nth(1)?.parse().ok()
}

/// The other end of a port's link.
struct End {
    to: Port,
    line: usize,
    /// Data rate \[Gb/s\]; 0 where it is not said.
    rate: f64,
}

/// One of parallel links between two switches: a port of each, and the data rate.
type Parallel = (u32, u32, f64);

/// Devices and links of a fabric.
#[derive(Default)]
struct Fabric {
    ends: BTreeMap<Port, End>,
    /// In their order, each with its description.
    switches: Vec<(String, String)>,
    /// By channel adapter: the host.
    hosts: BTreeMap<String, String>,
    /// By local identifier: the port of a channel adapter.
    lids: BTreeMap<u32, Port>,
    wrong: Vec<Wrong>,
}

impl Fabric {
    fn read(text: &str) -> Self {
        let (mut found, mut own): (Self, Option<String>) = (Self::default(), None);
        for (at, line) in text.lines().enumerate() {
            let line = line.trim();
            let (before, comment) = line.split_once('#').unwrap_or((line, ""));
            if line.starts_with("Switch") || line.starts_with("Ca") {
                own = quoted(before).map(|(name, _)| name.to_owned());
                let said = quoted(comment).map_or("", |(said, _)| said);
                match &own {
                    Some(name) if line.starts_with("Switch") => {
                        found.switches.push((name.clone(), said.to_owned()));
                    }
                    Some(name) => {
                        let host = said.split_whitespace().next().unwrap_or(name).to_owned();
                        found.hosts.insert(name.clone(), host);
                    }
                    None => found.refuse(at, "a device without a name", "a name in quotes"),
                }
            } else if let Some(port) = bracketed(line) {
                let other = quoted(before).and_then(|(name, rest)| Some((name.to_owned(), bracketed(rest)?)));
                match (&own, other) {
                    (Some(own), Some(to)) => {
                        let own = (own.clone(), port);
                        if let Some(lid) = lid(comment).filter(|_| found.hosts.contains_key(&own.0)) {
                            found.lids.insert(lid, own.clone());
                        }
                        found.ends.insert(own, End { to, line: at, rate: rate(comment).unwrap_or(0.0) });
                    }
                    (None, _) => found.refuse(at, "a port of no device", "a line Switch or Ca before it"),
                    (_, None) => found.refuse(at, "a port without another end", "a name and [port]"),
                }
            }
        }
        found.check();
        found
    }

    fn refuse(&mut self, line: usize, found: &str, wanted: &str) {
        self.wrong.push(Wrong::at(line, found, wanted));
    }

    fn check(&mut self) {
        for ((own, port), End { to, line, .. }) in &self.ends {
            let back = self.ends.get(to).map(|end| &end.to);
            if back != Some(&(own.clone(), *port)) {
                let found = format!("{own}[{port}] to {}[{}], which does not lead back", to.0, to.1);
                self.wrong.push(Wrong::at(*line, found, "both ends of every link"));
            }
        }
        if self.switches.is_empty() && self.wrong.is_empty() {
            self.wrong.push(Wrong::whole("no switch", "what ibnetdiscover prints"));
        }
    }

    /// The names of nodes, by port of a channel adapter: a second port of a host has a name of its own.
    fn nodes(&self) -> BTreeMap<&Port, String> {
        let (mut used, mut names): (BTreeMap<&str, u32>, BTreeMap<&Port, String>) = Default::default();
        let at_switches = self.ends.iter().filter(|((own, _), _)| !self.hosts.contains_key(own));
        for End { to, .. } in at_switches.map(|(_, end)| end) {
            let Some(host) = self.hosts.get(&to.0) else { continue };
            let count = used.entry(host).or_default();
            *count += 1;
            names.insert(to, if *count > 1 { format!("{host}.{count}") } else { host.clone() });
        }
        names
    }

    /// Lines of nodes at switches, and of links between these, each with its ports.
    fn joins(&self, imported: &mut Imported) {
        let nodes = self.nodes();
        let capacities = Capacities::of(self.ends.values().map(|end| end.rate), &mut imported.notes);
        let mut joined: BTreeMap<(&str, &str), Vec<Parallel>> = BTreeMap::new();
        for ((own, port), End { to, rate, .. }) in &self.ends {
            let port = port.saturating_sub(1);
            match (self.hosts.contains_key(own), nodes.get(to)) {
                (false, Some(node)) => {
                    let capacity = capacities.option(*rate);
                    let _ = writeln!(imported.text, "node {node} {own} port={port}{capacity}");
                }
                (false, None) if *own < to.0 => {
                    let link = (port, to.1.saturating_sub(1), *rate);
                    joined.entry((own, &to.0)).or_default().push(link);
                }
                _ => {}
            }
        }
        let (mut renumbered, mut uneven) = (0, 0);
        for ((one, other), links) in joined {
            let follow = |pair: &[Parallel]| (pair[1].0, pair[1].1) == (pair[0].0 + 1, pair[0].1 + 1);
            let known = || links.iter().map(|link| link.2).filter(|rate| *rate > 0.0);
            let (first, slowest) = (links[0], known().reduce(f64::min).unwrap_or(0.0));
            uneven += u32::from(known().any(|rate| rate > slowest));
            let ports = if links.windows(2).all(follow) {
                format!(" ports={},{}", first.0, first.1)
            } else {
                renumbered += 1;
                String::new()
            };
            let count = if links.len() > 1 { format!(" links={}", links.len()) } else { String::new() };
            let capacity = capacities.option(slowest);
            let _ = writeln!(imported.text, "link {one} {other}{count}{ports}{capacity}");
        }
        if renumbered > 0 {
            imported.notes.push(format!(
                "ports of {renumbered} pairs of switches are numbered anew: parallel links are at ports side by side"
            ));
        }
        if uneven > 0 {
            imported.notes.push(format!(
                "parallel links between {uneven} pairs of switches have different rates: all have the lowest"
            ));
        }
        let unknown = self.ends.values().filter(|end| end.rate == 0.0).count();
        if unknown > 0 && unknown < self.ends.len() {
            imported.notes.push(format!("{unknown} ports do not say their rate: they have the highest"));
        }
    }

    /// What forwarding tables say.
    ///
    /// # Errors
    /// Lines that are not of such tables, and ways that do not fit the links.
    fn tables<'f>(
        &'f self,
        tables: &str,
        nodes: &'f BTreeMap<&Port, String>,
    ) -> Result<Tables<'f>, Vec<Wrong>> {
        let (mut found, mut wrong, mut switch) = (Tables::default(), Vec::new(), None);
        for (at, line) in tables.lines().enumerate() {
            if let Some((_, behind)) = line.split_once("of switch") {
                let guid = behind.split_once("guid 0x").and_then(|(_, guid)| guid.split_whitespace().next());
                switch = guid.and_then(|guid| self.switch_of(guid));
                if switch.is_none() {
                    let found = format!("a table of switch {}", guid.unwrap_or("without a guid 0x.."));
                    wrong.push(Wrong::at(at, found, "a switch that ibnetdiscover names, as S- and its guid"));
                }
                continue;
            }
            let mut words = line.split_whitespace();
            let lid = words.next().and_then(|lid| u32::from_str_radix(lid.strip_prefix("0x")?, 16).ok());
            let port = words.next().and_then(|port| port.parse::<u32>().ok());
            let (Some(lid), Some(port)) = (lid, port) else { continue };
            let Some(node) = self.lids.get(&lid).and_then(|port| nodes.get(port)) else {
                found.unknown += 1;
                continue;
            };
            let Some(from) = switch else {
                if found.is_empty() && wrong.is_empty() {
                    let wanted = "a line  Unicast lids .. of switch .. guid 0x..";
                    wrong.push(Wrong::at(at, "an entry of no switch", wanted));
                }
                continue;
            };
            match self.ends.get(&(from.to_owned(), port)).map(|end| &end.to) {
                Some(to) if self.hosts.contains_key(&to.0) && nodes.get(to) == Some(node) => {
                    *found.direct.entry(from).or_default() += 1;
                }
                Some(to) if !self.hosts.contains_key(&to.0) => {
                    found.next.entry(from).or_default().insert(node, &to.0);
                    let known = *found.ports.entry((from, &to.0)).or_insert(port);
                    found.is_spread |= known != port;
                }
                _ => {
                    let found = format!("port {port} of {from} towards {node}");
                    wrong.push(Wrong::at(at, found, "a port with a link to a switch, or to that node"));
                }
            }
        }
        if found.is_empty() && wrong.is_empty() {
            wrong.push(Wrong::whole("no entry towards a node", "forwarding tables as dump_lfts prints them"));
        }
        if wrong.is_empty() { Ok(found) } else { Err(wrong) }
    }

    /// The switch of a GUID without `0x`.
    fn switch_of(&self, guid: &str) -> Option<&str> {
        let guid = guid.trim_start_matches('0');
        let mut names = self.switches.iter().map(|(name, _)| name.as_str());
        names.find(|name| name.strip_prefix("S-").is_some_and(|own| own.trim_start_matches('0') == guid))
    }
}

/// What forwarding tables say of nodes.
#[derive(Default)]
struct Tables<'f> {
    /// By switch and node: the neighbour.
    next: BTreeMap<&'f str, BTreeMap<&'f str, &'f str>>,
    /// By switch: nodes at its ports.
    direct: BTreeMap<&'f str, usize>,
    /// By switch and neighbour: the first port that is named.
    ports: BTreeMap<(&'f str, &'f str), u32>,
    /// Whether others are named, too.
    is_spread: bool,
    /// Entries of other destinations.
    unknown: u32,
}

impl Tables<'_> {
    fn is_empty(&self) -> bool {
        self.next.is_empty() && self.direct.is_empty()
    }

    /// Lines of ways: the most frequent neighbour for all nodes where there is an entry for each, then those of other
    /// nodes.
    fn write(&self, nodes: usize, imported: &mut Imported) {
        for (switch, ways) in &self.next {
            let mut by: BTreeMap<&str, u32> = BTreeMap::new();
            ways.values().for_each(|next| *by.entry(next).or_default() += 1);
            let Some((most, _)) = by.iter().max_by_key(|(_, nodes)| **nodes) else { continue };
            let has_all = ways.len() + self.direct.get(switch).copied().unwrap_or(0) >= nodes;
            if has_all {
                let _ = writeln!(imported.text, "next {switch} * : {most}");
            }
            for (node, next) in ways.iter().filter(|(_, next)| !has_all || *next != most) {
                let _ = writeln!(imported.text, "next {switch} {node} : {next}");
            }
        }
        if self.unknown > 0 {
            imported.notes.push(format!(
                "{} entries of forwarding tables are left out: their destinations are not ports of hosts",
                self.unknown
            ));
        }
        if self.is_spread {
            imported.notes.push("which of parallel links the tables name is left out".to_owned());
        }
        imported.notes.push("ways are those of the forwarding tables: take routing = \"tables\"".to_owned());
    }
}

/// What InfiniBand's `ibnetdiscover` prints: blocks that begin with `Switch` or `Ca`, and a line for each port in use,
/// whose width and speed become the capacity of its link; with forwarding tables as `dump_lfts` or `ibroute` print
/// them, ways.
///
/// Switches keep their names (`S-` and the GUID) and ports, one lower than printed; a host has its channel adapter's
/// first name in the comment, one node for each port in use.
///
/// # Errors
/// Ports outside a block, links that do not lead back, and tables that do not fit the links; each fault with whether it
/// is one of the tables.
pub fn from_ibnetdiscover(text: &str, tables: Option<&str>) -> Result<Imported, (Vec<ImportFault>, bool)> {
    let fabric = Fabric::read(text);
    if !fabric.wrong.is_empty() {
        return Err((faults(fabric.wrong), false));
    }
    let mut imported = Imported { text: "# from ibnetdiscover\n".to_owned(), notes: Vec::new() };
    for (name, said) in &fabric.switches {
        let _ = writeln!(imported.text, "switch {name} # {said}");
    }
    fabric.joins(&mut imported);
    if let Some(tables) = tables {
        let nodes = fabric.nodes();
        let tables = fabric.tables(tables, &nodes).map_err(|wrong| (faults(wrong), true))?;
        tables.write(nodes.len(), &mut imported);
    }
    Ok(imported)
}
