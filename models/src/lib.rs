#![doc = include_str!("../README.md")]

pub mod answer;
pub mod design;
pub mod document;
pub mod fixed_point;
pub mod lattice;
pub mod markov_chain;
pub mod model;
pub mod published;
pub mod queueing;
pub mod refined;
pub mod scenario;
pub mod sensitivity;
