//! The fast simulator of packet switches.
//!
//! Every kind of event has one delay, so its events stand in a list in the order of their ticks. Only switches, links
//! and hosts of which something has changed are looked at; ticks in which nothing can move are passed over. Packets are
//! rows of compact columns, queues chains of rows.

use std::collections::VecDeque;

use super::lines::{Control, Line};
use super::record::{Bin, Column, Counts, Delivery, Record, Side, StageLoad};
use super::sources::Sources;
use super::wiring::{OPEN, PORTS, TURN, Wiring};
use super::{Fabric, Load, Organisation};

/// No packet, no queue.
pub(super) const NONE: u32 = u32::MAX;
/// Of [`Queues::asked`]: nothing.
const NOTHING: u8 = u8::MAX;
/// Of [`Row::turns`]: a marker of the line in the lowest bits.
pub(super) const MARKER: u64 = 1 << 63;

/// A packet in a queue, or a marker.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Row {
    /// Turns ahead.
    pub(super) turns: u64,
    /// The packet behind it.
    next: u32,
    /// The fixed queue that it takes, where no turn tells it.
    queue: u16,
}

/// What a packet's delivery needs.
#[derive(Clone, Copy, Debug, Default)]
struct Label {
    generated: u64,
    waiting: u32,
    sequence: u32,
    source: u16,
    destination: u16,
    traffic: u16,
}

/// Events of one kind, by tick.
#[derive(Clone, Debug)]
struct Due<T>(VecDeque<(u64, T)>);

impl<T> Due<T> {
    #[inline]
    fn push(&mut self, tick: u64, event: T) {
        self.0.push_back((tick, event));
    }

    #[inline]
    fn pop(&mut self, now: u64) -> Option<T> {
        if self.next() <= now { self.0.pop_front().map(|(_, event)| event) } else { None }
    }

    #[inline]
    fn next(&self) -> u64 {
        self.0.front().map_or(u64::MAX, |(tick, _)| *tick)
    }
}

impl<T> Default for Due<T> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

/// What ends or comes in later ticks.
#[derive(Clone, Debug, Default)]
struct Events {
    data_ends: Due<u32>,
    control_ends: Due<u32>,
    /// Input and output port.
    crossing_ends: Due<(u32, u32)>,
    controls: Due<(u32, Control)>,
    /// Port and number.
    credits: Due<(u32, u32)>,
    /// Port and packet.
    deliveries: Due<(u32, u32)>,
    arrivals: Due<(u32, u32)>,
    /// Port, packet, input (of a switch).
    joins: Due<(u32, u32, u8)>,
    transfer_ends: Due<u32>,
    /// Memory and line.
    holds: Due<(u32, u8)>,
}

impl Events {
    fn next(&self) -> u64 {
        let links = self.data_ends.next().min(self.control_ends.next()).min(self.credits.next());
        let packets = self.arrivals.next().min(self.joins.next()).min(self.deliveries.next());
        let crossings = self.crossing_ends.next().min(self.transfer_ends.next());
        links.min(packets).min(crossings).min(self.controls.next()).min(self.holds.next())
    }
}

/// A set of whole numbers, of which something has changed.
#[derive(Clone, Debug)]
struct Changed(Vec<u64>);

impl Changed {
    fn new(most: usize) -> Self {
        Self(vec![0; most.div_ceil(64)])
    }

    #[inline]
    fn mark(&mut self, index: usize) {
        self.0[index / 64] |= 1 << (index % 64);
    }

    fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }
}

/// All bits set in so many words, from `from` on and round.
#[inline]
fn bits_round(words: usize, from: usize, word_at: impl Fn(usize) -> u64) -> impl Iterator<Item = usize> {
    let (mut index, ahead) = (from / 64, u64::MAX << (from % 64));
    // the first word is looked at twice: ahead of `from`, and behind it at the end
    let (mut word, mut left) = (word_at(index) & ahead, words);
    std::iter::from_fn(move || {
        while word == 0 {
            left = left.checked_sub(1)?;
            index = if index + 1 == words { 0 } else { index + 1 };
            word = word_at(index) & if left == 0 { !ahead } else { u64::MAX };
        }
        let bit = word.trailing_zeros() as usize;
        word &= word - 1;
        Some(64 * index + bit)
    })
}

/// Bits of a set of queues, a row of words for every port.
#[derive(Clone, Debug)]
struct QueueSets {
    sets: Vec<u64>,
    words: usize,
}

impl QueueSets {
    /// Sets that hold all queues, or none of them.
    fn new(ports: usize, words: usize, full: bool) -> Self {
        Self { sets: vec![if full { u64::MAX } else { 0 }; ports * words], words }
    }

    #[inline]
    fn of(&self, port: usize) -> &[u64] {
        &self.sets[port * self.words..(port + 1) * self.words]
    }

    #[inline]
    fn put(&mut self, port: usize, queue: usize, is_in: bool) {
        let word = &mut self.sets[port * self.words + queue / 64];
        *word = *word & !(1 << (queue % 64)) | u64::from(is_in) << (queue % 64);
    }
}

