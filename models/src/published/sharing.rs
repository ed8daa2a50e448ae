//! Real-time classes that share one link under VirtualClock: Eqs. (6)-(8), §3.1 of [KYD05].
//!
//! The state is the set `Z` of occupied real-time output VCs. In `Z` the link is shared in proportion to
//! `1 / Vtick`, so that a flit of class `c` takes `S_c(Z)` cycles; a Markov chain says how often `Z` is.

use super::deadline::{Companion, Company};
use crate::markov_chain::{StationarySolver, ToggleRates};
use crate::scalar::Scalar;

/// Stands for a downward rate that is not positive (R6) \[1/cycle\].
const TINY: f64 = 1e-14;
/// Rounds of the chain's solver between two changes of its rates.
const ROUNDS: u32 = 3;
/// Stands for the rate of a class that is silent, so that what it would meet is still defined \[1/cycle\].
const SILENT: f64 = 1e-20;

/// The shares that classes have of a link: (7).
#[derive(Clone, Debug)]
pub struct Shares<T = f64> {
    classes: usize,
    /// `S_c(Z)`, row `c`, column `Z`; meaningful where `Z` contains `c`.
    cycles_per_flit: Vec<T>,
}

/// One class on one link, as its chain sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Visitor<T = f64> {
    /// `λ`: rate at which messages come \[messages/cycle\].
    pub rate: T,
    /// The part of a message's time that sharing this link does not stretch \[cycles\].
    pub fixed_cycles: T,
    /// The flits whose time it stretches: a message in `Z` stays `fixed_cycles + flits S_c(Z)`.
    pub flits: T,
}

/// How a class leaves a link that it holds in given company.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Departure<T = f64> {
    /// `L_c(Z)`: how long a message stays in such company \[cycles\].
    pub stay_cycles: T,
    /// `1 / L_c(Z) - λ_c` \[1/cycle\].
    pub difference: T,
    /// R6: whether that is not positive, so that a tiny rate stands for it.
    pub starves: bool,
    /// The rate that the chain has \[1/cycle\].
    pub rate: T,
}

impl<T: Scalar> Visitor<T> {
    /// `Z \ {c} -> Z`: `λ_c`, or of a silent class a rate that stands for none \[1/cycle\].
    pub fn arrival_rate(&self) -> T {
        self.rate.max(T::from(SILENT))
    }

    /// `Z -> Z \ {c}`: `1 / L_c(Z) - λ_c`, where a flit takes `cycles_per_flit`, `S_c(Z)`.
    pub fn departure(&self, cycles_per_flit: T) -> Departure<T> {
        let stay_cycles = self.fixed_cycles + self.flits * cycles_per_flit;
        let difference = stay_cycles.recip() - self.rate;
        let starves = !(difference.re() >= TINY && difference.re().is_finite());
        let rate = if starves { T::from(TINY) } else { difference };
        Departure { stay_cycles, difference, starves, rate }
    }
}

/// What the chain of one link says.
#[derive(Clone, Debug, PartialEq)]
pub struct Sharing<T = f64> {
    /// `π_Z` over the sets of classes as bit masks.
    pub occupancy: Vec<T>,
    /// `S_c`: mean cycles per flit of each class, (6).
    pub cycles_per_flit: Vec<T>,
    /// R6: the first set of classes, if any, in whose company the class is served more slowly than it comes.
    pub starved_in: Vec<Option<usize>>,
}

impl<T: Scalar> Shares<T> {
    /// Shares of classes with the given Vticks \[cycles/flit\].
    pub fn new(vticks: &[T]) -> Self {
        let classes = vticks.len();
        let mut cycles_per_flit = vec![T::one(); classes << classes];
        for (class, vtick) in vticks.iter().enumerate() {
            for set in (0..1 << classes).filter(|set| set >> class & 1 == 1) {
                // (7): S_c(Z) = Vtick_c Σ_{j in Z} 1 / Vtick_j; c's own term is 1
                let others = (0..classes).filter(|other| *other != class && set >> other & 1 == 1);
                let excess: T = others.map(|other| *vtick / vticks[other]).sum();
                cycles_per_flit[(class << classes) + set] = excess + 1.0;
            }
        }
        Self { classes, cycles_per_flit }
    }

    /// Number of classes.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// `S_c(Z)`: cycles per flit of `class` while just the classes of `set` are present, itself among them.
    pub fn cycles_per_flit(&self, class: usize, set: usize) -> T {
        self.cycles_per_flit[(class << self.classes) + set]
    }
}

/// The chain of one link, with its working memory.
#[derive(Debug)]
pub struct LinkChain<T = f64> {
    rates: ToggleRates<T>,
    solver: StationarySolver,
}

impl<T: Scalar> LinkChain<T> {
    /// For links shared by `classes` classes.
    pub fn new(classes: usize) -> Self {
        Self { rates: ToggleRates::new(classes), solver: StationarySolver::new(classes) }
    }

