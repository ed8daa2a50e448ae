//! Network interfaces behind a host bus as their rules read: doorbells, firmware, bus and memory, one step per cycle.
//!
//! H1 to H8 of [the notes](crate::notes), rule by rule.

use std::collections::VecDeque;

use flitwise_language::scenario::HostInterface;

use crate::Offer;

use super::rules::{LEVELS, Rules};

/// H2: doorbells of a queue that the firmware looks at.
const LOOK_AHEAD: usize = 64;

/// The interface of a node.
pub(super) struct Host {
    interface: HostInterface,
    /// H1: one queue, or one for each level.
    doorbells: Vec<VecDeque<HostMessage>>,
    /// H3, by virtual channel or for all of them: flits without a reservation.
    free: Vec<u64>,
    /// H2: the message in the hands of the firmware, and the first cycle in which it can be handed over.
    firmware: Option<(HostMessage, u64)>,
    /// H4: the message of the DMA engine.
    dma: Option<Transfer>,
    /// H4: the job that has the bus, and the cycle in which it ends.
    bus: Option<(Job, u64)>,
    /// H6: messages that wait for the bus on their way to memory, as doorbells; each with the cycle of its request.
    received: Vec<VecDeque<(HostMessage, u64)>>,
    /// Cycles in which the firmware was busy, and in which the bus was.
    pub(super) firmware_cycles: u64,
    pub(super) bus_cycles: u64,
}

/// What an interface knows of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HostMessage {
    /// Messages generated before.
    pub(super) message: u64,
    class: usize,
    level: usize,
    /// Its virtual channel at the interface.
    channel: usize,
    flits: u32,
}

/// H4: a message that the DMA engine fetches.
#[derive(Clone, Copy, Debug)]
struct Transfer {
    message: HostMessage,
    /// Whether its descriptor has been read.
    is_known: bool,
    /// When its next job was asked for.
    requested: u64,
}

/// H4: a job of the bus.
#[derive(Clone, Copy, Debug)]
enum Job {
    Descriptor,
    Send,
    Receive(HostMessage),
}

/// What an interface has done in a cycle.
#[derive(Clone, Copy, Debug)]
pub(super) enum HostEvent {
    /// H2: the firmware hands a message over to the DMA engine.
    HandedOver(HostMessage),
    /// H4: a message joins the queue of the link.
    Joined(HostMessage),
    /// H6: a message is in memory.
    Received(HostMessage),
}

impl HostMessage {
    pub(super) fn new(message: u64, offer: &Offer, rules: &Rules) -> Self {
        let class = usize::from(offer.arrival.class);
        let (level, channel) = (rules.level[class], rules.group_at_source(offer));
        Self { message, class, level, channel, flits: offer.flits }
    }
}

impl Host {
    pub(super) fn new(interface: HostInterface, rules: &Rules) -> Self {
        let queues = if interface.is_qos { LEVELS } else { 1 };
        let (channels, buffer) = (rules.lanes() as u64, u64::from(interface.buffer_flits));
        let free = match interface.is_qos {
            true => vec![buffer; rules.lanes()],
            false => vec![channels * buffer],
        };
        Self {
            interface,
            doorbells: vec![VecDeque::new(); queues],
            free,
            firmware: None,
            dma: None,
            bus: None,
            received: vec![VecDeque::new(); queues],
            firmware_cycles: 0,
            bus_cycles: 0,
        }
    }

    fn queue(&self, level: usize) -> usize {
        if self.interface.is_qos { level } else { 0 }
    }

    /// H3: the buffer that a message takes.
    fn buffer(&self, message: HostMessage) -> usize {
        if self.interface.is_qos { message.channel } else { 0 }
    }

    /// H1: a message has been generated.
    pub(super) fn ring(&mut self, message: HostMessage) {
        let queue = self.queue(message.level);
        self.doorbells[queue].push_back(message);
    }

    /// H7: the messages of a class whose doorbells the firmware has not taken; they are no longer there.
    pub(super) fn withdraw(&mut self, class: usize) -> Vec<u64> {
        let mut taken_back = Vec::new();
        for queue in &mut self.doorbells {
            taken_back.extend(queue.iter().filter(|one| one.class == class).map(|one| one.message));
            queue.retain(|one| one.class != class);
        }
        taken_back
    }

    /// H3: the tail of a message has left over the wire.
    pub(super) fn free(&mut self, message: HostMessage) {
        let buffer = self.buffer(message);
        self.free[buffer] += u64::from(message.flits);
    }

