//! Numbers of packet switches in a stretch of time, with intervals over replications.

use flitwise_language::section::Measurement;
use schemars::JsonSchema;
use serde::Serialize;

use super::answer::measured;
use super::{Bin, Problem, Sample};
use crate::statistics::Batch;

/// A number that changes in the course of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TimeSeries {
    /// Bytes delivered per time \[B/ns\].
    Throughput,
    /// Mean latency of the packets delivered, from their generation on \[us\].
    Latency,
    /// Most queues set aside at a time in the whole network.
    SetAsideQueues,
    /// Most queues set aside at a time at an ingress port.
    IngressQueues,
    /// Most queues set aside at a time at an egress port.
    EgressQueues,
}

impl TimeSeries {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Throughput, Self::Latency, Self::SetAsideQueues, Self::IngressQueues, Self::EgressQueues];

    /// Its name in files.
    pub fn word(self) -> &'static str {
        match self {
            Self::Throughput => "throughput",
            Self::Latency => "latency",
            Self::SetAsideQueues => "set-aside-queues",
            Self::IngressQueues => "ingress-queues",
            Self::EgressQueues => "egress-queues",
        }
    }

    /// Its name on an axis.
    pub fn label(self) -> &'static str {
        match self {
            Self::Throughput => "Throughput",
            Self::Latency => "Mean latency of packets",
            Self::SetAsideQueues => "Set-aside queues in all ports",
            Self::IngressQueues => "Set-aside queues at the fullest ingress port",
            Self::EgressQueues => "Set-aside queues at the fullest egress port",
        }
    }

    /// Its unit.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Throughput => "B/ns",
            Self::Latency => "us",
            Self::SetAsideQueues | Self::IngressQueues | Self::EgressQueues => "queues",
        }
    }

    /// Place among [`Bin::lines`].
    fn lines(self) -> Option<usize> {
        match self {
            Self::Throughput | Self::Latency => None,
            Self::SetAsideQueues => Some(0),
            Self::IngressQueues => Some(1),
            Self::EgressQueues => Some(2),
        }
    }
}

/// What each replication delivered over time.
#[derive(Clone, Debug)]
pub struct PacketSeries {
    /// Names of the classes.
    classes: Vec<String>,
    tick_ns: f64,
    /// Length of a packet \[bytes\].
    packet_bytes: f64,
    /// Length of an interval, and end of the run \[ticks\].
    bin: u64,
    end: u64,
    samples: Vec<Sample>,
}

impl PacketSeries {
    pub(super) fn of(problem: &Problem<'_>, samples: Vec<Sample>) -> Self {
        Self {
            classes: problem.scenario.classes().iter().map(|class| class.name.clone()).collect(),
            tick_ns: problem.tick_ns,
            packet_bytes: problem.packet,
            bin: problem.bin,
            end: problem.end,
            samples,
        }
    }

    /// When each interval begins and ends \[ns\].
    pub fn intervals(&self) -> Vec<[f64; 2]> {
        let ends = |bin: &Bin| [bin.start, (bin.start + self.bin).min(self.end)];
        let in_ns = |ticks: u64| ticks as f64 * self.tick_ns;
        self.samples
            .first()
            .map_or_else(Vec::new, |one| one.bins.iter().map(|bin| ends(bin).map(in_ns)).collect())
    }

    /// The mean (of queues the most) in the whole intervals from `from` to `to` \[ns\], of all classes or of one;
    /// none of latency of one class, of which intervals keep nothing.
    pub fn within(&self, course: TimeSeries, class: Option<&str>, window: [f64; 2]) -> Option<Measurement> {
        measured(self.by_replication(course, class, window).into_iter())
    }

    /// How much more `other` has, replication by replication: both had the same random numbers.
    pub fn difference(
        &self,
        other: &Self,
        course: TimeSeries,
        class: Option<&str>,
        window: [f64; 2],
    ) -> Option<Measurement> {
        let [own, others] = [self, other].map(|one| one.by_replication(course, class, window));
        let mean = |batch: &Batch| batch.sum / batch.count as f64;
        let pairs = own.iter().zip(&others).filter(|(one, other)| one.count > 0 && other.count > 0);
        measured(pairs.map(|(one, other)| Batch { count: 1, sum: mean(other) - mean(one) }))
    }

    fn by_replication(&self, course: TimeSeries, class: Option<&str>, window: [f64; 2]) -> Vec<Batch> {
        let class = match class {
            None => None,
            Some(name) => match self.classes.iter().position(|one| one == name) {
                found @ Some(_) => found,
                None => return Vec::new(),
            },
        };
        let [from, to] = window;
        let (slack, intervals) = (self.tick_ns, self.intervals());
        let is_within = |place: &usize| {
            let [start, end] = intervals[*place];
            start >= from - slack && end <= to + slack
        };
        let places: Vec<usize> = (0..intervals.len()).filter(is_within).collect();
        let length = |place: &usize| intervals[*place][1] - intervals[*place][0];
        let ns: f64 = places.iter().map(length).sum();
        let of_one =
            |sample: &Sample| self.in_bins(course, class, ns, places.iter().map(|at| &sample.bins[*at]));
        if places.is_empty() { Vec::new() } else { self.samples.iter().map(of_one).collect() }
    }

    fn in_bins<'b>(
        &self,
        course: TimeSeries,
        class: Option<usize>,
        ns: f64,
        bins: impl Iterator<Item = &'b Bin>,
    ) -> Batch {
        let packets = |bin: &Bin| match class {
            Some(class) => bin.delivered[class],
            None => bin.delivered.iter().sum(),
        };
        match (course, course.lines()) {
            (_, Some(which)) => {
                Batch { count: 1, sum: bins.map(|bin| f64::from(bin.lines[which])).fold(0.0, f64::max) }
            }
            (TimeSeries::Latency, _) if class.is_some() => Batch::default(),
            (TimeSeries::Latency, _) => bins.fold(Batch::default(), |batch, bin| Batch {
                count: batch.count + packets(bin),
                sum: batch.sum + bin.latency as f64 * self.tick_ns / 1e3,
            }),
            _ => Batch { count: 1, sum: bins.map(packets).sum::<u64>() as f64 * self.packet_bytes / ns },
        }
    }
}
