//! Scenarios of drawn values for drawn keys, simulated shortly: they are refused with a reason or simulated, a result
//! holds no number that is none and is valid by its schema.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use flitwise_experiment::answer::Simulation;
use flitwise_experiment::{Settings, supports};

use crate::drawn::{Draw, Keys, no_numbers};
use crate::run_on;

/// Nodes of the largest network that is simulated.
const MOST_NODES: u32 = 64;

fn try_out(draws: u32, seed: u64) {
    let (keys, mut draw, mut simulated, mut faults) = (Keys::new(), Draw(seed), 0, Vec::new());
    let schema = jsonschema::validator_for(&schemars::schema_for!(Simulation).into()).unwrap();
    let read = |name: &str| std::fs::read_to_string(name);
    for number in 0..draws {
        let (line, Some(scenario)) = keys.scenario(&mut draw) else { continue };
        if scenario.topology().nodes() > MOST_NODES {
            continue;
        }
        let settings = Settings {
            replications: Some(2),
            max_messages: 200,
            max_time: Some(Duration::from_millis(50)),
            warmup_cycles: (number % 2 == 0).then_some(0),
            details: number % 4 == 0,
            ..Settings::default()
        };
        let found = catch_unwind(AssertUnwindSafe(|| {
            supports(&scenario, &read).map(|()| run_on(1, &scenario, &settings, &mut ()))
        }));
        match found {
            Err(_) => faults.push(format!("panic: {line}")),
            Ok(Err(refused)) if refused.is_empty() => {
                faults.push(format!("refused without a reason: {line}"))
            }
            Ok(Err(_)) => {}
            Ok(Ok(answer)) => {
                simulated += 1;
                let document = serde_json::to_value(&answer).unwrap();
                let errors = schema.iter_errors(&document);
                faults.extend(errors.map(|error| format!("{}: {error}: {line}", error.instance_path())));
                if no_numbers(&format!("{answer:?}")) {
                    faults.push(format!("a number that is none: {line}"));
                }
            }
        }
    }
    println!("{simulated} of {draws} draws simulated");
    assert!(simulated > draws / 20, "{simulated} simulated");
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn drawn_scenarios_are_refused_or_simulated() {
    try_out(150, 1);
}

#[test]
#[ignore = "5,000 draws take minutes; run by .ci/run"]
fn thousands_of_drawn_scenarios_are_refused_or_simulated() {
    std::thread::scope(|scope| {
        for seed in [2, 3] {
            scope.spawn(move || try_out(2_500, seed));
        }
    });
}
