//! The *admission* model: admission, congestion and power control in clusters of wormhole routers with many lanes, the
//! analytical counterpart of Yum, Jin, Kim and Das, Integration of admission, congestion, and peak power control in
//! QoS-aware clusters.
//!
//! Control messages go first, then connections, then best effort. The answer is made of closed forms; only refused
//! connections and credits that are returned at delivery are iterated.
//!
//! | module | question |
//! |---|---|
//! | [`record_law`] | what share of frames misses a deadline that follows the latest frame |
//! | [`lane_shares`] | what weighted round robin gives a lane, on average and at worst |
//! | [`energy`] | mean and variation of power, loads under a power budget |
//! | [`windows`] | waits of best effort, with credits returned at injection |
//! | [`closed_network`] | throughput with credits returned at delivery |
//! | [`rejection`] | share of connection requests that are refused |
//!
//! A load is in flits per cycle and node, `M` is the length of a packet in flits, `P` the number of pipeline stages
//! of a router. Measured values are those of a prototype of the simulator.

pub mod closed_network;
mod connections;
pub mod energy;
pub mod lane_shares;
mod latency;
mod power;
mod problem;
pub mod record_law;
pub mod rejection;
mod solution;
#[cfg(test)]
mod tests;
pub mod windows;

use flitwise_language::network::Topology;
use flitwise_language::quantity::Quantity;
use flitwise_language::scenario::{ClassKind, Read, Scenario};

use crate::answer::Answer;
use crate::model::{Declaration, Failure, Model, Options, Refusal, has_lane_arbiters};
use crate::paths;

/// Solves the model.
///
/// # Errors
/// When the scenario holds something that the model has not. Saturation is no error.
pub fn solve(scenario: &Scenario, options: &Options) -> Result<Answer, Failure> {
    supports(scenario)?;
    Ok(solution::answer(scenario, options))
}

/// What connections hold of every link, by router and output port \[flits/cycle\].
///
/// # Errors
/// As [`solve`]; and why there is no share of refused connections.
pub fn reserved(scenario: &Scenario) -> Result<impl Fn(u32, u32) -> f64 + use<>, String> {
    supports(scenario).map_err(|failure| failure.to_string())?;
    let held = connections::reserved(scenario)?;
    let (nodes, ports) = (scenario.topology().nodes(), scenario.topology().ports());
    Ok(move |router, port| held[(nodes + router * ports + port) as usize])
}

/// Whether the model has all that the scenario holds.
///
/// # Errors
/// What it has not.
pub fn supports(scenario: &Scenario) -> Result<(), Failure> {
    let mut refusals = match Model::Admission.reads_all(scenario, READS) {
        Err(Failure::Refused { refusals, .. }) => refusals,
        _ => Vec::new(),
    };
    let nodes = scenario.topology().nodes();
    if scenario.switch().is_none() && nodes > MOST_NODES {
        let because = format!("looks at the path of each pair of nodes; it takes up to {MOST_NODES} nodes");
        refusals.push(Refusal { key: "network".to_owned(), because });
    }
    refusals.extend(paths::uneven_senders(scenario));
    for class in scenario.classes() {
        if class.kind != ClassKind::RealTime && class.source.has_frames() {
            let because = "has frames in connections only".to_owned();
            refusals.push(Refusal { key: format!("class.{}.source.kind", class.name), because });
        }
    }
    if refusals.is_empty() { Ok(()) } else { Err(Failure::Refused { model: Model::Admission, refusals }) }
}

/// Most nodes, of which the paths of all pairs are looked at one by one.
const MOST_NODES: u32 = 64;

/// The model in the list of models.
pub(crate) const MODEL: Declaration = Declaration {
    word: "admission",
    legend: "admission model",
    described: "Routers with lane arbiters: admission, congestion and power control",
    is_usual: true,
    is_of_runs: false,
    made_for: has_lane_arbiters,
    lacks: |quantity| {
        let is_of_others =
            quantity.is_of_packets() || quantity.is_of_circuits() || quantity.is_of_interfaces();
        let is_lacked = solution::LACKS.contains(&quantity) || quantity.needs_distribution();
        let is_of_frames = quantity.is_of_frames() && quantity != Quantity::FrameInterval;
        let is_lacked = is_lacked || quantity == Quantity::RatchetLateness;
        is_lacked || is_of_others || is_of_frames || quantity == Quantity::Preemptions
    },
    supports,
    solve,
};

