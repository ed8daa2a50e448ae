//! Paths of messages over the channels of a network, as tables: which outputs they meet one after another, and over
//! which inputs the traffic of an output comes.
//!
//! Channels that are alike have one number; it rises along every path, and ejection links have the highest ones. In a
//! torus the two halves of a channel's virtual channels have a number each. Senders that are alike are one, too; with
//! uniform destinations all are.
//!
//! All paths are enumerated, whatever the topology, senders and destinations (`paths/enumerated.rs`); where all send to
//! all alike, those of nodes of a router that stand for one another once. Only uniform destinations where the topology
//! declares that its dimensions part are put together from lines (`paths/lines.rs`), in a cube by formulas
//! (`paths/cube.rs`).
//!
//! What comes over the own input its link has put in sequence already: only the share `f`, one less the own share,
//! contends. Two messages drawn at random are of different inputs with the probability `S_2 = 1 - Σ p_j²`.

mod cube;
mod enumerated;
mod lines;
#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use flitwise_language::network::{Network, Topology};
use flitwise_language::scenario::{DestinationSpec, NodeList, Scenario};

use crate::paths::Traffic;
use crate::paths::classes::ChannelClasses;
use crate::paths::groups::NodeGroups;

/// Kinds of channels up to which a class is solved: a table of all pairs of them has 134 MB then, and 3,000 of a graph
/// take two seconds.
pub(super) const MOST_KINDS: usize = 4096;
/// Nodes up to which messages are followed: in a network, and in a single router, where each pair is a step by itself.
const MOST_NODES: u32 = 4096;
const MOST_PORTS: u32 = 256;

/// Nodes of a network up to which messages are followed.
pub(super) fn most_nodes(network: &Network) -> u32 {
    if network.routers() == 1 { MOST_PORTS } else { MOST_NODES }
}

/// An output, and the input over which the message came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Output {
    /// Channel over which it came; the interface if none.
    pub(super) from: Option<u32>,
    /// Channel; beyond the last, an ejection link.
    pub(super) to: u32,
}

/// Outputs, and how often each is met.
pub(super) type Outputs = Vec<(f64, Output)>;

/// Traffic that shares an output with a message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Crossing {
    /// `f`: share of the output's traffic that comes over other inputs than the own.
    pub(super) contending: f64,
    /// `S_2`: probability that two messages come over different inputs.
    pub(super) different: f64,
    /// Other inputs that bring messages.
    pub(super) others: f64,
}

impl Crossing {
    pub(super) const NOTHING: Self = Self { contending: 0.0, different: 0.0, others: 0.0 };

    /// Of messages which come over inputs of a dimension, or from the nodes.
    fn new(inputs: &[(Option<u32>, f64)], input: Option<u32>) -> Self {
        let own = || inputs.iter().filter(|(of, _)| *of == input).map(|(_, share)| share);
        let all: f64 = own().sum();
        let same: f64 = inputs.iter().map(|(_, share)| share * share).sum();
        Self {
            contending: if all > 0.0 {
                1.0 - own().map(|share| share * share).sum::<f64>() / all
            } else {
                1.0
            },
            different: (1.0 - same).max(0.0),
            others: inputs.len() as f64 - 1.0,
        }
    }

    pub(super) fn add(&mut self, share: f64, one: Self) {
        self.contending += share * one.contending;
        self.different += share * one.different;
        self.others += share * one.others;
    }
}

/// A channel, or one half of its virtual channels, per message that each sender generates.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ChannelUse {
    /// Its dimension; its number where all paths are enumerated.
    pub(super) dimension: u32,
    /// Parallel links, of which a router chooses one.
    pub(super) links: u32,
    /// Messages on each of the parallel links.
    pub(super) rate: f64,
    /// The same with the other half of the virtual channels.
    pub(super) on_link: f64,
    /// Whether it is the half behind the dateline.
    pub(super) is_upper: bool,
    /// [`on_link`](Self::on_link) of each class, where classes go different ways; else all have the same.
    pub(super) by_class: Option<Vec<f64>>,
}

