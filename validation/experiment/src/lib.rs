//! An experiment: independent replications of a scenario, run until their intervals are narrow enough.
//!
//! - *WarmUp*: all replications start with an empty network and run until MSER-5 finds the end of the warm-up.
//! - *Measure*: messages that are generated from then on are counted, in rounds.
//! - *RunOut*: after a round the replications go on until its last message has been delivered. The sources stay on;
//!   messages that they generate in this phase belong to the next round.
//!
//! A *terminating* run ([`Scenario::terminating`]) has none of these phases: each replication is the whole run, and
//! messages delivered in it are counted. One whose traffic changes ([`Scenario::phases`]) goes on until all messages
//! and frames that begin before its end are delivered.
//!
//! The intervals are checked rarely, because stopping at the first narrow one would bias them.
//!
//! ```
//! use std::fs::read_to_string;
//! use std::sync::atomic::AtomicBool;
//! use std::time::Instant;
//!
//! use flitwise_experiment::{Host, Settings, run};
//! use flitwise_language::scenario::Preset;
//!
//! let scenario = Preset::find("router16").unwrap().scenario();
//! let settings = Settings { precision: 0.05, ..Settings::default() };
//! let (started, workers) = (Instant::now(), rayon::ThreadPoolBuilder::new().build().unwrap());
//! let stop = AtomicBool::new(false); // set it from elsewhere to interrupt the run
//! let (clock, read) = (|| started.elapsed(), |name: &str| read_to_string(name));
//! let host = Host { clock: &clock, workers: &workers, read: &read, stop: &stop };
//! let simulation = run(&scenario, &settings, &host, &mut ()).expect("it can be simulated");
//! let latency = simulation.classes[0].network_latency_cycles.unwrap();
//! assert!((42.0..45.0).contains(&latency.mean)); // the model says 43.3
//! ```
//!
//! | module | what it holds |
//! |---|---|
//! | [`answer`] | results with their units and intervals |
//! | [`observation`] | the same with whole distributions |
//! | [`packets`] | replications of packet switches with a run of given length |
//! | [`statistics`] | intervals, percentiles, warm-up: methods only |
//! | [`traces`] | messages listed in files: read, converted, made |

mod activity;
pub mod answer;
pub mod block;
mod by_phase;
mod circuits;
mod control;
mod frames;
pub mod goal;
mod growth;
mod host;
pub mod measurement;
pub(crate) mod memory;
pub mod observation;
pub(crate) mod over_time;
pub mod packets;
pub mod replication;
mod slices;
pub mod statistics;
pub mod traces;
mod warm_up;
mod whole_run;

use std::time::Duration;

use flitwise_language::scenario::{ClassSpec, Fault, RunPhase, Scenario, VcChoice};
use rayon::prelude::*;

use crate::answer::Simulation;
pub use by_phase::host_value;
use flitwise_simulator::Delivery;
pub use flitwise_simulator::unsupported;

pub use block::{Block, answer_of};
use block::{Saturation, Stop, least_precise};
pub use host::{Host, ReadFile};
use memory::FEWEST_MEMORIES;
use replication::Replication;
pub use slices::{Slice, run_in_slices};
use traces::TracedClass;

/// How to run an experiment.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where the random numbers of all replications come from.
    pub seed: u64,
    /// Independent replications; `None`: 16, or 8 for more than 256 nodes, streams of frames and terminating runs.
    pub replications: Option<u32>,
    /// Index of the first of them; replications of different index share no random numbers.
    pub first_replication: u32,
    /// Wanted 95 % half-width of the mean network latency of the worst class, as a share of it.
    pub precision: f64,
    /// Measured messages of all classes and replications after which to stop anyway, at the end of the cycle that
    /// brings the last of them. At most four times as many are simulated while the end of the warm-up is looked for.
    pub max_messages: u64,
    /// Time after which to stop anyway. The results then depend on the speed of the machine.
    pub max_time: Option<Duration>,
    /// Cycles to leave out at the start; `None`: as the scenario says, or as many as MSER-5 finds.
    pub warmup_cycles: Option<u64>,
    /// Whether a campaign uses of what is kept only what these settings ask for, so that its
    /// numbers are those of an empty store.
    pub fresh: bool,
    /// Whether to measure every channel by itself; campaigns do not.
    pub details: bool,
}

