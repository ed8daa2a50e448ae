//! Compares models with a simulation: one row per class, quantity and model.
//!
//! Differences are model minus simulation. They are judged in percent
//! - of the simulated value for latencies, waiting and percentiles,
//! - of the simulated network latency for its parts, so that the differences of the parts add up to that of
//!   the whole,
//! - and as they are, in percentage points, for probabilities: 0.30 against 0.25 is 5 %.
//!
//! A bound agrees where the simulated value stays below it; it has no difference in percent. Every quantity says in its
//! declaration whether it is compared ([`Quantity::is_compared`]).

use flitwise_language::document::{Reader, Table, one_of};
use flitwise_language::quantity::{Measure, Quantity};
use flitwise_language::scenario::ClassKind;
use flitwise_models::answer::{Answer, ClassAnswer};
use flitwise_models::model::Model;
use schemars::JsonSchema;
use serde::Serialize;

use flitwise_experiment::answer::{ClassSimulation, ConfidenceInterval, Simulation, StoppedBy};

/// Reads `quantity`, and for a miss probability `at`: the deadlines, each once. `None` after a fault.
pub fn read_measures(reader: &mut Reader, table: &Table<'_>) -> Option<Vec<Measure>> {
    const DEADLINES: &str = "at = [{ deadline = 42 }], or at = [{ hops = 2, deadline = 55 }]";
    let compared = [Quantity::compared(), vec![Quantity::AcceptedRate]].concat();
    reader.require(table, "quantity", &one_of(compared.iter().map(|one| one.word())), None);
    let quantity = reader.word(table, "quantity", &compared, Quantity::word)?;
    if quantity != Quantity::MissProbability {
        if let Some(at) = table.get("at") {
            let (found, wanted) = ("at beside another quantity", "quantity = \"miss-probability\"");
            reader.refuse(&at.place, table.key("at"), found.to_owned(), wanted.to_owned(), None);
        }
        return Some(vec![quantity.into()]);
    }
    reader.require(table, "at", "the deadlines", Some(DEADLINES));
    let mut measures = Vec::new();
    for at in reader.tables(table, "at") {
        reader.refuse_unknown(&at, &["hops", "deadline"]);
        reader.require(&at, "deadline", "a whole number of cycles", Some(DEADLINES));
        let hops = reader.whole(&at, "hops");
        let Some(deadline) = reader.whole(&at, "deadline") else { continue };
        let measure = Measure::miss(deadline, hops);
        if measures.contains(&measure) {
            let (found, wanted) = ("the same deadline again".to_owned(), "each deadline once".to_owned());
            let place = at.get("deadline").map_or(at.place, |node| &node.place);
            reader.refuse(place, at.key("deadline"), found, wanted, None);
        }
        measures.push(measure);
    }
    (!measures.is_empty()).then_some(measures)
}

/// How a model's value and a simulated one compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The model's value lies within the interval.
    Agrees,
    /// It lies beyond, by no more than the tolerance.
    Close,
    /// It lies beyond by more than the tolerance.
    Off,
    /// Both say that the class is saturated.
    BothSaturated,
    /// One says so, the other does not.
    SaturationDiffers,
    /// The model has no such number.
    NoModel,
    /// The simulation has no such number, or no interval for it.
    NoSimulation,
}

impl Verdict {
    /// Whether it counts as a difference beyond the tolerance.
    pub fn is_beyond_tolerance(self) -> bool {
        matches!(self, Self::Off | Self::SaturationDiffers)
    }

    /// In as few letters as a narrow column has.
    pub fn short_word(self) -> &'static str {
        match self {
            Self::BothSaturated => "both sat.",
            Self::SaturationDiffers => "SAT. DIFFERS",
            Self::NoModel => "-",
            other => other.word(),
        }
    }

    /// In words.
    pub fn word(self) -> &'static str {
        match self {
            Self::Agrees => "agrees",
            Self::Close => "close",
            Self::Off => "OFF",
            Self::BothSaturated => "both saturated",
            Self::SaturationDiffers => "SATURATION DIFFERS",
            Self::NoModel => "no model",
            Self::NoSimulation => "not measured",
        }
    }
}

