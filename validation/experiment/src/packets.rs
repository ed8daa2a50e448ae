//! Runs of packet switches: what a scenario with `[switch]` delivers over time, and how well that is known.
//!
//! Every replication is the whole run, from an empty network to its end; intervals are over replications.

mod answer;
mod kept;
#[cfg(test)]
mod tests;
mod traces;
mod window;

use std::ops::Range;
use std::sync::mpsc;

use flitwise_language::document::Place;
use flitwise_language::scenario::{Direction, Fault, Read, Scenario, SourceSpec};
use rayon::ThreadPool;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::answer::Simulation;
use crate::replication::replication_seed;
use crate::slices::hand_over;
use crate::statistics::Batch;
use crate::traces::{TracedClass, listed};
use crate::{Host, Listener, MAX_REPLICATIONS, Progress, ReadFile, Settings, Slice};
use flitwise_simulator::packet::{
    Bin, Column, Counts, Delivery, Fabric, Load, Message, Simulator, StageLoad, Traffic, TrafficCounts,
};

use answer::Circumstances;
pub use flitwise_language::section::Measurement;
pub use kept::{Shelf, run_kept};
pub use window::{PacketSeries, TimeSeries};

/// Replications of a run with an end.
const REPLICATIONS: u32 = 8;
/// The longest stretch before a hot spot in which the throughput before it is measured \[ns\].
const BEFORE_NS: f64 = 400_000.0;
/// Looks at the clock in a replication, at least.
const LOOKS: u64 = 256;

/// What the simulator of packet switches reads of a scenario.
const READS: &[Read] = &[
    Read::Words("network.topology", &["multistage", "fat-tree", "file"]),
    Read::Keys("network", &["hosts", "direction", "first_shuffle", "self_traffic"]),
    Read::Keys("network", &["levels", "radix", "taper", "arity", "down", "up", "links", "file", "root"]),
    Read::Keys("network.delay", &["up"]),
    Read::Words(
        "network.routing",
        &["d-mod-k", "s-mod-k", "random-up", "adaptive-up", "shortest", "up-down", "tables"],
    ),
    Read::Keys("switch", &["organisation", "voq_output", "ports", "link_rate", "crossbar_rate", "packet"]),
    Read::Keys("switch", &["flit", "control_packet", "port_memory", "flight_time", "routing_time"]),
    Read::Keys("switch", &["forwarding", "credit_batch"]),
    Read::Keys("recn", &["set_aside_queues", "detection", "propagation", "xoff", "xon", "few_packets"]),
    Read::Keys("recn", &["normal_weight", "hold"]),
    Read::Keys("interface", &["injection_memory", "admittance"]),
    Read::Keys("class", &["rate", "message", "nodes", "destination", "start", "end", "end_of_traffic"]),
    Read::Words("class.source.kind", &["poisson", "periodic", "on-off-pareto", "trace", "san"]),
    Read::Keys("class.source", &["streams", "alpha", "spacing", "most", "file", "compression", "disks"]),
    Read::Keys("measure", &["warm_up", "end", "bin"]),
];

/// Whether a scenario is of packet switches.
pub fn are_switched(scenario: &Scenario) -> bool {
    scenario.switch().is_some()
}

/// Options that runs of packet switches have nothing for, and what is wanted in their place.
pub(crate) const IDLE: &[(&str, &str)] = &[
    ("trace", "no trace of packets"),
    ("details", "no details of channels"),
    ("watch", "no pipeline diagram of packets"),
    ("warmup", "warm_up under [measure] of the scenario"),
    ("precision", "a number of --replications"),
    ("max-messages", "end under [measure] of the scenario"),
];

/// What of a scenario of packet switches cannot be simulated; traces are read.
///
/// # Errors
/// All of it, at once.
pub fn supports(scenario: &Scenario, read: &ReadFile<'_>) -> Result<(), Vec<Fault>> {
    prepared(scenario, read).map(drop)
}

/// Checks a scenario and reads its traces.
fn prepared(scenario: &Scenario, read: &ReadFile<'_>) -> Result<Vec<TracedClass>, Vec<Fault>> {
    let mut faults: Vec<Fault> = scenario.unread(READS).iter().map(|one| one.fault("to simulate")).collect();
    if scenario.terminating().is_none() {
        faults.push(Fault {
            place: Place::Program,
            key: "measure.end".to_owned(),
            found: "no end of the run".to_owned(),
            wanted: "one to simulate packet switches, whose steady state is not simulated".to_owned(),
            help: Some("add  [measure]  with  end = \"300 us\"".to_owned()),
        });
    }
    faults.extend(too_long(scenario));
    match listed(scenario, read) {
        Ok(listed) if faults.is_empty() => return Ok(listed),
        Ok(_) => {}
        Err(more) => faults.extend(more),
    }
    Err(faults)
}

