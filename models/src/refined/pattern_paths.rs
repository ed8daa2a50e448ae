//! Paths of any senders and destinations, by enumeration of all pairs of nodes.
//!
//! Every message is followed from router to router, and each channel, or half of its virtual channels, keeps what it
//! brings to the next ones. Channels are alike that carry the same of every class and are entered from, and left for,
//! channels that are alike, as often; so are nodes that send alike. They are found by refinement: channels of equal
//! loads are told apart by those before and behind them until nothing more is told apart (partition refinement, as for
//! lumpable Markov chains). With uniform destinations in a cube the channels of a dimension are left.
//!
//! Routing is free of deadlock, so that no chain of channels comes back to its start; channels that are alike stand
//! equally far behind the first ones, and numbers rise along every path.
//!
//! Outputs are known for first, later and last routers, each as all messages meet them in the mean, not by hops: sums
//! over a path are exact in the mean over all paths (our approximation for anything else).

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use super::channel_paths::{ChannelUse, Parts, Paths, Pooled, Sender};
use super::ecube_paths::{Crossing, Output, Outputs};
use super::lattice_paths::crossing;
use flitwise_language::network::{Half, Network};
use flitwise_language::scenario::{DestinationSpec, NodeList, Scenario};

/// Kinds of channels up to which a class is solved.
pub(super) const MOST_KINDS: usize = 1024;
/// Nodes up to which all pairs are followed: in a network, and in a single router, where each pair is a step by itself.
const MOST_NODES: u32 = 512;
const MOST_PORTS: u32 = 256;

/// Nodes of a network up to which all pairs are followed.
pub(super) fn most_nodes(network: &Network) -> u32 {
    if network.routers() == 1 { MOST_PORTS } else { MOST_NODES }
}

/// Where a message comes from: a node, or a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Point {
    Node(u32),
    Channel(usize),
}

/// A channel with all that shares its virtual channels, or an ejection link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Channel {
    router: u32,
    /// The first of parallel links.
    port: u32,
    is_upper: bool,
    is_end: bool,
}

/// What a class sends from point to point, per message that each of its senders generates.
#[derive(Default)]
struct Flows {
    senders: Vec<u32>,
    steps: BTreeMap<(Point, usize), f64>,
    /// Share of the messages by hops.
    hops: Vec<f64>,
}

/// The channels of a network that any class takes.
#[derive(Default)]
struct Channels {
    all: Vec<Channel>,
    known: HashMap<Channel, usize>,
}

impl Channels {
    fn number(&mut self, channel: Channel) -> usize {
        *self.known.entry(channel).or_insert_with(|| {
            self.all.push(channel);
            self.all.len() - 1
        })
    }

    /// All that a class sends.
    fn follow(&mut self, scenario: &Scenario, class: usize) -> Flows {
        let network = scenario.topology();
        let destinations = scenario.destinations(class);
        let senders = scenario.senders(class);
        let mut flows = Flows { hops: vec![0.0; network.most_hops() as usize + 1], ..Flows::default() };
        for sender in &senders {
            for (to, share) in destinations.towards(*sender).each() {
                let (mut from, mut links) = (Point::Node(*sender), 0);
                for hop in network.path(*sender, to) {
                    let (router, port, is_end) = (hop.router, hop.port, !hop.is_between_routers());
                    let is_upper = !is_end && network.half(router, *sender, to) == Half::Upper;
                    let channel = self.number(Channel { router, port, is_upper, is_end });
                    *flows.steps.entry((from, channel)).or_default() += share;
                    (from, links) = (Point::Channel(channel), links + 1);
                }
                flows.hops[links - 1] += share / senders.len() as f64;
            }
        }
        while flows.hops.len() > 1 && flows.hops.last().is_some_and(|share| *share <= 0.0) {
            flows.hops.pop();
        }
        Flows { senders, ..flows }
    }
}

/// Shares that differ by rounding alone are one.
fn rounded(share: f64) -> i64 {
    (share * 1e9).round() as i64
}

/// Channels that are alike have one colour.
struct Colours {
    channels: Vec<usize>,
    count: usize,
}

/// A point as those before and behind it see it: the colours of these, and how much of each class goes there.
type Signature = (usize, Vec<(usize, bool, usize, i64)>);

