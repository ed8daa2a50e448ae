//! The n-cube with dimension-order routing: every class on its own, router by router.

use super::ecube_paths::{Crossing, EcubePaths};
use super::grid::{Grid, Transform, product};
use super::higher_classes::Above;
use super::interface::Interface;
use super::law::Law;
use super::link_sharing::LinkSharing;
use super::solution::{Delays, Detail, Found};
use super::source::{Queued, Source};
use super::station::{Arriving, Around, Met, Overloaded, Place, Shape, Station};
use super::tail_and_header::{Crossed, TailAndHeader};
use super::{Asked, Class, Resolution};

/// All classes of a hypercube.
pub(super) fn solve(asked: &Asked, dimension: u32, resolution: &Resolution) -> Vec<Result<Found, Overloaded>> {
    let grid = Grid::new(resolution.cells);
    let solve = |index: usize| OneClass::new(asked, dimension, index, &grid, resolution)?.solve(asked, resolution);
    (0..asked.classes.len()).map(solve).collect()
}

/// Whose messages go ahead on a link.
enum Others {
    Sharing(LinkSharing),
    Above(Above),
}

/// A kind of link, as the class sees it: network channels are all alike, and so are ejection links.
struct Link {
    classes: Vec<Class>,
    others: Others,
    /// `λ` of the class \[messages/cell\].
    rate: f64,
    /// `Σ`: load of the real-time classes but the own one.
    load: f64,
}

/// A class and what surrounds it.
struct OneClass<'g> {
    grid: &'g Grid,
    unit: f64,
    paths: EcubePaths,
    dimension: u32,
    class: Class,
    /// Place among the real-time classes.
    own: Option<usize>,
    shape: Shape,
    /// `λ` \[messages/cell\]
    rate: f64,
    interface: Interface,
    channel: Link,
    ejection: Link,
    /// Gaps of whole messages, and over the flits that the buffer does not hold.
    gaps: [Law; 2],
    gaps_rest: [Law; 2],
    /// `e`: found work that the header waits for \[cells\].
    header: f64,
}

/// A router on a path.
struct Stop {
    met: Met,
    around: Around,
    /// Gaps that arrive.
    gaps: Law,
    /// What the tail's delay grows by, the gaps that arrive included for the first router only.
    delay: f64,
    /// `E[G]` that leave.
    leaving: f64,
}

impl<'g> OneClass<'g> {
    fn new(
        asked: &Asked,
        dimension: u32,
        index: usize,
        grid: &'g Grid,
        resolution: &Resolution,
    ) -> Result<Self, Overloaded> {
        let (unit, steps) = (resolution.unit, resolution.steps);
        let paths = EcubePaths::new(dimension);
        let class = asked.classes[index];
        let shape = Shape::of(asked, &class, unit);
        let own = asked.position_in_real_time(index);
        let real_time: Vec<Class> = asked.real_time().collect();
        let link = |share: f64| {
            let thinned = |class: &Class| Class { rate: class.rate * share, ..*class };
            let classes: Vec<Class> = real_time.iter().map(thinned).collect();
            let load: f64 = classes.iter().map(Class::load).sum();
            let others = match own {
                Some(own) => Others::Sharing(LinkSharing::new(&classes, own, asked.clocked, unit, steps)),
                None => Others::Above(Above::new(grid, &classes, unit).ok_or(Overloaded { load, place: Place::Link })?),
            };
            let load = own.map_or(load, |own| load - classes[own].load()).max(0.0);
            Ok(Link { classes, others, rate: class.rate * unit * share, load })
        };
        let (channel, ejection) = (link(paths.channel_rate())?, link(1.0)?);
        let interface = match (&ejection.others, own) {
            (Others::Above(above), _) => above.interface(grid),
            (_, Some(own)) => Interface::new(grid, &real_time, own, unit, steps),
            (_, None) => unreachable!("a class without others above is real-time"),
        };
        let gaps = |flits: f64| {
            let law = |exponent| if flits > 0.0 { grid.law(grid.compound(exponent, flits)) } else { Law::zero() };
            [law(&interface.first), law(&interface.later)]
        };
        let (whole, rest) = (gaps(shape.message), gaps(shape.rest()));
        let header = own.map_or(f64::INFINITY, |own| passed(&real_time, own) / unit);
        let rate = class.rate * unit;
        Ok(Self {
            grid, unit, paths, dimension, class, own, shape, rate, interface, channel, ejection,
            gaps: whole, gaps_rest: rest, header,
        })
    }

