//! Routers and network interfaces with levels: a message in an input buffer gives way to one of a higher level on its
//! virtual channel, what a higher level waits for is accelerated, flits cross in blocks; rules L1 to L13. Interfaces
//! may stand behind host buses, H1 to H8.
//!
//! The crossbar is multiplexed with the greedy allocation, and virtual channels are drawn. Without any of the above the
//! routers are those of X1 to X4.
//!
//! What a virtual channel can send across is worked out when something of it has changed, at the end of a cycle: its
//! *candidate* stands in a word of bits per input port and level. So a cycle costs as much as moves in it.

mod account;
mod arbiters;
mod arbitration;
mod buffers;
#[cfg(debug_assertions)]
mod checks;
mod crossbar;
mod flit;
mod gates;
mod input;
mod links;
mod rules;
mod sources;

use flitwise_language::scenario::Scenario;

use crate::control::congestion::{Hold, Posting};
use crate::control::power::{EnergyMeter, Herd, Move};
use crate::interface::QueuedMessage;
use crate::interface::host::{Hosts, Posted};
use crate::ledger::Ledger;
use crate::message::{Booking, Delivery, HostTimes, Offer};
use crate::meters::{Activity, ControlActivity, HeaderWaits, Throttled};
use crate::traffic::Traffic;
use crate::virtual_channels::VirtualChannels;
use crate::wiring::{Channel, Wiring};
use crate::{FlitSwitch, Switch};
use account::Account;
use arbiters::Arbiters;
use arbitration::Requests;
use buffers::InputLanes;
use crossbar::Crossbars;
use gates::Gates;
use input::Input;
use links::Links;
use rules::{Order, Rules};
use sources::Sources;

/// How often all flits are counted in a build with assertions \[cycles\].
#[cfg(debug_assertions)]
const CHECK_CYCLES: u64 = 16;

/// The state of the network.
pub(super) struct Levels {
    rules: Rules,
    wiring: Wiring,
    channels: VirtualChannels,
    hosts: Option<Hosts>,
    sources: Sources,
    links: Links,
    lanes: InputLanes,
    /// By virtual channel.
    inputs: Vec<Input>,
    crossbars: Crossbars,
    requests: Requests,
    account: Account,
    /// Where lane arbiters decide, and what controls interfaces and power.
    arbiters: Option<Arbiters>,
    posting: Option<Posting>,
    gates: Option<Gates>,
    meter: Option<EnergyMeter>,
    herd: Option<Herd>,
    /// Whether there is any of them.
    is_controlled: bool,
    /// Flits of data that have left the network.
    ejected_data: u64,
    /// Messages that have joined the queues of network interfaces and have not left the network.
    moving: u64,
    /// Virtual channels whose candidate may be another in the next cycle.
    changed: Vec<u32>,
    /// Those that cross in a cycle, and those whose current message has crossed.
    chosen: Vec<u32>,
    vacant: Vec<u32>,
    joined: Vec<(usize, Posted)>,
    /// Signals that have left the network in a cycle: the place where they are, and the connection.
    signals: Vec<(u32, u32)>,
}

impl Levels {
    pub(super) fn new(scenario: &Scenario) -> Self {
        let (channels, wiring) = (VirtualChannels::new(scenario), Wiring::of(scenario));
        let (rules, classes) = (Rules::new(scenario, &channels, &wiring), scenario.classes().len());
        let first_source = (wiring.first_injection() as usize) << rules.shift;
        let arbiters = (rules.order == Order::Arbiter).then(|| Arbiters::new(scenario, &rules));
        let mut sources = Sources::new(&rules, first_source, scenario);
        let gates = Gates::new(scenario, &rules, &wiring, &mut sources.queued_flits);
        let (posting, meter) = (Posting::new(scenario), EnergyMeter::new(scenario));
        let herd = Herd::new(scenario, &wiring);
        Self {
            is_controlled: posting.is_some() || gates.is_some() || meter.is_some() || herd.is_some(),
            arbiters,
            posting,
            gates,
            meter,
            herd,
            ejected_data: 0,
            sources,
            hosts: scenario.host_interface().map(|host| Hosts::new(scenario, host, channels.width())),
            links: Links::new(&rules),
            lanes: InputLanes::new(&rules),
            inputs: vec![Input::new(); rules.channels],
            crossbars: Crossbars::new(&rules, &wiring),
            requests: Requests::new(&rules, &wiring),
            account: Account::new(&rules, classes),
            moving: 0,
            changed: Vec::new(),
            chosen: Vec::new(),
            vacant: Vec::new(),
            joined: Vec::new(),
            signals: Vec::new(),
            rules,
            wiring,
            channels,
        }
    }

