//! The file of a figure: reads and checks it.
//!
//! ```toml
//! title = "Network latency over the real-time load"
//! kind = "lines"                    # lines, stacked, heat-map, distribution, chain, network,
//!                                   # over-time, congestion-tree or timeline
//! sources = ["published", "simulation"]    # and "refined"; each model may stay away
//!                                   # network: "simulation" alone, beside the exact loads
//! classes = ["R1", "BE"]            # all are the default
//! errors = true                     # lines: model minus simulation in a panel below
//!                                   # lines: panels = "variants" instead, a panel for each
//!                                   # stacked: parts = "causes" or "places" instead
//!
//! [scenario]
//! preset = "router16"               # or file = "mine.toml", or the scenario itself: [scenario.network] ..
//! set = { "class.BE.rate" = 0.008 } # paths in quotes
//!
//! [x]
//! key = "class.R1.rate"             # what varies
//! values = [0.002, 0.004, 0.006]    # where to simulate; models are drawn in between, too
//! couple = { "class.R2.rate" = "class.R1.rate/2" }
//!
//! [y]
//! quantity = "network-latency"      # waiting, total-latency, blocking, sharing, miss-probability, p99
//! unit = "us"                       # lines: or "ms", where the scenario says how long a cycle is
//!
//! [[variant]]                       # any number; each changes the scenario
//! label = "b = 16"
//! set = { "router.buffer_flits" = 16 }
//!
//! [quick]                           # over-time: a shorter run for quick reports
//! set = { "measure.end" = "300 us" }
//!
//! [[claim]]                         # what somebody says about it
//! text = "Model and simulation differ by at most 5 %."
//! source = "Section 4.1"
//! ```

mod over_time;

use flitwise_experiment::{self as experiment, packets};
use flitwise_language::document::{Document, Entry, Fault, Place, Reader, Table, Value, one_of};
use flitwise_language::quantity::{Measure, Quantity, Unit};
use flitwise_language::scenario::{
    Coupling, DeadlineSpec, Direction, Load, MAX_DEADLINES, Scenario, UnitsSpec,
};
use flitwise_models::model::Model;
use flitwise_validation::compare::read_measures;
use schemars::JsonSchema;
use serde::Serialize;

pub use over_time::OverTime;

use crate::note::{Place as PointPlace, Points};
use crate::picture::{Axis, Origin, Part};
use crate::timeline;

/// A figure, ready to be computed.
#[derive(Clone, Debug)]
pub struct Figure {
    /// Stem of its files, such as `fig04a`.
    pub name: String,
    /// What it shows, in one line.
    pub title: String,
    /// The system, in a few words.
    pub subtitle: String,
    /// Where its numbers are to come from.
    pub sources: Vec<Origin>,
    /// Whether its file says so.
    sources_named: bool,
    /// Names of the classes to draw, in the order of the scenario.
    pub classes: Vec<String>,
    /// Whether to draw the error of models, too.
    pub errors: bool,
    /// Whether each variant has a panel of its own.
    pub panels: bool,
    /// Points of a model's curve beside those that are simulated: [`CURVE_POINTS`] unless set otherwise.
    pub curve_points: usize,
    /// What is drawn.
    pub question: Question,
    /// What somebody says about it.
    pub claims: Vec<Claim>,
    pub(crate) base: Document,
    /// Where deadlines are asked for: place and key.
    asked_deadlines: (Place, String),
    /// The base, checked.
    pub(crate) scenario: Scenario,
}

/// What somebody says about a figure.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Claim {
    /// The claim, in a sentence.
    pub text: String,
    /// Who says so, and where.
    pub source: String,
}

/// What is drawn.
#[derive(Clone, Debug)]
pub enum Question {
    /// A quantity over a sweep.
    Lines {
        /// What varies.
        x: Sweep,
        /// What is drawn: one quantity, or a miss probability at several deadlines.
        measures: Vec<Measure>,
        /// What times are shown in, where it is not cycles.
        unit: Option<TimeUnit>,
        /// From where to where, if that is given.
        y_range: Option<(f64, f64)>,
        /// Changes of the scenario; at least one, which may change nothing.
        variants: Vec<Variant>,
    },
    /// Parts of the latency over a sweep.
    Stacked {
        /// What varies.
        x: Sweep,
        /// Which parts.
        parts: Parts,
    },
    /// A quantity of one class over two sweeps.
    HeatMap {
        /// What varies from left to right.
        x: Sweep,
        /// What varies from the bottom up.
        y: Sweep,
        /// What is drawn.
        measure: Measure,
    },
    /// Miss probability over the deadline.
    Distribution {
        /// Deadlines \[cycles\].
        deadlines: Vec<u32>,
    },
    /// The Markov chain of an output link.
    Chain,
    /// The loads of all channels of a network; beside them the simulated ones, if the simulation is a source.
    Network,
    /// A number of packet switches over time.
    OverTime(OverTime),
    /// When frames of streams are delivered in one run.
    Timeline {
        /// Changes of the scenario; at least one, which may change nothing.
        variants: Vec<Variant>,
    },
    /// What the ports of packet switches hold at chosen times.
    CongestionTree {
        /// When \[us\].
        times_us: Vec<f64>,
        /// Changes of the scenario; at least one, which may change nothing.
        variants: Vec<Variant>,
    },
}

