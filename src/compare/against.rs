//! `flitwise compare --against`: models beside numbers that were measured elsewhere.

use std::path::Path;
use std::time::Instant;

use flitwise_language::quantity::Quantity;
use flitwise_language::scenario::{Document, Place, Scenario, ScenarioSpec, is_whole};
use flitwise_models::answer::Answer;
use flitwise_models::model::{Failure, Model};
use flitwise_validation::compare::Verdict;
use flitwise_validation::measured::{self, Fitted, Measured, MeasuredRow, Unknown};
use schemars::JsonSchema;
use serde::Serialize;

use super::{signed, text};
use crate::args::{Compare, Format};
use crate::outcome::Exit;
use crate::output::{self, Page, Rows, cycles, percent, share};
use crate::{input, typed};

/// The most numbers that are fitted together.
const MOST_UNKNOWNS: usize = 3;
/// A fit that takes longer is announced \[s\].
const LONG_SECONDS: f64 = 5.0;

/// The answer of `flitwise compare --against FILE --format json`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AgainstDocument {
    /// `flitwise.against/1`.
    schema: &'static str,
    /// Version of flitwise that made it.
    flitwise_version: &'static str,
    /// The scenario, with what was fitted.
    #[serde(serialize_with = "ScenarioSpec::serialize_plainly")]
    scenario: ScenarioSpec,
    /// The file of what was measured.
    against: String,
    /// Difference that is still called close, as a share.
    tolerance: f64,
    /// Differences beyond it, of all models.
    beyond_tolerance: usize,
    /// What was fitted, of several models by the usual one.
    fitted: Vec<Fitted>,
    /// One row per number and model.
    numbers: Vec<MeasuredRow>,
    /// What one should know about the answers.
    notes: Vec<String>,
}

/// A range such as `router.pipeline_stages=1..8`.
fn unknown(typed: &str, document: &Document) -> Result<Unknown, String> {
    let wanted = "wanted KEY=LOW..HIGH, such as router.pipeline_stages=1..8";
    let range = |typed: &str| {
        let (key, range) = typed.split_once('=')?;
        let (low, high) = range.split_once("..")?;
        Some((key.trim().to_owned(), low.trim().to_owned(), high.trim().to_owned()))
    };
    let (key, low, high) = range(typed).ok_or_else(|| format!("--fit {typed}: found no range, {wanted}"))?;
    let [from, to] = [&low, &high].map(|text| typed::number(text));
    let (Some(from), Some(to)) = (from, to) else {
        return Err(format!("--fit {typed}: found no range of numbers, {wanted}"));
    };
    if from >= to {
        return Err(format!("--fit {typed}: found an empty range, wanted the lower end first"));
    }
    // both ends are to be values of the scenario
    for end in [&low, &high] {
        with(document, &[(key.as_str(), end.clone())]).map_err(|fault| format!("--fit {typed}: {fault}"))?;
    }
    Ok(Unknown { is_whole: is_whole(&key), key, low: from, high: to })
}

/// The scenario with other values.
fn with(document: &Document, settings: &[(&str, String)]) -> Result<Scenario, String> {
    let mut document = document.clone();
    for (key, value) in settings {
        document.set(key, value, &Place::Program).map_err(|fault| fault.to_string())?;
    }
    document.scenario().map_err(|faults| faults.first().map_or_else(String::new, ToString::to_string))
}

/// The scenario with the values of unknown numbers.
fn with_values(document: &Document, unknowns: &[Unknown], values: &[f64]) -> Result<Scenario, String> {
    let settings: Vec<(&str, String)> = unknowns
        .iter()
        .zip(values)
        .map(|(unknown, value)| (unknown.key.as_str(), value.to_string()))
        .collect();
    with(document, &settings)
}

/// What is to be compared.
struct Question {
    document: Document,
    scenario: Scenario,
    /// The file and its numbers.
    file: String,
    numbers: Vec<Measured>,
    unknowns: Vec<Unknown>,
    tolerance: f64,
    models: Vec<Model>,
    is_quiet: bool,
}

