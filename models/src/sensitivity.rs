//! How an answer moves with each number of its scenario: derivatives and elasticities.
//!
//! The elasticity `(p / y) dy/dp` says by how many percent an output rises when a parameter is 1 % more. Means of the
//! published model are differentiated in forward mode: at its fixed point `x = F(x, p)` the implicit function theorem
//! gives `dx = (I - F_x)^-1 F_p dp`, with `F_x` and `F_p` from one application of the equations to numbers that carry
//! their slopes. Whatever has no such derivative is a difference of whole answers, and is called so ([`Method`]).
//!
//! ```
//! use flitwise_models::model::Model;
//! use flitwise_language::quantity::Quantity;
//! use flitwise_language::scenario::Preset;
//! use flitwise_models::sensitivity::{Method, Parameter, Request, sensitivities};
//!
//! let scenario = Preset::find("router16").unwrap().scenario();
//! let rate = Parameter::find("class.R1.rate", &scenario).unwrap();
//! let request = Request { parameters: vec![rate], classes: vec![0], quantities: vec![Quantity::NetworkLatency] };
//! let found = sensitivities(Model::Published, &scenario, &request).unwrap();
//! let latency = &found.outputs[0].sensitivities[0];
//! assert_eq!(latency.method, Method::ForwardMode);
//! assert_eq!(format!("{:.4}", latency.elasticity.unwrap()), "-0.0326");
//! ```

mod differences;
mod forward;
mod implicit;
mod output;
mod parameter;
mod slope;

pub use forward::DIFFERENTIABLE;
pub use output::{find_quantity, known_quantities};
pub use parameter::{Parameter, ParameterKind};

use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::Answer;
use crate::model::{Failure, Model, Options};
use differences::Step;
use flitwise_language::quantity::{Measure, Quantity};
use flitwise_language::scenario::Scenario;
use output::{Output, dimension};
use slope::Slope;

/// Step of differences of smooth numbers, as a share of the parameter.
const SMOOTH: f64 = 1e-3;
/// Step of differences of the refined model, whose iteration stops at a residual of 1e-4.
const REFINED: f64 = 0.05;
/// Step of differences of miss probabilities that rise in steps.
const ACROSS_STEPS: f64 = 0.01;

/// What is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// By which parameters.
    pub parameters: Vec<Parameter>,
    /// Of which classes, by their places in the scenario.
    pub classes: Vec<usize>,
    /// Of which quantities.
    pub quantities: Vec<Quantity>,
}

impl Request {
    /// All parameters, classes and quantities.
    pub fn all(scenario: &Scenario) -> Self {
        Self {
            parameters: Parameter::all(scenario),
            classes: (0..scenario.classes().len()).collect(),
            quantities: output::usual(scenario),
        }
    }
}

/// How an answer moves.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Sensitivities {
    /// Whose answer it is, corrected or not.
    #[serde(skip)]
    pub model: Model,
    /// The parameters, with their values.
    pub parameters: Vec<ParameterValue>,
    /// The outputs, with their values and how they move with each parameter, in the order of the parameters.
    pub outputs: Vec<OutputSensitivities>,
}

/// A parameter and its value.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ParameterValue {
    /// Its key in the scenario.
    pub key: String,
    /// Its value; `null` where it acts through classes that have different ones.
    pub value: Option<f64>,
    /// Its unit.
    pub unit: String,
    /// What kind of number it is to the model.
    pub kind: ParameterKind,
    /// Whether it is a Vtick that follows from rate and length; its derivative is by the Vtick alone, as if given.
    pub implied: bool,
}

/// An output and how it moves.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct OutputSensitivities {
    /// Name of the class.
    pub class: String,
    /// What of it.
    #[serde(flatten)]
    pub measure: Measure,
    /// Its value.
    pub value: Option<f64>,
    /// Half of its 95 % interval, in the same unit, where the answer was corrected by simulations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value_half_width_95: Option<f64>,
    /// Unit of the value: `cycles`, or `1` for loads and probabilities.
    pub unit: String,
    /// Why it has no value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// By parameter.
    pub sensitivities: Vec<Sensitivity>,
}

