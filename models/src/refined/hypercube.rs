//! The n-cube with dimension-order routing: every class on its own, with what the others do to it.
//!
//! A message passes the queues of a single router at each output of its path. What differs from one:
//!
//! - Channels carry `ρ` messages per message generated; clocks tick with what is generated.
//! - The own input has put its share of an output's traffic in sequence ([`EcubePaths`]): who comes alone does not meet
//!   it ([`OneClass::contended`]), nor does it find others of it, `f' = f / (1 - (1 - f) Σ)`.
//! - Outputs that are alike are solved once ([`Stations`]), and paths are mixtures over outputs, so that no work
//!   grows with the `2^n` nodes; for means alone more of them count as alike.
//! - Headers wait behind others in the input channels of all routers ([`OneClass::in_channel`]).
//! - Gaps inside messages close and open on the way; header and tail are followed together ([`TailAndHeader`]).
//! - Messages longer than the buffers are held up by links several routers on ([`Chain`]).
//!
//! For a class the first input channel and the interface are iterated with the mean first output, as in a single
//! router; what follows depends on it, but not the other way round, unless messages are longer than the buffers.
//! Routers are taken to be independent of each other but for who follows whom (our own approximation, as are all formulas
//! here that name no source).

mod along_path;
mod input_channel;

use std::rc::Rc;

use super::between::Between;
use super::chained_blocking::{Chain, Held, Kind};
use super::ecube_paths::{Crossing, EcubePaths, Output};
use super::grid::{Grid, product};
use super::higher_classes::Above;
use super::interface::{GapsInside, Interface};
use super::iteration::{Iteration, Settled, State};
use super::law::Law;
use super::link_sharing::LinkSharing;
use super::solution::{Delays, Detail, Found, Outcome, Warm, on_wider_lattices};
use super::source::Source;
use super::station::{Around, Arriving, Met, Overloaded, Place, Shape, Station as Queues, Waits};
use super::{Asked, Class, Resolution};
use along_path::{Path, Prepared};
use input_channel::InChannel;

/// Rounds over a path in which messages longer than the buffers hold each other up.
const CHAINED: u32 = 4;

/// Probability of the last eighth of the lattice up to which it is wide enough for means.
const BEYOND: f64 = 2e-4;

/// All classes of a hypercube.
pub(super) fn solve(
    asked: &Asked,
    dimension: u32,
    resolution: &Resolution,
    wanted: &[usize],
    warm: &dyn Fn(usize) -> Option<Warm>,
) -> Vec<Result<Found, Overloaded>> {
    let real_time: Vec<Class> = asked.real_time().collect();
    // what one lattice leaves out is left out at every output of a path
    let resolution = &Resolution { beyond: resolution.beyond.min(BEYOND), ..*resolution };
    let solve = |index: usize| {
        let mut known: Option<(f64, Option<Rc<Chained>>)> = None;
        on_wider_lattices(resolution, warm(index).as_ref(), |resolution, start| {
            let grid = Grid::down_to(resolution.cells, resolution.nothing);
            // what does not depend on the number of cells
            let chains = match &known {
                Some((unit, chains)) if *unit == resolution.unit => chains.clone(),
                _ => {
                    let chains = asked.position_in_real_time(index).map(|own| {
                        Rc::new(Chained::new(asked, &real_time, own, EcubePaths::new(dimension), resolution))
                    });
                    known = Some((resolution.unit, chains.clone()));
                    chains
                }
            };
            let class = OneClass::new(asked, dimension, index, &grid, chains.as_deref(), resolution)?;
            class.solve(asked, resolution, start)
        })
    };
    wanted.iter().copied().map(solve).collect()
}

/// What the other real-time classes do to one: on channels, on ejection links and at the interface.
struct Chained {
    channel: LinkSharing,
    ejection: LinkSharing,
    interface: GapsInside,
}

