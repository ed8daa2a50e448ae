//! Commands and options.

pub(crate) mod campaigns;
mod explain;
pub(crate) mod learn;
pub(crate) mod plan;
mod sensitivity;
mod serve;
mod station;
pub(crate) mod topology;
pub(crate) mod traces;

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use clap_complete::engine::{ArgValueCandidates, ArgValueCompleter};
use flitwise_figures::published::{PAPERS, Paper};
use flitwise_language::quantity::Quantity;
use flitwise_models::model::Model;
use flitwise_validation::origin::Origin;
use schemars::JsonSchema;
use serde::Serialize;

pub(crate) use explain::{DiagramKind, Explain, ExplainFormat};
pub(crate) use sensitivity::Sensitivity;
pub(crate) use serve::Serve;
use station::STATION_EXAMPLES;

use crate::{complete, plot};
pub(crate) use station::Station;

const EXAMPLES: &str = "\
Examples:
  flitwise solve                                     the 16-port router of the 2005 paper
  flitwise solve --preset cube6 --set class.R1.rate=0.008
  flitwise presets show router16 > mine.toml         a commented file to start from
  flitwise solve mine.toml --format json
  flitwise sweep --over class.R1.rate=0.001:0.012:23 --couple class.R2.rate=class.R1.rate/2
  flitwise simulate --preset router16                the same question put to a flit-level simulator
  flitwise compare --preset router16                 both models beside the simulator, with verdicts
  flitwise explain --class R1                        the derivation of its numbers, equation by equation
  flitwise plan max-load --require 'BE: total <= 200'  how much load that leaves room for
  flitwise learn                                     sixteen short lessons in queueing
  flitwise serve                                     a page with sliders, in the browser
  flitwise figure 4a                                 Fig. 4a of the 2005 paper, model and simulation
  flitwise verify --quick                            which of its claims hold, and by how much
  flitwise campaign run mine.toml                    many of these, with many processes on any machines

Exit codes:
  0    answered; a saturated class is an answer
  1    output not written, a difference beyond the tolerance, a changed verdict, or nothing measured in time
  2    bad input or usage
  3    no fixed point was found
  130  interrupted, after printing what there was";

/// Latency and deadline misses of QoS-capable wormhole clusters, in microseconds.
#[derive(Debug, Parser)]
#[command(name = "flitwise", version = env!("FLITWISE_LONG_VERSION"), after_help = EXAMPLES, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Answer one scenario: latency, its parts, waiting, deadline misses.
    #[command(after_help = SOLVE_EXAMPLES)]
    Solve(Solve),
    /// Answer a scenario over one or more axes, row by row.
    #[command(after_help = SWEEP_EXAMPLES)]
    Sweep(Sweep),
    /// Say how each number of an answer moves with each number of the scenario.
    #[command(after_help = sensitivity::EXAMPLES)]
    Sensitivity(Sensitivity),
    /// Simulate one scenario flit by flit: the figures of solve, each with its 95 % interval.
    #[command(after_help = SIMULATE_EXAMPLES)]
    Simulate(Simulate),
    /// Derive an answer with the scenario's own numbers, equation by equation.
    #[command(after_help = explain::EXAMPLES)]
    Explain(Explain),
    /// Put the models' answers beside the simulation's, quantity by quantity, with a verdict for each.
    #[command(after_help = COMPARE_EXAMPLES)]
    Compare(Compare),
    /// Ask backwards: the highest load, the best values, the admissible region under requirements.
    #[command(subcommand, after_help = plan::EXAMPLES)]
    Plan(plan::Plan),
    /// Check published claims, and our own, by model and simulation: one line each.
    #[command(after_help = VERIFY_EXAMPLES)]
    Verify(Verify),
    /// Draw a published figure, or your own: SVG, PNG, and the numbers as CSV and JSON.
    #[command(after_help = FIGURE_EXAMPLES)]
    Figure(Figure),
    /// Write all figures, error tables, claims and verdicts as one HTML page and as Markdown.
    #[command(after_help = REPORT_EXAMPLES)]
    Report(Report),
    /// Work off figures, claims and studies with many processes that share a folder.
    #[command(subcommand, after_help = campaigns::EXAMPLES)]
    Campaign(campaigns::CampaignCommand),
    /// Answer a textbook station: M/M/1, M/G/1, priorities, Erlang and others; alone it lists them.
    #[command(after_help = STATION_EXAMPLES)]
    Station(Station),
    /// Short lessons in queueing, each with a surprise, a question and commands to try.
    #[command(after_help = learn::EXAMPLES)]
    Learn(learn::Learn),
    /// Show the page in a browser: sliders, curves and simulations, computed by this process.
    #[command(after_help = serve::EXAMPLES)]
    Serve(Serve),
    /// Make a trace of messages for packet switches: a synthetic one, or one of a block trace of disks.
    #[command(subcommand, after_help = traces::EXAMPLES)]
    Trace(traces::TraceCommand),
    /// Write a network as a file of nodes and links, a built-in one or another program's.
    #[command(subcommand, after_help = topology::EXAMPLES)]
    Topology(topology::TopologyCommand),
    /// Show where simulation results are kept and how much there is, or check every file.
    Store(StoreCommand),
    /// List the built-in scenarios, or print one as a file to start from.
    Presets {
        #[command(subcommand)]
        action: Option<PresetAction>,
    },
    /// Print the JSON schema of a scenario or of results.
    Schema {
        /// What to describe.
        #[arg(value_enum)]
        of: SchemaOf,
    },
    /// Print a completion script for a shell.
    #[command(after_help = COMPLETION_EXAMPLES)]
    Completions {
        /// The shell.
        #[arg(value_enum)]
        shell: Shell,
    },
    /// Write manual pages, one for each command.
    #[command(after_help = MAN_EXAMPLES)]
    Man {
        /// Write them all to this directory, which is made if it is not there [default: print that of flitwise].
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
}

