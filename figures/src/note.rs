//! Notes on single points of a figure: one sentence for each fact, with all points at which it holds.

use crate::picture::Axis;

/// So many values are listed one by one; of more, the first and the last are named.
const MOST_LISTED: usize = 14;
/// So many different numbers of a sentence are listed; of more, the least and the greatest are named.
const MOST_NUMBERS: usize = 3;

/// A fact, and where it holds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Note {
    pub(crate) place: Place,
    pub(crate) text: String,
}

/// A point of a figure, or a whole row of points.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Place {
    /// What the row is called: a variant, or a value of the vertical axis; empty where there is one row only.
    pub(crate) row: String,
    /// What varies along the row; `None`: the whole row.
    pub(crate) x: Option<f64>,
}

/// The points of a figure.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Points<'a> {
    /// What varies along a row; `None` for a figure of one point.
    pub(crate) axis: Option<&'a Axis>,
    /// What varies from row to row, if that is a number.
    pub(crate) row_axis: Option<&'a Axis>,
    /// How many rows there are.
    pub(crate) rows: usize,
}

/// Each fact once. Sentences that differ in numbers only are one fact.
pub(crate) fn merged(notes: &[Note], points: Points<'_>) -> Vec<String> {
    let mut facts: Vec<(Vec<&str>, Vec<&Note>)> = Vec::new();
    for note in notes {
        let words = without_numbers(&note.text);
        match facts.iter_mut().find(|(known, _)| *known == words) {
            Some((_, same)) => same.push(note),
            None => facts.push((words, vec![note])),
        }
    }
    let sentence = |(_, same): &(Vec<&str>, Vec<&Note>)| {
        let found: Vec<&Place> = same.iter().map(|note| &note.place).collect();
        let texts: Vec<&str> = same.iter().map(|note| note.text.as_str()).collect();
        match points.named(&found) {
            nowhere if nowhere.is_empty() => as_one(&texts),
            places => format!("{places}: {}", as_one(&texts)),
        }
    };
    facts.iter().map(sentence).collect()
}

impl Points<'_> {
    /// Points, row by row; rows with the same points together. Empty for all points of a figure.
    pub(crate) fn named(&self, found: &[&Place]) -> String {
        let mut by_row: Vec<(&str, Vec<f64>)> = Vec::new();
        for place in found {
            let at = by_row.iter().position(|(row, _)| *row == place.row).unwrap_or(by_row.len());
            if at == by_row.len() {
                by_row.push((&place.row, Vec::new()));
            }
            let values = &mut by_row[at].1;
            if let Some(x) = place.x.filter(|x| !values.contains(x)) {
                values.push(x);
            }
        }
        let mut together: Vec<(Vec<&str>, Vec<f64>)> = Vec::new();
        for (row, mut values) in by_row {
            values.sort_by(f64::total_cmp);
            match together.iter_mut().find(|(_, same)| *same == values) {
                Some((rows, _)) => rows.push(row),
                None => together.push((vec![row], values)),
            }
        }
        let parts = together.iter().enumerate();
        let parts: Vec<String> = parts
            .map(|(at, (rows, values))| self.part(rows, values, at == 0))
            .filter(|part| !part.is_empty())
            .collect();
        parts.join("; ")
    }

    /// The same points of some rows; axes are named in the first part only.
    fn part(&self, rows: &[&str], values: &[f64], is_first: bool) -> String {
        let named = |axis: &Axis, values: &str| match is_first {
            true => format!("{} {values} {}", axis.label, axis.unit).trim_end().to_owned(),
            false => values.to_owned(),
        };
        // what holds in all rows needs no names
        let is_everywhere = rows.len() == self.rows || rows.iter().all(|row| row.is_empty());
        let rows = if is_everywhere { String::new() } else { rows.join(", ") };
        let rows = match self.row_axis {
            Some(axis) if !rows.is_empty() => named(axis, &rows),
            _ => rows,
        };
        match self.axis {
            Some(axis) if !values.is_empty() => {
                let along = named(axis, &listed(values));
                if rows.is_empty() { along } else { format!("{along} ({rows})") }
            }
            _ => rows,
        }
    }
}

/// Values, or the first and the last of many.
fn listed(values: &[f64]) -> String {
    match values {
        [first, .., last] if values.len() > MOST_LISTED => {
            format!("{} to {}, {} values,", short(*first), short(*last), values.len())
        }
        _ => values.iter().map(|value| short(*value)).collect::<Vec<_>>().join(", "),
    }
}

/// A number to six digits: those between two values of the file have many.
fn short(number: f64) -> String {
    format!("{number:.5e}").parse().unwrap_or(number).to_string()
}

/// A sentence's words; numbers are all alike.
fn without_numbers(text: &str) -> Vec<&str> {
    text.split(' ')
        .map(|word| number(word).map_or(word, |(_, rest)| if rest.is_empty() { "#" } else { rest }))
        .collect()
}

