//! Reads claims from a registry's text. All faults are reported at once, with their places.

use flitwise_language::document::{Entry, Node, Reader, Table, Value, one_of};
use flitwise_language::quantity::{Quantity, Unit};
use flitwise_language::scenario::{Coupling, DeadlineSpec, Document, Fault, Place, Scenario};

use super::asked::Asked;
use super::{Bounds, Claim, Course, CoursePoint, Kind, Load, Origin, Registry, TimeUnit, Verdict};
use crate::compare::read_measures;
use crate::machine::supports;
use crate::phases::{self, MixAxis, PhaseColumn};
use flitwise_experiment as experiment;
use flitwise_experiment::packets::TimeSeries;

const ROOT: &[&str] = &["claim"];
/// Keys that every claim may have.
const COMMON: &[&str] =
    &["name", "text", "source", "kind", "negated", "scenario", "precision", "expect", "reason", "quick"];
/// All others.
const SPECIAL: &[&str] = &[
    "by",
    "x",
    "than_x",
    "variant",
    "quantity",
    "column",
    "at",
    "classes",
    "class",
    "than",
    "value",
    "plus_minus",
    "from",
    "to",
    "tolerance",
    "window",
    "unit",
];
const SCENARIO: &[&str] = &["preset", "file", "set", "name", "network", "router", "class"];
const SWEEP: &[&str] = &["key", "values", "couple"];
const VARIANT: &[&str] = &["label", "preset", "set", "couple"];
const HEADS: &[(&str, &[&str])] =
    &[("x = {}", SWEEP), ("[[claim.variant]]", VARIANT), ("scenario = {}", SCENARIO)];

/// Every kind and the keys that it may have beside the common ones.
const KINDS: [(&str, &[&str]); 10] = [
    ("agreement", &["by", "x", "variant", "quantity", "column", "at", "classes", "tolerance"]),
    (
        "value",
        &[
            "by",
            "x",
            "variant",
            "quantity",
            "column",
            "at",
            "class",
            "value",
            "plus_minus",
            "from",
            "to",
            "unit",
        ],
    ),
    ("order", &["by", "x", "variant", "quantity", "column", "at", "classes"]),
    ("unmoved", &["by", "x", "quantity", "column", "at", "classes", "tolerance"]),
    ("rises", &["by", "x", "quantity", "column", "at", "classes"]),
    ("coincide", &["by", "x", "variant", "quantity", "column", "at", "classes", "tolerance"]),
    ("grows-faster", &["by", "x", "than_x", "variant", "quantity", "column", "at", "class", "than"]),
    ("saturates-earlier", &["by", "x", "column", "at", "variant", "class", "than"]),
    ("saturated", &["by", "x", "column", "at", "variant", "class"]),
    ("over-time", &["window", "variant", "quantity", "class", "value", "plus_minus", "from", "to"]),
];

/// Most values of an axis.
const MOST_VALUES: usize = 1_000;

/// Reads a whole registry.
pub(super) fn read(text_name: &str, text: &str, load: &Load<'_>) -> Result<Registry, Vec<Fault>> {
    let document = Document::parse(text_name, text)?;
    let mut reader = Reader::new(HEADS);
    let root = document.root();
    reader.refuse_unknown(&root, ROOT);
    let help = "begin every claim with a line  [[claim]]";
    reader.require(&root, "claim", "[[claim]] tables", Some(help));
    let mut claims: Vec<Claim> = Vec::new();
    for table in reader.tables(&root, "claim") {
        let claim = Reading { reader: &mut reader, table: &table, load }.claim();
        let twice = claims.iter().any(|other| claim.as_ref().is_some_and(|claim| claim.name == other.name));
        if twice {
            let name = claim.as_ref().map_or("", |claim| &claim.name);
            refuse(&mut reader, &table, "name", format!("\"{name}\" a second time"), "a name of its own");
        }
        claims.extend(claim);
    }
    reader.finish(Registry { claims })
}

fn refuse(reader: &mut Reader, table: &Table<'_>, key: &str, found: String, wanted: &str) {
    let place = table.get(key).map_or(table.place, |node| &node.place);
    reader.refuse(place, table.key(key), found, wanted.to_owned(), None);
}

