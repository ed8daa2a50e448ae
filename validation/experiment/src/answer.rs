//! The answer of a simulation. The name of each number has its unit.

mod control;
mod details;
mod frame_deadlines;
mod groups;
mod over_time;
mod phases;
mod utilization;

pub use details::ChannelDetail;
pub use frame_deadlines::FrameDeadlineSimulation;
pub use over_time::Interval;

use std::collections::BTreeMap;

use flitwise_language::quantity::{self, Means, Measure, Percentiles, Quantity};
use flitwise_language::scenario::{ClassKind, Scenario, ScenarioSpec, UnitsSpec};
use flitwise_language::section::Sections;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::block::{Fate, Measurements, ReplicationRecord, Saturation, Stop};
use crate::frames::{self, WindowTally};
use crate::measurement::Cell;
use crate::memory::FEWEST_MEMORIES;
use crate::packets::PacketSeries;
use crate::replication::Sample;
use crate::statistics::{
    self, Batch, Histogram, Mean, design_effect, mean_of, percentile_of, proportion_of, shares_within,
};
use crate::{FEWEST_MESSAGES, longest_frame_interval};
use flitwise_simulator::ChannelKind;

/// The answer of `flitwise simulate --format json`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SimulateDocument {
    /// `flitwise.simulate/2`.
    schema: &'static str,
    /// Version of flitwise that made it.
    flitwise_version: &'static str,
    /// The answer itself.
    #[serde(flatten)]
    answer: Simulation,
}

impl SimulateDocument {
    /// Of an answer.
    pub fn of(answer: Simulation) -> Self {
        Self { schema: "flitwise.simulate/2", flitwise_version: env!("CARGO_PKG_VERSION"), answer }
    }
}

/// A simulation's answer to a scenario.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Simulation {
    /// The scenario asked about.
    #[serde(serialize_with = "ScenarioSpec::serialize_plainly")]
    pub scenario: ScenarioSpec,
    /// How it was run.
    pub run: Run,
    /// Whether any class is saturated.
    pub saturated: bool,
    /// One answer per class, in the order of the scenario.
    pub classes: Vec<ClassSimulation>,
    /// One entry per kind of channel.
    pub channels: Vec<ChannelSimulation>,
    /// Every channel by itself, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channel_details: Option<Vec<ChannelDetail>>,
    /// The run interval by interval, class by class, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over_time: Option<Vec<Interval>>,
    /// What is known beside the quantities of classes, such as phases of a run of packet switches.
    #[serde(skip_serializing_if = "Sections::is_empty")]
    #[schemars(default)]
    pub sections: Sections,
    /// What each replication delivered over time, of packet switches.
    #[serde(skip)]
    pub series: Option<Box<PacketSeries>>,
    /// What one should know about this answer.
    pub notes: Vec<String>,
}

/// How a simulation was run.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Run {
    /// Where all random numbers come from.
    pub seed: u64,
    /// Independent runs behind the numbers.
    pub replications: u32,
    /// Whether more was at hand than was asked for, and is used: replications that a store kept of a question with
    /// another precision or limit. Without them (`--fresh`) the numbers are those of an empty store.
    pub more_than_asked: bool,
    /// Consecutive batches in each of them.
    pub batches_per_replication: u32,
    /// What made it stop.
    pub stopped_by: StoppedBy,
    /// Whether it was broken off, interrupted or by the time allowed; the numbers then stand for the rounds that
    /// had ended, if there were any.
    pub partial: bool,
    /// Wanted half-width of the worst class's mean network latency, as a share of it.
    pub wanted_precision: f64,
    /// The half-width reached, as a share of the mean.
    pub reached_precision: Option<f64>,
    /// Name of the class that has it, the least precise of those that are not saturated.
    pub least_precise_class: Option<String>,
    /// Why more was measured than the wanted precision takes; `null` if the precision decided.
    pub went_on_because: Option<String>,
    /// Cycles left out at the start of each replication.
    pub warmup_cycles: u64,
    /// Whether the warm-up was given, found by MSER-5, or cut short because it was not found.
    pub warmup: WarmUpKind,
    /// Cycles of each replication in which measured messages were generated.
    pub measured_cycles: u64,
    /// Cycles simulated in all replications, warm-up included.
    pub simulated_cycles: u64,
    /// Messages measured, all classes and replications.
    pub messages: u64,
    /// Flits that crossed a crossbar, all replications, warm-up included.
    pub flit_hops: u64,
    /// The same per second of the simulation proper \[1/s\].
    pub flit_hops_per_second: f64,
    /// Threads used.
    pub threads: u32,
    /// Time spent in the simulation proper \[s\].
    pub simulation_seconds: f64,
    /// Time from start to end \[s\].
    pub wall_seconds: f64,
}

