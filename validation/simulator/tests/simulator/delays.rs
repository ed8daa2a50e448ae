//! Links with a delay or less capacity than others, where the outcome is known by hand; both simulators agree.

use flitwise_language::scenario::{
    Allocation, ClassKind, ClassSpec, Crossbar, GraphFile, GraphRouting, MeasureSpec, NetworkSpec,
    RouterSpec, Scenario, ScenarioSpec, Scheduler, TreeRouting,
};
use flitwise_simulator::{Arrival, Delivery, Simulator, offers, plain, replay, supports};

use crate::against_plain::{delays_on_the_way, tree, with_delays};

/// More cycles than any of the scenarios here needs.
const LIMIT: u64 = 100_000;

/// Two nodes, each at a switch of its own: delays of the links of the first node, between switches, and of the other
/// node.
fn line(delays: [u32; 3]) -> NetworkSpec {
    line_of(delays.map(|delay| format!("delay={delay}")))
}

/// The same with any options.
fn line_of([near, between, far]: [String; 3]) -> NetworkSpec {
    let text = format!("node a s0 {near}\nlink s0 s1 {between}\nnode b s1 {far}\n");
    let file = GraphFile::of(&text).unwrap();
    NetworkSpec::Graph { file, routing: GraphRouting::Shortest, root: None, self_traffic: None }
}

fn spec(network: NetworkSpec, router: RouterSpec, class: ClassSpec) -> ScenarioSpec {
    ScenarioSpec {
        name: "by hand".to_owned(),
        network,
        router,
        classes: vec![class],
        ..ScenarioSpec::default()
    }
}

fn scenario(network: NetworkSpec, router: RouterSpec, class: ClassSpec) -> Scenario {
    spec(network, router, class).check().unwrap()
}

fn class(message_flits: u32) -> ClassSpec {
    ClassSpec { message_flits, ..ClassSpec::best_effort("BE", 1e-4) }
}

/// The deliveries, on which both simulators have to agree.
fn simulated(scenario: &Scenario, arrivals: &[Arrival]) -> Vec<Delivery> {
    let deliveries = plain::replay(scenario, arrivals, LIMIT);
    assert_eq!(deliveries.len(), arrivals.len());
    assert_eq!(replay(scenario, arrivals, LIMIT), deliveries);
    deliveries
}

fn lone(scenario: &Scenario, destination: u32) -> Delivery {
    simulated(scenario, &[Arrival { cycle: 9, source: 0, destination, class: 0 }])[0]
}

#[test]
fn a_lone_message_takes_the_delay_of_each_link_more() {
    let multiplexed = |allocation| (Crossbar::Multiplexed, allocation);
    let crossbars =
        [(Crossbar::Full, Allocation::Greedy)].into_iter().chain(Allocation::ALL.map(multiplexed));
    for (crossbar, allocation) in crossbars {
        for (delays, pipeline_stages, message_flits) in
            [[1, 0, 0], [0, 1, 0], [0, 0, 1], [7, 0, 0], [0, 12, 0], [0, 0, 5], [3, 17, 2]]
                .iter()
                .flat_map(|delays| (3..=7).flat_map(move |p| [1, 2, 32].map(|m| (*delays, p, m))))
        {
            // as many flits as keep the longest of these links busy
            let router = RouterSpec {
                pipeline_stages,
                buffer_flits: 2 * 17 + 3,
                crossbar,
                allocation,
                ..RouterSpec::default()
            };
            let delivery = lone(&scenario(line(delays), router, class(message_flits)), 1);
            let (p, m) = (u64::from(pipeline_stages), u64::from(message_flits));
            let expected = p - 1 + p + m + delays.iter().map(|delay| u64::from(*delay)).sum::<u64>();
            assert_eq!(delivery.network_latency_cycles(), expected, "{delays:?} {crossbar:?}");
            assert_eq!(delivery.transfer_cycles(), expected);
            assert_eq!(delivery.waiting_cycles(), 1);
        }
    }
}

/// Both ways, whatever the routing.
#[test]
fn a_lone_message_in_a_tree_takes_the_delays_of_its_levels_twice() {
    let router = RouterSpec { buffer_flits: 64, ..RouterSpec::default() };
    for routing in TreeRouting::ALL {
        let network = with_delays(tree(&[4, 4, 4], &[4, 4], &[2, 1], routing), &[3, 11]);
        let scenario = scenario(network, router, class(16));
        for (destination, hops, delay) in [(1, 0, 0), (7, 2, 2 * 3), (16, 4, 2 * (3 + 11))] {
            let delivery = lone(&scenario, destination);
            assert_eq!(delivery.network_latency_cycles(), 20 + 5 * hops + delay, "{routing:?}");
            assert_eq!(delays_on_the_way(&scenario.topology(), 0, destination), delay);
        }
    }
}

