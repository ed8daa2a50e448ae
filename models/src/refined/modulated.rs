//! Best effort between the bursts of classes above: completion times under preemptive priority when what interrupts
//! is Markov-modulated.
//!
//! At most [`MOST`] alike streams stand for all bursts above ([`Streams`]). A burst starts with a message; with
//! probability `q` more of them follow for an exponential time `T`, `s` apart; then the stream is OFF for `I`. With
//! `n` messages in a burst, `q` and `T` keep `E[n]` and `E[n^2]` of a geometric number:
//!
//! ```text
//! T = τ s,   τ = N - 1/2 - β / 2,   q = (N - 1) / τ,   I = N / a - (N - 1) s
//! ```
//!
//! What follows comes evenly, so that of `M` flits below a stream of load `r` interrupts `ν = r / (1 - r)` times or so.
//! If that is seldom, whole messages count, otherwise flits: the share `β = (1 - ν)+` comes as Poisson messages, the
//! rest as a stream of flits, as even as a lattice holds ([`EVENLY`]). `N = 1` is Poisson.
//!
//! Seen from the flits of best effort, between any two of which whole busy periods may pass, the streams are a Markov
//! chain in the *time left to it*: the link's time less all busy periods. With `U(z)` its generator, delays marked by
//! `z`, `m` flits are delayed by `φ exp(m U(z)) 1` if the states of the streams are distributed as `φ` when the first
//! of them goes. Eigenvalues of `U` need no matrices, since streams are independent: a message above takes `M` cycles
//! and what comes meanwhile, `y = (z exp(x))^M`, and a flit `f = z exp(x)`. One stream has the eigenvalues `χ±`,
//!
//! ```text
//! χ^2 - χ (d + g - 1/T) + (1 - y) / (I T) + d g = 0,   d = ((1 - q) y - 1) / I,
//! g = β (y - 1) / s + (1 - β) (M / s) 2 ln((1 + f) / 2)
//! ```
//!
//! and right eigenvectors `(o±, 1)` for (OFF, in a burst), `o = 1 + T (χ - g)`. So, with Poisson classes,
//!
//! ```text
//! x_i = Σ_0 λ (y_0 - 1) + (k - i) χ+ + i χ-
//! v_i(j) = [t^i] (1 + t)^j (o+ + t o-)^(k - j) / (k over i)
//! φ exp(m U) 1 = Σ_i c_i (Σ_j φ_j v_i(j)) exp(m x_i),    Σ_i c_i v_i(j) = 1
//! ```
//!
//! for `j` streams in a burst. Without streams that is `exp(m x)` with the `x` of Takács.
//!
//! # In which state a message starts
//!
//! Streams change at the rates of the chain above among the spare states, in which the link can do more than comes;
//! overload counts as one state more, which lasts until the fluid queue of the streams is empty again and ends in a
//! spare state `j` with probability `ψ_j` (module `active_streams`). In each of them the class's own messages are
//! served at rate `μ_j = (1 - ρ_j) / M`, not at all under overload. They come one by one, or, in bursts of their own, as
//! batches of `N_e`, of a geometric number, that have the same mean work. Services taken as exponential, the batches
//! in the queue are a quasi birth and death process: with `π` the shares of the states,
//!
//! ```text
//! R = (λ / N_e) (λ / N_e + μ - Q - R μ)^-1
//! first ~ π (I - R), overload taken to where it ends;   later_j ~ μ_j [π R (1 - 1/N_e) + π R^2 / N_e]_j
//! ```
//!
//! so that messages that come while a burst keeps the link, and wait, are served after it (our approximation: blocked
//! messages stay no longer in service).

use nalgebra::{DMatrix, DVector, RowDVector};
use realfft::num_complex::Complex64;

use super::Class;
use super::between::Between;
use super::bursts_above::{Streams, Work};
use super::bursty_source::{active_streams, returns};
use super::grid::{Grid, Transform};
use super::higher_classes::power;

/// The most streams, and their states.
const MOST: usize = 3;
const STATES: usize = MOST + 1;

/// A number for each state.
type Row = [Complex64; STATES];

/// Flits come by the law `((1 + f) / 2)^2`, half as uneven as Poisson; what is more even is not on a lattice.
const EVENLY: f64 = 0.5;

