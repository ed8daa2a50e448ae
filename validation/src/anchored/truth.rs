//! Are the intervals true? Random families of scenarios, anchored, against fresh simulations.
//!
//! A [`Family`] is a random scenario of [`crate::accuracy`] and one to three axes: the load; the load and the buffer;
//! the load, the buffer and the part of one class in it. Its highest load is 85 % of what the refined model takes for
//! saturation. Anchors are placed on a grid; the answers are judged off that grid, by simulations of another seed.

use flitwise_language::quantity::{Measure, Quantity};
use flitwise_language::scenario::{ClassKind, DeadlineSpec, Scenario, ScenarioSpec};
use flitwise_models::answer::ClassAnswer;
use flitwise_models::model::{Model, Options};
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    AnchorPlacement, Anchored, CorrectedAnswer, MOST_AXES, Place, StopReason, Wish, load_share, place,
};
use crate::accuracy::{Case, Part};
use flitwise_experiment::answer::Simulation;

/// The highest load, as a share of the load of saturation.
pub const HIGHEST: f64 = 0.85;
/// The lowest, as a share of the highest.
const LOWEST: f64 = 0.12;
/// Factor on the buffer at the end of its axis.
const LARGER: f64 = 3.0;
/// Factors on the rate of a class at the ends of its axis.
const SHARES: [f64; 2] = [0.5, 1.5];
/// Points of a grid along each axis, by the number of axes.
const POINTS: [usize; 3] = [16, 7, 5];
/// Irrational numbers whose multiples fill a line, a square and a cube evenly (M. Roberts, 2018).
const EVENLY: [&[f64]; 3] = [
    &[0.618_033_988_7],
    &[0.754_877_666_2, 0.569_840_291_0],
    &[0.819_172_513_4, 0.671_043_606_7, 0.549_700_477_9],
];

/// A family that was judged.
#[derive(Clone, Debug)]
pub struct JudgedFamily {
    /// The anchors.
    pub placed: AnchorPlacement,
    /// Numbers at places off the grid of anchors.
    pub judged: Vec<JudgedNumber>,
}

/// Scenarios that vary along a few axes.
#[derive(Clone, Debug)]
pub struct Family {
    /// The case that it was made of.
    pub name: String,
    /// Number of axes.
    pub axes: usize,
    /// At the highest load.
    base: ScenarioSpec,
}

/// A number of a family judged by a fresh simulation.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct JudgedNumber {
    /// Name of the family.
    pub family: String,
    /// Number of its axes.
    pub axes: usize,
    /// Kind of the class.
    pub kind: ClassKind,
    /// What it is.
    #[serde(flatten)]
    pub measure: Measure,
    /// Error of the published model: a share of the simulated number, or a difference of probabilities; none if it has
    /// no such number.
    pub published: Option<f64>,
    /// Error of the refined model alone.
    pub refined: f64,
    /// Error of the anchored one.
    pub anchored: f64,
    /// Half of its interval, in the same unit.
    pub half_width: f64,
    /// That of the judging simulation.
    pub noise: f64,
}

impl JudgedNumber {
    /// Whether the difference of the two is within what their intervals allow.
    pub fn is_covered(&self) -> bool {
        self.anchored.abs() <= self.half_width.hypot(self.noise)
    }
}

impl Part {
    /// A family of every so many of the cases, as far as the refined model answers them.
    pub fn families(&self, cases: &[&Case]) -> Vec<Family> {
        let chosen: Vec<&Case> = cases.iter().copied().step_by(self.every).collect();
        chosen.into_par_iter().filter_map(|case| Family::of(case, self.axes)).collect()
    }

    /// Places the anchors of a family and judges it. `simulate` is told whether it is for an anchor; it gives `None` if
    /// it was interrupted.
    pub fn judge(
        &self,
        family: &Family,
        precision: f64,
        simulate: &mut dyn FnMut(&Scenario, bool) -> Option<Simulation>,
    ) -> Option<JudgedFamily> {
        let wish = Wish::new(self.anchors, precision);
        let placed = place(&family.places(), &wish, &mut |_, scenario| simulate(scenario, true));
        if placed.stopped == StopReason::Interrupted {
            return None;
        }
        let mut judged = Vec::new();
        for place in family.judged_places(self.judged) {
            judged.extend(family.judge(&placed.anchored, &place, &simulate(&place.scenario, false)?));
        }
        Some(JudgedFamily { placed, judged })
    }
}

