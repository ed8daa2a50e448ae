//! The simulated answer at one point, with whole distributions.

use flitwise_language::quantity::{Means, Quantity};
use flitwise_language::scenario::Scenario;
use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::{Estimate, Simulation};
use crate::block::{ReplicationRecord, answer_of};
use crate::measurement::Cell;
use crate::statistics::{Batch, Histogram, Mean, mean_of, student_quantile};
use crate::{Block, Settings};

/// What was measured at one point.
#[derive(Clone, Debug)]
pub struct Observation {
    /// Without the split by number of hops.
    pub simulation: Simulation,
    /// By class of the scenario.
    pub classes: Vec<ClassObservation>,
}

/// What was measured of one class beyond its [`crate::answer::ClassSimulation`].
#[derive(Clone, Debug)]
pub struct ClassObservation {
    /// Of all messages; `None` if there were none.
    pub misses: Option<Curve>,
    /// For messages over 1, 2, .. network channels; empty for a single router.
    pub by_hops: Vec<HopsObservation>,
}

/// Messages of a class over one number of network channels.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct HopsObservation {
    /// Network channels crossed.
    pub hops: u32,
    /// The means.
    #[serde(flatten)]
    pub means: Means<Estimate>,
    /// How often which deadline is missed.
    pub misses: Option<Curve>,
}

/// `P(network latency > d)` at every whole deadline `d`, from what a lone message takes to the first one that 99.9 %
/// of the messages keep.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Curve {
    /// The first deadline: what a lone message takes \[cycles\].
    pub first_cycle: u32,
    /// Share of messages that take longer, for `first_cycle`, `first_cycle + 1`, ..
    pub miss_probability: Vec<f64>,
    /// 95 % half-widths of these; 0 where nothing is known of them.
    pub half_width_95: Vec<f64>,
    /// Messages behind it.
    pub messages: u64,
}

/// What `blocks` say of a scenario; of `settings` seed and precision are reported.
///
/// # Panics
/// Without a block.
pub fn observe(scenario: &Scenario, settings: &Settings, blocks: &[Block]) -> Observation {
    let replications: Vec<&ReplicationRecord> = blocks.iter().flat_map(|block| &block.replications).collect();
    let class = |class: usize| {
        let spec = &scenario.classes()[class];
        let lone = |hops: u32| {
            let stages = scenario.router().pipeline_stages;
            stages - 1 + stages * hops + spec.message_flits
        };
        let all: Vec<Cell> = replications
            .iter()
            .map(|one| merged(one.tallies.iter().map(|tally| tally.class(class))))
            .collect();
        let over = |hops: u32| {
            let cell = |one: &&ReplicationRecord| {
                merged(one.tallies.iter().map(|tally| tally.cell(class, hops as usize).clone()))
            };
            hops_observation(hops, lone(hops), &replications.iter().map(cell).collect::<Vec<_>>())
        };
        let most_hops = scenario.topology().most_hops();
        // nodes of one router are no channel apart
        let is_shared = scenario.topology().nodes() > scenario.topology().routers();
        let least_hops = u32::from(most_hops > 0 && !is_shared);
        let (least, by_hops) = (lone(least_hops), (1..=most_hops).map(over).collect());
        ClassObservation { misses: curve(least, &all), by_hops }
    };
    Observation {
        simulation: answer_of(scenario, settings, blocks, false),
        classes: (0..scenario.classes().len()).map(class).collect(),
    }
}

fn merged(cells: impl Iterator<Item = Cell>) -> Cell {
    let mut all = Cell::default();
    cells.for_each(|cell| all.merge(&cell));
    all
}

