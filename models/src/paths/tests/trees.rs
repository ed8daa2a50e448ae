//! Topologies of which nothing is declared: a star and a small fat tree, with loads worked out by hand.

use super::*;
use flitwise_language::network::Network;
use flitwise_language::scenario::TreeDelay;

/// A tree of two levels: leaf routers with nodes, each joined to every root. A message goes up to the root with the
/// number of its destination modulo that of roots, and down to the leaf. With one root it is a star.
///
/// Ports: up to each root, down to each leaf, nodes. Of every kind a router has those of its level.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tree {
    pub(crate) leaves: u32,
    pub(crate) roots: u32,
    /// Nodes of a leaf.
    pub(crate) nodes: u32,
    /// Whether roots send everything down to leaf 0, where it goes up again.
    pub(crate) is_wrong: bool,
}

impl Tree {
    pub(crate) const STAR: Self = Self { leaves: 3, roots: 1, nodes: 2, is_wrong: false };
    pub(crate) const FAT: Self = Self { leaves: 4, roots: 2, nodes: 2, is_wrong: false };
}

impl Topology for Tree {
    fn nodes(&self) -> u32 {
        self.leaves * self.nodes
    }

    fn routers(&self) -> u32 {
        self.leaves + self.roots
    }

    fn ports(&self) -> u32 {
        self.roots + self.leaves + self.nodes
    }

    fn self_traffic(&self) -> bool {
        false
    }

    fn most_hops(&self) -> u32 {
        2
    }

    /// Two channels to each node of another leaf.
    fn mean_hops(&self) -> f64 {
        2.0 * f64::from(self.nodes() - self.nodes) / f64::from(self.nodes() - 1)
    }

    fn route(&self, router: u32, _: u32, destination: u32, _: u32) -> u32 {
        let leaf = destination / self.nodes;
        match router {
            root if root >= self.leaves => self.roots + if self.is_wrong { 0 } else { leaf },
            here if here == leaf => self.roots + self.leaves + destination % self.nodes,
            _ => destination % self.roots,
        }
    }

    fn entry(&self, node: u32) -> (u32, u32) {
        (node / self.nodes, self.roots + self.leaves + node % self.nodes)
    }

    fn link_end(&self, router: u32, port: u32) -> LinkEnd {
        let (is_root, nodes) = (router >= self.leaves, self.roots + self.leaves);
        match port {
            up if up < self.roots && !is_root => {
                LinkEnd::Input { router: self.leaves + up, port: self.roots + router }
            }
            down if (self.roots..nodes).contains(&down) && is_root => {
                LinkEnd::Input { router: down - self.roots, port: router - self.leaves }
            }
            node if node >= nodes && !is_root => LinkEnd::Node(router * self.nodes + node - nodes),
            _ => LinkEnd::Absent,
        }
    }

    /// 0 upwards, 1 downwards.
    fn kind(&self, _: u32, port: u32) -> ChannelKind {
        match port {
            port if port >= self.roots + self.leaves => ChannelKind::Ejection,
            port => ChannelKind::Network { dimension: u8::from(port >= self.roots) },
        }
    }

    fn size(&self) -> (u32, &'static str) {
        (self.nodes(), "nodes")
    }

    fn name(&self) -> String {
        format!("tree of {} nodes", self.nodes())
    }

    fn short_name(&self) -> String {
        "tree".to_owned()
    }

    fn description(&self) -> String {
        format!("a {}", self.name())
    }

    fn address(&self, node: u32) -> String {
        node.to_string()
    }

    fn shared_links(&self) -> &'static str {
        "links between leaves and roots, and ejection links"
    }
}

/// Kind, links and load of each group.
fn groups(found: &ChannelLoads) -> Vec<(ChannelKind, u64, f64)> {
    found.groups.iter().map(|group| (group.kind, group.links, group.load())).collect()
}

fn assert_groups(found: &ChannelLoads, wanted: &[(ChannelKind, u64, f64)]) {
    let found = groups(found);
    let are_alike = found.iter().zip(wanted).all(|(found, wanted)| {
        (found.0, found.1) == (wanted.0, wanted.1) && (found.2 - wanted.2).abs() < 1e-12
    });
    assert!(found.len() == wanted.len() && are_alike, "{found:?}, wanted {wanted:?}");
}

