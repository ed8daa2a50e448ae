//! Paths with uniform destinations where the dimensions part, as in a mesh or torus with dimension-order routing, or
//! a single router, which has none.
//!
//! A path is a line in each dimension, one after another, and the lines are independent: each begins and ends at
//! uniform coordinates. So paths are put together from the lines of each dimension. Channels count as alike by their
//! dimension, the half of the virtual channels, and the channels behind them up to the end of the line or the dateline,
//! in either direction; over the coordinates in other dimensions they are taken in the mean (our approximation).

use std::collections::BTreeMap;

use flitwise_language::network::{Half, Topology};

use super::{ChannelUse, Crossing, OnPaths, Output, Outputs, Parts, Paths, merged};

/// Shares by the number of a channel.
type Shares = BTreeMap<u32, f64>;

/// Shares by the input and the output of a router.
type OnWay = BTreeMap<(Option<u32>, Option<u32>), f64>;

/// Lines of one dimension, as shares of all pairs of coordinates.
struct Lines {
    /// By length.
    lengths: Vec<f64>,
    /// First and last channels, by length.
    first: Vec<Shares>,
    last: Vec<Shares>,
    /// Two channels in a row, by length and the place of the first of them.
    steps: Vec<Vec<BTreeMap<(u32, u32), f64>>>,
    /// How often each channel is crossed.
    crossed: Shares,
    /// Probability that two lines which end, or begin, at one coordinate have the same direction.
    same_end: f64,
    same_start: f64,
    channels: Vec<ChannelUse>,
}

/// A channel on a line: whether it is in the half behind the dateline, and its place on the way.
type Place = (bool, u32);

/// The channels from one coordinate to another, and the direction of the way.
fn way(network: &dyn Topology, (stride, side): (u32, u32), from: u32, to: u32) -> (Vec<Place>, bool) {
    let each = network.nodes() / network.routers();
    let (source, destination) = (from * stride * each, to * stride * each);
    let (mut places, mut upwards) = (Vec::new(), true);
    for hop in network.path(source, destination, 0) {
        let Some((router, _)) = hop.end.input() else { break };
        let is_upper = network.half(hop.router, source, destination) == Half::Upper;
        let (x, next) = (hop.router / stride, router / stride);
        upwards = next == (x + 1) % side && (side > 2 || next > x);
        let crossed = if upwards { x } else { side - 1 - x };
        // behind the dateline the channel across it comes first
        places.push((is_upper, if is_upper { (crossed + 1) % side } else { crossed }));
    }
    (places, upwards)
}

impl Lines {
    /// The lines of a dimension, whose channels are numbered from `base` on.
    fn new(network: &dyn Topology, dimension: usize, base: u32) -> Self {
        let sides = network.sides();
        let (stride, side) = (sides[..dimension].iter().product::<u32>(), sides[dimension]);
        let pairs = (0..side).flat_map(|from| (0..side).map(move |to| (from, to)));
        let ways: Vec<(u32, u32, Vec<Place>, bool)> = pairs
            .map(|(from, to)| {
                let (places, upwards) = way(network, (stride, side), from, to);
                (from, to, places, upwards)
            })
            .collect();
        let mut known: Vec<Place> = ways.iter().flat_map(|(_, _, places, _)| places.clone()).collect();
        known.sort_unstable();
        known.dedup();
        let number = |place: &Place| base + known.binary_search(place).unwrap_or(0) as u32;
        let longest = ways.iter().map(|(_, _, places, _)| places.len()).max().unwrap_or(0);
        let mut lines = Self {
            lengths: vec![0.0; longest + 1],
            first: vec![Shares::new(); longest + 1],
            last: vec![Shares::new(); longest + 1],
            steps: (0..=longest).map(|length| vec![BTreeMap::new(); length.saturating_sub(1)]).collect(),
            crossed: Shares::new(),
            same_end: same_direction(ways.iter().map(|(_, to, places, up)| (*to, places.len(), *up))),
            same_start: same_direction(ways.iter().map(|(from, _, places, up)| (*from, places.len(), *up))),
            channels: Vec::new(),
        };
        let one = 1.0 / f64::from(side * side);
        for (_, _, places, _) in &ways {
            let (length, numbers) = (places.len(), places.iter().map(number).collect::<Vec<_>>());
            lines.lengths[length] += one;
            let (Some(first), Some(last)) = (numbers.first(), numbers.last()) else { continue };
            *lines.first[length].entry(*first).or_default() += one;
            *lines.last[length].entry(*last).or_default() += one;
            for (j, pair) in numbers.windows(2).enumerate() {
                *lines.steps[length][j].entry((pair[0], pair[1])).or_default() += one;
            }
            numbers.iter().for_each(|number| *lines.crossed.entry(*number).or_default() += one);
        }
        // two channels of a line are alike, one each way
        let nodes = f64::from(network.nodes() / network.routers());
        let per_link = nodes * f64::from(side) / 2.0 / f64::from(network.parallel_links()) * others(network);
        // the channel after so many: of the other half it is one further on
        let link = |(is_upper, place): &Place| if *is_upper { (place + side - 1) % side } else { *place };
        let rate = |place: &Place| lines.crossed[&number(place)] * per_link;
        let channel = |place: &Place| ChannelUse {
            dimension: dimension as u32,
            links: network.parallel_links(),
            rate: rate(place),
            on_link: known.iter().filter(|other| link(other) == link(place)).map(rate).sum(),
            is_upper: place.0,
            by_class: None,
        };
        lines.channels = known.iter().map(channel).collect();
        lines
    }