/// Where the warm-up comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WarmUpKind {
    /// It was asked for.
    Given,
    /// MSER-5 found it.
    Detected,
    /// MSER-5 did not find its end in the time allowed.
    Unsettled,
    /// The run ended before that.
    None,
    /// There is none: a terminating run is measured from its first cycle.
    Absent,
}

/// What made a simulation stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StoppedBy {
    /// All intervals are narrow enough, and no backlog may be growing.
    Precision,
    /// As many messages were measured as are allowed, and that is not so.
    MaxMessages,
    /// It took as long as it was allowed to.
    MaxTime,
    /// No class that sends has a steady state.
    Saturated,
    /// Time has no more digits.
    MaxCycles,
    /// It was interrupted.
    Interrupted,
    /// No class sends anything.
    NoTraffic,
    /// The scenario says when the run ends.
    End,
    /// As many intervals of frames were measured as are wanted; more replications would be more precise.
    Frames,
}

/// What is said of one class. A number that does not exist is `null`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ClassSimulation {
    /// Name of the class.
    pub name: String,
    /// How links treat it.
    pub kind: ClassKind,
    /// The means; waiting and total latency of a saturated class are `null`.
    #[serde(flatten)]
    pub means: Means<Estimate>,
    /// Whether frames come evenly: a mean interval of at most 1.01 times that of the source, and a deviation of at
    /// most 0.05 times that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jitter_free: Option<bool>,
    /// Deadlines of frames, rule by rule, in the order of the scenario.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub frame_deadlines: Vec<FrameDeadlineSimulation>,
    /// Standard deviation of the offsets of frames that are held against deadlines, from the start of the interval to
    /// the delivery \[cycles\].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frame_offset_deviation_cycles: Option<Estimate>,
    /// With `[units]`: the times among the means again, as `_us`, those of frames as `_ms`. Those of packet switches
    /// are there as `_ns`.
    #[serde(flatten)]
    pub physical: BTreeMap<String, Estimate>,
    /// Standard deviation of a message's network latency \[cycles\].
    pub network_latency_deviation_cycles: Option<f64>,
    /// Standard deviation of a message's waiting \[cycles\].
    pub waiting_deviation_cycles: Option<f64>,
    /// What became of the messages of a terminating run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fates: Option<Fates>,
    /// Whether the class has no steady state.
    pub saturated: bool,
    /// Where and why, if it is saturated.
    pub saturation: Option<SaturationCause>,
    /// Deadline missing probabilities, in the order of the scenario.
    pub deadlines: Vec<DeadlineSimulation>,
    /// Percentiles of the network latency.
    pub latency_percentiles_cycles: Percentiles<PercentileEstimate>,
    /// The same by number of network channels crossed; one entry of `null` hops for a single router. Campaigns
    /// leave it empty.
    pub hops: Vec<HopsSimulation>,
}

/// Messages of a class in all replications of a terminating run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Fates {
    /// Those generated.
    pub generated_messages: u64,
    /// Those delivered before the end of the run.
    pub delivered_messages: u64,
    /// Those taken back at the end of the traffic of the class, of which no flit had left.
    pub withdrawn_messages: u64,
    /// Those that waited or were under way at the end of the run.
    pub unfinished_messages: u64,
}

/// A mean with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// The interval is the mean plus and minus this, corrected for skewness: the upper end needs it, the lower one is
    /// nearer rather than farther. `null` if one batch is all there is.
    pub half_width_95: Option<f64>,
    /// Messages, frames or intervals behind it.
    pub messages: u64,
}

impl Estimate {
    /// The same in a unit of which a cycle has so many.
    #[must_use]
    pub fn times(self, factor: f64) -> Self {
        let half_width_95 = self.half_width_95.map(|width| width * factor);
        Self { mean: self.mean * factor, half_width_95, ..self }
    }
}

