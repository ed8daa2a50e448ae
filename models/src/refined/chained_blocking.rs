//! Messages longer than the buffers: a tail is held up by links several routers on.
//!
//! A message that waits at router `k + 1` stops flowing through router `k` once the buffers between are full. With
//! `y_k(m)` how much later than a lone one its flit `m` crosses router `k`, `w` the wait for the grant, `U` what the
//! link adds to it and `K` the interruptions by others (max-plus, our own approximation: the two causes rise and
//! fall together):
//!
//! ```text
//! z_k(m) = max[ (U + K^(m - b) - b)+ if m > b,  (U + D + y_(k + 1)(m - 2 b) - (2 b - P))+ ]
//! y_k(m) = w + z_k(m),   y(m) = 0 for m <= 0
//! ```
//!
//! Two buffers hold `2 b` flits, `P` of which are on their way when the message flows. `D` is the wait behind others in
//! the input channel between, as far as it has room: the flit `2 b` places ahead may be one of theirs.

use super::grid::{Grid, product};
use super::interruptions::Interruptions;
use super::law::Law;
use super::paths::Output;
use super::station::{Shape, Waits};

/// A kind of output.
pub(super) struct Kind<'k> {
    grant: &'k Law,
    /// `U`
    link: Law,
    /// `K`
    interruptions: &'k Interruptions,
}

impl<'k> Kind<'k> {
    /// Of what is waited for at an output, and what others send per flit.
    pub(super) fn new(waits: &'k Waits, interruptions: &'k Interruptions) -> Self {
        let (w, v) = (waits.grant.mean(), waits.link.mean());
        let link = if v > 1e-9 { waits.link.stretched((1.0 - w / v).max(0.0)) } else { Law::zero() };
        Self { grant: &waits.grant, link, interruptions }
    }
}

/// What is found.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Blocking {
    /// `z`: how much longer than its flits a message holds a channel on average, and an ejection link.
    pub(super) on_channel: Law,
    pub(super) on_ejection: Law,
    /// `y_1(M)`: what the tail is blocked for in the first router.
    pub(super) first: Option<Law>,
    /// `z` of each channel where messages fit into its buffers.
    pub(super) full: Vec<Law>,
    /// Network channels; outputs beyond are ejection links.
    pub(super) channels: u32,
}

impl Blocking {
    /// Nobody is held up.
    pub(super) fn nobody(channels: u32) -> Self {
        Self { on_channel: Law::zero(), on_ejection: Law::zero(), first: None, full: Vec::new(), channels }
    }

    /// The same times in other cells.
    pub(super) fn stretched(&self, factor: f64) -> Self {
        let law = |law: &Law| law.stretched(factor);
        Self {
            on_channel: law(&self.on_channel),
            on_ejection: law(&self.on_ejection),
            first: self.first.as_ref().map(law),
            full: self.full.iter().map(law).collect(),
            channels: self.channels,
        }
    }

    /// `z` at outputs that are met so often.
    pub(super) fn over(&self, outputs: &[(f64, Output)]) -> Law {
        let full = |(share, output): &(f64, Output)| match output.to {
            to if to >= self.channels => (*share, &self.on_ejection),
            to => (*share, self.full.get(to as usize).unwrap_or(&self.on_channel)),
        };
        match outputs {
            [] => Law::zero(),
            [one] => full(one).1.clone(),
            _ => Law::mixture(&outputs.iter().map(full).collect::<Vec<_>>()),
        }
    }

    pub(super) fn mean(&self) -> f64 {
        self.on_channel.mean() + self.on_ejection.mean() + self.first.as_ref().map_or(0.0, Law::mean)
    }
}

/// The chain over paths of `1, 2, ..` hops, which are so frequent; `P` in cells is `stages`.
pub(super) struct Chain<'c> {
    pub(super) grid: &'c Grid,
    pub(super) shape: Shape,
    pub(super) stages: f64,
    pub(super) shares: &'c [f64],
    /// Network channels.
    pub(super) channels: u32,
    /// `D`: wait in an input channel.
    pub(super) in_channel: &'c Law,
}

impl Chain<'_> {
    /// From the delays at a first channel, at a later one, and at the ejection link.
    pub(super) fn held(&self, first: &Kind<'_>, later: &Kind<'_>, last: &Kind<'_>) -> Blocking {
        let (m, b) = (self.shape.message, self.shape.buffer);
        // a router asks for one level more of the next, and for no more levels than there are channels
        let levels = ((m / (2.0 * b)).ceil() as usize).min(self.shares.len() + 1);
        // z by level, for the router at hand; and y
        let flits = |level: usize| m - 2.0 * b * level as f64;
        let on_ejection: Vec<Law> = (0..levels).map(|level| self.blocked(last, flits(level), None)).collect();
        let mut ahead: Vec<Law> = on_ejection.iter().map(|z| self.grid.sum(last.grant, z)).collect();
        let nothing = Law::zero();
        let (mut channels, mut firsts) = (Vec::new(), Vec::new());
        // messages with so many channels to go at least
        let mut crossing: f64 = self.shares.iter().sum();
        for share in self.shares {
            firsts.push((*share, self.blocked(first, m, ahead.get(1).or(Some(&nothing)))));
            let here: Vec<Law> = (0..levels)
                .map(|level| self.blocked(later, flits(level), ahead.get(level + 1).or(Some(&nothing))))
                .collect();
            ahead = here.iter().map(|z| self.grid.sum(later.grant, z)).collect();
            channels.push((crossing, here[0].clone()));
            crossing -= share;
        }
        let mean = |parts: &[(f64, Law)]| {
            Law::mixture(&parts.iter().map(|(share, law)| (share.max(0.0), law)).collect::<Vec<_>>())
        };
        let first = self.grid.sum(first.grant, &mean(&firsts));
        Blocking {
            on_channel: mean(&channels),
            on_ejection: on_ejection[0].clone(),
            first: Some(first),
            full: Vec::new(),
            channels: self.channels,
        }
    }

    /// `z(flits)`, with `y` of the flit two buffers on at the next router.
    fn blocked(&self, kind: &Kind<'_>, flits: f64, ahead: Option<&Law>) -> Law {
        let b = self.shape.buffer;
        let mut blocked = Law::zero();
        if flits > b {
            let interruptions = kind.interruptions.over(self.grid, flits - b);
            let own = self.grid.law(product(&self.grid.transform(&kind.link), &interruptions));
            blocked = own.less(b);
        }
        let Some(ahead) = ahead else { return blocked };
        let room = (2.0 * b - self.stages).max(0.0);
        let mut next = self.grid.sum(&kind.link, self.in_channel);
        if flits > 2.0 * b {
            next = self.grid.sum(&next, ahead);
        }
        blocked.max_in_step(&next.less(room))
    }
}
