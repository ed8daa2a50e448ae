//! A run phase by phase: a row for each phase and class.

use flitwise_language::quantity::Quantity;
use flitwise_language::scenario::{RunPhase, UnitsSpec};
use flitwise_language::section::{Cell, Layout, Section};

use super::frame_deadlines::{self, FrameDeadlineSimulation, measurement, ratio};
use super::{Estimate, is_told};
use crate::block::Measurements;
use crate::frames::WindowTally;

/// What is told of messages.
fn quantities(measured: &Measurements<'_>) -> Vec<Quantity> {
    let groups = measured.scenario.spec().groups();
    let further = [Quantity::INTERFACES, Quantity::PREEMPTIONS, Quantity::ADAPTERS].into_iter();
    let further = further.filter(|group| groups.contains(group)).flatten();
    [Quantity::NetworkLatency, Quantity::Waiting, Quantity::TotalLatency]
        .iter()
        .chain(further)
        .copied()
        .collect()
}

/// By phase and class, if the traffic changes.
pub(super) fn of(measured: &Measurements<'_>) -> Option<Section> {
    let phases = measured.scenario.phases();
    if phases.is_empty() || measured.further().next().is_none() {
        return None;
    }
    let table = Table { measured, quantities: quantities(measured) };
    let rules = table.rules(&phases);
    let mut section = table.head(&rules);
    let classes = 0..measured.scenario.classes().len();
    section.rows = (0..phases.len())
        .flat_map(|phase| classes.clone().map(move |class| (phase, class)))
        .map(|(phase, class)| table.row(&phases[phase], phase, class, &rules))
        .collect();
    Some(section)
}

struct Table<'m> {
    measured: &'m Measurements<'m>,
    quantities: Vec<Quantity>,
}

/// A rule by its prefix, its head, and whether it is the ratchet.
type RuleColumn = (String, String, bool);

impl Table<'_> {
    fn frames(&self, phase: usize, class: usize) -> Vec<&WindowTally> {
        let records = self.measured.further().filter_map(|one| one.phases.get(phase));
        records.filter_map(|one| one.frames.get(class)).collect()
    }

    fn deadlines(&self, phase: usize, class: usize) -> Vec<FrameDeadlineSimulation> {
        frame_deadlines::of(self.measured, class, &self.frames(phase, class))
    }

    /// Those of all classes.
    fn rules(&self, phases: &[RunPhase]) -> Vec<RuleColumn> {
        let mut rules: Vec<RuleColumn> = Vec::new();
        for class in 0..phases.first().map_or(0, |phase| phase.scenario.classes().len()) {
            for rule in self.deadlines(0, class) {
                let column =
                    (rule.prefix(), rule.head(), rule.law_of_records.is_some() || rule.rule == "ratchet");
                if !rules.contains(&column) {
                    rules.push(column);
                }
            }
        }
        rules
    }

    fn head(&self, rules: &[RuleColumn]) -> Section {
        let mut section = Section::new("phases", "Phase by phase", Layout::Rows)
            .column("phase", "phase", "")
            .column("class", "class", "")
            .keyed()
            .twin("begins_cycle")
            .twin("ends_cycle")
            .column("real_time_share", "share", "")
            .column("offered_flits_per_cycle_node", "offered", "")
            .twin("messages");
        let is_us = self.cycle_ns().is_some();
        for quantity in &self.quantities {
            section = section.column(quantity.field(), quantity.head(), quantity.unit().word());
            if let Some(field) = quantity.physical("us").filter(|_| is_us) {
                section = section.twin(field);
            }
        }
        if self.has_frames() {
            section = section.twin("frames").column("frame_latency_cycles", "frame latency", "cycles");
            section = section.column("frame_interval_cycles", "frame interval", "cycles");
        }
        for (prefix, head, is_ratchet) in rules {
            section = section
                .column(format!("{prefix}_deadline_missing_probability"), format!("{head} missed"), "")
                .column(format!("{prefix}_deadline_missing_time_cycles"), format!("{head} by"), "cycles");
            section =
                if is_us { section.twin(format!("{prefix}_deadline_missing_time_ms")) } else { section };
            section = section.twin(format!("{prefix}_frames"));
            section = if *is_ratchet { section.column("law_of_records", "records", "") } else { section };
        }
        section.column("saturated", "saturated", "")
    }

    fn has_frames(&self) -> bool {
        self.measured.scenario.spec().groups().contains(&Quantity::FRAMES)
    }

    fn cycle_ns(&self) -> Option<f64> {
        self.measured.scenario.spec().units.as_ref().and_then(UnitsSpec::cycle_ns)
    }

    /// The mean of a quantity of messages over replications.
    fn mean(&self, phase: usize, class: usize, quantity: Quantity) -> Option<Estimate> {
        let records = self.measured.further().filter_map(|one| one.phases.get(phase)?.messages.get(class));
        ratio(records.filter_map(|one| one.batch(quantity)))
    }

    fn row(&self, phase: &RunPhase, at: usize, class: usize, rules: &[RuleColumn]) -> Vec<Cell> {
        let spec = &self.measured.scenario.spec().phases[at];
        let messages = self.mean(at, class, Quantity::NetworkLatency).map_or(0, |found| found.messages);
        let mut row: Vec<Cell> = vec![
            (at as u64 + 1).into(),
            self.measured.scenario.classes()[class].name.as_str().into(),
            (phase.begins.ceil() as u64).into(),
            (phase.ends.ceil() as u64).into(),
            spec.real_time_share.into(),
            phase.scenario.flit_rate(class).into(),
            messages.into(),
        ];
        let cycle_ns = self.cycle_ns();
        for quantity in &self.quantities {
            let found = self.mean(at, class, *quantity);
            row.push(found.map(measurement).into());
            if let Some(cycle_ns) = cycle_ns.filter(|_| quantity.physical("us").is_some()) {
                row.push(found.map(|found| measurement(found.times(cycle_ns / 1e3))).into());
            }
        }
        if self.has_frames() {
            row.extend(self.frame_cells(at, class));
        }
        let deadlines = self.deadlines(at, class);
        for (prefix, _, is_ratchet) in rules {
            let found = deadlines.iter().find(|one| one.prefix() == *prefix);
            let cell = |of: fn(&FrameDeadlineSimulation) -> Option<Estimate>| {
                Cell::from(found.and_then(of).map(measurement))
            };
            row.push(cell(|one| one.deadline_missing_probability));
            row.push(cell(|one| one.deadline_missing_time_cycles));
            if cycle_ns.is_some() {
                row.push(cell(|one| one.deadline_missing_time_ms));
            }
            row.push(found.map(|one| one.frames).into());
            if *is_ratchet {
                row.push(found.and_then(|one| one.law_of_records).into());
            }
        }
        row.push(is_told(self.measured.saturated_in(at, class).is_some()).into());
        row
    }

    /// How many frames there are, their latency and their interval.
    fn frame_cells(&self, phase: usize, class: usize) -> [Cell; 3] {
        let interval = self.measured.scenario.frames(class).map_or(0.0, |frames| frames.interval);
        let tallies = self.frames(phase, class);
        let latency = frame_deadlines::latency(&tallies, interval);
        let intervals = tallies.iter().map(|one| &one.intervals);
        let apart = crate::frames::estimate(intervals, Quantity::FrameInterval);
        let frames = latency.map(|found| found.messages);
        [frames.into(), latency.map(measurement).into(), apart.map(measurement).into()]
    }
}
