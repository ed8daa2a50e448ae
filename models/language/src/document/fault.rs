//! What is wrong with a text, where it stands and how to mend it.

use std::fmt;
use std::sync::Arc;

/// Where in the input something stands.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// A line and column (from 1, columns in characters) of a named text.
    At {
        /// Name of the text, usually a file's path.
        text: Arc<str>,
        /// Line, from 1; 0 for the whole text.
        line: usize,
        /// Column in characters, from 1.
        column: usize,
    },
    /// An override given beside the text, as it was typed.
    Setting(Arc<str>),
    /// No text: what is wrong was made by a program.
    Program,
}

/// One thing that is wrong with a scenario or another input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Where it stands.
    pub place: Place,
    /// Key of the value, such as `class.R1.rate`; empty where no key could be read.
    pub key: String,
    /// What was found.
    pub found: String,
    /// What is wanted.
    pub wanted: String,
    /// What to do about it, where there is something to suggest.
    pub help: Option<String>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // of the whole text
            Self::At { text, line: 0, .. } => write!(f, "{text}: "),
            Self::At { text, line, column } => write!(f, "{text}:{line}:{column}: "),
            Self::Setting(typed) => write!(f, "{typed}: "),
            Self::Program => Ok(()),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { place, key, found, wanted, help } = self;
        write!(f, "{place}")?;
        if !key.is_empty() {
            write!(f, "{key}: ")?;
        }
        write!(f, "found {found}, wanted {wanted}")?;
        match help {
            Some(help) => write!(f, "\n  help: {help}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Fault {}

/// The word of `known` that `found` is most likely a slip of.
///
/// ```
/// # use flitwise_language::document::nearest;
/// assert_eq!(nearest("logaritmic", ["linear", "logarithmic"]), Some("logarithmic"));
/// assert_eq!(nearest("square", ["linear", "logarithmic"]), None);
/// ```
pub fn nearest<'w>(found: &str, known: impl IntoIterator<Item = &'w str>) -> Option<&'w str> {
    let found = found.to_lowercase().replace('_', "-");
    known
        .into_iter()
        .map(|word| {
            let plain = word.to_lowercase().replace('_', "-");
            (strsim::damerau_levenshtein(&found, &plain), strsim::jaro_winkler(&found, &plain), word)
        })
        // with every letter changed it is another word, however short
        .filter(|(edits, ..)| *edits < found.chars().count().max(1))
        .filter(|(edits, likeness, word)| *edits <= 1 + word.len() / 4 || *likeness >= 0.85)
        .min_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)))
        .map(|(_, _, word)| word)
}

/// The words in quotes, as in `"a", "b" or "c"`.
pub fn one_of<'w>(words: impl IntoIterator<Item = &'w str>) -> String {
    let quoted: Vec<String> = words.into_iter().map(|word| format!("\"{word}\"")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
        None => String::new(),
    }
}

/// Sorts faults by line and column; what stands in no text comes last.
pub fn in_order_of_text(faults: &mut [Fault]) {
    faults.sort_by_key(|fault| match &fault.place {
        Place::At { line, column, .. } => (*line, *column),
        Place::Setting(_) | Place::Program => (usize::MAX, 0),
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_pen_is_recognised_and_nonsense_is_not() {
        let known = ["pipeline_stages", "buffer_flits", "scheduler"];
        assert_eq!(nearest("bufer_flits", known), Some("buffer_flits"));
        assert_eq!(nearest("buffer-flits", known), Some("buffer_flits"));
        assert_eq!(nearest("Scheduler", known), Some("scheduler"));
        assert_eq!(nearest("xyzzy", known), None);
        assert_eq!((nearest("3", ["5", "4a"]), nearest("4", ["5", "4a"])), (None, None));
    }
}