impl Chained {
    fn new(
        asked: &Asked,
        real_time: &[Class],
        own: usize,
        paths: EcubePaths,
        resolution: &Resolution,
    ) -> Self {
        let (unit, steps) = (resolution.unit, resolution.steps);
        let sharing = |share: f64| {
            let classes: Vec<Class> = real_time.iter().map(|class| class.thinned(share)).collect();
            LinkSharing::new(&classes, own, asked.clocked, unit, steps)
        };
        Self {
            channel: sharing(paths.channel_rate()),
            ejection: sharing(1.0),
            interface: GapsInside::new(real_time, own, unit, steps),
        }
    }
}

/// Whose messages go ahead on a link.
enum Others<'c> {
    Sharing(&'c LinkSharing),
    Above(Above),
}

/// A kind of link, as the class sees it: network channels are all alike, and so are ejection links.
struct Link<'c> {
    classes: Vec<Class>,
    others: Others<'c>,
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
    /// `P` \[cells\]
    stages: f64,
    interface: Interface,
    channel: Link<'g>,
    ejection: Link<'g>,
    /// Gaps of whole messages, and over the flits that the buffer does not hold.
    gaps: [Law; 2],
    gaps_rest: [Law; 2],
    /// Gaps as of Poisson sources, where bursts above make others of them.
    work: Option<[Law; 2]>,
    /// Share of the time in which no other class is in a burst.
    quiet: f64,
    /// `e`: found work that the header waits for \[cells\].
    header: f64,
    /// Whether laws are wanted, or means alone.
    laws: bool,
}

/// A kind of output with its queues.
struct Station {
    met: Met,
    around: Around,
    /// Wait behind the own class only: as messages of other inputs come, and directly behind one of the own input.
    own: [Law; 2],
    /// `I`: interruptions of a message by others.
    interrupted: Law,
}

/// Outputs that are alike: first ones, later channels, and ejection links, by rounded shares.
#[derive(Clone, Copy, PartialEq)]
struct Like {
    first: bool,
    last: bool,
    contending: f64,
    different: f64,
    others: f64,
}

impl Like {
    /// Steps of the rounding: most shares in a cube are whole numbers of them.
    const PARTS: [f64; 2] = [16.0, 32.0];

    fn new(paths: EcubePaths, output: Output) -> Self {
        let Crossing { contending, different, others } = paths.crossing(output);
        let fine = if paths.dimension() > 4 { 1.0 } else { 4.0 };
        let rounded = |share: f64, parts: f64| (share * parts * fine).round() / fine;
        Self {
            first: output.from.is_none(),
            last: output.to.is_none(),
            contending: rounded(contending, Self::PARTS[0]),
            different: rounded(different, Self::PARTS[1]),
            // hardly ever are more than three of them there
            others: others.min(3.0),
        }
    }

    /// For means alone: first ones where nobody contends and where somebody does, later channels, and ejection links at
    /// which more than about one half of the traffic contends, or less.
    fn coarsely(self) -> Self {
        let f = self.crossing().contending;
        let contending = f64::from(u8::from(f > 0.3) + u8::from(self.last && f > 0.6));
        Self { contending, different: 0.0, others: 0.0, ..self }
    }

    fn crossing(self) -> Crossing {
        let [contending, different] = Self::PARTS;
        Crossing {
            contending: self.contending / contending,
            different: self.different / different,
            others: self.others,
        }
    }
}

/// What a class meets of itself at an output.
struct Contended {
    /// `v`
    load: f64,
    /// `C` \[cells\]
    completion: f64,
    /// `w`: mean wait in messages.
    wait: f64,
    /// `(v_d + I - G)+`
    slower: Law,
}

/// All stations of a class.
struct Stations {
    dimension: u32,
    known: Vec<(Like, Station)>,
    /// Which of them an output is, by the channel it is reached from and its own.
    places: Vec<usize>,
}

impl Stations {
    fn new(dimension: u32) -> Self {
        let channels = dimension as usize + 1;
        Self { dimension, known: Vec::new(), places: vec![0; channels * channels] }
    }

