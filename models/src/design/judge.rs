//! Requirements put to one scenario: how each stands, and what stands in the way.

use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use super::Requirement;
use super::crossing::{Search, first_crossing};
use super::requirement::about_best_effort;
use crate::answer::{Answer, ClassAnswer};
use crate::model::{Failure, Model, Options};
use flitwise_language::quantity::{Measure, Quantity, Unit};
use flitwise_language::scenario::{NetworkSpec, Scenario, ScenarioSpec};

/// Who judges by what.
#[derive(Clone, Debug)]
pub struct Judge {
    /// Which model is asked; none: each scenario's usual one.
    pub model: Option<Model>,
    /// What must hold.
    pub requirements: Vec<Requirement>,
    /// Whether laws are computed though no requirement needs them: means that come with laws are finer.
    pub laws: bool,
    /// What corrects answers of the refined model, if anything does.
    pub correction: Option<Correction>,
}

/// Corrects answers of the refined model to the scenarios of a family, such as by what simulations of some of them say.
#[derive(Clone)]
pub struct Correction(Arc<AnswerCorrection>);

/// An answer of the model, corrected, to a scenario.
type AnswerCorrection = dyn Fn(&Scenario, Answer) -> Answer + Send + Sync;

impl Correction {
    /// By a function of the scenario and the model's answer to it.
    pub fn new(corrected: impl Fn(&Scenario, Answer) -> Answer + Send + Sync + 'static) -> Self {
        Self(Arc::new(corrected))
    }
}

impl fmt::Debug for Correction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Correction")
    }
}

/// How a scenario stands.
#[derive(Clone, Debug)]
pub struct Judgement {
    /// The model's answer, or why there is none.
    pub answer: Result<Answer, Failure>,
    /// One per requirement.
    pub standings: Vec<RequirementState>,
}

/// How a requirement stands.
#[derive(Clone, Debug)]
pub struct RequirementState {
    /// The class it is worst for; none if no class that it is about sends anything.
    pub class: Option<usize>,
    /// The value there.
    pub value: Option<f64>,
    /// At most 0: it holds. How far beyond it is, in no particular unit, rising smoothly through 0.
    pub excess: f64,
    /// Whether it is broken because the class is saturated.
    pub saturated: bool,
    /// Why there is no value where there should be one.
    pub missing: Option<String>,
}

/// Which part of the latency stands in the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Term {
    /// A lone message takes longer.
    Transfer,
    /// Messages of the same class in front.
    Blocking,
    /// Links that serve other classes too.
    Sharing,
    /// The queue at the source.
    Waiting,
    /// There is no steady state beyond.
    Saturation,
    /// No value is known beyond.
    Unknown,
}

/// What stands in the way: the requirement that breaks first, and the part of the system it breaks by.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Binding {
    /// The requirement, as it would be typed.
    pub requirement: String,
    /// The class it breaks for.
    pub class: String,
    /// The largest of the parts of the quantity that load adds.
    pub term: Term,
    /// Where: a link, a buffer or a queue.
    pub channel: String,
    /// Part of the latency there \[cycles\].
    pub transfer_cycles: Option<f64>,
    /// Part of the latency there \[cycles\].
    pub blocking_cycles: Option<f64>,
    /// Part of the latency there \[cycles\].
    pub sharing_cycles: Option<f64>,
    /// At the source there \[cycles\].
    pub waiting_cycles: Option<f64>,
    /// The same in a sentence.
    pub because: String,
}

/// The excess of what has no value at all.
const BEYOND: f64 = 1.0;
/// Bounds of the logarithm of a share.
const LOGARITHMS: f64 = 30.0;
/// How finely the margin is told, as a share of the load.
const MARGIN_PRECISION: f64 = 1e-3;

impl Judge {
    /// Of these requirements; without any, that no class is saturated.
    pub fn new(model: Option<Model>, requirements: Vec<Requirement>) -> Self {
        let requirements = if requirements.is_empty() { vec![Requirement::steady()] } else { requirements };
        Self { model, requirements, laws: false, correction: None }
    }

    /// The scenario with all deadlines that the requirements are about.
    pub fn prepared(&self, spec: &ScenarioSpec) -> ScenarioSpec {
        let mut spec = spec.clone();
        self.requirements.iter().for_each(|one| add_deadline(&mut spec, one.class.as_deref(), one.measure));
        spec
    }

    /// The model that answers.
    pub fn model_of(&self, scenario: &Scenario) -> Model {
        self.model.unwrap_or_else(|| Model::usual(scenario))
    }

