//! `[router]`: what every router is like.

use super::Scenario;
use super::class::MAX_VIRTUAL_CHANNELS;
use super::declare::*;
use crate::document::Value;

/// The longest message and the deepest buffer \[flits\].
pub const MAX_FLITS: u32 = 65_536;

table! {
    /// What every router is like.
    #[derive(Copy, Eq)]
    pub struct RouterSpec {
        /// `P`: pipeline stages, one cycle each.
        pipeline_stages: u32 ["stages"] = 5, within(1.0, 64.0).parameter(4, Varies::Relaxed);
        /// `b_s`: input and output buffer of a virtual channel.
        buffer_flits: u32 ["flits"] = 32,
            within(1.0, MAX_FLITS as f64).magnitude(Magnitude::Room).parameter(3, Varies::Relaxed);
        /// Virtual channels of a port; by default as many as all classes have together. More stay idle.
        #[serde(skip_serializing_if = "Option::is_none")]
        virtual_channels: Option<u32> ["virtual channels"] = None, within(1.0, MAX_VIRTUAL_CHANNELS as f64);
        /// Who goes first on a link.
        scheduler: Scheduler = Scheduler::VirtualClock;
        /// Which virtual channel of its class a message takes.
        #[serde(skip_serializing_if = "VcChoice::is_free")]
        vc_choice: VcChoice = VcChoice::Free;
        /// How many flits cross a router in a cycle, and where they are scheduled.
        #[serde(skip_serializing_if = "Crossbar::is_full")]
        crossbar: Crossbar = Crossbar::Full;
        /// Which flits cross a multiplexed crossbar together.
        #[serde(skip_serializing_if = "Allocation::is_greedy")]
        allocation: Allocation = Allocation::Greedy;
        /// Whether messages ask for every channel of their way, or streams own theirs.
        #[serde(skip_serializing_if = "Switching::is_wormhole")]
        switching: Switching = Switching::Wormhole;
        /// Whether a message in an input buffer gives way to one of a higher level on its virtual channel.
        #[serde(skip_serializing_if = "Preemption::is_none")]
        preemption: Preemption = Preemption::None;
        /// With preemption: whether what a higher level waits for goes before all levels; by default it does.
        #[serde(skip_serializing_if = "Option::is_none")]
        acceleration: Option<bool> = None;
        /// With preemption: whether levels share the lanes behind crossbars; by default they do.
        #[serde(skip_serializing_if = "Option::is_none")]
        output_lanes: Option<OutputLanes> = None;
        /// Which virtual channels belong to a class as its share of the load changes; by default `follow-mix` with
        /// preemption, `fixed` without.
        #[serde(skip_serializing_if = "Option::is_none")]
        vc_map: Option<VcMap> = None;
        /// Flits of a message that cross one after another before others may.
        #[serde(skip_serializing_if = "is_one")]
        block_flits: u32 ["flits"] = 1, within(1.0, MAX_FLITS as f64).magnitude(Magnitude::Room);
        /// Weights of lanes, with the lane arbiter.
        #[serde(skip_serializing_if = "Option::is_none")]
        weights: Option<WeightsSpec> = None;
    }
}

words! {
    /// Which class a link serves next.
    pub enum Scheduler {
        /// VirtualClock; a class's clock restarts when its queue has run empty.
        VirtualClock "virtual-clock",
        /// VirtualClock whose clocks never restart: the recurrence exactly as printed.
        VirtualClockPersistent "virtual-clock-persistent",
        /// Self-clocked fair queueing.
        FairQueueing "fair-queueing",
        /// Weighted round robin, weights in proportion to the rates.
        WeightedRoundRobin "weighted-round-robin",
        /// Round robin, all classes alike.
        RoundRobin "round-robin",
        /// Oldest flit first, all classes alike.
        Fifo "fifo",
        /// VirtualClock whose clocks start again with every message.
        FineGrainedVirtualClock "fine-grained-virtual-clock",
        /// Self-clocked fair queueing whose stamps start again with every message.
        FineGrainedFairQueueing "fine-grained-fair-queueing",
        /// Weighted round robin over lanes of connections, and a limit up to which they go before best effort.
        LaneArbiter "lane-arbiter",
    }
}