/// Most replications.
pub const MAX_REPLICATIONS: u32 = 1_000;
/// Most cycles of a replication: beyond that the time between messages has no more digits.
pub const MAX_CYCLES: u64 = 1 << 50;

impl Default for Settings {
    fn default() -> Self {
        Self {
            seed: 1,
            replications: None,
            first_replication: 0,
            precision: 0.01,
            max_messages: 10_000_000,
            max_time: None,
            warmup_cycles: None,
            fresh: false,
            details: false,
        }
    }
}

/// Where an experiment stands.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Whether the warm-up is still being looked for.
    pub warming_up: bool,
    /// Messages measured so far.
    pub messages: u64,
    /// Half-width of the worst class's network latency as a share of it, once known.
    pub precision: Option<f64>,
    /// Share of the work done, as far as can be foreseen.
    pub share_done: f64,
}

/// What an experiment tells while it runs.
pub trait Listener {
    /// Something has been done.
    fn progress(&mut self, progress: &Progress);

    /// Messages measured in one replication since the last call, in the order of their delivery. Calls come in
    /// the order of replications, round by round, whatever the number of threads.
    fn measured(&mut self, replication: u32, messages: &[Delivery]);

    /// More has been measured; `answer` computes the answer so far, without numbers by hops.
    fn so_far(&mut self, _answer: &dyn Fn() -> Simulation) {}
}

/// Listens to nothing.
impl Listener for () {
    fn progress(&mut self, _: &Progress) {}
    fn measured(&mut self, _: u32, _: &[Delivery]) {}
}

/// What of a scenario there is no simulator for; traces are read.
///
/// # Errors
/// All of it, at once.
pub fn supports(scenario: &Scenario, read: &ReadFile<'_>) -> Result<(), Vec<Fault>> {
    if packets::are_switched(scenario) {
        packets::supports(scenario, read)
    } else {
        traces::prepared(scenario, read).map(drop)
    }
}

/// Whether what each replication delivers over time is kept, for windows of time and for differences run by run.
pub fn has_series(scenario: &Scenario) -> bool {
    packets::are_switched(scenario)
}

/// Options of a run that a system has nothing for, and what is wanted in their place.
pub fn idle_settings(scenario: &Scenario) -> &'static [(&'static str, &'static str)] {
    if packets::are_switched(scenario) { packets::IDLE } else { &[] }
}

/// Runs an experiment.
///
/// The same scenario, settings and version give the same bits on any host, unless time or [`Host::stop`] ended it.
///
/// Do not call it from a task of another pool than the host's, whose waiting workers would take on further experiments
/// on the same stack.
///
/// # Errors
/// What [`supports`] says.
pub fn run(
    scenario: &Scenario,
    settings: &Settings,
    host: &Host<'_>,
    listener: &mut dyn Listener,
) -> Result<Simulation, Vec<Fault>> {
    if packets::are_switched(scenario) {
        return packets::run(scenario, settings, host, listener);
    }
    let block = run_block(scenario, settings, host, listener)?;
    Ok(answer_of(scenario, settings, &[block], true))
}

/// Runs an experiment on routers and gives what was measured, to be kept or to be joined with other blocks.
///
/// # Errors
/// What the simulator of routers has no means for.
pub fn run_block(
    scenario: &Scenario,
    settings: &Settings,
    host: &Host<'_>,
    listener: &mut dyn Listener,
) -> Result<Block, Vec<Fault>> {
    slices::at_once(block_in_slices(scenario, settings, host, listener, None))
}

/// The same, handing over whenever a slice is over.
async fn block_in_slices(
    scenario: &Scenario,
    settings: &Settings,
    host: &Host<'_>,
    listener: &mut dyn Listener,
    slice: Option<&Slice>,
) -> Result<Block, Vec<Fault>> {
    let listed = traces::prepared(scenario, host.read)?;
    Ok(Experiment::new(scenario, &listed, settings, *host, slice).run(listener).await)
}

