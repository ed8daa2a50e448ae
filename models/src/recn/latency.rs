//! Mean latency below saturation: waits at links that several inputs share.
//!
//! An output queue with `k` Bernoulli inputs is that of [KHM87] (see `head_of_line.rs`). The growth in later stages
//! is that of Kruskal, Snir, Weiss, *The distribution of waiting times in clocked multistage interconnection
//! networks*, IEEE Trans. Comput. 37 (1988) 1337-1352, as clusters that packets leave a link in
//! ([`Limits::cluster`]). Inputs that stand in each other's way: `contention.rs`.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use super::contention::{HeadsAside, input_share, met_share, queues_limit, waiting, waiting_in};
use super::head_of_line::crossbar_limit;
use super::lone_packet;
use crate::queueing::MmC;
use flitwise_language::network::{Candidates, Hop, LinkTime, Network};
use flitwise_language::scenario::Timing;

/// Wait at a link of total rate `ρ = Σ a_i` from inputs of rates `a_i`, in packet times; infinite from `θ` on.
///
/// ```text
/// W = LT (ρ² - Σ a_i²) / (2 ρ (1 - ρ / θ))
/// ```
///
/// Packets of one input do not meet: a link that one input feeds has no wait. All rates are shares of the link.
pub fn link_wait(rates: &[f64], limit: f64) -> f64 {
    wait_behind(rates.iter().map(|rate| (*rate, 1.0)), limit)
}

/// The same where only a part `g_i` of the packets of an input is sure not to meet others of it, `Σ g_i a_i²`.
fn wait_behind(inputs: impl Iterator<Item = (f64, f64)> + Clone, limit: f64) -> f64 {
    let load: f64 = inputs.clone().map(|(rate, _)| rate).sum();
    let squares: f64 = inputs.map(|(rate, part)| part * rate * rate).sum();
    if load <= 0.0 {
        return 0.0;
    }
    if load >= limit {
        return f64::INFINITY;
    }
    (load * load - squares).max(0.0) / (2.0 * load * (1.0 - load / limit))
}

/// `g` of an input that brings its packets over a link `c` times as fast, so that they meet: a link of capacity `1 / c`
/// behind one input has the wait of both links together, which is that of the slow one, less that of the fast one.
///
/// ```text
/// g = (1 - ρ) / (c (c - ρ))
/// ```
fn in_turn(load: f64, faster: f64) -> f64 {
    if faster > 1.0 { (1.0 - load) / (faster * (faster - load)) } else { 1.0 }
}

/// Wait at a link of `K` of which packets take the one with the least backlog, in packet times: a station of as many
/// servers, `C` being Erlang's probability of a wait there (Greenberg, Guan, *An improved analytical model for wormhole
/// routed networks with application to butterfly fat-trees*, ICPP 1997, take the same step).
///
/// ```text
/// W = LT (1 - Σ a_i² / ρ²) C(K, K ρ / θ) / (2 K (1 - ρ / θ))
/// ```
///
/// Rates `a_i` are those of one of the links, which are loaded alike; otherwise as [`link_wait`].
pub fn choice_wait(rates: &[f64], links: u32, limit: f64) -> f64 {
    let load: f64 = rates.iter().sum();
    let squares: f64 = rates.iter().map(|rate| rate * rate).sum();
    if load <= 0.0 {
        return 0.0;
    }
    let rate = f64::from(links) * load / limit;
    let Some(waits) = (MmC { rate, mean: 1.0, servers: links }).wait_probability().reached() else {
        return f64::INFINITY;
    };
    let others = (1.0 - squares / (load * load)).max(0.0);
    others * waits / (2.0 * f64::from(links) * (1.0 - load / limit))
}

/// Wait of a Poisson source in front of its link, in packet times; a periodic one has none.
///
/// ```text
/// W_NI = LT ρ / (2 (1 - ρ))
/// ```
pub fn source_wait(load: f64) -> f64 {
    if load < 1.0 { load / (2.0 * (1.0 - load)) } else { f64::INFINITY }
}

/// Wait of a Poisson source for the transfer into the injection port, in the time of a transfer; a periodic one has
/// none. A packet takes `1 / s` of its time on the link there: `ρ` is the load of the link over the speedup, and what
/// is left of [`source_wait`] is waited for behind it.
pub fn transfer_wait(load: f64, speedup: f64) -> f64 {
    source_wait(load / speedup)
}

/// Uniform traffic.
#[derive(Clone, Debug, PartialEq)]
pub struct Uniform<'s> {
    /// Who sends.
    pub senders: &'s [u32],
    /// What each of them sends to every host but itself, as a share of the link.
    pub rate: f64,
}

