//! The *refined* model: our own, which follows the simulator's routers stage by stage.

mod ablation;
mod burst_phases;
mod bursts_above;
mod bursty_source;
mod chained_blocking;
mod clock_lead;
mod greedy_chain;
mod grid;
mod higher_classes;
mod in_buffer;
mod interface;
mod interruptions;
mod iteration;
mod law;
mod laws;
mod link_sharing;
mod modulated;
mod network;
mod paths;
mod queue;
mod router;
mod saturation;
mod shared_queue;
mod solution;
mod source;
mod station;
mod tail_and_header;
mod wording;

pub(crate) use wording::LACKS;

pub use bursty_source::{BurstySource, Service, SourceQueue};

use crate::model::Refusal;
pub use crate::model::{Failure, Options};

use std::collections::BTreeSet;
use std::rc::Rc;

use crate::answer::Answer;
use crate::fixed_point::{Report, Status};
use crate::model::{Declaration, Model, is_of_messages};
use flitwise_language::network::{LinkEnd, Network};
use flitwise_language::scenario::{ClassKind, Read, Scenario, Scheduler, SourceSpec, VcChoice};
use iteration::Detail;
use laws::Laws;
use paths::Paths;
use solution::{Solution, Warm};
use station::{Overload, Place, Shape};

/// A class as its links see it.
#[derive(Clone, Copy, Debug)]
struct Class {
    kind: ClassKind,
    /// Messages per cycle.
    rate: f64,
    /// Flits.
    message: f64,
    /// Cycles per flit.
    vtick: f64,
    bursts: Option<BurstySource>,
    /// `C = M + H + x`: from message to message through the first input channel, gaps left out, as far as known
    /// \[cycles\].
    outlet: Option<f64>,
}

impl Class {
    fn load(&self) -> f64 {
        self.rate * self.message
    }

    /// A Poisson class of a load, whose clock ticks as often as its flits come.
    #[cfg(test)]
    fn of_load(load: f64, message: f64) -> Self {
        let (rate, vtick) = (load / message, 1.0 / load);
        Self { kind: ClassKind::RealTime, rate, message, vtick, bursts: None, outlet: None }
    }

    /// The share of it that takes some way.
    fn thinned(&self, share: f64) -> Self {
        Self { rate: self.rate * share, ..*self }
    }

    /// The source with times in cells of `unit` cycles.
    fn bursts_in(&self, unit: f64) -> Option<BurstySource> {
        self.bursts.map(|source| BurstySource {
            rate: source.rate * unit,
            peak_rate: source.peak_rate * unit,
            ..source
        })
    }
}

/// A scenario, as the model sees it.
#[derive(Clone)]
struct Problem {
    /// The classes that send, with their place in the scenario.
    classes: Vec<Class>,
    places: Vec<usize>,
    /// `P`
    stages: f64,
    /// `b` \[flits\]
    buffer: f64,
    /// Whether links keep clocks, which restart.
    clocked: bool,
    /// Hops of the longest paths; one in a single router.
    hops: u32,
    /// Virtual channels by class.
    lanes: Vec<u32>,
    /// Whether messages draw their virtual channels, and wait for these even if others are free.
    drawn: bool,
}

impl Problem {
    fn new(scenario: &Scenario) -> Self {
        let router = scenario.router();
        let class = |(place, class): (usize, &flitwise_language::scenario::ClassSpec)| {
            let message = f64::from(class.message_flits);
            let vtick = class.link_vtick().unwrap_or_else(|| class.flit_interval());
            let bursts = match class.source {
                SourceSpec::OnOff { streams, messages_per_burst, peak_rate } => {
                    Some(BurstySource { rate: class.rate, streams, messages_per_burst, peak_rate })
                }
                _ => None,
            };
            (Class { kind: class.kind, rate: class.rate, message, vtick, bursts, outlet: None }, place)
        };
        let active = scenario.classes().iter().enumerate().filter(|(_, class)| class.rate > 0.0);
        let (classes, places): (Vec<Class>, Vec<usize>) = active.map(class).unzip();
        let lanes = places.iter().map(|place| scenario.classes()[*place].virtual_channels).collect();
        Self {
            classes,
            places,
            stages: f64::from(router.pipeline_stages),
            buffer: f64::from(router.buffer_flits),
            clocked: router.scheduler == Scheduler::VirtualClock,
            hops: scenario.topology().most_hops().max(1),
            lanes,
            drawn: router.vc_choice != VcChoice::Free,
        }
    }

