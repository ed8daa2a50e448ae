//! What stays the same from cycle to cycle: the topology, its routing and the numbers of the scenario.

use flitwise_models::scenario::{ClassKind, NetworkSpec, Scenario, Scheduler};

/// A scenario in the words of the rules.
pub(super) struct Rules {
    topology: NetworkSpec,
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
        let vtick: Vec<f64> = classes
            .iter()
            .map(|class| class.vtick.unwrap_or(1.0 / (class.rate * f64::from(class.message_flits))))
            .collect();
        // S5: w_c = Vtick_max / Vtick_c over the real-time classes with a finite Vtick
        let paced = (0..classes.len()).filter(|&class| real_time[class] && vtick[class].is_finite());
        let vtick_max = paced.map(|class| vtick[class]).fold(0.0, f64::max);
        Self {
            topology: scenario.network(),
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
        match self.topology {
            NetworkSpec::Router { ports } => (ports as usize, 1, ports as usize),
            NetworkSpec::Hypercube { dimension } => (1 << dimension, 1 << dimension, dimension as usize + 1),
        }
    }

    /// Where the channel behind an output port ends.
    pub(super) fn end_of(&self, router: usize, port: usize) -> End {
        match self.topology {
            NetworkSpec::Hypercube { dimension } if port < dimension as usize => {
                End::Input { router: router ^ (1 << port), port }
            }
            _ => End::Node,
        }
    }

    /// Where the injection channel of a node ends.
    pub(super) fn entrance_of(&self, node: usize) -> End {
        match self.topology {
            NetworkSpec::Router { .. } => End::Input { router: 0, port: node },
            NetworkSpec::Hypercube { dimension } => End::Input { router: node, port: dimension as usize },
        }
    }

    /// T5: the output port of the destination; in a cube the lowest differing dimension first, then ejection.
    pub(super) fn route(&self, router: usize, destination: u32) -> usize {
        let destination = destination as usize;
        match self.topology {
            NetworkSpec::Router { .. } => destination,
            NetworkSpec::Hypercube { dimension } => {
                let differs = |port: &usize| (router ^ destination) & (1 << port) != 0;
                (0..dimension as usize).find(differs).unwrap_or(dimension as usize)
            }
        }
    }
}
