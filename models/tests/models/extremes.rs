//! The models at the extremes of every range: each key at its least and at its greatest value, and pairs of them.

use std::io::Write;
use std::time::Instant;

use flitwise_language::scenario::{Place, Preset, Scenario};
use flitwise_models::answer::{Answer, ClassAnswer};
use flitwise_models::model::{Model, Options};

use crate::thread_time::seconds;

/// Keys of a preset with their extremes.
const RANGES: [(&str, &[&str]); 12] = [
    ("class.R1.message_flits", &["1", "65536"]),
    ("class.R2.message_flits", &["1", "65536"]),
    ("class.BE.message_flits", &["1", "65536"]),
    ("router.buffer_flits", &["1", "65536"]),
    ("router.pipeline_stages", &["1", "64"]),
    ("class.R1.rate", &["1e-12", "1"]),
    ("class.R2.rate", &["1e-12", "1"]),
    ("class.BE.rate", &["1e-12", "1"]),
    ("class.R1.vtick", &["0.001", "1e12"]),
    ("class.R2.vtick", &["0.001", "1e12"]),
    (
        "class.R1.source",
        &[
            r#"{ kind = "on-off", streams = 10000, messages_per_burst = 1e6, peak_rate = 1 }"#,
            r#"{ kind = "on-off", streams = 1, messages_per_burst = 1e6, peak_rate = 1 }"#,
            r#"{ kind = "on-off", streams = 10000, messages_per_burst = 1, peak_rate = 1e-6 }"#,
        ],
    ),
    ("class.R1.deadlines", &["[1]", "[1000000]"]),
];

/// And the size of the network.
const SIZES: [(&str, (&str, &[&str])); 2] =
    [("router16", ("network.ports", &["2", "1024"])), ("cube6", ("network.dimension", &["1", "16"]))];

/// Seconds of one core that a scenario may take: far more than any is meant to (one), since machines are busy and tests
/// are built for assertions, and less than one took that hung (18 and 379).
const MOST_SECONDS: f64 = 15.0;

/// Sets of keys and values: single ones, or pairs.
fn sets(
    size: (&'static str, &'static [&'static str]),
    pairs: bool,
) -> Vec<Vec<(&'static str, &'static str)>> {
    let ranges: Vec<_> = RANGES.into_iter().chain([size]).collect();
    let mut sets = Vec::new();
    for (at, (key, values)) in ranges.iter().enumerate() {
        for value in *values {
            if !pairs {
                sets.push(vec![(*key, *value)]);
                continue;
            }
            for (other, others) in &ranges[at + 1..] {
                sets.extend(others.iter().map(|of_other| vec![(*key, *value), (*other, *of_other)]));
            }
        }
    }
    sets
}

/// Parts are none of them negative and add up, the mean of a distribution that is known to its end is the latency.
fn assert_sound(answer: &Answer, name: &str) {
    for class in &answer.classes {
        let Some(latency) = class.network_latency_cycles else { continue };
        let parts = [
            class.transfer_cycles,
            class.input_cycles,
            class.arbitration_cycles,
            class.output_cycles,
            class.gap_cycles,
        ];
        let parts = parts.map(Option::unwrap);
        assert!(parts.iter().all(|part| *part >= 0.0), "{name}: {} {parts:?}", class.name);
        assert!((parts.iter().sum::<f64>() - latency).abs() <= 1e-9 * latency, "{name}: {}", class.name);
        assert!(class.waiting_cycles.is_none_or(|wait| wait.is_finite() && wait >= 1.0 - 1e-9), "{name}");
        let Some(law) = &class.latency_distribution else { continue };
        if law.at_most_probability.last().is_some_and(|last| *last > 1.0 - 1e-9) {
            let beyond: f64 = law.at_most_probability.iter().map(|p| 1.0 - p).sum();
            let mean = f64::from(law.first_cycle) + beyond;
            assert!((mean / latency - 1.0).abs() < 1e-6, "{name}: {} {mean} {latency}", class.name);
        }
    }
}

fn walk(preset: &str, size: (&'static str, &'static [&'static str]), pairs: bool) {
    let begun = Instant::now();
    let mut times: Vec<(f64, String)> = Vec::new();
    for set in sets(size, pairs) {
        let mut document = Preset::find(preset).unwrap().document();
        let mut name = preset.to_owned();
        for (key, value) in set {
            document.set(key, value, &Place::Program).unwrap();
            name += &format!(" {key}={value}");
        }
        let scenario: Scenario = match document.scenario() {
            Ok(scenario) => scenario,
            // bursts of a rate beyond their peak
            Err(faults) => {
                assert!(!faults.is_empty());
                continue;
            }
        };
        let before = seconds(begun);
        // searches for loads of saturation take most of the time: of pairs, every fourth has them
        let saturation_loads = !pairs || times.len().is_multiple_of(4);
        let options = Options { details: true, saturation_loads, ..Options::default() };
        if let Ok(answer) = Model::Refined.solve(&scenario, &options) {
            assert_sound(&answer, &name);
        }
        if let Ok(answer) = Model::Published.solve(&scenario, &options) {
            let parts =
                |class: &ClassAnswer| [class.blocking_cycles, class.sharing_cycles, class.transfer_cycles];
            let parts: Vec<f64> = answer.classes.iter().flat_map(parts).flatten().collect();
            assert!(parts.iter().all(|part| *part >= 0.0), "{name}: {parts:?}");
        }
        let took = seconds(begun) - before;
        assert!(took < MOST_SECONDS, "{took} s: {name}");
        times.push((took, name));
    }
    times.sort_by(|a, b| b.0.total_cmp(&a.0));
    let all: f64 = times.iter().map(|(took, _)| took).sum();
    let mut told = format!("{preset}: {} extremes in {all:.1} s of a core; the slowest:\n", times.len());
    for (took, name) in times.iter().take(5) {
        told += &format!("{took:.3} s: {name}\n");
    }
    // past the harness, which would keep it to itself
    std::io::stderr().write_all(told.as_bytes()).unwrap();
}

#[test]
fn each_extreme_is_answered_at_once() {
    for (preset, size) in SIZES {
        walk(preset, size, false);
    }
}

#[test]
#[ignore = "all pairs of extremes take minutes; run by .ci/run"]
fn each_pair_of_extremes_is_answered_at_once() {
    std::thread::scope(|scope| {
        for (preset, size) in SIZES {
            scope.spawn(move || walk(preset, size, true));
        }
    });
}
