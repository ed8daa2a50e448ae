//! Waiting at the network interface, §6.7.

use statrs::function::factorial::ln_binomial;

/// Share of a sum below which further terms are left out.
const NOTHING: f64 = 1e-9;
/// Periodic sources that are as good as Poisson.
const MANY: f64 = 1000.0;

/// How long messages hold something, and how much of the time it is held.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Held {
    /// `q`.
    pub share: f64,
    /// `H`: of each message \[cycles\].
    pub cycles: f64,
}

impl Held {
    /// Wait of messages that come at random behind others, if `q < 1` \[cycles\].
    fn behind(&self) -> f64 {
        // M/D/1: q H / (2 (1 - q))
        self.share * self.cycles / (2.0 * (1.0 - self.share))
    }

    /// Wait of messages of so many streams behind those of others \[cycles\].
    fn behind_streams(&self, streams: f64) -> f64 {
        self.cycles * PeriodicQueue::mean_wait_of(streams, self.share)
    }
}

/// What a message meets at its interface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interface {
    /// Its lane, until the tail has left the router.
    pub lane: Held,
    /// What those in front of it hold. Real time: the lane until the tail has passed the injection link, if it finds
    /// room behind that. Best effort: the lane by all of the latency, as far as the lanes carry it.
    pub front: Held,
    /// `b / M`: messages that the input buffer of the lane has room for; 0 if all of them wait at the interface.
    pub room: f64,
    /// Whether a crossbar has the lanes of an input take turns.
    pub is_multiplexed: bool,
}

impl Interface {
    /// Share of the wait of best effort behind others that a buffer of so many messages leaves at the interface: a
    /// header leaves that once there is a free slot, `exp(-κ (b / M)^1.5)`. Measured on 90 routers with buffers of one
    /// and two messages: `κ` is 1.1 where lanes take turns, 1.9 in full crossbars, whatever the load.
    fn beyond(&self, room: f64) -> f64 {
        let decay = if self.is_multiplexed { 1.1 } else { 1.9 };
        (-decay * room.powf(1.5)).exp()
    }

    /// Wait that buffers of more than one message move from the interface into the network \[cycles\].
    pub fn moved(&self) -> f64 {
        self.lane.behind() * (self.beyond(1.0) - self.beyond(self.room.max(1.0)))
    }

    /// Wait for an output lane that another message holds, as a full crossbar adds it to the queue of the output link:
    /// `q` times half of `H`, of which the share `1 - q` is not in that queue already. Not derived; chosen among the
    /// powers 1, 2, 3 of `1 - q` over the whole wait behind others \[cycles\].
    pub fn for_lane(&self) -> f64 {
        // (1 - q) q H / 2
        (1.0 - self.lane.share).powi(2) * self.lane.behind()
    }

    /// Of real time, with `streams` streams in a lane: 1 cycle if everything is idle \[cycles\]. A message waits until
    /// those before it have passed the injection link. Of what they then wait in the buffer it waits for as much as the
    /// buffer has no room for, by the tail of a queue with a load of `q`:
    ///
    /// ```text
    /// 1 + H_s W_s + (H W - H_s W_s) exp(-2 (1 - q) b / (q M))
    /// ```
    pub fn real_time(&self, streams: f64) -> f64 {
        let sending = self.front.behind_streams(streams);
        let in_buffer = (self.lane.behind_streams(streams) - sending).max(0.0);
        let q = self.lane.share;
        let beyond = if q > 0.0 { (-2.0 * (1.0 - q) * self.room / q).exp() } else { 0.0 };
        1.0 + sending + beyond * in_buffer
    }

    /// Of best effort beneath a real-time load `ρ_R`; `load` is that of both on the injection link \[cycles\].
    pub fn best_effort(&self, message_flits: f64, real_time: f64, load: f64) -> f64 {
        1.0 + load * message_flits / (2.0 * (1.0 - real_time) * (1.0 - load))
            + self.front.behind() * self.beyond(self.room)
    }
}