impl Scheduler {
    /// Those that serve classes: all but the lane arbiter, which wants connections.
    pub const OF_CLASSES: [Self; 8] = [
        Self::VirtualClock,
        Self::VirtualClockPersistent,
        Self::FairQueueing,
        Self::WeightedRoundRobin,
        Self::RoundRobin,
        Self::Fifo,
        Self::FineGrainedVirtualClock,
        Self::FineGrainedFairQueueing,
    ];

    /// Whether clocks and stamps start again with every message, whose Vtick may be its own.
    pub fn is_fine_grained(self) -> bool {
        matches!(self, Self::FineGrainedVirtualClock | Self::FineGrainedFairQueueing)
    }
}

table! {
    /// Weights of lanes in a weighted round robin.
    #[derive(Copy, Eq)]
    pub struct WeightsSpec {
        /// Flits that the lanes of connections are given in a round: `"small"`, `"large"` or a number.
        frame: WeightFrame = WeightFrame::Small;
        /// A small frame in flits of each lane of connections.
        per_lane: u32 ["flits"] = 4, within(1.0, MAX_FLITS as f64);
        /// When the turn goes on to the next lane.
        pointer: Pointer = Pointer::Fast;
    }
}

impl Rules for WeightsSpec {}

/// Flits that the lanes of connections are given in a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WeightFrame {
    /// So many of each lane as `per_lane` says; all weights follow from all connections.
    Small,
    /// 255 * 64; a weight follows from the connections of its lane alone.
    Large,
    /// So many, shared as a small frame \[flits\].
    Flits(u32),
}

impl serde::Serialize for WeightFrame {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Small => serializer.serialize_str("small"),
            Self::Large => serializer.serialize_str("large"),
            Self::Flits(flits) => serializer.serialize_u32(*flits),
        }
    }
}

valued!(
    WeightFrame,
    Kind::Other(|| {
        let flits = serde_json::json!({ "type": "integer", "minimum": 1, "maximum": MAX_FLITS });
        serde_json::json!({ "anyOf": [{ "enum": ["small", "large"] }, flits] })
    }),
    Self::Small
);

impl Field for WeightFrame {
    fn read(&mut self, reader: &mut Reader, table: &Table<'_>, key: &Key, _: &Units) -> bool {
        let Some(node) = reader.note(table, key.name) else { return false };
        *self = match &node.value {
            Value::Text(text) if text == "small" => Self::Small,
            Value::Text(text) if text == "large" => Self::Large,
            Value::Whole(flits @ 1..=65_536) => Self::Flits(*flits as u32),
            other => {
                let wanted = format!("\"small\", \"large\" or a whole number of flits, 1 to {MAX_FLITS}");
                reader.refuse(&node.place, table.key(key.name), other.shown(), wanted, None);
                return false;
            }
        };
        true
    }

    fn check(&self, _: &mut Door, _: &Key, _: &str) {}

    fn written(&self) -> Option<String> {
        Some(match self {
            Self::Small => "\"small\"".to_owned(),
            Self::Large => "\"large\"".to_owned(),
            Self::Flits(flits) => flits.to_string(),
        })
    }
}

words! {
    /// When the turn of a lane ends.
    pub enum Pointer {
        /// After each flit.
        Fast "fast",
        /// When its weight is used up, or it has nothing to send.
        Slow "slow",
    }
}

words! {
    /// Which virtual channel of its class a message takes.
    pub enum VcChoice {
        /// The lowest-numbered free one, on every channel anew when the output is granted.
        Free "free",
        /// Two drawn when the message is generated: one at the network interface, one on all channels behind it.
        Drawn "drawn",
        /// Two drawn when the message is generated: one on all channels up to the last router, one behind it.
        DrawnInput "drawn-input",
    }
}

words! {
    /// How many flits cross a router in a cycle, and where they are scheduled.
    pub enum Crossbar {
        /// One from every virtual channel; the links behind it choose among those that have crossed.
        Full "full",
        /// One from every input port and one to every output port, chosen by the scheduler.
        Multiplexed "multiplexed",
    }
}

