//! Simulates many scenarios, each once, and stores the results.
//!
//! A campaign simulates its points one after another. Results in the [`Store`] are used. If they are not precise
//! enough, replications are added to them. Each point is stored as soon as it is done, so that an interrupted process
//! loses at most the point under way.
//!
//! **Why do the numbers depend on earlier commands?** Stored replications are never discarded. A point asked for at 1 %
//! and then at 0.5 % has 16 replications and some longer ones; asked for at 0.5 % at once, it has 16 long ones. Both
//! are valid. Each answer tells its number of replications and whether there are more than asked for
//! ([`Run::more_than_asked`](flitwise_experiment::answer::Run::more_than_asked)). The same commands in the same order
//! give the same numbers if the store
//! was empty. With [`Settings::fresh`] a point has the numbers of an empty store: each block records its target, blocks
//! that an empty store would have are used, and others are simulated and stored under a key of their own.
//!
//! # Many processes
//!
//! A [`CampaignPlan`] has the blocks of a campaign: each is one key of the store, with the questions about it in the
//! order in which one machine would ask them. Blocks are independent. A [`Folder`] is shared by any number of
//! processes on any number of machines, and each [`Worker`] takes block after block from it.
//!
//! **How is a block claimed without a lock?** By a file with the name of the block and a generation, which only one
//! process can make. A claim is lost if its process is dead, or if its beat has not moved for a while by the clock of
//! the process that watches it. Then another process makes the file of the next generation, which again only one
//! can. Nothing is renamed or removed.
//!
//! **What if a process that was thought lost goes on?** Two processes compute the same block, with the same bytes, and
//! the store keeps them once.
//!
//! **Why does the store not depend on who was killed?** Each block is worked off on a [replay](Store::replay) of the
//! store: whoever takes it over goes through the same steps, and takes from the store what had been computed.

mod claims;
mod error;
mod folder;
mod heart;
mod plan;
mod process;
mod survey;
mod worker;

use std::collections::HashMap;
use std::ops::ControlFlow;

use flitwise_language::scenario::{Fault, Scenario, ScenarioSpec};
use rayon::prelude::*;
use serde::Serialize;

use crate::store::{Key, Store, StoreError};
use flitwise_experiment::answer::Simulation;
use flitwise_experiment::goal::{Goal, MOST_ADDITIONS, addition, asked_alone, is_enough};
use flitwise_experiment::packets::{self, Shelf};
use flitwise_experiment::{self as experiment, Block, Host, Settings, answer_of};
use flitwise_simulator::{CONNECTIONS_REVISION, Delivery, FRAMES_REVISION, PACKETS_REVISION, REVISION};

pub use error::FolderError;
pub use folder::{Folder, Input};
pub use plan::{CampaignBlock, CampaignPlan, Question, Stage};
pub use process::Process;
pub use survey::{BlockState, RunningBlock, Survey};
pub use worker::{BlockAccount, Claim, Turn, Worker};

/// What decides the numbers of an experiment: names, units and deadlines do not.
#[derive(Serialize)]
struct Identity<'a> {
    flitwise_version: &'static str,
    simulator_revision: u32,
    scenario: &'a ScenarioSpec,
    seed: u64,
    replications: Option<u32>,
    warmup_cycles: Option<u64>,
    /// Of blocks that no other question has added to.
    #[serde(skip_serializing_if = "Option::is_none")]
    asked_alone: Option<Goal>,
}

/// The key under which the blocks of an experiment are kept.
pub fn key(scenario: &Scenario, settings: &Settings) -> Key {
    key_of(scenario, settings, None)
}

/// The revision of the simulator that decides the numbers of a scenario.
pub fn revision(scenario: &Scenario) -> u32 {
    let has_connections = scenario.spec().classes.iter().any(|class| class.connections.is_some());
    match experiment::longest_frame_interval(scenario) {
        _ if scenario.switch().is_some() => PACKETS_REVISION,
        _ if has_connections => CONNECTIONS_REVISION.max(FRAMES_REVISION).max(REVISION),
        Some(_) => FRAMES_REVISION.max(REVISION),
        None => REVISION,
    }
}

