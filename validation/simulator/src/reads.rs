//! What the simulator of routers reads of a scenario, and what it has no means for.

use flitwise_language::document::{Place, in_short};
use flitwise_language::scenario::{
    Allocation, ClassKind, ClassSpec, Crossbar, Document, Fault, Read, Scenario, Scheduler, Switching,
    VcChoice,
};

use crate::control::power::herd_of;
use crate::lanes;

/// Most ports of a router that can be simulated.
pub const MAX_PORTS: u32 = 64;
/// Most dimensions of a cube that can be simulated.
pub const MAX_DIMENSION: u32 = 10;
/// Fewest pipeline stages that can be simulated.
pub const MIN_PIPELINE_STAGES: u32 = 3;
/// Most classes, that of signals included.
pub(crate) const MOST_CLASSES: usize = 32;
/// Most lanes of a network: virtual channels of all its links.
pub const MAX_LANES: u64 = 2_000_000;
/// What of a scenario the simulator has no means for.
///
/// # Errors
/// All of it, at once.
pub fn supports(scenario: &Scenario) -> Result<(), Vec<Fault>> {
    supports_all(scenario, READS)
}

/// The same where the messages of traces are given beside the scenario.
///
/// # Errors
/// All of it, at once.
pub fn supports_with_messages(scenario: &Scenario) -> Result<(), Vec<Fault>> {
    supports_all(scenario, &[TRACES, READS].concat())
}

fn supports_all(scenario: &Scenario, reads: &[Read]) -> Result<(), Vec<Fault>> {
    if scenario.switch().is_some() {
        return Err(vec![Fault {
            place: Place::Program,
            key: "switch".to_owned(),
            found: "a [switch] table".to_owned(),
            wanted: "routers: packet switches are simulated by themselves".to_owned(),
            help: Some("flitwise simulate simulates them".to_owned()),
        }]);
    }
    let unread = scenario.unread(reads);
    if !unread.is_empty() {
        return Err(unread.iter().map(|one| one.fault("to simulate")).collect());
    }
    let faults =
        [unlevelled(scenario), unconnected(scenario), unrouted(scenario), undelayed(scenario)].concat();
    if !faults.is_empty() {
        return Err(faults);
    }
    if !scenario.spec().phases.is_empty() && scenario.circuits().is_some() {
        return Err(vec![Fault {
            place: Place::Program,
            key: "phase".to_owned(),
            found: "[[phase]] tables with pipelined circuits".to_owned(),
            wanted: "wormhole switching to simulate phases: circuits are set up once".to_owned(),
            help: None,
        }]);
    }
    let lanes = lanes(scenario);
    if lanes <= MAX_LANES {
        return Ok(());
    }
    Err(vec![Fault {
        place: Place::Program,
        key: "network".to_owned(),
        found: format!("{lanes} lanes, a virtual channel of a link each"),
        wanted: format!("at most {MAX_LANES} to simulate: each takes some 200 bytes in each replication"),
        help: Some("take fewer nodes, links or virtual channels".to_owned()),
    }])
}

/// Whether it takes routers that know levels, preemption and blocks, or interfaces behind host buses: rules L and H of
/// the notes.
pub(crate) fn is_levelled(scenario: &Scenario) -> bool {
    levelled_by(scenario).is_some()
}

/// What takes them.
fn levelled_by(scenario: &Scenario) -> Option<&'static str> {
    let router = scenario.router();
    let has_control = scenario.classes().iter().any(|class| class.kind == ClassKind::Control);
    let causes = [
        (router.scheduler == Scheduler::LaneArbiter, "lane arbiters"),
        (router.preempts(), "preemption"),
        (has_control, "a control class"),
        (router.block_flits > 1, "blocks"),
        (scenario.host_interface().is_some(), "an interface behind a host bus"),
        (scenario.spec().power.is_some(), "a [power] table"),
    ];
    causes.into_iter().find_map(|(is_so, what)| is_so.then_some(what))
}

/// What such routers are not to be: their crossbar is multiplexed and greedy, virtual channels are drawn.
fn unlevelled(scenario: &Scenario) -> Vec<Fault> {
    let Some(cause) = levelled_by(scenario) else { return Vec::new() };
    let router = scenario.router();
    if router.scheduler == Scheduler::LaneArbiter {
        // what goes with it is checked at the door
        return controls(scenario);
    }
    let knows_levels = router.scheduler.is_fine_grained() || router.scheduler == Scheduler::Fifo;
    let schedulers = "fine-grained-virtual-clock\", \"fine-grained-fair-queueing\" or \"fifo";
    let asked = [
        (router.switching == Switching::Wormhole, "switching", router.switching.word(), "wormhole"),
        (knows_levels, "scheduler", router.scheduler.word(), schedulers),
        (router.vc_choice == VcChoice::Drawn, "vc_choice", router.vc_choice.word(), "drawn"),
        (router.crossbar == Crossbar::Multiplexed, "crossbar", router.crossbar.word(), "multiplexed"),
        (router.allocation == Allocation::Greedy, "allocation", router.allocation.word(), "greedy"),
    ];
    let faults = asked.into_iter().filter(|(is_so, ..)| !is_so).map(|(_, key, found, wanted)| Fault {
        place: Place::Program,
        key: format!("router.{key}"),
        found: format!("\"{found}\""),
        wanted: format!("\"{wanted}\" to simulate {cause}"),
        help: wanted.split('"').next().map(|first| format!("write {key} = \"{first}\" under [router]")),
    });
    faults.collect()
}

