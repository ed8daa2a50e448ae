//! The errors of a model at one point, quantity by quantity: model minus simulation.

use flitwise_language::quantity::{self, Measure, Quantity};
use flitwise_language::scenario::{Scenario, SourceSpec};
use flitwise_models::answer::{Answer, ClassAnswer, LatencyDistribution};
use flitwise_models::published::{Failure, Options};
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

use super::saturation::{SaturationLoad, scaled};
use flitwise_experiment::observation::{ClassObservation, Curve, HopsObservation, Observation};

/// What the errors of a quantity are counted in.
pub fn error_unit(quantity: Quantity) -> ErrorUnit {
    if quantity.unit() == quantity::Unit::Probability { ErrorUnit::Absolute } else { ErrorUnit::Percent }
}

/// What errors are counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorUnit {
    /// Percent of the simulated value.
    Percent,
    /// As it is.
    Absolute,
}

/// An error and what it is made of.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ErrorOf {
    /// What it is an error of.
    #[serde(flatten)]
    pub measure: Measure,
    /// What the model says; `null` if it says nothing.
    pub model: Option<f64>,
    /// What the simulation says.
    pub simulated: f64,
    /// Its 95 % half-width.
    pub half_width_95: Option<f64>,
    /// Model minus simulation \[percent of the simulated; of a miss probability as it is\].
    pub error: Option<f64>,
    /// The half-width in the unit of the error.
    pub noise: Option<f64>,
    /// Why there is no model's value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl ErrorOf {
    /// Of a value and its half-width.
    pub fn new(
        measure: impl Into<Measure>,
        model: Result<f64, String>,
        simulated: f64,
        half_width_95: Option<f64>,
    ) -> Self {
        let measure = measure.into();
        let in_unit = |difference: f64| match error_unit(measure.quantity) {
            ErrorUnit::Absolute => difference,
            ErrorUnit::Percent => 100.0 * difference / simulated,
        };
        let (model, reason) = match model {
            Ok(model) => (Some(model), None),
            Err(reason) => (None, Some(reason)),
        };
        // a share of nothing is no number
        let finite = |number: f64| Some(number).filter(|number| number.is_finite());
        Self {
            measure,
            model,
            simulated,
            half_width_95,
            error: model.and_then(|model| finite(in_unit(model - simulated))),
            noise: half_width_95.and_then(|width| finite(in_unit(width))),
            reason,
        }
    }

    /// Model minus simulation in the unit of the value itself, such as cycles.
    pub fn difference(&self) -> Option<f64> {
        self.model.map(|model| model - self.simulated)
    }
}

/// Messages below which a distribution is too coarse to judge by.
const FEWEST_MESSAGES: u64 = 2_000;

/// All errors of one class of a scenario at one point; what the simulation does not say is left out.
///
/// `answer` has details where miss probabilities are judged, or there is a reason why there is none. A miss probability
/// is judged at the deadline from a lone message's latency to the simulated 99.9th percentile where the model is off
/// most. Frames of one length hardly jitter: the model says 0, and a share of a few cycles is no error worth telling,
/// so that the deviation of their intervals is not judged.
pub fn judge(
    quantities: &[Quantity],
    scenario: &Scenario,
    observation: &Observation,
    class: usize,
    answer: Result<&Answer, &str>,
) -> Vec<ErrorOf> {
    let simulated = &observation.simulation.classes[class];
    let answer = answer.map(|answer| &answer.classes[class]);
    let mut errors = Vec::new();
    for quantity in quantities {
        let is_constant =
            *quantity == Quantity::FrameIntervalDeviation && has_frames_of_one_length(scenario, class);
        let Some(found) = simulated.value((*quantity).into()).filter(|_| !is_constant) else { continue };
        // of a mean the interval reaches as far down as up
        let half_width_95 = found.half_width_95();
        let model = answer.map_err(str::to_owned).and_then(|answer| of_model(*quantity, answer));
        errors.push(ErrorOf::new(*quantity, model, found.value, half_width_95));
    }
    if quantities.contains(&Quantity::MissProbability) {
        errors.extend(worst_misses(&observation.classes[class], answer));
    }
    errors
}

/// Whether the frames of a class do not vary.
pub fn has_frames_of_one_length(scenario: &Scenario, class: usize) -> bool {
    matches!(scenario.classes()[class].source, SourceSpec::Cbr { .. })
}

