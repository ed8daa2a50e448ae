//! Measurements of a block of replications: the records that are stored and from which answers are computed.

mod supplement;

use std::ops::Range;

use flitwise_language::scenario::Scenario;
use serde::{Deserialize, Serialize};

use crate::answer::{self, Simulation, WarmUpKind};
use crate::by_phase::PhaseRecord;
use crate::control::ControlRecord;
use crate::frames::{FrameTally, WindowTally};
use crate::measurement::Tally;
use crate::statistics::{Batch, mean_of};

use super::goal::{Goal, asked_alone};
use super::over_time::OverTime;
use super::replication::{ChannelLook, Replication, Sample};
use super::{Experiment, FEWEST_MESSAGES, Settings, memory};
pub(crate) use supplement::FurtherRecord;
use supplement::Supplement;

/// Replications that were run together, and all that they measured.
///
/// Blocks of one scenario and seed whose replications differ make one answer together: [`answer_of`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Block {
    /// Index of the first replication.
    pub(crate) first_replication: u32,
    /// What it was to reach.
    pub(crate) asked: Goal,
    pub(crate) warmup_cycles: u64,
    pub(crate) warmup: WarmUpKind,
    /// Cycles of each replication in which measured messages were generated.
    pub(crate) measured_cycles: u64,
    pub(crate) simulated_cycles: u64,
    pub(crate) flit_hops: u64,
    pub(crate) simulation_seconds: f64,
    pub(crate) wall_seconds: f64,
    pub(crate) threads: u32,
    pub(crate) stop: Stop,
    /// By class: why it is saturated.
    pub(crate) saturated: Vec<Option<Saturation>>,
    /// By class: whether its backlog may be growing.
    pub(crate) suspicious: Vec<bool>,
    pub(crate) replications: Vec<ReplicationRecord>,
    /// What only some scenarios have. Of what there is not nothing is kept on disk, so it stands last.
    pub(crate) supplement: Supplement,
}

/// What ended a block. It is kept on disk by its place in this list, so new ones come last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Stop {
    Precision,
    MaxMessages,
    MaxTime,
    Saturated,
    MaxCycles,
    Interrupted,
    NoTraffic,
    /// Precise enough at the first look, with all that was simulated to find the end of the warm-up.
    FirstLook,
    /// Precise enough before; it went on because the backlog of a class might have been growing.
    AfterBacklog {
        class: u8,
    },
    /// Precise enough before; it went on because the queue of a class forgets slowly.
    AfterMemory {
        class: u8,
    },
    /// A terminating run has come to its end.
    End,
    /// As many intervals of frames as are wanted.
    Frames,
}

/// What one replication has measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ReplicationRecord {
    /// By batch, in order.
    pub(crate) tallies: Vec<Tally>,
    /// Looks at the channels after the warm-up.
    pub(crate) samples: Vec<Sample>,
    /// Looks at every channel after the warm-up, if they are asked for; they are not kept on disk.
    #[serde(skip)]
    pub(crate) looks: Vec<ChannelLook>,
    /// By class, of a terminating run: messages generated and taken back; they are not kept on disk, either.
    #[serde(skip)]
    pub(crate) fates: Vec<Fate>,
    /// The run interval by interval, if that is asked for; it is not kept on disk, either.
    #[serde(skip)]
    pub(crate) over_time: Option<OverTime>,
}

/// Messages of a class in one terminating run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Fate {
    pub(crate) generated: u64,
    pub(crate) withdrawn: u64,
    pub(crate) delivered: u64,
}

/// Why a class is taken to be saturated.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Saturation {
    /// Its backlog grows steadily.
    Backlog {
        /// Share of the generated messages that the backlog keeps.
        kept: f64,
    },
    /// Its messages do not come through.
    NeverDelivered {
        /// How long they were waited for.
        cycles: u64,
    },
}

impl Block {
    /// Index of the first replication.
    pub fn first_replication(&self) -> u32 {
        self.first_replication
    }

    /// The same without times and threads, so that its bytes depend on no machine.
    pub fn without_times(self) -> Self {
        Self { simulation_seconds: 0.0, wall_seconds: 0.0, threads: 0, ..self }
    }