/// Longest time of a storage area network before compression \[ns\]: its messages are drawn before the run.
const LONGEST_SAN_NS: f64 = 2e10;

/// What would take more memory than a computer has.
fn too_long(scenario: &Scenario) -> Option<Fault> {
    let end = scenario.measure().end?;
    let compressions = scenario.classes().iter().filter_map(|class| match class.source {
        SourceSpec::San { compression, .. } => Some(compression),
        _ => None,
    });
    let most = compressions.fold(0.0, f64::max);
    (end * most > LONGEST_SAN_NS).then(|| Fault {
        place: Place::Program,
        key: "measure.end".to_owned(),
        found: format!("{:.0} us of a storage area network", end / 1e3),
        wanted: format!(
            "at most {:.0} us of such traffic, which is drawn before the run",
            LONGEST_SAN_NS / most / 1e3
        ),
        help: None,
    })
}

/// A scenario in ticks.
#[derive(Clone)]
struct Problem<'s> {
    scenario: &'s Scenario,
    tick_ns: f64,
    /// Length of a packet \[bytes\].
    packet: f64,
    fabric: Fabric,
    traffics: Vec<Traffic>,
    /// Messages of traces.
    messages: Vec<Message>,
    end: u64,
    warm_up: u64,
    bin: u64,
    /// Traffic that begins after the start: from when to when.
    hot: Option<(u64, u64)>,
    phases: Vec<Stretch>,
}

/// A part of a run \[ticks\].
#[derive(Clone, Copy, Debug)]
struct Stretch {
    name: &'static str,
    start: u64,
    end: u64,
}

impl<'s> Problem<'s> {
    fn of(scenario: &'s Scenario, listed: &[TracedClass]) -> Option<Self> {
        let switch = scenario.switch()?;
        let timing = scenario.spec().timing()?;
        let measure = scenario.measure();
        let ticks = |ns: f64| (ns / timing.tick_ns).round() as u64;
        let end = ticks(measure.end?).max(1);
        let warm_up = ticks(measure.warm_up.unwrap_or(0.0)).min(end - 1);
        let starts = |index: &usize| scenario.classes()[*index].start_cycle() > 0.0;
        let late: Vec<usize> = (0..scenario.classes().len()).filter(starts).collect();
        let traffics: Vec<Traffic> =
            (0..scenario.classes().len()).map(|class| Traffic::of(scenario, class, timing.tick_ns)).collect();
        let first = late.iter().map(|class| traffics[*class].start).min().filter(|start| *start < end);
        let last = late.iter().map(|class| traffics[*class].end.unwrap_or(end).min(end)).max();
        let hot = first.zip(last);
        let mut phases = vec![Stretch { name: "run", start: warm_up, end }];
        if let Some((start, stop)) = hot {
            let before = start - (start / 2).min(ticks(BEFORE_NS));
            phases.push(Stretch { name: "before", start: before, end: start });
            phases.push(Stretch { name: "during", start, end: stop });
            phases.push(Stretch { name: "after", start: stop, end });
        }
        phases.retain(|phase| phase.start < phase.end);
        Some(Self {
            scenario,
            messages: traces::messages(listed, &traffics, f64::from(switch.packet), timing.tick_ns, end),
            tick_ns: timing.tick_ns,
            packet: f64::from(switch.packet),
            fabric: Fabric::of(scenario)?,
            traffics,
            end,
            warm_up,
            bin: ticks(measure.bin?).clamp(1, end),
            hot,
            phases,
        })
    }

    /// Whether traffic of a class begins after the start.
    fn is_hot(&self, class: usize) -> bool {
        self.scenario.classes()[class].start_cycle() > 0.0
    }

    /// One of nothing but traces: all others would be the same.
    fn most_replications(&self) -> u32 {
        let is_made = self.scenario.classes().iter().any(|class| traces::is_made(&class.source));
        let is_drawn = is_made || self.traffics.iter().any(|traffic| !traffic.hosts.is_empty());
        if is_drawn { MAX_REPLICATIONS } else { 1 }
    }

    /// Replications of these indices; without those that were broken off.
    fn replications(
        &self,
        seed: u64,
        indices: Range<u32>,
        pool: &ThreadPool,
        go_on: &(dyn Fn(u64) -> bool + Sync),
    ) -> Vec<Sample> {
        // one that has not begun takes no time to stop
        let one =
            |index: u32| go_on(0).then(|| self.replicate(replication_seed(seed, index), go_on)).flatten();
        let samples: Vec<Option<Sample>> = pool.install(|| indices.into_par_iter().map(one).collect());
        samples.into_iter().flatten().collect()
    }

