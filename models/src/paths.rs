//! Who shares which channel: exact loads of all channels under the network's own routing, and the rates at which the
//! first of them is full.
//!
//! A message from node `s` to node `t` adds its flits to every channel on its path:
//!
//! ```text
//! σ_e = Σ_c M_c λ_c Σ_s Σ_t p_c(t | s) [e is on the path from s to t]   [flits/cycle]
//! ```
//!
//! Parallel links of which routers choose share what goes from router to router alike, and so do ways of which one is
//! drawn. Of those between packet switches the destination names one. Every path of every sender is followed from
//! router to router, whatever the topology. Only uniform destinations need no paths one by one, in a topology that
//! declares that its dimensions part (`paths/uniform.rs`) or that has a closed form for each link
//! ([`uniform_rate`](Topology::uniform_rate)); in others nodes of a router from which, or to which, ways are the same
//! are followed together (`paths/groups.rs`).

mod bisection;
pub(crate) mod classes;
pub(crate) mod groups;
mod links;
mod uniform;

use std::collections::HashMap;
use std::ops::Range;

use schemars::JsonSchema;
use serde::Serialize;

use crate::model::Refusal;
pub use bisection::{effective_bisection, supports_bisection};
use flitwise_language::network::{ChannelKind, LinkEnd, Topology};
use flitwise_language::scenario::{ClassKind, DestinationSpec, Destinations, Scenario};
use groups::{NodeGroups, Together};
pub use links::{Link, links};
use uniform::Spread;

/// Links that are loaded alike.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkGroup {
    /// What they are for.
    pub kind: ChannelKind,
    /// How many there are.
    pub links: u64,
    /// `c` of their capacity, `1 / c`.
    pub slowdown: u32,
    /// The first of them, in words.
    pub first: String,
    /// Load of each class on each of them \[flits/cycle\].
    pub loads: Vec<f64>,
}

/// Groups as they are found, by kind and load.
#[derive(Default)]
struct Groups {
    found: Vec<LinkGroup>,
    known: HashMap<(ChannelKind, u32, Vec<u64>), usize>,
}

impl Groups {
    /// Adds links of which one is at a port of a router, or is the injection link of a node.
    fn add(&mut self, network: &dyn Topology, (at, port): (u32, Option<u32>), links: u64, loads: Vec<f64>) {
        let kind = port.map_or(ChannelKind::Injection, |port| match network.link_end(at, port) {
            LinkEnd::Node(_) => ChannelKind::Ejection,
            _ => network.kind(at, port),
        });
        let (router, own) = port.map_or_else(|| network.entry(at), |port| (at, port));
        let slowdown = network.slowdown(router, own);
        // loads that differ by rounding alone are one
        let rounded = loads.iter().map(|load| (load * 1e12).round() as u64).collect();
        let group = *self.known.entry((kind, slowdown, rounded)).or_insert_with(|| {
            let first = words(network, at, port);
            self.found.push(LinkGroup { kind, links: 0, slowdown, first, loads });
            self.found.len() - 1
        });
        self.found[group].links += links;
    }

    fn sorted(mut self) -> ChannelLoads {
        self.found.sort_by(|a, b| a.kind.order().cmp(&b.kind.order()).then(b.share().total_cmp(&a.share())));
        ChannelLoads { groups: self.found }
    }
}

/// Where the messages of a class start and end.
#[derive(Clone, Debug)]
pub struct Traffic {
    /// Nodes that send, in order.
    pub senders: Vec<u32>,
    /// Where they send to.
    pub destinations: Destinations,
    /// What each of them sends, or their mean \[flits/cycle\]; of packets as a share of the rate of its link.
    pub flit_rate: f64,
}

impl Traffic {
    /// That of a class.
    pub fn of(scenario: &Scenario, class: usize) -> Self {
        let (senders, destinations) = (scenario.senders(class), scenario.destinations(class));
        let spec = &scenario.classes()[class];
        let flit_rate = match scenario.switch() {
            Some(_) => scenario.offered_share(class),
            None => spec.rate * f64::from(spec.message_flits),
        };
        Self { senders, destinations, flit_rate }
    }

    /// All nodes send to all alike.
    pub fn uniform(network: &dyn Topology, flit_rate: f64) -> Self {
        let destinations = DestinationSpec::Uniform.on(network);
        Self { senders: (0..network.nodes()).collect(), destinations, flit_rate }
    }

    fn is_uniform(&self, network: &dyn Topology) -> bool {
        self.destinations.is_uniform() && self.senders.len() == network.nodes() as usize
    }