/// What controls of interfaces and power cannot be.
fn controls(scenario: &Scenario) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut refuse = |key: String, found: &str, wanted: &str, help: Option<&str>| {
        let (place, found, wanted) = (Place::Program, found.to_owned(), wanted.to_owned());
        faults.push(Fault { place, key, found, wanted, help: help.map(str::to_owned) });
    };
    if scenario.channel_adapter().is_some() {
        for class in scenario.classes().iter().filter(|class| class.withdrawn_in().is_some()) {
            let wanted = "traffic that is drained to simulate channel adapters";
            let help = Some("write end_of_traffic = \"drain\"");
            refuse(format!("class.{}.end", class.name), "an end of the traffic", wanted, help);
        }
    }
    if let Some((budget, worst)) = herd_of(scenario).filter(|(budget, worst)| worst > budget) {
        let found = format!("{} pJ for a router in an epoch", in_short(budget));
        let wanted = format!("at least {}, the most of a cycle: no flit would ever move", in_short(worst));
        refuse("power.control".to_owned(), &found, &wanted, Some("raise the budget, or epoch"));
    }
    faults
}

/// Links with a delay or less capacity than others, where what is simulated knows none.
fn undelayed(scenario: &Scenario) -> Vec<Fault> {
    let network = scenario.topology();
    if network.link_times().is_empty() {
        return Vec::new();
    }
    let what =
        if network.has_slow_links() { "links of less capacity than others" } else { "links with a delay" };
    let has_connections = scenario.classes().iter().any(|class| class.connections.is_some());
    let causes = [
        levelled_by(scenario),
        scenario.circuits().map(|_| "circuits"),
        has_connections.then_some("connections"),
    ];
    let fault = |cause: &str| Fault {
        place: Place::Program,
        key: scenario.network().key_of_delays().to_owned(),
        found: what.to_owned(),
        wanted: format!("none to simulate {cause}"),
        help: Some("remove them: wormhole routers without levels and packet switches have them".to_owned()),
    };
    causes.into_iter().flatten().take(1).map(fault).collect()
}

/// What does not go with ways that are drawn, and with many ports.
fn unrouted(scenario: &Scenario) -> Vec<Fault> {
    let network = scenario.topology();
    let has_connections = scenario.classes().iter().any(|class| class.connections.is_some());
    let asked = [
        (
            network.ways() > 1 && (has_connections || scenario.circuits().is_some()),
            "network.routing",
            format!("{} ways up, of which each message takes one", network.ways()),
            "\"d-mod-k\" or \"s-mod-k\" to simulate connections and circuits: each holds the links of its way",
        ),
        (
            network.is_adaptive() && is_levelled(scenario),
            "network.routing",
            "a routing that chooses by backlogs".to_owned(),
            "another one to simulate levels of priority, blocks, host buses and power",
        ),
        (
            network.routers() > 1 && network.ports() > MAX_PORTS && is_levelled(scenario),
            "network",
            format!("switches of {} ports", network.ports()),
            "at most 64 ports to simulate levels of priority, blocks, host buses and power",
        ),
    ];
    let faults = asked.into_iter().filter(|(is_so, ..)| *is_so).map(|(_, key, found, wanted)| Fault {
        place: Place::Program,
        key: key.to_owned(),
        found,
        wanted: wanted.to_owned(),
        help: None,
    });
    faults.collect()
}

/// What does not go with connections.
fn unconnected(scenario: &Scenario) -> Vec<Fault> {
    let spec = scenario.spec();
    let with_frames = |class: &ClassSpec| class.connections.is_some() && class.source.has_frames();
    if spec.classes.iter().all(|class| class.connections.is_none()) {
        return Vec::new();
    }
    let in_band = scenario.has_signals_in_band();
    let (links, retry) = (scenario.topology().parallel_links(), spec.admission.map_or(0.0, |one| one.retry));
    let asked = [
        (
            links > 1,
            "network.links",
            links.to_string(),
            "1 to simulate connections: each books the links of its way",
        ),
        (
            !spec.phases.is_empty(),
            "phase",
            "[[phase]] tables".to_owned(),
            "none to simulate connections, which are asked for once",
        ),
        (
            scenario.circuits().is_some(),
            "router.switching",
            format!("\"{}\"", spec.router.switching.word()),
            "\"wormhole\" to simulate connections",
        ),
        (
            retry > 0.0 && spec.classes.iter().any(with_frames),
            "admission.retry",
            in_short(retry),
            "0 to simulate connections that are streams of frames: those refused are known from the beginning",
        ),
        (
            in_band && spec.classes.iter().any(with_frames),
            "admission.signalling",
            "\"in-band\"".to_owned(),
            "\"sideband\" to simulate streams of frames: connections refused are known from the beginning",
        ),
        (
            in_band && scenario.topology().ports() >= MAX_PORTS,
            "admission.signalling",
            format!("\"in-band\" in routers of {} ports", scenario.topology().ports()),
            "at most 63 to simulate: the management station has one more",
        ),
        (
            in_band && scenario.topology().rows() > 1,
            "admission.signalling",
            "\"in-band\" in a network with switches above each other".to_owned(),
            "\"sideband\" to simulate: signals go between routers with nodes",
        ),
        (
            in_band && spec.classes.len() >= MOST_CLASSES,
            "admission.signalling",
            format!("\"in-band\" beside {} classes", spec.classes.len()),
            "at most 31 to simulate: signals are one more",
        ),
    ];
    let faults = asked.into_iter().filter(|(is_so, ..)| *is_so).map(|(_, key, found, wanted)| Fault {
        place: Place::Program,
        key: key.to_owned(),
        found,
        wanted: wanted.to_owned(),
        help: None,
    });
    faults.collect()
}

