//! One queue per port (1Q).

use std::convert::Infallible;

use super::Queueing;
use crate::packet::Fabric;
use crate::packet::memory::Row;

/// Every packet takes the one queue.
pub(super) struct OneQueue;

impl Queueing for OneQueue {
    type Control = Infallible;

    fn new(_: &Fabric, _: usize) -> Self {
        Self
    }

    #[inline]
    fn ingress_queues(&self) -> usize {
        1
    }

    #[inline]
    fn ingress_queue(&self, _: &Row, _: &[u32]) -> usize {
        0
    }

    #[inline]
    fn egress_queue(&self, _: &Row, _: &[u32]) -> usize {
        0
    }

    #[inline]
    fn queue_of(&self, _: usize, _: &Row) -> usize {
        0
    }
}
