//! What is found for one class, before it is put into words.

use super::Resolution;
use super::law::Law;
use crate::lattice::Distribution;

/// Cycles per cell beyond which no wider lattice is tried.
const WIDEST: f64 = 4096.0;

/// All numbers of one class \[cycles\].
#[derive(Clone, Debug)]
pub(super) struct Found {
    /// A lone message on its way.
    pub(super) transfer: f64,
    /// In input buffers behind other messages.
    pub(super) input: f64,
    /// Until the output's virtual channel is granted.
    pub(super) arbitration: f64,
    /// From then on until the link is free for the header.
    pub(super) output: f64,
    /// What follows the header.
    pub(super) gaps: f64,
    /// At the source, the one cycle of an idle interface included.
    pub(super) waiting: f64,
    /// `λ E[B_1]`
    pub(super) source_load: f64,
    /// \[messages/cycle/node\]
    pub(super) rate: f64,
    /// Laws of the delay of the tail, by hops.
    pub(super) delays: Vec<Delays>,
    /// Cycles per cell of these laws.
    pub(super) unit: f64,
    pub(super) detail: Detail,
}

impl Found {
    /// Whether the lattice was wide enough: next to nothing lies in its last part.
    pub(super) fn fits(&self, resolution: &Resolution) -> bool {
        if resolution.unit > WIDEST {
            return true;
        }
        let edge = resolution.cells - resolution.cells / 8;
        let beyond = |delays: &Delays| delays.law.probabilities().iter().skip(edge).sum::<f64>();
        self.delays.iter().all(|delays| beyond(delays) < 1e-5)
    }

    pub(super) fn latency(&self) -> f64 {
        self.transfer + self.input + self.arbitration + self.output + self.gaps
    }
}

/// Law of the delay of some messages against a lone one.
#[derive(Clone, Debug)]
pub(super) struct Delays {
    /// Network channels crossed; none in a single router.
    pub(super) hops: Option<u32>,
    /// Share of the messages.
    pub(super) share: f64,
    /// Latency of a lone message \[cycles\].
    pub(super) lone: f64,
    /// Delay \[cells\].
    pub(super) law: Law,
}

/// The account of the iteration.
#[derive(Clone, Debug, Default)]
pub(super) struct Detail {
    pub(super) rounds: u32,
    pub(super) converged: bool,
    /// Largest change of a mean in each round, in message lengths.
    pub(super) changes: Vec<f64>,
}

impl Delays {
    /// Law of the latency in whole cycles.
    pub(super) fn distribution(&self, unit: f64) -> Distribution {
        // a lone message takes whole cycles; means over paths need not
        let whole = self.lone.floor();
        let cycles = self.law.stretched_and_shifted(unit, self.lone - whole);
        Distribution::new(whole as u32, cycles.probabilities())
    }
}
