//! What is said of the set-up of circuits: independent set-ups, or runs in which circuits come and go, each one unit of
//! the intervals.

use flitwise_language::quantity::Quantity;
use flitwise_language::scenario::Scenario;

use crate::answer::Estimate;
use crate::replication::replication_seed;
use crate::statistics::{Batch, mean_of};
use flitwise_simulator::circuits::{CircuitDemand, Counts, calls, set_up};

/// Set-ups of the streams of a class; the first ones are those of the replications. Fewer where they take so many
/// attempts.
const SET_UPS: u32 = 200;
const FEWEST_SET_UPS: usize = 8;
const MOST_ATTEMPTS: u64 = 5_000_000;
/// Runs in which circuits come and go, and circuits counted in each.
const RUNS: u32 = 16;
const COUNTED: u64 = 10_000;

/// What became of the circuits of a class, run by run.
pub(crate) struct Circuits {
    runs: Vec<Counts>,
    are_dynamic: bool,
    /// Load of a circuit, as a share of what all senders send.
    load: f64,
}

impl Circuits {
    /// Of a class whose streams have circuits.
    pub(crate) fn of(scenario: &Scenario, class: usize, seed: u64) -> Option<Self> {
        let asked = CircuitDemand::of(scenario, class)?;
        let are_dynamic = asked.spec.is_dynamic();
        let (mut runs, mut attempts) = (Vec::new(), 0);
        for index in 0..if are_dynamic { RUNS } else { SET_UPS } {
            let seed = replication_seed(seed, index);
            let counts = calls(scenario, &asked, seed, COUNTED);
            runs.push(counts.unwrap_or_else(|| set_up(scenario, &asked, seed).1));
            attempts += runs.last().map_or(0, |counts| counts.attempts);
            if !are_dynamic && attempts > MOST_ATTEMPTS && runs.len() >= FEWEST_SET_UPS {
                break;
            }
        }
        let load = scenario.stream_load(class).unwrap_or(0.0) / asked.senders.len().max(1) as f64;
        Some(Self { runs, are_dynamic, load })
    }

    /// A quantity of circuits with its interval.
    pub(crate) fn estimate(&self, quantity: Quantity) -> Option<Estimate> {
        let of = |sum: fn(&Counts) -> f64, count: fn(&Counts) -> u64| {
            let batch = |one: &Counts| vec![Batch { count: count(one), sum: sum(one) }];
            let runs: Vec<Vec<Batch>> = self.runs.iter().map(batch).collect();
            let found = mean_of(&runs)?;
            let half_width_95 = found.student_half_width_95;
            Some(Estimate { mean: found.mean, half_width_95, messages: found.count })
        };
        let each = |sum: fn(&Counts) -> f64| of(sum, |_| 1);
        let fixed = |sum| each(sum).filter(|_| !self.are_dynamic);
        match quantity {
            Quantity::SetUpProbability => of(|one| one.established as f64, |one| one.asked),
            Quantity::CircuitAttempts => fixed(|one| one.attempts as f64),
            Quantity::CircuitsEstablished => each(|one| one.standing),
            Quantity::CircuitsDropped => fixed(|one| one.dropped as f64),
            Quantity::CircuitDropShare => of(|one| one.dropped as f64, |one| one.attempts),
            Quantity::SetUpDelay => of(|one| one.set_up_cycles, |one| one.established),
            Quantity::CircuitLoad => each(|one| one.standing).map(|found| Estimate {
                mean: found.mean * self.load,
                half_width_95: found.half_width_95.map(|width| width * self.load),
                ..found
            }),
            _ => None,
        }
    }
}
