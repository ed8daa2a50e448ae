//! Changes one value of a text and leaves the rest, comments and all, as it is.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{Document, Fault, Place};

/// `text` with the value at `key`, a path as in [`Document::set`], changed to `typed`, a TOML value or a bare word.
/// `place` is where that was asked for.
///
/// ```
/// # use flitwise_language::document::{Place, edited};
/// let text = "[router]\nbuffer_flits = 32 # deep\n";
/// let deeper = edited(text, "router.buffer_flits", "64", &Place::Program).unwrap();
/// assert_eq!(deeper, "[router]\nbuffer_flits = 64 # deep\n");
/// let other = edited(&deeper, "router.scheduler", "fifo", &Place::Program).unwrap();
/// assert_eq!(other, "[router]\nbuffer_flits = 64 # deep\nscheduler = \"fifo\"\n");
/// ```
///
/// # Errors
/// What is broken in the text, or what [`Document::set`] says.
pub fn edited(text: &str, key: &str, typed: &str, place: &Place) -> Result<String, Vec<Fault>> {
    let document = Document::parse("text", text)?;
    document.clone().set(key, typed, place).map_err(|fault| vec![fault])?;
    let broken = |_| vec![fault(key, typed, place)];
    let table = DeTable::parse(text).map_err(broken)?;
    let typed = typed.trim();
    let value = if DeValue::parse(typed).is_ok() { typed.to_owned() } else { format!("{typed:?}") };
    let mut changes: Vec<Change> = match key.strip_prefix("class.") {
        Some(rest) => {
            let classes = table.get_ref().get("class").map(Spanned::get_ref);
            let classes = classes.and_then(DeValue::as_array).into_iter().flatten();
            let classes: Vec<_> = classes.filter(|class| class.get_ref().as_table().is_some()).collect();
            let meant = document.classes_meant(rest).into_iter();
            meant.filter_map(|(index, path)| change_below(text, classes.get(index)?, &path, &value)).collect()
        }
        None => vec![change(text, table.get_ref(), None, key, &value)],
    };
    changes.sort_by_key(|change| std::cmp::Reverse(change.at.start));
    let mut changed = text.to_owned();
    changes.iter().for_each(|change| changed.replace_range(change.at.clone(), &change.by));
    // a layout of which the places are not known is left alone
    DeTable::parse(&changed).map_err(broken)?;
    Ok(changed)
}

fn fault(key: &str, typed: &str, place: &Place) -> Fault {
    Fault {
        place: place.clone(),
        key: key.to_owned(),
        found: format!("a text in which {typed} cannot be put there"),
        wanted: "a text with a line for the key".to_owned(),
        help: None,
    }
}

/// What stands in place of a part of a text.
struct Change {
    at: Range<usize>,
    by: String,
}

/// Of a value that is a table.
fn change_below(text: &str, node: &Spanned<DeValue<'_>>, path: &str, value: &str) -> Option<Change> {
    Some(change(text, node.get_ref().as_table()?, Some(node.span()), path, value))
}

/// The change that gives the key at `path` of a table its value; `span` is where the table stands, unless it is all.
fn change(text: &str, table: &DeTable<'_>, span: Option<Range<usize>>, path: &str, value: &str) -> Change {
    let (head, rest) = path.split_once('.').map_or((path, None), |(head, rest)| (head, Some(rest)));
    match (table.get(head), rest) {
        (Some(node), None) => return Change { at: node.span(), by: value.to_owned() },
        (Some(node), Some(rest)) => {
            if let Some(change) = change_below(text, node, rest, value) {
                return change;
            }
        }
        (None, Some(rest)) if span.is_none() => {
            let gap = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
            return Change { at: text.len()..text.len(), by: format!("{gap}\n[{head}]\n{rest} = {value}\n") };
        }
        (None, _) => {}
    }
    let end = table.iter().filter_map(|(_, node)| end_of(text, node)).max();
    let is_inline = span.as_ref().is_some_and(|span| text[span.clone()].starts_with('{'));
    match (end, span) {
        (Some(end), _) if is_inline => Change { at: end..end, by: format!(", {path} = {value}") },
        (None, Some(span)) if is_inline => Change { at: span, by: format!("{{ {path} = {value} }}") },
        (Some(end), _) => line_after(text, end, path, value),
        (None, Some(span)) => line_after(text, span.end, path, value),
        (None, None) => Change { at: 0..0, by: format!("{path} = {value}\n") },
    }
}

