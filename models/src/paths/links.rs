//! The load of every link, one by one.

use super::uniform::Spread;
use super::{Rates, Traffic};
use flitwise_language::network::{LinkEnd, Network};
use flitwise_language::scenario::Scenario;

/// A link from a router, or parallel ones that share their load alike.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// The router where it starts.
    pub router: u32,
    /// Its output port there, the first of parallel links.
    pub port: u32,
    /// Where it ends.
    pub end: LinkEnd,
    /// Load of all classes on each of the parallel links \[flits/cycle; of packets as a share of the rate of a full
    /// link\].
    pub load: f64,
    /// `c` of their capacity, `1 / c`.
    pub slowdown: u32,
    /// Messages of each class on each of them \[messages/cycle\]: all, and those that start at the router.
    pub messages: Vec<(f64, f64)>,
}

impl Link {
    /// Whether it leads to another router.
    pub fn is_between_routers(&self) -> bool {
        matches!(self.end, LinkEnd::Input { .. })
    }

    /// The load as a share of what each of them carries.
    pub fn share(&self) -> f64 {
        self.load * f64::from(self.slowdown)
    }

    /// The link in words.
    pub fn words(&self, network: &Network) -> String {
        super::words(&**network, self.router, Some(self.port))
    }
}

/// Every link from a router, router by router; parallel ones once.
pub fn links(scenario: &Scenario) -> Vec<Link> {
    let network = scenario.topology();
    let (spread, classes) = (Spread::new(&*network), scenario.classes().iter().enumerate());
    let rates = |class| {
        let traffic = Traffic::of(scenario, class);
        (traffic.flit_rate, Rates::of(&*network, &traffic, spread.as_ref()))
    };
    let rates: Vec<(f64, (f64, Rates))> = classes.map(|(class, spec)| (spec.rate, rates(class))).collect();
    let mut links: Vec<Link> = Vec::new();
    for (router, port) in
        (0..network.routers()).flat_map(|router| (0..network.ports()).map(move |port| (router, port)))
    {
        let end = network.link_end(router, port);
        let leads_to = |end: LinkEnd| match end {
            LinkEnd::Input { router: next, .. } => Some((next, network.kind(router, port))),
            _ => None,
        };
        let goes_on = |last: &Link| {
            last.router == router && leads_to(end).is_some() && leads_to(last.end) == leads_to(end)
        };
        let is_parallel = network.parallel_links() > 1 && links.last().is_some_and(goes_on);
        if end != LinkEnd::Absent && !is_parallel {
            let at = rates[0].1.1.place(router, port);
            let load = rates.iter().map(|(_, (flit_rate, rates))| flit_rate * rates.links[at]).sum();
            let messages =
                |(rate, (_, rates)): &(f64, (f64, Rates))| (rate * rates.links[at], rate * rates.starts[at]);
            let messages = rates.iter().map(messages).collect();
            let slowdown = network.slowdown(router, port);
            links.push(Link { router, port, end, load, slowdown, messages });
        }
    }
    links
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paths::ChannelLoads;
    use flitwise_language::scenario::Preset;

    /// One by one they add up to what groups of equal links carry.
    #[test]
    fn links_carry_what_their_groups_do() {
        for name in ["router16", "cube5", "mesh4x4", "torus8x8", "fat-mesh", "fat-tree", "leaf-spine-quick"] {
            let scenario = Preset::find(name).unwrap().scenario();
            let network = scenario.topology();
            let parallel = |link: &Link| f64::from(network.parallel(link.router, link.port));
            let sum: f64 = links(&scenario).iter().map(|link| link.load * parallel(link)).sum();
            let groups = ChannelLoads::of(&scenario).groups;
            let behind_routers = groups
                .iter()
                .filter(|group| group.kind != flitwise_language::network::ChannelKind::Injection);
            let grouped: f64 = behind_routers.map(|group| group.load() * group.links as f64).sum();
            assert!((sum - grouped).abs() < 1e-9 * grouped, "{name}: {sum}, {grouped}");
        }
    }
}