/// One quantity of one class, from a model and from a simulation.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Row {
    /// Name of the class.
    pub class: String,
    /// How links treat it.
    pub kind: ClassKind,
    /// What is compared.
    #[serde(flatten)]
    pub measure: Measure,
    /// Its unit; empty for a probability.
    pub unit: &'static str,
    /// Which model.
    pub model: Model,
    /// What the model says \[unit of the quantity\].
    pub model_value: Option<f64>,
    /// What was simulated \[unit of the quantity\].
    pub simulated: Option<ConfidenceInterval>,
    /// Model minus simulation \[unit of the quantity\].
    pub difference: Option<f64>,
    /// The same in percent, see the module.
    pub difference_percent: Option<f64>,
    /// The same in half-widths of the interval, on the side where the model's value lies.
    pub difference_half_widths: Option<f64>,
    /// Whether the class is saturated in the model.
    pub model_saturated: bool,
    /// Whether it is in the simulation.
    pub simulation_saturated: bool,
    /// How they compare.
    pub verdict: Verdict,
}

/// What to compare and when to call it off.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Difference that is still close, as a share: 0.05 is 5 %.
    pub tolerance: f64,
    /// The quantities wanted; empty: all.
    pub quantities: Vec<Quantity>,
}

impl Default for Options {
    fn default() -> Self {
        Self { tolerance: 0.05, quantities: Vec::new() }
    }
}

/// Compares models' answers with a simulation of the same scenario: class by class, quantity by quantity, model by
/// model. A model without an answer (`None`) has rows without its value.
///
/// Unless they are asked for, parts by place are left out where no model has them.
///
/// # Panics
/// If answers and simulation are not of the same classes.
pub fn rows(answers: &[(Model, Option<&Answer>)], simulation: &Simulation, options: &Options) -> Vec<Row> {
    let classes = simulation.classes.len();
    let mut rows = Vec::new();
    for (index, simulated) in simulation.classes.iter().enumerate() {
        let of_class = |(model, answer): &(Model, Option<&'_ Answer>)| {
            let found = answer.map(|answer| {
                assert_eq!(answer.classes.len(), classes, "answers to one scenario");
                answer.classes[index].clone()
            });
            (*model, found)
        };
        let models: Vec<(Model, Option<ClassAnswer>)> = answers.iter().map(of_class).collect();
        let is_first = index == 0;
        let is_told = |measure: Measure| {
            let knows = |(_, class): &(Model, Option<ClassAnswer>)| {
                class.as_ref().is_some_and(|class| class.value(measure).is_some())
            };
            match measure.quantity {
                // a lone message takes the same time in all models
                Quantity::Transfer => false,
                quantity => {
                    let is_lacked = models.iter().all(|(model, _)| model.lacks(quantity));
                    !(is_lacked || quantity.is_by_place()) || models.iter().any(knows)
                }
            }
        };
        let wanted = |measure: &Measure| match options.quantities.as_slice() {
            [] => is_told(*measure),
            asked => asked.contains(&measure.quantity),
        };
        // what is one number for all classes stands with the first
        let wanted =
            |measure: &Measure| (is_first || !measure.quantity.is_of_all_classes()) && wanted(measure);
        for measure in measures(simulated).into_iter().filter(wanted) {
            let row = |(model, class): &(Model, Option<ClassAnswer>)| match class {
                Some(class) => row(*model, class, simulated, measure, options.tolerance),
                None => row_without_model(*model, simulated, measure),
            };
            let of_measure = models.iter().map(row).map(|row| row.named(simulation));
            rows.extend(of_measure);
        }
    }
    rows
}

/// What was simulated stands alone.
fn row_without_model(model: Model, simulated: &ClassSimulation, measure: Measure) -> Row {
    Row {
        simulated: simulated.value(measure),
        ..Row::empty(model, &simulated.name, simulated.kind, measure, simulated.saturated)
    }
}

/// What there is to compare of a class, in the order of reading.
fn measures(class: &ClassSimulation) -> Vec<Measure> {
    let misses =
        || class.deadlines.iter().map(|found| Measure::miss(found.deadline_cycles, found.hops)).collect();
    let of = |quantity: Quantity| match quantity {
        Quantity::MissProbability => misses(),
        // the published model has no distribution of best-effort latencies
        percentile if percentile.percentile().is_some() && class.kind == ClassKind::BestEffort => Vec::new(),
        // of frames either all are there or none
        of_frames if of_frames.is_of_frames() && class.frame_interval_cycles.is_none() => Vec::new(),
        of_frames if of_frames.is_of_frames() => vec![of_frames.into()],
        of_group if Quantity::GROUPS.iter().any(|group| group.contains(&of_group)) => {
            class.means.get(of_group).map(|_| of_group.into()).into_iter().collect()
        }
        quantity => vec![quantity.into()],
    };
    Quantity::compared().into_iter().flat_map(of).collect()
}

/// In the place of a class's name, of what is one number for all of them.
const ALL_CLASSES: &str = "all";

