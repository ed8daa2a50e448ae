//! Frames of streams: when each is delivered, and the intervals between them.
//!
//! A replication has a placement of its own, which decides how streams meet. So replications are the units of all
//! intervals of confidence, whatever happens inside.

pub(crate) mod deadlines;
mod windows;

use flitwise_language::quantity::Quantity;
use flitwise_language::scenario::Scenario;
use serde::{Deserialize, Serialize};

use crate::answer::Estimate;
use crate::block::Measurements;
use crate::statistics::{Batch, mean_of};
use deadlines::{Rule, rules};
use flitwise_simulator::{Delivery, FrameRun};
pub(crate) use windows::WindowTally;

/// An interval longer than so many of the source is late.
const LATE: f64 = 1.05;
/// Frames are free of jitter up to this mean interval and this deviation, in intervals of the source.
const MOST_MEAN: f64 = 1.01;
const MOST_DEVIATION: f64 = 0.05;

/// When frames are delivered in a replication, by class.
#[derive(Clone, Debug)]
pub(crate) struct FrameMeter(Vec<ClassFrames>);

#[derive(Clone, Debug, Default)]
struct ClassFrames {
    /// `T` \[cycles\].
    interval: f64,
    rules: Vec<Rule>,
    streams: Vec<Stream>,
}

#[derive(Clone, Debug)]
struct Stream {
    /// Its frames, in parts without a pause.
    runs: Vec<FrameRun>,
    /// Frames under way, and how many of their messages are missing.
    open: Vec<(u32, u32)>,
    /// By frame: the last cycle of its delivery, 0 before it.
    delivered: Vec<u64>,
}

impl FrameMeter {
    /// With the frames of the streams of every class.
    pub(crate) fn new(scenario: &Scenario, runs: &[Vec<Vec<FrameRun>>]) -> Self {
        let stream =
            |runs: &Vec<FrameRun>| Stream { runs: runs.clone(), open: Vec::new(), delivered: Vec::new() };
        let class = |(class, runs): (usize, &Vec<Vec<FrameRun>>)| ClassFrames {
            interval: scenario.frames(class).map_or(0.0, |frames| frames.interval),
            rules: rules(&scenario.classes()[class]),
            streams: runs.iter().map(stream).collect(),
        };
        Self(runs.iter().enumerate().map(class).collect())
    }

    /// A message has been delivered, in the order of deliveries.
    #[inline]
    pub(crate) fn add(&mut self, message: &Delivery) {
        if message.part.messages > 0 {
            self.add_part(message);
        }
    }

    fn add_part(&mut self, message: &Delivery) {
        let part = message.part;
        let Stream { open, delivered, .. } =
            &mut self.0[usize::from(message.class)].streams[part.stream as usize];
        let known = open.iter().position(|(frame, _)| *frame == part.frame);
        let at = known.unwrap_or_else(|| {
            open.push((part.frame, part.messages));
            open.len() - 1
        });
        open[at].1 -= 1;
        if open[at].1 == 0 {
            open.swap_remove(at);
            delivered.resize(delivered.len().max(part.frame as usize + 1), 0);
            // behind a host bus the receiver has it from the cycle after
            delivered[part.frame as usize] = message.delivered_cycle + u64::from(message.host.receive);
        }
    }

    /// Of the frames of a class that began before a cycle: when each did, and its latency \[cycles\].
    pub(crate) fn latencies(&self, class: usize, before: f64) -> Vec<(f64, f64)> {
        let Some(ClassFrames { interval, streams, .. }) = self.0.get(class) else { return Vec::new() };
        let of_stream = |stream: &Stream| {
            let known = stream.known().iter().enumerate();
            let frame = known.map(|(frame, cycle)| stream.frame(frame, *cycle, *interval));
            frame.take_while(|(began, _)| *began < before).collect::<Vec<_>>()
        };
        streams.iter().flat_map(of_stream).collect()
    }

    /// By class: the frames delivered from a cycle on, over as many whole intervals before `end` as are known of all
    /// streams.
    pub(crate) fn tallies(&self, from: u64, end: u64) -> Vec<FrameTally> {
        self.0.iter().map(|class| class.tally(from, end)).collect()
    }
}

impl ClassFrames {
    fn tally(&self, from: u64, end: u64) -> FrameTally {
        let mut tally = FrameTally { interval: self.interval, ..FrameTally::default() };
        // the interval after the last frame of a stream is not known
        // connections that were refused have no frames
        let send = self.streams.iter().filter(|stream| !stream.runs.is_empty());
        let known = send.map(|stream| stream.known().last().copied().unwrap_or(0)).min();
        let cycles = known.unwrap_or(0).min(end).saturating_sub(from) as f64;
        let whole = (cycles / self.interval.max(1.0)).floor();
        let window = from as f64..from as f64 + whole * self.interval;
        for stream in &self.streams {
            let known = stream.known();
            let first = known.partition_point(|cycle| (*cycle as f64) < window.start);
            let last = known.partition_point(|cycle| (*cycle as f64) < window.end);
            let apart = |pair: &[u64]| pair[1] as f64 - pair[0] as f64 - self.interval;
            let apart: Vec<f64> =
                known.get(first..=last).map_or(Vec::new(), |frames| frames.windows(2).map(apart).collect());
            tally.add(&apart);
            for (frame, cycle) in known.iter().enumerate().take(last).skip(first) {
                tally.latency += stream.frame(frame, *cycle, self.interval).1;
            }
        }
        tally
    }
}

