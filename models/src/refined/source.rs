//! The queue at the interface and the first input channel, and how the wait splits between them.
//!
//! A message leaves the input channel `B` cycles after the one before it, if it was there by then: `B = M + H +
//! max(x, (G - R - H)+)`, where `x` is what its tail was blocked for, `G` the gaps inside it, `R` its wait in the
//! buffer, which hides them, and `H` the header's longer way. What it waits in the buffer belongs to the network
//! latency, the rest is waiting time.

use super::bursty_source::{BurstySource, Service};
use super::grid::Grid;
use super::law::Law;
use super::queue::Means;
use super::station::{Met, Overloaded, Place, Shape};

/// A class at its interface.
pub(super) struct Source<'s> {
    pub(super) grid: &'s Grid,
    pub(super) shape: Shape,
    /// Messages per cell.
    pub(super) rate: f64,
    /// Bursts, with times in cells; none for Poisson sources.
    pub(super) bursts: Option<BurstySource>,
    /// `G_0`, `G_1`
    pub(super) gaps: &'s [Law; 2],
    /// What comes in between the flits that the buffer does not hold.
    pub(super) coming: &'s Law,
    /// `v_N`: what a header waits for higher classes.
    pub(super) set_up: &'s Law,
    /// What a stalled message waits for to regain the link.
    pub(super) regain: &'s Law,
    /// Mean wait of a header for equal classes in the midst of their turn \[cells\].
    pub(super) header_wait: f64,
}

/// What is found.
#[derive(Clone)]
pub(super) struct Queued {
    /// `P_0`: share of the messages that find neither queue nor input channel occupied.
    pub(super) first: f64,
    /// `R+`: in-buffer wait of the others.
    pub(super) in_buffer: Law,
    /// Mean wait before the interface \[cells\], from the cell in which the message is there.
    pub(super) waiting: f64,
    /// `lambda E[B_1]`: 1 is saturation.
    pub(super) load: f64,
}

