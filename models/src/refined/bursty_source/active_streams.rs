//! How many streams are in a burst, over all time and while the fluid queue that they feed is empty.
//!
//! The fluid queue: each of `k` streams is ON for a share `α` of the time and then brings `r` of what the server
//! can do, so that the queue changes at rate `j r - 1` while `j` streams are ON; ON and OFF times are exponential
//! \[AMS82, restated in DK04\]. Of its stationary law only `G_j = P(queue empty, j ON)` is wanted. No time enters it:
//! stretching all times alike leaves `G_j` as it is, so that `k`, `α` and `r` are all it depends on.
//!
//! While the queue is empty, `j` walks over the *spare* states `j r < 1`, one up or one down; from the highest of
//! them it leaves to the *overloaded* ones, and comes back to some spare state `i` with probability `ψ_i` when the
//! queue has emptied: the row of the first-return matrix `Ψ` \[LN18\] of the lowest overloaded state. `Ψ` is the
//! least non-negative solution of a Riccati equation; doubling finds it in about ten steps, and in as many more as
//! the load has nines. The walk then gives `G_j` by cuts between neighbouring states. What is kept is the
//! *displaced* share `D_j = π_j - G_j`, with `π_j` the binomial law, because that is what waiting comes from, and
//! small differences of large numbers are to be avoided; `Σ G_j (1 - j r) = 1 - ρ` is `Σ D_j (1 - j r) = 0`.

use nalgebra::DMatrix;

/// The most states that are told apart; when more matter, the walk takes them in strides.
const MAX_STATES: usize = 32;
/// States less likely than this are left out.
const NEGLIGIBLE: f64 = 1e-15;
/// A state in which the queue would stand still moves at this rate.
const STILL: f64 = 1e-9;
/// The most doublings; each doubles the length of the paths that are counted.
const MAX_DOUBLINGS: usize = 64;
/// Relative change at which it ends: the next one would be its square.
const CONVERGED: f64 = 1e-9;

/// One number of streams in a burst.
#[derive(Clone, Copy, Debug)]
pub(in crate::refined) struct State {
    /// `j`: streams in a burst.
    pub(in crate::refined) active: f64,
    /// `π_j`: share of the time.
    pub(in crate::refined) share: f64,
    /// `D_j`: share of the time with `j` streams in a burst and work left over from overload.
    pub(in crate::refined) displaced: f64,
    /// `1 - j r`: what the server has to spare, negative under overload.
    pub(in crate::refined) spare: f64,
}

impl State {
    /// `G_j`: share of the time with `j` streams in a burst and nothing left over.
    pub(in crate::refined) fn clear(&self) -> f64 {
        if self.spare > 0.0 { (self.share - self.displaced).max(0.0) } else { 0.0 }
    }
}

/// The states that matter, for `streams` streams that are ON for a share `on` of the time (0 to 1, both excluded)
/// and bring `load` (`r`) each while they are; their mean load `ρ` is below 1.
pub(in crate::refined) fn active_streams(streams: f64, on: f64, load: f64) -> Vec<State> {
    told_apart(streams, on, load, MAX_STATES)
}

/// The same in at most so many states.
pub(in crate::refined) fn told_apart(streams: f64, on: f64, load: f64, most: usize) -> Vec<State> {
    let (mut states, stride) = binomial(streams, on, most);
    for state in &mut states {
        state.spare = 1.0 - state.active * load;
    }
    let spare = states.iter().take_while(|state| state.spare > 0.0).count();
    if spare > 0 && spare < states.len() {
        let walk = Walk::new(&states, streams, on, stride);
        displace(&mut states, spare, &walk);
    }
    states
}

/// `ψ_i` by the number of streams: in which states overload leaves the queue empty; nothing if there is none.
pub(in crate::refined) fn returns(streams: f64, on: f64, load: f64) -> Vec<(f64, f64)> {
    let (mut states, stride) = binomial(streams, on, MAX_STATES);
    for state in &mut states {
        state.spare = 1.0 - state.active * load;
    }
    let spare = states.iter().take_while(|state| state.spare > 0.0).count();
    if spare == 0 || spare == states.len() {
        return Vec::new();
    }
    let back = if spare == 1 {
        vec![1.0]
    } else {
        first_return(&states, spare, &Walk::new(&states, streams, on, stride))
    };
    states.iter().zip(back).map(|(state, share)| (state.active, share)).collect()
}