impl quantity::Mean for Estimate {
    const IS_SIMULATED: bool = true;
}

/// A probability with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ProbabilityEstimate {
    /// Share of the messages seen.
    pub mean: f64,
    /// The larger distance from the mean to an end of the interval.
    pub half_width_95: f64,
    /// Lower end of the interval.
    pub lower_95: f64,
    /// Upper end of the interval; above 0 even if nothing was seen.
    pub upper_95: f64,
    /// Messages behind it.
    pub messages: u64,
}

/// A simulated value with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ConfidenceInterval {
    /// The value.
    pub value: f64,
    /// Lower end of the interval; `null` if it is not known.
    pub lower_95: Option<f64>,
    /// Upper end of the interval; `null` if it is not known.
    pub upper_95: Option<f64>,
}

impl From<Estimate> for ConfidenceInterval {
    fn from(found: Estimate) -> Self {
        let end = |sign: f64| found.half_width_95.map(|width| found.mean + sign * width);
        Self { value: found.mean, lower_95: end(-1.0), upper_95: end(1.0) }
    }
}

impl From<ProbabilityEstimate> for ConfidenceInterval {
    fn from(found: ProbabilityEstimate) -> Self {
        Self { value: found.mean, lower_95: Some(found.lower_95), upper_95: Some(found.upper_95) }
    }
}

impl From<PercentileEstimate> for ConfidenceInterval {
    fn from(found: PercentileEstimate) -> Self {
        let (lower_95, upper_95) = (Some(found.lower_95 as f64), found.upper_95.map(|end| end as f64));
        Self { value: found.value as f64, lower_95, upper_95 }
    }
}

impl ConfidenceInterval {
    /// The same in a unit of which there are `scale` in one of its own.
    pub fn times(self, scale: f64) -> Self {
        let [lower_95, upper_95] = [self.lower_95, self.upper_95].map(|end| end.map(|end| end * scale));
        Self { value: self.value * scale, lower_95, upper_95 }
    }

    /// The larger distance from the value to an end of the interval.
    pub fn half_width_95(self) -> Option<f64> {
        Some((self.upper_95? - self.value).max(self.value - self.lower_95?))
    }

    /// Distance from the value to the end of the interval on the side of `other`.
    pub fn half_width_toward(self, other: f64) -> Option<f64> {
        if other >= self.value {
            Some(self.upper_95? - self.value)
        } else {
            Some(self.value - self.lower_95?)
        }
    }
}

/// The means are read as if they were fields of the class: `class.waiting_cycles`.
impl std::ops::Deref for ClassSimulation {
    type Target = Means<Estimate>;

    fn deref(&self) -> &Means<Estimate> {
        &self.means
    }
}

impl std::ops::DerefMut for ClassSimulation {
    fn deref_mut(&mut self) -> &mut Means<Estimate> {
        &mut self.means
    }
}

impl ClassSimulation {
    /// A time in a unit such as `us`, if it is told in it.
    pub fn physical(&self, quantity: Quantity, unit: &str) -> Option<Estimate> {
        self.physical.get(&quantity.physical(unit)?).copied()
    }

    /// What was simulated of a quantity.
    pub fn value(&self, measure: Measure) -> Option<ConfidenceInterval> {
        match measure.quantity {
            Quantity::MissProbability => {
                let key = (measure.hops, measure.deadline_cycles);
                let is_asked = |found: &&DeadlineSimulation| (found.hops, Some(found.deadline_cycles)) == key;
                self.deadlines.iter().find(is_asked)?.miss_probability.map(ConfidenceInterval::from)
            }
            quantity if quantity.percentile().is_some() => {
                self.latency_percentiles_cycles.get(quantity).map(ConfidenceInterval::from)
            }
            quantity => self.means.get(quantity).copied().map(ConfidenceInterval::from),
        }
    }
}

impl Fates {
    /// Says which messages of a class were not delivered.
    fn note(self, class: &str) -> Option<String> {
        let Self { generated_messages, withdrawn_messages, unfinished_messages, .. } = self;
        let taken_back = format!("{withdrawn_messages} were taken back at the end of its traffic");
        let unfinished = format!("{unfinished_messages} were not delivered before the end of the run");
        let parts = [(withdrawn_messages, taken_back), (unfinished_messages, unfinished)];
        let told: Vec<String> =
            parts.into_iter().filter(|(count, _)| *count > 0).map(|(_, part)| part).collect();
        let told = told.join(" and ");
        (!told.is_empty()).then(|| format!("{class}: of {generated_messages} messages generated {told}"))
    }
}

