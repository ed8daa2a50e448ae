//! Where along a line something that grows first becomes too much.
//!
//! What is looked at is an *excess*: at most 0 where all is well, above 0 where it is not. It is expected to rise, but
//! not relied upon to: every step keeps a place that was found well and a higher one that was not, so that the end
//! is a crossing whatever lies between. Within them the search follows Chandrupatla (1997): inverse quadratic
//! interpolation where three points allow it, else halving.

/// Where to look.
#[derive(Clone, Copy, Debug)]
pub struct Search {
    /// Where to begin.
    pub start: f64,
    /// The first step multiplies or divides by this; further ones take its powers.
    pub stride: f64,
    /// The lowest place, above 0.
    pub least: f64,
    /// The highest place.
    pub most: f64,
    /// How far apart, as a share, the two sides of the crossing may be.
    pub precision: f64,
    /// Places looked at below the crossing for an earlier one; a quarter of them above.
    pub scan: u32,
}

/// One place and what was found there.
#[derive(Clone, Debug)]
pub struct Probe<T> {
    /// The place.
    pub at: f64,
    /// At most 0: all is well.
    pub excess: f64,
    /// Whatever else was found.
    pub found: T,
}

/// The two sides of the crossing.
#[derive(Clone, Debug)]
pub struct Crossing<T> {
    /// The last place where all is well; none if it is not even at the lowest one.
    pub below: Option<Probe<T>>,
    /// Just beyond; none if all is well up to the highest place.
    pub above: Option<Probe<T>>,
    /// Places looked at.
    pub evaluations: u32,
    /// Whether all was seen to be well again above.
    pub several: bool,
    /// Whether something was seen not to be well below.
    pub broken_below: bool,
}

/// The most places looked at within a bracket: halving alone would need 50.
const MOST_STEPS: u32 = 100;

/// The first crossing that is seen, from what is well to what is not. That something is not well further below is no
/// crossing of that kind: it is told.
pub fn first_crossing<T>(search: &Search, mut evaluate: impl FnMut(f64) -> (f64, T)) -> Crossing<T> {
    let mut evaluations = 0;
    let mut probe = |at: f64| {
        evaluations += 1;
        let (excess, found) = evaluate(at);
        // what is not a number is not well
        Probe { at, excess: if excess.is_nan() { 1.0 } else { excess.clamp(-1e3, 1e3) }, found }
    };
    let (low, high) = bracket(search, &mut probe);
    let mut places: Vec<Probe<T>> = Vec::new();
    if let Some(top) = low.as_ref().map(|low| low.at) {
        let share = |index: u32| f64::from(index) / f64::from(search.scan + 1);
        let below = (1..=search.scan).map(|index| top * share(index)).filter(|at| *at > search.least);
        places.extend(below.map(&mut probe));
    }
    if let Some(end) = high.as_ref().map(|high| high.at) {
        let place = |index: u32| end * (1.0 + 0.25 * f64::from(index));
        let above = (1..=search.scan / 4).map(place).filter(|at| *at < search.most);
        places.extend(above.map(&mut probe));
    }
    let open_above = high.is_none();
    places.extend(low);
    places.extend(high);
    places.sort_by(|one, other| one.at.total_cmp(&other.at));

    let is_well = |place: &Probe<T>| place.excess <= 0.0;
    let first = places.windows(2).position(|pair| is_well(&pair[0]) && !is_well(&pair[1]));
    let last = open_above.then(|| places.len() - 1).filter(|last| is_well(&places[*last]));
    let Some(at) = first.or(last) else {
        let above = places.into_iter().next();
        return Crossing { below: None, above, evaluations, several: false, broken_below: false };
    };
    let broken_below = places[..at].iter().any(|place| !is_well(place));
    let several = places[at + 1..].iter().any(is_well);
    let mut from = places.into_iter().skip(at);
    let (below, above) = match (from.next(), from.next()) {
        (Some(low), Some(high)) => {
            let (low, high) = narrow(low, high, search.precision, &mut probe);
            (Some(low), Some(high))
        }
        ends => ends,
    };
    Crossing { below, above, evaluations, several, broken_below }
}

/// A place where all is well and one where it is not, as far as they exist.
fn bracket<T>(
    search: &Search,
    probe: &mut impl FnMut(f64) -> Probe<T>,
) -> (Option<Probe<T>>, Option<Probe<T>>) {
    let mut here = probe(search.start.clamp(search.least, search.most));
    let mut stride = search.stride;
    let is_well = here.excess <= 0.0;
    loop {
        let end = if is_well { search.most } else { search.least };
        if here.at == end {
            return if is_well { (Some(here), None) } else { (None, Some(here)) };
        }
        let next =
            if is_well { (here.at * stride).min(search.most) } else { (here.at / stride).max(search.least) };
        let next = probe(next);
        if (next.excess <= 0.0) != is_well {
            return if is_well { (Some(here), Some(next)) } else { (Some(next), Some(here)) };
        }
        here = next;
        stride = (stride * stride).min(64.0);
    }
}