/// Chains of packets: memory `2 port` is the ingress, `2 port + 1` the egress of a port.
#[derive(Clone, Debug)]
pub(super) struct Queues {
    heads: Vec<u32>,
    tails: Vec<u32>,
    /// RECN: packets of a queue.
    lengths: Vec<u32>,
    /// By queue: the output that its head may ask for (egress: 0), or nothing.
    asked: Vec<u8>,
    /// Queues of a memory.
    pub(super) stride: usize,
    /// Words of a set of queues.
    words: usize,
    /// By input port and output: queues that ask.
    asking: Vec<u64>,
    /// By port: egress queues that may send.
    sendable: Vec<u64>,
    /// By output port: inputs with a queue that asks.
    requests: Vec<u8>,
    /// By port, of a queue per destination: egress queues with a place, and those whose queue behind the link has one.
    with_place: QueueSets,
    with_credit: QueueSets,
}

/// A port with its link; also those of hosts.
#[derive(Clone, Copy, Debug, Default)]
struct Port {
    peer: u32,
    /// The egress queue whose place is free at the end of the packet on the link.
    leaving: u32,
    /// The ingress queue whose place is free at the end of the crossing.
    crossing: u32,
    /// Credits that wait to be sent.
    to_return: u32,
    /// Packets of the normal queue since the last one of a line.
    normal_sent: u32,
    /// Queue after the one served last: ingress, egress.
    pointers: [u32; 2],
    /// Egress: places of a queue.
    places: u32,
    /// Output: input after the one served last.
    input_pointer: u8,
    group: u8,
    is_busy: bool,
    to_host: bool,
}

/// Packets of a message that wait at its host.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    generated: u64,
    packets: u32,
    left: u32,
    traffic: u16,
}

#[derive(Clone, Debug)]
struct Host {
    /// By destination.
    admittance: Vec<VecDeque<Waiting>>,
    waiting: Vec<u32>,
    sequence: Vec<u32>,
    /// Destinations with packets.
    asking: Vec<u64>,
    pointer: usize,
    is_moving: bool,
}

/// A network of packet switches.
pub struct Simulator {
    pub(super) fabric: Fabric,
    pub(super) wiring: Wiring,
    /// By source and destination.
    turns: Vec<u64>,
    pub(super) rows: Vec<Row>,
    labels: Vec<Label>,
    free: Vec<u32>,
    pub(super) queues: Queues,
    ports: Vec<Port>,
    /// By port and queue behind its link.
    credits: Vec<u32>,
    ingress_queues: usize,
    /// By port and fixed egress queue: places taken.
    taken: Vec<u32>,
    egress_queues: usize,
    /// Whether there is a queue per destination.
    by_destination: bool,
    /// By ingress port: queues of credits under way and waiting, where there are several.
    returned: Vec<VecDeque<u16>>,
    pub(super) controls: Vec<VecDeque<Control>>,
    /// By memory and number.
    pub(super) lines: Vec<Line>,
    /// By memory: lines in use.
    pub(super) used: Vec<u64>,
    /// By egress port: inputs notified as a root.
    pub(super) branches: Vec<u8>,
    hosts: Vec<Host>,
    /// By switch: the output looked at first, busy inputs, busy outputs.
    switches: Vec<[u8; 3]>,
    events: Events,
    changed_switches: Changed,
    changed_links: Changed,
    changed_hosts: Changed,
    sources: Sources,
    pub(super) record: Record,
    pub(super) now: u64,
}

impl Queues {
    fn new(fabric: &Fabric, ports: usize) -> Self {
        let lines = fabric.recn().map_or(0, |recn| recn.set_aside_queues as usize);
        let stride = fabric.ingress_queues().max(fabric.egress_queues()) + lines;
        let words = stride.div_ceil(64);
        Self {
            heads: vec![NONE; 2 * ports * stride],
            tails: vec![NONE; 2 * ports * stride],
            lengths: if lines > 0 { vec![0; 2 * ports * stride] } else { Vec::new() },
            asked: vec![NOTHING; 2 * ports * stride],
            stride,
            words,
            asking: vec![0; ports * PORTS * words],
            sendable: vec![0; ports * words],
            requests: vec![0; ports],
            with_place: QueueSets::new(ports, words, true),
            with_credit: QueueSets::new(ports, words, true),
        }
    }

    #[inline]
    pub(super) fn head(&self, memory: usize, queue: usize) -> u32 {
        self.heads[memory * self.stride + queue]
    }

    #[inline]
    pub(super) fn length(&self, memory: usize, queue: usize) -> u32 {
        self.lengths[memory * self.stride + queue]
    }

    /// Queues of an input that ask for an output.
    #[inline]
    fn asking(&self, port: usize, output: usize) -> &[u64] {
        let start = (port * PORTS + output) * self.words;
        &self.asking[start..start + self.words]
    }

    #[inline]
    fn sendable(&self, port: usize) -> &[u64] {
        &self.sendable[port * self.words..(port + 1) * self.words]
    }

