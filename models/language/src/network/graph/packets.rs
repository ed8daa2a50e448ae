//! The ways of packets: where links are parallel, the destination names the one that a packet takes.
//!
//! At each switch the destinations that it sends to one neighbour take turns over the `p` links to it: the `k`-th of
//! them, in the order of nodes and from 0, has link `k mod p`. The number of the destination itself would not do:
//! behind tables that go by `d mod p` all packets would take one link.
//!
//! A destination is sent to a neighbour if the way of any source leads there. So all its packets take one link there,
//! whichever their source, and ways that are written down in other words name the same links.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, OnceLock};

use super::Graph;
use super::ways::Ways;
use crate::scenario::GraphRouting;

/// Links from a switch to a neighbour: the switch, the first of their ports, and how many they are.
type Parallel = (u32, u32, u32);

impl Ways {
    /// The same ways with links by the destination of a packet.
    pub(super) fn of_packets(self: &Arc<Self>, graph: &Graph) -> Arc<Self> {
        if self.names_links || graph.most_parallel() == 1 {
            return Arc::clone(self);
        }
        Arc::clone(self.of_packets.get_or_init(|| Arc::new(self.with_named_links(graph))))
    }

    fn with_named_links(&self, graph: &Graph) -> Self {
        let mut named = self.by_node(graph);
        let sources = self.representatives(graph);
        // by first port of parallel links: destinations so far
        let mut turns = vec![0; graph.ends.len()];
        let (mut known, mut on_ways) = (None, BTreeSet::new());
        for destination in 0..graph.nodes.len() as u32 {
            // nodes of a switch are often numbered on, and have the same ways
            let target = self.place(graph, 0, destination);
            if known.replace(target) != Some(target) {
                on_ways = self.parallel_to(graph, destination, sources.iter().map(|(source, _)| *source));
            }
            let mut turn = |(switch, port, links): &Parallel| {
                let turn: &mut u32 = &mut turns[(switch * graph.ports + port) as usize];
                let link = port + *turn % links;
                *turn += 1;
                ((*switch, *port), link)
            };
            let links = on_ways.iter().map(&mut turn).collect();
            named.name(destination, graph, &links);
        }
        named
    }

    /// The same ways, with tables by node.
    fn by_node(&self, graph: &Graph) -> Self {
        let nodes = graph.nodes.len() as u32;
        let table = |of: &[u16]| -> Vec<u16> {
            let switches = if of.is_empty() { 0 } else { graph.switches.len() as u32 };
            let places = (0..switches).flat_map(|at| (0..nodes).map(move |node| (at, node)));
            places.map(|(switch, node)| of[self.place(graph, switch, node)]).collect()
        };
        let is_written = self.routing == GraphRouting::Tables;
        Self {
            routing: self.routing,
            is_by_node: true,
            targets: nodes as usize,
            next: table(&self.next),
            down: table(&self.down),
            routes: is_written.then(|| graph.routes.clone()),
            names_links: true,
            of_packets: OnceLock::new(),
            order: self.order.clone(),
            ..*self
        }
    }

    /// The parallel links of which packets from sources to a node take one.
    fn parallel_to(
        &self,
        graph: &Graph,
        destination: u32,
        sources: impl Iterator<Item = u32>,
    ) -> BTreeSet<Parallel> {
        let mut found = BTreeSet::new();
        let last = graph.entries[destination as usize].0;
        for source in sources {
            let (mut at, mut on_way) = (graph.entries[source as usize].0, Vec::new());
            while at != last {
                let port = self.step(graph, at, source, destination).map(|(port, _)| port);
                let Some(neighbour) = port.and_then(|port| graph.parallel(at, port)) else {
                    on_way.clear(); // there is no way
                    break;
                };
                if neighbour.links > 1 {
                    on_way.push((at, neighbour.port, neighbour.links));
                }
                at = neighbour.switch;
            }
            found.extend(on_way);
        }
        found
    }

    /// Puts links in the place of the first of parallel ones on all ways to a node.
    fn name(&mut self, destination: u32, graph: &Graph, links: &HashMap<(u32, u32), u32>) {
        for ((switch, port), link) in links {
            let place = self.place(graph, *switch, destination);
            for table in [&mut self.next, &mut self.down] {
                if let Some(next) = table.get_mut(place).filter(|next| u32::from(**next) == *port) {
                    *next = *link as u16;
                }
            }
        }
        let Some(routes) = self.routes.as_mut().filter(|routes| !routes.is_empty()) else { return };
        for source in 0..graph.nodes.len() as u32 {
            for (switch, port, _) in routes.get_mut(&(source, destination)).into_iter().flatten() {
                *port = links.get(&(*switch, *port)).copied().unwrap_or(*port);
            }
        }
    }
}
