//! Jobs of a campaign on a cluster, by Slurm's own commands and a script that may be edited.
//!
//! An array of jobs shares the work; a job that waits for the end of all of them does what they left and writes the
//! outputs. Slurm puts the jobs of a lost node back into the queue.

use std::fmt;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::process::{Command, Output};
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use flitwise_language::document::nearest;
use flitwise_validation::campaign::{BlockState, Folder, Survey};

use super::Session;
use super::run::program;
use super::work::WorkRules;
use crate::args::campaigns::{CampaignRun, Place};
use crate::figure::write_whole;
use crate::outcome::{Exit, INTERRUPTED};
use crate::output::{self, note};
use crate::signals::Watch;
use crate::typed::{self, Options};

/// The script of a job, with blanks.
pub(super) const TEMPLATE: &str = include_str!("slurm/job.sh");

/// What fills a blank of the template.
const BLANKS: [&str; 2] = ["flitwise", "threads"];
/// Jobs of a campaign with as many blocks, unless it is told how many.
const USUAL_JOBS: u64 = 16;
/// More than any cluster lets an array have.
const MOST_JOBS: u64 = 1_000_000;

/// Where the arguments of the script have to stand in it.
const ARGUMENTS: &str = "\"$@\"";

/// Where the script of a campaign is, told from its folder; logs of jobs are beside it.
const SCRIPT: &str = "slurm/job.sh";

/// How often to ask where jobs are: often enough for a person, seldom enough for a busy controller.
const POLL: Duration = Duration::from_secs(3);
/// How often to look for a signal meanwhile.
const GLANCE: Duration = Duration::from_millis(50);

/// How a campaign is submitted.
#[derive(Clone, Debug)]
pub(super) struct Request {
    /// The script of all jobs, its blanks filled.
    script: String,
    /// How many were asked for.
    jobs: Option<u64>,
    waits: bool,
}

/// The numbers of the jobs of a campaign.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Submission {
    /// Of the array that shares the work.
    array: String,
    /// How many jobs the array has.
    jobs: u64,
    /// Of the job that writes the outputs.
    finish: String,
}

/// How a job ended.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Ending {
    /// Slurm's word for it, such as `COMPLETED`.
    state: String,
    /// Exit code of the command.
    code: u8,
}

impl Request {
    /// Reads the options, or reports all that is wrong with them; none for what is done on this computer.
    pub(super) fn read(args: &CampaignRun) -> Result<Option<Self>, Exit> {
        if args.on == Place::Local {
            let faults = args.slurm.idle();
            return if faults.is_empty() { Ok(None) } else { Err(Exit::BadInput(faults)) };
        }
        let mut faults = Vec::new();
        if args.processes.trim() != "1" {
            faults.push("--processes: found --on slurm, wanted --jobs in its place".to_owned());
        }
        let most = typed::within(1..=MOST_JOBS, "1 to 1000000 jobs");
        let jobs = Options { faults: &mut faults }.option("jobs", &args.slurm.jobs, most);
        let jobs = if faults.is_empty() { Ok(jobs) } else { Err(Exit::BadInput(faults)) };
        let program = program("--on slurm")?;
        // who calls says what is wrong with a number of threads
        let threads = args.means.threads.as_deref().and_then(|threads| typed::threads(threads.trim()).ok());
        let script = filled(args.slurm.template.as_deref(), &program.to_string_lossy(), threads.unwrap_or(1));
        let (jobs, script) = Exit::both(jobs, script)?;
        Ok(Some(Self { script, jobs, waits: args.slurm.wait }))
    }

