//! How a fixed point moves: the implicit function theorem.
//!
//! At `x = F(x, p)` a step `dp` moves the point by `dx = F_x dx + F_p dp`, that is `(I - F_x) dx = F_p dp`. All of
//! `F_x` and `F_p` comes from applications of `F` to numbers that carry their slopes.

use std::collections::VecDeque;

use nalgebra::{DMatrix, DVector};

use crate::fixed_point::{History, Iterate, Report, Status};
use crate::scalar::{DIRECTIONS, Dual, Slopes, slopes, with_slopes};

/// Corrections after the first solve; only a kink of the map itself asks for any.
const MOST_CORRECTIONS: usize = 20;
/// Relative size of what `dx = F_x dx + F_p dp` may be off by.
const SMALL: f64 = 1e-11;

/// Fixed points that are known, in the order in which they are come to; their slopes are not.
#[derive(Debug)]
pub(super) struct FixedPoints(pub(super) VecDeque<Vec<f64>>);

impl Iterate<Dual> for FixedPoints {
    fn records(&self) -> bool {
        false
    }

    fn reach(
        &mut self,
        x: &mut [Dual],
        mut map: impl FnMut(&[Dual], &mut [Dual]),
    ) -> (Report, Option<History>) {
        let point = self.0.pop_front().unwrap_or_default();
        let Some(found) = fixed_point(&point, &mut map).filter(|found| found.len() == x.len()) else {
            return (Report { status: Status::NotFinite, ..Report::default() }, None);
        };
        x.copy_from_slice(&found);
        if !x.is_empty() {
            map(&found, x);
        }
        (Report::default(), None)
    }
}

/// The fixed point `x` of `map` with its slopes; `None` if they have no finite values, or none that a map with a
/// kink there agrees to.
///
/// `map(x, y)` writes `F(x)` to `y`; slopes of the parameters are already in it.
fn fixed_point(x: &[f64], mut map: impl FnMut(&[Dual], &mut [Dual])) -> Option<Vec<Dual>> {
    let unknowns = x.len();
    if unknowns == 0 {
        return Some(Vec::new());
    }
    let mut point: Vec<Dual> = x.iter().map(|x| Dual::from_re(*x)).collect();
    let mut image = point.clone();
    map(&point, &mut image);
    // F_p dp
    let by_parameters: Vec<Slopes> = image.iter().map(slopes).collect();

    // columns of I - F_x, by steps as large as the unknowns themselves
    let mut matrix = DMatrix::<f64>::identity(unknowns, unknowns);
    for first in (0..unknowns).step_by(DIRECTIONS) {
        let columns = first..(first + DIRECTIONS).min(unknowns);
        for column in columns.clone() {
            let step = |row: usize, _| if first + row == column { x[column] } else { 0.0 };
            point[column] = with_slopes(x[column], Slopes::from_fn(step));
        }
        map(&point, &mut image);
        for column in columns {
            for row in 0..unknowns {
                let slope = slopes(&image[row])[column - first] - by_parameters[row][column - first];
                matrix[(row, column)] -= slope / x[column];
            }
            point[column] = Dual::from_re(x[column]);
        }
    }
    let factors = matrix.lu();
    let mut moved = vec![Slopes::zeros(); unknowns];
    for _ in 0..=MOST_CORRECTIONS {
        map(&point, &mut image);
        let mut worst = 0.0_f64;
        for direction in 0..DIRECTIONS {
            let left = (0..unknowns).map(|row| slopes(&image[row])[direction] - moved[row][direction]);
            let left = DVector::from_iterator(unknowns, left);
            let sizes = moved.iter().chain(&by_parameters).map(|slopes| slopes[direction].abs());
            let size = sizes.fold(f64::MIN_POSITIVE, f64::max);
            let gap =
                |most: f64, gap: &f64| if gap.is_finite() { most.max(gap.abs()) } else { f64::INFINITY };
            worst = worst.max(left.iter().fold(0.0, gap) / size);
            let correction = factors.solve(&left)?;
            moved.iter_mut().zip(correction.iter()).for_each(|(slopes, step)| slopes[direction] += step);
        }
        if !moved.iter().all(|slopes| slopes.iter().all(|slope| slope.is_finite())) {
            return None;
        }
        point
            .iter_mut()
            .zip(x)
            .zip(&moved)
            .for_each(|((point, x), slopes)| *point = with_slopes(*x, *slopes));
        if worst <= SMALL {
            return Some(point);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scalar::Scalar;

    fn parameter(value: f64, steps: &[f64]) -> Dual {
        with_slopes(value, Slopes::from_fn(|row, _| steps.get(row).copied().unwrap_or(0.0)))
    }

    /// `x = (p / x + x) / 2`, `y = x y / 2 + 1`: `x = √p`, `y = 1 / (1 - √p / 2)`.
    #[test]
    fn a_fixed_point_moves_as_its_closed_form_does() {
        let p = parameter(2.0, &[0.0, 0.0, 0.0, 1.0]);
        let root = 2f64.sqrt();
        let y = 1.0 / (1.0 - root / 2.0);
        let found = fixed_point(&[root, y], |x, next| {
            next[0] = (p / x[0] + x[0]) / 2.0;
            next[1] = x[0] * x[1] / 2.0 + 1.0;
        })
        .unwrap();
        let dx = 0.5 / root;
        assert!((slopes(&found[0])[3] - dx).abs() < 1e-15);
        assert!((slopes(&found[1])[3] - y * y / 2.0 * dx).abs() < 1e-12);
        assert_eq!(slopes(&found[1])[0], 0.0);
    }

    /// A map with a kink at the fixed point: the side that each direction leads to.
    #[test]
    fn a_kink_in_the_map_has_two_sides() {
        let p = parameter(1.0, &[1.0, -1.0]);
        // x = max(1, x / 2 + p / 2): to the right x = p, to the left x = 1
        let map = |x: &[Dual], next: &mut [Dual]| next[0] = Dual::from_re(1.0).max(x[0] / 2.0 + p / 2.0);
        let found = slopes(&fixed_point(&[1.0], map).unwrap()[0]);
        assert_eq!((found[0], found[1]), (1.0, 0.0));
    }

    #[test]
    fn where_the_theorem_does_not_hold_there_is_no_slope() {
        let p = parameter(0.0, &[1.0]);
        assert!(fixed_point(&[1.0], |x, next| next[0] = x[0] + p).is_none());
    }
}