words! {
    /// Which flits cross a multiplexed crossbar together.
    pub enum Allocation {
        /// The best of all first, each that finds both its ports free.
        Greedy "greedy",
        /// Input ports in turn: each names its best flit of those whose output port is free.
        Rotating "rotating",
        /// The best of each input port alone; one that finds its output port taken stays.
        InputFirst "input-first",
    }
}

words! {
    /// Whether messages ask for every channel of their way, or streams own theirs.
    pub enum Switching {
        /// The header of each message asks for a virtual channel in every router.
        Wormhole "wormhole",
        /// A stream owns a virtual channel of every channel on its way, which a probe has set up.
        PipelinedCircuit "pipelined-circuit",
    }
}

words! {
    /// Whether a message in an input buffer gives way to one of a higher level on its virtual channel.
    pub enum Preemption {
        /// It keeps its virtual channel until its tail has crossed.
        None "none",
        /// It is closed by a dummy tail, and goes on later behind a dummy header.
        InputBuffer "input-buffer",
    }
}

words! {
    /// Whether levels share the lanes behind crossbars.
    pub enum OutputLanes {
        /// A virtual channel has one queue there.
        Shared "shared",
        /// It has one for each level.
        PerLevel "per-level",
    }
}

words! {
    /// Which virtual channels belong to a class as its share of the load changes.
    pub enum VcMap {
        /// Those of its block in the first phase.
        Fixed "fixed",
        /// The block of real time grows into that of best effort as its share does.
        FollowMix "follow-mix",
        /// All but those of control.
        All "all",
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_one(number: &u32) -> bool {
    *number == 1
}

impl RouterSpec {
    /// Whether a message gives way to one of a higher level on its virtual channel.
    pub fn preempts(&self) -> bool {
        self.preemption == Preemption::InputBuffer
    }

    /// Whether what a higher level waits for goes before all levels.
    pub fn accelerates(&self) -> bool {
        self.preempts() && self.acceleration != Some(false)
    }

    /// Weights of lanes, of the lane arbiter.
    pub fn weights(&self) -> WeightsSpec {
        self.weights.unwrap_or(WeightsSpec::unset())
    }

    /// Which virtual channels belong to a class as its share of the load changes.
    pub fn map(&self) -> VcMap {
        self.vc_map.unwrap_or(if self.preempts() { VcMap::FollowMix } else { VcMap::Fixed })
    }

    /// Refuses what goes with the lane arbiter only, and the arbiter where it does not go.
    fn arbiter_rules(&self, path: &str, door: &mut Door) {
        let key = |name: &str| format!("{path}.{name}");
        if self.scheduler != Scheduler::LaneArbiter {
            if self.weights.is_some() && door.is_read(&key("scheduler")) {
                let wanted = "none without scheduler = \"lane-arbiter\"";
                door.refuse(
                    &key("weights"),
                    "a table".to_owned(),
                    wanted,
                    Some("add it, or remove the line"),
                );
            }
            return;
        }
        let is_drawn = self.vc_choice != VcChoice::Free;
        let is_in_turn = self.crossbar == Crossbar::Full || self.allocation != Allocation::Greedy;
        let asked = [
            ("vc_choice", is_drawn, self.vc_choice.word(), "drawn-input\" or \"drawn"),
            ("allocation", is_in_turn, self.allocation.word(), "rotating\" or \"input-first"),
            ("preemption", !self.preempts(), self.preemption.word(), "none"),
            ("switching", self.switching == Switching::Wormhole, self.switching.word(), "wormhole"),
        ];
        for (name, _, found, wanted) in asked.into_iter().filter(|(_, is_so, ..)| !is_so) {
            if door.is_read(&key(name)) {
                let wanted = format!("\"{wanted}\" with the lane arbiter");
                door.refuse(&key(name), format!("\"{found}\""), &wanted, None);
            }
        }
        if self.block_flits > 1 {
            let wanted = "1 with the lane arbiter, which names a lane for every flit";
            door.refuse(&key("block_flits"), self.block_flits.to_string(), wanted, None);
        }
    }

    /// Refuses what goes with preemption only, and preemption where it does not go.
    fn preemption_rules(&self, path: &str, door: &mut Door) {
        let key = |name: &str| format!("{path}.{name}");
        if !self.preempts() {
            if !door.is_read(&key("preemption")) {
                return;
            }
            let given = [
                ("acceleration", self.acceleration.map(|given| given.to_string())),
                ("output_lanes", self.output_lanes.map(|given| format!("\"{}\"", given.word()))),
                (
                    "vc_map",
                    self.vc_map.filter(|map| *map != VcMap::Fixed).map(|map| format!("\"{}\"", map.word())),
                ),
            ];
            for (name, found) in given.into_iter().filter_map(|(name, found)| Some((name, found?))) {
                let wanted = "none without preemption = \"input-buffer\"";
                door.refuse(&key(name), found, wanted, Some("add it, or remove the line"));
            }
            return;
        }
        let is_fine = self.scheduler.is_fine_grained();
        let asked = [
            ("crossbar", self.crossbar == Crossbar::Multiplexed, self.crossbar.word(), "multiplexed"),
            ("allocation", self.allocation == Allocation::Greedy, self.allocation.word(), "greedy"),
            ("vc_choice", self.vc_choice == VcChoice::Drawn, self.vc_choice.word(), "drawn"),
            ("switching", self.switching == Switching::Wormhole, self.switching.word(), "wormhole"),
            (
                "scheduler",
                is_fine,
                self.scheduler.word(),
                "fine-grained-virtual-clock\" or \"fine-grained-fair-queueing",
            ),
        ];
        for (name, _, found, wanted) in asked.into_iter().filter(|(_, is_so, ..)| !is_so) {
            if door.is_read(&key(name)) {
                let wanted = format!("\"{wanted}\" with preemption");
                door.refuse(&key(name), format!("\"{found}\""), &wanted, None);
            }
        }
    }
}

macro_rules! is_default {
    ($($Word:ident::$Variant:ident $is:ident,)+) => {
        $(impl $Word {
            fn $is(&self) -> bool {
                *self == Self::$Variant
            }
        })+
    };
}

is_default! {
    VcChoice::Free is_free,
    Crossbar::Full is_full,
    Allocation::Greedy is_greedy,
    Switching::Wormhole is_wormhole,
    Preemption::None is_none,
}

impl Rules for RouterSpec {
    fn rules(&self, path: &str, door: &mut Door) {
        let is_full = self.crossbar == Crossbar::Full && door.is_read(&format!("{path}.crossbar"));
        if is_full && self.allocation != Allocation::Greedy {
            let wanted = "no allocation with a full crossbar, where every virtual channel sends a flit";
            let help = Some("write crossbar = \"multiplexed\", or leave allocation out");
            let found = format!("\"{}\"", self.allocation.word());
            door.refuse(&format!("{path}.allocation"), found, wanted, help);
        }
        if is_full && self.block_flits > 1 {
            let wanted = "1 with a full crossbar, where every virtual channel sends a flit";
            let help = Some("write crossbar = \"multiplexed\", or leave block_flits out");
            door.refuse(&format!("{path}.block_flits"), self.block_flits.to_string(), wanted, help);
        }
        self.preemption_rules(path, door);
        self.arbiter_rules(path, door);
    }

    fn settle(&mut self, _: &mut Reader, table: &Table<'_>, _: &Units) {
        let is_arbitrated =
            self.scheduler == Scheduler::LaneArbiter && self.crossbar == Crossbar::Multiplexed;
        if is_arbitrated && table.get("allocation").is_none() {
            self.allocation = Allocation::Rotating;
        }
    }
}

impl Scenario {
    /// The note that buffers of routers are too small to keep links with a delay busy: a slot is taken for `2 d + 3`
    /// cycles.
    pub fn small_buffers(&self) -> Option<String> {
        let buffer = u64::from(self.data_router().buffer_flits);
        let longest = self.topology().delays().last().copied().map(u64::from);
        let (longest, slots) = longest.map(|longest| (longest, 2 * longest + 3))?;
        (self.switch().is_none() && buffer < slots).then(|| {
            format!(
                "{buffer} flits of buffer are below 2 x {longest} + 3 = {slots}: with a delay of {longest} cycles a \
                 virtual channel carries at most {:.4} flits/cycle",
                buffer as f64 / slots as f64
            )
        })
    }
}

impl Default for RouterSpec {
    fn default() -> Self {
        Self::unset()
    }
}
