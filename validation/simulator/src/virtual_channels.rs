//! Which virtual channels belong to which class, and which of them a message may take.

use std::ops::Range;

use flitwise_language::scenario::{Scenario, VcChoice};

use crate::control::stations::control_class;
use crate::message::{ChannelChoice, Offer};

/// The most lanes of a link: as many as a word has bits.
pub(crate) const MOST_LANES: usize = u64::BITS as usize;

/// The virtual channels of every channel, in groups: messages that ask for one of a group may take any of it.
///
/// A group has the number of its first virtual channel. Where the choice is free a class is a group, on network
/// channels of a ring each half of it; where virtual channels are drawn each is a group of its own.
#[derive(Clone, Debug)]
pub(crate) struct VirtualChannels {
    choice: VcChoice,
    /// By class.
    blocks: Vec<Range<usize>>,
    /// Logarithm of the lanes per link.
    shift: u32,
    /// Whether network channels form rings.
    has_rings: bool,
    /// On other channels and on those of rings.
    groups: [Groups; 2],
}

/// The groups of a channel.
#[derive(Clone, Debug)]
struct Groups {
    /// By virtual channel: a bit for each of the group that begins there.
    bits: [u64; MOST_LANES],
    /// By virtual channel: the group that it belongs to.
    of: [u8; MOST_LANES],
}

impl Groups {
    /// Each range is a group.
    fn new(groups: impl Iterator<Item = Range<usize>>) -> Self {
        let mut made = Self { bits: [0; MOST_LANES], of: [0; MOST_LANES] };
        for group in groups {
            for channel in group.clone() {
                made.bits[group.start] |= 1 << channel;
                made.of[channel] = group.start as u8;
            }
        }
        made
    }
}

/// The lower and the upper half of the virtual channels of a class.
pub(crate) fn halves(block: &Range<usize>) -> [Range<usize>; 2] {
    let middle = block.start + block.len() / 2;
    [block.start..middle, middle..block.end]
}

impl VirtualChannels {
    pub(crate) fn new(scenario: &Scenario) -> Self {
        let (mut blocks, choice) = (scenario.virtual_channels(), scenario.data_router().vc_choice);
        let used = blocks.iter().map(|block| block.end).max().unwrap_or(0).max(1);
        let singles = || Groups::new((0..used).map(|channel| channel..channel + 1));
        let groups = match choice {
            VcChoice::Free => {
                [Groups::new(blocks.iter().cloned()), Groups::new(blocks.iter().flat_map(halves))]
            }
            _ => [singles(), singles()],
        };
        let has_rings = scenario.topology().has_rings();
        if scenario.has_signals_in_band() {
            // their class is the last one
            blocks.push(blocks[control_class(scenario)].clone());
        }
        // widths for which there is code of its own
        let width = if used > 16 { MOST_LANES } else { used.next_power_of_two() };
        Self { choice, blocks, shift: width.trailing_zeros(), has_rings, groups }
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

    /// Whether network channels form rings.
    #[inline]
    pub(crate) fn has_rings(&self) -> bool {
        self.has_rings
    }

    /// A bit for each virtual channel of a group, on a channel of a ring or not.
    #[inline]
    pub(crate) fn group(&self, group: usize, of_ring: bool) -> u64 {
        self.groups[usize::from(of_ring)].bits[group % MOST_LANES]
    }

    /// The group of a lane, on the link of that lane.
    #[inline]
    pub(crate) fn group_of(&self, lane: usize, of_ring: bool) -> usize {
        let mask = (1 << self.shift) - 1;
        lane & !mask | usize::from(self.groups[usize::from(of_ring)].of[lane & mask])
    }

    /// The group that a message asks for on its injection channel.
    #[inline]
    pub(crate) fn at_source(&self, offer: &Offer) -> usize {
        match offer.drawn {
            Some(drawn) => usize::from(drawn.injection),
            None => self.blocks[usize::from(offer.arrival.class)].start,
        }
    }

    /// The groups that a message asks for on network channels, before and behind the dateline of a ring, and on its
    /// ejection channel.
    #[inline]
    pub(crate) fn on_the_way(&self, class: usize, drawn: Option<ChannelChoice>) -> [u8; 3] {
        let block = &self.blocks[class];
        let [lower, upper] = halves(block);
        let (network, ejection) = match drawn {
            Some(drawn) => (Some(usize::from(drawn.network)), usize::from(drawn.ejection)),
            None => (None, block.start),
        };
        let on_network = match network {
            Some(drawn) if self.has_rings => {
                let place = (drawn - block.start) % lower.len();
                [lower.start + place, upper.start + place]
            }
            Some(drawn) => [drawn; 2],
            None if self.has_rings => [lower.start, upper.start],
            None => [block.start; 2],
        };
        [on_network[0] as u8, on_network[1] as u8, ejection as u8]
    }

    /// Where the choice is not free: the virtual channels of a class to draw from.
    pub(crate) fn to_draw(&self, class: usize) -> Option<(VcChoice, Range<usize>)> {
        (self.choice != VcChoice::Free).then(|| (self.choice, self.blocks[class].clone()))
    }
}

/// Lanes of all links of a scenario's network.
pub fn lanes(scenario: &Scenario) -> u64 {
    let network = scenario.topology();
    let of_stations = if scenario.has_signals_in_band() { 2 * u64::from(network.routers()) } else { 0 };
    let of_routers = u64::from(network.routers()) * u64::from(network.ports());
    let links = of_routers + u64::from(network.nodes()) + of_stations;
    links * VirtualChannels::new(scenario).width() as u64
}
