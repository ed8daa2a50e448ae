//! The way of a tail through an output: what it lags behind, and what gaps and interruptions add.

use super::{Met, Station};
use crate::refined::between::Between;
use crate::refined::grid::{Grid, Transform, product};
use crate::refined::law::Law;

impl Station<'_> {
    /// Law of the tail's delay at this output, for a message that has waited `in_buffer` before and whose
    /// flits arrive with `gaps` between them.
    ///
    /// Interruptions and gaps come anywhere in the message; a gap is hidden by the lag it finds: the delay becomes
    /// the greater of both. Of several gaps the sum stands at one place (our approximation; against a recursion
    /// flit by flit it is off by 0.1 to 0.3 % of the latency).
    pub(in crate::refined) fn passage(&self, in_buffer: &Law, met: &Met, gaps: &Between) -> Law {
        let mut sum = Sum::new(self.grid);
        self.pass(in_buffer, met, gaps, &mut sum);
        sum.law().less(self.shape.header)
    }

    /// Mean of [`Station::passage`], for which what is added need not be known as a law.
    pub(in crate::refined) fn mean_passage(&self, in_buffer: &Law, met: &Met, gaps: &Between) -> f64 {
        let Self { grid, shape, around, half_way, .. } = self;
        let half = shape.message / 2.0;
        let in_step = grid.law(around.in_step.over(grid, half)).mean() / half;
        let mut mean = Mean { delay: 0.0, in_step, lagging: half_way.mean() / half };
        self.pass(in_buffer, met, gaps, &mut mean);
        (mean.delay - shape.header).max(0.0)
    }

    /// All that may happen to a tail.
    fn pass<W: Ways>(&self, in_buffer: &Law, met: &Met, gaps: &Between, ways: &mut W) {
        let Self { grid, shape, around, .. } = self;
        let m = shape.message;
        let start = grid.sum(in_buffer, &met.waits.link).plus(shape.header);
        let all = grid.law(gaps.over(grid, m));
        let (some, gap) = (all.positive(), all.given_positive());
        let none = match &met.shared {
            Some(shared) => shared.empty,
            None if around.alone.is_some() => 1.0 - met.own.positive(),
            None => 0.0,
        };
        // who finds others meets them then, and none of what else could come
        if let Some(alone) = &around.alone {
            ways.alone(self, (1.0 - some) * none, &in_buffer.plus(shape.header), alone);
        }
        let shared = met.shared.as_deref().zip(around.company.as_ref());
        let add = |ways: &mut W, weight: f64, lag: &Law, flits: f64, left: f64| {
            // the own input still brings this message while the lag is within what is left of it
            let edge = (left.max(shape.header).floor() as usize).saturating_add(1);
            let (near, far) = lag.split(edge);
            for (part, in_step) in [(near, true), (far, false)] {
                if let Some((share, law)) = part {
                    ways.interrupted(self, weight * share, &law, in_step, flits);
                }
            }
        };
        let header = in_buffer.plus(shape.header);
        if let Some((shared, company)) = shared {
            ways.alone(self, (1.0 - some) * (1.0 - none), &header, &shared.delay(grid, company, m));
        } else if around.alone.is_some() {
            let lag = grid.sum(in_buffer, &met.own.given_positive()).plus(shape.header);
            add(ways, (1.0 - some) * (1.0 - none), &lag, m, m / 2.0);
        } else {
            add(ways, 1.0 - some, &start, m, m / 2.0);
        }
        if some <= 1e-12 {
            return;
        }
        // messages that find their class at the link, where others share it, and all that are not told apart
        let starts = if let Some((shared, company)) = shared {
            let alone = grid.sum(&header, &around.set_up);
            vec![(none, alone, None), (1.0 - none, header, Some((shared, company)))]
        } else {
            vec![(1.0, start, None)]
        };
        for (share, start, shared) in starts {
            let at_start = grid.transform(&start);
            // equal classes share the link from the first flit to anywhere, or from anywhere to the tail: their gaps
            // end there; those of higher classes stand where they come
            let positions = if around.alone.is_some() { W::ENDS } else { W::POSITIONS };
            for part in positions {
                let (sent, left) = (part * m, (1.0 - part) * m);
                let so_far = match shared {
                    Some((shared, company)) => shared.delay(grid, company, sent),
                    None => around.in_step.over(grid, sent),
                };
                let before = grid.law(product(&at_start, &so_far));
                let further = |ways: &mut W, weight: f64, lag: &Law| match shared {
                    Some((shared, company)) => {
                        ways.alone(self, weight, lag, &shared.further(grid, company, sent, left));
                    }
                    None => add(ways, weight, lag, left, left / 2.0),
                };
                let weight = share * some / positions.len() as f64;
                // a gap that others of the same input make at the same output is hidden by no lag
                let (_, lagging) = before.split(shape.header as usize + 1);
                let mut bare = 0.0;
                if let Some((share, lag)) = lagging {
                    bare = (1.0 - around.contending) * share;
                    if bare > 1e-12 {
                        further(ways, weight * bare, &grid.sum(&lag, &gap));
                    }
                }
                let weight = weight * (1.0 - bare);
                let (hidden, dry) = before.against(&gap);
                if let Some((share, law)) = hidden {
                    further(ways, weight * share, &law);
                }
                // the link ran dry: what has come meanwhile goes first
                if let Some((share, law)) = dry {
                    let at = ((part * around.fresh.len() as f64) as usize).min(around.fresh.len() - 1);
                    add(ways, weight * share, &grid.sum(&law, &around.fresh[at]), left, f64::MAX);
                }
            }
        }
    }
}

