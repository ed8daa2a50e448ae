//! `[network]`: how routers and nodes are wired.

mod fat_tree;

use super::declare::*;
use super::graph_file::GraphFile;
use super::levels::{MAX_LEVELS, PerLevel};
use super::radix::{MAX_DIMENSIONS, Radix};
pub(crate) use fat_tree::{TreeKeys, TreeShape};

/// The most nodes of a network of more than one router.
const MAX_NODES: u64 = 16_384;

table! {
    /// How routers and nodes are wired.
    #[derive(Eq)]
    pub enum NetworkSpec by "topology" {
        /// One router with a node on every port.
        Router "router" {
            /// Ports of the router.
            ports: u32 ["ports"] = 16, within(2.0, 1024.0).wanted().parameter(5, Varies::Whole);
            /// Whether a node may send to itself; by default so.
            #[serde(skip_serializing_if = "Option::is_none")]
            self_traffic: Option<bool> = None;
        },
        /// An n-cube with e-cube routing.
        Hypercube "hypercube" {
            /// Dimensions `n` of the cube.
            dimension: u32 ["dimensions"] = 16, within(1.0, 16.0).wanted().parameter(5, Varies::Whole);
            /// Whether a node may send to itself; by default not so.
            #[serde(skip_serializing_if = "Option::is_none")]
            self_traffic: Option<bool> = None;
        },
        /// Routers on a rectangular lattice, each joined to its neighbours; routes go the lowest dimension first.
        Mesh "mesh" {
            /// Routers along each dimension, or along all of `dimensions`.
            radix: Radix ["routers"] = Radix::NONE, within(2.0, 64.0).wanted().example("[4, 4]");
            /// Dimensions, where `radix` is one number for all of them.
            #[serde(skip_serializing_if = "Option::is_none")]
            dimensions: Option<u32> ["dimensions"] = None, within(1.0, MAX_DIMENSIONS as f64);
            /// Nodes at every router.
            nodes_per_router: u32 ["nodes"] = 1, within(1.0, 64.0);
            /// Parallel links each way between neighbours.
            links: u32 ["links"] = 1, within(1.0, 8.0);
            /// Whether a node may send to itself; by default where routers have several nodes.
            #[serde(skip_serializing_if = "Option::is_none")]
            self_traffic: Option<bool> = None;
        },
        /// The same with the ends of every line joined to a ring; messages go the shorter way round.
        Torus "torus" {
            /// Routers along each dimension, or along all of `dimensions`.
            radix: Radix ["routers"] = Radix::NONE, within(3.0, 64.0).wanted().example("[4, 4]");
            /// Dimensions, where `radix` is one number for all of them.
            #[serde(skip_serializing_if = "Option::is_none")]
            dimensions: Option<u32> ["dimensions"] = None, within(1.0, MAX_DIMENSIONS as f64);
            /// Nodes at every router.
            nodes_per_router: u32 ["nodes"] = 1, within(1.0, 64.0);
            /// Parallel links each way between neighbours.
            links: u32 ["links"] = 1, within(1.0, 8.0);
            /// Whether a node may send to itself; by default where routers have several nodes.
            #[serde(skip_serializing_if = "Option::is_none")]
            self_traffic: Option<bool> = None;
        },
        /// Stages of 8-port packet switches wired by perfect shuffles.
        Multistage "multistage" {
            /// Hosts, a power of two.
            hosts: u32 ["hosts"] = 64, within(16.0, 1024.0).wanted();
            /// Which way data cross the stages.
            direction: Direction = Direction::Unidirectional;
            /// Whether hosts send into the first stage of a unidirectional network through a shuffle; by default so.
            #[serde(skip_serializing_if = "Option::is_none")]
            first_shuffle: Option<bool> = None;
        },
        /// Levels of switches, each joined to those of the next level; messages go up until their node is below.
        FatTree "fat-tree" {
            /// Levels of switches, that of the leaves included.
            levels: u32 ["levels"] = 2, within(1.0, MAX_LEVELS as f64).wanted();
            /// Ports of a switch, all in use: half of them down and half up, or as `taper` says; of the top level all
            /// down.
            #[serde(skip_serializing_if = "Option::is_none")]
            radix: Option<u32> ["ports"] = None, within(4.0, 128.0);
            /// Ports down for each port up, with `radix`; a number, or a list for every level below the top.
            #[serde(skip_serializing_if = "Option::is_none")]
            taper: Option<PerLevel> = None, within(1.0, 16.0);
            /// `k` of a k-ary n-tree: neighbours down and, below the top, up.
            #[serde(skip_serializing_if = "Option::is_none")]
            arity: Option<u32> ["neighbours"] = None, within(2.0, 64.0);
            /// Neighbours down at each level from the leaves up, whose own are nodes.
            #[serde(skip_serializing_if = "Option::is_none")]
            down: Option<PerLevel> ["neighbours"] = None, within(1.0, 128.0).example("[4, 4]");
            /// Neighbours up at each level below the top, with `down`.
            #[serde(skip_serializing_if = "Option::is_none")]
            up: Option<PerLevel> ["neighbours"] = None, within(1.0, 128.0).example("[4]");
            /// Parallel links each way between neighbours; a number, or a list for every level below the top.
            links: PerLevel ["links"] = PerLevel::all(1), within(1.0, 8.0);
            /// Time on links on top of the usual one: nanoseconds with packet switches, cycles with routers.
            #[serde(skip_serializing_if = "TreeDelay::is_none")]
            delay: TreeDelay = TreeDelay::unset();
            /// Where a message goes up.
            routing: TreeRouting = TreeRouting::DModK;
            /// Whether a node may send to itself; by default not so.
            #[serde(skip_serializing_if = "Option::is_none")]
            self_traffic: Option<bool> = None;
        },
        /// Switches and nodes as the lines of a file join them.
        Graph "file" {
            /// The file, or its lines: `node NAME SWITCH`, `link SWITCH SWITCH`, `arc FROM TO`, and of tables
            /// `route NODE NODE : SWITCH ..` and `next SWITCH NODE : SWITCH`.
            file: GraphFile = GraphFile::unset(), ANY.wanted().example("\"net.txt\"");
            /// Which way messages go.
            routing: GraphRouting = GraphRouting::Shortest;
            /// The switch from which links lead down, with up-down; by default the one to which the farthest is
            /// nearest.
            #[serde(skip_serializing_if = "Option::is_none")]
            root: Option<String> = None;
            /// Whether a node may send to itself; by default not so.
            #[serde(skip_serializing_if = "Option::is_none")]
            self_traffic: Option<bool> = None;
        },
    }
}