    fn link(&self, last: bool) -> &Link {
        if last { &self.ejection } else { &self.channel }
    }

    /// What the other classes do at an output.
    fn around(&self, last: bool, crossing: Crossing) -> Around {
        let link = self.link(last);
        let f = crossing.contending;
        let met = f / (1.0 - (1.0 - f) * link.load).max(0.05);
        match (&link.others, self.own) {
            (Others::Above(above), _) => above.around(self.grid, (f, met)),
            (Others::Sharing(sharing), own) => {
                let own = own.unwrap_or(0);
                sharing.around(self.grid, &link.classes, own, (f, met), self.interface.gap, self.unit)
            }
        }
    }

    /// Rate of the own messages that contend for an output.
    ///
    /// An input brings its messages one after another. A message in service is met if it is of another input (`f`),
    /// but a backlog behind it exists only because messages of two different inputs overlapped (`S_2`):
    ///
    /// ```text
    /// u = λ (M + 1) / (1 - Σ),   f_e = (1 - u) f + u S_2,   l = f_e λ / (1 - (1 - f_e) u)
    /// ```
    ///
    /// Our own approximation; in slots, for sums of Bernoulli arrivals, the mean wait is exactly
    /// `u (1 - p_j) / 2 + u² (1 - Σ p²) / 2 / (1 - u)`.
    fn contending_rate(&self, last: bool, crossing: Crossing) -> f64 {
        let Crossing { contending: f, different } = crossing;
        if f < 1e-9 {
            return 0.0;
        }
        let link = self.link(last);
        let u = (link.rate * (self.shape.message + self.shape.idle) / (1.0 - link.load).max(0.02)).min(0.98);
        let effective = (1.0 - u) * f + u * different;
        effective * link.rate / (1.0 - (1.0 - effective) * u)
    }

    /// Messages that can be ahead at the crossbar, one of each other input: `S_2 / (1 - S_2)`, since `1 / (1 - S_2)`
    /// is the number of inputs that count.
    fn ahead(crossing: Crossing) -> f64 {
        let different = crossing.different;
        if different < 1.0 - 1e-9 { (different / (1.0 - different)).max(1.0) } else { f64::INFINITY }
    }

    /// So many rounds at an output.
    fn meet(&self, last: bool, crossing: Crossing, around: &Around, arriving: &Arriving, rounds: usize) -> Result<Met, Overloaded> {
        let rate = self.contending_rate(last, crossing);
        let station = Station { grid: self.grid, shape: self.shape, around, rate, ahead: Self::ahead(crossing) };
        let mut waits = station.start();
        let rounds = if rate > 0.0 { rounds } else { 1 };
        let mut round = 1;
        loop {
            let met = station.round(arriving, &waits)?;
            if round >= rounds {
                return Ok(met);
            }
            waits = met.waits;
            round += 1;
        }
    }

    /// Gaps of so many cells on average, in the shape of those at the interface: `Kn_0^(G / E[G_0])`.
    fn exponent(&self, mean: f64) -> Transform {
        let whole = self.gaps[0].mean();
        let part = if whole > 1e-9 { mean / whole } else { 0.0 };
        self.interface.first.iter().map(|e| e * part).collect()
    }

    fn delay_at(&self, last: bool, crossing: Crossing, around: &Around, start: &Law, gaps: &Transform) -> Law {
        let rate = self.contending_rate(last, crossing);
        let station = Station { grid: self.grid, shape: self.shape, around, rate, ahead: f64::INFINITY };
        station.passage(start, gaps)
    }

    /// A router beyond the first, where gaps of a mean arrive.
    fn stop(&self, last: bool, crossing: Crossing, mean: f64, held: &Law) -> Result<Stop, Overloaded> {
        let around = self.around(last, crossing);
        let exponent = self.exponent(mean);
        let gaps = self.grid.law(self.grid.compound(&exponent, self.shape.message));
        let arriving = Arriving {
            gaps: [gaps.clone(), Law::zero()],
            held: [held.clone(), Law::zero()],
            first: 1.0,
            in_buffer: Law::zero(),
        };
        let met = self.meet(last, crossing, &around, &arriving, 4)?;
        let tail = self.delay_at(last, crossing, &around, &met.waits.link, &exponent).mean();
        let leaving = self.leaving(tail - met.waits.link.mean());
        Ok(Stop { delay: tail - gaps.mean(), met, around, gaps, leaving })
    }

