//! Admission of connections, and what they send.

mod second;

use std::collections::{BTreeMap, BTreeSet};

use flitwise_language::scenario::{Preset, Reserve, Scenario};
use flitwise_simulator::{
    Booking, ChannelKind, Offer, Outcome, Refuser, RequestRecord, Simulator, admission_only, bookings,
    generated, replay_offers, stream_of, supports, uniform,
};
use second::Second;

fn read(text: &str) -> Scenario {
    let has_ends = text.contains("\nstart = ") || text.contains("\nend = ");
    let text = format!("{text}{}", if has_ends { "[measure]\nend = 100000\n" } else { "" });
    Scenario::from_toml("test", &text).unwrap_or_else(|faults| panic!("{}\n{text}", faults[0]))
}

/// Connections of a class of messages of 4 flits.
fn class(name: &str, connections: &str, others: &str) -> String {
    format!(
        "[[class]]\nname = \"{name}\"\nkind = \"real-time\"\nmessage_flits = 4\nvirtual_channels = 2\n\
         connections = {{ {connections} }}\n{others}\n"
    )
}

const ROUTER: &str = "[network]\ntopology = \"router\"\nports = 4\n[router]\nvc_choice = \"drawn\"\n\
                      scheduler = \"fifo\"\ncrossbar = \"multiplexed\"\n";
const LINE: &str = "[network]\ntopology = \"mesh\"\nradix = [5, 2]\n[router]\nvc_choice = \"drawn\"\n\
                    scheduler = \"fifo\"\ncrossbar = \"multiplexed\"\n";
const TO_ONE: &str = "nodes = [0]\ndestination = 1";

fn is_refused(request: &RequestRecord) -> bool {
    matches!(request.outcome, Outcome::Refused { .. })
}

/// Erlang B of 10 Erlangs on 10 circuits, 0.21458; 20 batches, Student's t of 19 degrees at 99.9 %: 3.883.
#[test]
fn one_channel_refuses_as_erlang_has_it() {
    let connections = "mean = 0.1, request = \"poisson\", erlangs = 10, holding = 10000";
    let scenario = read(&format!("{ROUTER}[admission]\nhop_delay = 0\n{}", class("RT", connections, TO_ONE)));
    let run = admission_only(&scenario, 1, 120_000_000);
    let requests = run.requests();
    assert!(requests.iter().all(|one| matches!(
        one.outcome,
        Outcome::Admitted { .. } | Outcome::Refused { channel: 0, by: Refuser::Interface }
    )));
    let batch = requests.len() / 21;
    // the first one warms up
    let shares: Vec<f64> = requests
        .chunks_exact(batch)
        .skip(1)
        .take(20)
        .map(|batch| batch.iter().filter(|one| is_refused(one)).count() as f64 / batch.len() as f64)
        .collect();
    let mean = shares.iter().sum::<f64>() / 20.0;
    let deviation = (shares.iter().map(|share| (share - mean).powi(2)).sum::<f64>() / 19.0).sqrt();
    let half_width = 3.883 * deviation / 20_f64.sqrt();
    assert!((mean - 0.21458).abs() < half_width && half_width < 0.012, "{mean} +-{half_width}");
    // what stands is 10 (1 - B)
    let standing = run.standing(0, 2_000_000, 120_000_000);
    assert!((standing - 7.854).abs() < 0.15, "{standing}");
    let reserved = run.reserved(2_000_000, 120_000_000);
    let ejection =
        reserved.iter().find(|(channel, _)| channel.kind == ChannelKind::Ejection && channel.node == 1);
    assert!((ejection.unwrap().1 - 0.1 * standing).abs() < 1e-6);
}

