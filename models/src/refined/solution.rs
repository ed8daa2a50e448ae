//! What is found for one class, before it is put into words.

use super::chained_blocking::Blocking;
use super::in_buffer::IDLE;
use super::iteration::{Detail, State};
use super::law::{LONGEST, Law};
use super::station::Overload;
use super::{MOST_CELLS, Resolution};
use crate::lattice::Distribution;

/// How many times as long as the next lattice one before may have been.
const FAR: f64 = 4.0;
/// How many times as often two paths of mean length may exceed a lattice as the longest one may: in cubes of 32 and 64
/// nodes the longest was held up to 9 times, and not from 23 times on.
const TWO_PATHS: f64 = 10.0;
/// Cycles per cell beyond which no wider lattice is tried.
const WIDEST: f64 = 4096.0;

/// All numbers of one class \[cycles\].
#[derive(Clone, Debug)]
pub(super) struct Solution {
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
    /// `M + H + x`: from message to message through the first input channel, gaps left out.
    pub(super) pace: f64,
    /// \[messages/cycle/node\]
    pub(super) rate: f64,
    /// Laws of the delay of the tail, by hops; none where means alone are wanted.
    pub(super) delays: Vec<Delays>,
    /// For means alone: laws that must lie on the lattice as well.
    pub(super) parts: Vec<Law>,
    /// Cycles per cell of these laws.
    pub(super) unit: f64,
    pub(super) detail: Detail,
    /// From where a similar scenario may set out.
    pub(super) warm: Warm,
}

/// The parts of a mean delay \[cycles\]; none is negative, and they add up to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Parts {
    pub(super) input: f64,
    pub(super) arbitration: f64,
    pub(super) output: f64,
    pub(super) gaps: f64,
}

impl Parts {
    /// Of a tail's delay behind the waits of its header in input buffers, for the virtual channel and for the link; the
    /// latter holds the one before it.
    ///
    /// Waits are means of each queue by itself, the delay comes of header and tail along all queues, so that waits may
    /// add up to more than the delay behind them: by the tolerance of the iteration at light loads, and by some per
    /// cent of it where headers take longer through a router than buffers last. Then they are taken in proportion.
    pub(super) fn of(delay: f64, input: f64, arbitration: f64, link: f64) -> Self {
        let [delay, input, link] = [delay, input, link].map(|time| time.max(0.0));
        let arbitration = arbitration.clamp(0.0, link);
        let waits = input + link;
        let share = if waits > delay { delay / waits } else { 1.0 };
        Self {
            input: input * share,
            arbitration: arbitration * share,
            output: (link - arbitration) * share,
            gaps: (delay - waits).max(0.0),
        }
    }
}

/// From where a solve may set out.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Start {
    pub(super) state: State,
    /// What holds up messages in routers ahead, and the delay of tails over a path of mean length, in networks.
    pub(super) on_the_way: Option<(Blocking, Law)>,
}

impl Start {
    /// The same times in cells so many times as wide.
    fn in_cells(&self, wider: f64) -> Self {
        let narrower = 1.0 / wider;
        let on_the_way =
            |(held, delay): &(Blocking, Law)| (held.stretched(narrower), delay.stretched(narrower));
        Self { state: self.state.in_cells(wider), on_the_way: self.on_the_way.as_ref().map(on_the_way) }
    }

    /// Whether the lattice may hold the laws: delays are at least as long as waits in the first router, and over the
    /// longest paths about as long as over two of mean length, which more messages may exceed. A wrong guess costs time
    /// only.
    fn may_lie_on(&self, resolution: &Resolution) -> bool {
        let State { in_buffer, laws: [_, link] } = &self.state;
        let busy: Vec<(f64, &Law)> =
            in_buffer.shares.iter().copied().zip(&in_buffer.waits).skip(IDLE + 1).collect();
        let (share, busy) = (1.0 - in_buffer.shares[IDLE], Law::mixture(&busy));
        let edge = resolution.cells - resolution.cells / 8;
        resolution.holds(&busy)
            && share * busy.exceeds_with(link, edge) < resolution.beyond
            && self
                .on_the_way
                .as_ref()
                .is_none_or(|(_, delay)| delay.exceeds_with(delay, edge) < TWO_PATHS * resolution.beyond)
    }
}

/// Where an iteration ended.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Warm {
    pub(super) start: Start,
    /// Cycles per cell, and cells that were enough.
    pub(super) unit: f64,
    pub(super) cells: usize,
}

impl Warm {
    /// Cycles that the lattice spanned.
    fn reach(&self) -> f64 {
        self.unit * self.cells as f64
    }
}

/// What comes of a class on one lattice.
pub(super) enum Outcome {
    Solution(Solution),
    /// The lattice does not hold its laws; a wider one may set out from there, if it is known how far that is.
    TooNarrow(Option<Start>, Detail),
}

impl Resolution {
    /// Whether next to nothing of a law lies in the last part of the lattice.
    pub(super) fn holds(&self, law: &Law) -> bool {
        self.unit > WIDEST || self.beyond(law, self.cells) < self.beyond
    }

