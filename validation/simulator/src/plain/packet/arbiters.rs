//! Who goes next: admittance, crossbars and links (P6 to P8), in the phases after what ends or comes.

use std::collections::VecDeque;

use super::{Item, Packet, Plain, Port};
use crate::packet::Delivery;
use crate::packet::record::Side;

impl Plain {
    /// P6, phase 2: hosts begin transfers.
    pub(super) fn admit(&mut self) {
        for host in 0..self.hosts.len() {
            if self.hosts[host].moving.is_some() {
                continue;
            }
            let (port, hosts) = (self.wiring.injection(host), self.hosts.len());
            for step in 0..hosts {
                let destination = (self.hosts[host].pointer + step) % hosts;
                if self.hosts[host].admittance[destination].is_empty() {
                    continue;
                }
                let turns = self.turns(host, destination, self.hosts[host].admittance[destination][0].way);
                let is_stopped = self.ports[port]
                    .egress
                    .line(self.ports[port].egress.matching(&turns))
                    .is_some_and(|line| line.xoff);
                if let Some(queue) = self.egress_queue(port, &turns, destination).filter(|_| !is_stopped) {
                    self.transfer(host, destination, queue, turns);
                    break;
                }
            }
        }
    }

    /// P1: the output ports of the switches on the way.
    fn turns(&self, source: usize, destination: usize, way: u32) -> Vec<usize> {
        let (numbers, mut turns) = (self.wiring.numbers, self.wiring.turns(source, destination, way));
        std::iter::from_fn(|| {
            let port = numbers.output(turns)?;
            turns = numbers.ahead(turns);
            Some(port)
        })
        .collect()
    }

    fn transfer(&mut self, host: usize, destination: usize, queue: usize, turns: Vec<usize>) {
        let (now, times, port) = (self.now, self.fabric.timing, self.wiring.injection(host));
        let from = &mut self.hosts[host];
        let waiting = &mut from.admittance[destination][0];
        let delivery = Delivery {
            delivered: 0,
            destination: destination as u32,
            source: host as u32,
            traffic: waiting.traffic,
            generated: waiting.generated,
            admitted: now,
        };
        let packet = Packet { delivery, sequence: from.sequence[destination], turns };
        from.sequence[destination] += 1;
        waiting.left -= 1;
        if waiting.left == 0 {
            from.admittance[destination].pop_front();
        }
        from.pointer = destination + 1;
        from.moving = Some(now + times.packet_crossbar);
        self.record.counts.admitted += 1;
        self.reserve(port, queue, None, packet);
    }

    /// P4: a packet begins to cross into an egress memory.
    fn reserve(&mut self, port: usize, queue: usize, input: Option<usize>, packet: Packet) {
        self.ports[port].egress.taken[queue] += 1;
        let joins = self.now + self.fabric.timing.flit_crossbar;
        self.ports[port].joining.push_back((joins, queue, input, packet));
        self.held(port, Side::Egress, 1);
    }

    /// P7, phase 3: outputs take requests.
    pub(super) fn arbitrate(&mut self, switch: usize) {
        let (numbers, first) = (self.wiring.numbers, self.first[switch]);
        let (base, ports) = (numbers.first(switch), numbers.ports);
        let mut is_granted = false;
        let inputs = &self.ports[base..base + ports];
        if inputs.iter().all(|port| port.ingress.queues.iter().all(VecDeque::is_empty)) {
            return;
        }
        for output in (0..ports).map(|step| (first + step) % ports) {
            let pointer = self.ports[base + output].pointer;
            if self.ports[base + output].taking.is_some() {
                continue;
            }
            let requests = (0..ports)
                .map(|step| (pointer + step) % ports)
                .filter_map(|input| Some((input, self.request(base + input, output)?)));
            if let Some((input, (_, queue))) = requests.min_by_key(|(_, (level, _))| *level) {
                self.cross(base, input, output, queue);
                is_granted = true;
            }
        }
        self.first[switch] = (first + usize::from(is_granted)) % ports;
    }

    /// P7: level and queue with which an input asks for an output.
    fn request(&self, port: usize, output: usize) -> Option<(u8, usize)> {
        let (base, ingress) = (self.wiring.numbers.base(port), &self.ports[port].ingress);
        if self.ports[port].crossing.is_some() {
            return None;
        }
        let eligible = ingress.turn().filter(|queue| {
            let Some(packet) = ingress.head(*queue).filter(|packet| packet.turns[0] == output) else {
                return false;
            };
            let destination = packet.delivery.destination as usize;
            let has_room = self.egress_queue(base + output, &packet.turns[1..], destination).is_some();
            has_room
                && ingress.line(*queue).is_none_or(|line| !line.blocked && !self.is_held_back(port, line))
        });
        eligible.map(|queue| (self.level(ingress, queue), queue)).min_by_key(|(level, _)| *level)
    }

