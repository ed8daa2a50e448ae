//! Packet switches on what can be reckoned by hand, and the fast simulator against the plain one.

use flitwise_language::network::{Hop, LinkTime, Multistage, Network};
use flitwise_language::scenario::{
    DestinationPattern, DestinationSpec, Direction, Forwarding, GraphFile, GraphRouting, HotSpot,
    NetworkSpec, NodeList, Organisation, PerLevel, Preset, SwitchSpec, Timing, TreeRouting, VoqOutput,
};
use flitwise_simulator::packet::{
    Counts, Delivery, Fabric, Load, Marker, Message, Process, Recn, Simulator, Traffic,
};
use flitwise_simulator::plain::packet::Plain;
use flitwise_simulator::{Periods, stream_of, uniform};

use crate::against_plain::{graph, tree};
use crate::sources::{cases, seed_of_sources};

/// 64 hosts, unidirectional, with the thresholds and times of the HPCA 2005 paper.
fn fabric() -> Fabric {
    Fabric::of(&Preset::find("recn64").unwrap().scenario()).unwrap()
}

fn network(hosts: u32, direction: Direction) -> Network {
    Network::Multistage(Multistage { hosts, direction, first_shuffle: true })
}

/// The times of switches that differ from the usual ones.
fn timing(switch: SwitchSpec) -> Timing {
    Timing::of(&switch).unwrap()
}

/// Packets of 512 bytes.
fn long_packets() -> Timing {
    timing(SwitchSpec { packet: 512, ..SwitchSpec::default() })
}

fn to(hosts: &[u32]) -> DestinationSpec {
    DestinationSpec::Nodes(NodeList::of(hosts.iter().copied()))
}

/// What hosts send in Poisson streams to each other.
fn traffic(hosts: impl IntoIterator<Item = u32>, to: &DestinationSpec, network: &Network) -> Traffic {
    Traffic {
        hosts: hosts.into_iter().collect(),
        destinations: to.on(&**network),
        process: Process::Poisson,
        interval: 100.0,
        packets: 1,
        start: 0,
        end: None,
        withdraw: false,
    }
}

const ORGANISATIONS: [(Organisation, VoqOutput); 6] = [
    (Organisation::OneQueue, VoqOutput::NextSwitch),
    (Organisation::FourQueues, VoqOutput::NextSwitch),
    (Organisation::VoqSwitch, VoqOutput::NextSwitch),
    (Organisation::VoqSwitch, VoqOutput::Single),
    (Organisation::VoqNetwork, VoqOutput::NextSwitch),
    (Organisation::Recn, VoqOutput::NextSwitch),
];

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
        // hosts of a graph are not numbered switch by switch, so that those of a tick may come in another order
        for all in [&mut delivered, &mut wanted] {
            all.sort_by_key(|one| (one.delivered, one.destination));
        }
        assert_eq!(delivered, wanted, "{fabric:?} {load:?}");
        assert_eq!(fast.counts(), plain.counts(), "before tick {until} of {fabric:?} {load:?}");
        assert_eq!((fast.bins(), fast.links()), (plain.bins(), plain.links()), "{fabric:?} {load:?}");
        assert_eq!(fast.traffics(), plain.traffics(), "{fabric:?} {load:?}");
        assert!(fast.now() < 1_000_000, "nothing moves: {fabric:?} {load:?}");
    }
    if end == u64::MAX {
        // credits of a whole memory may have queued for a slow link: each takes longer there than a packet before
        let last = fast.now() + 10_000;
        while !fast.is_drained() && fast.now() < last {
            let until = fast.now() + 500;
            fast.run_until(until, &mut delivered);
            plain.run_until(until, &mut wanted);
            assert_eq!(fast.is_drained(), plain.is_drained(), "at tick {until} of {fabric:?} {load:?}");
        }
        assert!(fast.is_drained() && delivered.len() == wanted.len(), "{fabric:?} {load:?}");
    }
    (delivered, *fast.counts())
}

fn latencies(fabric: &Fabric, messages: Vec<Message>) -> Vec<u64> {
    let (delivered, _) = replayed(fabric, messages);
    delivered.iter().map(|delivery| delivery.delivered - delivery.generated).collect()
}

