//! Fat trees: levels of switches, each with neighbours down and, below the top, up.
//!
//! Level `s` of `L`, from 1 at the leaves, has `m_s` neighbours down and `w_(s+1)` up, with `p_s` parallel links to
//! each of these (XGFT(L; m; 1, w): Oehring, Ibel, Das, Kumar, IPPS 1995; parallel links: Zahavi, J. Par. Distr. Comp.
//! 72 (2012) 1423):
//!
//! ```text
//! M_s = m_1 .. m_s     nodes below a switch of level s
//! W_s = w_2 .. w_s     switches of level s above a leaf, W_1 = 1
//! ```
//!
//! Switch `(s, t, u)` is above subtree `t` of `M_s` nodes, the `u`-th of `W_s` such. Its neighbour up `q` is
//! `(s + 1, ⌊t / m_(s+1)⌋, u + q W_s)`. A message goes up until its destination is below, then down; the way down is
//! unique but for parallel links. A number `x` says where it goes up: neighbour `⌊x / W_s⌋ mod w_(s+1)` at level `s`.

use std::collections::BTreeSet;

use super::{Candidates, ChannelKind, LinkEnd, LinkTime, Topology, UniformRate};
use crate::scenario::{MAX_LEVELS, TreeKeys, TreeRouting, TreeShape};

/// Levels of switches. Arrays are by level, from 0 at the leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FatTree {
    levels: usize,
    /// `m`, neighbours down.
    down: [u32; MAX_LEVELS],
    /// `w` of the level above, neighbours up; 0 at the top.
    up: [u32; MAX_LEVELS],
    /// `p`, parallel links to each neighbour up.
    links: [u32; MAX_LEVELS],
    /// `M`, nodes below a switch.
    below: [u32; MAX_LEVELS],
    /// `W`, switches above the same nodes.
    above: [u32; MAX_LEVELS],
    /// The first switch.
    first: [u32; MAX_LEVELS],
    /// Of links to the next level \[ns\].
    delays: [u32; MAX_LEVELS],
    routing: TreeRouting,
    self_traffic: bool,
}

/// Where a switch stands.
#[derive(Clone, Copy)]
struct Place {
    level: usize,
    /// `t`.
    subtree: u32,
    /// `u`.
    number: u32,
}

/// Numbers below `end` that leave the rest `rest` when divided by `by`.
fn with_rest(end: u32, rest: u32, by: u32) -> u32 {
    if end <= rest { 0 } else { (end - rest - 1) / by + 1 }
}

impl FatTree {
    /// As its keys say; the least tree where they are refused.
    pub(crate) fn new(keys: &TreeKeys) -> Self {
        let shape = keys.fitting_shape().unwrap_or_else(TreeShape::least);
        let levels = shape.down.len();
        let by_level = |numbers: &[u32], rest: u32| {
            let mut all = [rest; MAX_LEVELS];
            all[..numbers.len()].copy_from_slice(numbers);
            all
        };
        let (down, up, links) = (by_level(&shape.down, 1), by_level(&shape.up, 0), by_level(&shape.links, 1));
        let (mut below, mut above, mut first) = ([down[0]; MAX_LEVELS], [1; MAX_LEVELS], [0; MAX_LEVELS]);
        for level in 1..levels {
            below[level] = below[level - 1] * down[level];
            above[level] = above[level - 1] * up[level - 1];
        }
        for level in 1..levels {
            first[level] = first[level - 1] + below[levels - 1] / below[level - 1] * above[level - 1];
        }
        let (routing, self_traffic) = (keys.routing, keys.self_traffic);
        let delays = by_level(&shape.delays, 0);
        Self { levels, down, up, links, below, above, first, delays, routing, self_traffic }
    }

    #[inline]
    fn place(&self, router: u32) -> Place {
        let level = (1..self.levels).rev().find(|level| router >= self.first[*level]).unwrap_or(0);
        let rest = router - self.first[level];
        Place { level, subtree: rest / self.above[level], number: rest % self.above[level] }
    }

    fn router(&self, level: usize, subtree: u32, number: u32) -> u32 {
        self.first[level] + subtree * self.above[level] + number
    }

