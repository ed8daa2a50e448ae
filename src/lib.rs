//! flitwise predicts message latency and deadline misses in cluster interconnects built from wormhole routers.
//!
//! People use the command `flitwise`, programs this library. A *scenario* goes in, an *answer* comes out. Time is
//! in router cycles, length in flits, rates in messages per cycle and node.
//!
//! ```
//! use flitwise::models::model::{Model, Options};
//! use flitwise::language::scenario::ScenarioSpec;
//!
//! let mut spec = ScenarioSpec::default(); // the 16-port router of the 2005 paper
//! spec.classes[0].rate = 0.006;
//! let scenario = spec.check().expect("every value is in its range");
//!
//! let model = Model::usual(&scenario); // the refined model, if it can answer
//! let answer = model.solve(&scenario, &Options::default()).expect("the iteration converges");
//! let r1 = &answer.classes[0];
//! assert_eq!(format!("{:.0} cycles", r1.network_latency_cycles.unwrap()), "44 cycles");
//! assert!(!r1.saturated);
//! ```
//!
//! The simulator answers the same scenario with a confidence interval for each number:
//!
//! ```
//! use flitwise::language::scenario::ScenarioSpec;
//! use flitwise::experiment::{Settings, run};
//! use flitwise::validation::machine::Machine;
//! use std::sync::atomic::AtomicBool;
//!
//! let scenario = ScenarioSpec::default().check().expect("Table 1 is sound");
//! let settings = Settings { precision: 0.05, ..Settings::default() };
//! let (machine, stop) = (Machine::default(), AtomicBool::new(false)); // set it from elsewhere to interrupt the run
//! let simulation = run(&scenario, &settings, &machine.host(&stop), &mut ()).expect("it can be simulated");
//! let latency = simulation.classes[0].network_latency_cycles.unwrap().mean;
//! assert!((42.0..45.0).contains(&latency));
//! ```
//!
//! | module | what it holds |
//! |---|---|
//! | [`language`] | scenarios, topologies and quantities: what a system is and what is asked of it |
//! | [`models`] | the analytical models, textbook stations, sensitivities, planning |
//! | [`simulator`] | wormhole routers and packet switches, cycle by cycle |
//! | [`experiment`] | replications of a simulation, and their intervals |
//! | [`validation`] | comparison with models, accuracy, the store, the registry of claims |
//! | [`figures`] | figures as data, and what draws them |
//! | [`command`] | the command as a function, for programs that ask as people do |
//! | [`console`] | where the output of such a call goes |

mod accuracy;
mod anchoring;
mod args;
mod campaign;
mod campaigns;
pub mod command;
mod compare;
mod complete;
pub mod console;
mod explain;
mod figure;
mod files;
mod help;
mod input;
mod learn;
mod man;
mod outcome;
mod output;
mod place;
mod plan;
mod plot;
mod presets;
mod progress;
mod report;
mod schema;
mod sensitivity;
mod serve;
mod signals;
mod simulate;
mod solve;
mod station;
mod store;
mod sweep;
mod topology;
mod traces;
mod typed;
mod verify;

#[doc(inline)]
pub use flitwise_experiment as experiment;
#[doc(inline)]
pub use flitwise_figures as figures;
#[doc(inline)]
pub use flitwise_language as language;
#[doc(inline)]
pub use flitwise_models as models;
#[doc(inline)]
pub use flitwise_simulator as simulator;
#[doc(inline)]
pub use flitwise_validation as validation;
