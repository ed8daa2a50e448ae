mod groups;

use flitwise_language::network::{Hypercube, Mesh, Single};
use flitwise_language::scenario::{NetworkSpec, Radix};

use super::*;
use crate::paths::tests::trees::{Tree, topologies};

/// Paths by enumeration where all send to all alike.
fn enumerated(network: &dyn Topology) -> Paths {
    of_groups(network, NodeGroups::of(network, &[Traffic::uniform(network, 1.0)]))
}

/// The same with these nodes followed together.
fn of_groups(network: &dyn Topology, groups: NodeGroups) -> Paths {
    let classes = ChannelClasses::of_groups(network, groups, &[Traffic::uniform(network, 1.0)]);
    Rc::unwrap_or_clone(enumerated::paths(network, &classes).swap_remove(0))
}

fn cube(dimension: u32) -> Paths {
    uniform(&Hypercube { dimension, self_traffic: false })
}

fn close(what: &str, a: f64, b: f64) {
    assert!((a - b).abs() < 1e-9, "{what}: {a} {b}");
}

fn close_crossings(what: &str, a: Crossing, b: Crossing) {
    close(what, a.contending, b.contending);
    close(what, a.different, b.different);
    close(what, a.others, b.others);
}

/// Of the traffic of channel `s` in an n-cube `2^-(s - j)` has come over channel `j < s`, `2^-s` from the interface; of
/// that of an ejection link `2^s / (2^n - 1)` over channel `s`.
#[test]
fn a_cube_is_as_by_its_formulas() {
    for n in 1..=16 {
        let (cube, name, others) = (cube(n), format!("{n}-cube"), f64::from(n).exp2() - 1.0);
        assert!((1..=n).all(|h| {
            (1..=h + 1).all(|k| (cube.outputs(h, k).iter().map(|(p, _)| p).sum::<f64>() - 1.0).abs() < 1e-9)
        }));
        assert_eq!((cube.channels.len() as u32, cube.ends.len(), cube.most_hops()), (n, 1, n));
        cube.channels.iter().for_each(|channel| close(&name, channel.on_link, (others + 1.0) / 2.0 / others));
        cube.hops().for_each(|hops| close(&name, cube.share(hops), cube::choose(n, hops) / others));
        for to in 0..=n {
            assert_eq!(cube.inputs(to).len() as u32, if to < n { to + 1 } else { n }, "{name}");
            for (from, share) in cube.inputs(to) {
                let apart = from.map_or(to, |from| to - from);
                let wanted =
                    if to < n { (-f64::from(apart)).exp2() } else { f64::from(n - apart).exp2() / others };
                close(&name, *share, wanted);
            }
        }
        // 2^(n - 1 - s) of the destinations are reached over channel s first
        for s in 0..n {
            close(&name, cube.same(Output { from: None, to: s }), f64::from(n - 1 - s).exp2() / others);
        }
    }
}

/// Dimensions that a message between two nodes crosses, by all pairs of nodes of a small cube.
fn dimensions_crossed(n: u32) -> Vec<(u32, Vec<u32>)> {
    let nodes = 1_u32 << n;
    let pairs = (0..nodes).flat_map(|from| (0..nodes).map(move |to| (from, to)));
    let one = |(from, to): (u32, u32)| (from, (0..n).filter(|s| (from ^ to) >> s & 1 == 1).collect());
    pairs.filter(|(from, to)| from != to).map(one).collect()
}

