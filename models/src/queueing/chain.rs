//! Counts of customers as a Markov chain, solved by [`crate::markov_chain`]: what the closed forms are checked by.
//!
//! That solver knows parts that come and go. `n` customers of a class with room for `N` are `N` interchangeable
//! parts of which `n` are there: each of those missing comes at the `1 / (N - n)`th part of the rate upwards, each
//! of those there leaves at the `1 / n`th part of the rate downwards.

use crate::markov_chain::{StationarySolver, ToggleRates};

/// The stationary means of a chain of counts.
pub(super) struct Counts {
    /// Mean count of each class.
    pub(super) means: Vec<f64>,
}

/// Solves it: `rate(class, up, counts)` is the rate \[1/cycle\], above zero, at which the count of a class goes up
/// or down by one. Counts run from zero to `most`.
pub(super) fn counts(most: &[usize], rate: impl Fn(usize, bool, &[usize]) -> f64) -> Counts {
    let parts: usize = most.iter().sum();
    let class_of: Vec<usize> = most.iter().enumerate().flat_map(|(c, n)| vec![c; *n]).collect();
    let at = |state: usize| {
        let mut at = vec![0; most.len()];
        for (part, class) in class_of.iter().enumerate() {
            at[*class] += state >> part & 1;
        }
        at
    };
    let mut rates = ToggleRates::new(parts);
    for state in 0..rates.states() {
        let at = at(state);
        for (part, class) in class_of.iter().enumerate() {
            let there = state >> part & 1 == 1;
            let alike = if there { at[*class] } else { most[*class] - at[*class] };
            rates.set(part, state, rate(*class, !there, &at) / alike as f64);
        }
    }
    let mut stationary = vec![1.0; rates.states()];
    StationarySolver::new(parts).solve(&rates, &mut stationary);
    assert!(rates.imbalance(&stationary) < 1e-10);
    let mut means = vec![0.0; most.len()];
    for (state, probability) in stationary.iter().enumerate() {
        for (mean, count) in means.iter_mut().zip(at(state)) {
            *mean += probability * count as f64;
        }
    }
    Counts { means }
}

#[test]
fn a_chain_of_one_class_is_a_birth_death_process() {
    // two places, up 1, down 1: all states alike
    let chain = counts(&[2], |_, _, _| 1.0);
    assert!((chain.means[0] - 1.0).abs() < 1e-13);
}
