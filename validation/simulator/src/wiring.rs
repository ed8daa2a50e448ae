//! Topology and routing: which channel leads where.

pub use flitwise_language::network::ChannelKind;
use flitwise_language::network::{Candidates, Half, LinkEnd, LinkTime, Network};
use flitwise_language::scenario::{NetworkSpec, Scenario};

use crate::control::stations::Stations;

/// Channels, numbered: first the output links of all routers (`router * ports + port`), then one injection
/// link per node, and behind those one per management station where there are any.
#[derive(Clone, Debug)]
pub(crate) struct Wiring {
    network: Network,
    stations: Option<Stations>,
    nodes: u32,
    /// Of a router, that of its station included.
    ports: u32,
    /// The most parallel links from a router to another.
    parallel_links: u32,
    /// By output link: the parallel ones from it on; empty where no router chooses among links.
    parallel: Vec<u8>,
    /// Number of the first injection link.
    first_injection: u32,
    /// By link: where it ends.
    ends: Vec<End>,
    /// By link: its delay and capacity; empty where all have the usual ones.
    times: Vec<LinkTime>,
}

/// Where a link ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// At an input port of a router.
    Input { router: u32, port: u8 },
    /// At a node.
    Node,
}

/// A link and direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Channel {
    /// What it is for.
    pub kind: ChannelKind,
    /// The node where it starts or ends; of a network channel the router where it starts.
    pub node: u32,
    /// The port of the router that it leaves; of an injection channel the one that it enters.
    pub port: u32,
}

impl Wiring {
    /// Of a network; injection links are numbered from the first multiple of `alignment` that is free.
    pub(crate) fn new(network: &NetworkSpec, alignment: u32) -> Self {
        let network = network.topology();
        let (nodes, routers, ports) = (network.nodes(), network.routers(), network.ports());
        let first_injection = (routers * ports).next_multiple_of(alignment);
        let mut ends = vec![End::Node; (first_injection + nodes) as usize];
        let mut join = |link: u32, router: u32, port: u32| {
            ends[link as usize] = End::Input { router, port: port as u8 };
        };
        for router in 0..routers {
            for port in 0..ports {
                if let LinkEnd::Input { router: next, port: entered } = network.link_end(router, port) {
                    join(router * ports + port, next, entered);
                }
            }
        }
        for node in 0..nodes {
            let (router, port) = network.entry(node);
            join(first_injection + node, router, port);
        }
        let mut times = vec![LinkTime::USUAL; if network.link_times().is_empty() { 0 } else { ends.len() }];
        if !times.is_empty() {
            for link in 0..routers * ports {
                times[link as usize] = network.link_time(link / ports, link % ports);
            }
            for node in 0..nodes {
                let (router, port) = network.entry(node);
                times[(first_injection + node) as usize] = network.link_time(router, port);
            }
        }
        let (parallel_links, stations) = (network.parallel_links(), None);
        let outputs = (0..if parallel_links > 1 { routers } else { 0 })
            .flat_map(|router| (0..ports).map(move |port| (router, port)));
        let parallel = outputs.map(|(router, port)| network.parallel(router, port) as u8).collect();
        Self { network, stations, nodes, ports, parallel_links, parallel, first_injection, ends, times }
    }

    /// Of a scenario, with management stations where signals are messages.
    pub(crate) fn of(scenario: &Scenario) -> Self {
        let plain = Self::new(scenario.network(), 1);
        match Stations::new(scenario) {
            Some(stations) => plain.with(stations),
            None => plain,
        }
    }

    /// The same with a station behind a last port of every router.
    fn with(self, stations: Stations) -> Self {
        let (routers, before) = (self.routers(), self.ports);
        let ports = before + 1;
        let of_router = |router: u32| {
            let links = (router * before..(router + 1) * before).map(|link| self.ends[link as usize]);
            links.chain([End::Node])
        };
        let injection = &self.ends[self.first_injection as usize..];
        let behind = (0..routers).map(|router| End::Input { router, port: before as u8 });
        let ends = (0..routers).flat_map(of_router).chain(injection.iter().copied()).chain(behind);
        let ends = ends.collect();
        let of_router = self.parallel.chunks(before as usize);
        let parallel = of_router.flat_map(|links| links.iter().copied().chain([1])).collect();
        Self { parallel, stations: Some(stations), ports, first_injection: routers * ports, ends, ..self }
    }

    /// Management stations, if there are any.
    pub(crate) fn stations(&self) -> Option<&Stations> {
        self.stations.as_ref()
    }

    pub(crate) fn nodes(&self) -> u32 {
        self.nodes
    }

    pub(crate) fn routers(&self) -> u32 {
        self.network.routers()
    }

    /// Ports of a router.
    pub(crate) fn ports(&self) -> u32 {
        self.ports
    }

    /// Links, numbers that stand for none included.
    pub(crate) fn links(&self) -> u32 {
        self.ends.len() as u32
    }

    /// Number of the first injection link; that of node 0.
    pub(crate) fn first_injection(&self) -> u32 {
        self.first_injection
    }

    pub(crate) fn end(&self, link: u32) -> End {
        self.ends[link as usize]
    }

    /// Whether links have other times than the usual ones.
    pub(crate) fn has_times(&self) -> bool {
        !self.times.is_empty()
    }