impl Stream {
    /// When a frame delivered in a cycle began, and its latency \[cycles\].
    fn frame(&self, number: usize, delivered: u64, interval: f64) -> (f64, f64) {
        let began = self.begins(number, interval);
        (began, (delivered + 1) as f64 - began)
    }

    /// When a frame begins \[cycles\].
    fn begins(&self, number: usize, interval: f64) -> f64 {
        let run = self.runs.iter().rfind(|run| run.first as usize <= number);
        run.map_or(0.0, |run| run.begins + (number - run.first as usize) as f64 * interval)
    }

    /// The deliveries of its first frames, up to one that is not delivered; rising but where frames overtake.
    fn known(&self) -> &[u64] {
        let missing = self.delivered.iter().position(|cycle| *cycle == 0);
        &self.delivered[..missing.unwrap_or(self.delivered.len())]
    }
}

/// Intervals of the frames of a class in a replication. Sums are of `x`, an interval less that of the source.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct FrameTally {
    /// `T` \[cycles\].
    interval: f64,
    /// Intervals, and frames that they begin with.
    count: u64,
    sum: f64,
    squares: f64,
    late: u64,
    /// Of successive intervals: pairs, the sum of both, and that of their products.
    pairs: u64,
    pair_sums: f64,
    products: f64,
    /// Over streams: intervals but one, and squares about the mean of the stream.
    free: u64,
    own_squares: f64,
    /// Sum of the latencies of frames \[cycles\].
    latency: f64,
}

impl FrameTally {
    /// Adds the intervals of a stream.
    fn add(&mut self, apart: &[f64]) {
        let sum: f64 = apart.iter().sum();
        let mean = sum / apart.len().max(1) as f64;
        self.count += apart.len() as u64;
        self.sum += sum;
        self.squares += apart.iter().map(|x| x * x).sum::<f64>();
        self.late += apart.iter().filter(|x| **x > (LATE - 1.0) * self.interval).count() as u64;
        for pair in apart.windows(2) {
            self.pairs += 1;
            self.pair_sums += pair[0] + pair[1];
            self.products += pair[0] * pair[1];
        }
        self.free += apart.len().saturating_sub(1) as u64;
        self.own_squares += apart.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>();
    }

    /// Squares about a mean.
    fn squares_about(&self, mean: f64) -> f64 {
        self.squares - 2.0 * mean * self.sum + self.count as f64 * mean * mean
    }

    /// Correlation of successive intervals about a mean.
    fn correlation(&self, mean: f64) -> Option<f64> {
        let variance = self.squares_about(mean) / self.count as f64;
        let products = self.products - mean * self.pair_sums + self.pairs as f64 * mean * mean;
        // what is left of constant intervals is rounding
        (self.pairs > 0 && variance > 1e-9).then(|| products / self.pairs as f64 / variance)
    }
}

/// What is known of a quantity over replications, each of which is one unit.
pub(crate) fn estimate<'t>(
    tallies: impl Iterator<Item = &'t FrameTally>,
    quantity: Quantity,
) -> Option<Estimate> {
    let tallies: Vec<&FrameTally> = tallies.filter(|one| one.count > 0).collect();
    let count: u64 = tallies.iter().map(|one| one.count).sum();
    let mean = tallies.iter().map(|one| one.sum).sum::<f64>() / count as f64;
    let ratio = |of: &dyn Fn(&FrameTally) -> Option<(u64, f64)>| {
        let batch = |one: &&FrameTally| of(one).map(|(count, sum)| vec![Batch { count, sum }]);
        let batches: Vec<Vec<Batch>> = tallies.iter().filter_map(batch).collect();
        mean_of(&batches).map(|found| Estimate {
            mean: found.mean,
            half_width_95: found.student_half_width_95,
            messages: found.count,
        })
    };
    match quantity {
        Quantity::FrameInterval => ratio(&|one| Some((one.count, one.sum + one.count as f64 * one.interval))),
        Quantity::FrameIntervalDeviation => {
            ratio(&|one| Some((one.count, one.squares_about(mean)))).map(root)
        }
        Quantity::FrameIntervalDeviationPerStream => {
            ratio(&|one| (one.free > 0).then_some((one.free, one.own_squares))).map(root)
        }
        Quantity::FrameIntervalAutocorrelation => {
            ratio(&|one| Some((one.pairs, one.pairs as f64 * one.correlation(mean)?)))
        }
        Quantity::FrameLatency => ratio(&|one| Some((one.count, one.latency))),
        Quantity::LateFrames => ratio(&|one| Some((one.count, one.late as f64))),
        _ => None,
    }
}

/// A deviation from a variance, whose half-width is carried over by the derivative of the root.
pub(crate) fn root(variance: Estimate) -> Estimate {
    let mean = variance.mean.max(0.0).sqrt();
    let half_width = |width: f64| if mean > 0.0 { width / (2.0 * mean) } else { 0.0 };
    Estimate { mean, half_width_95: variance.half_width_95.map(half_width), ..variance }
}

/// Whether the frames of a class come evenly; `None` without frames.
pub(crate) fn is_jitter_free(measured: &Measurements<'_>, class: usize) -> Option<bool> {
    let interval = measured.scenario.frames(class)?.interval;
    let mean = |quantity| Some(estimate(measured.frames(class), quantity)?.mean);
    let is_even = mean(Quantity::FrameInterval)? <= MOST_MEAN * interval;
    Some(is_even && mean(Quantity::FrameIntervalDeviation)? <= MOST_DEVIATION * interval)
}
