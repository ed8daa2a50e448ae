//! What a multiplexer of lanes gives a lane: weighted round robin over flits, with a limit for real time.
//!
//! A real-time lane of weight `W` beside others of weights `W_u` is served `W` flits in a round. The *slow* pointer
//! serves them on end, the *fast* one goes on after each flit. Both are work-conserving; worst times are those of a
//! server whose other lanes are backlogged (latency-rate servers: Stiliadis and Varma, IEEE/ACM Trans. Networking 6
//! (1998) 611; interleaved round robin: Tabatabaee, Le Boudec and Boyer, RTAS 2021).

use super::problem::{Class, Loads, Problem};
pub use flitwise_language::scenario::Pointer;
use flitwise_language::scenario::{ClassKind, Scenario, WeightFrame};
use flitwise_language::section::{Cell, Layout, Section};

/// The largest limit of high priority; a number, not "no limit".
pub const LIMIT_MAX: u32 = 255;

/// Real-time flits that pass in a row while best effort waits, plus one: best effort is sure of one flit in so many.
/// `peak_rates` is the sum of the peak rates of the channel's connections \[flits/cycle\].
///
/// ```
/// use flitwise_models::admission::lane_shares::high_priority_limit;
///
/// assert_eq!([0.0, 0.5, 0.8, 0.9, 1.3].map(high_priority_limit), [1, 2, 5, 10, 255]);
/// ```
pub fn high_priority_limit(peak_rates: f64) -> u32 {
    let left = 1.0 - peak_rates.max(0.0);
    if left <= 1.0 / f64::from(LIMIT_MAX) {
        return LIMIT_MAX;
    }
    // ceil(1 / (1 - B_p)); 1 / (1 - 0.9) is 10, whatever rounding makes of it
    (1.0 / left - 1e-9).ceil() as u32
}

/// Weight of a lane: its share of a frame of `frame` flits, to the nearest flit and at least 1. `rate` is the sum of
/// the mean rates of its connections, `all` that of all lanes (small frames) or the real-time share of the link
/// (large ones).
pub fn weight(frame: u32, rate: f64, all: f64) -> u32 {
    // W_v = max(1, nearest(F R_v / Σ R)); what is not a number becomes 0
    ((f64::from(frame) * rate / all).round() as u32).max(1)
}

/// A lane and those that it shares a channel with.
#[derive(Clone, Debug, PartialEq)]
pub struct LaneShare {
    /// `W`; at least 1.
    pub weight: u32,
    /// `W_u`: weights of the other lanes.
    pub others: Vec<u32>,
}

impl LaneShare {
    /// `W + Σ W_u`: flits of a round \[flits\].
    pub fn round(&self) -> u64 {
        u64::from(self.weight) + self.others.iter().map(|other| u64::from(*other)).sum::<u64>()
    }

    /// `W / (W + Σ W_u)`: share of the channel while all lanes are backlogged.
    pub fn share(&self) -> f64 {
        f64::from(self.weight) / self.round() as f64
    }

    /// Longest time until `flits` flits that are there have gone \[cycles\].
    ///
    /// ```
    /// use flitwise_models::admission::lane_shares::{LaneShare, Pointer, weight};
    ///
    /// let eleven = |frame| {
    ///     let weight = weight(frame, 1.0, 11.0);
    ///     let lane = LaneShare { weight, others: vec![weight; 10] };
    ///     [Pointer::Fast, Pointer::Slow].map(|pointer| lane.worst_time(40, pointer))
    /// };
    /// assert_eq!((eleven(44), eleven(16_320)), ([440, 440], [440, 14_880]));
    /// ```
    pub fn worst_time(&self, flits: u64, pointer: Pointer) -> u64 {
        let weight = u64::from(self.weight.max(1));
        let Some(before_last) = flits.checked_sub(1) else { return 0 };
        let (rounds, last) = (before_last / weight, before_last % weight + 1);
        let others = self.others.iter().map(|other| u64::from(*other));
        let waiting: u64 = match pointer {
            // Σ W_u + j
            Pointer::Slow => others.sum(),
            // Σ (max(W_u - W, 0) + min(W_u, j)) + j
            Pointer::Fast => others.map(|other| other.saturating_sub(weight) + other.min(last)).sum(),
        };
        (rounds.saturating_mul(self.round())).saturating_add(waiting + last)
    }
}