    /// What a replication of a seed runs.
    fn load(&self, seed: u64, bin: u64) -> Load {
        let end_ns = self.end as f64 * self.tick_ns;
        let made = traces::made(self.scenario, seed, end_ns);
        let made = traces::messages(&made, &self.traffics, self.packet, self.tick_ns, self.end);
        let mut messages = self.messages.clone();
        if !made.is_empty() {
            messages.extend(made);
            messages.sort_by_key(|message| message.tick);
        }
        Load { traffics: self.traffics.clone(), messages, seed, bin }
    }

    /// A replication; none if it was broken off.
    fn replicate(&self, seed: u64, go_on: impl Fn(u64) -> bool) -> Option<Sample> {
        let mut run = Run::new(self, seed);
        run.advance(go_on).then(|| run.sample())
    }
}

/// A replication under way.
struct Run<'p, 's> {
    problem: &'p Problem<'s>,
    simulator: Simulator,
    sample: Sample,
    delivered: Vec<Delivery>,
}

impl<'p, 's> Run<'p, 's> {
    fn new(problem: &'p Problem<'s>, seed: u64) -> Self {
        let simulator = Simulator::new(&problem.fabric, &problem.load(seed, problem.bin));
        Self { problem, simulator, sample: Sample::of(problem), delivered: Vec::new() }
    }

    /// Simulates to the end of the run; false if it was broken off. `go_on` is told how many ticks are done.
    fn advance(&mut self, go_on: impl Fn(u64) -> bool) -> bool {
        let Self { problem, simulator, sample, delivered } = self;
        let step = (problem.end / LOOKS).clamp(1, 10_000);
        while simulator.now() < problem.end {
            let until = (simulator.now() + step).min(problem.end);
            let done = until - simulator.now();
            simulator.run_until(until, delivered);
            delivered.drain(..).for_each(|packet| sample.add(problem, &packet));
            if !go_on(done) {
                return false;
            }
        }
        true
    }

    fn sample(mut self) -> Sample {
        self.sample.counts = *self.simulator.counts();
        self.sample.traffics = self.simulator.traffics().to_vec();
        self.sample.links = self.simulator.links().to_vec();
        self.sample.bins = self.simulator.into_bins();
        self.sample
    }
}

/// What one replication was measured to be.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Sample {
    /// By phase and class: packets delivered.
    phases: Vec<Vec<u64>>,
    /// By class: latency in the network, waiting before it, and both \[ticks\].
    latency: Vec<[Batch; 3]>,
    bins: Vec<Bin>,
    counts: Counts,
    /// By class.
    traffics: Vec<TrafficCounts>,
    /// By stage, last for hosts.
    links: Vec<StageLoad>,
}

impl Sample {
    fn of(problem: &Problem<'_>) -> Self {
        let classes = problem.traffics.len();
        Self {
            phases: vec![vec![0; classes]; problem.phases.len()],
            latency: vec![[Batch::default(); 3]; classes],
            bins: Vec::new(),
            counts: Counts::default(),
            traffics: Vec::new(),
            links: Vec::new(),
        }
    }

    fn add(&mut self, problem: &Problem<'_>, packet: &Delivery) {
        let class = usize::from(packet.traffic);
        for (phase, counts) in problem.phases.iter().zip(&mut self.phases) {
            counts[class] += u64::from((phase.start..phase.end).contains(&packet.delivered));
        }
        if packet.generated >= problem.warm_up {
            let (network, waiting) = (packet.delivered - packet.admitted, packet.admitted - packet.generated);
            for (batch, ticks) in self.latency[class].iter_mut().zip([network, waiting, network + waiting]) {
                batch.count += 1;
                batch.sum += ticks as f64;
            }
        }
    }
}

/// Packets in the memories of all ports at some times of a run \[ns\], which rise.
///
/// # Errors
/// What [`supports`] says, and that of a network whose links carry data both ways.
pub fn columns_at(
    scenario: &Scenario,
    seed: u64,
    times_ns: &[f64],
    read: &ReadFile<'_>,
) -> Result<Vec<Vec<Column>>, Vec<Fault>> {
    let listed = prepared(scenario, read)?;
    let problem = Problem::of(scenario, &listed);
    let stages = scenario.topology().as_multistage();
    let is_row = stages.is_some_and(|stages| stages.direction == Direction::Unidirectional);
    let Some(problem) = problem.filter(|_| is_row) else {
        return Err(vec![Fault {
            place: Place::Program,
            key: "network.direction".to_owned(),
            found: "data on the links both ways".to_owned(),
            wanted: "unidirectional packet switches, whose stages stand in a row".to_owned(),
            help: None,
        }]);
    };
    let load = problem.load(replication_seed(seed, 0), 0);
    let (mut simulator, mut delivered) = (Simulator::new(&problem.fabric, &load), Vec::new());
    let at = |time_ns: &f64| {
        simulator.run_until(((time_ns / problem.tick_ns).round() as u64).min(problem.end), &mut delivered);
        delivered.clear();
        simulator.columns()
    };
    Ok(times_ns.iter().map(at).collect())
}

