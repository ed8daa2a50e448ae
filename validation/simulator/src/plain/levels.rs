//! Routers with levels, preemption and blocks, and network interfaces behind host buses, as their rules read: every
//! router, port and lane is looked at in every cycle.
//!
//! L1 to L13 of [the notes](crate::notes), rule by rule, on top of T1 to T9, S1, S7, S10, V1, V3, V4, X1 to X4, N1, N2
//! and D1, which hold here too.

mod arbitration;
mod crossbar;
mod flit;
mod input;
mod interface;
mod links;
mod output;
mod scheduler;

use std::collections::BTreeMap;
use std::ops::Range;

use flitwise_language::scenario::Scenario;

use super::host::{Host, HostEvent, HostMessage};
use super::message::Message;
use super::rules::Rules;
use crate::traffic::Traffic;
use crate::{Activity, Delivery, Offer};
use flit::Flit;
use input::{InputChannel, Output, Yielded};
use interface::{Injection, NetworkInterface};
use output::OutputPort;
use scheduler::{Clocks, Discipline};

/// All deliveries, sorted, of `offers` (in the order of their cycles), or those of the first `limit` cycles; also of
/// scenarios that have no levels, as long as their routers are multiplexed, greedy and drawn and their scheduler is
/// `fifo` or fine-grained.
pub fn replay_offers(scenario: &Scenario, offers: &[Offer], limit: u64) -> Vec<Delivery> {
    replay_counted(scenario, offers, limit).0
}

/// The same, and what preemptive routers and interfaces have done.
pub fn replay_counted(scenario: &Scenario, offers: &[Offer], limit: u64) -> (Vec<Delivery>, Activity) {
    let mut run = Run::with_traffic(scenario, Traffic::listed(scenario, offers));
    let mut delivered = Vec::new();
    while run.now < limit {
        delivered.extend(run.step(limit).into_iter().map(|(_, delivery)| delivery));
    }
    delivered.sort_unstable();
    (delivered, run.network.activity())
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
            self.network.assert_empty();
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
    /// By node.
    interfaces: Vec<NetworkInterface>,
    /// By node, where there is a host bus.
    hosts: Vec<Host>,
    counts: Counts,
}

struct Router {
    inputs: Vec<InputPort>,
    outputs: Vec<OutputPort>,
}

struct InputPort {
    /// L2, by virtual channel and lane.
    clocks: Clocks,
    /// By virtual channel.
    channels: Vec<InputChannel>,
}

/// What has been counted so far.
#[derive(Default)]
struct Counts {
    /// By class: fragments that were closed with a dummy tail.
    preemptions: Vec<u64>,
    /// Dummies that came to be, and those that have crossed crossbars.
    dummy_headers: u64,
    dummy_tails: u64,
    dummies: u64,
    /// L11: flits that have crossed accelerated.
    accelerated: u64,
    /// Flits that have left network interfaces.
    wire: u64,
}

impl Network {
    fn new(scenario: &Scenario) -> Self {
        let rules = Rules::new(scenario);
        let discipline = Discipline::of(rules.scheduler);
        let (nodes, routers, ports) = rules.size();
        let input_port = || {
            let channels = vec![InputChannel::new(&rules); rules.lanes()];
            let lanes = channels.iter().map(|channel| channel.lanes.len()).sum();
            InputPort { clocks: Clocks::new(discipline, lanes), channels }
        };
        let router = |router| Router {
            inputs: (0..ports).map(|_| input_port()).collect(),
            outputs: (0..ports).map(|port| OutputPort::new(&rules, rules.end_of(router, port))).collect(),
        };
        let host = scenario.host_interface();
        let injection = match host {
            Some(host) if host.by_message => {
                Injection::Messages { setup: host.send_setup, in_order: !host.is_qos }
            }
            _ => Injection::Flits,
        };
        // H5: an interface that knows levels knows them in front of routers that do not
        let at_interface = match discipline {
            Discipline::Fifo if host.is_some_and(|host| host.is_qos) => Discipline::VirtualClock,
            of_routers => of_routers,
        };
        Self {
            messages: BTreeMap::new(),
            generated: 0,
            entered: 0,
            delivered: Vec::new(),
            routers: (0..routers).map(router).collect(),
            interfaces: (0..nodes).map(|_| NetworkInterface::new(&rules, at_interface, injection)).collect(),
            hosts: host.map_or(Vec::new(), |host| (0..nodes).map(|_| Host::new(host, &rules)).collect()),
            counts: Counts { preemptions: vec![0; rules.level.len()], ..Counts::default() },
            rules,
        }
    }