    fn leaving(&self, gaps: f64) -> f64 {
        if self.gaps[0].mean() > 1e-9 { gaps.max(0.0) } else { 0.0 }
    }

    /// The first router.
    fn first_stop(&self, crossing: Crossing, arriving: &Arriving) -> Result<Stop, Overloaded> {
        let around = self.around(false, crossing);
        let met = self.meet(false, crossing, &around, arriving, 4)?;
        let link = &met.waits.link;
        let first = arriving.first;
        let at_once = self.delay_at(false, crossing, &around, link, &self.interface.first);
        let behind = self.grid.sum(&arriving.in_buffer, link);
        let behind = self.delay_at(false, crossing, &around, &behind, &self.interface.later);
        let delay = first * at_once.mean() + (1.0 - first) * behind.mean();
        let waited = (1.0 - first) * arriving.in_buffer.mean() + link.mean();
        let leaving = self.leaving(delay - waited);
        let gaps = Law::mixture(&[(first, &arriving.gaps[0]), (1.0 - first, &arriving.gaps[1])]);
        Ok(Stop { delay, met, around, gaps, leaving })
    }

    /// The interface and the first input channel, with the mean first output behind them.
    fn source(&self, resolution: &Resolution, held: &Law, report: &mut Detail) -> Result<(Met, Queued), Overloaded> {
        let crossing = self.paths.first();
        let around = self.around(false, crossing);
        let rate = self.contending_rate(false, crossing);
        let station = Station { grid: self.grid, shape: self.shape, around: &around, rate, ahead: Self::ahead(crossing) };
        let source = Source {
            grid: self.grid,
            shape: self.shape,
            rate: self.rate,
            bursts: self.class.bursts_in(self.unit),
            gaps: &self.gaps,
            gaps_rest: &self.gaps_rest,
            set_up: &self.interface.set_up,
            regain: &self.interface.regain,
            header_wait: self.interface.header_wait,
        };
        let mut arriving = self.arriving(1.0, Law::zero(), held);
        let mut waits = station.start();
        loop {
            let met = station.round(&arriving, &waits)?;
            let queued = source.round(&met, &arriving.in_buffer)?;
            let before = [arriving.in_buffer.mean(), waits.grant.mean(), waits.link.mean()];
            let after = [queued.in_buffer.mean(), met.waits.grant.mean(), met.waits.link.mean()];
            let change = before.iter().zip(after).map(|(b, a)| (b - a).abs()).fold(0.0, f64::max) * self.unit;
            report.rounds += 1;
            report.changes.push(change / (self.class.message + 1.0));
            let last = change <= resolution.tolerance * (self.class.message + 1.0);
            if last || report.rounds >= resolution.most_rounds {
                report.converged = last;
                return Ok((met, queued));
            }
            let half = |old: &Law, new: &Law| Law::mixture(&[(0.5, old), (0.5, new)]);
            arriving.first = 0.5 * (arriving.first + queued.first);
            arriving.in_buffer = half(&arriving.in_buffer, &queued.in_buffer);
            waits.grant = half(&waits.grant, &met.waits.grant);
            waits.link = half(&waits.link, &met.waits.link);
        }
    }

    fn arriving(&self, first: f64, in_buffer: Law, held: &Law) -> Arriving {
        Arriving { gaps: self.gaps.clone(), held: [held.clone(), held.clone()], first, in_buffer }
    }

