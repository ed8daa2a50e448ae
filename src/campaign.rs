//! Runs the simulations of a command: options, store, progress bar and signals.

use std::ops::ControlFlow;

use flitwise_experiment::answer::{Simulation, StoppedBy};
use flitwise_experiment::{self as experiment, Host, Settings};
use flitwise_language::scenario::{Fault, Scenario};
use flitwise_simulator::Delivery;
use flitwise_validation::campaign::{self, Listener, Outcome, Progress};
use flitwise_validation::machine::Machine;
use flitwise_validation::store::Store;
use indicatif::{HumanCount, HumanDuration};

use crate::args::CampaignArgs;
use crate::outcome::Exit;
use crate::output::note;
use crate::progress::Bar;
use crate::signals::Watch;
use crate::typed::{self, Options};

/// How to simulate, and where to keep it.
pub(crate) struct Campaign {
    pub(crate) settings: Settings,
    machine: Machine,
    store: Option<Store>,
    /// As [`Settings::max_messages`], of what is to be more precise than `settings` say.
    most_of_finer: u64,
    quiet: bool,
    /// Said before anything else.
    notices: Vec<String>,
}

/// What `--precision` and `--max-messages` are unless they are given.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Defaults<'d> {
    pub(crate) precision: &'d str,
    pub(crate) max_messages: &'d str,
}

/// Of all commands but anchored ones; help texts say so.
pub(crate) const DEFAULTS: Defaults<'static> = Defaults { precision: "1%", max_messages: "1e7" };

impl Campaign {
    /// Reads the options and opens the store, or reports all that is wrong with them.
    pub(crate) fn read(args: &CampaignArgs) -> Result<Self, Exit> {
        Self::read_or(args, DEFAULTS)
    }

    /// The same with other defaults.
    pub(crate) fn read_or(args: &CampaignArgs, defaults: Defaults<'_>) -> Result<Self, Exit> {
        let given = |option: &Option<String>, default: &str| option.clone().unwrap_or(default.to_owned());
        let most = |default: &str| given(&args.max_messages, default);
        let mut faults = Vec::new();
        let mut read = Options { faults: &mut faults };
        let settings = Settings {
            seed: read.value("seed", &args.seed, typed::seed),
            precision: read.value("precision", &given(&args.precision, defaults.precision), typed::precision),
            max_messages: read.value("max-messages", &most(defaults.max_messages), typed::max_messages),
            fresh: args.fresh,
            ..Settings::default()
        };
        let threads = read.option("threads", &args.threads, typed::threads);
        // sound if the one before is
        let most_of_finer = typed::max_messages(most(DEFAULTS.max_messages).trim()).unwrap_or_default();
        let mut notices = Vec::new();
        let store = open_store(args, &mut notices).unwrap_or_else(|fault| {
            faults.push(fault);
            None
        });
        if !faults.is_empty() {
            return Err(Exit::BadInput(faults));
        }
        Ok(Self {
            settings,
            machine: Machine::new(threads),
            store,
            most_of_finer,
            quiet: args.quiet,
            notices,
        })
    }

    /// The same with this store.
    pub(crate) fn with_store(self, store: Store) -> Self {
        Self { store: Some(store), ..self }
    }

    /// The machine that simulates.
    pub(crate) fn machine(&self) -> &Machine {
        &self.machine
    }

    /// How to simulate to a precision that may be finer than the usual one.
    pub(crate) fn settings_for(&self, precision: f64) -> Settings {
        let is_finer = precision < self.settings.precision;
        let max_messages = if is_finer { self.most_of_finer } else { self.settings.max_messages };
        Settings { precision, max_messages, ..self.settings.clone() }
    }

    /// Simulates what is not in the store; what is interrupted is missing in the outcome.
    pub(crate) fn run(&self, scenarios: &[Scenario]) -> Result<Outcome, Vec<Fault>> {
        let outcomes = self.run_each(&[(self.settings.precision, scenarios)])?;
        Ok(outcomes.into_iter().next().expect("one group, one outcome"))
    }

