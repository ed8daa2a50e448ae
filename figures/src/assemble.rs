//! Assembles a picture from a figure, the models' answers and the simulations.

use flitwise_experiment::answer::ConfidenceInterval;
use flitwise_experiment::answer::{ClassSimulation, Simulation};
use flitwise_experiment::packets;
use flitwise_language::quantity::{Measure, Quantity};
use flitwise_language::scenario::{
    ClassKind, ClassSpec, DeadlineSpec, DestinationSpec, MAX_DEADLINES, Scenario,
};
use flitwise_models::answer::{Answer, ClassAnswer};
use flitwise_models::model::{Failure, Model, Options};
use flitwise_models::published::solve_recorded;
use flitwise_simulator::packet::Column;
use flitwise_validation::anchored::ClassIntervals;
use rayon::prelude::*;

use crate::anchored::Curve;
use crate::figure::{Figure, Parts, Question, Sweep, TimeUnit, Variant};
use crate::network_map::network_map;
use crate::note::{Note, Place, merged};
use crate::picture::{
    Axis, Bar, Chain, CongestionTree, Content, ErrorSeries, HeatCell, HeatMap, HeatPanel, Lines, Origin,
    Picture, Point, Series, Stacked, StackedPanel, TreeColumn, TreePanel, class_styles,
};
use crate::timeline;

/// What [`Parts::Places`] are called.
const PLACES: [&str; 5] =
    ["header in input buffers", "arbitration", "header in output buffers", "gaps behind it", "at the source"];

impl Lines {
    /// Takes times in cycles to another unit.
    fn show_times_in(&mut self, unit: TimeUnit) {
        for point in self.series.iter_mut().flat_map(|series| &mut series.points) {
            for time in [&mut point.y, &mut point.lower_95, &mut point.upper_95].into_iter().flatten() {
                *time *= unit.per_cycle;
            }
        }
        unit.name.clone_into(&mut self.y.unit);
    }
}

/// The seed of runs of which a moment is drawn.
const SEED: u64 = 1;

/// What all ports hold, a panel for each variant and time; one run each.
fn congestion_tree(figure: &Figure, times_us: &[f64], variants: &[Variant]) -> CongestionTree {
    let times_ns: Vec<f64> = times_us.iter().map(|time| 1e3 * time).collect();
    let points: Vec<(&Variant, Scenario)> =
        variants.iter().zip(figure.points().into_iter().flatten()).collect();
    let panels = |(variant, scenario): &(&Variant, Scenario)| {
        let kilobytes = scenario.switch().map_or(0.0, |switch| f64::from(switch.packet)) / 1024.0;
        let found = packets::columns_at(scenario, SEED, &times_ns).unwrap_or_default();
        let panel = |(time_us, columns): (&f64, Vec<Column>)| {
            let name = |place: usize| match place {
                0 => "injection".to_owned(),
                _ => format!("stage {}, {}", (place - 1) / 2, ["ingress", "egress"][(place - 1) % 2]),
            };
            let column = |(place, Column { packets, next }): (usize, Column)| TreeColumn {
                name: name(place),
                held: packets.into_iter().map(|count| f64::from(count) * kilobytes).collect(),
                next,
            };
            let parted = if variant.label.is_empty() { "" } else { ", " };
            TreePanel {
                label: format!("{}{parted}{time_us} us", variant.label),
                variant: variant.label.clone(),
                time_us: *time_us,
                columns: columns.into_iter().enumerate().map(column).collect(),
            }
        };
        times_us.iter().zip(found).map(panel).collect::<Vec<_>>()
    };
    let late = figure.scenario.classes().iter().filter(|class| class.start_cycle() > 0.0);
    let to = |class: &ClassSpec| match &class.destination {
        DestinationSpec::Nodes(list) => list.nodes().collect::<Vec<_>>(),
        _ => Vec::new(),
    };
    CongestionTree {
        held: Axis { label: "queued at a port".to_owned(), unit: "KB".to_owned(), logarithmic: false },
        times: times_us.len(),
        hot: late.flat_map(to).collect(),
        panels: points.par_iter().flat_map(panels).collect(),
    }
}

impl Figure {
    /// The picture; `simulations` are those of [`Figure::scenarios`], in order.
    ///
    /// # Panics
    /// If there are fewer simulations than scenarios.
    pub fn picture(&self, simulations: &[Simulation]) -> Picture {
        self.assembled(simulations, &[])
    }

