//! Gaps inside messages, as they arrive at the routers of a path.

use super::super::chained_blocking::Blocking;
use super::super::in_buffer::InBuffer;
use super::super::interruptions::Interruptions;
use super::super::iteration::Endpoint;
use super::super::law::Law;
use super::super::station::{ArrivalGaps, LinkEnvironment, OutputDelays, Overload, Station as Queues};
use super::{Entrance, OneClass};

impl OneClass<'_> {
    /// Gaps of so many cells on average, in the shape of those at the interface.
    pub(super) fn gaps_of_mean(&self, mean: f64) -> Interruptions {
        let whole = self.gaps[0].mean();
        let part = if whole > 1e-9 { mean / whole } else { 0.0 };
        self.interface.first.part(part)
    }

    /// What arrives at the first router.
    pub(super) fn entering(&self, in_buffer: InBuffer) -> ArrivalGaps {
        let b = self.shape.buffer;
        let held = [0, 1].map(|i| self.gaps_rest[i].less(b));
        ArrivalGaps { gaps: self.gaps.clone(), held, in_buffer, bursty: self.work.is_some() }
    }

    /// What arrives at a later router, with gaps of a mean.
    pub(super) fn arriving(&self, mean: f64) -> ArrivalGaps {
        let between = self.gaps_of_mean(mean);
        let gaps = |flits: f64| {
            if flits > 0.0 { self.grid.law(between.over(self.grid, flits)) } else { Law::zero() }
        };
        let held = gaps(self.shape.rest()).less(self.shape.buffer);
        ArrivalGaps {
            gaps: [gaps(self.shape.message), Law::zero()],
            held: [held, Law::zero()],
            in_buffer: InBuffer::none(),
            bursty: self.work.is_some(),
        }
    }

    /// `E[G]`: mean gap inside messages on their way into the second and later routers.
    ///
    /// A router lets the tail lag behind by interruptions, and hides what its header waits for. A typical router in
    /// the midst of the way comes with it, if it was looked at.
    pub(super) fn gaps_on_the_way(
        &self,
        (entrances, settled): (&[Entrance<'_>], &[Endpoint]),
        held: &Blocking,
    ) -> Result<(f64, Option<(LinkEnvironment, OutputDelays)>), Overload> {
        if self.gaps[0].mean() < 1e-9 {
            return Ok((0.0, None));
        }
        let passage = |queues: &Queues<'_>, in_buffer: &Law, met: &OutputDelays, gaps: &Law| {
            if self.laws {
                queues.passage(in_buffer, met, gaps).mean()
            } else {
                queues.mean_passage(in_buffer, met, gaps)
            }
        };
        let leaving = |(entrance, settled): (&Entrance<'_>, &Endpoint)| {
            let Entrance { share, outputs, environment, .. } = entrance;
            let (met, in_buffer) = (&settled.met, &settled.queued.in_buffer);
            let [free, behind] = in_buffer.shares();
            let contended = self.contended(outputs, environment, self.gaps[0].mean(), held);
            let queues = self.queues(false, self.paths.mean(outputs), environment, &contended);
            let delay = free * passage(&queues, &in_buffer.waits[0], met, &self.gaps[0])
                + behind * passage(&queues, &in_buffer.waits[1], met, &self.gaps[1]);
            share * (delay - in_buffer.mean() - met.waits.link.mean()).max(0.0)
        };
        let leaving: f64 = entrances.iter().zip(settled).map(leaving).sum();
        if self.paths.most_hops() < 2 {
            return Ok((leaving, None));
        }
        let (environment, met) = self.typical(false, leaving, held)?;
        let outputs = self.outputs(false, false);
        let crossing = self.paths.mean(outputs);
        let contended = self.contended(outputs, &environment, leaving, held);
        let queues = self.queues(false, crossing, &environment, &contended);
        let gaps = self.grid.law(self.gaps_of_mean(leaving).over(self.grid, self.shape.message));
        let delay = passage(&queues, &Law::zero(), &met, &gaps);
        let growth = delay - met.waits.link.mean() - leaving;
        // routers passed since the first: E[h (h - 1) / 2] / E[h]
        let passed: f64 = (1..=self.paths.most_hops())
            .map(|hops| self.paths.share(hops) * f64::from(hops) * f64::from(hops - 1) / 2.0)
            .sum();
        let gaps = (leaving + growth * passed / self.paths.mean_hops()).max(0.0);
        Ok((gaps, Some((environment, met))))
    }
}
