//! What ends or comes in later ticks. Every kind of event has one delay, or one for each delay of links, so its events
//! stand in lists in the order of their ticks.

use std::collections::VecDeque;

/// Events of one kind, by tick.
#[derive(Clone, Debug)]
pub(super) struct Timeline<T> {
    first: VecDeque<(u64, T)>,
    /// Those that take longer, by how much longer.
    others: Vec<VecDeque<(u64, T)>>,
}

impl<T> Timeline<T> {
    #[inline]
    pub(super) fn push(&mut self, tick: u64, event: T) {
        self.first.push_back((tick, event));
    }

    /// The same of an event that has the delay of that place among all that there are.
    #[inline]
    pub(super) fn push_from(&mut self, lane: u8, tick: u64, event: T) {
        let Some(other) = usize::from(lane).checked_sub(1) else { return self.push(tick, event) };
        if other >= self.others.len() {
            self.others.resize_with(other + 1, VecDeque::new);
        }
        self.others[other].push_back((tick, event));
    }

    #[inline]
    pub(super) fn pop(&mut self, now: u64) -> Option<T> {
        if tick_of(&self.first) <= now {
            return self.first.pop_front().map(|(_, event)| event);
        }
        let due = self.others.iter_mut().find(|other| tick_of(other) <= now)?;
        due.pop_front().map(|(_, event)| event)
    }

    /// The tick of the next one.
    #[inline]
    pub(super) fn next(&self) -> u64 {
        self.others.iter().map(tick_of).fold(tick_of(&self.first), u64::min)
    }
}

/// The tick of the next event of a list.
#[inline]
fn tick_of<T>(events: &VecDeque<(u64, T)>) -> u64 {
    events.front().map_or(u64::MAX, |(tick, _)| *tick)
}

impl<T> Default for Timeline<T> {
    fn default() -> Self {
        Self { first: VecDeque::new(), others: Vec::new() }
    }
}

/// What ends or comes in later ticks; `C` is a control packet of the organisation.
#[derive(Clone, Debug)]
pub(super) struct Events<C> {
    pub(super) data_ends: Timeline<u32>,
    pub(super) control_ends: Timeline<u32>,
    /// Input and output port.
    pub(super) crossing_ends: Timeline<(u32, u32)>,
    /// Port and packet.
    pub(super) controls: Timeline<(u32, C)>,
    /// Port and number.
    pub(super) credits: Timeline<(u32, u32)>,
    /// Port and packet.
    pub(super) deliveries: Timeline<(u32, u32)>,
    pub(super) arrivals: Timeline<(u32, u32)>,
    /// Port, packet, input (of a switch).
    pub(super) joins: Timeline<(u32, u32, u8)>,
    /// Host.
    pub(super) transfer_ends: Timeline<u32>,
    /// Memory and set-aside queue.
    pub(super) holds: Timeline<(u32, u8)>,
}

impl<C> Default for Events<C> {
    fn default() -> Self {
        Self {
            data_ends: Timeline::default(),
            control_ends: Timeline::default(),
            crossing_ends: Timeline::default(),
            controls: Timeline::default(),
            credits: Timeline::default(),
            deliveries: Timeline::default(),
            arrivals: Timeline::default(),
            joins: Timeline::default(),
            transfer_ends: Timeline::default(),
            holds: Timeline::default(),
        }
    }
}

impl<C> Events<C> {
    /// The tick of the next event.
    pub(super) fn next(&self) -> u64 {
        let links = self.data_ends.next().min(self.control_ends.next()).min(self.credits.next());
        let packets = self.arrivals.next().min(self.joins.next()).min(self.deliveries.next());
        let crossings = self.crossing_ends.next().min(self.transfer_ends.next());
        links.min(packets).min(crossings).min(self.controls.next()).min(self.holds.next())
    }
}