const COMPLETION_EXAMPLES: &str = "\
Examples:
  source <(flitwise completions bash)                in ~/.bashrc; the same in ~/.zshrc with zsh
  flitwise completions fish | source                 in ~/.config/fish/config.fish

Offered are commands, options, presets, figures, lessons, models and the keys of --set, --over and --vary, with
the classes of the preset or file that stands in the line.";

const MAN_EXAMPLES: &str = "\
Examples:
  flitwise man --out ~/.local/share/man/man1         then: man flitwise-solve
  flitwise man | man -l -                            the first page, without installing it";

const SOLVE_EXAMPLES: &str = "\
Examples:
  flitwise solve
  flitwise solve mine.toml --set router.buffer_flits=64 --set 'class.*.message_flits=16'
  flitwise solve --preset cube6 --details
  flitwise solve --preset router16 --distribution --format csv > latency.csv
  flitwise solve --preset recn64 --format csv        packet switches: throughput over time
  flitwise solve --model anchored --precision 1%     a simulation, kept in the store

A key given to --set is a path in the scenario file: router.scheduler, network.dimension, class.NAME.rate.
--model anchored corrects the refined model by a few simulations (flitwise sweep --help). A single scenario is
simulated itself: the answer is that simulation, as flitwise simulate prints it, but without the numbers by hops.
The options of simulations, from --precision on, need --model anchored.
Exit codes: 0 answered (saturated included), 1 output not written, 2 bad input, 3 not converged.";

const SWEEP_EXAMPLES: &str = "\
Examples:
  flitwise sweep --over class.R1.rate=0.001:0.012:23 --couple class.R2.rate=class.R1.rate/2
  flitwise sweep --over class.BE.rate=log:1e-4:0.02:30 --format table
  flitwise sweep --preset cube6 --over router.buffer_flits=4,16,32,64 --over class.BE.rate=0.001:0.004:4
  flitwise sweep --model anchored --over class.R1.rate=0.001:0.006:11 --format table

Axes: KEY=START:STOP:COUNT is linear, KEY=log:START:STOP:COUNT logarithmic, KEY=A,B,C a list of values.
Several axes give a grid, the last one varying fastest. Rows come out in that order, whatever the threads;
csv has one row per point and class, json one document, jsonl one line per point.
Each row comes out as soon as all rows before it are known.
--model anchored simulates a few points of the grid, the anchors, or takes them from the store; it learns how far the
refined model is off there and corrects all points, each number with its own 95 % interval. Anchors are placed until
every interval of a network latency is expected to be within --precision (2% if not given), or there are as many as
--anchors allows; each is simulated to 0.7 of it. Up to six points along one axis are all simulated: that costs no more.
The options of simulations, from --precision on, need --model anchored.
Exit codes: 0 answered (saturated included), 1 output not written, 2 bad input, 3 a point not converged, 130
interrupted (whole rows up to there; json says that it is partial).";

const SIMULATE_EXAMPLES: &str = "\
Examples:
  flitwise simulate
  flitwise simulate --preset cube6 --precision 0.5% --max-time 2m
  flitwise simulate mine.toml --set class.R1.rate=0.008 --seed 7 --format json
  flitwise simulate --preset router16 --trace messages.csv
  flitwise simulate --preset mesh4x4 --set 'class.*.destination={ hot = 5, share = 0.1 }' --details --format csv
  flitwise simulate --preset router16 --watch 3

The same scenario, seed, options and version give the same numbers on any number of threads, unless
--max-time or an interruption ended the run. Ctrl-C prints what has been measured; a second one ends at once.
Exit codes: 0 answered (saturated included), 1 output not written or nothing measured within --max-time, 2 bad
input, 130 interrupted.";

