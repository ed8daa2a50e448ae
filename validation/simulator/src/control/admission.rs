//! Admission of connections, event by event: a request goes along the way and books one channel after another, the
//! answer and the releases follow it. It knows nothing of flits: signals have a delay per hop, or are given out as
//! messages whose arrivals it is told ([`in_band`]).
//!
//! Time is in cycles. Events of a cycle happen in the order in which they were scheduled. What goes from hop to hop
//! waits in a queue, as all hops take the same time; all else is in a heap.

mod in_band;
mod records;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use flitwise_language::network::Half;
use flitwise_language::scenario::{
    ClassKind, Connections, Destinations, Requests, Reserve, Scenario, VcChoice,
};

use crate::message::{Booking, ChannelChoice};
use crate::traffic::destinations::draw;
use crate::traffic::drawn;
use crate::traffic::random::{Random, anywhere, below, exponential, stream_of};
use crate::virtual_channels::VirtualChannels;
use crate::wiring::{End, Wiring};
use in_band::Signals;
pub use records::{Outcome, Refuser, RequestRecord};

/// Random numbers of the requests of a node are those of a stream that no source has.
const OF_REQUESTS: u32 = (1 << 20) + 2;
/// A channel has room for a connection up to so much above its limit \[flits/cycle\]; the same of a budget, in parts.
const TOLERANCE: f64 = 1e-9;

/// The events of admission before a cycle: alone, without a flit, but where signals are messages.
pub fn admission_only(scenario: &Scenario, seed: u64, until: u64) -> Admission {
    if scenario.has_signals_in_band() {
        return crate::Simulator::new(scenario, seed).into_admission(until);
    }
    let mut admission = Admission { keeps: false, ..Admission::new(scenario, seed) };
    admission.advance(until);
    admission
}

/// What admission books before a cycle, in order, where signals are no messages.
pub fn bookings(scenario: &Scenario, seed: u64, until: u64) -> Vec<Booking> {
    let mut admission = Admission::new(scenario, seed);
    admission.advance(until);
    admission.bookings.into()
}

/// Requests for connections, and what they book.
pub struct Admission {
    rules: Rules,
    demands: Vec<Demand>,
    /// Nodes whose connections come and go.
    senders: Vec<Sender>,
    wiring: Wiring,
    channels: VirtualChannels,
    /// By link.
    accounts: Vec<Account>,
    power: Option<Power>,
    /// What happens later, and what is at the next hop after the delay of one.
    events: BinaryHeap<Reverse<Event>>,
    hops: VecDeque<Event>,
    scheduled: u64,
    /// Where signals are messages.
    signals: Option<Signals>,
    /// Connections that are asked for or stand, and places of those that are no more.
    connections: Vec<Connection>,
    free: Vec<u32>,
    /// Those asked for at the start of a class of which it is not known yet whether they are admitted.
    open: u64,
    records: Vec<RequestRecord>,
    /// Whether the two that follow are kept: what is booked, and who is admitted.
    keeps: bool,
    bookings: VecDeque<Booking>,
    admitted: Vec<Admitted>,
}

struct Rules {
    tests: bool,
    /// Of a signal over a hop, where it is no message \[cycles\].
    hop: u64,
    /// Of a channel \[flits/cycle\].
    limit: f64,
    /// After which one that is refused is asked for again; 0: never \[cycles\].
    retry: u64,
}

/// Connections of a class.
struct Demand {
    class: u8,
    connections: Connections,
    /// What accounts count of each \[flits/cycle\].
    weight: f64,
    destinations: Destinations,
    /// The virtual channels to draw from: how, the first and how many.
    to_draw: Option<(VcChoice, u8, u32)>,
    /// After which none is asked for, and all end.
    end: Option<f64>,
    /// Connections so far.
    made: u32,
}

/// A node whose connections come and go.
struct Sender {
    demand: usize,
    node: u32,
    random: Random,
    /// When the next one is asked for, and how many were before.
    next: f64,
    made: u32,
}

/// What is held of a channel or budget, and by how many connections.
#[derive(Clone, Copy, Default)]
struct Account {
    used: f64,
    connections: u32,
}

impl Account {
    fn take(&mut self, weight: f64) {
        self.used += weight;
        self.connections += 1;
    }

    fn give_back(&mut self, weight: f64) {
        self.connections -= 1;
        // without what rounding leaves
        self.used = if self.connections == 0 { 0.0 } else { self.used - weight };
    }
}

