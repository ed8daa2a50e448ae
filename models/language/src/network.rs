//! Networks: how nodes, routers and channels are joined, and which way messages go. Each topology has a file of its
//! own.

mod fat_tree;
mod graph;
mod hypercube;
mod lattice;
mod multistage;
mod single;

pub use fat_tree::FatTree;
pub(crate) use graph::Graph;
pub use graph::{Exported, GraphNetwork, ImportFault, Imported, exported};
pub use graph::{from_anynet, from_htsim, from_ibnetdiscover};
pub use hypercube::Hypercube;
pub use lattice::{Mesh, Torus};
pub use multistage::{Multistage, SIDE};
pub use single::Single;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::scenario::{NetworkSpec, TreeKeys};

/// What a channel is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ChannelKind {
    /// From a node into its router.
    Injection,
    /// From router to router.
    Network {
        /// The dimension along which it leads.
        dimension: u8,
    },
    /// From a router to its node.
    Ejection,
    /// From a switch of a graph to another.
    Link,
    /// From a switch of a tree to the next level.
    Up {
        /// The level from which it leads, 1 at the leaves.
        level: u8,
    },
    /// From a switch of a tree to the level below.
    Down {
        /// The level to which it leads, 1 at the leaves.
        level: u8,
    },
}

impl ChannelKind {
    /// Whether it is from router to router.
    pub fn is_between_routers(self) -> bool {
        !matches!(self, Self::Injection | Self::Ejection)
    }

    /// Its place in tables, in which messages meet channels: injection first, ejection last.
    pub fn order(self) -> (u8, i16) {
        match self {
            Self::Injection => (0, 0),
            Self::Network { dimension } => (1, dimension.into()),
            Self::Link => (1, 0),
            Self::Up { level } => (2, level.into()),
            Self::Down { level } => (3, -i16::from(level)),
            Self::Ejection => (4, 0),
        }
    }
}

impl std::fmt::Display for ChannelKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Injection => f.write_str("injection"),
            Self::Network { dimension } => write!(f, "dimension {dimension}"),
            Self::Link => f.write_str("link"),
            Self::Ejection => f.write_str("ejection"),
            Self::Up { level } => write!(f, "up {level}"),
            Self::Down { level } => write!(f, "down {level}"),
        }
    }
}

/// Where a link from a router ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkEnd {
    /// At an input port of a router.
    Input {
        /// The router.
        router: u32,
        /// Its input port.
        port: u32,
    },
    /// At a node.
    Node(u32),
    /// Nowhere: the router has no such link.
    Absent,
}

impl LinkEnd {
    /// Router and input port, if it is at any.
    pub fn input(self) -> Option<(u32, u32)> {
        match self {
            Self::Input { router, port } => Some((router, port)),
            _ => None,
        }
    }
}

/// What a link takes for what is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkTime {
    /// `c` of a capacity of `1 / c`: how many times as long as others the link is busy with a flit or packet.
    pub slowdown: u32,
    /// On top of the usual time from end to end \[ns of packet switches, cycles of routers\].
    pub delay: u32,
}

impl LinkTime {
    /// That of links of full capacity, without a delay.
    pub const USUAL: Self = Self { slowdown: 1, delay: 0 };
}

/// A router on the way of a message, and the link over which the message leaves it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    /// The router.
    pub router: u32,
    /// Its output port; the first of parallel links.
    pub port: u32,
    /// Where the link ends: at the next router, or at the destination.
    pub end: LinkEnd,
}

impl Hop {
    /// Whether it leads to another router, over a network channel.
    pub fn is_between_routers(&self) -> bool {
        self.end.input().is_some()
    }
}

/// Which half of its virtual channels a message takes on a ring, so that no circle of messages waits for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    /// Before the dateline.
    Lower,
    /// On the channel across the dateline and behind it.
    Upper,
}

/// Messages on a link per message of every node, where all send to all alike.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct UniformRate {
    /// All of them.
    pub all: f64,
    /// Those that start at the router of the link.
    pub started: f64,
}

/// Output ports of a router of which it chooses one for a message, by what it knows of the links behind them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidates {
    /// The first of them; they are numbered on from there.
    pub first: u32,
    /// How many there are.
    pub count: u32,
    /// The one that is taken of equal ones, else the next one from there, round.
    pub preferred: u32,
}

