//! Network interfaces: a queue for each level of a virtual channel, and the flit that leaves next (L2, H5).

use std::collections::VecDeque;

use flitwise_language::scenario::Scenario;

use crate::control::congestion::Hold;
use crate::control::power::Move;
use crate::interface::host::Posted;
use crate::interface::{QueuedMessage, SourceQueues};
use crate::message::HostTimes;
use crate::wormhole::lane::NONE;

use super::Levels;
use super::flit::Flit;
use super::rules::{BEST_EFFORT, LEVELS, Order, REAL_TIME, Rules};

/// A message of a source queue, and its time behind a host bus.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub(super) message: QueuedMessage,
    host: HostTimes,
    hold: Hold,
}

/// A level of a virtual channel of an injection link.
#[derive(Clone, Copy, Debug)]
struct SourceLane {
    /// The message at the front: its flits, and those that have not left.
    flit: Flit,
    flits: u32,
    to_send: u32,
    /// The stamp of its next flit, and what each adds to it.
    stamp: f64,
    vtick: f64,
}

/// The message that a node sends, one at a time.
#[derive(Clone, Copy, Debug)]
struct Programmed {
    /// Its virtual channel, `NONE` if there is no message, and its level.
    channel: u32,
    level: u8,
    /// The first cycle in which a flit can leave.
    starts: u64,
}

/// How messages are chosen that are sent one at a time.
struct ByMessage {
    send_setup: u64,
    /// By node.
    programmed: Vec<Programmed>,
    /// By node, where levels are not known: virtual channels and levels of messages in the order in which they joined.
    order: Option<Vec<VecDeque<(u32, u8)>>>,
}

/// The interfaces' sides of all injection links.
pub(super) struct Sources {
    order: Order,
    by_message: Option<ByMessage>,
    lanes: Vec<SourceLane>,
    /// The same numbers as the lanes.
    pub(super) queues: SourceQueues<Waiting>,
    /// By node and level: virtual channels with a message.
    waiting: Vec<[u64; LEVELS]>,
    /// Nodes with a message, a bit each.
    busy: Vec<u64>,
    /// By node: `v` (S4), and the virtual channel after the one served last (S7).
    virtual_time: Vec<f64>,
    next: Vec<u32>,
    /// The first virtual channel of the injection links; from the lane of a level to that of the next.
    first: usize,
    stride: usize,
    /// By lane, where they are looked at: flits of its messages that have not left.
    pub(super) queued_flits: Vec<u32>,
    /// By node, where arbiters decide and messages go one after another: the virtual channel of the message that began
    /// last and has not ended, and its level.
    current: Vec<Option<(u32, u8)>>,
    /// Flits that have left.
    pub(super) flits: u64,
}

impl Sources {
    pub(super) fn new(rules: &Rules, first: usize, scenario: &Scenario) -> Self {
        let host = scenario.host_interface();
        let channels = rules.channels - first;
        let nodes = channels >> rules.shift;
        let lanes = channels * rules.lanes_behind();
        let lane = SourceLane { flit: Flit::of(0, 0), flits: 0, to_send: 0, stamp: 0.0, vtick: 0.0 };
        let none = Programmed { channel: NONE, level: 0, starts: 0 };
        let by_message = host.filter(|host| host.by_message).map(|host| ByMessage {
            send_setup: host.send_setup,
            programmed: vec![none; nodes],
            order: (!host.is_qos).then(|| vec![VecDeque::new(); nodes]),
        });
        // an interface that knows classes does so whatever the routers know
        let order = if rules.order == Order::Fifo && host.is_some_and(|host| host.is_qos) {
            Order::VirtualClock
        } else {
            rules.order
        };
        Self {
            order,
            by_message,
            lanes: vec![lane; lanes],
            queues: SourceQueues::new(lanes, rules.kinds.len()),
            waiting: vec![[0; LEVELS]; nodes],
            busy: vec![0; nodes.div_ceil(64)],
            virtual_time: vec![0.0; nodes],
            next: vec![0; nodes],
            queued_flits: Vec::new(),
            current: match scenario.channel_adapter() {
                Some(adapter) if adapter.by_message => vec![None; nodes],
                _ => Vec::new(),
            },
            first,
            stride: if rules.lanes_behind() > 1 { channels } else { 0 },
            flits: 0,
        }
    }