impl Family {
    /// The family of a case with so many axes.
    ///
    /// # Panics
    /// Unless there are one to three.
    pub fn of(case: &Case, axes: usize) -> Option<Self> {
        assert!((1..=POINTS.len().min(MOST_AXES)).contains(&axes), "found {axes} axes");
        let name = format!("{} over {axes}", case.name);
        let mut family = Self { name, axes, base: case.scenario.spec().clone() };
        let load = |family: &Self, factor: f64| {
            let mut spec = family.clone();
            spec.base.classes.iter_mut().for_each(|class| class.rate *= factor);
            // the heaviest corner
            let scenario = spec.scenario(&[1.0, 0.0, 1.0][..axes])?;
            let options = Options { distributions: false, saturation_loads: false, ..Options::default() };
            let answer = Model::Refined.solve(&scenario, &options).ok()?;
            Some(load_share(&answer))
        };
        load(&family, 1e-3)?;
        let (mut low, mut high) = (1e-3, 4.0);
        for _ in 0..14 {
            let middle = f64::midpoint(low, high);
            let is_below = load(&family, middle).is_some_and(|share| share <= HIGHEST);
            *if is_below { &mut low } else { &mut high } = middle;
        }
        family.base.classes.iter_mut().for_each(|class| class.rate *= low);
        family.add_deadlines()?;
        Some(family)
    }

    /// Deadlines that half of the messages and a tenth of them miss at the middle of the family.
    fn add_deadlines(&mut self) -> Option<()> {
        let middle = vec![0.5; self.axes];
        let answer = Model::Refined.solve(&self.scenario(&middle)?, &Options::default()).ok()?;
        for (class, found) in self.base.classes.iter_mut().zip(&answer.classes) {
            let percentiles = &found.latency_percentiles_cycles;
            let cycles = [percentiles.p50, percentiles.p90].into_iter().flatten();
            class.deadlines = cycles.map(|cycles| DeadlineSpec::at(cycles, None)).collect();
        }
        Some(())
    }

    /// The scenario at a place.
    pub fn scenario(&self, at: &[f64]) -> Option<Scenario> {
        let mut spec = self.base.clone();
        let load = LOWEST + (1.0 - LOWEST) * at[0];
        spec.classes.iter_mut().for_each(|class| class.rate *= load);
        if let Some(along) = at.get(1) {
            let buffer = f64::from(spec.router.buffer_flits) * LARGER.powf(*along);
            spec.router.buffer_flits = buffer.round() as u32;
        }
        if let (Some(along), Some(last)) = (at.get(2), spec.classes.last_mut()) {
            let [from, to] = SHARES;
            last.rate *= from + (to - from) * along;
        }
        spec.check().ok()
    }

    fn solved(&self, at: Vec<f64>) -> Option<Place> {
        let scenario = self.scenario(&at)?;
        let options = Options { saturation_loads: false, ..Options::default() };
        let model = Model::Refined.solve(&scenario, &options).ok()?;
        Some(Place { at, scenario, model })
    }

    /// The places that anchors are chosen from.
    pub fn places(&self) -> Vec<Place> {
        let along = POINTS[self.axes - 1];
        let place = |index: usize| {
            let step = |axis: u32| (index / along.pow(axis)) % along;
            let at = (0..self.axes as u32).map(|axis| step(axis) as f64 / (along - 1) as f64).collect();
            self.solved(at)
        };
        (0..along.pow(self.axes as u32)).into_par_iter().filter_map(place).collect()
    }

    /// So many places off that grid, spread evenly.
    pub fn judged_places(&self, count: usize) -> Vec<Place> {
        let place = |index: usize| {
            let steps = EVENLY[self.axes - 1];
            let at = steps.iter().map(|step| (0.5 + (index + 1) as f64 * step).fract()).collect();
            self.solved(at)
        };
        (0..count).into_par_iter().filter_map(place).collect()
    }

    /// What was learnt, put beside a fresh simulation of a place.
    pub fn judge(&self, anchored: &Anchored, place: &Place, simulation: &Simulation) -> Vec<JudgedNumber> {
        let CorrectedAnswer { answer, intervals } = anchored.correct(&place.at, place.model.clone());
        let options = Options { saturation_loads: false, ..Options::default() };
        let published = Model::Published.solve(&place.scenario, &options).ok();
        let mut all = Vec::new();
        for (index, (class, own)) in answer.classes.iter().zip(&intervals).enumerate() {
            for measure in asked(class) {
                let simulated = simulation.classes[index].value(measure);
                let found = (class.value(measure), own.of(measure, class));
                let (Some(simulated), (Some(value), Some(interval))) = (simulated, found) else { continue };
                let (Some(model), Some(noise)) =
                    (place.model.classes[index].value(measure), simulated.half_width_95())
                else {
                    continue;
                };
                let is_share = measure.quantity == Quantity::MissProbability;
                let unit = if is_share { 1.0 } else { simulated.value };
                let published = published.as_ref().and_then(|answer| answer.classes[index].value(measure));
                all.push(JudgedNumber {
                    family: self.name.clone(),
                    axes: self.axes,
                    kind: class.kind,
                    measure,
                    published: published.map(|number| (number - simulated.value) / unit),
                    refined: (model - simulated.value) / unit,
                    anchored: (value - simulated.value) / unit,
                    half_width: interval.half_width(value) / unit,
                    noise: noise / unit,
                });
            }
        }
        all
    }
}