    /// T1, H1: a message generated now joins its source queue and can be sent now, or rings the doorbell.
    fn generate(&mut self, offer: &Offer, now: u64) {
        let (id, node) = (self.generated, offer.arrival.source as usize);
        self.generated += 1;
        self.messages.insert(id, Message::new(offer));
        match self.hosts.get_mut(node) {
            Some(host) => host.ring(HostMessage::new(id, offer, &self.rules)),
            None => self.join(id, node, now),
        }
    }

    /// A message joins the queue of its network interface.
    fn join(&mut self, id: u64, node: usize, now: u64) {
        let offer = self.messages[&id].offer;
        let channel = self.rules.group_at_source(&offer);
        self.interfaces[node].join(id, &offer, channel, &self.rules, now);
    }

    /// T1, H7: at the end of the traffic of a class its messages of which no flit has left are taken back.
    fn withdraw(&mut self, class: usize) {
        for node in 0..self.interfaces.len() {
            let taken_back = match self.hosts.get_mut(node) {
                Some(host) => host.withdraw(class),
                None => self.interfaces[node].withdraw(class),
            };
            taken_back.iter().for_each(|message| drop(self.messages.remove(message)));
        }
    }

    /// L13: one cycle. Hosts first; then all decisions of links, crossbars and arbitration (T7), and what follows from
    /// them.
    fn step(&mut self, now: u64) {
        self.step_hosts(now);

        // with P = 3 a message crosses in the cycle of its grant, else before the stage of arbitration
        let is_merged = self.rules.pipeline_stages == 3;
        let before = if is_merged { Vec::new() } else { self.crossings(&[], now) };
        self.choose_links(&before, now);
        let grants = self.grants(&before, now);
        let crossings = if is_merged { self.crossings(&grants, now) } else { before };
        let sending = self.links();

        let coming_in = self.coming_in();
        self.send_from_interfaces(&coming_in, now);
        for (router, port, lane) in sending {
            self.send(router, port, lane, now);
        }
        self.record_requests(now);
        for grant in grants {
            self.grant(grant, now); // before the crossbar: with P = 3 the tail may cross in this cycle
        }
        for crossing in crossings {
            self.cross(crossing, now);
        }
        self.set_acceleration(now);
        for (router, port, flit) in coming_in {
            self.receive(router, port, flit, now);
        }
        self.stamp_at_inputs(now);
        for channel in self.routers.iter().flat_map(|router| &router.inputs).flat_map(|port| &port.channels) {
            channel.assert_levels();
        }
    }

    /// H8: the interfaces behind host buses.
    fn step_hosts(&mut self, now: u64) {
        for node in 0..self.hosts.len() {
            for event in self.hosts[node].step(now) {
                let (HostEvent::HandedOver(of) | HostEvent::Joined(of) | HostEvent::Received(of)) = event;
                let message = self.messages.get_mut(&of.message).expect("a message of a host");
                let times = &mut message.host;
                match event {
                    HostEvent::HandedOver(_) => times.doorbell = (now - message.arrival.cycle) as u32,
                    HostEvent::Joined(_) => {
                        times.bus = (now - message.arrival.cycle) as u32 - times.doorbell;
                        self.join(of.message, node, now);
                    }
                    HostEvent::Received(_) => {
                        let left = *message.flits[message.flits.len() - 1].left.last().expect("a tail");
                        times.receive = (now - left - 1) as u32;
                        self.deliver(of.message);
                    }
                }
            }
        }
    }

