//! Scenarios of drawn values for drawn keys of all presets, each in its range: they are refused with a reason or
//! answered by every model, an answer holds no number that is none and is valid by its schema, and none takes long.

use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use flitwise_language::scenario::{Place, Preset};
use flitwise_models::answer::Answer;
use flitwise_models::model::{Failure, Model, Options};
use jsonschema::Validator;

use crate::drawn::{Draw, Keys, no_numbers};
use crate::thread_time::seconds;

/// Seconds of one core that an answer may take: about two are promised, and tests have assertions and share cores.
const MOST_SECONDS: f64 = 6.0;

/// What became of the draws.
#[derive(Default)]
struct Account {
    refused: u32,
    answered: u32,
    /// The slowest answers.
    slowest: Vec<(f64, String)>,
    /// What went wrong, with its draw.
    faults: Vec<String>,
}

/// What is wrong with an answer.
fn faults(answer: &Answer, schema: &Validator) -> Vec<String> {
    let document = serde_json::to_value(answer).unwrap();
    let mut faults: Vec<String> =
        schema.iter_errors(&document).map(|error| format!("{}: {error}", error.instance_path())).collect();
    if no_numbers(&format!("{answer:?}")) {
        faults.push("it holds a number that is none".to_owned());
    }
    faults
}

fn try_out(draws: u32, seed: u64) -> Account {
    let (keys, mut draw, mut account) = (Keys::new(), Draw(seed), Account::default());
    let schema = jsonschema::validator_for(&schemars::schema_for!(Answer).into()).unwrap();
    let begun = Instant::now();
    for number in 0..draws {
        let drawn = catch_unwind(AssertUnwindSafe(|| keys.scenario(&mut draw)));
        let Ok((line, drawn)) = drawn else {
            account.faults.push(format!("draw {number} of seed {seed}: the reader panics"));
            continue;
        };
        let Some(scenario) = drawn else {
            account.refused += 1;
            continue;
        };
        // distributions and loads of saturation take most of the time
        let whole = number % 64 == 0;
        let options =
            Options { distributions: whole, saturation_loads: whole, details: whole, ..Options::default() };
        for model in Model::ALL {
            let before = seconds(begun);
            match catch_unwind(AssertUnwindSafe(|| model.solve(&scenario, &options))) {
                Err(_) => account.faults.push(format!("panic of {model}: {line}")),
                Ok(Err(Failure::Refused { refusals, .. })) if refusals.is_empty() => {
                    account.faults.push(format!("{model} refuses without a reason: {line}"));
                }
                Ok(Err(_)) => {}
                Ok(Ok(answer)) => {
                    account.answered += 1;
                    let found = faults(&answer, &schema);
                    account.faults.extend(found.iter().map(|fault| format!("{model}: {fault}: {line}")));
                }
            }
            let took = seconds(begun) - before;
            if took > MOST_SECONDS {
                account.faults.push(format!("{took:.1} s by {model}: {line}"));
            }
            account.slowest.push((took, format!("{model}: {line}")));
        }
        account.slowest.sort_by(|a, b| b.0.total_cmp(&a.0));
        account.slowest.truncate(5);
    }
    account
}

/// Tells of it past the harness, which would keep it to itself.
fn judge(account: &Account) {
    let Account { refused, answered, slowest, faults } = account;
    let mut told = format!("{refused} draws refused by the reader, {answered} answers; the slowest:\n");
    slowest.iter().for_each(|(seconds, line)| told += &format!("{seconds:.2} s {line}\n"));
    std::io::stderr().write_all(told.as_bytes()).unwrap();
    assert!(*answered > 0, "no answer at all");
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

/// Paths of classes of which none sends are no paths of the same network without such classes.
#[test]
fn a_scenario_without_senders_leaves_no_trace_in_the_next() {
    let solve = |settings: &[(&str, &str)]| {
        let mut document = Preset::find("cube6-be64").unwrap().document();
        settings.iter().for_each(|(key, value)| document.set(key, value, &Place::Program).unwrap());
        let scenario = document.scenario().unwrap();
        Model::Refined.solve(&scenario, &Options { saturation_loads: false, ..Options::default() })
    };
    let hot = ("class.*.destination", "{ hot = 5, share = 0.2 }");
    let idle = solve(&[hot, ("class.*.rate", "0")]);
    assert!(idle.is_err() || idle.is_ok_and(|answer| !answer.saturated));
    assert!(solve(&[("class.R2.virtual_channels", "3")]).is_ok());
}

/// A message that is all header is a fault, not a panic.
#[test]
fn a_message_of_nothing_but_headers_is_a_fault() {
    let mut document = Preset::find("mediaworm-quick").unwrap().document();
    document.set("class.*.message_flits", "1", &Place::Program).unwrap();
    document.set("class.video.source.header_flits", "1", &Place::Program).unwrap();
    assert!(document.scenario().is_err());
}

#[test]
fn drawn_scenarios_are_refused_or_answered() {
    judge(&try_out(1_000, 1));
}

#[test]
#[ignore = "100,000 draws take minutes; run by .ci/run"]
fn a_hundred_thousand_drawn_scenarios_are_refused_or_answered() {
    let draws = std::env::var("FLITWISE_CASES").ok().and_then(|draws| draws.parse().ok()).unwrap_or(100_000);
    std::thread::scope(|scope| {
        for seed in [2, 3] {
            scope.spawn(move || judge(&try_out(draws / 2, seed)));
        }
    });
}
