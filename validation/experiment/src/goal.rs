//! The blocks that settings ask for, and whether stored blocks are these.
//!
//! Blocks are run one after another until the precision is reached. The settings of a block follow from the blocks
//! before it. So the settings of an experiment determine its blocks if the store is empty. A block records the settings
//! with which it was run, so that blocks of other experiments are recognised.

use flitwise_language::scenario::Scenario;
use serde::{Deserialize, Serialize};

use super::Settings;
use super::block::{Block, Measurements, Stop};

/// Times more replications are added at most; what is there then has to do.
pub const MOST_ADDITIONS: usize = 4;
/// How much narrower than needed an addition is to be, so that chance does not ask for another.
const RESERVE: f64 = 0.97;

/// What decides when a block ends.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Goal {
    /// Wanted half-width, as a share of the mean.
    pub precision: f64,
    /// Most messages to measure.
    pub max_messages: u64,
}

impl Goal {
    /// What settings ask for.
    pub fn of(settings: &Settings) -> Self {
        Self { precision: settings.precision, max_messages: settings.max_messages }
    }
}

/// Whether nothing would be gained, or is allowed, by simulating on.
pub fn is_enough(scenario: &Scenario, settings: &Settings, blocks: &[Block]) -> bool {
    let Some(last) = blocks.last() else { return false };
    let measured = Measurements::of(scenario, settings, blocks);
    let is_precise = measured.is_narrow() && measured.suspicious_class().is_none();
    let ended =
        matches!(last.stop, Stop::Saturated | Stop::NoTraffic | Stop::MaxCycles | Stop::End | Stop::Frames);
    ended || is_precise || measured.messages() >= settings.max_messages
}

/// How to simulate what `blocks` lack.
pub fn addition(scenario: &Scenario, settings: &Settings, blocks: &[Block]) -> Settings {
    if blocks.is_empty() {
        return settings.clone();
    }
    let measured = Measurements::of(scenario, settings, blocks);
    let wanted = settings.precision;
    // half-widths of two sets of replications together: 1 / w² = 1 / w1² + 1 / w2²
    let precision = match measured.least_precise() {
        Some((_, width)) if width > wanted => 1.0 / (wanted.powi(-2) - width.powi(-2)).sqrt(),
        _ => wanted,
    };
    Settings {
        first_replication: measured.last().next_replication(),
        precision: (RESERVE * precision).min(0.5),
        max_messages: settings.max_messages.saturating_sub(measured.messages()).max(1),
        ..settings.clone()
    }
}

/// How many of `blocks`, from the first on, are those that `settings` alone ask for.
pub fn asked_alone(scenario: &Scenario, settings: &Settings, blocks: &[Block]) -> usize {
    for used in 0..blocks.len().min(MOST_ADDITIONS + 1) {
        let so_far = &blocks[..used];
        let is_next = || blocks[used].asked == Goal::of(&addition(scenario, settings, so_far));
        if is_enough(scenario, settings, so_far) || !is_next() {
            return used;
        }
    }
    blocks.len().min(MOST_ADDITIONS + 1)
}
