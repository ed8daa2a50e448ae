//! The ways of messages through a graph, and whether they can wait for each other in a circle.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, OnceLock};

use super::{Crossed, Graph};
use crate::document::nearest;
use crate::network::Half;
use crate::scenario::{GraphRouting, Refusal};

/// Where there is no way.
const NONE: u16 = u16::MAX;
/// The most entries of a table of ways.
const MOST_ENTRIES: usize = 1 << 25;
/// Links and pairs of a circle that are named.
const MOST_NAMED: usize = 4;

/// Output ports by which switches send on what is for a switch or a node.
#[derive(Debug)]
pub(super) struct Ways {
    pub(super) routing: GraphRouting,
    /// Whether targets of a switch's table are nodes, as where tables are written down; else they are switches.
    pub(super) is_by_node: bool,
    /// Targets of a switch's table.
    pub(super) targets: usize,
    /// By switch and target: the first of the parallel links, or the one of packets.
    pub(super) next: Vec<u16>,
    /// The same of a message that has gone down, with up-down.
    pub(super) down: Vec<u16>,
    /// By pair of nodes, those of the graph where they are written down.
    pub(super) routes: Option<HashMap<(u32, u32), Vec<Crossed>>>,
    /// Whether links are those of packets.
    pub(super) names_links: bool,
    /// The ways of packets, once they have been asked for.
    pub(super) of_packets: OnceLock<Arc<Ways>>,
    /// By switch: its place in the order from the root down, with up-down.
    pub(super) order: Vec<u32>,
    pub(super) most_hops: u32,
    /// Hops of all pairs of two nodes.
    pub(super) all_hops: u64,
    /// Whether every node has a way to every other one.
    pub(super) is_complete: bool,
}

/// Links between switches that wait for others: by channel those that a message takes next, each with the first pair of
/// nodes whose messages do.
struct Waits {
    next: Vec<Vec<(u32, (u32, u32))>>,
}

impl Ways {
    /// # Errors
    /// Why the routing does not lead messages through this graph.
    pub(super) fn new(
        graph: &Graph,
        routing: GraphRouting,
        root: Option<&str>,
    ) -> Result<Self, Vec<Refusal>> {
        let mut ways = match routing {
            GraphRouting::Shortest => Self::shortest(graph),
            GraphRouting::UpDown => Self::up_down(graph, root)?,
            GraphRouting::Tables => Self::tables(graph)?,
        };
        let waits = ways.measure(graph)?;
        match waits.circle() {
            Some(circle) => Err(vec![waits.refusal(graph, &circle)]),
            None => Ok(ways),
        }
    }

    fn empty(graph: &Graph, routing: GraphRouting, targets: usize) -> Self {
        let next = vec![NONE; graph.switches.len() * targets];
        Self {
            routing,
            is_by_node: routing == GraphRouting::Tables,
            targets,
            next,
            down: Vec::new(),
            routes: None,
            names_links: false,
            of_packets: OnceLock::new(),
            order: Vec::new(),
            most_hops: 0,
            all_hops: 0,
            is_complete: true,
        }
    }

    /// At each switch the neighbour of the lowest number that is nearer.
    fn shortest(graph: &Graph) -> Self {
        let count = graph.switches.len();
        let mut ways = Self::empty(graph, GraphRouting::Shortest, count);
        let back = graph.backwards();
        for target in graph.with_nodes() {
            let distances = distances(&back, target);
            for (switch, neighbours) in graph.neighbours.iter().enumerate() {
                let is_nearer = |to: u32| Some(distances[switch]) == distances[to as usize].checked_add(1);
                if let Some(one) = neighbours.iter().find(|one| is_nearer(one.switch)) {
                    ways.next[switch * count + target as usize] = one.port as u16;
                }
            }
        }
        ways
    }