const COMPARE_EXAMPLES: &str = "\
Examples:
  flitwise compare
  flitwise compare --preset cube6 --tolerance 10% --quantity network-latency --quantity waiting
  flitwise compare mine.toml --over class.R1.rate=0.001:0.008:8 --couple class.R2.rate=class.R1.rate/2
  flitwise compare --preset router16 --model refined
  flitwise compare mine.toml --against counters.csv --fit router.pipeline_stages=1..8

Differences are model minus simulation: in percent of the simulated value; of parts of the network latency, in
percent of the simulated network latency; of probabilities, in percentage points. Verdicts: agrees (within
the 95 % interval), close (within the tolerance), OFF (beyond both). Of two models, one that has no answer to a
scenario is left out, and a note says why; --model asks for one alone.
Exit codes: 0 all within the tolerance, 1 a difference beyond it (or output not written), 2 bad input,
3 no fixed point was found, 130 interrupted.";

const VERIFY_EXAMPLES: &str = "\
Examples:
  flitwise verify --quick
  flitwise verify --only fig04a,fig13a-agreement
  flitwise verify mine.toml --precision 0.5%
  flitwise verify --format markdown > claims.md
  flitwise verify --accuracy --set holdout           the errors of a model over random scenarios
  flitwise verify --accuracy --set holdout --only router-07 --format json
  flitwise verify --accuracy --set anchored          errors and intervals of the anchored model

A claim is held, not held or undecided: intervals too wide to tell, or nothing to compare. Of each the registry says
what is expected; CHANGED is another verdict. --only takes whole names and their beginnings: fig04a is fig04a-order,
too. What a registry looks like is in validation/README.md. Simulations are kept in the store (flitwise store).
--accuracy compares a model with the simulation over scenarios drawn at random within stated bounds, each at shares of
the load at which the model has its first class saturate: mean and worst error of every quantity, beside what is aimed
at and the simulation's own uncertainty, and how many numbers lie within the errors that solve tells. These errors come
from the sets holdout (routers and cubes), networks and streams; fresh-holdout and its like are the same drawn afresh;
tuning is the set that the refined model was chosen on. anchored judges the anchored model beside both others: along one
to three axes, at places between anchors, by simulations of the next seed. What the file of a set looks like is in
validation/README.md. CSV has the errors class by class and point by point, as solve reads them, and JSON every single
point with its scenario. The set's precision holds unless --precision is given. A missed target
is an answer: exit code 0.
Exit codes: 0 every verdict as expected, 1 one has changed or is undecided (or output not written), 2 bad input,
130 interrupted (claims that were complete are judged).";

const FIGURE_EXAMPLES: &str = "\
Examples:
  flitwise figure                                    list the built-in figures
  flitwise figure 4a                                 fig04a.svg, .png, .csv and .json, in this directory
  flitwise figure all --out figures --theme print
  flitwise figure show 4a > mine.toml                a file to start from
  flitwise figure 5 --model both
  flitwise figure 4a --model anchored --precision 2%
  flitwise figure mine.toml --width 1000
  flitwise figure --preset recn64-quick              a scenario of ours: throughput over time

Simulations are kept in the store (flitwise store), so that drawing again costs none.
--model anchored draws the refined model's curves corrected by a few simulated points, the anchors, each curve with its
95 % interval as a band; only anchors are simulated then, to 0.7 of --precision (2% if not given). It takes figures of
curves along an axis.
Exit codes: 0 drawn, 1 output not written, 2 bad input, 130 interrupted (what was complete is drawn).";

const REPORT_EXAMPLES: &str = "\
Examples:
  flitwise report --out report
  flitwise report --out report --quick               a coarse one, a minute a paper
  flitwise report --out report --precision 2% --quick
  flitwise report --out report --paper recn          recn.html and recn.md, of one paper

Writes report.html (complete in itself), report.md, lessons.html, and every figure as SVG, PNG, CSV and JSON; each
figure as soon as its points are simulated. Simulations are kept in the store (flitwise store): after an interruption
the page says which figures are missing and how many claims have been judged, and the next report goes on from there.
With --quick the page says what is coarser. A claim that needs a higher precision is simulated to it all the same,
with up to 1e7 messages unless --max-messages says otherwise.
Exit codes: 0 written, 1 output not written, 2 bad input, 130 interrupted.";

