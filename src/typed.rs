//! Reads the values of options. All faults are reported at once.

use std::ops::RangeInclusive;
use std::time::Duration;

/// The largest whole number that is read: all below have exact doubles.
pub(crate) const MOST: u64 = 1 << 53;
/// The most messages.
const MOST_MESSAGES: u64 = 1_000_000_000_000_000;
/// The longest time: some ten years.
const LONGEST: Duration = Duration::from_secs(100_000 * 3600);
/// The most threads.
const MOST_THREADS: u64 = 1_024;

/// What `--seed` wants.
pub(crate) fn seed(typed: &str) -> Result<u64, String> {
    within(0..=u64::MAX, "a whole number from 0 to 2^64 - 1")(typed)
}

/// What `--max-messages` wants.
pub(crate) fn max_messages(typed: &str) -> Result<u64, String> {
    within(1..=MOST_MESSAGES, "1 to 1e15 messages, such as 500000 or 1e6")(typed)
}

/// What `--threads` wants.
pub(crate) fn threads(typed: &str) -> Result<usize, String> {
    Ok(within(1..=MOST_THREADS, "1 to 1024 threads")(typed)? as usize)
}

/// A whole number within a range.
pub(crate) fn within(
    range: RangeInclusive<u64>,
    wanted: &'static str,
) -> impl Fn(&str) -> Result<u64, String> {
    move |typed: &str| whole(typed).filter(|number| range.contains(number)).ok_or_else(|| wanted.to_owned())
}

/// Reads options one by one and keeps what is wrong.
pub(crate) struct Options<'f> {
    pub(crate) faults: &'f mut Vec<String>,
}

impl Options<'_> {
    /// An option's value; on a fault one that will not be used. `read` says what it wants.
    pub(crate) fn value<T: Default>(
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

    pub(crate) fn option<T: Default>(
        &mut self,
        option: &str,
        typed: &Option<String>,
        read: impl Fn(&str) -> Result<T, String>,
    ) -> Option<T> {
        typed.as_deref().map(|typed| self.value(option, typed, read))
    }
}

/// A share, with or without a percent sign.
pub(crate) fn precision(typed: &str) -> Result<f64, String> {
    const WANTED: &str = "0.01% to 50%, such as 1% or 0.01";
    match share(typed) {
        Some(share) if (0.000_1..=0.5).contains(&share) => Ok(share),
        Some(share) if !typed.ends_with('%') && (0.5..=50.0).contains(&share) => {
            Err(format!("{WANTED}\n  help: did you mean {typed}%?"))
        }
        _ => Err(WANTED.to_owned()),
    }
}

/// What `--tolerance` wants: a share, with or without a percent sign.
pub(crate) fn tolerance(typed: &str) -> Result<f64, String> {
    const WANTED: &str = "0% to 1000%, such as 5% or 0.05";
    match share(typed) {
        Some(share) if (0.0..=10.0).contains(&share) => Ok(share),
        _ => Err(WANTED.to_owned()),
    }
}

/// A share, with or without a percent sign.
fn share(typed: &str) -> Option<f64> {
    match typed.strip_suffix('%').map(str::trim_end) {
        // decimal, not divided: 0.7% is 0.007 and not the double below
        Some(percent) => number(&format!("{percent}e-2")).or_else(|| Some(number(percent)? / 100.0)),
        None => number(typed),
    }
}

/// Seconds, or a number with its unit.
pub(crate) fn time(typed: &str) -> Result<Duration, String> {
    let units = [("ms", 1e-3), ("s", 1.0), ("m", 60.0), ("h", 3600.0)];
    let unit = units.into_iter().find_map(|(unit, seconds)| Some((typed.strip_suffix(unit)?, seconds)));
    let (count, seconds) = unit.unwrap_or((typed, 1.0));
    let time = number(count.trim_end()).map(|count| count * seconds);
    let time = time.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    time.filter(|time| !time.is_zero() && *time <= LONGEST)
        .ok_or_else(|| "a time above 0 and up to 100000h, such as 90s, 2m or 1h".to_owned())
}

/// A whole number that is not negative: `1000000`, `1_000_000` or `1e6`.
pub(crate) fn whole(typed: &str) -> Option<u64> {
    let digits = without_separators(typed)?;
    digits.parse().ok().or_else(|| {
        let number = number(typed)?;
        (number.fract() == 0.0 && (0.0..=MOST as f64).contains(&number)).then_some(number as u64)
    })
}

/// A finite number.
pub(crate) fn number(typed: &str) -> Option<f64> {
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
    fn counts_take_exponents_and_name_their_limits() {
        assert_eq!((max_messages("1e5"), threads("1e1"), threads("1e3")), (Ok(100_000), Ok(10), Ok(1000)));
        assert!(max_messages("1e308").unwrap_err().contains("1 to 1e15"));
        for typed in ["0", "-1", "1e4", "1.5", "1e308", "nan", ""] {
            assert!(threads(typed).unwrap_err().contains("1 to 1024"), "{typed}");
        }
    }

    #[test]
    fn times_have_units() {
        for (typed, seconds) in
            [("90", 90.0), ("90s", 90.0), ("2m", 120.0), ("1.5h", 5_400.0), ("20ms", 0.02)]
        {
            assert_eq!(time(typed), Ok(Duration::from_secs_f64(seconds)), "{typed}");
        }
        for typed in ["0", "-1s", "1d", "s", "", "1e300h", "1e308s", "100001h", "nan", "1e-20", "m2"] {
            assert!(time(typed).is_err(), "{typed}");
        }
    }
}
