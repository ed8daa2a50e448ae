//! The fast simulator against the plain one, to the cycle: on what can be reckoned by hand, and on random scenarios
//! full of ties and back-pressure.

use std::fmt::Write as _;

use flitwise_language::network::{Network, exported};
use flitwise_language::quantity::Waits;
use flitwise_language::scenario::{
    Allocation, ClassKind, ClassSpec, Crossbar, DestinationPattern, DestinationSpec, EndOfTraffic, GraphFile,
    GraphRouting, HotSpot, MeasureSpec, NetworkSpec, NodeList, PerLevel, Preset, Radix, RouterSpec, Scenario,
    ScenarioSpec, Scheduler, TreeDelay, TreeRouting, VcChoice,
};
use flitwise_simulator::{Arrival, ChannelChoice, Delivery, Offer};
use flitwise_simulator::{Simulator, offers, plain, replay, replay_offers};
use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestError, TestRunner};

use crate::sources::{cases, seed_of_sources};

/// More cycles than any of the scenarios here needs.
const LIMIT: u64 = 100_000;

/// The deliveries, on which both simulators have to agree.
fn simulated(scenario: &Scenario, arrivals: &[Arrival]) -> Vec<Delivery> {
    let deliveries = plain::replay(scenario, arrivals, LIMIT);
    assert_eq!(deliveries.len(), arrivals.len());
    assert_eq!(replay(scenario, arrivals, LIMIT), deliveries);
    deliveries
}

// -------------------------------------------------------------------------------- what is known by hand

const ROUTER: NetworkSpec = NetworkSpec::Router { ports: 4, self_traffic: None };

fn scenario(network: NetworkSpec, router: RouterSpec, classes: Vec<ClassSpec>) -> Scenario {
    ScenarioSpec { name: "by hand".to_owned(), network, router, classes, ..ScenarioSpec::default() }
        .check()
        .unwrap()
}

/// A real-time class of one-flit messages.
fn single_flits(name: &str, vtick: f64) -> ClassSpec {
    ClassSpec { message_flits: 1, vtick: Some(vtick), ..ClassSpec::real_time(name, 0.01) }
}

fn arrival(cycle: u64, source: u32, destination: u32, class: u8) -> Arrival {
    Arrival { cycle, source, destination, class }
}

fn latencies(deliveries: &[Delivery]) -> Vec<u64> {
    deliveries.iter().map(Delivery::network_latency_cycles).collect()
}

/// Input, arbitration, output and gaps; the transfer is asserted where all deliveries are.
fn waits(delivery: &Delivery) -> [u32; 4] {
    let Waits { input, arbitration, output, gaps } = delivery.waits;
    [input, arbitration, output, gaps]
}

#[test]
fn a_lone_message_takes_one_cycle_per_stage_and_flit() {
    for (buffer_flits, pipeline_stages, message_flits) in
        [3, 4, 5, 32, 64].iter().flat_map(|b| (3..=7).flat_map(move |p| [1, 2, 32].map(|m| (*b, p, m))))
    {
        let router = RouterSpec { buffer_flits, pipeline_stages, ..RouterSpec::default() };
        let class = ClassSpec { message_flits, ..ClassSpec::real_time("R1", 0.001) };

        let alone = |network, destination| {
            let scenario = scenario(network, router, vec![class.clone()]);
            let deliveries = simulated(&scenario, &[arrival(9, 0, destination, 0)]);
            assert_eq!(deliveries.len(), 1);
            assert_eq!(deliveries[0].waiting_cycles(), 1);
            assert_eq!(waits(&deliveries[0]), [0; 4]);
            deliveries[0]
        };
        let (p, m) = (u64::from(pipeline_stages), u64::from(message_flits));
        for destination in 0..4 {
            assert_eq!(alone(ROUTER, destination).network_latency_cycles(), p - 1 + m);
        }
        for destination in 1..16u32 {
            let delivery = alone(NetworkSpec::Hypercube { dimension: 4, self_traffic: None }, destination);
            let hops = u64::from(destination.count_ones());
            assert_eq!(u64::from(delivery.hops), hops);
            assert_eq!(delivery.network_latency_cycles(), p - 1 + p * hops + m, "b = {buffer_flits}");
        }
    }
}

#[test]
fn the_second_of_two_messages_of_a_class_waits_for_the_first_and_one_cycle() {
    let scenario = scenario(ROUTER, RouterSpec::default(), vec![ClassSpec::real_time("R1", 0.001)]);
    let deliveries = simulated(&scenario, &[arrival(0, 1, 3, 0), arrival(0, 2, 3, 0)]);
    assert_eq!(latencies(&deliveries), [36, 36 + 32 + 1]);
    assert_eq!(waits(&deliveries[0]), [0; 4]);
    assert_eq!(waits(&deliveries[1]), [0, 32 + 1, 0, 0]);
}

#[test]
fn best_effort_lets_real_time_pass() {
    let classes = vec![ClassSpec::real_time("R1", 0.001), ClassSpec::best_effort("BE", 0.001)];
    for (first, second) in [(0, 1), (1, 0)] {
        let scenario = scenario(ROUTER, RouterSpec::default(), classes.clone());
        let deliveries = simulated(&scenario, &[arrival(0, 1, 3, first), arrival(0, 2, 3, second)]);
        assert_eq!(deliveries.iter().map(|delivery| delivery.class).collect::<Vec<_>>(), [0, 1]);
        assert_eq!(latencies(&deliveries), [36, 68]);
        assert_eq!(waits(&deliveries[0]), [0; 4]);
        // its header has crossed and waits for the link; its other flits have room behind it
        assert_eq!(waits(&deliveries[1]), [0, 0, 32, 0]);
    }
}

