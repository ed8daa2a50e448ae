//! Wormhole routers, and all that happens in them in a cycle.
//!
//! Lanes that can do something are bits in words, so that those that cannot cost nothing: a lane is looked at
//! only when one of its flits moves. All decisions of a cycle look at the state at its start. What a stage sets
//! free for an earlier stage therefore takes effect at the end of the cycle (`reopened`, `released`), and what
//! it hands on is picked up a cycle later because the last stage goes first.
//!
//! Loops over flits call nothing and guess little: who goes is settled for a block of lanes before any flit moves, and
//! headers and tails, which change more than counts, follow by themselves.
//!
//! Most flits *pass*: a flit leaves an output buffer, alone on its link, as another of its message comes in. The
//! link then has nothing to choose, and the crossbar stage moves both flits in one go. Which lanes those are is
//! settled before any flit moves; where the second flit does not come, the first one leaves alone.

mod books;
mod crossbar;
mod grants;
mod lane;
mod levels;
mod link;
mod link_scheduler;
mod multiplexed;
mod wires;

use flitwise_language::network::{Candidates, Half};
use flitwise_language::scenario::Scenario;

use crate::message::{Delivery, Offer};

use super::interface::QueuedMessage;
use super::ledger::{Ledger, LoneHeader, Message};
use super::meters::HeaderWaits;
use super::virtual_channels::VirtualChannels;
use super::wiring::{Channel, End, Wiring};
use super::{FlitSwitch, Switch};
use books::Books;
use crossbar::Crossbar;
use grants::{Grants, free_lane, request_delay};
use lane::{Blocks, Lane, Lanes, NONE, WORD};
use link_scheduler::{LaneTable, LinkScheduler};
pub(super) use link_scheduler::{with_levels, with_scheduler};
use wires::Wires;

/// How often all flits are counted in a build with assertions: a flit that is lost or made stays so, and a count in
/// every cycle took four fifths of the time \[cycles\].
#[cfg(debug_assertions)]
const CONSERVATION_CYCLES: u64 = 64;

/// How often blocks that have run empty are left out \[cycles\]: one looked at in vain costs less than a search for
/// them in every cycle.
const BUSY_CYCLES: u64 = 64;

/// The state of the network: one row per lane, one bit per lane and question.
struct Wormhole<S, X> {
    lanes: Lanes,
    /// Blocks of lanes of routers' output links.
    buffered_blocks: usize,
    /// Blocks with a flit before a link, behind it or under way to there, and some that had one of late.
    busy: Blocks,
    buffer_flits: u32,
    /// `P`.
    pipeline_stages: u64,
    /// Stage P-1: input lanes whose message owns an output lane, where no crossbar chooses.
    granted: Vec<u32>,
    /// Input lanes whose output lane has got room in this cycle: the first so many of a list as long as there
    /// are links.
    reopened: Vec<u32>,
    reopenings: usize,
    /// Output lanes whose message has crossed in this cycle.
    released: Vec<u32>,
    /// Headers that request an output lane in this cycle.
    routed: Vec<Routed>,
    parts: Parts<S, X>,
}

/// A header that knows its way out of a router.
#[derive(Clone, Copy)]
struct Routed {
    /// Its input lane.
    lane: u32,
    /// The output link, the first of parallel ones.
    link: u32,
    /// The group of virtual channels that it asks for there.
    group: u8,
    /// Whether the link leads to its node.
    ejects: bool,
    /// Flits of its message.
    flits: u32,
    /// The links to choose from, if the router chooses.
    choice: Option<Candidates>,
}

/// What is asked and told as flits move.
struct Parts<S, X> {
    wiring: Wiring,
    channels: VirtualChannels,
    scheduler: S,
    crossbar: X,
    grants: Grants,
    books: Books,
    wires: Wires,
}

impl<S, X> Parts<S, X> {
    /// Whether an output lane is on a channel of a ring.
    #[inline]
    fn is_of_ring(&self, lane: usize) -> bool {
        self.channels.has_rings() && self.wiring.end((lane >> self.channels.shift()) as u32) != End::Node
    }
}

