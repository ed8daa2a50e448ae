//! What can be asked, and the shapes of the answers.
//!
//! A request is an object whose `ask` names it. An answer is an object, too; one with `fault` says why there is none:
//! lines as the command prints them, and faults of the scenario with their places.

use std::collections::BTreeMap;

use flitwise_experiment::answer::SimulateDocument;
use flitwise_language::scenario::{Fault, Place, Setting};
use flitwise_models::document::{DistributionDocument, SolveDocument};
use flitwise_models::model::Model;
use serde::{Deserialize, Serialize};

/// What is asked.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case", deny_unknown_fields)]
pub enum Request {
    /// All presets; answered by [`Contents`].
    Contents {},
    /// The text of a preset; answered by [`Text`].
    Preset {
        /// Its name.
        name: String,
    },
    /// What is wrong with a scenario, its form, the models that answer it; answered by [`Form`].
    Scenario {
        /// Its file.
        text: String,
    },
    /// The text with one value changed, comments kept; answered by [`Text`].
    Set {
        /// The file of the scenario.
        text: String,
        /// As `--set` takes it.
        key: String,
        /// A TOML value, or a bare word.
        value: String,
    },
    /// The answer of a model; answered by [`Solved`].
    Solve {
        /// The file of the scenario.
        text: String,
        /// Which model; by default the usual one.
        model: Option<Model>,
        /// Whether to tell the errors to expect, as the command does; it takes several times as long.
        #[serde(default = "always")]
        expected_errors: bool,
        /// How parts are drawn.
        #[serde(default)]
        style: StyleWords,
    },
    /// The whole distribution of the network latency; answered by [`Distribution`].
    Distribution {
        /// The file of the scenario.
        text: String,
        /// Which model; by default the usual one.
        model: Option<Model>,
        /// How it is drawn.
        #[serde(default)]
        style: StyleWords,
    },
    /// Curves along an axis; answered by [`Drawn`].
    Curve {
        /// The file of the scenario.
        text: String,
        /// As `--over` takes it.
        over: String,
        /// As `--couple` takes them.
        #[serde(default)]
        couple: Vec<String>,
        /// Which models; by default the usual one.
        #[serde(default)]
        models: Vec<Model>,
        /// What was simulated along the axis.
        #[serde(default)]
        simulated: Vec<Simulated>,
        /// How it is drawn.
        #[serde(default)]
        style: StyleWords,
    },
    /// Which figures a scenario has; answered by [`Offered`].
    Figures {
        /// The file of the scenario.
        text: String,
    },
    /// Pictures of a scenario by the file of a figure; answered by [`Pictures`].
    Figure {
        /// The file of a figure without simulated points; every scenario file that it names is `text`.
        figure: String,
        /// The file of the scenario.
        text: String,
        /// How they are drawn.
        #[serde(default)]
        style: StyleWords,
    },
    /// Stations of textbooks, as `flitwise station` answers them; answered by [`Stations`].
    Station {
        /// The stations, beside each other.
        stations: Vec<StationLine>,
        /// The parameter along which their mean waits are drawn; none: not at all.
        over: Option<StationsOver>,
        /// How they are drawn.
        #[serde(default)]
        style: StyleWords,
    },
    /// The same questions for a terminal; answered by [`Commands`].
    Commands {
        /// The file of the scenario.
        text: String,
        /// The preset that it was made from, if any.
        preset: Option<String>,
        /// Which model; by default the usual one.
        model: Option<Model>,
        /// As in [`Request::Curve`]; none: no curve.
        over: Option<String>,
        /// As in [`Request::Curve`].
        #[serde(default)]
        couple: Vec<String>,
        /// As in [`Request::SimulateStart`].
        #[serde(default)]
        run: Run,
    },
    /// Begins a simulation in place of one that may be under way; answered by [`Simulating`].
    SimulateStart {
        /// The file of the scenario.
        text: String,
        /// Values set before, such as those of a point of a curve.
        #[serde(default)]
        set: Vec<SetValue>,
        /// How it is run.
        #[serde(default)]
        run: Run,
    },
    /// Simulates for a while; answered by [`Simulating`].
    SimulateStep {
        /// How long, about.
        milliseconds: f64,
    },
    /// Ends the simulation with what it has; answered by [`Simulating`].
    SimulateStop {},
}

fn always() -> bool {
    true
}

/// How a simulation is run; all but the seed as the command's options.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Run {
    /// Where random numbers come from.
    pub seed: u64,
    /// Wanted half-width, as a share of the mean.
    pub precision: f64,
    /// Messages after which to stop anyway.
    pub max_messages: u64,
    /// Independent replications; none: as many as the command takes.
    pub replications: Option<u32>,
}

