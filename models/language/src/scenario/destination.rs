//! `destination` of a class: where its messages go.
//!
//! A sender chooses at random, or a named pattern gives it one destination: those of Dally and Towles, *Principles and
//! Practices of Interconnection Networks* (2004), table 3.1. Patterns move the coordinates of routers, and keep the
//! index of a node at its router, or they move the bits of node numbers.

use std::sync::Arc;

use serde::{Serialize, Serializer};
use serde_json::json;

use super::Scenario;
use super::check::joined;
use super::declare::*;
use super::matrix::{MatrixSpec, Weights};
use super::nodes::{self, NodeList, WANTED};
use super::pairs::PairSpec;
use super::reader::read_table;
use crate::document::{Value, nearest, one_of};
use crate::network::Topology;

/// Where the messages of a class go.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum DestinationSpec {
    /// All nodes alike.
    #[default]
    Uniform,
    /// The nodes of a list alike.
    Nodes(NodeList),
    /// One node more than the others.
    Hot(HotSpot),
    /// One destination for each sender, by the name of a pattern.
    Named(DestinationPattern),
    /// One destination for each sender, by a rule or drawn.
    Paired(PairSpec),
    /// Destinations of each sender by weight.
    Matrix(MatrixSpec),
}

table! {
    /// A hot spot: a share of the messages goes to one node, the others to all nodes alike.
    #[derive(Copy)]
    pub struct HotSpot {
        /// The hot node.
        hot: u32 = 0, within(0.0, 65_535.0).wanted();
        /// Share of the messages that choose the hot node; others may go there, too.
        share: f64 = 0.0, within(0.0, 1.0).wanted();
    }
}

impl Rules for HotSpot {}

words! {
    /// A pattern that gives each sender one destination.
    pub enum DestinationPattern {
        /// The first two coordinates exchanged where they are all and of equal range, else the halves of the address.
        Transpose "transpose",
        /// `ceil(k / 2) - 1` further in every dimension, round the ring of `k`.
        Tornado "tornado",
        /// One further in every dimension, round the ring.
        Neighbour "neighbour",
        /// All bits of the number of the node inverted.
        BitComplement "bit-complement",
        /// The bits of the number of the node in reverse order.
        BitReverse "bit-reverse",
        /// The bits of the number of the node moved up by one, the highest to the lowest place.
        Shuffle "shuffle",
    }
}

impl DestinationPattern {
    /// What the pattern wants of a network that does not allow it.
    fn wants(self, network: &dyn Topology) -> Option<&'static str> {
        let sides = network.sides();
        let bits = |count: u32| count.is_power_of_two().then(|| count.trailing_zeros());
        match self {
            Self::Transpose if is_square(&sides) => None,
            Self::Transpose => (!bits(addresses(network)).is_some_and(|bits| bits.is_multiple_of(2)))
                .then_some("two equal radices, or addresses of an even number of bits"),
            Self::Tornado | Self::Neighbour => {
                sides.is_empty().then_some("a network whose routers have coordinates")
            }
            Self::BitComplement | Self::BitReverse | Self::Shuffle => {
                bits(network.nodes()).is_none().then_some("a network of 2^m nodes")
            }
        }
    }

    /// The destination of a node in a network that allows the pattern.
    fn of(self, node: u32, network: &dyn Topology) -> u32 {
        let bits = network.nodes().trailing_zeros();
        let all = network.nodes() - 1;
        match self {
            Self::BitComplement => !node & all,
            Self::BitReverse => node.reverse_bits() >> (u32::BITS - bits),
            Self::Shuffle => (node << 1 | node >> (bits - 1)) & all,
            Self::Transpose if network.sides().is_empty() => halves_exchanged(node, network.nodes()),
            _ => {
                let each = network.nodes() / network.routers();
                self.of_router(node / each, network) * each + node % each
            }
        }
    }

    /// The router that the coordinates of one are moved to.
    fn of_router(self, router: u32, network: &dyn Topology) -> u32 {
        let sides = network.sides();
        if self == Self::Transpose {
            return match sides.as_slice() {
                [side, _] if is_square(&sides) => router % side * side + router / side,
                _ => halves_exchanged(router, network.routers()),
            };
        }
        let (mut rest, mut below, mut moved) = (router, 1, 0);
        for side in sides {
            let further = if self == Self::Tornado { side.div_ceil(2) - 1 } else { 1 };
            moved += (rest + further) % side * below;
            (rest, below) = (rest / side, below * side);
        }
        moved
    }
}

