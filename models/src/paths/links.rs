//! The load of every link, one by one.

use super::Rates;
use crate::network::LinkEnd;
use crate::scenario::Scenario;

/// A link from a router, or parallel ones that share their load alike.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// The router where it starts.
    pub router: u32,
    /// Where it ends.
    pub end: LinkEnd,
    /// Load of all classes on each of the parallel links \[flits/cycle\].
    pub load: f64,
}

/// Every link from a router, router by router; parallel ones once.
pub fn links(scenario: &Scenario) -> Vec<Link> {
    let network = scenario.topology();
    let classes = scenario.classes().iter().enumerate();
    let rates: Vec<(f64, Rates)> = classes
        .map(|(class, spec)| (spec.rate * f64::from(spec.message_flits), Rates::of(scenario, class)))
        .collect();
    let mut links: Vec<Link> = Vec::new();
    for (router, port) in
        (0..network.routers()).flat_map(|router| (0..network.ports()).map(move |port| (router, port)))
    {
        let end = network.link_end(router, port);
        let leads_to = |end: LinkEnd| match end {
            LinkEnd::Input { router, .. } => Some((router, network.kind(port))),
            _ => None,
        };
        let is_parallel = links.last().is_some_and(|last| {
            last.router == router && leads_to(end).is_some() && leads_to(last.end) == leads_to(end)
        });
        if end != LinkEnd::Absent && !is_parallel {
            let load = rates.iter().map(|(load, rates)| load * rates.links[rates.place(router, port)]).sum();
            links.push(Link { router, end, load });
        }
    }
    links
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paths::ChannelLoads;
    use crate::scenario::Preset;

    /// One by one they add up to what groups of equal links carry.
    #[test]
    fn links_carry_what_their_groups_do() {
        for name in ["router16", "cube5", "mesh4x4", "torus8x8", "fat-mesh"] {
            let scenario = Preset::find(name).unwrap().scenario();
            let network = scenario.topology();
            let parallel = |link: &Link| match link.end {
                LinkEnd::Input { .. } => f64::from(network.parallel_links()),
                _ => 1.0,
            };
            let sum: f64 = links(&scenario).iter().map(|link| link.load * parallel(link)).sum();
            let groups = ChannelLoads::of(&scenario).groups;
            let behind_routers =
                groups.iter().filter(|group| group.kind != crate::network::ChannelKind::Injection);
            let grouped: f64 = behind_routers.map(|group| group.load() * group.links as f64).sum();
            assert!((sum - grouped).abs() < 1e-9 * grouped, "{name}: {sum}, {grouped}");
        }
    }
}
