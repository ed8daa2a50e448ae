//! Admission a second time: one sorted list of events, and accounts that are added up anew for every test.

use std::collections::BTreeMap;

use flitwise_language::network::{Half, Network};
use flitwise_language::scenario::{ClassKind, PowerControl, Requests, Reserve, Scenario, VcChoice};
use flitwise_simulator::{Booking, Outcome, Random, Refuser, RequestRecord, exponential, stream_of, uniform};
use rand_xoshiro::rand_core::Rng;

#[derive(Clone)]
enum Event {
    /// A sender's next request.
    Next(usize),
    Ask(Call),
    Test(usize),
    GiveBack(usize),
}

#[derive(Clone)]
struct Call {
    class: usize,
    source: u32,
    destination: u32,
    lanes: (u8, u8),
    number: u32,
    holding: f64,
    retries: u32,
}

struct Way {
    call: Call,
    record: usize,
    /// Links and lanes.
    path: Vec<(u32, u8)>,
    booked: usize,
    given_back: usize,
}

pub(super) struct Second<'s> {
    scenario: &'s Scenario,
    network: Network,
    events: BTreeMap<(u64, u64), Event>,
    count: u64,
    /// Class, node, random numbers, time of the next request.
    senders: Vec<(usize, u32, Random, f64)>,
    made: Vec<u32>,
    /// By class: what accounts count of a connection.
    weights: Vec<f64>,
    /// Of a router \[pJ/cycle\].
    budget: Option<f64>,
    ways: Vec<Way>,
    pub(super) records: Vec<RequestRecord>,
    pub(super) bookings: Vec<Booking>,
}

fn below(random: &mut Random, among: u32) -> u32 {
    ((u128::from(random.next_u64()) * u128::from(among)) >> 64) as u32
}

fn weights(scenario: &Scenario) -> Vec<f64> {
    let peak = scenario.spec().admission.is_some_and(|spec| spec.reserve == Reserve::Peak);
    let classes = (0..scenario.classes().len()).map(|class| scenario.connections(class));
    classes.map(|one| one.map_or(0.0, |one| if peak { one.peak } else { one.mean })).collect()
}

fn budget(scenario: &Scenario) -> Option<f64> {
    let power = scenario.spec().power.filter(|spec| spec.control == PowerControl::Credit)?;
    let rate = |kind| -> f64 {
        let classes = scenario.classes().iter().filter(|class| class.kind == kind);
        classes.map(|class| class.rate * f64::from(class.message_flits)).sum()
    };
    let (rt, be) = (rate(ClassKind::RealTime), rate(ClassKind::BestEffort));
    let share = power.real_time_share.unwrap_or(rt / (rt + be));
    Some(scenario.power_budget().unwrap() * share / f64::from(scenario.topology().routers()))
}

impl<'s> Second<'s> {
    /// All events before a cycle.
    pub(super) fn run(scenario: &'s Scenario, seed: u64, until: u64) -> Self {
        let mut run = Self {
            scenario,
            network: scenario.topology(),
            events: BTreeMap::new(),
            count: 0,
            senders: Vec::new(),
            made: vec![0; scenario.classes().len()],
            weights: weights(scenario),
            budget: budget(scenario),
            ways: Vec::new(),
            records: Vec::new(),
            bookings: Vec::new(),
        };
        for class in 0..scenario.classes().len() {
            let Some(connections) = scenario.connections(class) else { continue };
            let start = scenario.classes()[class].start.unwrap_or(0.0);
            for node in scenario.senders(class) {
                let mut random = stream_of(seed, node, class, (1 << 20) + 2);
                match connections.requests {
                    Requests::AtStart { count, spread } => {
                        for _ in 0..count {
                            let time = start + spread * (1.0 - uniform(&mut random));
                            let call = run.call(class, node, f64::INFINITY, &mut random);
                            run.ask(time, call);
                        }
                    }
                    Requests::Poisson { erlangs, holding } => {
                        let time = start + holding / erlangs * exponential(&mut random);
                        run.senders.push((class, node, random, time));
                        run.next_of(run.senders.len() - 1);
                    }
                }
            }
        }
        while let Some(first) = run.events.first_entry().filter(|first| first.key().0 < until) {
            let now = first.key().0;
            let event = first.remove();
            run.happens(now, event);
        }
        run
    }