    /// A queue asks for another output, or for none. Whether it asks anew.
    #[inline]
    fn ask(&mut self, memory: usize, queue: usize, wanted: u8) -> bool {
        let asked = &mut self.asked[memory * self.stride + queue];
        let before = std::mem::replace(asked, wanted);
        if before == wanted {
            return false;
        }
        let (port, is_egress, bit) = (memory / 2, memory % 2 == 1, 1u64 << (queue % 64));
        if is_egress {
            self.sendable[port * self.words + queue / 64] ^= bit;
            return wanted != NOTHING;
        }
        let (base, input) = (port / PORTS * PORTS, 1u8 << (port % PORTS));
        if before != NOTHING {
            self.asking[(port * PORTS + usize::from(before)) * self.words + queue / 64] &= !bit;
            if self.asking(port, usize::from(before)).iter().all(|word| *word == 0) {
                self.requests[base + usize::from(before)] &= !input;
            }
        }
        if wanted == NOTHING {
            return false;
        }
        self.asking[(port * PORTS + usize::from(wanted)) * self.words + queue / 64] |= bit;
        self.requests[base + usize::from(wanted)] |= input;
        true
    }
}

impl Simulator {
    /// An empty network.
    pub fn new(fabric: &Fabric, load: &Load) -> Self {
        let wiring = Wiring::new(fabric.hosts, fabric.direction);
        let (hosts, ports) = (wiring.hosts, wiring.peers.len());
        let lines = fabric.recn().map_or(0, |recn| recn.set_aside_queues as usize);
        let traffics =
            load.traffics.len().max(load.messages.iter().map(|m| m.traffic + 1).max().unwrap_or(0).into());
        let (ingress_queues, egress_queues) = (fabric.ingress_queues(), fabric.egress_queues());
        let is_host = |port: u32| port != OPEN && port as usize >= wiring.switch_ports();
        let credits = |peer: &u32| {
            let mut credits = fabric.credits(is_host(*peer));
            credits.resize(ingress_queues, 0);
            credits
        };
        let host = Host {
            admittance: vec![VecDeque::new(); hosts],
            waiting: vec![0; hosts],
            sequence: vec![0; hosts],
            asking: vec![0; hosts.div_ceil(64)],
            pointer: 0,
            is_moving: false,
        };
        let pairs = (0..hosts).flat_map(|from| (0..hosts).map(move |to| (from, to)));
        Self {
            turns: pairs.map(|(from, to)| if from == to { 0 } else { wiring.turns(from, to) }).collect(),
            rows: Vec::new(),
            labels: Vec::new(),
            free: Vec::new(),
            queues: Queues::new(fabric, ports),
            ports: (0..ports).map(|port| Port::new(fabric, &wiring, port)).collect(),
            credits: wiring.peers.iter().flat_map(credits).collect(),
            ingress_queues,
            taken: vec![0; ports * egress_queues],
            egress_queues,
            by_destination: fabric.organisation == Organisation::VoqNetwork,
            returned: vec![VecDeque::new(); ports],
            controls: vec![VecDeque::new(); ports],
            lines: vec![Line::default(); 2 * ports * lines],
            used: vec![0; 2 * ports],
            branches: vec![0; ports],
            hosts: vec![host; hosts],
            switches: vec![[0; 3]; wiring.switches],
            events: Events::default(),
            changed_switches: Changed::new(wiring.switches),
            changed_links: Changed::new(ports),
            changed_hosts: Changed::new(hosts),
            sources: Sources::new(fabric.hosts, load),
            record: Record::new(hosts, wiring.stages, ports, traffics, load.bin),
            fabric: *fabric,
            wiring,
            now: 0,
        }
    }

    /// Simulates all ticks before `end`; packets that are through are added to `delivered`.
    pub fn run_until(&mut self, end: u64, delivered: &mut Vec<Delivery>) {
        while self.now < end {
            if self.is_idle() {
                let next = self.events.next().min(self.sources.next_tick());
                self.now = next.min(self.sources.next_withdrawal(self.now)).clamp(self.now, end);
                if self.now == end {
                    break;
                }
            }
            if self.now >= self.record.bin_end {
                self.record.turn_bins(self.now);
            }
            self.begin(delivered);
            self.admit_all();
            self.arbitrate_all();
            self.send_all();
            self.now += 1;
        }
        self.record.turn_bins(end.saturating_sub(1));
    }

    /// The first tick that has not been simulated.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Counts so far.
    pub fn counts(&self) -> &Counts {
        &self.record.counts
    }

    /// The series so far; the last bin is open.
    pub fn bins(&self) -> &[Bin] {
        &self.record.bins
    }

    /// The series, the last bin closed.
    pub fn into_bins(mut self) -> Vec<Bin> {
        self.record.close_bin();
        self.record.bins
    }

    /// Packets in queues now, in columns from left to right: injection ports, then left and right ports of each stage.
    /// Those of a link go on in the next column.
    pub fn columns(&self) -> Vec<Column> {
        let (hosts, half) = (self.wiring.hosts, PORTS / 2);
        let line = |port: u32| {
            let port = port as usize;
            ((port / PORTS * half + port % half) % hosts) as u32
        };
        let column = |port: &dyn Fn(usize) -> usize, is_egress: bool, goes_on: bool| {
            let ports = (0..hosts).map(port);
            let packets = ports.clone().map(|port| self.held_in(2 * port + usize::from(is_egress))).collect();
            let next = ports.filter(|_| goes_on).map(|port| line(self.wiring.peers[port])).collect();
            Column { packets, next }
        };
        let mut columns = vec![column(&|host| self.wiring.injection(host), true, true)];
        for stage in 0..self.wiring.stages {
            let left = |line: usize| (stage * hosts / half + line / half) * PORTS + line % half;
            columns.push(column(&left, false, false));
            columns.push(column(&|line| left(line) + half, true, stage + 1 < self.wiring.stages));
        }
        columns
    }

