//! Stage P: links of routers, and what is on its way over any link.

use crate::control::power::Move;
use crate::message::Delivery;

use super::Levels;
use super::buffers::{Crossed, OutputLane};
use super::flit::Flit;
use super::rules::{LEVELS, Rules};

/// A flit on its way over a link.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wire {
    pub(super) channel: u32,
    pub(super) flit: Flit,
    /// The stamp with which it comes in.
    pub(super) stamp: u64,
}

/// All links.
pub(super) struct Links {
    pub(super) lanes: Vec<OutputLane>,
    /// By link: virtual channels with a first flit of each level before the link.
    waiting: Vec<[u64; LEVELS]>,
    /// Links with such virtual channels, a bit each.
    busy: Vec<u64>,
    /// Flits sent into routers in this cycle, and in the one before.
    sent: Vec<Wire>,
    pub(super) coming_in: Vec<Wire>,
}

impl Links {
    pub(super) fn new(rules: &Rules) -> Self {
        Self {
            lanes: (0..rules.channels * rules.lanes_before()).map(|_| OutputLane::new()).collect(),
            waiting: vec![[0; LEVELS]; rules.links],
            busy: vec![0; rules.links.div_ceil(64)],
            sent: Vec::new(),
            coming_in: Vec::new(),
        }
    }

    /// A flit that crosses joins its lane; whether there is room for another.
    #[inline]
    pub(super) fn push(&mut self, rules: &Rules, channel: usize, level: usize, flit: Flit, now: u64) -> bool {
        let lane = &mut self.lanes[rules.output_lane(channel, level)];
        lane.push(Crossed { cycle: now, flit });
        debug_assert!(lane.flits <= rules.buffer_flits, "the lane before link of {channel} overflows");
        let has_room = lane.flits < rules.buffer_flits;
        if lane.flits == 1 {
            let link = rules.link(channel);
            self.waiting[link][level] |= rules.bit(channel);
            self.busy[link / 64] |= 1 << (link % 64);
        }
        has_room
    }

    /// A flit is sent over a link into a router.
    #[inline]
    pub(super) fn send(&mut self, channel: usize, flit: Flit) {
        self.sent.push(Wire { channel: channel as u32, flit, stamp: 0 });
    }

    /// X4, L9: of the first flits with a slot behind the link, the one that crossed first: its virtual channel and
    /// level.
    #[inline]
    fn first_crossed(&self, rules: &Rules, link: usize, eligible: [u64; LEVELS]) -> Option<(usize, usize)> {
        let all = eligible[0] | eligible[1] | eligible[2];
        let alone = eligible.iter().map(|some| some.count_ones()).sum::<u32>() == 1;
        let level_of = |bit: u64| eligible.iter().position(|some| some & bit != 0).unwrap_or(0);
        let channel = |bit: u64| link << rules.shift | bit.trailing_zeros() as usize;
        if alone {
            return Some((channel(all), level_of(all)));
        }
        let mut best = None;
        let mut least = u64::MAX;
        for (level, some) in eligible.iter().enumerate() {
            let mut left = *some;
            while left != 0 {
                let channel = channel(left);
                left &= left - 1;
                // no two flits cross to a link in a cycle
                let cycle = self.lanes[rules.output_lane(channel, level)].first().cycle;
                if cycle < least {
                    (best, least) = (Some((channel, level)), cycle);
                }
            }
        }
        best
    }
}

impl Levels {
    /// Stage P behind crossbars: every link sends the flit that crossed first, of those with a slot behind it.
    pub(super) fn transmit(&mut self, now: u64, delivered: &mut Vec<Delivery>) {
        if self.arbiters.is_some() {
            return self.transmit_arbitrated(now, delivered);
        }
        for word in 0..self.links.busy.len() {
            let mut busy = self.links.busy[word];
            while busy != 0 {
                let link = word * 64 + busy.trailing_zeros() as usize;
                busy &= busy - 1;
                let (waiting, credit) = (self.links.waiting[link], self.lanes.credit(link));
                let eligible = [0, 1, 2].map(|level| waiting[level] & credit[level]);
                if let Some((channel, level)) = self.links.first_crossed(&self.rules, link, eligible) {
                    self.leave(link, channel, level, now, delivered);
                }
            }
        }
    }

