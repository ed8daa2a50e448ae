//! The tree of a hot host: the links over which its packets come, from its own link, the root, back to all senders.
//!
//! Routes are deterministic, so every switch has one link into the tree. The level of a link counts from the leaves:
//! that of the root is one less than the number of levels. Traffic belongs to classes by the level of the switch at
//! which it leaves the tree. Links with the same senders behind them in the same places are alike and stand for each
//! other.
//!
//! In bidirectional networks packets that have left the tree may come back into it from above, on links without any
//! packet to the hot host. Such an input is a source of its own, with the flow of uniform traffic that its link
//! carries.

use std::collections::BTreeMap;

use super::tree::water_level;
use flitwise_language::network::{Hop, Multistage, SIDE, Topology};
use flitwise_language::scenario::Direction;

/// Ports of a switch.
const PORTS: u32 = 2 * SIDE;
/// Levels of the deepest tree, that of 1,024 hosts with links both ways, and what stays in it.
pub(super) const CLASSES: usize = 10;

/// What one link carries, by the level at which it leaves the tree; what stays in it is behind the last level.
pub(super) type Classes = [f64; CLASSES];

/// Who sends to the hot host.
#[derive(Clone, Debug, PartialEq)]
pub struct Senders {
    /// The hot host.
    pub destination: u32,
    /// Hosts that send to nobody else.
    pub hot: Vec<u32>,
    /// What each of them sends, as a share of its link.
    pub hot_rate: f64,
    /// Other hosts, which send to all alike.
    pub victims: Vec<u32>,
    /// `ρ`: what each of those sends, as a share of its link.
    pub rate: f64,
}

/// What comes into a switch from outside of the tree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Source {
    /// A hot host.
    Hot,
    /// A host that sends to all alike: its composition, and how often destinations over the tree follow others in
    /// their order.
    Victim(Classes, u32),
    /// A link with packets that come back into the tree: its flow by class.
    Back(Classes),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum From {
    /// The link of another switch into the tree, by place.
    Link(usize),
    Source(Source),
}

/// So many inputs of a switch that are alike.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Inputs {
    pub(super) times: f64,
    pub(super) from: From,
}

/// A link of the tree with the switch before it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Link {
    pub(super) level: usize,
    /// Links like it in the network.
    pub(super) copies: f64,
    pub(super) inputs: Vec<Inputs>,
}

/// The tree of a hot host.
#[derive(Clone, Debug, PartialEq)]
pub struct CongestionTree {
    /// `N`: hosts of the network.
    pub hosts: u32,
    /// Who sends.
    pub senders: Senders,
    /// Uniform traffic on the fullest link behind a switch of the first stage, as a share of it.
    first_stage_load: f64,
    pub(super) levels: usize,
    /// The root is first; a link stands before those behind it.
    pub(super) links: Vec<Link>,
}

/// A link of a switch into the tree, and where its inputs come from.
struct Way {
    router: u32,
    output: u32,
    depth: usize,
    inputs: Vec<(u32, Before)>,
}

/// What stands before an input.
enum Before {
    Host(u32),
    Way(usize),
}

/// All ways into the root.
struct Ways<'n> {
    network: &'n Multistage,
    destination: u32,
    /// By router and port: the output before it.
    before: BTreeMap<(u32, u32), (u32, u32)>,
    /// By router and port: the sender before it.
    hosts: BTreeMap<(u32, u32), u32>,
    ways: Vec<Way>,
    /// By router.
    of: BTreeMap<u32, usize>,
}

