//! The packet switches as their rules read: queues of objects, every port looked at in every tick.
//!
//! It is slow, and there to be compared with.

mod lines;

use std::collections::VecDeque;

use super::record::{Bin, Counts, Delivery, Record, Side, StageLoad};
use super::sources::Sources;
use super::wiring::{OPEN, PORTS, TURN, Wiring, output};
use super::{Fabric, Load, Organisation};
use lines::{Control, Line};

#[derive(Clone, Debug)]
struct Packet {
    delivery: Delivery,
    sequence: u32,
    /// Output ports of the switches ahead.
    turns: Vec<usize>,
}

#[derive(Clone, Debug)]
enum Item {
    Packet(Packet),
    /// Opens the line when it comes to the head.
    Marker(usize),
}

/// An ingress or egress memory.
#[derive(Clone, Debug, Default)]
struct Memory {
    /// The fixed queues; with RECN the normal one, then those of the lines.
    queues: Vec<VecDeque<Item>>,
    /// By fixed queue: places taken (egress only).
    taken: Vec<u32>,
    places: u32,
    lines: Vec<Option<Line>>,
    /// Queue after the one served last.
    pointer: usize,
    /// Egress: inputs notified as a root.
    branches: Vec<usize>,
}

impl Memory {
    fn head(&self, queue: usize) -> Option<&Packet> {
        match self.queues[queue].front()? {
            Item::Packet(packet) => Some(packet),
            Item::Marker(_) => None,
        }
    }

    /// Packets of a queue.
    fn length(&self, queue: usize) -> u32 {
        self.queues[queue].iter().filter(|item| matches!(item, Item::Packet(_))).count() as u32
    }

    /// The line of a queue.
    fn line(&self, queue: usize) -> Option<&Line> {
        queue.checked_sub(1).and_then(|line| self.lines.get(line)?.as_ref())
    }

    /// Queues from the pointer on.
    fn turn(&self) -> impl Iterator<Item = usize> {
        let queues = self.queues.len();
        (0..queues).map(move |step| (self.pointer + step) % queues)
    }
}

/// A port with its link; also those of hosts.
#[derive(Clone, Debug)]
struct Port {
    peer: Option<usize>,
    ingress: Memory,
    egress: Memory,
    /// Of the memory behind the link: free places by queue.
    credits: Vec<u32>,
    /// Queues of the ingress memory whose places are free again, not yet told.
    to_return: VecDeque<usize>,
    controls: VecDeque<Control>,
    /// Until when the link is busy, and the egress queue whose place is free then.
    sending: Option<(u64, Option<usize>)>,
    /// Packets of the normal queue since the last one of a line.
    normal_sent: u32,
    /// Under way to this port, each with its tick.
    arriving: VecDeque<(u64, usize, Packet)>,
    arriving_controls: VecDeque<(u64, Control)>,
    arriving_credits: VecDeque<(u64, Vec<usize>)>,
    /// As crossbar input: until when it is busy, and the queue whose place is free then.
    crossing: Option<(u64, usize)>,
    /// As crossbar output: until when it is busy.
    taking: Option<u64>,
    /// As crossbar output: input after the one served last.
    pointer: usize,
    /// Crossing to the egress memory: tick, queue, input.
    joining: VecDeque<(u64, usize, Option<usize>, Packet)>,
}

/// Packets of a message that wait at its host.
#[derive(Clone, Debug)]
struct Waiting {
    traffic: u16,
    generated: u64,
    packets: u32,
    left: u32,
}

#[derive(Clone, Debug, Default)]
struct Host {
    /// By destination.
    admittance: Vec<VecDeque<Waiting>>,
    /// By destination: packets admitted.
    sequence: Vec<u32>,
    pointer: usize,
    /// Until when a packet moves into the injection port.
    moving: Option<u64>,
}

/// A network of packet switches, tick by tick.
pub struct Plain {
    fabric: Fabric,
    wiring: Wiring,
    ports: Vec<Port>,
    hosts: Vec<Host>,
    /// By switch: the output looked at first.
    first: Vec<usize>,
    sources: Sources,
    record: Record,
    now: u64,
}

