//! The queue at a source whose messages come in bursts: mean wait, and how often a message finds nobody ahead.
//!
//! `k` independent streams, each with the mean rate `a`. A burst of a stream is a geometric number of messages of
//! mean `N`, one every `s = 1 / p` cycles, and its last message still takes its `s`; then the stream is OFF for an
//! exponential time of mean `I`, `1 / a = I / N + s`. One server takes the messages in order, `B` cycles each.
//! Symbols: `λ = k a`, `b = E[B]`, `ρ = λ b`, `α = a s` (share of the time that a stream is in a burst),
//! `y = 1 - α`, `r = b / s` (load of a stream in a burst), `V` work in the queue.
//!
//! # One unknown
//!
//! Let `h` be how many more messages than on average are still to come, given the states of the streams: `h` plus
//! what has come less `λ t` is a martingale, and `E[h] = 0`. For one stream: just after a message
//! `h_1 = N y² - y - α² / 2`; it grows by `a` per cycle until the next one, and is `h_1 + 1 - N y` while OFF.
//! In the steady state `E[V²]` and `E[V h]` do not change:
//!
//! ```text
//! E[V] = ρ W + λ E[B²] / 2
//! λ (E[V] - W) + ρ h_1 + E[h; V = 0] = 0
//! W (1 - ρ) = λ E[B²] / 2 + b h_1 + E[h; V = 0] / λ
//! ```
//!
//! with `W` the mean wait. This is exact, for any services that are drawn independently; `1 + 2 h_1 = (2 N - 1) y²`
//! is the index of dispersion. All that has to be found is which streams are in a burst when the queue is empty.
//! (\[SWFB11\] treat correlated batches in discrete time.)
//!
//! # Who is in a burst when the queue is empty
//!
//! - **Bursts faster than the server, `s <= b`: nobody**, as a stream in a burst has sent less than `b` ago.
//!   `W` is then *exact* in closed form, and so is `P_0 = (1 - ρ) / (N y)`, unless services vary so much that some
//!   are shorter than `s`. Batches are the limit `s = 0`.
//! - **Cells.** With `j` streams in a burst exactly `j` messages have come in the last `s` cycles, at independent
//!   uniform times. If nothing was left of what came before, `P(V = 0) = 1 - j r`: laid on a circle of `s` cycles,
//!   `j` services leave so much of it free. The mean time since the last message of a stream is then
//!   `(s + b) / 2 + w_j` (the exact equation with `α = 1` says so), with `w_j` the mean wait among `j` periodic
//!   messages, `2 w_j / b = (j - 1) r (1 + 2 w_(j-1) / b)`.
//! - **Bursts.** Something is left when bursts overlap so that `j r > 1`. With `G_j` the probability that the
//!   *fluid* queue of the same streams is empty while `j` are in a burst
//!   (the module `active_streams`), `P(V = 0, j) = G_j (1 - j r)`. That is the one approximation: cells and bursts
//!   are taken apart. The sum is `1 - ρ`, as it must be.
//!
//! With `D_j = π_j - G_j`, `π_j` binomial, the three equations become sums without cancellation:
//!
//! ```text
//! cells    c = y ρ (1 - 1/k) b / 2 / (1 - ρ) + Σ G_j (1 - j r) j w_j / k / (1 - ρ)     times E[B²] / b²
//! bursts   s Σ D_j (1 - j r)² / ρ / (1 - ρ)  times  N y - 1 + α (1 + r) / 2
//!          + (Var B / 2 s) Σ D_j j² / k / (1 - ρ)
//! P_0      = Σ G_j (1 - j r) (k - j) / (N k y) + Σ G_j (1 - (j - 1) r) j (1 - 1/N) / (k α)
//! ```
//!
//! Limits: few messages per stream and time (`α -> 0` with `N = 1`, or bursts thinned out, `s -> ∞`): M/G/1;
//! `s -> 0`: M^X/G/1 with geometric batches; `k = 1` and `r < 1`: no wait; `α -> 1`: `k` periodic messages; towards
//! `ρ = 1`: `b (E[B²] / b² + 2 h_1) / 2 / (1 - ρ)`, whatever is assumed of the empty queue.
//!
//! # A first service of its own
//!
//! A message that finds the queue empty may have another service `F`, mean `f`. In the exact equations
//! `λ P_0 E[F² - B²] / 2` is added, and `P_0 (f - b)` times `h` of *all* streams just after such a message. Of a
//! period in which `j` are in a burst, `j q_j (f - b) / s` is no longer empty, with `q_j` the probability that a
//! message finds nobody among the `j`: `q_j = (1 - (j - 1) r) / (1 + (j - 1) (f - b) / s)`, as in M/G/1, and exact
//! for `j = 1`, as long as `f - b` is less than the spare `s (1 - j r)`. So `P(V = 0, j) = γ G_j e_j`,
//! `e_j = 1 - j r - j q_j (f - b) / s`, and `γ` follows from `P(V = 0) = 1 - λ b - λ P_0 (f - b)`. With `u`, `v` the
//! probabilities of an empty queue (over `γ`) for the first and for the later messages of a burst (the sums in `Sums`),
//! `φ = v + (u - v) / N`, `ε = N y - 1 + α (1 + r) / 2`:
//!
//! ```text
//! γ = (1 - ρ) / (Σ G_j e_j + λ (f - b) φ),    P_0 = γ φ
//! (W - W_alike) (1 - ρ) = λ (P_0 - γ v / k) E[F² - B²] / 2
//!     + (f - b) / N [γ (u - v) (N y - 1) + γ (j beside u - beside v) ε - (u - v) ε Σ G_j (1 - j r) j γ / (1 - ρ)]
//! ```
//!
//! where `beside` weighs the sums with the number of other streams in a burst. Exact for `s <= b`, for `k = 1` with
//! constant services shorter than `s`, and for M/G/1.
//!
//! # How good it is
//!
//! Against messages followed one by one (1 to 100 streams, bursts of 1 to 40, `s / b` from 0.6 to 59, loads 0.1 to
//! 0.85): the wait within 3 %, 5 % where bursts are long, with constant services; `P_0` within 0.005, 0.01 with
//! longer first services. Where services vary *and* some number of streams loads the server to about 1, chance makes
//! overload of what is none on average: the module `chance` adds that. One stream with services of 24 or 64 cycles,
//! equally likely, then waits within 15 % (`r` from 0.84 to 1.06). With services of 7 or 15 cycles `P_0` is off by up
//! to 0.08 (`r` from 0.9 to 1.2), by 0.15 at `r = 0.8`.
//!
//! # Sources
//!
//! \[AMS82\] Anick, Mitra, Sondhi, *Stochastic theory of a data-handling system with multiple sources*, 1982, as
//! restated in \[DK04\] Dominici, Knessl, *Asymptotic analysis by the saddle point method of the
//! Anick-Mitra-Sondhi model*, J. Appl. Math. Stoch. Anal. 2004:1, 19-71; \[LN18\] Latouche, Nguyen, *Analysis of
//! fluid flow models*, arXiv:1802.04355; \[SWFB11\] Steyaert, Walraevens, Fiems, Bruneel, *The N-BMAP/G/1 queueing
//! model: queue contents and delay analysis*, Math. Probl. Eng. 2011, 401365; \[WWL12\] Wang, Wang, Li, *ADDA:
//! alternating-directional doubling algorithm for M-matrix algebraic Riccati equations* (2012). Akar and Arikan,
//! *Markov modulated periodic arrival process offered to an ATM multiplexer* (Perform. Eval., 1995), take cells and
//! bursts together, by a differential equation.

