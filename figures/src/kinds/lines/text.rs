//! Curves as text, for a terminal.

use super::drawing::{x_scale, y_scale};
use super::{Lines, Series};
use crate::draw::scale::{Scale, label};
use crate::picture::Origin;

/// Rows of a panel.
const ROWS: usize = 18;
/// The least columns of a panel, however narrow the terminal is.
const LEAST_COLUMNS: usize = 24;

/// All panels one below the other: a letter for each series, small along curves, large at points.
pub(crate) fn text(lines: &Lines, columns: usize) -> String {
    let (x, y) = (x_scale(lines), y_scale(lines));
    let ticks = y.ticks(5);
    let numbers = ticks.iter().map(|(_, number)| number.chars().count()).max().unwrap_or(0);
    let columns = columns.saturating_sub(numbers + 2).max(LEAST_COLUMNS);
    let names = names(lines);
    let mut page = label(&lines.y) + "\n";
    for panel in 0..lines.panels.len().max(1) {
        if let Some(heading) = lines.panels.get(panel) {
            page.push_str(&format!("\n{heading}\n"));
        }
        let mut cells = vec![vec![' '; columns]; ROWS];
        for series in lines.series.iter().filter(|series| series.panel == panel) {
            draw(&mut cells, series, letter(&names, series, lines), (x, y));
        }
        for (row, line) in cells.iter().enumerate() {
            let here = ticks.iter().find(|(value, _)| place(y, *value, ROWS) == Some(ROWS - 1 - row));
            let number = here.map_or("", |(_, number)| number);
            let line: String = line.iter().collect();
            page.push_str(format!("{number:>numbers$} |{line}").trim_end());
            page.push('\n');
        }
        page.push_str(&format!(
            "{:numbers$} +{}\n{}\n",
            "",
            "-".repeat(columns),
            below(x, columns, numbers + 2)
        ));
    }
    page.push_str(&format!("{:>1$}\n", label(&lines.x), numbers + 2 + columns));
    for (index, (series, origin)) in names.iter().enumerate() {
        let comma = if series.is_empty() { "" } else { ", " };
        let letter = cased(index, is_points(*origin, lines));
        page.push_str(&format!("{letter}  {series}{comma}{}\n", origin.legend()));
    }
    page
}

/// What letters stand for: names of series with the origins of their numbers.
fn names(lines: &Lines) -> Vec<(&str, Origin)> {
    let mut names = Vec::new();
    for series in &lines.series {
        let name = (series.label.as_str(), series.origin);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

fn is_points(origin: Origin, lines: &Lines) -> bool {
    origin == Origin::Printed || (origin == Origin::Simulation && !lines.measured_as_curves)
}

fn cased(index: usize, is_large: bool) -> char {
    let first = if is_large { b'A' } else { b'a' };
    char::from(first + (index % 26) as u8)
}

fn letter(names: &[(&str, Origin)], series: &Series, lines: &Lines) -> char {
    let index = names.iter().position(|name| *name == (series.label.as_str(), series.origin));
    cased(index.unwrap_or(0), is_points(series.origin, lines))
}

/// Which of `count` cells `value` falls into, if it is on the axis.
fn place(scale: Scale, value: f64, count: usize) -> Option<usize> {
    let share = scale.share(value).filter(|share| (0.0..=1.0).contains(share))?;
    Some((share * (count - 1) as f64).round() as usize)
}

/// Marks a series: its steady points, and of a curve what lies between neighbours.
fn draw(cells: &mut [Vec<char>], series: &Series, letter: char, (x, y): (Scale, Scale)) {
    let columns = cells[0].len();
    let mut mark = |across: f64, up: f64| {
        let is_inside = |share: f64| (0.0..=1.0).contains(&share);
        if is_inside(across) && is_inside(up) {
            let column = (across * (columns - 1) as f64).round() as usize;
            cells[ROWS - 1 - (up * (ROWS - 1) as f64).round() as usize][column] = letter;
        }
    };
    let mut before: Option<(f64, f64)> = None;
    for point in &series.points {
        let here =
            point.y.filter(|_| !point.saturated).and_then(|value| Some((x.share(point.x)?, y.share(value)?)));
        if let Some((across, up)) = here {
            mark(across, up);
        }
        if let (Some(from), Some(to), false) = (before, here, letter.is_uppercase()) {
            let steps = ((to.0 - from.0) * columns as f64).abs().ceil().clamp(1.0, columns as f64);
            for step in 1..steps as usize {
                let share = step as f64 / steps;
                mark(from.0 + share * (to.0 - from.0), from.1 + share * (to.1 - from.1));
            }
        }
        before = here;
    }
}

/// The numbers below a panel that begins after `left` columns.
fn below(x: Scale, columns: usize, left: usize) -> String {
    let mut line = vec![' '; left + columns + 8];
    let mut free = 0;
    for (value, number) in x.ticks(columns / 14) {
        let Some(column) = place(x, value, columns) else { continue };
        let start = (left + column).saturating_sub(number.chars().count() / 2);
        if start >= free && start + number.chars().count() <= line.len() {
            free = start + number.chars().count() + 1;
            for (cell, digit) in line[start..].iter_mut().zip(number.chars()) {
                *cell = digit;
            }
        }
    }
    line.into_iter().collect::<String>().trim_end().to_owned()
}
