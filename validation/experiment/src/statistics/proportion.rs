//! Proportions with confidence intervals, for hits that are rare or come in clusters.
//!
//! \[KG98\] E. L. Korn & B. I. Graubard, "Confidence intervals for proportions with small expected number of
//! positive counts estimated from survey data", *Survey Methodology* 24 (1998) 193-201.

use super::beta::{beta_quantile, beta_regularised, student_quantile};
use super::interval::{Batch, Spread};

/// A proportion with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Proportion {
    /// Hits over observations, in \[0, 1\].
    pub estimate: f64,
    /// Lower end of the 95 % interval; 0 only without hits.
    pub lower_95: f64,
    /// Upper end of the 95 % interval; 1 only if all are hits.
    pub upper_95: f64,
    /// Distance from the estimate to the farther end.
    pub half_width_95: f64,
    /// Number of observations.
    pub count: u64,
}

/// Units with a hit (and units with a miss) below which a measured design effect is not trusted alone.
const TELLING_UNITS: usize = 10;

/// Share of hits (`sum` = number of hits among `count`), interval of \[KG98\]; `None` without observations.
///
/// The interval of Clopper and Pearson, exact for independent observations, with the number of
/// observations divided by the *design effect*: how much larger the variance between units is than that
/// of independent observations, never below 1. Units as in [`mean_of`](super::mean_of).
///
/// `design_effect_hint` is what the caller knows of the clustering, for instance the [`design_effect`] of a
/// related, more frequent event. It alone counts without a hit, with nothing but hits or with one unit, and
/// is a lower bound while fewer than 10 units have a hit or a miss. Anything below 1 or not finite is 1.
///
/// The interval is never empty, and covers more often than 95 % when hits are few.
///
/// ```
/// # use flitwise_experiment::statistics::{Batch, proportion_of};
/// let none = proportion_of(&[vec![Batch { count: 1000, sum: 0.0 }]], 1.0).unwrap();
/// assert_eq!((none.estimate, none.lower_95), (0.0, 0.0));
/// assert_eq!(format!("{:.6}", none.upper_95), "0.003682"); // 1 - 0.025^(1 / 1000)
/// ```
pub fn proportion_of(replications: &[Vec<Batch>], design_effect_hint: f64) -> Option<Proportion> {
    let evidence = Evidence::of(replications, design_effect_hint)?;
    let Evidence { estimate, hits, misses, count } = evidence;
    // P(X >= x | p = lower) = 2.5 % = P(X <= x | p = upper), X binomial of n* and p
    let lower_95 = if hits > 0.0 { beta_quantile(0.025, hits, misses + 1.0) } else { 0.0 };
    let upper_95 = if misses > 0.0 { beta_quantile(0.975, hits + 1.0, misses) } else { 1.0 };
    // rounding must not carry an end past the estimate
    let (lower_95, upper_95) = (lower_95.min(estimate), upper_95.max(estimate));
    let half_width_95 = (upper_95 - estimate).max(estimate - lower_95);
    Some(Proportion { estimate, lower_95, upper_95, half_width_95, count })
}

/// What the observations are worth as independent ones.
pub(super) struct Evidence {
    estimate: f64,
    /// `x = p̂ n*`.
    hits: f64,
    /// `n* - x`.
    misses: f64,
    count: u64,
}

impl Evidence {
    pub(super) fn of(replications: &[Vec<Batch>], design_effect_hint: f64) -> Option<Self> {
        let spread = Spread::of(replications)?;
        let estimate = spread.mean.clamp(0.0, 1.0);
        let n = effective_count(&spread, estimate, design_effect_hint);
        Some(Self { estimate, hits: estimate * n, misses: (1.0 - estimate) * n, count: spread.count })
    }

    /// Whether the interval lies below `p` as a whole, without computing its ends.
    pub(super) fn is_below(&self, p: f64) -> bool {
        beta_regularised(self.hits + 1.0, self.misses, p) > 0.975
    }

    /// Whether the interval lies above `p` as a whole.
    pub(super) fn is_above(&self, p: f64) -> bool {
        beta_regularised(self.hits, self.misses + 1.0, p) < 0.025
    }
}

/// Variance of the share of hits over that of as many independent observations.
///
/// `None` without a hit, with nothing but hits or with one unit. Not held above 1.
pub fn design_effect(replications: &[Vec<Batch>]) -> Option<f64> {
    let spread = Spread::of(replications)?;
    measured_design_effect(&spread, spread.mean)
}

fn measured_design_effect(spread: &Spread, share: f64) -> Option<f64> {
    // deff = V / (p̂ (1 - p̂) / n)
    let deff = spread.variance? / (share * (1.0 - share) / spread.count as f64);
    (share > 0.0 && share < 1.0 && deff.is_finite()).then_some(deff)
}

/// `n*`: the number of independent observations that would tell as much about the share.
fn effective_count(spread: &Spread, share: f64, design_effect_hint: f64) -> f64 {
    let n = spread.count as f64;
    let hint = if design_effect_hint.is_finite() { design_effect_hint.max(1.0) } else { 1.0 };
    let with_hit = spread.units.iter().filter(|unit| unit.sum > 0.0).count();
    let with_miss = spread.units.iter().filter(|unit| unit.sum < unit.count as f64).count();
    let measured = measured_design_effect(spread, share).unwrap_or(1.0).max(1.0);
    let deff = if with_hit.min(with_miss) < TELLING_UNITS { measured.max(hint) } else { measured };

    // n* = n / deff (t_{n-1} / t_{U-1})²: the variance comes from U units, not from n observations
    let few_units =
        match (spread.variance, student_quantile(n - 1.0, 0.975), student_quantile(spread.dof, 0.975)) {
            (Some(_), Some(many), Some(few)) => (many / few).powi(2).min(1.0),
            _ => 1.0, // one unit: nothing was measured, all is hint
        };
    n / deff * few_units
}

