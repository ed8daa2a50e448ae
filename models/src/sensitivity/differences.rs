//! Differences of whole answers, for what has no derivative in closed form: the refined model, miss probabilities,
//! whole numbers.

use super::output::Output;
use super::parameter::Parameter;
use super::slope::Slope;
use crate::answer::Answer;
use crate::model::Failure;
use flitwise_language::scenario::Scenario;

/// How far a parameter is moved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Step {
    /// By this share of its value and by half of it, to either side: Richardson's extrapolation of both differences,
    /// `(4 d(h/2) - d(h)) / 3`, whose distance from `d(h/2)` estimates the error.
    Richardson(f64),
    /// By this share of its value to either side.
    Share(f64),
    /// To the whole numbers on either side.
    Neighbours,
}

/// What was found: a slope, or why there is none.
pub(super) type SlopeResult = Result<Slope, String>;

/// The slopes of all `outputs` of `answer` by one parameter.
pub(super) fn slopes(
    solve: &Solve<'_>,
    scenario: &Scenario,
    answer: &Answer,
    parameter: &Parameter,
    outputs: &[Output],
    step: Step,
) -> Vec<SlopeResult> {
    let asked = Differences { solve, scenario, parameter, outputs };
    let base: Vec<Result<f64, String>> = outputs.iter().map(|output| output.value(answer)).collect();
    let (below, above) = match step {
        Step::Richardson(h) | Step::Share(h) => (asked.at(Move::Share(-h)), asked.at(Move::Share(h))),
        Step::Neighbours => (asked.at(Move::Whole(-1.0)), asked.at(Move::Whole(1.0))),
    };
    let half = match step {
        Step::Richardson(h) => Some((asked.at(Move::Share(-h / 2.0)), asked.at(Move::Share(h / 2.0)))),
        _ => None,
    };
    // steps in units of the parameter's own value
    let unit = match step {
        Step::Richardson(h) | Step::Share(h) => h,
        Step::Neighbours => 1.0 / parameter.mean(scenario),
    };
    let slope = |index: usize| -> SlopeResult {
        let base = base[index].clone()?;
        let (down, up) = (side(&below, index), side(&above, index));
        let (down, up) = match (down, up) {
            (Ok(down), Ok(up)) => ((base - down) / unit, (up - base) / unit),
            // the scenario's own bounds leave one side
            (Err(NoNumber::NoScenario(_)), Ok(up)) => {
                return Ok(Slope { above: Some((up - base) / unit), ..Slope::default() });
            }
            (Ok(down), Err(NoNumber::NoScenario(_))) => {
                return Ok(Slope { below: Some((base - down) / unit), ..Slope::default() });
            }
            (Err(missing), _) | (_, Err(missing)) => return Err(missing.words()),
        };
        let whole = f64::midpoint(down, up);
        let (central, error) = match &half {
            None => (whole, (up - down).abs() / 2.0),
            Some((below, above)) => {
                let value = |side: Result<f64, NoNumber>| side.map_err(NoNumber::words);
                let fine = (value(self::side(above, index))? - value(self::side(below, index))?) / unit;
                ((4.0 * fine - whole) / 3.0, ((4.0 * fine - whole) / 3.0 - fine).abs())
            }
        };
        let sides = half.is_none();
        Ok(Slope {
            central: Some(central),
            below: sides.then_some(down),
            above: sides.then_some(up),
            error: Some(error),
        })
    };
    (0..outputs.len()).map(slope).collect()
}

/// Where to a parameter is moved.
#[derive(Clone, Copy)]
enum Move {
    Share(f64),
    Whole(f64),
}

impl Move {
    fn words(self, parameter: &Parameter) -> String {
        match self {
            Self::Share(share) => {
                let more = if share > 0.0 { "more" } else { "less" };
                format!("{} % {more} of {}", 100.0 * share.abs(), parameter.key)
            }
            Self::Whole(step) => format!("{} {step:+}", parameter.key),
        }
    }
}

/// Why a moved scenario has no number.
#[derive(Clone, Debug)]
enum NoNumber {
    /// There is no such scenario.
    NoScenario(String),
    /// It has no such number.
    NoValue(String),
}

impl NoNumber {
    fn words(self) -> String {
        match self {
            Self::NoScenario(why) | Self::NoValue(why) => why,
        }
    }
}

type Movements = Result<Vec<Result<f64, NoNumber>>, NoNumber>;

fn side(moved: &Movements, index: usize) -> Result<f64, NoNumber> {
    match moved {
        Ok(values) => values[index].clone(),
        Err(missing) => Err(missing.clone()),
    }
}

/// The answer to a scenario.
pub(super) type Solve<'s> = dyn Fn(&Scenario) -> Result<Answer, Failure> + 's;

struct Differences<'a> {
    solve: &'a Solve<'a>,
    scenario: &'a Scenario,
    parameter: &'a Parameter,
    outputs: &'a [Output],
}

impl Differences<'_> {
    /// Values of all outputs once the parameter is moved.
    fn at(&self, to: Move) -> Movements {
        let words = to.words(self.parameter);
        let change = |value: f64| match to {
            Move::Share(share) => value * (1.0 + share),
            Move::Whole(step) => value + step,
        };
        let scenario = self
            .parameter
            .changed(self.scenario, change)
            .map_err(|fault| NoNumber::NoScenario(format!("{words}: {fault}")))?;
        let answer = (self.solve)(&scenario);
        let answer = answer.map_err(|failure| NoNumber::NoValue(format!("{words}: {failure}")))?;
        let value = |output: &Output| {
            let saturated = answer.classes[output.class].saturated;
            let value = output.value(&answer).and_then(|value| {
                if saturated { Err("the class is saturated there".to_owned()) } else { Ok(value) }
            });
            value.map_err(|why| NoNumber::NoValue(format!("{words}: {why}")))
        };
        Ok(self.outputs.iter().map(value).collect())
    }
}
