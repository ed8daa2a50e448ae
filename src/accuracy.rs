//! `flitwise verify --accuracy`: errors of a model over a set of random scenarios.

mod anchored;
mod document;
mod page;

use flitwise_experiment::{Block, Settings};
use flitwise_language::quantity::Quantity;
use flitwise_language::scenario::{Fault, Scenario};
use flitwise_models::answer::Answer;
use flitwise_models::model::{Model, Options};
use flitwise_validation::accuracy::{self, Case, Kind, Plan, saturation};
use flitwise_validation::campaign;
use rayon::prelude::*;

use crate::args::Verify;
use crate::campaign::{Campaign, Means};
use crate::input;
use crate::outcome::Exit;

pub(crate) use anchored::AnchoredAccuracyDocument;
pub(crate) use document::AccuracyDocument;
use document::{CaseEntry, Point, PointEntry};

/// Errors over a set of scenarios, or all that is wrong with the set and the options.
pub(crate) fn run(args: &Verify) -> Result<(), Exit> {
    let (mut campaign, plan) = Exit::both(Campaign::read(&args.campaign), plan(args))?;
    let model = model(args, &plan)?;
    let cases = chosen(args, plan.cases())?;
    if args.campaign.precision.is_none() {
        // the plan knows what its tables need
        campaign.settings.precision = plan.precision;
    }
    if !plan.parts.is_empty() {
        return anchored::run(args, &plan, &cases, &campaign);
    }
    let mut document = AccuracyDocument::new(args, &plan, model, &campaign.settings);
    if args.list {
        document.cases = cases.into_iter().map(CaseEntry::unsimulated).collect();
        return document.write(args);
    }
    let names: Vec<&str> = cases.iter().map(|case| case.name.as_str()).collect();
    let mut faults = Vec::new();
    document.partial = campaign.each(&names, |at, means| {
        match judged(model, &plan, cases[at], &campaign.settings, means) {
            Ok(entry) => document.cases.push(entry?),
            Err(found) => faults.extend(found),
        }
        Some(())
    });
    if !faults.is_empty() {
        return Err(Exit::faults(&faults));
    }
    document.summarize(&plan);
    document.write(args)?;
    if document.partial { Err(Exit::Interrupted) } else { Ok(()) }
}

/// The set that was asked for, or all that is wrong with it.
fn plan(args: &Verify) -> Result<Plan, Exit> {
    if let Some(plan) = Plan::registered(&args.set) {
        return Ok(plan);
    }
    let (name, text) = input::read(args.set.as_ref())?;
    Plan::from_toml(&name, &text).map_err(|faults| Exit::faults(&faults))
}

/// The model to judge.
fn model(args: &Verify, plan: &Plan) -> Result<Model, Exit> {
    let Some(model) = args.model else { return Ok(plan.model) };
    let refused = |found: &str| Err(Exit::input(format!("--model {model}: found a set {found}")));
    if !plan.parts.is_empty() {
        return refused(
            "on which the published, the refined and the anchored model are judged, wanted no --model with it",
        );
    }
    if plan.kind == Kind::Streams && model != plan.model {
        let of = plan.model;
        return refused(&format!(
            "of streams of frames, which the {of} model answers, wanted no other --model with it"
        ));
    }
    Ok(model)
}

/// The cases that `--only` names by themselves or their families; all without it.
fn chosen<'c>(args: &Verify, cases: &'c [Case]) -> Result<Vec<&'c Case>, Exit> {
    let is_meant = |case: &Case, name: &String| *name == case.family || *name == case.name;
    let unknown = args.only.iter().filter(|name| !cases.iter().any(|case| is_meant(case, name)));
    let message = |name: &String| {
        let names = cases.iter().flat_map(|case| [case.family.as_str(), &case.name]);
        let near = flitwise_language::document::nearest(name, names);
        let help = near.map_or("--list prints names".to_owned(), |near| format!("did you mean {near}?"));
        format!("--only {name}: found no family or scenario of that name\n  help: {help}")
    };
    let faults: Vec<String> = unknown.map(message).collect();
    if !faults.is_empty() {
        return Err(Exit::BadInput(faults));
    }
    let is_chosen = |case: &&Case| args.only.is_empty() || args.only.iter().any(|name| is_meant(case, name));
    Ok(cases.iter().filter(is_chosen).collect())
}

/// The model beside the simulation of one case; `None` if it was interrupted.
fn judged(
    model: Model,
    plan: &Plan,
    case: &Case,
    settings: &Settings,
    means: &mut Means<'_>,
) -> Result<Option<CaseEntry>, Vec<Fault>> {
    let ask = |scenario: &Scenario, options: &Options| model.solve(scenario, options);
    let mut entry = CaseEntry::unsimulated(case);
    if plan.quantities.contains(&Quantity::SaturationLoad) {
        let mut notice = |text: &str| means.listener.notice(text);
        let loads = saturation::find(&case.scenario, settings, means.store, &means.host, &mut notice);
        let Some(loads) = loads else { return Ok(None) };
        entry.saturates(accuracy::saturation_errors(&case.scenario, &loads, &ask));
    }
    entry.saturation_factor = case.saturation_factor();
    let Some(first) = entry.saturation_factor else {
        means
            .listener
            .notice(&format!("{}: left out, its load of saturation takes too long to find", case.name));
        return Ok(Some(entry));
    };
    let scenarios: Vec<Scenario> =
        plan.loads.iter().map(|load| case.at(load * first)).collect::<Result<_, _>>()?;
    let max_messages = settings.max_messages.min(plan.max_messages(&case.scenario));
    let settings = Settings { max_messages, ..settings.clone() };
    let observe = |scenario: &Scenario, blocks: &[Block]| accuracy::observe(scenario, &settings, blocks);
    let outcome =
        campaign::run_for(&scenarios, &settings, means.store, &means.host, means.listener, &observe)?;
    let Some(observations) = outcome.simulations.into_iter().collect::<Option<Vec<_>>>() else {
        return Ok(None);
    };
    let options = Options { details: true, saturation_loads: false, ..Options::default() };
    let answer = |scenario: &Scenario| ask(scenario, &options).map_err(|failure| failure.to_string());
    let answers: Vec<Result<Answer, String>> = scenarios.par_iter().map(answer).collect();
    for (at, load) in plan.loads.iter().enumerate() {
        entry.points.push(PointEntry::new(
            &plan.quantities,
            &Point {
                load: *load,
                factor: load * first,
                scenario: &scenarios[at],
                observation: &observations[at],
                answer: answers[at].as_ref().map_err(String::as_str),
            },
        ));
    }
    Ok(Some(entry))
}
