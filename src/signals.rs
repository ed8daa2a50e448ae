//! Ctrl-C and requests to terminate.

use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::outcome::INTERRUPTED;

/// Signals so close together are one.
const SAME_SIGNAL: Duration = Duration::from_millis(500);

/// Set by the first signal while somebody watches.
static STOP: AtomicBool = AtomicBool::new(false);
/// Whether there is something worth ending in order.
static WATCHED: AtomicBool = AtomicBool::new(false);
static HANDLER: Once = Once::new();

/// While it lives, the first signal sets [`Watch::stop`] and the second one ends the process; otherwise the first
/// one does.
pub(crate) struct Watch(());

impl Watch {
    pub(crate) fn begin() -> Self {
        HANDLER.call_once(install);
        WATCHED.store(true, Ordering::Relaxed);
        Self(())
    }

    /// Whether to stop.
    pub(crate) fn stop(&self) -> &'static AtomicBool {
        &STOP
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        WATCHED.store(false, Ordering::Relaxed);
    }
}

fn install() {
    let mut first: Option<Instant> = None;
    // without a handler a signal ends the process at once, which is better than not running
    let _ = ctrlc::set_handler(move || {
        STOP.store(true, Ordering::Relaxed);
        // some senders send two at once and mean one, even if nobody watches any more when the second one comes
        let is_first = first.is_none();
        let is_second = first.get_or_insert_with(Instant::now).elapsed() > SAME_SIGNAL;
        if is_second || is_first && !WATCHED.load(Ordering::Relaxed) {
            std::process::exit(i32::from(INTERRUPTED));
        }
    });
}
