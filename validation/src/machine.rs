//! This computer, where experiments run: its clock, its threads and its files.

use std::fs;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use flitwise_experiment::{self as experiment, Host, ReadFile};
use flitwise_language::scenario::{Fault, Scenario};
use rayon::{ThreadPool, ThreadPoolBuilder};

/// Reads a file by its name from the working directory.
pub const READ: &ReadFile<'static> = &|name| fs::read_to_string(name);

/// What of a scenario there is no simulator for; traces are read.
///
/// # Errors
/// All of it, at once.
pub fn supports(scenario: &Scenario) -> Result<(), Vec<Fault>> {
    experiment::supports(scenario, READ)
}

/// Clock and threads of this computer.
pub struct Machine {
    clock: Box<dyn Fn() -> Duration + Send + Sync>,
    workers: ThreadPool,
}

impl Machine {
    /// With so many threads; `None`: as many as there are cores.
    ///
    /// # Panics
    /// If a thread cannot be started.
    pub fn new(threads: Option<usize>) -> Self {
        let workers = ThreadPoolBuilder::new().num_threads(threads.unwrap_or(0)).build();
        let workers = workers.unwrap_or_else(|error| panic!("no threads: {error}"));
        let started = Instant::now();
        Self { clock: Box::new(move || started.elapsed()), workers }
    }

    /// A place for experiments that end soon once `stop` is set.
    pub fn host<'m>(&'m self, stop: &'m AtomicBool) -> Host<'m> {
        Host { clock: &self.clock, workers: &self.workers, read: READ, stop }
    }
}

impl Default for Machine {
    fn default() -> Self {
        Self::new(None)
    }
}
