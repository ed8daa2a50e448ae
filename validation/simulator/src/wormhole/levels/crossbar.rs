//! Stage P-1: which flits cross together (X1, X2 with the keys of L1, L11 and L12).

use super::arbiters::Arbiters;
use super::rules::{Crossing, LEVELS, Order, REAL_TIME, Rules};
use crate::wiring::Wiring;

/// Bits of a word.
const WORD: usize = u64::BITS as usize;

/// An input port: virtual channels of its link that can send a flit across in the next cycle, a bit each.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
struct Port {
    /// By rank of their level.
    ready: [u64; LEVELS],
    /// Those that are accelerated, if they are ready.
    accelerated: u64,
    /// The virtual channel that sent the last flit, when, and flits of its block that are left.
    sent: u32,
    left: u32,
    sent_in: u64,
    /// `v`: the stamp of the real-time flit that crossed last (S4).
    virtual_time: f64,
}

impl Port {
    #[inline]
    fn all(&self) -> u64 {
        self.ready[0] | self.ready[1] | self.ready[2]
    }
}

/// The best candidate of an input port.
#[derive(Clone, Copy, Debug)]
struct Head {
    /// The smaller goes first, see [`order`].
    order: u128,
    channel: u32,
}

/// Ranks before those of levels.
const HELD: usize = 0;
const ACCELERATED: usize = 1;
const LEVEL: usize = 2;
/// The bits of a turn.
const TURN: usize = 0xffff;
/// Behind all candidates.
const NONE: u128 = u128::MAX;

/// Rank, then key, then turn of the port.
#[inline]
fn order(rank: usize, key: u64, turn: usize) -> u128 {
    u128::from((rank as u64) << 48 | key >> 16) << 64 | u128::from(key << 48 | turn as u64)
}

/// What is compared of a candidate.
#[derive(Clone, Copy, Debug, Default)]
struct Front {
    /// Its stamp.
    stamp: u64,
    /// A bit for the output port.
    output: u64,
}

/// A flit that can cross.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub(super) level: usize,
    pub(super) stamp: u64,
    pub(super) is_accelerated: bool,
    /// The output virtual channel.
    pub(super) to: usize,
}

/// The candidates of all routers.
pub(super) struct Crossbars {
    /// By link.
    ports: Vec<Port>,
    /// By virtual channel, if it has a candidate.
    fronts: Vec<Front>,
    /// By router: input ports with candidates; routers with such ports.
    busy_ports: Vec<u64>,
    busy_routers: Vec<u64>,
    /// By router and port: the link that leads into it.
    links: Vec<u32>,
    heads: Vec<Head>,
    /// L11: flits that have crossed accelerated.
    pub(super) accelerated_flits: u64,
}

/// The bits of a number, in the order of numbers.
#[inline]
fn in_order(number: f64) -> u64 {
    let bits = (number + 0.0).to_bits(); // -0 is 0
    if bits >> 63 == 0 { bits | 1 << 63 } else { !bits }
}

impl Crossbars {
    pub(super) fn new(rules: &Rules, wiring: &Wiring) -> Self {
        let routers = wiring.routers() as usize;
        let mut links = vec![0; routers * rules.ports];
        for (link, (router, port)) in
            rules.inputs.iter().enumerate().filter_map(|(link, input)| Some((link, (*input)?)))
        {
            links[router as usize * rules.ports + port as usize] = link as u32;
        }
        Self {
            ports: vec![Port::default(); rules.links],
            fronts: vec![Front::default(); rules.channels],
            busy_ports: vec![0; routers],
            busy_routers: vec![0; routers.div_ceil(WORD)],
            links,
            heads: Vec::with_capacity(rules.ports),
            accelerated_flits: 0,
        }
    }

    /// What a virtual channel can send across in the next cycle.
    #[inline]
    pub(super) fn set(&mut self, rules: &Rules, channel: usize, candidate: Option<Candidate>) {
        let link = rules.link(channel);
        let bit = rules.bit(channel);
        let port = &mut self.ports[link];
        let had_any = port.all() != 0;
        port.ready = port.ready.map(|ready| ready & !bit);
        port.accelerated &= !bit;
        if let Some(Candidate { level, stamp, is_accelerated, to }) = candidate {
            port.ready[rules.ranks[level]] |= bit;
            port.accelerated |= if is_accelerated { bit } else { 0 };
            self.fronts[channel] = Front { stamp, output: rules.output_bits[rules.link(to)] };
        }
        let has_any = port.all() != 0;
        if had_any != has_any {
            let (router, port) = rules.input(link);
            self.busy_ports[router] ^= 1 << port;
            let is_busy = u64::from(self.busy_ports[router] != 0);
            let word = &mut self.busy_routers[router / WORD];
            *word = *word & !(1 << (router % WORD)) | is_busy << (router % WORD);
        }
    }

