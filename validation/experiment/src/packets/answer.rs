//! The answer of a run of packet switches. The name of each number has its unit.

use flitwise_language::scenario::Organisation;
use schemars::JsonSchema;
use serde::Serialize;

use super::{Problem, Sample, Stretch};
use crate::statistics::{Batch, mean_of};

/// What a scenario of packet switches was measured to do.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PacketSimulation {
    /// The scenario asked about.
    pub scenario: serde_json::Value,
    /// How it was run.
    pub run: PacketRun,
    /// Throughput in the whole run after the warm-up, and before, during and after the traffic that begins later.
    pub phases: Vec<Phase>,
    /// How far the other traffic falls while that lasts; none without it.
    pub dip: Option<Dip>,
    /// Latency of each class, in the order of the scenario.
    pub classes: Vec<ClassPackets>,
    /// Queues set aside; none in organisations without them.
    pub set_aside_queues: Option<SetAside>,
    /// What became of the packets of all replications.
    pub packets: Fates,
    /// The run interval by interval.
    pub over_time: Vec<Interval>,
    /// Length of a packet \[bytes\].
    #[serde(skip)]
    pub(super) packet_bytes: f64,
    /// What is behind the means, by replication.
    #[serde(skip)]
    pub(super) samples: Vec<Sample>,
}

/// How packet switches were run.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PacketRun {
    /// Where all random numbers come from.
    pub seed: u64,
    /// Independent runs behind the numbers.
    pub replications: u32,
    /// Whether some were broken off, and are left out.
    pub partial: bool,
    /// Length of a run \[ns\].
    pub end_ns: f64,
    /// Start that is left out of the means of the whole run \[ns\].
    pub warm_up_ns: f64,
    /// Length of an interval \[ns\].
    pub bin_ns: f64,
    /// The tick, which divides all durations \[ns\].
    pub tick_ns: f64,
    /// Threads used.
    pub threads: u32,
    /// Time from start to end \[s\].
    pub wall_seconds: f64,
}

/// A mean over replications.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Measured {
    /// The mean.
    pub mean: f64,
    /// The 95 % interval is the mean plus and minus this; `null` with one replication.
    pub half_width_95: Option<f64>,
}

/// Bytes delivered per time.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Throughput {
    /// Of all classes \[bytes/ns\].
    pub all_bytes_per_ns: Option<Measured>,
    /// Of each class, in the order of the scenario \[bytes/ns\].
    pub classes_bytes_per_ns: Vec<Option<Measured>>,
}

/// A part of a run.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Phase {
    /// `run`, `before`, `during` or `after`.
    pub name: String,
    /// When it begins \[ns\].
    pub start_ns: f64,
    /// When it ends \[ns\].
    pub end_ns: f64,
    /// Throughput in it.
    #[serde(flatten)]
    pub throughput: Throughput,
}

/// The lowest throughput of the traffic that is there from the start, while other traffic lasts that begins later.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Dip {
    /// Mean over replications of the lowest interval of each \[bytes/ns\].
    pub lowest_bytes_per_ns: Measured,
    /// The same as a share of the throughput before, of each.
    pub share_of_before: Option<Measured>,
}

/// What is said of the packets of a class that came to their hosts.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ClassPackets {
    /// Name of the class.
    pub name: String,
    /// Packets behind the means, all replications.
    pub packets: u64,
    /// From the start of the transfer into the injection port to the tail at the host \[ns\].
    pub network_latency_ns: Option<Measured>,
    /// From the generation of the message to the start of the transfer \[ns\].
    pub waiting_ns: Option<Measured>,
    /// Both \[ns\].
    pub total_latency_ns: Option<Measured>,
}

/// Most queues set aside at a time in a replication.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Peak {
    /// Mean over replications.
    #[serde(flatten)]
    pub measured: Measured,
    /// The most of all replications.
    pub most: u32,
}

