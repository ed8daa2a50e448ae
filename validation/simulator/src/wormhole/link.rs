//! Stage P: the links.

use crate::message::Delivery;

use super::crossbar::Crossbar;
use super::lane::{Block, Lane, NONE, WORD};
use super::link_scheduler::LinkScheduler;
use super::wires::Event;
use super::{Parts, Wormhole};

/// Among flits of a block that leave, a bit each: those that begin a message, and those that end one.
struct Ends {
    headers: u64,
    tails: u64,
}

impl<S: LinkScheduler, X: Crossbar> Wormhole<S, X> {
    /// Stage P: a flit per link, if any can go; at the network interfaces, if `SOURCES`, or behind crossbars.
    ///
    /// `WIDTH` lanes belong to a link.
    #[inline]
    fn transmit<const SOURCES: bool, const WIDTH: u32>(&mut self, now: u64, delivered: &mut Vec<Delivery>) {
        let Self { lanes, busy, reopened, parts, .. } = self;
        let buffer_flits = self.buffer_flits;
        let (blocks, passes) = (&mut lanes.blocks[..], !SOURCES && S::PASSES && buffer_flits > 1);
        let (from, end) =
            if SOURCES { (self.buffered_blocks, blocks.len()) } else { (0, self.buffered_blocks) };
        let (this_cycle, two_before, mut reopenings) = ((now % 3) as usize, ((now + 1) % 3) as usize, 0);
        let mut scan = busy.from(from);
        while let Some(index) = busy.next(&mut scan).filter(|index| *index < end) {
            let block = &mut blocks[index];
            block.come_in(two_before);
            let ready = block.waiting & block.credit & !block.resting;
            let contended = contended::<WIDTH>(ready);
            let left = if SOURCES { ready } else { block.not_passing(ready, contended) };
            if left == 0 {
                continue;
            }
            let rows = &mut lanes.rows[index * WORD..][..WORD];
            let sent = parts.choose::<WIDTH>(index * WORD, left, contended, rows);
            let (mut emptied, mut spent, mut headers, mut tails) = (0, 0, 0, 0);
            let mut flits = sent;
            while flits != 0 {
                let bit = flits.trailing_zeros() as usize;
                flits &= flits - 1;
                let (lane, row) = (index * WORD + bit, &mut rows[bit]);
                if !SOURCES {
                    reopened[reopenings] = row.owner;
                    reopenings += usize::from(row.waiting == buffer_flits && row.owner != NONE);
                }
                debug_assert!(row.arrived < row.slots, "lane {lane} sends without a credit");
                row.waiting -= 1;
                emptied |= u64::from(row.waiting == 0) << bit;
                row.arrived += 1;
                spent |= u64::from(row.arrived == row.slots) << bit;
                headers |= u64::from(row.to_send == row.message_flits) << bit;
                row.to_send -= 1;
                tails |= u64::from(row.to_send == 0) << bit;
                parts.flit_leaves::<SOURCES>(lane / WIDTH as usize, lane, row);
            }
            block.sent[this_cycle] = sent;
            block.waiting &= !emptied;
            block.credit &= !spent;
            if passes {
                // alone on its link, and more of the message is to come
                block.passing |= sent & emptied & !contended & !tails & !block.slow;
            }
            if sent & block.slow != 0 {
                block.resting |= parts.wires.rests::<WIDTH>(index, sent & block.slow, now);
            }
            if headers | tails != 0 {
                let ends = Ends { headers, tails };
                block.waiting |= parts.ends_leave::<SOURCES>(index * WORD, rows, ends, now, delivered);
            }
        }
        if !SOURCES {
            self.reopenings = reopenings;
        }
    }

    /// Stage P of all links, for the width of this network.
    #[inline]
    pub(super) fn transmit_all(&mut self, now: u64, delivered: &mut Vec<Delivery>) {
        match self.parts.channels.width() {
            1 => self.transmit_both::<1>(now, delivered),
            2 => self.transmit_both::<2>(now, delivered),
            4 => self.transmit_both::<4>(now, delivered),
            8 => self.transmit_both::<8>(now, delivered),
            16 => self.transmit_both::<16>(now, delivered),
            _ => self.transmit_both::<64>(now, delivered),
        }
    }

    /// Stage P behind crossbars, then at the network interfaces.
    ///
    /// Out of line, so that the code of one width stands together.
    #[inline(never)]
    fn transmit_both<const WIDTH: u32>(&mut self, now: u64, delivered: &mut Vec<Delivery>) {
        self.transmit::<false, WIDTH>(now, delivered);
        self.transmit::<true, WIDTH>(now, delivered);
    }
}

impl<S: LinkScheduler, X: Crossbar> Parts<S, X> {
    /// A flit leaves its source, if `SOURCES`, or a router.
    #[inline(always)]
    fn flit_leaves<const SOURCES: bool>(&mut self, link: usize, lane: usize, row: &mut Lane) {
        if SOURCES {
            self.scheduler.leave_source(link, lane, row);
        } else {
            self.scheduler.leave(link, lane, row);
        }
    }

