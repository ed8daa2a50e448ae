//! Histogram of whole-number values.

use serde::{Deserialize, Serialize};

/// Counts of whole-number values: exact below 2^17, in buckets of relative width 1/256 from there on.
///
/// A bucket stands for the largest value it may hold, so what is said of large values errs upwards, by less
/// than 0.4 %. Memory follows the largest value below 2^17 and the largest bucket seen.
///
/// ```
/// # use flitwise_experiment::statistics::Histogram;
/// let latencies: Histogram = [36, 36, 37, 90].into_iter().collect();
/// assert_eq!((latencies.more_than(36), latencies.percentile(0.75)), (2, Some(37)));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Runs", into = "Runs")]
pub struct Histogram {
    count: u64,
    exact: Vec<u64>,
    /// 256 buckets to a doubling.
    beyond: Vec<u64>,
}

/// Values below have a bin each.
const BOUND: u64 = 1 << BOUND_BITS;
const BOUND_BITS: u32 = 17;
const BUCKET_BITS: u32 = 8;

impl Histogram {
    /// Counts one more `value`.
    #[inline]
    pub fn add(&mut self, value: u64) {
        self.count += 1;
        match self.exact.get_mut(value as usize) {
            Some(bin) if value < BOUND => *bin += 1,
            _ => self.add_new(value),
        }
    }

    /// Counts `count` more of `value`.
    fn add_many(&mut self, value: u64, count: u64) {
        if count > 0 {
            self.add(value);
            let bin = match value {
                0..BOUND => &mut self.exact[value as usize],
                _ => &mut self.beyond[bucket(value)],
            };
            *bin += count - 1;
            self.count += count - 1;
        }
    }

    #[cold]
    fn add_new(&mut self, value: u64) {
        let (bins, index) =
            if value < BOUND { (&mut self.exact, value as usize) } else { (&mut self.beyond, bucket(value)) };
        if bins.len() <= index {
            bins.resize(index + 1, 0);
        }
        bins[index] += 1;
    }

    /// Counts all that `other` counted.
    pub fn merge(&mut self, other: &Self) {
        self.count += other.count;
        for (mine, theirs) in [(&mut self.exact, &other.exact), (&mut self.beyond, &other.beyond)] {
            if mine.len() < theirs.len() {
                mine.resize(theirs.len(), 0);
            }
            for (bin, more) in mine.iter_mut().zip(theirs) {
                *bin += more;
            }
        }
    }

    /// Number of values.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Number of values above `x`: exact below 2^17, else up to one bucket too many, never too few.
    pub fn more_than(&self, x: u64) -> u64 {
        self.count - self.within(x)
    }

    /// Number of values of at most `x`: exact below 2^17, else up to one bucket too few, never too many.
    pub fn within(&self, x: u64) -> u64 {
        let sum = |bins: &[u64], end: usize| bins[..end.min(bins.len())].iter().sum::<u64>();
        if x < BOUND {
            return sum(&self.exact, x as usize + 1);
        }
        // all buckets that end at x or before
        let own = bucket(x);
        let end = if largest(own) == x { own + 1 } else { own };
        sum(&self.exact, self.exact.len()) + sum(&self.beyond, end)
    }

    /// The smallest value that at least a share `p` keeps within; `None` if empty or unless `0 <= p <= 1`.
    pub fn percentile(&self, p: f64) -> Option<u64> {
        if !(0.0..=1.0).contains(&p) {
            return None;
        }
        // 0.07 * 100 is a little above 7
        let wanted = (p * self.count as f64 * (1.0 - 4.0 * f64::EPSILON)).ceil().max(1.0) as u64;
        let mut seen = 0;
        self.iter()
            .find(|(_, count)| {
                seen += count;
                seen >= wanted.min(self.count)
            })
            .map(|(value, _)| value)
    }

    /// Values that were seen, smallest first, with their counts.
    pub fn iter(&self) -> impl Iterator<Item = (u64, u64)> {
        let exact = (0..).zip(&self.exact);
        let beyond = self.beyond.iter().enumerate().map(|(index, count)| (largest(index), count));
        exact.chain(beyond).filter(|(_, count)| **count > 0).map(|(value, count)| (value, *count))
    }
}

/// A histogram as it is kept: values that were seen as distances from the one before, with their counts.
#[derive(Serialize, Deserialize)]
struct Runs(Vec<(u64, u64)>);

impl From<Histogram> for Runs {
    fn from(histogram: Histogram) -> Self {
        let mut before = 0;
        let distance = |(value, count): (u64, u64)| (value - std::mem::replace(&mut before, value), count);
        Self(histogram.iter().map(distance).collect())
    }
}