mod active_streams;
mod chance;

#[cfg(test)]
mod tests;

pub(super) use active_streams::{State, active_streams, returns};
use chance::{Local, by_chance, takes_longer};

/// A class of messages that come in bursts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BurstySource {
    /// `λ`: rate of all streams together, above 0 and below `streams * peak_rate` \[messages/cycle\].
    pub rate: f64,
    /// `k`: independent streams, at least 1.
    pub streams: u32,
    /// `N`: mean length of a burst, at least 1 \[messages\].
    pub messages_per_burst: f64,
    /// `p`: rate of a stream in a burst \[messages/cycle\].
    pub peak_rate: f64,
}

/// Time from when the server turns to a message until it turns to the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Service {
    /// Mean \[cycles\].
    pub mean: f64,
    /// Mean square \[cycles²\].
    pub mean_square: f64,
}

/// The steady state of a source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SourceQueue {
    /// Mean wait until the server turns to a message; infinite if the queue grows without bound \[cycles\].
    pub wait: f64,
    /// `P_0`: probability that a message finds nobody ahead of it, in the queue or served.
    pub first: f64,
    /// Probability that the one ahead of a message, still served when it comes, had found nobody itself; up to
    /// `1 - P_0`. What little the ages of the streams tell of each other is left out.
    pub second: f64,
}

impl Service {
    /// Always the same, `cycles`.
    pub fn constant(cycles: f64) -> Self {
        Self { mean: cycles, mean_square: cycles * cycles }
    }

    fn variance(self) -> f64 {
        (self.mean_square - self.mean * self.mean).max(0.0)
    }
}

