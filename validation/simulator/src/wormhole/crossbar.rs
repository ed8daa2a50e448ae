//! Stage P-1: the crossbar.

use crate::message::Delivery;

use super::lane::{NONE, WORD};
use super::link_scheduler::LinkScheduler;
use super::wires::Event;
use super::{Parts, Wormhole};

/// Which of the flits that can cross in a cycle do so.
pub(crate) trait Crossbar: Send + 'static {
    /// Whether it is asked and told.
    const CHOOSES: bool;

    /// The header of a message of this Vtick leaves over the link of `lane`, to come into a router.
    fn header_leaves(&mut self, _lane: usize, _vtick: f64) {}

    /// A flit leaves over the link of `lane` to a router: it is in stage 1 from cycle `now` on.
    fn comes_in(&mut self, _lane: usize, _now: u64) {}

    /// The message at the front of the input lane `lane` owns a lane of the output link `to` from now on.
    fn is_granted(&mut self, _lane: usize, _to: usize) {}

    /// The flits at the front of some lanes of `link`, a bit each and at least one, can cross in this cycle.
    fn can_cross(&mut self, _link: usize, _lanes: u64) {}

    /// All that can cross in this cycle are known.
    fn choose(&mut self, _now: u64) {}

    /// The lanes whose flits cross.
    fn chosen(&self) -> &[u32] {
        &[]
    }
}

/// All of them.
pub(crate) struct Full;

impl Crossbar for Full {
    const CHOOSES: bool = false;
}

impl<S: LinkScheduler, X: Crossbar> Wormhole<S, X> {
    /// Stage P-1: input lanes move a flit into the output lane that their message owns: every one that can, or those
    /// that the crossbar chooses.
    #[inline]
    pub(super) fn cross(&mut self, now: u64, delivered: &mut Vec<Delivery>) {
        match (X::CHOOSES, self.parts.grants.has_backlogs() || !self.parts.wires.are_usual()) {
            (true, false) => self.cross_chosen::<false>(now),
            (true, true) => self.cross_chosen::<true>(now),
            (false, false) => self.cross_all::<false>(now),
            (false, true) => self.cross_all::<true>(now),
        }
        if !self.released.is_empty() {
            self.tails_cross(now);
        }
        self.leave_alone((now % 3) as usize);
        if !self.parts.wires.are_usual() {
            self.go_on_over_wires(now, delivered);
        }
        if X::CHOOSES {
            self.come_in(now);
        }
    }

    /// Every flit crosses that can; if `COUNTS`, backlogs and delays are kept.
    ///
    /// Lanes come one by one from a list: bits of blocks are so few that the end of each block would be a wrong guess.
    #[inline]
    fn cross_all<const COUNTS: bool>(&mut self, now: u64) {
        let (mut at, mut crossings) = (0, 0);
        while let Some(&lane) = self.granted.get(at) {
            at += 1;
            let lane = lane as usize;
            let block = &self.lanes.blocks[lane / WORD];
            if block.filled & block.open & 1 << (lane % WORD) == 0 {
                continue;
            }
            crossings += 1;
            if self.cross_one::<COUNTS>(lane, now) {
                at -= 1;
                self.granted.swap_remove(at);
            }
        }
        self.parts.books.meters.flit_hops += crossings;
    }

    /// The flits cross that the crossbar chooses; if `COUNTS`, backlogs and delays are kept.
    #[inline]
    fn cross_chosen<const COUNTS: bool>(&mut self, now: u64) {
        self.choose(now);
        let mut at = 0;
        while let Some(&lane) = self.parts.crossbar.chosen().get(at) {
            at += 1;
            self.cross_one::<COUNTS>(lane as usize, now);
        }
        self.parts.books.meters.flit_hops += at as u64;
    }

