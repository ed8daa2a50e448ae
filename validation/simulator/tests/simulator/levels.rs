//! Levels, preemption, acceleration, blocks and interfaces behind host buses, where the outcome is known by hand.

use flitwise_language::scenario::{
    Allocation, ClassKind, ClassSpec, Crossbar, Injection, InterfaceBuffer, InterfaceKind, InterfaceSpec,
    MeasureSpec, NetworkSpec, OutputLanes, Preemption, Radix, RouterSpec, Scenario, ScenarioSpec, Scheduler,
    Switching, TreeRouting, UnitsSpec, VcChoice, VcMap,
};
use flitwise_simulator::diagram::watch;
use flitwise_simulator::plain::{self, levels};
use flitwise_simulator::{Arrival, ChannelChoice, Delivery, FramePart, HostTimes, Offer};
use flitwise_simulator::{
    Random, offers_of, replay_offers, replay_offers_levelled, stream_of, supports, uniform,
};

use crate::against_plain::{graph, tree};
use crate::sources::{cases, seed_of_sources};

/// The deliveries of messages within so many cycles.
type Replay = fn(&Scenario, &[Offer], u64) -> Vec<Delivery>;

/// All simulators of levels.
const SIMULATORS: [Replay; 2] = [plain::replay_offers, replay_offers];

/// More cycles than any of the scenarios here needs.
const LIMIT: u64 = 100_000;

const ROUTER: NetworkSpec = NetworkSpec::Router { ports: 8, self_traffic: None };

/// The mesh of two by two.
pub(crate) fn mesh() -> NetworkSpec {
    let radix = Radix::of(&[2, 2]).unwrap();
    NetworkSpec::Mesh { radix, dimensions: None, nodes_per_router: 1, links: 1, self_traffic: None }
}

/// A router without preemption.
pub(crate) const NP: RouterSpec = RouterSpec {
    pipeline_stages: 5,
    buffer_flits: 40,
    virtual_channels: Some(16),
    scheduler: Scheduler::FineGrainedVirtualClock,
    vc_choice: VcChoice::Drawn,
    crossbar: Crossbar::Multiplexed,
    allocation: Allocation::Greedy,
    switching: Switching::Wormhole,
    preemption: Preemption::None,
    acceleration: None,
    output_lanes: None,
    vc_map: None,
    block_flits: 1,
    weights: None,
};

/// A router with preemption and acceleration.
pub(crate) const P: RouterSpec = RouterSpec { preemption: Preemption::InputBuffer, ..NP };

/// A traditional router.
const TR: RouterSpec = RouterSpec { scheduler: Scheduler::Fifo, ..NP };

/// Places of the classes.
const CONTROL: u8 = 0;
const RT: u8 = 1;
const BE: u8 = 2;

fn classes() -> Vec<ClassSpec> {
    let control =
        ClassSpec { kind: ClassKind::Control, message_flits: 20, ..ClassSpec::best_effort("control", 1e-4) };
    let video = ClassSpec { vtick: Some(250.0), virtual_channels: 3, ..ClassSpec::real_time("video", 1e-4) };
    let best_effort = ClassSpec { virtual_channels: 12, ..ClassSpec::best_effort("BE", 1e-4) };
    vec![control, ClassSpec { message_flits: 40, ..video }, ClassSpec { message_flits: 40, ..best_effort }]
}

pub(crate) fn spec(network: NetworkSpec, router: RouterSpec) -> ScenarioSpec {
    let name = "by hand".to_owned();
    ScenarioSpec { name, network, router, classes: classes(), ..ScenarioSpec::default() }
}

fn scenario(network: NetworkSpec, router: RouterSpec) -> Scenario {
    spec(network, router).check().unwrap()
}

pub(crate) fn interface(kind: InterfaceKind, injection: Option<Injection>) -> InterfaceSpec {
    InterfaceSpec {
        kind,
        injection,
        buffer: None,
        firmware: None,
        bus_rate: None,
        bus_setup: None,
        descriptor: None,
        send_setup: None,
        injection_memory: None,
        admittance: None,
    }
}

/// Behind a host bus.
fn with_interface(router: RouterSpec, kind: InterfaceKind, injection: Option<Injection>) -> Scenario {
    let units = Some(UnitsSpec { link: Some("1.6 Gbps".to_owned()), flit_bits: Some(128), cycle: None });
    ScenarioSpec { units, interface: Some(interface(kind, injection)), ..spec(ROUTER, router) }
        .check()
        .unwrap()
}

