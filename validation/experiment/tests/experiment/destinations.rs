//! Senders and destinations: who sends, how often where, and how many flits each channel carries for it.

use std::collections::BTreeMap;

use flitwise_language::network::ChannelKind;
use flitwise_language::scenario::{
    ClassSpec, DestinationPattern, DestinationSpec, HotSpot, NetworkSpec, NodeList, Radix, RouterSpec,
    Scenario, ScenarioSpec,
};
use flitwise_simulator::Delivery;
use flitwise_simulator::{Channel, Simulator};

use crate::exact::{drained, path};

fn mesh(sides: &[u32], nodes_per_router: u32) -> NetworkSpec {
    NetworkSpec::Mesh {
        radix: Radix::of(sides).unwrap(),
        dimensions: None,
        nodes_per_router,
        links: 1,
        self_traffic: None,
    }
}

fn networks() -> [NetworkSpec; 6] {
    let torus = |sides: &[u32]| NetworkSpec::Torus {
        radix: Radix::of(sides).unwrap(),
        dimensions: None,
        nodes_per_router: 1,
        links: 1,
        self_traffic: None,
    };
    let cube = NetworkSpec::Hypercube { dimension: 4, self_traffic: None };
    let to_others = NetworkSpec::Router { ports: 16, self_traffic: Some(false) };
    let to_all = NetworkSpec::Hypercube { dimension: 4, self_traffic: Some(true) };
    let router = NetworkSpec::Router { ports: 16, self_traffic: None };
    [router, cube, mesh(&[4, 2], 2), torus(&[4, 4]), to_others, to_all]
}

/// Every kind of destination, and two lists of senders.
fn classes() -> Vec<ClassSpec> {
    let lists = [NodeList::of([3]), NodeList::of([9, 1, 5, 14])].map(DestinationSpec::Nodes);
    let spots = [0.1, 0.6].map(|share| DestinationSpec::Hot(HotSpot { hot: 5, share }));
    let named = DestinationPattern::ALL.map(DestinationSpec::Named);
    let all = [DestinationSpec::Uniform].into_iter().chain(lists).chain(spots).chain(named);
    let senders = [Some(NodeList::of([0, 1, 2, 4, 5, 15])), None];
    let class = |(index, destination): (usize, DestinationSpec)| {
        let nodes = senders[index % 2].clone();
        let class = ClassSpec::best_effort("BE", 0.004);
        ClassSpec { message_flits: 3, virtual_channels: 2, nodes, destination, ..class }
    };
    all.enumerate().map(class).collect()
}

/// Each of these classes alone in each network that allows it.
fn scenarios() -> impl Iterator<Item = Scenario> {
    let pairs = networks()
        .into_iter()
        .flat_map(|network| classes().into_iter().map(move |class| (network.clone(), class)));
    pairs.filter_map(|(network, class)| {
        let spec = ScenarioSpec { network, classes: vec![class], ..ScenarioSpec::default() };
        spec.check().ok()
    })
}

fn simulated(scenario: &Scenario, cycles: u64) -> (Simulator, Vec<Delivery>) {
    let (mut simulator, mut delivered) = (Simulator::new(scenario, 2004), Vec::new());
    simulator.run_until(cycles, &mut delivered);
    (simulator, delivered)
}

/// The chi-square that so many degrees of freedom exceed with probability 0.001 (Wilson and Hilferty 1931).
fn chi_square_at_a_thousandth(freedom: f64) -> f64 {
    let part = 2.0 / (9.0 * freedom);
    freedom * (1.0 - part + 3.0902 * part.sqrt()).powi(3)
}

