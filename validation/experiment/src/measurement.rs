//! Counts and sums over the messages of a batch, by class and number of hops.

use flitwise_language::quantity::{Quantity, Waits};
use flitwise_language::scenario::Scenario;
use serde::{Deserialize, Serialize};

use crate::by_phase::HostSums;
use crate::statistics::{Batch, Histogram};
use flitwise_simulator::Delivery;

/// Counts of all classes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Tally {
    /// `class * hop_counts + hops`.
    cells: Vec<Cell>,
    hop_counts: usize,
    /// By class, where there are interfaces or preemption; a block keeps them elsewhere.
    #[serde(skip)]
    pub(crate) host: Vec<HostSums>,
}

/// Whether a scenario has interfaces behind host buses, channel adapters, or preemption.
pub(crate) fn has_host_sums(scenario: &Scenario) -> bool {
    let groups = scenario.spec().groups();
    [Quantity::INTERFACES, Quantity::PREEMPTIONS, Quantity::ADAPTERS]
        .iter()
        .any(|group| groups.contains(group))
}

/// Counts of the messages of one class over one number of hops.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Cell {
    pub(crate) network_latency: Histogram,
    pub(crate) network: Sums,
    pub(crate) waiting: Sums,
    pub(crate) total: Sums,
    /// What a lone message takes, summed \[cycles\].
    pub(crate) transfer: u64,
    pub(crate) waits: Waits<u64>,
}

/// Sum and sum of squares \[cycles\], exact, so that the order of messages does not matter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Sums {
    pub(crate) sum: u64,
    pub(crate) squares: u128,
}

impl Sums {
    fn add(&mut self, cycles: u64) {
        self.sum += cycles;
        self.squares += u128::from(cycles) * u128::from(cycles);
    }

    fn merge(&mut self, other: &Self) {
        self.sum += other.sum;
        self.squares += other.squares;
    }

    /// Standard deviation of `count` values.
    pub(crate) fn deviation(&self, count: u64) -> Option<f64> {
        if count < 2 {
            return None;
        }
        let mean = self.sum as f64 / count as f64;
        let variance = (self.squares as f64 / count as f64 - mean * mean) * count as f64 / (count - 1) as f64;
        Some(variance.max(0.0).sqrt())
    }
}

impl Cell {
    /// Number of messages.
    pub(crate) fn count(&self) -> u64 {
        self.network_latency.count()
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.network_latency.merge(&other.network_latency);
        self.network.merge(&other.network);
        self.waiting.merge(&other.waiting);
        self.total.merge(&other.total);
        self.transfer += other.transfer;
        self.waits += other.waits;
    }

    /// The batch of a quantity; `None` of one that is not counted message by message.
    pub(crate) fn batch(&self, quantity: Quantity) -> Option<Batch> {
        Some(Batch { count: self.count(), sum: self.sum(quantity)? as f64 })
    }

    /// The sum of a quantity over all messages: counted as such, or the sum of its parts.
    fn sum(&self, quantity: Quantity) -> Option<u64> {
        match quantity {
            Quantity::NetworkLatency => Some(self.network.sum),
            Quantity::Transfer => Some(self.transfer),
            Quantity::Waiting => Some(self.waiting.sum),
            Quantity::TotalLatency => Some(self.total.sum),
            _ => self.waits.each().find(|(wait, _)| *wait == quantity).map(|(_, sum)| sum).or_else(|| {
                let parts = quantity.parts().map(|part| self.sum(part));
                parts.reduce(|sum, part| Some(sum? + part?)).flatten()
            }),
        }
    }
}

impl Tally {
    pub(crate) fn new(scenario: &Scenario) -> Self {
        let hop_counts = scenario.topology().most_hops() as usize + 1;
        let classes = scenario.classes().len();
        let host = vec![HostSums::default(); if has_host_sums(scenario) { classes } else { 0 }];
        Self { cells: vec![Cell::default(); classes * hop_counts], hop_counts, host }
    }

    /// Whether it has a cell for every class and number of hops.
    pub(crate) fn fits(&self, scenario: &Scenario) -> bool {
        let empty = Self::new(scenario);
        (self.cells.len(), self.hop_counts) == (empty.cells.len(), empty.hop_counts)
    }

    pub(crate) fn add(&mut self, message: &Delivery) {
        let cell = &mut self.cells[usize::from(message.class) * self.hop_counts + usize::from(message.hops)];
        let (network, waiting) = (message.network_latency_cycles(), message.waiting_cycles());
        cell.network_latency.add(network);
        cell.network.add(network);
        cell.waiting.add(waiting);
        cell.total.add(network + waiting);
        cell.transfer += message.transfer_cycles();
        cell.waits += message.waits;
        if let Some(sums) = self.host.get_mut(usize::from(message.class)) {
            sums.add(message);
        }
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.cells.iter_mut().zip(&other.cells) {
            mine.merge(theirs);
        }
        for (mine, theirs) in self.host.iter_mut().zip(&other.host) {
            mine.merge(theirs);
        }
    }