fn is_square(sides: &[u32]) -> bool {
    matches!(sides, [x, y] if x == y)
}

/// What has an address that is cut in halves: routers, or the nodes of a single one.
fn addresses(network: &dyn Topology) -> u32 {
    if network.sides().is_empty() { network.nodes() } else { network.routers() }
}

/// The halves of an address exchanged, of `2^m` with an even `m`.
fn halves_exchanged(address: u32, count: u32) -> u32 {
    let half = count.trailing_zeros() / 2;
    (address >> half | address << half) & (count - 1)
}

/// The destinations of a class in a network.
#[derive(Clone, Debug)]
pub struct Destinations {
    nodes: u32,
    self_traffic: bool,
    to: DestinationSpec,
    /// The nodes of a list, in order; of patterns and pairs the destination of each node.
    list: Vec<u32>,
    /// Of a matrix.
    weights: Arc<Weights>,
}

/// Where the messages of one sender go: with probability [`share`](Self::share) to [`hot`](Self::hot), else to one of
/// [`count`](Self::count) nodes alike.
#[derive(Clone, Copy, Debug)]
pub struct Towards<'d> {
    /// The hot node.
    pub hot: u32,
    /// Probability that a message goes there before anything else is drawn; 0 without a hot node.
    pub share: f64,
    /// Nodes to choose from; 0 where the sender has nobody to send to.
    pub count: u32,
    /// The nodes of a list; `None` where they are numbered on from `first`.
    list: Option<&'d [u32]>,
    /// Of nodes with weights: the share of the messages up to each, itself included.
    up_to: Option<&'d [f64]>,
    first: u32,
    /// The place of the sender, which is left out.
    without: u32,
}

impl Towards<'_> {
    /// The same but for the node at a place.
    fn without(self, place: u32) -> Self {
        Self { count: self.count - 1, without: place, ..self }
    }

    /// The node at a place below [`count`](Self::count).
    #[inline]
    pub fn node(&self, place: u32) -> u32 {
        let place = if place >= self.without { place + 1 } else { place };
        self.list.map_or(self.first + place, |list| list[place as usize])
    }

    /// Of nodes that are not chosen alike: the share of the messages that goes to each or to one before it.
    #[inline]
    pub fn up_to(&self) -> Option<&[f64]> {
        self.up_to
    }

    /// Whether every node but perhaps the sender may be chosen.
    pub fn is_all(&self) -> bool {
        self.list.is_none() && self.count > 1
    }

    /// Every destination with its probability, which add up to 1; none where the sender has nobody to send to.
    pub fn each(self) -> impl Iterator<Item = (u32, f64)> {
        let alike = (1.0 - self.share) / f64::from(self.count.max(1));
        let chosen = (0..self.count).map(move |place| {
            let node = self.node(place);
            let before = |up_to: &[f64]| place.checked_sub(1).map_or(0.0, |before| up_to[before as usize]);
            let one = self.up_to.map_or(alike, |up_to| up_to[place as usize] - before(up_to));
            (node, if self.share > 0.0 && node == self.hot { one + self.share } else { one })
        });
        chosen.filter(|(_, probability)| *probability > 0.0)
    }
}

impl Destinations {
    /// Whether all senders choose among all nodes alike.
    pub fn is_uniform(&self) -> bool {
        self.to.is_uniform()
    }

    /// Whether the senders of another class in the same network choose as these do.
    pub fn is_as(&self, other: &Self) -> bool {
        self.to == other.to
    }

    /// How often a sender generates messages, over the mean of all senders of the class.
    pub fn relative_rate(&self, sender: u32) -> f64 {
        self.weights.relative_rate(sender)
    }

    /// Whether all senders generate messages alike often.
    pub fn has_one_rate(&self) -> bool {
        self.weights.mean_rate.is_none()
    }

    /// The most of [`relative_rate`](Self::relative_rate).
    pub(super) fn most_relative_rate(&self) -> f64 {
        self.weights.most_relative_rate()
    }

    /// The mean rate of senders, where destinations say it \[messages/cycle, or messages/ns of packet switches\].
    pub(super) fn mean_rate(&self) -> Option<f64> {
        self.weights.mean_rate
    }

    /// Whether any of the listed nodes has a destination; all nodes are listed where there is no list.
    fn has_sender(&self, listed: Option<&NodeList>) -> bool {
        let sends = |node: u32| node < self.nodes && self.towards(node).count > 0;
        listed.map_or_else(|| (0..self.nodes).any(sends), |listed| listed.nodes().any(sends))
    }

