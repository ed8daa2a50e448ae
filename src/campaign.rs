//! Many points to simulate: options, store, progress bar and signals.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use flitwise_models::scenario::{Fault, Scenario};
use flitwise_validation::campaign::{self, Listener, Outcome, Progress};
use flitwise_validation::experiment::{Block, Settings};
use flitwise_validation::store::Store;
use indicatif::{HumanCount, HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::args::CampaignArgs;
use crate::outcome::Ended;
use crate::output::{note, percent};
use crate::signals::Watch;
use crate::typed::{self, Options};

/// How to simulate, and where to keep it.
pub(crate) struct Campaign {
    pub(crate) settings: Settings,
    store: Option<Store>,
    quiet: bool,
    /// Said before anything else.
    notices: Vec<String>,
}

impl Campaign {
    /// Reads the options and opens the store, or reports all that is wrong with them.
    pub(crate) fn read(args: &CampaignArgs) -> Result<Self, Ended> {
        let mut faults = Vec::new();
        let mut read = Options { faults: &mut faults };
        let settings = Settings {
            seed: read.value("seed", &args.seed, typed::seed),
            precision: read.value("precision", &args.precision, typed::precision),
            max_messages: read.value("max-messages", &args.max_messages, typed::max_messages),
            threads: read.option("threads", &args.threads, typed::threads),
            ..Settings::default()
        };
        let mut notices = Vec::new();
        let store = open_store(args, &mut notices).unwrap_or_else(|fault| {
            faults.push(fault);
            None
        });
        if !faults.is_empty() {
            return Err(Ended::BadInput(faults));
        }
        Ok(Self { settings, store, quiet: args.quiet, notices })
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
        let mut outcomes = Vec::with_capacity(groups.len());
        for (index, (precision, scenarios)) in groups.iter().enumerate() {
            let mut bar = Bar::new(self.quiet, *precision);
            if index == 0 {
                self.notices.iter().for_each(|notice| bar.notice(notice));
            }
            let settings = Settings { precision: *precision, ..self.settings.clone() };
            let outcome = campaign::run(scenarios, &settings, self.store.as_ref(), watch.stop(), &mut bar);
            bar.bar.finish_and_clear();
            outcomes.push(outcome?);
        }
        Ok(outcomes)
    }

    /// The same with whatever `answer` makes of what was measured of a scenario.
    pub(crate) fn run_for<T: Send>(
        &self,
        scenarios: &[Scenario],
        answer: &(dyn Fn(&Scenario, &[Block]) -> T + Sync),
    ) -> Result<Outcome<T>, Vec<Fault>> {
        let watch = Watch::begin();
        let mut bar = Bar::new(self.quiet, self.settings.precision);
        let store = self.store.as_ref();
        let outcome =
            campaign::run_for(scenarios, &self.settings, store, watch.stop(), &mut bar, answer);
        bar.bar.finish_and_clear();
        outcome
    }

    /// Does `work` for 0, 1, .. up to `count`, which gives what it was done for, or nothing once it is to stop;
    /// whether it was to.
    pub(crate) fn each(&self, count: usize, mut work: impl FnMut(usize, Means<'_>) -> Option<String>) -> bool {
        let watch = Watch::begin();
        let mut bar = Bar::new(self.quiet, self.settings.precision);
        self.notices.iter().for_each(|notice| bar.notice(notice));
        let mut is_whole = true;
        for at in 0..count {
            let mut notice = |text: &str| bar.notice(text);
            let means = Means { store: self.store.as_ref(), stop: watch.stop(), notice: &mut notice };
            let Some(done) = work(at, means) else {
                is_whole = false;
                break;
            };
            bar.bar.set_message(format!("{} of {count}: {done} saturates", at + 1));
            bar.bar.set_position((STEPS * (at + 1) as f64 / count as f64) as u64);
        }
        bar.bar.finish_and_clear();
        !is_whole
    }
}

/// What work beside a campaign needs of it.
pub(crate) struct Means<'m> {
    pub(crate) store: Option<&'m Store>,
    /// Set once it is to stop.
    pub(crate) stop: &'m AtomicBool,
    /// Told what one should know.
    pub(crate) notice: &'m mut dyn FnMut(&str),
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
        Ok(store) => {
            if let Some(error) = store.read_only() {
                notices.push(format!("{error}; new results are not kept"));
            }
            Ok(Some(store))
        }
        Err(error) if asked => Err(format!("--store {}: {error}", directory.display())),
        Err(error) => {
            notices.push(format!("{error}; results are not kept"));
            Ok(None)
        }
    }
}

/// Steps of the bar.
const STEPS: f64 = 1000.0;

/// A bar over all points that is there only if standard error is a terminal; notices are written in any case.
struct Bar {
    bar: ProgressBar,
    wanted_precision: f64,
    started: Instant,
}

impl Bar {
    fn new(quiet: bool, wanted_precision: f64) -> Self {
        let target = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let style = ProgressStyle::with_template("[{bar:20}] {percent:>3} %  {wide_msg}");
        let style = style.expect("a fixed template is sound").progress_chars("=> ");
        let bar = ProgressBar::with_draw_target(Some(STEPS as u64), target).with_style(style);
        Self { bar, wanted_precision, started: Instant::now() }
    }
}

impl Listener for Bar {
    fn progress(&mut self, progress: &Progress<'_>) {
        if self.bar.is_hidden() {
            return;
        }
        let share = progress.share_done.clamp(0.001, 1.0);
        let left = self.started.elapsed().mul_f64((1.0 - share) / share);
        // whole seconds: the rest is guesswork
        let left = HumanDuration(Duration::from_secs(left.as_secs()));
        let width = match progress.current.precision {
            Some(found) => format!("±{} of ±{}", percent(found), percent(self.wanted_precision)),
            None if progress.current.warming_up => "warming up".to_owned(),
            None => format!("{} messages", HumanCount(progress.current.messages)),
        };
        let (point, points) = (progress.done + 1, progress.points);
        self.bar
            .set_message(format!("point {point} of {points}, {left:#} left; {}: {width}", progress.scenario));
        self.bar.set_position((STEPS * progress.share_done) as u64);
    }

    fn notice(&mut self, text: &str) {
        self.bar.suspend(|| note(text));
    }
}