#[test]
fn a_lone_packet_takes_its_times_in_every_organisation() {
    let of = |hosts, direction| Fabric { network: network(hosts, direction), ..fabric() };
    let (one_way, both_ways) = (Direction::Unidirectional, Direction::Bidirectional);
    let of_tree =
        |routing| Fabric { network: tree(&[4, 4, 4], &[4, 4], &[], routing).topology(), ..fabric() };
    // 8 and 32 ns in ticks of 8/3 ns
    let delayed = |routing| {
        let mut spec = tree(&[4, 4, 4], &[4, 4], &[], routing);
        if let NetworkSpec::FatTree { delay, .. } = &mut spec {
            delay.up = PerLevel::list(&[8, 32]).unwrap();
        }
        Fabric { network: spec.topology(), ..fabric() }
    };
    // links with half the capacity: to the other switch, to the host, and from it
    let slow = |from: &str, between: &str, to: &str| {
        let text = format!("node a s0{from}\nnode b s1{to}\nlink s0 s1{between}\n");
        let (file, routing) = (GraphFile::of(&text).unwrap(), GraphRouting::Shortest);
        let spec = NetworkSpec::Graph { file, routing, root: None, self_traffic: None };
        Fabric { network: spec.topology(), ..fabric() }
    };
    let half = " capacity=1/2";
    let stored = SwitchSpec { forwarding: Forwarding::StoreAndForward, ..SwitchSpec::default() };
    let cases = [
        (of(16, one_way), 9, 66),
        (of(64, one_way), 32, 83),
        (of(256, one_way), 77, 100),
        (of(512, one_way), 77, 117),
        (of(64, both_ways), 2, 49),
        (of(64, both_ways), 17, 83),
        (of(64, both_ways), 63, 117),
        (of_tree(TreeRouting::DModK), 2, 49),
        (of_tree(TreeRouting::SModK), 17, 117),
        (of_tree(TreeRouting::RandomUp), 7, 83),
        (of_tree(TreeRouting::RandomUp), 63, 117),
        (of_tree(TreeRouting::AdaptiveUp), 2, 49),
        (of_tree(TreeRouting::AdaptiveUp), 63, 117),
        (delayed(TreeRouting::DModK), 2, 49),
        (delayed(TreeRouting::DModK), 7, 83 + 2 * 3),
        (delayed(TreeRouting::AdaptiveUp), 63, 117 + 2 * (3 + 12)),
        // two links to switches and one to a host: a packet of 24 ticks crosses in 16, and joins a queue after 9, or
        // 48 - 16 = 32 over a slow link
        (slow("", "", ""), 1, 66),
        (slow(half, "", ""), 1, 66 + 32 - 9),
        (slow("", half, ""), 1, 66 + 32 - 9),
        (slow("", "", half), 1, 66 + 24),
        (slow(half, half, half), 1, 66 + 2 * (32 - 9) + 24),
        (Fabric { timing: timing(stored), ..fabric() }, 32, 146),
        (Fabric { timing: long_packets(), ..fabric() }, 32, 416),
    ];
    for (fabric, destination, ticks) in cases {
        for (organisation, voq_output) in ORGANISATIONS {
            if fabric.network.is_adaptive() && organisation == Organisation::Recn {
                continue;
            }
            let fabric = Fabric { organisation, voq_output, ..fabric.clone() };
            let source = u32::from(fabric.network.nodes() > 2);
            assert_eq!(latencies(&fabric, vec![message(7, source, destination, 1)]), [ticks], "{fabric:?}");
        }
    }
}

