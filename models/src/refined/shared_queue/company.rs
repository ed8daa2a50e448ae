//! The others on a link while a class keeps it busy: a chain of two states.

use realfft::num_complex::Complex64;

use crate::refined::grid::{Grid, Transform};

/// One of the others.
pub(in crate::refined) struct Sharer {
    /// `σ_d`
    pub(in crate::refined) load: f64,
    /// `k_d`: flits of it for each of the class while both wait.
    pub(in crate::refined) flits: f64,
    /// Messages per cell.
    pub(in crate::refined) rate: f64,
}

/// The others, as they come and go while the class keeps the link.
#[derive(Clone, Copy, Debug)]
pub(in crate::refined) struct SharingChain {
    /// `a`, `b` per cell of the class's own flits.
    pub(super) coming: f64,
    pub(super) going: f64,
    /// `k`
    pub(super) beside: f64,
    /// Probability that a first message leaves others behind.
    pub(super) left: f64,
}

/// Others that may not keep up while the class keeps the link stay for good, or nearly so.
const MOST: f64 = 0.98;

/// Eigenvalues `h ± d` of `E(z)` as `h`, `d`, and half the difference of its diagonal.
pub(super) type Eigenvalues = (Complex64, Complex64, Complex64);

/// Rows of a matrix of two states.
pub(super) type Matrix<X> = [[X; 2]; 2];

impl SharingChain {
    /// Of others, of which a first message leaves some behind with probability `left`; none if there are none.
    ///
    /// Each is there for a time in which its share of the link serves what it brings, the sum over third classes,
    ///
    /// ```text
    /// p_d k_d / (1 + k_d + Σ p_e k_e) = σ_d,   p = 1 - Π (1 - p_d)
    /// ```
    pub(in crate::refined) fn of(others: &[Sharer], left: f64) -> Option<Self> {
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
    pub(super) fn settled(&self) -> f64 {
        self.coming / (self.coming + self.going)
    }

    /// Mean of what the others add to so many cells, being there at first with some probability: they are for
    /// `p m + (start - p) (1 - exp(-(a + b) m)) / (a + b)` of them.
    pub(super) fn mean_over(&self, there: f64, cells: f64) -> f64 {
        let (settled, pace) = (self.settled(), self.coming + self.going);
        self.beside * (settled * cells + (there - settled) * (1.0 - (-pace * cells).exp()) / pace)
    }

    pub(super) fn eigenvalues(&self, z: Complex64) -> Eigenvalues {
        let stay = -self.going + self.beside * (z - 1.0);
        let (half, apart) = ((stay - self.coming) / 2.0, (-self.coming - stay) / 2.0);
        let d = (apart * apart + self.coming * self.going).sqrt();
        // no division by zero where both are the same
        let d = if d.norm() > 1e-9 { d } else { Complex64::new(1e-9, 0.0) };
        (half, d, apart)
    }

    /// `F(m)` from the eigenvalues at a point.
    pub(super) fn over(&self, (half, d, apart): Eigenvalues, cells: f64) -> Matrix<Complex64> {
        let (up, down) = (((half + d) * cells).exp(), ((half - d) * cells).exp());
        let (both, slope) = ((up + down) / 2.0, (up - down) / (2.0 * d));
        [[both + slope * apart, slope * self.coming], [slope * self.going, both - slope * apart]]
    }

    /// The same at a real `z`.
    pub(super) fn at(&self, z: f64, cells: f64) -> Matrix<f64> {
        self.over(self.eigenvalues(z.into()), cells).map(|row| row.map(|x| x.re))
    }
}

/// The others at the points of a lattice, for messages of so many cells.
pub(in crate::refined) struct OnLattice {
    pub(super) company: SharingChain,
    pub(super) message: f64,
    pub(super) eigenvalues: Vec<Eigenvalues>,
    /// `F(M)`
    pub(super) whole: Vec<Matrix<Complex64>>,
}

impl OnLattice {
    pub(in crate::refined) fn new(grid: &Grid, company: SharingChain, message: f64) -> Self {
        let eigenvalues: Vec<_> = grid.points().iter().map(|z| company.eigenvalues(*z)).collect();
        let whole = eigenvalues.iter().map(|at| company.over(*at, message)).collect();
        Self { company, message, eigenvalues, whole }
    }

    /// `F(m)` at a point, by its number.
    pub(super) fn over(&self, point: usize, cells: f64) -> Matrix<Complex64> {
        if cells == self.message {
            self.whole[point]
        } else {
            self.company.over(self.eigenvalues[point], cells)
        }
    }

    /// What the others add to so many cells while they are there at first: `F_10 + F_11` as `Σ c exp(e)`, point by
    /// point.
    pub(in crate::refined) fn while_there(&self, cells: f64) -> [(Transform, Transform); 2] {
        [1.0, -1.0].map(|sign| {
            let weight = |(_, d, apart): &Eigenvalues| 0.5 + sign * (self.company.going - apart) / (2.0 * d);
            let step = |(half, d, _): &Eigenvalues| ((half + sign * d) * cells).exp();
            (self.eigenvalues.iter().map(weight).collect(), self.eigenvalues.iter().map(step).collect())
        })
    }
}
