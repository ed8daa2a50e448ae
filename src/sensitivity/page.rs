//! Elasticities as text tables.

use flitwise_language::quantity::{Quantity, Unit};
use flitwise_language::scenario::Scenario;
use flitwise_models::sensitivity::{
    Method, OneSided, OutputSensitivities, ParameterKind, ParameterValue, Sensitivities, Sensitivity,
};

use crate::args::ModelChoice;
use crate::output::{self, Page, Rows, cycles, share, two_lines, with_interval};

/// A table per class: parameters down, outputs across.
pub(super) fn page(
    scenario: &Scenario,
    (model, found): (ModelChoice, &Sensitivities),
    remarks: Vec<String>,
    markdown: bool,
) -> String {
    let mut page = Page::new(markdown);
    let network = output::network(scenario.network());
    page.title(&format!("{}: {network}, {model} model", scenario.spec().name));
    for outputs in found.outputs.chunk_by(|one, next| one.class == next.class) {
        let class = &outputs[0].class;
        // two tables, so that neither is too wide
        let is_miss = |output: &&OutputSensitivities| output.measure.quantity == Quantity::MissProbability;
        let (misses, means): (Vec<_>, Vec<_>) = outputs.iter().partition(is_miss);
        for (title, outputs) in [("Elasticities", means), ("Elasticities of miss probabilities", misses)] {
            if !outputs.is_empty() {
                page.title(&format!("{title}, class {class}"));
                page.rows(&of_class(found, &outputs, markdown));
            }
        }
    }
    page.remarks(&[legend(found), remarks].concat());
    let parameters = found.parameters.len();
    page.end(&format!("{} outputs by {parameters} parameters", found.outputs.len()))
}

fn of_class(found: &Sensitivities, outputs: &[&OutputSensitivities], markdown: bool) -> Rows {
    let heads: Vec<String> = outputs.iter().map(|output| head(output)).collect();
    let mut all = vec!["parameter", "value"];
    all.extend(heads.iter().map(String::as_str));
    let mut rows = Rows::new(&all, markdown);
    let value =
        |output: &&OutputSensitivities| match (output.measure.quantity.unit(), output.value_half_width_95) {
            (_, Some(width)) => with_interval(output.value, Some(width)),
            (Unit::Cycles, None) => cycles(output.value),
            (_, None) => share(output.value),
        };
    rows.add(["the output".to_owned(), String::new()].into_iter().chain(outputs.iter().map(value)));
    for (index, parameter) in found.parameters.iter().enumerate() {
        let sides: &[(&str, Side)] =
            if outputs.iter().any(|output| is_one_sided(&output.sensitivities[index])) {
                &[(", less", |one| one.below), (", more", |one| one.above)]
            } else {
                &[("", |_| None)]
            };
        for (words, side) in sides {
            let cells = outputs.iter().map(|output| cell(&output.sensitivities[index], *side));
            let name = format!("{}{words}", name(parameter));
            rows.add([name, of_parameter(parameter)].into_iter().chain(cells));
        }
    }
    rows
}

/// One side of an elasticity that has two.
type Side = fn(&Sensitivity) -> Option<OneSided>;

fn is_one_sided(one: &Sensitivity) -> bool {
    one.elasticity.is_none() && (one.below.is_some() || one.above.is_some())
}

/// In two lines, so that columns stay narrow.
fn head(output: &OutputSensitivities) -> String {
    match (output.measure.hops, output.measure.deadline_cycles) {
        (None, Some(cycles)) => format!("\nP(>{cycles})"),
        (Some(hops), Some(cycles)) => format!("{hops} hops\nP(>{cycles})"),
        (_, None) => two_lines(output.measure.quantity.name()),
    }
}

fn name(parameter: &ParameterValue) -> String {
    let mark = match parameter.kind {
        ParameterKind::RelaxedWhole => " *",
        ParameterKind::Real | ParameterKind::Whole => "",
    };
    format!("{}{mark}", parameter.key)
}

fn of_parameter(parameter: &ParameterValue) -> String {
    parameter.value.map_or_else(|| "-".to_owned(), |value| format!("{}", (value * 1e6).round() / 1e6))
}

/// An elasticity; where it has two sides, the one asked for.
fn cell(sensitivity: &Sensitivity, side: Side) -> String {
    let mark = if sensitivity.method == Method::ForwardMode { "" } else { "~" };
    let elasticity = sensitivity.elasticity.or_else(|| side(sensitivity)?.elasticity);
    let width = sensitivity.elasticity_half_width_95;
    let width = width.map_or_else(String::new, |width| format!(" ±{:.3}", width.max(1e-3)));
    elasticity.map_or_else(|| "-".to_owned(), |elasticity| format!("{mark}{}{width}", signed(elasticity)))
}

/// With its sign and three decimals.
pub(super) fn signed(elasticity: f64) -> String {
    if elasticity.abs() < 5e-4 {
        "0".to_owned()
    } else if elasticity.abs() >= 1e3 {
        format!("{elasticity:+.1e}")
    } else {
        format!("{elasticity:+.3}")
    }
}

/// How to read the tables, and what does not exist.
fn legend(found: &Sensitivities) -> Vec<String> {
    let all = || found.outputs.iter().flat_map(|output| &output.sensitivities);
    let mut lines = vec!["1 % more of a parameter gives so many % more of an output".to_owned()];
    if found.parameters.iter().any(|parameter| parameter.kind == ParameterKind::RelaxedWhole) {
        lines.push("*: a whole number, taken as a real one in the equations".to_owned());
    }
    if found.parameters.iter().any(|parameter| parameter.implied) {
        lines.push(
            "vticks follow from rate and length here; each is moved alone, as if it were given".to_owned(),
        );
    }
    if all().any(is_one_sided) {
        lines.push("less, more: one-sided, towards less and towards more of the parameter".to_owned());
    }
    if all().any(|one| one.method != Method::ForwardMode) {
        let steps = all().filter_map(|one| one.step_percent);
        let widest = steps.fold(0.0, f64::max);
        let smooth = |one: &&Sensitivity| one.step_percent.is_some() && one.below.is_none();
        let errors = all().filter(smooth).filter_map(|one| one.error_estimate);
        let worst = errors.fold(0.0, f64::max);
        let mut line = "~: a difference of whole answers, of whole numbers over their neighbours".to_owned();
        if widest > 0.0 && worst == 0.0 {
            line.push_str(&format!(", of others over at most ±{widest} %"));
        } else if widest > 0.0 {
            line.push_str(&format!(
                ", of others over at most ±{widest} % (their error by estimate at most {})",
                share(Some(worst))
            ));
        }
        lines.push(line);
    }
    let mut reasons: Vec<(&str, Vec<&str>, Vec<&str>)> = Vec::new();
    for output in &found.outputs {
        for one in &output.sensitivities {
            let Some(reason) = one.reason.as_deref() else { continue };
            let at = reasons.iter().position(|(known, ..)| *known == reason).unwrap_or_else(|| {
                reasons.push((reason, Vec::new(), Vec::new()));
                reasons.len() - 1
            });
            let (_, classes, parameters) = &mut reasons[at];
            if !classes.contains(&output.class.as_str()) {
                classes.push(&output.class);
            }
            if !parameters.contains(&one.parameter.as_str()) {
                parameters.push(&one.parameter);
            }
        }
    }
    for (reason, classes, parameters) in reasons {
        let by = if parameters.len() == found.parameters.len() {
            "all parameters".to_owned()
        } else {
            parameters.join(", ")
        };
        lines.push(format!("{} by {by}: {reason}", classes.join(", ")));
    }
    lines
}