/// Draws both sides together until they are `precision` apart.
fn narrow<T>(
    mut low: Probe<T>,
    mut high: Probe<T>,
    precision: f64,
    probe: &mut impl FnMut(f64) -> Probe<T>,
) -> (Probe<T>, Probe<T>) {
    let mut before: Option<(f64, f64)> = None;
    let mut newest_is_low = false;
    let (mut slow, mut width) = (0, high.at - low.at);
    for _ in 0..MOST_STEPS {
        if high.at - low.at <= precision * low.at {
            break;
        }
        let (new, old) = if newest_is_low { (&low, &high) } else { (&high, &low) };
        // steps that end in the half of the precision next to the root bring the other side in with the next one
        let least = (0.45 * precision * low.at / (high.at - low.at)).min(0.5);
        let share = if high.at > 8.0 * low.at && before.is_none() {
            // nothing is known of the size yet
            ((low.at * high.at).sqrt() - new.at) / (old.at - new.at)
        } else if slow >= 3 {
            0.5
        } else {
            interpolated((new.at, new.excess), (old.at, old.excess), before).clamp(least, 1.0 - least)
        };
        let at = new.at + share * (old.at - new.at);
        if !(low.at < at && at < high.at) {
            break; // neighbouring numbers
        }
        let here = probe(at);
        newest_is_low = here.excess <= 0.0;
        let replaced = std::mem::replace(if newest_is_low { &mut low } else { &mut high }, here);
        before = Some((replaced.at, replaced.excess));
        slow = if high.at - low.at <= 0.5 * width { 0 } else { slow + 1 };
        if slow == 0 || slow > 3 {
            width = high.at - low.at;
        }
        if slow > 3 {
            slow = 0;
        }
    }
    (low, high)
}

/// Where, as a share of the way from `one` to `other`, the excess should be 0.
fn interpolated(one: (f64, f64), other: (f64, f64), before: Option<(f64, f64)>) -> f64 {
    let ((x1, f1), (x2, f2)) = (one, other);
    let secant = f1 / (f1 - f2);
    let Some((x3, f3)) = before else {
        return if secant.is_finite() { secant } else { 0.5 };
    };
    let (xi, phi) = ((x1 - x2) / (x3 - x2), (f1 - f2) / (f3 - f2));
    // Chandrupatla's test: the parabola through the three is monotonous between the two
    if phi * phi < xi && (1.0 - phi).powi(2) < 1.0 - xi {
        let share =
            f1 / (f2 - f1) * (f3 / (f2 - f3)) + (x3 - x1) / (x2 - x1) * (f1 / (f3 - f1)) * (f2 / (f3 - f2));
        if share.is_finite() {
            return share;
        }
    }
    0.5
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEARCH: Search =
        Search { start: 1.0, stride: 1.5, least: 1e-6, most: 1e3, precision: 1e-4, scan: 0 };

    fn sides(search: &Search, excess: impl Fn(f64) -> f64) -> (Option<f64>, Option<f64>, u32) {
        let found = first_crossing(search, |at| (excess(at), ()));
        (found.below.map(|one| one.at), found.above.map(|one| one.at), found.evaluations)
    }

    #[test]
    fn the_two_sides_enclose_the_root_of_anything_that_rises() {
        let functions: [(f64, &dyn Fn(f64) -> f64); 6] = [
            (0.37, &|x| x - 0.37),
            (13.0, &|x| (x / 13.0).powi(9) - 1.0),
            (2.5, &|x| if x < 2.5 { -1.0 } else { 1.0 }),
            (0.9, &|x| if x < 1.0 { 1.0 - 10.0 * (1.0 - x) } else { 1.0 }),
            (1e-3, &|x| (x / 1e-3).ln()),
            (0.6, &|x| if x < 0.6 { f64::NEG_INFINITY } else { f64::NAN }),
        ];
        for (root, excess) in functions {
            for start in [1e-6, 0.1, 1.0, 40.0, 1e3] {
                let (below, above, evaluations) = sides(&Search { start, ..SEARCH }, excess);
                let (below, above) = (below.unwrap(), above.unwrap());
                assert!(
                    below <= root * (1.0 + 1e-12) && root <= above * (1.0 + 1e-12),
                    "{root} {below} {above}"
                );
                assert!(above - below <= 1e-4 * below, "{root}: {below} {above}");
                assert!(evaluations <= 50, "{root}: {evaluations}");
            }
        }
    }

    #[test]
    fn a_smooth_crossing_near_the_start_takes_few_steps() {
        let search = Search { start: 2.9, stride: 1.1, ..SEARCH };
        let (_, _, evaluations) = sides(&search, |x| 1.0 - 3.0 / x);
        assert!(evaluations <= 7, "{evaluations}");
    }

    #[test]
    fn what_is_never_or_always_well_has_one_side() {
        assert_eq!(sides(&SEARCH, |_| 1.0).0, None);
        assert_eq!(sides(&SEARCH, |_| 1.0).1, Some(1e-6));
        assert_eq!(sides(&SEARCH, |_| -1.0).0, Some(1e3));
        assert_eq!(sides(&SEARCH, |_| -1.0).1, None);
    }

    #[test]
    fn of_several_crossings_the_first_is_found_and_they_are_told() {
        // well below 1, above 2 and below 4
        let excess = |x: f64| if (1.0..2.0).contains(&x) || x >= 4.0 { 1.0 } else { -1.0 };
        for (start, scan) in [(3.0, 16), (3.0, 0), (0.5, 16)] {
            let found = first_crossing(&Search { start, scan, ..SEARCH }, |at| (excess(at), ()));
            let above = found.above.unwrap().at;
            let first = scan > 0 || start < 1.0;
            assert!((above - if first { 1.0 } else { 4.0 }).abs() < 1e-3, "{start} {scan}: {above}");
            assert_eq!((found.several, found.broken_below), (scan > 0, false));
        }
    }

    #[test]
    fn what_is_not_well_at_the_bottom_is_passed_over_and_told() {
        let excess = |x: f64| if (0.3..2.0).contains(&x) { -1.0 } else { 1.0 };
        let found = first_crossing(&Search { scan: 16, ..SEARCH }, |at| (excess(at), ()));
        assert!((found.above.unwrap().at - 2.0).abs() < 1e-3);
        assert!(found.broken_below && !found.several);
    }
}
