//! The answer of `flitwise verify --accuracy --format json`.

use flitwise_experiment::Settings;
use flitwise_experiment::answer::{Estimate, PercentileEstimate};
use flitwise_language::quantity::{Means, Percentiles, Quantity};
use flitwise_language::scenario::{ClassKind, Scenario};
use flitwise_models::accuracy::{ErrorRow, ErrorTable, Region};
use flitwise_models::answer::Answer;
use flitwise_models::model::Model;
use flitwise_validation::accuracy::summary::{self, Network, PlacedError, Row};
use flitwise_validation::accuracy::{
    self, Case, Curve, ErrorOf, ErrorUnit, HopsObservation, Observation, Plan, error_unit,
};
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::Verify;

/// The whole answer.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AccuracyDocument {
    /// `flitwise.accuracy/4`.
    schema: &'static str,
    /// Version of flitwise that made it.
    flitwise_version: &'static str,
    /// The model that is judged.
    pub(super) model: Model,
    /// Name of a registered set, or the file of the set.
    pub(super) set: String,
    /// What the scenarios were drawn from.
    pub(super) set_seed: u64,
    /// Where the random numbers of all simulations come from.
    pub(super) seed: u64,
    /// Wanted 95 % half-width of the network latency of the worst class, as a share of it.
    pub(super) wanted_precision: f64,
    /// Flits times crossbars of a point's measured messages at most.
    pub(super) max_flit_hops: f64,
    /// What the model is judged by.
    pub(super) quantities: Vec<Quantity>,
    /// Shares of the load at which the model has the first class saturate.
    pub(super) loads: Vec<f64>,
    /// Whether it was interrupted; what was not simulated is missing.
    pub(super) partial: bool,
    /// Means and worst of errors, beside what is aimed at.
    pub(super) summary: Vec<Row>,
    /// All scenarios.
    pub(super) cases: Vec<CaseEntry>,
}

/// A scenario.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct CaseEntry {
    /// Family and number.
    pub(super) name: String,
    /// Its family.
    pub(super) family: String,
    /// As a scenario file (TOML), its load as drawn.
    scenario: String,
    #[serde(skip)]
    pub(super) drawn: Scenario,
    /// Multiple of that load at which the first class saturates.
    pub(super) saturation_factor: Option<f64>,
    /// Where each class saturates; empty where that is not judged.
    saturation: Vec<SaturationEntry>,
    /// At every load.
    pub(super) points: Vec<PointEntry>,
}

/// Where a class saturates.
#[derive(Debug, Serialize, JsonSchema)]
struct SaturationEntry {
    /// Name of the class.
    class: String,
    /// How links treat it.
    kind: ClassKind,
    /// Load factors of model and simulation.
    #[serde(flatten)]
    error: ErrorOf,
}

/// A scenario at one load.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct PointEntry {
    /// Share of the load at which the model has the first class saturate.
    load: f64,
    /// What the load of the scenario as drawn is multiplied by.
    factor: f64,
    /// As a scenario file (TOML).
    scenario: String,
    /// Independent runs behind the numbers.
    replications: u32,
    /// Whether the store had more than was asked for, which is used.
    more_than_asked: bool,
    /// Messages measured.
    messages: u64,
    /// 95 % half-width of the network latency of the worst class, as a share of it.
    reached_precision: Option<f64>,
    /// Time spent in the simulation \[s\].
    simulation_seconds: f64,
    /// By class.
    pub(super) classes: Vec<ClassEntry>,
}

/// A class at one point.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ClassEntry {
    /// Name of the class.
    class: String,
    /// How links treat it.
    kind: ClassKind,
    /// Model minus simulation.
    errors: Vec<ErrorOf>,
    /// Simulated deviation of the intervals of frames of one length \[percent of the interval\]: it is not judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) constant_frame_interval_deviation_percent: Option<f64>,
    /// What the simulation says.
    pub(super) simulated: SimulatedEntry,
    /// What the model says; `null` if it has no answer.
    pub(super) model: Option<ModelEntry>,
}

