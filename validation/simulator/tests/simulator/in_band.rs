//! Signals of admission that are messages (K16): their times, what they give back, and both simulators.

use std::collections::BTreeMap;

use flitwise_language::scenario::{Requests, Scenario};
use flitwise_simulator::plain::lanes;
use flitwise_simulator::{
    Admission, Arrival, Channel, ChannelChoice, ChannelKind, Delivery, FlitMoves, FramePart, Offer, Outcome,
    Refuser, Simulator, admission_only, supports,
};

use crate::levels::Draws;
use crate::sources::{cases, seed_of_sources};

fn read(text: &str) -> Scenario {
    let scenario = Scenario::from_toml("test", text).unwrap_or_else(|faults| panic!("{}\n{text}", faults[0]));
    assert_eq!(supports(&scenario), Ok(()), "{text}");
    scenario
}

/// A class of connections with `nodes`, `destination` and `start`; lanes 0 and 1, and what follows.
fn class(name: &str, connections: &str, others: &str) -> String {
    format!(
        "[[class]]\nname = \"{name}\"\nkind = \"real-time\"\nmessage_flits = 4\nvirtual_channels = 2\n\
         connections = {{ {connections} }}\n{others}\n"
    )
}

const CONTROL: &str = "[[class]]\nname = \"control\"\nkind = \"control\"\nmessage_flits = 10\nrate = 0\n";
const ADMISSION: &str = "[admission]\nsignalling = \"in-band\"\n";

/// A mesh of five columns and two rows, with pipelines of so many stages.
fn mesh(stages: u32, tables: &str, classes: &str) -> Scenario {
    read(&format!(
        "[network]\ntopology = \"mesh\"\nradix = [5, 2]\n[router]\nscheduler = \"lane-arbiter\"\n\
         vc_choice = \"drawn-input\"\ncrossbar = \"multiplexed\"\npipeline_stages = {stages}\nbuffer_flits = 10\n\
         {ADMISSION}{tables}\n[measure]\nend = 100000\n{classes}{CONTROL}"
    ))
}

/// Connections asked for at once, from a node to another.
fn connection(name: &str, (source, destination): (u32, u32), start: u32, more: &str) -> String {
    let ends = format!("nodes = [{source}]\ndestination = {destination}\nstart = {start}\n{more}");
    class(name, "mean = 0.6, count = 1, spread = 0", &ends)
}

fn outcomes(run: &Admission) -> Vec<Outcome> {
    run.requests().iter().map(|one| one.outcome).collect()
}

/// `2 P + 19 + h (4 P + 20)`: there and back a message of 10 flits, through a router at each end and two for every
/// network channel.
#[test]
fn a_lone_connection_is_set_up_in_known_time() {
    let router = read(&format!(
        "[network]\ntopology = \"router\"\nports = 4\n[router]\nscheduler = \"lane-arbiter\"\nvc_choice = \"drawn\"\n\
         crossbar = \"full\"\npipeline_stages = 6\n{ADMISSION}[measure]\nend = 100000\n{}{CONTROL}",
        connection("A", (2, 1), 100, "")
    ));
    let over_mesh =
        [(5, 1, 1), (5, 9, 5), (3, 4, 4), (4, 7, 3), (8, 6, 2u32)].map(|(stages, destination, hops)| {
            (mesh(stages, "", &connection("A", (0, destination), 100, "")), stages, hops)
        });
    for (scenario, stages, hops) in over_mesh.into_iter().chain([(router, 6, 0)]) {
        let (p, h) = (u64::from(stages), u64::from(hops));
        let set_up = 2 * p + 19 + h * (4 * p + 20);
        let ack = 100 + set_up;
        assert_eq!(scenario.signal_delay().set_up(f64::from(hops)), set_up as f64);
        let known = Outcome::Admitted { ack, end: u64::MAX };
        for (until, expected) in [(ack, Outcome::Pending), (ack + 1, known)] {
            assert_eq!(outcomes(&admission_only(&scenario, 1, until)), [expected], "P {p}, {h} hops");
        }
        let (_, _, admission) = lanes::run(&scenario, 1, ack + 1);
        assert_eq!(outcomes(&admission.unwrap()), [known]);
    }
}

