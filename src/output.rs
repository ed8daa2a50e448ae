//! Output: formats of numbers, tables, and writing to standard output.

mod section;

use std::io::{self, Write};

use comfy_table::{Cell, CellAlignment, ColumnConstraint, ContentArrangement, Table, presets};
use flitwise_language::quantity::{Measure, Quantity, Unit};
use flitwise_language::scenario::{ClassSpec, NetworkSpec, Scenario, ScenarioSpec};
use flitwise_models::answer::{ClassAnswer, DeadlineAnswer};
use serde::Serialize;

use crate::outcome::Exit;
pub(crate) use section::{add_sections, parts, section_csv, section_without_csv};

/// The widest table \[columns\].
const WIDTH: u16 = 100;

/// What stands for a number that does not exist.
const NONE: &str = "-";

/// What all pages of HTML look like: wide things scroll in a box of class `wide`, pictures at their own size. Pages
/// with pictures are as light or dark (class `dark`) as these, others (class `either`) as the reader likes them.
pub(crate) const PAGE_STYLE: &str = include_str!("page.css");

/// Writes all of it to standard output.
pub(crate) fn write(bytes: &[u8]) -> Result<(), Exit> {
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
    let mut out = anstream::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}

/// Writes a table of comma-separated values.
pub(crate) fn write_csv(rows: csv::Writer<Vec<u8>>) -> Result<(), Exit> {
    write(&rows.into_inner().map_err(|error| Exit::Output(error.into_error()))?)
}

/// Prints a note to standard error.
pub(crate) fn note(text: &str) {
    let style = anstyle::AnsiColor::Yellow.on_default().bold();
    anstream::eprintln!("{style}note:{style:#} {text}");
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
pub(crate) fn network(network: NetworkSpec) -> String {
    network.topology().name()
}

/// The unit in which pages print times: cycles, or nanoseconds of packet switches, whose cycles are ticks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Time {
    pub(crate) unit: &'static str,
    pub(crate) per_cycle: f64,
}

impl Time {
    pub(crate) const CYCLES: Self = Self { unit: "cycles", per_cycle: 1.0 };

    pub(crate) fn of(spec: &ScenarioSpec) -> Self {
        let (unit, per_cycle) = spec.shown_time();
        Self { unit, per_cycle }
    }

    /// A value of a quantity as it is printed.
    pub(crate) fn shown(self, quantity: Quantity, value: Option<f64>) -> Option<f64> {
        let factor = if quantity.unit() == Unit::Cycles { self.per_cycle } else { 1.0 };
        value.map(|value| value * factor)
    }

    fn word(self, quantity: Quantity) -> &'static str {
        if quantity.unit() == Unit::Cycles { self.unit } else { quantity.unit().word() }
    }

    /// The name of what is asked, with its unit where that is not what a table of cycles has.
    pub(crate) fn named(self, measure: Measure) -> String {
        match measure.quantity.unit() {
            Unit::Cycles if self.unit != Self::CYCLES.unit => format!("{} [{}]", measure.name(), self.unit),
            Unit::BytesPerNs | Unit::PjPerCycle => {
                format!("{} [{}]", measure.name(), measure.quantity.unit().word())
            }
            _ => measure.name(),
        }
    }
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

/// A mean of a model in a table.
pub(crate) fn mean(quantity: Quantity, class: &ClassAnswer, time: Time) -> String {
    let value = time.shown(quantity, class.value(quantity.into()));
    match quantity {
        Quantity::Waiting | Quantity::TotalLatency if class.saturated => "saturated".to_owned(),
        _ if quantity.unit() == Unit::Cycles || quantity.is_of_packets() => cycles(value),
        _ => share(value),
    }
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

/// A number of cycles or flits.
pub(crate) fn cycles(number: Option<f64>) -> String {
    match number {
        Some(number) if number.abs() >= 1e7 => format!("{number:.3e}"),
        Some(number) => format!("{number:.2}"),
        None => NONE.to_owned(),
    }
}

/// A probability or a load.
pub(crate) fn share(number: Option<f64>) -> String {
    match number {
        Some(number) if number != 0.0 && number.abs() < 1e-4 => format!("{number:.1e}"),
        Some(number) if number.abs() >= 1e5 => format!("{number:.2e}"),
        Some(number) => format!("{number:.4}"),
        None => NONE.to_owned(),
    }
}

/// A share of one, two digits of it, in percent.
pub(crate) fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    let text = if percent > 0.0 { format!("{percent:.*}", two_digits(percent)) } else { "0".to_owned() };
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text} %")
}

