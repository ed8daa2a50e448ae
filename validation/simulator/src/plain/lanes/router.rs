//! Routers: what is granted, what crosses and what leaves over links in a cycle (T2 to T9, S1, N2, K6, K7).

use std::collections::VecDeque;
use std::ops::Range;

use flitwise_language::scenario::Allocation;

use super::super::rules::{End, Rules};
use super::Network;
use super::arbiter::{Arbiter, Turn};
use super::settings::Settings;

/// A flit in a buffer of a router or on a wire.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flit {
    /// Messages generated before its own.
    pub(super) message: u64,
    /// Its place in the message, 0 for the header.
    pub(super) number: usize,
    pub(super) is_tail: bool,
    /// The lane that it is on.
    pub(super) lane: usize,
}

pub(super) struct Router {
    pub(super) inputs: Vec<InputPort>,
    pub(super) outputs: Vec<OutputPort>,
}

pub(super) struct InputPort {
    pub(super) lanes: Vec<InputLane>,
    pub(super) arbiter: Arbiter,
}

/// The input side of a lane.
#[derive(Clone, Default)]
pub(super) struct InputLane {
    pub(super) flits: VecDeque<Flit>,
    /// The message at the front, until its tail has crossed.
    pub(super) front: Option<Front>,
}

/// The message at the front of an input lane.
#[derive(Clone)]
pub(super) struct Front {
    /// The output port that it asks for; before its request those of parallel links.
    pub(super) outputs: Range<usize>,
    /// The lane there.
    pub(super) lane: usize,
    /// T8: the first cycle in which it can be granted that.
    pub(super) request_cycle: u64,
    pub(super) is_granted: bool,
}

pub(super) struct OutputPort {
    pub(super) to: End,
    pub(super) lanes: Vec<OutputLane>,
    pub(super) arbiter: Arbiter,
    /// The flit sent in the cycle before this one.
    pub(super) wire: Option<Flit>,
}

/// The output side of a lane.
#[derive(Clone, Default)]
pub(super) struct OutputLane {
    pub(super) flits: VecDeque<Flit>,
    /// T9: the input port and lane of the message that owns it.
    pub(super) owner: Option<(usize, usize)>,
    /// S1: the input port after the one granted last.
    pub(super) first_port: usize,
}

/// From a lane of an input port to one of an output port.
#[derive(Clone)]
pub(super) struct Way {
    pub(super) router: usize,
    pub(super) input: (usize, usize),
    pub(super) output: (usize, usize),
    /// Of a flit that crosses: the turn of the arbiter that has named it.
    pub(super) turn: Option<Turn>,
}

/// A lane of an output port whose flit leaves over the link.
pub(super) struct Leaving {
    pub(super) router: usize,
    pub(super) port: usize,
    pub(super) lane: usize,
    pub(super) turn: Turn,
}

impl Router {
    pub(super) fn new(router: usize, rules: &Rules, settings: &Settings) -> Self {
        let (_, _, ports) = rules.size();
        let input = |_| InputPort {
            lanes: vec![InputLane::default(); rules.lanes()],
            arbiter: Arbiter::new(settings),
        };
        let output = |port| OutputPort {
            to: rules.end_of(router, port),
            lanes: vec![OutputLane::default(); rules.lanes()],
            arbiter: Arbiter::new(settings),
            wire: None,
        };
        Self { inputs: (0..ports).map(input).collect(), outputs: (0..ports).map(output).collect() }
    }

    /// Flits in its buffers and on the wires that it sends over.
    pub(super) fn flits(&self) -> usize {
        let inputs = self.inputs.iter().flat_map(|port| &port.lanes).map(|lane| lane.flits.len());
        let outputs = self.outputs.iter().flat_map(|port| &port.lanes).map(|lane| lane.flits.len());
        let wires = self.outputs.iter().filter(|port| port.wire.is_some()).count();
        inputs.sum::<usize>() + outputs.sum::<usize>() + wires
    }

