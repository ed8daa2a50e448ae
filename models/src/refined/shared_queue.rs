//! The queue of a real-time class on a link that other real-time classes share while they are there.
//!
//! While the class keeps the link busy the others come and go: `Λ` messages a cycle come where none is there, and as
//! long as any is, `k` of their flits go for each of the class. Over `m` flits of the class that is a chain of two states,
//!
//! ```text
//! F(m) = exp(m E(z)),   E(z) = | -a         a           |   a = Λ,  b = (1 + k) Λ (1 - p) / p
//!                              |  b  -b + k (z - 1)     |
//! ```
//!
//! where `p`, the share of the time in which others are there, gives them all that they bring: `p k / (1 + k) = σ`. What
//! they leave behind delays the next message of the class, too: its services `B(z) = z^M F(M) ..` are no longer
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

use realfft::num_complex::Complex64;

use super::grid::{Grid, Transform};
use super::higher_classes::power;
use super::law::Law;
use super::queue::Time;

/// One of the others.
pub(super) struct Sharer {
    /// `σ_d`
    pub(super) load: f64,
    /// `k_d`: flits of it for each of the class while both wait.
    pub(super) flits: f64,
    /// Messages per cell.
    pub(super) rate: f64,
}

/// The others, as they come and go while the class keeps the link.
#[derive(Clone, Copy, Debug)]
pub(super) struct Company {
    /// `a`, `b` per cell of the class's own flits.
    coming: f64,
    going: f64,
    /// `k`
    beside: f64,
    /// Probability that a first message leaves others behind.
    left: f64,
}

/// Others that may not keep up while the class keeps the link stay for good, or nearly so.
const MOST: f64 = 0.98;

/// Eigenvalues `h ± d` of `E(z)` as `h`, `d`, and half the difference of its diagonal.
type Eigenvalues = (Complex64, Complex64, Complex64);

/// Rows of a matrix of two states.
type Matrix<X> = [[X; 2]; 2];

impl Company {
    /// Of others, of which a first message leaves some behind with probability `left`; none if there are none.
    ///
    /// Each is there for a time in which its share of the link serves what it brings, the sum over third classes,
    ///
    /// ```text
    /// p_d k_d / (1 + k_d + Σ p_e k_e) = σ_d,   p = 1 - Π (1 - p_d)
    /// ```
    pub(super) fn of(others: &[Sharer], left: f64) -> Option<Self> {
        if others.is_empty() {
            return None;
        }
        let mut present = vec![0.0; others.len()];
        let weight = |present: &[f64]| -> f64 { others.iter().zip(present).map(|(d, p)| p * d.flits).sum() };
        for _ in 0..50 {
            let all = weight(&present);
            let there =
                |(d, p): (&Sharer, &f64)| (d.load * (1.0 + d.flits + all - p * d.flits) / d.flits).min(MOST);
            present = others.iter().zip(&present).map(there).collect();
        }
        let all = weight(&present);
        let served = |(d, p): (&Sharer, &f64)| p * d.flits / (1.0 + d.flits + all - p * d.flits);
        let served: f64 = others.iter().zip(&present).map(served).sum();
        let any = 1.0 - present.iter().map(|p| 1.0 - p).product::<f64>();
        let share = (served / any).min(MOST);
        let beside = share / (1.0 - share);
        let coming: f64 = others.iter().map(|d| d.rate).sum();
        Some(Self { coming, going: (1.0 + beside) * coming * (1.0 - any) / any, beside, left })
    }

    /// `p`, per flit of the class rather than per cycle.
    fn settled(&self) -> f64 {
        self.coming / (self.coming + self.going)
    }

    /// Mean of what the others add to so many cells, being there at first with some probability: they are for
    /// `p m + (start - p) (1 - exp(-(a + b) m)) / (a + b)` of them.
    fn mean_over(&self, there: f64, cells: f64) -> f64 {
        let (settled, pace) = (self.settled(), self.coming + self.going);
        self.beside * (settled * cells + (there - settled) * (1.0 - (-pace * cells).exp()) / pace)
    }