/// Why a class is said to be saturated.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SaturationCause {
    /// What gives way.
    pub bottleneck: String,
    /// The same in a sentence, with its numbers.
    pub because: String,
    /// Share of the generated messages by which the backlog at the sources grows.
    pub backlog_growth: Option<f64>,
}

/// One deadline and how often it was missed.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct DeadlineSimulation {
    /// The deadline on the network latency \[cycles\].
    pub deadline_cycles: u32,
    /// For messages over so many network channels only; `null` is all messages.
    pub hops: Option<u32>,
    /// Share of messages that took longer.
    pub miss_probability: Option<ProbabilityEstimate>,
}

/// A percentile with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PercentileEstimate {
    /// The smallest number of cycles that so many of the messages kept within.
    pub value: u64,
    /// Lower end of the interval.
    pub lower_95: u64,
    /// Upper end of the interval; `null` if too few messages took longer to give one.
    pub upper_95: Option<u64>,
}

/// The messages of a class over one number of network channels.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct HopsSimulation {
    /// Network channels crossed; `null` in a single router.
    pub hops: Option<u32>,
    /// As for the class.
    #[serde(flatten)]
    pub means: Means<Estimate>,
    /// As for the class \[cycles\].
    pub latency_percentiles_cycles: Percentiles<PercentileEstimate>,
    /// Every plain deadline of the class, and those given for this number of hops.
    pub deadlines: Vec<DeadlineSimulation>,
}

/// What channels of one kind carry.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ChannelSimulation {
    /// `injection`, `dimension N` or `ejection`.
    pub channel: String,
    /// Load of such a channel: flits per cycle, the share of cycles in which a flit goes over it.
    pub utilization: Utilization,
    /// The same by class, in the order of the scenario.
    pub utilization_by_class: Vec<Utilization>,
}

/// A share of cycles with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Utilization {
    /// The mean over channels and replications.
    pub mean: f64,
    /// The interval is the mean plus and minus this; `null` for a single replication.
    pub half_width_95: Option<f64>,
}

/// What has been measured, as an answer.
pub(crate) fn of(measured: &Measurements<'_>) -> Simulation {
    let run = run(measured);
    let classes: Vec<ClassSimulation> =
        (0..measured.scenario.classes().len()).map(|class| class_answer(measured, class)).collect();
    Simulation {
        scenario: measured.scenario.spec().clone(),
        saturated: classes.iter().any(|class| class.saturated),
        notes: notes(measured, &run, &classes),
        channels: channels(measured),
        channel_details: details::of(measured),
        over_time: over_time::of(measured),
        sections: Sections(
            phases::of(measured)
                .into_iter()
                .chain(utilization::of(measured))
                .chain(control::sections(measured))
                .collect(),
        ),
        series: None,
        classes,
        run,
    }
}

fn run(measured: &Measurements<'_>) -> Run {
    let blocks = measured.blocks;
    let (longest, last) = (measured.longest(), measured.last());
    let flit_hops: u64 = blocks.iter().map(|block| block.flit_hops).sum();
    let seconds: f64 = blocks.iter().map(|block| block.simulation_seconds).sum();
    let batches = measured.replications().map(|one| one.tallies.len()).max().unwrap_or(1);
    let least_precise = measured.least_precise();
    Run {
        seed: measured.seed,
        replications: measured.replications().count() as u32,
        more_than_asked: measured.more_than_asked,
        batches_per_replication: batches as u32,
        stopped_by: stopped_by(measured),
        partial: last.is_partial(),
        wanted_precision: measured.wanted_precision,
        reached_precision: least_precise.map(|(_, width)| width),
        least_precise_class: least_precise.map(|(class, _)| measured.scenario.classes()[class].name.clone()),
        went_on_because: went_on_because(measured),
        warmup_cycles: longest.warmup_cycles,
        warmup: longest.warmup,
        measured_cycles: longest.measured_cycles,
        simulated_cycles: blocks.iter().map(|block| block.simulated_cycles).sum(),
        messages: measured.messages(),
        flit_hops,
        flit_hops_per_second: if seconds > 0.0 { flit_hops as f64 / seconds } else { 0.0 },
        threads: last.threads,
        simulation_seconds: seconds,
        wall_seconds: blocks.iter().map(|block| block.wall_seconds).sum(),
    }
}

