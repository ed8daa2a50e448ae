//! The file of a figure: reads and checks it.
//!
//! ```toml
//! title = "Network latency over the real-time load"
//! subtitle = "16 ports"             # {traffic} stands for hosts, traffics and packets of packet switches
//! kind = "lines"                    # lines, stacked, heat-map, distribution, chain, network,
//!                                   # over-time, congestion-tree, pipeline, worms, stamps, timeline or phases
//! sources = ["published", "simulation"]    # and "refined"; each model may stay away
//!                                   # network: "simulation" alone, beside the exact loads
//! classes = ["R1", "BE"]            # all are the default
//! errors = true                     # lines: model minus simulation in a panel below
//!                                   # lines: panels = "variants" instead, a panel for each
//!                                   # stacked: parts = "causes" or "places" instead
//!                                   # pipeline: messages = 3, the first ones that enter; stamps: port = 0, an output
//!
//! [scenario]
//! preset = "router16"               # or file = "mine.toml", or the scenario itself: [scenario.network] ..
//! set = { "class.BE.rate" = 0.008 } # paths in quotes
//!
//! [x]
//! key = "class.R1.rate"             # what varies
//! values = [0.002, 0.004, 0.006]    # where to simulate; models are drawn in between, too
//! couple = { "class.R2.rate" = "class.R1.rate/2" }
//!                                   # congestion-tree, pipeline, worms, stamps: values alone, times in us or cycles
//!
//! [y]
//! quantity = "network-latency"      # waiting, total-latency, blocking, sharing, miss-probability, p99
//!                                   # phases: column = "total_latency_cycles", and a label for it; with  over = "time"
//!                                   # beside kind, columns = [..] draws several of them
//! unit = "us"                       # lines, phases: or "ms", where the scenario says how long a cycle is
//!
//! [[variant]]                       # any number; each changes the scenario
//! label = "b = 16"
//! set = { "router.buffer_flits" = 16 }
//!
//! [[printed]]                       # lines, over-time: numbers that a paper prints, drawn as crosses
//! variant = "b = 16"                # whose colour they have; the first one's without it
//! x = [0.002, 0.004]
//! y = [38.1, 41.0]                  # in the unit of the y axis
//! by = "BookSim2"                   # what the legend says, if they are of no paper
//!
//! trials = 4                        # bisection: how many random pairings of nodes are simulated
//!
//! [quick]                           # lines, over-time, phases: a shorter run for quick reports
//! set = { "measure.end" = "300 us" }
//!
//! [[claim]]                         # what somebody says about it
//! text = "Model and simulation differ by at most 5 %."
//! source = "Section 4.1"
//! ```

use flitwise_language::document::{Document, Entry, Fault, Place, Reader, Table, Value, one_of};
use flitwise_language::quantity::Measure;
use flitwise_language::scenario::{Coupling, DeadlineSpec, Load, Scenario};
use flitwise_models::model::Model;
use flitwise_validation::compare::read_measures;
use flitwise_validation::machine;
use schemars::JsonSchema;
use serde::Serialize;

use crate::kinds::{KINDS, Kind, Question};
use crate::note::{Place as PointPlace, Points};
use crate::picture::{Axis, Origin};

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
    pub(crate) question: Question,
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

/// Numbers that a paper prints.
#[derive(Clone, Debug)]
pub(crate) struct Printed {
    /// The place of the variant that they are of.
    pub(crate) variant: usize,
    /// Their places on the two axes.
    pub(crate) points: Vec<(f64, f64)>,
    /// Who made them, if it is no paper that prints them.
    pub(crate) by: Option<String>,
}

