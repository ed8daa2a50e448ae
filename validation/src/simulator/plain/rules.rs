//! What stays the same from cycle to cycle: the topology, its routing and the numbers of the scenario.

use flitwise_models::network::{LinkEnd, Network};
use flitwise_models::scenario::{ClassKind, Scenario, Scheduler};

/// A scenario in the words of the rules.
pub(super) struct Rules {
    network: Network,
    /// `P`.
    pub(super) pipeline_stages: u64,
    /// `b`.
    pub(super) buffer_flits: usize,
    pub(super) scheduler: Scheduler,
    /// By class: `M`.
    pub(super) message_flits: Vec<usize>,
    /// By class.
    pub(super) real_time: Vec<bool>,
    /// S9, by class; infinite if nothing is ever offered.
    pub(super) vtick: Vec<f64>,
    /// S5, by class: `w_c`.
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
        let real_time: Vec<bool> = classes.iter().map(|class| class.kind == ClassKind::RealTime).collect();
        // S9: Vtick_c = 1 / (rate_c M_c) unless it is given
        let vtick: Vec<f64> =
            classes.iter().map(|class| class.link_vtick().unwrap_or(f64::INFINITY)).collect();
        // S5: w_c = Vtick_max / Vtick_c over the real-time classes with a finite Vtick
        let paced = (0..classes.len()).filter(|&class| real_time[class] && vtick[class].is_finite());
        let vtick_max = paced.map(|class| vtick[class]).fold(0.0, f64::max);
        Self {
            network: scenario.topology(),
            pipeline_stages: router.pipeline_stages.into(),
            buffer_flits: router.buffer_flits as usize,
            scheduler: router.scheduler,
            message_flits: classes.iter().map(|class| class.message_flits as usize).collect(),
            weight: vtick.iter().map(|vtick| vtick_max / vtick).collect(),
            real_time,
            vtick,
        }
    }

    pub(super) fn classes(&self) -> usize {
        self.vtick.len()
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
