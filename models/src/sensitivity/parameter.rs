//! What an answer depends on: rates, shares, lengths, the router and the network.

use schemars::JsonSchema;
use serde::Serialize;

use crate::document::{Fault, Place, nearest};
use crate::scenario::{ClassKind, NetworkSpec, Scenario, ScenarioSpec};

/// A number of the scenario, or the same one of all classes, as it is set by `--set`.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Its key in the scenario, such as `class.R1.rate` or `class.*.message_flits`.
    pub key: String,
    pub(super) of: Of,
    /// The classes that it acts through, for those of classes.
    pub(super) classes: Vec<usize>,
}

/// What a parameter is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Of {
    Rate,
    Vtick,
    MessageFlits,
    BufferFlits,
    PipelineStages,
    Ports,
    Dimension,
}

/// What kind of number a parameter is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ParameterKind {
    /// Any number.
    Real,
    /// A whole number that the published model's equations take any real number for.
    RelaxedWhole,
    /// A whole number that only its neighbours can be put for.
    Whole,
}

impl ParameterKind {
    /// The word for it in output.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Real => "real",
            Self::RelaxedWhole => "relaxed-whole",
            Self::Whole => "whole",
        }
    }
}

/// The keys of a class's parameters.
const OF_CLASSES: [(Of, &str); 3] =
    [(Of::Rate, "rate"), (Of::Vtick, "vtick"), (Of::MessageFlits, "message_flits")];

impl Parameter {
    /// All parameters of a scenario: rates, Vticks (given or implied), lengths, buffer, pipeline, size.
    pub fn all(scenario: &Scenario) -> Vec<Self> {
        let mut all = Vec::new();
        for (of, key) in OF_CLASSES {
            for (index, class) in scenario.classes().iter().enumerate() {
                if of != Of::Vtick || vtick(scenario.spec(), index).is_some() {
                    all.push(Self { key: format!("class.{}.{key}", class.name), of, classes: vec![index] });
                }
            }
        }
        all.extend(Self::of_routers(scenario));
        all
    }

    fn of_routers(scenario: &Scenario) -> Vec<Self> {
        let size = match scenario.network() {
            NetworkSpec::Router { .. } => (Of::Ports, "network.ports"),
            NetworkSpec::Hypercube { .. } => (Of::Dimension, "network.dimension"),
        };
        [(Of::BufferFlits, "router.buffer_flits"), (Of::PipelineStages, "router.pipeline_stages"), size]
            .map(|(of, key)| Self { key: key.to_owned(), of, classes: Vec::new() })
            .into()
    }

    /// Those of several classes that may be asked for as one, such as `class.*.rate`.
    fn of_all_classes(scenario: &Scenario) -> Vec<Self> {
        let classes = |of: Of| {
            let has = |index: &usize| of != Of::Vtick || vtick(scenario.spec(), *index).is_some();
            (0..scenario.classes().len()).filter(has).collect::<Vec<_>>()
        };
        let joint =
            OF_CLASSES.map(|(of, key)| Self { key: format!("class.*.{key}"), of, classes: classes(of) });
        joint.into_iter().filter(|parameter| !parameter.classes.is_empty()).collect()
    }

    /// The parameter of that key.
    ///
    /// # Errors
    /// When the scenario has none of that key, with the nearest that it has.
    pub fn find(key: &str, scenario: &Scenario) -> Result<Self, Fault> {
        let mut all = Self::all(scenario);
        all.extend(Self::of_all_classes(scenario));
        if let Some(found) = all.iter().find(|parameter| parameter.key == key.trim()) {
            return Ok(found.clone());
        }
        let keys: Vec<&str> = all.iter().map(|parameter| parameter.key.as_str()).collect();
        let near = nearest(key, keys.iter().copied()).map(|near| format!("did you mean {near}?"));
        Err(Fault {
            place: Place::Setting(format!("--parameter {key}").into()),
            key: String::new(),
            found: format!("no parameter \"{key}\""),
            wanted: "class.NAME.rate, class.NAME.vtick (real-time), class.NAME.message_flits, router.buffer_flits, \
                     router.pipeline_stages, network.ports (router) or network.dimension (cube); class.* for all classes"
                .to_owned(),
            help: near,
        })
    }

