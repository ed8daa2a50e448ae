//! Stationary probabilities of a continuous-time Markov chain whose states are the subsets of `k` parts, each
//! part coming and going on its own: `2^k` states, `k` transitions out of each.
//!
//! Two methods, neither of which ever subtracts, so that even probabilities of 1e-200 keep their digits:
//! elimination in the form of Grassmann, Taksar and Heyman (Oper. Res. 33, 1985) for few parts, and beyond
//! that a multilevel aggregation (Horton and Leutenegger, SIGMETRICS 1994) that forgets one part at a time.

use nalgebra::DMatrix;

use crate::scalar::{Dual, Scalar, Slopes, slopes, with_slopes};

/// Up to this many parts the chain is solved by elimination: 32 states.
const DENSE_PARTS: usize = 5;
/// Imbalance at which the multilevel method has converged.
const BALANCED: f64 = 1e-13;
/// Rounds of the multilevel method after which it is stopped; ten to twenty are the rule.
const MAX_ROUNDS: u32 = 200;
/// Up to this many parts elimination takes over where the multilevel method was stopped: 512 states, which it takes
/// about 50 ms for.
pub(crate) const LAST_RESORT_PARTS: usize = 9;

/// Rates at which single parts come and go: row `part`, column `state` (the subset as a bit mask); in a state
/// that contains the part it is the rate at which the part leaves, in one that does not, at which it comes.
#[derive(Clone, Debug)]
pub struct ToggleRates<T = f64> {
    parts: usize,
    rates: Vec<T>,
}

impl<T: Scalar> ToggleRates<T> {
    /// All rates zero.
    pub fn new(parts: usize) -> Self {
        Self { parts, rates: vec![T::zero(); parts << parts] }
    }

    /// Number of parts `k`.
    pub fn parts(&self) -> usize {
        self.parts
    }

    /// Number of states `2^k`.
    pub fn states(&self) -> usize {
        1 << self.parts
    }

    /// The rate at which `part` is toggled in `state` \[1/time\].
    pub fn get(&self, part: usize, state: usize) -> T {
        self.rates[(part << self.parts) + state]
    }

    /// Sets it; it must be positive and finite.
    pub fn set(&mut self, part: usize, state: usize, rate: T) {
        debug_assert!(rate.re() > 0.0 && rate.re().is_finite(), "part {part}, state {state}: {rate}");
        self.rates[(part << self.parts) + state] = rate;
    }
}

impl ToggleRates {
    /// Rate out of `state` \[1/time\].
    fn out(&self, state: usize) -> f64 {
        (0..self.parts).map(|part| self.get(part, state)).sum()
    }

    /// Writes the same chain to `sorted`, with the parts in the order of their pace, the slowest first; which
    /// state of this chain each state of that one is. The multilevel method forgets the last part first, and
    /// needs it to be one that comes and goes many times before another does.
    fn sorted_by_pace(&self, sorted: &mut Self) -> Vec<usize> {
        let pace = |part: &usize| self.get(*part, 0) + self.get(*part, 1 << part);
        let mut order: Vec<usize> = (0..self.parts).collect();
        order.sort_by(|a, b| pace(a).total_cmp(&pace(b)));
        let bits = |state: usize| {
            let moved = order.iter().enumerate().map(|(to, from)| (state >> to & 1) << from);
            moved.sum::<usize>()
        };
        let states: Vec<usize> = (0..self.states()).map(bits).collect();
        for (to, from) in order.iter().enumerate() {
            for (state, old) in states.iter().enumerate() {
                sorted.set(to, state, self.get(*from, *old));
            }
        }
        states
    }

    /// Largest relative gap between what flows into a state and what flows out of it.
    pub fn imbalance(&self, stationary: &[f64]) -> f64 {
        let gap = |state: usize| {
            let out = self.out(state) * stationary[state];
            let into: f64 = (0..self.parts)
                .map(|part| {
                    let from = state ^ (1 << part);
                    self.get(part, from) * stationary[from]
                })
                .sum();
            (out - into).abs() / out.max(f64::MIN_POSITIVE)
        };
        (0..self.states()).map(gap).fold(0.0, f64::max)
    }
}

/// A solver with its working memory, to be used again and again for chains of one size.
#[derive(Debug)]
pub struct StationarySolver {
    matrix: DMatrix<f64>,
    levels: Vec<Level>,
    sorted: ToggleRates,
}