impl Colours {
    fn of(network: &Network, channels: &Channels, flows: &[Flows]) -> Self {
        let (nodes, count) = (network.nodes() as usize, channels.all.len());
        let place = |point: Point| match point {
            Point::Node(node) => node as usize,
            Point::Channel(channel) => nodes + channel,
        };
        // by place: class, whether it comes from there, the other place, and how much
        let mut steps: Vec<Vec<(usize, bool, usize, i64)>> = vec![Vec::new(); nodes + count];
        for (class, flows) in flows.iter().enumerate() {
            for ((from, to), share) in &flows.steps {
                let (from, to, share) = (place(*from), nodes + to, rounded(*share));
                steps[from].push((class, false, to, share));
                steps[to].push((class, true, from, share));
            }
        }
        let on_link = on_links(channels, flows);
        let first = |at: usize| -> Vec<i64> {
            let Some(channel) = at.checked_sub(nodes).map(|at| channels.all[at]) else { return vec![-1] };
            let loads = on_link[&(channel.router, channel.port)].iter().map(|load| rounded(*load));
            [i64::from(channel.is_upper), i64::from(channel.is_end)].into_iter().chain(loads).collect()
        };
        let mut colours = numbered((0..nodes + count).map(first));
        loop {
            let seen = |at: usize| -> Signature {
                let others = steps[at]
                    .iter()
                    .map(|(class, is_in, of, share)| (*class, *is_in, colours.0[*of], *share));
                let mut others: Vec<_> = others.collect();
                others.sort_unstable();
                (colours.0[at], others)
            };
            let finer = numbered((0..nodes + count).map(seen));
            if finer.1 == colours.1 {
                return Self { channels: finer.0[nodes..].to_vec(), count: finer.1 };
            }
            colours = finer;
        }
    }
}

/// A number for each, equal ones where they are equal, and how many there are.
fn numbered<T: std::hash::Hash + Eq>(all: impl Iterator<Item = T>) -> (Vec<usize>, usize) {
    let mut known: HashMap<T, usize> = HashMap::new();
    let mut numbers = Vec::new();
    for one in all {
        let next = known.len();
        numbers.push(*known.entry(one).or_insert(next));
    }
    (numbers, known.len())
}

/// Messages of each class on a link, or on all parallel ones together, with both halves of the virtual channels.
fn on_links(channels: &Channels, flows: &[Flows]) -> HashMap<(u32, u32), Vec<f64>> {
    let mut loads: HashMap<(u32, u32), Vec<f64>> = HashMap::new();
    let classes = flows.len();
    for (class, flows) in flows.iter().enumerate() {
        for ((_, to), share) in &flows.steps {
            let Channel { router, port, .. } = channels.all[*to];
            loads.entry((router, port)).or_insert_with(|| vec![0.0; classes])[class] += share;
        }
    }
    loads
}

/// The paths of one class, its channels numbered by colour.
struct OneClass<'f> {
    network: &'f Network,
    channels: &'f Channels,
    flows: &'f Flows,
    /// By channel: its number among those that the class takes.
    numbers: Vec<u32>,
    /// One channel of each number.
    samples: Vec<usize>,
    /// How many of them are network channels.
    inner: usize,
    /// Messages on each channel.
    sums: Vec<f64>,
}

impl<'f> OneClass<'f> {
    fn new(network: &'f Network, channels: &'f Channels, colours: &'f Colours, flows: &'f Flows) -> Self {
        let mut sums = vec![0.0; channels.all.len()];
        flows.steps.iter().for_each(|((_, to), share)| sums[*to] += share);
        let depths = depths(channels.all.len(), flows);
        let mut samples: Vec<usize> = (0..sums.len()).filter(|at| sums[*at] > 0.0).collect();
        let order = |at: &usize| (channels.all[*at].is_end, depths[*at], colours.channels[*at]);
        samples.sort_by_key(order);
        samples.dedup_by_key(|at| colours.channels[*at]);
        let mut of_colour = vec![0; colours.count];
        samples.iter().zip(0..).for_each(|(at, number)| of_colour[colours.channels[*at]] = number);
        let inner = samples.iter().filter(|at| !channels.all[**at].is_end).count();
        let numbers = colours.channels.iter().map(|colour| of_colour[*colour]).collect();
        Self { network, channels, flows, numbers, samples, inner, sums }
    }

    fn links(&self, channel: usize) -> u32 {
        if self.channels.all[channel].is_end { 1 } else { self.network.parallel_links() }
    }

    fn from(&self, point: Point) -> Option<u32> {
        match point {
            Point::Node(_) => None,
            Point::Channel(channel) => Some(self.numbers[channel]),
        }
    }