impl Source<'_> {
    /// One round, from what blocks tails and the in-buffer wait of the last round.
    pub(super) fn round(&self, met: &Met, in_buffer: &Law) -> Result<Queued, Overloaded> {
        let Self { grid, shape, rate, gaps, .. } = self;
        let (m, header) = (shape.message, shape.header);
        let stalled = self.stalled(&met.blocked);
        let b0 = stalled.max(&gaps[0].less(header)).plus(m + header);
        let b1 = stalled.max(&grid.excess(&gaps[1], &in_buffer.plus(header))).plus(m + header);
        let load = rate * b1.mean();
        let over = Overloaded { load, place: Place::Source };
        let first_service = grid.sum(&b0, self.set_up);
        let queue = Means::new(*rate, &b1, &first_service, self.set_up).ok_or(over)?;
        let (mean_wait, first, second) = self.wait(&queue, &b1, &first_service).ok_or(over)?;

        // A message follows a first one if it comes during its service; it follows another one if it was there when
        // that one's service began (share `there` of them), or came during it.
        let later = (1.0 - first).max(1e-12);
        let behind_first = second.unwrap_or_else(|| first * (1.0 - b0.tilted(*rate))).min(1.0 - first);
        let behind_later = (1.0 - first - behind_first).max(0.0);
        let there = (1.0 - (1.0 - behind_later / later) / b1.tilted(*rate)).clamp(0.0, 1.0) * later;
        let came = (behind_later - there).max(0.0);
        let room = Law::constant(self.room(met.blocked.mean() - met.waits.grant.mean(), b1.mean()));
        let ahead = if self.holds_whole_messages() { &in_buffer.min(&room) } else { in_buffer };
        let start = grid.sum(ahead, &stalled).plus(header);
        let parts = [
            (behind_first, self.met_in_service(&stalled.plus(header), &gaps[0])),
            (there, grid.excess(&start, &gaps[1])),
            (came, self.met_in_service(&start, &gaps[1])),
        ];
        let parts: Vec<(f64, &Law)> = parts.iter().map(|(share, law)| (*share, law)).collect();
        let in_buffer = Law::mixture(&parts);
        let in_buffer = if self.holds_whole_messages() { in_buffer } else { in_buffer.min(&room) };
        let residence = (1.0 - first) * in_buffer.mean();
        let waiting = (mean_wait - residence).max(0.0) + first * self.header_wait;
        Ok(Queued { first, in_buffer, waiting, load })
    }

    /// Mean wait in interface and input channel together, the share of messages that find both free, and, for bursts,
    /// that of those directly behind one.
    fn wait(&self, queue: &Means, later: &Law, first: &Law) -> Option<(f64, f64, Option<f64>)> {
        let Some(bursts) = &self.bursts else { return Some((queue.mean_wait, queue.empty, None)) };
        let service = |law: &Law| Service { mean: law.mean(), mean_square: law.second_moment() };
        let found = bursts.queue(service(later), service(first));
        let wait = found.wait + found.first * self.set_up.mean();
        wait.is_finite().then_some((wait, found.first, Some(found.second)))
    }

    /// What holds up a tail: `x`, and for a message longer than the buffer, which stalls the interface, the wait to
    /// regain its link and what comes between the rest of its flits, as far as a full buffer does not hide it.
    ///
    /// What was found has been sent while it was stalled.
    fn stalled(&self, blocked: &Law) -> Law {
        if !self.shape.is_short() {
            return blocked.clone();
        }
        let b = self.shape.buffer;
        let stall: f64 = blocked.probabilities().iter().skip(b.ceil() as usize + 1).sum();
        let back = self.grid.sum(self.coming, self.regain).less(b);
        self.grid.sum(blocked, &back.sometimes(stall))
    }

    /// In-buffer wait behind lone messages that fill the buffer.
    pub(super) fn full(&self) -> Law {
        Law::constant(self.room(0.0, self.shape.message + self.shape.header))
    }

    /// Whether a buffer has room for a message and the first flits of another.
    fn holds_whole_messages(&self) -> bool {
        self.shape.buffer > self.shape.message
    }

    /// The longest wait in the buffer, of a message or, if it holds whole messages, of the one before it: a header
    /// enters when the flit `b` places ahead has crossed, so that with `x` and `H` of the message ahead
    /// `R = x + H + min(R', b - 3)`. `pressure` is what a full output buffer adds to the time in which they cross.
    fn room(&self, pressure: f64, service: f64) -> f64 {
        let Shape { message: m, buffer: b, credit, .. } = self.shape;
        let room = if self.shape.is_short() {
            b - credit + pressure * (2.0 * b / m - 1.0).max(0.0)
        } else {
            let whole = (b / m).ceil() - 1.0;
            b - credit + pressure + (whole - 1.0).max(0.0) * (service - m)
        };
        room.max(0.0)
    }

    /// In-buffer wait of a message that comes during the service `B = M + G + e`, `e = (start - G)+`, of another:
    /// `e`, or what is left of `B` if that is less.
    fn met_in_service(&self, start: &Law, gaps: &Law) -> Law {
        let (grid, rate, m) = (self.grid, self.rate, self.shape.message);
        // P(R > r) = E[1 - exp(-l (B - r)); e > r]
        let excess = grid.excess(start, gaps);
        let tilted = grid.excess(start, &gaps.tilted_law(rate));
        let quiet = gaps.tilted(rate) * (-rate * m).exp();
        let mut weights = vec![0.0; excess.probabilities().len() + 1];
        let decay = (-rate).exp();
        let mut within = 0.0;
        for e in (0..excess.probabilities().len()).rev() {
            let later = quiet * tilted.at(e);
            weights[e] += (excess.at(e) - later).max(0.0);
            // uniform between e and e + 1
            weights[e] += 0.5 * within;
            weights[e + 1] += 0.5 * within;
            within = decay * within + (1.0 - decay) * later;
        }
        Law::of(weights)
    }
}
