//! Which messages may leave over injection links, and what holds them back (K8, K11, K12).

use flitwise_language::scenario::CongestionControl;

use super::adapter::Injection;
use super::router::Flit;
use super::tuning::Tuning;
use super::{BEST_EFFORT, End, Network};

/// A buffer that counts for the threshold.
#[derive(Clone, Copy)]
pub(super) enum Buffer {
    /// The input lane behind the link from a node, or from an output port of a router.
    BehindInjection {
        node: usize,
        lane: usize,
    },
    BehindOutput {
        router: usize,
        port: usize,
        lane: usize,
    },
    /// The queue of a lane in an interface.
    OfInterface {
        node: usize,
        lane: usize,
    },
}

impl Network {
    /// K8: what leaves over injection links, by node.
    pub(super) fn injections(&mut self, now: u64) -> Vec<(usize, Injection)> {
        let mut injections = Vec::new();
        for node in 0..self.adapters.len() {
            let to = self.rules.entrance_of(node);
            let End::Input { router, .. } = to else { unreachable!("a node has a router") };
            if self.is_stopped(router) {
                continue;
            }
            let adapter = &self.adapters[node];
            let could =
                |lane: usize| !adapter.lanes[lane].is_empty() && self.has_room_behind(to, lane, adapter.wire);
            let could: Vec<bool> = (0..self.rules.lanes()).map(could).collect();
            let may: Vec<bool> = could
                .iter()
                .enumerate()
                .map(|(lane, could)| *could && !self.is_held_back(node, lane, now))
                .collect();
            if may != could {
                self.activity.throttled += 1;
                self.tuning.iter_mut().for_each(Tuning::has_throttled);
            }
            let injection = self.adapters[node].choose(&may, &self.settings);
            injections.extend(injection.map(|injection| (node, injection)));
        }
        injections
    }

    /// Whether a gate is shut for the message at the front of a lane of an interface.
    fn is_held_back(&self, node: usize, lane: usize, now: u64) -> bool {
        let is_new = self.adapters[node].lanes[lane].front().is_some_and(|posted| posted.sent == 0);
        if !is_new || self.settings.level[lane] != Some(BEST_EFFORT) {
            return false;
        }
        if let Some(tuning) = &self.tuning {
            return tuning.holds(now);
        }
        match self.settings.congestion_by(CongestionControl::AtLeastOne) {
            Some(congestion) => {
                let is_shut = congestion.include_interface && !self.is_any_input_free(node);
                is_shut || !self.is_any_output_free(node, lane)
            }
            None => false,
        }
    }

    /// Lanes of best effort.
    fn best_effort(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.rules.lanes()).filter(|lane| self.settings.level[*lane] == Some(BEST_EFFORT))
    }

    /// K11: whether some best-effort lane of the injection link has no flit behind the link.
    fn is_any_input_free(&self, node: usize) -> bool {
        let wire = self.adapters[node].wire;
        let End::Input { router, port } = self.rules.entrance_of(node) else {
            unreachable!("a node has a router")
        };
        self.best_effort().any(|lane| self.taken_slots(router, port, lane, wire) == 0)
    }

    /// K11: whether some best-effort lane of the output link of the first router is neither owned nor holds a flit; of
    /// any link of parallel ones.
    fn is_any_output_free(&self, node: usize, lane: usize) -> bool {
        let message = self.adapters[node].lanes[lane][0].message;
        let End::Input { router, .. } = self.rules.entrance_of(node) else {
            unreachable!("a node has a router")
        };
        let mut outputs = self.rules.route(router, &self.messages[&message].offer);
        outputs.any(|port| {
            let lanes = &self.routers[router].outputs[port].lanes;
            self.best_effort().any(|lane| lanes[lane].owner.is_none() && lanes[lane].flits.is_empty())
        })
    }

    /// K12: the buffers that count: input lanes of data classes behind all links into routers, and where interfaces are
    /// included those of their queues.
    pub(super) fn counted_buffers(&self) -> Vec<Buffer> {
        let congestion = self.settings.congestion_by(CongestionControl::SelfTuned);
        let with_interfaces = congestion.is_some_and(|congestion| congestion.include_interface);
        let is_data = |level: &Option<usize>| level.is_some_and(|level| level != super::arbiter::CONTROL);
        let mut buffers = Vec::new();
        for lane in (0..self.rules.lanes()).filter(|lane| is_data(&self.settings.level[*lane])) {
            // management ports have no lanes of data
            for node in 0..self.rules.size().0 {
                buffers.push(Buffer::BehindInjection { node, lane });
                buffers.extend(with_interfaces.then_some(Buffer::OfInterface { node, lane }));
            }
            for (router, routers) in self.routers.iter().enumerate() {
                for (port, output) in routers.outputs.iter().enumerate() {
                    let is_into_router = matches!(output.to, End::Input { .. });
                    buffers.extend(is_into_router.then_some(Buffer::BehindOutput { router, port, lane }));
                }
            }
        }
        buffers
    }

    /// Whether all slots of a buffer are taken; of an interface whether as many flits wait.
    fn is_full(&self, buffer: Buffer) -> bool {
        let slots = self.rules.buffer_flits;
        let behind = |to: End, lane: usize, wire: Option<Flit>| !self.has_room_behind(to, lane, wire);
        match buffer {
            Buffer::BehindInjection { node, lane } => {
                behind(self.rules.entrance_of(node), lane, self.adapters[node].wire)
            }
            Buffer::BehindOutput { router, port, lane } => {
                let output = &self.routers[router].outputs[port];
                behind(output.to, lane, output.wire)
            }
            Buffer::OfInterface { node, lane } => self.adapters[node].flits_of(lane) >= slots,
        }
    }

    /// K12: at the start of a cycle, before all else.
    pub(super) fn look_at_buffers(&mut self, now: u64) {
        if self.tuning.as_ref().is_some_and(|tuning| tuning.looks(now)) {
            let full = self.counted_buffers().into_iter().filter(|buffer| self.is_full(*buffer)).count();
            self.tuning.iter_mut().for_each(|tuning| tuning.look(full, now));
        }
    }
}
