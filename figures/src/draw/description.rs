//! Text alternative of a picture, for readers who cannot see it.

use super::scale::{label, short};
use crate::picture::{Axis, Content, Origin, Picture};
use crate::rows;

/// What is drawn, over what, of which classes, and where the numbers come from.
pub(super) fn of(picture: &Picture) -> String {
    let mut sentences = vec![picture.subtitle.clone(), content(&picture.content)];
    let origins: Vec<&str> = rows::origins(picture).into_iter().map(Origin::words).collect();
    if !origins.is_empty() {
        sentences.push(format!("Numbers from the {}", listed(&origins)));
    }
    sentences.retain(|sentence| !sentence.is_empty());
    let ended =
        |sentence: &String| if sentence.ends_with('.') { sentence.clone() } else { format!("{sentence}.") };
    sentences.iter().map(ended).collect::<Vec<String>>().join(" ")
}

fn content(content: &Content) -> String {
    match content {
        Content::Lines(lines) => {
            let mut labels: Vec<&str> = Vec::new();
            for series in &lines.series {
                if !labels.contains(&series.label.as_str()) {
                    labels.push(&series.label);
                }
            }
            let below = if lines.errors.is_empty() { "" } else { "; below, model minus simulation" };
            format!("Lines: {}, for {}{below}", over(&lines.y, &lines.x), listed(&labels))
        }
        Content::Stacked(stacked) => {
            let panels: Vec<&str> = stacked.panels.iter().map(|panel| panel.label.as_str()).collect();
            let parts: Vec<&str> = stacked.parts.iter().map(String::as_str).collect();
            let axes = over(&stacked.y, &stacked.x);
            format!("Stacked bars: {axes}, for {}; parts: {}", listed(&panels), listed(&parts))
        }
        Content::HeatMap(map) => {
            format!("Heat map: {} over {} and {}", label(&map.z), label(&map.x), label(&map.y))
        }
        Content::Chain(chain) => {
            let members: Vec<&str> = chain.members.iter().map(String::as_str).collect();
            let idle = chain
                .probabilities
                .first()
                .map_or(String::new(), |idle| format!("; empty: {}", short(*idle)));
            let states = chain.probabilities.len();
            format!("Markov chain of {states} states: which of {} are present{idle}", listed(&members))
        }
        Content::Network(map) => {
            let links: usize = map.panels.iter().map(|panel| panel.links.len()).sum();
            let beside = if map.is_simulated() { ", exact beside simulated" } else { "" };
            let (columns, rows) = (map.columns, map.rows);
            format!("Map of {columns} by {rows} routers and {links} links: {}{beside}", label(&map.load))
        }
        Content::CongestionTree(tree) => {
            let panels: Vec<&str> = tree.panels.iter().map(|panel| panel.label.as_str()).collect();
            format!("Congestion trees: {} of all ports: {}", label(&tree.held), listed(&panels))
        }
        Content::Timeline(timeline) => {
            let panels: Vec<&str> = timeline.panels.iter().map(|panel| panel.label.as_str()).collect();
            let streams = timeline.panels.first().map_or(0, |panel| panel.streams.len());
            let parted = if panels.iter().all(|label| label.is_empty()) { "" } else { ": " };
            format!(
                "Deliveries of the frames of {streams} streams over {}{parted}{}",
                label(&timeline.x),
                listed(&panels)
            )
        }
        Content::Region(region) => {
            let limits: Vec<&str> = region.limits.iter().map(String::as_str).collect();
            let axes = over(&region.y, &region.x);
            format!("Region of admissible points: {axes}; requirements: {}", listed(&limits))
        }
        Content::Tornado(tornado) => {
            let panels: Vec<&str> = tornado.panels.iter().map(|panel| panel.label.as_str()).collect();
            format!("Bars: {}, for {}", label(&tornado.x), listed(&panels))
        }
    }
}

fn over(y: &Axis, x: &Axis) -> String {
    format!("{} over {}", label(y), label(x))
}

/// `a, b and c`.
fn listed(words: &[&str]) -> String {
    match words {
        [] => "nothing".to_owned(),
        [alone] => (*alone).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
