//! What decides who may enter, how fast, and at what cost: admission of connections, congestion control at network
//! interfaces, and power.

pub(crate) mod admission;
pub(crate) mod congestion;
pub(crate) mod power;
pub(crate) mod stations;