    /// Whether another class in the same network goes the same ways as often.
    pub(crate) fn is_as(&self, other: &Self) -> bool {
        self.senders == other.senders && self.destinations.is_as(&other.destinations)
    }

    /// Share of the messages of every node that goes to all nodes alike, whatever else some of them send.
    fn share_to_all(&self, network: &dyn Topology) -> f64 {
        if self.senders.len() < network.nodes() as usize {
            return 0.0;
        }
        let towards = self.senders.iter().map(|sender| self.destinations.towards(*sender));
        towards.map(|towards| if towards.is_all() { 1.0 - towards.share } else { 0.0 }).fold(1.0, f64::min)
    }

    /// Links that are looked at to compute the loads of a class.
    fn steps(&self, network: &dyn Topology) -> f64 {
        let (ordered, hops) = (network.is_dimension_ordered(), 1.0 + network.mean_hops());
        let to_all = self.share_to_all(network);
        let together = if ordered || to_all <= 0.0 { None } else { together(network) };
        let all = together.as_ref().map_or(0.0, |groups| hops * groups.all_ways(network) as f64);
        let hops = hops * f64::from(network.ways());
        let has_closed_form = ordered || has_closed_form(network) || together.is_some();
        let of_sender = |sender: &u32| {
            let towards = self.destinations.towards(*sender);
            match towards.is_all() {
                true if has_closed_form && 1.0 - towards.share <= to_all => hops,
                true if ordered => 2.0 * f64::from(network.nodes()),
                _ => f64::from(towards.count) * hops,
            }
        };
        all + self.senders.iter().map(of_sender).sum::<f64>()
    }
}

/// Nodes that are followed together where all send to all alike, if any are and no link has a closed form.
fn together(network: &dyn Topology) -> Option<NodeGroups> {
    let groups = (!has_closed_form(network)).then(|| NodeGroups::alike(network));
    groups.filter(|groups| !groups.are_single())
}

/// Whether the topology knows what each link carries where all send to all alike.
fn has_closed_form(network: &dyn Topology) -> bool {
    network.uniform_rate(0, 0).is_some()
}

/// Whether what a scenario sends is told in flits on channels of routers, as loads are: not the packets of switches.
pub fn are_of_flits(scenario: &Scenario) -> bool {
    scenario.switch().is_none()
}

/// Links that are looked at for a class, up to which loads are computed, and in a second: some two seconds.
const MOST_STEPS: f64 = 1e8;
const STEPS_A_SECOND: f64 = 5e7;

/// Whether the loads of a scenario are computed in reasonable time.
///
/// # Errors
/// The class whose senders and destinations are too many to follow every path, or whose messages are in a file.
pub fn supports(scenario: &Scenario) -> Result<(), Refusal> {
    let network = scenario.topology();
    for (place, class) in scenario.classes().iter().enumerate() {
        if class.is_traced() {
            let because =
                "does not read traces, whose loads are those of their files; simulate does".to_owned();
            return Err(Refusal { key: format!("class.{}.source.file", class.name), because });
        }
        let steps = Traffic::of(scenario, place).steps(&*network);
        if steps > MOST_STEPS {
            let because = format!(
                "follows every path one by one, which would take about {:.0} s here; name fewer senders or \
                 destinations, or take a smaller network",
                steps / STEPS_A_SECOND
            );
            return Err(Refusal { key: format!("class.{}.destination", class.name), because });
        }
    }
    Ok(())
}

/// What stands against a model whose senders of a class generate messages alike often, where a matrix has rates.
pub(crate) fn uneven_senders(scenario: &Scenario) -> impl Iterator<Item = Refusal> {
    let uneven = (0..scenario.classes().len()).filter(|class| !scenario.destinations(*class).has_one_rate());
    uneven.map(|class| {
        let key = format!("class.{}.destination.matrix", scenario.classes()[class].name);
        let because =
            "has senders of one rate, by a matrix of weights; simulate, or ask for --loads".to_owned();
        Refusal { key, because }
    })
}

/// Messages of a class per message that one of its senders generates.
struct Rates {
    ports: u32,
    /// By node: its rate over the mean of senders, 0 where it sends nothing.
    sent: Vec<f64>,
    /// On each output link, by router and port.
    links: Vec<f64>,
    /// Those of them that start at that router.
    starts: Vec<f64>,
}