impl BurstySource {
    /// The queue of one server with service `service`, and `first` for a message that finds nobody ahead.
    ///
    /// A set-up before a first message belongs to `first`; what that message itself waits for it,
    /// [`SourceQueue::first`] times its mean, is the caller's to add.
    ///
    /// ```
    /// use flitwise_models::refined::{BurstySource, Service};
    ///
    /// let service = Service::constant(34.0);
    /// // one stream, a message every 100 cycles at most: no wait
    /// let lone = BurstySource { rate: 0.005, streams: 1, messages_per_burst: 8.0, peak_rate: 0.01 };
    /// assert!(lone.queue(service, service).wait < 1e-9);
    /// // 14 such streams at the same rate
    /// let many = BurstySource { streams: 14, ..lone };
    /// assert_eq!(format!("{:.1}", many.queue(service, service).wait), "5.6");
    /// ```
    pub fn queue(&self, service: Service, first: Service) -> SourceQueue {
        let Self { rate, messages_per_burst: burst, .. } = *self;
        let streams = f64::from(self.streams);
        let spacing = 1.0 / self.peak_rate;
        let on = (rate / streams * spacing).clamp(f64::MIN_POSITIVE, 1.0 - f64::EPSILON);
        let off = 1.0 - on;
        let b = service.mean;
        let rho = rate * b;
        let idle = 1.0 - rho;
        if idle.is_nan() || idle <= 0.0 {
            return SourceQueue { wait: f64::INFINITY, first: 0.0, second: 0.0 };
        }
        let r = b / spacing;
        let excess = first.mean - b;
        let source = Relative { streams, burst, on, r, first: first.mean / spacing };
        let sums = Sums::of(&source, service.variance() / (spacing * spacing));

        // all services alike
        let cells = b / 2.0 * (off * rho * (1.0 - 1.0 / streams) + sums.periodic / streams) / idle;
        // N y - 1 + a (mean time since the last message of a stream in a burst)
        let one_more = burst * off - 1.0 + on * (1.0 + r) / 2.0;
        let bursts = spacing * sums.overload / (rho * idle) * one_more;
        let spread = service.variance() / (2.0 * spacing) * sums.overload_squares / (streams * idle);
        let chance = sums.chance / (rate * idle) * one_more;
        let alike = (cells * (service.mean_square / (b * b)) + bursts + spread + chance).max(0.0);

        // what first services of their own change
        let Sums { opens, goes_on, beside_opening, beside_going_on, .. } = sums;
        let ahead = opens - goes_on;
        let found = goes_on + ahead / burst;
        let balance = sums.idle + rate * excess * found;
        let rescaled = if balance > 0.0 { idle / balance } else { 0.0 };
        let first_found = (rescaled * found).clamp(0.0, 1.0);
        let squares = (first.mean_square - service.mean_square) / 2.0;
        let told = ahead * (burst * off - 1.0) + (beside_opening - beside_going_on) * one_more;
        let change = squares * rate * (first_found - rescaled * goes_on / streams)
            + excess / burst * rescaled * (told - ahead * one_more * sums.spare_active / idle);
        let second = (first_found - rescaled * sums.lone).clamp(0.0, 1.0 - first_found);
        SourceQueue { wait: (alike + change / idle).max(0.0), first: first_found, second }
    }
}

/// A source and its services, in units of the spacing of messages in a burst.
struct Relative {
    /// `k`.
    streams: f64,
    /// `N`.
    burst: f64,
    /// `α`.
    on: f64,
    /// `r = b / s`.
    r: f64,
    /// `f / s`.
    first: f64,
}

impl Relative {
    /// `e_j` and `q_j` of so many streams in a burst, of which `spare` is `1 - j r`, as if first services fitted into
    /// it: where they do not, `e_j` is negative.
    fn fitting(&self, active: f64, spare: f64) -> (f64, f64) {
        if active <= 0.0 {
            return (spare, 0.0);
        }
        let late = self.first - self.r;
        let alone = (spare + self.r).max(0.0) / (1.0 + (active - 1.0) * late).max(f64::MIN_POSITIVE);
        (spare - active * late * alone, alone)
    }

    /// `e_j` and `q_j` of so many streams in a burst, of which `spare` is `1 - j r`.
    fn empty(&self, active: f64, spare: f64) -> (f64, f64) {
        let late = self.first - self.r;
        if active <= 0.0 || late < spare {
            return self.fitting(active, spare);
        }
        // one first service takes all that is spare, and more: towards M/G/1
        let empty = spare / (1.0 + active * late) * (1.0 - spare / late);
        (empty, (spare - empty) / (active * late))
    }

