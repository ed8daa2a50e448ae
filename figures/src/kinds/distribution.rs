//! Miss probability over the deadline, drawn as lines.

use flitwise_language::quantity::Measure;
use flitwise_language::scenario::{DeadlineSpec, MAX_DEADLINES, Scenario};
use flitwise_models::answer::Answer;
use flitwise_models::model::Model;

use super::lines::{ErrorSeries, Lines, Point, Series};
use super::*;
use crate::assemble::{measured_point, model_point, noting, points_off, solved};
use crate::figure::MOST_VALUES;
use crate::picture::class_styles;

/// Miss probability over the deadline.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    /// Deadlines \[cycles\].
    deadlines: Vec<u32>,
}

impl FigureFile for Question {
    const WORD: &'static str = "distribution";
    const KEYS: &'static [&'static str] = &["x", "classes", "errors", "sources"];

    fn read(reading: &mut Reading<'_>, root: &Table<'_>, _: Option<&Scenario>) -> Option<Self> {
        reading.reader.require(root, "x", "an [x] table with values = deadlines in cycles", None);
        let x = reading.reader.table(root, "x")?;
        reading.reader.refuse_unknown(&x, &["values"]);
        let deadlines = reading.reader.rising(&x, "values", MOST_VALUES)?;
        let whole = |value: &f64| (1.0..=1e6).contains(value) && value.fract() == 0.0;
        if deadlines.len() > MAX_DEADLINES || !deadlines.iter().all(whole) {
            let wanted = format!("at most {MAX_DEADLINES} whole numbers of cycles from 1 to 1,000,000");
            reading.refuse(&x, "values", "something else".to_owned(), &wanted);
        }
        Some(Self { deadlines: deadlines.iter().map(|value| *value as u32).collect() })
    }
}

impl FigureKind for Question {
    fn deadlines(&self) -> Vec<DeadlineSpec> {
        self.deadlines.iter().copied().map(DeadlineSpec::Cycles).collect()
    }

    fn content(&self, figure: &Figure, runs: Runs<'_>, notes: &mut Vec<Note>) -> Content {
        let deadlines = &self.deadlines;
        // the model's curve goes through all whole cycles
        let between: Vec<u32> = match (deadlines.first(), deadlines.last()) {
            (Some(first), Some(last)) if ((last - first) as usize) < MAX_DEADLINES => {
                (*first..=*last).collect()
            }
            _ => deadlines.clone(),
        };
        let scenario = figure.at(None, &[]).ok().and_then(|one| {
            let deadlines = between.iter().copied().map(DeadlineSpec::Cycles).collect();
            figure.with_deadlines(&one, deadlines).ok()
        });
        let mut solved = |model| {
            let answers = solved(model, &[0.0], |_| scenario.clone(), true, noting(notes, ""));
            Some((model, answers.into_iter().next().flatten()?))
        };
        let answers: Vec<(Model, Answer)> = figure.models().filter_map(&mut solved).collect();
        let simulation = runs.simulations.first();
        let (mut series, mut errors) = (Vec::new(), Vec::new());
        let styles = class_styles(figure.scenario.spec());
        for class in figure.class_indices() {
            let label = &figure.scenario.classes()[class].name;
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
                if figure.errors && simulation.is_some() {
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
        Content::Lines(Lines {
            x: Axis { label: "Deadline D".to_owned(), unit: "cycles".to_owned(), logarithmic: false },
            y: Axis { label: "P(network latency > D)".to_owned(), unit: String::new(), logarithmic: false },
            y_range: None,
            panels: Vec::new(),
            series,
            errors,
            measured_as_curves: false,
            printed_by: None,
        })
    }
}