/// The power budgets of routers \[pJ, cycles, flits\].
struct Power {
    router: f64,
    link: f64,
    limit: f64,
    /// By router.
    accounts: Vec<Account>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Event {
    cycle: u64,
    /// Events scheduled before.
    scheduled: u64,
    what: What,
    /// The sender or connection, by its place.
    whom: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    /// A sender asks for its next connection.
    Comes,
    /// A connection is asked for.
    Asks,
    /// A request is at the next channel.
    Tests,
    /// The next channel is given back.
    Releases,
    /// An answer goes back to the source.
    Answers,
}

/// A connection that is wanted.
#[derive(Clone, Copy)]
struct Call {
    demand: usize,
    source: u32,
    destination: u32,
    drawn: Option<ChannelChoice>,
    /// Among those of its class, and among those of its node.
    number: u32,
    of_node: u32,
    /// How long it stands \[cycles\]; infinite where it does as long as its class.
    holding: f64,
    /// How often it has been refused.
    retries: u32,
}

struct Connection {
    call: Call,
    record: u32,
    /// Channels that it has booked so far, and those of them that it has given back.
    booked: usize,
    released: usize,
    path: Vec<Step>,
    /// The node or station of its signal, and where else that stops on its way back, the last stop first.
    place: u32,
    way_back: Vec<u32>,
    /// What is to be done where its signal arrives.
    signal: What,
}

/// A channel on a way, and the virtual channel there.
#[derive(Clone, Copy)]
struct Step {
    link: u32,
    lane: u8,
}

/// A connection that may send.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Admitted {
    pub(crate) class: u8,
    pub(crate) source: u32,
    pub(crate) destination: u32,
    pub(crate) drawn: Option<ChannelChoice>,
    /// Among those of its class, and among those of its node.
    pub(crate) number: u32,
    pub(crate) of_node: u32,
    /// When it begins and ends \[cycles\].
    pub(crate) ack: u64,
    pub(crate) end: u64,
}

impl Demand {
    fn new(scenario: &Scenario, channels: &VirtualChannels, class: usize) -> Option<Self> {
        let spec = &scenario.classes()[class];
        let connections = scenario.connections(class).filter(|_| spec.kind == ClassKind::RealTime)?;
        let weight = match scenario.spec().admission.map(|admission| admission.reserve) {
            Some(Reserve::Peak) => connections.peak,
            _ => connections.mean,
        };
        let to_draw = channels.to_draw(class);
        Some(Self {
            class: class as u8,
            connections,
            weight,
            destinations: scenario.destinations(class),
            to_draw: to_draw.map(|(choice, block)| (choice, block.start as u8, block.len() as u32)),
            end: spec.end,
            made: 0,
        })
    }

    /// The next connection of a node, and when it is asked for.
    fn call(&mut self, demand: usize, source: u32, of_node: u32, random: &mut Random) -> Call {
        let destination = draw(random, &self.destinations.towards(source));
        let drawn = self.to_draw.map(|(choice, first, among)| {
            let mut draw = || first + if among > 1 { below(random, among) as u8 } else { 0 };
            drawn(choice, draw(), draw())
        });
        let holding = match self.connections.requests {
            Requests::AtStart { .. } => f64::INFINITY,
            Requests::Poisson { holding, .. } => holding * exponential(random),
        };
        self.made += 1;
        Call { demand, source, destination, drawn, number: self.made - 1, of_node, holding, retries: 0 }
    }

    /// Whether the class has not ended.
    fn goes_on(&self, time: f64) -> bool {
        self.end.is_none_or(|end| time < end)
    }
}

/// The power budgets of routers for connections, with credit power control.
fn power(scenario: &Scenario) -> Option<Power> {
    let (budget, share) = scenario.credit_budget()?;
    let (energies, routers) = (scenario.energies()?, scenario.topology().routers());
    Some(Power {
        router: energies.router(),
        link: energies.link,
        limit: budget * share / f64::from(routers),
        accounts: vec![Account::default(); routers as usize],
    })
}

