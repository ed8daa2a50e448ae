//! What is modelled: specs as written down, scenarios as checked, and the built-in ones.
//!
//! A *spec* ([`ScenarioSpec`]) is a plain struct; a *scenario* ([`Scenario`]) is the same, checked once at the
//! door. Models take scenarios and never check again. A scenario file is TOML ([`Document`]).
//!
//! Each table is declared once, in a file of its own, and registered as a field of [`ScenarioSpec`].

mod admission;
mod base;
mod check;
mod circuits;
mod class;
mod congestion;
mod connections;
mod deadlines;
mod declare;
mod destination;
mod frame_deadline;
mod frame_list;
mod frames;
mod graph_file;
mod grid;
mod interface;
mod keys;
mod levels;
mod matrix;
mod measure;
mod mix;
mod network;
mod nodes;
mod overrides;
mod packets;
mod pairs;
mod phases;
mod power;
mod presets;
mod radix;
mod reader;
mod reads;
mod router;
mod sequences;
mod source;
mod sources;
mod switch;
mod text_file;
mod units;
mod value;
mod writer;

pub use crate::document::{Document, Fault, Place};
pub use admission::{AdmissionSpec, Reserve, SignalDelay, Signalling};
pub use base::Load;
pub use check::Scenario;
pub use circuits::{CircuitVtick, CircuitsSpec};
pub use class::{
    ClassKind, ClassSpec, EndOfTraffic, MAX_REAL_TIME_CLASSES, MAX_TIME, MAX_VIRTUAL_CHANNELS, MIN_RATE,
};
pub use congestion::{CompletionQueues, CongestionControl, CongestionSpec, CreditReturn};
pub use connections::{Connections, ConnectionsSpec, Request, Requests};
pub use deadlines::{DeadlineSpec, HopDeadlines, MAX_DEADLINE_CYCLES, MAX_DEADLINES};
pub use destination::{DestinationPattern, DestinationSpec, Destinations, HotSpot, Towards};
pub use frame_deadline::FrameDeadline;
pub use frame_list::FrameList;
pub use frames::{FRAME_PATTERN, FrameLaw, FrameSizes, FrameSource};
pub use graph_file::GraphFile;
pub use grid::{Axis, Coupling, Grid, Setting, spread, whole_values};
pub use interface::{
    ChannelAdapter, HostInterface, Injection, InterfaceBuffer, InterfaceKind, InterfaceSpec,
};
pub use keys::{FormField, FormValue, form, is_whole, keys, words_of};
pub use levels::{MAX_LEVELS, PerLevel};
pub use matrix::{MatrixFile, MatrixSpec};
pub use measure::{MeasureSpec, Terminating};
pub use mix::MixSpec;
pub use network::{Direction, GraphRouting, NetworkSpec, TreeDelay, TreeRouting};
pub(crate) use network::{Refusal, TreeKeys, TreeShape};
pub use nodes::NodeList;
pub use pairs::{Halves, PairSpec};
pub use phases::{PhaseSetting, PhaseSpec, RunPhase};
pub use power::{Energies, PowerControl, PowerSpec, Restore};
pub use presets::{PRESETS, Preset};
pub use radix::Radix;
pub use reads::{Read, Unread};
pub use router::{
    Allocation, Crossbar, MAX_FLITS, OutputLanes, Pointer, Preemption, RouterSpec, Scheduler, Switching,
    VcChoice, VcMap, WeightFrame, WeightsSpec,
};
pub use sequences::Sequences;
pub use source::{Pacing, Phase, Placement, SourceSpec, least_pause, mean_burst};
pub use sources::{Sources, ValueSource};
pub use switch::{Forwarding, Organisation, RecnSpec, SwitchSpec, Timing, VoqOutput};
pub(crate) use text_file::Wrong;
pub use units::UnitsSpec;

use crate::document::shortened;
use declare::*;
pub use declare::{Key, Varies};

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
        /// How circuits are set up, with pipelined circuit switching.
        #[serde(skip_serializing_if = "Option::is_none")]
        circuits: Option<CircuitsSpec> = None;
        /// What every packet switch is like, in place of a router.
        #[serde(skip_serializing_if = "Option::is_none")]
        switch: Option<SwitchSpec> = None, ANY.early();
        /// The thresholds of queues that are set aside; by default those of the organisation `recn`.
        #[serde(skip_serializing_if = "Option::is_none")]
        recn: Option<RecnSpec> = None;
        /// What every network interface is like.
        #[serde(skip_serializing_if = "Option::is_none")]
        interface: Option<InterfaceSpec> = None;
        /// Which connections may enter.
        #[serde(skip_serializing_if = "Option::is_none")]
        admission: Option<AdmissionSpec> = None;
        /// What keeps messages of best effort out of a full network.
        #[serde(skip_serializing_if = "Option::is_none")]
        congestion: Option<CongestionSpec> = None;
        /// What flits cost, and how the power of a network is kept below a budget.
        #[serde(skip_serializing_if = "Option::is_none")]
        power: Option<PowerSpec> = None;
        /// What is measured of a run, and how long it is.
        #[serde(skip_serializing_if = "Option::is_none")]
        measure: Option<MeasureSpec> = None;
        /// One load for several classes.
        #[serde(skip_serializing_if = "Option::is_none")]
        mix: Option<MixSpec> = None;
        /// Which documents values are from, and within which ranges those are known that none has.
        #[serde(skip_serializing_if = "Sources::is_empty")]
        sources as "source": Sources = Sources::default();
        /// Parts of a run, one after another, in which classes send as they do in no other.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        phases as "phase": Vec<PhaseSpec> = Vec::new();
        /// Traffic classes: up to 32, of which 12 are real-time; models have one best-effort class, the simulator
        /// any number.
        classes as "class": Vec<ClassSpec> = Vec::new(), ANY.early();
    }
}

impl Rules for ScenarioSpec {
    fn rules(&self, _: &str, door: &mut Door) {
        if self.name.chars().count() > 100 || self.name.chars().any(char::is_control) {
            let found = format!("\"{}\"", shortened(&self.name));
            door.refuse("name", found, "at most 100 printable characters", None);
        }
        packets::rules(self, door);
        self.run_ends(door);
        self.traces_fit(door);
        self.mix_rules(door);
        self.frame_rules(door);
        self.circuit_rules(door);
        self.interface_rules(door);
        self.connection_rules(door);
        self.admission_rules(door);
        self.congestion_rules(door);
        self.power_rules(door);
        self.phase_rules(door);
    }

    fn settle(&mut self, reader: &mut Reader, table: &Table<'_>, _: &Units) {
        packets::settle(self, reader, table);
    }

    fn units(&self, _: &Units) -> Units {
        match (&self.switch, &self.units) {
            (Some(switch), _) => Units::of_packets(switch.units_of_packets()),
            (None, units) => {
                let interval = |class: &ClassSpec| Some(class.source.of_frames()?.interval);
                let units = units.as_ref().map(Units::of).unwrap_or_default();
                units.of_frames(self.classes.iter().find_map(interval))
            }
        }
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