/// What decides the numbers of packet switches; [`PACKETS_REVISION`] in place of [`REVISION`].
#[derive(Serialize)]
struct PacketsIdentity<'a> {
    flitwise_version: &'static str,
    packets_revision: u32,
    scenario: &'a ScenarioSpec,
    seed: u64,
}

/// The key under which replications of packet switches are kept, numbered by their indices.
pub(crate) fn packets_key(scenario: &Scenario, settings: &Settings) -> Key {
    let identity = PacketsIdentity {
        flitwise_version: env!("CARGO_PKG_VERSION"),
        packets_revision: revision(scenario),
        scenario: &nameless(scenario),
        seed: settings.seed,
    };
    Key::new(&identity).expect("plain numbers and words make a key")
}

/// A scenario without what decides no number.
fn nameless(scenario: &Scenario) -> ScenarioSpec {
    let mut spec = scenario.spec().clone();
    spec.name = String::new();
    spec.units = None;
    for (index, class) in spec.classes.iter_mut().enumerate() {
        class.name = format!("class {}", index + 1);
        class.deadlines = Vec::new();
    }
    spec
}

fn key_of(scenario: &Scenario, settings: &Settings, asked_alone: Option<Goal>) -> Key {
    Key::new(&Identity {
        flitwise_version: env!("CARGO_PKG_VERSION"),
        simulator_revision: revision(scenario),
        scenario: &nameless(scenario),
        seed: settings.seed,
        replications: settings.replications,
        warmup_cycles: settings.warmup_cycles,
        asked_alone,
    })
    .expect("plain numbers and words make a key")
}

/// Where a campaign stands.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// Name of the scenario under way.
    pub scenario: &'a str,
    /// Points to simulate, those found in the store left out.
    pub points: usize,
    /// Those of them that are done.
    pub done: usize,
    /// Where the experiment under way stands.
    pub current: &'a experiment::Progress,
    /// Share of the work done, as far as can be foreseen: every point counts the same.
    pub share_done: f64,
}