/// What streams and Poisson classes above do to the flits below; times in cells.
pub(super) struct Modulated {
    /// Poisson messages: cells and rate.
    poisson: Vec<(f64, f64)>,
    streams: AlikeStreams,
    /// Streams in a burst, of the states told apart.
    states: Vec<f64>,
    /// `x_i(z)`, and `c_i v_i(j)` for each state, by modes.
    modes: Vec<Mode>,
    /// What the link has to spare in each of the states, zero where it has nothing.
    free: Vec<f64>,
    /// `ψ_j`: where overload ends, of the spare states.
    returns: Vec<f64>,
    /// Rates between spare states and, the last, overload, and the shares of the time.
    walk: DMatrix<f64>,
    shares: Vec<f64>,
}

struct Mode {
    per_flit: Transform,
    weights: Vec<Transform>,
}

/// `k` streams; times in cells.
#[derive(Clone, Copy, Debug)]
struct AlikeStreams {
    /// `k`
    streams: f64,
    /// `q`: share of the bursts that go on after their first message.
    go_on: f64,
    /// `T`: how long they do.
    on: f64,
    /// `I`: from then to the next burst.
    off: f64,
    /// `s`
    spacing: f64,
    /// `β`: share of what follows that comes as whole messages.
    whole: f64,
    /// Cells of a message.
    message: f64,
}

/// The marks of a message and of a flit, and their derivatives.
#[derive(Clone, Copy)]
struct Marks {
    message: Complex64,
    message_slope: Complex64,
    flit: Complex64,
}

impl AlikeStreams {
    /// `χ+` or `χ-`, and its derivative.
    fn eigenvalue(&self, marks: Marks, plus: bool) -> (Complex64, Complex64) {
        let Self { go_on: q, on, off, .. } = *self;
        let (g, g_slope) = self.in_burst(marks);
        let Marks { message: y, message_slope: y_slope, .. } = marks;
        let single = (y * (1.0 - q) - 1.0) / off;
        let single_slope = y_slope * (1.0 - q) / off;
        let (trace, trace_slope) = (single - 1.0 / on + g, single_slope + g_slope);
        let determinant = (1.0 - y) / (off * on) + g * single;
        let determinant_slope = -y_slope / (off * on) + g_slope * single + g * single_slope;
        let minus = trace / 2.0 - root(trace * trace / 4.0 - determinant);
        let chi = if plus { determinant / minus } else { minus };
        // (2 χ - tr) χ' = tr' χ - det'
        let slope = (trace_slope * chi - determinant_slope) / (2.0 * chi - trace);
        (chi, slope)
    }

    /// `g`: what comes in a burst after its first message, and its derivative.
    fn in_burst(&self, marks: Marks) -> (Complex64, Complex64) {
        let Self { spacing, whole, message, .. } = *self;
        let (messages, flits) = (whole / spacing, (1.0 - whole) * message / spacing);
        let Marks { message: y, message_slope, flit } = marks;
        let even = flit * EVENLY + 1.0 - EVENLY;
        ((y - 1.0) * messages + even.ln() * (flits / EVENLY), message_slope * messages + flit / even * flits)
    }

    /// `o`: OFF component of the eigenvector, with one in a burst.
    fn off_component(&self, chi: Complex64, marks: Marks) -> Complex64 {
        (chi - self.in_burst(marks).0) * self.on + 1.0
    }
}