    /// The picture by the anchored model; `curves` are what was learnt of the families of
    /// [`Figure::set_anchored`], in order.
    pub fn anchored_picture(&self, curves: &[Curve]) -> Picture {
        let mut picture = self.assembled(&[], curves);
        let label = |curve: &Curve| match curve.family.label.as_str() {
            "" => String::new(),
            label => format!("{label}: "),
        };
        for curve in curves {
            picture.notes.extend(curve.remarks.iter().map(|remark| format!("{}{remark}", label(curve))));
        }
        picture
    }

    fn assembled(&self, simulations: &[Simulation], curves: &[Curve]) -> Picture {
        let mut notes = Vec::new();
        let content = match &self.question {
            Question::Lines { x, measures, unit, y_range, variants } => {
                let drawn = Drawn { figure: self, x, measures, variants, curves };
                let mut lines = drawn.lines(*y_range, simulations, &mut notes);
                if let Some(unit) = unit {
                    lines.show_times_in(*unit);
                }
                Content::Lines(lines)
            }
            Question::Stacked { x, parts } => {
                Content::Stacked(self.stacked(x, *parts, simulations, &mut notes))
            }
            Question::HeatMap { x, y, measure } => {
                Content::HeatMap(self.heat_map(x, y, *measure, simulations, &mut notes))
            }
            Question::Distribution { deadlines } => {
                Content::Lines(self.distribution(deadlines, simulations, &mut notes))
            }
            Question::Chain => Content::Chain(self.chain(&mut notes)),
            Question::OverTime(drawn) => Content::Lines(self.over_time(drawn, simulations, &mut notes)),
            Question::Network => {
                Content::Network(network_map(&self.scenario, simulations.first(), &mut notes))
            }
            Question::Timeline { variants } => Content::Timeline(timeline::timeline(self, variants, SEED)),
            Question::CongestionTree { times_us, variants } => {
                Content::CongestionTree(congestion_tree(self, times_us, variants))
            }
        };
        for (index, simulation) in simulations.iter().enumerate() {
            let telling = simulation.notes.iter().filter(|note| !note.contains("few for an interval"));
            notes.extend(telling.map(|text| Note { place: self.place(index), text: text.clone() }));
        }
        let notes = merged(&notes, self.points_noted());
        let (name, title, subtitle) = (self.name.clone(), self.title.clone(), self.subtitle.clone());
        Picture { name, title, subtitle, content, notes }
    }

    fn has(&self, origin: Origin) -> bool {
        self.sources.contains(&origin)
    }

    /// Places of the drawn classes in the scenario.
    fn class_indices(&self) -> Vec<usize> {
        let classes = self.scenario.classes().iter().enumerate();
        classes.filter(|(_, class)| self.classes.contains(&class.name)).map(|(index, _)| index).collect()
    }

    fn stacked(&self, x: &Sweep, asked: Parts, simulations: &[Simulation], notes: &mut Vec<Note>) -> Stacked {
        let parts = asked.quantities();
        let scenario = |value| self.at(None, &[(x, value)]).ok();
        let answers: Vec<(Model, Vec<Option<Answer>>)> = self
            .models()
            .map(|model| (model, solved(model, &x.values, scenario, false, noting(notes, ""))))
            .collect();
        let mut not_apart: Vec<Model> = Vec::new();
        let mut panel = |class: usize| {
            let mut bars = Vec::new();
            for (at, value) in x.values.iter().enumerate() {
                for (model, answers) in &answers {
                    let Some(class) = answers[at].as_ref().map(|answer| &answer.classes[class]) else {
                        continue;
                    };
                    let heights: Vec<Option<f64>> =
                        parts.iter().map(|part| class.value((*part).into())).collect();
                    let known = class.network_latency_cycles.is_some();
                    if asked == Parts::Places && known && class.input_cycles.is_none() {
                        not_apart.push(*model);
                        continue;
                    }
                    bars.push(Bar {
                        x: *value,
                        origin: Origin::from(*model),
                        parts: heights,
                        interval_95: None,
                        saturated: class.saturated,
                    });
                }
                if let Some(class) = simulations.get(at).map(|simulation| &simulation.classes[class]) {
                    bars.push(simulated_bar(*value, asked, class));
                }
            }
            StackedPanel { label: self.scenario.classes()[class].name.clone(), bars }
        };
        let panels = self.class_indices().into_iter().map(&mut panel).collect();
        not_apart.dedup();
        let text = |model: &Model| format!("the {model} model does not tell places apart");
        notes.extend(not_apart.iter().map(|model| Note { place: Place::default(), text: text(model) }));
        let (label, parts) = match asked {
            Parts::Causes => ("Message latency", parts.iter().map(|part| part.name().to_owned()).collect()),
            Parts::Places => ("Time beyond that of a lone message", PLACES.map(str::to_owned).to_vec()),
        };
        Stacked {
            x: x.axis.clone(),
            y: Axis { label: label.to_owned(), unit: "cycles".to_owned(), logarithmic: false },
            parts,
            kinds: asked.kinds().to_vec(),
            panels,
        }
    }

