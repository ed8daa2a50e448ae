//! The lowest point of a function of a box, without derivatives: several searches from fixed starts, and a check of
//! what they found.
//!
//! One variable is searched by Brent's method, several by that of Nelder and Mead (both of `argmin`), in coordinates
//! that run from 0 to 1. A point that breaks requirements costs more the farther it is beyond them (an exact penalty),
//! so that a search may come to the edge of what is allowed from both sides; what is handed out is the best point that
//! was looked at and keeps them all. It is then moved along every coordinate, up and down, until no such step is
//! better any more.

use std::cell::RefCell;

use argmin::core::{CostFunction, Error, Executor};
use argmin::solver::brent::BrentOpt;
use schemars::JsonSchema;
use serde::Serialize;

use crate::nelder_mead;

/// What a point of the box is worth.
#[derive(Clone, Copy, Debug)]
pub(super) struct Worth {
    /// What is minimised, if there is such a number.
    pub(super) goal: Option<f64>,
    /// At most 0: allowed.
    pub(super) excess: f64,
}

/// The best point, and how sure that is.
#[derive(Clone, Debug)]
pub(super) struct Optimum {
    pub(super) at: Vec<f64>,
    pub(super) check: Check,
    pub(super) evaluations: u32,
    /// The lowest and the highest goal of all allowed points that were looked at.
    pub(super) seen: Option<(f64, f64)>,
}

/// How sure one can be of an optimum over ranges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Check {
    /// Searches from different places.
    pub starts: u32,
    /// Those that ended within 0.1 % of the best.
    pub agreeing_starts: u32,
    /// Steps along single coordinates that still made it better after them.
    pub improving_steps: u32,
    /// Whether in the end no such step, of 2 % or 0.2 % of the range, made it better by more than 0.01 %.
    pub is_local_optimum: bool,
}

/// What a unit of excess costs, in units of the goal.
const PENALTY: f64 = 100.0;
/// What a point without a goal costs beside that.
const NO_GOAL: f64 = 1e4;
/// What a share of the range outside the box costs.
const OUTSIDE: f64 = 1e5;
/// The most steps of one search.
const BRENT_STEPS: u64 = 30;
const SIMPLEX_STEPS: u64 = 45;
/// Steps of the check, as shares of the ranges.
const STEPS: [f64; 2] = [0.02, 0.002];
/// The most improving steps.
const MOST_STEPS: u32 = 200;
/// What counts as better, and as the same, as shares of the goal.
const BETTER: f64 = 1e-4;
pub(super) const SAME: f64 = 1e-3;

struct Trial {
    at: Vec<f64>,
    worth: Worth,
}

/// Keeps account of what is tried.
struct Search<'f> {
    worth: &'f dyn Fn(&[f64]) -> Worth,
    account: RefCell<Account>,
}

#[derive(Default)]
struct Account {
    best: Option<Trial>,
    /// Best since the last start.
    of_start: Option<Worth>,
    evaluations: u32,
    scale: f64,
    seen: Option<(f64, f64)>,
}

impl Worth {
    fn is_allowed(&self) -> bool {
        self.excess <= 0.0 && self.goal.is_some()
    }

    /// Whether it is better than `other` by more than a share of the goal.
    fn beats(&self, other: &Self, share: f64) -> bool {
        match (self.is_allowed(), other.is_allowed(), self.goal, other.goal) {
            (true, true, Some(mine), Some(other)) => mine < other - share * other.abs(),
            (mine, other_is, ..) if mine != other_is => mine,
            _ => self.excess < other.excess - share,
        }
    }
}

impl Search<'_> {
    fn look(&self, at: &[f64]) -> Worth {
        let worth = (self.worth)(at);
        let mut account = self.account.borrow_mut();
        account.evaluations += 1;
        if account.best.as_ref().is_none_or(|best| worth.beats(&best.worth, 0.0)) {
            account.best = Some(Trial { at: at.to_vec(), worth });
        }
        if account.of_start.as_ref().is_none_or(|best| worth.beats(best, 0.0)) {
            account.of_start = Some(worth);
        }
        if worth.is_allowed() {
            account.seen = joined(account.seen, worth.goal.map(|goal| (goal, goal)));
        }
        if let (Some(goal), true) = (worth.goal, account.scale == 0.0) {
            account.scale = goal.abs();
        }
        worth
    }

    /// What the searches see: one number for any point.
    fn priced(&self, at: &[f64]) -> f64 {
        let inside: Vec<f64> = at.iter().map(|one| one.clamp(0.0, 1.0)).collect();
        let outside: f64 = at.iter().zip(&inside).map(|(one, inside)| (one - inside).abs()).sum();
        let Worth { goal, excess } = self.look(&inside);
        let scale = self.account.borrow().scale.max(1e-9);
        let goal = goal.map_or(NO_GOAL, |goal| goal / scale);
        let price = goal + PENALTY * excess.max(0.0) + OUTSIDE * outside;
        if price.is_finite() { price } else { f64::MAX.sqrt() }
    }
}

/// Of one variable.
struct OnLine<'s, 'f>(&'s Search<'f>);

impl CostFunction for OnLine<'_, '_> {
    type Param = f64;
    type Output = f64;

    fn cost(&self, at: &f64) -> Result<f64, Error> {
        Ok(self.0.priced(&[*at]))
    }
}

