//! Simulation settings from the options.

use flitwise_experiment::{self as experiment, MAX_REPLICATIONS, Settings};
use flitwise_language::scenario::Scenario;
use flitwise_validation::machine::Machine;

use crate::args::Simulate;
use crate::outcome::Exit;
use crate::typed::{self, Options, precision, time, within};

/// The longest warm-up \[cycles\].
const MOST_WARMUP: u64 = 1_000_000_000_000;
/// The most messages that are watched.
const MOST_WATCHED: u64 = 1_000;

/// Settings, threads and the number of messages to watch, or everything that is wrong with them.
pub(super) fn read(args: &Simulate) -> Result<(Settings, Machine, Option<u32>), Exit> {
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
        ..Settings::default()
    };
    let threads = read.option("threads", &args.threads, typed::threads);
    if !faults.is_empty() {
        return Err(Exit::BadInput(faults));
    }
    Ok((settings, Machine::new(threads), watched.map(|n| n as u32)))
}

/// Options that runs of such a system have nothing for.
pub(super) fn idle(args: &Simulate, scenario: &Scenario) -> Vec<String> {
    let given = |option: &str| match option {
        "trace" => args.trace.is_some(),
        "details" => args.details,
        "watch" => args.watch.is_some(),
        "warmup" => args.warmup.is_some(),
        "precision" => args.precision != "1%",
        "max-messages" => args.max_messages != "1e7",
        _ => false,
    };
    let idle = experiment::idle_settings(scenario).iter().filter(|(option, _)| given(option));
    idle.map(|(option, wanted)| format!("--{option}: found with a [switch] table, wanted {wanted}")).collect()
}
