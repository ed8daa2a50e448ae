//! The queue at a source: interface and first input channel in series.
//!
//! A message leaves the input channel `B` cycles after its predecessor, if it was there by then:
//!
//! ```text
//! B = M + H + max(x, (G - R - H)+)
//! ```
//!
//! `x` is the time for which its tail is blocked, `G` its gaps, `R` its wait in the buffer, which hides gaps, and `H`
//! the header's longer way. The wait in the buffer belongs to the network latency, the rest is waiting time. The module
//! [`in_buffer`](super::in_buffer) follows successive messages of a Poisson class.
//!
//! # Bursts
//!
//! Messages of a burst arrive before their predecessors have left, the more of them the longer the wait `T`. One of
//! them is half served and a geometric number waits before it. So the share `κ` of those that wait when their
//! predecessor is served follows from the mean wait; Poisson arrivals give the least `κ`:
//!
//! ```text
//! E[T] / E[B] = 1/2 + κ / (1 - κ)
//! ```
//!
//! Where the other real-time classes come in bursts only, all gaps come together while one of them is in a burst. For
//! the share `q` of the time none is. Then messages come back to back, each behind its predecessor by `x + H` more, as
//! far as the buffer has room; and a stream may fit into the channel that does not when the others are present:
//!
//! ```text
//! R(z) = q C(z) (1 - κ) / (1 - κ z^H x(z)) + (1 - q) ..,   P_0 = q P_0(M + H + x) + (1 - q) P_0(rest of B)
//! ```
//!
//! `C` is the wait of the second message. No long wait in the buffer hides gaps then (our approximation).

use super::bursty_source::{BurstySource, Service};
use super::grid::Grid;
use super::in_buffer::{self, IDLE, InBuffer, LAST, Part, Predecessor, Round, STATES, WaitsByState};
use super::law::Law;
use super::station::{OutputDelays, Overload, Place, Shape};

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
    /// Gaps as of Poisson sources in a whole message and in what its buffer does not hold, where bursts above make
    /// others of them: conservation of work tells what the wait is longer by.
    pub(super) work: Option<&'s [Law; 2]>,
    /// Share of the time in which no other class is in a burst, if they come in bursts only; zero if others do not.
    pub(super) quiet: f64,
    /// `v_N`: what a header waits for higher classes.
    pub(super) set_up: &'s Law,
    /// Mean wait of a header for equal classes in the midst of their turn \[cells\].
    pub(super) header_wait: f64,
}

/// The queue at the interface, after a round.
#[derive(Clone)]
pub(super) struct SourceState {
    pub(super) in_buffer: InBuffer,
    /// The same by state, before the set-up.
    pub(super) by_state: WaitsByState,
    /// Mean wait before the interface \[cells\], from the cell in which the message is there.
    pub(super) waiting: f64,
    /// `λ b`, of long rows: 1 is saturation.
    pub(super) load: f64,
}

/// Shares of the messages of a bursty class by their predecessor at the interface.
struct Predecessors {
    /// With any predecessor.
    later: f64,
    /// Behind one that found the interface free.
    behind_first: f64,
    /// Behind another one: present when its service began, or arrived during it.
    there: f64,
    came: f64,
}

impl Predecessors {
    /// From the shares that find both free (`first`) or are directly behind such a message, the probability of no
    /// arrival during a service, and the mean wait and mean service.
    fn new(first: f64, second: f64, no_arrival: f64, (mean_wait, mean_service): (f64, f64)) -> Self {
        let later = (1.0 - first).max(1e-12);
        let behind_first = second.min(1.0 - first);
        let behind_later = (1.0 - first - behind_first).max(0.0);
        let there = (1.0 - (1.0 - behind_later / later) / no_arrival).clamp(0.0, 1.0) * later;
        let waits = mean_wait / later / mean_service;
        let kappa = ((waits - 0.5) / (waits + 0.5)).clamp(0.0, 1.0);
        let there = there.max(kappa * later);
        let behind_later = behind_later.max(there);
        Self { later, behind_first: later - behind_later, there, came: (behind_later - there).max(0.0) }
    }
}

