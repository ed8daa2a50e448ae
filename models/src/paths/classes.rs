//! Channels that are alike, of any topology, senders and destinations, by enumeration of all pairs of nodes.
//!
//! Every message is followed from router to router, and each channel, or half of its virtual channels, keeps what it
//! brings to the next ones. Channels are alike that carry the same of every class and are entered from, and left for,
//! channels that are alike, as often; so are nodes that send alike. They are found by refinement: channels of equal
//! loads are told apart by those before and behind them until nothing more is told apart (partition refinement, as for
//! lumpable Markov chains). With uniform destinations in a cube the channels of a dimension are left.

use std::collections::{BTreeMap, HashMap};

use flitwise_language::network::{Half, Topology};

use super::Traffic;

/// Where a message comes from: a node, or a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Point {
    Node(u32),
    Channel(usize),
}

/// A channel with all that shares its virtual channels, or an ejection link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Channel {
    pub(crate) router: u32,
    /// The first of parallel links, or of those of which a router chooses.
    pub(crate) port: u32,
    /// How many of them there are.
    pub(crate) links: u32,
    pub(crate) is_upper: bool,
    pub(crate) is_end: bool,
}

/// What a class sends from point to point, per message that each of its senders generates.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flows {
    pub(crate) senders: Vec<u32>,
    pub(crate) steps: BTreeMap<(Point, usize), f64>,
    /// Share of the messages by hops.
    pub(crate) hops: Vec<f64>,
    /// The same by hops and delay of all links on the way together, those to and from nodes included.
    pub(crate) delays: Vec<BTreeMap<u32, f64>>,
}

/// The channels of a network that any class takes, and which of them are alike.
#[derive(Clone, Debug, Default)]
pub(crate) struct ChannelClasses {
    pub(crate) channels: Vec<Channel>,
    known: HashMap<Channel, usize>,
    /// By class of messages.
    pub(crate) flows: Vec<Flows>,
    /// The number of each channel; channels that are alike have one.
    pub(crate) numbers: Vec<usize>,
    /// How many numbers there are.
    pub(crate) count: usize,
}

impl ChannelClasses {
    pub(crate) fn of(network: &dyn Topology, classes: &[Traffic]) -> Self {
        let mut found = Self::default();
        for class in classes {
            let flows = found.follow(network, class);
            found.flows.push(flows);
        }
        found.refine(network.nodes() as usize);
        found
    }

    fn number(&mut self, channel: Channel) -> usize {
        *self.known.entry(channel).or_insert_with(|| {
            self.channels.push(channel);
            self.channels.len() - 1
        })
    }

    /// All that a class sends.
    fn follow(&mut self, network: &dyn Topology, class: &Traffic) -> Flows {
        let senders = class.senders.clone();
        let most = network.most_hops() as usize + 1;
        let mut flows =
            Flows { hops: vec![0.0; most], delays: vec![BTreeMap::new(); most], ..Flows::default() };
        for sender in &senders {
            let (router, port) = network.entry(*sender);
            let of_injection = network.delay(router, port);
            let towards = class.destinations.towards(*sender).each();
            let ways = network.ways();
            for ((to, share), way) in towards.flat_map(|to| (0..ways).map(move |way| (to, way))) {
                let share = share / f64::from(ways);
                let (mut from, mut crossed, mut delay) = (Point::Node(*sender), 0, of_injection);
                for hop in network.path(*sender, to, way) {
                    let (router, is_end) = (hop.router, !hop.is_between_routers());
                    let choice = network.candidates(router, *sender, to).filter(|_| !is_end);
                    let one = || (hop.port, network.parallel(router, hop.port));
                    let (port, links) = choice.map_or_else(one, |choice| (choice.first, choice.count));
                    let is_upper = !is_end && network.half(router, *sender, to) == Half::Upper;
                    let channel = Channel { router, port, links, is_upper, is_end };
                    let channel = self.number(channel);
                    *flows.steps.entry((from, channel)).or_default() += share;
                    (from, crossed) = (Point::Channel(channel), crossed + 1);
                    delay += network.delay(router, hop.port);
                }
                flows.hops[crossed - 1] += share / senders.len() as f64;
                *flows.delays[crossed - 1].entry(delay).or_default() += share / senders.len() as f64;
            }
        }
        while flows.hops.len() > 1 && flows.hops.last().is_some_and(|share| *share <= 0.0) {
            flows.hops.pop();
            flows.delays.pop();
        }
        Flows { senders, ..flows }
    }

    /// Messages of each class on a link, or on all together of which a router chooses, with both halves of the virtual
    /// channels.
    pub(crate) fn on_links(&self) -> HashMap<(u32, u32), Vec<f64>> {
        let mut loads: HashMap<(u32, u32), Vec<f64>> = HashMap::new();
        let nothing = vec![0.0; self.flows.len()];
        for (class, flows) in self.flows.iter().enumerate() {
            for ((_, to), share) in &flows.steps {
                let Channel { router, port, .. } = self.channels[*to];
                loads.entry((router, port)).or_insert_with(|| nothing.clone())[class] += share;
            }
        }
        loads
    }

    /// Tells channels and nodes apart until nothing more is told apart.
    fn refine(&mut self, nodes: usize) {
        let all = nodes + self.channels.len();
        // by place: class, whether it comes from there, the other place, and how much
        let mut steps: Vec<Vec<(usize, bool, usize, i64)>> = vec![Vec::new(); all];
        for (class, flows) in self.flows.iter().enumerate() {
            for ((from, to), share) in &flows.steps {
                let from = match from {
                    Point::Node(node) => *node as usize,
                    Point::Channel(channel) => nodes + channel,
                };
                let (to, share) = (nodes + to, rounded(*share));
                steps[from].push((class, false, to, share));
                steps[to].push((class, true, from, share));
            }
        }
        let on_link = self.on_links();
        let first = |at: usize| -> Vec<i64> {
            let Some(channel) = at.checked_sub(nodes).map(|at| self.channels[at]) else { return vec![-1] };
            let loads = on_link[&(channel.router, channel.port)].iter().map(|load| rounded(*load));
            let own = [i64::from(channel.is_upper), i64::from(channel.is_end), i64::from(channel.links)];
            own.into_iter().chain(loads).collect()
        };
        let (mut numbers, mut count) = numbered((0..all).map(first));
        loop {
            // a place as those before and behind it see it: their numbers, and how much of each class goes there
            let seen = |at: usize| {
                let others = steps[at].iter();
                let mut others: Vec<(usize, bool, usize, i64)> =
                    others.map(|(class, is_in, of, share)| (*class, *is_in, numbers[*of], *share)).collect();
                others.sort_unstable();
                (numbers[at], others)
            };
            let finer = numbered((0..all).map(seen));
            if finer.1 == count {
                (self.numbers, self.count) = (finer.0[nodes..].to_vec(), count);
                return;
            }
            (numbers, count) = finer;
        }
    }
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
