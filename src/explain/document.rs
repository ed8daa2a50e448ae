//! An explanation as JSON.

use flitwise_language::scenario::ScenarioSpec;
use flitwise_models::model::Model;
use schemars::JsonSchema;
use serde::Serialize;

use super::derivation::{Derivation, Entry, Instance, Part};
use super::formula::Expression;

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
    sections: Vec<SectionDocument>,
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

#[derive(Debug, Serialize, JsonSchema)]
struct SectionDocument {
    title: String,
    parts: Vec<PartDocument>,
}

/// What a section is made of.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
enum PartDocument {
    /// A paragraph; between backticks stand formulas.
    Text { text: String },
    /// An equation and what it comes to.
    Step {
        /// Its number in the paper, or where else it is from.
        equation: String,
        /// Why it holds.
        reason: String,
        formula: FormulaDocument,
        instances: Vec<InstanceDocument>,
    },
    /// A table of text and numbers.
    Table { heads: Vec<String>, rows: Vec<Vec<EntryDocument>> },
    /// Where the cycles of a message go.
    Bar { class: String, parts: Vec<BarDocument> },
    /// The Markov chain of a link.
    Chain {
        /// Which link.
        link: String,
        chain: flitwise_figures::picture::Chain,
    },
}

/// A formula in two notations.
#[derive(Debug, Serialize, JsonSchema)]
struct FormulaDocument {
    /// In one line.
    text: String,
    /// For LaTeX in math mode.
    latex: String,
}

/// An equation with numbers put in.
#[derive(Debug, Serialize, JsonSchema)]
struct InstanceDocument {
    /// Left side.
    of: Option<FormulaDocument>,
    /// Right side with numbers put in, to six digits; long sums lack terms in the middle.
    substituted: FormulaDocument,
    /// The numbers put in, in full.
    symbols: Vec<SymbolDocument>,
    /// What the solver has for the left side; `null` if there is no such number.
    value: Option<f64>,
    /// Its unit; empty for none.
    unit: &'static str,
}

/// A symbol and its number.
#[derive(Debug, Serialize, JsonSchema)]
struct SymbolDocument {
    /// The symbol as written in formulas.
    symbol: &'static str,
    number: f64,
    /// For a term of a sum: over which index, and the how manyth, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    term: Option<(&'static str, usize)>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
enum EntryDocument {
    Number(Option<f64>),
    Text(String),
}

/// One part of a bar.
#[derive(Debug, Serialize, JsonSchema)]
struct BarDocument {
    part: &'static str,
    cycles: f64,
}

impl ExplainDocument {
    pub(super) fn new(
        model: Model,
        scenario: ScenarioSpec,
        outcome: Outcome,
        derivation: &Derivation,
    ) -> Self {
        let section = |section: &super::derivation::Section| SectionDocument {
            title: section.title.clone(),
            parts: section.parts.iter().map(part).collect(),
        };
        Self {
            schema: "flitwise.explain/1",
            flitwise_version: env!("CARGO_PKG_VERSION"),
            model,
            scenario,
            outcome,
            sections: derivation.sections.iter().map(section).collect(),
        }
    }
}

fn part(part: &Part) -> PartDocument {
    match part {
        Part::Text(text) => PartDocument::Text { text: text.clone() },
        Part::Step(step) => PartDocument::Step {
            equation: step.equation.to_owned(),
            reason: step.reason.to_owned(),
            formula: (&step.formula).into(),
            instances: step.instances.iter().map(instance).collect(),
        },
        Part::Table(table) => {
            let entry = |entry: &Entry| match entry {
                Entry::Number(number) => {
                    EntryDocument::Number(Some(*number).filter(|number| number.is_finite()))
                }
                Entry::Text(text) => EntryDocument::Text(text.clone()),
            };
            let rows = table.rows.iter().map(|row| row.iter().map(entry).collect()).collect();
            PartDocument::Table { heads: table.heads.clone(), rows }
        }
        Part::Bar(bar) => {
            let parts = bar.parts.iter().map(|(part, cycles)| BarDocument { part, cycles: *cycles });
            PartDocument::Bar { class: bar.class.clone(), parts: parts.collect() }
        }
        Part::Chain(chain) => PartDocument::Chain { link: chain.link.clone(), chain: chain.chain.clone() },
    }
}

fn instance(instance: &Instance) -> InstanceDocument {
    let alone = instance.values.symbols.iter();
    let alone = alone.map(|(symbol, number)| SymbolDocument { symbol, number: *number, term: None });
    let in_sums = instance.values.series.iter().flat_map(|(index, terms)| {
        terms.iter().enumerate().flat_map(move |(place, term)| {
            let term_of = Some((*index, place));
            term.iter().map(move |(symbol, number)| SymbolDocument { symbol, number: *number, term: term_of })
        })
    });
    InstanceDocument {
        of: instance.of.as_ref().map(FormulaDocument::from),
        substituted: (&instance.substituted).into(),
        symbols: alone.chain(in_sums).collect(),
        value: instance.value,
        unit: instance.unit,
    }
}

impl From<&Expression> for FormulaDocument {
    fn from(formula: &Expression) -> Self {
        Self { text: formula.plain(), latex: formula.latex() }
    }
}