/// What ended the last block, but that blocks are as precise as they are together.
fn stopped_by(measured: &Measurements<'_>) -> StoppedBy {
    match measured.last().stop {
        Stop::Precision
        | Stop::MaxMessages
        | Stop::FirstLook
        | Stop::AfterBacklog { .. }
        | Stop::AfterMemory { .. }
        | Stop::Frames => {
            let is_precise = measured.is_narrow() && measured.suspicious_class().is_none();
            match measured.last().stop {
                _ if is_precise => StoppedBy::Precision,
                Stop::Frames => StoppedBy::Frames,
                _ => StoppedBy::MaxMessages,
            }
        }
        Stop::MaxTime => StoppedBy::MaxTime,
        Stop::Saturated => StoppedBy::Saturated,
        Stop::MaxCycles => StoppedBy::MaxCycles,
        Stop::Interrupted => StoppedBy::Interrupted,
        Stop::NoTraffic => StoppedBy::NoTraffic,
        Stop::End => StoppedBy::End,
    }
}

/// What became of the messages of a class, if the runs were terminating.
fn fates(measured: &Measurements<'_>, class: usize) -> Option<Fates> {
    let each = || measured.replications().filter_map(|one| one.fates.get(class));
    let sum = |of: fn(&Fate) -> u64| each().map(of).sum::<u64>();
    each().next()?;
    let [generated, delivered, withdrawn] =
        [sum(|fate| fate.generated), sum(|fate| fate.delivered), sum(|fate| fate.withdrawn)];
    Some(Fates {
        generated_messages: generated,
        delivered_messages: delivered,
        withdrawn_messages: withdrawn,
        unfinished_messages: generated - delivered - withdrawn,
    })
}

/// See [`Run::went_on_because`].
fn went_on_because(measured: &Measurements<'_>) -> Option<String> {
    let name = |class: usize| &measured.scenario.classes()[class].name;
    let stored_name = |class: u8| Some(&measured.scenario.classes().get(usize::from(class))?.name);
    if !measured.is_narrow() {
        return None;
    }
    if let Some(class) = measured.suspicious_class() {
        return Some(format!("the backlog of {} cannot be told from a growing one yet", name(class)));
    }
    match measured.last().stop {
        Stop::FirstLook => Some("finding the end of the warm-up took that many messages".to_owned()),
        Stop::AfterBacklog { class } => {
            let name = stored_name(class)?;
            Some(format!("the backlog of {name} could not be told from a growing one before"))
        }
        Stop::AfterMemory { class } => {
            let name = stored_name(class)?;
            Some(format!(
                "the queue of {name} forgets so slowly that less would not tell how well its waiting is known"
            ))
        }
        _ => None,
    }
}

