//! Best effort under real-time classes: completion times under preemptive priority.
//!
//! Between two flits of the lower class whole busy periods of the higher ones pass. With `Λ` and `σ` the rate and
//! load of all higher classes, a flit is delayed by `K(z) = exp(Λ (B(z) - 1))`, where a busy period that one message
//! starts is `B(z) = Σ λ_j / Λ (z K(z))^M_j` (Takács).

use realfft::num_complex::Complex64;

use super::Class;
use super::ablation::{Step, without};
use super::grid::{Grid, Transform};
use super::interface::Interface;
use super::interruptions::Interruptions;
use super::law::Law;
use super::modulated::{Modulation, power};
use super::station::LinkEnvironment;

/// Messages of a lower class in its other virtual channels, whose flits share a link in the order of their arrival.
#[derive(Clone, Copy, Debug)]
pub(super) struct Siblings {
    /// Messages per cell, and cells of each.
    pub(super) rate: f64,
    pub(super) message: f64,
    /// `f`: share of them that comes over other inputs than the own.
    pub(super) contending: f64,
    /// `S_2`: probability that two of them come over different inputs.
    pub(super) different: f64,
    /// What the output buffers of all other virtual channels hold \[cells\].
    pub(super) room: f64,
}

impl Siblings {
    pub(super) const NONE: Self =
        Self { rate: 0.0, message: 0.0, contending: 0.0, different: 0.0, room: 0.0 };

    /// `u`
    fn load(&self) -> f64 {
        self.rate * self.message
    }

    /// `U`: what a header finds of their flits on the link. `F` is the work of messages that have begun, less that of
    /// the higher classes and less flits that have not come yet; higher classes take `σ` of the link and have `w` of
    /// work left on average. Each of the `n = 1 / (1 - S_2)` inputs brings its own messages one after another, so that
    /// what these would wait for each other does not count (our approximation, exact for Poisson messages over very
    /// many inputs and higher classes that are a fluid). No more is found than there is room for in other virtual
    /// channels.
    ///
    /// ```text
    /// 2 U (1 - σ) = F(σ, w, u) - n F(σ / n, w / n, u / n),   F(σ, w, u) = (w + u M) / (1 - σ - u) - w / (1 - σ) - u M
    /// ```
    fn backlog(&self, grid: &Grid, higher: (f64, f64)) -> Law {
        let begun = |part: f64| {
            let (load, work) = (higher.0 * part, higher.1 * part);
            let own = self.load() * part;
            let all = (work + own * self.message) / (1.0 - load - own).max(0.02);
            all - work / (1.0 - load) - own * self.message
        };
        let of_one = (1.0 - self.different).max(1e-3);
        let mean = (begun(1.0) - begun(of_one) / of_one) / (2.0 * (1.0 - higher.0));
        if mean < 1e-9 {
            return Law::zero();
        }
        // where anything is found it is geometric: half a message at low loads, longer as the link fills
        let occupied = (self.load() / (1.0 - higher.0)).min(0.98);
        let longest = self.message / 2.0 / (1.0 - occupied);
        let decay = 1.0 - 1.0 / longest.max(mean).max(1.0);
        let found = mean * (1.0 - decay);
        let law = |z: &Complex64| 1.0 - found + found * (1.0 - decay) / (1.0 - z * decay) * z;
        let all = grid.law(grid.points().iter().map(law).collect());
        all.min(&Law::constant(self.room / (1.0 - higher.0)))
    }
}

/// What strictly higher classes do to a message on one link.
pub(super) struct HigherClasses {
    higher: BusyPeriods,
    /// `B(z)`
    busy: Transform,
    /// `ln K(z)` per cell of the message.
    per_flit: Transform,
    /// `Σ σ_j res_Mj(z K(z))`: work found that belongs to a message in service.
    met: Transform,
    load: f64,
}

/// Higher classes as their busy periods see them.
struct BusyPeriods {
    /// Messages: cells and rate per cell of all that are so long.
    messages: Vec<(f64, f64)>,
}

impl BusyPeriods {
    /// `ln K(z) = Σ λ_j ((z K(z))^M_j - 1)`, given `z^M_j`, from that of a point `near` by.
    ///
    /// The right side contracts where `|K| <= 1`, so that there is one solution; Newton's steps lead to it, and where
    /// they leave `|K| <= 1`, plain ones.
    fn per_flit(&self, powers: &[Complex64], near: Complex64) -> Complex64 {
        let mut e = near;
        for tried in 0..1000 {
            let (mut next, mut slope) = (Complex64::ZERO, Complex64::ZERO);
            for ((m, rate), zm) in self.messages.iter().zip(powers) {
                let served = zm * (e * m).exp() * rate;
                next += served - rate;
                slope += served * m;
            }
            let newton = e + (next - e) / (1.0 - slope);
            let within = tried < 20 && newton.re <= 0.0 && newton.is_finite();
            let step = if within { newton } else { next };
            let change = (step - e).norm_sqr();
            e = step;
            // the next of Newton's steps is of the order of the square of this one
            if change < if within { 1e-16 } else { 1e-26 } {
                break;
            }
        }
        e
    }