    /// Links to each neighbour down.
    #[inline]
    fn links_down(&self, level: usize) -> u32 {
        if level == 0 { 1 } else { self.links[level - 1] }
    }

    /// The first port up.
    #[inline]
    fn first_up(&self, level: usize) -> u32 {
        self.down[level] * self.links_down(level)
    }

    /// `M_(s-1)`: nodes below each neighbour down.
    #[inline]
    fn below_each(&self, level: usize) -> u32 {
        if level == 0 { 1 } else { self.below[level - 1] }
    }

    /// Whether the way up is drawn, or stands for all ways alike.
    fn is_split(&self) -> bool {
        matches!(self.routing, TreeRouting::RandomUp | TreeRouting::AdaptiveUp)
    }

    /// The neighbour up at a level, and the parallel link, that a number names by its digits.
    #[inline]
    fn named(&self, number: u32, level: usize) -> (u32, u32) {
        let neighbours = self.up[level].max(1);
        let above = number / self.above[level];
        (above % neighbours, above / neighbours % self.links[level])
    }

    /// The same of a way that is drawn: digits of neighbours first, then those of links.
    #[inline]
    fn drawn(&self, way: u32, level: usize) -> (u32, u32) {
        let before: u32 = self.links[..level].iter().product();
        let link = way / self.above[self.levels - 1] / before % self.links[level];
        (way / self.above[level] % self.up[level].max(1), link)
    }

    /// All that a number names, from the leaves to the top: neighbours with links, or links alone.
    fn named_ways(&self, number: u32, with_neighbours: bool) -> u32 {
        (0..self.levels - 1).fold(0, |named, level| {
            let ((neighbour, link), neighbours) = (self.named(number, level), self.up[level].max(1));
            let above = if with_neighbours { named * neighbours + neighbour } else { named };
            above * self.links[level] + link
        })
    }

    /// The neighbour and the parallel link between a level and the next that a message takes, up or down.
    #[inline]
    fn choice(&self, (source, destination, way): (u32, u32, u32), level: usize, is_up: bool) -> (u32, u32) {
        match self.routing {
            TreeRouting::SModK => self.named(source, level),
            TreeRouting::RandomUp => self.drawn(way, level),
            TreeRouting::AdaptiveUp if is_up => self.drawn(way, level),
            TreeRouting::DModK | TreeRouting::AdaptiveUp => self.named(destination, level),
        }
    }

    /// Level of the nearest switches above both nodes.
    fn meeting(&self, one: u32, other: u32) -> usize {
        (0..self.levels).find(|level| one / self.below[*level] == other / self.below[*level]).unwrap_or(0)
    }

    /// Share of a node's messages to all others alike that leave its subtree of a level.
    fn leaving(&self, level: usize) -> f64 {
        f64::from(self.nodes() - self.below[level]) / self.others()
    }

    /// Nodes that a node sends to.
    fn others(&self) -> f64 {
        f64::from(self.nodes() - u32::from(!self.self_traffic))
    }

    /// Messages up over a link to neighbour `q` of level `level + 1`, and down over its other direction.
    fn uniform_over(&self, level: usize, subtree: u32, (number, link): (u32, u32), is_up: bool) -> f64 {
        let (own, all) = (self.below[level], self.nodes());
        let (ways, links) = (self.above[level] * self.up[level], self.links[level]);
        // of nodes inside and outside of the subtree those that name this link
        let (rest, by) = (number + link * ways, ways * links);
        let named = |end: u32| with_rest(end, rest, by);
        let inside = named((subtree + 1) * own) - named(subtree * own);
        let outside = named(all) - inside;
        let pairs = match (self.routing, is_up) {
            (TreeRouting::DModK, true) => f64::from(own) * f64::from(outside),
            (TreeRouting::DModK, false) => f64::from(inside) * f64::from(all - own),
            (TreeRouting::SModK, true) => f64::from(inside) * f64::from(all - own),
            (TreeRouting::SModK, false) => f64::from(own) * f64::from(outside),
            // all ways up alike, and the link down that the destination names, whatever the neighbour
            (TreeRouting::AdaptiveUp, false) => {
                let named = (0..own).filter(|node| (subtree * own + node) / ways % links == link).count();
                named as f64 * f64::from(all - own) / f64::from(ways)
            }
            _ => f64::from(own) * f64::from(all - own) / f64::from(by),
        };
        pairs / self.others()
    }
}