    /// What an experiment has measured.
    pub(super) fn of(experiment: &Experiment<'_>, stop: Stop) -> Self {
        let settings = experiment.settings;
        let terminating = experiment.scenario.terminating().is_some();
        let warmup = match (experiment.given_warmup(), experiment.warmup_settled) {
            _ if experiment.measured_until == 0 => WarmUpKind::None,
            (Some(0), _) if terminating => WarmUpKind::Absent,
            (Some(_), _) => WarmUpKind::Given,
            (None, true) => WarmUpKind::Detected,
            (None, false) => WarmUpKind::Unsettled,
        };
        let warmup_cycles = experiment.warmup_cycles;
        let supplement = supplement(experiment);
        Self {
            supplement,
            first_replication: settings.first_replication,
            asked: Goal::of(settings),
            warmup_cycles,
            warmup,
            measured_cycles: experiment.measured_until.saturating_sub(warmup_cycles),
            simulated_cycles: experiment.replications.iter().map(|one| one.simulator.now()).sum(),
            flit_hops: experiment.flit_hops(),
            simulation_seconds: experiment.simulating.as_secs_f64(),
            wall_seconds: experiment.elapsed().as_secs_f64(),
            threads: experiment.host().threads(),
            stop,
            saturated: experiment.saturated.clone(),
            suspicious: experiment.suspicious.clone(),
            replications: experiment
                .replications
                .iter()
                .map(|one| {
                    let fates = if terminating { one.fates() } else { Vec::new() };
                    let after_warmup = |sample: &&Sample| sample.cycle >= warmup_cycles;
                    let samples = one.samples.iter().filter(after_warmup).cloned().collect();
                    let looks = one.looks.iter().flatten();
                    let looks = looks.filter(|look| look.cycle >= warmup_cycles).cloned().collect();
                    // what hosts have seen stands in the supplement
                    let mut tallies = one.batches.tallies.clone();
                    tallies.iter_mut().for_each(|tally| tally.host.clear());
                    ReplicationRecord { tallies, samples, looks, fates, over_time: one.over_time.clone() }
                })
                .collect(),
        }
    }

    /// Index of the replication after the last.
    pub fn next_replication(&self) -> u32 {
        self.first_replication.saturating_add(self.replications.len() as u32)
    }

    /// Whether it was broken off before its end.
    pub fn is_partial(&self) -> bool {
        matches!(self.stop, Stop::Interrupted | Stop::MaxTime)
    }

    /// Whether it fits the scenario: what comes from a disk is not taken for granted.
    pub fn fits(&self, scenario: &Scenario) -> bool {
        let classes = scenario.classes().len();
        let tally = |tally: &Tally| tally.fits(scenario);
        let sample = |sample: &Sample| sample.sent.iter().all(|(_, sent)| sent.len() == classes);
        let in_order = |one: &ReplicationRecord| one.samples.is_sorted_by_key(|sample| sample.cycle);
        self.saturated.len() == classes
            && self.suspicious.len() == classes
            && !self.replications.is_empty()
            && self.supplement.fits(classes)
            && self
                .replications
                .iter()
                .all(|one| one.tallies.iter().all(tally) && one.samples.iter().all(sample) && in_order(one))
    }
}

/// What an experiment has measured beside messages.
fn supplement(experiment: &Experiment<'_>) -> Supplement {
    let (from, until) = (experiment.warmup_cycles, experiment.measured_until);
    let scenario = experiment.scenario;
    let of_control = experiment.replications.iter();
    let control = of_control.filter_map(|one| ControlRecord::of(scenario, &one.simulator, [from, until]));
    let control = control.collect();
    Supplement { control, ..messages_and_frames(experiment) }
}

