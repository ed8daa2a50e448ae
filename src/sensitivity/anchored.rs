//! `flitwise sensitivity --model anchored`: anchors at the scenario and to either side of it along each parameter.

use std::sync::Arc;

use flitwise_experiment::answer::Simulation;
use flitwise_language::scenario::Scenario;
use flitwise_models::answer::Answer;
use flitwise_models::model::{Model, Options};
use flitwise_models::sensitivity::{Parameter, ParameterKind, Request, Sensitivities};
use flitwise_validation::anchored::{Anchor, Anchored, Axis, FINER, Place};

use crate::anchoring;
use crate::args::Sensitivity;
use crate::campaign::Campaign;
use crate::outcome::Exit;
use crate::output::percent;
use crate::typed;

/// How far anchors lie to either side, as shares of a parameter: the first at which no further class saturates.
const AWAY: [f64; 3] = [0.2, 0.1, 0.05];
/// The way over which the interval of an elasticity is taken, as a share of the parameter.
const STEP: f64 = 0.05;
/// The most anchors.
const MOST_ANCHORS: u64 = 200;

/// What was learnt of a scenario and its parameters.
#[derive(Clone)]
pub(super) struct Family {
    /// From the anchor at the scenario alone: its simulation.
    here: Arc<Anchored>,
    along: Arc<Vec<Along>>,
    pub(super) remarks: Vec<String>,
}

/// What was learnt along a parameter.
struct Along {
    parameter: Parameter,
    axis: Axis,
    anchored: Anchored,
    /// Places a step below and above the scenario; by how many times the parameter is more at the second, less 1.
    step: Option<([Place; 2], f64)>,
}

/// A scenario with a parameter moved, and the model's answer.
struct Variation {
    mean: f64,
    scenario: Scenario,
    answer: Answer,
}

impl Family {
    /// Simulates what anchors are wanted for the request, unless the store has it, and learns from it.
    pub(super) fn learnt(args: &Sensitivity, scenario: &Scenario, request: &Request) -> Result<Self, Exit> {
        let mut campaign = anchoring::campaign(&args.campaign)?;
        let model = |scenario: &Scenario| Model::Refined.solve(scenario, &options()).ok();
        let here = Model::Refined
            .solve(scenario, &options())
            .map_err(|failure| Exit::failure(&failure, |_| String::new()))?;
        let sends = |class: usize| scenario.classes()[class].rate > 0.0 && !here.classes[class].saturated;
        if !(0..here.classes.len()).any(sends) {
            return Err(Exit::input(
                "--model anchored: found no class that sends and is steady in the refined model, wanted one at \
                 least\n  help: lower rates",
            ));
        }
        let sides: Vec<Vec<Variation>> = request
            .parameters
            .iter()
            .map(|parameter| either_side(parameter, scenario, &here, &model))
            .collect();
        let wanted = 1 + sides.iter().map(Vec::len).sum::<usize>();
        check_budget(args, wanted, request.parameters.len())?;
        campaign.settings.precision *= FINER;
        let each = percent(campaign.settings.precision);
        let moved = sides.iter().flatten().map(|moved| moved.scenario.clone());
        let scenarios: Vec<Scenario> = [scenario.clone()].into_iter().chain(moved).collect();
        let mut found = simulated(&campaign, &scenarios)?;
        let mut rest = found.split_off(1).into_iter();
        let middle = found.remove(0);
        let anchor = |at: Vec<f64>| Anchor {
            place: Place { at, scenario: scenario.clone(), model: here.clone() },
            simulation: middle.clone(),
        };
        let along = |(parameter, sides): (&Parameter, Vec<Variation>)| {
            let simulations: Vec<_> = rest.by_ref().take(sides.len()).collect();
            let own = parameter.mean(scenario);
            let means: Vec<f64> = sides.iter().map(|moved| moved.mean).chain([own]).collect();
            let axis = Axis::over(&means)?;
            let place = |moved: Variation| Place {
                at: vec![axis.share(moved.mean)],
                scenario: moved.scenario,
                model: moved.answer,
            };
            let step = step(parameter, scenario, &model).map(|[below, above]| {
                let share = above.mean / below.mean - 1.0;
                ([place(below), place(above)], share)
            });
            let sides = sides.into_iter().map(place).zip(simulations);
            let sides = sides.map(|(place, simulation)| Anchor { place, simulation });
            let anchored =
                Anchored::learnt([anchor(vec![axis.share(own)])].into_iter().chain(sides).collect());
            Some(Along { parameter: parameter.clone(), axis, anchored, step })
        };
        let along = request.parameters.iter().zip(sides).filter_map(along).collect();
        let remarks = vec![format!(
            "{wanted} anchors: the scenario, and up to two around it along each parameter, each simulated to ±{each}"
        )];
        Ok(Self {
            here: Arc::new(Anchored::learnt(vec![anchor(vec![0.5])])),
            along: Arc::new(along),
            remarks,
        })
    }

