//! Routers whose lanes are arbitrated, channel adapters, and controls of congestion and power as their rules read:
//! every port and lane is looked at in every cycle.
//!
//! K1 to K16, rule by rule, on top of T1 to T9, S1, V1, V3, N1, N2 and D1 of [the notes](crate::notes), which hold here
//! too.

mod adapter;
mod arbiter;
mod credits;
mod energy;
mod gates;
mod router;
mod settings;
mod tuning;

use std::collections::BTreeMap;

use flitwise_language::scenario::{ClassKind, Scenario};

use super::message::Message;
use super::rules::{End, Rules};
use crate::traffic::Traffic;
use crate::{Booking, Delivery, FlitMoves, Offer};
use adapter::{Adapter, Group, Injection, Posted};
use arbiter::BEST_EFFORT;
use credits::{Credits, Purse};
use energy::{Accounts, Move, PowerHerd};
use router::{Flit, Front, Leaving, Router, Way};
use settings::Settings;
use tuning::Tuning;

/// All deliveries, sorted, of `offers` and `bookings` (both in the order of their cycles), or those of the first
/// `limit` cycles; and what controls have done.
pub fn replay(
    scenario: &Scenario,
    offers: &[Offer],
    bookings: &[Booking],
    limit: u64,
) -> (Vec<Delivery>, TwinActivity) {
    let mut run = Run::with_traffic(scenario, Traffic::listed_and_booked(scenario, offers, bookings));
    let mut delivered = Vec::new();
    while run.now < limit {
        delivered.extend(run.step(limit).into_iter().map(|(_, delivery)| delivery));
    }
    delivered.sort_unstable();
    (delivered, run.network.activity)
}

/// A run of the scenario's sources, the same as those of [`Simulator`](crate::Simulator), up to a cycle: all
/// deliveries, sorted, what controls have done, and admission if classes have connections.
pub fn run(
    scenario: &Scenario,
    seed: u64,
    end: u64,
) -> (Vec<Delivery>, TwinActivity, Option<crate::Admission>) {
    let mut run = Run::with_traffic(scenario, Traffic::random(scenario, seed));
    let mut delivered = Vec::new();
    while run.now < end {
        delivered.extend(run.step(end).into_iter().map(|(_, delivery)| delivery));
    }
    delivered.sort_unstable();
    (delivered, run.network.activity, run.traffic.into_admission())
}

/// What controls of congestion and power have done since the start of a run, and what flits have cost.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TwinActivity {
    /// By class: messages of connections that were dropped because they found no credit.
    pub dropped: Vec<u64>,
    /// Cycles in which an interface held back a message that could have begun, over all interfaces.
    pub throttled: u64,
    /// Flits that have moved.
    pub moves: FlitMoves,
    /// By window of `power.window` cycles from cycle 0 on, up to the last in which a flit moved: what the network has
    /// spent; none without a `[power]` table \[pJ\].
    pub windows: Vec<f64>,
    /// PowerHerd: cycles in which a router was stopped, over all routers.
    pub stopped: u64,
    /// PowerHerd: the most that the network has spent in an epoch \[pJ\].
    pub largest_epoch: f64,
}

/// A network, its traffic and a clock.
pub(crate) struct Run {
    network: Network,
    traffic: Traffic,
    /// The first cycle that has not been simulated.
    pub(crate) now: u64,
}

impl Run {
    pub(super) fn with_traffic(scenario: &Scenario, traffic: Traffic) -> Self {
        Self { network: Network::new(scenario), traffic, now: 0 }
    }

    /// The next cycle before `end`; the messages delivered in it. Cycles after the last in which anything can happen
    /// are passed over.
    pub(crate) fn step(&mut self, end: u64) -> Vec<(Message, Delivery)> {
        if self.traffic.next_cycle().is_none() && self.network.is_at_rest() {
            self.now = end;
        }
        if self.now == end {
            return Vec::new();
        }
        self.network.look_at_buffers(self.now);
        while let Some(signal) = self.traffic.next_signal(self.now) {
            self.network.offer(&signal, self.now);
        }
        while let Some(booking) = self.traffic.next_booking(self.now) {
            self.network.book(&booking);
        }
        while let Some(offer) = self.traffic.next(self.now) {
            self.network.offer(&offer, self.now);
        }
        while let Some(class) = self.traffic.next_withdrawal(self.now) {
            self.network.withdraw(class, self.now);
        }
        self.network.step(self.now);
        // K16: by the place where they are
        self.network.signals.sort_unstable();
        for (_, connection) in std::mem::take(&mut self.network.signals) {
            self.traffic.signal_arrives(connection, self.now);
        }
        self.now += 1;
        std::mem::take(&mut self.network.delivered)
    }

