//! Lead of a class's stamps over the time on an output link.
//!
//! Reason: a class that is sent as fast as it arrives finds its queue empty in each cycle, so its clock restarts and
//! its stamps lead by nothing. Such a class is *in step*. Once flits of another class have gone first it is *behind*:
//! its queue stays occupied until its busy period ends, because waits mostly hide the gaps of the interface (our
//! approximation). From then on its clock ticks `V` per flit, while a flit takes `1 / (1 - σ_o)` of the time beside the
//! load `σ_o` of the others. So its stamps lead the time by `Λ`, less the message `M_o` of the others that arrived, or
//! half of it if that message was present at the start:
//!
//! ```text
//! P(in step) = (1 - a σ_o) exp(-a ν t),   Λ = ((V - 1 / (1 - σ_o)) s - M_o)+,  s < t
//!                                         Λ = ((V - 1 / (1 - σ_o)) t - M_o / 2)+
//! ```
//!
//! after `t` flits, of which the last `s` were behind. The others' messages arrive at rate `ν`; the share `a` of them
//! arrives over other inputs. A message that arrives now is in step, is stamped from now on, and goes first until the
//! time has caught up with `Λ` (module `link_sharing`).

use super::ablation::{Step, without};
use super::{Class, others};

/// A class among all real-time classes of a link.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClockLead {
    /// `a σ_o`: probability that it begins behind others.
    begins_behind: f64,
    /// `a ν` per flit of the class.
    reached: f64,
    /// `1 / (1 - σ_o)`: cycles that a flit takes beside the others.
    pub(super) takes: f64,
    /// `V - 1 / (1 - σ_o)`
    grows: f64,
    /// `M_o`
    reached_by: f64,
}

/// Weight and mean lead \[cycles\] of the states of a clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct States {
    /// In step: no lead.
    pub(super) in_step: f64,
    /// Behind, the lead being less than some number of cycles.
    pub(super) short: (f64, f64),
    /// Behind, the lead being that or more.
    pub(super) long: (f64, f64),
}

impl ClockLead {
    /// Of class `own`, while it is not beside class `away`.
    pub(super) fn new(classes: &[Class], own: usize, away: Option<usize>, contending: f64) -> Self {
        let sum = |of: &dyn Fn(&Class) -> f64, but: Option<usize>| -> f64 {
            others(classes, own).iter().filter(|d| Some(**d) != but).map(|d| of(&classes[*d])).sum()
        };
        let takes = 1.0 / (1.0 - sum(&Class::load, None)).max(0.02);
        let rate = sum(&|class| class.rate, None);
        let (some, load) = (sum(&|class| class.rate, away), sum(&Class::load, away));
        Self {
            begins_behind: (contending * load).min(0.95),
            reached: contending * rate * takes,
            takes,
            grows: (classes[own].vtick - takes).max(0.0),
            reached_by: if some > 0.0 { load / some } else { 0.0 },
        }
    }

    /// The states after so many flits, the leads told apart at `most` cycles.
    pub(super) fn after(&self, flits: f64, most: f64) -> States {
        if without(Step::ClockLead) {
            return States { in_step: 1.0, short: (0.0, 0.0), long: (0.0, 0.0) };
        }
        let Self { begins_behind, reached, grows, reached_by, .. } = *self;
        // behind for s < t flits with density (1 - a σ_o) ν exp(-ν (t - s)), and for t with a σ_o
        let later = |from: f64, to: f64| {
            if to <= from { 0.0 } else { (-reached * (flits - to)).exp() - (-reached * (flits - from)).exp() }
        };
        // ∫ (g s - M) ν exp(-ν (t - s)) ds
        let integral = |from: f64, to: f64| {
            if to <= from || reached <= 0.0 {
                return 0.0;
            }
            let end = |s: f64| (grows * s - reached_by - grows / reached) * (-reached * (flits - s)).exp();
            end(to) - end(from)
        };
        let begins = if grows > 0.0 { (reached_by / grows).min(flits) } else { flits };
        let apart = if most <= 0.0 {
            0.0
        } else if grows > 0.0 {
            ((most + reached_by) / grows).clamp(begins, flits)
        } else {
            flits
        };
        let lead = (grows * flits - reached_by / 2.0).max(0.0);
        let at_once = |long: bool| if (lead >= most) == long { begins_behind } else { 0.0 };
        let state =
            |weight: f64, sum: f64| (weight, if weight > 1e-12 { (sum / weight).max(0.0) } else { 0.0 });
        let rest = 1.0 - begins_behind;
        States {
            in_step: rest * (-reached * flits).exp(),
            short: state(
                rest * later(0.0, apart) + at_once(false),
                rest * integral(begins, apart) + at_once(false) * lead,
            ),
            long: state(
                rest * later(apart, flits) + at_once(true),
                rest * integral(apart.max(begins), flits) + at_once(true) * lead,
            ),
        }
    }
}

impl States {
    /// Weights and leads.
    pub(super) fn all(self) -> [(f64, f64); 3] {
        [(self.in_step, 0.0), self.short, self.long]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_alone_is_always_in_step() {
        let states = ClockLead::new(&[Class::of_load(0.5, 32.0)], 0, None, 1.0).after(100.0, 10.0);
        assert_eq!(states, States { in_step: 1.0, short: (0.0, 0.0), long: (0.0, 0.0) });
    }

    #[test]
    fn states_have_the_weights_and_mean_lead_of_the_sum_over_all_starts() {
        let classes =
            [(0.25, 64.0), (0.2, 8.0), (0.1, 16.0)].map(|(load, message)| Class::of_load(load, message));
        let clock = ClockLead::new(&classes, 0, None, 0.9);
        for flits in [0.0, 3.0, 20.0, 64.0, 300.0] {
            for most in [-5.0, 0.0, 15.0, 1e4] {
                let [step, short, long] = clock.after(flits, most).all();
                assert!((step.0 + short.0 + long.0 - 1.0).abs() < 1e-9);
                // the same by steps
                let lead = |s: f64| (clock.grows * s - clock.reached_by).max(0.0);
                let begins = clock.begins_behind;
                let mut sums = [(0.0, 0.0); 2];
                let mut add = |lead: f64, weight: f64| {
                    let sum = &mut sums[usize::from(lead >= most)];
                    *sum = (sum.0 + weight, sum.1 + weight * lead);
                };
                add((clock.grows * flits - clock.reached_by / 2.0).max(0.0), begins);
                for i in 0..20_000 {
                    let s = flits * (f64::from(i) + 0.5) / 20_000.0;
                    let density = (1.0 - begins) * clock.reached * (-clock.reached * (flits - s)).exp();
                    add(lead(s), density * flits / 20_000.0);
                }
                for (found, wanted) in [short, long].into_iter().zip(sums) {
                    assert!((found.0 - wanted.0).abs() < 1e-3, "{flits} {most}: {found:?} {wanted:?}");
                    let mean = found.0 * found.1;
                    assert!(
                        (mean - wanted.1).abs() < 1e-3 * wanted.1 + 1e-3,
                        "{flits} {most}: {found:?} {wanted:?}"
                    );
                }
            }
        }
    }
}
