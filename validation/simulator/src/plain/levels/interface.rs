//! A network interface: its source queues, and the link that takes flits or whole messages from them.

use std::collections::VecDeque;

use super::flit::{Flit, FlitKind};
use super::scheduler::{Clocks, Discipline};
use crate::Offer;
use crate::plain::rules::{LEVELS, Rules};

/// How messages are given to the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Injection {
    /// L2: flits of several messages in turn.
    Flits,
    /// H5: one message at a time, programmed for so many cycles; in the order in which they joined, or as the
    /// scheduler has it.
    Messages { setup: u64, in_order: bool },
}

/// The source queues of a node.
pub(super) struct NetworkInterface {
    /// L2, by virtual channel and lane.
    queues: Vec<VecDeque<QueuedMessage>>,
    /// Lanes of a virtual channel.
    lanes: usize,
    clocks: Clocks,
    injection: Injection,
    /// H5: the queue whose message has the link, and the first cycle in which its flits can leave.
    programmed: Option<(usize, u64)>,
    /// S7: the queue served last.
    last_served: usize,
    /// Messages that have joined.
    joined: u64,
    /// The flit sent in the cycle before this one.
    pub(super) wire: Option<Flit>,
}

/// A message in a source queue; its flits leave one by one.
struct QueuedMessage {
    message: u64,
    class: u8,
    /// Messages that joined before.
    place: u64,
    flits: VecDeque<Flit>,
}

impl NetworkInterface {
    pub(super) fn new(rules: &Rules, discipline: Discipline, injection: Injection) -> Self {
        let lanes = if rules.preempts { LEVELS } else { 1 };
        let queues = rules.lanes() * lanes;
        Self {
            queues: (0..queues).map(|_| VecDeque::new()).collect(),
            lanes,
            clocks: Clocks::new(discipline, queues),
            injection,
            programmed: None,
            last_served: queues - 1,
            joined: 0,
            wire: None,
        }
    }

    fn queue(&self, channel: usize, level: usize) -> usize {
        channel * self.lanes + if self.lanes == 1 { 0 } else { level }
    }

    /// T1, V4: a message joins the queue of its virtual channel and level; its flits are stamped.
    pub(super) fn join(&mut self, message: u64, offer: &Offer, channel: usize, rules: &Rules, now: u64) {
        let class = offer.arrival.class;
        let level = rules.level[usize::from(class)];
        let queue = self.queue(channel, level);
        let flits = (0..offer.flits as usize).map(|number| {
            let kind = FlitKind::Payload { number, is_tail: number + 1 == offer.flits as usize };
            let (vtick, joined_cycle) = (offer.vtick, now);
            let mut flit = Flit { message, kind, level, channel, vtick, joined_cycle, stamp: 0.0 };
            self.clocks.stamp(queue, &mut flit);
            flit
        });
        let flits = flits.collect();
        self.queues[queue].push_back(QueuedMessage { message, class, place: self.joined, flits });
        self.joined += 1;
    }

    /// T1: the messages of a class of which no flit has left; they are no longer there.
    pub(super) fn withdraw(&mut self, class: usize) -> Vec<u64> {
        let mut taken_back = Vec::new();
        for queue in &mut self.queues {
            queue.retain(|queued| {
                let has_begun = queued.flits.front().is_none_or(|flit| !flit.is_header());
                let stays = usize::from(queued.class) != class || has_begun;
                if !stays {
                    taken_back.push(queued.message);
                }
                stays
            });
        }
        taken_back
    }

    /// One cycle of the link: the flit that leaves, if any; `has_room` says whether there is a free slot for it.
    pub(super) fn send(&mut self, has_room: impl Fn(&Flit) -> bool, now: u64) -> Option<Flit> {
        let Injection::Messages { setup, in_order } = self.injection else {
            let queue = self.best(has_room)?;
            return Some(self.pop(queue));
        };
        let mut sent = None;
        if let Some((queue, _)) = self.programmed.filter(|(_, first_cycle)| *first_cycle <= now)
            && has_room(&self.queues[queue][0].flits[0])
        {
            sent = Some(self.pop(queue));
        }
        if sent.is_some_and(|flit| flit.is_tail()) {
            self.programmed = None;
        }
        if self.programmed.is_none() {
            let next = if in_order { self.first_joined() } else { self.best(|_| true) };
            self.programmed = next.map(|queue| (queue, now + 1 + setup));
        }
        sent
    }

    /// H5: the queue of the message that joined first.
    fn first_joined(&self) -> Option<usize> {
        let queues = self.queues.iter().enumerate();
        let fronts = queues.filter_map(|(queue, messages)| Some((messages.front()?.place, queue)));
        fronts.min().map(|(_, queue)| queue)
    }

    /// L1: the queue with the best flit of those that can leave; of equal ones the lower, with `fifo` the next after
    /// the one served last (S7).
    fn best(&self, can_leave: impl Fn(&Flit) -> bool) -> Option<usize> {
        let queues = self.queues.len();
        let turn = |queue: usize| match self.clocks.discipline() {
            Discipline::Fifo => (queue + queues - 1 - self.last_served) % queues,
            _ => queue,
        };
        let front = |queue: usize| Some((queue, self.queues[queue].front()?.flits.front()?));
        let fronts = (0..queues).filter_map(front).filter(|(_, flit)| can_leave(flit));
        let best = fronts.min_by(|(one, first), (other, second)| {
            let ((level, number), (other_level, other_number)) =
                (self.clocks.rank(first), self.clocks.rank(second));
            let ranks = level.cmp(&other_level).then(number.total_cmp(&other_number));
            ranks.then(turn(*one).cmp(&turn(*other)))
        });
        best.map(|(queue, _)| queue)
    }

    fn pop(&mut self, queue: usize) -> Flit {
        let flit = self.queues[queue][0].flits.pop_front().expect("a flit to send");
        if flit.is_tail() {
            self.queues[queue].pop_front();
        }
        self.clocks.serve(&flit);
        self.last_served = queue;
        flit
    }

    pub(super) fn is_empty(&self) -> bool {
        self.wire.is_none() && self.programmed.is_none() && self.queues.iter().all(VecDeque::is_empty)
    }
}
