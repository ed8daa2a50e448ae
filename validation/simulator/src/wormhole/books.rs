//! The books: which messages are in which lane, and what is kept of them as they go.

use std::collections::VecDeque;

use crate::interface::{QueuedMessage, SourceQueues};
use crate::ledger::{Ledger, LoneHeader, Message};
use crate::message::Delivery;
use crate::meters::Meters;
use crate::wiring::Wiring;

use super::lane::Lane;

/// Messages at their sources, in lanes and in numbers.
pub(crate) struct Books {
    queues: Queues,
    pub(crate) interface: SourceQueues,
    pub(crate) ledger: Ledger,
    pub(crate) lone: LoneHeader,
    pub(crate) meters: Meters,
    /// Logarithm of the lanes per link.
    shift: u32,
}

impl Books {
    pub(crate) fn new(lanes: usize, sources: usize, classes: usize, lone: LoneHeader, shift: u32) -> Self {
        Self {
            queues: Queues::new(lanes),
            interface: SourceQueues::new(sources, classes),
            ledger: Ledger::new(classes),
            lone,
            meters: Meters::default(),
            shift,
        }
    }

    /// By lane: flits of whole messages that have left over the link.
    pub(crate) fn flits_sent(&self) -> impl Iterator<Item = u64> {
        self.queues.rows.iter().map(|row| row.flits_sent)
    }

    /// A message takes a lane of its injection link.
    #[inline]
    pub(crate) fn starts(&mut self, lane: usize, row: &mut Lane, message: &QueuedMessage) {
        let offer = &message.offer;
        let id = self.ledger.starts(offer, message.groups);
        self.queues.push(lane, row, id);
        row.message_flits = offer.flits;
        row.to_send = offer.flits;
        row.waiting = offer.flits;
        row.vtick = offer.vtick;
    }

    /// The number of the message whose flits leave a lane over the link.
    pub(crate) fn sending(&self, lane: usize, row: &Lane) -> u32 {
        self.queues.at(lane, row.sending)
    }

    /// A header leaves its source over a link of so much delay.
    pub(crate) fn enters(&mut self, lane: usize, row: &Lane, now: u64, delay: u32) {
        let waited = self.ledger.get_mut(self.queues.at(lane, row.sending)).enters(now, delay);
        self.meters.waited(lane >> self.shift, waited, waited > 0);
        self.meters.header_left(lane >> self.shift);
    }

    /// A header leaves a router over a link of so much delay; out of line, for one flit in a message is a header.
    #[inline(never)]
    pub(crate) fn header_left(&mut self, lane: usize, row: &Lane, now: u64, delay: u32) {
        let message = self.ledger.get_mut(self.queues.at(lane, row.sending));
        let waited = message.header_leaves(&self.lone, now, delay);
        self.meters.waited(lane >> self.shift, waited, false);
        self.meters.header_left(lane >> self.shift);
    }

    /// The header at the front behind the link requests an output lane; its message.
    #[inline]
    pub(crate) fn requests(&mut self, lane: usize, now: u64) -> &Message {
        let message = self.ledger.get_mut(self.queues.at(lane, 0));
        message.requests(&self.lone, now);
        message
    }

    /// The message at the front of an input lane owns the output lane `to`, `out`, from now on.
    pub(crate) fn is_granted(&mut self, lane: usize, to: usize, out: &mut Lane, now: u64) {
        let id = self.queues.at(lane, 0);
        let message = self.ledger.get_mut(id);
        let waited = message.is_granted(now);
        out.vtick = message.vtick;
        if out.sending == out.end {
            out.to_send = message.flits;
            out.message_flits = message.flits;
        }
        self.queues.push(to, out, id);
        self.meters.waited(to >> self.shift, waited, waited > 0);
    }

    /// The first message of an input lane has crossed; the one whose header comes to the front.
    #[inline]
    pub(crate) fn has_crossed(&mut self, lane: usize, row: &mut Lane) -> Option<&Message> {
        self.queues.pop(lane, row);
        row.has_front().then(|| self.ledger.get(self.queues.at(lane, 0)))
    }

