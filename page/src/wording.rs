//! A scenario as lines of the command.

use flitwise_language::document::{Entry, Node, Value, in_short};
use flitwise_language::scenario::{Document, Place, Preset};
use flitwise_models::model::Model;

use crate::request::{Commands, Run, SetValue};

/// The lines that ask the command the same.
///
/// ```
/// use flitwise_language::scenario::{Document, Place, Preset};
/// use flitwise_page::{request::Run, wording::commands};
///
/// let mut document = Preset::find("router16").unwrap().document();
/// document.set("class.R1.rate", "0.004", &Place::Program).unwrap();
/// let lines = commands(&document, Some("router16"), None, None, &Run::default());
/// assert_eq!(lines.solve, "flitwise solve --preset router16 --set class.R1.rate=0.004");
/// assert!(commands(&document, None, None, None, &Run::default()).needs_file);
/// ```
pub fn commands(
    document: &Document,
    preset: Option<&str>,
    model: Option<Model>,
    over: Option<(&str, &[String])>,
    run: &Run,
) -> Commands {
    let preset = preset.and_then(|name| Preset::find(name).ok());
    let settings = preset.and_then(|preset| settings(document, preset));
    let source = match (preset, &settings) {
        (Some(preset), Some(settings)) => {
            let set = settings
                .iter()
                .map(|SetValue { key, value }| format!(" --set {}", quoted(&format!("{key}={value}"))));
            format!("--preset {}{}", preset.name, set.collect::<String>())
        }
        _ => "mine.toml".to_owned(),
    };
    let model = model.map_or_else(String::new, |model| format!(" --model {model}"));
    let sweep = over.map(|(over, couple)| {
        let ties = couple.iter().map(|tie| format!(" --couple {}", quoted(tie))).collect::<String>();
        format!("flitwise sweep {source}{model} --over {}{ties} --means-only --plot sweep.svg", quoted(over))
    });
    let Run { seed, precision, max_messages, replications } = run;
    let given = [("seed", seed.to_string(), "1"), ("precision", precision.to_string(), "0.01")];
    let most = [("max-messages", max_messages.to_string(), "10000000")];
    let given = given.into_iter().chain(most).filter(|(_, value, usual)| value != usual);
    let mut given: String = given.map(|(option, value, _)| format!(" --{option} {value}")).collect();
    given.extend(replications.map(|count| format!(" --replications {count}")));
    Commands {
        needs_file: settings.is_none(),
        settings: settings.unwrap_or_default(),
        solve: format!("flitwise solve {source}{model}"),
        sweep,
        simulate: format!("flitwise simulate {source}{given}"),
    }
}

/// The values that make a preset the scenario of `document`, if values alone do.
fn settings(document: &Document, preset: &Preset) -> Option<Vec<SetValue>> {
    let (before, after) = (values(&preset.document()), values(document));
    let new = after.into_iter().filter(|one| !before.contains(one)).collect::<Vec<_>>();
    let mut made = preset.document();
    for SetValue { key, value } in &new {
        made.set(key, value, &Place::Program).ok()?;
    }
    let wanted = document.scenario().ok()?;
    (made.scenario().ok()?.spec() == wanted.spec()).then_some(new)
}

/// Every value with its path, as they would be typed.
fn values(document: &Document) -> Vec<SetValue> {
    let mut found = Vec::new();
    below(document.root().entries, "", &mut found);
    found
}

fn below(entries: &[Entry], path: &str, found: &mut Vec<SetValue>) {
    for Entry { key, node, .. } in entries {
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        match &node.value {
            Value::Table(inner) => below(inner, &path, found),
            Value::List(classes) if path == "class" => {
                for Node { value, .. } in classes {
                    let Value::Table(inner) = value else { continue };
                    let name = inner.iter().find(|entry| entry.key == "name").map(|entry| &entry.node.value);
                    if let Some(Value::Text(name)) = name {
                        below(inner, &format!("class.{name}"), found);
                    }
                }
            }
            value => found.push(SetValue { key: path, value: typed(value) }),
        }
    }
}

/// A value as it would be typed.
fn typed(value: &Value) -> String {
    match value {
        Value::Text(text) if is_bare(text) => text.clone(),
        value => written(value),
    }
}

/// A value as TOML.
fn written(value: &Value) -> String {
    match value {
        Value::Text(text) => format!("{text:?}"),
        Value::Whole(number) => number.to_string(),
        Value::Real(number) => in_short(*number),
        Value::Truth(truth) => truth.to_string(),
        Value::Other(text) => text.clone(),
        Value::List(list) => {
            let items: Vec<String> = list.iter().map(|node| written(&node.value)).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Table(entries) => {
            let entry = |entry: &Entry| format!("{} = {}", entry.key, written(&entry.node.value));
            format!("{{ {} }}", entries.iter().map(entry).collect::<Vec<_>>().join(", "))
        }
    }
}

/// Whether a text is taken for a text without quotes.
fn is_bare(text: &str) -> bool {
    let starts_as_word = text.chars().next().is_some_and(|letter| letter.is_ascii_alphabetic());
    starts_as_word && !["true", "false", "inf", "nan"].contains(&text) && !text.contains(['"', '\\'])
}

/// An argument as a shell takes it.
fn quoted(argument: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./=:+,%@".contains(letter);
    if argument.chars().all(is_plain) {
        argument.to_owned()
    } else {
        format!("'{}'", argument.replace('\'', "'\\''"))
    }
}
