//! Packet switches on what can be reckoned by hand, and the fast simulator against the plain one.

use super::super::traffic::on_off_pareto::Periods;
use super::super::traffic::random::{below, stream};
use super::plain::Plain;
use super::*;

const OMEGA: Direction = Direction::Unidirectional { first_shuffle: true };
const ORGANISATIONS: [Organisation; 6] = [
    Organisation::OneQueue,
    Organisation::FourQueues,
    Organisation::VoqSwitch { single_output: false },
    Organisation::VoqSwitch { single_output: true },
    Organisation::VoqNetwork,
    RECN,
];
const RECN: Organisation = Organisation::Recn(DEFAULTS);
const DEFAULTS: Recn = Recn {
    set_aside_queues: 8,
    detection: 16,
    propagation: 4,
    xoff: 32,
    xon: 16,
    few_packets: 2,
    normal_weight: 8,
    hold: 375,
    marker: Marker::ParentQueue,
};

fn message(tick: u64, source: u32, destination: u32, packets: u32) -> Message {
    Message { tick, traffic: 0, source, destination, packets }
}

/// The deliveries of listed messages and the counts.
fn replayed(fabric: &Fabric, messages: Vec<Message>) -> (Vec<Delivery>, Counts) {
    run(fabric, &Load { messages, ..Load::default() })
}

/// What the fast simulator delivers and counts until all is delivered; then nothing is left.
fn run(fabric: &Fabric, load: &Load) -> (Vec<Delivery>, Counts) {
    let (mut fast, mut delivered) = (Simulator::new(fabric, load), Vec::new());
    fast.run_until(1_000_000, &mut delivered);
    assert!(fast.is_drained(), "{fabric:?} {load:?}");
    (delivered, *fast.counts())
}

/// What both simulators deliver and count, tick by tick, until all is delivered or until `end`; then nothing is left.
fn both(fabric: &Fabric, load: &Load, end: u64) -> (Vec<Delivery>, Counts) {
    let (mut fast, mut delivered) = (Simulator::new(fabric, load), Vec::new());
    let (mut plain, mut wanted) = (Plain::new(fabric, load), Vec::new());
    let last = load.traffics.iter().filter_map(|traffic| traffic.end).max().unwrap_or(1);
    let is_through = |counts: &Counts| counts.admitted == counts.delivered;
    while fast.now() < end && (fast.now() < last || fast.backlog() > 0 || !is_through(fast.counts())) {
        let until = (fast.now() + 100).min(end);
        fast.run_until(until, &mut delivered);
        plain.run_until(until, &mut wanted);
        assert_eq!(delivered, wanted, "{fabric:?} {load:?}");
        assert_eq!(fast.counts(), plain.counts(), "before tick {until} of {fabric:?} {load:?}");
        assert_eq!((fast.bins(), fast.links()), (plain.bins(), plain.links()), "{fabric:?} {load:?}");
        assert!(fast.now() < 1_000_000, "nothing moves: {fabric:?} {load:?}");
    }
    if end == u64::MAX {
        let until = fast.now() + 500;
        fast.run_until(until, &mut delivered);
        plain.run_until(until, &mut wanted);
        assert!(fast.is_drained() && plain.is_drained(), "{fabric:?} {load:?}");
    }
    (delivered, *fast.counts())
}

fn latencies(fabric: &Fabric, messages: Vec<Message>) -> Vec<u64> {
    let (delivered, _) = replayed(fabric, messages);
    delivered.iter().map(|delivery| delivery.delivered - delivery.generated).collect()
}

#[test]
fn a_lone_packet_takes_its_times_in_every_organisation() {
    let network = |hosts, direction| Fabric { hosts, direction, ..Fabric::default() };
    let cases = [
        (network(16, OMEGA), 9, 66),
        (network(64, OMEGA), 32, 83),
        (network(256, OMEGA), 77, 100),
        (network(512, OMEGA), 77, 117),
        (network(64, Direction::Bidirectional), 2, 49),
        (network(64, Direction::Bidirectional), 17, 83),
        (network(64, Direction::Bidirectional), 63, 117),
        (Fabric { store_and_forward: true, ..Fabric::default() }, 32, 146),
        (
            Fabric {
                times: Times { packet_link: 192, packet_crossbar: 128, ..Times::default() },
                ..Fabric::default()
            },
            32,
            416,
        ),
    ];
    for (fabric, destination, ticks) in cases {
        for organisation in ORGANISATIONS {
            let fabric = Fabric { organisation, ..fabric };
            assert_eq!(latencies(&fabric, vec![message(7, 1, destination, 1)]), [ticks], "{fabric:?}");
        }
    }
}

