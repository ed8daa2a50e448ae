//! Output: formats of numbers, tables, and writing to standard output.

mod section;

use std::io::{self, Write};

use comfy_table::{Cell, CellAlignment, ColumnConstraint, ContentArrangement, Table, presets};
use flitwise_language::quantity::Quantity;
use flitwise_language::scenario::NetworkSpec;
use flitwise_models::table::NONE;
pub(crate) use flitwise_models::table::{
    ClassColumns, Time, cycles, mean, percent, percentile_column, share, whole, with_interval,
};
use serde::Serialize;

use crate::console::Console;
use crate::outcome::Exit;
pub(crate) use section::{add_sections, parts, section_csv, section_without_csv};

/// The widest table \[columns\].
const WIDTH: u16 = 100;

/// What all pages of HTML look like: wide things scroll in a box of class `wide`, pictures at their own size. Pages
/// with pictures are as light or dark (class `dark`) as these, others (class `either`) as the reader likes them.
pub(crate) const PAGE_STYLE: &str = include_str!("page.css");

/// Writes all of it to standard output, or to the console of this thread.
pub(crate) fn write(bytes: &[u8]) -> Result<(), Exit> {
    if let Some(console) = Console::own() {
        console.write(bytes);
        return Ok(());
    }
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()?;
    Ok(())
}

/// Writes a value as indented JSON.
pub(crate) fn write_json(value: &impl Serialize) -> Result<(), Exit> {
    let mut text = serde_json::to_vec_pretty(value)?;
    text.push(b'\n');
    write(&text)
}

/// Writes a value as JSON in one line: indented, long lists of numbers would have a line for each.
pub(crate) fn write_json_line(value: &impl Serialize) -> Result<(), Exit> {
    let mut text = serde_json::to_vec(value)?;
    text.push(b'\n');
    write(&text)
}

/// Writes a text that may be coloured; colours reach a terminal only, and never under `NO_COLOR`.
pub(crate) fn write_coloured(text: &str) -> Result<(), Exit> {
    if Console::own().is_some() {
        return write(anstream::adapter::strip_str(text).to_string().as_bytes());
    }
    let mut out = anstream::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}

/// Writes a table of comma-separated values.
pub(crate) fn write_csv(rows: csv::Writer<Vec<u8>>) -> Result<(), Exit> {
    write(&csv_bytes(rows)?)
}

/// A table of comma-separated values, to be written elsewhere.
pub(crate) fn csv_bytes(rows: csv::Writer<Vec<u8>>) -> Result<Vec<u8>, Exit> {
    rows.into_inner().map_err(|error| Exit::Output(error.into_error()))
}

/// Prints a note to standard error, or leaves it with the console of this thread.
pub(crate) fn note(text: &str) {
    if let Some(console) = Console::own() {
        return console.note(text);
    }
    let style = anstyle::AnsiColor::Yellow.on_default().bold();
    anstream::eprintln!("{style}note:{style:#} {text}");
}

/// Standard output, or the console of this thread; what is written between two calls of `flush` goes out at once, so
/// that even a process that is killed leaves whole rows.
#[derive(Default)]
pub(crate) struct WholeRows(Vec<u8>);

impl Write for WholeRows {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        match write(&std::mem::take(&mut self.0)) {
            Err(Exit::Output(error)) => Err(error),
            _ => Ok(()),
        }
    }
}

/// A page to read, in a terminal or as Markdown, being written.
pub(crate) struct Page {
    text: String,
    markdown: bool,
}

impl Page {
    pub(crate) fn new(markdown: bool) -> Self {
        Self { text: String::new(), markdown }
    }

    /// A head over what follows.
    pub(crate) fn title(&mut self, text: &str) {
        let gap = if self.text.is_empty() { "" } else { "\n" };
        if self.markdown {
            self.text.push_str(&format!("{gap}## {text}\n\n"));
        } else {
            let bold = anstyle::Style::new().bold();
            self.text.push_str(&format!("{gap}{bold}{text}{bold:#}\n"));
        }
    }

    pub(crate) fn rows(&mut self, rows: &Rows) {
        self.text.push_str(&rows.to_string());
    }

    /// A table with its head, unless it is empty.
    pub(crate) fn section(&mut self, title: &str, rows: &Rows) {
        if !rows.is_empty() {
            self.title(title);
            self.rows(rows);
        }
    }

    /// How to read the table above; Markdown has room for it in the table.
    pub(crate) fn legend(&mut self, line: &str) {
        if !self.markdown {
            self.text.push_str(&format!("{line}\n"));
        }
    }

    /// Notes below the tables, if there are any.
    pub(crate) fn remarks(&mut self, remarks: &[String]) {
        if !remarks.is_empty() {
            self.text.push('\n');
        }
        for remark in remarks {
            let line = if self.markdown { format!("- {remark}\n") } else { folded(remark) };
            self.text.push_str(&line);
        }
    }

    /// Ends the page with the solver's report.
    pub(crate) fn end(mut self, account: &str) -> String {
        if !account.is_empty() {
            self.text.push_str(&format!("\n{account}\n"));
        }
        self.text
    }
}

/// What a scenario's network is, in words.
pub(crate) fn network(network: &NetworkSpec) -> String {
    network.topology().name()
}