    /// Where the messages of a sender go.
    ///
    /// Without self traffic random choices leave out the sender, and a fixed point of a named pattern sends nothing.
    ///
    /// ```
    /// # use flitwise_language::scenario::{DestinationSpec, HotSpot, NetworkSpec};
    /// let cube = NetworkSpec::Hypercube { dimension: 2, self_traffic: None }.topology();
    /// let destinations = DestinationSpec::Hot(HotSpot { hot: 3, share: 0.5 }).on(&*cube);
    /// let each: Vec<(u32, f64)> = destinations.towards(0).each().collect();
    /// assert_eq!(each, [(1, 0.5 / 3.0), (2, 0.5 / 3.0), (3, 0.5 / 3.0 + 0.5)]);
    /// ```
    pub fn towards(&self, sender: u32) -> Towards<'_> {
        let (nodes, with_self) = (self.nodes, self.self_traffic);
        let all = Towards {
            hot: 0,
            share: 0.0,
            count: nodes,
            list: None,
            up_to: None,
            first: 0,
            without: u32::MAX,
        };
        match &self.to {
            DestinationSpec::Uniform if with_self => all,
            DestinationSpec::Uniform => all.without(sender),
            // the hot node leaves itself out, however it is chosen
            DestinationSpec::Hot(spot) if !with_self && spot.hot == sender => all.without(sender),
            DestinationSpec::Hot(HotSpot { hot, share }) => {
                let all = Towards { hot: *hot, share: *share, ..all };
                if with_self { all } else { all.without(sender) }
            }
            DestinationSpec::Nodes(_) => {
                let (list, count) = (self.list.as_slice(), self.list.len() as u32);
                let all = Towards { list: Some(list), count, ..all };
                let place = list.binary_search(&sender).ok().filter(|_| !with_self);
                place.map_or(all, |place| all.without(place as u32))
            }
            DestinationSpec::Named(_) => {
                let first = self.list[sender as usize];
                Towards { first, count: u32::from(with_self || first != sender), ..all }
            }
            DestinationSpec::Paired(_) => {
                let first = self.list[sender as usize];
                Towards { first, count: u32::from(first != sender), ..all }
            }
            DestinationSpec::Matrix(_) => match self.weights.of(sender) {
                ([first], _) => Towards { first: *first, count: 1, ..all },
                (list, up_to) => {
                    Towards { list: Some(list), up_to: Some(up_to), count: list.len() as u32, ..all }
                }
            },
        }
    }
}

impl DestinationSpec {
    /// Whether all nodes are alike.
    pub fn is_uniform(&self) -> bool {
        *self == Self::Uniform
    }

    /// Whether they say at which rate each sender generates messages.
    pub(super) fn has_rates(&self) -> bool {
        matches!(self, Self::Matrix(matrix) if matrix.matrix.has_rates())
    }

    /// The destinations in a network that allows them.
    pub fn on(&self, network: &dyn Topology) -> Destinations {
        let mut list: Vec<u32> = match self {
            Self::Nodes(list) => list.nodes().collect(),
            Self::Named(pattern) => (0..network.nodes()).map(|node| pattern.of(node, network)).collect(),
            Self::Paired(pairs) => pairs.partners(network.nodes()),
            _ => Vec::new(),
        };
        if matches!(self, Self::Nodes(_)) {
            list.sort_unstable();
        }
        let (nodes, self_traffic) = (network.nodes(), network.self_traffic());
        let weights = match self {
            Self::Matrix(matrix) => matrix.matrix.on(network),
            _ => Arc::default(),
        };
        Destinations { nodes, self_traffic, to: self.clone(), list, weights }
    }

    fn json(&self) -> serde_json::Value {
        match self {
            Self::Uniform => json!(UNIFORM),
            Self::Nodes(list) => list.json(),
            Self::Hot(spot) => json!(spot),
            Self::Named(pattern) => json!(pattern),
            Self::Paired(pairs) => json!(pairs),
            Self::Matrix(matrix) => json!(matrix),
        }
    }

