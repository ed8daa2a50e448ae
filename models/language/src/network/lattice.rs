//! Meshes and tori with dimension-order routing.

use super::{ChannelKind, Half, LinkEnd, Topology};
use crate::scenario::Radix;

/// Routers at the points of a lattice, each joined to its neighbours in every dimension.
///
/// Ports of a router: for each dimension those of the links to the next higher coordinate, then those to the next
/// lower, then those of its nodes. A link comes in at the port that leads back. Node `i` of router `r` has the number
/// `r c + i`; router `r` has the coordinates that are the digits of `r`, dimension 0 the lowest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Lattice {
    radix: Radix,
    /// `c`.
    nodes_per_router: u32,
    /// Parallel links between neighbours.
    links: u32,
    self_traffic: bool,
}

/// Where a message stands in the dimension that it crosses.
#[derive(Clone, Copy, Debug)]
struct Step {
    dimension: usize,
    /// Whether it goes to higher coordinates.
    up: bool,
    /// Whether its next channel crosses the dateline, or it has crossed it.
    wrapped: bool,
}

impl Lattice {
    fn routers(&self) -> u32 {
        self.radix.sides().iter().product()
    }

    fn nodes(&self) -> u32 {
        self.routers() * self.nodes_per_router
    }

    fn first_node_port(&self) -> u32 {
        2 * self.radix.sides().len() as u32 * self.links
    }

    fn coordinate(&self, router: u32, dimension: usize) -> u32 {
        let sides = self.radix.sides();
        let below: u32 = sides[..dimension].iter().product();
        router / below % sides[dimension]
    }

    /// The first port towards the neighbour in a step.
    fn port(&self, step: Step) -> u32 {
        (2 * step.dimension as u32 + u32::from(!step.up)) * self.links
    }

    /// Dimension and direction of a port, and which of the parallel links it is; `None` of a node's port.
    fn direction(&self, port: u32) -> Option<(usize, bool, u32)> {
        let (way, link) = (port / self.links, port % self.links);
        (port < self.first_node_port()).then_some(((way / 2) as usize, way.is_multiple_of(2), link))
    }

    fn link_end(&self, router: u32, port: u32, wraps: bool) -> LinkEnd {
        let Some((dimension, up, link)) = self.direction(port) else {
            return LinkEnd::Node(router * self.nodes_per_router + port - self.first_node_port());
        };
        let side = self.radix.sides()[dimension];
        let at = self.coordinate(router, dimension);
        let is_last = at == if up { side - 1 } else { 0 };
        if is_last && !wraps {
            return LinkEnd::Absent;
        }
        let next = if up { (at + 1) % side } else { (at + side - 1) % side };
        let below: u32 = self.radix.sides()[..dimension].iter().product();
        let back = Step { dimension, up: !up, wrapped: false };
        LinkEnd::Input { router: router - at * below + next * below, port: self.port(back) + link }
    }

    /// The output port of `router`, given what the lowest dimension left to cross asks for.
    fn route(&self, router: u32, destination: u32, step: Option<Step>) -> u32 {
        debug_assert!(step.is_some() || router == destination / self.nodes_per_router);
        step.map_or(self.first_node_port() + destination % self.nodes_per_router, |step| self.port(step))
    }

    fn entry(&self, node: u32) -> (u32, u32) {
        (node / self.nodes_per_router, self.first_node_port() + node % self.nodes_per_router)
    }

    fn kind(&self, port: u32) -> ChannelKind {
        match self.direction(port) {
            Some((dimension, ..)) => ChannelKind::Network { dimension: dimension as u8 },
            None => ChannelKind::Ejection,
        }
    }

    /// The lowest dimension in which the routers of two nodes differ.
    fn differing(&self, router: u32, destination: u32) -> Option<usize> {
        let last = destination / self.nodes_per_router;
        let differs =
            |dimension: &usize| self.coordinate(router, *dimension) != self.coordinate(last, *dimension);
        (0..self.radix.sides().len()).find(differs)
    }

    /// Channels crossed, by the distance in a dimension of that many routers.
    fn hops(&self, source: u32, destination: u32, distance: impl Fn(u32, u32, u32) -> u32) -> u32 {
        let (from, to) = (source / self.nodes_per_router, destination / self.nodes_per_router);
        let sides = self.radix.sides().iter().enumerate();
        sides.map(|(d, side)| distance(self.coordinate(from, d), self.coordinate(to, d), *side)).sum()
    }

