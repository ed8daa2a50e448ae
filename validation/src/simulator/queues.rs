//! Messages in the network, and which of them are in which lane.

use std::collections::VecDeque;

use crate::message::Delivery;

use super::arbiter;
use super::lane::Lane;
use super::wiring::Wiring;

/// A message in the network.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Message {
    pub(crate) generated_cycle: u64,
    pub(crate) entered_cycle: u64,
    pub(crate) source: u32,
    pub(crate) destination: u32,
    pub(crate) class: u8,
    /// When its header last left over a link, requested an output lane or was granted one.
    pub(crate) mark: u64,
    /// What its header has waited so far, as in [`Delivery`].
    pub(crate) input_cycles: u32,
    pub(crate) arbitration_cycles: u32,
    pub(crate) output_cycles: u32,
}

impl Message {
    /// Its header requests an output lane.
    #[inline]
    pub(crate) fn requests(&mut self, lone: &LoneHeader, now: u64) {
        self.input_cycles += self.late(lone.to_request, now);
    }

    /// Its header is granted the output lane; a lone one is in the cycle of the request.
    #[inline]
    pub(crate) fn is_granted(&mut self, now: u64) {
        self.arbitration_cycles += self.late(0, now);
    }

    /// Its header leaves the router over the link.
    #[inline]
    fn header_leaves(&mut self, lone: &LoneHeader, now: u64) {
        self.output_cycles += self.late(lone.to_leave, now);
    }

    /// Cycles since the mark beyond those that a lone header takes; the mark is set anew. None waits for 2^32 cycles.
    #[inline]
    fn late(&mut self, lone: u32, now: u64) -> u32 {
        (now - std::mem::replace(&mut self.mark, now)) as u32 - lone
    }
}

/// What the header of a lone message takes in every router \[cycles\].
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoneHeader {
    /// From leaving over the link before to the request, in which cycle it is granted.
    to_request: u32,
    /// From the grant to leaving over the link behind.
    to_leave: u32,
}

impl LoneHeader {
    fn new(pipeline_stages: u64) -> Self {
        // in stage 1 one cycle after the link, over the next link P - 1 cycles after that
        let in_front = arbiter::request_delay(pipeline_stages);
        Self { to_request: (1 + in_front) as u32, to_leave: (pipeline_stages - 1 - in_front) as u32 }
    }
}

/// A message in a source queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Queued {
    pub(crate) generated_cycle: u64,
    pub(crate) destination: u32,
    /// What the link scheduler wants back when it is at the front.
    pub(crate) ticket: f64,
}

/// Rows of messages, used again once delivered.
#[derive(Clone, Debug, Default)]
pub(crate) struct Messages {
    rows: Vec<Message>,
    free: Vec<u32>,
}

impl Messages {
    /// A message enters the network; its number.
    pub(crate) fn enter(&mut self, message: Message) -> u32 {
        match self.free.pop() {
            Some(id) => {
                self.rows[id as usize] = message;
                id
            }
            None => {
                self.rows.push(message);
                self.rows.len() as u32 - 1
            }
        }
    }

    pub(crate) fn get(&self, id: u32) -> &Message {
        &self.rows[id as usize]
    }

    pub(crate) fn get_mut(&mut self, id: u32) -> &mut Message {
        &mut self.rows[id as usize]
    }

    /// A message of so many flits leaves the network.
    pub(crate) fn deliver(&mut self, id: u32, hops: u32, flits: u32, now: u64) -> Delivery {
        let message = self.rows[id as usize];
        self.free.push(id);
        Delivery {
            generated_cycle: message.generated_cycle,
            entered_cycle: message.entered_cycle,
            delivered_cycle: now,
            source: message.source,
            destination: message.destination,
            class: message.class,
            hops: hops as u8,
            input_cycles: message.input_cycles,
            arbitration_cycles: message.arbitration_cycles,
            output_cycles: message.output_cycles,
            // the mark is the cycle in which the header left over the ejection channel
            gap_cycles: (now - message.mark) as u32 - (flits - 1),
        }
    }
}

/// By lane, the messages in it in order: from the one at the front of the input buffer to the one that owns the
/// lane. Positions are counted in the lane's row.
#[derive(Clone, Debug)]
pub(crate) struct Queues(Vec<VecDeque<u32>>);

impl Queues {
    pub(crate) fn new(lanes: usize) -> Self {
        Self(vec![VecDeque::new(); lanes])
    }

    #[inline]
    pub(crate) fn at(&self, lane: usize, row: &Lane, position: u32) -> u32 {
        let place = position.wrapping_sub(row.crossing);
        debug_assert!(
            place < row.end.wrapping_sub(row.crossing),
            "no message at this position of lane {lane}"
        );
        self.0[lane][place as usize]
    }

    /// Puts a message behind the last of a lane.
    pub(crate) fn push(&mut self, lane: usize, row: &mut Lane, id: u32) {
        self.0[lane].push_back(id);
        row.end = row.end.wrapping_add(1);
        self.assert_positions(lane, row);
    }

    /// Takes the first message out of a lane.
    pub(crate) fn pop(&mut self, lane: usize, row: &mut Lane) {
        self.0[lane].pop_front();
        row.crossing = row.crossing.wrapping_add(1);
        self.assert_positions(lane, row);
    }

    /// The positions in the row span the lane's messages.
    #[inline]
    fn assert_positions(&self, lane: usize, row: &Lane) {
        let messages = row.end.wrapping_sub(row.crossing);
        debug_assert_eq!(self.0[lane].len(), messages as usize, "messages of lane {lane}");
        debug_assert!(row.sending.wrapping_sub(row.crossing) <= messages, "positions of lane {lane}");
    }
}