const UP: ChannelKind = ChannelKind::Network { dimension: 0 };
const DOWN: ChannelKind = ChannelKind::Network { dimension: 1 };
use ChannelKind::{Down, Ejection, Injection, Up};

/// Of the 5 other nodes of a star 4 are at other leaves: 2 * 4/5 of a node's load go up from each leaf, and down to it.
/// Of the 7 of the fat tree 6 are, 3 over either root: 2 * 3/7 on each channel.
#[test]
fn trees_are_loaded_as_by_hand() {
    for (tree, links, load) in [(Tree::STAR, 3, 1.6), (Tree::FAT, 8, 6.0 / 7.0)] {
        let nodes = u64::from(tree.nodes());
        let wanted = [
            (Injection, nodes, 0.3),
            (UP, links, 0.3 * load),
            (DOWN, links, 0.3 * load),
            (Ejection, nodes, 0.3),
        ];
        let found = ChannelLoads::on(&tree, &[Traffic::uniform(&tree, 0.3)]);
        assert_groups(&found, &wanted);
        assert_eq!(found.by_kind(true).len(), 4);
    }
    // the channel that limits a star leads up
    let found = ChannelLoads::on(&Tree::STAR, &[Traffic::uniform(&Tree::STAR, 0.5)]);
    let bound = found.bottleneck().unwrap();
    assert_eq!((bound.channel.as_str(), bound.at_load_factor()), ("channel from router 0 to 3", 1.25));
}

/// All but node 0 of the star send to it: 1 from its own leaf, 2 from each of the others.
#[test]
fn a_hot_node_of_a_star_is_loaded_as_by_hand() {
    let destinations = DestinationSpec::Nodes(flitwise_language::scenario::NodeList::of([0])).on(&Tree::STAR);
    let traffic = Traffic { senders: (1..6).collect(), destinations, flit_rate: 0.1 };
    let wanted = [
        (Injection, 5, 0.1),
        (Injection, 1, 0.0),
        (UP, 2, 0.2),
        (UP, 1, 0.0),
        (DOWN, 1, 0.4),
        (DOWN, 2, 0.0),
        (Ejection, 1, 0.5),
        (Ejection, 5, 0.0),
    ];
    assert_groups(&ChannelLoads::on(&Tree::STAR, &[traffic]), &wanted);
}

#[test]
#[should_panic(expected = "tree of 6 nodes: the route from node 2 to node 5 does not get there")]
fn a_route_in_a_circle_ends_with_a_message() {
    let tree = Tree { is_wrong: true, ..Tree::STAR };
    assert_eq!(tree.hops(2, 1), 2);
    tree.path(2, 5, 0).for_each(drop);
}

/// Every topology of the scenario in several sizes.
pub(crate) fn topologies() -> Vec<NetworkSpec> {
    let router = [2, 5, 16].map(|ports| NetworkSpec::Router { ports, self_traffic: None });
    let cube = [1, 2, 3, 6].map(|dimension| NetworkSpec::Hypercube { dimension, self_traffic: None });
    let mesh = [(&[2][..], 1, 1), (&[4, 4], 1, 1), (&[3, 5], 2, 1), (&[2, 3, 4], 1, 2), (&[6], 4, 3)]
        .map(|(sides, nodes, links)| lattice(sides, false, nodes, links));
    let torus = [(&[3][..], 1, 1), (&[4, 4], 1, 1), (&[5, 4], 2, 2), (&[3, 4, 5], 1, 1), (&[8], 3, 2)]
        .map(|(sides, nodes, links)| lattice(sides, true, nodes, links));
    let stages =
        [(16, Direction::Unidirectional), (32, Direction::Bidirectional), (64, Direction::Bidirectional)]
            .map(|(hosts, direction)| NetworkSpec::Multistage { hosts, direction, first_shuffle: None });
    let tree = |routing| NetworkSpec::FatTree {
        levels: 2,
        radix: None,
        taper: None,
        arity: Some(3),
        down: None,
        up: None,
        links: PerLevel::all(2),
        delay: TreeDelay::default(),
        routing,
        self_traffic: None,
    };
    let trees = TreeRouting::ALL.map(tree);
    let graph = Preset::find("petersen").unwrap().scenario().network().clone();
    let lists = [router.to_vec(), cube.to_vec(), mesh.to_vec(), torus.to_vec(), trees.to_vec(), vec![graph]];
    let of_routers = lists.concat();
    let others = of_routers.clone().into_iter().map(otherwise);
    of_routers.iter().cloned().chain(others).chain(stages).collect()
}