    /// Refuses destinations that the network does not allow, and senders with nobody to send to.
    pub(super) fn fits(&self, senders: Option<&NodeList>, class: &str, door: &mut Door) {
        let path = &format!("{class}.destination");
        let Some(network) = door.known_network().filter(|_| !door.has_refused(path)) else { return };
        if let Self::Named(pattern) = self
            && let Some(wanted) = pattern.wants(&*network)
        {
            let found = format!("\"{}\" on a {}", pattern.word(), network.name());
            return door.refuse(path, found, wanted, None);
        }
        let senders_are_read = door.is_read(&format!("{class}.nodes"));
        if let Self::Named(pattern) = self
            && senders_are_read
            && !self.on(&*network).has_sender(senders)
        {
            let found = format!("\"{}\", which leads every sender to itself", pattern.word());
            let help = "take another pattern, or \"uniform\"";
            return door.refuse(path, found, "a pattern that leads a sender to another node", Some(help));
        }
        if let Self::Paired(pairs) = self
            && pairs.has_rule()
            && senders_are_read
            && (pairs.is_idle(network.nodes()) || !self.on(&*network).has_sender(senders))
        {
            let found = "a destination by which nobody sends".to_owned();
            let wanted = "one that leads a sender to another node";
            let help = format!("take another number, or other nodes: there are {}", network.nodes());
            return door.refuse(path, found, wanted, Some(&help));
        }
        if let Self::Matrix(matrix) = self {
            if !door.is_read(&format!("{path}.matrix")) {
                return;
            }
            matrix.matrix.fits(&*network, path, door);
            if !door.has_refused(path) && senders_are_read && !self.on(&*network).has_sender(senders) {
                let found = "a matrix by which none of the nodes sends".to_owned();
                return door.refuse(path, found, "a row of a sender with a weight above 0", None);
            }
        }
        if senders_are_read && !network.has_all_ways() {
            let destinations = self.on(&*network);
            let all = senders
                .map_or_else(|| (0..network.nodes()).collect(), |listed| listed.nodes().collect::<Vec<_>>());
            let pairs = all.into_iter().filter(|sender| *sender < network.nodes()).flat_map(|sender| {
                destinations.towards(sender).each().map(move |(to, _)| (sender, to)).collect::<Vec<_>>()
            });
            if let Some((from, to)) = pairs.into_iter().find(|(from, to)| !network.has_way(*from, *to)) {
                let found =
                    format!("node {} to node {}, without a way", network.address(from), network.address(to));
                let help = "add a line  route  for the pair, or  next  for its switches";
                return door.refuse(path, found, "nodes that have a way to their destinations", Some(help));
            }
        }
        // a fixed point of a named pattern sends nothing, which is noted
        let only = match self {
            Self::Nodes(list) => list.nodes().take(2).collect(),
            Self::Hot(HotSpot { hot, share: 1.0 }) => vec![*hot],
            _ => Vec::new(),
        };
        let ([only], false) = (only.as_slice(), network.self_traffic()) else { return };
        if senders_are_read && senders.is_none_or(|senders| senders.nodes().any(|sender| sender == *only)) {
            let found = format!("node {only} alone, which sends itself");
            let help = format!("leave node {only} out of nodes, or name another destination");
            door.refuse(path, found, "a destination beside the sender for every sender", Some(&help));
        }
    }
}

impl Scenario {
    /// By class: where its messages go.
    pub fn destinations(&self, class: usize) -> Destinations {
        self.classes()[class].destination.on(&*self.topology())
    }

    /// The nodes that send messages of a class: those listed, but for fixed points of its pattern.
    pub fn senders(&self, class: usize) -> Vec<u32> {
        let destinations = self.destinations(class);
        let listed = self.classes()[class].nodes.as_ref().map(NodeList::nodes);
        let all = if listed.is_some() { 0..0 } else { 0..destinations.nodes };
        let listed = listed.into_iter().flatten().chain(all);
        let mut senders: Vec<u32> = listed.filter(|node| destinations.towards(*node).count > 0).collect();
        senders.sort_unstable();
        senders
    }

    /// Whether all nodes send messages of a class, to all nodes alike: by default, or by lists of all of them.
    pub fn is_uniform(&self, class: usize) -> bool {
        let (spec, nodes) = (&self.classes()[class], self.topology().nodes() as usize);
        let is_all = |list: &NodeList| list.nodes().count() == nodes;
        let to_all = match &spec.destination {
            DestinationSpec::Uniform => true,
            DestinationSpec::Nodes(list) => is_all(list),
            DestinationSpec::Hot(spot) => spot.share == 0.0,
            DestinationSpec::Named(_) | DestinationSpec::Paired(_) | DestinationSpec::Matrix(_) => false,
        };
        to_all && spec.nodes.as_ref().is_none_or(is_all)
    }

