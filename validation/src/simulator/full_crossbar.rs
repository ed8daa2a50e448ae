//! Wormhole routers with a full crossbar, one virtual channel per class and port, and all that happens in them
//! in a cycle.
//!
//! Lanes that can do something are bits in words, so that those that cannot cost nothing: a lane is looked at
//! only when one of its flits moves. All decisions of a cycle look at the state at its start. What a stage sets
//! free for an earlier stage therefore takes effect at the end of the cycle (`reopened`, `released`), and what
//! it hands on is picked up a cycle later because the last stage goes first.
//!
//! Most flits *pass*: a flit leaves an output buffer, alone on its link, as another of its message comes in. The
//! link then has nothing to choose, and the crossbar stage moves both flits in one go. Which lanes those are is
//! settled before any flit moves; where the second flit does not come, the first one leaves alone.

use flitwise_models::scenario::Scenario;

use crate::message::{Arrival, Delivery};

use super::arbiter::Arbiter;
use super::lane::{Lane, Lanes, NONE, WORD};
use super::link_scheduler::LinkScheduler;
use super::queues::{Ledger, Queued};
use super::wiring::{End, Wiring};

/// How often all flits are counted in a build with assertions: a flit that is lost or made stays so, and a count in
/// every cycle took four fifths of the time \[cycles\].
#[cfg(debug_assertions)]
const CONSERVATION_CYCLES: u64 = 64;

/// The state of the network: one row per lane, one bit per lane and question.
pub(crate) struct FullCrossbar {
    pub(crate) wiring: Wiring,
    /// Lanes per link, a power of two, and its logarithm.
    width: usize,
    shift: u32,
    buffer_flits: u32,
    /// `P`.
    pipeline_stages: u64,

    lanes: Lanes,
    /// Blocks of lanes of routers' output links.
    buffered_blocks: usize,
    /// Stage P-1: input lanes whose message owns an output lane.
    granted: Vec<u32>,
    /// Input lanes whose output lane has got room in this cycle: the first so many of a list as long as there
    /// are links.
    reopened: Vec<u32>,
    reopenings: usize,
    /// Output lanes whose message has crossed in this cycle.
    released: Vec<u32>,

    pub(crate) ledger: Ledger,
    arbiter: Arbiter,
    /// Flits that have crossed a crossbar.
    pub(crate) flit_hops: u64,
}

impl FullCrossbar {
    pub(crate) fn new(scenario: &Scenario) -> Self {
        let classes = scenario.classes();
        let width = classes.len().next_power_of_two();
        let router = scenario.router();
        // lanes of injection links begin with a word of their own
        let wiring = Wiring::new(scenario.network(), (WORD / width) as u32);
        let lane = |link: u32, class: usize| {
            let flits = classes.get(class).map_or(1, |class| class.message_flits);
            Lane::new(flits, (wiring.end(link) != End::Node).then_some(router.buffer_flits))
        };
        let lane = &lane;
        let lanes: Lanes =
            (0..wiring.links()).flat_map(|link| (0..width).map(move |class| lane(link, class))).collect();
        let buffered_blocks = wiring.first_injection() as usize * width / WORD;
        let output_lanes = (wiring.routers() * wiring.ports()) as usize * width;
        let pipeline_stages = u64::from(router.pipeline_stages);
        let longest = classes.iter().map(|class| class.message_flits).max().unwrap_or(1);
        Self {
            width,
            shift: width.trailing_zeros(),
            buffer_flits: router.buffer_flits,
            pipeline_stages,
            granted: Vec::with_capacity(lanes.len()),
            reopened: vec![0; lanes.len() / width],
            reopenings: 0,
            released: Vec::new(),
            ledger: Ledger::new(lanes.len(), wiring.nodes() as usize, width, longest, pipeline_stages),
            arbiter: Arbiter::new(pipeline_stages, lanes.len(), output_lanes),
            flit_hops: 0,
            buffered_blocks,
            lanes,
            wiring,
        }
    }

