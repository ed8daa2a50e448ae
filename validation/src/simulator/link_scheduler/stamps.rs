//! Stamps of the flits of every lane, first come first served within a lane.

/// A stamp per queued flit. The first one of a lane is at hand; those behind it are in a ring.
#[derive(Clone, Debug)]
pub(super) struct Stamps {
    rows: Vec<Row>,
    /// Ring of lane `l`: `capacity` slots from `l * capacity`. Unused by source queues.
    behind: Vec<f64>,
    /// A power of two; grows when a lane needs more.
    capacity: usize,
}

#[derive(Clone, Copy, Debug, Default)]
struct Row {
    /// Of the first flit.
    first: f64,
    /// Of the flit that came last.
    last: f64,
    /// Where in the ring the first flit's place is.
    at: u32,
}

/// Slots of a ring at the start.
const FIRST_CAPACITY: usize = 16;

impl Stamps {
    /// For `lanes` lanes, of which those from `ringed` on never hold more than the first stamp.
    pub(super) fn new(lanes: usize, ringed: usize, buffer_flits: u32) -> Self {
        let capacity = FIRST_CAPACITY.min((buffer_flits as usize).next_power_of_two());
        Self { rows: vec![Row::default(); lanes], behind: vec![0.0; ringed * capacity], capacity }
    }

    /// Stamp of the first flit of a lane.
    #[inline]
    pub(super) fn first(&self, lane: usize) -> f64 {
        self.rows[lane].first
    }

    /// Stamp of the flit that joined a lane last.
    #[inline]
    pub(super) fn last(&self, lane: usize) -> f64 {
        self.rows[lane].last
    }

    /// A flit joins behind `queued` others.
    #[inline]
    pub(super) fn push(&mut self, lane: usize, queued: u32, stamp: f64) {
        if queued as usize >= self.capacity {
            self.grow();
        }
        let row = &mut self.rows[lane];
        row.last = stamp;
        if queued == 0 {
            row.first = stamp;
        } else {
            let slot = (row.at + queued) as usize & (self.capacity - 1);
            self.behind[lane * self.capacity + slot] = stamp;
        }
    }

    /// The first flit leaves, `left` stay.
    #[inline]
    pub(super) fn pop(&mut self, lane: usize, left: u32) {
        if left > 0 {
            let row = &mut self.rows[lane];
            row.at = row.at.wrapping_add(1);
            row.first = self.behind[lane * self.capacity + (row.at as usize & (self.capacity - 1))];
        }
    }

    /// A source queue: the last stamp given out.
    #[inline]
    pub(super) fn set_last(&mut self, lane: usize, stamp: f64) {
        self.rows[lane].last = stamp;
    }

    /// A source queue: the stamp of its first flit.
    #[inline]
    pub(super) fn set_first(&mut self, lane: usize, stamp: f64) {
        self.rows[lane].first = stamp;
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let old = self.capacity;
        let lanes = self.behind.len() / old;
        let mut behind = vec![0.0; lanes * old * 2];
        for lane in 0..lanes {
            let at = self.rows[lane].at as usize;
            for queued in 0..old {
                let place = at + queued;
                behind[lane * old * 2 + (place & (old * 2 - 1))] =
                    self.behind[lane * old + (place & (old - 1))];
            }
        }
        self.behind = behind;
        self.capacity = old * 2;
    }
}

/// The eligible class whose first flit has the smallest stamp; equal: the lowest (S8).
#[inline]
pub(super) fn smallest(stamps: &Stamps, link: usize, width: usize, eligible: u32) -> u32 {
    let mut best = eligible.trailing_zeros();
    let mut others = eligible & (eligible - 1);
    if others != 0 {
        let mut least = stamps.first(link * width + best as usize);
        while others != 0 {
            let class = others.trailing_zeros();
            others &= others - 1;
            let stamp = stamps.first(link * width + class as usize);
            if stamp < least {
                (best, least) = (class, stamp);
            }
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lane_is_first_in_first_out_beyond_its_first_capacity() {
        let mut stamps = Stamps::new(3, 3, 1000);
        let (mut joined, mut left) = (0, 0);
        for round in 0..200 {
            for _ in 0..round % 7 {
                stamps.push(1, joined - left, f64::from(joined));
                joined += 1;
            }
            for _ in 0..(round % 5).min(joined - left) {
                assert_eq!(stamps.first(1), f64::from(left));
                left += 1;
                stamps.pop(1, joined - left);
            }
        }
        assert!(joined - left > 150);
    }
}
