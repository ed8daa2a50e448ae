//! Packet switches as their rules read, P1 to P21 of [the notes](crate::notes): queues of objects, every port looked at
//! in every tick.

mod arbiters;
mod check;
mod lines;
mod queues;

use std::collections::VecDeque;

use crate::Arrival;
use crate::packet::record::{Record, Side};
use crate::packet::wiring::{OPEN, Wiring};
use crate::packet::{Bin, Counts, Delivery, Fabric, Load, StageLoad, TrafficCounts};
use crate::traffic::Traffic;
use lines::{Control, Line};
use queues::{credits, egress_queues, ingress_queues, set_aside_queues};

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
    /// Output of a switch: packets settled for it whose credits have not come back (P20).
    backlog: usize,
    /// Crossing to the egress memory: tick, queue, input.
    joining: VecDeque<(u64, usize, Option<usize>, Packet)>,
}

/// P5: packets of a message that wait at its host.
#[derive(Clone, Debug)]
struct PendingMessage {
    traffic: u16,
    generated: u64,
    packets: u32,
    left: u32,
    way: u32,
}

#[derive(Clone, Debug, Default)]
struct Host {
    /// By destination.
    admittance: Vec<VecDeque<PendingMessage>>,
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
    traffic: Traffic,
    record: Record,
    now: u64,
}

fn due<T>(queue: &mut VecDeque<T>, now: u64, tick: impl Fn(&T) -> u64) -> Option<T> {
    if queue.front().is_some_and(|front| tick(front) <= now) { queue.pop_front() } else { None }
}

impl Plain {
    /// An empty network.
    pub fn new(fabric: &Fabric, load: &Load) -> Self {
        let wiring = fabric.wiring();
        let ports: Vec<Port> = (0..wiring.peers.len()).map(|port| Port::new(fabric, &wiring, port)).collect();
        let admittance = vec![VecDeque::new(); wiring.hosts];
        let host = Host { admittance, sequence: vec![0; wiring.hosts], ..Host::default() };
        Self {
            hosts: vec![host; wiring.hosts],
            first: vec![0; wiring.switches],
            traffic: Traffic::of_packets(&*fabric.network, load),
            record: Record::new(&wiring, load.number_of_traffics(), load.bin),
            fabric: fabric.clone(),
            wiring,
            ports,
            now: 0,
        }
    }

    /// P2: simulates all ticks before `end`; packets that are through are added to `delivered`.
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

    /// Counts so far by traffic.
    pub fn traffics(&self) -> &[TrafficCounts] {
        &self.record.traffics
    }

    fn is_host(&self, port: usize) -> bool {
        port >= self.wiring.switch_ports()
    }

    fn held(&mut self, port: usize, side: Side, more: i32) {
        let group = self.wiring.group(port);
        let held = &mut self.record.queued[group][side as usize];
        *held = held.wrapping_add_signed(more);
    }

    /// P2, phase 1: what ends or comes.
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
        // P10
        let (is_adaptive, hosts) = (self.wiring.is_adaptive(), self.wiring.switch_ports());
        for (at, port) in self.ports.iter_mut().enumerate() {
            while let Some((_, queues)) = due(&mut port.arriving_credits, now, |entry| entry.0) {
                // P20
                port.backlog -= if is_adaptive && at < hosts { queues.len() } else { 0 };
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

    /// P19: the packet at the head of an ingress queue is settled for an output, where switches choose.
    fn choose_output(&mut self, port: usize, queue: usize) {
        if !self.wiring.is_adaptive() {
            return;
        }
        let numbers = self.wiring.numbers;
        let (switch, base) = (numbers.switch(port), numbers.base(port));
        let Some(Item::Packet(packet)) = self.ports[port].ingress.queues[queue].front() else { return };
        let Delivery { source, destination, .. } = packet.delivery;
        let output = match self.wiring.candidates(switch, source, destination) {
            Some(candidates) => {
                let outputs = candidates.in_turn().map(|output| output as usize);
                outputs.min_by_key(|output| self.ports[base + output].backlog).unwrap_or_default()
            }
            None => packet.turns[0],
        };
        self.ports[base + output].backlog += 1;
        if let Some(Item::Packet(packet)) = self.ports[port].ingress.queues[queue].front_mut() {
            packet.turns[0] = output;
        }
    }

    /// P3: the link is free, and the place of the packet that it sent.
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

    /// P4: input and output are free, and the place of the packet at ingress.
    fn end_crossing(&mut self, port: usize) {
        let now = self.now;
        self.ports[port].taking = self.ports[port].taking.filter(|end| *end > now);
        if let Some((_, queue)) = self.ports[port].crossing.take_if(|(end, _)| *end <= now) {
            self.ports[port].to_return.push_back(queue);
            self.held(port, Side::Ingress, -1);
        }
    }

    /// P5: messages join the queues of their destinations, or are refused; then traffics are withdrawn.
    fn generate(&mut self) {
        while let Some(message) = self.traffic.next(self.now) {
            let Arrival { cycle, source, destination, class } = message.arrival;
            let packets = message.flits;
            self.record.generate(class.into(), packets);
            let queue = &mut self.hosts[source as usize].admittance[destination as usize];
            let waiting: u32 = queue.iter().map(|waiting| waiting.left).sum();
            if self.fabric.admittance_packets.is_some_and(|most| waiting + packets > most) {
                self.record.refuse(class.into(), packets);
                continue;
            }
            queue.push_back(PendingMessage {
                traffic: class.into(),
                generated: cycle,
                packets,
                left: packets,
                way: message.way,
            });
        }
        while let Some(traffic) = self.traffic.next_withdrawal(self.now) {
            for queue in self.hosts.iter_mut().flat_map(|host| &mut host.admittance) {
                let goes = |waiting: &PendingMessage| {
                    usize::from(waiting.traffic) == traffic && waiting.left == waiting.packets
                };
                let gone: u32 = queue.iter().filter(|one| goes(one)).map(|waiting| waiting.left).sum();
                self.record.withdraw(traffic, gone.into());
                queue.retain(|waiting| !goes(waiting));
            }
        }
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
        let lines = set_aside_queues(fabric);
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
            ingress: memory(ingress_queues(fabric), fabric.port_packets),
            egress: memory(egress_queues(fabric), egress_packets),
            credits: credits(fabric, peer.is_some_and(is_host)),
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
            backlog: 0,
            joining: VecDeque::new(),
        }
    }
}