/// A unit of times on the y axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeUnit {
    /// `ms` or `us`.
    pub name: &'static str,
    /// How much of it a cycle is.
    pub per_cycle: f64,
}

impl Question {
    /// Whether no model is asked that a user may choose, and nothing is simulated.
    fn is_settled(&self) -> bool {
        matches!(self, Self::Chain | Self::CongestionTree { .. } | Self::Timeline { .. })
    }
}

/// How the latency of a message is told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parts {
    /// Transfer, blocking, sharing and waiting: what the paper names.
    Causes,
    /// Where a message waits, router by router, its transfer left out: what simulation and refined model tell apart.
    Places,
}

impl Parts {
    /// The same, as what is drawn.
    pub fn kinds(self) -> &'static [Part] {
        match self {
            Self::Causes => &[Part::Transfer, Part::Blocking, Part::Sharing, Part::Waiting],
            Self::Places => &[Part::Input, Part::Arbitration, Part::Output, Part::Gaps, Part::Waiting],
        }
    }

    /// The parts, from the bottom up.
    pub fn quantities(self) -> &'static [Quantity] {
        use Quantity::{Arbitration, Blocking, Gaps, Input, Output, Sharing, Transfer, Waiting};
        match self {
            Self::Causes => &[Transfer, Blocking, Sharing, Waiting],
            Self::Places => &[Input, Arbitration, Output, Gaps, Waiting],
        }
    }
}

/// A value of the scenario that varies, and what goes with it.
#[derive(Clone, Debug)]
pub struct Sweep {
    /// Its axis.
    pub axis: Axis,
    /// Path of the value.
    pub key: String,
    /// Its values, rising.
    pub values: Vec<f64>,
    /// Where they stand in the figure's file.
    place: Place,
    couplings: Vec<(Coupling, Place)>,
}

/// A change of the scenario.
#[derive(Clone, Debug, Default)]
pub struct Variant {
    /// What the legend calls it; empty: nothing.
    pub label: String,
    settings: Vec<Entry>,
}

const ROOT: &[&str] = &[
    "title", "subtitle", "kind", "sources", "classes", "errors", "parts", "panels", "scenario", "x", "y",
    "z", "variant", "claim", "quick",
];
const SCENARIO: &[&str] = &["preset", "file", "set", "name", "network", "router", "switch", "class"];
const SWEEP: &[&str] = &["key", "label", "unit", "scale", "values", "couple"];
const QUANTITY: &[&str] = &["quantity", "at", "range", "class", "unit"];
const VARIANT: &[&str] = &["label", "set"];
const CLAIM: &[&str] = &["text", "source"];
const HEADS: &[(&str, &[&str])] = &[
    ("[scenario]", SCENARIO),
    ("[x]", SWEEP),
    ("[y]", QUANTITY),
    ("[[variant]]", VARIANT),
    ("[[claim]]", CLAIM),
];

/// Points of a model's curve, beside those that are simulated.
pub const CURVE_POINTS: usize = 96;

const KINDS: [&str; 9] = [
    "lines",
    "stacked",
    "heat-map",
    "distribution",
    "chain",
    "network",
    "over-time",
    "congestion-tree",
    "timeline",
];
/// Most hosts whose ports are drawn one by one, and most times.
const MOST_LINES: u32 = 256;
const MOST_TIMES: usize = 12;
/// Most planes of a map.
const MOST_PLANES: u32 = 16;
/// Most values of an axis.
const MOST_VALUES: usize = 1_000;
/// Most points that a figure may ask to simulate.
const MOST_POINTS: usize = 10_000;

impl Figure {
    /// Reads and checks a figure file's text; `text_name` is what messages call it, `name` the stem of its
    /// output, `load` reads the scenario file that it may name.
    ///
    /// # Errors
    /// Every fault, each at its place.
    pub fn from_toml(text_name: &str, text: &str, name: &str, load: &Load<'_>) -> Result<Self, Vec<Fault>> {
        let document = Document::parse(text_name, text)?;
        let mut reader = Reader::new(HEADS);
        let figure = Reading { reader: &mut reader, load }.figure(&document, name);
        match figure {
            Some(figure) => reader.finish(figure),
            None => Err(reader.into_faults()),
        }
    }

