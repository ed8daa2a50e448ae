//! A lane: one class on one channel, the output buffer before the link and the input buffer behind it.

/// No lane.
pub(crate) const NONE: u32 = u32::MAX;

/// All that is known of a lane; one row is one cache line, since a flit's move touches most of it.
///
/// Messages go through a lane in order, so that counts say which flit is where: of the messages in the lane's
/// queue (see [`super::queues::Queues`]) those before `sending` are wholly behind the link.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct Lane {
    /// Before the link: flits in the output buffer, or in the source queue.
    pub(crate) waiting: u32,
    /// Of the message at the front there: flits that have not left.
    pub(crate) to_send: u32,
    /// Behind the link: slots taken in the input buffer, by flits under way too.
    pub(crate) arrived: u32,
    /// Of the message at the front there: flits that have not crossed.
    pub(crate) to_cross: u32,
    /// The output lane that the message at the front there owns.
    pub(crate) goes_to: u32,
    /// The input lane whose message owns this output lane.
    pub(crate) owner: u32,
    /// Whether there is an input buffer behind the link (1) or a node (0).
    pub(crate) has_input: u32,
    /// Length of a message of the class \[flits\].
    pub(crate) message_flits: u32,
    /// Positions in the lane's queue of messages: front of the input buffer.
    pub(crate) crossing: u32,
    /// The message whose flits leave now, if it is not `end`.
    pub(crate) sending: u32,
    /// Behind the last.
    pub(crate) end: u32,
    /// Flits that have left over the link.
    pub(crate) sent: u64,
    /// Cycle of the front header's request.
    pub(crate) requested_cycle: u64,
}

impl Lane {
    pub(crate) fn new(message_flits: u32, has_input: bool) -> Self {
        Self {
            waiting: 0,
            to_send: 0,
            arrived: 0,
            to_cross: 0,
            goes_to: NONE,
            owner: NONE,
            has_input: u32::from(has_input),
            message_flits,
            crossing: 0,
            sending: 0,
            end: 0,
            sent: 0,
            requested_cycle: 0,
        }
    }

    /// Whether a header has left over the link and its message has not crossed.
    pub(crate) fn has_front(&self) -> bool {
        self.crossing != self.sending || (self.sending != self.end && self.to_send < self.message_flits)
    }
}
