//! Stage P-2: which header gets an output lane.

use flitwise_language::network::Candidates;

use crate::ledger::Message;
use crate::virtual_channels::VirtualChannels;
use crate::wiring::Wiring;

use super::lane::{Lane, Lanes, NONE, WORD};

/// Requests to come, and those that wait.
///
/// Headers ask for any lane of a group on their output link, see [`VirtualChannels`].
pub(crate) struct Grants {
    /// From a header's being at the front to its request \[cycles\].
    delay: u64,
    /// By cycle modulo the length: input lanes whose header requests an output lane then.
    to_come: Vec<Vec<u32>>,
    /// By input lane.
    requests: Vec<Request>,
    /// By group of output lanes, numbered by its first lane.
    groups: Vec<Group>,
    /// Groups with a request and a free lane; some perhaps twice.
    contested: Vec<u32>,
    /// By output link, if parallel ones are to choose from: lanes that belong to a message or are asked for.
    taken: Vec<u32>,
    /// By output link, if routers choose by it: flits of messages that have chosen it and have not left the input
    /// buffer behind it.
    backlog: Vec<u32>,
}

/// The request of the header at the front of an input lane.
#[derive(Clone, Copy, Debug)]
struct Request {
    cycle: u64,
    /// The input lane of the next request for the same group.
    next: u32,
}

/// Requests for a group of output lanes, the oldest first.
#[derive(Clone, Copy, Debug)]
struct Group {
    /// Input lanes of the oldest and of the latest request; the latter means nothing if there is no first.
    first: u32,
    last: u32,
    /// The input port after the one granted last.
    next_port: u32,
}

/// From a header's being at the front to its request \[cycles\].
pub(crate) fn request_delay(pipeline_stages: u64) -> u64 {
    (pipeline_stages - 3).max(1)
}

impl Grants {
    /// Headers come in behind links of at most so much delay.
    pub(crate) fn new(
        pipeline_stages: u64,
        lanes: usize,
        wiring: &Wiring,
        width: usize,
        longest: u32,
    ) -> Self {
        let output_links = (wiring.routers() * wiring.ports()) as usize;
        let counted = if wiring.parallel_links() > 1 { output_links } else { 0 };
        let delay = request_delay(pipeline_stages);
        Self {
            delay,
            to_come: vec![Vec::new(); (delay as usize + longest as usize + 2).next_power_of_two()],
            requests: vec![Request { cycle: 0, next: NONE }; lanes],
            groups: vec![Group { first: NONE, last: NONE, next_port: 0 }; output_links * width],
            contested: Vec::new(),
            taken: vec![0; counted],
            backlog: vec![0; if wiring.is_adaptive() { output_links } else { 0 }],
        }
    }

    /// A header has left over the link, in `now` or so much before as that has delay; if nothing is before it, it is at
    /// the front when it has come in.
    #[inline]
    pub(crate) fn header_left(&mut self, lane: usize, row: &mut Lane, now: u64) {
        if !row.ejects() && row.sending == 0 {
            row.to_cross = row.message_flits;
            self.will_request(lane, now + 1 + self.delay);
        }
    }

    /// The front message of an input lane has crossed, its successor moves up.
    #[inline]
    pub(crate) fn moves_up(&mut self, lane: usize, row: &mut Lane, next: &Message, now: u64) {
        row.to_cross = next.flits;
        // a header that is still on the link, as one that left in this very cycle is, has yet to come in
        self.will_request(lane, now.max(next.comes_in()) + self.delay);
    }

    fn will_request(&mut self, lane: usize, cycle: u64) {
        let slot = self.slot(cycle);
        self.to_come[slot].push(lane as u32);
    }

    /// Whether nothing is requested or granted in cycle `now`.
    #[inline]
    pub(crate) fn is_idle(&self, now: u64) -> bool {
        self.contested.is_empty() && self.to_come[self.slot(now)].is_empty()
    }

    /// The next input lane whose header requests an output lane in cycle `now`.
    #[inline]
    pub(crate) fn next_request(&mut self, now: u64) -> Option<u32> {
        let slot = self.slot(now);
        self.to_come[slot].pop()
    }

    /// Puts the requests of cycle `now` in an order.
    pub(crate) fn sort_requests<K: Ord>(&mut self, now: u64, order: impl Fn(u32) -> K) {
        let slot = self.slot(now);
        self.to_come[slot].sort_unstable_by_key(|lane| std::cmp::Reverse(order(*lane)));
    }

    /// Of parallel links from `first` on, the one of which the fewest lanes belong to a message or are asked for; of
    /// equal ones the first.
    pub(crate) fn least_taken(&self, first: u32, links: u32) -> u32 {
        (first..first + links).min_by_key(|link| self.taken[*link as usize]).unwrap_or(first)
    }

    /// Whether routers choose by what they count.
    #[inline]
    pub(crate) fn has_backlogs(&self) -> bool {
        !self.backlog.is_empty()
    }

