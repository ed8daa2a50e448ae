//! Best effort under real-time classes: completion times under preemptive priority.
//!
//! Between two flits of the lower class whole busy periods of the higher ones pass. With `Λ` and `σ` the rate and
//! load of all higher classes, a flit is delayed by `K(z) = exp(Λ (B(z) - 1))`, where a busy period that one message
//! starts is `B(z) = Σ λ_j / Λ (z K(z))^M_j` (Takács).

use realfft::num_complex::Complex64;

use super::Class;
use super::between::Between;
use super::grid::{Grid, Transform};
use super::interface::Interface;
use super::law::Law;
use super::station::Around;

/// What strictly higher classes do to a message on one link.
pub(super) struct Above {
    /// `ln K(z)` per cell of the message.
    per_flit: Transform,
    /// `Σ σ_j res_Mj(z K(z))`: work found that belongs to a message in service.
    met: Transform,
    load: f64,
}

/// `z^m` for any `m`, what falls between two whole powers split over them.
fn power(z: Complex64, m: f64) -> Complex64 {
    let whole = m.floor();
    z.powi(whole as i32) * (1.0 - (m - whole) + z * (m - whole))
}

impl Above {
    /// None if the higher classes take the whole link.
    pub(super) fn new(grid: &Grid, higher: &[Class], unit: f64) -> Option<Self> {
        let load: f64 = higher.iter().map(Class::load).sum();
        if load >= 1.0 {
            return None;
        }
        let (mut per_flit, mut met) = (grid.exponent_of_nothing(), grid.exponent_of_nothing());
        for ((e, met), z) in per_flit.iter_mut().zip(&mut met).zip(grid.points()) {
            let powers: Vec<(Complex64, f64, f64)> = higher
                .iter()
                .map(|class| (power(*z, class.message / unit), class.message / unit, class.rate * unit))
                .collect();
            // K(z) = exp(Λ (B(z) - 1))
            for _ in 0..1000 {
                let next: Complex64 =
                    powers.iter().map(|(zm, m, rate)| (zm * (*e * m).exp() - 1.0) * rate).sum();
                let change = (next - *e).norm();
                *e = next;
                if change < 1e-13 {
                    break;
                }
            }
            let y = z * e.exp();
            let residual = |(zm, m, rate): &(Complex64, f64, f64)| {
                // σ_j res_Mj(y) = λ_j (1 - y^M_j) / (1 - y) (1 + y) / 2
                (1.0 - zm * (*e * m).exp()) / (1.0 - y) * (1.0 + y) / 2.0 * *rate
            };
            *met = powers.iter().map(residual).sum();
        }
        Some(Self { per_flit, met, load })
    }

    /// `V_H(z) = (1 - σ) / (1 - Σ σ_j res_Mj)`: time until the link is free of higher work, of which the share
    /// `contending` is met.
    fn set_up(&self, grid: &Grid, contending: f64) -> Law {
        grid.law(
            self.met.iter().map(|met| (1.0 - self.load * contending) / (1.0 - met * contending)).collect(),
        )
    }

    /// What is found by a message that had been kept from the link for a while.
    fn fresh(&self, grid: &Grid, contending: f64) -> Law {
        let load = self.load * contending;
        if load < 1e-12 {
            return Law::zero();
        }
        let quiet = (-load).exp();
        grid.law(self.met.iter().map(|met| quiet + (1.0 - quiet) * met * contending / load).collect())
    }

    /// What surrounds the lower class at an output where the share `contending` of the higher messages comes over
    /// other inputs, and `met` of those found.
    pub(super) fn around(&self, grid: &Grid, (contending, met): (f64, f64)) -> Around {
        Around {
            contending,
            in_step: self.between().part(contending),
            lagging: self.between(),
            set_up: self.set_up(grid, met),
            alone: None,
            left_behind: Law::zero(),
            fresh: vec![self.fresh(grid, met)],
            seen: self.load,
        }
    }

    fn between(&self) -> Between {
        Between::steadily(0.0, self.per_flit.clone())
    }

    /// What the lower class meets at the interface.
    pub(super) fn interface(&self, grid: &Grid) -> Interface {
        let set_up = self.set_up(grid, 1.0);
        Interface {
            first: self.between(),
            later: self.between(),
            regain: set_up.clone(),
            set_up,
            header_wait: 0.0,
            gap: 0.0,
        }
    }
}
