//! The crossbar: inputs and outputs of a switch are matched, and packets begin to cross (P7, phase 3).

use super::memory::Row;
use super::queueing::Queueing;
use super::record::Side;
use super::sets::{Ports, bits_round};
use super::switch::PacketSwitch;

/// The crossbar of a switch; sets have a bit per port.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Crossbar {
    /// The output that is looked at first.
    first: u8,
    busy_inputs: Ports,
    busy_outputs: Ports,
}

/// What an input asks for an output with.
struct Request {
    level: u8,
    queue: usize,
    /// The egress queue that would take the packet.
    place: usize,
}

impl<Q: Queueing> PacketSwitch<Q> {
    /// P7: outputs in turn, each takes its best request.
    pub(super) fn arbitrate(&mut self, switch: usize) {
        let numbers = self.wiring.numbers;
        let (base, Crossbar { first, busy_inputs, busy_outputs }) =
            (numbers.first(switch), self.crossbars[switch]);
        let asked = |output: &usize| !(self.queues.requests[base + output] & !busy_inputs).is_empty();
        let asked: Ports = (0..numbers.ports).filter(asked).collect();
        let mut granted = std::mem::take(&mut self.granted);
        for output in (asked & !busy_outputs).from(first.into()) {
            let requests = self.queues.requests[base + output] & !self.crossbars[switch].busy_inputs;
            if requests.is_empty() {
                continue;
            }
            if let Some((input, Request { queue, place, .. })) = self.best_request(base, output, requests) {
                let packet = self.cross(base + input, base + output, queue);
                granted.push((output, packet, place, input as u8));
            }
        }
        if !granted.is_empty() {
            self.crossbars[switch].first = numbers.after(first.into()) as u8;
        }
        // packets of a tick join by port
        granted.sort_unstable_by_key(|(output, ..)| *output);
        for (output, packet, place, input) in granted.drain(..) {
            self.reserve(base + output, packet, place, input);
        }
        self.granted = granted;
    }

    /// The input that an output takes, the best or else the first in turn, and its request.
    #[inline]
    fn best_request(&self, base: usize, output: usize, requests: Ports) -> Option<(usize, Request)> {
        let pointer = self.ports[base + output].input_pointer;
        let (mut best, mut best_level) = (None, u8::MAX);
        for input in requests.from(pointer.into()) {
            if let Some(request) = self.request(base, input, output) {
                let level = request.level;
                if level < best_level {
                    (best, best_level) = (Some((input, request)), level);
                }
                if level == 0 {
                    break;
                }
            } else if self.queueing.egress_queues() == 1 {
                break; // one pool, and it is full
            }
        }
        best
    }

    /// What an input asks for an output with: its best queue, or else the first in turn.
    #[inline]
    fn request(&self, base: usize, input: usize, output: usize) -> Option<Request> {
        let (port, mut best) = (base + input, None);
        let mut best_level = u8::MAX;
        let asking = self.queues.asking(port, output);
        let open = |word: usize| {
            if Q::BY_DESTINATION { self.queues.with_place.of(base + output)[word] } else { u64::MAX }
        };
        let pointer = self.ports[port].pointers[0] as usize;
        for queue in bits_round(asking.len(), pointer, |word| asking[word] & open(word)) {
            let head = &self.packets.rows[self.queues.head(2 * port, queue) as usize];
            if let Some(place) = self.egress_place(base + output, &head.ahead(self.wiring.numbers)) {
                let level = self.queueing.level(2 * port, queue);
                if level < best_level {
                    (best, best_level) = (Some(Request { level, queue, place }), level);
                }
                if level == 0 {
                    break;
                }
            } else if self.queueing.egress_queues() == 1 {
                break;
            }
        }
        best
    }

    /// The head of a queue leaves its input for an output.
    fn cross(&mut self, input: usize, output: usize, queue: usize) -> u32 {
        let numbers = self.wiring.numbers;
        let crossbar = &mut self.crossbars[numbers.switch(input)];
        crossbar.busy_inputs.add(numbers.of_switch(input));
        crossbar.busy_outputs.add(numbers.of_switch(output));
        let from = &mut self.ports[input];
        (from.pointers[0], from.crossing) = (self.queues.after(queue), Q::fixed(queue) as u32);
        self.ports[output].input_pointer = numbers.after(numbers.of_switch(input)) as u8;
        let packet = self.pop(2 * input, queue);
        let row = &mut self.packets.rows[packet as usize];
        *row = row.ahead(numbers);
        let end = self.now + self.fabric.timing.packet_crossbar;
        self.events.crossing_ends.push(end, (input as u32, output as u32));
        packet
    }

    /// The fixed egress queue that a packet would take, if it has room.
    #[inline]
    pub(super) fn egress_place(&self, port: usize, row: &Row) -> Option<usize> {
        let queues = self.queueing.egress_queues();
        let taken = &self.taken[port * queues..][..queues];
        let queue = self.queueing.egress_queue(row, taken);
        (taken[queue] < self.ports[port].places).then_some(queue)
    }

    /// A packet begins to cross into an egress memory.
    #[inline]
    pub(super) fn reserve(&mut self, port: usize, packet: u32, place: usize, input: u8) {
        let taken = &mut self.taken[port * self.queueing.egress_queues() + place];
        *taken += 1;
        if Q::BY_DESTINATION {
            self.queues.with_place.put(port, place, *taken < self.ports[port].places);
        }
        self.packets.rows[packet as usize].queue = place as u16;
        self.held(port, Side::Egress, 1);
        self.events.joins.push(self.now + self.fabric.timing.flit_crossbar, (port as u32, packet, input));
    }

    /// P4: input and output are free again, and so is the packet's place at ingress.
    pub(super) fn end_crossing(&mut self, input: usize, output: usize) {
        let numbers = self.wiring.numbers;
        let crossbar = &mut self.crossbars[numbers.switch(input)];
        crossbar.busy_inputs.remove(numbers.of_switch(input));
        crossbar.busy_outputs.remove(numbers.of_switch(output));
        self.changed_switches.mark(numbers.switch(input));
        self.held(input, Side::Ingress, -1);
        self.give_back(input, self.ports[input].crossing);
    }
}