/// The worst miss probability, in a network for each number of hops.
fn worst_misses(own: &ClassObservation, answer: Result<&ClassAnswer, &str>) -> Vec<ErrorOf> {
    let enough = |curve: &&Curve| curve.messages >= FEWEST_MESSAGES;
    if own.by_hops.is_empty() {
        let distribution = answer
            .map_err(str::to_owned)
            .and_then(|answer| steady(answer, answer.latency_distribution.as_ref()));
        let curve = own.misses.as_ref().filter(enough);
        return curve.and_then(|curve| worst_miss(curve, distribution.as_ref(), None)).into_iter().collect();
    }
    let of_hops = |over: &HopsObservation| {
        let curve = over.misses.as_ref().filter(enough)?;
        let distribution = answer.map_err(str::to_owned).and_then(|answer| {
            let by_hops = answer.latency_distributions_by_hops.as_ref();
            let of_hops = by_hops.and_then(|by_hops| by_hops.get(over.hops as usize - 1));
            steady(answer, of_hops)
        });
        worst_miss(curve, distribution.as_ref(), Some(over.hops))
    };
    own.by_hops.iter().filter_map(of_hops).collect()
}

/// A distribution, unless the class is saturated: then it predicts no steady state.
fn steady<'a>(
    class: &ClassAnswer,
    distribution: Option<&'a LatencyDistribution>,
) -> Result<&'a LatencyDistribution, String> {
    let steady = distribution.filter(|_| !class.saturated);
    steady.ok_or_else(|| missing(class, "latency_percentiles_cycles"))
}

/// Why a model does not have a number.
fn missing(class: &ClassAnswer, field: &str) -> String {
    let saturated = || class.saturation.as_ref().map(|found| format!("saturated: {}", found.because));
    let reason = class.reasons.get(field).cloned().or_else(saturated);
    reason.unwrap_or_else(|| "the model does not say".to_owned())
}

fn of_model(quantity: Quantity, class: &ClassAnswer) -> Result<f64, String> {
    // what a saturated class is said to take is no prediction of a steady state
    let steady = class.value(quantity.into()).filter(|value| value.is_finite() && !class.saturated);
    steady.ok_or_else(|| missing(class, quantity.field()))
}

/// The error at the deadline where it is largest.
fn worst_miss(
    curve: &Curve,
    distribution: Result<&&LatencyDistribution, &String>,
    hops: Option<u32>,
) -> Option<ErrorOf> {
    let at = |index: usize, model: Result<f64, String>| {
        let measure = Measure::miss(curve.first_cycle + index as u32, hops);
        let (simulated, width) = (curve.miss_probability[index], curve.half_width_95[index]);
        ErrorOf::new(measure, model, simulated, Some(width))
    };
    let distribution = match distribution {
        Ok(distribution) => distribution,
        Err(reason) => return Some(at(0, Err(reason.clone()))),
    };
    let model = |index: usize| distribution.more_than(curve.first_cycle + index as u32);
    let off = |index: &usize| (model(*index) - curve.miss_probability[*index]).abs();
    let worst = (0..curve.miss_probability.len()).max_by(|a, b| off(a).total_cmp(&off(b)))?;
    Some(at(worst, Ok(model(worst))))
}

/// A model as a function: what it says of a scenario.
pub type Solve<'s> = dyn Fn(&Scenario, &Options) -> Result<Answer, Failure> + Sync + 's;

/// Multiples of the simulated saturation load at which a model is asked for its own, one after another.
const ASKED: [f64; 4] = [1.3, 2.0, 4.0, 8.0];
/// Halvings where a model says that a class is saturated, and not from where on.
const HALVINGS: u32 = 40;

/// By class: how far the model is off in where it saturates.
pub fn saturation_errors(
    scenario: &Scenario,
    simulated: &[Option<SaturationLoad>],
    model: &Solve<'_>,
) -> Vec<Option<ErrorOf>> {
    let of_class = |(class, load): (usize, &Option<SaturationLoad>)| {
        let SaturationLoad { factor, half_width_95 } = (*load)?;
        let found = model_load(scenario, class, factor, model);
        Some(ErrorOf::new(Quantity::SaturationLoad, found, factor, Some(half_width_95)))
    };
    simulated.par_iter().enumerate().map(of_class).collect()
}

