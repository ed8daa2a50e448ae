//! Successive messages of one Poisson class: their waits in the first input buffer.
//!
//! A message enters the buffer when its predecessor has left the interface, and is served when its predecessor has left
//! the input channel. `S = x + H` is the time for which its tail is blocked there, `G` its gaps, `R` its wait in the
//! buffer and `r` the room of the buffer:
//!
//! ```text
//! at the interface  E = M + max(G, (R - r)+),   in the channel  B = M + max(S, G - R)
//! R_next = (min(R, r) + S - G)+             if the next message arrives during E
//! R_next = (min(R, r) + S - G - Exp(λ))+    otherwise
//! ```
//!
//! Reason: services and waits of successive messages depend on each other. Waits grow along a busy period, a wait in
//! the buffer hides gaps, and a full buffer blocks the interface. So messages have states: the interface is idle on
//! arrival (`j = 0`), or it is busy and `j - 1` messages are behind when the message enters. The number behind falls by
//! one at a time. With `A` arrivals during `E`, `N_j` the shares of the states and `e_j = E[E]`
//!
//! ```text
//! N_j P_j(A = 0) = N_0 P_0(A >= j) + Σ_(0 < i < j) N_i P_i(A >= j + 1 - i)
//! N_0 = (1 - λ e) / (1 + λ Σ n_j (e_j - e)),   n_j = N_j / N_0
//! ```
//!
//! The last state holds all messages with as many behind them or more; `e` belongs to it. Arrivals during a wait at the
//! interface are Poisson, too: `E[W; l] = (l + 1) P(l + 1) / λ`. So the second moment of Lindley's recursion for the
//! channel gives, with the mean time `T_j = W_j + R_j` before the service of mean `b_j`,
//!
//! ```text
//! E[T] = [λ E[B^2] / 2 + λ Σ N_j T_j (b_j - b)] / (1 - λ b)
//! ```
//!
//! Within a state a wait is independent of later arrivals, given whether the buffer is full and whether a message
//! arrives during the gaps (our approximation). With two states instead of four, best effort's wait is off by 1 point
//! more on average and, next to its saturation, by up to 80.

use super::grid::Grid;
use super::law::Law;

/// States of messages: the interface is idle on arrival; or it is busy, with 0, 1, .. messages behind on entry, in the
/// last state that many or more.
pub(super) const STATES: usize = 4;

/// The interface is idle on arrival.
pub(super) const IDLE: usize = 0;
/// Most messages behind.
pub(super) const LAST: usize = STATES - 1;

/// Waits in the buffer by state, before the set-up of a busy period.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct WaitsByState {
    /// `R_j`
    pub(super) waits: [Law; STATES],
    /// `N_j`
    pub(super) shares: [f64; STATES],
}

impl WaitsByState {
    /// All find an idle interface.
    pub(super) fn none() -> Self {
        Self::of_two(1.0, &Law::zero())
    }

    /// A share finds the interface idle and waits for nothing; the others have others behind them, and one law.
    pub(super) fn of_two(idle: f64, behind: &Law) -> Self {
        let mut row = Self { waits: std::array::from_fn(|_| behind.clone()), shares: [0.0; STATES] };
        row.waits[IDLE] = Law::zero();
        (row.shares[IDLE], row.shares[LAST]) = (idle, 1.0 - idle);
        row
    }

    /// `N_j E[R_j]`
    pub(super) fn means(&self) -> [f64; STATES] {
        std::array::from_fn(|j| self.shares[j] * self.waits[j].mean())
    }

    pub(super) fn map(&self, f: impl Fn(&Law) -> Law) -> Self {
        Self { waits: std::array::from_fn(|j| f(&self.waits[j])), shares: self.shares }
    }

    pub(super) fn mixture(parts: &[(f64, &Self)]) -> Self {
        let wait = |j: usize| {
            Law::mixture(&parts.iter().map(|(weight, row)| (*weight, &row.waits[j])).collect::<Vec<_>>())
        };
        let share = |j: usize| parts.iter().map(|(weight, row)| weight * row.shares[j]).sum::<f64>().max(0.0);
        let shares: [f64; STATES] = std::array::from_fn(share);
        let all = shares.iter().sum::<f64>().max(1.0);
        Self { waits: std::array::from_fn(wait), shares: shares.map(|share| share / all) }
    }

    /// The same times in other cells.
    pub(super) fn stretched(&self, factor: f64) -> Self {
        self.map(|law| law.stretched(factor))
    }

    /// Waits after the `set_up` of the first message of a busy period, during which the buffer empties.
    pub(super) fn in_buffer(&self, set_up: &Law, grid: &Grid) -> InBuffer {
        let idle = self.shares[IDLE];
        let late = grid.excess(&self.waits[IDLE], set_up);
        let behind: Vec<(f64, &Law)> = self.shares.iter().copied().zip(&self.waits).skip(1).collect();
        InBuffer { idle, waits: [late, Law::mixture(&behind)] }
    }
}

