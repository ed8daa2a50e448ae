//! By how much loads may grow until the first requirement breaks.

use super::crossing::{Crossing, Probe, Search, first_crossing};
use super::judge::{most_factor, with_loads};
use super::{Binding, Judge, Judgement, Requirement};
use crate::model::{Failure, Model};
use flitwise_language::document::Fault;
use flitwise_language::quantity::Quantity;
use flitwise_language::scenario::{MIN_RATE, Scenario, ScenarioSpec};
use schemars::JsonSchema;
use serde::Serialize;

/// How far apart, as a share, the answer and the load that breaks a requirement are.
pub const PRECISION: f64 = 1e-4;
/// The same for the guess that the published model makes for the refined one.
const GUESS: f64 = 1e-2;
/// The same for what means alone tell of where the refined model's laws have the answer.
const ROUGHLY: f64 = 1e-3;
/// The first step from there multiplies or divides by this.
const NEAR: f64 = 1.003;
/// The factor that stands for no load.
const LEAST: f64 = 1e-6;
/// Loads at which the published model, which is quick, is asked whether another crossing comes first.
const SCAN: u32 = 16;

/// What is asked.
#[derive(Clone, Debug)]
pub struct Question {
    judge: Judge,
    /// With all deadlines.
    spec: ScenarioSpec,
    scaled: Vec<usize>,
}

/// What was found.
#[derive(Clone, Debug)]
pub struct LargestLoad {
    /// The largest factor at which all requirements hold; `None`: at none.
    pub factor: Option<f64>,
    /// The scenario there, or with next to no load.
    pub scenario: Scenario,
    /// How it stands there.
    pub judged: Judgement,
    /// The factor just beyond at which a requirement breaks; `None`: rates cannot grow further.
    pub broken_at: Option<f64>,
    /// What breaks there; `None` as above.
    pub binding: Option<Binding>,
    /// How each requirement stands, in their order.
    pub requirements: Vec<Place>,
    /// Whether all requirements were seen to hold again at a higher load.
    pub several: bool,
    /// Whether one was seen to be broken at a lower load.
    pub broken_below: bool,
    /// Scenarios solved by the model that answers.
    pub evaluations: u32,
    /// Scenarios solved by the published model for a first guess.
    pub guess_evaluations: u32,
}

/// How a requirement stands at the answer.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Place {
    /// As it would be typed.
    pub requirement: String,
    /// How it came out.
    pub status: Status,
    /// The class that it is worst for; `null`: no class that it is about sends anything.
    pub class: Option<String>,
    /// Its value at the answer \[cycles, or a share\].
    pub value: Option<f64>,
    /// Its limit.
    pub limit: f64,
    /// `cycles`, or empty for a share.
    pub unit: &'static str,
    /// How far the value is from the limit, as a share of it; negative beyond it.
    pub distance: Option<f64>,
    /// Why there is no value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// How a requirement came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// It breaks first.
    Binds,
    /// It holds; another one breaks first.
    Holds,
    /// It holds up to saturation: trivial.
    HoldsUpToSaturation,
    /// It is broken even with next to no load.
    Unreachable,
    /// It holds, and no class that it is about sends anything.
    Silent,
}

impl Question {
    /// Which factor on the loads of the `scaled` classes of a scenario can be had. Where no requirement is about a
    /// class that sends, none may be saturated.
    ///
    /// # Errors
    /// What is wrong with the scenario once it has the deadlines of the requirements.
    pub fn new(mut judge: Judge, spec: &ScenarioSpec, scaled: Vec<usize>) -> Result<Self, Vec<Fault>> {
        let sending = || spec.classes.iter().filter(|class| class.rate > 0.0);
        let is_silent = |one: &Requirement| sending().all(|class| !one.is_about(&class.name));
        if judge.requirements.iter().all(is_silent) {
            judge.requirements.push(Requirement::steady());
        }
        let spec = judge.prepared(spec);
        spec.clone().check()?;
        Ok(Self { judge, spec, scaled })
    }

    /// The scenario with its loads multiplied, if there is such a scenario.
    pub fn scenario_at(&self, factor: f64) -> Option<Scenario> {
        with_loads(&self.spec, &self.scaled, factor)
    }

    /// Searches.
    ///
    /// # Errors
    /// When the model has not what the scenario holds.
    pub fn answer(&self) -> Result<LargestLoad, Failure> {
        let base = self.at(1.0);
        let model = self.judge.model_of(&base);
        model.supports(&base)?;
        let rates = self.scaled.iter().map(|class| self.spec.classes[*class].rate).filter(|rate| *rate > 0.0);
        let lowest = rates.fold(f64::INFINITY, f64::min);
        let most = most_factor(&self.spec, &self.scaled);
        let least = LEAST.max(2.0 * MIN_RATE / lowest).min(most);
        let search = Search { start: 1.0, stride: 1.5, least, most, precision: PRECISION, scan: SCAN };
        let (guess, guess_evaluations) = match model {
            Model::Refined => self.guess(&search),
            _ => (None, 0),
        };
        let search = match (model, guess) {
            (Model::Refined, Some(start)) => Search { start, stride: 1.1, scan: 0, ..search },
            (Model::Refined, None) => Search { scan: 0, ..search },
            _ => search,
        };
        // whoever solves the answer again has laws, and means with them
        let judge = Judge { laws: model == Model::Refined, ..self.judge.clone() };
        let (near, looked_at) = if judge.laws { self.near_by_means(&search) } else { (search, 0) };
        let mut crossing = self.search(&near, &judge);
        crossing.evaluations += looked_at;
        Ok(self.found(crossing, guess_evaluations, &judge))
    }