    fn moving(&self) -> f64 {
        1.0 - self.lengths[0]
    }
}

/// Probability that two lines at one coordinate have the same direction, a mean over lines.
fn same_direction(lines: impl Iterator<Item = (u32, usize, bool)>) -> f64 {
    let mut at: BTreeMap<u32, [f64; 2]> = BTreeMap::new();
    for (coordinate, _, upwards) in lines.filter(|(_, length, _)| *length > 0) {
        at.entry(coordinate).or_default()[usize::from(upwards)] += 1.0;
    }
    let all: f64 = at.values().flatten().sum();
    at.values().map(|[down, up]| (down * down + up * up) / (down + up)).sum::<f64>() / all.max(1.0)
}

/// All messages over those to other places than the own.
fn others(network: &dyn Topology) -> f64 {
    let nodes = f64::from(network.nodes());
    if network.self_traffic() { 1.0 } else { nodes / (nodes - 1.0) }
}

/// Shares of both directions of which two messages take the same with this probability.
fn directions(same: f64) -> [f64; 2] {
    let more = 0.5 + 0.5 * (2.0 * same - 1.0).max(0.0).sqrt();
    [more, 1.0 - more]
}

/// Lattice and lines as they are put together.
struct Lattice {
    lines: Vec<Lines>,
    /// Nodes of a router and parallel links.
    nodes: f64,
    links: u32,
    /// Channels, and the number of the ejection links.
    count: u32,
}

impl Lattice {
    /// The output over a channel, or the ejection link.
    fn output(&self, from: Option<u32>, to: Option<u32>) -> Output {
        Output { from, to: to.unwrap_or(self.count) }
    }

    /// The channel of an output, none of the ejection link.
    fn channel(&self, to: u32) -> Option<u32> {
        (to < self.count).then_some(to)
    }

    fn line_of(&self, channel: u32) -> usize {
        let mut ends = 0;
        let is_beyond = |lines: &&Lines| {
            ends += lines.channels.len() as u32;
            ends <= channel
        };
        self.lines.iter().take_while(is_beyond).count()
    }

    /// Probability that the lines of these dimensions are all of no length.
    fn staying(&self, dimensions: std::ops::Range<usize>) -> f64 {
        self.lines[dimensions].iter().map(|lines| lines.lengths[0]).product()
    }

    /// Where messages go from the end of their line in a dimension, or from the interface: channel, or ejection link.
    fn turns(&self, after: Option<usize>) -> Vec<(f64, Option<u32>)> {
        let next = after.map_or(0, |dimension| dimension + 1);
        let mut turns = Vec::new();
        for dimension in next..self.lines.len() {
            let staying = self.staying(next..dimension);
            for (channel, share) in self.lines[dimension].first.iter().flatten() {
                turns.push((staying * share, Some(*channel)));
            }
        }
        turns.push((self.staying(next..self.lines.len()), None));
        turns
    }

