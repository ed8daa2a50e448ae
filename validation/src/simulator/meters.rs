//! What is counted of flits, whoever sent them.

/// Counts since the start of a run.
#[derive(Clone, Debug)]
pub(crate) struct Meters {
    /// By lane: flits of whole messages that have left over the link.
    pub(crate) flits_sent: Vec<u64>,
    /// Flits that have crossed a crossbar.
    pub(crate) flit_hops: u64,
}

impl Meters {
    pub(crate) fn new(lanes: usize) -> Self {
        Self { flits_sent: vec![0; lanes], flit_hops: 0 }
    }
}
