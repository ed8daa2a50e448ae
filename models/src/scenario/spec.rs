//! What is modelled, as written down by a user: plain structs with public fields (Table 1 of [KYD05]).
//!
//! A spec says nothing about being sensible; [`ScenarioSpec::check`](super::ScenarioSpec::check) does.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A whole scenario: the network, its routers and the traffic of every node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScenarioSpec {
    /// What the scenario is called in every output.
    #[serde(default = "unnamed")]
    pub name: String,
    /// How routers and nodes are wired.
    pub network: NetworkSpec,
    /// What every router is like.
    #[serde(default)]
    pub router: RouterSpec,
    /// Traffic classes; at most one of them is best-effort.
    #[serde(rename = "class")]
    pub classes: Vec<ClassSpec>,
}

/// How routers and nodes are wired.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "topology", rename_all = "kebab-case", deny_unknown_fields)]
pub enum NetworkSpec {
    /// One router with a node on every port; destinations are uniform over all ports.
    Router {
        /// Ports of the router.
        #[schemars(range(min = 2, max = 1024))]
        ports: u32,
    },
    /// An n-cube with e-cube routing; destinations are uniform over the other `2^n - 1` nodes.
    Hypercube {
        /// Dimensions `n` of the cube.
        #[schemars(range(min = 1, max = 16))]
        dimension: u32,
    },
}

/// What every router is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RouterSpec {
    /// `P`: pipeline stages, one cycle each.
    #[schemars(range(min = 1, max = 64))]
    pub pipeline_stages: u32,
    /// `b_s`: input and output buffer of a virtual channel \[flits\].
    #[schemars(range(min = 1, max = 65536))]
    pub buffer_flits: u32,
    /// Who goes first on a link.
    pub scheduler: Scheduler,
}

/// Which class a link serves next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Scheduler {
    /// VirtualClock; a class's clock restarts when its queue has run empty.
    #[default]
    VirtualClock,
    /// VirtualClock whose clocks never restart: the recurrence exactly as printed.
    VirtualClockPersistent,
    /// Self-clocked fair queueing.
    FairQueueing,
    /// Weighted round robin, weights in proportion to the rates.
    WeightedRoundRobin,
    /// Round robin, all classes alike.
    RoundRobin,
    /// Oldest flit first, all classes alike.
    Fifo,
}

/// The traffic of one class at every node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClassSpec {
    /// Free name of the class.
    #[schemars(length(min = 1, max = 64))]
    pub name: String,
    /// How links treat the class.
    pub kind: ClassKind,
    /// `λ^g`: messages generated \[messages/cycle/node\].
    #[schemars(range(min = 0.0, max = 1.0))]
    pub rate: f64,
    /// `M`: length of a message \[flits\].
    #[serde(default = "table_1_message_flits")]
    #[schemars(range(min = 1, max = 65536))]
    pub message_flits: u32,
    /// Deadlines on the network latency; the share of messages that miss each is reported.
    #[serde(default)]
    pub deadlines: Vec<DeadlineSpec>,
    /// `Vtick`: cycles that the virtual clock advances per flit; by default `1 / (rate * message_flits)`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.001, max = 1e12))]
    pub vtick: Option<f64>,
    /// How messages come into being.
    #[serde(default)]
    pub source: SourceSpec,
}

/// How links treat a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ClassKind {
    /// Shares links in proportion to `1 / Vtick`.
    RealTime,
    /// Takes what real-time classes leave; at most one class, served last.
    BestEffort,
}

/// A deadline on the network latency, in whole cycles.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum DeadlineSpec {
    /// For all messages of the class \[cycles\].
    Cycles(#[schemars(range(min = 1, max = 1_000_000))] u32),
    /// For the messages that cross a given number of network channels (hypercube only).
    Hops(HopDeadlines),
}

impl DeadlineSpec {
    /// One deadline, of the messages that cross so many network channels, or of all.
    pub fn at(deadline_cycles: u32, hops: Option<u32>) -> Self {
        match hops {
            None => Self::Cycles(deadline_cycles),
            Some(hops) => Self::Hops(HopDeadlines { hops, deadlines: vec![deadline_cycles] }),
        }
    }
}

