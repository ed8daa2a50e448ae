//! The quick preset in two organisations.

use std::sync::atomic::AtomicBool;

use flitwise_models::document::Place;
use flitwise_models::scenario::{Preset, Scenario};

use super::*;

fn quick(settings: &[(&str, &str)]) -> Scenario {
    let mut document = Preset::find("recn64-quick").unwrap().document();
    for (key, value) in settings {
        document.set(key, value, &Place::Setting((*key).into())).unwrap();
    }
    document.scenario().unwrap()
}

fn simulated(scenario: &Scenario, threads: usize) -> PacketSimulation {
    let settings = Settings { replications: Some(2), threads: Some(threads), ..Settings::default() };
    run(scenario, &settings, &AtomicBool::new(false), &|_| ()).unwrap()
}

#[test]
fn one_queue_loses_throughput_in_a_hot_spot_and_set_aside_queues_keep_it() {
    let found = ["one-queue", "recn"].map(|organisation| {
        let answer = simulated(&quick(&[("switch.organisation", organisation)]), 0);
        assert_eq!(
            answer.phases.iter().map(|phase| &*phase.name).collect::<Vec<_>>(),
            ["run", "before", "during", "after"]
        );
        let packets = answer.packets;
        assert_eq!(packets.generated, packets.delivered + packets.withdrawn + packets.unfinished);
        assert_eq!(answer.set_aside_queues.is_some(), organisation == "recn");
        answer.dip.and_then(|dip| dip.share_of_before).unwrap().mean
    });
    // 8 replications of seed 1: 0.82 and 0.97, half-widths below 0.01
    assert!(found[0] < 0.88 && found[1] > 0.93, "{found:?}");
}

#[test]
fn threads_change_no_number() {
    let scenario = quick(&[("measure.end", "\"120 us\""), ("class.hot.end", "\"110 us\"")]);
    let [one, two] = [1, 2].map(|threads| {
        let answer = simulated(&scenario, threads);
        serde_json::json!([answer.phases, answer.over_time, answer.classes, answer.packets])
    });
    assert_eq!(one, two);
}

#[test]
fn what_is_not_simulated_is_refused_by_name() {
    let scenario = quick(&[("class.random.destination", "\"bit-complement\"")]);
    let faults = supports(&scenario).unwrap_err();
    assert_eq!(faults[0].key, "class.random.destination");
    let mut spec = scenario.spec().clone();
    spec.measure = None;
    spec.classes.truncate(1);
    let faults = supports(&spec.check().unwrap()).unwrap_err();
    assert_eq!(faults[1].key, "measure.end");
}