/// A number and the half-width of its interval, with the digits that the half-width leaves.
pub(crate) fn with_interval(number: Option<f64>, half_width: Option<f64>) -> String {
    match (number, half_width) {
        (None, _) => NONE.to_owned(),
        (Some(_), None) => format!("{} ±?", cycles(number)),
        (Some(number), Some(width)) if number >= 1e7 => format!("{number:.3e} ±{width:.1e}"),
        (Some(number), Some(width)) => {
            let digits = if width > 0.0 { two_digits(width) } else { 2 };
            format!("{number:.digits$} ±{width:.digits$}")
        }
    }
}

/// Decimals after which a number above zero has two digits, four at most.
fn two_digits(number: f64) -> usize {
    (1.0 - number.log10().floor()).clamp(0.0, 4.0) as usize
}

/// A whole number.
pub(crate) fn whole(number: Option<u32>) -> String {
    number.map_or_else(|| NONE.to_owned(), |number| number.to_string())
}

/// The name of the CSV column of a deadline.
fn deadline_column((hops, cycles): (Option<u32>, u32)) -> String {
    match hops {
        None => format!("miss_probability_at_{cycles}_cycles"),
        Some(hops) => format!("miss_probability_at_{cycles}_cycles_over_{hops}_hops"),
    }
}

/// The CSV table of answers: its columns depend on the deadlines of the scenario.
#[derive(Default)]
pub(crate) struct ClassColumns {
    deadlines: Vec<(Option<u32>, u32)>,
    /// Whether a class has streams of frames.
    has_frames: bool,
    /// Groups of quantities that there are: of frames, circuits or packets.
    groups: Vec<&'static [Quantity]>,
}

/// Columns of models of frames in CSV, behind those of the quantities of frames.
const FRAME_COLUMNS: [&str; 3] = ["jitter_free", "jitter_free_load", "saturates_at_load_factor"];

impl ClassColumns {
    /// Columns for answers to this scenario.
    pub(crate) fn of(scenario: &Scenario) -> Self {
        let mut deadlines: Vec<(Option<u32>, u32)> =
            scenario.classes().iter().flat_map(ClassSpec::each_deadline).collect();
        deadlines.sort_unstable();
        deadlines.dedup();
        Self { deadlines, ..Self::of_means(scenario) }
    }

    /// The same without those of distributions.
    pub(crate) fn of_means(scenario: &Scenario) -> Self {
        let groups = scenario.spec().groups();
        Self { deadlines: Vec::new(), has_frames: groups.contains(&Quantity::FRAMES), groups }
    }

    /// Adds the columns of another scenario.
    pub(crate) fn join(&mut self, other: Self) {
        self.has_frames |= other.has_frames;
        let is_new = |group: &&'static [Quantity]| !self.groups.contains(group);
        let new: Vec<&'static [Quantity]> = other.groups.into_iter().filter(is_new).collect();
        self.groups.extend(new);
        if other.deadlines != self.deadlines {
            self.deadlines.extend(other.deadlines);
            self.deadlines.sort_unstable();
            self.deadlines.dedup();
        }
    }

