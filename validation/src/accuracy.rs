//! Accuracy of a model: random scenarios, their simulation, the errors and their targets.
//!
//! A [`Plan`] is a file of `registry/sets`: bounds of random scenarios, family by family ([`Family`]), the loads at
//! which they are simulated, and what a model is judged by. Loads are shares of the one at which the refined or the
//! mediaworm model has the first class saturate ([`Case::saturation_factor`]). At each load there is an
//! [`Observation`]; [`judge`] puts a model beside it, and [`summary`] tabulates the errors. [`Plan`] and [`judge`] are
//! pure functions; simulations go through [`crate::campaign`], and through [`saturation::find`] where loads of
//! saturation are judged.
//!
//! **Why several sets?** The errors of a model are too small on the scenarios on which it was chosen. The *tuning*
//! set is for choosing. The *held-out* set and those of *networks* and *streams* tell the errors to expect; they are
//! run when the model is frozen. The *fresh* sets are like these with another seed and other loads: they tell
//! whether as many numbers lie within the errors told as should. If the model is changed after that, all of their
//! seeds are changed.

mod draw;
mod errors;
mod family;
mod frames;
mod messages;
mod plan;
pub mod saturation;
pub mod summary;

use flitwise_language::document::{Document, Entry, Reader, Table};
use flitwise_language::quantity::Quantity;
use flitwise_language::scenario::{Fault, Scenario};
use flitwise_models::model::Model;
use flitwise_models::refined;

use crate::machine::supports;
use draw::Draw;
use family::{Key, Unfit, Wiring};
use frames::Streams;

pub use errors::{ErrorOf, ErrorUnit, Solve, error_unit, has_frames_of_one_length, judge, saturation_errors};
pub use family::Family;
pub use flitwise_experiment::observation::{ClassObservation, Curve, HopsObservation, Observation, observe};

/// The registered sets: names and texts, made of the files of `registry/sets`.
pub const SETS: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/sets.rs"));
/// How sets of each kind are judged unless they say otherwise.
const KINDS: &str = include_str!("../registry/kinds.toml");

/// Load of a node's link in a scenario of messages as drawn, all classes \[flits/cycle\].
const DRAWN_LOAD: f64 = 0.5;

/// What scenarios are drawn from, at which loads, and what a model is judged by.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What its families are of.
    pub kind: Kind,
    /// What all scenarios are drawn from.
    pub seed: u64,
    /// Shares of the load at which the first class saturates.
    pub loads: Vec<f64>,
    /// Wanted 95 % half-width of the network latency of the worst class, as a share of it.
    pub precision: f64,
    /// Flits times crossbars of a point's measured messages after which to stop anyway.
    pub max_flit_hops: f64,
    /// The model to judge, unless another is asked for.
    pub model: Model,
    /// What a model is judged by.
    pub quantities: Vec<Quantity>,
    /// What is aimed at: the first that fits.
    pub aims: Vec<summary::Aim>,
    /// Axes along which families of scenarios vary, for the anchored model; none of other sets.
    pub parts: Vec<Part>,
    /// The families, in the order of the file.
    pub families: Vec<Family>,
    cases: Vec<Case>,
}

/// What the families of a set are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Classes of messages.
    Scenarios,
    /// Streams of frames beside best effort.
    Streams,
}

impl Kind {
    /// All.
    pub const ALL: [Self; 2] = [Self::Scenarios, Self::Streams];

    /// Its name in a plan: the key `kind`, which is `scenarios` where it is not given.
    pub fn word(self) -> &'static str {
        match self {
            Self::Scenarios => "scenarios",
            Self::Streams => "streams",
        }
    }

    fn wirings(self) -> &'static [Wiring] {
        match self {
            Self::Scenarios => messages::WIRINGS,
            Self::Streams => frames::WIRINGS,
        }
    }

    /// Keys of its families.
    fn keys(self) -> &'static [Key] {
        match self {
            Self::Scenarios => messages::KEYS,
            Self::Streams => frames::KEYS,
        }
    }

    fn names_of_keys(self) -> Vec<&'static str> {
        family::HEAD.into_iter().chain(self.keys().iter().map(|key| key.name)).chain(["set"]).collect()
    }

    /// Refuses values of a family that do not go together.
    fn check(self, family: &Family, reader: &mut Reader, table: &Table<'_>) {
        match self {
            Self::Scenarios => messages::check(family, reader, table),
            Self::Streams => {}
        }
    }

    fn defaults() -> Result<Document, Vec<Fault>> {
        Document::parse("kinds.toml", KINDS)
    }
}

/// Families of so many axes, that the anchored model is judged on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Axes of each: the load; the load and the buffer; the load, the buffer and the part of one class in it.
    pub axes: usize,
    /// One is made of every so many cases.
    pub every: usize,
    /// Anchors of each.
    pub anchors: usize,
    /// Places at which each is judged.
    pub judged: usize,
}

/// A scenario that was drawn.
#[derive(Clone, Debug)]
pub struct Case {
    /// Family and number, such as `router-07`.
    pub name: String,
    /// Its family.
    pub family: String,
    /// The scenario as drawn.
    pub scenario: Scenario,
    /// Multiple of the load of streams at which the model has the first class saturate.
    saturation_factor: Option<f64>,
    /// Streams of frames, and what is laid over their scenarios.
    streams: Option<(Streams, Vec<Entry>)>,
}