/// Over h channels the answer is there after 2 (h + 1) d; one that channel j refuses after 2 j d, and all is given back
/// by t + (3 j - 1) d.
#[test]
fn signals_take_their_time() {
    let first =
        class("first", "mean = 0.6, count = 1, spread = 0", "nodes = [2]\ndestination = 4\nstart = 10");
    let second =
        class("second", "mean = 0.6, count = 1, spread = 0", "nodes = [0]\ndestination = 4\nstart = 1000");
    let scenario = read(&format!("{LINE}[admission]\nhop_delay = 14.5\n{first}{second}"));
    let run = admission_only(&scenario, 1, 5_000);
    let outcomes: Vec<_> = run.requests().iter().map(|one| (one.cycle, one.hops, one.outcome)).collect();
    // the way from 0 to 4: injection, 0-1, 1-2, 2-3, which is the first on the way from 2
    let (accepted, refused) = (
        Outcome::Admitted { ack: 10 + 2 * 3 * 15, end: u64::MAX },
        Outcome::Refused { channel: 3, by: Refuser::Bandwidth },
    );
    assert_eq!(outcomes, [(10, 2, accepted), (1_000, 4, refused)]);
    let booked: Vec<(u64, bool, f64)> = bookings(&scenario, 1, 5_000)
        .iter()
        .filter(|one| one.cycle >= 1_000)
        .map(|one| (one.cycle, one.at_input, one.mean))
        .collect();
    let at = |cycle, sign: f64| [(cycle, false, sign * 0.6), (cycle, true, sign * 0.6)];
    let expected = [
        &at(1_000, 1.0)[..1],
        &at(1_015, 1.0),
        &at(1_030, 1.0),
        &at(1_090, -1.0)[..1],
        &at(1_105, -1.0),
        &at(1_120, -1.0),
    ];
    assert_eq!(booked, expected.concat());
    let one = run.reserved(1_000, 1_200).into_iter().filter(|(_, share)| *share > 0.0);
    let held: f64 = one.map(|(_, share)| share).sum();
    // four channels all the time; three for 90 cycles each
    assert!((held - 0.6 * (4.0 + 3.0 * 90.0 / 200.0)).abs() < 1e-12, "{held}");
}

/// Sums of what was booked by link, side and virtual channel.
fn sums(bookings: &[Booking]) -> Vec<f64> {
    let mut sums: BTreeMap<(u32, bool, u8), (f64, f64)> = BTreeMap::new();
    for one in bookings {
        let sum = sums.entry((one.link, one.at_input, one.channel)).or_default();
        *sum = (sum.0 + one.mean, sum.1 + one.peak);
    }
    sums.into_values().flat_map(|(mean, peak)| [mean, peak]).collect()
}

/// Whatever was refused or has ended has given everything back.
#[test]
fn accounts_are_empty_in_the_end() {
    let connections = "mean = 0.07, peak = 0.31, request = \"poisson\", erlangs = 8, holding = 3000";
    let scenario = read(&format!(
        "[units]\nflit_bits = 128\nlink = \"2.5 Gbps\"\n{}[power]\ncontrol = \"credit\"\nbudget_load = 0.45\n\
         [admission]\nlimit_share = 0.65\n{}",
        LINE.replace("\"drawn\"", "\"drawn-input\"").replace("fifo", "lane-arbiter"),
        class("RT", connections, "end = 60000")
    ));
    let run = admission_only(&scenario, 3, 30_000);
    assert!(
        run.held().iter().any(|(_, held)| *held > 0.3) && run.held_power().iter().all(|held| *held > 0.0)
    );
    let run = admission_only(&scenario, 3, 100_000);
    let by = |refuser| {
        let is_by =
            |one: &&RequestRecord| matches!(one.outcome, Outcome::Refused { by, .. } if by == refuser);
        run.requests().iter().filter(is_by).count()
    };
    let counts = [Refuser::Bandwidth, Refuser::Power].map(by);
    assert!(counts.iter().all(|count| *count > 20), "{counts:?}");
    assert!(run.held().iter().all(|(_, held)| *held == 0.0));
    assert!(run.held_power().iter().all(|held| *held == 0.0));
    assert!(sums(&bookings(&scenario, 3, 100_000)).iter().all(|sum| sum.abs() < 1e-12));
}

