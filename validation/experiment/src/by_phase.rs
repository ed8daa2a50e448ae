//! Messages by the phase in which they are generated, and what interfaces and preemption do to them.

use flitwise_language::quantity::Quantity;
use flitwise_language::scenario::{RunPhase, Scenario};
use serde::{Deserialize, Serialize};

use crate::frames::WindowTally;
use crate::statistics::Batch;
use flitwise_simulator::Delivery;

/// Sums over messages of what they spend between applications and links, and how often they give way \[cycles\].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct HostSums {
    /// Until it is handed over, or posted.
    doorbell: u64,
    /// On the host bus, or from its posting until it is on the link.
    bus: u64,
    wire: u64,
    receive: u64,
    end_to_end: u64,
    preemptions: u64,
}

impl HostSums {
    pub(crate) fn add(&mut self, message: &Delivery) {
        self.doorbell += u64::from(message.host.doorbell);
        self.bus += u64::from(message.host.bus) + u64::from(message.host.interface);
        self.wire += message.wire_cycles();
        self.receive += u64::from(message.host.receive);
        self.end_to_end += message.end_to_end_latency_cycles();
        self.preemptions += u64::from(message.preemptions);
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.doorbell += other.doorbell;
        self.bus += other.bus;
        self.wire += other.wire;
        self.receive += other.receive;
        self.end_to_end += other.end_to_end;
        self.preemptions += other.preemptions;
    }

    /// The sum of a quantity; `None` of others.
    pub(crate) fn sum(&self, quantity: Quantity) -> Option<u64> {
        match quantity {
            Quantity::EndToEndLatency => Some(self.end_to_end),
            Quantity::Doorbell => Some(self.doorbell),
            Quantity::HostBus => Some(self.bus),
            Quantity::Wire => Some(self.wire),
            Quantity::Receive => Some(self.receive),
            Quantity::PostingDelay => Some(self.doorbell),
            Quantity::QueueingDelay => Some(self.wire),
            Quantity::InterfaceTime => Some(self.bus),
            Quantity::PostedLatency => Some(self.end_to_end - self.doorbell),
            Quantity::Preemptions => Some(self.preemptions),
            _ => None,
        }
    }
}

/// What a message spends between application and links, or how often it gives way: a quantity of
/// [`Quantity::INTERFACES`], [`Quantity::ADAPTERS`] or [`Quantity::PREEMPTIONS`]; `None` of others.
pub fn host_value(message: &Delivery, quantity: Quantity) -> Option<u64> {
    let mut sums = HostSums::default();
    sums.add(message);
    sums.sum(quantity)
}

/// Messages of a class that are generated in a phase \[cycles\].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct MessageSums {
    pub(crate) messages: u64,
    network: u64,
    waiting: u64,
    host: HostSums,
}

impl MessageSums {
    fn add(&mut self, message: &Delivery) {
        self.messages += 1;
        self.network += message.network_latency_cycles();
        self.waiting += message.waiting_cycles();
        self.host.add(message);
    }

    /// The batch of a quantity; `None` of one that is not counted by phase.
    pub(crate) fn batch(&self, quantity: Quantity) -> Option<Batch> {
        let sum = match quantity {
            Quantity::NetworkLatency => self.network,
            Quantity::Waiting => self.waiting,
            Quantity::TotalLatency => self.network + self.waiting,
            quantity => self.host.sum(quantity)?,
        };
        Some(Batch { count: self.messages, sum: sum as f64 })
    }
}

/// What a replication has measured in one phase.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct PhaseRecord {
    /// By class.
    pub(crate) messages: Vec<MessageSums>,
    /// By class: frames that begin in it.
    pub(crate) frames: Vec<WindowTally>,
}

/// Counts the measured messages of a replication by phase.
#[derive(Clone, Debug, Default)]
pub(crate) struct PhaseMeter {
    /// Where each phase begins \[cycles\]; none where nothing changes.
    begins: Vec<u64>,
    /// By phase and class.
    pub(crate) messages: Vec<Vec<MessageSums>>,
}

impl PhaseMeter {
    pub(crate) fn new(scenario: &Scenario, phases: &[RunPhase]) -> Self {
        let messages = vec![vec![MessageSums::default(); scenario.classes().len()]; phases.len()];
        Self { begins: phases.iter().map(|phase| phase.begins.ceil() as u64).collect(), messages }
    }

    /// A message that is measured.
    pub(crate) fn add(&mut self, message: &Delivery) {
        let phase = self.begins.partition_point(|begins| *begins <= message.generated_cycle);
        if let Some(sums) = phase.checked_sub(1).and_then(|phase| self.messages.get_mut(phase)) {
            sums[usize::from(message.class)].add(message);
        }
    }
}

#[cfg(test)]
mod tests {
    use flitwise_language::quantity::Waits;
    use flitwise_simulator::{FramePart, HostTimes};

    use super::*;

    /// A lone message of 40 flits behind a host bus that knows classes: 10 cycles of firmware, 22 of the bus, one to
    /// the router, 44 through it and 18 of the bus of the receiver.
    fn lone(generated_cycle: u64) -> Delivery {
        Delivery {
            generated_cycle,
            entered_cycle: generated_cycle + 33,
            delivered_cycle: generated_cycle + 76,
            source: 0,
            destination: 1,
            class: 0,
            hops: 0,
            waits: Waits::default(),
            host: HostTimes { doorbell: 10, bus: 22, receive: 18, interface: 0 },
            preemptions: 1,
            part: FramePart::default(),
        }
    }

    #[test]
    fn parts_add_up_to_the_time_from_end_to_end() {
        let mut sums = MessageSums::default();
        sums.add(&lone(0));
        sums.add(&Delivery { entered_cycle: 740, delivered_cycle: 800, preemptions: 0, ..lone(700) });
        let sum = |quantity| sums.batch(quantity).unwrap().sum;
        let parts = [Quantity::Doorbell, Quantity::HostBus, Quantity::Wire, Quantity::Receive].map(sum);
        assert_eq!(parts, [20.0, 44.0, 1.0 + 8.0, 36.0]);
        let whole = sum(Quantity::EndToEndLatency);
        assert_eq!(whole, 95.0 + 40.0 + 61.0 + 18.0);
        assert_eq!(parts.iter().sum::<f64>() + sum(Quantity::NetworkLatency), whole);
        assert_eq!(sum(Quantity::Waiting), parts[..3].iter().sum::<f64>());
        assert_eq!(sum(Quantity::Preemptions), 1.0);
        assert_eq!(sums.batch(Quantity::Blocking), None);
    }
}
