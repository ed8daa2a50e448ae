//! All integration tests of experiments in one program: it is compiled and linked once.

#![allow(clippy::unwrap_used, clippy::print_stdout)] // helpers of tests, too, may fail a test and tell of it

mod coverage;
mod destinations;
#[path = "../../../../models/tests/models/drawn.rs"]
#[allow(dead_code, reason = "tests of the models use more of it")]
mod drawn;
mod draws;
mod exact;
mod experiments;
mod frames;
mod phases;
mod traces;

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use flitwise_experiment::answer::Simulation;
use flitwise_experiment::{self as experiment, Host, Listener, Settings};
use flitwise_language::scenario::Scenario;

/// Runs an experiment on threads of its own; 0: as many as there are cores.
fn run_on(
    threads: usize,
    scenario: &Scenario,
    settings: &Settings,
    listener: &mut dyn Listener,
) -> Simulation {
    let workers = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let (started, stop) = (Instant::now(), AtomicBool::new(false));
    let clock = || started.elapsed();
    let host =
        Host { clock: &clock, workers: &workers, read: &|name| std::fs::read_to_string(name), stop: &stop };
    experiment::run(scenario, settings, &host, listener).unwrap()
}