impl Modulated {
    /// None without bursts.
    pub(super) fn new(grid: &Grid, higher: &[Class], unit: f64) -> Option<Self> {
        let works: Vec<Work> = higher.iter().map(Work::of).collect();
        let alike = Streams::of(&works)?.at_most(MOST as f64);
        let poisson: Vec<(f64, f64)> = higher
            .iter()
            .filter(|class| class.bursts.is_none())
            .map(|class| (class.message / unit, class.rate * unit))
            .collect();
        let poisson_load: f64 = poisson.iter().map(|(m, rate)| m * rate).sum();
        let left = 1.0 - poisson_load;
        let spacing = alike.message / alike.peak / unit;
        let burst = alike.burst.max(1.001);
        // ν = r / (1 - r) messages of a stream on average while M flits go, evenly: β = 1 - ν
        let whole = ((1.0 - 2.0 * alike.peak) / (1.0 - alike.peak).max(1e-9)).clamp(0.0, 1.0);
        // E[n] = 1 + q τ,  E[(n - 1)^2] = 2 q τ^2 + β q τ
        let longer = burst - 0.5 - whole / 2.0;
        let go_on = (burst - 1.0) / longer;
        let rate = alike.load / alike.message / alike.streams * unit;
        let (on, off) = (longer * spacing, burst / rate - (burst - 1.0) * spacing);
        let streams = AlikeStreams {
            streams: alike.streams,
            go_on,
            on,
            off,
            spacing,
            whole,
            message: alike.message / unit,
        };
        let share = go_on * on / (go_on * on + off);
        let left = left - alike.load / burst;
        let chances = active_streams(alike.streams, share, alike.peak / left);
        let returns = returns(alike.streams, share, alike.peak / left);
        let told = alike.streams as usize + 1;
        let states: Vec<f64> = (0..told).map(|j| j as f64).collect();
        let free: Vec<f64> = states.iter().map(|active| (left - active * alike.peak).max(0.0)).collect();
        let spare = free.iter().filter(|free| **free > 0.0).count();
        let nearest = |active: f64| (active as usize).min(spare - 1);
        let mut shares = vec![0.0; spare + 1];
        for state in &chances {
            shares[nearest(state.active)] += state.clear();
        }
        shares[spare] = (1.0 - shares.iter().sum::<f64>()).max(1e-12);
        let mut ends = vec![0.0; spare];
        for (active, share) in &returns {
            ends[nearest(*active)] += share;
        }
        if returns.is_empty() {
            ends[spare - 1] = 1.0;
        }
        let mut walk = DMatrix::<f64>::zeros(spare + 1, spare + 1);
        for i in 0..spare {
            let up = (alike.streams - states[i]) * go_on / off;
            if i + 1 < spare {
                walk[(i, i + 1)] = up;
                walk[(i + 1, i)] = states[i + 1] / on;
            } else {
                walk[(i, spare)] = up;
                for (j, end) in ends.iter().enumerate() {
                    walk[(spare, j)] = up * shares[i] / shares[spare] * end;
                }
            }
        }
        for i in 0..=spare {
            walk[(i, i)] = -walk.row(i).sum();
        }
        let nothing = || Transform::constant(Complex64::ZERO, grid.points().len());
        let modes =
            (0..told).map(|_| Mode { per_flit: nothing(), weights: (0..told).map(|_| nothing()).collect() });
        let mut modulated =
            Self { poisson, streams, states, modes: modes.collect(), free, returns: ends, walk, shares };
        let mut near = [None; STATES];
        for (at, z) in grid.points().iter().enumerate() {
            let point = modulated.at(*z, &mut near);
            for (mode, (x, weights)) in modulated.modes.iter_mut().zip(point) {
                mode.per_flit[at] = x;
                for (to, weight) in mode.weights.iter_mut().zip(weights) {
                    to[at] = weight;
                }
            }
        }
        Some(modulated)
    }

    /// `x_i`, and `c_i v_i(j)` for each state, at one `z`; `near` are the eigenvalues of a point near by.
    fn at(&self, z: Complex64, near: &mut [Option<Complex64>; STATES]) -> [(Complex64, Row); STATES] {
        let told = self.told();
        let mut modes = [(Complex64::ZERO, [Complex64::ZERO; STATES]); STATES];
        // Σ_i c_i v_i(j) = 1, a row for each state
        let mut rows = [[Complex64::ZERO; STATES + 1]; STATES];
        let powers = self.powers(z);
        for i in 0..told {
            let (x, marks) = self.mode(z, &powers, i, near);
            modes[i].0 = x;
            let [plus, minus] = [true, false]
                .map(|plus| self.streams.off_component(self.streams.eigenvalue(marks, plus).0, marks));
            for (j, row) in rows[..told].iter_mut().enumerate() {
                row[i] = component(i, j, told - 1, plus, minus);
                modes[i].1[j] = row[i];
                row[told] = Complex64::ONE;
            }
        }
        solve(&mut rows[..told]);
        for (i, (_, weights)) in modes[..told].iter_mut().enumerate() {
            weights.iter_mut().for_each(|weight| *weight *= rows[i][told]);
        }
        modes
    }

    /// States of the streams.
    fn told(&self) -> usize {
        self.streams.streams as usize + 1
    }

    /// `z^M` of the streams and of each Poisson class.
    fn powers(&self, z: Complex64) -> (Complex64, Vec<Complex64>) {
        (power(z, self.streams.message), self.poisson.iter().map(|(m, _)| power(z, *m)).collect())
    }