fn due<T>(queue: &mut VecDeque<T>, now: u64, tick: impl Fn(&T) -> u64) -> Option<T> {
    if queue.front().is_some_and(|front| tick(front) <= now) { queue.pop_front() } else { None }
}

impl Plain {
    /// An empty network.
    pub fn new(fabric: &Fabric, load: &Load) -> Self {
        let wiring = Wiring::new(fabric.hosts, fabric.direction);
        let ports: Vec<Port> = (0..wiring.peers.len()).map(|port| Port::new(fabric, &wiring, port)).collect();
        let admittance = vec![VecDeque::new(); wiring.hosts];
        let host = Host { admittance, sequence: vec![0; wiring.hosts], ..Host::default() };
        let traffics =
            load.traffics.len().max(load.messages.iter().map(|m| m.traffic + 1).max().unwrap_or(0).into());
        Self {
            hosts: vec![host; wiring.hosts],
            first: vec![0; wiring.switches],
            sources: Sources::new(fabric.hosts, load),
            record: Record::new(wiring.hosts, wiring.stages, ports.len(), traffics, load.bin),
            fabric: *fabric,
            wiring,
            ports,
            now: 0,
        }
    }

    /// Simulates all ticks before `end`; packets that are through are added to `delivered`.
    pub fn run_until(&mut self, end: u64, delivered: &mut Vec<Delivery>) {
        while self.now < end {
            self.record.turn_bins(self.now);
            self.begin(delivered);
            self.admit();
            (0..self.wiring.switches).for_each(|switch| self.arbitrate(switch));
            (0..self.ports.len()).for_each(|port| self.send(port));
            self.check();
            self.now += 1;
        }
    }

    /// Counts so far.
    pub fn counts(&self) -> &Counts {
        &self.record.counts
    }

    /// The series so far; the last bin is open.
    pub fn bins(&self) -> &[Bin] {
        &self.record.bins
    }

    /// By stage, last for hosts: packets sent on links.
    pub fn links(&self) -> &[StageLoad] {
        &self.record.links
    }

    fn is_host(&self, port: usize) -> bool {
        port >= self.wiring.switch_ports()
    }

    fn group(&self, port: usize) -> usize {
        if self.is_host(port) { self.wiring.stages } else { self.wiring.stage(port) }
    }

    fn held(&mut self, port: usize, side: Side, more: i32) {
        let group = self.group(port);
        let held = &mut self.record.queued[group][side as usize];
        *held = held.wrapping_add_signed(more);
    }

    // ------------------------------------------------------------------------------------ phase 1

    fn begin(&mut self, delivered: &mut Vec<Delivery>) {
        let (now, ports) = (self.now, self.ports.len());
        (0..ports).for_each(|port| self.end_link(port));
        (0..ports).for_each(|port| self.end_crossing(port));
        for port in 0..ports {
            while let Some((_, control)) = due(&mut self.ports[port].arriving_controls, now, |entry| entry.0)
            {
                self.take_control(port, control);
            }
        }
        for port in &mut self.ports {
            while let Some((_, queues)) = due(&mut port.arriving_credits, now, |entry| entry.0) {
                queues.into_iter().for_each(|queue| port.credits[queue] += 1);
            }
        }
        for port in self.wiring.switch_ports()..ports {
            while let Some((_, queue, packet)) = due(&mut self.ports[port].arriving, now, |entry| entry.0) {
                self.ports[port].to_return.push_back(queue);
                let delivery = Delivery { delivered: now, ..packet.delivery };
                self.record.deliver(&delivery, packet.sequence);
                delivered.push(delivery);
            }
        }
        for port in 0..self.wiring.switch_ports() {
            while let Some((_, queue, packet)) = due(&mut self.ports[port].arriving, now, |entry| entry.0) {
                self.arrive(port, queue, packet);
            }
        }
        for port in 0..ports {
            while let Some((_, queue, input, packet)) =
                due(&mut self.ports[port].joining, now, |entry| entry.0)
            {
                self.join(port, queue, input, packet);
            }
        }
        self.generate();
        for host in &mut self.hosts {
            host.moving = host.moving.filter(|end| *end > now);
        }
        self.end_holds();
    }

