//! Ideal network interfaces: source queues without bound, and the lanes of injection links that take from them.

use std::collections::VecDeque;

use crate::message::Offer;

/// A message in a source queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Queued {
    pub(crate) offer: Offer,
    /// The groups of virtual channels that it asks for on its way.
    pub(crate) groups: [u8; 3],
    /// What the link scheduler wants back when the message takes a lane.
    pub(crate) ticket: f64,
}

/// Queues of messages that wait for a lane of their injection link.
///
/// A queue has the number of the first lane of an injection link that takes from it.
#[derive(Clone, Debug)]
pub(crate) struct SourceQueues {
    waiting: Vec<VecDeque<Queued>>,
    /// By queue: messages that wait or are being sent.
    held: Vec<usize>,
    /// By class: a queue that holds so many messages takes no more.
    limits: Vec<usize>,
}

impl SourceQueues {
    pub(crate) fn new(queues: usize, classes: usize) -> Self {
        Self {
            waiting: vec![VecDeque::new(); queues],
            held: vec![0; queues],
            limits: vec![usize::MAX; classes],
        }
    }

    /// A message comes to a queue, if that has room for it.
    #[inline]
    pub(crate) fn admits(&mut self, queue: usize, class: u8) -> bool {
        let has_room = self.held[queue] < self.limits[usize::from(class)];
        self.held[queue] += usize::from(has_room);
        has_room
    }

    /// A message waits for a lane.
    pub(crate) fn push(&mut self, queue: usize, message: Queued) {
        self.waiting[queue].push_back(message);
    }

    /// A message is wholly on its way; the next one that waits.
    #[inline]
    pub(crate) fn next(&mut self, queue: usize) -> Option<Queued> {
        self.held[queue] -= 1;
        self.waiting[queue].pop_front()
    }

    /// Takes all messages back that wait for a lane; how many.
    pub(crate) fn take_back(&mut self, queue: usize) -> usize {
        let messages = self.waiting[queue].len();
        self.held[queue] -= messages;
        self.waiting[queue].clear();
        messages
    }

    /// From now on queues of a class hold no more than so many messages, later ones are lost.
    pub(crate) fn set_limit(&mut self, class: usize, messages: usize) {
        self.limits[class] = messages;
    }
}