/// What the simulation says of a class; cycles.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SimulatedEntry {
    /// Whether it found the class saturated.
    pub(super) saturated: bool,
    /// The means.
    #[serde(flatten)]
    means: Means<Estimate>,
    /// Standard deviation.
    network_latency_deviation_cycles: Option<f64>,
    /// Standard deviation.
    waiting_deviation_cycles: Option<f64>,
    /// Percentiles of the network latency.
    latency_percentiles_cycles: Percentiles<PercentileEstimate>,
    /// Deadline missing probabilities of all messages.
    misses: Option<Curve>,
    /// The same and more by number of network channels; empty for a single router.
    hops: Vec<HopsObservation>,
}

/// What the model says of a class; cycles.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ModelEntry {
    /// Whether it takes the class to be saturated.
    pub(super) saturated: bool,
    /// The means.
    #[serde(flatten)]
    means: Means<f64>,
}

/// A scenario at one load, simulated and solved.
pub(super) struct Point<'p> {
    pub(super) load: f64,
    pub(super) factor: f64,
    pub(super) scenario: &'p Scenario,
    pub(super) observation: &'p Observation,
    /// What the model says, or why it says nothing.
    pub(super) answer: Result<&'p Answer, &'p str>,
}

impl AccuracyDocument {
    pub(super) fn new(args: &Verify, plan: &Plan, model: Model, settings: &Settings) -> Self {
        Self {
            schema: "flitwise.accuracy/4",
            flitwise_version: env!("CARGO_PKG_VERSION"),
            model,
            set: args.set.clone(),
            set_seed: plan.seed,
            seed: settings.seed,
            wanted_precision: settings.precision,
            max_flit_hops: plan.max_flit_hops,
            quantities: plan.quantities.clone(),
            loads: plan.loads.clone(),
            partial: false,
            summary: Vec::new(),
            cases: Vec::new(),
        }
    }

    /// Makes the table of all errors.
    pub(super) fn summarize(&mut self, plan: &Plan) {
        let mut found = Vec::new();
        for case in &self.cases {
            let network = Network::of(case.drawn.network());
            let one = |place: String, kind, load, error| PlacedError {
                family: &case.family,
                network,
                place,
                kind,
                load,
                error,
            };
            for entry in &case.saturation {
                found.push(one(format!("{} {}", case.name, entry.class), entry.kind, None, &entry.error));
            }
            for point in &case.points {
                for class in &point.classes {
                    for error in &class.errors {
                        let hops =
                            error.measure.hops.map_or_else(String::new, |hops| format!(", {hops} hops"));
                        let place = format!("{} {} {}{hops}", case.name, class.class, point.load);
                        found.push(one(place, class.kind, Some(point.load), error));
                    }
                }
            }
        }
        let summary = summary::rows(&found, plan);
        self.summary = summary;
    }
}

/// Half-widths of simulated numbers from which on their errors are not counted, in the unit of the errors.
const NOISE: [(ErrorUnit, f64); 2] = [(ErrorUnit::Percent, 10.0), (ErrorUnit::Absolute, 0.03)];

impl AccuracyDocument {
    /// The errors from which those to expect are told, and how many were left out since the simulation does not know
    /// the number well enough. Of several numbers of hops the worst counts.
    pub(super) fn errors(&self) -> (ErrorTable, usize) {
        let quantities: Vec<Quantity> =
            self.quantities.iter().copied().filter(|one| *one != Quantity::SaturationLoad).collect();
        let (mut rows, mut left_out) = (Vec::new(), 0);
        for case in &self.cases {
            let Some(region) = Region::of(&case.drawn) else { continue };
            for (point, class) in
                case.points.iter().flat_map(|point| point.classes.iter().map(move |class| (point, class)))
            {
                let Some(model) = class.model.as_ref().filter(|model| !model.saturated) else { continue };
                let mut error = |quantity: &Quantity| class.error(*quantity, &mut left_out);
                rows.push(ErrorRow {
                    case: case.name.clone(),
                    load: point.load,
                    factor: point.factor,
                    class: class.class.clone(),
                    kind: class.kind,
                    region,
                    network_latency_cycles: model.means.network_latency_cycles,
                    errors: quantities.iter().map(&mut error).collect(),
                });
            }
        }
        (ErrorTable { quantities, rows }, left_out)
    }
}