/// From when to when connections hold channels, by the places of these on the way from node 0 along the first row.
fn holds(scenario: &Scenario, from: u64, until: u64) -> BTreeMap<u32, (u64, u64)> {
    let run = admission_only(scenario, 1, until);
    let place = |channel: Channel| match channel.kind {
        ChannelKind::Injection => 0,
        _ => channel.node + 1,
    };
    let mut holds = BTreeMap::new();
    for cycle in from..until {
        let held = run.reserved(cycle, cycle + 1).into_iter().filter(|one| one.1 > 1e-9);
        let of_others = |channel: &Channel| channel.kind == ChannelKind::Injection && channel.node > 0;
        for (channel, held) in held.filter(|(channel, _)| !of_others(channel)) {
            assert!((held - 0.6).abs() < 1e-9);
            holds.entry(place(channel)).or_insert((cycle, cycle)).1 = cycle + 1;
        }
    }
    holds
}

/// Channel j is tested 14 cycles after the request, and 20 later for every further router. Channel 3 refuses in 1054,
/// and the answer is at the source after two hops of 20 cycles and one of 15; what was booked is given back along the
/// way.
#[test]
fn a_refused_request_gives_everything_back() {
    let blocks = connection("blocks", (2, 4), 10, "end = 1100");
    let asks = connection("asks", (0, 4), 1_000, "");
    let scenario = mesh(5, "", &format!("{blocks}{asks}"));
    let run = admission_only(&scenario, 1, 3_000);
    let refused = Outcome::Refused { channel: 3, by: Refuser::Bandwidth };
    assert_eq!(outcomes(&run), [Outcome::Admitted { ack: 10 + 29 + 2 * 40, end: 1_100 }, refused]);
    let held = holds(&scenario, 990, 1_400);
    let known = 1_054 + 2 * 20 + 15;
    assert_eq!(held[&0], (1_000, known));
    assert_eq!(held[&1], (1_014, known + 15));
    assert_eq!(held[&2], (1_034, known + 35));
    // of the other one, which ends in 1100: its release leaves in that cycle
    assert_eq!(held[&3], (990, 1_114));
    assert_eq!(held[&4], (990, 1_134));
    assert!(run.held().iter().all(|(_, held)| *held == 0.0));
}

/// Refused at its own injection channel it sends no message. Refused at the last channel it asks again when it has
/// known that for the time of a retry.
#[test]
fn who_is_refused_asks_again() {
    let first = connection("first", (0, 1), 10, "");
    let own = mesh(5, "", &format!("{first}{}", connection("second", (0, 2), 1_000, "")));
    let refused = |channel, by| Outcome::Refused { channel, by };
    assert_eq!(outcomes(&admission_only(&own, 1, 1_001))[1], refused(0, Refuser::Interface));
    let retry = "retry = 500";
    let row = connection("second", (5, 1), 1_000, "");
    // on the way from 5 to 1 (row 1 to row 0): right, then up; the ejection channel of node 1 is taken
    let far = mesh(5, retry, &format!("{first}{row}"));
    let run = admission_only(&far, 1, 2_000);
    assert_eq!(outcomes(&run)[1], refused(3, Refuser::Bandwidth));
    let asked: Vec<(u64, u32)> = run.requests()[1..].iter().map(|one| (one.cycle, one.retries)).collect();
    // known after 54 cycles there and 55 back
    assert_eq!(asked, [(1_000, 0), (1_000 + 54 + 55 + 500, 1)]);
}

/// Two requests that reach a station together: the tail of the second comes ten flits and a cycle later, and finds the
/// room taken.
#[test]
fn two_requests_at_one_station_come_one_after_another() {
    // both by the router of node 1, whose link to node 2 has room for one
    let scenario =
        mesh(5, "", &format!("{}{}", connection("A", (1, 3), 100, ""), connection("B", (0, 3), 80, "")));
    let run = admission_only(&scenario, 1, 2_000);
    // A's tail would leave in 114, as B's does: the rotating priority of the management port starts with port 0, east;
    // B comes from the west, port 1, A from the node, port 4
    let (of_b, of_a) = (run.requests()[0], run.requests()[1]);
    assert_eq!((of_b.cycle, of_a.cycle), (80, 100));
    assert_eq!(of_b.outcome, Outcome::Admitted { ack: 80 + 29 + 3 * 40, end: u64::MAX });
    assert_eq!(of_a.outcome, Outcome::Refused { channel: 1, by: Refuser::Bandwidth });
    // refused in 125, as its header is granted the port in the cycle after B's tail has crossed; the answer takes 15
    // cycles, and one more behind B's request, which goes on from the same station
    let until = |cycle: u64| {
        let injection = admission_only(&scenario, 1, cycle + 1);
        let own = injection
            .held()
            .into_iter()
            .find(|(channel, _)| channel.kind == ChannelKind::Injection && channel.node == 1);
        own.unwrap().1
    };
    assert_eq!((until(140), until(141)), (0.6, 0.0));
}