    fn longest(&self) -> f64 {
        self.classes.iter().map(|class| class.message).fold(1.0, f64::max)
    }

    fn shortest(&self) -> f64 {
        self.classes.iter().map(|class| class.message).fold(f64::INFINITY, f64::min).min(self.longest())
    }

    fn real_time(&self) -> impl Iterator<Item = Class> + '_ {
        self.classes.iter().filter(|class| class.kind == ClassKind::RealTime).copied()
    }

    /// Place of a class among the real-time classes.
    fn position_in_real_time(&self, index: usize) -> Option<usize> {
        let before = self.classes[..index].iter().filter(|class| class.kind == ClassKind::RealTime).count();
        (self.classes[index].kind == ClassKind::RealTime).then_some(before)
    }
}

impl Shape {
    fn of(problem: &Problem, class: &Class, unit: f64) -> Self {
        let header = (problem.stages - 3.0).max(0.0);
        Self {
            message: class.message / unit,
            buffer: problem.buffer / unit,
            header: header / unit,
            idle: header.min(1.0) / unit,
            credit: 3.0 / unit,
        }
    }
}

/// How finely to look.
#[derive(Clone, Copy, Debug)]
struct Resolution {
    /// Cells of the lattice.
    cells: usize,
    /// Cells of the finest lattice; beyond it they become wider, as long as they are no wider than `widest`.
    most_cells: usize,
    /// Cycles per cell.
    unit: f64,
    /// The widest cells that tell messages apart well: up to [`MOST_CELLS`] of them before wider ones.
    widest: f64,
    /// Steps in which classes are followed past each other, at most about.
    steps: usize,
    /// Change of a mean that ends the iteration, in message lengths.
    tolerance: f64,
    most_rounds: u32,
    /// Probability of the last eighth of the lattice up to which it is wide enough.
    beyond: f64,
    /// Probability below which laws end.
    nothing: f64,
    /// Whether laws are wanted, or means alone.
    laws: bool,
}

/// Cells of a lattice at most.
const MOST_CELLS: usize = 2048;
/// Steps in which messages are followed past each other, for means; for laws, flit by flit up to 64 flits: a miss
/// probability jumps where one flit more goes ahead.
const STEPS: usize = 16;
const STEPS_OF_LAWS: usize = 64;
/// Laws, one for each class and number of hops, up to which their cells are cycles.
const MOST_LAWS: usize = 48;

impl Resolution {
    /// For distributions: a cell is a cycle, since laws jump where a whole message has gone ahead; where the lattice
    /// for means has shown that so many of them do not reach, more.
    fn fine(problem: &Problem) -> Self {
        let cells = ((8.0 * problem.longest()) as usize).next_power_of_two().clamp(256, 1024);
        // 12 classes in a 16-cube have 192 laws
        let wide = problem.classes.len() * problem.hops as usize / MOST_LAWS;
        let most = (problem.shortest() / 8.0).max(problem.longest() / 64.0).max(1.0);
        let unit = ((wide + 1).next_power_of_two() as f64).min(most.log2().floor().exp2());
        Self {
            cells,
            most_cells: MOST_CELLS,
            unit,
            widest: unit,
            steps: STEPS_OF_LAWS,
            tolerance: 1e-4,
            most_rounds: 300,
            beyond: 1e-5,
            nothing: law::NOTHING,
            laws: true,
        }
    }

