//! What a set of runs says about a mean, a share, a percentile: estimates with 95 % intervals.
//!
//! A *replication* is an independent run, a *batch* a stretch of it. Only sums per batch are kept, so that
//! correlation between the observations of a run is met by comparing whole batches or whole replications,
//! never by treating observations as independent.
//!
//! | question | answer | method |
//! |---|---|---|
//! | how large is it on average? | [`mean_of`] | ratio estimate, Student |
//! | how often does it happen? | [`proportion_of`] | Korn & Graubard 1998 |
//! | what does a share `p` keep within? | [`Histogram`], [`percentile_of`] | Woodruff 1952 |
//! | when does the start no longer show? | [`mser5`] | White, Cobb & Spratt 2000 |
//! | does it grow without end? | [`growth`] | Student, one-sided |
//!
//! What cannot be known is `None`; nothing here panics or gives a NaN.

mod beta;
mod histogram;
mod interval;
mod mser;
mod percentile;
mod proportion;
#[cfg(test)]
mod synthetic;
mod trend;

pub use beta::student_quantile;
pub use histogram::Histogram;
pub use interval::{Batch, Mean, mean_of};
pub use mser::{Truncation, mser5};
pub use percentile::{Percentile, percentile_of, shares_within};
pub use proportion::{Proportion, design_effect, proportion_of};
pub use trend::{Growth, growth};
