//! All integration tests of the package in one program: it is compiled and linked once.

#![allow(clippy::unwrap_used, clippy::print_stdout)] // helpers of tests, too, may fail a test and tell of it

mod accuracy;
mod anchored;
mod campaign;
mod circuits;
mod claims;
mod packets;
mod store;
mod two_models;
