//! All integration tests of the simulator in one program: it is compiled and linked once.

#![allow(clippy::unwrap_used, clippy::print_stdout)] // helpers of tests, too, may fail a test and tell of it

mod admission;
mod against_plain;
mod delays;
mod in_band;
mod lanes;
mod levels;
mod multiplexed;
mod packets;
mod sources;
mod traffic;
mod twins;