    /// What the model that answers has no number for, whatever the load.
    ///
    /// Quantities that it lacks; the published one has no law of best effort.
    pub fn unanswerable(&self, scenario: &Scenario) -> Vec<String> {
        let model = self.model_of(scenario);
        let words = |one: &Requirement| {
            if model.lacks(one.measure.quantity) {
                let (quantity, name) = (one.measure.quantity, one.measure.quantity.name());
                let other =
                    Model::ALL.into_iter().find(|other| !other.lacks(quantity)).map_or("", Model::word);
                return Some(format!(
                    "\"{one}\": found {name}, wanted a quantity of the {model} model\n  help: --model {other} has it"
                ));
            }
            if model != Model::Published {
                return None;
            }
            let name = about_best_effort(one.class.as_deref(), scenario.spec())?;
            let because = "the published model has no law of the latency of best effort";
            one.measure.quantity.needs_distribution().then(|| {
                let found = one.measure.typed();
                format!(
                    "\"{one}\": found {found} of class {name}, wanted a mean: {because}\n  help: --model refined has"
                )
            })
        };
        self.requirements.iter().filter_map(words).collect()
    }

    fn options(&self) -> Options {
        let needed = self.requirements.iter().any(|one| one.measure.quantity.needs_distribution());
        Options { distributions: self.laws || needed, saturation_loads: false, ..Options::default() }
    }

    /// Solves a scenario that was [prepared](Self::prepared) and says how each requirement stands.
    pub fn judge(&self, scenario: &Scenario) -> Judgement {
        let model = self.model_of(scenario);
        let correction = self.correction.as_ref().filter(|_| model == Model::Refined);
        let corrected = |answer: Answer| match correction {
            Some(Correction(corrected)) => corrected(scenario, answer),
            None => answer,
        };
        let answer = model.solve(scenario, &self.options()).map(corrected);
        let standing = |requirement: &Requirement| match &answer {
            Ok(answer) => standing(requirement, scenario, answer, model),
            Err(failure) => RequirementState {
                class: first_class(requirement, scenario),
                value: None,
                excess: BEYOND,
                saturated: false,
                missing: Some(failure.to_string()),
            },
        };
        Judgement { standings: self.requirements.iter().map(standing).collect(), answer }
    }

    /// The share of its saturation load that the class has left, all rates growing together; `None` if it is not known.
    pub fn margin(&self, scenario: &Scenario, class: usize) -> Option<f64> {
        let model = self.model_of(scenario);
        let most = most_factor(scenario.spec(), &(0..scenario.classes().len()).collect::<Vec<_>>());
        let search =
            Search { start: 1.0, stride: 1.5, least: 1e-6, most, precision: MARGIN_PRECISION, scan: 0 };
        let found = first_crossing(&search, |factor| {
            let load = scaled(scenario.spec(), factor).map(|scaled| source_excess(&scaled, class, model));
            (load.unwrap_or(BEYOND), ())
        });
        found.above?;
        found.below.map(|below| 1.0 - 1.0 / below.at)
    }
}

impl Judgement {
    /// Whether all requirements hold.
    pub fn holds(&self) -> bool {
        self.excess() <= 0.0
    }

    /// The largest excess.
    pub fn excess(&self) -> f64 {
        self.standings.iter().map(|one| one.excess).fold(f64::NEG_INFINITY, f64::max)
    }

    /// The requirement that is farthest beyond, or nearest to its limit.
    pub fn foremost(&self) -> Option<usize> {
        let excess = |index: &usize| self.standings[*index].excess;
        (0..self.standings.len()).max_by(|a, b| excess(a).total_cmp(&excess(b)))
    }

    /// The account of requirement `index`, broken here, of which `steady` still kept it, if anything did.
    pub fn binding(&self, requirement: &Requirement, index: usize, steady: Option<&Self>) -> Binding {
        let standing = &self.standings[index];
        let class = standing.class.unwrap_or(0);
        let of =
            |judged: &Self| judged.answer.as_ref().ok().and_then(|answer| answer.classes.get(class)).cloned();
        let here = of(self);
        // what is saturated has no parts: those of just before are told
        let parts = here.clone().filter(|class| class.network_latency_cycles.is_some());
        let parts = parts.or_else(|| steady.and_then(of));
        let network = self.answer.as_ref().ok().map(|answer| &answer.scenario.network);
        let name = here.as_ref().or(parts.as_ref()).map_or_else(String::new, |class| class.name.clone());
        let saturation = here.as_ref().and_then(|class| class.saturation.clone());
        let (term, channel, because) = if standing.saturated {
            match saturation {
                Some(found) => (Term::Saturation, found.bottleneck, found.because),
                None => margin_spent(&name, requirement),
            }
        } else if let Some(missing) = &standing.missing {
            (Term::Unknown, "-".to_owned(), missing.clone())
        } else {
            largest_part(parts.as_ref(), requirement, network)
        };
        let part = |of: fn(&ClassAnswer) -> Option<f64>| parts.as_ref().and_then(of);
        Binding {
            requirement: requirement.to_string(),
            class: name,
            term,
            channel,
            transfer_cycles: part(|class| class.transfer_cycles),
            blocking_cycles: part(|class| class.blocking_cycles),
            sharing_cycles: part(|class| class.sharing_cycles),
            waiting_cycles: part(|class| class.waiting_cycles),
            because,
        }
    }
}