/// W2: a slot is taken for `2 d + 3` cycles, so that `b` of them carry so many flits in that time. The header goes as
/// it would with more room; what waits for slots are the flits behind it. In a router behind they win back
/// `P - 3` cycles, for which its header is routed and arbitrated.
#[test]
fn a_buffer_below_two_delays_and_three_flits_spaces_flits_out() {
    const M: u32 = 100;
    for (buffer, delay) in [1, 2, 3, 5, 8, 11, 23].into_iter().flat_map(|b| [1, 4, 10].map(|d| (b, d))) {
        for (delays, stages) in [[0, delay, 0], [delay, 0, 0], [delay, delay, delay], [0, delay, delay]]
            .into_iter()
            .flat_map(|delays| [3, 5].map(|stages| (delays, stages)))
        {
            let router =
                RouterSpec { buffer_flits: buffer, pipeline_stages: stages, ..RouterSpec::default() };
            let delivery = lone(&scenario(line(delays), router, class(M)), 1);
            let lost = (M - 1) / buffer * (2 * delay + 3).saturating_sub(buffer);
            let won_back = if delays[1] == 0 { stages - 3 } else { 0 };
            let (gaps, lost) = (delivery.waits.gaps, lost.saturating_sub(won_back));
            assert_eq!(gaps, lost, "b = {buffer}, d = {delays:?}, P = {stages}");
        }
    }
}

/// W4: over a link of capacity `1 / c` the tail comes `(c - 1) (M - 1)` cycles later behind its header than over
/// others. In a router behind it wins back `P - 3` cycles, for which its header is routed and arbitrated.
#[test]
fn flits_of_a_slow_link_keep_their_distance() {
    let slowest = [[1, 1, 1], [3, 1, 1], [1, 3, 1], [1, 1, 3], [2, 5, 4], [64, 1, 2]];
    for (slowdowns, stages, flits) in
        slowest.iter().flat_map(|c| [3, 5].into_iter().flat_map(move |p| [1, 2, 20].map(|m| (*c, p, m))))
    {
        for (crossbar, scheduler) in
            [Crossbar::Full, Crossbar::Multiplexed].into_iter().flat_map(|crossbar| {
                [Scheduler::VirtualClock, Scheduler::WeightedRoundRobin].map(|s| (crossbar, s))
            })
        {
            let router = RouterSpec { pipeline_stages: stages, crossbar, scheduler, ..RouterSpec::default() };
            let network = line_of(slowdowns.map(|slowdown| format!("capacity=1/{slowdown}")));
            let delivery = lone(&scenario(network, router, class(flits)), 1);
            let (p, m) = (u64::from(stages), u64::from(flits));
            assert_eq!(delivery.transfer_cycles(), 2 * p - 1 + m);
            let later = slowdowns.map(|slowdown| (slowdown - 1) * (flits - 1));
            let gaps = later.into_iter().reduce(|gaps, more| gaps.saturating_sub(stages - 3).max(more));
            assert_eq!(Some(delivery.waits.gaps), gaps, "{slowdowns:?} P = {p}, M = {m}");
        }
    }
}

/// Two nodes send over a link of a third of the capacity as often as they can: it carries a flit every three cycles, of
/// one class as of two.
#[test]
fn a_slow_link_carries_its_capacity() {
    for (crossbar, lanes) in [(Crossbar::Full, 1), (Crossbar::Full, 4), (Crossbar::Multiplexed, 2)] {
        let router = RouterSpec { crossbar, ..RouterSpec::default() };
        let text = "node a s0\nnode b s0\nlink s0 s1 capacity=1/3\nnode c s1\nnode d s1\n";
        let (file, routing) = (GraphFile::of(text).unwrap(), GraphRouting::Shortest);
        let network = NetworkSpec::Graph { file, routing, root: None, self_traffic: None };
        let class = ClassSpec { virtual_channels: lanes, ..class(10) };
        let scenario = scenario(network, router, class);
        let arrivals: Vec<Arrival> = (0..100)
            .map(|number| Arrival { cycle: 0, source: number % 2, destination: 2 + number % 2, class: 0 })
            .collect();
        let deliveries = simulated(&scenario, &arrivals);
        let last = deliveries.iter().map(|delivery| delivery.delivered_cycle).max().unwrap();
        // 1,000 flits, a flit every third cycle from the first header on
        assert!((3_000..3_020).contains(&last), "{crossbar:?}, {lanes}: {last}");
    }
}

