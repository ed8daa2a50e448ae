//! Numbers of a class phase by phase: the columns of the section `phases` of a model's answer or of a simulation.

use flitwise_experiment::answer::ConfidenceInterval;
use flitwise_language::quantity::{Quantity, Unit};
use flitwise_language::scenario::{FrameDeadline, Scenario};
use flitwise_language::section::{Cell, Section};

/// The section that has them.
pub const SECTION: &str = "phases";

const OFFERED: &str = "offered_flits_per_cycle_node";

/// A column of the section that holds numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhaseColumn {
    /// In the section.
    pub field: String,
    /// What it is called in a sentence.
    pub name: String,
    /// Its unit.
    pub unit: Unit,
}

impl PhaseColumn {
    fn new(field: impl Into<String>, name: impl Into<String>, unit: Unit) -> Self {
        Self { field: field.into(), name: name.into(), unit }
    }

    fn of(quantity: Quantity) -> Self {
        Self::new(quantity.field(), quantity.name(), quantity.unit())
    }

    /// How often frames miss a deadline, and by how much.
    fn of_deadline(prefix: &str, what: &str) -> [Self; 2] {
        [
            Self::new(
                format!("{prefix}_deadline_missing_probability"),
                format!("deadline missing probability, {what}"),
                Unit::Probability,
            ),
            Self::new(
                format!("{prefix}_deadline_missing_time_cycles"),
                format!("deadline missing time, {what}"),
                Unit::Cycles,
            ),
        ]
    }

    /// Its unit in words.
    pub fn unit_word(&self) -> &'static str {
        if self.field == OFFERED { "flits/cycle" } else { self.unit.word() }
    }
}

/// The columns that a model or the simulation may have of this scenario.
pub fn columns(scenario: &Scenario) -> Vec<PhaseColumn> {
    let groups = scenario.spec().groups();
    let further = [Quantity::INTERFACES, Quantity::PREEMPTIONS, Quantity::ADAPTERS].into_iter();
    let further = further.filter(|group| groups.contains(group)).flatten();
    let latencies = [Quantity::NetworkLatency, Quantity::Waiting, Quantity::TotalLatency];
    let frames = [Quantity::FrameLatency, Quantity::FrameInterval];
    let frames = frames.iter().filter(|_| groups.contains(&Quantity::FRAMES));
    let mut columns = vec![PhaseColumn::new(OFFERED, "offered load of a node", Unit::Load)];
    columns.extend(latencies.iter().chain(further).chain(frames).map(|quantity| PhaseColumn::of(*quantity)));
    for rule in scenario.classes().iter().flat_map(|class| &class.frame_deadline) {
        match rule {
            FrameDeadline::Ratchet => {
                columns.extend(PhaseColumn::of_deadline("ratchet", "ratchet"));
                let name = "deadline missing probability, law of records";
                columns.push(PhaseColumn::new("law_of_records", name, Unit::Probability));
            }
            FrameDeadline::Playout { delays } => {
                let of = |delay: &f64| {
                    PhaseColumn::of_deadline(
                        &format!("playout_{delay}"),
                        &format!("{delay} cycles of playout"),
                    )
                };
                columns.extend(delays.iter().flat_map(of));
            }
        }
    }
    let mut known: Vec<String> = Vec::new();
    columns.retain(|column| {
        let is_new = !known.contains(&column.field);
        known.push(column.field.clone());
        is_new
    });
    columns
}

/// Along what phases stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MixAxis {
    /// The share of real time, where each phase has one of its own.
    Share,
    /// The number of the phase.
    Number,
}

impl MixAxis {
    /// That of a scenario.
    pub fn of(scenario: &Scenario) -> Self {
        let shares: Vec<Option<f64>> =
            scenario.spec().phases.iter().map(|phase| phase.real_time_share).collect();
        let is_own = |(at, share): (usize, &Option<f64>)| share.is_some() && !shares[..at].contains(share);
        if shares.iter().enumerate().all(is_own) { Self::Share } else { Self::Number }
    }

    /// Where the phases of a scenario stand.
    pub fn places(self, scenario: &Scenario) -> Vec<f64> {
        let phases = scenario.spec().phases.iter().enumerate();
        let place = |(at, share): (usize, Option<f64>)| match self {
            Self::Share => share,
            Self::Number => Some(at as f64 + 1.0),
        };
        phases.filter_map(|(at, phase)| place((at, phase.real_time_share))).collect()
    }
}

/// A number of a class in a phase.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PhaseReading {
    /// The number of the phase, from 1 on.
    pub phase: f64,
    /// The share of real time in it, if it says one.
    pub real_time_share: Option<f64>,
    /// The number, with an interval if it is a mean over replications.
    pub found: Option<ConfidenceInterval>,
    /// Whether the class is saturated in this phase.
    pub saturated: bool,
}

impl PhaseReading {
    /// Where it stands.
    pub fn x(&self, along: MixAxis) -> Option<f64> {
        match along {
            MixAxis::Share => self.real_time_share,
            MixAxis::Number => Some(self.phase),
        }
    }
}

/// Whether a section has such a column.
pub fn has(section: &Section, field: &str) -> bool {
    place_of(section, field).is_some()
}

fn place_of(section: &Section, field: &str) -> Option<usize> {
    section.columns.iter().position(|column| column.field == field)
}

/// A column of a class, phase by phase.
pub fn readings(section: &Section, field: &str, class: &str) -> Vec<PhaseReading> {
    let is_word =
        |row, field, word| matches!(section.cell(row, field), Some(Cell::Word(found)) if found == word);
    let number = |row, field| section.cell(row, field).and_then(Cell::number);
    let column = place_of(section, field);
    let reading = |row: usize| {
        let cell = column.and_then(|column| section.rows[row].get(column));
        let end = |sign: f64| match cell? {
            Cell::Measured(found) => Some(found.mean + sign * found.half_width_95?),
            _ => None,
        };
        let found = cell.and_then(Cell::number);
        let found = found.map(|value| ConfidenceInterval { value, lower_95: end(-1.0), upper_95: end(1.0) });
        // models name what is saturated, the simulation says whether the class is
        let saturated = is_word(row, "saturated", "yes")
            || matches!(section.cell(row, "saturated_by"), Some(Cell::Word(_)));
        let (phase, real_time_share) = (number(row, "phase")?, number(row, "real_time_share"));
        Some(PhaseReading { phase, real_time_share, found, saturated })
    };
    let rows = (0..section.rows.len()).filter(|row| is_word(*row, "class", class));
    rows.filter_map(reading).collect()
}
