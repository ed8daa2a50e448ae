//! The lane arbiter: lanes of connections by weights, and a limit up to which they go before best effort; rules K1 to
//! K5. One stands before every link, one at every input port.

use flitwise_language::scenario::{ClassKind, Pointer, Scenario, WeightFrame};

use crate::Booking;

use super::rules::{LEVELS, Rules};

/// Flits of a large frame: as many as 64 entries of a table of weights up to 255 hold.
const LARGE_FRAME: f64 = 255.0 * 64.0;
/// The limit of a channel whose connections may take all of it: best effort has one flit in so many.
const HIGHEST_LIMIT: u32 = 255;
/// A lane whose connections have less than this together has none \[flits/cycle\].
const NO_RATE: f64 = 1e-12;

/// An arbiter of the lanes of a link.
#[derive(Clone, Copy, Debug)]
struct Arbiter {
    /// Real-time lanes with a part of their weight left, a bit each.
    has_left: u64,
    /// The lanes served last, of real time and of best effort.
    real_time: u8,
    best_effort: u8,
    /// Flits of real time that went before waiting best effort, one after another, and from how many on they do not.
    high: u32,
    limit: u32,
    /// Peak rates of all connections \[flits/cycle\].
    peak: f64,
}

/// A lane that may send a flit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Named {
    /// Its place among the lanes of the link.
    pub(super) place: u32,
    pub(super) level: usize,
    /// Whether best effort was eligible, too.
    meets_best_effort: bool,
}

/// How rates of connections become weights.
#[derive(Clone, Copy, Debug)]
enum Frame {
    /// So many flits, shared by the rates of all lanes.
    Shared(f64),
    /// So many flits for so much of the link.
    OfLink(f64),
}

/// All arbiters: that before link `l` has the number `l`, that behind it `links + l`.
pub(super) struct Arbiters {
    shift: u32,
    links: usize,
    frame: Frame,
    pointer: Pointer,
    /// A bit per real-time lane.
    real_time: u64,
    arbiters: Vec<Arbiter>,
    /// By arbiter and lane.
    weights: Vec<u32>,
    left: Vec<u32>,
    /// Rates of the connections \[flits/cycle\].
    rates: Vec<f64>,
}

/// The first lane of some after the one served last, cyclically.
#[inline]
fn next_after(lanes: u64, last: u8) -> u32 {
    let behind = lanes & (u64::MAX << last) << 1;
    if behind != 0 { behind.trailing_zeros() } else { lanes.trailing_zeros() }
}

/// `limit = ⌈1 / (1 - B)⌉`: best effort is sure of one flit in so many where connections have peak rates of `B`
/// together.
fn limit(peak: f64) -> u32 {
    if peak >= 1.0 - 1.0 / f64::from(HIGHEST_LIMIT) {
        return HIGHEST_LIMIT;
    }
    (1.0 / (1.0 - peak.max(0.0)) - 1e-9).ceil() as u32
}

impl Arbiters {
    pub(super) fn new(scenario: &Scenario, rules: &Rules) -> Self {
        let (mut real_time, mut used) = (0u64, 1);
        let (mut of_connections, mut of_all) = (0.0, 0.0);
        for (class, block) in scenario.classes().iter().zip(scenario.virtual_channels()) {
            let rate = class.rate * f64::from(class.message_flits);
            used = used.max(block.end);
            if class.kind == ClassKind::RealTime {
                of_connections += rate;
                real_time |= block.fold(0, |bits, channel| bits | 1 << channel);
            }
            if class.kind != ClassKind::Control {
                of_all += rate;
            }
        }
        let weights = scenario.router().weights();
        let frame = match weights.frame {
            WeightFrame::Small => Frame::Shared(f64::from(weights.per_lane * real_time.count_ones())),
            WeightFrame::Flits(flits) => Frame::Shared(f64::from(flits)),
            WeightFrame::Large => Frame::OfLink(LARGE_FRAME * of_all / of_connections),
        };
        let (arbiters, lanes) = (2 * rules.links, 2 * rules.channels);
        let last = (used - 1) as u8;
        let arbiter =
            Arbiter { has_left: real_time, real_time: last, best_effort: last, high: 0, limit: 1, peak: 0.0 };
        Self {
            shift: rules.shift,
            links: rules.links,
            frame,
            pointer: weights.pointer,
            real_time,
            arbiters: vec![arbiter; arbiters],
            weights: vec![1; lanes],
            left: vec![1; lanes],
            rates: vec![0.0; lanes],
        }
    }

