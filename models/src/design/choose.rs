//! Which of the given values serve an objective best, requirements kept.
//!
//! Listed values are tried in every combination; ranges are searched within each of them. [`Question::optimum`]
//! answers one combination, so that whoever asks may have them answered side by side, and [`Question::conclude`] picks
//! the best.

use schemars::JsonSchema;
use serde::Serialize;

pub use super::optimum::Check;

use super::judge::add_deadline;
use super::max_load::{Place, Status, place};
use super::optimum::{SAME, Worth, joined, lowest};
use super::{Judge, Judgement, Objective};
use crate::model::Failure;
use flitwise_language::document::{Document, Fault, in_short};
use flitwise_language::scenario::{Axis, Scenario, Setting, is_whole, spread, whole_values};

/// The most combinations of listed values.
pub const MOST_COMBINATIONS: usize = 10_000;
/// The most ranges.
pub const MOST_RANGES: usize = 8;

/// The most whole numbers of a range that are tried.
const MOST_WHOLE: usize = 64;

/// What may be chosen: a key, and values or a range for it.
#[derive(Clone, Debug)]
pub struct Vary {
    /// Path of the value in the scenario, as in `--set`.
    pub key: String,
    /// Its values as they would be typed, or a range.
    pub values: Values,
}

/// Values to choose from.
#[derive(Clone, Debug)]
pub enum Values {
    /// These alone.
    Listed(Vec<String>),
    /// Any number from `low` to `high`; looked at by ratio if both are above 0 and ten times apart.
    Range {
        /// The lowest.
        low: f64,
        /// The highest.
        high: f64,
    },
}

/// What is asked.
#[derive(Clone, Debug)]
pub struct Question {
    judge: Judge,
    document: Document,
    vary: Vec<Vary>,
    objective: Objective,
    maximise: bool,
}

/// The best values of one combination.
#[derive(Clone, Debug)]
pub struct Optimum {
    /// All values, in the order in which they were given.
    pub settings: Vec<Setting>,
    /// The scenario with them.
    pub scenario: Scenario,
    /// How it stands.
    pub judged: Judgement,
    /// The objective there, if there is such a number.
    pub objective: Option<f64>,
    /// How sure one can be, if there are ranges.
    pub check: Option<Check>,
    /// Scenarios solved.
    pub evaluations: u32,
    /// The lowest and the highest objective that was seen where all requirements hold.
    pub seen: Option<(f64, f64)>,
}

/// What to do about the values that were found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Advice {
    /// Take them: they are better than the starting scenario.
    Take,
    /// Keep the starting scenario: none of the values is better by more than 0.1 %.
    Keep,
    /// Keep the starting scenario: no value moves the objective by more than 0.1 %.
    Flat,
    /// No values keep all requirements.
    None,
}

/// The best of all combinations.
#[derive(Clone, Debug)]
pub struct BestChoice {
    /// The best one that keeps all requirements, or else the one least beyond them.
    pub best: Optimum,
    /// Whether it keeps them all.
    pub feasible: bool,
    /// How each requirement stands there, in their order.
    pub requirements: Vec<Place>,
    /// All combinations, in the order of the lists, the last one varying fastest.
    pub tried: Vec<Trial>,
    /// Scenarios solved, over all combinations.
    pub evaluations: u32,
    /// What to do about it.
    pub advice: Advice,
    /// The objective of the starting scenario; none if it breaks a requirement or has no such number.
    pub start: Option<f64>,
    /// By how much the objective moves over all values and the starting scenario, as a share of it.
    pub moves: Option<f64>,
}

/// One combination, in short.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Trial {
    /// All values.
    pub set: Vec<Setting>,
    /// The objective there; `null` if there is no such number.
    pub objective: Option<f64>,
    /// Whether all requirements hold.
    pub feasible: bool,
    /// The requirement that is farthest beyond, or nearest to its limit.
    pub nearest: Option<String>,
}