/// *nD/D/1*: `n` sources, each with a customer every `D` services at a random phase; one server, in order of arrival.
///
/// Eckberg, IEEE Trans. Comm. 27 (1979) 1745; Roberts and Virtamo, ibid. 39 (1991) 298. Time is in services.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PeriodicQueue {
    /// `n`.
    pub sources: u32,
    /// `ρ = n / D`, below 1.
    pub load: f64,
}

impl PeriodicQueue {
    /// Of streams with Poisson messages beside them: `n` streams of a load `ρ_R` on a link of load `ρ`. Work that comes
    /// in `t` varies by `ρ t - ρ_R t² / D`, as that of `n (ρ / ρ_R)²` sources does.
    pub(super) fn beside_poisson(streams: f64, real_time: f64, load: f64) -> Self {
        let sources = if real_time > 0.0 { streams * (load / real_time).powi(2) } else { MANY };
        Self { sources: sources.round().clamp(1.0, MANY) as u32, load }
    }

    /// Probability that there is more than `x` of work:
    ///
    /// ```text
    /// P(V > x) = Σ_(x < k <= n) C(n, k) p^k (1 - p)^(n - k) (D - n + x) / (D - k + x),   p = (k - x) / D
    /// ```
    pub fn work_exceeds(&self, x: f64) -> f64 {
        let (n, period) = (f64::from(self.sources), f64::from(self.sources) / self.load);
        if x < 0.0 || self.load <= 0.0 {
            return f64::from(u8::from(x < 0.0));
        }
        let (mut sum, mut before) = (0.0, 0.0);
        let first = x.floor() as u32 + 1;
        // ln C(n, k), from one k to the next
        let mut binomial = ln_binomial(u64::from(self.sources), u64::from(first));
        for k in first..=self.sources {
            let (count, more) = (f64::from(k), f64::from(k) - x);
            let p = more / period;
            let chance = binomial + count * p.ln() + (n - count) * (-p).ln_1p();
            binomial += ((n - count) / (count + 1.0)).ln();
            // p = 1 with k = n: all of them
            let chance = if p < 1.0 { chance.exp() } else { 1.0 };
            let term = chance * (period - n + x) / (period - more);
            sum += term;
            if term < before && term < NOTHING * sum {
                break;
            }
            before = term;
        }
        sum
    }

    /// Mean work that a random instant finds, `E[V] = ∫ P(V > x) dx`; nearly `P(V > x) = exp(-2 x (x / n + 1 - ρ))`
    /// \[services\].
    pub fn mean_work(&self) -> f64 {
        // within a service the tail is smooth: three points of Gauss and Legendre
        let (middle, side) = (4.0 / 9.0, 5.0 / 18.0);
        let offset = 0.6f64.sqrt() / 2.0;
        let mut sum = 0.0;
        for service in 0..self.sources {
            let at = |inside: f64| self.work_exceeds(f64::from(service) + inside);
            let part = middle * at(0.5) + side * (at(0.5 - offset) + at(0.5 + offset));
            sum += part;
            if part < NOTHING * sum {
                break;
            }
        }
        sum
    }

    /// Mean wait of a customer \[services\]: it finds what the `n - 1` other sources leave.
    pub fn mean_wait(&self) -> f64 {
        let others = self.sources.saturating_sub(1);
        let load = self.load * f64::from(others) / f64::from(self.sources.max(1));
        Self { sources: others, load }.mean_work()
    }

