//! Models' answers beside a simulation's: one row per class, quantity and model.
//!
//! Differences are model minus simulation. They are judged in percent
//! - of the simulated value for latencies, waiting and percentiles,
//! - of the simulated network latency for its parts, so that the differences of the parts add up to that of
//!   the whole,
//! - and as they are, in percentage points, for probabilities: 0.30 against 0.25 is 5 %.

use flitwise_models::answer::{Answer, ClassAnswer};
use flitwise_models::model::Model;
use flitwise_models::scenario::{ClassKind, DeadlineSpec};
use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::{ClassSimulation, Estimate, PercentileEstimate, ProbabilityEstimate, Simulation};

/// A quantity of one class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(tag = "quantity", rename_all = "kebab-case")]
pub enum Quantity {
    /// From the header's entry into the first router until the tail is through \[cycles\].
    NetworkLatency,
    /// Part of it: a lone message on its way \[cycles\].
    Transfer,
    /// Part of it: behind messages of the same class; simulated: in input buffers and for a grant \[cycles\].
    Blocking,
    /// Part of it: links that serve other classes too; simulated: from the grant on, headers and what follows
    /// them \[cycles\].
    Sharing,
    /// Part of the blocking, by place: the header in input buffers behind messages of its class \[cycles\].
    Input,
    /// The rest of the blocking: the header from its request of an output buffer to the grant \[cycles\].
    Arbitration,
    /// Part of the sharing, by place: the header from the grant until it leaves, beyond what a lone one takes
    /// \[cycles\].
    Output,
    /// The rest of the sharing: gaps among what follows the header \[cycles\].
    Gaps,
    /// At the source \[cycles\].
    Waiting,
    /// Network latency and waiting \[cycles\].
    TotalLatency,
    /// Share of the messages that take longer than a deadline.
    #[serde(rename = "miss-probability")]
    Miss {
        /// The deadline \[cycles\].
        deadline_cycles: u32,
        /// Of the messages over so many network channels; `None`: of all.
        hops: Option<u32>,
    },
    /// A percentile of the network latency \[cycles\].
    Percentile {
        /// Per mille of the messages that keep within it.
        per_mille: u32,
    },
}