/// So two crossbar cycles are lost between messages of one input lane with `P = 5`, even to different outputs.
#[test]
fn a_message_behind_another_is_routed_and_arbitrated_anew() {
    let classes = vec![ClassSpec::real_time("R1", 0.001)];
    for (pipeline_stages, lost) in [(3, 0), (4, 1), (5, 2), (6, 3), (7, 4)] {
        let router = RouterSpec { pipeline_stages, ..RouterSpec::default() };
        let scenario = scenario(ROUTER, router, classes.clone());
        let deliveries = simulated(&scenario, &[arrival(0, 0, 1, 0), arrival(0, 0, 2, 0)]);
        let apart = deliveries[1].delivered_cycle - deliveries[0].delivered_cycle;
        assert_eq!(apart, 32 + lost, "P = {pipeline_stages}");
        assert_eq!(deliveries[1].waiting_cycles(), 32 + 1);
        assert_eq!(waits(&deliveries[1]), [lost as u32, 0, 0, 0], "P = {pipeline_stages}");
    }
}

/// S8: of two best-effort classes the flit that has waited longer goes first, whatever its class.
#[test]
fn best_effort_classes_are_of_one_level() {
    let classes = ["A", "B"].map(|name| ClassSpec::best_effort(name, 0.001)).to_vec();
    let scenario = scenario(ROUTER, RouterSpec::default(), classes);
    let deliveries = simulated(&scenario, &[arrival(0, 1, 3, 0), arrival(20, 2, 3, 1)]);
    // from the 20th cycle on their flits join in pairs: the last 12 of the first go every other cycle
    assert_eq!(latencies(&deliveries), [36 + 11, 36 + 12]);
    let backlog = [(0, 1, 2), (5, 0, 2)];
    let flits = ["A", "B"].map(|name| ClassSpec { message_flits: 1, ..ClassSpec::best_effort(name, 0.01) });
    for scheduler in Scheduler::OF_CLASSES.into_iter().filter(|one| !matches!(one, Scheduler::RoundRobin)) {
        assert_eq!(order_at_interface(scheduler, &flits, &backlog), [1, 1, 0, 0], "{scheduler:?}");
    }
    let at_once = [(0, 1, 2), (0, 0, 2)];
    assert_eq!(order_at_interface(Scheduler::VirtualClock, &flits, &at_once), [0, 0, 1, 1]);
}

/// A real-time message that comes when a best-effort one is half through: the header of that is gone.
#[test]
fn flits_behind_the_header_share_the_link() {
    let classes = vec![ClassSpec::real_time("R1", 0.001), ClassSpec::best_effort("BE", 0.001)];
    let scenario = scenario(ROUTER, RouterSpec::default(), classes);
    let deliveries = simulated(&scenario, &[arrival(0, 1, 3, 1), arrival(10, 2, 3, 0)]);
    assert_eq!(deliveries.iter().map(waits).collect::<Vec<_>>(), [[0, 0, 0, 32], [0; 4]]);
}

/// Two messages of a class meet in the second router of one of them, and stay together to the last.
#[test]
fn waits_of_all_routers_count() {
    let network = NetworkSpec::Hypercube { dimension: 2, self_traffic: None };
    let scenario = scenario(network, RouterSpec::default(), vec![ClassSpec::real_time("R1", 0.001)]);
    // 0 to 3 goes over 1
    let deliveries = simulated(&scenario, &[arrival(0, 0, 3, 0), arrival(0, 1, 3, 0)]);
    let from = |source| waits(deliveries.iter().find(|delivery| delivery.source == source).unwrap());
    assert_eq!(from(1), [0; 4]);
    // it requests 5 cycles after the other, is granted M + 1 after it, and so comes in behind it in 3 with one
    // cycle between them: one of the two that are lost between messages of a lane
    assert_eq!(from(0), [1, 33 - 5, 0, 0]);
}

/// Buffers of one flit: a slot is taken for three cycles behind a link, and for two behind a crossbar.
#[test]
fn a_single_slot_lets_a_flit_pass_every_third_cycle() {
    let router = RouterSpec { buffer_flits: 1, pipeline_stages: 3, ..RouterSpec::default() };
    let scenario = scenario(ROUTER, router, vec![ClassSpec::real_time("R1", 0.001)]);
    let deliveries = simulated(&scenario, &[arrival(0, 0, 1, 0)]);
    assert_eq!(latencies(&deliveries), [3 + 3 * 31]);
    // the header goes as it would with more room, all others are held up by two cycles each
    assert_eq!(waits(&deliveries[0]), [0, 0, 0, 2 * 31]);
}

/// S1: of equal requests the first port after the one that was granted last wins.
#[test]
fn equal_requests_take_turns() {
    let scenario = scenario(ROUTER, RouterSpec::default(), vec![ClassSpec::real_time("R1", 0.001)]);
    let mut arrivals: Vec<Arrival> = (0..4).map(|source| arrival(0, source, 0, 0)).collect();
    let order = |arrivals: &[Arrival]| {
        let mut deliveries = simulated(&scenario, arrivals);
        deliveries.sort_by_key(|delivery| delivery.delivered_cycle);
        deliveries.iter().map(|delivery| delivery.source).collect::<Vec<_>>()
    };
    assert_eq!(order(&arrivals), [0, 1, 2, 3]);
    arrivals.iter_mut().for_each(|arrival| arrival.cycle = 1_000);
    arrivals.insert(0, arrival(0, 1, 0, 0));
    assert_eq!(order(&arrivals), [1, 2, 3, 0, 1]);
}

/// V2: with two virtual channels the second message does not wait for the first, but shares the link with it.
#[test]
fn a_free_virtual_channel_lets_a_message_pass_another() {
    let with = |virtual_channels| ClassSpec { virtual_channels, ..ClassSpec::best_effort("BE", 0.001) };
    let arrivals = [arrival(0, 1, 3, 0), arrival(0, 2, 3, 0), arrival(0, 0, 3, 0)];
    let blocked = |virtual_channels| {
        let scenario = scenario(ROUTER, RouterSpec::default(), vec![with(virtual_channels)]);
        let deliveries = simulated(&scenario, &arrivals);
        deliveries.iter().map(|delivery| delivery.waits.arbitration).collect::<Vec<_>>()
    };
    assert_eq!(blocked(1), [0, 33, 66]);
    // the third is granted the lane of the first in the cycle after its tail has crossed
    assert_eq!(blocked(2), [0, 0, 33]);
    assert_eq!(blocked(3), [0, 0, 0]);
}

