//! Places of the switches of a graph: those of the least stress, that is, between every two a spring as long as the
//! shortest way (Kamada and Kawai 1989), whose forces a switch after the other follows (Gansner, Koren and North 2004).
//! Starts are circles whose orders are drawn with fixed seeds, so that a graph always looks the same.

use std::collections::VecDeque;

/// A place, in links.
type Place = (f64, f64);

/// Starts of small graphs, and pairs of switches that all starts together have at most.
const MOST_STARTS: usize = 24;
const MOST_PAIRS: usize = 60_000;
/// Rounds in which every switch moves once, and the largest step \[links\] after which all are in their places.
const MOST_ROUNDS: usize = 200;
const SMALL_STEP: f64 = 1e-4;
/// Switches are at least so far from each other \[links\], and links so far from the switches that they pass.
const APART: f64 = 0.4;
const BESIDE: f64 = 0.33;

/// SplitMix64 (Steele, Lea and Flood 2014).
pub(super) struct SplitMix(pub(super) u64);

impl SplitMix {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }
}

/// By switch: those at the other ends of its links, whichever way they lead, in order.
pub(super) fn neighbours(count: usize, links: &[(u32, u32)]) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new(); count];
    for (from, to) in links.iter().map(|(from, to)| (*from as usize, *to as usize)) {
        if from != to && from < count && to < count {
            all[from].push(to);
            all[to].push(from);
        }
    }
    for some in &mut all {
        some.sort_unstable();
        some.dedup();
    }
    all
}

/// Places of the switches of a graph: of several starts the one with the fewest links across switches, then with the
/// fewest crossings of links, then the one of the least stress.
pub(super) fn places(neighbours: &[Vec<usize>]) -> Vec<Place> {
    let count = neighbours.len();
    let distances: Vec<Vec<f64>> = (0..count).map(|from| distances(neighbours, from)).collect();
    let starts = (MOST_PAIRS / (count * count).max(1)).clamp(1, MOST_STARTS);
    let settled = (0..starts as u64).map(|start| {
        let mut places = circle(count, start);
        settle(&mut places, &distances);
        part(&mut places);
        // of one start there is nothing to choose
        let found = match starts {
            1 => (0, 0),
            _ => (links_across(&places, neighbours), crossings(&places, neighbours)),
        };
        let stress = stress(&places, &distances);
        (found, stress, places)
    });
    // of equal ones the first, but for rounding
    let best = settled.reduce(|best, next| {
        let is_better = next.0 < best.0 || next.0 == best.0 && next.1 < best.1 * (1.0 - 1e-6);
        if is_better { next } else { best }
    });
    turned(best.map(|(.., places)| places).unwrap_or_default())
}

/// Links on the shortest ways from a switch; to those that none leads to one more than any way has.
fn distances(neighbours: &[Vec<usize>], from: usize) -> Vec<f64> {
    let mut found = vec![None; neighbours.len()];
    found[from] = Some(0.0);
    let (mut waiting, mut most) = (VecDeque::from([from]), 0.0);
    while let Some(switch) = waiting.pop_front() {
        let next = found[switch].unwrap_or(0.0) + 1.0;
        for to in &neighbours[switch] {
            if found[*to].is_none() {
                (found[*to], most) = (Some(next), next);
                waiting.push_back(*to);
            }
        }
    }
    let beyond = (neighbours.len() as f64).sqrt().min(most + 1.0).max(2.0);
    found.into_iter().map(|distance| distance.unwrap_or(beyond)).collect()
}