/// The same with best effort backlogged, which takes one flit in `limit`; none where the limit leaves nothing.
pub fn behind_best_effort(time: u64, limit: u32) -> Option<u64> {
    // ceil(t limit / (limit - 1))
    let real_time = u64::from(limit).checked_sub(1).filter(|flits| *flits > 0)?;
    Some(time.saturating_mul(u64::from(limit)).div_ceil(real_time))
}

/// Mean time of a packet of `message_flits` flits on a channel of lanes that hold one packet each, at this load; none
/// at load 1 and above. A fast pointer shares the channel among packets, a slow one whose weight is a packet serves
/// them one after another: the shorter mean and the longer tail.
pub fn mean_time(message_flits: f64, load: f64, pointer: Pointer) -> Option<f64> {
    let served = match pointer {
        // processor sharing: M / (1 - ρ)
        Pointer::Fast => message_flits / (1.0 - load),
        // M/D/1: M + M ρ / (2 (1 - ρ))
        Pointer::Slow => message_flits + message_flits * load / (2.0 * (1.0 - load)),
    };
    (load < 1.0).then_some(served)
}

/// Mean time of a real-time packet through one router whose multiplexed crossbar it shares with best effort, at this
/// total load, \[cycles\]: `P - 1 + M / (1 - ρ)`. Measured are 116 for 104 and 199 for 204 at loads 0.6 and 0.8.
pub fn crossbar_latency(stages: f64, message_flits: f64, load: f64) -> Option<f64> {
    mean_time(message_flits, load, Pointer::Fast).map(|served| stages - 1.0 + served)
}

/// Flits of a large frame: 255 entries of 64 flits.
const LARGE_FRAME: u32 = 255 * 64;

