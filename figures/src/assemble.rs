//! From a figure and what was simulated for it to a picture.

use flitwise_models::answer::{Answer, ClassAnswer};
use flitwise_models::published::{self, Options, OutputChain};
use flitwise_models::scenario::{DeadlineSpec, MAX_DEADLINES, Scenario};
use flitwise_validation::answer::{ClassSimulation, Simulation};
use flitwise_validation::compare::{Measured, Quantity};
use rayon::prelude::*;

use crate::figure::{Figure, Question, Sweep, Variant};
use crate::picture::{
    Axis, Bar, Chain, Content, ErrorSeries, HeatCell, HeatMap, HeatPanel, Lines, Origin, Picture, Point,
    Series, Stacked, StackedPanel, Transition,
};

/// Points of a model's curve, beside those that are simulated.
const CURVE_POINTS: usize = 96;

impl Figure {
    /// The picture; `simulations` are those of [`Figure::scenarios`], in order.
    ///
    /// # Panics
    /// If there are fewer simulations than scenarios.
    pub fn picture(&self, simulations: &[Simulation]) -> Picture {
        let mut notes = Vec::new();
        let content = match &self.question {
            Question::Lines { x, quantities, y_range, variants } => {
                let drawn = Drawn { figure: self, x, quantities, variants };
                Content::Lines(drawn.lines(*y_range, simulations, &mut notes))
            }
            Question::Stacked { x } => Content::Stacked(self.stacked(x, simulations, &mut notes)),
            Question::HeatMap { x, y, quantity } => {
                Content::HeatMap(self.heat_map(x, y, *quantity, simulations, &mut notes))
            }
            Question::Distribution { deadlines } => {
                Content::Lines(self.distribution(deadlines, simulations, &mut notes))
            }
            Question::Chain => Content::Chain(self.chain(&mut notes)),
        };
        for (index, simulation) in simulations.iter().enumerate() {
            let telling = simulation.notes.iter().filter(|note| !note.contains("few for an interval"));
            notes.extend(telling.map(|note| format!("point {}: {note}", index + 1)));
        }
        let mut known: Vec<String> = Vec::new();
        for note in notes {
            if !known.contains(&note) {
                known.push(note);
            }
        }
        let (name, title, subtitle) = (self.name.clone(), self.title.clone(), self.subtitle.clone());
        Picture { name, title, subtitle, content, notes: known }
    }

    fn has(&self, origin: Origin) -> bool {
        self.sources.contains(&origin)
    }

    /// Places of the drawn classes in the scenario.
    fn class_indices(&self) -> Vec<usize> {
        let classes = self.scenario.classes().iter().enumerate();
        classes.filter(|(_, class)| self.classes.contains(&class.name)).map(|(index, _)| index).collect()
    }

    fn stacked(&self, x: &Sweep, simulations: &[Simulation], notes: &mut Vec<String>) -> Stacked {
        let parts = [Quantity::Transfer, Quantity::Blocking, Quantity::Sharing, Quantity::Waiting];
        let answers = match self.has(Origin::Published) {
            true => solved(&x.values, |value| self.at(None, &[(x, value)]).ok(), false, notes),
            false => Vec::new(),
        };
        let panel = |class: usize| {
            let mut bars = Vec::new();
            for (at, value) in x.values.iter().enumerate() {
                if let Some(class) = answers.get(at).and_then(Option::as_ref).map(|a| &a.classes[class]) {
                    bars.push(Bar {
                        x: *value,
                        origin: Origin::Published,
                        parts: parts.iter().map(|part| part.of_model(class)).collect(),
                        interval_95: None,
                        saturated: class.saturated,
                    });
                }
                if let Some(class) = simulations.get(at).map(|simulation| &simulation.classes[class]) {
                    let whole = Quantity::TotalLatency.of_simulation(class);
                    bars.push(Bar {
                        x: *value,
                        origin: Origin::Simulation,
                        parts: parts
                            .iter()
                            .map(|part| part.of_simulation(class).map(|part| part.value))
                            .collect(),
                        interval_95: whole.and_then(|whole| Some((whole.lower_95?, whole.upper_95?))),
                        saturated: class.saturated,
                    });
                }
            }
            StackedPanel { label: self.scenario.classes()[class].name.clone(), bars }
        };
        Stacked {
            x: x.axis.clone(),
            y: Axis { label: "Message latency".to_owned(), unit: "cycles".to_owned(), logarithmic: false },
            parts: parts.iter().map(|part| part.to_string()).collect(),
            panels: self.class_indices().into_iter().map(panel).collect(),
        }
    }

