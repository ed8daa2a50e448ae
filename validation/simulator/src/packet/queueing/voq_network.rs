//! Virtual output queues for the whole network (VOQnet).

use std::convert::Infallible;

use super::Queueing;
use crate::packet::Fabric;
use crate::packet::memory::Row;

/// A queue for each destination, whose number a row keeps.
pub(super) struct VoqNetwork {
    hosts: usize,
}

impl Queueing for VoqNetwork {
    type Control = Infallible;

    const BY_DESTINATION: bool = true;

    fn new(fabric: &Fabric, _: usize) -> Self {
        Self { hosts: fabric.network.nodes() as usize }
    }

    #[inline]
    fn ingress_queues(&self) -> usize {
        self.hosts
    }

    #[inline]
    fn ingress_queue(&self, row: &Row, _: &[u32]) -> usize {
        row.queue.into()
    }

    #[inline]
    fn egress_queue(&self, row: &Row, _: &[u32]) -> usize {
        row.queue.into()
    }
}