/// Messages on the links behind all switches where every sender sends one to every host but itself, and how many
/// switches these cross.
#[derive(Debug)]
struct Loads {
    /// By router, output and input port.
    inputs: Vec<f64>,
    /// By router and output: of messages that come from a host.
    first: Vec<f64>,
    /// Messages by the number of switches crossed.
    crossed: Vec<f64>,
    /// What links take longer than the usual ones, over all messages \[ticks\].
    longer: f64,
    /// The most of a way, by the number of switches crossed \[ticks\].
    longest: Vec<u64>,
    /// By router and input port: the share `1 - Σ a_i² / ρ²` of its packets that met on the link before; none for
    /// that of a host.
    merged: Vec<Option<f64>>,
    /// By router: the outputs of which it chooses one for every packet that may take them.
    choices: Vec<Option<Candidates>>,
    /// Kinds of routers: most routers are alike.
    kinds: Vec<Kind>,
    /// Limits of crossbars by kind and queues, of those asked for: they do not depend on the rate.
    crossbars: RefCell<HashMap<(u32, u64), f64>>,
}

/// Routers with the same loads, choices and times of their links.
#[derive(Debug)]
struct Kind {
    /// One of them.
    router: u32,
    /// How many they are.
    routers: u32,
    /// The most messages on a link, as its share.
    fullest: f64,
    /// By port; empty where all links have the usual times.
    times: Vec<LinkTime>,
}

/// Senders at a router that are followed together: all of them, but where ways depend on the sender.
fn sources(network: &Network, senders: impl Iterator<Item = u32>) -> BTreeMap<(u32, u32), Vec<u32>> {
    let mut sources: BTreeMap<(u32, u32), Vec<u32>> = BTreeMap::new();
    for sender in senders {
        let apart = if network.routes_by_source() { sender } else { 0 };
        sources.entry((network.entry(sender).0, apart)).or_default().push(sender);
    }
    sources
}

/// Destinations that are followed together.
fn destinations(network: &Network) -> Vec<Vec<u32>> {
    if !network.routes_by_router() {
        return (0..network.nodes()).map(|node| vec![node]).collect();
    }
    let mut of_router: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    (0..network.nodes()).for_each(|node| of_router.entry(network.entry(node).0).or_default().push(node));
    of_router.into_values().collect()
}

/// Ways that are followed: from switches, or senders, to destinations, or their switches.
pub(super) fn followed(network: &Network) -> u64 {
    let from = sources(network, 0..network.nodes()).len() as u64;
    from * destinations(network).len() as u64 * u64::from(network.ways())
}

/// Share of the packets on a link that meet those of other inputs there.
fn met(inputs: &[f64]) -> f64 {
    let load: f64 = inputs.iter().sum();
    1.0 - inputs.iter().map(|rate| rate * rate).sum::<f64>() / (load * load).max(1e-300)
}

/// What loads depend on: the network, the senders, and where links have times of their own the switches.
type LoadsKey = (Network, Vec<u32>, Option<Timing>);

/// What a packet takes longer over a link than over the usual one, to a switch or to its host \[ticks\].
fn longer(timing: &Timing, link: LinkTime, is_last: bool) -> u64 {
    let until_there = |times: &Timing| times.flight + if is_last { times.packet_link } else { times.arrival };
    until_there(&timing.on(link)) - until_there(timing)
}

/// Loads that are kept for the next answer: designs are compared at many rates, crossbars and memories.
const MOST_KNOWN: usize = 2;

thread_local! {
    static KNOWN: RefCell<Vec<(LoadsKey, Rc<Loads>)>> = const { RefCell::new(Vec::new()) };
}

/// Latency of a packet alone on the way that takes longest \[ns\].
pub(super) fn longest_lone_ns(network: &Network, timing: &Timing) -> f64 {
    let lone = |switches: u32| lone_packet(timing, switches) as f64 * timing.tick_ns;
    if network.link_times().is_empty() {
        return lone(network.most_hops() + 1);
    }
    let all: Vec<u32> = (0..network.nodes()).collect();
    let loads = Loads::known(network, &all, timing);
    let ways = (0..).zip(&loads.longest).zip(&loads.crossed).filter(|(_, messages)| **messages > 0.0);
    let longer = |ticks: u64| ticks as f64 * timing.tick_ns;
    ways.map(|((switches, more), _)| lone(switches) + longer(*more)).fold(0.0, f64::max)
}

impl Loads {
    /// Those of a message from every sender to every host but itself.
    fn known(network: &Network, senders: &[u32], timing: &Timing) -> Rc<Self> {
        let timing = Some(timing).filter(|_| !network.link_times().is_empty());
        let is_same =
            |(of, from, timed): &LoadsKey| of == network && from == senders && timed.as_ref() == timing;
        let found = KNOWN.with_borrow(|known| {
            known.iter().find(|(key, _)| is_same(key)).map(|(_, loads)| Rc::clone(loads))
        });
        found.unwrap_or_else(|| {
            let loads = Rc::new(Self::of(network, senders, timing));
            KNOWN.with_borrow_mut(|known| {
                known.truncate(MOST_KNOWN - 1);
                let key = (network.clone(), senders.to_vec(), timing.copied());
                known.insert(0, (key, Rc::clone(&loads)));
            });
            loads
        })
    }

