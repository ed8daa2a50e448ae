//! `flitwise plan max-load`.

use std::collections::BTreeMap;

use flitwise_language::scenario::{ClassSpec, ScenarioSpec};
use flitwise_models::design::Binding;
use flitwise_models::design::max_load::{LargestLoad, Place, Question};
use schemars::JsonSchema;
use serde::Serialize;

use super::anchored::{self, Family, IntervalEnd};
use super::confirm::{self, Confirmation};
use super::{PlanDocument, PlanRequest, SCHEMA, VERSION, binds, faults, requirements, saturated, words};
use crate::anchoring::Account;
use crate::args::plan::MaxLoad;
use crate::args::{Format, ModelChoice};
use crate::outcome::Exit;
use crate::output::{self, Page, Rows, Time};
use crate::signals::unless_stopped;

/// The answer of `flitwise plan max-load --format json`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct MaxLoadDocument {
    /// `flitwise.plan/3`.
    schema: &'static str,
    /// Version of flitwise that made it.
    flitwise_version: &'static str,
    /// `max-load`.
    plan: &'static str,
    /// Which model answers.
    model: ModelChoice,
    /// The scenario at factor 1.
    #[serde(serialize_with = "ScenarioSpec::serialize_plainly")]
    scenario: ScenarioSpec,
    /// Classes whose rates grow together.
    scaled: Vec<String>,
    /// The largest factor on these rates at which all requirements hold; `null`: at none.
    factor: Option<f64>,
    /// Where the factor lies with a probability of 95 %, by the intervals of the anchored model; `null`: nowhere. Other
    /// models leave it out.
    #[serde(skip_serializing_if = "Option::is_none")]
    factor_interval_95: Option<[Option<f64>; 2]>,
    /// How the anchored model was anchored; other models leave it out.
    #[serde(skip_serializing_if = "Option::is_none")]
    anchoring: Option<Account>,
    /// The factor just beyond at which one is broken; `null`: the rates cannot grow further.
    broken_at_factor: Option<f64>,
    /// The rates of all classes there, by name \[messages/cycle/node\]; `null` if there is no such factor.
    rates: Option<BTreeMap<String, f64>>,
    /// The streams of frames at each node there, of classes that have any.
    #[serde(skip_serializing_if = "Option::is_none")]
    streams: Option<BTreeMap<String, u32>>,
    /// What breaks first; `null`: nothing up to the highest rates there can be.
    binding: Option<Binding>,
    /// How each requirement stands at the answer, or with next to no load if there is none.
    requirements: Vec<Place>,
    /// Whether all requirements were seen to hold again at a higher load.
    several_crossings: bool,
    /// Whether one was seen to be broken at a lower load.
    broken_at_lower_load: bool,
    /// Scenarios solved by the model that answers.
    evaluations: u32,
    /// Scenarios solved by the published model for a first guess.
    guess_evaluations: u32,
    /// The simulation's verdicts, if they were asked for.
    confirmed: Option<Vec<Confirmation>>,
    /// What one should know about this answer.
    notes: Vec<String>,
}

pub(super) fn run(args: &MaxLoad) -> Result<(), Exit> {
    let asked = PlanRequest::read(&args.required);
    let (asked, campaign) = Exit::both(asked, confirm::campaign(&args.confirm))?;
    asked.check()?;
    let all = ["class.*.rate".to_owned()];
    let classes = asked.rates("--scale", if args.scale.is_empty() { &all } else { &args.scale })?;
    let spec = asked.scenario.spec();
    if classes.iter().all(|class| spec.classes[*class].rate == 0.0) {
        let wanted = "wanted a rate that grows when multiplied\n  help: --set class.NAME.rate=0.001";
        return Err(Exit::input(format!("--scale: found rates that are all 0, {wanted}")));
    }
    if campaign.is_some() {
        confirm::supported(&asked.scenario)?;
    }
    if asked.is_anchored {
        anchored::check(&asked)?;
    }
    let question = Question::new(asked.judge.clone(), spec, classes.clone()).map_err(faults)?;
    let mut found = largest(&asked, question.clone())?;
    let mut corrected = None;
    if let (true, Some(factor)) = (asked.is_anchored, found.factor) {
        let (required, campaign) = (&args.required, &args.confirm.campaign);
        let family = anchored::of_load(required, campaign, &asked, &classes, &question, factor)?;
        let of = |taken: IntervalEnd| {
            let question = Question::new(family.judge(&asked.judge, taken), spec, classes.clone());
            largest(&asked, question.map_err(faults)?)
        };
        found = of(IntervalEnd::Middle)?;
        // the upper ends of what is bounded from above break first
        let ends = [of(IntervalEnd::Upper)?.factor, of(IntervalEnd::Lower)?.factor];
        corrected = Some((family, ends));
    }
    if let (None, Err(failure)) = (found.factor, &found.judged.answer) {
        return Err(asked.failure(failure));
    }
    let (confirmed, interrupted) = match (&campaign, found.factor) {
        (Some(campaign), Some(factor)) => {
            let beyond = question.scenario_at(factor * confirm::BEYOND);
            let at = [(1.0, Some(found.scenario.clone())), (confirm::BEYOND, beyond)];
            let (confirmed, interrupted) = confirm::run(campaign, &asked.judge, at)?;
            (Some(confirmed), interrupted)
        }
        _ => (None, false),
    };
    let document = document(&asked, &classes, found, corrected, confirmed);
    write(&document, args.required.format)?;
    confirm::end(document.confirmed.as_deref(), interrupted)
}