/// Messages of control that are in the lane before a signal take ten cycles each, and two from the tail's crossing to
/// the request of the next one.
#[test]
fn a_busy_lane_delays_signals() {
    let scenario = mesh(5, "", &connection("A", (0, 1), 100, ""));
    let control = |count: u64| -> Vec<Offer> {
        let message = |_| Offer {
            arrival: Arrival { cycle: 90, source: 0, destination: 3, class: 1 },
            way: 0,
            flits: 10,
            vtick: 0.0,
            drawn: Some(ChannelChoice { injection: 2, network: 2, ejection: 2 }),
            part: FramePart::default(),
        };
        (0..count).map(message).collect()
    };
    for (count, delay) in [(0, 0), (1, 2), (2, 14), (7, 74)] {
        let mut simulator = Simulator::with_messages(&scenario, 1, control(count));
        let mut delivered = Vec::new();
        simulator.run_until(1_000, &mut delivered);
        assert_eq!((delivered.len() as u64, simulator.generated().to_vec()), (count, vec![0, count]));
        let Outcome::Admitted { ack, .. } = simulator.requests()[0].outcome else { panic!("{count}") };
        assert_eq!(ack, 100 + 69 + delay, "{count}");
    }
}

/// Connections that come and go in a mesh with best effort and control, up to an end; then all is given back.
#[test]
fn all_is_given_back_and_every_request_is_answered() {
    let connections = "mean = 0.12, request = \"poisson\", erlangs = 6, holding = 800";
    let tables = "limit_share = 0.7\n[interface]\nkind = \"channel-adapter\"\nbuffer = \"3 messages\"\n[units]\n\
                  flit_bits = 128\nlink = \"2.5 Gbps\"\n[power]\nwindow = 100\n";
    let best_effort = "[[class]]\nname = \"BE\"\nkind = \"best-effort\"\nmessage_flits = 8\nvirtual_channels = 2\n\
                       rate = 0.02\nend = 6000\nend_of_traffic = \"drain\"\n";
    let real_time = class("RT", connections, "end = 6000\nend_of_traffic = \"drain\"");
    let scenario = mesh(5, tables, &format!("{real_time}{best_effort}"));
    let run = admission_only(&scenario, 3, 12_000);
    let requests = run.requests();
    let refused = |by| {
        let is_by = |one: &Outcome| matches!(one, Outcome::Refused { by: found, .. } if *found == by);
        outcomes(&run).iter().filter(|one| is_by(one)).count()
    };
    let admitted = requests.iter().filter(|one| matches!(one.outcome, Outcome::Admitted { .. })).count();
    let [interface, bandwidth] = [Refuser::Interface, Refuser::Bandwidth].map(refused);
    assert_eq!(admitted + interface + bandwidth, requests.len());
    assert!(admitted > 100 && interface > 20 && bandwidth > 20, "{admitted} {interface} {bandwidth}");
    assert!(run.held().iter().all(|(_, held)| *held == 0.0));
    // no flit is left: every one that came in went out, signals included
    let (mut simulator, mut delivered) = (Simulator::new(&scenario, 3), Vec::new());
    simulator.run_until(12_000, &mut delivered);
    let moves = simulator.control().windows.iter().fold(FlitMoves::default(), |sum, one| sum.and(*one));
    let flits: u64 = delivered.iter().map(|one| if one.class == 0 { 4 } else { 8 }).sum();
    let hops = delivered.iter().map(|one| u64::from(one.hops) * if one.class == 0 { 4 } else { 8 });
    let (hops, signals) = (hops.sum::<u64>(), moves.injected - flits);
    assert_eq!((moves.ejected, moves.crossed), (moves.injected, moves.injected + moves.linked));
    assert_eq!((signals % 10, (moves.linked - hops) % 10), (0, 0));
    // those of requests alone: a message for each channel that was tested but the first, and an answer for each
    let tests = |outcome: &Outcome, hops: u32| match outcome {
        Outcome::Refused { channel, .. } => u64::from(*channel),
        _ => u64::from(hops) + 1,
    };
    let asked: u64 = requests.iter().map(|one| tests(&one.outcome, one.hops)).sum();
    // the same number goes back, and releases go to all channels behind the first that were booked
    let released: u64 = requests
        .iter()
        .map(|one| match one.outcome {
            Outcome::Refused { channel, .. } => u64::from(channel.saturating_sub(1)),
            _ => u64::from(one.hops) + 1,
        })
        .sum();
    assert_eq!(signals, 10 * (2 * asked + released));
    // classes know nothing of signals; links do
    assert_eq!(simulator.generated().len(), 3);
    assert_eq!((simulator.generated()[2], simulator.backlog().to_vec()), (0, vec![0; 3]));
    let of_control = simulator.channel_flits().into_iter().filter(|one| one.1 == 2);
    let over_network = of_control.filter(|one| matches!(one.0.kind, ChannelKind::Network { .. }));
    assert_eq!(over_network.map(|one| one.2).sum::<u64>(), moves.linked - hops);
}

