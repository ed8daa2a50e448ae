//! Claims about models and simulations, as data, and their verdicts.
//!
//! A [`Registry`] holds claims with their sources. [`Claim::scenarios`] lists the scenarios to simulate, and
//! [`Claim::judge`] gives the verdict. Both are pure functions; [`crate::campaign`] runs the simulations and sets
//! store, seed and precision. The README of this crate describes the format.
//!
//! ```
//! use flitwise_validation::claims::{Registry, Verdict};
//!
//! let text = r#"
//! [[claim]]
//! name = "lone-message"
//! text = "A lone message takes P - 1 + M = 36 cycles through a router."
//! source = "Section 4.3"
//! kind = "value"
//! by = "published"
//! scenario = { preset = "router16", set = { "class.*.rate" = 1e-9 } }
//! quantity = "network-latency"
//! class = "R1"
//! value = 36
//! plus_minus = 0.01
//! expect = "held"
//! "#;
//! let no_files = |_: &str| unreachable!("no claim names a scenario file");
//! let registry = Registry::from_toml("mine.toml", text, &no_files).unwrap();
//! let claim = &registry.claims[0];
//! assert!(claim.scenarios().is_empty(), "a model needs no simulation");
//! let judgement = claim.judge(&[]);
//! assert_eq!(judgement.verdict, Verdict::Held);
//! assert_eq!(judgement.measured, "R1 network latency: 36.00 cycles, claimed 35.99 to 36.01 cycles");
//! ```

mod asked;
mod bounds;
mod evidence;
mod judge;
mod over_time;
mod reader;

use std::collections::HashSet;

use flitwise_language::document::{Document, nearest};
use flitwise_language::scenario::{Fault, Scenario};
use flitwise_models::model::Model;
use schemars::JsonSchema;
use serde::Serialize;

use asked::Asked;

pub use crate::origin::Origin;
use flitwise_experiment::answer::ConfidenceInterval;
use flitwise_experiment::answer::Simulation;
use flitwise_experiment::packets::TimeSeries;

/// The registry's files: name and text.
const BUILT_IN: [(&str, &str); 10] = [
    ("paper-router.toml", include_str!("../registry/paper-router.toml")),
    ("paper-cube.toml", include_str!("../registry/paper-cube.toml")),
    ("references.toml", include_str!("../registry/references.toml")),
    ("our-own.toml", include_str!("../registry/our-own.toml")),
    ("networks.toml", include_str!("../registry/networks.toml")),
    ("mediaworm.toml", include_str!("../registry/mediaworm.toml")),
    ("fabrics.toml", include_str!("../registry/fabrics.toml")),
    ("recn.toml", include_str!("../registry/recn.toml")),
    ("router-nic.toml", include_str!("../registry/router-nic.toml")),
    ("admission.toml", include_str!("../registry/admission.toml")),
];

/// The scenarios that they name: file and text.
const SCENARIOS: [(&str, &str); 4] = [
    ("scenarios/mw-100mbps.toml", include_str!("../registry/scenarios/mw-100mbps.toml")),
    ("scenarios/mw-mpeg2.toml", include_str!("../registry/scenarios/mw-mpeg2.toml")),
    ("scenarios/mw-fat-mesh.toml", include_str!("../registry/scenarios/mw-fat-mesh.toml")),
    ("scenarios/rn-mesh.toml", include_str!("../registry/scenarios/rn-mesh.toml")),
];

pub use bounds::{Bounds, TimeUnit};
pub use flitwise_language::scenario::Load;

/// Claims, in the order in which they were written down; their names differ.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    /// The claims.
    pub claims: Vec<Claim>,
}

/// What somebody says, who says it, and what we expect to find.
#[derive(Clone, Debug)]
pub struct Claim {
    /// Unique, of small letters, digits and hyphens.
    pub name: String,
    /// The claim, in a sentence.
    pub text: String,
    /// Who says so, and where.
    pub source: String,
    /// What is claimed.
    pub kind: Kind,
    /// Whether the claim is that this is *not* so.
    pub negated: bool,
    /// Whose numbers are judged; of [`Kind::Agreement`] the model that the simulation is to agree with.
    pub by: Origin,
    /// What is expected to come out: [`Verdict::Held`] or [`Verdict::NotHeld`].
    pub expected: Verdict,
    /// Why, where it is not expected to hold.
    pub reason: Option<String>,
    /// Whether it belongs to the quick subset.
    pub quick: bool,
    /// Half-width of the simulated network latency that this claim needs, as a share, if it needs a better one
    /// than others.
    pub precision: Option<f64>,
    /// Names of the classes; for [`Kind::GrowsFaster`] and [`Kind::SaturatesEarlier`] the one that does, first.
    pub(crate) classes: Vec<String>,
    /// What is asked of them; of [`Kind::OverTime`] nothing.
    pub(crate) asked: Vec<Asked>,
    pub(crate) courses: Vec<Course>,
}