impl ChannelUse {
    /// The ejection link of each node, where all receive alike.
    pub(super) fn end() -> Self {
        Self { dimension: 0, links: 1, rate: 1.0, on_link: 1.0, is_upper: false, by_class: None }
    }

    /// Messages of a class on the link per message that each of its senders generates.
    pub(super) fn of_class(&self, class: usize) -> f64 {
        self.by_class.as_ref().map_or(self.on_link, |of| of[class])
    }
}

/// The most used of the links to routers with a delay, where any link has one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct DelayedLink {
    /// `d` \[cycles\].
    pub(super) delay: u32,
    /// Whether its messages take the half of their virtual channels behind a dateline.
    is_upper: bool,
    /// Messages on it, per message that each sender generates.
    pub(super) rate: f64,
}

impl DelayedLink {
    /// Flits per cycle that it carries at most in so many virtual channels of a class, of so many slots each: a slot is
    /// taken for `2 d + 3` cycles.
    pub(super) fn carries(&self, lanes: u32, has_halves: bool, buffer: f64) -> f64 {
        let lanes = match (has_halves, self.is_upper) {
            (false, _) => lanes,
            (true, false) => lanes / 2,
            (true, true) => lanes - lanes / 2,
        };
        (f64::from(lanes) * buffer / (2.0 * f64::from(self.delay) + 3.0)).min(1.0)
    }
}

/// Senders that are alike.
#[derive(Clone, Debug)]
pub(super) struct Sender {
    /// Their share of the senders.
    pub(super) share: f64,
    /// Where their messages leave the first router: channels, and ejection links of messages that stay.
    pub(super) outputs: Outputs,
}

/// Outputs on paths of any length, each as all messages meet them in the mean; the shares of each sum to one.
#[derive(Clone, Debug, Default)]
struct Typical {
    /// Of messages that stay at their router.
    staying: Outputs,
    first: Outputs,
    /// Channels beyond the first.
    middle: Outputs,
    last: Outputs,
}

/// What is known of outputs on paths.
#[derive(Clone, Debug)]
enum OnPaths {
    /// By hops and router.
    ByHops(Vec<Vec<Outputs>>),
    /// Of paths of any length.
    Alike(Typical),
}

/// The paths of a network.
#[derive(Clone, Debug)]
pub(super) struct Paths {
    pub(super) channels: Vec<ChannelUse>,
    /// Ejection links.
    pub(super) ends: Vec<ChannelUse>,
    /// Share of the senders of the class that send each class as well, where not all do.
    pub(super) at_interface: Option<Vec<f64>>,
    pub(super) senders: Vec<Sender>,
    /// Whether messages take halves of their virtual channels.
    pub(super) has_halves: bool,
    /// Share of the messages by hops, and their mean.
    shares: Vec<f64>,
    mean_hops: f64,
    /// By hops: shares of all messages, each with the delay of all links on its way; none where no path has any.
    delays: Vec<Vec<(f64, u32)>>,
    pub(super) most_used: Vec<DelayedLink>,
    /// `p_j`: by output, the inputs of its traffic: dimension, or the interface, and the share of each.
    inputs: Vec<Vec<(Option<u32>, f64)>>,
    /// By channel from which it is reached, the interface last: outputs in order, with what shares each and
    /// [`same`](Self::same).
    shared: Vec<Vec<(u32, Crossing, f64)>>,
    onward: Vec<Outputs>,
    outputs: OnPaths,
    first: Outputs,
    middle: Outputs,
    last: Outputs,
    /// All outputs that are met at all.
    pub(super) all: Vec<Output>,
}

/// What a network is described by.
struct Parts {
    channels: Vec<ChannelUse>,
    ends: Vec<ChannelUse>,
    shares: Vec<f64>,
    mean_hops: f64,
    /// none where no link has a delay.
    delays: Vec<Vec<(f64, u32)>>,
    most_used: Vec<DelayedLink>,
    /// none where all are alike.
    senders: Vec<Sender>,
    at_interface: Option<Vec<f64>>,
    inputs: Vec<Vec<(Option<u32>, f64)>>,
    onward: Vec<Outputs>,
    outputs: OnPaths,
    /// All outputs: what traffic shares each, and how often another message of the same input wants the same output.
    all: Vec<(Output, Crossing, f64)>,
}

