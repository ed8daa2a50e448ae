//! Who is under way: messages from their generation to their delivery, and where their headers have waited.

use flitwise_language::quantity::Waits;

use crate::message::{Delivery, FramePart, HostTimes, Offer};

/// A message that is on its way; a row is one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct Message {
    generated_cycle: u64,
    entered_cycle: u64,
    pub(crate) source: u16,
    pub(crate) destination: u16,
    /// The way that was drawn for it.
    pub(crate) way: u32,
    /// Its length \[flits\].
    pub(crate) flits: u32,
    /// Its Vtick \[cycles/flit\].
    pub(crate) vtick: f64,
    class: u8,
    /// The groups of virtual channels that it asks for on its way, see
    /// [`VirtualChannels::on_the_way`](super::virtual_channels::VirtualChannels::on_the_way).
    pub(crate) groups: [u8; 3],
    /// When its header last left over a link (the delay of that included), requested an output lane or was granted one.
    mark: u64,
    /// What its header has waited so far, as in [`Delivery`].
    waits: Waits<u32>,
}

impl Message {
    /// The first cycle in which it could be sent.
    pub(crate) fn generated_cycle(&self) -> u64 {
        self.generated_cycle
    }

    /// Its header leaves the source over a link of so much delay; cycles that it waited.
    #[inline]
    pub(crate) fn enters(&mut self, now: u64, delay: u32) -> u64 {
        self.entered_cycle = now + 1;
        self.mark = now + u64::from(delay);
        now - self.generated_cycle
    }

    /// The cycle in which its header comes in behind the link over which it left last.
    #[inline]
    pub(crate) fn comes_in(&self) -> u64 {
        self.mark + 1
    }

    /// Its header requests an output lane.
    #[inline]
    pub(crate) fn requests(&mut self, lone: &LoneHeader, now: u64) {
        self.waits.input += self.late(lone.to_request, now);
    }

    /// Its header is granted the output lane; a lone one is in the cycle of the request. Cycles that it waited.
    #[inline]
    pub(crate) fn is_granted(&mut self, now: u64) -> u64 {
        let late = self.late(0, now);
        self.waits.arbitration += late;
        late.into()
    }

    /// Its header leaves the router over a link of so much delay; cycles that it waited since the grant.
    #[inline]
    pub(crate) fn header_leaves(&mut self, lone: &LoneHeader, now: u64, delay: u32) -> u64 {
        let late = self.late(lone.to_leave, now);
        self.mark += u64::from(delay);
        self.waits.output += late;
        late.into()
    }

    /// Cycles since the mark beyond those that a lone header takes; the mark is set anew. None waits for 2^32 cycles.
    #[inline]
    fn late(&mut self, lone: u32, now: u64) -> u32 {
        (now - std::mem::replace(&mut self.mark, now)) as u32 - lone
    }
}

/// The number of a node or station, of which there are at most 2 x 16,384.
#[inline]
fn short(place: u32) -> u16 {
    debug_assert!(place <= u16::MAX.into(), "place {place} of more than the language has");
    place as u16
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
    /// Of a router whose headers request an output lane so long after they have come to the front.
    pub(crate) fn new(pipeline_stages: u64, request_delay: u64) -> Self {
        // in stage 1 one cycle after the link, over the next link P - 1 cycles after that
        Self {
            to_request: (1 + request_delay) as u32,
            to_leave: (pipeline_stages - 1 - request_delay) as u32,
        }
    }
}

/// All messages that are generated and not delivered.
#[derive(Clone, Debug)]
pub(crate) struct Ledger {
    /// Those on their way, used again once delivered.
    rows: Vec<Message>,
    /// By row: the part of a frame that the message is; told only when it is delivered.
    parts: Vec<FramePart>,
    free: Vec<u32>,
    /// By class: messages at their sources, those being sent included.
    backlog: Vec<u64>,
    /// By class: messages that have joined a source queue.
    joined: Vec<u64>,
    /// By class: messages that were taken back.
    withdrawn: Vec<u64>,
    unfinished: u64,
}

