//! Options of `flitwise station`.

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use flitwise_models::queueing::Kind;

use super::Format;

pub(super) const STATION_EXAMPLES: &str = "\
Examples:
  flitwise station                                           list the stations
  flitwise station mg1 --manual                              formulas, domain, source and an example
  flitwise station mg1 --rate 0.02 --mean 32 --scv 0.5
  flitwise station md1 --rate 0.02 --mean 32 --at 0,32,64    probabilities that wait and response take longer
  flitwise station non-preemptive --class high:rate=0.0125,mean=32,scv=0 --class low:rate=0.0125,mean=32,scv=0
  flitwise station mm1k --mean 32 --capacity 8 --over rate=0.001:0.06:30 --format csv
  flitwise station dps --class a:rate=0.01,mean=32,weight=4 --class b:rate=0.01,mean=32 \\
    --over class.a.weight=1,2,4,8

Times are in cycles, rates per cycle. Classes are given in order of priority, the highest first.
Exit codes: 0 answered (saturated included), 1 output not written, 2 bad input.";

/// Numbers are read by `station`, not here, so that all that is wrong is reported at once.
#[derive(Debug, Args)]
pub(crate) struct Station {
    /// Which station; none: list them.
    #[arg(value_name = "KIND", value_parser = kind())]
    pub(crate) kind: Option<Kind>,
    /// Arrivals per cycle; of engset, requests of each idle source.
    #[arg(long, value_name = "RATE", allow_hyphen_values = true)]
    pub(crate) rate: Option<String>,
    /// Mean service in cycles.
    #[arg(long, value_name = "CYCLES", allow_hyphen_values = true)]
    pub(crate) mean: Option<String>,
    /// Squared coefficient of variation of the service: 0 is constant, 1 exponential.
    #[arg(long, value_name = "SCV", allow_hyphen_values = true)]
    pub(crate) scv: Option<String>,
    /// Third moment of the service in cycles cubed: for the spread of the wait.
    #[arg(long, value_name = "CYCLES3", allow_hyphen_values = true)]
    pub(crate) third_moment: Option<String>,
    /// Room for so many customers, the one in service included.
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) capacity: Option<String>,
    /// Number of servers.
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) servers: Option<String>,
    /// Number of sources.
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) sources: Option<String>,
    /// Mean length of a vacation in cycles.
    #[arg(long, value_name = "CYCLES", allow_hyphen_values = true)]
    pub(crate) vacation_mean: Option<String>,
    /// Squared coefficient of variation of a vacation [default: 0].
    #[arg(long, value_name = "SCV", allow_hyphen_values = true)]
    pub(crate) vacation_scv: Option<String>,
    /// A class of customers: NAME:rate=RATE,mean=CYCLES,scv=SCV, of dps weight=WEIGHT instead of scv;
    /// repeatable, the highest priority first.
    #[arg(long = "class", value_name = "NAME:KEY=VALUE,..", allow_hyphen_values = true)]
    pub(crate) classes: Vec<String>,
    /// Print the probabilities that wait and response take longer than these times, too.
    #[arg(long, value_name = "CYCLES,..", allow_hyphen_values = true)]
    pub(crate) at: Option<String>,
    /// Answer along an axis: KEY=START:STOP:COUNT, KEY=log:START:STOP:COUNT or KEY=A,B,C, where KEY is rate,
    /// mean, .. or class.NAME.rate, ..; repeatable.
    #[arg(long, value_name = "KEY=AXIS")]
    pub(crate) over: Vec<String>,
    /// Print the station's manual page (Markdown) instead: formulas, domain, source and an example.
    #[arg(long)]
    pub(crate) manual: bool,
    /// How to print the answer.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

impl Station {
    /// Parameters that were typed, by their keys.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let options = [
            ("rate", &self.rate),
            ("mean", &self.mean),
            ("scv", &self.scv),
            ("third-moment", &self.third_moment),
            ("capacity", &self.capacity),
            ("servers", &self.servers),
            ("sources", &self.sources),
            ("vacation-mean", &self.vacation_mean),
            ("vacation-scv", &self.vacation_scv),
        ];
        options.into_iter().filter_map(|(key, typed)| Some((key, typed.as_deref()?)))
    }
}

/// Reads the name of a station.
fn kind() -> impl TypedValueParser<Value = Kind> {
    let possible = |kind: Kind| PossibleValue::new(kind.word()).help(kind.described());
    let named = |word: String| Kind::ALL.into_iter().find(|kind| kind.word() == word);
    PossibleValuesParser::new(Kind::ALL.map(possible))
        .try_map(move |word| named(word).ok_or("no station of that name"))
}