    /// Where messages go that come over a channel.
    fn onward(&self, from: u32) -> Outputs {
        let dimension = self.line_of(from);
        let lines = &self.lines[dimension];
        let crossed = lines.crossed[&from];
        let steps = lines.steps.iter().flatten().flatten().filter(|((at, _), _)| *at == from);
        let ahead = steps.map(|((_, to), share)| (*share / crossed, Some(*to)));
        let ends: f64 = lines.last.iter().filter_map(|last| last.get(&from)).sum();
        let turns = self.turns(Some(dimension)).into_iter().map(|(share, to)| (share * ends / crossed, to));
        let outputs = ahead.chain(turns).map(|(share, to)| (1.0, (share, self.output(Some(from), to))));
        merged(outputs).into_iter().filter(|(share, _)| *share > 0.0).collect()
    }

    /// Inputs of the traffic of an output, by dimension, each with its share: both directions of a dimension that turns
    /// into it, its own line, and the nodes of the router.
    fn inputs(&self, to: Option<u32>) -> Vec<(Option<u32>, f64)> {
        let dimension = to.map_or(self.lines.len(), |to| self.line_of(to));
        let begun = |channel: u32| -> f64 {
            self.lines[dimension].first.iter().filter_map(|first| first.get(&channel)).sum()
        };
        let entering = to.map_or(1.0, begun);
        let mut inputs =
            vec![(None, self.staying(0..dimension) * entering, vec![1.0 / self.nodes; self.nodes as usize])];
        for (e, lines) in self.lines[..dimension].iter().enumerate() {
            let share = lines.moving() * self.staying(e + 1..dimension) * entering;
            inputs.push((Some(e as u32), share, directions(lines.same_end).to_vec()));
        }
        if let Some(to) = to {
            let steps = self.lines[dimension].steps.iter().flatten().flatten();
            let ahead = steps.filter(|((_, next), _)| *next == to).map(|(_, share)| share).sum();
            inputs.push((Some(dimension as u32), ahead, vec![1.0]));
        }
        let all: f64 = inputs.iter().map(|(_, share, _)| share).sum();
        let mut each = Vec::new();
        for (input, share, parts) in inputs {
            let links = if input.is_some() { self.links } else { 1 };
            for part in parts.iter().flat_map(|part| (0..links).map(move |_| part / f64::from(links))) {
                if share * part > 1e-12 * all {
                    each.push((input, share * part / all));
                }
            }
        }
        each
    }

    /// Share of the messages of one input that go to an output, of one direction where they turn.
    fn same(&self, output: Output, onward: &[(f64, Output)]) -> f64 {
        let dimension = |channel: u32| self.line_of(channel);
        let Some(to) = self.channel(output.to) else {
            return onward
                .iter()
                .find(|(_, one)| *one == output)
                .map_or(0.0, |(share, _)| share / self.nodes);
        };
        let towards = onward
            .iter()
            .filter(|(_, one)| self.channel(one.to).is_some_and(|one| dimension(one) == dimension(to)));
        let share: f64 = towards.map(|(share, _)| share).sum();
        let straight = output.from.is_some_and(|from| dimension(from) == dimension(to));
        if straight { share } else { share * self.lines[dimension(to)].same_start }
    }

    /// Outputs by hops and router, each with its share of all pairs; and the shares of hops.
    fn outputs(&self) -> (Vec<f64>, Vec<Vec<Outputs>>) {
        let longest = |lines: &[Lines]| lines.iter().map(|lines| lines.lengths.len() - 1).sum::<usize>();
        let most = longest(&self.lines);
        let mut found: Vec<Vec<OnWay>> = (0..=most).map(|hops| vec![BTreeMap::new(); hops + 1]).collect();
        // before a dimension: paths by length, and by length and last channel
        let (mut before, mut ends) = (vec![1.0], vec![BTreeMap::from([(None, 1.0)])]);
        for (dimension, lines) in self.lines.iter().enumerate() {
            let after = lengths(&self.lines[dimension + 1..]);
            let mut next = vec![BTreeMap::<Option<u32>, f64>::new(); before.len() + lines.lengths.len() - 1];
            for ((p, a), s) in (0..before.len())
                .flat_map(|p| (1..lines.lengths.len()).map(move |a| (p, a)))
                .flat_map(|pa| (0..after.len()).map(move |s| (pa, s)))
            {
                let on_way = &mut found[p + a + s];
                for (from, end) in &ends[p] {
                    for (to, first) in &lines.first[a] {
                        *on_way[p].entry((*from, Some(*to))).or_default() += end * first * after[s];
                    }
                }
                for (j, steps) in lines.steps[a].iter().enumerate() {
                    for ((from, to), share) in steps {
                        *on_way[p + j + 1].entry((Some(*from), Some(*to))).or_default() +=
                            before[p] * share * after[s];
                    }
                }
            }
            for p in 0..before.len() {
                for (from, end) in &ends[p] {
                    *next[p].entry(*from).or_default() += end * lines.lengths[0];
                }
                for a in 1..lines.lengths.len() {
                    for (last, share) in &lines.last[a] {
                        *next[p + a].entry(Some(*last)).or_default() += before[p] * share;
                    }
                }
            }
            ends = next;
            before = lengths(&self.lines[..=dimension]);
        }
        for (hops, ends) in ends.iter().enumerate() {
            found[hops][hops] = ends.iter().map(|(from, share)| ((*from, None), *share)).collect();
        }
        let part = |all: f64| {
            move |outputs: OnWay| -> Outputs {
                outputs.into_iter().map(|((from, to), share)| (share / all, self.output(from, to))).collect()
            }
        };
        let outputs = found.into_iter().zip(&before);
        let outputs = outputs.map(|(on_way, all)| on_way.into_iter().map(part(*all)).collect()).collect();
        (before, outputs)
    }
}

