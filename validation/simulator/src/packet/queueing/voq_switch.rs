//! Virtual output queues at the switch (VOQsw).

use std::convert::Infallible;

use flitwise_language::scenario::VoqOutput;

use super::Queueing;
use crate::packet::Fabric;
use crate::packet::memory::Row;
use crate::packet::wiring::Numbers;

/// An ingress queue for each output port of the switch, an egress queue for each of the next one or a single one.
pub(super) struct VoqSwitch {
    is_single_output: bool,
    numbers: Numbers,
}

impl VoqSwitch {
    /// The queue of the port that is next on the way; none is ahead towards a host.
    #[inline]
    fn next_port(&self, row: &Row) -> usize {
        self.numbers.of_switch(row.turns as usize)
    }
}

impl Queueing for VoqSwitch {
    type Control = Infallible;

    fn new(fabric: &Fabric, _: usize) -> Self {
        Self {
            is_single_output: fabric.voq_output == VoqOutput::Single,
            numbers: Numbers::new(fabric.ports as usize),
        }
    }

    #[inline]
    fn ingress_queues(&self) -> usize {
        self.numbers.ports
    }

    #[inline]
    fn egress_queues(&self) -> usize {
        if self.is_single_output { 1 } else { self.numbers.ports }
    }

    #[inline]
    fn ingress_queue(&self, row: &Row, _: &[u32]) -> usize {
        self.next_port(row)
    }

    #[inline]
    fn egress_queue(&self, row: &Row, _: &[u32]) -> usize {
        if self.is_single_output { 0 } else { self.next_port(row) }
    }
}
