//! Options of `flitwise plan`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use clap_complete::engine::ArgValueCompleter;

use super::{CampaignArgs, Format, ModelChoice, Source, Theme, answering};
use crate::complete;

pub(super) const EXAMPLES: &str = "\
Requirements are CLASS: QUANTITY <= NUMBER, where the class * is every one that sends:
  miss(47)            share of messages whose network latency exceeds 47 cycles;
                      in a cube also miss(60, hops=3)
  network             mean network latency [cycles]
  transfer, blocking, sharing
                      parts of the network latency [cycles]
  input, arbitration  parts of blocking (refined model only) [cycles]
  output, gaps        parts of sharing (refined model only) [cycles]
  waiting, total      mean wait at the source; both together [cycles]
  p50 p90 p99 p99.9   percentiles of the network latency [cycles]
  utilization         load of a link by the class [flits/cycle]
  source-load         load of its queue at the source
  router-load, accepted, cycles-per-flit, blocking-probability, blocking-length
                      published model only; a router's load is L lambda', the accepted rate
                      lambda' [messages/cycle], a blocking length in flits
  margin >= 0.2       at most 80 % of the load at which it saturates, all rates growing together
In max-load and choose a class that no requirement is about may saturate; without any requirement none may.

Examples:
  flitwise plan max-load --require 'R1: miss(47) <= 0.3' --scale class.R1.rate,class.R2.rate
  flitwise plan choose --vary router.buffer_flits=4,8,16,32 --minimise 'BE: total'
  flitwise plan region --axes class.R1.rate,class.BE.rate --output region.svg

--model anchored corrects the refined model by a few simulations where it is asked about; max-load then says between
which factors the answer lies (flitwise sweep --help).
Exit codes: 0 answered (also: nothing satisfies the requirements), 1 the simulation contradicts
(--confirm) or output not written, 2 bad input, 3 not converged, 130 interrupted.";

const MAX_LOAD_EXAMPLES: &str = "\
Examples:
  flitwise plan max-load                             up to the saturation of the first class
  flitwise plan max-load --require 'R1: miss(47) <= 0.3' --scale class.R1.rate,class.R2.rate
  flitwise plan max-load --preset cube6 --require 'R1: miss(60, hops=3) <= 5%' --confirm

The answer satisfies every requirement, and one of them breaks at a load at most 0.01 % higher.
If all hold again at a still higher load, the first limit is the answer; notes say so, and whether
one is broken at a lower load, where that was seen. flitwise plan --help: what can be required.
Exit codes: 0 answered (also: nothing satisfies the requirements), 1 the simulation contradicts
(--confirm) or output not written, 2 bad input, 3 not converged, 130 interrupted.";

const CHOOSE_EXAMPLES: &str = "\
Examples:
  flitwise plan choose --vary router.buffer_flits=4,8,16,32 --minimise 'BE: total'
  flitwise plan choose --vary class.R2.vtick=6,8,10,12 --minimise 'R2: p99' --require 'R1: miss(47) <= 0.32'
  flitwise plan choose --vary class.BE.rate=0.001..0.02 --maximise 'BE: utilization'

Listed values (A,B,C, LOW..HIGH:STEP or START:STOP:COUNT) are tried in all combinations, at most 10000.
Of a key that takes whole numbers only, LOW..HIGH is a list too: all of them, or 64 if there are more.
Other ranges (at most 8) are searched within each combination from several starts, by Brent's method (one
range) or that of Nelder and Mead (several); what they found is then moved along each range until
that no longer helps.
Nothing is recommended if the best values are not better than the starting scenario by more than 0.1 %.
Objectives are CLASS: QUANTITY, max(*: QUANTITY) or sum(*: QUANTITY).
flitwise plan --help: quantities, and what can be required.
Exit codes: 0 answered (also: nothing satisfies the requirements), 1 the simulation contradicts
(--confirm) or output not written, 2 bad input, 3 not converged, 130 interrupted.";

const REGION_EXAMPLES: &str = "\
Examples:
  flitwise plan region --axes class.R1.rate,class.BE.rate --require 'BE: total <= 200'
  flitwise plan region --axes class.R1.rate,class.BE.rate --output region.svg --format csv
  flitwise plan region --axes class.R1.rate,class.R2.rate --model published --points 500

