//! What a model says about a scenario, with the unit of every number in its name.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::fixed_point::{self, Status};
use crate::lattice::Distribution;
use crate::model::Model;
use flitwise_language::quantity::{Means, Measure, Percentiles, Quantity};
use flitwise_language::scenario::{ClassKind, ClassSpec, ScenarioSpec};
use flitwise_language::section::Sections;

/// A model's answer to a scenario.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Answer {
    /// Which model answers.
    pub model: Model,
    /// The scenario asked about.
    #[serde(serialize_with = "ScenarioSpec::serialize_plainly")]
    pub scenario: ScenarioSpec,
    /// The account of the iteration.
    pub report: Report,
    /// Whether any class is saturated.
    pub saturated: bool,
    /// One answer per class, in the order of the scenario.
    pub classes: Vec<ClassAnswer>,
    /// Where this answer stands among those that were compared with simulations, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub validity: Option<Validity>,
    /// What the model says beside the quantities of classes, such as throughput over time.
    #[serde(skip_serializing_if = "Sections::is_empty")]
    #[schemars(default)]
    pub sections: Sections,
    /// What one should know about this answer.
    pub notes: Vec<String>,
}

/// The account of an iteration, in the words of the output.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Report {
    /// How it ended.
    pub status: Status,
    /// Evaluations of the equations.
    pub iterations: u32,
    /// Largest relative change of an unknown in the last step.
    pub residual: f64,
    /// The residual of every step, if details are asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub residuals: Option<Vec<f64>>,
}

/// Where an answer stands among those that were compared with simulations. The errors to expect stand with each class:
/// [`ClassAnswer::expected_errors`].
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Validity {
    /// The kind of scenarios that the errors were measured on; `null` where none were.
    pub region: Option<String>,
    /// Load as a share of that at which the model has the first class saturate; `null` if that is not known.
    pub load_share_of_saturation: Option<f64>,
    /// Load of the most loaded channel of a network \[flits/cycle\]: 1 is full.
    pub most_loaded_channel: Option<f64>,
    /// In what the scenario lies outside all that was simulated, each in a few words; empty: in nothing.
    pub outside: Vec<String>,
    /// Of what no errors have been measured, if there are none to expect.
    pub unmeasured: Option<String>,
}

/// How far off the simulation a number of the answer is to be expected.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ExpectedError {
    /// Which number.
    pub quantity: Quantity,
    /// `percent` of the simulated number, or `absolute`: 0.30 against 0.25 is 0.05. Of deadlines the worst counts.
    pub unit: String,
    /// 9 of 10 errors were no larger.
    pub nine_of_ten_within: f64,
}

/// What is said of one class. A number that does not exist is `null`, and `reasons` says why.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ClassAnswer {
    /// Name of the class.
    pub name: String,
    /// How links treat it.
    pub kind: ClassKind,
    /// The means.
    #[serde(flatten)]
    pub means: Means<f64>,
    /// Whether the class has no steady state.
    pub saturated: bool,
    /// Where and from which load on, if it is saturated.
    pub saturation: Option<Saturation>,
    /// Deadline missing probabilities, in the order of the scenario.
    pub deadlines: Vec<DeadlineAnswer>,
    /// Percentiles of the network latency \[whole cycles\].
    pub latency_percentiles_cycles: Percentiles<u32>,
    /// How far off the simulation its numbers are to be expected, as far as that was measured.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub expected_errors: Vec<ExpectedError>,
    /// Frames of its streams, if it has any and the model knows them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frames: Option<FrameAnswer>,
    /// Its times in microseconds, if the model knows its streams and the scenario a cycle.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub times: Option<TimesAnswer>,
    /// What its virtual channels carry, if the model says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lanes: Option<LanesAnswer>,
    /// Why a number is `null`, by field.
    pub reasons: BTreeMap<String, String>,
    /// Channel by channel, if details are asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_channel: Option<Vec<ChannelAnswer>>,
    /// The distribution behind deadlines and percentiles, if details are asked for and it exists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_distribution: Option<LatencyDistribution>,
    /// The same for messages over 1, 2, .. network channels of a hypercube.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_distributions_by_hops: Option<Vec<LatencyDistribution>>,
}

/// Frames of the streams of a class; intervals in cycles are among its means.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FrameAnswer {
    /// Streams per node.
    pub streams: u32,
    /// Mean time between deliveries of successive frames of a stream in milliseconds, if a cycle is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frame_interval_ms: Option<f64>,
    /// Its standard deviation in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frame_interval_deviation_ms: Option<f64>,
    /// Deviation of the interval that the numbers of messages in successive frames make by themselves \[cycles\].
    pub pacing_deviation_cycles: f64,
    /// Deviation of what a frame is delayed by waiting, in the network and before it; `null` of a saturated class
    /// \[cycles\].
    pub delay_deviation_cycles: Option<f64>,
    /// Correlation of the delays of successive frames: 1 where every frame is like the one before.
    pub delay_correlation: f64,
    /// Whether the mean is at most 1.01 times the interval of the source, and the deviation 0.05 times it.
    pub jitter_free: bool,
    /// Most streams per node that are free of jitter: 1 % of them at most end at outputs that are offered too much.
    pub jitter_free_streams: u32,
    /// Their load with headers \[flits/cycle/node\].
    pub jitter_free_load: f64,
    /// What more of them overload first.
    pub jitter_free_bottleneck: String,
}

