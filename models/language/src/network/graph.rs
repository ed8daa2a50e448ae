//! A graph from a file: switches as they are joined, with nodes, and ways as a rule or tables say.

mod export;
mod import;
mod packets;
mod text;
mod ways;

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex};

use super::{ChannelKind, Half, LinkEnd, LinkTime, Topology};
use crate::scenario::{GraphRouting, Refusal, Wrong};
pub use export::{Exported, exported};
pub use import::{ImportFault, Imported, from_anynet, from_htsim, from_ibnetdiscover};
use ways::Ways;

/// Links from a switch to a neighbour.
#[derive(Clone, Copy, Debug)]
struct Neighbour {
    switch: u32,
    /// The first of the parallel links.
    port: u32,
    links: u32,
}

/// Nodes and switches as the lines of a text join them, and the ways through them that have been asked for.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    text: String,
    nodes: Vec<String>,
    /// By name of a node.
    numbers: HashMap<String, u32>,
    switches: Vec<String>,
    /// By node: its switch and port.
    entries: Vec<(u32, u32)>,
    /// Of every switch, open ones included.
    ports: u32,
    /// By switch and port.
    ends: Vec<LinkEnd>,
    /// The same, of the link there.
    times: Vec<LinkTime>,
    /// By switch, in order of their numbers.
    neighbours: Vec<Vec<Neighbour>>,
    /// Whether all links lead both ways.
    is_both_ways: bool,
    /// By pair of nodes: the switches, their output ports and the part of the virtual channels behind each.
    routes: HashMap<(u32, u32), Vec<Crossed>>,
    /// By switch and node, or all nodes: the output port. Later ones win.
    next: Vec<(u32, Option<u32>, u32)>,
    /// Whether a route goes by the upper part of the virtual channels.
    has_parts: bool,
    known: Mutex<Vec<Known>>,
}

/// A switch on a written way: its number, output port, and the part of the virtual channels behind it.
type Crossed = (u32, u32, Half);

/// Ways that have been computed: the routing, the root, and what came of it.
type Known = (GraphRouting, Option<String>, Result<Arc<Ways>, Vec<Refusal>>);

impl Graph {
    /// The graph of a text.
    ///
    /// # Errors
    /// All that is wrong with its lines.
    pub(crate) fn read(text: &str) -> Result<Self, Vec<Wrong>> {
        Ok(Self { text: text.to_owned(), ..text::read(text)? })
    }

    /// Two nodes at a switch, which stand in for a graph that is refused.
    pub(crate) fn least() -> Self {
        Self::read("node 0 0\nnode 1 0\n").expect("a graph")
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    fn port_to(&self, from: u32, to: u32) -> Option<u32> {
        let neighbours = &self.neighbours[from as usize];
        let place = neighbours.binary_search_by_key(&to, |neighbour| neighbour.switch).ok()?;
        Some(neighbours[place].port)
    }

    fn end(&self, switch: u32, port: u32) -> LinkEnd {
        self.ends.get((switch * self.ports + port) as usize).copied().unwrap_or(LinkEnd::Absent)
    }

    /// The parallel links of which one is at a port.
    fn parallel(&self, switch: u32, port: u32) -> Option<&Neighbour> {
        self.neighbours[switch as usize].iter().find(|one| (one.port..one.port + one.links).contains(&port))
    }

    /// The most links from a switch to a neighbour.
    fn most_parallel(&self) -> u32 {
        self.neighbours.iter().flatten().map(|neighbour| neighbour.links).max().unwrap_or(1)
    }

    fn ways(&self, routing: GraphRouting, root: Option<&str>) -> Result<Arc<Ways>, Vec<Refusal>> {
        let mut known = self.known.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let is_of = |known: &&Known| known.0 == routing && known.1.as_deref() == root;
        if let Some((.., found)) = known.iter().find(is_of) {
            return found.clone();
        }
        let found = Ways::new(self, routing, root).map(Arc::new);
        known.push((routing, root.map(str::to_owned), found.clone()));
        found
    }

    /// What is refused of a routing through it.
    pub(crate) fn refusals(&self, routing: GraphRouting, root: Option<&str>) -> Vec<Refusal> {
        self.ways(routing, root).err().unwrap_or_default()
    }
}

/// A graph and the ways of messages through it.
#[derive(Clone, Debug)]
pub struct GraphNetwork {
    graph: Arc<Graph>,
    ways: Arc<Ways>,
    routing: GraphRouting,
    root: Option<String>,
    self_traffic: bool,
}

impl PartialEq for GraphNetwork {
    fn eq(&self, other: &Self) -> bool {
        let is_same = Arc::ptr_eq(&self.graph, &other.graph) || self.graph.text == other.graph.text;
        is_same
            && (self.routing, &self.root, self.self_traffic)
                == (other.routing, &other.root, other.self_traffic)
            && self.ways.names_links == other.ways.names_links
    }
}

impl Eq for GraphNetwork {}

impl GraphNetwork {
    /// As its keys say; the least graph where they are refused.
    pub(crate) fn new(
        graph: &Arc<Graph>,
        routing: GraphRouting,
        root: Option<String>,
        self_traffic: Option<bool>,
    ) -> Self {
        let self_traffic = self_traffic.unwrap_or(false);
        match graph.ways(routing, root.as_deref()) {
            Ok(ways) => Self { graph: Arc::clone(graph), ways, routing, root, self_traffic },
            Err(_) => Self::new(&Arc::new(Graph::least()), GraphRouting::Shortest, None, Some(self_traffic)),
        }
    }

