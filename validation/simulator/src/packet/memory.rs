//! Memories of ports: packets are rows of compact columns, queues chains of rows. Memory `2 port` is the ingress,
//! memory `2 port + 1` the egress of a port.

use super::queueing::Queueing;
use super::record::Side;
use super::sets::{Ports, QueueSets};
use super::switch::PacketSwitch;
use super::wiring::Numbers;

/// No packet.
pub(super) const NONE: u32 = u32::MAX;
/// Of [`Queues::asked`]: nothing.
const NOTHING: u8 = u8::MAX;
/// Of [`Row::turns`]: a marker of the set-aside queue in the lowest bits.
pub(super) const MARKER: u64 = 1 << 63;

/// Which side of its port a memory is on.
#[inline]
pub(super) fn side(memory: usize) -> Side {
    if memory % 2 == 1 { Side::Egress } else { Side::Ingress }
}

/// A packet in a queue, or a marker.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Row {
    /// Turns ahead.
    pub(super) turns: u64,
    /// The packet behind it.
    next: u32,
    /// The fixed queue in which it has a place; before it has one, its destination.
    pub(super) queue: u16,
}

impl Row {
    pub(super) fn new(turns: u64, queue: usize) -> Self {
        Self { turns, next: NONE, queue: queue as u16 }
    }

    /// What it is behind the output that it asks for.
    #[inline]
    pub(super) fn ahead(&self, numbers: Numbers) -> Self {
        Self { turns: numbers.ahead(self.turns), ..*self }
    }

    /// The line of a marker; none of a packet.
    #[inline]
    pub(super) fn marker(&self) -> Option<usize> {
        (self.turns & MARKER != 0).then_some((self.turns & !MARKER) as usize)
    }
}

/// What a packet's delivery needs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Label {
    pub(super) generated: u64,
    pub(super) waiting: u32,
    pub(super) sequence: u32,
    pub(super) source: u16,
    pub(super) destination: u16,
    pub(super) traffic: u16,
}

/// All packets and markers.
#[derive(Clone, Debug, Default)]
pub(super) struct Packets {
    pub(super) rows: Vec<Row>,
    pub(super) labels: Vec<Label>,
    free: Vec<u32>,
}

impl Packets {
    /// The number of a new one.
    pub(super) fn add(&mut self, row: Row) -> u32 {
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

    pub(super) fn free(&mut self, packet: u32) {
        self.free.push(packet);
    }
}

/// Chains of packets, and which of their heads ask to go.
#[derive(Clone, Debug)]
pub(super) struct Queues {
    heads: Vec<u32>,
    tails: Vec<u32>,
    /// By queue: the output that its head may ask for (egress: 0), or nothing.
    asked: Vec<u8>,
    numbers: Numbers,
    /// Queues of a memory.
    stride: usize,
    /// Words of a set of queues.
    words: usize,
    /// By input port and output: queues that ask.
    asking: Vec<u64>,
    /// By port: egress queues that may send.
    sendable: Vec<u64>,
    /// By output port: inputs with a queue that asks.
    pub(super) requests: Vec<Ports>,
    /// By port, of a queue per destination: egress queues with a place, and those whose queue behind the link has one.
    pub(super) with_place: QueueSets,
    pub(super) with_credit: QueueSets,
}

impl Queues {
    /// So many empty ones in each memory.
    pub(super) fn new(numbers: Numbers, ports: usize, stride: usize) -> Self {
        let words = stride.div_ceil(64);
        Self {
            heads: vec![NONE; 2 * ports * stride],
            tails: vec![NONE; 2 * ports * stride],
            asked: vec![NOTHING; 2 * ports * stride],
            numbers,
            stride,
            words,
            asking: vec![0; ports * numbers.stride() * words],
            sendable: vec![0; ports * words],
            requests: vec![Ports::default(); ports],
            with_place: QueueSets::full(ports, words),
            with_credit: QueueSets::full(ports, words),
        }
    }

    #[inline]
    pub(super) fn head(&self, memory: usize, queue: usize) -> u32 {
        self.heads[memory * self.stride + queue]
    }

    /// Heads of the queues of a memory.
    pub(super) fn heads(&self, memory: usize) -> &[u32] {
        &self.heads[memory * self.stride..(memory + 1) * self.stride]
    }