    /// The arbiter of the input port behind a link.
    #[inline]
    pub(super) fn at_input(&self, link: usize) -> usize {
        self.links + link
    }

    /// K1 to K3: the lane that goes, of those that can.
    #[inline]
    pub(super) fn name(&self, arbiter: usize, eligible: [u64; LEVELS]) -> Option<Named> {
        let [control, real_time, best_effort] = eligible;
        let Arbiter { has_left, real_time: last, best_effort: last_below, high, limit, .. } =
            self.arbiters[arbiter];
        let meets_best_effort = best_effort != 0;
        let named = |place: u32, level: usize| Some(Named { place, level, meets_best_effort });
        if control != 0 {
            return named(control.trailing_zeros(), 0);
        }
        if meets_best_effort && (real_time == 0 || high + 1 >= limit) {
            return named(next_after(best_effort, last_below), 2);
        }
        if real_time == 0 {
            return None;
        }
        let goes_on = real_time & has_left & 1 << last != 0;
        let place = match self.pointer {
            Pointer::Slow if goes_on => u32::from(last),
            Pointer::Slow => next_after(real_time, last),
            Pointer::Fast if real_time & has_left != 0 => next_after(real_time & has_left, last),
            Pointer::Fast => next_after(real_time, last),
        };
        named(place, 1)
    }

    /// The lane that was named sends its flit.
    #[inline]
    pub(super) fn moves(&mut self, number: usize, named: Named) {
        let Named { place, level, meets_best_effort } = named;
        let arbiter = &mut self.arbiters[number];
        match level {
            0 => {}
            1 => {
                arbiter.high += u32::from(meets_best_effort);
                let bit = 1 << place;
                let first = number << self.shift;
                let goes_on = self.pointer == Pointer::Fast || u32::from(arbiter.real_time) == place;
                if arbiter.has_left & bit == 0 || !goes_on {
                    self.reload(number, place);
                }
                let arbiter = &mut self.arbiters[number];
                let left = &mut self.left[first + place as usize];
                *left -= 1;
                arbiter.has_left = arbiter.has_left & !bit | u64::from(*left > 0) << place;
                arbiter.real_time = place as u8;
            }
            _ => (arbiter.high, arbiter.best_effort) = (0, place as u8),
        }
    }

    /// K3: a lane gets its weight anew, with the fast pointer all do.
    #[inline]
    fn reload(&mut self, number: usize, place: u32) {
        let first = number << self.shift;
        let lanes = first..first + (1 << self.shift);
        let arbiter = &mut self.arbiters[number];
        match self.pointer {
            Pointer::Fast => {
                self.left[lanes.clone()].copy_from_slice(&self.weights[lanes]);
                arbiter.has_left = self.real_time;
            }
            Pointer::Slow => {
                let lane = first + place as usize;
                self.left[lane] = self.weights[lane];
            }
        }
    }

    /// K4, K5: an arbiter counts with a connection from now on, or no longer.
    pub(super) fn book(&mut self, booking: &Booking) {
        let link = booking.link as usize;
        let number = if booking.at_input { self.at_input(link) } else { link };
        let first = number << self.shift;
        let booked = first + usize::from(booking.channel);
        self.rates[booked] += booking.mean;
        let arbiter = &mut self.arbiters[number];
        arbiter.peak += booking.peak;
        arbiter.limit = limit(arbiter.peak);
        let sum: f64 = self.rates[first..first + (1 << self.shift)].iter().sum();
        let mut lanes = self.real_time;
        while lanes != 0 {
            let lane = first + lanes.trailing_zeros() as usize;
            lanes &= lanes - 1;
            let weight = match self.frame {
                _ if self.rates[lane] < NO_RATE => 1.0,
                Frame::Shared(flits) => flits * self.rates[lane] / sum,
                Frame::OfLink(_) if lane != booked => continue,
                Frame::OfLink(flits) => flits * self.rates[lane],
            };
            self.weights[lane] = (weight.round() as u32).max(1);
            self.left[lane] = self.left[lane].min(self.weights[lane]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn best_effort_is_sure_of_one_flit_in_a_limit() {
        assert_eq!([0.0, 0.5, 0.75, 0.9, 0.999, 1.0, 1.5].map(limit), [1, 2, 4, 10, 255, 255, 255]);
    }

    #[test]
    fn the_next_lane_is_found_around_the_end() {
        assert_eq!([next_after(0b1011, 0), next_after(0b1011, 1), next_after(0b1011, 3)], [1, 3, 0]);
        assert_eq!([next_after(1 << 63 | 4, 2), next_after(1 << 63 | 4, 63)], [63, 2]);
    }
}
