mod fat_tree;
pub(crate) mod trees;

use super::*;
use flitwise_language::scenario::{
    ClassSpec, Direction, GraphFile, GraphRouting, NetworkSpec, PerLevel, Preset, Radix, ScenarioSpec,
    TreeRouting,
};

fn loads(network: NetworkSpec, load: f64) -> ChannelLoads {
    let mut class = ClassSpec::real_time("a", load / 16.0);
    (class.message_flits, class.virtual_channels) = (16, 2);
    let spec = ScenarioSpec { network, classes: vec![class], ..ScenarioSpec::default() };
    ChannelLoads::of(&spec.check().unwrap())
}

fn lattice(sides: &[u32], wraps: bool, nodes_per_router: u32, links: u32) -> NetworkSpec {
    let (radix, dimensions) = (Radix::of(sides).unwrap(), None);
    if wraps {
        NetworkSpec::Torus { radix, dimensions, nodes_per_router, links, self_traffic: None }
    } else {
        NetworkSpec::Mesh { radix, dimensions, nodes_per_router, links, self_traffic: None }
    }
}

fn network_links(loads: &ChannelLoads) -> impl Iterator<Item = &LinkGroup> {
    loads.groups.iter().filter(|group| matches!(group.kind, ChannelKind::Network { .. }))
}

#[test]
fn a_pattern_loads_channels_as_its_paths_do() {
    // tornado on a ring of 8: all go up by 3
    let text = "[network]\ntopology = 'torus'\nradix = [8]\n[[class]]\nname = 'a'\nkind = 'real-time'\n\
                rate = 0.01\nmessage_flits = 16\nvirtual_channels = 2\ndestination = 'tornado'\n";
    let loads = ChannelLoads::of(&Scenario::from_toml("x", text).unwrap());
    assert!((loads.bottleneck().unwrap().load - 0.48).abs() < 1e-12);
}

/// Torus: `k / 8` of the injection, times `N / (N - 1)` as nobody sends to itself; odd: `(k^2 - 1) / (8 k)`.
#[test]
fn a_torus_loads_its_channels_by_an_eighth_of_the_side() {
    for (side, share) in [(4, 0.5), (8, 1.0), (16, 2.0), (64, 8.0), (5, 0.6), (7, 48.0 / 56.0)] {
        let nodes = f64::from(side * side);
        let found = loads(lattice(&[side, side], true, 1, 1), 0.1);
        for group in network_links(&found) {
            let exact = 0.1 * share * nodes / (nodes - 1.0);
            assert!((group.load() - exact).abs() < 1e-12, "{side}: {} {exact}", group.load());
        }
        assert_eq!(network_links(&found).map(|group| group.links).sum::<u64>(), 4 * u64::from(side * side));
    }
}

/// Mesh: half of the traffic crosses the middle, `k / 4` on each of its channels.
#[test]
fn the_middle_of_a_mesh_limits_it() {
    for side in [2, 4, 8, 16, 64] {
        let nodes = f64::from(side * side);
        let found = loads(lattice(&[side, side], false, 1, 1), 0.1);
        let most = network_links(&found).map(LinkGroup::load).fold(0.0, f64::max);
        let exact = 0.1 * f64::from(side) / 4.0 * nodes / (nodes - 1.0);
        assert!((most - exact).abs() < 1e-12, "{side}: {most} {exact}");
    }
    // 4 x 4: 1.0667 of the injection
    let found = loads(lattice(&[4, 4], false, 1, 1), 0.5);
    let bound = found.bottleneck().unwrap();
    assert_eq!(format!("{:.4} {:.4}", bound.load / 0.5, bound.at_load_factor()), "1.0667 1.8750");
    assert_eq!(bound.channel, "channel from router (1,0) to (2,0)");
}

#[test]
fn a_hypercube_is_loaded_as_by_its_formulas() {
    for dimension in 1..=16 {
        let found = loads(NetworkSpec::Hypercube { dimension, self_traffic: None }, 0.2);
        let exact = 0.2 * 2_f64.powi(dimension as i32 - 1) / (2_f64.powi(dimension as i32) - 1.0);
        for group in network_links(&found) {
            assert!((group.load() - exact).abs() < 1e-12, "{dimension}");
        }
    }
}

#[test]
fn real_time_is_limited_by_itself_and_best_effort_by_all() {
    let scenario = Preset::find("mesh4x4").unwrap().scenario();
    let loads = ChannelLoads::of(&scenario);
    let [real_time, best_effort] = [0, 1].map(|class| loads.bound(&scenario, class).unwrap());
    assert!((real_time.load - 0.128 * 16.0 / 15.0).abs() < 1e-12);
    assert!((best_effort.load - 2.0 * real_time.load).abs() < 1e-12);
    let silent = scenario.with_rates_scaled(0.0);
    assert_eq!(ChannelLoads::of(&silent).bottleneck(), None);
}