    /// Of lanes of a block with a flit that can leave: the one of each link that does. The block begins with lane
    /// `first_lane`; lanes of contended links are known.
    #[inline(always)]
    fn choose<const WIDTH: u32>(
        &mut self,
        first_lane: usize,
        left: u64,
        contended: u64,
        rows: &[Lane],
    ) -> u64 {
        let every_lane = u64::MAX >> (WORD as u32 - WIDTH);
        let to_ask = if S::COUNTS { left } else { left & contended };
        let (mut chosen, mut links) = (left ^ to_ask, to_ask);
        while links != 0 {
            let first = links.trailing_zeros() & !(WIDTH - 1);
            let eligible = links >> first & every_lane;
            links &= !(every_lane << first);
            let link = (first_lane + first as usize) / WIDTH as usize;
            let rows = &rows[first as usize..][..WIDTH as usize];
            chosen |= 1 << (first + self.scheduler.choose(link, eligible, rows));
        }
        chosen
    }

    /// Headers and tails among flits of a block leave their sources, if `SOURCES`, or routers; a bit for each lane of a
    /// source that another message takes.
    ///
    /// Out of line, for one flit in a message is a header and one a tail.
    #[inline(never)]
    fn ends_leave<const SOURCES: bool>(
        &mut self,
        first_lane: usize,
        rows: &mut [Lane],
        Ends { mut headers, mut tails }: Ends,
        now: u64,
        delivered: &mut Vec<Delivery>,
    ) -> u64 {
        let mut took = 0;
        while headers != 0 {
            let bit = headers.trailing_zeros() as usize;
            headers &= headers - 1;
            self.header_leaves::<SOURCES>(first_lane + bit, &mut rows[bit], now);
        }
        while tails != 0 {
            let bit = tails.trailing_zeros() as usize;
            tails &= tails - 1;
            let (lane, row) = (first_lane + bit, &mut rows[bit]);
            if !SOURCES {
                if let Some(message) = self.books.tail_left(lane, row) {
                    self.tail_ejected(lane, message, now, delivered);
                }
            } else if self.tail_leaves_source(lane, row) {
                took |= 1 << bit;
            }
        }
        took
    }

    /// The header of a message leaves its source, if `SOURCES`, or a router.
    fn header_leaves<const SOURCES: bool>(&mut self, lane: usize, row: &mut Lane, now: u64) {
        let delay = self.wires.delay(lane >> self.channels.shift());
        let comes_out = now + u64::from(delay);
        if SOURCES {
            self.books.enters(lane, row, now, delay);
        } else {
            self.books.header_left(lane, row, now, delay);
        }
        if X::CHOOSES && !row.ejects() {
            let message = self.books.sending(lane, row);
            if delay > 0 {
                self.wires.add(comes_out, Event::Header { lane: lane as u32, message });
            } else {
                self.crossbar.header_leaves(lane, self.books.ledger.get(message).vtick);
            }
        }
        self.grants.header_left(lane, row, comes_out);
    }

    /// The tail of a message leaves over an ejection channel.
    fn tail_ejected(&mut self, lane: usize, message: u32, now: u64, delivered: &mut Vec<Delivery>) {
        match self.wires.delay(lane >> self.channels.shift()) {
            0 => delivered.push(self.books.deliver(message, &self.wiring, now)),
            delay => self.wires.add(now + u64::from(delay), Event::Delivered { message }),
        }
    }

    /// The tail of a message leaves its source; whether another message takes the lane.
    fn tail_leaves_source(&mut self, lane: usize, row: &mut Lane) -> bool {
        let first_source = (self.wiring.first_injection() as usize) << self.channels.shift();
        let queue = self.channels.group_of(lane, false) - first_source;
        let next = self.books.tail_left_source(queue, lane, row);
        if let Some(next) = &next {
            self.books.starts(lane, row, next);
            self.scheduler.begin_message(lane, row, next.ticket, true);
        }
        next.is_some()
    }
}

impl Block {
    /// Stage P: of lanes with a flit that can leave, those that do not pass. A flit that can not leave, or not alone on
    /// its link, does not.
    #[inline(always)]
    fn not_passing(&mut self, ready: u64, contended: u64) -> u64 {
        self.passing &= (ready | !self.waiting) & !contended;
        self.relayed = self.passing & ready;
        ready & !self.relayed
    }
}

/// All bits of each group of `WIDTH` bits of which more than one is set.
#[inline(always)]
fn contended<const WIDTH: u32>(bits: u64) -> u64 {
    // the lowest and the highest bit of each group
    let lowest = u64::MAX / (u64::MAX >> (WORD as u32 - WIDTH));
    let highest = lowest << (WIDTH - 1);
    // in each group: what is set beside the lowest bit that is; nothing is borrowed from the next group
    let others = bits & ((bits | highest) - lowest);
    // the highest bit of each group where that is anything, and from there all bits
    let some = (((others & !highest) + !highest) | others) & highest;
    (some << 1).wrapping_sub(some >> (WIDTH - 1))
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
        assert_eq!([contended::<64>(1 << 63), contended::<64>(1 << 63 | 1)], [0, u64::MAX]);
    }
}
