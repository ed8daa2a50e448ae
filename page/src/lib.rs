//! The engine behind the page: a request as JSON goes in, an answer as JSON comes out.
//!
//! It runs in a browser as WebAssembly, and anywhere else as a library. Answers have the schemas of the command,
//! pictures are drawn by `flitwise-figures`, and faults are worded as the command words them. The engine knows no file
//! and no clock of its own.
//!
//! ```
//! use std::sync::Arc;
//! use std::time::Instant;
//!
//! use flitwise_page::Engine;
//!
//! let started = Instant::now();
//! let workers = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
//! let mut engine = Engine::new(Arc::new(move || started.elapsed()), Arc::new(workers));
//! let answer = engine.answer(r#"{ "ask": "preset", "name": "router16" }"#);
//! assert!(answer.starts_with(r#"{"text":"#));
//! let fault = engine.answer(r#"{ "ask": "scenario", "text": "name = 1" }"#);
//! assert!(fault.contains(r#""line":1"#));
//! assert!(engine.answer("{").starts_with(r#"{"fault":"#));
//! ```
//!
//! | module | what it holds |
//! |---|---|
//! | [`request`] | what can be asked, and the shapes of the answers |
//! | `lessons` | the lessons, and their pages; not in a browser, where they are files |
//! | [`wording`] | a scenario as a line of the command |
//! | `files` | the files of the page, but for the engine; not in the browser |
//! | [`notes`] | how the page is built, how fast it is |

mod curve;
mod engine;
#[cfg(not(target_family = "wasm"))]
pub mod files;
mod form;
#[cfg(not(target_family = "wasm"))]
pub mod lessons;
mod pictures;
pub mod request;
mod simulation;
mod tables;
pub mod wording;

#[cfg(target_family = "wasm")]
mod abi;

pub use engine::{Clock, Engine};

#[doc = include_str!("../README.md")]
pub mod notes {}