fn class_answer(measured: &Measurements<'_>, class: usize) -> ClassSimulation {
    let spec = &measured.scenario.classes()[class];
    let cells = cells(measured, |one| one.tallies.iter().map(|tally| tally.class(class)).collect::<Vec<_>>());
    let all = merged(&cells);
    let saturation = measured.saturated(class).map(|found| saturation(found, measured, class));
    let saturated = saturation.is_some();

    let over = |hops: u32| {
        let of_hops = |one: &ReplicationRecord| {
            let tallies = one.tallies.iter();
            tallies.map(|tally| tally.cell(class, hops as usize).clone()).collect::<Vec<_>>()
        };
        (Some(hops), self::cells(measured, of_hops))
    };
    let network = measured.scenario.topology();
    let by_hops: Vec<(Option<u32>, Vec<Vec<Cell>>)> = match network.most_hops() {
        0 => vec![(None, cells.clone())],
        // between nodes of one router none
        most => (u32::from(!network.self_traffic())..=most).map(over).collect(),
    };
    let wanted = spec.each_deadline();
    let deadline = |hops: Option<u32>, deadline_cycles: u32| {
        let found = by_hops.iter().find(|(of, _)| hops.is_some() && *of == hops);
        let cells = found.map_or(&cells, |(_, cells)| cells);
        DeadlineSimulation { deadline_cycles, hops, miss_probability: misses(cells, deadline_cycles) }
    };
    let hops = by_hops
        .iter()
        .filter(|_| measured.by_hops)
        .map(|(hops, cells)| HopsSimulation {
            hops: *hops,
            means: means(cells, saturated),
            latency_percentiles_cycles: percentiles(cells),
            deadlines: wanted
                .iter()
                .filter(|(of, _)| of.is_none() || of == hops)
                .map(|(_, cycles)| DeadlineSimulation {
                    deadline_cycles: *cycles,
                    hops: *hops,
                    miss_probability: misses(cells, *cycles),
                })
                .collect(),
        })
        .collect();
    let windows: Vec<&WindowTally> = measured.further().filter_map(|one| one.frames.get(class)).collect();
    let means =
        Means { accepted_rate_messages_per_cycle: accepted(measured, class), ..means(&cells, saturated) };
    let means = groups::add(means, measured, class, &windows);
    let has_deadlines = !spec.frame_deadline.is_empty();
    ClassSimulation {
        name: spec.name.clone(),
        kind: spec.kind,
        physical: physical(measured.scenario, &means),
        means,
        jitter_free: frames::is_jitter_free(measured, class),
        frame_deadlines: frame_deadlines::of(measured, class, &windows),
        frame_offset_deviation_cycles: frame_deadlines::offset_deviation(&windows).filter(|_| has_deadlines),
        network_latency_deviation_cycles: all.network.deviation(all.count()),
        waiting_deviation_cycles: all.waiting.deviation(all.count()).filter(|_| !saturated),
        fates: fates(measured, class),
        saturated,
        saturation,
        deadlines: wanted.iter().map(|(hops, cycles)| deadline(*hops, *cycles)).collect(),
        latency_percentiles_cycles: percentiles(&cells),
        hops,
    }
}

/// The times among the means in microseconds, those of frames in milliseconds; none without `[units]`. Those of packet
/// switches are in nanoseconds.
pub(crate) fn physical(scenario: &Scenario, means: &Means<Estimate>) -> BTreeMap<String, Estimate> {
    let (unit, tick) = scenario.spec().shown_time();
    let is_of_ticks = unit == "ns";
    let cycle_ns = scenario.spec().units.as_ref().and_then(UnitsSpec::cycle_ns);
    let Some(cycle_ns) = cycle_ns.or(is_of_ticks.then_some(tick)) else { return BTreeMap::new() };
    let one = |quantity: &Quantity| {
        let (unit, nanoseconds) = match quantity {
            _ if is_of_ticks => ("ns", 1.0),
            quantity if quantity.is_of_frames() || quantity.is_of_frame_deadlines() => ("ms", 1e6),
            _ => ("us", 1e3),
        };
        Some((quantity.physical(unit)?, means.get(*quantity)?.times(cycle_ns / nanoseconds)))
    };
    Quantity::MEANS.iter().chain(Quantity::GROUPS.iter().copied().flatten()).filter_map(one).collect()
}

/// The cells of all batches, by replication.
fn cells(measured: &Measurements<'_>, of: impl Fn(&ReplicationRecord) -> Vec<Cell>) -> Vec<Vec<Cell>> {
    measured.replications().map(of).collect()
}

fn merged(cells: &[Vec<Cell>]) -> Cell {
    let mut all = Cell::default();
    cells.iter().flatten().for_each(|cell| all.merge(cell));
    all
}

/// The means that are counted message by message; a saturated class has no mean waiting.
fn means(cells: &[Vec<Cell>], saturated: bool) -> Means<Estimate> {
    Means::each(|quantity| match quantity {
        Quantity::Waiting | Quantity::TotalLatency if saturated => None,
        quantity => estimate(cells, quantity),
    })
}

fn estimate(cells: &[Vec<Cell>], quantity: Quantity) -> Option<Estimate> {
    let of_one = |one: &Vec<Cell>| one.iter().map(|cell| cell.batch(quantity)).collect::<Option<_>>();
    let batches: Vec<Vec<Batch>> = cells.iter().map(of_one).collect::<Option<_>>()?;
    mean_of(&batches).map(estimate_of)
}