/// How an output moves with a parameter.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Sensitivity {
    /// Key of the parameter.
    pub parameter: String,
    /// `(p / y) dy/dp`: 1 % more of the parameter gives so many percent more of the output.
    pub elasticity: Option<f64>,
    /// `dy/dp`.
    pub derivative: Option<f64>,
    /// Its unit.
    pub derivative_unit: String,
    /// Towards smaller values of the parameter, where that is worth a number of its own: at a kink, and for
    /// differences over steps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub below: Option<OneSided>,
    /// Towards larger values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub above: Option<OneSided>,
    /// How it was found.
    pub method: Method,
    /// Step of a difference, in percent of the parameter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step_percent: Option<f64>,
    /// What the elasticity may be off by, where it is a difference: from two step sizes, or half of what the two
    /// sides differ by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_estimate: Option<f64>,
    /// Half of the 95 % interval of the elasticity, where answers were corrected by simulations: what is not known of
    /// the correction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elasticity_half_width_95: Option<f64>,
    /// Why a number is `null`, or what to know about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// One side of an output's movement.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct OneSided {
    /// As in [`Sensitivity`].
    pub elasticity: Option<f64>,
    /// As in [`Sensitivity`].
    pub derivative: Option<f64>,
}

/// How a derivative was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Exactly, by numbers that carry their derivatives through the fixed point.
    ForwardMode,
    /// From answers to scenarios with a little less and a little more of the parameter.
    CentralDifferences,
    /// From answers to scenarios with the whole numbers on either side.
    NeighbouringValues,
}

impl Sensitivity {
    /// With this reason before all others.
    fn because(self, reason: Option<String>) -> Self {
        Self { reason: reason.or(self.reason), ..self }
    }
}

impl Method {
    /// The word for it in output.
    pub const fn word(self) -> &'static str {
        match self {
            Self::ForwardMode => "forward-mode",
            Self::CentralDifferences => "central-differences",
            Self::NeighbouringValues => "neighbouring-values",
        }
    }
}

/// How the answer of `model` to `scenario` moves.
///
/// # Errors
/// Where the model has no answer.
pub fn sensitivities(model: Model, scenario: &Scenario, request: &Request) -> Result<Sensitivities, Failure> {
    each_sensitivity(model, scenario, request, &|_, _, answer| answer, &mut |_| ())
}

/// What corrects the refined model's answers: to the scenario itself, or to it with one parameter moved.
pub type AnswerCorrection<'c> = dyn Fn(Option<&Parameter>, &Scenario, Answer) -> Answer + 'c;

/// The same of answers that are corrected; what is known after each parameter is shown to `so_far`, as if no further
/// one had been asked for.
///
/// # Errors
/// As [`sensitivities`].
pub fn each_sensitivity(
    model: Model,
    scenario: &Scenario,
    request: &Request,
    corrected: &AnswerCorrection<'_>,
    so_far: &mut dyn FnMut(&Sensitivities),
) -> Result<Sensitivities, Failure> {
    let has_deadlines = |class: &usize| !scenario.classes()[*class].deadlines.is_empty();
    // the refined model's means alone come from a coarser lattice, too coarse for differences
    let distributions = model == Model::Refined
        || request.quantities.contains(&Quantity::MissProbability)
            && request.classes.iter().any(has_deadlines);
    let options = Options { distributions, saturation_loads: false, details: true, ..Options::default() };
    let own = model.solve(scenario, &options)?;
    let answer = corrected(None, scenario, own.clone());
    let outputs = Output::all(&answer, &request.classes, &request.quantities);
    let asked =
        Question { model, scenario, own: &own, answer: &answer, corrected, outputs: &outputs, distributions };

    let forward: Vec<&Parameter> =
        request.parameters.iter().filter(|parameter| asked.is_differentiable(parameter)).collect();
    let mut exact = forward::slopes(scenario, &answer, &forward, &outputs).into_iter();
    let outputs = outputs.iter().map(|output| asked.unmoved(output)).collect();
    let mut found = Sensitivities { model, parameters: Vec::new(), outputs };
    for parameter in &request.parameters {
        let exact = if asked.is_differentiable(parameter) { exact.next() } else { None };
        for (output, sensitivity) in found.outputs.iter_mut().zip(asked.by(parameter, exact)) {
            output.sensitivities.push(sensitivity);
        }
        found.parameters.push(ParameterValue {
            key: parameter.key.clone(),
            value: parameter.value(scenario),
            unit: parameter.unit().to_owned(),
            kind: asked.kind(parameter),
            implied: parameter.is_implied(scenario),
        });
        so_far(&found);
    }
    Ok(found)
}

