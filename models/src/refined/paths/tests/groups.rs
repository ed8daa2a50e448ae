//! Nodes that are followed together, against all pairs of nodes.

use flitwise_language::network::Network;
use flitwise_language::scenario::{Scenario, TreeRouting};

use super::*;

/// Trees of all routings: of two and three levels, tapered, with parallel links, delays and several hosts that name
/// the same way.
fn trees() -> Vec<Network> {
    let shapes = [
        "levels = 2\narity = 3\n",
        "levels = 2\ndown = [4, 3]\nup = [2]\n",
        "levels = 2\ndown = [3, 4]\nup = [2]\nlinks = 2\ndelay = { up = 3 }\n",
        "levels = 3\ndown = [2, 2, 3]\nup = [2, 2]\ndelay = { up = [1, 4] }\n",
        "levels = 3\ndown = [3, 2, 2]\nup = [2, 3]\nlinks = [2, 1]\n",
        "levels = 2\ndown = [6, 3]\nup = [4]\n",
    ];
    let routings = TreeRouting::ALL.map(TreeRouting::word);
    let each = shapes.iter().flat_map(|shape| routings.map(|routing| (shape, routing)));
    let each = each.flat_map(|(shape, routing)| {
        [false, true].map(|itself| {
            network(&format!(
                "topology = \"fat-tree\"\nrouting = \"{routing}\"\nself_traffic = {itself}\n{shape}"
            ))
        })
    });
    each.collect()
}

/// A ring with a chord, with several nodes at most of its switches, parallel links and delays; and without the links
/// that close circles.
fn graphs() -> Vec<Network> {
    let nodes = ["s0", "s1 delay=2", "s0 delay=5", "s1", "s0 delay=5", "s3", "s0", "s3", "s1", "s4"];
    let nodes = nodes.iter().enumerate().map(|(node, at)| format!("node n{node} {at}"));
    let links = ["s0 s1 links=2", "s1 s2 delay=4", "s2 s3", "s3 s4", "s4 s0", "s1 s4 links=3"];
    let links = links.iter().map(|link| format!("link {link}"));
    let lines: Vec<String> = nodes.chain(links).collect();
    let of = |(routing, itself, links): (&str, bool, usize)| {
        let file = lines[..10 + links].join("\\n");
        network(&format!(
            "topology = \"file\"\nrouting = \"{routing}\"\nself_traffic = {itself}\nfile = \"{file}\"\n"
        ))
    };
    [("up-down", false, 6), ("up-down", true, 6), ("shortest", false, 4)].map(of).into()
}

fn network(keys: &str) -> Network {
    let class = "[[class]]\nname = 'a'\nkind = 'best-effort'\nrate = 0.001\n";
    Scenario::from_toml("x", &format!("[network]\n{keys}{class}")).unwrap().topology()
}

fn alike(what: &str, a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-12, "{what}: {a} {b}");
}

fn alike_outputs(what: &str, a: &[(f64, Output)], b: &[(f64, Output)]) {
    assert_eq!(a.len(), b.len(), "{what}");
    for ((a, output), (b, other)) in a.iter().zip(b) {
        assert_eq!(output, other, "{what}");
        alike(what, *a, *b);
    }
}

fn alike_channels(what: &str, a: &ChannelUse, b: &ChannelUse) {
    assert_eq!((a.dimension, a.links, a.is_upper), (b.dimension, b.links, b.is_upper), "{what}");
    alike(what, a.rate, b.rate);
    alike(what, a.on_link, b.on_link);
    alike(what, a.by_class.as_ref().unwrap()[0], b.by_class.as_ref().unwrap()[0]);
}

fn alike_inputs(what: &str, a: &[(Option<u32>, f64)], b: &[(Option<u32>, f64)]) {
    let sorted = |inputs: &[(Option<u32>, f64)]| {
        let mut inputs = inputs.to_vec();
        inputs.sort_by(|a, b| a.partial_cmp(b).unwrap());
        inputs
    };
    assert_eq!(a.len(), b.len(), "{what}: {a:?} {b:?}");
    for (a, b) in sorted(a).iter().zip(&sorted(b)) {
        assert_eq!(a.0, b.0, "{what}");
        alike(what, a.1, b.1);
    }
}

fn alike_ways(what: &str, a: &Paths, b: &Paths) {
    let counts = |paths: &Paths| (paths.shares.len(), paths.delays.len(), paths.most_used.len());
    assert_eq!(counts(a), counts(b), "{what}");
    a.shares.iter().zip(&b.shares).for_each(|(a, b)| alike(what, *a, *b));
    alike(what, a.mean_hops, b.mean_hops);
    for (a, b) in a.delays.iter().flatten().zip(b.delays.iter().flatten()) {
        assert_eq!(a.1, b.1, "{what}");
        alike(what, a.0, b.0);
    }
    for (a, b) in a.most_used.iter().zip(&b.most_used) {
        assert_eq!((a.delay, a.is_upper), (b.delay, b.is_upper), "{what}");
        alike(what, a.rate, b.rate);
    }
}

