//! Multiplexed crossbars: in a cycle one flit leaves an input port and one enters an output port, chosen by the
//! scheduler; rules X1 to X4.

use flitwise_models::scenario::{Allocation, Scenario};

use super::crossbar::Crossbar;
use super::lane::{Lane, WORD};
use super::link_scheduler::{LaneTable, LinkScheduler, Order, Stamps, order, smallest};
use crate::simulator::wiring::Wiring;

/// The scheduler at every input port, and who is to cross.
pub(super) struct Multiplexed {
    allocation: Allocation,
    order: Box<dyn Order>,
    /// By lane: its flits in the input buffer, as the scheduler sees them.
    rows: Vec<Lane>,
    /// Logarithm of the lanes per link.
    shift: u32,
    ports: u32,
    /// The cycle, and the port that is first in it.
    first_port: (u64, u32),
    /// By link: the router and the port that it leads into; `None` if it leads to a node.
    inputs: Vec<Option<(u32, u32)>>,
    candidates: Vec<Candidate>,
    /// By lane that can send a flit across: the output link.
    to: Vec<u32>,
    /// A bit per lane that crosses in this cycle.
    chosen: Vec<u64>,
    /// By link: the last cycle in which its input port named a flit, and in which one was named for it; from 1 on.
    named: Vec<u64>,
    taken: Vec<u64>,
}

/// An input lane that can send a flit across, in one number: the smaller one is considered first.
///
/// From the highest bit on: the router (16 bits), the turn of its port where ports rotate (8), whether it is best
/// effort, which gives way (1), the scheduler's key (64), the turn (8), the lane (31).
type Candidate = u128;

/// The bits of a number, in the order of numbers.
fn in_order(number: f64) -> u64 {
    let bits = (number + 0.0).to_bits(); // -0 is 0
    if bits >> 63 == 0 { bits | 1 << 63 } else { !bits }
}

impl Multiplexed {
    pub(super) fn new(scenario: &Scenario, table: LaneTable, wiring: &Wiring) -> Self {
        let links = wiring.links();
        Self {
            allocation: scenario.data_router().allocation,
            rows: vec![Lane::new(None); table.lanes],
            shift: table.width.trailing_zeros(),
            ports: wiring.ports(),
            first_port: (0, 0),
            inputs: (0..links).map(|link| wiring.is_into_router(link).then(|| wiring.input(link))).collect(),
            candidates: Vec::new(),
            to: vec![0; table.lanes],
            chosen: vec![0; table.lanes.div_ceil(WORD)],
            named: vec![0; links as usize],
            taken: vec![0; links as usize],
            order: order(scenario, table),
        }
    }

    /// The rows of all lanes of a link.
    fn rows_of(&self, link: usize) -> &[Lane] {
        &self.rows[link << self.shift..][..1 << self.shift]
    }

    /// The flit at the front of a lane crosses.
    fn serve(&mut self, lane: usize) {
        let link = lane >> self.shift;
        let first = link << self.shift;
        // turns and allowances
        self.order.choose(link, 1 << (lane - first), &self.rows[first..][..1 << self.shift]);
        self.rows[lane].waiting -= 1;
        self.order.leave(link, lane, &mut self.rows[lane]);
        self.chosen[lane / WORD] |= 1 << (lane % WORD);
    }
}

impl Crossbar for Multiplexed {
    const CHOOSES: bool = true;

    fn header_leaves(&mut self, lane: usize, vtick: f64) {
        let row = &mut self.rows[lane];
        row.vtick = vtick;
        self.order.begins(row);
    }

    fn comes_in(&mut self, lane: usize, now: u64) {
        if self.inputs[lane >> self.shift].is_some() {
            self.order.join(lane, &mut self.rows[lane], now as f64);
            self.rows[lane].waiting += 1;
        }
    }

    fn can_cross(&mut self, lane: usize, to: usize, now: u64) {
        let link = lane >> self.shift;
        let Some((router, port)) = self.inputs[link] else { return };
        let (gives_way, key) = self.order.key(link, lane, self.rows_of(link));
        if self.first_port.0 != now {
            self.first_port = (now, (now % u64::from(self.ports)) as u32);
        }
        let first = self.first_port.1;
        let turn = if port >= first { port - first } else { port + self.ports - first };
        let first_turn = if self.allocation == Allocation::Rotating { turn } else { 0 };
        let first = u128::from(router) << 9 | u128::from(first_turn) << 1 | u128::from(gives_way);
        let last = u128::from(turn) << 31 | lane as u128;
        self.candidates.push(first << 103 | u128::from(in_order(key)) << 39 | last);
        self.to[lane] = (to >> self.shift) as u32;
    }

    fn choose(&mut self, now: u64) {
        self.chosen.fill(0);
        let mut candidates = std::mem::take(&mut self.candidates);
        candidates.sort_unstable();
        for candidate in candidates.drain(..) {
            let lane = (candidate & ((1 << 31) - 1)) as usize;
            let (from, to) = (lane >> self.shift, self.to[lane] as usize);
            if self.named[from] > now {
                continue;
            }
            let is_free = self.taken[to] <= now;
            if is_free {
                self.taken[to] = now + 1;
                self.serve(lane);
            }
            if is_free || self.allocation == Allocation::InputFirst {
                self.named[from] = now + 1;
            }
        }
        self.candidates = candidates;
    }

    #[inline]
    fn crosses(&self, lane: usize) -> bool {
        self.chosen[lane / WORD] >> (lane % WORD) & 1 == 1
    }
}

/// The links of routers with a multiplexed crossbar: flits go in the order in which they crossed (X4). The scheduler
/// decides at the network interfaces.
pub(super) struct Crossed {
    at_source: Box<dyn Order>,
    /// Number of the first injection link.
    first_injection: usize,
    /// Cycles of crossing.
    stamps: Stamps,
}

impl Crossed {
    pub(super) fn new(scenario: &Scenario, table: LaneTable, wiring: &Wiring) -> Self {
        let (stamps, first_injection) = (Stamps::new(table.lanes), wiring.first_injection() as usize);
        Self { at_source: order(scenario, table), first_injection, stamps }
    }
}

impl LinkScheduler for Crossed {
    const COUNTS: bool = true;
    const PASSES: bool = true;
}

impl Order for Crossed {
    #[inline]
    fn join(&mut self, lane: usize, row: &mut Lane, now: f64) {
        self.stamps.push(lane, row, now);
    }

    fn join_message(&self, lane: usize, now: f64) -> f64 {
        self.at_source.join_message(lane, now)
    }

    fn begin_message(&mut self, lane: usize, row: &mut Lane, ticket: f64, has_waited: bool) {
        self.at_source.begin_message(lane, row, ticket, has_waited);
    }

    #[inline]
    fn choose(&mut self, link: usize, eligible: u64, rows: &[Lane]) -> u32 {
        if link < self.first_injection {
            smallest(rows, eligible)
        } else {
            self.at_source.choose(link, eligible, rows)
        }
    }

    fn key(&self, link: usize, lane: usize, rows: &[Lane]) -> (bool, f64) {
        self.at_source.key(link, lane, rows)
    }

    #[inline]
    fn leave(&mut self, _: usize, lane: usize, row: &mut Lane) {
        self.stamps.pop(lane, row);
    }

    fn leave_source(&mut self, link: usize, lane: usize, row: &mut Lane) {
        self.at_source.leave_source(link, lane, row);
    }
}