    /// Of ways that are drawn, or chosen, each has its part; times of links count where there is a timing.
    fn of(network: &Network, senders: &[u32], timing: Option<&Timing>) -> Self {
        let (ports, routers) = (network.ports() as usize, network.routers() as usize);
        let links = routers * ports;
        let mut found = Self {
            inputs: vec![0.0; links * ports],
            first: vec![0.0; links],
            merged: vec![None; links],
            crossed: vec![0.0; network.most_hops() as usize + 2],
            longer: 0.0,
            longest: vec![0; network.most_hops() as usize + 2],
            choices: vec![None; routers],
            kinds: Vec::new(),
            crossbars: RefCell::default(),
        };
        let sources = sources(network, senders.iter().copied());
        // what each of several hosts brings to links of its switch
        let mut each = vec![0.0; links];
        for nodes in destinations(network) {
            sources.values().for_each(|hosts| found.follow(network, hosts, &nodes, timing, &mut each));
        }
        for ((router, _), hosts) in sources.iter().filter(|(_, hosts)| hosts.len() > 1) {
            for link in (*router as usize * ports..).take(ports).filter(|link| each[*link] > 0.0) {
                hosts
                    .iter()
                    .for_each(|host| found.inputs[link * ports + input(network, *host)] += each[link]);
            }
        }
        for (router, port) in
            (0..network.routers()).flat_map(|router| (0..ports as u32).map(move |port| (router, port)))
        {
            if let Some((next, input)) = network.link_end(router, port).input() {
                found.merged[next as usize * ports + input as usize] =
                    Some(met(&found.inputs[(router as usize * ports + port as usize) * ports..][..ports]));
            }
        }
        (0..network.routers()).for_each(|router| found.add_router(network, router));
        found
    }

    /// By input of a router: [`Loads::merged`].
    fn before(&self, router: u32) -> &[Option<f64>] {
        let ports = self.first.len() / self.choices.len();
        &self.merged[router as usize * ports..][..ports]
    }

    /// The inputs of each output of a router.
    fn outputs(&self, router: u32) -> std::slice::Chunks<'_, f64> {
        let ports = self.first.len() / self.choices.len();
        self.inputs[router as usize * ports * ports..][..ports * ports].chunks(ports)
    }

    /// By output of a router: of messages that come from a host.
    fn of_hosts(&self, router: u32) -> &[f64] {
        let ports = self.first.len() / self.choices.len();
        &self.first[router as usize * ports..][..ports]
    }

    /// Counts a router among those of its kind, or as the first of a new one.
    fn add_router(&mut self, network: &Network, router: u32) {
        let has_times = !network.link_times().is_empty();
        let ports = 0..if has_times { network.ports() } else { 0 };
        let times: Vec<LinkTime> = ports.map(|port| network.link_time(router, port)).collect();
        let choice = |router: u32| self.choices[router as usize].map(|of| (of.first, of.count));
        let is_near = |(one, other): (&Option<f64>, &Option<f64>)| {
            one.is_some() == other.is_some() && (one.unwrap_or(0.0) - other.unwrap_or(0.0)).abs() < 1e-9
        };
        let is_alike = |kind: &Kind| {
            choice(router) == choice(kind.router)
                && times == kind.times
                && self.of_hosts(router) == self.of_hosts(kind.router)
                && self.outputs(router).eq(self.outputs(kind.router))
                && self.before(router).iter().zip(self.before(kind.router)).all(is_near)
        };
        let place = self.kinds.iter().position(is_alike).unwrap_or(self.kinds.len());
        if place == self.kinds.len() {
            let slowdowns = times.iter().map(|time| f64::from(time.slowdown)).chain(std::iter::repeat(1.0));
            let shares = self.outputs(router).zip(slowdowns);
            let fullest = shares.map(|(output, c)| output.iter().sum::<f64>() * c).fold(0.0, f64::max);
            self.kinds.push(Kind { router, routers: 0, fullest, times });
        }
        self.kinds[place].routers += 1;
    }

    /// [`crossbar_limit`] or [`queues_limit`] of a kind of routers.
    fn crossbar(&self, kind: u32, queues: f64) -> f64 {
        *self.crossbars.borrow_mut().entry((kind, queues.to_bits())).or_insert_with(|| {
            let outputs: Vec<&[f64]> = self.outputs(self.kinds[kind as usize].router).collect();
            if queues > 1.0 { queues_limit(&outputs, queues) } else { crossbar_limit(&outputs) }
        })
    }

    /// Adds what the hosts of a router send to some nodes. Where these are behind another router, several hosts bring
    /// the same to the links of their own: what each of them does is added to `each`.
    fn follow(
        &mut self,
        network: &Network,
        hosts: &[u32],
        nodes: &[u32],
        timing: Option<&Timing>,
        each: &mut [f64],
    ) {
        let longer = |router: u32, port: u32, is_last: bool| {
            timing.map_or(0, |timing| longer(timing, network.link_time(router, port), is_last))
        };
        let ports = network.ports() as usize;
        let rate = 1.0 / f64::from(network.ways());
        // a host leaves itself out, and is found among destinations behind its own router alone
        let is_apart = network.entry(hosts[0]).0 != network.entry(nodes[0]).0;
        let others = |host: &u32| nodes.len() - usize::from(!is_apart && nodes.contains(host));
        let pairs: usize = if is_apart { hosts.len() * nodes.len() } else { hosts.iter().map(others).sum() };
        let all = pairs as f64 * rate;
        for way in 0..network.ways() {
            let (mut switches, mut entered) = (0, None);
            let mut more = 0;
            for Hop { router, port, end } in network.path(hosts[0], nodes[0], way) {
                let first = router as usize * ports;
                let link = first + port as usize;
                switches += 1;
                let next = end.input().map(|(_, input)| input as usize);
                more += longer(router, port, next.is_none());
                match (entered, next) {
                    (Some(from), Some(_)) => self.inputs[link * ports + from] += all,
                    (None, Some(_)) => {
                        if is_apart && hosts.len() > 1 {
                            each[link] += nodes.len() as f64 * rate;
                        } else {
                            let of_host = |host: &u32| link * ports + input(network, *host);
                            hosts
                                .iter()
                                .for_each(|host| self.inputs[of_host(host)] += others(host) as f64 * rate);
                        }
                        self.first[link] += all;
                    }
                    (Some(from), None) => {
                        let from_others =
                            |node: &u32| hosts.len() - usize::from(!is_apart && hosts.contains(node));
                        let received = |node: &u32| from_others(node) as f64 * rate;
                        self.inputs[link * ports + from] += received(&nodes[0]);
                        for node in &nodes[1..] {
                            self.inputs[(first + input(network, *node)) * ports + from] += received(node);
                        }
                    }
                    (None, None) => self.within(network, hosts, nodes, (link, rate)),
                }
                if next.is_some() && network.is_adaptive() {
                    let choice = network.candidates(router, hosts[0], nodes[0]);
                    self.choices[router as usize] = self.choices[router as usize].or(choice);
                }
                entered = next;
            }
            self.crossed[switches] += all;
            if timing.is_none() {
                continue;
            }
            for host in hosts.iter().filter(|host| others(host) > 0) {
                let (router, port) = network.entry(*host);
                let more = longer(router, port, false) + more;
                self.longer += others(host) as f64 * rate * more as f64;
                let longest = &mut self.longest[switches];
                *longest = more.max(*longest);
            }
        }
    }

    /// Adds what hosts send to nodes of their own router, the first of them behind a link, at a rate for each pair.
    fn within(&mut self, network: &Network, hosts: &[u32], nodes: &[u32], (link, rate): (usize, f64)) {
        let ports = network.ports() as usize;
        for (place, node) in nodes.iter().enumerate() {
            let link = if place == 0 { link } else { link / ports * ports + input(network, *node) };
            for host in hosts.iter().filter(|host| *host != node) {
                self.inputs[link * ports + input(network, *host)] += rate;
                self.first[link] += rate;
            }
        }
    }
}

