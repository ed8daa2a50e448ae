//! The one queue of the model: M/G/1 whose first customer of a busy period is served differently and waits for a
//! set-up \[Wel64\].
//!
//! Messages come at rate `l`; one that finds another is served for `B`, one that finds none for `F`, after waiting
//! `D`.

use super::grid::{Grid, Transform, product};
use super::law::Law;

/// A time as queues see it: the sum of independent laws.
#[derive(Clone)]
pub(super) struct Time {
    pub(super) transform: Transform,
    pub(super) mean: f64,
}

impl Time {
    pub(super) fn of(grid: &Grid, law: &Law) -> Self {
        Self { transform: grid.transform(law), mean: law.mean() }
    }

    /// The sum with an independent one.
    pub(super) fn and(&self, other: &Self) -> Self {
        Self { transform: product(&self.transform, &other.transform), mean: self.mean + other.mean }
    }
}

/// A queue in its steady state.
pub(super) struct Queue<'q> {
    /// `P_0`: probability that a message finds the queue empty.
    pub(super) empty: f64,
    /// Transform of the work found.
    work: Transform,
    set_up: &'q Time,
}

impl<'q> Queue<'q> {
    /// The queue at `rate` with services `later` and `first` and set-up `set_up`; none if it has no steady state.
    pub(super) fn new(grid: &Grid, rate: f64, later: &Time, first: &Time, set_up: &'q Time) -> Option<Self> {
        let (b, f) = (later.mean, first.mean);
        if rate * b >= 1.0 {
            return None;
        }
        // P_0 = (1 - l b) / (1 + l (f - b))
        let empty = (1.0 - rate * b) / (1.0 + rate * (f - b));
        // phi(z) = P_0 [1 + l f res_F(z) - l b res_B(z)] / [1 - l b res_B(z)]
        let services = later.transform.iter().zip(&first.transform);
        let work = services.zip(grid.residuals()).map(|((b, f), residual)| {
            // E[X] res_X(z) = (1 - X(z)) / (1 - z) * (1 + z) / 2
            let spread = residual * rate;
            let (b, f) = (spread * (1.0 - b), spread * (1.0 - f));
            empty * (1.0 + f - b) / (1.0 - b)
        });
        Some(Self { empty, work: work.collect(), set_up })
    }

    /// The work found on arrival.
    pub(super) fn work(&self, grid: &Grid) -> Law {
        grid.law(self.work.clone())
    }

    /// The wait: the work found, or the set-up of the first.
    pub(super) fn wait(&self, grid: &Grid) -> Law {
        grid.law(self.wait_transform())
    }

    pub(super) fn wait_transform(&self) -> Transform {
        let set_up = &self.set_up.transform;
        self.work.iter().zip(set_up).map(|(work, d)| work - self.empty * (1.0 - d)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queueing::Md1;

    #[test]
    fn constant_services_give_the_wait_of_m_d_1() {
        let grid = Grid::of(2048);
        let service = Time::of(&grid, &Law::constant(32.0));
        let nothing = Time::of(&grid, &Law::zero());
        for rate in [0.001, 0.01, 0.02] {
            let load = rate * 32.0;
            let queue = Queue::new(&grid, rate, &service, &service, &nothing).unwrap();
            let exact = Md1 { rate, mean: 32.0 }.measures().reached().unwrap().mean_wait;
            assert!((queue.empty - (1.0 - load)).abs() < 1e-12);
            let law = queue.wait(&grid);
            assert!((law.mean() - exact).abs() < 2e-3 * exact, "{} {exact}", law.mean());
        }
        assert!(Queue::new(&grid, 0.04, &service, &service, &nothing).is_none());
    }

    #[test]
    fn a_set_up_is_waited_for_by_the_first_alone() {
        let grid = Grid::of(512);
        let time = |cells| Time::of(&grid, &Law::constant(cells));
        let (service, set_up) = (time(10.0), time(5.0));
        let first = service.and(&set_up);
        let queue = Queue::new(&grid, 1e-6, &service, &first, &set_up).unwrap();
        assert!((queue.wait(&grid).mean() - 5.0).abs() < 1e-3);
    }
}