/// What is claimed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Kind {
    /// A model and the simulation differ by at most `tolerance` wherever neither is saturated.
    Agreement {
        /// Share of the simulated value; probabilities as they are.
        tolerance: f64,
    },
    /// A number lies within bounds at every point; that of a saturated class has no upper limit.
    Value {
        /// Where it lies.
        #[serde(flatten)]
        bounds: Bounds,
        /// What bounds and findings of times are given in.
        unit: TimeUnit,
    },
    /// At every point the classes, or the variants of a class, stand in rising order.
    Order,
    /// Along x the classes stay where they are at the first point.
    Unmoved {
        /// Share of the value there; probabilities as they are.
        tolerance: f64,
    },
    /// Along x no class falls from one point to the next, and each is higher at the last than at the first.
    Rises,
    /// At every point all variants give the same; without variants: all classes.
    Coincide {
        /// Share of the first of two; probabilities as they are.
        tolerance: f64,
    },
    /// The first class, variant or sweep grows faster than each of the others, per unit of x.
    GrowsFaster,
    /// The first class or variant is saturated at some x where each of the others is not.
    SaturatesEarlier,
    /// The class is saturated at every point.
    Saturated,
    /// A number of packet switches in a window of time lies within bounds; with variants what each of them has more
    /// than the first.
    OverTime {
        /// Which number.
        quantity: TimeSeries,
        /// When the window begins.
        from_us: f64,
        /// When it ends.
        to_us: f64,
        /// Where it lies \[unit of the quantity\].
        #[serde(flatten)]
        bounds: Bounds,
    },
}

impl Kind {
    /// Its name in a registry.
    pub fn word(self) -> &'static str {
        match self {
            Self::Agreement { .. } => "agreement",
            Self::Value { .. } => "value",
            Self::Order => "order",
            Self::Unmoved { .. } => "unmoved",
            Self::Rises => "rises",
            Self::Coincide { .. } => "coincide",
            Self::GrowsFaster => "grows-faster",
            Self::SaturatesEarlier => "saturates-earlier",
            Self::Saturated => "saturated",
            Self::OverTime { .. } => "over-time",
        }
    }
}

/// Scenarios along an axis, or a single one.
#[derive(Clone, Debug)]
pub(crate) struct Course {
    /// What tells it from the other courses of the claim.
    pub(crate) label: String,
    /// What varies, if anything does.
    pub(crate) key: Option<String>,
    pub(crate) points: Vec<CoursePoint>,
}

impl Course {
    /// The scenario of a reading: of phases that of all.
    fn scenario(&self, reading: usize) -> &Scenario {
        &self.points[reading.min(self.points.len() - 1)].scenario
    }
}

/// One of them.
#[derive(Clone, Debug)]
pub(crate) struct CoursePoint {
    pub(crate) x: Option<f64>,
    pub(crate) scenario: Scenario,
}

/// What came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It is so, as far as chance lets one tell.
    Held,
    /// It is not, and chance is no excuse.
    NotHeld,
    /// The intervals are too wide to tell, or there is nothing to compare.
    Undecided,
}

impl Verdict {
    /// In words.
    pub fn word(self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::NotHeld => "not held",
            Self::Undecided => "undecided",
        }
    }

    fn negated(self) -> Self {
        match self {
            Self::Held => Self::NotHeld,
            Self::NotHeld => Self::Held,
            Self::Undecided => Self::Undecided,
        }
    }
}

/// A claim, judged.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Judgement {
    /// Whether it holds.
    pub verdict: Verdict,
    /// The numbers behind it, in a short sentence.
    pub measured: String,
    /// Everything that was compared.
    pub findings: Vec<Finding>,
}

