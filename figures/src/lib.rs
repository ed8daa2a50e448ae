#![doc = include_str!("../README.md")]

pub mod draw;
pub mod picture;
