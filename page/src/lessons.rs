//! The lessons: each with a surprise, a question, commands and what they print, and for the page a prediction and
//! pictures that move.
//!
//! A lesson is a text, `lessons/NAME.md`, which `flitwise learn` shows, and beside it `lessons/NAME.toml`: what its
//! page adds. All numbers of a page come from the engine when the page is opened: its commands are asked there, and a
//! number in the text is found in their answers.

mod command;
mod numbers;
mod page;
mod screens;

pub use command::Command;
pub use numbers::{Formula, Operand, Reference, found_in};
pub use page::{contents, page};
pub use screens::{Choice, Knob, Prediction, Saying, Screen, Screens, Side};

use flitwise_language::document::nearest;

/// A lesson: Markdown with the sections `Try it`, `Question` and `Answer`.
#[derive(Clone, Copy, Debug)]
pub struct Lesson {
    /// As `flitwise learn` takes it.
    pub name: &'static str,
    /// Its text.
    pub text: &'static str,
    /// What its page adds, as TOML; see [`Screens`].
    pub screens: &'static str,
}

macro_rules! lessons {
    ($($name:literal),* $(,)?) => {
        &[$(Lesson {
            name: $name,
            text: include_str!(concat!("../lessons/", $name, ".md")),
            screens: include_str!(concat!("../lessons/", $name, ".toml")),
        }),*]
    };
}

/// All lessons, in the order of teaching.
pub const LESSONS: &[Lesson] = lessons![
    "little",
    "randomness",
    "fixed-point",
    "virtual-clock",
    "best-effort",
    "hypercube",
    "deadlines",
    "disbelief",
    "patience",
    "anchors",
    "congestion-tree",
    "jitter",
    "records",
    "preemption",
    "credits",
    "choices",
];

const ANSWER: &str = "## Answer\n";
const QUESTION: &str = "## Question\n";

impl Lesson {
    /// The lesson of a name, or of a number from 1.
    ///
    /// # Errors
    /// The name that is meant, if one is near.
    pub fn find(typed: &str) -> Result<&'static Self, Option<&'static str>> {
        let by_number = || typed.parse::<usize>().ok().and_then(|number| LESSONS.get(number.checked_sub(1)?));
        let found = LESSONS.iter().find(|lesson| lesson.name == typed).or_else(by_number);
        found.ok_or_else(|| nearest(typed, LESSONS.iter().map(|lesson| lesson.name)))
    }

    /// Its title.
    pub fn title(&self) -> &'static str {
        self.text.lines().next().unwrap_or_default().trim_start_matches("# ")
    }

    /// The surprise, in one line: the quotation under the title.
    pub fn surprise(&self) -> String {
        let quoted = self.text.lines().filter_map(|line| line.strip_prefix("> "));
        quoted.collect::<Vec<_>>().join(" ")
    }

    /// What stands before the answer, and the answer.
    pub fn parts(&self) -> (&'static str, &'static str) {
        self.text.split_once(ANSWER).unwrap_or((self.text, ""))
    }

    /// Its commands, in the order of the text.
    pub fn commands(&self) -> impl Iterator<Item = &'static str> {
        self.text.lines().filter_map(|line| line.strip_prefix("$ "))
    }
}
