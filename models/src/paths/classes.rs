//! Channels that are alike, of any topology, senders and destinations, by enumeration of all ways.
//!
//! Every message is followed from router to router, and each channel, or half of its virtual channels, keeps what it
//! brings to the next ones. Channels are alike that carry the same of every class and are entered from, and left for,
//! channels that are alike, as often; so are nodes that send alike. They are found by refinement: channels of equal
//! loads are told apart by those before and behind them until nothing more is told apart (partition refinement, as for
//! lumpable Markov chains). With uniform destinations in a cube the channels of a dimension are left.
//!
//! Nodes of a router may be followed together ([`NodeGroups`]). A step from or to nodes that stand for one another
//! stands for those of each of them. Channels are numbered by router and port, so that nothing depends on the order in
//! which ways are followed.

use std::collections::{BTreeMap, HashMap};

use flitwise_language::network::{Half, Topology};

use super::Traffic;
use super::groups::{NodeGroups, Together};

/// Where a message comes from: nodes that stand for one another, or a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Point {
    /// By place among those of [`NodeGroups`].
    Nodes(usize),
    Channel(usize),
}

/// A channel with all that shares its virtual channels, or the ejection links of nodes that stand for one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Channel {
    pub(crate) router: u32,
    /// The first of parallel links, or of those of which a router chooses, or of ejection links that are alike.
    pub(crate) port: u32,
    /// How many of them there are of which a router chooses one.
    pub(crate) links: u32,
    pub(crate) is_upper: bool,
    pub(crate) is_end: bool,
    /// Ejection links that it stands for, one of each node; 1 of other channels.
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
    pub(crate) singles: usize,
}

impl Step {
    /// Messages on one of them.
    pub(crate) fn of_one(&self) -> f64 {
        self.share / self.singles as f64
    }
}

/// What a class sends from point to point, per message that each of its senders generates.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flows {
    /// Places of the nodes that send, in order.
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

/// What a class sends from group to group of nodes.
#[derive(Default)]
struct GroupFlows {
    /// From groups of senders to channels.
    first: HashMap<(usize, usize), f64>,
    /// From channel to channel.
    between: HashMap<(usize, usize), f64>,
    /// From channels to groups of receivers.
    last: HashMap<(usize, usize), f64>,
    /// From groups of senders to groups of receivers at the same router.
    staying: HashMap<(usize, usize), f64>,
    /// By group of receivers: router and port of the ejection link of the first node.
    ends: HashMap<usize, (u32, u32)>,
}

impl GroupFlows {
    /// Adds a share of what two groups send over a way of these channels, at whose end is this ejection link.
    fn add(&mut self, one: Together, channels: &[usize], end: (u32, u32), share: f64) {
        match (channels.first(), channels.last()) {
            (Some(first), Some(last)) => {
                *self.first.entry((one.from, *first)).or_default() += share;
                *self.last.entry((*last, one.to)).or_default() += share;
            }
            _ => *self.staying.entry((one.from, one.to)).or_default() += share,
        }
        for pair in channels.windows(2) {
            *self.between.entry((pair[0], pair[1])).or_default() += share;
        }
        self.ends.insert(one.to, end);
    }
}