    fn heat_map(
        &self,
        x: &Sweep,
        y: &Sweep,
        quantity: Quantity,
        simulations: &[Simulation],
        notes: &mut Vec<String>,
    ) -> HeatMap {
        let class = self.class_indices().first().copied().unwrap_or(0);
        let name = &self.scenario.classes()[class].name;
        let mut panels = Vec::new();
        if self.has(Origin::Published) {
            let rows = y.values.iter().map(|row| {
                let at = |column| self.at(None, &[(x, column), (y, *row)]).ok();
                let answers = solved(&x.values, at, needs_distribution(&[quantity]), notes);
                let cell = |answer: &Option<Answer>| {
                    let class = answer.as_ref().map(|answer| &answer.classes[class]);
                    HeatCell {
                        z: class.and_then(|class| quantity.of_model(class)),
                        half_width_95: None,
                        saturated: class.is_some_and(|class| class.saturated),
                    }
                };
                answers.iter().map(cell).collect()
            });
            let cells = rows.collect();
            panels.push(HeatPanel { label: "published model".to_owned(), origin: Origin::Published, cells });
        }
        if self.has(Origin::Simulation) {
            let cell = |simulation: &Simulation| {
                let class = &simulation.classes[class];
                let found = quantity.of_simulation(class);
                HeatCell {
                    z: found.map(|found| found.value),
                    half_width_95: found.and_then(Measured::half_width_95),
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
                label: format!("{name} {quantity}"),
                unit: quantity.unit().to_owned(),
                logarithmic: false,
            },
            xs: x.values.clone(),
            ys: y.values.clone(),
            panels,
        }
    }

    fn distribution(&self, deadlines: &[u32], simulations: &[Simulation], notes: &mut Vec<String>) -> Lines {
        // the model's curve goes through all whole cycles
        let between: Vec<u32> = match (deadlines.first(), deadlines.last()) {
            (Some(first), Some(last)) if ((last - first) as usize) < MAX_DEADLINES => {
                (*first..=*last).collect()
            }
            _ => deadlines.to_vec(),
        };
        let answer = match self.has(Origin::Published) {
            true => {
                let scenario = self.at(None, &[]).ok().and_then(|one| {
                    let deadlines = between.iter().copied().map(DeadlineSpec::Cycles).collect();
                    self.with_deadlines(&one, deadlines).ok()
                });
                solved(&[0.0], |_| scenario.clone(), true, notes).into_iter().next().flatten()
            }
            false => None,
        };
        let simulation = simulations.first();
        let mut series = Vec::new();
        let mut errors = Vec::new();
        for class in self.class_indices() {
            let label = &self.scenario.classes()[class].name;
            let at = |deadline: &u32| Quantity::Miss { deadline_cycles: *deadline, hops: None };
            let model = |deadline: &u32| {
                let class = answer.as_ref().map(|answer| &answer.classes[class]);
                model_point(f64::from(*deadline), at(deadline), class)
            };
            let measured = |deadline: &u32| {
                let class = simulation.map(|simulation| &simulation.classes[class]);
                measured_point(f64::from(*deadline), at(deadline), class)
            };
            let of = |origin, points| Series {
                label: label.clone(),
                style: class,
                variant: 0,
                origin,
                points,
                saturated_from: None,
            };
            let (modelled, found): (Vec<Point>, Vec<Point>) =
                (deadlines.iter().map(model).collect(), deadlines.iter().map(measured).collect());
            if self.errors && answer.is_some() && simulation.is_some() {
                let points =
                    modelled.iter().zip(&found).map(|(model, found)| points_off(model, found)).collect();
                errors.push(ErrorSeries { label: label.clone(), style: class, variant: 0, points });
            }
            series.extend(answer.as_ref().map(|_| of(Origin::Published, modelled)));
            series.extend(simulation.map(|_| of(Origin::Simulation, found)));
        }
        Lines {
            x: Axis { label: "Deadline D".to_owned(), unit: "cycles".to_owned(), logarithmic: false },
            y: Axis { label: "P(network latency > D)".to_owned(), unit: String::new(), logarithmic: false },
            y_range: None,
            series,
            errors,
        }
    }

    fn chain(&self, notes: &mut Vec<String>) -> Chain {
        let answer = solved(&[0.0], |_| self.at(None, &[]).ok(), false, notes).into_iter().next().flatten();
        let found = answer.and_then(|answer| OutputChain::of(&self.scenario, &answer));
        let Some(OutputChain { classes, occupancy, rates, cycles_per_flit }) = found else {
            notes.push("the model has no numbers for this chain".to_owned());
            return Chain::default();
        };
        let states = occupancy.len();
        let transition = |(bit, from): (usize, usize)| Transition {
            from,
            to: from ^ (1 << bit),
            rate_per_cycle: rates.get(bit, from),
        };
        let pairs = (0..classes.len()).flat_map(|bit| (0..states).map(move |from| (bit, from)));
        Chain {
            members: classes.iter().map(|class| self.scenario.classes()[*class].name.clone()).collect(),
            transitions: pairs.map(transition).collect(),
            probabilities: occupancy,
            cycles_per_flit,
        }
    }
}

/// The curves of one figure.
struct Drawn<'f> {
    figure: &'f Figure,
    x: &'f Sweep,
    quantities: &'f [Quantity],
    variants: &'f [Variant],
}