/// What was asked, or everything that is wrong with it.
fn question(args: &Compare, file: &Path) -> Result<Question, Exit> {
    let mut faults = Vec::new();
    let tolerance =
        typed::Options { faults: &mut faults }.value("tolerance", &args.tolerance, typed::tolerance);
    let document = input::document(&args.source)?;
    let scenario = input::scenario(&document)?;
    let (file, text) = input::read(file)?;
    let numbers = measured::read(&file, &text, scenario.spec());
    faults.extend(numbers.as_ref().err().into_iter().flatten().cloned());
    let unknowns: Vec<Result<Unknown, String>> =
        args.fit.iter().map(|typed| unknown(typed, &document)).collect();
    faults.extend(unknowns.iter().filter_map(|one| one.clone().err()));
    if args.fit.len() > MOST_UNKNOWNS {
        faults.push(format!("--fit: found {} keys, wanted at most {MOST_UNKNOWNS}", args.fit.len()));
    }
    let (Ok(numbers), true) = (numbers, faults.is_empty()) else { return Err(Exit::BadInput(faults)) };
    let unknowns = unknowns.into_iter().flatten().collect();
    let (asked, usual) = (args.model.0, Model::usual(&scenario));
    let is_other = asked.len() > 1 && asked.iter().all(|one| one.supports(&scenario).is_err());
    let models = if is_other { vec![usual] } else { asked.to_vec() };
    let is_quiet = args.campaign.quiet;
    Ok(Question { document, scenario, file, numbers, unknowns, tolerance, models, is_quiet })
}

impl Question {
    /// What is fitted by the usual model, else by the first that has the scenario, and the scenario with it.
    fn settled(&self) -> Result<(Vec<Fitted>, Scenario), Exit> {
        let has = |model: &&Model| model.supports(&self.scenario).is_ok();
        let usual = self.models.iter().find(|model| **model == Model::usual(&self.scenario)).filter(has);
        match usual.or_else(|| self.models.iter().find(has)) {
            Some(model) if !self.unknowns.is_empty() => {
                let found = self.fitted(*model)?;
                let values: Vec<f64> = found.iter().map(|one| one.value).collect();
                let scenario = with_values(&self.document, &self.unknowns, &values).map_err(Exit::input)?;
                Ok((found, scenario))
            }
            _ => Ok((Vec::new(), self.scenario.clone())),
        }
    }

    /// Unknown numbers at which a model is nearest to what was measured.
    fn fitted(&self, model: Model) -> Result<Vec<Fitted>, Exit> {
        let Self { document, unknowns, numbers, tolerance, .. } = self;
        let residuals = |values: &[f64]| {
            let scenario = with_values(document, unknowns, values).ok()?;
            let answer = model.solve(&scenario, &input::options(false)).ok()?;
            measured::residuals(&answer, numbers, *tolerance)
        };
        let (begun, middle) = (Instant::now(), unknowns.iter().map(Unknown::middle));
        residuals(&middle.collect::<Vec<f64>>());
        let all = begun.elapsed().as_secs_f64() * measured::most_solutions(unknowns) as f64;
        if all > LONG_SECONDS && !self.is_quiet {
            eprintln!("fitting by the {model} model, about {all:.0} s");
        }
        measured::fit(unknowns, &residuals).ok_or_else(|| {
            let keys: Vec<&str> = unknowns.iter().map(|unknown| unknown.key.as_str()).collect();
            Exit::input(format!(
                "--fit: found no values of {} at which the {model} model has all of these numbers, wanted another \
                 range",
                keys.join(", ")
            ))
        })
    }
}

pub(crate) fn run(args: &Compare, file: &Path) -> Result<(), Exit> {
    let question = question(args, file)?;
    let (fitted, scenario) = question.settled()?;
    let solved = |model: &Model| (*model, model.solve(&scenario, &input::options(false)));
    let answers: Vec<(Model, Result<Answer, Failure>)> = question.models.iter().map(solved).collect();
    let failures: Vec<&Failure> = answers.iter().filter_map(|(_, answer)| answer.as_ref().err()).collect();
    let refused = failures.iter().filter(|failure| failure.is_refusal()).count();
    if refused == answers.len() {
        let lines = |failure: &&Failure| input::refusals(&question.document, failure);
        return Err(Exit::BadInput(failures.iter().flat_map(lines).collect()));
    }
    let found: Vec<(Model, Option<&Answer>)> = answers
        .iter()
        .filter(|(_, answer)| !answer.as_ref().is_err_and(Failure::is_refusal))
        .map(|(model, answer)| (*model, answer.as_ref().ok()))
        .collect();
    let rows = measured::rows(&found, &question.numbers, scenario.spec(), question.tolerance);
    let mut notes: Vec<String> = failures.iter().map(ToString::to_string).collect();
    notes.extend(found.iter().flat_map(|(_, answer)| answer.iter().flat_map(|answer| answer.notes.clone())));
    let document = AgainstDocument {
        schema: "flitwise.against/1",
        flitwise_version: env!("CARGO_PKG_VERSION"),
        scenario: scenario.spec().clone(),
        against: question.file,
        tolerance: question.tolerance,
        beyond_tolerance: rows.iter().filter(|row| row.verdict.is_beyond_tolerance()).count(),
        fitted,
        numbers: rows,
        notes,
    };
    write(&document, args.format)?;
    match document.beyond_tolerance {
        _ if refused < failures.len() => Err(Exit::NotConverged("a model has no answer".to_owned())),
        0 => Ok(()),
        beyond => {
            let plural = if beyond == 1 { "difference" } else { "differences" };
            let tolerance = percent(document.tolerance);
            Err(Exit::Differs(format!("{beyond} {plural} beyond the tolerance of {tolerance}")))
        }
    }
}