    /// Counts of a class over one number of hops.
    pub(crate) fn cell(&self, class: usize, hops: usize) -> &Cell {
        &self.cells[class * self.hop_counts + hops]
    }

    /// Counts of a class over all numbers of hops.
    pub(crate) fn class(&self, class: usize) -> Cell {
        let mut all = Cell::default();
        self.cells[class * self.hop_counts..][..self.hop_counts].iter().for_each(|cell| all.merge(cell));
        all
    }

    /// Messages of a class.
    pub(crate) fn count(&self, class: usize) -> u64 {
        self.cells[class * self.hop_counts..][..self.hop_counts].iter().map(Cell::count).sum()
    }

    /// Sum of the network latencies of a class \[cycles\].
    pub(crate) fn network_batch(&self, class: usize) -> Batch {
        self.batch(class, |cell| cell.network.sum)
    }

    /// Sum of the waiting of a class \[cycles\].
    pub(crate) fn waiting_batch(&self, class: usize) -> Batch {
        self.batch(class, |cell| cell.waiting.sum)
    }

    fn batch(&self, class: usize, of: impl Fn(&Cell) -> u64) -> Batch {
        let cells = &self.cells[class * self.hop_counts..][..self.hop_counts];
        let sum: u64 = cells.iter().map(of).sum();
        Batch { count: self.count(class), sum: sum as f64 }
    }
}

/// The batches of one replication: consecutive spans of generation time of equal length.
///
/// When there would be twice as many as wanted, neighbours are joined and the span doubles.
#[derive(Clone, Debug)]
pub(crate) struct Batches {
    empty: Tally,
    /// At least one.
    pub(crate) tallies: Vec<Tally>,
    wanted: usize,
    span_cycles: u64,
}

impl Batches {
    /// Between `wanted` and twice as many batches, once there are enough cycles; exactly one if 1 is wanted.
    pub(crate) fn new(scenario: &Scenario, wanted: usize) -> Self {
        let empty = Tally::new(scenario);
        Self { tallies: vec![empty.clone()], empty, wanted, span_cycles: 256 }
    }

    /// Counts a message that was generated so many cycles after the warm-up.
    pub(crate) fn add(&mut self, cycles_after_warmup: u64, message: &Delivery) {
        if self.wanted == 1 {
            self.tallies[0].add(message);
            return;
        }
        while cycles_after_warmup / self.span_cycles >= 2 * self.wanted as u64 {
            self.join_neighbours();
        }
        let index = (cycles_after_warmup / self.span_cycles) as usize;
        if index >= self.tallies.len() {
            self.tallies.resize(index + 1, self.empty.clone());
        }
        self.tallies[index].add(message);
    }

    fn join_neighbours(&mut self) {
        let mut joined = Vec::with_capacity(self.tallies.len().div_ceil(2));
        for pair in self.tallies.chunks(2) {
            let mut first = pair[0].clone();
            pair[1..].iter().for_each(|second| first.merge(second));
            joined.push(first);
        }
        self.tallies = joined;
        self.span_cycles = self.span_cycles.saturating_mul(2);
    }
}

#[cfg(test)]
mod tests {
    use flitwise_language::scenario::ScenarioSpec;

    use super::*;
    use flitwise_simulator::{FramePart, HostTimes};

    #[test]
    fn batches_join_without_losing_a_message() {
        let scenario = ScenarioSpec::default().check().unwrap();
        let mut batches = Batches::new(&scenario, 4);
        for index in 0..10_000u64 {
            let generated_cycle = index * 3;
            let message = Delivery {
                generated_cycle,
                entered_cycle: generated_cycle + 1,
                delivered_cycle: generated_cycle + 36 + index % 3,
                source: 0,
                destination: 0,
                class: (index % 3) as u8,
                hops: 0,
                waits: Waits { arbitration: 1, gaps: (index % 3) as u32, ..Waits::default() },
                part: FramePart::default(),
                host: HostTimes::default(),
                preemptions: 0,
            };
            batches.add(generated_cycle, &message);
            assert!(batches.tallies.len() <= 8);
        }
        assert!(batches.tallies.len() >= 4);
        let count = |class| batches.tallies.iter().map(|tally| tally.count(class)).sum::<u64>();
        assert_eq!([count(0), count(1), count(2)], [3334, 3333, 3333]);
        let sum: f64 = batches.tallies.iter().map(|tally| tally.network_batch(1).sum).sum();
        assert_eq!(sum, 37.0 * 3333.0);
        let mut class = Cell::default();
        batches.tallies.iter().for_each(|tally| class.merge(&tally.class(1)));
        let Waits { input, arbitration, output, gaps } = class.waits;
        assert_eq!([class.transfer, input, arbitration, output, gaps], [35 * 3333, 0, 3333, 0, 3333]);
    }
}
