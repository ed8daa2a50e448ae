//! Paths of messages over the channels of a network, as tables: which outputs they meet one after another, and over
//! which inputs the traffic of an output comes.
//!
//! Channels that are alike have one number; it rises along every path, and ejection links have the highest ones. In a
//! torus the two halves of a channel's virtual channels have a number each. Senders that are alike are one, too; with
//! uniform destinations all are.

use std::collections::HashMap;

use super::ecube_paths::{Crossing, EcubePaths, Output, Outputs};

/// A channel, or one half of its virtual channels, per message that each sender generates.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ChannelUse {
    /// Its dimension.
    pub(super) dimension: u32,
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
        Self { dimension: 0, rate: 1.0, on_link: 1.0, is_upper: false, by_class: None }
    }

    /// Messages of a class on the link per message that each of its senders generates.
    pub(super) fn of_class(&self, class: usize) -> f64 {
        self.by_class.as_ref().map_or(self.on_link, |of| of[class])
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

/// Outputs on paths of any length, each as all messages meet them in the mean: of messages that stay at their router,
/// and first ones, later channels and last ones of the others.
#[derive(Clone, Debug)]
pub(super) struct Pooled {
    pub(super) staying: Outputs,
    pub(super) first: Outputs,
    pub(super) middle: Outputs,
    pub(super) last: Outputs,
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
    /// Parallel links.
    pub(super) links: u32,
    /// Share of the messages by hops, and their mean.
    shares: Vec<f64>,
    mean_hops: f64,
    /// `p_j`: by output, the inputs of its traffic: dimension, or the interface, and the share of each.
    inputs: Vec<Vec<(Option<u32>, f64)>>,
    crossings: Vec<Crossing>,
    same: Vec<f64>,
    onward: Vec<Outputs>,
    /// By hops and router.
    outputs: Vec<Vec<Outputs>>,
    pooled: Option<Pooled>,
    first: Outputs,
    middle: Outputs,
    last: Outputs,
    /// All outputs that are met at all.
    pub(super) all: Vec<Output>,
}

/// What a network is described by.
pub(super) struct Parts {
    pub(super) channels: Vec<ChannelUse>,
    pub(super) ends: Vec<ChannelUse>,
    pub(super) has_halves: bool,
    pub(super) links: u32,
    pub(super) shares: Vec<f64>,
    pub(super) mean_hops: f64,
    pub(super) inputs: Vec<Vec<(Option<u32>, f64)>>,
    pub(super) onward: Vec<Outputs>,
    pub(super) outputs: Vec<Vec<Outputs>>,
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
    /// Those of an n-cube, by formulas.
    pub(super) fn cube(n: u32) -> Self {
        let cube = EcubePaths::new(n);
        let rate = cube.channel_rate();
        let channel =
            |dimension| ChannelUse { dimension, rate, on_link: rate, is_upper: false, by_class: None };
        let outputs =
            |hops| (1..=hops + 1).filter(|_| hops > 0).map(|k| cube.outputs(hops, k)).collect::<Vec<_>>();
        let parts = Parts {
            channels: (0..n).map(channel).collect(),
            ends: vec![ChannelUse::end()],
            has_halves: false,
            links: 1,
            shares: (0..=n).map(|hops| if hops == 0 { 0.0 } else { cube.share(hops) }).collect(),
            mean_hops: f64::from(n) * rate,
            inputs: (0..=n).map(|to| cube.inputs(to)).collect(),
            onward: (0..n).map(|from| cube.onward(from).collect()).collect(),
            outputs: (0..=n).map(outputs).collect(),
        };
        Self::new(parts, cube.all_outputs().collect(), |output| (cube.crossing(output), cube.same(output)))
    }

    /// From its parts, and what traffic shares an output and how much of an input's traffic goes there.
    pub(super) fn new(parts: Parts, all: Vec<Output>, of: impl Fn(Output) -> (Crossing, f64)) -> Self {
        let Parts { channels, ends, has_halves, links, shares, mean_hops, inputs, onward, outputs } = parts;
        let count = (channels.len() + 1) * (channels.len() + ends.len());
        let mut paths = Self {
            channels,
            ends,
            at_interface: None,
            senders: Vec::new(),
            pooled: None,
            has_halves,
            links,
            inputs,
            crossings: vec![Crossing::NOTHING; count],
            same: vec![0.0; count],
            onward,
            first: Outputs::new(),
            middle: Outputs::new(),
            last: Outputs::new(),
            all,
            shares,
            mean_hops,
            outputs,
        };
        for output in paths.all.clone() {
            let at = paths.index(output);
            (paths.crossings[at], paths.same[at]) = of(output);
        }
        let hops = 1..=paths.most_hops();
        let at = |hops: u32, k: u32, share: f64| {
            paths.outputs(hops, k).iter().map(move |one| (share, *one)).collect::<Vec<_>>()
        };
        let first = merged(hops.clone().flat_map(|h| at(h, 1, paths.share(h))));
        let last = merged(hops.clone().flat_map(|h| at(h, h + 1, paths.share(h))));
        let all = (paths.mean_hops() - paths.moving()).max(1e-300);
        let middle = merged(
            hops.flat_map(|h| (2..=h).map(move |k| (h, k))).flat_map(|(h, k)| at(h, k, paths.share(h) / all)),
        );
        let mut entering = first.clone();
        if paths.moving() < 1.0 {
            entering.push((1.0 - paths.moving(), Output { from: None, to: paths.channels.len() as u32 }));
        }
        let senders = vec![Sender { share: 1.0, outputs: entering }];
        Self { first, middle, last, senders, ..paths }
    }

    /// Those of a class whose messages go different ways from each sender: by hops only their number is known.
    pub(super) fn pooled(
        parts: Parts,
        pooled: Pooled,
        (senders, at_interface): (Vec<Sender>, Option<Vec<f64>>),
        all: &[(Output, Crossing, f64)],
    ) -> Self {
        let of = |output: Output| {
            all.iter()
                .find(|(known, ..)| *known == output)
                .map_or((Crossing::NOTHING, 0.0), |one| (one.1, one.2))
        };
        let mut paths = Self::new(parts, all.iter().map(|(output, ..)| *output).collect(), of);
        let scaled = |outputs: &Outputs, by: f64| -> Outputs {
            outputs.iter().map(|(share, output)| (share * by, *output)).collect()
        };
        let moving = paths.moving();
        (paths.first, paths.last) = (scaled(&pooled.first, moving), scaled(&pooled.last, moving));
        paths.middle = pooled.middle.clone();
        if moving <= 0.0 {
            paths.last = pooled.staying.clone();
        }
        Self { senders, at_interface, pooled: Some(pooled), ..paths }
    }

    fn index(&self, Output { from, to }: Output) -> usize {
        let from = from.map_or(self.channels.len(), |channel| channel as usize);
        from * (self.channels.len() + self.ends.len()) + to as usize
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
        self.crossings[self.index(output)]
    }

    /// `S_2` of all traffic of a channel.
    pub(super) fn different(&self, channel: u32) -> f64 {
        let inputs = &self.inputs[channel as usize];
        (1.0 - inputs.iter().map(|(_, share)| share * share).sum::<f64>()).max(0.0)
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
        self.same[self.index(output)]
    }

    /// Outputs of router `k = 1, .., h + 1` on the paths of `hops`, and how often; the last is the ejection link.
    pub(super) fn outputs(&self, hops: u32, k: u32) -> &[(f64, Output)] {
        if let Some(pooled) = &self.pooled {
            return match (hops, k) {
                (0, _) => &pooled.staying,
                (_, 1) => &pooled.first,
                _ if k > hops => &pooled.last,
                _ => &pooled.middle,
            };
        }
        &self.outputs[hops as usize][k as usize - 1]
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
