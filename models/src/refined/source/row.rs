//! Messages of one class in a row, from the interface through the first input channel.
//!
//! A message enters when the one before it has left the interface, and is served when that one has left the channel.
//! With `S = x + H` what holds it up there beyond its flits, `G` its gaps, `R` its wait in the buffer and `r` the room
//! there,
//!
//! ```text
//! at the interface  E = M + max(G, (R - r)+),   in the channel  B = M + max(S, G - R)
//! R_next = (min(R, r) + S - G)+             if the next one is there before it has left the interface
//! R_next = (min(R, r) + S - G - Exp(λ))+    otherwise
//! ```
//!
//! Long rows build up what is waited in the buffer, what is waited there hides gaps, and a full buffer holds up the
//! interface: services and waits of messages in a row are not independent. So Poisson messages are followed by what
//! they find and leave at the interface: free (`j = 0`), or, behind another, `l = j - 1` others when they enter
//! themselves. The number behind goes down by one at a time; with `A` arrivals during `E`, `N_j` messages in state `j`
//! and `e_j = E[E]`
//!
//! ```text
//! N_j P_j(A = 0) = N_0 P_0(A >= j) + Σ_(0 < i < j) N_i P_i(A >= j + 1 - i)
//! N_0 = (1 - λ e) / (1 + λ Σ n_j (e_j - e)),   n_j = N_j / N_0
//! ```
//!
//! where the last state is that of all with as many behind them or more, and `e` belongs to it. Who comes while a
//! message waits at the interface is Poisson, too: `E[W; l] = (l + 1) P(l + 1) / λ`; so from the second moment of
//! Lindley's recursion for the channel, with the mean time `T_j = W_j + R_j` before the service of mean `b_j`
//!
//! ```text
//! E[T] = [λ E[B^2] / 2 + λ Σ N_j T_j (b_j - b)] / (1 - λ b)
//! ```
//!
//! Within a state what a message waits is independent of what comes next, but for whether the buffer is full and
//! whether anybody comes during its gaps (our approximation).

use crate::refined::grid::Grid;
use crate::refined::law::Law;

/// States of messages: the interface is free; they come behind another and have 0, 1, .. behind them when they enter
/// themselves, in the last state that many or more.
pub(in crate::refined) const STATES: usize = 4;

/// Those that find their interface free.
pub(super) const FREE: usize = 0;
/// Those with the most behind them.
pub(super) const LAST: usize = STATES - 1;

/// What messages wait in the buffer, by state.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::refined) struct Row {
    /// `R_j`
    pub(in crate::refined) waits: [Law; STATES],
    /// How many are in each.
    pub(in crate::refined) shares: [f64; STATES],
}

impl Row {
    /// Nobody is behind another.
    pub(in crate::refined) fn nobody() -> Self {
        Self::of_two(1.0, &Law::zero())
    }

    /// A share finds the interface free and waits for nothing; the others have others behind them, and one law.
    pub(super) fn of_two(free: f64, behind: &Law) -> Self {
        let mut row = Self { waits: std::array::from_fn(|_| behind.clone()), shares: [0.0; STATES] };
        row.waits[FREE] = Law::zero();
        (row.shares[FREE], row.shares[LAST]) = (free, 1.0 - free);
        row
    }

    /// Means, each as often as it is meant.
    pub(in crate::refined) fn means(&self) -> [f64; STATES] {
        std::array::from_fn(|j| self.shares[j] * self.waits[j].mean())
    }

    pub(super) fn map(&self, f: impl Fn(&Law) -> Law) -> Self {
        Self { waits: std::array::from_fn(|j| f(&self.waits[j])), shares: self.shares }
    }

