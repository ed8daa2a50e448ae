#![doc = include_str!("../README.md")]

mod message;
pub mod simulator;
pub mod statistics;

pub use message::{Arrival, Delivery};
