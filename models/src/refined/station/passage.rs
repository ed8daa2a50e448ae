//! The way of a tail through an output: what it lags behind, and what gaps and interruptions add.

use super::{LinkEnvironment, OutputDelays, Station};
use crate::refined::ablation::{Step, without};
use crate::refined::grid::{Grid, Transform, product};
use crate::refined::law::Law;
use crate::refined::shared_queue::{OnLattice, SharedQueue};

impl Station<'_> {
    /// Law of the tail's delay at this output, for a message that has waited `in_buffer` before and whose
    /// flits arrive with `gaps` between them.
    ///
    /// Interruptions come anywhere in the message; a gap is hidden by the lag it finds: the delay becomes the greater
    /// of both. Of several gaps the sum stands at one place (our approximation; against a recursion
    /// flit by flit it is off by 0.1 to 0.3 % of the latency). Gaps that equal classes make end at the tail, one half
    /// of them, or anywhere; those of higher classes stand anywhere.
    ///
    /// A message that meets its class on a link that others share is delayed by `φ F(m) 1` over `m` flits, of weight
    /// one ([`SharedQueue`]); a message that meets none of it, by the chains of pairs.
    pub(in crate::refined) fn passage(&self, in_buffer: &Law, met: &OutputDelays, gaps: &Law) -> Law {
        let mut sum = Sum::new(self.grid);
        self.pass(in_buffer, met, gaps, &mut sum);
        sum.law().less(self.shape.header)
    }

    /// Mean of [`Station::passage`], for which what is added need not be known as a law.
    pub(in crate::refined) fn mean_passage(&self, in_buffer: &Law, met: &OutputDelays, gaps: &Law) -> f64 {
        let Self { grid, shape, environment, half_way, .. } = self;
        let half = shape.message / 2.0;
        let in_step = grid.law(environment.in_step.over(grid, half)).mean() / half;
        let mut mean = Mean { delay: 0.0, in_step, lagging: half_way.mean() / half };
        self.pass(in_buffer, met, gaps, &mut mean);
        (mean.delay - shape.header).max(0.0)
    }

    /// All that may happen to a tail.
    fn pass<W: PassageSum>(&self, in_buffer: &Law, met: &OutputDelays, gaps: &Law, ways: &mut W) {
        let Self { grid, shape, environment, .. } = self;
        let m = shape.message;
        let (some, gap) = (gaps.positive(), gaps.given_positive());
        let header = in_buffer.plus(shape.header);
        // a message that finds others present is delayed by these, and by no other arrivals
        if let Some(alone) = &environment.alone {
            let none = match &met.shared {
                Some(shared) => shared.empty,
                None => 1.0 - met.own.positive(),
            };
            ways.alone(self, (1.0 - some) * none, &header, alone);
            if let Some((queue, company)) = met.shared.as_deref().zip(self.company.as_ref()) {
                let shared =
                    SharedPosition { queue, company, found: met.own.mean() / (1.0 - none).max(1e-12) };
                let later = 1.0 - none;
                ways.shared(self, (1.0 - some) * later, &header, shared.mean_delay(m), || shared.delay(m));
                if some > 1e-12 {
                    let first = grid.sum(&header, &environment.set_up);
                    self.pass_with_gap(some * none, &first, None, &gap, ways);
                    self.pass_with_gap(some * later, &header, Some(&shared), &gap, ways);
                }
                return;
            }
            let lag = grid.sum(&header, &met.own.given_positive());
            self.pass_interrupted((1.0 - some) * (1.0 - none), (&lag, None), m, m / 2.0, ways);
        }
        let start = grid.sum(&header, &met.waits.link);
        if environment.alone.is_none() {
            self.pass_interrupted(1.0 - some, (&start, None), m, m / 2.0, ways);
        }
        if some > 1e-12 {
            self.pass_with_gap(some, &start, None, &gap, ways);
        }
    }

    /// It lags, and so many of its cells are still to be interrupted, of which `left` cells are behind it on its way.
    fn pass_interrupted<W: PassageSum>(
        &self,
        weight: f64,
        lag: Lag<'_>,
        cells: f64,
        left: f64,
        ways: &mut W,
    ) {
        // the own input still brings this message while the lag is within what is left of it
        let edge = (left.max(self.shape.header).floor() as usize).saturating_add(1);
        ways.interrupted(self, weight, lag, edge, cells);
    }

    /// It begins with a lag, and there is a gap in it.
    fn pass_with_gap<W: PassageSum>(
        &self,
        weight: f64,
        start: &Law,
        shared: Option<&SharedPosition<'_>>,
        gap: &Law,
        ways: &mut W,
    ) {
        let Self { grid, shape, environment, .. } = self;
        let m = shape.message;
        let at_start = grid.transform(start);
        // equal classes share the link from the first flit to anywhere, or from anywhere to the tail: their gaps end
        // there; those of higher classes stand where they come
        let places = if environment.alone.is_some() { W::ENDS } else { W::POSITIONS };
        for (part, share) in places {
            let (sent, left) = (part * m, (1.0 - part) * m);
            let so_far = match shared {
                Some(shared) => shared.delay(sent),
                None => environment.in_step.over(grid, sent),
            };
            let before = grid.law(product(&at_start, &so_far));
            let further = |ways: &mut W, weight: f64, lag: &Law, more: Option<&Law>| {
                let Some(shared) = shared else {
                    return self.pass_interrupted(weight, (lag, more), left, left / 2.0, ways);
                };
                let sum = more.map(|more| grid.sum(lag, more));
                let further = || shared.queue.further(shared.company, sent, left);
                ways.shared(
                    self,
                    weight,
                    sum.as_ref().unwrap_or(lag),
                    shared.mean_further(sent, left),
                    further,
                );
            };
            let weight = weight * share;
            // a gap that others of the same input make at the same output is hidden by no lag
            let (_, lagging) = before.split(shape.header as usize + 1);
            let mut bare = 0.0;
            if let Some((share, lag)) = lagging.filter(|_| !without(Step::BareGaps)) {
                bare = (1.0 - environment.contending) * share;
                if bare > 1e-12 {
                    further(ways, weight * bare, &lag, Some(gap));
                }
            }
            let weight = weight * (1.0 - bare);
            let (hidden, dry) = before.against(gap);
            if let Some((share, law)) = hidden {
                further(ways, weight * share, &law, None);
            }
            // the link ran dry: what has come meanwhile goes first
            if let Some((share, law)) = dry {
                let at = ((part * environment.fresh.len() as f64) as usize).min(environment.fresh.len() - 1);
                self.pass_interrupted(
                    weight * share,
                    (&law, Some(&environment.fresh[at])),
                    left,
                    f64::MAX,
                    ways,
                );
            }
        }
    }
}

