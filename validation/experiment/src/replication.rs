//! One independent run of an experiment.

use std::collections::BTreeMap;

use flitwise_language::scenario::{RunPhase, Scenario};
use serde::{Deserialize, Serialize};

use crate::activity::ActivityLook;
use crate::by_phase::PhaseMeter;
use crate::frames::FrameMeter;
use crate::measurement::{Batches, has_host_sums};
use crate::traces::{TracedClass, routed};
use flitwise_simulator::Delivery;
use flitwise_simulator::{Channel, ChannelKind, HeaderWaits, Simulator};

use super::block::Fate;
use super::over_time::OverTime;
use super::{Halt, Settings};

/// A run, its counts and what it looked like at some moments.
pub(crate) struct Replication {
    pub(crate) index: u32,
    pub(crate) simulator: Simulator,
    /// Delivered, not yet counted: from the first run, or generated after the end of the last round.
    pub(crate) pending: Vec<Delivery>,
    /// Messages generated before this cycle are of no interest.
    pub(crate) dropped_before: u64,
    /// Counted in the last round.
    pub(crate) settled: Vec<Delivery>,
    pub(crate) batches: Batches,
    pub(crate) frames: FrameMeter,
    pub(crate) samples: Vec<Sample>,
    pub(crate) by_phase: PhaseMeter,
    /// Looks at interfaces and preemption where there are any, at the same moments.
    pub(crate) activity: Option<Vec<ActivityLook>>,
    /// By class: messages generated before the last look.
    generated: Vec<u64>,
    has_phases: bool,
    /// By class: messages generated before the end of the last round that were not delivered in it.
    pub(crate) outstanding: Vec<u64>,
    delivered: Vec<u64>,
    /// Looks at every channel, if they are asked for; the last is that of the last sample.
    pub(crate) looks: Option<Vec<ChannelLook>>,
    /// What is delivered by interval of a terminating run, if that is asked for.
    pub(crate) over_time: Option<OverTime>,
}

/// A look at every channel at the start of a cycle: flits that have left over it, and waits of headers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ChannelLook {
    pub(crate) cycle: u64,
    pub(crate) channels: Vec<(Channel, u64, HeaderWaits)>,
}

/// Looks at every channel that are kept: about so many batches.
const MOST_LOOKS: usize = 32;

/// A look at a run at the start of a cycle.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Sample {
    pub(crate) cycle: u64,
    /// By class: messages waiting at all sources.
    pub(crate) backlog: Vec<u64>,
    /// By kind of channel and class: flits sent so far.
    pub(crate) sent: Vec<(ChannelKind, Vec<u64>)>,
}

/// Flit hops between two looks at whether to halt, about.
const HALT_FLIT_HOPS: f64 = 2e5;
/// Cycles between two counts of what is still to be delivered.
const RUN_OUT_CYCLES: u64 = 32;
/// The same of frames, which last longer.
const FRAMES_RUN_OUT_CYCLES: u64 = 1_024;

impl Replication {
    /// An empty network; `listed` are messages of traces.
    pub(crate) fn new(
        scenario: &Scenario,
        phases: &[RunPhase],
        listed: &[TracedClass],
        settings: &Settings,
        index: u32,
        batches: usize,
    ) -> Self {
        let (classes, seed) = (scenario.classes().len(), replication_seed(settings.seed, index));
        let mut simulator = Simulator::with_messages(scenario, seed, routed(listed, scenario, seed));
        if settings.details {
            simulator.measure_waits();
        }
        Self {
            index,
            frames: FrameMeter::new(scenario, simulator.frame_runs()),
            by_phase: PhaseMeter::new(scenario, phases),
            activity: has_host_sums(scenario).then(Vec::new),
            generated: vec![0; classes],
            has_phases: !phases.is_empty(),
            simulator,
            looks: settings.details.then(Vec::new),
            pending: Vec::new(),
            dropped_before: 0,
            settled: Vec::new(),
            batches: Batches::new(scenario, batches),
            samples: Vec::new(),
            outstanding: vec![0; classes],
            delivered: vec![0; classes],
            over_time: OverTime::new(scenario),
        }
    }

    /// By class: what has become of the messages of a terminating run.
    pub(crate) fn fates(&self) -> Vec<Fate> {
        let classes = 0..self.delivered.len();
        let fate = |class: usize| match self.has_phases {
            // those generated before the end of the run, which were waited for
            true => Fate {
                generated: self.generated[class],
                withdrawn: 0,
                delivered: self.generated[class] - self.outstanding[class],
            },
            false => Fate {
                generated: self.simulator.generated()[class],
                withdrawn: self.simulator.withdrawn()[class],
                delivered: self.delivered[class],
            },
        };
        classes.map(fate).collect()
    }