    /// The flit at the front of an input lane crosses; whether it is a tail.
    #[inline(always)]
    fn cross_one<const COUNTS: bool>(&mut self, lane: usize, now: u64) -> bool {
        let Self { lanes, busy, released, parts, .. } = self;
        let (cycle, shift) = (now as f64, parts.channels.shift());
        let buffer_flits = self.buffer_flits;
        let (blocks, rows) = (&mut lanes.blocks[..], &mut lanes.rows[..]);
        let (this_cycle, before) = ((now % 3) as usize, ((now + 2) % 3) as usize);
        let mask = 1 << (lane % WORD);
        let block = &mut blocks[lane / WORD];
        let row = &mut rows[lane];
        let (to, to_cross) = (row.goes_to as usize, row.to_cross - 1);
        row.to_cross = to_cross;
        let delay = if COUNTS { parts.wires.delay(lane >> shift) } else { 0 };
        if delay > 0 {
            // the slot is free, and the backlog smaller, when that is known at the other end of the link
            let stay = parts.wires.crosses(lane, now, delay);
            block.filled &= if stay == 0 { !mask } else { u64::MAX };
        } else {
            if COUNTS {
                parts.grants.leaves_backlog(lane >> shift);
            }
            block.credit |= mask;
            let stay = row.arrived - 1;
            row.arrived = stay;
            // flits that have been sent and can not cross in the next cycle
            let is_set = |cycle: usize| u32::from(block.sent[cycle] & mask != 0);
            let under_way = is_set(this_cycle) + is_set(before);
            block.filled &= if stay <= under_way { !mask } else { u64::MAX };
        }

        let ahead = &mut blocks[to / WORD];
        let to_bit = 1 << (to % WORD);
        let out = &mut rows[to];
        debug_assert_eq!(out.owner as usize, lane, "lane {to} is another message's");
        if ahead.relayed & to_bit != 0 {
            ahead.relay(to_bit, out, this_cycle);
            parts.scheduler.pass(to >> shift, to, out, cycle);
        } else {
            parts.scheduler.join(to, out, cycle);
            debug_assert!(out.waiting < buffer_flits, "output buffer of lane {to} overflows");
            out.waiting += 1;
            ahead.waiting |= to_bit;
            busy.add(to / WORD);
            if out.waiting == buffer_flits {
                blocks[lane / WORD].open &= !mask;
            }
        }
        if to_cross == 0 {
            released.push(to as u32);
        }
        to_cross == 0
    }

    /// The crossbar is asked which flits cross.
    fn choose(&mut self, now: u64) {
        let shift = self.parts.channels.shift();
        let every_lane = u64::MAX >> (WORD - (1 << shift));
        let mut scan = self.busy.from(0);
        while let Some(index) = self.busy.next(&mut scan) {
            let block = &self.lanes.blocks[index];
            let mut left = block.filled & block.open;
            while left != 0 {
                let first = left.trailing_zeros() >> shift << shift;
                self.parts
                    .crossbar
                    .can_cross((index * WORD + first as usize) >> shift, left >> first & every_lane);
                left &= !(every_lane << first);
            }
        }
        self.parts.crossbar.choose(now);
    }

    /// The crossbar is told of all flits that were sent to a router in this cycle.
    fn come_in(&mut self, now: u64) {
        let mut scan = self.busy.from(0);
        while let Some(index) = self.busy.next(&mut scan) {
            let mut sent = self.lanes.blocks[index].sent_to_router((now % 3) as usize);
            while sent != 0 {
                self.parts.crossbar.comes_in(index * WORD + sent.trailing_zeros() as usize, now + 1);
                sent &= sent - 1;
            }
        }
    }

