//! Where streams go: the destination of each, and its virtual channel there.

use flitwise_language::scenario::{Destinations, FrameSource, Placement, Scenario};

use super::destinations::draw;
use super::random::{Random, below, stream_of};

/// Random numbers of placements are those of a stream that no class has.
pub(crate) const OF_PLACEMENT: u32 = 1 << 20;
/// The same of what is drawn when a phase begins.
pub(super) const OF_PHASES: u32 = OF_PLACEMENT + 1;
/// Draws of a place with room after which all places are looked through.
const MOST_DRAWS: u32 = 1_000;

/// By sender and stream: destination, and place among the virtual channels of the class, so many.
pub(super) fn placed(
    scenario: &Scenario,
    class: usize,
    frames: &FrameSource,
    lanes: usize,
    senders: &[u32],
    seed: u64,
) -> Vec<(u32, usize)> {
    let nodes = scenario.topology().nodes() as usize;
    let all = frames.streams as usize * senders.len();
    let slots = (nodes * lanes).max(1);
    let room = (0..slots).map(|slot| match frames.placement {
        Placement::Uniform => u32::MAX,
        Placement::Capped => frames.streams_per_vc,
        Placement::Balanced => (all / slots + usize::from(slot < all % slots)) as u32,
    });
    let mut board = Board {
        destinations: scenario.destinations(class),
        lanes: lanes.max(1),
        room: Room { nodes, free: room.collect() },
        random: stream_of(seed, 0, class, OF_PLACEMENT),
    };
    let mut places = vec![(0, 0); all];
    let mut before = Vec::with_capacity(all);
    // stream 0 of all nodes, then stream 1 of all nodes
    for stream in 0..frames.streams as usize {
        for (at, sender) in senders.iter().enumerate() {
            let at = at * frames.streams as usize + stream;
            places[at] = board.draw(*sender).unwrap_or_else(|| board.exchange(*sender, &before, &mut places));
            before.push((at, *sender));
        }
    }
    places
}

/// Room for streams at their destinations.
struct Board {
    destinations: Destinations,
    lanes: usize,
    room: Room,
    random: Random,
}

/// How many streams may still come.
struct Room {
    nodes: usize,
    /// By virtual channel and node.
    free: Vec<u32>,
}

impl Room {
    fn is_at(&self, (node, lane): (u32, usize)) -> bool {
        self.free[lane * self.nodes + node as usize] > 0
    }

    /// Whether there was room, which is taken.
    fn takes(&mut self, place: (u32, usize)) -> bool {
        let is_free = self.is_at(place);
        self.free[place.1 * self.nodes + place.0 as usize] -= u32::from(is_free);
        is_free
    }
}

impl Board {
    /// A place with room, drawn until one is found; `None` where there is none.
    fn draw(&mut self, sender: u32) -> Option<(u32, usize)> {
        let towards = self.destinations.towards(sender);
        for _ in 0..MOST_DRAWS {
            let place =
                (draw(&mut self.random, &towards), below(&mut self.random, self.lanes as u32) as usize);
            if self.room.takes(place) {
                return Some(place);
            }
        }
        let all = || (0..self.lanes).flat_map(|lane| (0..towards.count).map(move |at| (at, lane)));
        let found = all().map(|(at, lane)| (towards.node(at), lane)).find(|place| self.room.is_at(*place));
        found.filter(|place| self.room.takes(*place))
    }

    /// The last places may be at the sender alone, to which it does not send: the first stream before that can go
    /// there leaves its place. Where there is none, the sender takes any place.
    fn exchange(
        &mut self,
        sender: u32,
        before: &[(usize, u32)],
        places: &mut [(u32, usize)],
    ) -> (u32, usize) {
        let own = (0..self.lanes).map(|lane| (sender, lane)).find(|place| self.room.is_at(*place));
        let leaves = before.iter().find(|(at, other)| *other != sender && places[*at].0 != sender);
        if let (Some(own), Some((at, _))) = (own, leaves)
            && self.room.takes(own)
        {
            return std::mem::replace(&mut places[*at], own);
        }
        let towards = self.destinations.towards(sender);
        (draw(&mut self.random, &towards), below(&mut self.random, self.lanes as u32) as usize)
    }
}
