//! `[router]`: what every router is like.

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
        /// Who goes first on a link.
        scheduler: Scheduler = Scheduler::VirtualClock;
        /// Which virtual channel of its class a message takes.
        #[serde(skip_serializing_if = "VcChoice::is_free")]
        vc_choice: VcChoice = VcChoice::Free;
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

impl VcChoice {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    fn is_free(&self) -> bool {
        *self == Self::Free
    }
}

impl Rules for RouterSpec {}

impl Default for RouterSpec {
    fn default() -> Self {
        Self::unset()
    }
}