impl From<Runs> for Histogram {
    fn from(Runs(runs): Runs) -> Self {
        let mut all = Self::default();
        let mut value: u64 = 0;
        for (distance, count) in runs {
            value = value.saturating_add(distance);
            all.add_many(value, count);
        }
        all
    }
}

impl FromIterator<u64> for Histogram {
    fn from_iter<I: IntoIterator<Item = u64>>(values: I) -> Self {
        let mut all = Self::default();
        values.into_iter().for_each(|value| all.add(value));
        all
    }
}

/// Bucket of a value of 2^17 or more: its doubling, then its 8 bits after the leading one.
fn bucket(value: u64) -> usize {
    let exponent = value.ilog2().max(BOUND_BITS);
    let within = (value >> (exponent - BUCKET_BITS)) & ((1 << BUCKET_BITS) - 1);
    (((exponent - BOUND_BITS) as usize) << BUCKET_BITS) + within as usize
}

/// Largest value of a bucket.
fn largest(bucket: usize) -> u64 {
    let exponent = BOUND_BITS + (bucket >> BUCKET_BITS) as u32;
    let within = bucket as u64 & ((1 << BUCKET_BITS) - 1);
    let width = 1_u64 << (exponent - BUCKET_BITS);
    // the last bucket ends at 2^64 - 1
    (1_u64 << exponent) + within * width + (width - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn small_values_are_exact() {
        let h: Histogram = (0..100).chain([50, 50, 16_383]).collect();
        assert_eq!(h.count(), 103);
        assert_eq!((h.more_than(49), h.more_than(50), h.more_than(99), h.more_than(16_382)), (53, 50, 1, 1));
        assert_eq!((h.more_than(16_383), h.more_than(u64::MAX)), (0, 0));
        assert_eq!(h.iter().find(|(value, _)| *value == 50), Some((50, 3)));
    }

    /// Every rank and the shares in between.
    #[test]
    fn a_percentile_is_the_smallest_value_that_suffices() {
        let h: Histogram = (1..=100).collect();
        for rank in 1..=100_u32 {
            assert_eq!(h.percentile(f64::from(rank) / 100.0), Some(u64::from(rank)));
            assert_eq!(h.percentile((f64::from(rank) - 0.5) / 100.0), Some(u64::from(rank)));
        }
        assert_eq!((h.percentile(0.0), h.percentile(1.0)), (Some(1), Some(100)));
        assert_eq!((h.percentile(-0.1), h.percentile(1.1), h.percentile(f64::NAN)), (None, None, None));
        assert_eq!(Histogram::default().percentile(0.5), None);
    }

    #[test]
    fn a_rare_huge_value_costs_little() {
        let h: Histogram = [40, 1_000_000].into_iter().collect();
        assert!(h.exact.len() <= 41 && h.beyond.len() < 2000);
        assert_eq!(Histogram::default().exact.capacity(), 0);
        let top: Histogram = [u64::MAX].into_iter().collect();
        assert_eq!(top.percentile(1.0), Some(u64::MAX));
        assert_eq!(top.beyond.len(), 47 * 256);
    }

    proptest! {
        #[test]
        fn buckets_are_narrow_and_in_order(value in BOUND..u64::MAX) {
            let top = largest(bucket(value));
            prop_assert!(value <= top && top - value <= value / 256);
            prop_assert!(bucket(top) == bucket(value));
            prop_assert!(bucket(value + 1) == bucket(value) + usize::from(value == top));
        }

        #[test]
        fn merging_is_counting_both(
            a in prop::collection::vec(0_u64..40_000, 0..50),
            b in prop::collection::vec(0_u64..40_000, 0..50),
            x in 0_u64..40_000,
        ) {
            let mut merged: Histogram = a.iter().copied().collect();
            merged.merge(&b.iter().copied().collect());
            let both: Histogram = a.iter().chain(&b).copied().collect();
            prop_assert_eq!(&merged, &both);
            prop_assert_eq!(merged.iter().map(|(_, count)| count).sum::<u64>(), merged.count());

            let above = a.iter().chain(&b).filter(|value| **value > x).count() as u64;
            if x < BOUND {
                prop_assert_eq!(merged.more_than(x), above);
            } else {
                prop_assert!(merged.more_than(x) >= above);
            }
        }
    }

    #[test]
    fn a_histogram_survives_being_kept() {
        let values = [0, 36, 36, 131_071, 131_072, 5_000_000, 5_000_000, 1 << 40, u64::MAX];
        let all: Histogram = values.into_iter().collect();
        let text = serde_json::to_string(&all).unwrap();
        assert!(text.starts_with("[[0,1],[36,2],[131035,1],"), "{text}");
        assert_eq!(serde_json::from_str::<Histogram>(&text).unwrap(), all);
        assert_eq!(serde_json::from_str::<Histogram>("[]").unwrap(), Histogram::default());
    }
}
