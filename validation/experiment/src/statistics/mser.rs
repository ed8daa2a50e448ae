//! End of the warm-up of a run by MSER-5.
//!
//! K. P. White Jr., "An effective truncation heuristic for bias reduction in simulation output",
//! *Simulation* 69 (1997) 323-334; K. P. White Jr., M. J. Cobb & S. C. Spratt, "A comparison of five
//! steady-state truncation heuristics for simulation", *Proc. Winter Simulation Conference* (2000) 755-760.

/// What to drop of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Truncation {
    /// Observations to drop at the start, a multiple of 5.
    pub dropped: usize,
    /// `false`: the best place is the last one allowed, half-way, so the series is too short to tell.
    pub settled: bool,
}

/// Observations to a mean.
const GROUP: usize = 5;

/// Truncation of least marginal standard error; `None` for fewer than 5 observations or if one is not finite.
///
/// The standard error as if observations were independent: dropping the start lowers the spread, dropping
/// more only the number. Means of 5 so that a single odd value decides nothing; at most half is dropped,
/// as the last few means agree by chance. Among equal places the first counts.
///
/// ```
/// # use flitwise_experiment::statistics::mser5;
/// let series: Vec<f64> = (0..400).map(|i| if i < 40 { 9.0 } else { f64::from(i % 2) }).collect();
/// let truncation = mser5(&series).unwrap();
/// assert!(truncation.settled && truncation.dropped == 40);
/// ```
pub fn mser5(series: &[f64]) -> Option<Truncation> {
    if series.iter().any(|x| !x.is_finite()) {
        return None;
    }
    let means: Vec<f64> =
        series.chunks_exact(GROUP).map(|group| group.iter().map(|x| x / GROUP as f64).sum()).collect();
    let last = means.len() / 2;

    let mut best = (f64::INFINITY, None);
    let (mut mean, mut squares, mut kept) = (0.0, 0.0, 0.0);
    // Welford's update, from the back: after each step Ȳ and Σ (Y - Ȳ)² of all means from `d` on.
    for (d, y) in means.iter().enumerate().rev() {
        kept += 1.0;
        let before = y - mean;
        mean += before / kept;
        squares += before * (y - mean);
        // z(d) = Σ_{j > d} (Y_j - Ȳ)² / (n - d)²
        let z = squares / (kept * kept);
        if d <= last && z <= best.0 {
            best = (z, Some(d));
        }
    }
    best.1.map(|d| Truncation { dropped: GROUP * d, settled: d < last })
}

#[cfg(test)]
mod tests {
    use super::super::synthetic::Draws;
    use super::*;

    /// As the definition has it, O(n²).
    fn by_definition(series: &[f64]) -> usize {
        let y: Vec<f64> = series.chunks_exact(5).map(|group| group.iter().sum::<f64>() / 5.0).collect();
        let z = |d: usize| {
            let n = (y.len() - d) as f64;
            let mean = y[d..].iter().sum::<f64>() / n;
            y[d..].iter().map(|y| (y - mean).powi(2)).sum::<f64>() / (n * n)
        };
        5 * (0..=y.len() / 2).min_by(|&a, &b| z(a).total_cmp(&z(b))).unwrap()
    }

    #[test]
    fn it_is_the_minimum_of_the_definition() {
        let mut draws = Draws::from(11);
        for length in [10, 11, 57, 400] {
            for _ in 0..50 {
                let series: Vec<f64> =
                    (0..length).map(|i| 1e6 + 4.0 * (-f64::from(i) / 30.0).exp() + draws.normal()).collect();
                assert_eq!(mser5(&series).unwrap().dropped, by_definition(&series));
            }
        }
    }

    /// A transient of 300 observations that fades: most of it goes, and little more.
    #[test]
    fn a_transient_is_dropped() {
        let mut draws = Draws::from(12);
        let series: Vec<f64> =
            (0..5000).map(|i| 50.0 * (-f64::from(i) / 100.0).exp() + draws.normal()).collect();
        let found = mser5(&series).unwrap();
        assert!(found.settled && (300..1500).contains(&found.dropped), "{found:?}");
    }

    #[test]
    fn a_series_that_still_climbs_is_not_settled() {
        let climbing: Vec<f64> = (0..1000).map(f64::from).collect();
        assert_eq!(mser5(&climbing), Some(Truncation { dropped: 500, settled: false }));
    }

    #[test]
    fn ends_of_the_range() {
        assert_eq!(mser5(&[]), None);
        assert_eq!(mser5(&[1.0; 4]), None);
        assert_eq!(mser5(&[f64::NAN; 50]), None);
        assert_eq!(mser5(&[f64::MAX; 50]).map(|t| t.dropped), Some(0));
        assert_eq!(mser5(&[7.0; 50]), Some(Truncation { dropped: 0, settled: true }));
        assert_eq!(mser5(&[7.0; 5]), Some(Truncation { dropped: 0, settled: false }));
    }
}