    /// Channels crossed on average: all destinations alike, but the sender where it sends nothing to itself.
    fn mean_hops(&self, self_traffic: bool, distance: impl Fn(u32, u32, u32) -> u32) -> f64 {
        let of_side = |side: &u32| {
            let pairs = (0..*side).flat_map(|from| (0..*side).map(move |to| (from, to)));
            let total: u64 = pairs.map(|(from, to)| u64::from(distance(from, to, *side))).sum();
            total as f64 / f64::from(side * side)
        };
        let all: f64 = self.radix.sides().iter().map(of_side).sum();
        let nodes = f64::from(self.nodes());
        if self_traffic { all } else { all * nodes / (nodes - 1.0) }
    }

    fn sides(&self) -> String {
        let sides: Vec<String> = self.radix.sides().iter().map(u32::to_string).collect();
        sides.join("x")
    }

    fn name(&self, of: &str) -> String {
        let links = if self.links > 1 { format!(", {} links each way", self.links) } else { String::new() };
        let nodes = match self.nodes_per_router {
            1 => format!("{} nodes", self.nodes()),
            each => format!("{} nodes, {each} per router", self.nodes()),
        };
        format!("{} {of} of {nodes}{links}", self.sides())
    }

    fn router_address(&self, router: u32) -> String {
        let digits =
            (0..self.radix.sides().len()).map(|dimension| self.coordinate(router, dimension).to_string());
        format!("({})", digits.collect::<Vec<_>>().join(","))
    }

    fn address(&self, node: u32) -> String {
        let router = self.router_address(node / self.nodes_per_router);
        match self.nodes_per_router {
            1 => router,
            each => format!("{router}.{}", node % each),
        }
    }

    fn port_name(&self, port: u32) -> String {
        let Some((_, up, link)) = self.direction(port) else { return self.kind(port).to_string() };
        let way = if up { "up" } else { "down" };
        let link = if self.links > 1 { format!(" link {link}") } else { String::new() };
        format!("{} {way}{link}", self.kind(port))
    }
}