#[test]
fn peaks_take_more_room_than_averages() {
    let class = class("RT", "mean = 0.1, peak = 0.25, count = 30, spread = 100", TO_ONE);
    let admitted = |admission: &str| {
        let scenario = read(&format!("{ROUTER}[admission]\n{admission}\n{class}"));
        let run = admission_only(&scenario, 5, 10_000);
        run.requests().iter().filter(|one| !is_refused(one)).count()
    };
    let admissions = ["", "reserve = \"peak\"", "limit_share = 0.5", "test = false"];
    assert_eq!(admissions.map(admitted), [10, 4, 5, 30]);
    let without = read(&format!("{ROUTER}{class}"));
    let run = admission_only(&without, 5, 10_000);
    assert!(
        run.requests().iter().all(|one| one.outcome == Outcome::Admitted { ack: one.cycle, end: u64::MAX })
    );
}

/// A router of 190.97586 pJ/flit has room for as many connections as its budget pays.
#[test]
fn power_is_tested_with_bandwidth() {
    let scenario = |network: &str, budget: f64| {
        read(&format!(
            "[units]\nflit_bits = 128\nlink = \"2.5 Gbps\"\n[network]\n{network}\n[router]\n\
             vc_choice = \"drawn-input\"\nscheduler = \"lane-arbiter\"\ncrossbar = \"multiplexed\"\n[admission]\n\
             [power]\ncontrol = \"credit\"\nbudget = {budget}\nreal_time_share = 0.8\n{}",
            class("RT", "mean = 0.04, count = 20, spread = 100", TO_ONE)
        ))
    };
    let admitted = |network: &str, budget: f64| {
        let run = admission_only(&scenario(network, budget), 2, 10_000);
        let refused = run.requests().iter().filter(|one| is_refused(one));
        let places: Vec<Outcome> = refused.map(|one| one.outcome).collect();
        (20 - places.len(), places)
    };
    // of the budget 0.8 are for real time
    let room = |calls: f64| 0.04 * 190.97586 * calls / 0.8;
    let (count, refused) = admitted("topology = \"router\"\nports = 4", room(5.0));
    assert_eq!(count, 5);
    assert!(refused.iter().all(|one| *one == Outcome::Refused { channel: 1, by: Refuser::Power }));
    assert_eq!(admitted("topology = \"router\"\nports = 4", room(4.999)).0, 4);
    // four routers share the budget; the first sends over a link of 1306.88
    let of_first = (190.97586 + 1306.88) / 190.97586;
    let (count, refused) = admitted("topology = \"mesh\"\nradix = [2, 2]", room(3.0) * of_first * 4.0);
    assert_eq!((count, refused[0]), (3, Outcome::Refused { channel: 1, by: Refuser::Power }));
}

/// The place of one that has ended is taken by one that was refused again and again.
#[test]
fn who_is_refused_asks_again() {
    let first = class("first", "mean = 0.6, count = 1, spread = 0", &format!("{TO_ONE}\nend = 5000"));
    let second = class("second", "mean = 0.6, count = 1, spread = 0", &format!("{TO_ONE}\nstart = 600"));
    let third =
        class("third", "mean = 0.6, count = 1, spread = 0", "nodes = [2]\ndestination = 1\nstart = 700");
    let scenario = read(&format!("{ROUTER}[admission]\nretry = 1000\n{first}{second}{third}"));
    let run = admission_only(&scenario, 1, 8_000);
    let of_class = |class: u8| {
        let of_class = run.requests().iter().filter(move |one| one.class == class);
        of_class.map(|one| (one.cycle, one.retries)).collect::<Vec<_>>()
    };
    assert_eq!(of_class(1), [(600, 0), (1_600, 1), (2_600, 2), (3_600, 3), (4_600, 4), (5_600, 5)]);
    // refused at the ejection channel, it knows 30 cycles after it has asked
    let third: Vec<(u64, u32)> =
        (0..8).map(|at| (700 + 1_030 * at, at as u32)).filter(|one| one.0 < 8_000).collect();
    assert_eq!(of_class(2), third);
    assert_eq!(run.requests()[0].outcome, Outcome::Admitted { ack: 30, end: 5_000 });
}

