//! Reads the parameters of a station and answers it. All faults are reported at once.

use flitwise_language::scenario::{Document, Fault, Grid, Place, Setting};
use flitwise_models::queueing::{ClassQuestion, Kind, Need, Number, Question};

use super::Point;
use crate::args::Station;
use crate::outcome::Exit;
use crate::typed;

/// The most points along all axes.
const MOST_POINTS: usize = 100_000;
/// Faults after which no further points are looked at.
const ENOUGH_FAULTS: usize = 50;
/// The most times of `--at`.
const MOST_TIMES: usize = 1_000;
/// The longest time of `--at` \[cycles\].
const LONGEST: f64 = 1e12;
/// The longest name of a class \[characters\].
const LONGEST_NAME: usize = 64;

/// An answer for every point.
pub(super) fn answers(kind: Kind, args: &Station) -> Result<Vec<Point>, Exit> {
    let mut faults = Vec::new();
    let typed = args.numbers.0.iter();
    let numbers = typed.map(|(key, typed)| number(key, typed, &format!("--{key} {typed}"))).collect();
    let classes = args.classes.iter().filter_map(|typed| class(typed, &mut faults)).collect();
    let times = times(kind, args.at.as_deref(), &mut faults);
    let question = Question { kind, numbers, classes };
    let grid = grid(&args.over, &mut faults);
    // a class that could not be read is none that is missing, and an axis may have what seems to be
    let unread = question.classes.len() < args.classes.len();
    let missing = |fault: &Fault| fault.place == Place::Program;
    let unknown = |fault: &Fault| missing(fault) && (grid.is_none() || unread && fault.key == "class");
    let mut points = Vec::new();
    for point in 0..grid.as_ref().map_or(1, |grid| grid.points().unwrap_or(0)) {
        let set = grid.as_ref().map_or_else(Vec::new, |grid| grid.settings(point));
        match at(&question, &set) {
            Ok(station) => points.push(Point { set, answer: station.answer(&times) }),
            Err(found) => {
                for fault in found.into_iter().filter(|fault| !unknown(fault)) {
                    let fault = at_option(fault, kind).to_string();
                    if !faults.contains(&fault) {
                        faults.push(fault);
                    }
                }
            }
        }
        if faults.len() > ENOUGH_FAULTS {
            break;
        }
    }
    if faults.is_empty() { Ok(points) } else { Err(Exit::BadInput(faults)) }
}

/// The question at a point, checked.
fn at(question: &Question, set: &[Setting]) -> Result<flitwise_models::queueing::Station, Vec<Fault>> {
    let mut question = question.clone();
    let mut faults = Vec::new();
    for Setting { key, value } in set {
        faults.extend(question.set(number(key, value, &format!("--over {key}={value}"))).err());
    }
    match question.check() {
        Ok(station) if faults.is_empty() => Ok(station),
        checked => {
            faults.extend(checked.err().into_iter().flatten());
            Err(faults)
        }
    }
}

/// A value as it was typed; not a number where it is none.
fn number(key: &str, typed: &str, place: &str) -> Number {
    let value = typed::number(typed.trim());
    Number {
        key: key.to_owned(),
        value: value.unwrap_or(f64::NAN),
        typed: value.map_or_else(|| format!("{typed:?}"), |_| typed.trim().to_owned()),
        place: Place::Setting(place.into()),
    }
}

/// `NAME:KEY=VALUE,..`; a fault in one of its values leaves the others to be looked at.
fn class(typed: &str, faults: &mut Vec<String>) -> Option<ClassQuestion> {
    const WANTED: &str = "NAME:KEY=VALUE,.. such as high:rate=0.01,mean=32,scv=0";
    let place = format!("--class {typed}");
    let Some((name, values)) = typed.split_once(':') else {
        faults.push(format!("{place}: found no ':', wanted {WANTED}"));
        return None;
    };
    let name = name.trim();
    if name.is_empty() || name.chars().count() > LONGEST_NAME || name.chars().any(char::is_control) {
        let wanted = format!("1 to {LONGEST_NAME} characters that can be printed, in {WANTED}");
        faults.push(format!("{place}: found the name {name:?}, wanted {wanted}"));
    }
    let mut numbers: Vec<Number> = Vec::new();
    for pair in values.split(',').map(str::trim).filter(|pair| !pair.is_empty()) {
        let Some((key, value)) = pair.split_once('=') else {
            faults.push(format!("{place}: found {pair:?} without '=', wanted {WANTED}"));
            continue;
        };
        let key = key.trim();
        if numbers.iter().any(|other| other.key == key) {
            faults.push(format!("{place}: found {key} a second time, wanted one value per key"));
        }
        numbers.push(number(key, value, &place));
    }
    Some(ClassQuestion { name: name.to_owned(), numbers, place: Place::Setting(place.into()) })
}

/// Times of `--at`.
fn times(kind: Kind, typed: Option<&str>, faults: &mut Vec<String>) -> Vec<f64> {
    let Some(typed) = typed else { return Vec::new() };
    if !kind.has_distribution() {
        let have: Vec<&str> =
            Kind::ALL.iter().filter(|kind| kind.has_distribution()).map(|kind| kind.word()).collect();
        let wanted = format!("none: of {kind} no closed distribution is known");
        faults.push(format!(
            "--at {typed}: found times, wanted {wanted}\n  help: {} have one",
            have.join(", ")
        ));
        return Vec::new();
    }
    let parts: Vec<&str> = typed.split(',').map(str::trim).collect();
    if parts.len() > MOST_TIMES {
        faults.push(format!("--at: found {} times, wanted at most {MOST_TIMES}", parts.len()));
        return Vec::new();
    }
    let mut times = Vec::new();
    for part in parts {
        match typed::number(part).filter(|time| (0.0..=LONGEST).contains(time)) {
            Some(time) => times.push(time),
            None => faults.push(format!("--at {typed}: found {part:?}, wanted times of 0 to 1e12 cycles")),
        }
    }
    times
}

/// The axes; without any they have one point.
fn grid(over: &[String], faults: &mut Vec<String>) -> Option<Grid> {
    let document = Document::parse("", "");
    let read = document
        .map_err(|faults| faults.iter().map(Fault::to_string).collect())
        .and_then(|nothing| Grid::read(nothing, over, &[], flitwise_models::queueing::is_whole));
    let grid = match read {
        Ok(grid) => grid,
        Err(found) => {
            faults.extend(found);
            return None;
        }
    };
    if grid.points().is_none_or(|points| points > MOST_POINTS) {
        faults.push(format!("--over: found a grid of more than {MOST_POINTS} points, wanted at most that"));
        return None;
    }
    Some(grid)
}

/// What is missing is missing from the command line.
fn at_option(fault: Fault, kind: Kind) -> Fault {
    if fault.place != Place::Program {
        return fault;
    }
    let missing = kind.parameters().iter().find(|parameter| parameter.key == fault.key);
    let add = match missing.map(|parameter| parameter.need) {
        Some(Need::Required { example }) => {
            format!("add --{0} {example}, or an axis of it (--over {0}=..); usage: ", fault.key)
        }
        _ => String::new(),
    };
    let help = fault.help.or_else(|| Some(format!("{add}flitwise station {}", kind.usage())));
    Fault { place: Place::Setting(format!("--{}", fault.key).into()), key: String::new(), help, ..fault }
}