/// Times of a class in microseconds.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TimesAnswer {
    /// Network latency.
    pub network_latency_us: f64,
    /// Waiting at the interface.
    pub waiting_us: f64,
    /// Both together.
    pub total_latency_us: f64,
}

/// What the virtual channels of a class carry.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LanesAnswer {
    /// The channel that is overloaded first.
    pub bottleneck: String,
    /// Load of the class on it \[flits/cycle\].
    pub load_flits_per_cycle: f64,
    /// The largest load of the class on it, if the loads of all classes grow together \[flits/cycle\].
    pub saturates_at_flits_per_cycle: f64,
    /// The factor on all loads at which that is reached.
    pub at_load_factor: f64,
}

/// Why and from when on a class is saturated.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Saturation {
    /// What gives way: `source queue`, or the link, such as `output link` or `channel 3`.
    pub bottleneck: String,
    /// The same in a sentence, with its numbers.
    pub because: String,
    /// The class saturates when all rates of the scenario are multiplied by this.
    pub at_load_factor: Option<f64>,
    /// Its own rate then \[messages/cycle/node\].
    pub at_rate_messages_per_cycle: Option<f64>,
    /// Why both are `null`, if they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Saturation {
    /// What gives way and why, before the load at which it does is known.
    pub fn new(bottleneck: impl Into<String>, because: impl Into<String>) -> Self {
        let (bottleneck, because) = (bottleneck.into(), because.into());
        Self { bottleneck, because, at_load_factor: None, at_rate_messages_per_cycle: None, reason: None }
    }

    /// The same with the factor on all rates at which a class of this rate saturates, or why there is none.
    pub(crate) fn set_load(&mut self, factor: Result<f64, &str>, rate: f64) {
        self.at_load_factor = factor.ok();
        self.at_rate_messages_per_cycle = factor.ok().map(|factor| factor * rate);
        self.reason = factor.err().map(str::to_owned);
    }
}

/// One deadline and how often it is missed.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct DeadlineAnswer {
    /// The deadline on the network latency \[cycles\].
    pub deadline_cycles: u32,
    /// For messages over so many network channels only; `null` is all messages.
    pub hops: Option<u32>,
    /// Share of messages that take longer.
    pub miss_probability: Option<f64>,
    /// Why that is `null`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// One class on one channel.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ChannelAnswer {
    /// `output`, the dimension of a network channel, or `ejection`.
    pub channel: String,
    /// `L_{c,s}`: mean network latency of messages that start on it; at the ejection channel the time spent
    /// there \[cycles\].
    pub latency_cycles: f64,
    /// All messages of the class on it \[messages/cycle\].
    pub rate_messages_per_cycle: f64,
    /// Messages that start on it \[messages/cycle\].
    pub started_rate_messages_per_cycle: f64,
    /// `λ M`: load of the link by the class, flits per cycle.
    pub utilization: f64,
    /// `L λ`: load in (3) and (11).
    pub router_load: f64,
    /// `P_b`, Eq. (3) or (11).
    pub blocking_probability: f64,
    /// `B̄`, or `I` at a first channel, or `O` at the ejection channel \[flits\].
    pub blocking_length_flits: f64,
    /// `Bmid`: on the rest of the path \[flits\].
    pub middle_blocking_length_flits: f64,
    /// `S`: mean cycles per flit.
    pub cycles_per_flit: f64,
    /// `π_∅`: probability that no real-time message holds it.
    pub idle_probability: f64,
}

/// `P(network latency <= x)` for `x = first_cycle, first_cycle + 1, ..`; before that it is 0.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct LatencyDistribution {
    /// The first `x` \[cycles\].
    pub first_cycle: u32,
    /// The probabilities.
    pub at_most_probability: Vec<f64>,
}

/// The means are read as if they were fields of the class: `class.waiting_cycles`.
impl std::ops::Deref for ClassAnswer {
    type Target = Means<f64>;

    fn deref(&self) -> &Means<f64> {
        &self.means
    }
}

impl std::ops::DerefMut for ClassAnswer {
    fn deref_mut(&mut self) -> &mut Means<f64> {
        &mut self.means
    }
}

impl ClassAnswer {
    /// What the model says of a quantity. A margin and a load of saturation are in no answer: they take others.
    pub fn value(&self, measure: Measure) -> Option<f64> {
        match measure.quantity {
            Quantity::MissProbability => self.deadline(measure)?.miss_probability,
            quantity if quantity.percentile().is_some() => {
                self.latency_percentiles_cycles.get(quantity).map(f64::from)
            }
            quantity => self.means.get(quantity).copied(),
        }
    }

