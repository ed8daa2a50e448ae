//! The model as a whole.

use super::*;
use crate::admission::assert_near;
use crate::answer::ClassAnswer;
use flitwise_language::scenario::{Document, Place, Preset};

fn document(preset: &str, settings: &[(&str, &str)]) -> Document {
    let mut document = Preset::find(preset).unwrap().document();
    settings.iter().for_each(|(key, value)| document.set(key, value, &Place::Program).unwrap());
    document
}

fn solved(preset: &str, settings: &[(&str, &str)]) -> Answer {
    let scenario = document(preset, settings).scenario().unwrap();
    let answer = solve(&scenario, &Options::default()).unwrap();
    assert!(is_finite(&serde_json::to_value(&answer).unwrap()), "{preset} {settings:?}");
    answer
}

/// Numbers that are none become `null` in a document, so that they are looked for in its text, too.
fn is_finite(value: &serde_json::Value) -> bool {
    match value {
        serde_json::Value::Number(number) => number.as_f64().is_some_and(|number| number.abs() < 1e15),
        serde_json::Value::Array(each) => each.iter().all(is_finite),
        serde_json::Value::Object(each) => each.values().all(is_finite),
        _ => true,
    }
}

fn class<'a>(answer: &'a Answer, name: &str) -> &'a ClassAnswer {
    answer.classes.iter().find(|class| class.name == name).unwrap()
}

fn of_power(answer: &Answer, field: &str) -> f64 {
    answer.sections.find("power").and_then(|power| power.cell(0, field)?.number()).unwrap()
}

const PRESETS: [&str; 4] = ["admission", "admission-video", "congestion", "power"];

#[test]
fn presets_have_answers() {
    for preset in PRESETS {
        let scenario = document(preset, &[]).scenario().unwrap();
        assert_eq!(
            (Model::usual(&scenario), Model::made_for(&scenario)),
            (Model::Admission, Model::Admission)
        );
        for class in &solved(preset, &[]).classes {
            let known =
                [class.network_latency_cycles, class.accepted_rate_messages_per_cycle, class.utilization];
            assert!(known.iter().all(Option::is_some), "{preset} {class:?}");
            assert_eq!(class.saturated, class.waiting_cycles.is_none(), "{preset}");
            let total = class.posted_latency_cycles.zip(class.posting_delay_cycles).map(|(a, b)| a + b);
            assert_eq!(
                total.map(|total| format!("{total:.6}")),
                class.total_latency_cycles.map(|t| format!("{t:.6}"))
            );
        }
    }
}

/// A lone message waits for a cycle and takes `P - 1 + P h + M`; its tail is over the injection link `M - 1` later.
#[test]
fn without_load_messages_are_alone() {
    let answer = solved("congestion", &[("mix.load", "1e-9"), ("class.control.rate", "1e-12")]);
    let of = class(&answer, "BE");
    assert_near(of.network_latency_cycles.unwrap(), 4.0 + 5.0 * 8.0 / 3.0 + 40.0, 1e-6);
    assert_near(of.waiting_cycles.unwrap(), 1.0, 1e-6);
    assert_near(of.interface_time_cycles.unwrap(), 40.0, 1e-6);
    let silent = solved("congestion", &[("mix.load", "0"), ("class.control.rate", "0")]);
    assert!(!silent.saturated && class(&silent, "BE").utilization == Some(0.0));
}

/// Measured with the simulator of this project are 74.8, 114, 211 and 409 at .2, .4, .6 and .75.
#[test]
fn best_effort_saturates_where_the_chapter_says() {
    let load = |load: &str| solved("congestion", &[("mix.load", load), ("class.control.rate", "0")]);
    // .855 of a mesh without gaps, less what 200 messages of each interface leave
    let most = 0.855 * (1.0 - 0.255 * 200.0_f64.powf(-0.6) * 15.0 / 16.0);
    assert!(!load("0.8464").saturated && load("0.8465").saturated);
    let answer = load("0.9");
    let saturation = class(&answer, "BE").saturation.clone().unwrap();
    assert!(saturation.bottleneck.starts_with("channel from router"), "{saturation:?}");
    assert_near(0.9 * saturation.at_load_factor.unwrap(), most, 1e-9);
    assert_near(class(&answer, "BE").utilization.unwrap(), most, 1e-9);
    // C M / θ
    assert_near(class(&answer, "BE").interface_time_cycles.unwrap(), 200.0 * 40.0 / most, 1e-9);
    let latency = |one: &str| class(&load(one), "BE").network_latency_cycles.unwrap();
    for (one, measured) in [("0.2", 74.8), ("0.4", 114.1), ("0.6", 210.7), ("0.75", 409.2)] {
        assert!((latency(one) / measured - 1.0).abs() < 0.08, "{one}: {}", latency(one));
    }
}

