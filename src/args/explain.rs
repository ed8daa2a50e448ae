//! Options of `flitwise explain`.

use clap::{Args, ValueEnum};
use clap_complete::engine::ArgValueCandidates;
use flitwise_models::model::Model;

use super::{NOT_EXPLAINED, Source, model};
use crate::complete;

pub(crate) const EXAMPLES: &str = "\
Examples:
  flitwise explain                                   the paper's equations with the numbers of Table 1
  flitwise explain --class R2 --set class.R2.rate=0.004
  flitwise explain --preset cube6 --class R1 --from 000000 --to 101100
  flitwise explain --format html > explained.html
  flitwise explain --format latex > explained.tex
  flitwise explain --diagram svg > chain.svg         the Markov chain alone
  flitwise explain --model refined
  flitwise explain --preset mediaworm-quick --class video     why the intervals of frames vary

The published model is explained if none is named: its equations are those of the 2005 paper. Of streams of
frames it is the mediaworm model. Every number is the solver's own, of its last iteration. --diagram prints
the chain of one link (--channel in a hypercube) instead of the text; html contains it anyway.
Exit codes: 0 explained (saturated included), 1 output not written, 2 bad input or a scenario that the model
refuses (what it refuses is explained), 3 not converged (how far it came is explained).";

#[derive(Debug, Args)]
pub(crate) struct Explain {
    #[command(flatten)]
    pub(crate) source: Source,
    /// Which model to explain [default: published, whose equations are closed formulas; mediaworm of streams of
    /// frames].
    #[arg(long, value_name = "MODEL", value_parser = model(NOT_EXPLAINED))]
    pub(crate) model: Option<Model>,
    /// Explain this class only [default: all].
    #[arg(long, value_name = "NAME", add = ArgValueCandidates::new(complete::classes))]
    pub(crate) class: Option<String>,
    /// How to print it.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: ExplainFormat,
    /// Show the chain of this channel of a hypercube: a dimension, or `ejection`.
    #[arg(long, value_name = "CHANNEL", default_value = "0")]
    pub(crate) channel: String,
    /// In a hypercube, follow a message from this node, in binary.
    #[arg(long, value_name = "NODE", requires = "to")]
    pub(crate) from: Option<String>,
    /// To this node.
    #[arg(long, value_name = "NODE", requires = "from")]
    pub(crate) to: Option<String>,
    /// Print the Markov chain of a link as a drawing instead.
    #[arg(long, value_enum, value_name = "KIND", conflicts_with_all = ["format", "from", "class"])]
    pub(crate) diagram: Option<DiagramKind>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExplainFormat {
    /// For reading in a terminal.
    #[default]
    Terminal,
    /// A document for pdflatex.
    Latex,
    /// One page that needs nothing else.
    Html,
    /// Versioned document: the same steps as data.
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DiagramKind {
    /// A picture.
    Svg,
    /// For Graphviz.
    Dot,
}
