//! Wormhole routers as their rules read: one object per flit, one queue per buffer; every router, port and lane is
//! looked at in every cycle.
//!
//! T1 to T9, S1 to S10, V1 to V4, W1 to W4, X1 to X4, N1 and N2 of [the notes](crate::notes), rule by rule.

mod arbiter;
mod channel;
mod flit;

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use flitwise_language::network::LinkTime;
use flitwise_language::scenario::{Allocation, Scenario};

use crate::{Delivery, Offer};

use super::message::{Message, RouterLanes};
use super::rules::{End, Rules};
use crate::traffic::Traffic;
use arbiter::Arbiter;
use channel::Channel;
use flit::Flit;

/// All deliveries, sorted, of `offers` (in the order of their cycles), or those of the first `limit` cycles.
pub fn replay_offers(scenario: &Scenario, offers: &[Offer], limit: u64) -> Vec<Delivery> {
    let mut run = Run::with_traffic(scenario, Traffic::listed(scenario, offers));
    let mut delivered = Vec::new();
    while run.now < limit {
        delivered.extend(run.step(limit).into_iter().map(|(_, delivery)| delivery));
    }
    if run.network.messages.is_empty() {
        run.network.assert_empty();
    }
    delivered.sort_unstable();
    delivered
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

    /// The next cycle before `end` in which anything can move; the messages delivered in it.
    pub(crate) fn step(&mut self, end: u64) -> Vec<(Message, Delivery)> {
        if self.network.messages.is_empty() {
            self.now = self.traffic.next_cycle().map_or(end, |cycle| cycle.clamp(self.now, end));
        }
        if self.now == end {
            return Vec::new();
        }
        while let Some(offer) = self.traffic.next(self.now) {
            self.network.generate(&offer, self.now);
        }
        while let Some(class) = self.traffic.next_withdrawal(self.now) {
            self.network.withdraw(class);
        }
        self.network.step(self.now);
        self.now += 1;
        std::mem::take(&mut self.network.delivered)
    }

    /// The messages that are generated and not delivered.
    pub(crate) fn under_way(self) -> Vec<Message> {
        self.network.messages.into_values().collect()
    }
}

struct Network {
    rules: Rules,
    /// Those generated and not delivered, by the number of messages generated before.
    messages: BTreeMap<u64, Message>,
    /// Messages generated, and those whose headers have left their sources.
    generated: u64,
    entered: u64,
    /// In this cycle.
    delivered: Vec<(Message, Delivery)>,
    routers: Vec<Router>,
    channels: Vec<Channel>,
    /// The injection channel of each node.
    injection: Vec<usize>,
}

struct Router {
    /// By input port and virtual channel.
    inputs: Vec<Vec<InputLane>>,
    /// X3, by input port.
    arbiters: Vec<Arbiter>,
    /// The channel behind each output port.
    outputs: Vec<usize>,
    /// The channel before each input port, where there is one.
    before: Vec<Option<usize>>,
}

/// The input side of a lane.
#[derive(Clone, Default)]
struct InputLane {
    flits: VecDeque<Flit>,
    /// The message at the front, until its tail has crossed.
    front: Option<Front>,
}

/// The state of the message at the front of an input lane.
#[derive(Clone)]
struct Front {
    /// The output port that it goes to; before its request those of parallel links.
    outputs: Range<usize>,
    /// R3: the output ports to choose from at its request, the preferred one first.
    candidates: Vec<usize>,
    /// Flits of the message.
    flits: usize,
    /// V2, V3: the first lane of the group that it asks for there.
    group: usize,
    /// The first cycle in which it can be granted its output lane.
    request_cycle: u64,
    /// The output lane that it owns.
    granted: Option<usize>,
}

/// From an input lane to an output lane, each a port and a virtual channel.
#[derive(Clone, Copy, PartialEq)]
struct Path {
    router: usize,
    input: (usize, usize),
    output: (usize, usize),
}

