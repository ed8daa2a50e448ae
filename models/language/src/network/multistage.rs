//! Stages of 8-port switches wired by the perfect 4-shuffle.
//!
//! Stage `s` has `N / 4` switches; line `l` of a side is port `l mod 4` of switch `⌊l / 4⌋`, on the left ports 0 to 3
//! and on the right ports 4 to 7. Right line `l` of a stage is wired to left line `σ(l)` of the next:
//!
//! ```text
//! σ(l) = (4 l mod N) + ⌊4 l / N⌋,  the log2 N bits of l rotated by two
//! ```

use super::{ChannelKind, LinkEnd, Topology};
use crate::scenario::Direction;

/// Ports of a side of a switch, `k`.
pub const SIDE: u32 = 4;

/// `N` hosts and `⌈log4 N⌉` stages of 8-port switches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Multistage {
    /// `N`, a power of two from 16 to 1024.
    pub hosts: u32,
    /// Which way data cross the stages.
    pub direction: Direction,
    /// Whether hosts of a unidirectional network send into the first stage through a shuffle, too.
    pub first_shuffle: bool,
}

impl Multistage {
    /// `m`: bits of the number of a host.
    fn bits(&self) -> u32 {
        self.hosts.max(2).ilog2()
    }

    /// `S`: stages of switches.
    pub fn stages(&self) -> u32 {
        self.bits().div_ceil(2)
    }

    /// Switches of a stage.
    pub fn switches(&self) -> u32 {
        (self.hosts / SIDE).max(1)
    }

    /// `σ(l)`, the left line behind a right one.
    fn shuffled(&self, line: u32) -> u32 {
        (line << 2 | line >> (self.bits() - 2)) & (self.hosts - 1)
    }

    /// `σ^-1(l)`, the right line before a left one.
    fn unshuffled(&self, line: u32) -> u32 {
        (line >> 2 | line << (self.bits() - 2)) & (self.hosts - 1)
    }

    /// The output port of a switch of the unidirectional network: the pair of the tag that belongs to its stage.
    fn forward(&self, stage: u32, destination: u32) -> u32 {
        let (bits, stages) = (self.bits(), self.stages());
        let again = destination & ((1 << (2 * stages - bits)) - 1);
        let tag = again << bits | destination;
        SIDE + (tag >> (2 * (stages - 1 - stage)) & (SIDE - 1))
    }

    /// The output port of a switch of the bidirectional network: down where the destination is below, else up.
    fn up_or_down(&self, stage: u32, switch: u32, destination: u32) -> u32 {
        // the line at stage 0 below each left port, and the bits that are not free: a switch on the way leaves any
        // left port
        let (bits, down) = (self.bits(), 2 * stage);
        let below = |line: u32| (line >> down | line << (bits - down)) & (self.hosts - 1);
        let fixed = if stage == 0 { self.hosts - 1 } else { (self.hosts - 1) >> (down - 2) & !(SIDE - 1) };
        let differs = destination ^ below(SIDE * switch);
        let ways = (0..SIDE).filter(|port| (differs ^ below(*port)) & fixed == 0);
        // there are two where the last stage of an odd number of bits joins more than it has to
        let rank = if ways.clone().count() > 1 { (destination / 2 % 2) as usize } else { 0 };
        ways.clone().nth(rank).unwrap_or_else(|| {
            let shift = if stage == 0 { 0 } else { self.bits().saturating_sub(2 * stage) };
            SIDE + (destination >> shift & (SIDE - 1))
        })
    }

    fn stage_and_switch(&self, router: u32) -> (u32, u32) {
        (router / self.switches(), router % self.switches())
    }

    /// The router and port of a line of a side.
    fn at(&self, stage: u32, line: u32, first_port: u32) -> (u32, u32) {
        (stage * self.switches() + line / SIDE, first_port + line % SIDE)
    }
}

impl Topology for Multistage {
    fn nodes(&self) -> u32 {
        self.hosts
    }