/// Four hosts send at once to hosts behind two parallel links, each 10 packets: those of a link follow each other, and
/// nodes 4 and 6 name one link, 5 and 7 the other.
#[test]
fn destinations_share_the_parallel_link_that_they_name() {
    let nodes = (0..8).map(|node| format!("node n{node} s{}\n", node / 4));
    let text: String = nodes.chain(["link s0 s1 links=2\n".to_owned()]).collect();
    let (file, routing) = (GraphFile::of(&text).unwrap(), GraphRouting::Shortest);
    let spec = NetworkSpec::Graph { file, routing, root: None, self_traffic: None };
    for (organisation, voq_output) in ORGANISATIONS {
        let network = spec.topology().of_packets();
        let fabric = Fabric { network, organisation, voq_output, ..fabric() };
        for (destinations, most) in
            [([4, 5, 6, 7], 20), ([4, 6, 4, 6], 40), ([5, 5, 7, 7], 40), ([4, 4, 4, 5], 30)]
        {
            let messages = (0..4).map(|host| message(0, host, destinations[host as usize], 10)).collect();
            let last = latencies(&fabric, messages).into_iter().max().unwrap();
            // the first packet takes 66 ticks, the others of its link follow every 24
            let wanted = 66 + 24 * (most - 1);
            assert_eq!(last, wanted, "{destinations:?} {fabric:?}");
        }
    }
}

#[test]
fn two_and_sixteen_packets_follow_each_other_on_the_link() {
    for (organisation, voq_output) in ORGANISATIONS {
        let fabric = Fabric { organisation, voq_output, ..fabric() };
        assert_eq!(latencies(&fabric, vec![message(0, 0, 32, 1), message(0, 1, 32, 1)]), [83, 107]);
        assert_eq!(latencies(&fabric, vec![message(0, 0, 32, 2)]), [83, 107]);
        let sixteen = latencies(&fabric, (48..64).map(|host| message(0, host, 32, 1)).collect());
        assert_eq!(sixteen, (0..16).map(|place| 83 + 24 * place).collect::<Vec<u64>>());
    }
}

#[test]
fn a_tree_grows_and_goes() {
    let messages: Vec<Message> = (48..64).map(|host| message(0, host, 32, 40)).collect();
    for organisation in [Organisation::OneQueue, Organisation::VoqNetwork, Organisation::Recn] {
        for direction in Direction::ALL {
            let fabric = Fabric { organisation, network: network(64, direction), ..fabric() };
            let (delivered, counts) = replayed(&fabric, messages.clone());
            if direction == Direction::Unidirectional {
                let times: Vec<u64> = delivered.iter().map(|delivery| delivery.delivered).collect();
                assert_eq!(times, (0..640).map(|place| 83 + 24 * place).collect::<Vec<u64>>());
            }
            let Counts { allocated, notifications, refusals, peak, .. } = counts;
            let wanted = match (organisation, direction) {
                (Organisation::Recn, Direction::Bidirectional) => (171, 135, [49, 2, 1]),
                (Organisation::Recn, _) => (92, 56, [44, 2, 1]),
                _ => (0, 0, [0; 3]),
            };
            assert_eq!((allocated, notifications, peak), wanted);
            assert_eq!((refusals, counts.out_of_order), (0, 0));
        }
    }
}

/// A small network with thresholds from one packet on and memories of a few packets. What the plain simulator takes
/// long for is rare: many hosts, many set-aside queues.
fn random_fabric(draw: &mut impl FnMut(u32) -> u32) -> Fabric {
    let propagation = 1 + draw(4);
    let xoff = propagation + draw(6);
    let recn = Recn {
        set_aside_queues: if draw(64) == 0 { 64 } else { [1, 2, 3, 8][draw(4) as usize] },
        detection: 1 + draw(6),
        propagation,
        xoff,
        xon: 1 + draw(xoff),
        few_packets: draw(4),
        normal_weight: 1 + draw(8),
        hold: draw(400).into(),
        marker: Marker::ParentQueue,
    };
    let stages = Multistage {
        hosts: [16, 32, 64][(draw(64) / 63 + draw(4) / 3) as usize],
        direction: Direction::ALL[draw(2) as usize],
        first_shuffle: draw(2) == 0,
    };
    let network = match draw(4) {
        0 => random_tree(draw),
        1 => random_graph(draw),
        _ => Network::Multistage(stages),
    };
    // where switches choose, no queue names ports ahead
    let (organisation, voq_output) = match draw(2) {
        0 if !network.is_adaptive() => ORGANISATIONS[5],
        _ if network.is_adaptive() => ORGANISATIONS[[0, 1, 3, 4][draw(4) as usize]],
        _ => ORGANISATIONS[draw(5) as usize],
    };
    let queues = if organisation == Organisation::VoqNetwork { 64 } else { 8 };
    let ports = network.ports().max(4) + draw(2) * draw(5);
    let queues = if organisation == Organisation::VoqSwitch { queues.max(ports) } else { queues };
    Fabric {
        network,
        ports,
        organisation,
        voq_output,
        recn,
        timing: random_timing(draw),
        port_packets: queues * (1 + draw(3)),
        injection_packets: queues * (1 + draw(3)),
        admittance_packets: if draw(3) == 0 { Some(1 + draw(20)) } else { None },
        credit_batch: 1 + draw(10),
    }
}

