//! Effective bisection: the bandwidth that random pairs of nodes have, as a share of a link's.
//!
//! Hoefler, Schneider, Lumsdaine, CLUSTER 2008: the nodes are split into random halves, each node of one half is paired
//! with one of the other, and all pairs send at once. A flow has an equal share of the fullest channel on its path:
//!
//! ```text
//! e = mean over flows of 1 / max over channels c of its path of n_c
//! n_c = flows on c / (parallel links of c times their capacity)
//! ```
//!
//! Trial `k` has the pairs of `destination = { bisection = k }`, so that each can be simulated, too.

use flitwise_language::network::Topology;
use flitwise_language::scenario::Halves;

use crate::model::Refusal;

/// Channels that are looked at for all trials, up to which there is an answer, and in a second: some five seconds.
const MOST_STEPS: f64 = 5e8;
const STEPS_A_SECOND: f64 = 1e8;

/// Whether effective bisection is computed of a network, in reasonable time.
///
/// # Errors
/// Switches that choose by the state of the network, nodes without a way to others, a single node, or a long time.
pub fn supports_bisection(network: &dyn Topology, trials: u32) -> Result<(), Refusal> {
    let refuse = |key: &str, because: String| Err(Refusal { key: key.to_owned(), because });
    if network.is_adaptive() {
        let because = "does not have paths of flows where switches choose; simulate does, with destination = \
                       { bisection = 1 }";
        return refuse("network.routing", because.to_owned());
    }
    if !network.has_all_ways() {
        return refuse(
            "network.file",
            "wants a way between all nodes, which its tables do not have".to_owned(),
        );
    }
    if network.nodes() < 2 {
        return refuse("network", "wants two nodes or more".to_owned());
    }
    let steps = 3.0 * f64::from(trials) * f64::from(network.nodes()) * (1.0 + network.mean_hops());
    if steps > MOST_STEPS {
        let most = (f64::from(trials) * MOST_STEPS / steps).floor();
        let because = format!(
            "follows every flow of every trial, which would take about {:.0} s here; {most} trials are as many as \
             there may be",
            steps / STEPS_A_SECOND
        );
        return refuse("--bisection", because);
    }
    Ok(())
}

/// The effective bisection of every trial, from 1 on, where both halves send or one of them does \[share of a link's
/// rate\].
///
/// # Panics
/// If [`supports_bisection`] refuses the network.
pub fn effective_bisection(network: &dyn Topology, trials: u32, both_ways: bool) -> Vec<f64> {
    let (ports, routers) = (network.ports() as usize, network.routers() as usize);
    let has_slow_links = network.has_slow_links();
    let mut flows = vec![0_u32; ports * routers];
    let mut paths: Vec<(usize, f64)> = Vec::new();
    // by flow: where its path ends, and what its injection channel leaves of a link
    let mut ends: Vec<(usize, f64)> = Vec::new();
    let mut trial = |number: u32| {
        let mut halves = Halves::new(number);
        let pairs = halves.pairs(network.nodes());
        let back = pairs.iter().filter(|_| both_ways).map(|(one, other)| (*other, *one));
        flows.fill(0);
        paths.clear();
        ends.clear();
        for (source, destination) in pairs.iter().copied().chain(back) {
            let way = halves.below(network.drawn_ways());
            for hop in network.path(source, destination, way) {
                let place = hop.router as usize * ports + hop.port as usize;
                flows[place] += 1;
                let links = f64::from(network.parallel(hop.router, hop.port));
                let slowdown = if has_slow_links { network.slowdown(hop.router, hop.port) } else { 1 };
                paths.push((place, links / f64::from(slowdown)));
            }
            let (router, port) = network.entry(source);
            let slowdown = if has_slow_links { network.slowdown(router, port) } else { 1 };
            ends.push((paths.len(), f64::from(slowdown)));
        }
        let mut from = 0;
        let shares = ends.iter().map(|(end, injection)| {
            let path = &paths[from..*end];
            from = *end;
            let most = path
                .iter()
                .map(|(place, capacity)| f64::from(flows[*place]) / capacity)
                .fold(*injection, f64::max);
            1.0 / most
        });
        shares.sum::<f64>() / ends.len() as f64
    };
    (1..=trials).map(&mut trial).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use flitwise_language::scenario::Scenario;

    fn network(keys: &str) -> Scenario {
        let class = "[[class]]\nname = \"a\"\nkind = \"best-effort\"\nrate = 0.001\n";
        Scenario::from_toml("t", &format!("[network]\n{keys}\n{class}")).unwrap()
    }

    fn mean(keys: &str, both_ways: bool) -> f64 {
        let (scenario, trials) = (network(keys), 300);
        let each = effective_bisection(&*scenario.topology(), trials, both_ways);
        each.iter().sum::<f64>() / f64::from(trials)
    }

    /// Hoefler et al. 2008 by another program: 648 nodes of radix 36, and 36 leaves of 24 nodes with 12 links up.
    #[test]
    fn trees_have_the_bisection_that_another_program_finds() {
        let radix = "topology = \"fat-tree\"\nlevels = 2\nradix = 36\nrouting =";
        let tapered = "topology = \"fat-tree\"\ndown = [24, 36]\nup = [12]\nlevels = 2\nrouting =";
        for (keys, wanted) in [
            (format!("{radix} \"d-mod-k\""), [0.662, 0.808]),
            (format!("{radix} \"random-up\""), [0.511, 0.682]),
            (format!("{tapered} \"d-mod-k\""), [0.395, 0.567]),
            (format!("{tapered} \"random-up\""), [0.339, 0.508]),
        ] {
            let found = [true, false].map(|both_ways| mean(&keys, both_ways));
            for (found, wanted) in found.iter().zip(wanted) {
                assert!((found - wanted).abs() < 0.004, "{keys}: {found}, {wanted}");
            }
        }
    }

    #[test]
    fn a_crossbar_has_all_of_it_and_one_link_its_share() {
        assert_eq!(mean("topology = \"router\"\nports = 8", true), 1.0);
        // two routers of four nodes: of four pairs so many cross the one link
        let network = network("topology = \"mesh\"\nradix = [2]\nnodes_per_router = 4");
        for (number, found) in (1..).zip(effective_bisection(&*network.topology(), 50, false)) {
            let pairs = Halves::new(number).pairs(8);
            let crossing = |there: bool| {
                let from = |(one, other): &&(u32, u32)| (*one < 4) == there && (*other < 4) != there;
                pairs.iter().filter(from).count() as f64
            };
            let lanes = [true, false].map(crossing);
            let wanted =
                (4.0 - lanes[0] - lanes[1] + lanes.iter().filter(|flows| **flows > 0.0).count() as f64) / 4.0;
            assert!((found - wanted).abs() < 1e-12, "{found}, {wanted}");
        }
    }

    #[test]
    fn what_chooses_or_takes_long_is_refused() {
        let tree = "topology = \"fat-tree\"\nlevels = 2\nradix = 64\nrouting =";
        let refused = |routing: &str, trials| {
            supports_bisection(&*network(&format!("{tree} \"{routing}\"")).topology(), trials)
                .err()
                .map(|one| one.key)
        };
        assert_eq!(refused("adaptive-up", 10).as_deref(), Some("network.routing"));
        assert_eq!(refused("d-mod-k", 300), None);
        assert_eq!(refused("d-mod-k", 1_000_000).as_deref(), Some("--bisection"));
    }
}
