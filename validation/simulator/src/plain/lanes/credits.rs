//! Credits that messages take when they are posted, or offered, and give back (K10).

use std::collections::BTreeMap;

use flitwise_language::network::Network;
use flitwise_language::scenario::{CompletionQueues, CongestionControl, CongestionSpec, CreditReturn};

use super::settings::{Settings, quadrant};

/// Who has credits of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Purse {
    /// A completion queue of an interface.
    Queue { node: u32, queue: usize },
    /// A connection of a class.
    Connection { class: u8, number: u32 },
}

/// The credits of all interfaces; none are needed without control by credits.
pub(super) struct Credits {
    congestion: Option<CongestionSpec>,
    /// Of a completion queue.
    of_queue: u32,
    /// By class: those of a connection.
    of_connection: Vec<Option<u32>>,
    /// Credits left, of those who have taken any.
    free: BTreeMap<Purse, u32>,
    /// By message: whose credit it has.
    held: BTreeMap<u64, Purse>,
    /// On the way back: the cycle from which on they are usable.
    coming: Vec<(u64, Purse)>,
}

impl Credits {
    pub(super) fn new(settings: &Settings, network: &Network) -> Self {
        let congestion = settings.congestion_by(CongestionControl::Credit);
        let room =
            settings.adapter.and_then(|adapter| adapter.buffer_messages).filter(|_| congestion.is_some());
        let of_connection = |mean: &Option<f64>| {
            let credits = (mean.as_ref()? * f64::from(room?) - 1e-9).ceil() as u32;
            Some(credits.max(1))
        };
        Self {
            congestion,
            of_queue: congestion.map_or(0, |congestion| congestion.credits_of_queue(network.nodes() - 1)),
            of_connection: settings.connections.iter().map(of_connection).collect(),
            free: BTreeMap::new(),
            held: BTreeMap::new(),
            coming: Vec::new(),
        }
    }

    /// K9: the completion queue of a best-effort message.
    pub(super) fn queue(&self, network: &Network, source: u32, destination: u32) -> usize {
        match self.congestion.map(|congestion| congestion.queues) {
            None | Some(CompletionQueues::Global) => 0,
            Some(CompletionQueues::Quad) => quadrant(network, source, destination),
            Some(CompletionQueues::Separate) => destination as usize,
        }
    }

    /// Whether messages of connections of a class have credits of their own.
    pub(super) fn has_connections(&self, class: u8) -> bool {
        self.of_connection[usize::from(class)].is_some()
    }

    /// Whether a message of a connection without credit is dropped.
    pub(super) fn drops(&self) -> bool {
        self.congestion.is_some_and(|congestion| congestion.real_time_drop)
    }

    fn all(&self, purse: Purse) -> u32 {
        match purse {
            Purse::Queue { .. } => self.of_queue,
            Purse::Connection { class, .. } => self.of_connection[usize::from(class)].unwrap_or(0),
        }
    }

    /// Whether the gate is open.
    pub(super) fn has(&self, purse: Purse) -> bool {
        self.congestion.is_none() || self.free.get(&purse).copied().unwrap_or(self.all(purse)) > 0
    }

    /// A message takes a credit.
    pub(super) fn take(&mut self, message: u64, purse: Purse) {
        if self.congestion.is_some() {
            let all = self.all(purse);
            *self.free.entry(purse).or_insert(all) -= 1;
            let before = self.held.insert(message, purse);
            assert!(before.is_none(), "two credits of a message");
        }
    }

    /// The tail of a message leaves the injection link now.
    pub(super) fn is_injected(&mut self, message: u64, now: u64) {
        if self.congestion.is_some_and(|congestion| congestion.return_at == CreditReturn::Injection) {
            self.give_back(message, now + 1);
        }
    }

    /// The tail of a message leaves the network now.
    pub(super) fn is_delivered(&mut self, message: u64, now: u64) {
        let congestion = self.congestion.filter(|one| one.return_at == CreditReturn::Delivery);
        if let Some(congestion) = congestion {
            self.give_back(message, now + 1 + congestion.ack_delay.ceil() as u64);
        }
    }

    /// The credit of a message, if it has one, is usable from a cycle on.
    pub(super) fn give_back(&mut self, message: u64, usable: u64) {
        let purse = self.held.remove(&message);
        self.coming.extend(purse.map(|purse| (usable, purse)));
    }

    /// Credits that are usable from now on.
    pub(super) fn arrive(&mut self, now: u64) {
        let (arrived, coming) = self.coming.iter().partition(|(usable, _)| *usable <= now);
        let arrived: Vec<(u64, Purse)> = arrived;
        self.coming = coming;
        for (_, purse) in arrived {
            *self.free.get_mut(&purse).expect("one that has taken a credit") += 1;
        }
    }

    /// Whether no message has a credit and none is on its way back.
    pub(super) fn are_back(&self) -> bool {
        self.held.is_empty() && self.coming.is_empty()
    }

    /// What is left, what messages have and what is on its way back are all credits.
    pub(super) fn assert_conserved(&self) {
        for (purse, free) in &self.free {
            let held = self.held.values().filter(|other| *other == purse).count();
            let coming = self.coming.iter().filter(|(_, other)| other == purse).count();
            assert_eq!(*free as usize + held + coming, self.all(*purse) as usize, "credits of {purse:?}");
        }
    }
}