    /// Submits the jobs of a campaign whose folder is there, and waits for them if that was asked.
    pub(super) fn run(&self, session: &Session, folder: &Folder, rules: &WorkRules) -> Result<(), Exit> {
        let blocks = session.plan.blocks.len();
        let jobs = self.jobs.unwrap_or(USUAL_JOBS).min(blocks as u64).max(1);
        let submission = submit(folder.path(), jobs, &self.script, rules.lease)?;
        output::write(submission.to_string().as_bytes())?;
        let advice = submission.advice(folder.path());
        let say = |text: &str| {
            if !rules.quiet {
                note(text);
            }
        };
        if !self.waits {
            say(&advice);
            return Ok(());
        }
        let done = || {
            let survey = Survey::of(folder, &session.plan, rules.lease).ok()?;
            Some(survey.blocks.iter().filter(|block| matches!(block, BlockState::Done(_))).count())
        };
        let tell = |jobs: &str| {
            let done = done().map_or_else(|| "?".to_owned(), |done| done.to_string());
            say(&format!("{jobs}; blocks: {done} of {blocks} done"));
        };
        submission.follow(tell).ok_or_else(|| Exit::InterruptedAt(format!("the jobs go on; {advice}")))?;
        submission.outcome(folder.path())
    }
}

/// A script with its blanks filled: of a template in a file, or of [`TEMPLATE`].
fn filled(template: Option<&Path>, program: &str, threads: usize) -> Result<String, Exit> {
    let (name, template) = match template {
        None => ("the template".to_owned(), TEMPLATE.to_owned()),
        Some(path) => (format!("--template {}", path.display()), read(path)?),
    };
    let mut faults = Vec::new();
    let mut text = String::new();
    for (at, line) in template.lines().enumerate() {
        let mut rest = line;
        while let Some((before, after)) = rest.split_once("{{") {
            text.push_str(before);
            // braces of the shell have no single word between them
            let blank = after.split_once("}}").filter(|(blank, _)| is_word(blank.trim()));
            let Some((blank, after)) = blank else {
                text.push_str("{{");
                rest = after;
                continue;
            };
            match blank.trim() {
                "flitwise" => text.push_str(&quoted(program)),
                "threads" => text.push_str(&threads.to_string()),
                other => faults.push(unknown(&format!("{name}, line {}", at + 1), other)),
            }
            rest = after;
        }
        text.push_str(rest);
        text.push('\n');
    }
    if !template.contains(ARGUMENTS) {
        faults.push(format!(
            "{name}: found no {ARGUMENTS}, wanted it after the word campaign\n  help: flitwise campaign template \
             prints a template to start from"
        ));
    }
    if faults.is_empty() { Ok(text) } else { Err(Exit::BadInput(faults)) }
}

fn read(path: &Path) -> Result<String, Exit> {
    fs::read_to_string(path).map_err(|error| {
        let found = match error.kind() {
            ErrorKind::InvalidData => "found bytes that are not UTF-8, wanted text".to_owned(),
            _ => format!("cannot be read: {error}"),
        };
        Exit::input(format!("--template {}: {found}", path.display()))
    })
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|one| one.is_alphanumeric() || one == '_' || one == '-')
}

fn unknown(place: &str, blank: &str) -> String {
    let wanted = BLANKS.map(|blank| format!("{{{{ {blank} }}}}")).join(" or ");
    let help = nearest(blank, BLANKS).map_or_else(String::new, |near| format!("\n  help: {{{{ {near} }}}}"));
    format!("{place}: found {{{{ {blank} }}}}, wanted {wanted}{help}")
}

/// A word of the shell.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// Writes the script into a campaign's folder and submits `jobs` jobs, and one that follows them.
fn submit(folder: &Path, jobs: u64, script: &str, lease: Duration) -> Result<Submission, Exit> {
    let logs = folder.join("slurm");
    fs::create_dir_all(&logs).map_err(|error| {
        Exit::Output(io::Error::new(error.kind(), format!("{}: {error}", logs.display())))
    })?;
    write_whole(&folder.join(SCRIPT), script.as_bytes())?;
    let lease = format!("{}s", lease.as_secs_f64());
    let means = ["--lease", &lease];
    let of_array = format!("--array=1-{jobs}");
    let array = sbatch(folder, &[&[&of_array, "--job-name=work", SCRIPT, "work", "."], &means[..]].concat())?;
    let after = format!("--dependency=afterany:{array}");
    let of_finish = [&[&after, "--job-name=finish", SCRIPT, "run", "."], &means[..]].concat();
    let finish = sbatch(folder, &of_finish).map_err(|failed| {
        failed.with_help(|| {
            Some(format!(
                "job {array} does the work all the same; after it, flitwise campaign run {} writes the outputs",
                folder.display()
            ))
        })
    })?;
    Ok(Submission { array, jobs, finish })
}

