//! Wormhole routers with a full crossbar, one virtual channel per class and port, and all that happens in them
//! in a cycle.
//!
//! Lanes that can do something are bits in words, so that those that cannot cost nothing: a lane is looked at
//! only when one of its flits moves. All decisions of a cycle look at the state at its start. What a stage sets
//! free for an earlier stage therefore takes effect at the end of the cycle (`reopened`, `released`), and what
//! it hands on is picked up a cycle later because the last stage goes first.

use flitwise_models::scenario::Scenario;

use crate::message::{Arrival, Delivery};

use super::lane::{Lane, NONE};
use super::link_scheduler::LinkScheduler;
use super::observer::Observer;
use super::queues::{Message, Messages, Queued, Queues, SourceQueues};
use super::wiring::{End, Wiring};

/// The state of the network: one row per lane, one bit per lane and question.
pub(crate) struct FullCrossbar {
    pub(crate) wiring: Wiring,
    /// Lanes per link, a power of two, and its logarithm.
    width: usize,
    shift: u32,
    buffer_flits: u32,
    /// `P`.
    pipeline_stages: u64,
    /// From a header's being at the front to its request.
    request_delay: u64,

    lanes: Vec<Lane>,
    queues: Queues,
    messages: Messages,
    pub(crate) sources: SourceQueues,

    /// Stage P: lanes with a flit before the link and a free slot behind it.
    ready: Vec<u64>,
    /// Stage P-1: input lanes with a flit that can cross.
    filled: Vec<u64>,
    /// Stage P-1: input lanes whose message owns an output lane that has room.
    open: Vec<u64>,
    /// Input lanes to which a flit was sent in this cycle, in the one before and in the one before that.
    sent: [Vec<u64>; 3],
    /// Input lanes whose output lane has got room in this cycle.
    reopened: Vec<u32>,
    /// Output lanes whose message has crossed in this cycle.
    released: Vec<u32>,

    /// Stage P-2, by cycle modulo the length: input lanes whose header requests its output lane then.
    requests: Vec<Vec<u32>>,
    /// By output lane: input ports with a request.
    requesting: Vec<u64>,
    /// By output lane: the input port after the one granted last.
    next_port: Vec<u8>,
    /// Output lanes that are free and requested.
    contested: Vec<u32>,

    /// Flits that have crossed a crossbar.
    pub(crate) flit_hops: u64,
}

/// Bits of a word.
const WORD: usize = u64::BITS as usize;

impl FullCrossbar {
    pub(crate) fn new(scenario: &Scenario) -> Self {
        let classes = scenario.classes();
        let width = classes.len().next_power_of_two();
        let router = scenario.router();
        // lanes of injection links begin with a word of their own
        let wiring = Wiring::new(scenario.network(), (WORD / width) as u32);
        let lane = |link: u32, class: usize| {
            let flits = classes.get(class).map_or(1, |class| class.message_flits);
            Lane::new(flits, wiring.end(link) != End::Node)
        };
        let lanes: Vec<Lane> =
            (0..wiring.links()).flat_map(|link| (0..width).map(move |class| lane(link, class))).collect();
        let words = lanes.len().div_ceil(WORD);
        let output_lanes = (wiring.routers() * wiring.ports()) as usize * width;
        let pipeline_stages = u64::from(router.pipeline_stages);
        let request_delay = (pipeline_stages - 3).max(1);
        Self {
            width,
            shift: width.trailing_zeros(),
            buffer_flits: router.buffer_flits,
            pipeline_stages,
            request_delay,
            queues: Queues::new(lanes.len()),
            messages: Messages::default(),
            sources: SourceQueues::new(wiring.nodes() as usize, width),
            ready: vec![0; words],
            filled: vec![0; words],
            open: vec![0; words],
            sent: [vec![0; words], vec![0; words], vec![0; words]],
            reopened: Vec::new(),
            released: Vec::new(),
            requests: vec![Vec::new(); (request_delay as usize + 2).next_power_of_two()],
            requesting: vec![0; output_lanes],
            next_port: vec![0; output_lanes],
            contested: Vec::new(),
            flit_hops: 0,
            lanes,
            wiring,
        }
    }