/// The port at which a node sends into its router.
fn input(network: &Network, node: u32) -> usize {
    network.entry(node).1 as usize
}

/// Load of links above which inputs and places are in nobody's way.
const ALMOST_FULL: f64 = 0.999;

/// What is the same at all switches.
#[derive(Clone, Copy, Debug)]
pub(super) struct Switches {
    /// `s`: speed of the crossbar over that of a link.
    pub(super) speedup: f64,
    /// Queues of an input that hold packets for any output; none where there is one for each output.
    pub(super) queues: Option<f64>,
    /// What RECN sets aside of them; none where it never does.
    pub(super) aside: Option<HeadsAside>,
    /// Whether hosts send at equal distances.
    pub(super) is_regular: bool,
    /// Time that credits take on a link beside data, as a share of the data's.
    pub(super) credits: f64,
    /// What memories leave of saturation.
    pub(super) share: f64,
    /// Load at which queues stand still for their credits.
    pub(super) starved: f64,
}

/// Loads of the fullest link of a switch, as shares of it.
#[derive(Clone, Copy, Debug)]
struct Limit {
    /// Where waits at its inputs have none.
    pole: f64,
    /// Where it saturates.
    end: f64,
}

/// What an input brings to an output.
struct Brought {
    /// `a_i`, as a share of the output's link.
    rate: f64,
    /// The same as a share of what the crossbar carries.
    crossed: f64,
    /// `R_i`: all that the input carries, as a share of its own link.
    carried: f64,
    /// `p_i`: the part of that which goes to this output.
    part: f64,
    /// How many times as fast its link is.
    faster: f64,
    /// [`Loads::merged`].
    merged: Option<f64>,
}

/// Loads of links behind switches at which waits have no end, as shares of a link.
pub(super) struct Limits {
    /// Of a message for each pair of hosts, and how many of them, as a share of a link.
    loads: Rc<Loads>,
    rate: f64,
    switches: Switches,
    /// By kind of switch.
    of_kind: Vec<Limit>,
    /// Of the fullest link of all, where the first switch saturates.
    pub(super) limit: f64,
    /// What that link carries now.
    pub(super) fullest: f64,
}

