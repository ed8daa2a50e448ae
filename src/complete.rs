//! Candidates for shell completion.
//!
//! The script of `flitwise completions` runs the command itself (with the variable `FLITWISE_COMPLETE`). So it knows
//! all built-in names, and keys of the classes of the preset or file that has been typed.

use std::ffi::OsStr;
use std::io;
use std::path::Path;

use clap_complete::Shell;
use clap_complete::engine::CompletionCandidate;
use clap_complete::env::Shells;
use flitwise_figures::published::PUBLISHED;
use flitwise_language::scenario::{self, PRESETS, Preset, Scenario, ScenarioSpec};

use crate::{input, learn};

/// Holds the name of the shell that asks.
pub(crate) const VARIABLE: &str = "FLITWISE_COMPLETE";

/// The script that registers the command with a shell.
pub(crate) fn script(shell: Shell) -> io::Result<Vec<u8>> {
    let shells = Shells::builtins();
    let shell = shells.completer(&shell.to_string()).expect("every shell of the list is built in (tested)");
    let mut script = Vec::new();
    shell.write_registration(VARIABLE, "flitwise", "flitwise", "flitwise", &mut script)?;
    Ok(script)
}

/// Built-in scenarios.
pub(crate) fn presets() -> Vec<CompletionCandidate> {
    PRESETS.iter().map(|preset| described(preset.name, preset.about)).collect()
}

/// Built-in figures, and files.
pub(crate) fn figures() -> Vec<CompletionCandidate> {
    let built_in = PUBLISHED.iter().map(|one| {
        let title = one.figure().map(|figure| figure.title).unwrap_or_default();
        described(one.number(), &title)
    });
    let others = [described("all", "every built-in figure"), described("show", "print a figure's file")];
    built_in.chain(others).collect()
}

/// Lessons.
pub(crate) fn lessons() -> Vec<CompletionCandidate> {
    learn::names().map(CompletionCandidate::new).chain([CompletionCandidate::new("all")]).collect()
}

/// Names of classes.
pub(crate) fn classes() -> Vec<CompletionCandidate> {
    typed_scenario().classes.into_iter().map(|class| CompletionCandidate::new(class.name)).collect()
}

/// Keys of a scenario.
pub(crate) fn keys() -> Vec<CompletionCandidate> {
    scenario::keys(&typed_scenario()).into_iter().map(CompletionCandidate::new).collect()
}

/// Rates of a scenario, the last of several after a comma.
pub(crate) fn rates(current: &OsStr) -> Vec<CompletionCandidate> {
    let current = current.to_string_lossy();
    let before = current.rfind(',').map_or("", |comma| &current[..=comma]);
    let rates = scenario::keys(&typed_scenario()).into_iter().filter(|key| key.ends_with(".rate"));
    beginning_with(rates.map(|key| format!("{before}{key}")), &current)
}

/// Keys with the sign that a value follows, and words that may follow it.
pub(crate) fn settings(current: &OsStr) -> Vec<CompletionCandidate> {
    let current = current.to_string_lossy();
    let spec = typed_scenario();
    match current.split_once('=') {
        Some((key, _)) => {
            let words = scenario::words_of(key).into_iter().map(|word| format!("{key}={word}"));
            beginning_with(words, &current)
        }
        None => beginning_with(scenario::keys(&spec).into_iter().map(|key| format!("{key}=")), &current),
    }
}

fn beginning_with(words: impl Iterator<Item = String>, current: &str) -> Vec<CompletionCandidate> {
    words.filter(|word| word.starts_with(current)).map(CompletionCandidate::new).collect()
}

fn described(name: &str, about: &str) -> CompletionCandidate {
    CompletionCandidate::new(name).help(Some(about.to_owned().into()))
}

/// The scenario that the line names so far, or the one that is asked about without.
fn typed_scenario() -> ScenarioSpec {
    let words: Vec<String> = std::env::args().collect();
    let of_preset = |at: usize| Preset::find(words.get(at + 1)?).ok().map(Preset::scenario);
    let preset = words.iter().position(|word| word == "--preset").and_then(of_preset);
    let of_file = |word: &String| {
        let (name, text) = input::read(Path::new(word)).ok()?;
        Scenario::from_toml(&name, &text).ok()
    };
    let file = || words.iter().filter(|word| word.ends_with(".toml")).find_map(of_file);
    preset.or_else(file).map_or_else(ScenarioSpec::default, |scenario| scenario.spec().clone())
}
