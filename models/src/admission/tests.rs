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

#[test]
#[ignore = "prints what the README compares with simulations"]
fn shown() {
    let show = |name: &str, settings: &[(&str, &str)]| {
        let begin = std::time::Instant::now();
        let answer = solved(name, settings);
        println!("{name} {settings:?} {:?}", begin.elapsed());
        for class in &answer.classes {
            let one = &class.means;
            println!(
                "   {} net {:.1?} wait {:.2?} post {:.2?} if {:.1?} rej {:.4?} su {:.1?} held {:.1?} P {:.0?} \
                 dev {:.0?} v {:.4?} acc {:.4?} {:?}",
                class.name,
                one.network_latency_cycles,
                one.waiting_cycles,
                one.posting_delay_cycles,
                one.interface_time_cycles,
                one.rejected_share,
                one.connection_set_up_cycles,
                one.connections_held,
                one.power_pj_per_cycle,
                one.power_deviation_pj_per_cycle,
                one.power_violations,
                one.utilization,
                class.saturation.as_ref().map(|one| (&one.because, one.at_load_factor)),
            );
        }
    };
    for load in ["0.2", "0.4", "0.6", "0.75", "0.9"] {
        show("congestion", &[("mix.load", load)]);
    }
    for load in ["0.3", "0.6"] {
        for control in ["none", "credit", "powerherd"] {
            show("power", &[("mix.load", load), ("power.control", control)]);
        }
    }
    for load in ["0.4", "0.6"] {
        show("admission", &[("mix.load", load)]);
        show("admission-video", &[("mix.load", load)]);
    }
}