#[test]
fn crossings_are_those_of_all_pairs_of_nodes() {
    for n in 1..=5 {
        let (name, cube) = (format!("{n}-cube"), cube(n));
        // messages by input and output of node 0; n is the interface, as input and as output
        let mut through = vec![vec![0.0; n as usize + 1]; n as usize + 1];
        for (from, path) in dimensions_crossed(n) {
            let (mut node, mut input) = (from, n);
            for s in path.iter().copied().chain([n]) {
                if node == 0 {
                    through[input as usize][s as usize] += 1.0;
                }
                if s < n {
                    node ^= 1 << s;
                }
                input = s;
            }
        }
        let crossing = |input: u32, output: u32| {
            let column: Vec<f64> = through.iter().map(|row| row[output as usize]).collect();
            let all: f64 = column.iter().sum();
            Crossing {
                contending: 1.0 - column[input as usize] / all,
                different: 1.0 - column.iter().map(|x| x * x / all / all).sum::<f64>(),
                others: column.iter().filter(|x| **x > 0.0).count() as f64 - 1.0,
            }
        };
        for (h, k) in (1..=n).flat_map(|h| (1..=h + 1).map(move |k| (h, k))) {
            let paths = dimensions_crossed(n).into_iter().filter(|(_, path)| path.len() == h as usize);
            let (mut mean, count) = (Crossing::NOTHING, paths.clone().count() as f64);
            for (_, path) in paths {
                let input = if k == 1 { n } else { path[k as usize - 2] };
                let output = if k > h { n } else { path[k as usize - 1] };
                mean.add(1.0 / count, crossing(input, output));
            }
            close_crossings(&name, mean, cube.mean(cube.outputs(h, k)));
        }
    }
}

#[test]
fn lines_add_up() {
    for network in topologies().iter().map(NetworkSpec::topology) {
        if !network.is_dimension_ordered() {
            continue;
        }
        let (paths, name) = (lines::paths(&*network), network.name());
        close(&name, paths.mean_hops(), network.mean_hops());
        close(&name, paths.hops().map(|hops| paths.share(hops)).sum(), 1.0);
        for (hops, k) in paths.hops().flat_map(|hops| (1..=hops + 1).map(move |k| (hops, k))) {
            close(&name, paths.outputs(hops, k).iter().map(|(share, _)| share).sum(), 1.0);
            let known =
                |(_, output): &(f64, Output)| paths.all.contains(output) && output.from < Some(output.to);
            assert!(paths.outputs(hops, k).iter().all(known), "{name}");
        }
        for channel in 0..paths.channels.len() as u32 {
            close(&name, paths.onward(channel).iter().map(|(share, _)| share).sum(), 1.0);
        }
        for link in 0..paths.links().count() as u32 {
            close(&name, paths.inputs(link).iter().map(|(_, share)| share).sum(), 1.0);
        }
    }
}

/// Paths put together from lines have the lengths of all paths, and the most loaded channel of a cube or mesh.
#[test]
fn lines_are_those_of_all_paths() {
    for network in topologies().iter().map(NetworkSpec::topology) {
        if !network.is_dimension_ordered() {
            continue;
        }
        let (found, wanted, name) = (lines::paths(&*network), enumerated(&*network), network.name());
        assert_eq!(found.hops().collect::<Vec<_>>(), wanted.hops().collect::<Vec<_>>(), "{name}");
        wanted.hops().for_each(|hops| close(&name, found.share(hops), wanted.share(hops)));
        close(&name, found.mean_hops(), wanted.mean_hops());
        let most = |paths: &Paths| paths.links().map(|link| link.on_link).fold(0.0, f64::max);
        if !network.has_rings() {
            close(&name, most(&found), most(&wanted));
        }
    }
}

/// All pairs of nodes of a cube, put together, and the lines of a mesh of radix 2 are what the formulas of a cube say.
#[test]
fn enumerated_pairs_make_a_cube() {
    for n in 2..=5 {
        let name = format!("{n}-cube");
        let mesh = Mesh::new(Radix::of(&vec![2; n as usize]).unwrap(), 1, 1, None);
        let of_mesh = lines::paths(&mesh);
        let (found, cube) = (enumerated(&Hypercube { dimension: n, self_traffic: false }), cube(n));
        assert_eq!((found.channels.len(), found.ends.len(), found.senders.len()), (n as usize, 1, 1));
        for (a, b) in found.links().zip(cube.links()) {
            close(&name, a.rate, b.rate);
            close(&name, a.on_link, b.on_link);
        }
        assert_eq!((found.all.len(), of_mesh.all.len()), (cube.all.len(), cube.all.len()));
        for (hops, k) in cube.hops().flat_map(|hops| (1..=hops + 1).map(move |k| (hops, k))) {
            for (share, output) in cube.outputs(hops, k) {
                let of = of_mesh.outputs(hops, k).iter().find(|(_, other)| other == output);
                close(&name, of.unwrap().0, *share);
            }
        }
        for output in &cube.all {
            for other in [&found, &of_mesh] {
                close_crossings(&name, other.crossing(*output), cube.crossing(*output));
                close(&name, other.same(*output), cube.same(*output));
            }
        }
        for (a, b) in
            [(found.first(), cube.first()), (found.middle(), cube.middle()), (found.last(), cube.last())]
        {
            assert_eq!(a.len(), b.len());
            for (share, output) in b {
                close(&name, a.iter().find(|(_, other)| other == output).unwrap().0, *share);
            }
        }
    }
}

