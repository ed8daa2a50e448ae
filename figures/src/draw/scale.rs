//! Scale of an axis: range, ticks and how numbers are written.

use crate::picture::Axis;

/// What is beyond this is no number to draw: differences of two would overflow sooner or later.
const HUGE: f64 = 1e100;
/// A logarithmic axis spans at most so many decades, the upper ones.
const DECADES: f64 = 12.0;

/// Whether `value` can be drawn on an axis.
pub(crate) fn drawable(value: f64, logarithmic: bool) -> bool {
    value.abs() <= HUGE && (!logarithmic || value >= 1.0 / HUGE)
}

/// An axis with its range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scale {
    pub(crate) from: f64,
    pub(crate) to: f64,
    pub(crate) logarithmic: bool,
}

impl Scale {
    /// From `from` to `to`, if a range can be made of it.
    pub(crate) fn exactly(from: f64, to: f64, logarithmic: bool) -> Option<Self> {
        let good = drawable(from, logarithmic) && drawable(to, logarithmic) && from < to;
        good.then_some(Self { from, to, logarithmic })
    }

    /// Around all `values`, with `above` of the range left free beyond the last one; from zero if the
    /// smallest is less than half of the largest.
    pub(crate) fn around(values: impl IntoIterator<Item = f64>, logarithmic: bool, above: f64) -> Self {
        let (mut from, mut to) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values.into_iter().filter(|value| drawable(*value, logarithmic)) {
            from = from.min(value);
            to = to.max(value);
        }
        if from > to {
            (from, to) = if logarithmic { (0.1, 1.0) } else { (0.0, 1.0) };
        }
        if logarithmic {
            Self::around_logarithms(from, to, above)
        } else {
            Self::around_both(from, to, above)
        }
    }

    /// As [`Scale::around`], but from zero only if the smallest is less than a sixth of the largest: on a
    /// horizontal axis zero is a place like others.
    pub(crate) fn along(values: impl IntoIterator<Item = f64>, logarithmic: bool, beyond: f64) -> Self {
        let values: Vec<f64> = values.into_iter().filter(|value| drawable(*value, logarithmic)).collect();
        let scale = Self::around(values.iter().copied(), logarithmic, beyond);
        let from = values.iter().copied().fold(f64::INFINITY, f64::min);
        if logarithmic || from < scale.to / 6.0 || from > scale.to {
            return scale;
        }
        Self { from: from - beyond * (scale.to - from), ..scale }.widened()
    }

    fn around_both(from: f64, to: f64, above: f64) -> Self {
        let from_zero = from >= 0.0 && from <= 0.5 * to;
        let span = match to - if from_zero { 0.0 } else { from } {
            // all equal
            span if span <= 1e-9 * to.abs().max(from.abs()) => to.abs().max(f64::MIN_POSITIVE) * 0.2,
            span => span,
        };
        let span = if span < 1.0 / HUGE { 1.0 } else { span };
        let from = if from_zero { 0.0 } else { from - above.max(0.03) * span };
        Self { from, to: to + above * span.max((to - from) * 0.1), logarithmic: false }.widened()
    }

    fn around_logarithms(from: f64, to: f64, above: f64) -> Self {
        let (last, first) = (to.log10(), from.log10().max(to.log10() - DECADES));
        let span = (last - first).max(0.3);
        let (first, last) = (first - above * span, last + above * span);
        Self { from: 10f64.powf(first), to: 10f64.powf(last), logarithmic: true }.widened()
    }

    /// A range that is not empty.
    fn widened(self) -> Self {
        if self.from < self.to { self } else { Self { to: self.from + self.from.abs().max(1.0), ..self } }
    }

