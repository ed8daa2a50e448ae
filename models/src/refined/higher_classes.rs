//! Best effort under real-time classes: completion times under preemptive priority.

use super::grid::{Grid, Law, Transform};
use super::Class;

/// What strictly higher classes do to a message on one link.
pub(super) struct Above {
    /// `ln K(z)`: what is added to each flit.
    pub(super) per_flit: Transform,
    /// Time from a message's arrival until the link is free of higher work, whoever is there.
    pub(super) set_up: Law,
    /// The same while the lower class has not been kept waiting.
    pub(super) fresh: Law,
    /// Load of the higher classes.
    pub(super) load: f64,
}

impl Above {
    /// `contending` is the share of the higher messages found that do not come over the message's own input.
    pub(super) fn new(grid: &Grid, higher: &[Class], contending: f64) -> Self {
        let rate: f64 = higher.iter().map(|class| class.rate).sum();
        let load: f64 = higher.iter().map(Class::load).sum();
        let ones = || vec![num(1.0); grid.points().len()];
        if rate == 0.0 || load >= 1.0 {
            let per_flit = vec![num(0.0); grid.points().len()];
            return Self { per_flit, set_up: Law::zero(), fresh: Law::zero(), load };
        }
        // K(z) = exp(Lambda (B(z) - 1)),  B(z) = sum lambda_j / Lambda (z K(z))^M_j
        let mut per_flit: Transform = vec![num(0.0); grid.points().len()];
        for _ in 0..400 {
            let mut change: f64 = 0.0;
            for (e, z) in per_flit.iter_mut().zip(grid.points()) {
                let y = z * e.exp();
                let next: realfft::num_complex::Complex64 =
                    higher.iter().map(|class| (y.powi(class.message as i32) - 1.0) * class.rate).sum();
                change = change.max((next - *e).norm());
                *e = next;
            }
            if change < 1e-11 {
                break;
            }
        }
        // V(z) = (1 - sigma) / (1 - sum sigma_j res_Mj(y)), y = z K(z); of the residuals, the share that contends
        let (mut set_up, mut fresh) = (ones(), ones());
        let quiet = (-load * contending).exp();
        for (((v, f), e), z) in set_up.iter_mut().zip(&mut fresh).zip(&per_flit).zip(grid.points()) {
            let y = z * e.exp();
            let residual = |class: &Class| {
                let m = class.message as f64;
                (1.0 - y.powi(class.message as i32)) / (1.0 - y) * (1.0 + y) / 2.0 / m * class.load()
            };
            let met: realfft::num_complex::Complex64 = higher.iter().map(residual).sum();
            let met = met * contending;
            *v = (1.0 - load * contending) / (1.0 - met);
            *f = quiet + (1.0 - quiet) * met / (load * contending).max(f64::MIN_POSITIVE);
        }
        Self { per_flit, set_up: grid.law(set_up), fresh: grid.law(fresh), load }
    }
}

fn num(x: f64) -> realfft::num_complex::Complex64 {
    realfft::num_complex::Complex64::new(x, 0.0)
}
