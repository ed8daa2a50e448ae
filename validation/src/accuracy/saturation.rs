//! The load at which a class saturates in simulation.
//!
//! A class saturates where its throughput under overload equals its rate. `T(f)` is its throughput
//! \[messages/cycle/node\] if its source queues never run empty and the rates of all other classes are multiplied by
//! `f`; its Vtick is that of its own rate times `f`. The load factor of saturation is the root of `T(f) = f rate`: `T`
//! falls and the right side rises. The secant method finds the root over runs with common random numbers.

use flitwise_language::scenario::{ClassKind, Fault, Scenario, ScenarioSpec, SourceSpec};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::store::{Key, Store};
use flitwise_experiment::statistics::{Batch, Mean, mean_of};
use flitwise_experiment::{Host, Settings};
use flitwise_simulator::REVISION;
use flitwise_simulator::{ChannelKind, Simulator};

/// Where a class saturates.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SaturationLoad {
    /// It saturates when all rates of the scenario are multiplied by this.
    pub factor: f64,
    /// 95 % half-width of that.
    pub half_width_95: f64,
}

/// Raised whenever this file gives other numbers than before.
const METHOD: u32 = 1;

/// Flits per cycle and node that an overloaded class generates.
const OVERLOAD: f64 = 1.5;
/// What a source queue of the overloaded class keeps.
const OWN_QUEUE: usize = 64;
/// What source queues of other classes keep, which may be overloaded, too.
const OTHER_QUEUE: usize = 4096;
/// Replications that are run together.
const REPLICATIONS: u32 = 8;
/// Such sets in search of the root, and at the root at most.
const SEARCH_SETS: u32 = 1;
const MOST_SETS: u32 = 10;
/// Flits that links could carry in the cycles measured of a set, in mean messages: about as many messages, a
/// little less than that, get through.
const SET_MESSAGES: f64 = 60_000.0;
/// Messages' lengths that a replication lasts, at least.
const LEAST_LENGTHS: f64 = 150.0;
/// Cycles of a replication, at least.
const LEAST_CYCLES: f64 = 3_000.0;
/// Cycles left out at the start, as a share of those measured.
const WARM_UP: f64 = 0.3;
/// Steps in search of the root.
const MOST_STEPS: usize = 7;
/// Step, as a share of the factor, at which the search ends.
const STEP: f64 = 0.005;
/// Half-width, as a share of the factor, at which it counts as known.
const WIDTH: f64 = 0.004;

/// The scenario with all rates multiplied by `factor`; given Vticks stay as they are.
///
/// An ON/OFF class of such a rate that its streams would have to be ON all the time gets Poisson sources: it is
/// far beyond saturation, where sources show no more.
///
/// # Errors
/// What makes no sense at such rates.
pub fn scaled(scenario: &Scenario, factor: f64) -> Result<Scenario, Vec<Fault>> {
    let mut spec = scenario.spec().clone();
    scale(&mut spec, factor);
    spec.check()
}

fn scale(spec: &mut ScenarioSpec, factor: f64) {
    for class in &mut spec.classes {
        class.rate *= factor;
        if class.rate >= 0.999 * class.source.peak_rate() {
            class.source = SourceSpec::Poisson;
        }
    }
}

/// The scenario with all rates multiplied by `factor` and one class overloaded.
fn overloaded(scenario: &Scenario, class: usize, factor: f64) -> Result<Scenario, Vec<Fault>> {
    let mut spec = scenario.spec().clone();
    scale(&mut spec, factor);
    let own = &mut spec.classes[class];
    let flits = f64::from(own.message_flits);
    own.vtick = own.link_vtick();
    own.rate = (OVERLOAD / flits).min(1.0);
    own.source = SourceSpec::Poisson;
    spec.check()
}

/// What decides the numbers.
#[derive(Serialize)]
struct Identity<'a> {
    flitwise_version: &'static str,
    simulator_revision: u32,
    saturation_method: u32,
    scenario: &'a ScenarioSpec,
    seed: u64,
}

