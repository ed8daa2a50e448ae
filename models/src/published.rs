//! The *published* model: Kim, Yum and Das, *Performance analysis of a QoS capable cluster interconnect*,
//! Performance Evaluation 60 (2005) 275-302, \[KYD05\], read as the README of this crate says.
//!
//! One file per argument of the paper: [`Blocking`] (3)-(5), [`Sharing`] (6)-(8), [`RealTimeLoad`] (9), (13),
//! [`SourceWait`] (15), [`Company`] (16)-(23), [`EcubeRoutes`] A.1, [`MiddleBlocking`] A.2.
//!
//! ```
//! use flitwise_models::published;
//! use flitwise_language::scenario::ScenarioSpec;
//!
//! let scenario = ScenarioSpec::default().check().unwrap(); // Table 1
//! let answer = published::solve(&scenario, &published::Options::default()).unwrap();
//! let latency = answer.classes[0].network_latency_cycles.unwrap();
//! assert_eq!(format!("{latency:.2} {}", answer.report.status == published::Status::Converged), "39.38 true");
//! ```

mod best_effort;
mod blocking;
mod deadline;
mod ecube_traffic;
mod hypercube;
mod middle_blocking;
mod record;
mod router;
mod saturation;
mod sharing;
mod solution;
mod source_wait;
mod traffic;
mod wording;

pub use best_effort::{RealTimeLoad, length_biased_mean};
pub use blocking::{Blocking, Buffering};
pub use deadline::{BlockingLength, Companion, Company};
pub use ecube_traffic::EcubeRoutes;
pub use hypercube::Cube;
pub use middle_blocking::{MiddleBlocking, MiddleLength};
pub use record::{ClassRecord, IterationRecord, LinkRecord, MetRecord, PathRecord, Record};
pub use sharing::{Departure, LinkChain, Shares, Sharing, Visitor};
pub use source_wait::SourceWait;

pub use crate::fixed_point::{History, Report, Status};
pub use crate::model::{Failure, Options};

use crate::answer::Answer;
use crate::fixed_point::{self, Iterate, Substitution};
use crate::model::{Declaration, Model, is_of_messages};
use crate::scalar::Scalar;
use flitwise_language::network::Network;
use flitwise_language::scenario::{ClassKind, Read, Scenario};
pub(crate) use solution::{ClassSolution, Outcome};
pub(crate) use traffic::{Number, Traffic};

/// A place from which the iteration of a similar scenario may set out: the answer to this one.
#[derive(Clone, Debug, PartialEq)]
pub struct WarmStart {
    scenario: Scenario,
    latencies: Vec<f64>,
}

impl WarmStart {
    /// Where the iteration for `scenario` may set out.
    ///
    /// It leads to the same answer as from zero load only from below (R5). Latencies surely rise where all
    /// real-time rates are multiplied by one factor, so that the shares of links stay as they are, and nothing
    /// else changes that they depend on; otherwise there is no such place.
    fn toward(&self, scenario: &Scenario) -> Option<&[f64]> {
        let real_time = |scenario: &Scenario| {
            let spec = scenario.spec();
            let classes = spec.classes.iter().filter(|class| class.kind == ClassKind::RealTime);
            let (rates, shapes): (Vec<f64>, Vec<_>) =
                classes.map(|class| (class.rate, (class.message_flits, class.vtick))).unzip();
            (rates, shapes, scenario.network().clone(), scenario.router())
        };
        let (old, new) = (real_time(&self.scenario), real_time(scenario));
        let given = new.1.iter().filter(|(_, vtick)| vtick.is_some()).count();
        let shares_stay = given == 0 || given == new.1.len();
        let alike = shares_stay && (&old.1, &old.2, old.3) == (&new.1, &new.2, new.3);
        let pairs = old.0.iter().zip(&new.0);
        let factor = pairs.clone().find(|(old, _)| **old > 0.0).map_or(1.0, |(old, new)| new / old);
        let in_step = pairs.into_iter().all(|(old, new)| (old * factor - new).abs() <= 1e-12 * new);
        (alike && factor >= 1.0 && in_step).then_some(self.latencies.as_slice())
    }
}

/// What the parts of the model hand back.
pub(crate) struct Parts<T = f64> {
    pub(crate) report: Report,
    /// Whether every class has an answer: it converged, or it is saturated and says that it did not.
    answered: bool,
    pub(crate) outcomes: Vec<Outcome<T>>,
    /// Mean latencies at the fixed point, for a warm start.
    state: Vec<T>,
    /// The working memory of the last iteration, if it was asked for.
    record: Option<Record<T>>,
}

/// How far distributions are computed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DistributionRange {
    /// Whole cycles kept, over all channels of a path together.
    cycles: usize,
    /// Whole cycles kept on each.
    at_least: usize,
}

/// Cycles kept of a distribution: what lies beyond has no percentiles.
const DISTRIBUTION_CYCLES: usize = 1 << 19;

/// The most iterations of a hypercube: where a thousand do not lead to the point, more hardly ever do.
const MOST_ITERATIONS_OF_CUBES: u32 = 10_000;

/// Solves the model.
///
/// # Errors
/// When the scenario holds something that the model has not, or no fixed point is found. Saturation is no
/// error.
pub fn solve(scenario: &Scenario, options: &Options) -> Result<Answer, Failure> {
    solve_from(scenario, options, None).map(|(answer, _)| answer)
}