impl Drawn<'_> {
    fn lines(
        &self,
        y_range: Option<(f64, f64)>,
        simulations: &[Simulation],
        notes: &mut Vec<String>,
    ) -> Lines {
        let figure = self.figure;
        let mut series = Vec::new();
        let mut errors = Vec::new();
        let per_variant = self.x.values.len();
        for (index, variant) in self.variants.iter().enumerate() {
            let scenario = |x| figure.at(Some(variant), &[(self.x, x)]).ok();
            let mut curve = curve(&self.x.values, self.x.axis.logarithmic);
            // between whole numbers, of flits say, there is nothing
            curve.retain(|x| self.x.values.contains(x) || scenario(*x).is_some());
            let distributions = needs_distribution(self.quantities);
            let answers = match figure.has(Origin::Published) {
                true => solved(&curve, scenario, distributions, notes),
                false => Vec::new(),
            };
            let measured = match figure.has(Origin::Simulation) {
                true => &simulations[index * per_variant..][..per_variant],
                false => &[],
            };
            for class in figure.class_indices() {
                for (at, quantity) in self.quantities.iter().enumerate() {
                    let variant = index * self.quantities.len() + at;
                    let one =
                        One { class, quantity: *quantity, label: self.label(class, index, at), variant };
                    let modelled = one.modelled(&curve, &answers);
                    let found = one.measured(&self.x.values, measured);
                    if figure.errors && !answers.is_empty() && !measured.is_empty() {
                        errors.push(one.errors(&modelled, &found));
                    }
                    let saturated = |points: &[Point]| points.iter().find(|p| p.saturated).map(|p| p.x);
                    let of = |origin, points: Vec<Point>| Series {
                        label: one.label.clone(),
                        style: class,
                        variant,
                        origin,
                        saturated_from: saturated(&points),
                        points,
                    };
                    if !answers.is_empty() {
                        series.push(of(Origin::Published, modelled));
                    }
                    if !measured.is_empty() {
                        series.push(of(Origin::Simulation, found));
                    }
                }
            }
        }
        Lines { x: self.x.axis.clone(), y: self.y_axis(), y_range, series, errors }
    }

    fn y_axis(&self) -> Axis {
        let quantity = self.quantities[0];
        let label = match quantity {
            Quantity::Miss { .. } => "Deadline missing probability".to_owned(),
            Quantity::Percentile { .. } => format!("{quantity} of the network latency"),
            other => {
                let text = other.to_string();
                text[..1].to_uppercase() + &text[1..]
            }
        };
        Axis { label, unit: quantity.unit().to_owned(), logarithmic: false }
    }

    /// What the legend says: the class, and as much else as is needed to tell curves apart.
    fn label(&self, class: usize, variant: usize, quantity: usize) -> String {
        let mut label = self.figure.scenario.classes()[class].name.clone();
        let variant = &self.variants[variant].label;
        if !variant.is_empty() {
            label.push_str(&format!(", {variant}"));
        }
        if let Quantity::Miss { deadline_cycles, hops } = self.quantities[quantity]
            && self.quantities.len() > 1
        {
            let hops = hops.map(|hops| format!("{hops} hops, "));
            label.push_str(&format!(", {}D = {deadline_cycles}", hops.unwrap_or_default()));
        }
        label
    }
}