fn key(scenario: &Scenario, settings: &Settings) -> Key {
    let mut spec = scenario.spec().clone();
    spec.name = String::new();
    Key::new(&Identity {
        flitwise_version: env!("CARGO_PKG_VERSION"),
        simulator_revision: REVISION,
        saturation_method: METHOD,
        scenario: &spec,
        seed: settings.seed,
    })
    .expect("plain numbers and words make a key")
}

/// By class of the scenario, where it saturates; `None` for a class that sends nothing. `None` instead of all if it
/// was interrupted.
///
/// What `store` holds is taken as it is, what is found is kept there. Of `settings` the seed counts.
/// `notice` is told what one should know.
pub fn find(
    scenario: &Scenario,
    settings: &Settings,
    store: Option<&Store>,
    host: &Host<'_>,
    notice: &mut dyn FnMut(&str),
) -> Option<Vec<Option<SaturationLoad>>> {
    let key = key(scenario, settings);
    let classes = scenario.classes();
    if let Some(store) = store {
        match store.read::<Vec<Option<SaturationLoad>>>(&key) {
            Ok(found) => {
                found.notices.iter().for_each(|one| notice(&one.to_string()));
                let fits = |loads: &Vec<Option<SaturationLoad>>| loads.len() == classes.len();
                if let Some((_, loads)) = found.records.into_iter().find(|(_, loads)| fits(loads)) {
                    return Some(loads);
                }
            }
            Err(error) => notice(&error.to_string()),
        }
    }
    let mut loads = Vec::with_capacity(classes.len());
    for (class, spec) in classes.iter().enumerate() {
        let search = Search { scenario, class, seed: settings.seed, host };
        loads.push(if spec.rate > 0.0 { Some(host.workers.install(|| search.root())?) } else { None });
    }
    if let Some(Err(error)) = store.map(|store| store.append(&key, 0, &loads)) {
        notice(&format!("a result could not be kept: {error}"));
    }
    Some(loads)
}

/// In search of the load at which one class saturates.
struct Search<'a> {
    scenario: &'a Scenario,
    class: usize,
    seed: u64,
    host: &'a Host<'a>,
}

/// What gets through at one load factor.
#[derive(Clone, Copy, Debug)]
struct Through {
    factor: f64,
    /// `T / rate - f`: positive below the root.
    excess: f64,
    half_width: f64,
}

