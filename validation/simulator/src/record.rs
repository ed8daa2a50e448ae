//! What every flit of a run has done, for pictures of it.

use flitwise_language::scenario::{Fault, Scenario};

pub use crate::plain::{Journey, Message, RouterLanes};
use crate::plain::{Run, has_lane_arbiters};
use crate::reads::is_levelled;
use crate::supports;

/// The messages of a run, flit by flit.
#[derive(Clone, Debug)]
pub struct Record {
    /// Cycles that were simulated, from cycle 0 on.
    pub cycles: u64,
    /// In the order in which they entered the network; those that are still at their sources are left out.
    pub messages: Vec<Message>,
}

/// Where a flit is at the end of a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlitPlace {
    /// At its source.
    Source,
    /// On a link: 0 is that of its source, others are those behind each router of its way.
    Link(usize),
    /// In the input buffer of a router of its way.
    Input(usize),
    /// In the output buffer of one.
    Output(usize),
    /// Beyond the network.
    Delivered,
}

impl Journey {
    /// Where the flit is at the end of a cycle, on a way of so many routers.
    pub fn place(&self, cycle: u64, routers: usize) -> FlitPlace {
        let until = |cycles: &[u64]| cycles.iter().take_while(|one| **one <= cycle).count();
        let (left, crossed) = (until(&self.left), until(&self.crossed));
        match left.checked_sub(1) {
            None => FlitPlace::Source,
            Some(link) if left == crossed => FlitPlace::Output(link),
            Some(link) if cycle <= self.left[link] + self.delay(link) => FlitPlace::Link(link),
            Some(router) if router < routers => FlitPlace::Input(router),
            Some(_) => FlitPlace::Delivered,
        }
    }
}

/// What keeps routers from writing down lanes and stamps; none where they do.
pub fn unrecorded(scenario: &Scenario) -> Option<&'static str> {
    let (is_levelled, has_arbiters) = (is_levelled(scenario), has_lane_arbiters(scenario));
    (is_levelled || has_arbiters).then_some("routers with levels or lane arbiters")
}

/// The first cycles of a simulation with this seed.
///
/// # Errors
/// What [`supports`] says.
pub fn record(scenario: &Scenario, seed: u64, cycles: u64) -> Result<Record, Vec<Fault>> {
    supports(scenario)?;
    let mut run = Run::new(scenario, seed);
    let mut messages: Vec<Message> = Vec::new();
    while run.now() < cycles {
        messages.extend(run.step(cycles).into_iter().map(|(message, _)| message));
    }
    messages.extend(run.under_way().into_iter().filter(|message| message.serial.is_some()));
    messages.sort_by_key(|message| message.serial);
    Ok(Record { cycles, messages })
}

#[cfg(test)]
mod tests {
    use flitwise_language::scenario::Preset;

    use super::*;

    /// In every cycle each flit is at one place, on a link only in the cycle in which it leaves.
    #[test]
    fn a_flit_goes_from_place_to_place() {
        let scenario = Preset::find("mesh4x4").unwrap().scenario();
        let record = record(&scenario, 1, 400).unwrap();
        assert!(record.messages.len() > 20);
        for message in &record.messages {
            let routers = scenario.topology().hops(message.arrival.source, message.arrival.destination) + 1;
            for flit in &message.flits {
                assert_eq!(flit.stamps.len(), flit.crossed.len());
                let rank = |cycle: u64| match flit.place(cycle, routers as usize) {
                    FlitPlace::Source => 0,
                    FlitPlace::Link(link) => 1 + 3 * link,
                    FlitPlace::Input(router) => 2 + 3 * router,
                    FlitPlace::Output(router) => 3 + 3 * router,
                    FlitPlace::Delivered => 2 + 3 * routers as usize,
                };
                let ranks: Vec<usize> = (0..record.cycles).map(rank).collect();
                assert!(ranks.windows(2).all(|pair| (0..=1).contains(&(pair[1] - pair[0]))), "{ranks:?}");
                let on_links = ranks.iter().filter(|rank| **rank % 3 == 1).count();
                assert_eq!(on_links, flit.left.len());
            }
        }
    }
}