    /// For means alone: eight cells to the shortest message, if the cycles by which headers are slower are whole cells;
    /// split over two they would lift every mean.
    fn means(problem: &Problem) -> Self {
        // between bursts there is nothing for long, in them much: coarse cells and short lattices lose both
        if problem.classes.iter().any(|class| class.bursts.is_some()) {
            return Self { laws: false, steps: STEPS, ..Self::fine(problem) };
        }
        let header = (problem.stages - 3.0).max(0.0);
        let longest = problem.longest();
        // of messages beyond 128 flits there are finer parts than a 32nd, so that short ones beside them are told apart
        let of_longest = (longest / 32.0).min(f64::max(4.0, longest / 256.0));
        let widest = (problem.shortest() / 8.0).max(of_longest).floor().max(1.0);
        let whole = |unit: &f64| *unit <= widest && header % unit == 0.0;
        let unit = if header > 0.0 {
            (1..=header as u32).rev().map(f64::from).find(whole).unwrap_or(1.0)
        } else {
            widest
        };
        let cells = ((8.0 * longest / unit) as usize).next_power_of_two().clamp(64, 256);
        Self {
            cells,
            most_cells: 256,
            unit,
            widest,
            steps: STEPS,
            tolerance: 3e-4,
            most_rounds: 300,
            beyond: 3e-4,
            nothing: 1e-6,
            laws: false,
        }
    }

    /// For the load of saturation: as for means, but that beside messages of more than 128 flits cells are as coarse as
    /// these allow.
    fn probing(problem: &Problem) -> Self {
        let means = Self::means(problem);
        let longest = problem.longest();
        if longest > 128.0 {
            Self { widest: means.widest.max(longest / 32.0), most_cells: 256, ..means }
        } else {
            means
        }
    }

    /// As far as four messages of the class and of all that take some time of a link: what is rare may matter to a mean
    /// although hardly anything of a law lies out there.
    fn reaching(self, problem: &Problem, index: usize) -> Self {
        /// Load of a class up to which its messages may lie beyond the lattice.
        const LITTLE: f64 = 0.005;
        let others = problem.classes.iter().filter(|class| class.load() > LITTLE);
        let longest = others.map(|class| class.message).fold(problem.classes[index].message, f64::max);
        let mut reaching = self;
        while (reaching.cells as f64) * reaching.unit < 4.0 * longest {
            reaching = reaching.wider();
        }
        reaching
    }

    /// Twice as far: by more cells, or by wider ones.
    fn wider(&self) -> Self {
        if self.cells < self.most_cells || self.unit * 2.0 > self.widest && self.cells < MOST_CELLS {
            Self { cells: self.cells * 2, ..*self }
        } else {
            Self { unit: self.unit * 2.0, ..*self }
        }
    }

    /// Steps of chains of which a mean is enough: fewer than for laws; with means alone, those that are run anyway.
    fn coarse(&self) -> usize {
        if self.laws { self.steps.min(8) } else { self.steps }
    }
}

/// What the parts of the model hand back.
struct Parts {
    report: Report,
    found: Vec<Result<Solution, Overload>>,
    /// Of each class that sends, if they are asked for, or why there are none.
    laws: Vec<Result<Laws, &'static str>>,
    /// Cells that may still be transformed.
    work: u64,
}

/// Cells that an answer may transform: some two seconds.
const MOST_WORK: u64 = 100_000_000;
/// The same of distributions, and of the search for loads of saturation, whatever the means have taken.
const LEAST_WORK: u64 = 20_000_000;

/// The other classes that send at all.
fn others(classes: &[Class], own: usize) -> Vec<usize> {
    (0..classes.len()).filter(|d| *d != own && classes[*d].rate > 0.0).collect()
}

/// Load of class `d` where it has but what the rest leaves it, the own class being away:
/// `sigma_d / (1 - sum of the others but d)`, its presence under processor sharing.
fn load_beside(classes: &[Class], own: usize, d: usize) -> f64 {
    let rest: f64 =
        classes.iter().enumerate().filter(|(e, _)| *e != own && *e != d).map(|(_, class)| class.load()).sum();
    (classes[d].load() / (1.0 - rest).max(0.02)).min(0.95)
}

/// Solves the model: means first, by one path whatever else is asked for, then the laws that hang on them (module
/// `laws`).
///
/// Each scenario sets out afresh: the iteration stops within a tolerance, and an answer must not depend on the ones
/// before it.
///
/// # Errors
/// When the scenario holds something that the model has not, or no fixed point is found. Saturation is no error.
pub fn solve(scenario: &Scenario, options: &Options) -> Result<Answer, Failure> {
    supports(scenario)?;
    let problem = Problem::new(scenario);
    let all: Vec<usize> = (0..problem.classes.len()).collect();
    let begun = grid::work();
    let left = || MOST_WORK.saturating_sub(grid::work() - begun).max(LEAST_WORK);
    let (found, gave_up) =
        grid::within(MOST_WORK, || solve_at(scenario, &problem, &Resolution::means(&problem), &all, &[]));
    if gave_up {
        return Err(too_long(scenario, &problem));
    }
    let report = report(&found);
    if report.status != Status::Converged {
        return Err(Failure::NotConverged { model: Model::Refined, report });
    }
    let laws = if options.distributions { laws::of(scenario, &problem, &found, left()) } else { Vec::new() };
    let parts = Parts { report, found, laws, work: left() };
    Ok(wording::answer(scenario, &problem, parts, options))
}

