//! How long busy periods of one class have lasted.

use crate::refined::ablation::{Step, without};

/// Mean number of messages of the same busy period before one that is not the first: M/D/1 at utilization `ρ`,
/// `(2 - ρ) / 2 / (1 - ρ)^2`.
pub(super) fn mean_before(rho: f64) -> f64 {
    (2.0 - rho) / 2.0 / (1.0 - rho).powi(2)
}

/// Weight, part of the message already sent, and messages of the same busy period before it, of a class found.
///
/// The age of an M/D/1 busy period at a random moment has the mean `M / 2 / (1 - sigma)^2`; what exceeds that of
/// one message is spread geometrically over whole messages.
pub(in crate::refined) fn ages(sigma: f64) -> Vec<(f64, f64, f64)> {
    let before = ((1.0 - sigma).powi(-2) - 1.0) / 2.0;
    let r = if without(Step::BusyPeriods) { 0.0 } else { before / (1.0 + before) };
    let mut points: Vec<_> = (0..4).map(|i| ((1.0 - r) / 4.0, (f64::from(i) + 0.5) / 4.0, 0.0)).collect();
    if r > 0.02 {
        points.extend((0..2).map(|i| (r * (1.0 - r) / 2.0, (f64::from(i) + 0.5) / 2.0, 1.0)));
        points.push((r * r, 0.5, 2.0 + r / (1.0 - r)));
    }
    points
}