    /// Where `value` is, 0 at the start and 1 at the end of the axis.
    pub(crate) fn share(&self, value: f64) -> Option<f64> {
        if !drawable(value, self.logarithmic) {
            return None;
        }
        let Self { from, to, .. } = *self;
        let share = if self.logarithmic {
            (value / from).log10() / (to / from).log10()
        } else {
            (value - from) / (to - from)
        };
        // far outside is far enough: the frame clips it
        share.is_finite().then(|| share.clamp(-1e4, 1e4))
    }

    /// About `count` tidy numbers of the range, at least one and most often two or more.
    pub(crate) fn ticks(&self, count: usize) -> Vec<(f64, String)> {
        if self.logarithmic
            && let Some(ticks) = self.decades(count)
        {
            return ticks;
        }
        let rough = (self.to - self.from) / count.max(1) as f64;
        let power = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 2.5, 5.0, 10.0]
            .into_iter()
            .map(|factor| factor * power)
            .find(|step| *step >= rough * 0.999)
            .unwrap_or(10.0 * power);
        let slack = 1e-6;
        let (first, last) = ((self.from / step - slack).ceil(), (self.to / step + slack).floor());
        let numbers = (0..=50).map(|i| first + f64::from(i)).take_while(|number| *number <= last);
        numbers.map(|number| (number * step, in_steps(number * step, step))).collect()
    }

    /// Powers of ten and, if there are few, 2 and 5 between them; `None` if that makes fewer than three.
    fn decades(&self, count: usize) -> Option<Vec<(f64, String)>> {
        let (first, last) = (self.from.log10().floor() as i32, self.to.log10().ceil() as i32);
        let every = ((last - first) as usize).div_ceil(count.max(1)).max(1);
        let factors: &[f64] = if (last - first) as usize * 3 <= count { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let mut ticks = Vec::new();
        for power in (first..=last).filter(|power| power.rem_euclid(every as i32) == 0) {
            for factor in factors {
                let value = factor * 10f64.powi(power);
                if value >= self.from * (1.0 - 1e-9) && value <= self.to * (1.0 + 1e-9) {
                    ticks.push((value, short(value)));
                }
            }
        }
        (ticks.len() >= 3 || (ticks.len() == 2 && every == 1 && count < 4)).then_some(ticks)
    }
}

/// A multiple of `step`, with the digits that it needs.
fn in_steps(value: f64, step: f64) -> String {
    if value.abs() < step * 1e-6 {
        return "0".to_owned();
    }
    if value.abs() >= 1e5 || step < 1e-4 {
        return scientific(value, ((value / step).abs().log10().floor().max(0.0) as usize + 1).min(6));
    }
    // 2.5 and 0.25 need a digit more than their power of ten
    let digits = (0..6).find(|digits| {
        let scaled = step * 10f64.powi(*digits);
        (scaled - scaled.round()).abs() < 1e-6 * scaled
    });
    signed(format!("{value:.0$}", digits.unwrap_or(6) as usize))
}

/// A number in three digits or so.
pub(crate) fn short(value: f64) -> String {
    let size = value.abs();
    if !value.is_finite() {
        return "–".to_owned();
    }
    if size == 0.0 {
        return "0".to_owned();
    }
    if !(1e-3..1e5).contains(&size) {
        return scientific(value, 2);
    }
    let digits = (2 - size.log10().floor() as i32).clamp(0, 6) as usize;
    signed(trimmed(&format!("{value:.digits$}")))
}

fn scientific(value: f64, digits: usize) -> String {
    let written = format!("{value:.digits$e}");
    let (factor, power) = written.split_once('e').unwrap_or((&written, "0"));
    signed(format!("{}e{power}", trimmed(factor)))
}

/// Without zeros at the end of its fraction.
fn trimmed(number: &str) -> String {
    if number.contains('.') {
        number.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        number.to_owned()
    }
}

/// With the sign that is as wide as a digit.
fn signed(number: String) -> String {
    number.replace('-', "−")
}