/// What a question finds.
fn largest(asked: &PlanRequest, question: Question) -> Result<LargestLoad, Exit> {
    unless_stopped(move || question.answer())
        .ok_or_else(|| Exit::InterruptedAt("the largest load was not found yet".to_owned()))?
        .map_err(|failure| asked.failure(&failure))
}

fn document(
    asked: &PlanRequest,
    classes: &[usize],
    found: LargestLoad,
    corrected: Option<(Family, [Option<f64>; 2])>,
    confirmed: Option<Vec<Confirmation>>,
) -> MaxLoadDocument {
    let mut notes = Vec::new();
    if let Ok(answer) = &found.judged.answer {
        notes.extend(saturated(&found.scenario, &asked.judge, answer));
        notes.extend(answer.notes.iter().cloned());
    }
    if found.several {
        notes.push("the requirements hold again at a higher load: this is the first limit".to_owned());
    }
    if found.broken_below {
        notes.push(
            "a requirement is broken at some lower load, too: reserved shares follow the rates unless vtick is given"
                .to_owned(),
        );
    }
    if found.factor.is_some() && found.broken_at.is_none() {
        notes.push("nothing breaks up to the highest load that a scenario can have".to_owned());
    }
    if asked.is_anchored && corrected.is_none() {
        notes.push("the refined model finds no such load, so that nothing was anchored".to_owned());
    }
    let account = corrected.as_ref().map(|(family, _)| family.account.remarks());
    notes.extend(account.into_iter().flatten());
    let spec = asked.scenario.spec();
    let classes_there = || found.scenario.classes().iter().filter(|_| found.factor.is_some());
    let streams = |class: &ClassSpec| Some((class.name.clone(), class.source.streams()?));
    let streams: BTreeMap<String, u32> = classes_there().filter_map(streams).collect();
    let streams = (!streams.is_empty()).then_some(streams);
    let rates = found.scenario.classes().iter().map(|class| (class.name.clone(), class.rate)).collect();
    MaxLoadDocument {
        schema: SCHEMA,
        flitwise_version: VERSION,
        plan: "max-load",
        model: asked.answering(),
        scenario: spec.clone(),
        scaled: classes.iter().map(|class| spec.classes[*class].name.clone()).collect(),
        factor: found.factor,
        factor_interval_95: corrected.as_ref().map(|(_, interval)| *interval),
        anchoring: corrected.as_ref().map(|(family, _)| family.account.clone()),
        broken_at_factor: found.broken_at,
        rates: found.factor.map(|_| rates),
        streams,
        binding: found.binding,
        requirements: found.requirements,
        several_crossings: found.several,
        broken_at_lower_load: found.broken_below,
        evaluations: found.evaluations,
        guess_evaluations: found.guess_evaluations,
        confirmed,
        notes,
    }
}

fn write(document: &MaxLoadDocument, format: Format) -> Result<(), Exit> {
    match format {
        Format::Json => output::write_json(&PlanDocument::MaxLoad(document)),
        Format::Csv => csv(document),
        Format::Table | Format::Markdown => {
            output::write_coloured(&page(document, format == Format::Markdown))
        }
    }
}