    /// The scenario at a point of the figure.
    pub(crate) fn at(
        &self,
        variant: Option<&Variant>,
        sweeps: &[(&Sweep, f64)],
    ) -> Result<Scenario, Vec<Fault>> {
        let mut document = self.base.clone();
        let mut faults = Vec::new();
        for entry in variant.iter().flat_map(|variant| &variant.settings) {
            faults.extend(document.set_entry(entry).err());
        }
        for (sweep, value) in sweeps {
            // short however small or large it is
            let value = if *value == value.trunc() { value.to_string() } else { format!("{value:?}") };
            faults.extend(document.set(&sweep.key, &value, &sweep.place).err());
        }
        for (coupling, place) in sweeps.iter().flat_map(|(sweep, _)| &sweep.couplings) {
            let at_its_place = |fault| vec![Fault { place: place.clone(), ..fault }];
            let setting = coupling.setting(&document).map_err(at_its_place)?;
            faults.extend(document.set(&setting.key, &setting.value, place).err());
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        let deadlines: Vec<DeadlineSpec> = match &self.question {
            Question::Lines { measures, .. } => {
                measures.iter().filter_map(|measure| measure.deadline()).collect()
            }
            Question::HeatMap { measure, .. } => measure.deadline().into_iter().collect(),
            Question::Distribution { deadlines } => {
                deadlines.iter().copied().map(DeadlineSpec::Cycles).collect()
            }
            _ => Vec::new(),
        };
        let scenario = document.scenario()?;
        self.check_classes(&document, &scenario)?;
        self.with_deadlines(&scenario, deadlines)
    }

    /// Curves are told apart by class: whatever is changed, there are the same ones.
    fn check_classes(&self, document: &Document, scenario: &Scenario) -> Result<(), Vec<Fault>> {
        let names = |scenario: &Scenario| -> Vec<String> {
            scenario.classes().iter().map(|class| class.name.clone()).collect()
        };
        let (found, wanted) = (names(scenario), names(&self.scenario));
        if found == wanted {
            return Ok(());
        }
        let renamed = found.iter().find(|name| !wanted.contains(name));
        let key = renamed.map_or("class".to_owned(), |name| format!("class.{name}.name"));
        let place = document.place_of_class(renamed.map(String::as_str)).clone();
        Err(vec![Fault {
            place,
            key,
            found: format!("the classes {}", found.join(", ")),
            wanted: format!("those of the figure's [scenario]: {}", wanted.join(", ")),
            help: Some("draw them as another figure".to_owned()),
        }])
    }

    /// The scenario with these deadlines for the classes that are drawn, and none for others.
    pub(crate) fn with_deadlines(
        &self,
        scenario: &Scenario,
        deadlines: Vec<DeadlineSpec>,
    ) -> Result<Scenario, Vec<Fault>> {
        let mut spec = scenario.spec().clone();
        for class in &mut spec.classes {
            let is_drawn = self.classes.contains(&class.name);
            class.deadlines = if is_drawn { deadlines.clone() } else { Vec::new() };
        }
        // they were asked for by the figure, of all classes alike
        let asked = |fault: Fault| match (fault.key.split_once(".deadlines"), &self.asked_deadlines) {
            (Some((_, rest)), (place, key)) => {
                Fault { place: place.clone(), key: format!("{key}{rest}"), help: None, ..fault }
            }
            _ => fault,
        };
        spec.check().map_err(|faults| faults.into_iter().map(asked).collect())
    }

    /// How many points there are.
    fn count(&self) -> usize {
        match &self.question {
            Question::Lines { x, variants, .. } => variants.len() * x.values.len(),
            Question::Stacked { x, .. } => x.values.len(),
            Question::HeatMap { x, y, .. } => x.values.len() * y.values.len(),
            Question::OverTime(drawn) => drawn.variants.len(),
            Question::CongestionTree { variants, .. } | Question::Timeline { variants } => variants.len(),
            Question::Distribution { .. } | Question::Chain | Question::Network => 1,
        }
    }

    /// Every point at which the figure's numbers are wanted: variant by variant, row by row.
    pub(crate) fn points(&self) -> Vec<Result<Scenario, Vec<Fault>>> {
        match &self.question {
            Question::Lines { x, variants, .. } => variants
                .iter()
                .flat_map(|variant| x.values.iter().map(move |value| self.at(Some(variant), &[(x, *value)])))
                .collect(),
            Question::Stacked { x, .. } => {
                x.values.iter().map(|value| self.at(None, &[(x, *value)])).collect()
            }
            Question::HeatMap { x, y, .. } => y
                .values
                .iter()
                .flat_map(|row| x.values.iter().map(move |column| self.at(None, &[(x, *column), (y, *row)])))
                .collect(),
            Question::OverTime(drawn) => {
                drawn.variants.iter().map(|variant| self.at(Some(variant), &[])).collect()
            }
            Question::CongestionTree { variants, .. } | Question::Timeline { variants } => {
                variants.iter().map(|variant| self.at(Some(variant), &[])).collect()
            }
            Question::Distribution { .. } | Question::Chain | Question::Network => vec![self.at(None, &[])],
        }
    }

    /// What varies along its rows.
    pub(crate) fn swept(&self) -> Option<&Sweep> {
        match &self.question {
            Question::Lines { x, .. } | Question::Stacked { x, .. } | Question::HeatMap { x, .. } => Some(x),
            _ => None,
        }
    }

    /// How its points are named.
    pub(crate) fn points_noted(&self) -> Points<'_> {
        let (row_axis, rows) = match &self.question {
            Question::Lines { variants, .. } => (None, variants.len()),
            Question::OverTime(drawn) => (None, drawn.variants.len()),
            Question::HeatMap { y, .. } => (Some(&y.axis), y.values.len()),
            _ => (None, 1),
        };
        Points { axis: self.swept().map(|sweep| &sweep.axis), row_axis, rows }
    }

    /// Where the point of this number is.
    pub(crate) fn place(&self, point: usize) -> PointPlace {
        let Some(x) = self.swept() else { return PointPlace::default() };
        let (row, column) = (point / x.values.len(), point % x.values.len());
        let row = match &self.question {
            Question::Lines { variants, .. } => {
                variants.get(row).map_or(String::new(), |variant| variant.label.clone())
            }
            Question::HeatMap { y, .. } => y.values.get(row).map_or(String::new(), f64::to_string),
            _ => String::new(),
        };
        PointPlace { row, x: x.values.get(column).copied() }
    }