/// One comparison.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Finding {
    /// What is compared.
    pub subject: String,
    /// Value of the axis; `null` for a single scenario, or if the comparison is of whole curves.
    pub x: Option<f64>,
    /// The value in question, of [`Kind::Value`] in the unit of the claim; of [`Kind::Agreement`] that of the model;
    /// `null` if the class is saturated.
    pub value: Option<ConfidenceInterval>,
    /// What it is compared with; of [`Kind::Agreement`] the simulated one.
    pub other: Option<ConfidenceInterval>,
    /// How far they are apart \[percent where there is a tolerance, else the unit of the quantity\]; of
    /// [`Kind::Value`] how far within the bounds the value is, and beyond them if it is negative \[unit of the claim\].
    pub difference: Option<f64>,
    /// How much of that the 95 % intervals allow to be chance \[same unit\].
    pub chance: Option<f64>,
    /// Whether this comparison, before any negation, is as claimed.
    pub verdict: Verdict,
}

impl Registry {
    /// The claims of the paper, of others and of our own.
    ///
    /// # Panics
    /// Never: the built-in registry is sound (tested).
    pub fn built_in() -> Self {
        let load = |wanted: &str| match SCENARIOS.iter().find(|(name, _)| *name == wanted) {
            Some((name, text)) => Document::parse(name, text),
            None => unreachable!("built-in claims are about built-in scenarios, not {wanted}"),
        };
        let parts = BUILT_IN.map(|(name, text)| Self::from_toml(name, text, &load));
        let claims = parts.into_iter().flat_map(|part| match part {
            Ok(part) => part.claims,
            Err(faults) => panic!("the built-in registry is broken: {faults:#?}"),
        });
        Self { claims: claims.collect() }
    }

    /// Reads and checks a registry's text; `text_name` is what messages call it, `load` reads the scenario files
    /// that it may name.
    ///
    /// # Errors
    /// Every fault, each at its place.
    pub fn from_toml(text_name: &str, text: &str, load: &Load<'_>) -> Result<Self, Vec<Fault>> {
        reader::read(text_name, text, load)
    }

    /// Adds the claims of another registry.
    ///
    /// # Errors
    /// The names that both have; nothing is added then.
    pub fn join(&mut self, other: Self) -> Result<(), Vec<String>> {
        let known: HashSet<&str> = self.claims.iter().map(|claim| claim.name.as_str()).collect();
        let twice = other.claims.iter().filter(|claim| known.contains(claim.name.as_str()));
        let twice: Vec<String> = twice.map(|claim| claim.name.clone()).collect();
        if twice.is_empty() {
            self.claims.extend(other.claims);
            Ok(())
        } else {
            Err(twice)
        }
    }

    /// Keeps the claims of these names; the first words of a name, up to a hyphen, stand for all that begin so.
    ///
    /// # Errors
    /// Each name that no claim has, with the nearest one that a claim has.
    pub fn keep_named(&mut self, names: &[String]) -> Result<(), Vec<(String, Option<String>)>> {
        let is_meant = |claim: &Claim, name: &str| {
            claim.name.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        };
        let unknown = names.iter().filter(|name| !self.claims.iter().any(|claim| is_meant(claim, name)));
        let near = |name: &String| {
            let near = nearest(name, self.claims.iter().map(|claim| claim.name.as_str()));
            (name.clone(), near.map(str::to_owned))
        };
        let unknown: Vec<_> = unknown.map(near).collect();
        if unknown.is_empty() {
            self.claims.retain(|claim| names.iter().any(|name| is_meant(claim, name)));
            Ok(())
        } else {
            Err(unknown)
        }
    }
}

impl Claim {
    /// What has to be simulated to judge it, in the order in which [`Claim::judge`] wants it.
    pub fn scenarios(&self) -> Vec<Scenario> {
        if !self.needs_simulation() {
            return Vec::new();
        }
        let points = self.courses.iter().flat_map(|course| &course.points);
        points.map(|point| point.scenario.clone()).collect()
    }

    /// Judges it; `simulations` are those of [`Claim::scenarios`], in order.
    ///
    /// # Panics
    /// If there are fewer simulations than scenarios.
    pub fn judge(&self, simulations: &[Simulation]) -> Judgement {
        let mut judgement = judge::judge(self, simulations);
        if self.negated {
            judgement.verdict = judgement.verdict.negated();
        }
        judgement
    }

    fn needs_simulation(&self) -> bool {
        self.by == Origin::Simulation || matches!(self.kind, Kind::Agreement { .. })
    }

    /// Judges `model` where the claim is about a model's numbers.
    pub fn set_model(&mut self, model: Model) {
        if self.by.model().is_some() {
            self.by = model.into();
        }
    }
}