    /// The inputs of the traffic of an output, by channels that are alike, each with its share.
    fn inputs(&self, sample: usize) -> Vec<(Option<u32>, f64)> {
        let steps = self.flows.steps.iter().filter(|((_, to), _)| *to == sample);
        let mut inputs = Vec::new();
        for ((from, _), share) in steps {
            let links = match from {
                Point::Node(_) => 1,
                Point::Channel(channel) => self.links(*channel),
            };
            let part = share / self.sums[sample] / f64::from(links);
            inputs.extend((0..links).map(|_| (self.from(*from), part)));
        }
        inputs
    }

    /// All outputs: how often each is met, and how often another message of the same input wants the same.
    fn outputs(&self) -> BTreeMap<(Option<u32>, u32), (f64, f64)> {
        let mut outputs: BTreeMap<(Option<u32>, u32), (f64, f64)> = BTreeMap::new();
        for ((from, to), share) in &self.flows.steps {
            let all = match from {
                Point::Node(_) => 1.0,
                Point::Channel(channel) => self.sums[*channel],
            };
            let (sum, same) = outputs.entry((self.from(*from), self.numbers[*to])).or_default();
            *sum += share;
            *same += share * share / all;
        }
        outputs.values_mut().for_each(|(sum, same)| *same /= *sum);
        outputs
    }

    /// Senders whose messages leave their routers alike.
    fn senders(&self) -> Vec<Sender> {
        let all = self.flows.senders.len() as f64;
        let mut alike: BTreeMap<Vec<(u32, i64)>, Sender> = BTreeMap::new();
        for sender in &self.flows.senders {
            let mut outputs: BTreeMap<u32, f64> = BTreeMap::new();
            let from = Point::Node(*sender);
            let steps = self.flows.steps.range((from, 0)..=(from, usize::MAX));
            steps.for_each(|((_, to), share)| *outputs.entry(self.numbers[*to]).or_default() += share);
            let key = outputs.iter().map(|(to, share)| (*to, rounded(*share))).collect();
            let outputs =
                || outputs.iter().map(|(to, share)| (*share, Output { from: None, to: *to })).collect();
            alike.entry(key).or_insert_with(|| Sender { share: 0.0, outputs: outputs() }).share += 1.0 / all;
        }
        alike.into_values().collect()
    }

    fn paths(&self, on_link: &HashMap<(u32, u32), Vec<f64>>, at_interface: Vec<f64>, class: usize) -> Paths {
        let channel = |(number, sample): (usize, &usize)| {
            let Channel { router, port, is_upper, .. } = self.channels.all[*sample];
            let links = f64::from(self.links(*sample));
            let by_class: Vec<f64> = on_link[&(router, port)].iter().map(|of| of / links).collect();
            ChannelUse {
                dimension: number as u32,
                rate: self.sums[*sample] / links,
                on_link: by_class[class],
                is_upper,
                by_class: Some(by_class),
            }
        };
        let mut links: Vec<ChannelUse> = self.samples.iter().enumerate().map(channel).collect();
        let ends = links.split_off(self.inner);
        let inputs: Vec<_> = self.samples.iter().map(|sample| self.inputs(*sample)).collect();
        let outputs = self.outputs();
        let all: Vec<(Output, Crossing, f64)> = outputs
            .iter()
            .map(|((from, to), (_, same))| {
                (Output { from: *from, to: *to }, crossing(&inputs[*to as usize], *from), *same)
            })
            .collect();
        let mut onward = vec![Outputs::new(); self.inner];
        for ((from, to), (sum, _)) in &outputs {
            if let Some(from) = from {
                onward[*from as usize].push((*sum, Output { from: Some(*from), to: *to }));
            }
        }
        onward.iter_mut().for_each(normalise);
        let is_end = |to: u32| to as usize >= self.inner;
        let pool = |counts: &dyn Fn(Option<u32>, u32) -> bool| -> Outputs {
            let met = outputs.iter().filter(|((from, to), _)| counts(*from, *to));
            let mut met: Outputs =
                met.map(|((from, to), (sum, _))| (*sum, Output { from: *from, to: *to })).collect();
            normalise(&mut met);
            met
        };
        let pooled = Pooled {
            staying: pool(&|from, to| from.is_none() && is_end(to)),
            first: pool(&|from, to| from.is_none() && !is_end(to)),
            middle: pool(&|from, to| from.is_some() && !is_end(to)),
            last: pool(&|from, to| from.is_some() && is_end(to)),
        };
        let hops = self.flows.hops.clone();
        let parts = Parts {
            channels: links,
            ends,
            has_halves: self.network.has_rings(),
            links: self.network.parallel_links(),
            mean_hops: hops.iter().zip(0..).map(|(share, hops)| share * f64::from(hops)).sum(),
            outputs: (0..hops.len()).map(|hops| vec![Outputs::new(); hops + 1]).collect(),
            shares: hops,
            inputs,
            onward,
        };
        Paths::pooled(parts, pooled, (self.senders(), Some(at_interface)), &all)
    }
}

