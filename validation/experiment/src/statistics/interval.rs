//! Mean of correlated observations with its confidence interval.
//!
//! The ratio estimate and its residual variance: Cochran, *Sampling Techniques*, 3rd ed., 1977, ch. 6.
//! Batches in place of observations: Law & Kelton, *Simulation Modeling and Analysis*, ch. 9.
//! Skewed units: Hall, *On the removal of skewness by transformation*, J. R. Statist. Soc. B 54 (1992) 221-228.

use super::beta::{beta_regularised, student_quantile};

/// Observations of one batch: how many, and their sum.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Batch {
    /// Number of observations.
    pub count: u64,
    /// Their sum \[unit of the observations\].
    pub sum: f64,
}

/// A mean with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mean {
    /// Sum of all observations over their number \[unit of the observations\].
    pub mean: f64,
    /// The 95 % interval is `mean` ± this; `None` if all observations lie in one batch.
    pub half_width_95: Option<f64>,
    /// The same without a correction for skewness. It depends less on single units, so that it is what run lengths are
    /// foreseen from.
    pub student_half_width_95: Option<f64>,
    /// Number of observations.
    pub count: u64,
}

/// Mean over all batches with a Student interval; `None` without observations or if a sum is not finite.
///
/// `replications[r]` are the batches of replication `r` in order. With 10 replications that have
/// observations or more, replications are the units of the interval: they are independent, whatever happens
/// inside, and more units would gain little (Student's factor is 2.26 for 10, 1.96 for infinitely many).
/// With fewer, batches are, see `Spread::of`. Units without observations say nothing and are not counted.
///
/// ```
/// # use flitwise_experiment::statistics::{Batch, mean_of};
/// let runs: Vec<_> = [35.0, 36.0, 37.0].map(|sum| vec![Batch { count: 1, sum }]).into();
/// let mean = mean_of(&runs).unwrap();
/// assert_eq!((mean.mean, mean.count), (36.0, 3));
/// assert_eq!(format!("{:.3}", mean.half_width_95.unwrap()), "2.484"); // 4.303 / sqrt(3)
/// ```
pub fn mean_of(replications: &[Vec<Batch>]) -> Option<Mean> {
    let spread = Spread::of(replications)?;
    let finite = |width: &f64| width.is_finite();
    let quantile = student_quantile(spread.dof, 0.975);
    let deviation = spread.variance.map(f64::sqrt);
    let width = |quantile: f64| deviation.map(|deviation| quantile * deviation).filter(finite);
    let student_half_width_95 = quantile.and_then(width);
    let upward = quantile.map(|quantile| upper_quantile(quantile, spread.skewness(), spread.dof + 1.0));
    let half_width_95 = upward.and_then(width).or(student_half_width_95);
    Some(Mean { mean: spread.mean, half_width_95, student_half_width_95, count: spread.count })
}

/// How many deviations the truth may lie above the mean of so many `units`, if it were `quantile` for symmetric ones.
///
/// Means of queues are skewed to the right: most runs lie below the truth, and those that lie lowest look the most
/// certain. With `a = γ / (3 √n)` Hall's transform `g(T) = ((1 + a T)³ - 1) / (3 a) + a / 2` takes that out of
/// Student's `T`, and `-g⁻¹(-quantile)` is the upper end of the interval. The lower one is nearer; half-widths are the
/// upper one, so that an interval can be given by one number. Nothing is corrected towards the left: what looks so is
/// chance. Of [`MOST_CORRECTION`] quantiles more is not believed of so few units.
fn upper_quantile(quantile: f64, skewness: f64, units: f64) -> f64 {
    let a = skewness.max(0.0) / (3.0 * units.sqrt());
    if units < ENOUGH_REPLICATIONS as f64 || a < 1e-9 {
        return quantile;
    }
    let corrected = (1.0 - (1.0 - 3.0 * a * (quantile + a / 2.0)).cbrt()) / a;
    corrected.clamp(quantile, MOST_CORRECTION * quantile)
}

/// Most by which skewness widens an interval.
const MOST_CORRECTION: f64 = 2.0;

/// From how many replications on they alone are the units.
const ENOUGH_REPLICATIONS: usize = 10;

/// Correlation of neighbouring batches above which the batches are hopelessly short.
const CORRELATION_MAX: f64 = 0.9;

/// How sure it must be that replications differ by more than their batches explain.
const DISAGREEMENT_LEVEL: f64 = 0.01;

/// A ratio estimate and how well it is known.
pub(super) struct Spread {
    pub(super) mean: f64,
    /// Of the mean; `None` with one unit.
    pub(super) variance: Option<f64>,
    /// Degrees of freedom of the variance.
    pub(super) dof: f64,
    /// Number of observations.
    pub(super) count: u64,
    /// The batches or replications compared, none of them empty.
    pub(super) units: Vec<Batch>,
}