    /// The lane, and the queue, of a level of a virtual channel.
    #[inline]
    pub(super) fn lane(&self, channel: usize, level: usize) -> usize {
        level * self.stride + channel - self.first
    }

    /// What the clock of a node says when a message joins in cycle `now`.
    fn ticket(&self, node: usize, level: usize, now: u64) -> f64 {
        let of_clock = self.order == Order::FairQueueing && level == REAL_TIME;
        if of_clock { self.virtual_time[node] } else { now as f64 }
    }

    /// Of some virtual channels of a node, those of a level: the one whose next flit has the smallest stamp; of equal
    /// ones the lowest.
    fn smallest(&self, rules: &Rules, link: usize, level: usize, some: u64) -> usize {
        let stamp = |channel: usize| self.lanes[self.lane(channel, level)].stamp;
        let (mut best, mut left) = (link << rules.shift | some.trailing_zeros() as usize, some & (some - 1));
        while left != 0 {
            let other = link << rules.shift | left.trailing_zeros() as usize;
            left &= left - 1;
            if stamp(other) < stamp(best) {
                best = other;
            }
        }
        best
    }

    /// The virtual channel and level of the flit that goes next, of those that can.
    fn choose(
        &mut self,
        rules: &Rules,
        (node, link): (usize, usize),
        some: [u64; LEVELS],
    ) -> Option<(usize, usize)> {
        if self.order != Order::Fifo {
            let level = some.iter().position(|of_level| *of_level != 0)?;
            return Some((self.smallest(rules, link, level, some[level]), level));
        }
        // S7: the oldest, of equal ones in turn
        let width = 1 << rules.shift;
        let mut best: Option<((u64, u32), usize, usize)> = None;
        for (level, of_level) in some.iter().enumerate() {
            let mut left = *of_level;
            while left != 0 {
                let place = left.trailing_zeros();
                left &= left - 1;
                let channel = link << rules.shift | place as usize;
                let stamp = self.lanes[self.lane(channel, level)].stamp;
                let key = (stamp.to_bits(), place.wrapping_sub(self.next[node]) & (width - 1));
                if best.is_none_or(|(least, ..)| key < least) {
                    best = Some((key, channel, level));
                }
            }
        }
        let (_, channel, level) = best?;
        self.next[node] = (channel as u32 + 1) & (width - 1);
        Some((channel, level))
    }
}

impl Levels {
    /// A message joins the queue of its level and virtual channel.
    pub(super) fn join(&mut self, node: usize, posted: Posted, now: u64) {
        let Posted { mut message, level, channel, host, hold } = posted;
        let channel = self.sources.first + (node << self.rules.shift) + channel;
        message.ticket = self.sources.ticket(node, level, now);
        self.moving += 1;
        if let Some(ByMessage { order: Some(order), .. }) = &mut self.sources.by_message {
            order[node].push_back((channel as u32, level as u8));
        }
        let lane = self.sources.lane(channel, level);
        let waiting = Waiting { message, host, hold };
        if let Some(queued) = self.sources.queued_flits.get_mut(lane) {
            *queued += message.offer.flits;
        }
        if self.sources.lanes[lane].to_send == 0 {
            self.comes_to_front(channel, level, &waiting);
        } else {
            self.sources.queues.push(lane, waiting);
        }
    }

    /// A message is the first of its queue.
    fn comes_to_front(&mut self, channel: usize, level: usize, Waiting { message, host, hold }: &Waiting) {
        let QueuedMessage { offer, groups, ticket } = message;
        let id = self.account.ledger.starts(offer, *groups);
        self.account.starts(id, *host, *hold);
        let is_clocked = level == REAL_TIME && self.sources.order != Order::Fifo;
        let vtick = if is_clocked { offer.vtick } else { 0.0 };
        let (lane, node) = (self.sources.lane(channel, level), self.node(channel));
        self.sources.lanes[lane] = SourceLane {
            flit: Flit::of(id, offer.arrival.class),
            flits: offer.flits,
            to_send: offer.flits,
            stamp: ticket + vtick,
            vtick,
        };
        self.sources.waiting[node][level] |= self.rules.bit(channel);
        if let Some(gates) = &mut self.gates
            && level == BEST_EFFORT
        {
            let first = (channel >> self.rules.shift, offer);
            gates.comes_to_front(&self.rules, &self.wiring, (node, channel), first);
        }
        self.sources.busy[node / 64] |= 1 << (node % 64);
    }