/// What of a document that is no scenario the simulator has no means for.
pub fn unsupported(document: &Document) -> Vec<Fault> {
    document.unread(READS).iter().map(|one| one.fault("to simulate")).collect()
}

/// What it reads where messages are given beside the scenario.
const TRACES: &[Read] = &[
    Read::Words("class.source.kind", &["poisson", "periodic", "on-off", "cbr", "vbr", "mpeg2", "trace"]),
    Read::Keys("class.source", &["file", "compression"]),
];

/// Every routing.
const ROUTINGS: &[&str] =
    &["d-mod-k", "s-mod-k", "random-up", "adaptive-up", "shortest", "up-down", "tables"];

/// What the simulator reads of a scenario.
const READS: &[Read] = &[
    Read::Words("network.topology", &["router", "hypercube", "mesh", "torus", "fat-tree", "file"]),
    Read::Keys("network", &["radix", "dimensions", "nodes_per_router", "links", "self_traffic"]),
    Read::Keys("network", &["levels", "taper", "arity", "down", "up", "file", "root"]),
    // where `undelayed` finds no fault
    Read::Keys("network.delay", &["up"]),
    Read::Words("network.routing", ROUTINGS),
    Read::Within("network.ports", 2.0, MAX_PORTS as f64, "flitwise solve takes up to 1024"),
    Read::Within("network.dimension", 1.0, MAX_DIMENSION as f64, "flitwise solve takes up to 16"),
    Read::Within(
        "router.pipeline_stages",
        MIN_PIPELINE_STAGES as f64,
        64.0,
        "input buffer, crossbar and link are a stage each",
    ),
    Read::Keys(
        "router",
        &[
            "buffer_flits",
            "virtual_channels",
            "scheduler",
            "vc_choice",
            "crossbar",
            "allocation",
            "switching",
        ],
    ),
    // these and control classes where `unlevelled` finds no fault
    Read::Keys("router", &["preemption", "acceleration", "output_lanes", "vc_map", "block_flits"]),
    Read::Keys(
        "interface",
        &["kind", "injection", "buffer", "firmware", "bus_rate", "bus_setup", "descriptor", "send_setup"],
    ),
    Read::Keys("router.weights", &["frame", "per_lane", "pointer"]),
    Read::Keys("admission", &["test", "reserve", "limit_share", "hop_delay", "retry", "signalling"]),
    Read::Keys("congestion", &["control", "credits", "credits_per_queue", "queues", "return", "ack_delay"]),
    Read::Keys("congestion", &["real_time_drop", "include_interface", "gather", "raise", "lower", "initial"]),
    Read::Keys("power", &["buffer_read", "buffer_write", "arbitration", "crossbar", "link"]),
    Read::Keys("power", &["injection_link", "interface", "window", "control", "budget_load", "budget"]),
    Read::Keys("power", &["real_time_share", "account", "restore", "epoch", "spare_factor"]),
    Read::Keys(
        "class.connections",
        &["mean", "peak", "on", "count", "request", "spread", "erlangs", "holding"],
    ),
    Read::Keys("circuits", &["attempts_per_stream", "pool", "vtick", "attempts", "holding", "retries"]),
    Read::Words("class.kind", &["real-time", "best-effort", "control"]),
    Read::Keys("class", &["rate", "message_flits", "virtual_channels", "deadlines", "vtick"]),
    Read::Keys("class", &["nodes", "destination", "start", "end", "end_of_traffic"]),
    Read::Keys("class", &["frame_deadline"]),
    Read::Keys("measure", &["warm_up", "end", "bin"]),
    Read::Keys("", &["phase"]),
    Read::Words("class.source.kind", &["poisson", "periodic", "on-off", "cbr", "vbr", "mpeg2"]),
    Read::Keys("class.source", &["streams", "messages_per_burst", "peak_rate"]),
    Read::Keys(
        "class.source",
        &["sizes", "frame", "frame_deviation", "sequences", "frame_variation", "frame_scale"],
    ),
    Read::Keys("class.source", &["stream", "frame_interval", "header_flits", "pacing", "phase"]),
    Read::Keys("class.source", &["placement", "streams_per_vc"]),
];