    /// The same for groups of scenarios that want different precisions.
    pub(crate) fn run_each(&self, groups: &[(f64, &[Scenario])]) -> Result<Vec<Outcome>, Vec<Fault>> {
        // it ends with the function: from there on the next signal ends the process
        let watch = Watch::begin();
        let (store, host) = (self.store.as_ref(), self.machine.host(watch.stop()));
        let mut outcomes = Vec::with_capacity(groups.len());
        for (index, (precision, scenarios)) in groups.iter().enumerate() {
            let mut bar = ProgressLine::new(self.quiet, *precision);
            if index == 0 {
                self.notices.iter().for_each(|notice| bar.notice(notice));
            }
            let settings = self.settings_for(*precision);
            let outcome = campaign::run(scenarios, &settings, store, &host, &mut bar);
            bar.bar.clear();
            outcomes.push(outcome?);
        }
        Ok(outcomes)
    }

    /// Simulates what is not in the store and passes on each answer, with the number of its scenario, as soon as it is
    /// there, until `found` wants no more. Whether all was done.
    pub(crate) fn run_telling(
        &self,
        scenarios: &[Scenario],
        found: &mut dyn FnMut(usize, Simulation) -> ControlFlow<()>,
    ) -> Result<bool, Vec<Fault>> {
        let watch = Watch::begin();
        let mut bar = ProgressLine::new(self.quiet, self.settings.precision);
        self.notices.iter().for_each(|notice| bar.notice(notice));
        let shown = bar.bar.clone();
        // what is printed must not run into the bar
        let mut tell = |at: usize, one: Simulation| shown.suspend(|| found(at, one));
        let (settings, store) = (&self.settings, self.store.as_ref());
        let host = self.machine.host(watch.stop());
        let account = campaign::run_telling(scenarios, settings, store, &host, &mut bar, &mut tell);
        bar.bar.clear();
        Ok(!account?.interrupted)
    }

    /// Simulates one of several scenarios that are found one after another: number `at` of at most `most`. Also whether
    /// the store had it; `None` if it was interrupted.
    pub(crate) fn run_part(
        &self,
        at: usize,
        most: usize,
        scenario: &Scenario,
    ) -> Result<Option<(Simulation, bool)>, Vec<Fault>> {
        let watch = Watch::begin();
        let mut bar = ProgressLine::new(self.quiet, self.settings.precision);
        if at == 0 {
            self.notices.iter().for_each(|notice| bar.notice(notice));
        }
        bar.part = (at, most);
        let scenarios = std::slice::from_ref(scenario);
        let (store, host) = (self.store.as_ref(), self.machine.host(watch.stop()));
        let outcome = campaign::run(scenarios, &self.settings, store, &host, &mut bar);
        bar.bar.clear();
        let Outcome { mut simulations, simulated, .. } = outcome?;
        Ok(simulations.pop().flatten().map(|simulation| (simulation, simulated == 0)))
    }

    /// Simulates a scenario with a look at every channel, which no store keeps. `None` if it was interrupted.
    pub(crate) fn run_detailed(&self, scenario: &Scenario) -> Result<Option<Simulation>, Vec<Fault>> {
        let watch = Watch::begin();
        let mut alone = Alone { shown: ProgressLine::new(self.quiet, self.settings.precision), scenario };
        let settings = Settings { details: true, ..self.settings.clone() };
        let found = experiment::run(scenario, &settings, &self.machine.host(watch.stop()), &mut alone);
        alone.shown.bar.clear();
        Ok(Some(found?).filter(|found| found.run.stopped_by != StoppedBy::Interrupted))
    }

    /// Says something on standard error, unless it is to be quiet.
    pub(crate) fn say(&self, text: &str) {
        if !self.quiet {
            note(text);
        }
    }

