//! Traffic without phases, and traffic that changes from phase to phase.

use std::collections::{BTreeMap, BTreeSet};

use flitwise_language::scenario::{Preset, Scenario};
use flitwise_simulator::{Offer, generated};

fn read(text: &str) -> Scenario {
    Scenario::from_toml("test", text).unwrap_or_else(|faults| panic!("{}", faults[0]))
}

/// FNV-1a of all that is known of messages.
fn fingerprint(offers: &[Offer]) -> u64 {
    let words = offers.iter().flat_map(|offer| {
        let Offer { arrival, flits, vtick, drawn, part, way: _ } = offer;
        let drawn = drawn.map_or(0, |drawn| {
            u64::from(drawn.injection) << 16
                | u64::from(drawn.network) << 8
                | u64::from(drawn.ejection)
                | 1 << 24
        });
        let of_arrival =
            [arrival.source, arrival.destination, u32::from(arrival.class), *flits].map(u64::from);
        let of_frame = [part.stream, part.frame, part.messages].map(u64::from);
        [arrival.cycle, vtick.to_bits(), drawn].into_iter().chain(of_arrival).chain(of_frame)
    });
    let bytes = words.flat_map(u64::to_le_bytes);
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

const VIDEO: &str = "[units]\nflit_bits = 128\ncycle = \"1 ns\"\n[network]\ntopology = \"mesh\"\nradix = [2, 2]\n\
    [router]\nvc_choice = \"drawn\"\nscheduler = \"fine-grained-virtual-clock\"\ncrossbar = \"multiplexed\"\n\
    [[class]]\nname = \"video\"\nkind = \"real-time\"\nmessage_flits = 8\nvirtual_channels = 5\n\
    source = { kind = \"mpeg2\", frame_scale = 0.01, frame_variation = 0.2, streams = 5, pacing = \"even-late\", \
    frame_interval = 390.5 }\n\
    [[class]]\nname = \"clock\"\nkind = \"best-effort\"\nrate = 0.003\nmessage_flits = 6\n\
    source = { kind = \"periodic\" }\n";

/// Sources that know phases send without them what they sent before they knew any.
#[test]
fn traffic_without_phases_is_what_it_was() {
    let of = |scenario: &Scenario| {
        let offers = generated(scenario, 7, 20_000);
        (offers.len(), fingerprint(&offers))
    };
    let of_presets = ["router16", "cube5", "router16-on-off", "mediaworm-quick"]
        .map(|name| of(&Preset::find(name).unwrap().scenario()));
    assert_eq!((of_presets, of(&read(VIDEO))), WITHOUT_PHASES);
}

/// Of the sources before they knew phases.
const WITHOUT_PHASES: ([(usize, u64); 4], (usize, u64)) = (
    [
        (5_657, 10_080_755_080_196_567_884),
        (6_090, 16_746_660_843_266_895_663),
        (5_434, 1_127_275_570_181_113_246),
        (2_773, 10_472_718_975_453_723_283),
    ],
    (4_516, 4_940_452_429_741_154_851),
);

/// Four nodes, a class whose rate is 0.01, 0.03, 0 and 0.02 in phases of 5,000 cycles behind a warm-up of as many.
fn changing(source: &str) -> Scenario {
    let phase = |rate: f64| format!("[[phase]]\nduration = 5000\nset = {{ \"class.BE.rate\" = {rate} }}\n");
    read(&format!(
        "[network]\ntopology = \"router\"\nports = 4\n[measure]\nwarm_up = 5000\n{}[[class]]\nname = \"BE\"\n\
         kind = \"best-effort\"\nrate = 0.05\nmessage_flits = 4\nsource = {{ {source} }}\n",
        [0.01, 0.03, 0.0, 0.02].map(phase).concat()
    ))
}

/// Messages of 40 runs in the warm-up and each phase, the last of which lasts as long as the others and once more.
fn counts(scenario: &Scenario) -> [u64; 6] {
    let mut counts = [0; 6];
    for seed in 0..40 {
        // a message comes in the cycle behind its time
        let times = generated(scenario, seed, 30_000).into_iter().map(|offer| offer.arrival.cycle.max(1) - 1);
        times.for_each(|time| counts[(time / 5_000) as usize] += 1);
    }
    counts
}

/// Poisson counts over 40 runs of 4 nodes, each within 4 deviations of its mean, a level of 6e-5 for one; the last
/// intervals of the phase before fall into a silent one.
#[test]
fn rates_of_poisson_sources_follow_the_phases() {
    let counts = counts(&changing("kind = \"poisson\""));
    let mut expected = [0.01, 0.01, 0.03, 0.0, 0.02, 0.02].map(|rate| 40.0 * 4.0 * 5_000.0 * rate);
    // an interval of mean 100 runs on into the phase with mean 33, whose residual of 100 keeps out (100 - 33) / 33 of
    // them; one of mean 33 ends in the silent phase
    expected[2] -= 160.0 * (100.0 * 0.03 - 1.0);
    assert_eq!(counts[3], 160);
    for phase in [0, 1, 2, 4, 5] {
        let off = (counts[phase] as f64 - expected[phase]) / expected[phase].sqrt();
        assert!(off.abs() < 4.0, "phase {phase}: {counts:?}, {expected:?}");
    }
}

/// The interval that runs when a phase begins keeps its length; behind a pause the start is anywhere in an interval.
#[test]
fn periodic_sources_change_their_intervals() {
    let offers = generated(&changing("kind = \"periodic\""), 3, 29_999);
    for node in 0..4 {
        let times: Vec<u64> =
            offers.iter().filter(|one| one.arrival.source == node).map(|one| one.arrival.cycle).collect();
        let apart: Vec<(u64, u64)> = times.windows(2).map(|pair| (pair[0], pair[1] - pair[0])).collect();
        for (from, apart) in apart {
            let wanted = match from {
                0..=9_999 => 100..=100,
                10_000..=14_966 => 33..=34,
                // the last one before the pause or in it, and the first one behind it
                14_967..=19_999 => 20_000 - from..=20_050 - from,
                _ => 50..=50,
            };
            let is_last = (14_967..15_000).contains(&from) && apart <= 34;
            assert!(wanted.contains(&apart) || is_last, "{from}: {apart}");
        }
        let silent = times.iter().filter(|time| (15_001..=20_000).contains(*time)).count();
        assert_eq!(silent, 1, "the interval that ran when the pause began");
    }
}

/// Bursts of five messages 20 cycles apart on average: rates within 15 %, which is 4 deviations at a dispersion of 9.
/// Pauses that run on are longer than those of the phase with the largest rate.
#[test]
fn bursts_follow_the_phases() {
    let source = "kind = \"on-off\", streams = 2, messages_per_burst = 5, peak_rate = 0.05";
    let counts = counts(&changing(source));
    let shares = [0.01, 0.01, 0.03, 0.0, 0.02, 0.02].map(|rate| 40.0 * 4.0 * 5_000.0 * rate);
    let shares: Vec<f64> = counts.iter().zip(shares).map(|(count, all)| *count as f64 / all).collect();
    assert!([0, 1, 4, 5].iter().all(|phase| (shares[*phase] - 1.0).abs() < 0.15), "{shares:?}");
    // of mean 900 they last 667 cycles longer
    assert!((shares[2] - (1.0 - 667.0 / 5_000.0)).abs() < 0.1, "{shares:?}");
    assert!(counts[3] < 160 * 2 * 8, "bursts end in a pause: {counts:?}");
}

/// What is the same in every phase is the same traffic as without phases, but for what comes at the end.
#[test]
fn phases_that_change_nothing_change_nothing() {
    let plain = VIDEO.to_owned();
    let phase = "[[phase]]\nduration = 4000\nset = { \"class.clock.rate\" = 0.003 }\n";
    let phased = plain
        .replace("[[class]]\nname = \"video\"", &format!("{}[[class]]\nname = \"video\"", phase.repeat(3)));
    assert_eq!(generated(&read(&phased), 5, 20_000), generated(&read(&plain), 5, 20_000));
}

/// Four nodes with control, video and best effort on 16 virtual channels; video sends 2, 6, 6, 1 and 3 streams.
fn mixed(map: &str) -> Scenario {
    let phase = |share: f64| {
        let streams = match share {
            0.2 => 2,
            0.8 => 6,
            0.7 => 6,
            0.1 => 1,
            _ => 3,
        };
        format!(
            "[[phase]]\nduration = 1000\nreal_time_share = {share}\nset = {{ \"class.video.source.streams\" = \
             {streams}, \"class.BE.rate\" = 0.01 }}\n"
        )
    };
    read(&format!(
        "[network]\ntopology = \"router\"\nports = 4\n[router]\nvc_choice = \"drawn\"\n\
         crossbar = \"multiplexed\"\nscheduler = \"fine-grained-virtual-clock\"\npreemption = \"input-buffer\"\n\
         vc_map = \"{map}\"\n[measure]\nwarm_up = 500\n{}\
         [[class]]\nname = \"control\"\nkind = \"control\"\nmessage_flits = 2\nrate = 0.001\n\
         [[class]]\nname = \"video\"\nkind = \"real-time\"\nmessage_flits = 8\nvirtual_channels = 3\n\
         source = {{ kind = \"cbr\", frame = 40, frame_interval = 300, streams = 2, pacing = \"even-late\" }}\n\
         [[class]]\nname = \"BE\"\nkind = \"best-effort\"\nrate = 0.01\nmessage_flits = 4\nvirtual_channels = 12\n",
        [0.2, 0.8, 0.7, 0.1, 0.3].map(phase).concat()
    ))
}

/// By node and stream of a node: the messages of the second class.
fn streams(offers: &[Offer], most: u32) -> BTreeMap<(u32, u32), Vec<Offer>> {
    let mut streams: BTreeMap<(u32, u32), Vec<Offer>> = BTreeMap::new();
    for offer in offers.iter().filter(|offer| offer.arrival.class == 1) {
        assert_eq!(offer.part.stream / most, offer.arrival.source, "numbers go node by node");
        streams.entry((offer.arrival.source, offer.part.stream % most)).or_default().push(*offer);
    }
    streams
}

/// Streams are added at the beginning of a phase, the youngest stop after their frame, and frames are whole.
#[test]
fn streams_come_and_go_with_the_phases() {
    let offers = generated(&mixed("fixed"), 11, 7_000);
    let all = streams(&offers, 6);
    assert_eq!(all.len(), 24);
    // when each stream begins frames: warm-up 500 cycles, five phases of 1,000 cycles, the last one without end
    let stays = |stream: u32| match stream {
        0 => vec![0.0..f64::INFINITY],
        1 => vec![0.0..3_500.0, 4_500.0..f64::INFINITY],
        2 => vec![1_500.0..3_500.0, 4_500.0..f64::INFINITY],
        _ => vec![1_500.0..3_500.0],
    };
    for ((node, stream), messages) in all {
        let destination = messages[0].arrival.destination;
        assert!(messages.iter().all(|one| one.arrival.destination == destination), "it never changes");
        let mut frames: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
        for one in &messages {
            frames.entry(one.part.frame).or_default().push(one.arrival.cycle);
        }
        assert!(frames.keys().copied().eq(0..frames.len() as u32), "frames are numbered without gaps");
        let whole = frames.values().filter(|cycles| cycles.len() == 6);
        // the k-th of 6 messages is (k + 1) T / 6 behind the beginning
        let begins: Vec<f64> = whole.map(|cycles| cycles[0] as f64 - 50.0).collect();
        assert!(begins.len() + 1 >= frames.len(), "only a frame at the end is cut");
        let mut rest = begins.as_slice();
        for stay in stays(stream) {
            let own = rest.iter().take_while(|begins| **begins < stay.end + 1.0).count();
            let (here, later) = rest.split_at(own);
            rest = later;
            assert!((stay.start..stay.start + 301.0).contains(&here[0]), "{node} {stream}: {here:?}");
            assert!(here.windows(2).all(|pair| (pair[1] - pair[0] - 300.0).abs() < 1e-9), "{here:?}");
            let last = here[here.len() - 1];
            assert!(last > stay.end - 301.0 || stay.end.is_infinite() && last > 6_100.0, "{last} {stay:?}");
        }
        assert!(rest.is_empty());
    }
}

/// Where the block of video grows its streams are mapped anew, in the phases whose blocks are others.
#[test]
fn streams_and_messages_keep_to_the_block_of_their_phase() {
    for (map, sizes, of_best_effort) in [
        ("fixed", [3, 3, 3, 3, 3], 4..16),
        // of 15: 3, 12, 10.5 to 11, never below the first, 4.5 to 5
        ("follow-mix", [3, 12, 11, 3, 5], 4..16),
        ("all", [15; 5], 1..16),
    ] {
        let scenario = mixed(map);
        let offers = generated(&scenario, 2, 7_000);
        let phase = |cycle: u64| ((cycle.max(500) - 500) / 1_000).min(4) as usize;
        for ((_, stream), messages) in streams(&offers, 6) {
            for one in &messages {
                let size = sizes[phase(one.arrival.cycle)];
                let drawn = one.drawn.unwrap();
                assert_eq!(u32::from(drawn.injection), 1 + stream % size, "{map}");
                assert!((1..1 + size).contains(&u32::from(drawn.ejection)), "{map}");
                assert_eq!(drawn.network, drawn.ejection);
            }
            for pair in messages.windows(2) {
                let [before, after] = [pair[0], pair[1]].map(|one| sizes[phase(one.arrival.cycle)]);
                assert!(before != after || pair[0].drawn == pair[1].drawn, "{map}: a stream keeps its lanes");
            }
        }
        for one in offers.iter().filter(|offer| offer.arrival.class == 2) {
            let drawn = one.drawn.unwrap();
            assert!(of_best_effort.contains(&u32::from(drawn.injection)), "{map}");
        }
        let used: BTreeSet<u8> = offers
            .iter()
            .filter(|one| one.arrival.class == 1 && phase(one.arrival.cycle) == 1)
            .map(|one| one.drawn.unwrap().ejection)
            .collect();
        assert!(used.len() as u32 <= sizes[1] && (sizes[1] == 3 || used.len() > 5), "{map}: {used:?}");
    }
}

/// With a matrix of rates each node sends at its own, to its destinations in proportion: counts of 400,000 cycles are
/// within 5 standard deviations of them.
#[test]
fn nodes_send_at_the_rates_of_a_matrix() {
    let rates = [(0, 1, 0.004), (0, 2, 0.001), (2, 3, 0.02), (3, 0, 0.0002)];
    let rows: String = rates.iter().map(|(from, to, rate)| format!("{from},{to},{rate}\\n")).collect();
    for source in ["poisson", "periodic"] {
        let scenario = read(&format!(
            "[network]\ntopology = \"router\"\nports = 4\n[[class]]\nname = \"BE\"\nkind = \"best-effort\"\n\
             source = {{ kind = \"{source}\" }}\n\
             destination = {{ matrix = \"source,destination,rate\\n{rows}\" }}\n"
        ));
        let mut counts: BTreeMap<(u32, u32), f64> = BTreeMap::new();
        for offer in generated(&scenario, 3, 400_000) {
            *counts.entry((offer.arrival.source, offer.arrival.destination)).or_default() += 1.0;
        }
        assert_eq!(counts.len(), rates.len(), "{source}: {counts:?}");
        for (from, to, rate) in rates {
            let (found, mean) = (counts[&(from, to)], rate * 400_000.0);
            assert!((found - mean).abs() < 5.0 * f64::sqrt(mean), "{source} {from} to {to}: {found}, {mean}");
        }
    }
}