impl Ways<'_> {
    /// The way of a switch, behind those before it; none where nobody sends over it.
    fn gather(&mut self, router: u32, output: u32, depth: usize) -> Option<usize> {
        let mut inputs = Vec::new();
        for port in 0..PORTS {
            if let Some(host) = self.hosts.get(&(router, port)) {
                inputs.push((port, Before::Host(*host)));
            } else if let Some((before, link)) = self.before.get(&(router, port)).copied()
                && self.network.route(before, 0, self.destination, 0) == link
                && let Some(way) = self.gather(before, link, depth + 1)
            {
                inputs.push((port, Before::Way(way)));
            }
        }
        if inputs.is_empty() {
            return None;
        }
        self.ways.push(Way { router, output, depth, inputs });
        self.of.insert(router, self.ways.len() - 1);
        Some(self.ways.len() - 1)
    }

    /// Where uniform traffic from a switch leaves the tree; and how many runs of destinations the tree leads to, in the
    /// order in which hosts take turns among them.
    fn composition(&self, router: u32, levels: usize) -> (Classes, u32) {
        let mut on: Vec<u32> = (0..self.network.hosts).collect();
        let mut runs = None;
        let (mut router, mut classes) = (router, Classes::default());
        while let Some(way) = self.of.get(&router).map(|way| &self.ways[*way]) {
            let before = on.len();
            on.retain(|to| self.network.route(router, 0, *to, 0) == way.output);
            runs = runs.or_else(|| Some(self.runs(&on)));
            classes[levels - 1 - way.depth] = (before - on.len()) as f64 / f64::from(self.network.hosts);
            match self.network.link_end(router, way.output).input() {
                Some((next, _)) => router = next,
                None => break,
            }
        }
        classes[levels] = on.len() as f64 / f64::from(self.network.hosts);
        (classes, runs.unwrap_or(0))
    }

    /// Runs of hosts without a gap, the last host being followed by the first.
    fn runs(&self, hosts: &[u32]) -> u32 {
        let is_last = |host: &&u32| hosts.binary_search(&((**host + 1) % self.network.hosts)).is_err();
        hosts.iter().filter(is_last).count() as u32
    }

    /// Flows of uniform traffic that come back into the tree, by the switch and port at which they do.
    fn back(&self, victims: &[u32], rate: f64, levels: usize) -> BTreeMap<(u32, u32), Classes> {
        let mut found: BTreeMap<(u32, u32), Classes> = BTreeMap::new();
        if self.network.direction == Direction::Unidirectional {
            return found;
        }
        // routes do not depend on the sender: one for all at a switch
        let mut entries: BTreeMap<u32, (u32, f64)> = BTreeMap::new();
        for host in victims {
            let (_, flow) = entries.entry(self.network.entry(*host).0).or_insert((*host, 0.0));
            *flow += rate / f64::from(self.network.hosts);
        }
        for (host, flow) in entries.into_values() {
            for to in 0..self.network.hosts {
                self.follow((host, to), flow, levels, &mut found);
            }
        }
        found
    }

    /// Adds the flow from a host to another where it comes back into the tree.
    fn follow(
        &self,
        (from, to): (u32, u32),
        flow: f64,
        levels: usize,
        found: &mut BTreeMap<(u32, u32), Classes>,
    ) {
        // the port it came by, and where it came back, while it is in the tree
        let (mut came_by, mut back): (Option<u32>, Option<(u32, u32)>) = (None, None);
        for Hop { router, port: output, end } in self.network.path(from, to, 0) {
            if let Some(way) = self.of.get(&router).map(|way| &self.ways[*way]) {
                let is_branch = |port: u32| way.inputs.iter().any(|(input, _)| *input == port);
                back = back.or(came_by.filter(|port| !is_branch(*port)).map(|port| (router, port)));
                if output != way.output
                    && let Some(place) = back.take()
                {
                    found.entry(place).or_default()[levels - 1 - way.depth] += flow;
                }
            }
            came_by = end.input().map(|(_, port)| port);
        }
    }
}

/// A link with what stands before it, in whole numbers that can be compared.
type Key = Vec<u64>;

fn rounded(classes: &Classes) -> impl Iterator<Item = u64> {
    classes.iter().map(|share| (share * 1e9).round() as u64)
}

