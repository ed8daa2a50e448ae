//! How long a message takes, as a distribution, and so how often it misses a deadline: Eqs. (16)-(23), §3.4
//! of [KYD05].
//!
//! A message of `n_f` flits (its own and those that block it) is sent flit by flit; while combination `k` of
//! other real-time classes is present, a flit takes `S_c(k)` cycles. With `X_k` flits sent in company of `k`
//! it takes `β = n_f + Σ_k X_k (S_c(k) - 1)` cycles. The sums over all `X_k` in (17) are not carried out one by
//! one: `n_f` enters each of them only as a bound and a power (see [`Company::delays`]), so one table of
//! delays serves every `n_f`.

use crate::scalar::Scalar;

/// The blocking length in front of a message, (18) and (23).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlockingLength {
    /// `P_b`: probability that there is any.
    pub probability: f64,
    /// `U = 2 max(b_s, M) + M`: the longest; all lengths `1..=U` are equally likely \[flits\].
    pub longest: u32,
}

impl BlockingLength {
    /// In front of a class that is blocked with `probability`: `U` follows from its buffering.
    pub fn of<T: Scalar>(probability: T, buffering: super::Buffering<T>) -> Self {
        // U = 2 m + M
        let longest = (buffering.room() * 2.0 + buffering.message_flits).re() as u32;
        Self { probability: probability.re(), longest }
    }

    /// `P(B = x)`, (18), for each `x` in `1..=U`.
    pub fn of_each_length(self) -> f64 {
        self.probability / f64::from(self.longest)
    }
}

/// A combination of other classes in whose company flits may have to be sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Companion {
    /// `S_c(k) - 1`: what each flit then loses \[cycles\].
    pub excess: f64,
    /// `P_c(k)`: probability that the combination is there.
    pub probability: f64,
}

/// All combinations of other classes, without the empty one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Company(Vec<Companion>);

/// R12: what `β` may exceed a whole cycle by and still count as that cycle.
const TOLERANCE: f64 = 1e-9;
/// Combinations less likely than this are left out: all of them together could not move a probability by
/// 1e-10.
const NEGLIGIBLE: f64 = 1e-14;
/// The most flits for which one combination is followed flit by flit; for more there is no distribution.
const MOST_FLITS: usize = 20_000;
/// The most terms that are added one by one; what goes beyond is done on a grid.
const ENUMERATED: f64 = 4e6;
/// Grid points per cycle where delays are not multiples of a common step.
const GRID: u32 = 4;
/// Groups into which many combinations are put on the grid.
const GROUPS: usize = 8;
/// The most flits and cycles, multiplied, of a table of delays; longer delays are left out.
const LARGEST_TABLE: usize = 2_000_000;
/// The same where there are more combinations than groups, and much more to do.
const LARGEST_TABLE_OF_GROUPS: usize = 400_000;

impl Company {
    /// Of the given combinations, those that matter.
    pub fn new(combinations: impl IntoIterator<Item = Companion>) -> Self {
        let matter = |c: &Companion| c.probability > NEGLIGIBLE && c.excess > 0.0;
        let cap = |c: Companion| Companion { probability: c.probability.min(1.0 - 1e-12), ..c };
        Self(combinations.into_iter().filter(matter).map(cap).collect())
    }