/// With any test of admission switched off signals still go, and nobody is refused.
#[test]
fn without_tests_nobody_is_refused() {
    let connections = class("RT", "mean = 0.3, count = 8, spread = 500", "");
    let scenario = mesh(5, "test = false", &connections);
    let run = admission_only(&scenario, 1, 5_000);
    assert_eq!(run.requests().len(), 80);
    assert!(outcomes(&run).iter().all(|one| matches!(one, Outcome::Admitted { .. })));
}

// ------------------------------------------------------------------------------------- random scenarios

fn random_network(draws: &mut Draws) -> String {
    match draws.below(7) {
        0 | 1 => format!("topology = \"router\"\nports = {}", 2 + draws.below(5)),
        2 => format!("topology = \"mesh\"\nradix = [{}, {}]", 2 + draws.below(3), 2 + draws.below(3)),
        3 => format!("topology = \"mesh\"\nradix = [{}, 2]\nnodes_per_router = 2", 2 + draws.below(2)),
        4 | 5 => format!("topology = \"torus\"\nradix = [{}]", draws.of(&["3", "3, 3", "4", "4, 3", "5"])),
        _ => format!("topology = \"hypercube\"\ndimension = {}", 1 + draws.below(3)),
    }
}

fn random_interface(draws: &mut Draws) -> String {
    if draws.below(4) == 0 {
        return String::new();
    }
    let injection = draws.of(&["message", "flit"]);
    let (buffer, control) =
        draws.of(&[(1, "credit"), (3, "at-least-one"), (20, "self-tuned"), (8, "credit")]);
    format!(
        "[interface]\nkind = \"channel-adapter\"\nbuffer = \"{buffer} messages\"\ninjection = \"{injection}\"\n\
         [congestion]\ncontrol = \"{control}\"\ncredits = 1\nreturn = \"{}\"\nreal_time_drop = {}\ngather = 7\n",
        draws.of(&["injection", "delivery"]),
        draws.below(2) == 0,
    )
}

fn random_power(draws: &mut Draws, has_adapter: bool, nodes: f64, ports: f64) -> String {
    let energies = "[power]\nbuffer_read = 0.25\nbuffer_write = 0.125\narbitration = 0.1\ncrossbar = 0.6\nlink = 2.0\n\
                    window = 50\n";
    match draws.below(5) {
        0 | 1 => String::new(),
        2 if has_adapter => {
            let budget = draws.of(&[0.3, 0.9, 2.0]) * nodes;
            format!(
                "{energies}control = \"credit\"\nbudget = {budget:?}\naccount = 60\nreal_time_share = 0.4\n"
            )
        }
        3 if nodes > 8.0 => {
            let budget = (ports + 1.0) * 5.0 * draws.of(&[1.1, 2.0, 5.0]) * nodes / 40.0;
            format!("{energies}control = \"powerherd\"\nbudget = {budget:?}\nepoch = 40\n")
        }
        _ => energies.to_owned(),
    }
}