    /// The shortest way of links up, then links down (Schroeder et al., IEEE JSAC 9 (1991) 1318); at each switch the
    /// neighbour of the lowest number on one.
    fn up_down(graph: &Graph, root: Option<&str>) -> Result<Self, Vec<Refusal>> {
        if !graph.is_both_ways {
            let help = "write link for arc, or take routing = \"shortest\"".to_owned();
            let found = "up-down with links one way".to_owned();
            return Err(vec![("routing", found, "links both ways".to_owned(), Some(help))]);
        }
        let count = graph.switches.len();
        let back = graph.backwards();
        let levels = distances(&back, graph.root(root, &back)?);
        let mut sorted: Vec<u32> = (0..count as u32).collect();
        sorted.sort_unstable_by_key(|switch| (levels[*switch as usize], *switch));
        let mut ways = Self::empty(graph, GraphRouting::UpDown, count);
        ways.down = ways.next.clone();
        ways.order = vec![0; count];
        for (place, switch) in sorted.iter().enumerate() {
            ways.order[*switch as usize] = place as u32;
        }
        for target in graph.with_nodes() {
            // links to the target: down only, and by any way
            let mut below = vec![u32::MAX; count];
            below[target as usize] = 0;
            let mut any = below.clone();
            for (switch, is_up) in
                sorted.iter().rev().map(|one| (*one, false)).chain(sorted.iter().map(|one| (*one, true)))
            {
                if switch == target {
                    continue;
                }
                let place = switch as usize * count + target as usize;
                let left = |to: u32| match (ways.order[to as usize] < ways.order[switch as usize], is_up) {
                    (true, true) => any[to as usize],
                    (true, false) => u32::MAX,
                    (false, _) => below[to as usize],
                };
                let neighbours = graph.neighbours[switch as usize].iter();
                let nearest = neighbours.min_by_key(|one| (left(one.switch), one.switch));
                let Some((one, left)) =
                    nearest.map(|one| (one, left(one.switch))).filter(|(_, left)| *left != u32::MAX)
                else {
                    continue;
                };
                let (table, links) =
                    if is_up { (&mut ways.next, &mut any) } else { (&mut ways.down, &mut below) };
                table[place] = one.port as u16;
                links[switch as usize] = left + 1;
            }
        }
        Ok(ways)
    }

    fn tables(graph: &Graph) -> Result<Self, Vec<Refusal>> {
        let nodes = graph.nodes.len();
        let entries = nodes * graph.switches.len().max(nodes);
        if entries > MOST_ENTRIES {
            let found = format!("tables of {} switches for {nodes} nodes", graph.switches.len());
            let wanted = format!("at most {MOST_ENTRIES} pairs of two nodes, or of a switch and a node");
            return Err(vec![("routing", found, wanted, None)]);
        }
        let mut ways = Self::empty(graph, GraphRouting::Tables, nodes);
        for (switch, node, port) in &graph.next {
            let targets = node.map_or(0..nodes, |node| node as usize..node as usize + 1);
            ways.next[*switch as usize * nodes..][targets].fill(*port as u16);
        }
        Ok(ways)
    }

    /// The output port of a switch on the way from a node to another, and the part of the virtual channels behind it;
    /// `None` where there is no way.
    #[inline]
    pub(super) fn step(
        &self,
        graph: &Graph,
        switch: u32,
        source: u32,
        destination: u32,
    ) -> Option<(u32, Half)> {
        let (last, port) = graph.entries[destination as usize];
        if switch == last {
            return Some((port, Half::Lower));
        }
        if self.routing == GraphRouting::Tables
            && let Some(route) = self.routes.as_ref().unwrap_or(&graph.routes).get(&(source, destination))
        {
            return route.iter().find(|(at, ..)| *at == switch).map(|(_, port, part)| (*port, *part));
        }
        let at = self.place(graph, switch, destination);
        let mut next = self.next[at];
        if let Some(down) = self.down.get(at).filter(|down| **down != next)
            && self.has_gone_down(graph, switch, source, destination)
        {
            next = *down;
        }
        (next != NONE).then_some((next.into(), Half::Lower))
    }

    /// Where the output port of a switch towards a node stands in tables.
    #[inline]
    pub(super) fn place(&self, graph: &Graph, switch: u32, destination: u32) -> usize {
        let target = if self.is_by_node { destination } else { graph.entries[destination as usize].0 };
        switch as usize * self.targets + target as usize
    }

