//! The fast simulator of packet switches: what is in it, and the phases of a tick.
//!
//! Only switches, links and hosts of which something has changed are looked at; ticks in which nothing can move are
//! passed over.

use std::collections::VecDeque;

use super::Fabric;
use super::arbitration::Crossbar;
use super::events::Events;
use super::interface::Host;
use super::link::{LinkTicks, Port};
use super::memory::{Packets, Queues};
use super::queueing::Queueing;
use super::record::{Column, Delivery, Record, Side};
use super::sets::{Changes, bits};
use super::wiring::{OPEN, Wiring};
use crate::{Offer, Switch};

/// Hosts up to which the ways of all pairs are listed.
const MOST_LISTED: usize = 1024;

/// A network of packet switches whose queues are organised in a way that is known when the simulator is compiled.
pub(super) struct PacketSwitch<Q: Queueing> {
    pub(super) fabric: Fabric,
    pub(super) wiring: Wiring,
    /// By source and destination, where every pair has one way and there are not too many.
    pub(super) turns: Vec<u64>,
    /// Packets that cross from the tick on: output, packet, queue there and input; a list to be used again.
    pub(super) granted: Vec<(usize, u32, usize, u8)>,
    pub(super) packets: Packets,
    pub(super) queues: Queues,
    pub(super) ports: Vec<Port>,
    /// By kind of link.
    pub(super) link_ticks: Vec<LinkTicks>,
    /// By port and queue behind its link.
    pub(super) credits: Vec<u32>,
    /// By port and fixed egress queue: places taken.
    pub(super) taken: Vec<u32>,
    /// By ingress port: queues of credits under way and waiting, where there are several.
    pub(super) returned: Vec<VecDeque<u16>>,
    pub(super) hosts: Vec<Host>,
    /// By output of switches, where these choose: packets that are settled for it and whose credit has not come back.
    pub(super) backlogs: Vec<u32>,
    /// By switch.
    pub(super) crossbars: Vec<Crossbar>,
    pub(super) events: Events<Q::Control>,
    pub(super) changed_switches: Changes,
    pub(super) changed_links: Changes,
    pub(super) changed_hosts: Changes,
    pub(super) record: Record,
    pub(super) now: u64,
    pub(super) queueing: Q,
}

/// A switch that moves packets.
pub(super) trait Network: Switch<Delivery = Delivery> {
    fn record(&self) -> &Record;

    fn record_mut(&mut self) -> &mut Record;

    fn columns(&self) -> Vec<Column>;

    fn is_drained(&self) -> bool;
}

impl<Q: Queueing> PacketSwitch<Q> {
    /// An empty network. Its series tells so many traffics apart, in bins of so many ticks.
    pub(super) fn new(fabric: &Fabric, traffics: usize, bin: u64) -> Self {
        let wiring = fabric.wiring();
        let (hosts, ports, kinds) = (wiring.hosts, wiring.peers.len(), wiring.kinds());
        let queueing = Q::new(fabric, ports);
        let [ingress_queues, egress_queues] = [queueing.ingress_queues(), queueing.egress_queues()];
        let is_host = |port: u32| port != OPEN && port as usize >= wiring.switch_ports();
        let credits = |peer: &u32| Self::first_credits(fabric, is_host(*peer), ingress_queues);
        let listed = if wiring.ways() == 1 && hosts <= MOST_LISTED { hosts } else { 0 };
        let pairs = (0..listed).flat_map(|from| (0..hosts).map(move |to| (from, to)));
        Self {
            turns: pairs.map(|(from, to)| if from == to { 0 } else { wiring.turns(from, to, 0) }).collect(),
            granted: Vec::new(),
            packets: Packets::default(),
            queues: Queues::new(
                wiring.numbers,
                ports,
                ingress_queues.max(egress_queues) + queueing.set_aside_queues(),
            ),
            ports: (0..ports).map(|port| Port::new(fabric, (&wiring, &kinds), port, egress_queues)).collect(),
            link_ticks: kinds.iter().map(|kind| LinkTicks::new(fabric, *kind)).collect(),
            credits: wiring.peers.iter().flat_map(credits).collect(),
            taken: vec![0; ports * egress_queues],
            returned: vec![VecDeque::new(); ports],
            hosts: vec![Host::new(hosts, fabric.admittance_packets.is_some()); hosts],
            backlogs: vec![0; if wiring.is_adaptive() { wiring.switch_ports() } else { 0 }],
            crossbars: vec![Crossbar::default(); wiring.switches],
            events: Events::default(),
            changed_switches: Changes::new(wiring.switches),
            changed_links: Changes::new(ports),
            changed_hosts: Changes::new(hosts),
            record: Record::new(&wiring, traffics, bin),
            fabric: fabric.clone(),
            wiring,
            now: 0,
            queueing,
        }
    }