/// Flit hops of a replication between two looks at the clock, about.
const ROUND_FLIT_HOPS: f64 = 1e6;
/// Messages of a replication in the first run, about.
const FIRST_MESSAGES: f64 = 2_000.0;
/// Flits of a replication in the first run, at most about.
const FIRST_FLITS: f64 = 1e6;
/// Flit hops of all replications beyond which the first run is not doubled.
const MOST_FIRST_FLIT_HOPS: u64 = 500_000_000;
/// Fewest cycles of the first run.
const FIRST_CYCLES: f64 = 4_096.0;
/// Times the first run is doubled at most while no warm-up is found.
const MOST_DOUBLINGS: u32 = 6;
/// Messages of all replications beyond which it is not doubled.
const MOST_FIRST_MESSAGES: u64 = 1_000_000;
/// Frame intervals in the first run, of which half at most are left out.
const WARM_UP_INTERVALS: f64 = 2.5;
/// Whole frame intervals after the warm-up at the first looks; then twice as many each time.
const FRAME_WINDOWS: [f64; 3] = [3.0, 5.0, 10.0];
/// Frame intervals in a window that is long enough whatever the precision, unless a longer one helps.
const LONG_WINDOW: f64 = 20.0;
/// What a window of 20 frame intervals and more leaves of the half-width of the one before, at most, if longer ones are
/// to help: of independent intervals 0.71. The places of streams differ from run to run however long the runs are.
const WORTH_MORE: f64 = 0.85;
/// Parts of a step of the warm-up after each of which the clock is looked at, if the time is limited.
const PARTS_OF_STEP: u64 = 1024;
/// Share of the time allowed after which the warm-up ends as it is: something is to be measured.
const MOST_OF_TIME: f64 = 0.5;
/// What a source queue of a saturated class keeps.
const SATURATED_QUEUE: usize = 64;

/// What ends an experiment in the midst of a round.
pub(crate) struct Halt<'a> {
    host: Host<'a>,
    /// On its clock.
    deadline: Option<Duration>,
    slice: Option<&'a Slice>,
}

impl Halt<'_> {
    fn is_out_of_time(&self) -> bool {
        self.deadline.is_some_and(|deadline| self.host.now() >= deadline)
    }

    /// Whether to break off, for good or until the next slice.
    pub(crate) fn is_reached(&self) -> bool {
        self.host.is_interrupted()
            || self.is_out_of_time()
            || self.slice.is_some_and(|slice| slice.is_over(self.host.now()))
    }
}

/// An experiment under way.
pub(crate) struct Experiment<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) settings: &'a Settings,
    /// Of a run whose traffic changes.
    pub(crate) phases: Vec<RunPhase>,
    /// By phase and class: why it is saturated.
    pub(crate) saturated_in_phases: Vec<Vec<Option<Saturation>>>,
    /// The longest interval of frames \[cycles\].
    pub(crate) frame_interval: Option<f64>,
    /// The same, or what an ON and an OFF period of connections take: sources that keep their places for the whole run
    /// show all that they do in some of them \[cycles\].
    unit_interval: Option<f64>,
    halt: Halt<'a>,
    pub(crate) replications: Vec<Replication>,
    pub(crate) warmup_cycles: u64,
    /// Whether MSER-5 found it, or it was given.
    pub(crate) warmup_settled: bool,
    /// Messages generated before this cycle have been counted.
    pub(crate) measured_until: u64,
    /// By class: why it is saturated.
    pub(crate) saturated: Vec<Option<Saturation>>,
    /// By class: whether its backlog may be growing.
    pub(crate) suspicious: Vec<bool>,
    /// Looks at the intervals so far.
    looks: u32,
    /// What kept it going at the last look, although it was precise enough.
    went_on_for: Option<Stop>,
    /// The precision at the last look at a window of frames.
    frames_precision: Option<f64>,
    /// On the host's clock.
    started: Duration,
    /// Spent in simulation proper.
    pub(crate) simulating: Duration,
}