    /// Probabilities of `ceil(β) = 0, 1, 2, ..` for a message of `own_flits` flits behind a random blocking
    /// length; of the list at most `limit` entries are returned, and less than one in sum if that cuts it.
    ///
    /// ```
    /// # use flitwise_models::published::{BlockingLength, Company, Companion};
    /// let blocking = BlockingLength { probability: 0.0, longest: 96 };
    /// let half = Company::new([Companion { excess: 1.0, probability: 0.5 }]);
    /// // alone: 2 cycles; else 1 or 2 of the 2 flits are delayed by one cycle each
    /// assert_eq!(half.completion(blocking, 2, 100), [0.0, 0.0, 0.5, 0.25, 0.25]);
    /// ```
    pub fn completion(&self, blocking: BlockingLength, own_flits: u32, limit: usize) -> Vec<f64> {
        let blocked = blocking.probability > 0.0;
        let most_flits = (own_flits + if blocked { blocking.longest } else { 0 }) as usize;
        let slowest = self.0.iter().map(|c| c.excess).fold(0.0, f64::max);
        let latest = most_flits as f64 * (1.0 + slowest) + 1.0;
        let mut cut = latest >= limit as f64;
        let end = if cut { limit } else { latest.ceil() as usize + 1 };
        let mut completion = vec![0.0; end.max(1)];

        // (18): P(B = 0) = 1 - P_b, P(B = x) = P_b / U
        let own = own_flits as usize;
        let weight = |flits: usize| {
            if flits == own { 1.0 - blocking.probability } else { blocking.of_each_length() }
        };
        let lengths = own..=most_flits;
        match self.0.as_slice() {
            [] => lengths.for_each(|flits| add(&mut completion, flits, weight(flits))),
            [_] if most_flits > MOST_FLITS => {
                // sure is only that the message's own flits take their time
                cut = true;
                completion.truncate(own.max(1));
            }
            [only] => only.complete(lengths, weight, &mut completion),
            several => {
                let delays = Delays::of(several, most_flits, end);
                delays.complete(lengths, weight, &mut completion);
                if delays.cut {
                    cut = true;
                    completion.truncate(own + delays.cycles);
                }
            }
        }
        if !cut {
            // what terms too small to be counted lack
            let total: f64 = completion.iter().sum();
            completion.iter_mut().for_each(|p| *p /= total);
            let trailing = completion.iter().rev().take_while(|p| **p == 0.0).count();
            completion.truncate((completion.len() - trailing).max(1));
        }
        completion
    }
}

fn add(list: &mut [f64], index: usize, probability: f64) {
    if let Some(entry) = list.get_mut(index) {
        *entry += probability;
    }
}

/// `ceil` with R12.
fn whole_cycles(delay: f64) -> usize {
    (delay - TOLERANCE).ceil().max(0.0) as usize
}

impl Companion {
    /// One combination only: (19) without any condition.
    fn complete(
        self,
        lengths: std::ops::RangeInclusive<usize>,
        weight: impl Fn(usize) -> f64,
        completion: &mut [f64],
    ) {
        let delays: Vec<usize> =
            (0..=*lengths.end()).map(|flits| whole_cycles(flits as f64 * self.excess)).collect();
        // flits delayed by just so many cycles: several per cycle where the excess is below one
        let mut flits_of_delay = Vec::new();
        if self.excess < 1.0 {
            flits_of_delay.resize(delays.last().map_or(0, |last| last + 1), 0.0);
            delays.iter().skip(1).for_each(|delay| flits_of_delay[*delay] += 1.0);
        }
        for flits in lengths {
            let weight = weight(flits);
            if flits == 0 {
                add(completion, 0, weight);
                continue;
            }
            // (19): P(X = 0) = 1 - P_c(k), P(X = x) = P_c(k) / n_f
            add(completion, flits, weight * (1.0 - self.probability));
            let each = weight * self.probability / flits as f64;
            let longest = delays[flits];
            if self.excess < 1.0 && flits + longest < completion.len() {
                let before = &flits_of_delay[..longest];
                let slots = &mut completion[flits..flits + longest];
                slots.iter_mut().zip(before).for_each(|(slot, flits)| *slot += each * flits);
                let with_longest = delays[..=flits].iter().rev().take_while(|d| **d == longest).count();
                completion[flits + longest] += each * with_longest as f64;
            } else {
                for delay in &delays[1..=flits] {
                    match completion.get_mut(flits + delay) {
                        Some(slot) => *slot += each,
                        None => break,
                    }
                }
            }
        }
    }
}

/// What several combinations cost together.
///
/// With `r_k = P_c(k) / (1 - P_c(k))`, the weight of `X_k > 0` for just the combinations in a set `A` of `j` is,
/// but for a factor common to all, `n_f^-j Π_A r_k`, and all positive `X_k` with `Σ X_k <= n_f` are then equally
/// likely (R10). `table[j-1][n][e]` holds `Σ_A Π_A r_k` times the number of ways in which `Σ X_k = n` flits are
/// delayed by `e` whole cycles. Which `n_f` is asked for matters only afterwards.
struct Delays {
    table: Vec<Vec<f64>>,
    /// `e_j(r)`, `j = 0, 1, ..`: elementary symmetric polynomials.
    symmetric: Vec<f64>,
    cycles: usize,
    /// Whether longer delays than `cycles` were left out for want of room.
    cut: bool,
    /// The largest excess \[cycles\].
    slowest: f64,
}

