//! Commands of a lesson as requests to the engine.

use serde::Serialize;
use serde_json::{Value, json};

use super::screens::with_settings;

/// A command of a lesson.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Command {
    /// As it is typed.
    pub line: String,
    /// Requests that ask the same; none where the page has no such question.
    pub asks: Vec<Value>,
    /// Titles of the tables that the lesson shows of it; empty: the first one.
    pub titles: Vec<String>,
}

impl Command {
    /// Reads a line such as `flitwise solve --preset cube6`, and what follows it in the lesson.
    ///
    /// # Errors
    /// A line that names no preset, or sets what cannot be set.
    pub fn read(line: &str, printed: &str) -> Result<Self, String> {
        let words = words(line);
        let option = |name: &str| {
            let at = words.iter().position(|word| word == name)?;
            words.get(at + 1).map(String::as_str)
        };
        let all = |name: &str| -> Vec<&str> {
            let pairs = words.windows(2).filter(|pair| pair[0] == name);
            pairs.map(|pair| pair[1].as_str()).collect()
        };
        let text = with_settings(option("--preset").unwrap_or("router16"), &all("--set"))
            .map_err(|fault| format!("{line}: {fault}"))?;
        let model = option("--model");
        let solve = json!({ "ask": "solve", "text": text, "model": model, "expected_errors": false });
        let mut run = serde_json::Map::new();
        let numbers = [("precision", 0.01), ("replications", 0.0), ("seed", 1.0)];
        for (name, usual) in numbers {
            if let Some(typed) = option(&format!("--{name}")) {
                let (digits, unit) = typed.split_once('%').map_or((typed, 1.0), |(digits, _)| (digits, 0.01));
                let number =
                    digits.parse::<f64>().map_err(|error| format!("{line}: {typed}: {error}"))? * unit;
                let whole = name != "precision";
                if number != usual {
                    run.insert(name.to_owned(), if whole { json!(number as u64) } else { json!(number) });
                }
            }
        }
        let simulate = json!({ "ask": "simulate_start", "text": text, "run": run });
        let asks = match (words.get(1).map(String::as_str), option("--over")) {
            (Some("solve"), _) => vec![solve],
            (Some("simulate"), _) => vec![simulate],
            (Some("compare"), _) => vec![solve, simulate],
            (Some("sweep"), Some(over)) if model != Some("anchored") => {
                let models = model.into_iter().collect::<Vec<_>>();
                vec![
                    json!({ "ask": "curve", "text": text, "over": over, "couple": all("--couple"), "models": models }),
                ]
            }
            (Some("station"), _) => {
                let kind = words.get(2).map(String::as_str).unwrap_or_default();
                let value =
                    |name: &str| option(&format!("--{name}")).and_then(|typed| typed.parse::<f64>().ok());
                let numbers: serde_json::Map<String, Value> = ["rate", "mean"]
                    .into_iter()
                    .filter_map(|name| Some((name.to_owned(), json!(value(name)?))))
                    .collect();
                vec![json!({ "ask": "station", "stations": [{ "kind": kind, "numbers": numbers }] })]
            }
            _ => Vec::new(),
        };
        let is_title = |line: &&str| line.starts_with(|letter: char| letter.is_ascii_alphanumeric());
        let titles = printed.lines().filter(is_title).map(str::to_owned).collect();
        Ok(Self { line: line.to_owned(), asks, titles })
    }
}

/// The words of a line, without the quotes of a shell.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut is_quoted = false;
    for letter in line.chars() {
        match letter {
            '\'' => is_quoted = !is_quoted,
            ' ' if !is_quoted => words.push(String::new()),
            other => words.last_mut().expect("there is one from the start").push(other),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_becomes_a_request() {
        let line =
            "flitwise solve --preset router-nic-quick --set mix.duration='\"8 frames\"' --model router-nic";
        let command = Command::read(line, "Phase by phase\n phase  share\n").unwrap();
        assert_eq!(command.titles, ["Phase by phase"]);
        assert_eq!(command.asks[0]["model"], "router-nic");
        assert!(command.asks[0]["text"].as_str().unwrap().contains("duration = \"8 frames\""));
        let simulate = Command::read("flitwise simulate --precision 3% --replications 4", "").unwrap();
        assert_eq!(simulate.asks[0]["run"], json!({ "precision": 0.03, "replications": 4 }));
        assert_eq!(Command::read("flitwise compare --no-store", "").unwrap().asks.len(), 2);
        assert!(Command::read("flitwise explain", "").unwrap().asks.is_empty());
        assert!(Command::read("flitwise solve --preset nothing", "").is_err());
        assert!(Command::read("flitwise solve --set class.R9.rate=1", "").is_err());
    }
}
