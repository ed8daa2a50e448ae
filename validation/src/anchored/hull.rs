//! Whether a place lies among others: in their convex hull.

/// Steps after which a place is taken to lie where the search has come to.
const STEPS: usize = 500;
/// Distances below this count as none.
pub(super) const NEAR: f64 = 0.01;
/// What the search may leave of a distance where it has not come to an end.
const LEFT: f64 = 0.03;

/// Whether `place` lies farther than `near` from the convex hull of `places`.
///
/// Gilbert's algorithm: a point of the hull moves towards the vertex that lies farthest in the direction of `place`
/// until it is near, or until no vertex lies beyond (E. G. Gilbert, SIAM J. Control 4 (1966) 61-80).
pub(super) fn is_outside(place: &[f64], places: &[&[f64]], near: f64) -> bool {
    let Some(first) = places.first() else { return true };
    let mut at: Vec<f64> = first.to_vec();
    for _ in 0..STEPS {
        let direction: Vec<f64> = place.iter().zip(&at).map(|(to, from)| to - from).collect();
        let distance = norm(&direction);
        if distance <= near {
            return false;
        }
        let along = |vertex: &&[f64]| dot(vertex, &direction);
        let farthest = places.iter().copied().max_by(|a, b| along(a).total_cmp(&along(b)));
        let vertex = farthest.expect("there is one at least");
        // the whole hull lies on the other side of a plane, that far off
        if dot(place, &direction) - along(&vertex) > near * distance {
            return true;
        }
        let step: Vec<f64> = vertex.iter().zip(&at).map(|(to, from)| to - from).collect();
        let length = dot(&step, &step);
        let share = if length > 0.0 { (dot(&direction, &step) / length).clamp(0.0, 1.0) } else { 0.0 };
        if share == 0.0 {
            break;
        }
        at.iter_mut().zip(&step).for_each(|(at, step)| *at += share * step);
    }
    let left: Vec<f64> = place.iter().zip(&at).map(|(to, from)| to - from).collect();
    norm(&left) > near + LEFT
}

fn dot(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

fn norm(one: &[f64]) -> f64 {
    dot(one, one).sqrt()
}

/// Square of the distance.
pub(super) fn square(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(one, other)| (one - other).powi(2)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_line_the_ends_are_the_hull() {
        let line: [&[f64]; 3] = [&[0.2], &[0.9], &[0.5]];
        for (place, outside) in
            [(0.1, true), (0.2, false), (0.21, false), (0.7, false), (0.9, false), (0.95, true)]
        {
            assert_eq!(is_outside(&[place], &line, NEAR), outside, "{place}");
        }
        let is_outside = |place: f64, places: &[&[f64]]| is_outside(&[place], places, NEAR);
        assert!(is_outside(0.5, &[]) && is_outside(0.5, &[&[0.4]]) && !is_outside(0.4, &[&[0.4]]));
        assert!(!super::is_outside(&[1.0], &line, 0.15) && super::is_outside(&[1.1], &line, 0.15));
    }

    /// Against the inequalities of a simplex: all coordinates at least 0, their sum at most 1.
    #[test]
    fn of_a_simplex_its_inequalities_are() {
        for dimensions in 2..=4 {
            let mut corners = vec![vec![0.0; dimensions]];
            corners.extend(
                (0..dimensions)
                    .map(|axis| (0..dimensions).map(|one| f64::from(u8::from(one == axis))).collect()),
            );
            let corners: Vec<&[f64]> = corners.iter().map(Vec::as_slice).collect();
            let mut word = 7_u64;
            let mut decided = [0, 0];
            for _ in 0..2_000 {
                let place: Vec<f64> = (0..dimensions)
                    .map(|_| {
                        word = word
                            .wrapping_mul(6_364_136_223_846_793_005)
                            .wrapping_add(1_442_695_040_888_963_407);
                        (word >> 40) as f64 / (1 << 24) as f64
                    })
                    .collect();
                let beyond = place.iter().sum::<f64>() - 1.0;
                if beyond.abs() > 0.1 {
                    assert_eq!(is_outside(&place, &corners, NEAR), beyond > 0.0, "{place:?}");
                    decided[usize::from(beyond > 0.0)] += 1;
                }
            }
            assert!(decided.iter().all(|count| *count > 20), "{decided:?}");
        }
    }
}
