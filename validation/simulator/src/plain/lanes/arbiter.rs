//! Who goes first where lanes meet: control, connections by weights, and best effort that is sure of a part (K1 to K5).

use flitwise_language::scenario::{Pointer, WeightFrame};

use super::settings::Settings;
use crate::Booking;

/// K2: levels of lanes, as those of classes.
pub(super) const CONTROL: usize = 0;
pub(super) const REAL_TIME: usize = 1;
pub(super) const BEST_EFFORT: usize = 2;

/// Flits of a large frame.
const LARGE_FRAME: f64 = 16320.0;
/// K4: a lane whose connections send less in all has none \[flits/cycle\].
const NO_RATE: f64 = 1e-12;
/// K2: the limit where peak rates take the whole link.
const HIGHEST_LIMIT: u64 = 255;

/// The arbiter of a link or of an input port.
pub(super) struct Arbiter {
    /// K2, by lane: `None` of one that stays idle.
    level: Vec<Option<usize>>,
    frame: WeightFrame,
    per_lane: u32,
    pointer: Pointer,
    /// `B_r`.
    real_time_share: f64,
    /// `B_p`.
    peak: f64,
    /// `R_v`, by lane.
    mean: Vec<f64>,
    /// `W_v`, by lane.
    weight: Vec<u64>,
    pub(super) turn: Turn,
}

/// What changes as flits move.
#[derive(Clone)]
pub(super) struct Turn {
    /// Flits of real time since the last of best effort, while best effort waited.
    high: u64,
    /// K1: the real-time lane served last.
    real_time: usize,
    /// K1: the best-effort lane served last.
    best_effort: usize,
    /// By lane: flits that it still has of its weight.
    remainder: Vec<u64>,
}

/// The lane that may send a flit, and the turn from then on if it does.
pub(super) struct Named {
    pub(super) lane: usize,
    pub(super) turn: Turn,
}

/// The next of these lanes cyclically after `last`.
fn next_after(last: usize, lanes: &[usize]) -> usize {
    *lanes.iter().find(|lane| **lane > last).unwrap_or(&lanes[0])
}

impl Arbiter {
    pub(super) fn new(settings: &Settings) -> Self {
        let lanes = settings.level.len();
        let last = lanes - 1;
        Self {
            level: settings.level.clone(),
            frame: settings.weights.frame,
            per_lane: settings.weights.per_lane,
            pointer: settings.weights.pointer,
            real_time_share: settings.real_time_share,
            peak: 0.0,
            mean: vec![0.0; lanes],
            weight: vec![1; lanes],
            turn: Turn { high: 0, real_time: last, best_effort: last, remainder: vec![1; lanes] },
        }
    }

    /// The lanes of a level.
    fn lanes(&self, level: usize) -> Vec<usize> {
        (0..self.level.len()).filter(|lane| self.level[*lane] == Some(level)).collect()
    }

    /// K2.
    fn limit(&self) -> u64 {
        if self.peak >= 1.0 - 1.0 / HIGHEST_LIMIT as f64 {
            return HIGHEST_LIMIT;
        }
        (1.0 / (1.0 - self.peak) - 1e-9).ceil() as u64
    }

    /// The lane that goes first of the eligible ones.
    pub(super) fn name(&self, eligible: &[bool]) -> Option<Named> {
        if !eligible.contains(&true) {
            return None;
        }
        let of_level =
            |level| -> Vec<usize> { self.lanes(level).into_iter().filter(|lane| eligible[*lane]).collect() };
        let mut turn = self.turn.clone();
        if let Some(&lane) = of_level(CONTROL).first() {
            return Some(Named { lane, turn });
        }
        let (real_time, best_effort) = (of_level(REAL_TIME), of_level(BEST_EFFORT));
        if !best_effort.is_empty() && (real_time.is_empty() || turn.high + 1 >= self.limit()) {
            let lane = next_after(turn.best_effort, &best_effort);
            (turn.best_effort, turn.high) = (lane, 0);
            return Some(Named { lane, turn });
        }
        if real_time.is_empty() {
            return None;
        }
        let lane = self.by_weight(&real_time, &mut turn);
        turn.real_time = lane;
        turn.remainder[lane] -= 1;
        turn.high += u64::from(!best_effort.is_empty());
        Some(Named { lane, turn })
    }

    /// K3: the real-time lane that goes first of the eligible ones, which has a remainder then.
    fn by_weight(&self, eligible: &[usize], turn: &mut Turn) -> usize {
        match self.pointer {
            Pointer::Fast => {
                let left = |turn: &Turn| -> Vec<usize> {
                    eligible.iter().copied().filter(|lane| turn.remainder[*lane] > 0).collect()
                };
                if left(turn).is_empty() {
                    self.lanes(REAL_TIME)
                        .into_iter()
                        .for_each(|lane| turn.remainder[lane] = self.weight[lane]);
                }
                next_after(turn.real_time, &left(turn))
            }
            Pointer::Slow => {
                if eligible.contains(&turn.real_time) && turn.remainder[turn.real_time] > 0 {
                    return turn.real_time;
                }
                let lane = next_after(turn.real_time, eligible);
                turn.remainder[lane] = self.weight[lane];
                lane
            }
        }
    }