/// The lowest allowed point of `[0, 1]^dimensions`, or the one least beyond what is allowed.
pub(super) fn lowest(dimensions: usize, worth: &dyn Fn(&[f64]) -> Worth) -> Optimum {
    let searched = Search { worth, account: RefCell::default() };
    let mut ends: Vec<Worth> = Vec::new();
    let mut start = |search: &dyn Fn()| {
        searched.account.borrow_mut().of_start = None;
        search();
        ends.extend(searched.account.borrow().of_start);
    };
    if dimensions == 1 {
        searched.look(&[0.0]);
        searched.look(&[1.0]);
        for (low, high) in [(0.0, 1.0), (0.0, 0.5), (0.5, 1.0)] {
            start(&|| {
                let solver = BrentOpt::new(low, high).set_tolerance(1e-8, 1e-4);
                let executor = Executor::new(OnLine(&searched), solver);
                // what it looked at is in the account, however it ended
                let _ = executor.configure(|state| state.max_iters(BRENT_STEPS)).ctrlc(false).run();
            });
        }
    } else {
        for corner in starts(dimensions) {
            start(&|| {
                let steps = SIMPLEX_STEPS * dimensions as u64;
                let _ = nelder_mead::lowest(&simplex(&corner), 1e-6, steps, |at| searched.priced(at));
            });
        }
    }
    let (improving_steps, is_local_optimum) = settle(&searched, dimensions);
    let Account { best, evaluations, seen, .. } = searched.account.into_inner();
    let Trial { at, worth } = best.expect("every search looks somewhere");
    let same = |end: &&Worth| !worth.beats(end, SAME);
    let agreeing_starts = ends.iter().filter(same).count() as u32;
    let check = Check { starts: ends.len() as u32, agreeing_starts, improving_steps, is_local_optimum };
    Optimum { at, check, evaluations, seen }
}

/// The span of both.
pub(super) fn joined(one: Option<(f64, f64)>, other: Option<(f64, f64)>) -> Option<(f64, f64)> {
    match (one, other) {
        (Some(one), Some(other)) => Some((one.0.min(other.0), one.1.max(other.1))),
        (one, other) => one.or(other),
    }
}

/// Moves the best point along single coordinates until that no longer helps; steps taken and whether it came to that.
fn settle(searched: &Search<'_>, dimensions: usize) -> (u32, bool) {
    let mut steps = 0;
    let best = || {
        let account = searched.account.borrow();
        account.best.as_ref().map(|best| (best.at.clone(), best.worth))
    };
    while let Some((at, worth)) = best() {
        let moves = STEPS.iter().flat_map(|step| [-step, *step]);
        let mut moves = moves.flat_map(|step| (0..dimensions).map(move |axis| (axis, step)));
        let better = moves.any(|(axis, step)| {
            let mut to = at.clone();
            to[axis] = (to[axis] + step).clamp(0.0, 1.0);
            to[axis] != at[axis] && searched.look(&to).beats(&worth, BETTER)
        });
        if !better {
            return (steps, true);
        }
        steps += 1;
        if steps == MOST_STEPS {
            break;
        }
    }
    (steps, false)
}

/// Where searches begin: in the middle, and towards corners that alternate.
fn starts(dimensions: usize) -> Vec<Vec<f64>> {
    let corner =
        |of: fn(usize) -> bool| (0..dimensions).map(|axis| if of(axis) { 0.8 } else { 0.15 }).collect();
    vec![
        vec![0.4; dimensions],
        corner(|_| false),
        corner(|_| true),
        corner(|axis| axis % 2 == 0),
        corner(|axis| axis % 2 == 1),
    ]
}

/// A simplex at a corner.
fn simplex(corner: &[f64]) -> Vec<Vec<f64>> {
    let with = |axis: usize| {
        let mut point = corner.to_vec();
        point[axis] += if point[axis] > 0.5 { -0.25 } else { 0.25 };
        point
    };
    std::iter::once(corner.to_vec()).chain((0..corner.len()).map(with)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(goal: f64) -> Worth {
        Worth { goal: Some(goal), excess: -1.0 }
    }

    #[test]
    fn the_lowest_of_several_valleys_is_found_on_a_line() {
        // valleys at 0.2 and, deeper, at 0.85
        let found = lowest(1, &|x| allowed(1.0 + (x[0] - 0.2).abs().min((x[0] - 0.85).abs() - 0.02)));
        assert!((found.at[0] - 0.85).abs() < 2e-3, "{found:?}");
        let (low, high) = found.seen.unwrap();
        assert!(low < 1.0 && high > 1.1, "{found:?}");
        assert!(found.check.is_local_optimum);
    }

    #[test]
    fn an_edge_of_what_is_allowed_is_approached_from_within() {
        // the best corner of x + 2 y <= 1 in the box
        let excess = |x: &[f64]| x[0] + 2.0 * x[1] - 1.0;
        let found = lowest(2, &|x| Worth { goal: Some(2.0 - x[0] - x[1]), excess: excess(x) });
        assert!(excess(&found.at) <= 0.0);
        assert!((found.at[0] - 1.0).abs() < 5e-3 && found.at[1] < 5e-3, "{found:?}");
        assert!(found.check.is_local_optimum && found.evaluations > 10, "{found:?}");
    }

    #[test]
    fn a_bowl_in_three_dimensions_has_one_bottom_for_all_starts() {
        let bowl = |x: &[f64]| {
            allowed(1.0 + x.iter().zip([0.3, 0.6, 0.5]).map(|(x, c)| (x - c).powi(2)).sum::<f64>())
        };
        let found = lowest(3, &bowl);
        assert!(bowl(&found.at).goal.unwrap() < 1.0 + 1e-4, "{found:?}");
        assert_eq!(found.check.agreeing_starts, found.check.starts);
    }

    #[test]
    fn where_nothing_is_allowed_the_least_excess_is_handed_out() {
        let found = lowest(1, &|x| Worth { goal: None, excess: 1.0 + (x[0] - 0.5).powi(2) });
        assert!((found.at[0] - 0.5).abs() < 0.05, "{found:?}");
    }
}