impl Vary {
    /// Reads `KEY=A,B,C`, `KEY=START:STOP:COUNT`, `KEY=LOW..HIGH:STEP` (listed) or `KEY=LOW..HIGH` (a range; of a key
    /// that takes whole numbers only, these: all if there are at most 64, else 64 of them).
    ///
    /// # Errors
    /// What was found and what is wanted.
    pub fn read(typed: &str) -> Result<Self, String> {
        const WANTED: &str = "wanted KEY=A,B,C, KEY=LOW..HIGH or KEY=LOW..HIGH:STEP";
        let (key, values) = typed.split_once('=').ok_or_else(|| format!("found no '=', {WANTED}"))?;
        let Some((low, high)) = values.split_once("..") else {
            let axis = Axis::read(typed, is_whole)
                .map_err(|fault| fault.replace("wanted ", "wanted KEY=LOW..HIGH, "))?;
            return Ok(Self { key: axis.key, values: Values::Listed(axis.values) });
        };
        let number = |text: &str| {
            let number = text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
            number.ok_or_else(|| format!("found \"{}\", wanted a number in LOW..HIGH", text.trim()))
        };
        let (high, step) = high.split_once(':').map_or((high, None), |(high, step)| (high, Some(step)));
        let (low, high) = (number(low)?, number(high)?);
        if low >= high {
            let range = format!("{}..{}", in_short(low), in_short(high));
            return Err(format!("found {range}, wanted a range from low to high"));
        }
        let key = key.trim().to_owned();
        let values = match step {
            Some(step) => Values::Listed(stepped(low, high, number(step)?)?),
            None if is_whole(&key) => Values::Listed(whole(low, high)?),
            None => Values::Range { low, high },
        };
        Ok(Self { key, values })
    }

    /// The value, as it would be typed, at a share of the way along a range.
    pub fn at(low: f64, high: f64, share: f64) -> String {
        let value = match share {
            0.0 => low,
            1.0 => high,
            _ if low > 0.0 && high >= 10.0 * low => low * (high / low).powf(share),
            _ => low + (high - low) * share,
        };
        // seven digits: what is printed is what was solved
        let tidy = format!("{value:.6e}").parse().unwrap_or(value);
        in_short(tidy.clamp(low, high))
    }
}

/// Values from `low` to `high` in steps.
fn stepped(low: f64, high: f64, step: f64) -> Result<Vec<String>, String> {
    if step <= 0.0 {
        return Err(format!("found the step {}, wanted one above 0", in_short(step)));
    }
    // a hair of a step: 0..1:0.1 ends with 1
    let steps = ((high - low) / step + 1e-9).floor();
    if steps >= MOST_COMBINATIONS as f64 {
        return Err(format!("found {} steps, wanted fewer than {MOST_COMBINATIONS}", in_short(steps)));
    }
    // twelve digits: 0.3, not 0.30000000000000004
    let at = |index: usize| low + step * index as f64;
    let tidy = |value: f64| format!("{value:.11e}").parse().unwrap_or(value);
    Ok((0..=steps as usize).map(|index| in_short(tidy(at(index)))).collect())
}

/// Whole numbers from `low` to `high`: all of them, or as many as are tried.
fn whole(low: f64, high: f64) -> Result<Vec<String>, String> {
    let range = format!("{}..{}", in_short(low), in_short(high));
    if low.fract() != 0.0 || high.fract() != 0.0 {
        return Err(format!("found {range}, wanted whole numbers: this key takes no others"));
    }
    let by_ratio = low > 0.0 && high >= 10.0 * low;
    let all = high - low < MOST_WHOLE as f64;
    let count = if all { (high - low) as usize + 1 } else { MOST_WHOLE };
    Ok(whole_values(&spread(low, high, count, by_ratio && !all)))
}