    /// Lanes of all links.
    pub(crate) fn lanes(&self) -> usize {
        self.lanes.len()
    }

    /// Whether nothing is under way or waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.ledger.unfinished == 0
    }

    /// By link and class: flits that have left over the link.
    pub(crate) fn sent(&self) -> impl Iterator<Item = (u32, usize, u64)> {
        let place = |lane: usize| ((lane >> self.shift) as u32, lane & (self.width - 1));
        // those of whole messages, and of the one being sent
        let flits = move |lane: usize| {
            let row = &self.lanes[lane];
            let under_way = if row.to_send > 0 { row.message_flits - row.to_send } else { 0 };
            self.ledger.messages_sent[lane] * u64::from(row.message_flits) + u64::from(under_way)
        };
        (0..self.lanes.len()).map(move |lane| (place(lane).0, place(lane).1, flits(lane)))
    }

    /// A message joins its source queue at the start of cycle `arrival.cycle`.
    pub(crate) fn arrive(&mut self, scheduler: &mut impl LinkScheduler, arrival: Arrival) {
        let queue = (arrival.source as usize) << self.shift | usize::from(arrival.class);
        let lane = ((self.wiring.first_injection() as usize) << self.shift) + queue;
        let sources = &mut self.ledger.sources;
        let queued = sources.len(queue);
        if queued >= sources.limit(usize::from(arrival.class)) {
            return;
        }
        let behind_others = queued > 0;
        let row = &mut self.lanes[lane];
        let now = arrival.cycle as f64;
        let ticket = scheduler.join_message(lane >> self.shift, now);
        if !behind_others {
            row.to_send = row.message_flits;
            scheduler.begin_message(lane, row, ticket, false);
        }
        row.waiting += row.message_flits;
        self.lanes.0[lane / WORD].waiting |= 1 << (lane % WORD);
        let message = Queued { generated_cycle: arrival.cycle, destination: arrival.destination, ticket };
        sources.push(queue, message);
        self.ledger.unfinished += 1;
    }

    /// One cycle; messages that are through are added to `delivered`.
    pub(crate) fn step<S: LinkScheduler>(
        &mut self,
        scheduler: &mut S,
        now: u64,
        delivered: &mut Vec<Delivery>,
    ) {
        // with three stages a grant and the crossing share a cycle
        if self.pipeline_stages == 3 {
            self.arbitrate(now);
        }
        self.transmit_all::<S, false>(scheduler, now, delivered);
        self.transmit_all::<S, true>(scheduler, now, delivered);
        self.cross(scheduler, now);
        if self.pipeline_stages > 3 {
            self.arbitrate(now);
        }
        self.receive();
        #[cfg(debug_assertions)]
        if now.is_multiple_of(CONSERVATION_CYCLES) {
            self.assert_conservation();
        }
    }

    /// Stage P: a flit per link, if any can go; at the network interfaces, if `SOURCES`, or behind crossbars.
    ///
    /// `WIDTH` lanes belong to a link.
    #[inline]
    fn transmit<S: LinkScheduler, const SOURCES: bool, const WIDTH: u32>(
        &mut self,
        scheduler: &mut S,
        now: u64,
        delivered: &mut Vec<Delivery>,
    ) {
        let Self { lanes, reopened, ledger, arbiter, wiring, .. } = self;
        let buffer_flits = self.buffer_flits;
        let every_class = u64::MAX >> (WORD as u32 - WIDTH);
        let (routers, sources) = lanes.0.split_at_mut(self.buffered_blocks);
        let (blocks, first_lane) = if SOURCES { (sources, routers.len() * WORD) } else { (routers, 0) };
        let this_cycle = (now % 3) as usize;
        let mut reopenings = 0;
        for (index, block) in blocks.iter_mut().enumerate() {
            let ready = block.waiting & block.credit;
            let mut left = ready;
            if !SOURCES {
                // a flit that can not leave, or not alone on its link, does not pass
                block.passing &= (ready | !block.waiting) & !contended::<WIDTH>(ready);
                block.relayed = block.passing & ready;
                left &= !block.relayed;
            }
            if left == 0 {
                continue;
            }
            let (mut passing, passes) = (0, !SOURCES && S::PASSES && buffer_flits > 1);
            let (mut sent, mut emptied, mut spent) = (0, 0, 0);
            while left != 0 {
                let first = left.trailing_zeros() & !(WIDTH - 1);
                let eligible = (left >> first & every_class) as u32;
                left &= !(every_class << first);
                let lane_0 = first_lane + index * WORD + first as usize;
                let link = lane_0 / WIDTH as usize;
                let rows = &block.lanes[first as usize..][..WIDTH as usize];
                let class = match eligible & (eligible - 1) {
                    0 if !S::COUNTS => eligible.trailing_zeros(),
                    _ => scheduler.choose(link, eligible, rows),
                };
                let bit = first + class;
                let lane = lane_0 + class as usize;
                let row = &mut block.lanes[bit as usize % WORD];
                if !SOURCES {
                    reopened[reopenings] = row.owner;
                    reopenings += usize::from(row.waiting == buffer_flits && row.owner != NONE);
                }
                debug_assert!(row.arrived < row.slots, "lane {lane} sends without a credit");
                row.waiting -= 1;
                emptied |= u64::from(row.waiting == 0) << bit;
                row.arrived += 1;
                spent |= u64::from(row.arrived == row.slots) << bit;
                sent |= 1 << bit;
                let to_send = row.to_send;
                row.to_send = to_send - 1;
                // more of the message is to come
                let alone = eligible & (eligible - 1) == 0;
                passing |= u64::from(passes && alone && row.waiting == 0 && to_send > 1) << bit;
                if SOURCES {
                    scheduler.leave_source(link, lane, row);
                } else {
                    scheduler.leave(link, lane, row);
                }
                if to_send == row.message_flits {
                    if SOURCES {
                        ledger.enter(lane - first_lane, lane, row, now);
                    } else {
                        ledger.header_left(lane, row, now);
                    }
                    arbiter.header_left(lane, row, now);
                }
                if to_send == 1 {
                    if SOURCES {
                        if let Some(ticket) = ledger.tail_left_source(lane - first_lane, lane, row) {
                            scheduler.begin_message(lane, row, ticket, true);
                        }
                    } else {
                        ledger.tail_left(lane, row, wiring, now, delivered);
                    }
                }
            }
            block.sent[this_cycle] = sent;
            block.passing |= passing;
            block.waiting &= !emptied;
            block.credit &= !spent;
        }
        if !SOURCES {
            self.reopenings = reopenings;
        }
    }

    /// [`Self::transmit`] for the width of this network.
    #[inline]
    fn transmit_all<S: LinkScheduler, const SOURCES: bool>(
        &mut self,
        scheduler: &mut S,
        now: u64,
        delivered: &mut Vec<Delivery>,
    ) {
        match self.width {
            1 => self.transmit::<S, SOURCES, 1>(scheduler, now, delivered),
            2 => self.transmit::<S, SOURCES, 2>(scheduler, now, delivered),
            4 => self.transmit::<S, SOURCES, 4>(scheduler, now, delivered),
            8 => self.transmit::<S, SOURCES, 8>(scheduler, now, delivered),
            _ => self.transmit::<S, SOURCES, 16>(scheduler, now, delivered),
        }
    }

    /// Stage P-1: every input lane that can moves a flit into the output lane that its message owns.
    #[inline]
    fn cross<S: LinkScheduler>(&mut self, scheduler: &mut S, now: u64) {
        let cycle = now as f64;
        let Self { lanes, granted, released, ledger, arbiter, shift, .. } = self;
        let shift = *shift;
        let mut crossings = 0;
        let buffer_flits = self.buffer_flits;
        let blocks = &mut lanes.0[..];
        let this_cycle = (now % 3) as usize;
        let (before, two_before) = ((this_cycle + 2) % 3, (this_cycle + 1) % 3);
        for block in &mut *blocks {
            // flits that came in during the cycle before
            block.filled |= std::mem::take(&mut block.sent[two_before]);
        }
        let mut at = 0;
        while let Some(&lane) = granted.get(at) {
            at += 1;
            let lane = lane as usize;
            let block = &mut blocks[lane / WORD];
            let bit = lane % WORD;
            if block.filled & block.open & (1 << bit) == 0 {
                continue;
            }
            crossings += 1;
            let row = &mut block.lanes[bit];
            let to = row.goes_to as usize;
            block.credit |= u64::from(row.arrived == buffer_flits) << bit;
            let stay = row.arrived - 1;
            row.arrived = stay;
            let to_cross = row.to_cross - 1;
            row.to_cross = to_cross;
            // flits that have been sent and can not cross in the next cycle
            let under_way = (block.sent[this_cycle] >> bit & 1) + (block.sent[before] >> bit & 1);
            block.filled &= !(u64::from(u64::from(stay) <= under_way) << bit);

            let ahead = &mut blocks[to / WORD];
            let to_bit = 1 << (to % WORD);
            let out = &mut ahead.lanes[to % WORD];
            debug_assert_eq!(out.owner as usize, lane, "lane {to} belongs to another message");
            if ahead.relayed & to_bit != 0 {
                // the flit that waits leaves, this one takes its place
                ahead.relayed &= !to_bit;
                ahead.sent[this_cycle] |= to_bit;
                debug_assert!(out.arrived < out.slots, "lane {to} sends without a credit");
                out.to_send -= 1;
                out.arrived += 1;
                if out.arrived == out.slots {
                    ahead.credit &= !to_bit;
                }
                scheduler.pass(to >> shift, to, out, cycle);
            } else {
                scheduler.join(to, out, cycle);
                debug_assert!(out.waiting < buffer_flits, "output buffer of lane {to} overflows");
                out.waiting += 1;
                ahead.waiting |= to_bit;
                if out.waiting == buffer_flits {
                    blocks[lane / WORD].open &= !(1 << bit);
                }
            }
            if to_cross == 0 {
                blocks[to / WORD].passing &= !to_bit;
                released.push(to as u32);
                at -= 1;
                granted.swap_remove(at);
                let block = &mut blocks[lane / WORD];
                block.open &= !(1 << bit);
                let one_under_way = block.sent[this_cycle] >> bit & 1 == 1;
                let row = &mut block.lanes[bit];
                ledger.queues.pop(lane, row);
                arbiter.tail_crossed(lane, row, one_under_way, now);
            }
        }
        self.flit_hops += crossings;
        self.leave_alone(scheduler, this_cycle);
    }

    /// Of the flits that were to pass, those that no other flit has followed.
    ///
    /// It comes to the same as if they had left before the crossbar stage: a flit that is sent and under way
    /// changes nothing for those that cross in its lane in this cycle.
    fn leave_alone<S: LinkScheduler>(&mut self, scheduler: &mut S, this_cycle: usize) {
        let Self { lanes, shift, .. } = self;
        for (index, block) in lanes.0.iter_mut().enumerate() {
            let mut left = std::mem::take(&mut block.relayed);
            while left != 0 {
                let bit = left.trailing_zeros() as usize;
                left &= left - 1;
                let lane = index * WORD + bit;
                let row = &mut block.lanes[bit];
                debug_assert!(row.arrived < row.slots, "lane {lane} sends without a credit");
                row.waiting -= 1;
                row.to_send -= 1;
                row.arrived += 1;
                block.waiting &= !(u64::from(row.waiting == 0) << bit);
                block.credit &= !(u64::from(row.arrived == row.slots) << bit);
                block.sent[this_cycle] |= 1 << bit;
                scheduler.leave(lane >> *shift, lane, row);
            }
        }
    }

    /// Stage P-2: free output lanes go to the oldest request.
    fn arbitrate(&mut self, now: u64) {
        let Self { lanes, granted, ledger, arbiter, wiring, shift, .. } = self;
        arbiter.enter_requests(lanes, ledger, wiring, *shift, now);
        while let Some((lane, to)) = arbiter.grant_next(wiring, *shift) {
            let id = ledger.queues.at(lane, &lanes[lane], lanes[lane].crossing);
            let out = &mut lanes[to];
            ledger.queues.push(to, out, id);
            debug_assert_eq!(out.owner, NONE, "lane {to} is granted twice");
            out.owner = lane as u32;
            if out.sending.wrapping_add(1) == out.end {
                out.to_send = out.message_flits;
            }
            if out.waiting < self.buffer_flits {
                lanes.0[lane / WORD].open |= 1 << (lane % WORD);
            }
            granted.push(lane as u32);
            ledger.messages.get_mut(id).is_granted(now);
        }
    }

    /// The end of the cycle: what was set free in it is free from now on, links hand over what they took.
    fn receive(&mut self) {
        for &lane in &self.reopened[..self.reopenings] {
            self.lanes.0[lane as usize / WORD].open |= 1 << (lane as usize % WORD);
        }
        for to in self.released.drain(..) {
            debug_assert_ne!(self.lanes[to as usize].owner, NONE, "lane {to} is released twice");
            self.lanes[to as usize].owner = NONE;
            self.arbiter.release(to);
        }
    }

    /// No flit is lost or made: those that left the sources have left the network or are in a buffer.
    #[cfg(debug_assertions)]
    fn assert_conservation(&self) {
        let (mut entered, mut left, mut inside) = (0, 0, 0);
        for (lane, (_, _, sent)) in self.sent().enumerate() {
            let row = &self.lanes[lane];
            if !row.ejects() {
                inside += u64::from(row.arrived);
            }
            if lane < self.buffered_blocks * WORD {
                inside += u64::from(row.waiting);
                left += if row.ejects() { sent } else { 0 };
            } else {
                entered += sent;
            }
        }
        assert_eq!(entered, left + inside, "flits that entered against those that left or are in buffers");
    }
}