/// The means alone would take too long.
fn too_long(scenario: &Scenario, problem: &Problem) -> Failure {
    let kinds = if has_paths(scenario, problem) { paths::kinds(scenario, &problem.places) } else { 1 };
    let classes = problem.classes.len();
    let because = format!(
        "needs more than some two seconds here: it solves each of {kinds} kinds of channels for {classes} classes by \
         itself, longest near saturation; simulate, or take lower rates, fewer classes or uniform destinations"
    );
    let refusals = vec![Refusal { key: "network".to_owned(), because }];
    Failure::Refused { model: Model::Refined, refusals }
}

/// The factor on all rates at which the first class saturates; none if one does at any load, if none sends, if the
/// search takes too long, or if the model does not know the scenario.
pub fn saturation_factor(scenario: &Scenario) -> Option<f64> {
    supports(scenario).ok().and_then(|()| saturation::first(scenario))
}

/// Some of the classes that send, at one resolution, each from where it is known to have ended at another; those are
/// saturated that offer a link with a delay more than the slots behind it let through.
fn solve_at(
    scenario: &Scenario,
    problem: &Problem,
    resolution: &Resolution,
    wanted: &[usize],
    start: &[Option<Warm>],
) -> Vec<Result<Solution, Overload>> {
    let found = solve_with_slots(scenario, problem, resolution, wanted, start);
    if scenario.topology().delays().is_empty() {
        return found;
    }
    let Some(paths) = paths(scenario, problem) else { return found };
    let limited = |(index, found): (&usize, Result<Solution, Overload>)| match out_of_slots(
        problem,
        &paths[*index],
        *index,
    ) {
        Some(over) => Err(over),
        None => found,
    };
    wanted.iter().zip(found).map(limited).collect()
}

/// Where a class offers more than a link with a delay carries in its virtual channels, of the link with the greatest
/// load.
fn out_of_slots(problem: &Problem, paths: &Paths, index: usize) -> Option<Overload> {
    let (class, lanes) = (&problem.classes[index], problem.lanes[index]);
    let load = |link: &paths::DelayedLink| {
        class.load() * link.rate / link.carries(lanes, paths.has_halves, problem.buffer)
    };
    let most = paths.most_used.iter().map(load).fold(0.0, f64::max);
    (most >= 1.0).then_some(Overload { load: most, place: Place::Channel })
}

/// The same as if links with delays had slots enough.
fn solve_with_slots(
    scenario: &Scenario,
    problem: &Problem,
    resolution: &Resolution,
    wanted: &[usize],
    start: &[Option<Warm>],
) -> Vec<Result<Solution, Overload>> {
    let warm = |index: usize| start.get(index).cloned().flatten();
    let topology = scenario.topology();
    let paths = paths(scenario, problem);
    let at = |problem: &Problem, resolution: &Resolution, wanted: &[usize]| match &paths {
        None => router::solve(problem, topology.ports(), resolution, wanted, &warm),
        Some(paths) => network::solve(problem, paths, resolution, wanted, &warm),
    };
    let above = |index: &usize| problem.classes[*index].kind == ClassKind::RealTime;
    let bursty = |index: &usize| above(index) && problem.classes[*index].bursts.is_some();
    let sources: Vec<usize> = (0..problem.classes.len()).filter(bursty).collect();
    if sources.is_empty() || wanted.iter().all(above) {
        return at(problem, resolution, wanted);
    }
    // best effort sees bursts as they leave the interface, so the classes that send them are solved first
    let (first, last): (Vec<usize>, Vec<usize>) = wanted.iter().partition(|index| above(index));
    let mut found: Vec<_> = first.iter().copied().zip(at(problem, resolution, &first)).collect();
    let mut known = problem.clone();
    for index in sources {
        let class = &mut known.classes[index];
        let solved = found.iter().find(|(of, _)| *of == index).map(|(_, found)| found);
        let pace = |found: &Result<Solution, Overload>| match found {
            Ok(found) => found.pace,
            Err(over) => over.load / class.rate,
        };
        let pace = match solved {
            Some(found) => pace(found),
            None => pace(&at(problem, &Resolution::means(problem), &[index])[0]),
        };
        class.outlet = Some(pace);
    }
    found.extend(last.iter().copied().zip(at(&known, resolution, &last)));
    let place = |index: usize| wanted.iter().position(|wanted| *wanted == index);
    found.sort_by_key(|(index, _)| place(*index));
    found.into_iter().map(|(_, found)| found).collect()
}

