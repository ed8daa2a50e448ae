//! What is modelled: specs as written down, scenarios as checked, and the built-in ones.
//!
//! A *spec* ([`ScenarioSpec`]) is a plain struct; a *scenario* ([`Scenario`]) is the same, checked once at the
//! door. Models take scenarios and never check again. A scenario file is TOML ([`Document`]).

mod base;
mod check;
mod grid;
mod overrides;
mod presets;
mod reader;
mod spec;
mod writer;

pub use crate::document::{Document, Fault, Place};
pub use base::Load;
pub use check::{MAX_DEADLINE_CYCLES, MAX_DEADLINES, MAX_FLITS, MAX_REAL_TIME_CLASSES, MIN_RATE, Scenario};
pub use grid::{Axis, Coupling, Grid, Setting};
pub(crate) use grid::{spread, whole_values};
pub(crate) use overrides::is_whole;
pub use presets::{PRESETS, Preset};
pub use reader::{keys, words_of};
pub use spec::{
    ClassKind, ClassSpec, DeadlineSpec, HopDeadlines, NetworkSpec, RouterSpec, ScenarioSpec, Scheduler,
    SourceSpec,
};
