//! Networks of several routers: every class on its own, with what the others do to it.
//!
//! A message passes the queues of a single router at each output of its path. What differs from one:
//!
//! - Channels carry `ρ` messages per message generated ([`Paths`]); clocks tick with what is generated.
//! - The own input has put its share of an output's traffic in sequence: a lone message does not meet
//!   it ([`OneClass::contended`]), nor does it find others of it, `f' = f / (1 - (1 - f) Σ)`.
//! - Outputs that are alike are solved once ([`Stations`]), and paths are mixtures over outputs, so that no work
//!   grows with the nodes; for means alone more of them count as alike.
//! - What others delay messages by on a link adds up along the train behind a crossbar's output
//!   ([`OneClass::link_waits`]).
//! - Headers wait behind others in the input channels of all routers ([`OneClass::in_channel`]), and before those that
//!   are full.
//! - Gaps inside messages close and open on the way; header and tail are followed together ([`TailAndHeader`]).
//! - Messages longer than the buffers are held up by links several routers on ([`Chain`]).
//!
//! For a class the first input channel and the interface are iterated with the mean first output, as in a single
//! router; what follows depends on it, but not the other way round, unless messages are longer than the buffers.
//! Routers are independent of each other, except for the order of messages (our own approximation, as are all
//! formulas here that name no source).

mod along_path;
mod blocking;
mod contention;
mod crowding;
mod gaps;
mod input_channel;
mod lanes;
mod links;
mod stations;

use std::rc::Rc;

use super::ablation::{Step, without};
use super::chained_blocking::Blocking;
use super::grid::Grid;
use super::higher_classes::HigherClasses;
use super::in_buffer::InBuffer;
use super::interface::Interface;
use super::iteration::{Detail, Endpoint, Iteration, OverOutputs, State};
use super::law::Law;
use super::paths::{Crossing, Outputs, Paths, Sender};
use super::solution::{Delays, Outcome, Parts, Solution, Start, Warm, on_wider_lattices};
use super::source::Source;
use super::station::{
    ArrivalGaps, LinkEnvironment, OutputDelays, Overload, Place, Shape, Station as Queues, Waits,
};
use super::tail_and_header::TailAndHeader;
use super::{Class, Problem, Resolution};
use along_path::{Path, StationDelays};
use blocking::over_outputs;
use contention::OutputContention;
use input_channel::ChannelWait;
use lanes::LinkKinds;
use links::{Interference, Link, Others, passed};
use stations::{Station, Stations};

/// Rounds over a path in which messages longer than the buffers hold each other up.
const CHAINED: u32 = 4;

/// The same where full channels hold each other up.
const BEHIND: u32 = 20;

/// Probability of the last eighth of the lattice up to which it is wide enough for means.
const BEYOND: f64 = 2e-4;

/// All classes of a network.
pub(super) fn solve(
    problem: &Problem,
    paths: &[Rc<Paths>],
    resolution: &Resolution,
    wanted: &[usize],
    warm: &dyn Fn(usize) -> Option<Warm>,
) -> Vec<Result<Solution, Overload>> {
    let real_time: Vec<Class> = problem.real_time().collect();
    // what one lattice leaves out is left out at every output of a path
    let resolution = &Resolution { beyond: resolution.beyond.min(BEYOND), ..*resolution };
    let solve = |index: usize| {
        let paths: &Paths = &paths[index];
        let kinds = LinkKinds::new(problem, paths, index);
        let mut known: Option<(f64, Option<Rc<Interference>>)> = None;
        on_wider_lattices(&resolution.reaching(problem, index), warm(index).as_ref(), |resolution, start| {
            let grid = Grid::down_to(resolution.cells, resolution.nothing);
            // what does not depend on the number of cells
            let chains = match &known {
                Some((unit, chains)) if *unit == resolution.unit => chains.clone(),
                _ => {
                    let chains = problem.position_in_real_time(index).map(|own| {
                        Rc::new(Interference::new(problem, &real_time, own, paths, &kinds, resolution))
                    });
                    known = Some((resolution.unit, chains.clone()));
                    chains
                }
            };
            let class = OneClass::new(problem, (paths, &kinds), index, &grid, chains.as_deref(), resolution)?;
            if !(resolution.laws || class.gaps.iter().all(|law| resolution.holds(law))) {
                return Ok(Outcome::TooNarrow(None, Detail::default()));
            }
            class.solve(problem, resolution, start)
        })
    };
    wanted.iter().copied().map(solve).collect()
}