table! {
    /// Time on links on top of the usual one, by their kind: nanoseconds with packet switches, cycles with routers.
    #[derive(Copy, Eq)]
    pub struct TreeDelay {
        /// Between a level and the next, both ways; a number, or a list for every level below the top.
        up: PerLevel ["cycles"] = PerLevel::all(0), within(0.0, 1e6).magnitude(Magnitude::Time);
    }
}

impl Default for TreeDelay {
    fn default() -> Self {
        Self::unset()
    }
}

impl TreeDelay {
    /// Whether there is none.
    fn is_none(&self) -> bool {
        self.up.numbers().iter().all(|delay| *delay == 0)
    }
}

impl Rules for TreeDelay {}

words! {
    /// Where a message goes up in a fat tree.
    pub enum TreeRouting {
        /// By the number of its destination: messages to a node go up the same way from all over a subtree.
        DModK "d-mod-k",
        /// By the number of its source.
        SModK "s-mod-k",
        /// By a number that is drawn for every message, all ways up alike.
        RandomUp "random-up",
        /// By the channel up with the least backlog.
        AdaptiveUp "adaptive-up",
    }
}

words! {
    /// Which way messages go through a graph.
    pub enum GraphRouting {
        /// By the neighbour of the lowest number that is nearer to the destination.
        Shortest "shortest",
        /// Up towards a root, then down, by the fewest links: no messages wait for each other in a circle.
        UpDown "up-down",
        /// As the route and next lines of the file say.
        Tables "tables",
    }
}

