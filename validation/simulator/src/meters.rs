//! What is counted of flits, whoever sent them.

/// Counts since the start of a run.
#[derive(Clone, Debug)]
pub(crate) struct Meters {
    /// By lane: flits of whole messages that have left over the link.
    pub(crate) flits_sent: Vec<u64>,
    /// Flits that have crossed a crossbar.
    pub(crate) flit_hops: u64,
    /// By link, if it is asked for: how headers have waited.
    pub(crate) waits: Vec<HeaderWaits>,
}

/// How headers have waited for a channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeaderWaits {
    /// Headers that have left over the channel.
    pub headers: u64,
    /// Headers that did not get a virtual channel in the cycle of their request; at a network interface those that did
    /// not leave as soon as they could.
    pub blocked: u64,
    /// What headers have waited from their request until they left, beyond what a lone one takes \[cycles\].
    pub cycles: u64,
}

/// What preemptive routers and interfaces behind host buses have done since the start of a run, over all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Activity {
    /// By class: messages that gave way after a part of them had crossed.
    pub preemptions: Vec<u64>,
    /// Dummies that have crossed crossbars.
    pub dummies: u64,
    /// Flits that have crossed before those of higher levels, since one of these waits for the output of their message
    /// or their fragment is being closed.
    pub accelerated: u64,
    /// Cycles in which firmware was busy.
    pub firmware: u64,
    /// Cycles in which host buses were busy.
    pub bus: u64,
    /// Flits that have left network interfaces.
    pub wire: u64,
}

/// What controls of congestion and power have done since the start of a run, and what flits have cost.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ControlActivity {
    /// By class: messages of connections that were dropped because they found no credit.
    pub dropped: Vec<u64>,
    /// Cycles in which an interface held back a message that could have begun, over all interfaces.
    pub throttled: u64,
    /// Flits that have moved.
    pub moves: FlitMoves,
    /// By window of `power.window` cycles from cycle 0 on, up to the last in which a flit moved: what the network has
    /// spent; none without a `[power]` table \[pJ\].
    pub windows: Vec<f64>,
    /// PowerHerd: cycles in which a router was stopped, over all routers.
    pub stopped: u64,
    /// PowerHerd: the most that the network has spent in an epoch \[pJ\].
    pub largest_epoch: f64,
}

/// Flits that have moved, by what that costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlitMoves {
    /// They have left over injection links.
    pub injected: u64,
    /// They have crossed crossbars.
    pub crossed: u64,
    /// They have left over links between routers.
    pub linked: u64,
    /// They have left over ejection links.
    pub ejected: u64,
}

impl Meters {
    pub(crate) fn new(lanes: usize) -> Self {
        Self { flits_sent: vec![0; lanes], flit_hops: 0, waits: Vec::new() }
    }

    /// A header waited so long for a virtual channel of the link, or for the link itself.
    #[inline]
    pub(crate) fn waited(&mut self, link: usize, cycles: u64, is_blocked: bool) {
        if let Some(waits) = self.waits.get_mut(link) {
            waits.cycles += cycles;
            waits.blocked += u64::from(is_blocked);
        }
    }

    /// A header leaves over the link.
    #[inline]
    pub(crate) fn header_left(&mut self, link: usize) {
        if let Some(waits) = self.waits.get_mut(link) {
            waits.headers += 1;
        }
    }
}
