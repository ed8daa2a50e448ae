//! Interruptions of a message: the flits of other classes between its own.
//!
//! Strictly higher classes interrupt flit by flit. This is a compound Poisson process: `exp(m e(z))` over `m` flits. An
//! equal class interrupts a message once, with probability `q`, or never: its delay `Y` includes later arrivals. Over
//! `m` flits of `M` the transform is `1 - (m / M) q (1 - Y(z))`. Classes are independent of each other.

use realfft::num_complex::Complex64;

use super::ablation::{Step, without};
use super::grid::{Grid, Transform};
use super::law::Law;

/// `w(z)`, none where it is one, and `e(z)`.
type Mode = (Option<Transform>, Transform);

/// Sum of the interruptions by all classes.
#[derive(Clone)]
pub(super) struct Interruptions {
    /// `M` \[cells\]
    message: f64,
    /// `w_i(z)` and `e_i(z)` per cell of the message; none without higher classes.
    modes: Vec<Mode>,
    /// `q (Y(z) - 1)` of each class that comes once.
    once: Vec<Transform>,
    /// Share of it all that is meant.
    part: f64,
}

impl Interruptions {
    /// Nothing is added to a message of so many cells.
    pub(super) fn nothing(message: f64) -> Self {
        Self { message, modes: Vec::new(), once: Vec::new(), part: 1.0 }
    }

    /// A compound Poisson process.
    pub(super) fn steadily(message: f64, per_flit: Transform) -> Self {
        Self { modes: vec![(None, per_flit)], ..Self::nothing(message) }
    }

    /// `Σ w_i(z) exp(m e_i(z))`: a process that bursts modulate.
    pub(super) fn by_modes(modes: Vec<(Transform, Transform)>) -> Self {
        Self { modes: modes.into_iter().map(|(w, e)| (Some(w), e)).collect(), ..Self::nothing(0.0) }
    }

    /// Adds a class that comes in a share `q` of the messages, with the transform of what it then adds.
    pub(super) fn add(&mut self, q: f64, y: &Transform) {
        if q > 0.0 {
            self.once.push(y.iter().map(|y| (y - 1.0) * q).collect());
        }
    }

    /// A part of it, or a multiple.
    pub(super) fn part(&self, part: f64) -> Self {
        Self { part: self.part * part, ..self.clone() }
    }

    /// Transform of what is added to so many cells of the message.
    pub(super) fn over(&self, grid: &Grid, cells: f64) -> Transform {
        let cells = cells.max(0.0) * self.part;
        let mut sum = match &self.modes[..] {
            [] => Transform::constant(Complex64::ONE, grid.points().len()),
            [(None, per_flit)] => grid.compound(per_flit, cells),
            modes => {
                let mut sum = Transform::constant(Complex64::ZERO, grid.points().len());
                for (weight, per_flit) in modes {
                    let compound = grid.compound(per_flit, cells);
                    match weight {
                        Some(weight) => {
                            sum.iter_mut().zip(weight).zip(&compound).for_each(|((s, w), c)| *s += w * c)
                        }
                        None => sum.iter_mut().zip(&compound).for_each(|(s, c)| *s += c),
                    }
                }
                sum
            }
        };
        // whole messages, and a part of one
        let messages = if self.message > 0.0 { cells / self.message } else { 0.0 };
        let (whole, rest) = (messages.floor(), messages.fract());
        for once in &self.once {
            for (sum, once) in sum.iter_mut().zip(once) {
                *sum *= once * rest + 1.0;
                if whole > 0.0 {
                    *sum *= (once + 1.0).powi(whole.min(1e6) as i32);
                }
            }
        }
        sum
    }
}

/// Interruptions within interruptions: while one class delays a message, messages of others arrive.
///
/// With `x` cells of delay by a class, one of the others comes with probability `1 - exp(-ν x)`, `ν` their rates
/// together, and adds its own delay, in which others come again: `Y'_d = Y_d * Y'_e` then (our approximation: at
/// most one comes in each delay).
pub(super) struct Nested {
    /// Messages per cell.
    rates: Vec<f64>,
    /// `Y'_d`
    laws: Vec<Transform>,
}

impl Nested {
    /// Of classes that come at a rate and delay by a law.
    pub(super) fn new(grid: &Grid, rates: Vec<f64>, laws: &[Law]) -> Self {
        const DEPTH: usize = 3;
        let mut nested = Self { rates, laws: laws.iter().map(|law| grid.transform(law)).collect() };
        if nested.is_plain() {
            return nested;
        }
        let parts: Vec<_> = laws.iter().enumerate().map(|(d, law)| nested.split(grid, d, law)).collect();
        for _ in 0..DEPTH {
            nested.laws = parts.iter().enumerate().map(|(d, parts)| nested.join(d, parts)).collect();
        }
        nested
    }

    /// Whether nothing is nested.
    fn is_plain(&self) -> bool {
        self.laws.len() < 2 || without(Step::Nested)
    }

    /// `Y'_d`
    pub(super) fn law(&self, d: usize) -> &Transform {
        &self.laws[d]
    }

    /// Transform of another delay by class `d`, with arrivals of third classes during it.
    pub(super) fn within(&self, grid: &Grid, d: usize, law: &Law) -> Transform {
        if self.is_plain() { grid.transform(law) } else { self.join(d, &self.split(grid, d, law)) }
    }

