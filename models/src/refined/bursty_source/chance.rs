//! What chance does where some number of streams loads the server to about 1.
//!
//! In a state of `j` streams, which leaves `e` of the server and ends at rate `θ`, work is a Brownian motion of drift
//! `-e`. In each spacing its variance is that of `j` services, less what steps of whole services are less than a
//! motion without steps: a walk overshoots what it returns to by `0.583` of the deviation of a step \[Sie79\], so that
//!
//! ```text
//! σ² = V exp(-2 · 0.583 |e| / sqrt V),   V = j Var B / s²
//! ```
//!
//! # Messages that find nobody
//!
//! Where services are alike, messages of `j` streams find nobody with `q_j` if `e_j`, what longer first services leave
//! of `1 - j r`, is positive, and not at all if it is negative (found so, too, by following them one by one). Where
//! services vary, work after `n` spacings is `S_n`, as if normal with the mean `-n e_j` and the variance `n V`. With
//! `β` the probability that the state lasts for another spacing, a message of it finds nothing of the state's own work
//! with (Spitzer's identity)
//!
//! ```text
//! P = exp(-Σ β^n / n P(S_n > 0))
//! ```
//!
//! Of these `1 - β` are the first ones, so that `q_j` of the later ones is multiplied with `(P - 1 + β) / β`. In the
//! lowest overloaded state that counts for what enters it from the one below; shorter first services may leave room
//! there although `j r > 1`. Where first services are longer than what is spare, fewer messages find nobody than if
//! they fitted; of the others as many still do as in the overloaded state, so that nothing jumps where `j r` passes 1.
//!
//! # How long the server is empty
//!
//! With `e = 1 - j r` it is for
//!
//! ```text
//! G_j (e+ + w_j),   w_j = (sqrt(e² + 2 θ σ²) - |e|) / 2
//! ```
//!
//! of the time where one of even services is for `G_j e+`: the work `w_j / θ` that chance lets stand when the state
//! ends takes as much from the empty time of the next, one stream less or more. By the exact equation, in which a
//! stream that is in a burst has `ε = N y - 1 + α (1 + r) / 2` more to come than one that is not,
//!
//! ```text
//! λ (1 - ρ) ΔW = ε Σ G_j w_j (d_j - u_j) / (d_j + u_j)
//! ```
//!
//! with `u_j`, `d_j` the rates at which there is one stream more and one less in a burst. Work that outlasts the next
//! state, too, is left out.
//!
//! \[Sie79\] D. Siegmund, *Corrected diffusion approximations in certain random walk problems*, Advances in Applied
//! Probability 11 (1979) 701-719.

use statrs::function::erf::erfc;

use super::active_streams::State;
use super::{Relative, Sums};
use crate::refined::ablation::{Step, without};

/// Terms of Spitzer's sum that are added one by one. The rest is integrated over `ln n`, in at most so many steps of a
/// ratio.
const TERMS: u32 = 12;
const STRIDE: f64 = 1.3;
const MOST_STRIDES: u32 = 100;

/// `-ζ(1/2) / sqrt(2 π)`
const OVERSHOOT: f64 = 0.582_597_157_939_010_7;

/// A state of so many streams in a burst, in units of the spacing.
pub(super) struct Local {
    /// `u`, `d`: rates at which it ends with one stream more and with one less.
    up: f64,
    down: f64,
    /// `β`
    lasts: f64,
    /// `V`, and `σ²`
    variance: f64,
    noise: f64,
}

/// Probability that a normal time of the mean `late` and of a variance is above zero.
pub(super) fn takes_longer(late: f64, variance: f64) -> f64 {
    erfc(-late / (2.0 * variance.max(1e-12)).sqrt()) / 2.0
}