    fn heat_map(
        &self,
        x: &Sweep,
        y: &Sweep,
        measure: Measure,
        simulations: &[Simulation],
        notes: &mut Vec<Note>,
    ) -> HeatMap {
        let class = self.class_indices().first().copied().unwrap_or(0);
        let name = &self.scenario.classes()[class].name;
        let mut panels = Vec::new();
        for model in self.models() {
            let rows = y.values.iter().map(|row| {
                let at = |column| self.at(None, &[(x, column), (y, *row)]).ok();
                let answers = solved(
                    model,
                    &x.values,
                    at,
                    needs_distribution(&[measure]),
                    noting(notes, &row.to_string()),
                );
                let cell = |answer: &Option<Answer>| {
                    let class = answer.as_ref().map(|answer| &answer.classes[class]);
                    HeatCell {
                        z: class.and_then(|class| class.value(measure)),
                        half_width_95: None,
                        saturated: class.is_some_and(|class| class.saturated),
                    }
                };
                answers.iter().map(cell).collect()
            });
            let cells: Vec<Vec<HeatCell>> = rows.collect();
            let label = Origin::from(model).words().to_owned();
            // of a model that has no answer at all there is a note, not an empty map
            if cells.iter().flatten().any(|cell| cell.z.is_some() || cell.saturated) {
                panels.push(HeatPanel { label, origin: Origin::from(model), cells });
            }
        }
        if self.has(Origin::Simulation) {
            let cell = |simulation: &Simulation| {
                let class = &simulation.classes[class];
                let found = class.value(measure);
                HeatCell {
                    z: found.map(|found| found.value),
                    half_width_95: found.and_then(ConfidenceInterval::half_width_95),
                    saturated: class.saturated,
                }
            };
            let rows = simulations.chunks(x.values.len());
            let cells = rows.map(|row| row.iter().map(cell).collect()).collect();
            panels.push(HeatPanel { label: "simulation".to_owned(), origin: Origin::Simulation, cells });
        }
        HeatMap {
            x: x.axis.clone(),
            y: y.axis.clone(),
            z: Axis {
                label: format!("{name} {}", measure.name()),
                unit: measure.quantity.unit().word().to_owned(),
                logarithmic: false,
            },
            xs: x.values.clone(),
            ys: y.values.clone(),
            panels,
        }
    }