impl Rates {
    /// Path by path; messages that go to all nodes alike together, where their spread is known.
    fn of(network: &dyn Topology, traffic: &Traffic, spread: Option<&Spread>) -> Self {
        let (nodes, ports) = (network.nodes(), network.ports());
        let links = vec![0.0; network.routers() as usize * ports as usize];
        let starts = links.clone();
        let mut rates = Self { ports, sent: vec![0.0; nodes as usize], links, starts };
        let to_all = traffic.share_to_all(network);
        let together = if spread.is_some() || to_all <= 0.0 { None } else { together(network) };
        match (spread, &together) {
            _ if to_all <= 0.0 => {}
            (Some(spread), _) => spread.add_all(&mut rates, to_all),
            (None, Some(groups)) => {
                groups.all().for_each(|one| rates.add_together(network, groups, one, to_all))
            }
            (None, None) => rates.add_uniform(network, to_all),
        }
        let in_closed_form = spread.is_none() && (has_closed_form(network) || together.is_some());
        for sender in traffic.senders.iter().copied() {
            let relative = traffic.destinations.relative_rate(sender);
            rates.sent[sender as usize] = relative;
            let towards = traffic.destinations.towards(sender);
            match spread.filter(|_| towards.is_all()) {
                Some(spread) => {
                    let more = 1.0 - towards.share - to_all;
                    if more > 0.0 {
                        spread.add(&mut rates, sender, more);
                    }
                    rates.follow(network, sender, towards.hot, towards.share);
                }
                None if in_closed_form && towards.is_all() && 1.0 - towards.share <= to_all => {
                    rates.follow(network, sender, towards.hot, towards.share);
                }
                None => {
                    let of_all = if in_closed_form && towards.is_all() { to_all } else { 0.0 };
                    let each = of_all / f64::from(towards.count.max(1));
                    let follow = |(to, share): (u32, f64)| {
                        rates.follow(network, sender, to, (share - each) * relative);
                    };
                    towards.each().for_each(follow);
                }
            }
        }
        rates
    }

    /// Adds a share of the messages of all nodes, which go to all nodes alike, where that is known link by link.
    fn add_uniform(&mut self, network: &dyn Topology, share: f64) {
        for place in 0..self.links.len() {
            let (router, port) = (place as u32 / self.ports, place as u32 % self.ports);
            if let Some(rate) = network.uniform_rate(router, port) {
                self.links[place] += share * rate.all;
                self.starts[place] += share * rate.started;
            }
        }
    }

    /// Adds a share of what nodes send that are followed together, to all nodes alike.
    fn add_together(&mut self, network: &dyn Topology, groups: &NodeGroups, one: Together, share: f64) {
        let (senders, receivers) = (&groups.senders[one.from], &groups.receivers[one.to]);
        let [source, destination] = [senders, receivers].map(|places| groups.nodes[places[0]][0]);
        let share = share * one.share / f64::from(network.ways());
        let of_pair = share / groups.pairs_of(&one) as f64;
        for way in 0..network.ways() {
            let starts = [true].into_iter().chain(std::iter::repeat(false));
            for (hop, is_first) in network.path(source, destination, way).zip(starts) {
                if hop.is_between_routers() {
                    self.add_alike(network, (hop.router, hop.port), share, is_first);
                    continue;
                }
                for place in receivers {
                    let pairs: usize = senders.iter().map(|from| groups.pairs(*from, *place)).sum();
                    let nodes = &groups.nodes[*place];
                    let part = of_pair * pairs as f64 / nodes.len() as f64;
                    for (router, port) in nodes.iter().map(|node| network.entry(*node)) {
                        self.add(self.place(router, port), part, is_first);
                    }
                }
            }
        }
    }

    /// Adds messages to parallel links from a port on, of which a router chooses.
    fn add_alike(&mut self, network: &dyn Topology, (router, port): (u32, u32), share: f64, is_start: bool) {
        let links = network.parallel(router, port);
        let place = self.place(router, port);
        for link in 0..links as usize {
            self.add(place + link, share / f64::from(links), is_start);
        }
    }

    fn place(&self, router: u32, port: u32) -> usize {
        router as usize * self.ports as usize + port as usize
    }

    /// Adds messages to a link, which start at its router or not.
    fn add(&mut self, place: usize, share: f64, is_start: bool) {
        self.links[place] += share;
        if is_start {
            self.starts[place] += share;
        }
    }

