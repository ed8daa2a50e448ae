//! Curves of models and points of simulations over a sweep, with their differences in a panel below.

mod drawing;
mod text;

use flitwise_language::document::Entry;
use flitwise_language::quantity::{Measure, Quantity, Unit};
use flitwise_language::scenario::{DeadlineSpec, Scenario, UnitsSpec};
use flitwise_models::answer::Answer;
use flitwise_models::model::Model;

pub(super) use drawing::{draw_series, legend_entries, y_scale};

use super::*;
use crate::anchored::Curve;
use crate::assemble::{
    ModelAnswer, measured_point, model_point, needs_distribution, noting, off, points_off, solved,
};
use crate::draw::canvas::Canvas;
use crate::picture::class_styles;

/// Variants of a class that are told apart by shade and dash.
pub(super) const MOST_SHADES: usize = 3;

/// Curves and points.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Lines {
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// From where to where the vertical axis is drawn; `None`: as the points need.
    pub y_range: Option<(f64, f64)>,
    /// What stands above each of several panels with the same axes; empty: there is one panel, without a heading.
    pub panels: Vec<String>,
    /// One per class, variant and origin.
    pub series: Vec<Series>,
    /// Model minus simulation, drawn below the main panel; empty: no such panel.
    pub errors: Vec<ErrorSeries>,
    /// Whether simulations are drawn as curves in a band, and models dashed: of many points side by side.
    #[serde(skip)]
    pub measured_as_curves: bool,
    /// Who made the numbers that are drawn as crosses; `None`: a paper, which prints them.
    #[serde(skip)]
    pub printed_by: Option<String>,
}

/// One curve, or points with intervals.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Series {
    /// What the legend says, such as `R1`, or `R1, b = 16`; without the origin and, if there are panels, without
    /// the panel.
    pub label: String,
    /// In which of the panels it is drawn, from 0.
    pub panel: usize,
    /// Which colour and marker it has: the same for the model and the simulation of one thing, and of a class the
    /// one of [`class_styles`].
    pub style: usize,
    /// Which shade of it, or dash: several variants of one thing; 0 for the first or only one.
    pub variant: usize,
    /// Where its numbers come from.
    pub origin: Origin,
    /// Its points, in the order of `x`.
    pub points: Vec<Point>,
    /// Where the class saturates: the first `x` found saturated, `None` if none was.
    pub saturated_from: Option<f64>,
}

/// A point of a series.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Point {
    /// Where on the horizontal axis.
    pub x: f64,
    /// Where on the vertical axis; `None` if there is no such number.
    pub y: Option<f64>,
    /// Lower end of the 95 % interval, for simulations and the anchored model.
    pub lower_95: Option<f64>,
    /// Upper end of the 95 % interval.
    pub upper_95: Option<f64>,
    /// Whether the class is saturated there.
    pub saturated: bool,
}

/// How far a model is off, in percent of the simulation (or in percentage points, see the axis).
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ErrorSeries {
    /// As in [`Series`], but with the panel.
    pub label: String,
    /// Which model it is of.
    pub origin: Origin,
    /// As in [`Series`].
    pub style: usize,
    /// As in [`Series`].
    pub variant: usize,
    /// Difference in percent, with the interval that the simulation leaves.
    pub points: Vec<Point>,
}

/// A quantity over a sweep.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    /// What varies.
    pub(crate) x: Sweep,
    /// What is drawn: one quantity, or a miss probability at several deadlines.
    measures: Vec<Measure>,
    /// What times are shown in, where it is not cycles.
    unit: Option<TimeUnit>,
    /// From where to where, if that is given.
    y_range: Option<(f64, f64)>,
    /// Changes of the scenario; at least one, which may change nothing.
    pub(crate) variants: Vec<Variant>,
    /// What a paper prints of it.
    printed: Vec<Printed>,
    /// Changes that make runs of given length shorter, for quick reports.
    pub(super) quick: Option<Vec<Entry>>,
}

/// A unit of times on the y axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct TimeUnit {
    /// `ms` or `us`.
    name: &'static str,
    /// How much of it a cycle is.
    per_cycle: f64,
}