    /// Of the flits that were to pass, those that no other flit has followed.
    ///
    /// It comes to the same as if they had left before the crossbar stage: a flit that is sent and under way
    /// changes nothing for those that cross in its lane in this cycle.
    fn leave_alone(&mut self, this_cycle: usize) {
        let Self { lanes, busy, parts: Parts { scheduler, channels, .. }, .. } = self;
        let shift = channels.shift();
        let mut scan = busy.from(0);
        while let Some(index) = busy.next(&mut scan).filter(|index| *index < self.buffered_blocks) {
            let block = &mut lanes.blocks[index];
            let mut left = std::mem::take(&mut block.relayed);
            while left != 0 {
                let bit = left.trailing_zeros() as usize;
                left &= left - 1;
                let lane = index * WORD + bit;
                let row = &mut lanes.rows[lane];
                debug_assert!(row.arrived < row.slots, "lane {lane} sends without a credit");
                row.waiting -= 1;
                row.to_send -= 1;
                row.arrived += 1;
                block.waiting &= !(u64::from(row.waiting == 0) << bit);
                block.credit &= !(u64::from(row.arrived == row.slots) << bit);
                block.sent[this_cycle] |= 1 << bit;
                scheduler.leave(lane >> shift, lane, row);
            }
        }
    }

    /// Links with a delay: flits that were sent in this cycle go onto the wire, and what comes out of it at either end
    /// is from now on what it would be without a delay. Slow links: those that have rested are ready.
    ///
    /// Out of line, for most networks have no such links.
    #[inline(never)]
    fn go_on_over_wires(&mut self, now: u64, delivered: &mut Vec<Delivery>) {
        let Self { lanes, busy, parts, .. } = self;
        let (this_cycle, shift) = ((now % 3) as usize, parts.channels.shift());
        for place in 0..parts.wires.blocks().len() {
            let (index, bits) = parts.wires.blocks()[place];
            let sent = &mut lanes.blocks[index as usize].sent[this_cycle];
            let mut left = *sent & bits;
            *sent &= !bits;
            while left != 0 {
                let lane = index as usize * WORD + left.trailing_zeros() as usize;
                left &= left - 1;
                let delay = parts.wires.delay(lane >> shift);
                parts.wires.add(now + u64::from(delay), Event::Flit { lane: lane as u32 });
            }
        }
        let events = parts.wires.take(now);
        for event in &events {
            match *event {
                Event::Header { lane, message } => {
                    parts.crossbar.header_leaves(lane as usize, parts.books.ledger.get(message).vtick);
                }
                Event::Flit { lane } => {
                    let lane = lane as usize;
                    parts.wires.comes_out(lane);
                    lanes.blocks[lane / WORD].sent[this_cycle] |= 1 << (lane % WORD);
                    busy.add(lane / WORD);
                }
                Event::Freed { lane } => {
                    let lane = lane as usize;
                    lanes.rows[lane].arrived -= 1;
                    lanes.blocks[lane / WORD].credit |= 1 << (lane % WORD);
                    parts.grants.leaves_backlog(lane >> shift);
                }
                Event::Delivered { message } => {
                    delivered.push(parts.books.deliver(message, &parts.wiring, now));
                }
                Event::Rested { lane } => {
                    let (block, first) = (lane as usize / WORD, lane as usize % WORD);
                    let every_lane = u64::MAX >> (WORD - (1 << shift));
                    lanes.blocks[block].resting &= !(every_lane << first);
                }
            }
        }
        parts.wires.give_back(now, events);
    }

    /// The tails of messages at the front of input lanes have crossed; the next ones come to the front.
    ///
    /// Out of line, for one flit in a message is a tail.
    #[inline(never)]
    fn tails_cross(&mut self, now: u64) {
        let Self { lanes, released, parts, .. } = self;
        for &to in &*released {
            let to = to as usize;
            lanes.blocks[to / WORD].passing &= !(1 << (to % WORD));
            parts.grants.leave(to >> parts.channels.shift());
            let lane = lanes[to].owner as usize;
            let (block, bit) = (&mut lanes.blocks[lane / WORD], lane % WORD);
            block.open &= !(1 << bit);
            let row = &mut lanes.rows[lane];
            row.goes_to = NONE;
            if let Some(next) = parts.books.has_crossed(lane, row) {
                parts.grants.moves_up(lane, row, next, now);
            }
        }
    }
}
