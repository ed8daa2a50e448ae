//! A scenario over a grid, as `flitwise sweep` answers it: its points, their rows as CSV, and the curves.

use flitwise_language::quantity::Quantity;
use flitwise_language::scenario::{Document, Fault, Grid, Scenario, Setting};
use flitwise_models::answer::{Answer, ClassAnswer};
use flitwise_models::model::{Failure, Model, Options, WarmStart};
use flitwise_models::table::{ClassColumns, Time};
use flitwise_validation::anchored::ClassIntervals;

use crate::picture::{Axis, Content, Lines, Origin, Picture, Point, Series, class_styles};

/// A point of a grid that has been asked.
#[derive(Debug)]
pub struct GridAnswer {
    /// The values set here, coupled ones included.
    pub set: Vec<Setting>,
    /// The model's answer; of a point without one, why no fixed point was found.
    pub answer: Result<Answer, Failure>,
}

/// Why a point of a grid cannot be asked.
#[derive(Debug)]
pub enum GridFault {
    /// It is no scenario.
    Unsound(Vec<Fault>),
    /// The model has not all of it.
    Refused(Box<Document>, Failure),
}

/// Answers a point by a model, or by its usual one; from the answer `warm` before it where that leads to the same one.
///
/// # Errors
/// What is wrong with the scenario there.
pub fn answer_at(
    grid: &Grid,
    point: usize,
    model: Option<Model>,
    options: &Options,
    warm: &mut Option<WarmStart>,
) -> Result<GridAnswer, GridFault> {
    let (document, set) = grid.at(grid.settings(point)).map_err(GridFault::Unsound)?;
    let scenario = document.scenario().map_err(GridFault::Unsound)?;
    let model = model.unwrap_or_else(|| Model::usual(&scenario));
    match model.solve_from(&scenario, options, warm.as_ref()) {
        Ok((answer, next)) => {
            // rows are those of single solves; the refined model's would move within its tolerance
            *warm = Some(next).filter(|next| next.model() == Model::Published);
            Ok(GridAnswer { set, answer: Ok(answer) })
        }
        Err(failure @ Failure::NotConverged { .. }) => {
            *warm = None;
            Ok(GridAnswer { set, answer: Err(failure) })
        }
        Err(failure) => Err(GridFault::Refused(Box::new(document), failure)),
    }
}

/// Heads of the rows: the keys that are set, and the columns of the classes.
pub fn heads(grid: &Grid, columns: &ClassColumns) -> Vec<String> {
    let keys = grid.axes.iter().map(|axis| &axis.key).chain(grid.couplings.iter().map(|tie| &tie.key));
    keys.cloned().chain(columns.heads()).collect()
}

/// The rows of a point, one per class; of one without an answer a row that keeps its place.
pub fn rows(
    set: &[Setting],
    model: &str,
    classes: &[ClassAnswer],
    columns: &ClassColumns,
) -> Vec<Vec<String>> {
    let values = || set.iter().map(|setting| setting.value.clone());
    if classes.is_empty() {
        let empty = std::iter::repeat_n(String::new(), columns.heads().len() - 1);
        return vec![values().chain([model.to_owned()]).chain(empty).collect()];
    }
    classes.iter().map(|class| values().chain(columns.row(model, class)).collect()).collect()
}

/// What is drawn.
const DRAWN: Quantity = Quantity::NetworkLatency;

/// The network latency along the first axis, to which points are added.
#[derive(Clone, Debug)]
pub struct Curves {
    picture: Picture,
    lines: Lines,
    /// The style of each class.
    styles: Vec<usize>,
    time: Time,
    axes: usize,
}

