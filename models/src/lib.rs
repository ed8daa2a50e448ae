//! Analytical models of wormhole routers with quality of service, and of clusters built from them.
//!
//! A checked scenario goes in and an answer comes out. No random numbers, no files. Time is in router cycles, length in
//! flits, rates in messages per cycle and node.
//!
//! ```
//! use flitwise_models::model::{Model, Options};
//! use flitwise_language::scenario::Preset;
//!
//! let scenario = Preset::find("router16").unwrap().scenario();
//! let answer = Model::DEFAULT.solve(&scenario, &Options::default()).expect("it has an answer");
//! let r1 = &answer.classes[0];
//! assert_eq!(format!("{:.0} cycles", r1.network_latency_cycles.unwrap()), "43 cycles");
//! assert_eq!(format!("{:.1}", r1.deadlines[0].miss_probability.unwrap()), "0.3"); // of 42 cycles
//! println!("{}", answer.report); // converged after 18 iterations, residual 1.0e-4
//! ```
//!
//! | module | what it holds |
//! |---|---|
//! | [`model`] | the models behind one interface, and the default |
//! | [`admission`] | admission, congestion and power control: formulas |
//! | [`mediaworm`] | streams of frames beside best effort |
//! | [`refined`] | our own model |
//! | [`recn`] | packet switches of multistage networks, and congestion trees |
//! | [`router_nic`] | preemptive routers and interfaces behind a host bus: formulas |
//! | [`published`] | the model of Kim, Yum and Das (2005), a file for each argument of the paper |
//! | [`paths`] | channel loads, and the bounds that follow |
//! | [`answer`] | results with their units |
//! | [`document`] | answers as JSON documents |
//! | [`table`] | digits, units and CSV columns of an answer |
//! | [`accuracy`] | how far models are off the simulation, as measured: the errors to expect |
//! | [`design`] | plans: the largest load, the best values, the admissible region |
//! | [`sensitivity`] | derivatives and elasticities of an answer |
//! | [`queueing`] | textbook stations |
//! | [`fixed_point`], [`markov_chain`], [`lattice`], [`nelder_mead`] | methods |
//! | [`scalar`] | numbers that equations take: plain ones, and ones that carry their slopes |
//! | [`notes`] | equations and where they are, readings of the paper, what is known to be off |

pub mod accuracy;
pub mod admission;
pub mod answer;
pub mod design;
pub mod document;
pub mod fixed_point;
pub mod lattice;
pub mod markov_chain;
pub mod mediaworm;
pub mod model;
pub mod nelder_mead;
pub mod paths;
pub mod published;
pub mod queueing;
pub mod recn;
pub mod refined;
pub mod router_nic;
pub mod scalar;
pub mod sensitivity;
pub mod table;

#[doc = include_str!("../README.md")]
pub mod notes {}