/// A tree of 8 to 72 hosts, of all routings.
fn random_tree(draw: &mut impl FnMut(u32) -> u32) -> Network {
    let levels = 1 + draw(3) as usize;
    let mut some = |most: u32| [1 + draw(most), 1 + draw(most), 1 + draw(most)];
    let (mut down, up, links) = (some(3), some(3), some(2));
    // eight hosts at least
    down[0] = if down[..levels].iter().product::<u32>() < 8 { 8 } else { down[0] };
    let routing = TreeRouting::ALL[draw(4) as usize];
    let mut spec = tree(&down[..levels], &up[..levels - 1], &links[..levels - 1], routing);
    let delays: Vec<u32> = (1..levels).map(|_| draw(3) * draw(12)).collect();
    if let NetworkSpec::FatTree { delay, .. } = &mut spec {
        delay.up = PerLevel::list(&delays).unwrap();
    }
    spec.topology()
}

/// A graph with links both ways, some parallel, some with a delay or less capacity than others.
fn random_graph(draw: &mut impl FnMut(u32) -> u32) -> Network {
    loop {
        let network = graph(draw, 12).topology().of_packets();
        if network.may_be_switched() && network.nodes() >= 8 {
            return network;
        }
    }
}

/// A few ticks for everything; nothing for control packets, flight or routing at times.
fn random_timing(draw: &mut impl FnMut(u32) -> u32) -> Timing {
    let (flits, flit_link, flit_crossbar) = (1 + draw(6), 1 + draw(3), 1 + draw(3));
    let (packet_link, packet_crossbar) = (flits * flit_link, flits * flit_crossbar);
    let (control, flight, routing) = (draw(4), draw(7), draw(7));
    let forwarding = Forwarding::ALL[draw(2) as usize];
    Timing {
        tick_ns: 1.0,
        packet_link: packet_link.into(),
        packet_crossbar: packet_crossbar.into(),
        flit_link: flit_link.into(),
        flit_crossbar: flit_crossbar.into(),
        control: control.into(),
        flight: flight.into(),
        routing: routing.into(),
        arrival: 0,
        forwarding,
    }
    .on(LinkTime::USUAL)
}

fn random_load(draw: &mut impl FnMut(u32) -> u32, fabric: &Fabric) -> Load {
    let hosts = fabric.network.nodes();
    // some times what a hot link carries, or else it would take long to drain
    let hot = f64::from(hosts) / 16.0;
    let mut random_traffic = |destination: &DestinationSpec, share: u32, longer: f64| Traffic {
        process: if draw(2) == 0 { Process::Periodic } else { Process::Poisson },
        interval: fabric.timing.packet_link as f64 * longer * (1.0 + f64::from(draw(4)) / 2.0),
        packets: 1 + draw(2),
        start: draw(100).into(),
        end: Some(150 + u64::from(draw(250))),
        withdraw: draw(2) == 0,
        ..traffic((0..hosts).filter(|_| draw(4) < share), destination, &fabric.network)
    };
    let traffics = vec![
        random_traffic(&DestinationSpec::Uniform, 3, 1.0),
        random_traffic(&to(&[hosts / 2]), 2, hot),
        random_traffic(&to(&[3, hosts / 2 + 1]), 2, hot),
    ];
    let messages =
        (0..draw(20)).map(|tick| message((tick * 10).into(), tick % hosts, (tick + 5) % hosts, 2)).collect();
    Load { traffics, messages, seed: draw(1000).into(), bin: 70 }
}