    /// Whether nothing is in it and nothing is owned.
    pub(super) fn is_empty(&self) -> bool {
        let has_front = self.inputs.iter().flat_map(|port| &port.lanes).any(|lane| lane.front.is_some());
        let is_owned = self.outputs.iter().flat_map(|port| &port.lanes).any(|lane| lane.owner.is_some());
        self.flits() == 0 && !has_front && !is_owned
    }
}

impl Network {
    /// All pairs of a port and a lane.
    pub(super) fn port_lanes(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let ((_, _, ports), lanes) = (self.rules.size(), self.rules.lanes());
        (0..ports).flat_map(move |port| (0..lanes).map(move |lane| (port, lane)))
    }

    /// T7: slots of an input lane that are taken, that of a flit on the wire included.
    pub(super) fn taken_slots(&self, router: usize, port: usize, lane: usize, wire: Option<Flit>) -> usize {
        let on_wire = usize::from(wire.is_some_and(|flit| flit.lane == lane));
        self.routers[router].inputs[port].lanes[lane].flits.len() + on_wire
    }

    /// T2: whether there is a free slot behind a link.
    pub(super) fn has_room_behind(&self, to: End, lane: usize, wire: Option<Flit>) -> bool {
        match to {
            End::Node => true,
            End::Input { router, port } => {
                self.taken_slots(router, port, lane, wire) < self.rules.buffer_flits
            }
        }
    }

    /// K15: whether nothing crosses or leaves.
    pub(super) fn is_stopped(&self, router: usize) -> bool {
        self.herd.as_ref().is_some_and(|herd| herd.stopped[router])
    }

    /// K7: what leaves over links behind routers.
    pub(super) fn leaving(&self) -> Vec<Leaving> {
        let mut leaving = Vec::new();
        for (router, Router { outputs, .. }) in self.routers.iter().enumerate() {
            if self.is_stopped(router) {
                continue;
            }
            for (port, OutputPort { to, lanes, arbiter, wire }) in outputs.iter().enumerate() {
                let eligible: Vec<bool> = lanes
                    .iter()
                    .enumerate()
                    .map(|(lane, buffer)| !buffer.flits.is_empty() && self.has_room_behind(*to, lane, *wire))
                    .collect();
                let named = arbiter.name(&eligible);
                leaving.extend(named.map(|named| Leaving {
                    router,
                    port,
                    lane: named.lane,
                    turn: named.turn,
                }));
            }
        }
        leaving
    }

    /// N2: of parallel links a header takes in the cycle of its request the one of which the fewest lanes belong to
    /// messages or are asked for, after the crossings of this cycle; of equal ones the first. Headers choose one after
    /// another, by input port and lane.
    pub(super) fn choose_links(&mut self, crossings: &[Way], now: u64) {
        for router in 0..self.routers.len() {
            for (port, lane) in self.port_lanes() {
                let Some(front) = &self.routers[router].inputs[port].lanes[lane].front else { continue };
                if front.request_cycle == now && front.outputs.len() > 1 {
                    let links = front.outputs.clone();
                    let least = links.min_by_key(|output| self.taken_lanes(router, *output, crossings, now));
                    let front = self.routers[router].inputs[port].lanes[lane].front.as_mut();
                    front.zip(least).into_iter().for_each(|(front, least)| front.outputs = least..least + 1);
                }
            }
        }
    }

    /// N2: the lanes of an output that belong to messages or are asked for.
    fn taken_lanes(&self, router: usize, output: usize, crossings: &[Way], now: u64) -> usize {
        let goes_there = |input: &(usize, usize)| {
            let lane = &self.routers[router].inputs[input.0].lanes[input.1];
            let leaves = lane.flits.front().is_some_and(|flit| flit.is_tail)
                && crossings.iter().any(|way| way.router == router && way.input == *input);
            let asks = |front: &Front| front.outputs == (output..output + 1) && front.request_cycle <= now;
            lane.front.as_ref().is_some_and(asks) && !leaves
        };
        self.port_lanes().filter(goes_there).count()
    }

