//! `flitwise sweep --model anchored`: anchors among the points of the grid, and what they say of all others.

use std::sync::Arc;

use flitwise_language::scenario::{Grid, Setting};
use flitwise_models::answer::Answer;
use flitwise_models::model::Options;
use flitwise_validation::anchored::{Anchored, Axis, Place};

use crate::anchoring::{self, Account, Learnt, Spot};
use crate::args::Sweep;
use crate::input;
use crate::outcome::Exit;

/// The most places that anchors are chosen from.
const MOST_PLACES: usize = 300;

/// What was learnt of the points of a grid.
#[derive(Clone)]
pub(super) struct Family {
    /// By axis and value: how far along it lies.
    shares: Arc<Vec<Vec<f64>>>,
    anchored: Arc<Anchored>,
    /// Points that anchors were chosen from, with the model's answers.
    places: Arc<Vec<Place>>,
    pub(super) account: Account,
}

impl Family {
    /// Places anchors on a grid that was checked, and learns from them.
    pub(super) fn learnt(args: &Sweep, grid: &Grid, options: &Options) -> Result<Self, Exit> {
        let campaign = anchoring::campaign(&args.campaign)?;
        let shares = shares(grid)?;
        let spots = spots(grid, &shares)?;
        let wish = anchoring::wish(&args.anchors, shares.len(), &campaign)?;
        let Learnt { anchored, account, places } = anchoring::learnt(campaign, &wish, &spots, options)?;
        Ok(Self { shares: Arc::new(shares), anchored: Arc::new(anchored), places: Arc::new(places), account })
    }

    /// Where a point of the grid lies.
    pub(super) fn place(&self, grid: &Grid, point: usize) -> Vec<f64> {
        self.shares.iter().zip(grid.indices(point)).map(|(shares, index)| shares[index]).collect()
    }

    /// What was learnt.
    pub(super) fn anchored(&self) -> &Anchored {
        &self.anchored
    }

    /// The model's answer at a place, where anchors were chosen by it.
    pub(super) fn solved(&self, at: &[f64]) -> Option<&Answer> {
        self.places.iter().find(|place| place.at == at).map(|place| &place.model)
    }

    /// Whether a place is an anchor.
    pub(super) fn is_anchor(&self, at: &[f64]) -> bool {
        self.anchored.anchors().iter().any(|anchor| anchor.place.at == at)
    }
}

/// How far along each axis of a grid its values lie, or what is wrong with any of them.
fn shares(grid: &Grid) -> Result<Vec<Vec<f64>>, Exit> {
    let (mut shares, mut faults) = (Vec::new(), Vec::new());
    for axis in &grid.axes {
        let key = &axis.key;
        match axis.numbers() {
            None => faults.push(format!(
                "--over {key}: found values that are not all numbers of one unit, wanted such for --model anchored\n  \
                 help: a sweep for each word, with --set {key}=WORD"
            )),
            Some(numbers) => match Axis::over(&numbers) {
                Some(axis) => shares.push(numbers.into_iter().map(|number| axis.share(number)).collect()),
                None => faults.push(format!(
                    "--over {key}: found one value only, wanted two or more for --model anchored\n  help: --set \
                     {key}={}",
                    axis.values[0]
                )),
            },
        }
    }
    if faults.is_empty() { Ok(shares) } else { Err(Exit::BadInput(faults)) }
}

/// Points that anchors are chosen from: all, or some of every axis, its ends among them.
fn spots(grid: &Grid, shares: &[Vec<f64>]) -> Result<Vec<Spot>, Exit> {
    let each = (MOST_PLACES as f64).powf(1.0 / shares.len() as f64).floor() as usize;
    let points = grid.points().unwrap_or(usize::MAX);
    let of_axis = |count: usize| -> Vec<usize> {
        if points <= MOST_PLACES || count <= each {
            return (0..count).collect();
        }
        (0..each).map(|step| (step * (count - 1) + (each - 1) / 2) / (each - 1)).collect()
    };
    let mut chosen: Vec<Vec<usize>> = vec![Vec::new()];
    for axis in &grid.axes {
        let indices = of_axis(axis.values.len());
        let longer = |place: &Vec<usize>| {
            let place = place.clone();
            indices
                .iter()
                .map(move |index| place.iter().copied().chain([*index]).collect::<Vec<_>>())
                .collect::<Vec<_>>()
        };
        chosen = chosen.iter().flat_map(longer).collect();
    }
    let spot = |indices: &Vec<usize>| {
        let settings =
            grid.axes.iter().zip(indices).map(|(axis, index)| Setting::new(&axis.key, &axis.values[*index]));
        let (document, set) = grid.at(settings.collect()).map_err(|faults| Exit::faults(&faults))?;
        let at = shares.iter().zip(indices).map(|(shares, index)| shares[*index]).collect();
        Ok(Spot { set, scenario: input::scenario(&document)?, at })
    };
    chosen.iter().map(spot).collect()
}
