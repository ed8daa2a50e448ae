//! Elasticities as a tornado diagram.

use std::path::Path;

use flitwise_figures::draw::Style;
use flitwise_figures::picture::{Axis, Content, Picture, Tornado, TornadoBar, TornadoPanel};
use flitwise_language::quantity::Quantity;
use flitwise_language::scenario::Scenario;
use flitwise_models::sensitivity::{
    Method, OutputSensitivities, ParameterKind, ParameterValue, Sensitivities, Sensitivity,
};

use crate::args::ModelChoice;
use crate::outcome::Exit;
use crate::output;

/// The most bars of a panel: the longest ones.
const MOST_BARS: usize = 16;

/// Draws `quantity` of all classes and writes it to `path`, by whose ending the format is chosen.
pub(super) fn write(
    scenario: &Scenario,
    found: (ModelChoice, &Sensitivities),
    quantity: Quantity,
    path: &Path,
) -> Result<(), Exit> {
    let style = Style { width: 640, ..Style::default() };
    crate::plot::write(&picture(scenario, found, quantity), &style, path)
}

fn picture(
    scenario: &Scenario,
    (model, found): (ModelChoice, &Sensitivities),
    quantity: Quantity,
) -> Picture {
    let of_quantity = found.outputs.iter().filter(|output| output.measure.quantity == quantity);
    let panels: Vec<TornadoPanel> = of_quantity.map(|output| panel(found, output)).collect();
    let words = quantity.name();
    let mut marks = Vec::new();
    if found.parameters.iter().any(|parameter| parameter.kind == ParameterKind::RelaxedWhole) {
        marks.push("*: a whole number, taken as a real one in the equations".to_owned());
    }
    if panels.iter().any(|panel| panel.bars.iter().any(|bar| bar.label.ends_with('~'))) {
        marks.push("~: from differences of whole answers".to_owned());
    }
    let name = &scenario.spec().name;
    Picture {
        name: "tornado".to_owned(),
        title: format!("How {words} moves with each number of the scenario"),
        subtitle: format!("{name}: {}, {model} model", output::network(scenario.network())),
        content: Content::Tornado(Tornado {
            x: Axis { label: format!("change of {words}"), unit: "%".to_owned(), logarithmic: false },
            less: "1 % less of the parameter".to_owned(),
            more: "1 % more of the parameter".to_owned(),
            marks,
            panels,
        }),
        notes: Vec::new(),
    }
}

fn panel(found: &Sensitivities, output: &OutputSensitivities) -> TornadoPanel {
    let of = |(parameter, one): (&ParameterValue, &Sensitivity)| bar(parameter, one);
    let mut bars: Vec<TornadoBar> =
        found.parameters.iter().zip(&output.sensitivities).filter_map(of).collect();
    let length = |bar: &TornadoBar| {
        [bar.less, bar.more].into_iter().flatten().fold(0.0, |most: f64, end| most.max(end.abs()))
    };
    bars.sort_by(|one, other| length(other).total_cmp(&length(one)));
    let all = bars.len();
    bars.truncate(MOST_BARS);
    let deadline = match (output.measure.hops, output.measure.deadline_cycles) {
        (None, Some(cycles)) => format!(", later than {cycles} cycles"),
        (Some(hops), Some(cycles)) => format!(", {hops} hops, later than {cycles} cycles"),
        (_, None) => String::new(),
    };
    let unit = if output.unit == "1" { String::new() } else { format!(" {}", output.unit) };
    let digits = if output.unit == "1" { 4 } else { 2 };
    let value = output.value.map_or_else(|| "no value".to_owned(), |value| format!("{value:.digits$}{unit}"));
    let left_out = if all > bars.len() { format!(", {} of {all}", bars.len()) } else { String::new() };
    TornadoPanel { label: format!("{}{deadline}: {value}{left_out}", output.class), bars }
}

/// What 1 % less and 1 % more of the parameter do.
fn bar(parameter: &ParameterValue, one: &Sensitivity) -> Option<TornadoBar> {
    let side = |side: Option<flitwise_models::sensitivity::OneSided>| side.and_then(|side| side.elasticity);
    let less = side(one.below).or(one.elasticity).map(|elasticity| -elasticity);
    let more = side(one.above).or(one.elasticity);
    let whole = if parameter.kind == ParameterKind::RelaxedWhole { " *" } else { "" };
    let difference = if one.method == Method::ForwardMode { "" } else { " ~" };
    let label = format!("{}{whole}{difference}", parameter.key);
    (less.is_some() || more.is_some()).then_some(TornadoBar { label, less, more })
}