/// What is refused: the key, what was found, what is wanted and what helps.
pub(crate) type Refusal = (&'static str, String, String, Option<String>);

words! {
    /// Which way data cross the stages of a multistage network.
    pub enum Direction {
        /// From left to right only: hosts send on the left and receive on the right.
        Unidirectional "unidirectional",
        /// Up to a stage in common and down again: hosts send and receive on the left.
        Bidirectional "bidirectional",
    }
}

/// Refuses hosts that stages of shuffles cannot join.
fn fits_stages(hosts: u32, direction: Direction, first_shuffle: Option<bool>, path: &str, door: &mut Door) {
    if (16..=1024).contains(&hosts) && !hosts.is_power_of_two() {
        let (below, above) = (hosts.next_power_of_two() / 2, hosts.next_power_of_two());
        let help = format!("{below} or {above}");
        door.refuse(&format!("{path}.hosts"), hosts.to_string(), "a power of two", Some(&help));
    }
    if let (Direction::Bidirectional, Some(found)) = (direction, first_shuffle) {
        let wanted = "none in a bidirectional network, whose hosts are at the first stage";
        door.refuse(&format!("{path}.first_shuffle"), found.to_string(), wanted, Some("remove the line"));
    }
}

/// Refuses a routing that does not lead messages through a graph.
fn fits_graph(file: &GraphFile, routing: GraphRouting, root: Option<&str>, path: &str, door: &mut Door) {
    if let (Some(found), true) = (root, routing != GraphRouting::UpDown) {
        let help = "remove the line, or take routing = \"up-down\"";
        door.refuse(&format!("{path}.root"), format!("\"{found}\""), "none without up-down", Some(help));
    }
    // nothing follows of a graph that could not be read
    if !door.is_read(&format!("{path}.file")) || door.has_refused(&format!("{path}.")) {
        return;
    }
    for (key, found, wanted, help) in file.graph().refusals(routing, root) {
        door.refuse(&format!("{path}.{key}"), found, &wanted, help.as_deref());
    }
}

impl NetworkSpec {
    /// The word of its routing; `None` where a topology has one only.
    pub fn routing(&self) -> Option<&'static str> {
        match self {
            Self::FatTree { routing, .. } => Some(routing.word()),
            Self::Graph { routing, .. } => Some(routing.word()),
            _ => None,
        }
    }

    /// The key that gives links their delays.
    pub fn key_of_delays(&self) -> &'static str {
        if matches!(self, Self::Graph { .. }) { "network.file" } else { "network.delay" }
    }

    /// Whether a node may send to itself, where that is said; `None` where there is no such key.
    pub fn self_traffic_mut(&mut self) -> Option<&mut Option<bool>> {
        match self {
            Self::Router { self_traffic, .. }
            | Self::Hypercube { self_traffic, .. }
            | Self::Mesh { self_traffic, .. }
            | Self::Torus { self_traffic, .. }
            | Self::FatTree { self_traffic, .. }
            | Self::Graph { self_traffic, .. } => Some(self_traffic),
            Self::Multistage { .. } => None,
        }
    }

    /// Leaves out whether nodes send to themselves where the topology has it so anyway.
    pub(super) fn forget_usual(&mut self) {
        let said = self.self_traffic_mut().and_then(Option::take);
        if said != Some(self.topology().self_traffic())
            && let Some(own) = self.self_traffic_mut()
        {
            *own = said;
        }
    }
}

impl Rules for NetworkSpec {
    fn rules(&self, path: &str, door: &mut Door) {
        if let Self::Multistage { hosts, direction, first_shuffle } = *self {
            return fits_stages(hosts, direction, first_shuffle, path, door);
        }
        if let Some(keys) = TreeKeys::of(self) {
            return keys.check(path, door);
        }
        if let Self::Graph { file, routing, root, .. } = self {
            return fits_graph(file, *routing, root.as_deref(), path, door);
        }
        let (Self::Mesh { radix, dimensions, nodes_per_router, .. }
        | Self::Torus { radix, dimensions, nodes_per_router, .. }) = *self
        else {
            return;
        };
        if let Some(dimensions) = dimensions
            && radix.sides().len() > 1
        {
            let wanted = "none where radix is a list";
            let help = Some("write one number as radix, or leave dimensions out");
            door.refuse(&format!("{path}.dimensions"), dimensions.to_string(), wanted, help);
        }
        let sides = radix.sides().iter().map(|side| u64::from(*side));
        let routers: u64 = match dimensions {
            Some(dimensions) => sides.product::<u64>().saturating_pow(dimensions.min(MAX_DIMENSIONS as u32)),
            None => sides.product(),
        };
        let nodes = routers.saturating_mul(u64::from(nodes_per_router));
        if nodes > MAX_NODES && (dimensions.is_none() || radix.sides().len() == 1) {
            door.refuse(
                &format!("{path}.radix"),
                format!("{nodes} nodes"),
                &format!("at most {MAX_NODES}"),
                None,
            );
        }
    }
}
