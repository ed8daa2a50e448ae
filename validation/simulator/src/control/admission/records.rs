//! What became of requests, and what connections hold and have held.

use crate::wiring::Channel;

use super::Admission;
use super::in_band::Change;

/// A request for a connection; one that is made again is another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestRecord {
    /// When it is made.
    pub cycle: u64,
    /// The class, by its place in the scenario.
    pub class: u8,
    /// Where the connection begins.
    pub source: u32,
    /// Where it ends.
    pub destination: u32,
    /// The number of the connection among those of its class, those refused included.
    pub number: u32,
    /// How often it had been refused before.
    pub retries: u32,
    /// Network channels on the way.
    pub hops: u32,
    /// What became of it.
    pub outcome: Outcome,
}

/// What became of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is under way.
    Pending,
    /// Every channel had room.
    Admitted {
        /// When the answer is at the source, which may send from then on \[cycles\].
        ack: u64,
        /// When the connection ends there; `u64::MAX` where it does not \[cycles\].
        end: u64,
    },
    /// A channel or router had none.
    Refused {
        /// The place of the channel on the way; 0 is the injection channel.
        channel: u32,
        /// What had no room.
        by: Refuser,
    },
}

/// What had no room for a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refuser {
    /// The injection channel, which the network interface looks after.
    Interface,
    /// Another channel.
    Bandwidth,
    /// The power budget of a router.
    Power,
}

impl RequestRecord {
    /// When a channel on its way, by its place, is booked, and when it is given back; `None` if it is not booked.
    fn stay(&self, place: u64, hop: u64) -> Option<(u64, u64)> {
        let end = match self.outcome {
            Outcome::Pending => u64::MAX,
            Outcome::Admitted { end, .. } => end.saturating_add(place * hop),
            Outcome::Refused { channel, .. } if place >= channel.into() => return None,
            Outcome::Refused { channel, .. } => self.cycle + (2 * u64::from(channel) + place) * hop,
        };
        Some((self.cycle + place * hop, end))
    }
}

/// Part of `from..until` that lies in `begins..ends`.
fn share((begins, ends): (u64, u64), from: u64, until: u64) -> f64 {
    let cycles = ends.min(until).saturating_sub(begins.max(from));
    cycles as f64 / until.saturating_sub(from).max(1) as f64
}

impl Admission {
    /// All requests so far, in the order in which they were made.
    pub fn requests(&self) -> &[RequestRecord] {
        &self.records
    }

    /// By channel: what connections hold of it on average between two cycles, the latter of which has been reached
    /// \[flits/cycle\].
    pub fn reserved(&self, from: u64, until: u64) -> Vec<(Channel, f64)> {
        let channel = |(link, held): (usize, f64)| Some((self.wiring.channel(link as u32)?, held));
        self.reserved_by_link(from, until).into_iter().enumerate().filter_map(channel).collect()
    }

    fn reserved_by_link(&self, from: u64, until: u64) -> Vec<f64> {
        let mut held = vec![0.0; self.accounts.len()];
        if let Some(signals) = &self.signals {
            for Change { cycle, link, weight } in signals.changes_before(until) {
                held[link as usize] += weight * share((cycle, u64::MAX), from, until);
            }
            return held;
        }
        let hop = self.rules.hop;
        let before = self.records.partition_point(|record| record.cycle < until);
        let mut path = Vec::new();
        for record in &self.records[..before] {
            self.links(record.source, record.destination, &mut path);
            let weight = self.demand_of(record.class).weight;
            for (place, link) in path.iter().enumerate() {
                let Some(stay) = record.stay(place as u64, hop) else { break };
                held[*link as usize] += weight * share(stay, from, until);
            }
        }
        held
    }

    /// Connections of a class that may send, on average between two cycles, the latter of which has been reached.
    pub fn standing(&self, class: usize, from: u64, until: u64) -> f64 {
        let of_class = self.records.iter().filter(|record| usize::from(record.class) == class);
        let standing = of_class.map(|record| match record.outcome {
            Outcome::Admitted { ack, end } => share((ack, end), from, until),
            _ => 0.0,
        });
        standing.sum()
    }

    /// By channel: what connections hold of it now \[flits/cycle\].
    pub fn held(&self) -> Vec<(Channel, f64)> {
        let channel = |(link, account): (usize, &super::Account)| {
            Some((self.wiring.channel(link as u32)?, account.used))
        };
        self.accounts.iter().enumerate().filter_map(channel).collect()
    }

    /// By router: what connections hold now of its power budget \[pJ/cycle\]; nothing without one.
    pub fn held_power(&self) -> Vec<f64> {
        self.power.as_ref().map_or(Vec::new(), |power| power.accounts.iter().map(|one| one.used).collect())
    }
}
