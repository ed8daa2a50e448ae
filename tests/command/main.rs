//! The built command from outside, in one program: it is compiled and linked once.

#![allow(clippy::unwrap_used)] // helpers of tests, too, may fail a test

mod anchored;
mod campaign;
mod command_line;
mod compare;
mod every_model;
mod explain;
mod figures;
mod golden;
mod guides;
mod guides_tables;
#[cfg(unix)]
mod interruptions;
mod kills;
mod lessons;
#[cfg(unix)]
mod long_checks;
mod masked;
mod one_answer;
mod process;
mod report;
mod results;
#[cfg(unix)]
mod serve;
mod simulate;
#[cfg(unix)]
mod slurm;
mod tidy;
mod verify;