/// What stands at an axis.
pub(crate) fn label(axis: &Axis) -> String {
    if axis.unit.is_empty() { axis.label.clone() } else { format!("{} [{}]", axis.label, axis.unit) }
}

/// The middle one of `values`, the lower one if there are two; `None` if there are none.
pub(crate) fn median(values: &[f64]) -> Option<f64> {
    quantile(values, 0.5)
}

/// The value with `share` of the `values` below it.
pub(crate) fn quantile(values: &[f64], share: f64) -> Option<f64> {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|value| drawable(*value, false)).collect();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().checked_sub(1)?;
    sorted.get((last as f64 * share).floor() as usize).copied()
}

/// The largest of `values`, but at most four times their median.
///
/// Up to saturation a latency doubles or trebles; beyond four times its median it explodes, and drawing all of
/// it would flatten everything else. Where the median is zero (probabilities of rare things) there is no limit.
pub(crate) fn robust_top(values: &[f64]) -> Option<f64> {
    let most = quantile(values, 1.0)?;
    match median(values)? {
        middle if middle > 0.0 => Some(most.min(4.0 * middle)),
        _ => Some(most),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(from: f64, to: f64, logarithmic: bool, count: usize) -> Vec<String> {
        let scale = Scale::exactly(from, to, logarithmic).unwrap();
        scale.ticks(count).into_iter().map(|tick| tick.1).collect()
    }

    #[test]
    fn ticks_are_tidy() {
        assert_eq!(written(0.0, 0.0131, false, 5), ["0", "0.005", "0.010"]);
        assert_eq!(
            written(0.0, 0.0131, false, 7),
            ["0", "0.002", "0.004", "0.006", "0.008", "0.010", "0.012"]
        );
        assert_eq!(written(-12.0, 11.0, false, 5), ["−10", "−5", "0", "5", "10"]);
        assert_eq!(written(30.0, 151.0, false, 5), ["50", "75", "100", "125", "150"]);
        assert_eq!(written(1e-5, 2.0, true, 6), ["1e−5", "1e−4", "0.001", "0.01", "0.1", "1"]);
        assert_eq!(written(0.0, 3e6, false, 3), ["0", "1e6", "2e6", "3e6"]);
        assert_eq!(written(0.0, 3e-6, false, 3), ["0", "1e−6", "2e−6", "3e−6"]);
    }

    #[test]
    fn short_forms() {
        let forms = [0.0213, 36.0, 151.26, 12345.6, 2e7, -0.5, 0.00012, 1.0 / 3.0, f64::NAN];
        let expected = ["0.0213", "36", "151", "12346", "2e7", "−0.5", "1.2e−4", "0.333", "–"];
        assert_eq!(forms.map(short), expected);
    }

    #[test]
    fn any_values_make_a_range() {
        let nasty =
            [0.0, -0.0, 1.0, -1.0, 1e-320, 1e-99, 1e99, 1e100, 1e308, -1e308, f64::NAN, f64::INFINITY];
        for one in nasty {
            for other in nasty {
                for logarithmic in [false, true] {
                    let scale = Scale::around([one, other], logarithmic, 0.05);
                    assert!(scale.from < scale.to, "{one} {other} {scale:?}");
                    assert!(scale.from.is_finite() && scale.to.is_finite());
                    for count in [1, 5, 20] {
                        assert!(scale.ticks(count).len() < 60, "{scale:?}");
                    }
                    for value in nasty {
                        assert!(scale.share(value).is_none_or(f64::is_finite));
                    }
                }
            }
        }
    }

    #[test]
    fn explosions_do_not_set_the_top() {
        assert_eq!(robust_top(&[36.0, 38.0, 40.0, 45.0, 1e9]), Some(160.0));
        assert_eq!(robust_top(&[36.0, 38.0, 40.0]), Some(40.0));
        assert_eq!(robust_top(&[0.0, 0.0, 0.3]), Some(0.3));
        assert_eq!(robust_top(&[]), None);
    }
}