    /// `B(z) = 1 + ln K(z) / Λ`
    fn busy(&self, per_flit: Complex64) -> Complex64 {
        1.0 + per_flit / self.rate()
    }

    /// `Λ`
    fn rate(&self) -> f64 {
        self.messages.iter().map(|(_, rate)| rate).sum()
    }

    fn powers(&self, z: Complex64) -> Vec<Complex64> {
        self.messages.iter().map(|(m, _)| power(z, *m)).collect()
    }
}

impl HigherClasses {
    /// None if the higher classes take the whole link.
    pub(super) fn new(grid: &Grid, higher: &[Class], unit: f64) -> Option<Self> {
        let load: f64 = higher.iter().map(Class::load).sum();
        if load >= 1.0 {
            return None;
        }
        let mut messages: Vec<(f64, f64)> = Vec::new();
        for class in higher {
            let (m, rate) = (class.message / unit, class.rate * unit);
            match messages.iter_mut().find(|(known, _)| *known == m) {
                Some((_, sum)) => *sum += rate,
                None => messages.push((m, rate)),
            }
        }
        let higher = BusyPeriods { messages };
        let (mut per_flit, mut met) = (grid.exponent_of_nothing(), grid.exponent_of_nothing());
        let mut busy = grid.exponent_of_nothing();
        let (mut near, mut before) = (Complex64::ZERO, None);
        for (((e, met), busy), z) in per_flit.iter_mut().zip(&mut met).zip(&mut busy).zip(grid.points()) {
            let powers = higher.powers(*z);
            *e = higher.per_flit(&powers, near);
            *busy = higher.busy(*e);
            // on a straight line through the last two
            near = *e + before.map_or(Complex64::ZERO, |before| *e - before);
            before = Some(*e);
            let y = z * e.exp();
            let residual = |((m, rate), zm): (&(f64, f64), &Complex64)| {
                // σ_j res_Mj(y) = λ_j (1 - y^M_j) / (1 - y) (1 + y) / 2
                (1.0 - zm * (*e * m).exp()) / (1.0 - y) * (1.0 + y) / 2.0 * *rate
            };
            *met = higher.messages.iter().zip(&powers).map(residual).sum();
        }
        Some(Self { higher, busy, per_flit, met, load })
    }

    /// `V_H(z)`: time until the link is free of higher work, of which the share `contending` is met, for a message
    /// of the lower class that finds none of its own; such messages come at `rate`.
    ///
    /// The last of its own left at the end of a higher busy period or between two. From then on, until it comes, a time
    /// `T ~ Exp(λ)` passes, so that it finds less than at a moment of no meaning: with idle times `Exp(Λ')` and
    /// busy periods `X`
    ///
    /// ```text
    /// p = Λ' (1 - B*(λ)) / (λ + Λ' (1 - B*(λ))),   V_H(z) = 1 - p + p λ (B(z) - B*(λ)) / (1 - B*(λ)) / (λ - s)
    /// ```
    ///
    /// where `z = exp(-s)`, on the lattice `s = 2 (1 - z) / (1 + z)`. For `λ -> 0` it is the
    /// `(1 - σ) / (1 - Σ σ_j res_Mj)` of any moment.
    fn set_up(&self, grid: &Grid, contending: f64, rate: f64) -> Law {
        let load = self.load * contending;
        if load < 1e-12 {
            return Law::zero();
        }
        let mean = self.load / (1.0 - self.load) / self.higher.rate();
        // the share of all time: Λ' E[X] / (1 + Λ' E[X]) = σ
        let idle = load / (1.0 - load) / mean;
        // far from the pole at s = λ, which is none of V_H
        let nearest = |rate: f64| {
            let distances = grid.residuals().iter().map(|residual| (residual.inv() - rate).norm());
            distances.fold(f64::INFINITY, f64::min)
        };
        let rate = if nearest(rate) < 1e-7 { rate + 1e-6 } else { rate };
        // B*(λ), by the same step from s to z
        let z = Complex64::new((2.0 - rate) / (2.0 + rate), 0.0);
        let at_rate = self.higher.busy(self.higher.per_flit(&self.higher.powers(z), Complex64::ZERO)).re;
        let busy = idle * (1.0 - at_rate) / (rate + idle * (1.0 - at_rate));
        let transform = self.busy.iter().zip(grid.residuals()).map(|(b, residual)| {
            let s = residual.inv();
            1.0 - busy + busy * rate * (b - at_rate) / (1.0 - at_rate) / (rate - s)
        });
        grid.law(transform.collect())
    }