impl Network {
    fn new(scenario: &Scenario) -> Self {
        let rules = Rules::new(scenario);
        let (nodes, routers, ports) = rules.size();
        let mut channels: Vec<Channel> =
            (0..nodes).map(|node| Channel::new(&rules, injection_of(&rules, node), true)).collect();
        let mut network_routers = Vec::new();
        for router in 0..routers {
            let outputs = (channels.len()..channels.len() + ports).collect();
            channels.extend((0..ports).map(|port| {
                let end = (rules.end_of(router, port), rules.time_behind(router, port));
                Channel::new(&rules, end, false)
            }));
            let inputs = vec![vec![InputLane::default(); rules.lanes()]; ports];
            let arbiters = (0..ports).map(|_| Arbiter::new(rules.lanes())).collect();
            network_routers.push(Router { inputs, arbiters, outputs, before: vec![None; ports] });
        }
        for (number, channel) in channels.iter().enumerate() {
            if let End::Input { router, port } = channel.to {
                network_routers[router].before[port] = Some(number);
            }
        }
        Self {
            messages: BTreeMap::new(),
            generated: 0,
            entered: 0,
            delivered: Vec::new(),
            routers: network_routers,
            channels,
            injection: (0..nodes).collect(),
            rules,
        }
    }

    /// T1: a message generated now joins its source queue and can be sent now.
    fn generate(&mut self, offer: &Offer, now: u64) {
        let at_source = self.rules.group_at_source(offer);
        let channel = &mut self.channels[self.injection[offer.arrival.source as usize]];
        channel.generate(self.generated, offer, at_source, now);
        self.messages.insert(self.generated, Message::new(offer));
        self.generated += 1;
    }

    /// T1: at the end of the traffic of a class its messages of which no flit has left are taken back.
    fn withdraw(&mut self, class: usize) {
        for &channel in &self.injection {
            for message in self.channels[channel].withdraw(self.rules.blocks[class].clone()) {
                self.messages.remove(&message);
            }
        }
    }

    /// One cycle: all decisions from the state at its start (T7), then what follows from them.
    fn step(&mut self, now: u64) {
        self.hear_of_slots(now);
        for &channel in &self.injection {
            self.channels[channel].take_waiting(now, &self.rules);
        }
        let eligible: Vec<_> = self.channels.iter().map(|channel| self.eligible(channel, now)).collect();
        // with P = 3 a message crosses in the cycle of its grant, else before the stage of arbitration
        let before = if self.rules.pipeline_stages == 3 { Vec::new() } else { self.crossings(&[], now) };
        self.choose_links(&before, now);
        let grants = self.grants(now);
        let crossings = self.crossings(&grants, now);
        let coming_in: Vec<_> = self.channels.iter_mut().map(|channel| channel.comes_in(now)).collect();

        // the link before the crossbar (S2, S4)
        for (channel, eligible) in eligible.iter().enumerate() {
            self.transmit(channel, eligible, now);
            self.deliver(channel, now);
        }
        for grant in grants {
            self.grant(grant, now); // before the crossbar: with P = 3 the tail may cross in this cycle
        }
        for crossing in crossings {
            self.cross(crossing, now);
        }
        for (channel, flit) in coming_in.into_iter().enumerate() {
            if let Some(flit) = flit {
                self.receive(channel, flit, now);
            }
        }
        if self.rules.is_multiplexed {
            self.stamp_at_inputs(now);
        }
    }

    /// W2, R2: slots that count as free from now on.
    fn hear_of_slots(&mut self, now: u64) {
        for channel in &mut self.channels {
            while channel.freed.front().is_some_and(|(freed, _)| freed + 1 + channel.delay <= now) {
                channel.freed.pop_front();
                channel.backlog = channel.backlog.saturating_sub(1);
            }
        }
    }