fn write(document: &AgainstDocument, format: Format) -> Result<(), Exit> {
    match format {
        Format::Json => output::write_json(document),
        Format::Csv => {
            for Fitted { key, value, half_width_95, .. } in &document.fitted {
                let width = half_width_95.map_or(String::new(), |width| format!(" ±{width:.2e}"));
                eprintln!("fitted: {key} = {value}{width}");
            }
            csv(document)
        }
        Format::Table | Format::Markdown => {
            output::write_coloured(&page(document, format == Format::Markdown))
        }
    }
}

/// One row per number and model; what does not exist is empty.
fn csv(document: &AgainstDocument) -> Result<(), Exit> {
    let mut rows = csv::Writer::from_writer(Vec::new());
    rows.write_record([
        "class",
        "quantity",
        "deadline_cycles",
        "hops",
        "unit",
        "model",
        "model_value",
        "measured",
        "half_width_95",
        "difference",
        "difference_percent",
        "model_saturated",
        "verdict",
    ])?;
    for row in &document.numbers {
        rows.write_record([
            row.class.clone(),
            row.measure.quantity.word().to_owned(),
            text(row.measure.deadline_cycles),
            text(row.measure.hops),
            if row.unit.is_empty() { "probability".to_owned() } else { row.unit.clone() },
            row.model.to_string(),
            text(row.model_value),
            row.measured.to_string(),
            text(row.half_width_95),
            text(row.difference),
            text(row.difference_percent),
            row.model_saturated.to_string(),
            row.verdict.word().to_lowercase(),
        ])?;
    }
    output::write_csv(rows)
}

fn page(document: &AgainstDocument, markdown: bool) -> String {
    let mut page = Page::new(markdown);
    let network = output::network(&document.scenario.network);
    let mut models: Vec<&str> = document.numbers.iter().map(|row| row.model.word()).collect();
    models.dedup();
    let models = match models.iter().find(|model| **model != models[0]) {
        Some(other) => format!("{} and {other} models", models[0]),
        None => format!("{} model", models[0]),
    };
    page.title(&format!("{}: {network}, {models} beside {}", document.scenario.name, document.against));
    let heads = ["class", "quantity", "unit", "model", "value", "measured", "difference", "in %", "verdict"];
    let mut rows = Rows::new(&heads, markdown);
    for row in &document.numbers {
        let shown =
            |quantity: Quantity, value| if quantity.is_share() { share(value) } else { cycles(value) };
        let value = |value| shown(row.measure.quantity, value);
        let width = row.half_width_95.map_or(String::new(), |width| format!(" ±{}", value(Some(width))));
        rows.add([
            row.class.clone(),
            row.measure.name(),
            row.unit.clone(),
            row.model.to_string(),
            if row.model_saturated && row.model_value.is_none() {
                "saturated".to_owned()
            } else {
                value(row.model_value)
            },
            format!("{}{width}", value(Some(row.measured))),
            value(row.difference),
            signed(row.difference_percent, 1),
            row.verdict.word().to_owned(),
        ]);
    }
    page.rows(&rows);
    page.legend(
        "difference = model - measured, in % of what was measured; of probabilities: percentage points",
    );
    if !document.fitted.is_empty() {
        let mut rows = Rows::new(&["key", "value", "half-width", "looked for in"], markdown);
        for one in &document.fitted {
            let width =
                one.half_width_95.map_or_else(|| "not told".to_owned(), |width| format!("{width:.2e}"));
            rows.add([
                one.key.clone(),
                format!("{:.6}", one.value).trim_end_matches('0').trim_end_matches('.').to_owned(),
                width,
                format!("{} to {}", one.low, one.high),
            ]);
        }
        page.section("Fitted to what was measured, by least squares", &rows);
    }
    page.remarks(&document.notes);
    let count = |verdict: Verdict| document.numbers.iter().filter(|row| row.verdict == verdict).count();
    page.end(&format!(
        "{} agree within the interval, {} are close (within {}), {} are off",
        count(Verdict::Agrees),
        count(Verdict::Close),
        percent(document.tolerance),
        document.beyond_tolerance,
    ))
}
