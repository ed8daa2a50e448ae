//! What is modelled: specs as written down, scenarios as checked, and the built-in ones.
//!
//! A *spec* ([`ScenarioSpec`]) is a plain struct; a *scenario* ([`Scenario`]) is the same, checked once at the
//! door. Models take scenarios and never check again. A scenario file is TOML ([`Document`]).
//!
//! Each table is declared once, in a file of its own, and registered as a field of [`ScenarioSpec`].

mod base;
mod check;
mod class;
mod deadlines;
mod declare;
mod destination;
mod frames;
mod grid;
mod keys;
mod mix;
mod network;
mod nodes;
mod overrides;
mod presets;
mod radix;
mod reader;
mod reads;
mod router;
mod sequences;
mod source;
mod units;
mod value;
mod writer;

pub use crate::document::{Document, Fault, Place};
pub use base::Load;
pub use check::Scenario;
pub use class::{ClassKind, ClassSpec, MAX_REAL_TIME_CLASSES, MAX_VIRTUAL_CHANNELS, MIN_RATE};
pub use deadlines::{DeadlineSpec, HopDeadlines, MAX_DEADLINE_CYCLES, MAX_DEADLINES};
pub use destination::{DestinationPattern, DestinationSpec, Destinations, HotSpot, Towards};
pub use frames::{FRAME_PATTERN, FrameLaw, FrameSizes, FrameSource};
pub use grid::{Axis, Coupling, Grid, Setting};
pub(crate) use grid::{spread, whole_values};
pub(crate) use keys::is_whole;
pub use keys::{keys, words_of};
pub use mix::MixSpec;
pub use network::NetworkSpec;
pub use nodes::NodeList;
pub use presets::{PRESETS, Preset};
pub use radix::Radix;
pub use reads::{Read, Unread};
pub use router::{Allocation, Crossbar, MAX_FLITS, RouterSpec, Scheduler, VcChoice};
pub use sequences::Sequences;
pub use source::{Pacing, Phase, Placement, SourceSpec};
pub use units::UnitsSpec;

use crate::document::shortened;
use declare::*;
pub(crate) use declare::{Key, Varies};

table! {
    /// A whole scenario: the network, its routers and the traffic of every node.
    pub struct ScenarioSpec {
        /// What the scenario is called in every output.
        name: String = "unnamed".to_owned();
        /// What a cycle and a flit are outside of the scenario.
        #[serde(skip_serializing_if = "Option::is_none")]
        units: Option<UnitsSpec> = None, ANY.early();
        /// How routers and nodes are wired.
        network: NetworkSpec = NetworkSpec::unset(),
            ANY.wanted().example("add  [network]  with  topology = \"router\"  and  ports = 16");
        /// What every router is like.
        router: RouterSpec = RouterSpec::default();
        /// One load for several classes.
        #[serde(skip_serializing_if = "Option::is_none")]
        mix: Option<MixSpec> = None;
        /// Traffic classes; at most one of them is best-effort.
        classes as "class": Vec<ClassSpec> = Vec::new();
    }
}

impl Rules for ScenarioSpec {
    fn rules(&self, _: &str, door: &mut Door) {
        if self.name.chars().count() > 100 || self.name.chars().any(char::is_control) {
            let found = format!("\"{}\"", shortened(&self.name));
            door.refuse("name", found, "at most 100 printable characters", None);
        }
        self.mix_rules(door);
        self.frame_rules(door);
    }

    fn units(&self, _: &Units) -> Units {
        self.units.as_ref().map(Units::of).unwrap_or_default()
    }
}

/// Table 1 of the paper, at real-time load 0.005 and best-effort load 0.01 messages/cycle.
impl Default for ScenarioSpec {
    fn default() -> Self {
        let deadlines = vec![DeadlineSpec::Cycles(42), DeadlineSpec::Cycles(47)];
        Self {
            name: "16-port router".to_owned(),
            classes: vec![
                ClassSpec { deadlines: deadlines.clone(), ..ClassSpec::real_time("R1", 0.005) },
                ClassSpec { deadlines, ..ClassSpec::real_time("R2", 0.0025) },
                ClassSpec::best_effort("BE", 0.01),
            ],
            ..Self::unset()
        }
    }
}