impl<'a> Experiment<'a> {
    fn new(
        scenario: &'a Scenario,
        listed: &[TracedClass],
        settings: &'a Settings,
        host: Host<'a>,
        slice: Option<&'a Slice>,
    ) -> Self {
        let frame_interval = longest_frame_interval(scenario);
        let unit_interval = control::unit_interval(scenario).or(frame_interval);
        let whole_runs = are_whole_runs(scenario);
        // one of nothing but traces: all others would be the same
        let is_drawn = sends(scenario) || scenario.router().vc_choice != VcChoice::Free;
        let most = if listed.is_empty() || is_drawn { MAX_REPLICATIONS } else { 1 };
        let count = settings.replications.unwrap_or_else(|| usual_replications(scenario)).clamp(1, most);
        // 16 batches or more in all; one in each of many replications, and where a run is one sample: it is
        // terminating, or streams keep their places for all of it
        let batches = if whole_runs { 1 } else { 16_usize.div_ceil(count as usize) };
        let first = settings.first_replication;
        let indices = (0..count).map(|index| first.wrapping_add(index));
        let phases = scenario.phases();
        let one = |index| Replication::new(scenario, &phases, listed, settings, index, batches);
        let replications = indices.map(one).collect();
        let classes = scenario.classes().len();
        let started = host.now();
        let deadline = settings.max_time.and_then(|most| started.checked_add(most));
        Self {
            scenario,
            settings,
            phases,
            saturated_in_phases: Vec::new(),
            frame_interval,
            unit_interval,
            halt: Halt { host, deadline, slice },
            replications,
            warmup_cycles: 0,
            warmup_settled: true,
            measured_until: 0,
            saturated: vec![None; classes],
            suspicious: vec![false; classes],
            looks: 0,
            went_on_for: None,
            frames_precision: None,
            started,
            simulating: Duration::ZERO,
        }
    }

    async fn run(mut self, listener: &mut dyn Listener) -> Block {
        let stopped_by = match self.scenario.terminating() {
            _ if !sends(self.scenario) && !self.has_traces() => Stop::NoTraffic,
            Some(run) => self.whole_run(run.cycles, listener).await,
            None => match self.warm_up(listener).await {
                Some(halted) => halted,
                None => self.measure(listener).await,
            },
        };
        Block::of(&self, stopped_by)
    }

    /// Tells the listener that more has been measured.
    pub(crate) fn tell(&self, listener: &mut dyn Listener, progress: &Progress) {
        listener.progress(progress);
        // the answer of a block that was broken off here
        listener.so_far(&|| {
            answer_of(self.scenario, self.settings, &[Block::of(self, Stop::Interrupted)], false)
        });
    }

    fn has_traces(&self) -> bool {
        self.scenario.classes().iter().any(ClassSpec::is_traced)
    }

    /// Cycles to leave out at the start, if they are not to be found.
    pub(crate) fn given_warmup(&self) -> Option<u64> {
        self.settings.warmup_cycles.or_else(|| self.scenario.warm_up_cycles())
    }