impl Curves {
    /// No curves yet; `scenario` is that of the grid before a value is changed.
    ///
    /// # Errors
    /// The value of the first axis that is no plain number.
    pub fn begin(grid: &Grid, scenario: &Scenario) -> Result<Self, String> {
        let along = &grid.axes[0];
        if let Some(word) = along.values.iter().find(|value| value.parse::<f64>().is_err()) {
            return Err(format!(
                "found the axis {} with the value {word}, wanted numbers without units\n  help: name an axis of such \
                 numbers first, the others follow as curves",
                along.key
            ));
        }
        let spec = scenario.spec();
        let time = Time::of(spec);
        let lines = Lines {
            x: Axis::of(&along.key, ""),
            y: Axis::of("Network latency", time.unit),
            y_range: None,
            panels: Vec::new(),
            series: Vec::new(),
            errors: Vec::new(),
            measured_as_curves: false,
            printed_by: None,
        };
        let picture = Picture {
            name: "sweep".to_owned(),
            title: format!("Network latency along {}", along.key),
            subtitle: format!("{}: {}", spec.name, spec.network.topology().name()),
            content: Content::Lines(lines.clone()),
            notes: Vec::new(),
        };
        Ok(Self { picture, lines, styles: class_styles(spec), time, axes: grid.axes.len() })
    }

    /// Adds what a point of the grid has been answered.
    pub fn add<'c>(
        &mut self,
        set: &[Setting],
        origin: Origin,
        rows: impl Iterator<Item = (&'c ClassAnswer, Option<&'c ClassIntervals>)>,
    ) {
        let Some(x) = set.first().and_then(|setting| setting.value.parse().ok()) else { return };
        let others: Vec<String> =
            set[1..self.axes].iter().map(|set| format!("{} {}", set.key, set.value)).collect();
        for (index, (class, intervals)) in rows.enumerate() {
            let label = [std::slice::from_ref(&class.name), others.as_slice()].concat().join(", ");
            let value = |cycles| self.time.shown(DRAWN, cycles);
            let interval = intervals.and_then(|found| found.of(DRAWN.into(), class));
            let here = Point {
                x,
                y: value(class.means.get(DRAWN).copied()),
                lower_95: value(interval.map(|one| one.lower_95)),
                upper_95: value(interval.map(|one| one.upper_95)),
                saturated: class.saturated,
            };
            self.push(label, index, origin, here);
        }
    }

    /// Adds what a class, by its index, was simulated to be at `x` \[cycles\].
    pub fn add_simulated(&mut self, class: (usize, &str), x: f64, point: SimulatedPoint) {
        let (index, name) = class;
        let value = |cycles| self.time.shown(DRAWN, cycles);
        let end =
            |sign: f64| value(point.mean.zip(point.half_width_95).map(|(mean, half)| mean + sign * half));
        let saturated = point.saturated;
        let here = Point { x, y: value(point.mean), lower_95: end(-1.0), upper_95: end(1.0), saturated };
        self.push(name.to_owned(), index, Origin::Simulation, here);
    }

    fn push(&mut self, label: String, class: usize, origin: Origin, here: Point) {
        let Some(style) = self.styles.get(class).copied() else { return };
        let series = &mut self.lines.series;
        let known = series.iter().position(|one| one.label == label && one.origin == origin);
        let at = known.unwrap_or_else(|| {
            let variant = series.iter().filter(|one| one.style == style && one.origin == origin).count();
            let (points, saturated_from) = (Vec::new(), None);
            series.push(Series { label, panel: 0, style, variant, origin, points, saturated_from });
            series.len() - 1
        });
        let series = &mut series[at];
        series.points.push(here);
        if here.saturated && series.saturated_from.is_none_or(|from| here.x < from) {
            series.saturated_from = Some(here.x);
        }
    }

    /// The picture of what there is.
    pub fn picture(&self) -> Picture {
        let mut lines = self.lines.clone();
        for series in &mut lines.series {
            series.points.sort_by(|a, b| a.x.total_cmp(&b.x));
        }
        Picture { content: Content::Lines(lines), ..self.picture.clone() }
    }
}

/// A simulated mean \[cycles\].
#[derive(Clone, Copy, Debug)]
pub struct SimulatedPoint {
    /// The mean, if there is one.
    pub mean: Option<f64>,
    /// The 95 % interval is the mean plus and minus this.
    pub half_width_95: Option<f64>,
    /// Whether the class is saturated.
    pub saturated: bool,
}