/// All bits of each group of `WIDTH` bits of which more than one is set.
#[inline]
fn contended<const WIDTH: u32>(bits: u64) -> u64 {
    if WIDTH == 1 {
        return 0;
    }
    let every_class = u64::MAX >> (WORD as u32 - WIDTH);
    // 1 at every multiple of WIDTH
    let firsts = u64::MAX / every_class;
    // in each group: bits above a set one, so that what is set twice meets itself
    let (mut above, mut by) = ((bits & !(firsts << (WIDTH - 1))) << 1, 1);
    while by < WIDTH - 1 {
        above |= (above & !(firsts << (WIDTH - 1))) << 1;
        by += 1;
    }
    let mut twice = bits & above;
    let mut by = 1;
    while by < WIDTH {
        twice |= twice >> by;
        by *= 2;
    }
    (twice & firsts) * every_class
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_with_two_classes_ready_are_contended() {
        assert_eq!(contended::<1>(u64::MAX), 0);
        assert_eq!(contended::<2>(0b11_10_01_00_11), 0b11_00_00_00_11);
        assert_eq!(contended::<4>(0x8421_0c79_0000_1003), 0x0000_0fff_0000_000f);
        assert_eq!(contended::<16>(0x8001_8000_0001_0000), 0xffff_0000_0000_0000);
        assert_eq!(contended::<8>(0x8081_1000), 0x00ff_0000);
    }
}
