//! Messages of hosts: listed ones, and those of traffics.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::super::traffic::random::{Random, below, exponential, stream, uniform};
use super::Load;

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
    pub destination: Destination,
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

/// Where messages go; never to their own source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// Uniform over all other hosts.
    Uniform,
    /// Uniform over these but the source itself; a source without another one sends nothing.
    Among(Vec<u32>),
}

/// When messages are generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Process {
    /// `start + (u + k) interval`, `u` uniform.
    Periodic,
    /// Exponential gaps.
    Poisson,
}

/// A traffic at a host.
struct Source {
    host: u32,
    traffic: u16,
    random: Random,
    /// The next message \[ticks\].
    next: f64,
    /// Hosts to draw from: those below the source, then those above it.
    others: Vec<u32>,
}

/// All messages in the order of their ticks: in a tick the listed ones, then by host and traffic.
pub(super) struct Sources {
    listed: Vec<Message>,
    next_listed: usize,
    traffics: Vec<Traffic>,
    sources: Vec<Source>,
    /// Tick of the next message and place in `sources`.
    due: BinaryHeap<Reverse<(u64, u32)>>,
    hosts: u32,
}

impl Sources {
    pub(super) fn new(hosts: u32, load: &Load) -> Self {
        let mut sources = Vec::new();
        for host in 0..hosts {
            for (index, traffic) in load.traffics.iter().enumerate() {
                let others: Vec<u32> = match &traffic.destination {
                    Destination::Uniform => Vec::new(),
                    Destination::Among(list) => list.iter().copied().filter(|other| *other != host).collect(),
                };
                let is_silent = others.is_empty() && traffic.destination != Destination::Uniform;
                if !traffic.hosts.contains(&host) || is_silent {
                    continue;
                }
                let mut random = stream(load.seed, host, index);
                let first = match traffic.process {
                    Process::Periodic => uniform(&mut random),
                    Process::Poisson => exponential(&mut random),
                };
                let next = traffic.start as f64 + first * traffic.interval;
                sources.push(Source { host, traffic: index as u16, random, next, others });
            }
        }
        let (traffics, listed) = (load.traffics.clone(), load.messages.clone());
        let mut all = Self { listed, next_listed: 0, traffics, sources, due: BinaryHeap::new(), hosts };
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
    pub(super) fn next_tick(&self) -> u64 {
        let listed = self.listed.get(self.next_listed).map_or(u64::MAX, |message| message.tick);
        self.due.peek().map_or(listed, |Reverse((tick, _))| listed.min(*tick))
    }

    /// The next message, if it comes in tick `until` or before.
    pub(super) fn next(&mut self, until: u64) -> Option<Message> {
        if let Some(message) = self.listed.get(self.next_listed).filter(|message| message.tick <= until) {
            self.next_listed += 1;
            return Some(*message);
        }
        let Reverse((tick, place)) = self.due.peek().filter(|Reverse((tick, _))| *tick <= until).copied()?;
        self.due.pop();
        let source = &mut self.sources[place as usize];
        let traffic = &self.traffics[usize::from(source.traffic)];
        source.next += traffic.interval
            * match traffic.process {
                Process::Periodic => 1.0,
                Process::Poisson => exponential(&mut source.random),
            };
        let destination = if source.others.is_empty() {
            let drawn = below(&mut source.random, self.hosts - 1);
            drawn + u32::from(drawn >= source.host)
        } else {
            source.others[below(&mut source.random, source.others.len() as u32) as usize]
        };
        let (source, traffic, packets) = (source.host, source.traffic, traffic.packets);
        self.schedule(place as usize);
        Some(Message { tick, traffic, source, destination, packets })
    }

    /// Traffics that are withdrawn in tick `now`.
    pub(super) fn withdrawn(&self, now: u64) -> impl Iterator<Item = usize> {
        let ends = move |traffic: &Traffic| traffic.withdraw && traffic.end == Some(now);
        self.traffics.iter().enumerate().filter(move |(_, traffic)| ends(traffic)).map(|(index, _)| index)
    }

    /// The next tick at or after `now` in which a traffic is withdrawn.
    pub(super) fn next_withdrawal(&self, now: u64) -> u64 {
        let ends = self.traffics.iter().filter(|traffic| traffic.withdraw).filter_map(|traffic| traffic.end);
        ends.filter(|end| *end >= now).min().unwrap_or(u64::MAX)
    }
}