/// Classes of connections, of best effort and of control; two lanes at least, for rings.
fn random_classes(draws: &mut Draws) -> String {
    let mut text = String::new();
    for number in 0..1 + draws.below(2) {
        let mean = draws.of(&[0.05, 0.15, 0.3]);
        let requests = match draws.below(2) {
            0 => format!("count = {}, spread = {}", 1 + draws.below(4), draws.below(600)),
            _ => format!(
                "request = \"poisson\", erlangs = {}, holding = {}",
                draws.of(&[0.7, 2.0, 4.0]),
                draws.of(&[30.0, 300.0, 900.0])
            ),
        };
        let peak = mean * draws.of(&[1.0, 1.7, 3.0]);
        let connections = format!("mean = {mean}, peak = {peak}, on = {}, {requests}", draws.of(&[40, 300]));
        let ends = format!("end = {}\nend_of_traffic = \"drain\"", 700 + draws.below(600));
        text += &class(&format!("C{number}"), &connections, &ends);
    }
    let rates = [draws.of(&["0.002", "0.03"]), draws.of(&["0.0", "0.003", "0.02"])];
    for (name, kind, rate) in [("BE", "best-effort", rates[0]), ("K", "control", rates[1])] {
        text += &format!(
            "[[class]]\nname = \"{name}\"\nkind = \"{kind}\"\nmessage_flits = {}\nvirtual_channels = {}\n\
             rate = {rate}\nend = 1300\nend_of_traffic = \"drain\"\n",
            draws.of(&[1, 4, 10]),
            2 + draws.below(2)
        );
    }
    text
}

fn random_case(seed: u64) -> Scenario {
    let draws = &mut Draws::new(seed);
    let (network, interface, classes) =
        (random_network(draws), random_interface(draws), random_classes(draws));
    let crossbar = draws.of(&[
        "crossbar = \"multiplexed\"\nallocation = \"rotating\"",
        "crossbar = \"multiplexed\"\nallocation = \"input-first\"",
        "crossbar = \"full\"",
    ]);
    let router = format!(
        "scheduler = \"lane-arbiter\"\nvc_choice = \"{}\"\npipeline_stages = {}\nbuffer_flits = {}\n{crossbar}",
        draws.of(&["drawn", "drawn-input"]),
        3 + draws.below(4),
        1 + draws.below(12)
    );
    let retry = draws.of(&["", "", "retry = 200\n"]);
    let (tests, reserve) = (if retry.is_empty() { draws.below(6) > 0 } else { true }, draws.below(2));
    let admission = format!(
        "{ADMISSION}{retry}test = {tests}\nreserve = \"{}\"\nlimit_share = {}\n",
        ["average", "peak"][reserve as usize],
        draws.of(&["0.4", "0.8", "1.0"])
    );
    let text = format!(
        "name = \"{seed}\"\n[units]\nlink = \"1.6 Gbps\"\nflit_bits = 128\n[network]\n{network}\n[router]\n{router}\n\
         {interface}{admission}[measure]\nend = 100000\n{classes}"
    );
    let size = read(&text).topology();
    let power = random_power(draws, !interface.is_empty(), size.nodes().into(), size.ports().into());
    read(&format!("{text}{power}"))
}

/// All that both simulators tell of a run; one in which signals queue for longer is run again until they are gone.
fn agree(seed: u64) -> [usize; 4] {
    agree_by(seed, 400_000).or_else(|| agree_by(seed, 4_000_000)).expect("drained")
}