/// How to simulate many points, and where to keep what was found.
///
/// Numbers are read by `campaign`, not here, so that all that is wrong is reported at once.
#[derive(Debug, Args)]
pub(crate) struct CampaignArgs {
    /// Simulate until the 95 % half-width of every class's network latency is at most this share of it
    /// [default: 1%, with --model anchored 2%].
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true)]
    pub(crate) precision: Option<String>,
    /// Seed of the random numbers.
    #[arg(long, value_name = "N", default_value = "1", allow_hyphen_values = true)]
    pub(crate) seed: String,
    /// Stop a point after so many measured messages, whatever the precision [default: 1e7].
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) max_messages: Option<String>,
    /// Keep simulation results in this directory [default: $FLITWISE_STORE, or flitwise in the user's cache].
    #[arg(long, value_name = "DIR")]
    pub(crate) store: Option<PathBuf>,
    /// Neither use stored simulation results nor store new ones.
    #[arg(long, conflicts_with = "store")]
    pub(crate) no_store: bool,
    /// Use no more stored replications than are asked for: the numbers are those of an empty store. Without it all
    /// stored replications are used, and the output says where they are more than was asked for.
    #[arg(long)]
    pub(crate) fresh: bool,
    /// Threads to use [default: all cores].
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) threads: Option<String>,
    /// Show no progress; it is shown on standard error if that is a terminal.
    #[arg(long)]
    pub(crate) quiet: bool,
}

impl CampaignArgs {
    /// What is wrong with options of simulations, and `--anchors`, for a model that simulates nothing.
    pub(crate) fn idle(&self, anchors: &Option<String>) -> Vec<String> {
        let given = [
            ("anchors", anchors.is_some()),
            ("precision", self.precision.is_some()),
            ("seed", self.seed != "1"),
            ("max-messages", self.max_messages.is_some()),
            ("store", self.store.is_some()),
            ("no-store", self.no_store),
            ("fresh", self.fresh),
        ];
        let fault = |(option, _)| {
            format!("--{option}: found a model that simulates nothing, wanted --model anchored with it")
        };
        given.into_iter().filter(|(_, given)| *given).map(fault).collect()
    }
}

#[derive(Debug, Args)]
pub(crate) struct Compare {
    #[command(flatten)]
    pub(crate) source: Source,
    /// Which models to compare; of both, one that cannot answer the scenario is left out.
    #[arg(long, value_name = "MODEL", value_parser = models(NOT_COMPARED), default_value = BOTH)]
    pub(crate) model: Models,
    /// Difference up to which a model is called close.
    #[arg(long, value_name = "SHARE", default_value = "5%", allow_hyphen_values = true)]
    pub(crate) tolerance: String,
    #[arg(long = "quantity", value_name = "NAME", help = one_of("Compare this quantity only", &Quantity::compared()))]
    pub(crate) quantities: Vec<String>,
    /// Compare along an axis: KEY=START:STOP:COUNT, KEY=log:START:STOP:COUNT or KEY=A,B,C; repeatable.
    #[arg(long, value_name = "KEY=AXIS", add = ArgValueCompleter::new(complete::settings))]
    pub(crate) over: Vec<String>,
    /// Tie a value to another: KEY=OTHER, KEY=OTHER/2 or KEY=OTHER*0.5; repeatable.
    #[arg(long, value_name = "KEY=OTHER*FACTOR", add = ArgValueCompleter::new(complete::settings))]
    pub(crate) couple: Vec<String>,
    /// Compare with the numbers of this file in place of a simulation: columns class, quantity, value and perhaps
    /// half_width, deadline and hops.
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = [
            "over", "couple", "quantities", "max_time", "precision", "seed", "max_messages", "store", "no_store",
            "fresh", "threads"
        ]
    )]
    pub(crate) against: Option<PathBuf>,
    /// A number that is not known but for its range: the value is taken at which the model, of several the usual one,
    /// is nearest to the file; up to three.
    #[arg(long, value_name = "KEY=LOW..HIGH", requires = "against", allow_hyphen_values = true)]
    pub(crate) fit: Vec<String>,
    /// Stop the simulation of each point after this time and compare with what was measured: seconds, or a number with
    /// s, m or h; it is an error if the warm-up had not ended [default: no limit].
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) max_time: Option<String>,
    /// How to print the comparison.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
    #[command(flatten)]
    pub(crate) campaign: CampaignArgs,
}