fn estimate_of(found: Mean) -> Estimate {
    Estimate { mean: found.mean, half_width_95: found.half_width_95, messages: found.count }
}

/// A truth as a word.
fn is_told(is_so: bool) -> &'static str {
    if is_so { "yes" } else { "no" }
}

/// Histograms of network latency, by replication and batch.
fn histograms(cells: &[Vec<Cell>]) -> Vec<Vec<Histogram>> {
    cells.iter().map(|one| one.iter().map(|cell| cell.network_latency.clone()).collect()).collect()
}

fn misses(cells: &[Vec<Cell>], deadline_cycles: u32) -> Option<ProbabilityEstimate> {
    let missed = |cell: &Cell| Batch {
        count: cell.count(),
        sum: cell.network_latency.more_than(u64::from(deadline_cycles)) as f64,
    };
    let batches: Vec<Vec<Batch>> = cells.iter().map(|one| one.iter().map(missed).collect()).collect();
    // how far messages that take longest come in clusters, for when too few are missed to tell
    let histograms = histograms(cells);
    let tail = merged(cells).network_latency.percentile(0.95)?;
    let hint = design_effect(&shares_within(&histograms, tail)).unwrap_or(1.0);
    let found = proportion_of(&batches, hint)?;
    Some(ProbabilityEstimate {
        mean: found.estimate,
        half_width_95: found.half_width_95,
        lower_95: found.lower_95,
        upper_95: found.upper_95,
        messages: found.count,
    })
}

fn percentiles(cells: &[Vec<Cell>]) -> Percentiles<PercentileEstimate> {
    let histograms = histograms(cells);
    let at = |share: f64| {
        let statistics::Percentile { value, lower_95, upper_95, .. } = percentile_of(&histograms, share)?;
        Some(PercentileEstimate { value, lower_95, upper_95 })
    };
    Percentiles::of(at)
}

fn saturation(found: Saturation, measured: &Measurements<'_>, class: usize) -> SaturationCause {
    let rate = measured.scenario.classes()[class].rate;
    let (because, backlog_growth) = match found {
        Saturation::Backlog { kept } => (
            format!(
                "its backlog grows by {:.3e} messages per cycle and node, {:.1} % of what is generated",
                kept * rate,
                100.0 * kept
            ),
            Some(kept),
        ),
        Saturation::NeverDelivered { cycles } => {
            (format!("messages were not delivered within {cycles} cycles"), None)
        }
    };
    SaturationCause { bottleneck: "source queue".to_owned(), because, backlog_growth }
}

/// Flits over ejection channels, as messages per cycle and node.
fn accepted(measured: &Measurements<'_>, class: usize) -> Option<Estimate> {
    let flits = measured.scenario.mean_message_flits(class);
    let used = utilization(measured, ChannelKind::Ejection, |index| index == class)?;
    // of each node that sends
    let flits = flits * measured.scenario.sending_share(class).max(f64::MIN_POSITIVE);
    let tallies = measured.replications().flat_map(|one| &one.tallies);
    let messages = tallies.map(|tally| tally.count(class)).sum();
    let half_width_95 = used.half_width_95.map(|width| width / flits);
    Some(Estimate { mean: used.mean / flits, half_width_95, messages })
}

fn channels(measured: &Measurements<'_>) -> Vec<ChannelSimulation> {
    let Some(sample) = measured.replications().next().and_then(|one| one.samples.last()) else {
        return Vec::new();
    };
    let kinds: Vec<ChannelKind> = sample.sent.iter().map(|(kind, _)| *kind).collect();
    let classes = measured.scenario.classes().len();
    let of = |kind: ChannelKind| {
        let used = |class: usize| utilization(measured, kind, |index| index == class);
        Some(ChannelSimulation {
            channel: kind.to_string(),
            utilization: utilization(measured, kind, |_| true)?,
            utilization_by_class: (0..classes).map(used).collect::<Option<_>>()?,
        })
    };
    kinds.into_iter().filter_map(of).collect()
}

