//! All integration tests of the simulator and its statistics in one program: it is compiled and linked once.

#![allow(clippy::unwrap_used, clippy::print_stdout)] // helpers of tests, too, may fail a test and tell of it

mod accuracy;
mod against_plain;
mod anchored;
mod campaign;
mod circuits;
mod claims;
mod destinations;
mod exact;
mod experiments;
mod frames;
mod multiplexed;
mod store;
mod two_models;