    /// X3, W1: a flit that comes in in the next cycle gets the stamp with which it does.
    fn stamp_at_inputs(&mut self, now: u64) {
        for channel in &mut self.channels {
            let End::Input { router, port } = channel.to else { continue };
            let coming = channel.wire.front_mut().filter(|(sent, _)| sent + channel.delay == now);
            let Some((_, flit)) = coming else { continue };
            let Router { inputs, arbiters, .. } = &mut self.routers[router];
            let queued = !inputs[port][flit.lane].flits.is_empty();
            let virtual_time = arbiters[port].virtual_time();
            flit.joined_cycle = now + 1;
            arbiters[port].stamp(flit, queued, virtual_time, &self.rules);
        }
    }

    /// T2: the lanes with a flit before the link and a free slot behind it.
    ///
    /// T7: the slot of a flit on the wire is taken, the slot of a flit that crosses in this cycle is not yet free. W2:
    /// nor is one whose flit has crossed no longer than the delay ago. W4: none goes over a link that is at rest.
    fn eligible(&self, channel: &Channel, now: u64) -> Vec<bool> {
        let rests = channel.last_sent.is_some_and(|sent| now < sent + channel.slowdown);
        let has_room = |lane: usize| match channel.to {
            End::Node => true,
            End::Input { router, port } => {
                let on_wire = channel.wire.iter().filter(|(_, flit)| flit.lane == lane).count();
                let unheard = channel.freed.iter().filter(|(_, of)| *of == lane).count();
                let behind = self.routers[router].inputs[port][lane].flits.len();
                behind + on_wire + unheard < self.rules.buffer_flits
            }
        };
        let lanes = channel.lanes.iter().enumerate();
        lanes.map(|(lane, buffer)| !rests && !buffer.flits.is_empty() && has_room(lane)).collect()
    }

    /// N2: of parallel links a header takes in the cycle of its request the one of which the fewest lanes belong to
    /// messages or are asked for, after the crossings of this cycle; of equal ones the first. Headers choose one after
    /// another, by input port and lane.
    fn choose_links(&mut self, crossings: &[Path], now: u64) {
        for router in 0..self.routers.len() {
            let ports = 0..self.routers[router].inputs.len();
            for (port, lane) in ports.flat_map(|port| (0..self.rules.lanes()).map(move |lane| (port, lane))) {
                let Some(front) = &self.routers[router].inputs[port][lane].front else { continue };
                if front.request_cycle == now && !front.candidates.is_empty() {
                    let candidates = front.candidates.iter();
                    let least = candidates
                        .min_by_key(|output| self.backlog(router, **output, crossings, now))
                        .copied();
                    let Some(front) = &mut self.routers[router].inputs[port][lane].front else { continue };
                    front.outputs = least.map_or(front.outputs.clone(), |least| least..least + 1);
                    let (output, flits) = (front.outputs.start, front.flits);
                    self.channels[self.routers[router].outputs[output]].backlog += flits;
                    continue;
                }
                if front.request_cycle == now && front.outputs.len() > 1 {
                    let links = front.outputs.clone();
                    let least = links.min_by_key(|output| self.taken(router, *output, crossings, now));
                    let front = self.routers[router].inputs[port][lane].front.as_mut();
                    front.zip(least).into_iter().for_each(|(front, least)| front.outputs = least..least + 1);
                }
            }
        }
    }

    /// R2: flits of messages that have chosen an output and have not left the input buffer behind its link; W2: so much
    /// later as that has delay, after the crossings of a cycle (with `P = 3` at its start).
    fn backlog(&self, router: usize, output: usize, crossings: &[Path], now: u64) -> usize {
        let channel = &self.channels[self.routers[router].outputs[output]];
        let leaves = |path: &&Path| channel.to == End::Input { router: path.router, port: path.input.0 };
        let left = match channel.delay {
            _ if self.rules.pipeline_stages == 3 => 0,
            0 => crossings.iter().filter(leaves).count(),
            delay => channel.freed.iter().filter(|(freed, _)| freed + delay == now).count(),
        };
        channel.backlog - left
    }

