//! Analytical models of wormhole routers with quality of service, and of clusters built from them.
//!
//! A checked scenario goes in and an answer comes out. No random numbers, no files. Time is in router cycles, length in
//! flits, rates in messages per cycle and node.
//!
//! ```
//! use flitwise_models::model::{Model, Options};
//! use flitwise_models::scenario::Preset;
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
//! | [`scenario`] | what is modelled: specifications, checked scenarios, presets, grids |
//! | [`model`] | the models behind one interface, and the default |
//! | [`mediaworm`] | streams of frames beside best effort |
//! | [`refined`] | our own model |
//! | [`recn`] | packet switches of multistage networks, and congestion trees |
//! | [`published`] | the model of Kim, Yum and Das (2005), a file for each argument of the paper |
//! | [`network`] | topologies, a file each: nodes, channels, routes, words |
//! | [`paths`] | channel loads, and the bounds that follow |
//! | [`quantity`] | the quantities of a class, each declared once |
//! | [`answer`] | results with their units |
//! | [`accuracy`] | how far models are off the simulation, as measured: the errors to expect |
//! | [`design`] | plans: the largest load, the best values, the admissible region |
//! | [`sensitivity`] | derivatives and elasticities of an answer |
//! | [`queueing`] | textbook stations |
//! | [`fixed_point`], [`markov_chain`], [`lattice`], [`nelder_mead`] | methods |
//! | [`scalar`] | numbers that equations take: plain ones, and ones that carry their slopes |
//! | [`document`] | texts whose values know their places, and faults |
//! | [`notes`] | equations and where they are, readings of the paper, what is known to be off |

pub mod accuracy;
pub mod answer;
pub mod design;
pub mod document;
pub mod fixed_point;
pub mod lattice;
pub mod markov_chain;
pub mod mediaworm;
pub mod model;
pub mod nelder_mead;
pub mod network;
pub mod paths;
pub mod published;
pub mod quantity;
pub mod queueing;
pub mod recn;
pub mod refined;
pub mod scalar;
pub mod scenario;
pub mod sensitivity;

#[doc = include_str!("../README.md")]
pub mod notes {}