/// Shares that sum to one.
fn normalise(outputs: &mut Outputs) {
    let all: f64 = outputs.iter().map(|(share, _)| share).sum();
    outputs.iter_mut().for_each(|(share, _)| *share /= all);
}

/// How many channels of a class may lie before each.
fn depths(count: usize, flows: &Flows) -> Vec<u32> {
    let (mut next, mut before) = (vec![Vec::new(); count], vec![0_u32; count]);
    for (from, to) in flows.steps.keys() {
        if let Point::Channel(from) = from {
            next[*from].push(*to);
            before[*to] += 1;
        }
    }
    let mut depths = vec![0; count];
    let mut ready: Vec<usize> = (0..count).filter(|at| before[*at] == 0).collect();
    while let Some(at) = ready.pop() {
        for to in &next[at] {
            depths[*to] = depths[*to].max(depths[at] + 1);
            before[*to] -= 1;
            if before[*to] == 0 {
                ready.push(*to);
            }
        }
    }
    depths
}

/// What paths depend on: the network, and where each class that sends has its senders and destinations.
type Known = (Network, Vec<(DestinationSpec, Option<NodeList>)>);

thread_local! {
    /// What was last asked for.
    static KNOWN: RefCell<Vec<(Known, Vec<Rc<Paths>>)>> = const { RefCell::new(Vec::new()) };
}

/// Scenarios whose paths are kept.
const MOST_KNOWN: usize = 4;

/// The paths of the classes at these places of a scenario.
pub(super) fn of(scenario: &Scenario, places: &[usize]) -> Vec<Rc<Paths>> {
    let classes = scenario.classes();
    let spec = |place: &usize| (classes[*place].destination.clone(), classes[*place].nodes.clone());
    let key: Known = (scenario.topology(), places.iter().map(spec).collect());
    KNOWN.with_borrow_mut(|known| {
        if let Some((_, paths)) = known.iter().find(|(of, _)| *of == key) {
            return paths.clone();
        }
        let paths = enumerated(scenario, places);
        known.truncate(MOST_KNOWN - 1);
        known.insert(0, (key, paths.clone()));
        paths
    })
}

fn enumerated(scenario: &Scenario, places: &[usize]) -> Vec<Rc<Paths>> {
    let network = scenario.topology();
    let mut channels = Channels::default();
    let flows: Vec<Flows> = places.iter().map(|place| channels.follow(scenario, *place)).collect();
    let colours = Colours::of(&network, &channels, &flows);
    let on_link = on_links(&channels, &flows);
    let one = |class: usize| {
        let own = &flows[class].senders;
        let sends = |other: &Flows| {
            let both = own.iter().filter(|node| other.senders.binary_search(node).is_ok()).count();
            both as f64 / own.len().max(1) as f64
        };
        let at_interface = flows.iter().map(sends).collect();
        Rc::new(OneClass::new(&network, &channels, &colours, &flows[class]).paths(
            &on_link,
            at_interface,
            class,
        ))
    };
    (0..flows.len()).map(one).collect()
}

/// A single router where all send and receive alike, by formulas.
pub(super) fn of_router(network: &Network) -> Rc<Paths> {
    let ports = network.nodes();
    let inputs = vec![(None, 1.0 / f64::from(ports)); ports as usize];
    let output = Output { from: None, to: 0 };
    let met = vec![(1.0, output)];
    let all = [(output, crossing(&inputs, None), 1.0 / f64::from(ports))];
    let pooled =
        Pooled { staying: met.clone(), first: Outputs::new(), middle: Outputs::new(), last: Outputs::new() };
    let parts = Parts {
        channels: Vec::new(),
        ends: vec![ChannelUse::end()],
        has_halves: false,
        links: 1,
        mean_hops: 0.0,
        outputs: vec![vec![Outputs::new()]],
        shares: vec![1.0],
        inputs: vec![inputs],
        onward: Vec::new(),
    };
    Rc::new(Paths::pooled(parts, pooled, (vec![Sender { share: 1.0, outputs: met }], None), &all))
}

/// Kinds of channels that the classes of a scenario take, which a solution takes time for each of.
pub(super) fn kinds(paths: &[Rc<Paths>]) -> usize {
    paths.iter().map(|paths| paths.links().count()).max().unwrap_or(0)
}
