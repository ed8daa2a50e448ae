//! Every command takes every model and every kind of system: it answers, or refuses by name and says what to do.

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

/// Commands and what they want beside the scenario; `SIMULATED` is the options of simulations.
const COMMANDS: [&[&str]; 6] = [
    &["solve"],
    &["sweep", "--over", "SETTING"],
    &["compare", "SIMULATED"],
    &["plan", "max-load"],
    &["sensitivity", "--parameter", "PARAMETER"],
    &["explain"],
];

const SIMULATED: [&str; 5] = ["--no-store", "--precision", "20%", "--max-messages", "2000"];

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
            "SETTING" => {
                arguments.push(settings.first().unwrap_or(&"router.crossbar=multiplexed").to_string())
            }
            word => arguments.push(word.to_owned()),
        }
    }
    arguments.extend(["--preset", preset, "--model", model.word()].map(str::to_owned));
    arguments.extend(settings.iter().flat_map(|setting| ["--set".to_owned(), (*setting).to_owned()]));
    arguments
}

#[test]
fn every_command_answers_by_every_model_or_says_why_not_and_what_to_do() {
    let mut answered = Vec::new();
    for (index, system) in SYSTEMS.into_iter().enumerate() {
        for model in Model::ALL {
            for command in COMMANDS {
                let arguments = asked(command, system, model);
                let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
                let output = flitwise(&words);
                let said = String::from_utf8_lossy(&output.stderr);
                match output.status.code() {
                    // 1: a difference beyond the tolerance, which is an answer
                    Some(0 | 1) => {
                        assert!(!output.stdout.is_empty(), "{words:?}");
                        answered.push((index, model, command[0]));
                    }
                    Some(2) => {
                        assert!(said.contains(&format!("the {model} model ")), "{words:?}: {said}");
                        assert!(said.contains("help: "), "{words:?}: {said}");
                    }
                    code => panic!("{words:?}: {code:?} {said}"),
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
        assert!(named.contains("recn model") || command[0] == "sweep", "{named}");
        assert_eq!(named, unnamed, "{command:?}");
    }
}
