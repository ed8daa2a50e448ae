//! `flitwise plan`: loads and values at which requirements hold.

mod anchored;
mod choose;
mod confirm;
mod max_load;
mod picture;
mod region;

use flitwise_language::document::{Document, Fault, one_of};
use flitwise_language::scenario::{Scenario, ScenarioSpec};
use flitwise_models::design::max_load::{Place, Status};
use flitwise_models::design::{Binding, Judge, Requirement, Term};
use flitwise_models::model::{Failure, Model};
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::ModelChoice;
use crate::args::plan::{Demand, Plan};
use crate::input;
use crate::outcome::Exit;
use crate::output::{Rows, Time, cycles, share};

pub(crate) fn run(plan: &Plan) -> Result<(), Exit> {
    match plan {
        Plan::MaxLoad(args) => max_load::run(args),
        Plan::Choose(args) => choose::run(args),
        Plan::Region(args) => region::run(args),
    }
}

/// The answer of `flitwise plan .. --format json`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum PlanDocument<'d> {
    /// Of `flitwise plan max-load`.
    MaxLoad(&'d max_load::MaxLoadDocument),
    /// Of `flitwise plan choose`.
    Choose(&'d choose::ChooseDocument),
    /// Of `flitwise plan region`.
    Region(&'d region::RegionDocument),
}

const SCHEMA: &str = "flitwise.plan/3";
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What all questions begin with.
struct PlanRequest {
    document: Document,
    scenario: Scenario,
    judge: Judge,
    is_anchored: bool,
}

impl PlanRequest {
    /// Scenario and requirements, or all that is wrong with them.
    fn read(args: &Demand) -> Result<Self, Exit> {
        let document = input::document(&args.source)?;
        let scenario = input::scenario(&document)?;
        let requirements = Requirement::read_all("--require", &args.requirements, scenario.spec());
        let requirements = requirements.map_err(|faults| Exit::faults(&faults))?;
        let is_anchored = args.model == Some(ModelChoice::Anchored);
        if args.anchors.is_some() && !is_anchored {
            return Err(Exit::input(
                "--anchors: found a model that simulates nothing, wanted --model anchored with it",
            ));
        }
        let judge = Judge::new(args.model.map(ModelChoice::model), requirements);
        Ok(Self { document, scenario, judge, is_anchored })
    }

    /// Refuses what the model that answers has not.
    fn check(&self) -> Result<(), Exit> {
        self.model().supports(&self.scenario).map_err(|failure| self.failure(&failure))?;
        let faults = self.judge.unanswerable(&self.scenario);
        if faults.is_empty() { Ok(()) } else { Err(Exit::BadInput(faults)) }
    }

    fn model(&self) -> Model {
        self.judge.model_of(&self.scenario)
    }

    /// Who answers.
    fn answering(&self) -> ModelChoice {
        if self.is_anchored { ModelChoice::Anchored } else { self.model().into() }
    }

    fn failure(&self, failure: &Failure) -> Exit {
        input::failure(&self.document, failure)
    }

    /// The classes whose rates `keys` are, typed after `option`.
    fn rates(&self, option: &str, keys: &[String]) -> Result<Vec<usize>, Exit> {
        let (mut found, mut faults): (Vec<usize>, Vec<String>) = (Vec::new(), Vec::new());
        for key in keys {
            match classes_of(key, self.scenario.spec()) {
                Ok(classes) => found.extend(classes),
                Err(fault) => faults.push(format!("{option} {key}: {fault}")),
            }
        }
        if !faults.is_empty() {
            return Err(Exit::BadInput(faults));
        }
        let mut seen = Vec::new();
        found.retain(|class| {
            let is_new = !seen.contains(class);
            seen.push(*class);
            is_new
        });
        Ok(found)
    }
}

/// The classes that `class.NAME.rate` or `class.*.rate` is about.
fn classes_of(key: &str, spec: &ScenarioSpec) -> Result<Vec<usize>, String> {
    let name = key.trim().strip_prefix("class.").and_then(|rest| rest.strip_suffix(".rate"));
    let names = || spec.classes.iter().map(|class| class.name.as_str());
    match name {
        Some("*") => Ok((0..spec.classes.len()).collect()),
        Some(name) => match names().position(|known| known == name) {
            Some(class) => Ok(vec![class]),
            None => Err(format!(
                "found class \"{name}\", wanted class.NAME.rate with NAME one of {}",
                one_of(names())
            )),
        },
        None => {
            let help =
                names().find(|known| *known == key.trim()).map(|name| format!("\n  help: class.{name}.rate"));
            Err(format!("found no rate, wanted class.NAME.rate{}", help.unwrap_or_default()))
        }
    }
}

/// Faults of a scenario that were made by what is asked of it.
fn faults(faults: Vec<Fault>) -> Exit {
    Exit::faults(&faults)
}

/// How requirements came out, as a table.
fn requirements(places: &[Place], time: Time, markdown: bool) -> Rows {
    let heads = ["requirement", "status", "class", "value", "limit", "left"];
    let mut rows = Rows::new(&heads, markdown);
    for place in places {
        let factor = if place.unit == Time::CYCLES.unit { time.per_cycle } else { 1.0 };
        let number = |value: Option<f64>| {
            let value = value.map(|value| value * factor);
            if place.unit.is_empty() { share(value) } else { cycles(value) }
        };
        let left = place.distance.map_or_else(|| "-".to_owned(), |left| format!("{:.1} %", 100.0 * left));
        let name = place.class.clone().unwrap_or_else(|| "-".to_owned());
        let value = if place.reason.as_deref() == Some("saturated") {
            "saturated".to_owned()
        } else {
            number(place.value)
        };
        rows.add([
            place.requirement.clone(),
            words(place.status).to_owned(),
            name,
            value,
            number(Some(place.limit)),
            left,
        ]);
    }
    rows
}

fn words(status: Status) -> &'static str {
    match status {
        Status::Binds => "binds",
        Status::Holds => "holds",
        Status::HoldsUpToSaturation => "holds up to saturation",
        Status::Unreachable => "UNREACHABLE",
        Status::Silent => "nothing is sent",
    }
}

fn term(term: Term) -> &'static str {
    match term {
        Term::Transfer => "transfer",
        Term::Blocking => "blocking",
        Term::Sharing => "sharing",
        Term::Waiting => "waiting",
        Term::Saturation => "saturation",
        Term::Unknown => "unknown",
    }
}

/// What binds, in a sentence without its end.
fn binds(binding: &Binding) -> String {
    let at = if binding.channel == "-" { String::new() } else { format!(", {}", binding.channel) };
    format!("class {}, {}{at}: {}", binding.class, term(binding.term), binding.because)
}

/// Classes that are saturated where no requirement is about them.
fn saturated(scenario: &Scenario, judge: &Judge, answer: &flitwise_models::answer::Answer) -> Vec<String> {
    let about = |name: &str| judge.requirements.iter().any(|one| one.is_about(name));
    let classes = scenario.classes().iter().zip(&answer.classes);
    let beside = classes.filter(|(class, found)| found.saturated && !about(&class.name));
    beside
        .map(|(class, _)| format!("class {} is saturated there; no requirement is about it", class.name))
        .collect()
}