/// V3: messages that have drawn one virtual channel wait for it, though others are free.
#[test]
fn drawn_virtual_channels_are_waited_for() {
    let class = ClassSpec { virtual_channels: 4, ..ClassSpec::best_effort("BE", 0.001) };
    let router = RouterSpec { vc_choice: VcChoice::Drawn, ..RouterSpec::default() };
    let scenario = scenario(ROUTER, router, vec![class]);
    let mut drawn = offers(&scenario, &[arrival(0, 1, 3, 0), arrival(0, 2, 3, 0)]);
    let mut blocked = |ejection: [u8; 2]| {
        for (offer, ejection) in drawn.iter_mut().zip(ejection) {
            offer.drawn = Some(ChannelChoice { injection: 0, network: 0, ejection });
        }
        let deliveries = replay_offers(&scenario, &drawn, LIMIT);
        assert_eq!(plain::replay_offers(&scenario, &drawn, LIMIT), deliveries);
        deliveries.iter().map(|delivery| delivery.waits.arbitration).sum::<u32>()
    };
    assert_eq!([blocked([2, 3]), blocked([2, 2])], [0, 33]);
}

/// V4: idle lanes of a network interface take messages in the order of their generation.
#[test]
fn a_source_sends_as_many_messages_at_once_as_it_has_virtual_channels() {
    let class = ClassSpec { virtual_channels: 2, ..ClassSpec::best_effort("BE", 0.001) };
    let scenario = scenario(ROUTER, RouterSpec::default(), vec![class]);
    let arrivals: Vec<Arrival> = (0..3).map(|number| arrival(u64::from(number), 0, number, 0)).collect();
    let entered: Vec<u64> =
        simulated(&scenario, &arrivals).iter().map(|delivery| delivery.entered_cycle).collect();
    // of best effort the flits that joined first
    assert_eq!(entered, [1, 33, 65]);
}

/// The classes of one-flit messages in the order in which they leave one network interface, with room in front
/// for all of them.
fn order_at_interface(scheduler: Scheduler, classes: &[ClassSpec], arrivals: &[(u64, u8, usize)]) -> Vec<u8> {
    let router = RouterSpec { scheduler, buffer_flits: 500, ..RouterSpec::default() };
    let scenario = scenario(ROUTER, router, classes.to_vec());
    let several = |&(cycle, class, count)| vec![arrival(cycle, 0, 1, class); count];
    let arrivals: Vec<Arrival> = arrivals.iter().flat_map(several).collect();
    let mut deliveries = simulated(&scenario, &arrivals);
    deliveries.sort_by_key(|delivery| delivery.entered_cycle);
    deliveries.iter().map(|delivery| delivery.class).collect()
}

#[test]
fn schedulers_share_a_backlog_by_their_rules() {
    let with_vticks = |a, b| [ClassSpec::best_effort("BE", 0.01), single_flits("A", a), single_flits("B", b)];
    let backlog = [(0, 0, 2), (0, 1, 4), (0, 2, 4)];
    let order = |scheduler, a, b| {
        let mut classes = with_vticks(a, b);
        classes[0].message_flits = 1;
        order_at_interface(scheduler, &classes, &backlog)
    };
    // stamps 2, 4, 6, 8 and 4, 8, 12, 16
    for scheduler in [Scheduler::VirtualClock, Scheduler::VirtualClockPersistent, Scheduler::FairQueueing] {
        assert_eq!(order(scheduler, 2.0, 4.0), [1, 1, 2, 1, 1, 2, 2, 2, 0, 0], "{scheduler:?}");
    }
    assert_eq!(order(Scheduler::WeightedRoundRobin, 2.0, 4.0), [1, 1, 2, 1, 1, 2, 2, 2, 0, 0]);
    // allowances 1.5 (one flit), 1, 1.5 + 0.5 (two flits), 1, ...
    assert_eq!(order(Scheduler::WeightedRoundRobin, 2.0, 3.0), [1, 2, 1, 1, 2, 1, 2, 2, 0, 0]);
    assert_eq!(order(Scheduler::RoundRobin, 2.0, 4.0), [0, 1, 2, 0, 1, 2, 1, 2, 1, 2]);
    // all joined at once: in turn
    assert_eq!(order(Scheduler::Fifo, 2.0, 4.0), [0, 1, 2, 0, 1, 2, 1, 2, 1, 2]);
}

/// S7: what joined first goes first; of equal ones the class after the one served last, which may be a class that
/// was alone then.
#[test]
fn fifo_goes_on_after_the_class_served_last() {
    let classes = [single_flits("A", 2.0), single_flits("B", 2.0), single_flits("C", 2.0)];
    let order = |arrivals: &[(u64, u8, usize)]| order_at_interface(Scheduler::Fifo, &classes, arrivals);
    let together = [(100, 0, 2), (100, 1, 2), (100, 2, 2)];
    for (alone, then) in [(0, [1, 2, 0, 1, 2, 0]), (1, [2, 0, 1, 2, 0, 1]), (2, [0, 1, 2, 0, 1, 2])] {
        let mut arrivals = vec![(0, alone, 1)];
        arrivals.extend(together);
        assert_eq!(order(&arrivals)[1..], then, "{alone}");
    }
    // two of B came first; C is next after it
    assert_eq!(order(&[(9, 1, 2), (10, 0, 1), (10, 1, 1), (10, 2, 1)]), [1, 1, 2, 0, 1]);
}