#[test]
fn too_many_paths_are_refused_by_name() {
    let refused = |destination: &str| {
        let text = format!(
            "[network]\ntopology = 'mesh'\nradix = [64, 64, 4]\n[[class]]\nname = 'a'\nkind = 'best-effort'\n\
             rate = 0.0001\nmessage_flits = 16\ndestination = {destination}\n"
        );
        supports(&Scenario::from_toml("x", &text).unwrap()).err().map(|refusal| refusal.key)
    };
    assert_eq!(refused("'0-8191'").as_deref(), Some("class.a.destination"));
    for few in ["'uniform'", "'0-15'", "'bit-complement'", "{ hot = 3, share = 0.1 }"] {
        assert_eq!(refused(few), None, "{few}");
    }
}

/// A matrix of rates loads channels as classes of one sender each do.
#[test]
fn rates_of_senders_load_channels_as_classes_of_their_own() {
    let text = |classes: &str| {
        let network = "[network]\ntopology = 'mesh'\nradix = [3, 3]\n";
        Scenario::from_toml("x", &format!("{network}{classes}")).unwrap()
    };
    let rows = [(0, 8, 0.004), (0, 2, 0.001), (4, 8, 0.01), (7, 1, 0.0005)];
    let matrix: String = rows.iter().map(|(from, to, rate)| format!("{from},{to},{rate}\\n")).collect();
    let whole = text(&format!(
        "[[class]]\nname = 'a'\nkind = 'best-effort'\nmessage_flits = 7\n\
         destination = {{ matrix = \"source,destination,rate\\n{matrix}\" }}\n"
    ));
    let one = |(place, (from, to, rate)): (usize, &(u32, u32, f64))| {
        format!(
            "[[class]]\nname = 'a{place}'\nkind = 'best-effort'\nmessage_flits = 7\nnodes = [{from}]\nrate = {rate}\n\
             destination = {to}\n"
        )
    };
    let parts = text(&rows.iter().enumerate().map(one).collect::<String>());
    let (found, wanted) = (links(&whole), links(&parts));
    assert_eq!(found.len(), wanted.len());
    for (found, wanted) in found.iter().zip(&wanted) {
        assert!((found.load - wanted.load).abs() < 1e-15, "{found:?} {wanted:?}");
    }
    // messages from 0 cross four and two channels, those from 4 and 7 two
    let hops = ChannelLoads::of(&whole).mean_hops(0, whole.senders(0).len()) / 7.0 / whole.classes()[0].rate;
    let wanted = (0.004 * 4.0 + 0.001 * 2.0 + 0.01 * 2.0 + 0.0005 * 2.0) / 0.0155;
    assert!((hops - wanted).abs() < 1e-12, "{hops} {wanted}");
}

/// A link of a third of the capacity is full at a third of the load, and a flow over it has a third of the bandwidth.
#[test]
fn loads_are_shares_of_what_links_carry() {
    let of = |capacity: &str, switch: &str| {
        let file = format!("node a s0\\nnode b s1{capacity}\\nlink s0 s1{capacity}\\n");
        let (kind, rate) = if switch.is_empty() {
            ("kind = 'best-effort'\nmessage_flits = 16\n", 0.01)
        } else {
            ("", 0.002)
        };
        let text = format!(
            "[network]\ntopology = 'file'\nfile = \"{file}\"\n{switch}[[class]]\nname = 'a'\n{kind}\
             rate = {rate}\n"
        );
        Scenario::from_toml("x", &text).unwrap()
    };
    for (switch, load) in [("", 0.16), ("[switch]\n[measure]\nend = 1000\n", 0.128)] {
        let (slow, usual) = (of(" capacity=1/3", switch), of("", switch));
        let [slow_loads, loads] = [&slow, &usual].map(|one| ChannelLoads::of(one).by_kind(switch.is_empty()));
        for (found, before) in slow_loads.iter().zip(&loads) {
            let links = if found.channel == "link" { 3.0 } else { 2.0 };
            assert!((before.load_mean_share - load).abs() < 1e-12, "{before:?}");
            assert!((found.load_max_share - 3.0 * load).abs() < 1e-12, "{found:?}");
            assert!((found.load_mean_share - links * load).abs() < 1e-12, "{found:?}");
            assert!((found.full_at_load_factor.unwrap() - 1.0 / (3.0 * load)).abs() < 1e-9, "{found:?}");
            assert_eq!(found.load_max_flits_per_cycle, before.load_max_flits_per_cycle);
        }
        let bound = ChannelLoads::of(&slow).bound(&slow, 0).unwrap();
        assert!((bound.load - 3.0 * load).abs() < 1e-12 && (bound.flits - load).abs() < 1e-12, "{bound:?}");
        assert_eq!(effective_bisection(&*usual.topology(), 2, true), [1.0, 1.0]);
        let shares = effective_bisection(&*slow.topology(), 2, true);
        assert!(shares.iter().all(|share| (share - 1.0 / 3.0).abs() < 1e-15), "{shares:?}");
        let most = links(&slow).iter().map(Link::share).fold(0.0, f64::max);
        assert!((most - 3.0 * load).abs() < 1e-12, "{most}");
    }
}

