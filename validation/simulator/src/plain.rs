//! The simulators as their rules read, each rule of [the notes](crate::notes) under its number.
//!
//! They are slow. The fast simulators must deliver every message and packet in the same cycle or tick, and
//! [`diagram`](crate::diagram) draws the flits of [`wormhole`].

pub mod circuits;
pub mod packet;
mod rules;
pub mod wormhole;

pub use wormhole::{replay, replay_offers};

#[cfg(test)]
mod tests {
    #[test]
    fn every_rule_of_the_notes_is_named() {
        let notes = include_str!("../README.md");
        let of_wormholes = [
            include_str!("plain/wormhole.rs"),
            include_str!("plain/wormhole/channel.rs"),
            include_str!("plain/wormhole/arbiter.rs"),
            include_str!("plain/rules.rs"),
        ];
        let of_packets = [
            include_str!("plain/packet.rs"),
            include_str!("plain/packet/arbiters.rs"),
            include_str!("plain/packet/lines.rs"),
            include_str!("plain/packet/queues.rs"),
        ];
        let rules = |letter: char, last: u32| (1..=last).map(move |number| format!("{letter}{number}"));
        let wormhole = rules('T', 9)
            .chain(rules('S', 10))
            .chain(rules('V', 4))
            .chain(rules('X', 4))
            .chain(rules('N', 2));
        let packet = rules('P', 18);
        for (rules, texts) in [(wormhole.collect::<Vec<_>>(), of_wormholes), (packet.collect(), of_packets)] {
            let text = texts.concat();
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
