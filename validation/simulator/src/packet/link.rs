//! Links: each sends control packets, credits and data packets one after another (P8, phase 4), and is free when their
//! tails have left (P3).

use std::collections::VecDeque;

use flitwise_language::network::LinkTime;
use flitwise_language::scenario::Timing;

use super::Fabric;
use super::memory::NONE;
use super::queueing::Queueing;
use super::record::Side;
use super::sets::bits_round;
use super::switch::PacketSwitch;
use super::wiring::{OPEN, Wiring};

/// A port with its link; also those of hosts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Port {
    peer: u32,
    /// The egress queue whose place is free at the end of the packet on the link.
    leaving: u32,
    /// The ingress queue whose place is free at the end of the crossing.
    pub(super) crossing: u32,
    /// Credits that wait to be sent.
    to_return: u32,
    /// Queue after the one served last: ingress, egress.
    pub(super) pointers: [u32; 2],
    /// Egress: places of a queue.
    pub(super) places: u32,
    /// Output: input after the one served last.
    pub(super) input_pointer: u8,
    /// Its stage; of hosts the one after the last.
    pub(super) group: u8,
    is_busy: bool,
    to_host: bool,
    /// The place of its link's times among all that there are.
    pub(super) kind: u8,
}

/// Durations on links of a kind \[ticks\].
#[derive(Clone, Copy, Debug)]
pub(super) struct LinkTicks {
    /// How often a packet counts in what links send.
    weight: u64,
    /// Of a packet, and of a control packet.
    packet: u64,
    control: u64,
    /// From sending to joining the ingress queue behind it, to a host that has all of it, and to the other end.
    arrival: u64,
    delivery: u64,
    flight: u64,
}

impl LinkTicks {
    pub(super) fn new(fabric: &Fabric, time: LinkTime) -> Self {
        let Timing { packet_link, control, flight, arrival, .. } = fabric.on(time);
        Self {
            weight: time.slowdown.into(),
            packet: packet_link,
            control,
            arrival: flight + arrival,
            delivery: flight + packet_link,
            flight,
        }
    }
}

impl Port {
    pub(super) fn new(
        fabric: &Fabric,
        (wiring, kinds): (&Wiring, &[LinkTime]),
        port: usize,
        egress_queues: usize,
    ) -> Self {
        let is_host = |port: usize| port >= wiring.switch_ports();
        let packets = if is_host(port) { fabric.injection_packets } else { fabric.port_packets };
        let peer = wiring.peers[port];
        Self {
            peer,
            places: packets / egress_queues as u32,
            group: wiring.group(port) as u8,
            to_host: peer != OPEN && is_host(peer as usize),
            kind: kinds.partition_point(|kind| *kind < wiring.times[port]) as u8,
            ..Self::default()
        }
    }
}

impl<Q: Queueing> PacketSwitch<Q> {
    /// Credits of the queues behind a link; towards a host there is one pool, unless every destination has a queue.
    pub(super) fn first_credits(fabric: &Fabric, to_host: bool, queues: usize) -> Vec<u32> {
        let mut credits = vec![fabric.port_packets / queues as u32; queues];
        if to_host && !Q::BY_DESTINATION {
            credits.fill(0);
            credits[0] = fabric.port_packets;
        }
        credits
    }

    /// P8: what a link that is free sends next.
    pub(super) fn send(&mut self, port: usize) {
        while !self.ports[port].is_busy {
            let waiting = self.ports[port].to_return;
            if let Some(control) = self.queueing.next_control(port) {
                let due = self.send_control(port);
                let Port { peer, kind, .. } = self.ports[port];
                self.events.controls.push_from(kind, due, (peer, control));
            } else if waiting >= self.fabric.credit_batch {
                self.send_credits(port);
            } else if let Some((queue, credit)) = self.next_to_send(port) {
                self.send_packet(port, queue, credit);
            } else if waiting > 0 {
                self.send_credits(port);
            } else {
                break;
            }
        }
    }

    /// When a control packet that is sent now comes in.
    fn send_control(&mut self, port: usize) -> u64 {
        let Port { kind, group, .. } = self.ports[port];
        let ticks = self.link_ticks[usize::from(kind)];
        self.record.counts.control_packets += 1;
        self.record.links[usize::from(group)].control += ticks.weight;
        let end = self.now + ticks.control;
        if ticks.control > 0 {
            self.ports[port].is_busy = true;
            self.events.control_ends.push_from(kind, end, port as u32);
        }
        end + ticks.flight
    }

    fn send_credits(&mut self, port: usize) {
        let due = self.send_control(port);
        let from = &mut self.ports[port];
        let number = from.to_return.min(self.fabric.credit_batch);
        from.to_return -= number;
        self.events.credits.push_from(from.kind, due, (from.peer, number));
    }

