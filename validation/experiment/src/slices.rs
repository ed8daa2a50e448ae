//! Experiments in slices, for a host that has one thread and other things to do: a browser.
//!
//! A run is a coroutine. Wherever its replications look whether to halt, they halt at the end of a slice, too, and the
//! run hands over. The next slice goes on at that very cycle, so that slices change no number.
//!
//! ```
//! use std::pin::pin;
//! use std::sync::atomic::AtomicBool;
//! use std::task::{Context, Poll, Waker};
//! use std::time::{Duration, Instant};
//!
//! use flitwise_experiment::{Host, Settings, Slice, run_in_slices};
//! use flitwise_language::scenario::Preset;
//!
//! let scenario = Preset::find("router16").unwrap().scenario();
//! let settings = Settings { precision: 0.05, ..Settings::default() };
//! let (started, workers) = (Instant::now(), rayon::ThreadPoolBuilder::new().build().unwrap());
//! let (clock, read) = (|| started.elapsed(), |name: &str| std::fs::read_to_string(name));
//! let stop = AtomicBool::new(false);
//! let host = Host { clock: &clock, workers: &workers, read: &read, stop: &stop };
//! let slice = Slice::default();
//! let mut nobody = ();
//! let mut run = pin!(run_in_slices(&scenario, &settings, &host, &mut nobody, &slice));
//! let simulation = loop {
//!     slice.end_at(clock() + Duration::from_millis(50));
//!     match run.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
//!         Poll::Ready(simulation) => break simulation.expect("it can be simulated"),
//!         Poll::Pending => {} // other things to do
//!     }
//! };
//! assert!(simulation.run.messages > 10_000);
//! ```

use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use flitwise_language::scenario::{Fault, Scenario};

use crate::answer::Simulation;
use crate::{Host, Listener, Settings, answer_of, block_in_slices, packets};

/// When a run hands over.
#[derive(Debug, Default)]
pub struct Slice {
    /// On the host's clock \[ns\].
    end: AtomicU64,
}

impl Slice {
    /// Lets the run go on until the host's clock shows this time, or some milliseconds longer.
    pub fn end_at(&self, time: Duration) {
        self.end.store(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    pub(crate) fn is_over(&self, now: Duration) -> bool {
        now.as_nanos() >= u128::from(self.end.load(Ordering::Relaxed))
    }
}

/// Runs an experiment as [`run`](crate::run) does, to the same bits, and hands over at the end of each slice.
///
/// # Errors
/// What [`supports`](crate::supports) says.
pub async fn run_in_slices(
    scenario: &Scenario,
    settings: &Settings,
    host: &Host<'_>,
    listener: &mut dyn Listener,
    slice: &Slice,
) -> Result<Simulation, Vec<Fault>> {
    if packets::are_switched(scenario) {
        return packets::run_in_slices(scenario, settings, host, listener, slice).await;
    }
    let block = block_in_slices(scenario, settings, host, listener, Some(slice)).await?;
    Ok(answer_of(scenario, settings, &[block], true))
}

/// Ends a slice; goes on when it is asked again.
pub(crate) async fn hand_over() {
    let mut is_next = false;
    poll_fn(|_| if std::mem::replace(&mut is_next, true) { Poll::Ready(()) } else { Poll::Pending }).await;
}

/// The outcome of a run that nothing cuts into slices.
pub(crate) fn at_once<T>(run: impl Future<Output = T>) -> T {
    match pin!(run).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(outcome) => outcome,
        Poll::Pending => unreachable!("only the end of a slice hands over"),
    }
}
