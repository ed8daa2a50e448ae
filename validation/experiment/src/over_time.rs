//! A terminating run interval by interval: what is delivered in each.

use flitwise_language::scenario::{Scenario, Terminating};

use crate::statistics::Batch;
use flitwise_simulator::Delivery;

/// Counts of the messages that are delivered in each interval of one replication.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct OverTime {
    run: Terminating,
    bin: f64,
    /// By class and interval.
    bins: Vec<Vec<Deliveries>>,
}

/// Messages of a class that are delivered in an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Deliveries {
    messages: u64,
    /// Sums over them \[cycles\].
    network: u64,
    total: u64,
}

/// What is told of a class in an interval, of one replication.
pub(crate) struct Bin {
    /// Its first cycle, and its length \[cycles\].
    pub(crate) start: u64,
    pub(crate) cycles: u64,
    pub(crate) messages: u64,
    pub(crate) network: Batch,
    pub(crate) total: Batch,
}

impl OverTime {
    /// `None` where no series is asked for.
    pub(crate) fn new(scenario: &Scenario) -> Option<Self> {
        let run = scenario.terminating()?;
        let bin = run.bin?;
        let count = (run.cycles as f64 / bin).ceil() as usize;
        Some(Self { run, bin, bins: vec![vec![Deliveries::default(); count]; scenario.classes().len()] })
    }

    /// A message has been delivered.
    pub(crate) fn add(&mut self, message: &Delivery) {
        let at = (message.delivered_cycle as f64 / self.bin) as usize;
        let Some(bin) = self.bins[usize::from(message.class)].get_mut(at) else { return };
        let (network, waiting) = (message.network_latency_cycles(), message.waiting_cycles());
        bin.messages += 1;
        bin.network += network;
        bin.total += network + waiting;
    }

    /// Number of intervals.
    pub(crate) fn len(&self) -> usize {
        self.bins.first().map_or(0, Vec::len)
    }

    /// An interval, the last of which may be shorter.
    pub(crate) fn bin(&self, class: usize, at: usize) -> Bin {
        let cycle = |at: usize| ((at as f64 * self.bin).ceil() as u64).min(self.run.cycles);
        let Deliveries { messages, network, total } = self.bins[class][at];
        let batch = |sum: u64| Batch { count: messages, sum: sum as f64 };
        let cycles = cycle(at + 1) - cycle(at);
        Bin { start: cycle(at), cycles, messages, network: batch(network), total: batch(total) }
    }
}