    /// K5: a connection is admitted, or gives the channel back.
    pub(super) fn book(&mut self, booking: &Booking) {
        let lane = usize::from(booking.channel);
        assert_eq!(self.level[lane], Some(REAL_TIME), "a connection on a lane of another class");
        self.mean[lane] += booking.mean;
        self.peak += booking.peak;
        match self.frame {
            WeightFrame::Large => {
                let share = if self.real_time_share > 0.0 { self.real_time_share } else { 1.0 };
                self.set_weight(lane, LARGE_FRAME * self.mean[lane] / share);
            }
            WeightFrame::Small | WeightFrame::Flits(_) => {
                let lanes = self.lanes(REAL_TIME);
                let frame = match self.frame {
                    WeightFrame::Flits(flits) => f64::from(flits),
                    _ => f64::from(self.per_lane) * lanes.len() as f64,
                };
                let all: f64 = lanes.iter().map(|lane| self.mean[*lane]).sum();
                for lane in lanes {
                    let mean = self.mean[lane];
                    self.set_weight(lane, if mean < NO_RATE { 1.0 } else { frame * mean / all });
                }
            }
        }
    }

    /// K4: a weight is whole and at least 1; remainders are cut to it and not raised.
    fn set_weight(&mut self, lane: usize, weight: f64) {
        self.weight[lane] = (weight.round() as u64).max(1);
        self.turn.remainder[lane] = self.turn.remainder[lane].min(self.weight[lane]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flitwise_language::scenario::WeightsSpec;

    /// Two real-time lanes and two of best effort.
    fn arbiter(frame: WeightFrame, pointer: Pointer, rates: [f64; 2]) -> Arbiter {
        let level =
            vec![Some(REAL_TIME), Some(REAL_TIME), Some(BEST_EFFORT), Some(BEST_EFFORT), Some(CONTROL)];
        let settings = Settings::of_arbiter(level, WeightsSpec { frame, per_lane: 4, pointer }, 0.5);
        let mut arbiter = Arbiter::new(&settings);
        for (channel, mean) in rates.into_iter().enumerate().filter(|(_, mean)| *mean > 0.0) {
            arbiter.book(&booking(channel, mean, 0.0));
        }
        arbiter
    }

    fn booking(channel: usize, mean: f64, peak: f64) -> Booking {
        Booking { cycle: 0, link: 0, at_input: false, channel: channel as u8, mean, peak }
    }

    /// The lanes of so many flits while these lanes are eligible.
    fn served(arbiter: &mut Arbiter, eligible: [bool; 5], flits: usize) -> Vec<usize> {
        let mut serve = |_| {
            let Named { lane, turn } = arbiter.name(&eligible).unwrap();
            arbiter.turn = turn;
            lane
        };
        (0..flits).map(&mut serve).collect()
    }

    #[test]
    fn weights_are_the_nearest_whole_numbers() {
        let of = |rates, frame| arbiter(frame, Pointer::Fast, rates).weight[..2].to_vec();
        assert_eq!(of([0.1, 0.2], WeightFrame::Flits(6)), [2, 4]);
        assert_eq!(of([0.101, 0.2], WeightFrame::Flits(6)), [2, 4]);
        assert_eq!(of([0.101, 0.2], WeightFrame::Flits(301)), [101, 200]);
        assert_eq!(of([0.1, 0.2], WeightFrame::Small), [3, 5]);
        assert_eq!(of([0.1, 0.0], WeightFrame::Small), [8, 1]);
        assert_eq!(of([0.1, 0.2], WeightFrame::Large), [3264, 6528]);
    }

    #[test]
    fn lanes_take_turns_by_weight() {
        let both = [true, true, false, false, false];
        for (flits, pointer, expected) in [
            (3, Pointer::Slow, vec![0, 1, 1]),
            (3, Pointer::Fast, vec![0, 1, 1]),
            (6, Pointer::Slow, vec![0, 0, 1, 1, 1, 1]),
            (6, Pointer::Fast, vec![0, 1, 0, 1, 1, 1]),
        ] {
            let mut arbiter = arbiter(WeightFrame::Flits(flits), pointer, [0.1, 0.2]);
            let first = if pointer == Pointer::Slow { 0 } else { 2 };
            served(&mut arbiter, both, first);
            assert_eq!(served(&mut arbiter, both, 2 * flits as usize), expected.repeat(2), "{pointer:?}");
        }
    }

    #[test]
    fn best_effort_is_sure_of_a_flit_in_limit() {
        for (peak, limit) in [(0.0, 1), (0.5, 2), (0.75, 4), (0.9, 10), (0.996, 250), (1.0, 255), (1.5, 255)]
        {
            let mut arbiter = arbiter(WeightFrame::Small, Pointer::Fast, [0.0, 0.0]);
            arbiter.book(&booking(0, 0.0, peak));
            assert_eq!(arbiter.limit(), limit, "{peak}");
            let served = served(&mut arbiter, [true, true, true, true, false], 2 * limit as usize);
            let at = |lane| served.iter().position(|one| *one == lane);
            assert_eq!((at(2), at(3)), (Some(limit as usize - 1), Some(2 * limit as usize - 1)));
        }
        let mut arbiter = arbiter(WeightFrame::Small, Pointer::Fast, [0.0, 0.0]);
        assert_eq!(served(&mut arbiter, [true; 5], 3), [4, 4, 4]);
    }
}
