//! Curves along an axis, and whole distributions.

use flitwise_figures::draw::{Style, svg};
use flitwise_figures::picture::{Axis, Content, Lines, Origin, Picture, Point, Series, class_styles};
use flitwise_figures::sweep::{Curves, GridAnswer, GridFault, SimulatedPoint, answer_at, heads, rows};
use flitwise_language::scenario::{Document, Grid, is_whole};
use flitwise_models::document::DistributionDocument;
use flitwise_models::model::{Failure, Model, Options};
use flitwise_models::table::{ClassColumns, Time};

use crate::engine::{answering, refused, scenario};
use crate::request::{Distribution, Drawn, NoAnswer, Simulated};
use crate::tables::csv_of;

/// The most points of a curve.
const MOST_POINTS: usize = 1_000;
/// The most points of a drawn distribution.
const MOST_DRAWN: usize = 400;
/// Probabilities below this are not drawn.
const LEAST_DRAWN: f64 = 1e-6;

/// The grid of one axis.
pub(crate) fn grid(document: Document, over: &str, couple: &[String]) -> Result<Grid, NoAnswer> {
    let grid = Grid::read(document, &[over.to_owned()], couple, is_whole);
    let grid = grid.map_err(|faults| NoAnswer::new(faults.join("\n")))?;
    match grid.points() {
        Some(1..=MOST_POINTS) => Ok(grid),
        _ => Err(NoAnswer::new(format!("--over {over}: wanted at most {MOST_POINTS} points"))),
    }
}

/// The network latency along the axis: models as curves, simulations as points.
pub(crate) fn curve(
    grid: &Grid,
    models: &[Model],
    simulated: &[Simulated],
    style: Style,
) -> Result<Drawn, NoAnswer> {
    let before = scenario(&grid.document)?;
    let mut curves =
        Curves::begin(grid, &before).map_err(|fault| NoAnswer::new(format!("--over: {fault}")))?;
    // a curve has means alone
    let options = Options { distributions: false, saturation_loads: false, ..Options::default() };
    let models: Vec<Option<Model>> = match models {
        [] => vec![None],
        some => some.iter().copied().map(Some).collect(),
    };
    let columns = ClassColumns::of_means(&before);
    let mut lines = vec![heads(grid, &columns)];
    let (mut points, mut notes) = (Vec::new(), Vec::new());
    for (nth, model) in models.into_iter().enumerate() {
        let mut warm = None;
        for point in 0..grid.points().unwrap_or(0) {
            let found = answer_at(grid, point, model, &options, &mut warm);
            let GridAnswer { set, answer } = found.map_err(no_point)?;
            match answer {
                Ok(answer) => {
                    curves.add(&set, answer.model.into(), answer.classes.iter().map(|class| (class, None)));
                    lines.extend(rows(&set, answer.model.word(), &answer.classes, &columns));
                }
                Err(failure) => {
                    lines.extend(rows(&set, failure.model().word(), &[], &columns));
                    notes.push(not_converged(&set[0].value, &failure));
                }
            }
            if nth == 0 {
                points.push(set);
            }
        }
    }
    for one in simulated {
        for (index, class) in before.classes().iter().enumerate() {
            if let Some(found) = one.latencies.iter().find(|latency| latency.class == class.name) {
                let (mean, half_width_95, saturated) = (found.mean, found.half_width_95, found.saturated);
                let point = SimulatedPoint { mean, half_width_95, saturated };
                curves.add_simulated((index, &class.name), one.x, point);
            }
        }
    }
    Ok(Drawn { svg: svg(&curves.picture(), &style), csv: csv_of(lines)?, points, notes })
}

fn no_point(fault: GridFault) -> NoAnswer {
    match fault {
        GridFault::Unsound(faults) => NoAnswer::of(&faults),
        GridFault::Refused(document, failure) => refused(&document, &failure),
    }
}

fn not_converged(value: &str, failure: &Failure) -> String {
    format!("{value}: {failure}")
}

/// The probability that a message takes longer, over the latency.
pub(crate) fn distribution(
    document: &Document,
    model: Option<Model>,
    style: Style,
) -> Result<Distribution, NoAnswer> {
    let scenario = scenario(document)?;
    let model = answering(document, &scenario, model)?;
    if !model.has_distributions() {
        return Err(NoAnswer::new(format!(
            "found the {model} model, wanted one with distributions: it has means only"
        )));
    }
    let options = Options { details: true, ..Options::default() };
    let answer = model.solve(&scenario, &options).map_err(|failure| refused(document, &failure))?;
    let found = DistributionDocument::of(&answer);
    let spec = scenario.spec();
    let styles = class_styles(spec);
    let time = Time::of(spec);
    let series = scenario.classes().iter().zip(styles).filter_map(|(class, style)| {
        let tail: Vec<(f64, f64)> = found
            .rows()
            .filter(|(name, _, at_most)| *name == class.name && 1.0 - at_most >= LEAST_DRAWN)
            .map(|(_, cycles, at_most)| (cycles as f64 * time.per_cycle, 1.0 - at_most))
            .collect();
        let every = tail.len().div_ceil(MOST_DRAWN).max(1);
        let point = |(x, y): &(f64, f64)| Point {
            x: *x,
            y: Some(*y),
            lower_95: None,
            upper_95: None,
            saturated: false,
        };
        (!tail.is_empty()).then(|| Series {
            label: class.name.clone(),
            panel: 0,
            style,
            variant: 0,
            origin: Origin::Model(model),
            points: tail.iter().step_by(every).map(point).collect(),
            saturated_from: None,
        })
    });
    let lines = Lines {
        x: Axis::of("Network latency", time.unit),
        y: Axis { label: "Probability of more".to_owned(), unit: String::new(), logarithmic: true },
        y_range: None,
        panels: Vec::new(),
        series: series.collect(),
        errors: Vec::new(),
        measured_as_curves: false,
        printed_by: None,
    };
    let picture = Picture {
        name: "distribution".to_owned(),
        title: "How many messages take longer".to_owned(),
        subtitle: format!("{}: {}, {model} model", spec.name, spec.network.topology().name()),
        content: Content::Lines(lines),
        notes: Vec::new(),
    };
    Ok(Distribution { svg: svg(&picture, &style), document: found })
}
