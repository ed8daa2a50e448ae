//! Blocking of messages of one class: Eqs. (3)-(5), §3.1, and (11)-(12), §3.2.1 of [KYD05].

use crate::scalar::Scalar;

/// Message length and buffer depth of one class, with what follows from them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Buffering<T = f64> {
    /// `M`: length of a message \[flits\]; R1: the class's own.
    pub message_flits: T,
    /// `b_s`: input and output buffer of a virtual channel \[flits\].
    pub buffer_flits: T,
}

/// What stands in front of the headers of one class.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Blocking<T = f64> {
    /// `P_b,c`: probability that the next stage has no room.
    pub probability: T,
    /// `λ'_c`: rate that gets through \[messages/cycle\].
    pub accepted_rate: T,
    /// `B̄_c`: mean length in front of a header \[flits\].
    pub length: T,
}

impl<T: Scalar> Buffering<T> {
    /// `m = max(b_s, M)` \[flits\].
    pub fn room(self) -> T {
        self.buffer_flits.max(self.message_flits)
    }

    /// `1 + 2 m / M`: messages that fit into both buffers and the server.
    pub fn exponent(self) -> T {
        self.room() * 2.0 / self.message_flits + 1.0
    }

    /// (3), (11): `P_b = load^(1 + 2 m / M)`; R2: the load (`L̄ λ'`) is clipped at 1.
    pub fn probability(self, load: T) -> T {
        load.min(T::one()).power(self.exponent())
    }
}

impl<T: Scalar> Blocking<T> {
    /// Blocking of a class whose mean network latency `L̄_c` is `latency` \[cycles\].
    ///
    /// With (4) put into (3) the right side falls while the left side rises: one root at any load. Repeated
    /// substitution stops converging once `P_b > 1 / (exponent + 1)`, that is 1/4 for `b_s <= M`. In terms of
    /// the load `y = L̄ λ'` the equation is `y + L̄ λ^g y^exponent = L̄ λ^g`, whose left side is convex, so that
    /// Newton steps from the right cannot miss.
    ///
    /// ```
    /// # use flitwise_models::published::{Blocking, Buffering};
    /// let table_1 = Buffering { message_flits: 32.0, buffer_flits: 32.0 };
    /// let b = Blocking::at(36.0, 0.01, table_1);
    /// assert_eq!(format!("{:.4} {:.3}", b.probability, b.length), "0.0411 1.974");
    /// ```
    pub fn at(latency: T, offered_rate: T, buffering: Buffering<T>) -> Self {
        let offered_load = latency * offered_rate;
        let exponent = buffering.exponent();

        // (3) with (4): P_b = (L̄ λ^g (1 - P_b))^(1 + 2 max(b_s, M) / M)
        let load = T::root(0.0, offered_load.re().min(1.0), |load: T| {
            let probability = buffering.probability(load);
            let slope = if load > 0.0 { exponent * probability / load } else { T::zero() };
            (load + offered_load * probability - offered_load, offered_load * slope + 1.0)
        });
        let probability = buffering.probability(load);
        // (4): λ' = (1 - P_b) λ^g
        let accepted_rate = load / latency;
        // (5): B̄ = P_b (max(b_s, M) + M / 2)
        let length = probability * (buffering.room() + buffering.message_flits / 2.0);

        Self { probability, accepted_rate, length }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equations_3_and_4_hold_together_at_any_load() {
        for (message_flits, buffer_flits) in [(32.0, 32.0), (32.0, 4.0), (8.0, 64.0), (1.0, 65_536.0)] {
            let buffering = Buffering { message_flits, buffer_flits };
            for rate in [0.0, 1e-12, 1e-4, 0.01, 0.02, 0.1, 1.0] {
                for latency in [1.0, 36.0, 1e4, 1e12] {
                    let b = Blocking::at(latency, rate, buffering);
                    let right = (latency * b.accepted_rate).powf(buffering.exponent());
                    assert!((b.probability - right).abs() < 1e-9, "{b:?}");
                    assert!((b.accepted_rate - (1.0 - b.probability) * rate).abs() <= 1e-9 * rate, "{b:?}");
                    assert!((0.0..=1.0).contains(&b.probability));
                }
            }
        }
    }

    /// P_b above 1/4, where repeated substitution swings for ever.
    #[test]
    fn the_root_is_found_where_substitution_fails() {
        let b = Blocking::at(60.0, 0.02, Buffering { message_flits: 32.0, buffer_flits: 32.0 });
        assert!(b.probability > 0.25);
        let load = 60.0 * 0.02 * (1.0 - b.probability);
        assert!((load.powi(3) - b.probability).abs() < 1e-14);
    }
}