    /// The messages that are generated and not delivered, but signals.
    pub(crate) fn under_way(self) -> Vec<Message> {
        let Network { messages, rules, .. } = self.network;
        messages.into_values().filter(|message| !rules.are_signals(message.arrival.class)).collect()
    }
}

struct Network {
    rules: Rules,
    settings: Settings,
    topology: flitwise_language::network::Network,
    /// By class.
    kinds: Vec<ClassKind>,
    /// Those generated and not delivered, by the number of messages generated before.
    messages: BTreeMap<u64, Message>,
    /// Messages generated, and those whose headers have left their sources.
    generated: u64,
    entered: u64,
    /// Flits that have come and not left.
    inside: usize,
    /// In this cycle.
    delivered: Vec<(Message, Delivery)>,
    /// The same of signals: the place where each is, and its connection.
    signals: Vec<(u32, u32)>,
    routers: Vec<Router>,
    /// By node.
    adapters: Vec<Adapter>,
    credits: Credits,
    tuning: Option<Tuning>,
    accounts: Accounts,
    herd: Option<PowerHerd>,
    activity: TwinActivity,
}

impl Network {
    fn new(scenario: &Scenario) -> Self {
        let (rules, topology) = (Rules::new(scenario), scenario.topology());
        let settings = Settings::new(scenario, &rules);
        let (nodes, routers, _) = rules.size();
        let dropped = vec![0; scenario.classes().len()];
        let of_signals = scenario.has_signals_in_band().then_some(ClassKind::Control);
        let mut network = Self {
            topology: topology.clone(),
            kinds: scenario.classes().iter().map(|class| class.kind).chain(of_signals).collect(),
            messages: BTreeMap::new(),
            generated: 0,
            entered: 0,
            inside: 0,
            delivered: Vec::new(),
            signals: Vec::new(),
            routers: (0..routers).map(|router| Router::new(router, &rules, &settings)).collect(),
            adapters: (0..rules.places()).map(|_| Adapter::new(&settings)).collect(),
            credits: Credits::new(&settings, &topology),
            tuning: None,
            accounts: Accounts::new(&settings, nodes),
            herd: PowerHerd::new(scenario, &settings, &rules),
            activity: TwinActivity { dropped, ..TwinActivity::default() },
            rules,
            settings,
        };
        network.tuning = Tuning::new(&network.settings, network.counted_buffers().len());
        network
    }

    /// K5: output links of routers, then injection links.
    fn book(&mut self, booking: &Booking) {
        let (_, routers, ports) = self.rules.size();
        let link = booking.link as usize;
        let (to, at_sender) = match link.checked_sub(routers * ports) {
            Some(node) => (self.rules.entrance_of(node), &mut self.adapters[node].arbiter),
            None => {
                let output = &mut self.routers[link / ports].outputs[link % ports];
                (output.to, &mut output.arbiter)
            }
        };
        match to {
            End::Input { router, port } if booking.at_input => {
                self.routers[router].inputs[port].arbiter.book(booking);
            }
            _ => {
                assert!(!booking.at_input, "no input port behind an ejection link");
                at_sender.book(booking);
            }
        }
    }

    fn is_best_effort(&self, class: u8) -> bool {
        self.kinds[usize::from(class)] == ClassKind::BestEffort
    }

    /// T1, K9, K10, K16: a message is generated now.
    fn offer(&mut self, offer: &Offer, now: u64) {
        let (arrival, id) = (offer.arrival, self.generated);
        self.generated += 1;
        if self.rules.are_signals(arrival.class) {
            // K16: it is posted at once
            self.messages.insert(id, Message::new(offer));
            self.inside += offer.flits as usize;
            return self.join(id, now);
        }
        if self.credits.has_connections(arrival.class) {
            let purse = Purse::Connection { class: arrival.class, number: offer.part.stream };
            if self.credits.has(purse) {
                self.credits.take(id, purse);
            } else if self.credits.drops() {
                self.activity.dropped[usize::from(arrival.class)] += 1;
                return;
            }
        }
        self.messages.insert(id, Message::new(offer));
        self.inside += offer.flits as usize;
        if self.settings.adapter.is_none() {
            return self.join(id, now);
        }
        let queue = || self.credits.queue(&self.topology, arrival.source, arrival.destination);
        let group = match self.is_best_effort(arrival.class) {
            true => Group::BestEffort(queue()),
            false => Group::Ungated,
        };
        self.adapters[arrival.source as usize].offer(group, id);
    }