    /// Packets in the queues of a memory.
    fn held_in(&self, memory: usize) -> u32 {
        let heads = &self.queues.heads[memory * self.queues.stride..(memory + 1) * self.queues.stride];
        let chain = |head: &u32| {
            let on = |at: &u32| Some(self.rows[*at as usize].next).filter(|next| *next != NONE);
            let packets = std::iter::successors(Some(*head).filter(|head| *head != NONE), on);
            packets.filter(|at| self.rows[*at as usize].turns & MARKER == 0).count() as u32
        };
        heads.iter().map(chain).sum()
    }

    /// By stage, last for hosts: packets sent on links.
    pub fn links(&self) -> &[StageLoad] {
        &self.record.links
    }

    /// Packets that wait at the hosts, not yet admitted.
    pub fn backlog(&self) -> u64 {
        let counts = &self.record.counts;
        counts.generated - counts.refused - counts.withdrawn - counts.admitted
    }

    fn is_idle(&self) -> bool {
        self.changed_links.is_empty() && self.changed_switches.is_empty() && self.changed_hosts.is_empty()
    }

    #[inline]
    pub(super) fn is_host(&self, port: usize) -> bool {
        port >= self.wiring.switch_ports()
    }

    #[inline]
    fn held(&mut self, port: usize, side: Side, more: i32) {
        let held = &mut self.record.queued[usize::from(self.ports[port].group)][side as usize];
        *held = held.wrapping_add_signed(more);
    }

    // ------------------------------------------------------------------------------------ phase 1

    fn begin(&mut self, delivered: &mut Vec<Delivery>) {
        let now = self.now;
        while let Some(port) = self.events.data_ends.pop(now) {
            self.end_packet(port as usize);
        }
        while let Some(port) = self.events.control_ends.pop(now) {
            self.ports[port as usize].is_busy = false;
            self.changed_links.mark(port as usize);
        }
        while let Some((input, output)) = self.events.crossing_ends.pop(now) {
            self.end_crossing(input as usize, output as usize);
        }
        let mut controls = Vec::new();
        controls.extend(std::iter::from_fn(|| self.events.controls.pop(now)));
        controls.sort_by_key(|(port, _)| *port);
        controls.into_iter().for_each(|(port, control)| self.take_control(port as usize, control));
        while let Some((port, number)) = self.events.credits.pop(now) {
            self.take_credits(port as usize, number);
        }
        while let Some((port, packet)) = self.events.deliveries.pop(now) {
            self.deliver(port as usize, packet, delivered);
        }
        while let Some((port, packet)) = self.events.arrivals.pop(now) {
            self.arrive(port as usize, packet);
        }
        while let Some((port, packet, input)) = self.events.joins.pop(now) {
            self.join(port as usize, packet, input);
        }
        self.generate();
        while let Some(host) = self.events.transfer_ends.pop(now) {
            self.hosts[host as usize].is_moving = false;
            self.changed_hosts.mark(host as usize);
        }
        if self.events.holds.next() <= now {
            let mut holds: Vec<_> = std::iter::from_fn(|| self.events.holds.pop(now)).collect();
            holds.sort_unstable();
            holds.into_iter().for_each(|(memory, line)| self.try_release(memory as usize, line.into()));
        }
    }

    fn end_packet(&mut self, port: usize) {
        let from = &mut self.ports[port];
        from.is_busy = false;
        let place = port * self.egress_queues + from.leaving as usize;
        self.taken[place] -= 1;
        if self.by_destination {
            self.queues.with_place.put(port, place - port * self.egress_queues, true);
        }
        self.held(port, Side::Egress, -1);
        self.changed_links.mark(port);
        if self.is_host(port) {
            self.changed_hosts.mark(self.wiring.host(port));
        } else if self.queues.requests[port] != 0 {
            self.changed_switches.mark(port / PORTS);
        }
    }

    fn end_crossing(&mut self, input: usize, output: usize) {
        let [_, inputs, outputs] = &mut self.switches[input / PORTS];
        *inputs &= !(1 << (input % PORTS));
        *outputs &= !(1 << (output % PORTS));
        self.changed_switches.mark(input / PORTS);
        self.held(input, Side::Ingress, -1);
        self.give_back(input, self.ports[input].crossing);
    }

    /// A place of an ingress queue is free again.
    fn give_back(&mut self, port: usize, queue: u32) {
        self.ports[port].to_return += 1;
        if self.ingress_queues > 1 {
            self.returned[port].push_back(queue as u16);
        }
        self.changed_links.mark(port);
    }

    fn take_credits(&mut self, port: usize, number: u32) {
        let credits = &mut self.credits[port * self.ingress_queues..][..self.ingress_queues];
        if self.ingress_queues == 1 {
            credits[0] += number;
        } else {
            let returned = &mut self.returned[self.ports[port].peer as usize];
            for queue in returned.drain(..number as usize).map(usize::from) {
                credits[queue] += 1;
                if self.by_destination {
                    self.queues.with_credit.put(port, queue, true);
                }
            }
        }
        self.changed_links.mark(port);
    }