    /// Quantities of frames, circuits and packets, where there are any.
    pub(crate) fn further(&self) -> impl Iterator<Item = &'static Quantity> {
        let told = Quantity::GROUPS.iter().filter(|group| self.groups.contains(group));
        told.copied().flatten()
    }

    /// Quantities of packets, where there are any.
    pub(crate) fn of_packets(&self) -> impl Iterator<Item = Quantity> {
        self.further().copied().filter(|quantity| quantity.is_of_packets())
    }

    /// Those that stand behind the columns of frames.
    fn behind_frames(&self) -> impl Iterator<Item = &'static Quantity> {
        self.further().filter(|quantity| !quantity.is_of_frames())
    }

    /// Short heads of the deadlines' columns, for tables.
    pub(crate) fn deadline_heads(&self) -> Vec<String> {
        let head = |(hops, cycles): &(Option<u32>, u32)| match hops {
            None => format!("P(>{cycles})"),
            Some(hops) => format!("{hops} hops P(>{cycles})"),
        };
        self.deadlines.iter().map(head).collect()
    }

    /// Every deadline, as hops and cycles, and the name of its column.
    pub(crate) fn deadlines(&self) -> impl Iterator<Item = ((Option<u32>, u32), String)> + '_ {
        self.deadlines.iter().map(|deadline| (*deadline, deadline_column(*deadline)))
    }

    /// Miss probability of each deadline; `None` where the class has no such deadline.
    pub(crate) fn misses<'c>(
        &'c self,
        class: &'c ClassAnswer,
    ) -> impl Iterator<Item = Option<Option<f64>>> + 'c {
        self.deadlines.iter().map(|deadline| {
            let found = class.deadlines.iter().find(|found| key(found) == *deadline);
            found.map(|found| found.miss_probability)
        })
    }

    pub(crate) fn heads(&self) -> Vec<String> {
        let means = Quantity::MEANS.iter().map(|quantity| quantity.field().to_owned());
        let percentiles = Quantity::PERCENTILES.map(percentile_column);
        let named = ["model", "class", "kind"].map(str::to_owned).into_iter().chain(means);
        let fixed = named.chain(["saturated".to_owned()]).chain(percentiles);
        let deadlines = self.deadlines().map(|(_, name)| name);
        let frames = Quantity::FRAMES.iter().map(|quantity| quantity.field()).chain(FRAME_COLUMNS);
        let frames = frames.filter(|_| self.has_frames).map(str::to_owned);
        let others = self.behind_frames().map(|quantity| quantity.field().to_owned());
        fixed.chain(deadlines).chain(frames).chain(others).collect()
    }

    /// One row; what does not exist is empty.
    pub(crate) fn row(&self, model: &str, class: &ClassAnswer) -> Vec<String> {
        let real = |number: Option<f64>| number.map_or_else(String::new, |number| number.to_string());
        let value = |quantity: &Quantity| real(class.value((*quantity).into()));
        let mut row = vec![model.to_owned(), class.name.clone(), class.kind.word().to_owned()];
        row.extend(Quantity::MEANS.iter().map(value));
        row.push(class.saturated.to_string());
        row.extend(Quantity::PERCENTILES.iter().map(value));
        row.extend(self.misses(class).map(|miss| real(miss.flatten())));
        if self.has_frames {
            let frames = class.frames.as_ref();
            row.extend(Quantity::FRAMES.iter().map(value));
            row.push(frames.map_or_else(String::new, |frames| frames.jitter_free.to_string()));
            row.push(real(frames.map(|frames| frames.jitter_free_load)));
            row.push(real(class.lanes.as_ref().map(|lanes| lanes.at_load_factor)));
        }
        row.extend(self.behind_frames().map(value));
        row
    }
}

/// The name of the CSV column of a percentile.
pub(crate) fn percentile_column(quantity: Quantity) -> String {
    format!("latency_{}_cycles", quantity.word())
}

fn key(deadline: &DeadlineAnswer) -> (Option<u32>, u32) {
    (deadline.hops, deadline.deadline_cycles)
}