    /// A message is posted to its lane.
    fn join(&mut self, id: u64, now: u64) {
        let message = self.messages.get_mut(&id).expect("a message that was offered");
        message.host.doorbell = (now - message.arrival.cycle) as u32;
        let lane = self.rules.group_at_source(&message.offer);
        let is_signal = self.rules.are_signals(message.arrival.class);
        let posted = Posted { message: id, cycle: now, flits: message.flits.len(), sent: 0, is_signal };
        self.adapters[message.arrival.source as usize].post(lane, posted);
    }

    /// T1: at the end of the traffic of a class its messages are taken back that have not been posted; those of an
    /// ideal interface of which no flit has left.
    fn withdraw(&mut self, class: usize, now: u64) {
        for node in 0..self.adapters.len() {
            let (adapter, messages) = (&mut self.adapters[node], &self.messages);
            let is_withdrawn = |id: u64| usize::from(messages[&id].arrival.class) == class;
            let withdrawn = match self.settings.adapter {
                Some(_) => adapter.withdraw_waiting(is_withdrawn),
                None => adapter.withdraw_posted(is_withdrawn),
            };
            for id in withdrawn {
                self.credits.give_back(id, now);
                let message = self.messages.remove(&id);
                self.inside -= message.map_or(0, |message| message.flits.len());
            }
        }
    }

    /// One cycle: what comes back, what is posted, then all decisions of links, crossbars and arbitration (T7), and
    /// what follows from them.
    fn step(&mut self, now: u64) {
        if let Some(herd) = self.herd.as_ref().filter(|_| !self.messages.is_empty()) {
            self.activity.stopped += herd.stopped_routers() as u64;
        }
        self.credits.arrive(now);
        self.accounts.arrive(now);
        (0..self.adapters.len()).for_each(|node| self.post(node, now));

        // with P = 3 a message crosses in the cycle of its grant, else before the stage of arbitration
        let is_merged = self.rules.pipeline_stages == 3;
        let before = if is_merged { Vec::new() } else { self.crossings(&[], now) };
        self.choose_links(&before, now);
        let grants = self.grants(now);
        let crossings = if is_merged { self.crossings(&grants, now) } else { before };
        let injections = self.injections(now);
        let leaving = self.leaving();
        let coming_in = self.coming_in();

        injections.into_iter().for_each(|(node, injection)| self.inject(node, injection, now));
        leaving.into_iter().for_each(|one| self.leave(one, now));
        grants.into_iter().for_each(|grant| self.grant(&grant, now)); // before the crossbar: P = 3
        crossings.into_iter().for_each(|way| self.cross(way, now));
        coming_in.into_iter().for_each(|(router, port, flit)| self.receive(router, port, flit, now));
        if let Some(herd) = &mut self.herd {
            herd.end_of_cycle(now, &mut self.activity);
        }
        self.assert_conserved();
    }

    /// K9: messages are posted while there is room, of those whose gate is open the one offered first.
    fn post(&mut self, node: usize, now: u64) {
        let room = self.settings.adapter.and_then(|adapter| adapter.buffer_messages);
        let mut has_energy = true;
        while room.is_none_or(|room| self.adapters[node].posted() < room as usize) {
            let is_open = |group: &Group| match *group {
                Group::Ungated => true,
                Group::BestEffort(queue) => {
                    has_energy && self.credits.has(Purse::Queue { node: node as u32, queue })
                }
            };
            let open = self.adapters[node].heads().filter(|(group, _)| is_open(group));
            let Some((group, id)) = open.min_by_key(|(_, id)| *id) else { return };
            if let Group::BestEffort(queue) = group {
                has_energy = self.take_energy(node, id, now);
                if !has_energy {
                    continue;
                }
                self.credits.take(id, Purse::Queue { node: node as u32, queue });
            }
            self.join(id, now);
        }
    }