    fn at(&mut self, cycle: u64, event: Event) {
        self.events.insert((cycle, self.count), event);
        self.count += 1;
    }

    fn ends(&self, class: usize) -> f64 {
        self.scenario.classes()[class].end.unwrap_or(f64::INFINITY)
    }

    fn ask(&mut self, time: f64, call: Call) {
        if time < self.ends(call.class) {
            self.at(time.ceil() as u64, Event::Ask(call));
        }
    }

    fn next_of(&mut self, sender: usize) {
        let (class, _, _, time) = self.senders[sender];
        if time < self.ends(class) {
            self.at(time.ceil() as u64, Event::Next(sender));
        }
    }

    /// Draws destination, lanes and, where connections come and go, how long it stands.
    fn call(&mut self, class: usize, source: u32, mean_holding: f64, random: &mut Random) -> Call {
        let destinations = self.scenario.destinations(class);
        let towards = destinations.towards(source);
        let is_hot = towards.share > 0.0 && uniform(random) <= towards.share;
        let destination = if is_hot { towards.hot } else { towards.node(below(random, towards.count)) };
        let block = self.scenario.virtual_channels()[class].clone();
        let mut lane = || match (self.scenario.router().vc_choice, block.len()) {
            (VcChoice::Free, _) | (_, 1) => block.start as u8,
            (_, lanes) => block.start as u8 + below(random, lanes as u32) as u8,
        };
        let lanes = (lane(), lane());
        let holding =
            if mean_holding.is_finite() { mean_holding * exponential(random) } else { f64::INFINITY };
        let number = self.made[class];
        self.made[class] += 1;
        Call { class, source, destination, lanes, number, holding, retries: 0 }
    }

    fn path(&self, call: &Call) -> Vec<(u32, u8)> {
        let (network, router) = (self.network.clone(), self.scenario.router());
        let block = &self.scenario.virtual_channels()[call.class];
        let (half, first) = (block.len() / 2, block.start);
        let on_network = if router.vc_choice == VcChoice::Drawn { call.lanes.1 } else { call.lanes.0 };
        let lane = |at: u32| match (network.has_rings(), network.half(at, call.source, call.destination)) {
            (false, _) => on_network,
            (true, Half::Lower) => (first + (usize::from(on_network) - first) % half) as u8,
            (true, Half::Upper) => (first + half + (usize::from(on_network) - first) % half) as u8,
        };
        let mut path = vec![(network.routers() * network.ports() + call.source, call.lanes.0)];
        for hop in network.path(call.source, call.destination, 0) {
            let lane = if hop.is_between_routers() { lane(hop.router) } else { call.lanes.1 };
            path.push((hop.router * network.ports() + hop.port, lane));
        }
        path
    }

    fn weight(&self, class: usize) -> f64 {
        self.weights[class]
    }

    fn delay(&self) -> u64 {
        let delay = self.scenario.spec().admission.map_or(0.0, |spec| spec.hop_delay());
        let whole = delay.round();
        if (delay - whole).abs() < 1e-6 { whole as u64 } else { delay.ceil() as u64 }
    }

    /// What a way takes of the power of the router before its channel.
    fn power(&self, way: &Way, channel: usize) -> (u32, f64) {
        let energies = self.scenario.energies().unwrap();
        let is_last = channel == way.path.len() - 1;
        let energy = energies.router() + if is_last { 0.0 } else { energies.link };
        (way.path[channel].0 / self.network.ports(), energy * self.weight(way.call.class))
    }

