//! `[network]`: how routers and nodes are wired.

use super::declare::*;

table! {
    /// How routers and nodes are wired.
    #[derive(Copy, Eq)]
    pub enum NetworkSpec by "topology" {
        /// One router with a node on every port; destinations are uniform over all ports.
        Router "router" {
            /// Ports of the router.
            ports: u32 ["ports"] = 16, within(2.0, 1024.0).wanted().parameter(5, Varies::Whole);
        },
        /// An n-cube with e-cube routing; destinations are uniform over the other `2^n - 1` nodes.
        Hypercube "hypercube" {
            /// Dimensions `n` of the cube.
            dimension: u32 ["dimensions"] = 16, within(1.0, 16.0).wanted().parameter(5, Varies::Whole);
        },
    }
}

impl Rules for NetworkSpec {}