impl FigureFile for Question {
    const WORD: &'static str = "lines";
    const KEYS: &'static [&'static str] =
        &["x", "y", "variant", "classes", "errors", "panels", "sources", "printed", "quick"];

    fn read(reading: &mut Reading<'_>, root: &Table<'_>, scenario: Option<&Scenario>) -> Option<Self> {
        let x = reading.sweep(root, "x");
        let help = "add  [y]  with  quantity = \"network-latency\"";
        reading.reader.require(root, "y", "a [y] table", Some(help));
        let y = reading.reader.table(root, "y")?;
        let measures = reading.measures(&y);
        let y_range = reading.range(&y);
        let unit = time_unit(reading, &y, measures.as_deref(), scenario);
        let variants = reading.variants(root);
        let printed = reading.printed(root, &variants);
        let quick = reading.shorter_run(root);
        Some(Self { x: x?, measures: measures?, unit, y_range, variants, printed, quick })
    }
}

/// What times of the y axis are shown in, where it is not cycles.
fn time_unit(
    reading: &mut Reading<'_>,
    y: &Table<'_>,
    measures: Option<&[Measure]>,
    scenario: Option<&Scenario>,
) -> Option<TimeUnit> {
    let is_time = |measures: &[Measure]| measures.iter().all(|one| one.quantity.unit() == Unit::Cycles);
    if y.get("unit").is_none() {
        let (name, per_cycle) = scenario?.spec().shown_time();
        return is_time(measures?).then_some(TimeUnit { name, per_cycle }).filter(|_| per_cycle != 1.0);
    }
    let name = reading.reader.word(y, "unit", &["ms", "us"], |word| word)?;
    if !is_time(measures?) {
        reading.refuse(y, "unit", format!("\"{name}\" of a quantity that is no time"), "a figure without it");
    }
    let unit = TimeUnit::of(name, scenario?.spec().units.as_ref().and_then(UnitsSpec::cycle_ns));
    if unit.is_none() {
        let found = format!("\"{name}\", and no length of a cycle");
        reading.refuse(y, "unit", found, "a scenario with a table [units]");
    }
    unit
}

impl TimeUnit {
    /// `ms` or `us`, where it is known how long a cycle is.
    pub(super) fn of(name: &'static str, cycle_ns: Option<f64>) -> Option<Self> {
        let nanoseconds = if name == "ms" { 1e6 } else { 1e3 };
        Some(Self { name, per_cycle: cycle_ns? / nanoseconds })
    }
}

impl FigureKind for Question {
    fn points(&self) -> Vec<Spot<'_>> {
        let curve = |variant| {
            let spot = move |value: &f64| Spot { variant: Some(variant), at: vec![(&self.x, *value)] };
            self.x.values.iter().map(spot)
        };
        self.variants.iter().flat_map(curve).collect()
    }

    fn swept(&self) -> Option<&Sweep> {
        Some(&self.x)
    }

    fn rows(&self) -> Vec<String> {
        self.variants.iter().map(|variant| variant.label.clone()).collect()
    }

    fn deadlines(&self) -> Vec<DeadlineSpec> {
        self.measures.iter().filter_map(|measure| measure.deadline()).collect()
    }

    fn content(&self, figure: &Figure, runs: Runs<'_>, notes: &mut Vec<Note>) -> Content {
        let Self { x, measures, variants, .. } = self;
        let drawn = Curves { figure, x, measures, variants, curves: runs.curves };
        let mut lines = drawn.lines(self.y_range, runs.simulations, notes);
        if let Some(unit) = self.unit {
            lines.show_times_in(unit);
        }
        for one in &self.printed {
            let like = lines.series.iter().find(|series| match figure.panels {
                true => series.panel == one.variant,
                false => series.variant == one.variant * measures.len(),
            });
            let Some(Series { panel, label, style, variant, .. }) = like.cloned() else { continue };
            let printed = Series::printed(label, (style, variant), one.points.iter());
            lines.series.extend(printed.map(|printed| Series { panel, ..printed }));
        }
        lines.printed_by = Printed::makers(&self.printed);
        Content::Lines(lines)
    }
}