/// Each output once.
pub(super) fn merged(parts: impl Iterator<Item = (f64, (f64, Output))>) -> Outputs {
    let mut outputs = Outputs::new();
    let mut known: HashMap<Output, usize> = HashMap::new();
    for (share, (part, output)) in parts {
        match known.get(&output) {
            Some(at) => outputs[*at].0 += share * part,
            None => {
                known.insert(output, outputs.len());
                outputs.push((share * part, output));
            }
        }
    }
    outputs
}

impl Paths {
    fn new(network: &dyn Topology, parts: Parts) -> Self {
        let Parts { channels, ends, shares, mean_hops, senders, at_interface, .. } = parts;
        let mut shared = vec![Vec::new(); channels.len() + 1];
        for (Output { from, to }, crossing, same) in &parts.all {
            let from = from.map_or(channels.len(), |channel| channel as usize);
            shared[from].push((*to, *crossing, *same));
        }
        shared.iter_mut().for_each(|outputs| outputs.sort_unstable_by_key(|(to, ..)| *to));
        let mut paths = Self {
            channels,
            ends,
            at_interface,
            senders,
            has_halves: network.has_rings(),
            shares,
            mean_hops,
            delays: parts.delays,
            most_used: parts.most_used,
            inputs: parts.inputs,
            shared,
            onward: parts.onward,
            outputs: parts.outputs,
            first: Outputs::new(),
            middle: Outputs::new(),
            last: Outputs::new(),
            all: parts.all.iter().map(|(output, ..)| *output).collect(),
        };
        let (first, middle, mut last) = match &paths.outputs {
            OnPaths::ByHops(_) => paths.merged_over_hops(),
            OnPaths::Alike(Typical { first, middle, last, .. }) => {
                let of_all = |outputs: &Outputs| -> Outputs {
                    outputs.iter().map(|(share, output)| (share * paths.moving(), *output)).collect()
                };
                (of_all(first), middle.clone(), of_all(last))
            }
        };
        if paths.moving() <= 0.0 {
            last = paths.outputs(0, 1).to_vec();
        }
        if paths.senders.is_empty() {
            let staying = Output { from: None, to: paths.channels.len() as u32 };
            let staying = Some((1.0 - paths.moving(), staying)).filter(|(share, _)| *share > 0.0);
            let outputs = first.iter().copied().chain(staying).collect();
            paths.senders.push(Sender { share: 1.0, outputs });
        }
        Self { first, middle, last, ..paths }
    }

    /// First, later and last outputs of paths of all lengths.
    fn merged_over_hops(&self) -> (Outputs, Outputs, Outputs) {
        let of = |routers: &dyn Fn(u32) -> std::ops::Range<u32>, all: f64| {
            let met = (1..=self.most_hops()).flat_map(|hops| routers(hops).map(move |k| (hops, k)));
            merged(met.flat_map(|(hops, k)| {
                self.outputs(hops, k).iter().map(move |one| (self.share(hops) / all, *one))
            }))
        };
        let all = (self.mean_hops() - self.moving()).max(1e-300);
        (of(&|_| 1..2, 1.0), of(&|hops| 2..hops + 1, all), of(&|hops| hops + 1..hops + 2, 1.0))
    }

    /// What shares an output that is met at all, and how often another message wants the same.
    fn shared(&self, Output { from, to }: Output) -> Option<(Crossing, f64)> {
        let outputs = &self.shared[from.map_or(self.channels.len(), |channel| channel as usize)];
        let place = outputs.binary_search_by_key(&to, |(to, ..)| *to).ok()?;
        Some((outputs[place].1, outputs[place].2))
    }

    /// Whether an output is an ejection link.
    pub(super) fn is_end(&self, to: u32) -> bool {
        to as usize >= self.channels.len()
    }