    /// Where to begin: where means alone have the answer, which take a fifth of the time, if they are enough.
    fn near_by_means(&self, search: &Search) -> (Search, u32) {
        if self.judge.laws
            || self.judge.requirements.iter().any(|one| one.measure.quantity.needs_distribution())
        {
            return (*search, 0);
        }
        let found = self.search(&Search { precision: ROUGHLY, ..*search }, &self.judge);
        let near = found.below.map_or(*search, |below| Search { start: below.at, stride: NEAR, ..*search });
        (near, found.evaluations)
    }

    fn search(&self, search: &Search, judge: &Judge) -> Crossing<(Scenario, Judgement)> {
        first_crossing(search, |factor| {
            let scenario = self.at(factor);
            let judged = judge.judge(&scenario);
            (judged.excess(), (scenario, judged))
        })
    }

    fn at(&self, factor: f64) -> Scenario {
        self.scenario_at(factor).expect("factors up to the most lead to scenarios")
    }

    /// Where the published model has the answer, as far as it has one.
    fn guess(&self, search: &Search) -> (Option<f64>, u32) {
        let all = Judge { model: Some(Model::Published), ..self.judge.clone() };
        let has = |one: &&Requirement| {
            let alone = Judge { requirements: vec![(*one).clone()], ..all.clone() };
            alone.unanswerable(&self.at(1.0)).is_empty()
        };
        let requirements: Vec<Requirement> = all.requirements.iter().filter(has).cloned().collect();
        if requirements.is_empty() || Model::Published.supports(&self.at(1.0)).is_err() {
            return (None, 0);
        }
        let judge = Judge { requirements, ..all };
        let found = self.search(&Search { precision: GUESS, ..*search }, &judge);
        (found.below.map(|below| below.at), found.evaluations)
    }

    fn found(
        &self,
        crossing: Crossing<(Scenario, Judgement)>,
        guess_evaluations: u32,
        judge: &Judge,
    ) -> LargestLoad {
        let Crossing { below, above, evaluations, several, broken_below } = crossing;
        let (at, beyond) = match (below, above) {
            (Some(below), above) => (Ok(below), above),
            (None, Some(above)) => (Err(above), None),
            (None, None) => unreachable!("a search looks at one place at least"),
        };
        let reachable = at.is_ok();
        let Probe { at: factor, found: (scenario, judged), .. } = match at {
            Ok(probe) | Err(probe) => probe,
        };
        let broken = if reachable { beyond.as_ref().map(|probe| &probe.found.1) } else { Some(&judged) };
        let foremost = broken.and_then(Judgement::foremost);
        let binding = broken.zip(foremost).map(|(broken, index)| {
            broken.binding(&self.judge.requirements[index], index, reachable.then_some(&judged))
        });
        let saturation =
            broken.zip(foremost).is_some_and(|(broken, index)| broken.standings[index].saturated);
        let place = |(index, requirement): (usize, &Requirement)| {
            let status = match (reachable, judged.standings[index].class) {
                (_, None) => Status::Silent,
                (false, _) if judged.standings[index].excess > 0.0 => Status::Unreachable,
                (false, _) => Status::Holds,
                (true, _) if !saturation && foremost == Some(index) => Status::Binds,
                (true, _)
                    if saturation
                        && requirement.measure.quantity == Quantity::Margin
                        && foremost == Some(index) =>
                {
                    Status::Binds
                }
                (true, _) if saturation || beyond.is_none() => Status::HoldsUpToSaturation,
                (true, _) => Status::Holds,
            };
            place(requirement, status, judge, &scenario, &judged, index)
        };
        let requirements = self.judge.requirements.iter().enumerate().map(place).collect();
        LargestLoad {
            factor: reachable.then_some(factor),
            broken_at: beyond.as_ref().map(|probe| probe.at),
            requirements,
            binding,
            several,
            broken_below,
            evaluations,
            guess_evaluations,
            scenario,
            judged,
        }
    }
}

/// A requirement with its value at an answer.
pub(super) fn place(
    requirement: &Requirement,
    status: Status,
    judge: &Judge,
    scenario: &Scenario,
    judged: &Judgement,
    index: usize,
) -> Place {
    let standing = &judged.standings[index];
    let margin = requirement.measure.quantity == Quantity::Margin;
    let value = match standing.class {
        // means alone saturate within their precision of laws: who is steady has no less than nothing left
        Some(class) if margin => {
            let left = judge.margin(scenario, class);
            left.map(|left| if standing.saturated { left } else { left.max(0.0) })
        }
        _ => standing.value,
    };
    let (limit, sign) = (requirement.limit, if margin { -1.0 } else { 1.0 });
    let distance = value.filter(|_| limit > 0.0).map(|value| sign * (limit - value) / limit);
    Place {
        requirement: requirement.to_string(),
        status,
        class: standing.class.map(|class| scenario.classes()[class].name.clone()),
        value,
        limit,
        unit: requirement.measure.quantity.unit().word(),
        distance,
        reason: match (value, standing.saturated, &standing.missing) {
            (None, true, _) => Some("saturated".to_owned()),
            (None, false, missing) => missing.clone(),
            _ => None,
        },
    }
}