    /// The next flit of the message that a virtual channel sends can cross, too.
    #[inline]
    pub(super) fn goes_on(&mut self, channel: usize, stamp: u64) {
        self.fronts[channel].stamp = stamp;
    }

    /// Whether a candidate is known of a virtual channel.
    #[cfg(debug_assertions)]
    pub(super) fn is_ready(&self, rules: &Rules, channel: usize) -> bool {
        self.ports[rules.link(channel)].all() & rules.bit(channel) != 0
    }

    pub(super) fn virtual_time(&self, link: usize) -> f64 {
        self.ports[link].virtual_time
    }

    /// Flits of the block of a virtual channel that are left after its crossing in cycle `now`.
    pub(super) fn left_of_block(&self, rules: &Rules, channel: usize, now: u64) -> u32 {
        let port = &self.ports[rules.link(channel)];
        if port.sent == channel as u32 && port.sent_in == now + 1 { port.left } else { 0 }
    }

    /// A flit of a virtual channel crosses in cycle `now`.
    #[inline]
    pub(super) fn sends(&mut self, rules: &Rules, channel: usize, sent: (usize, u64, bool), now: u64) {
        let (level, stamp, is_tail) = sent;
        let port = &mut self.ports[rules.link(channel)];
        // cycles are counted from 1 here, so that there is one before the first
        let is_held = port.sent == channel as u32 && port.sent_in == now && port.left > 0;
        port.left = match (is_tail, is_held) {
            (true, _) => 0,
            (false, true) => port.left - 1,
            (false, false) => rules.block_flits - 1,
        };
        (port.sent, port.sent_in) = (channel as u32, now + 1);
        if level == REAL_TIME {
            port.virtual_time = f64::from_bits(stamp);
        }
    }

    /// The best candidate of an input port, if `FREE` of those whose output port is not taken.
    ///
    /// A virtual channel that is held has sent a flit in the cycle before. Therefore a port has one at most, and those
    /// of different ports go to different outputs.
    #[inline]
    fn best<const FREE: bool>(&self, rules: &Rules, link: usize, taken: u64, turn: usize, now: u64) -> Head {
        let port = &self.ports[link];
        let first = link << rules.shift;
        let fronts = &self.fronts[first..][..1 << rules.shift];
        let channel = |place: u32| first as u32 + place;
        if port.left > 0 && port.sent_in == now && port.all() & rules.bit(port.sent as usize) != 0 {
            debug_assert!(!FREE, "the output of a held channel is taken");
            return Head { order: order(HELD, 0, turn), channel: port.sent };
        }
        let is_out = |place: u32| FREE && fronts[place as usize].output & taken != 0;
        let accelerated = port.accelerated;
        let mut left = accelerated;
        while left != 0 {
            let place = left.trailing_zeros();
            if !is_out(place) {
                return Head { order: order(ACCELERATED, 0, turn), channel: channel(place) };
            }
            left &= left - 1;
        }
        for (rank, ready) in port.ready.iter().enumerate() {
            let mut left = ready & !accelerated;
            if left == 0 {
                continue;
            }
            let (mut best, mut least) = (0, u64::MAX);
            let of_clock = rules.order == Order::FairQueueing && rank == REAL_TIME;
            while left != 0 {
                let place = left.trailing_zeros();
                left &= left - 1;
                let Front { stamp, output } = fronts[place as usize];
                let mut key =
                    if of_clock { in_order(f64::from_bits(stamp) - port.virtual_time) } else { stamp };
                if FREE {
                    key |= u64::from(output & taken != 0).wrapping_neg();
                }
                best = if key < least { place } else { best };
                least = least.min(key);
            }
            if least != u64::MAX {
                return Head { order: order(LEVEL + rank, least, turn), channel: channel(best) };
            }
        }
        Head { order: NONE, channel: 0 }
    }

