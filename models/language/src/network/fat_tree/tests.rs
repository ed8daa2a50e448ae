use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::network::Network;
use crate::scenario::{NetworkSpec, PerLevel, TreeDelay};

fn spec(down: &[u32], up: &[u32], links: &[u32], routing: TreeRouting) -> NetworkSpec {
    let list = |numbers: &[u32]| PerLevel::list(numbers).unwrap();
    NetworkSpec::FatTree {
        levels: down.len() as u32,
        radix: None,
        taper: None,
        arity: None,
        down: Some(list(down)),
        up: (!up.is_empty()).then(|| list(up)),
        links: if links.is_empty() { PerLevel::all(1) } else { list(links) },
        delay: TreeDelay::default(),
        routing,
        self_traffic: None,
    }
}

/// Trees with all routings; nodes, neighbours up and links that divide each other or do not.
fn trees() -> impl Iterator<Item = Network> {
    let shapes: [(&[u32], &[u32], &[u32]); 8] = [
        (&[5], &[], &[]),
        (&[4, 4], &[4], &[]),
        (&[2, 2, 2, 2], &[2, 2, 2], &[]),
        (&[4, 4, 4], &[2, 2], &[]),
        (&[3, 4], &[5], &[2]),
        (&[2, 3, 4], &[3, 2], &[3, 2]),
        (&[6, 2, 3], &[4, 5], &[1, 2]),
        (&[1, 7], &[3], &[4]),
    ];
    shapes.into_iter().flat_map(|(down, up, links)| {
        TreeRouting::ALL.map(|routing| spec(down, up, links, routing).topology())
    })
}

fn pairs(network: &Network) -> impl Iterator<Item = (u32, u32)> {
    let nodes = network.nodes();
    (0..nodes).flat_map(move |from| (0..nodes).map(move |to| (from, to)))
}

#[test]
fn links_lead_back_and_no_two_end_at_one_port() {
    for tree in trees() {
        let mut ends = BTreeSet::new();
        for (router, port) in (0..tree.routers()).flat_map(|r| (0..tree.ports()).map(move |p| (r, p))) {
            match tree.link_end(router, port) {
                LinkEnd::Input { router: next, port: entered } => {
                    assert!(ends.insert((next, entered)), "{}", tree.name());
                    assert_eq!(tree.link_end(next, entered), LinkEnd::Input { router, port });
                    let kinds = (tree.kind(router, port), tree.kind(next, entered));
                    assert!(
                        matches!(kinds, (ChannelKind::Up { level: a }, ChannelKind::Down { level: b })
                            | (ChannelKind::Down { level: a }, ChannelKind::Up { level: b }) if a == b),
                        "{kinds:?}"
                    );
                }
                LinkEnd::Node(node) => assert_eq!(tree.entry(node), (router, port)),
                LinkEnd::Absent => {}
            }
        }
        for node in 0..tree.nodes() {
            let (router, port) = tree.entry(node);
            assert!(ends.insert((router, port)));
            assert_eq!(tree.link_end(router, port), LinkEnd::Node(node));
        }
    }
}

#[test]
fn every_way_goes_up_then_down_to_its_node_in_the_hops_that_are_stated() {
    for tree in trees() {
        let (mut all, mut count) = (0.0, 0.0);
        for (from, to) in pairs(&tree) {
            for way in 0..tree.ways() {
                let kinds: Vec<ChannelKind> =
                    tree.path(from, to, way).map(|hop| tree.kind(hop.router, hop.port)).collect();
                assert_eq!(kinds.len() as u32 - 1, tree.hops(from, to));
                assert!(kinds.is_sorted_by_key(|kind| kind.order()), "{kinds:?}");
            }
            if from != to {
                (all, count) = (all + f64::from(tree.hops(from, to)), count + 1.0);
            }
            assert!(tree.hops(from, to) <= tree.most_hops());
        }
        assert!((all / count - tree.mean_hops()).abs() < 1e-12, "{}", tree.name());
    }
}