    /// Does `work` for 0, 1, .. up to `count`, each of a name, until it is done or has to stop; whether it had to.
    pub(crate) fn each(
        &self,
        names: &[&str],
        mut work: impl FnMut(usize, &mut Means<'_>) -> Option<()>,
    ) -> bool {
        let watch = Watch::begin();
        let mut bar = ProgressLine::new(self.quiet, self.settings.precision);
        self.notices.iter().for_each(|notice| bar.notice(notice));
        let mut all_done = true;
        for (at, name) in names.iter().enumerate() {
            bar.part = (at, names.len());
            bar.show(0.0, |_| format!("{name}, {} of {}: saturation", at + 1, names.len()));
            let (store, host) = (self.store.as_ref(), self.machine.host(watch.stop()));
            if work(at, &mut Means { store, host, listener: &mut bar }).is_none() {
                all_done = false;
                break;
            }
        }
        bar.bar.clear();
        !all_done
    }
}

/// A sentence if some of the simulations rest on more than was asked for.
pub(crate) fn more_of(more: usize, of: usize) -> Option<String> {
    let which = match (more, of) {
        (0, _) => return None,
        (1, 1) => "the simulation rests".to_owned(),
        (more, of) => format!("{more} of {of} simulations rest"),
    };
    Some(format!(
        "{which} on more replications than were asked for, kept from before; --fresh takes those asked for alone"
    ))
}

/// What simulations need of a campaign.
pub(crate) struct Means<'m> {
    pub(crate) store: Option<&'m Store>,
    pub(crate) host: Host<'m>,
    pub(crate) listener: &'m mut dyn Listener,
}

/// The store that was asked for; without the means for the default one, none, which is noted.
fn open_store(args: &CampaignArgs, notices: &mut Vec<String>) -> Result<Option<Store>, String> {
    if args.no_store {
        return Ok(None);
    }
    let (directory, asked) = match &args.store {
        Some(directory) => (directory.clone(), true),
        None => match Store::default_directory() {
            Some(directory) => (directory, false),
            None => {
                notices.push(
                    "no cache directory is known, so that results are not kept; --store DIR keeps them"
                        .to_owned(),
                );
                return Ok(None);
            }
        },
    };
    match Store::open(&directory) {
        Ok(store) => Ok(Some(store)),
        Err(error) if asked => Err(format!("--store {}: {error}", directory.display())),
        Err(error) => {
            notices.push(format!("{error}; results are not kept"));
            Ok(None)
        }
    }
}

/// The progress of a campaign, or of one of its parts.
pub(crate) struct ProgressLine {
    pub(crate) bar: Bar,
    /// Which part of the work it stands for, of how many.
    pub(crate) part: (usize, usize),
}

impl ProgressLine {
    pub(crate) fn new(quiet: bool, wanted_precision: f64) -> Self {
        Self { bar: Bar::new(quiet, wanted_precision), part: (0, 1) }
    }

    fn show(&self, share_of_part: f64, message: impl FnOnce(HumanDuration) -> String) {
        let (part, parts) = self.part;
        self.bar.show((part as f64 + share_of_part) / parts as f64, message);
    }
}

impl Listener for ProgressLine {
    fn progress(&mut self, progress: &Progress<'_>) {
        let width = match progress.current.precision {
            Some(found) => self.bar.precision(found),
            None if progress.current.warming_up => "warming up".to_owned(),
            None => format!("{} messages", HumanCount(progress.current.messages)),
        };
        let (point, points) = (progress.done + 1, progress.points);
        let scenario = &progress.scenario;
        self.show(progress.share_done, |left| {
            format!("point {point} of {points}, {left:#} left; {scenario}: {width}")
        });
    }

    fn notice(&mut self, text: &str) {
        self.bar.suspend(|| note(text));
    }
}

/// The progress of an experiment that belongs to no campaign.
struct Alone<'a> {
    shown: ProgressLine,
    scenario: &'a Scenario,
}

impl experiment::Listener for Alone<'_> {
    fn progress(&mut self, current: &experiment::Progress) {
        let (scenario, share_done) = (self.scenario.spec().name.as_str(), current.share_done);
        self.shown.progress(&Progress { scenario, points: 1, done: 0, current, share_done });
    }

    fn measured(&mut self, _: u32, _: &[Delivery]) {}
}
