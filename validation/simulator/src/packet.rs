//! Packet switches with virtual cut-through in multistage networks, from one queue per port to regional explicit
//! congestion notification (RECN), after Duato et al., HPCA 2005.
//!
//! Queues, links and crossbar ports belong to whole packets. All durations are whole ticks, all memories and
//! thresholds whole packets. [`Simulator`] is the fast simulator, [`plain`] the same as its rules read.

mod fast;
mod lines;
pub mod plain;
mod record;
mod sources;
#[cfg(test)]
mod tests;
mod wiring;

pub use fast::Simulator;
pub use record::{Bin, Column, Counts, Delivery, StageLoad};
pub use sources::{Destination, Message, Process, Traffic};

/// How data go through the stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From left to right.
    Unidirectional {
        /// Whether a perfect shuffle stands before stage 0, as in the omega network.
        first_shuffle: bool,
    },
    /// Up to the first common stage and down again; all hosts are on the left.
    Bidirectional,
}

/// Queues of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Organisation {
    /// One queue.
    OneQueue,
    /// Four queues; a packet joins the least occupied one.
    FourQueues,
    /// A queue per output port of the switch; at egress per output port of the next switch.
    VoqSwitch {
        /// One egress queue instead.
        single_output: bool,
    },
    /// A queue per destination.
    VoqNetwork,
    /// One queue and set-aside queues.
    Recn(Recn),
}

/// Regional explicit congestion notification; thresholds in packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recn {
    /// Set-aside queues of a port, ingress and egress each: 1 to 64.
    pub set_aside_queues: u32,
    /// Length of an egress port's normal queue from which on inputs are notified.
    pub detection: u32,
    /// Length of a set-aside queue from which on it is propagated upstream.
    pub propagation: u32,
    /// Length of a set-aside queue from which on the one upstream is stopped.
    pub xoff: u32,
    /// Length of a set-aside queue below which the one upstream goes on.
    pub xon: u32,
    /// The longest set-aside queue with a token that goes before all others.
    pub few_packets: u32,
    /// Packets of the normal queue between two of set-aside queues on a link.
    pub normal_weight: u32,
    /// Age from which on a set-aside queue is released that never held a packet \[ticks\].
    pub hold: u64,
    /// Where the marker of a new set-aside queue goes.
    pub marker: Marker,
}

/// Where the marker of a new set-aside queue goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marker {
    /// Into the queue that took its packets until now.
    ParentQueue,
    /// Into the normal queue, the paper's rule: nested trees let packets overtake each other.
    NormalQueue,
}

impl Default for Recn {
    fn default() -> Self {
        Self {
            set_aside_queues: 8,
            detection: 16,
            propagation: 4,
            xoff: 32,
            xon: 16,
            few_packets: 2,
            normal_weight: 8,
            hold: 375,
            marker: Marker::ParentQueue,
        }
    }
}

/// Durations \[ticks\].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// A packet on a link.
    pub packet_link: u64,
    /// A packet over a crossbar.
    pub packet_crossbar: u64,
    /// A flit on a link.
    pub flit_link: u64,
    /// A flit over a crossbar.
    pub flit_crossbar: u64,
    /// A control packet on a link; 0: it takes none of the link.
    pub control_link: u64,
    /// A signal from one end of a link to the other.
    pub flight: u64,
    /// Routing in a switch.
    pub routing: u64,
}

/// 64-byte packets, 8-byte flits and control packets, links of 8 Gbps, crossbars of 12 Gbps, 16 ns each for flight
/// and routing: a tick of 8/3 ns.
impl Default for Times {
    fn default() -> Self {
        Self {
            packet_link: 24,
            packet_crossbar: 16,
            flit_link: 3,
            flit_crossbar: 2,
            control_link: 3,
            flight: 6,
            routing: 6,
        }
    }
}

/// A network of packet switches and its hosts' interfaces.
///
/// The caller sees to the ranges: `hosts` a power of two from 16 to 1,024, every queue with a place, `xon <= xoff`,
/// `propagation <= xoff`, thresholds, `credit_batch` and durations but `control_link`, `flight` and `routing` at
/// least 1, flits no longer than packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fabric {
    /// Hosts.
    pub hosts: u32,
    /// How data go through the stages.
    pub direction: Direction,
    /// Queues of a port.
    pub organisation: Organisation,
    /// Durations.
    pub times: Times,
    /// Whether a packet is taken in as a whole before it goes on.
    pub store_and_forward: bool,
    /// Memory of a port, ingress and egress each \[packets\].
    pub port_packets: u32,
    /// Memory of an injection port \[packets\].
    pub injection_packets: u32,
    /// Most packets that wait at a host for one destination.
    pub admittance_packets: Option<u32>,
    /// Credits of a credit packet, at most.
    pub credit_batch: u32,
}

impl Default for Fabric {
    fn default() -> Self {
        Self {
            hosts: 64,
            direction: Direction::Unidirectional { first_shuffle: true },
            organisation: Organisation::Recn(Recn::default()),
            times: Times::default(),
            store_and_forward: false,
            port_packets: 2048,
            injection_packets: 2048,
            admittance_packets: None,
            credit_batch: 8,
        }
    }
}

impl Fabric {
    /// From sending on a link to joining the ingress queue behind it \[ticks\].
    fn arrival_delay(&self) -> u64 {
        let times = &self.times;
        times.flight
            + if self.store_and_forward {
                times.packet_link + times.routing
            } else {
                (times.flit_link + times.routing).max(times.packet_link.saturating_sub(times.packet_crossbar))
            }
    }

    /// Rules and thresholds, if the organisation is RECN.
    fn recn(&self) -> Option<&Recn> {
        match &self.organisation {
            Organisation::Recn(recn) => Some(recn),
            _ => None,
        }
    }

    /// Ingress queues of a port that share no memory.
    fn ingress_queues(&self) -> usize {
        match self.organisation {
            Organisation::OneQueue | Organisation::Recn(_) => 1,
            Organisation::FourQueues => 4,
            Organisation::VoqSwitch { .. } => wiring::PORTS,
            Organisation::VoqNetwork => self.hosts as usize,
        }
    }

    /// Egress queues of a port that share no memory.
    fn egress_queues(&self) -> usize {
        match self.organisation {
            Organisation::VoqSwitch { single_output: true } => 1,
            _ => self.ingress_queues(),
        }
    }

    /// Credits of each queue behind a link to a switch, or of each pool behind one to a host.
    fn credits(&self, to_host: bool) -> Vec<u32> {
        let queues = self.ingress_queues();
        match self.organisation {
            Organisation::VoqNetwork => vec![self.port_packets / self.hosts; queues],
            _ if to_host => vec![self.port_packets],
            _ => vec![self.port_packets / queues as u32; queues],
        }
    }
}

/// What runs over a fabric.
#[derive(Clone, Debug, Default)]
pub struct Load {
    /// Traffics; each host of each has its own stream of random numbers.
    pub traffics: Vec<Traffic>,
    /// Listed messages, by tick.
    pub messages: Vec<Message>,
    /// Seed of the random numbers.
    pub seed: u64,
    /// Length of a bin of the series \[ticks\]; 0: no series.
    pub bin: u64,
}
