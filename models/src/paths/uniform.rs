//! Uniform destinations under dimension-order routing: the dimensions part.
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

use crate::network::{ChannelKind, LinkEnd, Network};

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

/// Pairs of coordinates whose path crosses a link, by port over parallel links and by coordinate.
fn pairs(network: &Network, dimension: usize) -> Vec<Vec<u32>> {
    let (stride, side) = stride_and_side(&network.sides(), dimension);
    let (each, links) = (network.nodes() / network.routers(), network.parallel_links());
    let mut pairs = vec![vec![0; side as usize]; (network.ports() / links + 1) as usize];
    for (from, to) in (0..side).flat_map(|from| (0..side).map(move |to| (from, to))) {
        let (source, destination) = (from * stride * each, to * stride * each);
        let mut at = from * stride;
        while at != to * stride {
            let port = network.route(at, source, destination);
            pairs[(port / links) as usize][(at / stride) as usize] += 1;
            let LinkEnd::Input { router, .. } = network.link_end(at, port) else { break };
            at = router;
        }
    }
    pairs
}

/// The links of all routers, one place for each coordinate on a line.
pub(super) fn places(network: &Network) -> Vec<Place> {
    let sides = network.sides();
    let (nodes, routers, links) = (network.nodes(), network.routers(), network.parallel_links());
    let others = if network.self_traffic() { 1.0 } else { f64::from(nodes) / f64::from(nodes - 1) };
    let each = f64::from(nodes / routers);
    let crossed: Vec<Vec<Vec<u32>>> = (0..sides.len()).map(|dimension| pairs(network, dimension)).collect();
    let mut places = Vec::new();
    for port in 0..network.ports() {
        let ChannelKind::Network { dimension } = network.kind(port) else {
            places.push(Place { router: 0, port, links: u64::from(routers), messages: 1.0 });
            continue;
        };
        let (stride, side) = stride_and_side(&sides, dimension.into());
        for place in (0..side).filter(|place| network.link_end(place * stride, port) != LinkEnd::Absent) {
            let pairs = crossed[usize::from(dimension)][(port / links) as usize][place as usize];
            places.push(Place {
                router: place * stride,
                port,
                links: u64::from(routers / side),
                messages: others * each * f64::from(pairs) / f64::from(side * links),
            });
        }
    }
    places
}
