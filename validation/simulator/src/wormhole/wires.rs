//! Links with a delay: flits on their way, and news of free slots and of deliveries.
//!
//! A link of delay `d` is one without that is `d` cycles farther away: a flit that is sent in `x` shows at its other
//! end as one that is sent in `x + d`, and a slot that is freed in `x` counts like one that is freed in `x + d`. What
//! is under way stands in a table by cycle, so that networks without delays have nothing to look at.

use crate::wiring::Wiring;

use super::lane::WORD;

/// What is on the links that have a delay.
pub(crate) struct Wires {
    /// By link: its delay; empty where none has one \[cycles\].
    delays: Vec<u32>,
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
}

impl Wires {
    pub(crate) fn new(wiring: &Wiring, lanes: usize, width: usize) -> Self {
        let longest = (0..wiring.links()).map(|link| wiring.delay(link)).max().unwrap_or(0);
        let mut wires = Self {
            delays: Vec::new(),
            blocks: Vec::new(),
            behind: Vec::new(),
            due: Vec::new(),
            pending: 0,
            freed: 0,
        };
        if longest == 0 {
            return wires;
        }
        wires.delays = (0..wiring.links()).map(|link| wiring.delay(link)).collect();
        let is_in_block = |lane: usize| {
            let link = (lane / width) as u32;
            link < wiring.links() && wiring.delay(link) > 0 && wiring.is_into_router(link)
        };
        for block in 0..lanes.div_ceil(WORD) {
            let of_block = (0..WORD).filter(|bit| is_in_block(block * WORD + bit));
            let bits = of_block.fold(0, |bits, bit| bits | 1 << bit);
            if bits != 0 {
                wires.blocks.push((block as u32, bits));
            }
        }
        wires.behind = vec![0; lanes];
        wires.due = vec![Vec::new(); (longest as usize + 1).next_power_of_two()];
        wires
    }

    /// Whether no link has a delay.
    #[inline]
    pub(crate) fn are_short(&self) -> bool {
        self.delays.is_empty()
    }

    /// The delay of a link \[cycles\].
    #[inline]
    pub(crate) fn delay(&self, link: usize) -> u32 {
        self.delays.get(link).copied().unwrap_or(0)
    }

    /// The longest delay \[cycles\].
    pub(crate) fn longest(&self) -> u32 {
        self.delays.iter().copied().max().unwrap_or(0)
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
