//! Head-of-line blocking of one queue per input: Karol, Hluchyj, Morgan, *Input versus output queueing on a
//! space-division packet switch*, IEEE Trans. Commun. 35 (1987) 1347-1356.

use std::collections::BTreeMap;

/// Inputs up to which the chain is solved; beyond, the limit for many inputs is within 0.0005.
const MOST_INPUTS: u32 = 12;
/// Slots after which the chain has forgotten its start.
const MOST_SLOTS: u32 = 10_000;

/// `θ_n`: saturation throughput of a switch of `n` inputs and outputs with one queue per input and uniform
/// destinations, as a share of the links.
///
/// The state is how many heads wait for each output, in any order: a partition of `n`. In each slot every output for
/// which there are heads serves one, and the inputs served draw new heads:
///
/// ```text
/// θ_n = E[outputs with heads] / n,    θ_∞ = 2 - √2
/// ```
///
/// ```
/// # use flitwise_models::recn::head_of_line_limit;
/// assert_eq!(format!("{:.6}", head_of_line_limit(4)), "0.655242");
/// ```
pub fn head_of_line_limit(inputs: u32) -> f64 {
    if inputs > MOST_INPUTS {
        return 2.0 - std::f64::consts::SQRT_2;
    }
    let outputs = inputs.max(1) as usize;
    let mut states = BTreeMap::from([(vec![1; outputs], 1.0)]);
    let mut steps: BTreeMap<Vec<usize>, Vec<(Vec<usize>, f64)>> = BTreeMap::new();
    let (mut before, mut found) = (0.0, 1.0);
    for _ in 0..MOST_SLOTS {
        let mut next: BTreeMap<Vec<usize>, f64> = BTreeMap::new();
        let mut busy = 0.0;
        for (state, probability) in &states {
            busy += probability * state.iter().filter(|heads| **heads > 0).count() as f64;
            for (to, chance) in steps.entry(state.clone()).or_insert_with(|| served(state)) {
                *next.entry(to.clone()).or_insert(0.0) += probability * *chance;
            }
        }
        found = busy / outputs as f64;
        // the chain forgets its start at a constant factor per slot
        if (busy - before).abs() < 1e-12 * busy {
            break;
        }
        (states, before) = (next, busy);
    }
    found
}

/// The states after a slot, each with its probability.
fn served(state: &[usize]) -> Vec<(Vec<usize>, f64)> {
    let left: Vec<usize> = state.iter().map(|heads| heads.saturating_sub(1)).collect();
    let draws = state.iter().filter(|heads| **heads > 0).count();
    let mut found = BTreeMap::from([(left, 1.0)]);
    for _ in 0..draws {
        let mut drawn: BTreeMap<Vec<usize>, f64> = BTreeMap::new();
        for (heads, probability) in found {
            for output in 0..heads.len() {
                let mut heads = heads.clone();
                heads[output] += 1;
                heads.sort_unstable_by(|a, b| b.cmp(a));
                *drawn.entry(heads).or_insert(0.0) += probability / state.len() as f64;
            }
        }
        found = drawn;
    }
    found.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_the_chain() {
        let wanted = [1.0, 0.75, 0.682_540, 0.655_242, 0.639_917, 0.630_150, 0.623_371, 0.618_390];
        for (inputs, wanted) in (1..).zip(wanted) {
            let found = head_of_line_limit(inputs);
            assert!((found - wanted).abs() < 5e-7, "{inputs}: {found}, not {wanted}");
        }
        assert!(head_of_line_limit(8) > head_of_line_limit(64));
    }
}
