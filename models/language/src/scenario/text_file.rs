//! Texts that stand in files of their own, line by line: graphs and matrices.
//!
//! In a scenario stands the name of a file, which the command replaces by its text, or the text itself. A text of one
//! line is a name.

use std::sync::Arc;

use crate::document::{Node, Place, Reader, Value};

/// Lines that are refused one by one.
const MOST_LINES: usize = 10;

/// What is wrong with a line of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wrong {
    /// The line, from 0; none of the whole text.
    pub(crate) line: Option<usize>,
    pub(crate) found: String,
    pub(crate) wanted: String,
    pub(crate) help: Option<String>,
}

impl Wrong {
    pub(crate) fn at(line: usize, found: impl Into<String>, wanted: impl Into<String>) -> Self {
        Self { line: Some(line), ..Self::whole(found, wanted) }
    }

    /// Of the whole text.
    pub(crate) fn whole(found: impl Into<String>, wanted: impl Into<String>) -> Self {
        Self { line: None, found: found.into(), wanted: wanted.into(), help: None }
    }
}

/// Where a line of a text is that stands at a place, the first of them below it.
fn line_of(place: &Place, at: usize) -> Place {
    match place {
        Place::At { text, line, .. } => Place::At { text: Arc::clone(text), line: line + at + 1, column: 1 },
        other => other.clone(),
    }
}

/// The first line of a text, or as much of it as a message has room for.
pub(super) fn beginning(text: &str) -> String {
    const MOST: usize = 40;
    let line = text.lines().next().unwrap_or_default();
    let beginning: String = line.chars().take(MOST).collect();
    if beginning.len() == text.len() { beginning } else { beginning + ".." }
}

/// What `parse` makes of the text at a node; `what` says what its lines are.
pub(super) fn read<T>(
    reader: &mut Reader,
    (node, path): (&Node, String),
    what: &str,
    parse: impl FnOnce(&str) -> Result<T, Vec<Wrong>>,
) -> Option<T> {
    let text = match &node.value {
        Value::Text(text) if text.contains('\n') => text,
        Value::Text(name) => {
            let help = "the command reads files; elsewhere write the lines in place of the name".to_owned();
            let found = format!("\"{name}\", which was not read");
            reader.refuse(&node.place, path, found, what.to_owned(), Some(help));
            return None;
        }
        // why a file was not read
        Value::Other(found) => {
            reader.refuse(&node.place, path, found.clone(), what.to_owned(), None);
            return None;
        }
        _ => {
            reader.refuse_kind(node, path, &format!("the name of a file with {what}"), None);
            return None;
        }
    };
    let wrong = match parse(text) {
        Ok(found) => return Some(found),
        Err(wrong) => wrong,
    };
    let more = wrong.len().saturating_sub(MOST_LINES);
    for Wrong { line, found, wanted, help } in wrong.into_iter().take(MOST_LINES) {
        let place = line.map_or_else(|| node.place.clone(), |line| line_of(&node.place, line));
        reader.refuse(&place, path.clone(), found, wanted, help);
    }
    if more > 0 {
        reader.refuse(&node.place, path, format!("{more} more faults of its lines"), "none".to_owned(), None);
    }
    None
}

/// Declares the type of a key whose value is the text of a file: what its lines are, and what they are read as, which
/// keeps the text and has a least one that stands in for what is refused.
macro_rules! text_file {
    ($(#[$doc:meta])* pub struct $Name:ident($Parsed:ty), $what:literal;) => {
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub struct $Name(std::sync::Arc<$Parsed>);

        impl PartialEq for $Name {
            fn eq(&self, other: &Self) -> bool {
                std::sync::Arc::ptr_eq(&self.0, &other.0) || self.0.text() == other.0.text()
            }
        }

        impl Eq for $Name {}

        impl serde::Serialize for $Name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                self.0.text().serialize(serializer)
            }
        }

        impl KeyValue for $Name {
            const KIND: Kind = Kind::Other(|| serde_json::json!({ "type": "string" }));

            fn unset() -> Self {
                Self(std::sync::Arc::new(<$Parsed>::least()))
            }
        }

        impl Field for $Name {
            fn read(&mut self, reader: &mut Reader, table: &Table<'_>, key: &Key, _: &Units) -> bool {
                let Some(node) = reader.note(table, key.name) else { return false };
                let read = text_file::read(reader, (node, table.key(key.name)), $what, <$Parsed>::read);
                let is_read = read.is_some();
                self.0 = read.map_or_else(|| std::sync::Arc::clone(&self.0), std::sync::Arc::new);
                is_read
            }

            fn check(&self, _: &mut Door, _: &Key, _: &str) {}

            fn written(&self) -> Option<String> {
                Some(super::writer::quoted(self.0.text()))
            }

            fn in_short(&self) -> Option<String> {
                Some(super::writer::quoted(&text_file::beginning(self.0.text())))
            }
        }
    };
}

pub(super) use text_file;
