//! What holds messages of best effort at the start of their way: a free lane at the first router (K11), or a threshold
//! of full buffers (K12).

use flitwise_language::scenario::{ClassKind, CongestionControl, Scenario};

use crate::control::congestion::SelfTuned;
use crate::message::{Arrival, Offer};
use crate::wiring::Wiring;

use super::arbitration::Requests;
use super::buffers::InputLanes;
use super::links::Links;
use super::rules::Rules;
use super::sources::Sources;

/// A message of best effort that has not begun.
#[derive(Clone, Copy, Debug)]
struct Fresh {
    /// The output link of its first router, the first of parallel ones, and how many there are.
    first_link: u32,
    links: u32,
}

/// Gates of all nodes.
pub(super) struct Gates {
    tuned: Option<SelfTuned>,
    includes_interface: bool,
    /// A bit per lane of best effort, and per lane of data.
    best_effort: u64,
    data: u64,
    /// The first virtual channel of the injection links.
    first: usize,
    /// By node: lanes whose first message has not begun, and those of them that are held in this cycle.
    fresh: Vec<u64>,
    held: Vec<u64>,
    /// By virtual channel of injection links.
    messages: Vec<Fresh>,
    /// Cycles in which a message was held that could have moved, over all nodes.
    throttled: u64,
}

impl Gates {
    /// `None` with another control or none. Interfaces count flits of their lanes where that is asked for.
    pub(super) fn new(
        scenario: &Scenario,
        rules: &Rules,
        wiring: &Wiring,
        queued_flits: &mut Vec<u32>,
    ) -> Option<Self> {
        let spec = scenario.spec().congestion?;
        if !matches!(spec.control, CongestionControl::AtLeastOne | CongestionControl::SelfTuned) {
            return None;
        }
        let (mut best_effort, mut data) = (0, 0);
        for (class, block) in scenario.classes().iter().zip(scenario.virtual_channels()) {
            let bits: u64 = block.fold(0, |bits, channel| bits | 1 << channel);
            best_effort |= if class.kind == ClassKind::BestEffort { bits } else { 0 };
            data |= if class.kind == ClassKind::Control { 0 } else { bits };
        }
        let first = (wiring.first_injection() as usize) << rules.shift;
        let places = (rules.channels - first) >> rules.shift;
        // management ports have no lanes of data
        let of_stations = places as u64 - u64::from(wiring.nodes());
        let of_routers = rules.inputs.iter().flatten().count() as u64 - of_stations;
        let of_interfaces = if spec.include_interface { u64::from(wiring.nodes()) } else { 0 };
        let buffers = (of_routers + of_interfaces) * u64::from(data.count_ones());
        let tuned = SelfTuned::new(scenario, buffers);
        if tuned.is_some() && spec.include_interface {
            queued_flits.resize(rules.channels - first, 0);
        }
        Some(Self {
            tuned,
            includes_interface: spec.include_interface,
            best_effort,
            data,
            first,
            fresh: vec![0; places],
            held: vec![0; places],
            messages: vec![Fresh { first_link: 0, links: 1 }; rules.channels - first],
            throttled: 0,
        })
    }

    /// A message of best effort is the first of its lane.
    pub(super) fn comes_to_front(
        &mut self,
        rules: &Rules,
        wiring: &Wiring,
        (node, channel): (usize, usize),
        (link, offer): (usize, &Offer),
    ) {
        self.fresh[node] |= rules.bit(channel);
        let router = rules.input(link).0 as u32;
        let Arrival { source, destination, .. } = offer.arrival;
        let first_link = wiring.route(router, source, destination, offer.way);
        let links = wiring.parallel(first_link);
        self.messages[channel - self.first] = Fresh { first_link, links };
    }

    /// The first message of a lane of a node has begun.
    pub(super) fn begins(&mut self, node: usize, bit: u64) {
        self.fresh[node] &= !bit;
        self.held[node] &= !bit;
    }

    /// K12: buffers at the start of a cycle.
    pub(super) fn look(
        &mut self,
        rules: &Rules,
        lanes: &InputLanes,
        sources: &Sources,
        delivered: u64,
        now: u64,
    ) {
        let Some(tuned) = &mut self.tuned else { return };
        let links = (0..rules.links).filter(|link| rules.inputs[*link].is_some());
        let full = |link: usize| u64::from((!lanes.credit(link)[0] & self.data).count_ones());
        let is_data = |lane: usize| self.data >> (lane & ((1 << rules.shift) - 1)) & 1 == 1;
        let count = || {
            let in_routers: u64 = links.map(full).sum();
            let queued = sources.queued_flits.iter().enumerate();
            let at_sources =
                queued.filter(|(lane, flits)| **flits >= rules.buffer_flits && is_data(*lane)).count();
            in_routers + at_sources as u64
        };
        tuned.begins(now, count, delivered);
    }

    /// Which messages are held in cycle `now`.
    pub(super) fn hold(
        &mut self,
        rules: &Rules,
        requests: &Requests,
        links: &Links,
        lanes: &InputLanes,
        now: u64,
    ) {
        if let Some(tuned) = &self.tuned {
            let holds = tuned.holds(now);
            for (held, fresh) in self.held.iter_mut().zip(&self.fresh) {
                *held = if holds { *fresh } else { 0 };
            }
            return;
        }
        let places = |lanes: u64| (0..u64::BITS).filter(move |place| lanes >> place & 1 == 1);
        for (node, fresh) in self.fresh.iter().enumerate().filter(|(_, fresh)| **fresh != 0) {
            let injection = (self.first >> rules.shift) + node;
            let is_empty =
                |place: u32| lanes[rules.input_lane(injection << rules.shift | place as usize, 0)].taken == 0;
            let may_start = !self.includes_interface || places(self.best_effort).any(is_empty);
            let is_held = |place: &u32| {
                let message = &self.messages[(node << rules.shift) + *place as usize];
                let is_free = |lane: u32| {
                    (message.first_link..message.first_link + message.links).any(|link| {
                        let to = (link as usize) << rules.shift | lane as usize;
                        requests.owner(to).is_none() && links.lanes[rules.output_lane(to, 0)].flits == 0
                    })
                };
                !may_start || !places(self.best_effort).any(is_free)
            };
            self.held[node] = places(*fresh).filter(is_held).fold(0, |held, place| held | 1 << place);
        }
    }

    /// Lanes of a node that are held, of some that could move.
    pub(super) fn held(&mut self, node: usize, some: u64) -> u64 {
        let held = self.held[node] & some;
        if held != 0 {
            self.throttled += 1;
            if let Some(tuned) = &mut self.tuned {
                tuned.is_throttled = true;
            }
        }
        held
    }

    /// Cycles in which a message was held that could have moved, over all nodes.
    pub(super) fn throttled(&self) -> u64 {
        self.throttled
    }

    /// Mean threshold of all periods, if it is tuned.
    pub(super) fn mean_threshold(&self) -> Option<f64> {
        self.tuned.as_ref().and_then(SelfTuned::mean_threshold)
    }
}