/// Waits in the first input buffer.
#[derive(Clone, Debug)]
pub(super) struct InBuffer {
    /// Share of the messages that find their interface idle.
    pub(super) idle: f64,
    /// Of these, and of those that find it busy.
    pub(super) waits: [Law; 2],
}

impl InBuffer {
    /// Over messages of several senders.
    pub(super) fn over<'b>(parts: impl Iterator<Item = (f64, &'b Self)>) -> Self {
        let parts: Vec<(f64, &Self)> = parts.collect();
        if let [(_, one)] = parts.as_slice() {
            return (*one).clone();
        }
        let wait = |i: usize| {
            let weights: Vec<(f64, &Law)> =
                parts.iter().map(|(share, of)| (share * of.shares()[i], &of.waits[i])).collect();
            let all: f64 = weights.iter().map(|(weight, _)| weight).sum();
            if all <= 0.0 {
                return Law::zero();
            }
            Law::mixture(&weights.iter().map(|(weight, law)| (weight / all, *law)).collect::<Vec<_>>())
        };
        Self {
            idle: parts.iter().map(|(share, of)| share * of.idle).sum::<f64>().min(1.0),
            waits: [wait(0), wait(1)],
        }
    }

    /// No wait, all interfaces idle.
    pub(super) fn none() -> Self {
        Self { idle: 1.0, waits: [Law::zero(), Law::zero()] }
    }

    /// Shares of both.
    pub(super) fn shares(&self) -> [f64; 2] {
        [self.idle, 1.0 - self.idle]
    }

    pub(super) fn mean(&self) -> f64 {
        self.shares().iter().zip(&self.waits).map(|(share, law)| share * law.mean()).sum()
    }
}

/// Effect of the messages in one state on their successors \[cells\].
pub(super) struct Predecessor {
    /// `G`
    pub(super) gaps: Law,
    /// `B`
    pub(super) service: Law,
    /// Messages that find room in the buffer, and those that find it full.
    pub(super) parts: Vec<Part>,
}

/// Messages of a state that find room, or do not.
pub(super) struct Part {
    pub(super) share: f64,
    /// `min(R, r) + S`
    pub(super) late: Law,
    /// `E`
    pub(super) entering: Law,
}

/// A round of the recursion.
pub(super) struct Round {
    pub(super) waits: WaitsByState,
    /// `E[T]`: mean wait for the channel.
    pub(super) wait: f64,
}

/// Probabilities of `0, 1, ..` arrivals at a rate during a time.
fn arrivals(time: &Law, rate: f64) -> [f64; STATES] {
    let decay = (-rate).exp();
    let mut found = [0.0; STATES];
    let mut power = 1.0;
    for (x, p) in time.probabilities().iter().enumerate() {
        let mut weight = p * power;
        for (k, sum) in found.iter_mut().enumerate() {
            *sum += weight;
            weight *= rate * x as f64 / (k + 1) as f64;
        }
        power *= decay;
    }
    found
}

/// `(X - A)+`, `A ~ Exp(rate)`.
fn less_exponential(law: &Law, rate: f64) -> Law {
    let decay = (-rate).exp();
    let n = law.probabilities().len();
    let mut weights = vec![0.0; n + 1];
    // P(.. > r) = Σ_(x > r) p_x (1 - exp(-rate (x - r)))
    let (mut beyond, mut late, mut above) = (0.0, 0.0, 0.0);
    for r in (0..n).rev() {
        let tail: f64 = beyond - late;
        weights[r + 1] = tail - above;
        above = tail;
        beyond += law.at(r);
        late = (late + law.at(r)) * decay;
    }
    weights[0] = beyond - above;
    Law::of(weights)
}

/// Waits behind one part of a state.
struct Successor {
    share: f64,
    entering: f64,
    /// `P(A = 0)`, `P(A = 1)`, ..
    arriving: [f64; STATES],
    /// `min(R, r) + S - G` if no message arrives during `E`, and if one does.
    without_arrival: Law,
    with_arrival: Law,
}

impl Successor {
    fn new(grid: &Grid, rate: f64, part: &Part, gaps: &Law) -> Self {
        let arriving = arrivals(&part.entering, rate);
        let without_arrival = grid.excess(&part.late, &gaps.tilted_law(rate));
        let all = grid.excess(&part.late, gaps);
        let rest = all
            .probabilities()
            .iter()
            .enumerate()
            .map(|(x, p)| (p - arriving[0] * without_arrival.at(x)).max(0.0));
        let with_arrival = Law::of(rest.collect());
        Self { share: part.share, entering: part.entering.mean(), arriving, without_arrival, with_arrival }
    }

    /// `P(A >= k)`
    fn at_least(&self, k: usize) -> f64 {
        (1.0 - self.arriving[..k].iter().sum::<f64>()).max(0.0)
    }
}