fn hops_observation(hops: u32, lone: u32, cells: &[Cell]) -> HopsObservation {
    let estimate = |quantity: Quantity| {
        let of_one = |cell: &Cell| Some(vec![cell.batch(quantity)?]);
        let batches: Vec<Vec<Batch>> = cells.iter().map(of_one).collect::<Option<_>>()?;
        let Mean { mean, half_width_95, count, .. } = mean_of(&batches)?;
        Some(Estimate { mean, half_width_95, messages: count })
    };
    HopsObservation { hops, means: Means::each(estimate), misses: curve(lone, cells) }
}

/// The longest curve.
const MOST_CYCLES: usize = 1 << 17;

/// The curve of replications, its half-widths those of a ratio with replications as its units (as in
/// [`mean_of`]).
fn curve(first_cycle: u32, replications: &[Cell]) -> Option<Curve> {
    let all = merged(replications.iter().cloned());
    let messages = all.count();
    let last = all.network_latency.percentile(0.999)?.max(u64::from(first_cycle));
    let length = ((last - u64::from(first_cycle)) as usize + 1).min(MOST_CYCLES);
    let units: Vec<(f64, Vec<f64>)> = replications
        .iter()
        .filter(|cell| cell.count() > 0)
        .map(|cell| (cell.count() as f64, above(&cell.network_latency, first_cycle, length)))
        .collect();
    let total = messages as f64;
    let count = units.len() as f64;
    let student = student_quantile(count - 1.0, 0.975).filter(|_| units.len() > 1);
    let mut miss_probability = Vec::with_capacity(length);
    let mut half_width_95 = Vec::with_capacity(length);
    for at in 0..length {
        let missed: f64 = units.iter().map(|(_, above)| above[at]).sum();
        let mean = missed / total;
        let squares: f64 = units.iter().map(|(count, above)| (above[at] - mean * count).powi(2)).sum();
        // of m = Σ missed / Σ count: s² = R / (R - 1) Σ (missed - m count)² / (Σ count)²
        let deviation = (count / (count - 1.0) * squares).sqrt() / total;
        miss_probability.push(short(mean));
        half_width_95.push(short(student.map_or(0.0, |student| student * deviation)));
    }
    Some(Curve { first_cycle, miss_probability, half_width_95, messages })
}

/// Numbers of values above `first`, `first + 1`, ..
fn above(histogram: &Histogram, first: u32, length: usize) -> Vec<f64> {
    let mut counts = vec![0_u64; length];
    let mut left = histogram.count();
    for (value, count) in histogram.iter() {
        match value.checked_sub(u64::from(first)) {
            None => left -= count,
            Some(at) if at < length as u64 => counts[at as usize] += count,
            Some(_) => {}
        }
    }
    counts
        .into_iter()
        .map(|count| {
            left -= count;
            left as f64
        })
        .collect()
}

/// Seven decimals: what is beyond is chance, and fills files.
fn short(probability: f64) -> f64 {
    (probability * 1e7).round() / 1e7
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(latencies: &[u64]) -> Cell {
        Cell { network_latency: latencies.iter().copied().collect(), ..Cell::default() }
    }

    #[test]
    fn a_curve_counts_what_takes_longer() {
        let found = curve(36, &[cell(&[36, 36, 37, 39]), cell(&[36, 38, 39, 39])]).unwrap();
        assert_eq!((found.first_cycle, found.messages), (36, 8));
        assert_eq!(found.miss_probability, [0.625, 0.5, 0.375, 0.0]);
        // shares 1/4 and 2/4 at 38: deviation of the mean 1/8, Student's 12.706
        assert!((found.half_width_95[2] - 12.706 / 8.0).abs() < 1e-3, "{:?}", found.half_width_95);
        assert_eq!(found.half_width_95[3], 0.0);
    }

    #[test]
    fn what_is_shorter_than_a_lone_message_counts_as_kept() {
        assert_eq!(curve(40, &[cell(&[36, 41])]).unwrap().miss_probability, [0.5, 0.0]);
        assert_eq!(curve(40, &[cell(&[36])]).unwrap().miss_probability, [0.0]);
        assert_eq!(curve(40, &[cell(&[])]), None);
    }
}