/// The same at a crossbar's link: messages of one flit to one destination, from a node for each class.
#[test]
fn fifo_takes_turns_behind_a_crossbar() {
    let classes = vec![single_flits("A", 2.0), single_flits("B", 2.0), single_flits("C", 2.0)];
    let router = RouterSpec { scheduler: Scheduler::Fifo, ..RouterSpec::default() };
    let scenario = scenario(ROUTER, router, classes);
    let order = |before: Option<u8>| {
        let mut arrivals: Vec<Arrival> = before.map(|class| arrival(0, 3, 3, class)).into_iter().collect();
        arrivals.extend((0..3).map(|class| arrival(1_000, u32::from(class), 3, class)));
        let mut deliveries = simulated(&scenario, &arrivals);
        deliveries.sort_by_key(|delivery| delivery.delivered_cycle);
        deliveries
            .iter()
            .map(|delivery| delivery.class)
            .skip(usize::from(before.is_some()))
            .collect::<Vec<_>>()
    };
    assert_eq!(order(None), [0, 1, 2]);
    assert_eq!(order(Some(0)), [1, 2, 0]);
    assert_eq!(order(Some(1)), [2, 0, 1]);
    assert_eq!(order(Some(2)), [0, 1, 2]);
}

/// S2 and S3: class 0 has sent three flits at once long before; only the persistent clock holds it against it.
#[test]
fn only_the_persistent_clock_remembers_an_empty_queue() {
    let classes = [single_flits("A", 10.0), single_flits("B", 25.0)];
    let arrivals = [(0, 0, 3), (10, 0, 1), (10, 1, 1)];
    // A is stamped 10 + 10, or 30 + 10; B 10 + 25
    assert_eq!(order_at_interface(Scheduler::VirtualClock, &classes, &arrivals), [0, 0, 0, 0, 1]);
    assert_eq!(order_at_interface(Scheduler::VirtualClockPersistent, &classes, &arrivals), [0, 0, 0, 1, 0]);
    // v = 30: 30 + 10 and 30 + 25
    assert_eq!(order_at_interface(Scheduler::FairQueueing, &classes, &arrivals), [0, 0, 0, 0, 1]);
}

