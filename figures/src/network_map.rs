//! The map of a network: exact loads of all links, and beside them the simulated ones.

use std::collections::HashMap;

use flitwise_experiment::answer::{ChannelDetail, Simulation};
use flitwise_language::network::{ChannelKind, LinkEnd};
use flitwise_language::scenario::Scenario;
use flitwise_models::paths::{Link, links};

use crate::note::{Note, Place};
use crate::picture::{Axis, NetworkLink, NetworkMap, NetworkPanel, SimulatedLoad};

/// Loads of all links, a panel for each plane of dimensions 0 and 1.
pub(crate) fn network_map(
    scenario: &Scenario,
    simulation: Option<&Simulation>,
    notes: &mut Vec<Note>,
) -> NetworkMap {
    let network = scenario.topology();
    let sides = network.sides();
    let side = |dimension: usize| sides.get(dimension).copied().unwrap_or(1);
    let (columns, rows) = (side(0), side(1));
    let in_plane = columns * rows;
    let simulated = simulation.and_then(|found| found.channel_details.as_deref()).map(Simulated::of);
    let nothing = SimulatedLoad { load: 0.0, half_width_95: None };
    let none_yet = if simulated.is_some() { vec![nothing; in_plane as usize] } else { Vec::new() };
    let mut panels: Vec<NetworkPanel> = (0..network.routers() / in_plane)
        .map(|plane| NetworkPanel {
            label: plane_label(plane, &sides),
            routers: vec![f64::NEG_INFINITY; in_plane as usize],
            simulated_routers: none_yet.clone(),
            links: Vec::new(),
        })
        .collect();
    let mut between = 0.0_f64;
    let links = links(scenario);
    for link in &links {
        let Link { router, load, .. } = *link;
        let panel = &mut panels[(router / in_plane) as usize];
        let found = simulated.as_ref().and_then(|all| all.load(link, network.parallel_links()));
        match link.end {
            LinkEnd::Node(_) => {
                let at = (router % in_plane) as usize;
                if load > panel.routers[at] {
                    panel.routers[at] = load;
                    if let (Some(place), Some(found)) = (panel.simulated_routers.get_mut(at), found) {
                        *place = found;
                    }
                }
            }
            LinkEnd::Input { router: next, .. } if next / in_plane == router / in_plane => {
                let place = |router: u32| (router % columns, router / columns % rows);
                let (from, to) = (place(router), place(next));
                let wraps = from.0.abs_diff(to.0) > 1 || from.1.abs_diff(to.1) > 1;
                panel.links.push(NetworkLink { from, to, wraps, load, simulated: found });
            }
            _ => between = between.max(load),
        }
    }
    let mut note = |text: String| notes.push(Note { place: Place::default(), text });
    if panels.len() > 1 {
        note(format!(
            "links between the planes are not drawn; the most loaded one carries {between:.3} flits/cycle"
        ));
    }
    match &simulated {
        Some(found) => found.differences(scenario, &links).into_iter().for_each(note),
        None if simulation.is_some() => note("nothing was measured".to_owned()),
        None => {}
    }
    let load =
        Axis { label: "load of a link".to_owned(), unit: "flits/cycle".to_owned(), logarithmic: false };
    NetworkMap { load, columns, rows, panels }
}

/// The coordinates of a plane in dimensions 2, 3, ..; empty of the only one.
fn plane_label(plane: u32, sides: &[u32]) -> String {
    let mut rest = plane;
    let words = sides.iter().enumerate().skip(2).map(|(dimension, side)| {
        let coordinate = rest % side;
        rest /= side;
        format!("{coordinate} in dimension {dimension}")
    });
    words.collect::<Vec<_>>().join(", ")
}

/// What was measured of each link, by router and output port.
struct Simulated<'s> {
    found: HashMap<(u32, u32), &'s ChannelDetail>,
}

impl<'s> Simulated<'s> {
    fn of(details: &'s [ChannelDetail]) -> Self {
        let injection = ChannelKind::Injection.to_string();
        let behind_routers = details.iter().filter(|one| one.kind != injection);
        Self { found: behind_routers.map(|one| ((one.router, one.port), one)).collect() }
    }

    /// The mean of parallel links; none if one of them was not measured.
    fn load(&self, link: &Link, parallel: u32) -> Option<SimulatedLoad> {
        let count = if link.is_between_routers() { parallel } else { 1 };
        let each = (link.port..link.port + count).map(|port| self.found.get(&(link.router, port)));
        let each: Vec<_> = each.collect::<Option<_>>()?;
        let share = 1.0 / f64::from(count);
        let load = each.iter().map(|one| one.utilization.mean * share).sum();
        let widths = each.iter().map(|one| one.utilization.half_width_95.map(|width| width * share));
        Some(SimulatedLoad { load, half_width_95: widths.sum() })
    }

    /// How far simulated loads are from the exact ones, in sentences.
    fn differences(&self, scenario: &Scenario, links: &[Link]) -> Vec<String> {
        let network = scenario.topology();
        let pairs = links.iter().filter_map(|link| {
            let found = self.load(link, network.parallel_links())?;
            Some((link, found, found.load - link.load))
        });
        let pairs: Vec<(&Link, SimulatedLoad, f64)> = pairs.collect();
        let Some((link, found, difference)) =
            pairs.iter().max_by(|one, other| one.2.abs().total_cmp(&other.2.abs()))
        else {
            return Vec::new();
        };
        let width = found.half_width_95.map_or("unknown".to_owned(), |width| format!("{width:.4}"));
        let largest = format!(
            "largest difference: {difference:+.4} flits/cycle, simulated {:.4} (half-width {width}), exact {:.4}, {}",
            found.load,
            link.load,
            link.words(&network)
        );
        let known = pairs.iter().filter_map(|(_, found, off)| Some((found.half_width_95?, off.abs())));
        let known: Vec<(f64, f64)> = known.collect();
        // exact loads are sums of rounded numbers
        let outside = known.iter().filter(|(width, off)| *off > width + ROUNDING).count();
        let share = 100.0 * outside as f64 / known.len().max(1) as f64;
        let counted = format!(
            "{outside} of {} links ({share:.1} %) have an exact load outside of their 95 % interval; chance alone \
             puts 5 % there",
            known.len()
        );
        vec![largest, counted]
    }
}

/// Differences that are no more than rounding \[flits/cycle\].
const ROUNDING: f64 = 1e-9;