/// Declares a topology of routers on a lattice.
macro_rules! on_lattice {
    ($(#[doc = $about:literal])+ $Name:ident, $word:literal, $wraps:literal) => {
        $(#[doc = $about])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $Name(Lattice);

        impl $Name {
            /// Of routers on a lattice with so many nodes each, neighbours joined by so many links each way. Nodes may
            /// send to themselves if that is said, else where a router has several.
            pub fn new(radix: Radix, nodes_per_router: u32, links: u32, self_traffic: Option<bool>) -> Self {
                let self_traffic = self_traffic.unwrap_or(nodes_per_router > 1);
                Self(Lattice { radix, nodes_per_router, links, self_traffic })
            }
        }

        impl Topology for $Name {
            fn nodes(&self) -> u32 {
                self.0.nodes()
            }

            fn sides(&self) -> Vec<u32> {
                self.0.radix.sides().to_vec()
            }

            fn is_dimension_ordered(&self) -> bool {
                true
            }

            fn routers(&self) -> u32 {
                self.0.routers()
            }

            fn ports(&self) -> u32 {
                self.0.first_node_port() + self.0.nodes_per_router
            }

            fn self_traffic(&self) -> bool {
                self.0.self_traffic
            }

            fn most_hops(&self) -> u32 {
                self.0.radix.sides().iter().map(|side| Self::longest(*side)).sum()
            }

            fn mean_hops(&self) -> f64 {
                self.0.mean_hops(self.self_traffic(), Self::distance)
            }

            fn hops(&self, source: u32, destination: u32) -> u32 {
                self.0.hops(source, destination, Self::distance)
            }

            fn route(&self, router: u32, source: u32, destination: u32, _: u32) -> u32 {
                self.0.route(router, destination, self.step(router, source, destination))
            }

            fn has_rings(&self) -> bool {
                $wraps
            }

            fn half(&self, router: u32, source: u32, destination: u32) -> Half {
                let wrapped = self.step(router, source, destination).is_some_and(|step| step.wrapped);
                if wrapped { Half::Upper } else { Half::Lower }
            }

            fn route_and_half(&self, router: u32, source: u32, destination: u32, _: u32) -> (u32, Half) {
                let step = self.step(router, source, destination);
                let is_upper = step.is_some_and(|step| step.wrapped);
                (self.0.route(router, destination, step), if is_upper { Half::Upper } else { Half::Lower })
            }

            fn router_address(&self, router: u32) -> String {
                self.0.router_address(router)
            }

            fn parallel_links(&self) -> u32 {
                self.0.links
            }

            fn entry(&self, node: u32) -> (u32, u32) {
                self.0.entry(node)
            }

            fn link_end(&self, router: u32, port: u32) -> LinkEnd {
                self.0.link_end(router, port, $wraps)
            }

            fn kind(&self, _: u32, port: u32) -> ChannelKind {
                self.0.kind(port)
            }

            fn size(&self) -> (u32, &'static str) {
                (self.nodes(), "nodes")
            }

            fn name(&self) -> String {
                self.0.name($word)
            }

            fn short_name(&self) -> String {
                format!("{} {}", self.0.sides(), $word)
            }

            fn description(&self) -> String {
                format!("a {}", self.name())
            }

            fn address(&self, node: u32) -> String {
                self.0.address(node)
            }

            fn port_name(&self, _: u32, port: u32) -> String {
                self.0.port_name(port)
            }

            fn shared_links(&self) -> &'static str {
                "network and ejection links"
            }
        }
    };
}

on_lattice! {
    /// Neighbours on lines: a message goes straight to its destination, the lowest dimension first.
    Mesh, "mesh", false
}

on_lattice! {
    /// Neighbours on rings: a message goes the shorter way round, the lowest dimension first; half round it goes up
    /// from even coordinates and down from odd ones.
    Torus, "torus", true
}

impl Mesh {
    fn longest(side: u32) -> u32 {
        side.saturating_sub(1)
    }

    fn distance(from: u32, to: u32, _: u32) -> u32 {
        from.abs_diff(to)
    }

    fn step(&self, router: u32, _: u32, destination: u32) -> Option<Step> {
        let dimension = self.0.differing(router, destination)?;
        let last = destination / self.0.nodes_per_router;
        let up = self.0.coordinate(last, dimension) > self.0.coordinate(router, dimension);
        Some(Step { dimension, up, wrapped: false })
    }
}

impl Torus {
    fn longest(side: u32) -> u32 {
        side / 2
    }

    fn distance(from: u32, to: u32, side: u32) -> u32 {
        let apart = from.abs_diff(to);
        apart.min(side - apart)
    }

    /// The dateline lies between the last coordinate and 0.
    fn step(&self, router: u32, source: u32, destination: u32) -> Option<Step> {
        let dimension = self.0.differing(router, destination)?;
        let lattice = &self.0;
        let side = lattice.radix.sides()[dimension];
        let coordinate = |node: u32| lattice.coordinate(node / lattice.nodes_per_router, dimension);
        let (from, to) = (coordinate(source), coordinate(destination));
        let at = lattice.coordinate(router, dimension);
        let upwards = (to + side - from) % side;
        let up = if 2 * upwards == side { from.is_multiple_of(2) } else { 2 * upwards < side };
        // it is past the dateline, or its next channel crosses it
        let wrapped = if up { at < from || at == side - 1 } else { at > from || at == 0 };
        Some(Step { dimension, up, wrapped })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::Hypercube;
    use crate::scenario::NetworkSpec;

    fn networks() -> Vec<Box<dyn Topology>> {
        let mut networks: Vec<Box<dyn Topology>> = Vec::new();
        for sides in [vec![2], vec![3, 2], vec![4, 4], vec![5, 3, 2], vec![2, 2, 2, 2]] {
            let radix = Radix::of(&sides).unwrap();
            networks.push(Box::new(Mesh::new(radix, 1, 1, None)));
            networks.push(Box::new(Mesh::new(radix, 3, 2, None)));
            networks.push(Box::new(Mesh::new(radix, 1, 1, Some(true))));
        }
        for sides in [vec![3], vec![4], vec![5, 4], vec![8, 3], vec![3, 4, 5]] {
            let radix = Radix::of(&sides).unwrap();
            networks.push(Box::new(Torus::new(radix, 1, 1, None)));
            networks.push(Box::new(Torus::new(radix, 2, 3, None)));
            networks.push(Box::new(Torus::new(radix, 2, 3, Some(false))));
        }
        for self_traffic in [false, true] {
            networks.push(Box::new(Hypercube { dimension: 3, self_traffic }));
        }
        networks
    }

    /// Routers and ports that a message leaves them by.
    fn way(network: &dyn Topology, source: u32, destination: u32) -> Vec<(u32, u32)> {
        network.path(source, destination, 0).map(|hop| (hop.router, hop.port)).collect()
    }

    #[test]
    fn routes_end_at_the_destination_after_the_hops_that_are_stated() {
        for network in networks() {
            let (mut all, mut longest, mut ways) = (0, 0, 0);
            for source in 0..network.nodes() {
                for destination in 0..network.nodes() {
                    let hops = way(network.as_ref(), source, destination).len() as u32 - 1;
                    assert_eq!(hops, network.hops(source, destination), "{}", network.name());
                    if source != destination || network.self_traffic() {
                        (all, ways) = (all + hops, ways + 1);
                    }
                    longest = longest.max(hops);
                }
            }
            assert_eq!(longest, network.most_hops());
            assert!(
                (f64::from(all) / f64::from(ways) - network.mean_hops()).abs() < 1e-12,
                "{}",
                network.name()
            );
        }
    }

    #[test]
    fn links_lead_back_and_no_two_end_at_one_port() {
        for network in networks() {
            let mut ends = std::collections::BTreeSet::new();
            for (router, port) in
                (0..network.routers()).flat_map(|r| (0..network.ports()).map(move |p| (r, p)))
            {
                if let LinkEnd::Input { router: next, port: entered } = network.link_end(router, port) {
                    assert!(ends.insert((next, entered)));
                    assert_eq!(network.link_end(next, entered), LinkEnd::Input { router, port });
                }
            }
            for node in 0..network.nodes() {
                let (router, port) = network.entry(node);
                assert!(ends.insert((router, port)));
                assert_eq!(network.link_end(router, port), LinkEnd::Node(node));
            }
        }
    }

    #[test]
    fn channels_are_counted_by_kind() {
        let of = |network: NetworkSpec| {
            let network = network.topology();
            let kinds =
                [ChannelKind::Injection, ChannelKind::Network { dimension: 1 }, ChannelKind::Ejection];
            kinds.map(|kind| network.channels(kind))
        };
        let (radix, dimensions) = (Radix::of(&[4, 3]).unwrap(), None);
        let mesh = |nodes_per_router, links| NetworkSpec::Mesh {
            radix,
            dimensions,
            nodes_per_router,
            links,
            self_traffic: None,
        };
        assert_eq!(of(mesh(1, 1)), [12, 16, 12]);
        assert_eq!(of(mesh(2, 3)), [24, 48, 24]);
        assert_eq!(
            of(NetworkSpec::Torus { radix, dimensions, nodes_per_router: 1, links: 1, self_traffic: None }),
            [12, 24, 12]
        );
        assert_eq!(of(NetworkSpec::Hypercube { dimension: 3, self_traffic: None }), [8; 3]);
    }

    #[test]
    fn uniform_traffic_loads_all_channels_of_a_torus_alike() {
        // of sides that are multiples of 4: else the ways half round load channels by turns
        let torus = Torus::new(Radix::of(&[4, 8]).unwrap(), 1, 1, None);
        let mut load = std::collections::BTreeMap::new();
        for (source, destination) in (0..32).flat_map(|s| (0..32).map(move |d| (s, d))) {
            for place in way(&torus, source, destination) {
                *load.entry(place).or_insert(0) += 1;
            }
        }
        // k / 8 per message and node: a message crosses k / 4 of the 2 channels of a dimension
        let wanted = |port: u32| 32 * [4, 4, 8, 8, 8][port as usize] / 8;
        assert!(load.iter().all(|((_, port), count)| *count == wanted(*port)), "{load:?}");
    }

    /// No channel waits for itself over others: with halves before and behind the dateline their order is one.
    #[test]
    fn waiting_for_channels_of_a_torus_forms_no_circle() {
        for sides in [vec![3], vec![4], vec![8], vec![5, 4], vec![3, 3, 4]] {
            let torus = Torus::new(Radix::of(&sides).unwrap(), 1, 1, None);
            let mut waits = std::collections::BTreeMap::<_, std::collections::BTreeSet<_>>::new();
            for (source, destination) in
                (0..torus.nodes()).flat_map(|s| (0..torus.nodes()).map(move |d| (s, d)))
            {
                let way = way(&torus, source, destination);
                let half = |router: u32| torus.half(router, source, destination) == Half::Upper;
                let channels: Vec<_> =
                    way.iter().map(|&(router, port)| (router, port, half(router))).collect();
                for pair in channels.windows(2) {
                    waits.entry(pair[0]).or_default().insert(pair[1]);
                }
            }
            // channels that wait for none are taken away until none is left
            while !waits.is_empty() {
                let waiting: std::collections::BTreeSet<_> = waits.keys().copied().collect();
                let before = waits.len();
                waits.retain(|_, next| next.iter().any(|channel| waiting.contains(channel)));
                assert!(waits.len() < before, "a circle in {}", torus.name());
            }
        }
    }

    #[test]
    fn a_mesh_of_radix_2_routes_as_the_hypercube() {
        let (mesh, cube) = (
            Mesh::new(Radix::of(&[2; 4]).unwrap(), 1, 1, None),
            Hypercube { dimension: 4, self_traffic: false },
        );
        for (source, destination) in (0..16).flat_map(|s| (0..16).map(move |d| (s, d))) {
            let routers = |network: &dyn Topology| {
                way(network, source, destination).into_iter().map(|(router, _)| router).collect::<Vec<_>>()
            };
            assert_eq!(routers(&mesh), routers(&cube));
        }
    }
}
