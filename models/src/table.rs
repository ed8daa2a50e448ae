//! Numbers of an answer as tables have them: digits, units, and the columns of CSV.

use flitwise_language::quantity::{Measure, Quantity, Unit};
use flitwise_language::scenario::{ClassSpec, Scenario, ScenarioSpec};
use flitwise_language::section::{Cell, Column, Measurement};

use crate::answer::{ClassAnswer, DeadlineAnswer};

/// What stands for a number that does not exist.
pub const NONE: &str = "-";

/// The unit in which pages print times: cycles, or nanoseconds of packet switches, whose cycles are ticks.
#[derive(Clone, Copy, Debug)]
pub struct Time {
    /// Its name.
    pub unit: &'static str,
    /// So many of it are a cycle.
    pub per_cycle: f64,
}

impl Time {
    /// Cycles.
    pub const CYCLES: Self = Self { unit: "cycles", per_cycle: 1.0 };

    /// That of a scenario.
    pub fn of(spec: &ScenarioSpec) -> Self {
        let (unit, per_cycle) = spec.shown_time();
        Self { unit, per_cycle }
    }

    /// A value of a quantity as it is printed.
    pub fn shown(self, quantity: Quantity, value: Option<f64>) -> Option<f64> {
        let factor = if quantity.unit() == Unit::Cycles { self.per_cycle } else { 1.0 };
        value.map(|value| value * factor)
    }

    /// The unit of a quantity.
    pub fn word(self, quantity: Quantity) -> &'static str {
        if quantity.unit() == Unit::Cycles { self.unit } else { quantity.unit().word() }
    }

    /// The name of what is asked, with its unit where that is not what a table of cycles has.
    pub fn named(self, measure: Measure) -> String {
        match measure.quantity.unit() {
            Unit::Cycles if self.unit != Self::CYCLES.unit => format!("{} [{}]", measure.name(), self.unit),
            Unit::BytesPerNs | Unit::PjPerCycle => {
                format!("{} [{}]", measure.name(), measure.quantity.unit().word())
            }
            _ => measure.name(),
        }
    }
}

/// Quantities of the first table of an answer; a model has the last four of these for all classes or for none.
pub const MEANS: [Quantity; 10] = [
    Quantity::NetworkLatency,
    Quantity::Transfer,
    Quantity::Blocking,
    Quantity::Sharing,
    Quantity::Waiting,
    Quantity::TotalLatency,
    Quantity::Utilization,
    Quantity::RouterLoad,
    Quantity::BlockingProbability,
    Quantity::CyclesPerFlit,
];

/// The same with those of packets, where there are any.
pub fn first_quantities(spec: &ScenarioSpec) -> Vec<Quantity> {
    let of_packets = Quantity::PACKETS.iter().filter(|_| spec.groups().contains(&Quantity::PACKETS));
    MEANS.iter().chain(of_packets).copied().collect()
}

/// A mean of a model in a table.
pub fn mean(quantity: Quantity, class: &ClassAnswer, time: Time) -> String {
    let value = time.shown(quantity, class.value(quantity.into()));
    match quantity {
        Quantity::Waiting | Quantity::TotalLatency if class.saturated => "saturated".to_owned(),
        _ if quantity.unit() == Unit::Cycles || quantity.is_of_packets() => cycles(value),
        _ => share(value),
    }
}

/// An entry of a section.
pub fn entry(column: &Column, cell: &Cell) -> String {
    match cell {
        Cell::Number(number) if ["", "of a link", "flits/cycle", "1/cycle"].contains(&column.unit) => {
            share(Some(*number))
        }
        Cell::Word(word) => word.clone(),
        Cell::Count(count) => grouped(*count),
        Cell::Number(number) => cycles(Some(*number)),
        Cell::Measured(Measurement { mean, half_width_95 }) => with_interval(Some(*mean), *half_width_95),
        Cell::None => NONE.to_owned(),
    }
}