/// A station of a textbook.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StationLine {
    /// What it is called; none: its kind.
    pub label: Option<String>,
    /// As `flitwise station` takes it.
    pub kind: String,
    /// Its parameters.
    pub numbers: BTreeMap<String, f64>,
}

/// A parameter of stations that varies.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StationsOver {
    /// Which one.
    pub key: String,
    /// Its first value.
    pub from: f64,
    /// Its last value.
    pub to: f64,
    /// How many.
    pub points: usize,
}

impl Default for Run {
    fn default() -> Self {
        Self { seed: 1, precision: 0.01, max_messages: 10_000_000, replications: None }
    }
}

/// A key and the value that it gets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetValue {
    /// As `--set` takes it.
    pub key: String,
    /// The same.
    pub value: String,
}

/// How pictures are drawn.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StyleWords {
    /// Whether light on dark.
    pub dark: bool,
    /// Pixels; as the command draws it unless it is given.
    pub width: Option<u32>,
}

/// What was simulated at a point of a curve: of a [`Simulating`] what [`Simulating::latencies`] has.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Simulated {
    /// Where on the axis.
    pub x: f64,
    /// By class.
    pub latencies: Vec<Latency>,
}

/// The simulated network latency of a class.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Latency {
    /// Name of the class.
    pub class: String,
    /// The mean \[cycles\].
    pub mean: Option<f64>,
    /// The 95 % interval is the mean plus and minus this.
    pub half_width_95: Option<f64>,
    /// Whether the class is saturated.
    pub saturated: bool,
}

/// All that there is to choose.
#[derive(Clone, Debug, Serialize)]
pub struct Contents {
    /// Version of flitwise.
    pub flitwise_version: &'static str,
    /// Built-in scenarios.
    pub presets: Vec<PresetLine>,
}

/// A built-in scenario.
#[derive(Clone, Debug, Serialize)]
pub struct PresetLine {
    /// As `--preset` takes it.
    pub name: &'static str,
    /// The paper that it is of.
    pub group: &'static str,
    /// What it is.
    pub about: &'static str,
}

/// A scenario's file.
#[derive(Clone, Debug, Serialize)]
pub struct Text {
    /// The file.
    pub text: String,
}

/// What a scenario is, for a form.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Form {
    /// What is wrong; then there is nothing else.
    pub faults: Vec<FaultLine>,
    /// Its name and its network.
    pub title: String,
    /// Values that can be changed.
    pub fields: Vec<Field>,
    /// Models that answer it, the usual one first.
    pub models: Vec<ModelLine>,
    /// Why nothing answers it, if no model does: as the command says.
    pub refusal: Option<String>,
    /// Why it cannot be simulated, if it cannot.
    pub not_simulated: Option<String>,
    /// Axes along which curves can be drawn, the one that matters most first.
    pub axes: Vec<AxisLine>,
}

/// A fault and its place.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FaultLine {
    /// From 1; none of a fault that is nowhere in the text.
    pub line: Option<usize>,
    /// From 1, in characters.
    pub column: Option<usize>,
    /// The key; empty where there is none.
    pub key: String,
    /// As the command prints it.
    pub text: String,
}

impl From<&Fault> for FaultLine {
    fn from(fault: &Fault) -> Self {
        let (line, column) = match fault.place {
            Place::At { line, column, .. } => (Some(line), Some(column)),
            Place::Setting(_) | Place::Program => (None, None),
        };
        Self { line, column, key: fault.key.clone(), text: fault.to_string() }
    }
}

/// A value that a form changes.
#[derive(Clone, Debug, Serialize)]
pub struct Field {
    /// Its path.
    pub key: String,
    /// What it means.
    pub sentence: &'static str,
    /// Its unit; of a value with a unit of its own, what follows the number.
    pub unit: String,
    /// Whether the number is written with its unit, in quotes.
    pub has_unit: bool,
    /// Its number, if it is one.
    pub number: Option<f64>,
    /// What it may be at least.
    pub least: Option<f64>,
    /// What it may be at most.
    pub most: Option<f64>,
    /// Where a slider begins.
    pub from: f64,
    /// Where it ends.
    pub to: f64,
    /// How far it moves at a time.
    pub step: f64,
    /// Its word, if it is one.
    pub word: Option<String>,
    /// What other words there are.
    pub words: Vec<&'static str>,
}

/// A model that answers a scenario.
#[derive(Clone, Debug, Serialize)]
pub struct ModelLine {
    /// As `--model` takes it.
    pub name: Model,
    /// What it is.
    pub about: &'static str,
    /// Whether it has distributions, not means alone.
    pub has_distributions: bool,
}