/// The same by a cycle; nothing where connections still hold a part of links then.
fn agree_by(seed: u64, end: u64) -> Option<[usize; 4]> {
    let scenario = random_case(seed);
    let toml = || scenario.spec().to_toml();
    let (expected, plain, twin) = lanes::run(&scenario, seed, end);
    let twin = twin.expect("connections");
    let (mut simulator, mut found) = (Simulator::new(&scenario, seed), Vec::<Delivery>::new());
    simulator.run_until(end, &mut found);
    found.sort_unstable();
    assert_eq!(twin.requests(), simulator.requests(), "{seed}: {}", toml());
    let differs = expected.iter().zip(&found).find(|(one, other)| one != other);
    assert_eq!(differs, None, "{seed}: {}", toml());
    assert_eq!(expected.len(), found.len(), "{seed}");
    assert_eq!(twin.reserved(300, end), simulator.reserved(300, end), "{seed}");
    let control = simulator.control();
    let lost = control.dropped.iter().sum::<u64>();
    assert_eq!(plain.dropped.iter().sum::<u64>(), lost, "{seed}");
    assert_eq!(plain.throttled, control.throttled.start, "{seed}: {}", toml());
    assert_eq!(plain.stopped, control.throttled.stopped, "{seed}: {}", toml());
    let energies = scenario.energies();
    for (one, other) in plain.windows.iter().zip(&control.windows) {
        let other = energies.map_or(0.0, |energies| other.energy(&energies));
        assert!((one - other).abs() <= 1e-9 * one.abs(), "{seed}: {one} and {other}");
    }
    if twin.held().iter().any(|(_, held)| *held != 0.0) {
        return None;
    }
    // drained: all is delivered and answered
    assert_eq!(found.len() as u64 + lost, simulator.generated().iter().sum::<u64>(), "{seed}: {}", toml());
    assert!(twin.held_power().iter().all(|held| *held == 0.0));
    let mut counts = [0; 4];
    for one in twin.requests() {
        counts[match one.outcome {
            Outcome::Admitted { .. } => 0,
            Outcome::Refused { by: Refuser::Interface, .. } => 1,
            Outcome::Refused { by: Refuser::Bandwidth, .. } => 2,
            Outcome::Refused { by: Refuser::Power, .. } => 3,
            Outcome::Pending => panic!("{seed}: no answer to {one:?}"),
        }] += 1;
    }
    Some(counts)
}

#[test]
fn both_simulators_agree_on_signals() {
    let mut sums = [0; 4];
    for seed in 0..300 {
        agree(seed).into_iter().zip(&mut sums).for_each(|(count, sum)| *sum += count);
    }
    assert!(sums.iter().all(|sum| *sum > 100), "{sums:?}");
}

/// Other cases with every change of the simulator.
#[test]
#[ignore = "5,000 random cases take minutes"]
fn many_other_random_scenarios_with_signals_are_alike() {
    let first = seed_of_sources() >> 1;
    (0..u64::from(cases(5_000))).for_each(|number| {
        agree(first + number);
    });
}

/// At the door and before simulations.
#[test]
fn what_does_not_go_with_signals_is_refused() {
    let text = |admission: &str, router: &str, classes: &str| {
        format!(
            "[network]\ntopology = \"router\"\nports = 64\n[router]\nvc_choice = \"drawn\"\n\
             crossbar = \"multiplexed\"\n{router}\n[admission]\nsignalling = \"in-band\"\n{admission}\n{}{classes}",
            class("RT", "mean = 0.05, count = 2", "")
        )
    };
    let faults = |text: &str| -> Vec<(String, String)> {
        let all = Scenario::from_toml("test", text).and_then(|one| supports(&one)).unwrap_err();
        all.into_iter().map(|one| (one.key, one.wanted)).collect()
    };
    let at_the_door = faults(&text("hop_delay = 15", "scheduler = \"fifo\"", ""));
    let keys: Vec<&str> = at_the_door.iter().map(|one| one.0.as_str()).collect();
    assert_eq!(keys, ["admission.signalling", "admission.signalling", "admission.hop_delay"]);
    assert!(at_the_door[0].1.contains("lane-arbiter") && at_the_door[1].1.contains("control"));
    let ports = faults(&text("", "scheduler = \"lane-arbiter\"", CONTROL));
    assert!(ports.len() == 1 && ports[0].1.contains("at most 63"), "{ports:?}");
    let video = "[[class]]\nname = \"video\"\nkind = \"real-time\"\nvirtual_channels = 2\nmessage_flits = 4\n\
                 connections = { mean = 0.08, count = 3 }\nsource = { kind = \"vbr\", frame = 40, frame_deviation = 8, \
                 frame_interval = 500, pacing = \"even-late\" }\n";
    let frames = text("", "scheduler = \"lane-arbiter\"", &format!("{video}{CONTROL}"));
    let frames = faults(&frames.replace("ports = 64", "ports = 8"));
    assert!(frames.len() == 1 && frames[0].1.contains("streams of frames"), "{frames:?}");
    assert!(!matches!(
        read(&text("", "scheduler = \"lane-arbiter\"", CONTROL).replace("64", "63"))
            .connections(0)
            .unwrap()
            .requests,
        Requests::Poisson { .. }
    ));
}
