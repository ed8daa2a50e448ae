//! Best effort under real-time classes that come in bursts: how much longer it waits than under Poisson sources of
//! the same rates.
//!
//! A link that is never idle while there is work keeps its total work `V`, in any order of service. What best effort
//! has to wait for is what is left of it when the work of the classes above is taken off (they do not see best effort):
//! `E[V_BE] = E[V] - E[V_RT]`, and with `m` the work of one of its messages and `T` the time it is in service, `E[V_BE]
//! = λ m (W + E[T] / 2)` (Little's law). Between bursts and Poisson sources above only the two works differ:
//!
//! ```text
//! W_bursts - W_Poisson = [(E[V] - E[V_RT])_bursts - (E[V] - E[V_RT])_Poisson] / (λ m)
//! ```
//!
//! Where the buffer behind the link holds a message, `m = M`: a message that is held up there does not hold up the
//! link. Where it does not, `m = (1 - σ) E[B]` is what of a service `B` in interface and input channel is not the work
//! of others, so that the pole is where the model says that the class saturates.
//!
//! The own bursts are taken as a Poisson source there: that they coincide with those above is left out.
//!
//! # Work of streams and Poisson messages together
//!
//! The martingale of [`bursty_source`](super::bursty_source) holds for messages of several kinds if each stream's
//! `h` is weighed with its work. With `ρ_0` the load of Poisson classes, `k` streams of messages of work `b`,
//! `e_j = 1 - ρ_0 - j r`, and `G_j` of the fluid queue of the streams on what Poisson messages leave of the link:
//!
//! ```text
//! E[V] (1 - ρ) = Σ_0 λ M^2 / 2 + λ b^2 (2 N - 1) y^2 / 2
//!     + Σ G_j {e_j b [(k - j) h_off + j h_1 + α j / 2] + α (e_j V_j - Σ_0 λ M^2 / 2)}
//! ```
//!
//! `V_j`, the mean work of `j` periodic messages and the Poisson ones, is taken as that of the Poisson messages on a
//! link that is `e_j` free and that of the periodic ones on a link that is slower by `ρ_0` (our approximation; exact
//! without either). Streams of several classes are replaced by alike ones that have their load, their load-weighed
//! message, the variance and the third moment of their rate, and their index of dispersion (our approximation):
//!
//! ```text
//! k α r = ρ,   k α (1 - α) r^2 = E[(R - ρ)^2],   k α (1 - α) (1 - 2 α) r^3 = E[(R - ρ)^3]
//! ```
//!
//! Where `k` is not whole, the numbers on either side are mixed in proportion, each with the same load, variance and
//! dispersion.
//!
//! # Bursts as the interface lets them out
//!
//! Flits that have no credit do not go, and the link is free for best effort: a class holds it no faster than its first
//! input channel takes it, `c = M / C` of the time, while anything is left of what came faster (our approximation: the
//! buffer behind the link is full then). With `D_j` of the fluid queue of the streams before a server of capacity `c`,
//! for `n = 2, 3`
//!
//! ```text
//! E[(R - ρ)^n] = Σ G_j (j r - ρ)^n + (c - ρ)^n Σ D_j
//! ```
//!
//! The mean load and the index of dispersion stay as they are.

use super::ablation::{Step, without};
use super::bursty_source::{State, active_streams, periodic_wait};
use super::{BurstySource, Class, Problem};
use flitwise_language::scenario::ClassKind;

/// Messages of one class on a link.
#[derive(Clone, Copy, Debug)]
pub(super) struct Work {
    /// Messages per cycle.
    rate: f64,
    /// Work of a message \[cycles\].
    message: f64,
    bursts: Option<BurstySource>,
    /// `C`: from message to message through the first input channel, where that is known \[cycles\].
    outlet: Option<f64>,
}

/// Alike streams that stand for those of all classes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Streams {
    /// `λ b`: load of all.
    pub(super) load: f64,
    /// `b` \[cycles\]
    pub(super) message: f64,
    /// `r`: load of one in a burst.
    pub(super) peak: f64,
    /// `k`
    pub(super) streams: f64,
    /// `N`
    pub(super) burst: f64,
}

impl Work {
    pub(super) fn of(class: &Class) -> Self {
        Self { rate: class.rate, message: class.message, bursts: class.bursts, outlet: class.outlet }
    }
}