/// Whether it has a derivative in forward mode, where the parameter allows one.
fn is_smooth(output: &Output) -> bool {
    DIFFERENTIABLE.contains(&output.measure.quantity)
}

struct Question<'a> {
    model: Model,
    scenario: &'a Scenario,
    /// As the model has it.
    own: &'a Answer,
    answer: &'a Answer,
    corrected: &'a AnswerCorrection<'a>,
    outputs: &'a [Output],
    distributions: bool,
}

impl Question<'_> {
    /// An output, before anything is known of how it moves.
    fn unmoved(&self, output: &Output) -> OutputSensitivities {
        let class = &self.answer.classes[output.class];
        let value = output.value(self.answer);
        OutputSensitivities {
            class: class.name.clone(),
            measure: output.measure,
            value: value.as_ref().ok().copied(),
            value_half_width_95: None,
            unit: dimension(output.measure.quantity.unit()).to_owned(),
            reason: value.err(),
            sensitivities: Vec::new(),
        }
    }

    /// Whether means have a derivative by the parameter in forward mode.
    fn is_differentiable(&self, parameter: &Parameter) -> bool {
        self.model == Model::Published
            && parameter.kind() != ParameterKind::Whole
            && forward::fits(self.scenario)
            && !parameter.values(self.scenario.spec()).contains(&0.0)
    }

    /// Only the published model's equations take a real number for a whole one.
    fn kind(&self, parameter: &Parameter) -> ParameterKind {
        match (self.model, parameter.kind()) {
            (Model::Published, kind) => kind,
            (_, ParameterKind::RelaxedWhole) => ParameterKind::Whole,
            (_, kind) => kind,
        }
    }

    /// How each output moves with one parameter; `exact` are the slopes in forward mode, by output.
    fn by(&self, parameter: &Parameter, exact: Option<Vec<Option<Slope>>>) -> Vec<Sensitivity> {
        let values = parameter.values(self.scenario.spec());
        if values.contains(&0.0) {
            let reason = format!("{} is 0, of which 1 % is nothing", parameter.key);
            return self.outputs.iter().map(|output| self.missing(output, parameter, &reason)).collect();
        }
        let is_exact = |output: &Output| exact.is_some() && is_smooth(output);
        let others: Vec<Output> = self.outputs.iter().filter(|output| !is_exact(output)).copied().collect();
        let step = self.step(parameter);
        let options =
            Options { distributions: self.distributions, saturation_loads: false, ..Options::default() };
        let corrected = |scenario: &Scenario, answer| (self.corrected)(Some(parameter), scenario, answer);
        let solve = |scenario: &Scenario| {
            self.model.solve(scenario, &options).map(|answer| corrected(scenario, answer))
        };
        let mut differences = if others.is_empty() {
            Vec::new()
        } else {
            let base = corrected(self.scenario, self.own.clone());
            differences::slopes(&solve, self.scenario, &base, parameter, &others, step)
        }
        .into_iter();
        let of = |(index, output): (usize, &Output)| {
            let difference = if is_exact(output) { None } else { differences.next() };
            match (self.saturated(output), difference, &exact) {
                (Some(why), _, _) => self.missing(output, parameter, &why),
                (None, Some(Err(why)), _) => self.missing(output, parameter, &why),
                (None, Some(Ok(slope)), _) => self.difference(output, parameter, slope, step),
                (None, None, Some(exact)) => match exact[index] {
                    Some(slope) => self.exact(output, parameter, slope),
                    None => self.missing(output, parameter, "the fixed point does not move smoothly here"),
                },
                (None, None, None) => self.missing(output, parameter, "nothing was asked"),
            }
        };
        self.outputs.iter().enumerate().map(of).collect()
    }

    /// Why an output of a saturated class, or one without a value, has no derivative.
    fn saturated(&self, output: &Output) -> Option<String> {
        let class = &self.answer.classes[output.class];
        let saturated =
            class.saturation.as_ref().map(|saturation| format!("saturated: {}", saturation.because));
        saturated.or_else(|| output.value(self.answer).err())
    }

    /// How far to move a parameter for differences.
    fn step(&self, parameter: &Parameter) -> Step {
        if self.kind(parameter) == ParameterKind::Whole {
            return Step::Neighbours;
        }
        match (self.model, parameter.kind()) {
            (Model::Published, ParameterKind::Real) if !self.distributions => Step::Richardson(SMOOTH),
            (Model::Published, ParameterKind::Real) if forward::moves_shares(self.scenario, parameter) => {
                Step::Share(ACROSS_STEPS)
            }
            (Model::Published, ParameterKind::Real) => Step::Richardson(SMOOTH),
            (Model::Published, _) => Step::Neighbours,
            _ => Step::Richardson(REFINED),
        }
    }

    fn exact(&self, output: &Output, parameter: &Parameter, slope: Slope) -> Sensitivity {
        let reason = slope.central.is_none().then(|| self.kink(parameter));
        self.sensitivity(output, parameter, slope, Method::ForwardMode).because(reason)
    }

    /// What makes the two sides of a derivative differ.
    fn kink(&self, parameter: &Parameter) -> String {
        let buffer = self.scenario.router().buffer_flits;
        let meet = self.scenario.classes().iter().any(|class| class.message_flits == buffer);
        if ["buffer_flits", "message_flits"].contains(&parameter.of) && meet {
            "one-sided: max(b, M) has a kink where the buffer is as long as a message".to_owned()
        } else {
            "one-sided: a maximum in the equations has two equal sides here".to_owned()
        }
    }

    fn difference(&self, output: &Output, parameter: &Parameter, slope: Slope, step: Step) -> Sensitivity {
        let (method, step_percent) = match step {
            Step::Richardson(share) | Step::Share(share) => (Method::CentralDifferences, Some(100.0 * share)),
            Step::Neighbours => (Method::NeighbouringValues, None),
        };
        let reason = match (slope.central, step) {
            (None, _) if slope.above.is_some() => {
                Some("one-sided: a smaller value is no sound scenario".to_owned())
            }
            (None, _) => Some("one-sided: a larger value is no sound scenario".to_owned()),
            (Some(_), Step::Share(_)) if output.measure.quantity == Quantity::MissProbability => Some(
                "delays are sums of whole cycles: as shares move, the probability has steps, over which the \
                 difference goes"
                    .to_owned(),
            ),
            _ => None,
        };
        let found = self.sensitivity(output, parameter, slope, method).because(reason);
        Sensitivity { step_percent, ..found }
    }

    fn missing(&self, output: &Output, parameter: &Parameter, reason: &str) -> Sensitivity {
        let method = match (self.is_differentiable(parameter), self.step(parameter)) {
            (true, _) if is_smooth(output) => Method::ForwardMode,
            (_, Step::Neighbours) => Method::NeighbouringValues,
            _ => Method::CentralDifferences,
        };
        self.sensitivity(output, parameter, Slope::default(), method).because(Some(reason.to_owned()))
    }

    fn sensitivity(
        &self,
        output: &Output,
        parameter: &Parameter,
        slope: Slope,
        method: Method,
    ) -> Sensitivity {
        let value = output.value(self.answer).ok().filter(|value| *value != 0.0);
        let at = match method {
            Method::NeighbouringValues => Some(parameter.mean(self.scenario)),
            Method::ForwardMode | Method::CentralDifferences => parameter.value(self.scenario),
        };
        let at = at.filter(|value| *value != 0.0);
        let finite = |number: f64| number.is_finite().then_some(number);
        // y is 0: it has no percent to rise by, unless it stays where it is
        let elasticity = |slope: f64| match value {
            // 0 without its sign
            Some(value) => finite(slope / value + 0.0),
            None if slope == 0.0 => Some(0.0),
            None => None,
        };
        let derivative = |slope: f64| at.and_then(|at| finite(slope / at + 0.0));
        let zero = slope.central.is_some_and(|slope| elasticity(slope).is_none());
        let reason = if zero {
            Some("the output is 0, of which there is no share to rise by".to_owned())
        } else if at.is_none() && slope.central.is_some() {
            Some("its classes have different values: they move together, each by its share".to_owned())
        } else {
            None
        };
        let side = |slope: f64| OneSided { elasticity: elasticity(slope), derivative: derivative(slope) };
        Sensitivity {
            parameter: parameter.key.clone(),
            elasticity: slope.central.and_then(elasticity),
            derivative: slope.central.and_then(derivative),
            derivative_unit: format!(
                "{} per {}",
                dimension(output.measure.quantity.unit()),
                parameter.unit()
            ),
            below: slope.below.map(side),
            above: slope.above.map(side),
            method,
            step_percent: None,
            error_estimate: slope.error.and_then(elasticity).map(f64::abs),
            elasticity_half_width_95: None,
            reason,
        }
    }
}
