//! Messages of hosts: listed ones, and those of traffics.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use flitwise_language::scenario::{Destinations, Scenario, SourceSpec};

use super::Load;
use crate::traffic::destinations::draw;
use crate::traffic::on_off_pareto::Periods;
use crate::traffic::random::{Random, exponential, stream_of, uniform};

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

/// A traffic at a host.
struct Source {
    host: u32,
    traffic: u16,
    random: Random,
    /// The next message \[ticks\].
    next: f64,
    /// Messages left in the ON period, and where they go.
    burst: (u32, u32),
}

impl Source {
    fn new(host: u32, (index, traffic): (usize, &Traffic), number: u32, seed: u64) -> Option<Self> {
        if !traffic.hosts.contains(&host) || traffic.destinations.towards(host).count == 0 {
            return None;
        }
        let mut random = stream_of(seed, host, index, number);
        let first = match &traffic.process {
            Process::Periodic => uniform(&mut random) * traffic.interval,
            Process::Poisson => exponential(&mut random) * traffic.interval,
            Process::OnOffPareto(_, periods) => periods.first_pause(&mut random),
        };
        let next = traffic.start as f64 + first;
        Some(Self { host, traffic: index as u16, random, next, burst: (0, 0) })
    }

    /// Where its message goes; then it turns to the next one.
    fn send(&mut self, traffic: &Traffic) -> u32 {
        let towards = traffic.destinations.towards(self.host);
        match &traffic.process {
            Process::Periodic => self.next += traffic.interval,
            Process::Poisson => self.next += traffic.interval * exponential(&mut self.random),
            Process::OnOffPareto(_, periods) => {
                if self.burst.0 == 0 {
                    self.burst = (periods.messages(&mut self.random), draw(&mut self.random, &towards));
                }
                self.burst.0 -= 1;
                let is_last = self.burst.0 == 0;
                self.next += if is_last { periods.pause(&mut self.random) } else { periods.spacing };
                return self.burst.1;
            }
        }
        draw(&mut self.random, &towards)
    }
}

/// All messages in the order of their ticks: in a tick the listed ones, then by host and traffic.
pub(crate) struct Sources {
    listed: Vec<Message>,
    next_listed: usize,
    traffics: Vec<Traffic>,
    sources: Vec<Source>,
    /// Tick of the next message and place in `sources`.
    due: BinaryHeap<Reverse<(u64, u32)>>,
}

impl Sources {
    pub(crate) fn new(hosts: u32, load: &Load) -> Self {
        let mut sources = Vec::new();
        for host in 0..hosts {
            for (index, traffic) in load.traffics.iter().enumerate() {
                let streams =
                    if let Process::OnOffPareto(streams, _) = traffic.process { streams } else { 1 };
                let source = |number| Source::new(host, (index, traffic), number, load.seed);
                sources.extend((0..streams).map_while(source));
            }
        }
        let (traffics, listed) = (load.traffics.clone(), load.messages.clone());
        let mut all = Self { listed, next_listed: 0, traffics, sources, due: BinaryHeap::new() };
        (0..all.sources.len()).for_each(|source| all.schedule(source));
        all
    }

    fn schedule(&mut self, source: usize) {
        let Source { traffic, next, .. } = self.sources[source];
        let tick = next.ceil() as u64;
        if self.traffics[usize::from(traffic)].end.is_none_or(|end| tick < end) {
            self.due.push(Reverse((tick, source as u32)));
        }
    }

    /// The tick of the next message.
    pub(crate) fn next_tick(&self) -> u64 {
        let listed = self.listed.get(self.next_listed).map_or(u64::MAX, |message| message.tick);
        self.due.peek().map_or(listed, |Reverse((tick, _))| listed.min(*tick))
    }

    /// The next message, if it comes in tick `until` or before.
    pub(crate) fn next(&mut self, until: u64) -> Option<Message> {
        if let Some(message) = self.listed.get(self.next_listed).filter(|message| message.tick <= until) {
            self.next_listed += 1;
            return Some(*message);
        }
        let Reverse((tick, place)) = self.due.peek().filter(|Reverse((tick, _))| *tick <= until).copied()?;
        self.due.pop();
        let source = &mut self.sources[place as usize];
        let traffic = &self.traffics[usize::from(source.traffic)];
        let destination = source.send(traffic);
        let (source, traffic, packets) = (source.host, source.traffic, traffic.packets);
        self.schedule(place as usize);
        Some(Message { tick, traffic, source, destination, packets })
    }

    /// Traffics that are withdrawn in tick `now`.
    pub(crate) fn withdrawn(&self, now: u64) -> impl Iterator<Item = usize> {
        let ends = move |traffic: &Traffic| traffic.withdraw && traffic.end == Some(now);
        self.traffics.iter().enumerate().filter(move |(_, traffic)| ends(traffic)).map(|(index, _)| index)
    }

    /// The next tick at or after `now` in which a traffic is withdrawn.
    pub(crate) fn next_withdrawal(&self, now: u64) -> u64 {
        let ends = self.traffics.iter().filter(|traffic| traffic.withdraw).filter_map(|traffic| traffic.end);
        ends.filter(|end| *end >= now).min().unwrap_or(u64::MAX)
    }
}
