//! Stamps of the flits of every lane, first come first served within a lane.

use std::collections::VecDeque;

use crate::wormhole::lane::Lane;

/// Stamps of the flits behind the first of each lane; that of the first is in its row. Each lane takes the
/// memory that it needs, which for deep buffers is far less than they could hold.
#[derive(Clone, Debug)]
pub(crate) struct Stamps(Vec<VecDeque<f64>>);

impl Stamps {
    /// For `lanes` lanes.
    pub(crate) fn new(lanes: usize) -> Self {
        Self(vec![VecDeque::new(); lanes])
    }

    /// A flit joins behind the `row.waiting` others.
    #[inline]
    pub(crate) fn push(&mut self, lane: usize, row: &mut Lane, stamp: f64) {
        row.last_stamp = stamp;
        if row.waiting == 0 {
            row.first_stamp = stamp;
        } else {
            self.0[lane].push_back(stamp);
        }
    }

    /// The first flit has left, `row.waiting` stay.
    #[inline]
    pub(crate) fn pop(&mut self, lane: usize, row: &mut Lane) {
        if row.waiting > 0 {
            row.first_stamp = self.0[lane].pop_front().unwrap_or(row.last_stamp);
        }
    }
}

/// The later of two stamps, neither of which is below 0.
///
/// Such numbers are in the order of their bits, and whole numbers are compared without a guess at the outcome,
/// which would be wrong every other time.
#[inline]
pub(super) fn later(a: f64, b: f64) -> f64 {
    f64::from_bits(a.to_bits().max(b.to_bits()))
}

/// The eligible lane whose first flit has the smallest stamp; equal: the lowest (S8).
#[inline]
pub(crate) fn smallest(rows: &[Lane], eligible: u64) -> u32 {
    if rows.len() > 4 {
        return smallest_of_many(rows, eligible);
    }
    // no guesses, as in `later`
    let (mut best, mut least) = (0, u64::MAX);
    for (lane, row) in (0..).zip(rows) {
        let out = (eligible >> lane & 1).wrapping_sub(1);
        let stamp = row.first_stamp.to_bits() | out;
        best = if stamp < least { lane } else { best };
        least = least.min(stamp);
    }
    best
}

fn smallest_of_many(rows: &[Lane], eligible: u64) -> u32 {
    let mut best = eligible.trailing_zeros();
    let mut others = eligible & (eligible - 1);
    let mut least = rows[best as usize].first_stamp;
    while others != 0 {
        let lane = others.trailing_zeros();
        others &= others - 1;
        let stamp = rows[lane as usize].first_stamp;
        if stamp < least {
            (best, least) = (lane, stamp);
        }
    }
    best
}

/// All eligible lanes whose first flit has the smallest stamp.
#[inline]
pub(super) fn all_smallest(rows: &[Lane], eligible: u64) -> u64 {
    let (mut smallest, mut least) = (0, f64::INFINITY);
    let mut others = eligible;
    while others != 0 {
        let lane = others.trailing_zeros();
        others &= others - 1;
        let stamp = rows[lane as usize].first_stamp;
        if stamp < least {
            (smallest, least) = (0, stamp);
        }
        smallest |= u64::from(stamp == least) << lane;
    }
    smallest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lane_is_first_in_first_out_beyond_its_first_capacity() {
        let mut stamps = Stamps::new(3);
        let mut row = Lane::new(None);
        let (mut joined, mut left) = (0, 0);
        for round in 0..200 {
            for _ in 0..round % 7 {
                stamps.push(1, &mut row, f64::from(joined));
                row.waiting += 1;
                joined += 1;
            }
            for _ in 0..(round % 5).min(joined - left) {
                assert_eq!(row.first_stamp, f64::from(left));
                left += 1;
                row.waiting -= 1;
                stamps.pop(1, &mut row);
            }
        }
        assert!(joined - left > 150);
    }
}