impl Source<'_> {
    /// One round, from what blocks tails and the in-buffer waits of the last round.
    pub(super) fn round(&self, met: &OutputDelays, before: &WaitsByState) -> Result<SourceState, Overload> {
        match &self.bursts {
            Some(bursts) => self.in_bursts(bursts, met, &before.waits[LAST]),
            None => self.poisson(met, before),
        }
    }

    /// One round of a class with Poisson sources (module `in_buffer`).
    fn poisson(&self, met: &OutputDelays, before: &WaitsByState) -> Result<SourceState, Overload> {
        let rate = self.rate;
        let stalled = self.stalled(&met.blocked, self.coming);
        let work = self.work.map(|[gaps, rest]| (self.stalled(&met.blocked, rest), gaps));
        let service = self.shape.message + self.shape.header + stalled.mean();
        let room = self.room(met.blocked.mean() - met.waits.grant.mean(), service);
        let predecessors: [Predecessor; STATES] = std::array::from_fn(|j| {
            self.predecessor(j == IDLE, &before.waits[j], &stalled, work.as_ref(), room)
        });
        let entering: f64 =
            predecessors[LAST].parts.iter().map(|part| part.share * part.entering.mean()).sum();
        let load = rate * predecessors[LAST].service.mean().max(entering);
        let over = Overload { load, place: Place::Source };
        let Round { waits, wait } = in_buffer::next(self.grid, rate, &predecessors).ok_or(over)?;
        let waits = if self.holds_whole_messages() {
            waits
        } else {
            let most = Law::constant(room);
            waits.map(|law| law.min(&most))
        };
        let residence: f64 = waits.means().iter().sum();
        let alone = waits.shares[IDLE] * (self.header_wait + self.set_up.mean());
        // beside bursts gaps come together: the link is no M/G/1
        let bursts = self.work.is_some() || self.quiet > 0.0;
        let least = if bursts { 0.0 } else { self.wait_for_link() };
        let waiting = (wait - residence).max(least) + alone;
        Ok(SourceState { in_buffer: self.in_buffer(&waits), by_state: waits, waiting, load })
    }

    /// Mean wait for the link of the interface alone, with room for all in the buffer behind it: M/G/1 with services
    /// `M + G_1`, and `M + G_0` after the set-up of the first. A wait before the interface is no shorter.
    fn wait_for_link(&self) -> f64 {
        let Self { grid, rate, gaps, .. } = self;
        let m = self.shape.message;
        let (later, first) = (gaps[1].plus(m), grid.sum(&gaps[0].plus(m), self.set_up));
        let (b, f) = (later.mean(), first.mean());
        let (b_square, f_square) = (later.second_moment(), first.second_moment());
        if rate * b >= 1.0 {
            return 0.0;
        }
        // λ E[B^2] / 2 / (1 - λ b) + λ (E[F^2] - E[B^2]) / 2 / (1 + λ (f - b))
        let wait = b_square / (1.0 - rate * b) + (f_square - b_square) / (1.0 + rate * (f - b));
        (rate * wait / 2.0).max(0.0)
    }

    /// Effect on their successors of messages that found the interface `idle` or busy. Services are those of the `work`
    /// that is done, where bursts above make other gaps of it.
    fn predecessor(
        &self,
        idle: bool,
        waits: &Law,
        stalled: &Law,
        work: Option<&(Law, &Law)>,
        room: f64,
    ) -> Predecessor {
        let Self { grid, shape, .. } = self;
        let (m, header) = (shape.message, shape.header);
        // the first message of a busy period waits for the classes above; the buffer empties meanwhile
        let waits_above = idle && self.set_up.positive() > 0.0;
        let left = if waits_above { grid.excess(waits, self.set_up) } else { waits.clone() };
        let gaps = &self.gaps[usize::from(!idle)];
        let hidden = |stalled: &Law, gaps: &Law| stalled.max(&grid.excess(gaps, &left.plus(header)));
        let service = work.map_or_else(|| hidden(stalled, gaps), |(stalled, gaps)| hidden(stalled, gaps));
        let mut service = service.plus(m + header);
        if waits_above {
            service = grid.sum(&service, &grid.excess(self.set_up, waits));
        }
        let held_up = stalled.plus(header);
        let edge = room.ceil() as usize + 1;
        // a buffer that holds no whole message holds its tail back
        let whole_messages = self.holds_whole_messages();
        let (near, far) =
            if whole_messages { left.split(edge) } else { grid.sum(&left, &held_up).split(edge) };
        let part = |(share, law): (f64, Law)| {
            let mut entering = gaps.max(&law.less(room)).plus(m);
            if waits_above {
                entering = grid.sum(&entering, self.set_up);
            }
            let late = if whole_messages { grid.sum(&law.min(&Law::constant(room)), &held_up) } else { law };
            Part { share, late, entering }
        };
        Predecessor { parts: near.into_iter().chain(far).map(part).collect(), gaps: gaps.clone(), service }
    }

    /// One round of a class that comes in bursts.
    fn in_bursts(
        &self,
        bursts: &BurstySource,
        met: &OutputDelays,
        in_buffer: &Law,
    ) -> Result<SourceState, Overload> {
        let Self { grid, shape, rate, gaps, .. } = self;
        let (m, header) = (shape.message, shape.header);
        let stalled = self.stalled(&met.blocked, self.coming);
        let b0 = stalled.max(&gaps[0].less(header)).plus(m + header);
        let quiet = if self.work.is_none() { self.quiet.min(gaps[1].at(0)).min(0.999) } else { 0.0 };
        // no long wait in the buffer hides gaps that come one after another
        let hides = if quiet > 0.0 { Law::zero() } else { in_buffer.clone() };
        let b1 = stalled.max(&grid.excess(&gaps[1], &hides.plus(header))).plus(m + header);
        let (w0, w1) = match self.work {
            Some([gap, rest]) => {
                let x = self.stalled(&met.blocked, rest);
                (
                    x.max(&gap.less(header)).plus(m + header),
                    x.max(&grid.excess(gap, &in_buffer.plus(header))).plus(m + header),
                )
            }
            None => (b0.clone(), b1.clone()),
        };
        let load = rate * w1.mean();
        let over = Overload { load, place: Place::Source };
        if load >= 1.0 {
            return Err(over);
        }
        let service = |law: &Law| Service { mean: law.mean(), mean_square: law.second_moment() };
        let found = bursts.queue(service(&w1), service(&grid.sum(&w0, self.set_up)));
        let mean_wait = found.wait + found.first * self.set_up.mean();
        if !mean_wait.is_finite() {
            return Err(over);
        }
        let (first, second) = if quiet > 0.0 {
            Self::apart(bursts, quiet, &stalled.plus(m + header), &b1)
        } else {
            (found.first, found.second)
        };
        let Predecessors { later, behind_first, there, came } =
            Predecessors::new(first, second, b1.tilted(*rate), (mean_wait, w1.mean()));
        let room = Law::constant(self.room(met.blocked.mean() - met.waits.grant.mean(), b1.mean()));
        let ahead = if self.holds_whole_messages() { &in_buffer.min(&room) } else { in_buffer };
        let start = grid.sum(ahead, &stalled).plus(header);
        let parts = [
            (behind_first, self.met_in_service(&stalled.plus(header), &gaps[0])),
            (there, grid.excess(&start, &gaps[1])),
            (came, self.met_in_service(&start, &gaps[1])),
        ];
        let mut mixed = Law::mix(&parts);
        if quiet > 0.0 {
            let run = self.back_to_back(&stalled, there / later, &room);
            mixed = Law::mixture(&[(1.0 - quiet, &mixed), (quiet, &run)]);
        }
        let in_buffer = if self.holds_whole_messages() { mixed } else { mixed.min(&room) };
        let residence = (1.0 - first) * in_buffer.mean();
        let waiting = (mean_wait - residence).max(0.0) + first * self.header_wait;
        let by_state = WaitsByState::of_two(first, &in_buffer);
        Ok(SourceState { in_buffer: self.in_buffer(&by_state), by_state, waiting, load })
    }

    /// In-buffer wait while no other class is in a burst: `R = C + (x + H)^n`, `n` geometric with the ratio `κ`.
    fn back_to_back(&self, stalled: &Law, kappa: f64, room: &Law) -> Law {
        let (grid, header) = (self.grid, self.shape.header);
        let begin = grid.transform(&self.met_in_service(&stalled.plus(header), &Law::zero()));
        let step = grid.transform(&stalled.plus(header));
        let run = begin.iter().zip(&step).map(|(c, x)| c * (1.0 - kappa) / (1.0 - x * kappa));
        let run = grid.law(run.collect());
        if self.holds_whole_messages() {
            run.min(&grid.sum(room, stalled).plus(header))
        } else {
            run.min(room)
        }
    }

    /// How many messages find both free, and how many are directly behind one, where the others are away for the share
    /// `quiet` of the time and all gaps come in the rest: whether a stream alone overloads the source differs between
    /// both.
    fn apart(bursts: &BurstySource, quiet: f64, without: &Law, all: &Law) -> (f64, f64) {
        let (mean, square) = (without.mean(), without.second_moment());
        let rest = |all: f64, without: f64| (all - quiet * without) / (1.0 - quiet);
        let with = Service {
            mean: rest(all.mean(), mean).max(mean),
            mean_square: rest(all.second_moment(), square).max(square),
        };
        let without = Service { mean, mean_square: square };
        let (without, with) = (bursts.queue(without, without), bursts.queue(with, with));
        let mixed = |without: f64, with: f64| quiet * without + (1.0 - quiet) * with;
        (mixed(without.first, with.first), mixed(without.second, with.second))
    }

    /// Time for which a tail is blocked: `x`. A message longer than the buffer stalls the interface: later arrivals of
    /// others between the rest of its flits are added, as far as a full buffer does not hide them. The work found at
    /// the start has been sent during the stall.
    fn stalled(&self, blocked: &Law, coming: &Law) -> Law {
        if !self.shape.is_short() {
            return blocked.clone();
        }
        let b = self.shape.buffer;
        let stall: f64 = blocked.probabilities().iter().skip(b.ceil() as usize + 1).sum();
        self.grid.sum(blocked, &coming.less(b).sometimes(stall))
    }

    /// Waits in the buffer after the set-up.
    pub(super) fn in_buffer(&self, waits: &WaitsByState) -> InBuffer {
        waits.in_buffer(self.set_up, self.grid)
    }

    /// In-buffer wait behind lone messages that fill the buffer.
    pub(super) fn full(&self) -> WaitsByState {
        WaitsByState::of_two(0.0, &Law::constant(self.room(0.0, self.shape.message + self.shape.header)))
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
