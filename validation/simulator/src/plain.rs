//! The simulators as their rules read, each rule of [the notes](crate::notes) under its number.
//!
//! They are slow. The fast simulators must deliver every message and packet in the same cycle or tick, and
//! [`diagram`](crate::diagram) draws the flits of [`wormhole`].

pub mod circuits;
mod host;
pub mod lanes;
pub mod levels;
mod message;
pub mod packet;
mod rules;
pub mod wormhole;

use flitwise_language::scenario::{Scenario, Scheduler};

use crate::reads::is_levelled;
use crate::traffic::{Traffic, offers};
use crate::{Arrival, Delivery, Offer};
pub use message::{Journey, Message, RouterLanes};

/// All deliveries, sorted, of `arrivals` (in the order of their cycles), or those of the first `limit` cycles.
pub fn replay(scenario: &Scenario, arrivals: &[Arrival], limit: u64) -> Vec<Delivery> {
    replay_offers(scenario, &offers(scenario, arrivals), limit)
}

/// As [`replay`], of messages whose lengths, Vticks and virtual channels are settled.
pub fn replay_offers(scenario: &Scenario, offers: &[Offer], limit: u64) -> Vec<Delivery> {
    if has_lane_arbiters(scenario) {
        lanes::replay(scenario, offers, &[], limit).0
    } else if is_levelled(scenario) {
        levels::replay_offers(scenario, offers, limit)
    } else {
        wormhole::replay_offers(scenario, offers, limit)
    }
}

/// Whether it takes the routers of [`lanes`].
pub(crate) fn has_lane_arbiters(scenario: &Scenario) -> bool {
    scenario.router().scheduler == Scheduler::LaneArbiter
}

/// A network of routers, its traffic and a clock.
pub(crate) enum Run {
    Wormhole(wormhole::Run),
    Levels(levels::Run),
    Lanes(Box<lanes::Run>),
}

impl Run {
    /// With the scenario's sources, the same as those of [`Simulator`](crate::Simulator).
    pub(crate) fn new(scenario: &Scenario, seed: u64) -> Self {
        let traffic = Traffic::random(scenario, seed);
        if has_lane_arbiters(scenario) {
            Self::Lanes(Box::new(lanes::Run::with_traffic(scenario, traffic)))
        } else if is_levelled(scenario) {
            Self::Levels(levels::Run::with_traffic(scenario, traffic))
        } else {
            Self::Wormhole(wormhole::Run::with_traffic(scenario, traffic))
        }
    }

    /// The first cycle that has not been simulated.
    pub(crate) fn now(&self) -> u64 {
        match self {
            Self::Wormhole(run) => run.now,
            Self::Levels(run) => run.now,
            Self::Lanes(run) => run.now,
        }
    }

    /// The next cycle before `end` in which anything can move; the messages delivered in it.
    pub(crate) fn step(&mut self, end: u64) -> Vec<(Message, Delivery)> {
        match self {
            Self::Wormhole(run) => run.step(end),
            Self::Levels(run) => run.step(end),
            Self::Lanes(run) => run.step(end),
        }
    }

    /// The messages that are generated and not delivered.
    pub(crate) fn under_way(self) -> Vec<Message> {
        match self {
            Self::Wormhole(run) => run.under_way(),
            Self::Levels(run) => run.under_way(),
            Self::Lanes(run) => run.under_way(),
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_rule_of_the_notes_is_named() {
        let notes = include_str!("../README.md");
        let of_wormholes = [
            include_str!("plain/message.rs"),
            include_str!("plain/wormhole.rs"),
            include_str!("plain/wormhole/channel.rs"),
            include_str!("plain/wormhole/arbiter.rs"),
            include_str!("plain/rules.rs"),
        ];
        let of_levels = [
            include_str!("plain/message.rs"),
            include_str!("plain/rules.rs"),
            include_str!("plain/levels.rs"),
            include_str!("plain/levels/arbitration.rs"),
            include_str!("plain/levels/crossbar.rs"),
            include_str!("plain/levels/flit.rs"),
            include_str!("plain/levels/input.rs"),
            include_str!("plain/levels/interface.rs"),
            include_str!("plain/levels/links.rs"),
            include_str!("plain/levels/output.rs"),
            include_str!("plain/levels/scheduler.rs"),
            include_str!("plain/host.rs"),
        ];
        let of_packets = [
            include_str!("plain/packet.rs"),
            include_str!("plain/packet/arbiters.rs"),
            include_str!("plain/packet/lines.rs"),
            include_str!("plain/packet/queues.rs"),
        ];
        let of_lanes = [
            include_str!("plain/lanes.rs"),
            include_str!("plain/lanes/adapter.rs"),
            include_str!("plain/lanes/arbiter.rs"),
            include_str!("plain/lanes/credits.rs"),
            include_str!("plain/lanes/energy.rs"),
            include_str!("plain/lanes/gates.rs"),
            include_str!("plain/lanes/router.rs"),
            include_str!("plain/lanes/tuning.rs"),
        ];
        let rules = |letter: char, last: u32| (1..=last).map(move |number| format!("{letter}{number}"));
        let wormhole = rules('T', 9)
            .chain(rules('S', 10))
            .chain(rules('V', 4))
            .chain(rules('W', 3))
            .chain(rules('X', 4))
            .chain(rules('N', 2));
        let packet = rules('P', 18);
        let levels = rules('L', 13).chain(rules('H', 8));
        for (rules, text) in [
            (wormhole.collect::<Vec<_>>(), of_wormholes.concat()),
            (levels.collect(), of_levels.concat()),
            (packet.collect(), of_packets.concat()),
            (rules('K', 16).collect(), of_lanes.concat()),
        ] {
            for rule in rules {
                assert!(
                    notes.contains(&format!("**{rule}")) || notes.contains(&format!("| {rule} |")),
                    "{rule}"
                );
                let is_named = text
                    .match_indices(&rule)
                    .any(|(at, _)| !text[at + rule.len()..].starts_with(|next: char| next.is_ascii_digit()));
                assert!(is_named, "{rule} in the plain simulator");
            }
        }
    }
}
