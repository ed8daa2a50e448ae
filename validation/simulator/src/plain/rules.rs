//! What stays the same from cycle to cycle: the topology, its routing and the numbers of the scenario.

use std::ops::Range;

use flitwise_language::network::{Half, LinkEnd, LinkTime, Network};
use flitwise_language::scenario::{
    Allocation, ClassKind, ClassSpec, Crossbar, OutputLanes, Scenario, Scheduler, VcChoice,
};

use crate::control::stations::{Stations, control_class};
use crate::message::{Arrival, Offer};
use crate::virtual_channels::halves;

/// A scenario in the words of the rules.
pub(super) struct Rules {
    network: Network,
    /// K16: where signals of admission are messages.
    stations: Option<Stations>,
    /// `P`.
    pub(super) pipeline_stages: u64,
    /// `b`.
    pub(super) buffer_flits: usize,
    pub(super) scheduler: Scheduler,
    /// X1: whether an input or output port moves no more than a flit per cycle.
    pub(super) is_multiplexed: bool,
    /// X2.
    pub(super) allocation: Allocation,
    /// V1, by class: its virtual channels. K16: signals are a class behind those of the scenario.
    pub(super) blocks: Vec<Range<usize>>,
    /// V2: whether a message takes any lane of its class.
    pub(super) is_free: bool,
    /// N1: whether network channels form rings.
    has_rings: bool,
    /// By lane of a channel.
    pub(super) real_time: Vec<bool>,
    /// S5, by lane of a channel: `w_c`.
    pub(super) weight: Vec<f64>,
    /// L1, by class.
    pub(super) level: Vec<usize>,
    /// L2: whether a virtual channel has a lane for each level, and messages give way.
    pub(super) preempts: bool,
    /// L9: whether the output lanes of a virtual channel are one for each level.
    pub(super) outputs_per_level: bool,
    /// L11.
    pub(super) accelerates: bool,
    /// L12: flits of a block.
    pub(super) block_flits: usize,
}

/// L1: control, real time, best effort.
pub(super) const LEVELS: usize = 3;

/// Where a channel ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Input { router: usize, port: usize },
    Node,
}

impl Rules {
    pub(super) fn new(scenario: &Scenario) -> Self {
        let (classes, router) = (scenario.classes(), scenario.data_router());
        assert!(router.pipeline_stages >= 3, "routing, crossbar and link are a stage each");
        let mut blocks = scenario.virtual_channels();
        let mut level: Vec<usize> = classes.iter().map(|class| class.kind.level()).collect();
        if scenario.has_signals_in_band() {
            let carries_signals = control_class(scenario);
            blocks.push(blocks[carries_signals].clone());
            level.push(level[carries_signals]);
        }
        // V1: blocks may have virtual channels in common where there are levels, which look at no lane's class
        let in_any_phase =
            (0..scenario.phases().len().max(1)).flat_map(|phase| scenario.virtual_channels_in(phase));
        let used = in_any_phase.map(|block| block.end).max().unwrap_or(0);
        let width = used.max(router.virtual_channels.unwrap_or(0) as usize);
        let class_of = |lane: usize| {
            let class = blocks.iter().position(|block| block.contains(&lane));
            class.map(|class| &classes[class])
        };
        let lanes = || (0..width).map(class_of);
        let real_time = |class: &ClassSpec| class.kind == ClassKind::RealTime;
        // S5: w_c = Vtick_max / Vtick_c over the real-time classes with a finite Vtick
        let paced = lanes().flatten().filter(|class| real_time(class)).map(ClassSpec::lane_vtick);
        let vtick_max = paced.filter(|vtick| vtick.is_finite()).fold(0.0, f64::max);
        Self {
            network: scenario.topology(),
            stations: Stations::new(scenario),
            pipeline_stages: router.pipeline_stages.into(),
            buffer_flits: router.buffer_flits as usize,
            scheduler: router.scheduler,
            is_multiplexed: router.crossbar == Crossbar::Multiplexed,
            allocation: router.allocation,
            is_free: router.vc_choice == VcChoice::Free,
            has_rings: scenario.topology().has_rings(),
            real_time: lanes().map(|class| class.is_some_and(real_time)).collect(),
            weight: lanes().map(|class| class.map_or(0.0, |class| vtick_max / class.lane_vtick())).collect(),
            blocks: blocks.clone(),
            level,
            preempts: router.preempts(),
            outputs_per_level: router.output_lanes == Some(OutputLanes::PerLevel),
            accelerates: router.accelerates(),
            block_flits: router.block_flits as usize,
        }
    }

    /// S10: whether clocks and stamps start again with every message.
    pub(super) fn is_fine_grained(&self) -> bool {
        self.scheduler.is_fine_grained()
    }

    /// V1: lanes of a channel.
    pub(super) fn lanes(&self) -> usize {
        self.real_time.len()
    }

    /// V2, V3: the lanes that a message may take which asks for the group that begins with `lane`: all of its class, on
    /// a ring half of them (N1), or this one.
    pub(super) fn group(&self, lane: usize, to: End) -> Range<usize> {
        let own = lane..lane + 1;
        let Some(block) = self.blocks.iter().find(|block| self.is_free && block.contains(&lane)) else {
            return own;
        };
        let [lower, upper] = halves(block);
        match to {
            End::Input { .. } if self.has_rings => {
                if lower.contains(&lane) {
                    lower
                } else {
                    upper
                }
            }
            _ => block.clone(),
        }
    }