impl CaseEntry {
    /// What was drawn.
    pub(super) fn unsimulated(case: &Case) -> Self {
        Self {
            name: case.name.clone(),
            family: case.family.clone(),
            scenario: case.scenario.spec().to_toml(),
            drawn: case.scenario.clone(),
            saturation_factor: None,
            saturation: Vec::new(),
            points: Vec::new(),
        }
    }

    /// Where each class saturates, by model and simulation.
    pub(super) fn saturates(&mut self, errors: Vec<Option<ErrorOf>>) {
        let classes = self.drawn.classes().iter().zip(errors);
        let entries = classes.filter_map(|(class, error)| {
            Some(SaturationEntry { class: class.name.clone(), kind: class.kind, error: error? })
        });
        self.saturation = entries.collect();
    }
}

impl PointEntry {
    pub(super) fn new(quantities: &[Quantity], point: &Point<'_>) -> Self {
        let run = &point.observation.simulation.run;
        let classes = 0..point.scenario.classes().len();
        Self {
            load: point.load,
            factor: point.factor,
            scenario: point.scenario.spec().to_toml(),
            replications: run.replications,
            more_than_asked: run.more_than_asked,
            messages: run.messages,
            reached_precision: run.reached_precision,
            simulation_seconds: run.simulation_seconds,
            classes: classes.map(|class| ClassEntry::new(quantities, point, class)).collect(),
        }
    }
}

impl ClassEntry {
    /// The worst error of a quantity; infinite where only the simulation finds the class saturated.
    fn error(&self, quantity: Quantity, left_out: &mut usize) -> Option<f64> {
        let own = || self.errors.iter().filter(|one| one.measure.quantity == quantity);
        if own().next().is_none() && self.simulated.saturated {
            return Some(f64::INFINITY);
        }
        let is_noisy = |one: &ErrorOf| {
            let most =
                NOISE.iter().find(|(unit, _)| *unit == error_unit(quantity)).map_or(0.0, |(_, most)| *most);
            one.noise.is_none_or(|noise| noise > most)
        };
        let (noisy, known): (Vec<&ErrorOf>, Vec<&ErrorOf>) = own().partition(|one| is_noisy(one));
        *left_out += usize::from(known.is_empty() && !noisy.is_empty());
        known.iter().filter_map(|one| one.error).max_by(|a, b| a.abs().total_cmp(&b.abs()))
    }

    fn new(quantities: &[Quantity], point: &Point<'_>, class: usize) -> Self {
        let Point { scenario, observation, answer, .. } = *point;
        let (simulated, own) = (&observation.simulation.classes[class], &observation.classes[class]);
        let is_constant = accuracy::has_frames_of_one_length(scenario, class);
        let deviation = simulated.value(Quantity::FrameIntervalDeviation.into()).filter(|_| is_constant);
        let frames = scenario.frames(class);
        let model = |answer: &Answer| {
            let class = &answer.classes[class];
            ModelEntry { saturated: class.saturated, means: class.means.clone() }
        };
        Self {
            class: simulated.name.clone(),
            kind: simulated.kind,
            errors: accuracy::judge(quantities, scenario, observation, class, answer),
            constant_frame_interval_deviation_percent: deviation
                .zip(frames)
                .map(|(found, frames)| 100.0 * found.value / frames.interval),
            simulated: SimulatedEntry {
                saturated: simulated.saturated,
                means: simulated.means.clone(),
                network_latency_deviation_cycles: simulated.network_latency_deviation_cycles,
                waiting_deviation_cycles: simulated.waiting_deviation_cycles,
                latency_percentiles_cycles: simulated.latency_percentiles_cycles,
                misses: own.misses.clone(),
                hops: own.by_hops.clone(),
            },
            model: answer.ok().map(model),
        }
    }
}
