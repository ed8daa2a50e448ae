//! The published model against a second implementation of it, written from the same readings by other hands:
//! `reference/reference.py`. `reference/cases.json` is made by `python3 reference/make_cases.py`.

use flitwise_language::scenario::{
    ClassKind, ClassSpec, DeadlineSpec, HopDeadlines, NetworkSpec, RouterSpec, Scenario, ScenarioSpec,
};
use flitwise_models::published::{Options, solve};
use serde_json::Value;

fn scenario(name: &str, case: &Value) -> Scenario {
    let whole = |value: &Value| u32::try_from(value.as_u64().unwrap()).unwrap();
    let cycles = |value: &Value| value.as_f64().unwrap() as u32;
    let network = match case["topology"].as_str().unwrap() {
        "router" => NetworkSpec::Router { ports: 16, self_traffic: None },
        _ => NetworkSpec::Hypercube { dimension: whole(&case["dimension"]), self_traffic: None },
    };
    let deadline = |value: &Value| match value.as_object() {
        None => DeadlineSpec::Cycles(cycles(value)),
        Some(hop) => DeadlineSpec::Hops(HopDeadlines {
            hops: whole(&hop["hops"]),
            deadlines: hop["deadlines"].as_array().unwrap().iter().map(cycles).collect(),
        }),
    };
    let class = |class: &Value| ClassSpec {
        kind: if class["kind"] == "real-time" { ClassKind::RealTime } else { ClassKind::BestEffort },
        message_flits: whole(&class["message_flits"]),
        vtick: class["vtick"].as_f64(),
        deadlines: class["deadlines"].as_array().unwrap().iter().map(deadline).collect(),
        ..ClassSpec::real_time(class["name"].as_str().unwrap(), class["rate"].as_f64().unwrap())
    };
    let spec = ScenarioSpec {
        name: name.to_owned(),
        network,
        router: RouterSpec {
            pipeline_stages: whole(&case["pipeline_stages"]),
            buffer_flits: whole(&case["buffer_flits"]),
            ..RouterSpec::default()
        },
        classes: case["classes"].as_array().unwrap().iter().map(class).collect(),
        ..ScenarioSpec::default()
    };
    spec.check().unwrap_or_else(|faults| panic!("{name}: {faults:?}"))
}

fn near(what: &str, found: f64, expected: f64, tolerance: f64, worst: &mut Vec<String>) {
    if (found - expected).abs() > tolerance * expected.abs().max(1.0) {
        worst.push(format!("{what}: {found} is not {expected}"));
    }
}

#[test]
fn every_case_of_the_second_implementation_is_met() {
    let cases: Value = serde_json::from_str(include_str!("../reference/cases.json")).unwrap();
    let cases = cases.as_array().unwrap();
    assert!(cases.len() >= 70);
    let mut wrong = Vec::new();
    let mut compared = 0;
    let mut unanswered = Vec::new();
    for case in cases {
        let name = case["name"].as_str().unwrap();
        let options = Options { details: true, ..Options::default() };
        let answer = solve(&scenario(name, &case["scenario"]), &options)
            .unwrap_or_else(|failure| panic!("{name}: {failure}"));
        for (found, expected) in answer.classes.iter().zip(case["classes"].as_array().unwrap()) {
            let what = |quantity: &str| format!("{name}, {}, {quantity}", found.name);
            if found.saturated != expected["saturated"].as_bool().unwrap() {
                wrong.push(format!("{}: {}", what("saturated"), found.saturated));
            }
            // saturated: rounding of 1 - P_b is magnified, and the last digits of both are noise
            let tolerance = if found.saturated { 1e-6 } else { 1e-9 };
            let pairs = [
                ("L", found.network_latency_cycles),
                ("W", found.waiting_cycles),
                ("S", found.cycles_per_flit),
                ("P_b", found.blocking_probability),
            ];
            if found.network_latency_cycles.is_none() && expected["L"].is_number() {
                unanswered.push(format!("{name}, {}", found.name));
            }
            for (quantity, number) in pairs {
                if let (Some(number), Some(expected)) = (number, expected[quantity].as_f64()) {
                    near(&what(quantity), number, expected, tolerance, &mut wrong);
                    compared += 1;
                }
            }
            for (found, expected) in found.deadlines.iter().zip(expected["dmp"].as_array().unwrap()) {
                assert_eq!(f64::from(found.deadline_cycles), expected[1].as_f64().unwrap());
                let what = what(&format!("DMP({}) over {:?} hops", found.deadline_cycles, found.hops));
                if let (Some(found), Some(expected)) = (found.miss_probability, expected[2].as_f64()) {
                    near(&what, found, expected, tolerance.max(1e-9), &mut wrong);
                    compared += 1;
                }
            }
            let channels = found.per_channel.iter().flatten().zip(expected["channels"].as_array().unwrap());
            for (found, expected) in channels {
                let pairs = [
                    (found.latency_cycles, 0),
                    (found.blocking_probability, 1),
                    (found.cycles_per_flit, 2),
                    (found.middle_blocking_length_flits, 3),
                ];
                for (number, column) in pairs {
                    if let Some(expected) = expected[column].as_f64() {
                        let what = what(&format!("channel {}, column {column}", found.channel));
                        near(&what, number, expected, tolerance, &mut wrong);
                        compared += 1;
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {compared} differ:\n{}", wrong.len(), wrong.join("\n"));
    // six times beyond saturation the damped iteration of the other gets there, and this one gives up
    assert_eq!(unanswered, ["6-cube saturated r=0.03, R1", "6-cube saturated r=0.03, R2"]);
    assert!(compared > 3000, "only {compared} numbers compared");
}
