//! All integration tests of experiments in one program: it is compiled and linked once.

#![allow(clippy::unwrap_used, clippy::print_stdout)] // helpers of tests, too, may fail a test and tell of it

mod coverage;
mod destinations;
mod exact;
mod experiments;
mod frames;