/// A message: its cycle, class, sender, destination, virtual channels at the interface and behind it, and length.
type Sent = (u64, u8, u32, u32, u8, u8, u32);

fn offer((cycle, class, source, destination, injection, behind, flits): Sent) -> Offer {
    Offer {
        arrival: Arrival { cycle, source, destination, class },
        way: 0,
        flits,
        vtick: if class == RT { 250.0 } else { 0.0 },
        drawn: Some(ChannelChoice { injection, network: behind, ejection: behind }),
        part: FramePart::default(),
    }
}

/// Deliveries in the order of the messages, on which all simulators agree.
fn delivered<const N: usize>(scenario: &Scenario, sent: [Sent; N]) -> [Delivery; N] {
    let mut offers = sent.map(offer);
    offers.sort_by_key(|offer| offer.arrival.cycle);
    let deliveries = SIMULATORS[0](scenario, &offers, LIMIT);
    for other in &SIMULATORS[1..] {
        assert_eq!(other(scenario, &offers, LIMIT), deliveries);
    }
    let of = |(cycle, class, source, ..): Sent| {
        let is_it = |one: &&Delivery| (one.generated_cycle, one.class, one.source) == (cycle, class, source);
        *deliveries.iter().find(is_it).expect("it is delivered")
    };
    sent.map(of)
}

/// Of each message: the cycles in which its header is in stage 1 and in which its tail is out.
fn times<const N: usize>(scenario: &Scenario, sent: [Sent; N]) -> [(u64, u64); N] {
    delivered(scenario, sent).map(|one| (one.entered_cycle, one.delivered_cycle))
}

/// Of each message how often it gave way, and dummies that crossed.
fn preemptions<const N: usize>(scenario: &Scenario, sent: [Sent; N]) -> ([u32; N], u64) {
    let mut offers = sent.map(offer);
    offers.sort_by_key(|offer| offer.arrival.cycle);
    let (_, activity) = levels::replay_counted(scenario, &offers, LIMIT);
    (delivered(scenario, sent).map(|one| one.preemptions), activity.dummies)
}

#[test]
fn a_lone_message_takes_what_it_takes_everywhere() {
    for router in
        [NP, P, RouterSpec { acceleration: Some(false), ..P }, TR, RouterSpec { block_flits: 10, ..P }]
    {
        let lone = |network, sent| times(&scenario(network, router), [sent]);
        assert_eq!(lone(ROUTER, (0, RT, 0, 1, 1, 1, 40)), [(1, 44)]);
        assert_eq!(lone(ROUTER, (0, BE, 0, 1, 4, 4, 40)), [(1, 44)]);
        assert_eq!(lone(ROUTER, (0, CONTROL, 0, 1, 0, 0, 20)), [(1, 24)]);
        assert_eq!(lone(mesh(), (0, RT, 0, 3, 1, 1, 40)), [(1, 54)]);
    }
}

#[test]
fn without_preemption_levels_meet_at_ports_only() {
    let np = scenario(ROUTER, NP);
    let two = |channel| [(0, RT, 0, 1, 1, 1, 40), (0, RT, 1, 1, 1, channel, 40)];
    assert_eq!(times(&np, two(1)), [(1, 44), (1, 85)]);
    assert_eq!(times(&np, two(2)), [(1, 83), (1, 84)]);
    let mixed = [(0, RT, 0, 1, 1, 1, 40), (0, BE, 1, 1, 4, 4, 40)];
    assert_eq!(times(&np, mixed), [(1, 44), (1, 84)]);
    assert_eq!(times(&scenario(ROUTER, TR), mixed), [(1, 83), (1, 84)]);
}

/// Best effort from 0 to 1 over virtual channel 4.
const HELD: Sent = (0, BE, 0, 1, 4, 4, 40);