impl Delays {
    fn of(companions: &[Companion], most_flits: usize, end: usize) -> Self {
        let odds: Vec<f64> = companions.iter().map(|c| c.probability / (1.0 - c.probability)).collect();
        let negligible = if companions.len() > GROUPS { 1e-7 } else { 1e-9 };
        let symmetric = significant(elementary_symmetric(&odds), negligible);
        let slowest = companions.iter().map(|c| c.excess).fold(0.0, f64::max);
        let cycles = (most_flits as f64 * slowest + 2.0).min(end as f64) as usize;
        let room = (largest_table(companions) / (most_flits + 1)).max(1);
        let mut delays = Self {
            table: vec![vec![0.0; (most_flits + 1) * cycles.min(room)]; symmetric.len() - 1],
            symmetric,
            cycles: cycles.min(room),
            cut: cycles > room,
            slowest,
        };
        let (n, k) = (most_flits as f64, companions.len() as f64);
        let exact = match delays.table.len() {
            0 | 1 => 1,
            _ if k * k / 2.0 * n * n / 2.0 > ENUMERATED => 1,
            2 => 2,
            _ if k * (k - 1.0) * (k - 2.0) / 6.0 * n * n * n / 6.0 > ENUMERATED => 2,
            _ => 3,
        };
        delays.enumerate(companions, &odds, most_flits, exact);
        if delays.table.len() > exact {
            delays.approximate(companions, &odds, most_flits, exact);
        }
        delays
    }

    /// Adds every way to be delayed by up to `exact` combinations.
    fn enumerate(&mut self, companions: &[Companion], odds: &[f64], most_flits: usize, exact: usize) {
        for (a, first) in companions.iter().enumerate() {
            for x in 1..=most_flits {
                let delay = x as f64 * first.excess;
                self.count(1, x, delay, odds[a]);
                if exact < 2 {
                    continue;
                }
                for (b, second) in companions.iter().enumerate().skip(a + 1) {
                    for y in 1..=most_flits - x {
                        let delay = delay + y as f64 * second.excess;
                        self.count(2, x + y, delay, odds[a] * odds[b]);
                        if exact < 3 {
                            continue;
                        }
                        for (c, third) in companions.iter().enumerate().skip(b + 1) {
                            let weight = odds[a] * odds[b] * odds[c];
                            for z in 1..=most_flits - x - y {
                                self.count(3, x + y + z, delay + z as f64 * third.excess, weight);
                            }
                        }
                    }
                }
            }
        }
    }

    fn count(&mut self, j: usize, flits: usize, delay: f64, weight: f64) {
        let delay = whole_cycles(delay);
        if delay < self.cycles {
            self.table[j - 1][flits * self.cycles + delay] += weight;
        }
    }

