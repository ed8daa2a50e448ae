//! Set-aside queues with their entries of the content-addressable memory, and what ports tell each other about them.

use crate::packet::sets::Ports;

/// A set-aside queue with its entry.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Line {
    /// Turns from here to the root.
    pub(super) path: u64,
    pub(super) created: u64,
    pub(super) owns_token: bool,
    /// Its marker has not come to the head of its queue.
    pub(super) blocked: bool,
    /// Stopped from downstream.
    pub(super) stopped: bool,
    /// Whether it has held a packet.
    pub(super) held: bool,
    /// Ingress: a line upstream was asked for.
    pub(super) notified: bool,
    /// Ingress: the line upstream is there.
    pub(super) acknowledged: bool,
    /// Those upstream were stopped.
    pub(super) xoff: bool,
    /// Egress: number of the line downstream.
    pub(super) downstream: u8,
    /// Egress: inputs that hold a line for it.
    pub(super) branches: Ports,
}

/// A control packet; Xoff, Xon and token name the line downstream.
#[derive(Clone, Copy, Debug)]
pub(in crate::packet::queueing) enum Control {
    /// To the egress upstream: a line with its token.
    Notify {
        path: u64,
        line: u8,
    },
    /// The answer.
    Acknowledge {
        line: u8,
    },
    Stop {
        line: u8,
        stop: bool,
    },
    /// To the ingress downstream: its line owns its token again.
    Token {
        line: u8,
    },
}

/// Whether turns begin with a path.
#[inline]
pub(super) fn begins(turns: u64, path: u64) -> bool {
    let bits = u64::BITS - path.leading_zeros();
    (turns ^ path) & ((1 << bits) - 1) == 0
}
