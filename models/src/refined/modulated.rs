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
//! and later arrivals, `y = (z exp(x))^M`, and a flit `f = z exp(x)`. One stream has the eigenvalues `χ±`,
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
//! for `j` streams in a burst. Without streams that is `exp(m x)` with the `x` of Takács. In which state a message
//! starts is said in [`starts`].

mod starts;

use realfft::num_complex::Complex64;

use super::Class;
use super::bursts_above::{Streams, Work};
use super::grid::{Grid, Transform};
use super::interruptions::Interruptions;
use starts::{OnOffRates, Starts};

/// The most streams, and their states.
const MOST: usize = 3;
const STATES: usize = MOST + 1;

/// A number for each state.
type Row = [Complex64; STATES];

/// Flits come by the law `((1 + f) / 2)^2`, half as uneven as Poisson; what is more even is not on a lattice.
const EVENLY: f64 = 0.5;

/// What streams and Poisson classes above do to the flits below; times in cells.
pub(super) struct Modulation {
    /// Poisson messages: cells and rate.
    poisson: Vec<(f64, f64)>,
    streams: AlikeStreams,
    /// `x_i(z)`, and `c_i v_i(j)` for each state, by modes.
    modes: Vec<Mode>,
    starts: Starts,
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

impl Modulation {
    /// With as many streams as bursts above are like, or between two numbers; none without bursts.
    pub(super) fn new(grid: &Grid, higher: &[Class], unit: f64) -> Option<Vec<(f64, Self)>> {
        let works: Vec<Work> = higher.iter().map(Work::of).collect();
        let parts = Streams::of(&works)?.whole(MOST as f64);
        Some(parts.into_iter().map(|(weight, alike)| (weight, Self::of(grid, higher, alike, unit))).collect())
    }

    fn of(grid: &Grid, higher: &[Class], alike: Streams, unit: f64) -> Self {
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
        let turns = OnOffRates { go_on, on, off, left: left - alike.load / burst };
        let squares: f64 = poisson.iter().map(|(m, rate)| m * m * rate).sum();
        let starts = Starts::new(&alike, &turns, squares + alike.load / burst * alike.message / unit);
        let told = alike.streams as usize + 1;
        let nothing = || Transform::constant(Complex64::ZERO, grid.points().len());
        let modes =
            (0..told).map(|_| Mode { per_flit: nothing(), weights: (0..told).map(|_| nothing()).collect() });
        let mut modulated = Self { poisson, streams, modes: modes.collect(), starts };
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
        modulated
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
    fn modes(&self, start: &[f64], share: f64) -> Vec<(Transform, Transform)> {
        let mode = |mode: &Mode| {
            let mut weight = Transform::constant(Complex64::ZERO, mode.per_flit.len());
            for (start, weights) in start.iter().zip(&mode.weights) {
                for (sum, w) in weight.iter_mut().zip(weights) {
                    *sum += w * *start * share;
                }
            }
            (weight, mode.per_flit.clone())
        };
        self.modes.iter().map(mode).collect()
    }

    /// Delays of a message of so many cells that finds none of its own, and of one behind another; they come in
    /// batches of `batch` on average at `rate` messages per cell.
    pub(super) fn first_and_later(
        parts: &[(f64, Self)],
        message: f64,
        rate: f64,
        batch: f64,
    ) -> (Interruptions, Interruptions) {
        let (mut first, mut later) = (Vec::new(), Vec::new());
        for (share, modulated) in parts {
            let (begins, follows) = modulated.starts.of(message, rate, batch);
            first.extend(modulated.modes(&begins, *share));
            later.extend(modulated.modes(&follows, *share));
        }
        (Interruptions::by_modes(first), Interruptions::by_modes(later))
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

/// `z^m` for any `m`, what falls between two whole powers split over them.
pub(super) fn power(z: Complex64, m: f64) -> Complex64 {
    let whole = m.floor();
    z.powi(whole as i32) * (1.0 - (m - whole) + z * (m - whole))
}

#[cfg(test)]
mod tests {
    use super::super::higher_classes::HigherClasses;
    use super::*;
    use crate::refined::BurstySource;
    use flitwise_language::scenario::ClassKind;

    fn class(rate: f64, message: f64, bursts: Option<BurstySource>) -> Class {
        Class { kind: ClassKind::RealTime, rate, message, vtick: 1.0, bursts, outlet: None }
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
            let modulated = Modulation::new(&grid, &higher, 1.0).unwrap();
            let rate = 0.995 * (1.0 - load) / 31.0;
            let (_, later) = Modulation::first_and_later(&modulated, 31.0, rate, 1.0);
            let mean = grid.law(later.over(&grid, 31.0)).mean();
            let exact = 31.0 * load / (1.0 - load);
            assert!((mean / exact - 1.0).abs() < 0.1, "{mean} {exact}");
        }
    }

    /// A message that seldom comes finds a burst for the share `α` of the time, and then has `1 - r` of the link.
    #[test]
    fn a_rare_message_sees_bursts_as_time_does() {
        let grid = Grid::of(2048);
        let modulated = Modulation::new(&grid, &[bursty(0.02, 31.0, 1, 200.0, 0.5)], 1.0).unwrap();
        let (first, _) = Modulation::first_and_later(&modulated, 31.0, 1e-6, 1.0);
        let law = grid.law(first.over(&grid, 31.0));
        assert!((law.mean() / (0.04 * 31.0) - 1.0).abs() < 0.05, "{}", law.mean());
        assert!((law.at(0) - 0.96).abs() < 0.002, "{}", law.at(0));
    }

    /// Bursts of one message, of streams that are seldom ON, are Poisson: Takács.
    #[test]
    fn single_messages_are_poisson() {
        let grid = Grid::of(1024);
        let single = bursty(0.3, 20.0, 3, 1.0, 50.0);
        let modulated = Modulation::new(&grid, &[single], 1.0).unwrap();
        let (first, later) = Modulation::first_and_later(&modulated, 24.0, 0.01, 1.0);
        let above = HigherClasses::new(&grid, &[class(single.rate, 20.0, None)], 1.0).unwrap();
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