    /// Phase 1: what ends or comes in this tick, but for messages of hosts, which nothing else in it looks at.
    fn end_and_begin(&mut self, delivered: &mut Vec<Delivery>) {
        let now = self.now;
        while let Some(port) = self.events.data_ends.pop(now) {
            self.end_packet(port as usize);
        }
        while let Some(port) = self.events.control_ends.pop(now) {
            self.end_control(port as usize);
        }
        while let Some((input, output)) = self.events.crossing_ends.pop(now) {
            self.end_crossing(input as usize, output as usize);
        }
        if self.events.controls.next() <= now {
            let mut controls: Vec<_> = std::iter::from_fn(|| self.events.controls.pop(now)).collect();
            controls.sort_by_key(|(port, _)| *port);
            controls.into_iter().for_each(|(port, control)| Q::take_control(self, port as usize, control));
        }
        while let Some((port, number)) = self.events.credits.pop(now) {
            self.take_credits(port as usize, number);
        }
        while let Some((port, packet)) = self.events.deliveries.pop(now) {
            self.deliver(port as usize, packet, delivered);
        }
        if self.has_backlogs() && self.events.arrivals.next() <= now {
            // each choice counts those before it
            let mut arrivals: Vec<_> = std::iter::from_fn(|| self.events.arrivals.pop(now)).collect();
            arrivals.sort_unstable();
            arrivals.into_iter().for_each(|(port, packet)| self.arrive(port as usize, packet));
        }
        while let Some((port, packet)) = self.events.arrivals.pop(now) {
            self.arrive(port as usize, packet);
        }
        while let Some((port, packet, input)) = self.events.joins.pop(now) {
            self.join(port as usize, packet, input);
        }
        while let Some(host) = self.events.transfer_ends.pop(now) {
            self.hosts[host as usize].is_moving = false;
            self.changed_hosts.mark(host as usize);
        }
        if self.events.holds.next() <= now {
            let mut holds: Vec<_> = std::iter::from_fn(|| self.events.holds.pop(now)).collect();
            holds.sort_unstable();
            holds.into_iter().for_each(|(memory, queue)| Q::end_hold(self, memory as usize, queue.into()));
        }
    }

    /// Looks at all of a kind of which something has changed.
    #[inline]
    fn each_changed(&mut self, changed: impl Fn(&mut Self) -> &mut Changes, look: impl Fn(&mut Self, usize)) {
        for word in 0..changed(self).words() {
            let of_word = changed(self).take(word);
            bits(of_word).for_each(|bit| look(self, 64 * word + bit));
        }
    }

    fn deliver(&mut self, port: usize, packet: u32, delivered: &mut Vec<Delivery>) {
        let label = self.packets.labels[packet as usize];
        let delivery = Delivery {
            delivered: self.now,
            destination: label.destination.into(),
            source: label.source.into(),
            traffic: label.traffic,
            generated: label.generated,
            admitted: label.generated + u64::from(label.waiting),
        };
        self.give_back(port, if Q::BY_DESTINATION { label.destination.into() } else { 0 });
        self.record.deliver(&delivery, label.sequence);
        delivered.push(delivery);
        self.packets.free(packet);
    }

