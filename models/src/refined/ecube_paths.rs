//! Paths of dimension-order (e-cube) routing in an `n`-cube, and traffic that shares an output.
//!
//! A path crosses the dimensions in which source and destination differ, in rising order, and then the ejection link;
//! all destinations but the source are equally likely. Traffic of output `s` has entered its router over
//!
//! ```text
//! channel j < s with the share 2^-(s - j),   the interface with 2^-s
//! ejection: channel s with the share 2^s / (2^n - 1)
//! ```
//!
//! What comes over the own input its link has put in sequence already: only the share `f`, one less the own share,
//! contends. Two messages drawn at random are of different inputs with the probability `S_2 = 1 - Σ p_j²`.

/// The paths of a cube.
#[derive(Clone, Copy, Debug)]
pub(super) struct EcubePaths {
    dimension: u32,
}

/// An output, and the input over which the message came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Output {
    /// Channel in this dimension; the interface if none.
    pub(super) from: Option<u32>,
    /// Channel in this dimension; beyond the last, an ejection link.
    pub(super) to: u32,
}

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

    pub(super) fn add(&mut self, share: f64, one: Self) {
        self.contending += share * one.contending;
        self.different += share * one.different;
        self.others += share * one.others;
    }
}

/// `C(n, k)`
fn choose(n: u32, k: u32) -> f64 {
    if k > n { 0.0 } else { (0..k).fold(1.0, |c, i| c * f64::from(n - i) / f64::from(i + 1)) }
}

fn half_to(power: u32) -> f64 {
    0.5_f64.powf(f64::from(power))
}

/// Outputs, and how often each is met.
pub(super) type Outputs = Vec<(f64, Output)>;

impl EcubePaths {
    pub(super) fn new(dimension: u32) -> Self {
        Self { dimension }
    }

    /// `2^n - 1`
    fn destinations(self) -> f64 {
        1.0 / half_to(self.dimension) - 1.0
    }

    /// `ρ = 2^(n - 1) / (2^n - 1)`: messages on a channel per message generated at a node.
    pub(super) fn channel_rate(self) -> f64 {
        0.5 / half_to(self.dimension) / self.destinations()
    }

    /// `C(n, h) / (2^n - 1)`: share of the messages that cross `hops` channels.
    pub(super) fn share(self, hops: u32) -> f64 {
        choose(self.dimension, hops) / self.destinations()
    }

    /// `P(s_k = s | h)`: whether channel `k = 1, .., h` of a path of `hops` is in dimension `s`.
    pub(super) fn in_dimension(self, hops: u32, k: u32, s: u32) -> f64 {
        choose(s, k - 1) * choose(self.dimension - 1 - s, hops - k) / choose(self.dimension, hops)
    }

    /// Traffic that shares an output.
    pub(super) fn crossing(self, output: Output) -> Crossing {
        let ejected = |s: u32| 1.0 / half_to(s) / self.destinations();
        let (own, same, others): (f64, f64, u32) = match output {
            Output { from: Some(from), to } if to == self.dimension => {
                let same = (0..self.dimension).map(|s| ejected(s) * ejected(s)).sum();
                (ejected(from), same, self.dimension - 1)
            }
            Output { from: None, to } if to == self.dimension => (1.0, 1.0, 0),
            Output { from, to } => {
                let injected = half_to(to);
                // 4^-s + Σ_(j < s) 4^-(s - j)
                let same = injected * injected + (1..=to).map(|apart| half_to(2 * apart)).sum::<f64>();
                (from.map_or(injected, |from| half_to(to - from)), same, to)
            }
        };
        Crossing { contending: 1.0 - own, different: (1.0 - same).max(0.0), others: f64::from(others) }
    }

    /// `p_j`: shares of the inputs in the traffic of an output, the interface first and channels in rising order.
    pub(super) fn inputs(self, to: u32) -> Vec<(Option<u32>, f64)> {
        match to {
            to if to < self.dimension => {
                let channels = (0..to).map(|from| (Some(from), half_to(to - from)));
                [(None, half_to(to))].into_iter().chain(channels).collect()
            }
            _ => (0..self.dimension).map(|s| (Some(s), 1.0 / half_to(s) / self.destinations())).collect(),
        }
    }

    /// `p`: how often another message that has come over the same input wants the same output.
    pub(super) fn same(self, output: Output) -> f64 {
        match output {
            Output { from: None, to } if to == self.dimension => 1.0,
            // 2^(n - 1 - s) of the 2^n - 1 destinations
            Output { from: None, to } => half_to(to + 1) / (1.0 - half_to(self.dimension)),
            Output { from: Some(from), to } => half_to(to.min(self.dimension - 1) - from),
        }
    }

    /// All outputs: first ones, later channels, and ejection links.
    pub(super) fn all_outputs(self) -> impl Iterator<Item = Output> {
        let n = self.dimension;
        let first = (0..n).map(|s| Output { from: None, to: s });
        let later = (0..n).flat_map(|s| (0..s).map(move |r| Output { from: Some(r), to: s }));
        let last = (0..n).map(move |s| Output { from: Some(s), to: n });
        first.chain(later).chain(last)
    }

