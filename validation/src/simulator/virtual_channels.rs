//! Which virtual channels belong to which class, and which of them a message may take.

use std::ops::Range;

use flitwise_models::scenario::{Scenario, VcChoice};

use crate::message::Offer;

/// The most lanes of a link: as many as a word has bits.
pub(crate) const MOST_LANES: usize = u64::BITS as usize;

/// The virtual channels of every channel, in groups: messages that ask for one of a group may take any of it.
///
/// A group has the number of its first virtual channel. Where the choice is free a class is a group, where virtual
/// channels are drawn each is a group of its own.
#[derive(Clone, Debug)]
pub(crate) struct VirtualChannels {
    choice: VcChoice,
    /// By class.
    blocks: Vec<Range<usize>>,
    /// Logarithm of the lanes per link.
    shift: u32,
    /// By virtual channel: a bit for each of the group that begins there.
    groups: [u64; MOST_LANES],
    /// By virtual channel: the group that it belongs to.
    group_of: [u8; MOST_LANES],
}

impl VirtualChannels {
    pub(crate) fn new(scenario: &Scenario) -> Self {
        let (blocks, choice) = (scenario.virtual_channels(), scenario.router().vc_choice);
        let used = blocks.last().map_or(1, |last| last.end.max(1));
        let (mut groups, mut group_of) = ([0; MOST_LANES], [0; MOST_LANES]);
        for block in &blocks {
            for channel in block.clone() {
                let group = if choice == VcChoice::Free { block.start } else { channel };
                groups[group] |= 1 << channel;
                group_of[channel] = group as u8;
            }
        }
        // widths for which there is code of its own
        let width = if used > 16 { MOST_LANES } else { used.next_power_of_two() };
        Self { choice, blocks, shift: width.trailing_zeros(), groups, group_of }
    }

    /// Lanes per link, a power of two, and its logarithm.
    pub(crate) fn width(&self) -> usize {
        1 << self.shift
    }

    pub(crate) fn shift(&self) -> u32 {
        self.shift
    }

    /// The class of a virtual channel; `None` of one that stays idle.
    pub(crate) fn class_of(&self, channel: usize) -> Option<usize> {
        self.blocks.iter().position(|block| block.contains(&channel))
    }

    /// A bit for each virtual channel of a group.
    #[inline]
    pub(crate) fn group(&self, group: usize) -> u64 {
        self.groups[group % MOST_LANES]
    }

    /// The group of a lane, on the link of that lane.
    #[inline]
    pub(crate) fn group_of(&self, lane: usize) -> usize {
        let mask = (1 << self.shift) - 1;
        lane & !mask | usize::from(self.group_of[lane & mask])
    }

    /// The group that a message asks for on its injection channel.
    #[inline]
    pub(crate) fn at_source(&self, offer: &Offer) -> usize {
        match offer.drawn {
            Some(drawn) => usize::from(drawn.injection),
            None => self.blocks[usize::from(offer.arrival.class)].start,
        }
    }

    /// The groups that a message asks for on network and on ejection channels.
    #[inline]
    pub(crate) fn on_the_way(&self, offer: &Offer) -> [u8; 2] {
        match offer.drawn {
            Some(drawn) => [drawn.network, drawn.ejection],
            None => [self.blocks[usize::from(offer.arrival.class)].start as u8; 2],
        }
    }

    /// Where the choice is not free: the virtual channels of a class to draw from.
    pub(crate) fn to_draw(&self, class: usize) -> Option<(VcChoice, Range<usize>)> {
        (self.choice != VcChoice::Free).then(|| (self.choice, self.blocks[class].clone()))
    }
}
