//! Virtual output queues at the switch (VOQsw).

use std::convert::Infallible;

use flitwise_language::scenario::VoqOutput;

use super::Queueing;
use crate::packet::Fabric;
use crate::packet::memory::Row;
use crate::packet::wiring::PORTS;

/// An ingress queue for each output port of the switch, an egress queue for each of the next one or a single one.
pub(super) struct VoqSwitch {
    is_single_output: bool,
}

/// The queue of the port that is next on the way; none is ahead towards a host.
#[inline]
fn next_port(row: &Row) -> usize {
    row.turns as usize % PORTS
}

impl Queueing for VoqSwitch {
    type Control = Infallible;

    fn new(fabric: &Fabric, _: usize) -> Self {
        Self { is_single_output: fabric.voq_output == VoqOutput::Single }
    }

    #[inline]
    fn ingress_queues(&self) -> usize {
        PORTS
    }

    #[inline]
    fn egress_queues(&self) -> usize {
        if self.is_single_output { 1 } else { PORTS }
    }

    #[inline]
    fn ingress_queue(&self, row: &Row, _: &[u32]) -> usize {
        next_port(row)
    }

    #[inline]
    fn egress_queue(&self, row: &Row, _: &[u32]) -> usize {
        if self.is_single_output { 0 } else { next_port(row) }
    }
}