impl Quantity {
    /// Its name without deadline or percentile: what a user types.
    pub fn word(self) -> &'static str {
        match self {
            Self::NetworkLatency => "network-latency",
            Self::Transfer => "transfer",
            Self::Blocking => "blocking",
            Self::Sharing => "sharing",
            Self::Input => "input",
            Self::Arbitration => "arbitration",
            Self::Output => "output",
            Self::Gaps => "gaps",
            Self::Waiting => "waiting",
            Self::TotalLatency => "total-latency",
            Self::Miss { .. } => "miss-probability",
            Self::Percentile { .. } => "percentile",
        }
    }

    /// All names.
    pub const WORDS: [&'static str; 12] = [
        "network-latency",
        "transfer",
        "blocking",
        "sharing",
        "input",
        "arbitration",
        "output",
        "gaps",
        "waiting",
        "total-latency",
        "miss-probability",
        "percentile",
    ];

    /// Its unit; empty for a probability.
    pub fn unit(self) -> &'static str {
        if self.is_probability() { "" } else { "cycles" }
    }

    /// Whether it is a share of the messages.
    pub fn is_probability(self) -> bool {
        matches!(self, Self::Miss { .. })
    }

    /// Whether it is a part of the network latency.
    fn is_part(self) -> bool {
        matches!(self, Self::Transfer | Self::Blocking | Self::Sharing) || self.is_by_place()
    }

    /// Whether it is a part of blocking or sharing, which not every model tells apart.
    fn is_by_place(self) -> bool {
        Self::BY_PLACE.contains(&self)
    }

    /// The parts of blocking and sharing by place, in the order in which a message meets them.
    pub const BY_PLACE: [Self; 4] = [Self::Input, Self::Arbitration, Self::Output, Self::Gaps];

    /// The quantity of that name, if the name alone says which: not so of miss probabilities and percentiles.
    pub fn of_word(word: &str) -> Option<Self> {
        const MEANS: [Quantity; 6] = [
            Quantity::NetworkLatency,
            Quantity::Transfer,
            Quantity::Blocking,
            Quantity::Sharing,
            Quantity::Waiting,
            Quantity::TotalLatency,
        ];
        MEANS.into_iter().chain(Self::BY_PLACE).find(|quantity| quantity.word() == word)
    }

    /// The deadline behind a miss probability.
    pub fn deadline(self) -> Option<DeadlineSpec> {
        match self {
            Self::Miss { deadline_cycles, hops } => Some(DeadlineSpec::at(deadline_cycles, hops)),
            _ => None,
        }
    }

    /// What a model says of it.
    pub fn of_model(self, class: &ClassAnswer) -> Option<f64> {
        let percentiles = class.latency_percentiles_cycles;
        match self {
            Self::NetworkLatency => class.network_latency_cycles,
            Self::Transfer => class.transfer_cycles,
            Self::Blocking => class.blocking_cycles,
            Self::Sharing => class.sharing_cycles,
            Self::Input => class.input_cycles,
            Self::Arbitration => class.arbitration_cycles,
            Self::Output => class.output_cycles,
            Self::Gaps => class.gap_cycles,
            Self::Waiting => class.waiting_cycles,
            Self::TotalLatency => class.total_latency_cycles,
            Self::Miss { deadline_cycles, hops } => {
                let key = (hops, deadline_cycles);
                let found = class.deadlines.iter().find(|found| (found.hops, found.deadline_cycles) == key);
                found.and_then(|found| found.miss_probability)
            }
            Self::Percentile { per_mille } => {
                let all = [percentiles.p50, percentiles.p90, percentiles.p99, percentiles.p99_9];
                of_per_mille(per_mille, all).map(f64::from)
            }
        }
    }

    /// What a simulation says of it.
    pub fn of_simulation(self, class: &ClassSimulation) -> Option<Measured> {
        let percentiles = class.latency_percentiles_cycles;
        match self {
            Self::NetworkLatency => class.network_latency_cycles.map(Measured::from),
            Self::Transfer => class.transfer_cycles.map(Measured::from),
            Self::Blocking => class.blocking_cycles.map(Measured::from),
            Self::Sharing => class.sharing_cycles.map(Measured::from),
            Self::Input => class.input_cycles.map(Measured::from),
            Self::Arbitration => class.arbitration_cycles.map(Measured::from),
            Self::Output => class.output_cycles.map(Measured::from),
            Self::Gaps => class.gap_cycles.map(Measured::from),
            Self::Waiting => class.waiting_cycles.map(Measured::from),
            Self::TotalLatency => class.total_latency_cycles.map(Measured::from),
            Self::Miss { deadline_cycles, hops } => {
                let key = (hops, deadline_cycles);
                let found = class.deadlines.iter().find(|found| (found.hops, found.deadline_cycles) == key);
                found.and_then(|found| found.miss_probability).map(Measured::from)
            }
            Self::Percentile { per_mille } => {
                let all = [percentiles.p50, percentiles.p90, percentiles.p99, percentiles.p99_9];
                of_per_mille(per_mille, all).map(Measured::from)
            }
        }
    }
}

/// The percentiles there are \[per mille\].
pub const PER_MILLES: [u32; 4] = [500, 900, 990, 999];

/// The one of four percentiles that is meant.
fn of_per_mille<T>(per_mille: u32, all: [Option<T>; 4]) -> Option<T> {
    PER_MILLES.into_iter().zip(all).find(|(known, _)| *known == per_mille)?.1
}

impl std::fmt::Display for Quantity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NetworkLatency => f.write_str("network latency"),
            Self::TotalLatency => f.write_str("total latency"),
            Self::Miss { deadline_cycles, hops: None } => write!(f, "P(> {deadline_cycles})"),
            Self::Miss { deadline_cycles, hops: Some(hops) } => {
                write!(f, "P(> {deadline_cycles}), {hops} hop{}", if *hops == 1 { "" } else { "s" })
            }
            Self::Percentile { per_mille } => write!(f, "p{}", f64::from(*per_mille) / 10.0),
            other => f.write_str(other.word()),
        }
    }
}

/// A simulated value with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Measured {
    /// The value.
    pub value: f64,
    /// Lower end of the interval; `null` if it is not known.
    pub lower_95: Option<f64>,
    /// Upper end of the interval; `null` if it is not known.
    pub upper_95: Option<f64>,
}

impl From<Estimate> for Measured {
    fn from(found: Estimate) -> Self {
        let end = |sign: f64| found.half_width_95.map(|width| found.mean + sign * width);
        Self { value: found.mean, lower_95: end(-1.0), upper_95: end(1.0) }
    }
}

impl From<ProbabilityEstimate> for Measured {
    fn from(found: ProbabilityEstimate) -> Self {
        Self { value: found.mean, lower_95: Some(found.lower_95), upper_95: Some(found.upper_95) }
    }
}