#[test]
fn a_preemption_costs_two_dummies_and_two_stages() {
    for router in [P, RouterSpec { acceleration: Some(false), ..P }] {
        let scenario = scenario(ROUTER, router);
        let with = |cycle| [(cycle, RT, 0, 2, 4, 5, 40), HELD];
        for (cycle, expected, fragments) in [
            (20, [(21, 64), (1, 88)], 1),
            (1, [(2, 45), (1, 87)], 0),
            (2, [(3, 46), (1, 88)], 0),
            (3, [(4, 47), (1, 88)], 1),
            (39, [(40, 83), (1, 88)], 1),
            (41, [(42, 85), (1, 44)], 0),
        ] {
            assert_eq!(times(&scenario, with(cycle)), expected, "in {cycle}");
            assert_eq!(preemptions(&scenario, with(cycle)), ([0, fragments], 2 * u64::from(fragments)));
        }
    }
    for network in [mesh(), NetworkSpec::Hypercube { dimension: 2, self_traffic: None }] {
        let sent = [(20, RT, 0, 3, 4, 5, 40), (0, BE, 0, 3, 4, 4, 40)];
        assert_eq!(times(&scenario(network, P), sent), [(21, 74), (1, 98)]);
    }
}

#[test]
fn preemptions_nest() {
    let sent = [(25, CONTROL, 0, 3, 4, 0, 20), (10, RT, 0, 2, 4, 5, 40), HELD];
    let scenario = scenario(ROUTER, P);
    assert_eq!(times(&scenario, sent), [(26, 49), (11, 78), (1, 112)]);
    assert_eq!(preemptions(&scenario, sent), ([0, 1, 1], 4));
}

#[test]
fn acceleration_frees_what_a_lower_level_owns() {
    let sent = [HELD, (10, RT, 2, 1, 1, 1, 40), (20, RT, 1, 1, 4, 4, 40)];
    let of = |acceleration| times(&scenario(ROUTER, RouterSpec { acceleration, ..P }), sent);
    assert_eq!(of(None), [(1, 54), (11, 123), (21, 124)]);
    assert_eq!(of(Some(false)), [(1, 84), (11, 54), (21, 125)]);
}

#[test]
fn acceleration_and_blocks_of_what_gives_way() {
    let sent = [(8, RT, 2, 1, 1, 1, 40), (8, RT, 3, 1, 2, 2, 40), (20, RT, 0, 2, 4, 5, 40), HELD];
    let of = |acceleration, block_flits| {
        times(&scenario(ROUTER, RouterSpec { acceleration, block_flits, ..P }), sent)
    };
    assert_eq!(of(None, 1), [(9, 93), (9, 94), (21, 64), (1, 126)]);
    assert_eq!(of(Some(false), 1), [(9, 91), (9, 92), (21, 134), (1, 168)]);
    assert_eq!(of(None, 10), [(9, 86), (9, 96), (21, 66), (1, 126)]);
    assert_eq!(of(Some(false), 10), [(9, 84), (9, 94), (21, 136), (1, 168)]);
}

const QOS: InterfaceKind = InterfaceKind::Qos;
const TRADITIONAL: InterfaceKind = InterfaceKind::Traditional;

#[test]
fn interfaces_take_the_sum_of_their_jobs_where_they_are_idle() {
    for (kind, injection, entered) in
        [(QOS, None, 33), (QOS, Some(Injection::Message), 54), (TRADITIONAL, None, 54)]
    {
        for router in [NP, P, TR] {
            let scenario = with_interface(router, kind, injection);
            for class in [RT, BE] {
                let [lone] = delivered(&scenario, [(0, class, 0, 1, 4, 4, 40)]);
                assert_eq!((lone.entered_cycle, lone.delivered_cycle), (entered, entered + 43));
                assert_eq!(lone.host, HostTimes { doorbell: 10, bus: 4 + 18, receive: 18, interface: 0 });
                assert_eq!(lone.received_cycle(), lone.delivered_cycle + 19);
                assert_eq!(lone.end_to_end_latency_cycles(), entered + 44 + 18);
            }
        }
    }
}

#[test]
fn interfaces_that_know_levels_let_control_pass() {
    let sent = [(0, CONTROL, 0, 2, 0, 0, 20), HELD];
    let of = |router, kind, injection| {
        let mut offers = [sent[1], sent[0]].map(offer);
        offers[0].arrival.class = BE;
        times_of(&with_interface(router, kind, injection), &offers)
    };
    for router in [NP, P] {
        assert_eq!(of(router, QOS, None), [(47, 90), (25, 48)]);
        assert_eq!(of(router, QOS, Some(Injection::Message)), [(86, 129), (46, 69)]);
        assert_eq!(of(router, TRADITIONAL, None), [(54, 97), (114, 137)]);
    }
}

