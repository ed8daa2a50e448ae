//! Parts of a model of admission, congestion and power control in clusters of wormhole routers with many lanes.
//!
//! | module | question |
//! |---|---|
//! | [`record_law`] | what share of frames misses a deadline that follows the latest frame |
//! | [`lane_shares`] | what weighted round robin gives a lane, on average and at worst |
//! | [`energy`] | mean and variation of power, loads under a power budget |
//! | [`windows`] | waits of best effort, with credits returned at injection |
//! | [`closed_network`] | throughput with credits returned at delivery |
//! | [`rejection`] | share of connection requests that are refused |
//!
//! A load is in flits per cycle and node, `M` is the length of a packet in flits, `P` the number of pipeline stages
//! of a router. Measured values are those of a prototype of the simulator.

pub mod closed_network;
pub mod energy;
pub mod lane_shares;
pub mod record_law;
pub mod rejection;
pub mod windows;

use flitwise_language::network::Topology;

/// Where a packet goes: the channels from one node to another.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    /// The node it starts at.
    pub source: usize,
    /// Injection channel, network channels in order, ejection channel.
    pub channels: Vec<usize>,
}

impl Path {
    /// Network channels on it.
    pub fn hops(&self) -> u32 {
        self.channels.len() as u32 - 2
    }
}

/// The paths from every node to all others, sorted by source.
///
/// Channels are numbered: injection channels are `0 .. nodes`, then the output ports router by router; those that are
/// absent have a number too. Of parallel links the first is taken.
pub fn paths(network: &dyn Topology) -> Vec<Path> {
    let nodes = network.nodes();
    let place = |router: u32, port: u32| nodes as usize + (router * network.ports() + port) as usize;
    let path = |source: u32, destination: u32| {
        let behind = network.path(source, destination).map(|hop| place(hop.router, hop.port));
        Path { source: source as usize, channels: [source as usize].into_iter().chain(behind).collect() }
    };
    let pairs = (0..nodes).flat_map(|from| (0..nodes).map(move |to| (from, to)));
    pairs.filter(|(from, to)| from != to).map(|(from, to)| path(from, to)).collect()
}

/// Numbers that [`paths`] gives to channels.
pub fn channels(network: &dyn Topology) -> usize {
    network.nodes() as usize + network.routers() as usize * network.ports() as usize
}

#[cfg(test)]
fn mesh(side: u32) -> flitwise_language::network::Network {
    use flitwise_language::scenario::{NetworkSpec, Radix};
    let radix = Radix::of(&[side, side]).expect("two dimensions");
    NetworkSpec::Mesh { radix, dimensions: None, nodes_per_router: 1, links: 1, self_traffic: None }
        .topology()
}

#[cfg(test)]
fn assert_near(found: f64, expected: f64, relative: f64) {
    assert!((found - expected).abs() <= relative * expected.abs().max(1e-300), "{found} is not {expected}");
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Loads of item 1: eastward from column x `(x + 1) (k - 1 - x) k / (n - 1)`, at most 1.0667 and 1.25.
    #[test]
    fn a_mesh_has_the_channel_rates_of_the_chapter() {
        for (side, most, mean) in [(4, 1.0667, 8.0 / 3.0), (5, 1.25, 10.0 / 3.0)] {
            let network = mesh(side);
            let paths = paths(&*network);
            let nodes = f64::from(side * side);
            let mut loads = vec![0.0; channels(&*network)];
            for channel in paths.iter().flat_map(|path| &path.channels) {
                loads[*channel] += 1.0 / (nodes - 1.0);
            }
            assert_near(loads.iter().fold(0.0, |most, load| f64::max(most, *load)), most, 1e-4);
            assert!(loads[..nodes as usize].iter().all(|load| (load - 1.0).abs() < 1e-12));
            let hops: u32 = paths.iter().map(Path::hops).sum();
            assert_near(f64::from(hops) / paths.len() as f64, mean, 1e-12);
        }
    }
}