/// At a level of 0.001 for each of the scenarios.
#[test]
fn destinations_are_drawn_as_often_as_they_should_be() {
    let mut tested = 0;
    for scenario in scenarios() {
        let (_, delivered) = simulated(&scenario, 200_000);
        let mut counts: BTreeMap<(u32, u32), u64> = BTreeMap::new();
        delivered.iter().for_each(|one| *counts.entry((one.source, one.destination)).or_default() += 1);
        let (destinations, senders) = (scenario.destinations(0), scenario.senders(0));
        let (mut chi_square, mut freedom) = (0.0, 0.0);
        for &sender in &senders {
            let to: Vec<(u32, f64)> = destinations.towards(sender).each().collect();
            let count = |node: u32| counts.get(&(sender, node)).copied().unwrap_or(0) as f64;
            let all: f64 = to.iter().map(|(node, _)| count(*node)).sum();
            chi_square +=
                to.iter().map(|(node, p)| (count(*node) - all * p).powi(2) / (all * p)).sum::<f64>();
            freedom += to.len() as f64 - 1.0;
            counts.retain(|way, _| way.0 != sender || to.iter().all(|(node, _)| *node != way.1));
            // 800 on average: within five deviations
            assert!((all - 800.0).abs() < 5.0 * 800f64.sqrt(), "{all} messages of {sender}");
        }
        assert!(counts.is_empty(), "{:?}: {counts:?}", scenario.classes()[0].destination);
        if freedom > 0.0 {
            let most = chi_square_at_a_thousandth(freedom);
            assert!(chi_square < most, "{chi_square} of {freedom}: {:?}", scenario.classes()[0].destination);
            tested += 1;
        }
    }
    assert!(tested >= 16, "{tested}");
}

#[test]
fn all_messages_of_every_pattern_are_delivered() {
    for scenario in scenarios() {
        let mut spec = scenario.spec().clone();
        spec.classes[0].rate = 0.1;
        spec.router = RouterSpec { buffer_flits: 2, ..spec.router };
        let (simulator, delivered) = drained(&spec.check().unwrap(), 7, 2_000);
        // a tornado stands still where there are two routers along every dimension
        assert_eq!(delivered.len() > 100, !scenario.senders(0).is_empty());
        let sent: u64 = simulator
            .channel_flits()
            .iter()
            .map(|(channel, _, flits)| match channel.kind {
                ChannelKind::Injection | ChannelKind::Ejection => *flits,
                _ => 0,
            })
            .sum();
        assert_eq!(sent, 2 * 3 * delivered.len() as u64);
    }
}

/// Flits per cycle of each channel, by enumeration of all ways.
fn enumerated(scenario: &Scenario) -> BTreeMap<Channel, f64> {
    let mut loads = BTreeMap::new();
    for (class, spec) in scenario.classes().iter().enumerate() {
        let destinations = scenario.destinations(class);
        let flits = spec.rate * f64::from(spec.message_flits);
        for source in scenario.senders(class) {
            for (destination, probability) in destinations.towards(source).each() {
                for channel in path(scenario.network().clone(), source, destination) {
                    *loads.entry(channel).or_insert(0.0) += flits * probability;
                }
            }
        }
    }
    loads
}

/// At a level of 1e-5 for each channel: the messages over it are Poisson.
#[test]
fn channels_carry_what_the_enumeration_of_ways_says() {
    const CYCLES: u64 = 400_000;
    let hot = ClassSpec {
        message_flits: 4,
        destination: DestinationSpec::Hot(HotSpot { hot: 5, share: 0.2 }),
        ..ClassSpec::best_effort("hot", 0.01)
    };
    let some = ClassSpec {
        message_flits: 8,
        nodes: Some(NodeList::of([0, 3, 12, 15])),
        destination: DestinationSpec::Nodes(NodeList::of([6, 9])),
        ..ClassSpec::real_time("some", 0.01)
    };
    let spec =
        ScenarioSpec { network: mesh(&[4, 4], 1), classes: vec![hot, some], ..ScenarioSpec::default() };
    let scenario = spec.check().unwrap();
    let mut carried: BTreeMap<Channel, f64> = BTreeMap::new();
    for (channel, _, flits) in simulated(&scenario, CYCLES).0.channel_flits() {
        *carried.entry(channel).or_default() += flits as f64;
    }
    let wanted = enumerated(&scenario);
    assert_eq!((wanted.len(), carried.len()), (16 + 48 + 16, 16 + 48 + 16));
    for (channel, load) in wanted {
        let (found, cycles) = (carried[&channel], CYCLES as f64);
        // batches of at most 8 flits: a variance of at most 8 flits for each; those under way at the end beside it
        let deviation = (8.0 * load * cycles).sqrt();
        assert!((found - load * cycles).abs() < 4.42 * deviation + 64.0, "{channel:?}: {found}, {load}");
    }
}
