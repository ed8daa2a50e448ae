//! The anchored model for any command: anchors are simulated or taken from the store, and an account says what it took.

use flitwise_language::scenario::{Fault, Scenario, Setting};
use flitwise_models::model::{Failure, Model, Options};
use flitwise_validation::anchored::{
    AnchorPlacement, Anchored, MOST_AXES, Place, StopReason, Wish, fewest, place,
};
use flitwise_validation::machine;
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::CampaignArgs;
use crate::campaign::{self, Campaign, Defaults};
use crate::outcome::Exit;
use crate::output::{note, percent};
use crate::signals::unless_stopped;
use crate::typed;

/// The most anchors.
const MOST_ANCHORS: u64 = 200;

/// A point that may be an anchor.
pub(crate) struct Spot {
    /// Where: each axis from 0 to 1.
    pub(crate) at: Vec<f64>,
    /// The values set there.
    pub(crate) set: Vec<Setting>,
    pub(crate) scenario: Scenario,
}

/// How anchors were placed.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Account {
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

/// What `--precision` is of anchored answers unless it is given.
const DEFAULTS: Defaults<'static> = Defaults { precision: "2%", ..campaign::DEFAULTS };

/// Reads the options of simulations of anchors.
pub(crate) fn campaign(args: &CampaignArgs) -> Result<Campaign, Exit> {
    Campaign::read_or(args, DEFAULTS)
}

/// What is wanted of anchors: as many as `--anchors` allows, or as many as are usual.
pub(crate) fn wish(typed: &Option<String>, axes: usize, campaign: &Campaign) -> Result<Wish, Exit> {
    let mut faults = Vec::new();
    let mut read = typed::Options { faults: &mut faults };
    let anchors = read.option("anchors", typed, typed::within(1..=MOST_ANCHORS, "1 to 200 simulations"));
    if axes > MOST_AXES {
        faults.push(format!("--model anchored: found {axes} axes, wanted {MOST_AXES} at most"));
    }
    let usual = Wish::usual(axes, campaign.settings.precision);
    let most = anchors.map_or(usual.most, |count| count as usize);
    let least = fewest(axes);
    if faults.is_empty() && most < least {
        let plural = if axes == 1 { "axis" } else { "axes" };
        faults.push(format!("--anchors {most}: found too few for {axes} {plural}, wanted {least} or more"));
    }
    if !faults.is_empty() {
        return Err(Exit::BadInput(faults));
    }
    Ok(anchors.map_or(usual, |_| Wish::new(most, usual.precision)))
}

/// What was learnt of some spots.
pub(crate) struct Learnt {
    pub(crate) anchored: Anchored,
    pub(crate) account: Account,
    /// The spots with what the model says of them; those at which its iteration does not end are left out.
    pub(crate) places: Vec<Place>,
}

/// Places anchors among spots, and learns from them.
pub(crate) fn learnt(
    mut campaign: Campaign,
    wish: &Wish,
    spots: &[Spot],
    options: &Options,
) -> Result<Learnt, Exit> {
    supported(spots)?;
    let places = solved(spots, options)?;
    let wish = &wish.among(spots.len(), spots.first().map_or(0, |spot| spot.at.len()));
    campaign.settings.precision = wish.of_anchors;
    let each = percent(campaign.settings.precision);
    let count = spots.len();
    campaign.say(&if wish.is_of_all(count) {
        format!("anchored: all {count} points are simulated, to ±{each}: anchors for so few cost as much")
    } else {
        format!("anchored: up to {} simulations to ±{each}, unless the store has them", wish.most)
    });
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
    let placed = place(&places, wish, &mut simulate);
    if !faults.is_empty() {
        return Err(Exit::faults(&faults));
    }
    let account = Account::of(&placed, wish, campaign.settings.seed, spots, &stored)?;
    campaign.say(&account.cost());
    Ok(Learnt { anchored: placed.anchored, account, places })
}

/// Refuses what the simulator has no means for.
fn supported(spots: &[Spot]) -> Result<(), Exit> {
    let mut faults: Vec<Fault> = Vec::new();
    for found in spots.iter().filter_map(|spot| machine::supports(&spot.scenario).err()).flatten() {
        if !faults.contains(&found) {
            faults.push(found);
        }
    }
    if faults.is_empty() { Ok(()) } else { Err(Exit::faults(&faults)) }
}

/// The model's answers; points at which its iteration does not end are left out.
fn solved(spots: &[Spot], options: &Options) -> Result<Vec<Place>, Exit> {
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
        unless_stopped(solve).ok_or_else(|| Exit::InterruptedAt("no anchor is placed yet".to_owned()))?;
    let is_refused = |found: &&Result<Place, Failure>| found.as_ref().is_err_and(Failure::is_refusal);
    if let Some(Err(failure)) = solved.iter().find(is_refused) {
        return Err(Exit::failure(failure, |_| String::new()));
    }
    Ok(solved.into_iter().filter_map(Result::ok).collect())
}

impl Account {
    /// What became of anchors that were placed; it is bad input if there are none.
    fn of(
        placed: &AnchorPlacement,
        wish: &Wish,
        seed: u64,
        spots: &[Spot],
        stored: &[bool],
    ) -> Result<Self, Exit> {
        let anchors = placed.anchored.anchors();
        let stopped_by = match placed.stopped {
            StopReason::Precise => StoppedBy::Precision,
            StopReason::Budget => StoppedBy::Anchors,
            StopReason::Exhausted if anchors.is_empty() => {
                return Err(Exit::input(
                    "--model anchored: found no point at which a class sends and is steady in the refined model, \
                     wanted one at least\n  help: lower rates",
                ));
            }
            StopReason::Exhausted => StoppedBy::Points,
            StopReason::Interrupted => {
                let count = anchors.len();
                let place = format!("{count} anchors are done, and kept in the store if there is one");
                return Err(Exit::InterruptedAt(place));
            }
        };
        let entries = anchors.iter().zip(stored).map(|(anchor, from_store)| {
            let set = spots.iter().find(|spot| spot.at == anchor.place.at).map(|spot| spot.set.clone());
            let run = &anchor.simulation.run;
            let classes = anchor.simulation.classes.iter();
            AnchorEntry {
                set: set.unwrap_or_default(),
                from_store: *from_store,
                saturated: classes.filter(|class| class.saturated).map(|class| class.name.clone()).collect(),
                reached_precision: run.reached_precision,
                messages: run.messages,
                simulation_seconds: run.simulation_seconds,
            }
        });
        Ok(Self {
            wanted_precision: wish.precision,
            widest_precision: placed.widest.filter(|width| *width < f64::MAX),
            stopped_by,
            seed,
            anchors: entries.collect(),
        })
    }

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
    pub(crate) fn remarks(&self) -> Vec<String> {
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
            StoppedBy::Points if self.is_reached() => String::new(),
            StoppedBy::Points => format!(", wanted ±{wanted}: no point is left to simulate"),
        };
        vec![
            format!("{} anchors: {}", self.anchors.len(), places.join("; ")),
            format!("widest interval of a network latency at points to choose from: {width}{because}"),
        ]
    }

    /// Whether all intervals are as narrow as is wanted.
    fn is_reached(&self) -> bool {
        self.widest_precision.is_some_and(|width| width <= self.wanted_precision)
    }

    /// Prints the same as notes, where the output has no room for them.
    pub(crate) fn print_notes(&self) {
        self.remarks().iter().for_each(|remark| note(remark));
    }
}