    pub(in crate::refined) fn mixture(parts: &[(f64, &Self)]) -> Self {
        let wait = |j: usize| {
            Law::mixture(&parts.iter().map(|(weight, row)| (*weight, &row.waits[j])).collect::<Vec<_>>())
        };
        let share = |j: usize| parts.iter().map(|(weight, row)| weight * row.shares[j]).sum::<f64>().max(0.0);
        let shares: [f64; STATES] = std::array::from_fn(share);
        let all = shares.iter().sum::<f64>().max(1.0);
        Self { waits: std::array::from_fn(wait), shares: shares.map(|share| share / all) }
    }

    /// The same times in other cells.
    pub(in crate::refined) fn stretched(&self, factor: f64) -> Self {
        self.map(|law| law.stretched(factor))
    }

    /// What they wait, by what they find at the interface, where the first wait for `set_up`, their buffer being
    /// emptied meanwhile.
    pub(super) fn in_buffer(&self, set_up: &Law, grid: &Grid) -> InBuffer {
        let free = self.shares[FREE];
        let late = grid.excess(&self.waits[FREE], set_up);
        let behind: Vec<(f64, &Law)> = self.shares.iter().copied().zip(&self.waits).skip(1).collect();
        InBuffer { free, waits: [late, Law::mixture(&behind)] }
    }
}

/// What messages wait in the first input buffer.
#[derive(Clone, Debug)]
pub(in crate::refined) struct InBuffer {
    /// Share of the messages that find their interface free.
    pub(in crate::refined) free: f64,
    /// Of these, and of those that find another of their class there.
    pub(in crate::refined) waits: [Law; 2],
}

impl InBuffer {
    /// None of all that find the interface free.
    pub(in crate::refined) fn none() -> Self {
        Self { free: 1.0, waits: [Law::zero(), Law::zero()] }
    }

    /// Shares of both.
    pub(in crate::refined) fn shares(&self) -> [f64; 2] {
        [self.free, 1.0 - self.free]
    }

    pub(in crate::refined) fn mean(&self) -> f64 {
        self.shares().iter().zip(&self.waits).map(|(share, law)| share * law.mean()).sum()
    }
}

/// What the messages in one state do to those behind them \[cells\].
pub(super) struct Ahead {
    /// `G`
    pub(super) gaps: Law,
    /// `B`
    pub(super) service: Law,
    /// Those that find room in the buffer, and those that find it full.
    pub(super) parts: Vec<Part>,
}

/// Those of a state that find room, or do not.
pub(super) struct Part {
    pub(super) share: f64,
    /// `min(R, r) + S`
    pub(super) late: Law,
    /// `E`
    pub(super) entering: Law,
}

/// What messages in a row come to.
pub(super) struct Rows {
    pub(super) row: Row,
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

/// What one part of a state leads to.
struct Next {
    share: f64,
    entering: f64,
    /// `P(A = 0)`, `P(A = 1)`, ..
    arriving: [f64; STATES],
    /// `min(R, r) + S - G` where nobody comes, and where somebody does.
    nobody: Law,
    anybody: Law,
}

impl Next {
    fn new(grid: &Grid, rate: f64, part: &Part, gaps: &Law) -> Self {
        let arriving = arrivals(&part.entering, rate);
        let nobody = grid.excess(&part.late, &gaps.tilted_law(rate));
        let all = grid.excess(&part.late, gaps);
        let rest =
            all.probabilities().iter().enumerate().map(|(x, p)| (p - arriving[0] * nobody.at(x)).max(0.0));
        let anybody = Law::of(rest.collect());
        Self { share: part.share, entering: part.entering.mean(), arriving, nobody, anybody }
    }

