//! Where the switches of a network without coordinates stand. A topology is laid out here and drawn by one routine.

use flitwise_language::network::Topology;

use super::{DiagramRow, springs};

/// Most switches whose places follow from distances between all pairs.
const MOST_SPRINGS: u32 = 512;
/// Most switches of a level: more would fall on each other.
const MOST_IN_ROW: usize = 1024;

/// How switches are placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrangement {
    /// In rows, the leaves of a tree below and its top above; a switch alone, too.
    Levels,
    /// As springs put them that are as long as the way between two switches.
    Springs,
}

impl Arrangement {
    /// That of a network without coordinates.
    pub(crate) fn of(network: &dyn Topology) -> Self {
        if network.rows() > 1 || network.routers() == 1 { Self::Levels } else { Self::Springs }
    }

    /// What is too large for it: the number found, what it is of, and the largest allowed.
    pub(crate) fn refusal(self, network: &dyn Topology) -> Option<(u32, &'static str, u32)> {
        let (found, of, most) = match self {
            Self::Levels => {
                let widest = rows_of(network).iter().map(Vec::len).max().unwrap_or(0);
                (widest as u32, "switches in a row", MOST_IN_ROW as u32)
            }
            Self::Springs => (network.routers(), "switches", MOST_SPRINGS),
        };
        (found > most).then_some((found, of, most))
    }
}

/// Places of switches as shares of width and height, from the lower left.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Layout {
    /// By switch.
    pub(crate) places: Vec<(f64, f64)>,
    /// By switch: the direction in which its nodes stand, of length 1, the second part up.
    pub(crate) outward: Vec<(f64, f64)>,
    /// Height as a share of the width.
    pub(crate) height: f64,
    /// Rows from below; none of springs.
    pub(crate) rows: Vec<DiagramRow>,
}

impl Layout {
    /// That of a network whose switches are joined by `links`, pairs of switches.
    pub(crate) fn new(network: &dyn Topology, links: &[(u32, u32)]) -> Self {
        match Arrangement::of(network) {
            Arrangement::Levels => Self::levels(network),
            Arrangement::Springs => Self::springs(network.routers() as usize, links),
        }
    }

    /// Every row over the whole width, its switches in the order of their numbers.
    fn levels(network: &dyn Topology) -> Self {
        let (rows, last) = (rows_of(network), network.rows().saturating_sub(1));
        let count = network.routers() as usize;
        let mut layout = Self {
            places: vec![(0.5, 0.5); count],
            outward: vec![(0.0, -1.0); count],
            height: if last == 0 { 0.05 } else { (0.2 + 0.2 * f64::from(last)).min(1.2) },
            rows: Vec::new(),
        };
        for (row, switches) in (0..).zip(&rows) {
            let y = if last == 0 { 0.5 } else { f64::from(row) / f64::from(last) };
            for (at, switch) in switches.iter().enumerate() {
                layout.places[*switch] = ((at as f64 + 0.5) / switches.len() as f64, y);
                if row > 0 {
                    layout.outward[*switch] = (0.0, 1.0);
                }
            }
            let name = if last == 0 { String::new() } else { network.row_name(row) };
            layout.rows.push(DiagramRow { name, y, switches: switches.len() as u32 });
        }
        layout
    }

    /// Neighbours are about a link apart, other switches as far as the shortest way between them.
    pub(crate) fn springs(count: usize, links: &[(u32, u32)]) -> Self {
        let neighbours = springs::neighbours(count, links);
        let (places, height) = springs::fitted(springs::places(&neighbours));
        let outward = (0..count).map(|switch| {
            let from = places[switch];
            let way = |to: &usize| ((places[*to].1 - from.1) * height).atan2(places[*to].0 - from.0);
            free_direction(neighbours[switch].iter().map(way).collect())
        });
        Self { outward: outward.collect(), places, height, rows: Vec::new() }
    }
}