    fn solve(&self, asked: &Asked, resolution: &Resolution) -> Result<Found, Overloaded> {
        let (n, unit) = (self.dimension, self.unit);
        let mut report = Detail::default();
        let held = Law::zero();
        let (_, queued) = self.source(resolution, &held, &mut report)?;
        let arriving = self.arriving(queued.first, queued.in_buffer.clone(), &held);
        // router by router
        let mut stops: Vec<Vec<Stop>> = Vec::new();
        for hops in 1..=n {
            let mut path = vec![self.first_stop(self.paths.crossing(hops, 1), &arriving)?];
            for k in 2..=hops + 1 {
                let mean = path[path.len() - 1].leaving;
                path.push(self.stop(k > hops, self.paths.crossing(hops, k), mean, &held)?);
            }
            stops.push(path);
        }
        let in_channel = self.in_channel(&stops)?;
        // P(x > 0) beyond the first router
        let mut positive = 0.0;
        for (path, hops) in stops.iter().zip(1..) {
            let share = self.paths.share(hops) / self.paths.mean_hops();
            positive += share * path[1..].iter().map(|stop| stop.met.blocked.positive()).sum::<f64>();
        }
        let lone = |hops: u32| asked.stages * (1.0 + f64::from(hops)) - 1.0 + self.class.message;
        let residence = (1.0 - queued.first) * queued.in_buffer.mean();
        let (mut transfer, mut input, mut arbitration, mut output, mut latency) = (0.0, 0.0, 0.0, 0.0, 0.0);
        let mut delays = Vec::new();
        for (path, hops) in stops.iter().zip(1..) {
            let share = self.paths.share(hops);
            let behind = |k: u32| if k < 2 { 0.0 } else { in_channel_of(&self.paths, &in_channel, hops, k, n) };
            let waits: f64 = (2..=hops + 1).map(behind).sum();
            let granted: f64 = path.iter().map(|stop| stop.met.granted.mean()).sum();
            let link: f64 = path.iter().map(|stop| stop.met.waits.link.mean()).sum();
            let by_means: f64 = path.iter().map(|stop| stop.delay).sum::<f64>() + waits;
            let law = self.along(path, &queued, &behind, positive, by_means);
            transfer += share * lone(hops);
            input += share * (residence + waits) * unit;
            arbitration += share * granted * unit;
            output += share * (link - granted).max(0.0) * unit;
            latency += share * (lone(hops) + law.mean() * unit);
            delays.push(Delays { hops: Some(hops), share, lone: lone(hops), law });
        }
        Ok(Found {
            transfer,
            input,
            arbitration,
            output,
            gaps: latency - transfer - input - arbitration - output,
            waiting: 1.0 + queued.waiting * unit,
            source_load: queued.load,
            rate: self.class.rate,
            delays,
            unit,
            detail: report,
        })
    }

    /// Law of the tail's delay along a path.
    fn along(&self, path: &[Stop], queued: &Queued, behind: &dyn Fn(u32) -> f64, positive: f64, by_means: f64) -> Law {
        let env = |k: &str, d: f64| std::env::var(k).ok().and_then(|v| v.parse().ok()).unwrap_or(d);
        let side = env("SIDE", 96.0) as usize;
        let shape = self.shape;
        let mut step = env("STEP", 0.0);
        if step == 0.0 {
            step = (by_means * 8.0 / side as f64).max(shape.header / 2.0).max(1.0);
        }
        let mut joint = TailAndHeader::new(side, step, queued.first, &queued.in_buffer, &self.gaps);
        let blocks = self.channel.rate * (shape.message + shape.header) * positive;
        for (at, (stop, k)) in path.iter().zip(1..).enumerate() {
            let wait = behind(k);
            let in_channel = if wait > 1e-9 {
                let share = blocks.max(wait / (shape.buffer + shape.message)).min(1.0);
                exponential(wait / share, side as f64 * step).sometimes(share)
            } else {
                Law::zero()
            };
            let Around { set_up, left_behind, fresh, in_step, lagging, .. } = &stop.around;
            let waited = stop.met.own.mean() + wait + set_up.mean();
            let late = waited.min(shape.message);
            let interrupted = self.grid.law(product(
                &self.grid.compound(in_step, shape.message - late),
                &self.grid.compound(lagging, late),
            ));
            joint.cross(&Crossed {
                own: &stop.met.own,
                in_channel: &in_channel,
                found: [set_up, left_behind],
                fresh: (at + 1 < path.len()).then(|| &fresh[fresh.len() / 2]),
                interrupted: &interrupted,
                header: self.header,
                hidden: self.hidden(),
                closed: self.closed(k),
            });
        }
        joint.tail()
    }

    /// `A`: cycles of a gap that a router hides. A buffer as short as the header's longer way and the credit loop
    /// carries a full stream but cannot catch up.
    fn hidden(&self) -> f64 {
        let Shape { header, credit, buffer, .. } = self.shape;
        if buffer * self.unit >= (header + credit) * self.unit - 1e-9 { header } else { 0.0 }
    }

    /// `φ_k`: share of a gap that a wait of the header at router `k` can close.
    fn closed(&self, k: u32) -> f64 {
        let Shape { message, buffer, .. } = self.shape;
        if self.shape.is_short() { (buffer * (2.0 * f64::from(k) - 1.0) / message).min(1.0) } else { 1.0 }
    }

