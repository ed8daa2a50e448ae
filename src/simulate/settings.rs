//! Simulation settings from the options.

use flitwise_experiment::{MAX_REPLICATIONS, Settings};

use crate::args::Simulate;
use crate::outcome::Ended;
use crate::typed::{self, Options, precision, time, within};

/// The longest warm-up \[cycles\].
const MOST_WARMUP: u64 = 1_000_000_000_000;
/// The most messages that are watched.
const MOST_WATCHED: u64 = 1_000;

/// Settings and the number of messages to watch, or everything that is wrong with them.
pub(super) fn read(args: &Simulate) -> Result<(Settings, Option<u32>), Ended> {
    let mut faults = Vec::new();
    let mut read = Options { faults: &mut faults };
    let watched = read.option("watch", &args.watch, within(1..=MOST_WATCHED, "1 to 1000 messages"));
    let replications = within(1..=u64::from(MAX_REPLICATIONS), "1 to 1000 replications");
    let warmup = within(0..=MOST_WARMUP, "0 to 1e12 cycles, such as 20000 or 2e4");
    let settings = Settings {
        seed: read.value("seed", &args.seed, typed::seed),
        precision: read.value("precision", &args.precision, precision),
        max_messages: read.value("max-messages", &args.max_messages, typed::max_messages),
        max_time: read.option("max-time", &args.max_time, time),
        warmup_cycles: read.option("warmup", &args.warmup, warmup),
        replications: read.option("replications", &args.replications, replications).map(|n| n as u32),
        details: args.details,
        threads: read.option("threads", &args.threads, typed::threads),
        ..Settings::default()
    };
    if faults.is_empty() { Ok((settings, watched.map(|n| n as u32))) } else { Err(Ended::BadInput(faults)) }
}