/// The network whose nodes send to themselves where those of this one do not, and the other way round.
fn otherwise(mut network: NetworkSpec) -> NetworkSpec {
    let usual = network.topology().self_traffic();
    *network.self_traffic_mut().unwrap() = Some(!usual);
    network
}

/// A topology that the scenario knows is in the list above.
#[test]
fn every_topology_of_the_scenario_is_tried() {
    let fault = flitwise_language::scenario::Scenario::from_toml("x", "[network]\ntopology = \"none\"\n")
        .unwrap_err();
    let fault = fault.iter().map(ToString::to_string).find(|fault| fault.contains("router")).unwrap();
    let known: std::collections::BTreeSet<&str> =
        fault.split('"').skip(1).step_by(2).filter(|word| *word != "none").collect();
    let tried =
        topologies().into_iter().map(|network| serde_json::to_value(network).unwrap()["topology"].clone());
    let tried: std::collections::BTreeSet<String> =
        tried.map(|word| word.as_str().unwrap().to_owned()).collect();
    assert_eq!(known, tried.iter().map(String::as_str).collect());
}

/// What is declared against all paths: destinations that are alike, of all senders and of some, and with a hot node.
#[test]
fn declared_symmetry_loads_channels_as_all_paths_do() {
    let mut declared = 0;
    for network in topologies().iter().map(NetworkSpec::topology) {
        let (network, name): (&dyn Topology, String) = (&*network, network.name());
        let Some(spread) = Spread::new(network) else { continue };
        declared += 1;
        let some =
            DestinationSpec::Hot(flitwise_language::scenario::HotSpot { hot: 1, share: 0.25 }).on(network);
        let uniform = Traffic::uniform(network, 0.3);
        let senders: Vec<u32> = (0..network.nodes()).step_by(3).collect();
        for traffic in [
            Traffic { senders, ..uniform.clone() },
            Traffic { destinations: some, ..uniform.clone() },
            uniform.clone(),
        ] {
            let [found, wanted] = [Some(&spread), None].map(|spread| Rates::of(network, &traffic, spread));
            let pairs = found.links.iter().zip(&wanted.links).chain(found.starts.iter().zip(&wanted.starts));
            assert!(pairs.clone().all(|(a, b)| (a - b).abs() < 1e-12), "{name}");
            assert!(pairs.map(|(_, wanted)| wanted).sum::<f64>() > 0.5, "{name}");
        }
        let found = ChannelLoads::on(network, std::slice::from_ref(&uniform));
        let rates = Rates::of(network, &uniform, None);
        let wanted = ChannelLoads::of_links(network, &[rates], &[uniform.flit_rate]);
        assert_groups(&found, &groups(&wanted));
    }
    assert_eq!(declared, 34);
}

/// What nothing is declared of is followed path by path: no link of stages is left out.
#[test]
fn stages_are_loaded_path_by_path() {
    let spec = |direction| NetworkSpec::Multistage { hosts: 64, direction, first_shuffle: None };
    let [one, two]: [Network; 2] = Direction::ALL.map(|direction| spec(direction).topology());
    let found = ChannelLoads::on(&*one, &[Traffic::uniform(&*one, 0.5)]);
    let wanted =
        [(Injection, 64, 0.5), (Up { level: 1 }, 64, 0.5), (Up { level: 2 }, 64, 0.5), (Ejection, 64, 0.5)];
    assert_groups(&found, &wanted);
    // as in the network's own test: 60 pairs on a link behind the first stage, 48 behind the second
    let found = ChannelLoads::on(&*two, &[Traffic::uniform(&*two, 0.63)]);
    let wanted = [
        (Injection, 64, 0.63),
        (Up { level: 1 }, 64, 0.6),
        (Up { level: 2 }, 64, 0.48),
        (Down { level: 2 }, 64, 0.48),
        (Down { level: 1 }, 64, 0.6),
        (Ejection, 64, 0.63),
    ];
    assert_groups(&found, &wanted);
}