    fn eigenvalues(&self, z: Complex64) -> Eigenvalues {
        let stay = -self.going + self.beside * (z - 1.0);
        let (half, apart) = ((stay - self.coming) / 2.0, (-self.coming - stay) / 2.0);
        let d = (apart * apart + self.coming * self.going).sqrt();
        // no division by zero where both are the same
        let d = if d.norm() > 1e-9 { d } else { Complex64::new(1e-9, 0.0) };
        (half, d, apart)
    }

    /// `F(m)` from the eigenvalues at a point.
    fn over(&self, (half, d, apart): Eigenvalues, cells: f64) -> Matrix<Complex64> {
        let (up, down) = (((half + d) * cells).exp(), ((half - d) * cells).exp());
        let (both, slope) = ((up + down) / 2.0, (up - down) / (2.0 * d));
        [[both + slope * apart, slope * self.coming], [slope * self.going, both - slope * apart]]
    }

    /// The same at a real `z`.
    fn at(&self, z: f64, cells: f64) -> Matrix<f64> {
        self.over(self.eigenvalues(z.into()), cells).map(|row| row.map(|x| x.re))
    }
}

/// The others at the points of a lattice, for messages of so many cells.
pub(super) struct OnLattice {
    company: Company,
    message: f64,
    eigenvalues: Vec<Eigenvalues>,
    /// `F(M)`
    whole: Vec<Matrix<Complex64>>,
}

impl OnLattice {
    pub(super) fn new(grid: &Grid, company: Company, message: f64) -> Self {
        let eigenvalues: Vec<_> = grid.points().iter().map(|z| company.eigenvalues(*z)).collect();
        let whole = eigenvalues.iter().map(|at| company.over(*at, message)).collect();
        Self { company, message, eigenvalues, whole }
    }

    /// `F(m)` at a point, by its number.
    fn over(&self, point: usize, cells: f64) -> Matrix<Complex64> {
        if cells == self.message {
            self.whole[point]
        } else {
            self.company.over(self.eigenvalues[point], cells)
        }
    }