/// A claim being read.
struct Reading<'r, 'd> {
    reader: &'r mut Reader,
    table: &'r Table<'d>,
    load: &'r Load<'r>,
}

/// What varies along a course.
struct Sweep<'d> {
    key: String,
    key_place: &'d Place,
    values: Vec<f64>,
    values_place: &'d Place,
    couplings: Vec<(Coupling, &'d Place)>,
}

/// A change of the scenario.
#[derive(Default)]
struct Variant<'d> {
    label: String,
    base: Option<Document>,
    settings: Vec<&'d Entry>,
    couplings: Vec<(Coupling, &'d Place)>,
}

impl<'d> Reading<'_, 'd> {
    /// The claim; `None` if something is wrong, which the reader knows.
    fn claim(mut self) -> Option<Claim> {
        let before = self.reader.faults().len();
        for (key, wanted) in [("text", "the claim in a sentence"), ("source", "who says so, and where")] {
            self.reader.require(self.table, key, wanted, None);
        }
        let name = self.name().unwrap_or_default();
        let (expected, reason) = self.expectation();
        let word = self.kind_word()?;
        let text = self.reader.text(self.table, "text").unwrap_or_default();
        let source = self.reader.text(self.table, "source").unwrap_or_default();
        let by = self.by(word);
        let kind = self.kind(word);
        let classes = self.classes(word);
        let asked = self.asked(word);
        let sketch = Claim {
            name,
            text,
            source,
            kind: kind.unwrap_or(Kind::Order),
            negated: self.reader.truth(self.table, "negated").unwrap_or(false),
            by,
            expected,
            reason,
            quick: self.reader.truth(self.table, "quick").unwrap_or(false),
            precision: self.precision(),
            classes: classes.clone().unwrap_or_default(),
            asked,
            courses: Vec::new(),
        };
        let claim = self.with_courses(sketch, word, classes.is_none());
        if self.reader.faults().len() > before { None } else { claim }
    }

    /// Whose numbers: the simulation's unless it says otherwise; of an agreement a model's, the published one's.
    fn by(&mut self, word: &str) -> Origin {
        let mut known = Origin::NAMED;
        known.rotate_right(1);
        let (known, otherwise) = match word {
            "agreement" => (&known[1..], Origin::PUBLISHED),
            _ => (&known[..], Origin::Simulation),
        };
        self.reader.word(self.table, "by", known, Origin::word).unwrap_or(otherwise)
    }

    fn kind_word(&mut self) -> Option<&'static str> {
        let kinds = KINDS.map(|(word, _)| word);
        self.reader.require(self.table, "kind", &one_of(kinds), None);
        let word = self.reader.word(self.table, "kind", &kinds, |word| word)?;
        let (_, own) = KINDS.iter().find(|(kind, _)| *kind == word)?;
        let known = [COMMON, own].concat();
        for entry in self.table.entries {
            let key = entry.key.as_str();
            if SPECIAL.contains(&key) && !known.contains(&key) {
                let wanted = format!("one of {}", own.join(", "));
                let found = format!("{key} in a claim of kind \"{word}\"");
                self.reader.refuse(&entry.key_place, self.table.key(key), found, wanted, None);
            }
        }
        self.reader.refuse_unknown(self.table, &[COMMON, SPECIAL].concat());
        Some(word)
    }

    fn name(&mut self) -> Option<String> {
        self.reader.require(self.table, "name", "a name such as \"fig04a-agreement\"", None);
        let name = self.reader.text(self.table, "name")?;
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if name.is_empty() || !name.chars().all(plain) {
            self.refuse("name", format!("\"{name}\""), "small letters, digits and hyphens");
            return None;
        }
        Some(name)
    }

    fn expectation(&mut self) -> (Verdict, Option<String>) {
        let verdicts = [Verdict::Held, Verdict::NotHeld];
        self.reader.require(self.table, "expect", &one_of(verdicts.map(Verdict::word)), None);
        let expected = self.reader.word(self.table, "expect", &verdicts, Verdict::word);
        let reason = self.reader.text(self.table, "reason");
        let is_empty = reason.as_ref().is_none_or(|reason| reason.trim().is_empty());
        if expected == Some(Verdict::NotHeld) && is_empty {
            let help = "reason = \"by how much, where and why it does not hold\"";
            self.reader.refuse_missing(self.table, "reason", "why it is not expected to hold", Some(help));
        }
        (expected.unwrap_or(Verdict::Held), reason)
    }

    fn precision(&mut self) -> Option<f64> {
        let precision = self.reader.real(self.table, "precision")?;
        if !(0.000_1..=0.5).contains(&precision) {
            self.refuse("precision", precision.to_string(), "0.0001 to 0.5, such as 0.002 for 0.2 %");
        }
        Some(precision)
    }

    fn kind(&mut self, word: &str) -> Option<Kind> {
        Some(match word {
            "agreement" => Kind::Agreement { tolerance: self.tolerance()? },
            "value" => {
                let unit = self.reader.word(self.table, "unit", &TimeUnit::ALL, TimeUnit::word);
                Kind::Value { bounds: self.bounds()?, unit: unit.unwrap_or_default() }
            }
            "over-time" => self.over_time()?,
            "order" => Kind::Order,
            "rises" => Kind::Rises,
            "unmoved" => Kind::Unmoved { tolerance: self.tolerance()? },
            "coincide" => Kind::Coincide { tolerance: self.tolerance()? },
            "grows-faster" => Kind::GrowsFaster,
            "saturated" => Kind::Saturated,
            _ => Kind::SaturatesEarlier,
        })
    }

    /// A number of packet switches in a window of time.
    fn over_time(&mut self) -> Option<Kind> {
        self.reader.require(self.table, "quantity", &one_of(TimeSeries::ALL.map(TimeSeries::word)), None);
        let quantity = self.reader.word(self.table, "quantity", &TimeSeries::ALL, TimeSeries::word);
        let wanted = "its begin and its end in us, such as [800, 970]";
        self.reader.require(self.table, "window", wanted, None);
        let window = self.reader.reals(self.table, "window");
        let bounds = self.bounds();
        let [from_us, to_us] = *window?.as_slice() else {
            self.refuse("window", "something else".to_owned(), wanted);
            return None;
        };
        if !(from_us >= 0.0 && from_us < to_us && to_us.is_finite()) {
            self.refuse("window", format!("{from_us} to {to_us}"), wanted);
        }
        Some(Kind::OverTime { quantity: quantity?, from_us, to_us, bounds: bounds? })
    }

    fn tolerance(&mut self) -> Option<f64> {
        self.reader.require(self.table, "tolerance", "a share, such as 0.05 for 5 %", None);
        let tolerance = self.reader.real(self.table, "tolerance")?;
        if !(0.0..=1.0).contains(&tolerance) {
            let help =
                (1.0..=100.0).contains(&tolerance).then(|| format!("{tolerance} % is {}", tolerance / 100.0));
            let place = self.table.get("tolerance").map_or(self.table.place, |node| &node.place);
            let wanted = "a share from 0 to 1, such as 0.05 for 5 %".to_owned();
            self.reader.refuse(place, self.table.key("tolerance"), tolerance.to_string(), wanted, help);
            return None;
        }
        Some(tolerance)
    }

    /// `from`, `to` or both, or `value` and `plus_minus`.
    fn bounds(&mut self) -> Option<Bounds> {
        let given = |keys: [&str; 2]| keys.map(|key| self.table.get(key).is_some());
        let (bounds, middle) = (given(["from", "to"]), given(["value", "plus_minus"]));
        let (from, to) = match (bounds, middle) {
            ([true, _] | [_, true], [false, false]) => {
                let [from, to] = ["from", "to"].map(|key| self.reader.real(self.table, key));
                if [from, to].map(|bound| bound.is_some()) != bounds {
                    return None;
                }
                (from, to)
            }
            ([false, false], [true, true]) => {
                let value = self.reader.real(self.table, "value");
                let room = self.reader.real(self.table, "plus_minus");
                let (value, room) = (value?, room?);
                (Some(value - room), Some(value + room))
            }
            _ => {
                let wanted = "either value and plus_minus, or from, to or both";
                self.refuse("value", "something else".to_owned(), wanted);
                return None;
            }
        };
        let (low, high) = (from.unwrap_or(f64::MIN), to.unwrap_or(f64::MAX));
        if !(low.is_finite() && high.is_finite() && low <= high) {
            self.refuse("value", format!("{low} to {high}"), "finite numbers, the lower one first");
            return None;
        }
        Some(Bounds { from, to })
    }

    /// The classes that are named, the one in question first; `None`: all of the scenario.
    fn classes(&mut self, word: &str) -> Option<Vec<String>> {
        match word {
            "over-time" => Some(self.reader.text(self.table, "class").into_iter().collect()),
            "value" | "saturated" | "grows-faster" | "saturates-earlier" => {
                self.reader.require(self.table, "class", "the name of a class", None);
                let class = self.reader.text(self.table, "class");
                let than = self.reader.texts(self.table, "than").unwrap_or_default();
                let rivals = ["than", "than_x", "variant"];
                let given = rivals.into_iter().filter(|key| self.table.get(key).is_some()).count();
                if !["value", "saturated"].contains(&word) && given != 1 {
                    let found = if given == 0 { "none of them" } else { "more than one of them" };
                    let wanted = match word {
                        "grows-faster" => "than = [classes], than_x = {} or [[claim.variant]]",
                        _ => "than = [classes] or [[claim.variant]]",
                    };
                    self.refuse("than", found.to_owned(), wanted);
                }
                Some(class.into_iter().chain(than).collect())
            }
            "order" => {
                let of_variants = self.table.get("variant").is_some();
                let (least, wanted) = match of_variants {
                    true => (1, "the class of which the variants stand in order"),
                    false => (2, "at least two classes, the lowest first, or [[claim.variant]]"),
                };
                self.reader.require(self.table, "classes", wanted, None);
                let classes = self.reader.texts(self.table, "classes").unwrap_or_default();
                if self.table.get("classes").is_some() && classes.len() < least {
                    self.refuse("classes", "fewer".to_owned(), wanted);
                }
                Some(classes)
            }
            _ => {
                let classes = self.reader.texts(self.table, "classes")?;
                if classes.is_empty() {
                    self.refuse("classes", "no class".to_owned(), "at least one class of the scenario");
                }
                Some(classes)
            }
        }
    }

    /// One quantity, a miss probability at several deadlines, or a column of phases.
    fn asked(&mut self, word: &str) -> Vec<Asked> {
        if word == "over-time" {
            return Vec::new();
        }
        if self.table.get("column").is_some() {
            return self.of_phases().into_iter().collect();
        }
        if ["saturates-earlier", "saturated"].contains(&word) {
            return vec![Asked::Measure(Quantity::NetworkLatency.into())];
        }
        let measures = read_measures(self.reader, self.table).unwrap_or_default();
        measures.into_iter().map(Asked::Measure).collect()
    }

    /// A column of phases; whether the scenario has it is found out later.
    fn of_phases(&mut self) -> Option<Asked> {
        for key in ["quantity", "x", "than_x"] {
            if let Some(node) = self.table.get(key) {
                let found = format!("{key} beside a column of phases");
                let wanted = "the phases as they are, or those of at = [0.7, 0.8]".to_owned();
                self.reader.refuse(&node.place, self.table.key(key), found, wanted, None);
            }
        }
        let field = self.reader.text(self.table, "column")?;
        let at = self.reader.reals(self.table, "at").unwrap_or_default();
        // its name and unit are those of the scenario's column, if there is one
        let column = PhaseColumn { name: field.clone(), field, unit: Unit::Count };
        Some(Asked::Phases { column, at })
    }

    // Scenarios.

    /// The claim with its courses, every scenario of which is sound and has somebody to answer it.
    fn with_courses(&mut self, mut claim: Claim, word: &str, all_classes: bool) -> Option<Claim> {
        let base = self.reader.scenario(self.table, "scenario", self.load);
        let variants = self.variants();
        let is_of_phases = claim.asked.iter().any(|one| matches!(one, Asked::Phases { .. }));
        if ["unmoved", "rises", "grows-faster", "saturates-earlier"].contains(&word) && !is_of_phases {
            let help = "x = { key = \"class.R1.rate\", values = [0.002, 0.004] }";
            self.reader.require(self.table, "x", "what varies", Some(help));
        }
        let sweeps: Vec<Option<Sweep<'d>>> = match (self.sweep("x"), self.sweep("than_x")) {
            (Err(()), _) | (_, Err(())) => return None,
            (Ok(x), Ok(None)) => vec![x],
            (Ok(x), Ok(than_x)) => vec![x, than_x],
        };
        let base = base?;
        let scenario = self.sound(base.scenario())?;
        if all_classes {
            claim.classes = scenario.classes().iter().map(|class| class.name.clone()).collect();
        }
        if word == "coincide" && variants.is_empty() && claim.classes.len() < 2 {
            self.refuse("variant", "one curve".to_owned(), "two variants or two classes to compare");
        }
        if variants.len() == 1 && word != "agreement" {
            self.refuse("variant", "one variant".to_owned(), "none, or at least two to compare");
        }
        let unchanged = [Variant::default()];
        let variants = if variants.is_empty() { &unchanged[..] } else { &variants };
        let mut found: Vec<Fault> = Vec::new();
        for variant in variants {
            for sweep in &sweeps {
                match course(&base, variant, sweep.as_ref(), &claim) {
                    Ok(course) => {
                        // a variant may have columns that the scenario has not
                        let known = course.points.first().map(|point| phases::columns(&point.scenario));
                        let known = known.unwrap_or_default();
                        claim.asked.iter_mut().for_each(|asked| asked.take_column(&known));
                        found.extend(self.unanswered(&course, &claim));
                        claim.courses.push(course);
                    }
                    Err(faults) => found.extend(faults),
                }
            }
        }
        if sweeps.len() > 1 {
            for course in &mut claim.courses {
                course.label = course.key.clone().unwrap_or_default();
            }
        }
        found.extend(self.unknown_classes(&claim));
        found.extend(self.unknown_phases(&claim));
        // one value may be wrong at every point
        let mut known: Vec<String> = Vec::new();
        found.retain(|fault| {
            let shown = fault.to_string();
            let is_new = !known.contains(&shown);
            known.push(shown);
            is_new
        });
        self.reader.refuse_all(found);
        Some(claim)
    }

    fn sound(&mut self, scenario: Result<Scenario, Vec<Fault>>) -> Option<Scenario> {
        scenario.map_err(|faults| self.reader.refuse_all(faults)).ok()
    }

    fn variants(&mut self) -> Vec<Variant<'d>> {
        let claim_settings = match self.table.get("scenario").map(|node| &node.value) {
            Some(Value::Table(entries)) => match entries.iter().find(|entry| entry.key == "set") {
                Some(Entry { node: Node { value: Value::Table(entries), .. }, .. }) => entries.as_slice(),
                _ => &[],
            },
            _ => &[],
        };
        let mut variants = Vec::new();
        for table in self.reader.tables(self.table, "variant") {
            self.reader.refuse_unknown(&table, VARIANT);
            self.reader.require(&table, "label", "what to call it", None);
            let label = self.reader.text(&table, "label").unwrap_or_default();
            // another preset takes the claim's settings, too
            let base = table.get("preset").and_then(|_| self.reader.preset(&table)).map(|mut base| {
                for entry in claim_settings {
                    self.reader.refuse_all(base.set_entry(entry).err());
                }
                base
            });
            let settings = self.settings(&table);
            let couplings = self.reader.couplings(&table, "couple");
            variants.push(Variant { label, base, settings, couplings });
        }
        variants
    }

    /// Overrides, which live as long as the text.
    fn settings(&mut self, table: &Table<'d>) -> Vec<&'d Entry> {
        self.reader.settings(table, "set")
    }

    /// `Err` if there is one that is wrong.
    fn sweep(&mut self, name: &'d str) -> Result<Option<Sweep<'d>>, ()> {
        let Some(table) = self.reader.table(self.table, name) else { return Ok(None) };
        self.reader.refuse_unknown(&table, SWEEP);
        self.reader.require(&table, "key", "a path such as \"class.R1.rate\"", None);
        let key = self.reader.text(&table, "key");
        let values = self.reader.rising(&table, "values", MOST_VALUES);
        let couplings = self.reader.couplings(&table, "couple");
        let (Some(key), Some(values)) = (key, values) else { return Err(()) };
        let place = |key: &str| table.get(key).map_or(table.place, |node| &node.place);
        Ok(Some(Sweep { key, key_place: place("key"), values, values_place: place("values"), couplings }))
    }

    /// Names that are no class of every scenario.
    fn unknown_classes(&self, claim: &Claim) -> Vec<Fault> {
        let key = ["class", "classes"].into_iter().find(|key| self.table.get(key).is_some());
        let key = key.unwrap_or("classes");
        let mut faults = Vec::new();
        for course in &claim.courses {
            let Some(point) = course.points.first() else { continue };
            let known: Vec<&str> = point.scenario.classes().iter().map(|class| class.name.as_str()).collect();
            for name in claim.classes.iter().filter(|name| !known.contains(&name.as_str())) {
                let in_than = || self.table.get("than").is_some() && claim.classes.first() != Some(name);
                let key = if key == "class" && in_than() { "than" } else { key };
                faults.push(Fault {
                    place: self.table.get(key).map_or(self.table.place, |node| &node.place).clone(),
                    key: self.table.key(key),
                    found: format!("\"{name}\""),
                    wanted: format!("a class of the scenario: {}", one_of(known.iter().copied())),
                    help: None,
                });
            }
        }
        faults
    }

    /// Columns that phases of a scenario do not have, and phases that are not there.
    fn unknown_phases(&self, claim: &Claim) -> Vec<Fault> {
        let Claim { asked, courses, .. } = claim;
        let mut faults = Vec::new();
        let place = |key: &str| self.table.get(key).map_or(self.table.place, |node| &node.place).clone();
        for one in asked {
            let Asked::Phases { column, at } = one else { continue };
            for scenario in courses.iter().flat_map(|course| &course.points).map(|point| &point.scenario) {
                let mut fault = |key: &str, found: String, wanted: String| {
                    let (place, key) = (place(key), self.table.key(key));
                    faults.push(Fault { place, key, found, wanted, help: None });
                };
                if scenario.phases().is_empty() {
                    let wanted = "phases, such as those of preset \"router-nic\"".to_owned();
                    fault("scenario", "a run without phases".to_owned(), wanted);
                    continue;
                }
                let known = phases::columns(scenario);
                if !known.iter().any(|known| known.field == column.field) {
                    let fields = one_of(known.iter().map(|known| known.field.as_str()));
                    let found = format!("\"{}\"", column.field);
                    fault("column", found, format!("a column of the phases: {fields}"));
                }
                let places = MixAxis::of(scenario).places(scenario);
                if let Some(unknown) = at.iter().find(|x| !places.contains(x)) {
                    fault("at", unknown.to_string(), format!("phases among {places:?}"));
                }
            }
        }
        faults
    }

    /// What nobody could answer.
    fn unanswered(&self, course: &Course, claim: &Claim) -> Vec<Fault> {
        let place = self.table.get("scenario").map_or(self.table.place, |node| &node.place);
        let mut faults = Vec::new();
        if let Kind::Value { unit, .. } = claim.kind
            && unit != TimeUnit::Cycles
            && !claim.asked.iter().all(|one| one.unit() == Unit::Cycles)
        {
            let found = format!("\"{}\" of a quantity that is no time", unit.word());
            self.unit_fault(&mut faults, found, "a claim without it");
        }
        for point in &course.points {
            if let Kind::Value { unit, .. } = claim.kind {
                let known =
                    claim.classes.iter().all(|class| unit.per_cycle(&point.scenario, class).is_some());
                if !known {
                    let found = format!("\"{}\", which the scenario does not have", unit.word());
                    self.unit_fault(
                        &mut faults,
                        found,
                        "a scenario with [units], or of intervals with frames",
                    );
                }
            }
            let is_over_time = matches!(claim.kind, Kind::OverTime { .. });
            if is_over_time && !experiment::has_series(&point.scenario) {
                let (key, found) = (self.table.key("scenario"), point.scenario.topology().name());
                let wanted = "packet switches over time".to_owned();
                faults.push(Fault { place: place.clone(), key, found, wanted, help: None });
            } else if claim.needs_simulation() {
                let found = supports(&point.scenario).err().unwrap_or_default();
                faults.extend(found.into_iter().map(|fault| Fault { place: place.clone(), ..fault }));
            }
            if let Some(model) = claim.by.model()
                && let Err(failure) = model.supports(&point.scenario)
            {
                faults.push(Fault {
                    place: place.clone(),
                    key: self.table.key("scenario"),
                    found: failure.to_string(),
                    wanted: "a scenario that the model has".to_owned(),
                    help: None,
                });
            }
        }
        faults
    }

    fn unit_fault(&self, faults: &mut Vec<Fault>, found: String, wanted: &str) {
        let place = self.table.get("unit").map_or(self.table.place, |node| &node.place).clone();
        let (key, wanted) = (self.table.key("unit"), wanted.to_owned());
        faults.push(Fault { place, key, found, wanted, help: None });
    }

    fn refuse(&mut self, key: &str, found: String, wanted: &str) {
        refuse(self.reader, self.table, key, found, wanted);
    }
}

/// The scenarios of a variant along a sweep.
fn course(
    base: &Document,
    variant: &Variant<'_>,
    sweep: Option<&Sweep<'_>>,
    claim: &Claim,
) -> Result<Course, Vec<Fault>> {
    let mut document = variant.base.as_ref().unwrap_or(base).clone();
    let mut faults: Vec<Fault> =
        variant.settings.iter().filter_map(|entry| document.set_entry(entry).err()).collect();
    if !faults.is_empty() {
        return Err(faults);
    }
    let mut points = Vec::new();
    let values: Vec<Option<f64>> = match sweep {
        None => vec![None],
        Some(sweep) => sweep.values.iter().copied().map(Some).collect(),
    };
    for x in values {
        match point(document.clone(), variant, sweep.zip(x), claim) {
            Ok(scenario) => points.push(CoursePoint { x, scenario }),
            Err(found) => faults.extend(found),
        }
    }
    let course = Course { label: variant.label.clone(), key: sweep.map(|sweep| sweep.key.clone()), points };
    if faults.is_empty() { Ok(course) } else { Err(faults) }
}

fn point(
    mut document: Document,
    variant: &Variant<'_>,
    x: Option<(&Sweep<'_>, f64)>,
    claim: &Claim,
) -> Result<Scenario, Vec<Fault>> {
    let fail = |fault| vec![fault];
    let mut couplings: Vec<&(Coupling, &Place)> = Vec::new();
    if let Some((sweep, value)) = x {
        let node = Node { value: Value::Real(value), place: sweep.values_place.clone() };
        let entry = Entry { key: sweep.key.clone(), key_place: sweep.key_place.clone(), node };
        document.set_entry(&entry).map_err(fail)?;
        couplings.extend(&sweep.couplings);
    }
    // those of a variant come last and may take the place of others
    couplings.extend(&variant.couplings);
    for (coupling, place) in couplings {
        let setting =
            coupling.setting(&document).map_err(|fault| fail(Fault { place: (*place).clone(), ..fault }))?;
        document.set(&setting.key, &setting.value, place).map_err(fail)?;
    }
    let scenario = document.scenario()?;
    let mut spec = scenario.spec().clone();
    // the deadlines of the claim take the place of those of the scenario
    let deadlines: Vec<DeadlineSpec> = claim.asked.iter().filter_map(Asked::deadline).collect();
    for class in &mut spec.classes {
        class.deadlines = if claim.classes.contains(&class.name) { deadlines.clone() } else { Vec::new() };
    }
    spec.check()
}