impl Local {
    /// With services of so much variance.
    pub(super) fn of(source: &Relative, active: f64, variance: f64) -> Self {
        let &Relative { streams, burst, on, r, .. } = source;
        // a mean burst takes N of the spacing
        let up = (streams - active) * on / (1.0 - on) / burst;
        let empty = 1.0 - active * r;
        let variance = if without(Step::Chance) { 0.0 } else { active * variance };
        let noise = if variance > 0.0 {
            variance * (-2.0 * OVERSHOOT * empty.abs() / variance.sqrt()).exp()
        } else {
            0.0
        };
        let lasts = (1.0 - 1.0 / burst).powf(active) * (-up).exp();
        Self { up, down: active / burst, lasts, variance, noise }
    }

    /// `sqrt(e² + 2 θ σ²)`
    fn root(&self, empty: f64) -> f64 {
        (empty * empty + 2.0 * (self.up + self.down) * self.noise).sqrt()
    }

    /// `(P - 1 + β) / β`: share of the later messages of a burst that still find nobody.
    pub(super) fn remains(&self, empty: f64) -> f64 {
        let &Self { lasts, variance, .. } = self;
        if variance <= 0.0 || lasts <= 1e-12 {
            return if empty < 0.0 { 0.0 } else { 1.0 };
        }
        let later = |n: f64| lasts.powf(n) * takes_longer(-n * empty, n * variance);
        let mut sum: f64 = (1..=TERMS).map(|n| later(f64::from(n)) / f64::from(n)).sum();
        // Σ 1/n is the integral over ln n
        let mut place = (f64::from(TERMS) + 0.5) * STRIDE.sqrt();
        for _ in 0..MOST_STRIDES {
            let more = later(place) * STRIDE.ln();
            sum += more;
            if more < 1e-6 {
                break;
            }
            place *= STRIDE;
        }
        (((-sum).exp() - 1.0 + lasts) / lasts).clamp(0.0, 1.0)
    }

    /// `w (d - u) / (d + u)`
    fn moved(&self, empty: f64) -> f64 {
        (self.root(empty) - empty.abs()) / 2.0 * (self.down - self.up) / (self.down + self.up)
    }
}

/// The lowest overloaded state and what enters it from the one below with nothing left over: `j`, `G_j`, none if the
/// spare ones among `states` are all.
fn entered(states: &[State], source: &Relative, variance: f64) -> Option<(f64, f64, Local)> {
    let top = states.iter().rev().find(|state| state.spare > 0.0)?;
    let over = top.active + 1.0;
    if over > source.streams {
        return None;
    }
    let local = Local::of(source, over, variance);
    let enters = top.clear() * Local::of(source, top.active, variance).up / (local.up + local.down);
    Some((over, enters, local))
}

impl Sums {
    /// With the messages that find nobody where overload has but begun.
    pub(super) fn with_overload_begun(mut self, states: &[State], source: &Relative, variance: f64) -> Self {
        let &Relative { streams, burst, on, r, .. } = source;
        let Some((over, enters, local)) = entered(states, source, variance) else { return self };
        let others = over - 1.0;
        let (empty, alone) = source.fitting(over, 1.0 - over * r);
        let goes_on = enters * alone * local.remains(empty) * over / (streams * on);
        self.goes_on += goes_on;
        self.beside_going_on += goes_on * others;
        self.lone += (1.0 - 1.0 / burst) * goes_on * source.quiet(others, variance);
        self
    }
}

/// `Σ G_j w_j (d_j - u_j) / (d_j + u_j)`; `states` are the spare ones at least.
pub(super) fn by_chance(states: &[State], source: &Relative, variance: f64) -> f64 {
    let moved = |clear: f64, active: f64, local: &Local| clear * local.moved(1.0 - active * source.r);
    let spare = states.iter().filter(|state| state.clear() > 0.0);
    let spare: f64 = spare
        .map(|state| moved(state.clear(), state.active, &Local::of(source, state.active, variance)))
        .sum();
    spare + entered(states, source, variance).map_or(0.0, |(over, enters, local)| moved(enters, over, &local))
}