    fn routers(&self) -> u32 {
        self.stages() * self.switches()
    }

    fn ports(&self) -> u32 {
        2 * SIDE
    }

    fn self_traffic(&self) -> bool {
        false
    }

    fn most_hops(&self) -> u32 {
        match self.direction {
            Direction::Unidirectional => self.stages() - 1,
            Direction::Bidirectional => 2 * (self.stages() - 1),
        }
    }

    fn mean_hops(&self) -> f64 {
        match self.direction {
            Direction::Unidirectional => f64::from(self.stages() - 1),
            Direction::Bidirectional => {
                // hosts with the nearest common stage t: min(4^(t+1), N) - 4^t, two channels for each stage
                let within = |stage: u32| self.hosts.min(SIDE.pow(stage));
                let to = |stage: u32| f64::from((within(stage + 1) - within(stage)) * 2 * stage);
                (0..self.stages()).map(to).sum::<f64>() / f64::from(self.hosts - 1)
            }
        }
    }

    fn hops(&self, source: u32, destination: u32) -> u32 {
        match self.direction {
            Direction::Unidirectional => self.stages() - 1,
            Direction::Bidirectional => self.path(source, destination, 0).count() as u32 - 1,
        }
    }

    fn route(&self, router: u32, _: u32, destination: u32, _: u32) -> u32 {
        let (stage, switch) = self.stage_and_switch(router);
        match self.direction {
            Direction::Unidirectional => self.forward(stage, destination),
            Direction::Bidirectional => self.up_or_down(stage, switch, destination),
        }
    }

    fn may_be_switched(&self) -> bool {
        true
    }

    fn rows(&self) -> u32 {
        self.stages()
    }

    fn row(&self, router: u32) -> u32 {
        router / self.switches()
    }

    fn row_name(&self, row: u32) -> String {
        format!("stage {row}")
    }

    fn router_address(&self, router: u32) -> String {
        let (stage, switch) = self.stage_and_switch(router);
        format!("{stage}.{switch}")
    }

    fn entry(&self, node: u32) -> (u32, u32) {
        let line = if self.direction == Direction::Unidirectional && self.first_shuffle {
            self.shuffled(node)
        } else {
            node
        };
        self.at(0, line, 0)
    }

    /// Data links only: the left ports of a unidirectional network send none but credits and control packets.
    fn link_end(&self, router: u32, port: u32) -> LinkEnd {
        let (stage, switch) = self.stage_and_switch(router);
        let line = SIDE * switch + port % SIDE;
        let is_last = stage + 1 == self.stages();
        let input = |(router, port): (u32, u32)| LinkEnd::Input { router, port };
        match (self.direction, port >= SIDE) {
            (Direction::Unidirectional, true) if is_last => LinkEnd::Node(line),
            (Direction::Bidirectional, true) if is_last => LinkEnd::Absent,
            (_, true) => input(self.at(stage + 1, self.shuffled(line), 0)),
            (Direction::Unidirectional, false) => LinkEnd::Absent,
            (Direction::Bidirectional, false) if stage == 0 => LinkEnd::Node(line),
            (Direction::Bidirectional, false) => input(self.at(stage - 1, self.unshuffled(line), SIDE)),
        }
    }

    /// Up to the right and down to the left; stages count from 1, as levels of a tree.
    fn kind(&self, router: u32, port: u32) -> ChannelKind {
        let stage = (router / self.switches()) as u8;
        match self.link_end(router, port) {
            LinkEnd::Node(_) => ChannelKind::Ejection,
            _ if port >= SIDE => ChannelKind::Up { level: stage + 1 },
            _ => ChannelKind::Down { level: stage },
        }
    }

    fn size(&self) -> (u32, &'static str) {
        (self.hosts, "hosts")
    }

    fn name(&self) -> String {
        format!("{} of {} hosts", self.short_name(), self.hosts)
    }

