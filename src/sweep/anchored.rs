//! `flitwise sweep --model anchored`: anchors among the points of the grid, and what they say of all others.

use std::sync::Arc;

use flitwise_models::model::{Failure, Model, Options};
use flitwise_models::scenario::{Fault, Grid, Scenario, Setting};
use flitwise_validation::anchored::{
    Anchored, Axis, FINER, MOST_AXES, Place, Placed, Stopped, Wish, fewest, place,
};
use flitwise_validation::experiment;
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::Sweep;
use crate::campaign::Campaign;
use crate::outcome::Ended;
use crate::output::{note, percent};
use crate::signals::unless_stopped;
use crate::{input, typed};

/// The most places that anchors are chosen from.
const MOST_PLACES: usize = 300;
/// The most anchors of a sweep.
const MOST_ANCHORS: u64 = 200;

/// What was learnt of the points of a grid.
#[derive(Clone)]
pub(super) struct Family {
    axes: Vec<Axis>,
    anchored: Arc<Anchored>,
    pub(super) account: Account,
}

/// How anchors were placed.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(super) struct Account {
    /// Wanted half-width of the 95 % interval of every network latency, as a share of it.
    wanted_precision: f64,
    /// Half of the widest such interval that is expected where anchors could be, as a share of the latency; `null` if
    /// none is known.
    widest_precision: Option<f64>,
    /// Why there are no more anchors.
    stopped_by: StoppedBy,
    /// Where random numbers of simulations come from.
    seed: u64,
    /// Anchors, in the order in which they were placed.
    anchors: Vec<AnchorEntry>,
}

/// Why no more anchors were placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum StoppedBy {
    /// All intervals are expected to be as narrow as is wanted.
    Precision,
    /// There are as many anchors as `--anchors` allows.
    Anchors,
    /// Every point is an anchor, or lies beyond saturation.
    Points,
}

/// An anchor.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct AnchorEntry {
    /// The values set there, coupled ones included.
    set: Vec<Setting>,
    /// Whether the store had its simulation.
    from_store: bool,
    /// Classes that the simulation found saturated.
    saturated: Vec<String>,
    /// Half-width reached by the simulation, of the network latency of the worst class.
    reached_precision: Option<f64>,
    /// Messages measured.
    messages: u64,
    /// Time spent in the simulation proper, whenever that was \[s\].
    simulation_seconds: f64,
}

/// A place of the grid, and the values set there.
struct Spot {
    set: Vec<Setting>,
    scenario: Scenario,
    at: Vec<f64>,
}

impl Family {
    /// Places anchors on a grid that was checked, and learns from them.
    pub(super) fn learnt(args: &Sweep, grid: &Grid, options: &Options) -> Result<Self, Ended> {
        let (campaign, most) = Ended::both(Campaign::read(&args.campaign), most(args))?;
        let axes = axes(grid)?;
        let wish = Wish::usual(axes.len(), campaign.settings.precision);
        let wish = Wish { most: most.unwrap_or(wish.most), ..wish };
        let least = fewest(axes.len());
        if wish.most < least {
            let count = axes.len();
            return Err(Ended::input(format!(
                "--anchors {}: found too few for {count} {}, wanted {least} or more",
                wish.most,
                if count == 1 { "axis" } else { "axes" }
            )));
        }
        let spots = spots(grid, &axes)?;
        supported(&spots)?;
        let places = solved(&spots, options)?;
        Self::placed(campaign, &wish, spots, &places, axes)
    }

