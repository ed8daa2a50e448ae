//! Levels, preemption and host interfaces in many small scenarios: both simulators agree in everything that they tell.

use flitwise_language::scenario::{
    ClassKind, ClassSpec, Injection, InterfaceBuffer, InterfaceKind, InterfaceSpec, MeasureSpec, NetworkSpec,
    OutputLanes, Preemption, RouterSpec, Scenario, ScenarioSpec, Scheduler, UnitsSpec, VcMap,
};
use flitwise_simulator::plain::levels;
use flitwise_simulator::{ChannelChoice, Offer, replay_offers_levelled};

use crate::levels::{Draws, NP, assert_all_delivered, interface, lattice, messages, spec};
use crate::sources::{cases, seed_of_sources};

/// More cycles than any of the scenarios here needs.
const LIMIT: u64 = 100_000;

/// A few routers, some of whose ports are busy.
fn network(draws: &mut Draws) -> NetworkSpec {
    match draws.below(8) {
        0 => lattice(&[2, 2], 1, 1, false),
        1 => lattice(&[3], 1 + draws.below(2), 1 + draws.below(2), true),
        2 => lattice(&[3, 3], 1, 1, true),
        3 => lattice(&[3], 1 + draws.below(3), 1 + draws.below(3), false),
        4 => lattice(&[3], 1, 1 + draws.below(3), false),
        5 => NetworkSpec::Hypercube { dimension: 1 + draws.below(2), self_traffic: None },
        _ => NetworkSpec::Router { ports: 2 + draws.below(3), self_traffic: None },
    }
}

fn router(draws: &mut Draws) -> RouterSpec {
    let fine_grained = [Scheduler::FineGrainedVirtualClock, Scheduler::FineGrainedFairQueueing];
    let scheduler = draws.of(&fine_grained);
    let preempts = draws.below(6) > 0;
    let base = RouterSpec {
        pipeline_stages: draws.of(&[3, 3, 4, 5, 6, 8]),
        buffer_flits: draws.of(&[1, 2, 3, 4, 8, 20]),
        virtual_channels: None,
        scheduler: if preempts { scheduler } else { draws.of(&[scheduler, Scheduler::Fifo]) },
        block_flits: draws.of(&[1, 1, 2, 3, 5, 10]),
        ..NP
    };
    let (is_accelerated, per_level) = (draws.below(3) > 0, draws.below(2) > 0);
    if !preempts {
        return base;
    }
    RouterSpec {
        preemption: Preemption::InputBuffer,
        acceleration: Some(is_accelerated),
        output_lanes: per_level.then_some(OutputLanes::PerLevel),
        vc_map: Some(VcMap::All),
        ..base
    }
}

/// Sometimes several of a level, or none.
fn classes(draws: &mut Draws, has_rings: bool) -> Vec<ClassSpec> {
    let mut classes = Vec::new();
    if draws.below(3) > 0 {
        classes.push(ClassSpec { kind: ClassKind::Control, ..ClassSpec::best_effort("control", 1e-4) });
    }
    for number in 0..1 + draws.below(2) {
        let vtick = Some(draws.of(&[1.0, 2.0, 3.3, 0.7, 40.0]));
        classes.push(ClassSpec { vtick, ..ClassSpec::real_time(&format!("R{number}"), 1e-4) });
    }
    for number in 0..1 + draws.below(2) {
        classes.push(ClassSpec::best_effort(&format!("B{number}"), 1e-4));
    }
    for class in &mut classes {
        class.virtual_channels = if has_rings { 2 } else { 1 + draws.below(2) };
        class.end = (draws.below(8) == 0).then(|| f64::from(1 + draws.below(300)));
    }
    classes
}