    /// The receiver has a message.
    fn deliver(&mut self, id: u64) {
        let message = self.messages.remove(&id).expect("a message not yet delivered");
        let routers = message.links.len();
        for flit in &message.flits {
            assert_eq!(
                (flit.left.len(), flit.crossed.len()),
                (routers + 1, routers),
                "flits that went astray"
            );
        }
        let delivery = message.delivery(&self.rules);
        self.delivered.push((message, delivery));
    }

    /// L4: of the lanes with a flit the highest begins; it asks for its output `max(P - 3, 1)` cycles later (T8).
    fn begin(&mut self, router: usize, port: usize, channel: usize, now: u64) {
        let Some((next, interrupted)) = self.routers[router].inputs[port].channels[channel].next() else {
            return;
        };
        let (ports, behind) = match interrupted {
            Some(Output { port, channel }) => (port..port + 1, channel), // L7
            None => self.route(router, &next),
        };
        let request_cycle = now + self.rules.request_delay();
        self.routers[router].inputs[port].channels[channel].begin(next, ports, behind, request_cycle);
    }

    /// T5: the output ports that a header may take, and the virtual channel there (V3). L8: where links are parallel, a
    /// dummy header follows the header of its message.
    fn route(&self, router: usize, header: &Flit) -> (Range<usize>, usize) {
        let message = &self.messages[&header.message];
        let ports = self.rules.route(router, &message.offer);
        let to = self.routers[router].outputs[ports.start].to;
        let behind = self.rules.group_behind(router, &message.offer, to);
        let taken = message.links.iter().find(|(other, _)| *other == router);
        (taken.map_or(ports, |(_, port)| *port..*port + 1), behind)
    }

    /// T6: the flit that left over the link in the cycle before comes in.
    fn receive(&mut self, router: usize, port: usize, flit: Flit, now: u64) {
        let channel = &mut self.routers[router].inputs[port].channels[flit.channel];
        if channel.receive(flit, &self.rules) {
            self.preempt(router, port, flit.channel);
        }
        if self.routers[router].inputs[port].channels[flit.channel].current.is_none() {
            self.begin(router, port, flit.channel, now);
        }
    }

    /// L5, L6: the current message gives way.
    fn preempt(&mut self, router: usize, port: usize, channel: usize) {
        let Router { inputs, outputs } = &mut self.routers[router];
        let buffers = &mut inputs[port].channels[channel];
        match buffers.give_way() {
            Yielded::Nothing(owned) => {
                if let Some(output) = owned {
                    outputs[output.port].channels[output.channel].owner = None;
                }
            }
            Yielded::Fragment(message) => {
                let message = self.messages.get_mut(&message).expect("a message not yet delivered");
                message.preemptions += 1;
                self.counts.preemptions[usize::from(message.arrival.class)] += 1;
            }
            Yielded::Rest => {}
        }
    }

    fn activity(&self) -> Activity {
        Activity {
            preemptions: self.counts.preemptions.clone(),
            dummies: self.counts.dummies,
            accelerated: self.counts.accelerated,
            firmware: self.hosts.iter().map(|host| host.firmware_cycles).sum(),
            bus: self.hosts.iter().map(|host| host.bus_cycles).sum(),
            wire: self.counts.wire,
        }
    }

    /// What holds once all messages are delivered; L7: every dummy tail is matched by a dummy header.
    fn assert_empty(&self) {
        for Router { inputs, outputs } in &self.routers {
            assert!(inputs.iter().flat_map(|port| &port.channels).all(InputChannel::is_empty));
            assert!(outputs.iter().all(OutputPort::is_empty));
        }
        assert!(self.interfaces.iter().all(NetworkInterface::is_empty));
        assert!(self.hosts.iter().all(|host| host.is_empty(&self.rules)));
        let Counts { preemptions, dummy_headers, dummy_tails, .. } = &self.counts;
        assert_eq!([*dummy_headers; 2], [*dummy_tails, preemptions.iter().sum()]);
    }
}

/// The message of a flit.
fn message_of<'m>(messages: &'m mut BTreeMap<u64, Message>, flit: &Flit) -> &'m mut Message {
    messages.get_mut(&flit.message).expect("a message not yet delivered")
}
