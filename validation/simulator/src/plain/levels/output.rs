//! The channel behind a crossbar: its virtual channels, who owns them, and what waits for the link.

use std::collections::VecDeque;

use super::flit::Flit;
use crate::plain::rules::{End, LEVELS, Rules};

/// A link and direction, with the buffers before it.
pub(super) struct OutputPort {
    pub(super) to: End,
    pub(super) channels: Vec<OutputChannel>,
    /// The flit sent in the cycle before this one.
    pub(super) wire: Option<Flit>,
}

/// The output side of a virtual channel.
#[derive(Clone)]
pub(super) struct OutputChannel {
    /// T9: the input port and virtual channel of the fragment that owns it.
    pub(super) owner: Option<(usize, usize)>,
    /// S1: the input port after the one granted last.
    pub(super) first_port: usize,
    /// L9: one lane, or one for each level.
    lanes: Vec<VecDeque<Flit>>,
}

impl OutputPort {
    pub(super) fn new(rules: &Rules, to: End) -> Self {
        let lanes = if rules.outputs_per_level { LEVELS } else { 1 };
        let channel = OutputChannel { owner: None, first_port: 0, lanes: vec![VecDeque::new(); lanes] };
        Self { to, channels: vec![channel; rules.lanes()], wire: None }
    }

    /// X4, L9: the lane whose flit leaves over the link: of those with room behind the link the one that crossed
    /// first, of equal ones the lower virtual channel.
    pub(super) fn choose(&self, has_room: impl Fn(&Flit) -> bool) -> Option<(usize, usize)> {
        let channels = self.channels.iter().enumerate();
        let fronts = channels.flat_map(|(channel, buffers)| {
            let lanes = buffers.lanes.iter().enumerate();
            lanes.filter_map(move |(lane, flits)| Some(((channel, lane), flits.front()?)))
        });
        let eligible = fronts.filter(|(_, flit)| has_room(flit));
        eligible.min_by_key(|((channel, _), flit)| (flit.joined_cycle, *channel)).map(|(lane, _)| lane)
    }

    /// T2: the flit at the front of a lane leaves.
    pub(super) fn send(&mut self, (channel, lane): (usize, usize)) -> Flit {
        self.channels[channel].lanes[lane].pop_front().expect("a flit to send")
    }

    pub(super) fn is_empty(&self) -> bool {
        self.wire.is_none() && self.channels.iter().all(OutputChannel::is_empty)
    }
}

impl OutputChannel {
    fn lane(&self, level: usize) -> usize {
        if self.lanes.len() == 1 { 0 } else { level }
    }

    /// T3: whether there is a free slot for a flit of a level.
    pub(super) fn has_room(&self, level: usize, rules: &Rules) -> bool {
        self.lanes[self.lane(level)].len() < rules.buffer_flits
    }

    /// T3: a flit has crossed.
    pub(super) fn join(&mut self, flit: Flit) {
        let lane = self.lane(flit.level);
        self.lanes[lane].push_back(flit);
    }

    fn is_empty(&self) -> bool {
        self.owner.is_none() && self.lanes.iter().all(VecDeque::is_empty)
    }
}
