//! Simulates the answer of a plan and judges each requirement.

use flitwise_experiment::answer::ConfidenceInterval;
use flitwise_experiment::answer::{ClassSimulation, Simulation};
use flitwise_language::quantity::Quantity;
use flitwise_language::scenario::Scenario;
use flitwise_models::design::{Judge, Requirement};
use flitwise_validation::machine;
use schemars::JsonSchema;
use serde::Serialize;

use super::faults;
use crate::args::plan::Confirm;
use crate::campaign::Campaign;
use crate::outcome::Exit;
use crate::output::{Rows, share, with_interval};

/// A little beyond: rates are multiplied by this.
pub(super) const BEYOND: f64 = 1.05;

/// A scenario that was simulated.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Confirmation {
    /// 1 at the answer; rates beyond it are those of the answer times this.
    load_factor: f64,
    /// Independent runs behind the numbers.
    replications: u32,
    /// Whether the store had more than was asked for, which is used.
    more_than_asked: bool,
    /// Classes that are saturated.
    saturated: Vec<String>,
    /// One per requirement and class that it is about.
    requirements: Vec<Verdict>,
}

/// What a simulation says of a requirement.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct Verdict {
    /// As it would be typed.
    requirement: String,
    /// The class.
    class: String,
    /// The simulated value with its 95 % interval; `null` if there is none.
    simulated: Option<ConfidenceInterval>,
    /// The limit.
    limit: f64,
    /// `cycles`, or empty for a share.
    unit: &'static str,
    /// What follows.
    verdict: Outcome,
}

/// Whether a requirement holds, by its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Outcome {
    /// The interval lies within the limit.
    Holds,
    /// It lies beyond, or the class is saturated.
    Violated,
    /// The limit lies within the interval, or there is none.
    Undecided,
    /// No simulation measures such a quantity.
    NotSimulated,
}

/// How to simulate, if that is wanted.
pub(super) fn campaign(args: &Confirm) -> Result<Option<Campaign>, Exit> {
    // without need no store is opened
    args.confirm.then(|| Campaign::read(&args.campaign)).transpose()
}

/// Refuses what the simulator has no means for, before anything is searched.
pub(super) fn supported(scenario: &Scenario) -> Result<(), Exit> {
    machine::supports(scenario).map_err(faults)
}

/// Simulates the answer and what is beyond it; also whether that was interrupted.
pub(super) fn run(
    campaign: &Campaign,
    judge: &Judge,
    at: [(f64, Option<Scenario>); 2],
) -> Result<(Vec<Confirmation>, bool), Exit> {
    let at: Vec<(f64, Scenario)> = at.into_iter().filter_map(|(load, one)| Some((load, one?))).collect();
    let scenarios: Vec<Scenario> = at.iter().map(|(_, scenario)| scenario.clone()).collect();
    let outcome = campaign.run(&scenarios).map_err(faults)?;
    let simulated = at.iter().zip(&outcome.simulations);
    let confirmed = simulated.filter_map(|((load, scenario), simulation)| {
        Some(confirmed(judge, *load, scenario, simulation.as_ref()?))
    });
    Ok((confirmed.collect(), outcome.interrupted))
}

fn confirmed(judge: &Judge, load_factor: f64, scenario: &Scenario, simulation: &Simulation) -> Confirmation {
    let sending = |class: &&ClassSimulation| {
        scenario.classes().iter().any(|asked| asked.name == class.name && asked.rate > 0.0)
    };
    let of = |requirement: &Requirement| -> Vec<Verdict> {
        let classes = simulation.classes.iter().filter(sending);
        let about = classes.filter(|class| requirement.is_about(&class.name));
        about.map(|class| verdict(requirement, class)).collect()
    };
    let saturated = simulation.classes.iter().filter(|class| class.saturated);
    Confirmation {
        load_factor,
        replications: simulation.run.replications,
        more_than_asked: simulation.run.more_than_asked,
        saturated: saturated.map(|class| class.name.clone()).collect(),
        requirements: judge.requirements.iter().flat_map(of).collect(),
    }
}

fn verdict(requirement: &Requirement, class: &ClassSimulation) -> Verdict {
    let quantity = requirement.measure.quantity;
    let simulated = class.value(requirement.measure).filter(|_| !class.saturated);
    let steady_is_asked = quantity == Quantity::Margin && requirement.limit == 0.0;
    let verdict = match simulated {
        _ if class.saturated => Outcome::Violated,
        _ if steady_is_asked => Outcome::Holds,
        _ if !quantity.is_measured() => Outcome::NotSimulated,
        Some(ConfidenceInterval { upper_95: Some(upper), .. }) if upper <= requirement.limit => {
            Outcome::Holds
        }
        Some(ConfidenceInterval { lower_95: Some(lower), .. }) if lower > requirement.limit => {
            Outcome::Violated
        }
        _ => Outcome::Undecided,
    };
    Verdict {
        requirement: requirement.to_string(),
        class: class.name.clone(),
        simulated,
        limit: requirement.limit,
        unit: quantity.unit().word(),
        verdict,
    }
}

impl Outcome {
    fn word(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Violated => "VIOLATED",
            Self::Undecided => "undecided",
            Self::NotSimulated => "not simulated",
        }
    }
}

/// The verdicts as a table.
pub(super) fn rows(confirmed: &[Confirmation], markdown: bool) -> Rows {
    let mut rows = Rows::new(&["requirement", "class", "load", "simulated", "limit", "verdict"], markdown);
    for one in confirmed {
        for found in &one.requirements {
            let value = match found.simulated {
                _ if one.saturated.contains(&found.class) => "saturated".to_owned(),
                Some(ConfidenceInterval { value, lower_95: Some(lower), upper_95: Some(upper) })
                    if found.unit.is_empty() =>
                {
                    format!("{} ({} to {})", share(Some(value)), share(Some(lower)), share(Some(upper)))
                }
                Some(measured) => with_interval(Some(measured.value), measured.half_width_95()),
                None => "-".to_owned(),
            };
            rows.add([
                found.requirement.clone(),
                found.class.clone(),
                format!("{:.0} %", 100.0 * one.load_factor),
                value,
                found.limit.to_string(),
                found.verdict.word().to_owned(),
            ]);
        }
    }
    rows
}

/// What else one should know of the simulations.
pub(super) fn remark(confirmed: Option<&[Confirmation]>) -> Option<String> {
    let all = || confirmed.into_iter().flatten();
    crate::campaign::more_of(all().filter(|one| one.more_than_asked).count(), all().count())
}

/// How the command ends after its answer was printed.
pub(super) fn end(confirmed: Option<&[Confirmation]>, interrupted: bool) -> Result<(), Exit> {
    let answer = confirmed.into_iter().flatten().filter(|one| one.load_factor == 1.0);
    let violated =
        answer.flat_map(|one| &one.requirements).filter(|one| one.verdict == Outcome::Violated).count();
    if interrupted {
        Err(Exit::Interrupted)
    } else if violated > 0 {
        let plural = if violated == 1 { "requirement is" } else { "requirements are" };
        Err(Exit::Differs(format!("{violated} {plural} violated in the simulation of the answer")))
    } else {
        Ok(())
    }
}