    /// K14: a message of best effort takes its energy from the account, if there is enough.
    fn take_energy(&mut self, node: usize, id: u64, now: u64) -> bool {
        let message = &self.messages[&id];
        let hops = self.topology.hops(message.arrival.source, message.arrival.destination);
        let flits = message.flits.len();
        let needed = self.settings.energies.flit(f64::from(hops)) * flits as f64;
        let before = self.adapters[node].flits();
        let alone = (u64::from(hops) + 1) * self.rules.pipeline_stages - 1;
        self.accounts.take(node, needed, alone + (flits + before) as u64, now)
    }

    /// T6: the flits that left over links in the cycle before, with the input ports that they come to; wires are free
    /// again.
    fn coming_in(&mut self) -> Vec<(usize, usize, Flit)> {
        let mut coming_in = Vec::new();
        let mut arrive = |to: End, wire: &mut Option<Flit>| {
            if let (End::Input { router, port }, Some(flit)) = (to, wire.take()) {
                coming_in.push((router, port, flit));
            }
        };
        for (node, adapter) in self.adapters.iter_mut().enumerate() {
            arrive(self.rules.entrance_of(node), &mut adapter.wire);
        }
        for output in self.routers.iter_mut().flat_map(|router| &mut router.outputs) {
            arrive(output.to, &mut output.wire);
        }
        coming_in
    }

    /// K13: a flit has moved, on the account of a router.
    fn spend(&mut self, router: usize, what: Move, now: u64) {
        let energy = energy::cost(&self.settings.energies, what);
        *energy::count(&mut self.activity.moves, what) += 1;
        if let Some(power) = self.settings.power {
            let (window, windows) = ((now / u64::from(power.window)) as usize, &mut self.activity.windows);
            windows.resize(windows.len().max(window + 1), 0.0);
            windows[window] += energy;
        }
        if let Some(herd) = &mut self.herd {
            herd.book(router, what);
        }
    }

    /// K8: a flit leaves over the injection link.
    fn inject(&mut self, node: usize, injection: Injection, now: u64) {
        let (flit, through) = self.adapters[node].send(injection);
        let message = message_of(&mut self.messages, flit);
        message.flits[flit.number].left.push(now);
        if flit.number == 0 && !self.rules.are_signals(message.arrival.class) {
            message.serial = Some(self.entered);
            self.entered += 1;
        }
        if let Some(Posted { message: id, cycle, .. }) = through {
            message.host.interface = self.settings.adapter.map_or(0, |_| (now - cycle + 1) as u32);
            self.credits.is_injected(id, now);
        }
        let End::Input { router, .. } = self.rules.entrance_of(node) else {
            unreachable!("a node has a router")
        };
        self.spend(router, Move::Injects, now);
    }

    /// K7: a flit leaves over the link behind a router.
    fn leave(&mut self, Leaving { router, port, lane, turn }: Leaving, now: u64) {
        let output = &mut self.routers[router].outputs[port];
        output.arbiter.turn = turn;
        let flit = output.lanes[lane].flits.pop_front().expect("a flit to send");
        let is_through = matches!(output.to, End::Node);
        self.inside -= usize::from(is_through);
        output.wire = Some(flit).filter(|_| !is_through);
        let message = message_of(&mut self.messages, flit);
        message.flits[flit.number].left.push(now);
        let class = message.arrival.class;
        self.spend(router, if is_through { Move::Ejects } else { Move::Links }, now);
        if is_through && self.kinds[usize::from(class)] != ClassKind::Control {
            self.tuning.iter_mut().for_each(Tuning::is_delivered);
        }
        if is_through && flit.is_tail {
            self.credits.is_delivered(flit.message, now);
            self.deliver(flit.message);
        }
    }

    /// The receiver has a message.
    fn deliver(&mut self, id: u64) {
        let message = self.messages.remove(&id).expect("a message not yet delivered");
        let routers = message.links.len();
        for flit in &message.flits {
            let moves = (flit.left.len(), flit.crossed.len());
            assert_eq!(moves, (routers + 1, routers), "flits that went astray");
        }
        if self.rules.are_signals(message.arrival.class) {
            self.signals.push((message.arrival.destination, message.offer.part.stream));
            return;
        }
        let delivery = message.delivery(&self.rules);
        self.delivered.push((message, delivery));
    }