    /// Probability that nobody comes during the service of a message that found nobody, with so many other streams
    /// in a burst; services have so much variance, as if they were normal.
    fn quiet(&self, others: f64, variance: f64) -> f64 {
        let &Self { streams, burst, on, r, first } = self;
        // OFF time I = N s y / α
        let opening = on / (burst * (1.0 - on));
        let others_off = (-(streams - 1.0 - others).max(0.0) * first * opening).exp();
        // their last message came between b and s ago
        let due = if first + r < 1.0 { first / (1.0 - r) } else { 1.0 };
        let others_on = (1.0 - (1.0 - 1.0 / burst) * due).powf(others.max(0.0));
        let late = takes_longer(first - 1.0, variance);
        let own = 1.0 - late + late * (-(first - 1.0).max(0.0) * opening).exp() / burst;
        others_off * others_on * own
    }
}

/// Sums over the number `j` of streams in a burst; `e_j` is what of `1 - j r` longer first services leave, `q_j` the
/// probability that a message of a stream in a burst finds nobody.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    /// `Σ G_j (1 - j r) j 2 w_j / b`.
    periodic: f64,
    /// `Σ D_j (1 - j r)²`.
    overload: f64,
    /// `Σ D_j j²`.
    overload_squares: f64,
    /// `Σ G_j (1 - j r) j`.
    spare_active: f64,
    /// `Σ G_j e_j`.
    idle: f64,
    /// `u = Σ G_j e_j (k - j) / (k y)`: probability that the first message of a burst finds nobody.
    opens: f64,
    /// `v = Σ G_j P_j q_j j / (k α)`: that a later one does.
    goes_on: f64,
    /// `Σ G_j e_j (k - j) / (k y) j`.
    beside_opening: f64,
    /// `Σ G_j P_j q_j j / (k α) (j - 1)`.
    beside_going_on: f64,
    /// Probability that a message finds nobody and has nobody come while it is served.
    lone: f64,
    /// `Σ G_j w_j (d_j - u_j) / (d_j + u_j)`: what services that vary move of the empty time.
    chance: f64,
}

impl Sums {
    /// With services of so much variance, in squares of the spacing.
    fn of(source: &Relative, variance: f64) -> Self {
        let &Relative { streams, on, r, .. } = source;
        if r < 1.0 {
            let states = active_streams(streams, on, r);
            let chance = by_chance(&states, source, variance);
            return Self {
                chance,
                ..Self::over(&states, source, variance).with_overload_begun(&states, source, variance)
            };
        }
        // empty only while all are OFF: G_0 = 1 - ρ
        let idle = 1.0 - r * streams * on;
        let all_off = State { active: 0.0, share: idle, displaced: 0.0, spare: 1.0 };
        let mean = streams * on;
        let spread = mean * (1.0 - on);
        Self {
            // E[(1 - j r)²] - (1 - ρ), with ρ = r E[j]
            overload: (r * r * spread - r * mean * idle).max(0.0),
            overload_squares: spread + mean * mean,
            chance: by_chance(&[all_off], source, variance),
            ..Self::over(&[all_off], source, variance).with_overload_begun(&[all_off], source, variance)
        }
    }

    fn over(states: &[State], source: &Relative, variance: f64) -> Self {
        let &Relative { streams, burst, on, r, .. } = source;
        let mut sums = Self::default();
        for state in states {
            let &State { active, displaced, spare, .. } = state;
            sums.overload += displaced * spare * spare;
            sums.overload_squares += displaced * active * active;
            let clear = state.clear();
            if clear <= 0.0 {
                continue;
            }
            sums.periodic += clear * spare * active * periodic_wait(active, r);
            sums.spare_active += clear * spare * active;
            let (empty, alone) = source.empty(active, spare);
            let opens = clear * empty * (streams - active) / (streams * (1.0 - on));
            let (over, fitting) = source.fitting(active, spare);
            let local = Local::of(source, active, variance);
            let alone = alone * local.remains(empty) + (fitting - alone).max(0.0) * local.remains(over);
            let goes_on = clear * alone * active / (streams * on);
            sums.idle += clear * empty;
            sums.opens += opens;
            sums.goes_on += goes_on;
            sums.beside_opening += opens * active;
            sums.beside_going_on += goes_on * (active - 1.0);
            sums.lone += opens / burst * source.quiet(active, variance)
                + (1.0 - 1.0 / burst) * goes_on * source.quiet(active - 1.0, variance);
        }
        sums
    }
}

/// `2 w_j / b`: mean wait among `active` periodic messages that load the server with `r` each
/// \[halves of a service\].
pub(super) fn periodic_wait(active: f64, r: f64) -> f64 {
    let (mut wait, mut term, mut others) = (0.0, 1.0, active - 1.0);
    while others > 0.0 && term > 1e-12 {
        term *= others * r;
        wait += term;
        others -= 1.0;
    }
    wait
}
