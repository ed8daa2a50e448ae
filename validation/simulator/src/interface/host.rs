//! Network interfaces behind a host bus: doorbells, firmware, transfers by the bus, receive jobs; rules H1 to H8.
//!
//! Nothing is looked at in every cycle: a node has its turn in cycles in which one of its jobs ends or something comes
//! to it. A second turn in a cycle finds nothing to do.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use flitwise_language::scenario::{HostInterface, Scenario};

use super::QueuedMessage;
use crate::control::congestion::Hold;
use crate::message::{Delivery, HostTimes};

/// Doorbells that the firmware looks at in search of one whose message has room.
const LOOK_AHEAD: usize = 64;
/// Levels of classes.
const LEVELS: usize = 3;

/// A message between its doorbell and the queue of its network interface.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Posted {
    pub(crate) message: QueuedMessage,
    pub(crate) level: usize,
    /// Its virtual channel on the injection link.
    pub(crate) channel: usize,
    pub(crate) host: HostTimes,
    /// What it holds of a channel adapter.
    pub(crate) hold: Hold,
}

/// A message that has left the network.
struct Received {
    delivery: Delivery,
    flits: u32,
    /// The cycle from which it asks for the bus.
    asks: u64,
}

/// What the transfer of a message to the interface asks the bus for.
#[derive(Clone, Copy, Debug)]
struct Transfer {
    posted: Posted,
    /// The cycle of the hand-over, and that in which it asks.
    handed_over: u64,
    asks: u64,
    /// Whether it asks for its descriptor, else for the message.
    of_descriptor: bool,
}

/// Who has the bus.
enum BusJob {
    Send,
    Receive(Received),
}

/// A part of an interface that does one thing after another.
#[derive(Clone, Copy, Debug, Default)]
struct BusyTime {
    /// Cycles of all that has begun.
    begun: u64,
    /// When the last of it ends.
    ends: u64,
}

impl BusyTime {
    fn begin(&mut self, now: u64, cycles: u64) {
        self.begun += cycles;
        self.ends = now + cycles;
    }

    /// Busy cycles before `now`.
    fn before(&self, now: u64) -> u64 {
        self.begun - self.ends.saturating_sub(now)
    }
}

/// The interface of a node.
#[derive(Default)]
struct Host {
    /// By level; the first is for all where classes are not known. The same of those received.
    doorbells: [VecDeque<Posted>; LEVELS],
    received: [VecDeque<Received>; LEVELS],
    /// Flits of the buffer that are taken: by virtual channel, or of all.
    reserved: Vec<u32>,
    /// The message that the firmware works on or wants to hand over.
    in_firmware: Option<Posted>,
    firmware: BusyTime,
    /// The message that the DMA engine has.
    transfer: Option<Transfer>,
    job: Option<BusJob>,
    bus: BusyTime,
}

/// The interfaces of all nodes.
pub(crate) struct Hosts {
    interface: HostInterface,
    /// Flits of a buffer.
    buffer_flits: u32,
    hosts: Vec<Host>,
    /// When a node has its turn.
    turns: BinaryHeap<Reverse<(u64, u32)>>,
}

impl Hosts {
    pub(crate) fn new(scenario: &Scenario, interface: HostInterface, channels: usize) -> Self {
        let lanes: u32 = scenario.classes().iter().map(|class| class.virtual_channels).sum();
        let lanes = scenario.data_router().virtual_channels.unwrap_or(lanes);
        let shares = if interface.is_qos { 1 } else { lanes };
        let reserved = vec![0; if interface.is_qos { channels } else { 1 }];
        let host = || Host { reserved: reserved.clone(), ..Host::default() };
        Self {
            interface,
            buffer_flits: interface.buffer_flits.saturating_mul(shares),
            hosts: (0..scenario.topology().nodes()).map(|_| host()).collect(),
            turns: BinaryHeap::new(),
        }
    }

    /// The queue of a level, of doorbells or of received messages.
    fn queue(&self, level: usize) -> usize {
        if self.interface.is_qos { level } else { 0 }
    }

    /// The part of the buffer that a message to a virtual channel takes.
    fn part(&self, channel: usize) -> usize {
        if self.interface.is_qos { channel } else { 0 }
    }

    fn has_turn(&mut self, node: usize, cycle: u64) {
        self.turns.push(Reverse((cycle, node as u32)));
    }

    /// The next cycle in which a node has its turn.
    #[inline]
    pub(crate) fn next_turn(&self) -> Option<u64> {
        self.turns.peek().map(|Reverse((cycle, _))| *cycle)
    }

    /// H1: the doorbell of a message of cycle `now`.
    pub(crate) fn ring(&mut self, node: usize, posted: Posted, now: u64) {
        let queue = self.queue(posted.level);
        self.hosts[node].doorbells[queue].push_back(posted);
        self.has_turn(node, now);
    }

    /// The tail of a message leaves over the injection link: its part of the buffer is free.
    pub(crate) fn has_left(&mut self, node: usize, channel: usize, flits: u32, now: u64) {
        let part = self.part(channel);
        self.hosts[node].reserved[part] -= flits;
        self.has_turn(node, now + 1);
    }

    /// H6: the tail of a message leaves over the ejection link.
    pub(crate) fn receive(&mut self, level: usize, delivery: Delivery, flits: u32) {
        let (node, asks) = (delivery.destination as usize, delivery.delivered_cycle + 1);
        let queue = self.queue(level);
        self.hosts[node].received[queue].push_back(Received { delivery, flits, asks });
        self.has_turn(node, asks);
    }