/// As [`times`], of messages of one cycle in the order in which they come.
fn times_of(scenario: &Scenario, offers: &[Offer]) -> Vec<(u64, u64)> {
    let deliveries = SIMULATORS.map(|replay| replay(scenario, offers, LIMIT));
    assert!(deliveries.iter().all(|one| *one == deliveries[0]));
    let of = |offer: &Offer| {
        let is_it = |one: &&Delivery| (one.class, one.source) == (offer.arrival.class, offer.arrival.source);
        let one = deliveries[0].iter().find(is_it).expect("it is delivered");
        (one.entered_cycle, one.delivered_cycle)
    };
    offers.iter().map(of).collect()
}

// ------------------------------------------------------------------------------------- random messages

/// A stream of whole numbers.
pub(crate) struct Draws(Random);

impl Draws {
    pub(crate) fn new(seed: u64) -> Self {
        Self(stream_of(seed, 0, 0, 0))
    }

    /// Uniform from 0 to below so many.
    pub(crate) fn below(&mut self, among: u32) -> u32 {
        ((uniform(&mut self.0) * f64::from(among)) as u32).min(among - 1)
    }

    /// One of these.
    pub(crate) fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u32) as usize]
    }
}

/// So many messages of all classes, their virtual channels as the scenario draws them; `lengths` are the longest.
pub(crate) fn messages(
    draws: &mut Draws,
    scenario: &Scenario,
    count: usize,
    cycles: u32,
    longest: u32,
) -> Vec<Offer> {
    let nodes = scenario.topology().nodes();
    let mut arrivals: Vec<(Arrival, u32)> = (0..count)
        .map(|_| {
            let class = draws.below(scenario.classes().len() as u32) as u8;
            let (source, destination) = (draws.below(nodes), draws.below(nodes));
            let destination = match scenario.topology().routers() {
                1 => destination,
                _ => (source + 1 + destination % (nodes - 1)) % nodes,
            };
            let cycle = u64::from(draws.below(cycles));
            (Arrival { cycle, source, destination, class }, 1 + draws.below(longest))
        })
        .collect();
    arrivals.sort_by_key(|(arrival, _)| arrival.cycle);
    offers_of(scenario, arrivals.into_iter(), u64::from(draws.below(1000)))
}

/// What went in has come out, no sooner than alone, and the parts of the times add up.
pub(crate) fn assert_all_delivered(scenario: &Scenario, offers: &[Offer], deliveries: &[Delivery]) {
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
    let p = u64::from(scenario.router().pipeline_stages);
    let lone: u64 = deliveries.iter().map(|one| p - 1 + p * u64::from(one.hops)).sum();
    let flits: u64 = offers.iter().map(|offer| u64::from(offer.flits)).sum();
    assert_eq!(deliveries.iter().map(Delivery::transfer_cycles).sum::<u64>(), lone + flits);
    assert!(deliveries.iter().all(|one| one.wire_cycles() >= 1));
}

/// Routers without any of the new features; classes as of old.
fn unlevelled(draws: &mut Draws) -> (Scenario, Vec<Offer>) {
    let network = match draws.below(5) {
        4 => tree(&[3, 2, 2], &[2, 3], &[1, 2], draws.of(&TreeRouting::ALL[..3])),
        0 => NetworkSpec::Router { ports: 2 + draws.below(6), self_traffic: None },
        1 => lattice(&[2, 2, 2], 1, 1, false),
        2 => lattice(&[3, 2], 1 + draws.below(2), 1 + draws.below(3), false),
        _ => lattice(&[3, 3], 1 + draws.below(2), 1 + draws.below(2), true),
    };
    let scheduler =
        draws.of(&[Scheduler::FineGrainedVirtualClock, Scheduler::FineGrainedFairQueueing, Scheduler::Fifo]);
    let router = RouterSpec {
        pipeline_stages: 3 + draws.below(4),
        buffer_flits: draws.of(&[1, 2, 3, 5, 12]),
        virtual_channels: None,
        scheduler,
        ..NP
    };
    let mut classes = vec![
        ClassSpec { vtick: Some(draws.of(&[2.0, 4.0, 3.3])), ..ClassSpec::real_time("R1", 0.01) },
        ClassSpec::best_effort("BE", 0.01),
        ClassSpec { vtick: Some(draws.of(&[4.0, 8.0, 0.7])), ..ClassSpec::real_time("R2", 0.01) },
    ];
    for class in &mut classes {
        class.virtual_channels = 2 + draws.below(3);
    }
    let spec = ScenarioSpec { network: network.clone(), router, classes, ..spec(network, router) };
    let scenario = spec.check().unwrap();
    let cycles = draws.of(&[1, 50, 200, 600]);
    let offers = messages(draws, &scenario, 120, cycles, 12);
    (scenario, offers)
}

