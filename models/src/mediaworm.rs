//! The *mediaworm* model: streams of frames through wormhole routers whose virtual channels share a crossbar, beside best
//! effort.
//!
//! One file per argument: [`Framing`] load, [`MessageCount`] frame intervals, [`Contention`] crossbars and schedulers,
//! latency, [`Lanes`] saturation, [`Placement`] of streams, [`Interface`] and [`PeriodicQueue`] waiting, [`attempts`] and
//! losses of circuits. Numbers marked * were measured with a prototype of the simulator.

mod circuits;
mod crossbar;
mod frame_interval;
mod lanes;
mod latency;
mod load;
mod placement;
mod waiting;

pub use circuits::{Side, attempts, drawn_loss, erlang_fixed_point, established};
pub use crossbar::{Contention, Order};
pub use frame_interval::{FrameSize, MessageCount, deviation, mean_interval, pacing_variance, proven_bound};
pub use lanes::Lanes;
pub use latency::{best_effort_excess, real_time_excess};
pub use load::{Framing, jitter_free_bound};
pub use placement::{Placement, jitter_free_streams, share_beyond, streams_at_an_output};
pub use waiting::{Interface, PeriodicQueue};

#[cfg(test)]
fn assert_near(found: f64, expected: f64, relative: f64) {
    assert!((found - expected).abs() <= relative * expected.abs().max(1e-300), "{found} is not {expected}");
}