impl Series {
    /// Numbers that a paper prints; `None` without any.
    pub(super) fn printed<'p>(
        label: String,
        (style, variant): (usize, usize),
        points: impl Iterator<Item = &'p (f64, f64)>,
    ) -> Option<Self> {
        let exact = |(x, y): &(f64, f64)| Point {
            x: *x,
            y: Some(*y),
            lower_95: None,
            upper_95: None,
            saturated: false,
        };
        let points: Vec<Point> = points.map(exact).collect();
        let origin = Origin::Printed;
        (!points.is_empty()).then_some(Self {
            label,
            panel: 0,
            style,
            variant,
            origin,
            points,
            saturated_from: None,
        })
    }
}

impl Lines {
    /// Takes times in cycles to another unit.
    pub(super) fn show_times_in(&mut self, unit: TimeUnit) {
        for point in self.series.iter_mut().flat_map(|series| &mut series.points) {
            for time in [&mut point.y, &mut point.lower_95, &mut point.upper_95].into_iter().flatten() {
                *time *= unit.per_cycle;
            }
        }
        unit.name.clone_into(&mut self.y.unit);
    }
}

/// The curves of one figure.
struct Curves<'f> {
    figure: &'f Figure,
    x: &'f Sweep,
    measures: &'f [Measure],
    variants: &'f [Variant],
    /// What was learnt for the anchored model, by variant; empty for other models.
    curves: &'f [Curve],
}