    /// The same with the ways of packets, whose destinations name one of parallel links.
    pub(super) fn of_packets(self) -> Self {
        Self { ways: self.ways.of_packets(&self.graph), ..self }
    }

    fn others(&self) -> f64 {
        f64::from(self.nodes() - u32::from(!self.self_traffic))
    }

    fn name_of(&self, switch: u32) -> &str {
        &self.graph.switches[switch as usize]
    }

    fn step(&self, switch: u32, source: u32, destination: u32) -> (u32, Half) {
        let found = self.ways.step(&self.graph, switch, source, destination);
        // no port is there, so that the path that is followed says so
        found.unwrap_or((self.graph.ports, Half::Lower))
    }
}

impl Topology for GraphNetwork {
    fn nodes(&self) -> u32 {
        self.graph.nodes.len() as u32
    }

    fn routers(&self) -> u32 {
        self.graph.switches.len() as u32
    }

    fn ports(&self) -> u32 {
        self.graph.ports
    }

    fn self_traffic(&self) -> bool {
        self.self_traffic
    }

    fn most_hops(&self) -> u32 {
        self.ways.most_hops
    }

    fn mean_hops(&self) -> f64 {
        self.ways.all_hops as f64 / f64::from(self.nodes()) / self.others()
    }

    fn has_way(&self, source: u32, destination: u32) -> bool {
        if self.ways.is_complete {
            return true;
        }
        let mut at = self.graph.entries[source as usize].0;
        loop {
            let Some((port, _)) = self.ways.step(&self.graph, at, source, destination) else { return false };
            match self.graph.end(at, port) {
                LinkEnd::Input { router, .. } => at = router,
                end => return end == LinkEnd::Node(destination),
            }
        }
    }

    fn has_all_ways(&self) -> bool {
        self.ways.is_complete
    }

    #[inline]
    fn route(&self, router: u32, source: u32, destination: u32, _: u32) -> u32 {
        self.step(router, source, destination).0
    }

    fn routes_by_source(&self) -> bool {
        self.routing != GraphRouting::Shortest
    }

    fn source_kind(&self, node: u32) -> u32 {
        if self.routing == GraphRouting::Tables { node } else { 0 }
    }

    fn destination_kind(&self, node: u32) -> u32 {
        self.source_kind(node)
    }

    fn may_be_switched(&self) -> bool {
        self.graph.is_both_ways && !self.has_rings()
    }

    fn router_address(&self, router: u32) -> String {
        self.name_of(router).to_owned()
    }

    fn parallel_links(&self) -> u32 {
        if self.ways.names_links { 1 } else { self.graph.most_parallel() }
    }

    fn parallel(&self, router: u32, port: u32) -> u32 {
        let neighbour = self.graph.parallel(router, port).filter(|_| !self.ways.names_links);
        neighbour.map_or(1, |neighbour| neighbour.links)
    }

    fn has_rings(&self) -> bool {
        self.routing == GraphRouting::Tables && self.graph.has_parts
    }

    fn half(&self, router: u32, source: u32, destination: u32) -> Half {
        self.step(router, source, destination).1
    }

    fn route_and_half(&self, router: u32, source: u32, destination: u32, _: u32) -> (u32, Half) {
        self.step(router, source, destination)
    }

    fn entry(&self, node: u32) -> (u32, u32) {
        self.graph.entries[node as usize]
    }

    fn link_end(&self, router: u32, port: u32) -> LinkEnd {
        self.graph.end(router, port)
    }

    fn link_times(&self) -> BTreeSet<LinkTime> {
        self.graph.times.iter().copied().filter(|time| *time != LinkTime::USUAL).collect()
    }

    fn link_time(&self, router: u32, port: u32) -> LinkTime {
        self.graph.times[(router * self.graph.ports + port) as usize]
    }

    fn kind(&self, router: u32, port: u32) -> ChannelKind {
        match self.graph.end(router, port) {
            LinkEnd::Node(_) => ChannelKind::Ejection,
            _ => ChannelKind::Link,
        }
    }

    fn size(&self) -> (u32, &'static str) {
        (self.nodes(), "nodes")
    }

    fn name(&self) -> String {
        let (nodes, switches) = (self.nodes(), self.routers());
        let switches = if switches == 1 { "1 switch".to_owned() } else { format!("{switches} switches") };
        format!("graph of {nodes} nodes, {switches}")
    }

    fn short_name(&self) -> String {
        "graph".to_owned()
    }

    fn description(&self) -> String {
        format!("a {}, {} routing", self.name(), self.routing.word())
    }

    fn node_named(&self, name: &str) -> Option<u32> {
        self.graph.numbers.get(name).copied()
    }

    fn address(&self, node: u32) -> String {
        self.graph.nodes[node as usize].clone()
    }

    fn port_name(&self, router: u32, port: u32) -> String {
        let LinkEnd::Input { router: next, .. } = self.graph.end(router, port) else {
            return self.kind(router, port).to_string();
        };
        let to = format!("link to switch {}", self.name_of(next));
        match self.graph.parallel(router, port) {
            Some(one) if one.links > 1 => format!("{to}, number {}", port - one.port),
            _ => to,
        }
    }

    fn shared_links(&self) -> &'static str {
        "links between switches and to nodes"
    }
}

#[cfg(test)]
mod tests;