    fn node(&self, channel: usize) -> usize {
        (channel - self.sources.first) >> self.rules.shift
    }

    /// Stage P at the network interfaces.
    pub(super) fn transmit_sources(&mut self, now: u64) {
        for word in 0..self.sources.busy.len() {
            let mut busy = self.sources.busy[word];
            while busy != 0 {
                let node = word * 64 + busy.trailing_zeros() as usize;
                busy &= busy - 1;
                let link = node + (self.sources.first >> self.rules.shift);
                match self.sources.by_message {
                    _ if self.arbiters.is_some() => self.send_arbitrated(node, link, now),
                    Some(_) => self.send_by_message(node, link, now),
                    None => self.send_flit(node, link, now),
                }
            }
        }
    }

    /// The best flit that has a slot behind the link.
    #[inline]
    fn send_flit(&mut self, node: usize, link: usize, now: u64) {
        let (waiting, credit) = (&self.sources.waiting[node], self.lanes.credit(link));
        let some = [0, 1, 2].map(|level| waiting[level] & credit[level]);
        if let Some((channel, level)) = self.sources.choose(&self.rules, (node, link), some) {
            self.leave_source(node, link, (channel, level), now);
        }
    }

    /// K8: the flit that the arbiter names, or that of the message that began last.
    fn send_arbitrated(&mut self, node: usize, link: usize, now: u64) {
        let (waiting, credit) = (&self.sources.waiting[node], self.lanes.credit(link));
        let mut some = [0, 1, 2].map(|level| waiting[level] & credit[level]);
        if let Some(herd) = &self.herd
            && herd.is_stopped(self.rules.input(link).0)
        {
            return;
        }
        if let Some(gates) = &mut self.gates {
            some[BEST_EFFORT] &= !gates.held(node, some[BEST_EFFORT]);
        }
        let Some(arbiters) = &mut self.arbiters else { return };
        let current = self.sources.current.get(node).copied().flatten();
        let channel = |place: u32| link << self.rules.shift | place as usize;
        let (mut begins, mut to_send) = (!self.sources.current.is_empty(), None);
        if let Some((current, level)) = current {
            let level = usize::from(level);
            let is_overtaken = some[..level].iter().any(|lanes| *lanes != 0);
            let can_move = some[level] & self.rules.bit(current as usize) != 0;
            begins &= !is_overtaken;
            to_send = (can_move && !is_overtaken).then_some((current as usize, level));
        }
        let (channel, level) = match to_send {
            Some(current) => current,
            None => {
                let Some(named) = arbiters.name(link, some) else { return };
                arbiters.moves(link, named);
                (channel(named.place), named.level)
            }
        };
        if begins {
            self.sources.current[node] = Some((channel as u32, level as u8));
        }
        let is_tail = self.leave_source(node, link, (channel, level), now);
        if let Some(current) = self.sources.current.get_mut(node)
            && is_tail
            && *current == Some((channel as u32, level as u8))
        {
            *current = None;
        }
    }

    /// The next flit of the message that is being sent, if it has a slot; the next message.
    fn send_by_message(&mut self, node: usize, link: usize, now: u64) {
        let programmed =
            |levels: &Self| levels.sources.by_message.as_ref().map(|by_message| by_message.programmed[node]);
        let Some(Programmed { channel, level, starts }) = programmed(self) else { return };
        let (channel, level) = (channel as usize, usize::from(level));
        if channel != NONE as usize {
            let has_slot = self.lanes.credit(link)[level] & self.rules.bit(channel) != 0;
            if now < starts || !has_slot || !self.leave_source(node, link, (channel, level), now) {
                return;
            }
        }
        let some = self.sources.waiting[node];
        let next = match &mut self.sources.by_message {
            Some(ByMessage { order: Some(order), .. }) => {
                order[node].pop_front().map(|(channel, level)| (channel as usize, usize::from(level)))
            }
            _ => self.sources.choose(&self.rules, (node, link), some),
        };
        if let Some(by_message) = &mut self.sources.by_message {
            let starts = now + 1 + by_message.send_setup;
            by_message.programmed[node] = match next {
                Some((channel, level)) => Programmed { channel: channel as u32, level: level as u8, starts },
                None => Programmed { channel: NONE, level: 0, starts: 0 },
            };
        }
    }