    /// Solves the chain of a link with the given visitors; `sharing` holds the answer to a similar link or the
    /// one before, and takes the new one.
    ///
    /// For more than five classes one call brings it only some digits nearer: the visitors follow from the
    /// answer, so that calls are repeated until nothing changes any more.
    pub fn solve(&mut self, shares: &Shares<T>, visitors: &[Visitor<T>], sharing: &mut Sharing<T>) {
        let states = self.rates.states();
        for (class, visitor) in visitors.iter().enumerate() {
            sharing.starved_in[class] = None;
            for set in 0..states {
                let rate = if set >> class & 1 == 0 {
                    visitor.arrival_rate()
                } else {
                    let departure = visitor.departure(shares.cycles_per_flit(class, set));
                    if departure.starves {
                        // a silent class is never there to starve another
                        let members = |other: &usize| set >> other & 1 == 1 && *other != class;
                        if (0..visitors.len()).filter(members).all(|other| visitors[other].rate > 0.0) {
                            sharing.starved_in[class].get_or_insert(set);
                        }
                    }
                    departure.rate
                };
                self.rates.set(class, set, rate);
            }
        }
        T::improve(&mut self.solver, &self.rates, &mut sharing.occupancy, ROUNDS);
        for class in 0..visitors.len() {
            let (mut present, mut cycles) = (T::zero(), T::zero());
            for set in (0..states).filter(|set| set >> class & 1 == 1) {
                present += sharing.occupancy[set];
                cycles += sharing.occupancy[set] * shares.cycles_per_flit(class, set);
            }
            // (6) with (8): S_c = Σ_Z S_c(Z) π_Z / Σ_Y π_Y
            sharing.cycles_per_flit[class] = cycles / present;
        }
    }
}

impl<T: Scalar> Sharing<T> {
    /// Before anything is known: all sets alike, nothing shared.
    pub fn unknown(classes: usize) -> Self {
        Self {
            occupancy: vec![T::from(1.0 / (1 << classes) as f64); 1 << classes],
            cycles_per_flit: vec![T::one(); classes],
            starved_in: vec![None; classes],
        }
    }

    /// `π_∅`: probability that no real-time message holds the link.
    pub fn idle(&self) -> T {
        self.occupancy[0]
    }

    /// `Σ π_Y` over the sets that hold `class`: probability that it is there.
    pub fn present(&self, class: usize) -> T {
        let with = |set: &usize| set >> class & 1 == 1;
        (0..self.occupancy.len()).filter(with).map(|set| self.occupancy[set]).sum()
    }

    /// `P_c(Z)`, (8): probability that just the classes of `set` are there when `class`, one of them, is.
    pub fn given_present(&self, class: usize, set: usize) -> T {
        self.occupancy[set] / self.present(class)
    }

    /// (8): what else is there when `class` is, and how it slows a flit of `class` down.
    pub fn company(&self, class: usize, shares: &Shares<T>) -> Company {
        let with = |set: &usize| set >> class & 1 == 1;
        let present = self.present(class);
        Company::new((0..self.occupancy.len()).filter(with).filter(|set| *set != 1 << class).map(|set| {
            Companion {
                excess: (shares.cycles_per_flit(class, set) - 1.0).re(),
                probability: (self.occupancy[set] / present).re(),
            }
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn solved(vticks: &[f64], visitors: &[Visitor]) -> Sharing {
        let mut sharing = Sharing::unknown(vticks.len());
        LinkChain::new(vticks.len()).solve(&Shares::new(vticks), visitors, &mut sharing);
        sharing
    }

    fn visitor(rate: f64) -> Visitor {
        Visitor { rate, fixed_cycles: 4.0, flits: 33.0 }
    }

    /// Two classes that never run dry with Vtick 2 and 4 take 1.5 and 3 cycles per flit.
    #[test]
    fn vticks_of_2_and_4_take_1_5_and_3_cycles_per_flit() {
        let shares = Shares::new(&[2.0, 4.0]);
        assert_eq!((shares.cycles_per_flit(0, 3), shares.cycles_per_flit(1, 3)), (1.5, 3.0));
        assert_eq!((shares.cycles_per_flit(0, 1), shares.cycles_per_flit(1, 2)), (1.0, 1.0));
    }

    #[test]
    fn a_class_alone_takes_one_cycle_per_flit() {
        assert_eq!(solved(&[6.25], &[visitor(0.005)]).cycles_per_flit, [1.0]);
    }

    #[test]
    fn classes_alike_see_the_same() {
        let sharing = solved(&[8.0, 8.0], &[visitor(0.004); 2]);
        assert!((sharing.cycles_per_flit[0] - sharing.cycles_per_flit[1]).abs() < 1e-15);
        assert!((sharing.occupancy[1] - sharing.occupancy[2]).abs() < 1e-15);
    }

    #[test]
    fn a_silent_class_changes_nothing_for_the_others() {
        let two = solved(&[6.25, 12.5], &[visitor(0.005), visitor(0.0025)]);
        let three = solved(&[6.25, 12.5, 9.0], &[visitor(0.005), visitor(0.0025), visitor(0.0)]);
        for class in 0..2 {
            assert!((two.cycles_per_flit[class] - three.cycles_per_flit[class]).abs() < 1e-15);
        }
        assert!(three.cycles_per_flit[2] > 1.0 && three.idle() > 0.5);
        // nor does one with so large a share that beside it the others would starve
        let greedy = solved(&[6.25, 12.5, 0.01], &[visitor(0.005), visitor(0.0025), visitor(0.0)]);
        assert_eq!(greedy.starved_in[..2], [None, None]);
    }

    /// With `Z_c(k)` read as anything but `S_c(k)` a message would not stay longer in company, and the three
    /// other states would be in product form.
    #[test]
    fn reading_r3_a_message_in_company_stays_longer() {
        let sharing = solved(&[6.25, 12.5], &[visitor(0.005), visitor(0.0025)]);
        let pi = &sharing.occupancy;
        assert!(pi[3] * pi[0] > 1.3 * pi[1] * pi[2], "{pi:?}");
    }

    #[test]
    fn a_class_served_more_slowly_than_it_comes_is_starved() {
        let sharing = solved(&[6.25, 12.5], &[visitor(0.02), visitor(0.02)]);
        assert_eq!(sharing.starved_in, [Some(3), Some(3)]);
        assert!(sharing.cycles_per_flit.iter().all(|s| s.is_finite()));
    }
}