/// S4: what joins in cycle 50 starts from 500, the stamp of the flit that left in 49; in virtual-clock from 50.
#[test]
fn fair_queueing_starts_from_the_flit_sent_last() {
    let classes = [single_flits("A", 10.0), single_flits("B", 25.0)];
    let arrivals = [(0, 0, 60), (50, 1, 3)];
    let after_50 = |scheduler| order_at_interface(scheduler, &classes, &arrivals)[50..].to_vec();
    assert_eq!(after_50(Scheduler::VirtualClock), [1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    // 510, 520 | 525 | 530, 540, 550 | 550 | 560, 570 | 575 | 580, ...
    assert_eq!(after_50(Scheduler::FairQueueing), [0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0]);
}

/// In a fat tree of any routing a lone message takes as long as in any network of so many channels.
#[test]
fn a_lone_message_in_a_tree_takes_its_stages_whatever_the_routing() {
    let router = RouterSpec { pipeline_stages: 5, buffer_flits: 16, ..RouterSpec::default() };
    for routing in &TreeRouting::ALL {
        let class = ClassSpec { message_flits: 16, ..ClassSpec::best_effort("BE", 0.01) };
        let scenario = scenario(tree(&[4, 4, 4], &[4, 4], &[2, 1], *routing), router, vec![class]);
        for (destination, hops) in [(1, 0), (2, 0), (7, 2), (15, 2), (16, 4), (63, 4)] {
            let offers = offers(&scenario, &[arrival(0, 0, destination, 0)]);
            let delivery = replay_offers(&scenario, &offers, LIMIT)[0];
            assert_eq!(u64::from(delivery.hops), hops, "{routing:?}");
            assert_eq!(delivery.network_latency_cycles(), 20 + 5 * hops, "{routing:?}");
        }
    }
}

/// What the routing draws is drawn apart: destinations, times and virtual channels are those of any other routing.
#[test]
fn another_routing_leaves_messages_as_they_are() {
    let class = ClassSpec { virtual_channels: 3, ..ClassSpec::best_effort("BE", 0.02) };
    let messages = |routing| {
        let router = RouterSpec { vc_choice: VcChoice::Drawn, ..RouterSpec::default() };
        let scenario = scenario(tree(&[4, 4], &[4], &[2], routing), router, vec![class.clone()]);
        flitwise_simulator::generated(&scenario, 7, 5_000)
    };
    let (fixed, drawn) = (messages(TreeRouting::DModK), messages(TreeRouting::RandomUp));
    assert!(fixed.len() > 1_000 && fixed.iter().all(|offer| offer.way == 0));
    let without_way = drawn.iter().map(|offer| Offer { way: 0, ..*offer });
    assert_eq!(fixed, without_way.collect::<Vec<_>>());
    // 4 neighbours over 2 links each
    let count = |way| drawn.iter().filter(|offer| offer.way == way).count() as f64 / drawn.len() as f64;
    let deviation = (0.125_f64 * 0.875 / drawn.len() as f64).sqrt();
    assert!(
        (0..8).all(|way| (count(way) - 0.125).abs() < 5.0 * deviation),
        "{:?}",
        (0..8).map(count).collect::<Vec<_>>()
    );
}

/// Whatever the scheduler: what goes in comes out, no sooner than alone.
#[test]
fn everything_is_delivered() {
    for scheduler in Scheduler::OF_CLASSES {
        for (network, nodes) in
            [(ROUTER, 4), (NetworkSpec::Hypercube { dimension: 3, self_traffic: None }, 8)]
        {
            let router = RouterSpec { scheduler, buffer_flits: 4, ..RouterSpec::default() };
            let classes = vec![
                ClassSpec { message_flits: 8, ..ClassSpec::real_time("R1", 0.01) },
                ClassSpec { message_flits: 5, ..ClassSpec::real_time("R2", 0.02) },
                ClassSpec { message_flits: 12, ..ClassSpec::best_effort("BE", 0.02) },
            ];
            let mut arrivals = Vec::new();
            for number in 0..400u32 {
                let source = number * 7 % nodes;
                let destination = (source + 1 + number / 5 % (nodes - 1)) % nodes;
                arrivals.push(arrival(u64::from(number), source, destination, (number % 3) as u8));
            }
            let scenario = scenario(network, router, classes);
            let deliveries = simulated(&scenario, &arrivals);
            assert_all_delivered(&scenario, &offers(&scenario, &arrivals), &deliveries);
        }
    }
}

/// The delays of all links from a node to another, alike on all ways.
pub(crate) fn delays_on_the_way(network: &Network, source: u32, destination: u32) -> u64 {
    let (router, port) = network.entry(source);
    let hops = network.path(source, destination, 0);
    let behind = hops.map(|hop| u64::from(network.delay(hop.router, hop.port))).sum::<u64>();
    u64::from(network.delay(router, port)) + behind
}

fn assert_all_delivered(scenario: &Scenario, offers: &[Offer], deliveries: &[Delivery]) {
    let what = |offer: &Offer| {
        let Arrival { cycle, source, destination, class } = offer.arrival;
        (cycle, source, destination, class)
    };
    let mut came: Vec<_> = offers.iter().map(what).collect();
    let mut went: Vec<_> =
        deliveries.iter().map(|d| (d.generated_cycle, d.source, d.destination, d.class)).collect();
    came.sort_unstable();
    went.sort_unstable();
    assert_eq!(came, went);
    let (p, network) = (u64::from(scenario.router().pipeline_stages), scenario.topology());
    let (mut transfers, mut lone) = (0, 0);
    for delivery in deliveries {
        assert!(delivery.waiting_cycles() >= 1);
        transfers += delivery.transfer_cycles();
        lone += p - 1 + p * u64::from(delivery.hops);
        lone += delays_on_the_way(&network, delivery.source, delivery.destination);
    }
    // what is left of the latencies is what lone messages take: the parts add up
    assert_eq!(transfers, lone + offers.iter().map(|offer| u64::from(offer.flits)).sum::<u64>());
}

// ------------------------------------------------------------------------------------- meshes and tori

fn delivered(scenario: &Scenario, cycles: u64) -> Vec<Delivery> {
    let (mut simulator, mut deliveries) = (Simulator::new(scenario, 7), Vec::new());
    simulator.run_until(cycles, &mut deliveries);
    deliveries
}

fn lattice(sides: &[u32]) -> (Radix, Option<u32>, u32, u32) {
    (Radix::of(sides).unwrap(), None, 1, 1)
}

/// Built-in networks as files of links and ways are the same networks.
#[test]
fn exported_networks_deliver_the_same_to_the_bit() {
    for preset in ["mesh4x4", "torus8x8", "cube5", "fat-mesh", "fat-tree"] {
        let spec = Preset::find(preset).unwrap().scenario().spec().clone();
        let text = exported(&spec.network.topology()).unwrap().text;
        let file = GraphFile::of(&text).unwrap();
        let network =
            NetworkSpec::Graph { file, routing: GraphRouting::Tables, root: None, self_traffic: None };
        let classes = spec.classes.iter().map(|class| match class.source.has_frames() {
            // messages will do for frames
            true => ClassSpec {
                message_flits: class.message_flits,
                virtual_channels: class.virtual_channels,
                ..ClassSpec::best_effort(&class.name, 0.002)
            },
            false => class.clone(),
        });
        let classes: Vec<ClassSpec> = classes.collect();
        let own = spec.network.topology().self_traffic();
        let of = |mut network: NetworkSpec| {
            *network.self_traffic_mut().unwrap() = Some(own);
            delivered(&scenario(network, spec.router, classes.clone()), 5_000)
        };
        let deliveries = of(spec.network.clone());
        assert!(deliveries.len() > 1_000, "{preset}: {}", deliveries.len());
        assert_eq!(of(network), deliveries, "{preset}");
    }
}

#[test]
fn a_mesh_of_radix_2_is_the_hypercube_to_the_bit() {
    let (radix, dimensions, nodes_per_router, links) = lattice(&[2; 4]);
    let mesh = NetworkSpec::Mesh { radix, dimensions, nodes_per_router, links, self_traffic: None };
    for scheduler in Scheduler::OF_CLASSES {
        let router = RouterSpec { scheduler, buffer_flits: 4, ..RouterSpec::default() };
        let classes = vec![
            ClassSpec { message_flits: 8, virtual_channels: 2, ..ClassSpec::real_time("R1", 0.02) },
            ClassSpec { message_flits: 8, ..ClassSpec::best_effort("BE", 0.04) },
        ];
        let cube =
            scenario(NetworkSpec::Hypercube { dimension: 4, self_traffic: None }, router, classes.clone());
        let deliveries = delivered(&cube, 20_000);
        assert!(deliveries.len() > 10_000);
        assert_eq!(
            delivered(&scenario(mesh.clone(), router, classes), 20_000),
            deliveries,
            "{}",
            scheduler.word()
        );
    }
}

/// N1: channels of a ring do not wait for each other in a circle, however full it is.
#[test]
fn an_overloaded_torus_goes_on_delivering() {
    let (radix, dimensions, nodes_per_router, links) = lattice(&[5, 4]);
    let torus = NetworkSpec::Torus { radix, dimensions, nodes_per_router, links, self_traffic: None };
    for (vc_choice, virtual_channels) in
        VcChoice::ALL.into_iter().flat_map(|choice| [(choice, 2), (choice, 5)])
    {
        let router = RouterSpec { vc_choice, buffer_flits: 3, ..RouterSpec::default() };
        let class =
            ClassSpec { message_flits: 16, virtual_channels, ..ClassSpec::best_effort("BE", 1.0 / 16.0) };
        let deliveries = delivered(&scenario(torus.clone(), router, vec![class]), 30_000);
        let late = deliveries.iter().filter(|delivery| delivery.delivered_cycle >= 20_000).count();
        let flits_per_cycle_node = late as f64 * 16.0 / 10_000.0 / 20.0;
        assert!(flits_per_cycle_node > 0.2, "{}: {flits_per_cycle_node}", vc_choice.word());
    }
}

/// N2: the second of two messages to one router takes the other link; a third waits at the first, which is free first.
#[test]
fn messages_spread_over_parallel_links() {
    let network = NetworkSpec::Mesh {
        radix: Radix::of(&[2]).unwrap(),
        dimensions: None,
        nodes_per_router: 3,
        links: 2,
        self_traffic: None,
    };
    let scenario = scenario(network, RouterSpec::default(), vec![ClassSpec::best_effort("BE", 0.001)]);
    // nodes 0 to 2 are at router 0, the others at router 1
    let deliveries = simulated(&scenario, &[arrival(0, 0, 3, 0), arrival(0, 1, 4, 0), arrival(0, 2, 5, 0)]);
    assert_eq!(deliveries.iter().map(|delivery| delivery.waits.arbitration).collect::<Vec<_>>(), [0, 0, 33]);
}

// ---------------------------------------------------------------------------------- random scenarios

/// Small networks: what goes wrong shows in few ports, and soon.
fn network() -> impl Strategy<Value = NetworkSpec> {
    // in most cases as the topology has it
    let own = prop::option::weighted(0.2, any::<bool>());
    (wiring(), own).prop_map(|(mut network, own)| {
        *network.self_traffic_mut().unwrap() = own;
        network
    })
}

fn wiring() -> impl Strategy<Value = NetworkSpec> {
    prop_oneof![
        2 => (2u32..=5).prop_map(|ports| NetworkSpec::Router { ports, self_traffic: None }),
        2 => (1u32..=3).prop_map(|dimension| NetworkSpec::Hypercube { dimension, self_traffic: None }),
        2 => (prop::collection::vec(2u32..=3, 1..=2), 1u32..=2, 1u32..=3).prop_map(
            |(sides, nodes_per_router, links)| {
                let radix = Radix::of(&sides).unwrap();
                NetworkSpec::Mesh { radix, dimensions: None, nodes_per_router, links, self_traffic: None }
            }
        ),
        2 => (3u32..=5, 1u32..=2, 1u32..=2, 1u32..=2).prop_map(|(side, dimensions, nodes_per_router, links)| {
            let radix = Radix::of(&[side.min(6 / dimensions)]).unwrap();
            NetworkSpec::Torus {
                radix,
                dimensions: Some(dimensions),
                nodes_per_router,
                links,
                self_traffic: None,
            }
        }),
        2 => trees(0),
        1 => trees(5),
        3 => (any::<u64>(), prop::sample::select(vec![0, 0, 2, 8])).prop_map(|(seed, longest)| {
            let mut state = seed;
            let mut draw = |below| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 33) as u32 % below
            };
            graph(&mut draw, longest)
        }),
    ]
}

