//! `flitwise solve --distribution`: the whole distribution of every class's network latency.

use flitwise_language::scenario::ClassKind;
use flitwise_models::answer::{Answer, ClassAnswer, LatencyDistribution};
use flitwise_models::model::Model;
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::Format;
use crate::outcome::Exit;
use crate::output::{self, Rows, share};

const HEADS: [&str; 5] = ["model", "class", "latency_cycles", "at_most_probability", "more_than_probability"];

/// The answer of `flitwise solve --distribution --format json`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct DistributionDocument {
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
    fn of(answer: &Answer) -> Self {
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
    fn rows(&self) -> impl Iterator<Item = (&str, usize, f64)> {
        self.classes.iter().flat_map(|class| {
            let LatencyDistribution { first_cycle, at_most_probability } = &class.latency_distribution;
            let cycles = *first_cycle as usize..;
            cycles.zip(at_most_probability).map(|(cycle, p)| (class.name.as_str(), cycle, *p))
        })
    }
}

/// The cumulated distribution of every class that has one.
pub(super) fn write(answer: &Answer, format: Format) -> Result<(), Exit> {
    let document = DistributionDocument::of(answer);
    let model = answer.model.word();
    match format {
        Format::Json => output::write_json(&document),
        Format::Csv => {
            let mut table = csv::Writer::from_writer(Vec::new());
            table.write_record(HEADS)?;
            for (class, cycle, p) in document.rows() {
                let (cycle, at_most, more) = (cycle.to_string(), p.to_string(), (1.0 - p).to_string());
                table.write_record([model, class, &cycle, &at_most, &more])?;
            }
            output::write_csv(table)
        }
        Format::Table | Format::Markdown => {
            let mut table = Rows::new(&HEADS, format == Format::Markdown);
            for (class, cycle, p) in document.rows() {
                let (at_most, more) = (share(Some(p)), share(Some(1.0 - p)));
                table.add([model.to_owned(), class.to_owned(), cycle.to_string(), at_most, more]);
            }
            output::write(table.to_string().as_bytes())
        }
    }
}
