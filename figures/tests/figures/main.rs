//! All integration tests of the figures in one program: it is compiled and linked once.

#![allow(clippy::unwrap_used)] // helpers of tests, too, may fail a test

mod drawing;
mod fonts;
mod gallery;
mod network_diagrams;
mod network_maps;
mod samples;
