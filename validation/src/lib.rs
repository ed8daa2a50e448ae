//! A flit-level simulator of the routers and n-cubes that `flitwise-models` has equations for, and the statistics that
//! turn its runs into numbers with confidence intervals.
//!
//! ```
//! use std::sync::atomic::AtomicBool;
//!
//! use flitwise_models::scenario::Preset;
//! use flitwise_validation::experiment::{Settings, run};
//!
//! let scenario = Preset::find("router16").unwrap().scenario();
//! let settings = Settings { precision: 0.05, ..Settings::default() };
//! let never = AtomicBool::new(false); // set it from elsewhere to interrupt the run
//! let simulation = run(&scenario, &settings, &never, &mut ()).expect("it can be simulated");
//! let latency = simulation.classes[0].network_latency_cycles.unwrap();
//! assert!((42.0..45.0).contains(&latency.mean)); // the model says 43.3
//! ```
//!
//! | module | what it holds |
//! |---|---|
//! | [`simulator`] | the routers and links, cycle by cycle |
//! | [`experiment`] | independent replications of a scenario until the intervals are narrow enough |
//! | [`packets`] | replications of packet switches with a run of given length |
//! | [`traces`] | messages listed in files: read, converted, made |
//! | [`statistics`] | intervals, percentiles, warm-up: methods only |
//! | [`answer`] | results with their units and intervals |
//! | [`compare`] | models' answers beside a simulation's |
//! | [`campaign`], [`store`] | many scenarios, each simulated once and kept on disk |
//! | [`claims`] | a registry of claims, and how it is judged |
//! | [`anchored`] | the refined model corrected by a handful of simulations |
//! | [`accuracy`] | errors of a model over random scenarios |
//! | [`diagram`] | pipeline diagrams of single messages |
//! | [`notes`] | the rules of the simulator to the cycle, and how it measures |

pub mod accuracy;
pub mod anchored;
pub mod answer;
pub mod campaign;
mod circuits;
pub mod claims;
pub mod compare;
pub mod diagram;
pub mod experiment;
mod frames;
mod measurement;
mod message;
pub mod packets;
pub mod simulator;
pub mod statistics;
pub mod store;
pub mod traces;

pub use message::{Arrival, Delivery, Drawn, FramePart, Offer};

#[doc = include_str!("../README.md")]
pub mod notes {}