    /// Runs until the start no longer shows; `Some` if it was broken off.
    async fn warm_up(&mut self, listener: &mut dyn Listener) -> Option<Stop> {
        let rate = self.scenario.mean_rate_of_all();
        let messages_per_cycle = rate * f64::from(nodes(self.scenario));
        // half of what is wanted, so that there is something left to measure
        let most = self.settings.max_messages as f64 / (2 * self.replications.len()) as f64;
        // long messages: fewer of them
        let classes = self.scenario.classes().iter().enumerate();
        let flits = |(index, class): (usize, &ClassSpec)| {
            self.scenario.mean_rate(index) / rate * f64::from(class.message_flits)
        };
        let mean_flits: f64 = classes.map(flits).sum();
        let first_messages = FIRST_MESSAGES.min((FIRST_FLITS / mean_flits).max(100.0));
        let first = (first_messages / messages_per_cycle).max(FIRST_CYCLES).min(most / messages_per_cycle);
        let settles = control::connections_stand_from(self.scenario) as f64;
        let first = first.max(WARM_UP_INTERVALS * self.frame_interval.unwrap_or(0.0).max(settles));
        let first = first.clamp(256.0, MAX_CYCLES as f64 / 256.0);
        let given = self.given_warmup();
        let mut end = (first as u64).saturating_add(given.unwrap_or(0));
        for one in &mut self.replications {
            one.dropped_before = given.unwrap_or(0);
        }
        for doubling in 0.. {
            let start = self.now();
            for step in 1..=warm_up::STEPS {
                let cycle = start + (end - start) * step / warm_up::STEPS;
                // with a warm-up of its own nothing is measured before the end of that
                let halted = match given {
                    Some(_) => self.advance(cycle).await,
                    None => self.advance_in_time(cycle).await,
                };
                if halted.is_some() {
                    return halted;
                }
                if self.now() < cycle {
                    break;
                }
                self.look_for_growth(cycle / 4);
                let share_done = 0.02 * step as f64 / warm_up::STEPS as f64;
                let share_done = share_done.max(self.share_of_time());
                listener.progress(&Progress { warming_up: true, messages: 0, precision: None, share_done });
            }
            if let Some(cycles) = given {
                self.warmup_cycles = cycles;
                break;
            }
            let found = warm_up::detect(self);
            let messages: usize = self.replications.iter().map(|one| one.pending.len()).sum();
            let last = doubling == MOST_DOUBLINGS
                || self.share_of_time() > MOST_OF_TIME
                || messages as u64 > MOST_FIRST_MESSAGES.min(self.settings.max_messages.saturating_mul(2))
                || self.flit_hops() > MOST_FIRST_FLIT_HOPS;
            if found.settled || last {
                self.warmup_cycles = found.cycles;
                self.warmup_settled = found.settled;
                break;
            }
            end *= 2;
        }
        None
    }

    /// Measures in rounds until something ends it.
    async fn measure(&mut self, listener: &mut dyn Listener) -> Stop {
        let mut look_at = self.now();
        let mut end = look_at;
        loop {
            if let Some(halted) = self.run_out(end).await {
                return halted;
            }
            self.settle(self.within_limit(end), listener);
            let messages = self.messages();
            let precision = self.precision();
            let share = |width: f64| (self.settings.precision / width).powi(2).clamp(0.02, 1.0);
            let share_done = precision
                .map_or(0.02, share)
                .max(messages as f64 / self.settings.max_messages as f64)
                .max(self.share_of_time())
                .min(1.0);
            self.tell(listener, &Progress { warming_up: false, messages, precision, share_done });

            let is_full = messages >= self.settings.max_messages;
            if end >= look_at || is_full {
                if let Some(enough) = self.look(end, precision) {
                    return enough;
                }
                look_at = self.next_look(end, precision);
            }
            if is_full {
                return Stop::MaxMessages;
            }
            if end >= MAX_CYCLES {
                return Stop::MaxCycles;
            }
            end = look_at.min(end + self.round_cycles(messages)).max(self.now()).min(MAX_CYCLES);
            if let Some(halted) = self.advance(end).await {
                return halted;
            }
        }
    }

    /// Looks at intervals, backlogs and memories; `Some` if nothing more is wanted.
    fn look(&mut self, end: u64, precision: Option<f64>) -> Option<Stop> {
        self.look_for_growth(end / 4);
        self.looks += 1;
        if let Some(interval) = self.unit_interval {
            return self.look_at_frames(end, interval, precision);
        }
        if precision.is_none_or(|width| width > self.settings.precision) {
            self.went_on_for = None;
        } else {
            let is_first = self.looks == 1;
            match (self.lacking(), self.went_on_for) {
                (lacking @ Some(_), _) => self.went_on_for = lacking,
                (None, None) if is_first => return Some(Stop::FirstLook),
                (None, None) => return Some(Stop::Precision),
                (None, reason) => return reason,
            }
        }
        (self.is_all_saturated() && end >= 2 * self.warmup_cycles).then_some(Stop::Saturated)
    }