    /// Simulates all cycles before `end` and takes a look; false if it was halted before that.
    pub(crate) fn advance(&mut self, end: u64, halt: &Halt<'_>) -> bool {
        while self.simulator.now() < end {
            if halt.is_reached() {
                return false;
            }
            self.simulate(end.min(self.simulator.now().saturating_add(self.stretch())));
            self.drop_early();
        }
        self.look_at_channels(end);
        let mut sent: Vec<(ChannelKind, Vec<u64>)> = Vec::new();
        for (channel, class, flits) in self.simulator.channel_flits() {
            let at = match sent.iter().position(|(kind, _)| *kind == channel.kind) {
                Some(at) => at,
                None => {
                    sent.push((channel.kind, vec![0; self.outstanding.len()]));
                    sent.len() - 1
                }
            };
            sent[at].1[class] += flits;
        }
        sent.sort_unstable_by_key(|(kind, _)| kind.order());
        let backlog = self.simulator.backlog()[..self.outstanding.len()].to_vec();
        self.samples.push(Sample { cycle: end, backlog, sent });
        if let Some(looks) = &mut self.activity {
            looks.push(ActivityLook::of(&self.simulator, end));
        }
        for class in 0..self.outstanding.len() {
            self.generated[class] = self.simulator.generated()[class];
            self.outstanding[class] = self.simulator.generated()[class] - self.delivered[class];
        }
        true
    }

    /// Takes a look at every channel, if that is asked for; of too many every other one is forgotten.
    fn look_at_channels(&mut self, cycle: u64) {
        let Some(looks) = &mut self.looks else { return };
        let mut flits: BTreeMap<Channel, u64> = BTreeMap::new();
        for (channel, _, sent) in self.simulator.channel_flits() {
            *flits.entry(channel).or_default() += sent;
        }
        let of = |(channel, waits): (Channel, HeaderWaits)| (channel, flits[&channel], waits);
        let channels = self.simulator.channel_waits().into_iter().map(of).collect();
        if looks.len() >= MOST_LOOKS {
            let mut at = 0;
            looks.retain(|_| {
                at += 1;
                at % 2 == 1
            });
        }
        looks.push(ChannelLook { cycle, channels });
    }

    /// Simulates on, to `limit` at most, until all messages of the awaited classes that were generated before
    /// `end`, where the last look was taken, have been delivered; false if it was halted before that.
    pub(crate) fn run_out(&mut self, end: u64, limit: u64, awaited: &[bool], halt: &Halt<'_>) -> bool {
        let open =
            |outstanding: &[u64]| outstanding.iter().zip(awaited).any(|(left, wait)| *wait && *left > 0);
        while open(&self.outstanding) && self.simulator.now() < limit {
            if halt.is_reached() {
                return false;
            }
            let first = self.pending.len();
            self.simulate(self.simulator.now() + RUN_OUT_CYCLES);
            for message in &self.pending[first..] {
                self.outstanding[usize::from(message.class)] -= u64::from(message.generated_cycle < end);
            }
        }
        true
    }

    /// The same, until all frames that begin before `end` have been delivered.
    pub(crate) fn run_out_frames(&mut self, end: u64, limit: u64, halt: &Halt<'_>) -> bool {
        while !self.frames.are_through(end as f64) && self.simulator.now() < limit {
            if halt.is_reached() {
                return false;
            }
            self.simulate(self.simulator.now() + FRAMES_RUN_OUT_CYCLES);
        }
        true
    }

    /// Cycles between two looks at whether to halt: some milliseconds.
    fn stretch(&self) -> u64 {
        let (cycles, hops) = (self.simulator.now() + 1, self.simulator.flit_hops() + 1);
        (HALT_FLIT_HOPS * cycles as f64 / hops as f64).clamp(64.0, 1e9) as u64
    }

    fn simulate(&mut self, end: u64) {
        let first = self.pending.len();
        self.simulator.run_until(end, &mut self.pending);
        for message in &self.pending[first..] {
            self.delivered[usize::from(message.class)] += 1;
            self.frames.add(message);
        }
        if let Some(over_time) = &mut self.over_time {
            self.pending[first..].iter().for_each(|message| over_time.add(message));
        }
    }

    /// Forgets what has been delivered of messages generated before `dropped_before`.
    fn drop_early(&mut self) {
        let before = self.dropped_before;
        if before > 0 && self.simulator.now() <= before {
            self.pending.clear();
        }
    }

    /// The cycles from which the messages count that [`Self::settle`] would count.
    pub(crate) fn to_settle(
        &self,
        from: u64,
        end: u64,
        saturated: impl Fn(u8) -> bool,
    ) -> impl Iterator<Item = u64> {
        let cycles = self.pending.iter().map(move |message| counts_from(message, saturated(message.class)));
        cycles.filter(move |cycle| (from..end).contains(cycle))
    }

    /// Counts the pending messages generated in cycles `from..end`; later ones stay pending.
    ///
    /// Of a saturated class, messages that entered the network then: those generated then may not for long.
    pub(crate) fn settle(&mut self, from: u64, end: u64, saturated: impl Fn(u8) -> bool) {
        let counts_from = |message: &Delivery| counts_from(message, saturated(message.class));
        self.settled.clear();
        let settled = &mut self.settled;
        self.pending.retain(|message| {
            let now = counts_from(message) < end;
            if now && counts_from(message) >= from {
                settled.push(*message);
            }
            !now
        });
        for message in &self.settled {
            self.batches.add(counts_from(message) - from, message);
            self.by_phase.add(message);
        }
    }
}

/// The cycle that decides whether a message counts.
fn counts_from(message: &Delivery, is_saturated: bool) -> u64 {
    if is_saturated { message.entered_cycle } else { message.generated_cycle }
}

/// The seed of a replication; replications share no stream.
pub(crate) fn replication_seed(seed: u64, index: u32) -> u64 {
    // the finaliser of splitmix64 makes neighbours of neighbours
    let mut word = seed.wrapping_add(u64::from(index).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}
