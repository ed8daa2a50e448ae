//! What is kept of messages and counted of flits.

use std::collections::HashMap;

use crate::control::congestion::Hold;
use crate::ledger::{Ledger, LoneHeader, Message};
use crate::message::{Delivery, HostTimes};
use crate::meters::Meters;
use crate::wiring::Wiring;

use super::flit::Flit;
use super::rules::Rules;

/// What is kept of a message beside its row in the ledger.
#[derive(Clone, Copy, Debug, Default)]
struct Journey {
    host: HostTimes,
    hold: Hold,
    preemptions: u32,
}

pub(super) struct Account {
    pub(super) ledger: Ledger,
    pub(super) lone: LoneHeader,
    pub(super) meters: Meters,
    /// By message.
    journeys: Vec<Journey>,
    classes: usize,
    /// By link and class: flits that have left over the link.
    flits_sent: Vec<u64>,
    /// By class: messages that gave way after a part of them had crossed.
    pub(super) preemptions: Vec<u64>,
    /// Dummies that have crossed.
    pub(super) dummies: u64,
    /// Dummy headers that routers have made; a dummy tail is made for each preemption.
    #[cfg(debug_assertions)]
    pub(super) dummy_headers: u64,
    /// Where there are parallel links and messages give way: the link that a message took behind a router.
    links: HashMap<(u32, u32), u32>,
}

impl Account {
    pub(super) fn new(rules: &Rules, classes: usize) -> Self {
        let (preemptions, classes) = (vec![0; classes], rules.kinds.len());
        Self {
            ledger: Ledger::new(classes),
            lone: LoneHeader::new(rules.pipeline_stages, rules.request_delay),
            meters: Meters::default(),
            journeys: Vec::new(),
            classes,
            flits_sent: vec![0; rules.links * classes],
            preemptions,
            dummies: 0,
            #[cfg(debug_assertions)]
            dummy_headers: 0,
            links: HashMap::new(),
        }
    }

    pub(super) fn message(&self, flit: Flit) -> &Message {
        self.ledger.get(flit.message())
    }

    /// A message that has spent so much time behind a host bus is the next of its queue.
    pub(super) fn starts(&mut self, message: u32, host: HostTimes, hold: Hold) {
        let row = message as usize;
        if row >= self.journeys.len() {
            self.journeys.resize(row + 1, Journey::default());
        }
        self.journeys[row] = Journey { host, hold, preemptions: 0 };
    }

    /// What a message holds of a channel adapter.
    pub(super) fn hold(&self, flit: Flit) -> Hold {
        self.journeys[flit.message() as usize].hold
    }

    /// The tail of a message leaves the channel adapter.
    pub(super) fn has_left_adapter(&mut self, flit: Flit, now: u64) {
        let generated = self.message(flit).generated_cycle();
        let host = &mut self.journeys[flit.message() as usize].host;
        host.interface = (now + 1 - generated) as u32 - host.doorbell;
    }

    /// The header of a message leaves its source.
    pub(super) fn enters(&mut self, link: usize, flit: Flit, now: u64) {
        let HostTimes { doorbell, bus, .. } = self.journeys[flit.message() as usize].host;
        let waited =
            self.ledger.get_mut(flit.message()).enters(now, 0) - u64::from(doorbell) - u64::from(bus);
        self.meters.waited(link, waited, waited > 0);
        self.meters.header_left(link);
    }

    /// The header of a message requests an output for the first time in a router.
    pub(super) fn requests(&mut self, flit: Flit, now: u64) {
        self.ledger.get_mut(flit.message()).requests(&self.lone, now);
    }

    /// The header of a message is granted a virtual channel of a link.
    pub(super) fn is_granted(&mut self, link: usize, flit: Flit, now: u64) {
        let waited = self.ledger.get_mut(flit.message()).is_granted(now);
        self.meters.waited(link, waited, waited > 0);
    }

    /// The header of a message leaves a router over a link.
    #[inline(never)]
    pub(super) fn header_left(&mut self, link: usize, flit: Flit, now: u64) {
        let waited = self.ledger.get_mut(flit.message()).header_leaves(&self.lone, now, 0);
        self.meters.waited(link, waited, false);
        self.meters.header_left(link);
    }

    /// A flit leaves over a link.
    #[inline]
    pub(super) fn sent(&mut self, link: usize, flit: Flit) {
        self.flits_sent[link * self.classes + flit.class()] += 1;
    }

    /// By link and class.
    pub(super) fn flits_sent(&self) -> impl Iterator<Item = (u32, usize, u64)> {
        let classes = self.classes;
        let all = self.flits_sent.iter().enumerate();
        all.map(move |(at, flits)| ((at / classes) as u32, at % classes, *flits))
    }

    /// The dummy tail of a message crosses in the router in which it gave way.
    pub(super) fn gave_way(&mut self, flit: Flit) {
        self.journeys[flit.message() as usize].preemptions += 1;
        self.preemptions[flit.class()] += 1;
    }

    /// The tail of a message leaves the network.
    pub(super) fn deliver(&mut self, flit: Flit, wiring: &Wiring, now: u64) -> Delivery {
        let Journey { host, preemptions, .. } = self.journeys[flit.message() as usize];
        let delivery = self.ledger.deliver(flit.message(), |from, to| wiring.hops(from, to), now);
        Delivery { host, preemptions, ..delivery }
    }

    /// A message that may give way behind its header took a link of parallel ones.
    pub(super) fn took_link(&mut self, flit: Flit, router: usize, link: usize) {
        self.links.insert((flit.message(), router as u32), link as u32);
    }

    /// The link that the rest of a message has to take.
    pub(super) fn link_taken(&self, flit: Flit, router: usize) -> usize {
        self.links[&(flit.message(), router as u32)] as usize
    }

    /// The tail of a message crosses.
    pub(super) fn forget_link(&mut self, flit: Flit, router: usize) {
        self.links.remove(&(flit.message(), router as u32));
    }

    #[cfg(debug_assertions)]
    pub(super) fn holds_links(&self) -> bool {
        !self.links.is_empty()
    }
}