impl Curves<'_> {
    /// The answers of all models along a curve.
    fn answers(
        &self,
        index: usize,
        curve: &[f64],
        notes: &mut Vec<Note>,
    ) -> Vec<(Origin, Vec<Option<ModelAnswer>>)> {
        let variant = &self.variants[index];
        let scenario = |x| self.figure.at(Some(variant), &[(self.x, x)]).ok();
        let learnt = self.curves.get(index);
        // the anchored model has learnt from answers with distributions
        let distributions = needs_distribution(self.measures) || learnt.is_some();
        let found = |(x, answer): (&f64, Option<Answer>)| {
            let answer = answer?;
            Some(match learnt {
                Some(learnt) => learnt.correct(*x, answer),
                None => ModelAnswer { answer, intervals: Vec::new() },
            })
        };
        let mut solved = |model| {
            let answers = solved(model, curve, scenario, distributions, noting(notes, &variant.label));
            let origin = if learnt.is_some() { Origin::Anchored } else { Origin::from(model) };
            (origin, curve.iter().zip(answers).map(found).collect::<Vec<Option<ModelAnswer>>>())
        };
        let mut answers: Vec<(Origin, Vec<Option<ModelAnswer>>)> = match learnt {
            Some(_) => vec![solved(Model::Refined)],
            None => self.figure.models().map(solved).collect(),
        };
        answers.retain(|(_, answers)| answers.iter().any(Option::is_some));
        answers
    }

    /// The simulations of a variant, with their values.
    fn simulated<'s>(&'s self, index: usize, simulations: &'s [Simulation]) -> Vec<(f64, &'s Simulation)> {
        if let Some(learnt) = self.curves.get(index) {
            return learnt.simulations();
        }
        if !self.figure.has(Origin::Simulation) {
            return Vec::new();
        }
        let per_variant = self.x.values.len();
        self.x.values.iter().copied().zip(&simulations[index * per_variant..][..per_variant]).collect()
    }

    fn lines(&self, y_range: Option<(f64, f64)>, simulations: &[Simulation], notes: &mut Vec<Note>) -> Lines {
        let figure = self.figure;
        let mut series = Vec::new();
        let mut errors = Vec::new();
        let styles = class_styles(figure.scenario.spec());
        for (index, variant) in self.variants.iter().enumerate() {
            let scenario = |x| figure.at(Some(variant), &[(self.x, x)]).ok();
            let mut curve = curve(&self.x.values, self.x.axis.logarithmic, figure.curve_points);
            // between whole numbers, of flits say, there is nothing
            curve.retain(|x| self.x.values.contains(x) || scenario(*x).is_some());
            let answers = self.answers(index, &curve, notes);
            let measured = self.simulated(index, simulations);
            for class in figure.class_indices() {
                for (at, measure) in self.measures.iter().enumerate() {
                    let (panel, variant, style) = match (figure.panels, self.has_styles()) {
                        (true, _) => (index, at, styles[class]),
                        (false, true) => (0, 0, index),
                        (false, false) => (0, index * self.measures.len() + at, styles[class]),
                    };
                    let label = self.label(class, (index, at), !figure.panels);
                    let one = One { class, measure: *measure, label, style, variant };
                    let found = one.measured(&measured);
                    let saturated = |points: &[Point]| points.iter().find(|p| p.saturated).map(|p| p.x);
                    let of = |origin, points: Vec<Point>| Series {
                        label: one.label.clone(),
                        panel,
                        style,
                        variant,
                        origin,
                        saturated_from: saturated(&points),
                        points,
                    };
                    for (origin, answers) in &answers {
                        let modelled = one.modelled(&curve, answers);
                        if figure.errors && !measured.is_empty() && *origin != Origin::Anchored {
                            // a table of errors has no panels
                            let label = self.label(class, (index, at), true);
                            errors.push(ErrorSeries { label, ..one.errors(*origin, &modelled, &found) });
                        }
                        series.push(of(*origin, modelled));
                    }
                    if !measured.is_empty() {
                        series.push(of(Origin::Simulation, found));
                    }
                }
            }
        }
        let panels = self.variants.iter().filter(|_| figure.panels).map(|variant| variant.label.clone());
        Lines {
            x: self.x.axis.clone(),
            y: self.y_axis(),
            y_range,
            panels: panels.collect(),
            series,
            errors,
            measured_as_curves: false,
            printed_by: None,
        }
    }

    /// Whether each variant has a colour and marker of its own: many of one class, whose shades would look alike.
    fn has_styles(&self) -> bool {
        let is_one = self.figure.class_indices().len() == 1 && self.measures.len() == 1;
        is_one && self.variants.len() > MOST_SHADES
    }

    fn y_axis(&self) -> Axis {
        let quantity = self.measures[0].quantity;
        let label = match quantity {
            Quantity::MissProbability => "Deadline missing probability".to_owned(),
            quantity if quantity.percentile().is_some() => {
                format!("{} of the network latency", quantity.name())
            }
            quantity => quantity.name()[..1].to_uppercase() + &quantity.name()[1..],
        };
        Axis { label, unit: quantity.unit().word().to_owned(), logarithmic: false }
    }

    /// What the legend says: the class, and as much else as is needed to tell curves apart.
    fn label(&self, class: usize, (variant, measure): (usize, usize), with_variant: bool) -> String {
        let variant = &self.variants[variant].label;
        if self.measures[measure].quantity.is_of_all_classes() && with_variant && !variant.is_empty() {
            return variant.clone();
        }
        let mut label = self.figure.scenario.classes()[class].name.clone();
        if with_variant && !variant.is_empty() {
            label.push_str(&format!(", {variant}"));
        }
        let Measure { deadline_cycles, hops, .. } = self.measures[measure];
        if let Some(deadline_cycles) = deadline_cycles.filter(|_| self.measures.len() > 1) {
            let hops = hops.map(|hops| format!("{hops} hops, "));
            label.push_str(&format!(", {}D = {deadline_cycles}", hops.unwrap_or_default()));
        }
        label
    }
}

/// One class, quantity and variant.
struct One {
    class: usize,
    measure: Measure,
    label: String,
    style: usize,
    variant: usize,
}

impl One {
    fn modelled(&self, curve: &[f64], answers: &[Option<ModelAnswer>]) -> Vec<Point> {
        let point = |(x, found): (&f64, &Option<ModelAnswer>)| {
            let class = found.as_ref().map(|found| &found.answer.classes[self.class]);
            let intervals = found.as_ref().and_then(|found| found.intervals.get(self.class));
            let interval = intervals.and_then(|own| own.of(self.measure, class?));
            Point {
                lower_95: interval.map(|one| one.lower_95),
                upper_95: interval.map(|one| one.upper_95),
                ..model_point(*x, self.measure, class)
            }
        };
        curve.iter().zip(answers).map(point).collect()
    }

