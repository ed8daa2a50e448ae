//! How the queues of a port are organised (P9), and which of them a packet takes.

use flitwise_language::scenario::{Organisation, VoqOutput};

use super::{Packet, Plain};
use crate::packet::Fabric;

/// P9: ingress queues of a port, among which its memory is divided.
pub(super) fn ingress_queues(fabric: &Fabric) -> usize {
    match fabric.organisation {
        Organisation::OneQueue | Organisation::Recn => 1,
        Organisation::FourQueues => 4,
        Organisation::VoqSwitch => fabric.ports as usize,
        Organisation::VoqNetwork => fabric.network.nodes() as usize,
    }
}

/// P9: egress queues of a port, among which its memory is divided.
pub(super) fn egress_queues(fabric: &Fabric) -> usize {
    match (fabric.organisation, fabric.voq_output) {
        (Organisation::VoqSwitch, VoqOutput::Single) => 1,
        _ => ingress_queues(fabric),
    }
}

/// P9: queues that may be set aside in a memory.
pub(super) fn set_aside_queues(fabric: &Fabric) -> usize {
    if fabric.organisation == Organisation::Recn { fabric.recn.set_aside_queues as usize } else { 0 }
}

/// P10: credits of each queue behind a link to a switch, or of each pool behind one to a host.
pub(super) fn credits(fabric: &Fabric, to_host: bool) -> Vec<u32> {
    let queues = ingress_queues(fabric);
    let pools = if to_host && fabric.organisation != Organisation::VoqNetwork { 1 } else { queues };
    vec![fabric.port_packets / pools as u32; pools]
}

impl Plain {
    pub(super) fn is_recn(&self) -> bool {
        self.fabric.organisation == Organisation::Recn
    }

    /// P9: the fixed egress queue that a packet would take, if it has room.
    pub(super) fn egress_queue(&self, port: usize, turns: &[usize], destination: usize) -> Option<usize> {
        let egress = &self.ports[port].egress;
        let queue = match (self.fabric.organisation, self.fabric.voq_output) {
            (Organisation::OneQueue | Organisation::Recn, _) => 0,
            (Organisation::FourQueues, _) => (0..4).min_by_key(|queue| egress.taken[*queue]).unwrap_or(0),
            (Organisation::VoqSwitch, VoqOutput::Single) => 0,
            (Organisation::VoqSwitch, VoqOutput::NextSwitch) => *turns.first().unwrap_or(&0),
            (Organisation::VoqNetwork, _) => destination,
        };
        (egress.taken[queue] < egress.places).then_some(queue)
    }

    /// P9, P10: the queue behind the link that a packet takes, if it has a place.
    pub(super) fn credit(&self, port: usize, packet: &Packet) -> Option<usize> {
        let credits = &self.ports[port].credits;
        let queue = match self.fabric.organisation {
            Organisation::VoqNetwork => packet.delivery.destination as usize,
            _ if credits.len() == 1 => 0,
            Organisation::VoqSwitch => packet.turns[0],
            _ => (0..4).rev().max_by_key(|queue| credits[*queue]).unwrap_or(0),
        };
        (credits[queue] > 0).then_some(queue)
    }
}
