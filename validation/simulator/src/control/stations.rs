//! Management stations, which take and send the signals of admission where these are messages (K16).

use flitwise_language::network::{Half, Network};
use flitwise_language::scenario::{ClassKind, Scenario};

use crate::message::ChannelChoice;

/// Length of a signal.
pub(crate) const SIGNAL_FLITS: u32 = 10;

/// A station at every router, behind a port of its own: the last one. A *place* is a node or a station; stations are
/// numbered behind the nodes, in the order of routers.
#[derive(Clone, Debug)]
pub(crate) struct Stations {
    network: Network,
    nodes: u32,
    /// By router: a node there, whose routes are those of the station.
    beside: Vec<u32>,
}

impl Stations {
    /// `None` where signals are no messages.
    pub(crate) fn new(scenario: &Scenario) -> Option<Self> {
        if !scenario.has_signals_in_band() {
            return None;
        }
        let network = scenario.topology();
        let mut beside = vec![0; network.routers() as usize];
        (0..network.nodes()).for_each(|node| beside[network.entry(node).0 as usize] = node);
        Some(Self { nodes: network.nodes(), network, beside })
    }

    /// The station of a router.
    pub(crate) fn of(&self, router: u32) -> u32 {
        self.nodes + router
    }

    /// The router of a station; `None` of a node.
    pub(crate) fn router(&self, place: u32) -> Option<u32> {
        place.checked_sub(self.nodes)
    }

    /// The node itself, or one beside the station.
    pub(crate) fn node(&self, place: u32) -> u32 {
        self.router(place).map_or(place, |router| self.beside[router as usize])
    }

    /// The output port of `router` on the way from one place to another.
    pub(crate) fn route(&self, router: u32, source: u32, destination: u32) -> u32 {
        if self.router(destination) == Some(router) {
            return self.network.ports();
        }
        self.network.route(router, self.node(source), self.node(destination), 0)
    }

    /// Which half of its virtual channels a message takes behind `router`.
    pub(crate) fn half(&self, router: u32, source: u32, destination: u32) -> Half {
        self.network.half(router, self.node(source), self.node(destination))
    }

    /// The places at which an answer of a router stops on its way to a node, the last one first: the node, then the
    /// stations of the routers before it.
    pub(crate) fn way_back(&self, router: u32, node: u32) -> Vec<u32> {
        let path = self.network.path(self.beside[router as usize], node, 0);
        let mut stops: Vec<u32> = path.skip(1).map(|hop| self.of(hop.router)).collect();
        stops.push(node);
        stops.reverse();
        stops
    }
}

/// The class whose last lane signals take: the last one of control.
pub(crate) fn control_class(scenario: &Scenario) -> usize {
    let class = scenario.classes().iter().rposition(|class| class.kind == ClassKind::Control);
    class.expect("signals are messages where there is control")
}

/// The lane of signals.
pub(crate) fn lane(scenario: &Scenario) -> ChannelChoice {
    let last = (scenario.virtual_channels()[control_class(scenario)].end - 1) as u8;
    ChannelChoice { injection: last, network: last, ejection: last }
}
