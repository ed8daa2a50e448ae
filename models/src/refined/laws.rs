//! The distributions of the latency, which hang on the means.
//!
//! Means come from the lattice for means, whatever else is asked for, so that every command says the same of a
//! scenario. Distributions need cells of a cycle, since they jump where a whole message has gone ahead: the iteration
//! goes on from the means on that lattice ([`super::Resolution::fine`]), which moves its own mean a little, by up to 1
//! % of the latency in most scenarios. The law handed out is the one nearest to it (in the sense of Kullback and
//! Leibler) that has the reported mean: its weights times `exp(-s x)`, with one `s` for all numbers of hops. It keeps
//! the places of the jumps; both means agree to 1e-9 of the latency.

use super::grid::within;
use super::law::Law;
use super::solution::{Delays, Solution, Warm};
use super::station::Overload;
use super::{Problem, Resolution, solve_at};
use flitwise_language::scenario::Scenario;

/// Distributions of one class.
pub(super) struct Laws {
    /// By hops, of the reported mean.
    pub(super) delays: Vec<Delays>,
    /// Cycles per cell.
    pub(super) unit: f64,
}

/// The most by which weights are tilted from one end of a law to the other, in the logarithm.
const MOST_TILT: f64 = 40.0;
/// How near to the mean, in cells.
const PRECISION: f64 = 1e-12;

/// Why a class with means has no laws.
const NEAR: &str = "so near to saturation the model has means but no distribution";
const TOO_LONG: &str = "the distribution would take more than some two seconds";

/// The laws of all classes that have means, for which less than so many cells are transformed; none of a class whose
/// fine lattice is overloaded next to saturation, as is its lattice for means.
pub(super) fn of(
    scenario: &Scenario,
    problem: &Problem,
    means: &[Result<Solution, Overload>],
    work: u64,
) -> Vec<Result<Laws, &'static str>> {
    let (laws, gave_up) = within(work, || all(scenario, problem, means));
    laws.into_iter().map(|laws| laws.ok_or(if gave_up { TOO_LONG } else { NEAR })).collect()
}

fn all(scenario: &Scenario, problem: &Problem, means: &[Result<Solution, Overload>]) -> Vec<Option<Laws>> {
    let start: Vec<Option<Warm>> =
        means.iter().map(|found| found.as_ref().ok().map(|found| found.warm.clone())).collect();
    let steady: Vec<usize> = (0..means.len()).filter(|index| means[*index].is_ok()).collect();
    let fine = solve_at(scenario, problem, &Resolution::fine(problem), &steady, &start);
    let mut laws: Vec<Option<Laws>> = means.iter().map(|_| None).collect();
    for (index, fine) in steady.into_iter().zip(fine) {
        let Ok(mean) = &means[index] else { continue };
        let found = fine.ok().or_else(|| {
            let coarse = Resolution { laws: true, ..Resolution::means(problem) };
            solve_at(scenario, problem, &coarse, &[index], &start).swap_remove(0).ok()
        });
        laws[index] = found.map(|found| Laws {
            delays: with_mean(found.delays, found.unit, mean.latency()),
            unit: found.unit,
        });
    }
    laws
}

/// The same laws, of a mean latency \[cycles\].
fn with_mean(delays: Vec<Delays>, unit: f64, latency: f64) -> Vec<Delays> {
    let lone: f64 = delays.iter().map(|delays| delays.share * (delays.lone + delays.mean_on_links())).sum();
    let wanted = ((latency - lone) / unit).max(0.0);
    let longest = delays.iter().map(|delays| delays.law.probabilities().len()).max().unwrap_or(1);
    let tilt = tilt_to(&delays, wanted, MOST_TILT / longest as f64);
    let delays: Vec<Delays> =
        delays.into_iter().map(|delays| Delays { law: tilted(&delays.law, tilt), ..delays }).collect();
    // what no tilt reaches: a law of nothing but zero, or of one delay
    let mean = mean(&delays);
    if (mean - wanted).abs() <= 1e-9 * (wanted + lone / unit) {
        return delays;
    }
    let moved = |law: &Law| {
        if mean > 0.0 { law.stretched(wanted / mean) } else { Law::constant(wanted) }
    };
    delays.into_iter().map(|delays| Delays { law: moved(&delays.law), ..delays }).collect()
}