    /// What a link takes on top of the usual cycle, and its capacity \[cycles\].
    pub(crate) fn time(&self, link: u32) -> LinkTime {
        self.times.get(link as usize).copied().unwrap_or(LinkTime::USUAL)
    }

    /// Whether a link leads into a router.
    pub(crate) fn is_into_router(&self, link: u32) -> bool {
        self.end(link) != End::Node
    }

    /// Router and port of the input lanes of a link.
    #[inline]
    pub(crate) fn input(&self, link: u32) -> (u32, u32) {
        match self.end(link) {
            End::Input { router, port } => (router, u32::from(port)),
            End::Node => unreachable!("a message went on from a node"),
        }
    }

    /// The most parallel links from a router to another.
    #[inline]
    pub(crate) fn parallel_links(&self) -> u32 {
        self.parallel_links
    }

    /// Parallel links from an output link on, of which a router chooses; 1 to a node.
    #[inline]
    pub(crate) fn parallel(&self, link: u32) -> u32 {
        self.parallel.get(link as usize).map_or(1, |links| u32::from(*links))
    }

    /// The output link of `router` on a way from one node to another; the first of parallel ones.
    pub(crate) fn route(&self, router: u32, source: u32, destination: u32, way: u32) -> u32 {
        let port = match &self.stations {
            None => self.network.route(router, source, destination, way),
            Some(stations) => stations.route(router, source, destination),
        };
        router * self.ports + port
    }

    /// Which half of its virtual channels a message takes behind `router`.
    pub(crate) fn half(&self, router: u32, source: u32, destination: u32) -> Half {
        match &self.stations {
            None => self.network.half(router, source, destination),
            Some(stations) => stations.half(router, source, destination),
        }
    }

    /// Whether routers choose among links by their backlog.
    pub(crate) fn is_adaptive(&self) -> bool {
        self.network.is_adaptive()
    }

    /// Where a router chooses: the first of its links that a message may take, how many, and which of equal ones.
    pub(crate) fn candidates(&self, router: u32, source: u32, destination: u32) -> Option<Candidates> {
        let found = self.network.candidates(router, source, destination)?;
        let link = |port: u32| router * self.ports + port;
        Some(Candidates { first: link(found.first), preferred: link(found.preferred), ..found })
    }

    /// [`Self::route`] and [`Self::half`] in one go, where there are no stations.
    #[inline]
    pub(crate) fn route_and_half(&self, router: u32, source: u32, destination: u32, way: u32) -> (u32, Half) {
        debug_assert!(self.stations.is_none(), "stations have routes of their own");
        let (port, half) = self.network.route_and_half(router, source, destination, way);
        (router * self.ports + port, half)
    }

    /// Network channels from node to node, or between stations.
    pub(crate) fn hops(&self, source: u32, destination: u32) -> u32 {
        let at = |place: u32| self.stations.as_ref().map_or(place, |stations| stations.node(place));
        self.network.hops(at(source), at(destination))
    }

    /// What a link is; `None` for a number that stands for no link, or for that of a station.
    pub(crate) fn channel(&self, link: u32) -> Option<Channel> {
        if link >= self.first_injection {
            let (kind, node) = (ChannelKind::Injection, link - self.first_injection);
            return (node < self.nodes).then(|| Channel { kind, node, port: self.input(link).1 });
        }
        if link >= self.routers() * self.ports {
            return None;
        }
        let (router, port) = (link / self.ports, link % self.ports);
        if port >= self.network.ports() {
            return None;
        }
        let node = match self.network.link_end(router, port) {
            LinkEnd::Node(node) => node,
            LinkEnd::Input { .. } => router,
            LinkEnd::Absent => return None,
        };
        Some(Channel { kind: self.network.kind(router, port), node, port })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn e_cube_routes_take_the_lowest_differing_dimension_and_end_at_the_destination() {
        for dimension in 1..=6 {
            let wiring = Wiring::new(&NetworkSpec::Hypercube { dimension, self_traffic: None }, 16);
            for source in 0..wiring.nodes() {
                for destination in 0..wiring.nodes() {
                    let (mut at, mut crossed, mut last) = (source, 0, None);
                    loop {
                        let link = wiring.route(at, source, destination, 0);
                        let kind = wiring.channel(link).map(|channel| channel.kind);
                        match (kind, wiring.end(link)) {
                            (Some(ChannelKind::Network { dimension }), End::Input { router, port }) => {
                                assert!(last < Some(port) && dimension == port);
                                last = Some(port);
                                at = router;
                                crossed += 1;
                            }
                            (Some(ChannelKind::Ejection), End::Node) => break,
                            other => panic!("{other:?}"),
                        }
                    }
                    assert_eq!((at, crossed), (destination, wiring.hops(source, destination)));
                }
            }
        }
    }

    #[test]
    fn every_input_port_is_fed_by_one_link() {
        for network in [
            NetworkSpec::Router { ports: 7, self_traffic: None },
            NetworkSpec::Hypercube { dimension: 3, self_traffic: None },
        ] {
            let wiring = Wiring::new(&network, 64);
            let mut fed = std::collections::BTreeSet::new();
            for link in 0..wiring.links() {
                if let End::Input { router, port } = wiring.end(link) {
                    assert!(fed.insert((router, port)));
                }
            }
            assert_eq!(fed.len() as u32, wiring.routers() * wiring.ports());
        }
    }
}