/// A word's number and the stop behind it.
fn number(word: &str) -> Option<(f64, &str)> {
    let digits = word.trim_end_matches([',', ';', ':', '.']);
    let number = digits.parse().ok().filter(|number: &f64| number.is_finite())?;
    Some((number, &word[digits.len()..]))
}

/// Sentences that differ in numbers only, as one.
fn as_one(texts: &[&str]) -> String {
    let words: Vec<Vec<&str>> = texts.iter().map(|text| text.split(' ').collect()).collect();
    let word = |at: usize| {
        let mut found: Vec<(&str, f64)> = Vec::new();
        let mut stop = "";
        for words in &words {
            let Some((value, rest)) = number(words[at]) else { return words[at].to_owned() };
            stop = rest;
            let digits = words[at].strip_suffix(rest).unwrap_or(words[at]);
            if found.iter().all(|(known, _)| *known != digits) {
                found.push((digits, value));
            }
        }
        let digits: Vec<&str> = found.iter().map(|(digits, _)| *digits).collect();
        let by_value = |a: &&(&str, f64), b: &&(&str, f64)| a.1.total_cmp(&b.1);
        match (digits.as_slice(), found.iter().min_by(by_value), found.iter().max_by(by_value)) {
            ([only], ..) => format!("{only}{stop}"),
            ([most @ .., last], ..) if digits.len() <= MOST_NUMBERS => {
                format!("{} and {last}{stop}", most.join(", "))
            }
            (_, Some((least, _)), Some((greatest, _))) => format!("{least} to {greatest}{stop}"),
            _ => String::new(),
        }
    };
    (0..words.first().map_or(0, Vec::len)).map(word).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load() -> Axis {
        Axis { label: "R1 load".to_owned(), unit: "messages/cycle".to_owned(), logarithmic: false }
    }

    fn of<'a>(axis: &'a Axis, rows: usize) -> Points<'a> {
        Points { axis: Some(axis), row_axis: None, rows }
    }

    fn note(row: &str, x: impl Into<Option<f64>>, text: &str) -> Note {
        Note { place: Place { row: row.to_owned(), x: x.into() }, text: text.to_owned() }
    }

    #[test]
    fn a_fact_is_said_once_with_its_loads() {
        let notes = [
            note("", 0.02, "R1: still growing"),
            note("", 0.01, "the warm-up took 300 cycles; see 7"),
            note("", 0.02, "the warm-up took 200 cycles; see 7"),
            note("", 0.03, "R1: still growing"),
            note("", 0.03, "R2: still growing"),
            note("", 0.03, "R2: still growing"),
        ];
        assert_eq!(
            merged(&notes, of(&load(), 1)),
            [
                "R1 load 0.02, 0.03 messages/cycle: R1: still growing",
                "R1 load 0.01, 0.02 messages/cycle: the warm-up took 300 and 200 cycles; see 7",
                "R1 load 0.03 messages/cycle: R2: still growing",
            ]
        );
    }

    #[test]
    fn many_values_are_named_by_their_ends() {
        let notes: Vec<Note> =
            (1..=20).map(|k| note("", f64::from(k) / 3.0, &format!("after {k} rounds"))).collect();
        assert_eq!(
            merged(&notes, of(&load(), 1)),
            ["R1 load 0.333333 to 6.66667, 20 values, messages/cycle: after 1 to 20 rounds"]
        );
    }

    #[test]
    fn rows_are_named_unless_all_are_meant() {
        let notes = [
            note("b = 4", 1.0, "growing"),
            note("b = 8", 1.0, "growing"),
            note("b = 16", 2.0, "growing"),
            note("b = 4", None, "refused"),
            note("b = 8", None, "refused everywhere"),
            note("b = 4", None, "refused everywhere"),
            note("b = 16", None, "refused everywhere"),
        ];
        assert_eq!(
            merged(&notes, of(&load(), 3)),
            [
                "R1 load 1 messages/cycle (b = 4, b = 8); 2 (b = 16): growing",
                "b = 4: refused",
                "refused everywhere",
            ]
        );
        // a figure of one point
        let one = Points { axis: None, row_axis: None, rows: 1 };
        assert_eq!(merged(&[note("", 0.0, "growing")], one), ["growing"]);
    }

    #[test]
    fn rows_of_a_map_are_values_of_its_other_axis() {
        let other = Axis { label: "BE load".to_owned(), ..load() };
        let notes = [note("0.1", 1.0, "growing"), note("0.2", 1.0, "growing"), note("0.3", 2.0, "growing")];
        let load = load();
        let points = Points { row_axis: Some(&other), ..of(&load, 3) };
        assert_eq!(
            merged(&notes, points),
            ["R1 load 1 messages/cycle (BE load 0.1, 0.2 messages/cycle); 2 (0.3): growing"]
        );
    }
}