impl Question {
    /// What to vary of a document, and what for.
    ///
    /// # Errors
    /// Every fault in the options and every value that has no place in the document, each alone with the first values
    /// of the others.
    pub fn read(
        judge: Judge,
        document: Document,
        vary: &[String],
        objective: Objective,
        maximise: bool,
    ) -> Result<Self, Vec<String>> {
        let (mut read, mut faults): (Vec<Vary>, Vec<String>) = (Vec::new(), Vec::new());
        for typed in vary {
            match Vary::read(typed) {
                Ok(one) if read.iter().any(|other| other.key == one.key) => faults
                    .push(format!("--vary {typed}: found {} a second time, wanted each key once", one.key)),
                Ok(one) => read.push(one),
                Err(fault) => faults.push(format!("--vary {typed}: {fault}")),
            }
        }
        let lengths = read.iter().map(|one| one.listed().map_or(1, <[String]>::len));
        let combinations = lengths.fold(1usize, usize::saturating_mul);
        if combinations > MOST_COMBINATIONS {
            faults.push(format!(
                "--vary: found {combinations} combinations, wanted at most {MOST_COMBINATIONS}"
            ));
        }
        let ranges = read.iter().filter(|one| one.listed().is_none()).count();
        if ranges > MOST_RANGES {
            faults.push(format!("--vary: found {ranges} ranges, wanted at most {MOST_RANGES}"));
        }
        let question = Self { judge, document, vary: read, objective, maximise };
        if faults.is_empty() {
            faults = question.faults();
        }
        if faults.is_empty() { Ok(question) } else { Err(faults) }
    }

    /// Combinations of listed values.
    pub fn combinations(&self) -> usize {
        self.vary.iter().map(|one| one.listed().map_or(1, <[String]>::len)).product()
    }

    /// What is wrong with any value, each alone.
    fn faults(&self) -> Vec<String> {
        let first = self.settings(0, &vec![0.0; self.ranges()]);
        let mut faults: Vec<String> = Vec::new();
        for (index, vary) in self.vary.iter().enumerate() {
            let values = match &vary.values {
                Values::Listed(values) => values.clone(),
                // the middle tells whether a key takes any number
                Values::Range { low, high } => {
                    [0.0, 0.4142, 1.0].map(|share| Vary::at(*low, *high, share)).to_vec()
                }
            };
            for value in values {
                let mut settings = first.clone();
                settings[index] = Setting::new(&vary.key, &value);
                let found = match self.scenario(&settings) {
                    Ok((document, scenario)) => self.refusals(&document, &scenario),
                    Err(found) => found.iter().map(Fault::to_string).collect(),
                };
                let new: Vec<String> = found.into_iter().filter(|fault| !faults.contains(fault)).collect();
                faults.extend(new);
            }
        }
        faults
    }

    /// What the model that answers has not.
    fn refusals(&self, document: &Document, scenario: &Scenario) -> Vec<String> {
        match self.judge.model_of(scenario).supports(scenario) {
            Err(failure @ Failure::Refused { .. }) => failure.lines(|key| document.place_of(key).to_string()),
            _ => {
                let mut words = self.judge.unanswerable(scenario);
                words.extend(self.objective.unanswerable(&self.judge, scenario));
                words
            }
        }
    }

    fn ranges(&self) -> usize {
        self.vary.iter().filter(|one| one.listed().is_none()).count()
    }

    /// All values of a combination, ranges at the given shares.
    fn settings(&self, combination: usize, shares: &[f64]) -> Vec<Setting> {
        let mut rest = combination;
        let mut shares = shares.iter().rev();
        let mut settings: Vec<Setting> = Vec::with_capacity(self.vary.len());
        for vary in self.vary.iter().rev() {
            let value = match &vary.values {
                Values::Listed(values) => {
                    let index = rest % values.len();
                    rest /= values.len();
                    values[index].clone()
                }
                Values::Range { low, high } => Vary::at(*low, *high, shares.next().copied().unwrap_or(0.0)),
            };
            settings.push(Setting::new(&vary.key, &value));
        }
        settings.reverse();
        settings
    }

    /// The document and the scenario with the given values, and with all deadlines that are asked about.
    fn scenario(&self, settings: &[Setting]) -> Result<(Document, Scenario), Vec<Fault>> {
        let mut document = self.document.clone();
        let set = |setting: &Setting| {
            let place = flitwise_language::document::Place::Setting(
                format!("--vary {}={}", setting.key, setting.value).into(),
            );
            document.set(&setting.key, &setting.value, &place).err()
        };
        let faults: Vec<Fault> = settings.iter().filter_map(set).collect();
        if !faults.is_empty() {
            return Err(faults);
        }
        let mut spec = self.judge.prepared(document.scenario()?.spec());
        add_deadline(&mut spec, self.objective.class.as_deref(), self.objective.measure);
        let scenario = spec.check()?;
        Ok((document, scenario))
    }

