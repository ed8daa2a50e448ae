//! Where messages go.

use super::random::{Random, below};

/// Uniform over all nodes, the sender included or not.
#[derive(Clone, Copy, Debug)]
pub(super) struct Destinations {
    pub(super) nodes: u32,
    pub(super) self_traffic: bool,
}

impl Destinations {
    #[inline]
    pub(super) fn draw(self, random: &mut Random, source: u32) -> u32 {
        let among = if self.self_traffic { self.nodes } else { self.nodes - 1 };
        let drawn = below(random, among);
        if !self.self_traffic && drawn >= source { drawn + 1 } else { drawn }
    }
}