impl Candidates {
    /// Whether an output port is one of them.
    pub fn has(self, port: u32) -> bool {
        (self.first..self.first + self.count).contains(&port)
    }

    /// All of them, the preferred one first: of equal ones the first is taken.
    pub fn in_turn(self) -> impl Iterator<Item = u32> {
        (self.preferred..self.first + self.count).chain(self.first..self.preferred)
    }
}

/// What a topology says of itself. Nodes, routers and ports are numbered from 0.
pub trait Topology {
    /// Nodes.
    fn nodes(&self) -> u32;

    /// Routers along each dimension, in the order in which messages cross them; none where they have no coordinates.
    /// Coordinates of a router are the digits of its number, dimension 0 the lowest.
    fn sides(&self) -> Vec<u32> {
        Vec::new()
    }

    /// Whether the dimensions part, a symmetry that saves following all paths: routers are numbered by their
    /// coordinates, nodes router by router; a message crosses the dimensions in order, and its way in each depends on
    /// the coordinates in that dimension alone.
    fn is_dimension_ordered(&self) -> bool {
        false
    }

    /// Routers, all alike.
    fn routers(&self) -> u32;

    /// Ports of a router.
    fn ports(&self) -> u32;

    /// Whether a node may send to itself, so that random destinations include the sender.
    fn self_traffic(&self) -> bool;

    /// The most network channels that a message crosses.
    fn most_hops(&self) -> u32;

    /// Network channels that a message with uniform destination crosses on average.
    fn mean_hops(&self) -> f64;

    /// Network channels from node to node, by every way.
    fn hops(&self, source: u32, destination: u32) -> u32 {
        self.path(source, destination, 0).count() as u32 - 1
    }

    /// Ways of which one is drawn for every message, all alike, when it is generated; 1 where nothing is drawn.
    fn ways(&self) -> u32 {
        1
    }

    /// Whether routers choose by the state of the network: then ways stand for what they choose, all alike.
    fn is_adaptive(&self) -> bool {
        false
    }

    /// Ways of which one is drawn when a message is generated: none where routers choose.
    fn drawn_ways(&self) -> u32 {
        if self.is_adaptive() { 1 } else { self.ways() }
    }

    /// Where a router chooses: the output ports that a message may take; `None` where there is one. Whichever it is,
    /// the output ports of the routers behind are the same, but for those that choose anew.
    fn candidates(&self, _router: u32, _source: u32, _destination: u32) -> Option<Candidates> {
        None
    }

    /// The output port of `router` on a way, below [`ways`](Self::ways), from the node `source` to the node
    /// `destination`; the first of parallel links of which the router chooses.
    fn route(&self, router: u32, source: u32, destination: u32, way: u32) -> u32;

    /// Whether ways to all nodes of a router are the same but for the last link, and that has the number of the node's
    /// input port.
    fn routes_by_router(&self) -> bool {
        false
    }

    /// Whether the way to a node depends on where it begins, also for nodes of one router.
    fn routes_by_source(&self) -> bool {
        false
    }

    /// A number that nodes of a router share from which ways are the same but for the first link, whichever node they
    /// lead to.
    fn source_kind(&self, node: u32) -> u32 {
        node
    }

    /// A number that nodes of a router share to which ways are the same but for the last link, whichever node they come
    /// from; that link has the number of the node's input port.
    fn destination_kind(&self, node: u32) -> u32 {
        node
    }

    /// What the link at an output port carries where all nodes send to all alike, averaged over all ways; `None` where
    /// there is no closed form.
    fn uniform_rate(&self, _router: u32, _port: u32) -> Option<UniformRate> {
        None
    }

    /// Whether messages get from one node to another: written tables may leave out pairs of nodes.
    fn has_way(&self, _source: u32, _destination: u32) -> bool {
        true
    }

    /// Whether all nodes have a way to all others.
    fn has_all_ways(&self) -> bool {
        true
    }

