//! `flitwise campaign work`.

use std::any::Any;
use std::io;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use flitwise_experiment::Host;
use flitwise_validation::campaign::{
    CampaignBlock, CampaignPlan, Claim, Folder, Listener, Progress, Turn, Worker,
};
use flitwise_validation::store::{Store, StoreError};

use super::{Means, Session, refused};
use crate::args::campaigns::{CampaignWork, WorkMeans};
use crate::campaign::ProgressLine;
use crate::outcome::Exit;
use crate::output::{self, note};
use crate::signals::Watch;
use crate::{place, typed};

/// How often to look for a signal while others are at work.
const POLL: Duration = Duration::from_millis(20);
/// How often to look for blocks while others are at work.
const LOOK: Duration = Duration::from_millis(250);
/// The shortest lease: a beat may be late on a busy machine.
const SHORTEST_LEASE: Duration = Duration::from_secs(1);

/// Work that a process has done.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WorkAccount {
    /// Blocks that it has ended.
    pub(super) blocks: usize,
    /// Blocks that could not be done, here.
    pub(super) failed: usize,
    /// Whether other processes were still at work when it ended.
    pub(super) others_at_work: bool,
}

/// How to work on blocks.
#[derive(Clone, Debug)]
pub(super) struct WorkRules {
    pub(super) lease: Duration,
    pub(super) waits: bool,
    pub(super) quiet: bool,
}

impl WorkRules {
    /// Reads the options, or reports what is wrong with them.
    pub(super) fn read(means: &WorkMeans) -> Result<Self, Exit> {
        let mut faults = Vec::new();
        let mut read = typed::Options { faults: &mut faults };
        let lease = read.value("lease", &means.lease, |typed| {
            let wanted = || "a time from 1s on, such as 30s or 2m".to_owned();
            typed::time(typed).ok().filter(|lease| *lease >= SHORTEST_LEASE).ok_or_else(wanted)
        });
        let _ = read.option("threads", &means.threads, typed::threads);
        if faults.is_empty() {
            Ok(Self { lease, waits: true, quiet: means.quiet })
        } else {
            Err(Exit::BadInput(faults))
        }
    }
}

pub(super) fn run(args: &CampaignWork) -> Result<(), Exit> {
    let rules = WorkRules { waits: !args.no_wait, ..WorkRules::read(&args.means)? };
    let folder = Folder::at(&args.folder);
    let means = Means { threads: args.means.threads.clone(), quiet: args.means.quiet };
    let session = Session::of_folder(&folder, &means)?;
    place::directory("the folder", folder.path())?;
    let watch = Watch::begin();
    if args.until_input_ends {
        let stop = watch.stopper();
        thread::spawn(move || {
            // whatever the reason: who has started this process has gone
            let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
            stop();
        });
    }
    let account = work(&session, &folder, &rules)?;
    let all = session.plan.blocks.len();
    let others = if account.others_at_work { "; other processes are at work" } else { "" };
    let text = format!("{} of {all} blocks done by this process{others}\n", account.blocks);
    output::write(text.as_bytes())?;
    check_failures(&folder, account.failed)
}

/// Ends with an error if blocks have failed.
pub(super) fn check_failures(folder: &Folder, failed: usize) -> Result<(), Exit> {
    let plural = if failed == 1 { "block has" } else { "blocks have" };
    match failed {
        0 => Ok(()),
        _ => Err(Exit::Failed(format!(
            "{failed} {plural} failed\n  help: flitwise campaign status {} says why",
            folder.path().display()
        ))),
    }
}