impl Search<'_> {
    /// `None` if interrupted.
    fn root(&self) -> Option<SaturationLoad> {
        let classes = self.scenario.classes();
        let load =
            |class: &flitwise_language::scenario::ClassSpec| class.rate * f64::from(class.message_flits);
        let own = &classes[self.class];
        let before_it = |index: usize| {
            index == self.class
                || classes[index].kind == ClassKind::RealTime
                || own.kind == ClassKind::BestEffort
        };
        let all: f64 =
            (0..classes.len()).filter(|index| before_it(*index)).map(|index| load(&classes[index])).sum();
        // a link carries one flit per cycle
        let most = 1.0 / load(own);
        // some two thirds of what links could carry get through; what others take goes up with the factor
        let mut factor = (0.65 / all).min(0.98 * most);
        let mut slope = -all / load(own);
        let (mut low, mut high): (Option<Through>, Option<Through>) = (None, None);
        let mut last: Option<Through> = None;
        for _ in 0..MOST_STEPS {
            let found = self.through(factor, SEARCH_SETS, slope)?;
            if let Some(before) = last {
                let between = (found.excess - before.excess) / (found.factor - before.factor);
                // T falls and f rises: steeper than -1, but for chance
                if between.is_finite() && between < -0.8 {
                    slope = between.max(-20.0 * all / load(own));
                }
            }
            let side = if found.excess > 0.0 { &mut low } else { &mut high };
            *side = Some(found);
            let mut next = found.factor - found.excess / slope;
            // within what is known to enclose the root
            if let (Some(low), Some(high)) = (low, high)
                && !(low.factor.min(high.factor)..=high.factor.max(low.factor)).contains(&next)
            {
                next = f64::midpoint(low.factor, high.factor);
            }
            let step = next - found.factor;
            factor = next.clamp(0.5 * found.factor, 2.0 * found.factor).min(1.02 * most);
            last = Some(found);
            if step.abs() <= STEP * found.factor {
                break;
            }
        }
        // as near as chance allowed: now with more of it
        let found = self.through(factor, MOST_SETS, slope)?;
        let root = (found.factor - found.excess / slope).clamp(0.9 * factor, 1.1 * factor);
        Some(SaturationLoad { factor: root, half_width_95: found.half_width / slope.abs() })
    }

    /// At one load factor, with sets of replications until the root is known or there are `most_sets`.
    fn through(&self, factor: f64, most_sets: u32, slope: f64) -> Option<Through> {
        let rate = self.scenario.classes()[self.class].rate;
        let scenario = overloaded(self.scenario, self.class, factor)
            .unwrap_or_else(|faults| panic!("rates are within what links carry, about: {faults:?}"));
        let per_rate = 1.0 / (f64::from(scenario.classes()[self.class].message_flits) * rate);
        let mut batches: Vec<Vec<Batch>> = Vec::new();
        for set in 0..most_sets {
            let indices = (set * REPLICATIONS..(set + 1) * REPLICATIONS).into_par_iter();
            let found: Option<Vec<Batch>> = indices.map(|index| self.replication(&scenario, index)).collect();
            batches.extend(found?.into_iter().map(|batch| vec![batch]));
            let width = mean_of(&batches).and_then(|found| found.student_half_width_95);
            if width.is_some_and(|width| width * per_rate <= WIDTH * factor * slope.abs()) {
                break;
            }
        }
        let Mean { mean, student_half_width_95, .. } = mean_of(&batches)?;
        let half_width = student_half_width_95.unwrap_or(mean) * per_rate;
        Some(Through { factor, excess: mean * per_rate - factor, half_width })
    }

    /// Flits of the class over ejection channels, over cycles and nodes; `None` if interrupted.
    fn replication(&self, scenario: &Scenario, index: u32) -> Option<Batch> {
        let nodes = f64::from(scenario.topology().nodes());
        let lengths = scenario.classes().iter().map(|class| f64::from(class.message_flits));
        let (count, sum, longest) = lengths
            .fold((0.0, 0.0, 0.0), |(n, sum, most): (f64, f64, f64), m| (n + 1.0, sum + m, most.max(m)));
        let cycles = SET_MESSAGES * sum / count / (nodes * f64::from(REPLICATIONS));
        let cycles = cycles.max(LEAST_LENGTHS * longest).max(LEAST_CYCLES);
        let mut simulator = Simulator::new(scenario, replication_seed(self.seed, index));
        for class in 0..scenario.classes().len() {
            simulator.limit_source_queues(class, if class == self.class { OWN_QUEUE } else { OTHER_QUEUE });
        }
        let mut delivered = Vec::new();
        let mut advance = |simulator: &mut Simulator, end: u64| {
            while simulator.now() < end {
                if self.host.is_interrupted() {
                    return None;
                }
                simulator.run_until(end.min(simulator.now() + 2_000), &mut delivered);
                delivered.clear();
            }
            Some(self.ejected(simulator))
        };
        let start = (WARM_UP * cycles) as u64;
        let before = advance(&mut simulator, start)?;
        let after = advance(&mut simulator, start + cycles as u64)?;
        let count = cycles as u64 * nodes as u64;
        Some(Batch { count, sum: (after - before) as f64 })
    }

    fn ejected(&self, simulator: &Simulator) -> u64 {
        let own = simulator
            .channel_flits()
            .into_iter()
            .filter(|(channel, class, _)| channel.kind == ChannelKind::Ejection && *class == self.class);
        own.map(|(_, _, flits)| flits).sum()
    }
}

/// Apart from the seeds of experiments.
fn replication_seed(seed: u64, index: u32) -> u64 {
    let mut word = seed.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(u64::from(index)) ^ 0x5a5a_1234;
    word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word ^ word >> 29
}