    /// Where the point of this number is, in words such as `R1 load 0.004 messages/cycle/node`; empty if there is but
    /// one.
    pub fn place_words(&self, point: usize) -> String {
        let points = self.points_noted();
        // a single row has no name of its own; of others each is named
        Points { rows: points.rows.max(2), ..points }.named(&[&self.place(point)])
    }

    /// What its scenarios vary from.
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// Whether its simulations have to measure every channel by itself, which campaigns do not.
    pub fn wants_details(&self) -> bool {
        matches!(self.question, Question::Network)
    }

    /// What has to be simulated for it, in the order in which [`Figure::picture`] wants it.
    pub fn scenarios(&self) -> Vec<Scenario> {
        if !self.sources.contains(&Origin::Simulation) || !self.needs_simulation() {
            return Vec::new();
        }
        self.points().into_iter().map(|point| point.expect("checked when the figure was read")).collect()
    }
}

/// Where a figure asks for deadlines: place and key.
fn asked_deadlines(root: &Table<'_>) -> (Place, String) {
    let named = [("z", "at"), ("y", "at"), ("x", "values")].into_iter().find_map(|(name, key)| {
        let Value::Table(entries) = &root.get(name)?.value else { return None };
        let entry = entries.iter().find(|entry| entry.key == key)?;
        Some((entry.node.place.clone(), format!("{name}.{key}")))
    });
    named.unwrap_or_else(|| (root.place.clone(), "deadlines".to_owned()))
}

/// A figure being read.
struct Reading<'r> {
    reader: &'r mut Reader,
    load: &'r Load<'r>,
}