pub(crate) fn lattice(sides: &[u32], nodes_per_router: u32, links: u32, is_torus: bool) -> NetworkSpec {
    let (radix, dimensions, self_traffic) = (Radix::of(sides).unwrap(), None, None);
    match is_torus {
        true => NetworkSpec::Torus { radix, dimensions, nodes_per_router, links, self_traffic },
        false => NetworkSpec::Mesh { radix, dimensions, nodes_per_router, links, self_traffic },
    }
}

/// Without preemption, control, blocks and host interfaces nothing is new.
#[test]
fn routers_without_levels_are_multiplexed_ones_to_the_bit() {
    let mut draws = Draws::new(39);
    for case in 0..250 {
        let (scenario, offers) = unlevelled(&mut draws);
        let deliveries = plain::wormhole::replay_offers(&scenario, &offers, LIMIT);
        let levelled = levels::replay_offers(&scenario, &offers, LIMIT);
        assert_all_delivered(&scenario, &offers, &levelled);
        assert_eq!(levelled, deliveries, "case {case}: {:?} {:?}", scenario.network(), scenario.router());
        assert_eq!(replay_offers(&scenario, &offers, LIMIT), deliveries, "case {case}");
        let (levelled, activity) = replay_offers_levelled(&scenario, &offers, LIMIT);
        assert_eq!(levelled, deliveries, "case {case}");
        assert_eq!((activity.dummies, activity.bus), (0, 0));
    }
}

/// Routers of any kind with levels, messages of all classes.
fn levelled(draws: &mut Draws) -> (Scenario, Vec<Offer>) {
    let network = match draws.below(7) {
        0 => mesh(),
        6 => graph(&mut |below| draws.below(below), 0),
        5 => tree(&[2, 3], &[2], &[1 + draws.below(2)], draws.of(&TreeRouting::ALL[..3])),
        4 => NetworkSpec::Hypercube { dimension: 1 + draws.below(3), self_traffic: None },
        1 => lattice(&[3, 3], 1 + draws.below(2), 1 + draws.below(2), true),
        2 => lattice(&[2, 3], 1 + draws.below(2), 1 + draws.below(3), false),
        _ => NetworkSpec::Router { ports: 4, self_traffic: None },
    };
    let scheduler = draws.of(&[Scheduler::FineGrainedVirtualClock, Scheduler::FineGrainedFairQueueing]);
    let (preempts, is_accelerated) = (draws.below(4) > 0, draws.below(3) > 0);
    let output_lanes = draws.of(&[None, Some(OutputLanes::PerLevel)]);
    let with = RouterSpec {
        preemption: Preemption::InputBuffer,
        acceleration: Some(is_accelerated),
        output_lanes,
        vc_map: Some(VcMap::All),
        ..NP
    };
    let router = RouterSpec {
        pipeline_stages: draws.of(&[5, 3, 4, 3, 6]),
        buffer_flits: draws.of(&[1, 2, 3, 5, 10, 40]),
        virtual_channels: None,
        scheduler: if preempts { scheduler } else { draws.of(&[scheduler, Scheduler::Fifo]) },
        block_flits: draws.of(&[1, 1, 2, 5, 10]),
        ..if preempts { with } else { NP }
    };
    let mut spec = spec(network.clone(), router);
    spec.classes[0].virtual_channels = if network.topology().has_rings() { 2 } else { 1 };
    spec.classes[1].virtual_channels = 2;
    spec.classes[2].virtual_channels = 2;
    spec.units = Some(UnitsSpec { link: Some("1.6 Gbps".to_owned()), flit_bits: Some(128), cycle: None });
    spec.interface = match draws.below(4) {
        0 => Some(interface(QOS, None)),
        1 => Some(interface(QOS, Some(Injection::Message))),
        2 => Some(interface(TRADITIONAL, None)),
        _ => None,
    };
    if let Some(interface) = &mut spec.interface {
        interface.buffer = Some(InterfaceBuffer::Flits(draws.of(&[40, 60, 160])));
    }
    let scenario = spec.check().unwrap();
    let cycles = draws.of(&[200, 1_000, 4_000]);
    let mut offers = messages(draws, &scenario, 400, cycles, 40);
    // control preempts real time on the same virtual channel
    if preempts && !network.topology().has_rings() {
        for offer in &mut offers {
            let mut on = || draws.below(4) as u8;
            offer.drawn = Some(ChannelChoice { injection: on(), network: on(), ejection: on() });
        }
    }
    (scenario, offers)
}