Where a class is saturated nothing is admissible, whatever is required.
The frontier is looked for along rays from the origin, to 0.1 %. The refined model takes some
ten seconds for 200 points, the published one less than one. flitwise plan --help: what can be required.
Exit codes: 0 answered (also: nothing is admissible), 1 output not written, 2 bad input,
3 not converged, 130 interrupted (the points found are printed, and no picture is drawn).";

#[derive(Debug, Subcommand)]
pub(crate) enum Plan {
    /// The highest load at which all requirements hold, and what limits it.
    #[command(after_help = MAX_LOAD_EXAMPLES)]
    MaxLoad(MaxLoad),
    /// The values of keys that serve an objective best, requirements kept.
    #[command(after_help = CHOOSE_EXAMPLES)]
    Choose(Choose),
    /// Which pairs of rates are admissible: data and picture.
    #[command(after_help = REGION_EXAMPLES)]
    Region(Region),
}

/// What is asked of which scenario.
#[derive(Debug, Args)]
pub(crate) struct Demand {
    #[command(flatten)]
    pub(crate) source: Source,
    /// Which model answers [default: the first of refined, mediaworm and recn that can answer the scenario].
    #[arg(long, value_name = "MODEL", value_parser = answering())]
    pub(crate) model: Option<ModelChoice>,
    /// The most anchors of the anchored model [default: 5, 8, 11 and 14 for one to four rates or keys].
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) anchors: Option<String>,
    /// What must hold, such as "R1: miss(47) <= 0.1"; repeatable [default: no class saturated].
    #[arg(long = "require", value_name = "REQUIREMENT")]
    pub(crate) requirements: Vec<String>,
    /// How to print the answer.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

/// Whether and how to simulate the answer.
#[derive(Debug, Args)]
pub(crate) struct Confirm {
    /// Simulate the answer, and what is 5 % beyond it; each requirement's verdict stands beside it.
    #[arg(long)]
    pub(crate) confirm: bool,
    #[command(flatten)]
    pub(crate) campaign: CampaignArgs,
}

#[derive(Debug, Args)]
pub(crate) struct MaxLoad {
    #[command(flatten)]
    pub(crate) required: Demand,
    /// Rates that grow together, parted by commas, such as class.R1.rate,class.R2.rate [default: all].
    #[arg(long, value_name = "KEYS", value_delimiter = ',', add = ArgValueCompleter::new(complete::rates))]
    pub(crate) scale: Vec<String>,
    #[command(flatten)]
    pub(crate) confirm: Confirm,
}

#[derive(Debug, Args)]
#[group(id = "goal", required = true, multiple = false, args = ["minimise", "maximise"])]
pub(crate) struct Choose {
    #[command(flatten)]
    pub(crate) required: Demand,
    /// What may be chosen: KEY=A,B,C, KEY=LOW..HIGH or KEY=LOW..HIGH:STEP; repeatable.
    #[arg(long, value_name = "KEY=VALUES", required = true, add = ArgValueCompleter::new(complete::settings))]
    pub(crate) vary: Vec<String>,
    /// What is to be small, such as "BE: total" or "max(*: miss(47))".
    #[arg(long, value_name = "OBJECTIVE", alias = "minimize")]
    pub(crate) minimise: Option<String>,
    /// What is to be large.
    #[arg(long, value_name = "OBJECTIVE", alias = "maximize")]
    pub(crate) maximise: Option<String>,
    #[command(flatten)]
    pub(crate) confirm: Confirm,
}

#[derive(Debug, Args)]
pub(crate) struct Region {
    #[command(flatten)]
    pub(crate) required: Demand,
    /// The two rates, such as class.R1.rate,class.BE.rate.
    #[arg(
        long,
        value_name = "KEY,KEY",
        value_delimiter = ',',
        required = true,
        add = ArgValueCompleter::new(complete::rates)
    )]
    pub(crate) axes: Vec<String>,
    /// Points of the frontier.
    #[arg(long, value_name = "N", default_value = "200", allow_hyphen_values = true)]
    pub(crate) points: String,
    /// Also draw it: a file that ends in .svg or .png; repeatable.
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Vec<PathBuf>,
    /// Colours of the picture.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) theme: Theme,
    #[command(flatten)]
    pub(crate) campaign: CampaignArgs,
}
