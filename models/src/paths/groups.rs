//! Nodes that are followed together where all nodes send to all alike.
//!
//! Nodes of one router stand for one another as senders if their links have the same delay and ways from them are the
//! same, as receivers if ways to them are. Elsewhere each node is followed by itself.

use std::collections::BTreeMap;

use flitwise_language::network::Topology;

use super::Traffic;

/// All nodes, each once as a sender and once as a receiver, with those that stand for it.
#[derive(Clone, Debug, Default)]
pub(crate) struct NodeGroups {
    /// Nodes of a router in the order of their ports, router by router.
    pub(crate) senders: Vec<Vec<u32>>,
    /// The same.
    pub(crate) receivers: Vec<Vec<u32>>,
    /// Whether nodes send nothing to themselves.
    leaves_out_sender: bool,
}

/// What goes from some senders to some receivers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Together {
    /// Place among the groups of senders.
    pub(crate) from: usize,
    /// Place among the groups of receivers.
    pub(crate) to: usize,
    /// Pairs of a sender and a receiver.
    pub(crate) pairs: f64,
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

    /// Nodes of a router that stand for one another.
    fn alike(network: &dyn Topology) -> Self {
        let grouped = |kind: &dyn Fn(u32) -> u32| {
            let mut groups: BTreeMap<(u32, u32, u32), Vec<u32>> = BTreeMap::new();
            let mut nodes: Vec<u32> = (0..network.nodes()).collect();
            nodes.sort_by_key(|node| network.entry(*node));
            for node in nodes {
                let (router, port) = network.entry(node);
                groups.entry((router, network.delay(router, port), kind(node))).or_default().push(node);
            }
            let mut groups: Vec<Vec<u32>> = groups.into_values().collect();
            groups.sort_by_key(|nodes| network.entry(nodes[0]));
            groups
        };
        let senders = grouped(&|node| network.source_kind(node));
        let receivers = grouped(&|node| network.destination_kind(node));
        Self { senders, receivers, leaves_out_sender: !network.self_traffic() }
    }

    /// Every node by itself, in the order of their numbers.
    pub(crate) fn apart(network: &dyn Topology) -> Self {
        let senders: Vec<Vec<u32>> = (0..network.nodes()).map(|node| vec![node]).collect();
        Self { receivers: senders.clone(), senders, leaves_out_sender: !network.self_traffic() }
    }

    /// Whether each node is followed by itself.
    fn are_single(&self) -> bool {
        self.senders.iter().chain(&self.receivers).all(|nodes| nodes.len() == 1)
    }

    /// The groups that send a class.
    pub(crate) fn senders_of(&self, class: &Traffic) -> Vec<usize> {
        match self.are_single() {
            true => class.senders.iter().map(|sender| *sender as usize).collect(),
            false => (0..self.senders.len()).collect(),
        }
    }

    /// Where the messages of a class go.
    pub(crate) fn of_class<'g>(&'g self, class: &'g Traffic) -> Box<dyn Iterator<Item = Together> + 'g> {
        if self.are_single() {
            return Box::new(class.senders.iter().flat_map(move |sender| {
                let one = |(to, share)| Together { from: *sender as usize, to: to as usize, pairs: 1.0, share };
                class.destinations.towards(*sender).each().map(one).collect::<Vec<_>>()
            }));
        }
        let others = class.senders.len() - usize::from(self.leaves_out_sender);
        let receivers = move |from: usize| (0..self.receivers.len()).map(move |to| (from, to));
        let together = move |(from, to): (usize, usize)| {
            let pairs = self.pairs(from, to);
            Together { from, to, pairs, share: pairs / others as f64 }
        };
        Box::new((0..self.senders.len()).flat_map(receivers).map(together).filter(|one| one.pairs > 0.0))
    }

    /// Pairs of two groups of which the one sends to the other.
    fn pairs(&self, from: usize, to: usize) -> f64 {
        let (senders, receivers) = (&self.senders[from], &self.receivers[to]);
        let all = senders.len() * receivers.len();
        let themselves = senders.iter().filter(|_| self.leaves_out_sender);
        (all - themselves.filter(|node| receivers.contains(node)).count()) as f64
    }

    /// Ways that are followed: of classes that go the same ways once.
    pub(crate) fn ways(network: &dyn Topology, classes: &[Traffic]) -> u64 {
        let groups = Self::of(network, classes);
        let pairs = |class: &Traffic| -> u64 {
            if !groups.are_single() {
                return groups.senders.len() as u64 * groups.receivers.len() as u64;
            }
            let towards = class.senders.iter().map(|sender| class.destinations.towards(*sender));
            towards.map(|towards| u64::from(towards.count)).sum()
        };
        let is_first = |place: &usize| !classes[..*place].iter().any(|other| other.is_as(&classes[*place]));
        let different = (0..classes.len()).filter(is_first);
        different.map(|place| pairs(&classes[place])).sum::<u64>() * u64::from(network.ways())
    }
}
