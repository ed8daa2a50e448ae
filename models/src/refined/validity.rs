//! Where an answer stands among the scenarios that were checked by simulation.

use crate::answer::Answer;
use crate::scenario::Scenario;

/// Puts the errors to expect into the answer.
pub(super) fn judge(_scenario: &Scenario, _answer: &mut Answer) {}