#[cfg(test)]
mod tests {
    use super::super::synthetic::{
        LAYOUTS, Layout, assert_coverage, coverage, independent_hits, wait_exceeded_by,
    };
    use super::*;

    fn one(count: u64, hits: u64) -> Proportion {
        proportion_of(&[vec![Batch { count, sum: hits as f64 }]], 1.0).unwrap()
    }

    /// Clopper and Pearson's interval for 4 of 20: 0.0573 to 0.4366; 0 of 10: 0 to 0.3085.
    #[test]
    fn one_unit_without_clusters_is_clopper_and_pearson() {
        let p = one(20, 4);
        assert_eq!(p.estimate, 0.2);
        assert!((p.lower_95 - 0.0573).abs() < 5e-5 && (p.upper_95 - 0.4366).abs() < 5e-5, "{p:?}");
        let p = one(10, 0);
        assert!(p.lower_95 == 0.0 && (p.upper_95 - 0.3085).abs() < 5e-5, "{p:?}");
    }

    #[test]
    fn hits_and_misses_change_places() {
        for hits in 0..=12 {
            let (p, q) = (one(12, hits), one(12, 12 - hits));
            assert!((p.lower_95 + q.upper_95 - 1.0).abs() < 1e-12);
            assert!((p.half_width_95 - q.half_width_95).abs() < 1e-12);
        }
    }

    #[test]
    fn no_input_breaks_it() {
        assert_eq!(proportion_of(&[], 1.0), None);
        assert_eq!(proportion_of(&vec![vec![Batch::default(); 3]; 3], 1.0), None);
        for count in [1, 2, 1_000_000_000_000] {
            for sum in [0.0, 1.0, count as f64 * 0.5, count as f64, -3.0, 2.0 * count as f64] {
                for hint in [f64::NAN, f64::INFINITY, -1.0, 0.0, 1.0, 1e9] {
                    for units in [1, 2, 20] {
                        let p = proportion_of(&vec![vec![Batch { count, sum }]; units], hint).unwrap();
                        assert!(0.0 <= p.lower_95 && p.lower_95 <= p.estimate, "{p:?}");
                        assert!(p.estimate <= p.upper_95 && p.upper_95 <= 1.0, "{p:?}");
                        assert!(p.half_width_95 > 0.0, "{p:?}");
                    }
                }
            }
        }
    }

    /// All 30 hits in one of 20 units: as much is known as from about one hit.
    #[test]
    fn a_lone_cluster_counts_as_one_hit() {
        let mut runs = vec![vec![Batch { count: 1000, sum: 0.0 }]; 20];
        runs[3][0].sum = 30.0;
        assert!((design_effect(&runs).unwrap() - 30.0).abs() < 0.1);
        let p = proportion_of(&runs, 1.0).unwrap();
        assert!(p.lower_95 < 0.05 * p.estimate && p.upper_95 > 5.0 * p.estimate, "{p:?}");
    }

    /// Independent hits down to 10 among 10,000, and none expected at all.
    #[test]
    fn independent_hits_are_covered() {
        for p in [0.3, 0.03, 1e-3, 1e-5] {
            let share = coverage(400, 4, |draws| {
                let found = proportion_of(&independent_hits(LAYOUTS[0], draws, 200, p), 1.0).unwrap();
                (found.lower_95..=found.upper_95).contains(&p)
            });
            assert_coverage(share, 400, 0.93..=1.0);
        }
    }

    const SHARES: [f64; 4] = [0.3, 0.1, 1e-2, 1e-3];

    /// Waits of M/D/1 at load 0.7 beyond a bound: hits in clusters. The hint is the design effect of the
    /// share beyond 1 service time. For each share: how often the interval covers it.
    fn waits_beyond(layout: Layout, repetitions: u32) -> [f64; 4] {
        let bounds = SHARES.map(|p| wait_exceeded_by(p, 0.7));
        let mut covered = [0; 4];
        coverage(repetitions, 5, |draws| {
            let runs = layout.waits(draws, <[f64]>::to_vec);
            let batches = |bound: f64| -> Vec<Vec<Batch>> {
                let beyond = |waits: &Vec<f64>| waits.iter().filter(|wait| **wait > bound).count() as f64;
                let batch = |waits: &Vec<f64>| Batch { count: waits.len() as u64, sum: beyond(waits) };
                runs.iter().map(|run| run.iter().map(batch).collect()).collect()
            };
            let hint = design_effect(&batches(1.0)).unwrap();
            for ((bound, p), hits) in bounds.iter().zip(SHARES).zip(&mut covered) {
                let found = proportion_of(&batches(*bound), hint).unwrap();
                *hits += i32::from((found.lower_95..=found.upper_95).contains(&p));
            }
            true
        });
        covered.map(|hits| f64::from(hits) / f64::from(repetitions))
    }

    #[test]
    fn clustered_hits_are_covered() {
        for layout in LAYOUTS {
            for share in waits_beyond(layout, 100) {
                assert_coverage(share, 100, 0.93..=1.0);
            }
        }
    }

    #[test]
    #[ignore = "10,000 repetitions: two minutes unless optimised"]
    fn coverage_at_length() {
        for layout in LAYOUTS {
            let shares = waits_beyond(layout, 10_000);
            eprintln!("{layout:?}: {shares:?}");
            for share in shares {
                assert_coverage(share, 10_000, 0.93..=1.0);
            }
        }
    }
}
