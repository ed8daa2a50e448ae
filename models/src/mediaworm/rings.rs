//! Halves of virtual channels on the rings of a torus: how many messages of a channel are behind the dateline.

use std::collections::HashMap;

use crate::paths::Link;
use flitwise_language::network::{Half, Network};

/// Messages on channels of the rings of a torus if every router of a ring sends to every other one alike: all, and
/// those in the upper half, by output port and coordinate.
pub(super) struct Rings(HashMap<(u32, u32), (u32, u32)>);

impl Rings {
    /// Of a network; empty if it has none.
    pub(super) fn of(network: &Network) -> Self {
        let (mut found, mut stride) = (HashMap::new(), 1);
        let sides = if network.has_rings() { network.sides() } else { Vec::new() };
        let nodes_per_router = network.nodes() / network.routers();
        for side in sides {
            for pair in 0..side * side {
                let [source, destination] =
                    [pair % side, pair / side].map(|at| at * stride * nodes_per_router);
                let mut router = source / nodes_per_router;
                while router * nodes_per_router != destination {
                    let (port, half) = network.route_and_half(router, source, destination, 0);
                    let (all, upper) = found.entry((port, router / stride % side)).or_insert((0, 0));
                    (*all, *upper) = (*all + 1, *upper + u32::from(half == Half::Upper));
                    let Some((next, _)) = network.link_end(router, port).input() else { break };
                    router = next;
                }
            }
            stride *= side;
        }
        Self(found)
    }

    /// Share of the messages of a link in the half of the virtual channels that has most of them.
    pub(super) fn half(&self, network: &Network, link: &Link) -> Option<f64> {
        let mut coordinates = Vec::new();
        let mut rest = link.router;
        for side in network.sides() {
            coordinates.push(rest % side);
            rest /= side;
        }
        let of_port = |at: &u32| self.0.get(&(link.port, *at));
        let dimension = (link.port / (2 * network.parallel_links())) as usize;
        let (all, upper) = coordinates.get(dimension).and_then(of_port)?;
        let upper = f64::from(*upper) / f64::from(*all);
        Some(upper.max(1.0 - upper))
    }
}
