//! Messages of two classes that leave the same interface interleaved and go on to the same link.
//!
//! Reason: the header of a message is slower through a router than body flits, by `H` cycles. So its flits reach the
//! next link late for the places that they had between those of another message d, and meet d's flits one by one. If
//! its clock is the slower one, `V_c > V_d`, d goes first. Flits of d are sent as fast as they arrive (their clock
//! restarts), so at least one own flit stays behind until stamps of d pass its own, or d ends:
//!
//! ```text
//! d passes before the tail:  min(d, V_c M - V_d - M)         if the message had gaps for d
//!                            min(d, V_c - V_d + k (H - 1))   if it had none, and d follows it
//! ```
//!
//! That d goes on a few flits earlier for it is left out (our approximation). Without this step the latency in a 2-cube
//! of short buffers is 9 % too low.

use crate::refined::Class;
use crate::refined::ablation::{Step, without};
use crate::refined::law::Law;

/// Messages of one interface that go on to the same link.
#[derive(Clone, Copy, Debug)]
pub(in crate::refined) struct SameWay {
    /// How often.
    pub(in crate::refined) share: f64,
    /// `H`: cycles by which a header is slower than body flits.
    pub(in crate::refined) header: f64,
}

impl SameWay {
    /// All go different ways.
    pub(in crate::refined) const NOBODY: Self = Self { share: 0.0, header: 0.0 };
    /// Below this share it makes no difference.
    const LEAST: f64 = 0.1;

    /// Beside another class; none where the own clock is not the slower one.
    pub(super) fn after(self, class: &Class, other: &Class, unit: f64) -> Option<After> {
        let (slow, fast) = (class.vtick, other.vtick);
        (!without(Step::SameWay) && self.share > Self::LEAST && self.header >= 1.0 && slow > fast).then(
            || After {
                message: class.message,
                gains: slow - 1.0,
                fast,
                alone: slow - fast + slow / fast * (self.header - 1.0),
                other: other.message,
                come: 1.0 - (-other.rate * class.message).exp(),
                unit,
            },
        )
    }
}

/// What of another message passes before the tail.
pub(super) struct After {
    /// `M`
    message: f64,
    /// `V_c - 1`, `V_d` \[cycles\]
    gains: f64,
    fast: f64,
    /// `V_c - V_d + k (H - 1)`
    alone: f64,
    /// Flits of the other message, and how often one comes while this one is sent.
    other: f64,
    come: f64,
    unit: f64,
}

impl After {
    fn cells(&self, flits: f64) -> Law {
        Law::constant((flits / self.unit).floor().max(0.0))
    }

    /// `V_c m - V_d - m` for so many flits of the own message.
    fn within(&self, flits: f64) -> f64 {
        self.gains * flits - self.fast
    }

    /// Delay by a message that was found with `rest` flits to go and takes `gaps` at the interface.
    pub(super) fn found(&self, gaps: &Law, rest: f64) -> Law {
        let [gap, none] = [self.within(self.message), self.alone].map(|most| self.cells(most.min(rest)));
        let with = gaps.positive();
        Law::mixture(&[(1.0 - with, &none), (with, &gaps.given_positive().max(&gap))])
    }

    /// Delay by a message that comes anywhere, as if to the rest of the own one.
    pub(super) fn comes(&self, gaps: &Law) -> Law {
        let part = |share: f64| {
            let passes = self.within(self.message * share).max(self.alone);
            (self.come / 4.0, self.cells(passes.min(self.other)))
        };
        let [a, b, c, d] = [0.125, 0.375, 0.625, 0.875].map(part);
        gaps.max_in_step(&Law::mix(&[a, b, c, d, (1.0 - self.come, Law::zero())]))
    }

    /// Delay of a message behind another of its class, for which `rest` was left behind.
    pub(super) fn left(&self, gaps: &Law, rest: &Law) -> Law {
        gaps.max_in_step(&rest.min(&self.cells(self.within(self.message))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_slower_clock_with_a_slow_header_waits_for_the_rest() {
        let (slow, fast) = (Class::of_load(0.1, 8.0), Class::of_load(0.2, 64.0));
        let way = |share, header| SameWay { share, header };
        assert!(way(0.5, 1.0).after(&fast, &slow, 1.0).is_none());
        assert!(way(0.5, 0.0).after(&slow, &fast, 1.0).is_none());
        assert!(way(0.05, 1.0).after(&slow, &fast, 1.0).is_none());
        let after = way(0.5, 1.0).after(&slow, &fast, 1.0).expect("a slower clock");
        // with a gap until d ends: (10 - 1) 8 - 5 = 67 flits may pass; without one 10 - 5
        let delay = after.found(&Law::mix(&[(0.5, Law::zero()), (0.5, Law::constant(20.0))]), 40.0);
        assert!((delay.at(40) - 0.5).abs() < 1e-12 && (delay.at(5) - 0.5).abs() < 1e-12);
        let delay = after.found(&Law::constant(20.0), 70.0);
        assert!((delay.at(67) - 1.0).abs() < 1e-12);
        // it comes as often as Poisson messages do
        let come = after.comes(&Law::zero()).positive();
        assert!((come - (1.0 - (-fast.rate * 8.0).exp())).abs() < 1e-12);
    }
}