/// What a campaign tells while it runs.
pub trait Listener {
    /// Something has been done.
    fn progress(&mut self, progress: &Progress<'_>);

    /// Something one should know: a broken file in the store, a result that could not be kept.
    fn notice(&mut self, text: &str);

    /// A result could not be kept.
    fn unkept(&mut self, error: &StoreError) {
        self.notice(&format!("a result could not be kept: {error}"));
    }
}

/// Listens to nothing.
impl Listener for () {
    fn progress(&mut self, _: &Progress<'_>) {}
    fn notice(&mut self, _: &str) {}
}

/// What a campaign has found.
#[derive(Debug)]
pub struct Outcome<T = Simulation> {
    /// By scenario, without the split by number of hops; `None` where it was interrupted before.
    pub simulations: Vec<Option<T>>,
    /// Points that were simulated, in part or as a whole.
    pub simulated: usize,
    /// Whether it was interrupted.
    pub interrupted: bool,
}

/// How a campaign ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Account {
    /// Points that were simulated as a whole.
    pub simulated: usize,
    /// Whether it ended before all was done.
    pub interrupted: bool,
}

/// One point and what is known of it.
struct Point {
    /// The scenarios that ask for it, which differ in names and deadlines only; at least one.
    asked_by: Vec<usize>,
    key: Key,
    blocks: Vec<Block>,
}

/// What the store had to say of a point.
struct Lookup<T> {
    notices: Vec<String>,
    /// The answers to the scenarios that ask for it, or the point, which needs more.
    found: Result<Vec<(usize, T)>, Point>,
}

/// Simulates all `scenarios` as `settings` say, or takes from `store` what it holds.
///
/// Scenarios that differ in names and deadlines only are simulated once. Once [`Host::stop`] is set the campaign ends
/// soon; a point broken off is not kept, so that what is kept does not depend on the moment.
///
/// Not to be called from a task of a `rayon` pool, see [`experiment::run`].
///
/// # Errors
/// What the simulator has no means for, of all scenarios at once.
pub fn run(
    scenarios: &[Scenario],
    settings: &Settings,
    store: Option<&Store>,
    host: &Host<'_>,
    listener: &mut dyn Listener,
) -> Result<Outcome, Vec<Fault>> {
    let mut simulations: Vec<Option<Simulation>> = scenarios.iter().map(|_| None).collect();
    let account = run_telling(scenarios, settings, store, host, listener, &mut |at, found| {
        simulations[at] = Some(found);
        ControlFlow::Continue(())
    })?;
    let Account { simulated, interrupted } = account;
    Ok(Outcome { simulations, simulated, interrupted })
}

/// The same; each simulation is passed to `found`, with the number of its scenario, as soon as it is there: routers
/// first, then packet switches. The campaign ends when `found` says so.
///
/// # Errors
/// As [`run`].
pub fn run_telling(
    scenarios: &[Scenario],
    settings: &Settings,
    store: Option<&Store>,
    host: &Host<'_>,
    listener: &mut dyn Listener,
    found: &mut dyn FnMut(usize, Simulation) -> ControlFlow<()>,
) -> Result<Account, Vec<Fault>> {
    let mut faults: Vec<Fault> =
        scenarios.iter().filter_map(|one| experiment::supports(one, host.read).err()).flatten().collect();
    faults.dedup();
    if !faults.is_empty() {
        return Err(faults);
    }
    let (switches, routers): (Vec<usize>, Vec<usize>) =
        (0..scenarios.len()).partition(|at| packets::are_switched(&scenarios[*at]));
    let of_routers: Vec<Scenario> = routers.iter().map(|at| scenarios[*at].clone()).collect();
    let answer = |scenario: &Scenario, blocks: &[Block]| answer_of(scenario, settings, blocks, false);
    let mut tell = |at: usize, one| found(routers[at], one);
    let account = run_each(&of_routers, settings, store, host, listener, &answer, &mut tell)?;
    if account.interrupted {
        return Ok(account);
    }
    let mut points: Vec<(Key, Vec<usize>)> = Vec::new();
    for at in switches {
        let key = packets_key(&scenarios[at], settings);
        match points.iter_mut().find(|(known, _)| known.hash() == key.hash()) {
            Some((_, asked_by)) => asked_by.push(at),
            None => points.push((key, vec![at])),
        }
    }
    let mut account = account;
    for (done, (key, asked_by)) in points.iter().enumerate() {
        let scenario = &scenarios[asked_by[0]];
        let share_done = done as f64 / points.len() as f64;
        let current = experiment::Progress { warming_up: false, messages: 0, precision: None, share_done };
        let name = &scenario.spec().name;
        listener.progress(&Progress {
            scenario: name,
            points: points.len(),
            done,
            current: &current,
            share_done,
        });
        // replications depend on no earlier question
        let mut shelf =
            store.map(|store| Replications { store: store.whole(), key, listener: &mut *listener });
        let shelf = shelf.as_mut().map(|shelf| shelf as &mut dyn Shelf);
        let asking: Vec<&Scenario> = asked_by.iter().map(|at| &scenarios[*at]).collect();
        let Some((simulations, simulated)) = packets::run_kept(&asking, settings, shelf, host) else {
            return Ok(Account { interrupted: true, ..account });
        };
        account.simulated += usize::from(simulated);
        for (at, one) in asked_by.iter().zip(simulations) {
            if found(*at, one).is_break() {
                return Ok(Account { interrupted: true, ..account });
            }
        }
    }
    Ok(account)
}

/// Replications of packet switches in a store.
struct Replications<'a> {
    store: Store,
    key: &'a Key,
    listener: &'a mut dyn Listener,
}

impl Shelf for Replications<'_> {
    fn read(&mut self) -> Vec<(u32, packets::Sample)> {
        match self.store.read(self.key) {
            Ok(found) => {
                found.notices.iter().for_each(|one| self.listener.notice(&one.to_string()));
                found.records
            }
            Err(error) => {
                self.listener.notice(&error.to_string());
                Vec::new()
            }
        }
    }

    fn append(&mut self, index: u32, sample: &packets::Sample) {
        if let Err(error) = self.store.append(self.key, index, sample) {
            self.listener.unkept(&error);
        }
    }
}

/// The same for routers, with whatever `answer` makes of what was measured of a scenario: at least one block.
///
/// # Errors
/// As [`run`].
pub fn run_for<T: Send>(
    scenarios: &[Scenario],
    settings: &Settings,
    store: Option<&Store>,
    host: &Host<'_>,
    listener: &mut dyn Listener,
    answer: &(dyn Fn(&Scenario, &[Block]) -> T + Sync),
) -> Result<Outcome<T>, Vec<Fault>> {
    let mut answers: Vec<Option<T>> = scenarios.iter().map(|_| None).collect();
    let account = run_each(scenarios, settings, store, host, listener, answer, &mut |at, found| {
        answers[at] = Some(found);
        ControlFlow::Continue(())
    })?;
    let Account { simulated, interrupted } = account;
    Ok(Outcome { simulations: answers, simulated, interrupted })
}

