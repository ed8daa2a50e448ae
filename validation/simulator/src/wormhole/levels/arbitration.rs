//! Stage P-2: requests for output virtual channels, and who is granted them (L10).

use crate::wiring::Wiring;
use crate::wormhole::lane::NONE;

use super::rules::Rules;

/// An output virtual channel.
#[derive(Clone, Copy, Debug)]
struct Output {
    /// The input virtual channel whose message or closing fragment owns it.
    owner: u32,
    /// The input port after the one granted last.
    next_port: u32,
    /// An input virtual channel with a request for it.
    first: u32,
}

/// The request of an input virtual channel.
#[derive(Clone, Copy, Debug)]
struct Request {
    cycle: u64,
    level: u8,
    /// The input virtual channel of another request for the same output.
    next: u32,
}

/// Outputs with their owners and requests.
pub(super) struct Requests {
    outputs: Vec<Output>,
    /// By input virtual channel.
    requests: Vec<Request>,
    /// By cycle modulo the length: input virtual channels that may request an output then.
    to_come: Vec<Vec<u32>>,
    /// Free outputs with requests, some perhaps twice.
    contested: Vec<u32>,
    /// Outputs whose tail has crossed in this cycle.
    released: Vec<u32>,
    /// By output link, if parallel ones are to choose from: input virtual channels that own or ask for one of its own.
    taken: Vec<u32>,
}

impl Requests {
    pub(super) fn new(rules: &Rules, wiring: &Wiring) -> Self {
        let output = Output { owner: NONE, next_port: 0, first: NONE };
        Self {
            outputs: vec![output; rules.channels],
            requests: vec![Request { cycle: 0, level: 0, next: NONE }; rules.channels],
            to_come: vec![Vec::new(); (rules.request_delay as usize + 2).next_power_of_two()],
            contested: Vec::new(),
            released: Vec::new(),
            taken: vec![0; if wiring.parallel_links() > 1 { rules.links } else { 0 }],
        }
    }

    fn slot(&self, cycle: u64) -> usize {
        cycle as usize & (self.to_come.len() - 1)
    }

    /// Whether nothing is requested or granted in cycle `now`.
    #[inline]
    pub(super) fn is_idle(&self, now: u64) -> bool {
        self.contested.is_empty() && self.to_come[self.slot(now)].is_empty()
    }

    /// The message at the front of an input virtual channel requests an output in a cycle, if it is still there then.
    pub(super) fn will_request(&mut self, input: usize, cycle: u64) {
        let slot = self.slot(cycle);
        self.to_come[slot].push(input as u32);
    }

    /// Input virtual channels that may request an output in cycle `now`; to be given back, for its memory.
    pub(super) fn of_cycle(&mut self, now: u64) -> Vec<u32> {
        let slot = self.slot(now);
        std::mem::take(&mut self.to_come[slot])
    }

    pub(super) fn give_back(&mut self, now: u64, mut list: Vec<u32>) {
        list.clear();
        let slot = self.slot(now);
        self.to_come[slot] = list;
    }

    /// A request for an output.
    pub(super) fn request(&mut self, rules: &Rules, input: usize, level: usize, to: usize, now: u64) {
        if let Some(taken) = self.taken.get_mut(rules.link(to)) {
            *taken += 1;
        }
        let output = &mut self.outputs[to];
        self.requests[input] = Request { cycle: now, level: level as u8, next: output.first };
        output.first = input as u32;
        if output.owner == NONE {
            self.contested.push(to as u32);
        }
    }

    /// Takes a request out of those for its output.
    fn take_out(&mut self, input: usize, to: usize) {
        let next = self.requests[input].next;
        if self.outputs[to].first == input as u32 {
            self.outputs[to].first = next;
            return;
        }
        let mut before = self.outputs[to].first as usize;
        while self.requests[before].next != input as u32 {
            before = self.requests[before].next as usize;
        }
        self.requests[before].next = next;
    }

