//! What is told of admission, congestion and power control: means of classes, and tables of the whole network.

use flitwise_language::quantity::Quantity;
use flitwise_language::scenario::{CongestionControl, PowerControl, UnitsSpec};
use flitwise_language::section::{Cell, Layout, Measurement, Section};

use super::frame_deadlines::{measurement, ratio};
use super::{Estimate, utilization};
use crate::block::Measurements;
use crate::control::{ConnectionRecord, ControlRecord, PowerRecord};
use crate::statistics::Batch;
use flitwise_simulator::ChannelKind;

/// A quantity of the connections of a class.
pub(super) fn connections(measured: &Measurements<'_>, class: usize, quantity: Quantity) -> Option<Estimate> {
    measured.scenario.connections(class)?;
    let of = |of: &dyn Fn(&ConnectionRecord) -> Batch| {
        ratio(measured.control().map(|one| of(&one.connections[class])))
    };
    match quantity {
        Quantity::RejectedShare => of(&|one| {
            let refused: u64 = one.refused.iter().sum();
            Batch { count: one.answered(), sum: refused as f64 }
        }),
        Quantity::ConnectionSetUp => of(&|one| Batch { count: one.admitted, sum: one.set_up as f64 }),
        Quantity::ConnectionsHeld => of(&|one| Batch { count: 1, sum: one.standing }),
        _ => None,
    }
}

/// By class: requests, and what refused how many of them.
fn requests(measured: &Measurements<'_>) -> Option<Section> {
    let mut section = Section::new("requests", "Requests for connections", Layout::Rows)
        .column("class", "class", "")
        .keyed()
        .column("requests", "requests", "")
        .column("rejected_by_interface", "by the interface", "")
        .column("rejected_by_bandwidth", "by bandwidth", "")
        .column("rejected_by_power", "by power", "");
    for (class, spec) in measured.scenario.classes().iter().enumerate() {
        if spec.connections.is_none() {
            continue;
        }
        let all: u64 = measured.control().map(|one| one.connections[class].answered()).sum();
        let share = |at: usize| {
            let batch = |one: &ControlRecord| {
                let of_class = &one.connections[class];
                Batch { count: of_class.answered(), sum: of_class.refused[at] as f64 }
            };
            cell(ratio(measured.control().map(batch)))
        };
        section.rows.push(vec![spec.name.as_str().into(), all.into(), share(0), share(1), share(2)]);
    }
    (!section.rows.is_empty()).then_some(section)
}

/// Power records, one of each replication.
fn records<'a>(measured: &Measurements<'a>) -> impl Iterator<Item = &'a PowerRecord> {
    measured.control().filter_map(|one| one.power.as_ref()).filter(|one| one.windows > 0)
}

/// A quantity of the power of the network.
pub(super) fn power(measured: &Measurements<'_>, quantity: Quantity) -> Option<Estimate> {
    let has_budget = measured.scenario.power_budget().is_some();
    let each = |of: &dyn Fn(&PowerRecord) -> Option<Batch>| {
        let batches: Option<Vec<Batch>> = records(measured).map(of).collect();
        ratio(batches?.into_iter())
    };
    match quantity {
        Quantity::Power => each(&|one| Some(Batch { count: one.windows, sum: one.sum })),
        Quantity::PowerDeviation => each(&|one| Some(Batch { count: 1, sum: one.deviation()? })),
        Quantity::PowerViolations if has_budget => {
            each(&|one| Some(Batch { count: one.windows, sum: one.violations as f64 }))
        }
        _ => None,
    }
}

/// The tables of control; none where there is no control.
pub(super) fn sections(measured: &Measurements<'_>) -> Vec<Section> {
    if measured.control().next().is_none() {
        return Vec::new();
    }
    let tables = [requests(measured), flow(measured), gates(measured), energy(measured), over_time(measured)];
    tables.into_iter().flatten().collect()
}

fn cell(found: Option<Estimate>) -> Cell {
    found.map(measurement).into()
}

/// What classes offer and get through, and what is dropped of it.
fn flow(measured: &Measurements<'_>) -> Option<Section> {
    let nodes = f64::from(measured.scenario.topology().nodes());
    let mut section = Section::new("flow", "Offered and carried", Layout::Rows)
        .column("class", "class", "")
        .keyed()
        .column("offered_flits_per_cycle_node", "offered", "flits/cycle/node")
        .column("throughput_flits_per_cycle_node", "carried", "flits/cycle/node")
        .column("dropped_share", "dropped", "");
    let ejection = measured.scenario.topology().channels(ChannelKind::Ejection) as f64;
    for (class, spec) in measured.scenario.classes().iter().enumerate() {
        let flits = f64::from(spec.message_flits);
        let generated = |one: &ControlRecord| Batch {
            count: one.cycles,
            sum: one.generated[class] as f64 * flits / nodes,
        };
        let used = utilization(measured, ChannelKind::Ejection, |index| index == class);
        let carried = used.map(|used| Measurement {
            mean: used.mean * ejection / nodes,
            half_width_95: used.half_width_95.map(|width| width * ejection / nodes),
        });
        let dropped = |one: &ControlRecord| {
            Some(Batch { count: one.generated[class], sum: *one.dropped.get(class)? as f64 })
        };
        let dropped: Option<Vec<Batch>> = measured.control().map(dropped).collect();
        section.rows.push(vec![
            spec.name.as_str().into(),
            cell(ratio(measured.control().map(generated))),
            carried.into(),
            cell(dropped.and_then(|batches| ratio(batches.into_iter()))),
        ]);
    }
    Some(section)
}

