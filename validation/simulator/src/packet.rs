//! Packet switches with virtual cut-through in multistage networks, from one queue per port to regional explicit
//! congestion notification (RECN), after Duato et al., HPCA 2005.
//!
//! Queues, links and crossbar ports belong to whole packets. All durations are whole ticks, all memories and
//! thresholds whole packets. [`Simulator`] is the fast simulator, [`super::plain::packet`] the same as its rules read.

mod arbitration;
mod backlog;
mod events;
mod interface;
mod link;
mod memory;
mod queueing;
pub(super) mod record;
mod sets;
pub(super) mod sources;
mod switch;
pub(super) mod wiring;

use flitwise_language::network::{LinkTime, Network as Topology};
use flitwise_language::scenario::{Organisation, Scenario, Timing, VoqOutput};

use switch::Network;

pub use record::{Bin, Column, Counts, Delivery, StageLoad, TrafficCounts};
pub use sources::{Message, Process, Traffic};

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

/// A network of packet switches and its hosts' interfaces.
///
/// The caller sees to the ranges: every queue with a place, `xon <= xoff`, `propagation <= xoff`, thresholds,
/// `credit_batch` and durations but `control`, `flight` and `routing` at least 1, flits no longer than packets.
#[derive(Clone, Debug, PartialEq)]
pub struct Fabric {
    /// Hosts, switches and links.
    pub network: Topology,
    /// Ports of a switch, open ones included.
    pub ports: u32,
    /// How the queues of a port are organised.
    pub organisation: Organisation,
    /// How egress queues of virtual output queues at the switch are organised.
    pub voq_output: VoqOutput,
    /// Thresholds of queues that are set aside.
    pub recn: Recn,
    /// Durations.
    pub timing: Timing,
    /// Memory of a port, ingress and egress each \[packets\].
    pub port_packets: u32,
    /// Memory of an injection port \[packets\].
    pub injection_packets: u32,
    /// Most packets that wait at a host for one destination.
    pub admittance_packets: Option<u32>,
    /// Credits of a credit packet, at most.
    pub credit_batch: u32,
}

impl Fabric {
    /// That of a scenario with packet switches; thresholds are rounded up to whole packets, times to ticks.
    pub fn of(scenario: &Scenario) -> Option<Self> {
        let (switch, recn) = (scenario.switch()?, scenario.recn());
        let timing = scenario.spec().timing()?;
        let packets = |bytes: u32| bytes.div_ceil(switch.packet).max(1);
        Some(Self {
            network: scenario.topology(),
            ports: scenario.switch_ports(),
            organisation: switch.organisation,
            voq_output: switch.voq_output,
            recn: Recn {
                set_aside_queues: recn.set_aside_queues,
                detection: packets(recn.detection),
                propagation: packets(recn.propagation),
                xoff: packets(recn.xoff),
                xon: packets(recn.xon),
                few_packets: recn.few_packets,
                normal_weight: recn.normal_weight,
                hold: (recn.hold / timing.tick_ns).round() as u64,
                marker: Marker::ParentQueue,
            },
            timing,
            port_packets: switch.places(scenario.port_memory()),
            injection_packets: switch.places(scenario.injection_memory()),
            admittance_packets: scenario.interface().admittance.map(|bytes| switch.places(bytes)),
            credit_batch: switch.credit_batch,
        })
    }

    /// Its links.
    pub(crate) fn wiring(&self) -> wiring::Wiring {
        wiring::Wiring::new(&self.network, self.ports)
    }

    /// Durations on a link.
    pub(crate) fn on(&self, link: LinkTime) -> Timing {
        self.timing.on(link)
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

impl Load {
    /// Traffics, those of listed messages included.
    pub(crate) fn number_of_traffics(&self) -> usize {
        let listed = self.messages.iter().map(|message| usize::from(message.traffic) + 1).max();
        self.traffics.len().max(listed.unwrap_or(0))
    }
}

/// A run of a network of packet switches, tick by tick.
pub struct Simulator {
    switch: Box<dyn Network>,
    traffic: crate::Traffic,
    now: u64,
}

impl Simulator {
    /// An empty network.
    pub fn new(fabric: &Fabric, load: &Load) -> Self {
        Self {
            switch: queueing::with_queues(fabric, load.number_of_traffics(), load.bin),
            traffic: crate::Traffic::of_packets(&*fabric.network, load),
            now: 0,
        }
    }

    /// Simulates all ticks before `end`; packets that are through are added to `delivered`.
    pub fn run_until(&mut self, end: u64, delivered: &mut Vec<Delivery>) {
        self.switch.run(&mut self.traffic, &mut self.now, end, delivered);
        self.switch.record_mut().turn_bins(end.saturating_sub(1));
    }

    /// The first tick that has not been simulated.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Counts so far.
    pub fn counts(&self) -> &Counts {
        &self.switch.record().counts
    }

    /// The series so far; the last bin is open.
    pub fn bins(&self) -> &[Bin] {
        &self.switch.record().bins
    }

    /// The series, the last bin closed.
    pub fn into_bins(mut self) -> Vec<Bin> {
        let record = self.switch.record_mut();
        record.close_bin();
        std::mem::take(&mut record.bins)
    }

    /// By stage, last for hosts: packets sent on links.
    pub fn links(&self) -> &[StageLoad] {
        &self.switch.record().links
    }

    /// Counts so far by traffic.
    pub fn traffics(&self) -> &[TrafficCounts] {
        &self.switch.record().traffics
    }

    /// Packets that wait at the hosts, not yet admitted.
    pub fn backlog(&self) -> u64 {
        let counts = self.counts();
        counts.generated - counts.refused - counts.withdrawn - counts.admitted
    }

    /// Packets in queues now, in columns from left to right: injection ports, then left and right ports of each stage.
    /// Those of a link go on in the next column.
    pub fn columns(&self) -> Vec<Column> {
        self.switch.columns()
    }

    /// Whether nothing is left anywhere: packets, credits under way, control packets, set-aside queues.
    pub fn is_drained(&self) -> bool {
        self.switch.is_drained()
    }
}