    /// Network channels, then ejection links.
    pub(super) fn links(&self) -> impl Iterator<Item = &ChannelUse> {
        self.channels.iter().chain(&self.ends)
    }

    /// Hops of the longest paths.
    pub(super) fn most_hops(&self) -> u32 {
        self.shares.len() as u32 - 1
    }

    /// Share of the messages that cross `hops` channels.
    pub(super) fn share(&self, hops: u32) -> f64 {
        self.shares[hops as usize]
    }

    /// Delays of all links on paths of so many hops, each with its share of them.
    pub(super) fn delays(&self, hops: u32) -> Vec<(f64, u32)> {
        let (share, delays) = (self.share(hops), self.delays.get(hops as usize));
        match delays.filter(|_| share > 0.0) {
            Some(delays) => delays.iter().map(|(part, delay)| (part / share, *delay)).collect(),
            None => vec![(1.0, 0)],
        }
    }

    /// Their mean \[cycles\].
    pub(super) fn mean_delay(&self, hops: u32) -> f64 {
        self.delays(hops).iter().map(|(share, delay)| share * f64::from(*delay)).sum()
    }

    /// Share of the messages that leave their first router over a channel.
    pub(super) fn moving(&self) -> f64 {
        if self.shares[0] > 0.0 { 1.0 - self.shares[0] } else { 1.0 }
    }

    /// Numbers of hops that there are.
    pub(super) fn hops(&self) -> impl Iterator<Item = u32> {
        u32::from(self.shares[0] == 0.0)..=self.most_hops()
    }

    /// Mean hops of a message.
    pub(super) fn mean_hops(&self) -> f64 {
        self.mean_hops
    }

    /// Traffic that shares an output.
    pub(super) fn crossing(&self, output: Output) -> Crossing {
        self.shared(output).map_or(Crossing::NOTHING, |(crossing, _)| crossing)
    }

    /// `S_2` of all traffic of a channel.
    pub(super) fn different(&self, channel: u32) -> f64 {
        Crossing::new(self.inputs(channel), None).different
    }

    /// `p_j`: shares of the inputs in the traffic of an output, by dimension, or none of the interface.
    pub(super) fn inputs(&self, to: u32) -> &[(Option<u32>, f64)] {
        &self.inputs[to as usize]
    }

    /// The dimension of the input over which messages come to an output.
    pub(super) fn input(&self, output: Output) -> Option<u32> {
        output.from.map(|from| self.channels[from as usize].dimension)
    }

    /// `p`: how often another message that has come over the same input wants the same output.
    pub(super) fn same(&self, output: Output) -> f64 {
        self.shared(output).map_or(0.0, |(_, same)| same)
    }

    /// Outputs of router `k = 1, .., h + 1` on the paths of `hops`, and how often; the last is the ejection link.
    pub(super) fn outputs(&self, hops: u32, k: u32) -> &[(f64, Output)] {
        let typical = match &self.outputs {
            OnPaths::ByHops(outputs) => return &outputs[hops as usize][k as usize - 1],
            OnPaths::Alike(typical) => typical,
        };
        match (hops, k) {
            (0, _) => &typical.staying,
            (_, 1) => &typical.first,
            _ if k > hops => &typical.last,
            _ => &typical.middle,
        }
    }

    /// A mean over outputs.
    pub(super) fn mean(&self, outputs: &[(f64, Output)]) -> Crossing {
        let mut mean = Crossing::NOTHING;
        for (share, output) in outputs {
            mean.add(*share, self.crossing(*output));
        }
        mean
    }

    /// First channels of the messages that cross any.
    pub(super) fn first(&self) -> &Outputs {
        &self.first
    }

    /// Ejection links of the messages that cross channels.
    pub(super) fn last(&self) -> &Outputs {
        &self.last
    }

    /// Channels beyond the first; the shares sum to one, if there are any.
    pub(super) fn middle(&self) -> &Outputs {
        &self.middle
    }

    /// Where messages go that come over channel `from`.
    pub(super) fn onward(&self, from: u32) -> &Outputs {
        &self.onward[from as usize]
    }
}