    /// What the others add to so many cells while they are there at first: `F_10 + F_11` as `Σ c exp(e)`, point by point.
    pub(super) fn while_there(&self, cells: f64) -> [(Transform, Transform); 2] {
        [1.0, -1.0].map(|sign| {
            let weight = |(_, d, apart): &Eigenvalues| 0.5 + sign * (self.company.going - apart) / (2.0 * d);
            let step = |(half, d, _): &Eigenvalues| ((half + sign * d) * cells).exp();
            (self.eigenvalues.iter().map(weight).collect(), self.eigenvalues.iter().map(step).collect())
        })
    }
}

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
        let Company { left, coming: a, going: b, .. } = *company;
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
    fn there(&self, company: &Company, sent: f64) -> f64 {
        let (settled, pace) = (company.settled(), company.coming + company.going);
        settled + (self.weights[1] / (self.weights[0] + self.weights[1]) - settled) * (-pace * sent).exp()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refined::queue::Queue;

    fn company(beside: f64) -> Company {
        Company { coming: 0.01, going: 0.02, beside, left: 0.3 }
    }

    /// Others that take no time leave M/G/1.
    #[test]
    fn others_without_flits_change_nothing() {
        let grid = Grid::of(1024);
        let (on_top, first) = (Law::constant(2.0), Law::constant(34.0));
        // a message of part of a cell, too: the lattice splits it over two
        for message in [32.0, 31.4] {
            let others = OnLattice::new(&grid, company(0.0), message);
            let services = Services { company: &others, on_top: &on_top, first: &first };
            let later = Time::of(&grid, &Law::constant(message).plus(2.0));
            let (first, nothing) = (Time::of(&grid, &first), Time::of(&grid, &Law::zero()));
            for rate in [0.005, 0.015, 0.025] {
                let shared = SharedQueue::new(&grid, rate, &services).unwrap();
                let queue = Queue::new(&grid, rate, &later, &first, &nothing).unwrap();
                assert!((shared.empty - queue.means.empty).abs() < 1e-9);
                let (wait, known) = (shared.wait(&grid, &nothing), queue.wait(&grid));
                for cells in [0, 10, 100, 300] {
                    let tail = |law: &Law| law.probabilities().iter().skip(cells).sum::<f64>();
                    assert!((tail(&wait) - tail(&known)).abs() < 1e-6, "{rate} {cells}");
                }
            }
        }
        let others = OnLattice::new(&grid, company(3.0), 32.0);
        let overloaded = Services { company: &others, on_top: &on_top, first: &first };
        assert!(SharedQueue::new(&grid, 0.02, &overloaded).is_none());
    }

    /// `F(m)` of no flits is nothing, of a sum the product; rows sum to one.
    #[test]
    fn others_come_and_go_as_a_chain_of_two_states() {
        let company = company(1.5);
        let z = Complex64::from_polar(0.99, 0.3);
        let times = |x: Matrix<Complex64>, y: Matrix<Complex64>| {
            [0, 1].map(|i| [0, 1].map(|j| x[i][0] * y[0][j] + x[i][1] * y[1][j]))
        };
        let [two, five, seven] = [2.0, 5.0, 7.0].map(|cells| company.over(company.eigenvalues(z), cells));
        let product = times(two, five);
        for (row, known) in product.iter().zip(&seven) {
            for (x, y) in row.iter().zip(known) {
                assert!((x - y).norm() < 1e-12);
            }
        }
        for row in company.at(1.0, 40.0) {
            assert!((row[0] + row[1] - 1.0).abs() < 1e-12);
        }
        // begun with others there, as a sum of two modes
        let grid = Grid::of(64);
        let company = OnLattice::new(&grid, company, 7.0);
        let [(c, up), (d, down)] = company.while_there(7.0);
        for i in 0..grid.points().len() {
            let [_, [f10, f11]] = company.over(i, 7.0);
            assert!((c[i] * up[i] + d[i] * down[i] - f10 - f11).norm() < 1e-12);
        }
    }

    /// In the long run all goes through that the others bring: a flit takes `1 / (1 - σ)`.
    #[test]
    fn others_get_what_they_bring() {
        let grid = Grid::of(64);
        for (loads, flits) in [([0.35, 0.0], [1.0, 1.0]), ([0.2, 0.3], [1.5, 0.8]), ([0.1, 0.1], [8.0, 0.3])]
        {
            let others: Vec<Sharer> = loads
                .iter()
                .zip(flits)
                .filter(|(load, _)| **load > 0.0)
                .map(|(load, flits)| Sharer { load: *load, flits, rate: load / 32.0 })
                .collect();
            let company = Company::of(&others, 0.2).unwrap();
            let nothing = Law::zero();
            let company = OnLattice::new(&grid, company, 32.0);
            let services = Services { company: &company, on_top: &nothing, first: &nothing };
            let sigma: f64 = loads.iter().sum();
            assert!((services.long_run() - 32.0 / (1.0 - sigma)).abs() < 0.5, "{}", services.long_run());
        }
        assert!(Company::of(&[], 0.2).is_none());
    }

    /// Weights and mean of the law are those of the balance `φ (1 - l b) = P_0 l f`.
    #[test]
    fn the_law_has_the_weights_of_the_balance() {
        let grid = Grid::of(2048);
        let (on_top, first) = (Law::constant(1.0), Law::constant(40.0));
        let others = OnLattice::new(&grid, company(1.0), 32.0);
        let services = Services { company: &others, on_top: &on_top, first: &first };
        let rate = 0.012;
        let shared = SharedQueue::new(&grid, rate, &services).unwrap();
        let [b0, b1] = services.means();
        let [w0, w1] = shared.weights;
        assert!((w0 + w1 + shared.empty - 1.0).abs() < 1e-12);
        let balance = w0 * (1.0 - rate * b0) + w1 * (1.0 - rate * b1) - shared.empty * rate * 40.0;
        assert!(balance.abs() < 1e-12);
        // but for work of less than half a cell
        assert!((shared.work(&grid).at(0) - shared.empty).abs() < rate);
        // those who find others there wait longer: both queues grow together
        let mean = |x: &Transform| grid.law(x.clone()).mean();
        assert!(mean(&shared.found[1]) > 1.1 * mean(&shared.found[0]));
    }
}