    /// A packet joins an ingress queue.
    fn arrive(&mut self, port: usize, packet: u32) {
        let memory = 2 * port;
        let queue = self.queueing.queue_of(memory, &self.packets.rows[packet as usize]);
        self.push(memory, queue, packet);
        Q::arrived(self, port, queue);
    }

    /// A packet joins an egress queue.
    fn join(&mut self, port: usize, packet: u32, input: u8) {
        let memory = 2 * port + 1;
        let queue = self.queueing.queue_of(memory, &self.packets.rows[packet as usize]);
        self.push(memory, queue, packet);
        Q::joined(self, port, queue, input);
    }

    /// Whether nothing moves before the next event.
    pub(super) fn is_idle(&self) -> bool {
        self.changed_links.is_empty() && self.changed_switches.is_empty() && self.changed_hosts.is_empty()
    }

    #[inline]
    pub(super) fn is_host(&self, port: usize) -> bool {
        port >= self.wiring.switch_ports()
    }

    /// One packet more, or less, has a place in a memory.
    #[inline]
    pub(super) fn held(&mut self, port: usize, side: Side, more: i32) {
        let held = &mut self.record.queued[usize::from(self.ports[port].group)][side as usize];
        *held = held.wrapping_add_signed(more);
    }
}

impl<Q: Queueing> Switch for PacketSwitch<Q> {
    type Delivery = Delivery;

    fn offer(&mut self, offer: &Offer) {
        self.generate(offer);
    }

    fn withdraw(&mut self, class: usize, _now: u64) {
        self.take_back(class);
    }

    /// P2: the phases of a tick.
    fn step(&mut self, now: u64, delivered: &mut Vec<Delivery>) {
        self.now = now;
        self.record.turn_bins(now);
        self.end_and_begin(delivered);
        self.each_changed(|all| &mut all.changed_hosts, Self::admit);
        self.each_changed(|all| &mut all.changed_switches, Self::arbitrate);
        self.each_changed(|all| &mut all.changed_links, Self::send);
    }

    #[inline]
    fn wakes(&self, now: u64) -> u64 {
        if self.is_idle() { self.events.next() } else { now }
    }
}

impl<Q: Queueing> Network for PacketSwitch<Q> {
    fn record(&self) -> &Record {
        &self.record
    }

    fn record_mut(&mut self) -> &mut Record {
        &mut self.record
    }

    fn columns(&self) -> Vec<Column> {
        let (hosts, numbers) = (self.wiring.hosts, self.wiring.numbers);
        let half = flitwise_language::network::SIDE as usize;
        let line = |port: u32| {
            let port = port as usize;
            ((numbers.switch(port) * half + numbers.of_switch(port) % half) % hosts) as u32
        };
        let column = |port: &dyn Fn(usize) -> usize, is_egress: bool, goes_on: bool| {
            let ports = (0..hosts).map(port);
            let memories = || ports.clone().map(|port| 2 * port + usize::from(is_egress));
            let packets = memories().map(|memory| self.packets_in(memory)).collect();
            let set_aside = memories().map(|memory| self.queueing.set_aside_in(memory)).collect();
            let next = ports.clone().filter(|_| goes_on).map(|port| line(self.wiring.peers[port])).collect();
            Column { packets, set_aside, next }
        };
        let mut columns = vec![column(&|host| self.wiring.injection(host), true, true)];
        for stage in 0..self.wiring.rows {
            let left = |line: usize| numbers.first(stage * hosts / half + line / half) + line % half;
            columns.push(column(&left, false, false));
            columns.push(column(&|line| left(line) + half, true, stage + 1 < self.wiring.rows));
        }
        columns
    }

    fn is_drained(&self) -> bool {
        self.nothing_is_left()
    }
}