#[test]
fn two_and_sixteen_packets_follow_each_other_on_the_link() {
    for organisation in ORGANISATIONS {
        let fabric = Fabric { organisation, ..Fabric::default() };
        assert_eq!(latencies(&fabric, vec![message(0, 0, 32, 1), message(0, 1, 32, 1)]), [83, 107]);
        assert_eq!(latencies(&fabric, vec![message(0, 0, 32, 2)]), [83, 107]);
        let sixteen = latencies(&fabric, (48..64).map(|host| message(0, host, 32, 1)).collect());
        assert_eq!(sixteen, (0..16).map(|place| 83 + 24 * place).collect::<Vec<u64>>());
    }
}

#[test]
fn a_tree_grows_and_goes() {
    let messages: Vec<Message> = (48..64).map(|host| message(0, host, 32, 40)).collect();
    for organisation in [Organisation::OneQueue, Organisation::VoqNetwork, RECN] {
        for direction in [OMEGA, Direction::Bidirectional] {
            let fabric = Fabric { organisation, direction, ..Fabric::default() };
            let (delivered, counts) = replayed(&fabric, messages.clone());
            if direction == OMEGA {
                let times: Vec<u64> = delivered.iter().map(|delivery| delivery.delivered).collect();
                assert_eq!(times, (0..640).map(|place| 83 + 24 * place).collect::<Vec<u64>>());
            }
            let Counts { allocated, notifications, refusals, peak, .. } = counts;
            let wanted = match (organisation, direction) {
                (RECN, Direction::Bidirectional) => (171, 135, [49, 2, 1]),
                (RECN, _) => (92, 56, [44, 2, 1]),
                _ => (0, 0, [0; 3]),
            };
            assert_eq!((allocated, notifications, peak), wanted);
            assert_eq!((refusals, counts.out_of_order), (0, 0));
        }
    }
}

/// A small network with thresholds from one packet on and memories of a few packets.
fn random_fabric(draw: &mut impl FnMut(u32) -> u32) -> Fabric {
    let propagation = 1 + draw(4);
    let xoff = propagation + draw(6);
    let recn = Recn {
        set_aside_queues: [1, 2, 3, 64][draw(4) as usize],
        detection: 1 + draw(6),
        propagation,
        xoff,
        xon: 1 + draw(xoff),
        few_packets: draw(4),
        normal_weight: 1 + draw(8),
        hold: draw(400).into(),
        marker: Marker::ParentQueue,
    };
    let organisation = if draw(2) == 0 { Organisation::Recn(recn) } else { ORGANISATIONS[draw(5) as usize] };
    let flits = 1 + draw(6);
    let (flit_link, flit_crossbar) = (1 + draw(3), 1 + draw(3));
    let times = Times {
        packet_link: (flits * flit_link).into(),
        packet_crossbar: (flits * flit_crossbar).into(),
        flit_link: flit_link.into(),
        flit_crossbar: flit_crossbar.into(),
        control_link: draw(4).into(),
        flight: draw(7).into(),
        routing: draw(7).into(),
    };
    let queues = if organisation == Organisation::VoqNetwork { 64 } else { 8 };
    Fabric {
        hosts: if draw(8) == 0 { 64 } else { 16 << draw(2) },
        direction: [OMEGA, Direction::Unidirectional { first_shuffle: false }, Direction::Bidirectional]
            [draw(3) as usize],
        organisation,
        times,
        store_and_forward: draw(2) == 0,
        port_packets: queues * (1 + draw(3)),
        injection_packets: queues * (1 + draw(3)),
        admittance_packets: if draw(3) == 0 { Some(1 + draw(20)) } else { None },
        credit_batch: 1 + draw(10),
    }
}

