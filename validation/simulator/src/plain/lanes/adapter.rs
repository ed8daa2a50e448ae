//! A network interface: messages that wait to be posted, those that are, and the injection link (K8, K9).

use std::collections::{BTreeMap, VecDeque};

use super::arbiter::{Arbiter, Turn};
use super::router::Flit;
use super::settings::Settings;

/// K9: which messages are posted in the order in which they were offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Group {
    /// Real time and control, which pass no gate.
    Ungated,
    /// A completion queue of best effort.
    BestEffort(usize),
}

/// The interface of a node.
pub(super) struct Adapter {
    /// Messages offered and not posted.
    waiting: BTreeMap<Group, VecDeque<u64>>,
    /// By lane: messages posted whose tails have not left.
    pub(super) lanes: Vec<VecDeque<Posted>>,
    pub(super) arbiter: Arbiter,
    /// The flit sent in the cycle before this one.
    pub(super) wire: Option<Flit>,
    /// Whether a message that has begun goes on before others of its level.
    by_message: bool,
    /// K8: the lane of the message that goes on.
    current: Option<usize>,
}

/// A message in the interface buffer.
#[derive(Clone, Copy)]
pub(super) struct Posted {
    pub(super) message: u64,
    pub(super) cycle: u64,
    pub(super) flits: usize,
    /// Flits that have left.
    pub(super) sent: usize,
    /// K16: whether it is a signal, for which there is always room.
    pub(super) is_signal: bool,
}

/// The lane whose flit leaves over the injection link, and what follows from it.
pub(super) struct Injection {
    pub(super) lane: usize,
    /// That of the arbiter, if it was asked.
    turn: Option<Turn>,
    /// Whether the message goes on from now on.
    is_current: bool,
}

impl Adapter {
    pub(super) fn new(settings: &Settings) -> Self {
        Self {
            waiting: BTreeMap::new(),
            lanes: vec![VecDeque::new(); settings.level.len()],
            arbiter: Arbiter::new(settings),
            wire: None,
            by_message: settings.adapter.is_some_and(|adapter| adapter.by_message),
            current: None,
        }
    }

    /// A message waits to be posted.
    pub(super) fn offer(&mut self, group: Group, message: u64) {
        self.waiting.entry(group).or_default().push_back(message);
    }

    /// The first message of each group.
    pub(super) fn heads(&self) -> impl Iterator<Item = (Group, u64)> {
        self.waiting.iter().filter_map(|(group, queue)| Some((*group, *queue.front()?)))
    }

    /// All messages offered and not posted.
    pub(super) fn all_waiting(&self) -> impl Iterator<Item = u64> {
        self.waiting.values().flatten().copied()
    }

    /// A message is posted to its lane.
    pub(super) fn post(&mut self, lane: usize, posted: Posted) {
        for queue in self.waiting.values_mut().filter(|queue| queue.front() == Some(&posted.message)) {
            queue.pop_front();
        }
        self.lanes[lane].push_back(posted);
    }

    /// Messages posted whose tails have not left, but signals.
    pub(super) fn posted(&self) -> usize {
        self.lanes.iter().flatten().filter(|posted| !posted.is_signal).count()
    }

    /// Flits of a lane that have not left.
    pub(super) fn flits_of(&self, lane: usize) -> usize {
        self.lanes[lane].iter().map(|posted| posted.flits - posted.sent).sum()
    }

    /// Flits that have not left.
    pub(super) fn flits(&self) -> usize {
        (0..self.lanes.len()).map(|lane| self.flits_of(lane)).sum()
    }

    /// K8: who goes first of the eligible lanes.
    pub(super) fn choose(&self, eligible: &[bool], settings: &Settings) -> Option<Injection> {
        let level = |lane: usize| settings.level[lane].expect("the lane of a class");
        if let Some(lane) = self.current {
            let has_higher = (0..eligible.len()).any(|other| eligible[other] && level(other) < level(lane));
            if has_higher {
                let named = self.arbiter.name(eligible)?;
                return Some(Injection { lane: named.lane, turn: Some(named.turn), is_current: false });
            }
            if eligible[lane] {
                return Some(Injection { lane, turn: None, is_current: false });
            }
        }
        let named = self.arbiter.name(eligible)?;
        Some(Injection { lane: named.lane, turn: Some(named.turn), is_current: self.by_message })
    }

    /// A flit leaves; its message, if it is the tail.
    pub(super) fn send(&mut self, injection: Injection) -> (Flit, Option<Posted>) {
        let Injection { lane, turn, is_current } = injection;
        if let Some(turn) = turn {
            self.arbiter.turn = turn;
        }
        if is_current {
            self.current = Some(lane);
        }
        let posted = self.lanes[lane].front_mut().expect("a message to send");
        let Posted { message, flits, sent: number, .. } = *posted;
        posted.sent += 1;
        let is_tail = posted.sent == flits;
        let flit = Flit { message, number, is_tail, lane };
        self.wire = Some(flit);
        if is_tail && self.current == Some(lane) {
            self.current = None;
        }
        (flit, if is_tail { self.lanes[lane].pop_front() } else { None })
    }

    /// T1: messages that are taken back from those that wait to be posted.
    pub(super) fn withdraw_waiting(&mut self, is_withdrawn: impl Fn(u64) -> bool) -> Vec<u64> {
        let waiting = self.waiting.values().flatten();
        let withdrawn: Vec<u64> = waiting.copied().filter(|message| is_withdrawn(*message)).collect();
        self.waiting.values_mut().for_each(|queue| queue.retain(|message| !withdrawn.contains(message)));
        withdrawn
    }

    /// The same of those that are posted and of which no flit has left.
    pub(super) fn withdraw_posted(&mut self, is_withdrawn: impl Fn(u64) -> bool) -> Vec<u64> {
        let goes = |posted: &Posted| posted.sent == 0 && is_withdrawn(posted.message);
        let posted = self.lanes.iter().flatten();
        let withdrawn = posted.filter(|posted| goes(posted)).map(|posted| posted.message).collect();
        self.lanes.iter_mut().for_each(|lane| lane.retain(|posted| !goes(posted)));
        withdrawn
    }

    pub(super) fn is_empty(&self) -> bool {
        self.wire.is_none() && self.flits() == 0 && self.heads().next().is_none() && self.current.is_none()
    }
}
