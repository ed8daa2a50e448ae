//! Whoever wants to see single flits move.

use super::queues::Message;

/// Is told of every move. [`Nobody`] costs nothing.
pub(crate) trait Observer {
    /// Whether it wants to be told at all.
    const WATCHES: bool;

    /// A header was granted its output lane in cycle `now`; its request is of `requested`.
    fn granted(&mut self, message: &Message, requested: u64, now: u64);

    /// A flit (from 0) crosses the crossbar in cycle `now`.
    fn crosses(&mut self, message: &Message, flit: u32, now: u64);

    /// A flit leaves over a link in cycle `now`, to a router or to its destination.
    fn leaves(&mut self, message: &Message, flit: u32, to_router: bool, now: u64);
}

/// Nobody looks.
pub(crate) struct Nobody;

impl Observer for Nobody {
    const WATCHES: bool = false;

    #[inline]
    fn granted(&mut self, _: &Message, _: u64, _: u64) {}

    #[inline]
    fn crosses(&mut self, _: &Message, _: u32, _: u64) {}

    #[inline]
    fn leaves(&mut self, _: &Message, _: u32, _: bool, _: u64) {}
}
