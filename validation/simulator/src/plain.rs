//! The simulators as their rules read, each rule of [the notes](crate::notes) under its number.
//!
//! They are slow. The fast simulators must deliver every message and packet in the same cycle or tick, and
//! [`diagram`](crate::diagram) draws the flits of [`wormhole`].

pub mod circuits;
pub mod packet;
mod rules;
pub mod wormhole;

pub use wormhole::{replay, replay_offers};