    /// `P(A >= k)`
    fn at_least(&self, k: usize) -> f64 {
        (1.0 - self.arriving[..k].iter().sum::<f64>()).max(0.0)
    }
}

/// The next round of a row of Poisson messages; none if what it leads to has no steady state.
pub(super) fn next(grid: &Grid, rate: f64, ahead: &[Ahead; STATES]) -> Option<Rows> {
    let next: [Vec<Next>; STATES] = std::array::from_fn(|j| {
        ahead[j].parts.iter().map(|part| Next::new(grid, rate, part, &ahead[j].gaps)).collect()
    });
    let mean = |j: usize, of: &dyn Fn(&Next) -> f64| -> f64 {
        next[j].iter().map(|part| part.share * of(part)).sum()
    };
    let entering: [f64; STATES] = std::array::from_fn(|j| mean(j, &|part| part.entering));
    let service: [f64; STATES] = std::array::from_fn(|j| ahead[j].service.mean());
    if rate * entering[LAST].max(service[LAST]) >= 1.0 {
        return None;
    }
    let (shares, edge) = shares(rate, &entering, |j, k| mean(j, &|part| part.at_least(k)));
    let row = Row { waits: waits(rate, &next, &shares, edge), shares };
    // E[W; l] = (l + 1) P(l + 1) / rate
    let at_interface = |j: usize| match j {
        FREE => 0.0,
        _ => j as f64 * if j + 1 == LAST { edge } else { shares[j + 1] } / rate,
    };
    let in_buffer = row.means();
    let square: f64 = (0..STATES).map(|j| shares[j] * ahead[j].service.second_moment()).sum();
    let apart = |j: usize| (at_interface(j) + in_buffer[j]) * (service[j] - service[LAST]);
    let wait = rate * (square / 2.0 + (0..LAST).map(apart).sum::<f64>()) / (1.0 - rate * service[LAST]);
    Some(Rows { row, wait })
}

/// `N_j`, and how many of the last state have no more behind them than those there have at least.
fn shares(
    rate: f64,
    entering: &[f64; STATES],
    at_least: impl Fn(usize, usize) -> f64,
) -> ([f64; STATES], f64) {
    let mut n = [0.0; STATES];
    n[FREE] = 1.0;
    for j in 1..STATES {
        let up: f64 = (1..j).map(|i| n[i] * at_least(i, j + 1 - i)).sum();
        n[j] = (at_least(FREE, j) + up) / (1.0 - at_least(j, 1)).max(1e-300);
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
fn waits(rate: f64, next: &[Vec<Next>; STATES], shares: &[f64; STATES], edge: f64) -> [Law; STATES] {
    let each = |i: usize, share: f64| next[i].iter().map(move |part| (share * part.share, part));
    let alone = [FREE, 1].into_iter().flat_map(|i| each(i, shares[i]));
    let alone: Vec<(f64, &Law)> =
        alone.map(|(share, part)| (share * part.arriving[0], &part.nobody)).collect();
    let free = less_exponential(&Law::mixture(&alone), rate);
    std::array::from_fn(|j| {
        if j == FREE {
            return free.clone();
        }
        let mut parts: Vec<(f64, &Law)> = Vec::new();
        // so many come, in the last state so many or more
        let come = |part: &Next, k: usize| if j == LAST { part.at_least(k) } else { part.arriving[k] };
        parts.extend(each(FREE, shares[FREE]).map(|(share, part)| (share * come(part, j), &part.anybody)));
        for (i, share) in shares.iter().enumerate().take(LAST.min(j + 2)).skip(1) {
            let from = each(i, *share);
            match j + 1 - i {
                0 => parts.extend(from.map(|(share, part)| (share * part.arriving[0], &part.nobody))),
                k => parts.extend(from.map(|(share, part)| (share * come(part, k), &part.anybody))),
            }
        }
        if j == LAST {
            parts.extend(
                each(LAST, shares[LAST])
                    .map(|(share, part)| (share * (1.0 - part.arriving[0]), &part.anybody)),
            );
        }
        // one leaves, nobody comes: those at the edge go down
        let stays = if j == LAST { shares[LAST] - edge } else { edge };
        if j + 1 >= LAST {
            parts.extend(each(LAST, stays).map(|(share, part)| (share * part.arriving[0], &part.nobody)));
        }
        Law::mixture(&parts)
    })
}

#[cfg(test)]
mod tests;