    /// The routers between two nodes in the order in which a message crosses them on a way, each with the link that it
    /// leaves by; the last link ends at `destination`.
    ///
    /// # Panics
    /// Where [`route`](Self::route) leads round in a circle, over a link that is absent, or to another node.
    fn path(&self, source: u32, destination: u32, way: u32) -> Box<dyn Iterator<Item = Hop> + '_> {
        let (mut next, mut left) = (Some(self.entry(source).0), self.routers());
        Box::new(std::iter::from_fn(move || {
            let router = next?;
            let port = self.route(router, source, destination, way);
            let end = self.link_end(router, port);
            next = end.input().map(|(router, _)| router);
            // no router is crossed twice
            left -= u32::from(left > 0);
            assert!(
                if next.is_some() { left > 0 } else { end == LinkEnd::Node(destination) },
                "{}: the route from node {source} to node {destination} does not get there, see router {router}",
                self.name()
            );
            Some(Hop { router, port, end })
        }))
    }

    /// Whether its routers may be packet switches.
    fn may_be_switched(&self) -> bool {
        false
    }

    /// Rows of routers: stages, or levels of a tree; 1 where they are all alike.
    fn rows(&self) -> u32 {
        1
    }

    /// The row of a router, from 0.
    fn row(&self, _router: u32) -> u32 {
        0
    }

    /// What a row is called, such as `stage 0`.
    fn row_name(&self, row: u32) -> String {
        format!("row {row}")
    }

    /// The number of a router as people write it.
    fn router_address(&self, router: u32) -> String {
        self.address(router)
    }

    /// The most parallel links from a router to another of which it chooses one for each message.
    fn parallel_links(&self) -> u32 {
        1
    }

    /// Parallel links from an output port on, of which a router chooses one for each message; 1 of a link to a node.
    fn parallel(&self, router: u32, port: u32) -> u32 {
        if self.link_end(router, port).input().is_some() { self.parallel_links() } else { 1 }
    }

    /// Whether network channels form rings, so that messages take halves of their virtual channels.
    fn has_rings(&self) -> bool {
        false
    }

    /// Whether a message on its way leaves `router` behind the dateline of a ring.
    fn half(&self, _router: u32, _source: u32, _destination: u32) -> Half {
        Half::Lower
    }

    /// [`Self::route`] and [`Self::half`] in one go.
    fn route_and_half(&self, router: u32, source: u32, destination: u32, way: u32) -> (u32, Half) {
        (self.route(router, source, destination, way), self.half(router, source, destination))
    }

    /// Router and input port that the injection link of a node leads to.
    fn entry(&self, node: u32) -> (u32, u32);

    /// Where the link at an output port of `router` ends.
    fn link_end(&self, router: u32, port: u32) -> LinkEnd;

    /// The times of links other than the usual one.
    fn link_times(&self) -> BTreeSet<LinkTime> {
        BTreeSet::new()
    }

    /// Times of the link at an output port of a router, or of that from a node at this port.
    fn link_time(&self, _router: u32, _port: u32) -> LinkTime {
        LinkTime::USUAL
    }

    /// The delays other than 0 that links have on top of the usual time \[ns of packet switches, cycles of routers\].
    fn delays(&self) -> BTreeSet<u32> {
        self.link_times().into_iter().map(|time| time.delay).filter(|delay| *delay > 0).collect()
    }

    /// Time that packets or flits take on the link at an output port of a router, or on that from a node at this port,
    /// on top of the usual one \[ns of packet switches, cycles of routers\].
    fn delay(&self, router: u32, port: u32) -> u32 {
        self.link_time(router, port).delay
    }

    /// Whether any link has less capacity than the others.
    fn has_slow_links(&self) -> bool {
        self.link_times().iter().any(|time| time.slowdown > 1)
    }

    /// `c` of the link at an output port of a router that has a capacity of `1 / c`, or of that from a node at this
    /// port.
    fn slowdown(&self, router: u32, port: u32) -> u32 {
        self.link_time(router, port).slowdown
    }

    /// What the link at an output port of a router is for.
    fn kind(&self, router: u32, port: u32) -> ChannelKind;

    /// Its size and what it is a size of, such as `4 dimensions`.
    fn size(&self) -> (u32, &'static str);

    /// In words, such as `4-cube of 16 nodes`.
    fn name(&self) -> String;

    /// In one or two words, such as `4-cube`.
    fn short_name(&self) -> String;

    /// A sentence's words, with the paper's symbols.
    fn description(&self) -> String;

    /// The node that is written so: by its number.
    fn node_named(&self, name: &str) -> Option<u32> {
        name.parse().ok().filter(|node: &u32| *node < self.nodes() && node.to_string() == name)
    }

    /// The number of a node as people write it.
    fn address(&self, node: u32) -> String;

    /// Which way the link at an output port of a router leads, such as `dimension 0 up`.
    fn port_name(&self, router: u32, port: u32) -> String {
        self.kind(router, port).to_string()
    }

    /// The links that classes share, in words.
    fn shared_links(&self) -> &'static str;
}