impl<S: LinkScheduler, X: Crossbar> Wormhole<S, X> {
    /// With what decides on its links and in its crossbars.
    fn new(
        scenario: &Scenario,
        scheduler: impl FnOnce(LaneTable, &Wiring) -> S,
        crossbar: impl FnOnce(LaneTable, &Wiring) -> X,
    ) -> Self {
        let classes = scenario.classes().len();
        let channels = VirtualChannels::new(scenario);
        let width = channels.width();
        let router = scenario.data_router();
        // lanes of injection links begin with a word of their own
        let wiring = Wiring::new(scenario.network(), (WORD / width) as u32);
        let slots = |link: u32| (wiring.end(link) != End::Node).then_some(router.buffer_flits);
        let mut lanes: Lanes = (0..wiring.links())
            .flat_map(|link| (0..width).map(move |_| link))
            .map(|link| Lane::new(slots(link)))
            .collect();
        let count = lanes.len();
        let pipeline_stages = u64::from(router.pipeline_stages);
        let table = LaneTable::new(scenario, &channels, count);
        let lone = LoneHeader::new(pipeline_stages, request_delay(pipeline_stages));
        let wires = Wires::new(&wiring, &mut lanes, width);
        Self {
            buffered_blocks: wiring.first_injection() as usize * width / WORD,
            busy: Blocks::none_of(lanes.blocks.len()),
            buffer_flits: router.buffer_flits,
            pipeline_stages,
            granted: Vec::with_capacity(count),
            reopened: vec![0; count / width],
            reopenings: 0,
            released: Vec::new(),
            routed: Vec::new(),
            lanes,
            parts: Parts {
                scheduler: scheduler(table.clone(), &wiring),
                crossbar: crossbar(table, &wiring),
                grants: Grants::new(pipeline_stages, count, &wiring, width, wires.longest()),
                books: Books::new(count, wiring.nodes() as usize * width, classes, lone, channels.shift()),
                channels,
                wiring,
                wires,
            },
        }
    }

    /// The first lane of the injection links.
    fn first_source(&self) -> usize {
        self.buffered_blocks * WORD
    }

    /// A message takes a lane of its injection link when it comes.
    fn take(&mut self, lane: usize, message: &QueuedMessage) {
        let row = &mut self.lanes[lane];
        self.parts.books.starts(lane, row, message);
        self.parts.scheduler.begin_message(lane, row, message.ticket, false);
        self.lanes.blocks[lane / WORD].waiting |= 1 << (lane % WORD);
        self.busy.add(lane / WORD);
    }

    /// The lowest lane that is idle of those that take from the source queue `queue`.
    fn idle_source(&self, queue: usize) -> Option<usize> {
        let first = self.first_source() + queue;
        let link = first >> self.parts.channels.shift() << self.parts.channels.shift();
        let mut of_group = self.parts.channels.group(first - link, false);
        while of_group != 0 {
            let lane = link + of_group.trailing_zeros() as usize;
            if self.lanes[lane].to_send == 0 {
                return Some(lane);
            }
            of_group &= of_group - 1;
        }
        None
    }

    /// Stage P-2: free output lanes go to the oldest requests.
    #[inline]
    fn arbitrate(&mut self, now: u64) {
        if !self.parts.grants.is_idle(now) {
            self.grant_requests(now);
        }
    }

    fn grant_requests(&mut self, now: u64) {
        self.enter_requests(now);
        let shift = self.parts.channels.shift();
        while let Some(group) = self.parts.grants.next_contested() {
            let turn = *self.parts.grants.turn(group);
            let of_ring = self.parts.is_of_ring(group);
            while self.parts.grants.is_requested(group) {
                let Parts { wiring, grants, channels, .. } = &mut self.parts;
                let Some(to) = free_lane(&self.lanes, channels, group, of_ring) else { break };
                let port_of = |lane: u32| wiring.input(lane >> shift).1;
                let lane = grants.take_oldest(group, turn, port_of);
                *grants.turn(group) = port_of(lane as u32) + 1;
                self.grant(lane, to, now);
            }
        }
    }