impl Limits {
    /// No link of a switch carries more than `most` of any of them.
    pub(super) fn of(
        network: &Network,
        traffic: &Uniform<'_>,
        timing: &Timing,
        switches: Switches,
        most: &dyn Fn(LinkTime) -> f64,
    ) -> Self {
        let (loads, rate) = (Loads::known(network, traffic.senders, timing), traffic.rate);
        let Switches { speedup, queues, aside, credits, share, starved, .. } = switches;
        let limit_of = |(kind, Kind { fullest, times, .. }): (u32, &Kind)| {
            let heads = |queues| fullest * speedup * loads.crossbar(kind, queues);
            let heads = queues.filter(|_| *fullest > 0.0).map_or(speedup, heads).min(1.0);
            let back = aside.map_or(0.0, |aside| aside.share(heads));
            let most = times.iter().copied().map(most).fold(most(LinkTime::USUAL), f64::min);
            let end = ((heads + back * (1.0 - heads)) * share).min(most).min(starved);
            Limit { pole: (heads * share).min(most), end: end.min(1.0 / (1.0 + credits)) }
        };
        let of_kind: Vec<Limit> = (0..).zip(&loads.kinds).map(limit_of).collect();
        let carried = || loads.kinds.iter().map(|kind| kind.fullest * rate);
        let fullest = carried().fold(0.0, f64::max);
        let growths = of_kind.iter().zip(carried()).map(|(limit, load)| limit.end / load.max(1e-300));
        let limit = (growths.fold(f64::INFINITY, f64::min) * fullest).min(1.0);
        Self { of_kind, limit, fullest, loads, rate, switches }
    }

    /// Whether links are full, and credits beside data, before inputs and places are in anybody's way.
    pub(super) fn is_of_links(&self) -> bool {
        self.limit > ALMOST_FULL / (1.0 + self.switches.credits)
    }

    /// Mean latency of uniform traffic, without the wait at the sources \[ns\]; `None` where a
    /// link is loaded to the limit of its switch or nothing is sent.
    ///
    /// The mean over packets is taken link by link: each adds its wait times the rates of the packets that cross it.
    /// Over a link of less capacity loads are shares of that, and packet times as much longer.
    pub(super) fn mean_latency(&self, timing: &Timing) -> Option<f64> {
        let loads = &self.loads;
        let mut wait = 0.0;
        for (kind, limit) in loads.kinds.iter().zip(&self.of_kind) {
            wait += f64::from(kind.routers) * self.packets_waiting(kind, limit)?;
        }
        let lone = |(switches, messages): (u32, &f64)| messages * lone_packet(timing, switches) as f64;
        let lone: f64 = (0..).zip(&loads.crossed).map(lone).sum();
        let messages: f64 = loads.crossed.iter().sum();
        let ticks = lone + wait * timing.packet_link as f64 / self.rate;
        let mean = (ticks + loads.longer) * timing.tick_ns / messages;
        Some(mean).filter(|mean| mean.is_finite())
    }

    /// Packets that wait at a router of a kind; none where a link is loaded to its limit.
    fn packets_waiting(&self, kind: &Kind, limit: &Limit) -> Option<f64> {
        let Self { loads, rate, switches, .. } = self;
        let outputs: Vec<&[f64]> = loads.outputs(kind.router).collect();
        let slowdown = |port: usize| kind.times.get(port).map_or(1.0, |time| f64::from(time.slowdown));
        let crossing = rate / switches.speedup;
        let carried: Vec<f64> =
            (0..outputs.len()).map(|input| outputs.iter().map(|output| output[input]).sum()).collect();
        let at_inputs: Vec<f64> = carried.iter().map(|all| all * crossing).collect();
        let mut packets = 0.0;
        for (port, output) in
            outputs.iter().enumerate().filter(|(_, output)| output.iter().any(|one| *one > 0.0))
        {
            let input = |(from, messages): (usize, &f64)| Brought {
                rate: messages * rate * slowdown(port),
                carried: carried[from] * rate * slowdown(from),
                part: messages / carried[from].max(1e-300),
                crossed: messages * crossing,
                faster: slowdown(port) / slowdown(from),
                merged: loads.before(kind.router)[from],
            };
            let inputs: Vec<Brought> = output.iter().enumerate().map(input).collect();
            let load: f64 = inputs.iter().map(|one| one.rate).sum();
            if load >= limit.end {
                return None;
            }
            let choice = loads.choices[kind.router as usize];
            let own = match choice.filter(|choice| choice.count > 1 && choice.has(port as u32)) {
                Some(choice) => {
                    self.choice_wait(&inputs, choice.count, loads.of_hosts(kind.router)[port], limit)
                }
                None => self.output_wait(&inputs, load, limit),
            };
            let crossed: Vec<f64> = inputs.iter().map(|one| one.crossed).collect();
            let met = match switches.queues {
                Some(1.0) => 0.0,
                _ => self.met_at_inputs(&inputs, load) * input_share(&crossed, &at_inputs)?,
            };
            packets += (load * own + met).max(load * self.credit_wait(&inputs, limit));
        }
        let Some(queues) = switches.queues.filter(|queues| *queues > 1.0) else { return Some(packets) };
        for apart in waiting(&outputs, crossing)? {
            packets += waiting_in(queues, apart)? - apart;
        }
        Some(packets)
    }

