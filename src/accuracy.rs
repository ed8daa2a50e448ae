//! `flitwise verify --accuracy`: how far a model is off over a set of random scenarios.

mod document;
mod page;

use flitwise_models::answer::Answer;
use flitwise_models::published::{self, Failure, Options};
use flitwise_models::scenario::Scenario;
use flitwise_validation::accuracy::saturation::{self, SaturationLoad};
use flitwise_validation::accuracy::{self, Case, Observation, Plan};
use flitwise_validation::experiment;

use crate::args::{Format, Model, Verify};
use crate::campaign::Campaign;
use crate::input;
use crate::outcome::Ended;
use crate::output;

pub(crate) use document::AccuracyDocument;
use document::{CaseEntry, PointEntry};

/// What a model says of a scenario.
fn solve(model: Model, scenario: &Scenario, options: &Options) -> Result<Answer, Failure> {
    match model {
        Model::Published => published::solve(scenario, options),
    }
}

/// A case, where its classes saturate, and the points that follow from that.
struct Simulated {
    case: Case,
    loads: Vec<Option<SaturationLoad>>,
    /// Load factor at which the first class saturates.
    first: f64,
    points: Vec<(f64, Scenario)>,
}

pub(crate) fn run(args: &Verify) -> Result<(), Ended> {
    let (mut campaign, plan) = Ended::both(Campaign::read(&args.campaign), plan(args))?;
    let cases = cases(args, &plan)?;
    // the finer of the two: the plan knows what its tables need
    campaign.settings.precision = campaign.settings.precision.min(plan.precision);
    campaign.settings.max_messages = campaign.settings.max_messages.min(plan.max_messages);
    let mut document = AccuracyDocument::new(args, &plan, &campaign.settings);
    if args.list {
        document.cases = cases.iter().map(CaseEntry::unsimulated).collect();
        return write(&document, args.format);
    }
    let (simulated, interrupted) = saturations(&campaign, &plan, cases)?;
    let scenarios: Vec<Scenario> =
        simulated.iter().flat_map(|one| one.points.iter().map(|(_, scenario)| scenario.clone())).collect();
    document.partial = interrupted;
    let mut observations = Vec::new();
    if !interrupted {
        let (seed, precision) = (campaign.settings.seed, campaign.settings.precision);
        let outcome = campaign
            .run_for(&scenarios, &|scenario, blocks| accuracy::observe(scenario, seed, precision, blocks))
            .map_err(|faults| Ended::faults(&faults))?;
        document.partial = outcome.interrupted;
        observations = outcome.simulations;
    }
    let mut observations = observations.into_iter();
    for one in &simulated {
        let of_case: Vec<Option<Observation>> = observations.by_ref().take(one.points.len()).collect();
        document.cases.push(judged(args.model, one, &of_case));
    }
    document.summarize();
    write(&document, args.format)?;
    if document.partial { Err(Ended::Interrupted) } else { Ok(()) }
}

/// The plan that was asked for, or all that is wrong with it.
fn plan(args: &Verify) -> Result<Plan, Ended> {
    match args.set.as_str() {
        "tuning" => Ok(Plan::tuning()),
        "holdout" => Ok(Plan::holdout()),
        file => {
            let (name, text) = input::read(file.as_ref())?;
            Plan::from_toml(&name, &text).map_err(|faults| Ended::faults(&faults))
        }
    }
}

/// The cases that were asked for.
fn cases(args: &Verify, plan: &Plan) -> Result<Vec<Case>, Ended> {
    let mut cases = plan.cases();
    let is_meant = |case: &Case, name: &str| case.family == name || case.name == name;
    let unknown = args.only.iter().filter(|name| !cases.iter().any(|case| is_meant(case, name)));
    let message = |name: &String| {
        let names = cases.iter().flat_map(|case| [case.family.as_str(), case.name.as_str()]);
        let near = flitwise_models::document::nearest(name, names);
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
    let unsupported = cases.iter().filter_map(|case| experiment::supports(&case.scenario).err());
    match unsupported.flatten().next() {
        None => Ok(cases),
        Some(fault) => Err(Ended::faults(&[fault])),
    }
}

/// Where all cases saturate; those before an interruption, and whether there was one.
fn saturations(campaign: &Campaign, plan: &Plan, cases: Vec<Case>) -> Result<(Vec<Simulated>, bool), Ended> {
    let mut found = Vec::with_capacity(cases.len());
    let all = cases.len();
    let interrupted = campaign.each(all, |at, search| {
        let case: &Case = &cases[at];
        let loads = saturation::find(
            &case.scenario,
            &campaign.settings,
            search.store,
            search.stop,
            &mut *search.notice,
        )?;
        found.push(loads);
        Some(case.name.clone())
    });
    let mut simulated = Vec::with_capacity(found.len());
    for (case, loads) in cases.into_iter().zip(found) {
        let first = loads.iter().flatten().map(|load| load.factor).fold(f64::INFINITY, f64::min);
        let mut points = Vec::new();
        for share in &plan.loads {
            let scenario = case.at(share * first).map_err(|faults| Ended::faults(&faults))?;
            points.push((*share, scenario));
        }
        simulated.push(Simulated { case, loads, first, points });
    }
    Ok((simulated, interrupted))
}

/// The model beside the simulation of one case.
fn judged(model: Model, simulated: &Simulated, observations: &[Option<Observation>]) -> CaseEntry {
    let scenario = &simulated.case.scenario;
    let errors =
        accuracy::saturation_errors(scenario, &simulated.loads, &|scenario, options| {
            solve(model, scenario, options)
        });
    let mut entry = CaseEntry::new(&simulated.case, &simulated.loads, errors);
    let options = Options { details: true, saturation_loads: false, ..Options::default() };
    for ((load, scenario), observation) in simulated.points.iter().zip(observations) {
        let Some(observation) = observation else { continue };
        let answer = solve(model, scenario, &options).map_err(|failure| failure.to_string());
        let factor = load * simulated.first;
        entry.points.push(PointEntry::new(*load, factor, observation, answer.as_ref()));
    }
    entry
}

fn write(document: &AccuracyDocument, format: Format) -> Result<(), Ended> {
    match format {
        Format::Json => output::write_json_line(document),
        Format::Csv => page::csv(document),
        Format::Table => output::write_coloured(&page::page(document, false)),
        Format::Markdown => output::write(page::page(document, true).as_bytes()),
    }
}