    fn placed(
        mut campaign: Campaign,
        wish: &Wish,
        spots: Vec<Spot>,
        places: &[Place],
        axes: Vec<Axis>,
    ) -> Result<Self, Ended> {
        campaign.settings.precision = FINER * wish.precision;
        let each = percent(campaign.settings.precision);
        campaign
            .say(&format!("anchored: up to {} simulations to ±{each}, unless the store has them", wish.most));
        let mut stored: Vec<bool> = Vec::new();
        let mut faults: Vec<Fault> = Vec::new();
        let mut simulate = |at: usize, scenario: &Scenario| match campaign.run_part(at, wish.most, scenario) {
            Ok(found) => {
                let (simulation, was_stored) = found?;
                stored.push(was_stored);
                Some(simulation)
            }
            Err(found) => {
                faults = found;
                None
            }
        };
        let Placed { anchored, stopped, widest } = place(places, wish, &mut simulate);
        if !faults.is_empty() {
            return Err(Ended::faults(&faults));
        }
        let count = anchored.anchors().len();
        let stopped_by = match stopped {
            Stopped::Precise => StoppedBy::Precision,
            Stopped::Budget => StoppedBy::Anchors,
            Stopped::Exhausted if count == 0 => {
                return Err(Ended::input(
                    "--model anchored: found no point at which a class sends and is steady in the refined model, wanted \
                     one at least\n  help: lower rates",
                ));
            }
            Stopped::Exhausted => StoppedBy::Points,
            Stopped::Interrupted => {
                return Err(Ended::InterruptedAt(format!(
                    "{count} anchors are simulated, and kept in the store"
                )));
            }
        };
        let entries = anchored.anchors().iter().zip(stored).map(|(anchor, from_store)| {
            let set = spots.iter().find(|spot| spot.at == anchor.place.at).map(|spot| spot.set.clone());
            let run = &anchor.simulation.run;
            let classes = anchor.simulation.classes.iter();
            AnchorEntry {
                set: set.unwrap_or_default(),
                from_store,
                saturated: classes.filter(|class| class.saturated).map(|class| class.name.clone()).collect(),
                reached_precision: run.reached_precision,
                messages: run.messages,
                simulation_seconds: run.simulation_seconds,
            }
        });
        let account = Account {
            wanted_precision: wish.precision,
            widest_precision: widest.filter(|width| width.is_finite() && *width < f64::MAX),
            stopped_by,
            seed: campaign.settings.seed,
            anchors: entries.collect(),
        };
        campaign.say(&account.cost());
        Ok(Self { axes, anchored: Arc::new(anchored), account })
    }

    /// Where a point of the grid lies.
    pub(super) fn place(&self, grid: &Grid, point: usize) -> Vec<f64> {
        let (indices, values) = (grid.indices(point), grid.axes.iter().map(|axis| axis.numbers()));
        let of_axis = |((axis, values), index): ((&Axis, Option<Vec<f64>>), usize)| {
            axis.share(values.map_or(0.0, |values| values[index]))
        };
        self.axes.iter().zip(values).zip(indices).map(of_axis).collect()
    }

    /// What was learnt.
    pub(super) fn anchored(&self) -> &Anchored {
        &self.anchored
    }

    /// Whether a place is an anchor.
    pub(super) fn is_anchor(&self, at: &[f64]) -> bool {
        self.anchored.anchors().iter().any(|anchor| anchor.place.at == at)
    }
}

/// What `--anchors` says.
fn most(args: &Sweep) -> Result<Option<usize>, Ended> {
    let mut faults = Vec::new();
    let mut read = typed::Options { faults: &mut faults };
    let anchors =
        read.option("anchors", &args.anchors, typed::within(1..=MOST_ANCHORS, "1 to 200 simulations"));
    if faults.is_empty() { Ok(anchors.map(|count| count as usize)) } else { Err(Ended::BadInput(faults)) }
}

/// The axes of a grid as numbers, or what is wrong with any of them.
fn axes(grid: &Grid) -> Result<Vec<Axis>, Ended> {
    let (mut axes, mut faults) = (Vec::new(), Vec::new());
    for axis in &grid.axes {
        let key = &axis.key;
        match axis.numbers() {
            None => faults.push(format!(
                "--over {key}: found values that are not all numbers of one unit, wanted such for --model anchored\n  \
                 help: a sweep for each word, with --set {key}=WORD"
            )),
            Some(numbers) => match Axis::over(&numbers) {
                Some(axis) => axes.push(axis),
                None => faults.push(format!(
                    "--over {key}: found one value only, wanted two or more for --model anchored\n  help: --set \
                     {key}={}",
                    axis.values[0]
                )),
            },
        }
    }
    if grid.axes.len() > MOST_AXES {
        faults.push(format!(
            "--over: found {} axes, wanted {MOST_AXES} at most for --model anchored",
            grid.axes.len()
        ));
    }
    if faults.is_empty() { Ok(axes) } else { Err(Ended::BadInput(faults)) }
}

