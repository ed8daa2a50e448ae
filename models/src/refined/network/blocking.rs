//! What holds up routers behind it: long messages, and channels that are full.

use super::super::chained_blocking::{Blocking, Chain, Kind};
use super::super::iteration::{Endpoint, OverOutputs};
use super::super::law::Law;
use super::super::station::{LinkEnvironment, OutputDelays, Overload};
use super::input_channel::ChannelWait;
use super::stations::Stations;
use super::{Entrance, OneClass};

impl OneClass<'_> {
    /// A later output on average over all messages: the channels, or the ejection links; from what it is else.
    pub(super) fn typical(
        &self,
        last: bool,
        gaps: f64,
        held: &Blocking,
    ) -> Result<(LinkEnvironment, OutputDelays), Overload> {
        let outputs = self.outputs(false, last);
        let crossing = self.paths.mean(outputs);
        let environment = self.environment(self.kind_of(outputs), crossing);
        let contended = self.contended(outputs, &environment, gaps, held);
        let queues = self.queues(last, crossing, &environment, &contended);
        let arriving = self.arriving(gaps);
        let met = self.meet(&queues, &arriving, queues.start()).map_err(|over| over.at(last))?;
        Ok((environment, met))
    }

    /// All that is held up by buffers that are full, from router to router.
    pub(super) fn chained(
        &self,
        (entrances, settled): (&mut [Entrance<'_>], &[Endpoint]),
        gaps: f64,
        in_channel: &[ChannelWait],
        held: &Blocking,
    ) -> Result<Blocking, Overload> {
        let most = self.paths.most_hops();
        let shares: Vec<f64> = (1..=most).map(|hops| self.paths.share(hops) / self.paths.moving()).collect();
        let share = 1.0 / in_channel.len() as f64;
        let in_channel =
            Law::mixture(&in_channel.iter().map(|channel| (share, &channel.ahead)).collect::<Vec<_>>());
        let (shape, stages) = (self.shape, self.stages);
        let channels = self.paths.channels.len() as u32;
        let chain =
            Chain { grid: self.grid, shape, stages, shares: &shares, channels, in_channel: &in_channel };
        let last = self.typical(true, gaps, held)?;
        let last = Kind::new(&last.1.waits, &last.0.lagging);
        let later = if most < 2 { None } else { Some(self.typical(false, gaps, held)?) };
        let mut found = Blocking::nobody(channels);
        for (entrance, settled) in entrances.iter_mut().zip(settled) {
            let first = Kind::new(&settled.met.waits, &entrance.environment.lagging);
            found = match &later {
                None => chain.held(&first, &first, &last),
                Some((environment, met)) => {
                    chain.held(&first, &Kind::new(&met.waits, &environment.lagging), &last)
                }
            };
            entrance.blocked = found.first.take();
        }
        Ok(Blocking { first: Some(mean_of(entrances)), ..found })
    }

    /// All that is held up by input channels that are full.
    pub(super) fn behind(
        &self,
        (entrances, settled): (&mut [Entrance<'_>], &[Endpoint]),
        in_channel: &[ChannelWait],
    ) -> Blocking {
        let full: Vec<Law> = in_channel.iter().map(|channel| channel.full.clone()).collect();
        let held = Blocking { full, ..Blocking::nobody(self.paths.channels.len() as u32) };
        for (entrance, settled) in entrances.iter_mut().zip(settled) {
            let blocked = self.grid.sum(&settled.met.waits.grant, &held.over(entrance.outputs));
            entrance.blocked = Some(blocked);
        }
        Blocking { first: Some(mean_of(entrances)), ..held }
    }
}

/// Takes over what the messages of each sender meet at its outputs, where these differ.
///
/// The second moment counts where few messages meet a long queue. Returns the largest change of a mean \[cells\]; 0
/// where all outputs are alike.
pub(super) fn over_outputs(entrances: &mut [Entrance<'_>], stations: &Stations) -> f64 {
    let mut largest = 0.0_f64;
    for entrance in entrances {
        let shares = stations.shares(entrance.outputs);
        if shares.len() < 2 {
            continue;
        }
        let over = |what: fn(&OutputDelays) -> &Law| {
            let each = shares.iter().map(|(share, at)| (*share, what(&stations.known[*at].1.met)));
            Law::mixture(&each.collect::<Vec<_>>())
        };
        let found = OverOutputs { grant: over(|met| &met.waits.grant), blocked: over(|met| &met.blocked) };
        let before = entrance.over_outputs.as_ref().map_or(f64::INFINITY, |before| before.blocked.mean());
        largest = largest.max((found.blocked.mean() - before).abs());
        entrance.over_outputs = Some(found);
    }
    largest
}

/// What tails are blocked for in the first routers, over all senders.
fn mean_of(entrances: &[Entrance<'_>]) -> Law {
    let blocked = |entrance: &Entrance<'_>| entrance.blocked.clone().unwrap_or_else(Law::zero);
    match entrances {
        [one] => blocked(one),
        several => Law::mix(&several.iter().map(|one| (one.share, blocked(one))).collect::<Vec<_>>()),
    }
}
