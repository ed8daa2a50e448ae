//! Multiplexed crossbars: in a cycle one flit leaves an input port and one enters an output port, chosen by the
//! scheduler; rules X1 to X4.

use flitwise_language::scenario::{Allocation, Scenario};

use super::crossbar::Crossbar;
use super::lane::{Lane, WORD};
use super::link_scheduler::{LaneTable, LinkScheduler, Order, Stamps, smallest};
use crate::wiring::Wiring;

/// The scheduler at every input port, and who is to cross.
///
/// Lanes are not compared anew in every cycle: a lane keeps the key of its first flit. Of each input port only the best
/// candidate is compared with others.
pub(super) struct Multiplexed<O> {
    allocation: Allocation,
    order: O,
    /// By lane: its flits in the input buffer, as the scheduler sees them.
    rows: Vec<Lane>,
    /// Logarithm of the lanes per link.
    shift: u32,
    ports: usize,
    /// The input port that is first in this cycle.
    first_port: usize,
    /// By link: the router and the port that it leads into; `None` if it leads to a node.
    inputs: Vec<Option<(u32, u32)>>,
    /// By router and port: the link that leads into it, and its lanes that can send a flit across in this cycle.
    ready: Vec<(u32, u64)>,
    /// A bit per router with such a lane.
    busy: Vec<u64>,
    /// A bit per lane of a link that gives way to others.
    gives_way: u64,
    /// Whether keys of waiting flits change.
    keys_change: bool,
    /// By lane: the key of its first flit.
    keys: Vec<u64>,
    /// By lane that has an output lane: the output link.
    to: Vec<u32>,
    /// Of a router: the best candidate of each input port, in the order of their turns.
    heads: Vec<Head>,
    /// Lanes that cross in this cycle.
    chosen: Vec<u32>,
    /// By link into a router: the last cycle in which a flit of it was chosen, from 1 on.
    sent: Vec<u64>,
    /// By output link: the last cycle in which a flit was named for it, from 1 on.
    taken: Vec<u64>,
}

/// The best candidate of an input port.
#[derive(Clone, Copy)]
struct Head {
    key: u64,
    lane: u32,
    /// All candidates of its port, a bit per lane of the link.
    lanes: u64,
}

/// The key of no candidate.
const NO_KEY: u64 = u64::MAX;

/// The bits of a number, in the order of numbers.
fn in_order(number: f64) -> u64 {
    let bits = (number + 0.0).to_bits(); // -0 is 0
    if bits >> 63 == 0 { bits | 1 << 63 } else { !bits }
}

impl<O: Order> Multiplexed<O> {
    pub(super) fn new(scenario: &Scenario, order: O, table: &LaneTable, wiring: &Wiring) -> Self {
        let (links, lanes) = (wiring.links(), table.lanes);
        let (routers, ports) = (wiring.routers() as usize, wiring.ports() as usize);
        let inputs: Vec<_> =
            (0..links).map(|link| wiring.is_into_router(link).then(|| wiring.input(link))).collect();
        let mut ready = vec![(0, 0); routers * ports];
        for (link, input) in (0..).zip(&inputs) {
            if let Some((router, port)) = input {
                ready[*router as usize * ports + *port as usize].0 = link;
            }
        }
        let shift = table.width.trailing_zeros();
        Self {
            allocation: scenario.data_router().allocation,
            rows: vec![Lane::new(None); lanes],
            shift,
            ports,
            first_port: 0,
            inputs,
            ready,
            busy: vec![0; routers.div_ceil(WORD)],
            gives_way: order.gives_way(),
            keys_change: order.keys_change(),
            keys: vec![0; lanes],
            to: vec![0; lanes],
            heads: Vec::with_capacity(ports),
            chosen: Vec::with_capacity(routers * ports),
            sent: vec![0; links as usize],
            taken: vec![0; links as usize],
            order,
        }
    }