/// Switches on a circle: first in the order of their numbers, then in orders that are drawn. No two radii are equal,
/// so that symmetry holds none of them on a line with others.
fn circle(count: usize, start: u64) -> Vec<Place> {
    let mut drawn = SplitMix(start);
    let mut order: Vec<usize> = (0..count).collect();
    if start > 0 {
        for last in (1..count).rev() {
            order.swap(last, (drawn.next() % (last as u64 + 1)) as usize);
        }
    }
    let radius = count as f64 / std::f64::consts::TAU;
    let place = |at: usize| {
        let angle = std::f64::consts::TAU * at as f64 / count as f64;
        let radius = radius.max(0.5) * (1.0 + 0.05 * (drawn.next() % 1000) as f64 / 1000.0);
        (radius * angle.sin(), radius * angle.cos())
    };
    let mut places = vec![(0.0, 0.0); count];
    for (switch, place) in order.into_iter().zip((0..count).map(place)) {
        places[switch] = place;
    }
    places
}

/// Moves each switch in turn to where its springs, of force `1 / distance²`, are at rest.
fn settle(places: &mut [Place], distances: &[Vec<f64>]) {
    for _ in 0..MOST_ROUNDS {
        let mut largest = 0.0_f64;
        for one in 0..places.len() {
            let (x, y) = places[one];
            let (mut sum, mut weights) = ((0.0, 0.0), 0.0);
            for (other, (to_x, to_y)) in places.iter().enumerate().filter(|(other, _)| *other != one) {
                let distance = distances[one][other];
                let (dx, dy) = (x - to_x, y - to_y);
                let weight = 1.0 / (distance * distance);
                let stretch = distance / dx.hypot(dy).max(1e-9);
                sum.0 += weight * (to_x + stretch * dx);
                sum.1 += weight * (to_y + stretch * dy);
                weights += weight;
            }
            if weights > 0.0 {
                places[one] = (sum.0 / weights, sum.1 / weights);
                largest = largest.max((places[one].0 - x).hypot(places[one].1 - y));
            }
        }
        if largest < SMALL_STEP {
            break;
        }
    }
}

/// Pushes switches apart that are too close to each other.
fn part(places: &mut [Place]) {
    for _ in 0..MOST_ROUNDS {
        let mut is_parted = true;
        for (one, other) in (0..places.len()).flat_map(|one| (0..one).map(move |other| (one, other))) {
            let (dx, dy) = (places[one].0 - places[other].0, places[one].1 - places[other].1);
            let distance = dx.hypot(dy);
            if distance >= APART {
                continue;
            }
            is_parted = false;
            // those at one place go ways that differ from pair to pair
            let way = (one as f64 * 0.7 + other as f64).sin_cos();
            let (dx, dy) = if distance > 1e-6 { (dx / distance, dy / distance) } else { way };
            let push = 0.51 * (APART - distance);
            places[one] = (places[one].0 + push * dx, places[one].1 + push * dy);
            places[other] = (places[other].0 - push * dx, places[other].1 - push * dy);
        }
        if is_parted {
            break;
        }
    }
}

/// Links, once for both ways.
fn pairs(neighbours: &[Vec<usize>]) -> Vec<(usize, usize)> {
    let all = neighbours.iter().enumerate().flat_map(|(from, all)| all.iter().map(move |to| (from, *to)));
    all.filter(|(from, to)| from < to).collect()
}

/// Pairs of links that cross each other.
fn crossings(places: &[Place], neighbours: &[Vec<usize>]) -> usize {
    let links = pairs(neighbours);
    // on which side of the line from one switch to another a third one is
    let side = |(from, to): (usize, usize), third: usize| {
        let ((x, y), (to_x, to_y), (at_x, at_y)) = (places[from], places[to], places[third]);
        (to_x - x) * (at_y - y) - (to_y - y) * (at_x - x) > 0.0
    };
    let cross = |one: (usize, usize), other: (usize, usize)| {
        let have_one_end = [one.0, one.1].iter().any(|end| [other.0, other.1].contains(end));
        !have_one_end && side(one, other.0) != side(one, other.1) && side(other, one.0) != side(other, one.1)
    };
    let after =
        |(at, one): (usize, &(usize, usize))| links[..at].iter().filter(|other| cross(*one, **other)).count();
    links.iter().enumerate().map(after).sum()
}

