//! Estimates of means, proportions and percentiles from a set of runs, with 95 % confidence intervals.
//!
//! A *replication* is an independent run, a *batch* a part of it. Only sums per batch are kept. Observations of a run
//! are correlated, so whole batches or whole replications are compared and observations are never taken as independent.
//!
//! | estimate | function | method |
//! |---|---|---|
//! | mean | [`mean_of`] | ratio estimate, Student |
//! | proportion | [`proportion_of`] | Korn & Graubard 1998 |
//! | percentile | [`Histogram`], [`percentile_of`] | Woodruff 1952 |
//! | end of the warm-up | [`mser5`] | White, Cobb & Spratt 2000 |
//! | growth without bound | [`growth`] | Student, one-sided |
//!
//! A number that cannot be estimated is `None`; nothing here panics or returns NaN.

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