impl Case {
    /// Multiple of its load at which the model has the first class saturate; `None` where the search for it takes too
    /// long.
    pub fn saturation_factor(&self) -> Option<f64> {
        self.saturation_factor.or_else(|| refined::saturation_factor(&self.scenario))
    }

    /// The scenario with its load multiplied by `factor`: all rates, while given Vticks stay as they are, or numbers of
    /// streams.
    ///
    /// # Errors
    /// What makes no sense at such a load.
    pub fn at(&self, factor: f64) -> Result<Scenario, Vec<Fault>> {
        match &self.streams {
            None => saturation::scaled(&self.scenario, factor),
            Some((streams, set)) => streams.at(factor, &|text| scenario(&self.name, text, set)),
        }
    }
}

/// The scenario of a text, with other keys laid over it.
fn scenario(name: &str, text: &str, set: &[Entry]) -> Result<Scenario, Vec<Fault>> {
    let mut document = Document::parse(name, &format!("name = \"{name}\"\n{text}"))?;
    for entry in set {
        document.set_entry(entry).map_err(|fault| vec![fault])?;
    }
    document.scenario()
}

impl Plan {
    /// A registered set; `None` if there is none of that name.
    ///
    /// # Panics
    /// Never: registered sets are sound (tested).
    pub fn registered(name: &str) -> Option<Self> {
        let (_, text) = SETS.iter().find(|(known, _)| *known == name)?;
        let read = Self::from_toml(&format!("{name}.toml"), text);
        Some(read.unwrap_or_else(|faults| panic!("the registered set {name} is broken: {faults:#?}")))
    }

    /// Reads and checks a plan's text, and draws its scenarios; `text_name` is what messages call it.
    ///
    /// ```
    /// use flitwise_validation::accuracy::{Kind, Plan};
    ///
    /// let text = "kind = \"streams\"\nseed = 1\nloads = [0.5]\n[[family]]\nname = \"mine\"\ncount = 2\n\
    ///             topology = \"router\"\nports = [4, 8]\nset = { \"router.buffer_flits\" = [20, 80] }\n";
    /// let plan = Plan::from_toml("mine.toml", text).expect("a sound set");
    /// assert_eq!((plan.kind, plan.cases().len()), (Kind::Streams, 2));
    /// assert!((20..=80).contains(&plan.cases()[0].scenario.router().buffer_flits));
    /// ```
    ///
    /// # Errors
    /// Every fault, each at its place.
    pub fn from_toml(text_name: &str, text: &str) -> Result<Self, Vec<Fault>> {
        plan::read(&Document::parse(text_name, text)?)
    }

    /// All scenarios, family by family.
    pub fn cases(&self) -> &[Case] {
        &self.cases
    }

    /// All scenarios of a family.
    fn drawn(&self, family: &Family) -> Result<Vec<Case>, Unfit> {
        (0..family.count).map(|index| self.case(family, index)).collect()
    }

    /// Scenario `index` of a family, which the simulator supports at all loads where they are known.
    fn case(&self, family: &Family, index: u32) -> Result<Case, Unfit> {
        let mut draw = Draw::new(self.seed, &family.name, index);
        let name = format!("{}-{:02}", family.name, index + 1);
        let unfit = |faults: Vec<Fault>| Unfit::first(&name, &faults);
        let (scenario, mut streams) = match self.kind {
            Kind::Scenarios => {
                let text = messages::text(&mut draw, family, index);
                (scenario(&name, &text, &family.others(&mut draw)).map_err(unfit)?, None)
            }
            Kind::Streams => {
                let (streams, set) = (Streams::drawn(&mut draw, family, index), family.others(&mut draw));
                let scenario = streams.at(1.0, &|text| scenario(&name, text, &set)).map_err(unfit)?;
                (scenario, Some((streams, set)))
            }
        };
        let saturation_factor = match &mut streams {
            Some((streams, _)) => Some(streams.saturation_factor(&name, &scenario)?),
            None => None,
        };
        let case = Case { name, family: family.name.clone(), scenario, saturation_factor, streams };
        supports(&case.scenario).map_err(|faults| Unfit::first(&case.name, &faults))?;
        for load in self.loads.iter().filter_map(|load| Some(load * saturation_factor?)) {
            let supported = case.at(load).and_then(|scenario| supports(&scenario));
            supported.map_err(|faults| Unfit::first(&case.name, &faults))?;
        }
        Ok(case)
    }

    /// Measured messages of a point of `scenario` after which to stop anyway.
    pub fn max_messages(&self, scenario: &Scenario) -> u64 {
        let classes = 0..scenario.classes().len();
        let rate: f64 = scenario.classes().iter().map(|class| class.rate).sum();
        let flits: f64 = classes.map(|class| scenario.flit_rate(class)).sum();
        // a message crosses the crossbars of the routers at both ends and between them
        let routers = 1.0 + scenario.topology().mean_hops();
        (self.max_flit_hops * rate / (flits * routers)).max(1.0) as u64
    }
}
