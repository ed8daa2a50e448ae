//! Who shares which channel: exact loads of all channels under the network's own routing, and the rates at which the
//! first of them is full.
//!
//! A message from node `s` to node `t` adds its flits to every channel on its path:
//!
//! ```text
//! σ_e = Σ_c M_c λ_c Σ_s Σ_t p_c(t | s) [e is on the path from s to t]   [flits/cycle]
//! ```
//!
//! Parallel links share what goes from router to router alike. Uniform destinations need no paths one by one
//! (`paths/uniform.rs`); any others are followed from router to router.

mod uniform;

use schemars::JsonSchema;
use serde::Serialize;

use crate::network::{ChannelKind, LinkEnd, Network};
use crate::scenario::{ClassKind, Scenario};

/// Links that are loaded alike.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkGroup {
    /// What they are for.
    pub kind: ChannelKind,
    /// How many there are.
    pub links: u64,
    /// The first of them, in words.
    pub first: String,
    /// Load of each class on each of them \[flits/cycle\].
    pub loads: Vec<f64>,
}

/// Whether loads differ by rounding alone.
fn alike(a: &[f64], b: &[f64]) -> bool {
    a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-9 * a.max(*b))
}

impl LinkGroup {
    /// Load of all classes \[flits/cycle\].
    pub fn load(&self) -> f64 {
        self.loads.iter().sum()
    }
}

/// Channels of a kind.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct KindLoads {
    /// Their kind: injection, the dimension, or ejection.
    pub channel: String,
    /// How many there are, parallel ones one by one.
    pub links: u64,
    /// Mean load of all classes on each.
    pub load_mean_flits_per_cycle: f64,
    /// Load of the most loaded one.
    pub load_max_flits_per_cycle: f64,
    /// The factor on all rates at which that is full; none without any load.
    pub full_at_load_factor: Option<f64>,
    /// The most loaded one; the first of them if there are several.
    pub most_loaded: String,
}

/// The channel that limits a class.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    /// The channel, in words.
    pub channel: String,
    /// Its load by this class and by those that go before it \[flits/cycle\].
    pub load: f64,
}

impl Bound {
    /// The factor on all rates at which the channel is full: no router carries more.
    pub fn at_load_factor(&self) -> f64 {
        1.0 / self.load
    }
}

/// Loads of all links of a scenario, those that are alike put together.
#[derive(Clone, Debug, PartialEq)]
pub struct ChannelLoads {
    /// By kind, the most loaded links first.
    pub groups: Vec<LinkGroup>,
}

impl ChannelLoads {
    /// The loads of a scenario.
    pub fn of(scenario: &Scenario) -> Self {
        let network = scenario.topology();
        let classes = scenario.classes();
        let injected: Vec<f64> =
            classes.iter().map(|class| class.rate * f64::from(class.message_flits)).collect();
        let injection = LinkGroup {
            kind: ChannelKind::Injection,
            links: u64::from(network.nodes()),
            first: format!("injection link of node {}", network.address(0)),
            loads: injected.clone(),
        };
        let mut groups = vec![injection];
        for place in uniform::places(&network) {
            let loads: Vec<f64> = injected.iter().map(|load| load * place.messages).collect();
            let kind = network.kind(place.port);
            match groups.iter_mut().find(|group| group.kind == kind && alike(&group.loads, &loads)) {
                Some(group) => group.links += place.links,
                None => {
                    let first = words(&network, place.router, place.port);
                    groups.push(LinkGroup { kind, links: place.links, first, loads });
                }
            }
        }
        groups.sort_by(|a, b| a.kind.cmp(&b.kind).then(b.load().total_cmp(&a.load())));
        Self { groups }
    }

    /// Channels by kind.
    pub fn by_kind(&self) -> Vec<KindLoads> {
        let of = |groups: &[LinkGroup]| {
            let (most, links) = (&groups[0], groups.iter().map(|group| group.links).sum());
            let sum: f64 = groups.iter().map(|group| group.load() * group.links as f64).sum();
            KindLoads {
                channel: most.kind.to_string(),
                links,
                load_mean_flits_per_cycle: sum / links as f64,
                load_max_flits_per_cycle: most.load(),
                full_at_load_factor: (most.load() > 0.0).then(|| 1.0 / most.load()),
                most_loaded: most.first.clone(),
            }
        };
        self.groups.chunk_by(|a, b| a.kind == b.kind).map(of).collect()
    }

    /// The most loaded link, by the classes for which that is asked; none without any load.
    fn most_loaded(&self, counts: impl Fn(usize) -> bool) -> Option<Bound> {
        let load = |group: &LinkGroup| -> f64 {
            group.loads.iter().enumerate().filter(|(class, _)| counts(*class)).map(|(_, load)| load).sum()
        };
        let mut most: Option<Bound> = None;
        for group in &self.groups {
            let load = load(group);
            if load > most.as_ref().map_or(0.0, |most| most.load * (1.0 + 1e-9)) {
                most = Some(Bound { channel: group.first.clone(), load });
            }
        }
        most
    }

    /// The channel that is full first, by all classes together; none without any load.
    pub fn bottleneck(&self) -> Option<Bound> {
        self.most_loaded(|_| true)
    }

    /// The same for a class of the scenario: real time goes before best effort.
    pub fn bound(&self, scenario: &Scenario, class: usize) -> Option<Bound> {
        let classes = scenario.classes();
        let real_time = |other: usize| classes[other].kind == ClassKind::RealTime;
        let sends = classes[class].rate > 0.0;
        self.most_loaded(|other| !real_time(class) || real_time(other)).filter(|_| sends)
    }
}

/// A link from a router, in words.
fn words(network: &Network, router: u32, port: u32) -> String {
    match network.link_end(router, port) {
        LinkEnd::Node(node) => format!("ejection link of node {}", network.address(node)),
        LinkEnd::Input { router: next, .. } => {
            let name = |router| network.router_address(router);
            format!("channel from router {} to {}", name(router), name(next))
        }
        LinkEnd::Absent => "no link".to_owned(),
    }
}

#[cfg(test)]
mod tests;