fn mean(delays: &[Delays]) -> f64 {
    delays.iter().map(|delays| delays.share * delays.law.mean()).sum()
}

/// Mean and variance of a law with weights `exp(-tilt x)`.
fn moments(law: &Law, tilt: f64) -> (f64, f64) {
    let weights = tilted(law, tilt);
    let mean = weights.mean();
    (mean, weights.second_moment() - mean * mean)
}

fn tilted(law: &Law, tilt: f64) -> Law {
    if tilt == 0.0 { law.clone() } else { law.tilted_law(tilt) }
}

/// The tilt, no greater than `most` to either side, with which the mean is nearest to the wanted one: the mean falls
/// with the tilt, so that Newton's method within a bracket finds it.
fn tilt_to(delays: &[Delays], wanted: f64, most: f64) -> f64 {
    let (mut low, mut high) = (-most, most);
    let mut tilt = 0.0;
    for _ in 0..60 {
        let (mut mean, mut slope) = (0.0, 0.0);
        for Delays { share, law, .. } in delays {
            let (of_law, variance) = moments(law, tilt);
            mean += share * of_law;
            slope += share * variance;
        }
        let off = mean - wanted;
        if off.abs() <= PRECISION * (1.0 + wanted) || high - low <= 1e-15 * most {
            break;
        }
        if off > 0.0 {
            low = tilt
        } else {
            high = tilt
        };
        let newton = tilt + off / slope;
        tilt = if newton > low && newton < high { newton } else { f64::midpoint(low, high) };
    }
    tilt
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delays(parts: &[(f64, &[f64])]) -> Vec<Delays> {
        let one = |(share, weights): &(f64, &[f64])| Delays {
            hops: None,
            share: *share,
            lone: 36.0,
            on_links: vec![(1.0, 0)],
            law: Law::of(weights.to_vec()),
        };
        parts.iter().map(one).collect()
    }

    #[test]
    fn a_law_takes_the_mean_that_is_wanted_and_keeps_its_jumps() {
        let laws = || delays(&[(0.25, &[0.7, 0.0, 0.0, 0.2, 0.1]), (0.75, &[0.9, 0.0, 0.1])]);
        for wanted in [0.01, 0.2, 0.4, 0.9, 1.8] {
            let found = with_mean(laws(), 2.0, 36.0 + 2.0 * wanted);
            assert!((mean(&found) - wanted).abs() < 1e-9, "{wanted}: {}", mean(&found));
            // nothing where there was nothing, and the order of what there was is kept
            assert!(found[0].law.at(1) == 0.0 && found[0].law.at(2) == 0.0 && found[1].law.at(1) == 0.0);
            let ratio = |delays: &Delays| (delays.law.at(0) / delays.law.at(2)).ln();
            let tilt = (ratio(&found[1]) - 9f64.ln()) / 2.0;
            let of_first = ((found[0].law.at(3) / found[0].law.at(4)).ln() - 2f64.ln()) / 1.0;
            assert!((tilt - of_first).abs() < 1e-9, "one tilt for all numbers of hops");
        }
    }

    #[test]
    fn means_that_no_tilt_reaches_are_reached_all_the_same() {
        for (weights, wanted) in
            [(&[1.0][..], 0.5), (&[0.0, 1.0], 3.0), (&[0.5, 0.5], 4.0), (&[0.2, 0.8], 0.0)]
        {
            let found = with_mean(delays(&[(1.0, weights)]), 1.0, 36.0 + wanted);
            assert!((mean(&found) - wanted).abs() < 1e-7, "{wanted}: {}", mean(&found));
        }
    }
}