    fn end_link(&mut self, port: usize) {
        let Some((end, place)) = self.ports[port].sending else { return };
        if end > self.now {
            return;
        }
        self.ports[port].sending = None;
        if let Some(queue) = place {
            self.ports[port].egress.taken[queue] -= 1;
            self.held(port, Side::Egress, -1);
        }
    }

    fn end_crossing(&mut self, port: usize) {
        let now = self.now;
        self.ports[port].taking = self.ports[port].taking.filter(|end| *end > now);
        if let Some((_, queue)) = self.ports[port].crossing.take_if(|(end, _)| *end <= now) {
            self.ports[port].to_return.push_back(queue);
            self.held(port, Side::Ingress, -1);
        }
    }

    fn generate(&mut self) {
        while let Some(message) = self.sources.next(self.now) {
            self.record.counts.generated += u64::from(message.packets);
            let queue = &mut self.hosts[message.source as usize].admittance[message.destination as usize];
            let waiting: u32 = queue.iter().map(|waiting| waiting.left).sum();
            if self.fabric.admittance_packets.is_some_and(|most| waiting + message.packets > most) {
                self.record.counts.refused += u64::from(message.packets);
                continue;
            }
            let (traffic, generated, packets) = (message.traffic, message.tick, message.packets);
            queue.push_back(Waiting { traffic, generated, packets, left: packets });
        }
        for traffic in self.sources.withdrawn(self.now) {
            for queue in self.hosts.iter_mut().flat_map(|host| &mut host.admittance) {
                let goes = |waiting: &Waiting| {
                    usize::from(waiting.traffic) == traffic && waiting.left == waiting.packets
                };
                let gone: u32 = queue.iter().filter(|one| goes(one)).map(|waiting| waiting.left).sum();
                self.record.counts.withdrawn += u64::from(gone);
                queue.retain(|waiting| !goes(waiting));
            }
        }
    }

    // ------------------------------------------------------------------------------------ phase 2