/// How often something stood against a message.
fn gates(measured: &Measurements<'_>) -> Option<Section> {
    let network = measured.scenario.topology();
    let spec = measured.scenario.spec();
    let congestion = spec.congestion.map_or(CongestionControl::None, |one| one.control);
    let power = spec.power.map_or(PowerControl::None, |one| one.control);
    let (nodes, routers) = (u64::from(network.nodes()), u64::from(network.routers()));
    let has_room = measured.scenario.channel_adapter().is_some_and(|one| one.buffer_messages.is_some());
    let starts = matches!(congestion, CongestionControl::AtLeastOne | CongestionControl::SelfTuned);
    let rows = [
        ("a full interface", has_room, nodes),
        ("no credit", congestion == CongestionControl::Credit, nodes),
        ("no energy on the account", power == PowerControl::Credit, nodes),
        ("no start into the network", starts, nodes),
        ("a router without budget", power == PowerControl::PowerHerd, routers),
    ];
    let mut section = Section::new("throttled", "What held messages back", Layout::Rows)
        .column("gate", "gate", "")
        .keyed()
        .column("throttled_share", "share of cycles", "");
    for (at, (name, is_there, of)) in rows.into_iter().enumerate() {
        if is_there {
            let batch = |one: &ControlRecord| Batch { count: one.cycles * of, sum: one.throttled[at] as f64 };
            section.rows.push(vec![name.into(), cell(ratio(measured.control().map(batch)))]);
        }
    }
    let thresholds: Option<Vec<f64>> = measured.control().map(|one| one.mean_threshold).collect();
    if let Some(thresholds) = thresholds.filter(|_| congestion == CongestionControl::SelfTuned) {
        let batches = thresholds.into_iter().map(|sum| Batch { count: 1, sum });
        section.rows.push(vec!["self-tuned threshold (of all buffers)".into(), cell(ratio(batches))]);
    }
    (!section.rows.is_empty()).then_some(section)
}

/// Power of the network, in all and by part.
fn energy(measured: &Measurements<'_>) -> Option<Section> {
    let window = f64::from(measured.scenario.spec().power?.window);
    records(measured).next()?;
    let cycle_ns = measured.scenario.spec().units.as_ref().and_then(UnitsSpec::cycle_ns);
    let of = |of: &dyn Fn(&PowerRecord) -> f64| {
        ratio(records(measured).map(|one| Batch { count: one.windows, sum: of(one) }))
    };
    let total = of(&|one| one.sum);
    let mut section = Section::new("power", "Power of the network", Layout::Record).with(
        "power_pj_per_cycle",
        "power",
        "pJ/cycle",
        cell(total),
    );
    if let Some(cycle_ns) = cycle_ns {
        // pJ/ns are mW
        let watts = total.map(|found| found.times(1e-3 / cycle_ns));
        section = section.with("power_watts", "the same", "W", cell(watts));
    }
    let parts = [
        ("buffers", "buffers"),
        ("arbitration", "arbitration"),
        ("crossbars", "crossbars"),
        ("links", "links"),
    ];
    for (at, (field, head)) in parts.into_iter().enumerate() {
        let part = of(&|one: &PowerRecord| one.energy[at] / window);
        section = section.with(format!("{field}_pj_per_cycle"), head, "pJ/cycle", cell(part));
    }
    section = section
        .with(
            "deviation_pj_per_cycle",
            "deviation of windows",
            "pJ/cycle",
            cell(power(measured, Quantity::PowerDeviation)),
        )
        .with("maximum_pj_per_cycle", "highest window", "pJ/cycle", most(measured));
    if let Some(budget) = measured.scenario.power_budget() {
        let most = most(measured);
        section = section
            .with("budget_pj_per_cycle", "budget", "pJ/cycle", budget)
            .with(
                "violations_share",
                "windows above it",
                "",
                cell(power(measured, Quantity::PowerViolations)),
            )
            .with("overshoot_share", "highest above it", "", (most / budget - 1.0).max(0.0));
    }
    Some(section)
}

/// The highest power of a window of all replications.
fn most(measured: &Measurements<'_>) -> f64 {
    records(measured).map(|one| one.most).fold(0.0, f64::max)
}

/// Power window by window, of the first replication.
fn over_time(measured: &Measurements<'_>) -> Option<Section> {
    let window = u64::from(measured.scenario.spec().power?.window);
    let record = records(measured).next()?;
    let mut section =
        Section::new("power_over_time", "Power over time, of the first replication", Layout::Series)
            .column("start_cycles", "from", "cycles")
            .keyed()
            .column("power_pj_per_cycle", "power", "pJ/cycle")
            .peak("highest_pj_per_cycle", "highest", "pJ/cycle");
    for (at, power) in record.series.iter().enumerate() {
        let start = record.begins + at as u64 * window;
        section.rows.push(vec![start.into(), (*power).into(), (*power).into()]);
    }
    Some(section)
}
