//! Which pairs of rates are admissible: the frontier up to which all requirements hold.
//!
//! The frontier is looked for along rays from the origin, so that it may turn and even run back: all it has to be is
//! seen from there. Rays are set so that they part the picture evenly, each axis taken as long as it reaches.

use std::f64::consts::FRAC_PI_2;
use std::ops::Range;

use schemars::JsonSchema;
use serde::Serialize;

use super::crossing::{Search, first_crossing};
use super::judge::most_factor;
use super::{Binding, Judge, Requirement};
use flitwise_language::document::Fault;
use flitwise_language::quantity::Quantity;
use flitwise_language::scenario::{MIN_RATE, Scenario, ScenarioSpec};

/// How far apart, as a share, a point of the frontier and the one beyond it that breaks a requirement are.
pub const PRECISION: f64 = 1e-3;
/// The same of a lower end.
const LOW_PRECISION: f64 = 5e-3;
/// Where to look if next to no load breaks a requirement: so many places up to this multiple of the reach.
const PLACES: u32 = 24;
const BEYOND: f64 = 1.2;
/// The share of an axis that stands for no load.
const LEAST: f64 = 1e-6;

/// What is asked.
#[derive(Clone, Debug)]
pub struct Question {
    judge: Judge,
    /// With all deadlines.
    spec: ScenarioSpec,
    axes: [usize; 2],
}

/// How far each axis reaches \[messages/cycle/node\].
pub type Reach = [f64; 2];

/// A point of the frontier.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct FrontierPoint {
    /// Rate of the class of the first axis \[messages/cycle/node\].
    pub x_rate: f64,
    /// Rate of the class of the second axis \[messages/cycle/node\].
    pub y_rate: f64,
    /// From which rate on, in this direction, the requirements hold: 0 unless one is broken at low load, too
    /// \[messages/cycle/node\].
    pub from_x_rate: f64,
    /// The same of the second axis \[messages/cycle/node\].
    pub from_y_rate: f64,
    /// Which requirement breaks beyond, by its number from 0; `null`: none up to the highest rate there can be.
    pub binding_requirement: Option<usize>,
    /// What breaks beyond.
    pub binding: Option<Binding>,
    /// Whether the requirements hold here; else they do not even with next to no load in this direction.
    pub admissible: bool,
    /// Scenarios solved.
    pub evaluations: u32,
}

impl Question {
    /// Over the rates of two classes of a scenario, the others as they are. Where a class is saturated nothing is
    /// admissible, whatever is required: the last of the [requirements](Self::requirements) says so.
    ///
    /// # Errors
    /// What is wrong with the scenario once it has the deadlines of the requirements.
    pub fn new(mut judge: Judge, spec: &ScenarioSpec, axes: [usize; 2]) -> Result<Self, Vec<Fault>> {
        let is_steady = |one: &Requirement| one.class.is_none() && one.measure.quantity == Quantity::Margin;
        if !judge.requirements.iter().any(is_steady) {
            judge.requirements.push(Requirement::steady());
        }
        let spec = judge.prepared(spec);
        spec.clone().check()?;
        Ok(Self { judge, spec, axes })
    }

    /// All that must hold.
    pub fn requirements(&self) -> &[Requirement] {
        &self.judge.requirements
    }

    /// The scenario at a pair of rates, if there is such a scenario.
    pub fn scenario_at(&self, rates: [f64; 2]) -> Option<Scenario> {
        let mut spec = self.spec.clone();
        for (axis, rate) in self.axes.iter().zip(rates) {
            // what is next to nothing is nothing
            spec.classes[*axis].rate = if rate < MIN_RATE { 0.0 } else { rate };
        }
        spec.check().ok()
    }

    /// How far each axis reaches, the other rate being 0.
    pub fn reach(&self) -> Reach {
        // a link carries one flit per cycle
        let full = self.axes.map(|axis| 1.0 / f64::from(self.spec.classes[axis].message_flits));
        let end = |axis: usize| {
            let mut along = [0.0; 2];
            along[axis] = full[axis];
            let point = self.ray(along, 0.4, 1.5);
            let found = [point.x_rate, point.y_rate][axis];
            // where nothing is admissible the other axis may still be
            if found > 0.0 { found } else { full[axis] }
        };
        [end(0), end(1)]
    }

