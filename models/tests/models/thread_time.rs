//! Time as others on the machine do not change it.

use std::time::Instant;

/// Seconds that this thread has run, or that have gone by where the system does not say.
pub(crate) fn seconds(begun: Instant) -> f64 {
    let ran = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = ran.as_ref().and_then(|ran| ran.split(' ').next()?.parse::<f64>().ok());
    nanoseconds.map_or_else(|| begun.elapsed().as_secs_f64(), |ran| ran / 1e9)
}