    /// The scenario with the given values, if there is such a scenario, and with all deadlines that are asked about.
    pub fn scenario_at(&self, settings: &[Setting]) -> Option<Scenario> {
        Some(self.scenario(settings).ok()?.1)
    }

    /// The same question put to another judge.
    pub fn judged_by(&self, judge: Judge) -> Self {
        Self { judge, ..self.clone() }
    }

    /// Solves one point; `None` where values that are sound alone make no scenario together.
    fn look(&self, settings: &[Setting]) -> Option<(Scenario, Judgement, Option<f64>)> {
        let (_, scenario) = self.scenario(settings).ok()?;
        let laws = self.judge.laws || self.objective.measure.quantity.needs_distribution();
        let judged = Judge { laws, ..self.judge.clone() }.judge(&scenario);
        let answer = judged.answer.as_ref().ok();
        let objective = answer.and_then(|answer| self.objective.of(&self.judge, &scenario, answer));
        Some((scenario, judged, objective))
    }

    fn worth(&self, judged: &Judgement, objective: Option<f64>) -> Worth {
        let goal = objective.map(|value| if self.maximise { -value } else { value });
        Worth { goal, excess: judged.excess() }
    }

    /// The best values of one combination; `None` if there are none that make a scenario.
    pub fn optimum(&self, combination: usize) -> Option<Optimum> {
        let (shares, check, evaluations, seen) = match self.ranges() {
            0 => (Vec::new(), None, 1, None),
            ranges => {
                let worth = |shares: &[f64]| match self.look(&self.settings(combination, shares)) {
                    Some((_, judged, objective)) => self.worth(&judged, objective),
                    None => Worth { goal: None, excess: 10.0 },
                };
                let found = lowest(ranges, &worth);
                (found.at, Some(found.check), found.evaluations + 1, found.seen)
            }
        };
        let settings = self.settings(combination, &shares);
        let (scenario, judged, objective) = self.look(&settings)?;
        let here = objective.filter(|_| judged.holds()).map(|value| (value, value));
        // goals are objectives, turned round where the largest is sought
        let seen = seen.map(|(low, high)| if self.maximise { (-high, -low) } else { (low, high) });
        let seen = joined(seen, here);
        Some(Optimum { settings, scenario, judged, objective, check, evaluations, seen })
    }

    /// The objective of the starting scenario, if it keeps all requirements.
    fn start(&self) -> Option<f64> {
        let (_, judged, objective) = self.look(&[])?;
        objective.filter(|_| judged.holds())
    }

    /// What to do about the best values of all, `best` if they keep the requirements, and by how much the objective
    /// moves.
    fn advice(
        &self,
        best: Option<f64>,
        start: Option<f64>,
        seen: Option<(f64, f64)>,
    ) -> (Advice, Option<f64>) {
        let seen = joined(seen, start.map(|value| (value, value)));
        let moves = seen.map(|(low, high)| share_of(high - low, low.abs().max(high.abs())));
        let advice = match (best, start) {
            (None, _) => Advice::None,
            (Some(_), Some(_)) if moves.is_some_and(|moves| moves < SAME) => Advice::Flat,
            (Some(best), Some(start)) => {
                let gain = if self.maximise { best - start } else { start - best };
                if share_of(gain, start.abs()) < SAME { Advice::Keep } else { Advice::Take }
            }
            (Some(_), None) => Advice::Take,
        };
        (advice, moves)
    }