/// All pairs of ports of a router, and no lines, are the same.
#[test]
fn enumerated_pairs_make_a_router() {
    let router = Single { ports: 6, self_traffic: true };
    let output = Output { from: None, to: 0 };
    for paths in [enumerated(&router), lines::paths(&router)] {
        close("contending", paths.crossing(output).contending, 5.0 / 6.0);
        close("different", paths.crossing(output).different, 5.0 / 6.0);
        close("others", paths.crossing(output).others, 5.0);
        close("same", paths.same(output), 1.0 / 6.0);
        close("load", paths.ends[0].on_link, 1.0);
        assert_eq!((paths.last().len(), paths.first().len()), (1, 0));
        close("share", paths.senders[0].outputs[0].0, 1.0);
    }
}

#[test]
fn enumerated_paths_add_up() {
    for network in topologies().iter().map(NetworkSpec::topology) {
        let (paths, name) = (enumerated(&*network), network.name());
        close(&name, paths.hops().map(|hops| paths.share(hops)).sum(), 1.0);
        close(&name, paths.mean_hops(), network.mean_hops());
        close(&name, paths.senders.iter().map(|sender| sender.share).sum(), 1.0);
        for sender in &paths.senders {
            close(&name, sender.outputs.iter().map(|(share, _)| share).sum(), 1.0);
        }
        for (channel, link) in paths.links().enumerate() {
            close(&name, paths.inputs(channel as u32).iter().map(|(_, share)| share).sum(), 1.0);
            assert!(link.rate > 0.0 && link.on_link >= link.rate - 1e-12);
        }
        for channel in 0..paths.channels.len() as u32 {
            close(&name, paths.onward(channel).iter().map(|(share, _)| share).sum(), 1.0);
            assert!(paths.onward(channel).iter().all(|(_, output)| output.to > channel), "{name}");
        }
    }
}

/// A star of three leaves with two nodes each: channels up, down and to nodes are alike. A fifth of the messages stay;
/// half of those on a channel up are of the other node, half of those down of the other leaf.
#[test]
fn paths_of_trees_are_as_by_hand() {
    let (star, fat) = (enumerated(&Tree::STAR), enumerated(&Tree::FAT));
    for (paths, staying, rate, halves) in [(&star, 0.2, 1.6, 2.0), (&fat, 1.0 / 7.0, 6.0 / 7.0, 3.0)] {
        assert_eq!((paths.channels.len(), paths.ends.len(), paths.most_hops()), (2, 1, 2));
        close("staying", paths.share(0), staying);
        close("rate", paths.channels[0].on_link, rate);
        close("rate", paths.channels[1].on_link, rate);
        close("hops", paths.mean_hops(), 2.0 * (1.0 - staying));
        let [up, down] = [(None, 0), (Some(0), 1)].map(|(from, to)| paths.crossing(Output { from, to }));
        close("up", up.contending, 0.5);
        close("down", down.contending, 1.0 - 1.0 / halves);
        assert_eq!((up.others, down.others), (1.0, halves - 1.0));
    }
    // of what a node of the star receives a fifth has not left the router
    close("ejected", star.inputs(2).iter().find(|(from, _)| from.is_none()).unwrap().1, 0.2);
}
