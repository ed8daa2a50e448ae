//! Options of `flitwise station`.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use flitwise_models::queueing::{Kind, Parameter};

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
    #[command(flatten)]
    pub(crate) numbers: Numbers,
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

/// What was typed for the parameters of all stations, by their keys: an option for each.
#[derive(Debug)]
pub(crate) struct Numbers(pub(crate) Vec<(&'static str, String)>);

impl FromArgMatches for Numbers {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let typed = |key: &'static str| Some((key, matches.get_one::<String>(key)?.clone()));
        let keys = Kind::all_parameters().into_iter().map(|parameter| parameter.key);
        Ok(Self(keys.filter_map(typed).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for Numbers {
    fn augment_args(command: Command) -> Command {
        let option = |parameter: &Parameter| {
            let option = Arg::new(parameter.key).long(parameter.key).value_name(parameter.domain.word());
            option.help(parameter.meaning).allow_hyphen_values(true)
        };
        command.args(Kind::all_parameters().into_iter().map(option))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

/// Reads the name of a station.
fn kind() -> impl TypedValueParser<Value = Kind> {
    let possible = |kind: Kind| PossibleValue::new(kind.word()).help(kind.described());
    let named = |word: String| Kind::ALL.into_iter().find(|kind| kind.word() == word);
    PossibleValuesParser::new(Kind::ALL.map(possible))
        .try_map(move |word| named(word).ok_or("no station of that name"))
}

#[cfg(test)]
mod tests {
    use flitwise_models::queueing::Need;

    use super::*;

    /// Each parameter is an option, one for a key, and what is shown as an example may be typed.
    #[test]
    fn parameters_of_stations_are_options_with_sound_examples() {
        let command = Numbers::augment_args(Command::new("station"));
        let mut options: Vec<&str> = command.get_arguments().map(|option| option.get_id().as_str()).collect();
        for parameter in Kind::ALL.into_iter().flat_map(Kind::parameters) {
            assert!(options.contains(&parameter.key), "{}", parameter.key);
            if let Need::Required { example } = parameter.need {
                assert!(parameter.domain.holds(example), "{} {example}", parameter.key);
            }
        }
        let count = options.len();
        options.sort_unstable();
        options.dedup();
        assert_eq!((options.len(), count), (15, 15));
        let typed = command.get_matches_from(["station", "--rate", "-1", "--vacation-scv", "x"]);
        let typed = Numbers::from_arg_matches(&typed).unwrap().0;
        assert_eq!(typed, [("rate", "-1".to_owned()), ("vacation-scv", "x".to_owned())]);
    }
}