/// Whether paths are looked at: not in a single router where all send and receive alike over one virtual channel each.
fn has_paths(scenario: &Scenario, problem: &Problem) -> bool {
    let is_plain = scenario.topology().routers() == 1 && problem.lanes.iter().all(|lanes| *lanes == 1);
    !is_plain || paths::are_enumerated(scenario)
}

/// The paths of each class, where they are looked at.
fn paths(scenario: &Scenario, problem: &Problem) -> Option<Vec<Rc<Paths>>> {
    has_paths(scenario, problem).then(|| paths::of(scenario, &problem.places))
}

/// The account of the iterations of all classes.
fn report(found: &[Result<Solution, Overload>]) -> Report {
    let one = |found: &Solution| {
        let Detail { rounds, converged, changes } = &found.detail;
        Report {
            status: if *converged { Status::Converged } else { Status::OutOfIterations },
            iterations: *rounds,
            residual: changes.last().copied().unwrap_or(0.0),
            residuals: changes.clone(),
        }
    };
    found.iter().flatten().map(one).fold(Report::default(), Report::then)
}

/// Whether the model has all that the scenario holds.
///
/// # Errors
/// What it has not.
pub fn supports(scenario: &Scenario) -> Result<(), Failure> {
    Model::Refined.reads_all(scenario, READS)?;
    let mut refusals = pattern_refusals(scenario);
    if scenario.topology().has_slow_links() {
        let because = "has links of one capacity, 1/1; simulate, or ask for --loads".to_owned();
        refusals.push(Refusal { key: scenario.network().key_of_delays().to_owned(), because });
    }
    if refusals.is_empty() { Ok(()) } else { Err(Failure::Refused { model: Model::Refined, refusals }) }
}

/// Ways up to which all are followed: some two seconds.
const MOST_WAYS: u64 = 1 << 20;

/// What the model has not where all ways are followed: too many, too many kinds of channels, or sources.
fn pattern_refusals(scenario: &Scenario) -> Vec<Refusal> {
    if !paths::are_enumerated(scenario) {
        return Vec::new();
    }
    let mut refusals: Vec<Refusal> = too_large(scenario).into_iter().collect();
    refusals.extend(crate::paths::uneven_senders(scenario));
    let bursty = scenario.classes().iter().filter(|class| class.source.is_bursty() && class.rate > 0.0);
    refusals.extend(bursty.map(|class| {
        Refusal {
            key: format!("class.{}.source.kind", class.name),
            because:
                "has on-off sources with uniform destinations of all nodes only; take poisson, or simulate"
                    .to_owned(),
        }
    }));
    refusals
}