/// Runs replications of a scenario of packet switches.
///
/// The same scenario and settings give the same bits on any host. Once [`Host::stop`] is set or time is over, the
/// replications that are through are all there is.
///
/// # Errors
/// What [`supports`] says.
pub fn run(
    scenario: &Scenario,
    settings: &Settings,
    host: &Host<'_>,
    listener: &mut dyn Listener,
) -> Result<Simulation, Vec<Fault>> {
    let listed = prepared(scenario, host.read)?;
    let problem = problem_of(scenario, &listed)?;
    let started = host.now();
    let deadline = settings.max_time.and_then(|most| started.checked_add(most));
    let count = settings.replications.unwrap_or(REPLICATIONS).clamp(1, problem.most_replications());
    let (first, mut samples) = (settings.first_replication, Vec::new());
    let (sender, receiver) = mpsc::channel();
    host.workers.in_place_scope(|scope| {
        let (problem, samples) = (&problem, &mut samples);
        scope.spawn(move |_| {
            let go_on = |done: u64| {
                // it is received until all replications have ended
                let _ = sender.send(done);
                !host.is_interrupted() && deadline.is_none_or(|deadline| host.now() < deadline)
            };
            let indices = first..first.saturating_add(count);
            *samples = problem.replications(settings.seed, indices, host.workers, &go_on);
        });
        // where this thread is the only worker, it simulates now
        host.workers.yield_now();
        let (all, mut ticks) = (count as f64 * problem.end as f64, 0);
        for done in receiver {
            ticks += done;
            let share_done = ticks as f64 / all;
            listener.progress(&Progress { warming_up: false, messages: 0, precision: None, share_done });
        }
    });
    let how = Circumstances {
        settings,
        wanted: count,
        is_interrupted: host.is_interrupted(),
        threads: host.threads(),
        seconds: host.now().saturating_sub(started).as_secs_f64(),
    };
    Ok(answer::answer(scenario, &problem, &samples, &how))
}

fn problem_of<'s>(scenario: &'s Scenario, listed: &[TracedClass]) -> Result<Problem<'s>, Vec<Fault>> {
    Problem::of(scenario, listed).ok_or_else(|| {
        let (found, wanted) = ("no [switch] table".to_owned(), "packet switches".to_owned());
        vec![Fault { place: Place::Program, key: "switch".to_owned(), found, wanted, help: None }]
    })
}

/// The same, one replication after the other, handing over whenever a slice is over.
pub(crate) async fn run_in_slices(
    scenario: &Scenario,
    settings: &Settings,
    host: &Host<'_>,
    listener: &mut dyn Listener,
    slice: &Slice,
) -> Result<Simulation, Vec<Fault>> {
    let listed = prepared(scenario, host.read)?;
    let problem = problem_of(scenario, &listed)?;
    let started = host.now();
    let deadline = settings.max_time.and_then(|most| started.checked_add(most));
    let wanted = settings.replications.unwrap_or(REPLICATIONS).clamp(1, problem.most_replications());
    let first = settings.first_replication;
    let is_over = || host.is_interrupted() || deadline.is_some_and(|deadline| host.now() >= deadline);
    let answer = |samples: &[Sample]| {
        let how = Circumstances {
            settings,
            wanted,
            is_interrupted: host.is_interrupted(),
            threads: host.threads(),
            seconds: host.now().saturating_sub(started).as_secs_f64(),
        };
        answer::answer(scenario, &problem, samples, &how)
    };
    let mut samples: Vec<Sample> = Vec::new();
    'all: for index in first..first.saturating_add(wanted) {
        let mut run = Run::new(&problem, replication_seed(settings.seed, index));
        while !run.advance(|_| !is_over() && !slice.is_over(host.now())) {
            if is_over() {
                break 'all;
            }
            let done = samples.len() as f64 + run.simulator.now() as f64 / problem.end as f64;
            let share_done = done / f64::from(wanted);
            listener.progress(&Progress { warming_up: false, messages: 0, precision: None, share_done });
            hand_over().await;
        }
        samples.push(run.sample());
        listener.so_far(&|| answer(&samples));
    }
    Ok(answer(&samples))
}