    fn others(&self, d: usize) -> impl Iterator<Item = usize> + '_ {
        (0..self.rates.len()).filter(move |e| *e != d)
    }

    /// The part of a law in which no other comes, and that in which one does.
    fn split(&self, grid: &Grid, d: usize, law: &Law) -> [Transform; 2] {
        let rate: f64 = self.others(d).map(|e| self.rates[e]).sum();
        let (quiet, alone) = (law.tilted(rate), law.tilted_law(rate));
        let all = grid.transform(law);
        let alone: Transform = grid.transform(&alone).iter().map(|x| x * quiet).collect();
        let met = all.iter().zip(&alone).map(|(all, alone)| all - alone).collect();
        [alone, met]
    }

    fn join(&self, d: usize, [alone, met]: &[Transform; 2]) -> Transform {
        let rate: f64 = self.others(d).map(|e| self.rates[e]).sum();
        let mut law = alone.clone();
        for e in self.others(d) {
            let share = if rate > 0.0 { self.rates[e] / rate } else { 0.0 };
            for ((law, met), other) in law.iter_mut().zip(met).zip(&self.laws[e]) {
                *law += met * other * share;
            }
        }
        law
    }
}

/// The presence of a class.
pub(super) struct Presence {
    /// Probability that the class is present.
    pub(super) present: f64,
    /// Transforms of its delay if it is present, and if it is absent.
    pub(super) found: Transform,
    pub(super) absent: Transform,
}

/// Transform of the delay by all classes that share a link, each present or absent by itself (our approximation; the
/// product form of processor sharing was within .03 points of it).
pub(super) fn together(grid: &Grid, classes: &[Presence]) -> Transform {
    let mut sum = Transform::constant(Complex64::ONE, grid.points().len());
    for Presence { present, found, absent } in classes {
        for ((sum, found), absent) in sum.iter_mut().zip(found).zip(absent) {
            *sum *= found * *present + absent * (1.0 - present);
        }
    }
    sum
}

/// Mean delay of a message by several classes together. Messages of class `d` that are present delay it by `c_d`, later
/// arrivals by `I_d`, and by more as others lengthen the time for arrivals.
///
/// `D_d = c_d + I_d (1 + Σ_(e ≠ d) D_e / M)`, with `a_d = I_d / M` solved for the sum:
/// `Σ D = (Σ c_d / (1 + a_d) + M A) / (1 - A)`, `A = Σ a_d / (1 + a_d)`. Where the others all go first
/// `a_d = σ_d / (1 - σ_d)`, so that `A` is their load.
pub(super) fn delays_together(message: f64, classes: impl Iterator<Item = (f64, f64)>) -> f64 {
    let (mut found, mut load) = (0.0, 0.0);
    for (one, comes) in classes {
        let a = comes / message;
        found += one / (1.0 + a);
        load += a / (1.0 + a);
    }
    (found + message * load) / (1.0 - load).max(0.02)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_comes_once_in_a_message_or_not_at_all() {
        let grid = Grid::of(256);
        let mut between = Interruptions::nothing(32.0);
        between.add(0.25, &grid.transform(&Law::constant(8.0)));
        let law = |cells| grid.law(between.over(&grid, cells));
        assert!((law(32.0).at(0) - 0.75).abs() < 1e-9 && (law(32.0).at(8) - 0.25).abs() < 1e-9);
        assert!((law(8.0).at(8) - 0.0625).abs() < 1e-9);
        // two messages and a half: means add up
        assert!((law(80.0).mean() - 5.0).abs() < 1e-3);
        assert!((grid.law(between.part(3.0).over(&grid, 32.0)).mean() - 6.0).abs() < 1e-3);
    }

    #[test]
    fn classes_are_present_independently() {
        let grid = Grid::of(64);
        let class = |present, at: f64| Presence {
            present,
            found: grid.transform(&Law::constant(at)),
            absent: grid.transform(&Law::zero()),
        };
        let law = grid.law(together(&grid, &[class(0.2, 1.0), class(0.3, 2.0)]));
        for (at, p) in [(0, 0.56), (1, 0.14), (2, 0.24), (3, 0.06)] {
            assert!((law.at(at) - p).abs() < 1e-6, "{at}: {}", law.at(at));
        }
    }

    #[test]
    fn delays_by_classes_that_go_first_are_a_busy_period() {
        // work w found of all, arrivals of load σ: (w + M σ) / (1 - σ)
        let parts = [(0.2, 3.0), (0.3, 5.0), (0.1, 0.0)];
        let classes = parts.map(|(load, work)| (work / (1.0 - load), 20.0 * load / (1.0 - load)));
        let all = delays_together(20.0, classes.into_iter());
        assert!((all - (8.0 + 20.0 * 0.6) / 0.4).abs() < 1e-9, "{all}");
    }

    #[test]
    fn means_of_a_steady_stream_and_of_classes_add_up() {
        let grid = Grid::of(1024);
        let per_flit = grid.transform(&Law::constant(5.0)).iter().map(|y| (y - 1.0) * 0.01).collect();
        let mut between = Interruptions::steadily(40.0, per_flit);
        between.add(0.5, &grid.transform(&Law::constant(3.0)));
        let mean = grid.law(between.over(&grid, 40.0)).mean();
        assert!((mean - (40.0 * 0.01 * 5.0 + 1.5)).abs() < 1e-3, "{mean}");
    }
}