impl CongestionTree {
    /// The tree of a hot host of a network.
    pub fn new(network: &Multistage, senders: Senders) -> Self {
        let outputs = (0..network.routers()).flat_map(|router| (0..PORTS).map(move |port| (router, port)));
        let before = |(router, output)| Some((network.link_end(router, output).input()?, (router, output)));
        let before = outputs.filter_map(before).collect();
        let all = senders.hot.iter().chain(&senders.victims);
        let hosts = all.map(|host| (network.entry(*host), *host)).collect();
        let (ways, of) = (Vec::new(), BTreeMap::new());
        let mut ways = Ways { network, destination: senders.destination, before, hosts, ways, of };
        let (router, output) = root(network, senders.destination);
        let root = ways.gather(router, output, 0);
        let levels = ways.ways.iter().map(|way| way.depth + 1).max().unwrap_or(1);
        let mut at: BTreeMap<u32, u32> = BTreeMap::new();
        senders.victims.iter().for_each(|host| *at.entry(network.entry(*host).0).or_default() += 1);
        let spread = match network.direction {
            Direction::Unidirectional => at.into_values().max().unwrap_or(0),
            // some of it goes to hosts at the same switch
            Direction::Bidirectional => 0,
        };
        let first_stage_load = f64::from(spread) * senders.rate / f64::from(SIDE);
        let mut tree = Self { hosts: network.hosts, senders, first_stage_load, levels, links: Vec::new() };
        if let Some(root) = root {
            let kinds = tree.kinds(&ways);
            tree.grow(&kinds, kinds.1[root], 1.0);
        }
        tree
    }

    /// Kinds of links, which name their inputs by kind; and the kind of every way.
    fn kinds(&self, ways: &Ways<'_>) -> (Vec<Link>, Vec<usize>) {
        let Senders { hot, victims, rate, .. } = &self.senders;
        let back = ways.back(victims, *rate, self.levels);
        let (mut kinds, mut numbers, mut of) = (Vec::new(), BTreeMap::<Key, usize>::new(), Vec::new());
        for way in &ways.ways {
            let own = self.levels - 1 - way.depth;
            let mut inputs: Vec<(Key, From)> = Vec::new();
            let (composition, runs) = ways.composition(way.router, self.levels);
            for (_, before) in &way.inputs {
                inputs.push(match before {
                    Before::Way(at) => (vec![0, of[*at] as u64], From::Link(of[*at])),
                    Before::Host(host) if hot.contains(host) => (vec![1], From::Source(Source::Hot)),
                    Before::Host(_) => (vec![2], From::Source(Source::Victim(composition, runs))),
                });
            }
            for (_, flow) in back.iter().filter(|((router, _), _)| *router == way.router) {
                // a link all of whose packets leave at once is in nobody's way
                if flow[own + 1..].iter().sum::<f64>() > 1e-9 {
                    let key = [3].into_iter().chain(rounded(flow)).collect();
                    inputs.push((key, From::Source(Source::Back(*flow))));
                }
            }
            inputs.sort_by(|one, other| one.0.cmp(&other.0));
            let mut key: Key = vec![own as u64, runs.into()];
            key.extend(rounded(&composition));
            inputs.iter().for_each(|(one, _)| key.extend(one));
            let kind = *numbers.entry(key).or_insert_with(|| {
                let mut grouped: Vec<(Key, Inputs)> = Vec::new();
                for (key, from) in inputs {
                    match grouped.last_mut() {
                        Some((last, inputs)) if *last == key => inputs.times += 1.0,
                        _ => grouped.push((key, Inputs { times: 1.0, from })),
                    }
                }
                let inputs = grouped.into_iter().map(|(_, inputs)| inputs).collect();
                kinds.push(Link { level: own, copies: 0.0, inputs });
                kinds.len() - 1
            });
            of.push(kind);
        }
        (kinds, of)
    }

    /// Adds a link of a kind and all behind it: the same kind behind different links fares differently.
    fn grow(&mut self, kinds: &(Vec<Link>, Vec<usize>), kind: usize, copies: f64) -> usize {
        let place = self.links.len();
        self.links.push(Link { copies, ..kinds.0[kind].clone() });
        for input in 0..self.links[place].inputs.len() {
            let Inputs { times, from } = self.links[place].inputs[input];
            if let From::Link(kind) = from {
                let behind = self.grow(kinds, kind, copies * times);
                self.links[place].inputs[input].from = From::Link(behind);
            }
        }
        place
    }

    /// Uniform traffic that does not go to the hot host, in links.
    pub fn to_others(&self) -> f64 {
        self.senders.victims.len() as f64 * self.senders.rate * (1.0 - 1.0 / f64::from(self.hosts))
    }

    /// What a source sends by class, as a share of its link.
    pub(super) fn flow(&self, source: &Source) -> Classes {
        match source {
            Source::Hot => {
                let mut flow = Classes::default();
                flow[self.levels] = self.senders.hot_rate;
                flow
            }
            Source::Victim(shares, _) => shares.map(|share| share * self.senders.rate),
            Source::Back(flow) => *flow,
        }
    }

