#![doc = include_str!("../README.md")]

pub mod accuracy;
pub mod answer;
pub mod campaign;
pub mod claims;
pub mod compare;
pub mod diagram;
pub mod experiment;
mod measurement;
mod message;
pub mod simulator;
pub mod statistics;
pub mod store;

pub use message::{Arrival, Delivery};