fn host(draws: &mut Draws) -> Option<InterfaceSpec> {
    let (kind, injection) = match draws.below(9) {
        0 => (InterfaceKind::Qos, None),
        1 => (InterfaceKind::Qos, Some(Injection::Message)),
        2 => (InterfaceKind::Traditional, None),
        _ => return None,
    };
    let by_message = kind == InterfaceKind::Traditional || injection.is_some();
    let send_setup = by_message.then(|| draws.of(&[None, Some(0.0), Some(1.0), Some(3.0)])).flatten();
    Some(InterfaceSpec {
        buffer: Some(InterfaceBuffer::Flits(draws.of(&[40, 60, 160]))),
        firmware: draws.of(&[None, Some(0.0), Some(1.0), Some(2.0)]),
        bus_rate: draws.of(&[None, Some(160.0), Some(16.0)]),
        bus_setup: draws.of(&[None, Some(0.0), Some(1.0)]),
        descriptor: draws.of(&[None, Some(0), Some(16)]),
        send_setup,
        ..interface(kind, injection)
    })
}

/// A small scenario and its messages.
fn small(draws: &mut Draws) -> (Scenario, Vec<Offer>) {
    let (network, router) = (network(draws), router(draws));
    let has_rings = matches!(network, NetworkSpec::Torus { .. });
    let (classes, interface) = (classes(draws, has_rings), host(draws));
    let units = Some(UnitsSpec { link: Some("1.6 Gbps".to_owned()), flit_bits: Some(128), cycle: None });
    let measure = Some(MeasureSpec { warm_up: None, end: Some(1e5), bin: None });
    let channels: u32 = classes.iter().map(|class| class.virtual_channels).sum();
    let spec = ScenarioSpec { classes, units, interface, measure, ..spec(network, router) };
    let scenario = spec.check().unwrap();
    let (count, longest) = (20 + draws.below(130), draws.of(&[3, 8, 20, 40, 40]));
    // flits per cycle and node while messages come
    let load = draws.of(&[0.3, 0.5, 0.8, 1.2, 5.0]);
    let flits = f64::from(count * (longest + 1)) / 2.0;
    let cycles = (flits / f64::from(scenario.topology().nodes()) / load).ceil() as u32;
    let mut offers = messages(draws, &scenario, count as usize, cycles, longest);
    // few virtual channels, which levels share
    if router.preempts() && !has_rings {
        let few = draws.of(&[1, 2, 2, 3, channels]).min(channels);
        for offer in &mut offers {
            let mut on = || draws.below(few) as u8;
            offer.drawn = Some(ChannelChoice { injection: on(), network: on(), ejection: on() });
        }
    }
    let is_sent = |offer: &Offer| {
        let end = scenario.classes()[usize::from(offer.arrival.class)].end;
        end.is_none_or(|end| (offer.arrival.cycle as f64) < end)
    };
    offers.retain(is_sent);
    (scenario, offers)
}

/// Deliveries, and what routers and interfaces have done, are the same.
fn agree(seed: u64) {
    let (scenario, offers) = small(&mut Draws::new(seed));
    let (deliveries, activity) = levels::replay_counted(&scenario, &offers, LIMIT);
    let case = format!("{seed}: {:?} {:?} {:?}", scenario.network(), scenario.router(), scenario.interface());
    let sent = |class: &ClassSpec| class.end.is_none();
    if scenario.classes().iter().all(sent) {
        assert_eq!(deliveries.len(), offers.len(), "{case}");
        assert_all_delivered(&scenario, &offers, &deliveries);
    }
    assert_eq!(replay_offers_levelled(&scenario, &offers, LIMIT), (deliveries, activity), "{case}");
}

#[test]
fn small_scenarios_agree() {
    (0..150).for_each(agree);
    // L11 where `P = 3`: a higher level asks for what is granted, but its virtual channel still closes
    [1502, 1621].into_iter().for_each(agree);
}

/// Other cases with every change of the simulator.
#[test]
#[ignore = "5,000 random cases take a minute"]
fn many_other_small_scenarios_agree() {
    let first = seed_of_sources() >> 1;
    (0..u64::from(cases(5_000))).for_each(|number| agree(first + number));
}