/// Queues set aside.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SetAside {
    /// In the whole network.
    pub network: Peak,
    /// At the fullest ingress port.
    pub ingress_port: Peak,
    /// At the fullest egress port.
    pub egress_port: Peak,
    /// Allocated, all replications.
    pub allocated: u64,
    /// Of these given back without ever holding a packet.
    pub released_unused: u64,
    /// Notifications that found no free queue.
    pub refusals: u64,
}

/// What became of packets, all replications.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Fates {
    /// Generated.
    pub generated: u64,
    /// Delivered.
    pub delivered: u64,
    /// Taken back at the end of the traffic of their class.
    pub withdrawn: u64,
    /// Of messages that found no room at their interface.
    pub refused: u64,
    /// Waiting or under way at the end of the run.
    pub unfinished: u64,
    /// Delivered after a later one of the same pair of hosts.
    pub out_of_order: u64,
}

/// An interval of the run.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Interval {
    /// When it begins \[ns\].
    pub start_ns: f64,
    /// When it ends \[ns\].
    pub end_ns: f64,
    /// Throughput in it.
    #[serde(flatten)]
    pub throughput: Throughput,
    /// Most queues set aside at a time: in the network, at the fullest ingress and at the fullest egress port; means
    /// over replications.
    pub set_aside_queues: [f64; 3],
}

/// A ratio over replications; `None` without observations.
pub(super) fn measured(batches: impl Iterator<Item = Batch>) -> Option<Measured> {
    let replications: Vec<Vec<Batch>> = batches.map(|batch| vec![batch]).collect();
    mean_of(&replications).map(|mean| Measured { mean: mean.mean, half_width_95: mean.half_width_95 })
}

/// A mean of one number of each replication.
fn mean(values: impl Iterator<Item = f64>) -> Option<Measured> {
    measured(values.map(|sum| Batch { count: 1, sum }))
}