    /// Headers that request an output lane in this cycle.
    fn enter_requests(&mut self, now: u64) {
        let Self { lanes, routed, parts, .. } = self;
        let shift = parts.channels.shift();
        let has_backlogs = parts.grants.has_backlogs();
        if parts.wiring.parallel_links() > 1 || has_backlogs {
            // each choice counts those before it: by router, input port and lane
            let order = |lane: u32| (parts.wiring.input(lane >> shift), lane);
            parts.grants.sort_requests(now, order);
        }
        routed.clear();
        while let Some(lane) = parts.grants.next_request(now) {
            let (router, _) = parts.wiring.input(lane >> shift);
            let &Message { source, destination, way, groups, flits, .. } =
                parts.books.requests(lane as usize, now);
            let (link, half) = parts.wiring.route_and_half(router, source.into(), destination.into(), way);
            let ejects = parts.wiring.end(link) == End::Node;
            let place = if ejects { 2 } else { usize::from(half == Half::Upper) };
            let choice = if has_backlogs {
                parts.wiring.candidates(router, source.into(), destination.into())
            } else {
                None
            };
            routed.push(Routed { lane, link, group: groups[place], ejects, flits, choice });
        }
        // apart from the routes, so that a processor waits for the memory of several headers at once
        for &Routed { lane, mut link, group, ejects, flits, choice } in &*routed {
            if parts.wiring.parallel_links() > 1 && !ejects {
                link = parts.grants.least_taken(link, parts.wiring.parallel(link));
            }
            if has_backlogs && !ejects {
                link = choice.map_or(link, |choice| parts.grants.least_backlog(choice));
                parts.grants.joins_backlog(link, flits);
            }
            let group = (link as usize) << shift | usize::from(group);
            let of_ring = parts.channels.has_rings() && !ejects;
            // the row is looked at for the same reason
            let is_free = free_lane(lanes, &parts.channels, group, of_ring)
                .is_some_and(|lane| lanes[lane].owner == NONE);
            parts.grants.request(lane as usize, link, group, is_free, now);
        }
    }

    /// The message at the front of an input lane owns an output lane from now on.
    fn grant(&mut self, lane: usize, to: usize, now: u64) {
        let out = &mut self.lanes[to];
        debug_assert_eq!(out.owner, NONE, "lane {to} is granted twice");
        out.owner = lane as u32;
        self.parts.books.is_granted(lane, to, out, now);
        self.parts.scheduler.begins(out);
        let has_room = out.waiting < self.buffer_flits;
        self.lanes.blocks[to / WORD].owned |= 1 << (to % WORD);
        self.lanes[lane].goes_to = to as u32;
        self.lanes.blocks[lane / WORD].open |= u64::from(has_room) << (lane % WORD);
        if X::CHOOSES {
            self.parts.crossbar.is_granted(lane, to >> self.parts.channels.shift());
        } else {
            self.granted.push(lane as u32);
        }
    }

    /// The end of the cycle: what was set free in it is free from now on, links hand over what they took.
    fn receive(&mut self) {
        for &lane in &self.reopened[..self.reopenings] {
            self.lanes.blocks[lane as usize / WORD].open |= 1 << (lane as usize % WORD);
        }
        for to in self.released.drain(..) {
            let to = to as usize;
            debug_assert_ne!(self.lanes[to].owner, NONE, "lane {to} is released twice");
            self.lanes[to].owner = NONE;
            self.lanes.blocks[to / WORD].owned &= !(1 << (to % WORD));
            let of_ring = self.parts.is_of_ring(to);
            self.parts.grants.release(self.parts.channels.group_of(to, of_ring));
        }
    }

    /// By lane: flits that have left over the link, those of the message under way among them.
    fn flits_sent(&self) -> impl Iterator<Item = u64> {
        self.parts.books.flits_sent().enumerate().map(|(lane, whole)| {
            let row = &self.lanes[lane];
            let under_way = if row.to_send > 0 { row.message_flits - row.to_send } else { 0 };
            whole + u64::from(under_way)
        })
    }

    /// No flit is lost or made: those that left the sources have left the network or are in a buffer.
    #[cfg(debug_assertions)]
    fn assert_conservation(&self) {
        let (mut entered, mut left, mut inside) = (0, 0, 0);
        for (lane, sent) in self.flits_sent().enumerate() {
            let row = &self.lanes[lane];
            if !row.ejects() {
                inside += u64::from(row.arrived);
            }
            if lane < self.first_source() {
                inside += u64::from(row.waiting);
                left += if row.ejects() { sent } else { 0 };
            } else {
                entered += sent;
            }
        }
        // slots that are free and not yet known to be
        inside -= self.parts.wires.freed();
        assert_eq!(entered, left + inside, "flits that entered against those that left or are in buffers");
        let is_empty = self.parts.books.ledger.is_empty() && self.parts.wires.are_idle();
        assert!(!is_empty || self.parts.grants.backlogs() == 0, "a backlog of an empty network");
    }
}