    /// The least that comes in for a link of the tree that more comes in for than goes out, as a share of it; none
    /// where there is no such link. The switch that is last to see the tree has it.
    pub fn least_excess(&self) -> Option<f64> {
        let mut out = vec![Classes::default(); self.links.len()];
        let mut least: Option<f64> = None;
        for place in (0..self.links.len()).rev() {
            let link = &self.links[place];
            let mut flow = Classes::default();
            for Inputs { times, from } in &link.inputs {
                let one = match from {
                    From::Link(behind) => out[*behind],
                    From::Source(source) => self.flow(source),
                };
                add(&mut flow, &one, *times);
            }
            flow[..=link.level].fill(0.0);
            let inflow: f64 = flow.iter().sum();
            if inflow > 1.0 + 1e-9 {
                least = Some(least.map_or(inflow, |least| least.min(inflow)));
            }
            out[place] = flow.map(|class| class / inflow.max(1.0));
        }
        least
    }

    /// The most lines that the tree holds, in all ports together: one at either end of every link but the root.
    ///
    /// ```text
    /// 2 (links of the tree - 1);  2 Σ_(s < S) N 4^-s in unidirectional networks whose hosts all send
    /// ```
    ///
    /// A line at a port names a root behind it, and the way there is unique: a port holds no more lines than there are
    /// roots whose trees pass it.
    pub fn lines(&self) -> u32 {
        let of = |link: &Link| link.copies * link.inputs.iter().map(|inputs| inputs.times).sum::<f64>();
        (2.0 * self.links.iter().map(of).sum::<f64>()).round() as u32
    }

    /// Lines that the tree holds while it lasts: one at each input of a link for which more comes than it may send,
    /// and one upstream of every such input that sends less than it has, by max-min shares of what the link may send.
    pub fn lines_held(&self) -> f64 {
        let mut offered = vec![0.0; self.links.len()];
        for place in (0..self.links.len()).rev() {
            let inputs = self.links[place].inputs.iter();
            offered[place] = inputs.map(|one| one.times * self.to_hot(one, &offered)).sum();
        }
        if self.links.is_empty() { 0.0 } else { self.held(0, 1.0, &offered) }
    }

    /// What an input brings for the hot host.
    fn to_hot(&self, input: &Inputs, offered: &[f64]) -> f64 {
        let all = match &input.from {
            From::Link(behind) => offered[*behind],
            From::Source(source) => self.flow(source)[self.levels],
        };
        all.min(1.0)
    }

    /// Lines before a link that may send so much to the hot host, and before the links behind it.
    fn held(&self, place: usize, most: f64, offered: &[f64]) -> f64 {
        let Link { copies, inputs, .. } = &self.links[place];
        let asks = || inputs.iter().map(|one| (one.times, self.to_hot(one, offered)));
        if asks().map(|(times, ask)| times * ask).sum::<f64>() <= most * (1.0 + 1e-9) {
            return 0.0;
        }
        let share = water_level(most, asks());
        let lines = |one: &Inputs| match (one.from, self.to_hot(one, offered) > share * (1.0 + 1e-9)) {
            (_, false) => copies * one.times,
            (From::Source(_), true) => 2.0 * copies * one.times,
            (From::Link(behind), true) => 2.0 * copies * one.times + self.held(behind, share, offered),
        };
        inputs.iter().map(lines).sum()
    }

    /// The most lines of the tree of a further root, at a link before the hot host's switch: as many as the trees of
    /// several roots nearer to the hosts.
    ///
    /// ```text
    /// 2 Σ_(0 < s < S) N 4^-s
    /// ```
    ///
    /// Uniform traffic makes roots by chance, which pass after some packets. Lines of all of them together are counted
    /// as those of one such tree. This is an allowance, not a proof. None where uniform traffic alone fills a link
    /// behind a switch of the first stage: there is always some root then.
    pub fn passing_lines(&self) -> Option<u32> {
        let mut sum = 0;
        let mut outputs = self.hosts / SIDE;
        while outputs > 1 {
            sum += 2 * outputs;
            outputs /= SIDE;
        }
        (self.first_stage_load < 0.999).then_some(sum)
    }
}