    /// The same where sources keep their places: frames, and connections that stand for the whole run.
    fn look_at_frames(&mut self, end: u64, interval: f64, precision: Option<f64>) -> Option<Stop> {
        let is_whole = |window: f64| end >= self.end_of_window(window, interval);
        if !is_whole(FRAME_WINDOWS[0]) {
            return None;
        }
        let before = self.frames_precision;
        let helps = precision.zip(before).is_some_and(|(now, before)| now <= WORTH_MORE * before);
        let stop = match precision {
            _ if self.suspicious.contains(&true) && !is_whole(LONG_WINDOW) => None,
            Some(width) if width <= self.settings.precision => Some(Stop::Precision),
            _ if self.is_all_saturated() => Some(Stop::Saturated),
            _ if is_whole(LONG_WINDOW) && !helps => Some(Stop::Frames),
            _ => None,
        };
        self.frames_precision = precision;
        stop
    }

    /// When so many intervals of frames, and the last frames of them, are through.
    fn end_of_window(&self, window: f64, interval: f64) -> u64 {
        let cycles = (window + warm_up::FRAMES_UNDER_WAY) * interval;
        self.warmup_cycles.saturating_add(cycles as u64).min(MAX_CYCLES)
    }

    /// What is wanted beside precision, and will be the reason why the run was prolonged.
    fn lacking(&self) -> Option<Stop> {
        let is_short =
            |class: &usize| self.memories(*class).is_some_and(|memories| memories < FEWEST_MEMORIES);
        if let Some(class) = self.suspicious.iter().position(|suspicious| *suspicious) {
            Some(Stop::AfterBacklog { class: class as u8 })
        } else if self.flit_hops() < memory::MOST_FLIT_HOPS {
            let class = (0..self.saturated.len()).find(is_short)?;
            Some(Stop::AfterMemory { class: class as u8 })
        } else {
            None
        }
    }

    /// How many times as long as its queue remembers a class was measured; `None` if waiting is not long or has no
    /// steady state.
    fn memories(&self, class: usize) -> Option<f64> {
        let tallies = self.replications.iter().flat_map(|one| &one.batches.tallies);
        let cycles = (self.measured_until - self.warmup_cycles) as f64 * self.replications.len() as f64;
        memory::memories(tallies, class, cycles).filter(|_| self.saturated[class].is_none())
    }

    /// When the intervals may be narrow enough: half-widths shrink with the root of the length.
    fn next_look(&self, end: u64, precision: Option<f64>) -> u64 {
        if let Some(interval) = self.unit_interval {
            let longer = std::iter::successors(Some(LONG_WINDOW), |window| Some(2.0 * window));
            let mut ends =
                FRAME_WINDOWS.into_iter().chain(longer).map(|one| self.end_of_window(one, interval));
            return ends.find(|one| *one > end || *one == MAX_CYCLES).unwrap_or(MAX_CYCLES);
        }
        let wanted = self.settings.precision;
        let factor = match (precision, self.went_on_for) {
            (Some(width), _) if width > wanted => 1.1 * (width / wanted).powi(2),
            (_, Some(Stop::AfterMemory { class })) => {
                let memories = self.memories(usize::from(class)).unwrap_or(FEWEST_MEMORIES);
                1.1 * FEWEST_MEMORIES / memories
            }
            _ => 2.0,
        };
        let window = (end - self.warmup_cycles) as f64 * factor.clamp(1.25, 4.0);
        self.warmup_cycles.saturating_add(window.ceil() as u64)
    }