    /// Wait at a link that is chosen of several; later stages wait `1 + 4 ρ / (5 k)` times as long, `k` being the
    /// inputs that bring packets.
    fn choice_wait(&self, inputs: &[Brought], links: u32, of_hosts: f64, limit: &Limit) -> f64 {
        let rates: Vec<f64> = inputs.iter().map(|one| one.rate).collect();
        let load: f64 = rates.iter().sum();
        let in_use = rates.iter().filter(|rate| **rate > 0.0).count() as f64;
        let later = (load - of_hosts * self.rate).max(0.0) / load;
        choice_wait(&rates, links, limit.pole) * (1.0 + later * 0.8 * load / in_use)
    }

    /// Packets that wait at a crossbar output, those alone that [`met_share`] leaves to wait for inputs.
    fn met_at_inputs(&self, inputs: &[Brought], load: f64) -> f64 {
        let crossed = |one: &Brought| one.crossed;
        let apart = inputs.iter().map(|one| (crossed(one), self.apart(one, load)));
        met_share(self.switches.speedup) * inputs.iter().map(crossed).sum::<f64>() * wait_behind(apart, 1.0)
    }

    /// Wait at a link with virtual output queues that stand still for credits from a load on: its pole is there, and it
    /// covers what inputs have packets wait.
    fn credit_wait(&self, inputs: &[Brought], limit: &Limit) -> f64 {
        let load = inputs.iter().map(|one| one.rate).sum();
        let rates = inputs.iter().map(|one| (one.rate, in_turn(load, one.faster)));
        if self.switches.queues.is_none() { wait_behind(rates, limit.end) } else { 0.0 }
    }

    /// Wait for an output, in packet times of its link, but for inputs that are busy with other packets.
    fn output_wait(&self, inputs: &[Brought], load: f64, limit: &Limit) -> f64 {
        let of = |most| wait_behind(inputs.iter().map(|one| (one.rate, self.apart(one, load))), most);
        let alone = of(1.0 / (1.0 + self.switches.credits));
        match (self.switches.queues, self.switches.aside) {
            (Some(1.0), Some(aside)) => alone + aside.wait((of(limit.pole) - alone).max(0.0)),
            (Some(1.0), None) => of(limit.pole),
            _ => alone,
        }
    }

    /// `g` of [`wait_behind`]: less than 1 where packets of an input come over a faster link or in clusters.
    fn apart(&self, input: &Brought, load: f64) -> f64 {
        in_turn(load, input.faster) * (1.0 - self.cluster(input, load))
    }

