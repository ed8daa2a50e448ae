//! What stays the same from cycle to cycle: the topology, its routing and the numbers of the scenario.

use std::ops::Range;

use flitwise_models::network::{LinkEnd, Network};
use flitwise_models::scenario::{ClassKind, ClassSpec, Scenario, Scheduler, VcChoice};

use crate::message::Offer;

/// A scenario in the words of the rules.
pub(super) struct Rules {
    network: Network,
    /// `P`.
    pub(super) pipeline_stages: u64,
    /// `b`.
    pub(super) buffer_flits: usize,
    pub(super) scheduler: Scheduler,
    /// V1, by class: its virtual channels.
    pub(super) blocks: Vec<Range<usize>>,
    /// V2: whether a message takes any lane of its class.
    pub(super) is_free: bool,
    /// By lane of a channel.
    pub(super) real_time: Vec<bool>,
    /// S5, by lane of a channel: `w_c`.
    pub(super) weight: Vec<f64>,
}

/// Where a channel ends.
#[derive(Clone, Copy)]
pub(super) enum End {
    Input { router: usize, port: usize },
    Node,
}

impl Rules {
    pub(super) fn new(scenario: &Scenario) -> Self {
        let (classes, router) = (scenario.classes(), scenario.router());
        assert!(router.pipeline_stages >= 3, "routing, crossbar and link are a stage each");
        let blocks = scenario.virtual_channels();
        let lanes =
            || classes.iter().zip(&blocks).flat_map(|(class, block)| block.clone().map(move |_| class));
        let real_time = |class: &ClassSpec| class.kind == ClassKind::RealTime;
        // S5: w_c = Vtick_max / Vtick_c over the real-time classes with a finite Vtick
        let paced = lanes().filter(|class| real_time(class)).map(ClassSpec::lane_vtick);
        let vtick_max = paced.filter(|vtick| vtick.is_finite()).fold(0.0, f64::max);
        Self {
            network: scenario.topology(),
            pipeline_stages: router.pipeline_stages.into(),
            buffer_flits: router.buffer_flits as usize,
            scheduler: router.scheduler,
            is_free: router.vc_choice == VcChoice::Free,
            real_time: lanes().map(real_time).collect(),
            weight: lanes().map(|class| vtick_max / class.lane_vtick()).collect(),
            blocks: blocks.clone(),
        }
    }

    /// V1: lanes of a channel.
    pub(super) fn lanes(&self) -> usize {
        self.real_time.len()
    }

    /// V2, V3: the lanes that a message may take which asks for the group of this lane: all of its class, or this one.
    pub(super) fn group(&self, lane: usize) -> Range<usize> {
        let own = lane..lane + 1;
        let block = self.blocks.iter().find(|block| block.contains(&lane)).cloned();
        block.filter(|_| self.is_free).unwrap_or(own)
    }

    /// V2, V3: the first lane of the group that a message asks for on its injection channel, on network channels and
    /// on its ejection channel.
    pub(super) fn groups(&self, offer: &Offer) -> [usize; 3] {
        match offer.drawn {
            None => [self.blocks[usize::from(offer.arrival.class)].start; 3],
            Some(drawn) => [drawn.injection, drawn.network, drawn.ejection].map(usize::from),
        }
    }

    /// T8: cycles from a header's coming to the front to its request.
    pub(super) fn request_delay(&self) -> u64 {
        (self.pipeline_stages - 3).max(1)
    }

    /// Nodes, routers, and ports of each router.
    pub(super) fn size(&self) -> (usize, usize, usize) {
        let network = &self.network;
        (network.nodes() as usize, network.routers() as usize, network.ports() as usize)
    }

    /// Where the channel behind an output port ends.
    pub(super) fn end_of(&self, router: usize, port: usize) -> End {
        match self.network.link_end(router as u32, port as u32) {
            LinkEnd::Input { router, port } => End::Input { router: router as usize, port: port as usize },
            LinkEnd::Node(_) => End::Node,
        }
    }

    /// Where the injection channel of a node ends.
    pub(super) fn entrance_of(&self, node: usize) -> End {
        let (router, port) = self.network.entry(node as u32);
        End::Input { router: router as usize, port: port as usize }
    }

    /// T5: the output port on the way to the destination, as the topology routes.
    pub(super) fn route(&self, router: usize, destination: u32) -> usize {
        self.network.route(router as u32, destination) as usize
    }
}
