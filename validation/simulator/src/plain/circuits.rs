//! The set-up of circuits as its rules read: every circuit keeps a list of what it holds, and all lists are searched.

use flitwise_language::scenario::Scenario;

use crate::circuits::{Circuit, CircuitDemand, Counts, Programme};
use crate::message::{Arrival, FramePart, Offer};
use crate::traffic::random::{Random, exponential};

use super::rules::{End, Rules};

/// A virtual channel behind a router: the router, its output port, and the number.
type Held = (usize, usize, usize);

/// The virtual channels on the way of a circuit.
fn way(rules: &Rules, asked: &CircuitDemand, source: u32, circuit: Circuit) -> Vec<Held> {
    let arrival = Arrival { cycle: 0, source, destination: circuit.destination, class: asked.class as u8 };
    let offer = Offer {
        arrival,
        flits: 1,
        vtick: 0.0,
        drawn: Some(circuit.drawn),
        part: FramePart::default(),
        way: 0,
    };
    let End::Input { mut router, .. } = rules.entrance_of(source as usize) else {
        unreachable!("a node has a router")
    };
    let mut way = Vec::new();
    loop {
        let port = rules.route(router, &offer).start;
        let end = rules.end_of(router, port);
        way.push((router, port, rules.group_behind(router, &offer, end)));
        match end {
            End::Input { router: next, .. } => router = next,
            End::Node => return way,
        }
    }
}

/// C1 to C3: as [`crate::circuits::set_up`].
pub fn set_up(scenario: &Scenario, asked: &CircuitDemand, seed: u64) -> (Vec<Option<Circuit>>, Counts) {
    let (rules, mut random) = (Rules::new(scenario), asked.random(seed));
    let streams = asked.frames.streams as usize;
    let mut circuits = vec![None; streams * asked.senders.len()];
    let (mut all_held, mut counts): (Vec<Held>, _) = (Vec::new(), Counts::default());
    // C1: stream 0 of all nodes, stream 1 of all nodes, ...
    for at in (0..streams).flat_map(|stream| (0..asked.senders.len()).map(move |at| at * streams + stream)) {
        let sender = asked.senders[at / streams];
        let injection = circuits[at / streams * streams..at].iter().flatten().count();
        counts.asked += 1;
        let (mut left, mut cycles) = (asked.spec.attempts_per_stream, 0);
        while left > 0 && circuits[at].is_none() {
            left -= 1;
            counts.attempts += 1;
            let circuit = asked.attempt(sender, injection, &mut random);
            let way = way(&rules, asked, sender, circuit);
            let mut held = Vec::new();
            for lane in &way {
                cycles += asked.probe_cycles; // C2: a probe takes P cycles in a router
                if all_held.contains(lane) {
                    break;
                }
                held.push(*lane);
            }
            if held.len() < way.len() {
                counts.dropped += 1; // C3: it frees what it held
                continue;
            }
            cycles += way.len() as u64; // C2: the acknowledgement one
            all_held.extend(held);
            circuits[at] = Some(circuit);
            counts.established += 1;
            counts.set_up_cycles += cycles as f64;
        }
    }
    counts.standing = counts.established as f64;
    (circuits, counts)
}

/// A circuit that is asked for, from then to its end.
struct Call {
    sender: usize,
    injection: usize,
    asked_at: f64,
    counts: bool,
    retries: u32,
    circuit: Circuit,
    held: Vec<Held>,
    stands: bool,
}

/// What happens when: the time, the number of events that were made before, and what; without a call a sender asks.
struct Event {
    time: f64,
    number: usize,
    sender: usize,
    call: Option<usize>,
}

/// All circuits that are set up or stand, and what is to happen.
struct Calls<'a> {
    asked: &'a CircuitDemand,
    rules: Rules,
    programme: Programme,
    randoms: Vec<Random>,
    events: Vec<Event>,
    made: usize,
    calls: Vec<Option<Call>>,
    counts: Counts,
    /// Circuits asked for, and counted ones of which it is known whether they are set up.
    seen: u64,
    resolved: u64,
    /// Circuits that stand times cycles, up to the last change, from the first circuit that counts.
    area: f64,
    last: f64,
    first: Option<f64>,
}

