//! Where anchors go.
//!
//! First the place of the highest load and the outermost corners, then always the place at which the widest interval
//! of a network latency is expected; those far beyond the anchors of a class come before all others. It ends when all
//! of them are narrow enough, or when there are as many anchors as are allowed. The interval depends on where anchors
//! are and on how the model's errors vary, both of which are known by then; without errors known it is widest where
//! anchors are farthest.

use std::cmp::Ordering;

use flitwise_language::scenario::Scenario;

use super::correct::Reach;
use super::hull::square;
use super::{Anchor, Anchored, FINER, Place, load_share};
use flitwise_experiment::answer::Simulation;

/// What is wanted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wish {
    /// The most anchors.
    pub most: usize,
    /// Half of the widest interval of a network latency, as a share of it.
    pub precision: f64,
    /// That of the simulations of anchors.
    pub of_anchors: f64,
    /// Whether all places may be simulated where that costs no more.
    pub may_be_all: bool,
}

impl Wish {
    /// So many anchors, each simulated more precisely than is wanted.
    pub fn new(most: usize, precision: f64) -> Self {
        Self { most, precision, of_anchors: FINER * precision, may_be_all: false }
    }

    /// As many anchors as a family of so many axes gets where nothing else is said.
    pub fn usual(axes: usize, precision: f64) -> Self {
        Self { may_be_all: true, ..Self::new(3 * axes + 2, precision) }
    }

    /// What costs least among so many places: where the fewest anchors would cost as much as simulations of all
    /// places, these are simulated, as precisely as is wanted.
    #[must_use]
    pub fn among(self, places: usize, axes: usize) -> Self {
        if !self.may_be_all || places as f64 * (FINER * FINER) > fewest(axes) as f64 {
            return self;
        }
        Self { most: places, of_anchors: self.precision, ..self }
    }

    /// Whether every one of so many places is simulated.
    pub fn is_of_all(&self, places: usize) -> bool {
        self.most >= places && self.of_anchors >= self.precision
    }
}

/// The fewest anchors of a family of so many axes: the least that span it, and one more to judge by.
pub fn fewest(axes: usize) -> usize {
    axes + 2
}

/// Distance from the anchors, in lengths of axes, beyond which a place gets one, however narrow its interval is.
const FAR: f64 = 0.1;

/// Why no more anchors were placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// All intervals are expected to be as narrow as is wanted.
    Precise,
    /// There are as many anchors as are allowed.
    Budget,
    /// Every place is an anchor, or lies beyond saturation.
    Exhausted,
    /// It was interrupted.
    Interrupted,
}

/// Anchors that were placed.
#[derive(Clone, Debug)]
pub struct AnchorPlacement {
    /// What was learnt from them.
    pub anchored: Anchored,
    /// Why there are no more.
    pub stopped: StopReason,
    /// Half of the widest interval of a network latency that is expected at any of the places, as a share of it.
    pub widest: Option<f64>,
}

/// Places anchors among the places of a family. `simulate` is told how many anchors there are already; it gives `None`
/// if it was interrupted.
pub fn place(
    places: &[Place],
    wish: &Wish,
    simulate: &mut dyn FnMut(usize, &Scenario) -> Option<Simulation>,
) -> AnchorPlacement {
    let mut left: Vec<usize> = (0..places.len()).filter(|at| sends_steadily(&places[*at])).collect();
    let mut first = outermost(places, &left, wish.most);
    let mut anchors: Vec<Anchor> = Vec::new();
    loop {
        let anchored = Anchored::learnt(anchors.clone());
        let next = match first.pop() {
            Some(at) => Some((at, Urgency { is_beyond: true, width: f64::MAX })),
            None => {
                let needs = left.iter().filter_map(|at| Some((*at, need(&anchored, &places[*at])?)));
                needs.max_by(|a, b| a.1.compare(&b.1))
            }
        };
        let ended = |stopped: StopReason| AnchorPlacement {
            stopped,
            widest: places
                .iter()
                .filter_map(|place| Some(need(&anchored, place)?.width))
                .max_by(f64::total_cmp),
            anchored: anchored.clone(),
        };
        let Some((at, need)) = next else { return ended(StopReason::Exhausted) };
        let is_enough = !need.is_beyond && need.width <= wish.precision && !wish.is_of_all(places.len());
        if is_enough && anchors.len() >= fewest(places[at].at.len()) {
            return ended(StopReason::Precise);
        }
        if anchors.len() >= wish.most {
            return ended(StopReason::Budget);
        }
        left.retain(|one| *one != at);
        let Some(simulation) = simulate(anchors.len(), &places[at].scenario) else {
            return ended(StopReason::Interrupted);
        };
        anchors.push(Anchor { place: places[at].clone(), simulation });
    }
}