    fn cross(&mut self, base: usize, input: usize, output: usize, queue: usize) {
        let (now, times) = (self.now, self.fabric.timing);
        let place = if self.is_recn() { 0 } else { queue };
        let from = &mut self.ports[base + input];
        let Some(Item::Packet(mut packet)) = from.ingress.queues[queue].pop_front() else { return };
        from.ingress.pointer = queue + 1;
        from.crossing = Some((now + times.packet_crossbar, place));
        let destination = packet.delivery.destination as usize;
        let place = self.egress_queue(base + output, &packet.turns[1..], destination).unwrap_or(0);
        packet.turns.remove(0);
        self.ports[base + output].taking = Some(now + times.packet_crossbar);
        self.ports[base + output].pointer = input + 1;
        self.reserve(base + output, place, Some(input), packet);
        self.choose_output(base + input, queue);
        self.depart(base + input, Side::Ingress, queue);
    }

    /// P8, phase 4: what an idle link sends.
    pub(super) fn send(&mut self, port: usize) {
        let batch = self.fabric.credit_batch as usize;
        while self.ports[port].sending.is_none() {
            if let Some(control) = self.ports[port].controls.pop_front() {
                let due = self.send_control(port);
                self.peer(port).arriving_controls.push_back((due, control));
            } else if self.ports[port].to_return.len() >= batch {
                self.send_credits(port);
            } else if let Some((queue, credit)) = self.next_to_send(port) {
                self.send_packet(port, queue, credit);
            } else if !self.ports[port].to_return.is_empty() {
                self.send_credits(port);
            } else {
                break;
            }
        }
    }

    fn peer(&mut self, port: usize) -> &mut Port {
        let peer = self.ports[port].peer.unwrap_or(port);
        &mut self.ports[peer]
    }

    /// P10: when a control packet that is sent now comes in.
    fn send_control(&mut self, port: usize) -> u64 {
        let (times, group) = (self.fabric.on(self.wiring.times[port]), self.wiring.group(port));
        self.record.counts.control_packets += 1;
        self.record.links[group].control += u64::from(self.wiring.times[port].slowdown);
        let end = self.now + times.control;
        if times.control > 0 {
            self.ports[port].sending = Some((end, None));
        }
        end + times.flight
    }

    fn send_credits(&mut self, port: usize) {
        let due = self.send_control(port);
        let returned = &mut self.ports[port].to_return;
        let queues = returned.drain(..returned.len().min(self.fabric.credit_batch as usize)).collect();
        self.peer(port).arriving_credits.push_back((due, queues));
    }

    /// P8: the queue that the link takes next, and the queue behind it.
    fn next_to_send(&self, port: usize) -> Option<(usize, usize)> {
        let Port { egress, normal_sent, .. } = &self.ports[port];
        let eligible: Vec<(u8, usize, usize)> = egress
            .turn()
            .filter(|queue| egress.line(*queue).is_none_or(|line| !line.blocked && !line.stopped))
            .filter_map(|queue| {
                let credit = self.credit(port, egress.head(queue)?)?;
                Some((self.level(egress, queue), queue, credit))
            })
            .collect();
        let of_level = |wanted| eligible.iter().find(move |(level, ..)| *level == wanted);
        let others = if self.is_recn() && *normal_sent >= self.fabric.recn.normal_weight {
            of_level(2).or(of_level(1))
        } else {
            of_level(1).or(of_level(2))
        };
        of_level(0).or(others).map(|(_, queue, credit)| (*queue, *credit))
    }

    /// P3: a packet is sent.
    fn send_packet(&mut self, port: usize, queue: usize, credit: usize) {
        let (times, group) = (self.fabric.on(self.wiring.times[port]), self.wiring.group(port));
        let place = if self.is_recn() { 0 } else { queue };
        let from = &mut self.ports[port];
        let Some(Item::Packet(packet)) = from.egress.queues[queue].pop_front() else { return };
        from.egress.pointer = queue + 1;
        from.credits[credit] -= 1;
        from.sending = Some((self.now + times.packet_link, Some(place)));
        from.normal_sent = if queue == 0 { from.normal_sent + 1 } else { 0 };
        self.record.counts.hops += 1;
        self.record.links[group].data += u64::from(self.wiring.times[port].slowdown);
        let peer = self.ports[port].peer.unwrap_or(port);
        let delay = if self.is_host(peer) {
            times.packet_link + times.flight
        } else {
            self.held(peer, Side::Ingress, 1);
            times.flight + times.arrival
        };
        let due = self.now + delay;
        self.ports[peer].arriving.push_back((due, credit, packet));
        self.depart(port, Side::Egress, queue);
    }
}