impl Row {
    /// The same, of all classes where its quantity is; whether a class is saturated is not seen in a run with an end.
    fn named(mut self, simulation: &Simulation) -> Self {
        if self.measure.quantity.is_of_all_classes() {
            ALL_CLASSES.clone_into(&mut self.class);
        }
        if self.verdict == Verdict::SaturationDiffers
            && !self.simulation_saturated
            && simulation.run.stopped_by == StoppedBy::End
        {
            self.verdict = Verdict::NoSimulation;
        }
        self
    }

    fn empty(
        model: Model,
        class: &str,
        kind: ClassKind,
        measure: Measure,
        simulation_saturated: bool,
    ) -> Self {
        Self {
            class: class.to_owned(),
            kind,
            measure,
            unit: measure.quantity.unit().word(),
            model,
            model_value: None,
            simulated: None,
            difference: None,
            difference_percent: None,
            difference_half_widths: None,
            model_saturated: false,
            simulation_saturated,
            verdict: Verdict::NoModel,
        }
    }
}

pub(crate) fn row(
    model_name: Model,
    model: &ClassAnswer,
    simulated: &ClassSimulation,
    measure: Measure,
    tolerance: f64,
) -> Row {
    let (value, found) = (model.value(measure), simulated.value(measure));
    let mut row = Row {
        model_value: value,
        simulated: found,
        model_saturated: model.saturated,
        ..Row::empty(model_name, &model.name, model.kind, measure, simulated.saturated)
    };
    // what is waited for at a source without a steady state has no value to compare; what is delivered has
    let is_of_packets = measure.quantity.is_of_packets();
    match (model.saturated, simulated.saturated) {
        (true, true) => row.verdict = Verdict::BothSaturated,
        (false, false) => {}
        _ => row.verdict = Verdict::SaturationDiffers,
    }
    let saturated = !is_of_packets && (model.saturated || simulated.saturated);
    let (Some(value), Some(found)) = (value, found) else {
        if !saturated {
            row.verdict = if value.is_none() { Verdict::NoModel } else { Verdict::NoSimulation };
        }
        return row;
    };
    let difference = value - found.value;
    let whole = match measure.quantity {
        quantity if quantity.is_share() => Some(1.0),
        quantity if quantity.whole().is_some() => {
            simulated.network_latency_cycles.map(|latency| latency.mean)
        }
        _ => Some(found.value.abs()),
    };
    let share = whole.filter(|whole| *whole > 0.0).map(|whole| difference / whole);
    let half_width = found.half_width_toward(value);
    row.difference = Some(difference);
    row.difference_percent = share.map(|share| 100.0 * share);
    row.difference_half_widths = half_width.filter(|width| *width > 0.0).map(|width| difference / width);
    if saturated {
        return row;
    }
    row.verdict = match (half_width, share) {
        (None, _) => Verdict::NoSimulation,
        // equal to the last digits that were measured
        (Some(width), _) if difference.abs() <= width.max(1e-9 * found.value.abs()) => Verdict::Agrees,
        (_, Some(share)) if share.abs() <= tolerance => Verdict::Close,
        _ => Verdict::Off,
    };
    row
}

/// Where along an axis a model begins to miss by more than `share`: between two points, or from the first on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Crossing {
    /// The miss that is passed \[percent\].
    pub percent: f64,
    /// The last value of the axis with less; `null` if the first has more already.
    pub after: Option<f64>,
    /// The first value with more.
    pub before: f64,
    /// In between, by linear interpolation.
    pub at: f64,
}

/// The first crossing of `percent` along `points`: value of the axis and difference in percent, in order; points
/// without a difference are passed over. `None`: it never misses by more.
///
/// ```
/// # use flitwise_validation::compare::crossing;
/// let points = [(0.001, Some(-1.0)), (0.002, None), (0.003, Some(-9.0))];
/// assert_eq!(format!("{:.4}", crossing(5.0, points).unwrap().at), "0.0020");
/// assert_eq!(crossing(10.0, points), None);
/// ```
pub fn crossing(percent: f64, points: impl IntoIterator<Item = (f64, Option<f64>)>) -> Option<Crossing> {
    let mut last: Option<(f64, f64)> = None;
    for (x, difference) in points {
        let Some(miss) = difference.map(f64::abs) else { continue };
        if miss > percent {
            let at = last.map_or(x, |(x0, miss0)| x0 + (x - x0) * (percent - miss0) / (miss - miss0));
            return Some(Crossing { percent, after: last.map(|(x0, _)| x0), before: x, at });
        }
        last = Some((x, miss));
    }
    None
}
