//! All integration tests of the models in one program: it is compiled and linked once.

#![allow(clippy::unwrap_used)] // helpers of tests, too, may fail a test

mod delays;
mod design;
mod drawn;
mod draws;
mod extremes;
mod mutations;
mod properties;
mod reference;
mod refined;
mod sensitivity;
mod silent_keys;
mod thread_time;
