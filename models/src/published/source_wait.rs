//! Mean wait at the source: Eqs. (14)-(15), §3.3 of [KYD05].

use crate::queueing::{Mg1, Service, Steady};
use crate::scalar::Scalar;

/// Mean wait of a message at its source, Eq. (15).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SourceWait<T = f64> {
    /// It is finite.
    Finite {
        /// `W̄_c` \[cycles\].
        cycles: T,
    },
    /// `λ^g L̄ >= 1`: the queue grows without bound. An answer, not an error (R6).
    Saturated {
        /// `λ^g L̄`.
        load: f64,
    },
}

impl<T: Scalar> SourceWait<T> {
    /// `δ²`: variance of the service as the paper takes it \[cycles²\].
    pub fn variance(latency: T, transfer: T) -> T {
        // δ² = (L̄ - T)²
        (latency - transfer) * (latency - transfer)
    }

    /// An M/G/1 queue whose service is the network latency, and the cycles until the header goes.
    ///
    /// `latency` is `L̄_c`, `transfer` is `T_c` without contention, `cycles_per_flit` is `S̄_c` \[cycles\].
    ///
    /// ```
    /// # use flitwise_models::published::SourceWait;
    /// // no contention: an M/D/1 queue of service 36 at load 0.36
    /// let SourceWait::Finite { cycles } = SourceWait::new(0.01, 36.0, 36.0, 1.0) else { panic!() };
    /// assert!((cycles - (0.36 * 36.0 / (2.0 * 0.64) + 1.0)).abs() < 1e-12);
    /// ```
    pub fn new(offered_rate: T, latency: T, transfer: T, cycles_per_flit: T) -> Self {
        let variance = Self::variance(latency, transfer);
        let service = Service { mean: latency, second_moment: latency * latency + variance };
        // (15): W̄ = λ^g (L̄² + δ²) / (2 (1 - λ^g L̄)) + S̄
        match (Mg1 { rate: offered_rate, service }).mean_wait() {
            Steady::Reached(wait) => Self::Finite { cycles: wait + cycles_per_flit },
            Steady::Saturated { load } => Self::Saturated { load },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lone_message_waits_one_cycle() {
        assert_eq!(SourceWait::new(0.0, 36.0, 36.0, 1.0), SourceWait::Finite { cycles: 1.0 });
    }

    #[test]
    fn the_wait_has_no_bound_at_load_one() {
        assert_eq!(SourceWait::new(0.02, 50.0, 36.0, 1.0), SourceWait::Saturated { load: 1.0 });
    }
}
