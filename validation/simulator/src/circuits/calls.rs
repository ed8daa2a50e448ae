//! Circuits that come and go.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use flitwise_language::scenario::Scenario;

use crate::traffic::random::{Random, exponential, stream};

use super::{Board, Circuit, CircuitDemand, Counts};

/// Circuits asked for before any is counted, at most: else as many as come in ten times that one stands.
const MOST_WARM_UP: f64 = 50_000.0;
const WARM_UP_HOLDINGS: f64 = 10.0;

/// When circuits are asked for, and how many of them count.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Programme {
    /// Per cycle and node.
    pub(crate) rate: f64,
    /// Mean time that a circuit stands \[cycles\].
    pub(crate) holding: f64,
    /// The first that count, and those that come before all that count.
    pub(crate) from: u64,
    pub(crate) until: u64,
}

impl CircuitDemand {
    /// When so many circuits are counted; `None` where they do not come and go.
    pub(crate) fn programme(&self, counted: u64) -> Option<Programme> {
        let (rate, holding) = (self.spec.attempts?, self.spec.holding?);
        let warm_up =
            (WARM_UP_HOLDINGS * holding * rate * self.senders.len() as f64).min(MOST_WARM_UP) as u64;
        Some(Programme { rate, holding, from: warm_up, until: warm_up + counted })
    }

    /// By sender: the random numbers of its circuits.
    pub(crate) fn randoms(&self, seed: u64) -> Vec<Random> {
        self.senders.iter().map(|sender| stream(seed, *sender, self.class)).collect()
    }
}

/// What happens next. Times are in order of their bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// A sender, by its place, asks for a circuit.
    Asks(usize),
    /// The probe of a call is through the router before the next lane on its way.
    Probes(usize),
    /// The circuit of a call has stood.
    Ends(usize),
}

/// A circuit that is set up or stands.
struct Call {
    sender: usize,
    circuit: Circuit,
    way: Vec<usize>,
    /// Lanes of it that the probe holds.
    held: usize,
    began: f64,
    retries: u32,
    counts: bool,
}

struct Calls<'a> {
    asked: &'a CircuitDemand,
    programme: Programme,
    board: Board,
    randoms: Vec<Random>,
    /// By sender and lane of its injection link.
    injection: Vec<Vec<bool>>,
    events: BinaryHeap<Reverse<(u64, u64, Event)>>,
    scheduled: u64,
    calls: Vec<Call>,
    free: Vec<usize>,
    seen: u64,
    /// Counted ones of which it is not known yet whether they are set up.
    open: u64,
    counts: Counts,
    /// Circuits that stand, the time of the last change, and the integral since the first one that counts.
    standing: u64,
    changed: f64,
    area: f64,
    began: f64,
}

/// What becomes of so many circuits that come as Poisson streams and stand for exponential times; one that finds no
/// free lane of its injection link is lost without an attempt. `None` where circuits do not come and go.
pub fn calls(scenario: &Scenario, asked: &CircuitDemand, seed: u64, counted: u64) -> Option<Counts> {
    let programme = asked.programme(counted)?;
    let mut calls = Calls {
        asked,
        programme,
        board: Board::new(scenario),
        randoms: asked.randoms(seed),
        injection: vec![vec![false; asked.lanes]; asked.senders.len()],
        events: BinaryHeap::new(),
        scheduled: 0,
        calls: Vec::new(),
        free: Vec::new(),
        seen: 0,
        open: counted,
        counts: Counts::default(),
        standing: 0,
        changed: 0.0,
        area: 0.0,
        began: 0.0,
    };
    for sender in 0..asked.senders.len() {
        calls.next_arrival(sender, 0.0);
    }
    while calls.open > 0 {
        let Some(Reverse((bits, _, event))) = calls.events.pop() else { break };
        calls.happens(event, f64::from_bits(bits));
    }
    let Calls { mut counts, area, began, changed, .. } = calls;
    counts.standing = if changed > began { area / (changed - began) } else { 0.0 };
    Some(counts)
}