/// Heads of a table of quantities by class. Where parts follow their whole, signs say that they add up to it; Markdown
/// has units in brackets.
pub(crate) fn heads(quantities: &[Quantity], markdown: bool) -> Vec<String> {
    heads_in(quantities, Time::CYCLES, markdown)
}

/// The same with times in another unit.
pub(crate) fn heads_in(quantities: &[Quantity], time: Time, markdown: bool) -> Vec<String> {
    let head = |quantity: &Quantity| {
        let whole = quantity.whole().filter(|whole| quantities.contains(whole));
        let sign = match whole.and_then(|whole| whole.parts().next()) {
            Some(_) if !markdown && !quantity.is_by_place() => "",
            Some(first) if first == *quantity => "= ",
            Some(_) => "+ ",
            None => "",
        };
        match (time.word(*quantity), markdown) {
            (unit, true) if sign.is_empty() && !unit.is_empty() => format!("{} [{unit}]", quantity.name()),
            (_, true) if sign.is_empty() => quantity.name().to_owned(),
            (_, true) => format!("{sign}{}", quantity.head()),
            (unit @ ("cycles" | "ns" | "bytes/ns"), false) if sign.is_empty() => {
                format!("{}\n{unit}", quantity.head())
            }
            (_, false) if sign.is_empty() => narrow(quantity.head()),
            (_, false) => format!("{sign}{}", quantity.head().replacen(' ', "\n", 1)),
        }
    };
    ["class".to_owned()].into_iter().chain(quantities.iter().map(head)).collect()
}

/// A head in two lines: ten columns of a table and a name fit 100 columns.
fn narrow(head: &str) -> String {
    match head.split_at_checked(5) {
        Some((start, end)) if end.len() > 5 && !head.contains(' ') => format!("{start}-\n{end}"),
        _ => head.replacen(' ', "\n", 1),
    }
}

/// The table that tells where a message waits, the same for models and simulations.
pub(crate) const BY_PLACE: [Quantity; 6] = [
    Quantity::Blocking,
    Quantity::Input,
    Quantity::Arbitration,
    Quantity::Sharing,
    Quantity::Output,
    Quantity::Gaps,
];

/// Heads of a table of percentiles by class.
pub(crate) fn percentile_heads() -> Vec<String> {
    let head = |quantity: Quantity| format!("{} [cycles]", quantity.head());
    ["class".to_owned()].into_iter().chain(Quantity::PERCENTILES.map(head)).collect()
}

/// The name of a quantity in two lines, so that its column stays narrow.
pub(crate) fn two_lines(name: &str) -> String {
    if name.contains(' ') { name.replacen(' ', "\n", 1) } else { format!("\n{name}") }
}

/// A table being filled.
pub(crate) struct Rows {
    table: Table,
    markdown: bool,
}

impl Rows {
    /// With the given column heads; a line break in a head separates name and unit.
    pub(crate) fn new(heads: &[impl AsRef<str>], markdown: bool) -> Self {
        let mut table = Table::new();
        let style = if markdown { presets::ASCII_MARKDOWN } else { presets::NOTHING };
        table.load_style(style);
        if !markdown {
            table.set_width(WIDTH).set_content_arrangement(ContentArrangement::Dynamic);
        }
        let head = |text: &str| if markdown { text.replace('\n', " ") } else { text.to_owned() };
        table.set_header(heads.iter().enumerate().map(|(column, text)| cell(column, head(text.as_ref()))));
        Self { table, markdown }
    }

    /// Adds a row; the first column is text, the others are numbers.
    pub(crate) fn add(&mut self, row: impl IntoIterator<Item = String>) {
        let text = |text: String| if self.markdown { text.replace('|', "\\|") } else { text };
        let cells: Vec<Cell> =
            row.into_iter().enumerate().map(|(column, entry)| cell(column, text(entry))).collect();
        self.table.add_row(cells);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.table.row_count() == 0
    }

    /// Hides those of the given columns that have no value in any row.
    pub(crate) fn hide_if_empty(&mut self, columns: impl IntoIterator<Item = usize>) {
        for index in columns {
            let is_empty = self.table.column_cells_iter(index).flatten().all(|cell| cell.content() == NONE);
            if let Some(column) = self.table.column_mut(index).filter(|_| is_empty) {
                column.set_constraint(ColumnConstraint::Hidden);
            }
        }
    }
}

impl std::fmt::Display for Rows {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for line in self.table.to_string().lines() {
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

fn cell(column: usize, text: String) -> Cell {
    let alignment = if column == 0 { CellAlignment::Left } else { CellAlignment::Right };
    Cell::new(text).set_alignment(alignment)
}

/// A line folded at the width of tables, what follows the first indented.
pub(crate) fn folded(line: &str) -> String {
    let mut text = String::new();
    let mut column = 0;
    for word in line.split(' ') {
        let length = word.chars().count();
        if column > 0 && column + 1 + length > usize::from(WIDTH) {
            text.push_str("\n  ");
            column = 2;
        } else if column > 0 {
            text.push(' ');
            column += 1;
        }
        text.push_str(word);
        column += length;
    }
    text.push('\n');
    text
}
