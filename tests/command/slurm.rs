//! Campaigns on a cluster, with programs in place of Slurm's that run jobs at once. `.ci/cluster` has a real one.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use crate::process::{command, piped, signal};

/// Runs the script as often as the array has jobs, all at a time, and tells a number as Slurm does.
const SBATCH: &str = r#"#!/bin/bash
echo "$PWD: sbatch $*" >>"$STUBS/asked"
if [ -e "$STUBS/refuses" ] && grep -q -- "$(cat "$STUBS/refuses")" <<<"$*"; then
    echo "sbatch: error: invalid account" >&2
    exit 1
fi
jobs=1
while [[ ${1:-} == --* ]]; do
    case $1 in
        --array=1-*) jobs=${1#--array=1-} ;;
        --job-name=*) name=${1#--job-name=} ;;
    esac
    shift
done
number=$((40 + $(wc -l <"$STUBS/asked")))
export SLURM_JOB_ID=$number SLURM_CPUS_PER_TASK=2
for ((job = 0; job < jobs; job++)); do
    { bash "$@" >>"slurm/$name-$number.log" 2>&1; echo "JobState=COMPLETED ExitCode=$?:0" >"$STUBS/ended"; } &
done
wait
echo "$number;here"
"#;
const SQUEUE: &str = "#!/bin/bash\n[ ! -e \"$STUBS/queue\" ] || cat \"$STUBS/queue\"\n";
const SCONTROL: &str = "#!/bin/bash\n[ ! -e \"$STUBS/ended\" ] || cat \"$STUBS/ended\"\n";

/// A folder with the programs, a campaign and its outputs.
struct Cluster(tempfile::TempDir);

impl Cluster {
    fn new() -> Self {
        let cluster = Self(tempfile::tempdir().unwrap());
        fs::create_dir(cluster.path("bin")).unwrap();
        for (name, text) in [("sbatch", SBATCH), ("squeue", SQUEUE), ("scontrol", SCONTROL)] {
            let path = cluster.path("bin").join(name);
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let study = "name = \"load\"\npreset = \"router16\"\nover = [\"class.R1.rate=0.001:0.004:4\"]\n";
        let campaign = format!("precision = \"20%\"\nmax-messages = \"1e4\"\n\n[[study]]\n{study}");
        fs::write(cluster.path("mine.toml"), campaign).unwrap();
        cluster
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn command(&self, options: &[&str]) -> std::process::Command {
        let mut run = command(&["campaign", "run", "mine.toml", "--folder"]);
        let path = format!("{}:{}", self.path("bin").display(), std::env::var("PATH").unwrap());
        run.args(options).current_dir(self.0.path()).env("PATH", path).env("STUBS", self.0.path());
        run
    }

    /// Runs the campaign in a folder with these options.
    fn run(&self, options: &[&str]) -> Output {
        self.command(options).stdin(Stdio::null()).output().unwrap()
    }

    /// What sbatch was asked, the folder of this test left out.
    fn asked(&self) -> String {
        let real = self.0.path().canonicalize().unwrap();
        let asked = fs::read_to_string(self.path("asked")).unwrap_or_default();
        asked.replace(real.to_str().unwrap(), "")
    }
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// Files below a folder, by name, with what is in them.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(place) = folders.pop() {
        for path in fs::read_dir(place).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push((path.strip_prefix(folder).unwrap().to_owned(), fs::read(&path).unwrap()));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn jobs_end_with_the_store_and_the_outputs_of_one_process() {
    let cluster = Cluster::new();
    let alone = cluster.run(&["alone", "--quiet"]);
    assert_eq!(alone.status.code(), Some(0), "{}", text(&alone.stderr));
    let jobs = cluster.run(&["it's shared", "--on", "slurm", "--jobs", "3", "--threads", "2", "--wait"]);
    assert_eq!(jobs.status.code(), Some(0), "{}", text(&jobs.stderr));
    let said = "job 41: 3 jobs that share the work\njob 42: writes the outputs after them\n";
    assert_eq!(text(&jobs.stdout), said);
    let asked = "\
/it's shared: sbatch --parsable --array=1-3 --job-name=work slurm/job.sh work . --lease 30s
/it's shared: sbatch --parsable --dependency=afterany:41 --job-name=finish slurm/job.sh run . --lease 30s
";
    assert_eq!(cluster.asked(), asked);
    for part in ["store", "out"] {
        let [alone, shared] = ["alone", "it's shared"].map(|folder| files(&cluster.path(folder).join(part)));
        assert!(!alone.is_empty() && alone == shared, "{part}");
    }

    // no more jobs than blocks, and what to do next
    let again = cluster.run(&["again", "--on", "slurm"]);
    assert_eq!(again.status.code(), Some(0), "{}", text(&again.stderr));
    assert!(cluster.asked().contains("/again: sbatch --parsable --array=1-4 "), "{}", cluster.asked());
    assert!(text(&again.stderr).contains("scancel 43 44 ends them"), "{}", text(&again.stderr));
}

#[test]
fn refusals_of_slurm_are_passed_on() {
    let cluster = Cluster::new();
    let refused = |pattern: &str| {
        fs::write(cluster.path("refuses"), pattern).unwrap();
        let output = cluster.run(&["shared", "--on", "slurm", "--jobs", "1"]);
        assert_eq!((output.status.code(), text(&output.stdout)), (Some(2), ""));
        text(&output.stderr).to_owned()
    };
    let said = "error: --on slurm: sbatch refused the job: sbatch: error: invalid account\n";
    assert_eq!(refused("array"), said);
    let help = "  help: job 42 does the work all the same; after it, flitwise campaign run shared writes the outputs\n";
    assert_eq!(refused("afterany"), format!("{said}{help}"));

    fs::write(cluster.path("bin/sbatch"), "#!/bin/sh\necho submitted to the night\n").unwrap();
    let output = cluster.run(&["shared", "--on", "slurm"]);
    let said = "found \"submitted to the night\" as the answer of sbatch, wanted a job's number";
    assert!(text(&output.stderr).contains(said), "{}", text(&output.stderr));

    let output = cluster.command(&["shared", "--on", "slurm"]).env("PATH", "/nowhere").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = "error: --on slurm: found no program sbatch, wanted Slurm's commands on the PATH\n  help: ";
    assert!(text(&output.stderr).starts_with(said), "{}", text(&output.stderr));
}

#[test]
fn all_faults_of_the_options_are_reported_and_nothing_is_made() {
    let cluster = Cluster::new();
    fs::write(cluster.path("mine.sh"), "#!/bin/bash\n#SBATCH --cpus-per-task={{ thread }}\n").unwrap();
    let output = cluster.run(&[
        "shared",
        "--on",
        "slurm",
        "--jobs",
        "0",
        "--template",
        "mine.sh",
        "--threads",
        "none",
    ]);
    assert_eq!(output.status.code(), Some(2));
    let said = text(&output.stderr);
    for fault in [
        "--threads none: found \"none\", wanted 1 to 1024 threads\n",
        "--jobs 0: found 0, wanted 1 to 1000000 jobs\n",
        "--template mine.sh, line 2: found {{ thread }}, wanted {{ flitwise }} or {{ threads }}\n  help: {{ threads",
        "--template mine.sh: found no \"$@\", wanted it after the word campaign\n",
    ] {
        assert!(said.contains(fault), "{said}");
    }
    assert!(!cluster.path("shared").exists());

    let output = cluster.run(&["shared", "--wait", "--jobs", "3"]);
    assert_eq!(output.status.code(), Some(2));
    let said =
        "2 faults\n--jobs: found --on local, wanted --on slurm with it\n--wait: found --on local, wanted";
    assert!(text(&output.stderr).contains(said), "{}", text(&output.stderr));
    assert!(!cluster.path("shared").exists());
}

#[test]
fn the_command_that_waits_ends_as_the_last_job_or_with_a_signal() {
    let cluster = Cluster::new();
    // neither job finds the program
    let script = "#!/bin/bash\nset -- \"$@\"\nexit 1\n";
    fs::write(cluster.path("mine.sh"), script).unwrap();
    let options = ["shared", "--on", "slurm", "--jobs", "1", "--template", "mine.sh", "--wait"];
    fs::write(cluster.path("bin/scontrol"), "#!/bin/sh\necho JobState=FAILED ExitCode=1:0\n").unwrap();
    let output = cluster.run(&options);
    assert_eq!(output.status.code(), Some(1));
    let said = "job 42 ended as FAILED with exit code 1; its log is shared/slurm/finish-42.log\n";
    assert!(text(&output.stderr).ends_with(said), "{}", text(&output.stderr));
    fs::write(cluster.path("bin/scontrol"), "#!/bin/sh\nexit 1\n").unwrap();
    let output = cluster.run(&options);
    assert_eq!(output.status.code(), Some(1));
    let said =
        "error: Slurm does not know any more how job 44 ended; its log is shared/slurm/finish-44.log\n";
    assert!(text(&output.stderr).ends_with(said), "{}", text(&output.stderr));

    fs::write(cluster.path("queue"), "RUNNING\nPENDING\nPENDING\n").unwrap();
    let mut child = piped(cluster.command(&options).stdin(Stdio::null()));
    let mut messages = BufReader::new(child.stderr.take().unwrap());
    let mut said = String::new();
    messages.read_line(&mut said).unwrap();
    assert_eq!(said, "note: jobs: 1 run, 2 wait, 0 begin or end; blocks: 0 of 4 done\n");
    signal(&child, "-INT");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    messages.read_to_string(&mut said).unwrap();
    assert!(said.contains("error: interrupted: the jobs go on; "), "{said}");
    assert!(said.contains("scancel 45 46 ends"), "{said}");
}

#[test]
fn the_template_is_what_jobs_run() {
    let printed = command(&["campaign", "template"]).output().unwrap();
    assert_eq!(printed.status.code(), Some(0));
    let cluster = Cluster::new();
    fs::write(cluster.path("mine.sh"), &printed.stdout).unwrap();
    fs::write(cluster.path("bin/sbatch"), "#!/bin/sh\necho 7\n").unwrap();
    let scripts = [&["usual", "--on", "slurm"][..], &["edited", "--on", "slurm", "--template", "mine.sh"]]
        .map(|options| {
            let output = cluster.run(options);
            assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
            fs::read_to_string(cluster.path(options[0]).join("slurm/job.sh")).unwrap()
        });
    assert_eq!(scripts[0], scripts[1]);
    let program = format!("'{}' campaign \"$@\" ", env!("CARGO_BIN_EXE_flitwise"));
    assert!(scripts[0].contains(&program) && !scripts[0].contains("{{"), "{}", scripts[0]);
}