    /// Share of an input's packets that meet others of it though they have come one after the other: a link that
    /// several inputs feed sends them in clusters, its busy periods, beside which other inputs fill the queue.
    ///
    /// ```text
    /// m h ρ o / (o + (1 - ρ)²) / (1 + (1 - ρ)² / (2 (1 - R)²)),    m = 1 - Σ a_i² / ρ² of the link before
    /// ```
    ///
    /// Fluctuations of a queue of load `ρ` last for `1 / (1 - ρ)²`. Those of the link before, loaded `R`, count in
    /// full if they are over sooner. Of the packets `o = 1 - a_i / ρ` are of other inputs; without them nothing meets.
    /// `h` is 1, so that four even inputs wait some `1 + ρ/6` times as long as in the first stage, for which Kruskal,
    /// Snir, Weiss have `1 + ρ/5`. Virtual output queues take turns, which leaves `p²` of the clusters of periodic
    /// sources. Links of hosts that send by chance have `m = 1` with fixed queues, else 0.
    fn cluster(&self, input: &Brought, load: f64) -> f64 {
        let Brought { rate, carried, part, merged, .. } = *input;
        let Switches { queues, is_regular, .. } = self.switches;
        let clusters = match (merged, queues) {
            (Some(merged), None) if is_regular => merged * part * part,
            (Some(merged), _) => merged,
            (None, Some(_)) if !is_regular => 1.0,
            (None, _) => 0.0,
        };
        let (free, others) = ((1.0 - load).max(1e-3), (1.0 - rate / load.max(1e-300)).max(0.0));
        let longer = (free / (1.0 - carried.min(0.9999))).powi(2);
        load * clusters * others / (others + free * free) / (1.0 + 0.5 * longer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recn::head_of_line_limit;
    use flitwise_language::network::Multistage;
    use flitwise_language::scenario::{Direction, Place, Preset};

    /// Latency of uniform traffic of all hosts of `recn64-quick` \[ns\].
    fn latency(settings: &[(&str, &str)]) -> f64 {
        let mut document = Preset::find("recn64-quick").unwrap().document();
        let calm = [("class.hot.rate", "0"), ("class.hot.nodes", "1"), ("class.random.nodes", "0-63")];
        for (key, value) in calm.iter().chain(settings) {
            document.set(key, value, &Place::Program).unwrap();
        }
        crate::recn::predict(&document.scenario().unwrap()).unwrap().latency_ns.unwrap()
    }

    /// Simulated means of one to three replications of 3,000 to 5,000 packet times: `flitwise simulate --preset
    /// recn64-quick --set class.hot.rate=0 --set class.random.nodes=0-63 --set class.random.rate="85 %" --set ..`
    #[test]
    fn latencies_as_simulated() {
        // organisation, packets a port, crossbar, packet, direction, source
        let rows = [
            (
                "voq-network 4096 16 64 unidirectional periodic",
                [(50, 310.5), (70, 408.1), (85, 648.3)],
                0.015,
            ),
            ("voq-network 4096 16 64 unidirectional poisson", [(50, 351.0), (70, 501.7), (85, 871.6)], 0.015),
            (
                "voq-network 2048 16 512 bidirectional periodic",
                [(50, 2200.1), (70, 2780.5), (85, 4061.8)],
                0.035,
            ),
            (
                "voq-network 2048 16 512 bidirectional poisson",
                [(50, 2508.4), (70, 3459.8), (85, 5662.3)],
                0.03,
            ),
            ("voq-network 2048 8 64 bidirectional periodic", [(50, 373.5), (70, 502.2), (85, 806.2)], 0.03),
            ("voq-switch 2048 8 64 unidirectional periodic", [(50, 337.2), (70, 541.8), (85, 1097.5)], 0.03),
            ("voq-switch 2048 9 64 unidirectional periodic", [(50, 316.3), (70, 456.8), (85, 768.4)], 0.03),
            ("four-queues 512 8 64 unidirectional periodic", [(50, 337.5), (70, 575.6), (80, 1170.2)], 0.12),
            ("four-queues 512 9 64 unidirectional periodic", [(50, 316.4), (70, 464.4), (85, 879.6)], 0.06),
            ("recn 256 10 256 unidirectional periodic", [(50, 856.0), (70, 1812.6), (84, 5893.4)], 0.07),
        ];
        for (row, wanted, most) in rows {
            let words: Vec<&str> = row.split(' ').collect();
            let number = |place: usize| words[place].parse::<u32>().unwrap();
            for (load, wanted) in wanted {
                let found = latency(&[
                    ("switch.organisation", words[0]),
                    ("switch.packet", words[3]),
                    ("switch.port_memory", &(number(1) * number(3)).to_string()),
                    ("switch.crossbar_rate", words[2]),
                    ("network.direction", words[4]),
                    ("class.random.source.kind", words[5]),
                    ("class.random.rate", &format!("\"{load} %\"")),
                ]);
                assert!((found / wanted - 1.0).abs() < most, "{row} {load}: {found}, not {wanted}");
            }
        }
    }

    /// Hosts and destinations that are followed together bring what single pairs do, of all senders and of some; each
    /// switch is of one kind.
    #[test]
    fn loads_are_those_of_single_pairs() {
        let stages =
            |direction| Network::Multistage(Multistage { hosts: 64, direction, first_shuffle: true });
        let tree = |routing: &str| {
            let text = format!(
                "[network]\ntopology = \"fat-tree\"\ndown = [3, 2, 2]\nup = [2, 3]\nlevels = 3\n{routing}\n[switch]\n\
                 [measure]\nend = 1000\n[[class]]\nname = \"all\"\nrate = \"30 %\"\n"
            );
            flitwise_language::scenario::Scenario::from_toml("t", &text).unwrap().topology()
        };
        let routings = ["d-mod-k", "s-mod-k", "random-up", "adaptive-up"];
        let trees = routings.map(|word| tree(&format!("routing = \"{word}\"")));
        let directions = [Direction::Unidirectional, Direction::Bidirectional].map(stages);
        for network in trees.into_iter().chain(directions) {
            let ports = network.ports() as usize;
            for step in [1, 3] {
                let senders: Vec<u32> = (0..network.nodes()).step_by(step).collect();
                let found = Loads::of(&network, &senders, None);
                let mut wanted = (vec![0.0; found.inputs.len()], vec![0.0; found.first.len()]);
                let pairs = senders.iter().flat_map(|from| (0..network.nodes()).map(move |to| (*from, to)));
                for ((from, to), way) in pairs
                    .filter(|(from, to)| from != to)
                    .flat_map(|pair| (0..network.ways()).map(move |way| (pair, way)))
                {
                    let (rate, mut entered) = (1.0 / f64::from(network.ways()), None);
                    for Hop { router, port, end } in network.path(from, to, way) {
                        let link = (router * network.ports() + port) as usize;
                        wanted.0[link * ports + entered.unwrap_or_else(|| input(&network, from))] += rate;
                        wanted.1[link] += if entered.is_none() { rate } else { 0.0 };
                        entered = end.input().map(|(_, input)| input as usize);
                    }
                }
                let close = |found: &[f64], wanted: &[f64]| {
                    found.iter().zip(wanted).all(|(found, wanted)| (found - wanted).abs() < 1e-9)
                };
                assert!(
                    close(&found.inputs, &wanted.0) && close(&found.first, &wanted.1),
                    "{network:?} {step}"
                );
                let all: u32 = found.kinds.iter().map(|kind| kind.routers).sum();
                assert_eq!(all, network.routers());
            }
        }
    }

    /// Simulated means of a 4-ary 3-tree with one queue an input, Poisson sources: fixed routes meet less than drawn
    /// ones, chosen ones less than both below half load.
    #[test]
    fn latencies_of_a_tree() {
        let rows = [
            ("d-mod-k", [328.0, 386.0, 523.0], 0.08),
            ("random-up", [344.0, 425.0, 615.0], 0.08),
            // adaptive choices bring packets of a destination together at the top
            ("adaptive-up", [325.5, 389.1, 582.5], 0.14),
        ];
        for (routing, wanted, last) in rows {
            for ((load, wanted), most) in [30, 50, 70].into_iter().zip(wanted).zip([0.02, 0.03, last]) {
                let text = format!(
                    "[network]\ntopology = \"fat-tree\"\nlevels = 3\narity = 4\nrouting = \"{routing}\"\n[switch]\n\
                     [measure]\nend = 1000\n[[class]]\nname = \"all\"\nrate = \"{load} %\"\n"
                );
                let scenario = flitwise_language::scenario::Scenario::from_toml("t", &text).unwrap();
                let found = crate::recn::predict(&scenario).unwrap().latency_ns.unwrap();
                assert!((found / wanted - 1.0).abs() < most, "{routing} {load}: {found}, not {wanted}");
            }
        }
    }

    /// Of three nodes one is behind a long link: four of six pairs cross it.
    #[test]
    fn links_with_delays_make_ways_longer() {
        let latency = |delay: &str| {
            let text = format!(
                "[network]\ntopology = \"file\"\nfile = \"node a s0\\nnode b s0{delay}\\nnode c s1\\nlink s0 s1\\n\"\n\
                 [switch]\n[measure]\nend = 1000\n[[class]]\nname = \"all\"\nrate = 1e-9\n"
            );
            let scenario = flitwise_language::scenario::Scenario::from_toml("t", &text).unwrap();
            let found = crate::recn::predict(&scenario).unwrap();
            [found.latency_ns.unwrap(), found.lone_latency_ns]
        };
        let ([mean, longest], [usual, usual_longest]) = (latency(" delay=1000"), latency(""));
        assert!((mean - usual - 1000.0 * 4.0 / 6.0).abs() < 1e-6, "{mean}, {usual}");
        assert!((longest - usual_longest - 1000.0).abs() < 1e-6, "{longest}, {usual_longest}");
        // far below what a loop of credits carries
        let [far, _] = latency(" delay=1000000");
        assert!((far - usual - 1e6 * 4.0 / 6.0).abs() < 1e-3, "{far}");
    }

    /// Four leaves of four hosts and two spines, `1 / c` of the capacity at hosts and between switches, by simulation
    /// (95 % half-widths of 1 to 3 %).
    #[test]
    fn slow_links_are_waited_for_as_simulated() {
        let rows = [(4, 1, 10, 766.2), (4, 1, 20, 1693.0), (2, 1, 20, 475.2), (1, 4, 5, 844.0)];
        for (host, between, load, wanted) in rows {
            let mut file = String::new();
            for (leaf, place) in (0..4).flat_map(|leaf| (0..4).map(move |place| (leaf, place))) {
                file += &format!("node h{leaf}{place} l{leaf} capacity=1/{host}\\n");
            }
            for (leaf, spine) in (0..4).flat_map(|leaf| [0, 1].map(|spine| (leaf, spine))) {
                file += &format!("link l{leaf} t{spine} capacity=1/{between}\\n");
            }
            let text = format!(
                "[network]\ntopology = \"file\"\nrouting = \"up-down\"\nfile = \"{file}\"\n[switch]\n[measure]\n\
                 end = 1000\n[[class]]\nname = \"all\"\nrate = \"{load} %\"\n"
            );
            let scenario = flitwise_language::scenario::Scenario::from_toml("t", &text).unwrap();
            let found = crate::recn::predict(&scenario).unwrap().latency_ns.unwrap();
            assert!((found / wanted - 1.0).abs() < 0.03, "{host} {between} {load}: {found}, not {wanted}");
        }
    }

    #[test]
    fn the_closed_form_of_uniform_traffic() {
        let wait = |load: f64, limit: f64| link_wait(&[load / 4.0; 4], limit);
        assert!((wait(0.3, 1.0) - 0.75 * 0.3 / (2.0 * 0.7)).abs() < 1e-15);
        assert_eq!((wait(1.0, 1.0), link_wait(&[0.5], 1.0)), (f64::INFINITY, 0.0));
        let closed = |load: f64, limit: f64| 221.333 + 64.0 * wait(load, limit) * (3.0 + 2.0 * 0.2 * load);
        let limit = 1.5 * head_of_line_limit(4);
        for (load, wanted) in [(0.1, 224.4), (0.3, 253.7), (0.5, 299.5), (0.7, 412.7), (0.85, 724.9)] {
            let found = closed(load, limit);
            // the table follows from a limit of 0.98301, the exact one is 0.98286: 0.07 % at a load of 0.85
            assert!((found / wanted - 1.0).abs() < 1e-3 || load == 0.1, "{load}: {found}, not {wanted}");
        }
        assert!((closed(0.1, limit) + 64.0 * source_wait(0.1) - 233.0).abs() < 0.05);
    }
}
