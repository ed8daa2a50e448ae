//! Signals that are messages (K16): which ones are to be sent, and what follows where they arrive.

use std::collections::VecDeque;

use flitwise_language::scenario::Scenario;

use super::{Admission, Connection, Outcome, What};
use crate::control::stations::{SIGNAL_FLITS, lane};
use crate::message::{Arrival, ChannelChoice, FramePart, Offer};

/// Signals of all connections, each of which has one at most under way.
pub(super) struct Signals {
    /// Their class, behind those of the scenario, and their lane.
    class: u8,
    lane: ChannelChoice,
    /// Those that have not been sent, in order.
    to_send: VecDeque<Offer>,
    /// What became of accounts of channels, in order.
    changes: Vec<Change>,
}

/// An account of a channel holds so much more from a cycle on, or less.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change {
    pub(super) cycle: u64,
    pub(super) link: u32,
    pub(super) weight: f64,
}

impl Signals {
    pub(super) fn new(scenario: &Scenario) -> Self {
        Self {
            class: scenario.classes().len() as u8,
            lane: lane(scenario),
            to_send: VecDeque::new(),
            changes: Vec::new(),
        }
    }

    /// What became of accounts before a cycle.
    pub(super) fn changes_before(&self, cycle: u64) -> impl Iterator<Item = Change> {
        let before = self.changes.partition_point(|change| change.cycle < cycle);
        self.changes[..before].iter().copied()
    }
}

impl Admission {
    /// Whether signals are messages.
    pub(crate) fn is_in_band(&self) -> bool {
        self.signals.is_some()
    }

    /// The cycle of the next event that is no arrival of a signal, or of a signal that is to be sent.
    pub(crate) fn next_cycle(&self) -> Option<u64> {
        let signal = self.signals.as_ref().and_then(|signals| signals.to_send.front());
        let event = self.events.peek().map(|event| event.0.cycle);
        signal.map(|signal| signal.arrival.cycle).into_iter().chain(event).min()
    }

    /// The next signal that is to be sent.
    pub(crate) fn take_signal(&mut self) -> Option<Offer> {
        self.signals.as_mut()?.to_send.pop_front()
    }

    /// The tail of the signal of a connection has left the network in cycle `now`: it is at the node or station where
    /// it was to go.
    pub(crate) fn arrives(&mut self, now: u64, whom: u32) {
        let connection = &mut self.connections[whom as usize];
        match connection.signal {
            What::Tests => self.tests(now, whom),
            What::Releases => self.releases(now, whom),
            What::Answers => match connection.way_back.pop() {
                Some(next) => self.send(now, What::Answers, whom, next),
                None => self.is_answered(now, whom),
            },
            What::Comes | What::Asks => unreachable!("a signal that nobody has sent"),
        }
        self.advance(now + 1);
    }

    /// A request or a release goes on to the router before its next channel.
    pub(super) fn signals_on(&mut self, now: u64, what: What, whom: u32) {
        let Connection { booked, released, ref path, .. } = self.connections[whom as usize];
        let channel = if what == What::Tests { booked } else { released };
        let router = path[channel].link / self.wiring.ports();
        let station = self.wiring.stations().map(|stations| stations.of(router));
        self.send(now, what, whom, station.expect("stations where signals are messages"));
    }

    /// The router that a request has come to answers it.
    pub(super) fn answers(&mut self, now: u64, whom: u32) {
        let connection = &mut self.connections[whom as usize];
        let stations = self.wiring.stations().expect("stations where signals are messages");
        let router = stations.router(connection.place).expect("a request at a station");
        connection.way_back = stations.way_back(router, connection.call.source);
        let first = connection.way_back.pop().expect("a way back ends at the source");
        self.send(now, What::Answers, whom, first);
    }

    /// The answer is at the source: the connection may send, or gives back what it has booked.
    fn is_answered(&mut self, now: u64, whom: u32) {
        let Connection { call, record, .. } = self.connections[whom as usize];
        if matches!(self.records[record as usize].outcome, Outcome::Refused { .. }) {
            self.releases(now, whom);
            self.asks_again(now, call);
        } else {
            self.admits(now, whom);
        }
    }

    /// A message takes the signal of a connection from where it is to a node or station.
    fn send(&mut self, now: u64, signal: What, whom: u32, destination: u32) {
        let connection = &mut self.connections[whom as usize];
        let source = std::mem::replace(&mut connection.place, destination);
        connection.signal = signal;
        let Some(signals) = &mut self.signals else { return };
        signals.to_send.push_back(Offer {
            arrival: Arrival { cycle: now, source, destination, class: signals.class },
            flits: SIGNAL_FLITS,
            vtick: 0.0,
            drawn: Some(signals.lane),
            part: FramePart { stream: whom, ..FramePart::default() },
            way: 0,
        });
    }

    /// An account of a channel changes, if that is kept.
    pub(super) fn note(&mut self, cycle: u64, link: usize, weight: f64) {
        if let Some(signals) = &mut self.signals {
            signals.changes.push(Change { cycle, link: link as u32, weight });
        }
    }
}
