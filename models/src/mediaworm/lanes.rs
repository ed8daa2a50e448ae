//! What virtual channels carry: the load at which they saturate, and how long a message holds one, §6.5.
//!
//! The chapter fits a holding time to measured* saturation loads. Both crossbars have a derivation instead, with
//! nothing fitted, that is nearer (14 points*: worst 5.3 %, mean 1.5 %; fitted: 6.5 %, 1.5 %):
//!
//! *Multiplexed, greedy.* At saturation the front of every interface lane holds a message for some output lane, so that
//! output lanes are held as in a switch with one queue per input: with memoryless holding times a share `φ = 1/2` of
//! them (`ρ / (1 - ρ) = 1`). So a port has `Binomial(V, φ)` candidates to random ports, and a greedy matching leaves it
//! idle as a vertex of a random graph: `h' = -G_1(h)`, `h(0) = 1`, idle `G_0(h(1))` (random sequential adsorption on
//! trees, Flory 1939).
//!
//! ```text
//! c(V, φ) = 1 - (1 + (V - 2) φ)^(-V / (V - 2))    V = 2: 1 - exp(-2 φ);   V -> ∞: φ V / (1 + φ V)
//! c_B = (1 - ρ_R) c(V_B, φ (1 - ρ_R))             of best effort
//! ```
//!
//! Below real time, `ρ_R` of a port's cycles are gone and `1 - ρ_R` of a lane's candidates find their other port free.
//!
//! *Full.* There are `V` messages for each output on average, and an output link is M/D/1:
//!
//! ```text
//! V = u + u² / (2 (1 - u))
//! c = V + 1 - sqrt(V² + 1)
//! ```
//!
//! (Karol, Hluchyj, Morgan, IEEE Trans. Comm. 35 (1987) 1347, has `V = 1`). Best effort in the same way with the mean
//! number of low priority in preemptive-resume M/D/1.

use super::crossbar::Contention;
use super::latency::best_effort_excess;
use super::waiting::Held;
use crate::fixed_point::root_of_increasing;

/// `φ`: share of the lanes held at saturation.
const HELD: f64 = 0.5;
/// Cycles from a tail to the header of the next message in the same lane, beyond those of the flits.
const CHANGE: f64 = 3.0;

/// Virtual channels of a class at a port.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lanes {
    /// `V`.
    pub count: f64,
    /// `M` \[flits\].
    pub message_flits: f64,
}

/// `c(V, φ)`: share of the cycles in which a port of a greedy matching is used.
fn matched(lanes: f64, held: f64) -> f64 {
    let others = lanes - 2.0;
    if others.abs() < 1e-9 {
        return 1.0 - (-2.0 * held).exp();
    }
    // 1 - (1 + (V - 2) φ)^(-V / (V - 2))
    1.0 - (1.0 + others * held).powf(-lanes / others)
}

impl Lanes {
    /// Load at which a lane never rests: `M` flits of a message take `M + 3` cycles.
    fn most(&self) -> f64 {
        self.count * self.message_flits / (self.message_flits + CHANGE)
    }

    /// Largest load of the class \[flits/cycle/port\] if nothing goes before it.
    pub fn carried(&self, contention: Contention) -> f64 {
        self.carried_beneath(contention, 0.0)
    }

    /// The same beneath a real-time load, which is below 1.
    pub fn carried_beneath(&self, contention: Contention, real_time: f64) -> f64 {
        self.carried_beside(contention, real_time, (1.0, &[]))
    }

    /// Largest load of this class and of `others`, which share its place in the order, together: each with its lanes
    /// and its load, `own` of this class. Loads keep their proportions, and lanes are held in proportion to them.
    pub fn carried_beside(
        &self,
        contention: Contention,
        real_time: f64,
        (own, others): (f64, &[(Self, f64)]),
    ) -> f64 {
        let left = (1.0 - real_time).clamp(0.0, 1.0);
        let share = own / others.iter().fold(own, |sum, (_, load)| sum + load);
        let carried = if contention.is_multiplexed {
            let (mut all, mut held) = (self.count, self.count * HELD);
            for (lanes, load) in others.iter().filter(|(lanes, _)| lanes.count > 0.0) {
                let beside = (load / lanes.count) / (own / self.count);
                all += lanes.count;
                held += lanes.count * HELD * beside.min(1.0 / HELD);
            }
            // (1 - ρ_R) c(V, φ (1 - ρ_R))
            left * matched(all, held / all * left)
        } else {
            let messages = |load: f64| {
                let flits = others.iter().map(|(lanes, load)| load * lanes.message_flits);
                let lengths = share * (1.0 + flits.sum::<f64>() / (own * self.message_flits));
                let excess = best_effort_excess(real_time, real_time + load, lengths);
                // λ T = ρ (1 + excess) = V
                (share * load * (1.0 + excess) - self.count, f64::NAN)
            };
            root_of_increasing(0.0, left * (1.0 - 1e-12), messages)
        };
        carried.min(self.most() / share)
    }