impl Admission {
    /// Before the first request; without a table `[admission]` connections are booked at once, and none is refused.
    pub(crate) fn new(scenario: &Scenario, seed: u64) -> Self {
        let (spec, channels) = (scenario.spec().admission, VirtualChannels::new(scenario));
        let rules = Rules {
            tests: spec.is_some_and(|spec| spec.test),
            hop: spec.map_or(0, |spec| (spec.hop_delay() * (1.0 - 1e-9)).ceil() as u64),
            limit: spec.map_or(f64::INFINITY, |spec| spec.limit_share),
            retry: spec.map_or(0, |spec| spec.retry.ceil() as u64),
        };
        let wiring = Wiring::of(scenario);
        let demands =
            (0..scenario.classes().len()).filter_map(|class| Demand::new(scenario, &channels, class));
        let mut admission = Self {
            rules,
            demands: demands.collect(),
            senders: Vec::new(),
            accounts: vec![Account::default(); wiring.links() as usize],
            wiring,
            channels,
            power: power(scenario),
            events: BinaryHeap::new(),
            hops: VecDeque::new(),
            scheduled: 0,
            signals: scenario.has_signals_in_band().then(|| Signals::new(scenario)),
            connections: Vec::new(),
            free: Vec::new(),
            open: 0,
            records: Vec::new(),
            keeps: true,
            bookings: VecDeque::new(),
            admitted: Vec::new(),
        };
        for demand in 0..admission.demands.len() {
            let class = usize::from(admission.demands[demand].class);
            let start = scenario.classes()[class].start_cycle();
            for node in scenario.senders(class) {
                admission.begin(demand, node, start, stream_of(seed, node, class, OF_REQUESTS));
            }
        }
        admission
    }

    /// Requests of a node, from the start of the class on.
    fn begin(&mut self, place: usize, node: u32, start: f64, mut random: Random) {
        match self.demands[place].connections.requests {
            Requests::AtStart { count, spread } => {
                for of_node in 0..count {
                    let time = start + anywhere(&mut random, spread);
                    let demand = &mut self.demands[place];
                    let call = demand.call(place, node, of_node, &mut random);
                    if demand.goes_on(time) {
                        self.open += 1;
                        let whom = self.place(call);
                        self.schedule(time.ceil() as u64, What::Asks, whom);
                    }
                }
            }
            Requests::Poisson { erlangs, holding } => {
                let next = start + holding / erlangs * exponential(&mut random);
                self.senders.push(Sender { demand: place, node, random, next, made: 0 });
                self.await_next(self.senders.len() - 1);
            }
        }
    }

    /// Schedules the next request of a sender.
    fn await_next(&mut self, sender: usize) {
        let Sender { demand, next, .. } = self.senders[sender];
        if self.demands[demand].goes_on(next) {
            self.schedule(next.ceil() as u64, What::Comes, sender as u32);
        }
    }

    fn schedule(&mut self, cycle: u64, what: What, whom: u32) {
        self.events.push(Reverse(Event { cycle, scheduled: self.scheduled, what, whom }));
        self.scheduled += 1;
    }

    /// A connection is at its next channel after the delay of a hop, or when its signal is there.
    fn moves_on(&mut self, now: u64, what: What, whom: u32) {
        if self.signals.is_some() {
            return self.signals_on(now, what, whom);
        }
        self.hops.push_back(Event { cycle: now + self.rules.hop, scheduled: self.scheduled, what, whom });
        self.scheduled += 1;
    }

    /// Everything before a cycle happens.
    pub(crate) fn advance(&mut self, until: u64) {
        while self.step(until) {}
    }

    /// Everything happens until it is known which connections are admitted that are asked for at the start.
    pub(crate) fn settle(&mut self) {
        while self.open > 0 && self.step(u64::MAX) {}
    }

    /// Whether nothing is to happen any more.
    pub(crate) fn is_idle(&self) -> bool {
        self.events.is_empty() && self.hops.is_empty()
    }

    /// The next booking.
    pub(crate) fn next_booking(&self) -> Option<&Booking> {
        self.bookings.front()
    }

    /// The same, if it is of cycle `now` or before, which is taken away.
    pub(crate) fn take_booking(&mut self, now: u64) -> Option<Booking> {
        self.bookings.front().filter(|booking| booking.cycle <= now)?;
        self.bookings.pop_front()
    }

    /// Connections that have been admitted since this was asked last.
    pub(crate) fn take_admitted(&mut self) -> Vec<Admitted> {
        std::mem::take(&mut self.admitted)
    }

    /// Requests of a cycle, on average while they come.
    pub(crate) fn requests_per_cycle(&self) -> f64 {
        let rate = |sender: &Sender| match self.demands[sender.demand].connections.requests {
            Requests::Poisson { erlangs, holding } => erlangs / holding,
            Requests::AtStart { .. } => 0.0,
        };
        self.senders.iter().map(rate).sum()
    }

    /// The next event, if it is before a cycle.
    fn step(&mut self, until: u64) -> bool {
        let (hop, other) = (self.hops.front().copied(), self.events.peek().map(|Reverse(event)| *event));
        let is_hop = match (&hop, &other) {
            (Some(hop), Some(other)) => (hop.cycle, hop.scheduled) < (other.cycle, other.scheduled),
            (hop, _) => hop.is_some(),
        };
        let next = if is_hop { hop } else { other };
        let Some(Event { cycle, what, whom, .. }) = next.filter(|event| event.cycle < until) else {
            return false;
        };
        if is_hop {
            self.hops.pop_front();
        } else {
            self.events.pop();
        }
        match what {
            What::Comes => self.comes(cycle, whom as usize),
            What::Asks => self.asks(cycle, whom),
            What::Tests => self.tests(cycle, whom),
            What::Releases => self.releases(cycle, whom),
            What::Answers => unreachable!("answers are events only where they arrive as messages"),
        }
        true
    }