    /// The end of the cycle in which the last message allowed is generated, if that is before `end`.
    fn within_limit(&self, end: u64) -> u64 {
        let left = self.settings.max_messages.saturating_sub(self.messages()).max(1);
        let pending: usize = self.replications.iter().map(|one| one.pending.len()).sum();
        if pending as u64 <= left {
            return end;
        }
        let (from, saturated) = (self.warmup_cycles, &self.saturated);
        let of_one = |one: &'_ Replication| {
            one.to_settle(from, end, |class| saturated[usize::from(class)].is_some()).collect::<Vec<_>>()
        };
        let mut cycles: Vec<u64> = self.replications.iter().flat_map(of_one).collect();
        if cycles.len() as u64 <= left {
            return end;
        }
        let (_, last, _) = cycles.select_nth_unstable(left as usize - 1);
        (*last + 1).max(self.measured_until)
    }

    /// Cycles of a round: about [`ROUND_FLIT_HOPS`], and no more than the messages still to measure.
    fn round_cycles(&self, messages: u64) -> u64 {
        let hops = self.flit_hops();
        let cycles: u64 = self.replications.iter().map(|one| one.simulator.now()).sum();
        let round = ROUND_FLIT_HOPS * cycles as f64 / (hops as f64).max(1.0);
        let window = (self.measured_until - self.warmup_cycles) as f64;
        let left = self.settings.max_messages.saturating_sub(messages) as f64;
        let enough = left * window / (messages as f64).max(1.0);
        round.min(enough).clamp(256.0, MAX_CYCLES as f64) as u64
    }

    /// The first cycle that no replication has reached.
    fn now(&self) -> u64 {
        self.replications.iter().map(|one| one.simulator.now()).max().unwrap_or(0)
    }

    /// Share of the time allowed that has passed.
    fn share_of_time(&self) -> f64 {
        let most = self.settings.max_time.map_or(f64::INFINITY, |most| most.as_secs_f64());
        self.elapsed().as_secs_f64() / most
    }

    pub(crate) fn host(&self) -> &Host<'a> {
        &self.halt.host
    }

    /// Since it began.
    pub(crate) fn elapsed(&self) -> Duration {
        self.host().now().saturating_sub(self.started)
    }

    /// Simulates all cycles before `end`; `Some` if that was broken off.
    async fn advance(&mut self, end: u64) -> Option<Stop> {
        self.in_parallel(|one, halt| one.advance(end, halt)).await
    }

    /// The same in the warm-up, which is broken off in the midst where there would be no time left to measure.
    async fn advance_in_time(&mut self, end: u64) -> Option<Stop> {
        let start = self.now();
        let parts = if self.settings.max_time.is_some() { PARTS_OF_STEP } else { 1 };
        for part in 1..=parts {
            if self.share_of_time() > MOST_OF_TIME {
                continue;
            }
            let halted = self.advance(start + (end.saturating_sub(start)) * part / parts).await;
            if halted.is_some() {
                return halted;
            }
        }
        None
    }

    /// Simulates on until all messages generated before `end` have been delivered; `Some` if that was broken
    /// off.
    ///
    /// Messages of saturated classes are not waited for. A class whose messages do not come through in as many
    /// cycles again is saturated.
    async fn run_out(&mut self, end: u64) -> Option<Stop> {
        let awaited: Vec<bool> = self.saturated.iter().map(Option::is_none).collect();
        let limit = end.saturating_mul(2).saturating_add(100_000);
        let halted = self.in_parallel(|one, halt| one.run_out(end, limit, &awaited, halt)).await;
        if halted.is_some() {
            return halted;
        }
        for (class, awaited) in awaited.into_iter().enumerate() {
            if awaited && self.replications.iter().any(|one| one.outstanding[class] > 0) {
                self.saturate(class, Saturation::NeverDelivered { cycles: limit - end });
            }
        }
        None
    }

    /// Lets every replication work until it says that it is through, slice by slice.
    ///
    /// What is under way in a round that is broken off does not count.
    async fn in_parallel(
        &mut self,
        work: impl Fn(&mut Replication, &Halt<'_>) -> bool + Sync,
    ) -> Option<Stop> {
        let mut through = vec![false; self.replications.len()];
        loop {
            let started = self.host().now();
            let halt = &self.halt;
            let left = self.replications.par_iter_mut().zip(&mut through).filter(|(_, through)| !**through);
            halt.host.workers.install(|| left.for_each(|(one, through)| *through = work(one, halt)));
            self.simulating += self.host().now().saturating_sub(started);
            if self.host().is_interrupted() {
                return Some(Stop::Interrupted);
            } else if self.halt.is_out_of_time() {
                return Some(Stop::MaxTime);
            } else if !through.contains(&false) {
                return None;
            }
            slices::hand_over().await;
        }
    }

    /// Counts the messages generated from the end of the warm-up to `end`.
    fn settle(&mut self, end: u64, listener: &mut dyn Listener) {
        let from = self.warmup_cycles;
        let saturated = &self.saturated;
        for one in &mut self.replications {
            one.settle(from, end, |class| saturated[usize::from(class)].is_some());
            listener.measured(one.index, &one.settled);
        }
        self.measured_until = end;
    }

    fn look_for_growth(&mut self, from: u64) {
        for class in 0..self.saturated.len() {
            let verdict = growth::judge(self, class, from);
            self.suspicious[class] =
                verdict == growth::Verdict::Suspicious && self.saturated[class].is_none();
            if let growth::Verdict::Grows(found) = verdict {
                self.saturate(class, found);
            }
        }
    }

    /// The first verdict stays: from then on the queues are limited and grow no more.
    fn saturate(&mut self, class: usize, found: Saturation) {
        self.saturated[class].get_or_insert(found);
        self.suspicious[class] = false;
        // a frame of which a message is lost would never be delivered
        if !self.scenario.classes()[class].source.has_frames() {
            for one in &mut self.replications {
                one.simulator.limit_source_queues(class, SATURATED_QUEUE);
            }
        }
    }

    /// Whether no class that sends has a steady state.
    fn is_all_saturated(&self) -> bool {
        let mut classes = self.saturated.iter().enumerate();
        classes.all(|(class, saturated)| saturated.is_some() || self.scenario.mean_rate(class) == 0.0)
    }

    /// Of all replications, warm-up included.
    fn flit_hops(&self) -> u64 {
        self.replications.iter().map(|one| one.simulator.flit_hops()).sum()
    }

    fn messages(&self) -> u64 {
        let classes = 0..self.saturated.len();
        let tallies = || self.replications.iter().flat_map(|one| &one.batches.tallies);
        classes.map(|class| tallies().map(|tally| tally.count(class)).sum::<u64>()).sum()
    }

    /// Half-width of the least precise class's network latency as a share of it.
    fn precision(&self) -> Option<f64> {
        let of_one = |one: &Replication, class: usize| {
            one.batches.tallies.iter().map(|tally| tally.network_batch(class)).collect::<Vec<_>>()
        };
        let least = least_precise(
            self.scenario,
            |class| self.saturated[class].is_some(),
            |class| self.replications.iter().map(|one| of_one(one, class)).collect(),
        );
        least.map(|(_, width)| width)
    }
}

