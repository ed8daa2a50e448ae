//! How the stationary probabilities of a chain move with its rates.
//!
//! `π Q = 0` gives `dπ Q = -π dQ` and `Σ dπ = 0`. The states leave the chain one by one as in
//! [`markov_chain`](crate::markov_chain) (Grassmann, Taksar and Heyman), so that rare states keep their digits; what is
//! left of the right side goes along.

use super::dual::{DIRECTIONS, Dual};

/// The most parts that come and go: 512 states, which elimination takes about 50 ms for.
pub(super) const MOST_PARTS: usize = 9;

/// Stationary probabilities, with their slopes, of the chain whose parts come and go with `rate(part, state)`.
pub(super) fn probabilities(parts: usize, rate: impl Fn(usize, usize) -> Dual) -> Vec<Dual> {
    let states = 1_usize << parts;
    let rates: Vec<Dual> = (0..states)
        .flat_map(|state| (0..parts).map(move |part| (part, state)))
        .map(|(part, state)| rate(part, state))
        .collect();
    let other = |state: usize, part: usize| state ^ (1 << part);

    // q[from * states + to]: rates of the chain that is left; below the diagonal, once `from` has left, shares
    let mut q = vec![0.0; states * states];
    for state in 0..states {
        for part in 0..parts {
            q[state * states + other(state, part)] = rates[state * parts + part].value;
        }
    }
    let mut out = vec![0.0; states];
    for last in (1..states).rev() {
        let (left, leaving) = q.split_at_mut(last * states);
        let leaving = &mut leaving[..last];
        out[last] = leaving.iter().sum();
        leaving.iter_mut().for_each(|rate| *rate /= out[last]);
        for from in 0..last {
            let row = &mut left[from * states..(from + 1) * states];
            let into_last = row[last];
            if into_last > 0.0 {
                row.iter_mut().zip(&*leaving).for_each(|(rate, share)| *rate += into_last * share);
            }
        }
    }
    // π_n = Σ_{m<n} π_m q(m, n) / out(n)
    let mut probability = vec![0.0; states];
    probability[0] = 1.0;
    for state in 1..states {
        let into: f64 = (0..state).map(|from| probability[from] * q[from * states + state]).sum();
        probability[state] = into / out[state];
    }
    let total: f64 = probability.iter().sum();
    let mut stationary: Vec<Dual> = probability.iter().map(|p| Dual::constant(p / total)).collect();

    for direction in 0..DIRECTIONS {
        // -π dQ
        let mut right = vec![0.0; states];
        for state in 0..states {
            for part in 0..parts {
                let flow = stationary[state].value * rates[state * parts + part].slopes[direction];
                right[state] += flow;
                right[other(state, part)] -= flow;
            }
        }
        if right.iter().all(|flow| *flow == 0.0) {
            continue;
        }
        for last in (1..states).rev() {
            let passed_on = right[last];
            let shares = &q[last * states..last * states + last];
            right[..last].iter_mut().zip(shares).for_each(|(flow, share)| *flow += passed_on * share);
        }
        let mut moved = vec![0.0; states];
        for state in 1..states {
            let into: f64 = (0..state).map(|from| moved[from] * q[from * states + state]).sum();
            moved[state] = (into - right[state]) / out[state];
        }
        // of all solutions the one whose sum is zero
        let sum: f64 = moved.iter().sum();
        for (state, moved) in stationary.iter_mut().zip(&moved) {
            state.slopes[direction] = moved - state.value * sum;
        }
    }
    stationary
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::markov_chain::{StationarySolver, ToggleRates};

    /// Rates over some decades, each with a slope of its own in three directions.
    fn rates(parts: usize) -> Vec<Dual> {
        let mut word = 7_u64;
        let mut uniform = move || {
            word = word.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (word >> 11) as f64 / (1u64 << 53) as f64
        };
        (0..parts << parts)
            .map(|_| {
                let mut rate = Dual::constant(10f64.powf(-3.0 * uniform()));
                for direction in 0..3 {
                    rate.slopes[direction] = rate.value * (uniform() - 0.5);
                }
                rate
            })
            .collect()
    }

    fn solved(parts: usize, rates: impl Fn(usize) -> f64) -> Vec<f64> {
        let mut toggle = ToggleRates::new(parts);
        for state in 0..1 << parts {
            for part in 0..parts {
                toggle.set(part, state, rates(state * parts + part));
            }
        }
        let mut stationary = vec![1.0; 1 << parts];
        StationarySolver::new(parts).solve(&toggle, &mut stationary);
        stationary
    }

    #[test]
    fn probabilities_are_the_solvers_and_slopes_are_differences() {
        for parts in 1..=6 {
            let rates = rates(parts);
            let found = probabilities(parts, |part, state| rates[state * parts + part]);
            let base = solved(parts, |index| rates[index].value);
            for direction in 0..4 {
                let at = |step: f64| {
                    solved(parts, |index| rates[index].value + step * rates[index].slopes[direction])
                };
                let (above, below) = (at(1e-4), at(-1e-4));
                assert!(found.iter().map(|p| p.slopes[direction]).sum::<f64>().abs() < 1e-14);
                for (state, found) in found.iter().enumerate() {
                    assert!((found.value / base[state] - 1.0).abs() < 1e-11);
                    let difference = (above[state] - below[state]) / 2e-4;
                    assert!(
                        (found.slopes[direction] - difference).abs() < 1e-7 * base[state],
                        "{parts}, {state}"
                    );
                }
            }
        }
    }
}