#[derive(Debug, Args)]
pub(crate) struct Verify {
    /// Registries of claims (TOML), - for standard input [default: the built-in one].
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Judge this model wherever a claim is about a model [default: the one that the claim names; with --accuracy
    /// the one of the set].
    #[arg(long, value_name = "MODEL", value_parser = model(NOT_JUDGED))]
    pub(crate) model: Option<Model>,
    /// Check only the quick subset.
    #[arg(long)]
    pub(crate) quick: bool,
    /// Check only claims with this name, or whose names begin with it; repeatable, or with commas between names. With
    /// --accuracy: only this family or scenario.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) only: Vec<String>,
    /// Instead of claims: how far a model is off the simulation over a set of random scenarios.
    #[arg(long, conflicts_with_all = ["files", "quick"])]
    pub(crate) accuracy: bool,
    /// The set of scenarios: a registered one or a file (TOML).
    #[arg(long, value_name = "SET", default_value = "holdout", requires = "accuracy", help = sets())]
    pub(crate) set: String,
    /// List the scenarios of the set and simulate nothing.
    #[arg(long, requires = "accuracy")]
    pub(crate) list: bool,
    /// How to print the verdicts.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
    #[command(flatten)]
    pub(crate) campaign: CampaignArgs,
}

#[derive(Debug, Args)]
pub(crate) struct Figure {
    /// Figures to draw: numbers such as 4a, `all`, or figure files (TOML); none: list them;
    /// `show 4a` prints a built-in figure's file.
    #[arg(value_name = "FIGURE", add = ArgValueCandidates::new(complete::figures))]
    pub(crate) figures: Vec<String>,
    /// Draw this built-in scenario: what is delivered over time where its run has an end, else latencies along a rate.
    #[arg(long, value_name = "NAME", add = ArgValueCandidates::new(complete::presets))]
    pub(crate) preset: Option<String>,
    /// Write to this directory, which is made if it is not there.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) out: PathBuf,
    /// Draw these models in place of those that the file of a figure names.
    #[arg(long, value_name = "MODEL", value_parser = drawn())]
    pub(crate) model: Option<FigureModels>,
    /// The most anchors of the anchored model, for each group of curves [default: 5].
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) anchors: Option<String>,
    /// Colours.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) theme: Theme,
    /// Width of the picture in pixels; text keeps its size, so that narrower means larger letters in print.
    #[arg(long, value_name = "PX", default_value = "480", allow_hyphen_values = true)]
    pub(crate) width: String,
    /// Height of the picture in pixels [default: as its kind needs].
    #[arg(long, value_name = "PX", allow_hyphen_values = true)]
    pub(crate) height: Option<String>,
    /// Simulate shorter runs, of figures that have such: `[quick]` in their files.
    #[arg(long)]
    pub(crate) quick: bool,
    /// Show curves in the terminal, too.
    #[arg(long)]
    pub(crate) plot: bool,
    #[command(flatten)]
    pub(crate) campaign: CampaignArgs,
}

#[derive(Debug, Args)]
pub(crate) struct Report {
    /// Write to this directory, which is made if it is not there.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// A coarse report, in about a minute for each paper: the quick claims only, curves of models through fewer
    /// loads, and 20% for --precision and 1e4 for --max-messages unless they are given.
    #[arg(long)]
    pub(crate) quick: bool,
    /// Figures and claims of this source only; the pages are called after it [default: all, on one page].
    #[arg(long, value_parser = papers())]
    pub(crate) paper: Option<&'static Paper>,
    /// Draw these models in place of those that the file of a figure names.
    #[arg(long, value_name = "MODEL", value_parser = models(NOT_REPORTED))]
    pub(crate) model: Option<Models>,
    /// Colours of the figures.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) theme: Theme,
    #[command(flatten)]
    pub(crate) campaign: CampaignArgs,
}

/// Reads the word of a paper.
fn papers() -> impl TypedValueParser<Value = &'static Paper> {
    PossibleValuesParser::new(PAPERS.iter().map(|paper| PossibleValue::new(paper.word).help(paper.title)))
        .map(|word| PAPERS.iter().find(|paper| paper.word == word).expect("a possible value"))
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Theme {
    /// Dark on white, colours.
    #[default]
    Light,
    /// Light on black.
    Dark,
    /// Black on white, thin lines, made for paper.
    Print,
}