/// Sum over what may happen to a tail.
trait Ways {
    /// Parts of the message after which a gap is looked at: of one that comes anywhere, and of one that ends anywhere
    /// or at the tail.
    const POSITIONS: &'static [f64];
    const ENDS: &'static [f64];

    /// It lags, and is interrupted in so many cells, in step with its arrival or not.
    fn interrupted(&mut self, station: &Station<'_>, weight: f64, lag: &Law, in_step: bool, cells: f64);

    /// It lags, and finds or meets others as one alone does.
    fn alone(&mut self, station: &Station<'_>, weight: f64, lag: &Law, alone: &Transform);
}

/// A weighted sum of transforms.
struct Sum<'s> {
    grid: &'s Grid,
    sum: Transform,
}

impl<'s> Sum<'s> {
    fn new(grid: &'s Grid) -> Self {
        Self { grid, sum: grid.exponent_of_nothing() }
    }

    fn add(&mut self, weight: f64, transform: &Transform) {
        for (sum, x) in self.sum.iter_mut().zip(transform) {
            *sum += x * weight;
        }
    }

    fn law(self) -> Law {
        self.grid.law(self.sum)
    }
}

impl Ways for Sum<'_> {
    const POSITIONS: &'static [f64] = &[0.125, 0.375, 0.625, 0.875];
    const ENDS: &'static [f64] = &[0.25, 0.75, 1.0, 1.0];

    fn interrupted(&mut self, station: &Station<'_>, weight: f64, lag: &Law, in_step: bool, cells: f64) {
        let between = if in_step { &station.around.in_step } else { &station.around.lagging };
        self.add(weight, &product(&self.grid.transform(lag), &between.over(self.grid, cells)));
    }

    fn alone(&mut self, _: &Station<'_>, weight: f64, lag: &Law, alone: &Transform) {
        self.add(weight, &product(&self.grid.transform(lag), alone));
    }
}

/// Mean delay, with mean interruptions per cell.
struct Mean {
    delay: f64,
    in_step: f64,
    lagging: f64,
}

impl Ways for Mean {
    // of the same mean and variance as those of a law
    const POSITIONS: &'static [f64] = &[0.22, 0.78];
    const ENDS: &'static [f64] = &[0.25, 0.75, 1.0, 1.0];

    fn interrupted(&mut self, _: &Station<'_>, weight: f64, lag: &Law, in_step: bool, cells: f64) {
        let per_cell = if in_step { self.in_step } else { self.lagging };
        self.delay += weight * (lag.mean() + per_cell * cells);
    }

    fn alone(&mut self, station: &Station<'_>, weight: f64, lag: &Law, alone: &Transform) {
        self.delay += weight * (lag.mean() + station.grid.law(alone.clone()).mean());
    }
}