    /// N2: the lanes of an output that belong to messages or are asked for.
    fn taken(&self, router: usize, output: usize, crossings: &[Path], now: u64) -> usize {
        let inputs = &self.routers[router].inputs;
        let lanes = inputs.iter().enumerate().flat_map(|(port, lanes)| {
            lanes.iter().enumerate().map(move |(lane, buffer)| ((port, lane), buffer))
        });
        let goes_there = lanes.filter(|(input, lane)| {
            let leaves = lane.flits.front().is_some_and(|flit| flit.is_tail)
                && crossings.iter().any(|path| path.router == router && path.input == *input);
            let asks = |front: &Front| front.outputs == (output..output + 1) && front.request_cycle <= now;
            lane.front.as_ref().is_some_and(asks) && !leaves
        });
        goes_there.count()
    }

    /// T4: the free lanes of each group, the lowest first, go to the oldest requests, of equal ones to the first port
    /// in turn (S1), then to the lowest lane.
    fn grants(&self, now: u64) -> Vec<Path> {
        let mut grants = Vec::new();
        for (router, Router { inputs, outputs, .. }) in self.routers.iter().enumerate() {
            let ports = inputs.len();
            for (output, group) in
                (0..ports).flat_map(|port| (0..self.rules.lanes()).map(move |lane| (port, lane)))
            {
                let Channel { lanes, to, .. } = &self.channels[outputs[output]];
                let of_group = self.rules.group(group, *to);
                let free = of_group.filter(|&lane| lanes[lane].owner.is_none()); // T9
                let mut requests = Vec::new();
                for (input, from) in
                    (0..ports).flat_map(|port| (0..self.rules.lanes()).map(move |lane| (port, lane)))
                {
                    let Some(front) = &inputs[input][from].front else { continue };
                    let asks =
                        front.outputs.start == output && front.group == group && front.granted.is_none();
                    if asks && front.request_cycle <= now {
                        let turn = (input + ports - lanes[group].first_port) % ports; // S1
                        requests.push((front.request_cycle, turn, from, input));
                    }
                }
                requests.sort_unstable();
                let granted = requests.into_iter().zip(free);
                grants.extend(granted.map(|((_, _, from, input), to)| Path {
                    router,
                    input: (input, from),
                    output: (output, to),
                }));
            }
        }
        grants
    }

    /// T3: each input lane whose front message owns an output lane, if it has a flit and there is a free slot.
    ///
    /// T8: a message crosses from the cycle after its grant on; with `P = 3` from that of the grant on.
    fn crossings(&self, grants: &[Path], now: u64) -> Vec<Path> {
        let mut crossings = Vec::new();
        for (router, Router { inputs, outputs, .. }) in self.routers.iter().enumerate() {
            let mut candidates = Vec::new();
            for (port, lanes) in inputs.iter().enumerate() {
                for (from, lane) in lanes.iter().enumerate() {
                    let Some(front) = &lane.front else { continue };
                    let input = (port, from);
                    let granted_now =
                        grants.iter().find(|grant| grant.router == router && grant.input == input);
                    let granted_now = granted_now.filter(|_| self.rules.pipeline_stages == 3);
                    let owned = front.granted.or(granted_now.map(|grant| grant.output.1));
                    let Some(to) = owned else { continue };
                    let has_room = self.channels[outputs[front.outputs.start]].lanes[to].flits.len()
                        < self.rules.buffer_flits;
                    if !lane.flits.is_empty() && has_room {
                        candidates.push(Path { router, input, output: (front.outputs.start, to) });
                    }
                }
            }
            crossings.extend(if self.rules.is_multiplexed {
                self.allocate(candidates, now)
            } else {
                candidates
            });
        }
        crossings
    }

