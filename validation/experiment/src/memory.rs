//! Correlation time of a queue, and the run length that it demands.
//!
//! Near saturation waiting times are skewed: a run over a few busy periods mostly lies below the mean, and its interval
//! is too narrow. Means of replications become symmetric if a replication is many correlation times long.

use crate::measurement::Tally;

/// The time in which a queue with mean waiting `W` and network latency `L` forgets how it was, about
/// `(L + W) (1 + W / L)` \[cycles\]: waiting grows with the inverse of what is left of the link, memory with its
/// square.
pub(crate) fn memory(network: f64, waiting: f64) -> f64 {
    (network + waiting) * (1.0 + waiting / network)
}

/// Memories of all replications together that are measured at least, where waiting is long: for 16 of them, means of
/// waiting then have a skewness of about a half.
pub(crate) const FEWEST_MEMORIES: f64 = 1_600.0;
/// Waiting is long from so many network latencies on.
const LONG_WAITING: f64 = 2.0;
/// Flit hops of all replications beyond which no run is prolonged for that.
pub(crate) const MOST_FLIT_HOPS: u64 = 100_000_000;

/// How many memories of the class fit into so many measured cycles of all replications; `None` if its waiting is
/// not long.
pub(crate) fn memories<'a>(
    tallies: impl Iterator<Item = &'a Tally>,
    class: usize,
    measured_cycles: f64,
) -> Option<f64> {
    let (mut count, mut network, mut waiting) = (0, 0.0, 0.0);
    for tally in tallies {
        let (of_network, of_waiting) = (tally.network_batch(class), tally.waiting_batch(class));
        count += of_network.count;
        network += of_network.sum;
        waiting += of_waiting.sum;
    }
    let is_long = count > 0 && waiting > LONG_WAITING * network;
    is_long.then(|| measured_cycles / memory(network / count as f64, waiting / count as f64))
}