    /// `x_i` and its marks.
    fn mode(
        &self,
        z: Complex64,
        (zm, powers): &(Complex64, Vec<Complex64>),
        i: usize,
        near: &mut [Option<Complex64>; STATES],
    ) -> (Complex64, Marks) {
        let streams = &self.streams;
        let (plus, minus) = (streams.streams - i as f64, i as f64);
        let marked = |x: Complex64| {
            let message = zm * (x * streams.message).exp();
            Marks { message, message_slope: message * streams.message, flit: z * x.exp() }
        };
        let mut x =
            near[i].unwrap_or_else(|| Complex64::from(-minus * (1.0 / streams.off + 1.0 / streams.on)));
        let mut marks = marked(x);
        for tried in 0..1000 {
            let (mut next, mut slope) = (Complex64::ZERO, Complex64::ZERO);
            for (zm, (m, rate)) in powers.iter().zip(&self.poisson) {
                let served = zm * (x * m).exp() * rate;
                next += served - rate;
                slope += served * m;
            }
            for (positive, count) in [(true, plus), (false, minus)] {
                if count > 0.0 {
                    let (chi, chi_slope) = streams.eigenvalue(marks, positive);
                    next += chi * count;
                    slope += chi_slope * count;
                }
            }
            let newton = x + (next - x) / (1.0 - slope);
            let within = tried < 20 && newton.re <= 0.0 && newton.is_finite();
            let step = if within { newton } else { next };
            let change = (step - x).norm_sqr();
            x = step;
            marks = marked(x);
            if change < 1e-16 {
                break;
            }
        }
        near[i] = Some(x);
        (x, marks)
    }

    /// Delays of a message that starts in states distributed so.
    fn between(&self, start: &[f64]) -> Between {
        let mode = |mode: &Mode| {
            let mut weight = Transform::constant(Complex64::ZERO, mode.per_flit.len());
            for (share, weights) in start.iter().zip(&mode.weights) {
                for (sum, w) in weight.iter_mut().zip(weights) {
                    *sum += w * *share;
                }
            }
            (weight, mode.per_flit.clone())
        };
        Between::by_modes(self.modes.iter().map(mode).collect())
    }

    /// Delays of a message of so many cells that finds none of its own, and of one behind another; they come in
    /// batches of `batch` on average at `rate` messages per cell.
    pub(super) fn first_and_later(&self, message: f64, rate: f64, batch: f64) -> (Between, Between) {
        let (first, later) = self.starts(message, rate, batch);
        (self.between(&first), self.between(&later))
    }

    /// States in which messages start that find none of their own, and those behind others.
    fn starts(&self, message: f64, rate: f64, batch: f64) -> (Vec<f64>, Vec<f64>) {
        let spare = self.free.iter().filter(|free| **free > 0.0).count();
        let n = spare + 1;
        let served: Vec<f64> =
            self.free[..spare].iter().map(|free| free / message / batch).chain([0.0]).collect();
        let (walk, shares) = (&self.walk, &self.shares);
        let arrivals = rate / batch;
        // R = λ (λ + μ - Q - R μ)^-1, states in rows
        let mut r = DMatrix::<f64>::zeros(n, n);
        let fixed =
            DMatrix::from_fn(n, n, |i, j| -walk[(i, j)] + if i == j { arrivals + served[i] } else { 0.0 });
        let down = DMatrix::from_diagonal(&DVector::from_vec(served.clone()));
        for _ in 0..500 {
            let Some(inverse) = (&fixed - &r * &down).try_inverse() else { break };
            let next = inverse * arrivals;
            let change = (&next - &r).amax();
            r = next;
            if change < 1e-7 {
                break;
            }
        }
        let all = RowDVector::from_row_slice(shares);
        let some = &all * &r;
        let more = &some * &r;
        let empty = &all - &some;
        let normal = |mut shares: Vec<f64>| {
            let sum: f64 = shares.iter().sum();
            shares.iter_mut().for_each(|share| *share /= sum);
            shares.resize(self.states.len(), 0.0);
            shares
        };
        let first = (0..spare).map(|j| (empty[j] + empty[spare] * self.returns[j]).max(0.0));
        let behind = |j: usize| some[j] * (1.0 - 1.0 / batch) + more[j] / batch;
        let later = (0..spare).map(|j| (served[j] * behind(j)).max(1e-30));
        (normal(first.collect()), normal(later.collect()))
    }
}

/// `[t^i] (1 + t)^j (o+ + t o-)^(k - j) / (k over i)`
fn component(i: usize, j: usize, k: usize, plus: Complex64, minus: Complex64) -> Complex64 {
    let mut polynomial = [Complex64::ZERO; STATES];
    polynomial[0] = Complex64::ONE;
    for factor in 0..k {
        let (constant, linear) = if factor < j { (Complex64::ONE, Complex64::ONE) } else { (plus, minus) };
        for power in (0..STATES).rev() {
            let lower = if power > 0 { polynomial[power - 1] * linear } else { Complex64::ZERO };
            polynomial[power] = polynomial[power] * constant + lower;
        }
    }
    let ways: f64 = (0..i).map(|l| (k - l) as f64 / (l as f64 + 1.0)).product();
    polynomial[i] / ways
}

