//! A flit that knows its level.

/// A flit in a buffer or on a wire.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flit {
    /// Messages generated before its own.
    pub(super) message: u64,
    pub(super) kind: FlitKind,
    /// L1: that of its message.
    pub(super) level: usize,
    /// The virtual channel that it is on.
    pub(super) channel: usize,
    /// That of its message \[cycles/flit\].
    pub(super) vtick: f64,
    /// The cycle in which it joined the lane or source queue that it is or was last in.
    pub(super) joined_cycle: u64,
    /// The stamp that it got there.
    pub(super) stamp: f64,
}

/// What a flit carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FlitKind {
    /// A part of the message: its place, 0 for the header, and whether it is the tail.
    Payload { number: usize, is_tail: bool },
    /// L7: it leads a fragment that goes on with a message.
    DummyHeader,
    /// L6: it ends a fragment.
    DummyTail,
}

impl Flit {
    /// L8: whether a fragment begins with it.
    pub(super) fn is_header(&self) -> bool {
        matches!(self.kind, FlitKind::Payload { number: 0, .. } | FlitKind::DummyHeader)
    }

    /// L8: whether a fragment ends with it.
    pub(super) fn is_tail(&self) -> bool {
        matches!(self.kind, FlitKind::Payload { is_tail: true, .. } | FlitKind::DummyTail)
    }

    /// Its place in the message, unless it is a dummy.
    pub(super) fn number(&self) -> Option<usize> {
        match self.kind {
            FlitKind::Payload { number, .. } => Some(number),
            FlitKind::DummyHeader | FlitKind::DummyTail => None,
        }
    }
}