/// The same but for control.
fn messages_and_frames(experiment: &Experiment<'_>) -> Supplement {
    let (from, until) = (experiment.warmup_cycles, experiment.measured_until);
    let Some(interval) = experiment.frame_interval else {
        let records = experiment.replications.iter().map(|one| one.further(from, &[]));
        return Supplement::new(Vec::new(), records.collect(), experiment.saturated_in_phases.clone());
    };
    let has_deadlines = experiment.scenario.classes().iter().any(|class| !class.frame_deadline.is_empty());
    let start = from as f64;
    let windows: Vec<Range<f64>> = match experiment.phases.as_slice() {
        // frames whose messages have all been waited for
        [] if has_deadlines => vec![start..until as f64 - interval],
        [] => Vec::new(),
        phases => {
            let whole = [start..until as f64];
            whole.into_iter().chain(phases.iter().map(|one| one.begins.max(start)..one.ends)).collect()
        }
    };
    let records: Vec<FurtherRecord> =
        experiment.replications.iter().map(|one| one.further(from, &windows)).collect();
    let frames = match experiment.phases.is_empty() {
        true => experiment.replications.iter().map(|one| one.frames.tallies(from, until)).collect(),
        false => records.iter().map(FurtherRecord::intervals).collect(),
    };
    Supplement::new(frames, records, experiment.saturated_in_phases.clone())
}

impl Replication {
    /// What it has measured beside messages and intervals of frames: frames by window, the first of which is all that
    /// is measured.
    fn further(&self, from: u64, windows: &[Range<f64>]) -> FurtherRecord {
        let mut frames = self.frames.windows(windows).into_iter();
        let whole = frames.next().unwrap_or_default();
        let classes = self.outstanding.len();
        let messages = self.by_phase.messages.iter().cloned();
        let phases = messages.map(|messages| PhaseRecord {
            messages,
            frames: frames.next().unwrap_or_else(|| vec![WindowTally::default(); classes]),
        });
        let phases = phases.collect();
        let host = self.batches.tallies.iter().map(|tally| tally.host.clone());
        let host = host.filter(|host| !host.is_empty()).collect();
        let looks = self.activity.iter().flatten();
        let activity = looks.filter(|look| look.cycle >= from).cloned().collect();
        FurtherRecord { frames: whole, host, activity, phases }
    }
}

/// The answer that blocks of one scenario and seed give together, whatever `settings` ask for: what they want and
/// whether this is more is only reported. Intervals of percentiles take most of the time: `by_hops` says whether all
/// is wanted by number of hops, too.
///
/// A class counts as saturated if the longest of them found it so.
///
/// # Panics
/// Without a block.
pub fn answer_of(scenario: &Scenario, settings: &Settings, blocks: &[Block], by_hops: bool) -> Simulation {
    assert!(!blocks.is_empty(), "an answer needs something measured");
    let more_than_asked = asked_alone(scenario, settings, blocks) < blocks.len();
    answer::of(&Measurements { more_than_asked, by_hops, ..Measurements::of(scenario, settings, blocks) })
}

/// All that has been measured of a scenario.
pub(crate) struct Measurements<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) seed: u64,
    pub(crate) wanted_precision: f64,
    /// At least one.
    pub(crate) blocks: &'a [Block],
    /// Whether to answer by number of hops, too.
    pub(crate) by_hops: bool,
    /// Whether the settings alone would have asked for fewer or other blocks.
    pub(crate) more_than_asked: bool,
}

impl<'a> Measurements<'a> {
    pub(crate) fn of(scenario: &'a Scenario, settings: &Settings, blocks: &'a [Block]) -> Self {
        let Settings { seed, precision: wanted_precision, .. } = *settings;
        Self { scenario, seed, wanted_precision, blocks, by_hops: false, more_than_asked: false }
    }

