//! Four queues per port (4Q).

use std::convert::Infallible;

use super::Queueing;
use crate::packet::Fabric;
use crate::packet::memory::Row;

/// Queues of a port.
const QUEUES: usize = 4;

/// A packet takes the least occupied queue, as far as is known where it is chosen: by credits before a link. Of equal
/// ones it takes the first.
pub(super) struct FourQueues;

impl Queueing for FourQueues {
    type Control = Infallible;

    fn new(_: &Fabric, _: usize) -> Self {
        Self
    }

    #[inline]
    fn ingress_queues(&self) -> usize {
        QUEUES
    }

    #[inline]
    fn ingress_queue(&self, _: &Row, credits: &[u32]) -> usize {
        (0..QUEUES).rev().max_by_key(|queue| credits[*queue]).unwrap_or(0)
    }

    #[inline]
    fn egress_queue(&self, _: &Row, taken: &[u32]) -> usize {
        (0..QUEUES).min_by_key(|queue| taken[*queue]).unwrap_or(0)
    }
}