    /// A sender asks for a connection.
    fn comes(&mut self, now: u64, place: usize) {
        let sender = &mut self.senders[place];
        let demand = &mut self.demands[sender.demand];
        let call = demand.call(sender.demand, sender.node, sender.made, &mut sender.random);
        sender.made += 1;
        if let Requests::Poisson { erlangs, holding } = demand.connections.requests {
            sender.next += holding / erlangs * exponential(&mut sender.random);
        }
        self.await_next(place);
        let whom = self.place(call);
        self.asks(now, whom);
    }

    /// A place for a connection.
    fn place(&mut self, call: Call) -> u32 {
        if let Some(place) = self.free.pop() {
            self.connections[place as usize].call = call;
            return place;
        }
        self.connections.push(Connection {
            call,
            record: 0,
            booked: 0,
            released: 0,
            path: Vec::new(),
            place: call.source,
            way_back: Vec::new(),
            signal: What::Asks,
        });
        self.connections.len() as u32 - 1
    }

    /// The links of a way, in order.
    fn links(&self, source: u32, destination: u32, links: &mut Vec<u32>) {
        links.clear();
        let mut link = self.wiring.first_injection() + source;
        links.push(link);
        while let End::Input { router, .. } = self.wiring.end(link) {
            link = self.wiring.route(router, source, destination, 0);
            links.push(link);
        }
    }

    fn find_path(&mut self, whom: u32) {
        let connection = &mut self.connections[whom as usize];
        let &mut Connection { call: Call { demand, source, destination, drawn, .. }, ref mut path, .. } =
            connection;
        let (wiring, channels) = (&self.wiring, &self.channels);
        let class = usize::from(self.demands[demand].class);
        let [lower, upper, ejection] = channels.on_the_way(class, drawn);
        let mut link = wiring.first_injection() + source;
        path.clear();
        path.push(Step { link, lane: drawn.map_or(ejection, |drawn| drawn.injection) });
        while let End::Input { router, .. } = wiring.end(link) {
            link = wiring.route(router, source, destination, 0);
            let is_upper = || channels.has_rings() && wiring.half(router, source, destination) == Half::Upper;
            let lane = match wiring.is_into_router(link) {
                true if is_upper() => upper,
                true => lower,
                false => ejection,
            };
            path.push(Step { link, lane });
        }
    }

    /// A connection is asked for at its network interface.
    fn asks(&mut self, now: u64, whom: u32) {
        self.find_path(whom);
        let record = self.records.len() as u32;
        let connection = &mut self.connections[whom as usize];
        (connection.record, connection.booked, connection.released) = (record, 0, 0);
        connection.place = connection.call.source;
        let Call { demand, source, destination, number, retries, .. } = connection.call;
        let hops = connection.path.len() as u32 - 2;
        self.records.push(RequestRecord {
            cycle: now,
            class: self.demands[demand].class,
            source,
            destination,
            number,
            retries,
            hops,
            outcome: Outcome::Pending,
        });
        self.tests(now, whom);
    }

    /// What a connection takes of the power budget of the router that a channel leaves, and that router.
    fn power_of(&self, channel: usize, path: &[Step], weight: f64) -> Option<(usize, f64)> {
        let power = self.power.as_ref().filter(|_| channel > 0)?;
        let link = if channel + 1 < path.len() { power.link } else { 0.0 };
        Some(((path[channel].link / self.wiring.ports()) as usize, weight * (power.router + link)))
    }

