//! `flitwise campaign run`.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use flitwise_validation::campaign::{BlockState, Folder, Survey};

use super::slurm::Request;
use super::work::{WorkRules, check_failures, work};
use super::{Means, Session, outputs, refused};
use crate::args::campaigns::CampaignRun;
use crate::console::Console;
use crate::outcome::Exit;
use crate::progress::Bar;
use crate::signals::Watch;
use crate::{place, typed};

/// How often to look at the processes.
const POLL: Duration = Duration::from_millis(20);
/// How often to count blocks for the bar.
const COUNT: Duration = Duration::from_secs(1);
/// The most processes.
const MOST_PROCESSES: u64 = 1_024;

pub(super) fn run(args: &CampaignRun) -> Result<(), Exit> {
    let processes = processes(args);
    let request = Exit::both(processes, Request::read(args));
    let (rules, (processes, request)) = Exit::both(WorkRules::read(&args.means), request)?;
    let means = Means { threads: args.means.threads.clone(), quiet: args.means.quiet };
    let is_folder = args.file.is_dir();
    if let (true, Some(other)) = (is_folder, &args.folder) {
        return Err(Exit::input(format!(
            "--folder {}: found with the folder of a campaign, wanted it with a campaign file",
            other.display()
        )));
    }
    let path =
        if is_folder { args.file.clone() } else { args.folder.clone().unwrap_or_else(|| beside(&args.file)) };
    let folder = Folder::at(&path);
    let session = if is_folder {
        Session::of_folder(&folder, &means)?
    } else {
        let session = Session::read(&args.file, &folder, &means)?;
        place::directory("the folder", &path)?;
        let fingerprint = session.plan.fingerprint();
        folder.make(&session.file.inputs, &fingerprint).map_err(|error| refused(&error))?;
        session
    };
    if let Some(request) = request {
        return request.run(&session, &folder, &rules);
    }
    let _watch = Watch::begin();
    work_off(&session, &folder, &rules, processes)?;
    let survey = Survey::of(&folder, &session.plan, rules.lease).map_err(|error| refused(&error))?;
    let failed = survey.blocks.iter().filter(|block| matches!(block, BlockState::Failed(_)));
    check_failures(&folder, failed.count())?;
    let store = folder.store().map_err(|error| refused(&error))?;
    outputs::write(session, &folder, &store)
}

/// Number of processes, or what is wrong with it.
fn processes(args: &CampaignRun) -> Result<usize, Exit> {
    let mut faults = Vec::new();
    let mut read = typed::Options { faults: &mut faults };
    let most = typed::within(1..=MOST_PROCESSES, "1 to 1024 processes");
    let processes = read.value("processes", &args.processes, most) as usize;
    if faults.is_empty() { Ok(processes) } else { Err(Exit::BadInput(faults)) }
}

/// The path of this program, to start it again.
pub(super) fn program(option: &str) -> Result<PathBuf, Exit> {
    if Console::own().is_some() {
        // the process is somebody else's program
        return Err(Exit::input(format!(
            "{option}: found a call from within another program, wanted the command flitwise, which starts others of \
             its kind"
        )));
    }
    std::env::current_exe()
        .map_err(|error| Exit::input(format!("{option}: the program cannot tell its path: {error}")))
}

/// The folder of a campaign file, unless another one is named.
fn beside(file: &Path) -> PathBuf {
    file.with_extension("campaign")
}

/// Works off all blocks: other processes first, if there are to be any, then this one.
fn work_off(session: &Session, folder: &Folder, rules: &WorkRules, processes: usize) -> Result<(), Exit> {
    if processes > 1 {
        let mut children = Children::spawn(session, folder, rules, processes)?;
        children.wait(session, folder, rules)?;
    }
    // what other machines are at work on is waited for, and what a lost process has left is done here
    work(session, folder, rules).map(drop)
}

/// Processes that work on blocks.
struct Children(Vec<Child>);

impl Children {
    fn spawn(session: &Session, folder: &Folder, rules: &WorkRules, count: usize) -> Result<Self, Exit> {
        let program = program("--processes")?;
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let share = (cores / count).max(1).to_string();
        let threads = session.threads.clone().unwrap_or(share);
        let mut children = Self(Vec::with_capacity(count));
        for _ in 0..count.min(session.plan.blocks.len().max(1)) {
            let child = Command::new(&program)
                .args(["campaign", "work"])
                .arg(folder.path())
                .args(["--threads", &threads, "--quiet", "--until-input-ends"])
                .args(["--lease", &format!("{}s", rules.lease.as_secs_f64())])
                .stdin(Stdio::piped())
                .stdout(Stdio::null())
                .spawn();
            let failed =
                |error: io::Error| io::Error::new(error.kind(), format!("cannot start a process: {error}"));
            children.0.push(child.map_err(failed)?);
        }
        Ok(children)
    }

    /// Waits until all have ended; a signal ends them in order.
    fn wait(&mut self, session: &Session, folder: &Folder, rules: &WorkRules) -> Result<(), Exit> {
        let watch = Watch::begin();
        let bar = Bar::new(rules.quiet, session.campaign.settings.precision);
        let mut counted: Option<Instant> = None;
        let all = session.plan.blocks.len();
        let mut done = 0;
        while self.are_alive()? {
            if watch.stop().load(Ordering::Relaxed) {
                self.stop();
                bar.clear();
                return Err(Exit::InterruptedAt(format!("{done} of {all} blocks are done, and are kept")));
            }
            if counted.is_none_or(|counted| counted.elapsed() >= COUNT) {
                counted = Some(Instant::now());
                let survey =
                    Survey::of(folder, &session.plan, rules.lease).map_err(|error| refused(&error))?;
                done = survey.blocks.iter().filter(|block| matches!(block, BlockState::Done(_))).count();
                let share = done as f64 / all.max(1) as f64;
                let workers = survey.workers;
                bar.show(share, |left| format!("{done} of {all} blocks, {workers} processes, {left:#} left"));
            }
            thread::sleep(POLL);
        }
        bar.clear();
        Ok(())
    }

    /// Whether any is; those that have ended are heard of, so that others see that they are dead.
    fn are_alive(&mut self) -> io::Result<bool> {
        let mut alive = false;
        for child in &mut self.0 {
            alive |= child.try_wait()?.is_none();
        }
        Ok(alive)
    }

    /// Has all end as if interrupted.
    fn stop(&mut self) {
        self.0.iter_mut().for_each(|child| drop(child.stdin.take()));
        for child in &mut self.0 {
            let _ = child.wait();
        }
    }
}

impl Drop for Children {
    fn drop(&mut self) {
        self.stop();
    }
}
