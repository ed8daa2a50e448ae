//! The *mediaworm* model: streams of frames through wormhole routers whose virtual channels share a crossbar, and best
//! effort beside them.
//!
//! One file per argument: [`FrameLayout`] load, [`MessageCount`] and [`CountLaw`] frame intervals, [`Contention`]
//! crossbars and schedulers, latency, [`Lanes`] saturation, [`Placement`] of streams, [`Interface`] and
//! [`PeriodicQueue`] waiting, [`attempts`] and losses of circuits. Numbers marked * were measured with a prototype of
//! the simulator.

mod circuits;
mod crossbar;
mod frame_interval;
mod lanes;
mod latency;
mod load;
mod placement;
mod problem;
mod rings;
mod set_up;
mod solution;
mod waiting;

pub use circuits::{Side, attempts, drawn_loss, erlang_fixed_point, established};
pub use crossbar::{Contention, Order};
pub use frame_interval::{
    CountLaw, FrameSize, MessageCount, deviation, mean_interval, pacing_variance, proven_bound,
};
pub use lanes::Lanes;
pub use latency::{PortExcess, best_effort_excess, real_time_excess};
pub use load::{FrameLayout, jitter_free_bound};
pub use placement::{Placement, jitter_free_streams, share_beyond, streams_at_an_output};
pub use set_up::SetUp;
pub(crate) use solution::LACKS;
pub use waiting::{Held, Interface, PeriodicQueue};

use crate::answer::Answer;
use crate::model::{Declaration, Failure, Model, Options, Refusal, has_frames, has_lane_arbiters};
use flitwise_language::scenario::{ClassKind, ClassSpec, Read, Scenario, Scheduler};
use problem::Problem;

/// Solves the model.
///
/// # Errors
/// When the scenario holds something that the model has not. Saturation is no error.
pub fn solve(scenario: &Scenario, options: &Options) -> Result<Answer, Failure> {
    supports(scenario)?;
    let router = scenario.router();
    let contention = Contention::of(router.crossbar, router.scheduler);
    Ok(solution::answer(scenario, &Problem::new(scenario, contention), options))
}

fn refused(refusals: Vec<Refusal>) -> Failure {
    Failure::Refused { model: Model::Mediaworm, refusals }
}

/// Whether the model has all that the scenario holds.
///
/// # Errors
/// What it has not.
pub fn supports(scenario: &Scenario) -> Result<(), Failure> {
    let fifo = if scenario.router().scheduler == Scheduler::Fifo { READS_OF_FIFO } else { &[] };
    let circuits = if scenario.circuits().is_some() { READS_OF_CIRCUITS } else { &[] };
    let mut refusals = match Model::Mediaworm.reads_all(scenario, &[READS, fifo, circuits].concat()) {
        Err(Failure::Refused { refusals, .. }) => refusals,
        _ => Vec::new(),
    };
    let source = |class: &&ClassSpec| !solution::has_source(&class.source, class.kind == ClassKind::RealTime);
    for class in scenario.classes().iter().filter(source) {
        let because = match class.kind {
            ClassKind::RealTime => "has streams of frames for real time: source kind cbr, vbr or mpeg2",
            _ => "has Poisson messages for best effort",
        };
        refusals
            .push(Refusal { key: format!("class.{}.source.kind", class.name), because: because.to_owned() });
    }
    let (nodes, network) = (scenario.topology().nodes(), scenario.topology());
    if scenario.circuits().is_some() && network.most_hops() > 0 && nodes > set_up::MOST_NODES {
        let because = format!("has circuits over several routers of {} nodes at most", set_up::MOST_NODES);
        refusals.push(Refusal { key: "network".to_owned(), because });
    }
    let links = network.routers().saturating_mul(network.ports());
    if links > MOST_LINKS {
        let seconds = f64::from(links) / LINKS_A_SECOND;
        let because = format!(
            "looks at every link by itself, which would take about {seconds:.0} s here; it takes networks of up to \
             {MOST_LINKS} links"
        );
        refusals.push(Refusal { key: "network".to_owned(), because });
    }
    if refusals.is_empty() {
        refusals.extend(crate::paths::supports(scenario).err());
    }
    if refusals.is_empty() { Ok(()) } else { Err(refused(refusals)) }
}

/// Links up to which the model answers, and in a second: two seconds.
const MOST_LINKS: u32 = 300_000;
const LINKS_A_SECOND: f64 = 1.6e5;

/// The model in the list of models.
pub(crate) const MODEL: Declaration = Declaration {
    word: "mediaworm",
    legend: "mediaworm model",
    described: "Streams of frames beside best effort: intervals, jitter, latencies",
    is_usual: true,
    is_of_runs: false,
    made_for: |scenario| has_frames(scenario) && !has_lane_arbiters(scenario),
    lacks: |quantity| {
        let is_lacked = LACKS.contains(&quantity)
            || quantity.needs_distribution()
            || quantity.is_of_packets()
            || quantity.is_of_frame_deadlines()
            || quantity.is_of_levels();
        is_lacked && !quantity.is_of_frames()
    },
    supports,
    solve,
};

/// What the model reads.
const READS: &[Read] = &[
    Read::Words("network.topology", &["router", "hypercube", "mesh", "torus"]),
    Read::Keys("network", &["ports", "dimension", "radix", "dimensions", "nodes_per_router", "links"]),
    Read::Words("router.scheduler", &["fine-grained-virtual-clock", "fine-grained-fair-queueing", "fifo"]),
    Read::Words("router.crossbar", &["full", "multiplexed"]),
    Read::Words("router.allocation", &["greedy"]),
    Read::Words("router.vc_choice", &["drawn", "free"]),
    Read::Keys("router", &["pipeline_stages", "buffer_flits", "virtual_channels", "switching"]),
    Read::Keys("circuits", &["attempts_per_stream", "pool", "vtick", "attempts", "holding", "retries"]),
    Read::Keys("mix", &["load"]),
    Read::Words("class.kind", &["real-time", "best-effort"]),
    Read::Keys("class", &["rate", "load", "share", "message_flits", "virtual_channels"]),
    Read::Words("class.source.kind", &["poisson", "cbr", "vbr", "mpeg2"]),
    Read::Keys(
        "class.source",
        &[
            "frame",
            "frame_deviation",
            "sizes",
            "sequences",
            "frame_variation",
            "frame_scale",
            "streams",
            "stream",
            "frame_interval",
            "header_flits",
            "placement",
            "streams_per_vc",
        ],
    ),
    Read::Words("class.source.pacing", &["even", "even-late"]),
    Read::Words("class.source.phase", &["random", "even"]),
];

/// The same without clocks, where a Vtick follows from the streams and changes nothing.
const READS_OF_FIFO: &[Read] = &[Read::Keys("class", &["vtick"])];

/// Circuits of one class share a pool.
const READS_OF_CIRCUITS: &[Read] =
    &[Read::OneClass(ClassKind::BestEffort), Read::OneClass(ClassKind::RealTime)];

#[cfg(test)]
mod tests;

#[cfg(test)]
fn assert_near(found: f64, expected: f64, relative: f64) {
    assert!((found - expected).abs() <= relative * expected.abs().max(1e-300), "{found} is not {expected}");
}
