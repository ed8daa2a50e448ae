//! Channels that are alike, of any topology, senders and destinations, by enumeration of all ways.
//!
//! Every message is followed from router to router, and each channel, or half of its virtual channels, keeps what it
//! brings to the next ones. Channels are alike that carry the same of every class and are entered from, and left for,
//! channels that are alike, as often; so are nodes that send alike. They are found by refinement: channels of equal
//! loads are told apart by those before and behind them until nothing more is told apart (partition refinement, as for
//! lumpable Markov chains). With uniform destinations in a cube the channels of a dimension are left.
//!
//! Nodes that stand for one another are followed together ([`NodeGroups`]): a step from or to them stands for those of
//! each of them, and all that is told is told of one of these. Channels are numbered by router and port, so that nothing
//! depends on the order in which ways are followed.

use std::collections::{BTreeMap, HashMap};

use flitwise_language::network::{Half, Topology};

use super::Traffic;
use super::groups::{NodeGroups, Together};

/// Where a message comes from: nodes that send together, or a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Point {
    /// By place among the groups of senders.
    Nodes(usize),
    Channel(usize),
}

/// A channel with all that shares its virtual channels, or the ejection links of nodes that receive together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Channel {
    pub(crate) router: u32,
    /// The first of parallel links, or of those of which a router chooses, or of ejection links that are alike.
    pub(crate) port: u32,
    /// How many of them there are of which a router chooses one.
    pub(crate) links: u32,
    pub(crate) is_upper: bool,
    pub(crate) is_end: bool,
    /// Ejection links that it stands for, one for each node; 1 of other channels.
    pub(crate) nodes: u32,
}

/// What goes from a point to a channel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) from: Point,
    pub(crate) to: usize,
    /// Messages per message that each sender generates.
    pub(crate) share: f64,
    /// Steps from one node, or to one, that it stands for.
    pub(crate) singles: f64,
}

impl Step {
    /// Messages on one of them.
    pub(crate) fn of_one(&self) -> f64 {
        self.share / self.singles
    }
}

/// What a class sends from point to point, per message that each of its senders generates.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flows {
    /// Groups of nodes that send, in order.
    pub(crate) senders: Vec<usize>,
    /// Nodes that send.
    pub(crate) sending: usize,
    /// By point, then by channel.
    pub(crate) steps: Vec<Step>,
    /// Share of the messages by hops.
    pub(crate) hops: Vec<f64>,
    /// The same by hops and delay of all links on the way together, those to and from nodes included.
    pub(crate) delays: Vec<BTreeMap<u32, f64>>,
}

/// The channels of a network that any class takes, and which of them are alike.
#[derive(Clone, Debug, Default)]
pub(crate) struct ChannelClasses {
    pub(crate) groups: NodeGroups,
    /// By router and port.
    pub(crate) channels: Vec<Channel>,
    /// Of messages that go different ways.
    pub(crate) flows: Vec<Flows>,
    /// By class of messages: which of them it has.
    pub(crate) flows_of: Vec<usize>,
    /// The number of each channel; channels that are alike have one.
    pub(crate) numbers: Vec<usize>,
    /// How many numbers there are.
    pub(crate) count: usize,
}

/// Ways as they are followed, channels numbered as they are met.
struct Followed<'n> {
    network: &'n dyn Topology,
    groups: &'n NodeGroups,
    channels: Vec<Channel>,
    known: HashMap<Channel, usize>,
}