/// The same; each answer is passed to `found`, with the number of its scenario, as soon as it is there. The campaign
/// ends when `found` says so.
///
/// # Errors
/// As [`run`].
pub fn run_each<T: Send>(
    scenarios: &[Scenario],
    settings: &Settings,
    store: Option<&Store>,
    host: &Host<'_>,
    listener: &mut dyn Listener,
    answer: &(dyn Fn(&Scenario, &[Block]) -> T + Sync),
    found: &mut dyn FnMut(usize, T) -> ControlFlow<()>,
) -> Result<Account, Vec<Fault>> {
    let mut faults: Vec<Fault> =
        scenarios.iter().filter_map(|one| flitwise_simulator::supports(one).err()).flatten().collect();
    for fault in faults.iter_mut().filter(|fault| fault.found == "trace") {
        fault.help = Some("flitwise simulate takes traces, one scenario at a time".to_owned());
    }
    faults.dedup();
    if !faults.is_empty() {
        return Err(faults);
    }
    let points = distinct(scenarios, settings);
    let mut tell = |answers: Vec<(usize, T)>| answers.into_iter().try_for_each(|(at, one)| found(at, one));
    // what is complete is answered at once: measurements take much more memory than answers
    let looked_up: Vec<Lookup<T>> =
        points.into_par_iter().map(|point| point.look_up(scenarios, settings, store, answer)).collect();
    let mut missing = Vec::new();
    for Lookup { notices, found } in looked_up {
        notices.iter().for_each(|notice| listener.notice(notice));
        match found {
            Err(point) => missing.push(point),
            Ok(found) => {
                if tell(found).is_break() {
                    return Ok(Account { simulated: 0, interrupted: true });
                }
            }
        }
    }
    let (count, mut simulated) = (missing.len(), 0);
    for (done, mut point) in missing.into_iter().enumerate() {
        let scenario = &scenarios[point.asked_by[0]];
        let mut audience = Audience { listener, points: count, done, scenario };
        if point.improve(scenario, settings, store, host, &mut audience) {
            return Ok(Account { simulated, interrupted: true });
        }
        simulated += 1;
        if tell(point.answers(scenarios, answer)).is_break() {
            return Ok(Account { simulated, interrupted: true });
        }
    }
    Ok(Account { simulated, interrupted: false })
}

/// The points to simulate, in the order in which they are first asked for.
fn distinct(scenarios: &[Scenario], settings: &Settings) -> Vec<Point> {
    let mut points: Vec<Point> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    for (index, scenario) in scenarios.iter().enumerate() {
        let key = key(scenario, settings);
        let at = *known.entry(key.hash().to_owned()).or_insert(points.len());
        if at == points.len() {
            points.push(Point { asked_by: Vec::new(), key, blocks: Vec::new() });
        }
        points[at].asked_by.push(index);
    }
    points
}

impl Point {
    /// Takes what the store holds, and says what is wrong with it.
    fn look_up<T: Send>(
        mut self,
        scenarios: &[Scenario],
        settings: &Settings,
        store: Option<&Store>,
        answer: &(dyn Fn(&Scenario, &[Block]) -> T + Sync),
    ) -> Lookup<T> {
        let scenario = &scenarios[self.asked_by[0]];
        let mut notices = store.map_or_else(Vec::new, |store| self.read(scenario, store));
        let kept = self.blocks.len();
        if settings.fresh {
            self.blocks.truncate(asked_alone(scenario, settings, &self.blocks));
        }
        let mut complete = self.is_complete(scenario, settings);
        if self.blocks.len() < kept && !complete {
            // what is missing would come after what others have added
            self.key = key_of(scenario, settings, Some(Goal::of(settings)));
            self.blocks.clear();
            notices.extend(store.into_iter().flat_map(|store| self.read(scenario, store)));
            self.blocks.truncate(asked_alone(scenario, settings, &self.blocks));
            complete = self.is_complete(scenario, settings);
        }
        let found = if complete { Ok(self.answers(scenarios, answer)) } else { Err(self) };
        Lookup { notices, found }
    }