/// The binomial law where it matters, and the stride from state to state.
fn binomial(streams: f64, on: f64, most: usize) -> (Vec<State>, f64) {
    let mode = ((streams + 1.0) * on).floor().min(streams);
    let odds = on / (1.0 - on);
    // relative to the mode, outwards until negligible
    let mut below = Vec::new();
    let (mut active, mut share) = (mode, 1.0);
    while active > 0.0 {
        share *= active / ((streams - active + 1.0) * odds);
        active -= 1.0;
        if share < NEGLIGIBLE {
            break;
        }
        below.push((active, share));
    }
    let mut all: Vec<(f64, f64)> = below.into_iter().rev().collect();
    all.push((mode, 1.0));
    (active, share) = (mode, 1.0);
    while active < streams {
        share *= (streams - active) * odds / (active + 1.0);
        active += 1.0;
        if share < NEGLIGIBLE {
            break;
        }
        all.push((active, share));
    }
    let stride = all.len().div_ceil(most);
    let total: f64 = all.iter().step_by(stride).map(|(_, share)| share).sum();
    let state =
        |&(active, share): &(f64, f64)| State { active, share: share / total, displaced: 0.0, spare: 0.0 };
    (all.iter().step_by(stride).map(state).collect(), stride as f64)
}

/// Rates of the walk between neighbouring states, in units of the rate at which a stream's burst ends.
struct Walk {
    /// From each state to the next.
    up: Vec<f64>,
    /// From each state to the one before.
    down: Vec<f64>,
}

impl Walk {
    /// One stream at a time; in strides, the walk of the same diffusion that keeps the shares.
    fn new(states: &[State], streams: f64, on: f64, stride: f64) -> Self {
        let last = states.len() - 1;
        let odds = on / (1.0 - on);
        // σ² / 2 = k α over the square of the stride
        let pace = streams * on / (stride * stride);
        let up = |i: usize| match i {
            _ if i == last => 0.0,
            _ if stride > 1.0 => pace * (states[i + 1].share / states[i].share).sqrt(),
            _ => (streams - states[i].active) * odds,
        };
        let down = |i: usize| match i {
            0 => 0.0,
            _ if stride > 1.0 => pace * (states[i - 1].share / states[i].share).sqrt(),
            _ => states[i].active,
        };
        Self { up: (0..=last).map(up).collect(), down: (0..=last).map(down).collect() }
    }
}

/// Fills in what is displaced; the first `spare` states are spare, and there are others.
fn displace(states: &mut [State], spare: usize, walk: &Walk) {
    let overload: f64 = states[spare..].iter().map(|state| -state.share * state.spare).sum();
    for state in &mut states[spare..] {
        state.displaced = state.share;
    }
    if spare == 1 {
        // ρ = 1 - G_0: only while no stream is in a burst can the queue be empty
        states[0].displaced = (overload / states[0].spare).min(states[0].share);
        return;
    }
    let back = first_return(states, spare, walk);
    // cuts: D_i v_i = D_(i-1) u_(i-1) + g S_i with S_i = Σ_(l<i) ψ_l and g the rate of leaving to overload,
    // so that D_i = δ π_i + g y_i
    let mut y = vec![0.0; spare];
    let mut returned = 0.0;
    for i in 1..spare {
        returned += back[i - 1];
        y[i] = (y[i - 1] * walk.up[i - 1] + returned) / walk.down[i];
    }
    // G = g / u in the highest spare state:  δ π + g (y + 1 / u) = π
    // Σ D_j (1 - j r) = 0:                   δ Σ π (1 - j r) + g Σ y (1 - j r) = overload
    let top = states[spare - 1].share;
    let from_top = y[spare - 1] + 1.0 / walk.up[spare - 1];
    let room: f64 = states[..spare].iter().map(|state| state.share * state.spare).sum();
    let from_leaving: f64 = y.iter().zip(&*states).map(|(y, state)| y * state.spare).sum();
    let determinant = top * from_leaving - room * from_top;
    let delta = (top * from_leaving - overload * from_top) / determinant;
    let leaving = top * (overload - room) / determinant;
    for (state, y) in states[..spare].iter_mut().zip(y) {
        state.displaced = (delta * state.share + leaving * y).clamp(0.0, state.share);
    }
}

