//! Assembles a picture from a figure, the models' answers and the simulations.

use flitwise_experiment::answer::{ClassSimulation, Simulation};
use flitwise_language::quantity::Measure;
use flitwise_language::scenario::Scenario;
use flitwise_models::answer::{Answer, ClassAnswer};
use flitwise_models::model::{Failure, Model, Options};
use flitwise_validation::anchored::ClassIntervals;
use rayon::prelude::*;

use crate::anchored::Curve;
use crate::figure::Figure;
use crate::kinds::Runs;
use crate::note::{Note, Place, merged};
use crate::picture::{Origin, Picture, Point};

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
        let content = self.question.content(self, Runs { simulations, curves }, &mut notes);
        for (index, simulation) in simulations.iter().enumerate() {
            let telling = simulation.notes.iter().filter(|note| !note.contains("few for an interval"));
            notes.extend(telling.map(|text| Note { place: self.place(index), text: text.clone() }));
        }
        let notes = merged(&notes, self.points_noted());
        let (name, title, subtitle) = (self.name.clone(), self.title.clone(), self.subtitle_words());
        Picture { name, title, subtitle, content, notes }
    }

    pub(crate) fn has(&self, origin: Origin) -> bool {
        self.sources.contains(&origin)
    }

    /// Places of the drawn classes in the scenario.
    pub(crate) fn class_indices(&self) -> Vec<usize> {
        let classes = self.scenario.classes().iter().enumerate();
        classes.filter(|(_, class)| self.classes.contains(&class.name)).map(|(index, _)| index).collect()
    }
}

/// An answer of a model, with the intervals of its classes if it has any.
pub(crate) struct ModelAnswer {
    pub(crate) answer: Answer,
    pub(crate) intervals: Vec<ClassIntervals>,
}

pub(crate) fn model_point(x: f64, measure: Measure, class: Option<&ClassAnswer>) -> Point {
    let saturated = class.is_some_and(|class| class.saturated);
    let y = class.and_then(|class| class.value(measure));
    Point { x, y, lower_95: None, upper_95: None, saturated }
}

pub(crate) fn measured_point(x: f64, measure: Measure, class: Option<&ClassSimulation>) -> Point {
    let found = class.and_then(|class| class.value(measure));
    Point {
        x,
        y: found.map(|found| found.value),
        lower_95: found.and_then(|found| found.lower_95),
        upper_95: found.and_then(|found| found.upper_95),
        saturated: class.is_some_and(|class| class.saturated),
    }
}

/// Model minus simulation of a probability, in percentage points.
pub(crate) fn points_off(model: &Point, found: &Point) -> Point {
    off(model, found, |simulated| Some(100.0 * (model.y? - simulated?)))
}

pub(crate) fn off(model: &Point, found: &Point, difference: impl Fn(Option<f64>) -> Option<f64>) -> Point {
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

pub(crate) fn needs_distribution(measures: &[Measure]) -> bool {
    measures.iter().any(|measure| measure.quantity.needs_distribution())
}

/// Keeps notes on the points of a row.
pub(crate) fn noting<'n>(notes: &'n mut Vec<Note>, row: &'n str) -> impl FnMut(Option<f64>, String) + 'n {
    move |x, text| notes.push(Note { place: Place { row: row.to_owned(), x }, text })
}

/// A model's answers where there are any; why there are none is noted, with the value if it is one only.
pub(crate) fn solved(
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
