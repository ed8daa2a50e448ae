//! Options of `flitwise learn`.

use clap::{Args, ValueEnum};
use clap_complete::engine::ArgValueCandidates;

use crate::complete;

pub(crate) const EXAMPLES: &str = "\
Examples:
  flitwise learn                                     what lessons there are
  flitwise learn little                              the first one, up to its question
  flitwise learn little --answer                     with its answer
  flitwise learn all --format html > lessons.html    all of them as a page

Every command shown prints what stands below it: the lessons are tests of the project.
Exit codes: 0 shown, 1 output not written, 2 no such lesson.";

/// A lesson.
#[derive(Debug, Args)]
pub(crate) struct Learn {
    /// Name or number of a lesson, or `all` [default: the list of lessons].
    #[arg(value_name = "LESSON", add = ArgValueCandidates::new(complete::lessons))]
    pub(crate) lesson: Option<String>,
    /// Show the answer, too; markdown and html have it always.
    #[arg(long)]
    pub(crate) answer: bool,
    /// How to show it.
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "terminal")]
    pub(crate) format: LessonFormat,
}

/// How a lesson is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LessonFormat {
    /// For reading here.
    Terminal,
    /// The source of the lesson.
    Markdown,
    /// One page that needs nothing else; answers are folded.
    Html,
}