/// A scenario of a number, which settles everything.
fn any(number: u64) -> String {
    let mut random = stream_of(number, 0, 0, 99);
    let mut of = |from: f64, to: f64| from + (to - from) * (1.0 - uniform(&mut random));
    let network = match of(0.0, 4.0) as u32 {
        0 => format!("topology = \"router\"\nports = {}", of(2.0, 7.0) as u32),
        1 => format!("topology = \"mesh\"\nradix = [{}, {}]", of(2.0, 5.0) as u32, of(2.0, 4.0) as u32),
        2 => format!("topology = \"torus\"\nradix = [{}, 3]", of(3.0, 6.0) as u32),
        _ => format!("topology = \"hypercube\"\ndimension = {}", of(1.0, 4.0) as u32),
    };
    let has_power = of(0.0, 1.0) < 0.3;
    let choice = match of(0.0, 3.0) as u32 {
        0 if !has_power => "vc_choice = \"free\"\nscheduler = \"fifo\"",
        1 => "vc_choice = \"drawn-input\"\nscheduler = \"lane-arbiter\"",
        _ => "vc_choice = \"drawn\"\nscheduler = \"lane-arbiter\"",
    };
    let mut text =
        format!("[units]\nflit_bits = 128\nlink = \"1 Gbps\"\n[network]\n{network}\n[router]\n{choice}\n");
    text += "crossbar = \"multiplexed\"\n";
    if has_power {
        text += &format!("[power]\ncontrol = \"credit\"\nbudget_load = {}\n", of(0.1, 0.8));
    }
    if of(0.0, 1.0) < 0.9 {
        let delay = [0.0, 1.0, 2.5, 15.0, 40.0][of(0.0, 5.0) as usize];
        let (tests, peak) = (of(0.0, 1.0) < 0.9, of(0.0, 1.0) < 0.4);
        let retry = if tests && of(0.0, 1.0) < 0.3 { of(1.0, 300.0) } else { 0.0 };
        let reserve = if peak { "peak" } else { "average" };
        text += &format!(
            "[admission]\nhop_delay = {delay}\ntest = {tests}\nreserve = \"{reserve}\"\nretry = {retry}\n"
        );
        text += &format!("limit_share = {}\n", of(0.3, 1.2));
    }
    for at in 0..1 + of(0.0, 3.0) as usize {
        let mean = [0.05, 0.1, 0.125, 0.3][of(0.0, 4.0) as usize];
        let requests = match of(0.0, 1.0) < 0.5 {
            true => format!("count = {}, spread = {}", of(0.0, 12.0) as u32, of(0.0, 900.0)),
            false => {
                format!("request = \"poisson\", erlangs = {}, holding = {}", of(0.5, 6.0), of(5.0, 900.0))
            }
        };
        let mut others = String::new();
        if of(0.0, 1.0) < 0.3 {
            others += &format!("start = {}\n", of(0.0, 500.0));
        }
        if of(0.0, 1.0) < 0.3 {
            others += &format!("end = {}\n", of(600.0, 1_500.0));
        }
        if of(0.0, 1.0) < 0.2 {
            others += "destination = { hot = 1, share = 0.5 }\n";
        }
        let connections = format!("mean = {mean}, peak = {}, {requests}", mean * of(1.0, 3.0));
        text += &class(&format!("C{at}"), &connections, &others);
    }
    if of(0.0, 1.0) < 0.5 {
        text += "[[class]]\nname = \"BE\"\nkind = \"best-effort\"\nmessage_flits = 4\nrate = 0.02\n";
        text += "virtual_channels = 2\n";
    }
    text
}