    fn deliver(&mut self, port: usize, packet: u32, delivered: &mut Vec<Delivery>) {
        let label = self.labels[packet as usize];
        let delivery = Delivery {
            delivered: self.now,
            destination: label.destination.into(),
            source: label.source.into(),
            traffic: label.traffic,
            generated: label.generated,
            admitted: label.generated + u64::from(label.waiting),
        };
        let pool = self.fabric.organisation != Organisation::VoqNetwork;
        self.give_back(port, if pool { 0 } else { label.destination.into() });
        self.record.deliver(&delivery, label.sequence);
        delivered.push(delivery);
        self.free.push(packet);
    }

    fn generate(&mut self) {
        while let Some(message) = self.sources.next(self.now) {
            let (host, destination) = (message.source as usize, message.destination as usize);
            let packets = message.packets;
            let queues = &mut self.hosts[host];
            self.record.counts.generated += u64::from(packets);
            let most = self.fabric.admittance_packets;
            if most.is_some_and(|most| queues.waiting[destination] + packets > most) {
                self.record.counts.refused += u64::from(packets);
                continue;
            }
            let (traffic, generated) = (message.traffic, message.tick);
            queues.admittance[destination].push_back(Waiting { traffic, generated, packets, left: packets });
            queues.waiting[destination] += packets;
            queues.asking[destination / 64] |= 1 << (destination % 64);
            self.changed_hosts.mark(host);
        }
        if self.sources.next_withdrawal(self.now) == self.now {
            let traffics: Vec<usize> = self.sources.withdrawn(self.now).collect();
            traffics.into_iter().for_each(|traffic| self.withdraw(traffic));
        }
    }

    fn withdraw(&mut self, traffic: usize) {
        let stays =
            |waiting: &Waiting| usize::from(waiting.traffic) != traffic || waiting.left < waiting.packets;
        for host in &mut self.hosts {
            for (destination, queue) in host.admittance.iter_mut().enumerate() {
                queue.retain(stays);
                let left = queue.iter().map(|waiting| waiting.left).sum();
                let before = std::mem::replace(&mut host.waiting[destination], left);
                self.record.counts.withdrawn += u64::from(before - left);
                if left == 0 {
                    host.asking[destination / 64] &= !(1 << (destination % 64));
                }
            }
        }
    }

    // ------------------------------------------------------------------------------------ queues

    /// The fixed queue of a packet at ingress or egress.
    #[inline]
    fn fixed_queue(&self, memory: usize, row: &Row) -> usize {
        match self.fabric.organisation {
            Organisation::OneQueue | Organisation::Recn(_) => 0,
            Organisation::FourQueues | Organisation::VoqNetwork => row.queue.into(),
            Organisation::VoqSwitch { single_output } if single_output && memory % 2 == 1 => 0,
            Organisation::VoqSwitch { .. } => row.turns as usize % PORTS,
        }
    }

    /// A packet goes to the end of a queue: its length then.
    #[inline]
    fn push(&mut self, memory: usize, queue: usize, packet: u32) {
        let at = memory * self.queues.stride + queue;
        self.rows[packet as usize].next = NONE;
        if self.queues.heads[at] == NONE {
            self.queues.heads[at] = packet;
            self.queues.tails[at] = packet;
            self.update_head(memory, queue);
        } else {
            self.rows[self.queues.tails[at] as usize].next = packet;
            self.queues.tails[at] = packet;
        }
    }

    /// Takes the head of a queue.
    #[inline]
    pub(super) fn take_head(&mut self, memory: usize, queue: usize) -> u32 {
        let head = &mut self.queues.heads[memory * self.queues.stride + queue];
        std::mem::replace(head, self.rows[*head as usize].next)
    }

    pub(super) fn push_marker(&mut self, memory: usize, queue: usize, line: usize) {
        let row = self.new_row(Row { turns: MARKER | line as u64, ..Row::default() });
        self.push(memory, queue, row);
    }

    pub(super) fn new_row(&mut self, row: Row) -> u32 {
        match self.free.pop() {
            Some(packet) => {
                self.rows[packet as usize] = row;
                packet
            }
            None => {
                self.rows.push(row);
                self.labels.push(Label::default());
                self.rows.len() as u32 - 1
            }
        }
    }

    pub(super) fn free_row(&mut self, row: u32) {
        self.free.push(row);
    }

    /// What the head of a queue asks for now.
    #[inline]
    pub(super) fn update_head(&mut self, memory: usize, queue: usize) {
        let head = self.queues.head(memory, queue);
        let mut wanted = NOTHING;
        if head != NONE {
            let turns = self.rows[head as usize].turns;
            if turns & MARKER == 0 && self.is_open(memory, queue) {
                wanted = if memory % 2 == 1 { 0 } else { (turns % PORTS as u64) as u8 };
            }
        }
        if self.queues.ask(memory, queue, wanted) {
            if memory % 2 == 1 {
                self.changed_links.mark(memory / 2);
            } else {
                self.changed_switches.mark(memory / 2 / PORTS);
            }
        }
    }

