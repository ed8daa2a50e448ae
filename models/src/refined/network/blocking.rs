//! What holds up routers behind it: long messages, and channels that are full.

use super::super::chained_blocking::{Blocking, Chain, Kind};
use super::super::law::Law;
use super::super::station::{LinkEnvironment, OutputDelays, Overloaded};
use super::OneClass;
use super::input_channel::ChannelWait;

impl OneClass<'_> {
    /// A later output on average over all messages: the channels, or the ejection links; from what it is else.
    pub(super) fn typical(
        &self,
        last: bool,
        gaps: f64,
        held: &Blocking,
    ) -> Result<(LinkEnvironment, OutputDelays), Overloaded> {
        let outputs = self.outputs(false, last);
        let crossing = self.paths.mean(outputs);
        let environment = self.environment(self.kind_of(outputs), crossing);
        let contended = self.contended(outputs, &environment, held);
        let queues = self.queues(last, crossing, &environment, &contended);
        let arriving = self.arriving(gaps);
        let met = self.meet(&queues, &arriving, queues.start()).map_err(|over| over.at(last))?;
        Ok((environment, met))
    }

    /// All that is held up by buffers that are full, from router to router.
    pub(super) fn chained(
        &self,
        first: (&LinkEnvironment, &OutputDelays),
        gaps: f64,
        in_channel: &[ChannelWait],
        held: &Blocking,
    ) -> Result<Blocking, Overloaded> {
        let most = self.paths.most_hops();
        let shares: Vec<f64> = (1..=most).map(|hops| self.paths.share(hops) / self.paths.moving()).collect();
        let share = 1.0 / in_channel.len() as f64;
        let in_channel =
            Law::mixture(&in_channel.iter().map(|channel| (share, &channel.ahead)).collect::<Vec<_>>());
        let (shape, stages) = (self.shape, self.stages);
        let chain = Chain { grid: self.grid, shape, stages, shares: &shares, in_channel: &in_channel };
        let last = self.typical(true, gaps, held)?;
        let first = Kind::new(&first.1.waits, &first.0.lagging);
        let last = Kind::new(&last.1.waits, &last.0.lagging);
        if most < 2 {
            return Ok(chain.held(&first, &first, &last));
        }
        let later = self.typical(false, gaps, held)?;
        Ok(chain.held(&first, &Kind::new(&later.1.waits, &later.0.lagging), &last))
    }

    /// All that is held up by input channels that are full.
    pub(super) fn behind(&self, first: &OutputDelays, in_channel: &[ChannelWait]) -> Blocking {
        let full: Vec<Law> = in_channel.iter().map(|channel| channel.full.clone()).collect();
        let held = Blocking { full, ..Blocking::nobody() };
        let first = self.grid.sum(&first.waits.grant, &held.over(&self.entering_outputs()));
        Blocking { first: Some(first), ..held }
    }
}