impl Topology for FatTree {
    fn nodes(&self) -> u32 {
        self.below[self.levels - 1]
    }

    fn routers(&self) -> u32 {
        let top = self.levels - 1;
        self.first[top] + self.above[top]
    }

    fn ports(&self) -> u32 {
        let ports = |level: usize| self.first_up(level) + self.up[level] * self.links[level];
        (0..self.levels).map(ports).max().unwrap_or(0)
    }

    fn self_traffic(&self) -> bool {
        self.self_traffic
    }

    fn most_hops(&self) -> u32 {
        2 * (self.levels as u32 - 1)
    }

    fn mean_hops(&self) -> f64 {
        (0..self.levels - 1).map(|level| 2.0 * self.leaving(level)).sum()
    }

    fn hops(&self, source: u32, destination: u32) -> u32 {
        2 * self.meeting(source, destination) as u32
    }

    /// Of random choices all ways to the top, over all parallel links.
    fn ways(&self) -> u32 {
        let links: u32 = self.links[..self.levels - 1].iter().product();
        if self.is_split() { self.above[self.levels - 1] * links } else { 1 }
    }

    fn routes_by_router(&self) -> bool {
        let is_single = self.links[..self.levels - 1].iter().all(|links| *links == 1);
        self.routing == TreeRouting::RandomUp || self.routing == TreeRouting::AdaptiveUp && is_single
    }

    fn routes_by_source(&self) -> bool {
        self.routing == TreeRouting::SModK
    }

    fn source_kind(&self, node: u32) -> u32 {
        if self.routing == TreeRouting::SModK { self.named_ways(node, true) } else { 0 }
    }

    fn destination_kind(&self, node: u32) -> u32 {
        match self.routing {
            TreeRouting::DModK => self.named_ways(node, true),
            TreeRouting::AdaptiveUp => self.named_ways(node, false),
            TreeRouting::SModK | TreeRouting::RandomUp => 0,
        }
    }

    fn is_adaptive(&self) -> bool {
        self.routing == TreeRouting::AdaptiveUp
    }

    fn candidates(&self, router: u32, _: u32, destination: u32) -> Option<Candidates> {
        let Place { level, subtree, .. } = self.place(router);
        if !self.is_adaptive() || destination / self.below[level] == subtree {
            return None;
        }
        let (first, links) = (self.first_up(level), self.links[level]);
        let (neighbour, link) = self.named(destination, level);
        Some(Candidates { first, count: self.up[level] * links, preferred: first + neighbour * links + link })
    }

    #[inline]
    fn route(&self, router: u32, source: u32, destination: u32, way: u32) -> u32 {
        let Place { level, subtree, .. } = self.place(router);
        if destination / self.below[level] != subtree {
            let (neighbour, link) = self.choice((source, destination, way), level, true);
            return self.first_up(level) + neighbour * self.links[level] + link;
        }
        let neighbour = destination / self.below_each(level) % self.down[level];
        match level.checked_sub(1) {
            None => neighbour,
            Some(lower) => {
                let (_, link) = self.choice((source, destination, way), lower, false);
                neighbour * self.links[lower] + link
            }
        }
    }

    fn may_be_switched(&self) -> bool {
        true
    }

    fn rows(&self) -> u32 {
        self.levels as u32
    }

    fn row(&self, router: u32) -> u32 {
        self.place(router).level as u32
    }

    fn row_name(&self, row: u32) -> String {
        format!("level {}", row + 1)
    }

    fn router_address(&self, router: u32) -> String {
        let Place { level, subtree, number } = self.place(router);
        format!("{}.{subtree}.{number}", level + 1)
    }

    fn entry(&self, node: u32) -> (u32, u32) {
        (node / self.down[0], node % self.down[0])
    }