impl Followed<'_> {
    fn number(&mut self, channel: Channel) -> usize {
        *self.known.entry(channel).or_insert_with(|| {
            self.channels.push(channel);
            self.channels.len() - 1
        })
    }

    /// The network channels on a way from one node to another, the delay of all links together, and router and port of
    /// the ejection link.
    fn way(&mut self, source: u32, destination: u32, way: u32) -> (Vec<usize>, u32, (u32, u32)) {
        let network = self.network;
        let (router, port) = network.entry(source);
        let (mut channels, mut delay, mut end) = (Vec::new(), network.delay(router, port), (router, port));
        for hop in network.path(source, destination, way) {
            let router = hop.router;
            delay += network.delay(router, hop.port);
            end = (router, hop.port);
            if !hop.is_between_routers() {
                break;
            }
            let one = || (hop.port, network.parallel(router, hop.port));
            let choice = network.candidates(router, source, destination);
            let (port, links) = choice.map_or_else(one, |choice| (choice.first, choice.count));
            let is_upper = network.half(router, source, destination) == Half::Upper;
            channels.push(self.number(Channel { router, port, links, is_upper, is_end: false, nodes: 1 }));
        }
        (channels, delay, end)
    }

    /// All that a class sends.
    fn flows(&mut self, class: &Traffic) -> Flows {
        let (network, groups) = (self.network, self.groups);
        let (ways, sending) = (network.ways(), class.senders.len());
        let (senders, hops) = (groups.senders_of(class), vec![0.0]);
        let mut flows = Flows { senders, sending, hops, delays: vec![BTreeMap::new()], ..Flows::default() };
        let mut of_groups = GroupFlows::default();
        for one in groups.of_class(class) {
            let [source, destination] = [&groups.senders[one.from], &groups.receivers[one.to]]
                .map(|places| groups.nodes[places[0]][0]);
            let share = one.share / f64::from(ways);
            for way in 0..ways {
                let (channels, delay, end) = self.way(source, destination, way);
                of_groups.add(one, &channels, end, share);
                flows.cross(channels.len(), delay, share / sending as f64);
            }
        }
        flows.steps = self.steps(&of_groups);
        flows
    }

    /// What groups send, shared out among nodes that stand for one another.
    fn steps(&mut self, flows: &GroupFlows) -> Vec<Step> {
        let groups = self.groups;
        let between = flows.between.iter();
        let one = |((from, to), share): (&(usize, usize), &f64)| {
            let from = Point::Channel(*from);
            Step { from, to: *to, share: *share, singles: 1 }
        };
        let mut steps: Vec<Step> = between.map(one).collect();
        for ((from, to), share) in &flows.first {
            let of_one = share / groups.count(&groups.senders[*from]) as f64;
            for place in &groups.senders[*from] {
                let (from, singles) = (Point::Nodes(*place), groups.nodes[*place].len());
                steps.push(Step { from, to: *to, share: of_one * singles as f64, singles });
            }
        }
        for ((from, to), share) in &flows.last {
            let of_one = share / groups.count(&groups.receivers[*to]) as f64;
            for place in &groups.receivers[*to] {
                let (from, singles) = (Point::Channel(*from), groups.nodes[*place].len());
                let to = self.end(flows, *to, *place);
                steps.push(Step { from, to, share: of_one * singles as f64, singles });
            }
        }
        for ((from, to), share) in &flows.staying {
            steps.extend(self.staying(flows, Together { from: *from, to: *to, share: *share }));
        }
        steps
    }

    /// What goes from nodes to nodes of the same router.
    fn staying(&mut self, flows: &GroupFlows, one: Together) -> Vec<Step> {
        let groups = self.groups;
        let (senders, receivers) = (&groups.senders[one.from], &groups.receivers[one.to]);
        // a node that is followed by itself may send to itself whatever is usual
        let least = usize::from(groups.are_single());
        let of_one = one.share / groups.pairs_of(&one).max(least) as f64;
        let mut steps = Vec::new();
        for (from, place) in senders.iter().flat_map(|from| receivers.iter().map(move |to| (*from, *to))) {
            let singles = groups.pairs(from, place).max(least);
            if singles > 0 {
                let to = self.end(flows, one.to, place);
                let from = Point::Nodes(from);
                steps.push(Step { from, to, share: of_one * singles as f64, singles });
            }
        }
        steps
    }

    /// The ejection links of nodes at a place among those that receive together.
    fn end(&mut self, flows: &GroupFlows, group: usize, place: usize) -> usize {
        let nodes = &self.groups.nodes[place];
        let is_first = self.groups.receivers[group][0] == place;
        let (router, port) = if is_first { flows.ends[&group] } else { self.network.entry(nodes[0]) };
        let nodes = nodes.len() as u32;
        self.number(Channel { router, port, links: 1, is_upper: false, is_end: true, nodes })
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
        let mut followed = Followed { network, groups: &groups, channels: Vec::new(), known: HashMap::new() };
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
        let both = own.senders.iter().filter(|place| other.senders.binary_search(place).is_ok());
        let nodes: usize = both.map(|place| self.groups.nodes[*place].len()).sum();
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

    /// What nodes and channels have to do with others: by place, nodes that stand for one another first, then channels.
    fn neighbours(&self) -> Vec<Vec<Neighbour>> {
        let groups = self.groups.nodes.len();
        let mut steps: Vec<Vec<Neighbour>> = vec![Vec::new(); groups + self.channels.len()];
        for (class, flows) in self.flows.iter().enumerate() {
            for step in &flows.steps {
                let (from, senders) = match step.from {
                    Point::Nodes(place) => (place, self.groups.nodes[place].len()),
                    Point::Channel(channel) => (groups + channel, 1),
                };
                let (to, receivers) = (groups + step.to, self.channels[step.to].nodes as usize);
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
        let groups = self.groups.nodes.len();
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
    /// Steps of one node, or to one node, of those that stand for one another.
    count: usize,
}

/// A place as those before and behind it see it: their numbers, how much of each class goes there, and how many there
/// are.
fn seen(neighbours: &[Neighbour], numbers: &[usize]) -> Vec<((usize, bool, usize, i64), usize)> {
    let key = |one: &Neighbour| (one.class, one.is_in, numbers[one.of], one.share);
    let mut sorted: Vec<&Neighbour> = neighbours.iter().collect();
    sorted.sort_unstable_by_key(|one| key(one));
    let alike = sorted.chunk_by(|one, other| key(one) == key(other));
    alike.map(|of| (key(of[0]), of.iter().map(|one| one.count).sum())).collect()
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
