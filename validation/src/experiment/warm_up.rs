//! End of the warm-up over all replications.

use crate::statistics::mser5;

use super::Experiment;
use super::memory::memory;

/// Looks at the replications during the first run.
pub(super) const STEPS: u64 = 8;

/// What was found.
pub(super) struct WarmUp {
    pub(super) cycles: u64,
    /// `false`: the first run was too short to tell.
    pub(super) settled: bool,
}

/// Groups of messages per class, about; MSER-5 makes means of five of them.
const GROUPS: usize = 500;

/// MSER-5 for each class on the messages of all replications in the order of generation, averaged in groups:
/// on the total latency, or on the network latency if the class is saturated. The latest end counts.
///
/// Of frames it is never less than an interval.
///
/// MSER-5 minimises the error of the mean, which lets a start pass that is small beside the noise of these few
/// messages but not beside that of all that will be measured. So it is never less than the time in which a
/// queue forgets that it was empty, about `10 (L + W) (1 + W / L)`: waiting `W` grows with the inverse of what
/// is left of the link, that time with its square.
pub(super) fn detect(experiment: &Experiment<'_>) -> WarmUp {
    let run_cycles = experiment.now();
    let frame = experiment.frame_interval.unwrap_or(0.0).ceil() as u64;
    let least = frame.max(10 * crossing_cycles(experiment));
    let mut found = WarmUp { cycles: least, settled: true };
    for (class, saturated) in experiment.saturated.iter().enumerate() {
        let pending = experiment.replications.iter().flat_map(|one| &one.pending);
        let mut messages: Vec<(u64, u64, u64)> = pending
            .filter(|message| usize::from(message.class) == class)
            .map(|message| {
                let waiting = if saturated.is_some() { 0 } else { message.waiting_cycles() };
                (message.generated_cycle, message.network_latency_cycles(), waiting)
            })
            .collect();
        if messages.is_empty() {
            continue;
        }
        messages.sort_unstable();
        let mean = |of: &dyn Fn(&(u64, u64, u64)) -> u64, group: &[(u64, u64, u64)]| {
            group.iter().map(|message| of(message) as f64).sum::<f64>() / group.len() as f64
        };
        let network = mean(&|message| message.1, &messages);
        let waiting = mean(&|message| message.2, &messages);
        let forgotten = 10.0 * memory(network, waiting);
        found.cycles = found.cycles.max(forgotten as u64);

        let group = messages.len().div_ceil(GROUPS);
        let total = |group: &[(u64, u64, u64)]| mean(&|message| message.1 + message.2, group);
        let series: Vec<f64> = messages.chunks_exact(group).map(total).collect();
        let Some(truncation) = mser5(&series) else { continue };
        if truncation.dropped > 0 {
            let first = messages.get(truncation.dropped * group).map_or(run_cycles, |message| message.0);
            found.cycles = found.cycles.max(first);
        }
        // what is saturated fills the network at once, so that little is left to settle
        found.settled &= truncation.settled || saturated.is_some();
    }
    found.settled &= found.cycles <= run_cycles / 2;
    found.cycles = found.cycles.min(run_cycles / 2);
    found
}

/// The longest a lone message of any class takes \[cycles\].
fn crossing_cycles(experiment: &Experiment<'_>) -> u64 {
    let hops = experiment.scenario.topology().most_hops();
    let stages = experiment.scenario.data_router().pipeline_stages;
    let longest = experiment.scenario.classes().iter().map(|class| class.message_flits).max().unwrap_or(0);
    u64::from(stages * (hops + 1) + longest)
}