    fn arrive(&mut self, port: usize, packet: u32) {
        let memory = 2 * port;
        if self.used[memory] == 0 {
            let queue = self.fixed_queue(memory, &self.rows[packet as usize]);
            self.push(memory, queue, packet);
            if self.fabric.recn().is_some() {
                self.queues.lengths[memory * self.queues.stride] += 1;
            }
        } else {
            let queue = self.matching(memory, self.rows[packet as usize].turns);
            self.queues.lengths[memory * self.queues.stride + queue] += 1;
            self.push(memory, queue, packet);
            self.after_arrival(port, queue);
        }
    }

    fn join(&mut self, port: usize, packet: u32, input: u8) {
        let memory = 2 * port + 1;
        if self.fabric.recn().is_none() {
            let queue = self.fixed_queue(memory, &self.rows[packet as usize]);
            return self.push(memory, queue, packet);
        }
        let queue = self.matching(memory, self.rows[packet as usize].turns);
        self.queues.lengths[memory * self.queues.stride + queue] += 1;
        self.push(memory, queue, packet);
        self.after_join(port, queue, input);
    }

    /// Takes the packet that a queue sends.
    #[inline]
    fn pop(&mut self, memory: usize, queue: usize) -> u32 {
        let packet = self.take_head(memory, queue);
        if self.fabric.recn().is_some() {
            self.queues.lengths[memory * self.queues.stride + queue] -= 1;
            self.after_departure(memory, queue);
        }
        self.update_head(memory, queue);
        packet
    }

    // ------------------------------------------------------------------------------------ phase 2

    fn admit_all(&mut self) {
        for word in 0..self.changed_hosts.0.len() {
            let mut hosts = std::mem::take(&mut self.changed_hosts.0[word]);
            while hosts != 0 {
                self.admit(64 * word + hosts.trailing_zeros() as usize);
                hosts &= hosts - 1;
            }
        }
    }

    fn admit(&mut self, host: usize) {
        let from = &self.hosts[host];
        if from.is_moving {
            return;
        }
        let port = self.wiring.injection(host);
        if self.egress_queues == 1 && self.taken[port] >= self.ports[port].places {
            return;
        }
        let open = self.queues.with_place.of(port);
        // without a queue per destination all sets with places are full, and may be shorter
        let asking =
            |word: usize| from.asking[word] & if self.by_destination { open[word] } else { u64::MAX };
        let found = bits_round(from.asking.len(), from.pointer, asking).find_map(|destination| {
            let turns = self.turns[host * self.wiring.hosts + destination];
            let row = Row { turns, next: NONE, queue: destination as u16 };
            let place = self.egress_place(port, &row)?;
            (!self.is_over_xoff(2 * port + 1, turns)).then_some((destination, row, place))
        });
        if let Some((destination, row, place)) = found {
            self.transfer(host, destination, row, place);
        }
    }

    fn transfer(&mut self, host: usize, destination: usize, row: Row, place: usize) {
        let (now, port) = (self.now, self.wiring.injection(host));
        let packet = self.new_row(row);
        let from = &mut self.hosts[host];
        let waiting = &mut from.admittance[destination][0];
        self.labels[packet as usize] = Label {
            generated: waiting.generated,
            waiting: (now - waiting.generated).min(u32::MAX.into()) as u32,
            sequence: from.sequence[destination],
            source: host as u16,
            destination: destination as u16,
            traffic: waiting.traffic,
        };
        from.sequence[destination] = from.sequence[destination].wrapping_add(1);
        waiting.left -= 1;
        if waiting.left == 0 {
            from.admittance[destination].pop_front();
        }
        from.waiting[destination] -= 1;
        if from.waiting[destination] == 0 {
            from.asking[destination / 64] &= !(1 << (destination % 64));
        }
        (from.pointer, from.is_moving) = ((destination + 1) % self.wiring.hosts, true);
        self.record.counts.admitted += 1;
        self.events.transfer_ends.push(now + self.fabric.times.packet_crossbar, host as u32);
        self.reserve(port, packet, place, 0);
    }

    /// The fixed egress queue that a packet would take, if it has room.
    #[inline]
    fn egress_place(&self, port: usize, row: &Row) -> Option<usize> {
        let taken = &self.taken[port * self.egress_queues..][..self.egress_queues];
        let queue = match self.fabric.organisation {
            Organisation::FourQueues => (0..4).min_by_key(|queue| taken[*queue]).unwrap_or(0),
            _ => self.fixed_queue(2 * port + 1, row),
        };
        (taken[queue] < self.ports[port].places).then_some(queue)
    }

    /// A packet begins to cross into an egress memory.
    #[inline]
    fn reserve(&mut self, port: usize, packet: u32, place: usize, input: u8) {
        let taken = &mut self.taken[port * self.egress_queues + place];
        *taken += 1;
        if self.by_destination {
            self.queues.with_place.put(port, place, *taken < self.ports[port].places);
        }
        if self.fabric.organisation == Organisation::FourQueues {
            self.rows[packet as usize].queue = place as u16;
        }
        self.held(port, Side::Egress, 1);
        self.events.joins.push(self.now + self.fabric.times.flit_crossbar, (port as u32, packet, input));
    }

    // ------------------------------------------------------------------------------------ phase 3

    fn arbitrate_all(&mut self) {
        for word in 0..self.changed_switches.0.len() {
            let mut switches = std::mem::take(&mut self.changed_switches.0[word]);
            while switches != 0 {
                self.arbitrate(64 * word + switches.trailing_zeros() as usize);
                switches &= switches - 1;
            }
        }
    }