/// Solves the model from a warm start, where that leads to the same answer, and hands out the next one.
///
/// # Errors
/// As [`solve`].
pub fn solve_from(
    scenario: &Scenario,
    options: &Options,
    start: Option<&WarmStart>,
) -> Result<(Answer, WarmStart), Failure> {
    supports(scenario)?;
    let traffic = Traffic::of(scenario);
    let range = distribution_range(scenario, options);
    let mut solved = means(scenario, &traffic, &options.fixed_point, start, range, false);
    // beyond saturation latencies need not rise, and a warm start might lead elsewhere
    let steady = |outcome: &Outcome| outcome.found.as_ref().is_ok_and(|found| !found.saturated());
    if start.is_some() && !(solved.answered && solved.outcomes.iter().all(steady)) {
        solved = means(scenario, &traffic, &options.fixed_point, None, range, false);
    }
    if !solved.answered {
        return Err(Failure::NotConverged { model: Model::Published, report: solved.report });
    }
    let start = WarmStart { scenario: scenario.clone(), latencies: solved.state.clone() };
    Ok((wording::answer(scenario, &traffic, solved, options), start))
}

/// Solves the model and hands out the working memory of its last iteration, converged or not; a scenario that the
/// model refuses has none. The answer is that of [`solve`].
pub fn solve_recorded(scenario: &Scenario, options: &Options) -> (Result<Answer, Failure>, Option<Record>) {
    if let Err(refused) = supports(scenario) {
        return (Err(refused), None);
    }
    let traffic = Traffic::of(scenario);
    let range = distribution_range(scenario, options);
    let mut solved = means(scenario, &traffic, &options.fixed_point, None, range, true);
    let record = solved.record.take();
    if !solved.answered {
        return (Err(Failure::NotConverged { model: Model::Published, report: solved.report }), record);
    }
    (Ok(wording::answer(scenario, &traffic, solved, options)), record)
}

/// How far distributions are asked for, if they are.
fn distribution_range(scenario: &Scenario, options: &Options) -> Option<DistributionRange> {
    options.distributions.then(|| DistributionRange {
        cycles: DISTRIBUTION_CYCLES,
        at_least: latest_deadline(scenario) as usize + 1,
    })
}

/// The fixed point of the scenario by substitution.
fn means(
    scenario: &Scenario,
    traffic: &Traffic,
    options: &fixed_point::Options,
    start: Option<&WarmStart>,
    range: Option<DistributionRange>,
    recorded: bool,
) -> Parts {
    let most = match scenario.topology().as_hypercube() {
        None => options.max_iterations,
        Some(_) => options.max_iterations.min(MOST_ITERATIONS_OF_CUBES),
    };
    let options = fixed_point::Options { max_iterations: most, ..*options };
    let start = start.and_then(|start| start.toward(scenario));
    fixed_point_of(scenario.topology(), traffic, start, range, &mut Substitution { options, recorded })
}

/// The fixed point of the equations, whatever the topology, and whatever numbers they are applied to.
pub(crate) fn fixed_point_of<T: Scalar>(
    network: Network,
    traffic: &Traffic<T>,
    start: Option<&[T]>,
    range: Option<DistributionRange>,
    iterate: &mut impl Iterate<T>,
) -> Parts<T> {
    match network.as_hypercube() {
        None => router::solve(traffic, start, range, iterate),
        Some(cube) => hypercube::solve(cube.dimension, traffic, start, range, iterate),
    }
}

/// Whether the model has all that the scenario holds.
///
/// Of the schedulers it has those that the paper's analysis covers: §4.1 and Fig. 6 extend it from VirtualClock
/// to fair queueing and weighted round robin.
///
/// # Errors
/// What it has not.
pub fn supports(scenario: &Scenario) -> Result<(), Failure> {
    Model::Published.reads_all(scenario, READS)
}

/// The model in the list of models.
pub(crate) const MODEL: Declaration = Declaration {
    word: "published",
    legend: "published model",
    described: "Kim, Yum and Das, Performance Evaluation 60 (2005), as printed",
    is_usual: false,
    is_of_runs: false,
    made_for: is_of_messages,
    lacks: |quantity| {
        quantity.is_by_place()
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
    Read::Words("network.topology", &["router", "hypercube"]),
    Read::Keys("network", &["ports", "dimension"]),
    Read::Words(
        "router.scheduler",
        &["virtual-clock", "virtual-clock-persistent", "fair-queueing", "weighted-round-robin"],
    ),
    Read::Keys("router", &["pipeline_stages", "buffer_flits"]),
    Read::Words("class.kind", &["real-time", "best-effort"]),
    Read::OneClass(ClassKind::BestEffort),
    Read::Keys("class", &["rate", "message_flits", "deadlines", "vtick"]),
    Read::Words("class.source.kind", &["poisson", "on-off"]),
    Read::Keys("class.source", &["streams", "messages_per_burst", "peak_rate"]),
];

fn latest_deadline(scenario: &Scenario) -> u32 {
    scenario
        .classes()
        .iter()
        .filter(|class| class.kind == ClassKind::RealTime)
        .flat_map(flitwise_language::scenario::ClassSpec::each_deadline)
        .map(|(_, cycles)| cycles)
        .max()
        .unwrap_or(0)
}
