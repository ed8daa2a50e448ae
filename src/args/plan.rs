//! What can be typed after `flitwise plan`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use flitwise_models::model::Model;

use super::{CampaignArgs, Format, Source, Theme, model};

pub(super) const EXAMPLES: &str = "\
Requirements: CLASS: QUANTITY <= NUMBER, where * is every class that sends
  miss(47)            share of messages whose network latency exceeds 47 cycles; miss(60, hops=3) in a cube
  network             mean network latency [cycles]
  waiting, total      mean wait at the source; both together [cycles]
  p50 p90 p99 p99.9   percentiles of the network latency [cycles]
  utilization         of the links by the class; source-load: of the queue at the source
  margin >= 0.2       at most 80 % of the load at which the class saturates, all rates growing together
A class that no requirement is about may saturate. Without any requirement none may (*: margin >= 0).

Examples:
  flitwise plan max-load --require \"R1: miss(47) <= 0.3\" --scale class.R1.rate,class.R2.rate
  flitwise plan choose --vary router.buffer_flits=4,8,16,32 --minimise \"BE: total\"
  flitwise plan region --axes class.R1.rate,class.BE.rate --require \"BE: total <= 200\" --output region.svg

Exit codes: 0 answered (that nothing satisfies the requirements, too), 1 the simulation contradicts (--confirm) or
output not written, 2 bad input, 3 no fixed point was found, 130 interrupted.";

const MAX_LOAD_EXAMPLES: &str = "\
Examples:
  flitwise plan max-load                             up to the saturation of the first class
  flitwise plan max-load --require \"R1: miss(47) <= 0.3\" --require \"BE: total <= 200\" --scale class.R1.rate
  flitwise plan max-load --preset cube6 --require \"R1: miss(60, hops=3) <= 5%\" --confirm

The answer satisfies every requirement, and one of them breaks at a load that is at most 0.01 % higher. If requirements
hold again at still higher loads, the first limit is the answer, and a note says so where it was seen.
See flitwise plan --help for what can be required.
Exit codes: 0 answered (that nothing satisfies the requirements, too), 1 the simulation contradicts (--confirm) or
output not written, 2 bad input, 3 no fixed point was found, 130 interrupted.";

const CHOOSE_EXAMPLES: &str = "\
Examples:
  flitwise plan choose --vary router.buffer_flits=4,8,16,32 --vary 'class.*.message_flits=16,32' --minimise \"BE: total\"
  flitwise plan choose --vary class.R1.vtick=2..20 --minimise \"max(*: network)\"
  flitwise plan choose --vary class.R1.vtick=2..20 --vary class.R2.vtick=2..20 --minimise \"max(*: miss(47))\" --model refined

Listed values (A,B,C or START:STOP:COUNT) are tried in all combinations, at most 10000; ranges (LOW..HIGH, at most 8) are
searched within each of them, by Brent's method (one range) or that of Nelder and Mead (several), from several starts;
what they found is then moved along each range until that no longer helps. Objectives are CLASS: QUANTITY, max(*: QUANTITY)
and sum(*: QUANTITY), with the quantities of flitwise plan --help.
Exit codes: 0 answered (that nothing satisfies the requirements, too), 1 the simulation contradicts (--confirm) or
output not written, 2 bad input, 3 no fixed point was found, 130 interrupted.";

const REGION_EXAMPLES: &str = "\
Examples:
  flitwise plan region --axes class.R1.rate,class.BE.rate --require \"R1: miss(47) <= 0.3\" --require \"BE: total <= 200\"
  flitwise plan region --axes class.R1.rate,class.BE.rate --output region.svg --format csv > region.csv
  flitwise plan region --axes class.R1.rate,class.R2.rate --model published --points 500

The frontier is looked for along rays from the origin, to 0.1 %. The refined model takes some seconds for 200 points,
the published one less than one.
See flitwise plan --help for what can be required.
Exit codes: 0 answered (that nothing is admissible, too), 1 output not written, 2 bad input, 3 no fixed point was found.";

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
pub(crate) struct Required {
    #[command(flatten)]
    pub(crate) source: Source,
    /// Which model answers [default: refined, or published where that has what refined has not].
    #[arg(long, value_name = "MODEL", value_parser = model())]
    pub(crate) model: Option<Model>,
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
    pub(crate) required: Required,
    /// Rates that grow together, parted by commas, such as class.R1.rate,class.R2.rate [default: all].
    #[arg(long, value_name = "KEYS", value_delimiter = ',')]
    pub(crate) scale: Vec<String>,
    #[command(flatten)]
    pub(crate) confirm: Confirm,
}

#[derive(Debug, Args)]
#[group(id = "goal", required = true, multiple = false, args = ["minimise", "maximise"])]
pub(crate) struct Choose {
    #[command(flatten)]
    pub(crate) required: Required,
    /// What may be chosen: KEY=A,B,C or KEY=LOW..HIGH; repeatable.
    #[arg(long, value_name = "KEY=VALUES", required = true)]
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
    pub(crate) required: Required,
    /// The two rates, such as class.R1.rate,class.BE.rate.
    #[arg(long, value_name = "KEY,KEY", value_delimiter = ',', required = true)]
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
}