/// The next round; none without a steady state.
pub(super) fn next(grid: &Grid, rate: f64, before: &[Predecessor; STATES]) -> Option<Round> {
    let next: [Vec<Successor>; STATES] = std::array::from_fn(|j| {
        before[j].parts.iter().map(|part| Successor::new(grid, rate, part, &before[j].gaps)).collect()
    });
    let mean = |j: usize, of: &dyn Fn(&Successor) -> f64| -> f64 {
        next[j].iter().map(|part| part.share * of(part)).sum()
    };
    let entering: [f64; STATES] = std::array::from_fn(|j| mean(j, &|part| part.entering));
    let service: [f64; STATES] = std::array::from_fn(|j| before[j].service.mean());
    if rate * entering[LAST].max(service[LAST]) >= 1.0 {
        return None;
    }
    let (shares, edge) = shares(rate, &entering, |j, k| mean(j, &|part| part.at_least(k)));
    let found = WaitsByState { waits: waits(rate, &next, &shares, edge), shares };
    // E[W; l] = (l + 1) P(l + 1) / rate
    let at_interface = |j: usize| match j {
        IDLE => 0.0,
        _ => j as f64 * if j + 1 == LAST { edge } else { shares[j + 1] } / rate,
    };
    let in_buffer = found.means();
    let square: f64 = (0..STATES).map(|j| shares[j] * before[j].service.second_moment()).sum();
    let apart = |j: usize| (at_interface(j) + in_buffer[j]) * (service[j] - service[LAST]);
    let wait = rate * (square / 2.0 + (0..LAST).map(apart).sum::<f64>()) / (1.0 - rate * service[LAST]);
    Some(Round { waits: found, wait })
}

/// `N_j`, and how many of the last state have no more behind them than those there have at least.
fn shares(
    rate: f64,
    entering: &[f64; STATES],
    at_least: impl Fn(usize, usize) -> f64,
) -> ([f64; STATES], f64) {
    let mut n = [0.0; STATES];
    n[IDLE] = 1.0;
    for j in 1..STATES {
        let up: f64 = (1..j).map(|i| n[i] * at_least(i, j + 1 - i)).sum();
        n[j] = (at_least(IDLE, j) + up) / (1.0 - at_least(j, 1)).max(1e-300);
    }
    let below: f64 = n[..LAST].iter().sum();
    let apart: f64 = (0..LAST).map(|j| n[j] * (entering[j] - entering[LAST])).sum();
    let free = (1.0 - rate * entering[LAST]) / (1.0 + rate * apart);
    // waits of the last round may not fit
    let free = if free > 0.0 { free } else { 1.0 }.min(1.0 / below);
    let mut shares = n.map(|n| free * n);
    let edge = shares[LAST];
    shares[LAST] = (1.0 - free * below).max(0.0);
    (shares, edge.min(shares[LAST]))
}

/// `R_j` of the next messages.
fn waits(rate: f64, next: &[Vec<Successor>; STATES], shares: &[f64; STATES], edge: f64) -> [Law; STATES] {
    let each = |i: usize, share: f64| next[i].iter().map(move |part| (share * part.share, part));
    let alone = [IDLE, 1].into_iter().flat_map(|i| each(i, shares[i]));
    let alone: Vec<(f64, &Law)> =
        alone.map(|(share, part)| (share * part.arriving[0], &part.without_arrival)).collect();
    let free = less_exponential(&Law::mixture(&alone), rate);
    std::array::from_fn(|j| {
        if j == IDLE {
            return free.clone();
        }
        let mut parts: Vec<(f64, &Law)> = Vec::new();
        // so many come, in the last state so many or more
        let come = |part: &Successor, k: usize| if j == LAST { part.at_least(k) } else { part.arriving[k] };
        parts.extend(
            each(IDLE, shares[IDLE]).map(|(share, part)| (share * come(part, j), &part.with_arrival)),
        );
        for (i, share) in shares.iter().enumerate().take(LAST.min(j + 2)).skip(1) {
            let from = each(i, *share);
            match j + 1 - i {
                0 => {
                    parts.extend(from.map(|(share, part)| (share * part.arriving[0], &part.without_arrival)))
                }
                k => parts.extend(from.map(|(share, part)| (share * come(part, k), &part.with_arrival))),
            }
        }
        if j == LAST {
            parts.extend(
                each(LAST, shares[LAST])
                    .map(|(share, part)| (share * (1.0 - part.arriving[0]), &part.with_arrival)),
            );
        }
        // one leaves, without_arrival comes: those at the edge go down
        let stays = if j == LAST { shares[LAST] - edge } else { edge };
        if j + 1 >= LAST {
            parts.extend(
                each(LAST, stays).map(|(share, part)| (share * part.arriving[0], &part.without_arrival)),
            );
        }
        Law::mixture(&parts)
    })
}

#[cfg(test)]
mod tests;