#[test]
fn a_second_admission_agrees() {
    let mut counts = [0; 4];
    for number in 0..300 {
        let text = any(number);
        let (scenario, until) = (read(&text), 1_800);
        let (run, second) = (admission_only(&scenario, number, until), Second::run(&scenario, number, until));
        assert_eq!(run.requests(), second.records, "{text}");
        let booked = bookings(&scenario, number, until);
        assert_eq!(booked, second.bookings, "{text}");
        for one in run.requests() {
            counts[match one.outcome {
                Outcome::Refused { by: Refuser::Interface, .. } => 0,
                Outcome::Refused { by: Refuser::Bandwidth, .. } => 1,
                Outcome::Refused { by: Refuser::Power, .. } => 2,
                _ => 3,
            }] += 1;
        }
        holds_what_was_booked(&scenario, &booked, number, until);
    }
    assert!(counts.iter().all(|count| *count > 200), "{counts:?}");
}

/// What is held on average is the integral of what was booked before links.
fn holds_what_was_booked(scenario: &Scenario, booked: &[Booking], seed: u64, until: u64) {
    if scenario.spec().admission.is_some_and(|one| one.reserve == Reserve::Peak) {
        return;
    }
    let from = 300;
    let of =
        |booking: &&Booking| booking.mean * (until - booking.cycle.max(from)) as f64 / (until - from) as f64;
    let expected: f64 = booked.iter().filter(|one| !one.at_input).map(|one| of(&one)).sum();
    let found: f64 =
        admission_only(scenario, seed, until).reserved(from, until).iter().map(|one| one.1).sum();
    assert!((found - expected).abs() < 1e-9 * expected.abs().max(1.0), "{found} {expected}");
}

const BEST_EFFORT: &str = "[[class]]\nname = \"BE\"\nkind = \"best-effort\"\nmessage_flits = 3\nrate = 0.01\n\
                           virtual_channels = 2\n";

/// By connection, by its number: its messages.
fn by_connection(offers: &[Offer], class: u8) -> BTreeMap<u32, Vec<Offer>> {
    let mut found: BTreeMap<u32, Vec<Offer>> = BTreeMap::new();
    for one in offers.iter().filter(|one| one.arrival.class == class) {
        found.entry(one.part.stream).or_default().push(*one);
    }
    found
}

/// Each sends from its answer to its end, on virtual channels and to a destination of its own; others do not notice.
#[test]
fn connections_send_while_they_stand() {
    let connections = "mean = 0.05, on = 400, request = \"poisson\", erlangs = 6, holding = 4000";
    let text = format!("{LINE}[admission]\n{BEST_EFFORT}{}", class("RT", connections, ""));
    let scenario = read(&text);
    assert!(supports(&scenario).is_ok());
    let offers = generated(&scenario, 4, 50_000);
    let requests = admission_only(&scenario, 4, 60_000);
    let spans: BTreeMap<u32, (u64, u64, &RequestRecord)> = requests
        .requests()
        .iter()
        .filter_map(|one| match one.outcome {
            Outcome::Admitted { ack, end } => Some((one.number, (ack, end, one))),
            _ => None,
        })
        .collect();
    let sent = by_connection(&offers, 1);
    assert!(sent.len() > 100);
    let (mut at_peak, mut all) = (0, 0);
    for (number, messages) in &sent {
        let (ack, end, request) = spans[number];
        let first = &messages[0];
        for one in messages {
            assert!((ack..=end).contains(&one.arrival.cycle) && one.part.messages == 0);
            assert_eq!((one.drawn, one.arrival.destination), (first.drawn, request.destination));
            assert_eq!((one.arrival.source, one.flits), (request.source, 4));
        }
        let apart = messages.windows(2).map(|pair| pair[1].arrival.cycle - pair[0].arrival.cycle);
        // at the peak, 0.1, messages are 40 cycles apart, 10 of them on average
        at_peak += apart.clone().filter(|apart| (39..=41).contains(apart)).count();
        all += apart.count();
    }
    assert!((0.8..0.95).contains(&(at_peak as f64 / all as f64)), "{at_peak} of {all}");
    let others =
        |offers: Vec<Offer>| offers.into_iter().filter(|one| one.arrival.class == 0).collect::<Vec<_>>();
    let alone = read(&format!("{LINE}{BEST_EFFORT}"));
    assert_eq!(others(offers), generated(&alone, 4, 50_000));
}

