//! Numbers of packet switches in a stretch of time, with intervals over replications.

use schemars::JsonSchema;
use serde::Serialize;

use super::answer::measured;
use super::{Bin, Measured, PacketSimulation, Sample};
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

impl PacketSimulation {
    /// The mean (of queues the most) in the whole intervals from `from` to `to` \[ns\], of all classes or of one;
    /// none of latency of one class, of which intervals keep nothing.
    pub fn within(&self, course: TimeSeries, class: Option<&str>, window: [f64; 2]) -> Option<Measured> {
        measured(self.by_replication(course, class, window).into_iter())
    }

    /// How much more `other` has, replication by replication: both had the same random numbers.
    pub fn difference(
        &self,
        other: &Self,
        course: TimeSeries,
        class: Option<&str>,
        window: [f64; 2],
    ) -> Option<Measured> {
        let [own, others] = [self, other].map(|one| one.by_replication(course, class, window));
        let mean = |batch: &Batch| batch.sum / batch.count as f64;
        let pairs = own.iter().zip(&others).filter(|(one, other)| one.count > 0 && other.count > 0);
        measured(pairs.map(|(one, other)| Batch { count: 1, sum: mean(other) - mean(one) }))
    }

    fn by_replication(&self, course: TimeSeries, class: Option<&str>, window: [f64; 2]) -> Vec<Batch> {
        let class = match class {
            None => None,
            Some(name) => match self.classes.iter().position(|one| one.name == name) {
                found @ Some(_) => found,
                None => return Vec::new(),
            },
        };
        let [from, to] = window;
        let slack = self.run.tick_ns;
        let is_within = |place: &usize| {
            let interval = &self.over_time[*place];
            interval.start_ns >= from - slack && interval.end_ns <= to + slack
        };
        let places: Vec<usize> = (0..self.over_time.len()).filter(is_within).collect();
        let length = |place: &usize| self.over_time[*place].end_ns - self.over_time[*place].start_ns;
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
                sum: batch.sum + bin.latency as f64 * self.run.tick_ns / 1e3,
            }),
            _ => Batch { count: 1, sum: bins.map(packets).sum::<u64>() as f64 * self.packet_bytes / ns },
        }
    }
}
