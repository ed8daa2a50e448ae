//! Terminating runs: each replication is a run from its start to its end, which may have phases.

use flitwise_language::scenario::RunPhase;

use super::block::{Saturation, Stop};
use super::{Experiment, Listener, Progress, growth};

/// Steps of a run, after each of which progress is told; with phases those of each.
const RUN_STEPS: u64 = 32;
const PHASE_STEPS: u64 = 8;

impl Experiment<'_> {
    /// Measures a run. Messages that are under way at its end are not waited for, but where it has phases: then the
    /// sources of the last one stay on until all that is measured has come.
    pub(super) async fn whole_run(&mut self, cycles: u64, listener: &mut dyn Listener) -> Stop {
        let from = self.given_warmup().unwrap_or(0).min(cycles);
        self.warmup_cycles = from;
        let has_phases = !self.phases.is_empty();
        let steps = self.steps(from, cycles);
        let last = steps.len() - 1;
        for (step, end) in steps.into_iter().enumerate() {
            let halted = self.advance(end).await;
            if halted.is_some() {
                return halted.unwrap_or(Stop::End);
            }
            self.settle(end, listener);
            let (messages, precision) = (self.messages(), self.precision());
            let share_done = (step as f64 / last.max(1) as f64).max(self.share_of_time());
            self.tell(listener, &Progress { warming_up: step == 0, messages, precision, share_done });
        }
        if has_phases {
            if let Some(halted) = self.run_out_whole(cycles).await {
                return halted;
            }
            self.settle(cycles, listener);
            self.judge_phases();
        }
        Stop::End
    }

    /// The cycles at which a run is looked at, beginnings and ends of phases among them.
    fn steps(&self, from: u64, cycles: u64) -> Vec<u64> {
        if self.phases.is_empty() {
            return (0..=RUN_STEPS).map(|step| from + (cycles - from) * step / RUN_STEPS).collect();
        }
        let of_phase = |phase: &RunPhase| {
            let (begins, ends) = cycles_of(phase);
            (1..=PHASE_STEPS).map(move |step| begins + (ends - begins) * step / PHASE_STEPS)
        };
        let mut steps = vec![from];
        steps.extend(self.phases.iter().flat_map(of_phase).filter(|cycle| *cycle > from));
        steps.dedup();
        steps
    }

    /// Simulates on until all messages and frames that begin before the end of the run have been delivered, but for
    /// classes whose messages do not come through in as many cycles again.
    async fn run_out_whole(&mut self, end: u64) -> Option<Stop> {
        let awaited = vec![true; self.saturated.len()];
        let limit = end.saturating_mul(2).saturating_add(100_000);
        let halted = self
            .in_parallel(|one, halt| {
                one.run_out(end, limit, &awaited, halt) && one.run_out_frames(end, limit, halt)
            })
            .await;
        let stuck = |class: usize| self.replications.iter().any(|one| one.outstanding[class] > 0);
        for class in (0..awaited.len()).filter(|class| halted.is_none() && stuck(*class)).collect::<Vec<_>>()
        {
            self.saturated[class] = Some(Saturation::NeverDelivered { cycles: limit - end });
        }
        halted
    }

    /// By phase and class: whether the backlog grows in it, once its start does not show.
    fn judge_phases(&mut self) {
        let judged = |phase: &RunPhase| {
            let (begins, ends) = cycles_of(phase);
            let window = begins + (ends - begins) / 4..=ends;
            let class =
                |class: usize| match growth::judge_within(self, &phase.scenario, class, window.clone()) {
                    growth::Verdict::Grows(found) => Some(found),
                    growth::Verdict::Steady | growth::Verdict::Suspicious => None,
                };
            (0..self.saturated.len()).map(class).collect()
        };
        self.saturated_in_phases = self.phases.iter().map(judged).collect();
    }
}

/// The first cycle of a phase, and the one behind its last.
fn cycles_of(phase: &RunPhase) -> (u64, u64) {
    (phase.begins.ceil() as u64, phase.ends.ceil() as u64)
}