    /// The key of the first flit of a lane.
    #[inline]
    fn set_key(&mut self, lane: usize) {
        let key = if self.keys_change {
            let link = lane >> self.shift;
            self.order.key(link, lane, &self.rows[link << self.shift..][..1 << self.shift])
        } else {
            self.rows[lane].first_stamp
        };
        self.keys[lane] = in_order(key);
    }

    /// The flit at the front of a lane crosses.
    #[inline]
    fn serve(&mut self, lane: usize, now: u64) {
        self.taken[self.to[lane] as usize] = now + 1;
        self.chosen.push(lane as u32);
        let link = lane >> self.shift;
        self.sent[link] = now + 1;
        let first = link << self.shift;
        if self.keys_change {
            // turns and allowances
            self.order.choose(link, 1 << (lane - first), &self.rows[first..][..1 << self.shift]);
        }
        let row = &mut self.rows[lane];
        row.waiting -= 1;
        self.order.leave(link, lane, row);
        if row.waiting > 0 {
            self.set_key(lane);
        }
    }

    /// The best of some lanes of a link: the smallest key; of equal ones the lowest lane. If `FREE`, of those whose
    /// output port is free.
    #[inline]
    fn best<const FREE: bool>(&self, link: u32, lanes: u64, now: u64) -> Head {
        let first = (link as usize) << self.shift;
        let (keys, to) = (&self.keys[first..][..1 << self.shift], &self.to[first..][..1 << self.shift]);
        let (mut best, mut least) = (0, NO_KEY);
        let mut left = lanes;
        while left != 0 {
            let lane = left.trailing_zeros();
            left &= left - 1;
            let is_out = FREE && self.taken[to[lane as usize] as usize] > now;
            // no guesses, as in `later`
            let key = keys[lane as usize] | u64::from(is_out).wrapping_neg();
            best = if key < least { lane } else { best };
            least = least.min(key);
        }
        Head { key: least, lane: first as u32 + best, lanes }
    }

    /// The port of a router whose turn it is after so many others: the link that leads into it, and its lanes that can
    /// send a flit across.
    #[inline]
    fn in_turn(&self, router: usize, turn: usize) -> (u32, u64) {
        let port = self.first_port + turn;
        let port = if port < self.ports { port } else { port - self.ports };
        self.ready[router * self.ports + port]
    }

    /// Each input port in turn sends the best of its candidates whose output port is free.
    fn rotate(&mut self, router: usize, now: u64) {
        for turn in 0..self.ports {
            let (link, lanes) = self.in_turn(router, turn);
            let mut best = self.best::<true>(link, lanes & !self.gives_way, now);
            if best.key == NO_KEY {
                best = self.best::<true>(link, lanes & self.gives_way, now);
            }
            if best.key != NO_KEY {
                self.serve(best.lane as usize, now);
            }
        }
    }

    /// The best first; those that give way after all others.
    ///
    /// `greedy`: each that finds both its ports free crosses. `input-first`: only the best of each input port can.
    fn best_first(&mut self, router: usize, now: u64) {
        let mut heads = std::mem::take(&mut self.heads);
        for turn in 0..self.ports {
            let (link, lanes) = self.in_turn(router, turn);
            if lanes & !self.gives_way != 0 {
                heads.push(self.best::<false>(link, lanes & !self.gives_way, now));
            }
        }
        self.match_heads(&mut heads, now);
        for turn in 0..self.ports {
            let (link, lanes) = self.in_turn(router, turn);
            let rest = lanes & self.gives_way;
            if rest == 0 {
                continue;
            }
            heads.push(match self.allocation {
                Allocation::InputFirst if rest == lanes => self.best::<false>(link, rest, now),
                Allocation::InputFirst => continue,
                _ if self.sent[link as usize] > now => continue,
                _ => self.best::<true>(link, rest, now),
            });
        }
        self.match_heads(&mut heads, now);
        self.heads = heads;
    }