/// One row per requirement; what does not exist is empty.
fn csv(document: &MaxLoadDocument) -> Result<(), Exit> {
    let text = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    let mut rows = csv::Writer::from_writer(Vec::new());
    rows.write_record(["requirement", "status", "class", "value", "limit", "unit", "distance", "factor"])?;
    for place in &document.requirements {
        rows.write_record([
            place.requirement.clone(),
            words(place.status).to_lowercase(),
            place.class.clone().unwrap_or_default(),
            text(place.value),
            place.limit.to_string(),
            if place.unit.is_empty() { "share".to_owned() } else { place.unit.to_owned() },
            text(place.distance),
            text(document.factor),
        ])?;
    }
    output::write_csv(rows)
}

fn page(document: &MaxLoadDocument, markdown: bool) -> String {
    let mut page = Page::new(markdown);
    let spec = &document.scenario;
    let network = output::network(&spec.network);
    page.title(&format!("{}: {network}, {} model, largest load", spec.name, document.model));
    if let Some(rates) = &document.rates {
        page.rows(&rates_of(document, rates, markdown));
    }
    let scaled = document.scaled.join(", ");
    match document.factor {
        Some(factor) => {
            let ends = document.factor_interval_95.map_or_else(String::new, |ends| {
                let [lower, upper] = ends.map(|end| end.map_or_else(|| "none".to_owned(), digits));
                format!(" ({lower} to {upper})")
            });
            let what = if document.streams.is_none() { "rates" } else { "loads" };
            page.legend(&format!("largest factor on the {what} of {scaled}: {}{ends}", digits(factor)));
        }
        None => page.legend(&format!("no load of {scaled} satisfies all requirements")),
    }
    let title =
        if document.factor.is_some() { "Requirements there" } else { "Requirements with next to no load" };
    page.section(title, &requirements(&document.requirements, Time::of(&document.scenario), markdown));
    if let Some(confirmed) = &document.confirmed {
        page.section("Simulated", &confirm::rows(confirmed, markdown));
    }
    let mut remarks = Vec::new();
    if let Some(binding) = &document.binding {
        let what = match document.broken_at_factor {
            Some(factor) => format!("{} breaks at {}", binding.requirement, digits_up(factor)),
            None => format!("{} cannot be had", binding.requirement),
        };
        remarks.push(format!("{what}: {}", binds(binding)));
    }
    remarks.extend(document.notes.iter().cloned());
    remarks.extend(confirm::remark(document.confirmed.as_deref()));
    page.remarks(&remarks);
    let guess = match document.guess_evaluations {
        0 => String::new(),
        count => format!(", {count} by the published model for a first guess"),
    };
    page.end(&format!("{} scenarios solved{guess}", document.evaluations))
}

fn rates_of(document: &MaxLoadDocument, rates: &BTreeMap<String, f64>, markdown: bool) -> Rows {
    let streams = document.streams.as_ref();
    // rates of packet switches are those of their scenario, in which times are in ns
    let time = if Time::of(&document.scenario).unit == Time::CYCLES.unit { "cycle" } else { "ns" };
    let rate = format!("rate [messages/{time}/node]");
    let heads = ["class", &rate, "at factor 1", "streams per node"];
    let mut rows = Rows::new(&heads[..if streams.is_none() { 3 } else { 4 }], markdown);
    for class in &document.scenario.classes {
        let rate = rates.get(&class.name).copied().unwrap_or(class.rate);
        let mut row = vec![class.name.clone(), digits(rate), digits(class.rate)];
        if let Some(streams) = streams {
            row.push(streams.get(&class.name).map_or_else(|| "-".to_owned(), u32::to_string));
        }
        rows.add(row);
    }
    rows
}

/// Five digits, rounded down: what is printed satisfies the requirements as what was found does.
pub(super) fn digits(value: f64) -> String {
    rounded(value, f64::floor)
}

/// Five digits, rounded up.
fn digits_up(value: f64) -> String {
    rounded(value, f64::ceil)
}

fn rounded(value: f64, how: fn(f64) -> f64) -> String {
    if value <= 0.0 || !value.is_finite() {
        return value.to_string();
    }
    let scale = 10f64.powi(4 - value.log10().floor() as i32);
    // a last digit of rounding is no reason to go down by one
    let nudge = if how(0.5) == 0.0 { 1.0 + 1e-12 } else { 1.0 - 1e-12 };
    let rounded = how(value * scale * nudge) / scale;
    format!("{rounded:.4e}").parse::<f64>().unwrap_or(rounded).to_string()
}
