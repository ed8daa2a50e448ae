//! The *refined* model: our own, which follows the simulator's routers stage by stage.

mod bursty_source;
mod chained_blocking;
mod ecube_paths;
mod greedy_chain;
mod grid;
mod higher_classes;
mod hypercube;
mod interface;
mod law;
mod link_sharing;
mod queue;
mod router;
mod solution;
mod source;
mod station;
mod tail_and_header;

pub use bursty_source::{BurstySource, Service, SourceQueue};

pub use crate::model::{Failure, Options};

use crate::answer::Answer;
use crate::model::Model;
use crate::scenario::{ClassKind, NetworkSpec, Scenario, Scheduler, SourceSpec};
use solution::Found;
use station::{Overloaded, Shape};

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
}

impl Class {
    fn load(&self) -> f64 {
        self.rate * self.message
    }

    /// The source with times in cells of `unit` cycles.
    fn bursts_in(&self, unit: f64) -> Option<BurstySource> {
        self.bursts.map(|source| BurstySource { rate: source.rate * unit, peak_rate: source.peak_rate * unit, ..source })
    }
}

/// A scenario, as the model sees it.
struct Asked {
    /// The classes that send, with their place in the scenario.
    classes: Vec<Class>,
    places: Vec<usize>,
    /// `P`
    stages: f64,
    /// `b` \[flits\]
    buffer: f64,
    /// Whether links keep clocks, which restart.
    clocked: bool,
}

impl Asked {
    fn new(scenario: &Scenario) -> Self {
        let router = scenario.router();
        let class = |(place, class): (usize, &crate::scenario::ClassSpec)| {
            let message = f64::from(class.message_flits);
            let vtick = class.vtick.unwrap_or(1.0 / (class.rate * message));
            let bursts = match class.source {
                SourceSpec::Poisson => None,
                SourceSpec::OnOff { streams, messages_per_burst, peak_rate } => {
                    Some(BurstySource { rate: class.rate, streams, messages_per_burst, peak_rate })
                }
            };
            (Class { kind: class.kind, rate: class.rate, message, vtick, bursts }, place)
        };
        let active = scenario.classes().iter().enumerate().filter(|(_, class)| class.rate > 0.0);
        let (classes, places) = active.map(class).unzip();
        Self {
            classes,
            places,
            stages: f64::from(router.pipeline_stages),
            buffer: f64::from(router.buffer_flits),
            clocked: router.scheduler == Scheduler::VirtualClock,
        }
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
    fn of(asked: &Asked, class: &Class, unit: f64) -> Self {
        let header = (asked.stages - 3.0).max(0.0);
        Self {
            message: class.message / unit,
            buffer: asked.buffer / unit,
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
    /// Cycles per cell.
    unit: f64,
    /// Steps in which classes are followed past each other, at most about.
    steps: usize,
    /// Change of a mean that ends the iteration, in message lengths.
    tolerance: f64,
    most_rounds: u32,
}

impl Resolution {
    fn coarse(&self) -> usize {
        self.steps.min(8)
    }
}

/// Prototype entry.
pub fn prototype(scenario: &Scenario, n: usize) -> Vec<(String, Option<[f64; 2]>, String, Vec<f64>)> {
    let env = |k: &str, d: f64| std::env::var(k).ok().and_then(|v| v.parse().ok()).unwrap_or(d);
    let asked = Asked::new(scenario);
    let unit = env("UNIT", 1.0);
    let resolution = Resolution { cells: env("CELLS", n as f64) as usize, unit, steps: env("STEPS", 32.0) as usize, tolerance: env("TOL", 3e-5), most_rounds: 200 };
    let found = match scenario.network() {
        NetworkSpec::Router { ports } => router::solve(&asked, ports, &resolution),
        NetworkSpec::Hypercube { dimension } => hypercube::solve(&asked, dimension, &resolution),
    };
    let one = |(found, place): (Result<Found, Overloaded>, &usize)| {
        let name = scenario.classes()[*place].name.clone();
        match found {
            Ok(f) => {
                let text = format!("input={:.3} arb={:.3} out={:.3} gaps={:.3} rounds={} conv={} load={:.4}", f.input, f.arbitration, f.output, f.gaps, f.detail.rounds, f.detail.converged, f.source_load);
                (name, Some([f.latency(), f.waiting]), text, f.delays[0].law.probabilities().to_vec())
            }
            Err(e) => (name, None, format!("{e:?}"), Vec::new()),
        }
    };
    found.into_iter().zip(&asked.places).map(one).collect()
}

/// Means and parts of a class, and laws of the delay by hops: hops, share, lone latency, probabilities by cycle.
pub type PrototypeOfCube = (String, Result<([f64; 6], Vec<(u32, f64, f64, Vec<f64>)>), String>);

/// Prototype entry with laws by hops: latency, waiting, input, arbitration, output, gaps.
pub fn prototype_of_cube(scenario: &Scenario) -> Vec<PrototypeOfCube> {
    let env = |k: &str, d: f64| std::env::var(k).ok().and_then(|v| v.parse().ok()).unwrap_or(d);
    let asked = Asked::new(scenario);
    let unit = env("UNIT", 1.0);
    let resolution = Resolution { cells: env("CELLS", 2048.0) as usize, unit, steps: env("STEPS", 32.0) as usize, tolerance: env("TOL", 3e-5), most_rounds: 200 };
    let NetworkSpec::Hypercube { dimension } = scenario.network() else { return Vec::new() };
    let one = |(found, place): (Result<Found, Overloaded>, &usize)| {
        let name = scenario.classes()[*place].name.clone();
        let told = |f: Found| {
            let law = |d: &solution::Delays| {
                let law = if f.unit == 1.0 { d.law.clone() } else { d.law.stretched(f.unit) };
                (d.hops.unwrap_or(0), d.share, d.lone, law.probabilities().to_vec())
            };
            ([f.latency(), f.waiting, f.input, f.arbitration, f.output, f.gaps], f.delays.iter().map(law).collect())
        };
        (name, found.map(told).map_err(|e| format!("{e:?}")))
    };
    hypercube::solve(&asked, dimension, &resolution).into_iter().zip(&asked.places).map(one).collect()
}

/// A place from which the iteration of a similar scenario may set out: the answer to this one.
#[derive(Clone, Debug, PartialEq)]
pub struct WarmStart {}

/// Solves the model.
///
/// # Errors
/// When the scenario holds something that the model has not, or no fixed point is found. Saturation is no error.
pub fn solve(scenario: &Scenario, options: &Options) -> Result<Answer, Failure> {
    solve_from(scenario, options, None).map(|(answer, _)| answer)
}

/// Solves the model from a warm start, where that leads to the same answer, and hands out the next one.
///
/// # Errors
/// As [`solve`].
pub fn solve_from(
    scenario: &Scenario,
    _options: &Options,
    _start: Option<&WarmStart>,
) -> Result<(Answer, WarmStart), Failure> {
    supports(scenario)?;
    unreachable!("no scenario is in the model")
}

/// Whether the model has all that the scenario holds.
///
/// # Errors
/// What it has not.
pub fn supports(scenario: &Scenario) -> Result<(), Failure> {
    Err(Failure::Refused {
        model: Model::Refined,
        key: "network".to_owned(),
        because: format!("is not there yet and answers no scenario, {} neither", scenario.spec().name),
    })
}