    fn short_name(&self) -> String {
        format!("{}-stage network", self.stages())
    }

    fn description(&self) -> String {
        let way = match self.direction {
            Direction::Unidirectional => "unidirectional",
            Direction::Bidirectional => "bidirectional",
        };
        let (stages, switches) = (self.stages(), self.switches());
        format!(
            "a {way} network of S = {stages} stages of {switches} switches with 8 ports, N = {} hosts",
            self.hosts
        )
    }

    fn address(&self, node: u32) -> String {
        node.to_string()
    }

    fn port_name(&self, _: u32, port: u32) -> String {
        format!("{} port {}", if port >= SIDE { "right" } else { "left" }, port % SIDE)
    }

    fn shared_links(&self) -> &'static str {
        "links between stages and to hosts"
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// Pairs of hosts on each output link, every pair followed to its host.
    fn pairs(network: &Multistage) -> BTreeMap<(u32, u32), u32> {
        let mut on = BTreeMap::new();
        for (from, to) in (0..network.hosts).flat_map(|s| (0..network.hosts).map(move |t| (s, t))) {
            network.path(from, to, 0).for_each(|hop| *on.entry((hop.router, hop.port)).or_insert(0) += 1);
        }
        on
    }

    fn network(hosts: u32, direction: Direction, first_shuffle: bool) -> Multistage {
        Multistage { hosts, direction, first_shuffle }
    }

    #[test]
    fn every_pair_reaches_its_host_and_unidirectional_links_are_alike() {
        for (hosts, switches) in [(16, 8), (32, 24), (64, 48), (128, 128), (256, 256), (512, 640)] {
            for first_shuffle in [true, false] {
                let one = network(hosts, Direction::Unidirectional, first_shuffle);
                assert_eq!(one.routers(), switches);
                let pairs = pairs(&one);
                assert_eq!(pairs.len() as u32, one.stages() * hosts);
                assert!(
                    hosts == 16 && !first_shuffle || pairs.values().all(|on| *on == hosts),
                    "{hosts} {pairs:?}"
                );
            }
        }
    }

    #[test]
    fn links_between_two_stages_of_a_bidirectional_network_are_alike() {
        for (hosts, wanted) in [(64, vec![60, 48]), (256, vec![252, 240, 192]), (32, vec![]), (512, vec![])] {
            let two = network(hosts, Direction::Bidirectional, false);
            let mut by_stage: BTreeMap<(u32, bool), Vec<u32>> = BTreeMap::new();
            for ((router, port), on) in pairs(&two) {
                let (stage, _) = two.stage_and_switch(router);
                let between = if port >= SIDE { Some(stage) } else { stage.checked_sub(1) };
                if let Some(between) = between {
                    by_stage.entry((between, port >= SIDE)).or_default().push(on);
                }
            }
            for ((stage, up), on) in by_stage {
                assert_eq!(on.len() as u32, hosts, "{hosts} {stage} {up}");
                assert!(on.iter().all(|each| *each == on[0]), "{hosts} {stage} {up} {on:?}");
                if let Some(wanted) = wanted.get(stage as usize) {
                    assert_eq!(on[0], *wanted);
                }
            }
        }
    }

    #[test]
    fn mean_hops_are_those_of_all_pairs() {
        for hosts in [16, 32, 64, 128] {
            for direction in Direction::ALL {
                let one = network(hosts, direction, true);
                let others = |from| (0..hosts).filter(move |to| *to != from);
                let hops = |from| others(from).map(|to| one.hops(from, to)).collect::<Vec<_>>();
                let all: Vec<u32> = (0..hosts).flat_map(hops).collect();
                let mean = f64::from(all.iter().sum::<u32>()) / all.len() as f64;
                assert!((mean - one.mean_hops()).abs() < 1e-9, "{hosts} {direction:?}");
                assert_eq!(all.iter().max(), Some(&one.most_hops()));
            }
        }
    }
}