/// Submits a script from a folder; the number of the job.
fn sbatch(folder: &Path, arguments: &[&str]) -> Result<String, Exit> {
    let mut command = Command::new("sbatch");
    let output = command.arg("--parsable").args(arguments).current_dir(folder).output();
    let output = output.map_err(|error| match error.kind() {
        ErrorKind::NotFound => Exit::input(
            "--on slurm: found no program sbatch, wanted Slurm's commands on the PATH\n  help: type it on a machine \
             from which jobs are submitted; without Slurm, start flitwise campaign work DIR on every machine that has \
             the folder",
        ),
        _ => Exit::input(format!("--on slurm: sbatch cannot be started: {error}")),
    })?;
    if !output.status.success() {
        return Err(Exit::input(format!("--on slurm: sbatch refused the job: {}", words(&output))));
    }
    // a number, and a cluster's name where there are several
    let said = String::from_utf8_lossy(&output.stdout);
    let number = said.lines().last().and_then(|line| line.split(';').next()).unwrap_or_default().trim();
    if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
        let found = said.trim();
        return Err(Exit::input(format!(
            "--on slurm: found \"{found}\" as the answer of sbatch, wanted a job's number"
        )));
    }
    Ok(number.to_owned())
}

/// What a program of Slurm says of its failure.
fn words(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr);
    match said.trim() {
        "" => format!("it said nothing, {}", output.status),
        said => said.replace('\n', "\n  "),
    }
}

impl Submission {
    /// What to do next.
    fn advice(&self, folder: &Path) -> String {
        let (Self { array, finish, .. }, folder) = (self, folder.display());
        format!(
            "flitwise campaign status {folder} tells how far they are, squeue --jobs={array},{finish} where they run; \
             scancel {array} {finish} ends them"
        )
    }

    /// Waits until no job is left. `tell` hears how many run and wait whenever that changes. `None` if a signal came:
    /// the jobs go on.
    fn follow(&self, tell: impl Fn(&str)) -> Option<()> {
        let watch = Watch::begin();
        let mut last = String::new();
        loop {
            let now = match self.queue() {
                Ok(states) if states.is_empty() => return Some(()),
                Ok(states) => in_words(&states),
                // it does again, as after a restart of the controller
                Err(said) => format!("squeue does not answer: {said}"),
            };
            if now != last {
                tell(&now);
                last = now;
            }
            let asked = Instant::now();
            while asked.elapsed() < POLL {
                if watch.stop().load(Ordering::Relaxed) {
                    return None;
                }
                thread::sleep(GLANCE);
            }
        }
    }

    /// States of the jobs that have not ended.
    fn queue(&self) -> Result<Vec<String>, String> {
        let jobs = format!("--jobs={},{}", self.array, self.finish);
        let arguments = ["--noheader", "--array", "--format=%T", &jobs];
        let output = Command::new("squeue").args(arguments).output().map_err(|error| error.to_string())?;
        match output.status.success() {
            true => Ok(String::from_utf8_lossy(&output.stdout)
                .lines()
                .map(|line| line.trim().to_owned())
                .collect()),
            false => Err(words(&output)),
        }
    }

    /// How the finishing job ended, which is how the campaign did.
    fn outcome(&self, folder: &Path) -> Result<(), Exit> {
        let finish = &self.finish;
        let shown = Command::new("scontrol").args(["show", "job", "--oneliner", finish]).output();
        let ended = shown.ok().and_then(|output| ending(&String::from_utf8_lossy(&output.stdout)));
        let log = folder.join(format!("slurm/finish-{finish}.log"));
        let said = format!("its log is {}", log.display());
        match ended {
            Some(Ending { state, code: 0 }) if state == "COMPLETED" => Ok(()),
            Some(Ending { state, code }) => {
                let message = format!("job {finish} ended as {state} with exit code {code}; {said}");
                Err(match code {
                    2 => Exit::BadInput(vec![message]),
                    3 => Exit::NotConverged(message),
                    INTERRUPTED => Exit::InterruptedAt(message),
                    _ => Exit::Failed(message),
                })
            }
            None => Err(Exit::Failed(format!("Slurm does not know any more how job {finish} ended; {said}"))),
        }
    }
}

