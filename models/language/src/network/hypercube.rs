//! The n-cube with e-cube routing.

use super::{ChannelKind, LinkEnd, Topology};

/// `2^n` routers with a node each; two are joined if their addresses differ in one bit. A message crosses the
/// dimensions in which source and destination differ, the lowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hypercube {
    /// `n`.
    pub dimension: u32,
    /// Whether a node may send to itself.
    pub self_traffic: bool,
}

impl Topology for Hypercube {
    fn nodes(&self) -> u32 {
        1 << self.dimension
    }

    fn sides(&self) -> Vec<u32> {
        vec![2; self.dimension as usize]
    }

    fn is_dimension_ordered(&self) -> bool {
        true
    }

    fn routers(&self) -> u32 {
        self.nodes()
    }

    fn ports(&self) -> u32 {
        self.dimension + 1
    }

    fn self_traffic(&self) -> bool {
        self.self_traffic
    }

    fn most_hops(&self) -> u32 {
        self.dimension
    }

    fn mean_hops(&self) -> f64 {
        // h̄ = n 2^(n-1) / (2^n - 1), of all nodes n / 2
        let nodes = f64::from(self.nodes());
        let others = if self.self_traffic { nodes } else { nodes - 1.0 };
        f64::from(self.dimension) * nodes / 2.0 / others
    }

    #[inline]
    fn hops(&self, source: u32, destination: u32) -> u32 {
        (source ^ destination).count_ones()
    }

    #[inline]
    fn route(&self, router: u32, _: u32, destination: u32, _: u32) -> u32 {
        (router ^ destination).trailing_zeros().min(self.dimension)
    }

    fn entry(&self, node: u32) -> (u32, u32) {
        (node, self.dimension)
    }

    fn link_end(&self, router: u32, port: u32) -> LinkEnd {
        if port == self.dimension {
            LinkEnd::Node(router)
        } else {
            LinkEnd::Input { router: router ^ (1 << port), port }
        }
    }

    fn kind(&self, _: u32, port: u32) -> ChannelKind {
        if port == self.dimension {
            ChannelKind::Ejection
        } else {
            ChannelKind::Network { dimension: port as u8 }
        }
    }

    fn size(&self) -> (u32, &'static str) {
        (self.dimension, "dimension")
    }

    fn name(&self) -> String {
        format!("{} of {} nodes", self.short_name(), self.nodes())
    }

    fn short_name(&self) -> String {
        format!("{}-cube", self.dimension)
    }

    fn description(&self) -> String {
        format!("a hypercube of n = {} dimensions, N = {} nodes", self.dimension, self.nodes())
    }

    fn address(&self, node: u32) -> String {
        format!("{node:0width$b}", width = self.dimension as usize)
    }

    fn shared_links(&self) -> &'static str {
        "network and ejection links"
    }
}