impl Followed<'_> {
    fn number(&mut self, channel: Channel) -> usize {
        *self.known.entry(channel).or_insert_with(|| {
            self.channels.push(channel);
            self.channels.len() - 1
        })
    }

    /// The channels on a way from one node of a group to one of another, and the delay of all its links together.
    fn way(&mut self, Together { from, to, .. }: Together, way: u32) -> (Vec<usize>, u32) {
        let network = self.network;
        let (source, nodes) = (self.groups.senders[from][0], &self.groups.receivers[to]);
        let (destination, nodes) = (nodes[0], nodes.len() as u32);
        let (router, port) = network.entry(source);
        let (mut channels, mut delay) = (Vec::new(), network.delay(router, port));
        for hop in network.path(source, destination, way) {
            let (router, is_end) = (hop.router, !hop.is_between_routers());
            let choice = network.candidates(router, source, destination).filter(|_| !is_end);
            let one = || (hop.port, network.parallel(router, hop.port));
            let (port, links) = choice.map_or_else(one, |choice| (choice.first, choice.count));
            let is_upper = !is_end && network.half(router, source, destination) == Half::Upper;
            let nodes = if is_end { nodes } else { 1 };
            channels.push(self.number(Channel { router, port, links, is_upper, is_end, nodes }));
            delay += network.delay(router, hop.port);
        }
        (channels, delay)
    }

    /// All that a class sends.
    fn flows(&mut self, class: &Traffic) -> Flows {
        let (network, groups) = (self.network, self.groups);
        let (ways, sending) = (network.ways(), class.senders.len());
        let (senders, hops) = (groups.senders_of(class), vec![0.0]);
        let mut flows = Flows { senders, sending, hops, delays: vec![BTreeMap::new()], ..Flows::default() };
        let mut steps: HashMap<(Point, usize), Step> = HashMap::new();
        for together in groups.of_class(class) {
            let share = together.share / f64::from(ways);
            for way in 0..ways {
                let (channels, delay) = self.way(together, way);
                let mut from = Point::Nodes(together.from);
                for to in &channels {
                    let nodes = f64::from(self.channels[*to].nodes);
                    let singles = match (from, self.channels[*to].is_end) {
                        (Point::Nodes(_), true) => together.pairs,
                        (Point::Nodes(group), false) => groups.senders[group].len() as f64,
                        (Point::Channel(_), _) => nodes,
                    };
                    let new = || Step { from, to: *to, share: 0.0, singles };
                    steps.entry((from, *to)).or_insert_with(new).share += share;
                    from = Point::Channel(*to);
                }
                flows.cross(channels.len() - 1, delay, share / sending as f64);
            }
        }
        flows.steps = steps.into_values().collect();
        flows
    }
}

impl Flows {
    /// Adds a share of the messages, which cross so many network channels with so much delay.
    fn cross(&mut self, hops: usize, delay: u32, share: f64) {
        if self.hops.len() <= hops {
            self.hops.resize(hops + 1, 0.0);
            self.delays.resize(hops + 1, BTreeMap::new());
        }
        self.hops[hops] += share;
        *self.delays[hops].entry(delay).or_default() += share;
    }
}

impl ChannelClasses {
    pub(crate) fn of(network: &dyn Topology, classes: &[Traffic]) -> Self {
        Self::of_groups(network, NodeGroups::of(network, classes), classes)
    }

    /// The same, with nodes followed together that these groups say.
    pub(crate) fn of_groups(network: &dyn Topology, groups: NodeGroups, classes: &[Traffic]) -> Self {
        let mut followed =
            Followed { network, groups: &groups, channels: Vec::new(), known: HashMap::new() };
        let (mut flows, mut flows_of) = (Vec::new(), Vec::new());
        let mut different: Vec<&Traffic> = Vec::new();
        for class in classes {
            let known = different.iter().position(|other| other.is_as(class));
            flows_of.push(known.unwrap_or(different.len()));
            if known.is_none() {
                flows.push(followed.flows(class));
                different.push(class);
            }
        }
        let channels = followed.channels;
        let mut found = Self { groups, channels, flows, flows_of, ..Self::default() };
        found.sort();
        found.refine();
        found
    }

    /// Numbers channels by router and port, whatever order they were met in.
    fn sort(&mut self) {
        let mut order: Vec<usize> = (0..self.channels.len()).collect();
        order.sort_unstable_by_key(|at| self.channels[*at]);
        let mut places = vec![0; order.len()];
        order.iter().enumerate().for_each(|(place, at)| places[*at] = place);
        self.channels.sort_unstable();
        for step in self.flows.iter_mut().flat_map(|flows| &mut flows.steps) {
            step.to = places[step.to];
            if let Point::Channel(from) = &mut step.from {
                *from = places[*from];
            }
        }
        self.flows.iter_mut().for_each(|flows| flows.steps.sort_unstable_by_key(|step| (step.from, step.to)));
    }

