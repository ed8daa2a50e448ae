//! What is counted of flits, whoever sent them.

pub use crate::control::power::FlitMoves;

/// Counts since the start of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Meters {
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

/// What congestion and power control have done since the start of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ControlActivity {
    /// By class: messages that found no credit of their connection.
    pub dropped: Vec<u64>,
    /// Cycles in which something stood against a message, over all nodes or routers.
    pub throttled: Throttled,
    /// Of a self-tuned threshold: its mean over all periods, as a share of all buffers.
    pub mean_threshold: Option<f64>,
    /// What flits did, in every whole window from the first cycle on, where there is a `[power]` table.
    pub windows: Vec<FlitMoves>,
}

/// Cycles in which something stood against a message, over all nodes or routers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Throttled {
    /// The network interface was full.
    pub room: u64,
    /// There was no credit.
    pub credit: u64,
    /// There was not enough energy on the account.
    pub energy: u64,
    /// No lane was free at the first router, or too many buffers were full.
    pub start: u64,
    /// The router had used its budget.
    pub stopped: u64,
}

impl Meters {
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
