//! What the simulator of routers reads of a scenario, and what it has no means for.

use flitwise_language::document::Place;
use flitwise_language::scenario::{Document, Fault, Read, Scenario};

use crate::lanes;

/// Most ports of a router that can be simulated.
pub const MAX_PORTS: u32 = 64;
/// Most dimensions of a cube that can be simulated.
pub const MAX_DIMENSION: u32 = 10;
/// Fewest pipeline stages that can be simulated.
pub const MIN_PIPELINE_STAGES: u32 = 3;
/// Most lanes of a network: virtual channels of all its links.
pub const MAX_LANES: u64 = 2_000_000;
/// What of a scenario the simulator has no means for.
///
/// # Errors
/// All of it, at once.
pub fn supports(scenario: &Scenario) -> Result<(), Vec<Fault>> {
    if scenario.switch().is_some() {
        return Err(vec![Fault {
            place: Place::Program,
            key: "switch".to_owned(),
            found: "a [switch] table".to_owned(),
            wanted: "routers: packet switches are simulated by themselves".to_owned(),
            help: Some("flitwise simulate simulates them".to_owned()),
        }]);
    }
    let unread = scenario.unread(READS);
    if !unread.is_empty() {
        return Err(unread.iter().map(|one| one.fault("to simulate")).collect());
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

/// What of a document that is no scenario the simulator has no means for.
pub fn unsupported(document: &Document) -> Vec<Fault> {
    document.unread(READS).iter().map(|one| one.fault("to simulate")).collect()
}

/// What the simulator reads of a scenario.
const READS: &[Read] = &[
    Read::Words("network.topology", &["router", "hypercube", "mesh", "torus"]),
    Read::Keys("network", &["radix", "dimensions", "nodes_per_router", "links"]),
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
    Read::Keys("circuits", &["attempts_per_stream", "pool", "vtick", "attempts", "holding", "retries"]),
    Read::Words("class.kind", &["real-time", "best-effort"]),
    Read::Keys("class", &["rate", "message_flits", "virtual_channels", "deadlines", "vtick"]),
    Read::Keys("class", &["nodes", "destination", "start", "end", "end_of_traffic"]),
    Read::Keys("measure", &["warm_up", "end", "bin"]),
    Read::Words("class.source.kind", &["poisson", "on-off", "cbr", "vbr", "mpeg2"]),
    Read::Keys("class.source", &["streams", "messages_per_burst", "peak_rate"]),
    Read::Keys(
        "class.source",
        &["sizes", "frame", "frame_deviation", "sequences", "frame_variation", "frame_scale"],
    ),
    Read::Keys("class.source", &["stream", "frame_interval", "header_flits", "pacing", "phase"]),
    Read::Keys("class.source", &["placement", "streams_per_vc"]),
];