    fn distribution(&self, deadlines: &[u32], simulations: &[Simulation], notes: &mut Vec<Note>) -> Lines {
        // the model's curve goes through all whole cycles
        let between: Vec<u32> = match (deadlines.first(), deadlines.last()) {
            (Some(first), Some(last)) if ((last - first) as usize) < MAX_DEADLINES => {
                (*first..=*last).collect()
            }
            _ => deadlines.to_vec(),
        };
        let scenario = self.at(None, &[]).ok().and_then(|one| {
            let deadlines = between.iter().copied().map(DeadlineSpec::Cycles).collect();
            self.with_deadlines(&one, deadlines).ok()
        });
        let mut solved = |model| {
            let answers = solved(model, &[0.0], |_| scenario.clone(), true, noting(notes, ""));
            Some((model, answers.into_iter().next().flatten()?))
        };
        let answers: Vec<(Model, Answer)> = self.models().filter_map(&mut solved).collect();
        let simulation = simulations.first();
        let mut series = Vec::new();
        let mut errors = Vec::new();
        let styles = class_styles(self.scenario.spec());
        for class in self.class_indices() {
            let label = &self.scenario.classes()[class].name;
            let at = |deadline: &u32| Measure::miss(*deadline, None);
            let measured = |deadline: &u32| {
                let class = simulation.map(|simulation| &simulation.classes[class]);
                measured_point(f64::from(*deadline), at(deadline), class)
            };
            let of = |origin, points| Series {
                label: label.clone(),
                panel: 0,
                style: styles[class],
                variant: 0,
                origin,
                points,
                saturated_from: None,
            };
            let found: Vec<Point> = deadlines.iter().map(measured).collect();
            for (model, answer) in &answers {
                let point = |deadline: &u32| {
                    model_point(f64::from(*deadline), at(deadline), Some(&answer.classes[class]))
                };
                let modelled: Vec<Point> = deadlines.iter().map(point).collect();
                let origin = Origin::from(*model);
                if self.errors && simulation.is_some() {
                    let points = modelled.iter().zip(&found).map(|(model, found)| points_off(model, found));
                    let points = points.collect();
                    errors.push(ErrorSeries {
                        label: label.clone(),
                        origin,
                        style: styles[class],
                        variant: 0,
                        points,
                    });
                }
                series.push(of(origin, modelled));
            }
            series.extend(simulation.map(|_| of(Origin::Simulation, found)));
        }
        Lines {
            x: Axis { label: "Deadline D".to_owned(), unit: "cycles".to_owned(), logarithmic: false },
            y: Axis { label: "P(network latency > D)".to_owned(), unit: String::new(), logarithmic: false },
            y_range: None,
            panels: Vec::new(),
            series,
            errors,
            measured_as_curves: false,
        }
    }

    fn chain(&self, notes: &mut Vec<Note>) -> Chain {
        let options = Options { distributions: false, saturation_loads: false, ..Options::default() };
        let (answer, record) = solve_recorded(&self.scenario, &options);
        let mut note = |text| notes.push(Note { place: Place::default(), text });
        if let Err(failure) = &answer {
            note(format!("no {} model: {failure}", Model::Published));
        }
        let record = record.filter(|record| answer.is_ok() && record.cube.is_none());
        let Some((record, link)) = record.as_ref().and_then(|record| Some((record, record.links.first()?)))
        else {
            note("the model has no numbers for this chain".to_owned());
            return Chain::default();
        };
        let members = record.classes.iter().filter(|class| class.kind == ClassKind::RealTime);
        let names = members.map(|class| self.scenario.classes()[class.class].name.clone());
        let mut chain = Chain::of(link, names.collect());
        chain.transitions.sort_by_key(|transition| (transition.from ^ transition.to, transition.from));
        chain
    }
}

/// What was simulated of a class, parted as it is asked.
fn simulated_bar(x: f64, asked: Parts, class: &ClassSimulation) -> Bar {
    let value = |quantity: Quantity| class.value(quantity.into());
    let whole = value(Quantity::TotalLatency);
    // a lone message takes the same time whenever it comes: no error of its own
    let left_out = match asked {
        Parts::Causes => 0.0,
        Parts::Places => value(Quantity::Transfer).map_or(0.0, |part| part.value),
    };
    let part = |part: &Quantity| value(*part).map(|part| part.value);
    Bar {
        x,
        origin: Origin::Simulation,
        parts: asked.quantities().iter().map(part).collect(),
        interval_95: whole.and_then(|whole| Some((whole.lower_95? - left_out, whole.upper_95? - left_out))),
        saturated: class.saturated,
    }
}

/// The curves of one figure.
struct Drawn<'f> {
    figure: &'f Figure,
    x: &'f Sweep,
    measures: &'f [Measure],
    variants: &'f [Variant],
    /// What was learnt for the anchored model, by variant; empty for other models.
    curves: &'f [Curve],
}

/// An answer of a model, with the intervals of its classes if it has any.
pub(crate) struct Found {
    pub(crate) answer: Answer,
    pub(crate) intervals: Vec<ClassIntervals>,
}