    /// Candidates of input ports go in the order of their keys, equal ones in that of their turns. Where the output
    /// port of one is taken, the next of its input port stands in for it, or none.
    fn match_heads(&mut self, heads: &mut Vec<Head>, now: u64) {
        loop {
            let (mut first, mut least) = (0, NO_KEY);
            for (at, head) in heads.iter().enumerate() {
                // no guesses, as in `best`
                first = if head.key < least { at } else { first };
                least = least.min(head.key);
            }
            if least == NO_KEY {
                break heads.clear();
            }
            let Head { lane, lanes, .. } = heads[first];
            if self.taken[self.to[lane as usize] as usize] <= now {
                self.serve(lane as usize, now);
            } else if self.allocation == Allocation::Greedy {
                heads[first] = self.best::<true>(lane >> self.shift, lanes, now);
                continue;
            }
            heads[first].key = NO_KEY;
        }
    }
}

impl<O: Order> Crossbar for Multiplexed<O> {
    const CHOOSES: bool = true;

    fn header_leaves(&mut self, lane: usize, vtick: f64) {
        let row = &mut self.rows[lane];
        row.vtick = vtick;
        self.order.begins(row);
    }

    #[inline]
    fn comes_in(&mut self, lane: usize, now: u64) {
        let row = &mut self.rows[lane];
        self.order.join(lane, row, now as f64);
        row.waiting += 1;
        if row.waiting == 1 {
            self.set_key(lane);
        }
    }

    #[inline]
    fn is_granted(&mut self, lane: usize, to: usize) {
        self.to[lane] = to as u32;
    }

    #[inline]
    fn can_cross(&mut self, link: usize, lanes: u64) {
        let Some((router, port)) = self.inputs[link] else { return };
        self.ready[router as usize * self.ports + port as usize].1 = lanes;
        self.busy[router as usize / WORD] |= 1 << (router as usize % WORD);
        if self.keys_change {
            let mut left = lanes;
            while left != 0 {
                self.set_key((link << self.shift) + left.trailing_zeros() as usize);
                left &= left - 1;
            }
        }
    }

    fn choose(&mut self, now: u64) {
        self.chosen.clear();
        self.first_port = (now % self.ports as u64) as usize;
        for word in 0..self.busy.len() {
            let mut busy = std::mem::take(&mut self.busy[word]);
            while busy != 0 {
                let router = word * WORD + busy.trailing_zeros() as usize;
                busy &= busy - 1;
                match self.allocation {
                    Allocation::Rotating => self.rotate(router, now),
                    _ => self.best_first(router, now),
                }
                for (_, lanes) in &mut self.ready[router * self.ports..][..self.ports] {
                    *lanes = 0;
                }
            }
        }
    }

    #[inline]
    fn chosen(&self) -> &[u32] {
        &self.chosen
    }
}

/// The links of routers with a multiplexed crossbar: flits go in the order in which they crossed (X4). The scheduler
/// decides at the network interfaces.
pub(super) struct CrossingOrder<O> {
    at_source: O,
    /// Number of the first injection link.
    first_injection: usize,
    /// Cycles of crossing.
    stamps: Stamps,
}

impl<O> CrossingOrder<O> {
    pub(super) fn new(at_source: O, table: &LaneTable, wiring: &Wiring) -> Self {
        let (stamps, first_injection) = (Stamps::new(table.lanes), wiring.first_injection() as usize);
        Self { at_source, first_injection, stamps }
    }
}

impl<O: Order> LinkScheduler for CrossingOrder<O> {
    const COUNTS: bool = true;
    const PASSES: bool = true;
}

impl<O: Order> Order for CrossingOrder<O> {
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

    fn key(&self, link: usize, lane: usize, rows: &[Lane]) -> f64 {
        self.at_source.key(link, lane, rows)
    }

    #[inline]
    fn leave(&mut self, _: usize, lane: usize, row: &mut Lane) {
        self.stamps.pop(lane, row);
    }

    #[inline]
    fn leave_source(&mut self, link: usize, lane: usize, row: &mut Lane) {
        self.at_source.leave_source(link, lane, row);
    }
}