    /// A message that is not granted its output gives way.
    pub(super) fn withdraw(&mut self, rules: &Rules, input: usize, to: usize) {
        self.take_out(input, to);
        self.leave(rules, to);
    }

    /// A message owns or asks for an output no more.
    fn leave(&mut self, rules: &Rules, to: usize) {
        if let Some(taken) = self.taken.get_mut(rules.link(to)) {
            *taken -= 1;
        }
    }

    /// A free output with requests, and the best of them: the highest level, then the oldest, then the first port in
    /// turn (S1), then the lowest virtual channel. The output is owned from now on.
    pub(super) fn grant(
        &mut self,
        rules: &Rules,
        is_closing: impl Fn(usize) -> bool,
    ) -> Option<(usize, usize)> {
        loop {
            let to = self.contested.pop()? as usize;
            let Output { owner, next_port, first } = self.outputs[to];
            if owner != NONE || first == NONE {
                continue;
            }
            let order = |input: u32| {
                let Request { cycle, level, .. } = self.requests[input as usize];
                let port = rules.input(rules.link(input as usize)).1 as u32;
                (level, cycle, port < next_port, port, input)
            };
            let (mut best, mut other) = (NONE, first);
            while other != NONE {
                if !is_closing(other as usize) && (best == NONE || order(other) < order(best)) {
                    best = other;
                }
                other = self.requests[other as usize].next;
            }
            if best == NONE {
                continue;
            }
            let input = best as usize;
            self.take_out(input, to);
            let output = &mut self.outputs[to];
            output.owner = best;
            output.next_port = rules.input(rules.link(input)).1 as u32 + 1;
            return Some((input, to));
        }
    }

    /// The closing fragment of a virtual channel has crossed, which asks for an output.
    pub(super) fn may_be_granted(&mut self, to: usize) {
        if self.outputs[to].owner == NONE {
            self.contested.push(to as u32);
        }
    }

    /// Whether a request of a higher level waits for an output.
    pub(super) fn has_higher(&self, to: usize, level: u8) -> bool {
        let mut other = self.outputs[to].first;
        while other != NONE {
            if self.requests[other as usize].level < level {
                return true;
            }
            other = self.requests[other as usize].next;
        }
        false
    }

    /// The input virtual channel whose message owns an output, or owned it until this cycle; `None` of a free one.
    #[inline]
    pub(super) fn owner(&self, to: usize) -> Option<usize> {
        let owner = self.outputs[to].owner;
        (owner != NONE).then_some(owner as usize)
    }

    /// A tail crosses to its output, which is free from the next cycle on.
    #[inline]
    pub(super) fn release(&mut self, rules: &Rules, to: usize) {
        self.released.push(to as u32);
        self.leave(rules, to);
    }

    /// An output is free whose message has not crossed, after all grants of the cycle.
    pub(super) fn revoke(&mut self, rules: &Rules, to: usize) {
        self.leave(rules, to);
        self.free(to);
    }

    fn free(&mut self, to: usize) {
        let output = &mut self.outputs[to];
        debug_assert_ne!(output.owner, NONE, "output {to} is released twice");
        output.owner = NONE;
        if output.first != NONE {
            self.contested.push(to as u32);
        }
    }

    /// The end of a cycle: what was released in it is free.
    #[inline]
    pub(super) fn end_cycle(&mut self) {
        while let Some(to) = self.released.pop() {
            self.free(to as usize);
        }
    }

    /// Of parallel links from `first` on, the one of which the fewest are owned or asked for; of equal ones the first.
    pub(super) fn least_taken(&self, first: usize, links: usize) -> usize {
        (first..first + links).min_by_key(|link| self.taken[*link]).unwrap_or(first)
    }

    #[cfg(debug_assertions)]
    pub(super) fn assert_idle(&self) {
        assert!(self.taken.iter().all(|taken| *taken == 0));
        for (to, output) in self.outputs.iter().enumerate() {
            assert!(output.owner == NONE && output.first == NONE, "output {to} is owned or asked for");
        }
    }
}