    /// K7: the same with arbiters, which name the lane.
    fn transmit_arbitrated(&mut self, now: u64, delivered: &mut Vec<Delivery>) {
        for word in 0..self.links.busy.len() {
            let mut busy = self.links.busy[word];
            while busy != 0 {
                let link = word * 64 + busy.trailing_zeros() as usize;
                busy &= busy - 1;
                if let Some(herd) = &self.herd
                    && herd.is_stopped(link / self.rules.ports)
                {
                    continue;
                }
                let (waiting, credit) = (self.links.waiting[link], self.lanes.credit(link));
                let eligible = [0, 1, 2].map(|level| waiting[level] & credit[level]);
                let Some(arbiters) = &mut self.arbiters else { return };
                if let Some(named) = arbiters.name(link, eligible) {
                    arbiters.moves(link, named);
                    let channel = link << self.rules.shift | named.place as usize;
                    self.leave(link, channel, named.level, now, delivered);
                }
            }
        }
    }

    /// The first flit of a lane leaves over its link.
    #[inline]
    fn leave(&mut self, link: usize, channel: usize, level: usize, now: u64, delivered: &mut Vec<Delivery>) {
        if self.links.lanes[self.rules.output_lane(channel, level)].flits == self.rules.buffer_flits
            && let Some(owner) = self.requests.owner(channel)
        {
            self.change(owner);
        }
        let rules = &self.rules;
        let lane = &mut self.links.lanes[rules.output_lane(channel, level)];
        let flit = lane.pop();
        let next = (lane.flits > 0).then(|| rules.level(lane.first().flit.class()));
        if next != Some(level) {
            let waiting = &mut self.links.waiting[link];
            waiting[level] &= !rules.bit(channel);
            if let Some(next) = next {
                waiting[next] |= rules.bit(channel);
            } else if *waiting == [0; LEVELS] {
                self.links.busy[link / 64] &= !(1 << (link % 64));
            }
        }
        self.account.sent(link, flit);
        if flit.is_true_header() {
            self.account.header_left(link, flit, now);
        }
        if rules.inputs[link].is_some() {
            self.lanes.takes_slot(rules, channel, level);
            self.links.send(channel, flit);
            self.moves(Move::Links, link);
        } else {
            self.moves(Move::Ejects, link);
            self.ejected_data += u64::from(level != 0);
            if flit.is_true_tail() {
                self.deliver(flit, now, delivered);
            }
        }
    }

    /// The tail of a message leaves the network.
    fn deliver(&mut self, flit: Flit, now: u64, delivered: &mut Vec<Delivery>) {
        let flits = self.account.message(flit).flits;
        if let Some(posting) = &mut self.posting {
            let (source, hold) = (self.account.message(flit).source.into(), self.account.hold(flit));
            posting.is_delivered(source, flit.class() as u8, hold, now);
        }
        let delivery = self.account.deliver(flit, &self.wiring, now);
        self.moving -= 1;
        if self.rules.are_signals(flit.class()) {
            self.signals.push((delivery.destination, delivery.part.stream));
            return;
        }
        match &mut self.hosts {
            Some(hosts) => hosts.receive(self.rules.level(flit.class()), delivery, flits),
            None => delivered.push(delivery),
        }
    }

    /// The end of a cycle: flits that were sent in it get the stamps with which they come in (X3).
    pub(super) fn stamp_sent(&mut self, now: u64) {
        std::mem::swap(&mut self.links.sent, &mut self.links.coming_in);
        for wire in &mut self.links.coming_in {
            let level = self.rules.level(wire.flit.class());
            let vtick = wire.flit.is_header().then(|| self.account.message(wire.flit).vtick);
            let virtual_time = self.crossbars.virtual_time(self.rules.link(wire.channel as usize));
            let place = (wire.channel as usize, level);
            wire.stamp = self.lanes.stamp(&self.rules, place, vtick, virtual_time, now + 1);
        }
    }
}