    /// What is found by a message that had been kept from the link for a while.
    fn fresh(&self, grid: &Grid, contending: f64) -> Law {
        let load = self.load * contending;
        if load < 1e-12 || without(Step::Fresh) {
            return Law::zero();
        }
        let quiet = (-load).exp();
        grid.law(self.met.iter().map(|met| quiet + (1.0 - quiet) * met * contending / load).collect())
    }

    /// What surrounds the lower class at an output where the share `contending` of the higher messages comes over
    /// other inputs, and `met` of those found; its own messages come at `rate` per cell.
    pub(super) fn environment(
        &self,
        grid: &Grid,
        (contending, met): (f64, f64),
        rate: f64,
        siblings: &Siblings,
    ) -> LinkEnvironment {
        let set_up = self.set_up(grid, met, rate);
        let work = self.higher.messages.iter().map(|(m, rate)| rate * m * m).sum();
        LinkEnvironment {
            company: None,
            contending,
            in_step: self.beside(grid, siblings, contending),
            lagging: self.beside(grid, siblings, 1.0),
            set_up: grid.sum(&set_up, &siblings.backlog(grid, (self.load, work))),
            alone: None,
            left_behind: Law::zero(),
            fresh: vec![self.fresh(grid, met)],
            seen: self.load,
        }
    }

    /// The share `contending` of the higher classes between flits, and flits of siblings that come meanwhile over other
    /// inputs: two messages that overlap have `2 M / 3` flits in common, weighted by these.
    fn beside(&self, grid: &Grid, siblings: &Siblings, contending: f64) -> Interruptions {
        let load = siblings.load() * siblings.contending;
        if load < 1e-9 {
            return self.between().part(contending);
        }
        let flits = (2.0 * siblings.message / 3.0).max(1.0);
        let mut per_flit = self.per_flit.clone();
        for (e, z) in per_flit.iter_mut().zip(grid.points()) {
            let chunk = power(*z, flits) * (*e * flits).exp();
            *e = *e * contending + (chunk - 1.0) * (load / flits);
        }
        Interruptions::steadily(0.0, per_flit)
    }

    fn between(&self) -> Interruptions {
        Interruptions::steadily(0.0, self.per_flit.clone())
    }

    /// What the lower class `own` meets at the interface, the same node's `higher` classes being above it.
    pub(super) fn interface(&self, grid: &Grid, higher: &[Class], own: &Class, unit: f64) -> Interface {
        let rate = own.rate * unit;
        let set_up = self.set_up(grid, 1.0, rate);
        let steady = self.between();
        let (first, later, work) = match Modulation::new(grid, higher, unit)
            .filter(|_| !without(Step::Modulated))
        {
            Some(bursts) => {
                let service = own.message / (1.0 - self.load);
                let batch = own.batch(service);
                let (first, later) = Modulation::first_and_later(&bursts, own.message / unit, rate, batch);
                (first, later, Some(steady))
            }
            None => (steady.clone(), steady, None),
        };
        Interface { coming: first.clone(), first, later, work, set_up, header_wait: 0.0, gap: 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::super::grid::product;
    use super::super::queue::{Queue, Time};
    use super::*;
    use flitwise_language::scenario::ClassKind;

    /// `W = (l_1 M_1^2 + l_2 M_2^2) / 2 / ((1 - s_1) (1 - s_1 - s_2))`: preemptive resume, until the header goes.
    #[test]
    fn a_lower_class_waits_as_under_preemptive_resume_priority() {
        let grid = Grid::of(4096);
        let class = |rate, message| Class {
            kind: ClassKind::RealTime,
            rate,
            message,
            vtick: 1.0,
            bursts: None,
            outlet: None,
        };
        let (higher, lower) = (class(0.006, 32.0), class(0.01, 24.0));
        let above = HigherClasses::new(&grid, &[higher], 1.0).unwrap();
        let environment = above.environment(&grid, (1.0, 1.0), lower.rate, &Siblings::NONE);
        let completion = product(&grid.delay(24.0), &environment.lagging.over(&grid, 24.0));
        let completion = grid.law(completion);
        let (completion, set_up) = (Time::of(&grid, &completion), Time::of(&grid, &environment.set_up));
        let queue = Queue::new(&grid, lower.rate, &completion, &completion.and(&set_up), &set_up).unwrap();
        let (s1, s2) = (higher.load(), lower.load());
        let work = (0.006 * 32.0 * 32.0 + 0.01 * 24.0 * 24.0) / 2.0;
        let exact = work / ((1.0 - s1) * (1.0 - s1 - s2));
        let found = queue.wait(&grid).mean();
        assert!((found / exact - 1.0).abs() < 2e-3, "{found} {exact}");
        // a flit takes 1 / (1 - s_1) cycles
        assert!((completion.mean - 24.0 / (1.0 - s1)).abs() < 1e-3);
    }
}