/// The mean is that of the connections that stand, from the answer on: they begin in their stationary state. 1,200
/// connections with bursts of 10 messages: within 4 deviations, 3 %.
#[test]
fn connections_begin_in_their_stationary_state() {
    let connections = "mean = 0.002, peak = 0.01, on = 4000, count = 300, spread = 0";
    let scenario = read(&format!("{ROUTER}{}", class("RT", connections, "")));
    for (from, until) in [(0, 4_000), (4_000, 12_000), (12_000, 60_000)] {
        let counts = (0..10).map(|seed| {
            let offers = generated(&scenario, seed, until);
            offers.iter().filter(|one| one.arrival.cycle > from).count()
        });
        let rate = 4.0 * counts.sum::<usize>() as f64 / (10.0 * 1_200.0 * (until - from) as f64);
        assert!((rate / 0.002 - 1.0).abs() < 0.04, "{from}: {rate}");
    }
}

/// Every admitted connection is a stream of frames from its answer on, known from the beginning.
#[test]
fn connections_are_streams_of_frames() {
    let video = "source = { kind = \"vbr\", frame = 40, frame_deviation = 8, frame_interval = 500, \
                 pacing = \"even-late\" }";
    let connections = "count = 30, spread = 3000, mean = 0.08";
    let scenario = read(&format!("{ROUTER}[admission]\n{BEST_EFFORT}{}", class("video", connections, video)));
    assert!(supports(&scenario).is_ok());
    let run = admission_only(&scenario, 6, 20_000);
    let simulator = Simulator::new(&scenario, 6);
    let streams = &simulator.frame_runs()[1];
    assert_eq!((streams.len(), simulator.frame_runs()[0].len()), (120, 0));
    let sent = by_connection(&generated(&scenario, 6, 20_000), 1);
    let mut admitted = 0;
    for request in run.requests() {
        let runs = &streams[request.number as usize];
        assert_eq!(request.source, request.number / 30);
        let Outcome::Admitted { ack, .. } = request.outcome else {
            assert!(runs.is_empty() && !sent.contains_key(&request.number));
            continue;
        };
        admitted += 1;
        let begins = runs[0].begins;
        assert!((ack as f64..ack as f64 + 500.0).contains(&begins) && runs.len() == 1);
        let messages = &sent[&request.number];
        for (frame, of_frame) in messages.chunk_by(|a, b| a.part.frame == b.part.frame).enumerate() {
            let of = of_frame[0].part.messages;
            assert_eq!(of_frame[0].part.frame, frame as u32);
            let time = |k: usize| begins + 500.0 * (frame as f64 + (k as f64 + 1.0) / f64::from(of));
            let cycles =
                of_frame.iter().enumerate().all(|(k, one)| one.arrival.cycle == time(k).ceil() as u64);
            assert!(cycles && of_frame.iter().all(|one| one.drawn == messages[0].drawn));
        }
    }
    assert!((40..=48).contains(&admitted), "{admitted}");
}

/// The simulator knows the requests so far, and spans of the sources make no difference to them.
#[test]
fn simulators_know_their_connections() {
    let connections = "mean = 0.05, on = 400, request = \"poisson\", erlangs = 6, holding = 4000";
    let scenario = read(&format!("{LINE}[admission]\n{BEST_EFFORT}{}", class("RT", connections, "")));
    let (mut simulator, mut delivered) = (Simulator::new(&scenario, 4), Vec::new());
    for until in [7_000, 7_001, 30_000] {
        simulator.run_until(until, &mut delivered);
        let run = admission_only(&scenario, 4, until + 1_000);
        let known = run.requests().iter().filter(|one| one.cycle < until);
        assert!(known.map(|one| one.number).eq(simulator.requests().iter().map(|one| one.number)));
        assert_eq!(simulator.reserved(2_000, until), run.reserved(2_000, until));
        assert_eq!(simulator.standing(1, 2_000, until), run.standing(1, 2_000, until));
    }
    assert!(delivered.iter().any(|one| one.class == 1 && one.part.stream > 50));
}

