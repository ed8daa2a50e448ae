//! Analytical queueing models of QoS-capable wormhole routers and the clusters made of them.
//!
//! A [`scenario`] says what is modelled; a model, such as the [`published`] one, gives an [`answer`]. Models
//! draw no random numbers and touch no files. Time is in router cycles, length in flits, rates are in messages
//! per cycle and node.
#![doc = include_str!("../README.md")]

pub mod answer;
pub mod fixed_point;
pub mod lattice;
pub mod markov_chain;
pub mod published;
pub mod scenario;
