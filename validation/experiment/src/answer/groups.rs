//! Means of quantities that only some scenarios have: of frames, circuits, interfaces, preemption and control.

use flitwise_language::quantity::{Means, Quantity};

use super::{Estimate, control, estimate_of, frame_deadlines};
use crate::block::{FurtherRecord, Measurements, ReplicationRecord};
use crate::by_phase::HostSums;
use crate::circuits::Circuits;
use crate::frames::{self, WindowTally};
use crate::measurement::Tally;
use crate::statistics::{Batch, mean_of};

/// The means of a class with those of its groups.
pub(super) fn add(
    means: Means<Estimate>,
    measured: &Measurements<'_>,
    class: usize,
    windows: &[&WindowTally],
) -> Means<Estimate> {
    let circuits = Circuits::of(measured.scenario, class, measured.seed);
    let has_phases = !measured.scenario.spec().phases.is_empty();
    let of_frames = |quantity| match (quantity, measured.scenario.frames(class)) {
        // of runs with phases all frames are known
        (Quantity::FrameLatency, Some(source)) if has_phases => {
            frame_deadlines::latency(windows, source.interval)
        }
        _ => frames::estimate(measured.frames(class), quantity),
    };
    let (groups, saturated) = (measured.scenario.spec().groups(), measured.saturated(class).is_some());
    let of_host = |group: &'static [Quantity], quantity: Quantity| {
        let is_steady =
            matches!(quantity, Quantity::Preemptions | Quantity::Receive | Quantity::InterfaceTime)
                || !saturated;
        let is_told = groups.contains(&group) && is_steady;
        host_sums(measured, class, quantity).filter(|_| is_told)
    };
    means
        .with_frames(of_frames)
        .with_frame_deadlines(|quantity| frame_deadlines::ratchet(measured, class, windows, quantity))
        .with_circuits(|quantity| circuits.as_ref()?.estimate(quantity))
        .with_interfaces(|quantity| of_host(Quantity::INTERFACES, quantity))
        .with_preemptions(|quantity| of_host(Quantity::PREEMPTIONS, quantity))
        .with_adapters(|quantity| of_host(Quantity::ADAPTERS, quantity))
        .with_connections(|quantity| control::connections(measured, class, quantity))
        .with_power(|quantity| control::power(measured, quantity))
}

/// What is counted of interfaces, preemption and control.
fn host_sums(measured: &Measurements<'_>, class: usize, quantity: Quantity) -> Option<Estimate> {
    let batch = |(tally, host): (&Tally, &Vec<HostSums>)| {
        Some(Batch { count: tally.count(class), sum: host.get(class)?.sum(quantity)? as f64 })
    };
    let records = measured.replications().zip(measured.further());
    let one = |(record, further): (&ReplicationRecord, &FurtherRecord)| {
        record.tallies.iter().zip(&further.host).map(batch).collect::<Option<Vec<Batch>>>()
    };
    let batches: Vec<Vec<Batch>> = records.map(one).collect::<Option<_>>()?;
    mean_of(&batches).map(estimate_of)
}