impl Streams {
    pub(super) fn of(works: &[Work]) -> Option<Self> {
        let (mut load, mut message, mut variance, mut third, mut dispersion) = (0.0, 0.0, 0.0, 0.0, 0.0);
        for work in works {
            let Work { rate, message: b, bursts, outlet } = work;
            let Some(source) = bursts else { continue };
            let BurstySource { streams, messages_per_burst, peak_rate, .. } = *source;
            let (rho, r) = (rate * b, peak_rate * b);
            let on = (rate / (f64::from(streams) * peak_rate)).min(1.0 - 1e-9);
            let let_out = outlet.and_then(|pace| let_out(work, source, on, pace));
            let offered = rho * r * (1.0 - on);
            let (square, cube) = let_out.unwrap_or((offered, offered * r * (1.0 - 2.0 * on)));
            load += rho;
            message += rho * b;
            variance += square;
            third += cube;
            // λ b^2 (2 N - 1) y^2
            dispersion += rho * b * (2.0 * messages_per_burst - 1.0) * (1.0 - on) * (1.0 - on);
        }
        if load <= 0.0 {
            return None;
        }
        let message = message / load;
        let variance = variance.max(1e-6 * load * load);
        // α r = (1 - α) r - (1 - 2 α) r
        let active = variance / load - third / variance;
        let streams = (load / active.max(load / MOST_STREAMS)).clamp(1.0, MOST_STREAMS);
        let on = 1.0 / (1.0 + streams * variance / (load * load));
        let off = 1.0 - on;
        let burst = ((dispersion / (load * message) / (off * off) + 1.0) / 2.0).max(1.0);
        Some(Self { load, message, peak: load / (streams * on), streams, burst })
    }

    /// So many streams with the same load, variance of the rate and index of dispersion.
    fn of_number(self, number: f64) -> Self {
        let Self { load, peak, streams, burst, .. } = self;
        if (number - streams).abs() < 1e-6 * streams {
            return Self { streams: number, ..self };
        }
        let off = 1.0 - load / (peak * streams);
        // k α r = ρ,  k α (1 - α) r^2
        let variance = load * peak * off;
        let on = 1.0 / (1.0 + number * variance / (load * load));
        let dispersion = (2.0 * burst - 1.0) * off * off;
        let burst = ((dispersion / ((1.0 - on) * (1.0 - on)) + 1.0) / 2.0).max(1.0);
        Self { peak: load / (number * on), streams: number, burst, ..self }
    }

    /// Whole numbers of streams on either side, at most so many, and how much of each.
    pub(super) fn whole(self, most: f64) -> Vec<(f64, Self)> {
        let number = self.streams.min(most);
        let (low, part) = (number.floor(), number.fract());
        if !(1e-6..=1.0 - 1e-6).contains(&part) {
            return vec![(1.0, self.of_number(number.round()))];
        }
        vec![(1.0 - part, self.of_number(low)), (part, self.of_number(low + 1.0))]
    }
}

/// More streams are as good as so many.
const MOST_STREAMS: f64 = 1000.0;

/// Second and third central moment of the load that the link of the interface sees of streams that are ON for a share
/// `on` of the time, where their input channel takes a message each `pace` cycles; none if they pass as they come.
fn let_out(work: &Work, source: &BurstySource, on: f64, pace: f64) -> Option<(f64, f64)> {
    let (load, peak) = (work.rate * work.message, source.peak_rate * work.message);
    let streams = f64::from(source.streams);
    // what is overloaded for good is taken as full nearly always
    let most = (work.message / pace).max(load * (1.0 + 1e-3));
    if peak * streams <= most || without(Step::Outlet) {
        return None;
    }
    let moments = |weight: f64, rate: f64| {
        let square = weight * (rate - load) * (rate - load);
        [weight, square, square * (rate - load)]
    };
    let states = active_streams(streams, on, peak / most);
    let passing = states.iter().map(|state: &State| moments(state.clear(), state.active * peak));
    let [free, square, cube] = passing.fold([0.0; 3], |sum, more| std::array::from_fn(|i| sum[i] + more[i]));
    let [_, full_square, full_cube] = moments(1.0 - free, most);
    Some((square + full_square, cube + full_cube))
}

/// `E[V]` of all together; infinite from a load of one on \[cycles\].
fn mean_work(works: &[Work]) -> f64 {
    let poisson = || works.iter().filter(|work| work.bursts.is_none());
    let poisson_load: f64 = poisson().map(|work| work.rate * work.message).sum();
    let squares: f64 = poisson().map(|work| work.rate * work.message * work.message).sum();
    let Some(streams) = Streams::of(works) else {
        return if poisson_load < 1.0 { squares / 2.0 / (1.0 - poisson_load) } else { f64::INFINITY };
    };
    let parts = streams.whole(MOST_STREAMS);
    parts.iter().map(|(weight, streams)| weight * work_beside(streams, poisson_load, squares)).sum()
}

