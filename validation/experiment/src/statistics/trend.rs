//! Test for growth without bound.

use super::beta::student_quantile;

/// Mean slope and how small it may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Growth {
    /// Mean of the slopes \[unit of the slopes\].
    pub mean: f64,
    /// The true slope is above this with 99.9 % confidence \[unit of the slopes\].
    pub lower_999: f64,
    /// The same with 97.5 % confidence \[unit of the slopes\].
    pub lower_975: f64,
    /// Number of slopes.
    pub count: usize,
}

impl Growth {
    /// Whether it surely grows: a backlog that does not is taken for one that does once in 1,000 times.
    pub fn is_certain(&self) -> bool {
        self.lower_999 > 0.0
    }
}

/// One-sided Student bound from independent slopes; `None` for fewer than two or if one is not finite.
///
/// One slope per replication; of a single replication, the slopes of segments long enough to be nearly
/// independent. Two slopes bound little (Student's factor is 318), five do (7.2).
///
/// ```
/// # use flitwise_experiment::statistics::growth;
/// assert!(growth(&[0.9, 1.0, 1.1, 1.0, 1.0]).unwrap().is_certain());
/// assert!(!growth(&[-0.9, 1.0, -1.1, 1.0, 0.3]).unwrap().is_certain());
/// ```
pub fn growth(slopes: &[f64]) -> Option<Growth> {
    let count = slopes.len();
    let n = count as f64;
    let mean = slopes.iter().map(|slope| slope / n).sum::<f64>();
    // s² = Σ (x - x̄)² / (n - 1)
    let variance = slopes.iter().map(|slope| (slope - mean).powi(2)).sum::<f64>() / (n - 1.0);
    // x̄ - t s / sqrt(n)
    let lower = |confidence| Some(mean - student_quantile(n - 1.0, confidence)? * (variance / n).sqrt());
    let (lower_999, lower_975) = (lower(0.999)?, lower(0.975)?);
    lower_999.is_finite().then_some(Growth { mean, lower_999, lower_975, count })
}

#[cfg(test)]
mod tests {
    use super::super::synthetic::coverage;
    use super::*;

    /// Mean 3, deviation sqrt(2.5), t(4) = 7.17318 at 99.9 %.
    #[test]
    fn the_bound_is_students() {
        let found = growth(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        assert_eq!((found.mean, found.count), (3.0, 5));
        assert!((found.lower_999 - (3.0 - 7.173_18 * 0.5_f64.sqrt())).abs() < 1e-4);
    }

    #[test]
    fn too_little_is_none() {
        for slopes in [&[][..], &[1.0], &[1.0, f64::NAN], &[1.0, f64::INFINITY], &[f64::MAX, -f64::MAX]] {
            assert_eq!(growth(slopes), None);
        }
        assert!(!growth(&[0.0; 4]).unwrap().is_certain());
    }

    /// False alarms in 10,000: 10 expected, and more than 21 in fewer than 1 of 1,000 seeds (Poisson).
    #[test]
    fn a_steady_backlog_is_rarely_taken_for_a_growing_one() {
        let alarms = coverage(10_000, 7, |draws| {
            let mut slopes = [0.0; 8];
            slopes.fill_with(|| draws.normal());
            growth(&slopes).unwrap().is_certain()
        });
        assert!(alarms * 10_000.0 <= 21.0, "{alarms}");
    }
}