impl fmt::Display for Submission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "job {}: {} jobs that share the work", self.array, self.jobs)?;
        writeln!(f, "job {}: writes the outputs after them", self.finish)
    }
}

/// How many jobs run and how many wait.
fn in_words(states: &[String]) -> String {
    let running = states.iter().filter(|state| *state == "RUNNING").count();
    let waiting = states.iter().filter(|state| *state == "PENDING").count();
    format!("jobs: {running} run, {waiting} wait, {} begin or end", states.len() - running - waiting)
}

/// From `JobState=COMPLETED .. ExitCode=0:0`, the code and the signal.
fn ending(line: &str) -> Option<Ending> {
    let value = |key: &str| line.split_whitespace().find_map(|word| word.strip_prefix(key));
    let (code, _) = value("ExitCode=")?.split_once(':')?;
    Some(Ending { state: value("JobState=")?.to_owned(), code: code.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script(template: Option<&Path>) -> Result<String, Exit> {
        filled(template, "/opt/Flit's/flitwise", 3)
    }

    fn faults_of(template: &str) -> String {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("mine.sh");
        fs::write(&path, template).unwrap();
        let found = script(Some(&path)).unwrap_err();
        assert_eq!(found.exit_code(), 2);
        found.to_string().replace(path.to_str().unwrap(), "mine.sh")
    }

    #[test]
    fn blanks_are_filled_and_the_rest_is_left_alone() {
        let text = script(None).unwrap();
        assert!(text.contains("\n#SBATCH --cpus-per-task=3\n"), "{text}");
        assert!(text.contains("\n'/opt/Flit'\\''s/flitwise' campaign \"$@\" --threads"), "{text}");
        assert_eq!(text.lines().count(), TEMPLATE.lines().count());

        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("mine.sh");
        fs::write(&path, "echo {{a,b},c} ${#x} {{ {{threads}}{{ threads }} }} \"$@\"").unwrap();
        assert_eq!(script(Some(&path)).unwrap(), "echo {{a,b},c} ${#x} {{ 33 }} \"$@\"\n");
    }

    #[test]
    fn all_faults_of_a_template_are_reported_at_once() {
        let wanted = "\
2 faults
--template mine.sh, line 2: found {{ thread }}, wanted {{ flitwise }} or {{ threads }}
  help: {{ threads }}
--template mine.sh: found no \"$@\", wanted it after the word campaign
  help: flitwise campaign template prints a template to start from";
        assert_eq!(faults_of("#!/bin/bash\n#SBATCH --cpus-per-task={{ thread }}\n"), wanted);
        let wanted = "--template mine.sh, line 1: found {{ queue }}, wanted {{ flitwise }} or {{ threads }}";
        assert_eq!(faults_of("{{ queue }} \"$@\""), wanted);
        let missing = script(Some(Path::new("/nowhere/mine.sh"))).unwrap_err().to_string();
        assert!(missing.starts_with("--template /nowhere/mine.sh: cannot be read: "), "{missing}");
    }

    #[test]
    fn the_end_of_a_job_is_read_from_its_line() {
        let line =
            "JobId=7 JobName=finish JobState=FAILED Reason=None Dependency=(null) ExitCode=1:0 Restarts=0";
        assert_eq!(ending(line), Some(Ending { state: "FAILED".to_owned(), code: 1 }));
        assert_eq!(ending("slurm_load_jobs error: Invalid job id specified"), None);
    }

    #[test]
    fn states_of_jobs_are_counted() {
        let states = ["RUNNING", "PENDING", "RUNNING", "COMPLETING"].map(str::to_owned);
        assert_eq!(in_words(&states), "jobs: 2 run, 1 wait, 1 begin or end");
    }
}