/// By node and class: messages generated and not yet on their way.
#[derive(Clone, Debug)]
pub(crate) struct SourceQueues {
    queues: Vec<VecDeque<Queued>>,
    /// By class: messages in all its queues.
    backlog: Vec<u64>,
    /// By class: messages that have joined a queue.
    joined: Vec<u64>,
    /// By class: a queue of so many messages takes no more.
    limits: Vec<usize>,
}

impl SourceQueues {
    /// For messages of at most `longest` flits: the flits of a queue stay countable.
    pub(crate) fn new(nodes: usize, width: usize, longest: u32) -> Self {
        Self {
            queues: vec![VecDeque::new(); nodes * width],
            backlog: vec![0; width],
            joined: vec![0; width],
            limits: vec![(u32::MAX / longest) as usize - 1; width],
        }
    }

    /// The message joins queue `node * width + class`.
    pub(crate) fn push(&mut self, queue: usize, message: Queued) {
        let class = queue & (self.backlog.len() - 1);
        self.backlog[class] += 1;
        self.joined[class] += 1;
        self.queues[queue].push_back(message);
    }

    pub(crate) fn len(&self, queue: usize) -> usize {
        self.queues[queue].len()
    }

    pub(crate) fn front(&self, queue: usize) -> Option<&Queued> {
        self.queues[queue].front()
    }

    /// The first message is wholly on its way.
    pub(crate) fn pop(&mut self, queue: usize) -> Option<Queued> {
        let class = queue & (self.backlog.len() - 1);
        let message = self.queues[queue].pop_front();
        self.backlog[class] -= u64::from(message.is_some());
        message
    }

    /// By class: messages in all its queues, those being sent included.
    pub(crate) fn backlog(&self) -> &[u64] {
        &self.backlog
    }

    /// By class: messages that have ever joined a queue.
    pub(crate) fn joined(&self) -> &[u64] {
        &self.joined
    }

    /// How many messages of a class a queue takes.
    pub(crate) fn limit(&self, class: usize) -> usize {
        self.limits[class]
    }

    /// From now on queues of a class take no more than so many messages, later ones are lost.
    pub(crate) fn set_limit(&mut self, class: usize, messages: usize) {
        self.limits[class] = messages;
    }
}

/// Who is where: messages at the sources and in the network.
pub(crate) struct Ledger {
    pub(crate) sources: SourceQueues,
    pub(crate) messages: Messages,
    pub(crate) queues: Queues,
    /// Lanes per link, a power of two.
    width: usize,
    lone: LoneHeader,
    /// By lane: messages whose tail has left over the link.
    pub(crate) messages_sent: Vec<u64>,
    /// Messages generated and not delivered.
    pub(crate) unfinished: u64,
}

impl Ledger {
    pub(crate) fn new(lanes: usize, nodes: usize, width: usize, longest: u32, pipeline_stages: u64) -> Self {
        Self {
            sources: SourceQueues::new(nodes, width, longest),
            messages: Messages::default(),
            queues: Queues::new(lanes),
            width,
            lone: LoneHeader::new(pipeline_stages),
            messages_sent: vec![0; lanes],
            unfinished: 0,
        }
    }

    /// The header at the front behind the link requests an output lane; its destination.
    #[inline]
    pub(crate) fn header_requests(&mut self, lane: usize, row: &Lane, now: u64) -> u32 {
        let message = self.messages.get_mut(self.queues.at(lane, row, row.crossing));
        message.requests(&self.lone, now);
        message.destination
    }

    /// A header leaves a router over the link; out of line, for one flit in a message is a header.
    #[inline(never)]
    pub(crate) fn header_left(&mut self, lane: usize, row: &Lane, now: u64) {
        self.messages.get_mut(self.queues.at(lane, row, row.sending)).header_leaves(&self.lone, now);
    }

    /// The first message of a source queue goes on its way: its header is in stage 1 in the next cycle.
    pub(crate) fn enter(&mut self, queue: usize, lane: usize, row: &mut Lane, now: u64) {
        let Some(&Queued { generated_cycle, destination, .. }) = self.sources.front(queue) else {
            unreachable!("a flit left an empty source queue");
        };
        let (source, class) = ((queue / self.width) as u32, (queue % self.width) as u8);
        let entered_cycle = now + 1;
        let mark = now;
        let id = self.messages.enter(Message {
            generated_cycle,
            entered_cycle,
            source,
            destination,
            class,
            mark,
            ..Message::default()
        });
        self.queues.push(lane, row, id);
    }

    /// A message is wholly out of its source; the ticket of the next one.
    pub(crate) fn tail_left_source(&mut self, queue: usize, lane: usize, row: &mut Lane) -> Option<f64> {
        self.sources.pop(queue);
        self.messages_sent[lane] += 1;
        row.sending = row.sending.wrapping_add(1);
        row.to_send = 0;
        let next = self.sources.front(queue)?;
        row.to_send = row.message_flits;
        Some(next.ticket)
    }

    /// A message is wholly out of a router; over an ejection channel it is delivered.
    pub(crate) fn tail_left(
        &mut self,
        lane: usize,
        row: &mut Lane,
        wiring: &Wiring,
        now: u64,
        delivered: &mut Vec<Delivery>,
    ) {
        self.messages_sent[lane] += 1;
        let id = self.queues.at(lane, row, row.sending);
        row.sending = row.sending.wrapping_add(1);
        row.to_send = if row.sending == row.end { 0 } else { row.message_flits };
        if row.ejects() {
            self.queues.pop(lane, row);
            row.arrived = 0;
            self.unfinished -= 1;
            let message = self.messages.get(id);
            let hops = wiring.hops(message.source, message.destination);
            delivered.push(self.messages.deliver(id, hops, row.message_flits, now));
        }
    }
}
