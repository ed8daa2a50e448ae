//! The queue of a real-time class on a link that other real-time classes share while they are there.
//!
//! While the class keeps the link busy the others come and go: `Λ` messages a cycle come where none is there, and as
//! long as any is, `k` of their flits go for each of the class. Over `m` flits of the class that is a chain of two
//! states,
//!
//! ```text
//! F(m) = exp(m E(z)),   E(z) = | -a         a           |   a = Λ,  b = (1 + k) Λ (1 - p) / p
//!                              |  b  -b + k (z - 1)     |
//! ```
//!
//! where `p`, the share of the time in which others are there, gives them all that they bring: `p k / (1 + k) = σ`.
//! What they leave behind delays the next message of the class, too: its services `B(z) = z^M F(M) ..` are no longer
//! independent, and long queues of both come together. With `s` for `z`, `u_j` the weight of messages that leave
//! nothing of the class behind, the others there (`j = 1`) or not, and `P_0 f(z)` the first services, the work
//! found by all other messages is
//!
//! ```text
//! φ(z) [(λ - s) I - λ B(z)] = λ (P_0 f(z) - u)
//! ```
//!
//! (Lindley's recursion with exponential times between messages; `u` from where the determinant is zero, `0 < s < λ`.)
//! A message that finds none of its class is served `F`, after the set-up `v`, as chains of pairs tell (module
//! `link_sharing`), and leaves others behind with the probability `l_b` that these give: `f = F (1 - l_b, l_b)`. So
//!
//! ```text
//! V = φ 1 + P_0 v,   until it is sent  φ B 1 + P_0 f 1
//! ```
//!
//! and there is a steady state if a service of a long busy period, `M / (1 - σ)` and what comes on top, is shorter than
//! `1 / λ`. That the others are one chain, whichever of them are there, is our approximation.

mod company;
#[cfg(test)]
mod tests;

use realfft::num_complex::Complex64;

use super::grid::{Grid, Transform};
use super::law::Law;
use super::modulated::power;
use super::queue::Time;

pub(super) use company::{OnLattice, Sharer, SharingChain};

use company::Matrix;

/// What is found by the messages that are not the first of their busy period, with others there or not.
pub(super) struct SharedQueue {
    /// `P_0`
    pub(super) empty: f64,
    /// `φ_0`, `φ_1`, of weight `1 - P_0` together.
    found: [Transform; 2],
    /// Weights of both.
    weights: [f64; 2],
    /// `φ B 1 + P_0 f`
    sojourn: Transform,
}

/// Services of a class: what comes on top of its flits and of what the others add.
pub(super) struct Services<'s> {
    pub(super) company: &'s OnLattice,
    /// On top of it for a later message; the whole of a first one, with its set-up.
    pub(super) on_top: &'s Law,
    pub(super) first: &'s Law,
}

impl Services<'_> {
    fn later(&self, z: f64) -> Matrix<f64> {
        // as on the lattice, to the last digit: what is not cancelled at the pole spreads over all cells
        let OnLattice { company, message, .. } = self.company;
        let factor = power(Complex64::from(z), *message).re * self.on_top.tilted(-z.ln());
        company.at(z, *message).map(|row| row.map(|x| x * factor))
    }

    /// Mean services that begin without and with others.
    fn means(&self) -> [f64; 2] {
        let OnLattice { company, message, .. } = self.company;
        [0.0, 1.0].map(|there| message + self.on_top.mean() + company.mean_over(there, *message))
    }

    /// Mean service in a long busy period.
    pub(super) fn long_run(&self) -> f64 {
        let OnLattice { company, message, .. } = self.company;
        message * (1.0 + company.beside * company.settled()) + self.on_top.mean()
    }
}

/// Where a function that falls from above zero at 0 to below zero at `high` is zero (false position, Illinois).
fn root_between(high: f64, f: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = ((0.0, f(0.0)), (high, f(high)));
    let mut side = 0;
    for _ in 0..100 {
        let (x, y) = (low, high);
        let middle = (x.0 * y.1 - y.0 * x.1) / (y.1 - x.1);
        let value = f(middle);
        if value == 0.0 || !(middle > x.0 && middle < y.0) || y.0 - x.0 < 1e-15 * y.0 {
            return middle;
        }
        if value > 0.0 {
            low = (middle, value);
            high.1 *= if side == 1 { 0.5 } else { 1.0 };
            side = 1;
        } else {
            high = (middle, value);
            low.1 *= if side == -1 { 0.5 } else { 1.0 };
            side = -1;
        }
        if value.abs() < 1e-16 {
            return middle;
        }
    }
    (low.0 + high.0) / 2.0
}