/// Best effort alone: 66,964 pJ/cycle for each flit per cycle and node.
#[test]
fn power_is_that_of_the_chapter() {
    let alone = [("class.RT.share", "0"), ("class.control.rate", "0"), ("power.control", "none")];
    for load in ["0.1", "0.3", "0.5"] {
        let answer = solved("power", &[&alone[..], &[("mix.load", load), ("class.BE.share", "1")]].concat());
        let power = class(&answer, "BE").power_pj_per_cycle.unwrap();
        assert_near(power, 66_964.0 * load.parse::<f64>().unwrap(), 1e-4);
        assert_near(of_power(&answer, "budget_pj_per_cycle"), 33_482.0, 1e-4);
        assert_near(of_power(&answer, "largest_load"), 0.5, 1e-9);
        for (field, largest) in [("1e_2", 0.351), ("1e_3", 0.322), ("1e_6", 0.262)] {
            let found = of_power(&answer, &format!("largest_load_{field}"));
            assert!((found - largest).abs() < 6e-4, "{field}: {found}");
        }
        if load == "0.3" {
            assert_near(class(&answer, "BE").power_deviation_pj_per_cycle.unwrap(), 2_604.0, 1e-3);
        }
    }
    let herd = [("class.RT.share", "0"), ("class.BE.share", "1"), ("power.control", "powerherd")];
    assert!((of_power(&solved("power", &herd), "first_throttling_load") - 0.362).abs() < 2e-3);
}

#[test]
fn accounts_of_energy_saturate_best_effort() {
    let alone = [("class.RT.share", "0"), ("class.BE.share", "1"), ("class.control.rate", "0")];
    let answer = solved("power", &[&alone[..], &[("mix.load", "0.7")]].concat());
    let of = class(&answer, "BE");
    assert!((of_power(&answer, "accounts_load") - 0.462).abs() < 6e-4);
    assert!((of.utilization.unwrap() - 0.462).abs() < 6e-4);
    assert_near(of.power_pj_per_cycle.unwrap(), 30_331.0, 1e-3);
    assert_eq!(of.saturation.as_ref().unwrap().bottleneck, "energy account of the interface");
    // the network is not full
    assert!(of.network_latency_cycles.is_some() && of.waiting_cycles.is_none());
    let below = solved("power", &[&alone[..], &[("mix.load", "0.3")]].concat());
    assert!(!below.saturated && class(&below, "BE").posting_delay_cycles.unwrap() > 10.0);
}

/// Connections alone on a 5x5 mesh.
fn connections(connections: &str, admission: &str) -> Answer {
    let text = format!(
        "[network]\ntopology = \"mesh\"\nradix = [5, 5]\n[router]\nscheduler = \"lane-arbiter\"\n\
         vc_choice = \"drawn-input\"\ncrossbar = \"multiplexed\"\n[interface]\nkind = \"channel-adapter\"\n\
         [admission]\n{admission}\n[[class]]\nname = \"RT\"\nkind = \"real-time\"\nvirtual_channels = 15\n\
         message_flits = 40\nconnections = {{ {connections} }}\n"
    );
    let scenario = Scenario::from_toml("text", &text).unwrap_or_else(|faults| panic!("{faults:?}"));
    solve(&scenario, &Options::default()).unwrap()
}

/// Rows of the chapter: requests that come and go, and that all come at the start.
#[test]
fn connections_are_refused_as_printed() {
    let rejected =
        |text: &str, admission: &str| connections(text, admission).classes[0].rejected_share.unwrap();
    let poisson = |mean: f64, erlangs: u32| {
        let more = format!("request = \"poisson\", holding = 10000, erlangs = {erlangs}");
        rejected(&format!("mean = {mean}, {more}"), "hop_delay = 0")
    };
    assert_near(poisson(0.05, 10), 0.0235, 0.03);
    assert_near(poisson(0.05, 14), 0.1238, 0.01);
    assert_near(poisson(0.1, 6), 0.1455, 0.01);
    let at_start = |mean: f64, count: u32| rejected(&format!("mean = {mean}, count = {count}"), "");
    assert_near(at_start(0.1, 6), 0.054, 0.02);
    assert_near(at_start(0.1, 10), 0.269, 0.01);
    assert_near(at_start(0.05, 20), 0.223, 0.01);
    // the peak is twice the mean
    let by_peak = rejected("mean = 0.05, count = 10", "reserve = \"peak\"");
    assert_near(by_peak, at_start(0.1, 10), 1e-9);
    assert_eq!(rejected("mean = 0.1, count = 20", "test = false"), 0.0);
}

