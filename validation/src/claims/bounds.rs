//! What a claim says of a number: where it lies, and in which unit.

use flitwise_language::scenario::Scenario;
use schemars::JsonSchema;
use serde::Serialize;

use super::Verdict;
use super::asked::Asked;
use flitwise_experiment::answer::ConfidenceInterval;

/// Where a number lies: at least, at most or between two bounds, in the unit of the claim.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Bounds {
    /// The least that it may be; `null`: however small.
    pub from: Option<f64>,
    /// The most that it may be; `null`: however large.
    pub to: Option<f64>,
}

impl Bounds {
    /// Whether a number lies within, where `chance` may be all that takes it out. Within two bounds as [`within`] says;
    /// of a single bound the whole interval has to lie on the one or the other side.
    pub(super) fn judge(self, value: f64, chance: Option<f64>) -> Verdict {
        let (from, to) = match (self.from, self.to) {
            (Some(from), Some(to)) => {
                return within(value - f64::midpoint(from, to), chance, (to - from) / 2.0);
            }
            (from, to) => (from.unwrap_or(f64::NEG_INFINITY), to.unwrap_or(f64::INFINITY)),
        };
        let Some(chance) = chance else { return Verdict::Undecided };
        if value - chance >= from && value + chance <= to {
            Verdict::Held
        } else if value + chance < from || value - chance > to {
            Verdict::NotHeld
        } else {
            Verdict::Undecided
        }
    }

    /// Whether a number that grows without limit lies within: that of a saturated class.
    pub(super) fn holds_without_limit(self) -> bool {
        self.to.is_none()
    }

    /// How far within a number lies; below 0: how far beyond.
    pub(super) fn room(self, value: f64) -> f64 {
        let above = self.from.map_or(f64::INFINITY, |from| value - from);
        above.min(self.to.map_or(f64::INFINITY, |to| to - value))
    }

    /// The bounds in words, such as `at most 5 us`.
    pub(super) fn said(self, unit: &str) -> String {
        let tidy = |bound: f64| format!("{bound:.6e}").parse().unwrap_or(bound);
        let words = match (self.from.map(tidy), self.to.map(tidy)) {
            (Some(from), Some(to)) => format!("{from} to {to}"),
            (Some(from), None) => format!("at least {from}"),
            (None, to) => format!("at most {}", to.unwrap_or(f64::INFINITY)),
        };
        with_unit(words, unit)
    }
}

/// A number with its unit, if it has one.
pub(super) fn with_unit(number: String, unit: &str) -> String {
    if unit.is_empty() { number } else { format!("{number} {unit}") }
}

/// Whether `difference` is at most `tolerance`, where `chance` may be all that makes the difference.
pub(super) fn within(difference: f64, chance: Option<f64>, tolerance: f64) -> Verdict {
    let Some(chance) = chance else { return Verdict::Undecided };
    // equal to the last digits
    let miss = difference.abs() * (1.0 - 1e-12);
    if miss > tolerance + chance {
        Verdict::NotHeld
    } else if miss + chance <= tolerance || chance <= tolerance {
        Verdict::Held
    } else {
        Verdict::Undecided
    }
}

/// The unit in which a claim gives a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TimeUnit {
    /// Cycles, or the quantity's own unit where it is no time.
    #[default]
    Cycles,
    /// Nanoseconds.
    Ns,
    /// Microseconds.
    Us,
    /// Milliseconds.
    Ms,
    /// Intervals between the frames of the class, of the scenario at that point.
    Intervals,
}

impl TimeUnit {
    /// All of them.
    pub(super) const ALL: [Self; 5] = [Self::Cycles, Self::Ns, Self::Us, Self::Ms, Self::Intervals];

    /// Its name in a registry.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Cycles => "cycles",
            Self::Ns => "ns",
            Self::Us => "us",
            Self::Ms => "ms",
            Self::Intervals => "intervals",
        }
    }

    /// What stands behind a number of a quantity.
    pub(super) fn said(self, asked: &Asked) -> &'static str {
        match self {
            Self::Cycles => asked.unit_word(),
            Self::Intervals => "frame intervals",
            _ => self.word(),
        }
    }

    /// How many of it a cycle of the scenario is; `None` where the scenario does not say.
    pub(super) fn per_cycle(self, scenario: &Scenario, class: &str) -> Option<f64> {
        let cycles = match self {
            Self::Cycles => 1.0,
            Self::Intervals => {
                let index = scenario.classes().iter().position(|one| one.name == class)?;
                scenario.frames(index)?.interval
            }
            Self::Ns | Self::Us | Self::Ms => scenario.spec().cycles_of(&format!("1 {}", self.word()))?,
        };
        Some(1.0 / cycles)
    }

    /// A number with its half-width, if it is not exact, in digits that fit the unit.
    pub(super) fn shown(self, value: ConfidenceInterval, asked: &Asked) -> String {
        let digits = match self {
            _ if asked.is_share() => 4,
            Self::Cycles | Self::Ns | Self::Us => 2,
            Self::Ms | Self::Intervals => 4,
        };
        let width = value.half_width_95().filter(|width| *width > 0.0);
        let width = width.map_or_else(String::new, |width| format!(" ±{width:.digits$}"));
        with_unit(format!("{:.digits$}{width}", value.value), self.said(asked))
    }
}