    /// A request is at its next channel.
    fn tests(&mut self, now: u64, whom: u32) {
        let Connection { call: Call { demand, .. }, booked, ref path, .. } = self.connections[whom as usize];
        let weight = self.demands[demand].weight;
        let (link, is_last) = (path[booked].link as usize, booked + 1 == path.len());
        let power = self.power_of(booked, path, weight);
        let refuser = if !self.rules.tests {
            None
        } else if self.accounts[link].used + weight > self.rules.limit + TOLERANCE {
            Some(if booked == 0 { Refuser::Interface } else { Refuser::Bandwidth })
        } else {
            let budgets = self.power.as_ref().zip(power);
            let is_above = |(budgets, (router, power)): (&Power, (usize, f64))| {
                budgets.accounts[router].used + power > budgets.limit * (1.0 + TOLERANCE)
            };
            budgets.is_some_and(is_above).then_some(Refuser::Power)
        };
        if let Some(by) = refuser {
            return self.refuses(now, whom, by);
        }
        self.accounts[link].take(weight);
        self.note(now, link, weight);
        if let (Some(budgets), Some((router, power))) = (&mut self.power, power) {
            budgets.accounts[router].take(power);
        }
        self.book(now, whom, booked, 1.0);
        self.connections[whom as usize].booked += 1;
        if is_last && self.signals.is_some() {
            self.answers(now, whom);
        } else if is_last {
            let hops = self.connections[whom as usize].booked as u64 - 1;
            self.admits(now + hops * self.rules.hop, whom);
        } else {
            self.moves_on(now, What::Tests, whom);
        }
    }

    /// What arbiters count of a connection changes on both sides of a router, or at an interface.
    fn book(&mut self, cycle: u64, whom: u32, channel: usize, sign: f64) {
        if !self.keeps {
            return;
        }
        let Connection { call: Call { demand, .. }, ref path, .. } = self.connections[whom as usize];
        let Connections { mean, peak, .. } = self.demands[demand].connections;
        let booking = |Step { link, lane }, at_input| Booking {
            cycle,
            link,
            at_input,
            channel: lane,
            mean: sign * mean,
            peak: sign * peak,
        };
        self.bookings.push_back(booking(path[channel], false));
        if channel > 0 {
            self.bookings.push_back(booking(path[channel - 1], true));
        }
    }

    /// The last router has accepted a connection, which may send when the answer is at the source.
    fn admits(&mut self, ack: u64, whom: u32) {
        let Connection { call, record, .. } = self.connections[whom as usize];
        let Call { source, destination, drawn, number, of_node, holding, .. } = call;
        let demand = &self.demands[call.demand];
        let end = (ack as f64 + holding).min(demand.end.unwrap_or(f64::INFINITY)).ceil();
        // the largest number where it is infinite
        let end = (end as u64).max(ack);
        self.records[record as usize].outcome = Outcome::Admitted { ack, end };
        if self.keeps {
            let class = demand.class;
            self.admitted.push(Admitted { class, source, destination, drawn, number, of_node, ack, end });
        }
        self.is_settled(call);
        if end < u64::MAX {
            self.schedule(end, What::Releases, whom);
        }
    }

    /// A connection is refused at its next channel. When the source knows, it gives back the channels before.
    fn refuses(&mut self, now: u64, whom: u32, by: Refuser) {
        let Connection { call, booked, record, .. } = self.connections[whom as usize];
        let outcome = Outcome::Refused { channel: booked as u32, by };
        self.records[record as usize].outcome = outcome;
        self.is_settled(call);
        let known = now + booked as u64 * self.rules.hop;
        match booked {
            0 => self.free.push(whom),
            _ if self.signals.is_some() => return self.answers(now, whom),
            _ => self.schedule(known, What::Releases, whom),
        }
        self.asks_again(known, call);
    }

    /// The source knows that a connection is refused, and asks again later.
    fn asks_again(&mut self, known: u64, call: Call) {
        let again = known + self.rules.retry;
        if self.rules.retry > 0 && self.demands[call.demand].goes_on(again as f64) {
            let whom = self.place(Call { retries: call.retries + 1, ..call });
            self.schedule(again, What::Asks, whom);
        }
    }

    /// It is known whether a connection is admitted when it is first asked for.
    fn is_settled(&mut self, call: Call) {
        self.open -= u64::from(call.retries == 0 && call.holding.is_infinite());
    }

    /// A connection gives its next channel back.
    fn releases(&mut self, now: u64, whom: u32) {
        let Connection { call, booked, released, ref path, .. } = self.connections[whom as usize];
        let weight = self.demands[call.demand].weight;
        let (link, power) = (path[released].link as usize, self.power_of(released, path, weight));
        self.accounts[link].give_back(weight);
        self.note(now, link, -weight);
        if let (Some(budgets), Some((router, power))) = (&mut self.power, power) {
            budgets.accounts[router].give_back(power);
        }
        self.book(now, whom, released, -1.0);
        self.connections[whom as usize].released += 1;
        if released + 1 < booked {
            self.moves_on(now, What::Releases, whom);
        } else {
            self.free.push(whom);
        }
    }

    fn demand_of(&self, class: u8) -> &Demand {
        let demand = self.demands.iter().find(|demand| demand.class == class);
        demand.expect("a class that asks for connections")
    }
}
