//! `[router]`: what every router is like.

use super::class::MAX_VIRTUAL_CHANNELS;
use super::declare::*;

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
    }
}

impl Scheduler {
    /// Whether clocks and stamps start again with every message, whose Vtick may be its own.
    pub fn is_fine_grained(self) -> bool {
        matches!(self, Self::FineGrainedVirtualClock | Self::FineGrainedFairQueueing)
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
    }
}

impl Default for RouterSpec {
    fn default() -> Self {
        Self::unset()
    }
}
