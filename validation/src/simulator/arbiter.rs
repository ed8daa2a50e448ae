//! Stage P-2: which header gets an output lane.

use super::lane::{Lane, Lanes, NONE};
use super::queues::Ledger;
use super::wiring::{End, Wiring};

/// Requests to come, and those that wait.
pub(crate) struct Arbiter {
    /// From a header's being at the front to its request \[cycles\].
    delay: u64,
    /// By cycle modulo the length: input lanes whose header requests its output lane then.
    requests: Vec<Vec<u32>>,
    /// By input lane: cycle of the front header's request.
    requested_cycle: Vec<u64>,
    /// By output lane: input ports with a request.
    requesting: Vec<u64>,
    /// By output lane: the input port after the one granted last.
    next_port: Vec<u8>,
    /// Output lanes that are free and requested.
    contested: Vec<u32>,
}

/// From a header's being at the front to its request \[cycles\].
pub(crate) fn request_delay(pipeline_stages: u64) -> u64 {
    (pipeline_stages - 3).max(1)
}

impl Arbiter {
    pub(crate) fn new(pipeline_stages: u64, lanes: usize, output_lanes: usize) -> Self {
        let delay = request_delay(pipeline_stages);
        Self {
            delay,
            requests: vec![Vec::new(); (delay as usize + 2).next_power_of_two()],
            requested_cycle: vec![0; lanes],
            requesting: vec![0; output_lanes],
            next_port: vec![0; output_lanes],
            contested: Vec::new(),
        }
    }

    /// A header has left over the link; if nothing is before it, it is at the front when it has come in.
    #[inline]
    pub(crate) fn header_left(&mut self, lane: usize, row: &mut Lane, now: u64) {
        if !row.ejects() && row.crossing == row.sending {
            row.to_cross = row.message_flits;
            self.request(lane, now + 1 + self.delay);
        }
    }

    /// The front message of an input lane has crossed, its successor moves up.
    #[inline]
    pub(crate) fn tail_crossed(&mut self, lane: usize, row: &mut Lane, one_under_way: bool, now: u64) {
        row.goes_to = NONE;
        if row.has_front() {
            row.to_cross = row.message_flits;
            // a header that left in this very cycle has yet to come in
            let comes_in = u64::from(row.arrived == 1 && one_under_way);
            self.request(lane, now + comes_in + self.delay);
        }
    }

    fn request(&mut self, lane: usize, cycle: u64) {
        let slot = cycle as usize & (self.requests.len() - 1);
        self.requests[slot].push(lane as u32);
    }

    /// An output lane is free again.
    pub(crate) fn release(&mut self, to: u32) {
        if self.requesting[to as usize] != 0 {
            self.contested.push(to);
        }
    }

    /// Headers that request their output lane in cycle `now`; `1 << shift` lanes belong to a link.
    #[inline]
    pub(crate) fn enter_requests(
        &mut self,
        lanes: &mut Lanes,
        ledger: &mut Ledger,
        wiring: &Wiring,
        shift: u32,
        now: u64,
    ) {
        let slot = now as usize & (self.requests.len() - 1);
        for lane in self.requests[slot].drain(..) {
            let lane = lane as usize;
            let End::Input { router, port } = wiring.end((lane >> shift) as u32) else {
                unreachable!("a message went on from a node");
            };
            let row = &mut lanes[lane];
            self.requested_cycle[lane] = now;
            let destination = ledger.header_requests(lane, row, now);
            let link = wiring.route(router, destination) as usize;
            let to = link << shift | lane & ((1 << shift) - 1);
            row.goes_to = to as u32;
            if self.requesting[to] == 0 && lanes[to].owner == NONE {
                self.contested.push(to as u32);
            }
            self.requesting[to] |= 1 << port;
        }
    }

    /// The input lane that gets a free output lane, and that one: the oldest request; of equal ones the next
    /// port in turn (S1).
    #[inline]
    pub(crate) fn grant_next(&mut self, wiring: &Wiring, shift: u32) -> Option<(usize, usize)> {
        let to = self.contested.pop()? as usize;
        let router = (to >> shift) as u32 / wiring.ports();
        let class = to & ((1 << shift) - 1);
        let lane_of = |port: u32| (wiring.feeding(router, port) as usize) << shift | class;
        let requesting = self.requesting[to];
        let port = match requesting & (requesting - 1) {
            0 => requesting.trailing_zeros(),
            _ => self.oldest(requesting, u32::from(self.next_port[to]), lane_of),
        };
        self.requesting[to] &= !(1 << port);
        self.next_port[to] = port as u8 + 1;
        Some((lane_of(port), to))
    }

    fn oldest(&self, requesting: u64, turn: u32, lane_of: impl Fn(u32) -> usize) -> u32 {
        let later = requesting & u64::MAX.checked_shl(turn).unwrap_or(0);
        let (mut oldest, mut chosen) = (u64::MAX, 0);
        // ports from `turn` on, then those before it
        for mut among in [later, requesting & !later] {
            while among != 0 {
                let port = among.trailing_zeros();
                among &= among - 1;
                let cycle = self.requested_cycle[lane_of(port)];
                if cycle < oldest {
                    (oldest, chosen) = (cycle, port);
                }
            }
        }
        chosen
    }
}