    fn admit(&mut self) {
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
                let turns = self.turns(host, destination);
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

    fn turns(&self, source: usize, destination: usize) -> Vec<usize> {
        let mut turns = self.wiring.turns(source, destination);
        std::iter::from_fn(|| {
            let port = output(turns)?;
            turns >>= TURN;
            Some(port)
        })
        .collect()
    }

    fn transfer(&mut self, host: usize, destination: usize, queue: usize, turns: Vec<usize>) {
        let (now, times, port) = (self.now, self.fabric.times, self.wiring.injection(host));
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

    /// The fixed egress queue that a packet would take, if it has room.
    fn egress_queue(&self, port: usize, turns: &[usize], destination: usize) -> Option<usize> {
        let egress = &self.ports[port].egress;
        let queue = match self.fabric.organisation {
            Organisation::OneQueue | Organisation::Recn(_) => 0,
            Organisation::VoqSwitch { single_output: true } => 0,
            Organisation::FourQueues => (0..4).min_by_key(|queue| egress.taken[*queue]).unwrap_or(0),
            Organisation::VoqSwitch { .. } => *turns.first().unwrap_or(&0),
            Organisation::VoqNetwork => destination,
        };
        (egress.taken[queue] < egress.places).then_some(queue)
    }

    /// A packet begins to cross into an egress memory.
    fn reserve(&mut self, port: usize, queue: usize, input: Option<usize>, packet: Packet) {
        self.ports[port].egress.taken[queue] += 1;
        let joins = self.now + self.fabric.times.flit_crossbar;
        self.ports[port].joining.push_back((joins, queue, input, packet));
        self.held(port, Side::Egress, 1);
    }

    // ------------------------------------------------------------------------------------ phase 3

    fn arbitrate(&mut self, switch: usize) {
        let (first, base) = (self.first[switch], switch * PORTS);
        let mut is_granted = false;
        let inputs = &self.ports[base..base + PORTS];
        if inputs.iter().all(|port| port.ingress.queues.iter().all(VecDeque::is_empty)) {
            return;
        }
        for output in (0..PORTS).map(|step| (first + step) % PORTS) {
            let pointer = self.ports[base + output].pointer;
            if self.ports[base + output].taking.is_some() {
                continue;
            }
            let requests = (0..PORTS)
                .map(|step| (pointer + step) % PORTS)
                .filter_map(|input| Some((input, self.request(base + input, output)?)));
            if let Some((input, (_, queue))) = requests.min_by_key(|(_, (level, _))| *level) {
                self.cross(base, input, output, queue);
                is_granted = true;
            }
        }
        self.first[switch] = (first + usize::from(is_granted)) % PORTS;
    }

    /// Level and queue with which an input asks for an output.
    fn request(&self, port: usize, output: usize) -> Option<(u8, usize)> {
        let (base, ingress) = (port / PORTS * PORTS, &self.ports[port].ingress);
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
        let (now, times) = (self.now, self.fabric.times);
        let from = &mut self.ports[base + input];
        let Some(Item::Packet(mut packet)) = from.ingress.queues[queue].pop_front() else { return };
        from.ingress.pointer = queue + 1;
        from.crossing =
            Some((now + times.packet_crossbar, if self.fabric.recn().is_some() { 0 } else { queue }));
        let destination = packet.delivery.destination as usize;
        let place = self.egress_queue(base + output, &packet.turns[1..], destination).unwrap_or(0);
        packet.turns.remove(0);
        self.ports[base + output].taking = Some(now + times.packet_crossbar);
        self.ports[base + output].pointer = input + 1;
        self.reserve(base + output, place, Some(input), packet);
        self.depart(base + input, Side::Ingress, queue);
    }

    // ------------------------------------------------------------------------------------ phase 4

    fn send(&mut self, port: usize) {
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

    /// When a control packet that is sent now comes in.
    fn send_control(&mut self, port: usize) -> u64 {
        let (times, group) = (self.fabric.times, self.group(port));
        self.record.counts.control_packets += 1;
        self.record.links[group].control += 1;
        let end = self.now + times.control_link;
        if times.control_link > 0 {
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

    /// The queue that the link takes next, and the queue behind it.
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
        let others = if self.fabric.recn().is_some_and(|recn| *normal_sent >= recn.normal_weight) {
            of_level(2).or(of_level(1))
        } else {
            of_level(1).or(of_level(2))
        };
        of_level(0).or(others).map(|(_, queue, credit)| (*queue, *credit))
    }

    /// The queue behind the link that a packet takes, if it has a place.
    fn credit(&self, port: usize, packet: &Packet) -> Option<usize> {
        let credits = &self.ports[port].credits;
        let queue = match self.fabric.organisation {
            Organisation::VoqNetwork => packet.delivery.destination as usize,
            _ if credits.len() == 1 => 0,
            Organisation::VoqSwitch { .. } => packet.turns[0],
            _ => (0..4).rev().max_by_key(|queue| credits[*queue]).unwrap_or(0),
        };
        (credits[queue] > 0).then_some(queue)
    }

    fn send_packet(&mut self, port: usize, queue: usize, credit: usize) {
        let (times, group) = (self.fabric.times, self.group(port));
        let from = &mut self.ports[port];
        let Some(Item::Packet(packet)) = from.egress.queues[queue].pop_front() else { return };
        from.egress.pointer = queue + 1;
        from.credits[credit] -= 1;
        let place = if self.fabric.recn().is_some() { 0 } else { queue };
        from.sending = Some((self.now + times.packet_link, Some(place)));
        from.normal_sent = if queue == 0 { from.normal_sent + 1 } else { 0 };
        self.record.counts.hops += 1;
        self.record.links[group].data += 1;
        let peer = self.ports[port].peer.unwrap_or(port);
        let delay = if self.is_host(peer) {
            times.packet_link + times.flight
        } else {
            self.held(peer, Side::Ingress, 1);
            self.fabric.arrival_delay()
        };
        self.ports[peer].arriving.push_back((self.now + delay, credit, packet));
        self.depart(port, Side::Egress, queue);
    }
}

impl Port {
    /// Packets in its queues, and under way to them.
    fn packets(&self) -> usize {
        let count = |memory: &Memory| {
            (0..memory.queues.len()).map(|queue| memory.length(queue) as usize).sum::<usize>()
        };
        count(&self.ingress) + count(&self.egress) + self.arriving.len() + self.joining.len()
    }

    fn new(fabric: &Fabric, wiring: &Wiring, port: usize) -> Self {
        let lines = fabric.recn().map_or(0, |recn| recn.set_aside_queues as usize);
        let memory = |queues: usize, packets: u32| Memory {
            queues: vec![VecDeque::new(); queues + lines],
            taken: vec![0; queues],
            places: packets / queues as u32,
            lines: vec![None; lines],
            ..Memory::default()
        };
        let is_host = |port: usize| port >= wiring.switch_ports();
        let peer = (wiring.peers[port] != OPEN).then_some(wiring.peers[port] as usize);
        let egress_packets = if is_host(port) { fabric.injection_packets } else { fabric.port_packets };
        Self {
            peer,
            ingress: memory(fabric.ingress_queues(), fabric.port_packets),
            egress: memory(fabric.egress_queues(), egress_packets),
            credits: fabric.credits(peer.is_some_and(is_host)),
            to_return: VecDeque::new(),
            controls: VecDeque::new(),
            sending: None,
            normal_sent: 0,
            arriving: VecDeque::new(),
            arriving_controls: VecDeque::new(),
            arriving_credits: VecDeque::new(),
            crossing: None,
            taking: None,
            pointer: 0,
            joining: VecDeque::new(),
        }
    }
}

impl Plain {
    /// Conservation: credits, packets and lines are where they have to be.
    fn check(&self) {
        // every tick in a small network, now and then in a large one: it looks at all queues
        let interval = 1 + (self.ports.len() * self.fabric.ingress_queues() / 64) as u64;
        if !cfg!(debug_assertions) || !self.now.is_multiple_of(interval) {
            return;
        }
        let counts = &self.record.counts;
        let waiting: u32 =
            self.hosts.iter().flat_map(|host| &host.admittance).flatten().map(|w| w.left).sum();
        let known = counts.admitted + counts.refused + counts.withdrawn + u64::from(waiting);
        assert_eq!(counts.generated, known, "tick {}", self.now);
        // a packet is counted where it stands or moves to
        let held: usize = self.ports.iter().map(Port::packets).sum();
        assert_eq!(counts.admitted - counts.delivered, held as u64, "tick {}", self.now);
        for (at, port) in self.ports.iter().enumerate() {
            self.check_credits(at, port);
            self.check_lines(at);
            assert!(port.egress.taken.iter().all(|taken| *taken <= port.egress.places));
        }
    }

    /// Credits, those on their way and packets make up the memory behind a link.
    fn check_credits(&self, at: usize, port: &Port) {
        let Some(peer) = port.peer else { return };
        let behind = &self.ports[peer];
        for (queue, all) in self.fabric.credits(self.is_host(peer)).into_iter().enumerate() {
            let is_pool = self.fabric.recn().is_some() || self.is_host(peer);
            let mut held = port.credits[queue]
                + behind.to_return.iter().filter(|one| **one == queue).count() as u32
                + behind.arriving.iter().filter(|(_, one, _)| *one == queue).count() as u32
                + u32::from(behind.crossing.is_some_and(|(_, one)| one == queue));
            held += port.arriving_credits.iter().flat_map(|(_, all)| all).filter(|one| **one == queue).count()
                as u32;
            held += if is_pool {
                (0..behind.ingress.queues.len()).map(|queue| behind.ingress.length(queue)).sum()
            } else {
                behind.ingress.length(queue)
            };
            assert_eq!(held, all, "port {at}, queue {queue}, tick {}", self.now);
        }
    }
}

#[cfg(test)]
impl Plain {
    /// Nothing is left anywhere.
    pub(super) fn is_drained(&self) -> bool {
        self.ports.iter().enumerate().all(|(at, port)| {
            let is_host = port.peer.is_some_and(|peer| self.is_host(peer));
            let memories = [&port.ingress, &port.egress];
            memories.iter().all(|memory| {
                memory.queues.iter().all(VecDeque::is_empty)
                    && memory.lines.iter().all(Option::is_none)
                    && memory.branches.is_empty()
            }) && port.egress.taken.iter().all(|taken| *taken == 0)
                && (port.peer.is_none() || port.credits == self.fabric.credits(is_host))
                && port.to_return.is_empty()
                && port.controls.is_empty()
                && (self.is_host(at) || port.arriving.is_empty())
                && port.arriving_controls.is_empty()
                && port.arriving_credits.is_empty()
        })
    }
}