/// Pairs of a link and a switch across which it would be drawn.
fn links_across(places: &[Place], neighbours: &[Vec<usize>]) -> usize {
    let across = |(from, to): (usize, usize)| {
        let (start, end) = (places[from], places[to]);
        let way = (end.0 - start.0, end.1 - start.1);
        let squared = (way.0 * way.0 + way.1 * way.1).max(1e-12);
        let is_near = |place: &Place| {
            let along = ((place.0 - start.0) * way.0 + (place.1 - start.1) * way.1) / squared;
            let along = along.clamp(0.0, 1.0);
            (place.0 - start.0 - along * way.0).hypot(place.1 - start.1 - along * way.1) < BESIDE
        };
        let others = places.iter().enumerate().filter(|(switch, _)| *switch != from && *switch != to);
        others.filter(|(_, place)| is_near(place)).count()
    };
    pairs(neighbours).into_iter().map(across).sum()
}

/// `Σ (distance drawn / distance - 1)²` over all pairs.
fn stress(places: &[Place], distances: &[Vec<f64>]) -> f64 {
    let pairs = (0..places.len()).flat_map(|one| (0..one).map(move |other| (one, other)));
    let of_pair = |(one, other): (usize, usize)| {
        let drawn = (places[one].0 - places[other].0).hypot(places[one].1 - places[other].1);
        (drawn / distances[one][other] - 1.0).powi(2)
    };
    pairs.map(of_pair).sum()
}

/// About their middle so that they are widest from left to right; those that are as wide everywhere with one of the
/// farthest switches on top.
fn turned(mut places: Vec<Place>) -> Vec<Place> {
    let count = places.len().max(1) as f64;
    let sum = places.iter().fold((0.0, 0.0), |sum, place| (sum.0 + place.0, sum.1 + place.1));
    for place in &mut places {
        *place = (place.0 - sum.0 / count, place.1 - sum.1 / count);
    }
    let spread = |of: fn(&Place) -> f64| places.iter().map(of).sum::<f64>();
    let (xx, yy, xy) =
        (spread(|one| one.0 * one.0), spread(|one| one.1 * one.1), spread(|one| one.0 * one.1));
    let is_round = (xx - yy).hypot(2.0 * xy) < 0.05 * (xx + yy);
    let angle = if is_round {
        // of equal ones the first, but for rounding
        let is_farther =
            |one: Place, other: Place| one.0.hypot(one.1) > other.0.hypot(other.1) * 1.001 + 1e-9;
        let top = places.iter().copied().reduce(|top, one| if is_farther(one, top) { one } else { top });
        let (x, y) = top.unwrap_or((0.0, 1.0));
        y.atan2(x) - std::f64::consts::FRAC_PI_2
    } else {
        (2.0 * xy).atan2(xx - yy) / 2.0
    };
    let (sin, cos) = angle.sin_cos();
    places.into_iter().map(|(x, y)| (cos * x + sin * y, cos * y - sin * x)).collect()
}

/// The least height as a share of the width, and the largest.
const LEAST_HEIGHT: f64 = 0.12;
const MOST_HEIGHT: f64 = 1.0;

/// The same places as shares of width and height, and the height as a share of the width.
pub(super) fn fitted(places: Vec<Place>) -> (Vec<Place>, f64) {
    let range = |of: fn(&Place) -> f64| {
        let all = places.iter().map(of);
        let (from, to) = (all.clone().fold(f64::INFINITY, f64::min), all.fold(f64::NEG_INFINITY, f64::max));
        ((from + to) / 2.0, to - from)
    };
    let ((x_middle, width), (y_middle, height)) = (range(|place| place.0), range(|place| place.1));
    // one for both directions, so that angles stay
    let unit = width.max(height / MOST_HEIGHT).max(1e-9);
    let share = (height / unit).max(LEAST_HEIGHT);
    let fitted = |(x, y): Place| {
        let place = (0.5 + (x - x_middle) / unit, 0.5 + (y - y_middle) / unit / share);
        (place.0.clamp(0.0, 1.0), place.1.clamp(0.0, 1.0))
    };
    (places.into_iter().map(fitted).collect(), share)
}