    /// Why there is no such value, as far as is known.
    pub fn reason(&self, measure: Measure) -> Option<String> {
        let of_deadline = self.deadline(measure).and_then(|found| found.reason.clone());
        of_deadline.or_else(|| self.reasons.get(measure.quantity.field()).cloned())
    }

    fn deadline(&self, measure: Measure) -> Option<&DeadlineAnswer> {
        let is_asked = |found: &&DeadlineAnswer| {
            (found.hops, Some(found.deadline_cycles)) == (measure.hops, measure.deadline_cycles)
        };
        self.deadlines.iter().find(is_asked)
    }

    /// Of a class of which nothing is known yet.
    pub fn of(class: &ClassSpec) -> Self {
        Self {
            name: class.name.clone(),
            kind: class.kind,
            means: Means::default(),
            saturated: false,
            saturation: None,
            deadlines: Vec::new(),
            latency_percentiles_cycles: Percentiles::default(),
            expected_errors: Vec::new(),
            frames: None,
            times: None,
            lanes: None,
            reasons: BTreeMap::new(),
            per_channel: None,
            latency_distribution: None,
            latency_distributions_by_hops: None,
        }
    }

    /// The same, why each of its means is missing.
    pub(crate) fn lacks_means(&mut self, because: &str) {
        for quantity in Quantity::MEANS.iter().filter(|quantity| !quantity.is_by_place()) {
            self.reasons.insert(quantity.field().to_owned(), because.to_owned());
        }
    }

    /// Deadlines and percentiles by the distributions of all messages and of those over 1, 2, .. network channels, or
    /// why there are none.
    pub(crate) fn set_distributions(
        &mut self,
        class: &ClassSpec,
        distributions: Result<(&Distribution, &[Distribution]), &str>,
    ) {
        let miss = |(hops, deadline_cycles): (Option<u32>, u32)| {
            let found = distributions.map(|(all, by_hops)| {
                let of_hops = hops.and_then(|hops| by_hops.get(hops as usize - 1)).unwrap_or(all);
                (of_hops.more_than(deadline_cycles), known(of_hops))
            });
            let (miss_probability, reason) = match found {
                Ok((Some(miss), _)) => (Some(miss), None),
                Ok((None, known)) => (None, Some(known)),
                Err(missing) => (None, Some(missing.to_owned())),
            };
            DeadlineAnswer { deadline_cycles, hops, miss_probability, reason }
        };
        self.deadlines = class.each_deadline().into_iter().map(miss).collect();
        let key = "latency_percentiles_cycles".to_owned();
        match distributions {
            Ok((all, _)) => {
                self.latency_percentiles_cycles = Percentiles::of(|share| all.percentile(share));
                if self.latency_percentiles_cycles.p99_9.is_none() {
                    self.reasons.insert(key, known(all));
                }
            }
            Err(missing) => {
                self.reasons.insert(key, missing.to_owned());
            }
        }
    }

    /// The distributions themselves, for those who ask for details.
    pub(crate) fn show_distributions(&mut self, all: &Distribution, by_hops: &[Distribution]) {
        self.latency_distribution = Some(all.into());
        self.latency_distributions_by_hops =
            (!by_hops.is_empty()).then(|| by_hops.iter().map(LatencyDistribution::from).collect());
    }
}

/// Why something is not known of a distribution.
fn known(distribution: &Distribution) -> String {
    let cycles = distribution.first() as usize + distribution.cumulated().len();
    format!("the distribution is computed up to {cycles} cycles only")
}

impl LatencyDistribution {
    /// `P(network latency > x)`; beyond the last `x` that it holds, what is left there.
    pub fn more_than(&self, cycles: u32) -> f64 {
        let Some(index) = cycles.checked_sub(self.first_cycle) else { return 1.0 };
        let known = self.at_most_probability.get(index as usize).or(self.at_most_probability.last());
        // what is left at the rounding of sums is nothing
        known.map_or(1.0, |p| if *p > 1.0 - 1e-14 { 0.0 } else { 1.0 - p })
    }
}

impl From<&Distribution> for LatencyDistribution {
    fn from(distribution: &Distribution) -> Self {
        let at_most_probability = distribution.cumulated().to_vec();
        Self { first_cycle: distribution.first(), at_most_probability }
    }
}

impl Report {
    /// In the words of the output.
    pub(crate) fn new(report: fixed_point::Report, details: bool) -> Self {
        let fixed_point::Report { status, iterations, residual, residuals } = report;
        Self { status, iterations, residual, residuals: details.then_some(residuals) }
    }
}

impl std::fmt::Display for Report {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { status, iterations, residual, residuals: _ } = *self;
        fixed_point::Report { status, iterations, residual, residuals: Vec::new() }.fmt(f)
    }
}