/// An axis.
#[derive(Clone, Debug, Serialize)]
pub struct AxisLine {
    /// The key along which it goes.
    pub key: String,
    /// As `--over` takes it.
    pub over: String,
    /// As `--couple` takes it: other classes of the same kind keep their proportion.
    pub couple: Vec<String>,
}

/// A table to be read: rows of texts.
#[derive(Clone, Debug, Serialize)]
pub struct Table {
    /// What it is of.
    pub title: String,
    /// Its columns.
    pub columns: Vec<Column>,
    /// Its rows.
    pub rows: Vec<Vec<String>>,
}

/// A column of a table.
#[derive(Clone, Debug, Serialize)]
pub struct Column {
    /// Its head.
    pub head: String,
    /// Its unit; empty of words and shares.
    pub unit: String,
    /// What it is, in a paragraph; empty where the head says it.
    pub meaning: String,
}

/// A model's answer.
#[derive(Debug, Serialize)]
pub struct Solved {
    /// As the command prints it with `--format json`.
    pub document: SolveDocument,
    /// What can be read of it.
    pub tables: Vec<Table>,
    /// As the command prints it with `--format csv`.
    pub csv: String,
    /// By class: the parts of the latency, drawn.
    pub parts: Vec<String>,
    /// Notes, such as why a class is saturated.
    pub notes: Vec<String>,
}

/// A picture and its numbers.
#[derive(Clone, Debug, Serialize)]
pub struct Drawn {
    /// The picture.
    pub svg: String,
    /// As `flitwise sweep --means-only` prints them.
    pub csv: String,
    /// Points along the axis: what is set at each, coupled values included.
    pub points: Vec<Vec<Setting>>,
    /// What one should know.
    pub notes: Vec<String>,
}

/// A whole distribution.
#[derive(Debug, Serialize)]
pub struct Distribution {
    /// As the command prints it with `--distribution --format json`.
    pub document: DistributionDocument,
    /// The probabilities that messages take longer, drawn.
    pub svg: String,
}

/// Figures that a scenario has.
#[derive(Clone, Debug, Serialize)]
pub struct Offered {
    /// All of them.
    pub figures: Vec<FigureLine>,
}

/// A figure that a scenario has.
#[derive(Clone, Debug, Serialize)]
pub struct FigureLine {
    /// What it shows.
    pub title: String,
    /// For [`Request::Figure`].
    pub figure: String,
}

/// Pictures of a figure.
#[derive(Clone, Debug, Serialize)]
pub struct Pictures {
    /// One, or one for each of its moments in order.
    pub svgs: Vec<String>,
    /// All numbers, as `flitwise figure` writes them.
    pub csv: String,
    /// What one should know.
    pub notes: Vec<String>,
}

/// Stations of textbooks.
#[derive(Clone, Debug, Serialize)]
pub struct Stations {
    /// One for each.
    pub tables: Vec<Table>,
    /// Their mean waits, if they were asked.
    pub svg: Option<String>,
}

/// The same questions for a terminal.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Commands {
    /// Whether the text has to be saved as `mine.toml` first.
    pub needs_file: bool,
    /// Values that differ from the preset; empty where a file is needed.
    pub settings: Vec<SetValue>,
    /// `flitwise solve`.
    pub solve: String,
    /// `flitwise sweep`, if there is an axis.
    pub sweep: Option<String>,
    /// `flitwise simulate`.
    pub simulate: String,
}

/// Where a simulation stands.
#[derive(Debug, Serialize)]
pub struct Simulating {
    /// Whether it is through; then the document is the command's.
    pub ended: bool,
    /// Share of the work done, as far as can be foreseen.
    pub share_done: f64,
    /// Whether it looks for the end of the warm-up.
    pub warming_up: bool,
    /// Messages measured.
    pub messages: u64,
    /// Half-width of the least precise class, as a share of the mean.
    pub precision: Option<f64>,
    /// The answer so far, where it is new, as the command prints it with `--format json`.
    pub document: Option<SimulateDocument>,
    /// What can be read of it.
    pub tables: Vec<Table>,
    /// Its network latencies, to be drawn into a curve.
    pub latencies: Vec<Latency>,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NoAnswer {
    /// As the command prints it.
    pub fault: String,
    /// Faults of the scenario.
    pub faults: Vec<FaultLine>,
}

impl NoAnswer {
    /// With nothing wrong in the text.
    pub fn new(fault: impl Into<String>) -> Self {
        Self { fault: fault.into(), faults: Vec::new() }
    }

    /// Of a scenario that is unsound.
    pub fn of(faults: &[Fault]) -> Self {
        let lines: Vec<String> = faults.iter().map(Fault::to_string).collect();
        Self { fault: lines.join("\n"), faults: faults.iter().map(FaultLine::from).collect() }
    }
}