fn margin_spent(name: &str, requirement: &Requirement) -> (Term, String, String) {
    let share = 100.0 / (1.0 - requirement.limit).max(1e-3);
    let because = format!("class {name} saturates at {share:.1} % of these rates, all growing together");
    (Term::Saturation, "-".to_owned(), because)
}

/// The part that load adds most to, where it arises, and a sentence.
fn largest_part(
    class: Option<&ClassAnswer>,
    requirement: &Requirement,
    network: Option<&NetworkSpec>,
) -> (Term, String, String) {
    let Some(class) = class else {
        return (Term::Unknown, "-".to_owned(), "nothing is known here".to_owned());
    };
    let of = |part: Option<f64>| part.unwrap_or(0.0);
    let quantity = requirement.measure.quantity;
    // of a part of the latency only that part stands in the way
    let is_about = |part: Quantity| match quantity.whole() {
        Some(whole) => [quantity, whole].contains(&part),
        None => quantity != Quantity::Waiting,
    };
    let waits = matches!(quantity, Quantity::TotalLatency | Quantity::Waiting);
    let mut parts = Vec::new();
    if is_about(Quantity::Blocking) && class.blocking_cycles.is_some() {
        let (input, arbitration) = (of(class.input_cycles), of(class.arbitration_cycles));
        let behind = if class.input_cycles.is_none() {
            "buffers"
        } else if input >= arbitration {
            "input buffers"
        } else {
            "output arbitration"
        };
        parts.push((Term::Blocking, of(class.blocking_cycles), behind));
    }
    if is_about(Quantity::Sharing) && class.sharing_cycles.is_some() {
        let links = network.map_or("output links", |network| network.topology().shared_links());
        parts.push((Term::Sharing, of(class.sharing_cycles), links));
    }
    if waits {
        parts.push((Term::Waiting, of(class.waiting_cycles), "source queue"));
    }
    if class.transfer_cycles.is_none() && of(class.network_latency_cycles) >= of(class.waiting_cycles) {
        let because = "the network latency grows with the load; the model does not part it by cause";
        return (Term::Unknown, "-".to_owned(), because.to_owned());
    }
    let transfer = of(class.transfer_cycles);
    let alone =
        quantity.unit() == Unit::Cycles && is_about(Quantity::Transfer) && transfer > requirement.limit;
    if parts.is_empty() && !alone && quantity.whole().is_none() {
        let because = format!("{} grows with the load; the model does not part it by cause", quantity.name());
        return (Term::Unknown, "-".to_owned(), because);
    }
    let (term, most, place) = match parts.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)) {
        Some(part) if !alone => part,
        _ => (Term::Transfer, transfer, "pipeline"),
    };
    let word = match term {
        Term::Transfer => "a lone message takes",
        Term::Blocking => "messages of its own class in front take",
        Term::Sharing => "sharing links with other classes takes",
        _ => "waiting at the source takes",
    };
    (term, place.to_owned(), format!("{word} {most:.2} cycles, the largest part"))
}

/// The first class that a requirement is about.
fn first_class(requirement: &Requirement, scenario: &Scenario) -> Option<usize> {
    scenario.classes().iter().position(|class| requirement.is_about(&class.name) && class.rate > 0.0)
}

/// How a requirement stands in an answer: by its worst class.
fn standing(
    requirement: &Requirement,
    scenario: &Scenario,
    answer: &Answer,
    model: Model,
) -> RequirementState {
    let silent =
        RequirementState { class: None, value: None, excess: -BEYOND, saturated: false, missing: None };
    // the means of the scenario at which the margin is spent, if that is another one
    let spent = (requirement.measure.quantity == Quantity::Margin && requirement.limit > 0.0)
        .then(|| scaled(scenario.spec(), 1.0 / (1.0 - requirement.limit)));
    let of_class = |class: usize| match (&spent, requirement.measure.quantity) {
        (Some(spent), _) => {
            let excess = spent.as_ref().map_or(BEYOND, |spent| source_excess(spent, class, model));
            let saturated = excess > 0.0;
            RequirementState { class: Some(class), value: None, excess, saturated, missing: None }
        }
        (None, Quantity::Margin) => {
            let excess = steadiness(&answer.classes[class]);
            RequirementState {
                class: Some(class),
                value: None,
                excess,
                saturated: excess > 0.0,
                missing: None,
            }
        }
        (None, _) => of_measure(requirement.measure, requirement.limit, &answer.classes[class], class),
    };
    let classes = scenario.classes().iter().enumerate();
    classes
        .filter(|(_, class)| requirement.is_about(&class.name) && class.rate > 0.0)
        .map(|(class, _)| of_class(class))
        .max_by(|a, b| a.excess.total_cmp(&b.excess))
        .unwrap_or(silent)
}

