//! The answer of `flitwise verify --accuracy --format json`.

use flitwise_experiment::Settings;
use flitwise_experiment::answer::{ClassSimulation, Estimate, PercentileEstimate};
use flitwise_language::quantity::{Means, Percentiles};
use flitwise_language::scenario::{ClassKind, NetworkSpec};
use flitwise_models::answer::{Answer, ClassAnswer};
use flitwise_validation::accuracy::saturation::SaturationLoad;
use flitwise_validation::accuracy::summary::{self, Found, Network, Row, Tables};
use flitwise_validation::accuracy::{self, Case, Curve, ErrorOf, HopsObservation, Observation, Plan};
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::Verify;
use flitwise_models::model::Model;

/// The whole answer.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AccuracyDocument {
    /// `flitwise.accuracy/2`.
    schema: &'static str,
    /// Version of flitwise that made it.
    flitwise_version: &'static str,
    /// The model that is judged.
    pub(super) model: String,
    /// `tuning`, `holdout` or the file of the set.
    pub(super) set: String,
    /// What the scenarios were drawn from.
    pub(super) set_seed: u64,
    /// Where the random numbers of all simulations come from.
    pub(super) seed: u64,
    /// Wanted 95 % half-width of the network latency of the worst class, as a share of it.
    pub(super) wanted_precision: f64,
    /// Flits times crossbars of a point's measured messages at most.
    max_flit_hops: f64,
    /// Shares of the load at which the first class saturates.
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
    /// As a scenario file (TOML), all rates as drawn: multiply them by `factor` for a point.
    pub(super) scenario: String,
    #[serde(skip)]
    pub(super) network: NetworkSpec,
    /// Load factor at which the first class saturates, simulated.
    pub(super) saturation_factor: Option<f64>,
    /// Where each class saturates.
    pub(super) saturation: Vec<SaturationEntry>,
    /// At every load.
    pub(super) points: Vec<PointEntry>,
}

/// Where a class saturates.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SaturationEntry {
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
    /// Share of the load at which the first class saturates.
    load: f64,
    /// What the rates of the scenario are multiplied by.
    factor: f64,
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
    classes: Vec<ClassEntry>,
}

/// A class at one point.
#[derive(Debug, Serialize, JsonSchema)]
struct ClassEntry {
    /// Name of the class.
    class: String,
    /// How links treat it.
    kind: ClassKind,
    /// Model minus simulation.
    errors: Vec<ErrorOf>,
    /// What the simulation says.
    simulated: SimulatedEntry,
    /// What the model says; `null` if it has no answer.
    model: Option<ModelEntry>,
}

/// What the simulation says of a class; cycles.
#[derive(Debug, Serialize, JsonSchema)]
struct SimulatedEntry {
    /// Whether it found the class saturated.
    saturated: bool,
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
struct ModelEntry {
    /// Whether it takes the class to be saturated.
    saturated: bool,
    /// The means.
    #[serde(flatten)]
    means: Means<f64>,
}

impl AccuracyDocument {
    pub(super) fn new(args: &Verify, plan: &Plan, settings: &Settings) -> Self {
        Self {
            schema: "flitwise.accuracy/2",
            flitwise_version: env!("CARGO_PKG_VERSION"),
            model: args.model.unwrap_or(Model::Refined).word().to_owned(),
            set: args.set.clone(),
            set_seed: plan.seed,
            seed: settings.seed,
            wanted_precision: settings.precision,
            max_flit_hops: plan.max_flit_hops,
            loads: plan.loads.clone(),
            partial: false,
            summary: Vec::new(),
            cases: Vec::new(),
        }
    }

    /// Makes the table of all errors.
    pub(super) fn summarize(&mut self) {
        let mut found = Vec::new();
        for case in &self.cases {
            let network = Network::of(case.network);
            for entry in &case.saturation {
                let place = format!("{} {}", case.name, entry.class);
                let kind = entry.kind;
                found.push(Found {
                    family: &case.family,
                    network,
                    place,
                    kind,
                    load: None,
                    error: &entry.error,
                });
            }
            for point in &case.points {
                for class in &point.classes {
                    for error in &class.errors {
                        let hops =
                            error.measure.hops.map_or_else(String::new, |hops| format!(", {hops} hops"));
                        let place = format!("{} {} {}{hops}", case.name, class.class, point.load);
                        let (kind, load) = (class.kind, Some(point.load));
                        found.push(Found { family: &case.family, network, place, kind, load, error });
                    }
                }
            }
        }
        let summary = summary::rows(&found, &Tables::OF_SCENARIOS);
        self.summary = summary;
    }
}

impl CaseEntry {
    /// What was drawn, before anything is known of it.
    pub(super) fn unsimulated(case: &Case) -> Self {
        let spec = case.scenario.spec();
        Self {
            name: case.name.clone(),
            family: case.family.clone(),
            scenario: spec.to_toml(),
            network: spec.network,
            saturation_factor: None,
            saturation: Vec::new(),
            points: Vec::new(),
        }
    }

    pub(super) fn new(case: &Case, loads: &[Option<SaturationLoad>], errors: Vec<Option<ErrorOf>>) -> Self {
        let classes = case.scenario.classes().iter().zip(errors);
        let entry = |(class, error): (&flitwise_language::scenario::ClassSpec, Option<ErrorOf>)| {
            Some(SaturationEntry { class: class.name.clone(), kind: class.kind, error: error? })
        };
        Self {
            saturation_factor: loads.iter().flatten().map(|load| load.factor).reduce(f64::min),
            saturation: classes.filter_map(entry).collect(),
            ..Self::unsimulated(case)
        }
    }
}

impl PointEntry {
    pub(super) fn new(
        load: f64,
        factor: f64,
        observation: &Observation,
        answer: Result<&Answer, &String>,
    ) -> Self {
        let run = &observation.simulation.run;
        let classes = observation.simulation.classes.iter().zip(&observation.classes).enumerate();
        let class = |(index, (simulated, own)): (usize, (&ClassSimulation, &accuracy::ClassObservation))| {
            let errors = accuracy::judge(observation, index, answer.map_err(String::as_str));
            ClassEntry {
                class: simulated.name.clone(),
                kind: simulated.kind,
                errors,
                simulated: SimulatedEntry {
                    saturated: simulated.saturated,
                    means: simulated.means.clone(),
                    network_latency_deviation_cycles: simulated.network_latency_deviation_cycles,
                    waiting_deviation_cycles: simulated.waiting_deviation_cycles,
                    latency_percentiles_cycles: simulated.latency_percentiles_cycles,
                    misses: own.misses.clone(),
                    hops: own.by_hops.clone(),
                },
                model: answer.ok().map(|answer| model_entry(&answer.classes[index])),
            }
        };
        Self {
            load,
            factor,
            replications: run.replications,
            more_than_asked: run.more_than_asked,
            messages: run.messages,
            reached_precision: run.reached_precision,
            simulation_seconds: run.simulation_seconds,
            classes: classes.map(class).collect(),
        }
    }
}

fn model_entry(class: &ClassAnswer) -> ModelEntry {
    ModelEntry { saturated: class.saturated, means: class.means.clone() }
}