/// A queue that others share, for messages that find their class there.
struct SharedPosition<'s> {
    queue: &'s SharedQueue,
    company: &'s OnLattice,
    /// Mean work found \[cells\].
    found: f64,
}

impl SharedPosition<'_> {
    fn delay(&self, cells: f64) -> Transform {
        self.queue.delay(self.company, cells)
    }

    fn mean_delay(&self, cells: f64) -> f64 {
        self.found + self.mean_further(0.0, cells)
    }

    fn mean_further(&self, sent: f64, cells: f64) -> f64 {
        self.queue.mean_further(self.company, sent, cells)
    }
}

/// A law, and one that is added to it.
type Lag<'l> = (&'l Law, Option<&'l Law>);

/// Parts of a message, and how often each is meant.
type Places = &'static [(f64, f64)];

/// Sum over what may happen to a tail.
trait PassageSum {
    /// Where a gap is looked at: of one that comes anywhere, and of one that ends anywhere or at the tail.
    const POSITIONS: Places;
    const ENDS: Places;

    /// It lags by one law or the sum of two, and is interrupted in so many cells, in step with its arrival below some
    /// lag.
    fn interrupted(&mut self, station: &Station<'_>, weight: f64, lag: Lag<'_>, edge: usize, cells: f64);

    /// It lags, and finds or meets others as one alone does.
    fn alone(&mut self, station: &Station<'_>, weight: f64, lag: &Law, alone: &Transform);

    /// It lags, and others share the link: so much more on average, with this transform.
    fn shared(
        &mut self,
        station: &Station<'_>,
        weight: f64,
        lag: &Law,
        mean: f64,
        more: impl FnOnce() -> Transform,
    );
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

impl PassageSum for Sum<'_> {
    const POSITIONS: Places = &[(0.125, 0.25), (0.375, 0.25), (0.625, 0.25), (0.875, 0.25)];
    const ENDS: Places = &[(0.25, 0.25), (0.75, 0.25), (1.0, 0.5)];

    fn interrupted(&mut self, station: &Station<'_>, weight: f64, lag: Lag<'_>, edge: usize, cells: f64) {
        let LinkEnvironment { in_step, lagging, .. } = station.environment;
        let (near, far) = match lag {
            (lag, Some(more)) => self.grid.sum(lag, more).split(edge),
            (lag, None) => lag.split(edge),
        };
        for (part, between) in [(near, in_step), (far, lagging)] {
            if let Some((share, law)) = part {
                let law = self.grid.transform(&law);
                self.add(weight * share, &product(&law, &between.over(self.grid, cells)));
            }
        }
    }

    fn alone(&mut self, _: &Station<'_>, weight: f64, lag: &Law, alone: &Transform) {
        self.add(weight, &product(&self.grid.transform(lag), alone));
    }

    fn shared(
        &mut self,
        station: &Station<'_>,
        weight: f64,
        lag: &Law,
        _: f64,
        more: impl FnOnce() -> Transform,
    ) {
        self.alone(station, weight, lag, &more());
    }
}

/// Mean delay, with mean interruptions per cell.
struct Mean {
    delay: f64,
    in_step: f64,
    lagging: f64,
}

impl PassageSum for Mean {
    // of the same mean and variance as those of a law
    const POSITIONS: Places = &[(0.22, 0.5), (0.78, 0.5)];
    const ENDS: Places = &[(0.25, 0.25), (0.75, 0.25), (1.0, 0.5)];

    fn interrupted(&mut self, _: &Station<'_>, weight: f64, (lag, more): Lag<'_>, edge: usize, cells: f64) {
        let far = match more {
            Some(more) => lag.exceeds_with(more, edge),
            None => lag.probabilities().iter().skip(edge).sum(),
        };
        let per_cell = self.in_step * (1.0 - far) + self.lagging * far;
        self.delay += weight * (lag.mean() + more.map_or(0.0, Law::mean) + per_cell * cells);
    }

    fn alone(&mut self, station: &Station<'_>, weight: f64, lag: &Law, alone: &Transform) {
        self.delay += weight * (lag.mean() + station.grid.law(alone.clone()).mean());
    }

    fn shared(&mut self, _: &Station<'_>, weight: f64, lag: &Law, mean: f64, _: impl FnOnce() -> Transform) {
        self.delay += weight * (lag.mean() + mean);
    }
}
