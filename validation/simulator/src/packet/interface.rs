//! Network interfaces: messages wait in a queue for each destination (P5), and go packet by packet into the injection
//! port (P6, phase 2).

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
    /// The message behind it to the same destination, in the host's list; of the last one the first.
    next: u32,
}

/// The interface of a host. Of the pairs of a large network few wait at a time: each has two numbers here.
#[derive(Clone, Debug)]
pub(super) struct Host {
    /// Messages that wait; those of each destination in a ring.
    messages: Vec<PendingMessage>,
    /// Places of that list to be used again.
    free: Vec<u32>,
    /// By destination: the place of the last message that waits, if any does.
    last: Vec<u32>,
    /// By destination: packets admitted so far.
    sequence: Vec<u32>,
    /// By destination, where there is a limit: packets that wait.
    waiting: Vec<u32>,
    /// Destinations with packets.
    asking: Vec<u64>,
    /// Destination after the one served last.
    pointer: usize,
    /// Whether a packet moves into the injection port.
    pub(super) is_moving: bool,
}

impl Host {
    /// Of so many hosts; packets that wait are counted where these are limited.
    pub(super) fn new(hosts: usize, is_limited: bool) -> Self {
        Self {
            messages: Vec::new(),
            free: Vec::new(),
            last: vec![0; hosts],
            sequence: vec![0; hosts],
            waiting: vec![0; if is_limited { hosts } else { 0 }],
            asking: vec![0; hosts.div_ceil(64)],
            pointer: 0,
            is_moving: false,
        }
    }

    fn asks(&self, destination: usize) -> bool {
        self.asking[destination / 64] >> (destination % 64) & 1 == 1
    }

    /// A message joins those to a destination.
    fn push(&mut self, destination: usize, message: PendingMessage) {
        let place = self.free.pop().unwrap_or(self.messages.len() as u32);
        if place as usize == self.messages.len() {
            self.messages.push(message);
        }
        let mut next = place;
        if self.asks(destination) {
            let last = &mut self.messages[self.last[destination] as usize];
            next = std::mem::replace(&mut last.next, place);
        }
        self.messages[place as usize] = PendingMessage { next, ..message };
        self.last[destination] = place;
        self.count(destination, message.left as i32);
        self.asking[destination / 64] |= 1 << (destination % 64);
    }

    /// Takes the first message to a destination out, of which there is one.
    fn pop(&mut self, destination: usize) -> PendingMessage {
        let last = self.last[destination];
        let place = self.messages[last as usize].next;
        let message = self.messages[place as usize];
        if place == last {
            self.asking[destination / 64] &= !(1 << (destination % 64));
        } else {
            self.messages[last as usize].next = message.next;
        }
        self.free.push(place);
        self.count(destination, -(message.left as i32));
        message
    }

    /// So many packets more, or less, wait for a destination.
    fn count(&mut self, destination: usize, more: i32) {
        if let Some(waiting) = self.waiting.get_mut(destination) {
            *waiting = waiting.wrapping_add_signed(more);
        }
    }

    /// The first message to a destination, if one waits.
    fn first(&self, destination: usize) -> Option<&PendingMessage> {
        let last = self.asks(destination).then(|| &self.messages[self.last[destination] as usize])?;
        Some(&self.messages[last.next as usize])
    }

    /// Takes a packet of the first message to a destination: its message, and its number among those to the
    /// destination.
    fn take(&mut self, destination: usize) -> (PendingMessage, u32) {
        let place = self.messages[self.last[destination] as usize].next as usize;
        let first = &mut self.messages[place];
        first.left -= 1;
        let message = *first;
        self.count(destination, -1);
        if message.left == 0 {
            self.pop(destination);
        }
        let number = self.sequence[destination];
        self.sequence[destination] = number.wrapping_add(1);
        (message, number)
    }

    /// Takes back the messages of a traffic of which nothing has been admitted; how many packets.
    fn withdraw(&mut self, traffic: usize) -> u64 {
        let mut withdrawn = 0;
        for destination in 0..self.last.len() {
            let mut waiting = Vec::new();
            while self.asks(destination) {
                waiting.push(self.pop(destination));
            }
            for message in waiting {
                if usize::from(message.traffic) == traffic && message.left == message.packets {
                    withdrawn += u64::from(message.left);
                } else {
                    self.push(destination, message);
                }
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
            next: 0,
        };
        queues.push(destination, waiting);
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
                None => self.wiring.turns(host, destination, from.first(destination)?.way),
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
