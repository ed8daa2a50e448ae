//! What RECN costs: the dip until a tree is detected, and the lines that it takes.

use super::{HotSpot, TreeGrowth};
use crate::network::SIDE;

/// From detection until the queues are set aside along the tree \[ns\].
const SETTING_ASIDE_NS: f64 = 1000.0;

/// Time in which the loss at the onset is taken \[ns\].
const ONSET_NS: [f64; 2] = [3000.0, 20_000.0];

/// The dip of a hot spot under RECN.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dip {
    /// What uniform traffic loses meanwhile, in links.
    pub depth: f64,
    /// From the start of the hot spot \[ns\].
    pub length_ns: f64,
}

/// The dip until the trees of a hot spot are detected at a length of queue, in the time of a link \[ns\].
///
/// Until then RECN is one queue. An egress of the first stage fills at what comes in beyond its link:
///
/// ```text
/// T = D / (min(s, c ρ_h + v ρ / k) - 1) + 1 us
/// ```
///
/// and the loss is that of one queue without bound. No egress fills where no more comes in than goes out: then there is
/// neither a dip nor a tree.
pub fn dip(growth: &TreeGrowth, detection: f64) -> Option<Dip> {
    let HotSpot { hosts, hot, victims, rate } = growth.spot;
    let inflow = f64::from(hot) * growth.hot_rate + f64::from(victims) * rate / f64::from(SIDE);
    let beyond = inflow.min(growth.speedup) - 1.0;
    if hot == 0 || beyond <= 1e-9 {
        return None;
    }
    let step = 250.0;
    let unbounded = TreeGrowth { hot: [0.0, f64::INFINITY], memory: 1e12, voq: false, stays: 0.0, ..*growth };
    let onset = unbounded.run(step, (ONSET_NS[1] / step) as u32);
    let onset = &onset[(ONSET_NS[0] / step) as usize..];
    let random = onset.iter().map(|one| one.random).sum::<f64>() / onset.len() as f64;
    let to_others = 1.0 - f64::from(SIDE).powi(-(growth.stages as i32));
    let offered = f64::from(victims * (hosts / SIDE)) * rate * to_others;
    let depth = (offered - random).max(0.0);
    Some(Dip { depth, length_ns: detection / beyond + SETTING_ASIDE_NS })
}

/// The most lines that the tree of one hot host holds, in all ports together.
///
/// ```text
/// 2 Σ_(s < S) N 4^-s
/// ```
///
/// A line at a port names a root behind it, and the way there is unique: a port holds no more lines than there are
/// roots whose trees pass it.
///
/// ```
/// # use flitwise_models::recn::lines_of_a_tree;
/// assert_eq!([(64, 3), (256, 4), (512, 5)].map(|(n, s)| lines_of_a_tree(n, s)), [168, 680, 1364]);
/// ```
pub fn lines_of_a_tree(hosts: u32, stages: u32) -> u32 {
    (0..stages).map(|stage| 2 * (hosts >> (2 * stage))).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dips_of_the_corner_cases() {
        let of = |rate, detection| {
            let spot = HotSpot { hosts: 64, hot: 1, victims: 3, rate };
            let (hot, stays) = ([0.0, 170e3], 0.0);
            let growth = TreeGrowth {
                spot,
                stages: 3,
                hot_rate: 1.0,
                speedup: 1.5,
                memory: 131072.0,
                voq: false,
                hot,
                stays,
            };
            dip(&growth, detection).unwrap()
        };
        for (rate, depth, lengths) in [(0.5, 3.9, [3.7, 6.5, 11.9]), (1.0, 7.2, [3.0, 5.1, 9.2])] {
            for (detection, length) in [1024.0, 2048.0, 4096.0].into_iter().zip(lengths) {
                let found = of(rate, detection);
                assert!((found.length_ns / 1e3 - length).abs() < 0.06, "{rate} {found:?}, not {length}");
                assert!((found.depth - depth).abs() < 0.2, "{rate} {found:?}, not {depth}");
            }
        }
    }
}