/// `c` lanes of `b` slots carry `min(1, c b / (2 d + 3))` flits per cycle, whether they are of one message or of many.
#[test]
fn lanes_share_what_their_slots_carry() {
    for (lanes, buffer, delay) in
        [(1, 8, 10), (2, 8, 10), (3, 8, 10), (1, 23, 10), (2, 4, 6), (1, 4, 0), (4, 1, 2)]
    {
        let router = RouterSpec { buffer_flits: buffer, pipeline_stages: 3, ..RouterSpec::default() };
        // nodes of their own behind the other switch, so that nothing but the link is in the way
        let nodes = (0..4).map(|node| format!("node a{node} s0\nnode b{node} s1\n")).collect::<String>();
        let file = GraphFile::of(&format!("{nodes}link s0 s1 delay={delay}\n")).unwrap();
        let network =
            NetworkSpec::Graph { file, routing: GraphRouting::Shortest, root: None, self_traffic: None };
        let class = ClassSpec { virtual_channels: lanes, ..class(2_000) };
        let scenario = scenario(network, router, class);
        // node numbers alternate between the switches
        let arrivals: Vec<Arrival> = (0..4)
            .flat_map(|node| [node; 3])
            .map(|node| Arrival { cycle: 0, source: 2 * node, destination: 2 * node + 1, class: 0 })
            .collect();
        let deliveries = replay(&scenario, &arrivals, LIMIT);
        assert_eq!(deliveries.len(), 12);
        let mut simulator = Simulator::with_messages(&scenario, 1, offers(&scenario, &arrivals));
        let mut flits = [1_000, 6_000].map(|end| {
            simulator.run_until(end, &mut Vec::new());
            let on_link = simulator
                .channel_flits()
                .into_iter()
                .filter(|(channel, ..)| channel.node == 0 && channel.port == 4);
            on_link.map(|(.., flits)| flits).sum::<u64>()
        });
        flits[1] -= flits[0];
        let carried = flits[1] as f64 / 5_000.0;
        let most = (f64::from(lanes * buffer) / f64::from(2 * delay + 3)).min(1.0);
        assert!((carried - most).abs() < 0.01, "{lanes} x {buffer}, d = {delay}: {carried} of {most}");
    }
}

/// After the last message news of slots is still on its way: messages that come much later find what they would have.
#[test]
fn what_is_on_a_link_survives_a_pause() {
    let router = RouterSpec { buffer_flits: 2, ..RouterSpec::default() };
    let scenario = scenario(line([20, 50, 30]), router, class(3));
    let at = |cycle| Arrival { cycle, source: 0, destination: 1, class: 0 };
    for pause in [0, 1, 40, 55, 80, 120, 127, 128, 5_000] {
        let first = lone(&scenario, 1);
        let deliveries = simulated(&scenario, &[at(9), at(first.delivered_cycle + pause)]);
        let latencies: Vec<u64> = deliveries.iter().map(Delivery::network_latency_cycles).collect();
        assert_eq!(latencies, [first.network_latency_cycles(); 2], "{pause}");
    }
}

#[test]
fn what_knows_no_delays_refuses_them_by_name() {
    let refused = |spec: ScenarioSpec| {
        let faults = supports(&spec.check().unwrap()).unwrap_err();
        faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
    };
    let network = || with_delays(tree(&[2, 2], &[2], &[], TreeRouting::DModK), &[4]);
    let drawn = RouterSpec { scheduler: Scheduler::Fifo, block_flits: 4, ..crate::levels::NP };
    let text = refused(spec(network(), drawn, class(4)));
    assert!(text.contains("network.delay") && text.contains("none to simulate blocks"), "{text}");
    let text = refused(spec(line([0, 3, 0]), drawn, class(4)));
    assert!(text.contains("network.file") && text.contains("links with a delay"), "{text}");
    let slow = line_of([String::new(), "capacity=1/2".to_owned(), String::new()]);
    let text = refused(spec(slow, drawn, class(4)));
    assert!(text.contains("network.file") && text.contains("links of less capacity"), "{text}");
    let control = ClassSpec { kind: ClassKind::Control, ..class(4) };
    let text = refused(spec(network(), RouterSpec { block_flits: 1, ..drawn }, control));
    assert!(text.contains("none to simulate a control class"), "{text}");
    let measure = Some(MeasureSpec { warm_up: None, end: Some(1e3), bin: None });
    let plain = ScenarioSpec { measure, ..spec(network(), RouterSpec::default(), class(4)) };
    assert_eq!(supports(&plain.check().unwrap()), Ok(()));
}
