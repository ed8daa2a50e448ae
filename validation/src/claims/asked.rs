//! What a claim is about: a quantity, or a column of numbers phase by phase.

use flitwise_language::quantity::{Measure, Unit};
use flitwise_language::scenario::DeadlineSpec;

use crate::phases::PhaseColumn;

/// What is asked of a class.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Asked {
    /// A quantity of the whole run.
    Measure(Measure),
    /// A column of the section `phases`.
    Phases {
        /// Which.
        column: PhaseColumn,
        /// The phases that are judged, by their place on the axis; empty: all.
        at: Vec<f64>,
    },
}

impl Asked {
    /// Takes name and unit of a column of that field, if there is one.
    pub(super) fn take_column(&mut self, known: &[PhaseColumn]) {
        if let Self::Phases { column, .. } = self
            && let Some(found) = known.iter().find(|one| one.field == column.field)
        {
            column.clone_from(found);
        }
    }

    /// In a sentence.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Measure(measure) => measure.name(),
            Self::Phases { column, .. } => column.name.clone(),
        }
    }

    pub(super) fn unit(&self) -> Unit {
        match self {
            Self::Measure(measure) => measure.quantity.unit(),
            Self::Phases { column, .. } => column.unit,
        }
    }

    /// Its unit in words.
    pub(super) fn unit_word(&self) -> &'static str {
        match self {
            Self::Measure(measure) => measure.quantity.unit().word(),
            Self::Phases { column, .. } => column.unit_word(),
        }
    }

    /// Whether differences of it are differences of shares, not shares of a value.
    pub(super) fn is_share(&self) -> bool {
        matches!(self.unit(), Unit::Load | Unit::Probability)
    }

    pub(super) fn needs_distribution(&self) -> bool {
        matches!(self, Self::Measure(measure) if measure.quantity.needs_distribution())
    }

    pub(super) fn deadline(&self) -> Option<DeadlineSpec> {
        match self {
            Self::Measure(measure) => measure.deadline(),
            Self::Phases { .. } => None,
        }
    }
}

impl From<Measure> for Asked {
    fn from(measure: Measure) -> Self {
        Self::Measure(measure)
    }
}