#[derive(Debug, Args)]
pub(crate) struct StoreCommand {
    #[command(subcommand)]
    pub(crate) action: Option<StoreAction>,
    /// The store's directory [default: $FLITWISE_STORE, or flitwise in the user's cache].
    #[arg(long, value_name = "DIR", global = true)]
    pub(crate) store: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum StoreAction {
    /// Say where it is and how much it holds.
    Show,
    /// Read every file; what is broken is put in quarantine and named.
    Check,
}

/// Where the scenario comes from.
#[derive(Debug, Args)]
pub(crate) struct Source {
    /// Scenario file (TOML), or - for standard input [default: the preset router16].
    pub(crate) file: Option<PathBuf>,
    /// Built-in scenario; see `flitwise presets`.
    #[arg(long, value_name = "NAME", conflicts_with = "file", add = ArgValueCandidates::new(complete::presets))]
    pub(crate) preset: Option<String>,
    /// Override one value, such as class.R1.rate=0.004; repeatable, class.*.KEY is every class.
    #[arg(long = "set", value_name = "KEY=VALUE", add = ArgValueCompleter::new(complete::settings))]
    pub(crate) settings: Vec<String>,
}

/// Options of `solve` that say which latencies there are, and how they are told.
const OF_LATENCIES: [&str; 6] =
    ["model", "details", "distribution", "means_only", "no_expected_errors", "section"];

#[derive(Debug, Args)]
pub(crate) struct Solve {
    #[command(flatten)]
    pub(crate) source: Source,
    /// Which model answers [default: the first of refined, mediaworm and recn that can answer the scenario].
    #[arg(long, value_name = "MODEL", value_parser = answering())]
    pub(crate) model: Option<ModelChoice>,
    /// Print loads of channels by kind, bounds and hops instead of latencies, whichever model has these.
    #[arg(long, conflicts_with_all = OF_LATENCIES)]
    pub(crate) loads: bool,
    /// Add the effective bisection to the loads: what a flow has of a link on average when random pairs of nodes all
    /// send at once, in so many trials.
    #[arg(
        long, value_name = "TRIALS", value_parser = clap::value_parser!(u32).range(2..=1_000_000),
        conflicts_with_all = OF_LATENCIES
    )]
    pub(crate) bisection: Option<u32>,
    /// Print the scenario instead, every default filled in, with where each value comes from.
    #[arg(long, conflicts_with_all = ["loads", "bisection", "format"], conflicts_with_all = OF_LATENCIES)]
    pub(crate) resolved: bool,
    /// How to print the answer.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
    /// Report every channel too, and in JSON the distributions and the residual of every step.
    #[arg(long)]
    pub(crate) details: bool,
    /// Print the distribution of the network latency, cycle by cycle, instead.
    #[arg(long, conflicts_with = "details")]
    pub(crate) distribution: bool,
    /// Leave out deadlines and percentiles, which take most of the time.
    #[arg(long, conflicts_with_all = ["details", "distribution"])]
    pub(crate) means_only: bool,
    /// Leave out the errors to expect, which take several times as long as the answer.
    #[arg(long)]
    pub(crate) no_expected_errors: bool,
    /// With --format csv: print this section of the answer, such as over_time, instead of a row per class.
    #[arg(long, value_name = "NAME")]
    pub(crate) section: Option<String>,
    #[command(flatten)]
    pub(crate) campaign: CampaignArgs,
}

#[derive(Debug, Args)]
pub(crate) struct Sweep {
    #[command(flatten)]
    pub(crate) source: Source,
    /// Which model answers [default: the first of refined, mediaworm and recn that can answer the scenario].
    #[arg(long, value_name = "MODEL", value_parser = answering())]
    pub(crate) model: Option<ModelChoice>,
    /// The most anchors of the anchored model [default: 5, 8, 11 and 14 for one to four axes].
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) anchors: Option<String>,
    /// An axis: KEY=START:STOP:COUNT, KEY=log:START:STOP:COUNT or KEY=A,B,C; repeatable.
    #[arg(long, value_name = "KEY=AXIS", required = true, add = ArgValueCompleter::new(complete::settings))]
    pub(crate) over: Vec<String>,
    /// Tie a value to another: KEY=OTHER, KEY=OTHER/2 or KEY=OTHER*0.5; repeatable.
    #[arg(long, value_name = "KEY=OTHER*FACTOR", add = ArgValueCompleter::new(complete::settings))]
    pub(crate) couple: Vec<String>,
    /// How to print the rows.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: SweepFormat,
    /// Leave out deadlines and percentiles, which take most of the time.
    #[arg(long)]
    pub(crate) means_only: bool,
    /// In JSON, leave out the errors to expect, which take several times as long as the answers.
    #[arg(long)]
    pub(crate) no_expected_errors: bool,
    /// Draw the network latency along the first axis instead of rows: in the terminal, or to a file, .svg or .png.
    #[arg(
        long, value_name = "FILE", num_args = 0..=1, default_missing_value = plot::TERMINAL, conflicts_with = "format"
    )]
    pub(crate) plot: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) campaign: CampaignArgs,
}

