//! Accuracy of a model: random scenarios, their simulation, the errors and their targets.
//!
//! A [`Plan`] holds the bounds of the random scenarios ([`Plan::cases`]), family by family. For each case the
//! simulation finds the load at which every class saturates ([`saturation`]). It is run at shares of the least of these
//! loads ([`Observation`]). [`judge`] compares a model with it, and [`summary`] tabulates the errors. [`Plan`] and
//! [`judge`] are pure functions; simulations go through [`crate::campaign`] and [`saturation::find`].
//!
//! **Why two sets?** The errors of a model are too small on the scenarios on which it was chosen. The *tuning* set is
//! for choosing. The *held-out* set has the same bounds and another seed and is run when the model is frozen. If the
//! model is changed after that, the seed is changed, too.

mod draw;
mod errors;
mod generator;
mod plan;
pub mod saturation;
mod set;
pub mod streams;
pub mod summary;

use flitwise_language::document::Document;
use flitwise_language::scenario::{Fault, Scenario, Scheduler};

pub use errors::{ErrorOf, ErrorUnit, JUDGED, Solve, error_unit, judge, saturation_errors};
pub use flitwise_experiment::observation::{ClassObservation, Curve, HopsObservation, Observation, observe};
pub use set::{Set, SetKind};

/// What scenarios are drawn from, and at which loads.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// What all scenarios are drawn from.
    pub seed: u64,
    /// Shares of the load at which the first class saturates.
    pub loads: Vec<f64>,
    /// Wanted 95 % half-width of the network latency of the worst class, as a share of it.
    pub precision: f64,
    /// Flits times crossbars of a point's measured messages after which to stop anyway.
    pub max_flit_hops: f64,
    /// The families, in the order of the file.
    pub families: Vec<Family>,
}

/// Bounds that some of the scenarios share.
#[derive(Clone, Debug, PartialEq)]
pub struct Family {
    /// What tables call it.
    pub name: String,
    /// How many scenarios it has.
    pub count: u32,
    /// How routers are wired.
    pub topology: Topology,
    /// Ports, dimensions of a cube, or routers along a dimension of a mesh or torus.
    pub size: [u32; 2],
    /// Dimensions of a mesh or torus.
    pub dimensions: [u32; 2],
    /// Nodes at a router of a mesh or torus.
    pub nodes_per_router: [u32; 2],
    /// Parallel links of a mesh or torus.
    pub links: [u32; 2],
    /// Virtual channels of each class in a mesh or torus.
    pub virtual_channels: [u32; 2],
    /// Any of these destinations, the same of all classes.
    pub destinations: Vec<Destination>,
    /// Share of the messages that choose a hot node.
    pub hot_share: [f64; 2],
    /// `P`.
    pub pipeline_stages: [u32; 2],
    /// `M`.
    pub lengths: Lengths,
    /// `b_s` \[flits\].
    pub buffer_flits: [u32; 2],
    /// Whether messages fit into it.
    pub room: Room,
    /// How many of them.
    pub real_time_classes: [u32; 2],
    /// Probability that there is a best-effort class.
    pub best_effort: f64,
    /// The most that one class may load a link more than another.
    pub load_ratio: f64,
    /// Any of these.
    pub schedulers: Vec<Scheduler>,
    /// Probability that Vticks are given, out of proportion to the rates.
    pub odd_vticks: f64,
    /// What they then are of the proportional ones.
    pub vtick_factor: [f64; 2],
    /// Probability that a class has ON/OFF sources; above 0, at least one has.
    pub on_off: f64,
}

/// Lengths of messages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lengths {
    /// Least and most \[flits\].
    pub flits: [u32; 2],
    /// Probability that each class has its own length.
    pub mixed: f64,
}

/// How routers are wired.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Topology {
    /// A single router.
    #[default]
    Router,
    /// An n-cube.
    Hypercube,
    /// A mesh.
    Mesh,
    /// A torus.
    Torus,
}

