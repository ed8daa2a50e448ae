//! Derivatives of the published model's means, in forward mode through its fixed point: its equations, applied to
//! numbers that carry their slopes.

use super::implicit::FixedPoints;
use super::output::Output;
use super::parameter::Parameter;
use super::slope::Slope;
use crate::answer::Answer;
use crate::fixed_point::Status;
use crate::markov_chain::LAST_RESORT_PARTS;
use crate::published::{ClassSolution, Number, Outcome, SourceWait, Traffic, fixed_point_of};
use crate::scalar::{DIRECTIONS, Dual, Slopes, slopes as slopes_of, with_slopes};
use flitwise_language::quantity::Quantity;
use flitwise_language::scenario::Scenario;

/// Sides that agree to so many digits are one.
const ALIKE: f64 = 1e-8;

/// The quantities that have a derivative in forward mode by the published model.
pub const DIFFERENTIABLE: [Quantity; 7] = [
    Quantity::NetworkLatency,
    Quantity::Blocking,
    Quantity::Sharing,
    Quantity::Waiting,
    Quantity::TotalLatency,
    Quantity::Utilization,
    Quantity::RouterLoad,
];

/// One step in one parameter: forwards or backwards, as large as the parameter itself.
#[derive(Clone, Copy, Debug)]
struct Direction<'p> {
    parameter: &'p Parameter,
    /// 1 or -1.
    sign: f64,
}

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
        let outcomes = means(scenario, answer, &directions);
        for place in 0..parameters.len() {
            let slope = |output: &Output| {
                let outcome = outcomes.as_ref()?.iter().find(|outcome| outcome.class == output.class)?;
                let number = mean(output.measure.quantity, outcome.found.as_ref().ok()?)?;
                let (above, below) = (slopes_of(&number)[2 * place], -slopes_of(&number)[2 * place + 1]);
                let alike =
                    (above - below).abs() <= ALIKE * above.abs().max(below.abs()).max(1e-6 * number.re.abs());
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
    moving(scenario, &[]).real_time.len() <= LAST_RESORT_PARTS
}

/// Whether a parameter changes the ratio of two Vticks, and with it the shares of links.
pub(super) fn moves_shares(scenario: &Scenario, parameter: &Parameter) -> bool {
    let relative = |vtick: &Dual| slopes_of(vtick)[0] / vtick.re;
    let vticks = moving(scenario, &[Direction { parameter, sign: 1.0 }]).vticks;
    vticks.windows(2).any(|pair| (relative(&pair[0]) - relative(&pair[1])).abs() > 1e-12)
}

/// The classes of `scenario` with slopes in up to [`DIRECTIONS`] directions.
fn moving(scenario: &Scenario, directions: &[Direction<'_>]) -> Traffic<Dual> {
    Traffic::with(scenario, |number, value| {
        let (of, class) = match number {
            Number::PipelineStages => ("pipeline_stages", None),
            Number::BufferFlits => ("buffer_flits", None),
            Number::Rate(class) => ("rate", Some(class)),
            Number::MessageFlits(class) => ("message_flits", Some(class)),
            Number::Vtick(class) => ("vtick", Some(class)),
        };
        let moves = |Direction { parameter, .. }: &Direction<'_>| {
            parameter.of == of && class.is_none_or(|class| parameter.classes.contains(&class))
        };
        let step = |direction: &Direction<'_>| if moves(direction) { direction.sign * value } else { 0.0 };
        with_slopes(value, Slopes::from_fn(|row, _| directions.get(row).map_or(0.0, step)))
    })
}

/// What is found for all classes with a solution, with slopes; `None` where the fixed point has none.
fn means(scenario: &Scenario, answer: &Answer, directions: &[Direction<'_>]) -> Option<Vec<Outcome<Dual>>> {
    let mut traffic = moving(scenario, directions);
    // the fixed point: L̄ of a router, L_{c,s} of a cube
    let point = |class: usize| -> Option<Vec<f64>> {
        let channels = answer.classes[class].per_channel.as_ref()?;
        Some(channels.iter().map(|channel| channel.latency_cycles).collect())
    };
    let real_time: Vec<Vec<f64>> =
        traffic.real_time.iter().map(|flow| point(flow.class)).collect::<Option<_>>()?;
    let best_effort = traffic.best_effort.and_then(|flow| point(flow.class));
    traffic.best_effort = traffic.best_effort.filter(|_| best_effort.is_some());
    let mut known = FixedPoints([Some(real_time.concat()), best_effort].into_iter().flatten().collect());
    let solved = fixed_point_of(scenario.topology(), &traffic, None, None, &mut known);
    (solved.report.status == Status::Converged).then_some(solved.outcomes)
}

/// A quantity of a class, if it is a mean.
fn mean(quantity: Quantity, found: &ClassSolution<Dual>) -> Option<Dual> {
    let waiting = match found.wait {
        SourceWait::Finite { cycles } => Some(cycles),
        SourceWait::Saturated { .. } => None,
    };
    match quantity {
        Quantity::NetworkLatency => Some(found.latency()),
        Quantity::Blocking => Some(found.blocking),
        Quantity::Sharing => Some(found.sharing),
        Quantity::Waiting => waiting,
        Quantity::TotalLatency => waiting.map(|cycles| found.latency() + cycles),
        Quantity::Utilization => Some(found.utilization),
        Quantity::RouterLoad => Some(found.router_load),
        _ => None,
    }
}
