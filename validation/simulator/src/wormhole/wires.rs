//! Links with a delay or less capacity than others: flits on their way, news of free slots and of deliveries, and
//! links that no flit can go over yet.
//!
//! A link of delay `d` is one without that is `d` cycles farther away: a flit that is sent in `x` shows at its other
//! end as one that is sent in `x + d`, and a slot that is freed in `x` counts like one that is freed in `x + d`. What
//! is under way stands in a table by cycle, so that networks of usual links have nothing to look at.

use flitwise_language::network::LinkTime;

use crate::wiring::Wiring;

use super::lane::{Lanes, WORD};

/// What is on the links that have a delay or less capacity than others.
pub(crate) struct Wires {
    /// By link; empty where all have the usual times.
    times: Vec<LinkTime>,
    /// Blocks with a bit for each lane whose link has a delay and leads into a router.
    blocks: Vec<(u32, u64)>,
    /// By lane: flits that have come out of the link and have not crossed.
    behind: Vec<u32>,
    /// By cycle modulo the length, a power of two.
    due: Vec<Vec<Event>>,
    /// Events in that table, and those of them that are free slots.
    pending: u64,
    freed: u64,
}

/// What happens in a cycle at the end of a link.
#[derive(Clone, Copy)]
pub(crate) enum Event {
    /// The header of the message comes out of the link of the lane; only a crossbar that chooses is told.
    Header { lane: u32, message: u32 },
    /// A flit comes out of the link of the lane, as if it was sent now.
    Flit { lane: u32 },
    /// A slot behind the link of the lane counts as free, as if a flit of it crossed now.
    Freed { lane: u32 },
    /// The tail of the message is at its node.
    Delivered { message: u32 },
    /// In the next cycle a flit can go over the link of the lane again.
    Rested { lane: u32 },
}

impl Wires {
    /// Of the links of some lanes, which are told where a link is slow.
    pub(crate) fn new(wiring: &Wiring, lanes: &mut Lanes, width: usize) -> Self {
        let mut wires = Self {
            times: Vec::new(),
            blocks: Vec::new(),
            behind: Vec::new(),
            due: Vec::new(),
            pending: 0,
            freed: 0,
        };
        if !wiring.has_times() {
            return wires;
        }
        wires.times = (0..wiring.links()).map(|link| wiring.time(link)).collect();
        let time = |lane: usize| wires.times.get(lane / width).copied().unwrap_or(LinkTime::USUAL);
        let is_long = |lane: usize| time(lane).delay > 0 && wiring.is_into_router((lane / width) as u32);
        for block in 0..lanes.len().div_ceil(WORD) {
            let of_block = |is_one: &dyn Fn(usize) -> bool| {
                let bits = (0..WORD).filter(|bit| is_one(block * WORD + bit));
                bits.fold(0, |bits, bit| bits | 1_u64 << bit)
            };
            let long = of_block(&is_long);
            if long != 0 {
                wires.blocks.push((block as u32, long));
            }
            lanes.blocks[block].slow = of_block(&|lane| time(lane).slowdown > 1);
        }
        let ahead = wires.times.iter().map(|time| time.delay.max(time.slowdown - 1)).max().unwrap_or(0);
        wires.behind = vec![0; lanes.len()];
        wires.due = vec![Vec::new(); (ahead as usize + 1).next_power_of_two()];
        wires
    }

    /// Whether all links have the usual times.
    #[inline]
    pub(crate) fn are_usual(&self) -> bool {
        self.times.is_empty()
    }

    /// The delay of a link \[cycles\].
    #[inline]
    pub(crate) fn delay(&self, link: usize) -> u32 {
        self.times.get(link).map_or(0, |time| time.delay)
    }

    /// The longest delay \[cycles\].
    pub(crate) fn longest(&self) -> u32 {
        self.times.iter().map(|time| time.delay).max().unwrap_or(0)
    }

    /// Flits of a block are sent over slow links: all lanes of these, over which no flit can go for a while.
    ///
    /// Out of line, for most networks have no such links.
    #[inline(never)]
    pub(crate) fn rests<const WIDTH: u32>(&mut self, block: usize, mut sent: u64, now: u64) -> u64 {
        let every_lane = u64::MAX >> (WORD as u32 - WIDTH);
        let mut resting = 0;
        while sent != 0 {
            let first = sent.trailing_zeros() & !(WIDTH - 1);
            sent &= !(every_lane << first);
            resting |= every_lane << first;
            let lane = block * WORD + first as usize;
            let LinkTime { slowdown, .. } = self.times[lane / WIDTH as usize];
            self.add(now + u64::from(slowdown) - 1, Event::Rested { lane: lane as u32 });
        }
        resting
    }

    /// Whether nothing is under way on them.
    #[inline]
    pub(crate) fn are_idle(&self) -> bool {
        self.pending == 0
    }

    /// Free slots that are not yet known of at the other end.
    #[cfg(debug_assertions)]
    pub(crate) fn freed(&self) -> u64 {
        self.freed
    }

    /// What happens in a cycle that is less than the table's length away.
    pub(crate) fn add(&mut self, cycle: u64, event: Event) {
        let slot = self.slot(cycle);
        self.due[slot].push(event);
        self.pending += 1;
        self.freed += u64::from(matches!(event, Event::Freed { .. }));
    }

    /// All that happens in this cycle, in the order in which it was added; to be given back.
    pub(crate) fn take(&mut self, now: u64) -> Vec<Event> {
        let slot = self.slot(now);
        let events = std::mem::take(&mut self.due[slot]);
        self.pending -= events.len() as u64;
        self.freed -= events.iter().filter(|event| matches!(event, Event::Freed { .. })).count() as u64;
        events
    }

    /// The memory of the events of this cycle is used again.
    pub(crate) fn give_back(&mut self, now: u64, mut events: Vec<Event>) {
        events.clear();
        let slot = self.slot(now);
        self.due[slot] = events;
    }

    fn slot(&self, cycle: u64) -> usize {
        cycle as usize & (self.due.len() - 1)
    }

    /// Blocks with a bit for each lane whose link has a delay and leads into a router.
    pub(crate) fn blocks(&self) -> &[(u32, u64)] {
        &self.blocks
    }

    /// A flit comes out of the link of a lane.
    pub(crate) fn comes_out(&mut self, lane: usize) {
        self.behind[lane] += 1;
    }

    /// A flit behind the link of a lane crosses; how many stay.
    pub(crate) fn crosses(&mut self, lane: usize, now: u64, delay: u32) -> u32 {
        self.add(now + u64::from(delay), Event::Freed { lane: lane as u32 });
        self.behind[lane] -= 1;
        self.behind[lane]
    }
}
