//! Paths of any topology, senders and destinations, by enumeration of all ways: see
//! [`ChannelClasses`](crate::paths::classes).
//!
//! Routing is free of deadlock, so that no chain of channels comes back to its start; channels that are alike stand
//! equally far behind the first ones, and numbers rise along every path.
//!
//! Outputs are known for first, later and last routers, each as all messages meet them in the mean, not by hops: sums
//! over a path are exact in the mean over all paths (our approximation for anything else).

use std::collections::{BTreeMap, HashMap, btree_map};
use std::rc::Rc;

use flitwise_language::network::Topology;

use super::{ChannelUse, Crossing, DelayedLink, OnPaths, Output, Outputs, Parts, Paths, Sender, Typical};
use crate::paths::classes::{Channel, ChannelClasses, Flows, Point, Step, rounded};
use crate::paths::groups::NodeGroups;

/// The paths of one class, its channels numbered by what they are like.
struct OneClass<'f> {
    network: &'f dyn Topology,
    groups: &'f NodeGroups,
    channels: &'f [Channel],
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
    fn new(network: &'f dyn Topology, classes: &'f ChannelClasses, flows: &'f Flows) -> Self {
        let (channels, groups) = (&classes.channels, &classes.groups);
        let mut sums = vec![0.0; channels.len()];
        flows.steps.iter().for_each(|step| sums[step.to] += step.share);
        let depths = depths(channels.len(), flows);
        let mut samples: Vec<usize> = (0..sums.len()).filter(|at| sums[*at] > 0.0).collect();
        let order = |at: &usize| (channels[*at].is_end, depths[*at], classes.numbers[*at]);
        samples.sort_by_key(order);
        samples.dedup_by_key(|at| classes.numbers[*at]);
        let mut of_class = vec![0; classes.count];
        samples.iter().zip(0..).for_each(|(at, number)| of_class[classes.numbers[*at]] = number);
        let inner = samples.iter().filter(|at| !channels[**at].is_end).count();
        let numbers = classes.numbers.iter().map(|class| of_class[*class]).collect();
        Self { network, groups, channels, flows, numbers, samples, inner, sums }
    }

    /// Links of a channel that lead to one router.
    fn parallel(&self, channel: usize) -> u32 {
        let Channel { router, port, links, .. } = self.channels[channel];
        let next = |port: u32| self.network.link_end(router, port).input().map(|(router, _)| router);
        (port..port + links).filter(|other| next(*other) == next(port)).count() as u32
    }

    fn from(&self, point: Point) -> Option<u32> {
        match point {
            Point::Nodes(_) => None,
            Point::Channel(channel) => Some(self.numbers[channel]),
        }
    }

    /// By sample: the inputs of the traffic of an output, by channels that are alike, each with its share.
    fn inputs(&self) -> Vec<Vec<(Option<u32>, f64)>> {
        let mut places = vec![None; self.channels.len()];
        self.samples.iter().enumerate().for_each(|(place, sample)| places[*sample] = Some(place));
        let mut steps: Vec<Vec<&Step>> = vec![Vec::new(); self.samples.len()];
        for step in &self.flows.steps {
            if let Some(place) = places[step.to] {
                steps[place].push(step);
            }
        }
        self.samples.iter().zip(steps).map(|(sample, steps)| self.inputs_of(*sample, &steps)).collect()
    }

    /// The inputs of one output, over which these steps lead; of nodes that stand for one another those of one.
    fn inputs_of(&self, sample: usize, steps: &[&Step]) -> Vec<(Option<u32>, f64)> {
        let (all, nodes) = (self.sums[sample], self.channels[sample].nodes as usize);
        let mut inputs = Vec::new();
        for step in steps {
            let links = match step.from {
                Point::Nodes(_) => step.singles / nodes,
                Point::Channel(channel) => self.parallel(channel) as usize,
            };
            let part = step.share / all / links as f64;
            inputs.extend(std::iter::repeat_n((self.from(step.from), part), links));
        }
        inputs
    }

    /// All outputs: how often each is met, and how often another message of the same input wants the same.
    fn outputs(&self) -> BTreeMap<Output, (f64, f64)> {
        let mut outputs: BTreeMap<Output, (f64, f64)> = BTreeMap::new();
        for step in &self.flows.steps {
            let all = match step.from {
                Point::Nodes(_) => 1.0,
                // those that come to the same router
                Point::Channel(channel) => {
                    let links = f64::from(self.channels[channel].links);
                    self.sums[channel] * f64::from(self.parallel(channel)) / links
                }
            };
            let output = Output { from: self.from(step.from), to: self.numbers[step.to] };
            let (sum, same) = outputs.entry(output).or_default();
            *sum += step.share;
            *same += step.share * step.of_one() / all;
        }
        outputs.values_mut().for_each(|(sum, same)| *same /= *sum);
        outputs
    }

    /// By hops: shares of all messages, each with the delay of all links on its way; where no link has a delay, none.
    fn delays(&self) -> Vec<Vec<(f64, u32)>> {
        if self.network.delays().is_empty() {
            return Vec::new();
        }
        let of_hops =
            |delays: &BTreeMap<u32, f64>| delays.iter().map(|(delay, share)| (*share, *delay)).collect();
        self.flows.delays.iter().map(of_hops).collect()
    }

    /// By delay of links to routers, and half of the virtual channels: the most messages on one of them. Where no
    /// link has a delay, none.
    fn most_used(&self) -> Vec<DelayedLink> {
        if self.network.delays().is_empty() {
            return Vec::new();
        }
        let mut most: BTreeMap<(u32, bool), f64> = BTreeMap::new();
        let mut add = |delay: u32, is_upper: bool, rate: f64| {
            let known = most.entry((delay, is_upper)).or_default();
            *known = known.max(rate);
        };
        for (channel, sum) in self.channels.iter().zip(&self.sums).filter(|(channel, _)| !channel.is_end) {
            let delay = self.network.delay(channel.router, channel.port);
            add(delay, channel.is_upper, sum / f64::from(channel.links));
        }
        for sender in &self.flows.senders {
            let (router, port) = self.network.entry(self.groups.nodes[*sender][0]);
            add(self.network.delay(router, port), false, 1.0);
        }
        most.into_iter().map(|((delay, is_upper), rate)| DelayedLink { delay, is_upper, rate }).collect()
    }

    /// Senders whose messages leave their routers alike.
    fn senders(&self) -> Vec<Sender> {
        let all = self.flows.sending as f64;
        let mut alike: BTreeMap<Vec<(u32, i64)>, Sender> = BTreeMap::new();
        for place in &self.flows.senders {
            let nodes = self.groups.nodes[*place].len() as f64;
            let mut outputs: BTreeMap<u32, f64> = BTreeMap::new();
            let from = Point::Nodes(*place);
            let begin = self.flows.steps.partition_point(|step| step.from < from);
            for step in self.flows.steps[begin..].iter().take_while(|step| step.from == from) {
                *outputs.entry(self.numbers[step.to]).or_default() += step.share / nodes;
            }
            let key = outputs.iter().map(|(to, share)| (*to, rounded(*share))).collect();
            let outputs =
                || outputs.iter().map(|(to, share)| (*share, Output { from: None, to: *to })).collect();
            let known = alike.entry(key).or_insert_with(|| Sender { share: 0.0, outputs: outputs() });
            known.share += nodes / all;
        }
        alike.into_values().collect()
    }

    fn paths(&self, on_link: &HashMap<(u32, u32), Vec<f64>>, at_interface: Vec<f64>, place: usize) -> Paths {
        let channel = |(number, sample): (usize, &usize)| {
            let Channel { router, port, links: count, is_upper, nodes, .. } = self.channels[*sample];
            let links = f64::from(count);
            let by_class: Vec<f64> = on_link[&(router, port)].iter().map(|of| of / links).collect();
            ChannelUse {
                dimension: number as u32,
                links: count,
                rate: self.sums[*sample] / links / f64::from(nodes),
                on_link: by_class[place],
                is_upper,
                by_class: Some(by_class),
            }
        };
        let mut links: Vec<ChannelUse> = self.samples.iter().enumerate().map(channel).collect();
        let ends = links.split_off(self.inner);
        let inputs = self.inputs();
        let outputs = self.outputs();
        let is_end = |to: u32| to as usize >= self.inner;
        let among = |from: Option<u32>| {
            let [first, last] = [0, u32::MAX].map(|to| Output { from, to });
            outputs.range(first..=last)
        };
        // those of some outputs that count, with shares that sum to one
        let pool_of = |some: btree_map::Range<'_, Output, (f64, f64)>,
                       counts: &dyn Fn(Option<u32>, u32) -> bool| {
            let met = some.filter(|(output, _)| counts(output.from, output.to));
            let mut met: Outputs = met.map(|(output, (sum, _))| (*sum, *output)).collect();
            let all: f64 = met.iter().map(|(share, _)| share).sum();
            met.iter_mut().for_each(|(share, _)| *share /= all);
            met
        };
        let pool = |counts: &dyn Fn(Option<u32>, u32) -> bool| pool_of(outputs.range(..), counts);
        let typical = Typical {
            staying: pool(&|from, to| from.is_none() && is_end(to)),
            first: pool(&|from, to| from.is_none() && !is_end(to)),
            middle: pool(&|from, to| from.is_some() && !is_end(to)),
            last: pool(&|from, to| from.is_some() && is_end(to)),
        };
        let onward = (0..self.inner as u32).map(|channel| pool_of(among(Some(channel)), &|_, _| true));
        let shared = |(output, (_, same)): (&Output, &(f64, f64))| {
            (*output, Crossing::new(&inputs[output.to as usize], output.from), *same)
        };
        let hops = self.flows.hops.iter().zip(0..);
        let parts = Parts {
            mean_hops: hops.map(|(share, hops)| share * f64::from(hops)).sum(),
            all: outputs.iter().map(shared).collect(),
            onward: onward.collect(),
            channels: links,
            ends,
            shares: self.flows.hops.clone(),
            delays: self.delays(),
            most_used: self.most_used(),
            senders: self.senders(),
            at_interface: Some(at_interface),
            inputs,
            outputs: OnPaths::Alike(typical),
        };
        Paths::new(self.network, parts)
    }
}