/// One class, quantity and variant.
struct One {
    class: usize,
    quantity: Quantity,
    label: String,
    variant: usize,
}

impl One {
    fn modelled(&self, curve: &[f64], answers: &[Option<Answer>]) -> Vec<Point> {
        let point = |(x, answer): (&f64, &Option<Answer>)| {
            model_point(*x, self.quantity, answer.as_ref().map(|answer| &answer.classes[self.class]))
        };
        curve.iter().zip(answers).map(point).collect()
    }

    fn measured(&self, values: &[f64], simulations: &[Simulation]) -> Vec<Point> {
        let point = |(x, simulation): (&f64, &Simulation)| {
            measured_point(*x, self.quantity, Some(&simulation.classes[self.class]))
        };
        values.iter().zip(simulations).map(point).collect()
    }

    fn errors(&self, modelled: &[Point], found: &[Point]) -> ErrorSeries {
        let off = |found: &Point| {
            let model = modelled.iter().find(|model| model.x == found.x)?;
            let off = if self.quantity.is_probability() { points_off } else { percent_off };
            Some(off(model, found))
        };
        let points = found.iter().filter_map(off).collect();
        ErrorSeries { label: self.label.clone(), style: self.class, variant: self.variant, points }
    }
}

fn model_point(x: f64, quantity: Quantity, class: Option<&ClassAnswer>) -> Point {
    let saturated = class.is_some_and(|class| class.saturated);
    let y = class.and_then(|class| quantity.of_model(class));
    Point { x, y, lower_95: None, upper_95: None, saturated }
}

fn measured_point(x: f64, quantity: Quantity, class: Option<&ClassSimulation>) -> Point {
    let found = class.and_then(|class| quantity.of_simulation(class));
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

fn needs_distribution(quantities: &[Quantity]) -> bool {
    let of_distribution =
        |quantity: &Quantity| matches!(quantity, Quantity::Miss { .. } | Quantity::Percentile { .. });
    quantities.iter().any(of_distribution)
}

/// Where a model's curve is computed: at `values` and evenly in between.
fn curve(values: &[f64], logarithmic: bool) -> Vec<f64> {
    let (Some(first), Some(last)) = (values.first(), values.last()) else { return Vec::new() };
    let between = (1..CURVE_POINTS).map(|step| {
        let share = step as f64 / CURVE_POINTS as f64;
        if logarithmic { first * (last / first).powf(share) } else { first + (last - first) * share }
    });
    let mut curve: Vec<f64> = values.iter().copied().chain(between).collect();
    curve.sort_by(f64::total_cmp);
    curve.dedup();
    curve
}

/// The model's answers where there are any; why there are none is noted.
fn solved(
    values: &[f64],
    scenario: impl Fn(f64) -> Option<Scenario> + Sync,
    distributions: bool,
    notes: &mut Vec<String>,
) -> Vec<Option<Answer>> {
    let options = Options { distributions, saturation_loads: false, ..Options::default() };
    let one = |value: &f64| {
        Some(published::solve(&scenario(*value)?, &options).map_err(|failure| failure.to_string()))
    };
    let answers: Vec<Option<Result<Answer, String>>> = values.par_iter().map(one).collect();
    let keep = |(value, answer): (&f64, Option<Result<Answer, String>>)| match answer? {
        Ok(answer) => Some(answer),
        Err(failure) => {
            notes.push(format!("no model at {value}: {failure}"));
            None
        }
    };
    values.iter().zip(answers).map(keep).collect()
}