    /// The next flit of a lane leaves its source; whether it is a tail.
    #[inline]
    fn leave_source(&mut self, node: usize, link: usize, (channel, level): (usize, usize), now: u64) -> bool {
        let lane = self.sources.lane(channel, level);
        let row = &mut self.sources.lanes[lane];
        let (is_first, is_last) = (row.to_send == row.flits, row.to_send == 1);
        let flit = row.flit.at(is_first, is_last);
        if level == REAL_TIME {
            self.sources.virtual_time[node] = row.stamp;
        }
        row.to_send -= 1;
        row.stamp += row.vtick;
        self.sources.flits += 1;
        self.account.sent(link, flit);
        self.lanes.takes_slot(&self.rules, channel, level);
        self.links.send(channel, flit);
        if self.is_controlled {
            self.leaves_interface(node, link, (channel, level), is_first);
        }
        if is_first {
            self.account.enters(link, flit, now);
        }
        if is_last {
            self.tail_leaves(node, (channel, level), lane, now);
        }
        is_last
    }

    /// What control counts of a flit that leaves its interface.
    fn leaves_interface(&mut self, node: usize, link: usize, (channel, level): (usize, usize), first: bool) {
        self.moves(Move::Injects, link);
        if let Some(posting) = self.posting.as_mut().filter(|_| node < self.wiring.nodes() as usize) {
            posting.flit_leaves(node);
        }
        let lane = self.sources.lane(channel, level);
        if let Some(queued) = self.sources.queued_flits.get_mut(lane) {
            *queued -= 1;
        }
        if let (true, Some(gates)) = (first, &mut self.gates) {
            gates.begins(node, self.rules.bit(channel));
        }
    }

    /// A message is wholly on its way: the next one of its queue.
    #[inline(never)]
    fn tail_leaves(&mut self, node: usize, (channel, level): (usize, usize), lane: usize, now: u64) {
        let SourceLane { flit, flits, .. } = self.sources.lanes[lane];
        self.account.ledger.has_left_source(flit.message());
        let is_of_interface = !self.rules.are_signals(flit.class());
        if let Some(posting) = self.posting.as_mut().filter(|_| is_of_interface) {
            let hold = self.account.hold(flit);
            self.account.has_left_adapter(flit, now);
            posting.tail_leaves(node as u32, flit.class() as u8, hold, now);
        }
        if let Some(hosts) = self.hosts.as_mut().filter(|_| is_of_interface) {
            hosts.has_left(node, channel - (self.sources.first + (node << self.rules.shift)), flits, now);
        }
        self.sources.waiting[node][level] &= !self.rules.bit(channel);
        match self.sources.queues.next(lane) {
            Some(next) => self.comes_to_front(channel, level, &next),
            None if self.sources.waiting[node] == [0; LEVELS] => {
                self.sources.busy[node / 64] &= !(1 << (node % 64));
            }
            None => {}
        }
    }

    /// Messages of a class of which no flit has left are taken back; how many. Those that firmware has taken are sent.
    pub(super) fn take_back(&mut self, class: usize, now: u64) -> u64 {
        let mut messages = 0;
        if let Some(hosts) = &mut self.hosts {
            let (rules, sources) = (&self.rules, &mut self.sources);
            hosts.withdraw(class, now, |node, posted| {
                let channel = sources.first + (node << rules.shift) + posted.channel;
                let queue = sources.lane(channel, posted.level);
                messages += sources.queues.leave(queue, 1) as u64;
            });
            return messages;
        }
        let level = self.rules.level(class);
        for channel in self.sources.first..self.rules.channels {
            let lane = self.sources.lane(channel, level);
            let is_of_class = |waiting: &Waiting| usize::from(waiting.message.offer.arrival.class) == class;
            messages += self.sources.queues.take_back_those(lane, is_of_class) as u64;
            let SourceLane { flit, flits, to_send, .. } = self.sources.lanes[lane];
            if to_send == 0 || to_send < flits || flit.class() != class {
                continue;
            }
            messages += 1;
            self.account.ledger.forget(flit.message());
            self.sources.lanes[lane].to_send = 0;
            let node = self.node(channel);
            self.sources.waiting[node][level] &= !self.rules.bit(channel);
            match self.sources.queues.next(lane) {
                Some(next) => self.comes_to_front(channel, level, &next),
                None if self.sources.waiting[node] == [0; LEVELS] => {
                    self.sources.busy[node / 64] &= !(1 << (node % 64));
                }
                None => {}
            }
        }
        self.moving -= messages;
        messages
    }
}