    /// What control does in a cycle before anything moves: looks at buffers, messages that are posted.
    fn begin_control(&mut self, now: u64) {
        if let Some(meter) = &mut self.meter {
            meter.begins(now);
        }
        if let Some(herd) = &mut self.herd {
            herd.begins(now);
        }
        if let Some(gates) = &mut self.gates {
            gates.look(&self.rules, &self.lanes, &self.sources, self.ejected_data, now);
        }
        if let Some(posting) = &mut self.posting {
            posting.post(now, &mut self.joined);
            let mut joined = std::mem::take(&mut self.joined);
            for (node, posted) in joined.drain(..) {
                self.join(node, posted, now);
            }
            self.joined = joined;
        }
        if let Some(gates) = &mut self.gates {
            gates.hold(&self.rules, &self.requests, &self.links, &self.lanes, now);
        }
    }

    /// A flit moves at the cost of the router that a link leaves, or leads into from a node.
    #[inline]
    fn moves(&mut self, what: Move, link: usize) {
        let Some(meter) = &mut self.meter else { return };
        let (count, router) = match what {
            Move::Injects => (&mut meter.moves.injected, self.rules.input(link).0),
            Move::Links => (&mut meter.moves.linked, link / self.rules.ports),
            Move::Ejects => (&mut meter.moves.ejected, link / self.rules.ports),
            Move::Crosses => (&mut meter.moves.crossed, link / self.rules.ports),
        };
        *count += 1;
        if let Some(herd) = &mut self.herd {
            herd.moves(router, what);
        }
    }

    /// What the interfaces of nodes do in a cycle before their links.
    fn host_events(&mut self, now: u64, delivered: &mut Vec<Delivery>) {
        let Some(hosts) = &mut self.hosts else { return };
        if hosts.next_turn() != Some(now) {
            return;
        }
        hosts.step(now, &mut self.joined, delivered);
        let mut joined = std::mem::take(&mut self.joined);
        for (node, posted) in joined.drain(..) {
            self.join(node, posted, now);
        }
        self.joined = joined;
    }
}

impl Switch for Levels {
    type Delivery = Delivery;

    fn offer(&mut self, offer: &Offer) {
        let (class, cycle) = (offer.arrival.class, offer.arrival.cycle);
        let (node, level) = (offer.arrival.source as usize, self.rules.level(class.into()));
        let channel = self.channels.at_source(offer);
        let of_node = self.wiring.first_injection() as usize + node;
        let queue = self.sources.lane((of_node << self.rules.shift) + channel, level);
        if !self.sources.queues.admits(queue, class) {
            return;
        }
        self.account.ledger.joins(class);
        let groups = self.channels.on_the_way(class.into(), offer.drawn);
        let message = QueuedMessage { offer: *offer, groups, ticket: 0.0 };
        let posted = Posted { message, level, channel, host: HostTimes::default(), hold: Hold::default() };
        if self.rules.are_signals(class.into()) {
            // K16: past the queues of applications
            if let Some(posting) = self.posting.as_mut().filter(|_| node < self.wiring.nodes() as usize) {
                posting.flits_come(node, offer.flits);
            }
            return self.join(node, posted, cycle);
        }
        match (&mut self.hosts, &mut self.posting) {
            (Some(hosts), _) => hosts.ring(node, posted, cycle),
            (None, Some(posting)) => {
                if !posting.offer(self.rules.kinds[usize::from(class)], posted, cycle) {
                    self.account.ledger.drops(class.into());
                    self.sources.queues.leave(queue, 1);
                }
            }
            (None, None) => self.join(node, posted, cycle),
        }
    }

    fn book(&mut self, booking: &Booking) {
        if let Some(arbiters) = &mut self.arbiters {
            arbiters.book(booking);
        }
    }

