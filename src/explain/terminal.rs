//! An explanation as text for a terminal.

use super::derivation::{Bar, BarPart, Derivation, Instance, Part, Step, Table, written};
use super::formula::{Expression, significant};
use crate::output::Rows;

/// Columns of a line.
const WIDTH: usize = 100;
/// Columns of a bar.
const BAR: f64 = 60.0;
/// What the parts of a bar are made of, in their order.
const FILLS: [char; 5] = ['█', '▓', '▒', '░', '·'];

pub(super) fn page(derivation: &Derivation) -> String {
    let bold = anstyle::Style::new().bold();
    let mut page = format!("{bold}{}{bold:#}\n", derivation.title);
    for (number, section) in derivation.sections.iter().enumerate() {
        page += &format!("\n{bold}{}. {}{bold:#}\n", number + 1, section.title);
        for (place, part) in section.parts.iter().enumerate() {
            match part {
                Part::Text { text } => {
                    page += if place == 0 { "" } else { "\n" };
                    page += &folded(&plain(text), 2, 2);
                }
                Part::Step(step) => page += &shown(step),
                Part::Table(table) => page += &rows(table),
                Part::Bar(bar) => page += &bar_of_text(bar),
                Part::Chain(chain) => page += &format!("\n{}", folded(&chain.where_drawn(), 2, 2)),
            }
        }
    }
    page
}

/// A text whose formulas are plain.
fn plain(text: &str) -> String {
    written(text, str::to_owned, Expression::plain)
}

fn shown(step: &Step) -> String {
    let bold = anstyle::Style::new().bold();
    let mut text = format!("\n  {bold}{}{bold:#}  {}\n", step.equation, step.formula.plain());
    text += &folded(&plain(step.reason), 4, 4);
    for instance in &step.instances {
        text += &folded(&line(instance), 6, 10);
    }
    text
}

/// An instance in one line.
fn line(instance: &Instance) -> String {
    let of = instance.of.as_ref().map_or(String::new(), |of| format!("{} = ", of.plain()));
    let with_unit = |value: f64| {
        let gap = if instance.unit.is_empty() { "" } else { " " };
        format!("{}{gap}{}", significant(value), instance.unit)
    };
    match instance.value {
        Some(value) => {
            let substituted = instance.substituted.plain();
            if substituted == significant(value) {
                return format!("{of}{}", with_unit(value));
            }
            format!("{of}{substituted} = {}", with_unit(value))
        }
        None => format!("{of}does not exist here"),
    }
}

fn rows(table: &Table) -> String {
    let heads: Vec<&str> = table.heads.iter().map(String::as_str).collect();
    let mut rows = Rows::new(&heads, false);
    for row in &table.rows {
        rows.add(row.iter().map(super::derivation::Entry::shown));
    }
    format!("\n{rows}")
}

/// A bar whose length is the whole, and what its parts are.
fn bar_of_text(bar: &Bar) -> String {
    let total: f64 = bar.parts.iter().map(|part| part.cycles.max(0.0)).sum();
    let mut drawn = String::new();
    let (mut below, mut done) = (0.0, 0);
    for (part, fill) in bar.parts.iter().zip(FILLS) {
        below += part.cycles.max(0.0);
        // ends are rounded, not lengths: together they are as long as the whole
        let end = if total > 0.0 { (below / total * BAR).round() as usize } else { 0 };
        drawn.extend(std::iter::repeat_n(fill, end.saturating_sub(done)));
        done = end.max(done);
    }
    let part = |(part, fill): (&BarPart, char)| format!("{fill} {} {:.2}", part.part, part.cycles);
    let parts: Vec<String> = bar.parts.iter().zip(FILLS).map(part).collect();
    let sum: f64 = bar.parts.iter().map(|part| part.cycles).sum();
    format!("\n  {}\n  {drawn}\n  {} = {sum:.2} cycles\n", bar.class, parts.join("  "))
}

/// A text in lines, the first and the others indented.
fn folded(text: &str, first: usize, others: usize) -> String {
    let mut folded = " ".repeat(first);
    let mut column = first;
    let mut fresh = true;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if !fresh && column + 1 + length > WIDTH {
            folded += &format!("\n{}", " ".repeat(others));
            column = others;
            fresh = true;
        }
        if !fresh {
            folded.push(' ');
            column += 1;
        }
        folded += word;
        column += length;
        fresh = false;
    }
    folded.push('\n');
    folded
}