/// A flow has no more than the link of its sender, or of its receiver, carries.
#[test]
fn a_slow_host_has_a_share_of_a_flow_either_way() {
    let text = "[network]\ntopology = 'file'\nfile = \"node a s0 capacity=1/4\\nnode b s0\\n\"\n[[class]]\nname = 'a'\n\
                kind = 'best-effort'\nrate = 0.01\n";
    let network = Scenario::from_toml("x", text).unwrap().topology();
    assert_eq!(effective_bisection(&*network, 2, true), [0.25, 0.25]);
}

/// Two switches with `links` links, of four nodes each, and what nodes 0 to 3 send as packets or messages.
fn two_switches(links: u32, destination: &str, is_switched: bool) -> Scenario {
    let nodes: String = (0..8).map(|node| format!("node n{node} s{}\\n", node / 4)).collect();
    let (switch, class) = match is_switched {
        true => ("[switch]\n[measure]\nend = 1000\n", "rate = '50 %'"),
        false => ("", "kind = 'best-effort'\nmessage_flits = 16\nrate = 0.03125"),
    };
    let text = format!(
        "[network]\ntopology = 'file'\nfile = \"{nodes}link s0 s1 links={links}\\n\"\n{switch}[[class]]\nname = 'a'\n\
         {class}\nnodes = '0-3'\ndestination = {destination}\n"
    );
    Scenario::from_toml("x", &text).unwrap()
}

/// Loads of the links from switch 0 to switch 1.
fn loads_across(scenario: &Scenario) -> Vec<f64> {
    let network = scenario.topology();
    let between = links(scenario).into_iter().filter(|link| link.router == 0 && link.is_between_routers());
    between.flat_map(|link| vec![link.load; network.parallel(link.router, link.port) as usize]).collect()
}

/// Nodes 4 to 7 take turns over two links, or three: packets to some of them are not shared alike, messages are.
#[test]
fn packets_load_the_parallel_links_that_their_destinations_name() {
    for (links, destination, packets) in [
        (1, "'4-7'", vec![2.0]),
        (2, "'4-7'", vec![1.0, 1.0]),
        (2, "[4, 6]", vec![2.0, 0.0]),
        (2, "[4, 5, 6]", vec![4.0 / 3.0, 2.0 / 3.0]),
        (2, "7", vec![0.0, 2.0]),
        (3, "'4-7'", vec![1.0, 0.5, 0.5]),
        (3, "'uniform'", vec![4.0 / 7.0, 2.0 / 7.0, 2.0 / 7.0]),
    ] {
        let close = |found: &[f64], wanted: &[f64]| {
            let is_close = |(found, wanted): (&f64, &f64)| (found - wanted).abs() < 1e-12;
            assert!(
                found.len() == wanted.len() && found.iter().zip(wanted).all(is_close),
                "{found:?}, {wanted:?}"
            );
        };
        close(&loads_across(&two_switches(links, destination, true)), &packets);
        let each = packets.iter().sum::<f64>() / f64::from(links);
        close(&loads_across(&two_switches(links, destination, false)), &vec![each; links as usize]);
    }
}

/// What is told of a link says which of the parallel ones it is, where they are not loaded alike.
#[test]
fn a_link_is_told_from_those_beside_it() {
    for (destination, is_switched, wanted) in [
        ("[4, 6]", true, "channel from router s0 to s1, link 1 of 3"),
        ("5", true, "channel from router s0 to s1, link 2 of 3"),
        ("5", false, "channel from router s0 to s1"),
    ] {
        let groups = ChannelLoads::of(&two_switches(3, destination, is_switched)).groups;
        let across = groups.iter().find(|group| group.kind == ChannelKind::Link && group.load() > 0.0);
        assert_eq!(across.unwrap().first, wanted);
    }
}

/// A flow has its share of the link that it takes: flows to nodes 4 and 6 share one of two.
#[test]
fn bisection_of_packets_follows_the_links_that_they_take() {
    let [packets, messages] =
        [true, false].map(|is_switched| two_switches(2, "'uniform'", is_switched).topology());
    let [of_packets, of_messages] =
        [&packets, &messages].map(|network| effective_bisection(&**network, 200, false));
    for (number, found) in (1..).zip(&of_packets) {
        let pairs = flitwise_language::scenario::Halves::new(number).pairs(8);
        let link = |(from, to): &(u32, u32)| ((from / 4) != (to / 4)).then_some((from / 4, to % 2));
        let share = |pair: &(u32, u32)| {
            link(pair)
                .map_or(1.0, |own| 1.0 / pairs.iter().filter(|one| link(one) == Some(own)).count() as f64)
        };
        let wanted = pairs.iter().map(share).sum::<f64>() / 4.0;
        assert!((found - wanted).abs() < 1e-12, "{number}: {found}, {wanted}");
    }
    let mean = |each: &[f64]| each.iter().sum::<f64>() / each.len() as f64;
    assert!(mean(&of_packets) < mean(&of_messages) - 0.02, "{} {}", mean(&of_packets), mean(&of_messages));
}