    /// T4, T9: the output lane belongs to the message from now on.
    fn grant(&mut self, Way { router, input, output, .. }: &Way, now: u64) {
        let Router { inputs, outputs } = &mut self.routers[*router];
        let ports = inputs.len();
        let lane = &mut inputs[input.0].lanes[input.1];
        message_of(&mut self.messages, lane.flits[0]).granted.push(now);
        lane.front.as_mut().expect("a message at the front").is_granted = true;
        let behind = &mut outputs[output.0].lanes[output.1];
        behind.owner = Some(*input);
        behind.first_port = (input.0 + 1) % ports; // S1
    }

    /// T3: a flit crosses; a tail gives up the output lane (T9), and the next message comes to the front (T8).
    fn cross(&mut self, Way { router, input, output, turn }: Way, now: u64) {
        let Router { inputs, outputs } = &mut self.routers[router];
        let port = &mut inputs[input.0];
        turn.into_iter().for_each(|turn| port.arbiter.turn = turn);
        let lane = &mut port.lanes[input.1];
        let flit = lane.flits.pop_front().expect("a flit to cross");
        let behind = &mut outputs[output.0].lanes[output.1];
        assert_eq!(behind.owner, Some(input), "crosses into a lane of another");
        behind.flits.push_back(Flit { lane: output.1, ..flit });
        assert!(behind.flits.len() <= self.rules.buffer_flits, "more flits than slots");
        let message = message_of(&mut self.messages, flit);
        message.flits[flit.number].crossed.push(now);
        if flit.number == 0 {
            message.links.push((router, output.0));
        }
        if flit.is_tail {
            behind.owner = None;
            lane.front = None;
            if let Some(next) = lane.flits.front().copied() {
                self.come_to_front(router, input.0, next, now);
            }
        }
        self.spend(router, Move::Crosses, now);
    }

    /// T6: the flit that left over the link in the cycle before comes in.
    fn receive(&mut self, router: usize, port: usize, flit: Flit, now: u64) {
        let lane = &mut self.routers[router].inputs[port].lanes[flit.lane];
        lane.flits.push_back(flit);
        assert!(lane.flits.len() <= self.rules.buffer_flits, "more flits than slots");
        if lane.front.is_none() {
            self.come_to_front(router, port, flit, now);
        }
    }

    /// T8: a header that is at the front from `now` on requests its output lane `max(P - 3, 1)` cycles later.
    fn come_to_front(&mut self, router: usize, port: usize, header: Flit, now: u64) {
        assert_eq!(header.number, 0, "a body at the front without its header");
        let message = message_of(&mut self.messages, header);
        let request_cycle = now + self.rules.request_delay();
        message.requested.push(request_cycle);
        let outputs = self.rules.route(router, &message.offer);
        let to = self.routers[router].outputs[outputs.start].to;
        let lane = self.rules.group_behind(router, &message.offer, to);
        let front = Front { outputs, lane, request_cycle, is_granted: false };
        self.routers[router].inputs[port].lanes[header.lane].front = Some(front);
    }

    /// Every flit that has come and not left is somewhere.
    fn assert_conserved(&self) {
        let in_routers: usize = self.routers.iter().map(Router::flits).sum();
        let in_interfaces = |adapter: &Adapter| {
            let waiting: usize = adapter.all_waiting().map(|id| self.messages[&id].flits.len()).sum();
            waiting + adapter.flits() + usize::from(adapter.wire.is_some())
        };
        let before: usize = self.adapters.iter().map(in_interfaces).sum();
        assert_eq!(in_routers + before, self.inside, "flits inside");
        self.credits.assert_conserved();
    }

    /// Whether nothing can happen unless messages or bookings come.
    fn is_at_rest(&self) -> bool {
        let are_back = self.credits.are_back() && self.accounts.are_full();
        if self.messages.is_empty() {
            assert!(self.routers.iter().all(Router::is_empty));
            assert!(self.adapters.iter().all(Adapter::is_empty));
        }
        self.messages.is_empty() && are_back
    }
}

/// The message of a flit.
fn message_of(messages: &mut BTreeMap<u64, Message>, flit: Flit) -> &mut Message {
    messages.get_mut(&flit.message).expect("a message not yet delivered")
}
