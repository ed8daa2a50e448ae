//! Figures as data: a file names the numbers, models and simulations compute them, and a picture shows them.
//!
//! ```
//! use flitwise_figures::draw::{Style, svg};
//! use flitwise_figures::published::Published;
//!
//! let figure = Published::find("chain").unwrap().figure().expect("a built-in figure is sound");
//! assert!(figure.scenarios().is_empty()); // it needs no simulation
//! let picture = figure.picture(&[]);
//! assert!(svg(&picture, &Style::default()).starts_with("<svg"));
//! ```
//!
//! | module | what it holds |
//! |---|---|
//! | [`figure`] | the file of a figure, checked |
//! | [`published`] | the built-in figures |
//! | [`picture`] | the numbers of a figure |
//! | [`rows`] | the same as CSV |
//! | [`stamp`] | which models and simulator made a picture |
//! | [`sweep`] | a scenario over a grid: rows and curves |
//! | [`draw`] | SVG and PNG |
//! | [`notes`] | kinds of figures, with questions and answers |

pub mod anchored;
mod assemble;
pub mod draw;
pub mod figure;
mod kinds;
mod note;
pub mod picture;
pub mod published;
pub mod rows;
pub mod stamp;
pub mod sweep;

#[doc = include_str!("../README.md")]
pub mod notes {}
