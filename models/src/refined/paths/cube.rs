//! Paths of dimension-order (e-cube) routing in an `n`-cube with uniform destinations, by formulas.
//!
//! A path crosses the dimensions in which source and destination differ, in rising order, and then the ejection link;
//! all destinations but the source are equally likely. Traffic of output `s` has entered its router over
//!
//! ```text
//! channel j < s with the share 2^-(s - j),   the interface with 2^-s
//! ejection: channel s with the share 2^s / (2^n - 1)
//! ```

use flitwise_language::network::Topology;

use super::{ChannelUse, Crossing, OnPaths, Output, Outputs, Parts, Paths};

/// `C(n, k)`
pub(super) fn choose(n: u32, k: u32) -> f64 {
    if k > n { 0.0 } else { (0..k).fold(1.0, |c, i| c * f64::from(n - i) / f64::from(i + 1)) }
}

fn half_to(power: u32) -> f64 {
    0.5_f64.powf(f64::from(power))
}

/// `p_j`: shares of the inputs in the traffic of an output, the interface first and channels in rising order.
fn inputs(n: u32, to: u32) -> Vec<(Option<u32>, f64)> {
    if to == n {
        return (0..n).map(|s| (Some(s), 1.0 / half_to(s) / (1.0 / half_to(n) - 1.0))).collect();
    }
    let channels = (0..to).map(|from| (Some(from), half_to(to - from)));
    [(None, half_to(to))].into_iter().chain(channels).collect()
}

/// Traffic that shares an output, and how often another message of the same input wants the same.
fn shared(n: u32, output: Output) -> (Output, Crossing, f64) {
    let Output { from, to } = output;
    let inputs = inputs(n, to);
    let own = inputs.iter().find(|(input, _)| *input == from).map_or(0.0, |(_, share)| *share);
    let crossing = Crossing { contending: 1.0 - own, ..Crossing::new(&inputs, from) };
    let same = match from {
        // 2^(n - 1 - s) of the 2^n - 1 destinations
        None => half_to(to + 1) / (1.0 - half_to(n)),
        Some(from) => half_to(to.min(n - 1) - from),
    };
    (output, crossing, same)
}

/// Outputs of router `k = 1, .., h + 1` on the paths of `hops`, and how often; the last is the ejection link.
fn outputs(n: u32, hops: u32, k: u32) -> Outputs {
    // P(s_k = s | h), the one channel after so many
    let one = |k: u32, s: u32| choose(s, k - 1) * choose(n - 1 - s, hops - k) / choose(n, hops);
    // P(s_(k - 1) = r, s_k = s | h)
    let two = |r: u32, s: u32| choose(r, k - 2) * choose(n - 1 - s, hops - k) / choose(n, hops);
    let found: Outputs = match k {
        k if k > hops => (0..n).map(|s| (one(hops, s), Output { from: Some(s), to: n })).collect(),
        1 => (0..n).map(|s| (one(1, s), Output { from: None, to: s })).collect(),
        _ => {
            let pairs = (0..n).flat_map(|s| (0..s).map(move |r| (r, s)));
            pairs.map(|(r, s)| (two(r, s), Output { from: Some(r), to: s })).collect()
        }
    };
    found.into_iter().filter(|(share, _)| *share > 0.0).collect()
}

/// Where messages go that come over channel `from`.
fn onward(n: u32, from: u32) -> Outputs {
    let channel = |to: u32| (half_to(to - from), Output { from: Some(from), to });
    let last = (half_to(n - 1 - from), Output { from: Some(from), to: n });
    (from + 1..n).map(channel).chain([last]).collect()
}

/// The paths of an `n`-cube.
pub(super) fn paths(network: &dyn Topology) -> Paths {
    let n = network.most_hops();
    let destinations = 1.0 / half_to(n) - 1.0;
    // ρ = 2^(n - 1) / (2^n - 1): messages on a channel per message generated at a node
    let rate = 0.5 / half_to(n) / destinations;
    let channel =
        |dimension| ChannelUse { dimension, links: 1, rate, on_link: rate, is_upper: false, by_class: None };
    let first = (0..n).map(|to| Output { from: None, to });
    let later = (0..n).flat_map(|to| (0..to).map(move |from| Output { from: Some(from), to }));
    let last = (0..n).map(|from| Output { from: Some(from), to: n });
    let on_paths = |hops| (1..=hops + 1).filter(|_| hops > 0).map(|k| outputs(n, hops, k)).collect();
    let parts = Parts {
        channels: (0..n).map(channel).collect(),
        ends: vec![ChannelUse::end()],
        // C(n, h) / (2^n - 1)
        delays: Vec::new(),
        most_used: Vec::new(),
        shares: (0..=n).map(|hops| if hops == 0 { 0.0 } else { choose(n, hops) / destinations }).collect(),
        mean_hops: f64::from(n) * rate,
        senders: Vec::new(),
        at_interface: None,
        inputs: (0..=n).map(|to| inputs(n, to)).collect(),
        onward: (0..n).map(|from| onward(n, from)).collect(),
        outputs: OnPaths::ByHops((0..=n).map(on_paths).collect()),
        all: first.chain(later).chain(last).map(|output| shared(n, output)).collect(),
    };
    Paths::new(network, parts)
}
