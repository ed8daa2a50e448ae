//! What an answer depends on: rates, shares, lengths, the router and the network.

use schemars::JsonSchema;
use serde::Serialize;

use flitwise_language::document::{Fault, Place, nearest};
use flitwise_language::scenario::{Key, Scenario, ScenarioSpec, Varies};

/// A number of the scenario, or the same one of all classes, as it is set by `--set`.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Its key in the scenario, such as `class.R1.rate` or `class.*.message_flits`.
    pub key: String,
    pub(super) of: Of,
    unit: &'static str,
    kind: ParameterKind,
    /// The classes that it acts through, for those of classes.
    pub(super) classes: Vec<usize>,
}

/// What a parameter is: its key in its table, such as `rate` or `buffer_flits`.
pub(super) type Of = &'static str;

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

impl Parameter {
    /// All parameters of a scenario: rates, Vticks (given or implied), lengths, buffer, pipeline, size.
    pub fn all(scenario: &Scenario) -> Vec<Self> {
        let joint = Self::joint(scenario);
        let each = |all: &Self| -> Vec<Self> {
            if all.classes.is_empty() {
                return vec![all.clone()];
            }
            let name = |index: &usize| scenario.classes()[*index].name.as_str();
            let one = |index: &usize| Self {
                key: format!("class.{}.{}", name(index), all.of),
                classes: vec![*index],
                ..all.clone()
            };
            all.classes.iter().map(one).collect()
        };
        joint.iter().flat_map(each).collect()
    }

    /// The same with those of all classes as one, such as `class.*.rate`.
    fn joint(scenario: &Scenario) -> Vec<Self> {
        // rate and Vtick of frames follow from the streams
        let has = |key: &str, index: &usize| match key {
            "rate" | VTICK if scenario.classes()[*index].source.has_frames() => false,
            VTICK => vtick(scenario.spec(), *index).is_some(),
            _ => true,
        };
        let one = |(table, key, varies): (&str, &Key, Varies)| {
            let is_of_classes = table == "class";
            let all = 0..if is_of_classes { scenario.classes().len() } else { 0 };
            let classes: Vec<usize> = all.filter(|index| has(key.name, index)).collect();
            (!is_of_classes || !classes.is_empty()).then(|| Self {
                key: format!("{table}{}{}", if is_of_classes { ".*." } else { "." }, key.name),
                of: key.name,
                unit: key.unit,
                kind: match varies {
                    Varies::Real => ParameterKind::Real,
                    Varies::Relaxed => ParameterKind::RelaxedWhole,
                    Varies::Whole => ParameterKind::Whole,
                },
                classes,
            })
        };
        let streams = Self {
            key: format!("class.*.{STREAMS}"),
            of: STREAMS,
            unit: "streams",
            kind: ParameterKind::Whole,
            classes: (0..scenario.classes().len())
                .filter(|index| scenario.classes()[*index].source.has_frames())
                .collect(),
        };
        let of_frames = (!streams.classes.is_empty()).then_some(streams);
        of_frames.into_iter().chain(scenario.spec().parameters().into_iter().filter_map(one)).collect()
    }

    /// The parameter of that key.
    ///
    /// # Errors
    /// When the scenario has none of that key, with the nearest that it has.
    pub fn find(key: &str, scenario: &Scenario) -> Result<Self, Fault> {
        let joint = Self::joint(scenario);
        let of_classes = joint.iter().filter(|parameter| !parameter.classes.is_empty());
        let mut all = Self::all(scenario);
        all.extend(of_classes.cloned());
        if let Some(found) = all.iter().find(|parameter| parameter.key == key.trim()) {
            return Ok(found.clone());
        }
        let keys: Vec<&str> = all.iter().map(|parameter| parameter.key.as_str()).collect();
        let near = nearest(key, keys.iter().copied()).map(|near| format!("did you mean {near}?"));
        let known: Vec<String> = joint.iter().map(|one| one.key.replace('*', "NAME")).collect();
        Err(Fault {
            place: Place::Setting(format!("--parameter {key}").into()),
            key: String::new(),
            found: format!("no parameter \"{key}\""),
            wanted: format!("{}; class.* for all classes", known.join(", ")),
            help: near,
        })
    }

    /// Its value in `spec`, one for each class that it acts through.
    pub(super) fn values(&self, spec: &ScenarioSpec) -> Vec<f64> {
        if self.classes.is_empty() {
            return spec.number(&self.key).into_iter().collect();
        }
        let of_class = |index: &usize| match self.of {
            VTICK => vtick(spec, *index).unwrap_or(0.0),
            key => spec.classes[*index].number(key).unwrap_or(0.0),
        };
        self.classes.iter().map(of_class).collect()
    }

    /// Its value, if all classes that it acts through have one and the same.
    pub fn value(&self, scenario: &Scenario) -> Option<f64> {
        let values = self.values(scenario.spec());
        values.iter().all(|value| *value == values[0]).then(|| values[0])
    }

    /// The mean of its values.
    pub fn mean(&self, scenario: &Scenario) -> f64 {
        let values = self.values(scenario.spec());
        values.iter().sum::<f64>() / values.len().max(1) as f64
    }

    /// Whether it is a Vtick that no file gives: `1 / (rate * message_flits)`.
    pub fn is_implied(&self, scenario: &Scenario) -> bool {
        self.of == VTICK && self.classes.iter().any(|index| scenario.classes()[*index].vtick.is_none())
    }

    /// Its unit.
    pub fn unit(&self) -> &'static str {
        self.unit
    }

    /// What kind of number it is to the published model.
    pub fn kind(&self) -> ParameterKind {
        self.kind
    }

    /// The scenario with each of its values changed by `change`, which gets the value.
    ///
    /// # Errors
    /// With the door's words where there is no such scenario.
    pub fn changed(&self, scenario: &Scenario, change: impl Fn(f64) -> f64) -> Result<Scenario, String> {
        let mut spec = scenario.spec().clone();
        let values = self.values(&spec);
        // what follows from streams of frames does so anew
        spec.classes
            .iter_mut()
            .filter(|class| class.source.has_frames())
            .for_each(|class| class.scale_load(1.0));
        for (index, value) in values.into_iter().enumerate() {
            match self.classes.get(index) {
                Some(class) => spec.classes[*class].set_number(self.of, change(value)),
                None => spec.set_number(&self.key, change(value)),
            }
        }
        spec.check().map_err(|faults| faults.first().map_or_else(String::new, ToString::to_string))
    }
}

/// The one parameter that a class has even where it is not given.
const VTICK: &str = "vtick";
/// Streams of frames at a node, from which their rate follows.
const STREAMS: &str = "source.streams";

/// Vtick of a real-time class, given or implied; `None` for best effort and for a silent class without one.
pub(super) fn vtick(spec: &ScenarioSpec, index: usize) -> Option<f64> {
    spec.classes[index].link_vtick()
}