/// Whether there is a class with something to compare.
fn sends_steadily(place: &Place) -> bool {
    (0..place.model.classes.len()).any(|class| place.is_steady(class))
}

/// How much an anchor would be needed at a place.
#[derive(Clone, Copy, Debug)]
struct Urgency {
    /// Whether a class would else be extrapolated far.
    is_beyond: bool,
    /// Half of the widest interval of a network latency, as a share of it.
    width: f64,
}

impl Urgency {
    fn compare(&self, other: &Self) -> Ordering {
        self.is_beyond.cmp(&other.is_beyond).then(self.width.total_cmp(&other.width))
    }
}

/// How much an anchor is needed at a place; `None` where nothing is known or asked.
fn need(anchored: &Anchored, place: &Place) -> Option<Urgency> {
    let classes = (0..place.model.classes.len()).filter(|class| place.is_steady(*class));
    let of_class = |class: usize| match anchored.reach(&place.at, class) {
        // more than of any that is known
        Reach::None => Some(Urgency { is_beyond: true, width: f64::MAX }),
        Reach::Saturated => None,
        reach => {
            let is_beyond = anchored.reach_within(&place.at, class, FAR) == Reach::Beyond;
            Some(Urgency { is_beyond, width: anchored.half_width(place, class, reach)? })
        }
    };
    classes.filter_map(of_class).max_by(Urgency::compare)
}

/// The places to begin with, the first of them last: that of the highest load, and the nearest to each corner. Where
/// that leaves none to choose, those of them that lie farthest from each other. As far as there are such places, all
/// classes are steady there that are steady anywhere.
fn outermost(places: &[Place], left: &[usize], most: usize) -> Vec<usize> {
    let steady = |at: usize| {
        let classes = 0..places[at].model.classes.len();
        classes.filter(|class| places[at].is_steady(*class)).count()
    };
    let all = left.iter().map(|at| steady(*at)).max();
    let left: Vec<usize> = left.iter().copied().filter(|at| Some(steady(*at)) == all).collect();
    let load = |at: &usize| load_share(&places[*at].model);
    let highest = left.iter().copied().max_by(|a, b| load(a).total_cmp(&load(b)));
    let Some(highest) = highest else { return Vec::new() };
    let axes = places[highest].at.len();
    let mut corners: Vec<usize> = Vec::new();
    for corner in 0..1_u32 << axes {
        let corner: Vec<f64> = (0..axes).map(|axis| f64::from(corner >> axis & 1)).collect();
        let distance = |at: &usize| square(&places[*at].at, &corner);
        let nearest = left.iter().copied().min_by(|a, b| distance(a).total_cmp(&distance(b)));
        corners.extend(nearest.filter(|at| *at != highest && !corners.contains(at)));
    }
    // one is left at least to be placed by what was learnt
    let count =
        if corners.len() + 2 <= most { corners.len() } else { (axes + 1).min(most).saturating_sub(1) };
    let mut chosen = vec![highest];
    while chosen.len() <= count {
        let apart = |at: &usize| {
            let distances = chosen.iter().map(|one| square(&places[*at].at, &places[*one].at));
            distances.fold(f64::INFINITY, f64::min)
        };
        let farthest = corners.iter().copied().max_by(|a, b| apart(a).total_cmp(&apart(b)));
        let Some(farthest) = farthest else { break };
        corners.retain(|at| *at != farthest);
        chosen.push(farthest);
    }
    chosen.reverse();
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A simulation of an anchor costs 1 / FINER² of one that is as precise as the answers.
    #[test]
    fn few_places_are_all_simulated() {
        let usual = Wish::usual(1, 0.02);
        let all = usual.among(6, 1);
        assert!(all.is_of_all(6) && all.most == 6 && all.of_anchors == 0.02);
        let some = usual.among(7, 1);
        assert!(!some.is_of_all(7) && some.most == 5 && (some.of_anchors - 0.014).abs() < 1e-12);
        // what was allowed is not passed
        assert_eq!(Wish::new(3, 0.02).among(6, 1), Wish::new(3, 0.02));
    }
}