/// Adds what a link carries, so many times.
pub(super) fn add<const C: usize>(to: &mut [f64; C], what: &[f64; C], times: f64) {
    to.iter_mut().zip(what).for_each(|(to, what)| *to += what * times);
}

/// The switch and output whose link ends at a host.
fn root(network: &Multistage, host: u32) -> (u32, u32) {
    network.path(host, host, 0).fold((0, 0), |_, hop| (hop.router, hop.port))
}

#[cfg(test)]
pub(super) fn omega(hosts: u32, rate: f64, hot_rate: f64) -> CongestionTree {
    let direction = Direction::Unidirectional;
    let network = Multistage { hosts, direction, first_shuffle: true };
    let (hot, victims) = ((3 * hosts / 4..hosts).collect(), (0..3 * hosts / 4).collect());
    CongestionTree::new(&network, Senders { destination: hosts / 2, hot, hot_rate, victims, rate })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_of_the_omega_network_are_alike() {
        for (hosts, levels, lines, passing) in [(64, 3, 168, 40), (256, 4, 680, 168), (512, 5, 1364, 340)] {
            let tree = omega(hosts, 0.5, 1.0);
            assert_eq!((tree.levels, tree.links.len()), (levels, levels), "{tree:?}");
            assert_eq!((tree.lines(), tree.passing_lines()), (lines, Some(passing)));
            // 48 of 64 hosts have less for the hot one than it would take of them
            assert!(
                (tree.lines_held() - f64::from(lines - 3 * hosts / 4)).abs() < 1e-9,
                "{}",
                tree.lines_held()
            );
            let leaf = tree.links.last().unwrap();
            assert_eq!(leaf.copies, f64::from(hosts / 4));
            assert_eq!(leaf.inputs.iter().map(|inputs| inputs.times).collect::<Vec<_>>(), [1.0, 3.0]);
            assert!((tree.least_excess().unwrap() - 1.375).abs() < 1e-12);
        }
    }

    #[test]
    fn destinations_over_the_tree_are_a_run_or_every_fourth() {
        for (direction, wanted) in [(Direction::Unidirectional, 1), (Direction::Bidirectional, 15)] {
            let network = Multistage { hosts: 64, direction, first_shuffle: true };
            let (hot, victims) = ((48..64).collect(), (0..48).collect());
            let senders = Senders { destination: 32, hot, hot_rate: 1.0, victims, rate: 1.0 };
            let tree = CongestionTree::new(&network, senders);
            let runs =
                tree.links.iter().flat_map(|link| &link.inputs).filter_map(|inputs| match inputs.from {
                    From::Source(Source::Victim(_, runs)) => Some(runs),
                    _ => None,
                });
            // all but the one at their own switch
            assert_eq!(runs.max(), Some(wanted), "{direction:?}");
        }
    }

    /// What comes in from all sources leaves somewhere, and what goes to the hot host is a share 1/N of uniform
    /// traffic.
    #[test]
    fn compositions_are_whole_in_every_placement() {
        for direction in [Direction::Unidirectional, Direction::Bidirectional] {
            for hosts in [16, 64, 128, 1024] {
                let network = Multistage { hosts, direction, first_shuffle: false };
                let hot: Vec<u32> = (0..hosts / 5).collect();
                let victims = (hosts / 3..hosts).collect();
                let senders = Senders { destination: hosts - 1, hot, hot_rate: 1.0, victims, rate: 0.5 };
                let tree = CongestionTree::new(&network, senders);
                let mut counted = 0.0;
                for link in &tree.links {
                    for Inputs { times, from } in &link.inputs {
                        if let From::Source(Source::Victim(shares, _)) = from {
                            assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{shares:?}");
                            assert!((shares[tree.levels] - 1.0 / f64::from(hosts)).abs() < 1e-9);
                        }
                        counted += match from {
                            From::Source(Source::Hot | Source::Victim(..)) => link.copies * times,
                            _ => 0.0,
                        };
                    }
                }
                assert_eq!(counted, f64::from(hosts / 5 + hosts - hosts / 3), "{direction:?} {hosts}");
            }
        }
    }
}