/// The queues of a class on all its paths.
struct SettledPaths {
    stations: Stations,
    in_channel: Vec<ChannelWait>,
    entered: EntryDelays,
    /// Mean gap inside messages on their way into later routers \[cells\].
    gaps: f64,
    /// What holds up messages in routers ahead.
    held: Blocking,
}

/// A class and its environment.
struct OneClass<'g> {
    grid: &'g Grid,
    unit: f64,
    paths: &'g Paths,
    kinds: &'g LinkKinds,
    class: Class,
    /// Place among the real-time classes.
    own: Option<usize>,
    shape: Shape,
    /// `λ` \[messages/cell\]
    rate: f64,
    /// `P` \[cells\]
    stages: f64,
    interface: Interface,
    /// By kind.
    links: Vec<Link<'g>>,
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

/// The first router of senders that are alike.
struct Entrance<'p> {
    /// Their share of the senders.
    share: f64,
    outputs: &'p Outputs,
    environment: LinkEnvironment,
    /// What links further on hold a tail up for at least.
    blocked: Option<Law>,
    /// What its messages meet at outputs that differ, once that is known.
    over_outputs: Option<OverOutputs>,
    /// From where its iteration sets out.
    warm: Option<State>,
}

/// What all senders meet on entry.
struct EntryDelays {
    /// In the first input buffer, over all messages.
    in_buffer: InBuffer,
    /// By senders: share, wait in the queue \[cells\] and load of the source.
    queues: Vec<(f64, f64, f64)>,
    /// Mean time for which tails are blocked in the first router \[cells\].
    blocked: f64,
    /// Where the iteration of those ended that wait longest.
    state: State,
}

impl EntryDelays {
    fn of(entrances: &[Entrance<'_>], settled: &[Endpoint]) -> Self {
        let each = || entrances.iter().map(|entrance| entrance.share).zip(settled);
        let longest = settled.iter().max_by(|a, b| a.queued.waiting.total_cmp(&b.queued.waiting));
        Self {
            in_buffer: InBuffer::over(each().map(|(share, settled)| (share, &settled.queued.in_buffer))),
            queues: each().map(|(share, found)| (share, found.queued.waiting, found.queued.load)).collect(),
            blocked: each().map(|(share, settled)| share * settled.met.blocked.mean()).sum(),
            state: longest.unwrap_or(&settled[0]).state.clone(),
        }
    }
}

impl<'g> OneClass<'g> {
    fn new(
        problem: &Problem,
        (paths, kinds): (&'g Paths, &'g LinkKinds),
        index: usize,
        grid: &'g Grid,
        chains: Option<&'g Interference>,
        resolution: &Resolution,
    ) -> Result<Self, Overload> {
        let unit = resolution.unit;
        let class = problem.classes[index];
        let shape = Shape::of(problem, &class, unit);
        let own = problem.position_in_real_time(index);
        let real_time: Vec<Class> = problem.real_time().collect();
        let link = |kind: usize| {
            let sharing = chains.map(|chains| &chains.links[kind]);
            let classes = kinds.classes(kind, &real_time, own);
            if let Some(over) = kinds.over(kind, problem) {
                return Err(over);
            }
            let load: f64 = classes.iter().map(Class::load).sum();
            let others = match sharing {
                Some(sharing) => Others::Sharing(sharing),
                None => Others::HigherClasses(
                    HigherClasses::new(grid, &classes, unit)
                        .ok_or(Overload { load, place: Place::Ejection })?,
                ),
            };
            let of_own = |own: usize| classes[own].load();
            let load = own.map_or(load, |own| load - of_own(own)).max(0.0);
            let first: f64 = classes[..real_time.len()].iter().map(Class::load).sum();
            let first = own.map_or(first, |own| first - of_own(own)).max(0.0);
            Ok(Link { classes, others, load, first })
        };
        let links: Vec<Link<'g>> = (0..kinds.count()).map(link).collect::<Result<_, Overload>>()?;
        if let Some(over) = kinds.any_over(problem, paths) {
            return Err(over);
        }
        let interface = match (&links[kinds.interface()].others, chains.zip(own)) {
            (Others::HigherClasses(above), _) => above.interface(grid, &real_time, &class, unit),
            (_, Some((chains, own))) => {
                chains.interface(grid, &kinds.at_interface(&real_time, own), (own, kinds.interface()), unit)
            }
            (_, None) => unreachable!("a class without others above is real-time"),
        };
        let [whole, rest] = [shape.message, shape.rest()].map(|flits| interface.gaps_over(grid, flits));
        let work = interface.work_inside(grid, shape);
        let header = own.map_or(f64::INFINITY, |own| passed(&real_time, own) / unit);
        let rate = class.rate * unit;
        Ok(Self {
            grid,
            unit,
            paths,
            kinds,
            class,
            own,
            shape,
            rate,
            stages: problem.stages / unit,
            interface,
            links,
            gaps: whole,
            gaps_rest: rest,
            work,
            quiet: problem.quiet_beside(index),
            header,
            laws: resolution.laws,
        })
    }