/// All links of a tree by all pairs and all ways, one message of every node spread over all others.
#[test]
fn closed_forms_of_links_are_what_all_pairs_bring() {
    for tree in trees() {
        let one = 1.0 / f64::from(tree.nodes() - 1) / f64::from(tree.ways());
        let mut links: BTreeMap<(u32, u32), (f64, f64)> = BTreeMap::new();
        for (from, to) in pairs(&tree).filter(|(from, to)| from != to) {
            for way in 0..tree.ways() {
                for (index, hop) in tree.path(from, to, way).enumerate() {
                    let link = links.entry((hop.router, hop.port)).or_default();
                    link.0 += one;
                    link.1 += if index == 0 { one } else { 0.0 };
                }
            }
        }
        for (router, port) in (0..tree.routers()).flat_map(|r| (0..tree.ports()).map(move |p| (r, p))) {
            if tree.link_end(router, port) != LinkEnd::Absent {
                let found = links.get(&(router, port)).copied().unwrap_or_default();
                let rate = tree.uniform_rate(router, port).unwrap();
                assert!((rate.all - found.0).abs() < 1e-12, "{} {router} {port}", tree.name());
                assert!((rate.started - found.1).abs() < 1e-12, "{} {router} {port}", tree.name());
            }
        }
    }
}

/// With d-mod-k a switch sends all messages to a node over one link; with s-mod-k all that it sends up from a node.
#[test]
fn fixed_routes_form_trees_at_destinations_or_sources() {
    let routings = TreeRouting::ALL.into_iter().cycle();
    for (tree, routing) in trees().zip(routings) {
        let mut links: BTreeMap<(u32, u32), BTreeSet<u32>> = BTreeMap::new();
        for (from, to) in pairs(&tree) {
            for hop in tree.path(from, to, 0) {
                let is_up = matches!(tree.kind(hop.router, hop.port), ChannelKind::Up { .. });
                match routing {
                    TreeRouting::DModK => links.entry((hop.router, to)).or_default().insert(hop.port),
                    TreeRouting::SModK if is_up => {
                        links.entry((hop.router, from)).or_default().insert(hop.port)
                    }
                    _ => continue,
                };
            }
        }
        assert!(links.values().all(|ports| ports.len() == 1), "{} {routing:?}", tree.name());
    }
}

#[test]
fn a_tree_of_radix_has_its_ports_in_use() {
    let of = |levels: u32, radix: u32, taper: u32, links: u32| {
        NetworkSpec::FatTree {
            levels,
            radix: Some(radix),
            taper: Some(PerLevel::all(taper)),
            arity: None,
            down: None,
            up: None,
            links: PerLevel::all(links),
            delay: TreeDelay::default(),
            routing: TreeRouting::DModK,
            self_traffic: None,
        }
        .topology()
    };
    let sizes = [
        (of(2, 64, 1, 1), 2048, 96, 64),
        (of(2, 36, 1, 1), 648, 54, 36),
        (of(3, 8, 1, 1), 128, 80, 8),
        (of(2, 24, 2, 1), 384, 32, 24),
        // two links to each neighbour: half as many neighbours
        (of(2, 64, 1, 2), 1024, 48, 64),
    ];
    for (tree, nodes, switches, ports) in sizes {
        assert_eq!((tree.nodes(), tree.routers(), tree.ports()), (nodes, switches, ports), "{}", tree.name());
        let open = (0..switches).flat_map(|router| (0..ports).map(move |port| (router, port)));
        assert!(open.into_iter().all(|(router, port)| tree.link_end(router, port) != LinkEnd::Absent));
    }
}

/// Channels of two kinds of waits, up before down: no circle, whatever the lanes.
#[test]
fn no_circle_of_channels_waits_for_itself() {
    for tree in trees() {
        let mut waits: BTreeMap<(u32, u32), BTreeSet<(u32, u32)>> = BTreeMap::new();
        for ((from, to), way) in pairs(&tree).flat_map(|pair| (0..tree.ways()).map(move |way| (pair, way))) {
            let way: Vec<(u32, u32)> = tree.path(from, to, way).map(|hop| (hop.router, hop.port)).collect();
            way.windows(2).for_each(|pair| {
                waits.entry(pair[0]).or_default().insert(pair[1]);
            });
        }
        while !waits.is_empty() {
            let waiting: BTreeSet<_> = waits.keys().copied().collect();
            let before = waits.len();
            waits.retain(|_, next| next.iter().any(|channel| waiting.contains(channel)));
            assert!(waits.len() < before, "a circle in {}", tree.name());
        }
    }
}