    /// X1, X2: those of a router's candidates that cross together.
    fn allocate(&self, mut candidates: Vec<Path>, now: u64) -> Vec<Path> {
        let key = |path: &Path| {
            let Router { inputs, arbiters, .. } = &self.routers[path.router];
            let (port, lane) = path.input;
            let (gives_way, number) = arbiters[port].key(inputs[port][lane].flits[0], &self.rules);
            let ports = inputs.len();
            (gives_way, number, (port + ports - now as usize % ports) % ports, lane)
        };
        candidates.sort_by(|one, other| {
            let ((one_gives_way, one, one_turn, one_lane), (other_gives_way, other, other_turn, other_lane)) =
                (key(one), key(other));
            let best = one_gives_way.cmp(&other_gives_way).then(one.total_cmp(&other));
            match self.rules.allocation {
                Allocation::Rotating => one_turn.cmp(&other_turn).then(best).then(one_lane.cmp(&other_lane)),
                _ => best.then(one_turn.cmp(&other_turn)).then(one_lane.cmp(&other_lane)),
            }
        });
        let (mut crossings, mut named): (Vec<Path>, Vec<usize>) = (Vec::new(), Vec::new());
        for path in candidates {
            let is_free = crossings.iter().all(|other| other.output.0 != path.output.0);
            if named.contains(&path.input.0) {
                continue;
            }
            if is_free {
                crossings.push(path);
            }
            if is_free || self.rules.allocation == Allocation::InputFirst {
                named.push(path.input.0);
            }
        }
        crossings
    }

    /// T2: at most one flit goes onto the wire, or to the node.
    fn transmit(&mut self, channel: usize, eligible: &[bool], now: u64) {
        let channel = &mut self.channels[channel];
        let Some(flit) = channel.send(eligible, &self.rules) else { return };
        let message = message_of(&mut self.messages, flit);
        if flit.is_header() && message.serial.is_none() {
            message.serial = Some(self.entered);
            self.entered += 1;
        }
        let journey = &mut message.flits[flit.number];
        journey.left.push(now);
        journey.delays.push(channel.delay);
        channel.wire.push_back((now, flit));
        channel.last_sent = Some(now);
    }

    /// W3: a flit that was sent to a node is there in the same cycle, or later by the delay; a message is with its
    /// tail.
    fn deliver(&mut self, channel: usize, now: u64) {
        let Channel { to: End::Node, wire, delay, .. } = &mut self.channels[channel] else { return };
        let Some((sent, flit)) = wire.front().copied() else { return };
        if sent + *delay < now {
            unreachable!("a flit that was at its node before");
        }
        if sent + *delay > now {
            return;
        }
        wire.pop_front();
        if flit.is_tail {
            let delivery = message_of(&mut self.messages, flit).delivery(&self.rules);
            let message = self.messages.remove(&flit.message);
            self.delivered.extend(message.map(|message| (message, delivery)));
        }
    }

    /// T4, T9: the output lane belongs to the message from now on.
    fn grant(&mut self, Path { router, input, output: (port, to) }: Path, now: u64) {
        let Router { inputs, outputs, .. } = &mut self.routers[router];
        let ports = inputs.len();
        let lane = &mut inputs[input.0][input.1];
        let message = message_of(&mut self.messages, lane.flits[0]);
        message.granted.push(now);
        if let Some(lanes) = message.lanes.last_mut() {
            lanes.output = Some((port, to));
        }
        let front = lane.front.as_mut().expect("a message at the front");
        front.granted = Some(to);
        let lanes = &mut self.channels[outputs[port]].lanes;
        lanes[to].owner = Some(input);
        lanes[front.group].first_port = (input.0 + 1) % ports; // S1
    }