impl Calls<'_> {
    fn schedule(&mut self, time: f64, event: Event) {
        self.events.push(Reverse((time.to_bits(), self.scheduled, event)));
        self.scheduled += 1;
    }

    fn next_arrival(&mut self, sender: usize, now: f64) {
        let wait = exponential(&mut self.randoms[sender]) / self.programme.rate;
        self.schedule(now + wait, Event::Asks(sender));
    }

    /// The number of standing circuits changes.
    fn stands(&mut self, now: f64, change: i64) {
        if (self.programme.from..self.programme.until).contains(&self.seen) {
            self.area += self.standing as f64 * (now - self.changed);
            self.changed = now;
        }
        self.standing = self.standing.wrapping_add_signed(change);
    }

    fn happens(&mut self, event: Event, now: f64) {
        match event {
            Event::Asks(sender) => {
                self.next_arrival(sender, now);
                self.asks(sender, now);
            }
            Event::Probes(call) => self.probes(call, now),
            Event::Ends(call) => {
                self.stands(now, -1);
                self.leaves(call);
            }
        }
    }

    fn asks(&mut self, sender: usize, now: f64) {
        self.stands(now, 0);
        if self.seen == self.programme.from {
            (self.began, self.changed, self.area) = (now, now, 0.0);
        }
        let counts = (self.programme.from..self.programme.until).contains(&self.seen);
        self.seen += 1;
        self.counts.asked += u64::from(counts);
        let Some(lane) = self.injection[sender].iter().position(|taken| !taken) else {
            self.open -= u64::from(counts);
            return;
        };
        self.injection[sender][lane] = true;
        let node = self.asked.senders[sender];
        let circuit = self.asked.attempt(node, lane, &mut self.randoms[sender]);
        let way = self.board.way(self.asked.class, node, circuit);
        let call = Call { sender, circuit, way, held: 0, began: now, retries: 0, counts };
        let at = match self.free.pop() {
            Some(at) => {
                self.calls[at] = call;
                at
            }
            None => {
                self.calls.push(call);
                self.calls.len() - 1
            }
        };
        self.counts.attempts += u64::from(counts);
        self.schedule(now + self.asked.probe_cycles as f64, Event::Probes(at));
    }

    fn probes(&mut self, at: usize, now: f64) {
        let Call { ref way, held, sender, began, counts, .. } = self.calls[at];
        let Some(&lane) = way.get(held) else {
            // acknowledged
            self.counts.established += u64::from(counts);
            self.counts.set_up_cycles += if counts { now - began } else { 0.0 };
            self.open -= u64::from(counts);
            self.stands(now, 1);
            let stays = exponential(&mut self.randoms[sender]) * self.programme.holding;
            return self.schedule(now + stays, Event::Ends(at));
        };
        if self.board.taken[lane] {
            return self.is_dropped(at, now);
        }
        self.board.taken[lane] = true;
        let back = if held + 1 == way.len() { way.len() as u64 } else { self.asked.probe_cycles };
        self.calls[at].held += 1;
        self.schedule(now + back as f64, Event::Probes(at));
    }

    fn is_dropped(&mut self, at: usize, now: f64) {
        let Self { asked, board, calls, randoms, counts, .. } = self;
        let call = &mut calls[at];
        counts.dropped += u64::from(call.counts);
        call.way[..call.held].iter().for_each(|lane| board.taken[*lane] = false);
        call.held = 0;
        if call.retries == asked.spec.retries {
            self.open -= u64::from(call.counts);
            return self.leaves(at);
        }
        call.retries += 1;
        counts.attempts += u64::from(call.counts);
        let node = asked.senders[call.sender];
        let lane = usize::from(call.circuit.drawn.injection) - asked.first_lane;
        call.circuit = asked.attempt(node, lane, &mut randoms[call.sender]);
        call.way = board.way(asked.class, node, call.circuit);
        let probe = asked.probe_cycles as f64;
        self.schedule(now + probe, Event::Probes(at));
    }

    /// A call gives all its lanes free.
    fn leaves(&mut self, at: usize) {
        let Call { ref way, held, sender, circuit, .. } = self.calls[at];
        way[..held].iter().for_each(|lane| self.board.taken[*lane] = false);
        self.injection[sender][usize::from(circuit.drawn.injection) - self.asked.first_lane] = false;
        self.free.push(at);
    }
}