impl Reading<'_> {
    fn figure(&mut self, document: &Document, name: &str) -> Option<Figure> {
        let root = document.root();
        self.reader.refuse_unknown(&root, ROOT);
        self.reader.require(&root, "title", "a title in quotes", None);
        self.reader.require(&root, "kind", &one_of(KINDS), None);
        let title = self.reader.text(&root, "title").unwrap_or_default();
        let subtitle = self.reader.text(&root, "subtitle").unwrap_or_default();
        let kind = self.reader.word(&root, "kind", &KINDS, |kind| kind);
        let errors = self.reader.truth(&root, "errors").unwrap_or(false);
        let panels = self.panels(&root);
        let sources_named = root.get("sources").is_some();
        let claims = self.claims(&root);
        let base = self.reader.scenario(&root, "scenario", self.load);
        let scenario = base.as_ref().and_then(|base| match base.scenario() {
            Ok(scenario) => Some(scenario),
            Err(faults) => {
                self.reader.refuse_all(faults);
                None
            }
        });
        let sources = match kind {
            Some("congestion-tree" | "timeline") => Vec::new(),
            // exact loads are always there
            Some("network") => self.sources(&root, &[Origin::Simulation], Vec::new()),
            Some("over-time") => self.sources(&root, &Origin::OVER_TIME, Origin::OVER_TIME.to_vec()),
            _ => self.sources(&root, &Origin::NAMED, Origin::usual(scenario.as_ref())),
        };
        let question = kind.and_then(|kind| self.question(&root, kind, scenario.as_ref()));
        let classes = scenario.as_ref().map(|scenario| self.classes(&root, scenario, question.as_ref()));
        let figure = Figure {
            name: name.to_owned(),
            title,
            subtitle,
            sources,
            sources_named,
            classes: classes?,
            errors,
            panels,
            curve_points: CURVE_POINTS,
            question: question?,
            claims,
            asked_deadlines: asked_deadlines(&root),
            base: base?,
            scenario: scenario?,
        };
        if self.reader.faults().is_empty() {
            self.check_points(&figure, &root);
        }
        Some(figure)
    }

    fn sources(&mut self, root: &Table<'_>, named: &[Origin], usual: Vec<Origin>) -> Vec<Origin> {
        let Some(words) = self.reader.texts(root, "sources") else { return usual };
        let wanted = one_of(named.iter().map(|origin| origin.word()));
        let mut sources = Vec::new();
        for word in &words {
            match named.iter().find(|origin| origin.word() == word) {
                Some(origin) if !sources.contains(origin) => sources.push(*origin),
                Some(_) => {}
                None => self.refuse(root, "sources", format!("\"{word}\""), &wanted),
            }
        }
        if words.is_empty() {
            self.refuse(root, "sources", "no source".to_owned(), &wanted);
        }
        sources.sort_unstable();
        sources
    }

    fn claims(&mut self, root: &Table<'_>) -> Vec<Claim> {
        let tables = self.reader.tables(root, "claim");
        let claim = |table: Table<'_>| {
            self.reader.refuse_unknown(&table, CLAIM);
            self.reader.require(&table, "text", "a sentence in quotes", None);
            let text = self.reader.text(&table, "text").unwrap_or_default();
            Claim { text, source: self.reader.text(&table, "source").unwrap_or_default() }
        };
        tables.into_iter().map(claim).collect()
    }

    /// The classes to draw: all of the scenario, or those that are named.
    fn classes(&mut self, root: &Table<'_>, scenario: &Scenario, question: Option<&Question>) -> Vec<String> {
        let all = scenario.classes().iter().map(|class| class.name.clone());
        let wanted = match question {
            Some(Question::HeatMap { .. }) => {
                let z = self.reader.table(root, "z");
                z.and_then(|z| self.reader.text(&z, "class")).map(|class| vec![class])
            }
            _ => self.reader.texts(root, "classes"),
        };
        let Some(wanted) = wanted else { return all.collect() };
        for name in &wanted {
            if !all.clone().any(|known| known == *name) {
                let key = if matches!(question, Some(Question::HeatMap { .. })) { "z" } else { "classes" };
                let known: Vec<String> = all.clone().collect();
                let known = one_of(known.iter().map(String::as_str));
                self.refuse(root, key, format!("\"{name}\""), &format!("a class of the scenario: {known}"));
            }
        }
        if wanted.is_empty() {
            self.refuse(root, "classes", "no class".to_owned(), "at least one class of the scenario");
        }
        all.filter(|name| wanted.contains(name)).collect()
    }

    fn question(&mut self, root: &Table<'_>, kind: &str, scenario: Option<&Scenario>) -> Option<Question> {
        let allowed: &[&str] = match kind {
            "lines" => &["x", "y", "variant", "classes", "errors", "panels", "sources"],
            "stacked" => &["x", "classes", "sources", "parts"],
            "heat-map" => &["x", "y", "z", "sources"],
            "distribution" => &["x", "classes", "errors", "sources"],
            "over-time" => &["x", "y", "variant", "classes", "sources", "quick"],
            "congestion-tree" => &["x", "variant"],
            "timeline" => &["variant"],
            "network" => &["sources"],
            _ => &[],
        };
        for key in ["x", "y", "z", "variant", "classes", "errors", "sources", "parts", "panels", "quick"] {
            if root.get(key).is_some() && !allowed.contains(&key) {
                let found = format!("{key} in a figure of kind \"{kind}\"");
                self.refuse(root, key, found, "a figure without it");
            }
        }
        match kind {
            "lines" => {
                let x = self.sweep(root, "x");
                let help = "add  [y]  with  quantity = \"network-latency\"";
                self.reader.require(root, "y", "a [y] table", Some(help));
                let y = self.reader.table(root, "y")?;
                let measures = self.measures(&y);
                let y_range = self.range(&y);
                let unit = self.time_unit(&y, measures.as_deref(), scenario);
                let variants = self.variants(root);
                Some(Question::Lines { x: x?, measures: measures?, unit, y_range, variants })
            }
            "stacked" => {
                let (x, parts) = (self.sweep(root, "x"), self.parts(root));
                Some(Question::Stacked { x: x?, parts: parts? })
            }
            "heat-map" => self.heat_map(root),
            "over-time" => self.over_time(root),
            "distribution" => {
                self.reader.require(root, "x", "an [x] table with values = deadlines in cycles", None);
                let x = self.reader.table(root, "x")?;
                self.reader.refuse_unknown(&x, &["values"]);
                let deadlines = self.reader.rising(&x, "values", MOST_VALUES)?;
                let whole = |value: &f64| (1.0..=1e6).contains(value) && value.fract() == 0.0;
                if deadlines.len() > MAX_DEADLINES || !deadlines.iter().all(whole) {
                    let wanted =
                        format!("at most {MAX_DEADLINES} whole numbers of cycles from 1 to 1,000,000");
                    self.refuse(&x, "values", "something else".to_owned(), &wanted);
                }
                Some(Question::Distribution {
                    deadlines: deadlines.iter().map(|value| *value as u32).collect(),
                })
            }
            "congestion-tree" => self.congestion_tree(root, scenario),
            "timeline" => Some(Question::Timeline { variants: self.variants(root) }),
            "network" => {
                self.check_map(root, scenario?);
                Some(Question::Network)
            }
            _ => {
                let is_cube = scenario.is_some_and(|one| one.topology().as_hypercube().is_some());
                if is_cube {
                    let found = "a hypercube, which has a chain per channel".to_owned();
                    self.refuse(root, "scenario", found, "a router, which has one");
                }
                Some(Question::Chain)
            }
        }
    }

    /// Stages of packet switches with data in one direction, at times in \[us\].
    fn congestion_tree(&mut self, root: &Table<'_>, scenario: Option<&Scenario>) -> Option<Question> {
        self.reader.require(root, "x", "an [x] table with values = times in us", None);
        let x = self.reader.table(root, "x")?;
        self.reader.refuse_unknown(&x, &["values"]);
        let times_us = self.reader.rising(&x, "values", MOST_TIMES)?;
        let variants = self.variants(root);
        let network = scenario?.topology();
        let stages = network.as_multistage().filter(|one| one.direction == Direction::Unidirectional);
        if stages.is_none_or(|one| one.hosts > MOST_LINES) {
            let wanted = format!("unidirectional packet switches of at most {MOST_LINES} hosts");
            self.refuse(root, "scenario", network.name(), &wanted);
            return None;
        }
        let end_us = scenario?.measure().end.unwrap_or(0.0) / 1e3;
        if times_us.iter().any(|time| !(0.0..=end_us).contains(time)) {
            let wanted = format!("times within the run, up to {end_us} us");
            self.refuse(&x, "values", "something else".to_owned(), &wanted);
        }
        Some(Question::CongestionTree { times_us, variants })
    }

    /// A map has routers with coordinates, and not too many planes of them.
    fn check_map(&mut self, root: &Table<'_>, scenario: &Scenario) {
        let sides = scenario.topology().sides();
        let planes = sides.iter().skip(2).product::<u32>();
        let name = scenario.topology().name();
        if sides.is_empty() {
            self.refuse(root, "scenario", name, "a network of several routers, such as a mesh");
        } else if planes > MOST_PLANES {
            let wanted = format!("at most {MOST_PLANES}");
            self.refuse(root, "scenario", format!("{name}, whose map has {planes} planes"), &wanted);
        }
    }

    fn heat_map(&mut self, root: &Table<'_>) -> Option<Question> {
        let (x, y) = (self.sweep(root, "x"), self.sweep(root, "y"));
        let help = "add  [z]  with  quantity = \"network-latency\"  and  class = \"BE\"";
        self.reader.require(root, "z", "a [z] table", Some(help));
        let z = self.reader.table(root, "z")?;
        self.reader.require(&z, "class", "the name of a class", None);
        let measures = self.measures(&z)?;
        if measures.len() > 1 {
            self.refuse(&z, "at", format!("{} deadlines", measures.len()), "one in a heat-map");
        }
        if let (Some(x), Some(y)) = (&x, &y)
            && x.key == y.key
        {
            self.refuse(root, "y", format!("the key {} again", y.key), "a key other than that of [x]");
        }
        let measure = measures.into_iter().next();
        Some(Question::HeatMap { x: x?, y: y?, measure: measure? })
    }

    fn sweep(&mut self, root: &Table<'_>, name: &'static str) -> Option<Sweep> {
        let help = format!("add  [{name}]  with  key = \"class.R1.rate\"  and  values = [0.002, 0.004]");
        self.reader.require(root, name, &format!("a [{name}] table"), Some(&help));
        let table = self.reader.table(root, name)?;
        self.reader.refuse_unknown(&table, SWEEP);
        self.reader.require(&table, "key", "a path such as \"class.R1.rate\"", None);
        let key = self.reader.text(&table, "key");
        let values = self.reader.rising(&table, "values", MOST_VALUES);
        let couplings = self.reader.couplings(&table, "couple");
        let couplings = couplings.into_iter().map(|(coupling, place)| (coupling, place.clone())).collect();
        let logarithmic = self.logarithmic(&table);
        let (key, values) = (key?, values?);
        if logarithmic && values.iter().any(|value| *value <= 0.0) {
            self.refuse(&table, "values", "0 or less on a logarithmic axis".to_owned(), "values above 0");
        }
        let label = self.reader.text(&table, "label").unwrap_or_else(|| key.clone());
        let unit = self.reader.text(&table, "unit").unwrap_or_else(|| unit_of(&key).to_owned());
        let place = table.get("values").map_or(table.place, |node| &node.place).clone();
        Some(Sweep { axis: Axis { label, unit, logarithmic }, key, values, place, couplings })
    }

    fn logarithmic(&mut self, table: &Table<'_>) -> bool {
        let scales = ["linear", "logarithmic"];
        self.reader.word(table, "scale", &scales, |word| word) == Some("logarithmic")
    }

    /// One quantity, or a miss probability at several deadlines.
    fn measures(&mut self, table: &Table<'_>) -> Option<Vec<Measure>> {
        self.reader.refuse_unknown(table, QUANTITY);
        read_measures(self.reader, table)
    }

    /// What times of the y axis are shown in, where it is not cycles.
    fn time_unit(
        &mut self,
        y: &Table<'_>,
        measures: Option<&[Measure]>,
        scenario: Option<&Scenario>,
    ) -> Option<TimeUnit> {
        let is_time = |measures: &[Measure]| measures.iter().all(|one| one.quantity.unit() == Unit::Cycles);
        if y.get("unit").is_none() {
            let (name, per_cycle) = scenario?.spec().shown_time();
            return is_time(measures?).then_some(TimeUnit { name, per_cycle }).filter(|_| per_cycle != 1.0);
        }
        let name = self.reader.word(y, "unit", &["ms", "us"], |word| word)?;
        if !is_time(measures?) {
            self.refuse(
                y,
                "unit",
                format!("\"{name}\" of a quantity that is no time"),
                "a figure without it",
            );
        }
        let cycle_ns = scenario?.spec().units.as_ref().and_then(UnitsSpec::cycle_ns);
        if cycle_ns.is_none() {
            let found = format!("\"{name}\", and no length of a cycle");
            self.refuse(y, "unit", found, "a scenario with a table [units]");
        }
        let nanoseconds = if name == "ms" { 1e6 } else { 1e3 };
        Some(TimeUnit { name, per_cycle: cycle_ns? / nanoseconds })
    }

    fn parts(&mut self, root: &Table<'_>) -> Option<Parts> {
        if root.get("parts").is_none() {
            return Some(Parts::Causes);
        }
        self.reader.word(root, "parts", &[Parts::Causes, Parts::Places], |parts| match parts {
            Parts::Causes => "causes",
            Parts::Places => "places",
        })
    }

    /// Whether each variant has a panel of its own.
    fn panels(&mut self, root: &Table<'_>) -> bool {
        let named = root.get("panels").is_some();
        if !named {
            return false;
        }
        if root.get("errors").is_some() {
            let found = "panels and errors".to_owned();
            self.refuse(
                root,
                "panels",
                found,
                "either of them: each panel would have one of errors below it",
            );
        }
        if root.get("variant").is_none() {
            self.refuse(root, "panels", "no [[variant]]".to_owned(), "a [[variant]] for each panel");
        }
        self.reader.word(root, "panels", &[()], |()| "variants").is_some()
    }

    fn range(&mut self, table: &Table<'_>) -> Option<(f64, f64)> {
        let range = self.reader.reals(table, "range")?;
        match range.as_slice() {
            [low, high] if low.is_finite() && high.is_finite() && low < high => Some((*low, *high)),
            _ => {
                self.refuse(table, "range", "something else".to_owned(), "two numbers, such as [0, 200]");
                None
            }
        }
    }

    fn variants(&mut self, root: &Table<'_>) -> Vec<Variant> {
        let mut variants = Vec::new();
        for table in self.reader.tables(root, "variant") {
            self.reader.refuse_unknown(&table, VARIANT);
            self.reader.require(&table, "label", "what the legend calls it", None);
            let label = self.reader.text(&table, "label").unwrap_or_default();
            if variants.iter().any(|other: &Variant| other.label == label) {
                self.refuse(
                    &table,
                    "label",
                    format!("\"{label}\" again"),
                    "a label of its own for each variant",
                );
            }
            let settings = self.reader.settings(&table, "set").into_iter().cloned().collect();
            variants.push(Variant { label, settings });
        }
        if variants.is_empty() {
            variants.push(Variant::default());
        }
        variants
    }

    /// Every scenario of the figure must be sound and have somebody to answer it.
    fn check_points(&mut self, figure: &Figure, root: &Table<'_>) {
        if figure.count() > MOST_POINTS {
            let wanted = format!("at most {MOST_POINTS}");
            self.refuse(root, "x", format!("{} points to compute", figure.count()), &wanted);
            return;
        }
        let mut found: Vec<Fault> = Vec::new();
        let is_over_time = matches!(figure.question, Question::OverTime(_));
        if is_over_time && !experiment::has_series(&figure.scenario) {
            self.refuse(root, "scenario", figure.scenario.topology().name(), "packet switches over time");
            return;
        }
        let mut shorter = figure.clone();
        found.extend(shorter.quicken().err().into_iter().flatten());
        for point in figure.points().into_iter().chain(shorter.points()) {
            match point {
                Err(faults) => found.extend(faults),
                Ok(scenario) => {
                    if figure.sources.contains(&Origin::Simulation) && figure.needs_simulation() {
                        found.extend(experiment::supports(&scenario).err().into_iter().flatten());
                    }
                    match figure.question {
                        Question::CongestionTree { .. } => {
                            found.extend(packets::supports(&scenario).err().into_iter().flatten());
                        }
                        Question::Timeline { .. } => found.extend(timeline::refused(&scenario, root.place)),
                        _ => {}
                    }
                    found.extend(figure.unanswered(&scenario).into_iter().map(|refusal| Fault {
                        place: root.get("sources").map_or(root.place, |node| &node.place).clone(),
                        key: "sources".to_owned(),
                        found: refusal,
                        wanted: "a scenario that the model has".to_owned(),
                        help: Some("sources = [\"simulation\"]  leaves models out".to_owned()),
                    }));
                }
            }
        }
        let mut known: Vec<String> = Vec::new();
        found.retain(|fault| {
            let is_new = !known.contains(&fault.to_string());
            known.push(fault.to_string());
            is_new
        });
        self.reader.refuse_all(found);
    }

    fn refuse(&mut self, table: &Table<'_>, key: &str, found: String, wanted: &str) {
        let place = table.get(key).map_or(table.place, |node| &node.place);
        self.reader.refuse(place, table.key(key), found, wanted.to_owned(), None);
    }
}