impl From<PercentileEstimate> for Measured {
    fn from(found: PercentileEstimate) -> Self {
        let (lower_95, upper_95) = (Some(found.lower_95 as f64), found.upper_95.map(|end| end as f64));
        Self { value: found.value as f64, lower_95, upper_95 }
    }
}

impl Measured {
    /// The larger distance from the value to an end of the interval.
    pub fn half_width_95(self) -> Option<f64> {
        Some((self.upper_95? - self.value).max(self.value - self.lower_95?))
    }

    /// Distance from the value to the end of the interval on the side of `other`.
    fn half_width_toward(self, other: f64) -> Option<f64> {
        if other >= self.value {
            Some(self.upper_95? - self.value)
        } else {
            Some(self.value - self.lower_95?)
        }
    }
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
    pub quantity: Quantity,
    /// Its unit; empty for a probability.
    pub unit: &'static str,
    /// Which model.
    pub model: Model,
    /// What the model says \[unit of the quantity\].
    pub model_value: Option<f64>,
    /// What was simulated \[unit of the quantity\].
    pub simulated: Option<Measured>,
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
    /// Names of the quantities wanted ([`Quantity::word`]); empty: all.
    pub quantities: Vec<String>,
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
        let told_apart = |quantity: Quantity| {
            let known = |(_, class): &(Model, Option<ClassAnswer>)| {
                class.as_ref().is_some_and(|class| quantity.of_model(class).is_some())
            };
            !quantity.is_by_place() || models.iter().any(known)
        };
        let wanted = |quantity: &Quantity| match options.quantities.as_slice() {
            [] => told_apart(*quantity),
            asked => asked.iter().any(|word| word == quantity.word()),
        };
        for quantity in quantities(simulated).into_iter().filter(wanted) {
            rows.extend(models.iter().map(|(model, class)| match class {
                Some(class) => row(*model, class, simulated, quantity, options.tolerance),
                None => row_without_model(*model, simulated, quantity),
            }));
        }
    }
    rows
}

/// What was simulated stands alone.
fn row_without_model(model: Model, simulated: &ClassSimulation, quantity: Quantity) -> Row {
    let found = quantity.of_simulation(simulated);
    Row {
        simulated: found,
        ..Row::empty(model, &simulated.name, simulated.kind, quantity, simulated.saturated)
    }
}

/// What there is to compare of a class, in the order of reading.
fn quantities(class: &ClassSimulation) -> Vec<Quantity> {
    let misses = class
        .deadlines
        .iter()
        .map(|found| Quantity::Miss { deadline_cycles: found.deadline_cycles, hops: found.hops });
    let percentiles = PER_MILLES.map(|per_mille| Quantity::Percentile { per_mille });
    let means = [
        Quantity::NetworkLatency,
        Quantity::Blocking,
        Quantity::Input,
        Quantity::Arbitration,
        Quantity::Sharing,
        Quantity::Output,
        Quantity::Gaps,
        Quantity::Waiting,
        Quantity::TotalLatency,
    ];
    // the published model has no distribution of best-effort latencies
    let percentiles = percentiles.into_iter().filter(|_| class.kind == ClassKind::RealTime);
    means.into_iter().chain(misses).chain(percentiles).collect()
}

impl Row {
    fn empty(
        model: Model,
        class: &str,
        kind: ClassKind,
        quantity: Quantity,
        simulation_saturated: bool,
    ) -> Self {
        Self {
            class: class.to_owned(),
            kind,
            quantity,
            unit: quantity.unit(),
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
    quantity: Quantity,
    tolerance: f64,
) -> Row {
    let (value, found) = (quantity.of_model(model), quantity.of_simulation(simulated));
    let mut row = Row {
        model_value: value,
        simulated: found,
        model_saturated: model.saturated,
        ..Row::empty(model_name, &model.name, model.kind, quantity, simulated.saturated)
    };
    // what is waited for at a source without a steady state has no value to compare
    match (model.saturated, simulated.saturated) {
        (true, true) => row.verdict = Verdict::BothSaturated,
        (false, false) => {}
        _ => row.verdict = Verdict::SaturationDiffers,
    }
    let saturated = model.saturated || simulated.saturated;
    let (Some(value), Some(found)) = (value, found) else {
        if !saturated {
            row.verdict = if value.is_none() { Verdict::NoModel } else { Verdict::NoSimulation };
        }
        return row;
    };
    let difference = value - found.value;
    let whole = match quantity {
        _ if quantity.is_probability() => Some(1.0),
        _ if quantity.is_part() => simulated.network_latency_cycles.map(|latency| latency.mean),
        _ => Some(found.value),
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