/// Deadlines for the messages that cross `hops` network channels.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HopDeadlines {
    /// Network channels crossed, `1..=dimension`.
    pub hops: u32,
    /// Deadlines \[cycles\].
    pub deadlines: Vec<u32>,
}

/// How the messages of a class come into being at a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum SourceSpec {
    /// Exponential times between messages.
    #[default]
    Poisson,
    /// Independent bursty streams that together reach the rate of the class.
    OnOff {
        /// Streams per node; each has an equal part of the rate.
        #[schemars(range(min = 1, max = 10_000))]
        streams: u32,
        /// `N`: mean number of messages in an ON period (geometric).
        #[schemars(range(min = 1.0, max = 1e6))]
        messages_per_burst: f64,
        /// `p`: rate of a stream while ON \[messages/cycle\]; messages are spaced `1 / p`.
        #[schemars(range(min = 1e-9, max = 1.0))]
        peak_rate: f64,
    },
}

/// Table 1 of the paper, at real-time load 0.005 and best-effort load 0.01 messages/cycle.
impl Default for ScenarioSpec {
    fn default() -> Self {
        let deadlines = vec![DeadlineSpec::Cycles(42), DeadlineSpec::Cycles(47)];
        Self {
            name: "16-port router".to_owned(),
            network: NetworkSpec::Router { ports: 16 },
            router: RouterSpec::default(),
            classes: vec![
                ClassSpec { deadlines: deadlines.clone(), ..ClassSpec::real_time("R1", 0.005) },
                ClassSpec { deadlines, ..ClassSpec::real_time("R2", 0.0025) },
                ClassSpec::best_effort("BE", 0.01),
            ],
        }
    }
}

impl Default for RouterSpec {
    fn default() -> Self {
        Self { pipeline_stages: 5, buffer_flits: 32, scheduler: Scheduler::VirtualClock }
    }
}

impl ClassSpec {
    /// A real-time class with the message length of Table 1 and no deadlines.
    pub fn real_time(name: &str, rate: f64) -> Self {
        Self {
            name: name.to_owned(),
            kind: ClassKind::RealTime,
            rate,
            message_flits: table_1_message_flits(),
            deadlines: Vec::new(),
            vtick: None,
            source: SourceSpec::Poisson,
        }
    }

    /// A best-effort class with the message length of Table 1 and no deadlines.
    pub fn best_effort(name: &str, rate: f64) -> Self {
        Self { kind: ClassKind::BestEffort, ..Self::real_time(name, rate) }
    }
}

impl ClassSpec {
    /// Deadlines one by one: hops (none: all messages) and cycles.
    pub fn each_deadline(&self) -> Vec<(Option<u32>, u32)> {
        let each = |deadline: &DeadlineSpec| match deadline {
            DeadlineSpec::Cycles(cycles) => vec![(None, *cycles)],
            DeadlineSpec::Hops(hop) => hop.deadlines.iter().map(|cycles| (Some(hop.hops), *cycles)).collect(),
        };
        self.deadlines.iter().flat_map(each).collect()
    }
}

impl Scheduler {
    /// All schedulers, in the order of the documentation.
    pub const ALL: [Self; 6] = [
        Self::VirtualClock,
        Self::VirtualClockPersistent,
        Self::FairQueueing,
        Self::WeightedRoundRobin,
        Self::RoundRobin,
        Self::Fifo,
    ];

    /// The word for it in a scenario file.
    pub fn word(self) -> &'static str {
        match self {
            Self::VirtualClock => "virtual-clock",
            Self::VirtualClockPersistent => "virtual-clock-persistent",
            Self::FairQueueing => "fair-queueing",
            Self::WeightedRoundRobin => "weighted-round-robin",
            Self::RoundRobin => "round-robin",
            Self::Fifo => "fifo",
        }
    }
}

impl ClassKind {
    /// Both kinds.
    pub const ALL: [Self; 2] = [Self::RealTime, Self::BestEffort];

    /// The word for it in a scenario file.
    pub fn word(self) -> &'static str {
        match self {
            Self::RealTime => "real-time",
            Self::BestEffort => "best-effort",
        }
    }
}

pub(super) fn unnamed() -> String {
    "unnamed".to_owned()
}

pub(super) fn table_1_message_flits() -> u32 {
    32
}