fn alike_senders(what: &str, a: &Paths, b: &Paths) {
    assert_eq!(a.senders.len(), b.senders.len(), "{what}: {:?} {:?}", a.senders, b.senders);
    for (a, b) in a.senders.iter().zip(&b.senders) {
        alike(what, a.share, b.share);
        alike_outputs(what, &a.outputs, &b.outputs);
    }
    assert_eq!(a.at_interface, b.at_interface, "{what}");
}

fn alike_paths(what: &str, a: &Paths, b: &Paths) {
    assert_eq!((a.channels.len(), a.ends.len()), (b.channels.len(), b.ends.len()), "{what}");
    a.links().zip(b.links()).for_each(|(a, b)| alike_channels(what, a, b));
    alike_ways(what, a, b);
    alike_senders(what, a, b);
    assert_eq!(a.all, b.all, "{what}");
    for output in &a.all {
        let ((a, same), (b, other)) = (a.shared(*output).unwrap(), b.shared(*output).unwrap());
        alike(what, a.contending, b.contending);
        alike(what, a.different, b.different);
        assert_eq!(a.others, b.others, "{what}");
        alike(what, same, other);
    }
    a.inputs.iter().zip(&b.inputs).for_each(|(a, b)| alike_inputs(what, a, b));
    a.onward.iter().zip(&b.onward).for_each(|(a, b)| alike_outputs(what, a, b));
    for (hops, k) in [(0, 1), (1, 1), (2, 2), (2, 3)] {
        alike_outputs(what, a.outputs(hops, k), b.outputs(hops, k));
    }
    for (a, b) in [(a.first(), b.first()), (a.middle(), b.middle()), (a.last(), b.last())] {
        alike_outputs(what, a, b);
    }
}

/// Channels, their numbers and loads, and all that is known of ways are the same to 1e-12.
#[test]
fn nodes_together_are_as_all_pairs() {
    let mut fewer = 0;
    for network in trees().into_iter().chain(graphs()) {
        let uniform = [Traffic::uniform(&*network, 1.0)];
        let (groups, apart) = (NodeGroups::of(&*network, &uniform), NodeGroups::apart(&*network));
        fewer += u32::from(groups.senders.len() + groups.receivers.len() < 2 * network.nodes() as usize);
        let what = network.description();
        alike_paths(&what, &of_groups(&*network, groups), &of_groups(&*network, apart));
    }
    assert_eq!(fewer, 51);
}

/// Ways from nodes of a kind, and to nodes of a kind, differ by the links of the nodes alone.
#[test]
fn nodes_of_a_kind_have_the_same_ways() {
    for network in trees().into_iter().chain(graphs()) {
        let groups = NodeGroups::of(&*network, &[Traffic::uniform(&*network, 1.0)]);
        let between = |from: u32, to: u32, way: u32| -> Vec<(u32, u32)> {
            let hops = network.path(from, to, way);
            hops.filter(|hop| hop.is_between_routers()).map(|hop| (hop.router, hop.port)).collect()
        };
        let pairs = groups.senders.iter().flat_map(|from| groups.receivers.iter().map(move |to| (from, to)));
        let nodes = |places: &[usize]| -> Vec<u32> {
            places.iter().flat_map(|place| groups.nodes[*place].clone()).collect()
        };
        for ((senders, receivers), way) in
            pairs.flat_map(|pair| (0..network.ways()).map(move |way| (pair, way)))
        {
            let (senders, receivers) = (nodes(senders), nodes(receivers));
            let wanted = between(senders[0], receivers[0], way);
            for (from, to) in senders.iter().flat_map(|from| receivers.iter().map(move |to| (*from, *to))) {
                assert_eq!(between(from, to, way), wanted, "{}", network.description());
                let last = network.path(from, to, way).last().unwrap();
                assert_eq!((last.router, last.port), network.entry(to));
            }
        }
    }
}

/// Numbers do not depend on the order in which ways are followed: classes of single senders in either order.
#[test]
fn channels_are_numbered_by_router_and_port() {
    for network in trees().into_iter().chain(graphs()) {
        let of = |node: u32| Traffic { senders: vec![node], ..Traffic::uniform(&*network, 1.0) };
        let mut classes: Vec<Traffic> = (0..network.nodes()).map(of).collect();
        let found = ChannelClasses::of(&*network, &classes);
        classes.reverse();
        let other = ChannelClasses::of(&*network, &classes);
        assert_eq!((&found.channels, &found.numbers), (&other.channels, &other.numbers));
        assert!(found.channels.is_sorted_by_key(|channel| (channel.router, channel.port)));
    }
}

/// Two levels of switches of 64 ports: ways from leaves or hosts, and to hosts or leaves.
#[test]
fn few_ways_are_followed_in_large_trees() {
    for routing in TreeRouting::ALL.map(TreeRouting::word) {
        let keys = format!("topology = \"fat-tree\"\nlevels = 2\nrouting = \"{routing}\"\nradix = 64\n");
        let network = network(&keys);
        assert_eq!(network.nodes(), 2048);
        let all = Traffic::uniform(&*network, 1.0);
        assert_eq!(NodeGroups::ways(&*network, &[all.clone(), all.clone()]), 64 * 2048, "{routing}");
        let some = Traffic { senders: (1..2048).collect(), ..all };
        let singly = 2047 * 2047 * u64::from(network.ways());
        assert_eq!(NodeGroups::ways(&*network, &[some.clone(), some]), singly, "{routing}");
    }
}