/// Numbers are read by `simulate`, not here, so that all that is wrong is reported at once.
#[derive(Debug, Args)]
pub(crate) struct Simulate {
    #[command(flatten)]
    pub(crate) source: Source,
    /// Seed of the random numbers.
    #[arg(long, value_name = "N", default_value = "1", allow_hyphen_values = true)]
    pub(crate) seed: String,
    /// Go on until the 95 % half-width of every class's network latency is at most this share of it.
    #[arg(long, value_name = "SHARE", default_value = "1%", allow_hyphen_values = true)]
    pub(crate) precision: String,
    /// Stop after so many measured messages, all classes and replications together, at the end of the cycle that
    /// brings the last; at most four times as many are simulated to find the end of the warm-up.
    #[arg(long, value_name = "N", default_value = "1e7", allow_hyphen_values = true)]
    pub(crate) max_messages: String,
    /// Stop after this time: seconds, or a number with s, m or h; results are then partial, and it is an error if
    /// the warm-up had not ended [default: no limit].
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) max_time: Option<String>,
    /// Leave out so many cycles at the start of every replication [default: as many as MSER-5 finds].
    #[arg(long, value_name = "CYCLES", allow_hyphen_values = true)]
    pub(crate) warmup: Option<String>,
    /// Independent runs [default: 16, or 8 for more than 256 nodes and for packet switches].
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) replications: Option<String>,
    /// Threads to use [default: all cores].
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) threads: Option<String>,
    /// How to print the results.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
    /// With --format csv: print this section of the results, such as over_time, instead of a row per class.
    #[arg(long, value_name = "NAME")]
    pub(crate) section: Option<String>,
    /// Also draw the run over time, what is delivered in its intervals, or latencies and misses in its phases: in the
    /// terminal, or to a file, .svg or .png.
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = plot::TERMINAL)]
    pub(crate) plot: Option<PathBuf>,
    /// Also write every measured message to this CSV file, which is overwritten.
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,
    /// Measure every channel by itself, too: load, waits of messages and how many of them are blocked; csv then has a
    /// row per channel.
    #[arg(long)]
    pub(crate) details: bool,
    /// Print which stage each flit of the first N messages is in, cycle by cycle, instead.
    #[arg(long, value_name = "N", allow_hyphen_values = true, conflicts_with_all = [
        "precision", "max_messages", "max_time", "warmup", "replications", "threads", "format", "trace", "details",
        "quiet", "section", "plot",
    ])]
    pub(crate) watch: Option<String>,
    /// Show no progress; it is shown on standard error if that is a terminal.
    #[arg(long)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PresetAction {
    /// List them.
    List,
    /// Print one, comments and all.
    Show {
        /// Its name.
        #[arg(add = ArgValueCandidates::new(complete::presets))]
        name: String,
        /// How to print it: toml as it is written; json with every value, and under source where values come from.
        #[arg(long, value_enum, default_value_t)]
        format: PresetFormat,
    },
}

/// How a preset is printed.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(crate) enum PresetFormat {
    /// The scenario file.
    #[default]
    Toml,
    /// All values.
    Json,
}

/// Models that are asked for, in the order of [`Model::ALL`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Models(pub(crate) &'static [Model]);

impl Models {
    /// What was typed.
    pub(crate) fn word(self) -> &'static str {
        match self.0 {
            [one] => one.word(),
            _ => BOTH,
        }
    }
}

/// What asks for the models of messages.
const BOTH: &str = "both";

/// Why the anchored model is not taken.
const NOT_COMPARED: &str = "it has learnt from the simulation that it would be compared with\n  help: flitwise verify \
     --accuracy --set anchored says how far it is off";
const NOT_JUDGED: &str = "claims are about models that answer without simulation\n  help: flitwise verify --accuracy \
     --set anchored says how far it is off";
const NOT_REPORTED: &str =
    "a report has all points of its figures simulated\n  help: flitwise figure --model anchored";
const NOT_EXPLAINED: &str = "its corrections are learnt from simulations, no equation leads to them\n  help: --model \
     refined";

/// Reads the name of a model; why `anchored` is not taken here is said where it is asked for.
fn model(not_anchored: &'static str) -> impl TypedValueParser<Value = Model> {
    possible_or(None, not_anchored).map(|word| models_of(&word).0[0])
}

/// Who answers: a model, or the refined one corrected by simulations.
///
/// The anchored model is none of [`Model::ALL`]: it answers families of scenarios, and has to simulate some of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(into = "Origin")]
#[schemars(with = "Origin")]
pub(crate) enum ModelChoice {
    /// As it is.
    Model(Model),
    /// The refined model corrected by simulations at some points of a family of scenarios.
    Anchored,
}

impl ModelChoice {
    /// The model whose answers these are, corrected or not.
    pub(crate) fn model(self) -> Model {
        match self {
            Self::Model(model) => model,
            Self::Anchored => Model::Refined,
        }
    }

    pub(crate) fn word(self) -> &'static str {
        Origin::from(self).word()
    }
}

impl std::fmt::Display for ModelChoice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.word())
    }
}

impl From<Model> for ModelChoice {
    fn from(model: Model) -> Self {
        Self::Model(model)
    }
}

impl From<ModelChoice> for Origin {
    fn from(choice: ModelChoice) -> Self {
        match choice {
            ModelChoice::Model(model) => Self::Model(model),
            ModelChoice::Anchored => Self::Anchored,
        }
    }
}

/// What asks for the anchored model.
const ANCHORED: &str = "anchored";