impl Figure {
    /// The models that it draws.
    pub(crate) fn models(&self) -> impl Iterator<Item = Model> {
        self.sources.iter().filter_map(|origin| origin.model())
    }

    /// Draws these models instead, if it draws any; those of the chain of an output link are always the published
    /// one's. A model that refuses a scenario is left out there if another one answers.
    ///
    /// # Errors
    /// What the models say, if there is a scenario that all of them refuse.
    pub fn set_models(&mut self, models: &[Model]) -> Result<(), Vec<String>> {
        let is_over_time = matches!(self.question, Question::OverTime(_));
        if self.models().next().is_none() || self.question.is_settled() || is_over_time {
            return Ok(());
        }
        self.sources.retain(|origin| origin.model().is_none());
        self.sources.extend(models.iter().map(|model| Origin::from(*model)));
        self.sources.sort_unstable();
        self.sources_named = false;
        let mut refusals: Vec<String> = Vec::new();
        for scenario in self.points().into_iter().flatten() {
            let new = self.unanswered(&scenario);
            refusals
                .extend(new.into_iter().filter(|refusal| !refusals.contains(refusal)).collect::<Vec<_>>());
        }
        if refusals.is_empty() { Ok(()) } else { Err(refusals) }
    }

    /// What is said by models that have to answer a scenario and do not: each that the file names; else one is
    /// enough.
    fn unanswered(&self, scenario: &Scenario) -> Vec<String> {
        let answers: Vec<Result<(), String>> = self
            .models()
            .map(|model| model.supports(scenario).map_err(|failure| failure.to_string()))
            .collect();
        // over time the simulation alone is a figure
        let is_over_time = matches!(self.question, Question::OverTime(_));
        let enough = !self.sources_named && (is_over_time || answers.iter().any(Result::is_ok));
        if enough { Vec::new() } else { answers.into_iter().filter_map(Result::err).collect() }
    }

