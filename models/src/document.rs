//! Answers as JSON documents, each with the name of its schema.

use flitwise_language::scenario::ClassKind;
use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::{Answer, ClassAnswer, LatencyDistribution};
use crate::model::Model;

/// The answer of `flitwise solve --format json`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SolveDocument {
    /// `flitwise.solve/3`.
    schema: &'static str,
    /// Version of flitwise that made it.
    flitwise_version: &'static str,
    /// The answer itself.
    #[serde(flatten)]
    answer: Answer,
}

impl SolveDocument {
    /// Of an answer.
    pub fn of(answer: Answer) -> Self {
        Self { schema: "flitwise.solve/3", flitwise_version: env!("CARGO_PKG_VERSION"), answer }
    }
}

/// The answer of `flitwise solve --distribution --format json`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DistributionDocument {
    /// `flitwise.distribution/1`.
    schema: &'static str,
    /// Version of flitwise that made it.
    flitwise_version: &'static str,
    /// Which model answers.
    model: Model,
    /// The classes that have a distribution, in the order of the scenario: not so saturated or silent ones, nor best
    /// effort in the published model.
    classes: Vec<ClassDistribution>,
}

/// One class.
#[derive(Debug, Serialize, JsonSchema)]
struct ClassDistribution {
    /// Name of the class.
    name: String,
    /// How links treat it.
    kind: ClassKind,
    /// Of the network latency of all its messages.
    latency_distribution: LatencyDistribution,
}

impl DistributionDocument {
    /// Of an answer that was asked for details.
    pub fn of(answer: &Answer) -> Self {
        let class = |class: &ClassAnswer| {
            let latency_distribution = class.latency_distribution.clone()?;
            Some(ClassDistribution { name: class.name.clone(), kind: class.kind, latency_distribution })
        };
        Self {
            schema: "flitwise.distribution/1",
            flitwise_version: env!("CARGO_PKG_VERSION"),
            model: answer.model,
            classes: answer.classes.iter().filter_map(class).collect(),
        }
    }

    /// Class, latency and the probability that it is not exceeded.
    pub fn rows(&self) -> impl Iterator<Item = (&str, usize, f64)> {
        self.classes.iter().flat_map(|class| {
            let LatencyDistribution { first_cycle, at_most_probability } = &class.latency_distribution;
            let cycles = *first_cycle as usize..;
            cycles.zip(at_most_probability).map(|(cycle, p)| (class.name.as_str(), cycle, *p))
        })
    }
}