/// A line of its own behind the one in which `at` is.
fn line_after(text: &str, at: usize, path: &str, value: &str) -> Change {
    match text[at..].find('\n') {
        Some(rest) => Change { at: at + rest + 1..at + rest + 1, by: format!("{path} = {value}\n") },
        None => Change { at: text.len()..text.len(), by: format!("\n{path} = {value}\n") },
    }
}

/// Where a value ends that stands behind its key; none of a table under a head of its own.
fn end_of(text: &str, node: &Spanned<DeValue<'_>>) -> Option<usize> {
    let span = node.span();
    let line = text[..span.start].rfind('\n').map_or(0, |at| at + 1);
    let is_under_head = text[span.start..].starts_with('[') && text[line..span.start].trim().is_empty();
    if is_under_head {
        return None;
    }
    match node.get_ref() {
        // of dotted keys
        DeValue::Table(table) if !text[span.clone()].starts_with('{') => {
            table.iter().filter_map(|(_, node)| end_of(text, node)).max()
        }
        _ => Some(span.end),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{FormValue, PRESETS, form};

    fn set(text: &str, key: &str, typed: &str) -> String {
        edited(text, key, typed, &Place::Program).unwrap()
    }

    #[test]
    fn a_key_that_is_not_there_finds_its_table() {
        let text =
            "[[class]]\nname = \"a\" # first\nsource = { kind = \"periodic\" }\n\n[network]\nports = 4";
        assert_eq!(set("", "name", "x"), "name = \"x\"\n");
        assert_eq!(set(text, "name", "x").lines().next(), Some("name = \"x\""));
        assert!(set(text, "router.buffer_flits", "8").ends_with("ports = 4\n\n[router]\nbuffer_flits = 8\n"));
        assert!(set(text, "network.topology", "router").ends_with("ports = 4\ntopology = \"router\"\n"));
        assert!(set(text, "class.a.rate", "0.5").contains("\"periodic\" }\nrate = 0.5\n\n[network]"));
        assert!(set(text, "class.*.source.streams", "2").contains("{ kind = \"periodic\", streams = 2 }\n"));
    }

    #[test]
    fn what_cannot_be_set_is_said() {
        let fault =
            |text: &str, key: &str| edited(text, key, "1", &Place::Program).unwrap_err()[0].to_string();
        assert!(fault("[[class]]\nname = \"a\"\n", "class.b.rate").contains("NAME one of"));
        assert!(fault("a = = 1", "a").contains("broken TOML"));
        assert!(fault("a = 1", "a.b").contains("a path through a plain value"));
    }

    /// A change of the text and a change of the document say the same, and only one line differs.
    #[test]
    fn texts_and_documents_agree() {
        let mut seen = 0;
        for preset in PRESETS {
            for field in form(&preset.document()) {
                let typed = match &field.value {
                    FormValue::Number { value, .. } => format!("{} {}", value * 0.5, field.unit),
                    FormValue::Word { words, .. } => words[0].to_owned(),
                };
                let typed = typed.trim();
                let text = set(preset.text, &field.key, typed);
                let mut document = preset.document();
                document.set(&field.key, typed, &Place::Program).unwrap();
                let spec = |document: &Document| document.scenario().map(|one| one.spec().clone());
                let read = Document::parse("text", &text).unwrap();
                match (spec(&read), spec(&document)) {
                    (Ok(read), Ok(set)) => assert_eq!(read, set),
                    (read, set) => assert_eq!(read.is_err(), set.is_err(), "{}: {}", preset.name, field.key),
                }
                let differing = text.lines().zip(preset.text.lines()).filter(|(one, other)| one != other);
                assert!(differing.count() <= 1 && text.lines().count() == preset.text.lines().count());
                seen += 1;
            }
        }
        assert!(seen > 200, "{seen} values");
    }
}