/// A count with a comma before every three digits.
///
/// ```
/// # use flitwise_models::table::grouped;
/// assert_eq!([7, 999, 1_000, 1_234_567].map(grouped), ["7", "999", "1,000", "1,234,567"]);
/// ```
pub fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number of cycles or flits.
pub fn cycles(number: Option<f64>) -> String {
    match number {
        Some(number) if number.abs() >= 1e7 => format!("{number:.3e}"),
        Some(number) => format!("{number:.2}"),
        None => NONE.to_owned(),
    }
}

/// A probability or a load.
pub fn share(number: Option<f64>) -> String {
    match number {
        Some(number) if number != 0.0 && number.abs() < 1e-4 => format!("{number:.1e}"),
        Some(number) if number.abs() >= 1e5 => format!("{number:.2e}"),
        Some(number) => format!("{number:.4}"),
        None => NONE.to_owned(),
    }
}

/// A share of one, two digits of it, in percent.
pub fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    let text = if percent > 0.0 { format!("{percent:.*}", two_digits(percent)) } else { "0".to_owned() };
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text} %")
}

/// A number and the half-width of its interval, with the digits that the half-width leaves.
pub fn with_interval(number: Option<f64>, half_width: Option<f64>) -> String {
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
pub fn whole(number: Option<u32>) -> String {
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
#[derive(Clone, Debug, Default)]
pub struct ClassColumns {
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
    pub fn of(scenario: &Scenario) -> Self {
        let mut deadlines: Vec<(Option<u32>, u32)> =
            scenario.classes().iter().flat_map(ClassSpec::each_deadline).collect();
        deadlines.sort_unstable();
        deadlines.dedup();
        Self { deadlines, ..Self::of_means(scenario) }
    }

    /// The same without those of distributions.
    pub fn of_means(scenario: &Scenario) -> Self {
        let groups = scenario.spec().groups();
        Self { deadlines: Vec::new(), has_frames: groups.contains(&Quantity::FRAMES), groups }
    }

    /// Adds the columns of another scenario.
    pub fn join(&mut self, other: Self) {
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
    pub fn further(&self) -> impl Iterator<Item = &'static Quantity> {
        let told = Quantity::GROUPS.iter().filter(|group| self.groups.contains(group));
        told.copied().flatten()
    }

    /// Quantities of packets, where there are any.
    pub fn of_packets(&self) -> impl Iterator<Item = Quantity> {
        self.further().copied().filter(|quantity| quantity.is_of_packets())
    }

    /// Those that stand behind the columns of frames.
    fn behind_frames(&self) -> impl Iterator<Item = &'static Quantity> {
        self.further().filter(|quantity| !quantity.is_of_frames())
    }

    /// Short heads of the deadlines' columns, for tables.
    pub fn deadline_heads(&self) -> Vec<String> {
        let head = |(hops, cycles): &(Option<u32>, u32)| match hops {
            None => format!("P(>{cycles})"),
            Some(hops) => format!("{hops} hops P(>{cycles})"),
        };
        self.deadlines.iter().map(head).collect()
    }

    /// Every deadline, as hops and cycles, and the name of its column.
    pub fn deadlines(&self) -> impl Iterator<Item = ((Option<u32>, u32), String)> + '_ {
        self.deadlines.iter().map(|deadline| (*deadline, deadline_column(*deadline)))
    }

    /// Miss probability of each deadline; `None` where the class has no such deadline.
    pub fn misses<'c>(&'c self, class: &'c ClassAnswer) -> impl Iterator<Item = Option<Option<f64>>> + 'c {
        self.deadlines.iter().map(|deadline| {
            let found = class.deadlines.iter().find(|found| key(found) == *deadline);
            found.map(|found| found.miss_probability)
        })
    }

    /// Their names: model, class and kind, and a quantity each.
    pub fn heads(&self) -> Vec<String> {
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
    pub fn row(&self, model: &str, class: &ClassAnswer) -> Vec<String> {
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
pub fn percentile_column(quantity: Quantity) -> String {
    format!("latency_{}_cycles", quantity.word())
}

fn key(deadline: &DeadlineAnswer) -> (Option<u32>, u32) {
    (deadline.hops, deadline.deadline_cycles)
}