    /// The queue after one, round.
    #[inline]
    pub(super) fn after(&self, queue: usize) -> u32 {
        if queue + 1 == self.stride { 0 } else { queue as u32 + 1 }
    }

    /// Queues of an input that ask for an output.
    #[inline]
    pub(super) fn asking(&self, port: usize, output: usize) -> &[u64] {
        let start = self.asking_at(port, output);
        &self.asking[start..start + self.words]
    }

    #[inline]
    fn asking_at(&self, port: usize, output: usize) -> usize {
        (self.numbers.first(port) + output) * self.words
    }

    /// Egress queues that may send.
    #[inline]
    pub(super) fn sendable(&self, port: usize) -> &[u64] {
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
        let (port, bit) = (memory / 2, 1u64 << (queue % 64));
        if side(memory) == Side::Egress {
            self.sendable[port * self.words + queue / 64] ^= bit;
            return wanted != NOTHING;
        }
        let (base, input) = (self.numbers.base(port), self.numbers.of_switch(port));
        if before != NOTHING {
            let at = self.asking_at(port, before.into());
            self.asking[at + queue / 64] &= !bit;
            if self.asking(port, usize::from(before)).iter().all(|word| *word == 0) {
                self.requests[base + usize::from(before)].remove(input);
            }
        }
        if wanted == NOTHING {
            return false;
        }
        let at = self.asking_at(port, wanted.into());
        self.asking[at + queue / 64] |= bit;
        self.requests[base + usize::from(wanted)].add(input);
        true
    }
}

impl<Q: Queueing> PacketSwitch<Q> {
    /// A packet or marker goes to the end of a queue.
    #[inline]
    pub(super) fn push(&mut self, memory: usize, queue: usize, packet: u32) {
        let at = memory * self.queues.stride + queue;
        self.packets.rows[packet as usize].next = NONE;
        if self.queues.heads[at] == NONE {
            self.queues.heads[at] = packet;
            self.queues.tails[at] = packet;
            self.update_head(memory, queue);
        } else {
            self.packets.rows[self.queues.tails[at] as usize].next = packet;
            self.queues.tails[at] = packet;
        }
    }

    /// Takes the head of a queue.
    #[inline]
    pub(super) fn take_head(&mut self, memory: usize, queue: usize) -> u32 {
        let head = &mut self.queues.heads[memory * self.queues.stride + queue];
        std::mem::replace(head, self.packets.rows[*head as usize].next)
    }

    /// Takes the packet that a queue sends.
    #[inline]
    pub(super) fn pop(&mut self, memory: usize, queue: usize) -> u32 {
        let packet = self.take_head(memory, queue);
        Q::left(self, memory, queue);
        self.update_head(memory, queue);
        packet
    }

    /// What the head of a queue asks for now.
    #[inline]
    pub(super) fn update_head(&mut self, memory: usize, queue: usize) {
        let head = self.queues.head(memory, queue);
        let mut wanted = NOTHING;
        if head != NONE && self.has_backlogs() && side(memory) == Side::Ingress {
            self.choose_output(memory / 2, head);
        }
        if head != NONE {
            let row = &self.packets.rows[head as usize];
            if row.marker().is_none() && self.queueing.is_open(memory, queue) {
                let output = self.wiring.numbers.of_switch(row.turns as usize) as u8;
                wanted = if side(memory) == Side::Egress { 0 } else { output };
            }
        }
        if self.queues.ask(memory, queue, wanted) {
            match side(memory) {
                Side::Egress => self.changed_links.mark(memory / 2),
                Side::Ingress => self.changed_switches.mark(self.wiring.numbers.switch(memory / 2)),
            }
        }
    }

    /// Packets in the queues of a memory.
    pub(super) fn packets_in(&self, memory: usize) -> u32 {
        let rows = &self.packets.rows;
        let chain = |head: &u32| {
            let on = |at: &u32| Some(rows[*at as usize].next).filter(|next| *next != NONE);
            let packets = std::iter::successors(Some(*head).filter(|head| *head != NONE), on);
            packets.filter(|at| rows[*at as usize].marker().is_none()).count() as u32
        };
        self.queues.heads(memory).iter().map(chain).sum()
    }
}
