//! Curves of the anchored model: a family of scenarios for each variant, along the axis of the figure.

use flitwise_experiment::answer::Simulation;
use flitwise_language::scenario::{Scenario, Setting};
use flitwise_models::answer::Answer;
use flitwise_validation::anchored::{Anchored, Axis};

use crate::figure::Figure;
use crate::kinds::Question;
use crate::picture::Origin;

/// A variant of a figure of curves.
#[derive(Clone, Debug)]
pub struct Family {
    /// What the legend says of it; empty if there is one only.
    pub label: String,
    /// The key along the axis.
    pub key: String,
    /// Values of the axis, with their scenarios.
    pub points: Vec<(f64, Scenario)>,
    /// How far along the axis they lie.
    axis: Axis,
}

impl Family {
    /// How far along the axis a value lies.
    pub fn share(&self, value: f64) -> f64 {
        self.axis.share(value)
    }

    /// The value that is set at a point.
    pub fn setting(&self, value: f64) -> Setting {
        Setting::new(&self.key, &value.to_string())
    }
}

/// What was learnt of a variant.
#[derive(Clone, Debug)]
pub struct Curve {
    /// The variant.
    pub family: Family,
    /// What was learnt.
    pub anchored: Anchored,
    /// What to say below the figure.
    pub remarks: Vec<String>,
}

impl Curve {
    /// The anchors' simulations in the order of the axis, with the values there.
    pub fn simulations(&self) -> Vec<(f64, &Simulation)> {
        let anchors = self.anchored.anchors();
        let at = |value: f64| anchors.iter().find(|anchor| anchor.place.at == [self.family.share(value)]);
        let points = self.family.points.iter();
        let mut all: Vec<(f64, &Simulation)> =
            points.filter_map(|(value, _)| Some((*value, &at(*value)?.simulation))).collect();
        all.sort_by(|one, other| one.0.total_cmp(&other.0));
        all
    }

    /// Moves an answer of the model to what is expected of a simulation.
    pub(crate) fn correct(&self, value: f64, answer: Answer) -> crate::assemble::ModelAnswer {
        let corrected = self.anchored.correct(&[self.family.share(value)], answer);
        crate::assemble::ModelAnswer { answer: corrected.answer, intervals: corrected.intervals }
    }
}

impl Figure {
    /// Asks for the anchored model in place of all others; the variants that anchors are wanted for.
    ///
    /// # Errors
    /// Why it is no figure of the anchored model.
    pub fn set_anchored(&mut self) -> Result<Vec<Family>, String> {
        let Question::Lines(lines) = &self.question else {
            return Err("found no curves along an axis, wanted a figure of the kind \"lines\"\n  \
                        help: --model refined; flitwise sweep --model anchored has all numbers of a family"
                .to_owned());
        };
        let (x, variants) = (&lines.x, &lines.variants);
        let axis = Axis::over(&x.values)
            .ok_or_else(|| format!("found one value of {} only, wanted two or more", x.key))?;
        let family = |variant| {
            let point = |value: &f64| Some((*value, self.at(Some(variant), &[(x, *value)]).ok()?));
            let points = x.values.iter().filter_map(point).collect();
            Family { label: variant.label.clone(), key: x.key.clone(), points, axis }
        };
        let families: Vec<Family> = variants.iter().map(family).collect();
        let mut scenarios = families.iter().flat_map(|family| &family.points);
        let refined = flitwise_models::model::Model::Refined;
        if let Some(failure) = scenarios.find_map(|(_, scenario)| refined.supports(scenario).err()) {
            return Err(failure.to_string());
        }
        self.sources = vec![Origin::Anchored, Origin::Simulation];
        Ok(families)
    }
}