    /// T3: a flit crosses; a tail gives up the output lane (T9), and the next message comes to the front (T8).
    fn cross(&mut self, Path { router, input, output: (port, to) }: Path, now: u64) {
        if let Some(before) = self.routers[router].before[input.0] {
            self.channels[before].freed.push_back((now, input.1)); // W2
        }
        let channel = &mut self.channels[self.routers[router].outputs[port]];
        let Router { inputs, arbiters, .. } = &mut self.routers[router];
        let lane = &mut inputs[input.0][input.1];
        let flit = lane.flits.pop_front().expect("a flit to cross");
        arbiters[input.0].serve(flit, &self.rules);
        assert_eq!(channel.lanes[to].owner, Some(input), "crosses into a lane of another");
        channel.cross(Flit { lane: to, ..flit }, now, &self.rules);
        let stamp = channel.lanes[to].flits.back().map_or(0.0, |flit| flit.stamp);
        let journey = &mut message_of(&mut self.messages, flit).flits[flit.number];
        journey.crossed.push(now);
        journey.stamps.push(stamp);
        if flit.is_tail {
            channel.lanes[to].owner = None;
            lane.front = None;
            if let Some(next) = lane.flits.front().copied() {
                self.come_to_front(router, input.0, next, now);
            }
        }
    }

    /// T6: the flit that left over the link in the cycle before comes in.
    fn receive(&mut self, channel: usize, flit: Flit, now: u64) {
        let End::Input { router, port } = self.channels[channel].to else {
            unreachable!("a flit beyond a node")
        };
        if flit.is_header() {
            let lanes = RouterLanes { router, input: (port, flit.lane), output: None };
            message_of(&mut self.messages, flit).lanes.push(lanes);
        }
        let lane = &mut self.routers[router].inputs[port][flit.lane];
        lane.flits.push_back(flit);
        assert!(lane.flits.len() <= self.rules.buffer_flits, "more flits than slots");
        if lane.front.is_none() {
            self.come_to_front(router, port, flit, now);
        }
    }

    /// T8: a header that is at the front from `now` on requests its output lane `max(P - 3, 1)` cycles later.
    fn come_to_front(&mut self, router: usize, port: usize, header: Flit, now: u64) {
        assert!(header.is_header(), "a body at the front without its header");
        let message = message_of(&mut self.messages, header);
        let request_cycle = now + self.rules.request_delay();
        message.requested.push(request_cycle);
        let outputs = self.rules.route(router, &message.offer);
        let to = self.channels[self.routers[router].outputs[outputs.start]].to;
        let group = self.rules.group_behind(router, &message.offer, to);
        if let Some(lanes) = message.lanes.last_mut() {
            lanes.output = Some((outputs.start, group));
        }
        let (candidates, flits) = (self.rules.candidates(router, &message.offer), message.flits.len());
        let front = Front { outputs, candidates, flits, group, request_cycle, granted: None };
        self.routers[router].inputs[port][header.lane].front = Some(front);
    }

    /// What holds once all messages are delivered.
    fn assert_empty(&self) {
        for channel in &self.channels {
            assert!(channel.wire.is_empty() && channel.backlog <= channel.freed.len());
            assert!(channel.lanes.iter().all(|lane| lane.flits.is_empty() && lane.owner.is_none()));
        }
        for lane in self.routers.iter().flat_map(|router| router.inputs.iter().flatten()) {
            assert!(lane.flits.is_empty() && lane.front.is_none());
        }
    }
}

/// Where the injection channel of a node ends, and its delay and capacity (W1, W4).
fn injection_of(rules: &Rules, node: usize) -> (End, LinkTime) {
    let end = rules.entrance_of(node);
    let time = match end {
        End::Input { router, port } => rules.time_behind(router, port),
        End::Node => LinkTime::USUAL,
    };
    (end, time)
}

/// The message of a flit.
fn message_of(messages: &mut BTreeMap<u64, Message>, flit: Flit) -> &mut Message {
    messages.get_mut(&flit.message).expect("a message not yet delivered")
}