    /// Messages of a class whose doorbells the firmware has not taken by cycle `now` are taken back: what stood behind
    /// them may have room.
    pub(crate) fn withdraw(&mut self, class: usize, now: u64, mut taken_back: impl FnMut(usize, &Posted)) {
        for (node, host) in self.hosts.iter_mut().enumerate() {
            self.turns.push(Reverse((now, node as u32)));
            for doorbells in &mut host.doorbells {
                doorbells.retain(|posted| {
                    let stays = usize::from(posted.message.offer.arrival.class) != class;
                    if !stays {
                        taken_back(node, posted);
                    }
                    stays
                });
            }
        }
    }

    /// Cycles before `now` in which firmware and buses were busy.
    pub(crate) fn busy(&self, now: u64) -> (u64, u64) {
        let all = self.hosts.iter();
        all.fold((0, 0), |(firmware, bus), host| {
            (firmware + host.firmware.before(now), bus + host.bus.before(now))
        })
    }

    /// All turns of cycle `now`: messages that join the queues of their network interfaces, by node, and those that
    /// their receivers have.
    pub(crate) fn step(
        &mut self,
        now: u64,
        joined: &mut Vec<(usize, Posted)>,
        delivered: &mut Vec<Delivery>,
    ) {
        while let Some(Reverse((cycle, node))) = self.turns.peek().copied() {
            if cycle > now {
                break;
            }
            debug_assert!(cycle == now, "node {node} missed its turn in {cycle}");
            self.turns.pop();
            let node = node as usize;
            self.bus_ends(node, now, joined, delivered);
            // firmware that takes no time hands over at once
            while self.hand_over(node, now) | self.take_doorbell(node, now) {}
            self.bus_begins(node, now);
        }
    }

    fn bus_ends(
        &mut self,
        node: usize,
        now: u64,
        joined: &mut Vec<(usize, Posted)>,
        delivered: &mut Vec<Delivery>,
    ) {
        let host = &mut self.hosts[node];
        if host.bus.ends > now {
            return;
        }
        match host.job.take() {
            Some(BusJob::Receive(Received { mut delivery, .. })) => {
                delivery.host.receive = (now - delivery.delivered_cycle - 1) as u32;
                delivered.push(delivery);
            }
            Some(BusJob::Send) => {
                let transfer = host.transfer.as_mut().expect("a job of a transfer");
                if transfer.of_descriptor {
                    (transfer.of_descriptor, transfer.asks) = (false, now);
                } else {
                    let mut posted = transfer.posted;
                    posted.host.bus = (now - transfer.handed_over) as u32;
                    host.transfer = None;
                    joined.push((node, posted));
                }
            }
            None => {}
        }
    }

    /// The firmware hands a message over to the DMA engine, if both can; whether they did.
    fn hand_over(&mut self, node: usize, now: u64) -> bool {
        let host = &mut self.hosts[node];
        if host.transfer.is_some() || host.firmware.ends > now {
            return false;
        }
        let Some(mut posted) = host.in_firmware.take() else { return false };
        posted.host.doorbell = (now - posted.message.offer.arrival.cycle) as u32;
        host.transfer = Some(Transfer { posted, handed_over: now, asks: now, of_descriptor: true });
        true
    }

    /// H2, H3: idle firmware takes the first doorbell whose message has room; whether it did.
    fn take_doorbell(&mut self, node: usize, now: u64) -> bool {
        let look_ahead = if self.interface.is_qos { LOOK_AHEAD } else { 1 };
        let (buffer_flits, is_qos) = (self.buffer_flits, self.interface.is_qos);
        let Host { doorbells, reserved, in_firmware, firmware, .. } = &mut self.hosts[node];
        if in_firmware.is_some() {
            return false;
        }
        let part = |posted: &Posted| if is_qos { posted.channel } else { 0 };
        let has_room = |posted: &Posted| reserved[part(posted)] + posted.message.offer.flits <= buffer_flits;
        let found = doorbells.iter().enumerate().find_map(|(queue, doorbells)| {
            Some((queue, doorbells.iter().take(look_ahead).position(has_room)?))
        });
        let Some(posted) = found.and_then(|(queue, at)| doorbells[queue].remove(at)) else { return false };
        reserved[part(&posted)] += posted.message.offer.flits;
        *in_firmware = Some(posted);
        firmware.begin(now, self.interface.firmware);
        self.has_turn(node, now + self.interface.firmware);
        true
    }

    /// H4: an idle bus takes the next job. One that takes no time is over at once.
    fn bus_begins(&mut self, node: usize, now: u64) {
        let interface = self.interface;
        while self.hosts[node].job.is_none() {
            let queue_of_transfer = |transfer: &Transfer| self.queue(transfer.posted.level);
            let host = &self.hosts[node];
            // the highest level, then the oldest, then those received
            let sends = host.transfer.as_ref().map(|one| (queue_of_transfer(one), one.asks, true));
            let receives = host.received.iter().enumerate().filter_map(|(queue, received)| {
                received.front().map(|one| (queue, one.asks, false)).filter(|(_, asks, _)| *asks <= now)
            });
            let Some((queue, _, is_sent)) = sends.into_iter().chain(receives).min() else { return };
            let host = &mut self.hosts[node];
            let cycles = if is_sent {
                let transfer = host.transfer.as_mut().expect("it asks");
                let cycles = match transfer.of_descriptor {
                    true => interface.descriptor,
                    false => interface.message(transfer.posted.message.offer.flits),
                };
                if cycles == 0 {
                    (transfer.of_descriptor, transfer.asks) = (false, now);
                    continue;
                }
                host.job = Some(BusJob::Send);
                cycles
            } else {
                let received = host.received[queue].pop_front().expect("it asks");
                let cycles = interface.message(received.flits);
                host.job = Some(BusJob::Receive(received));
                cycles
            };
            host.bus.begin(now, cycles);
            self.has_turn(node, now + cycles);
        }
    }
}