    /// Whether a message has gone down before it comes to a switch on its way.
    fn has_gone_down(&self, graph: &Graph, switch: u32, source: u32, destination: u32) -> bool {
        let (mut is_down, mut at) = (false, graph.entries[source as usize].0);
        // a way crosses each switch once
        for _ in 0..graph.switches.len() {
            if at == switch {
                break;
            }
            let table = if is_down { &self.down } else { &self.next };
            let port = table[self.place(graph, at, destination)];
            let Some((next, _)) = graph.end(at, port.into()).input() else { break };
            is_down |= self.order[next as usize] > self.order[at as usize];
            at = next;
        }
        is_down
    }

    /// Nodes that stand for those of a switch, each with how many these are; with tables all nodes.
    pub(super) fn representatives(&self, graph: &Graph) -> Vec<(u32, u64)> {
        if self.routing == GraphRouting::Tables {
            return (0..graph.nodes.len() as u32).map(|node| (node, 1)).collect();
        }
        let mut found: Vec<(u32, u64)> = Vec::new();
        let mut of_switch = vec![usize::MAX; graph.switches.len()];
        for (node, (switch, _)) in (0..).zip(&graph.entries) {
            let place = &mut of_switch[*switch as usize];
            match found.get_mut(*place) {
                Some((_, nodes)) => *nodes += 1,
                None => {
                    *place = found.len();
                    found.push((node, 1));
                }
            }
        }
        found
    }

    /// Follows all pairs of nodes: hops, and which links wait for which.
    ///
    /// # Errors
    /// Two nodes that are not joined, and a table that leads round.
    fn measure(&mut self, graph: &Graph) -> Result<Waits, Vec<Refusal>> {
        let mut waits = Waits { next: vec![Vec::new(); 2 * graph.ends.len()] };
        let nodes = self.representatives(graph);
        for ((source, senders), (destination, receivers)) in
            nodes.iter().flat_map(|source| nodes.iter().map(move |destination| (*source, *destination)))
        {
            let (mut at, mut hops, mut before) = (graph.entries[source as usize].0, 0, None);
            let last = graph.entries[destination as usize].0;
            while at != last {
                let Some((port, part)) = self.step(graph, at, source, destination) else {
                    if self.routing != GraphRouting::Tables {
                        return Err(vec![graph.parted(source, destination)]);
                    }
                    self.is_complete = false;
                    break;
                };
                let channel = 2 * (at * graph.ports + port) + u32::from(part == Half::Upper);
                if let Some(before) = before.replace(channel) {
                    waits.add(before, channel, (source, destination));
                }
                hops += 1;
                let next = graph.end(at, port).input().map(|(next, _)| next);
                at = next.filter(|_| hops as usize <= graph.switches.len()).ok_or_else(|| {
                    let (from, to) = (&graph.nodes[source as usize], &graph.nodes[destination as usize]);
                    let found = format!(
                        "a way from {from} to {to} that comes round to {}",
                        graph.switches[at as usize]
                    );
                    vec![("file", found, "next lines that lead to every node".to_owned(), None)]
                })?;
            }
            self.most_hops = self.most_hops.max(hops);
            self.all_hops += u64::from(hops) * senders * receivers;
        }
        Ok(waits)
    }
}

impl Waits {
    fn add(&mut self, before: u32, channel: u32, pair: (u32, u32)) {
        let next = &mut self.next[before as usize];
        if next.iter().all(|(known, _)| *known != channel) {
            next.push((channel, pair));
        }
    }