    /// Of candidates, the link of least backlog; of equal ones the first from the preferred one on, round.
    pub(crate) fn least_backlog(&self, candidates: Candidates) -> u32 {
        let least = candidates.in_turn().min_by_key(|link| self.backlog[*link as usize]);
        least.unwrap_or(candidates.preferred)
    }

    /// A message of so many flits is to go over a link to a router.
    pub(crate) fn joins_backlog(&mut self, link: u32, flits: u32) {
        self.backlog[link as usize] += flits;
    }

    /// A flit leaves the input buffer behind a link; that of a node counts nothing.
    #[inline]
    pub(crate) fn leaves_backlog(&mut self, link: usize) {
        if let Some(backlog) = self.backlog.get_mut(link) {
            *backlog -= 1;
        }
    }

    /// Flits in all backlogs.
    #[cfg(debug_assertions)]
    pub(crate) fn backlogs(&self) -> u64 {
        self.backlog.iter().copied().map(u64::from).sum()
    }

    /// A message has crossed into a lane of an output link and asks for it no more.
    #[inline]
    pub(crate) fn leave(&mut self, link: usize) {
        if let Some(taken) = self.taken.get_mut(link) {
            *taken -= 1;
        }
    }

    #[inline]
    fn slot(&self, cycle: u64) -> usize {
        cycle as usize & (self.to_come.len() - 1)
    }

    /// The header of an input lane requests a lane of a group on `link`, some of which are free or none.
    #[inline]
    pub(crate) fn request(&mut self, lane: usize, link: u32, group: usize, free: bool, now: u64) {
        if let Some(taken) = self.taken.get_mut(link as usize) {
            *taken += 1;
        }
        self.requests[lane] = Request { cycle: now, next: NONE };
        let queue = &mut self.groups[group];
        if queue.first == NONE {
            queue.first = lane as u32;
            if free {
                self.contested.push(group as u32);
            }
        } else {
            self.requests[queue.last as usize].next = lane as u32;
        }
        queue.last = lane as u32;
    }

    /// A lane of a group is free again.
    #[inline]
    pub(crate) fn release(&mut self, group: usize) {
        if self.is_requested(group) {
            self.contested.push(group as u32);
        }
    }

    /// The next group of output lanes to grant.
    #[inline]
    pub(crate) fn next_contested(&mut self) -> Option<usize> {
        self.contested.pop().map(|group| group as usize)
    }

    /// The input port after the one that a group was granted to last; that changes after all grants of a cycle (S1).
    #[inline]
    pub(crate) fn turn(&mut self, group: usize) -> &mut u32 {
        &mut self.groups[group].next_port
    }

    /// Whether a group is requested.
    #[inline]
    pub(crate) fn is_requested(&self, group: usize) -> bool {
        self.groups[group].first != NONE
    }

    /// Takes the oldest request for a group, which has one; its input lane. Of equal ones the first port from `turn`
    /// on (S1), then the lowest lane.
    #[inline]
    pub(crate) fn take_oldest(&mut self, group: usize, turn: u32, port_of: impl Fn(u32) -> u32) -> usize {
        let first = self.groups[group].first;
        let Request { cycle, next } = self.requests[first as usize];
        let is_as_old = |lane: u32| lane != NONE && self.requests[lane as usize].cycle == cycle;
        let (chosen, before) =
            if is_as_old(next) { self.next_in_turn(first, turn, is_as_old, port_of) } else { (first, NONE) };
        let next = self.requests[chosen as usize].next;
        let queue = &mut self.groups[group];
        match before {
            NONE => queue.first = next,
            before => self.requests[before as usize].next = next,
        }
        if queue.last == chosen {
            queue.last = before;
        }
        chosen as usize
    }

    /// Of the requests that are as old as the first: the input lane of the next in turn, and that of the request before
    /// it in the list.
    fn next_in_turn(
        &self,
        first: u32,
        turn: u32,
        is_as_old: impl Fn(u32) -> bool,
        port_of: impl Fn(u32) -> u32,
    ) -> (u32, u32) {
        // ports before `turn` come after all others
        let order = |lane: u32| {
            let port = port_of(lane);
            (port < turn, port, lane)
        };
        let (mut chosen, mut least) = ((first, NONE), order(first));
        let (mut before, mut lane) = (first, self.requests[first as usize].next);
        while is_as_old(lane) {
            if order(lane) < least {
                (chosen, least) = ((lane, before), order(lane));
            }
            (before, lane) = (lane, self.requests[lane as usize].next);
        }
        chosen
    }
}

/// The lowest free lane of a group on the link of its first lane.
#[inline]
pub(crate) fn free_lane(
    lanes: &Lanes,
    channels: &VirtualChannels,
    group: usize,
    of_ring: bool,
) -> Option<usize> {
    let link = group >> channels.shift() << channels.shift();
    let of_group = channels.group(group - link, of_ring) << (link % WORD);
    let free = of_group & !lanes.blocks[group / WORD].owned;
    (free != 0).then(|| group / WORD * WORD + free.trailing_zeros() as usize)
}