    /// Adds a share of a sender's messages along its way to a node.
    fn follow(&mut self, network: &dyn Topology, sender: u32, to: u32, share: f64) {
        if share <= 0.0 {
            return;
        }
        let share = share / f64::from(network.ways());
        for way in 0..network.ways() {
            let starts = [true].into_iter().chain(std::iter::repeat(false));
            for (hop, is_first) in network.path(sender, to, way).zip(starts) {
                self.add_alike(network, (hop.router, hop.port), share, is_first);
            }
        }
    }
}

impl LinkGroup {
    /// Load of all classes \[flits/cycle\].
    pub fn load(&self) -> f64 {
        self.loads.iter().sum()
    }

    /// The same as a share of what each of them carries.
    pub fn share(&self) -> f64 {
        self.load() * f64::from(self.slowdown)
    }
}

/// Channels of a kind.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct KindLoads {
    /// Their kind: injection, the dimension or level, or ejection.
    pub channel: String,
    /// How many there are, parallel ones one by one.
    pub links: u64,
    /// Mean load of all classes on each, where flits are sent.
    pub load_mean_flits_per_cycle: Option<f64>,
    /// The greatest load, where flits are sent.
    pub load_max_flits_per_cycle: Option<f64>,
    /// Mean load of all classes on each, as a share of what it carries at most.
    pub load_mean_share: f64,
    /// Load of the most loaded one, as a share of what it carries at most.
    pub load_max_share: f64,
    /// The factor on all rates at which that is full; none without any load.
    pub full_at_load_factor: Option<f64>,
    /// The one with the greatest share; the first of them if there are several.
    pub most_loaded: String,
}