    fn withdraw(&mut self, class: usize, now: u64) {
        let messages = self.take_back(class, now);
        self.account.ledger.takes_back(class, messages);
    }

    fn tell_signals(&mut self, traffic: &mut Traffic, now: u64) -> bool {
        if self.signals.is_empty() {
            return false;
        }
        // links are in the order of their numbers, not of the places that they lead to
        self.signals.sort_unstable();
        self.signals.drain(..).for_each(|(_, connection)| traffic.signal_arrives(connection, now));
        true
    }

    fn step(&mut self, now: u64, delivered: &mut Vec<Delivery>) {
        self.host_events(now, delivered);
        if self.is_controlled {
            self.begin_control(now);
        }
        if self.moving == 0 {
            if let Some(herd) = self.herd.as_mut().filter(|_| !self.account.ledger.is_empty()) {
                herd.ends(now);
            }
            return;
        }
        // with three stages a grant and the crossing share a cycle
        if self.rules.pipeline_stages == 3 {
            self.arbitrate(now);
        }
        self.transmit_sources(now);
        self.transmit(now, delivered);
        self.cross(now);
        if self.rules.pipeline_stages > 3 {
            self.arbitrate(now);
        }
        self.come_in(now);
        self.stamp_sent(now);
        self.requests.end_cycle();
        self.look_again();
        if let Some(herd) = &mut self.herd {
            herd.ends(now);
        }
        #[cfg(debug_assertions)]
        if now.is_multiple_of(CHECK_CYCLES) || self.moving == 0 {
            self.check(now);
        }
    }

    #[inline]
    fn wakes(&self, now: u64) -> u64 {
        match &self.hosts {
            _ if self.moving > 0 || (self.herd.is_some() && !self.account.ledger.is_empty()) => now,
            None if let Some(posting) = &self.posting => posting.wakes(now),
            Some(hosts) => hosts.next_turn().unwrap_or(u64::MAX),
            None => u64::MAX,
        }
    }
}

impl FlitSwitch for Levels {
    fn ledger(&self) -> &Ledger {
        &self.account.ledger
    }

    fn flit_hops(&self) -> u64 {
        self.account.meters.flit_hops
    }

    fn channel_flits(&self) -> Vec<(Channel, usize, u64)> {
        let sent = self.account.flits_sent();
        let of_channel =
            |(link, class, flits)| Some((self.wiring.channel(link)?, self.rules.counted_class(class), flits));
        sent.filter_map(of_channel).collect()
    }

    fn measure_waits(&mut self) {
        self.account.meters.waits = vec![HeaderWaits::default(); self.rules.links];
    }

    fn channel_waits(&self) -> Vec<(Channel, HeaderWaits)> {
        let waits = self.account.meters.waits.iter().enumerate();
        waits.filter_map(|(link, waits)| Some((self.wiring.channel(link as u32)?, *waits))).collect()
    }

    fn limit_source_queues(&mut self, class: usize, messages: usize) {
        self.sources.queues.set_limit(class, messages);
    }

    fn control(&self, now: u64) -> ControlActivity {
        let posting = self.posting.as_ref();
        let [room, credit, energy] = posting.map_or([0; 3], |posting| posting.throttled(now));
        ControlActivity {
            dropped: posting.map_or(Vec::new(), |posting| posting.dropped.clone()),
            throttled: Throttled {
                room,
                credit,
                energy,
                start: self.gates.as_ref().map_or(0, Gates::throttled),
                stopped: self.herd.as_ref().map_or(0, |herd| herd.stopped_cycles),
            },
            mean_threshold: self.gates.as_ref().and_then(Gates::mean_threshold),
            windows: self.meter.as_ref().map_or(Vec::new(), |meter| meter.windows(now)),
        }
    }

    fn activity(&self, now: u64) -> Activity {
        let (firmware, bus) = self.hosts.as_ref().map_or((0, 0), |hosts| hosts.busy(now));
        Activity {
            preemptions: self.account.preemptions.clone(),
            dummies: self.account.dummies,
            accelerated: self.crossbars.accelerated_flits,
            firmware,
            bus,
            wire: self.sources.flits,
        }
    }
}
