//! Percentiles with confidence intervals.
//!
//! An interval for the share at a value becomes one for the value at a share: R. S. Woodruff, "Confidence
//! intervals for medians and other position measures", *Journal of the American Statistical Association* 47
//! (1952) 635-646.

use super::histogram::Histogram;
use super::interval::Batch;
use super::proportion::{Evidence, design_effect};

/// A percentile with its interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Percentile {
    /// The smallest value that at least the wanted share of all values keeps within.
    pub value: u64,
    /// Lower end of the 95 % interval; 0 if too few values lie below to say more.
    pub lower_95: u64,
    /// Upper end of the 95 % interval; `None` if too few values lie above to give one.
    pub upper_95: Option<u64>,
    /// Number of values.
    pub count: u64,
}

/// Percentile of all values with an interval from the spread between units.
///
/// `replications[r]` are the histograms of the batches of replication `r` in order; units as in
/// [`mean_of`](super::mean_of). `None` without values or unless `0 <= p <= 1`.
///
/// A value belongs to the interval if `p` may be the share within it, by
/// [`proportion_of`](super::proportion_of), asked anew at every value tried; the design effect at the median
/// is the hint. Woodruff takes the variance at the estimate for all values; asked anew, the interval covers
/// the true percentile as often as that of `proportion_of` covers the share there.
///
/// Some values must lie beyond the percentile to bound it: at least `3.7 / (1 - p)` independent ones in all.
///
/// ```
/// # use flitwise_experiment::statistics::{Histogram, percentile_of};
/// let run: Histogram = (1..=1000).collect();
/// let median = percentile_of(&[vec![run]], 0.5).unwrap();
/// assert_eq!((median.value, median.lower_95, median.upper_95), (500, 469, Some(532)));
/// ```
pub fn percentile_of(replications: &[Vec<Histogram>], p: f64) -> Option<Percentile> {
    let mut all = Histogram::default();
    replications.iter().flatten().for_each(|batch| all.merge(batch));
    let value = all.percentile(p)?;
    let hint = design_effect(&shares_within(replications, all.percentile(0.5)?)).unwrap_or(1.0);

    let values: Vec<u64> = all.iter().map(|(value, _)| value).collect();
    let at = |x: &u64| Evidence::of(&shares_within(replications, *x), hint);
    let lower = values.partition_point(|x| at(x).is_some_and(|share| share.is_below(p)));
    let upper = values.partition_point(|x| at(x).is_some_and(|share| !share.is_above(p)));
    // Nothing lies below the smallest value seen; if even so p may be the share there, nothing bounds it.
    let unbounded = !Evidence::of(&shares_none(replications), hint)?.is_below(p);
    Some(Percentile {
        value,
        lower_95: if unbounded { 0 } else { values.get(lower).map_or(value, |lower| value.min(*lower)) },
        upper_95: values.get(upper).map(|upper| value.max(*upper)),
        count: all.count(),
    })
}

/// Per batch: how many values, and how many of at most `value`, as [`proportion_of`](super::proportion_of)
/// and [`design_effect`] want them.
pub fn shares_within(replications: &[Vec<Histogram>], value: u64) -> Vec<Vec<Batch>> {
    let batch = |h: &Histogram| Batch { count: h.count(), sum: h.within(value) as f64 };
    replications.iter().map(|run| run.iter().map(batch).collect()).collect()
}

/// The same for a value below all.
fn shares_none(replications: &[Vec<Histogram>]) -> Vec<Vec<Batch>> {
    let batch = |h: &Histogram| Batch { count: h.count(), sum: 0.0 };
    replications.iter().map(|run| run.iter().map(batch).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::synthetic::{LAYOUTS, Layout, assert_coverage, coverage, wait_exceeded_by};
    use super::*;

    #[test]
    fn without_values_there_is_none() {
        assert_eq!(percentile_of(&[], 0.5), None);
        assert_eq!(percentile_of(&vec![vec![Histogram::default(); 2]; 3], 0.5), None);
        let one: Histogram = [7].into_iter().collect();
        assert_eq!(percentile_of(&[vec![one.clone()]], f64::NAN), None);
        let found = percentile_of(&[vec![one]], 0.5).unwrap();
        assert_eq!(found, Percentile { value: 7, lower_95: 0, upper_95: None, count: 1 });
    }

    /// Binomial tables, n = 100, p = 1/2: the interval for the median is from rank 40 to rank 61.
    #[test]
    fn one_unit_gives_the_order_statistics() {
        let found = percentile_of(&[vec![(1..=100).collect()]], 0.5).unwrap();
        assert!(found.lower_95.abs_diff(40) <= 1 && found.upper_95.unwrap().abs_diff(61) <= 1, "{found:?}");
    }

    /// 0.999^n <= 2.5 % from n = 3687 on.
    #[test]
    fn a_high_percentile_needs_values_beyond_it() {
        let upper = |n: u64| percentile_of(&[vec![(1..=n).collect()]], 0.999).unwrap().upper_95;
        assert_eq!((upper(3680), upper(3695)), (None, Some(3695)));
    }

    #[test]
    fn all_values_equal_leave_no_doubt() {
        let run: Histogram = std::iter::repeat_n(36, 1000).collect();
        let found = percentile_of(&vec![vec![run]; 16], 0.9).unwrap();
        assert_eq!((found.value, found.lower_95, found.upper_95), (36, 36, Some(36)));
    }

    #[test]
    fn no_share_breaks_it() {
        let runs: Vec<Vec<Histogram>> = (0..4).map(|r| vec![(r..40).collect(), (5..9).collect()]).collect();
        for p in [0.0, 1e-300, 1e-9, 0.3, 1.0 - 1e-16, 1.0] {
            let found = percentile_of(&runs, p).unwrap();
            assert!(found.lower_95 <= found.value && found.upper_95.is_none_or(|upper| upper >= found.value));
        }
    }

    const SHARES: [f64; 3] = [0.5, 0.9, 0.99];

    /// Waits of M/D/1 at load 0.7 in 1/20 of a service time; 500 to a batch.
    fn waits_within(layout: Layout, repetitions: u32) -> [f64; 3] {
        let truths = SHARES.map(|p| (20.0 * wait_exceeded_by(1.0 - p, 0.7)).floor() as u64);
        let mut covered = [0; 3];
        coverage(repetitions, 6, |draws| {
            let batch = |waits: &[f64]| waits.iter().map(|wait| (20.0 * wait) as u64).collect::<Histogram>();
            let data = layout.waits(draws, batch);
            for ((p, truth), hits) in SHARES.iter().zip(truths).zip(&mut covered) {
                let found = percentile_of(&data, *p).unwrap();
                if found.lower_95 <= truth && found.upper_95.is_none_or(|upper| truth <= upper) {
                    *hits += 1;
                }
            }
            true
        });
        covered.map(|hits| f64::from(hits) / f64::from(repetitions))
    }

    #[test]
    fn percentiles_of_waits_are_covered() {
        for share in waits_within(LAYOUTS[0], 150) {
            assert_coverage(share, 150, 0.93..=1.0);
        }
    }

    #[test]
    #[ignore = "2,000 repetitions: two minutes unless optimised"]
    fn coverage_at_length() {
        for layout in LAYOUTS {
            let shares = waits_within(layout, 2000);
            eprintln!("{layout:?}: {shares:?}");
            for share in shares {
                assert_coverage(share, 2000, 0.93..=1.0);
            }
        }
    }
}
