//! The picture of an admissible region.

use flitwise_figures::picture::{Axis, Content, Frontier, Mark, Origin, Picture, Region, class_styles};
use flitwise_language::scenario::ScenarioSpec;
use flitwise_models::design::region::FrontierPoint;

use super::region::RegionDocument;
use crate::output;

/// What `flitwise plan region --output` draws.
pub(super) fn of(document: &RegionDocument) -> Picture {
    let spec = &document.scenario;
    let axis = |name: &String| Axis {
        label: format!("{name} rate"),
        unit: "messages/cycle/node".to_owned(),
        logarithmic: false,
    };
    let [x, y] = document.axes.each_ref().map(axis);
    let limits = limits(document);
    let point = |point: &FrontierPoint| Frontier {
        x: point.x_rate,
        y: point.y_rate,
        from: (point.from_x_rate, point.from_y_rate),
        limit: limit(document, point).and_then(|found| limits.iter().position(|known| *known == found)),
    };
    let styles = class_styles(spec);
    let style = |name: &String| {
        let class = spec.classes.iter().position(|class| class.name == *name);
        class.and_then(|class| styles.get(class)).copied().unwrap_or(0)
    };
    let rate = |name: &String| spec.classes.iter().find(|class| class.name == *name).map(|class| class.rate);
    let [here_x, here_y] = document.axes.each_ref().map(rate);
    let content = Content::Region(Region {
        x,
        y,
        origin: Origin::from(document.model().model()),
        limit_styles: limits.iter().map(|(_, class)| style(class)).collect(),
        limits: limits.iter().map(|(text, _)| text.clone()).collect(),
        frontier: document.frontier.iter().map(point).collect(),
        mark: here_x.zip(here_y).map(|(x, y)| Mark { x, y, label: "the scenario's own rates".to_owned() }),
    });
    Picture {
        name: "region".to_owned(),
        title: format!("Admissible rates of {} and {}", document.axes[0], document.axes[1]),
        subtitle: format!(
            "{}: {}{}",
            spec.name,
            output::network(&spec.network),
            others(spec, &document.axes)
        ),
        content,
        notes: Vec::new(),
    }
}

/// What limits a point, and the class that it limits; a requirement on all classes names the class.
fn limit(document: &RegionDocument, point: &FrontierPoint) -> Option<(String, String)> {
    let requirement = document.requirements.get(point.binding_requirement?)?;
    let class = point.binding.as_ref().map_or_else(String::new, |binding| binding.class.clone());
    let is_named = class.is_empty() || requirement.starts_with(&format!("{class}:"));
    let text = if is_named { requirement.clone() } else { format!("{requirement}, here {class}") };
    Some((text, class))
}

/// All limits of the frontier, in the order in which they are met.
fn limits(document: &RegionDocument) -> Vec<(String, String)> {
    let mut limits = Vec::new();
    for found in document.frontier.iter().filter_map(|point| limit(document, point)) {
        if !limits.contains(&found) {
            limits.push(found);
        }
    }
    limits
}

/// The rates that are kept.
fn others(spec: &ScenarioSpec, axes: &[String; 2]) -> String {
    let kept = spec.classes.iter().filter(|class| !axes.contains(&class.name));
    let kept: Vec<String> = kept.map(|class| format!("{} {}", class.name, class.rate)).collect();
    if kept.is_empty() { String::new() } else { format!("; kept: {} messages/cycle/node", kept.join(", ")) }
}
