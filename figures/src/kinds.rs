//! The kinds of figure. A kind is a file here, which reads the file of a figure, assembles its picture, writes the rows
//! and draws, and a line of the list below. A picture may also be made elsewhere, as plans make regions, and a kind may
//! show a picture of another one, as a distribution shows lines.

use std::fmt;
use std::ops::Deref;

use flitwise_experiment::answer::Simulation;
use flitwise_language::document::{Fault, Place, Table};
use flitwise_language::scenario::{DeadlineSpec, Scenario};
use schemars::JsonSchema;
use serde::Serialize;

use crate::anchored::Curve;
use crate::draw::canvas::Canvas;
use crate::draw::description::{listed, over};
use crate::figure::{Figure, Printed, Reading, Sweep, Variant};
use crate::note::{self, Note};
use crate::picture::{Axis, Origin};
use crate::rows::{self, column, number};

/// Makes [`KINDS`], [`Question`] and [`Content`] from the list of kinds.
macro_rules! kinds {
    ($(
        $module:ident: $(file $question:ident)? $(,)? $(picture $content:ident($chart:ident) $meaning:literal)?;
    )+) => {
        $(pub(crate) mod $module;)+

        /// The kinds that a figure's file may name.
        pub(crate) const KINDS: &[Kind] = &[$($(Kind {
            word: $module::Question::WORD,
            keys: $module::Question::KEYS,
            sources: $module::Question::sources,
            read: |reading, root, scenario| {
                $module::Question::read(reading, root, scenario).map(Question::$question)
            },
        },)?)+];

        /// What the file of a figure asks.
        #[derive(Clone, Debug)]
        pub(crate) enum Question {
            $($($question($module::Question),)?)+
        }

        impl Deref for Question {
            type Target = dyn FigureKind;

            fn deref(&self) -> &Self::Target {
                match self {
                    $($(Self::$question(question) => question,)?)+
                }
            }
        }

        /// What is drawn.
        #[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
        #[serde(tag = "kind", rename_all = "kebab-case")]
        pub enum Content {
            $($(
                #[doc = $meaning]
                $content($module::$chart),
            )?)+
        }

        impl Content {
            pub(crate) fn chart(&self) -> &dyn Chart {
                match self {
                    $($(Self::$content(chart) => chart,)?)+
                }
            }
        }
    };
}

kinds! {
    lines: file Lines, picture Lines(Lines) "Curves of models, points of simulations with their intervals.";
    stacked: file Stacked, picture Stacked(Stacked) "Bars of parts that add up, a panel per class.";
    heat_map: file HeatMap, picture HeatMap(HeatMap) "A quantity over two axes, a panel per source.";
    distribution: file Distribution;
    bisection: file Bisection;
    chain: file Chain,
        picture Chain(Chain) "States of a Markov chain, their probabilities and the rates between them.";
    network: file Network, picture Network(NetworkMap)
        "Loads of all links of a network whose routers have coordinates.";
    network_diagram: picture NetworkDiagram(NetworkDiagram) "Loads of all links of any other network.";
    over_time: file OverTime;
    phases: file Phases;
    course: picture Course(Course) "Numbers over time, a panel for each, and below them the mix of the classes.";
    congestion_tree: file CongestionTree, picture CongestionTree(CongestionTree)
        "Stages of packet switches at chosen times, coloured by what their ports hold.";
    pipeline: file Pipeline, picture Pipeline(Pipeline) "Stages of the flits of the first messages, cycle by cycle.";
    worms: file Worms, picture Worms(Worms) "Messages under way at chosen cycles, in buffers and on links.";
    stamps: file Stamps, picture Stamps(Stamps) "Flits before an output link, their stamps, and which the link takes.";
    timeline: file Timeline, picture Timeline(Timeline) "Deliveries of the frames of streams.";
    region: picture Region(Region) "Which points of a plane are admissible, and what limits them.";
    tornado: picture Tornado(Tornado) "What a number gains and loses with each of others.";
}

/// The seed of runs of which a moment is drawn.
const SEED: u64 = 1;

/// A kind that a figure's file may name.
#[derive(Clone, Copy)]
pub(crate) struct Kind {
    pub(crate) word: &'static str,
    /// Keys of its file beside those of every kind.
    pub(crate) keys: &'static [&'static str],
    pub(crate) sources: fn() -> (&'static [Origin], Vec<Origin>),
    pub(crate) read: fn(&mut Reading<'_>, &Table<'_>, Option<&Scenario>) -> Option<Question>,
}