/// Where messages go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Destination {
    /// To all nodes alike.
    #[default]
    Uniform,
    /// To one node, drawn, more than to the others.
    Hot,
    /// Half round the ring in every dimension.
    Tornado,
    /// To the next router in every dimension.
    Neighbour,
}

impl Destination {
    /// All.
    pub const ALL: [Self; 4] = [Self::Uniform, Self::Hot, Self::Tornado, Self::Neighbour];

    /// Its name in a plan.
    pub fn word(self) -> &'static str {
        match self {
            Self::Uniform => "uniform",
            Self::Hot => "hot",
            Self::Tornado => "tornado",
            Self::Neighbour => "neighbour",
        }
    }
}

/// Whether messages fit into a buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Room {
    /// As it comes.
    #[default]
    Any,
    /// Messages of every class fit.
    Ample,
    /// Messages of one class at least do not fit.
    Short,
}

impl Topology {
    /// All.
    pub const ALL: [Self; 4] = [Self::Router, Self::Hypercube, Self::Mesh, Self::Torus];

    /// Whether it has a radix.
    pub fn is_lattice(self) -> bool {
        matches!(self, Self::Mesh | Self::Torus)
    }

    /// Its name in a plan.
    pub fn word(self) -> &'static str {
        match self {
            Self::Router => "router",
            Self::Hypercube => "hypercube",
            Self::Mesh => "mesh",
            Self::Torus => "torus",
        }
    }
}

impl Room {
    /// All.
    pub const ALL: [Self; 3] = [Self::Any, Self::Ample, Self::Short];

    /// Its name in a plan.
    pub fn word(self) -> &'static str {
        match self {
            Self::Any => "any",
            Self::Ample => "ample",
            Self::Short => "short",
        }
    }
}

/// A scenario that was drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// Family and number, such as `router-07`.
    pub name: String,
    /// Its family.
    pub family: String,
    /// The scenario, at a load near saturation.
    pub scenario: Scenario,
}

impl Case {
    /// The scenario with all rates multiplied by `factor`; given Vticks stay as they are.
    ///
    /// # Errors
    /// What makes no sense at such rates.
    pub fn at(&self, factor: f64) -> Result<Scenario, Vec<Fault>> {
        saturation::scaled(&self.scenario, factor)
    }
}

impl Plan {
    /// Scenarios to choose a model on.
    ///
    /// # Panics
    /// Never: the built-in plans are sound (tested).
    pub fn tuning() -> Self {
        built_in("tuning.toml", include_str!("../registry/tuning.toml"))
    }

    /// Scenarios to judge a model on, once it is frozen.
    ///
    /// # Panics
    /// Never: the built-in plans are sound (tested).
    pub fn holdout() -> Self {
        built_in("holdout.toml", include_str!("../registry/holdout.toml"))
    }

    /// Scenarios whose families the anchored model is judged on.
    ///
    /// # Panics
    /// Never: the built-in plans are sound (tested).
    pub fn anchored() -> Self {
        built_in("anchored.toml", include_str!("../registry/anchored.toml"))
    }

    /// Meshes and tori with several virtual channels of a class.
    ///
    /// # Panics
    /// Never: the built-in plans are sound (tested).
    pub fn networks() -> Self {
        built_in("network-families.toml", include_str!("../registry/network-families.toml"))
    }

    /// Reads and checks a plan's text; `text_name` is what messages call it.
    ///
    /// # Errors
    /// Every fault, each at its place.
    pub fn from_toml(text_name: &str, text: &str) -> Result<Self, Vec<Fault>> {
        plan::read(&Document::parse(text_name, text)?)
    }
}

fn built_in(name: &str, text: &str) -> Plan {
    Plan::from_toml(name, text).unwrap_or_else(|faults| panic!("the built-in plan is broken: {faults:#?}"))
}