fn random_load(draw: &mut impl FnMut(u32) -> u32, fabric: &Fabric) -> Load {
    let hosts = fabric.hosts;
    let mut traffic = |destination: Destination, share: u32| Traffic {
        hosts: (0..hosts).filter(|_| draw(4) < share).collect(),
        destination,
        process: if draw(2) == 0 { Process::Periodic } else { Process::Poisson },
        interval: fabric.times.packet_link as f64 * (1.0 + f64::from(draw(4)) / 2.0),
        packets: 1 + draw(2),
        start: draw(100).into(),
        end: Some(200 + u64::from(draw(600))),
        withdraw: draw(2) == 0,
    };
    let traffics = vec![
        traffic(Destination::Uniform, 3),
        traffic(Destination::Among(vec![hosts / 2]), 2),
        traffic(Destination::Among(vec![hosts / 2 + 1, 3]), 2),
    ];
    let messages =
        (0..draw(20)).map(|tick| message((tick * 10).into(), tick % hosts, (tick + 5) % hosts, 2)).collect();
    Load { traffics, messages, seed: draw(1000).into(), bin: 70 }
}

fn agree_on_random_scenarios(seeds: std::ops::Range<u64>) {
    let (mut lines, mut refusals, mut withdrawn, mut refused) = (0, 0, 0, 0);
    for seed in seeds {
        let mut random = stream(seed, 0, 0);
        let mut draw = |among| below(&mut random, among);
        let fabric = random_fabric(&mut draw);
        let load = random_load(&mut draw, &fabric);
        let (_, counts) = both(&fabric, &load, u64::MAX);
        assert!(
            counts.out_of_order == 0 || fabric.organisation == Organisation::FourQueues,
            "{fabric:?} {load:?}"
        );
        lines += counts.allocated;
        refusals += counts.refusals;
        withdrawn += counts.withdrawn;
        refused += counts.refused;
    }
    assert!(
        lines.min(refusals).min(withdrawn).min(refused) > 100,
        "{lines} {refusals} {withdrawn} {refused}"
    );
}

#[test]
fn fast_and_plain_agree_on_random_scenarios() {
    agree_on_random_scenarios(0..12);
}

/// Bursts, a hot spot and a pattern.
#[test]
fn fast_and_plain_agree_on_bursts_and_patterns() {
    let periods = Periods::new(8_000.0, 1.4, 60.0, 64);
    let traffic = |destination, process| Traffic {
        hosts: (0..14).collect(),
        destination,
        process,
        interval: 400.0,
        packets: 2,
        start: 5,
        end: Some(20_000),
        withdraw: true,
    };
    let traffics = vec![
        traffic(Destination::Uniform, Process::OnOffPareto(20, periods)),
        traffic(Destination::Hot(3, 0.3), Process::Poisson),
        traffic(Destination::Fixed((0..16).rev().collect()), Process::Poisson),
    ];
    let fabric = Fabric { hosts: 16, ..Fabric::default() };
    let (delivered, counts) = both(&fabric, &Load { traffics, seed: 5, ..Load::default() }, u64::MAX);
    assert!(counts.delivered > 4_000 && counts.out_of_order == 0, "{counts:?}");
    // about 1,400 packets, of which 0.3 + 0.7 / 15 go there
    let hot = delivered.iter().filter(|one| one.traffic == 1 && one.destination == 3).count();
    assert!((400..570).contains(&hot), "{hot}");
    assert!(delivered.iter().all(|one| one.traffic < 2 || one.destination == 15 - one.source));
}

#[test]
#[ignore = "a few minutes: 1,000 scenarios"]
fn fast_and_plain_agree_on_many_random_scenarios() {
    agree_on_random_scenarios(30..1_030);
}

/// Trees that nest: two hot hosts behind one switch, and traffic that goes everywhere.
fn nested_trees(direction: Direction, set_aside_queues: u32, marker: Marker) -> Counts {
    let recn = Recn { set_aside_queues, marker, detection: 2, propagation: 1, xoff: 4, xon: 2, ..DEFAULTS };
    let times = Times { packet_link: 192, packet_crossbar: 128, ..Times::default() };
    let fabric = Fabric {
        direction,
        times,
        organisation: Organisation::Recn(recn),
        port_packets: 256,
        ..Fabric::default()
    };
    let traffic = |hosts: Vec<u32>, destination, interval| Traffic {
        hosts,
        destination,
        process: Process::Poisson,
        interval,
        packets: 1,
        start: 0,
        end: Some(60_000),
        withdraw: true,
    };
    let hot = |hosts: Vec<u32>, to: &[u32]| traffic(hosts, Destination::Among(to.to_vec()), 192.0);
    let traffics = vec![
        traffic((0..64).collect(), Destination::Uniform, 260.0),
        hot((40..52).collect(), &[32]),
        hot((0..24).collect(), &[33, 34, 35]),
        hot((52..64).collect(), &[1]),
    ];
    run(&fabric, &Load { traffics, seed: 1, ..Load::default() }).1
}