/// How a class stands against a limit.
fn of_measure(measure: Measure, limit: f64, answer: &ClassAnswer, class: usize) -> RequirementState {
    let standing =
        RequirementState { class: Some(class), value: None, excess: BEYOND, saturated: false, missing: None };
    if answer.saturated {
        return RequirementState { saturated: true, excess: steadiness(answer), ..standing };
    }
    let Some(value) = answer.value(measure).filter(|value| value.is_finite()) else {
        return RequirementState { missing: Some(because(measure, answer)), ..standing };
    };
    let excess = match measure.quantity {
        // shares span decades
        Quantity::MissProbability if limit > 0.0 => (value / limit).ln().clamp(-LOGARITHMS, LOGARITHMS),
        // more is better
        Quantity::Throughput => (limit / value.max(f64::MIN_POSITIVE) - 1.0).min(LOGARITHMS),
        _ if value > 0.0 => (1.0 - limit / value).max(-LOGARITHMS),
        _ => -LOGARITHMS,
    };
    // near saturation the latency may jump, the load of the source does not
    let excess = if excess <= 0.0 { excess.max(steadiness(answer)) } else { excess };
    RequirementState { value: Some(value), excess, ..standing }
}

/// Why an answer has no such value.
fn because(measure: Measure, answer: &ClassAnswer) -> String {
    answer.reason(measure).unwrap_or_else(|| "the model has no such number".to_owned())
}

/// Load of the class's queue at the source beyond 1: at most 0 if and only if it is steady.
fn steadiness(class: &ClassAnswer) -> f64 {
    let load = class.source_load.filter(|load| load.is_finite()).map(|load| load - 1.0);
    if class.saturated {
        load.filter(|excess| *excess > 0.0).unwrap_or(BEYOND).min(BEYOND)
    } else {
        load.unwrap_or(-BEYOND).min(0.0)
    }
}

/// The same of a scenario, by its means.
fn source_excess(scenario: &Scenario, class: usize, model: Model) -> f64 {
    let options = Options { distributions: false, saturation_loads: false, ..Options::default() };
    match model.solve(scenario, &options) {
        Ok(answer) if scenario.classes()[class].rate > 0.0 => steadiness(&answer.classes[class]),
        Ok(_) => -BEYOND,
        Err(_) => BEYOND,
    }
}

/// The scenario with all loads multiplied, if there is such a scenario.
fn scaled(spec: &ScenarioSpec, factor: f64) -> Option<Scenario> {
    let all: Vec<usize> = (0..spec.classes.len()).collect();
    with_loads(spec, &all, factor)
}

/// The scenario with the loads of some classes multiplied, if there is such a scenario.
pub(super) fn with_loads(spec: &ScenarioSpec, classes: &[usize], factor: f64) -> Option<Scenario> {
    let mut spec = spec.clone();
    classes.iter().for_each(|class| spec.classes[*class].scale_load(factor));
    spec.check().ok()
}

/// The most that the loads of some classes can be multiplied by.
pub(super) fn most_factor(spec: &ScenarioSpec, classes: &[usize]) -> f64 {
    // a hair less: the product must not be rounded beyond
    let of_class = |class: &usize| spec.most_load_factor(*class);
    classes.iter().map(of_class).fold(1e12, f64::min) * (1.0 - 1e-12)
}

/// Adds the deadline of a quantity to the classes it is about.
pub(super) fn add_deadline(spec: &mut ScenarioSpec, class: Option<&str>, measure: Measure) {
    let Some(deadline) = measure.deadline() else { return };
    for one in spec.classes.iter_mut().filter(|one| class.is_none_or(|name| name == one.name)) {
        let has = one.each_deadline();
        let asked =
            flitwise_language::scenario::ClassSpec { deadlines: vec![deadline.clone()], ..one.clone() };
        if asked.each_deadline().iter().any(|key| !has.contains(key)) {
            one.deadlines.push(deadline.clone());
        }
    }
}
