//! Reads a scenario from a file, a preset or standard input, with overrides.

use std::io::{self, Read};
use std::path::Path;

use flitwise_experiment as experiment;
use flitwise_language::scenario::{Document, Fault, Place, Preset, Scenario};
use flitwise_models::model::{Failure, Options};
use flitwise_validation::advice;
use flitwise_validation::machine;

use crate::args::Source;
use crate::console::Console;
use crate::files;
use crate::outcome::Exit;

/// The largest scenario file that is read \[bytes\].
const LARGEST_FILE: u64 = 1 << 20;

/// The document that the command line names, overrides applied.
pub(crate) fn document(source: &Source) -> Result<Document, Exit> {
    let (document, mut faults) = overridden(source)?;
    // what is wrong beside the overrides is reported with them
    if !faults.is_empty() {
        faults.extend(document.scenario().err().iter().flatten().map(Fault::to_string));
        return Err(Exit::BadInput(faults));
    }
    Ok(document)
}

/// The document that the command line names, and what is wrong with overrides that could not be applied.
fn overridden(source: &Source) -> Result<(Document, Vec<String>), Exit> {
    let mut document = match (&source.file, &source.preset) {
        (Some(path), _) => {
            let (name, text) = read(path)?;
            Document::parse(&name, &text).map_err(|faults| Exit::faults(&faults))?
        }
        (None, Some(name)) => preset(name)?.document(),
        (None, None) => preset("router16")?.document(),
    };
    let mut faults: Vec<String> = Vec::new();
    for setting in &source.settings {
        let applied = match setting.split_once('=') {
            Some((key, value)) => {
                let place = Place::Setting(format!("--set {setting}").into());
                document.set(key.trim(), value, &place).map_err(|fault| fault.to_string())
            }
            None => Err(format!("--set {setting}: found no '=', wanted KEY=VALUE")),
        };
        faults.extend(applied.err());
    }
    let folder = source.file.as_deref().and_then(Path::parent).unwrap_or(Path::new(""));
    faults.extend(files::read(&mut document, folder));
    Ok((document, faults))
}

/// The scenario that the command line names, if `supports` says that it can be simulated; else all faults of both
/// kinds.
pub(crate) fn to_simulate(
    source: &Source,
    supports: fn(&Scenario) -> Result<(), Vec<Fault>>,
) -> Result<Scenario, Exit> {
    let (document, mut faults) = overridden(source)?;
    let read = document.scenario();
    let (found, unsupported) = match &read {
        Ok(scenario) => (&[][..], supports(scenario).err().unwrap_or_default()),
        Err(found) => (found.as_slice(), experiment::unsupported(&document)),
    };
    faults.extend(found.iter().map(Fault::to_string));
    let is_new = |fault: &&Fault| found.iter().all(|other| other.key != fault.key);
    faults.extend(unsupported.iter().filter(is_new).map(|fault| {
        // those of other files, such as traces, have their places
        let place = if fault.place == Place::Program { document.place_of(&fault.key) } else { &fault.place };
        Fault { place: place.clone(), ..fault.clone() }.to_string()
    }));
    match read {
        Ok(scenario) if faults.is_empty() => Ok(scenario),
        _ => Err(Exit::BadInput(faults)),
    }
}

/// The document's scenario, or all its faults.
pub(crate) fn scenario(document: &Document) -> Result<Scenario, Exit> {
    document.scenario().map_err(|faults| Exit::faults(&faults))
}

/// A model's failure, with the place of what it refuses.
pub(crate) fn failure(document: &Document, failure: &Failure) -> Exit {
    Exit::failure(failure, |key| document.place_of(key).to_string())
        .with_help(|| other_ways(document, failure))
}

/// The lines of a model's failure, each with the place of what it refuses.
pub(crate) fn refusals(document: &Document, failure: &Failure) -> Vec<String> {
    failure.lines(|key| document.place_of(key).to_string())
}

/// What else answers a scenario that a model refuses.
pub(crate) fn other_ways(document: &Document, failure: &Failure) -> Option<String> {
    advice::other_ways(document, failure, machine::READ)
}

/// The preset of that name.
pub(crate) fn preset(name: &str) -> Result<&'static Preset, Exit> {
    Preset::find(name).map_err(|near| {
        let help = match near {
            Some(near) => format!("did you mean {near}?"),
            None => "flitwise presets lists them".to_owned(),
        };
        Exit::input(format!("found no preset \"{name}\"\n  help: {help}"))
    })
}

/// Options of a model for one answer.
pub(crate) fn options(details: bool) -> Options {
    Options { details, ..Options::default() }
}

/// The scenario file that another file names, from where that is.
pub(crate) fn named_in(name: &str, folder: &Path, file: &str) -> Result<Document, Vec<Fault>> {
    let fault = |message: String| {
        let place = Place::Setting(format!("{name}: scenario.file").into());
        let wanted = "a scenario file".to_owned();
        vec![Fault { place, key: "file".to_owned(), found: message, wanted, help: None }]
    };
    let (name, text) = read(&folder.join(file)).map_err(|ended| fault(ended.to_string()))?;
    let mut document = Document::parse(&name, &text)?;
    match files::read(&mut document, folder).into_iter().next() {
        Some(wrong) => Err(fault(wrong)),
        None => Ok(document),
    }
}

/// A text file, or standard input for `-`, with the name that messages use.
pub(crate) fn read(path: &Path) -> Result<(String, String), Exit> {
    read_up_to(path, LARGEST_FILE)
}

/// The same of a file of at most so many bytes.
pub(crate) fn read_up_to(path: &Path, largest: u64) -> Result<(String, String), Exit> {
    let (name, bytes) = if let (Some(console), true) = (Console::own(), path == Path::new("-")) {
        let found = console.input();
        let name = found.as_ref().map_or_else(|_| "-".to_owned(), |(name, _)| name.clone());
        (name, found.map(|(_, bytes)| bytes))
    } else if path == Path::new("-") {
        let mut bytes = Vec::new();
        let read = io::stdin().lock().take(largest + 1).read_to_end(&mut bytes);
        ("standard input".to_owned(), read.map(|_| bytes))
    } else {
        let open = || {
            let mut bytes = Vec::new();
            std::fs::File::open(path)?.take(largest + 1).read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        (path.display().to_string(), open())
    };
    let bytes = bytes.map_err(|error| {
        let help = match path.to_str().map(Preset::find) {
            Some(Ok(preset)) => format!("\n  help: the built-in scenario is --preset {}", preset.name),
            _ => String::new(),
        };
        Exit::input(format!("{name}: cannot be read: {error}{help}"))
    })?;
    if bytes.len() as u64 > largest {
        let most = largest >> 20;
        return Err(Exit::input(format!("{name}: found more than {most} MiB, wanted at most that")));
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = valid.iter().filter(|byte| **byte == b'\n').count() + 1;
        let line_start = valid.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let column = String::from_utf8_lossy(&valid[line_start..]).chars().count() + 1;
        Exit::input(format!("{name}:{line}:{column}: found bytes that are not UTF-8, wanted a text file"))
    })?;
    Ok((name, text))
}
