//! How a fixed point moves: the implicit function theorem.
//!
//! At `x = F(x, p)` a step `dp` moves the point by `dx = F_x dx + F_p dp`, that is `(I - F_x) dx = F_p dp`. All of
//! `F_x` and `F_p` comes from applications of `F` to numbers that carry their slopes.

use nalgebra::{DMatrix, DVector};

use super::dual::{DIRECTIONS, Dual};

/// Corrections after the first solve; only a kink of the map itself asks for any.
const MOST_CORRECTIONS: usize = 20;
/// Relative size of what `dx = F_x dx + F_p dp` may be off by.
const SMALL: f64 = 1e-11;

/// The fixed point `x` of `map` with its slopes; `None` if they have no finite values, or none that a map with a
/// kink there agrees to.
///
/// `map(x, y)` writes `F(x)` to `y`; slopes of the parameters are already in it.
pub(super) fn fixed_point(x: &[f64], mut map: impl FnMut(&[Dual], &mut [Dual])) -> Option<Vec<Dual>> {
    let unknowns = x.len();
    if unknowns == 0 {
        return Some(Vec::new());
    }
    let mut point: Vec<Dual> = x.iter().map(|x| Dual::constant(*x)).collect();
    let mut image = point.clone();
    map(&point, &mut image);
    // F_p dp
    let by_parameters: Vec<[f64; DIRECTIONS]> = image.iter().map(|y| y.slopes).collect();

    // columns of I - F_x, by steps as large as the unknowns themselves
    let mut matrix = DMatrix::<f64>::identity(unknowns, unknowns);
    for first in (0..unknowns).step_by(DIRECTIONS) {
        let columns = first..(first + DIRECTIONS).min(unknowns);
        for column in columns.clone() {
            point[column].slopes[column - first] = x[column];
        }
        map(&point, &mut image);
        for column in columns {
            for row in 0..unknowns {
                let slope = image[row].slopes[column - first] - by_parameters[row][column - first];
                matrix[(row, column)] -= slope / x[column];
            }
            point[column] = Dual::constant(x[column]);
        }
    }
    let factors = matrix.lu();
    for _ in 0..=MOST_CORRECTIONS {
        map(&point, &mut image);
        let mut worst = 0.0_f64;
        for direction in 0..DIRECTIONS {
            let left: Vec<f64> = (0..unknowns)
                .map(|row| image[row].slopes[direction] - point[row].slopes[direction])
                .collect();
            let size = point
                .iter()
                .zip(&by_parameters)
                .map(|(x, y)| x.slopes[direction].abs().max(y[direction].abs()));
            let size = size.fold(f64::MIN_POSITIVE, f64::max);
            let off = left
                .iter()
                .fold(0.0_f64, |most, gap| if gap.is_finite() { most.max(gap.abs()) } else { f64::INFINITY });
            worst = worst.max(off / size);
            let correction = factors.solve(&DVector::from_vec(left))?;
            point.iter_mut().zip(correction.iter()).for_each(|(x, step)| x.slopes[direction] += step);
        }
        if !point.iter().all(Dual::is_finite) {
            return None;
        }
        if worst <= SMALL {
            return Some(point);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `x = (p / x + x) / 2`, `y = x y / 2 + 1`: `x = √p`, `y = 1 / (1 - √p / 2)`.
    #[test]
    fn a_fixed_point_moves_as_its_closed_form_does() {
        let mut p = Dual::constant(2.0);
        p.slopes[3] = 1.0;
        let root = 2f64.sqrt();
        let y = 1.0 / (1.0 - root / 2.0);
        let found = fixed_point(&[root, y], |x, next| {
            next[0] = (p / x[0] + x[0]) / 2.0;
            next[1] = x[0] * x[1] / 2.0 + 1.0;
        })
        .unwrap();
        let dx = 0.5 / root;
        assert!((found[0].slopes[3] - dx).abs() < 1e-15);
        assert!((found[1].slopes[3] - y * y / 2.0 * dx).abs() < 1e-12);
        assert_eq!(found[1].slopes[0], 0.0);
    }

    /// A map with a kink at the fixed point: the side that each direction leads to.
    #[test]
    fn a_kink_in_the_map_has_two_sides() {
        let mut p = Dual::constant(1.0);
        (p.slopes[0], p.slopes[1]) = (1.0, -1.0);
        // x = max(1, x / 2 + p / 2): to the right x = p, to the left x = 1
        let found = fixed_point(&[1.0], |x, next| next[0] = Dual::constant(1.0).max(x[0] / 2.0 + p / 2.0));
        assert_eq!(found.unwrap()[0].slopes[..2], [1.0, 0.0]);
    }

    #[test]
    fn where_the_theorem_does_not_hold_there_is_no_slope() {
        let mut p = Dual::constant(0.0);
        p.slopes[0] = 1.0;
        assert!(fixed_point(&[1.0], |x, next| next[0] = x[0] + p).is_none());
    }
}