/// What happened in random scenarios on which both simulators agreed, to be sure that it happened.
#[derive(Debug, Default)]
struct Events {
    lines: u64,
    refusals: u64,
    withdrawn: u64,
    refused: u64,
    /// Packets delivered over another than the first of parallel links.
    turned: u64,
}

/// Whether a packet takes the link beside another to the same switch, which is not the first.
fn takes_a_later_link(network: &Network, delivery: &Delivery) -> bool {
    let is_graph = matches!(network, Network::GraphNetwork(_));
    let next = |router, port: u32| network.link_end(router, port).input().map(|(next, _)| next);
    let is_later = |hop: Hop| {
        let here = next(hop.router, hop.port);
        here.is_some() && hop.port > 0 && next(hop.router, hop.port - 1) == here
    };
    is_graph && network.path(delivery.source, delivery.destination, 0).any(is_later)
}

fn agree_on_random_scenarios(seed: u64, cases: u32) {
    let mut all = Events::default();
    for case in 0..cases {
        let mut random = stream_of(seed, case, 0, 0);
        // uniform over (0, 1]
        let mut draw = |among| (uniform(&mut random) * f64::from(among)).ceil() as u32 - 1;
        let fabric = random_fabric(&mut draw);
        let load = random_load(&mut draw, &fabric);
        let (delivered, counts) = both(&fabric, &load, u64::MAX);
        let turned = delivered.iter().filter(|one| takes_a_later_link(&fabric.network, one));
        all.turned += turned.count() as u64;
        // packets that go different ways overtake each other
        let overtakes = fabric.organisation == Organisation::FourQueues || fabric.network.ways() > 1;
        assert!(counts.out_of_order == 0 || overtakes, "{fabric:?} {load:?}");
        all.lines += counts.allocated;
        all.refusals += counts.refusals;
        all.withdrawn += counts.withdrawn;
        all.refused += counts.refused;
    }
    let Events { lines, refusals, withdrawn, refused, turned } = all;
    assert!(lines.min(refusals).min(withdrawn).min(refused).min(turned) > u64::from(cases), "{all:?}");
}

#[test]
fn fast_and_plain_agree_on_random_scenarios() {
    agree_on_random_scenarios(1, 40);
}

/// Bursts, a hot spot and a pattern.
#[test]
fn fast_and_plain_agree_on_bursts_and_patterns() {
    let periods = Periods::new(8_000.0, 1.4, 60.0, 64);
    let fabric = Fabric { network: network(16, Direction::Unidirectional), ..fabric() };
    let sent = |destination: DestinationSpec, process| Traffic {
        process,
        interval: 400.0,
        packets: 2,
        start: 5,
        end: Some(20_000),
        withdraw: true,
        ..traffic(0..14, &destination, &fabric.network)
    };
    let traffics = vec![
        sent(DestinationSpec::Uniform, Process::OnOffPareto(20, periods)),
        sent(DestinationSpec::Hot(HotSpot { hot: 3, share: 0.3 }), Process::Poisson),
        sent(DestinationSpec::Named(DestinationPattern::BitComplement), Process::Poisson),
    ];
    let (delivered, counts) = both(&fabric, &Load { traffics, seed: 5, ..Load::default() }, u64::MAX);
    assert!(counts.delivered > 4_000 && counts.out_of_order == 0, "{counts:?}");
    // about 1,400 packets, of which 0.3 + 0.7 / 15 go there
    let hot = delivered.iter().filter(|one| one.traffic == 1 && one.destination == 3).count();
    assert!((400..570).contains(&hot), "{hot}");
    assert!(delivered.iter().all(|one| one.traffic < 2 || one.destination == 15 - one.source));
}

/// As many as `FLITWISE_CASES` says; others whenever the simulator changes.
#[test]
#[ignore = "minutes: 5,000 scenarios"]
fn fast_and_plain_agree_on_many_random_scenarios() {
    agree_on_random_scenarios(seed_of_sources(), cases(5_000));
}

