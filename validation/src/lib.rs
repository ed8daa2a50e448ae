//! Models beside simulations: comparisons, corrected models, accuracy over random scenarios, judged claims, and the
//! store that keeps every simulation.
//!
//! | module | what it holds |
//! |---|---|
//! | [`compare`] | models' answers beside a simulation's |
//! | [`campaign`], [`store`] | many scenarios, each simulated once and kept on disk, by one process or many |
//! | [`claims`] | a registry of claims, and how it is judged |
//! | [`advice`] | what else answers a scenario that a model refuses |
//! | [`origin`] | where a number comes from |
//! | [`machine`] | this computer, where simulations run |
//! | [`anchored`] | the refined model corrected by a handful of simulations |
//! | [`phases`] | numbers of a class phase by phase |
//! | [`accuracy`] | errors of a model over random scenarios |
//! | [`notes`] | how simulations measure, and what was found |

pub mod accuracy;
pub mod advice;
pub mod anchored;
pub mod campaign;
pub mod claims;
pub mod compare;
pub mod machine;
pub mod measured;
pub mod origin;
pub mod phases;
pub mod store;

#[doc = include_str!("../README.md")]
pub mod notes {}
