//! An explanation as JSON.

use flitwise_language::scenario::ScenarioSpec;
use flitwise_models::model::Model;
use schemars::JsonSchema;
use serde::Serialize;

use super::derivation::{Derivation, Section};

/// The explanation of `flitwise explain --format json`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ExplainDocument {
    /// `flitwise.explain/1`.
    schema: &'static str,
    /// Version of flitwise that made it.
    flitwise_version: &'static str,
    /// Which model is explained.
    model: Model,
    /// The scenario asked about.
    #[serde(serialize_with = "ScenarioSpec::serialize_plainly")]
    scenario: ScenarioSpec,
    /// How it ended.
    outcome: Outcome,
    /// Sections, in the order in which they are to be read.
    sections: Vec<Section>,
}

/// How a solve ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Outcome {
    /// Every class has an answer.
    Answered,
    /// Some class is saturated.
    Saturated,
    /// The model has not what the scenario holds.
    Refused,
    /// No fixed point was found.
    NotConverged,
}

impl ExplainDocument {
    pub(super) fn new(
        model: Model,
        scenario: ScenarioSpec,
        outcome: Outcome,
        derivation: Derivation,
    ) -> Self {
        let (schema, flitwise_version) = ("flitwise.explain/1", env!("CARGO_PKG_VERSION"));
        Self { schema, flitwise_version, model, scenario, outcome, sections: derivation.sections }
    }
}
