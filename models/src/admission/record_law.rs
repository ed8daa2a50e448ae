//! Deadlines that follow the latest frame: a frame misses if its delay is a record.
//!
//! A frame is due one period after the latest frame before it, so that it misses exactly if its delay exceeds those of
//! all frames of its stream before. For exchangeable delays of a continuous law frame `k` is a record with probability
//! `1/k`, whatever the law and so whatever the network (A. Rényi, Théorie des éléments saillants d'une suite
//! d'observations, 1962). The time by which frames miss does depend on the network.

use flitwise_language::scenario::Scenario;
use statrs::function::harmonic::harmonic;

/// Share of the frames after the first that miss: `(H_n - 1) / (n - 1)`.
pub use crate::router_nic::stationary_miss_probability as deadline_missing_probability;

/// Frames of a stream of a class that are measured, in whole intervals; none without frames or without an end of the
/// run.
pub fn measured_frames(scenario: &Scenario, class: usize) -> Option<u32> {
    let (run, frames) = (scenario.terminating()?, scenario.frames(class)?);
    let measured = run.cycles.saturating_sub(scenario.warm_up_cycles().unwrap_or(0)) as f64;
    Some((measured / frames.interval).floor().min(f64::from(u32::MAX)) as u32)
}

/// Expected misses among the first `frames` frames of a stream: `H_n - 1`; none without frames.
pub fn expected_misses(frames: u32) -> f64 {
    if frames > 1 { harmonic(u64::from(frames)) - 1.0 } else { 0.0 }
}

/// Mean time by which frames miss, if they do: `(E max_n - E D) / (H_n - 1)`, with the mean of the largest of `n`
/// delays and the mean delay; none with fewer than two frames.
///
/// A record exceeds the largest delay so far, so that the excesses of a stream add up to `max_n - D_1`.
///
/// ```
/// use flitwise_models::admission::record_law::{deadline_missing_time, expected_misses};
///
/// // exponential delays: E max_n = θ H_n, and the mean excess is θ whatever n
/// let largest = 25.0 * (1.0 + expected_misses(40));
/// assert!((deadline_missing_time(40, largest, 25.0).unwrap() - 25.0).abs() < 1e-12);
/// ```
pub fn deadline_missing_time(frames: u32, largest_mean: f64, mean: f64) -> Option<f64> {
    // DMT = (E max_n - E D) / (H_n - 1)
    (frames > 1).then(|| (largest_mean - mean) / expected_misses(frames))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The chapter has 0.0197 for 264 frames, and 0.085 and 0.136 for 39 and 20: digits cut off.
    #[test]
    fn shares_are_those_of_the_chapter() {
        let printed = [
            (100, "0.0423"),
            (150, "0.0308"),
            (200, "0.0245"),
            (264, "0.0196"),
            (39, "0.0856"),
            (23, "0.1243"),
            (20, "0.1367"),
            (3_700, "0.0021"),
        ];
        for (frames, share) in printed {
            assert_eq!(format!("{:.4}", deadline_missing_probability(frames).unwrap()), share, "{frames}");
        }
    }

    #[test]
    fn few_and_very_many_frames_have_numbers() {
        assert_eq!((deadline_missing_probability(0), deadline_missing_probability(1)), (None, None));
        assert_eq!((expected_misses(0), expected_misses(1)), (0.0, 0.0));
        assert!((expected_misses(2) - 0.5).abs() < 1e-12);
        assert_eq!(deadline_missing_time(1, 9.0, 5.0), None);
        // ln n + γ
        let many = expected_misses(u32::MAX) + 1.0;
        assert!((many - f64::from(u32::MAX).ln() - 0.577_215_664_901_5).abs() < 1e-9, "{many}");
    }
}
