//! Derivatives of the published model's means, in forward mode through its fixed point.

use super::dual::DIRECTIONS;
use super::equations::Flow;
use super::output::Output;
use super::parameter::Parameter;
use super::slope::Slope;
use super::stationary::MOST_PARTS;
use super::system::{Direction, Means, System};
use super::{hypercube, router};
use crate::answer::Answer;
use crate::quantity::Quantity;
use crate::scenario::{NetworkSpec, Scenario};

/// Sides that agree to so many digits are one.
const ALIKE: f64 = 1e-8;

/// The quantities that have a derivative in forward mode.
pub(super) const SMOOTH: [Quantity; 7] = [
    Quantity::NetworkLatency,
    Quantity::Blocking,
    Quantity::Sharing,
    Quantity::Waiting,
    Quantity::TotalLatency,
    Quantity::Utilization,
    Quantity::RouterLoad,
];

/// Slopes of all `outputs` that are means, by parameter; `None` where the fixed point has none. `answer` is the
/// published model's to `scenario`, with details.
pub(super) fn slopes(
    scenario: &Scenario,
    answer: &Answer,
    parameters: &[&Parameter],
    outputs: &[Output],
) -> Vec<Vec<Option<Slope>>> {
    let mut found = Vec::new();
    // both directions of each parameter at once
    for parameters in parameters.chunks(DIRECTIONS / 2) {
        let directions: Vec<Direction<'_>> = parameters
            .iter()
            .flat_map(|parameter| [1.0, -1.0].map(|sign| Direction { parameter, sign }))
            .collect();
        let means = means(scenario, answer, &directions);
        for place in 0..parameters.len() {
            let slope = |output: &Output| {
                let (_, of_class) = means.as_ref()?.iter().find(|(class, _)| *class == output.class)?;
                let number = of_class.of(output.measure.quantity)?;
                let (above, below) = (number.slopes[2 * place], -number.slopes[2 * place + 1]);
                let alike = (above - below).abs()
                    <= ALIKE * above.abs().max(below.abs()).max(1e-6 * number.value.abs());
                let central = alike.then(|| f64::midpoint(above, below));
                let sides = !alike;
                let found = Slope {
                    central,
                    above: sides.then_some(above),
                    below: sides.then_some(below),
                    ..Slope::default()
                };
                (above.is_finite() && below.is_finite()).then_some(found)
            };
            found.push(outputs.iter().map(slope).collect());
        }
    }
    found
}

/// Whether the chains of the scenario's links are small enough.
pub(super) fn fits(scenario: &Scenario) -> bool {
    System::new(scenario, &[]).real_time.len() <= MOST_PARTS
}

/// Means of all classes with a solution, with their slopes.
pub(super) fn means(
    scenario: &Scenario,
    answer: &Answer,
    directions: &[Direction<'_>],
) -> Option<Vec<(usize, Means)>> {
    let mut system = System::new(scenario, directions);
    // the fixed point: L̄ of a router, L_{c,s} of a cube
    let point = |flow: &Flow| -> Option<Vec<f64>> {
        let channels = answer.classes[flow.class].per_channel.as_ref()?;
        Some(channels.iter().map(|channel| channel.latency_cycles).collect())
    };
    if system.real_time.iter().any(|flow| point(flow).is_none()) {
        return None;
    }
    system.best_effort = system.best_effort.filter(|flow| point(flow).is_some());
    let point = |flow: &Flow| point(flow).unwrap_or_default();
    match scenario.network() {
        NetworkSpec::Router { .. } => router::means(&system, &|flow| point(flow)[0]),
        NetworkSpec::Hypercube { dimension } => hypercube::means(dimension, &system, &point),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Model, Options};
    use crate::scenario::PRESETS;

    /// The equations here are stated beside the solver's: at its fixed points both say the same.
    #[test]
    fn values_are_the_solvers() {
        let options =
            Options { distributions: false, saturation_loads: false, details: true, ..Options::default() };
        for preset in PRESETS {
            for load in [0.1, 0.5, 1.0] {
                let scenario = preset.scenario().with_rates_scaled(load);
                let answer = Model::Published.solve(&scenario, &options).unwrap();
                let found = means(&scenario, &answer, &[]).unwrap();
                assert_eq!(found.len(), scenario.classes().len());
                for (class, means) in found {
                    for quantity in SMOOTH {
                        let output = Output { class, measure: quantity.into() };
                        let (Some(dual), Ok(value)) = (means.of(quantity), output.value(&answer)) else {
                            continue;
                        };
                        let gap = (dual.value - value).abs() / value.abs().max(1.0);
                        assert!(gap < 1e-10, "{} {class} {quantity:?}: {} {value}", preset.name, dual.value);
                    }
                }
            }
        }
    }
}