/// Trees that nest: two hot hosts behind one switch, and traffic that goes everywhere.
fn nested_trees(direction: Direction, set_aside_queues: u32, marker: Marker) -> Counts {
    let recn =
        Recn { set_aside_queues, marker, detection: 2, propagation: 1, xoff: 4, xon: 2, ..fabric().recn };
    let network = network(64, direction);
    let fabric =
        Fabric { network: network.clone(), timing: long_packets(), recn, port_packets: 256, ..fabric() };
    let sent = |hosts: std::ops::Range<u32>, destination: &DestinationSpec, interval| Traffic {
        interval,
        end: Some(60_000),
        withdraw: true,
        ..traffic(hosts, destination, &network)
    };
    let traffics = vec![
        sent(0..64, &DestinationSpec::Uniform, 260.0),
        sent(40..52, &to(&[32]), 192.0),
        sent(0..24, &to(&[33, 34, 35]), 192.0),
        sent(52..64, &to(&[1]), 192.0),
    ];
    run(&fabric, &Load { traffics, seed: 1, ..Load::default() }).1
}

/// The paper's marker in the normal queue lets packets overtake each other where set-aside queues nest.
#[test]
fn packets_of_a_pair_stay_in_order_with_markers_in_the_parent_queue() {
    for direction in Direction::ALL {
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
    let hosts = fabric.network.nodes();
    let interval = fabric.timing.packet_link as f64 / share;
    let traffic = traffic(0..hosts, &DestinationSpec::Uniform, &fabric.network);
    let traffics = vec![Traffic { process, interval, ..traffic }];
    let load = Load { traffics, seed: 1, ..Load::default() };
    let (mut fast, mut delivered) = (Simulator::new(fabric, &load), Vec::new());
    fast.run_until(end, &mut delivered);
    let half = delivered.iter().filter(|delivery| delivery.delivered >= end / 2).count() as f64;
    let throughput = half * fabric.timing.packet_link as f64 / (end - end / 2) as f64 / f64::from(hosts);
    (delivered, throughput)
}

#[test]
fn the_head_of_line_limit_holds_without_speedup_and_recn_detects_nothing_there() {
    let times = timing(SwitchSpec { crossbar_rate: 8.0, ..SwitchSpec::default() });
    let slow = |organisation| Fabric { timing: times, organisation, ..fabric() };
    let (one, throughput) = uniform_load(&slow(Organisation::OneQueue), 1.0, Process::Periodic, 60_000);
    assert!((0.98 * 0.655_242..0.655_242).contains(&throughput), "{throughput}");
    assert!(one == uniform_load(&slow(Organisation::Recn), 1.0, Process::Periodic, 60_000).0);
}

#[test]
fn recn_that_detects_nothing_is_one_queue() {
    let recn = Recn { detection: 2049, ..fabric().recn };
    let of =
        |organisation, direction| Fabric { organisation, network: network(64, direction), recn, ..fabric() };
    for direction in Direction::ALL {
        let run = |organisation| uniform_load(&of(organisation, direction), 1.0, Process::Poisson, 20_000).0;
        assert!(run(Organisation::OneQueue) == run(Organisation::Recn));
    }
}

/// One input in use of each switch: nothing stands in front of anybody.
#[test]
fn one_host_alone_gets_the_whole_link() {
    let messages = vec![message(0, 5, 40, 1000)];
    let fabric = Fabric { organisation: Organisation::OneQueue, ..fabric() };
    let (delivered, _) = replayed(&fabric, messages);
    assert!(
        delivered.iter().enumerate().all(|(place, delivery)| delivery.delivered == 83 + 24 * place as u64)
    );
}

#[test]
fn another_traffic_leaves_the_draws_of_the_others_alone() {
    let of = |hosts: std::ops::Range<u32>| Traffic {
        end: Some(5_000),
        ..traffic(hosts, &DestinationSpec::Uniform, &fabric().network)
    };
    let generated = |traffics| {
        let (delivered, _) = run(&fabric(), &Load { traffics, seed: 3, ..Load::default() });
        let mut first: Vec<_> = delivered
            .iter()
            .filter(|delivery| delivery.traffic == 0)
            .map(|delivery| (delivery.generated, delivery.source, delivery.destination))
            .collect();
        first.sort_unstable();
        first
    };
    assert_eq!(generated(vec![of(0..64)]), generated(vec![of(0..64), of(3..9)]));
}
