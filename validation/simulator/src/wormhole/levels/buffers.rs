//! Lanes behind links, with their credits and clocks, and lanes before links.

use std::collections::VecDeque;

use super::flit::Flit;
use super::rules::{LEVELS, Order, REAL_TIME, Rules};
use crate::wormhole::lane::NONE;

/// A flit in a lane behind a link, and the bits of its stamp, which are in the order of stamps.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stamped {
    pub(super) stamp: u64,
    pub(super) flit: Flit,
}

/// A lane behind a link: a level of a virtual channel.
pub(super) struct InputLane {
    /// Flits in stage 1.
    pub(super) flits: u32,
    /// Slots taken: those flits and flits under way.
    pub(super) taken: u32,
    /// The first flit, if there is any; the others.
    first: Stamped,
    others: VecDeque<Stamped>,
    /// The stamp given out last, and what a flit adds to it.
    clock: f64,
    vtick: f64,
    /// The output virtual channel of the message that gave way and is to go on; `NONE` if there is none.
    pub(super) resumes: u32,
    /// Whether the header at the front has requested an output.
    pub(super) has_asked: bool,
}

impl InputLane {
    fn new() -> Self {
        let first = Stamped { stamp: 0, flit: Flit::of(0, 0) };
        let (clock, vtick) = (0.0, 0.0);
        Self {
            flits: 0,
            taken: 0,
            first,
            others: VecDeque::new(),
            clock,
            vtick,
            resumes: NONE,
            has_asked: false,
        }
    }

    /// The first flit of a lane that is not empty.
    #[inline]
    pub(super) fn first(&self) -> Stamped {
        debug_assert!(self.flits > 0);
        self.first
    }

    #[inline]
    fn push(&mut self, one: Stamped) {
        if self.flits == 0 {
            self.first = one;
        } else {
            self.others.push_back(one);
        }
        self.flits += 1;
    }

    #[inline]
    fn pop(&mut self) -> Stamped {
        let one = self.first;
        self.flits -= 1;
        if self.flits > 0 {
            self.first = self.others.pop_front().expect("as many as are counted");
        }
        one
    }

    /// Of the first flits, at most so many and none behind a tail: how many there are, and whether the last is a tail.
    pub(super) fn first_up_to_tail(&self, most: u32) -> (u32, bool) {
        if self.flits == 0 {
            return (0, false);
        }
        let all = std::iter::once(&self.first).chain(&self.others).take(most as usize);
        let mut count = 0;
        for one in all {
            count += 1;
            if one.flit.is_tail() {
                return (count, true);
            }
        }
        (count, false)
    }
}

/// All lanes behind links.
pub(super) struct InputLanes {
    lanes: Vec<InputLane>,
    /// By link and level: virtual channels with a free slot.
    credit: Vec<[u64; LEVELS]>,
}

impl InputLanes {
    pub(super) fn new(rules: &Rules) -> Self {
        Self {
            lanes: (0..rules.channels * rules.lanes_behind()).map(|_| InputLane::new()).collect(),
            credit: vec![[u64::MAX; LEVELS]; rules.links],
        }
    }

    /// By level: the virtual channels of a link with a free slot behind it.
    #[inline]
    pub(super) fn credit(&self, link: usize) -> &[u64; LEVELS] {
        &self.credit[link]
    }

    /// A flit of a level is sent to a virtual channel of a link that leads into a router.
    #[inline]
    pub(super) fn takes_slot(&mut self, rules: &Rules, channel: usize, level: usize) {
        let lane = &mut self.lanes[rules.input_lane(channel, level)];
        lane.taken += 1;
        debug_assert!(lane.taken <= rules.buffer_flits, "channel {channel} gets a flit without a credit");
        if lane.taken == rules.buffer_flits {
            self.set_credit(rules, channel, level, false);
        }
    }

    /// All levels with the same lane have or have no slot.
    fn set_credit(&mut self, rules: &Rules, channel: usize, level: usize, has: bool) {
        let bit = rules.bit(channel);
        let credit = &mut self.credit[rules.link(channel)];
        let all = rules.lanes_behind() == 1;
        for (_, credit) in credit.iter_mut().enumerate().filter(|(other, _)| all || *other == level) {
            *credit = if has { *credit | bit } else { *credit & !bit };
        }
    }

    /// The stamp of a flit that is in stage 1 from cycle `now` on; `vtick` is that of a message whose header it is.
    #[inline]
    pub(super) fn stamp(
        &mut self,
        rules: &Rules,
        (channel, level): (usize, usize),
        vtick: Option<f64>,
        virtual_time: f64,
        now: u64,
    ) -> u64 {
        let now = now as f64;
        if matches!(rules.order, Order::Fifo | Order::Arbiter) || level != REAL_TIME {
            return now.to_bits();
        }
        let lane = &mut self.lanes[rules.input_lane(channel, level)];
        if let Some(vtick) = vtick {
            (lane.clock, lane.vtick) = (0.0, vtick); // S10
        }
        let seen = if rules.order == Order::FairQueueing { virtual_time } else { now };
        lane.clock = lane.clock.max(seen) + lane.vtick;
        lane.clock.to_bits()
    }

    /// A flit is in stage 1; whether its lane was empty.
    #[inline]
    pub(super) fn push(&mut self, lane: usize, one: Stamped) -> bool {
        let lane = &mut self.lanes[lane];
        let was_empty = lane.flits == 0;
        lane.push(one);
        was_empty
    }

    /// The first flit of a level of a virtual channel crosses.
    #[inline]
    pub(super) fn pop(&mut self, rules: &Rules, channel: usize, level: usize) -> Stamped {
        let lane = &mut self.lanes[rules.input_lane(channel, level)];
        if lane.taken == rules.buffer_flits {
            self.set_credit(rules, channel, level, true);
        }
        let lane = &mut self.lanes[rules.input_lane(channel, level)];
        lane.taken -= 1;
        lane.pop()
    }
}

impl std::ops::Index<usize> for InputLanes {
    type Output = InputLane;

    #[inline]
    fn index(&self, lane: usize) -> &InputLane {
        &self.lanes[lane]
    }
}

impl std::ops::IndexMut<usize> for InputLanes {
    #[inline]
    fn index_mut(&mut self, lane: usize) -> &mut InputLane {
        &mut self.lanes[lane]
    }
}

/// A flit in a lane before a link, and the cycle in which it crossed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Crossed {
    pub(super) cycle: u64,
    pub(super) flit: Flit,
}

/// A lane before a link.
pub(super) struct OutputLane {
    pub(super) flits: u32,
    /// The first flit, if there is any; the others.
    first: Crossed,
    others: VecDeque<Crossed>,
}

impl OutputLane {
    pub(super) fn new() -> Self {
        Self { flits: 0, first: Crossed { cycle: 0, flit: Flit::of(0, 0) }, others: VecDeque::new() }
    }

    /// The first flit of a lane that is not empty.
    #[inline]
    pub(super) fn first(&self) -> Crossed {
        debug_assert!(self.flits > 0);
        self.first
    }

    #[inline]
    pub(super) fn push(&mut self, one: Crossed) {
        if self.flits == 0 {
            self.first = one;
        } else {
            self.others.push_back(one);
        }
        self.flits += 1;
    }

    #[inline]
    pub(super) fn pop(&mut self) -> Flit {
        let flit = self.first.flit;
        self.flits -= 1;
        if self.flits > 0 {
            self.first = self.others.pop_front().expect("as many as are counted");
        }
        flit
    }
}
