//! Sections of answers, of models and simulations alike: on pages and as CSV.

use flitwise_language::document::one_of;
use flitwise_language::section::{Cell, Column, Layout, Section, Sections};
use flitwise_models::table::entry;

use super::{Page, Rows, cycles, write_csv};
use crate::args::Format;
use crate::outcome::Exit;

/// Adds every section to a page.
pub(crate) fn add_sections(page: &mut Page, sections: &Sections, markdown: bool) {
    for (at, part) in sections.0.iter().flat_map(|one| parts(one).into_iter().enumerate()) {
        let (title, rows) = table(&part, markdown);
        page.section(&if at == 0 { title } else { format!("{title}, continued") }, &rows);
    }
}

/// Columns of a table on a page beside those that say what a row is about, at most.
const MOST_COLUMNS: usize = 7;

/// A section without what stands in documents alone; a wide one in parts that fit a page.
pub(crate) fn parts(section: &Section) -> Vec<Section> {
    let printed = |at: &usize| !section.columns[*at].is_twin;
    let (keys, others): (Vec<usize>, Vec<usize>) =
        (0..section.columns.len()).filter(printed).partition(|at| *at < section.keys);
    let count = if keys.is_empty() { 1 } else { others.len().div_ceil(MOST_COLUMNS).max(1) };
    let part = |others: &[usize]| {
        let columns: Vec<usize> = keys.iter().chain(others).copied().collect();
        Section {
            columns: columns.iter().map(|at| section.columns[*at].clone()).collect(),
            rows: section
                .rows
                .iter()
                .map(|row| columns.iter().map(|at| row[*at].clone()).collect())
                .collect(),
            ..section.clone()
        }
    };
    others.chunks(others.len().div_ceil(count).max(1)).map(part).collect()
}

/// Rows of a series on a page, at most; documents and CSV have every one.
const MOST_ROWS: usize = 20;

/// A section as a table, and its title.
fn table(section: &Section, markdown: bool) -> (String, Rows) {
    let head = |column: &Column| match column.unit {
        "" => column.head.clone(),
        unit => format!("{} [{unit}]", column.head),
    };
    if section.layout == Layout::Record {
        let mut rows = Rows::new(&["quantity", "value", "unit"], markdown);
        let cells = section.columns.iter().zip(section.rows.iter().flatten());
        for (column, cell) in cells.filter(|(_, cell)| **cell != Cell::None) {
            rows.add([column.head.clone(), entry(column, cell), column.unit.to_owned()]);
        }
        return (section.title.to_owned(), rows);
    }
    let heads: Vec<String> = section.columns.iter().map(head).collect();
    let mut rows = Rows::new(&heads, markdown);
    let is_series = section.layout == Layout::Series;
    let merged = if is_series { section.rows.len().div_ceil(MOST_ROWS).max(1) } else { 1 };
    for several in section.rows.chunks(merged) {
        let joined = |(at, column): (usize, &Column)| {
            let numbers = || several.iter().filter_map(move |row| row[at].number());
            match (at, column.is_peak) {
                _ if merged == 1 => entry(column, &several[0][at]),
                (0, _) => entry(column, &several[0][0]),
                (_, true) => cycles(numbers().reduce(f64::max)),
                (_, false) => cycles(
                    Some(numbers().sum::<f64>() / numbers().count() as f64).filter(|mean| mean.is_finite()),
                ),
            }
        };
        rows.add(section.columns.iter().enumerate().map(joined));
    }
    let title = match merged {
        1 => section.title.to_owned(),
        _ => format!("{}, {merged} intervals a row", section.title),
    };
    (title, rows)
}

/// The rows of a section as CSV: a measured mean has its half-width beside it.
pub(crate) fn section_csv(sections: &Sections, name: &str) -> Result<(), Exit> {
    let Some(section) = sections.find(name) else {
        let names: Vec<&str> = sections.0.iter().map(|section| section.name).collect();
        let wanted = match names.as_slice() {
            [] => "none: this answer has no sections".to_owned(),
            names => format!("one of {}", one_of(names.iter().copied())),
        };
        return Err(Exit::input(format!("--section {name}: found no section \"{name}\", wanted {wanted}")));
    };
    let is_measured = |at: usize| section.rows.iter().any(|row| matches!(row[at], Cell::Measured(_)));
    let heads = section.columns.iter().enumerate().flat_map(|(at, column)| {
        let width = is_measured(at).then(|| format!("{}_half_width_95", column.field));
        [column.field.clone()].into_iter().chain(width)
    });
    let mut rows = csv::Writer::from_writer(Vec::new());
    rows.write_record(heads)?;
    for row in &section.rows {
        let fields = row.iter().enumerate().flat_map(|(at, cell)| {
            let real = |number: Option<f64>| number.map_or_else(String::new, |number| number.to_string());
            let (value, width) = match cell {
                Cell::Word(word) => (word.clone(), None),
                Cell::Measured(measured) => (measured.mean.to_string(), measured.half_width_95),
                Cell::Count(count) => (count.to_string(), None),
                cell => (real(cell.number()), None),
            };
            [value].into_iter().chain(is_measured(at).then(|| real(width)))
        });
        rows.write_record(fields)?;
    }
    write_csv(rows)
}

/// What is wrong with `--section` beside another format than CSV.
pub(crate) fn section_without_csv(section: Option<&str>, format: Format) -> Option<String> {
    let name = section.filter(|_| format != Format::Csv)?;
    Some(format!("--section {name}: found another format, wanted --format csv: others have all sections"))
}