impl Ledger {
    pub(crate) fn new(classes: usize) -> Self {
        Self {
            rows: Vec::new(),
            parts: Vec::new(),
            free: Vec::new(),
            backlog: vec![0; classes],
            joined: vec![0; classes],
            withdrawn: vec![0; classes],
            unfinished: 0,
        }
    }

    /// Whether no message is under way or waits.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.unfinished == 0
    }

    /// By class: messages at their sources, those being sent included.
    pub(crate) fn backlog(&self) -> &[u64] {
        &self.backlog
    }

    /// By class: messages that have ever joined a source queue.
    pub(crate) fn joined(&self) -> &[u64] {
        &self.joined
    }

    /// By class: messages that were taken back from their sources.
    pub(crate) fn withdrawn(&self) -> &[u64] {
        &self.withdrawn
    }

    /// So many messages of a class are taken back from their sources.
    pub(crate) fn takes_back(&mut self, class: usize, messages: u64) {
        self.backlog[class] -= messages;
        self.withdrawn[class] += messages;
        self.unfinished -= messages;
    }

    /// A message of a class is lost before it is sent.
    pub(crate) fn drops(&mut self, class: usize) {
        self.backlog[class] -= 1;
        self.unfinished -= 1;
    }

    /// A message that had taken a lane is taken back.
    pub(crate) fn forget(&mut self, id: u32) {
        self.free.push(id);
    }

    /// A message joins its source queue.
    #[inline]
    pub(crate) fn joins(&mut self, class: u8) {
        self.backlog[usize::from(class)] += 1;
        self.joined[usize::from(class)] += 1;
        self.unfinished += 1;
    }

    /// A message takes a lane of its network interface; its number.
    pub(crate) fn starts(&mut self, offer: &Offer, groups: [u8; 3]) -> u32 {
        let message = Message {
            generated_cycle: offer.arrival.cycle,
            entered_cycle: 0,
            source: short(offer.arrival.source),
            destination: short(offer.arrival.destination),
            way: offer.way,
            flits: offer.flits,
            vtick: offer.vtick,
            class: offer.arrival.class,
            groups,
            mark: 0,
            waits: Waits::default(),
        };
        match self.free.pop() {
            Some(id) => {
                self.rows[id as usize] = message;
                self.parts[id as usize] = offer.part;
                id
            }
            None => {
                self.rows.push(message);
                self.parts.push(offer.part);
                self.rows.len() as u32 - 1
            }
        }
    }

    /// The tail of a message has left its source.
    #[inline]
    pub(crate) fn has_left_source(&mut self, id: u32) {
        let class = self.get(id).class;
        self.backlog[usize::from(class)] -= 1;
    }

    #[inline]
    pub(crate) fn get(&self, id: u32) -> &Message {
        &self.rows[id as usize]
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, id: u32) -> &mut Message {
        &mut self.rows[id as usize]
    }

    /// A message leaves the network, after so many network channels.
    pub(crate) fn deliver(&mut self, id: u32, hops: impl FnOnce(u32, u32) -> u32, now: u64) -> Delivery {
        let message = self.rows[id as usize];
        self.free.push(id);
        self.unfinished -= 1;
        Delivery {
            generated_cycle: message.generated_cycle,
            entered_cycle: message.entered_cycle,
            delivered_cycle: now,
            source: message.source.into(),
            destination: message.destination.into(),
            class: message.class,
            hops: hops(message.source.into(), message.destination.into()) as u8,
            // the mark is the cycle in which the header left over the ejection channel, as late as the tail is now
            waits: Waits { gaps: (now - message.mark) as u32 - (message.flits - 1), ..message.waits },
            part: self.parts[id as usize],
            host: HostTimes::default(),
            preemptions: 0,
        }
    }
}