    /// The same of half the lattice.
    fn half_holds(&self, law: &Law) -> bool {
        self.beyond(law, self.cells / 2) < self.beyond
    }

    fn beyond(&self, law: &Law, cells: usize) -> f64 {
        law.probabilities().iter().skip(cells - cells / 8).sum()
    }
}

/// Solves a class on lattices that become wider until one holds its laws.
pub(super) fn on_wider_lattices(
    resolution: &Resolution,
    warm: Option<&Warm>,
    mut solve: impl FnMut(&Resolution, Option<&Start>) -> Result<Outcome, Overload>,
) -> Result<Solution, Overload> {
    let mut resolution = *resolution;
    // where lattices before were far longer than this one can become; what they held may be longer than what this one
    // must
    while warm.is_some_and(|warm| warm.reach() > FAR * resolution.unit * MOST_CELLS as f64) {
        resolution = resolution.wider();
    }
    let mut start = warm.map(|warm| warm.start.in_cells(resolution.unit / warm.unit));
    // laws reach at least as far as means had to
    let short = |resolution: &Resolution| {
        let reach = resolution.unit * resolution.cells as f64;
        warm.is_some_and(|warm| warm.reach() > reach)
            || start.as_ref().is_some_and(|start| !start.may_lie_on(resolution))
    };
    while resolution.laws && resolution.cells < resolution.most_cells && short(&resolution) {
        resolution = resolution.wider();
    }
    let mut before = Detail::default();
    loop {
        let wider = resolution.wider();
        let (next, detail) = match solve(&resolution, start.as_ref())? {
            Outcome::Solution(mut found) => {
                found.detail = before.then(found.detail);
                if found.laws().all(|law| resolution.holds(law)) {
                    let ample = found.laws().all(|law| resolution.half_holds(law));
                    found.warm.cells = if ample { resolution.cells / 2 } else { resolution.cells };
                    return Ok(found);
                }
                (Some(found.warm.start), found.detail)
            }
            Outcome::TooNarrow(start, detail) => (start, before.then(detail)),
        };
        before = detail;
        start = next.or(start).map(|start| start.in_cells(wider.unit / resolution.unit));
        resolution = wider;
    }
}

impl Solution {
    /// What must lie on the lattice: the delays, or for means alone what they are made of.
    fn laws(&self) -> impl Iterator<Item = &Law> {
        let state = if self.delays.is_empty() { self.warm.start.state.laws.as_slice() } else { &[] };
        self.delays.iter().map(|delays| &delays.law).chain(state).chain(&self.parts)
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
    /// Latency of a lone message over links without delays \[cycles\].
    pub(super) lone: f64,
    /// Delays of the links on its way, each with its share of these messages \[cycles\].
    pub(super) on_links: Vec<(f64, u32)>,
    /// Delay \[cells\].
    pub(super) law: Law,
}

impl Delays {
    /// Mean delay of the links on the way \[cycles\].
    pub(super) fn mean_on_links(&self) -> f64 {
        self.on_links.iter().map(|(share, delay)| share * f64::from(*delay)).sum()
    }

    /// Law of the latency in whole cycles.
    pub(super) fn distribution(&self, unit: f64) -> Distribution {
        // a lone message takes whole cycles; means over paths need not
        let whole = self.lone.floor();
        let cycles = self.law.stretched_and_shifted(unit, self.lone - whole);
        let probabilities = cycles.probabilities();
        // what is beyond the longest law stands in its last cells: there the distribution is not known
        let known = if probabilities.len() > LONGEST { LONGEST } else { probabilities.len() };
        let over = |delay: u32| Distribution::new(whole as u32 + delay, &probabilities[..known]);
        match self.on_links.as_slice() {
            [(_, delay)] => over(*delay),
            several => {
                let parts: Vec<(f64, Distribution)> =
                    several.iter().map(|(share, delay)| (*share, over(*delay))).collect();
                Distribution::mixture(parts.iter().map(|(share, part)| (*share, part)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Parts;

    #[test]
    fn no_part_is_negative_and_all_add_up_to_the_delay() {
        let cases = [
            [10.0, 1.0, 2.0, 5.0],
            [10.0, 8.0, 2.0, 5.0],
            [10.0, 1.0, 6.0, 5.0],
            [0.0, 1e-6, 2e-6, 1e-6],
            [0.0; 4],
        ];
        for [delay, input, arbitration, link] in cases {
            let parts = Parts::of(delay, input, arbitration, link);
            let each = [parts.input, parts.arbitration, parts.output, parts.gaps];
            assert!(each.iter().all(|part| *part >= 0.0), "{parts:?}");
            assert!((each.iter().sum::<f64>() - delay).abs() < 1e-12, "{parts:?}");
        }
        // what fits stays
        let parts = Parts::of(10.0, 1.0, 2.0, 5.0);
        assert_eq!(parts, Parts { input: 1.0, arbitration: 2.0, output: 3.0, gaps: 4.0 });
    }
}
