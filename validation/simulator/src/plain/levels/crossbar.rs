//! What crosses in a cycle (T3, X1, X2, L11, L12).

use super::arbitration::Grant;
use super::flit::{Flit, FlitKind};
use super::input::{Crossed, Output};
use super::{Network, Router, message_of};

/// A flit that crosses from a virtual channel of an input port to one of an output port, or would.
#[derive(Clone, Copy)]
pub(super) struct Crossing {
    pub(super) router: usize,
    pub(super) input: (usize, usize),
    pub(super) output: Output,
    pub(super) flit: Flit,
}

impl Network {
    /// T3, T8: what crosses. A virtual channel is a candidate if there is a slot for the flit that it would send.
    pub(super) fn crossings(&mut self, grants: &[Grant], now: u64) -> Vec<Crossing> {
        let mut crossings = Vec::new();
        for router in 0..self.routers.len() {
            let mut candidates = Vec::new();
            for (port, channel) in self.input_channels() {
                let Router { inputs, outputs } = &mut self.routers[router];
                let (input, buffers) = ((port, channel), &mut inputs[port].channels[channel]);
                let is_granted = buffers.current.as_ref().is_some_and(|current| current.is_granted)
                    || grants.iter().any(|grant| grant.router == router && grant.input == input);
                let candidate = buffers.candidate(is_granted).filter(|(flit, output)| {
                    outputs[output.port].channels[output.channel].has_room(flit.level, &self.rules)
                });
                match candidate {
                    Some((flit, output)) => candidates.push(Crossing { router, input, output, flit }),
                    None => buffers.is_no_candidate(),
                }
            }
            crossings.extend(self.allocate(candidates, now));
        }
        crossings
    }

    /// X1, X2: of a router's candidates the best first, each that finds both its ports free. Those within a block are
    /// before all others (L12), accelerated ones next (L11).
    pub(super) fn allocate(&self, mut candidates: Vec<Crossing>, now: u64) -> Vec<Crossing> {
        let key = |crossing: &Crossing| {
            let inputs = &self.routers[crossing.router].inputs;
            let (port, channel) = crossing.input;
            let buffers = &inputs[port].channels[channel];
            let (number, numbers) = self.rules.turn_number(crossing.router, port);
            let turn = (number + numbers - now as usize % numbers) % numbers;
            let (before, (level, number)) = match () {
                () if buffers.is_held() => (0, (0, 0.0)),
                () if buffers.is_accelerated(&self.rules) => (1, (0, 0.0)),
                () => (2, inputs[port].clocks.key(&crossing.flit)),
            };
            ((before, level), number, (turn, channel))
        };
        candidates.sort_by(|one, other| {
            let ((first, one, last), (other_first, other, other_last)) = (key(one), key(other));
            first.cmp(&other_first).then(one.total_cmp(&other)).then(last.cmp(&other_last))
        });
        let mut crossings: Vec<Crossing> = Vec::new();
        for candidate in candidates {
            let meets = |other: &Crossing| {
                other.input.0 == candidate.input.0 || other.output.port == candidate.output.port
            };
            if !crossings.iter().any(meets) {
                crossings.push(candidate);
            }
        }
        crossings
    }

    /// T3: a flit crosses; a tail gives up the output (T9), and the next message begins (L4).
    pub(super) fn cross(&mut self, crossing: Crossing, now: u64) {
        let Crossing { router, input: (port, channel), output, flit } = crossing;
        let Router { inputs, outputs } = &mut self.routers[router];
        let from = &mut inputs[port];
        from.clocks.serve(&flit);
        self.counts.accelerated += u64::from(from.channels[channel].is_accelerated(&self.rules));
        let waiting = from.channels[channel].waiting();
        let crossed = from.channels[channel].cross(flit, &self.rules);
        let is_new = u64::from(from.channels[channel].waiting() == waiting);
        let behind = &mut outputs[output.port].channels[output.channel];
        assert_eq!(behind.owner, Some((port, channel)), "crosses into a lane of another");
        behind.join(Flit { channel: output.channel, joined_cycle: now, ..flit });
        if flit.is_tail() {
            behind.owner = None;
        }
        match flit.kind {
            FlitKind::DummyHeader => self.counts.dummy_headers += is_new,
            FlitKind::DummyTail => self.counts.dummy_tails += is_new,
            FlitKind::Payload { .. } => {}
        }
        self.counts.dummies += u64::from(flit.number().is_none());
        if let Some(number) = flit.number() {
            let message = message_of(&mut self.messages, &flit);
            message.flits[number].crossed.push(now);
            if number == 0 {
                message.links.push((router, output.port));
            }
        }
        if let Crossed::Through = crossed {
            self.begin(router, port, channel, now);
        }
    }
}