    /// Adds the ways to be delayed by more than `exact` combinations, on a grid of a part of a cycle: exact
    /// where all delays per flit are multiples of the grid, else with mean delays kept. Our own approximation;
    /// such ways are rare. Against exact sums (16 to 64 flits, loads 0.3 and 0.6) it moved probabilities by up
    /// to 2e-8 with four classes, 1.3e-5 with five and six, where companions are grouped, and 5e-4 with ten.
    fn approximate(&mut self, companions: &[Companion], odds: &[f64], most_flits: usize, exact: usize) {
        let on_grid = |step: u32| {
            companions.iter().all(|c| {
                let steps = c.excess * f64::from(step);
                (steps - steps.round()).abs() < TOLERANCE
            })
        };
        // as fine a grid as there is room for
        let room = largest_table(companions) / ((most_flits + 1) * self.cycles);
        let finest = room.clamp(1, 2 * GRID as usize) as u32;
        let multiple = (1..=finest).find(|step| on_grid(*step) && companions.len() <= GROUPS);
        let per_cycle = multiple.unwrap_or(finest.min(GRID)) as usize;
        let reach = self.slowest * per_cycle as f64 + 1.0;
        let most = self.table.len();
        let points = self.cycles * per_cycle;
        let width = (most_flits + 1) * points;
        let mut ways = vec![vec![0.0; width]; most + 1];
        ways[0][0] = 1.0;
        for group in groups(companions, odds) {
            let step = group.excess * per_cycle as f64;
            for j in (0..most).rev() {
                let (from, to) = ways.split_at_mut(j + 1);
                let mut sent = from[j].clone();
                for (more, coefficient) in to.iter_mut().zip(&group.symmetric[1..]) {
                    sent = one_more_run(&sent, points, step, reach);
                    more.iter_mut().zip(&sent).for_each(|(more, sent)| *more += coefficient * sent);
                }
            }
        }
        for j in exact + 1..=most {
            for flits in 0..=most_flits {
                let ways = &ways[j][flits * points..(flits + 1) * points];
                let slots = &mut self.table[j - 1][flits * self.cycles..(flits + 1) * self.cycles];
                for (point, ways) in ways.iter().enumerate() {
                    // off the grid a point stands for delays on either side of it
                    let later = if multiple.is_some() { point } else { point + 1 };
                    add(slots, point.div_ceil(per_cycle), 0.5 * ways);
                    add(slots, later.div_ceil(per_cycle), 0.5 * ways);
                }
            }
        }
    }

    /// Adds the completion times of messages of the given lengths, which must ascend.
    fn complete(
        &self,
        lengths: std::ops::RangeInclusive<usize>,
        weight: impl Fn(usize) -> f64,
        completion: &mut [f64],
    ) {
        let mut so_far = vec![vec![0.0; self.cycles]; self.table.len()];
        let mut added = 0;
        for flits in lengths {
            while added <= flits {
                for (sum, table) in so_far.iter_mut().zip(&self.table) {
                    let row = &table[added * self.cycles..(added + 1) * self.cycles];
                    sum.iter_mut().zip(row).for_each(|(sum, entry)| *sum += entry);
                }
                added += 1;
            }
            if flits == 0 {
                add(completion, 0, weight(0));
                continue;
            }
            // Σ_j e_j(r) C(n_f, j) / n_f^j: the probability of Σ X_k <= n_f, but for the common factor
            let n = flits as f64;
            let mut ways = 1.0;
            let mut norm = 0.0;
            for (j, symmetric) in self.symmetric.iter().enumerate() {
                norm += symmetric * ways;
                ways *= (n - j as f64).max(0.0) / ((j + 1) as f64 * n);
            }
            let mut scale = weight(flits) / norm;
            add(completion, flits, scale);
            let reached = (n * self.slowest + 2.0) as usize;
            let slots = completion.get_mut(flits..).unwrap_or_default();
            for sum in &so_far {
                scale /= n;
                slots.iter_mut().zip(sum).take(reached).for_each(|(slot, sum)| *slot += scale * sum);
            }
        }
    }
}

fn largest_table(companions: &[Companion]) -> usize {
    if companions.len() > GROUPS { LARGEST_TABLE_OF_GROUPS } else { LARGEST_TABLE }
}

/// Combinations of nearly the same delay, taken together on the grid.
struct Group {
    excess: f64,
    /// `e_i(r)` over the combinations of the group.
    symmetric: Vec<f64>,
}

fn groups(companions: &[Companion], odds: &[f64]) -> Vec<Group> {
    let mut order: Vec<usize> = (0..companions.len()).collect();
    order.sort_by(|a, b| companions[*a].excess.total_cmp(&companions[*b].excess));
    let most = GROUPS.min(companions.len()) as f64;
    let share = odds.iter().sum::<f64>() / most;
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut filled = f64::INFINITY;
    for index in order {
        if filled >= share || companions.len() <= GROUPS {
            groups.push(Vec::new());
            filled = 0.0;
        }
        filled += odds[index];
        groups.last_mut().expect("a group was begun").push(index);
    }
    let of = |members: Vec<usize>| {
        let odds: Vec<f64> = members.iter().map(|index| odds[*index]).collect();
        let weighted: f64 = members.iter().zip(&odds).map(|(i, r)| companions[*i].excess * r).sum();
        Group { excess: weighted / odds.iter().sum::<f64>(), symmetric: elementary_symmetric(&odds) }
    };
    groups.into_iter().map(of).collect()
}