/// One level of the multilevel method: the chain of the first `parts` parts.
#[derive(Debug)]
struct Level {
    rates: ToggleRates,
    guess: Vec<f64>,
    before: Vec<f64>,
}

impl StationarySolver {
    /// For chains of `parts` parts.
    pub fn new(parts: usize) -> Self {
        let dense = parts.min(DENSE_PARTS);
        let level = |parts: usize| Level {
            rates: ToggleRates::new(parts),
            guess: vec![0.0; 1 << parts],
            before: vec![0.0; 1 << parts],
        };
        Self {
            matrix: DMatrix::zeros(1 << dense, 1 << dense),
            levels: (dense..parts).map(level).collect(),
            sorted: ToggleRates::new(if parts > DENSE_PARTS { parts } else { 0 }),
        }
    }

    /// Writes the stationary probabilities to `stationary`, whose content is the first guess where the method
    /// needs one (any positive numbers do).
    pub fn solve(&mut self, rates: &ToggleRates, stationary: &mut [f64]) {
        let balanced = self.improve(rates, stationary, MAX_ROUNDS);
        if !balanced && rates.parts() <= LAST_RESORT_PARTS {
            let mut matrix = DMatrix::zeros(rates.states(), rates.states());
            eliminate(rates, &mut matrix, stationary);
        }
    }

    /// Writes the stationary probabilities to `stationary`, by elimination, and how they move with the rates.
    ///
    /// `π Q = 0` gives `dπ Q = -π dQ` and `Σ dπ = 0`. What is left of the right side goes along as the states leave
    /// the chain one by one, so that rare states keep their digits.
    pub fn solve_with_slopes(&mut self, rates: &ToggleRates<Dual>, stationary: &mut [Dual]) {
        let (parts, states) = (rates.parts(), rates.states());
        let plain = ToggleRates { parts, rates: rates.rates.iter().map(|rate| rate.re).collect() };
        let mut probability = vec![0.0; states];
        let mut large;
        let q = if parts <= DENSE_PARTS {
            &mut self.matrix
        } else {
            large = DMatrix::zeros(states, states);
            &mut large
        };
        eliminate(&plain, q, &mut probability);

        // -π dQ, the flows out of each state and into the next
        let mut right = vec![Slopes::zeros(); states];
        for state in 0..states {
            for part in 0..parts {
                let flow = slopes(&rates.get(part, state)) * probability[state];
                right[state] += flow;
                right[state ^ (1 << part)] -= flow;
            }
        }
        for last in (1..states).rev() {
            let passed_on = right[last];
            (0..last).for_each(|to| right[to] += passed_on * q[(to, last)]);
        }
        let mut moved = vec![Slopes::zeros(); states];
        for state in 1..states {
            let into: Slopes = (0..state).map(|from| moved[from] * q[(state, from)]).sum();
            moved[state] = into - right[state] / q[(state, state)];
        }
        // of all solutions the one whose sum is zero
        let sum: Slopes = moved.iter().sum();
        for ((found, moved), probability) in stationary.iter_mut().zip(moved).zip(probability) {
            *found = with_slopes(probability, moved - sum * probability);
        }
    }

    /// Brings `stationary` nearer to the stationary probabilities, by at most so many rounds where the method
    /// goes in rounds, each of which takes about a decimal digit; whether it is there. For chains whose rates
    /// will change again before they matter.
    pub fn improve(&mut self, rates: &ToggleRates, stationary: &mut [f64], rounds: u32) -> bool {
        if rates.parts() <= DENSE_PARTS {
            eliminate(rates, &mut self.matrix, stationary);
            return true;
        }
        let states = rates.sorted_by_pace(&mut self.sorted);
        let (rates, levels) = (&self.sorted, &mut self.levels);
        let mut sorted: Vec<f64> = states.iter().map(|state| stationary[*state]).collect();
        let balanced = (0..rounds).any(|_| {
            smooth(rates, &mut sorted);
            correct(rates, &mut sorted, levels, &mut self.matrix);
            smooth(rates, &mut sorted);
            normalise(&mut sorted);
            rates.imbalance(&sorted) < BALANCED
        });
        for (state, probability) in states.iter().zip(&sorted) {
            stationary[*state] = *probability;
        }
        balanced
    }
}