/// The plain simulator itself checks that no flit is left when all is delivered, and that no level waits behind a
/// lower one. How many fragments gave way.
fn nothing_is_lost(seed: u64) -> u64 {
    let (scenario, offers) = levelled(&mut Draws::new(seed));
    let (deliveries, activity) = levels::replay_counted(&scenario, &offers, LIMIT);
    let case = format!("{seed}: {:?} {:?} {:?}", scenario.network(), scenario.router(), scenario.interface());
    assert_eq!(deliveries.len(), offers.len(), "{case}");
    assert_all_delivered(&scenario, &offers, &deliveries);
    let closed: u64 = deliveries.iter().map(|one| u64::from(one.preemptions)).sum();
    assert_eq!(activity.preemptions.iter().sum::<u64>(), closed);
    let is_single = scenario.topology().routers() == 1;
    assert!(
        if is_single { activity.dummies == 2 * closed } else { activity.dummies >= 2 * closed },
        "{case}"
    );
    assert!(scenario.router().preempts() || closed == 0);
    assert_eq!(activity.wire, offers.iter().map(|offer| u64::from(offer.flits)).sum::<u64>());
    for replay in SIMULATORS {
        assert_eq!(replay(&scenario, &offers, LIMIT), deliveries, "{case}");
    }
    closed
}

#[test]
fn nothing_is_lost_or_left_behind() {
    let preempted: u64 = (0..60).map(nothing_is_lost).sum();
    assert!(preempted > 500, "{preempted}");
}

/// Other cases with every change of the simulator.
#[test]
#[ignore = "300 random cases take a minute"]
fn nothing_is_lost_in_many_other_cases() {
    let first = seed_of_sources() >> 1;
    let preempted: u64 = (0..u64::from(cases(300))).map(|number| nothing_is_lost(first + number)).sum();
    assert!(preempted > 0, "{preempted}");
}

/// Messages of real time and best effort, each on virtual channels of its own.
fn apart(draws: &mut Draws, network: NetworkSpec, router: RouterSpec) -> (Scenario, Vec<Offer>) {
    let mut spec = spec(network, router);
    spec.classes.remove(0);
    let scenario = spec.check().unwrap();
    let cycles = draws.of(&[300, 2_000]);
    let offers = messages(draws, &scenario, 250, cycles, 40);
    (scenario, offers)
}

const FINE_GRAINED: [Scheduler; 2] = [Scheduler::FineGrainedVirtualClock, Scheduler::FineGrainedFairQueueing];

#[test]
fn preemption_changes_nothing_where_levels_share_no_virtual_channel() {
    for (seed, network) in [ROUTER, mesh(), ROUTER, mesh()].into_iter().enumerate() {
        for scheduler in FINE_GRAINED {
            let router = RouterSpec { buffer_flits: [40, 3][seed / 2], scheduler, ..NP };
            let (np, offers) = apart(&mut Draws::new(seed as u64), network.clone(), router);
            let without = levels::replay_offers(&np, &offers, LIMIT);
            assert_eq!(without.len(), offers.len());
            for output_lanes in [None, Some(OutputLanes::PerLevel)] {
                let router = RouterSpec { preemption: Preemption::InputBuffer, output_lanes, ..router };
                let (p, _) = apart(&mut Draws::new(seed as u64), network.clone(), router);
                for replay in SIMULATORS {
                    assert_eq!(replay(&p, &offers, LIMIT), without);
                }
            }
        }
    }
}

/// Over a router's ejection channels there is room for every level.
#[test]
fn output_lanes_per_level_change_nothing_in_a_single_router() {
    for seed in 0..4 {
        let deliveries = [OutputLanes::Shared, OutputLanes::PerLevel].map(|lanes| {
            let router = RouterSpec { output_lanes: Some(lanes), vc_map: Some(VcMap::All), ..P };
            let scenario = scenario(ROUTER, router);
            let offers = messages(&mut Draws::new(seed), &scenario, 400, 1_000, 40);
            SIMULATORS[0](&scenario, &offers, LIMIT)
        });
        assert_eq!(deliveries[0], deliveries[1]);
    }
}