    /// T4: each free output lane goes to the oldest request, of equal ones to the first port in turn (S1), then to the
    /// lowest lane.
    pub(super) fn grants(&self, now: u64) -> Vec<Way> {
        let mut grants = Vec::new();
        for (router, Router { inputs, outputs }) in self.routers.iter().enumerate() {
            let ports = inputs.len();
            let request = |input: (usize, usize)| {
                let front = inputs[input.0].lanes[input.1].front.as_ref()?;
                let asks = !front.is_granted && front.request_cycle <= now;
                asks.then_some((input, (front.outputs.start, front.lane), front.request_cycle))
            };
            let requests: Vec<_> = self.port_lanes().filter_map(request).collect();
            for output in self.port_lanes().filter(|_| !requests.is_empty()) {
                let behind = &outputs[output.0].lanes[output.1];
                let turn = |port: usize| (port + ports - behind.first_port) % ports; // S1
                let of_output = requests.iter().filter(|(_, asked, _)| *asked == output);
                let first = of_output.min_by_key(|((port, lane), _, since)| (*since, turn(*port), *lane));
                let granted = first.filter(|_| behind.owner.is_none()); // T9
                grants.extend(granted.map(|(input, ..)| Way { router, input: *input, output, turn: None }));
            }
        }
        grants
    }

    /// T3, K6: what crosses; with `P = 3` messages in the cycle of their grants, too.
    pub(super) fn crossings(&self, grants: &[Way], now: u64) -> Vec<Way> {
        let routers = (0..self.routers.len()).filter(|router| !self.is_stopped(*router));
        routers.flat_map(|router| self.crossings_of(router, grants, now)).collect()
    }

    /// T3: the output lane that a flit of an input lane could cross to.
    fn candidate(
        &self,
        router: usize,
        (port, lane): (usize, usize),
        grants: &[Way],
    ) -> Option<(usize, usize)> {
        let Router { inputs, outputs } = &self.routers[router];
        let buffer = &inputs[port].lanes[lane];
        let front = buffer.front.as_ref()?;
        let is_granted = front.is_granted
            || grants.iter().any(|grant| grant.router == router && grant.input == (port, lane));
        let output = (front.outputs.start, front.lane);
        let has_room = outputs[output.0].lanes[output.1].flits.len() < self.rules.buffer_flits;
        (is_granted && !buffer.flits.is_empty() && has_room).then_some(output)
    }

    fn crossings_of(&self, router: usize, grants: &[Way], now: u64) -> Vec<Way> {
        let Router { inputs, .. } = &self.routers[router];
        let mut crossings: Vec<Way> = Vec::new();
        if !self.rules.is_multiplexed {
            for input in self.port_lanes() {
                let output = self.candidate(router, input, grants);
                crossings.extend(output.map(|output| Way { router, input, output, turn: None }));
            }
            return crossings;
        }
        for port in self.in_turn(router, now) {
            let candidates: Vec<Option<(usize, usize)>> =
                (0..self.rules.lanes()).map(|lane| self.candidate(router, (port, lane), grants)).collect();
            let is_free = |output: usize| crossings.iter().all(|way| way.output.0 != output);
            let is_input_first = self.rules.allocation == Allocation::InputFirst;
            let offered: Vec<bool> = candidates
                .iter()
                .map(|output| output.is_some_and(|(output, _)| is_input_first || is_free(output)))
                .collect();
            let Some(named) = inputs[port].arbiter.name(&offered) else { continue };
            let output = candidates[named.lane].expect("a lane that was offered");
            if is_free(output.0) {
                let (input, turn) = ((port, named.lane), Some(named.turn));
                crossings.push(Way { router, input, output, turn });
            }
        }
        crossings
    }

    /// K6: the input ports of a router in their turn, from that of number `x mod p` on.
    fn in_turn(&self, router: usize, now: u64) -> Vec<usize> {
        let (_, _, ports) = self.rules.size();
        let mut in_turn: Vec<usize> = (0..ports).collect();
        in_turn.sort_by_key(|port| {
            let (number, numbers) = self.rules.turn_number(router, *port);
            (number + numbers - (now % numbers as u64) as usize) % numbers
        });
        in_turn
    }
}
