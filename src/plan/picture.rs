//! The picture of an admissible region.

use flitwise_figures::picture::{Axis, Content, Frontier, Mark, Origin, Picture, Region};
use flitwise_models::scenario::ScenarioSpec;

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
    let point = |point: &flitwise_models::design::region::FrontierPoint| Frontier {
        x: point.x_rate,
        y: point.y_rate,
        from: (point.from_x_rate, point.from_y_rate),
        limit: point.binding_requirement,
    };
    let rate = |name: &String| spec.classes.iter().find(|class| class.name == *name).map(|class| class.rate);
    let [here_x, here_y] = document.axes.each_ref().map(rate);
    let content = Content::Region(Region {
        x,
        y,
        origin: Origin::from(document.model()),
        limits: document.requirements.clone(),
        frontier: document.frontier.iter().map(point).collect(),
        mark: here_x.zip(here_y).map(|(x, y)| Mark { x, y, label: "the scenario's own rates".to_owned() }),
    });
    Picture {
        name: "region".to_owned(),
        title: format!("Admissible rates of {} and {}", document.axes[0], document.axes[1]),
        subtitle: format!("{}: {}{}", spec.name, output::network(spec.network), others(spec, &document.axes)),
        content,
        notes: Vec::new(),
    }
}

/// The rates that are kept.
fn others(spec: &ScenarioSpec, axes: &[String; 2]) -> String {
    let kept = spec.classes.iter().filter(|class| !axes.contains(&class.name));
    let kept: Vec<String> = kept.map(|class| format!("{} {}", class.name, class.rate)).collect();
    if kept.is_empty() { String::new() } else { format!("; kept: {} messages/cycle/node", kept.join(", ")) }
}
