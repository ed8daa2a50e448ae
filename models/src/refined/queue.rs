//! The one queue of the model: M/G/1 whose first customer of a busy period is served differently and waits for a
//! set-up \[Wel64\].
//!
//! Messages come at rate `l`; one that finds another is served for `B`, one that finds none for `F`, after waiting
//! `D`.

use super::grid::{Grid, Transform};
use super::law::Law;

/// A queue in its steady state.
pub(super) struct Queue {
    /// `P_0`: probability that a message finds the queue empty.
    pub(super) empty: f64,
    /// Mean wait \[cycles\].
    pub(super) mean_wait: f64,
    /// Transform of the work found.
    work: Transform,
    set_up: Transform,
}

impl Queue {
    /// The queue at `rate` with services `later` and `first` and set-up `set_up`; none if it has no steady state.
    pub(super) fn new(grid: &Grid, rate: f64, later: &Law, first: &Law, set_up: &Law) -> Option<Self> {
        let (b, f) = (later.mean(), first.mean());
        if rate * b >= 1.0 {
            return None;
        }
        // P_0 = (1 - l b) / (1 + l (f - b))
        let empty = (1.0 - rate * b) / (1.0 + rate * (f - b));
        let (b2, f2) = (later.second_moment(), first.second_moment());
        // E[W] = l E[B^2] / 2 / (1 - l b) + l (E[F^2] - E[B^2]) / 2 / (1 + l (f - b)) + P_0 E[D]
        let mean_wait = rate * b2 / 2.0 / (1.0 - rate * b)
            + rate * (f2 - b2) / 2.0 / (1.0 + rate * (f - b))
            + empty * set_up.mean();
        // phi(z) = P_0 [1 + l f res_F(z) - l b res_B(z)] / [1 - l b res_B(z)]
        let (at_later, at_first) = (grid.transform(later), grid.transform(first));
        let work = at_later.iter().zip(&at_first).zip(grid.residuals()).map(|((b, f), residual)| {
            // E[X] res_X(z) = (1 - X(z)) / (1 - z) * (1 + z) / 2
            let spread = residual * rate;
            let (b, f) = (spread * (1.0 - b), spread * (1.0 - f));
            empty * (1.0 + f - b) / (1.0 - b)
        });
        Some(Self { empty, mean_wait, work: work.collect(), set_up: grid.transform(set_up) })
    }

    /// The work found on arrival.
    pub(super) fn work(&self, grid: &Grid) -> Law {
        grid.law(self.work.clone())
    }

    /// The wait: the work found, or the set-up of the first.
    pub(super) fn wait(&self, grid: &Grid) -> Law {
        let wait =
            self.work.iter().zip(&self.set_up).map(|(work, set_up)| work - self.empty * (1.0 - set_up));
        grid.law(wait.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constant_services_give_the_wait_of_m_d_1() {
        let grid = Grid::of(2048);
        let service = Law::constant(32.0);
        for rate in [0.001, 0.01, 0.02] {
            let load = rate * 32.0;
            let queue = Queue::new(&grid, rate, &service, &service, &Law::zero()).unwrap();
            // l M^2 / 2 / (1 - l M)
            let exact = rate * 32.0 * 32.0 / 2.0 / (1.0 - load);
            assert!((queue.mean_wait - exact).abs() < 1e-9 * exact);
            assert!((queue.empty - (1.0 - load)).abs() < 1e-12);
            let law = queue.wait(&grid);
            assert!((law.mean() - exact).abs() < 2e-3 * exact, "{} {exact}", law.mean());
        }
        assert!(Queue::new(&grid, 0.04, &service, &service, &Law::zero()).is_none());
    }

    #[test]
    fn a_set_up_is_waited_for_by_the_first_alone() {
        let grid = Grid::of(512);
        let (service, set_up) = (Law::constant(10.0), Law::constant(5.0));
        let first = service.plus(5.0);
        let queue = Queue::new(&grid, 1e-6, &service, &first, &set_up).unwrap();
        assert!((queue.wait(&grid).mean() - 5.0).abs() < 1e-3);
    }
}