impl<S: LinkScheduler, X: Crossbar> Switch for Wormhole<S, X> {
    type Delivery = Delivery;

    fn offer(&mut self, offer: &Offer) {
        let arrival = &offer.arrival;
        let queue =
            (arrival.source as usize) << self.parts.channels.shift() | self.parts.channels.at_source(offer);
        if !self.parts.books.interface.admits(queue, arrival.class) {
            return;
        }
        self.parts.books.ledger.joins(arrival.class);
        let ticket = self.parts.scheduler.join_message(self.first_source() + queue, arrival.cycle as f64);
        let message = QueuedMessage {
            offer: *offer,
            groups: self.parts.channels.on_the_way(arrival.class.into(), offer.drawn),
            ticket,
        };
        match self.idle_source(queue) {
            Some(lane) => self.take(lane, &message),
            None => self.parts.books.interface.push(queue, message),
        }
    }

    #[inline]
    fn step(&mut self, now: u64, delivered: &mut Vec<Delivery>) {
        // with three stages a grant and the crossing share a cycle
        if self.pipeline_stages == 3 {
            self.arbitrate(now);
        }
        self.transmit_all(now, delivered);
        self.cross(now, delivered);
        if self.pipeline_stages > 3 {
            self.arbitrate(now);
        }
        self.receive();
        if now.is_multiple_of(BUSY_CYCLES) {
            self.busy.retain(|block| !self.lanes.blocks[block].is_empty());
        }
        #[cfg(debug_assertions)]
        if now.is_multiple_of(CONSERVATION_CYCLES) {
            self.assert_conservation();
        }
    }

    fn withdraw(&mut self, class: usize, _now: u64) {
        let (first, mask) = (self.first_source(), self.parts.channels.width() - 1);
        let sources = self.parts.wiring.nodes() as usize * self.parts.channels.width();
        let mut messages = 0;
        for queue in (0..sources).filter(|queue| self.parts.channels.class_of(queue & mask) == Some(class)) {
            messages += self.parts.books.interface.take_back(queue);
        }
        for lane in first..first + sources {
            let row = &mut self.lanes[lane];
            let is_whole = row.to_send > 0 && row.to_send == row.message_flits;
            if is_whole && self.parts.channels.class_of(lane & mask) == Some(class) {
                let queue = self.parts.channels.group_of(lane, false) - first;
                self.parts.books.take_back(queue, lane, row);
                self.lanes.blocks[lane / WORD].waiting &= !(1 << (lane % WORD));
                messages += 1;
            }
        }
        self.parts.books.ledger.takes_back(class, messages as u64);
    }

    #[inline]
    fn wakes(&self, now: u64) -> u64 {
        let is_empty = self.parts.books.ledger.is_empty() && self.parts.wires.are_idle();
        if is_empty { u64::MAX } else { now }
    }
}

impl<S: LinkScheduler, X: Crossbar> FlitSwitch for Wormhole<S, X> {
    fn ledger(&self) -> &Ledger {
        &self.parts.books.ledger
    }

    fn flit_hops(&self) -> u64 {
        self.parts.books.meters.flit_hops
    }

    fn channel_flits(&self) -> Vec<(Channel, usize, u64)> {
        let (shift, mask) = (self.parts.channels.shift(), self.parts.channels.width() - 1);
        let count = |(lane, flits): (usize, u64)| {
            let channel = self.parts.wiring.channel((lane >> shift) as u32)?;
            Some((channel, self.parts.channels.class_of(lane & mask)?, flits))
        };
        self.flits_sent().enumerate().filter_map(count).collect()
    }

    fn measure_waits(&mut self) {
        self.parts.books.meters.waits = vec![HeaderWaits::default(); self.parts.wiring.links() as usize];
    }

    fn channel_waits(&self) -> Vec<(Channel, HeaderWaits)> {
        let waits = self.parts.books.meters.waits.iter().enumerate();
        waits.filter_map(|(link, waits)| Some((self.parts.wiring.channel(link as u32)?, *waits))).collect()
    }

    fn limit_source_queues(&mut self, class: usize, messages: usize) {
        self.parts.books.interface.set_limit(class, messages);
    }
}
