//! Multiplexed crossbars and fine-grained schedulers, where the outcome is known by hand.

use flitwise_language::scenario::{
    Allocation, ClassSpec, Crossbar, NetworkSpec, RouterSpec, Scenario, ScenarioSpec, Scheduler, VcChoice,
};
use flitwise_simulator::{Arrival, ChannelChoice, Delivery};
use flitwise_simulator::{Simulator, offers, plain, replay_offers};

const CROSSBARS: [Crossbar; 2] = [Crossbar::Full, Crossbar::Multiplexed];

/// Eight ports, messages and buffers of 20 flits, virtual channels drawn.
fn router(crossbar: Crossbar) -> RouterSpec {
    RouterSpec {
        buffer_flits: 20,
        scheduler: Scheduler::FineGrainedVirtualClock,
        vc_choice: VcChoice::Drawn,
        crossbar,
        ..RouterSpec::default()
    }
}

fn video(message_flits: u32) -> ClassSpec {
    ClassSpec { message_flits, virtual_channels: 3, ..ClassSpec::real_time("video", 0.001) }
}

fn scenario(router: RouterSpec, classes: Vec<ClassSpec>) -> Scenario {
    let network = NetworkSpec::Router { ports: 8, self_traffic: None };
    let spec =
        ScenarioSpec { name: "by hand".to_owned(), network, router, classes, ..ScenarioSpec::default() };
    spec.check().unwrap()
}

/// A message of cycle 0: from a node to another, its virtual channels at the interface and behind it, its Vtick.
type Sent = (u32, u32, u8, u8, f64);

/// Deliveries by source, then virtual channel at the interface, on which both simulators agree.
fn delivered<const N: usize>(scenario: &Scenario, sent: [Sent; N]) -> [Delivery; N] {
    let arrivals = sent.map(|(source, destination, ..)| Arrival { cycle: 0, source, destination, class: 0 });
    let mut offers = offers(scenario, &arrivals);
    for (offer, (_, _, injection, behind, vtick)) in offers.iter_mut().zip(sent) {
        offer.drawn = Some(ChannelChoice { injection, network: behind, ejection: behind });
        offer.vtick = vtick;
    }
    let deliveries = replay_offers(scenario, &offers, 10_000);
    assert_eq!(plain::replay_offers(scenario, &offers, 10_000), deliveries);
    let of = |(source, destination, ..): Sent| {
        let is_it = |delivery: &&Delivery| (delivery.source, delivery.destination) == (source, destination);
        *deliveries.iter().find(is_it).expect("it is delivered")
    };
    sent.map(of)
}

fn latencies<const N: usize>(scenario: &Scenario, sent: [Sent; N]) -> [u64; N] {
    delivered(scenario, sent).map(|delivery| delivery.network_latency_cycles())
}

#[test]
fn messages_that_meet_at_an_output_share_it_if_their_virtual_channels_differ() {
    for crossbar in CROSSBARS {
        let scenario = scenario(router(crossbar), vec![video(20)]);
        assert_eq!(latencies(&scenario, [(0, 3, 0, 1, 10.0)]), [24]);
        let one_channel = [(0, 3, 0, 1, 10.0), (1, 3, 0, 1, 10.0)];
        assert_eq!(latencies(&scenario, one_channel), [24, 45]);
        let two_channels = [(0, 3, 0, 1, 10.0), (1, 3, 0, 2, 10.0)];
        assert_eq!(latencies(&scenario, two_channels), [43, 44]);
        let totals = delivered(&scenario, two_channels);
        assert_eq!(totals.map(|one| one.waiting_cycles() + one.network_latency_cycles()), [44, 45]);
    }
}

/// A multiplexed crossbar takes one flit of an input port, where a full one takes both; the link before it has spaced
/// them out already, but for the start.
#[test]
fn messages_of_one_input_share_its_port() {
    let of = |crossbar| {
        let scenario = scenario(router(crossbar), vec![video(20)]);
        latencies(&scenario, [(0, 3, 0, 1, 10.0), (0, 4, 1, 2, 10.0)])
    };
    assert_eq!([of(Crossbar::Full), of(Crossbar::Multiplexed)], [[41, 41], [43, 43]]);
}

/// While both send they share the output in the ratio of their Vticks.
#[test]
fn shares_of_an_output_follow_the_vticks() {
    for crossbar in CROSSBARS {
        let scenario = scenario(router(crossbar), vec![video(300)]);
        assert_eq!(latencies(&scenario, [(0, 3, 0, 1, 2.0), (1, 3, 0, 2, 4.0)]), [453, 604]);
    }
}

/// Best effort loses every contention and shares no lane, so that it does not move a flit of real time.
#[test]
fn real_time_is_the_same_with_best_effort_and_without() {
    let schedulers = [Scheduler::FineGrainedVirtualClock, Scheduler::FineGrainedFairQueueing];
    for (crossbar, scheduler) in CROSSBARS.into_iter().flat_map(|one| schedulers.map(|other| (one, other))) {
        let router = RouterSpec { scheduler, ..router(crossbar) };
        let real_time = ClassSpec { rate: 0.025, ..video(20) };
        let best_effort = ClassSpec { virtual_channels: 2, ..ClassSpec::best_effort("BE", 0.02) };
        let delivered = |classes: Vec<ClassSpec>| {
            let mut delivered = Vec::new();
            Simulator::new(&scenario(router, classes), 7).run_until(20_000, &mut delivered);
            delivered.retain(|delivery| delivery.class == 0);
            delivered.sort_unstable();
            delivered
        };
        let alone = delivered(vec![real_time.clone()]);
        assert!(alone.len() > 3_000);
        assert_eq!(delivered(vec![real_time, best_effort]), alone, "{crossbar:?} {}", scheduler.word());
    }
}

/// An overloaded router carries what its crossbar allows: a maximal matching more than one that stops at a conflict.
#[test]
fn the_allocation_limits_what_a_crossbar_carries() {
    let carried = |crossbar, allocation| {
        let router = RouterSpec { scheduler: Scheduler::Fifo, allocation, ..router(crossbar) };
        let class =
            ClassSpec { message_flits: 20, virtual_channels: 16, ..ClassSpec::best_effort("BE", 0.05) };
        let mut simulator = Simulator::new(&scenario(router, vec![class]), 3);
        simulator.run_until(5_000, &mut Vec::new());
        let before = simulator.flit_hops();
        simulator.run_until(25_000, &mut Vec::new());
        (simulator.flit_hops() - before) as f64 / 20_000.0 / 8.0
    };
    let [greedy, rotating, input_first] = Allocation::ALL.map(|one| carried(Crossbar::Multiplexed, one));
    let full = carried(Crossbar::Full, Allocation::Greedy);
    assert!(input_first < 0.65 && greedy > 0.75 && rotating > 0.75, "{input_first} {greedy} {rotating}");
    assert!(full > greedy.max(rotating) + 0.02, "{full}");
}