#[test]
fn admitted_connections_are_what_is_sent() {
    let answer = connections("mean = 0.1, count = 10", "");
    let of = class(&answer, "RT");
    let admitted = 1.0 - of.rejected_share.unwrap();
    assert_near(of.connections_held.unwrap(), 250.0 * admitted, 1e-9);
    assert_near(of.utilization.unwrap(), admitted, 1e-9);
    // 2 (h + 1) d_s of the mean path, 10/3 channels; long ones are refused more often
    let set_up = of.connection_set_up_cycles.unwrap();
    assert!(set_up < 130.0 && set_up > 100.0, "{set_up}");
    let loose = connections("mean = 0.01, count = 10", "");
    assert_near(class(&loose, "RT").connection_set_up_cycles.unwrap(), 130.0, 1e-3);
    // of lone messages: 2 P + 19 + h (4 P + 20)
    let control = "[[class]]\nname = \"C\"\nkind = \"control\"\nmessage_flits = 10\nrate = 0";
    let in_band = connections("mean = 0.01, count = 10", &format!("signalling = \"in-band\"\n{control}"));
    let set_up = class(&in_band, "RT").connection_set_up_cycles.unwrap();
    assert_near(set_up, 29.0 + 40.0 * 10.0 / 3.0, 1e-3);
}

/// Best effort backlogged on a 4x4 mesh: 0.412 0.554 0.677 0.756 measured for windows of 1 to 8.
#[test]
fn credits_returned_at_delivery_are_a_closed_network() {
    for (credits, carried) in [("1", 0.425), ("2", 0.562), ("4", 0.689), ("8", 0.783)] {
        let settings = [
            ("congestion.credits", credits),
            ("congestion.return", "delivery"),
            ("class.control.rate", "0"),
            ("mix.load", "0.9"),
        ];
        let answer = solved("congestion", &settings);
        let of = class(&answer, "BE");
        assert!((of.utilization.unwrap() - carried).abs() < 2e-3, "{credits}: {:?}", of.utilization);
        assert_eq!(of.saturation.as_ref().unwrap().bottleneck, "credits that are returned at delivery");
        let below = solved("congestion", &[&settings[..3], &[("mix.load", "0.2")]].concat());
        let free = solved("congestion", &[("class.control.rate", "0"), ("mix.load", "0.2")]);
        assert_eq!(class(&below, "BE").network_latency_cycles, class(&free, "BE").network_latency_cycles);
    }
}

#[test]
fn a_gate_moves_waits_in_front_of_it() {
    let of = |settings: &[(&str, &str)]| {
        let answer = solved("congestion", &[&[("mix.load", "0.6")], settings].concat());
        let means = class(&answer, "BE").means.clone();
        [means.posting_delay_cycles, means.waiting_cycles, means.total_latency_cycles].map(Option::unwrap)
    };
    let free = of(&[("congestion.control", "none")]);
    let (two, quad) = (
        of(&[("congestion.credits", "2")]),
        of(&[("congestion.credits", "8"), ("congestion.queues", "quad")]),
    );
    assert!(free[0] < 1e-9 && two[0] > 1.0);
    assert_near(two[1], free[1], 1e-9);
    // two of each of four queues hold more than two of all
    assert!(quad[0] < two[0] && quad[0] > 0.0, "{quad:?}");
    let same = of(&[("congestion.control", "none"), ("interface.buffer", "2 messages")]);
    assert_near(same[0], two[0], 1e-9);
}

/// Saturated meshes with few credits, measured with the simulator of this project within 1.5 %.
#[test]
fn few_credits_carry_less() {
    for (radix, credits, measured) in [
        ("[4, 4]", "1", 0.633),
        ("[4, 4]", "3", 0.738),
        ("[4, 4]", "10", 0.797),
        ("[5, 5]", "1", 0.553),
        ("[5, 5]", "4", 0.656),
        ("[6, 6]", "1", 0.492),
        ("[6, 6]", "10", 0.571),
        ("[8, 8]", "1", 0.393),
        ("[8, 8]", "4", 0.422),
        ("[4, 2]", "1", 0.666),
        ("[8, 2]", "4", 0.432),
    ] {
        let set = [("mix.load", "1"), ("class.control.rate", "0"), ("network.radix", radix)];
        let set = [&set[..], &[("congestion.credits", credits)]].concat();
        let answer = solved("congestion", &set);
        let carried = class(&answer, "BE").utilization.unwrap();
        // a mesh whose columns are short carries 7 % more than the model has without any gate
        assert!((carried / measured - 1.0).abs() < 0.09, "{radix} {credits}: {carried} of {measured}");
        let because = class(&answer, "BE").saturation.clone().unwrap().because;
        assert!(because.contains(&format!("interfaces with {credits} messages")), "{because}");
    }
}