    fn arbitrate(&mut self, switch: usize) {
        let (base, [first, inputs, outputs]) = (switch * PORTS, self.switches[switch]);
        let asked = |output: &usize| self.queues.requests[base + output] & !inputs != 0;
        let asked = (0..PORTS).filter(asked).fold(0, |set, output| set | 1 << output);
        let mut asked = (asked & !outputs).rotate_right(first.into());
        let (mut granted, mut is_granted) = ([(NONE, 0, 0); PORTS], 0u8);
        while asked != 0 {
            let output = (asked.trailing_zeros() as usize + usize::from(first)) % PORTS;
            asked &= asked - 1;
            let requests = self.queues.requests[base + output] & !self.switches[switch][1];
            if requests == 0 {
                continue;
            }
            if let Some((input, queue, place)) = self.best_request(base, output, requests) {
                let packet = self.cross(base + input, base + output, queue);
                granted[output] = (packet, place, input as u8);
                is_granted |= 1 << output;
            }
        }
        if is_granted != 0 {
            self.switches[switch][0] = (first + 1) % PORTS as u8;
        }
        while is_granted != 0 {
            let output = is_granted.trailing_zeros() as usize;
            is_granted &= is_granted - 1;
            let (packet, place, input) = granted[output];
            self.reserve(base + output, packet, place, input);
        }
    }

    /// Input, its queue and the egress queue that takes its packet.
    #[inline]
    fn best_request(&self, base: usize, output: usize, requests: u8) -> Option<(usize, usize, usize)> {
        let pointer = self.ports[base + output].input_pointer;
        let (mut left, mut best) = (requests.rotate_right(pointer.into()), None);
        let mut best_level = u8::MAX;
        while left != 0 {
            let input = (left.trailing_zeros() as usize + usize::from(pointer)) % PORTS;
            left &= left - 1;
            if let Some((level, queue, place)) = self.request(base, input, output) {
                if level < best_level {
                    (best, best_level) = (Some((input, queue, place)), level);
                }
                if level == 0 || self.fabric.recn().is_none() {
                    break;
                }
            } else if self.egress_queues == 1 {
                break; // one pool, and it is full
            }
        }
        best
    }

    /// Level, queue and egress queue with which an input asks for an output.
    #[inline]
    fn request(&self, base: usize, input: usize, output: usize) -> Option<(u8, usize, usize)> {
        let (port, mut best) = (base + input, None);
        let mut best_level = u8::MAX;
        let (asking, open) = (self.queues.asking(port, output), self.queues.with_place.of(base + output));
        let pointer = self.ports[port].pointers[0] as usize;
        for queue in bits_round(asking.len(), pointer, |word| asking[word] & open[word]) {
            let row = self.rows[self.queues.head(2 * port, queue) as usize];
            let ahead = Row { turns: row.turns >> TURN, ..row };
            if let Some(place) = self.egress_place(base + output, &ahead) {
                let level = self.level(2 * port, queue);
                if level < best_level {
                    (best, best_level) = (Some((level, queue, place)), level);
                }
                if level == 0 || self.fabric.recn().is_none() {
                    break;
                }
            } else if self.egress_queues == 1 {
                break;
            }
        }
        best
    }

    fn cross(&mut self, input: usize, output: usize, queue: usize) -> u32 {
        let [_, inputs, outputs] = &mut self.switches[input / PORTS];
        *inputs |= 1 << (input % PORTS);
        *outputs |= 1 << (output % PORTS);
        let fixed = self.fabric.recn().map_or(queue as u32, |_| 0);
        let from = &mut self.ports[input];
        (from.pointers[0], from.crossing) = (self.queues.after(queue), fixed);
        self.ports[output].input_pointer = ((input + 1) % PORTS) as u8;
        let packet = self.pop(2 * input, queue);
        self.rows[packet as usize].turns >>= TURN;
        let end = self.now + self.fabric.times.packet_crossbar;
        self.events.crossing_ends.push(end, (input as u32, output as u32));
        packet
    }

    // ------------------------------------------------------------------------------------ phase 4

    fn send_all(&mut self) {
        for word in 0..self.changed_links.0.len() {
            let mut ports = std::mem::take(&mut self.changed_links.0[word]);
            while ports != 0 {
                self.send(64 * word + ports.trailing_zeros() as usize);
                ports &= ports - 1;
            }
        }
    }

    pub(super) fn mark_link(&mut self, port: usize) {
        self.changed_links.mark(port);
    }

    pub(super) fn mark_host(&mut self, port: usize) {
        if self.is_host(port) {
            self.changed_hosts.mark(self.wiring.host(port));
        }
    }

    pub(super) fn schedule_hold(&mut self, memory: usize, line: usize, tick: u64) {
        self.events.holds.push(tick, (memory as u32, line as u8));
    }

