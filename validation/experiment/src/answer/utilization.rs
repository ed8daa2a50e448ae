//! Shares of the time in which interfaces and links into the network are busy, and of dummies and accelerated ones
//! among the flits.

use flitwise_language::scenario::RunPhase;
use flitwise_language::section::{Cell, Layout, Section};

use super::frame_deadlines::measurement;
use crate::activity::{ActivityLook, Share};
use crate::block::{FurtherRecord, Measurements};
use crate::statistics::{Batch, mean_of};

/// Of all that is measured, and of each phase; `None` without interfaces behind host buses and preemption.
pub(super) fn of(measured: &Measurements<'_>) -> Option<Section> {
    let scenario = measured.scenario;
    measured.further().find(|one| one.activity.len() > 1)?;
    let mut section =
        Section::new("utilization", "Interfaces and dummies", Layout::Rows).column("phase", "phase", "");
    let mut shares = Vec::new();
    let mut column = |section: Section, share: Share, field: &str, head: &str| {
        shares.push(share);
        section.column(field, head, "")
    };
    if scenario.host_interface().is_some() {
        section = column(section, Share::Bus, "bus_utilization", "host bus");
        section = column(section, Share::Firmware, "firmware_utilization", "firmware");
    }
    section = column(section, Share::Wire, "wire_utilization", "wire");
    if scenario.router().preempts() {
        section = column(section, Share::Dummies, "dummy_share", "dummies");
    }
    if scenario.router().accelerates() {
        section = column(section, Share::Accelerated, "accelerated_share", "accelerated");
    }
    let nodes = u64::from(scenario.topology().nodes());
    let row = |name: Cell, window: [u64; 2]| {
        let cell = |share: &Share| {
            let batches = |one: &FurtherRecord| batches(&one.activity, window, *share, nodes);
            let replications: Vec<Vec<Batch>> = measured.further().map(batches).collect();
            let found = mean_of(&replications).map(super::estimate_of);
            Cell::from(found.map(measurement))
        };
        [name].into_iter().chain(shares.iter().map(cell)).collect()
    };
    let of_phase = |(at, phase): (usize, RunPhase)| {
        row((at as u64 + 1).into(), [phase.begins.ceil() as u64, phase.ends.ceil() as u64])
    };
    section.rows = vec![row("all".into(), [0, u64::MAX])];
    section.rows.extend(scenario.phases().into_iter().enumerate().map(of_phase));
    Some(section)
}

/// From look to look within a window.
fn batches(looks: &[ActivityLook], [from, to]: [u64; 2], share: Share, nodes: u64) -> Vec<Batch> {
    let within: Vec<&ActivityLook> = looks.iter().filter(|look| (from..=to).contains(&look.cycle)).collect();
    match (within.first(), within.last()) {
        (Some(first), Some(last)) if last.cycle > first.cycle => vec![last.since(first, share, nodes)],
        _ => Vec::new(),
    }
}
