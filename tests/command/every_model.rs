//! Every command takes every model and every kind of system: it answers, or refuses by name and says what to do.

use std::process::Output;

use flitwise_language::scenario::PRESETS;
use flitwise_models::model::Model;

use crate::process::flitwise;

/// A preset, what makes it small, and a parameter of it.
const SYSTEMS: [(&str, &[&str], &str); 3] = [
    ("router16", &["network.ports=4", "class.R1.rate=0.001", "class.R2.rate=0.0005"], "class.BE.rate"),
    ("mediaworm-quick", &[], "class.*.rate"),
    (
        "recn64-quick",
        &["measure.end=40 us", "class.hot.start=10 us", "class.hot.end=20 us"],
        "class.random.rate",
    ),
];

/// Commands and what they want beside the scenario; `SIMULATED` is the options of simulations, `OUT` a directory.
const COMMANDS: [&[&str]; 7] = [
    &["solve"],
    &["sweep", "--over", "SETTING"],
    &["compare", "SIMULATED"],
    &["plan", "max-load"],
    &["sensitivity", "--parameter", "PARAMETER"],
    &["explain"],
    &["figure", "SIMULATED", "--out", "OUT"],
];

const SIMULATED: [&str; 5] = ["--no-store", "--precision", "30%", "--max-messages", "500"];
/// Where figures go.
const OUT: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/every_model");
/// Presets whose runs take a minute; those with `-quick` behind their names differ from them in times only.
const LONG: [&str; 5] = ["mediaworm", "router-nic", "recn64", "recn256", "recn512"];

fn asked(
    command: &[&str],
    (preset, settings, parameter): (&str, &[&str], &str),
    model: Model,
) -> Vec<String> {
    let mut arguments: Vec<String> = Vec::new();
    for word in command {
        match *word {
            "SIMULATED" => arguments.extend(SIMULATED.map(str::to_owned)),
            "PARAMETER" => arguments.push(parameter.to_owned()),
            "OUT" => arguments.push(OUT.to_owned()),
            "SETTING" => {
                arguments.push(settings.first().unwrap_or(&"router.crossbar=multiplexed").to_string())
            }
            word => arguments.push(word.to_owned()),
        }
    }
    arguments.extend(["--preset", preset, "--model", model.word()].map(str::to_owned));
    if command[0] != "figure" {
        arguments.extend(settings.iter().flat_map(|setting| ["--set".to_owned(), (*setting).to_owned()]));
    }
    arguments
}

/// Whether a command answers. A refusal says by `reason` why not, and what to do instead.
fn is_answered(words: &[&str], output: &Output, reason: &str) -> bool {
    let said = String::from_utf8_lossy(&output.stderr);
    match output.status.code() {
        // 1: a difference beyond the tolerance, which is an answer
        Some(0 | 1) => assert!(!output.stdout.is_empty(), "{words:?}"),
        Some(2) => assert!(said.contains(reason) && said.contains("help: "), "{words:?}: {said}"),
        code => panic!("{words:?}: {code:?} {said}"),
    }
    output.status.code() != Some(2)
}

#[test]
fn every_command_answers_by_every_model_or_says_why_not_and_what_to_do() {
    let mut answered = Vec::new();
    for (index, system) in SYSTEMS.into_iter().enumerate() {
        for model in Model::ALL {
            for command in COMMANDS {
                let arguments = asked(command, system, model);
                let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
                if is_answered(&words, &flitwise(&words), &format!("the {model} model ")) {
                    answered.push((index, model, command[0]));
                }
            }
        }
    }
    // each system has all answers by a model of its own
    for (index, model) in
        [(0, Model::Published), (0, Model::Refined), (1, Model::Mediaworm), (2, Model::Recn)]
    {
        for command in COMMANDS {
            assert!(answered.contains(&(index, model, command[0])), "{model} {command:?}");
        }
    }
}

/// Without a model each command takes the one that answers.
#[test]
fn packet_switches_need_no_model_named() {
    for command in COMMANDS {
        let arguments = asked(command, SYSTEMS[2], Model::Recn);
        let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let at = words.iter().position(|word| *word == "--model").unwrap();
        let unnamed: Vec<&str> = [&words[..at], &words[at + 2..]].concat();
        let [named, unnamed] =
            [words, unnamed].map(|words| String::from_utf8(flitwise(&words).stdout).unwrap());
        let says = !["sweep", "figure"].contains(&command[0]);
        assert!(named.contains("recn model") || !says, "{named}");
        assert_eq!(named, unnamed, "{command:?}");
    }
}

/// Every scenario of the list is solved, explained, simulated and drawn without a further word.
#[test]
fn every_preset_is_answered_by_every_command() {
    for preset in PRESETS {
        // a run with an end is simulated to it
        let has_end = preset.scenario().terminating().is_some();
        let simulated: &[&str] =
            if has_end { &["--replications", "1"] } else { &["--precision", "30%", "--max-messages", "500"] };
        let mut commands = vec![vec!["solve"], vec!["explain"]];
        if !LONG.contains(&preset.name) {
            commands.push([&["simulate"], simulated].concat());
        }
        if !LONG.contains(&preset.name) && preset.group != "router-nic" {
            commands.push([&["figure", "--out", OUT], &SIMULATED[..]].concat());
        }
        for command in commands {
            let words = [&command[..], &["--preset", preset.name]].concat();
            let answered = is_answered(&words, &flitwise(&words), "model has no");
            // synthetic sources have no model
            assert!(answered || preset.name == "recn-san" && command.len() == 1, "{words:?}");
        }
    }
}
