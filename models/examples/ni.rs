//! scratch
fn main() { flitwise_models::refined::debug_ni4(); }