#[test]
fn without_preemption_lower_levels_do_not_touch_higher_ones() {
    for (seed, scheduler) in FINE_GRAINED.into_iter().enumerate() {
        let scenario = scenario(ROUTER, RouterSpec { scheduler, ..NP });
        let offers = messages(&mut Draws::new(seed as u64), &scenario, 600, 2_000, 40);
        let up_to = |lowest: u8| {
            let of_levels: Vec<Offer> =
                offers.iter().filter(|offer| offer.arrival.class <= lowest).copied().collect();
            SIMULATORS[0](&scenario, &of_levels, LIMIT)
        };
        for (lowest, deliveries) in [(CONTROL, up_to(RT)), (CONTROL, up_to(BE)), (RT, up_to(BE))] {
            let of_levels: Vec<Delivery> = deliveries.into_iter().filter(|one| one.class <= lowest).collect();
            assert_eq!(of_levels, up_to(lowest));
        }
    }
}

#[test]
fn blocks_change_nothing_where_one_message_crosses_at_a_time() {
    let sent: Vec<Sent> = (0..6u8).map(|one| (u64::from(one) * 100, one % 3, 0, 1, one, one, 40)).collect();
    let offers: Vec<Offer> = sent.into_iter().map(offer).collect();
    let of = |block_flits| {
        let scenario = scenario(ROUTER, RouterSpec { block_flits, ..P });
        SIMULATORS[0](&scenario, &offers, LIMIT)
    };
    assert_eq!(of(1), of(7));
    assert!(of(1).iter().all(|one| one.network_latency_cycles() == 44));
}

/// H2, H3: the second message waits for room of its virtual channel; the last passes it, if the firmware looks as far.
#[test]
fn firmware_skips_messages_without_room() {
    let mut spec = with_interface(P, QOS, None).spec().clone();
    spec.interface.as_mut().unwrap().buffer = Some(InterfaceBuffer::Flits(40));
    let scenario = spec.check().unwrap();
    let entered = |waiting: usize| {
        let mut offers = vec![offer(HELD); 1 + waiting];
        offers.push(offer((0, BE, 0, 2, 5, 5, 40)));
        let deliveries = SIMULATORS.map(|replay| replay(&scenario, &offers, LIMIT));
        assert!(deliveries.iter().all(|one| *one == deliveries[0]));
        let of = |destination| {
            let to = deliveries[0].iter().filter(|one| one.destination == destination);
            to.map(|one| one.entered_cycle).collect::<Vec<_>>()
        };
        (of(1)[..2].to_vec(), of(2)[0])
    };
    // 32 in the queue and out by 71, when firmware sees room; the other has joined behind the first
    assert_eq!(entered(1), (vec![33, 72 + 10 + 22 + 8 + 1], 73));
    assert_eq!(entered(63), entered(1));
    // taken when the firmware has handed the second over
    assert_eq!(entered(64), (vec![33, 72 + 10 + 22 + 1], 72 + 10 + 22 + 40 + 1));
}

/// H4, H6: sender and receiver of a node share its bus.
#[test]
fn a_bus_serves_both_directions() {
    let of = |kind, class, cycle| {
        let scenario = with_interface(NP, kind, None);
        let [received, sent] = delivered(&scenario, [HELD, (cycle, class, 1, 2, 1, 1, 40)]);
        (received.host.receive, sent.entered_cycle)
    };
    // 97 the tail is out: asked for in 98; the descriptor in the same cycle, or one before
    assert_eq!(of(TRADITIONAL, RT, 88), (18, 98 + 18 + 4 + 18 + 22));
    assert_eq!(of(TRADITIONAL, RT, 87), (18 + 3, 97 + 4 + 18 + 18 + 22));
    // 76 the tail is out; real time goes before best effort, though it asks later
    assert_eq!(of(QOS, RT, 66), (18 + 3 + 18, 76 + 4 + 18 + 1));
    assert_eq!(of(QOS, BE, 66), (18 + 3, 76 + 4 + 18 + 18 + 1));
}