    /// The block that was measured longest.
    pub(crate) fn longest(&self) -> &'a Block {
        // of equal ones the first
        let blocks = self.blocks.iter().rev();
        blocks.max_by_key(|block| block.measured_cycles).expect("at least one block")
    }

    pub(crate) fn last(&self) -> &'a Block {
        self.blocks.last().expect("at least one block")
    }

    pub(crate) fn replications(&self) -> impl Iterator<Item = &'a ReplicationRecord> {
        self.blocks.iter().flat_map(|block| &block.replications)
    }

    /// By replication: frames of a class.
    pub(crate) fn frames(&self, class: usize) -> impl Iterator<Item = &'a FrameTally> {
        self.blocks.iter().flat_map(|block| &block.supplement.frames).map(move |one| &one[class])
    }

    /// By replication: what has been measured beside messages and intervals of frames; none where there is nothing.
    pub(crate) fn further(&self) -> impl Iterator<Item = &'a FurtherRecord> {
        self.blocks.iter().flat_map(|block| &block.supplement.replications)
    }

    /// By replication: what admission, congestion and power control have done; none where there is no control.
    pub(crate) fn control(&self) -> impl Iterator<Item = &'a ControlRecord> {
        self.blocks.iter().flat_map(|block| &block.supplement.control)
    }

    /// Why a class is saturated in a phase.
    pub(crate) fn saturated_in(&self, phase: usize, class: usize) -> Option<Saturation> {
        let phases = &self.longest().supplement.saturated;
        phases.get(phase).and_then(|classes| classes[class])
    }

    pub(crate) fn saturated(&self, class: usize) -> Option<Saturation> {
        self.longest().saturated[class]
    }

    pub(crate) fn is_suspicious(&self, class: usize) -> bool {
        self.longest().suspicious[class]
    }

    /// Messages measured.
    pub(crate) fn messages(&self) -> u64 {
        let tallies = self.replications().flat_map(|one| &one.tallies);
        tallies
            .map(|tally| (0..self.scenario.classes().len()).map(|class| tally.count(class)).sum::<u64>())
            .sum()
    }

    /// The class whose network latency is known worst, and its half-width as a share of the mean.
    pub(crate) fn least_precise(&self) -> Option<(usize, f64)> {
        let of_one = |one: &ReplicationRecord, class: usize| {
            one.tallies.iter().map(|tally| tally.network_batch(class)).collect::<Vec<_>>()
        };
        least_precise(
            self.scenario,
            |class| self.saturated(class).is_some(),
            |class| self.replications().map(|one| of_one(one, class)).collect(),
        )
    }

    /// How many times as long as its queue remembers a class was measured, see [`memory::memories`].
    pub(crate) fn memories(&self, class: usize) -> Option<f64> {
        let cycles = |block: &Block| block.measured_cycles as f64 * block.replications.len() as f64;
        let tallies = self.replications().flat_map(|one| &one.tallies);
        memory::memories(tallies, class, self.blocks.iter().map(cycles).sum())
    }

    /// Whether that half-width is as wanted.
    pub(crate) fn is_narrow(&self) -> bool {
        self.least_precise().is_some_and(|(_, width)| width <= self.wanted_precision)
    }

    /// The first class whose backlog may be growing.
    pub(crate) fn suspicious_class(&self) -> Option<usize> {
        (0..self.scenario.classes().len()).find(|class| self.is_suspicious(*class))
    }
}

/// The class with the widest half-width of network latency as a share of the mean, and that; `None` while one is
/// not known. Saturated classes count only if all are: what gets through of them may be next to nothing.
///
/// `batches` gives the network latencies of a class by replication.
pub(super) fn least_precise(
    scenario: &Scenario,
    is_saturated: impl Fn(usize) -> bool,
    batches: impl Fn(usize) -> Vec<Vec<Batch>>,
) -> Option<(usize, f64)> {
    let of_class = |class: usize| {
        let mean = mean_of(&batches(class))?;
        // a handful of equal latencies says nothing about the width
        let known = mean.student_half_width_95.filter(|_| mean.count >= FEWEST_MESSAGES)?;
        Some((class, known / mean.mean))
    };
    let wider = |one: (usize, f64), other: (usize, f64)| if other.1 > one.1 { other } else { one };
    let sends = |class: &usize| scenario.mean_rate(*class) > 0.0;
    let classes = (0..scenario.classes().len()).filter(sends);
    let (saturated, steady): (Vec<usize>, Vec<usize>) = classes.partition(|class| is_saturated(*class));
    if steady.is_empty() {
        return saturated.into_iter().filter_map(of_class).reduce(wider);
    }
    let known: Vec<(usize, f64)> = steady.into_iter().map(of_class).collect::<Option<_>>()?;
    known.into_iter().reduce(wider)
}