/// Declares the topologies: the type, and how it is made from the specification.
macro_rules! topologies {
    ($($topology:ident: $spec:pat => $made:expr,)+) => {
        /// A network of any topology.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum Network {
            $(
                #[doc = concat!("See [`", stringify!($topology), "`].")]
                $topology($topology),
            )+
        }

        impl From<&NetworkSpec> for Network {
            fn from(spec: &NetworkSpec) -> Self {
                match spec.clone() {
                    $($spec => Self::$topology($made),)+
                }
            }
        }

        impl std::ops::Deref for Network {
            type Target = dyn Topology;

            fn deref(&self) -> &Self::Target {
                match self {
                    $(Self::$topology(topology) => topology,)+
                }
            }
        }
    };
}

topologies! {
    Single: NetworkSpec::Router { ports, self_traffic } =>
        Single { ports, self_traffic: self_traffic.unwrap_or(true) },
    Hypercube: NetworkSpec::Hypercube { dimension, self_traffic } =>
        Hypercube { dimension, self_traffic: self_traffic.unwrap_or(false) },
    Mesh: NetworkSpec::Mesh { radix, dimensions, nodes_per_router, links, self_traffic } =>
        Mesh::new(radix.of_dimensions(dimensions), nodes_per_router, links, self_traffic),
    Torus: NetworkSpec::Torus { radix, dimensions, nodes_per_router, links, self_traffic } =>
        Torus::new(radix.of_dimensions(dimensions), nodes_per_router, links, self_traffic),
    Multistage: NetworkSpec::Multistage { hosts, direction, first_shuffle } =>
        Multistage { hosts, direction, first_shuffle: first_shuffle.unwrap_or(true) },
    FatTree: spec @ NetworkSpec::FatTree { .. } =>
        FatTree::new(&TreeKeys::of(&spec).expect("the keys of a tree")),
    GraphNetwork: NetworkSpec::Graph { file, routing, root, self_traffic } =>
        GraphNetwork::new(file.graph(), routing, root, self_traffic),
}

impl Network {
    /// The network as packets cross it: where links are parallel the destination names one of them, so that no switch
    /// chooses.
    pub fn of_packets(self) -> Self {
        match self {
            Self::GraphNetwork(graph) => Self::GraphNetwork(graph.of_packets()),
            other => other,
        }
    }

    /// Channels of a kind.
    pub fn channels(&self, kind: ChannelKind) -> u64 {
        if kind == ChannelKind::Injection {
            return u64::from(self.nodes());
        }
        let of_router = |router: u32| {
            let is_one = |port: &u32| {
                self.kind(router, *port) == kind && self.link_end(router, *port) != LinkEnd::Absent
            };
            (0..self.ports()).filter(is_one).count() as u64
        };
        (0..self.routers()).map(of_router).sum()
    }

    /// The cube, for models that know no other network of several routers.
    pub fn as_hypercube(&self) -> Option<Hypercube> {
        match self {
            Self::Hypercube(cube) => Some(*cube),
            _ => None,
        }
    }
}

impl Network {
    /// The stages, for what knows no other network.
    pub fn as_multistage(&self) -> Option<Multistage> {
        match self {
            Self::Multistage(stages) => Some(*stages),
            _ => None,
        }
    }
}

impl NetworkSpec {
    /// What the network is like for messages of wormhole routers; for packets see [`Network::of_packets`].
    pub fn topology(&self) -> Network {
        self.into()
    }
}