impl Printed {
    /// Who made these numbers, each once; `None` if a paper prints all of them.
    pub(crate) fn makers(all: &[Self]) -> Option<String> {
        let mut makers: Vec<&str> = Vec::new();
        for one in all {
            let maker = one.by.as_deref().unwrap_or(Origin::Printed.legend());
            if !makers.contains(&maker) {
                makers.push(maker);
            }
        }
        all.iter().any(|one| one.by.is_some()).then(|| makers.join(", "))
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

impl Sweep {
    /// Another key that varies beside this one.
    pub(crate) fn along(&self, key: String, values: Vec<f64>) -> Self {
        let axis = Axis::of(&key, unit_of(&key));
        Self { axis, key, values, place: self.place.clone(), couplings: Vec::new() }
    }
}

/// A change of the scenario.
#[derive(Clone, Debug, Default)]
pub struct Variant {
    /// What the legend calls it; empty: nothing.
    pub label: String,
    settings: Vec<Entry>,
}

/// Keys of a figure's file in the order in which messages list them; others of a kind follow.
const ROOT: [&str; 16] = [
    "title", "subtitle", "kind", "sources", "classes", "errors", "parts", "panels", "scenario", "x", "y",
    "z", "variant", "claim", "printed", "quick",
];
/// Those of figures of every kind.
const EVERY: [&str; 5] = ["title", "subtitle", "kind", "scenario", "claim"];
const SCENARIO: &[&str] = &["preset", "file", "set", "name", "network", "router", "switch", "class"];
const SWEEP: &[&str] = &["key", "label", "unit", "scale", "values", "couple"];
const QUANTITY: &[&str] = &["quantity", "at", "range", "class", "unit"];
const VARIANT: &[&str] = &["label", "set"];
const CLAIM: &[&str] = &["text", "source"];
const PRINTED: &[&str] = &["variant", "x", "y", "by"];
const HEADS: &[(&str, &[&str])] = &[
    ("[scenario]", SCENARIO),
    ("[x]", SWEEP),
    ("[y]", QUANTITY),
    ("[[variant]]", VARIANT),
    ("[[claim]]", CLAIM),
    ("[[printed]]", PRINTED),
];

/// All keys of a figure's file, whatever its kind.
fn keys() -> Vec<&'static str> {
    let mut keys = ROOT.to_vec();
    let others = KINDS.iter().flat_map(|kind| kind.keys).filter(|key| !ROOT.contains(key));
    keys.extend(others);
    keys
}

/// Points of a model's curve, beside those that are simulated.
pub const CURVE_POINTS: usize = 96;

/// Most values of an axis.
pub(crate) const MOST_VALUES: usize = 1_000;
/// The last cycle whose flits are drawn: up to it every flit is moved one by one.
pub(crate) const MOST_CYCLE: u32 = 20_000;
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

    /// The system in a few words, with those for `{traffic}`.
    pub fn subtitle_words(&self) -> String {
        self.subtitle.replace("{traffic}", &crate::kinds::over_time::traffic(&self.scenario))
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
        let scenario = document.scenario()?;
        self.check_classes(&document, &scenario)?;
        self.with_deadlines(&scenario, self.question.deadlines())
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

    /// Every point at which the figure's numbers are wanted: variant by variant, row by row.
    pub(crate) fn points(&self) -> Vec<Result<Scenario, Vec<Fault>>> {
        self.question.points().iter().map(|spot| self.at(spot.variant, &spot.at)).collect()
    }

    /// How its points are named.
    pub(crate) fn points_noted(&self) -> Points<'_> {
        let axis = self.question.swept().map(|sweep| &sweep.axis);
        Points { axis, row_axis: self.question.row_axis(), rows: self.question.rows().len() }
    }

    /// Where the point of this number is.
    pub(crate) fn place(&self, point: usize) -> PointPlace {
        let Some(x) = self.question.swept() else { return PointPlace::default() };
        let (row, column) = (point / x.values.len(), point % x.values.len());
        let row = self.question.rows().get(row).cloned().unwrap_or_default();
        PointPlace { row, x: x.values.get(column).copied() }
    }

    /// Where the point of this number is, in words such as `R1 load 0.004 messages/cycle/node`; empty if there is but
    /// one.
    pub fn place_words(&self, point: usize) -> String {
        let points = self.points_noted();
        // a single row has no name of its own; of others each is named
        Points { rows: points.rows.max(2), ..points }.named(&[&self.place(point)])
    }

    /// The values that vary along its axis, if there are any.
    pub(crate) fn swept_values(&self) -> Option<&[f64]> {
        self.question.swept().map(|sweep| sweep.values.as_slice())
    }