    /// The best of all; `None` if no combination makes a scenario.
    pub fn conclude(&self, optima: Vec<Optimum>) -> Option<BestChoice> {
        let evaluations = optima.iter().map(|one| one.evaluations).sum::<u32>() + 1;
        let seen = optima.iter().fold(None, |seen, one| joined(seen, one.seen));
        let feasible = |one: &Optimum| one.judged.holds() && one.objective.is_some();
        let tried = |one: &Optimum| Trial {
            set: one.settings.clone(),
            objective: one.objective,
            feasible: feasible(one),
            nearest: one.judged.foremost().map(|index| self.judge.requirements[index].to_string()),
        };
        let tried = optima.iter().map(tried).collect();
        let rank = |one: &Optimum| {
            let worth = self.worth(&one.judged, one.objective);
            let is_feasible = feasible(one);
            (!is_feasible, if is_feasible { worth.goal.unwrap_or(f64::INFINITY) } else { worth.excess })
        };
        // of equals the first
        let best = optima.into_iter().reduce(|best, next| {
            let (a, b) = (rank(&best), rank(&next));
            if b.0.cmp(&a.0).then(b.1.total_cmp(&a.1)).is_lt() { next } else { best }
        })?;
        let requirements = self.judge.requirements.iter().enumerate().map(|(index, one)| {
            let standing = &best.judged.standings[index];
            let status = match standing.class {
                None => Status::Silent,
                Some(_) if standing.excess > 0.0 => Status::Unreachable,
                // within a hundredth of the limit it is what keeps the objective from getting better
                Some(_) if standing.excess > -1e-2 => Status::Binds,
                Some(_) => Status::Holds,
            };
            place(one, status, &self.judge, &best.scenario, &best.judged, index)
        });
        let requirements = requirements.collect();
        let start = self.start();
        let feasible = feasible(&best);
        let (advice, moves) = self.advice(best.objective.filter(|_| feasible), start, seen);
        Some(BestChoice { feasible, best, requirements, tried, evaluations, advice, start, moves })
    }
}

/// A difference as a share of a size; nothing of nothing is nothing.
fn share_of(difference: f64, size: f64) -> f64 {
    if difference == 0.0 { 0.0 } else { difference / size.max(f64::MIN_POSITIVE) }
}

impl Vary {
    fn listed(&self) -> Option<&[String]> {
        match &self.values {
            Values::Listed(values) => Some(values),
            Values::Range { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_listed_or_a_range() {
        let listed = Vary::read("router.buffer_flits=4,8").unwrap();
        assert!(matches!(listed.values, Values::Listed(values) if values == ["4", "8"]));
        let range = Vary::read("class.R1.vtick = 2..20").unwrap();
        assert_eq!(range.key, "class.R1.vtick");
        assert!(matches!(range.values, Values::Range { low: 2.0, high: 20.0 }));
        for typed in ["a", "a=", "a=1..", "a=2..1", "a=1..x", "a=1..1", "a=1,,2"] {
            assert!(Vary::read(typed).is_err(), "{typed}");
        }
    }

    #[test]
    fn whole_numbers_are_listed_and_steps_end_at_the_end() {
        let listed = |typed: &str| match Vary::read(typed).unwrap().values {
            Values::Listed(values) => values,
            Values::Range { .. } => panic!("{typed} is a range"),
        };
        let all = listed("router.buffer_flits=1..64");
        assert_eq!((all.len(), all[0].as_str(), all[63].as_str()), (64, "1", "64"));
        let some = listed("router.buffer_flits=1..65536");
        assert!(some.len() > 40 && some.len() <= 64 && some.iter().all(|one| one.parse::<u32>().is_ok()));
        assert_eq!((some[0].as_str(), some[some.len() - 1].as_str()), ("1", "65536"));
        assert_eq!(listed("router.buffer_flits=4..20:8"), ["4", "12", "20"]);
        assert_eq!(listed("class.R1.vtick=0..1:0.25"), ["0", "0.25", "0.5", "0.75", "1"]);
        assert_eq!(listed("class.R1.vtick=0..1:0.1")[3], "0.3");
        for typed in ["router.buffer_flits=1.5..8", "a=0..1:0", "a=0..1:-1", "a=0..1e9:1", "a=0..1:x"] {
            assert!(Vary::read(typed).is_err(), "{typed}");
        }
    }

    #[test]
    fn ranges_are_hit_at_both_ends_and_stay_within() {
        assert_eq!((Vary::at(2.0, 20.0, 0.0), Vary::at(2.0, 20.0, 1.0)), ("2".to_owned(), "20".to_owned()));
        assert_eq!(Vary::at(1.0, 100.0, 0.5), "10");
        assert_eq!(Vary::at(1.0, 9.0, 0.5), "5");
    }
}