/// Messages of a class below which its half-width is not believed.
pub(crate) const FEWEST_MESSAGES: u64 = 200;

/// The longest interval of the frames of a class that sends any \[cycles\].
pub fn longest_frame_interval(scenario: &Scenario) -> Option<f64> {
    let interval = |scenario: &Scenario| {
        let frames = (0..scenario.classes().len()).filter_map(|class| scenario.frames(class));
        frames.filter(|frames| frames.streams > 0).map(|frames| frames.interval).reduce(f64::max)
    };
    let of_phases = scenario.phases().into_iter().filter_map(|phase| interval(&phase.scenario));
    interval(scenario).into_iter().chain(of_phases).reduce(f64::max)
}

/// Independent replications of a run unless [`Settings::replications`] says otherwise; of packet switches at most.
pub fn usual_replications(scenario: &Scenario) -> u32 {
    let is_small = nodes(scenario) <= 256 && !are_whole_runs(scenario);
    8 + 8 * u32::from(is_small && !packets::are_switched(scenario))
}

/// Whether each replication is one sample.
fn are_whole_runs(scenario: &Scenario) -> bool {
    let has_units =
        || control::unit_interval(scenario).is_some() || longest_frame_interval(scenario).is_some();
    scenario.terminating().is_some() || has_units()
}

/// Whether a class sends anything, in any phase.
fn sends(scenario: &Scenario) -> bool {
    let has_rate = |scenario: &Scenario| scenario.mean_rate_of_all() > 0.0;
    let phases = scenario.phases();
    has_rate(scenario) && phases.is_empty() || phases.iter().any(|phase| has_rate(&phase.scenario))
}

/// Nodes of the network.
pub(crate) fn nodes(scenario: &Scenario) -> u32 {
    scenario.topology().nodes()
}