    /// V2, V3: the first lane of the group that a message asks for on its injection channel.
    pub(super) fn group_at_source(&self, offer: &Offer) -> usize {
        match offer.drawn {
            None => self.blocks[usize::from(offer.arrival.class)].start,
            Some(drawn) => drawn.injection.into(),
        }
    }

    /// The same on the channel behind `router`, which ends at a node or does not.
    pub(super) fn group_behind(&self, router: usize, offer: &Offer, to: End) -> usize {
        let Arrival { source, destination, class, .. } = offer.arrival;
        let block = &self.blocks[usize::from(class)];
        let is_network = matches!(to, End::Input { .. });
        let asked = match offer.drawn {
            None => block.start,
            Some(drawn) if is_network => drawn.network.into(),
            Some(drawn) => drawn.ejection.into(),
        };
        if !(is_network && self.has_rings) {
            return asked;
        }
        // N1: the lower half before the dateline, the upper one behind it; drawn ones keep their place in it
        let [lower, upper] = halves(block);
        let place = if self.is_free { 0 } else { (asked - block.start) % lower.len() };
        let half = match &self.stations {
            Some(stations) => stations.half(router as u32, source, destination),
            None => self.network.half(router as u32, source, destination),
        };
        match half {
            Half::Lower => lower.start + place,
            Half::Upper => upper.start + place,
        }
    }

    /// L13: the number of an input port in turns, and how many numbers there are: those of a hypercube are numbered as
    /// in the mesh of radix 2, two for each dimension, of which one is absent.
    pub(super) fn turn_number(&self, router: usize, port: usize) -> (usize, usize) {
        let (.., ports) = self.size();
        match self.network.as_hypercube().map(|cube| cube.dimension as usize) {
            Some(dimension) if port < dimension => (2 * port + (router >> port & 1), dimension + ports),
            Some(dimension) => (dimension + port, dimension + ports),
            None => (port, ports),
        }
    }

    /// T8: cycles from a header's coming to the front to its request.
    pub(super) fn request_delay(&self) -> u64 {
        (self.pipeline_stages - 3).max(1)
    }

    /// Nodes, routers, and ports of each router; K16: with the management port.
    pub(super) fn size(&self) -> (usize, usize, usize) {
        let network = &self.network;
        let ports = network.ports() as usize + usize::from(self.stations.is_some());
        (network.nodes() as usize, network.routers() as usize, ports)
    }

    /// K16: nodes, and management stations behind them.
    pub(super) fn places(&self) -> usize {
        let (nodes, routers, _) = self.size();
        nodes + if self.stations.is_some() { routers } else { 0 }
    }

    /// K16: whether messages of a class are signals.
    pub(super) fn are_signals(&self, class: u8) -> bool {
        self.stations.is_some() && usize::from(class) + 1 == self.blocks.len()
    }

    /// Where the channel behind an output port ends.
    pub(super) fn end_of(&self, router: usize, port: usize) -> End {
        if port >= self.network.ports() as usize {
            return End::Node; // the management station
        }
        match self.network.link_end(router as u32, port as u32) {
            LinkEnd::Input { router, port } => End::Input { router: router as usize, port: port as usize },
            LinkEnd::Node(_) | LinkEnd::Absent => End::Node,
        }
    }

    /// Where the injection channel of a node or station ends.
    pub(super) fn entrance_of(&self, node: usize) -> End {
        let (nodes, _, ports) = self.size();
        if node >= nodes {
            return End::Input { router: node - nodes, port: ports - 1 };
        }
        let (router, port) = self.network.entry(node as u32);
        End::Input { router: router as usize, port: port as usize }
    }

    /// W1, W4: delay and capacity of the channel behind an output port, or from the node at that port.
    pub(super) fn time_behind(&self, router: usize, port: usize) -> LinkTime {
        self.network.link_time(router as u32, port as u32)
    }

    /// R1, R3: the output ports of which a router chooses, the preferred one first; of one that does not choose, none.
    pub(super) fn candidates(&self, router: usize, offer: &Offer) -> Vec<usize> {
        let Arrival { source, destination, .. } = offer.arrival;
        let Some(found) = self.network.candidates(router as u32, source, destination) else {
            return Vec::new();
        };
        found.in_turn().map(|port| port as usize).collect()
    }

    /// T5, N2: the output ports on the way to the destination, as the topology routes: one, or those of parallel links.
    pub(super) fn route(&self, router: usize, offer: &Offer) -> Range<usize> {
        let Arrival { source, destination, .. } = offer.arrival;
        let first = match &self.stations {
            Some(stations) => stations.route(router as u32, source, destination) as usize,
            None => self.network.route(router as u32, source, destination, offer.way) as usize,
        };
        let links = match self.end_of(router, first) {
            End::Input { .. } => self.network.parallel(router as u32, first as u32) as usize,
            End::Node => 1,
        };
        first..first + links
    }
}