/// Elimination without subtraction: states leave the chain one by one, their flow shared out among the rest.
///
/// `matrix[(to, from)]` is the rate from one state to another: columns lie together in memory.
fn eliminate(rates: &ToggleRates, matrix: &mut DMatrix<f64>, stationary: &mut [f64]) {
    let states = rates.states();
    matrix.fill(0.0);
    for state in 0..states {
        for part in 0..rates.parts() {
            matrix[(state ^ (1 << part), state)] = rates.get(part, state);
        }
    }
    for last in (1..states).rev() {
        let (mut rest, mut leaving) = matrix.columns_range_pair_mut(0..last, last..=last);
        let out: f64 = leaving.rows(0, last).sum();
        leaving.rows_mut(0, last).unscale_mut(out);
        let to = leaving.column(0);
        for from in 0..last {
            let into_last = rest[(last, from)];
            if into_last > 0.0 {
                rest.column_mut(from).rows_mut(0, last).axpy(into_last, &to.rows(0, last), 1.0);
            }
        }
        // kept for the way back: expected visits to `last` per unit of time in each state left
        rest.row_mut(last).unscale_mut(out);
        leaving[(last, 0)] = out;
    }
    stationary[0] = 1.0;
    for state in 1..states {
        stationary[state] = (0..state).map(|from| stationary[from] * matrix[(state, from)]).sum();
    }
    normalise(stationary);
}

/// Gauss-Seidel, once up and once down: every state is set so that its own balance holds.
fn smooth(rates: &ToggleRates, x: &mut [f64]) {
    let balance = |state: usize, x: &mut [f64]| {
        let (mut into, mut out) = (0.0, 0.0);
        for part in 0..rates.parts() {
            let from = state ^ (1 << part);
            into += rates.get(part, from) * x[from];
            out += rates.get(part, state);
        }
        x[state] = into / out;
    };
    (0..rates.states()).for_each(|state| balance(state, x));
    (0..rates.states()).rev().for_each(|state| balance(state, x));
}

/// The chain of all parts but the last, with rates averaged over what the last part does now, is solved on the
/// next level; its answer corrects the weight of every pair of states that differ in the last part only.
fn correct(rates: &ToggleRates, x: &mut [f64], levels: &mut [Level], matrix: &mut DMatrix<f64>) {
    let Some((level, coarser)) = levels.split_last_mut() else { return };
    let half = x.len() / 2;
    for state in 0..half {
        let (without, with) = (x[state], x[state + half]);
        let both = without + with;
        level.before[state] = both;
        level.guess[state] = both;
        for part in 0..rates.parts() - 1 {
            let rate = (rates.get(part, state) * without + rates.get(part, state + half) * with) / both;
            level.rates.set(part, state, rate);
        }
    }
    if coarser.is_empty() {
        eliminate(&level.rates, matrix, &mut level.guess);
    } else {
        let total: f64 = level.before.iter().sum();
        smooth(&level.rates, &mut level.guess);
        correct(&level.rates, &mut level.guess, coarser, matrix);
        smooth(&level.rates, &mut level.guess);
        let scale = total / level.guess.iter().sum::<f64>();
        level.guess.iter_mut().for_each(|x| *x *= scale);
    }
    for state in 0..half {
        let factor = level.guess[state] / level.before[state];
        x[state] *= factor;
        x[state + half] *= factor;
    }
}