/// What paths depend on: the network, and where each class that sends has its senders and destinations; none where all
/// send to all alike.
type PathsKey = (Network, Option<Vec<(DestinationSpec, Option<NodeList>)>>);

/// The paths of classes, or none of more kinds of channels than are solved.
#[derive(Clone)]
struct Found {
    kinds: usize,
    paths: Vec<Rc<Paths>>,
}

thread_local! {
    /// What was last asked for.
    static KNOWN: RefCell<Vec<(PathsKey, Found)>> = const { RefCell::new(Vec::new()) };
}

/// Scenarios whose paths are kept.
const MOST_KNOWN: usize = 8;

/// Whether all ways are followed, and no declared symmetry saves it.
pub(super) fn are_enumerated(scenario: &Scenario) -> bool {
    let is_uniform = (0..scenario.classes().len()).all(|class| scenario.is_uniform(class));
    !(is_uniform && scenario.topology().is_dimension_ordered())
}

/// Ways that are followed for the classes at these places of a scenario, where all are.
pub(super) fn ways(scenario: &Scenario, places: &[usize]) -> u64 {
    NodeGroups::ways(&*scenario.topology(), &traffic(scenario, places))
}

/// Where the messages of classes go; lists of all nodes are all nodes.
fn traffic(scenario: &Scenario, places: &[usize]) -> Vec<Traffic> {
    let network = scenario.topology();
    let of = |place: &usize| match scenario.is_uniform(*place) {
        true => Traffic::uniform(&*network, 1.0),
        false => Traffic::of(scenario, *place),
    };
    places.iter().map(of).collect()
}

/// What is found of the classes at these places of a scenario. Channels are counted before tables over them are made.
fn found(scenario: &Scenario, places: &[usize]) -> Found {
    let (network, classes) = (scenario.topology(), scenario.classes());
    let spec = |place: &usize| (classes[*place].destination.clone(), classes[*place].nodes.clone());
    let is_enumerated = are_enumerated(scenario);
    let key: PathsKey = (network.clone(), is_enumerated.then(|| places.iter().map(spec).collect()));
    KNOWN.with_borrow_mut(|known| {
        if let Some((_, found)) = known.iter().find(|(of, _)| *of == key) {
            return found.clone();
        }
        let found = if is_enumerated {
            let channels = ChannelClasses::of(&*network, &traffic(scenario, places));
            let kinds = channels.most_kinds();
            let is_solved = kinds <= MOST_KINDS;
            let paths = if is_solved { enumerated::paths(&*network, &channels) } else { Vec::new() };
            Found { kinds, paths }
        } else {
            let paths = uniform(&*network);
            Found { kinds: paths.links().count(), paths: vec![Rc::new(paths)] }
        };
        known.truncate(MOST_KNOWN - 1);
        known.insert(0, (key, found.clone()));
        found
    })
}

/// The paths of the classes at these places of a scenario.
///
/// # Panics
/// If they take more than [`MOST_KINDS`] kinds of channels, whose paths are enumerated.
pub(super) fn of(scenario: &Scenario, places: &[usize]) -> Vec<Rc<Paths>> {
    let Found { kinds, paths } = found(scenario, places);
    if !are_enumerated(scenario) {
        return vec![Rc::clone(&paths[0]); places.len()];
    }
    assert_eq!(paths.len(), places.len(), "{kinds} kinds of channels");
    paths
}

/// The paths of a network whose dimensions part, with uniform destinations; those of a cube by formulas.
pub(super) fn uniform(network: &dyn Topology) -> Paths {
    let is_cube = network.routers() > 1
        && network.sides().iter().all(|side| *side == 2)
        && network.nodes() == network.routers()
        && network.parallel_links() == 1;
    if is_cube { cube::paths(network) } else { lines::paths(network) }
}

/// Kinds of channels that the classes at these places of a scenario take, which a solution takes time for each of.
pub(super) fn kinds(scenario: &Scenario, places: &[usize]) -> usize {
    found(scenario, places).kinds
}