    /// Routers with candidates, of a word of 64.
    #[inline]
    pub(super) fn busy(&self, word: usize) -> Option<u64> {
        self.busy_routers.get(word).copied()
    }

    /// X2, greedy: the candidates of a router that cross in cycle `now` are added to `chosen`, the best first. `first`
    /// is the number of the port whose turn it is.
    pub(super) fn choose(
        &mut self,
        rules: &Rules,
        router: usize,
        first: usize,
        now: u64,
        chosen: &mut Vec<u32>,
    ) {
        let mut heads = std::mem::take(&mut self.heads);
        let turns = &rules.turns[router * rules.ports..][..rules.ports];
        let links = &self.links[router * rules.ports..][..rules.ports];
        let mut ports = self.busy_ports[router];
        while ports != 0 {
            let port = ports.trailing_zeros() as usize;
            ports &= ports - 1;
            let number = usize::from(turns[port]);
            let turn = if number < first { number + rules.turn_ports - first } else { number - first };
            let best = self.best::<false>(rules, links[port] as usize, 0, turn, now);
            put_in_order(&mut heads, best);
        }
        let mut taken = 0;
        while let Some(Head { channel, order }) = heads.pop() {
            let output = self.fronts[channel as usize].output;
            if taken & output == 0 {
                taken |= output;
                let from = channel as usize;
                let is_accelerated = self.ports[rules.link(from)].accelerated & rules.bit(from) != 0;
                self.accelerated_flits += u64::from(is_accelerated);
                chosen.push(channel);
            } else {
                let turn = order as usize & TURN;
                let next = self.best::<true>(rules, rules.link(channel as usize), taken, turn, now);
                if next.order != NONE {
                    put_in_order(&mut heads, next);
                }
            }
        }
        self.heads = heads;
    }
}

impl Crossbars {
    /// K6: input ports in their turn name a lane each, of those whose output port is free; what crosses is added to
    /// `chosen`. Of a full crossbar every lane sends.
    pub(super) fn choose_in_turn(
        &mut self,
        rules: &Rules,
        arbiters: &mut Arbiters,
        router: usize,
        first: usize,
        chosen: &mut Vec<u32>,
    ) {
        let turns = &rules.turns[router * rules.ports..][..rules.ports];
        let before = turns.partition_point(|turn| usize::from(*turn) < first);
        let low = u64::MAX.checked_shl(before as u32).map_or(u64::MAX, |high| !high);
        let all = self.busy_ports[router];
        let mut taken = 0;
        for mut ports in [all & !low, all & low] {
            while ports != 0 {
                let link = self.links[router * rules.ports + ports.trailing_zeros() as usize] as usize;
                ports &= ports - 1;
                let ready = self.ports[link].ready;
                if rules.crossing == Crossing::All {
                    chosen.extend(
                        lanes_of(ready[0] | ready[1] | ready[2])
                            .map(|lane| (link << rules.shift) as u32 + lane),
                    );
                    continue;
                }
                let fronts = &self.fronts[link << rules.shift..][..1 << rules.shift];
                let free = |lanes: u64| {
                    let is_free = |lane: &u32| fronts[*lane as usize].output & taken == 0;
                    lanes_of(lanes).filter(is_free).fold(0, |free, lane| free | 1 << lane)
                };
                let eligible = match rules.crossing {
                    Crossing::Free if taken != 0 => ready.map(free),
                    _ => ready,
                };
                let arbiter = arbiters.at_input(link);
                let Some(named) = arbiters.name(arbiter, eligible) else { continue };
                let output = fronts[named.place as usize].output;
                if taken & output == 0 {
                    taken |= output;
                    arbiters.moves(arbiter, named);
                    chosen.push((link << rules.shift) as u32 + named.place);
                }
            }
        }
    }
}

/// The places of bits.
fn lanes_of(mut lanes: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let lane = lanes.trailing_zeros();
        lanes &= lanes.wrapping_sub(1);
        (lane < u64::BITS).then_some(lane)
    })
}

/// Puts a candidate among others, of which the last goes first.
#[inline]
fn put_in_order(heads: &mut Vec<Head>, head: Head) {
    let mut place = heads.len();
    heads.push(head);
    while place > 0 && heads[place - 1].order < head.order {
        heads[place] = heads[place - 1];
        place -= 1;
    }
    heads[place] = head;
}