/// The paper's marker in the normal queue lets packets overtake each other where set-aside queues nest.
#[test]
fn packets_of_a_pair_stay_in_order_with_markers_in_the_parent_queue() {
    for direction in [OMEGA, Direction::Bidirectional] {
        for set_aside_queues in [1, 2, 8, 64] {
            let ours = nested_trees(direction, set_aside_queues, Marker::ParentQueue);
            let paper = nested_trees(direction, set_aside_queues, Marker::NormalQueue);
            assert_eq!(ours.out_of_order, 0, "{direction:?}");
            assert_eq!(paper.out_of_order > 0, set_aside_queues > 1, "{direction:?}");
        }
    }
}

/// Uniform traffic at `share` of the link from the first tick to the last: deliveries and packets per host and tick.
fn uniform_load(fabric: &Fabric, share: f64, process: Process, end: u64) -> (Vec<Delivery>, f64) {
    let traffic = Traffic {
        hosts: (0..fabric.hosts).collect(),
        destination: Destination::Uniform,
        process,
        interval: fabric.times.packet_link as f64 / share,
        packets: 1,
        start: 0,
        end: None,
        withdraw: false,
    };
    let load = Load { traffics: vec![traffic], seed: 1, ..Load::default() };
    let (mut fast, mut delivered) = (Simulator::new(fabric, &load), Vec::new());
    fast.run_until(end, &mut delivered);
    let half = delivered.iter().filter(|delivery| delivery.delivered >= end / 2).count() as f64;
    let throughput =
        half * fabric.times.packet_link as f64 / (end - end / 2) as f64 / f64::from(fabric.hosts);
    (delivered, throughput)
}

const SLOW_CROSSBAR: Times = Times {
    packet_link: 24,
    packet_crossbar: 24,
    flit_link: 3,
    flit_crossbar: 3,
    control_link: 3,
    flight: 6,
    routing: 6,
};

#[test]
fn the_head_of_line_limit_holds_without_speedup_and_recn_detects_nothing_there() {
    let slow = |organisation| Fabric { times: SLOW_CROSSBAR, organisation, ..Fabric::default() };
    let (one, throughput) = uniform_load(&slow(Organisation::OneQueue), 1.0, Process::Periodic, 60_000);
    assert!((0.98 * 0.655_242..0.655_242).contains(&throughput), "{throughput}");
    assert!(one == uniform_load(&slow(RECN), 1.0, Process::Periodic, 60_000).0);
}

#[test]
fn recn_that_detects_nothing_is_one_queue() {
    let recn = Recn { detection: 2049, ..DEFAULTS };
    let fabric = |organisation, direction| Fabric { organisation, direction, ..Fabric::default() };
    for direction in [OMEGA, Direction::Bidirectional] {
        let run =
            |organisation| uniform_load(&fabric(organisation, direction), 1.0, Process::Poisson, 20_000).0;
        assert!(run(Organisation::OneQueue) == run(Organisation::Recn(recn)));
    }
}

/// One input in use of each switch: nothing stands in front of anybody.
#[test]
fn one_host_alone_gets_the_whole_link() {
    let messages = vec![message(0, 5, 40, 1000)];
    let fabric = Fabric { organisation: Organisation::OneQueue, ..Fabric::default() };
    let (delivered, _) = replayed(&fabric, messages);
    assert!(
        delivered.iter().enumerate().all(|(place, delivery)| delivery.delivered == 83 + 24 * place as u64)
    );
}

#[test]
fn another_traffic_leaves_the_draws_of_the_others_alone() {
    let traffic = |hosts: Vec<u32>| Traffic {
        hosts,
        destination: Destination::Uniform,
        process: Process::Poisson,
        interval: 100.0,
        packets: 1,
        start: 0,
        end: Some(5_000),
        withdraw: false,
    };
    let generated = |traffics| {
        let (delivered, _) = run(&Fabric::default(), &Load { traffics, seed: 3, ..Load::default() });
        let mut first: Vec<_> = delivered
            .iter()
            .filter(|delivery| delivery.traffic == 0)
            .map(|delivery| (delivery.generated, delivery.source, delivery.destination))
            .collect();
        first.sort_unstable();
        first
    };
    assert_eq!(
        generated(vec![traffic((0..64).collect())]),
        generated(vec![traffic((0..64).collect()), traffic((3..9).collect())])
    );
}