impl Drawn<'_> {
    /// The answers of all models along a curve.
    fn answers(
        &self,
        index: usize,
        curve: &[f64],
        notes: &mut Vec<Note>,
    ) -> Vec<(Origin, Vec<Option<Found>>)> {
        let variant = &self.variants[index];
        let scenario = |x| self.figure.at(Some(variant), &[(self.x, x)]).ok();
        let learnt = self.curves.get(index);
        // the anchored model has learnt from answers with distributions
        let distributions = needs_distribution(self.measures) || learnt.is_some();
        let found = |(x, answer): (&f64, Option<Answer>)| {
            let answer = answer?;
            Some(match learnt {
                Some(learnt) => learnt.correct(*x, answer),
                None => Found { answer, intervals: Vec::new() },
            })
        };
        let mut solved = |model| {
            let answers = solved(model, curve, scenario, distributions, noting(notes, &variant.label));
            let origin = if learnt.is_some() { Origin::Anchored } else { Origin::from(model) };
            (origin, curve.iter().zip(answers).map(found).collect::<Vec<Option<Found>>>())
        };
        let mut answers: Vec<(Origin, Vec<Option<Found>>)> = match learnt {
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
                    let (panel, variant) = match figure.panels {
                        true => (index, at),
                        false => (0, index * self.measures.len() + at),
                    };
                    let (label, style) = (self.label(class, (index, at), !figure.panels), styles[class]);
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
        }
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
        let mut label = self.figure.scenario.classes()[class].name.clone();
        let variant = &self.variants[variant].label;
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
    fn modelled(&self, curve: &[f64], answers: &[Option<Found>]) -> Vec<Point> {
        let point = |(x, found): (&f64, &Option<Found>)| {
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

fn model_point(x: f64, measure: Measure, class: Option<&ClassAnswer>) -> Point {
    let saturated = class.is_some_and(|class| class.saturated);
    let y = class.and_then(|class| class.value(measure));
    Point { x, y, lower_95: None, upper_95: None, saturated }
}

fn measured_point(x: f64, measure: Measure, class: Option<&ClassSimulation>) -> Point {
    let found = class.and_then(|class| class.value(measure));
    Point {
        x,
        y: found.map(|found| found.value),
        lower_95: found.and_then(|found| found.lower_95),
        upper_95: found.and_then(|found| found.upper_95),
        saturated: class.is_some_and(|class| class.saturated),
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

/// Model minus simulation of a probability, in percentage points.
fn points_off(model: &Point, found: &Point) -> Point {
    off(model, found, |simulated| Some(100.0 * (model.y? - simulated?)))
}

fn off(model: &Point, found: &Point, difference: impl Fn(Option<f64>) -> Option<f64>) -> Point {
    let saturated = model.saturated || found.saturated;
    let steady = |value: Option<f64>| value.filter(|value| !saturated && value.is_finite());
    Point {
        x: found.x,
        y: steady(difference(found.y)),
        // the larger the simulated value, the smaller the difference
        lower_95: steady(difference(found.upper_95)),
        upper_95: steady(difference(found.lower_95)),
        saturated,
    }
}

fn needs_distribution(measures: &[Measure]) -> bool {
    measures.iter().any(|measure| measure.quantity.needs_distribution())
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

/// Keeps notes on the points of a row.
fn noting<'n>(notes: &'n mut Vec<Note>, row: &'n str) -> impl FnMut(Option<f64>, String) + 'n {
    move |x, text| notes.push(Note { place: Place { row: row.to_owned(), x }, text })
}

/// A model's answers where there are any; why there are none is noted, with the value if it is one only.
fn solved(
    model: Model,
    values: &[f64],
    scenario: impl Fn(f64) -> Option<Scenario> + Sync,
    distributions: bool,
    mut note: impl FnMut(Option<f64>, String),
) -> Vec<Option<Answer>> {
    let options = Options { distributions, saturation_loads: false, ..Options::default() };
    let one = |value: &f64| Some(model.solve(&scenario(*value)?, &options));
    let answers: Vec<Option<Result<Answer, Failure>>> = values.par_iter().map(one).collect();
    let keep = |(value, answer): (&f64, Option<Result<Answer, Failure>>)| match answer? {
        Ok(answer) => Some(answer),
        Err(failure) => {
            // what is not in the model is not in it anywhere between two values
            let at = (!failure.is_refusal()).then_some(*value);
            note(at, format!("no {model} model: {failure}"));
            None
        }
    };
    values.iter().zip(answers).map(keep).collect()
}