/// Takes blocks until there are none.
pub(super) fn work(session: &Session, folder: &Folder, rules: &WorkRules) -> Result<WorkAccount, Exit> {
    let watch = Watch::begin();
    let stop = watch.stop();
    let store = folder.store().map_err(|error| refused(&error))?;
    let mut worker = Worker::begin(folder, &session.plan, rules.lease).map_err(|error| refused(&error))?;
    let mut account = WorkAccount::default();
    let precision = session.campaign.settings.precision;
    let host = session.campaign.machine().host(stop);
    let mut audience = Audience { line: ProgressLine::new(rules.quiet, precision), unkept: None };
    let ended = loop {
        if stop.load(Ordering::Relaxed) {
            break Err(Exit::InterruptedAt(progress(account, &session.plan)));
        }
        match worker.turn() {
            Err(error) => break Err(refused(&error)),
            Ok(Turn::Done) => break Ok(()),
            Ok(Turn::Wait) if !rules.waits => {
                account.others_at_work = true;
                break Ok(());
            }
            Ok(Turn::Wait) => wait(stop),
            Ok(Turn::Block(claim)) => {
                audience.line.part = (account.blocks, session.plan.blocks.len());
                let block = &session.plan.blocks[claim.block];
                match simulate(block, &store, &host, &mut audience) {
                    Ok(None) => {
                        // it is given back in any case: without the folder others see that the process has ended
                        let _ = worker.release(&claim);
                        break Err(Exit::InterruptedAt(progress(account, &session.plan)));
                    }
                    Ok(Some(messages)) => match worker.finish(&claim, messages) {
                        Ok(()) => account.blocks += 1,
                        Err(error) => break Err(refused(&error)),
                    },
                    Err(Trouble::Store(error)) => {
                        let _ = worker.release(&claim);
                        break Err(Exit::Output(error));
                    }
                    Err(Trouble::Block(why)) => match fail(&worker, &claim, &why) {
                        Ok(()) => account.failed += 1,
                        Err(ended) => break Err(ended),
                    },
                }
            }
        }
    };
    audience.line.bar.clear();
    ended.map(|()| account)
}

/// How far it came.
fn progress(account: WorkAccount, plan: &CampaignPlan) -> String {
    format!("{} of {} blocks done by this process; what is done is kept", account.blocks, plan.blocks.len())
}

fn fail(worker: &Worker<'_>, claim: &Claim, why: &str) -> Result<(), Exit> {
    note(&format!("block {} has failed: {why}", claim.block + 1));
    worker.fail(claim, why).map_err(|error| refused(&error))
}

fn wait(stop: &AtomicBool) {
    let since = Instant::now();
    while since.elapsed() < LOOK && !stop.load(Ordering::Relaxed) {
        thread::sleep(POLL);
    }
}

/// Why a block is not done.
enum Trouble {
    /// Its results cannot be kept.
    Store(io::Error),
    /// It cannot be simulated: why.
    Block(String),
}

/// Simulates a block; the messages behind its last answer, or `None` if it was broken off.
fn simulate(
    block: &CampaignBlock,
    store: &Store,
    host: &Host<'_>,
    audience: &mut Audience,
) -> Result<Option<u64>, Trouble> {
    let mut messages = 0;
    // a fault of the simulator in one block is no reason to leave the others
    let outcome = panic::catch_unwind(AssertUnwindSafe(|| {
        block.simulate(store, host, audience, &mut |measured| messages = measured)
    }));
    if let Some(error) = audience.unkept.take() {
        return Err(Trouble::Store(error));
    }
    match outcome {
        Ok(Ok(account)) if account.interrupted => Ok(None),
        Ok(Ok(_)) => Ok(Some(messages)),
        Ok(Err(faults)) => {
            let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
            Err(Trouble::Block(faults.join("\n")))
        }
        Err(panicked) => Err(Trouble::Block(words(panicked.as_ref()))),
    }
}

/// What a panic says.
fn words(panicked: &(dyn Any + Send)) -> String {
    let text = panicked.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panicked.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "a fault of the simulator".to_owned())
}

/// Who listens to a block.
struct Audience {
    line: ProgressLine,
    /// Why a result could not be kept.
    unkept: Option<io::Error>,
}

impl Listener for Audience {
    fn progress(&mut self, progress: &Progress<'_>) {
        self.line.progress(progress);
    }

    fn notice(&mut self, text: &str) {
        self.line.notice(text);
    }

    fn unkept(&mut self, error: &StoreError) {
        let kind = match error {
            StoreError::Io { source, .. } => source.kind(),
            _ => io::ErrorKind::Other,
        };
        self.unkept = Some(io::Error::new(kind, told(error)));
    }
}

/// What the store says, with what helps a campaign.
fn told(error: &StoreError) -> String {
    let text = error.to_string();
    let (said, _) = text.split_once("\n  help: ").unwrap_or((&text, ""));
    format!("{said}\n  help: mend the cause and go on: what is done is kept")
}
