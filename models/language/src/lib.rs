//! The language of flitwise: what a system is, how it is written down, and which quantities are asked of it.
//!
//! A scenario file is read, checked once, and every fault in it is told with its place. Models and simulator take the
//! checked scenario. Nothing here reads a clock, a file or the state of a thread.
//!
//! ```
//! use flitwise_language::scenario::{Preset, ScenarioSpec};
//!
//! let scenario = Preset::find("router16").unwrap().scenario();
//! assert_eq!(scenario.classes()[0].name, "R1");
//! let faults = ScenarioSpec { classes: Vec::new(), ..ScenarioSpec::default() }.check().unwrap_err();
//! assert_eq!(faults.len(), 1);
//! ```
//!
//! | module | what it holds |
//! |---|---|
//! | [`scenario`] | specifications, checked scenarios, presets, grids: a file a table |
//! | [`network`] | topologies, a file each: nodes, channels, routes, words |
//! | [`quantity`] | the quantities of a class, each declared once |
//! | [`section`] | tables of an answer beside them |
//! | [`document`] | texts whose values know their places, and faults |

pub mod document;
pub mod network;
pub mod quantity;
pub mod scenario;
pub mod section;
