//! What decides who may enter, how fast, and at what cost: congestion control at network interfaces, and power.

pub(crate) mod congestion;
pub(crate) mod power;
