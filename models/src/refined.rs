//! The *refined* model, which is not there yet: every scenario is refused by name.

use crate::answer::Answer;
use crate::model::Model;
use crate::scenario::Scenario;

pub use crate::model::{Failure, Options};

/// A place from which the iteration of a similar scenario may set out: the answer to this one.
#[derive(Clone, Debug, PartialEq)]
pub struct WarmStart {}

/// Solves the model.
///
/// # Errors
/// When the scenario holds something that the model has not, or no fixed point is found. Saturation is no error.
pub fn solve(scenario: &Scenario, options: &Options) -> Result<Answer, Failure> {
    solve_from(scenario, options, None).map(|(answer, _)| answer)
}

/// Solves the model from a warm start, where that leads to the same answer, and hands out the next one.
///
/// # Errors
/// As [`solve`].
pub fn solve_from(
    scenario: &Scenario,
    _options: &Options,
    _start: Option<&WarmStart>,
) -> Result<(Answer, WarmStart), Failure> {
    supports(scenario)?;
    unreachable!("no scenario is in the model")
}

/// Whether the model has all that the scenario holds.
///
/// # Errors
/// What it has not.
pub fn supports(scenario: &Scenario) -> Result<(), Failure> {
    Err(Failure::Refused {
        model: Model::Refined,
        key: "network".to_owned(),
        because: format!("is not there yet and answers no scenario, {} neither", scenario.spec().name),
    })
}
