//! One router with a node on every port.

use super::{ChannelKind, LinkEnd, Topology};

/// One router with a node on every port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Single {
    /// Its ports.
    pub ports: u32,
    /// Whether a node may send to itself.
    pub self_traffic: bool,
}

impl Topology for Single {
    fn nodes(&self) -> u32 {
        self.ports
    }

    fn is_dimension_ordered(&self) -> bool {
        true
    }

    fn routers(&self) -> u32 {
        1
    }

    fn ports(&self) -> u32 {
        self.ports
    }

    fn self_traffic(&self) -> bool {
        self.self_traffic
    }

    fn most_hops(&self) -> u32 {
        0
    }

    fn mean_hops(&self) -> f64 {
        0.0
    }

    fn hops(&self, _: u32, _: u32) -> u32 {
        0
    }

    #[inline]
    fn route(&self, _: u32, _: u32, destination: u32, _: u32) -> u32 {
        destination
    }

    fn entry(&self, node: u32) -> (u32, u32) {
        (0, node)
    }

    fn link_end(&self, _: u32, port: u32) -> LinkEnd {
        LinkEnd::Node(port)
    }

    fn kind(&self, _: u32, _: u32) -> ChannelKind {
        ChannelKind::Ejection
    }

    fn size(&self) -> (u32, &'static str) {
        (self.ports, "ports")
    }

    fn name(&self) -> String {
        format!("router of {} ports", self.ports)
    }

    fn short_name(&self) -> String {
        format!("{} ports", self.ports)
    }

    fn description(&self) -> String {
        format!("one router of {} ports", self.ports)
    }

    fn address(&self, node: u32) -> String {
        node.to_string()
    }

    fn shared_links(&self) -> &'static str {
        "output links"
    }
}