/// H7.
#[test]
fn what_firmware_has_not_taken_is_taken_back() {
    let mut spec = with_interface(NP, QOS, None).spec().clone();
    spec.measure = Some(MeasureSpec { warm_up: None, end: Some(10_000.0), bin: None });
    spec.classes[usize::from(BE)].end = Some(15.0);
    let scenario = spec.check().unwrap();
    let offers = vec![offer(HELD); 5];
    for replay in SIMULATORS {
        assert_eq!(replay(&scenario, &offers, LIMIT).len(), 2);
    }
}

/// H7: one whose message has no room stands before another.
#[test]
fn a_doorbell_taken_back_makes_way_for_those_behind() {
    let mut spec = with_interface(NP, TRADITIONAL, None).spec().clone();
    spec.measure = Some(MeasureSpec { warm_up: None, end: Some(10_000.0), bin: None });
    spec.classes.iter_mut().for_each(|class| class.virtual_channels = 1);
    (spec.router.virtual_channels, spec.interface.as_mut().unwrap().buffer) =
        (None, Some(InterfaceBuffer::Flits(40)));
    spec.classes[usize::from(BE)].end = Some(70.0);
    let scenario = spec.check().unwrap();
    let mut offers = vec![offer((0, BE, 0, 1, 2, 2, 39)); 5];
    offers.push(offer((1, RT, 0, 1, 1, 1, 1)));
    for replay in SIMULATORS {
        let deliveries = replay(&scenario, &offers, LIMIT);
        assert_eq!(deliveries.len(), 4);
        let last = deliveries.iter().find(|one| one.class == RT).unwrap();
        assert_eq!(u64::from(last.host.doorbell), 70 + 10 - 1);
    }
}

#[test]
fn other_routers_are_refused_by_name() {
    let refused = |router: RouterSpec| {
        let mut spec = spec(ROUTER, RouterSpec { virtual_channels: None, ..router });
        spec.classes.iter_mut().for_each(|class| class.virtual_channels = 1);
        let faults = supports(&spec.check().unwrap()).err().unwrap_or_default();
        faults.into_iter().map(|fault| format!("{}: {}", fault.key, fault.wanted)).collect::<Vec<_>>()
    };
    let short =
        RouterSpec { pipeline_stages: 3, output_lanes: Some(OutputLanes::PerLevel), block_flits: 2, ..P };
    for router in [NP, TR, P, short] {
        assert!(refused(router).is_empty(), "{:?}", refused(router));
    }
    let faults = refused(RouterSpec { crossbar: Crossbar::Full, scheduler: Scheduler::VirtualClock, ..NP });
    let schedulers = "\"fine-grained-virtual-clock\", \"fine-grained-fair-queueing\" or \"fifo\"";
    let expected = [("scheduler", schedulers), ("crossbar", "\"multiplexed\"")];
    assert_eq!(
        faults,
        expected.map(|(key, word)| format!("router.{key}: {word} to simulate a control class"))
    );
    let faults = refused(RouterSpec {
        vc_choice: VcChoice::Free,
        allocation: Allocation::Rotating,
        block_flits: 3,
        ..NP
    });
    assert_eq!(faults.len(), 2);
}

#[test]
fn diagrams_show_messages_that_give_way() {
    let mut spec = spec(ROUTER, RouterSpec { vc_map: Some(VcMap::All), virtual_channels: None, ..P });
    spec.classes.iter_mut().for_each(|class| class.rate = 0.01);
    (spec.classes[1].virtual_channels, spec.classes[2].virtual_channels) = (1, 1);
    let diagram = watch(&spec.check().unwrap(), 1, 40).unwrap().to_string();
    assert_eq!(diagram.matches("network latency").count(), 40, "{diagram}");
}

/// A hypercube is the mesh of radix 2.
#[test]
fn a_hypercube_is_the_mesh_of_radix_2() {
    let mut draws = Draws::new(7);
    for case in 0..20 {
        let (scenario, offers) = levelled(&mut draws);
        let on = |network| ScenarioSpec { network, ..scenario.spec().clone() }.check().unwrap();
        let cube = on(NetworkSpec::Hypercube { dimension: 2, self_traffic: None });
        let mesh = on(lattice(&[2, 2], 1, 1, false));
        let among_four = |offer: &Offer| offer.arrival.source.max(offer.arrival.destination) < 4;
        let offers: Vec<Offer> = offers.into_iter().filter(among_four).collect();
        for replay in SIMULATORS {
            assert_eq!(replay(&cube, &offers, LIMIT), replay(&mesh, &offers, LIMIT), "case {case}");
        }
    }
}
