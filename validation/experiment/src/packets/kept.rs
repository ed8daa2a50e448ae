//! Replications of packet switches that are kept between runs, one record each.

use flitwise_language::scenario::Scenario;

use super::answer::{Circumstances, answer};
use super::{Problem, REPLICATIONS, Sample, prepared};
use crate::answer::Simulation;
use crate::{Host, MAX_REPLICATIONS, Settings};

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

/// Where replications are kept between runs, numbered by their indices.
pub trait Shelf {
    /// Those that are there, in the order of their indices.
    fn read(&mut self) -> Vec<(u32, Sample)>;

    /// One more.
    fn append(&mut self, index: u32, sample: &Sample);
}

/// Those that are kept, from the first on without a gap.
fn kept(shelf: &mut dyn Shelf, problem: &Problem<'_>) -> Vec<Sample> {
    let bins = problem.end.div_ceil(problem.bin) as usize;
    let fits = |sample: &Sample| {
        sample.phases.len() == problem.phases.len()
            && sample.latency.len() == problem.traffics.len()
            && sample.traffics.len() == problem.traffics.len()
            && sample.bins.len() == bins
            && sample.bins.iter().all(|bin| bin.delivered.len() == problem.traffics.len())
    };
    let in_order = (0..).zip(shelf.read()).take_while(|(index, (at, sample))| index == at && fits(sample));
    in_order.map(|(_, (_, sample))| sample).collect()
}

/// Takes from `shelf` what it holds and simulates the rest; none if that was broken off. Also whether anything was
/// simulated. The scenarios differ in names only, and are ones that [`super::supports`] takes.
pub fn run_kept(
    scenarios: &[&Scenario],
    settings: &Settings,
    shelf: Option<&mut dyn Shelf>,
    host: &Host<'_>,
) -> Option<(Vec<Simulation>, bool)> {
    let scenario = scenarios.first()?;
    let listed = prepared(scenario, host.read).ok()?;
    let problem = Problem::of(scenario, &listed)?;
    // a file may change while its name stays
    let mut shelf = shelf.filter(|_| listed.is_empty());
    let started = host.now();
    let mut samples = shelf.as_deref_mut().map_or_else(Vec::new, |shelf| kept(shelf, &problem));
    let mut simulated = false;
    let deadline = settings.max_time.and_then(|most| started.checked_add(most));
    let is_over = || deadline.is_some_and(|deadline| host.now() >= deadline);
    let go_on = |_: u64| !host.is_interrupted() && !is_over();
    loop {
        let (from, to) = (samples.len() as u32, wanted(settings, &samples).min(problem.most_replications()));
        if from >= to || is_over() {
            samples.truncate(to as usize);
            let how = Circumstances {
                settings,
                wanted: to,
                is_interrupted: false,
                threads: host.threads(),
                seconds: host.now().saturating_sub(started).as_secs_f64(),
            };
            let answers = scenarios.iter().map(|scenario| answer(scenario, &problem, &samples, &how));
            return Some((answers.collect(), simulated));
        }
        let new = problem.replications(settings.seed, from..to, host.workers, &go_on);
        if host.is_interrupted() {
            return None;
        }
        // where time was over, those that are through are not the first ones
        let is_whole = new.len() == (to - from) as usize;
        for (index, sample) in (from..).zip(&new).filter(|_| is_whole) {
            if let Some(shelf) = shelf.as_deref_mut() {
                shelf.append(index, sample);
            }
        }
        samples.extend(new);
        simulated = true;
    }
}
