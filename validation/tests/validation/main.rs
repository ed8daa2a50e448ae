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

use std::sync::atomic::AtomicBool;

use flitwise_experiment::answer::Simulation;
use flitwise_experiment::{self as experiment, Settings};
use flitwise_language::scenario::Scenario;
use flitwise_validation::campaign::Outcome;
use flitwise_validation::machine::Machine;
use flitwise_validation::store::Store;

/// One scenario simulated by all threads of this computer.
fn simulate(scenario: &Scenario, settings: &Settings) -> Simulation {
    let (machine, never) = (Machine::default(), AtomicBool::new(false));
    experiment::run(scenario, settings, &machine.host(&never), &mut ()).unwrap()
}

/// Several ones, with a store or without.
fn simulate_all(scenarios: &[Scenario], settings: &Settings, store: Option<&Store>) -> Outcome {
    let (machine, never) = (Machine::default(), AtomicBool::new(false));
    flitwise_validation::campaign::run(scenarios, settings, store, &machine.host(&never), &mut ()).unwrap()
}
