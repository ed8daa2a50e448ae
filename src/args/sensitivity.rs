//! Options of `flitwise sensitivity`.

use std::path::PathBuf;

use clap::Args;
use clap_complete::engine::ArgValueCandidates;
use flitwise_models::sensitivity::known_quantities;

use super::{CampaignArgs, Format, ModelChoice, Source, answering};
use crate::complete;

pub(super) const EXAMPLES: &str = "\
Examples:
  flitwise sensitivity
  flitwise sensitivity --preset router16 --class R1 --model published
  flitwise sensitivity --parameter 'class.*.rate' --parameter router.buffer_flits --format csv
  flitwise sensitivity --output-quantity total-latency --plot tornado.svg
  flitwise sensitivity --model anchored --precision 2% --parameter class.R1.rate

A number in the table is an elasticity: 1 % more of the parameter gives so many percent more of the output; json and
csv have the derivative beside it, with its unit. Means of the published model are differentiated exactly, through
its fixed point, message lengths, buffers and pipeline stages as if they were real numbers. All else is a difference
of whole answers, marked ~: the refined model, miss probabilities, network.ports and network.dimension. An implied
Vtick goes with its class's rate; as a parameter it is moved alone. class.*.KEY moves that of all classes together.
--model anchored simulates the scenario and one 20 % to either side of it along each parameter (less far where a class
would saturate), corrects the refined model by what it learns along each, and gives every output and elasticity its 95 %
interval; each simulation is to 0.7 of --precision (2% if not given). The options of simulations, from --precision on,
need it.
Exit codes: 0 answered (saturated included), 1 output not written, 2 bad input, 3 not converged, 130 interrupted (the
parameters done are printed).";

/// Names are read by `sensitivity`, not here, so that all that is wrong is reported at once.
#[derive(Debug, Args)]
pub(crate) struct Sensitivity {
    #[command(flatten)]
    pub(crate) source: Source,
    /// Which model answers [default: the first of refined, mediaworm and recn that can answer the scenario].
    #[arg(long, value_name = "MODEL", value_parser = answering())]
    pub(crate) model: Option<ModelChoice>,
    /// The most anchors of the anchored model [default: one, and two for each parameter].
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) anchors: Option<String>,
    /// Only this parameter, such as class.R1.rate, class.*.rate or router.buffer_flits; repeatable.
    #[arg(long = "parameter", value_name = "KEY", add = ArgValueCandidates::new(complete::keys))]
    pub(crate) parameters: Vec<String>,
    /// Only this class; repeatable.
    #[arg(long = "class", value_name = "NAME", add = ArgValueCandidates::new(complete::classes))]
    pub(crate) classes: Vec<String>,
    #[arg(
        long = "output-quantity",
        visible_alias = "quantity",
        value_name = "NAME",
        help = super::one_of("Only this quantity", &known_quantities())
    )]
    pub(crate) quantities: Vec<String>,
    /// How to print the elasticities.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
    /// Also draw the first quantity asked for as a tornado: a file that ends in .svg or .png.
    #[arg(long, value_name = "FILE")]
    pub(crate) plot: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) campaign: CampaignArgs,
}
