//! Numbers in the text of a lesson: where each is found in the answers of its commands.
//!
//! They stand in comments behind their paragraph: `<!-- 53.42: network latency of R2, command 1 -->`, or as arithmetic
//! with those, `<!-- 4.9 = 53.42 - 48.56 -->`. What follows from no command has its source there, such as a document.

use serde::Serialize;
use serde_json::Value;

/// A number of an answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reference {
    /// Of which command of the lesson, from 1.
    pub command: usize,
    /// Its column of a table, such as `network latency`; or a path into the document, such as
    /// `document.report.iterations`.
    pub quantity: String,
    /// Cells that its row has, such as a class; none of a document.
    pub row: Vec<String>,
    /// Whether the half-width of its interval is meant.
    pub is_half_width: bool,
}

/// A chain of factors and summands, from left to right: numbers of answers, or numbers that are given.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Formula {
    /// The sign before each: `+`, `-`, `*` or `/`; of the first `+`.
    pub terms: Vec<(char, Operand)>,
}

/// What a formula has between its signs.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Operand {
    /// A number that is given.
    Given(f64),
    /// One that is found.
    Found(Reference),
}

impl Reference {
    /// Reads `network latency of R2, command 1`, `miss probability of R1 @ 40, command 2`, or with `±` before it.
    pub fn read(text: &str) -> Option<Self> {
        let (what, command) = text.trim().rsplit_once(", command ")?;
        let is_half_width = what.starts_with('±');
        let what = what.trim_start_matches('±');
        let (quantity, row) = what.rsplit_once(" of ").unwrap_or((what, ""));
        let row = row.split(" @ ").filter(|cell| !cell.is_empty()).map(str::to_owned).collect();
        Some(Self {
            command: command.trim().parse().ok()?,
            quantity: quantity.to_owned(),
            row,
            is_half_width,
        })
    }

    /// Its value in the answers of its command.
    pub fn value(&self, answers: &[Value]) -> Option<f64> {
        answers.iter().find_map(|answer| {
            if let Some(path) = self.quantity.strip_prefix("document.") {
                return answer["document"].pointer(&format!("/{}", path.replace('.', "/")))?.as_f64();
            }
            let of_curve = answer["csv"].as_str().filter(|_| answer["svg"].is_string()).and_then(of_csv);
            let tables = answer["tables"].as_array().into_iter().flatten().cloned().chain(of_curve);
            tables.into_iter().find_map(|table| self.in_table(&table))
        })
    }

    fn in_table(&self, table: &Value) -> Option<f64> {
        let head = |column: &Value| column["head"].as_str().map(|head| head.replace(['_', '-'], " "));
        let quantity = self.quantity.replace('-', " ");
        let is_it = |head: String| head == quantity || head.starts_with(&format!("{quantity} "));
        let columns = table["columns"].as_array()?;
        let at = columns.iter().position(|column| head(column).is_some_and(is_it))?;
        let has = |row: &&Value, wanted: &String| {
            row.as_array().is_some_and(|row| row.iter().any(|cell| cell == wanted))
        };
        let row = table["rows"].as_array()?.iter().find(|row| self.row.iter().all(|cell| has(row, cell)))?;
        let mut parts = row[at].as_str()?.split('±').map(|part| part.trim().replace(',', ""));
        let mean = parts.next()?;
        if self.is_half_width { parts.next()?.parse().ok() } else { mean.parse().ok() }
    }
}

/// The table of a curve.
fn of_csv(csv: &str) -> Option<Value> {
    let mut lines = csv.lines().map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>());
    let columns: Vec<Value> =
        lines.next()?.into_iter().map(|head| serde_json::json!({ "head": head })).collect();
    Some(serde_json::json!({ "columns": columns, "rows": lines.collect::<Vec<_>>() }))
}

impl Formula {
    /// Reads `waiting of BE, command 3 / waiting of BE, command 1`; signs stand between blanks.
    pub fn read(text: &str) -> Option<Self> {
        let mut terms = Vec::new();
        let mut rest = text.trim();
        let mut sign = '+';
        loop {
            let next = [" + ", " - ", " * ", " / "].iter().filter_map(|sign| rest.find(sign)).min();
            let (operand, after) = next.map_or((rest, None), |at| (&rest[..at], Some(&rest[at + 1..])));
            let given = operand.trim().parse().ok().map(Operand::Given);
            terms.push((sign, given.or_else(|| Reference::read(operand).map(Operand::Found))?));
            let Some(after) = after else { return Some(Self { terms }) };
            sign = after.chars().next()?;
            rest = &after[2..];
        }
    }

    /// Its value, if all that it needs is found; `answers` are those of each command.
    pub fn value(&self, answers: &[Vec<Value>]) -> Option<f64> {
        self.terms.iter().try_fold(0.0, |sum, (sign, operand)| {
            let next = match operand {
                Operand::Given(number) => *number,
                Operand::Found(found) => found.value(answers.get(found.command.checked_sub(1)?)?)?,
            };
            Some(match sign {
                '-' => sum - next,
                '*' => sum * next,
                '/' => sum / next,
                _ => sum + next,
            })
        })
    }
}

/// The numbers of a text that are found in answers, as they are spelled there, in the order of its comments.
///
/// ```
/// use flitwise_page::lessons::found_in;
///
/// let text = "It gains 4.9.\n<!-- 53.4: network latency of R2, command 1 -->\n<!-- 4.9 = 53.4 - 48.5 -->";
/// let found = found_in(text);
/// assert_eq!(found.iter().map(|(spelled, _)| spelled.as_str()).collect::<Vec<_>>(), ["53.4", "4.9"]);
/// assert_eq!(found[1].1.terms.len(), 2);
/// ```
pub fn found_in(text: &str) -> Vec<(String, Formula)> {
    let comments = text.split("<!--").skip(1).filter_map(|rest| Some(rest.split_once("-->")?.0.trim()));
    let mut found: Vec<(String, Formula)> = Vec::new();
    for comment in comments {
        if let Some((spelled, place)) = comment.split_once(": ") {
            found.extend(Formula::read(place).map(|formula| (spelled.to_owned(), formula)));
        } else if let Some((spelled, sum)) = comment.split_once(" = ") {
            let known = |operand: &str| {
                let of = found.iter().find(|(spelled, _)| spelled == operand.trim())?;
                Some(of.1.terms.first()?.1.clone())
            };
            found.extend(Formula::read(sum).map(|formula| {
                let operand = |(sign, operand): (char, Operand)| match operand {
                    Operand::Given(number) => {
                        let spelled = sum.split(' ').find(|word| word.parse() == Ok(number));
                        (sign, spelled.and_then(known).unwrap_or(Operand::Given(number)))
                    }
                    found => (sign, found),
                };
                (spelled.to_owned(), Formula { terms: formula.terms.into_iter().map(operand).collect() })
            }));
        }
    }
    // a sum of given numbers is given, too
    found.retain(|(_, formula)| formula.terms.iter().any(|(_, one)| matches!(one, Operand::Found(_))));
    found
}