/// All ways to append one run of at least one flit, each flit of it delayed by `step` grid points; no flit ever
/// is by more than `reach`.
fn one_more_run(ways: &[f64], points: usize, step: f64, reach: f64) -> Vec<f64> {
    let (whole, part) = (step as usize, step.fract());
    let mut longer = vec![0.0; ways.len()];
    for flits in 1..ways.len() / points {
        let (before, here) = longer.split_at_mut(flits * points);
        let row = (flits - 1) * points..flits * points;
        let (started, went_on) = (&ways[row.clone()], &before[row]);
        let here = here[..points].get_mut(whole..).unwrap_or_default();
        let reached = ((flits - 1) as f64 * reach) as usize + 1;
        let arrivals = started.iter().zip(went_on).take(reached).map(|(started, went_on)| started + went_on);
        let mut carried = 0.0;
        for (slot, sum) in here.iter_mut().zip(arrivals.chain([0.0])) {
            *slot = (1.0 - part) * sum + part * carried;
            carried = sum;
        }
    }
    longer
}

/// `e_0, e_1, ..` of the given numbers.
fn elementary_symmetric(numbers: &[f64]) -> Vec<f64> {
    let mut e = vec![1.0];
    for number in numbers {
        e.push(0.0);
        for j in (1..e.len()).rev() {
            e[j] += number * e[j - 1];
        }
    }
    e
}

/// Without the terms that are nothing beside the rest: `e_j(r) C(n, j) / n^j < e_j(r) / j!`.
fn significant(mut symmetric: Vec<f64>, negligible: f64) -> Vec<f64> {
    let mut factorial = 1.0;
    let terms: Vec<f64> = symmetric
        .iter()
        .enumerate()
        .map(|(j, e)| {
            factorial *= j.max(1) as f64;
            e / factorial
        })
        .collect();
    let total: f64 = terms.iter().sum();
    let needed = terms.iter().rposition(|term| *term > negligible * total).map_or(1, |last| last + 1);
    symmetric.truncate(needed);
    symmetric
}

#[cfg(test)]
mod tests {
    use super::*;

    /// (17)-(19) with R10, sum by sum: a message of `own` flits, every `B`, every `X_k`.
    fn by_brute_force(company: &[Companion], blocking: BlockingLength, own: u32) -> Vec<f64> {
        fn all(
            rest: &[Companion],
            left: u32,
            flits: u32,
            delay: f64,
            weight: f64,
            out: &mut Vec<(f64, f64)>,
        ) {
            let Some((first, rest)) = rest.split_first() else {
                out.push((delay, weight));
                return;
            };
            all(rest, left, flits, delay, weight * (1.0 - first.probability), out);
            for x in 1..=left {
                let weight = weight * first.probability / f64::from(flits);
                all(rest, left - x, flits, delay + f64::from(x) * first.excess, weight, out);
            }
        }
        let mut completion = vec![0.0; 2000];
        for length in 0..=blocking.longest {
            let weight = match length {
                0 => 1.0 - blocking.probability,
                _ => blocking.probability / f64::from(blocking.longest),
            };
            let flits = own + length;
            let mut found = Vec::new();
            if flits == 0 {
                found.push((0.0, 1.0));
            } else {
                all(company, flits, flits, 0.0, 1.0, &mut found);
            }
            let norm: f64 = found.iter().map(|(_, weight)| weight).sum();
            for (delay, p) in found {
                completion[whole_cycles(f64::from(flits) + delay)] += weight * p / norm;
            }
        }
        completion
    }

    /// Largest difference of the two cumulated distributions.
    fn gap(company: &[Companion], probability: f64, longest: u32, own: u32) -> f64 {
        let blocking = BlockingLength { probability, longest };
        let fast = Company::new(company.iter().copied()).completion(blocking, own, 2000);
        let slow = by_brute_force(company, blocking, own);
        let (mut sum, mut gap) = (0.0, 0.0);
        for (cycle, slow) in slow.iter().enumerate() {
            sum += slow - fast.get(cycle).copied().unwrap_or(0.0);
            gap = f64::max(gap, sum.abs());
        }
        gap
    }

