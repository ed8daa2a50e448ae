//! Best-effort messages, which take what real-time classes leave: Eqs. (9) and (13), §3.1 and §3.2.1 of
//! [KYD05].

use crate::scalar::Scalar;

/// Real-time traffic as a best-effort message meets it on a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RealTimeLoad<T = f64> {
    /// `π_∅`: probability that no real-time message holds the link.
    pub idle: T,
    /// `Σ λ_c` over the real-time classes \[messages/cycle\].
    pub rate: T,
}

/// Below this probability of an idle link best effort is never served: what is left comes from the tiny rate
/// that stands for a non-positive one (R6).
const NEVER_IDLE: f64 = 1e-9;

impl<T: Scalar> RealTimeLoad<T> {
    /// Whether real-time traffic leaves anything.
    pub fn leaves_room(self) -> bool {
        self.idle > NEVER_IDLE
    }

    /// `ρ_r = 1 - π_∅`.
    pub fn busy(self) -> T {
        T::one() - self.idle
    }

    /// Mean busy period of real-time traffic \[cycles\]; none without such traffic (R6).
    pub fn busy_period(self) -> T {
        // Idle = 1 / Σ λ, Busy = Idle (1 - π_∅) / π_∅
        if self.rate == 0.0 { T::zero() } else { self.busy() / (self.idle * self.rate) }
    }

    /// (9) with R4: cycles per flit at the output of a single router, preemptive resume.
    ///
    /// `real_time_flits` is the length-biased mean `M_r` of real-time messages, `message_flits` is `M_C`.
    ///
    /// ```
    /// # use flitwise_models::published::RealTimeLoad;
    /// let half = RealTimeLoad { idle: 0.5, rate: 0.01 };
    /// // equal lengths: (2 - ρ) / (2 (1 - ρ)²) as printed
    /// assert_eq!(half.cycles_per_flit(32.0, 32.0), (2.0 - 0.5) / (2.0 * 0.25));
    /// ```
    pub fn cycles_per_flit(self, real_time_flits: T, message_flits: T) -> T {
        // S_C = [1 + ρ_r M_r / (2 M_C (1 - ρ_r))] / (1 - ρ_r)
        (self.busy() * real_time_flits / (message_flits * 2.0 * self.idle) + 1.0) / self.idle
    }

    /// (13): cycles per flit on a network channel of a hypercube.
    pub fn cycles_per_flit_on_channel(self, message_flits: T) -> T {
        let (m, busy) = (message_flits, self.busy_period());
        // S_m(s) = (M + M ρ_r) π_∅ + (M + Busy) (1 + ρ_r) (1 - π_∅)
        let cycles = (m + m * self.busy()) * self.idle + (m + busy) * (self.busy() + 1.0) * self.busy();
        cycles / m
    }

    /// `M_s`: cycles over which the flits of a message are spread when they reach the ejection channel.
    pub fn spread(message_flits: T, cycles_per_flit: T, middle: T) -> T {
        // M_s = max(M, (M - 1) S_{C,s} + 1 - Bmid(C,s))
        message_flits.max((message_flits - 1.0) * cycles_per_flit + 1.0 - middle)
    }

    /// Cycles per flit at the ejection channel of a hypercube, below (13), for messages that took
    /// `cycles_per_flit` on their first channel and were blocked for `middle` flits on the way.
    pub fn cycles_per_flit_at_ejection(self, message_flits: T, cycles_per_flit: T, middle: T) -> T {
        let (m, busy) = (message_flits, self.busy_period());
        let spread = Self::spread(m, cycles_per_flit, middle);
        // S_m(n) = M_s (1 + ρ_r) π_∅ + (M_s / 2 + Busy + M / 2) (1 + ρ_r) (1 - π_∅)
        let cycles = spread * (self.busy() + 1.0) * self.idle
            + (spread / 2.0 + busy + m / 2.0) * (self.busy() + 1.0) * self.busy();
        cycles / m
    }
}

/// R4: mean length of the real-time message that a best-effort one meets, `Σ λ M² / Σ λ M` \[flits\].
pub fn length_biased_mean<T: Scalar>(rates_and_lengths: impl IntoIterator<Item = (T, T)>) -> T {
    let (mut flits, mut squares) = (T::zero(), T::zero());
    for (rate, length) in rates_and_lengths {
        flits += rate * length;
        squares += rate * length * length;
    }
    if flits == 0.0 { T::zero() } else { squares / flits }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queueing::{Customers, PreemptiveResume};

    /// (9) is the preemptive-resume station, with little best effort below constant real-time messages.
    #[test]
    fn equation_9_is_the_preemptive_resume_station() {
        let (high, low) = (Customers::new(0.4 / 16.0, 16.0, 0.0), Customers::new(0.0, 48.0, 0.0));
        let response =
            PreemptiveResume { classes: vec![high, low] }.measures()[1].reached().unwrap().mean_response;
        let found = RealTimeLoad { idle: 0.6, rate: high.rate }.cycles_per_flit(16.0, 48.0);
        assert!((found * 48.0 / response - 1.0).abs() < 1e-14);
    }

    #[test]
    fn without_real_time_traffic_a_flit_takes_one_cycle() {
        let none = RealTimeLoad { idle: 1.0, rate: 0.0 };
        assert_eq!(none.cycles_per_flit(0.0, 32.0), 1.0);
        assert_eq!(none.cycles_per_flit_on_channel(32.0), 1.0);
        assert_eq!(none.cycles_per_flit_at_ejection(32.0, 1.0, 0.0), 1.0);
    }

    #[test]
    fn reading_r4_longer_messages_are_met_more_often() {
        assert_eq!(length_biased_mean([(0.01, 32.0), (0.005, 32.0)]), 32.0);
        assert_eq!(length_biased_mean([(0.01, 16.0), (0.01, 64.0)]), (256.0 + 4096.0) / 80.0);
    }
}