    fn queues<'s>(
        &'s self,
        last: bool,
        crossing: Crossing,
        environment: &'s LinkEnvironment,
        contended: &'s OutputContention,
    ) -> Queues<'s> {
        let rate = self.contending_rate(contended);
        // at the crossbar no more than one message of each other input can be ahead
        let ahead = crossing.others.max(1.0);
        let queues = Queues::new(self.grid, self.shape, environment, rate, ahead, &contended.held_up);
        if last && self.work.is_some() { queues.with_free_link() } else { queues }
    }

    /// The queues at an output.
    fn meet(
        &self,
        queues: &Queues<'_>,
        arriving: &ArrivalGaps,
        mut waits: Waits,
    ) -> Result<OutputDelays, Overload> {
        const ROUNDS: usize = 6;
        let tolerance = if self.laws { 1e-3 } else { 1e-2 };
        let first = queues.first_services(arriving);
        let mut round = 1;
        loop {
            let found = queues.queues(arriving, &first, &waits)?;
            let mean = found.waits.link.mean();
            let change = (mean - waits.link.mean()).abs();
            if queues.rate <= 0.0 || round >= ROUNDS || change < tolerance * (1.0 + mean) {
                return Ok(queues.back_pressure(found));
            }
            waits = found.waits;
            round += 1;
        }
    }

    /// Interface and first input channel of some senders, with their mean first output behind them.
    fn source(
        &self,
        entrance: &Entrance<'_>,
        held: &Blocking,
        resolution: &Resolution,
        report: &mut Detail,
    ) -> Result<Endpoint, Overload> {
        let Entrance { outputs, environment, .. } = entrance;
        let crossing = self.paths.mean(outputs);
        let contended = self.contended(outputs, environment, self.gaps[0].mean(), held);
        let queues = self.queues(false, crossing, environment, &contended);
        let coming = self.grid.law(self.interface.coming.over(self.grid, self.shape.rest()));
        let source = Source {
            grid: self.grid,
            shape: self.shape,
            rate: self.rate * self.kinds.in_own_lane(),
            bursts: self.class.bursts_in(self.unit),
            gaps: &self.gaps,
            coming: &coming,
            work: self.work.as_ref(),
            quiet: self.quiet,
            set_up: &self.interface.set_up,
            header_wait: self.interface.header_wait,
        };
        let entering = self.entering(InBuffer::none());
        let iteration = Iteration {
            station: &queues,
            source: &source,
            chained: entrance.blocked.as_ref(),
            over_outputs: entrance.over_outputs.as_ref(),
            gaps: &entering.gaps,
            held: &entering.held,
            message: (self.class.message + 1.0) / self.unit,
        };
        iteration.settle(entrance.warm.as_ref(), resolution, report).map_err(|over| over.at(false))
    }

    /// The step that finds what holds up messages in routers ahead, and how often it is taken.
    fn blocking(&self) -> (Step, u32) {
        if self.shape.is_short() { (Step::ChainedBlocking, CHAINED) } else { (Step::FullChannels, BEHIND) }
    }

    /// The first routers of all senders.
    fn entrances(&self, start: Option<&State>, blocked: Option<&Law>) -> Vec<Entrance<'g>> {
        let entrance = |Sender { share, outputs }: &'g Sender| {
            let environment = self.environment(self.kind_of(outputs), self.paths.mean(outputs));
            let (blocked, warm) = (blocked.cloned(), start.cloned());
            Entrance { share: *share, outputs, environment, blocked, over_outputs: None, warm }
        };
        self.paths.senders.iter().map(entrance).collect()
    }

    /// Queues of all senders and all outputs, one after another until what holds up messages in routers ahead is what
    /// they bring about; an error is from where to set out on a wider lattice.
    fn queued(
        &self,
        resolution: &Resolution,
        start: Option<&Start>,
        report: &mut Detail,
    ) -> Result<Result<SettledPaths, Box<Start>>, Overload> {
        // means set out from nothing held up, laws from what is held up on the lattice for means
        let known = start.filter(|_| self.laws && self.paths.senders.len() == 1);
        let known = known.and_then(|start| start.on_the_way.as_ref());
        let nobody = || Blocking::nobody(self.paths.channels.len() as u32);
        let mut held = known.map_or_else(nobody, |(held, _)| held.clone());
        let mut entrances = self.entrances(start.map(|start| &start.state), held.first.as_ref());
        let mut round = 0;
        loop {
            let mut settled = Vec::new();
            for entrance in &entrances {
                let found = self.source(entrance, &held, resolution, report)?;
                if found.narrow {
                    return Ok(Err(Box::new(Start { state: found.state, on_the_way: known.cloned() })));
                }
                settled.push(found);
            }
            let entered = EntryDelays::of(&entrances, &settled);
            let entering = self.entering(entered.in_buffer.clone());
            let (gaps, middle) = self.gaps_on_the_way((&entrances, &settled), &held)?;
            let before = held.mean();
            round += 1;
            let stations = self.stations(&entering, gaps, &held, &settled[0].met, middle)?;
            let in_channel = self.in_channel(&stations, gaps, &held);
            let close = 1e-2 * (self.shape.message + 1.0);
            if self.paths.most_hops() == 0
                && round < BEHIND
                && over_outputs(&mut entrances, &stations) > close
            {
                for (entrance, settled) in entrances.iter_mut().zip(settled) {
                    entrance.warm = Some(settled.state);
                }
                continue;
            }
            let (step, rounds) = self.blocking();
            if round < rounds && !without(step) && self.paths.most_hops() > 0 {
                held = if self.shape.is_short() {
                    self.chained((&mut entrances, &settled), gaps, &in_channel, &held)?
                } else {
                    self.behind((&mut entrances, &settled), &in_channel)
                };
                if (held.mean() - before).abs() > close {
                    for (entrance, settled) in entrances.iter_mut().zip(settled) {
                        entrance.warm = Some(settled.state);
                    }
                    continue;
                }
            }
            return Ok(Ok(SettledPaths { stations, in_channel, entered, gaps, held }));
        }
    }

    fn solve(
        &self,
        problem: &Problem,
        resolution: &Resolution,
        start: Option<&Start>,
    ) -> Result<Outcome, Overload> {
        let (unit, mut report) = (self.unit, Detail::default());
        let SettledPaths { mut stations, in_channel, entered, gaps, held } =
            match self.queued(resolution, start, &mut report)? {
                Ok(found) => found,
                Err(start) => return Ok(Outcome::TooNarrow(Some(*start), report)),
            };
        self.interrupt(&mut stations, &in_channel);
        let lone = |hops: u32| problem.stages * (1.0 + f64::from(hops)) - 1.0 + self.class.message;
        let with_delays = |hops| self.paths.share(hops) * (lone(hops) + self.paths.mean_delay(hops));
        let residence = entered.in_buffer.mean();
        let paths: Vec<(u32, Path)> = self.each_path(&stations, &in_channel);
        let gap = self.gaps[0].max(&self.gaps[1]).mean().max(gaps);
        let start = self.start(self.typical_wait(&paths, residence) + gap, &entered.in_buffer);
        let [input, granted, link] = self.mean_waits(&paths, residence);
        let (mut delays, mut parts) = (Vec::new(), Vec::new());
        let law = if self.laws {
            delays = match self.delays(&paths, &stations, &in_channel, &start, lone, resolution) {
                Ok(delays) => delays,
                Err(longest) => {
                    let start = Start { state: entered.state, on_the_way: Some((held, longest)) };
                    return Ok(Outcome::TooNarrow(Some(start), report));
                }
            };
            Law::mixture(&delays.iter().map(|delays| (delays.share, &delays.law)).collect::<Vec<_>>())
        } else {
            let law = self.mean_delay(&stations, &in_channel, start);
            parts.extend(self.gaps.clone());
            for (_, Station { met, .. }) in stations.known {
                parts.extend([met.waits.link, met.blocked]);
            }
            law
        };
        let Parts { input, arbitration, output, gaps } = Parts::of(law.mean() * unit, input, granted, link);
        let start = Start { state: entered.state, on_the_way: Some((held, law)) };
        let wait = |(share, waiting, load): &(f64, f64, f64)| {
            share * (self.wait_at_source(*waiting, *load) + problem.longer_wait(&self.class, *load))
        };
        Ok(Outcome::Solution(Solution {
            transfer: self.paths.hops().map(with_delays).sum(),
            input,
            arbitration,
            output,
            gaps,
            waiting: entered.queues.iter().map(wait).sum(),
            source_load: entered.queues.iter().map(|(.., load)| *load).fold(0.0, f64::max),
            pace: (self.shape.message + self.shape.header + entered.blocked) * unit,
            rate: self.class.rate,
            delays,
            parts,
            unit,
            detail: report,
            warm: Warm { start, unit, cells: resolution.cells },
        }))
    }

    /// Wait of a header on a path that is longer than the mean, `residence` of it in the first router \[cells\].
    fn typical_wait(&self, paths: &[(u32, Path)], residence: f64) -> f64 {
        let typical = self.paths.mean_hops().ceil() as u32 + 1;
        let path = paths.iter().find(|(hops, _)| *hops >= typical).or(paths.last());
        path.map_or(residence, |(_, path)| residence + path.waits + path.link)
    }

    /// Wait at the source \[cycles\]: the cycle of an idle interface, and that of the queue, or for one of several
    /// virtual channels.
    fn wait_at_source(&self, queued: f64, load: f64) -> f64 {
        let classes = &self.links[self.kinds.interface()].classes;
        if self.own.is_none() {
            return 1.0 + self.kinds.best_effort_wait(&self.class, classes, queued * self.unit, load);
        }
        let all: f64 = classes.iter().map(Class::load).sum();
        let others = (all - self.class.load()).max(0.0);
        let Shape { message, header, credit, .. } = self.shape;
        let flits = message / (1.0 - others).max(0.02);
        1.0 + self.kinds.wait_for_interface(self.rate, flits, header + credit).unwrap_or(queued) * self.unit
    }

    /// The paths of each number of hops.
    fn each_path(&self, stations: &Stations, in_channel: &[ChannelWait]) -> Vec<(u32, Path)> {
        self.paths.hops().map(|hops| (hops, Path::new(self, stations, in_channel, hops))).collect()
    }

    /// Mean waits over all paths \[cycles\]: in input buffers, for crossbars and for links.
    fn mean_waits(&self, paths: &[(u32, Path)], residence: f64) -> [f64; 3] {
        let (mut input, mut granted, mut link) = (0.0, 0.0, 0.0);
        for (hops, path) in paths {
            let (share, upstream) = (self.paths.share(*hops), path.waits - path.inside);
            input += share * (residence + path.inside) * self.unit;
            granted += share * path.granted * self.unit;
            link += share * (path.link + upstream) * self.unit;
        }
        [input, granted, link]
    }

    /// Laws of the delay of tails over each number of hops; an error is the one that the lattice does not hold, the
    /// longest paths first.
    fn delays(
        &self,
        paths: &[(u32, Path)],
        stations: &Stations,
        in_channel: &[ChannelWait],
        start: &TailAndHeader<'_>,
        lone: impl Fn(u32) -> f64,
        resolution: &Resolution,
    ) -> Result<Vec<Delays>, Law> {
        let prepared = StationDelays::new(stations);
        let one = |(hops, path): &(u32, Path)| {
            let (hops, share) = (*hops, self.paths.share(*hops));
            let law = self.along(path, &prepared, in_channel, start.clone());
            let law = self.where_crowded(law, path, stations);
            if resolution.holds(&law) {
                let on_links = self.paths.delays(hops);
                Ok(Delays { hops: Some(hops), share, lone: lone(hops), on_links, law })
            } else {
                Err(law)
            }
        };
        let mut delays = paths.iter().rev().map(one).collect::<Result<Vec<Delays>, Law>>()?;
        delays.reverse();
        Ok(delays)
    }

    /// Law of the delay of tails over a path of mean length, for its mean.
    fn mean_delay(&self, stations: &Stations, in_channel: &[ChannelWait], start: TailAndHeader<'_>) -> Law {
        let (moving, prepared) = (self.paths.moving(), StationDelays::new(stations));
        let at_once = |start| {
            let path = Path::new(self, stations, in_channel, 0);
            self.along(&path, &prepared, in_channel, start)
        };
        if moving <= 0.0 {
            return at_once(start);
        }
        let mean_hops = self.paths.mean_hops() / moving;
        let hops = (mean_hops.floor() as u32 + 1).min(self.paths.most_hops());
        let path = Path::mean(self, stations, in_channel, hops);
        let on_the_way = self.mean_along((&path, mean_hops), &prepared, in_channel, start.clone());
        if moving >= 1.0 {
            return on_the_way;
        }
        Law::mixture(&[(moving, &on_the_way), (1.0 - moving, &at_once(start))])
    }
}

impl Overload {
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

#[cfg(test)]
mod tests;
