//! Nodes that are followed together where all nodes send to all alike.
//!
//! Ways are followed once for all nodes of a router from which they are the same, and to all to which they are the
//! same. Nodes of which both is true, and whose links have the same delay, stand for one another. Elsewhere each node
//! is followed by itself.

use std::collections::BTreeMap;

use flitwise_language::network::Topology;

use super::Traffic;

/// All nodes, and those that are followed together.
#[derive(Clone, Debug, Default)]
pub(crate) struct NodeGroups {
    /// Nodes that stand for one another, in the order of their ports, router by router.
    pub(crate) nodes: Vec<Vec<u32>>,
    /// Places among these from which ways are followed together.
    pub(crate) senders: Vec<Vec<usize>>,
    /// Places to which they are.
    pub(crate) receivers: Vec<Vec<usize>>,
    /// Whether nodes send nothing to themselves.
    leaves_out_sender: bool,
    /// Whether each node is followed by itself.
    are_single: bool,
}

/// What goes from some senders to some receivers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Together {
    /// Place among the groups of senders.
    pub(crate) from: usize,
    /// Place among the groups of receivers.
    pub(crate) to: usize,
    /// Messages from all these senders to all these receivers, per message that each sender generates.
    pub(crate) share: f64,
}

impl NodeGroups {
    /// Those of classes: of several nodes where all classes are sent by all nodes to all alike.
    pub(crate) fn of(network: &dyn Topology, classes: &[Traffic]) -> Self {
        let is_uniform = classes.iter().all(|class| class.is_uniform(network));
        let alike = is_uniform.then(|| Self::alike(network)).filter(|groups| !groups.are_single());
        alike.unwrap_or_else(|| Self::apart(network))
    }

    /// Nodes of a router that are followed together.
    pub(crate) fn alike(network: &dyn Topology) -> Self {
        let kinds = |node: u32| (network.source_kind(node), network.destination_kind(node));
        let mut sorted: Vec<u32> = (0..network.nodes()).collect();
        sorted.sort_by_key(|node| network.entry(*node));
        let nodes = grouped(sorted, |node| {
            let (router, port) = network.entry(*node);
            (router, network.delay(router, port), kinds(*node))
        });
        let of = |kind: &dyn Fn(u32) -> u32| {
            grouped((0..nodes.len()).collect(), |place: &usize| {
                let (router, port) = network.entry(nodes[*place][0]);
                (router, network.delay(router, port), kind(nodes[*place][0]))
            })
        };
        let senders = of(&|node| network.source_kind(node));
        let receivers = of(&|node| network.destination_kind(node));
        let all = network.nodes() as usize;
        let are_single = senders.len() == all && receivers.len() == all;
        Self { nodes, senders, receivers, leaves_out_sender: !network.self_traffic(), are_single }
    }

    /// Every node by itself, in the order of their numbers.
    pub(crate) fn apart(network: &dyn Topology) -> Self {
        let nodes = (0..network.nodes()).map(|node| vec![node]).collect();
        let singly: Vec<Vec<usize>> = (0..network.nodes() as usize).map(|place| vec![place]).collect();
        let (senders, receivers) = (singly.clone(), singly);
        Self { nodes, senders, receivers, leaves_out_sender: !network.self_traffic(), are_single: true }
    }

    /// Whether each node is followed by itself.
    pub(crate) fn are_single(&self) -> bool {
        self.are_single
    }

    /// Nodes of a group of senders, or of receivers.
    pub(crate) fn count(&self, places: &[usize]) -> usize {
        places.iter().map(|place| self.nodes[*place].len()).sum()
    }

    /// Pairs of two nodes at these places of which the one sends to the other.
    pub(crate) fn pairs(&self, from: usize, to: usize) -> usize {
        let itself = from == to && self.leaves_out_sender;
        self.nodes[from].len() * (self.nodes[to].len() - usize::from(itself))
    }

    /// The same of a group of senders and one of receivers.
    pub(crate) fn pairs_of(&self, one: &Together) -> usize {
        let (senders, receivers) = (&self.senders[one.from], &self.receivers[one.to]);
        let all = self.count(senders) * self.count(receivers);
        let both = senders.iter().filter(|place| self.leaves_out_sender && receivers.contains(place));
        all - both.map(|place| self.nodes[*place].len()).sum::<usize>()
    }

    /// Places of the nodes that send a class.
    pub(crate) fn senders_of(&self, class: &Traffic) -> Vec<usize> {
        match self.are_single() {
            true => class.senders.iter().map(|sender| *sender as usize).collect(),
            false => (0..self.nodes.len()).collect(),
        }
    }

    /// Where the messages of a class go.
    pub(crate) fn of_class<'g>(&'g self, class: &'g Traffic) -> Box<dyn Iterator<Item = Together> + 'g> {
        if !self.are_single() {
            return Box::new(self.all());
        }
        Box::new(class.senders.iter().flat_map(move |sender| {
            let one = |(to, share)| Together { from: *sender as usize, to: to as usize, share };
            class.destinations.towards(*sender).each().map(one).collect::<Vec<_>>()
        }))
    }

    /// The messages of all nodes to all alike.
    pub(crate) fn all(&self) -> impl Iterator<Item = Together> {
        let nodes: usize = self.nodes.iter().map(Vec::len).sum();
        let others = (nodes - usize::from(self.leaves_out_sender)) as f64;
        let receivers = move |from: usize| (0..self.receivers.len()).map(move |to| (from, to));
        let together = move |(from, to): (usize, usize)| {
            let one = Together { from, to, share: 0.0 };
            Together { share: self.pairs_of(&one) as f64 / others, ..one }
        };
        (0..self.senders.len()).flat_map(receivers).map(together).filter(|one| one.share > 0.0)
    }

    /// Ways from all groups to all.
    pub(crate) fn all_ways(&self, network: &dyn Topology) -> u64 {
        self.senders.len() as u64 * self.receivers.len() as u64 * u64::from(network.ways())
    }

    /// Ways that are followed of the class of which they are most.
    pub(crate) fn ways(network: &dyn Topology, classes: &[Traffic]) -> u64 {
        let groups = Self::of(network, classes);
        let ways = |class: &Traffic| -> u64 {
            if !groups.are_single() {
                return groups.all_ways(network);
            }
            let towards = class.senders.iter().map(|sender| class.destinations.towards(*sender));
            towards.map(|towards| u64::from(towards.count)).sum::<u64>() * u64::from(network.ways())
        };
        classes.iter().map(ways).max().unwrap_or(0)
    }
}

/// Those with equal keys together, groups in the order of their first ones.
fn grouped<T, K: Ord>(all: Vec<T>, key: impl Fn(&T) -> K) -> Vec<Vec<T>> {
    let mut places: BTreeMap<K, usize> = BTreeMap::new();
    let mut groups: Vec<Vec<T>> = Vec::new();
    for one in all {
        let place = *places.entry(key(&one)).or_insert(groups.len());
        if place == groups.len() {
            groups.push(Vec::new());
        }
        groups[place].push(one);
    }
    groups
}