    /// Lanes of all links.
    pub(crate) fn lanes(&self) -> usize {
        self.lanes.len()
    }

    /// Lanes of routers' output links, numbers that stand for none included.
    pub(crate) fn buffered_lanes(&self) -> usize {
        self.wiring.first_injection() as usize * self.width
    }

    /// Whether nothing is under way or waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.messages.in_network() == 0 && self.sources.backlog().iter().all(|backlog| *backlog == 0)
    }

    /// By link and class: flits that have left over the link.
    pub(crate) fn sent(&self) -> impl Iterator<Item = (u32, usize, u64)> {
        let place = |lane: usize| ((lane >> self.shift) as u32, lane & (self.width - 1));
        self.lanes.iter().enumerate().map(move |(lane, row)| (place(lane).0, place(lane).1, row.sent))
    }

    /// A message joins its source queue at the start of cycle `arrival.cycle`.
    pub(crate) fn arrive(&mut self, scheduler: &mut impl LinkScheduler, arrival: Arrival) {
        let queue = (arrival.source as usize) << self.shift | usize::from(arrival.class);
        let lane = ((self.wiring.first_injection() as usize) << self.shift) + queue;
        let queued = self.sources.len(queue);
        if queued >= self.sources.limit(usize::from(arrival.class)) {
            return;
        }
        let behind_others = queued > 0;
        let row = &mut self.lanes[lane];
        let now = arrival.cycle as f64;
        let ticket = scheduler.join_message(lane, row.message_flits, behind_others, now);
        if !behind_others {
            row.to_send = row.message_flits;
            scheduler.next_message(lane, ticket);
        }
        row.waiting += row.message_flits;
        if row.arrived < self.buffer_flits {
            self.ready[lane / WORD] |= 1 << (lane % WORD);
        }
        let message = Queued { generated_cycle: arrival.cycle, destination: arrival.destination, ticket };
        self.sources.push(queue, message);
    }

    /// One cycle; messages that are through are added to `delivered`.
    pub(crate) fn step<S: LinkScheduler, O: Observer>(
        &mut self,
        scheduler: &mut S,
        observer: &mut O,
        now: u64,
        delivered: &mut Vec<Delivery>,
    ) {
        // with three stages a grant and the crossing share a cycle
        if self.pipeline_stages == 3 {
            self.arbitrate(observer, now);
        }
        self.transmit_from_routers(scheduler, observer, now, delivered);
        self.transmit_from_sources(scheduler, observer, now);
        self.cross(scheduler, observer, now);
        if self.pipeline_stages > 3 {
            self.arbitrate(observer, now);
        }
        self.receive();
        #[cfg(debug_assertions)]
        self.assert_conservation();
    }

    /// Stage P: a flit per link, if any can go.
    fn transmit_from_routers<S: LinkScheduler, O: Observer>(
        &mut self,
        scheduler: &mut S,
        observer: &mut O,
        now: u64,
        delivered: &mut Vec<Delivery>,
    ) {
        let group = self.width as u32;
        let every_class = u64::MAX >> (WORD as u32 - group);
        for word in 0..self.buffered_lanes() / WORD {
            let mut left = self.ready[word];
            if left == 0 {
                continue;
            }
            let (mut sent, mut spent) = (0, 0);
            while left != 0 {
                let first = left.trailing_zeros() & !(group - 1);
                let eligible = (left >> first & every_class) as u32;
                left &= !(every_class << first);
                let link = (word * WORD + first as usize) >> self.shift;
                let class = scheduler.choose(link, eligible);
                let bit = first + class;
                let lane = word * WORD + bit as usize;
                let row = &mut self.lanes[lane];
                let was_full = row.waiting == self.buffer_flits;
                row.waiting -= 1;
                row.sent += 1;
                row.arrived += row.has_input;
                sent |= u64::from(row.has_input) << bit;
                spent |= u64::from(row.waiting == 0 || row.arrived == self.buffer_flits) << bit;
                if was_full && row.owner != NONE {
                    self.reopened.push(row.owner);
                }
                let waiting = row.waiting;
                let is_header = row.to_send == row.message_flits;
                row.to_send -= 1;
                let is_tail = row.to_send == 0;
                scheduler.leave(link, lane, waiting);
                if O::WATCHES {
                    let row = &self.lanes[lane];
                    let message = self.messages.get(self.queues.at(lane, row.sending));
                    observer.leaves(message, row.message_flits - row.to_send - 1, row.has_input == 1, now);
                }
                if is_header {
                    self.header_left(lane, now);
                }
                if is_tail {
                    self.tail_left(lane, now, delivered);
                }
            }
            self.sent[0][word] |= sent;
            self.ready[word] &= !spent;
        }
    }

    /// The same at the network interfaces, whose queues are of messages.
    fn transmit_from_sources<S: LinkScheduler, O: Observer>(
        &mut self,
        scheduler: &mut S,
        observer: &mut O,
        now: u64,
    ) {
        let group = self.width as u32;
        let every_class = u64::MAX >> (WORD as u32 - group);
        let first_word = self.buffered_lanes() / WORD;
        for word in first_word..self.ready.len() {
            let mut left = self.ready[word];
            if left == 0 {
                continue;
            }
            let (mut sent, mut spent) = (0, 0);
            while left != 0 {
                let first = left.trailing_zeros() & !(group - 1);
                let eligible = (left >> first & every_class) as u32;
                left &= !(every_class << first);
                let link = (word * WORD + first as usize) >> self.shift;
                let class = scheduler.choose(link, eligible);
                let bit = first + class;
                let lane = word * WORD + bit as usize;
                let row = &mut self.lanes[lane];
                row.waiting -= 1;
                row.sent += 1;
                row.arrived += 1;
                sent |= 1 << bit;
                spent |= u64::from(row.waiting == 0 || row.arrived == self.buffer_flits) << bit;
                let is_header = row.to_send == row.message_flits;
                row.to_send -= 1;
                let is_tail = row.to_send == 0;
                let flit = row.message_flits - row.to_send - 1;
                scheduler.leave_source(link, lane);
                if is_header {
                    self.message_enters(lane, now);
                    self.header_left(lane, now);
                }
                if O::WATCHES {
                    let id = self.queues.at(lane, self.lanes[lane].sending);
                    observer.leaves(self.messages.get(id), flit, true, now);
                }
                if is_tail {
                    self.tail_left_source(scheduler, lane);
                }
            }
            self.sent[0][word] |= sent;
            self.ready[word] &= !spent;
        }
    }

    /// The first message of a source queue goes on its way: its header is in stage 1 in the next cycle.
    fn message_enters(&mut self, lane: usize, now: u64) {
        let queue = lane - self.buffered_lanes();
        let Some(&Queued { generated_cycle, destination, .. }) = self.sources.front(queue) else {
            unreachable!("a flit left an empty source queue");
        };
        let source = (queue >> self.shift) as u32;
        let entered_cycle = now + 1;
        let message = Message { generated_cycle, entered_cycle, source, destination, serial: 0 };
        let id = self.messages.enter(message);
        self.queues.push(lane, &mut self.lanes, id);
    }

    /// A header has left over the link; if nothing is before it, it is at the front when it has come in.
    fn header_left(&mut self, lane: usize, now: u64) {
        let row = &mut self.lanes[lane];
        if row.has_input == 1 && row.crossing == row.sending {
            row.to_cross = row.message_flits;
            self.request(lane, now + 1 + self.request_delay);
        }
    }

    fn tail_left(&mut self, lane: usize, now: u64, delivered: &mut Vec<Delivery>) {
        let row = &mut self.lanes[lane];
        let id = self.queues.at(lane, row.sending);
        row.sending = row.sending.wrapping_add(1);
        row.to_send = if row.sending == row.end { 0 } else { row.message_flits };
        if row.has_input == 0 {
            row.crossing = row.sending;
            let message = self.messages.get(id);
            let hops = self.wiring.hops(message.source, message.destination);
            delivered.push(self.messages.deliver(id, lane & (self.width - 1), hops, now));
        }
    }

    fn tail_left_source(&mut self, scheduler: &mut impl LinkScheduler, lane: usize) {
        let queue = lane - self.buffered_lanes();
        self.sources.pop(queue);
        let row = &mut self.lanes[lane];
        row.sending = row.sending.wrapping_add(1);
        row.to_send = 0;
        if let Some(next) = self.sources.front(queue) {
            row.to_send = row.message_flits;
            scheduler.next_message(lane, next.ticket);
        }
    }

    /// Stage P-1: every input lane that can moves a flit into the output lane that its message owns.
    fn cross<S: LinkScheduler, O: Observer>(&mut self, scheduler: &mut S, observer: &mut O, now: u64) {
        let cycle = now as f64;
        for word in 0..self.filled.len() {
            // flits that came in during the cycle before
            let arrived = std::mem::take(&mut self.sent[2][word]);
            let filled = self.filled[word] | arrived;
            self.filled[word] = filled;
            let mut left = filled & self.open[word];
            if left == 0 {
                continue;
            }
            self.flit_hops += u64::from(left.count_ones());
            let (sent_now, sent_before) = (self.sent[0][word], self.sent[1][word]);
            let (mut emptied, mut closed, mut restored) = (0, 0, 0);
            while left != 0 {
                let bit = left.trailing_zeros();
                left &= left - 1;
                let lane = word * WORD + bit as usize;
                let row = &mut self.lanes[lane];
                let to = row.goes_to as usize;
                restored |= u64::from(row.arrived == self.buffer_flits && row.waiting > 0) << bit;
                row.arrived -= 1;
                row.to_cross -= 1;
                let is_tail = row.to_cross == 0;
                let under_way = (sent_now >> bit & 1) + (sent_before >> bit & 1);
                emptied |= u64::from(u64::from(row.arrived) <= under_way) << bit;
                if O::WATCHES {
                    let message = self.messages.get(self.queues.at(lane, row.crossing));
                    observer.crosses(message, row.message_flits - row.to_cross - 1, now);
                }

                let out = &mut self.lanes[to];
                let queued = out.waiting;
                out.waiting += 1;
                closed |= u64::from(out.waiting == self.buffer_flits) << bit;
                self.ready[to / WORD] |= u64::from(out.arrived < self.buffer_flits) << (to % WORD);
                scheduler.join(to, queued, cycle);
                if is_tail {
                    closed |= 1 << bit;
                    self.tail_crossed(lane, to, now, sent_now >> bit & 1 == 1);
                }
            }
            self.filled[word] &= !emptied;
            self.open[word] &= !closed;
            self.ready[word] |= restored;
        }
    }

    /// The front message is through: its output lane is free from the next cycle on, its successor moves up.
    fn tail_crossed(&mut self, lane: usize, to: usize, now: u64, one_under_way: bool) {
        self.released.push(to as u32);
        let row = &mut self.lanes[lane];
        row.goes_to = NONE;
        row.crossing = row.crossing.wrapping_add(1);
        if row.has_front() {
            row.to_cross = row.message_flits;
            // a header that left in this very cycle has yet to come in
            let comes_in = u64::from(row.arrived == 1 && one_under_way);
            self.request(lane, now + comes_in + self.request_delay);
        }
    }

    /// The header at the front of an input lane will request its output lane in `cycle`.
    fn request(&mut self, lane: usize, cycle: u64) {
        let slot = cycle as usize & (self.requests.len() - 1);
        self.requests[slot].push(lane as u32);
    }

    /// Stage P-2: free output lanes go to the oldest request.
    fn arbitrate(&mut self, observer: &mut impl Observer, now: u64) {
        let slot = now as usize & (self.requests.len() - 1);
        if !self.requests[slot].is_empty() {
            self.enter_requests(slot, now);
        }
        while let Some(to) = self.contested.pop() {
            self.grant(to as usize, observer, now);
        }
    }

    fn enter_requests(&mut self, slot: usize, now: u64) {
        let mut requests = std::mem::take(&mut self.requests[slot]);
        for lane in requests.drain(..) {
            let lane = lane as usize;
            let End::Input { router, port } = self.wiring.end((lane >> self.shift) as u32) else {
                unreachable!("a message went on from a node");
            };
            let row = &mut self.lanes[lane];
            row.requested_cycle = now;
            let destination = self.messages.get(self.queues.at(lane, row.crossing)).destination;
            let link = self.wiring.route(router, destination) as usize;
            let to = link << self.shift | lane & (self.width - 1);
            row.goes_to = to as u32;
            if self.requesting[to] == 0 && self.lanes[to].owner == NONE {
                self.contested.push(to as u32);
            }
            self.requesting[to] |= 1 << port;
        }
        self.requests[slot] = requests;
    }

    /// A free output lane goes to the oldest of its requests; of equal ones to the next port in turn (S1).
    fn grant(&mut self, to: usize, observer: &mut impl Observer, now: u64) {
        let link = (to >> self.shift) as u32;
        let class = to & (self.width - 1);
        let router = link / self.wiring.ports();
        let turn = u32::from(self.next_port[to]);
        let requesting = self.requesting[to];
        let later = requesting & u64::MAX.checked_shl(turn).unwrap_or(0);
        let mut chosen: Option<(u64, u32, usize)> = None;
        // ports from `turn` on, then those before it
        for mut among in [later, requesting & !later] {
            while among != 0 {
                let port = among.trailing_zeros();
                among &= among - 1;
                let lane = (self.wiring.feeding(router, port) as usize) << self.shift | class;
                let cycle = self.lanes[lane].requested_cycle;
                if chosen.is_none_or(|(oldest, ..)| cycle < oldest) {
                    chosen = Some((cycle, port, lane));
                }
            }
        }
        let Some((_, port, lane)) = chosen else { unreachable!("granted without a request") };
        self.requesting[to] &= !(1 << port);
        self.next_port[to] = port as u8 + 1;

        let id = self.queues.at(lane, self.lanes[lane].crossing);
        self.queues.push(to, &mut self.lanes, id);
        let out = &mut self.lanes[to];
        out.owner = lane as u32;
        if out.sending.wrapping_add(1) == out.end {
            out.to_send = out.message_flits;
        }
        if out.waiting < self.buffer_flits {
            self.open[lane / WORD] |= 1 << (lane % WORD);
        }
        observer.granted(self.messages.get(id), self.lanes[lane].requested_cycle, now);
    }

    /// The end of the cycle: what was set free in it is free from now on, links hand over what they took.
    fn receive(&mut self) {
        for lane in self.reopened.drain(..) {
            self.open[lane as usize / WORD] |= 1 << (lane as usize % WORD);
        }
        for to in self.released.drain(..) {
            self.lanes[to as usize].owner = NONE;
            if self.requesting[to as usize] != 0 {
                self.contested.push(to);
            }
        }
        // of two cycles ago: emptied when it was taken in
        let [now, before, two_before] = &mut self.sent;
        std::mem::swap(before, two_before);
        std::mem::swap(now, before);
    }

    /// Flits: none is lost, none is made.
    #[cfg(debug_assertions)]
    fn assert_conservation(&self) {
        for (lane, row) in self.lanes.iter().enumerate() {
            assert!(row.arrived <= self.buffer_flits, "input buffer of lane {lane} overflows");
            if lane < self.buffered_lanes() {
                assert!(row.waiting <= self.buffer_flits, "output buffer of lane {lane} overflows");
            }
        }
    }
}