/// A network with more nodes, ways or kinds of channels than are followed.
fn too_large(scenario: &Scenario) -> Option<Refusal> {
    let network = scenario.topology();
    let (nodes, most) = (network.nodes(), paths::most_nodes(&network));
    let uneven = (0..scenario.classes().len()).find(|class| !scenario.is_uniform(*class));
    let key = uneven.map_or("network".to_owned(), |class| {
        let class = &scenario.classes()[class];
        format!("class.{}.{}", class.name, if class.nodes.is_some() { "nodes" } else { "destination" })
    });
    if nodes > most {
        let (where_, help) = match uneven {
            Some(_) => (
                " where classes have nodes or destinations of their own, and there are",
                ", or leave both out",
            ),
            None => (" in trees and graphs, and here are", ""),
        };
        let because = format!("follows the messages of up to {most} nodes{where_} {nodes}; simulate{help}");
        return Some(Refusal { key, because });
    }
    let places = Problem::new(scenario).places;
    let (followed, of_each) = (paths::ways(scenario, &places), u64::from(network.ways()));
    if followed > MOST_WAYS {
        let found = format!("follows up to {MOST_WAYS} ways of messages, and here are {followed}");
        // fixed ways lead from each router to each node
        let fixed = if uneven.is_some() { followed / of_each } else { fixed_ways(&network) };
        if of_each > 1 && fixed <= MOST_WAYS {
            let because = format!("{found}; take \"d-mod-k\" or \"s-mod-k\", or simulate");
            return Some(Refusal { key: "network.routing".to_owned(), because });
        }
        let help =
            if uneven.is_some() { "name fewer senders or destinations, or simulate" } else { "simulate" };
        return Some(Refusal { key, because: format!("{found}; {help}") });
    }
    if !has_more_links(&network, paths::MOST_KINDS) {
        return None; // no more kinds either, so that they need not be counted
    }
    let (kinds, most) = (paths::kinds(scenario, &places), paths::MOST_KINDS);
    let because = format!("tells up to {most} kinds of channels apart, and here are {kinds}; simulate");
    (kinds > most).then_some(Refusal { key, because })
}

/// Whether a network has more than so many links, those of nodes both ways.
fn has_more_links(network: &Network, most: usize) -> bool {
    let ports =
        (0..network.routers()).flat_map(|router| (0..network.ports()).map(move |port| (router, port)));
    let links = ports.filter(|(router, port)| network.link_end(*router, *port) != LinkEnd::Absent);
    links.take(most).count() + network.nodes() as usize > most
}

/// Ways of messages of all classes that are followed one by one, since a class has nodes or destinations of its own.
pub fn single_ways(scenario: &Scenario) -> u64 {
    let is_even = (0..scenario.classes().len()).all(|class| scenario.is_uniform(class));
    if is_even || !paths::are_enumerated(scenario) {
        return 0;
    }
    let places = Problem::new(scenario).places;
    paths::ways(scenario, &places) * places.len() as u64
}

/// Ways from routers with nodes to all nodes.
fn fixed_ways(network: &Network) -> u64 {
    let routers: BTreeSet<u32> = (0..network.nodes()).map(|node| network.entry(node).0).collect();
    routers.len() as u64 * u64::from(network.nodes())
}

/// The model in the list of models.
pub(crate) const MODEL: Declaration = Declaration {
    word: "refined",
    legend: "refined model",
    described: "Our own: it follows the simulator's routers stage by stage",
    is_usual: true,
    is_of_runs: false,
    made_for: is_of_messages,
    lacks: |quantity| {
        LACKS.contains(&quantity)
            || quantity.is_of_frames()
            || quantity.is_of_packets()
            || quantity.is_of_frame_deadlines()
            || quantity.is_of_levels()
    },
    supports,
    solve,
};

/// What the model reads.
const READS: &[Read] = &[
    Read::Words("network.topology", &["router", "hypercube", "mesh", "torus", "fat-tree", "file"]),
    Read::Keys("network", &["ports", "dimension", "radix", "dimensions", "nodes_per_router", "links"]),
    Read::Keys("network", &["levels", "taper", "arity", "down", "up", "file", "root"]),
    Read::Keys("network.delay", &["up"]),
    Read::Words(
        "network.routing",
        &["d-mod-k", "s-mod-k", "random-up", "adaptive-up", "shortest", "up-down", "tables"],
    ),
    Read::Words("router.scheduler", &["virtual-clock", "fair-queueing", "weighted-round-robin"]),
    Read::Words("router.vc_choice", &["free", "drawn", "drawn-input"]),
    Read::Keys("router", &["pipeline_stages", "buffer_flits"]),
    Read::Words("class.kind", &["real-time", "best-effort"]),
    Read::OneClass(ClassKind::BestEffort),
    Read::Keys(
        "class",
        &["rate", "message_flits", "deadlines", "vtick", "virtual_channels", "nodes", "destination"],
    ),
    Read::Keys("class.destination", &["hot", "share"]),
    Read::Words("class.source.kind", &["poisson", "on-off"]),
    Read::Keys("class.source", &["streams", "messages_per_burst", "peak_rate"]),
];