/// What is judged.
pub const JUDGED: [Quantity; 6] = [
    Quantity::NetworkLatency,
    Quantity::Waiting,
    Quantity::TotalLatency,
    Quantity::P90,
    Quantity::P99,
    Quantity::MissProbability,
];

/// What is judged of a class.
fn asked(class: &ClassAnswer) -> Vec<Measure> {
    let deadlines = class.deadlines.iter();
    let misses = deadlines.map(|one| Measure::miss(one.deadline_cycles, one.hops));
    let others = JUDGED.iter().filter(|quantity| **quantity != Quantity::MissProbability);
    others.map(|quantity| (*quantity).into()).chain(misses).collect()
}

/// Errors of a quantity over families.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Summary {
    /// Numbers judged.
    pub count: usize,
    /// Mean and worst absolute error of the published model, where it has a number.
    pub published: Option<[f64; 2]>,
    /// Mean and worst absolute error of the refined model.
    pub refined: [f64; 2],
    /// The same of the anchored one.
    pub anchored: [f64; 2],
    /// Mean half-width of its intervals.
    pub half_width: f64,
    /// Share of the numbers that are covered.
    pub coverage: f64,
}

/// The errors of those that are meant.
pub fn summary<'j>(all: impl Iterator<Item = &'j JudgedNumber>) -> Summary {
    let all: Vec<&JudgedNumber> = all.collect();
    let count = all.len().max(1) as f64;
    let errors = |of: &dyn Fn(&JudgedNumber) -> Option<f64>| {
        let errors: Vec<f64> = all.iter().filter_map(|one| of(one)).map(f64::abs).collect();
        let worst = errors.iter().copied().reduce(f64::max)?;
        Some([errors.iter().sum::<f64>() / errors.len() as f64, worst])
    };
    Summary {
        count: all.len(),
        published: errors(&|one| one.published),
        refined: errors(&|one| Some(one.refined)).unwrap_or_default(),
        anchored: errors(&|one| Some(one.anchored)).unwrap_or_default(),
        half_width: all.iter().map(|one| one.half_width).sum::<f64>() / count,
        coverage: all.iter().filter(|one| one.is_covered()).count() as f64 / count,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accuracy::Plan;

    fn judged(anchored: f64, half_width: f64) -> JudgedNumber {
        JudgedNumber {
            family: "one".to_owned(),
            axes: 1,
            kind: ClassKind::RealTime,
            measure: Quantity::NetworkLatency.into(),
            published: None,
            refined: -0.02,
            anchored,
            half_width,
            noise: 0.003,
        }
    }

    #[test]
    fn errors_are_summed_up() {
        let all = [judged(0.01, 0.004), judged(-0.002, 0.004), judged(0.005, 0.004), judged(0.0, 0.0)];
        let found = summary(all.iter());
        assert_eq!((found.count, found.refined, found.coverage), (4, [0.02, 0.02], 0.75));
        assert_eq!(found.published, None);
        assert!((found.anchored[0] - 0.004_25).abs() < 1e-12 && found.anchored[1] == 0.01);
        assert!((found.half_width - 0.003).abs() < 1e-12);
    }

    #[test]
    fn a_family_ends_below_saturation() {
        let plan = Plan::registered("tuning").unwrap();
        let case = &plan.cases()[0];
        for axes in 1..=3 {
            let family = Family::of(case, axes).expect("the refined model answers it");
            let heaviest = family.solved([1.0, 0.0, 1.0][..axes].to_vec()).unwrap();
            let load = load_share(&heaviest.model);
            assert!((HIGHEST - 0.01..=HIGHEST).contains(&load), "{axes} axes: {load}");
            assert_eq!(family.places().len(), POINTS[axes - 1].pow(axes as u32));
            let places = family.judged_places(5);
            assert!(places.len() == 5 && places.iter().all(|place| place.at.len() == axes));
        }
    }
}
