//! What hosts send: listed messages, and traffics.

use flitwise_language::scenario::{Destinations, Scenario, SourceSpec};

use crate::traffic::on_off_pareto::Periods;
use crate::{Arrival, FramePart, Offer};

/// A message, generated at the start of its tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// When it is generated \[ticks\].
    pub tick: u64,
    /// Its traffic.
    pub traffic: u16,
    /// The host that sends it.
    pub source: u32,
    /// The host that it goes to, another one.
    pub destination: u32,
    /// Its length \[packets\].
    pub packets: u32,
}

impl Message {
    /// The same for a network interface.
    pub(crate) fn offer(&self) -> Offer {
        let Self { tick, traffic, source, destination, packets } = *self;
        let arrival = Arrival { cycle: tick, source, destination, class: traffic as u8 };
        Offer { arrival, flits: packets, vtick: 0.0, drawn: None, part: FramePart::default(), way: 0 }
    }
}

/// Hosts that send messages of a kind.
#[derive(Clone, Debug)]
pub struct Traffic {
    /// Who sends.
    pub hosts: Vec<u32>,
    /// Where messages go.
    pub destinations: Destinations,
    /// When they are generated.
    pub process: Process,
    /// Mean time between messages of a host \[ticks\].
    pub interval: f64,
    /// Length of a message \[packets\].
    pub packets: u32,
    /// The first tick.
    pub start: u64,
    /// The first tick without messages.
    pub end: Option<u64>,
    /// Whether messages of which nothing has left its admittance queue at the end are taken back.
    pub withdraw: bool,
}

impl Traffic {
    /// A class of a scenario of packet switches in ticks of `tick_ns`, to the nearest one.
    pub fn of(scenario: &Scenario, index: usize, tick_ns: f64) -> Self {
        let class = &scenario.classes()[index];
        let ticks = |ns: f64| (ns / tick_ns).round() as u64;
        let is_silent = class.rate <= 0.0;
        let interval = if is_silent { f64::MAX } else { 1.0 / (class.rate * tick_ns) };
        Self {
            hosts: if is_silent { Vec::new() } else { scenario.senders(index) },
            destinations: scenario.destinations(index),
            process: match class.source {
                SourceSpec::Periodic => Process::Periodic,
                SourceSpec::OnOffPareto { streams, alpha, spacing, most } => {
                    let interval = f64::from(streams) * interval;
                    Process::OnOffPareto(streams, Periods::new(interval, alpha, spacing / tick_ns, most))
                }
                _ => Process::Poisson,
            },
            interval,
            packets: scenario.packets_per_message(index),
            start: ticks(class.start_cycle()),
            end: class.end.map(ticks),
            withdraw: class.withdrawn_in().is_some(),
        }
    }
}

/// When messages are generated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Process {
    /// `start + (u + k) interval`, `u` uniform.
    Periodic,
    /// Exponential gaps.
    Poisson,
    /// So many streams at a host that pause and send by turns, each to one host in an ON period.
    OnOffPareto(u32, Periods),
}

impl Process {
    /// Streams of a host.
    pub(crate) fn streams(&self) -> u32 {
        if let Self::OnOffPareto(streams, _) = self { *streams } else { 1 }
    }
}