    fn along(&self, key: &str) -> Option<&Along> {
        self.along.iter().find(|along| along.parameter.key == key)
    }

    /// Moves an answer of the model, along a parameter if one is named.
    pub(super) fn corrected(&self, by: Option<&Parameter>, scenario: &Scenario, answer: Answer) -> Answer {
        match by.and_then(|parameter| self.along(&parameter.key)) {
            Some(along) => {
                let at = along.axis.share(along.parameter.mean(scenario));
                along.anchored.correct(&[at], answer).answer
            }
            None => self.here.correct(&[0.5], answer).answer,
        }
    }

    /// Sets the intervals of values and elasticities.
    pub(super) fn add_intervals(&self, classes: &[usize], found: &mut Sensitivities) {
        let middle = &self.here.anchors()[0];
        let class_of = |name: &str| {
            classes.iter().copied().find(|class| middle.place.model.classes[*class].name == name)
        };
        for output in &mut found.outputs {
            let Some(class) = class_of(&output.class) else { continue };
            let simulated = middle.simulation.classes[class].value(output.measure);
            output.value_half_width_95 =
                simulated.filter(|_| output.value.is_some()).and_then(|found| found.half_width_95());
            for one in &mut output.sensitivities {
                let along = self.along(&one.parameter).filter(|_| one.elasticity.is_some());
                one.elasticity_half_width_95 = along.and_then(|along| {
                    let ([below, above], share) = along.step.as_ref()?;
                    Some(along.anchored.half_width_of_rise(class, output.measure, [below, above])? / share)
                });
            }
        }
    }
}

/// Simulates all anchors, or takes them from the store.
fn simulated(campaign: &Campaign, scenarios: &[Scenario]) -> Result<Vec<Simulation>, Exit> {
    let (wanted, each) = (scenarios.len(), percent(campaign.settings.precision));
    campaign.say(&format!("anchored: {wanted} simulations to ±{each}, unless the store has them"));
    let outcome = campaign.run(scenarios).map_err(|faults| Exit::faults(&faults))?;
    let fresh = outcome.simulated;
    let found: Option<Vec<Simulation>> = outcome.simulations.into_iter().collect();
    let kept = || "anchors that are done are kept in the store if there is one".to_owned();
    let found = found.ok_or_else(|| Exit::InterruptedAt(kept()))?;
    campaign.say(&format!("{wanted} anchors: {fresh} simulated, {} from the store", wanted - fresh));
    Ok(found)
}

/// As the anchored model learns from.
fn options() -> Options {
    Options { saturation_loads: false, ..Options::default() }
}

type Answers<'m> = dyn Fn(&Scenario) -> Option<Answer> + 'm;

fn moved(parameter: &Parameter, scenario: &Scenario, share: f64, model: &Answers<'_>) -> Option<Variation> {
    let is_whole = parameter.kind() != ParameterKind::Real;
    let change = |value: f64| match is_whole {
        true => value + share.signum() * (value * share.abs()).round().max(1.0),
        false => value * (1.0 + share),
    };
    let scenario = parameter.changed(scenario, change).ok()?;
    Some(Variation { mean: parameter.mean(&scenario), answer: model(&scenario)?, scenario })
}

/// Scenarios to either side along a parameter, as far as there are such.
fn either_side(
    parameter: &Parameter,
    scenario: &Scenario,
    here: &Answer,
    model: &Answers<'_>,
) -> Vec<Variation> {
    if parameter.mean(scenario) == 0.0 {
        return Vec::new();
    }
    let is_as_here = |moved: &Variation| {
        moved.answer.classes.iter().zip(&here.classes).all(|(one, here)| !one.saturated || here.saturated)
    };
    let side = |sign: f64| {
        AWAY.iter().find_map(|away| moved(parameter, scenario, sign * away, model).filter(is_as_here))
    };
    [-1.0, 1.0].into_iter().filter_map(side).collect()
}

/// The scenarios a step below and above.
fn step(parameter: &Parameter, scenario: &Scenario, model: &Answers<'_>) -> Option<[Variation; 2]> {
    Some([moved(parameter, scenario, -STEP, model)?, moved(parameter, scenario, STEP, model)?])
}

/// Whether `--anchors` allows as many as are wanted.
fn check_budget(args: &Sensitivity, wanted: usize, parameters: usize) -> Result<(), Exit> {
    let mut faults = Vec::new();
    let read = typed::within(1..=MOST_ANCHORS, "1 to 200 simulations");
    let most = typed::Options { faults: &mut faults }.option("anchors", &args.anchors, read);
    if let Some(most) = most.filter(|most| faults.is_empty() && (*most as usize) < wanted) {
        let s = if parameters == 1 { "" } else { "s" };
        faults.push(format!(
            "--anchors {most}: found too few for {parameters} parameter{s}, wanted {wanted}: one at the scenario and \
             up to two along each\n  help: fewer of them, with --parameter KEY"
        ));
    }
    if faults.is_empty() { Ok(()) } else { Err(Exit::BadInput(faults)) }
}