/// C4, C5: as [`crate::circuits::calls`].
pub fn calls(scenario: &Scenario, asked: &CircuitDemand, seed: u64, counted: u64) -> Option<Counts> {
    let mut run = Calls {
        asked,
        rules: Rules::new(scenario),
        programme: asked.programme(counted)?,
        randoms: asked.randoms(seed),
        events: Vec::new(),
        made: 0,
        calls: Vec::new(),
        counts: Counts::default(),
        seen: 0,
        resolved: 0,
        area: 0.0,
        last: 0.0,
        first: None,
    };
    (0..asked.senders.len()).for_each(|sender| run.next_arrival(0.0, sender));
    while run.resolved < counted {
        let earlier = |a: &usize, b: &usize| {
            let (one, other) = (&run.events[*a], &run.events[*b]);
            one.time.total_cmp(&other.time).then(one.number.cmp(&other.number))
        };
        let next = (0..run.events.len()).min_by(earlier)?;
        let Event { time, sender, call, .. } = run.events.swap_remove(next);
        match call {
            None => run.asks(time, sender),
            Some(at) => run.moves(time, sender, at)?,
        }
    }
    let Calls { mut counts, area, last, first, .. } = run;
    counts.standing = first.filter(|first| last > *first).map_or(0.0, |first| area / (last - first));
    Some(counts)
}

impl Calls<'_> {
    fn push(&mut self, time: f64, sender: usize, call: Option<usize>) {
        self.events.push(Event { time, number: self.made, sender, call });
        self.made += 1;
    }

    fn next_arrival(&mut self, time: f64, sender: usize) {
        let wait = exponential(&mut self.randoms[sender]) / self.programme.rate;
        self.push(time + wait, sender, None);
    }

    fn is_counted(&self) -> bool {
        (self.programme.from..self.programme.until).contains(&self.seen)
    }

    /// Counts those that stand up to now.
    fn looks(&mut self, time: f64) {
        if self.is_counted() {
            let standing = self.calls.iter().flatten().filter(|call| call.stands).count();
            self.area += standing as f64 * (time - self.last);
            self.last = time;
        }
    }

    fn way(&self, sender: usize, circuit: Circuit) -> Vec<Held> {
        way(&self.rules, self.asked, self.asked.senders[sender], circuit)
    }

    fn asks(&mut self, time: f64, sender: usize) {
        self.looks(time);
        self.next_arrival(time, sender);
        if self.seen == self.programme.from {
            (self.area, self.last, self.first) = (0.0, time, Some(time));
        }
        let counts = self.is_counted();
        self.seen += 1;
        self.counts.asked += u64::from(counts);
        let calls = || self.calls.iter().flatten().filter(|call| call.sender == sender);
        // C4: the lowest free lane of the injection link
        let free = (0..self.asked.lanes).find(|lane| calls().all(|call| call.injection != *lane));
        let Some(injection) = free else {
            self.resolved += u64::from(counts);
            return;
        };
        let circuit = self.asked.attempt(self.asked.senders[sender], injection, &mut self.randoms[sender]);
        self.counts.attempts += u64::from(counts);
        let (asked_at, held, retries, stands) = (time, Vec::new(), 0, false);
        self.calls.push(Some(Call { sender, injection, asked_at, counts, retries, circuit, held, stands }));
        self.push(time + self.asked.probe_cycles as f64, sender, Some(self.calls.len() - 1));
    }

    fn moves(&mut self, time: f64, sender: usize, at: usize) -> Option<()> {
        let (circuit, stands, held) =
            self.calls[at].as_ref().map(|call| (call.circuit, call.stands, call.held.len()))?;
        let way = self.way(sender, circuit);
        if stands {
            self.looks(time);
            self.calls[at] = None;
            return Some(());
        }
        let Some(next) = way.get(held) else {
            self.looks(time);
            let stays = exponential(&mut self.randoms[sender]) * self.programme.holding;
            self.push(time + stays, sender, Some(at));
            let call = self.calls[at].as_mut()?;
            call.stands = true;
            let counts = u64::from(call.counts);
            self.counts.set_up_cycles += if call.counts { time - call.asked_at } else { 0.0 };
            self.counts.established += counts;
            self.resolved += counts;
            return Some(());
        };
        if self.calls.iter().flatten().any(|call| call.held.contains(next)) {
            return self.is_dropped(time, sender, at);
        }
        self.calls[at].as_mut()?.held.push(*next);
        // C2: a router further, or back over all of them
        let wait = if held + 1 == way.len() { way.len() as u64 } else { self.asked.probe_cycles };
        self.push(time + wait as f64, sender, Some(at));
        Some(())
    }

    /// C3: it frees what it held. C5: it tries anew at once.
    fn is_dropped(&mut self, time: f64, sender: usize, at: usize) -> Option<()> {
        let call = self.calls[at].as_mut()?;
        let counts = u64::from(call.counts);
        self.counts.dropped += counts;
        call.held.clear();
        if call.retries == self.asked.spec.retries {
            self.resolved += counts;
            self.calls[at] = None;
            return Some(());
        }
        call.retries += 1;
        self.counts.attempts += counts;
        let node = self.asked.senders[sender];
        call.circuit = self.asked.attempt(node, call.injection, &mut self.randoms[sender]);
        self.push(time + self.asked.probe_cycles as f64, sender, Some(at));
        Some(())
    }
}