    /// Messages of each class on a link, or on all together of which a router chooses, with both halves of the virtual
    /// channels.
    pub(crate) fn on_links(&self) -> HashMap<(u32, u32), Vec<f64>> {
        let mut loads: HashMap<(u32, u32), Vec<f64>> = HashMap::new();
        let nothing = vec![0.0; self.flows.len()];
        for (class, flows) in self.flows.iter().enumerate() {
            for step in &flows.steps {
                let Channel { router, port, nodes, .. } = self.channels[step.to];
                let loads = loads.entry((router, port)).or_insert_with(|| nothing.clone());
                loads[class] += step.share / f64::from(nodes);
            }
        }
        loads
    }

    /// Share of the senders of some messages that send others, too.
    pub(crate) fn both_send(&self, own: &Flows, other: &Flows) -> f64 {
        let both = own.senders.iter().filter(|group| other.senders.binary_search(group).is_ok());
        let nodes: usize = both.map(|group| self.groups.senders[*group].len()).sum();
        nodes as f64 / own.sending.max(1) as f64
    }

    /// The most numbers of channels that the messages of a class take.
    pub(crate) fn most_kinds(&self) -> usize {
        let of_class = |flows: &Flows| {
            let mut takes = vec![false; self.count];
            flows.steps.iter().for_each(|step| takes[self.numbers[step.to]] = true);
            takes.into_iter().filter(|takes| *takes).count()
        };
        self.flows.iter().map(of_class).max().unwrap_or(0)
    }

    /// What channels and groups of senders have to do with others: by place, first groups, then channels.
    fn neighbours(&self) -> Vec<Vec<Neighbour>> {
        let groups = self.groups.senders.len();
        let mut steps: Vec<Vec<Neighbour>> = vec![Vec::new(); groups + self.channels.len()];
        for (class, flows) in self.flows.iter().enumerate() {
            for step in &flows.steps {
                let (from, senders) = match step.from {
                    Point::Nodes(group) => (group, self.groups.senders[group].len() as f64),
                    Point::Channel(channel) => (groups + channel, 1.0),
                };
                let (to, receivers) = (groups + step.to, f64::from(self.channels[step.to].nodes));
                let share = rounded(step.of_one());
                let one = |is_in, of, count| Neighbour { class, is_in, of, share, count };
                steps[from].push(one(false, to, step.singles / senders));
                steps[to].push(one(true, from, step.singles / receivers));
            }
        }
        steps
    }

    /// Tells channels and nodes apart until nothing more is told apart.
    fn refine(&mut self) {
        let groups = self.groups.senders.len();
        let all = groups + self.channels.len();
        let neighbours = self.neighbours();
        let on_link = self.on_links();
        let first = |at: usize| -> Vec<i64> {
            let Some(channel) = at.checked_sub(groups).map(|at| self.channels[at]) else { return vec![-1] };
            let loads = on_link[&(channel.router, channel.port)].iter().map(|load| rounded(*load));
            let own = [i64::from(channel.is_upper), i64::from(channel.is_end), i64::from(channel.links)];
            own.into_iter().chain(loads).collect()
        };
        let (mut numbers, mut count) = numbered((0..all).map(first));
        loop {
            let finer = numbered((0..all).map(|at| (numbers[at], seen(&neighbours[at], &numbers))));
            if finer.1 == count {
                (self.numbers, self.count) = (finer.0[groups..].to_vec(), count);
                return;
            }
            (numbers, count) = finer;
        }
    }
}

/// A place before or behind another one.
#[derive(Clone, Copy, Debug)]
struct Neighbour {
    class: usize,
    is_in: bool,
    of: usize,
    /// How much goes there, or comes from there, in each step.
    share: i64,
    /// Steps of one node, or to one node, in the mean over those that are followed together.
    count: f64,
}

/// A place as those before and behind it see it: their numbers, how much of each class goes there, and how many there
/// are.
fn seen(neighbours: &[Neighbour], numbers: &[usize]) -> Vec<((usize, bool, usize, i64), i64)> {
    let key = |one: &Neighbour| (one.class, one.is_in, numbers[one.of], one.share);
    let mut sorted: Vec<&Neighbour> = neighbours.iter().collect();
    sorted.sort_unstable_by_key(|one| key(one));
    let alike = sorted.chunk_by(|one, other| key(one) == key(other));
    alike.map(|of| (key(of[0]), rounded(of.iter().map(|one| one.count).sum()))).collect()
}

/// Shares that differ by rounding alone are one.
pub(crate) fn rounded(share: f64) -> i64 {
    (share * 1e9).round() as i64
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
