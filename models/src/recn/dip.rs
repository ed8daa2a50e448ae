//! What RECN costs: the dip until a tree is detected.

use super::TreeGrowth;

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
/// T = D / (min(s, λ) - 1) + 1 us,    λ = c ρ_h + v ρ / k with c hot hosts and v others at every switch
/// ```
///
/// where other placements take the switch for whose link into the tree the least comes in beyond its rate, and the loss
/// is that of one queue without bound. No egress fills where no more comes in than goes out: then there is neither a
/// dip nor a tree.
pub fn dip(growth: &TreeGrowth<'_>, detection: f64) -> Option<Dip> {
    let tree = growth.tree;
    let beyond = tree.least_excess()?.min(growth.speedup) - 1.0;
    if tree.senders.hot.is_empty() || beyond <= 1e-9 {
        return None;
    }
    let step = 250.0;
    let unbounded =
        TreeGrowth { hot: [0.0, f64::INFINITY], memory: 1e12, voq: false, stays: 0.0, ..growth.clone() };
    let onset = unbounded.run(step, (ONSET_NS[1] / step) as u32);
    let onset = &onset[(ONSET_NS[0] / step) as usize..];
    let random = onset.iter().map(|one| one.random).sum::<f64>() / onset.len() as f64;
    let depth = (tree.to_others() - random).max(0.0);
    Some(Dip { depth, length_ns: detection / beyond + SETTING_ASIDE_NS })
}

#[cfg(test)]
mod tests {
    use super::super::congestion_tree::omega;
    use super::*;

    #[test]
    fn dips_of_the_corner_cases() {
        let of = |rate, detection| {
            let tree = omega(64, rate, 1.0);
            let (hot, stays) = ([0.0, 170e3], 0.0);
            let growth = TreeGrowth {
                tree: &tree,
                speedup: 1.5,
                memory: 131072.0,
                voq: false,
                packet: 64.0,
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