impl SharedQueue {
    /// The queue of messages that come at `rate`; none if it has no steady state.
    pub(super) fn new(grid: &Grid, rate: f64, services: &Services<'_>) -> Option<Self> {
        let OnLattice { company, message, .. } = services.company;
        let SharingChain { left, coming: a, going: b, .. } = *company;
        if rate * services.long_run() >= 1.0 {
            return None;
        }
        let end = [1.0 - left, left];
        // det[(l - s) I - l B] = 0: below the second eigenvalue of B, as z = (2 - s) / (2 + s) on the lattice
        let at = |s: f64| (2.0 - s) / (2.0 + s);
        let second = |later: Matrix<f64>| {
            let [[b00, b01], [b10, b11]] = later;
            let (half, apart) = ((b00 + b11) / 2.0, (b00 - b11) / 2.0);
            half - (apart * apart + b01 * b10).max(0.0).sqrt()
        };
        let root = root_between(rate, |s| rate - s - rate * second(services.later(at(s))));
        let later = services.later(at(root));
        let first = services.first.tilted(-at(root).ln());
        // the null vector on the right of (l - s) I - l B there
        let null = {
            let [[b00, b01], [b10, b11]] = later;
            let diagonal = (rate - root) / rate;
            if b01.abs() > b10.abs() { [b01, diagonal - b00] } else { [diagonal - b11, b10] }
        };
        // (f - u) null = 0, u 1 = 1 \[per P_0\]
        let wanted = first * (end[0] * null[0] + end[1] * null[1]);
        let apart = null[0] - null[1];
        let none = if apart.abs() > 1e-300 { ((wanted - null[1]) / apart).clamp(0.0, 1.0) } else { end[0] };
        let u = [none, 1.0 - none];
        // weights: φ (I - B(1)) = f - u, φ (1 - l b) = l f
        let means = services.means();
        let f = services.first.mean();
        let mixing = 1.0 - (-(a + b) * message).exp();
        // φ_0 P_01 - φ_1 P_10 = f_0 - u_0, with P_01 = a / (a + b) mixing
        let (p01, p10) = (a / (a + b) * mixing, b / (a + b) * mixing);
        let (c0, c1, d) = (1.0 - rate * means[0], 1.0 - rate * means[1], rate * f);
        let e = end[0] - u[0];
        let determinant = p01 * c1 + p10 * c0;
        let (w0, w1) = ((e * c1 + p10 * d) / determinant, (p01 * d - e * c0) / determinant);
        let empty = 1.0 / (1.0 + w0 + w1);
        // the transforms
        let flits = grid.delay(*message);
        let (on_top, whole) = (grid.transform(services.on_top), grid.transform(services.first));
        let mut found = [grid.exponent_of_nothing(), grid.exponent_of_nothing()];
        let mut sojourn = grid.exponent_of_nothing();
        for (i, z) in grid.points().iter().enumerate() {
            let s = 2.0 * (1.0 - z) / (1.0 + z);
            let factor = flits[i] * on_top[i];
            let [[b00, b01], [b10, b11]] = services.company.whole[i].map(|row| row.map(|x| x * factor));
            // A = (1 - s / l) I - B, φ A = P_0 f - u
            let diagonal = 1.0 - s / rate;
            let (a00, a01, a10, a11) = (diagonal - b00, -b01, -b10, diagonal - b11);
            let determinant = a00 * a11 - a01 * a10;
            let r = [0, 1].map(|j| empty * (whole[i] * end[j] - u[j]));
            let phi = [(r[0] * a11 - r[1] * a10) / determinant, (r[1] * a00 - r[0] * a01) / determinant];
            sojourn[i] = phi[0] * (b00 + b01) + phi[1] * (b10 + b11) + empty * whole[i];
            found[0][i] = phi[0];
            found[1][i] = phi[1];
        }
        Some(Self { empty, found, weights: [w0 * empty, w1 * empty], sojourn })
    }

    /// `φ 1`, and so much more where the class is not found.
    fn with_the_first(&self, grid: &Grid, first: impl Fn(usize) -> Complex64) -> Law {
        let behind = self.found[0].iter().zip(&self.found[1]).enumerate();
        grid.law(behind.map(|(i, (x, y))| x + y + self.empty * first(i)).collect())
    }

    /// The wait: the work found, or the set-up of the first.
    pub(super) fn wait(&self, grid: &Grid, set_up: &Time) -> Law {
        self.with_the_first(grid, |i| set_up.transform[i])
    }

    /// The work found on arrival.
    pub(super) fn work(&self, grid: &Grid) -> Law {
        self.with_the_first(grid, |_| Complex64::ONE)
    }

    /// Time from arrival to the end of service.
    pub(super) fn sojourn(&self, grid: &Grid) -> Law {
        grid.law(self.sojourn.clone())
    }

    /// Delay of a message that is not the first of its busy period, when so many of its cells have gone; of weight one.
    pub(super) fn delay(&self, company: &OnLattice, cells: f64) -> Transform {
        let all = self.weights[0] + self.weights[1];
        let one = |(i, (alone, beside)): (usize, (&Complex64, &Complex64))| {
            let [[f00, f01], [f10, f11]] = company.over(i, cells);
            (alone * (f00 + f01) + beside * (f10 + f11)) / all
        };
        let [alone, beside] = &self.found;
        alone.iter().zip(beside).enumerate().map(one).collect()
    }

    /// What the others add to further cells of such a message.
    pub(super) fn further(&self, company: &OnLattice, sent: f64, cells: f64) -> Transform {
        let there = self.there(&company.company, sent);
        let one = |i: usize| {
            let [[f00, f01], [f10, f11]] = company.over(i, cells);
            (f00 + f01) * (1.0 - there) + (f10 + f11) * there
        };
        (0..company.eigenvalues.len()).map(one).collect()
    }

    /// The same on average \[cells\].
    pub(super) fn mean_further(&self, company: &OnLattice, sent: f64, cells: f64) -> f64 {
        company.company.mean_over(self.there(&company.company, sent), cells)
    }

    /// Probability that others are there when so much of such a message has gone.
    fn there(&self, company: &SharingChain, sent: f64) -> f64 {
        let (settled, pace) = (company.settled(), company.coming + company.going);
        settled + (self.weights[1] / (self.weights[0] + self.weights[1]) - settled) * (-pace * sent).exp()
    }
}