/// How a kind is asked for in the file of a figure.
pub(crate) trait FigureFile: Sized {
    /// The word for it.
    const WORD: &'static str;
    /// Keys of its file beside those of every kind.
    const KEYS: &'static [&'static str];

    /// Where its numbers may come from, and where from if its file does not say.
    fn sources() -> (&'static [Origin], Vec<Origin>) {
        (&Origin::NAMED, Origin::usual(None))
    }

    /// Reads what is asked; `scenario` is what the figure varies from, if that is sound.
    fn read(reading: &mut Reading<'_>, root: &Table<'_>, scenario: Option<&Scenario>) -> Option<Self>;
}

/// What a figure of a kind needs, and the picture that it becomes.
pub(crate) trait FigureKind: fmt::Debug {
    /// Where its numbers are wanted: variant by variant, row by row.
    fn points(&self) -> Vec<Spot<'_>> {
        vec![Spot { variant: None, at: Vec::new() }]
    }

    /// What varies along its rows.
    fn swept(&self) -> Option<&Sweep> {
        None
    }

    /// What its rows are called.
    fn rows(&self) -> Vec<String> {
        vec![String::new()]
    }

    /// What varies from row to row, if that is a number.
    fn row_axis(&self) -> Option<&Axis> {
        None
    }

    /// Deadlines of the classes that are drawn.
    fn deadlines(&self) -> Vec<DeadlineSpec> {
        Vec::new()
    }

    /// The class to draw, and the table that names it, if that is a table of the kind's own.
    fn class(&self) -> Option<(&'static str, &str)> {
        None
    }

    /// Whether no model is asked that a user may choose, and no campaign is simulated.
    fn is_settled(&self) -> bool {
        false
    }

    /// Whether its simulations have to measure every channel by itself, which campaigns do not.
    fn wants_details(&self) -> bool {
        false
    }

    /// Whether the simulation alone is a figure: its models may all stay away, and others have no place in it.
    fn needs_no_model(&self) -> bool {
        false
    }

    /// What else keeps a scenario from being drawn; `place` is the figure's.
    fn refused(&self, _scenario: &Scenario, _place: &Place) -> Vec<Fault> {
        Vec::new()
    }

    /// What is drawn.
    fn content(&self, figure: &Figure, runs: Runs<'_>, notes: &mut Vec<Note>) -> Content;
}

/// A point at which a figure's numbers are wanted.
pub(crate) struct Spot<'q> {
    pub(crate) variant: Option<&'q Variant>,
    /// Values of what varies.
    pub(crate) at: Vec<(&'q Sweep, f64)>,
}

impl<'q> Spot<'q> {
    /// A point for each variant.
    fn of_variants(variants: &'q [Variant]) -> Vec<Self> {
        variants.iter().map(|variant| Self { variant: Some(variant), at: Vec::new() }).collect()
    }
}

/// What was simulated for a figure.
#[derive(Clone, Copy)]
pub(crate) struct Runs<'r> {
    /// One for each of [`Figure::scenarios`], in order.
    pub(crate) simulations: &'r [Simulation],
    /// What the anchored model has learnt, by variant; empty for other models.
    pub(crate) curves: &'r [Curve],
}

/// What a picture of a kind holds.
pub(crate) trait Chart {
    /// All numbers as rows.
    fn table(&self) -> rows::Table;

    /// Where its numbers come from.
    fn origins(&self) -> Vec<Origin>;

    /// What is drawn, for readers who cannot see it.
    fn description(&self) -> String;

    /// Draws below `top`, in `room` if the height is given; the height where it ends.
    fn draw(&self, canvas: &mut Canvas<'_>, top: f64, room: Option<f64>) -> f64;

    /// The same at each of its moments, alike in layout and scale; empty of what has none.
    fn moments(&self) -> Vec<Content> {
        Vec::new()
    }

    /// As text of about `columns` columns; `None` of what has no curves.
    fn text(&self, _columns: usize) -> Option<String> {
        None
    }
}

/// Places of so many of `count`, evenly from the first to the last.
pub(crate) fn evenly(count: usize, most: usize) -> Vec<usize> {
    match most {
        _ if count <= most => (0..count).collect(),
        0 | 1 => vec![count - 1],
        _ => (0..most).map(|at| at * (count - 1) / (most - 1)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use flitwise_experiment::{self as experiment, Settings};
    use flitwise_validation::machine::Machine;

    use super::*;

    /// What is simulated for a figure.
    pub(super) fn simulated(figure: &Figure, settings: &Settings) -> Vec<Simulation> {
        let (machine, stop) = (Machine::default(), AtomicBool::new(false));
        let one =
            |scenario: &Scenario| experiment::run(scenario, settings, &machine.host(&stop), &mut ()).unwrap();
        figure.scenarios().iter().map(one).collect()
    }
}