    /// Share `q` of the time that a lane is held, and how long, `H`, by each message \[cycles\].
    ///
    /// `x` is the excess of the latency in messages, of which `a` counts: all, but at most such that `q = 1` at the
    /// largest load, whose excess is `excess_at_most`.
    pub fn held(&self, load: f64, excess: f64, (most, excess_at_most): (f64, f64)) -> Held {
        // q = 1 at the largest load ρ: a x = V / ρ - 1 - 3 / M
        let room = self.count / most - 1.0 - CHANGE / self.message_flits;
        let derived = if excess_at_most > 0.0 && most > 0.0 { (room / excess_at_most).max(0.0) } else { 0.0 };
        self.held_with(load, derived.min(1.0) * excess)
    }

    /// The same where all of the excess counts, as far as `q` stays below the share of the largest load that is
    /// offered.
    pub fn held_at_most(&self, load: f64, excess: f64, most: f64) -> Held {
        let held = self.held_with(load, excess);
        let share = held.share.min(load / most);
        if share < held.share {
            Held { share, cycles: share * self.count * self.message_flits / load }
        } else {
            held
        }
    }

    fn held_with(&self, load: f64, excess: f64) -> Held {
        // H = 3 + M (1 + x),   q = ρ H / (M V)
        let cycles = CHANGE + self.message_flits * (1.0 + excess);
        Held { share: load * cycles / (self.message_flits * self.count), cycles }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mediaworm::assert_near;
    use crate::mediaworm::crossbar::Order;

    const GREEDY: Contention = Contention { is_multiplexed: true, order: Order::VirtualClock };
    const FULL: Contention = Contention { is_multiplexed: false, order: Order::VirtualClock };

    fn lanes(count: f64) -> Lanes {
        Lanes { count, message_flits: 20.0 }
    }

    /// The chapter's form: `ρ (M + 3 + M a ρ / (1 - ρ)) / (M V) = 1`.
    fn fitted(a: f64, count: f64, message: f64) -> f64 {
        root_of_increasing(0.0, 1.0 - 1e-9, |u| {
            (u * (message + 3.0 + message * a * u / (1.0 - u)) / (message * count) - 1.0, f64::NAN)
        })
    }

    /// Virtual channels, message, measured* \[flits/cycle/port\].
    const MEASURED: [(Contention, f64, f64, f64); 14] = [
        (GREEDY, 2.0, 20.0, 0.648),
        (GREEDY, 4.0, 20.0, 0.752),
        (GREEDY, 6.0, 20.0, 0.806),
        (GREEDY, 8.0, 20.0, 0.851),
        (GREEDY, 12.0, 20.0, 0.913),
        (GREEDY, 16.0, 20.0, 0.922),
        (GREEDY, 24.0, 20.0, 0.953),
        (GREEDY, 4.0, 40.0, 0.754),
        (GREEDY, 8.0, 40.0, 0.848),
        (FULL, 2.0, 20.0, 0.807),
        (FULL, 4.0, 20.0, 0.882),
        (FULL, 8.0, 20.0, 0.944),
        (FULL, 16.0, 20.0, 0.983),
        (FULL, 24.0, 20.0, 0.994),
    ];

    /// Mean and worst error of a form over the measured* loads.
    fn errors(of: impl Fn(Contention, f64, f64) -> f64) -> (f64, f64) {
        let errors =
            MEASURED.map(|(contention, v, m, measured)| (of(contention, v, m) / measured - 1.0).abs());
        (errors.iter().sum::<f64>() / 14.0, errors.into_iter().fold(0.0, f64::max))
    }

    #[test]
    fn derived_loads_are_nearer_to_the_measured_ones_than_fitted_ones() {
        let (mean, worst) =
            errors(|contention, count, message_flits| Lanes { count, message_flits }.carried(contention));
        assert!(mean < 0.0155 && worst < 0.054, "derived: {mean}, {worst}");
        let a = |contention: Contention| if contention.is_multiplexed { 1.4 } else { 0.45 };
        let (mean, worst) = errors(|contention, count, message| fitted(a(contention), count, message));
        assert!((0.014..0.017).contains(&mean) && worst > 0.064, "fitted: {mean}, {worst}");
    }

    /// The chapter's own digits.
    #[test]
    fn fitted_loads_are_those_of_the_chapter() {
        for (v, expected) in [(2.0, 0.606), (4.0, 0.749), (8.0, 0.854), (16.0, 0.921), (24.0, 0.945)] {
            assert_near(fitted(1.4, v, 20.0), expected, 1e-3);
        }
        for (v, expected) in [(2.0, 0.765), (4.0, 0.883), (8.0, 0.942), (16.0, 0.971), (24.0, 0.981)] {
            assert_near(fitted(0.45, v, 20.0), expected, 1e-3);
        }
    }

    /// Best effort of 16 lanes saturates* at .9, .8 to .9, .7 to .8, .7 to .8; the fitted form has .912 .851 .759 .750.
    #[test]
    fn best_effort_saturates_where_it_is_measured() {
        let points =
            [(0.2, 13.0, 0.85, 0.92), (0.5, 8.0, 0.8, 0.9), (0.8, 3.0, 0.7, 0.8), (0.9, 2.0, 0.7, 0.8)];
        for (share, count, least, most) in points {
            let over = |load: f64| {
                let real_time = load * share * 1.0633;
                (load * (1.0 - share) - lanes(count).carried_beneath(GREEDY, real_time), f64::NAN)
            };
            let load = root_of_increasing(0.0, 0.94, over);
            assert!((least..most).contains(&load), "{share}: {load}");
        }
        // full, 80:20: stable at .8, saturated at .9
        let carried = |load: f64| lanes(3.0).carried_beneath(FULL, load * 0.8 * 1.0633) / (load * 0.2);
        assert!(carried(0.8) > 1.0 && carried(0.9) < 1.0);
    }

    /// FIFO at 80:20 saturates* between .85 and .9; fitted .886.
    #[test]
    fn one_order_for_all_shares_all_lanes() {
        let over = |load: f64| {
            let (real_time, best_effort) = (load * 0.8 * 1.0633, load * 0.2);
            let fifo = Contention { order: Order::Fifo, ..GREEDY };
            let carried = lanes(13.0).carried_beside(fifo, 0.0, (real_time, &[(lanes(3.0), best_effort)]));
            (real_time + best_effort - carried, f64::NAN)
        };
        assert_near(root_of_increasing(0.0, 1.0, over), 0.865, 0.01);
    }

    #[test]
    fn limits() {
        // one lane: a switch with one queue per input
        assert_near(lanes(1.0).carried(FULL), 2.0 - 2f64.sqrt(), 1e-12);
        assert_near(matched(1.0, 0.5), 0.5, 1e-12);
        // continuous at 2
        assert_near(matched(2.0, 0.5), matched(2.000_001, 0.5), 1e-5);
        // a message of one flit spends three of four cycles on changes
        assert_near(Lanes { count: 1.0, message_flits: 1.0 }.carried(GREEDY), 0.25, 1e-12);
        // without real time both forms are one
        let full = lanes(4.0);
        assert_near(full.carried_beneath(FULL, 1e-9), full.carried(FULL), 1e-6);
        let idle = full.held(0.0, 0.0, (0.75, 3.0));
        assert_eq!(idle, Held { share: 0.0, cycles: 23.0 });
        assert_near(full.held(0.75, 9.0, (0.75, 9.0)).share, 1.0, 1e-12);
        // .1 * (3 + 20 * 3) of 80, and at most .6 of the largest load
        assert_near(full.held_at_most(0.1, 2.0, 0.75).share, 0.1 * 63.0 / 80.0, 1e-12);
        let most = full.held_at_most(0.45, 9.0, 0.75);
        assert_near(most.share, 0.6, 1e-12);
        assert_near(most.cycles, 0.6 * 80.0 / 0.45, 1e-12);
    }
}
