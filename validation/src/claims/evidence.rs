//! The numbers that decide a claim.

use flitwise_language::quantity::{Measure, Quantity};
use flitwise_language::scenario::Scenario;
use flitwise_language::section::Sections;
use flitwise_models::answer::Answer;
use flitwise_models::model::{Model, Options};

use super::asked::Asked;
use super::{Claim, Origin};
use crate::compare::{Row, row};
use crate::phases::{self, MixAxis};
use flitwise_experiment::answer::ConfidenceInterval;
use flitwise_experiment::answer::Simulation;

/// A quantity of a class at one point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Reading {
    pub(super) x: Option<f64>,
    /// `None` where there is no such number, or where it has no steady state.
    pub(super) found: Option<ConfidenceInterval>,
    pub(super) saturated: bool,
}

/// A quantity of a class along a course.
#[derive(Clone, Debug)]
pub(super) struct Curve {
    /// Class and course, as far as the claim has several.
    pub(super) subject: String,
    pub(super) readings: Vec<Reading>,
}

/// Answers to every point of every course.
pub(super) struct Evidence<'c> {
    claim: &'c Claim,
    /// By course and point; empty if not needed.
    simulations: Vec<&'c [Simulation]>,
    answers: Vec<Vec<Option<Answer>>>,
}

impl<'c> Evidence<'c> {
    /// # Panics
    /// If there are fewer simulations than points.
    pub(super) fn new(claim: &'c Claim, simulations: &'c [Simulation]) -> Self {
        let mut rest = simulations;
        let mut of_course = |points: usize| {
            let (first, others) = rest.split_at(points);
            rest = others;
            first
        };
        let courses = || claim.courses.iter();
        let simulations = match claim.needs_simulation() {
            true => courses().map(|course| of_course(course.points.len())).collect(),
            false => Vec::new(),
        };
        let needs_distribution = claim.asked.iter().any(Asked::needs_distribution);
        let answers = match claim.by.model() {
            Some(model) => courses()
                .map(|course| {
                    let points = course.points.iter();
                    points.map(|point| solve(model, &point.scenario, needs_distribution)).collect()
                })
                .collect(),
            None => Vec::new(),
        };
        Self { claim, simulations, answers }
    }

    /// By whom the claim is to be judged: a class along a course.
    pub(super) fn curve(&self, course: usize, class: &str, asked: &Asked) -> Curve {
        self.curve_by(self.claim.by, course, class, asked)
    }

    /// A class along a course, by a model or the simulation.
    pub(super) fn curve_by(&self, by: Origin, course: usize, class: &str, asked: &Asked) -> Curve {
        let readings = match asked {
            Asked::Measure(measure) => self.readings(by, course, class, *measure),
            Asked::Phases { column, at } => self.phases(by, course, class, &column.field, at),
        };
        Curve { subject: self.subject(course, class), readings }
    }

    fn readings(&self, by: Origin, course: usize, class: &str, measure: Measure) -> Vec<Reading> {
        let points = &self.claim.courses[course].points;
        // frames that come at a steady rate have an interval and are late whether they fall behind or not; circuits are
        // set up before, and saturated switches deliver packets
        let ends_in_saturation = !match measure.quantity {
            Quantity::FrameInterval | Quantity::LateFrames | Quantity::AcceptedRate => true,
            quantity if quantity.is_of_frame_deadlines() => true,
            quantity => quantity.is_of_circuits() || quantity.is_of_packets(),
        };
        let reading = |(at, x): (usize, Option<f64>)| match by.model() {
            None => {
                let simulation = &self.simulations[course][at];
                let class = simulation.classes.iter().find(|found| found.name == class);
                Reading {
                    x,
                    found: class.and_then(|class| class.value(measure)),
                    saturated: ends_in_saturation && class.is_some_and(|class| class.saturated),
                }
            }
            Some(_) => {
                let answer = self.answers[course][at].as_ref();
                let class = answer.and_then(|answer| answer.classes.iter().find(|found| found.name == class));
                let value = class.and_then(|class| class.value(measure));
                let saturated = ends_in_saturation && class.is_some_and(|class| class.saturated);
                Reading { x, found: value.map(exact), saturated }
            }
        };
        points.iter().map(|point| point.x).enumerate().map(reading).collect()
    }

    /// The phases of the only scenario of a course, those of them that are judged.
    fn phases(&self, by: Origin, course: usize, class: &str, field: &str, at: &[f64]) -> Vec<Reading> {
        let scenario = self.claim.courses[course].scenario(0);
        let sections: Option<&Sections> = match by.model() {
            None => self.simulations[course].first().map(|one| &one.sections),
            Some(_) => {
                self.answers[course].first().and_then(|answer| answer.as_ref().map(|one| &one.sections))
            }
        };
        let section = sections.and_then(|sections| sections.find(phases::SECTION));
        let along = MixAxis::of(scenario);
        let reading = |one: phases::PhaseReading| {
            let x = one.x(along).filter(|x| at.is_empty() || at.contains(x))?;
            // what a model says is exact
            let found = one.found.map(|found| if by.model().is_some() { exact(found.value) } else { found });
            Some(Reading { x: Some(x), found, saturated: one.saturated })
        };
        let found = section.map_or(Vec::new(), |one| phases::readings(one, field, class));
        let mut readings: Vec<Reading> = found.into_iter().filter_map(reading).collect();
        readings.sort_by(|a, b| a.x.partial_cmp(&b.x).unwrap_or(std::cmp::Ordering::Equal));
        readings
    }

    /// The model beside the simulation, point by point.
    pub(super) fn rows(&self, course: usize, class: &str, measure: Measure) -> Vec<(Option<f64>, Row)> {
        let points = self.claim.courses[course].points.iter().map(|point| point.x);
        let pairs = points.zip(&self.answers[course]).zip(self.simulations[course]);
        let one = |((x, answer), simulation): ((Option<f64>, &Option<Answer>), &Simulation)| {
            let answer = answer.as_ref()?;
            let model = answer.classes.iter().find(|found| found.name == class)?;
            let simulated = simulation.classes.iter().find(|found| found.name == class)?;
            Some((x, row(answer.model, model, simulated, measure, 0.0)))
        };
        pairs.filter_map(one).collect()
    }

    /// Whether the model has an answer at any point.
    pub(super) fn is_answered(&self) -> bool {
        self.answers.iter().flatten().any(Option::is_some)
    }

    /// What a curve is called.
    pub(super) fn subject(&self, course: usize, class: &str) -> String {
        let courses = &self.claim.courses;
        match courses[course].label.as_str() {
            label if courses.len() > 1 && !label.is_empty() => format!("{class} ({label})"),
            _ => class.to_owned(),
        }
    }
}

fn exact(value: f64) -> ConfidenceInterval {
    ConfidenceInterval { value, lower_95: Some(value), upper_95: Some(value) }
}

/// `None` where the model has no answer.
fn solve(model: Model, scenario: &Scenario, distributions: bool) -> Option<Answer> {
    let options = Options { distributions, saturation_loads: false, ..Options::default() };
    model.solve(scenario, &options).ok()
}