/// Once all sources have ended, the messages that they have drawn are still to come, each in its cycle.
#[test]
fn the_last_messages_of_connections_come() {
    let ends = "end = 3000\nend_of_traffic = \"drain\"";
    let connections = "mean = 0.1, on = 40, request = \"poisson\", erlangs = 3, holding = 300";
    let text = format!("{LINE}[admission]\n{}{BEST_EFFORT}{ends}\n", class("RT", connections, ends));
    let scenario = read(&text);
    for seed in 0..5 {
        let (mut simulator, mut delivered) = (Simulator::new(&scenario, seed), Vec::new());
        simulator.run_until(20_000, &mut delivered);
        delivered.sort_unstable();
        let offers = generated(&scenario, seed, 20_000);
        assert!(delivered == replay_offers(&scenario, &offers, 20_000), "{seed}");
    }
}

/// Routers count with what is booked, and connections come through.
#[test]
fn presets_with_connections_run() {
    for (name, until) in [("admission-video-quick", 40_000), ("power-quick", 12_000)] {
        let scenario = Preset::find(name).unwrap().scenario();
        assert!(supports(&scenario).is_ok(), "{name}");
        let (mut simulator, mut delivered) = (Simulator::new(&scenario, 2), Vec::new());
        simulator.run_until(until, &mut delivered);
        let of_class = delivered.iter().filter(|one| one.class == 0);
        let streams: BTreeSet<u32> = of_class.map(|one| one.part.stream).collect();
        let sending =
            |one: &&RequestRecord| matches!(one.outcome, Outcome::Admitted { ack, .. } if ack < 8_000);
        let admitted = simulator.requests().iter().filter(sending).count();
        assert!(streams.len() > admitted / 3 && admitted > 20, "{name}: {} of {admitted}", streams.len());
    }
}

#[test]
fn what_is_not_simulated_is_refused() {
    let refused = |text: &str| match supports(&read(text)) {
        Ok(()) => String::new(),
        Err(faults) => faults.iter().map(|one| format!("{one}\n")).collect(),
    };
    let connections = class("RT", "mean = 0.05, count = 2", "");
    let parallel = format!("{}[admission]\n{connections}", LINE.replace("[5, 2]", "[5, 2]\nlinks = 2"));
    assert!(refused(&parallel).contains("network.links"), "{}", refused(&parallel));
    let phases = format!(
        "{ROUTER}[[phase]]\nduration = 100\nset = {{ \"class.BE.rate\" = 0.02 }}\n{BEST_EFFORT}{connections}"
    );
    assert!(refused(&phases).contains("[[phase]] tables"), "{}", refused(&phases));
}

/// Requests of a mesh of 25 nodes, in cycles without flits. Prints how many come in a second.
#[test]
#[ignore = "a measurement"]
fn speed_of_admission() {
    let connections = "mean = 0.05, request = \"poisson\", erlangs = 14, holding = 100000";
    let scenario =
        read(&format!("{}[admission]\n{}", LINE.replace("[5, 2]", "[5, 5]"), class("RT", connections, "")));
    let begins = std::time::Instant::now();
    let run = admission_only(&scenario, 1, 600_000_000);
    let (seconds, requests) = (begins.elapsed().as_secs_f64(), run.requests());
    let refused = requests.iter().filter(|one| is_refused(one)).count() as f64 / requests.len() as f64;
    println!(
        "{} requests in {seconds:.3} s, {:.2} M/s, {refused:.4} refused",
        requests.len(),
        requests.len() as f64 / seconds / 1e6
    );
}