impl Spread {
    /// Fewer than ten replications are too few to stand alone (2 of them: 12.7 standard deviations), so
    /// their batches are compared, with two precautions. Neighbouring batches are correlated: if their
    /// pooled correlation `r` is positive, they tell as much about the mean as `(1 - r) / (1 + r)` times as
    /// many independent ones, and about the variance as `(1 - r²) / (1 + r²)` times as many: both hold for
    /// long autoregressive sequences (Bayley & Hammersley 1946). And correlation may outlast a whole
    /// replication, which no batch can tell: if the means of replications differ by more than the batches
    /// explain (F test at 1 %), they are the units after all.
    pub(super) fn of(replications: &[Vec<Batch>]) -> Option<Self> {
        let runs: Vec<Batch> =
            replications.iter().map(|run| total(run)).filter(|run| run.count > 0).collect();
        let Batch { count, sum } = total(&runs);
        // m = Σ sum / Σ count
        let mean = sum / count as f64;
        if !mean.is_finite() {
            return None;
        }
        let by_runs = variance(&runs, mean, count as f64);
        let of_runs = |units: Vec<Batch>| Self { mean, variance: by_runs, dof: dof(&units), count, units };
        if runs.len() >= ENOUGH_REPLICATIONS {
            return Some(of_runs(runs));
        }

        let batches: Vec<Batch> =
            replications.iter().flatten().copied().filter(|batch| batch.count > 0).collect();
        let r = correlation(replications, mean).clamp(0.0, CORRELATION_MAX);
        let by_batches = variance(&batches, mean, count as f64).map(|v| v * (1.0 + r) / (1.0 - r));
        let batches_dof = (dof(&batches) * (1.0 - r * r) / (1.0 + r * r)).max(1.0);
        if let (Some(wide), Some(narrow)) = (by_runs, by_batches) {
            let (wide_dof, narrow_dof) = (dof(&runs), batches_dof);
            // P(F > wide / narrow)
            let x = narrow_dof * narrow / (narrow_dof * narrow + wide_dof * wide);
            if wide > narrow && beta_regularised(narrow_dof / 2.0, wide_dof / 2.0, x) < DISAGREEMENT_LEVEL {
                return Some(of_runs(runs));
            }
        }
        Some(Self { mean, variance: by_batches, dof: batches_dof, count, units: batches })
    }
}

impl Spread {
    /// `γ` of the units' residuals; 0 if they are all alike.
    fn skewness(&self) -> f64 {
        let power = |exponent: i32| {
            let powers = self.units.iter().map(|unit| residual(unit, self.mean).powi(exponent));
            powers.sum::<f64>() / self.units.len() as f64
        };
        let skewness = power(3) / power(2).powf(1.5);
        if skewness.is_finite() { skewness } else { 0.0 }
    }
}

fn total(batches: &[Batch]) -> Batch {
    batches.iter().fold(Batch::default(), |all, batch| Batch {
        count: all.count.saturating_add(batch.count),
        sum: if batch.count > 0 { all.sum + batch.sum } else { all.sum },
    })
}

fn dof(units: &[Batch]) -> f64 {
    units.len().saturating_sub(1) as f64
}

/// `e = sum - m count`: what a unit has beyond its part.
fn residual(unit: &Batch, mean: f64) -> f64 {
    unit.sum - mean * unit.count as f64
}

/// Variance of the ratio estimate by independent units; `None` for fewer than two.
///
/// Dividing by `1 - w` is the factor `U / (U - 1)` for `U` units of equal size, and is without bias for
/// unequal ones too if observations are independent: then `E e² = σ² count (1 - w)`.
fn variance(units: &[Batch], mean: f64, count: f64) -> Option<f64> {
    if units.len() < 2 {
        return None;
    }
    // V = Σ e² / (1 - w) / (Σ count)², w = count / Σ count
    let squares: f64 = units
        .iter()
        .map(|unit| (residual(unit, mean) / count).powi(2) / (1.0 - unit.count as f64 / count))
        .sum();
    squares.is_finite().then_some(squares)
}