/// Up to six switches, each joined to one before it and some to others, with one or two parallel links, and two to
/// eight nodes; links one way where shortest ways do not wait for each other in a circle, else up-down. Some of them
/// have a delay up to the longest, and some less capacity than others where that is not 0.
pub(crate) fn graph(draw: &mut impl FnMut(u32) -> u32, longest: u32) -> NetworkSpec {
    let switches = 1 + draw(6);
    let mut joined: Vec<(u32, u32)> = (1..switches).map(|switch| (draw(switch), switch)).collect();
    let both_ways = joined.len();
    for _ in 0..draw(5) {
        let (one, other) = (draw(switches), draw(switches));
        if one < other && !joined.contains(&(one, other)) {
            joined.push((one, other));
        }
    }
    let mut text = String::new();
    for node in 0..2 + draw(7) {
        let switch = draw(switches);
        text += &format!("node n{node} s{switch}{}\n", drawn_time(draw, longest));
    }
    for (at, (one, other)) in joined.iter().enumerate() {
        let word = if at >= both_ways && draw(3) == 0 { "arc" } else { "link" };
        let links = 1 + draw(6) / 4;
        text += &format!("{word} s{one} s{other} links={links}{}\n", drawn_time(draw, longest));
    }
    let spec = |text: &str, routing| {
        let file = GraphFile::of(text).unwrap();
        NetworkSpec::Graph { file, routing, root: None, self_traffic: None }
    };
    let shortest = spec(&text, GraphRouting::Shortest);
    let is_fit = ScenarioSpec { network: shortest.clone(), ..ScenarioSpec::default() }.check().is_ok();
    if is_fit && draw(2) == 0 { shortest } else { spec(&text.replace("arc", "link"), GraphRouting::UpDown) }
}

/// The delay of a line, in half of all cases none, and its capacity, in a quarter less than that of others.
fn drawn_time(draw: &mut impl FnMut(u32) -> u32, longest: u32) -> String {
    if longest == 0 {
        return String::new();
    }
    let delay = if draw(2) == 0 { String::new() } else { format!(" delay={}", 1 + draw(longest)) };
    if draw(4) == 0 { format!("{delay} capacity=1/{}", 2 + draw(4)) } else { delay }
}

/// Trees of at most 27 nodes, with more ways up than down and fewer, and delays up to the longest.
fn trees(longest: u32) -> impl Strategy<Value = NetworkSpec> {
    let numbers = |count: usize| prop::collection::vec(1u32..=3, count);
    let routing = prop::sample::select(TreeRouting::ALL.to_vec());
    let delays = prop::collection::vec(0..=longest, 2);
    (1usize..=3, numbers(3), numbers(2), numbers(2), routing, delays).prop_map(
        |(levels, mut down, up, links, routing, delays)| {
            down[0] = down[0].max(2);
            let tree = tree(&down[..levels], &up[..levels - 1], &links[..levels - 1], routing);
            with_delays(tree, &delays[..levels - 1])
        },
    )
}

/// Neighbours down and up and parallel links, from the leaves to the top.
pub(crate) fn tree(down: &[u32], up: &[u32], links: &[u32], routing: TreeRouting) -> NetworkSpec {
    let list = |numbers: &[u32]| (!numbers.is_empty()).then(|| PerLevel::list(numbers).unwrap());
    NetworkSpec::FatTree {
        levels: down.len() as u32,
        radix: None,
        taper: None,
        arity: None,
        down: list(down),
        up: list(up),
        links: list(links).unwrap_or(PerLevel::all(1)),
        delay: TreeDelay::default(),
        routing,
        self_traffic: None,
    }
}