fn normalise(x: &mut [f64]) {
    let total: f64 = x.iter().sum();
    x.iter_mut().for_each(|x| *x /= total);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reproducible spread of rates over `decades` powers of ten.
    fn rates(parts: usize, decades: f64, seed: u64) -> ToggleRates {
        let mut rates = ToggleRates::new(parts);
        let mut word = seed;
        for part in 0..parts {
            for state in 0..rates.states() {
                word = word.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                let uniform = (word >> 11) as f64 / (1u64 << 53) as f64;
                rates.set(part, state, 10f64.powf(-decades * uniform));
            }
        }
        rates
    }

    fn solve(rates: &ToggleRates) -> Vec<f64> {
        let mut stationary = vec![1.0; rates.states()];
        StationarySolver::new(rates.parts()).solve(rates, &mut stationary);
        stationary
    }

    #[test]
    fn one_part_is_present_in_proportion_to_its_coming() {
        let mut rates = ToggleRates::new(1);
        rates.set(0, 0, 3.0);
        rates.set(0, 1, 1.0);
        assert_eq!(solve(&rates), [0.25, 0.75]);
    }

    #[test]
    fn independent_parts_have_product_form() {
        for parts in [3, 8] {
            let mut rates = ToggleRates::new(parts);
            for part in 0..parts {
                for state in 0..rates.states() {
                    let present = state >> part & 1 == 1;
                    rates.set(part, state, if present { 1.0 } else { 0.1 * (part + 1) as f64 });
                }
            }
            for (state, found) in solve(&rates).iter().enumerate() {
                let exact: f64 = (0..parts)
                    .map(|part| {
                        let up = 0.1 * (part + 1) as f64;
                        if state >> part & 1 == 1 { up / (1.0 + up) } else { 1.0 / (1.0 + up) }
                    })
                    .product();
                assert!((found / exact - 1.0).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn probabilities_balance_and_sum_to_one() {
        for parts in 1..=12 {
            for decades in [0.5, 3.0, if parts > LAST_RESORT_PARTS { 4.0 } else { 12.0 }] {
                let rates = rates(parts, decades, parts as u64);
                let stationary = solve(&rates);
                assert!((stationary.iter().sum::<f64>() - 1.0).abs() < 1e-12);
                assert!(rates.imbalance(&stationary) < 1e-12, "{parts} parts over {decades} decades");
            }
        }
    }

    /// What links look like: every part at its own pace, slower in company, one hardly able to leave at all.
    #[test]
    fn parts_of_very_different_pace_are_solved() {
        let mut rates = ToggleRates::new(12);
        for part in 0..12 {
            for state in 0..rates.states() {
                let pace = 10f64.powi(-(part as i32 % 5));
                let crowd = f64::from(state.count_ones());
                let leaves = state >> part & 1 == 1;
                let rate = if leaves { pace / crowd } else { 0.2 * pace };
                rates.set(part, state, rate);
            }
        }
        assert!(rates.imbalance(&solve(&rates)) < 1e-12);
    }

    /// Rates with slopes of their own in three directions.
    #[test]
    fn slopes_are_differences() {
        for parts in 1..=6 {
            let (base, steps) = (rates(parts, 3.0, 7), rates(parts, 1.0, 11));
            let slope = |part, state, direction: usize| {
                base.get(part, state) * (steps.get(part, state ^ (direction % base.states())) - 0.5)
            };
            let mut dual = ToggleRates::new(parts);
            let moved = |direction: usize, by: f64| {
                let mut moved = base.clone();
                for (part, state) in
                    (0..parts).flat_map(|part| (0..1 << parts).map(move |state| (part, state)))
                {
                    moved.set(part, state, base.get(part, state) + by * slope(part, state, direction));
                }
                solve(&moved)
            };
            for (part, state) in (0..parts).flat_map(|part| (0..1 << parts).map(move |state| (part, state))) {
                let slopes = Slopes::from_fn(|row, _| if row < 3 { slope(part, state, row) } else { 0.0 });
                dual.set(part, state, with_slopes(base.get(part, state), slopes));
            }
            let mut found = vec![Dual::from_re(0.0); 1 << parts];
            StationarySolver::new(parts).solve_with_slopes(&dual, &mut found);
            let plain = solve(&base);
            for direction in 0..4 {
                let (above, below) = match direction {
                    3 => (plain.clone(), plain.clone()),
                    _ => (moved(direction, 1e-4), moved(direction, -1e-4)),
                };
                let rises = |p: &Dual| slopes(p)[direction];
                assert!(found.iter().map(rises).sum::<f64>().abs() < 1e-14);
                for (state, found) in found.iter().enumerate() {
                    assert!((found.re / plain[state] - 1.0).abs() < 1e-11);
                    let difference = (above[state] - below[state]) / 2e-4;
                    assert!((rises(found) - difference).abs() < 1e-7 * plain[state], "{parts}, {state}");
                }
            }
        }
    }

    #[test]
    fn both_methods_agree_in_every_state() {
        let rates = rates(7, 4.0, 5);
        let mut dense = vec![0.0; 128];
        eliminate(&rates, &mut DMatrix::zeros(128, 128), &mut dense);
        for (multilevel, dense) in solve(&rates).iter().zip(&dense) {
            assert!((multilevel / dense - 1.0).abs() < 1e-9);
        }
    }

    /// Probabilities far below rounding of the largest keep their digits.
    #[test]
    fn a_part_that_hardly_ever_comes_keeps_its_conditional_probabilities() {
        let with = |rare: f64| {
            let mut rates = rates(3, 1.0, 9);
            for state in 0..4 {
                rates.set(2, state, rare);
            }
            let pi = solve(&rates);
            pi[5] / pi[4..].iter().sum::<f64>()
        };
        assert!((with(1e-20) / with(1e-60) - 1.0).abs() < 1e-14);
    }
}