    /// `D_s`: mean wait of a header behind a predecessor in the input channel of dimension `s` \[cells\].
    ///
    /// The predecessor in general wants another output; what holds it up beyond what the link upstream had put
    /// between the two already is waited for:
    ///
    /// ```text
    /// D_s = λ_c E[B²] / 2 / (1 - λ_c E[B]) - the same with B_up
    /// B = M + H + max(x, (G - A)+),   B_up = M + G + S_2 + (1 - S_2) H
    /// ```
    ///
    /// as far as the rest of the predecessor fits into the buffer: `D_s (1 - exp(-(b - 3) / m))`.
    fn in_channel(&self, stops: &[Vec<Stop>]) -> Result<Vec<f64>, Overloaded> {
        let (n, shape, rate) = (self.dimension, self.shape, self.channel.rate);
        let mut mean = 0.0;
        for (path, hops) in stops.iter().zip(1..) {
            let share = self.paths.share(hops) / self.paths.mean_hops();
            mean += share * path[1..].iter().map(|stop| stop.gaps.mean()).sum::<f64>();
        }
        let held = Law::zero();
        let excess = |law: &Law| {
            let load = rate * law.mean();
            (load < 0.98).then(|| rate * law.second_moment() / 2.0 / (1.0 - load))
        };
        let mut memo: Vec<((bool, i64, i64), Law, Law)> = Vec::new();
        let mut waits = Vec::new();
        for s in 0..n {
            let mut parts = Vec::new();
            for (share, last, crossing) in self.paths.onward(s) {
                let key = (last, (crossing.contending * 50.0).round() as i64, (crossing.different * 50.0).round() as i64);
                let known = memo.iter().position(|(k, ..)| *k == key);
                let at = match known {
                    Some(at) => at,
                    None => {
                        let stop = self.stop(last, crossing, mean, &held)?;
                        memo.push((key, stop.met.blocked, stop.gaps));
                        memo.len() - 1
                    }
                };
                parts.push((share, memo[at].1.max(&memo[at].2.less(self.hidden()))));
            }
            let parts: Vec<(f64, &Law)> = parts.iter().map(|(share, law)| (*share, law)).collect();
            let service = Law::mixture(&parts).plus(shape.message + shape.header);
            let different = self.paths.channel(None, s).different;
            let between = different * shape.idle + (1.0 - different) * shape.header;
            let gaps = self.grid.law(self.grid.compound(&self.exponent(mean), shape.message));
            let upstream = gaps.plus(shape.message + between);
            let wait = match (excess(&service), excess(&upstream)) {
                (Some(here), Some(there)) => (here - there).max(0.0),
                _ => 1e3 / self.unit,
            };
            let each = wait / (rate * service.mean()).min(1.0);
            let room = (shape.buffer - shape.credit).max(0.0);
            waits.push(if each > 0.0 { wait * (1.0 - (-room / each).exp()) } else { 0.0 });
        }
        Ok(waits)
    }
}

/// Mean wait in the input channel of router `k >= 2` on the paths of `hops`.
fn in_channel_of(paths: &EcubePaths, waits: &[f64], hops: u32, k: u32, n: u32) -> f64 {
    (0..n).zip(waits).map(|(s, wait)| paths.in_dimension(hops, k - 1, s) * wait).sum()
}

/// Flits of other real-time classes that go before a header that finds them, on average.
fn passed(classes: &[Class], own: usize) -> f64 {
    let (mut flits, mut load) = (0.0, 0.0);
    for (d, class) in classes.iter().enumerate() {
        if d != own {
            let ahead = (1.0 + classes[own].vtick - class.vtick).floor().clamp(0.0, 16.0);
            flits += class.load() * ahead;
            load += class.load();
        }
    }
    if load > 0.0 { (flits / load).round() } else { 0.0 }
}

/// Exponential law of a mean, cut at `longest` \[cells\].
fn exponential(mean: f64, longest: f64) -> Law {
    let cells = (longest.min(20.0 * mean).ceil() as usize).max(2);
    let beyond = |x: f64| (-x.max(0.0) / mean).exp();
    let weight = |x: usize| {
        let x = x as f64;
        beyond(x - 0.5) - if x as usize + 1 == cells { 0.0 } else { beyond(x + 0.5) }
    };
    Law::of((0..cells).map(weight).collect())
}