/// What the lanes of connections get at the link that they take most of; none without connections.
///
/// Connections are spread evenly over the lanes of their class, so that all lanes have the same weight.
pub(super) fn section(scenario: &Scenario, problem: &Problem, loads: &Loads) -> Option<Section> {
    let has_connections = |class: &Class| class.kind == ClassKind::RealTime && class.connections.is_some();
    let place = problem.classes.iter().position(has_connections)?;
    let (class, connections) = (&problem.classes[place], problem.classes[place].connections?);
    let spec = scenario.router().weights();
    let real_time = &loads[ClassKind::RealTime.level()];
    let channel = (0..real_time.len()).max_by(|one, other| real_time[*one].total_cmp(&real_time[*other]))?;
    let (load, lanes) = (real_time[channel], scenario.virtual_channels()[place].len().max(1) as u32);
    let each = load / f64::from(lanes);
    let weight = match spec.frame {
        WeightFrame::Small => weight(spec.per_lane.saturating_mul(lanes), each, load),
        WeightFrame::Flits(flits) => weight(flits, each, load),
        WeightFrame::Large => {
            let share = scenario.spec().real_time_share();
            weight(LARGE_FRAME, each, if share > 0.0 { share } else { 1.0 })
        }
    };
    let weight = if load > 0.0 { weight } else { 1 };
    let limit = high_priority_limit(load * connections.peak / connections.mean);
    let lane = LaneShare { weight, others: vec![weight; lanes as usize - 1] };
    let time = lane.worst_time(class.flits.round() as u64, spec.pointer);
    let title = "Lanes of connections at the link that they take most of";
    let section = Section::new("lanes", title, Layout::Record)
        .with("link", "link", "", problem.words(channel).as_str())
        .with("load", "its load of connections", "flits/cycle", load)
        .with("lanes", "lanes", "", Cell::Count(u64::from(lanes)))
        .with("weight_flits", "weight of each", "flits", Cell::Count(u64::from(weight)))
        .with("share", "share of a lane, all backlogged", "", lane.share())
        .with("limit", "one flit of best effort in", "flits", Cell::Count(u64::from(limit)))
        .with("worst_time_cycles", "a message, all lanes backlogged, at most", "cycles", Cell::Count(time));
    let beside = behind_best_effort(time, limit).map(Cell::Count).unwrap_or(Cell::None);
    let section = section.with("worst_time_beside_cycles", "best effort backlogged, too", "cycles", beside);
    let mean = mean_time(class.flits, load, spec.pointer);
    Some(section.with("mean_time_cycles", "a message at this load, mean", "cycles", mean))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_nearest_and_at_least_one() {
        assert_eq!([101.0, 200.0].map(|rate| weight(6, rate, 301.0)), [2, 4]);
        assert_eq!([weight(44, 0.0, 1.0), weight(44, 0.0, 0.0), weight(44, 1.0, 0.0)], [1, 1, u32::MAX]);
        assert_eq!(weight(16_320, 0.02, 0.8), 408);
    }

    #[test]
    fn limits_hold_at_the_ends() {
        assert_eq!(high_priority_limit(1.0 - 1.0 / 255.0), 255);
        assert_eq!(high_priority_limit(1.0 - 1.0 / 200.0), 200);
        assert_eq!([f64::INFINITY, -1.0].map(high_priority_limit), [255, 1]);
        assert_eq!(
            [(100, 5), (0, 2), (7, 1), (7, 0)].map(|(t, limit)| behind_best_effort(t, limit)),
            [Some(125), Some(0), None, None]
        );
    }

    /// Serves lanes that are all backlogged, from the worst moment on: the lane's turn has just passed.
    fn served(lane: &LaneShare, flits: u64, pointer: Pointer) -> u64 {
        let (mut left, mut time) = (flits, 0);
        loop {
            // others spend their weights, then the lane does; the fast pointer takes them in turn
            let longest = lane.others.iter().copied().chain([lane.weight]).max().unwrap_or(1);
            let turns: Vec<(u32, bool)> = match pointer {
                Pointer::Slow => vec![(lane.others.iter().sum(), false), (lane.weight, true)],
                Pointer::Fast => (0..longest)
                    .flat_map(|turn| {
                        let others = lane.others.iter().filter(|other| **other > turn).count() as u32;
                        [(others, false), (u32::from(lane.weight > turn), true)]
                    })
                    .collect(),
            };
            for (flits, own) in turns {
                for _ in 0..flits {
                    time += 1;
                    left -= u64::from(own);
                    if left == 0 {
                        return time;
                    }
                }
            }
        }
    }

    #[test]
    fn worst_times_bound_what_a_round_takes() {
        for (weight, others) in [(4, vec![4; 10]), (3, vec![1, 7, 2]), (5, vec![]), (1, vec![9])] {
            let lane = LaneShare { weight, others };
            for flits in 1..30 {
                let (fast, slow) =
                    (lane.worst_time(flits, Pointer::Fast), lane.worst_time(flits, Pointer::Slow));
                assert_eq!(slow, served(&lane, flits, Pointer::Slow));
                assert!(fast >= served(&lane, flits, Pointer::Fast), "{lane:?} {flits}");
                assert!(fast <= slow, "{lane:?} {flits}");
            }
            assert_eq!(lane.worst_time(0, Pointer::Fast), 0);
        }
        assert_eq!(LaneShare { weight: 1, others: vec![1, 2] }.share(), 0.25);
    }

    #[test]
    fn mean_times_are_those_of_the_chapter() {
        assert_eq!(format!("{:.1}", crossbar_latency(5.0, 40.0, 0.6).unwrap()), "104.0");
        assert_eq!(format!("{:.1}", crossbar_latency(5.0, 40.0, 0.8).unwrap()), "204.0");
        assert_eq!(mean_time(40.0, 0.0, Pointer::Fast), Some(40.0));
        assert_eq!(mean_time(40.0, 0.5, Pointer::Slow), Some(60.0));
        assert_eq!(mean_time(40.0, 1.0, Pointer::Slow), None);
    }
}