    /// Whether a simulation has anything to say about it.
    fn needs_simulation(&self) -> bool {
        !self.question.is_settled()
    }
}

/// The unit of a value of a scenario, by the last word of its path.
fn unit_of(key: &str) -> &'static str {
    match key.rsplit('.').next().unwrap_or(key) {
        "rate" => "messages/cycle/node",
        "peak_rate" => "messages/cycle",
        "buffer_flits" | "message_flits" => "flits",
        "pipeline_stages" => "stages",
        "ports" => "ports",
        "dimension" => "dimensions",
        "vtick" => "cycles/flit",
        "messages_per_burst" => "messages",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALONE: &str = "title = \"a\"\nkind = \"stacked\"\n[scenario]\npreset = \"router16\"\n\
        [x]\nkey = \"class.R1.rate\"\nvalues = [0.001]\n";

    fn read(text: &str) -> Result<Figure, Vec<Fault>> {
        Figure::from_toml("t.toml", text, "t", &|_: &str| Err(Vec::new()))
    }

    #[test]
    fn the_usual_sources_follow_the_model_that_answers_by_default() {
        let figure = read(ALONE).unwrap();
        assert_eq!(figure.sources, Origin::usual(Some(&figure.scenario)));
        assert!(figure.sources.contains(&Model::DEFAULT.into()));
        assert!(figure.sources.contains(&Origin::Published) && figure.sources.contains(&Origin::Simulation));
    }

    /// A panel for each variant needs variants, and leaves no room for a panel of errors.
    #[test]
    fn panels_are_for_variants() {
        let lines = "title = \"a\"\nkind = \"lines\"\npanels = \"variants\"\n[scenario]\npreset = \"router16\"\n\
            [x]\nkey = \"class.R1.rate\"\nvalues = [0.001]\n[y]\nquantity = \"network-latency\"\n";
        let variant = "[[variant]]\nlabel = \"b = 4 flits\"\nset = { \"router.buffer_flits\" = 4 }\n";
        let sound = format!("{lines}{variant}");
        let mut figure = read(&sound).unwrap();
        figure.sources = vec![Origin::Published];
        let crate::picture::Content::Lines(drawn) = figure.picture(&[]).content else { panic!("lines") };
        assert_eq!(drawn.panels, ["b = 4 flits"]);
        assert_eq!(drawn.series.iter().map(|one| one.label.as_str()).collect::<Vec<_>>(), ["R1", "R2", "BE"]);
        let fault = |text: &str| read(text).unwrap_err()[0].to_string();
        assert!(fault(lines).contains("a [[variant]] for each panel"), "{}", fault(lines));
        let errors = fault(&format!("errors = true\n{sound}"));
        assert!(errors.contains("panels and errors"), "{errors}");
        assert!(fault(&sound.replace("variants", "classes")).contains("variants"));
        let stacked = read(&format!("panels = \"variants\"\n{ALONE}")).unwrap_err();
        assert!(
            stacked.iter().any(|one| one.to_string().contains("panels in a figure of kind")),
            "{stacked:?}"
        );
    }

    /// A model that a file names has to answer; of several that are asked for beside it one is enough.
    #[test]
    fn models_that_refuse_are_left_out_unless_the_file_names_them() {
        let mut fifo = String::from(ALONE);
        fifo = fifo.replace("[x]", "set = { \"router.scheduler\" = \"round-robin\" }\n[x]");
        let refuses = |model: Model, text: &str| {
            let text = format!("sources = [\"simulation\"]\n{text}");
            let scenario = read(&text).unwrap().points().remove(0).unwrap();
            model.supports(&scenario).is_err()
        };
        for text in [ALONE, &fifo] {
            let known: Vec<Model> = Model::ALL.into_iter().filter(|model| !refuses(*model, text)).collect();
            for model in Model::ALL {
                let named = read(&format!("sources = [\"{model}\", \"simulation\"]\n{text}"));
                assert_eq!(named.is_ok(), known.contains(&model), "{model}");
                if let Err(faults) = named {
                    assert!(faults[0].to_string().contains(&format!("the {model} model")), "{faults:?}");
                    assert!(faults[0].place.to_string().starts_with("t.toml:1:"), "{faults:?}");
                }
            }
            // without a model there is none to put in its place
            let mut figure = read(&format!("sources = [\"simulation\"]\n{text}")).unwrap();
            assert_eq!(figure.set_models(&Model::OF_MESSAGES), Ok(()));
            assert_eq!(figure.sources, [Origin::Simulation]);
            let Some(first) = known.first() else { continue };
            let mut figure = read(&format!("sources = [\"{first}\"]\n{text}")).unwrap();
            assert_eq!(figure.set_models(&Model::OF_MESSAGES), Ok(()), "one is enough");
            assert_eq!(figure.sources, [Origin::Published, Origin::Refined]);
            for model in Model::ALL {
                assert_eq!(figure.set_models(&[model]).is_ok(), known.contains(&model));
            }
        }
    }
}