/// Rows of the Petersen graph, of a 3x3 mesh and of a ring of six: mean and largest load of a link, each of one node.
#[test]
fn graphs_are_loaded_as_by_hand() {
    let joined = |count: u32, links: &[(u32, u32)]| -> String {
        let nodes = (0..count).map(|node| format!("node n{node} s{node}\n"));
        let links = links.iter().map(|(one, other)| format!("link s{one} s{other}\n"));
        nodes.chain(links).collect()
    };
    let petersen: Vec<(u32, u32)> =
        (0..5).flat_map(|at| [(at, (at + 1) % 5), (at, at + 5), (at + 5, (at + 2) % 5 + 5)]).collect();
    let across = (0..9).filter(|at| at % 3 < 2).map(|at| (at, at + 1));
    let mesh: Vec<(u32, u32)> = across.chain((0..6).map(|at| (at, at + 3))).collect();
    let ring: Vec<(u32, u32)> = (0..6).map(|at| (at, (at + 1) % 6)).collect();
    let cases = [
        (joined(10, &petersen), GraphRouting::UpDown, [0.614_814_814_814_814_8, 1.0]),
        (joined(9, &mesh), GraphRouting::Shortest, [0.75, 1.25]),
        (joined(9, &mesh), GraphRouting::UpDown, [0.75, 1.75]),
        (joined(6, &ring), GraphRouting::UpDown, [0.966_666_666_666_666_7, 1.4]),
    ];
    for (text, routing, wanted) in cases {
        let file = GraphFile::of(&text).unwrap();
        let network = NetworkSpec::Graph { file, routing, root: None, self_traffic: None }.topology();
        let found = ChannelLoads::on(&*network, &[Traffic::uniform(&*network, 1.0)]);
        let links: Vec<&LinkGroup> =
            found.groups.iter().filter(|group| group.kind == ChannelKind::Link).collect();
        let all: f64 = links.iter().map(|group| group.load() * group.links as f64).sum();
        let mean = all / links.iter().map(|group| group.links).sum::<u64>() as f64;
        let most = links.iter().map(|group| group.load()).fold(0.0, f64::max);
        assert!((mean - wanted[0]).abs() < 1e-12 && (most - wanted[1]).abs() < 1e-12, "{mean} {most}");
    }
}

/// Nodes of a switch that are followed together load links as each sender by itself does, with and without a hot node.
#[test]
fn nodes_of_a_switch_load_links_as_one_by_one() {
    let nodes: String =
        (0..9).map(|node| format!("node n{node} s{}\n", [0, 1, 0, 0, 2, 1, 3, 3, 0][node])).collect();
    let links = "link s0 s1 links=2\nlink s1 s2\nlink s2 s3\nlink s3 s4\nlink s4 s0\n";
    for (routing, itself) in [(GraphRouting::UpDown, false), (GraphRouting::UpDown, true)] {
        let file = GraphFile::of(&format!("{nodes}{links}")).unwrap();
        let network = NetworkSpec::Graph { file, routing, root: None, self_traffic: Some(itself) }.topology();
        assert!(groups::NodeGroups::alike(&*network).all_ways(&*network) == 16);
        let hot =
            DestinationSpec::Hot(flitwise_language::scenario::HotSpot { hot: 1, share: 0.25 }).on(&*network);
        let uniform = Traffic::uniform(&*network, 1.0);
        for all in [Traffic { destinations: hot, ..uniform.clone() }, uniform] {
            let found = Rates::of(&*network, &all, None);
            let one = |sender| Rates::of(&*network, &Traffic { senders: vec![sender], ..all.clone() }, None);
            let singly: Vec<Rates> = all.senders.iter().copied().map(one).collect();
            for place in 0..found.links.len() {
                let sum = |of: fn(&Rates) -> &Vec<f64>| singly.iter().map(|one| of(one)[place]).sum::<f64>();
                assert!((found.links[place] - sum(|rates| &rates.links)).abs() < 1e-12);
                assert!((found.starts[place] - sum(|rates| &rates.starts)).abs() < 1e-12);
            }
        }
    }
}
