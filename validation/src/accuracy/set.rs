//! Sets of random systems of either kind, as files say it.

use flitwise_language::document::{Document, Reader};
use flitwise_language::scenario::Fault;

use super::streams::{self, StreamPlan};
use super::{Plan, plan};

/// What a set is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetKind {
    /// Scenarios of messages, at shares of the load at which the simulation has the first class saturate.
    Scenarios,
    /// Streams of frames, at shares of the load at which the mediaworm model has the first class saturate.
    Streams,
}

impl SetKind {
    /// All.
    pub const ALL: [Self; 2] = [Self::Scenarios, Self::Streams];

    /// Its name in a plan: the key `kind`, which is `scenarios` where it is not given.
    pub fn word(self) -> &'static str {
        match self {
            Self::Scenarios => "scenarios",
            Self::Streams => "streams",
        }
    }
}

/// A set of either kind.
#[derive(Clone, Debug, PartialEq)]
pub enum Set {
    /// `kind = "scenarios"`.
    Scenarios(Plan),
    /// `kind = "streams"`.
    Streams(StreamPlan),
}

impl Set {
    /// Reads and checks a plan's text; `text_name` is what messages call it.
    ///
    /// ```
    /// use flitwise_validation::accuracy::Set;
    ///
    /// let text = "kind = \"streams\"\nseed = 1\nloads = [0.5]\n[[family]]\nname = \"mine\"\ncount = 2\n\
    ///             topology = \"router\"\nports = [4, 8]\n";
    /// let Ok(Set::Streams(plan)) = Set::from_toml("mine.toml", text) else { panic!("streams") };
    /// assert_eq!(plan.cases().len(), 2);
    /// ```
    ///
    /// # Errors
    /// Every fault, each at its place.
    pub fn from_toml(text_name: &str, text: &str) -> Result<Self, Vec<Fault>> {
        let document = Document::parse(text_name, text)?;
        let root = document.root();
        let mut reader = Reader::new(&[]);
        let kind = match root.get("kind") {
            Some(_) => reader.word(&root, "kind", &SetKind::ALL, SetKind::word),
            // a set of streams says so; one that forgets it is told that, and not that its keys are unknown
            None => {
                let of_streams = |key: &str| streams::FAMILY.contains(&key) && !plan::FAMILY.contains(&key);
                let tables = reader.tables(&root, "family");
                let mut keys = tables.iter().flat_map(|table| table.entries);
                keys.any(|entry| of_streams(&entry.key)).then_some(SetKind::Streams)
            }
        };
        match kind {
            Some(SetKind::Streams) => StreamPlan::read(&document).map(Self::Streams),
            // an unknown kind is refused there
            Some(SetKind::Scenarios) | None => plan::read(&document).map(Self::Scenarios),
        }
    }
}