/// Flits per cycle and channel, from the first look after the warm-up to the last.
fn utilization(
    measured: &Measurements<'_>,
    kind: ChannelKind,
    of_class: impl Fn(usize) -> bool,
) -> Option<Utilization> {
    let channels = measured.scenario.topology().channels(kind);
    let sent = |sent: &[(ChannelKind, Vec<u64>)]| -> u64 {
        let kinds = sent.iter().filter(|(one, _)| *one == kind);
        let classes = kinds.flat_map(|(_, classes)| classes.iter().enumerate());
        classes.filter(|(class, _)| of_class(*class)).map(|(_, flits)| flits).sum()
    };
    // as many batches as there are of messages, as far as there are looks to tell them apart
    let wanted = measured.replications().map(|one| one.tallies.len()).max().unwrap_or(1);
    let one = |one: &ReplicationRecord| {
        let samples = &one.samples;
        let step = (samples.len().saturating_sub(1) / wanted).max(1);
        let last = samples.last();
        let mut ends: Vec<&Sample> = samples.iter().step_by(step).collect();
        ends.extend(last.filter(|last| ends.last().is_some_and(|end| end.cycle < last.cycle)));
        let batch = |pair: &[&Sample]| {
            let cycles = (pair[1].cycle - pair[0].cycle) * channels;
            Batch { count: cycles, sum: (sent(&pair[1].sent) - sent(&pair[0].sent)) as f64 }
        };
        ends.windows(2).map(batch).collect::<Vec<_>>()
    };
    let batches: Vec<Vec<Batch>> = measured.replications().map(one).collect();
    let Mean { mean, student_half_width_95, .. } = mean_of(&batches)?;
    Some(Utilization { mean, half_width_95: student_half_width_95 })
}

fn notes(measured: &Measurements<'_>, run: &Run, classes: &[ClassSimulation]) -> Vec<String> {
    let mut notes = Vec::new();
    match run.stopped_by {
        StoppedBy::NoTraffic => notes.push("no class sends anything".to_owned()),
        StoppedBy::Interrupted if run.messages == 0 => {
            notes.push("interrupted before anything was measured".to_owned());
        }
        StoppedBy::MaxTime if run.messages == 0 => {
            notes.push("the time was up before anything was measured".to_owned());
        }
        StoppedBy::MaxTime => {
            notes.push("the time was up: these are the results of the rounds that had ended".to_owned());
        }
        StoppedBy::Interrupted => {
            notes.push("interrupted: these are the results of the rounds that had ended".to_owned());
        }
        _ => {}
    }
    notes.extend(measured.scenario.small_buffers());
    let simulated = (run.warmup_cycles + run.measured_cycles) as f64;
    if let Some(interval) = longest_frame_interval(measured.scenario)
        && run.messages > 0
        && simulated < interval
    {
        notes.push(format!(
            "{:.1} % of an interval of frames were simulated: streams that begin later are missing, so latencies are \
             those of a lower load; --replications 2 or a longer --max-time gets further",
            100.0 * simulated / interval
        ));
    }
    if run.warmup == WarmUpKind::Unsettled && run.messages > 0 {
        notes.push(format!(
            "the end of the warm-up was not found within {} cycles; --warmup sets it",
            2 * run.warmup_cycles
        ));
    }
    for (class, spec) in measured.scenario.classes().iter().enumerate() {
        let tallies = measured.replications().flat_map(|one| &one.tallies);
        let count: u64 = tallies.map(|tally| tally.count(class)).sum();
        if run.messages > 0 && measured.scenario.mean_rate(class) > 0.0 && count < FEWEST_MESSAGES {
            notes.push(format!("{}: {count} messages are too few for an interval", spec.name));
        }
        notes.extend(measured.scenario.fixed_points(class));
        notes.extend(fates(measured, class).and_then(|fates| fates.note(&spec.name)));
        notes.extend(frame_deadlines::note(&spec.name, &classes[class].frame_deadlines));
        let steady = measured.saturated(class).is_none() && run.stopped_by != StoppedBy::End;
        let memories = measured.memories(class).filter(|_| steady);
        if let Some(memories) = memories.filter(|memories| *memories < FEWEST_MEMORIES / 2.0) {
            notes.push(format!(
                "{}: measured for {memories:.0} times as long as its queue remembers, wanted {:.0}: the interval of \
                 its waiting may be too narrow",
                spec.name,
                FEWEST_MEMORIES / 2.0
            ));
        }
        if measured.is_suspicious(class) {
            notes.push(format!(
                "{}: the backlog was still growing; its waiting may have no steady state",
                spec.name
            ));
        }
    }
    notes
}