    /// Share of the nodes that send messages of a class.
    pub fn sending_share(&self, class: usize) -> f64 {
        let spec = &self.classes()[class];
        match (&spec.nodes, &spec.destination) {
            (None, DestinationSpec::Uniform | DestinationSpec::Nodes(_) | DestinationSpec::Hot(_)) => 1.0,
            _ => self.senders(class).len() as f64 / f64::from(self.topology().nodes()),
        }
    }

    /// Rate of a class over all nodes, those that do not send it included \[messages/cycle/node\].
    pub fn mean_rate(&self, class: usize) -> f64 {
        self.classes()[class].rate * self.sending_share(class)
    }

    /// Rate of all classes over all nodes \[messages/cycle/node\].
    pub fn mean_rate_of_all(&self) -> f64 {
        (0..self.classes().len()).map(|class| self.mean_rate(class)).sum()
    }

    /// The note that some listed senders of a class are fixed points of its pattern and send nothing.
    pub fn fixed_points(&self, class: usize) -> Option<String> {
        let spec = &self.classes()[class];
        let DestinationSpec::Named(pattern) = spec.destination else { return None };
        let listed =
            spec.nodes.as_ref().map_or(self.topology().nodes() as usize, |list| list.nodes().count());
        let fixed = listed - self.senders(class).len();
        let nodes = if fixed == 1 { "node is a fixed point" } else { "nodes are fixed points" };
        let sends = if fixed == 1 { "sends" } else { "send" };
        let note = format!("{}: {fixed} {nodes} of \"{}\" and {sends} nothing", spec.name, pattern.word());
        (fixed > 0).then_some(note)
    }
}

const UNIFORM: &str = "uniform";

impl Serialize for DestinationSpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.json().serialize(serializer)
    }
}

/// The words that may stand there.
fn all_words() -> impl Iterator<Item = &'static str> {
    [UNIFORM].into_iter().chain(DestinationPattern::ALL.map(DestinationPattern::word))
}

impl KeyValue for DestinationSpec {
    const KIND: Kind = Kind::Other(|| {
        let words: Vec<&str> = all_words().collect();
        let tables = [HotSpot::KIND.schema(), PairSpec::KIND.schema(), MatrixSpec::KIND.schema()];
        let all: Vec<_> = [json!({ "enum": words }), nodes::schema()].into_iter().chain(tables).collect();
        json!({ "anyOf": all })
    });

    fn unset() -> Self {
        Self::Uniform
    }
}

impl Field for DestinationSpec {
    fn read(&mut self, reader: &mut Reader, table: &Table<'_>, key: &Key, units: &Units) -> bool {
        let Some(node) = reader.note(table, key.name) else { return false };
        let path = table.key(key.name);
        let is_word = |text: &str| text.starts_with(|first: char| first.is_alphabetic());
        match &node.value {
            Value::Table(entries) => {
                let table = Table { entries, path: path.into(), place: &node.place };
                if PairSpec::KEYS.iter().any(|key| table.get(key).is_some()) {
                    let mut pairs = PairSpec::unset();
                    read_table(&mut pairs, reader, &table, Some("{ shift = 5 }"), units);
                    *self = Self::Paired(pairs);
                } else if table.get("matrix").is_some() {
                    let mut matrix = MatrixSpec::unset();
                    read_table(&mut matrix, reader, &table, None, units);
                    *self = Self::Matrix(matrix);
                } else {
                    let mut spot = HotSpot::unset();
                    read_table(&mut spot, reader, &table, Some("{ hot = 32, share = 0.1 }"), units);
                    *self = Self::Hot(spot);
                }
            }
            Value::Text(text) if text == UNIFORM => *self = Self::Uniform,
            Value::Text(text) if is_word(text) => {
                let named = DestinationPattern::ALL.into_iter().find(|pattern| pattern.word() == text);
                let Some(named) = named else {
                    let help = nearest(text, all_words()).map(|word| format!("did you mean \"{word}\"?"));
                    reader.refuse_kind(node, path, &one_of(all_words()), help);
                    return false;
                };
                *self = Self::Named(named);
            }
            _ => {
                let wanted = format!(
                    "{}, {WANTED}, {{ hot = 32, share = 0.1 }}, or {{ shift = 5 }}",
                    one_of(all_words())
                );
                let Some(list) = NodeList::read_node(reader, node, &path, &wanted) else { return false };
                *self = Self::Nodes(list);
            }
        }
        true
    }