/// What the model reads.
const READS: &[Read] = &[
    Read::Words("network.topology", &["router", "mesh"]),
    Read::Keys("network", &["ports", "radix", "dimensions", "nodes_per_router", "self_traffic"]),
    Read::Words("router.scheduler", &["lane-arbiter"]),
    Read::Words("router.vc_choice", &["drawn-input"]),
    Read::Words("router.crossbar", &["multiplexed"]),
    Read::Words("router.allocation", &["rotating"]),
    Read::Keys("router", &["pipeline_stages", "buffer_flits", "virtual_channels"]),
    Read::Keys("router.weights", &["frame", "per_lane", "pointer"]),
    Read::Words("interface.kind", &["channel-adapter"]),
    Read::Keys("interface", &["injection", "buffer"]),
    Read::Keys("mix", &["load"]),
    // in-band: the delay of a lone message
    Read::Words("admission.signalling", &["sideband", "in-band"]),
    Read::Keys("admission", &["test", "reserve", "limit_share", "hop_delay"]),
    Read::Keys("congestion", &["control", "credits", "credits_per_queue", "queues", "return", "ack_delay"]),
    Read::Keys("congestion", &["real_time_drop", "include_interface", "gather", "raise", "lower", "initial"]),
    Read::Keys("power", &["buffer_read", "buffer_write", "arbitration", "crossbar", "link"]),
    Read::Keys("power", &["injection_link", "interface", "window", "control", "budget_load", "budget"]),
    Read::Keys("power", &["real_time_share", "account", "restore", "epoch", "spare_factor"]),
    Read::Keys("measure", &["warm_up", "end"]),
    Read::OneClass(ClassKind::Control),
    Read::OneClass(ClassKind::RealTime),
    Read::OneClass(ClassKind::BestEffort),
    Read::Keys(
        "class",
        &["kind", "rate", "load", "share", "message_flits", "virtual_channels", "frame_deadline"],
    ),
    Read::Keys("class", &["nodes", "destination", "deadlines", "vtick"]),
    Read::Keys(
        "class.connections",
        &["mean", "peak", "on", "count", "request", "spread", "erlangs", "holding"],
    ),
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
        ],
    ),
    Read::Words("class.source.pacing", &["even", "even-late"]),
    Read::Words("class.source.placement", &["uniform"]),
    Read::Words("class.source.phase", &["random"]),
];

/// Where a packet goes: the channels from one node to another.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    /// The node it starts at.
    pub source: usize,
    /// Injection channel, network channels in order, ejection channel.
    pub channels: Vec<usize>,
}

impl Path {
    /// Network channels on it.
    pub fn hops(&self) -> u32 {
        self.channels.len() as u32 - 2
    }
}

/// The paths from every node to all others, sorted by source.
///
/// Channels are numbered: injection channels are `0 .. nodes`, then the output ports router by router; those that are
/// absent have a number too. Of parallel links the first is taken.
pub fn paths(network: &dyn Topology) -> Vec<Path> {
    let nodes = network.nodes();
    let pairs = (0..nodes).flat_map(|from| (0..nodes).map(move |to| (from, to)));
    pairs.filter(|(from, to)| from != to).map(|(from, to)| path(network, from, to)).collect()
}

/// The path from one node to another, which may be the same; channels are those of [`paths()`].
pub fn path(network: &dyn Topology, source: u32, destination: u32) -> Path {
    let place = |router: u32, port: u32| (network.nodes() + router * network.ports() + port) as usize;
    let behind = network.path(source, destination, 0).map(|hop| place(hop.router, hop.port));
    Path { source: source as usize, channels: [source as usize].into_iter().chain(behind).collect() }
}

/// Numbers that [`paths()`] gives to channels.
pub fn channels(network: &dyn Topology) -> usize {
    network.nodes() as usize + network.routers() as usize * network.ports() as usize
}

#[cfg(test)]
fn mesh(side: u32) -> flitwise_language::network::Network {
    use flitwise_language::scenario::{NetworkSpec, Radix};
    let radix = Radix::of(&[side, side]).expect("two dimensions");
    NetworkSpec::Mesh { radix, dimensions: None, nodes_per_router: 1, links: 1, self_traffic: None }
        .topology()
}

#[cfg(test)]
fn assert_near(found: f64, expected: f64, relative: f64) {
    assert!((found - expected).abs() <= relative * expected.abs().max(1e-300), "{found} is not {expected}");
}

#[cfg(test)]
mod channel_tests {
    use super::*;

    /// Loads of item 1: eastward from column x `(x + 1) (k - 1 - x) k / (n - 1)`, at most 1.0667 and 1.25.
    #[test]
    fn a_mesh_has_the_channel_rates_of_the_chapter() {
        for (side, most, mean) in [(4, 1.0667, 8.0 / 3.0), (5, 1.25, 10.0 / 3.0)] {
            let network = mesh(side);
            let paths = paths(&*network);
            let nodes = f64::from(side * side);
            let mut loads = vec![0.0; channels(&*network)];
            for channel in paths.iter().flat_map(|path| &path.channels) {
                loads[*channel] += 1.0 / (nodes - 1.0);
            }
            assert_near(loads.iter().fold(0.0, |most, load| f64::max(most, *load)), most, 1e-4);
            assert!(loads[..nodes as usize].iter().all(|load| (load - 1.0).abs() < 1e-12));
            let hops: u32 = paths.iter().map(Path::hops).sum();
            assert_near(f64::from(hops) / paths.len() as f64, mean, 1e-12);
        }
    }
}