/// `ψ_i`: where the walk is when the queue has emptied after overload.
fn first_return(states: &[State], spare: usize, walk: &Walk) -> Vec<f64> {
    match first_returns(states, spare, walk) {
        Some(x) => {
            let total: f64 = x.row(0).sum();
            if total > 0.0 { x.row(0).iter().map(|share| share / total).collect() } else { highest(spare) }
        }
        None => highest(spare),
    }
}

/// `Ψ`: from each overloaded state to the spare state in which the queue is back where it was.
fn first_returns(states: &[State], spare: usize, walk: &Walk) -> Option<DMatrix<f64>> {
    let pace = |i: usize| 1.0 / states[i].spare.abs().max(STILL);
    let over = states.len() - spare;
    // A X + X D = B + X C X, with A, D (minus) the rates per unit of queue among overloaded and among spare states,
    // B from the lowest overloaded to the highest spare state, C back
    let generator = |from: usize, size: usize| {
        DMatrix::from_fn(size, size, |row, column| {
            let i = from + row;
            let rate = match column {
                _ if column == row => walk.up[i] + walk.down[i],
                _ if column == row + 1 => -walk.up[i],
                _ if column + 1 == row => -walk.down[i],
                _ => 0.0,
            };
            rate * pace(i)
        })
    };
    let a = generator(spare, over);
    let d = generator(0, spare);
    let mut b = DMatrix::zeros(over, spare);
    b[(0, spare - 1)] = walk.down[spare] * pace(spare);
    let mut c = DMatrix::zeros(spare, over);
    c[(spare - 1, 0)] = walk.up[spare - 1] * pace(spare - 1);
    doubling(&a, &b, &c, &d)
}

/// The queue empties just when overload ends.
fn highest(spare: usize) -> Vec<f64> {
    (0..spare).map(|i| f64::from(u8::from(i + 1 == spare))).collect()
}

/// The least non-negative `X` of `A X + X D = B + X C X`, by alternating-directional doubling \[WWL12\].
fn doubling(a: &DMatrix<f64>, b: &DMatrix<f64>, c: &DMatrix<f64>, d: &DMatrix<f64>) -> Option<DMatrix<f64>> {
    let (over, spare) = (a.nrows(), d.nrows());
    let (alpha, beta) = (a.diagonal().max(), d.diagonal().max());
    let one = |size: usize| DMatrix::<f64>::identity(size, size);
    let shifted_a = (a + one(over) * beta).lu();
    let shifted_d = (d + one(spare) * alpha).try_inverse()?;
    let w = (a + one(over) * beta - b * &shifted_d * c).try_inverse()?;
    let v = (d + one(spare) * alpha - c * shifted_a.solve(b)?).try_inverse()?;
    let both = alpha + beta;
    let mut e = one(spare) - v * both;
    let mut f = one(over) - &w * both;
    let mut g = &shifted_d * c * &w * both;
    let mut h = w * b * shifted_d * both;
    for _ in 0..MAX_DOUBLINGS {
        // only products of both count: neither may run away
        let balance = (e.amax() / f.amax()).sqrt();
        if !balance.is_normal() {
            break;
        }
        e /= balance;
        f *= balance;
        let left = (one(spare) - &g * &h).lu();
        let right = (one(over) - &h * &g).lu();
        let ge = left.solve(&(&g * &f))?;
        let he = right.solve(&(&h * &e))?;
        let more = &f * he;
        g += &e * ge;
        e = &e * left.solve(&e)?;
        f = &f * right.solve(&f)?;
        h += &more;
        if more.amax() <= CONVERGED * h.amax() {
            break;
        }
    }
    h.iter().all(|x| x.is_finite()).then_some(h)
}
