//! Network interfaces: messages wait in a queue for each destination (P5), and go packet by packet into the injection
//! port (P6, phase 2).

use std::collections::VecDeque;

use super::memory::{Label, Row};
use super::queueing::Queueing;
use super::sets::bits_round;
use super::switch::PacketSwitch;
use crate::{Arrival, Offer};

/// Packets of a message that wait at its host.
#[derive(Clone, Copy, Debug)]
struct PendingMessage {
    generated: u64,
    packets: u32,
    left: u32,
    traffic: u16,
    /// The way that was drawn for the message.
    way: u32,
}

/// The interface of a host.
#[derive(Clone, Debug)]
pub(super) struct Host {
    /// By destination: messages, packets of them, and packets admitted so far.
    admittance: Vec<VecDeque<PendingMessage>>,
    waiting: Vec<u32>,
    sequence: Vec<u32>,
    /// Destinations with packets.
    asking: Vec<u64>,
    /// Destination after the one served last.
    pointer: usize,
    /// Whether a packet moves into the injection port.
    pub(super) is_moving: bool,
}

impl Host {
    pub(super) fn new(hosts: usize) -> Self {
        Self {
            admittance: vec![VecDeque::new(); hosts],
            waiting: vec![0; hosts],
            sequence: vec![0; hosts],
            asking: vec![0; hosts.div_ceil(64)],
            pointer: 0,
            is_moving: false,
        }
    }

    /// Takes a packet of the first message to a destination: its message, and its number among those to the
    /// destination.
    fn take(&mut self, destination: usize) -> (PendingMessage, u32) {
        let first = &mut self.admittance[destination][0];
        let message = *first;
        first.left -= 1;
        if first.left == 0 {
            self.admittance[destination].pop_front();
        }
        self.waiting[destination] -= 1;
        if self.waiting[destination] == 0 {
            self.asking[destination / 64] &= !(1 << (destination % 64));
        }
        let number = self.sequence[destination];
        self.sequence[destination] = number.wrapping_add(1);
        (message, number)
    }

    /// Takes back the messages of a traffic of which nothing has been admitted; how many packets.
    fn withdraw(&mut self, traffic: usize) -> u64 {
        let stays = |waiting: &PendingMessage| {
            usize::from(waiting.traffic) != traffic || waiting.left < waiting.packets
        };
        let mut withdrawn = 0;
        for (destination, queue) in self.admittance.iter_mut().enumerate() {
            queue.retain(stays);
            let left = queue.iter().map(|waiting| waiting.left).sum();
            let before = std::mem::replace(&mut self.waiting[destination], left);
            withdrawn += u64::from(before - left);
            if left == 0 {
                self.asking[destination / 64] &= !(1 << (destination % 64));
            }
        }
        withdrawn
    }
}

impl<Q: Queueing> PacketSwitch<Q> {
    /// P5: a message joins its admittance queue.
    pub(super) fn generate(&mut self, message: &Offer) {
        let Arrival { cycle, source, destination, class } = message.arrival;
        let (host, destination, packets) = (source as usize, destination as usize, message.flits);
        let queues = &mut self.hosts[host];
        self.record.generate(class.into(), packets);
        let most = self.fabric.admittance_packets;
        if most.is_some_and(|most| queues.waiting[destination] + packets > most) {
            self.record.refuse(class.into(), packets);
            return;
        }
        let waiting = PendingMessage {
            traffic: class.into(),
            generated: cycle,
            packets,
            left: packets,
            way: message.way,
        };
        queues.admittance[destination].push_back(waiting);
        queues.waiting[destination] += packets;
        queues.asking[destination / 64] |= 1 << (destination % 64);
        self.changed_hosts.mark(host);
    }

    /// P5: what is left of a traffic is taken back.
    pub(super) fn take_back(&mut self, traffic: usize) {
        for host in 0..self.hosts.len() {
            let withdrawn = self.hosts[host].withdraw(traffic);
            self.record.withdraw(traffic, withdrawn);
            // what comes first now may go another way
            self.changed_hosts.mark(host);
        }
    }

    /// P6: the first destination in turn whose packet has room begins to move.
    pub(super) fn admit(&mut self, host: usize) {
        let from = &self.hosts[host];
        if from.is_moving {
            return;
        }
        let port = self.wiring.injection(host);
        if self.queueing.egress_queues() == 1 && self.taken[port] >= self.ports[port].places {
            return;
        }
        let open = |word: usize| {
            if Q::BY_DESTINATION { self.queues.with_place.of(port)[word] } else { u64::MAX }
        };
        let asking = |word: usize| from.asking[word] & open(word);
        let found = bits_round(from.asking.len(), from.pointer, asking).find_map(|destination| {
            let turns = match self.turns.get(host * self.wiring.hosts + destination) {
                Some(turns) => *turns,
                None => self.wiring.turns(host, destination, from.admittance[destination][0].way),
            };
            let row = Row::new(turns, destination);
            let place = self.egress_place(port, &row)?;
            self.queueing.admits(2 * port + 1, turns).then_some((destination, row, place))
        });
        if let Some((destination, row, place)) = found {
            self.transfer(host, destination, row, place);
        }
    }

    fn transfer(&mut self, host: usize, destination: usize, row: Row, place: usize) {
        let (now, port) = (self.now, self.wiring.injection(host));
        let packet = self.packets.add(row);
        let from = &mut self.hosts[host];
        let (PendingMessage { generated, traffic, .. }, sequence) = from.take(destination);
        (from.pointer, from.is_moving) = ((destination + 1) % self.wiring.hosts, true);
        self.packets.labels[packet as usize] = Label {
            generated,
            waiting: (now - generated).min(u32::MAX.into()) as u32,
            sequence,
            source: host as u16,
            destination: destination as u16,
            traffic,
        };
        self.record.counts.admitted += 1;
        self.events.transfer_ends.push(now + self.fabric.timing.packet_crossbar, host as u32);
        self.reserve(port, packet, place, 0);
    }
}