    /// Its value in `spec`, one for each class that it acts through.
    pub(super) fn values(&self, spec: &ScenarioSpec) -> Vec<f64> {
        let of_class = |index: &usize| match self.of {
            Of::Rate => spec.classes[*index].rate,
            Of::Vtick => vtick(spec, *index).unwrap_or(0.0),
            _ => f64::from(spec.classes[*index].message_flits),
        };
        match (self.of, spec.network) {
            (Of::Rate | Of::Vtick | Of::MessageFlits, _) => self.classes.iter().map(of_class).collect(),
            (Of::BufferFlits, _) => vec![f64::from(spec.router.buffer_flits)],
            (Of::PipelineStages, _) => vec![f64::from(spec.router.pipeline_stages)],
            (Of::Ports | Of::Dimension, NetworkSpec::Router { ports: size }) => vec![f64::from(size)],
            (Of::Ports | Of::Dimension, NetworkSpec::Hypercube { dimension: size }) => vec![f64::from(size)],
        }
    }

    /// Its value, if all classes that it acts through have one and the same.
    pub fn value(&self, scenario: &Scenario) -> Option<f64> {
        let values = self.values(scenario.spec());
        values.iter().all(|value| *value == values[0]).then(|| values[0])
    }

    /// The mean of its values.
    pub(super) fn mean(&self, scenario: &Scenario) -> f64 {
        let values = self.values(scenario.spec());
        values.iter().sum::<f64>() / values.len().max(1) as f64
    }

    /// Whether it is a Vtick that no file gives: `1 / (rate * message_flits)`.
    pub fn is_implied(&self, scenario: &Scenario) -> bool {
        self.of == Of::Vtick && self.classes.iter().any(|index| scenario.classes()[*index].vtick.is_none())
    }

    /// Its unit.
    pub fn unit(&self) -> &'static str {
        match self.of {
            Of::Rate => "messages/cycle/node",
            Of::Vtick => "cycles/flit",
            Of::MessageFlits | Of::BufferFlits => "flits",
            Of::PipelineStages => "stages",
            Of::Ports => "ports",
            Of::Dimension => "dimensions",
        }
    }

    /// What kind of number it is to the published model.
    pub fn kind(&self) -> ParameterKind {
        match self.of {
            Of::Rate | Of::Vtick => ParameterKind::Real,
            Of::MessageFlits | Of::BufferFlits | Of::PipelineStages => ParameterKind::RelaxedWhole,
            Of::Ports | Of::Dimension => ParameterKind::Whole,
        }
    }

    /// The scenario with each of its values changed by `change`, which gets the value; `Err` with the door's words
    /// where there is no such scenario.
    pub(super) fn changed(
        &self,
        scenario: &Scenario,
        change: impl Fn(f64) -> f64,
    ) -> Result<Scenario, String> {
        let mut spec = scenario.spec().clone();
        let values = self.values(&spec);
        let whole = |value: f64| if value >= 0.0 { value.round() as u32 } else { 0 };
        match self.of {
            Of::Rate | Of::Vtick | Of::MessageFlits => {
                for (index, value) in self.classes.iter().zip(values) {
                    let class = &mut spec.classes[*index];
                    match self.of {
                        Of::Rate => class.rate = change(value),
                        Of::Vtick => class.vtick = Some(change(value)),
                        _ => class.message_flits = whole(change(value)),
                    }
                }
            }
            Of::BufferFlits => spec.router.buffer_flits = whole(change(values[0])),
            Of::PipelineStages => spec.router.pipeline_stages = whole(change(values[0])),
            Of::Ports | Of::Dimension => match &mut spec.network {
                NetworkSpec::Router { ports: size } | NetworkSpec::Hypercube { dimension: size } => {
                    *size = whole(change(values[0]));
                }
            },
        }
        spec.check().map_err(|faults| faults.first().map_or_else(String::new, ToString::to_string))
    }
}

/// Vtick of a real-time class, given or implied; `None` for best effort and for a silent class without one.
pub(super) fn vtick(spec: &ScenarioSpec, index: usize) -> Option<f64> {
    let class = &spec.classes[index];
    if class.kind == ClassKind::BestEffort {
        return None;
    }
    class.vtick.or_else(|| (class.rate > 0.0).then(|| 1.0 / (class.rate * f64::from(class.message_flits))))
}
