//! The *router-nic* formulas: preemptive wormhole routers and network interfaces behind a host bus, the analytical
//! counterpart of Yum, Kim and Das, ISCA 2001.
//!
//! Three kinds of traffic in order of priority: control, real time (frames of video) and best effort. One file per
//! argument, in closed forms but for integrals over the laws of records:
//!
//! - [`records`] what the paper's deadline missing probability measures: [`ExcessLaw`], [`phase_records`];
//! - [`stamps`] who goes first at a link, by Vticks: [`Vticks`];
//! - [`real_time`] latency of real time over the links of a path: [`RealTimePath`];
//! - [`best_effort`] latency below it, and of every class in a traditional router: [`BestEffortPath`], [`TwoLinks`];
//! - [`preemption`] what preemption, acceleration and blocks cost: [`Acceleration`], [`Blocks`];
//! - [`host_interface`] firmware, host bus and wire of an interface: [`HostInterface`].
//!
//! Time is in router cycles, length in flits, loads are in flits per cycle and node, header flits included. Numbers
//! marked * were measured with a prototype of the simulator. Inputs are checked by the caller: loads are finite and
//! not negative, lengths and service times are positive, and there is at least one virtual channel.

pub mod best_effort;
pub mod host_interface;
mod integral;
pub mod preemption;
mod problem;
pub mod real_time;
pub mod records;
mod solution;
pub mod stamps;

use std::fmt;

use crate::answer::Answer;
use crate::model::{Declaration, Failure, Model, Options, Refusal, has_lane_arbiters};
use crate::queueing::Md1;
use flitwise_language::quantity::Quantity;
use flitwise_language::scenario::{ClassKind, ClassSpec, Read, Scenario};
pub(crate) use solution::LACKS;

pub use best_effort::{BestEffortLatency, BestEffortPath, LinkBelow, TwoLinks, least_mean_latency};
pub use host_interface::{
    HostBus, HostInterface, InterfaceClass, InterfaceKind, InterfaceLatency, PerStation,
};
pub use preemption::{Acceleration, Blocks, ControlPath};
pub use real_time::{Arrivals, PathLink, RealTimeLatency, RealTimePath};
pub use records::{ExcessLaw, Phase, PhaseRecords, phase_records, stationary_miss_probability};
pub use stamps::Vticks;

/// What to know of every deadline that follows the latest frame.
pub const RECORDS: &str = "frame_deadline: a ratchet is missed by records, (H_K - 1) / (K - 1) of K frames of a stream \
                           whatever the network; see the playout deadline and the missing time beside it";

/// Solves the model.
///
/// # Errors
/// When the scenario holds something that the model has not. Saturation is no error.
pub fn solve(scenario: &Scenario, options: &Options) -> Result<Answer, Failure> {
    supports(scenario)?;
    Ok(solution::answer(scenario, options))
}

/// Whether the model has all that the scenario holds.
///
/// # Errors
/// What it has not.
pub fn supports(scenario: &Scenario) -> Result<(), Failure> {
    let mut refusals = match Model::RouterNic.reads_all(scenario, READS) {
        Err(Failure::Refused { refusals, .. }) => refusals,
        _ => Vec::new(),
    };
    let source = |class: &&ClassSpec| {
        class.kind == ClassKind::BestEffort && (class.source.has_frames() || class.source.is_periodic())
    };
    for class in scenario.classes().iter().filter(source) {
        let because = "has Poisson messages for best effort".to_owned();
        refusals.push(Refusal { key: format!("class.{}.source.kind", class.name), because });
    }
    let network = scenario.topology();
    if network.routers() > 1 && network.nodes() > problem::MOST_NODES {
        let because = format!(
            "looks at the path of each pair of nodes; it takes networks of up to {} nodes",
            problem::MOST_NODES
        );
        refusals.push(Refusal { key: "network".to_owned(), because });
    }
    if refusals.is_empty() { Ok(()) } else { Err(Failure::Refused { model: Model::RouterNic, refusals }) }
}

/// Whether a scenario is of routers with levels: control, preemption, changing mixes or host buses.
fn has_levels(scenario: &Scenario) -> bool {
    let has_control = scenario.classes().iter().any(|class| class.kind == ClassKind::Control);
    let is_mixed = !scenario.spec().phases.is_empty();
    let is_of_routers = scenario.switch().is_none() && !has_lane_arbiters(scenario);
    let has_host = scenario.host_interface().is_some();
    is_of_routers && (has_control || is_mixed || has_host || scenario.router().preempts())
}