/// A tree with delays between its levels.
pub(crate) fn with_delays(mut tree: NetworkSpec, delays: &[u32]) -> NetworkSpec {
    if let (NetworkSpec::FatTree { delay, .. }, false) = (&mut tree, delays.is_empty()) {
        delay.up = PerLevel::list(delays).unwrap();
    }
    tree
}

fn router() -> impl Strategy<Value = RouterSpec> {
    let scheduler = prop::sample::select(Scheduler::OF_CLASSES.to_vec());
    let vc_choice = prop::sample::select(VcChoice::ALL.to_vec());
    let multiplexed = prop::option::of(prop::sample::select(Allocation::ALL.to_vec()));
    (3u32..=7, 1u32..=8, scheduler, vc_choice, multiplexed).prop_map(
        |(pipeline_stages, buffer_flits, scheduler, vc_choice, multiplexed)| RouterSpec {
            pipeline_stages,
            buffer_flits,
            scheduler,
            vc_choice,
            crossbar: multiplexed.map_or(Crossbar::Full, |_| Crossbar::Multiplexed),
            allocation: multiplexed.unwrap_or(Allocation::Greedy),
            ..RouterSpec::default()
        },
    )
}

/// Where the Vtick of a class comes from: equal ones and simple ratios make ties.
#[derive(Clone, Copy, Debug)]
enum Pace {
    /// So many halvings of one rate: with equal lengths, Vticks in the ratio of powers of two.
    Halved(i32),
    Rate(f64),
    Given(f64),
    /// Rate 0: an infinite Vtick, and no messages.
    Silent,
}

fn pace() -> impl Strategy<Value = Pace> {
    prop_oneof![
        6 => (0..3).prop_map(Pace::Halved),
        3 => (1e-4..1.0).prop_map(Pace::Rate),
        4 => prop::sample::select(vec![1.0, 2.0, 3.0, 4.0, 8.0, 0.75, 2.5, 1000.0]).prop_map(Pace::Given),
        2 => (0.1..50.0).prop_map(Pace::Given),
        1 => Just(Pace::Silent),
    ]
}

/// Virtual channels of four classes; often one each.
fn virtual_channels() -> impl Strategy<Value = [u32; 5]> {
    prop_oneof![
        3 => Just([1; 5]),
        4 => prop::array::uniform5(1u32..=3),
        1 => prop::array::uniform5(1u32..=12),
    ]
}

/// One to three real-time classes and up to two of best effort, anywhere among them; lengths often equal.
fn classes() -> impl Strategy<Value = Vec<ClassSpec>> {
    let real_time = prop::collection::vec((pace(), 1u32..=12), 1..=3);
    let best_effort = prop::collection::vec((0usize..=3, 1u32..=12), 0..=2);
    let equal_length = prop::option::of(1u32..=12);
    let drawn = (real_time, best_effort, equal_length, virtual_channels());
    drawn.prop_map(|(real_time, best_effort, equal_length, virtual_channels)| {
        let mut classes: Vec<ClassSpec> = Vec::new();
        for (number, (pace, message_flits)) in real_time.into_iter().enumerate() {
            let (rate, vtick) = match pace {
                Pace::Halved(times) => (0.05 / 2f64.powi(times), None),
                Pace::Rate(rate) => (rate, None),
                Pace::Given(vtick) => (0.01, Some(vtick)),
                Pace::Silent => (0.0, None),
            };
            let class = ClassSpec::real_time(&format!("R{}", number + 1), rate);
            classes.push(ClassSpec { message_flits, vtick, ..class });
        }
        for (number, (place, message_flits)) in best_effort.into_iter().enumerate() {
            let class = ClassSpec::best_effort(&format!("BE{}", number + 1), 0.01);
            let class = ClassSpec { message_flits, ..class };
            classes.insert(place.min(classes.len()), class);
        }
        if let Some(message_flits) = equal_length {
            classes.iter_mut().for_each(|class| class.message_flits = message_flits);
        }
        for (class, count) in classes.iter_mut().zip(virtual_channels) {
            class.virtual_channels = count;
        }
        classes
    })
}

/// Who sends messages of a class, and where they go; numbers of nodes are those of a network of any size.
#[derive(Clone, Debug)]
struct Ways {
    senders: Option<Vec<u32>>,
    destination: DestinationSpec,
    end: Option<(f64, EndOfTraffic)>,
}

fn ways() -> impl Strategy<Value = Ways> {
    let nodes = || prop::collection::vec(0u32..64, 1..=4);
    let destination = prop_oneof![
        3 => Just(DestinationSpec::Uniform),
        3 => nodes().prop_map(|nodes| DestinationSpec::Nodes(NodeList::of(nodes))),
        2 => (0u32..64, 0.0..=1.0).prop_map(|(hot, share)| DestinationSpec::Hot(HotSpot { hot, share })),
        3 => prop::sample::select(DestinationPattern::ALL.to_vec()).prop_map(DestinationSpec::Named),
    ];
    let senders = prop::option::weighted(0.4, nodes());
    let at_end = prop::sample::select(EndOfTraffic::ALL.to_vec());
    let end = prop::option::weighted(0.2, (1.0..300.0, at_end));
    (senders, destination, end).prop_map(|(senders, destination, end)| Ways { senders, destination, end })
}

/// Those numbers brought into a network of so many nodes, each once.
fn brought_in(mut nodes: Vec<u32>, among: u32) -> NodeList {
    nodes.iter_mut().for_each(|node| *node %= among);
    nodes.sort_unstable();
    nodes.dedup();
    NodeList::of(nodes)
}

impl Ways {
    /// Of a class in a network; uniform over all nodes where they do not fit it.
    fn put_into(self, spec: &mut ScenarioSpec, class: usize) {
        let nodes = spec.network.topology().nodes();
        let before = spec.classes[class].clone();
        spec.classes[class].nodes = self.senders.map(|senders| brought_in(senders, nodes));
        spec.classes[class].destination = match self.destination {
            DestinationSpec::Nodes(list) => DestinationSpec::Nodes(brought_in(list.nodes().collect(), nodes)),
            DestinationSpec::Hot(spot) => DestinationSpec::Hot(HotSpot { hot: spot.hot % nodes, ..spot }),
            other => other,
        };
        if spec.clone().check().is_err() {
            spec.classes[class] = before;
        }
        let class = &mut spec.classes[class];
        (class.end, class.end_of_traffic) =
            self.end.map(|(end, at_end)| (Some(end), Some(at_end))).unwrap_or_default();
    }
}

