//! A flit on its way.

/// A flit in a buffer or on a wire.
#[derive(Clone, Copy)]
pub(super) struct Flit {
    /// Messages generated before its own.
    pub(super) message: u64,
    /// The virtual channel that it is on.
    pub(super) lane: usize,
    /// That of its message \[cycles/flit\].
    pub(super) vtick: f64,
    /// Its place in the message, 0 for the header.
    pub(super) number: usize,
    pub(super) is_tail: bool,
    /// The cycle in which it joined the output lane or source queue that it is or was last in.
    pub(super) joined_cycle: u64,
    /// The stamp that it got there.
    pub(super) stamp: f64,
}

impl Flit {
    pub(super) fn is_header(&self) -> bool {
        self.number == 0
    }
}