    /// Channels that wait for each other, each for the next one and the last for the first; the first of each pair of
    /// nodes whose messages do.
    fn circle(&self) -> Option<Vec<(u32, (u32, u32))>> {
        // 0 not yet seen, 1 on the way here, 2 without a circle
        let mut states = vec![0_u8; self.next.len()];
        for start in 0..self.next.len() {
            if states[start] != 0 {
                continue;
            }
            states[start] = 1;
            let mut stack = vec![(start, 0)];
            while let Some((channel, tried)) = stack.last_mut() {
                let Some((next, _)) = self.next[*channel].get(*tried) else {
                    states[*channel] = 2;
                    stack.pop();
                    continue;
                };
                *tried += 1;
                let next = *next as usize;
                match states[next] {
                    0 => {
                        states[next] = 1;
                        stack.push((next, 0));
                    }
                    1 => {
                        let from = stack.iter().position(|(channel, _)| *channel == next).unwrap_or(0);
                        let taken = |(channel, tried): &(usize, usize)| {
                            (*channel as u32, self.next[*channel][*tried - 1].1)
                        };
                        return Some(stack[from..].iter().map(taken).collect());
                    }
                    _ => {}
                }
            }
        }
        None
    }

    fn refusal(&self, graph: &Graph, circle: &[(u32, (u32, u32))]) -> Refusal {
        let name = |channel: u32| {
            let link = channel / 2;
            let (from, port) = (link / graph.ports, link % graph.ports);
            let to = graph.end(from, port).input().map_or(from, |(to, _)| to);
            format!("{}->{}", graph.switches[from as usize], graph.switches[to as usize])
        };
        let mut links: Vec<String> =
            circle.iter().take(MOST_NAMED).map(|(channel, _)| name(*channel)).collect();
        if circle.len() > MOST_NAMED {
            links.push(format!(".. ({} in all)", circle.len()));
        }
        links.push(name(circle[0].0));
        let found = format!("{} wait for each other", links.join(", "));
        let node = |node: u32| &graph.nodes[node as usize];
        let mut pairs: Vec<String> =
            circle.iter().map(|(_, (from, to))| format!("{} to {}", node(*from), node(*to))).collect();
        pairs.dedup();
        pairs.truncate(3);
        let wanted = "ways that cannot wait for each other in a circle".to_owned();
        let help = format!("take routing = \"up-down\", or other ways for {}", pairs.join(", "));
        ("routing", found, wanted, Some(help))
    }
}

impl Graph {
    /// Switches from which a link leads to each.
    fn backwards(&self) -> Vec<Vec<u32>> {
        let mut back = vec![Vec::new(); self.switches.len()];
        for (switch, neighbours) in (0..).zip(&self.neighbours) {
            neighbours.iter().for_each(|one| back[one.switch as usize].push(switch));
        }
        back
    }

    /// Switches with nodes, in order.
    fn with_nodes(&self) -> Vec<u32> {
        let mut found: Vec<u32> = self.entries.iter().map(|(switch, _)| *switch).collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The switch of that name; else the one from which the farthest is nearest, of equal ones the lowest.
    fn root(&self, name: Option<&str>, back: &[Vec<u32>]) -> Result<u32, Vec<Refusal>> {
        let Some(name) = name else {
            let farthest = |switch: &u32| distances(back, *switch).into_iter().max().unwrap_or(0);
            return Ok((0..self.switches.len() as u32).min_by_key(farthest).unwrap_or(0));
        };
        let found = self.switches.iter().position(|switch| switch == name);
        found.map(|switch| switch as u32).ok_or_else(|| {
            let near = nearest(name, self.switches.iter().map(String::as_str));
            let help = near.map(|near| format!("did you mean \"{near}\"?"));
            vec![("root", format!("\"{name}\""), "the name of a switch".to_owned(), help)]
        })
    }

    fn parted(&self, source: u32, destination: u32) -> Refusal {
        let (from, to) = (&self.nodes[source as usize], &self.nodes[destination as usize]);
        let found = format!("no way from node {from} to node {to}");
        ("file", found, "a graph whose nodes are all joined".to_owned(), None)
    }
}

/// By switch: links on the shortest way to one, by the switches from which links lead to each.
fn distances(back: &[Vec<u32>], to: u32) -> Vec<u32> {
    let mut distances = vec![u32::MAX; back.len()];
    distances[to as usize] = 0;
    let mut next = VecDeque::from([to]);
    while let Some(switch) = next.pop_front() {
        for from in &back[switch as usize] {
            if distances[*from as usize] == u32::MAX {
                distances[*from as usize] = distances[switch as usize] + 1;
                next.push_back(*from);
            }
        }
    }
    distances
}
