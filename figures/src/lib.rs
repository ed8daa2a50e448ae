#![doc = include_str!("../README.md")]

mod assemble;
pub mod draw;
pub mod figure;
pub mod picture;
pub mod published;
pub mod rows;