/// The model in the list of models.
pub(crate) const MODEL: Declaration = Declaration {
    word: "router-nic",
    legend: "router-nic model",
    described: "Routers with levels, changing mixes and interfaces behind a host bus",
    is_usual: true,
    is_of_runs: true,
    made_for: has_levels,
    lacks: |quantity| {
        let is_lacked = LACKS.contains(&quantity) || quantity.needs_distribution();
        // they are told phase by phase
        let is_lacked = is_lacked || quantity.is_of_frame_deadlines();
        is_lacked || quantity.is_of_packets() || quantity.is_of_frames() || quantity == Quantity::Preemptions
    },
    supports,
    solve,
};

/// What the model reads.
const READS: &[Read] = &[
    Read::Words("network.topology", &["router", "hypercube", "mesh"]),
    Read::Keys("network", &["ports", "dimension", "radix", "dimensions", "nodes_per_router"]),
    Read::Words("router.scheduler", &["fine-grained-virtual-clock", "fine-grained-fair-queueing", "fifo"]),
    Read::Words("router.crossbar", &["multiplexed"]),
    Read::Words("router.allocation", &["greedy"]),
    Read::Words("router.vc_choice", &["drawn"]),
    Read::Keys("router", &["pipeline_stages", "buffer_flits", "virtual_channels", "block_flits"]),
    Read::Keys("router", &["preemption", "acceleration", "output_lanes", "vc_map"]),
    Read::Keys("interface", &["kind", "injection", "buffer", "firmware"]),
    Read::Keys("interface", &["bus_rate", "bus_setup", "descriptor", "send_setup"]),
    Read::Keys("mix", &["load", "real_time_shares", "duration"]),
    Read::Keys("", &["phase"]),
    Read::Keys("measure", &["warm_up"]),
    Read::OneClass(ClassKind::BestEffort),
    Read::OneClass(ClassKind::RealTime),
    Read::Keys(
        "class",
        &["kind", "rate", "load", "share", "message_flits", "virtual_channels", "vtick", "frame_deadline"],
    ),
    Read::Words("class.source.kind", &["poisson", "periodic", "cbr", "vbr", "mpeg2"]),
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
        ],
    ),
    Read::Words("class.source.pacing", &["even", "even-late"]),
    Read::Words("class.source.placement", &["uniform"]),
    Read::Words("class.source.phase", &["random"]),
];

/// A part of the system that can saturate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// A link of the path.
    Link,
    /// The crossbar, as far as its matching carries it.
    Crossbar,
    /// The virtual channels of the class at its interface.
    VirtualChannels,
    /// The firmware of the interface.
    Firmware,
    /// The host bus.
    Bus,
    /// The send side of the interface, programmed once per message.
    Wire,
}

impl Part {
    /// Its name in a sentence, such as `the host bus`.
    pub fn described(self) -> &'static str {
        match self {
            Self::Link => "a link",
            Self::Crossbar => "the crossbar",
            Self::VirtualChannels => "the virtual channels of the class",
            Self::Firmware => "the firmware",
            Self::Bus => "the host bus",
            Self::Wire => "the send side of the interface",
        }
    }
}

/// Why there is no steady state: a part is asked for all its time or more. An answer, not a fault; it is the `Err` of
/// a `Result` so that a latency made of several parts can hand it on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Saturated {
    /// The part, the first along the way of a message.
    pub part: Part,
    /// Share of its time that it would have to work, one or more.
    pub load: f64,
}

impl fmt::Display for Saturated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} would have to work for {:.4} of its time", self.part.described(), self.load)
    }
}

impl std::error::Error for Saturated {}

/// `load` if the part has a steady state with it.
fn steady(part: Part, load: f64) -> Result<f64, Saturated> {
    if load < 1.0 { Ok(load) } else { Err(Saturated { part, load }) }
}

/// Wait for one of `virtual_channels` that are held for `held_cycles` by each message of a class of `load` \[cycles\],
/// and the share `q` of the time that they are held. Each virtual channel is M/D/1.
fn channel_wait(
    load: f64,
    message_flits: f64,
    virtual_channels: f64,
    held_cycles: f64,
) -> Result<ChannelWait, Saturated> {
    let station = Md1 { rate: load / (message_flits * virtual_channels), mean: held_cycles };
    // q = R S / (M r)
    let held_share = steady(Part::VirtualChannels, station.load())?;
    // q S / (2 (1 - q))
    let cycles = station.measures().reached().map_or(0.0, |means| means.mean_wait);
    Ok(ChannelWait { held_share, cycles })
}

/// See [`channel_wait`].
struct ChannelWait {
    held_share: f64,
    cycles: f64,
}

#[cfg(test)]
fn assert_near(found: f64, expected: f64, relative: f64) {
    assert!((found - expected).abs() <= relative * expected.abs().max(1e-300), "{found} is not {expected}");
}

/// Digits as printed.
#[cfg(test)]
fn assert_digits(found: f64, expected: &str) {
    let decimals = expected.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    assert_eq!(format!("{found:.decimals$}"), expected);
}
