//! Network interfaces: source queues without bound, which lanes of injection links take from. They are all that there
//! is of an ideal interface; [`host`] is what stands before them otherwise.

pub(crate) mod host;

use std::collections::VecDeque;

use crate::message::Offer;

/// A message in a source queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueuedMessage {
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
pub(crate) struct SourceQueues<M = QueuedMessage> {
    waiting: Vec<VecDeque<M>>,
    /// By queue: messages that wait or are being sent.
    held: Vec<usize>,
    /// By class: a queue that holds so many messages takes no more.
    limits: Vec<usize>,
}

impl<M> SourceQueues<M> {
    pub(crate) fn new(queues: usize, classes: usize) -> Self {
        Self {
            waiting: (0..queues).map(|_| VecDeque::new()).collect(),
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
    pub(crate) fn push(&mut self, queue: usize, message: M) {
        self.waiting[queue].push_back(message);
    }

    /// A message is wholly on its way; the next one that waits.
    #[inline]
    pub(crate) fn next(&mut self, queue: usize) -> Option<M> {
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

    /// Takes those back that wait for a lane and are of a kind; how many.
    pub(crate) fn take_back_those(&mut self, queue: usize, is_of_kind: impl Fn(&M) -> bool) -> usize {
        let before = self.waiting[queue].len();
        self.waiting[queue].retain(|message| !is_of_kind(message));
        self.leave(queue, before - self.waiting[queue].len())
    }

    /// So many messages that a queue has admitted are taken back before they have come to it.
    pub(crate) fn leave(&mut self, queue: usize, messages: usize) -> usize {
        self.held[queue] -= messages;
        messages
    }

    /// From now on queues of a class hold no more than so many messages, later ones are lost.
    pub(crate) fn set_limit(&mut self, class: usize, messages: usize) {
        self.limits[class] = messages;
    }
}