    fn measured(&self, simulations: &[(f64, &Simulation)]) -> Vec<Point> {
        let point = |(x, simulation): &(f64, &Simulation)| {
            measured_point(*x, self.measure, Some(&simulation.classes[self.class]))
        };
        simulations.iter().map(point).collect()
    }

    fn errors(&self, origin: Origin, modelled: &[Point], found: &[Point]) -> ErrorSeries {
        let off = |found: &Point| {
            let model = modelled.iter().find(|model| model.x == found.x)?;
            let off = if self.measure.quantity.is_share() { points_off } else { percent_off };
            Some(off(model, found))
        };
        let points = found.iter().filter_map(off).collect();
        let label = self.label.clone();
        ErrorSeries { label, origin, style: self.style, variant: self.variant, points }
    }
}

/// Model minus simulation in percent of the simulation, over the interval of the simulation.
fn percent_off(model: &Point, found: &Point) -> Point {
    let percent = |simulated: Option<f64>| {
        let simulated = simulated.filter(|simulated| *simulated > 0.0)?;
        Some(100.0 * (model.y? - simulated) / simulated)
    };
    off(model, found, percent)
}

/// Where a model's curve is computed: at `values` and at `points` in all, evenly, from the first to the last.
fn curve(values: &[f64], logarithmic: bool, points: usize) -> Vec<f64> {
    let (Some(first), Some(last)) = (values.first(), values.last()) else { return Vec::new() };
    let between = (1..points).map(|step| {
        let share = step as f64 / points as f64;
        if logarithmic { first * (last / first).powf(share) } else { first + (last - first) * share }
    });
    let mut curve: Vec<f64> = values.iter().copied().chain(between).collect();
    curve.sort_by(f64::total_cmp);
    curve.dedup();
    curve
}

impl Chart for Lines {
    fn text(&self, columns: usize) -> Option<String> {
        Some(text::text(self, columns))
    }

    fn table(&self) -> rows::Table {
        let (x, y) = (column("x", &self.x), column("y", &self.y));
        let (low, high) = (column("lower_95", &self.y), column("upper_95", &self.y));
        let heads = ["panel", "series", "origin", &x, &y, &low, &high, "saturated"];
        let main = self.series.iter().flat_map(|series| {
            let origin = series.origin.word();
            let panel = self.panels.get(series.panel).map_or("main", String::as_str);
            series.points.iter().map(move |point| point_row(panel, &series.label, origin, point))
        });
        let difference = match self.y.unit.is_empty() {
            true => "model minus simulation [percentage points]",
            false => "model minus simulation [percent]",
        };
        let errors = self.errors.iter().flat_map(|series| {
            series
                .points
                .iter()
                .map(move |point| point_row(difference, &series.label, series.origin.word(), point))
        });
        rows::Table::new(&heads, main.chain(errors))
    }

    fn origins(&self) -> Vec<Origin> {
        self.series.iter().map(|series| series.origin).collect()
    }

    fn description(&self) -> String {
        let mut labels: Vec<&str> = Vec::new();
        for series in &self.series {
            if !labels.contains(&series.label.as_str()) {
                labels.push(&series.label);
            }
        }
        let below = if self.errors.is_empty() { "" } else { "; below, model minus simulation" };
        format!("Lines: {}, for {}{below}", over(&self.y, &self.x), listed(&labels))
    }

    fn draw(&self, canvas: &mut Canvas<'_>, top: f64, room: Option<f64>) -> f64 {
        drawing::draw(canvas, self, top, room)
    }
}

fn point_row(panel: &str, series: &str, origin: &str, point: &Point) -> Vec<String> {
    vec![
        panel.to_owned(),
        series.to_owned(),
        origin.to_owned(),
        point.x.to_string(),
        number(point.y),
        number(point.lower_95),
        number(point.upper_95),
        point.saturated.to_string(),
    ]
}