    /// H6: the tail of a message has left over the ejection channel; the bus is asked for it from the next cycle on.
    pub(super) fn receive(&mut self, message: HostMessage, now: u64) {
        let queue = self.queue(message.level);
        self.received[queue].push_back((message, now + 1));
    }

    /// H8: one cycle.
    pub(super) fn step(&mut self, now: u64) -> Vec<HostEvent> {
        let mut events = Vec::new();
        events.extend(self.end_job(now));
        // what takes no time is over at once
        loop {
            let handed_over = self.hand_over(now);
            events.extend(handed_over);
            if !self.take_doorbell(now) && handed_over.is_none() {
                break;
            }
        }
        while self.take_bus(now) {
            events.extend(self.end_job(now));
        }
        self.firmware_cycles += u64::from(self.firmware.is_some_and(|(_, done)| now < done));
        self.bus_cycles += u64::from(self.bus.is_some());
        events
    }

    /// H4: a job of the bus ends.
    fn end_job(&mut self, now: u64) -> Option<HostEvent> {
        let (job, _) = self.bus.take_if(|(_, end)| *end == now)?;
        match job {
            Job::Descriptor => {
                let transfer = self.dma.as_mut().expect("a message whose descriptor is read");
                transfer.is_known = true;
                transfer.requested = now;
                None
            }
            Job::Send => self.dma.take().map(|transfer| HostEvent::Joined(transfer.message)),
            Job::Receive(message) => Some(HostEvent::Received(message)),
        }
    }

    /// H2: the firmware hands its message over as soon as it has worked on it and the DMA engine is idle.
    fn hand_over(&mut self, now: u64) -> Option<HostEvent> {
        if self.dma.is_some() {
            return None;
        }
        let (message, _) = self.firmware.take_if(|(_, done)| *done <= now)?;
        self.dma = Some(Transfer { message, is_known: false, requested: now });
        Some(HostEvent::HandedOver(message))
    }

    /// H2, H3: idle firmware takes the first doorbell for whose message there is room; whether it did.
    fn take_doorbell(&mut self, now: u64) -> bool {
        if self.firmware.is_some() {
            return false;
        }
        let look_ahead = if self.interface.is_qos { LOOK_AHEAD } else { 1 };
        let has_room = |message: &HostMessage| u64::from(message.flits) <= self.free[self.buffer(*message)];
        let first = |queue: usize| {
            let place = self.doorbells[queue].iter().take(look_ahead).position(has_room)?;
            Some((queue, place))
        };
        let Some((queue, place)) = (0..self.doorbells.len()).find_map(first) else { return false };
        let message = self.doorbells[queue].remove(place).expect("a doorbell");
        let buffer = self.buffer(message);
        self.free[buffer] -= u64::from(message.flits);
        self.firmware = Some((message, now + self.interface.firmware));
        true
    }

    /// H4: an idle bus takes its next job: the oldest, or that of the highest level; of equal ones the receiver's.
    /// Whether there was one.
    fn take_bus(&mut self, now: u64) -> bool {
        if self.bus.is_some() {
            return false;
        }
        let level = |message: HostMessage| self.queue(message.level);
        let sends = self.dma.map(|Transfer { message, requested, .. }| (level(message), requested, 1));
        let fronts = self.received.iter().filter_map(|queue| queue.front());
        let receives = fronts.map(|(message, requested)| (level(*message), *requested, 0));
        let Some((level, _, is_sender)) = sends.into_iter().chain(receives).min() else { return false };
        let (job, cycles) = if is_sender == 1 {
            let Transfer { message, is_known, .. } = self.dma.expect("a message to fetch");
            match is_known {
                false => (Job::Descriptor, self.interface.descriptor),
                true => (Job::Send, self.interface.message(message.flits)),
            }
        } else {
            let (message, _) = self.received[level].pop_front().expect("a message received");
            (Job::Receive(message), self.interface.message(message.flits))
        };
        self.bus = Some((job, now + cycles));
        true
    }

    /// H3: whether nothing waits, and every reservation has been given back.
    pub(super) fn is_empty(&self, rules: &Rules) -> bool {
        let (channels, buffer) = (rules.lanes() as u64, u64::from(self.interface.buffer_flits));
        self.doorbells.iter().all(VecDeque::is_empty)
            && self.received.iter().all(VecDeque::is_empty)
            && self.firmware.is_none()
            && self.dma.is_none()
            && self.bus.is_none()
            && self.free.iter().sum::<u64>() == channels * buffer
    }
}
