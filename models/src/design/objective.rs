//! What is to be as small or as large as it can: `CLASS: QUANTITY`, or `max(..)` or `sum(..)` of it over classes.

use schemars::JsonSchema;
use serde::Serialize;

use super::requirement::{Wrong, class_and_quantity};
use super::{Judge, Requirement};
use crate::answer::Answer;
use flitwise_language::document::Fault;
use flitwise_language::quantity::{Measure, Quantity};
use flitwise_language::scenario::{Scenario, ScenarioSpec};

/// A number to minimise or maximise.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Objective {
    /// How classes are put together.
    pub over: Over,
    /// Which class; `null`: all that send.
    pub class: Option<String>,
    /// Which quantity.
    #[serde(flatten)]
    pub measure: Measure,
}

/// How the numbers of several classes become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Over {
    /// There is one class.
    One,
    /// The largest.
    Max,
    /// The sum.
    Sum,
}

impl Objective {
    /// Reads an objective on classes of `scenario`, typed after `option`.
    ///
    /// # Errors
    /// Every fault of it.
    pub fn read(option: &str, typed: &str, scenario: &ScenarioSpec) -> Result<Self, Vec<Fault>> {
        const WANTED: &str = "CLASS: QUANTITY, max(*: QUANTITY) or sum(*: QUANTITY)";
        let plain = typed.trim();
        let within = |word: &str| {
            let inner = plain.strip_prefix(word)?.trim_start().strip_prefix('(')?;
            inner.strip_suffix(')')
        };
        let (over, inner) = match (within("max"), within("sum")) {
            (Some(inner), _) => (Over::Max, inner),
            (_, Some(inner)) => (Over::Sum, inner),
            _ => (Over::One, plain),
        };
        let found = class_and_quantity(inner, scenario, WANTED).and_then(|(class, measure)| {
            if class.is_none() && over == Over::One {
                let asked = measure.typed();
                let help = Some(format!("max(*: {asked}) or sum(*: {asked})"));
                return Err(vec![Wrong::new("all classes without max or sum", WANTED, help)]);
            }
            Ok(Self { over, class, measure })
        });
        found.map_err(|wrong| wrong.into_iter().map(|wrong| wrong.at(option, typed)).collect())
    }

    /// What the model that answers has no number for, as [`Judge::unanswerable`].
    pub fn unanswerable(&self, judge: &Judge, scenario: &Scenario) -> Vec<String> {
        let asked = Requirement::new(self.class.clone(), self.measure, 0.0);
        Judge::new(judge.model, vec![asked]).unanswerable(scenario)
    }

    /// Its value; `None` where a class has none.
    pub fn of(&self, judge: &Judge, scenario: &Scenario, answer: &Answer) -> Option<f64> {
        let asked = |name: &str| self.class.as_deref().is_none_or(|class| class == name);
        let classes = scenario.classes().iter().enumerate();
        let sending = classes.filter(|(_, class)| asked(&class.name) && class.rate > 0.0);
        let values = sending.map(|(index, _)| match self.measure.quantity {
            Quantity::Margin => judge.margin(scenario, index),
            _ => answer.classes[index]
                .value(self.measure)
                .filter(|value| value.is_finite() && !answer.classes[index].saturated),
        });
        let values: Option<Vec<f64>> = values.collect();
        let values = values.filter(|values| !values.is_empty())?;
        Some(match self.over {
            Over::Sum => values.iter().sum(),
            Over::One | Over::Max => values.into_iter().fold(f64::NEG_INFINITY, f64::max),
        })
    }
}

impl std::fmt::Display for Objective {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let class = self.class.as_deref().unwrap_or("*");
        let asked = self.measure.typed();
        match self.over {
            Over::One => write!(f, "{class}: {asked}"),
            Over::Max => write!(f, "max({class}: {asked})"),
            Over::Sum => write!(f, "sum({class}: {asked})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Model, Options};

    #[test]
    fn what_is_printed_can_be_read_again() {
        let spec = ScenarioSpec::default();
        for typed in ["BE: total", "max(*: miss(47))", "sum(*: network)", "max(R1: p99)"] {
            assert_eq!(Objective::read("--minimise", typed, &spec).unwrap().to_string(), typed);
        }
        for typed in
            ["*: total", "max(total)", "mean(*: total)", "max(*: totl)", "max(R7: total)", "max(*: total"]
        {
            assert!(Objective::read("--minimise", typed, &spec).is_err(), "{typed}");
        }
    }

    #[test]
    fn sums_and_maxima_are_over_classes_that_send() {
        let mut spec = ScenarioSpec::default();
        spec.classes[1].rate = 0.0;
        let scenario = spec.clone().check().unwrap();
        let answer = Model::Published.solve(&scenario, &Options::default()).unwrap();
        let judge = Judge::new(Some(Model::Published), Vec::new());
        let of = |typed: &str| Objective::read("", typed, &spec).unwrap().of(&judge, &scenario, &answer);
        let total = |class: usize| answer.classes[class].total_latency_cycles.unwrap();
        assert_eq!(of("sum(*: total)"), Some(total(0) + total(2)));
        assert_eq!(of("max(*: total)"), Some(total(2)));
        assert_eq!(of("R2: total"), None);
    }
}