    /// The queue that the link takes next, and the queue behind it.
    #[inline]
    fn next_to_send(&self, port: usize) -> Option<(usize, usize)> {
        if self.queueing.ingress_queues() == 1 && self.credits[port] == 0 {
            return None;
        }
        let (sendable, credited) = (self.queues.sendable(port), self.queues.with_credit.of(port));
        let credited = |word: usize| if Q::BY_DESTINATION { credited[word] } else { u64::MAX };
        let pointer = self.ports[port].pointers[1] as usize;
        let queues = bits_round(sendable.len(), pointer, |word| sendable[word] & credited(word));
        self.queueing.choose(port, queues.filter_map(|queue| Some((queue, self.credit(port, queue)?))))
    }

    /// The queue behind the link that the head of a queue takes, if it has a place.
    #[inline]
    fn credit(&self, port: usize, queue: usize) -> Option<usize> {
        let queues = self.queueing.ingress_queues();
        let credits = &self.credits[port * queues..][..queues];
        let behind = if self.ports[port].to_host && !Q::BY_DESTINATION {
            0
        } else {
            let row = &self.packets.rows[self.queues.head(2 * port + 1, queue) as usize];
            self.queueing.ingress_queue(row, credits)
        };
        (credits[behind] > 0).then_some(behind)
    }

    fn send_packet(&mut self, port: usize, queue: usize, credit: usize) {
        let now = self.now;
        let packet = self.pop(2 * port + 1, queue);
        let credits = &mut self.credits[port * self.queueing.ingress_queues() + credit];
        *credits -= 1;
        if Q::BY_DESTINATION && *credits == 0 {
            self.queues.with_credit.put(port, credit, false);
        }
        let after = self.queues.after(queue);
        let from = &mut self.ports[port];
        (from.pointers[1], from.leaving, from.is_busy) = (after, Q::fixed(queue) as u32, true);
        let Port { peer, to_host, group, kind, .. } = *from;
        let ticks = self.link_ticks[usize::from(kind)];
        self.record.counts.hops += 1;
        self.record.links[usize::from(group)].data += ticks.weight;
        self.events.data_ends.push_from(kind, now + ticks.packet, port as u32);
        if to_host {
            self.events.deliveries.push_from(kind, now + ticks.delivery, (peer, packet));
            return;
        }
        self.packets.rows[packet as usize].queue = credit as u16;
        self.held(peer as usize, Side::Ingress, 1);
        self.events.arrivals.push_from(kind, now + ticks.arrival, (peer, packet));
    }

    /// P3: the tail of a packet has left, and its place at egress is free.
    pub(super) fn end_packet(&mut self, port: usize) {
        let queues = self.queueing.egress_queues();
        let from = &mut self.ports[port];
        from.is_busy = false;
        let place = from.leaving as usize;
        self.taken[port * queues + place] -= 1;
        if Q::BY_DESTINATION {
            self.queues.with_place.put(port, place, true);
        }
        self.held(port, Side::Egress, -1);
        self.changed_links.mark(port);
        if self.is_host(port) {
            self.changed_hosts.mark(self.wiring.host(port));
        } else if !self.queues.requests[port].is_empty() {
            self.changed_switches.mark(self.wiring.numbers.switch(port));
        }
    }

    /// P3: a control packet has left.
    pub(super) fn end_control(&mut self, port: usize) {
        self.ports[port].is_busy = false;
        self.changed_links.mark(port);
    }

    /// A place of an ingress queue is free again.
    pub(super) fn give_back(&mut self, port: usize, queue: u32) {
        self.ports[port].to_return += 1;
        if self.queueing.ingress_queues() > 1 {
            self.returned[port].push_back(queue as u16);
        }
        self.changed_links.mark(port);
    }

    /// Credits have come.
    pub(super) fn take_credits(&mut self, port: usize, number: u32) {
        self.leave_backlog(port, number);
        let queues = self.queueing.ingress_queues();
        let credits = &mut self.credits[port * queues..][..queues];
        if queues == 1 {
            credits[0] += number;
        } else {
            let returned = &mut self.returned[self.ports[port].peer as usize];
            for queue in returned.drain(..number as usize).map(usize::from) {
                credits[queue] += 1;
                if Q::BY_DESTINATION {
                    self.queues.with_credit.put(port, queue, true);
                }
            }
        }
        self.changed_links.mark(port);
    }
}

impl<Q: Queueing> PacketSwitch<Q> {
    /// Nothing is left anywhere.
    pub(super) fn nothing_is_left(&self) -> bool {
        let queues = self.queueing.ingress_queues();
        let credits = |port: usize| Self::first_credits(&self.fabric, self.ports[port].to_host, queues);
        let memories = 0..2 * self.ports.len();
        self.is_idle()
            && self.events.next() == u64::MAX
            && memories.flat_map(|memory| self.queues.heads(memory)).all(|head| *head == NONE)
            && self.queues.requests.iter().all(|requests| requests.is_empty())
            && self.queueing.is_drained()
            && self.taken.iter().chain(&self.backlogs).all(|packets| *packets == 0)
            && self.returned.iter().all(VecDeque::is_empty)
            && (0..self.ports.len()).all(|port| self.credits[port * queues..][..queues] == credits(port))
    }
}