/// The switches of each row.
fn rows_of(network: &dyn Topology) -> Vec<Vec<usize>> {
    let mut rows = vec![Vec::new(); network.rows().max(1) as usize];
    for switch in 0..network.routers() {
        rows[network.row(switch) as usize].push(switch as usize);
    }
    rows
}

/// The middle of the widest gap between angles; down where there are none.
fn free_direction(mut angles: Vec<f64>) -> (f64, f64) {
    use std::f64::consts::{FRAC_PI_2, TAU};
    angles.sort_by(f64::total_cmp);
    let Some(first) = angles.first().copied() else { return (0.0, -1.0) };
    let next = angles.iter().skip(1).copied().chain([first + TAU]);
    let gaps = angles.iter().zip(next).map(|(one, other)| (other - one, (one + other) / 2.0));
    // of equal gaps the first, but for rounding
    let (_, middle) =
        gaps.fold((0.0, -FRAC_PI_2), |most, gap| if gap.0 > most.0 + 1e-9 { gap } else { most });
    (middle.cos(), middle.sin())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds::network_diagram::springs::SplitMix;

    /// All places are numbers within the picture, and no two are one.
    fn assert_sound(layout: &Layout, what: &str) {
        assert!(layout.height.is_finite() && (0.05..=1.5).contains(&layout.height), "{what}");
        for (x, y) in &layout.places {
            assert!((0.0..=1.0).contains(x) && (0.0..=1.0).contains(y), "{what}: {x} {y}");
        }
        for (x, y) in &layout.outward {
            assert!((x.hypot(*y) - 1.0).abs() < 1e-9, "{what}: {x} {y}");
        }
        let mut sorted = layout.places.clone();
        sorted.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.total_cmp(&other.1)));
        for pair in sorted.windows(2) {
            let apart = (pair[1].0 - pair[0].0).hypot(pair[1].1 - pair[0].1);
            assert!(apart > 1e-4, "{what}: {pair:?}");
        }
    }

    /// Paths, rings, stars, complete and bipartite graphs, grids, graphs in two pieces, and graphs that are drawn.
    #[test]
    fn springs_keep_switches_apart() {
        let mut drawn = SplitMix(1);
        for count in [1_u32, 2, 3, 4, 5, 8, 13, 40, 90] {
            let pairs = |is_link: &dyn Fn(u32, u32) -> bool| -> Vec<(u32, u32)> {
                let all = (0..count).flat_map(|from| (0..from).map(move |to| (from, to)));
                all.filter(|(from, to)| is_link(*from, *to)).collect()
            };
            let random: Vec<(u32, u32)> =
                (1..count).map(|from| (from, (drawn.next() % u64::from(from)) as u32)).collect();
            for (what, links) in [
                ("nothing", vec![]),
                ("path", pairs(&|from, to| from - to == 1)),
                ("ring", pairs(&|from, to| from - to == 1 || from - to == count - 1)),
                ("star", pairs(&|_, to| to == 0)),
                ("complete", pairs(&|_, _| true)),
                ("bipartite", pairs(&|from, to| from % 2 != to % 2)),
                ("twins", pairs(&|_, to| to < 2)),
                ("grid", pairs(&|from, to| from - to == 8 || from - to == 1 && from % 8 > 0)),
                ("two pieces", pairs(&|from, to| from - to == 2)),
                ("random tree", random),
            ] {
                let layout = Layout::springs(count as usize, &links);
                assert_sound(&layout, &format!("{what} of {count}"));
                assert_eq!(layout, Layout::springs(count as usize, &links), "{what} of {count}");
            }
        }
    }

    #[test]
    fn nodes_stand_where_no_links_are() {
        let (x, y) = free_direction(vec![0.0, 1.0]);
        assert!(x < -0.8 && y < -0.4, "{x} {y}");
        let (x, y) = free_direction(vec![3.0]);
        assert!(x > 0.98 && y.abs() < 0.2, "{x} {y}");
        assert_eq!(free_direction(vec![]), (0.0, -1.0));
    }
}