    fn check(&self, door: &mut Door, key: &Key, path: &str) {
        let path = joined(path, key.name);
        match self {
            Self::Uniform | Self::Named(_) | Self::Matrix(_) => {}
            Self::Paired(pairs) => door.table(pairs, &path),
            Self::Nodes(list) => list.check_nodes(door, &path),
            Self::Hot(spot) => {
                door.table(spot, &path);
                let hot = format!("{path}.hot");
                if !door.has_refused(&hot) {
                    NodeList::of([spot.hot]).check_nodes(door, &hot);
                }
            }
        }
    }

    fn written(&self) -> Option<String> {
        match self {
            Self::Uniform => None,
            Self::Hot(spot) => super::writer::in_line(spot),
            Self::Nodes(list) => list.written(),
            Self::Named(pattern) => pattern.written(),
            Self::Paired(pairs) => super::writer::in_line(pairs),
            Self::Matrix(matrix) => super::writer::in_line(matrix),
        }
    }

    fn in_short(&self) -> Option<String> {
        match self {
            Self::Matrix(matrix) => matrix.matrix.in_short().map(|text| format!("{{ matrix = {text} }}")),
            _ => self.written(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{NetworkSpec, Radix, ScenarioSpec};

    fn lattice(sides: &[u32], nodes_per_router: u32, wraps: bool) -> NetworkSpec {
        let (radix, dimensions, links) = (Radix::of(sides).unwrap(), None, 1);
        if wraps {
            NetworkSpec::Torus { radix, dimensions, nodes_per_router, links, self_traffic: None }
        } else {
            NetworkSpec::Mesh { radix, dimensions, nodes_per_router, links, self_traffic: None }
        }
    }

    fn read(network: &str, class: &str) -> Result<Scenario, Vec<String>> {
        let text = format!(
            "[network]\n{network}\n[[class]]\nname = \"a\"\nkind = \"best-effort\"\nrate = 0.01\n\
             virtual_channels = 2\n{class}\n"
        );
        let read = Scenario::from_toml("t", &text);
        read.map_err(|faults| faults.iter().map(ToString::to_string).collect())
    }

    const MESH: &str = "topology = \"mesh\"\nradix = [4, 4]";

    #[test]
    fn patterns_are_those_of_the_table() {
        let image = |pattern: DestinationPattern, network: &NetworkSpec| {
            let network = network.topology();
            assert_eq!(pattern.wants(&*network), None);
            (0..network.nodes()).map(|node| pattern.of(node, &*network)).collect::<Vec<_>>()
        };
        let cube = NetworkSpec::Hypercube { dimension: 3, self_traffic: None };
        assert_eq!(image(DestinationPattern::BitComplement, &cube), [7, 6, 5, 4, 3, 2, 1, 0]);
        assert_eq!(image(DestinationPattern::BitReverse, &cube), [0, 4, 2, 6, 1, 5, 3, 7]);
        assert_eq!(image(DestinationPattern::Shuffle, &cube), [0, 2, 4, 6, 1, 3, 5, 7]);
        assert_eq!(image(DestinationPattern::Neighbour, &cube), [7, 6, 5, 4, 3, 2, 1, 0]);
        assert_eq!(image(DestinationPattern::Tornado, &cube), [0, 1, 2, 3, 4, 5, 6, 7]);
        let square = lattice(&[3, 3], 1, false);
        assert_eq!(image(DestinationPattern::Transpose, &square), [0, 3, 6, 1, 4, 7, 2, 5, 8]);
        assert_eq!(image(DestinationPattern::Neighbour, &square), [4, 5, 3, 7, 8, 6, 1, 2, 0]);
        let pairs = lattice(&[5], 2, true);
        assert_eq!(image(DestinationPattern::Tornado, &pairs), [4, 5, 6, 7, 8, 9, 0, 1, 2, 3]);
        // halves of the address: of four bits, of a router's two
        let transpose =
            image(DestinationPattern::Transpose, &NetworkSpec::Router { ports: 16, self_traffic: None });
        assert_eq!(transpose[..6], [0, 4, 8, 12, 1, 5]);
        let line = image(DestinationPattern::Transpose, &lattice(&[4], 2, false));
        assert_eq!(line, [0, 1, 4, 5, 2, 3, 6, 7]);
    }

    #[test]
    fn a_pattern_that_nobody_sends_by_is_refused() {
        let faults = |network: &str, class: &str| {
            read(network, class).err().into_iter().flatten().collect::<Vec<String>>().join("; ")
        };
        // half of a ring of two, less one, is nowhere
        let cube = "topology = \"hypercube\"\ndimension = 5";
        let refused = faults(cube, "destination = \"tornado\"");
        assert!(refused.contains("found \"tornado\", which leads every sender to itself"), "{refused}");
        let refused = faults(MESH, "nodes = [0, 5]\ndestination = \"transpose\"");
        assert!(refused.contains("leads every sender to itself"), "{refused}");
        assert_eq!(faults(MESH, "nodes = [0, 6]\ndestination = \"transpose\""), "");
        // nothing is said of nodes that there are not
        let refused = faults(MESH, "nodes = [0, 99]\ndestination = \"transpose\"");
        assert!(refused.contains("wanted nodes 0 to 15"), "{refused}");
    }

    #[test]
    fn faults_of_a_mesh_come_together() {
        let mesh = "topology = \"mesh\"\nradix = [4, 100]\nnodes_per_router = 100\nlinks = 20";
        let faults = read(mesh, "destination = \"shufle\"").unwrap_err();
        for key in ["radix", "nodes_per_router", "links", "class.a.destination"] {
            assert!(faults.iter().any(|fault| fault.contains(key)), "{key} is not in {faults:?}");
        }
    }

    #[test]
    fn probabilities_add_up_and_leave_the_sender_out() {
        let networks = [
            NetworkSpec::Router { ports: 16, self_traffic: None },
            NetworkSpec::Hypercube { dimension: 4, self_traffic: None },
            lattice(&[4, 4], 1, true),
            lattice(&[2, 4], 2, false),
        ];
        let lists = [NodeList::of([3]), NodeList::of([9, 1, 5])].map(DestinationSpec::Nodes);
        let spots = [0.0, 0.3, 1.0].map(|share| DestinationSpec::Hot(HotSpot { hot: 5, share }));
        let named = DestinationPattern::ALL.map(DestinationSpec::Named);
        let pairs = [
            PairSpec { shift: Some(5), ..PairSpec::unset() },
            PairSpec { permutation: Some(1), ..PairSpec::unset() },
            PairSpec { bisection: Some(3), both_ways: Some(false), ..PairSpec::unset() },
        ];
        let pairs = pairs.map(DestinationSpec::Paired);
        let all: Vec<_> = [DestinationSpec::Uniform]
            .into_iter()
            .chain(lists)
            .chain(spots)
            .chain(named)
            .chain(pairs)
            .collect();
        for (network, spec) in networks.iter().flat_map(|n| all.iter().map(|spec| (n.topology(), spec))) {
            if let DestinationSpec::Named(pattern) = spec
                && pattern.wants(&*network).is_some()
            {
                continue;
            }
            let destinations = spec.on(&*network);
            for sender in 0..network.nodes() {
                let towards = destinations.towards(sender);
                let each: Vec<(u32, f64)> = towards.each().collect();
                let total: f64 = each.iter().map(|(_, probability)| probability).sum();
                let wanted = if towards.count == 0 { 0.0 } else { 1.0 };
                assert!((total - wanted).abs() < 1e-12, "{spec:?}: {total}");
                let inside = |node: u32| node < network.nodes() && (network.self_traffic() || node != sender);
                assert!(each.iter().all(|(node, _)| inside(*node)), "{spec:?} {sender}");
            }
        }
    }

    #[test]
    fn nodes_send_to_themselves_where_it_is_said() {
        let nodes = |network: &str| {
            let scenario = read(network, "").unwrap();
            assert_eq!(Scenario::from_toml("t", &scenario.spec().to_toml()).unwrap(), scenario);
            (scenario.destinations(0).towards(3).count, scenario.spec().to_toml().contains("self_traffic"))
        };
        let router = "topology = \"router\"\nports = 16";
        for (network, usual) in [(router, 16), (MESH, 15)] {
            let says = |said: bool| nodes(&format!("{network}\nself_traffic = {said}"));
            assert_eq!(nodes(network), (usual, false));
            // what the topology has anyway is not written
            assert_eq!([says(false), says(true)], [(15, usual == 16), (16, usual == 15)]);
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        for class in [
            "",
            "destination = 7",
            "destination = \"4-7\"",
            "nodes = \"0-15/4\"\ndestination = [1, \"4-7\"]",
            "nodes = [0, 5]\ndestination = { hot = 3, share = 0.25 }",
            "nodes = [0, 5]\ndestination = { hot = 0, share = 1 }",
            "destination = \"transpose\"",
            "destination = { shift = 5 }",
            "nodes = \"0-7\"\ndestination = { permutation = 7 }",
            "destination = { bisection = 0, both_ways = false }",
        ] {
            let class = if class == "destination = 7" { "nodes = \"0-6\"\ndestination = 7" } else { class };
            let found = match read(MESH, class) {
                Err(faults) => {
                    assert!(class.contains("share = 1") && faults.len() == 1, "{class}: {faults:?}");
                    continue;
                }
                Ok(scenario) => scenario,
            };
            let text = found.spec().to_toml();
            assert!(text.contains(&format!("{class}\n")), "{text}");
            assert_eq!(Scenario::from_toml("t", &text).unwrap(), found);
        }
        let json = serde_json::to_value(read(MESH, "").unwrap().spec()).unwrap();
        assert!(json["class"][0].get("destination").is_none() && json["class"][0].get("nodes").is_none());
    }

    #[test]
    fn senders_are_those_listed_that_have_somebody_to_send_to() {
        let senders = |class: &str| read(MESH, class).unwrap().senders(0);
        assert_eq!(senders("nodes = [9, \"0-3\"]"), [0, 1, 2, 3, 9]);
        assert_eq!(senders("nodes = \"0-5\"\ndestination = \"transpose\""), [1, 2, 3, 4]);
        assert_eq!(senders("").len(), 16);
    }

    #[test]
    fn every_fault_is_told_at_its_place() {
        let refused = |network: &str, class: &str| read(network, class).unwrap_err();
        let alone = "t:9:15: class.a.destination: found node 3 alone, which sends itself, wanted a destination \
                     beside the sender for every sender\n  help: leave node 3 out of nodes, or name another \
                     destination";
        let ring = "topology = \"torus\"\nradix = [3, 3]";
        for (network, class, wanted) in [
            (MESH, "destination = 3", alone),
            (
                MESH,
                "destination = \"0-16\"",
                "t:9:15: class.a.destination: found node 16, wanted nodes 0 to 15 of the network",
            ),
            (
                MESH,
                "nodes = [3, \"2-4\"]",
                "t:9:13: class.a.nodes[2]: found node 3 a second time, wanted each node once",
            ),
            (
                MESH,
                "nodes = []",
                "t:9:9: class.a.nodes: found no node, wanted a node, nodes such as \"0-47\" or \"0-63/4\", or \
                 a list of them",
            ),
            (
                MESH,
                "nodes = [1, \"4-2\"]",
                "t:9:13: class.a.nodes[2]: found \"4-2\", wanted a node, or nodes such as \"0-47\" or \"0-63/4\"",
            ),
            (
                MESH,
                "destination = { hot = 99, share = 0.1 }",
                "t:9:23: class.a.destination.hot: found node 99, wanted nodes 0 to 15 of the network",
            ),
            (
                MESH,
                "destination = { hot = 9, share = 1.5 }",
                "t:9:34: class.a.destination.share: found 1.5, wanted 0 to 1",
            ),
            (
                MESH,
                "destination = { hot = 9 }",
                "t:9:15: class.a.destination.share: found nothing, wanted a number\n  help: { hot = 32, share = 0.1 }",
            ),
            (
                ring,
                "destination = \"bit-reverse\"",
                "t:9:15: class.a.destination: found \"bit-reverse\" on a 3x3 torus of 9 nodes, wanted a network \
                 of 2^m nodes",
            ),
        ] {
            assert_eq!(refused(network, class), [wanted], "{class}");
        }
        let two = refused(MESH, "nodes = 16\ndestination = \"tornadoes\"");
        assert!(two.len() == 2 && two[1].ends_with("help: did you mean \"tornado\"?"), "{two:?}");
        let single = refused("topology = \"router\"\nports = 8", "destination = \"tornado\"");
        assert!(single[0].ends_with("wanted a network whose routers have coordinates"), "{single:?}");
        // nothing is held against a network that is refused itself
        assert_eq!(refused("topology = \"mash\"", "destination = 99").len(), 1);
        assert_eq!(refused("topology = \"mesh\"\nradix = [64, 64, 64]", "destination = 99999").len(), 1);
        let spec = ScenarioSpec {
            network: NetworkSpec::Hypercube { dimension: 0, self_traffic: None },
            ..ScenarioSpec::default()
        };
        assert_eq!(spec.check().unwrap_err().len(), 1);
    }
}