    /// Some of `count` points of the frontier, from the first axis to the second; each search begins where the one
    /// before ended.
    pub fn points(&self, reach: Reach, count: usize, some: Range<usize>) -> Vec<FrontierPoint> {
        let mut points = Vec::with_capacity(some.len());
        self.each_point(reach, count, some, &mut |_, point| points.push(point));
        points
    }

    /// The same, each point passed on with its number as soon as it is found.
    pub fn each_point(
        &self,
        reach: Reach,
        count: usize,
        some: Range<usize>,
        found: &mut dyn FnMut(usize, FrontierPoint),
    ) {
        let mut start = None;
        for index in some {
            let angle = FRAC_PI_2 * index as f64 / (count - 1).max(1) as f64;
            // the second axis exactly: its cosine is not quite 0
            let (cosine, sine) = if index + 1 == count { (0.0, 1.0) } else { (angle.cos(), angle.sin()) };
            let along = [reach[0] * cosine, reach[1] * sine];
            let point = self.ray(along, start.unwrap_or(0.9), if start.is_some() { 1.02 } else { 1.3 });
            let length = (point.x_rate / reach[0]).hypot(point.y_rate / reach[1]);
            start = Some(length).filter(|length| *length > 0.0);
            found(index, point);
        }
    }

    /// The last admissible point along a ray.
    fn ray(&self, along: [f64; 2], start: f64, stride: f64) -> FrontierPoint {
        let at = |length: f64| self.scenario_at(along.map(|rate| rate * length));
        let mut unit = self.spec.clone();
        for (axis, rate) in self.axes.iter().zip(along) {
            unit.classes[*axis].rate = rate;
        }
        let most = most_factor(&unit, &self.axes);
        let judged = |length: f64| match at(length) {
            Some(scenario) => {
                let judged = self.judge.judge(&scenario);
                (judged.excess(), Some(judged))
            }
            None => (1.0, None),
        };
        let is_well = |length: f64| judged(length).0 <= 0.0;
        let search = Search { start, stride, least: LEAST, most, precision: PRECISION, scan: 0 };
        let mut found = first_crossing(&search, judged);
        let mut evaluations = found.evaluations;
        if found.below.is_none() {
            // what is broken at low load may hold further out
            let mut places = (1..=PLACES).rev().map(|place| BEYOND * f64::from(place) / f64::from(PLACES));
            evaluations += PLACES;
            if let Some(start) = places.find(|length| is_well(*length)) {
                found = first_crossing(&Search { start, ..search }, judged);
                evaluations += found.evaluations;
            }
        }
        let mut from = 0.0;
        if let Some(below) = &found.below
            && below.at > LEAST
            && !is_well(LEAST)
        {
            let (mut broken, mut well) = (LEAST, below.at);
            while well - broken > LOW_PRECISION * below.at {
                let middle = (broken + well) / 2.0;
                *(if is_well(middle) { &mut well } else { &mut broken }) = middle;
                evaluations += 1;
            }
            from = well;
        }
        let admissible = found.below.is_some();
        let steady = found.below.as_ref().and_then(|below| below.found.as_ref());
        let broken = found.above.as_ref().and_then(|above| above.found.as_ref());
        let binding_requirement = broken.and_then(|broken| broken.foremost());
        let binding = broken
            .zip(binding_requirement)
            .map(|(broken, index)| broken.binding(&self.judge.requirements[index], index, steady));
        let length = found.below.as_ref().map_or(0.0, |below| below.at);
        let [x_rate, y_rate] = along.map(|rate| rate * length);
        let [from_x_rate, from_y_rate] = along.map(|rate| rate * from);
        FrontierPoint {
            x_rate,
            y_rate,
            from_x_rate,
            from_y_rate,
            binding_requirement,
            binding,
            admissible,
            evaluations,
        }
    }
}