#[test]
fn video_misses_by_the_law_of_records() {
    let answer = solved("admission-video", &[]);
    assert_eq!(class(&answer, "video").ratchet_missing_probability, None);
    assert!(answer.notes.iter().any(|note| note.starts_with("frame_deadline")));
    let run = solved("admission-video", &[("measure.end", "41625000")]);
    // 100 intervals of 33.3 ms, less one that begins in the run
    let missed = class(&run, "video").ratchet_missing_probability;
    assert!(missed.is_some_and(|share| (share - 0.0423).abs() < 1e-3), "{missed:?}");
    let interval = class(&run, "video").frame_interval_cycles.unwrap();
    assert_near(interval, 416_667.0, 1e-3);
}

/// Every control at once, and every key far out.
#[test]
fn no_scenario_has_no_numbers() {
    let values: [(&str, &[&str]); 24] = [
        ("mix.load", &["0", "1e-9", "0.85", "1.5", "60"]),
        ("class.control.rate", &["0", "1e-12", "0.05", "1"]),
        ("class.*.message_flits", &["1", "65536"]),
        ("router.buffer_flits", &["1", "65536"]),
        ("router.pipeline_stages", &["1", "64"]),
        ("network.radix", &["[2, 2]", "[3, 2]"]),
        ("class.RT.connections.mean", &["1e-9", "1"]),
        ("class.RT.connections.peak", &["0.5", "1"]),
        ("class.RT.connections.count", &["0", "1", "10000"]),
        ("admission.limit_share", &["1e-6", "64"]),
        ("admission.hop_delay", &["0", "1e9"]),
        ("admission.reserve", &["peak"]),
        ("admission.test", &["false"]),
        ("congestion.control", &["credit", "none", "at-least-one", "self-tuned"]),
        ("congestion.credits", &["1", "1000"]),
        ("congestion.queues", &["quad", "separate"]),
        ("congestion.return", &["delivery"]),
        ("congestion.ack_delay", &["1e9"]),
        ("interface.buffer", &["unlimited", "1 messages"]),
        ("power.control", &["none", "credit", "powerherd"]),
        ("power.budget_load", &["1e-6", "64"]),
        ("power.window", &["1", "1000000000"]),
        ("power.account", &["1", "1000000000"]),
        ("power.real_time_share", &["0", "1"]),
    ];
    let singles: Vec<(&str, &str)> =
        values.iter().flat_map(|(key, each)| each.iter().map(move |value| (*key, *value))).collect();
    let mut answered = 0;
    for (at, one) in singles.iter().enumerate() {
        for other in singles[at..].iter().chain([&("mix.load", "0.3")]) {
            let mut document = document("power", &[("congestion.control", "credit")]);
            let is_set =
                [one, other].iter().all(|(key, value)| document.set(key, value, &Place::Program).is_ok());
            let Some(scenario) = is_set.then(|| document.scenario().ok()).flatten() else { continue };
            match solve(&scenario, &Options::default()) {
                Ok(answer) => {
                    answered += 1;
                    assert!(is_sound(&answer), "{one:?} {other:?}: {answer:#?}");
                }
                Err(failure) => panic!("{one:?} {other:?}: {failure}"),
            }
        }
    }
    assert!(answered > 800, "{answered}");
}

/// No number is infinite or negative.
fn is_sound(answer: &Answer) -> bool {
    let of_classes = answer.classes.iter().all(|class| {
        let is_sound =
            |quantity: &Quantity| class.means.get(*quantity).is_none_or(|v| v.is_finite() && *v >= 0.0);
        let factor = class.saturation.as_ref().and_then(|one| one.at_load_factor);
        Quantity::ALL.iter().all(is_sound) && factor.is_none_or(|factor| factor.is_finite() && factor <= 1.0)
    });
    let cells = answer.sections.0.iter().flat_map(|section| section.rows.iter().flatten());
    of_classes && cells.filter_map(|cell| cell.number()).all(f64::is_finite)
}
