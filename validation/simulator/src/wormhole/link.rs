//! Stage P: the links.

use crate::message::Delivery;

use super::crossbar::Crossbar;
use super::lane::{Block, Lane, NONE, WORD};
use super::link_scheduler::LinkScheduler;
use super::{Parts, Wormhole};

impl<S: LinkScheduler, X: Crossbar> Wormhole<S, X> {
    /// Stage P: a flit per link, if any can go; at the network interfaces, if `SOURCES`, or behind crossbars.
    ///
    /// `WIDTH` lanes belong to a link.
    #[inline]
    fn transmit<const SOURCES: bool, const WIDTH: u32>(&mut self, now: u64, delivered: &mut Vec<Delivery>) {
        let Self { lanes, before_links, behind_links, reopened, parts, .. } = self;
        let buffer_flits = self.buffer_flits;
        let every_lane = u64::MAX >> (WORD as u32 - WIDTH);
        let (blocks, first_lane) = (&mut lanes.0[..], self.buffered_blocks * WORD);
        let (mut from, end) =
            if SOURCES { (self.buffered_blocks, blocks.len()) } else { (0, self.buffered_blocks) };
        let (this_cycle, mut reopenings) = ((now % 3) as usize, 0);
        while let Some(index) = before_links.next(from).filter(|index| *index < end) {
            from = index + 1;
            let block = &mut blocks[index];
            if block.waiting == 0 {
                before_links.remove(index);
                continue;
            }
            behind_links.add(index);
            let ready = block.waiting & block.credit;
            let mut left = if SOURCES { ready } else { block.not_passing::<WIDTH>(ready) };
            if left == 0 {
                continue;
            }
            let (mut passing, passes) = (0, !SOURCES && S::PASSES && buffer_flits > 1);
            let (mut sent, mut emptied, mut spent) = (0, 0, 0);
            while left != 0 {
                let first = left.trailing_zeros() & !(WIDTH - 1);
                let eligible = left >> first & every_lane;
                left &= !(every_lane << first);
                let lane_0 = index * WORD + first as usize;
                let link = lane_0 / WIDTH as usize;
                let rows = &block.lanes[first as usize..][..WIDTH as usize];
                let chosen = match eligible & (eligible - 1) {
                    0 if !S::COUNTS => eligible.trailing_zeros(),
                    _ => parts.scheduler.choose(link, eligible, rows),
                };
                let bit = first + chosen;
                let lane = lane_0 + chosen as usize;
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
                parts.flit_leaves::<SOURCES>(link, lane, row);
                if to_send == row.message_flits {
                    parts.header_leaves::<SOURCES>(lane, row, now);
                }
                if to_send == 1 && parts.tail_leaves::<SOURCES>(first_lane, lane, row, now, delivered) {
                    emptied &= !(1 << bit);
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

    /// The header of a message leaves its source, if `SOURCES`, or a router.
    #[inline(always)]
    fn header_leaves<const SOURCES: bool>(&mut self, lane: usize, row: &mut Lane, now: u64) {
        if SOURCES {
            self.books.enters(lane, row, now);
        } else {
            self.books.header_left(lane, row, now);
        }
        if X::CHOOSES && !row.ejects() {
            self.crossbar.header_leaves(lane, self.books.sending(lane, row).vtick);
        }
        self.grants.header_left(lane, row, now);
    }

    /// The tail of a message leaves its source, if `SOURCES`, or a router; whether another message takes the lane
    /// of the source.
    #[inline(never)]
    fn tail_leaves<const SOURCES: bool>(
        &mut self,
        first_source: usize,
        lane: usize,
        row: &mut Lane,
        now: u64,
        delivered: &mut Vec<Delivery>,
    ) -> bool {
        if !SOURCES {
            self.books.tail_left(lane, row, &self.wiring, now, delivered);
            return false;
        }
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
    fn not_passing<const WIDTH: u32>(&mut self, ready: u64) -> u64 {
        self.passing &= (ready | !self.waiting) & !contended::<WIDTH>(ready);
        self.relayed = self.passing & ready;
        ready & !self.relayed
    }
}

/// All bits of each group of `WIDTH` bits of which more than one is set.
#[inline]
fn contended<const WIDTH: u32>(bits: u64) -> u64 {
    if WIDTH == 1 {
        return 0;
    }
    let every_lane = u64::MAX >> (WORD as u32 - WIDTH);
    // 1 at every multiple of WIDTH
    let firsts = u64::MAX / every_lane;
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
    (twice & firsts) * every_lane
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