    /// A message is wholly out of its source; the next one of the queue.
    #[inline]
    pub(crate) fn tail_left_source(
        &mut self,
        queue: usize,
        lane: usize,
        row: &mut Lane,
    ) -> Option<QueuedMessage> {
        self.ledger.has_left_source(self.queues.at(lane, row.sending));
        self.queues.rows[lane].flits_sent += u64::from(row.message_flits);
        row.sending += 1;
        row.to_send = 0;
        self.interface.next(queue)
    }

    /// The message that has a lane of its injection link, and no flit on its way, is taken back.
    pub(crate) fn take_back(&mut self, queue: usize, lane: usize, row: &mut Lane) {
        let id = self.queues.pop_last(lane, row);
        row.to_send = 0;
        row.waiting = 0;
        self.ledger.forget(id);
        let next = self.interface.next(queue);
        debug_assert!(next.is_none(), "those that wait are taken back first");
    }

    /// A message is wholly out of a router; its number, if that was over an ejection channel.
    pub(crate) fn tail_left(&mut self, lane: usize, row: &mut Lane) -> Option<u32> {
        self.queues.rows[lane].flits_sent += u64::from(row.message_flits);
        row.sending += 1;
        row.to_send = 0;
        if row.sending != row.end {
            let next = self.ledger.get(self.queues.at(lane, row.sending)).flits;
            row.to_send = next;
            row.message_flits = next;
        }
        if !row.ejects() {
            return None;
        }
        let id = self.queues.at(lane, 0);
        self.queues.pop(lane, row);
        row.arrived = 0;
        Some(id)
    }

    /// A message is at its node.
    pub(crate) fn deliver(&mut self, id: u32, wiring: &Wiring, now: u64) -> Delivery {
        self.ledger.deliver(id, |from, to| wiring.hops(from, to), now)
    }
}

/// By lane, the messages in it in order: from the one at the front of the input buffer to the one that owns the
/// lane. The lane's row counts them.
///
/// The first few stand in the lane's own row, for most lanes hold no more; the others are behind.
struct Queues {
    rows: Vec<QueueRow>,
    others: Vec<VecDeque<u32>>,
}

/// What is touched when a message joins or leaves a lane: half a cache line.
#[derive(Clone, Copy)]
#[repr(C, align(32))]
struct QueueRow {
    first: [u32; FIRST],
    /// Flits of whole messages that have left over the link.
    flits_sent: u64,
}

/// Messages of a lane that stand in its row.
const FIRST: usize = 6;

impl Queues {
    /// Of so many lanes, all empty.
    fn new(lanes: usize) -> Self {
        let row = QueueRow { first: [0; FIRST], flits_sent: 0 };
        Self { rows: vec![row; lanes], others: vec![VecDeque::new(); lanes] }
    }

    /// The message at a position, 0 for the front of the input buffer.
    #[inline]
    fn at(&self, lane: usize, position: u32) -> u32 {
        let position = position as usize;
        if position < FIRST { self.rows[lane].first[position] } else { self.others[lane][position - FIRST] }
    }

    /// Puts a message behind the last of a lane.
    fn push(&mut self, lane: usize, row: &mut Lane, id: u32) {
        match self.rows[lane].first.get_mut(row.end as usize) {
            Some(place) => *place = id,
            None => self.others[lane].push_back(id),
        }
        row.end += 1;
        self.assert_positions(lane, row);
    }

    /// Takes the first message out of a lane.
    fn pop(&mut self, lane: usize, row: &mut Lane) {
        let first = &mut self.rows[lane].first;
        first.copy_within(1.., 0);
        if row.end as usize > FIRST
            && let Some(next) = self.others[lane].pop_front()
        {
            first[FIRST - 1] = next;
        }
        row.sending -= 1;
        row.end -= 1;
        self.assert_positions(lane, row);
    }

    /// Takes the last message out of a lane that has one.
    fn pop_last(&mut self, lane: usize, row: &mut Lane) -> u32 {
        let id = self.at(lane, row.end - 1);
        if row.end as usize > FIRST {
            self.others[lane].pop_back();
        }
        row.end -= 1;
        self.assert_positions(lane, row);
        id
    }

    /// The positions in the row are those of the lane's messages.
    #[inline]
    fn assert_positions(&self, lane: usize, row: &Lane) {
        let others = (row.end as usize).saturating_sub(FIRST);
        debug_assert_eq!(self.others[lane].len(), others, "messages of lane {lane}");
        debug_assert!(row.sending <= row.end, "positions of lane {lane}");
    }
}