impl Problem<'_> {
    fn bytes_per_ns(&self, packets: u64, ticks: u64) -> f64 {
        packets as f64 * self.packet / (ticks.max(1) as f64 * self.tick_ns)
    }

    /// Throughput in so many ticks, from the packets of each class in each replication.
    fn throughput<'c>(&self, ticks: u64, counts: impl Iterator<Item = &'c [u64]> + Clone) -> Throughput {
        let of_class = |class: usize| mean(counts.clone().map(|one| self.bytes_per_ns(one[class], ticks)));
        Throughput {
            all_bytes_per_ns: mean(counts.clone().map(|one| self.bytes_per_ns(one.iter().sum(), ticks))),
            classes_bytes_per_ns: (0..self.traffics.len()).map(of_class).collect(),
        }
    }

    fn phase(&self, place: usize, samples: &[Sample]) -> Phase {
        let Stretch { name, start, end } = self.phases[place];
        Phase {
            name: name.to_owned(),
            start_ns: start as f64 * self.tick_ns,
            end_ns: end as f64 * self.tick_ns,
            throughput: self.throughput(end - start, samples.iter().map(|one| one.phases[place].as_slice())),
        }
    }

    fn class(&self, class: usize, samples: &[Sample]) -> ClassPackets {
        let latency = |which: usize| {
            measured(samples.iter().map(|one| {
                let Batch { count, sum } = one.latency[class][which];
                Batch { count, sum: sum * self.tick_ns }
            }))
        };
        ClassPackets {
            name: self.scenario.classes()[class].name.clone(),
            packets: samples.iter().map(|one| one.latency[class][0].count).sum(),
            network_latency_ns: latency(0),
            waiting_ns: latency(1),
            total_latency_ns: latency(2),
        }
    }

    /// Packets of traffic that is there from the start.
    fn steady(&self, counts: &[u64]) -> u64 {
        let steady = counts.iter().enumerate().filter(|(class, _)| !self.is_hot(*class));
        steady.map(|(_, count)| count).sum()
    }

    fn dip(&self, samples: &[Sample]) -> Option<Dip> {
        let (start, end) = self.hot?;
        if (0..self.traffics.len()).all(|class| self.is_hot(class)) {
            return None;
        }
        let place = self.phases.iter().position(|phase| phase.name == "before");
        // whole intervals within the hot time
        let lowest = |one: &Sample| {
            let within = one.bins.iter().filter(|bin| bin.start >= start && bin.start + self.bin <= end);
            within.map(|bin| self.bytes_per_ns(self.steady(&bin.delivered), self.bin)).reduce(f64::min)
        };
        let lowest: Vec<f64> = samples.iter().filter_map(lowest).collect();
        let before = |one: &Sample| {
            let place = place?;
            let ticks = self.phases[place].end - self.phases[place].start;
            Some(self.bytes_per_ns(self.steady(&one.phases[place]), ticks)).filter(|before| *before > 0.0)
        };
        let share = lowest.iter().zip(samples).filter_map(|(lowest, one)| Some(lowest / before(one)?));
        let lowest_bytes_per_ns = mean(lowest.iter().copied())?;
        Some(Dip { lowest_bytes_per_ns, share_of_before: mean(share) })
    }

    fn interval(&self, place: usize, samples: &[Sample]) -> Interval {
        let start = samples[0].bins[place].start;
        let end = (start + self.bin).min(self.end);
        let lines = |which: usize| {
            let all: f64 = samples.iter().map(|one| f64::from(one.bins[place].lines[which])).sum();
            all / samples.len() as f64
        };
        let delivered = samples.iter().map(|one| one.bins[place].delivered.as_slice());
        Interval {
            start_ns: start as f64 * self.tick_ns,
            end_ns: end as f64 * self.tick_ns,
            throughput: self.throughput(end - start, delivered),
            set_aside_queues: [0, 1, 2].map(lines),
        }
    }

    fn set_aside(&self, samples: &[Sample]) -> Option<SetAside> {
        self.fabric_has_set_aside_queues().then_some(())?;
        let peak = |which: usize| {
            let peaks = samples.iter().map(|one| one.counts.peak[which]);
            Some(Peak { measured: mean(peaks.clone().map(f64::from))?, most: peaks.max()? })
        };
        let [network, ingress_port, egress_port] = [peak(0)?, peak(1)?, peak(2)?];
        Some(SetAside {
            network,
            ingress_port,
            egress_port,
            allocated: samples.iter().map(|one| one.counts.allocated).sum(),
            released_unused: samples.iter().map(|one| one.counts.released_unused).sum(),
            refusals: samples.iter().map(|one| one.counts.refusals).sum(),
        })
    }

    fn fabric_has_set_aside_queues(&self) -> bool {
        self.fabric.organisation == Organisation::Recn
    }
}

/// What became of the packets of all samples.
fn fates(samples: &[Sample]) -> Fates {
    let mut all = Fates::default();
    for counts in samples.iter().map(|one| &one.counts) {
        all.generated += counts.generated;
        all.delivered += counts.delivered;
        all.withdrawn += counts.withdrawn;
        all.refused += counts.refused;
        all.out_of_order += counts.out_of_order;
    }
    all.unfinished = all.generated.saturating_sub(all.delivered + all.withdrawn + all.refused);
    all
}

pub(super) fn answer(problem: &Problem<'_>, all: Vec<Sample>, run: PacketRun) -> PacketSimulation {
    let samples = all.as_slice();
    let bins = samples.first().map_or(0, |one| one.bins.len());
    let answer = PacketSimulation {
        scenario: problem.scenario.spec().to_json(),
        run,
        phases: (0..problem.phases.len()).map(|phase| problem.phase(phase, samples)).collect(),
        dip: problem.dip(samples),
        classes: (0..problem.traffics.len()).map(|class| problem.class(class, samples)).collect(),
        set_aside_queues: problem.set_aside(samples),
        packets: fates(samples),
        over_time: (0..bins).map(|place| problem.interval(place, samples)).collect(),
        packet_bytes: problem.packet,
        samples: Vec::new(),
    };
    PacketSimulation { samples: all, ..answer }
}