/// Points that anchors are chosen from: all, or some of every axis, its ends among them.
fn spots(grid: &Grid, axes: &[Axis]) -> Result<Vec<Spot>, Ended> {
    let each = (MOST_PLACES as f64).powf(1.0 / axes.len() as f64).floor() as usize;
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
    let numbers: Vec<Vec<f64>> =
        grid.axes.iter().filter_map(flitwise_models::scenario::Axis::numbers).collect();
    let spot = |indices: &Vec<usize>| {
        let settings =
            grid.axes.iter().zip(indices).map(|(axis, index)| Setting::new(&axis.key, &axis.values[*index]));
        let (document, set) = grid.at(settings.collect()).map_err(|faults| Ended::faults(&faults))?;
        let at =
            axes.iter().zip(&numbers).zip(indices).map(|((axis, values), index)| axis.share(values[*index]));
        Ok(Spot { set, scenario: input::scenario(&document)?, at: at.collect() })
    };
    chosen.iter().map(spot).collect()
}

/// Refuses what the simulator has no means for.
fn supported(spots: &[Spot]) -> Result<(), Ended> {
    let mut faults: Vec<Fault> = Vec::new();
    for found in spots.iter().filter_map(|spot| experiment::supports(&spot.scenario).err()).flatten() {
        if !faults.contains(&found) {
            faults.push(found);
        }
    }
    if faults.is_empty() { Ok(()) } else { Err(Ended::faults(&faults)) }
}

/// The model's answers; points at which its iteration does not end are left out.
fn solved(spots: &[Spot], options: &Options) -> Result<Vec<Place>, Ended> {
    let asked: Vec<(Vec<f64>, Scenario)> =
        spots.iter().map(|spot| (spot.at.clone(), spot.scenario.clone())).collect();
    let options = *options;
    let solve = move || -> Vec<Result<Place, Failure>> {
        let one = |(at, scenario): (Vec<f64>, Scenario)| {
            let model = Model::Refined.solve(&scenario, &options)?;
            Ok(Place { at, scenario, model })
        };
        asked.into_par_iter().map(one).collect()
    };
    let solved =
        unless_stopped(solve).ok_or_else(|| Ended::InterruptedAt("no anchor is placed yet".to_owned()))?;
    let is_refused = |found: &&Result<Place, Failure>| found.as_ref().is_err_and(Failure::is_refusal);
    if let Some(Err(failure)) = solved.iter().find(is_refused) {
        return Err(Ended::failure(failure, |_| String::new()));
    }
    Ok(solved.into_iter().filter_map(Result::ok).collect())
}

impl Account {
    /// What it took.
    fn cost(&self) -> String {
        let fresh = || self.anchors.iter().filter(|one| !one.from_store);
        let seconds: f64 = fresh().map(|one| one.simulation_seconds).fold(0.0, |all, one| all + one);
        let (all, simulated) = (self.anchors.len(), fresh().count());
        let from_store = all - simulated;
        format!(
            "{all} anchors: {simulated} simulated in {seconds:.1} s of all threads, {from_store} from the store"
        )
    }

    /// Where the anchors are, and how far that went.
    pub(super) fn remarks(&self) -> Vec<String> {
        let place = |one: &AnchorEntry| {
            let set = one.set.iter().map(|setting| format!("{}={}", setting.key, setting.value));
            let saturated = match one.saturated.as_slice() {
                [] => String::new(),
                names => format!(" ({} saturated)", names.join(", ")),
            };
            format!("{}{saturated}", set.collect::<Vec<_>>().join(" "))
        };
        let places: Vec<String> = self.anchors.iter().map(place).collect();
        let wanted = percent(self.wanted_precision);
        let width =
            self.widest_precision.map_or("not known".to_owned(), |width| format!("±{}", percent(width)));
        let because = match self.stopped_by {
            StoppedBy::Precision => String::new(),
            StoppedBy::Anchors => format!(", wanted ±{wanted}: --anchors allows no more"),
            StoppedBy::Points => format!(", wanted ±{wanted}: no point is left to simulate"),
        };
        vec![
            format!("{} anchors: {}", self.anchors.len(), places.join("; ")),
            format!("widest interval of a network latency at points to choose from: {width}{because}"),
        ]
    }

    /// Prints the same as notes, where the output has no room for them.
    pub(super) fn print_notes(&self) {
        self.remarks().iter().for_each(|remark| note(remark));
    }
}
