//! A terminating run interval by interval.

use schemars::JsonSchema;
use serde::Serialize;

use super::Estimate;
use crate::block::Measurements;
use crate::over_time::Bin;
use crate::statistics::{Batch, Mean, mean_of};

/// What is delivered of a class in an interval of a terminating run; intervals of the means are those over
/// replications.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Interval {
    /// First cycle of the interval \[cycles\].
    pub start_cycle: u64,
    /// Name of the class.
    pub class: String,
    /// Flits of messages delivered in it, over its length and all nodes \[flits/cycle\].
    pub delivered_flits_per_cycle: Option<Estimate>,
    /// Mean network latency of messages delivered in it \[cycles\].
    pub network_latency_cycles: Option<Estimate>,
    /// The same with waiting \[cycles\].
    pub total_latency_cycles: Option<Estimate>,
}

/// Every interval, class by class, if a series was asked for.
pub(super) fn of(measured: &Measurements<'_>) -> Option<Vec<Interval>> {
    let series = || measured.replications().filter_map(|one| one.over_time.as_ref());
    let count = series().next()?.len();
    let interval = |at: usize, class: usize| {
        let bins: Vec<Bin> = series().map(|one| one.bin(class, at)).collect();
        let spec = &measured.scenario.classes()[class];
        let estimate = |of: &dyn Fn(&Bin) -> Batch| {
            let batches: Vec<Vec<Batch>> = bins.iter().map(|bin| vec![of(bin)]).collect();
            let Mean { mean, student_half_width_95, .. } = mean_of(&batches)?;
            let messages = bins.iter().map(|bin| bin.messages).sum();
            Some(Estimate { mean, half_width_95: student_half_width_95, messages })
        };
        let flits = |bin: &Bin| bin.messages as f64 * f64::from(spec.message_flits);
        Interval {
            start_cycle: bins[0].start,
            class: spec.name.clone(),
            delivered_flits_per_cycle: estimate(&|bin| Batch { count: bin.cycles, sum: flits(bin) }),
            network_latency_cycles: estimate(&|bin| bin.network),
            total_latency_cycles: estimate(&|bin| bin.total),
        }
    };
    let classes = measured.scenario.classes().len();
    Some(
        (0..count)
            .flat_map(|at| (0..classes).map(move |class| (at, class)))
            .map(|(at, class)| interval(at, class))
            .collect(),
    )
}