    /// Whether nothing is to be added.
    fn is_complete(&self, scenario: &Scenario, settings: &Settings) -> bool {
        // from an empty store no more additions are made
        let as_many_as_allowed = settings.fresh && self.blocks.len() > MOST_ADDITIONS;
        as_many_as_allowed || is_enough(scenario, settings, &self.blocks)
    }

    fn read(&mut self, scenario: &Scenario, store: &Store) -> Vec<String> {
        let found = match store.read::<Block>(&self.key) {
            Ok(found) => found,
            Err(error) => return vec![error.to_string()],
        };
        let mut notices: Vec<String> = found.notices.iter().map(ToString::to_string).collect();
        for (_, block) in found.records {
            // each begins where the one before ended: otherwise random numbers would be counted twice
            let expected = self.blocks.last().map_or(0, Block::next_replication);
            if block.first_replication() == expected && block.fits(scenario) {
                self.blocks.push(block);
            } else {
                notices.push(format!(
                    "{}: a block of replications from {} on was found, wanted {expected}; it is left out",
                    scenario.spec().name,
                    block.first_replication()
                ));
                break;
            }
        }
        notices
    }

    /// An answer for each scenario that asks for it.
    fn answers<T: Send>(
        &self,
        scenarios: &[Scenario],
        answer: &(dyn Fn(&Scenario, &[Block]) -> T + Sync),
    ) -> Vec<(usize, T)> {
        self.asked_by.par_iter().map(|at| (*at, answer(&scenarios[*at], &self.blocks))).collect()
    }

    /// Simulates until it is enough; `true` if that was interrupted.
    fn improve(
        &mut self,
        scenario: &Scenario,
        settings: &Settings,
        store: Option<&Store>,
        host: &Host<'_>,
        audience: &mut Audience<'_>,
    ) -> bool {
        let begun = host.now();
        for _ in 0..=MOST_ADDITIONS {
            if self.is_complete(scenario, settings) {
                break;
            }
            let first = self.blocks.last().map_or(0, Block::next_replication);
            if let Some(block) = self.recall(first, scenario, store, audience) {
                self.blocks.push(block);
                continue;
            }
            let spent = host.now().saturating_sub(begun);
            let max_time = settings.max_time.map(|most| most.saturating_sub(spent));
            let settings = Settings { max_time, ..addition(scenario, settings, &self.blocks) };
            let block = experiment::run_block(scenario, &settings, host, audience);
            let block = block.expect("checked for all scenarios before the first was simulated");
            if host.is_interrupted() {
                return true;
            }
            if block.is_partial() {
                // time is over: what was measured depends on the machine and is not kept
                self.blocks.push(block);
                break;
            }
            let block = if store.is_some_and(Store::is_replay) { block.without_times() } else { block };
            if let Some(Err(error)) = store.map(|store| store.append(&self.key, first, &block)) {
                audience.listener.unkept(&error);
            }
            self.blocks.push(block);
        }
        false
    }

    /// Of a replay: the block that was simulated here before.
    fn recall(
        &self,
        first: u32,
        scenario: &Scenario,
        store: Option<&Store>,
        audience: &mut Audience<'_>,
    ) -> Option<Block> {
        match store?.recall::<Block>(&self.key, first) {
            Ok(found) => found.filter(|block| block.first_replication() == first && block.fits(scenario)),
            Err(notice) => {
                audience.listener.notice(&notice.to_string());
                None
            }
        }
    }
}

/// Who listens to the experiments of a campaign.
struct Audience<'a> {
    listener: &'a mut dyn Listener,
    points: usize,
    done: usize,
    scenario: &'a Scenario,
}

impl experiment::Listener for Audience<'_> {
    fn progress(&mut self, progress: &experiment::Progress) {
        let share_done = (self.done as f64 + progress.share_done) / self.points as f64;
        self.listener.progress(&Progress {
            scenario: &self.scenario.spec().name,
            points: self.points,
            done: self.done,
            current: progress,
            share_done,
        });
    }

    fn measured(&mut self, _: u32, _: &[Delivery]) {}
}