    /// The same of so many sources on average; between whole numbers of them, on a line \[services\].
    pub fn mean_wait_of(sources: f64, load: f64) -> f64 {
        let sources = sources.clamp(1.0, MANY);
        let below = sources.floor();
        let of = |sources: f64| Self { sources: sources as u32, load }.mean_wait();
        let part = sources - below;
        let first = of(below);
        if part > 0.0 { first + part * (of(below + 1.0) - first) } else { first }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mediaworm::assert_near;
    use crate::queueing::Md1;

    fn mean(sources: u32, load: f64) -> f64 {
        PeriodicQueue { sources, load }.mean_work()
    }

    #[test]
    fn periodic_sources_have_the_means_of_the_chapter() {
        for (sources, load, expected) in [(5, 0.5, 0.3866), (77, 0.817, 1.8127), (100, 0.9, 2.9979)] {
            assert_near(mean(sources, load), expected, 1e-4);
            let poisson = Md1 { rate: load, mean: 1.0 }.measures().reached().unwrap().mean_wait;
            assert!(mean(sources, load) < poisson);
        }
        let tail = PeriodicQueue { sources: 77, load: 0.817 }.work_exceeds(5.0);
        assert_near(tail, 0.06755, 1e-4);
    }

    #[test]
    fn limits_of_periodic_sources() {
        // one source never waits for itself; many are Poisson
        assert_eq!(PeriodicQueue { sources: 1, load: 0.9 }.mean_wait(), 0.0);
        assert_near(mean(100_000, 0.5), 0.5, 1e-3);
        assert_eq!((mean(5, 0.0), PeriodicQueue { sources: 5, load: 0.5 }.work_exceeds(-1.0)), (0.0, 1.0));
        // two sources: they meet with probability rho, half of a service is left
        assert_near(PeriodicQueue { sources: 2, load: 0.5 }.mean_wait(), 0.125, 1e-6);
        assert!(mean(40, 0.999_999).is_finite());
    }

    fn held(share: f64, cycles: f64) -> Held {
        Held { share, cycles }
    }

    fn interface(lane: Held, front: Held, room: f64) -> Interface {
        Interface { lane, front, room, is_multiplexed: true }
    }

    #[test]
    fn an_idle_interface_takes_a_cycle() {
        let idle = interface(held(0.0, 23.0), held(0.0, 23.0), 1.0);
        assert_eq!((idle.real_time(6.0), idle.best_effort(20.0, 0.0, 0.0)), (1.0, 1.0));
        // a stream does not wait for itself
        let lane = interface(held(0.5, 40.0), held(0.3, 24.0), 1.0);
        assert_eq!(lane.real_time(1.0), 1.0);
    }

    /// Between what the injection link takes and all that is in front.
    #[test]
    fn buffers_take_in_what_waits_for_the_router() {
        let of = |room| interface(held(0.5, 40.0), held(0.3, 24.0), room).real_time(6.0);
        let queue = |share: f64, cycles: f64| 1.0 + cycles * PeriodicQueue::mean_wait_of(6.0, share);
        assert_near(of(0.0), queue(0.5, 40.0), 1e-12);
        assert_near(of(20.0), queue(0.3, 24.0), 1e-9);
        assert!(of(1.0) < of(0.5) && of(1.0) > of(2.0));
        let [below, between, above] =
            [6.0, 6.5, 7.0].map(|streams| PeriodicQueue::mean_wait_of(streams, 0.5));
        assert_near(between, f64::midpoint(below, above), 1e-12);
        assert!(below < above && PeriodicQueue::mean_wait_of(0.3, 0.5) == 0.0);
    }

    #[test]
    fn longer_buffers_move_waits_into_the_network() {
        let of = |room| interface(held(0.4, 30.0), held(0.4, 30.0), room);
        // 0.4 * 30 / (2 * 0.6) = 10, of which exp(-1.1) are beyond a message, and exp(-1.1 * 8) beyond four
        assert_near(of(0.0).best_effort(20.0, 0.0, 0.0), 11.0, 1e-12);
        assert_near(of(1.0).best_effort(20.0, 0.0, 0.0), 1.0 + 10.0 * (-1.1f64).exp(), 1e-12);
        assert_near(of(4.0).moved(), 10.0 * ((-1.1f64).exp() - (-8.8f64).exp()), 1e-12);
        assert_eq!((of(1.0).moved(), of(0.5).moved()), (0.0, 0.0));
        let full = Interface { is_multiplexed: false, ..of(1.0) };
        assert!(full.best_effort(20.0, 0.0, 0.0) < of(1.0).best_effort(20.0, 0.0, 0.0));
    }
}
