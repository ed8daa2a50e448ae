//! `flitwise verify --accuracy`: errors of a model over a set of random scenarios.

mod anchored;
mod document;
mod page;
mod streams;

use flitwise_experiment::{self as experiment, Block, Settings};
use flitwise_language::scenario::{Fault, Scenario};
use flitwise_models::answer::Answer;
use flitwise_models::model::{Model, Options};
use flitwise_validation::accuracy::streams::StreamPlan;
use flitwise_validation::accuracy::{self, Case, Plan, Set, saturation};
use flitwise_validation::campaign;
use rayon::prelude::*;

use crate::args::{Format, Verify};
use crate::campaign::{Campaign, Means};
use crate::input;
use crate::outcome::Ended;
use crate::output;

pub(crate) use anchored::AnchoredAccuracyDocument;
pub(crate) use document::AccuracyDocument;
use document::{CaseEntry, PointEntry};
pub(crate) use streams::StreamAccuracyDocument;

pub(crate) fn run(args: &Verify) -> Result<(), Ended> {
    if args.set == anchored::SET {
        return anchored::run(args);
    }
    match set(args) {
        Ok(Set::Streams(plan)) => streams::run(args, &plan),
        Ok(Set::Scenarios(plan)) => of_scenarios(args, Ok(plan)),
        Err(ended) => of_scenarios(args, Err(ended)),
    }
}

/// Errors over a set of scenarios, or all that is wrong with the set and the options.
fn of_scenarios(args: &Verify, plan: Result<Plan, Ended>) -> Result<(), Ended> {
    let (mut campaign, plan) = Ended::both(Campaign::read(&args.campaign), plan)?;
    let cases = cases(args, &plan)?;
    // the finer of the two: the plan knows what its tables need
    campaign.settings.precision = campaign.settings.precision.min(plan.precision);
    let mut document = AccuracyDocument::new(args, &plan, &campaign.settings);
    if args.list {
        document.cases = cases.iter().map(CaseEntry::unsimulated).collect();
        return write(&document, args.format);
    }
    let names: Vec<&str> = cases.iter().map(|case| case.name.as_str()).collect();
    let model = args.model.unwrap_or(Model::Refined);
    let mut faults = Vec::new();
    document.partial = campaign.each(&names, |at, means| {
        match judged(model, &plan, &cases[at], &campaign.settings, means) {
            Ok(entry) => document.cases.push(entry?),
            Err(found) => faults.extend(found),
        }
        Some(())
    });
    if !faults.is_empty() {
        return Err(Ended::faults(&faults));
    }
    document.summarize();
    write(&document, args.format)?;
    if document.partial { Err(Ended::Interrupted) } else { Ok(()) }
}

/// The set that was asked for, or all that is wrong with it.
fn set(args: &Verify) -> Result<Set, Ended> {
    match args.set.as_str() {
        "tuning" => Ok(Set::Scenarios(Plan::tuning())),
        "holdout" => Ok(Set::Scenarios(Plan::holdout())),
        "networks" => Ok(Set::Scenarios(Plan::networks())),
        "streams" => Ok(Set::Streams(StreamPlan::streams())),
        file => {
            let (name, text) = input::read(file.as_ref())?;
            Set::from_toml(&name, &text).map_err(|faults| Ended::faults(&faults))
        }
    }
}

/// The cases that were asked for.
fn cases(args: &Verify, plan: &Plan) -> Result<Vec<Case>, Ended> {
    let cases = chosen(args, plan.cases(), |case| (&case.family, &case.name))?;
    let unsupported = cases.iter().filter_map(|case| experiment::supports(&case.scenario).err());
    match unsupported.flatten().next() {
        None => Ok(cases),
        Some(fault) => Err(Ended::faults(&[fault])),
    }
}

/// Of cases, which have a family and a name, those that `--only` names.
fn chosen<C>(args: &Verify, mut cases: Vec<C>, names: fn(&C) -> (&str, &str)) -> Result<Vec<C>, Ended> {
    let is_meant = |case: &C, name: &str| [names(case).0, names(case).1].contains(&name);
    let unknown = args.only.iter().filter(|name| !cases.iter().any(|case| is_meant(case, name)));
    let message = |name: &String| {
        let names = cases.iter().flat_map(|case| [names(case).0, names(case).1]);
        let near = flitwise_language::document::nearest(name, names);
        let help = near.map_or("--list prints names".to_owned(), |near| format!("did you mean {near}?"));
        format!("--only {name}: found no family or scenario of that name\n  help: {help}")
    };
    let faults: Vec<String> = unknown.map(message).collect();
    if !faults.is_empty() {
        return Err(Ended::BadInput(faults));
    }
    if !args.only.is_empty() {
        cases.retain(|case| args.only.iter().any(|name| is_meant(case, name)));
    }
    Ok(cases)
}

/// The model beside the simulation of one case; `None` if it was interrupted.
fn judged(
    model: Model,
    plan: &Plan,
    case: &Case,
    settings: &Settings,
    means: &mut Means<'_>,
) -> Result<Option<CaseEntry>, Vec<Fault>> {
    let mut notice = |text: &str| means.listener.notice(text);
    let loads = saturation::find(&case.scenario, settings, means.store, means.stop, &mut notice);
    let Some(loads) = loads else { return Ok(None) };
    let first = loads.iter().flatten().map(|load| load.factor).fold(f64::INFINITY, f64::min);
    let scenarios: Vec<Scenario> =
        plan.loads.iter().map(|load| case.at(load * first)).collect::<Result<_, _>>()?;
    let max_messages = settings.max_messages.min(plan.max_messages(&case.scenario));
    let settings = Settings { max_messages, ..settings.clone() };
    let observe = |scenario: &Scenario, blocks: &[Block]| accuracy::observe(scenario, &settings, blocks);
    let outcome =
        campaign::run_for(&scenarios, &settings, means.store, means.stop, means.listener, &observe)?;
    let Some(observations) = outcome.simulations.into_iter().collect::<Option<Vec<_>>>() else {
        return Ok(None);
    };
    let ask = |scenario: &Scenario, options: &Options| model.solve(scenario, options);
    let errors = accuracy::saturation_errors(&case.scenario, &loads, &ask);
    let mut entry = CaseEntry::new(case, &loads, errors);
    let options = Options { details: true, saturation_loads: false, ..Options::default() };
    let answer = |scenario: &Scenario| ask(scenario, &options).map_err(|failure| failure.to_string());
    let answers: Vec<Result<Answer, String>> = scenarios.par_iter().map(answer).collect();
    for ((load, answer), observation) in plan.loads.iter().zip(&answers).zip(&observations) {
        entry.points.push(PointEntry::new(*load, load * first, observation, answer.as_ref()));
    }
    Ok(Some(entry))
}

fn write(document: &AccuracyDocument, format: Format) -> Result<(), Ended> {
    match format {
        Format::Json => output::write_json_line(document),
        Format::Csv => page::csv(&document.summary),
        Format::Table => output::write_coloured(&page::page(document, false)),
        Format::Markdown => output::write(page::page(document, true).as_bytes()),
    }
}