    fn companions(of: &[(f64, f64)]) -> Vec<Companion> {
        of.iter()
            .map(|(excess, probability)| Companion { excess: *excess, probability: *probability })
            .collect()
    }

    #[test]
    fn one_companion_agrees_with_the_sums_of_17() {
        for excess in [0.1, 0.5, 0.7013, 1.0, 2.0, 3.3333] {
            for own in [0, 1, 9] {
                assert!(gap(&companions(&[(excess, 0.3)]), 0.2, 27, own) < 1e-14, "{excess}, {own} flits");
            }
        }
    }

    #[test]
    fn three_companions_agree_with_the_sums_of_17_whatever_the_delays() {
        for (a, b) in [(0.5, 1.0), (0.7013, 0.5772), (2.0, 3.3333), (0.1, 6.9)] {
            let company = companions(&[(a, 0.2), (b, 0.35), (a + b, 0.4)]);
            assert!(gap(&company, 0.3, 12, 8) < 1e-13);
            assert!(gap(&company, 0.3, 12, 0) < 1e-13);
        }
    }

    #[test]
    fn seven_companions_agree_with_the_sums_of_17() {
        let delays = |a: f64, b: f64, c: f64| [a, b, a + b, c, a + c, b + c, a + b + c];
        let likely = [0.2, 0.1, 0.03, 0.15, 0.04, 0.02, 0.01];
        let with = |delays: [f64; 7]| companions(&std::array::from_fn::<_, 7, _>(|k| (delays[k], likely[k])));
        assert!(gap(&with(delays(0.5, 0.25, 1.0)), 0.3, 6, 4) < 1e-10);
        assert!(gap(&with(delays(0.7013, 0.4347, 1.6180)), 0.3, 6, 4) < 2e-4);
    }

    /// Triples are added one by one for short messages and on a grid for long ones: both ways, compared where
    /// both are possible.
    #[test]
    fn the_grid_moves_probabilities_by_a_millionth() {
        let likely = [0.15, 0.1, 0.03, 0.08, 0.02, 0.01, 0.005];
        let (a, b, c) = (0.7013, 0.4347, 1.6180);
        let delays = [a, b, a + b, c, a + c, b + c, a + b + c];
        let company = companions(&std::array::from_fn::<_, 7, _>(|k| (delays[k], likely[k])));
        let odds: Vec<f64> = company.iter().map(|c| c.probability / (1.0 - c.probability)).collect();
        let (flits, end) = (32, 400);
        let completion = |exact: usize| {
            let mut symmetric = elementary_symmetric(&odds);
            symmetric.truncate(4);
            let table = vec![vec![0.0; (flits + 1) * end]; 3];
            let mut delays = Delays { table, symmetric, cycles: end, cut: false, slowest: a + b + c };
            delays.enumerate(&company, &odds, flits, exact);
            delays.approximate(&company, &odds, flits, exact);
            let mut completion = vec![0.0; end];
            delays.complete(flits..=flits, |_| 1.0, &mut completion);
            completion
        };
        let (mut sum, mut gap) = (0.0, 0.0);
        for (exact, grid) in completion(3).iter().zip(&completion(2)) {
            sum += exact - grid;
            gap = f64::max(gap, f64::abs(sum));
        }
        assert!(gap < 2e-6, "{gap:e}");
    }

    #[test]
    fn many_companions_keep_probability_and_mean() {
        let company: Vec<Companion> =
            (1..128).map(|k| Companion { excess: 0.03 * f64::from(k), probability: 0.5 / 127.0 }).collect();
        let blocking = BlockingLength { probability: 0.1, longest: 96 };
        let completion = Company::new(company).completion(blocking, 32, 4000);
        assert!((completion.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn what_is_cut_off_is_missing_and_the_rest_is_right() {
        let company = companions(&[(0.5, 0.2), (30.0, 0.2), (30.5, 0.3)]);
        let blocking = BlockingLength { probability: 0.2, longest: 96 };
        let whole = Company::new(company.clone()).completion(blocking, 32, 100_000);
        let cut = Company::new(company).completion(blocking, 32, 300);
        assert_eq!(cut.len(), 300);
        for (whole, cut) in whole.iter().zip(&cut) {
            assert!((whole - cut).abs() < 1e-14);
        }
    }
}