    fn index(&self, Output { from, to }: Output) -> usize {
        let channel = |dimension: Option<u32>| dimension.unwrap_or(self.dimension) as usize;
        channel(from) * (self.dimension as usize + 1) + channel(to)
    }

    fn place(&self, output: Output) -> usize {
        self.places[self.index(output)]
    }

    /// How often each of the stations is met on a way over these outputs.
    fn shares(&self, outputs: &[(f64, Output)]) -> Vec<(f64, usize)> {
        let mut shares = vec![0.0; self.known.len()];
        for (share, output) in outputs {
            shares[self.place(*output)] += share;
        }
        shares.into_iter().zip(0..).filter(|(share, _)| *share > 0.0).collect()
    }

    /// A mean over stations that are met so often.
    fn mean(&self, shares: &[(f64, usize)], what: impl Fn(&Station) -> f64) -> f64 {
        shares.iter().map(|(share, at)| share * what(&self.known[*at].1)).sum()
    }
}

impl<'g> OneClass<'g> {
    fn new(
        asked: &Asked,
        dimension: u32,
        index: usize,
        grid: &'g Grid,
        chains: Option<&'g Chained>,
        resolution: &Resolution,
    ) -> Result<Self, Overloaded> {
        let unit = resolution.unit;
        let paths = EcubePaths::new(dimension);
        let class = asked.classes[index];
        let shape = Shape::of(asked, &class, unit);
        let own = asked.position_in_real_time(index);
        let real_time: Vec<Class> = asked.real_time().collect();
        let link = |share: f64, sharing: Option<&'g LinkSharing>| {
            let classes: Vec<Class> = real_time.iter().map(|class| class.thinned(share)).collect();
            let load: f64 = classes.iter().map(Class::load).sum();
            let others = match sharing {
                Some(sharing) => Others::Sharing(sharing),
                None => Others::Above(
                    Above::new(grid, &classes, unit).ok_or(Overloaded { load, place: Place::Ejection })?,
                ),
            };
            let load = own.map_or(load, |own| load - classes[own].load()).max(0.0);
            Ok(Link { classes, others, rate: class.rate * unit * share, load })
        };
        let channel = link(paths.channel_rate(), chains.map(|chains| &chains.channel))?;
        let ejection = link(1.0, chains.map(|chains| &chains.ejection))?;
        let interface = match (&ejection.others, chains.zip(own)) {
            (Others::Above(above), _) => above.interface(grid, &real_time, &class, unit),
            (_, Some((chains, own))) => Interface::new(grid, &chains.interface, &real_time, own, unit),
            (_, None) => unreachable!("a class without others above is real-time"),
        };
        let gaps = |flits: f64| {
            let law =
                |gaps: &Between| if flits > 0.0 { grid.law(gaps.over(grid, flits)) } else { Law::zero() };
            [law(&interface.first), law(&interface.later)]
        };
        let (whole, rest) = (gaps(shape.message), gaps(shape.rest()));
        let work = interface.work_inside(grid, shape);
        let header = own.map_or(f64::INFINITY, |own| passed(&real_time, own) / unit);
        let rate = class.rate * unit;
        Ok(Self {
            grid,
            unit,
            paths,
            dimension,
            class,
            own,
            shape,
            rate,
            stages: asked.stages / unit,
            interface,
            channel,
            ejection,
            gaps: whole,
            gaps_rest: rest,
            work,
            quiet: asked.quiet_beside(index),
            header,
            laws: resolution.laws,
        })
    }

    fn link(&self, last: bool) -> &Link<'g> {
        if last { &self.ejection } else { &self.channel }
    }

    /// What the other classes do at an output.
    fn around(&self, last: bool, crossing: Crossing) -> Around {
        let link = self.link(last);
        let f = crossing.contending;
        let met = f / (1.0 - (1.0 - f) * link.load).max(0.05);
        let mut around = match (&link.others, self.own) {
            (Others::Above(above), _) => above.around(self.grid, (f, met), link.rate),
            (Others::Sharing(sharing), own) => {
                let own = own.unwrap_or(0);
                sharing.around(self.grid, &link.classes, own, (f, met), self.interface.gap, self.unit)
            }
        };
        // what the own input's other messages do on the link is in the interruptions already
        around.contending = 1.0;
        around
    }

    /// Who shares an output with whom, on average over all messages at their first output, at a later channel or at the
    /// ejection link.
    fn mean_crossing(&self, first: bool, last: bool) -> Crossing {
        let paths = self.paths;
        paths.mean(match (first, last) {
            (true, _) => paths.first(),
            (_, true) => paths.last(),
            _ => paths.middle(),
        })
    }

    /// The outputs that are taken to be alike.
    fn like(&self, output: Output) -> Like {
        let like = Like::new(self.paths, output);
        if self.laws { like } else { like.coarsely() }
    }

    /// Who shares an output with whom, on average over all messages at outputs that are alike.
    fn mean_of(&self, like: Like) -> Crossing {
        let outputs = match (like.first, like.last) {
            (true, _) => self.paths.first(),
            (_, true) => self.paths.last(),
            _ => self.paths.middle(),
        };
        let alike: Vec<(f64, Output)> =
            outputs.into_iter().filter(|(_, output)| self.like(*output) == like).collect();
        let all: f64 = alike.iter().map(|(share, _)| share).sum();
        self.paths.mean(alike.into_iter().map(|(share, output)| (share / all, output)))
    }

    /// What a class meets of itself at an output that it loads by `u = λ (M + 1) / (1 - Σ)`, `v = f u` of it over other
    /// inputs than the own.
    ///
    /// An input brings its messages one after another. Who comes at any moment meets the other inputs only: a message
    /// being sent, `v / 2`, or a backlog of them, `v² / 2`, which is worked off at `1 - u`, since more of all inputs
    /// come. The share `(1 - f) u` follows directly behind a message of the own input for the same output. It meets all
    /// that came while that one waited and was sent, none of which has been begun, and what others delayed that one
    /// by on the link beyond the gaps in which it had come, `(v_d + I - G)+`, as far as it left the crossbar, `b` (our own
    /// approximation; M/D/1 for `f = 1`):
    ///
    /// ```text
    /// w_0 = v / 2 + v² / 2 / (1 - u),   w_1 = v (1 + w) + E[(v_d + I - G)+] / C,   C = (M + 1) / (1 - Σ)
    /// w = (1 - (1 - f) u) w_0 + (1 - f) u w_1
    /// ```
    fn contended(&self, last: bool, crossing: Crossing, around: &Around) -> Contended {
        let (grid, f) = (self.grid, crossing.contending);
        let link = self.link(last);
        let completion = (self.shape.message + self.shape.idle) / (1.0 - link.load).max(0.02);
        let u = (link.rate * completion).min(0.98);
        let (load, follows) = (f * u, (1.0 - f) * u);
        let alone = load / 2.0 + load * load / 2.0 / (1.0 - u);
        let delayed = grid.sum(&around.set_up, &grid.law(around.in_step.over(grid, self.shape.message)));
        let slower = grid.excess(&delayed, &self.gaps[0]).min(&Law::constant(self.shape.buffer));
        let behind = load + slower.mean() / completion;
        let wait = ((1.0 - follows) * alone + follows * behind) / (1.0 - follows * load);
        Contended { load, completion, wait, slower }
    }

    /// Rate of the own messages that contend for an output, that of a queue M/D/1 of the mean wait:
    /// `l C = 2 w / (1 + 2 w)`; not more than there are.
    fn contending_rate(&self, last: bool, crossing: Crossing, contended: &Contended) -> f64 {
        if crossing.contending < 1e-9 {
            return 0.0;
        }
        let Contended { completion, wait, .. } = contended;
        (2.0 * wait / (1.0 + 2.0 * wait) / completion).min(self.link(last).rate)
    }

    /// Waits behind the own class: of those that come at any moment, `P(V > 0) = v`, and directly behind a message of
    /// the own input for the same output: a Poisson number of whole messages, `v (1 + w)` on average, and
    /// `(v_d + I - G)+`.
    fn own_waits(&self, crossing: Crossing, around: &Around, contended: &Contended, met: &Met) -> [Law; 2] {
        let (grid, m) = (self.grid, self.shape.message);
        let Contended { load, wait, slower, .. } = contended;
        let positive = met.own.positive();
        if crossing.contending < 1e-9 || positive < 1e-12 {
            return [met.own.clone(), Law::zero()];
        }
        let whole = product(&grid.delay(m + self.shape.idle), &around.lagging.over(grid, m));
        let exponent: Vec<_> = whole.iter().map(|z| z - 1.0).collect();
        let came = grid.law(grid.compound(&exponent, load * (1.0 + wait)));
        // of a queue that is loaded by l C
        let alone = load * (1.0 + 2.0 * wait) / (2.0 * wait);
        [met.own.sometimes(alone.min(1.0)), grid.sum(&came, slower)]
    }

    fn queues<'s>(
        &'s self,
        last: bool,
        crossing: Crossing,
        around: &'s Around,
        contended: &Contended,
        held: &'s Held,
    ) -> Queues<'s> {
        let rate = self.contending_rate(last, crossing, contended);
        let held_up = if last { &held.on_ejection } else { &held.on_channel };
        // at the crossbar no more than one message of each other input can be ahead
        let ahead = crossing.others.max(1.0);
        let queues = Queues::new(self.grid, self.shape, around, rate, ahead, held_up);
        if last && self.work.is_some() { queues.with_free_link() } else { queues }
    }

    /// The queues at an output.
    fn meet(&self, queues: &Queues<'_>, arriving: &Arriving, mut waits: Waits) -> Result<Met, Overloaded> {
        const ROUNDS: usize = 6;
        let tolerance = if self.laws { 1e-3 } else { 1e-2 };
        let mut round = 1;
        loop {
            let met = queues.round(arriving, &waits)?;
            let change = (met.waits.link.mean() - waits.link.mean()).abs();
            if queues.rate <= 0.0 || round >= ROUNDS || change < tolerance * (1.0 + met.waits.link.mean()) {
                return Ok(met);
            }
            waits = met.waits;
            round += 1;
        }
    }

    /// Gaps of so many cells on average, in the shape of those at the interface.
    fn gaps_of_mean(&self, mean: f64) -> Between {
        let whole = self.gaps[0].mean();
        let part = if whole > 1e-9 { mean / whole } else { 0.0 };
        self.interface.first.part(part)
    }

    /// What arrives at the first router.
    fn entering(&self, first: f64, in_buffer: Law) -> Arriving {
        let b = self.shape.buffer;
        let held = [0, 1].map(|i| self.gaps_rest[i].less(b));
        Arriving { gaps: self.gaps.clone(), held, first, in_buffer, bursty: self.work.is_some() }
    }

    /// What arrives at a later router, with gaps of a mean.
    fn arriving(&self, mean: f64) -> Arriving {
        let between = self.gaps_of_mean(mean);
        let gaps = |flits: f64| {
            if flits > 0.0 { self.grid.law(between.over(self.grid, flits)) } else { Law::zero() }
        };
        let held = gaps(self.shape.rest()).less(self.shape.buffer);
        Arriving {
            gaps: [gaps(self.shape.message), Law::zero()],
            held: [held, Law::zero()],
            first: 1.0,
            in_buffer: Law::zero(),
            bursty: self.work.is_some(),
        }
    }

    /// Interface and first input channel, with the mean first output behind them.
    fn source(
        &self,
        around: &Around,
        held: &Held,
        resolution: &Resolution,
        start: Option<&State>,
        report: &mut Detail,
    ) -> Result<Settled, Overloaded> {
        let crossing = self.mean_crossing(true, false);
        let contended = self.contended(false, crossing, around);
        let queues = self.queues(false, crossing, around, &contended, held);
        let coming = self.grid.law(self.interface.coming.over(self.grid, self.shape.rest()));
        let source = Source {
            grid: self.grid,
            shape: self.shape,
            rate: self.rate,
            bursts: self.class.bursts_in(self.unit),
            gaps: &self.gaps,
            coming: &coming,
            work: self.work.as_ref(),
            quiet: self.quiet,
            regain: &self.interface.regain,
            set_up: &self.interface.set_up,
            header_wait: self.interface.header_wait,
        };
        let entering = self.entering(1.0, Law::zero());
        let iteration = Iteration {
            station: &queues,
            source: &source,
            chained: held.first.as_ref(),
            gaps: &entering.gaps,
            held: &entering.held,
            message: (self.class.message + 1.0) / self.unit,
        };
        iteration.settle(start, resolution, report).map_err(|over| over.at(false))
    }

    /// `E[G]`: mean gap inside messages on their way into the second and later routers.
    ///
    /// A router lets the tail lag behind by interruptions, and hides what its header waits for. A typical router in
    /// the midst of the way comes with it, if it was looked at.
    fn gaps_on_the_way(
        &self,
        around: &Around,
        met: &Met,
        entering: &Arriving,
        held: &Held,
    ) -> Result<(f64, Option<(Around, Met)>), Overloaded> {
        if self.gaps[0].mean() < 1e-9 {
            return Ok((0.0, None));
        }
        let link = &met.waits.link;
        let first = entering.first;
        let crossing = self.mean_crossing(true, false);
        let contended = self.contended(false, crossing, around);
        let queues = self.queues(false, crossing, around, &contended, held);
        let passage = |queues: &Queues<'_>, in_buffer: &Law, met: &Met, gaps: &Between| {
            if self.laws {
                queues.passage(in_buffer, met, gaps).mean()
            } else {
                queues.mean_passage(in_buffer, met, gaps)
            }
        };
        let delay = first * passage(&queues, &Law::zero(), met, &self.interface.first)
            + (1.0 - first) * passage(&queues, &entering.in_buffer, met, &self.interface.later);
        let leaving = (delay - (1.0 - first) * entering.in_buffer.mean() - link.mean()).max(0.0);
        if self.dimension < 2 {
            return Ok((leaving, None));
        }
        let (around, met) = self.typical(false, leaving, held)?;
        let crossing = self.mean_crossing(false, false);
        let contended = self.contended(false, crossing, &around);
        let queues = self.queues(false, crossing, &around, &contended, held);
        let delay = passage(&queues, &Law::zero(), &met, &self.gaps_of_mean(leaving));
        let growth = delay - met.waits.link.mean() - leaving;
        // routers passed since the first: E[h (h - 1) / 2] / E[h]
        let passed: f64 = (1..=self.dimension)
            .map(|hops| self.paths.share(hops) * f64::from(hops) * f64::from(hops - 1) / 2.0)
            .sum();
        let gaps = (leaving + growth * passed / self.paths.mean_hops()).max(0.0);
        Ok((gaps, Some((around, met))))
    }

    /// Every kind of output on the paths. For means alone they are as the outputs that are alike are on average, and
    /// what is known of first outputs and of typical later ones is made use of.
    fn stations(
        &self,
        entering: &Arriving,
        gaps: f64,
        held: &Held,
        first: &Met,
        middle: Option<(Around, Met)>,
    ) -> Result<Stations, Overloaded> {
        let n = self.dimension;
        let arriving_later = self.arriving(gaps);
        let mut stations = Stations::new(n);
        let mut arounds: Vec<((bool, bool, f64), Around)> = Vec::new();
        let mut starts = [None, None];
        if !self.laws {
            starts[0] = Some(&first.waits);
            if let Some((around, met)) = &middle {
                starts[1] = Some(&met.waits);
                arounds.push(((false, false, 1.0), around.clone()));
            }
        }
        for output in self.paths.all_outputs() {
            let like = self.like(output);
            let (at, known) = (stations.index(output), &mut stations.known);
            let place = known.iter().position(|(known, _)| *known == like);
            stations.places[at] = place.unwrap_or(known.len());
            if place.is_some() {
                continue;
            }
            let crossing = if self.laws { like.crossing() } else { self.mean_of(like) };
            let key = (like.first && !self.laws, like.last, like.contending);
            let around = match arounds.iter().find(|(known, _)| *known == key) {
                Some((_, around)) => around.clone(),
                None => {
                    let around = self.around(like.last, crossing);
                    arounds.push((key, around.clone()));
                    around
                }
            };
            let arriving = if like.first { entering } else { &arriving_later };
            let contended = self.contended(like.last, crossing, &around);
            let queues = self.queues(like.last, crossing, &around, &contended, held);
            let before =
                known.iter().rfind(|(known, _)| (known.first, known.last) == (like.first, like.last));
            let known_of = if like.last { None } else { starts[usize::from(!like.first)] };
            let start = before.map(|(_, station)| &station.met.waits).or(known_of);
            let start = start.map_or_else(|| queues.start(), Waits::clone);
            let met = self.meet(&queues, arriving, start).map_err(|over| over.at(like.last))?;
            let own = self.own_waits(crossing, &around, &contended, &met);
            known.push((like, Station { met, around, own, interrupted: Law::zero() }));
        }
        Ok(stations)
    }

    /// A later output on average over all messages: the channels, or the ejection links; from what it is else.
    fn typical(&self, last: bool, gaps: f64, held: &Held) -> Result<(Around, Met), Overloaded> {
        let crossing = self.mean_crossing(false, last);
        let around = self.around(last, crossing);
        let contended = self.contended(last, crossing, &around);
        let queues = self.queues(last, crossing, &around, &contended, held);
        let arriving = self.arriving(gaps);
        let met = self.meet(&queues, &arriving, queues.start()).map_err(|over| over.at(last))?;
        Ok((around, met))
    }

    /// All that is held up by buffers that are full, from router to router.
    fn chained(&self, first: (&Around, &Met), gaps: f64, held: &Held) -> Result<Held, Overloaded> {
        let shares: Vec<f64> = (1..=self.dimension).map(|hops| self.paths.share(hops)).collect();
        let chain = Chain { grid: self.grid, shape: self.shape, stages: self.stages, shares: &shares };
        let last = self.typical(true, gaps, held)?;
        let first = Kind::new(&first.1.waits, &first.0.lagging);
        let last = Kind::new(&last.1.waits, &last.0.lagging);
        if self.dimension < 2 {
            return Ok(chain.held(&first, &first, &last));
        }
        let later = self.typical(false, gaps, held)?;
        Ok(chain.held(&first, &Kind::new(&later.1.waits, &later.0.lagging), &last))
    }

    fn solve(
        &self,
        asked: &Asked,
        resolution: &Resolution,
        start: Option<&State>,
    ) -> Result<Outcome, Overloaded> {
        let (n, unit) = (self.dimension, self.unit);
        let mut report = Detail::default();
        let around = self.around(false, self.mean_crossing(true, false));
        let mut held = Held::nobody();
        let mut round = 0;
        let mut warm = start.cloned();
        let (mut stations, queued, gaps, state) = loop {
            let Settled { met, queued, state, narrow } =
                self.source(&around, &held, resolution, warm.as_ref(), &mut report)?;
            if narrow {
                return Ok(Outcome::TooNarrow(state, report));
            }
            let entering = self.entering(queued.first, queued.in_buffer.clone());
            let (gaps, middle) = self.gaps_on_the_way(&around, &met, &entering, &held)?;
            let before = held.mean();
            round += 1;
            if self.shape.is_short() && round < CHAINED {
                held = self.chained((&around, &met), gaps, &held)?;
                if (held.mean() - before).abs() > 1e-2 * (self.shape.message + 1.0) {
                    warm = Some(state);
                    continue;
                }
            }
            let stations = self.stations(&entering, gaps, &held, &met, middle)?;
            break (stations, queued, gaps, state);
        };
        let in_channel = self.in_channel(&stations, gaps, &held);
        self.interrupt(&mut stations, &in_channel);
        let lone = |hops: u32| asked.stages * (1.0 + f64::from(hops)) - 1.0 + self.class.message;
        let residence = (1.0 - queued.first) * queued.in_buffer.mean();
        let paths: Vec<Path> = (1..=n).map(|hops| Path::new(self, &stations, &in_channel, hops)).collect();
        let typical = &paths[(self.paths.mean_hops().ceil() as usize).min(paths.len() - 1)];
        let expected =
            residence + typical.waits + typical.link + self.gaps[0].max(&self.gaps[1]).mean().max(gaps);
        let start = self.start(expected, &queued);
        let prepared = Prepared::new(&stations);
        let (mut transfer, mut input, mut arbitration, mut output) = (0.0, 0.0, 0.0, 0.0);
        for (path, hops) in paths.iter().zip(1..) {
            let share = self.paths.share(hops);
            transfer += share * lone(hops);
            input += share * (residence + path.waits) * unit;
            arbitration += share * path.granted * unit;
            output += share * (path.link - path.granted).max(0.0) * unit;
        }
        let (mut delays, mut parts) = (Vec::new(), Vec::new());
        let mut latency = transfer;
        if self.laws {
            for (path, hops) in paths.iter().zip(1..) {
                let share = self.paths.share(hops);
                let law = self.along(path, &prepared, &in_channel, start.clone());
                latency += share * law.mean() * unit;
                delays.push(Delays { hops: Some(hops), share, lone: lone(hops), law });
            }
        } else {
            let hops = (self.paths.mean_hops().floor() as u32 + 1).min(n);
            let path = Path::mean(self, &stations, &in_channel, hops);
            latency += self.mean_along(&path, &prepared, &in_channel, start) * unit;
            parts.extend(self.gaps.clone());
            for (_, Station { met, .. }) in stations.known {
                parts.extend([met.waits.link, met.blocked]);
            }
        }
        Ok(Outcome::Found(Found {
            transfer,
            input,
            arbitration,
            output,
            gaps: latency - transfer - input - arbitration - output,
            waiting: 1.0 + queued.waiting * unit + asked.longer_wait(&self.class, queued.load),
            source_load: queued.load,
            rate: self.class.rate,
            delays,
            parts,
            unit,
            detail: report,
            warm: Warm { state, unit, cells: resolution.cells },
        }))
    }

    /// `I = K_f^(M - m) K^m`: others interrupt the `m` flits that lag at full rate, the rest as far as they come over
    /// other inputs.
    fn interrupt(&self, stations: &mut Stations, in_channel: &[InChannel]) {
        let wait =
            in_channel.iter().map(|channel| channel.mean).sum::<f64>() / in_channel.len().max(1) as f64;
        for (like, station) in &mut stations.known {
            let Around { set_up, in_step, lagging, .. } = &station.around;
            let wait = if like.first { 0.0 } else { wait };
            let late = (station.met.own.mean() + wait + set_up.mean()).min(self.shape.message);
            station.interrupted = self.grid.law(product(
                &in_step.over(self.grid, self.shape.message - late),
                &lagging.over(self.grid, late),
            ));
        }
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
}

impl Overloaded {
    /// Says which kind of link it is.
    fn at(self, last: bool) -> Self {
        let place = match (self.place, last) {
            (Place::Source, _) => Place::Source,
            (_, true) => Place::Ejection,
            (_, false) => Place::Channel,
        };
        Self { place, ..self }
    }
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

#[cfg(test)]
mod tests;