/// Lengths of paths over these lines.
fn lengths(lines: &[Lines]) -> Vec<f64> {
    lines.iter().fold(vec![1.0], |paths, lines| {
        let mut sums = vec![0.0; paths.len() + lines.lengths.len() - 1];
        for (p, path) in paths.iter().enumerate() {
            lines.lengths.iter().enumerate().for_each(|(a, share)| sums[p + a] += path * share);
        }
        sums
    })
}

/// The paths of a network whose dimensions part.
pub(super) fn paths(network: &dyn Topology) -> Paths {
    let mut lines: Vec<Lines> = Vec::new();
    let mut count = 0;
    for dimension in 0..network.sides().len() {
        lines.push(Lines::new(network, dimension, count));
        count += lines[dimension].channels.len() as u32;
    }
    let nodes = f64::from(network.nodes() / network.routers());
    let lattice = Lattice { lines, nodes, links: network.parallel_links(), count };
    let (mut shares, outputs) = lattice.outputs();
    // nobody sends to itself
    if !network.self_traffic() {
        shares[0] = (shares[0] - 1.0 / f64::from(network.nodes())).max(0.0);
        if nodes == 1.0 {
            shares[0] = 0.0;
        }
    }
    shares.iter_mut().for_each(|share| *share *= others(network));
    let onward: Vec<Outputs> = (0..count).map(|from| lattice.onward(from)).collect();
    let entering = lattice.turns(None).into_iter();
    let entering = entering.map(|(share, to)| (share * others(network), lattice.output(None, to)));
    let mut entering: Outputs = entering.collect();
    if let Some((share, _)) = entering.last_mut() {
        *share = shares[0];
    }
    let inputs: Vec<Vec<(Option<u32>, f64)>> =
        (0..count).map(Some).chain([None]).map(|to| lattice.inputs(to)).collect();
    let inputs = if shares[0] > 0.0 { inputs } else { without_own_nodes(inputs) };
    let met = entering.iter().chain(onward.iter().flatten()).filter(|(share, _)| *share > 0.0);
    let shared = |output: Output| {
        let onward = output.from.map_or(&entering, |from| &onward[from as usize]);
        let input = output.from.map(|from| lattice.line_of(from) as u32);
        (output, Crossing::new(&inputs[output.to as usize], input), lattice.same(output, onward))
    };
    let all = met.map(|(_, output)| shared(*output)).collect();
    let parts = Parts {
        channels: lattice.lines.iter().flat_map(|lines| lines.channels.iter().cloned()).collect(),
        ends: vec![ChannelUse::end()],
        shares,
        delays: Vec::new(),
        most_used: Vec::new(),
        mean_hops: network.mean_hops(),
        senders: Vec::new(),
        at_interface: None,
        inputs,
        onward,
        outputs: OnPaths::ByHops(outputs),
        all,
    };
    Paths::new(network, parts)
}

/// Inputs where no message goes back to its router.
fn without_own_nodes(mut inputs: Vec<Vec<(Option<u32>, f64)>>) -> Vec<Vec<(Option<u32>, f64)>> {
    if let Some(ejection) = inputs.last_mut() {
        ejection.retain(|(input, _)| input.is_some());
        let all: f64 = ejection.iter().map(|(_, share)| share).sum();
        ejection.iter_mut().for_each(|(_, share)| *share /= all);
    }
    inputs
}
