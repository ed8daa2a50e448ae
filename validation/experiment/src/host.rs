//! What the program that runs an experiment gives it: a clock, threads, files and a way to interrupt it.
//!
//! Experiments have none of these themselves, so that they run in a browser, too. There a pool of one worker is the
//! calling thread itself: `ThreadPoolBuilder::new().num_threads(1).use_current_thread()`.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rayon::ThreadPool;

/// Reads the text of a file that a scenario names.
pub type ReadFile<'h> = dyn Fn(&str) -> io::Result<String> + Sync + 'h;

/// Where an experiment runs.
#[derive(Clone, Copy)]
pub struct Host<'h> {
    /// The time since a moment that is the same for all calls. It decides when [`max_time`](crate::Settings::max_time)
    /// is over and how fast a run is said to be, and nothing else.
    pub clock: &'h (dyn Fn() -> Duration + Sync),
    /// The threads; their number changes nothing but the time.
    pub workers: &'h ThreadPool,
    /// Where traces are read.
    pub read: &'h ReadFile<'h>,
    /// Once it is set, runs end soon with what they have.
    pub stop: &'h AtomicBool,
}

impl Host<'_> {
    /// The time on its clock.
    pub fn now(&self) -> Duration {
        (self.clock)()
    }

    /// Whether runs are to end.
    pub fn is_interrupted(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Its threads, as a run reports them.
    pub(crate) fn threads(&self) -> u32 {
        self.workers.current_num_threads() as u32
    }
}