/// Correlation of the residuals of consecutive batches, pooled over replications; 0 if there are none.
fn correlation(replications: &[Vec<Batch>], mean: f64) -> f64 {
    let (mut products, mut pairs, mut squares, mut units) = (0.0, 0.0, 0.0, 0.0);
    for run in replications {
        let full = |batch: &Batch| batch.count > 0;
        for batch in run.iter().filter(|batch| full(batch)) {
            squares += residual(batch, mean).powi(2);
            units += 1.0;
        }
        for pair in run.windows(2).filter(|pair| pair.iter().all(full)) {
            products += residual(&pair[0], mean) * residual(&pair[1], mean);
            pairs += 1.0;
        }
    }
    let r = products / pairs / (squares / units);
    if r.is_finite() { r } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::super::synthetic::{Draws, LAYOUTS, Layout, assert_coverage, coverage};
    use super::*;

    fn runs<const B: usize>(sums: &[[f64; B]]) -> Vec<Vec<Batch>> {
        sums.iter().map(|run| run.map(|sum| Batch { count: 1, sum }).to_vec()).collect()
    }

    /// By hand: mean 3, variance of the mean 2.5 / 5, t(4) = 2.77645.
    #[test]
    fn equal_batches_give_students_interval() {
        let mean = mean_of(&runs(&[[1.0], [2.0], [3.0], [4.0], [5.0]])).unwrap();
        assert_eq!((mean.mean, mean.count), (3.0, 5));
        assert!((mean.half_width_95.unwrap() - 2.776_445 * 0.5_f64.sqrt()).abs() < 1e-5);
    }

    /// Batches (1, 3), (3, 3): m = 1.5, e = ±1.5, w = 1/4 and 3/4, V = (2.25 / 0.75 + 2.25 / 0.25) / 16.
    #[test]
    fn unequal_batches_weigh_by_their_counts() {
        let mean =
            mean_of(&[vec![Batch { count: 1, sum: 3.0 }], vec![Batch { count: 3, sum: 3.0 }]]).unwrap();
        assert_eq!(mean.mean, 1.5);
        assert!((mean.half_width_95.unwrap() - 12.706_205 * 0.75_f64.sqrt()).abs() < 1e-4);
    }

    #[test]
    fn nothing_known_is_none() {
        assert_eq!(mean_of(&[]), None);
        assert_eq!(mean_of(&[vec![], vec![Batch::default()]]), None);
        assert_eq!(mean_of(&runs(&[[f64::NAN], [1.0]])), None);
        assert_eq!(mean_of(&runs(&[[f64::INFINITY], [1.0]])), None);
        let one = mean_of(&runs(&[[7.0]])).unwrap();
        assert_eq!((one.mean, one.half_width_95), (7.0, None));
        let huge = mean_of(&runs(&[[1e300], [-1e300], [1e300]])).unwrap();
        assert_eq!(huge.half_width_95, None);
    }

    #[test]
    fn equal_observations_leave_no_doubt() {
        let batch = |count| vec![Batch { count, sum: 36.0 * count as f64 }];
        let mean = mean_of(&[batch(10), batch(13), batch(0), batch(1)]).unwrap();
        assert_eq!((mean.mean, mean.half_width_95, mean.count), (36.0, Some(0.0), 24));
    }

    /// One replication with observations among many empty ones must not look certain.
    #[test]
    fn empty_units_do_not_count() {
        let mut all = vec![vec![Batch::default()]; 40];
        all[7] = vec![Batch { count: 5, sum: 9.0 }];
        assert_eq!(mean_of(&all).unwrap().half_width_95, None);
        all[9] = vec![Batch { count: 5, sum: 11.0 }];
        // as two of means 1.8 and 2.2: deviation of the mean 0.2, t(1)
        assert!((mean_of(&all).unwrap().half_width_95.unwrap() - 12.706_205 * 0.2).abs() < 1e-4);
    }

    /// Two replications, each steady in itself: only their difference tells what is not known.
    #[test]
    fn replications_that_disagree_are_the_units() {
        let apart = mean_of(&runs(&[[9.9, 10.0, 10.1, 10.0], [19.9, 20.0, 20.1, 20.0]])).unwrap();
        assert!(apart.half_width_95.unwrap() > 12.7 * 5.0, "{apart:?}");
        // neighbours unlike each other within, so only the F test tells
        let up_and_down = |low: f64| -> [f64; 16] { std::array::from_fn(|b| low + 20.0 * (b % 2) as f64) };
        let apart = mean_of(&runs(&[up_and_down(0.0), up_and_down(20.0)])).unwrap();
        assert!((apart.half_width_95.unwrap() - 12.706_205 * 10.0).abs() < 1e-3, "{apart:?}");
    }

    /// A slow wave inside one replication: neighbours alike, so the interval is wider than without order.
    #[test]
    fn neighbours_alike_widen_the_interval() {
        let rising = mean_of(&runs(&[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]])).unwrap();
        let mixed = mean_of(&runs(&[[1.0, 6.0, 2.0, 5.0, 3.0, 4.0]])).unwrap();
        assert!(rising.half_width_95.unwrap() > 1.4 * mixed.half_width_95.unwrap());
    }

    fn covers(mean: &Mean, truth: f64) -> bool {
        (mean.mean - truth).abs() <= mean.half_width_95.unwrap()
    }

    #[test]
    fn independent_normals_are_covered() {
        for layout in LAYOUTS {
            let share = coverage(1000, 1, |draws| {
                let data = layout.fill(
                    draws,
                    |_| (),
                    |(), draws| Batch { count: 3, sum: (0..3).map(|_| 5.0 + draws.normal()).sum() },
                );
                covers(&mean_of(&data).unwrap(), 5.0)
            });
            assert_coverage(share, 1000, 0.93..=0.97);
        }
    }

    /// `x' = 0.8 x + noise`, 40 to a batch: neighbouring batches have correlation 0.1.
    fn autoregressive(layout: Layout, repetitions: u32) -> f64 {
        coverage(repetitions, 2, |draws| {
            let start = |draws: &mut Draws| draws.normal() / 0.6; // its stationary deviation
            let data = layout.fill(draws, start, |x, draws| {
                let sum = (0..40)
                    .map(|_| {
                        *x = 0.8 * *x + draws.normal();
                        *x
                    })
                    .sum();
                Batch { count: 40, sum }
            });
            covers(&mean_of(&data).unwrap(), 0.0)
        })
    }

    /// Residuals -1 (12 times) and 3 (4 times): `γ = (4 * 27 - 12) / 16 / 3^1.5`, `a = γ / 12`, and the deviation of
    /// the mean is `√(48 / 15 / 16)`.
    #[test]
    fn skewed_units_widen_the_interval() {
        let mut sums: [[f64; 1]; 16] = std::array::from_fn(|at| [if at % 4 == 1 { 5.0 } else { 1.0 }]);
        let mean = mean_of(&runs(&sums)).unwrap();
        let deviation = 0.2_f64.sqrt();
        let student = mean.student_half_width_95.unwrap() / deviation;
        assert!((mean.mean - 2.0).abs() < 1e-12 && (student - 2.131_450).abs() < 1e-5, "{mean:?}");
        let a = 6.0 / 3.0_f64.powf(1.5) / 12.0;
        let transformed = |t: f64| ((1.0 + a * t).powi(3) - 1.0) / (3.0 * a) + a / 2.0;
        let corrected = mean.half_width_95.unwrap() / deviation;
        assert!((transformed(-corrected) + 2.131_450).abs() < 1e-4, "{mean:?}");
        assert!(corrected > 1.3 * student, "{corrected}");
        // one unit far above all others
        let mut one = [[1.0]; 16];
        one[5] = [17.0];
        let one = mean_of(&runs(&one)).unwrap();
        assert_eq!(one.half_width_95.unwrap(), 2.0 * one.student_half_width_95.unwrap());
        // the other way round nothing is corrected, nor with few units
        sums.iter_mut().for_each(|sum| sum[0] = 18.0 - sum[0]);
        let mirrored = mean_of(&runs(&sums)).unwrap();
        assert_eq!(mirrored.half_width_95, mirrored.student_half_width_95);
        let few = mean_of(&runs(&[[1.0], [1.0], [1.0], [9.0]])).unwrap();
        assert_eq!(few.half_width_95, few.student_half_width_95);
    }

    /// Means of sixteen units whose skewness is 2: Student's intervals cover 90 % of the time.
    #[test]
    fn exponential_units_are_covered() {
        let share = coverage(1000, 4, |draws| {
            let batch = |(): &mut (), draws: &mut Draws| Batch { count: 1, sum: draws.exponential() };
            let data = LAYOUTS[0].fill(draws, |_| (), batch);
            covers(&mean_of(&data).unwrap(), 1.0)
        });
        assert_coverage(share, 1000, 0.93..=0.97);
    }

    #[test]
    fn autoregressive_sequences_are_covered() {
        for layout in LAYOUTS {
            assert_coverage(autoregressive(layout, 1000), 1000, 0.93..=0.97);
        }
    }

    /// M/D/1 at load 0.7: mean wait ρ / (2 (1 - ρ)) service times.
    fn waiting(layout: Layout, repetitions: u32) -> f64 {
        coverage(repetitions, 3, |draws| {
            let batch = |waits: &[f64]| Batch { count: waits.len() as u64, sum: waits.iter().sum() };
            let data = layout.waits(draws, batch);
            covers(&mean_of(&data).unwrap(), 0.7 / 0.6)
        })
    }

    #[test]
    fn waiting_times_are_covered() {
        for layout in LAYOUTS {
            assert_coverage(waiting(layout, 200), 200, 0.93..=0.97);
        }
    }

    #[test]
    #[ignore = "10,000 repetitions: half a minute unless optimised"]
    fn coverage_at_length() {
        for layout in LAYOUTS {
            let (correlated, waits) = (autoregressive(layout, 10_000), waiting(layout, 10_000));
            eprintln!("{layout:?}: autoregressive {correlated}, waits {waits}");
            assert_coverage(correlated, 10_000, 0.93..=0.97);
            assert_coverage(waits, 10_000, 0.93..=0.97);
        }
    }
}