/// How many channels of a class may lie before each.
fn depths(count: usize, flows: &Flows) -> Vec<u32> {
    let (mut next, mut before) = (vec![Vec::new(); count], vec![0_u32; count]);
    for step in &flows.steps {
        if let Point::Channel(from) = step.from {
            next[from].push(step.to);
            before[step.to] += 1;
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

/// The paths of classes over these channels; classes that go the same ways have the same.
pub(super) fn paths(network: &dyn Topology, classes: &ChannelClasses) -> Vec<Rc<Paths>> {
    let by_flows = classes.on_links();
    let of_classes = |by_flows: &[f64]| classes.flows_of.iter().map(|flows| by_flows[*flows]).collect();
    let on_link: HashMap<(u32, u32), Vec<f64>> =
        by_flows.iter().map(|(link, loads)| (*link, of_classes(loads))).collect();
    let one = |(place, flows): (usize, &Flows)| {
        let class = classes.flows_of.iter().position(|of| *of == place).expect("a class for its ways");
        let sends: Vec<f64> = classes.flows.iter().map(|other| classes.both_send(flows, other)).collect();
        Rc::new(OneClass::new(network, classes, flows).paths(&on_link, of_classes(&sends), class))
    };
    let found: Vec<Rc<Paths>> = classes.flows.iter().enumerate().map(one).collect();
    classes.flows_of.iter().map(|flows| Rc::clone(&found[*flows])).collect()
}
