//! Growth of the backlog of a class: steady or without bound.

use std::ops::RangeInclusive;

use flitwise_language::scenario::Scenario;

use crate::statistics::growth;

use super::block::Saturation;
use super::{Experiment, nodes};

/// What the samples say of a class.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Verdict {
    Steady,
    /// It grows, but so slowly that a stable queue might do so for as long as this.
    Suspicious,
    Grows(Saturation),
}

/// Growth below this share of the generation rate is not told from none.
const LEAST_KEPT: f64 = 0.005;

/// Looks at the samples from cycle `from` on, first and second half apart.
///
/// A stable queue that starts empty fills for a while. The slowest, critically loaded one holds about
/// `sqrt(2 λ t / π)` messages after `λ t` arrivals, so that its second half keeps some `0.5 / sqrt(λ t)` of
/// what is generated, more if arrivals are bursty. Growth is called unbounded when both halves keep more than
/// twice that (times the root of the burstiness), at least 0.5 %, and the second half keeps half as much beyond
/// chance (99.9 %). It is suspicious, so that the run goes on, when it is beyond chance (97.5 %) over both halves.
pub(super) fn judge(experiment: &Experiment<'_>, class: usize, from: u64) -> Verdict {
    judge_within(experiment, experiment.scenario, class, from..=u64::MAX)
}

/// The same of samples from a part of a run in which the traffic is that of `scenario`.
pub(super) fn judge_within(
    experiment: &Experiment<'_>,
    scenario: &Scenario,
    class: usize,
    window: RangeInclusive<u64>,
) -> Verdict {
    let (rate, mean_rate) = (scenario.classes()[class].rate, scenario.mean_rate(class));
    if mean_rate == 0.0 {
        return Verdict::Steady;
    }
    let Some((first, second)) = halves(experiment, class, &window) else { return Verdict::Steady };
    let whole: Vec<f64> =
        first.slopes.iter().zip(&second.slopes).map(|(a, b)| f64::midpoint(*a, *b)).collect();
    let generated = rate * second.cycles * 2.0;
    let (Some(first), Some(second)) = (growth(&first.slopes), growth(&second.slopes)) else {
        return Verdict::Steady;
    };
    let nodes = f64::from(nodes(experiment.scenario));
    let kept = |slope: f64| slope / (mean_rate * nodes);
    let threshold = LEAST_KEPT.max(scenario.classes()[class].source.dispersion().sqrt() / generated.sqrt());
    if kept(second.lower_999) > threshold / 2.0
        && kept(second.mean) > threshold
        && kept(first.mean) > threshold
    {
        return Verdict::Grows(Saturation::Backlog { kept: kept(second.mean).min(1.0) });
    }
    if growth(&whole).is_some_and(|whole| whole.lower_975 > 0.0 && kept(whole.mean) > LEAST_KEPT / 2.0) {
        return Verdict::Suspicious;
    }
    Verdict::Steady
}

/// Slopes of the backlog in one half of a run \[messages/cycle\].
struct Half {
    slopes: Vec<f64>,
    cycles: f64,
}

/// Replications below which slopes of segments stand in for slopes of replications.
const FEW: usize = 4;

fn halves(experiment: &Experiment<'_>, class: usize, window: &RangeInclusive<u64>) -> Option<(Half, Half)> {
    let cycles: Vec<u64> =
        experiment.replications.first()?.samples.iter().map(|sample| sample.cycle).collect();
    let start = cycles.iter().position(|cycle| cycle >= window.start())?;
    let end = cycles.iter().rposition(|cycle| cycle <= window.end())?;
    let middle_cycle = cycles[start] + cycles[end].checked_sub(cycles[start])? / 2;
    let middle = cycles.iter().position(|cycle| *cycle >= middle_cycle)?;
    let half = |first: usize, last: usize| {
        let ends: Vec<(usize, usize)> = if experiment.replications.len() < FEW {
            (first..last).map(|at| (at, at + 1)).collect()
        } else {
            vec![(first, last)]
        };
        let mut slopes = Vec::new();
        for one in &experiment.replications {
            for &(a, b) in &ends {
                let (a, b) = (&one.samples[a], &one.samples[b]);
                let grown = b.backlog[class] as f64 - a.backlog[class] as f64;
                if b.cycle > a.cycle {
                    slopes.push(grown / (b.cycle - a.cycle) as f64);
                }
            }
        }
        Half { slopes, cycles: (cycles[last] - cycles[first]) as f64 }
    };
    (start < middle && middle < end).then(|| (half(start, middle), half(middle, end)))
}