/// `E[V]` of streams and of Poisson messages of load `Σ λ M` and `squares` `Σ λ M^2`.
fn work_beside(streams: &Streams, poisson_load: f64, squares: f64) -> f64 {
    let &Streams { load, message: b, peak: r, streams: k, burst, .. } = streams;
    let idle = 1.0 - poisson_load - load;
    if idle <= 0.0 {
        return f64::INFINITY;
    }
    let left = 1.0 - poisson_load;
    let on = load / (k * r);
    let off = 1.0 - on;
    // h_1 = N y^2 - y - α^2 / 2,  h_off = h_1 + 1 - N y
    let after = burst * off * off - off - on * on / 2.0;
    let silent = after + 1.0 - burst * off;
    let mut sum = squares / 2.0 + load * b * (2.0 * burst - 1.0) * off * off / 2.0;
    for state in active_streams(k, on, r / left) {
        let (j, clear, free) = (state.active, state.clear(), state.spare * left);
        if clear <= 0.0 {
            continue;
        }
        let at_left = j * r / left * b * (periodic_wait(j, r / left) + 1.0) / 2.0;
        sum += clear * free * b * ((k - j) * silent + j * after + on * j / 2.0);
        sum += clear * on * free * at_left;
    }
    sum.max(0.0) / idle
}

impl Problem {
    /// `Π (1 - α)^k`: share of the time in which no real-time class but the own one is in a burst; zero if one of them
    /// does not come in bursts, or there is none.
    pub(super) fn quiet_beside(&self, index: usize) -> f64 {
        let mut others = self
            .classes
            .iter()
            .enumerate()
            .filter(|(d, class)| *d != index && class.kind == ClassKind::RealTime)
            .peekable();
        if others.peek().is_none() || without(Step::BackToBack) {
            return 0.0;
        }
        let quiet = |(_, class): (usize, &Class)| {
            class.bursts.map_or(0.0, |BurstySource { rate, streams, peak_rate, .. }| {
                let on = (rate / (f64::from(streams) * peak_rate)).min(1.0);
                (1.0 - on).powi(streams as i32)
            })
        };
        others.map(quiet).product()
    }

    /// How much longer a class waits because classes above it come in bursts \[cycles\]; `load` is that of its
    /// queue, `λ E[B]`.
    pub(super) fn longer_wait(&self, class: &Class, load: f64) -> f64 {
        if class.kind == ClassKind::RealTime {
            return 0.0;
        }
        let higher: Vec<Class> = self.real_time().collect();
        longer_wait(&higher, class, load, self.buffer)
    }
}

