//! End of the warm-up over all replications.

use crate::statistics::mser5;

use super::Experiment;
use super::control::connections_stand_from;
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

/// Intervals within which frames are through: a frame is sent over one of them.
pub(super) const FRAMES_UNDER_WAY: f64 = 1.5;

/// MSER-5 for each class on the messages of all replications in the order of generation, averaged in groups:
/// on the total latency, or on the network latency if the class is saturated. The latest end counts.
///
/// Where a class sends frames, MSER-5 looks at their latencies, too; of frames it is never less than an interval, of
/// connections never less than the time in which they are set up.
///
/// MSER-5 minimises the error of the mean, which lets a start pass that is small beside the noise of these few
/// messages but not beside that of all that will be measured. So it is never less than the time in which a
/// queue forgets that it was empty, about `10 (L + W) (1 + W / L)`: waiting `W` grows with the inverse of what
/// is left of the link, that time with its square.
pub(super) fn detect(experiment: &Experiment<'_>) -> WarmUp {
    let run_cycles = experiment.now();
    let frame = experiment.frame_interval.unwrap_or(0.0).ceil() as u64;
    let least = frame.max(10 * crossing_cycles(experiment)).max(connections_stand_from(experiment.scenario));
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
        let mean = |of: &dyn Fn(&(u64, u64, u64)) -> u64| {
            messages.iter().map(|message| of(message) as f64).sum::<f64>() / messages.len() as f64
        };
        let (network, waiting) = (mean(&|message| message.1), mean(&|message| message.2));
        let forgotten = 10.0 * memory(network, waiting);
        found.cycles = found.cycles.max(forgotten as u64);

        let totals: Vec<(f64, f64)> =
            messages.iter().map(|message| (message.0 as f64, (message.1 + message.2) as f64)).collect();
        found.look_at(&totals, run_cycles, saturated.is_some());
        if saturated.is_none() {
            found.look_at(&frame_latencies(experiment, class), run_cycles, false);
        }
    }
    found.settled &= found.cycles <= run_cycles / 2;
    found.cycles = found.cycles.min(run_cycles / 2);
    found
}

impl WarmUp {
    /// MSER-5 on latencies in the order of their times, averaged in groups.
    fn look_at(&mut self, latencies: &[(f64, f64)], run_cycles: u64, is_saturated: bool) {
        let group = latencies.len().div_ceil(GROUPS).max(1);
        let mean = |group: &[(f64, f64)]| group.iter().map(|one| one.1).sum::<f64>() / group.len() as f64;
        let series: Vec<f64> = latencies.chunks_exact(group).map(mean).collect();
        let Some(truncation) = mser5(&series) else { return };
        if truncation.dropped > 0 {
            let first =
                latencies.get(truncation.dropped * group).map_or(run_cycles, |one| one.0.ceil() as u64);
            self.cycles = self.cycles.max(first);
        }
        // what is saturated fills the network at once, so that little is left to settle
        self.settled &= truncation.settled || is_saturated;
    }
}

/// When the frames of a class began in all replications, in order, and their latencies. The last ones are left out:
/// those of them that are through already are the quick ones.
fn frame_latencies(experiment: &Experiment<'_>, class: usize) -> Vec<(f64, f64)> {
    let under_way =
        experiment.scenario.frames(class).map_or(0.0, |frames| FRAMES_UNDER_WAY * frames.interval);
    let before = experiment.now() as f64 - under_way;
    let of_all = experiment.replications.iter().flat_map(|one| one.frames.latencies(class, before));
    let mut latencies: Vec<(f64, f64)> = of_all.collect();
    latencies.sort_unstable_by(|one, other| one.0.total_cmp(&other.0).then(one.1.total_cmp(&other.1)));
    latencies
}

/// The longest a lone message of any class takes \[cycles\].
fn crossing_cycles(experiment: &Experiment<'_>) -> u64 {
    let hops = experiment.scenario.topology().most_hops();
    let stages = experiment.scenario.data_router().pipeline_stages;
    let longest = experiment.scenario.classes().iter().map(|class| class.message_flits).max().unwrap_or(0);
    u64::from(stages * (hops + 1) + longest)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Latencies that fall to a level: the warm-up ends where they have reached it, by the clock.
    #[test]
    fn a_start_shows_in_latencies_of_frames() {
        let latency = |at: f64| if at < 2_000.0 { 900.0 - 0.4 * at } else { 100.0 };
        let noise = |index: u32| f64::from(index * 7919 % 13);
        let latencies: Vec<(f64, f64)> = (0..5_000)
            .map(|index| (f64::from(index) * 2.0, latency(f64::from(index) * 2.0) + noise(index)))
            .collect();
        let mut found = WarmUp { cycles: 40, settled: true };
        found.look_at(&latencies, 10_000, false);
        assert!(found.settled && (1_800..=2_200).contains(&found.cycles), "{}", found.cycles);
        // no more than a few: nothing to tell
        let mut few = WarmUp { cycles: 40, settled: true };
        few.look_at(&latencies[..4], 10_000, false);
        assert_eq!((few.cycles, few.settled), (40, true));
    }
}