    /// What its scenarios vary from.
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// Whether its simulations have to measure every channel by itself, which campaigns do not.
    pub fn wants_details(&self) -> bool {
        self.question.wants_details()
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
pub(crate) struct Reading<'r> {
    pub(crate) reader: &'r mut Reader,
    load: &'r Load<'r>,
}

impl Reading<'_> {
    fn figure(&mut self, document: &Document, name: &str) -> Option<Figure> {
        let root = document.root();
        self.reader.refuse_unknown(&root, &keys());
        self.reader.require(&root, "title", "a title in quotes", None);
        self.reader.require(&root, "kind", &one_of(KINDS.iter().map(|kind| kind.word)), None);
        let title = self.reader.text(&root, "title").unwrap_or_default();
        let subtitle = self.reader.text(&root, "subtitle").unwrap_or_default();
        let kind = self.reader.word(&root, "kind", KINDS, |kind| kind.word);
        let errors = self.reader.truth(&root, "errors").unwrap_or(false);
        let panels = self.panels(&root);
        let sources_named = root.get("sources").is_some();
        let (named, usual) = match &kind {
            Some(kind) => (kind.sources)(),
            None => (&Origin::NAMED[..], Origin::usual(None)),
        };
        let follows_scenario = !sources_named && usual == Origin::usual(None);
        let mut sources = if named.is_empty() { usual } else { self.sources(&root, named, usual) };
        let claims = self.claims(&root);
        let base = self.reader.scenario(&root, "scenario", self.load);
        let scenario = base.as_ref().and_then(|base| match base.scenario() {
            Ok(scenario) => Some(scenario),
            Err(faults) => {
                self.reader.refuse_all(faults);
                None
            }
        });
        if follows_scenario {
            sources = Origin::usual(scenario.as_ref());
        }
        let question = kind.and_then(|kind| self.question(&root, &kind, scenario.as_ref()));
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
        let own = question.and_then(|question| question.class());
        let (key, wanted) = match own {
            Some((key, class)) => (key, Some(vec![class.to_owned()])),
            None => ("classes", self.reader.texts(root, "classes")),
        };
        let Some(wanted) = wanted else { return all.collect() };
        for name in &wanted {
            if !all.clone().any(|known| known == *name) {
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

    fn question(&mut self, root: &Table<'_>, kind: &Kind, scenario: Option<&Scenario>) -> Option<Question> {
        for key in keys().into_iter().filter(|key| !EVERY.contains(key) && !kind.keys.contains(key)) {
            if root.get(key).is_some() {
                let found = format!("{key} in a figure of kind \"{}\"", kind.word);
                self.refuse(root, key, found, "a figure without it");
            }
        }
        (kind.read)(self, root, scenario)
    }

    pub(crate) fn sweep(&mut self, root: &Table<'_>, name: &'static str) -> Option<Sweep> {
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

    pub(crate) fn logarithmic(&mut self, table: &Table<'_>) -> bool {
        let scales = ["linear", "logarithmic"];
        self.reader.word(table, "scale", &scales, |word| word) == Some("logarithmic")
    }

    /// One quantity, or a miss probability at several deadlines.
    pub(crate) fn measures(&mut self, table: &Table<'_>) -> Option<Vec<Measure>> {
        self.reader.refuse_unknown(table, QUANTITY);
        read_measures(self.reader, table)
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

    /// Cycles that `[x] values` names, rising; empty without them.
    pub(crate) fn cycles(&mut self, root: &Table<'_>, most: usize) -> Vec<u64> {
        let Some(x) = self.reader.table(root, "x") else { return Vec::new() };
        self.reader.refuse_unknown(&x, &["values"]);
        let values = self.reader.rising(&x, "values", most).unwrap_or_default();
        let last = f64::from(MOST_CYCLE);
        if let Some(other) =
            values.iter().find(|value| value.fract() != 0.0 || !(0.0..=last).contains(*value))
        {
            self.refuse(
                &x,
                "values",
                other.to_string(),
                &format!("cycles, whole numbers up to {MOST_CYCLE}"),
            );
        }
        values.into_iter().map(|value| value as u64).collect()
    }

    pub(crate) fn range(&mut self, table: &Table<'_>) -> Option<(f64, f64)> {
        let range = self.reader.reals(table, "range")?;
        match range.as_slice() {
            [low, high] if low.is_finite() && high.is_finite() && low < high => Some((*low, *high)),
            _ => {
                self.refuse(table, "range", "something else".to_owned(), "two numbers, such as [0, 200]");
                None
            }
        }
    }

    pub(crate) fn variants(&mut self, root: &Table<'_>) -> Vec<Variant> {
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

    /// Numbers that a paper prints, of these variants.
    pub(crate) fn printed(&mut self, root: &Table<'_>, variants: &[Variant]) -> Vec<Printed> {
        let mut all = Vec::new();
        for table in self.reader.tables(root, "printed") {
            self.reader.refuse_unknown(&table, PRINTED);
            let label = self.reader.text(&table, "variant");
            let variant = match &label {
                None => Some(0),
                Some(label) => variants.iter().position(|variant| variant.label == *label),
            };
            if variant.is_none() {
                let known = one_of(variants.iter().map(|variant| variant.label.as_str()));
                let found = format!("\"{}\"", label.unwrap_or_default());
                self.refuse(&table, "variant", found, &format!("a variant of the figure: {known}"));
            }
            let [x, y] = ["x", "y"].map(|key| {
                self.reader.require(&table, key, "numbers, such as [0.6, 0.7]", None);
                self.reader.reals(&table, key).unwrap_or_default()
            });
            if x.len() != y.len() {
                let (found, wanted) = (format!("{} numbers", y.len()), format!("{}, as many as x", x.len()));
                self.refuse(&table, "y", found, &wanted);
            }
            let points = x.into_iter().zip(y).collect();
            let by = self.reader.text(&table, "by");
            all.push(Printed { variant: variant.unwrap_or(0), points, by });
        }
        all
    }

    /// Every scenario of the figure must be sound and have somebody to answer it.
    fn check_points(&mut self, figure: &Figure, root: &Table<'_>) {
        let count = figure.question.points().len();
        if count > MOST_POINTS {
            let wanted = format!("at most {MOST_POINTS}");
            self.refuse(root, "x", format!("{count} points to compute"), &wanted);
            return;
        }
        let mut found: Vec<Fault> = Vec::new();
        let mut shorter = figure.clone();
        found.extend(shorter.quicken().err().into_iter().flatten());
        for point in figure.points().into_iter().chain(shorter.points()) {
            match point {
                Err(faults) => found.extend(faults),
                Ok(scenario) => {
                    if figure.sources.contains(&Origin::Simulation) && figure.needs_simulation() {
                        found.extend(machine::supports(&scenario).err().into_iter().flatten());
                    }
                    found.extend(figure.question.refused(&scenario, root.place));
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

    /// What `[quick]` sets for a quick report.
    pub(crate) fn shorter_run(&mut self, root: &Table<'_>) -> Option<Vec<Entry>> {
        let table = self.reader.table(root, "quick")?;
        self.reader.refuse_unknown(&table, &["set"]);
        Some(self.reader.settings(&table, "set").into_iter().cloned().collect())
    }

    pub(crate) fn refuse(&mut self, table: &Table<'_>, key: &str, found: String, wanted: &str) {
        let place = table.get(key).map_or(table.place, |node| &node.place);
        self.reader.refuse(place, table.key(key), found, wanted.to_owned(), None);
    }
}

impl Figure {
    /// The models that it draws.
    pub(crate) fn models(&self) -> impl Iterator<Item = Model> {
        self.sources.iter().filter_map(|origin| origin.model())
    }

    /// The model that answers its scenario where none is named.
    pub fn usual_model(&self) -> Model {
        Model::usual(&self.scenario)
    }

    /// Draws these models instead, if it draws any; those of the chain of an output link are always the published
    /// one's. A model that refuses a scenario is left out there if another one answers.
    ///
    /// # Errors
    /// What the models say, if there is a scenario that all of them refuse; a single one that is not the model of a
    /// figure over time or of phases.
    pub fn set_models(&mut self, models: &[Model]) -> Result<(), Vec<String>> {
        let own: Vec<Model> = self.models().collect();
        if let ([own], [asked], true) = (&own[..], models, self.question.needs_no_model())
            && own != asked
        {
            return Err(vec![format!("the {asked} model has none of these numbers; the {own} model has")]);
        }
        if own.is_empty() || self.question.is_settled() || self.question.needs_no_model() {
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
        let needs_no_model = self.question.needs_no_model();
        let enough = !self.sources_named && (needs_no_model || answers.iter().any(Result::is_ok));
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
        assert!(figure.sources.contains(&Origin::PUBLISHED) && figure.sources.contains(&Origin::Simulation));
    }

    /// A panel for each variant needs variants, and leaves no room for a panel of errors.
    #[test]
    fn panels_are_for_variants() {
        let lines = "title = \"a\"\nkind = \"lines\"\npanels = \"variants\"\n[scenario]\npreset = \"router16\"\n\
            [x]\nkey = \"class.R1.rate\"\nvalues = [0.001]\n[y]\nquantity = \"network-latency\"\n";
        let variant = "[[variant]]\nlabel = \"b = 4 flits\"\nset = { \"router.buffer_flits\" = 4 }\n";
        let sound = format!("{lines}{variant}");
        let mut figure = read(&sound).unwrap();
        figure.sources = vec![Origin::PUBLISHED];
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

    /// What a paper prints has the colour of its variant, and is refused where it is of none or has no place.
    #[test]
    fn printed_numbers_are_points_of_their_own() {
        let lines = "title = \"a\"\nkind = \"lines\"\nsources = [\"published\"]\nclasses = [\"R1\"]\n[scenario]\n\
            preset = \"router16\"\n[x]\nkey = \"class.R1.rate\"\nvalues = [0.001]\n[y]\n\
            quantity = \"network-latency\"\n[[variant]]\nlabel = \"a\"\n[[variant]]\nlabel = \"b\"\n\
            [[printed]]\nvariant = \"b\"\nx = [0.001, 0.002]\ny = [37, 38]\n";
        let crate::picture::Content::Lines(drawn) = read(lines).unwrap().picture(&[]).content else {
            panic!("lines")
        };
        let [.., of_b, printed] = drawn.series.as_slice() else { panic!("series") };
        assert_eq!((printed.origin, printed.points.len()), (Origin::Printed, 2));
        assert_eq!((printed.style, printed.variant, &printed.label), (of_b.style, of_b.variant, &of_b.label));
        for (old, new, wanted) in [
            ("variant = \"b\"", "variant = \"c\"", "a variant of the figure: \"a\" or \"b\""),
            ("[37, 38]", "[37]", "2, as many as x"),
            ("[37, 38]", "[37, 38]\nz = [1]", "printed[1].z"),
        ] {
            let faults = read(&lines.replacen(old, new, 1)).unwrap_err();
            assert!(faults[0].to_string().contains(wanted), "{faults:?}");
        }
        let other = format!("{lines}by = \"X\"\n[[printed]]\nvariant = \"a\"\nx = [0.001]\ny = [1]\n");
        for (text, makers) in [
            (lines.to_owned(), None),
            (format!("{lines}by = \"X\"\n"), Some("X")),
            (other.clone(), Some("X, printed in the paper")),
            (format!("{other}by = \"X\"\n"), Some("X")),
            (format!("{other}by = \"Y\"\n"), Some("X, Y")),
        ] {
            let crate::picture::Content::Lines(drawn) = read(&text).unwrap().picture(&[]).content else {
                panic!("lines")
            };
            assert_eq!(drawn.printed_by.as_deref(), makers);
        }
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
            assert_eq!(figure.sources, [Origin::PUBLISHED, Origin::REFINED]);
            for model in Model::ALL {
                assert_eq!(figure.set_models(&[model]).is_ok(), known.contains(&model));
            }
        }
    }
}