/// The channel that limits a class.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    /// The channel, in words.
    pub channel: String,
    /// Its load by this class and by those that go before it, as a share of what it carries.
    pub load: f64,
    /// The same \[flits/cycle\]; of packets a share of the rate of a full link.
    pub flits: f64,
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
        let classes: Vec<Traffic> =
            (0..scenario.classes().len()).map(|class| Traffic::of(scenario, class)).collect();
        Self::on(&*scenario.topology(), &classes)
    }

    /// The loads of classes in any network.
    pub fn on(network: &dyn Topology, classes: &[Traffic]) -> Self {
        let flit_rates: Vec<f64> = classes.iter().map(|class| class.flit_rate).collect();
        Followed::new(network, classes).loads(0..classes.len(), &flit_rates)
    }

    /// The loads of a scenario, and by class what it brings to channels for each flit that one of its senders sends:
    /// ways are followed once.
    pub fn with_shares(scenario: &Scenario) -> (Self, Vec<Self>) {
        let network = scenario.topology();
        let count = scenario.classes().len();
        let classes: Vec<Traffic> = (0..count).map(|class| Traffic::of(scenario, class)).collect();
        let flit_rates: Vec<f64> = classes.iter().map(|class| class.flit_rate).collect();
        let followed = Followed::new(&*network, &classes);
        let shares = (0..count).map(|class| followed.loads(class..class + 1, &[1.0]));
        (followed.loads(0..count, &flit_rates), shares.collect())
    }

    /// Where all send to all alike and the dimensions part.
    fn of_places(network: &dyn Topology, flit_rates: &[f64], spread: &Spread) -> Self {
        let mut groups = Groups::default();
        let loads = |messages: f64| flit_rates.iter().map(|flit_rate| flit_rate * messages).collect();
        groups.add(network, (0, None), u64::from(network.nodes()), loads(1.0));
        for place in spread.places() {
            groups.add(network, (place.router, Some(place.port)), place.links, loads(place.messages));
        }
        groups.sorted()
    }

    /// Link by link, of classes with these rates of messages and of flits.
    fn of_links(network: &dyn Topology, rates: &[Rates], flit_rates: &[f64]) -> Self {
        let mut groups = Groups::default();
        let of_class = |rate: &dyn Fn(&Rates) -> f64| {
            rates.iter().zip(flit_rates).map(|(rates, flit_rate)| rate(rates) * flit_rate).collect()
        };
        for node in 0..network.nodes() {
            groups.add(network, (node, None), 1, of_class(&|rates| rates.sent[node as usize]));
        }
        let ports = network.ports();
        for (router, port) in (0..network.routers()).flat_map(|r| (0..ports).map(move |p| (r, p))) {
            if network.link_end(router, port) != LinkEnd::Absent {
                let at = router as usize * ports as usize + port as usize;
                groups.add(network, (router, Some(port)), 1, of_class(&|rates| rates.links[at]));
            }
        }
        groups.sorted()
    }

    /// Channels by kind; of packets loads are shares alone.
    pub fn by_kind(&self, are_of_flits: bool) -> Vec<KindLoads> {
        let of = |groups: &[LinkGroup]| {
            let (most, links) = (&groups[0], groups.iter().map(|group| group.links).sum::<u64>());
            let mean = |of: fn(&LinkGroup) -> f64| {
                groups.iter().map(|group| of(group) * group.links as f64).sum::<f64>() / links as f64
            };
            let most_flits = groups.iter().map(LinkGroup::load).fold(0.0, f64::max);
            KindLoads {
                channel: most.kind.to_string(),
                links,
                load_mean_flits_per_cycle: are_of_flits.then(|| mean(LinkGroup::load)),
                load_max_flits_per_cycle: are_of_flits.then_some(most_flits),
                load_mean_share: mean(LinkGroup::share),
                load_max_share: most.share(),
                full_at_load_factor: (most.share() > 0.0).then(|| 1.0 / most.share()),
                most_loaded: most.first.clone(),
            }
        };
        self.groups.chunk_by(|a, b| a.kind == b.kind).map(of).collect()
    }

    /// Channels between routers that a message of a class crosses on average, of which every sender sends one; by how
    /// many senders.
    pub fn mean_hops(&self, class: usize, senders: usize) -> f64 {
        let between = self.groups.iter().filter(|group| group.kind.is_between_routers());
        let all: f64 = between.map(|group| group.loads[class] * group.links as f64).sum();
        // an empty sum is -0
        (all + 0.0) / senders.max(1) as f64
    }

    /// The most loaded link, by the classes for which that is asked; none without any load.
    fn most_loaded(&self, counts: impl Fn(usize) -> bool) -> Option<Bound> {
        let load = |group: &LinkGroup| -> f64 {
            let loads = group.loads.iter().enumerate().filter(|(class, _)| counts(*class));
            loads.map(|(_, load)| load).sum::<f64>() * f64::from(group.slowdown)
        };
        let mut most: Option<Bound> = None;
        for group in &self.groups {
            let load = load(group);
            if load > most.as_ref().map_or(0.0, |most| most.load * (1.0 + 1e-9)) {
                let flits = load / f64::from(group.slowdown);
                most = Some(Bound { channel: group.first.clone(), load, flits });
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

/// Messages of classes on their ways through a network.
struct Followed<'n> {
    network: &'n dyn Topology,
    /// Where all send to all alike and the dimensions part.
    spread: Option<Spread<'n>>,
    /// Elsewhere, by class.
    rates: Vec<Rates>,
}

impl<'n> Followed<'n> {
    fn new(network: &'n dyn Topology, classes: &[Traffic]) -> Self {
        let spread = Spread::new(network);
        if spread.is_some() && classes.iter().all(|class| class.is_uniform(network)) {
            return Self { network, spread, rates: Vec::new() };
        }
        let rates = classes.iter().map(|class| Rates::of(network, class, spread.as_ref())).collect();
        Self { network, spread: None, rates }
    }

    /// Loads by some of the classes, of which each sender sends so many flits per cycle.
    fn loads(&self, classes: Range<usize>, flit_rates: &[f64]) -> ChannelLoads {
        match &self.spread {
            Some(spread) => ChannelLoads::of_places(self.network, flit_rates, spread),
            None => ChannelLoads::of_links(self.network, &self.rates[classes], flit_rates),
        }
    }
}

/// A link from a router, or the one of a node, in words; of parallel links that are loaded one by one, which of them.
pub(crate) fn words(network: &dyn Topology, at: u32, port: Option<u32>) -> String {
    let Some(port) = port else { return format!("injection link of node {}", network.address(at)) };
    match network.link_end(at, port) {
        LinkEnd::Node(node) => format!("ejection link of node {}", network.address(node)),
        LinkEnd::Input { router: next, .. } => {
            let (from, to) = (network.router_address(at), network.router_address(next));
            let words = format!("channel from router {from} to {to}");
            let is_parallel = |other: &u32| {
                let leads_there =
                    matches!(network.link_end(at, *other), LinkEnd::Input { router, .. } if router == next);
                leads_there && network.kind(at, *other) == network.kind(at, port)
            };
            let parallel: Vec<u32> = (0..network.ports()).filter(is_parallel).collect();
            match parallel.iter().position(|other| *other == port) {
                Some(place) if parallel.len() > 1 && network.parallel(at, port) == 1 => {
                    format!("{words}, link {} of {}", place + 1, parallel.len())
                }
                _ => words,
            }
        }
        LinkEnd::Absent => "no link".to_owned(),
    }
}

#[cfg(test)]
pub(crate) mod tests;