/// Reads the name of a model, or `anchored`.
fn answering() -> impl TypedValueParser<Value = ModelChoice> {
    let anchored =
        PossibleValue::new(ANCHORED).help("Refined, corrected by simulations at some points of the family");
    PossibleValuesParser::new(Model::ALL.map(possible).into_iter().chain([anchored]))
        .map(|word| if word == ANCHORED { ModelChoice::Anchored } else { models_of(&word).0[0].into() })
}

/// Reads the name of a model, or `both`; else as [`model`].
fn models(not_anchored: &'static str) -> impl TypedValueParser<Value = Models> {
    possible_or(Some(both()), not_anchored).map(|word| models_of(&word))
}

fn both() -> PossibleValue {
    PossibleValue::new(BOTH)
        .help("The published and the refined model; where they cannot answer, the model that can")
}

/// Words of models and perhaps another one; `anchored` is refused, with the reason.
fn possible_or(
    more: Option<PossibleValue>,
    not_anchored: &'static str,
) -> impl TypedValueParser<Value = String> {
    let anchored = PossibleValue::new(ANCHORED).hide(true);
    let all = more.into_iter().chain(Model::ALL.map(possible)).chain([anchored]);
    PossibleValuesParser::new(all)
        .try_map(move |word| if word == ANCHORED { Err(not_anchored) } else { Ok(word) })
}

/// Models of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FigureModels {
    /// Those.
    Models(Models),
    /// The refined one corrected by simulations, with its intervals.
    Anchored,
}

impl FigureModels {
    /// What was typed.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Models(models) => models.word(),
            Self::Anchored => ANCHORED,
        }
    }
}

/// Reads the name of a model, `both` or `anchored`.
fn drawn() -> impl TypedValueParser<Value = FigureModels> {
    let anchored =
        PossibleValue::new(ANCHORED).help("Refined, corrected by simulations at some points of each curve");
    let all = [both()].into_iter().chain(Model::ALL.map(possible)).chain([anchored]);
    PossibleValuesParser::new(all).map(|word| match word.as_str() {
        ANCHORED => FigureModels::Anchored,
        word => FigureModels::Models(models_of(word)),
    })
}

fn possible(model: Model) -> PossibleValue {
    PossibleValue::new(model.word()).help(model.described())
}

/// Those meant by a word that has been read.
fn models_of(word: &str) -> Models {
    const ALL: &[Model] = &Model::ALL;
    let one = ALL.iter().position(|model| model.word() == word).map(|at| &ALL[at..=at]);
    Models(one.unwrap_or(const { &Model::OF_MESSAGES }))
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For reading in a terminal.
    #[default]
    Table,
    /// Versioned document, every number with its unit in its name.
    Json,
    /// One row per class.
    Csv,
    /// For pasting into a document.
    Markdown,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum SweepFormat {
    /// One row per point and class, as soon as it is known.
    #[default]
    Csv,
    /// One document, written point by point.
    Json,
    /// One JSON object per point and line.
    Jsonl,
    /// For reading in a terminal.
    Table,
    /// For pasting into a document.
    Markdown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SchemaOf {
    /// A scenario file.
    Scenario,
    /// The result of `solve --format json`.
    Solve,
    /// The result of `solve --distribution --format json`.
    Distribution,
    /// The result of `solve --loads --format json`, and without `--loads` where no model can answer the scenario.
    Loads,
    /// The result of `sweep --format json`.
    Sweep,
    /// The result of `sensitivity --format json`.
    Sensitivity,
    /// The result of `simulate --format json`.
    Simulate,
    /// The result of `compare --format json`.
    Compare,
    /// The result of `compare --against FILE --format json`.
    Against,
    /// The result of `plan .. --format json`.
    Plan,
    /// The result of `verify --format json`.
    Verify,
    /// The result of `verify --accuracy --format json`.
    Accuracy,
    /// The result of `verify --accuracy --set anchored --format json`.
    AnchoredAccuracy,
    /// The numbers of a figure, as `figure` writes them.
    Figure,
    /// The result of `explain --format json`.
    Explain,
    /// The result of `station --format json`.
    Station,
    /// The result of `presets show NAME --format json`.
    Preset,
    /// The result of `campaign plan --format json`.
    CampaignPlan,
    /// The result of `campaign status --format json`.
    CampaignStatus,
    /// The numbers of a study, as `campaign run` writes them.
    Study,
}

/// The help of `--set`.
fn sets() -> String {
    let names: Vec<&str> = flitwise_validation::accuracy::SETS.iter().map(|(name, _)| *name).collect();
    format!("The set of scenarios: {}, or a file (TOML)", names.join(", "))
}

/// The help of an option that takes one of these quantities.
fn one_of(what: &str, quantities: &[Quantity]) -> String {
    let words: Vec<&str> = quantities.iter().map(|quantity| quantity.word()).collect();
    format!("{what}: {}; repeatable", words.join(", "))
}