    fn send(&mut self, port: usize) {
        while !self.ports[port].is_busy {
            let waiting = self.ports[port].to_return;
            if let Some(control) = self.controls[port].pop_front() {
                let (due, peer) = (self.send_control(port), self.ports[port].peer);
                self.events.controls.push(due, (peer, control));
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
        let times = self.fabric.times;
        self.record.counts.control_packets += 1;
        self.record.links[usize::from(self.ports[port].group)].control += 1;
        let end = self.now + times.control_link;
        if times.control_link > 0 {
            self.ports[port].is_busy = true;
            self.events.control_ends.push(end, port as u32);
        }
        end + times.flight
    }

    fn send_credits(&mut self, port: usize) {
        let due = self.send_control(port);
        let from = &mut self.ports[port];
        let number = from.to_return.min(self.fabric.credit_batch);
        from.to_return -= number;
        self.events.credits.push(due, (from.peer, number));
    }

    /// The queue that the link takes next, and the queue behind it.
    #[inline]
    fn next_to_send(&self, port: usize) -> Option<(usize, usize)> {
        let from = &self.ports[port];
        let (sendable, credited) = (self.queues.sendable(port), self.queues.with_credit.of(port));
        let pointer = from.pointers[1] as usize;
        let mut queues = bits_round(sendable.len(), pointer, |word| sendable[word] & credited[word]);
        let Some(recn) = self.fabric.recn() else {
            return queues.find_map(|queue| Some((queue, self.credit(port, queue)?)));
        };
        if self.credits[port] == 0 {
            return None;
        }
        let (mut normal, mut other) = (None, None);
        for queue in queues {
            match self.level(2 * port + 1, queue) {
                0 => return Some((queue, 0)),
                1 => normal = Some((queue, 0)),
                _ => other = other.or(Some((queue, 0))),
            }
        }
        if from.normal_sent >= recn.normal_weight { other.or(normal) } else { normal.or(other) }
    }

    /// The queue behind the link that the head of a queue takes, if it has a place.
    #[inline]
    fn credit(&self, port: usize, queue: usize) -> Option<usize> {
        let credits = &self.credits[port * self.ingress_queues..][..self.ingress_queues];
        let row = &self.rows[self.queues.head(2 * port + 1, queue) as usize];
        let behind = match self.fabric.organisation {
            Organisation::VoqNetwork => row.queue.into(),
            _ if self.ports[port].to_host => 0,
            Organisation::FourQueues => (0..4).rev().max_by_key(|queue| credits[*queue]).unwrap_or(0),
            _ => self.fixed_queue(0, row),
        };
        (credits[behind] > 0).then_some(behind)
    }

    fn send_packet(&mut self, port: usize, queue: usize, credit: usize) {
        let (now, times) = (self.now, self.fabric.times);
        let packet = self.pop(2 * port + 1, queue);
        let credits = &mut self.credits[port * self.ingress_queues + credit];
        *credits -= 1;
        if self.by_destination && *credits == 0 {
            self.queues.with_credit.put(port, credit, false);
        }
        let place = self.fabric.recn().map_or(queue as u32, |_| 0);
        let after = self.queues.after(queue);
        let from = &mut self.ports[port];
        (from.pointers[1], from.leaving, from.is_busy) = (after, place, true);
        from.normal_sent = if queue == 0 { from.normal_sent.saturating_add(1) } else { 0 };
        let Port { peer, to_host, group, .. } = *from;
        self.record.counts.hops += 1;
        self.record.links[usize::from(group)].data += 1;
        self.events.data_ends.push(now + times.packet_link, port as u32);
        if to_host {
            self.events.deliveries.push(now + times.packet_link + times.flight, (peer, packet));
            return;
        }
        if self.fabric.organisation == Organisation::FourQueues {
            self.rows[packet as usize].queue = credit as u16;
        }
        self.held(peer as usize, Side::Ingress, 1);
        self.events.arrivals.push(now + self.fabric.arrival_delay(), (peer, packet));
    }
}

impl Queues {
    /// The queue after one, round.
    #[inline]
    fn after(&self, queue: usize) -> u32 {
        if queue + 1 == self.stride { 0 } else { queue as u32 + 1 }
    }
}

impl Port {
    fn new(fabric: &Fabric, wiring: &Wiring, port: usize) -> Self {
        let is_host = |port: usize| port >= wiring.switch_ports();
        let packets = if is_host(port) { fabric.injection_packets } else { fabric.port_packets };
        let peer = wiring.peers[port];
        Self {
            peer,
            places: packets / fabric.egress_queues() as u32,
            group: if is_host(port) { wiring.stages } else { wiring.stage(port) } as u8,
            to_host: peer != OPEN && is_host(peer as usize),
            ..Self::default()
        }
    }
}

#[cfg(test)]
impl Simulator {
    /// Nothing is left anywhere.
    pub(super) fn is_drained(&self) -> bool {
        let credits = |port: usize| {
            let mut credits = self.fabric.credits(self.ports[port].to_host);
            credits.resize(self.ingress_queues, 0);
            credits
        };
        self.is_idle()
            && self.events.next() == u64::MAX
            && self.queues.heads.iter().all(|head| *head == NONE)
            && self.queues.requests.iter().all(|requests| *requests == 0)
            && self.used.iter().all(|used| *used == 0)
            && self.branches.iter().all(|branches| *branches == 0)
            && self.taken.iter().all(|taken| *taken == 0)
            && self.returned.iter().all(VecDeque::is_empty)
            && self.controls.iter().all(VecDeque::is_empty)
            && (0..self.ports.len()).all(|port| {
                self.credits[port * self.ingress_queues..][..self.ingress_queues] == credits(port)
            })
    }
}
