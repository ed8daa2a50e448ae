//! Uniform destinations under dimension-order routing: the dimensions part. A topology declares it by
//! [`is_dimension_ordered`](Topology::is_dimension_ordered); tests compare it with all paths.
//!
//! A path crosses the lowest dimension first, so that on a channel of dimension `d` the coordinates below `d` are those
//! of the destination, and the ones above `d` those of the source. With uniform sources and destinations each of them
//! is uniform, and only pairs of coordinates in `d` are left to look at, of the `k_d^2` on its lines:
//!
//! ```text
//! messages on a link per message of a node = c / (f k_d) Σ_(x, y) [the link is on the line from x to y]
//! ```
//!
//! with `c` nodes per router and `f` parallel links; times `N / (N - 1)` where nobody sends to itself.

use std::collections::BTreeMap;

use super::Rates;
use flitwise_language::network::{ChannelKind, Hop, Topology};

/// Links of routers that are alike by symmetry.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Place {
    /// One of the routers, and its port.
    pub(super) router: u32,
    pub(super) port: u32,
    /// Links at the same place of other lines.
    pub(super) links: u64,
    /// Messages on each of them per message that each node generates.
    pub(super) messages: f64,
}

/// Coordinates of a dimension in the numbers of routers: routers between two neighbours, and the side.
fn stride_and_side(sides: &[u32], dimension: usize) -> (u32, u32) {
    (sides[..dimension].iter().product(), sides[dimension])
}

/// Links that lines from a coordinate cross, by port and coordinate, and how many of the lines do.
fn crossed(network: &dyn Topology, dimension: usize, from: u32) -> Vec<(u32, u32, f64)> {
    let (stride, side) = stride_and_side(&network.sides(), dimension);
    let (each, links) = (network.nodes() / network.routers(), network.parallel_links());
    let mut lines = vec![0.0; (network.ports() * side) as usize];
    for to in 0..side {
        let line = network.path(from * stride * each, to * stride * each, 0);
        for Hop { router, port, .. } in line.filter(Hop::is_between_routers) {
            (port..port + links).for_each(|port| lines[(port * side + router / stride) as usize] += 1.0);
        }
    }
    let crossed = lines.into_iter().zip(0..).filter(|(lines, _)| *lines > 0.0);
    crossed.map(|(lines, at)| (at / side, at % side, lines)).collect()
}

/// Uniform destinations of one sender at a time.
pub(super) struct Spread<'n> {
    network: &'n dyn Topology,
    sides: Vec<u32>,
    /// By dimension: links on the lines from a coordinate, by port, with the destinations of the line behind each.
    lines: Vec<Vec<Vec<(u32, u32, f64)>>>,
}

impl<'n> Spread<'n> {
    /// None where the topology does not declare that its dimensions part.
    pub(super) fn new(network: &'n dyn Topology) -> Option<Self> {
        if !network.is_dimension_ordered() {
            return None;
        }
        let sides = network.sides();
        let lines = (0..sides.len()).map(|dimension| {
            let side = sides[dimension];
            (0..side).map(|from| crossed(network, dimension, from)).collect()
        });
        Some(Self { network, lines: lines.collect(), sides })
    }

    /// What a node sends to one other node, if a share of its messages goes to all alike; and the nodes of a router.
    fn shares(&self, share: f64) -> (f64, f64) {
        let (network, nodes) = (self.network, self.network.nodes());
        let others = if network.self_traffic() { nodes } else { nodes - 1 };
        (share / f64::from(others), f64::from(nodes / network.routers()))
    }

    /// Adds a share of the messages of all nodes, which go to all nodes alike.
    pub(super) fn add_all(&self, rates: &mut Rates, share: f64) {
        let (network, (one, each)) = (self.network, self.shares(share));
        let (nodes, routers) = (network.nodes(), network.routers());
        for (dimension, lines) in self.lines.iter().enumerate() {
            let (stride, side) = stride_and_side(&self.sides, dimension);
            let behind =
                one * each * f64::from(routers / (stride * side)) / f64::from(network.parallel_links());
            for (from, (port, place, destinations)) in
                (0..).zip(lines).flat_map(|(from, lines)| lines.iter().map(move |line| (from, line)))
            {
                // of the nodes of one router; there are as many routers as the lower coordinates tell apart
                let messages = behind * destinations * each;
                for high in (0..routers).step_by((stride * side) as usize) {
                    for low in 0..stride {
                        let at = rates.place(high + place * stride + low, *port);
                        rates.add(at, messages * f64::from(stride - u32::from(from == *place)), false);
                        if from == *place {
                            rates.add(at, messages, true);
                        }
                    }
                }
            }
        }
        let itself = if network.self_traffic() { 0.0 } else { 1.0 };
        for node in 0..nodes {
            let (router, port) = network.entry(node);
            let at = rates.place(router, port);
            rates.add(at, one * (each - itself), true);
            rates.add(at, one * (f64::from(nodes) - each), false);
        }
    }

    /// Adds a share of the messages of a sender, which go to all nodes alike.
    pub(super) fn add(&self, rates: &mut Rates, sender: u32, share: f64) {
        let (network, nodes, itself) = (self.network, self.network.nodes(), self.network.self_traffic());
        let (one, each) = self.shares(share);
        let source = network.entry(sender).0;
        for (dimension, lines) in self.lines.iter().enumerate() {
            let (stride, side) = stride_and_side(&self.sides, dimension);
            // coordinates below the dimension are those of any destination, the ones above it those of the source
            let (high, from) = (source - source % (stride * side), source / stride % side);
            let behind = one * each * f64::from(network.routers() / (stride * side))
                / f64::from(network.parallel_links());
            for (port, place, destinations) in &lines[from as usize] {
                for low in 0..stride {
                    let router = high + place * stride + low;
                    rates.add(rates.place(router, *port), behind * destinations, router == source);
                }
            }
        }
        for node in (0..nodes).filter(|node| itself || *node != sender) {
            let (router, port) = network.entry(node);
            rates.add(rates.place(router, port), one, router == source);
        }
    }

    /// The links of all routers where all nodes send to all alike, one place for each coordinate on a line.
    pub(super) fn places(&self) -> Vec<Place> {
        let network = self.network;
        let (nodes, routers) = (network.nodes(), network.routers());
        let others = if network.self_traffic() { 1.0 } else { f64::from(nodes) / f64::from(nodes - 1) };
        let per_pair = others * f64::from(nodes / routers) / f64::from(network.parallel_links());
        let ejection = |port| Place { router: 0, port, links: u64::from(routers), messages: 1.0 };
        let ports = (0..network.ports()).filter(|port| network.kind(0, *port) == ChannelKind::Ejection);
        let mut places: Vec<Place> = ports.map(ejection).collect();
        for (dimension, lines) in self.lines.iter().enumerate() {
            let (stride, side) = stride_and_side(&self.sides, dimension);
            let mut pairs: BTreeMap<(u32, u32), f64> = BTreeMap::new();
            for (port, place, lines) in lines.iter().flatten() {
                *pairs.entry((*port, *place)).or_default() += lines;
            }
            places.extend(pairs.into_iter().map(|((port, place), pairs)| Place {
                router: place * stride,
                port,
                links: u64::from(routers / side),
                messages: per_pair * pairs / f64::from(side),
            }));
        }
        places
    }
}
