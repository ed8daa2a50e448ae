//! What interfaces and preemptive crossbars do, looked at some moments of a run.

use serde::{Deserialize, Serialize};

use crate::statistics::Batch;
use flitwise_simulator::Simulator;

/// Counts up to the start of a cycle, over all nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct ActivityLook {
    pub(crate) cycle: u64,
    /// Cycles in which host buses and firmware were busy.
    bus: u64,
    firmware: u64,
    /// Flits that have left network interfaces.
    wire: u64,
    /// Flits that have crossed a crossbar, the dummies among them, and those that were accelerated.
    crossings: u64,
    dummies: u64,
    accelerated: u64,
}

/// What is told of activity as a share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Share {
    /// Of the cycles of a bus, of the firmware and of a link into the network.
    Bus,
    Firmware,
    Wire,
    /// Of all flits that cross crossbars.
    Dummies,
    Accelerated,
}

impl ActivityLook {
    pub(crate) fn of(simulator: &Simulator, cycle: u64) -> Self {
        let found = simulator.activity();
        Self {
            cycle,
            bus: found.bus,
            firmware: found.firmware,
            wire: found.wire,
            crossings: simulator.flit_hops(),
            dummies: found.dummies,
            accelerated: found.accelerated,
        }
    }

    /// The share since an earlier look, of so many nodes.
    pub(crate) fn since(&self, before: &Self, share: Share, nodes: u64) -> Batch {
        let cycles = (self.cycle - before.cycle) * nodes;
        let (busy, all) = match share {
            Share::Bus => (self.bus - before.bus, cycles),
            Share::Firmware => (self.firmware - before.firmware, cycles),
            Share::Wire => (self.wire - before.wire, cycles),
            Share::Dummies => (self.dummies - before.dummies, self.crossings - before.crossings),
            Share::Accelerated => (self.accelerated - before.accelerated, self.crossings - before.crossings),
        };
        Batch { count: all, sum: busy as f64 }
    }
}
