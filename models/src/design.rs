//! Design questions: the models asked backwards.
//!
//! - [`max_load`]: by how much rates may grow until the first [`Requirement`] breaks, and what breaks it;
//! - [`choose`]: which of the given values serve an [`Objective`] best, requirements kept;
//! - [`region`]: which pairs of rates are admissible.
//!
//! All of them ask the model again and again and know nothing of what is inside it: a [`Judge`] puts the requirements
//! to one scenario, [`crossing`] finds along a line where the first of them breaks. An answer is always a scenario that
//! was solved and found to satisfy all requirements; where a search ends at a limit, a scenario just beyond was solved
//! too and found to break one.
//!
//! ```
//! use flitwise_models::design::{Judge, Requirement, max_load};
//! use flitwise_models::model::Model;
//! use flitwise_language::scenario::Preset;
//!
//! let spec = Preset::find("router16").unwrap().scenario().spec().clone();
//! let typed = ["R1: miss(47) <= 0.1".to_owned(), "BE: total <= 200".to_owned()];
//! let requirements = Requirement::read_all("--require", &typed, &spec).unwrap();
//! let judge = Judge::new(Some(Model::Published), requirements);
//! let question = max_load::Question::new(judge, &spec, vec![0, 1]).unwrap(); // R1 and R2
//! let found = question.answer().unwrap();
//! assert!(found.factor.unwrap() > 0.0);
//! ```

pub mod choose;
pub mod crossing;
mod judge;
pub mod max_load;
mod objective;
mod optimum;
pub mod region;
mod requirement;

pub use judge::{Binding, Correction, Judge, Judgement, RequirementState, Term};
pub use objective::{Objective, Over};
pub use requirement::Requirement;
