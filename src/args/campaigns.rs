//! Options of `flitwise campaign`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::Format;

pub(super) const EXAMPLES: &str = "\
Examples:
  flitwise campaign plan mine.toml                   the blocks: what can be simulated independently
  flitwise campaign run mine.toml                    all of it, on this computer, into mine.campaign
  flitwise campaign run mine.toml --processes 4
  flitwise campaign work mine.campaign               one more process, on any machine that has the folder
  flitwise campaign run mine.toml --on slurm         by jobs of a cluster; flitwise campaign run --help
  flitwise campaign status mine.campaign             done, running, lost, left, and the time left

A campaign file says what is wanted:
  figures = [\"4a\", \"5b\"]                             as flitwise figure takes them, \"all\" too
  claims = [\"fig04a\"]                                as flitwise verify --only takes them; \"all\" or \"quick\"
  report = true                                      the pages of flitwise report; \"quick\" for a coarse one
  precision = \"2%\"                                   as the option; so are seed and max-messages
  [[study]]                                          a scenario over axes; repeatable
  name = \"load\"
  preset = \"router16\"                                or file = \"router.toml\"
  set = { \"class.BE.rate\" = 0.002 }
  over = [\"class.R1.rate=0.001:0.008:8\"]
  couple = [\"class.R2.rate=class.R1.rate/2\"]

Results are those of the same commands on one machine with an empty store, to the bit, however many processes work,
whenever they come, go or die.";

const PLAN_EXAMPLES: &str = "\
Examples:
  flitwise campaign plan mine.toml
  flitwise campaign plan mine.toml --format csv > blocks.csv

A block is one scenario and seed, with all that is asked of it: by figures, claims, the report and studies. Figures of
channels in detail are simulated by whoever writes the outputs; a note names them.
Exit codes: 0 answered, 1 output not written, 2 bad input.";

const RUN_EXAMPLES: &str = "\
Examples:
  flitwise campaign run mine.toml
  flitwise campaign run mine.toml --folder /shared/mine --processes 8 --threads 1
  flitwise campaign run /shared/mine                 go on with it, and write the outputs
  flitwise campaign run mine.toml --folder /shared/mine --on slurm --jobs 32 --wait

The folder holds copies of the campaign file and of all files that it names, the store, and the outputs in out: figures,
claims.json, .csv and .md, the report, and each study as CSV and JSON. The names of these files are printed. They are
written once all blocks are done, those that other processes have taken too.
Interrupted or killed, it goes on where it was when it is run again.
--on slurm submits an array of jobs, each of one thread unless --threads says otherwise, and a job that writes the
outputs after them; their numbers are printed. Script and logs are in the folder's slurm. Jobs of lost nodes and those
that come to their time limit go back into the queue. After an interruption of --wait the jobs go on.
Exit codes: 0 done or submitted, 1 a block failed or output not written, 2 bad input, 130 interrupted (what is done is
kept).";

const TEMPLATE_EXAMPLES: &str = "\
Examples:
  flitwise campaign template > mine.sh               then edit it: account, partition, time limit, modules
  flitwise campaign run mine.toml --folder /shared/mine --on slurm --template mine.sh

Filled in are {{ flitwise }}, the path of the program that submits the jobs, and {{ threads }}.
Exit codes: 0 printed, 1 output not written.";

const WORK_EXAMPLES: &str = "\
Examples:
  flitwise campaign work /shared/mine
  flitwise campaign work /shared/mine --threads 1 --no-wait

Takes blocks until all are done. Any number of processes on any number of machines may do so at once. A block whose
process is dead, or has been silent for as long as --lease, is taken over; so clocks of machines may differ.
Exit codes: 0 all blocks done (with --no-wait: none is free), 1 a block failed or the folder cannot be written, 2 bad
input, 130 interrupted (the block under way is given back).";

const STATUS_EXAMPLES: &str = "\
Examples:
  flitwise campaign status mine.campaign
  flitwise campaign status mine.campaign --format json

The time left follows from the blocks that are done and the processes at work. Whether a process of another machine is
lost is told by the times of its files.
Exit codes: 0 answered, 1 output not written, 2 bad input.";

#[derive(Debug, Subcommand)]
pub(crate) enum CampaignCommand {
    /// List the blocks of a campaign: what can be simulated independently.
    #[command(after_help = PLAN_EXAMPLES)]
    Plan(CampaignPlan),
    /// Work a campaign off and write its outputs.
    #[command(after_help = RUN_EXAMPLES)]
    Run(CampaignRun),
    /// Take blocks of a campaign until all are done, beside other processes.
    #[command(after_help = WORK_EXAMPLES)]
    Work(CampaignWork),
    /// Say which blocks are done, running, lost and left, and how long it will take.
    #[command(after_help = STATUS_EXAMPLES)]
    Status(CampaignStatus),
    /// Print the script of the jobs that --on slurm submits, to edit it.
    #[command(after_help = TEMPLATE_EXAMPLES)]
    Template,
}

#[derive(Debug, Args)]
pub(crate) struct CampaignPlan {
    /// Campaign file (TOML), or the folder of a campaign.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// How to print the blocks.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct CampaignRun {
    /// Campaign file (TOML), or the folder of a campaign.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The folder that all processes share [default: the file's name with .campaign in place of .toml].
    #[arg(long, value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,
    /// Processes to start; with 1 this process does all.
    #[arg(long, value_name = "N", default_value = "1", allow_hyphen_values = true)]
    pub(crate) processes: String,
    /// Where to start them.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) on: Place,
    #[command(flatten)]
    pub(crate) slurm: SlurmArgs,
    #[command(flatten)]
    pub(crate) means: WorkMeans,
}

#[derive(Debug, Args)]
pub(crate) struct CampaignWork {
    /// The folder of a campaign.
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// End when no block is free, though other processes are still at work on some.
    #[arg(long)]
    pub(crate) no_wait: bool,
    /// End as if interrupted when standard input ends: with the process that has started this one.
    #[arg(long, hide = true)]
    pub(crate) until_input_ends: bool,
    #[command(flatten)]
    pub(crate) means: WorkMeans,
}

/// How to work.
#[derive(Debug, Args)]
pub(crate) struct WorkMeans {
    /// Threads of each process [default: all cores, shared by the processes started].
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) threads: Option<String>,
    /// Take over a block whose process has been silent for so long: seconds, or a number with s, m or h.
    #[arg(long, value_name = "TIME", default_value = "30s", allow_hyphen_values = true)]
    pub(crate) lease: String,
    /// Show no progress; it is shown on standard error if that is a terminal.
    #[arg(long)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CampaignStatus {
    /// The folder of a campaign.
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// How to print it.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

/// Where processes are started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Place {
    /// On this computer.
    #[default]
    Local,
    /// As jobs of a cluster with Slurm.
    Slurm,
}

/// How jobs are submitted. Values are read by `campaigns`, so that all that is wrong is reported at once.
#[derive(Debug, Args)]
pub(crate) struct SlurmArgs {
    /// On slurm: jobs that share the work, of which there are no more than blocks [default: 16].
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) jobs: Option<String>,
    /// On slurm: script of the jobs, an edited copy of what `flitwise campaign template` prints.
    #[arg(long, value_name = "SCRIPT")]
    pub(crate) template: Option<PathBuf>,
    /// On slurm: say how far the jobs are until the last one has ended, and end with its exit code.
    #[arg(long)]
    pub(crate) wait: bool,
}

impl SlurmArgs {
    /// What is wrong with these options where nothing is submitted.
    pub(crate) fn idle(&self) -> Vec<String> {
        let given =
            [("jobs", self.jobs.is_some()), ("template", self.template.is_some()), ("wait", self.wait)];
        let fault = |(option, _)| format!("--{option}: found --on local, wanted --on slurm with it");
        given.into_iter().filter(|(_, given)| *given).map(fault).collect()
    }
}
