//! How to simulate, from what was typed.

use std::ops::RangeInclusive;
use std::time::Duration;

use flitwise_validation::experiment::{MAX_REPLICATIONS, Settings};

use crate::args::Simulate;
use crate::outcome::Ended;

/// The largest whole number that is read: all below have exact doubles.
const MOST: u64 = 1 << 53;
/// The longest warm-up \[cycles\].
const MOST_WARMUP: u64 = 1_000_000_000_000;
/// The most messages that are watched.
const MOST_WATCHED: u64 = 1_000;
/// The most threads.
const MOST_THREADS: u64 = 1_024;

/// Settings and the number of messages to watch, or everything that is wrong with them.
pub(super) fn read(args: &Simulate) -> Result<(Settings, Option<u32>), Ended> {
    let mut faults = Vec::new();
    let within = |range: RangeInclusive<u64>, wanted: &'static str| {
        move |typed: &str| whole(typed).filter(|number| range.contains(number)).ok_or_else(|| wanted.into())
    };
    let mut read = Reader { faults: &mut faults };
    let watched = read.option("watch", &args.watch, within(1..=MOST_WATCHED, "1 to 1000 messages"));
    let replications = within(1..=u64::from(MAX_REPLICATIONS), "1 to 1000 replications");
    let warmup = within(0..=MOST_WARMUP, "0 to 1e12 cycles, such as 20000 or 2e4");
    let settings = Settings {
        seed: read.value("seed", &args.seed, within(0..=u64::MAX, "a whole number from 0 to 2^64 - 1")),
        precision: read.value("precision", &args.precision, precision),
        max_messages: read.value(
            "max-messages",
            &args.max_messages,
            within(1..=MOST, "a whole number of messages, at least 1, such as 500000 or 1e6"),
        ),
        max_time: read.option("max-time", &args.max_time, time),
        warmup_cycles: read.option("warmup", &args.warmup, warmup),
        replications: read.option("replications", &args.replications, replications).map(|n| n as u32),
        threads: read
            .option("threads", &args.threads, within(1..=MOST_THREADS, "1 to 1024 threads"))
            .map(|n| n as usize),
        ..Settings::default()
    };
    if faults.is_empty() { Ok((settings, watched.map(|n| n as u32))) } else { Err(Ended::BadInput(faults)) }
}

/// Reads options one by one and keeps what is wrong.
struct Reader<'f> {
    faults: &'f mut Vec<String>,
}

impl Reader<'_> {
    /// An option's value; on a fault one that will not be used. `read` says what it wants.
    fn value<T: Default>(
        &mut self,
        option: &str,
        typed: &str,
        read: impl Fn(&str) -> Result<T, String>,
    ) -> T {
        read(typed.trim()).unwrap_or_else(|wanted| {
            let found = if number(typed).is_some() { typed.to_owned() } else { format!("{typed:?}") };
            self.faults.push(format!("--{option} {typed}: found {found}, wanted {wanted}"));
            T::default()
        })
    }

    fn option<T: Default>(
        &mut self,
        option: &str,
        typed: &Option<String>,
        read: impl Fn(&str) -> Result<T, String>,
    ) -> Option<T> {
        typed.as_deref().map(|typed| self.value(option, typed, read))
    }
}

/// A share, with or without a percent sign.
fn precision(typed: &str) -> Result<f64, String> {
    const WANTED: &str = "0.01% to 50%, such as 1% or 0.01";
    let share = match typed.strip_suffix('%').map(str::trim_end) {
        // decimal, not divided: 0.7% is 0.007 and not the double below
        Some(percent) => number(&format!("{percent}e-2")).or_else(|| Some(number(percent)? / 100.0)),
        None => number(typed),
    };
    match share {
        Some(share) if (0.000_1..=0.5).contains(&share) => Ok(share),
        Some(share) if !typed.ends_with('%') && (0.5..=50.0).contains(&share) => {
            Err(format!("{WANTED}\n  help: did you mean {typed}%?"))
        }
        _ => Err(WANTED.to_owned()),
    }
}

/// Seconds, or a number with its unit.
fn time(typed: &str) -> Result<Duration, String> {
    let units = [("ms", 1e-3), ("s", 1.0), ("m", 60.0), ("h", 3600.0)];
    let unit = units.into_iter().find_map(|(unit, seconds)| Some((typed.strip_suffix(unit)?, seconds)));
    let (count, seconds) = unit.unwrap_or((typed, 1.0));
    let time = number(count.trim_end()).map(|count| count * seconds);
    let time = time.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    time.filter(|time| !time.is_zero()).ok_or_else(|| "a time above 0, such as 90s, 2m or 1h".to_owned())
}

/// A whole number that is not negative: `1000000`, `1_000_000` or `1e6`.
fn whole(typed: &str) -> Option<u64> {
    let digits = without_separators(typed)?;
    digits.parse().ok().or_else(|| {
        let number = number(typed)?;
        (number.fract() == 0.0 && (0.0..=MOST as f64).contains(&number)).then_some(number as u64)
    })
}

/// A finite number.
fn number(typed: &str) -> Option<f64> {
    without_separators(typed)?.parse().ok().filter(|number: &f64| number.is_finite())
}

/// Digits may be set apart by single underscores.
fn without_separators(typed: &str) -> Option<String> {
    let parts: Vec<&str> = typed.split('_').collect();
    let apart = parts.windows(2).all(|pair| {
        pair[0].ends_with(|c: char| c.is_ascii_digit()) && pair[1].starts_with(|c: char| c.is_ascii_digit())
    });
    apart.then(|| parts.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_are_read_in_every_spelling() {
        for (typed, number) in [
            ("0", 0),
            ("20000", 20_000),
            ("2e4", 20_000),
            ("1_000_000", 1_000_000),
            ("1.5e3", 1_500),
            ("18446744073709551615", u64::MAX),
        ] {
            assert_eq!(whole(typed), Some(number), "{typed}");
        }
        for typed in
            ["", "-1", "1.5", "_1", "1_", "1__0", "1e99", "nan", "inf", "1_e6", "x", "1e6 ", "0x10", "9e18"]
        {
            assert_eq!(whole(typed), None, "{typed}");
        }
    }

    #[test]
    fn precisions_are_shares_with_or_without_a_percent_sign() {
        for (typed, share) in [
            ("1%", 0.01),
            ("0.7%", 0.007),
            ("0.01%", 0.000_1),
            ("0.0001", 0.000_1),
            ("50%", 0.5),
            ("0.5", 0.5),
            ("5e-1 %", 0.005),
        ] {
            assert_eq!(precision(typed), Ok(share), "{typed}");
        }
        for typed in ["0", "-1%", "0.009%", "51%", "%", "1", "", "nan%", "inf", "1%%"] {
            assert!(precision(typed).is_err(), "{typed}");
        }
        assert!(precision("1").unwrap_err().ends_with("did you mean 1%?"));
    }

    #[test]
    fn times_have_units() {
        for (typed, seconds) in
            [("90", 90.0), ("90s", 90.0), ("2m", 120.0), ("1.5h", 5_400.0), ("20ms", 0.02)]
        {
            assert_eq!(time(typed), Ok(Duration::from_secs_f64(seconds)), "{typed}");
        }
        for typed in ["0", "-1s", "1d", "s", "", "1e300h", "nan", "1e-20", "m2"] {
            assert!(time(typed).is_err(), "{typed}");
        }
    }
}
