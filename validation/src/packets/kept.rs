//! Replications of packet switches that a store keeps, one record each.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use flitwise_models::scenario::Scenario;

use super::{PacketSimulation, Problem, REPLICATIONS, Sample, answer, pool, prepared};
use crate::campaign;
use crate::experiment::{MAX_REPLICATIONS, Settings};
use crate::store::{Key, Store};

/// Replications that an interval needs.
const FEWEST: u32 = 2;

/// How many replications are wanted: as many as are asked for, else as deliver [`Settings::max_messages`] packets if
/// each delivers what the first one does, from 2 to 8.
fn wanted(settings: &Settings, samples: &[Sample]) -> u32 {
    let Some(first) = samples.first() else { return settings.replications.unwrap_or(FEWEST) };
    let enough = settings.max_messages.div_ceil(first.counts.delivered.max(1));
    let usual = enough.clamp(FEWEST.into(), REPLICATIONS.into()) as u32;
    settings.replications.unwrap_or(usual).clamp(1, MAX_REPLICATIONS)
}

/// Those that are kept, from the first on without a gap.
fn kept(store: &Store, key: &Key, problem: &Problem<'_>, notice: &mut dyn FnMut(&str)) -> Vec<Sample> {
    let found = match store.read::<Sample>(key) {
        Ok(found) => found,
        Err(error) => {
            notice(&error.to_string());
            return Vec::new();
        }
    };
    found.notices.iter().for_each(|one| notice(&one.to_string()));
    let bins = problem.end.div_ceil(problem.bin) as usize;
    let fits = |sample: &Sample| {
        sample.phases.len() == problem.phases.len()
            && sample.latency.len() == problem.traffics.len()
            && sample.bins.len() == bins
            && sample.bins.iter().all(|bin| bin.delivered.len() == problem.traffics.len())
    };
    let in_order = (0..).zip(found.records).take_while(|(index, (at, sample))| index == at && fits(sample));
    in_order.map(|(_, (_, sample))| sample).collect()
}

/// Takes from `store` what it holds and simulates the rest; none if that was broken off. Also whether anything was
/// simulated. The scenario is one that [`super::supports`] takes.
pub(crate) fn simulate(
    scenario: &Scenario,
    settings: &Settings,
    store: Option<&Store>,
    stop: &AtomicBool,
    notice: &mut dyn FnMut(&str),
) -> Option<(PacketSimulation, bool)> {
    let listed = prepared(scenario).ok()?;
    let problem = Problem::of(scenario, &listed)?;
    // a file may change while its name stays
    let store = store.filter(|_| listed.is_empty());
    let (key, pool, started) = (campaign::packets_key(scenario, settings), pool(settings), Instant::now());
    let mut samples = store.map_or_else(Vec::new, |store| kept(store, &key, &problem, notice));
    let mut simulated = false;
    let go_on = |_: u64| !stop.load(Ordering::Relaxed);
    loop {
        let (from, to) = (samples.len() as u32, wanted(settings, &samples).min(problem.most_replications()));
        if from >= to {
            samples.truncate(to as usize);
            let run = problem.run(settings, &samples, to, &pool, started);
            return Some((answer::answer(&problem, samples, run), simulated));
        }
        let new = problem.replications(settings.seed, from..to, &pool, &go_on);
        if stop.load(Ordering::Relaxed) {
            return None;
        }
        for (sequence, sample) in (from..).zip(&new) {
            if let Some(Err(error)) = store.map(|store| store.append(&key, sequence, sample)) {
                notice(&format!("a result could not be kept: {error}"));
            }
        }
        samples.extend(new);
        simulated = true;
    }
}