    fn link_end(&self, router: u32, port: u32) -> LinkEnd {
        let Place { level, subtree, number } = self.place(router);
        if let Some(port) = port.checked_sub(self.first_up(level)) {
            let (neighbour, link) = (port / self.links[level], port % self.links[level]);
            if neighbour >= self.up[level] {
                return LinkEnd::Absent;
            }
            let next = (subtree / self.down[level + 1], number + neighbour * self.above[level]);
            let port = subtree % self.down[level + 1] * self.links[level] + link;
            return LinkEnd::Input { router: self.router(level + 1, next.0, next.1), port };
        }
        let Some(lower) = level.checked_sub(1) else {
            return LinkEnd::Node(subtree * self.down[0] + port);
        };
        let (neighbour, link) = (port / self.links[lower], port % self.links[lower]);
        let next = (subtree * self.down[level] + neighbour, number % self.above[lower]);
        let port = self.first_up(lower) + number / self.above[lower] * self.links[lower] + link;
        LinkEnd::Input { router: self.router(lower, next.0, next.1), port }
    }

    fn link_times(&self) -> BTreeSet<LinkTime> {
        let delays = self.delays.iter().copied().filter(|delay| *delay > 0);
        delays.map(|delay| LinkTime { delay, ..LinkTime::USUAL }).collect()
    }

    fn link_time(&self, router: u32, port: u32) -> LinkTime {
        let level = self.place(router).level;
        let below = level.checked_sub(1).map_or(0, |lower| self.delays[lower]);
        let delay = if port >= self.first_up(level) { self.delays[level] } else { below };
        LinkTime { delay, ..LinkTime::USUAL }
    }

    fn kind(&self, router: u32, port: u32) -> ChannelKind {
        let level = self.place(router).level;
        match (port >= self.first_up(level), level) {
            (true, _) => ChannelKind::Up { level: level as u8 + 1 },
            (false, 0) => ChannelKind::Ejection,
            (false, _) => ChannelKind::Down { level: level as u8 },
        }
    }

    fn uniform_rate(&self, router: u32, port: u32) -> Option<UniformRate> {
        let Place { level, subtree, number } = self.place(router);
        if let Some(up) = port.checked_sub(self.first_up(level)) {
            let (neighbour, link) = (up / self.links[level], up % self.links[level]);
            if neighbour >= self.up[level] {
                return Some(UniformRate::default());
            }
            let all = self.uniform_over(level, subtree, (number + neighbour * self.above[level], link), true);
            return Some(UniformRate { all, started: if level == 0 { all } else { 0.0 } });
        }
        let Some(lower) = level.checked_sub(1) else {
            let beside = self.down[0] - u32::from(!self.self_traffic);
            return Some(UniformRate { all: 1.0, started: f64::from(beside) / self.others() });
        };
        let (neighbour, link) = (port / self.links[lower], port % self.links[lower]);
        let all = self.uniform_over(lower, subtree * self.down[level] + neighbour, (number, link), false);
        Some(UniformRate { all, started: 0.0 })
    }

    fn size(&self) -> (u32, &'static str) {
        (self.nodes(), "nodes")
    }

    fn name(&self) -> String {
        let levels = if self.levels == 1 { "1 level".to_owned() } else { format!("{} levels", self.levels) };
        format!("fat tree of {} nodes, {levels}", self.nodes())
    }

    fn short_name(&self) -> String {
        "fat tree".to_owned()
    }

    fn description(&self) -> String {
        let (down, up) = (&self.down[..self.levels], &self.up[..self.levels - 1]);
        format!(
            "a {}, m = {down:?} neighbours down and w = {up:?} up from the leaves to the top",
            self.name()
        )
    }

    fn address(&self, node: u32) -> String {
        node.to_string()
    }

    fn port_name(&self, router: u32, port: u32) -> String {
        let level = self.place(router).level;
        let (kind, first_up) = (self.kind(router, port), self.first_up(level));
        let (neighbour, links, link) = match (port.checked_sub(first_up), level) {
            (Some(up), _) => (up / self.links[level], self.links[level], up % self.links[level]),
            (None, 0) => return kind.to_string(),
            (None, _) => {
                let links = self.links[level - 1];
                (port / links, links, port % links)
            }
        };
        let link = if links > 1 { format!(" link {link}") } else { String::new() };
        format!("{kind} neighbour {neighbour}{link}")
    }

    fn shared_links(&self) -> &'static str {
        "links between switches and to nodes"
    }
}

#[cfg(test)]
mod tests;
