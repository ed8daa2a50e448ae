//! Messages of hosts: listed ones, and those of traffics.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::super::traffic::on_off_pareto::Periods;
use super::super::traffic::random::{Random, below, exponential, stream_of, uniform};
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
#[derive(Clone, Debug, PartialEq)]
pub enum Destination {
    /// Uniform over all other hosts.
    Uniform,
    /// Uniform over these but the source itself; a source without another one sends nothing.
    Among(Vec<u32>),
    /// For a share of the messages a host, for the others uniform over all other hosts.
    Hot(u32, f64),
    /// A host for each source; one that is its own sends nothing.
    Fixed(Vec<u32>),
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
    /// Hosts to draw from, if not all others.
    others: Vec<u32>,
    /// A host with the probability that it is taken before anything else is drawn.
    hot: Option<(u32, f64)>,
    /// Messages left in the ON period, and where they go.
    burst: (u32, u32),
}

impl Source {
    fn new(host: u32, (index, traffic): (usize, &Traffic), number: u32, seed: u64) -> Option<Self> {
        let (mut others, mut hot) = (Vec::new(), None);
        match &traffic.destination {
            Destination::Uniform => {}
            Destination::Among(list) => {
                others = list.iter().copied().filter(|other| *other != host).collect()
            }
            Destination::Fixed(of) => {
                others = of.get(host as usize).copied().filter(|to| *to != host).into_iter().collect()
            }
            Destination::Hot(at, share) => hot = Some((*at, *share)).filter(|(at, _)| *at != host),
        }
        let is_listed = matches!(traffic.destination, Destination::Among(_) | Destination::Fixed(_));
        if !traffic.hosts.contains(&host) || is_listed && others.is_empty() {
            return None;
        }
        let mut random = stream_of(seed, host, index, number);
        let first = match &traffic.process {
            Process::Periodic => uniform(&mut random) * traffic.interval,
            Process::Poisson => exponential(&mut random) * traffic.interval,
            Process::OnOffPareto(_, periods) => periods.first_pause(&mut random),
        };
        let next = traffic.start as f64 + first;
        Some(Self { host, traffic: index as u16, random, next, others, hot, burst: (0, 0) })
    }

    fn destination(&mut self, hosts: u32) -> u32 {
        if let Some((hot, share)) = self.hot
            && uniform(&mut self.random) <= share
        {
            return hot;
        }
        if self.others.is_empty() {
            let drawn = below(&mut self.random, hosts - 1);
            drawn + u32::from(drawn >= self.host)
        } else {
            self.others[below(&mut self.random, self.others.len() as u32) as usize]
        }
    }

    /// Where its message goes; then it turns to the next one.
    fn send(&mut self, traffic: &Traffic, hosts: u32) -> u32 {
        match &traffic.process {
            Process::Periodic => self.next += traffic.interval,
            Process::Poisson => self.next += traffic.interval * exponential(&mut self.random),
            Process::OnOffPareto(_, periods) => {
                if self.burst.0 == 0 {
                    self.burst = (periods.messages(&mut self.random), self.destination(hosts));
                }
                self.burst.0 -= 1;
                let is_last = self.burst.0 == 0;
                self.next += if is_last { periods.pause(&mut self.random) } else { periods.spacing };
                return self.burst.1;
            }
        }
        self.destination(hosts)
    }
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
                let streams =
                    if let Process::OnOffPareto(streams, _) = traffic.process { streams } else { 1 };
                let source = |number| Source::new(host, (index, traffic), number, load.seed);
                sources.extend((0..streams).map_while(source));
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
        let destination = source.send(traffic, self.hosts);
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