    /// Outputs of router `k = 1, .., h + 1` on the paths of `hops`, and how often; the last is the ejection link.
    pub(super) fn outputs(self, hops: u32, k: u32) -> Vec<(f64, Output)> {
        let n = self.dimension;
        if k > hops {
            let one = |s| (self.in_dimension(hops, hops, s), Output { from: Some(s), to: n });
            return (0..n).map(one).filter(|(share, _)| *share > 0.0).collect();
        }
        if k == 1 {
            let one = |s| (self.in_dimension(hops, 1, s), Output { from: None, to: s });
            return (0..n).map(one).filter(|(share, _)| *share > 0.0).collect();
        }
        let pairs = (0..n).flat_map(|s| (0..s).map(move |r| (r, s)));
        // P(s_(k - 1) = r, s_k = s | h)
        let one = |(r, s): (u32, u32)| {
            let share = choose(r, k - 2) * choose(n - 1 - s, hops - k) / choose(n, hops);
            (share, Output { from: Some(r), to: s })
        };
        pairs.map(one).filter(|(share, _)| *share > 0.0).collect()
    }

    /// Where messages go that come over channel `from`.
    pub(super) fn onward(self, from: u32) -> impl Iterator<Item = (f64, Output)> {
        let channel = move |to: u32| (half_to(to - from), Output { from: Some(from), to });
        let last = (half_to(self.dimension - 1 - from), Output { from: Some(from), to: self.dimension });
        (from + 1..self.dimension).map(channel).chain([last])
    }
}

#[cfg(test)]
mod tests {
    use super::super::channel_paths::Paths;
    use super::*;

    /// All paths of a small cube: dimensions crossed, by source and destination.
    fn paths(n: u32) -> Vec<(u32, Vec<u32>)> {
        let nodes = 1_u32 << n;
        let pairs = (0..nodes).flat_map(|from| (0..nodes).map(move |to| (from, to)));
        let one = |(from, to): (u32, u32)| (from, (0..n).filter(|s| (from ^ to) >> s & 1 == 1).collect());
        pairs.filter(|(from, to)| from != to).map(one).collect()
    }

    #[test]
    fn shares_sum_to_one() {
        for n in 1..=16 {
            let cube = EcubePaths::new(n);
            let all: f64 = (1..=n).map(|h| cube.share(h)).sum();
            assert!((all - 1.0).abs() < 1e-12);
            let hops: f64 = (1..=n).map(|h| f64::from(h) * cube.share(h)).sum();
            assert!((hops - f64::from(n) * cube.channel_rate()).abs() < 1e-10);
            for s in 0..n {
                let all: f64 = cube.onward(s).map(|(share, _)| share).sum();
                assert!((all - 1.0).abs() < 1e-12, "{n} {s}");
            }
            for h in 1..=n {
                for k in 1..=h {
                    let all: f64 = (0..n).map(|s| cube.in_dimension(h, k, s)).sum();
                    assert!((all - 1.0).abs() < 1e-9);
                }
            }
        }
    }

    #[test]
    fn inputs_bring_all_and_as_much_as_contends() {
        for n in 1..=10 {
            let cube = EcubePaths::new(n);
            for output in cube.all_outputs() {
                let inputs = cube.inputs(output.to);
                assert!((inputs.iter().map(|(_, share)| share).sum::<f64>() - 1.0).abs() < 1e-12);
                let own = inputs.iter().find(|(from, _)| *from == output.from).unwrap().1;
                assert!((1.0 - own - cube.crossing(output).contending).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn crossings_are_those_of_all_pairs_of_nodes() {
        for n in 1..=5 {
            let cube = EcubePaths::new(n);
            // messages by input and output of node 0; n is the interface, as input and as output
            let mut through = vec![vec![0.0; n as usize + 1]; n as usize + 1];
            for (from, path) in paths(n) {
                let mut node = from;
                let mut input = n;
                for s in path.iter().copied().chain([n]) {
                    if node == 0 {
                        through[input as usize][s as usize] += 1.0;
                    }
                    if s < n {
                        node ^= 1 << s;
                    }
                    input = s;
                }
            }
            let crossing = |input: u32, output: u32| {
                let column: Vec<f64> = through.iter().map(|row| row[output as usize]).collect();
                let all: f64 = column.iter().sum();
                let same: f64 = column.iter().map(|x| x * x / all / all).sum();
                let inputs = column.iter().filter(|x| **x > 0.0).count();
                Crossing {
                    contending: 1.0 - column[input as usize] / all,
                    different: 1.0 - same,
                    others: inputs as f64 - 1.0,
                }
            };
            let close = |a: Crossing, b: Crossing| {
                assert!((a.contending - b.contending).abs() < 1e-9, "{n}: {a:?} {b:?}");
                assert!((a.different - b.different).abs() < 1e-9, "{n}: {a:?} {b:?}");
                assert!((a.others - b.others).abs() < 1e-9, "{n}: {a:?} {b:?}");
            };
            for h in 1..=n {
                for k in 1..=h + 1 {
                    let (mut mean, mut count) = (Crossing::NOTHING, 0.0);
                    for (_, path) in paths(n).into_iter().filter(|(_, path)| path.len() == h as usize) {
                        let input = if k == 1 { n } else { path[k as usize - 2] };
                        let output = if k > h { n } else { path[k as usize - 1] };
                        mean.add(1.0, crossing(input, output));
                        count += 1.0;
                    }
                    let mean = Crossing {
                        contending: mean.contending / count,
                        different: mean.different / count,
                        others: mean.others / count,
                    };
                    close(mean, Paths::cube(n).mean(&cube.outputs(h, k)));
                }
            }
            let on_channel: f64 = through[n as usize - 1].iter().sum();
            let generated: f64 = through[n as usize].iter().sum();
            assert!((on_channel / generated - cube.channel_rate()).abs() < 1e-9);
        }
    }
}