/// The square root whose real part is not negative, without angles.
fn root(x: Complex64) -> Complex64 {
    let size = x.norm_sqr().sqrt();
    let im = ((size - x.re).max(0.0) / 2.0).sqrt().copysign(x.im);
    Complex64::new(((size + x.re).max(0.0) / 2.0).sqrt(), im)
}

/// Gauss: puts the solution into the column behind the matrix.
fn solve(rows: &mut [[Complex64; STATES + 1]]) {
    let n = rows.len();
    for column in 0..n {
        let pivot = (column..n)
            .max_by(|a, b| rows[*a][column].norm_sqr().total_cmp(&rows[*b][column].norm_sqr()))
            .unwrap_or(column);
        rows.swap(column, pivot);
        let inverse = rows[column][column].inv();
        rows[column][column..=n].iter_mut().for_each(|x| *x *= inverse);
        let top = rows[column];
        for (at, row) in rows.iter_mut().enumerate() {
            if at != column {
                let factor = row[column];
                for (x, t) in row[column..=n].iter_mut().zip(&top[column..=n]) {
                    *x -= factor * t;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::higher_classes::Above;
    use super::*;
    use crate::refined::BurstySource;
    use crate::scenario::ClassKind;

    fn class(rate: f64, message: f64, bursts: Option<BurstySource>) -> Class {
        Class { kind: ClassKind::RealTime, rate, message, vtick: 1.0, bursts }
    }

    fn bursty(load: f64, message: f64, streams: u32, messages_per_burst: f64, peak: f64) -> Class {
        let rate = load / message;
        class(
            rate,
            message,
            Some(BurstySource { rate, streams, messages_per_burst, peak_rate: peak / message }),
        )
    }

    /// `U 1 = 0` for `z = 1`, and in the long run `M σ / (1 - σ)` is added to `M` flits.
    #[test]
    fn a_busy_lower_class_has_what_is_left() {
        let grid = Grid::of(2048);
        for higher in [
            vec![bursty(0.239, 26.0, 1, 4.5, 1.5)],
            vec![bursty(0.2, 31.0, 12, 3.0, 0.3)],
            vec![bursty(0.3, 12.0, 3, 5.0, 0.3), class(0.01, 8.0, None)],
        ] {
            let load: f64 = higher.iter().map(Class::load).sum();
            let modulated = Modulated::new(&grid, &higher, 1.0).unwrap();
            let rate = 0.995 * (1.0 - load) / 31.0;
            let (_, later) = modulated.first_and_later(31.0, rate, 1.0);
            let mean = grid.law(later.over(&grid, 31.0)).mean();
            let exact = 31.0 * load / (1.0 - load);
            assert!((mean / exact - 1.0).abs() < 0.1, "{mean} {exact}");
        }
    }

    /// A message that seldom comes finds a burst for the share `α` of the time, and then has `1 - r` of the link.
    #[test]
    fn a_rare_message_sees_bursts_as_time_does() {
        let grid = Grid::of(2048);
        let modulated = Modulated::new(&grid, &[bursty(0.02, 31.0, 1, 200.0, 0.5)], 1.0).unwrap();
        let (first, _) = modulated.first_and_later(31.0, 1e-6, 1.0);
        let law = grid.law(first.over(&grid, 31.0));
        assert!((law.mean() / (0.04 * 31.0) - 1.0).abs() < 0.05, "{}", law.mean());
        assert!((law.at(0) - 0.96).abs() < 0.002, "{}", law.at(0));
    }

    /// Bursts of one message, of streams that are seldom ON, are Poisson: Takács.
    #[test]
    fn single_messages_are_poisson() {
        let grid = Grid::of(1024);
        let single = bursty(0.3, 20.0, 3, 1.0, 50.0);
        let modulated = Modulated::new(&grid, &[single], 1.0).unwrap();
        let (first, later) = modulated.first_and_later(24.0, 0.01, 1.0);
        let above = Above::new(&grid, &[class(single.rate, 20.0, None)], 1.0).unwrap();
        let own = class(0.01, 24.0, None);
        let poisson = above.interface(&grid, &[class(single.rate, 20.0, None)], &own, 1.0).first;
        let exact = grid.law(poisson.over(&grid, 24.0));
        for between in [first, later] {
            let law = grid.law(between.over(&grid, 24.0));
            let worst = (0..400).map(|x| (law.at(x) - exact.at(x)).abs()).fold(0.0, f64::max);
            assert!(worst < 1e-3, "{worst}");
        }
    }
}