    /// Why the next channel of a way has no room.
    fn refuser(&self, place: usize) -> Option<Refuser> {
        let admission = self.scenario.spec().admission.filter(|spec| spec.test)?;
        let (way, weight) = (&self.ways[place], self.weight(self.ways[place].call.class));
        let channel = way.booked;
        let held = |way: &Way| way.given_back..way.booked;
        let mut used = weight;
        for other in self.ways.iter().filter(|other| other.booked > other.given_back) {
            let on_it = held(other).filter(|at| other.path[*at].0 == way.path[channel].0);
            used += on_it.count() as f64 * self.weight(other.call.class);
        }
        if used > admission.limit_share + 1e-9 {
            return Some(if channel == 0 { Refuser::Interface } else { Refuser::Bandwidth });
        }
        let budget = self.budget.filter(|_| channel > 0)?;
        let (router, mut used) = self.power(way, channel);
        for other in self.ways.iter().filter(|other| other.booked > other.given_back) {
            let of_others = held(other).filter(|at| *at > 0).map(|at| self.power(other, at));
            used += of_others.filter(|one| one.0 == router).map(|one| one.1).sum::<f64>();
        }
        (used > budget * (1.0 + 1e-9)).then_some(Refuser::Power)
    }

    fn book(&mut self, cycle: u64, place: usize, channel: usize, sign: f64) {
        let way = &self.ways[place];
        let one = self.scenario.connections(way.call.class).unwrap();
        let (mean, peak) = (sign * one.mean, sign * one.peak);
        let (link, lane) = way.path[channel];
        self.bookings.push(Booking { cycle, link, at_input: false, channel: lane, mean, peak });
        if channel > 0 {
            let (link, lane) = way.path[channel - 1];
            self.bookings.push(Booking { cycle, link, at_input: true, channel: lane, mean, peak });
        }
    }

    fn happens(&mut self, now: u64, event: Event) {
        match event {
            Event::Next(sender) => {
                let (class, node, mut random, time) = self.senders[sender].clone();
                let Requests::Poisson { erlangs, holding } =
                    self.scenario.connections(class).unwrap().requests
                else {
                    unreachable!()
                };
                let call = self.call(class, node, holding, &mut random);
                let next = time + holding / erlangs * exponential(&mut random);
                self.senders[sender] = (class, node, random, next);
                self.next_of(sender);
                self.happens(now, Event::Ask(call));
            }
            Event::Ask(call) => {
                let path = self.path(&call);
                self.records.push(RequestRecord {
                    cycle: now,
                    class: call.class as u8,
                    source: call.source,
                    destination: call.destination,
                    number: call.number,
                    retries: call.retries,
                    hops: self.network.hops(call.source, call.destination),
                    outcome: Outcome::Pending,
                });
                let record = self.records.len() - 1;
                self.ways.push(Way { call, record, path, booked: 0, given_back: 0 });
                self.test(now, self.ways.len() - 1);
            }
            Event::Test(place) => self.test(now, place),
            Event::GiveBack(place) => {
                let channel = self.ways[place].given_back;
                self.book(now, place, channel, -1.0);
                self.ways[place].given_back += 1;
                if self.ways[place].given_back < self.ways[place].booked {
                    self.at(now + self.delay(), Event::GiveBack(place));
                }
            }
        }
    }

    fn test(&mut self, now: u64, place: usize) {
        let (record, channel, delay) = (self.ways[place].record, self.ways[place].booked, self.delay());
        let (call, last) = (self.ways[place].call.clone(), self.ways[place].path.len() - 1);
        if let Some(by) = self.refuser(place) {
            self.records[record].outcome = Outcome::Refused { channel: channel as u32, by };
            let nack = now + channel as u64 * delay;
            if channel > 0 {
                self.at(nack, Event::GiveBack(place));
            }
            let retry = self.scenario.spec().admission.map_or(0.0, |spec| spec.retry).ceil();
            if retry > 0.0 {
                self.ask(nack as f64 + retry, Call { retries: call.retries + 1, ..call });
            }
            return;
        }
        self.book(now, place, channel, 1.0);
        self.ways[place].booked += 1;
        if channel < last {
            return self.at(now + delay, Event::Test(place));
        }
        let ack = now + last as u64 * delay;
        let end = (ack as f64 + call.holding).min(self.ends(call.class)).ceil().max(ack as f64) as u64;
        self.records[record].outcome = Outcome::Admitted { ack, end };
        if end < u64::MAX {
            self.at(end, Event::GiveBack(place));
        }
    }
}
