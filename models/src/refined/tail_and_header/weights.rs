//! Laws as weights by cells, which need not sum to one.

use super::lattice::Lattice;

/// Weight of nothing.
pub(super) fn first(weights: &[f64]) -> f64 {
    weights.first().copied().unwrap_or(1.0)
}

/// Weights of all but nothing.
pub(super) fn positive(weights: &[f64]) -> Vec<f64> {
    let mut weights = weights.to_vec();
    if let Some(none) = weights.first_mut() {
        *none = 0.0;
    }
    weights
}

pub(super) fn scaled(weights: &[f64], share: f64) -> Vec<f64> {
    weights.iter().map(|p| p * share).collect()
}

pub(super) fn scale(weights: &mut [f64], share: f64) {
    weights.iter_mut().for_each(|p| *p *= share);
}

/// So many cells more.
pub(super) fn shifted(weights: &[f64], cells: usize) -> Vec<f64> {
    std::iter::repeat_n(0.0, cells).chain(weights.iter().copied()).collect()
}

/// Free gaps and escorted ones.
pub(super) fn both(free: &[f64], escorted: &[f64]) -> Vec<f64> {
    let mut all = free.to_vec();
    mix(&mut all, 1.0, escorted);
    all
}

pub(super) fn add_at(weights: &mut Vec<f64>, at: usize, p: f64) {
    if p > 0.0 {
        if weights.len() <= at {
            weights.resize(at + 1, 0.0);
        }
        weights[at] += p;
    }
}

/// Adds a weighted law to a mixture.
pub(in super::super) fn mix(into: &mut Vec<f64>, share: f64, law: &[f64]) {
    if into.len() < law.len() {
        into.resize(law.len(), 0.0);
    }
    for (sum, p) in into.iter_mut().zip(law) {
        *sum += share * p;
    }
}

/// `max(T - A, H)`
pub(super) fn hidden(gaps: &[f64], hidden: f64, header: usize) -> Vec<f64> {
    let (whole, part) = (hidden.floor() as usize, hidden.fract());
    let mut left = vec![0.0; gaps.len()];
    for (t, p) in gaps.iter().enumerate() {
        for (shift, share) in [(whole, 1.0 - part), (whole + 1, part)] {
            let to = t.saturating_sub(shift).max(header).min(t);
            left[to] += share * p;
        }
    }
    left
}

/// The greater of two, as weights whose sums multiply.
pub(super) fn greater(x: &[f64], y: &[f64]) -> Vec<f64> {
    let (mut below_x, mut below_y, mut before) = (0.0, 0.0, 0.0);
    let at = |weights: &[f64], t: usize| weights.get(t).copied().unwrap_or(0.0);
    let weight = |t: usize| {
        below_x += at(x, t);
        below_y += at(y, t);
        let now: f64 = below_x * below_y;
        let weight = now - before;
        before = now;
        weight
    };
    (0..x.len().max(y.len())).map(weight).collect()
}

/// `T <- max(T, H)` of headers and tails that are independent: where the header comes last the gap is closed. How many
/// gaps are not.
pub(super) fn raced(headers: &[f64], tails: &[f64], closed: &mut Vec<f64>, lattice: &mut Lattice) -> f64 {
    let mut below = 0.0;
    for (h, p) in headers.iter().enumerate() {
        below += tails.get(h).copied().unwrap_or(0.0);
        add_at(closed, h, p * below);
    }
    lattice.race(headers, tails)
}