/// A scenario and messages to it, any that its classes may send; in some cases with lengths and Vticks of their own.
fn case() -> impl Strategy<Value = (Scenario, Vec<Offer>)> {
    // cycle, sender, destination, class
    let messages = prop::collection::vec((0u64..300, 0u32..840, 0.0..1.0, 0u8..5), 0..=120);
    // cycles that a unit of time is long: 0 has all messages at once, 10 few of them meet
    let stretch = prop::sample::select(vec![1, 0, 1, 1, 2, 10]);
    let ways = prop::collection::vec(ways(), 5);
    let own = prop::option::weighted(0.3, prop::collection::vec((1u32..=12, 0.5f64..8.0), 120));
    (network(), router(), classes(), ways, stretch, messages, own).prop_map(
        |(network, router, mut classes, ways, stretch, messages, own)| {
            if network.topology().has_rings() {
                classes.iter_mut().for_each(|class| class.virtual_channels = class.virtual_channels.max(2));
            }
            let name = "random".to_owned();
            let measure = Some(MeasureSpec { warm_up: None, end: Some(LIMIT as f64), bin: None });
            let mut spec =
                ScenarioSpec { name, network, router, measure, classes, ..ScenarioSpec::default() };
            for (class, ways) in (0..spec.classes.len()).zip(ways) {
                ways.put_into(&mut spec, class);
            }
            let scenario = spec.check().unwrap();
            let arrivals = messages.into_iter().filter_map(|message| placed(message, &scenario, stretch));
            let mut arrivals: Vec<Arrival> = arrivals.collect();
            arrivals.sort_by_key(|arrival| arrival.cycle);
            let mut offers = offers(&scenario, &arrivals);
            for (offer, (flits, vtick)) in offers.iter_mut().zip(own.unwrap_or_default()) {
                offer.flits = flits;
                if offer.vtick > 0.0 {
                    offer.vtick = vtick;
                }
            }
            (scenario, offers)
        },
    )
}

fn placed(message: (u64, u32, f64, u8), scenario: &Scenario, stretch: u64) -> Option<Arrival> {
    let (cycle, sender, drawn, class) = message;
    let class = usize::from(class) % scenario.classes().len();
    let (spec, senders) = (&scenario.classes()[class], scenario.senders(class));
    let has_ended = spec.end.is_some_and(|end| (cycle * stretch) as f64 > end.ceil());
    let silent = has_ended || spec.kind == ClassKind::RealTime && spec.rate == 0.0 || senders.is_empty();
    let source = *senders.get(sender as usize % senders.len().max(1)).filter(|_| !silent)?;
    let destinations = scenario.destinations(class);
    let mut left = drawn;
    let mut each = destinations.towards(source).each().skip_while(|(_, probability)| {
        left -= probability;
        left >= 0.0
    });
    let (destination, _) = each.next()?;
    Some(Arrival { cycle: cycle * stretch, source, destination, class: class as u8 })
}

/// The first delivery in which the two differ, in words.
fn first_difference(plain: &[Delivery], fast: &[Delivery]) -> Option<String> {
    if plain == fast {
        return None;
    }
    let at = (0..).find(|&place| plain.get(place) != fast.get(place)).unwrap();
    let (plain_count, fast_count) = (plain.len(), fast.len());
    let (plain, fast) = (plain.get(at), fast.get(at));
    Some(format!("delivery {at} of {plain_count} and {fast_count}\nplain: {plain:?}\nfast:  {fast:?}"))
}

fn report(reason: &str, scenario: &Scenario, offers: &[Offer]) -> String {
    let mut text = format!("{reason}\n{:?}\n{:?}\n", scenario.network(), scenario.router());
    for (number, class) in scenario.classes().iter().enumerate() {
        let ClassSpec { name, rate, message_flits, vtick, virtual_channels, nodes, destination, end, .. } =
            class;
        let lanes =
            format!("{virtual_channels} virtual channels, {nodes:?} to {destination:?} until {end:?}");
        writeln!(text, "class {number} {name}: rate {rate}, {message_flits} flits, vtick {vtick:?}, {lanes}")
            .unwrap();
    }
    for offer in offers {
        writeln!(text, "{offer:?}").unwrap();
    }
    text
}

/// Both simulators on so many random cases, the same in every run.
fn compare(cases: u32, seed: u64) {
    let config = ProptestConfig {
        cases,
        rng_seed: RngSeed::Fixed(seed),
        failure_persistence: None,
        max_shrink_iters: 20_000,
        ..Default::default()
    };
    let outcome = TestRunner::new(config).run(&case(), |(scenario, offers)| {
        let plain = plain::replay_offers(&scenario, &offers, LIMIT);
        if scenario.withdrawals().is_empty() {
            assert_all_delivered(&scenario, &offers, &plain);
        }
        let fast = replay_offers(&scenario, &offers, LIMIT);
        first_difference(&plain, &fast).map_or(Ok(()), |difference| Err(TestCaseError::fail(difference)))
    });
    match outcome {
        Ok(()) => {}
        Err(TestError::Fail(reason, (scenario, offers))) => {
            panic!("{}", report(&reason.to_string(), &scenario, &offers))
        }
        Err(TestError::Abort(reason)) => panic!("{reason}"),
    }
}

#[test]
fn the_fast_simulator_agrees_in_every_cycle() {
    compare(2_000, 2005);
}

/// Other cases with every change of the simulator.
#[test]
#[ignore = "5,000 random cases take a minute"]
fn the_fast_simulator_agrees_in_every_cycle_of_many_other_cases() {
    compare(cases(5_000), seed_of_sources());
}
