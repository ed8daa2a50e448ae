//! Any network as the lines of a graph.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::network::{Half, LinkEnd, LinkTime, Network, Topology};

/// Pairs of nodes whose routes are written one by one.
const MOST_ROUTES: u64 = 1 << 20;
/// Entries of tables that are looked at.
const MOST_ENTRIES: u64 = 1 << 25;

/// The lines of a network as a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exported {
    /// The lines.
    pub text: String,
    /// Why there are no ways among them; `None` where there are, for `routing = "tables"`.
    pub without_ways: Option<String>,
}

/// A network with the names of its nodes and switches.
struct Named<'n> {
    network: &'n dyn Topology,
    is_graph: bool,
}

/// Delay and capacity of a link as options, where they are not the usual ones.
fn time_of(network: &dyn Topology, switch: u32, port: u32) -> String {
    let LinkTime { slowdown, delay } = network.link_time(switch, port);
    let delay = if delay > 0 { format!(" delay={delay}") } else { String::new() };
    if slowdown > 1 { format!("{delay} capacity=1/{slowdown}") } else { delay }
}

impl Named<'_> {
    fn node(&self, node: u32) -> String {
        if self.is_graph { self.network.address(node) } else { format!("n{node}") }
    }

    fn switch(&self, switch: u32) -> String {
        if self.is_graph { self.network.router_address(switch) } else { format!("s{switch}") }
    }

    /// Nodes, and links with all parallel ones.
    fn wiring(&self, text: &mut String) {
        let network = self.network;
        for switch in 0..network.routers() {
            let _ = writeln!(text, "switch {}", self.switch(switch));
        }
        for node in 0..network.nodes() {
            let (switch, port) = network.entry(node);
            let time = time_of(network, switch, port);
            let _ = writeln!(text, "node {} {} port={port}{time}", self.node(node), self.switch(switch));
        }
        for from in 0..network.routers() {
            let mut before = None;
            for port in 0..network.ports() {
                let end = network.link_end(from, port);
                let LinkEnd::Input { router: to, port: entered } = end else { continue };
                if before.replace(to) == Some(to) {
                    continue;
                }
                let is_next = |links: &u32| {
                    network.link_end(from, port + links)
                        == LinkEnd::Input { router: to, port: entered + links }
                };
                let links = 1 + (1..network.ports() - port).take_while(is_next).count();
                let leads_back = network.link_end(to, entered) == LinkEnd::Input { router: from, port };
                if leads_back && to < from {
                    continue;
                }
                let word = if leads_back { "link" } else { "arc" };
                let _ =
                    write!(text, "{word} {} {} ports={port},{entered}", self.switch(from), self.switch(to));
                let links = if links > 1 { format!(" links={links}") } else { String::new() };
                let _ = writeln!(text, "{links}{}", time_of(network, from, port));
            }
        }
    }

    /// The neighbour behind a port.
    fn next(&self, switch: u32, port: u32) -> Option<u32> {
        self.network.link_end(switch, port).input().map(|(next, _)| next)
    }

    /// Where switches send what is for a node: the most frequent neighbour for all nodes, then those of other nodes.
    fn tables(&self, text: &mut String) {
        for switch in 0..self.network.routers() {
            let mut by: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
            for node in 0..self.network.nodes() {
                let port = self.network.route(switch, 0, node, 0);
                if let Some(next) = self.next(switch, port) {
                    by.entry(next).or_default().push(node);
                }
            }
            let Some(most) = by.iter().max_by_key(|(_, nodes)| nodes.len()).map(|(next, _)| *next) else {
                continue;
            };
            let _ = writeln!(text, "next {} * : {}", self.switch(switch), self.switch(most));
            for (next, nodes) in by.iter().filter(|(next, _)| **next != most) {
                for node in nodes {
                    let (switch, next) = (self.switch(switch), self.switch(*next));
                    let _ = writeln!(text, "next {switch} {} : {next}", self.node(*node));
                }
            }
        }
    }

    /// The way of each pair of nodes.
    fn routes(&self, text: &mut String) {
        let nodes = self.network.nodes();
        let pairs = (0..nodes).flat_map(|from| (0..nodes).map(move |to| (from, to)));
        for (from, to) in pairs.filter(|(from, to)| self.network.has_way(*from, *to)) {
            let path: Vec<u32> = self.network.path(from, to, 0).map(|hop| hop.router).collect();
            if path.len() < 2 {
                continue;
            }
            let _ = write!(text, "route {} {} :", self.node(from), self.node(to));
            for switch in &path {
                let _ = write!(text, " {}", self.switch(*switch));
            }
            if self.network.has_rings() {
                let part = |switch: &u32| u32::from(self.network.half(*switch, from, to) == Half::Upper);
                let parts: Vec<String> =
                    path[..path.len() - 1].iter().map(|at| part(at).to_string()).collect();
                let _ = write!(text, " part={}", parts.join(","));
            }
            text.push('\n');
        }
    }
}

/// A network as the lines of a graph, with its ways where these are tables.
///
/// # Errors
/// Why it is no graph.
pub fn exported(network: &Network) -> Result<Exported, String> {
    let is_graph = matches!(network, Network::GraphNetwork(_));
    let network: &dyn Topology = &**network;
    let (nodes, switches) = (u64::from(network.nodes()), u64::from(network.routers()));
    let is_at = |node: u32| {
        let (switch, port) = network.entry(node);
        network.link_end(switch, port) == LinkEnd::Node(node)
    };
    if !(0..network.nodes()).all(is_at) {
        return Err(format!("a {}, whose nodes send at one switch and receive at another", network.name()));
    }
    let mut text = format!("# {}\n", network.name());
    let named = Named { network, is_graph };
    named.wiring(&mut text);
    let by_pair = network.routes_by_source() || network.has_rings();
    let links = (0..network.routers()).flat_map(|at| (0..network.ports()).map(move |port| (at, port)));
    let is_picked = |(at, port): (u32, u32)| {
        let here = named.next(at, port);
        here.is_some()
            && port + 1 < network.ports()
            && here == named.next(at, port + 1)
            && network.parallel(at, port) == 1
    };
    let without_ways = if network.ways() > 1 {
        Some("its ways are drawn or chosen".to_owned())
    } else if links.clone().any(is_picked) {
        Some("its ways name one of several parallel links".to_owned())
    } else if by_pair && nodes * nodes > MOST_ROUTES || nodes * switches > MOST_ENTRIES {
        Some(format!("it has too many of them: {nodes} nodes, {switches} switches"))
    } else {
        None
    };
    match (&without_ways, by_pair) {
        (Some(_), _) => {}
        (None, true) => named.routes(&mut text),
        (None, false) => named.tables(&mut text),
    }
    Ok(Exported { text, without_ways })
}