/// `W_bursts - W_Poisson` for a queue of load `load` \[cycles\].
fn longer_wait(higher: &[Class], own: &Class, load: f64, buffer: f64) -> f64 {
    if higher.iter().all(|class| class.bursts.is_none()) || without(Step::WorkAbove) {
        return 0.0;
    }
    let above: f64 = higher.iter().map(Class::load).sum();
    let own_load = if buffer >= own.message { own.load() } else { load * (1.0 - above) };
    if !(own_load > 0.0 && load < 1.0) {
        return 0.0;
    }
    let own = Work { rate: own.rate, message: own_load / own.rate, bursts: None, outlet: None };
    let of_best_effort = |bursty: bool| {
        let work = |class: &Class| Work {
            rate: class.rate,
            message: class.message,
            bursts: class.bursts.filter(|_| bursty),
            outlet: class.outlet,
        };
        let mut works: Vec<Work> = higher.iter().map(work).collect();
        let alone = mean_work(&works);
        works.push(own);
        mean_work(&works) - alone
    };
    let longer = (of_best_effort(true) - of_best_effort(false)) / own_load;
    if longer.is_finite() { longer.max(0.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refined::Service;

    fn assert_close(found: f64, wanted: f64, share: f64) {
        assert!((found - wanted).abs() <= share * wanted.abs(), "{found}, wanted {wanted}");
    }

    fn bursty(rate: f64, message: f64, streams: u32, messages_per_burst: f64, peak_rate: f64) -> Work {
        let bursts = Some(BurstySource { rate, streams, messages_per_burst, peak_rate });
        Work { rate, message, bursts, outlet: None }
    }

    #[test]
    fn without_bursts_it_is_the_work_of_a_poisson_queue() {
        let works = [
            Work { rate: 0.01, message: 30.0, bursts: None, outlet: None },
            Work { rate: 0.005, message: 60.0, bursts: None, outlet: None },
        ];
        assert_close(mean_work(&works), (0.01 * 900.0 + 0.005 * 3600.0) / 2.0 / 0.4, 1e-12);
    }

    /// `E[V] = ρ W + λ b^2 / 2`.
    #[test]
    fn streams_alone_have_the_work_of_their_own_queue() {
        for (streams, burst, peak) in [(1, 8.0, 0.05), (4, 8.0, 0.05), (6, 3.0, 0.012), (30, 10.0, 0.006)] {
            let work = bursty(0.015, 32.0, streams, burst, peak);
            let service = Service::constant(32.0);
            let wait = work.bursts.unwrap().queue(service, service).wait;
            assert_close(mean_work(&[work]), 0.48 * wait + 0.48 * 16.0, 1e-6);
        }
    }

    /// Many streams of single messages, seldom ON, are a Poisson source.
    #[test]
    fn single_messages_of_many_streams_are_poisson() {
        let poisson = Work { rate: 0.01, message: 20.0, bursts: None, outlet: None };
        let streams = bursty(0.01, 40.0, 500, 1.0, 0.02);
        let both = mean_work(&[poisson, Work { bursts: None, ..streams }]);
        assert_close(mean_work(&[poisson, streams]), both, 0.02);
    }

    /// One stream that comes faster than its input channel takes it is at once or not at all what that takes; slower
    /// ones pass as they come, and between both nothing jumps.
    #[test]
    fn a_channel_lets_bursts_out_no_faster_than_it_takes_them() {
        let free = bursty(0.01, 30.0, 1, 8.0, 0.03);
        let streams = |pace| Streams::of(&[Work { outlet: Some(pace), ..free }]).unwrap();
        let held = streams(50.0);
        assert_close(held.peak, 0.6, 1e-6);
        assert_close(held.streams, 1.0, 1e-3);
        assert_close(streams(33.3).peak, Streams::of(&[free]).unwrap().peak, 1e-6);
        assert_close(streams(33.4).peak, streams(33.3).peak, 4e-3);
        // the wait of best effort shrinks with it
        assert!(mean_work(&[Work { outlet: Some(50.0), ..free }]) < mean_work(&[free]));
    }

    /// Alike streams are what they are; those of two classes have what their rates have together.
    #[test]
    fn moments_of_the_rate_are_those_of_all_streams() {
        let (one, other) = (bursty(0.006, 30.0, 5, 8.0, 0.004), bursty(0.01, 12.0, 2, 3.0, 0.02));
        let alike = Streams::of(&[one]).unwrap();
        assert_close(alike.streams, 5.0, 1e-9);
        assert_close(alike.peak, 0.12, 1e-9);
        assert_close(alike.burst, 8.0, 1e-9);
        let cumulants = |streams: &Streams| {
            let Streams { load, peak, streams, .. } = *streams;
            let on = load / (streams * peak);
            let variance = load * (1.0 - on) * peak;
            [load, variance, variance * (1.0 - 2.0 * on) * peak]
        };
        let parts = [one, other].map(|work| cumulants(&Streams::of(&[work]).unwrap()));
        let both = cumulants(&Streams::of(&[one, other]).unwrap());
        for (i, found) in both.into_iter().enumerate() {
            assert_close(found, parts[0][i] + parts[1][i], 1e-9);
        }
    }

    #[test]
    fn bursts_above_only_lengthen_the_wait() {
        for (peak_rate, load) in [(0.05, 0.3), (0.02, 0.6), (0.01, 0.9)] {
            let class = |bursts| Class {
                kind: ClassKind::RealTime,
                rate: 0.004,
                message: 32.0,
                vtick: 7.8,
                bursts,
                outlet: None,
            };
            let bursts = BurstySource { rate: 0.004, streams: 4, messages_per_burst: 6.0, peak_rate };
            let own = Class { kind: ClassKind::BestEffort, ..class(None) };
            assert!(longer_wait(&[class(Some(bursts))], &own, load, 0.0) > 0.0);
            assert!(longer_wait(&[class(None)], &own, load, 0.0) == 0.0);
        }
    }

    /// Bursts at once are batches: `E[V] (1 - ρ) = Σ λ M^2 / 2 + λ b^2 (2 N - 1) / 2`.
    #[test]
    fn bursts_at_once_are_batches() {
        let poisson = Work { rate: 0.01, message: 20.0, bursts: None, outlet: None };
        let batches = bursty(0.01, 30.0, 400, 6.0, 50.0);
        assert_close(mean_work(&[poisson, batches]), (4.0 + 9.0 * 11.0) / 2.0 / 0.5, 0.01);
    }
}