fn model_load(scenario: &Scenario, class: usize, simulated: f64, model: &Solve<'_>) -> Result<f64, String> {
    let ask = |factor: f64, saturation_loads: bool| {
        let scenario = scaled(scenario, factor).map_err(|_| "no such rate".to_owned())?;
        let options = Options { distributions: false, saturation_loads, ..Options::default() };
        let answer = model(&scenario, &options).map_err(|failure| failure.to_string())?;
        answer.classes.into_iter().nth(class).ok_or_else(|| "no such class".to_owned())
    };
    let mut failed = None;
    for times in ASKED {
        let asked = times * simulated;
        let answer = match ask(asked, true) {
            Ok(answer) => answer,
            Err(reason) => {
                failed.get_or_insert(reason);
                break;
            }
        };
        if !answer.saturated {
            continue;
        }
        if let Some(found) = answer.saturation.and_then(|found| found.at_load_factor) {
            return Ok(asked * found);
        }
        let (mut low, mut high) = (0.0, asked);
        for _ in 0..HALVINGS {
            let middle = f64::midpoint(low, high);
            if ask(middle, false)?.saturated {
                high = middle;
            } else {
                low = middle;
            }
        }
        return Ok(high);
    }
    Err(failed.unwrap_or_else(|| "it does not saturate far beyond the simulated load".to_owned()))
}

#[cfg(test)]
mod tests {
    use flitwise_language::scenario::ScenarioSpec;
    use flitwise_models::published;

    use super::*;

    #[test]
    fn errors_are_in_percent_of_the_simulated() {
        let error = ErrorOf::new(Quantity::NetworkLatency, Ok(45.0), 50.0, Some(0.25));
        assert_eq!((error.error, error.noise, error.difference()), (Some(-10.0), Some(0.5), Some(-5.0)));
        let silent = ErrorOf::new(Quantity::Waiting, Err("why".to_owned()), 50.0, None);
        assert_eq!((silent.error, silent.noise, silent.reason.as_deref()), (None, None, Some("why")));
        assert_eq!(ErrorOf::new(Quantity::Waiting, Ok(1.0), 0.0, None).error, None, "no share of nothing");
    }

    #[test]
    fn a_miss_probability_is_judged_where_it_is_off_most() {
        let curve = Curve {
            first_cycle: 36,
            miss_probability: vec![0.5, 0.3, 0.1, 0.001],
            half_width_95: vec![0.01, 0.02, 0.03, 0.04],
            messages: 5_000,
        };
        // P(L > 36) = 0.45, P(L > 37) = 0.38, P(L > 38) and beyond 0.04
        let model = LatencyDistribution { first_cycle: 36, at_most_probability: vec![0.55, 0.62, 0.96] };
        let worst = worst_miss(&curve, Ok(&&model), Some(2)).unwrap();
        assert_eq!(
            (worst.measure.deadline_cycles, worst.measure.hops, worst.simulated),
            (Some(37), Some(2), 0.3)
        );
        assert!((worst.error.unwrap() - 0.08).abs() < 1e-12 && worst.noise == Some(0.02));
        // one that begins later misses all deadlines before
        let late = LatencyDistribution { first_cycle: 38, at_most_probability: vec![1.0] };
        let worst = worst_miss(&curve, Ok(&&late), None).unwrap();
        assert_eq!((worst.measure.deadline_cycles, worst.model), (Some(37), Some(1.0)));
        let silent = worst_miss(&curve, Err(&"why".to_owned()), None).unwrap();
        assert_eq!((silent.error, silent.reason.as_deref()), (None, Some("why")));
    }

    /// A model that takes a class to be saturated from a rate on, and says so or lets it be found.
    fn saturating(from: f64, says: bool) -> impl Fn(&Scenario, &Options) -> Result<Answer, Failure> {
        move |scenario: &Scenario, _: &Options| {
            let light = scenario.with_rates_scaled(1e-3);
            let mut answer = published::solve(&light, &Options::default())?;
            let (class, rate) = (&mut answer.classes[0], scenario.classes()[0].rate);
            class.saturated = rate >= from;
            class.saturation = class.saturated.then(|| flitwise_models::answer::Saturation {
                at_load_factor: says.then_some(from / rate),
                ..flitwise_models::answer::Saturation::new("this", "that")
            });
            Ok(answer)
        }
    }

    #[test]
    fn a_model_is_asked_where_it_saturates() {
        let scenario = ScenarioSpec::default().check().unwrap(); // R1 at 0.005
        let simulated = [Some(SaturationLoad { factor: 2.0, half_width_95: 0.02 }), None, None];
        for (rate, says) in [(0.0095, true), (0.0095, false), (0.031, true), (0.031, false)] {
            let found = saturation_errors(&scenario, &simulated, &saturating(rate, says));
            let error = found[0].as_ref().unwrap();
            let expected = rate / 0.005;
            assert!((error.model.unwrap() - expected).abs() < 1e-9 * expected, "{rate} {says}: {error:?}");
            assert_eq!((error.noise, &found[1]), (Some(1.0), &None));
        }
        let never = saturation_errors(&scenario, &simulated, &saturating(0.9, true));
        assert!(never[0].as_ref().unwrap().reason.as_ref().unwrap().contains("does not saturate"));
    }
}
